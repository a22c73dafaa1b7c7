"""The twelve powers, each with its phase and its limits: ARC-P.1 to P.12."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from companion.rules.core import CHANCE

Make = Callable[..., Any]


# --- phase B: walrus --------------------------------------------------------------------------------------------------


@pytest.mark.cites("ARC-P.1", "ARC-M.9")
@pytest.mark.parametrize("step", ["+", "-"])
def test_p1_the_main_animal_goes_one_more_card_either_way(
    table: Make, play: Make, texts: Make, at: Make, step: str
) -> None:
    state = play(table(hand="fox-5-moose", own="walrus", sides=(1,)), "place fox-5-moose", "tokens fox+ moose-")
    assert texts(state) == {"extra fox+", "extra fox-", "end"}
    state = play(state, f"extra fox{step}")
    assert at(state, "fox") == (10 if step == "+" else 3) and at(state, "moose") == 1
    assert state.position()["phase"] == "C"


@pytest.mark.cites("ARC-P.2")
def test_p2_the_companion_goes_one_more_card(table: Make, play: Make, refused: Make, texts: Make, at: Make) -> None:
    state = play(table(hand="fox-5-moose", own="walrus", sides=(2,)), "place fox-5-moose", "tokens fox+ moose-")
    assert texts(state) == {"extra moose+", "extra moose-", "end"}
    ruling = refused(state, "extra fox+")
    assert ruling.clauses == ("ARC-P.2",)
    state = play(state, "extra moose-")
    assert (at(state, "fox"), at(state, "moose")) == (6, 0)
    assert "ARC-P.2" in refused(state, "extra moose+").clauses, "once"


@pytest.mark.cites("ARC-P.1")
def test_p1_not_before_the_tokens_have_moved_and_not_off_the_landscape(table: Make, play: Make, refused: Make) -> None:
    state = play(table(hand="fox-5-moose", own="walrus", sides=(1,), tokens={"fox": 10}), "place fox-5-moose")
    assert refused(state, "extra fox+").clauses == ("ARC-B.1",)
    state = play(state, "tokens fox+ moose-")
    assert refused(state, "tokens fox+ moose-").clauses == ("ARC-B.1", "ARC-A.6")
    assert refused(state, "draw bear-5-fox").clauses == ("ARC-A.6",)
    ruling = refused(state, "extra fox+")
    assert ruling.clauses == ("ARC-P.1",) and ruling.status == "house ruling"
    ended = play(state, "end")
    assert refused(ended, "extra fox-").clauses == ("ARC-B.1", "ARC-A.6"), "waived"


@pytest.mark.cites("ARC-P.1", "ARC-P.2")
def test_p1_p2_need_the_card_and_its_side(table: Make, play: Make, refused: Make) -> None:
    for own, sides, clauses in (
        ("", (1,), ("ARC-A.4", "ARC-A.6", "ARC-P.1")),
        ("", (2,), ("ARC-A.4", "ARC-A.6", "ARC-P.2")),
    ):
        state = play(table(hand="fox-5-moose", own=own, sides=sides), "place fox-5-moose", "tokens fox+ moose-")
        assert state.position()["phase"] == "C"
        assert refused(state, "extra fox+").clauses == clauses


@pytest.mark.cites("ARC-P.1")
def test_p1_works_in_the_last_round(table: Make, play: Make, texts: Make) -> None:
    state = table(hand="fox-5-moose", own="walrus", sides=(1,), stage="last")
    state = play(state, "place fox-5-moose", "tokens fox+ moose-")
    assert "extra fox+" in texts(state)
    assert play(state, "extra fox+").to_move == 1, "no phase C"


# --- phase A: puffin --------------------------------------------------------------------------------------------------


@pytest.mark.cites("ARC-P.3", "ARC-M.1")
def test_p3_a_hand_card_for_a_river_card(table: Make, play: Make, refused: Make, texts: Make, ann: Make) -> None:
    state = table(pile="fox-2-puffin", hand="moose-5-walrus moose-4-orca", own="puffin", sides=(3,))
    assert len(texts(state, "swap")) == 12
    assert refused(state, "swap moose-3-puffin bear-5-fox").clauses == ("ARC-P.3",)
    assert refused(state, "swap moose-5-walrus moose-4-orca").clauses == ("ARC-P.3",)
    both = refused(state, "swap moose-3-puffin moose-2-bear")
    assert "moose-3-puffin" in both.en and "moose-2-bear" in both.en
    state = play(state, "swap moose-5-walrus bear-5-fox")
    assert sorted(ann(state)["hand"]) == ["bear-5-fox", "moose-4-orca"]
    assert "draw moose-5-walrus" not in texts(state) and len(state.river) == 6
    ruling = refused(state, "swap moose-4-orca bear-4-moose")
    assert ruling.clauses == ("ARC-A.6", "ARC-P.3") and "already used" in ruling.en


@pytest.mark.cites("ARC-P.3")
def test_p3_only_before_the_first_card_is_placed(table: Make, play: Make, refused: Make) -> None:
    begun = table(pile="fox-2-puffin", hand="moose-5-walrus moose-4-orca", own="puffin", sides=(3,))
    for state in (play(begun, "place moose-5-walrus"), play(begun, "place moose-5-walrus", "place moose-4-orca")):
        assert "ARC-P.3" in refused(state, "swap moose-4-orca bear-5-fox").clauses
        assert "before" in refused(state, "swap moose-4-orca bear-5-fox").en


@pytest.mark.cites("ARC-P.4", "ARC-A.2", "ARC-M.2")
def test_p4_the_visible_card_comes_back_and_the_value_is_read_anew(
    table: Make, play: Make, refused: Make, texts: Make, ann: Make
) -> None:
    state = table(
        pile="moose-3-puffin fox-5-moose", hand="bear-5-fox bear-4-moose orca-5-puffin", own="puffin", sides=(4,)
    )
    assert (state.value, "take-back" in texts(state)) == (5, True)
    ruling = state.check(state.game.parse("take-back"))
    assert ruling.clauses == ("ARC-P.4", "ARC-A.1") and ruling.facts["value"] == 3
    state = play(state, "take-back")
    assert state.value == 3 and "fox-5-moose" in ann(state)["hand"] and ann(state)["pile"] == ["moose-3-puffin"]
    assert "already used" in refused(state, "take-back").en
    placed = play(state, "place fox-5-moose")
    assert "before" in refused(placed, "take-back").en


@pytest.mark.cites("ARC-P.4", "ARC-A.2")
def test_p4_of_the_only_card_leaves_value_one(table: Make, play: Make, refused: Make, ann: Make) -> None:
    state = table(pile="fox-5-moose", hand="orca-5-puffin", own="puffin", sides=(4,))
    ruling = state.check(state.game.parse("take-back"))
    assert "ARC-A.2" in ruling.clauses and ruling.facts["value"] == 1
    state = play(state, "take-back")
    assert state.value == 1 and ann(state)["pile"] == []
    assert "ARC-0.1" in refused(state, "take-back").clauses
    none = table(hand="orca-5-puffin", own="puffin", sides=(4,))
    assert refused(none, "take-back").clauses == ("ARC-P.4", "ARC-0.1")


@pytest.mark.cites("ARC-P.4")
def test_p4_fills_an_empty_hand_before_it_is_paid(table: Make, play: Make, texts: Make) -> None:
    state = table(pile="bear-1-puffin fox-5-moose", hand="", own="puffin", sides=(4,))
    assert texts(state) == {"take-back", "end"}
    assert play(state, "end").position()["phase"] == "penalty"
    assert texts(play(state, "take-back")) == {"place fox-5-moose"}


# --- phase C: bear ----------------------------------------------------------------------------------------------------


def drawing(table: Make, play: Make, **fields: Any) -> Any:
    """Return Ann's phase C after a fox with draw value 2 was placed; she may draw bear-5-fox and others."""
    state = table(hand="fox-4-walrus moose-5-walrus", **fields)
    return play(state, "place fox-4-walrus", "tokens fox+ walrus-")


@pytest.mark.cites("ARC-P.5", "ARC-M.12")
def test_p5_a_penalty_card_goes_to_another_player_once(table: Make, play: Make, refused: Make, texts: Make) -> None:
    state = drawing(table, play, penalty="orca-3-fox orca-2-moose", own="bear", sides=(5,), others=({}, {}))
    assert texts(state, "give") == {f"give {c} {p}" for c in ("orca-3-fox", "orca-2-moose") for p in ("p2", "p3")}
    assert "ARC-P.5" in refused(state, "give orca-3-fox p1").clauses
    assert "ARC-S.2" in refused(state, "give orca-3-fox p4").clauses
    assert "ARC-P.5" in refused(state, "give orca-1-walrus p2").clauses
    state = play(state, "give orca-3-fox p3")
    assert [p["penalty"] for p in state.position()["players"]] == [["orca-2-moose"], [], ["orca-3-fox"]]
    assert "already used" in refused(state, "give orca-2-moose p2").en


@pytest.mark.cites("ARC-P.5")
def test_p5_also_after_the_last_draw_but_not_after_the_excess_is_put_away(
    table: Make, play: Make, refused: Make, texts: Make
) -> None:
    hand = "fox-4-walrus " + " ".join(
        f"moose-{v}-{c}" for v, c in ((5, "walrus"), (4, "orca"), (3, "puffin"), (2, "bear"))
    )
    hand += " walrus-5-orca walrus-3-bear walrus-2-fox"
    state = table(pile="fox-1-bear", hand=hand, penalty="orca-3-fox", own="bear", sides=(5,))
    state = play(state, "place fox-4-walrus", "tokens fox+ walrus-", "draw bear-5-fox", "draw bear-4-moose")
    state = play(state, "river orca-5-puffin", "river orca-4-bear")
    assert "give orca-3-fox p2" in texts(state)
    given = play(state, "give orca-3-fox p2", "discard moose-5-walrus", "discard moose-4-orca")
    assert given.to_move == 1
    late = play(state, "discard moose-5-walrus")
    ruling = refused(late, "give orca-3-fox p2")
    assert ruling.clauses == ("ARC-P.5", "ARC-C.2") and ruling.status == "deduced"
    assert play(late, "discard moose-4-orca").to_move == 1


@pytest.mark.cites("ARC-P.5")
def test_p5_is_of_phase_c_and_so_not_of_the_last_round(table: Make, play: Make, refused: Make) -> None:
    state = table(hand="fox-4-walrus", penalty="orca-3-fox", own="bear", sides=(5,), stage="last")
    assert "ARC-A.1" in refused(state, "give orca-3-fox p2").clauses
    state = play(state, "place fox-4-walrus")
    assert "ARC-B.1" in refused(state, "give orca-3-fox p2").clauses
    assert play(state, "tokens fox+ walrus-").to_move == 1


@pytest.mark.cites("ARC-P.6")
def test_p6_draws_may_come_from_the_own_penalty_zone(
    table: Make, play: Make, refused: Make, texts: Make, ann: Make
) -> None:
    state = drawing(table, play, penalty="orca-3-fox orca-2-moose", own="bear", sides=(6,))
    assert texts(state, "draw-penalty") == {"draw-penalty orca-3-fox", "draw-penalty orca-2-moose"}
    assert refused(state, "draw-penalty orca-1-walrus").clauses == ("ARC-P.6",)
    state = play(state, "draw-penalty orca-3-fox")
    assert state.count == 1, "it counts as one of those to be drawn"
    state = play(state, "draw-penalty orca-2-moose")
    assert ann(state)["penalty"] == [] and {"orca-3-fox", "orca-2-moose"} <= set(ann(state)["hand"])
    assert state.to_move == 1, "the River is full: nothing to fill"


@pytest.mark.cites("ARC-P.6")
def test_p6_needs_the_power(table: Make, play: Make, refused: Make) -> None:
    state = drawing(table, play, penalty="orca-3-fox", own="bear", sides=(5,))
    assert refused(state, "draw-penalty orca-3-fox").clauses == ("ARC-K.6", "ARC-P.6")
    state = drawing(table, play, penalty="orca-3-fox", sides=(6,))
    assert refused(state, "draw-penalty orca-3-fox").clauses == ("ARC-A.4", "ARC-A.6", "ARC-P.6")


# --- phase C: orca ----------------------------------------------------------------------------------------------------


@pytest.mark.cites("ARC-P.7", "ARC-A.6")
def test_p7_the_river_may_be_filled_after_each_card(table: Make, play: Make, refused: Make, texts: Make) -> None:
    state = drawing(table, play, own="orca", sides=(7,))
    assert "ARC-C.1" in refused(state, "refill").clauses, "it is full"
    state = play(state, "draw bear-5-fox")
    assert "refill" in texts(state)
    filled = play(state, "refill")
    assert filled.to_move == CHANCE and filled.position()["phase"] == "refill"
    filled = play(filled, "river orca-3-fox")
    assert filled.to_move == 0 and "draw orca-3-fox" in texts(filled), "the new card may be drawn"
    waived = play(state, "draw bear-4-moose")
    assert len(waived.river) == 4 and waived.to_move == CHANCE, "it need not be used"


@pytest.mark.cites("ARC-P.7")
def test_p7_needs_the_power(table: Make, play: Make, refused: Make, texts: Make) -> None:
    state = play(drawing(table, play, sides=(7,)), "draw bear-5-fox")
    assert "refill" not in texts(state)
    assert refused(state, "refill").clauses == ("ARC-A.4", "ARC-A.6", "ARC-P.7")
    empty = drawing(
        table, play, own="orca", sides=(7,), river="bear-5-fox bear-4-moose", pile_left=0, reserve=0, stage="final"
    )
    assert "ARC-E.1" in refused(empty, "refill").clauses


@pytest.mark.cites("ARC-P.8")
def test_p8_draws_may_come_unseen_from_the_pile(table: Make, play: Make, refused: Make, texts: Make, ann: Make) -> None:
    state = drawing(table, play, own="orca", sides=(8,))
    left = state.pile_left
    state = play(state, "draw-pile")
    assert state.to_move == CHANCE
    assert "ARC-K.4" in refused(state, "hand p1 bear-5-fox").clauses, "it lies in the River"
    assert refused(state, "hand p2 orca-3-fox").clauses == ("ARC-S.4",)
    state = play(state, "hand p1 orca-3-fox")
    assert "orca-3-fox" in ann(state)["hand"] and state.pile_left == left - 1 and len(state.river) == 6
    state = play(state, "draw-pile", "hand p1 ?")
    assert ann(state)["hand"].count("?") == 1 and state.to_move == 1
    bare = drawing(table, play, sides=(8,))
    assert refused(bare, "draw-pile").clauses == ("ARC-A.4", "ARC-A.6", "ARC-P.8")
    empty = drawing(table, play, own="orca", sides=(8,), pile_left=0, reserve=0, stage="final")
    assert "draw-pile" not in texts(empty)
    assert refused(empty, "draw-pile").clauses == ("ARC-E.1", "ARC-E.4")


# --- moose ------------------------------------------------------------------------------------------------------------


@pytest.mark.cites("ARC-P.9", "ARC-M.10")
def test_p9_one_card_more_or_fewer_to_draw(table: Make, play: Make, refused: Make, ann: Make) -> None:
    state = drawing(table, play, own="moose", sides=(9,))
    assert state.value == 2
    less = play(state, "value -1", "draw bear-5-fox", "river fox-5-moose")
    assert less.to_move == 1 and len(ann(less)["hand"]) == 2
    more = play(state, "value +1")
    assert "already used" in refused(more, "value -1").en
    more = play(more, "draw bear-5-fox", "draw bear-4-moose", "draw bear-3-walrus")
    assert len(more.river) == 3


@pytest.mark.cites("ARC-P.9")
@pytest.mark.parametrize(("placed", "step", "drawn"), [("fox-5-moose", "-1", 0), ("fox-1-bear", "+1", 6)])
def test_p9_gives_nought_to_six(table: Make, play: Make, allowed: Make, placed: str, step: str, drawn: int) -> None:
    main, _, companion = placed.split("-")
    state = play(table(hand=placed, own="moose", sides=(9,)), f"place {placed}", f"tokens {main}+ {companion}-")
    ruling = allowed(state, f"value {step}")
    assert ruling.facts["value"] == drawn and ruling.status == "house ruling"
    state = play(state, f"value {step}")
    for _ in range(drawn):
        state = play(state, sorted(str(m) for m in state.legal_moves if m.kind == "draw")[0])
    assert state.to_move == (1 if drawn == 0 else CHANCE)


@pytest.mark.cites("ARC-P.9", "ARC-P.10")
def test_the_two_values_change_in_their_own_phases(table: Make, play: Make, refused: Make) -> None:
    state = table(pile="fox-2-puffin", hand="moose-5-walrus walrus-4-puffin orca-5-puffin", own="moose", sides=(9,))
    assert refused(state, "value +1").clauses == ("ARC-K.6", "ARC-P.10")
    state = play(state, "place moose-5-walrus", "place walrus-4-puffin")
    assert refused(state, "value +1").clauses == ("ARC-P.9", "ARC-P.10")
    ten = drawing(table, play, own="moose", sides=(10,))
    assert refused(ten, "value -1").clauses == ("ARC-K.6", "ARC-P.9")


@pytest.mark.cites("ARC-P.10", "ARC-M.3")
def test_p10_one_card_more_or_fewer_to_place(table: Make, play: Make, refused: Make, ann: Make) -> None:
    hand = "walrus-4-puffin orca-5-puffin bear-5-fox"
    state = table(pile="fox-2-puffin", hand=hand, own="moose", sides=(10,))
    more = play(state, "value +1", *(f"place {card}" for card in hand.split()))
    assert len(ann(more)["pile"]) == 4 and more.position()["phase"] == "B"
    less = play(state, "value -1")
    assert "already used" in refused(less, "value -1").en
    assert play(less, "place bear-5-fox").position()["phase"] == "B"
    late = play(state, "place bear-5-fox", "value -1")
    assert late.position()["phase"] == "B", "also between two cards"


@pytest.mark.cites("ARC-P.10")
def test_p10_to_nought_leaves_the_visible_card(table: Make, play: Make, allowed: Make, ann: Make) -> None:
    state = table(pile="fox-1-bear", hand="orca-5-puffin", own="moose", sides=(10,))
    ruling = allowed(state, "value -1")
    assert ruling.status == "outside source" and ruling.facts["value"] == 0
    state = play(state, "value -1")
    assert state.position()["phase"] == "B" and set(ann(state)["powers"]) == {"fox", "moose"}
    assert ann(state)["pile"] == ["fox-1-bear"]


# --- fox --------------------------------------------------------------------------------------------------------------


@pytest.mark.cites("ARC-P.11", "ARC-M.5")
def test_p11_the_last_card_goes_under_the_whole_pile(table: Make, play: Make, refused: Make, ann: Make) -> None:
    state = table(pile="moose-3-puffin fox-2-puffin", hand="orca-5-puffin bear-5-fox", own="fox", sides=(11,))
    ruling = refused(state, "place bear-5-fox bottom")
    assert ruling.clauses == ("ARC-A.3", "ARC-P.11") and ruling.status == "deduced"
    assert refused(state, "place bear-5-fox under").clauses == ("ARC-K.6", "ARC-P.12", "ARC-A.3")
    state = play(state, "place orca-5-puffin", "place bear-5-fox bottom")
    assert ann(state)["pile"] == ["bear-5-fox", "moose-3-puffin", "fox-2-puffin", "orca-5-puffin"]
    assert "orca" in ann(state)["powers"], "the visible card is the one on top"


@pytest.mark.cites("ARC-P.12", "ARC-M.5")
def test_p12_the_last_card_goes_face_down_under_the_visible_card(
    table: Make, play: Make, refused: Make, allowed: Make, ann: Make
) -> None:
    state = table(pile="moose-3-puffin fox-2-puffin", hand="orca-5-puffin bear-5-fox", own="fox", sides=(12,))
    assert refused(state, "place bear-5-fox under").clauses == ("ARC-A.3", "ARC-P.12")
    state = play(state, "place orca-5-puffin")
    assert allowed(state, "place bear-5-fox under").clauses[:2] == ("ARC-A.1", "ARC-P.12")
    state = play(state, "place bear-5-fox under")
    assert ann(state)["pile"] == ["moose-3-puffin", "fox-2-puffin", "down:bear-5-fox", "orca-5-puffin"]


@pytest.mark.cites("ARC-P.12", "ARC-Q.3")
@pytest.mark.parametrize("visible", ["fox-5-moose", "moose-1-fox"])
def test_p12_any_visible_card_will_do(table: Make, texts: Make, allowed: Make, visible: str) -> None:
    """fox-5-moose is the first card of the box: its number is 0, and it is a card all the same."""
    state = table(pile=visible, hand="bear-5-fox", value=1, own="fox", sides=(12,))
    assert texts(state, "place") == {"place bear-5-fox", "place bear-5-fox under"}
    assert "ARC-P.12" in allowed(state, "place bear-5-fox under").clauses


def test_every_power_of_phase_a_waits_a_turn(table: Make, refused: Make) -> None:
    for own, sides, text in (
        ("puffin", (3,), "swap moose-5-walrus bear-5-fox"),
        ("puffin", (4,), "take-back"),
        ("moose", (10,), "value +1"),
        ("fox", (11,), "place moose-5-walrus bottom"),
        ("fox", (12,), "place moose-5-walrus under"),
    ):
        fresh = table(pile="fox-1-bear", hand="moose-5-walrus", own=own, held=[], sides=sides)
        assert refused(fresh, text).clauses[0] == "ARC-A.5", text
        assert (
            fresh.game.parse(text) in table(pile="fox-1-bear", hand="moose-5-walrus", own=own, sides=sides).legal_moves
        )


# --- where there is no visible card, or nothing to do -----------------------------------------------------------------


@pytest.mark.cites("ARC-0.1", "ARC-A.4")
def test_without_a_visible_card_no_power_no_token_and_nothing_to_draw(table: Make, play: Make, allowed: Make) -> None:
    state = table(pile="orca-5-puffin", hand="moose-5-walrus", own="puffin moose", sides=(4, 10))
    state = play(state, "take-back")
    ruling = allowed(state, "value -1")
    assert {"ARC-P.10", "ARC-0.1", "ARC-A.4"} <= set(ruling.clauses) and "no power card" in ruling.en
    after = play(state, "value -1")
    assert after.to_move == 1 and after.owners == state.owners and after.tokens == state.tokens
    covered = table(pile="down:?", hand="moose-5-walrus", own="fox moose", sides=(11, 9))
    covered = play(covered, "place moose-5-walrus bottom")
    assert (covered.phase, covered.value) == ("C", 0)
    assert play(covered, "end").to_move == 1
    assert play(covered, "value +1", "draw bear-5-fox").phase == "refill"


def test_only_cards_beyond_seven_are_put_away(table: Make, play: Make, refused: Make) -> None:
    state = drawing(table, play, penalty="orca-3-fox", own="bear", sides=(5,))
    state = play(state, "draw bear-5-fox", "draw bear-4-moose", "river orca-5-puffin", "river orca-4-bear")
    assert state.phase == "D"
    ruling = refused(state, "discard bear-5-fox")
    assert ruling.clauses == ("ARC-C.2",) and ruling.facts["cards"] == 3
    both = refused(state, "discard fox-5-moose")
    assert "beyond seven" in both.en and "cannot have" in both.en
    assert refused(state, "value +1").clauses == ("ARC-P.9", "ARC-P.10")
    assert refused(state, "refill").clauses == ("ARC-A.4", "ARC-A.6", "ARC-P.7", "ARC-C.1")


@pytest.mark.cites("ARC-P.7", "ARC-M.11")
def test_p7_fills_between_two_cards_and_not_after_the_last(table: Make, play: Make, texts: Make, refused: Make) -> None:
    state = play(drawing(table, play, own="orca", sides=(7,)), "draw bear-5-fox")
    assert "refill" in texts(state)
    said = state.game.from_position(state.position() | {"count": 2})
    assert texts(said) == {"end"}, "all are drawn: it is filled at the end anyhow"
    assert not refused(said, "refill").legal
