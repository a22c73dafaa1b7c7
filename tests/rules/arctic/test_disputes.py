"""The fourteen disputes, ARC-Q.1 to ARC-Q.14: each answered from a position, or by `companion rule`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from companion.rules.core import CHANCE
from companion.rules.rulebook import rulebook

Make = Callable[..., Any]


@pytest.mark.cites("ARC-Q.1")
def test_q1_a_power_of_phase_a_just_taken_waits_for_the_next_turn(table: Make, refused: Make) -> None:
    fresh = table(pile="fox-5-moose", hand="orca-5-puffin", own="fox", held=[], sides=(12,))
    ruling = refused(fresh, "place orca-5-puffin under")
    assert ruling.clauses == ("ARC-A.5", "ARC-P.12") and ruling.status == "text"


ORCAS = "orca-5-puffin orca-4-bear orca-3-fox orca-2-moose orca-1-walrus"
BEARS = "bear-5-fox bear-4-moose bear-3-walrus bear-2-orca bear-1-puffin"


@pytest.mark.cites("ARC-Q.1")
def test_q1_it_works_then_if_it_is_still_held(table: Make, play: Make, refused: Make, allowed: Make) -> None:
    def next_turn(theirs: str) -> Any:
        bob = {"hand": [theirs]}
        state = table(hand="fox-1-bear", sides=(12,), river=f"{ORCAS} puffin-5-bear", others=(bob,))
        state = play(state, "place fox-1-bear", "tokens fox+ bear-")
        state = play(state, *(f"draw {card}" for card in ORCAS.split()), *(f"river {card}" for card in BEARS.split()))
        main, _, companion = theirs.split("-")
        return play(state, f"place {theirs}", f"tokens {main}+ {companion}-", "draw bear-5-fox", "river moose-5-walrus")

    assert "ARC-P.12" in allowed(next_turn("puffin-5-fox"), "place orca-5-puffin under").clauses
    assert "ARC-A.4" in refused(next_turn("fox-5-walrus"), "place orca-5-puffin under").clauses, "Bob took it"


@pytest.mark.cites("ARC-Q.2")
def test_q2_a_power_taken_again_stays_active(table: Make, play: Make, allowed: Make, ann: Make) -> None:
    state = table(pile="orca-2-moose", hand="moose-5-walrus fox-5-moose moose-4-orca", own="moose", sides=(10,))
    state = play(state, "place fox-5-moose")
    ruling = state.check(state.game.parse("place moose-5-walrus"))
    assert "keeps it" in ruling.en and "ARC-A.4" in ruling.clauses
    both = table(pile="orca-1-walrus", hand="walrus-5-orca", own="walrus", sides=(1,))
    both = play(both, "place walrus-5-orca", "tokens walrus+ orca-")
    assert allowed(both, "extra walrus+").legal, "in phase B of the very turn in which it is taken again"
    kept = play(table(pile="fox-1-bear", hand="moose-5-walrus", own="moose", sides=(10,)), "value -1")
    assert "moose" in ann(kept)["powers"]
    dispute = rulebook("arctic").dispute("ARC-Q.2")
    assert dispute.status == "house ruling" and dispute in rulebook("arctic").search("taken again")


@pytest.mark.cites("ARC-Q.3")
@pytest.mark.parametrize(("side", "where"), [(11, "bottom"), (12, "under")])
def test_q3_with_value_one_the_only_card_is_the_last(
    table: Make, play: Make, allowed: Make, ann: Make, side: int, where: str
) -> None:
    state = table(pile="moose-1-fox", hand="orca-5-puffin fox-5-moose", own="fox", sides=(side, 9))
    ruling = allowed(state, f"place orca-5-puffin {where}")
    assert f"ARC-P.{side}" in ruling.clauses and "ARC-A.4" in ruling.clauses and ruling.status == "house ruling"
    state = play(state, f"place orca-5-puffin {where}")
    assert ann(state)["pile"][-1] == "moose-1-fox" and "moose" in ann(state)["powers"], "its power is taken again"
    assert {str(m) for m in state.legal_moves} == {"tokens moose+ fox-", "tokens moose- fox+"}, "its animals move again"
    assert play(state, "tokens moose+ fox-").value == 5, "its draw value counts again"


@pytest.mark.cites("ARC-Q.4")
def test_q4_no_card_is_hidden_under_nothing(table: Make, play: Make, refused: Make) -> None:
    first = table(hand="orca-5-puffin", own="fox", sides=(12,))
    ruling = refused(first, "place orca-5-puffin under")
    assert ruling.clauses == ("ARC-P.12", "ARC-0.1") and ruling.status == "outside source"
    state = table(pile="moose-1-fox", hand="orca-5-puffin", own="fox puffin", sides=(12, 4))
    state = play(state, "take-back")
    assert "ARC-P.12" in refused(state, "place orca-5-puffin under").clauses


@pytest.mark.cites("ARC-Q.5", "ARC-0.1")
def test_q5_a_face_down_card_is_no_visible_card(table: Make, play: Make, allowed: Make) -> None:
    state = table(
        pile="orca-3-fox down:bear-5-fox fox-5-moose", hand="orca-5-puffin", own="puffin", sides=(4, 12), river=None
    )
    ruling = allowed(state, "take-back")
    assert {"ARC-0.1", "ARC-A.2", "ARC-P.4"} <= set(ruling.clauses)
    assert ruling.status == "deduced" and ruling.facts["value"] == 1
    state = play(state, "take-back")
    assert state.value == 1 and state.visible(0) == -1


@pytest.mark.cites("ARC-Q.6")
def test_q6_the_moose_saves_a_penalty(table: Make, play: Make, allowed: Make) -> None:
    state = table(pile="bear-3-walrus", hand="orca-5-puffin", own="moose", sides=(10,), river=None)
    ruling = allowed(state, "value -1")
    assert {"ARC-P.10", "ARC-A.3"} <= set(ruling.clauses) and ruling.status == "house ruling"
    one = play(state, "value -1", "place orca-5-puffin", "penalty fox-5-moose")
    assert one.phase == "B"
    two = play(state, "place orca-5-puffin", "end", "penalty fox-5-moose")
    assert two.phase == "penalty"
    late = play(state, "place orca-5-puffin", "value -1")
    assert late.phase == "penalty" and late.value == 1, "also when the hand is already empty"


@pytest.mark.cites("ARC-Q.7")
@pytest.mark.parametrize(("side", "where"), [(11, "bottom"), (12, "under")])
def test_q7_the_last_card_of_a_short_hand_may_go_under(
    table: Make, play: Make, allowed: Make, side: int, where: str
) -> None:
    state = table(pile="moose-5-walrus", hand="orca-5-puffin orca-4-bear", own="fox", sides=(side,))
    state = play(state, "place orca-4-bear")
    ruling = allowed(state, f"place orca-5-puffin {where}")
    assert {f"ARC-P.{side}", "ARC-A.3"} <= set(ruling.clauses) and ruling.status == "house ruling"
    assert play(state, f"place orca-5-puffin {where}").phase == "penalty", "three are still missing"


@pytest.mark.cites("ARC-Q.8")
def test_q8_penalty_cards_lie_face_down_their_number_is_public(table: Make) -> None:
    state = table(hand="fox-5-moose", penalty="orca-5-puffin orca-4-bear")
    assert state.view(0)["players"][0]["penalty"] == ["orca-5-puffin", "orca-4-bear"]
    for viewer in (1, None):
        assert state.view(viewer)["players"][0]["penalty"] == ["?", "?"]
    assert rulebook("arctic").dispute("ARC-Q.8").status == "house ruling"


@pytest.mark.cites("ARC-Q.9")
def test_q9_the_river_is_filled_before_the_hand_limit(table: Make, play: Make, refused: Make) -> None:
    seven = "moose-5-walrus moose-4-orca moose-3-puffin moose-2-bear walrus-5-orca walrus-4-puffin walrus-3-bear"
    state = table(pile="bear-1-puffin", hand=f"fox-5-moose {seven}")
    state = play(state, "place fox-5-moose", "tokens fox+ moose-", "draw bear-5-fox")
    assert state.to_move == CHANCE
    assert refused(state, "discard moose-5-walrus").clauses == ("ARC-0.1",), "a River card is to be turned up first"
    state = play(state, "river fox-4-walrus")
    ruling = state.check(state.game.parse("discard moose-5-walrus"))
    assert ruling.legal and ruling.clauses == ("ARC-C.2",)
    assert rulebook("arctic").dispute("ARC-Q.9").status == "text"


@pytest.mark.cites("ARC-Q.10")
def test_q10_the_last_card_reaches_the_value_or_empties_the_hand(
    table: Make, play: Make, refused: Make, texts: Make
) -> None:
    state = table(
        pile="moose-3-puffin", hand="orca-5-puffin orca-4-bear orca-3-fox orca-2-moose", own="fox", sides=(11,)
    )
    ruling = refused(state, "place orca-5-puffin bottom")
    assert ruling.clauses == ("ARC-A.3", "ARC-P.11") and ruling.status == "deduced" and ruling.facts["left"] == 3
    two = play(state, "place orca-4-bear", "place orca-3-fox")
    assert "place orca-5-puffin bottom" in texts(two), "the third of three"
    short = table(pile="moose-3-puffin", hand="orca-5-puffin", own="fox", sides=(11,))
    assert "place orca-5-puffin bottom" in texts(short), "the only one of a hand that is too short"


@pytest.mark.cites("ARC-Q.11")
def test_q11_one_may_not_place_fewer_cards(table: Make, play: Make, refused: Make, allowed: Make) -> None:
    state = play(table(pile="moose-3-puffin", hand="orca-5-puffin orca-4-bear orca-3-fox"), "place orca-5-puffin")
    for text in ("end", "tokens orca+ puffin-"):
        ruling = refused(state, text)
        assert ruling.clauses == ("ARC-A.1",) and ruling.status == "text" and ruling.facts["left"] == 2
    moose = table(pile="moose-3-puffin", hand="orca-5-puffin orca-4-bear orca-3-fox", own="moose", sides=(10,))
    assert allowed(moose, "value -1").clauses == ("ARC-P.10",)


@pytest.mark.cites("ARC-Q.12")
def test_q12_the_bear_takes_back_the_penalty_of_this_turn(table: Make, play: Make, allowed: Make, ann: Make) -> None:
    state = table(pile="moose-2-bear", hand="fox-5-moose", own="bear", sides=(6,))
    state = play(state, "place fox-5-moose", "penalty walrus-5-orca", "tokens fox+ moose-")
    assert allowed(state, "draw-penalty walrus-5-orca").clauses == ("ARC-P.6",)
    assert "walrus-5-orca" in ann(play(state, "draw-penalty walrus-5-orca"))["hand"]
    assert rulebook("arctic").dispute("ARC-Q.12").status == "house ruling"


@pytest.mark.cites("ARC-Q.13")
@pytest.mark.parametrize(("side", "animal", "tokens"), [(1, "fox", {"fox": 10}), (2, "moose", {"fox": 3, "moose": 10})])
def test_q13_from_an_end_the_extra_step_goes_inward_or_is_left_out(
    table: Make, play: Make, refused: Make, allowed: Make, at: Make, side: int, animal: str, tokens: dict[str, int]
) -> None:
    state = play(table(hand="fox-5-moose", own="walrus", sides=(side,), tokens=tokens), "place fox-5-moose")
    state = play(state, "tokens fox+ moose-" if side == 1 else "tokens fox- moose+")
    assert at(state, animal) == 15
    ruling = refused(state, f"extra {animal}+")
    assert ruling.clauses == (f"ARC-P.{side}",) and ruling.status == "house ruling"
    inward = allowed(state, f"extra {animal}-")
    assert inward.clauses == (f"ARC-P.{side}",) and inward.status == "house ruling"
    assert at(play(state, f"extra {animal}-"), animal) == 10
    assert allowed(state, "end").clauses == ("ARC-A.6",)


@pytest.mark.cites("ARC-Q.14", "ARC-E.1")
def test_q14_triggered_by_the_last_of_the_round_the_last_round_begins_at_once(table: Make, play: Make) -> None:
    state = table(hand="fox-5-moose", pile_left=0, reserve=5, first=2)
    state = play(state, "place fox-5-moose", "tokens fox+ moose-", "draw bear-5-fox")
    ruling = state.check(state.game.parse("river fox-4-walrus"))
    assert "ARC-E.1" in ruling.clauses and "phases A and B" in ruling.en
    state = play(state, "river fox-4-walrus")
    assert (state.to_move, state.stage) == (1, "last"), "Bob holds the footprint"


def test_every_dispute_is_found_by_its_number() -> None:
    book = rulebook("arctic")
    assert list(book.disputes) == [f"ARC-Q.{n}" for n in range(1, 15)]
    for dispute in book.disputes.values():
        assert book.search(dispute.id)[0] == dispute
