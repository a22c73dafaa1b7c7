"""The turn, phase by phase: ARC-0.1, A, B, C, and the examples ARC-T.4 to T.8."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from companion.rules import game
from companion.rules.core import CHANCE

Make = Callable[..., Any]
NINE = "fox-4-walrus fox-3-orca fox-2-puffin moose-5-walrus moose-4-orca moose-3-puffin moose-2-bear walrus-5-orca"


@pytest.mark.cites("ARC-0.1", "ARC-A.1", "ARC-M.4")
def test_the_visible_card_before_placing_rules_a_and_the_new_one_b_and_c(table: Make, play: Make, ann: Make) -> None:
    state = table(pile="fox-2-puffin", hand="orca-5-puffin moose-1-fox bear-4-moose", river=None)
    assert state.position()["value"] == 2, "the placement value of the fox"
    state = play(state, "place orca-5-puffin", "place moose-1-fox")
    position = state.position()
    assert position["phase"] == "B" and ann(state)["pile"] == ["fox-2-puffin", "orca-5-puffin", "moose-1-fox"]
    assert {str(m) for m in state.legal_moves} == {"tokens moose+ fox-", "tokens moose- fox+"}
    state = play(state, "tokens moose+ fox-")
    assert (state.position()["phase"], state.position()["value"]) == ("C", 5), "the draw value of the moose"


@pytest.mark.cites("ARC-A.1")
def test_the_order_of_placing_is_free(table: Make, play: Make, ann: Make, texts: Make) -> None:
    state = table(pile="fox-2-puffin", hand="orca-5-puffin moose-1-fox bear-4-moose")
    assert texts(state) == {"place orca-5-puffin", "place moose-1-fox", "place bear-4-moose"}
    state = play(state, "place moose-1-fox", "place orca-5-puffin")
    assert ann(state)["pile"][1:] == ["moose-1-fox", "orca-5-puffin"]


@pytest.mark.cites("ARC-A.1")
def test_no_more_and_no_fewer_cards_than_the_value(table: Make, play: Make, refused: Make) -> None:
    state = table(pile="fox-2-puffin", hand="orca-5-puffin moose-1-fox bear-4-moose")
    assert refused(state, "end").clauses == ("ARC-A.1",)
    assert refused(state, "place walrus-5-orca").clauses == ("ARC-A.1",)
    for text in ("tokens fox+ puffin-", "draw bear-5-fox", "discard moose-1-fox", "extra fox+", "give ? p2"):
        assert "ARC-A.1" in refused(state, text).clauses, text
    state = play(state, "place moose-1-fox", "place orca-5-puffin")
    ruling = refused(state, "place bear-4-moose")
    assert ruling.clauses == ("ARC-B.1",) and "tokens" in ruling.en
    done = play(state, "tokens orca+ puffin-")
    assert refused(done, "place bear-4-moose").clauses == ("ARC-A.1",)


@pytest.mark.cites("ARC-A.2")
def test_without_a_visible_card_the_value_is_one(table: Make) -> None:
    assert table(hand="fox-5-moose").value == 1
    assert table(hand="moose-1-fox", pile="fox-5-moose down:?", sides=(12,)).value == 1


@pytest.mark.cites("ARC-T.4", "ARC-A.3", "ARC-M.6")
def test_t4_two_missing_cards_cost_two_penalties(table: Make, play: Make, refused: Make, ann: Make) -> None:
    state = table(pile="fox-5-moose", hand="fox-4-walrus moose-4-orca orca-4-bear")
    before = state.pile_left
    state = play(state, "place fox-4-walrus", "place moose-4-orca")
    ruling = state.check(state.game.parse("place orca-4-bear"))
    assert ruling.legal and "ARC-A.3" in ruling.clauses and ruling.facts["missing"] == 2
    state = play(state, "place orca-4-bear")
    assert state.to_move == CHANCE
    assert "ARC-A.3" in state.check(state.game.parse("penalty fox-3-orca")).clauses
    assert refused(state, "tokens orca+ bear-").clauses == ("ARC-0.1",)
    state = play(state, "penalty fox-3-orca", "penalty ?")
    assert ann(state)["penalty"] == ["fox-3-orca", "?"] and state.pile_left == before - 2
    assert state.position()["phase"] == "B"


@pytest.mark.cites("ARC-A.3", "ARC-A.1")
def test_with_an_empty_hand_all_is_paid(table: Make, play: Make, ann: Make) -> None:
    state = table(pile="fox-3-orca", hand="")
    state = play(state, "end", "penalty ?", "penalty ?", "penalty ?")
    assert ann(state)["pile"] == ["fox-3-orca"] and ann(state)["powers"] == ["fox"]
    assert state.position()["phase"] == "B", "the old card is still the visible one"


@pytest.mark.cites("ARC-A.4", "ARC-M.7")
def test_the_power_card_comes_from_the_centre_or_from_a_player(table: Make, play: Make, ann: Make) -> None:
    state = table(hand="orca-5-puffin", others=({"powers": ["orca", "fox"]},))
    ruling = state.check(state.game.parse("place orca-5-puffin"))
    assert "ARC-A.4" in ruling.clauses and "from Bob" in ruling.en and "à Bob" in ruling.fr
    state = play(state, "place orca-5-puffin")
    assert ann(state)["powers"] == ["orca"]
    assert state.position()["players"][1]["powers"] == ["fox"]
    fresh = table(hand="orca-5-puffin")
    assert "centre" in fresh.check(fresh.game.parse("place orca-5-puffin")).en
    mine = table(hand="orca-5-puffin", own="orca")
    assert "keeps it" in mine.check(mine.game.parse("place orca-5-puffin")).en


@pytest.mark.cites("ARC-A.4")
def test_only_the_new_visible_card_gives_its_power(table: Make, play: Make, ann: Make) -> None:
    state = table(pile="fox-2-puffin", hand="orca-5-puffin moose-1-fox")
    assert ann(play(state, "place orca-5-puffin", "place moose-1-fox"))["powers"] == ["moose"]


@pytest.mark.cites("ARC-A.5")
def test_powers_of_b_and_c_work_at_once_those_of_a_do_not(table: Make, play: Make, texts: Make, refused: Make) -> None:
    walrus = play(table(hand="walrus-5-orca", sides=(1,)), "place walrus-5-orca", "tokens walrus+ orca-")
    assert texts(walrus) == {"extra walrus+", "extra walrus-", "end"}
    moose = play(table(hand="moose-5-walrus", sides=(9,)), "place moose-5-walrus", "tokens moose+ walrus-")
    assert {"value +1", "value -1"} <= texts(moose)
    fox = play(table(pile="fox-2-puffin", hand="fox-3-orca moose-5-walrus", sides=(11,)), "place moose-5-walrus")
    assert "ARC-A.4" in refused(fox, "place fox-3-orca bottom").clauses
    taken = table(pile="fox-2-puffin", hand="fox-3-orca moose-5-walrus", own="fox", held=[], sides=(11,), count=1)
    ruling = refused(taken, "place fox-3-orca bottom")
    assert ruling.clauses == ("ARC-A.5", "ARC-P.11") and ruling.status == "text"


@pytest.mark.cites("ARC-A.6", "ARC-M.15")
def test_all_powers_are_optional_and_all_that_are_held_may_be_used(table: Make, play: Make, texts: Make) -> None:
    state = table(
        pile="fox-2-puffin",
        hand="walrus-5-orca moose-4-orca",
        own="walrus moose bear",
        sides=(1, 9, 5),
        penalty="bear-1-puffin",
    )
    state = play(state, "place moose-4-orca", "place walrus-5-orca", "tokens walrus+ orca-")
    assert "extra walrus+" in texts(state)
    waived = play(state, "end")
    assert {"value +1", "give bear-1-puffin p2", "draw bear-5-fox"} <= texts(waived)
    done = play(waived, "draw bear-5-fox")
    while done.to_move == CHANCE:
        done = play(done, str(next(iter(done.legal_moves))))
    assert "end" in texts(done) and play(done, "end").to_move == 1, "nothing had to be used"


# --- B ----------------------------------------------------------------------------------------------------------------


@pytest.mark.cites("ARC-T.5", "ARC-B.1", "ARC-M.8")
def test_t5_one_up_the_other_down(table: Make, play: Make, refused: Make, texts: Make, at: Make) -> None:
    state = play(table(hand="fox-5-moose", tokens={"fox": 3, "moose": 6}), "place fox-5-moose")
    assert texts(state) == {"tokens fox+ moose-", "tokens fox- moose+"}
    up, down = play(state, "tokens fox+ moose-"), play(state, "tokens fox- moose+")
    assert (at(up, "fox"), at(up, "moose")) == (6, 3)
    assert (at(down, "fox"), at(down, "moose")) == (1, 10)
    for text in ("tokens fox+ moose+", "tokens fox- moose-"):
        assert refused(state, text).clauses == ("ARC-B.1",)
    assert refused(state, "end").clauses == ("ARC-B.1",), "both staying"
    for text in ("tokens moose+ fox-", "tokens fox+ orca-", "tokens fox+ fox-"):
        assert refused(state, text).clauses == ("ARC-B.1",)


@pytest.mark.cites("ARC-T.6", "ARC-B.2", "ARC-B.4")
@pytest.mark.parametrize(
    ("fox", "moose", "move", "after"),
    [
        (15, 6, "tokens fox- moose+", (10, 10)),
        (0, 6, "tokens fox+ moose-", (1, 3)),
        (6, 15, "tokens fox+ moose-", (10, 10)),
        (6, 0, "tokens fox- moose+", (3, 1)),
    ],
)
def test_t6_from_an_end_inward_the_other_the_opposite_way(
    table: Make,
    play: Make,
    refused: Make,
    texts: Make,
    at: Make,
    fox: int,
    moose: int,
    move: str,
    after: tuple[int, int],
) -> None:
    state = play(table(hand="fox-5-moose", tokens={"fox": fox, "moose": moose}), "place fox-5-moose")
    assert texts(state) == {move}
    assert state.check(state.game.parse(move)).clauses == ("ARC-B.2",)
    moved = play(state, move)
    assert (at(moved, "fox"), at(moved, "moose")) == after
    for text in {"tokens fox+ moose-", "tokens fox- moose+", "tokens fox+ moose+"} - {move}:
        assert refused(state, text).clauses == ("ARC-B.2",)


@pytest.mark.cites("ARC-T.7", "ARC-B.3", "ARC-B.4")
@pytest.mark.parametrize(
    ("fox", "moose", "move", "after"),
    [
        (0, 15, "tokens fox+ moose-", (1, 10)),
        (15, 15, "tokens fox- moose-", (10, 10)),
        (0, 0, "tokens fox+ moose+", (1, 1)),
        (15, 0, "tokens fox- moose+", (10, 1)),
    ],
)
def test_t7_both_at_ends_both_go_inward(
    table: Make,
    play: Make,
    refused: Make,
    texts: Make,
    at: Make,
    fox: int,
    moose: int,
    move: str,
    after: tuple[int, int],
) -> None:
    state = play(table(hand="fox-5-moose", tokens={"fox": fox, "moose": moose}), "place fox-5-moose")
    assert texts(state) == {move}
    assert state.check(state.game.parse(move)).clauses == ("ARC-B.3",)
    moved = play(state, move)
    assert (at(moved, "fox"), at(moved, "moose")) == after
    for text in {"tokens fox+ moose-", "tokens fox- moose+", "tokens fox- moose-"} - {move}:
        assert refused(state, text).clauses == ("ARC-B.3",)


# --- C ----------------------------------------------------------------------------------------------------------------


@pytest.mark.cites("ARC-C.1", "ARC-Q.9", "ARC-M.11")
def test_draw_from_the_river_then_fill_it_to_six(
    table: Make, play: Make, refused: Make, texts: Make, ann: Make
) -> None:
    state = play(table(hand="fox-4-walrus"), "place fox-4-walrus", "tokens fox+ walrus-")
    river = {text.removeprefix("draw ") for text in texts(state, "draw")}
    assert len(river) == 6 and texts(state) == {f"draw {card}" for card in river}
    assert refused(state, "end").clauses == ("ARC-C.1",)
    assert refused(state, "draw fox-5-moose").clauses == ("ARC-C.1",)
    one, two = sorted(river)[:2]
    state = play(state, f"draw {one}")
    assert refused(state, f"draw {one}").clauses == ("ARC-C.1",)
    assert state.to_move == 0, "not yet filled"
    state = play(state, f"draw {two}")
    assert state.to_move == CHANCE and len(state.river) == 4
    assert refused(state, f"draw {sorted(river)[2]}").clauses == ("ARC-0.1",)
    state = play(state, "river fox-5-moose", "river fox-3-orca")
    assert len(state.river) == 6 and state.to_move == 1
    assert sorted(ann(state)["hand"]) == [one, two]


@pytest.mark.cites("ARC-T.8", "ARC-C.2", "ARC-Q.9", "ARC-M.13")
def test_t8_nine_cards_in_hand_two_to_the_penalty_zone(
    table: Make, play: Make, refused: Make, texts: Make, ann: Make
) -> None:
    hand = NINE.split()
    state = table(pile="fox-1-bear", hand=" ".join(hand))
    state = play(state, "place fox-4-walrus", "tokens fox+ walrus-", "draw bear-5-fox")
    assert "ARC-C.2" in refused(state, "discard fox-3-orca").clauses, "not before all is drawn"
    state = play(state, "draw bear-4-moose", "river orca-5-puffin", "river orca-4-bear")
    assert len(ann(state)["hand"]) == 9 and state.position()["phase"] == "D"
    assert len(state.river) == 6, "the River was filled before"
    assert refused(state, "end").clauses == ("ARC-C.2",)
    assert refused(state, "discard walrus-1-moose").clauses == ("ARC-C.2",)
    assert refused(state, "draw orca-5-puffin").clauses == ("ARC-C.1",)
    assert len(texts(state, "discard")) == 9
    state = play(state, "discard fox-3-orca", "discard bear-5-fox")
    assert ann(state)["penalty"] == ["fox-3-orca", "bear-5-fox"] and len(ann(state)["hand"]) == 7
    assert state.to_move == 1


@pytest.mark.cites("ARC-C.2")
def test_seven_cards_are_not_too_many(table: Make, play: Make, ann: Make) -> None:
    state = table(pile="fox-1-bear", hand=" ".join(NINE.split()[:6]))
    state = play(state, "place fox-4-walrus", "tokens fox+ walrus-", "draw bear-5-fox", "draw bear-4-moose")
    state = play(state, "river orca-5-puffin", "river orca-4-bear")
    assert state.to_move == 1 and len(ann(state)["hand"]) == 7


def test_c3_where_there_is_not_enough_one_takes_what_there_is(
    table: Make, play: Make, ann: Make, refused: Make
) -> None:
    state = table(hand="moose-1-fox", river="bear-5-fox bear-4-moose", pile_left=0, reserve=0, stage="final", first=2)
    state = play(state, "place moose-1-fox", "tokens moose+ fox-", "draw bear-5-fox", "draw bear-4-moose")
    assert len(ann(state)["hand"]) == 2 and state.to_move == 1, "five were due"
    assert state.river == ()


def test_c3_with_a_power_left_one_may_stop(table: Make, play: Make, allowed: Make, ann: Make) -> None:
    state = table(
        hand="moose-1-fox",
        river="bear-5-fox",
        penalty="bear-1-puffin",
        own="bear",
        sides=(6,),
        pile_left=0,
        reserve=0,
        stage="final",
        first=2,
    )
    state = play(state, "place moose-1-fox", "tokens moose+ fox-", "draw bear-5-fox")
    ruling = allowed(state, "end")
    assert ruling.status == "house ruling" and "ARC-C.3" in ruling.clauses
    assert ann(play(state, "end"))["penalty"] == ["bear-1-puffin"]
    assert ann(play(state, "draw-penalty bear-1-puffin"))["penalty"] == []


def test_nobody_moves_when_the_game_is_over(table: Make, refused: Make) -> None:
    state = table(phase="over", stage="last", reserve=0)
    for text in ("place fox-5-moose", "end", "totem p1 fox", "river fox-5-moose"):
        assert refused(state, text).clauses == ("ARC-E.1",)
    assert game("arctic").parse("end") not in state.legal_moves


@pytest.mark.parametrize(
    "text", ["river fox-5-moose", "hand p1 fox-5-moose", "penalty ?", "first p1", "pack 2", "side fox 11"]
)
def test_nothing_is_turned_up_while_a_player_decides(table: Make, refused: Make, text: str) -> None:
    assert refused(table(hand="fox-5-moose"), text).clauses == ("ARC-0.1",)
