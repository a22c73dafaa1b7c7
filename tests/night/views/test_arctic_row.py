"""Arctic's River and piles as they are seen: which turns leave them, and what nobody can tell."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from companion.lab.bench.turn_times import whole_turns
from companion.night.games.arctic.photo_row import ArcticPhotoRow
from companion.night.games.capabilities import OpenRow
from companion.rules import game
from companion.rules.arctic.components import ANIMALS, TEXT
from companion.rules.arctic.moves import TOP
from tests.worlds.sizes import size

ROW = ArcticPhotoRow()
ARCTIC: Any = game("arctic")


def start(**setup: Any) -> Any:
    """Return a game of two whose River lies; hands and totems are secret."""
    sides = {"fox": 11, "moose": 9, "walrus": 1, "orca": 8, "puffin": 3, "bear": 6}
    river = ["fox-5-moose", "moose-4-orca", "walrus-4-puffin", "orca-5-puffin", "puffin-2-orca", "bear-1-puffin"]
    seats = [{"name": "Ann"}, {"name": "Bob"}]
    whole = {"packs": [1, 2], "powers": sides, "first": 1, "totems": ["?", "?"], "hands": [["?"] * 3] * 2, **setup}
    return ARCTIC.start(seats, None, {**whole, "river": setup.get("river", river)})


def after(state: Any, *moves: str) -> Any:
    for text in moves:
        state = state.play(ARCTIC.parse(text))
    return state


def open_to_all(state: Any) -> Any:
    """Return what everybody can tell of a position."""
    view = state.view(None)
    zones = [(one["pile"], one["powers"], len(one["hand"]), len(one["penalty"])) for one in view["players"]]
    return view["places"], zones, view["pile_left"], view["reserve"]


def test_the_river_is_awaited_when_all_else_is_set_up() -> None:
    state = start(river=[])
    assert ROW.awaited(state) == 6
    assert len(ROW.may_lie(state)) == 60
    cards = ROW.may_lie(state)[3:60:10]
    laid = after(state, *ROW.fill(cards))
    assert set(ROW.row(laid)) == set(cards)
    assert (ROW.awaited(laid), ROW.mover(laid)) == (0, 0)
    assert ROW.awaited(start(river=[], hands=[])) == 0


def test_a_first_turn_is_told_but_for_the_way_of_its_tokens() -> None:
    before = start()
    new = ("moose-1-fox", "bear-3-orca")
    row = tuple(card for card in ROW.row(before) if card not in {"fox-5-moose", "moose-4-orca"}) + new
    found = ROW.turns(before, OpenRow(row, ("walrus-4-bear",)))
    assert found.all_told
    # Of walrus and bear, both on 3, either may have gone up, and the walrus's power may move it once more.
    ways = {tuple(ROW.pieces(turn.state)[animal] for animal in ("walrus", "bear")) for turn in found.turns}
    assert ways == {(3, 1), (1, 3), (4, 1), (2, 1), (2, 3), (0, 3)}
    assert all(set(ROW.row(turn.state)) == set(row) for turn in found.turns)
    assert ROW.tops(found.turns[0].state) == ("walrus-4-bear", None)
    assert ROW.turns(before, OpenRow(ROW.row(before), ("walrus-4-bear",))).turns == (), "two are still to be drawn"
    assert ROW.turns(before, OpenRow(row)).turns == (), "nothing was laid"


def test_cards_below_those_that_show_are_left_to_people() -> None:
    before = start()
    row = (*(card for card in ROW.row(before) if card != "fox-5-moose"), "bear-3-orca")
    first = ROW.turns(before, OpenRow(row, ("fox-5-walrus",))).turns[0].state
    assert ROW.mover(first) == 1
    there = (*ROW.row(first)[2:], "orca-2-moose", "moose-3-puffin")
    second: Any = ROW.turns(first, OpenRow(there, ("puffin-4-fox",))).turns[0].state
    assert (ROW.mover(second), second.value, len(second.hands[0])) == (0, 5, 3)
    hidden = ROW.turns(second, OpenRow(there, ("walrus-3-bear",)))
    assert hidden.hidden
    assert hidden.turns == ()


@pytest.mark.parametrize("orca", [8, 7])
def test_a_full_river_of_which_cards_were_drawn_says_that_all_is_drawn(orca: int) -> None:
    sides = {"fox": 11, "moose": 9, "walrus": 1, "orca": orca, "puffin": 3, "bear": 6}
    before = start(powers=sides)
    row = ROW.row(before)
    laid, new = ("orca-2-moose",), ("moose-1-fox", "bear-3-orca", "walrus-3-bear")
    if orca == 7:
        new = (*new, "fox-1-bear")
    # Of four cards three are drawn from the River: the fourth is the pile's, and nothing of it shows.
    found = ROW.turns(before, OpenRow((*row[len(new) :], *new), laid))
    drawn = [[str(move) for move in turn.moves].count("draw-pile") for turn in found.turns]
    assert set(drawn) == ({1} if orca == 8 else {0})
    seen = OpenRow((*row[len(new) :], *new), laid)
    assert not any(ROW.goes_on(before, turn, seen) for turn in found.turns)
    # While nothing is drawn from the River, all may be the pile's, or the turn goes on.
    bare = OpenRow(row, laid)
    begun = ROW.turns(before, bare).turns
    assert [ROW.goes_on(before, turn, bare) for turn in begun] == [True] * len(begun)
    assert bool(begun) is (orca == 8)


def test_a_turn_is_told_up_to_where_a_card_may_be_given_unseen() -> None:
    before = start(powers={"fox": 11, "moose": 9, "walrus": 1, "orca": 8, "puffin": 3, "bear": 5})
    first = ["place bear-5-moose", "tokens bear+ moose-", "draw orca-5-puffin", "river puffin-4-moose"]
    second = ["place orca-5-bear", "tokens orca+ bear-", "draw fox-5-moose", "river walrus-3-bear"]
    begun = after(before, *first, *second)
    row = ("moose-4-puffin", *(card for card in ROW.row(begun) if card != "walrus-4-puffin"))
    seen = OpenRow(row, ("walrus-2-fox", "moose-2-bear", "orca-5-puffin"), joined=True)
    ways = [turn for turn in ROW.turns(begun, seen).turns if ROW.pieces(turn.state)["puffin"] == 3]
    assert len(ways) == 2
    part = ROW.part(begun, ways)
    assert part is not None
    assert "give" not in {move.kind for move in part.moves}  # type: ignore[attr-defined]
    assert ROW.part(begun, ROW.turns(begun, seen).turns) is None, "the tokens tell"
    rests = ROW.rests(part.state)
    assert [[str(move) for move in rest.moves] for rest in rests] == [["end"]]
    assert ROW.rests(begun) == ()


def test_in_the_last_round_one_more_step_is_told_by_the_tokens() -> None:
    before = start()
    laid = after(before, "place walrus-4-bear")
    last = laid.copy()
    last.stage = "last"
    open_ = last.after(ARCTIC.parse("tokens walrus+ bear-"))
    steps = [[str(move) for move in rest.moves] for rest in ROW.rests(open_)]
    assert steps == [["end"], ["extra walrus+"], ["extra walrus-"]]
    # In other rounds cards are drawn after it.
    assert ROW.rests(after(laid, "tokens walrus+ bear-")) == ()


def test_what_a_hand_is_known_to_hold_is_likelier_to_be_laid() -> None:
    first = ["place bear-5-moose", "tokens bear+ moose-", "draw orca-5-puffin", "river puffin-4-moose"]
    second = ["place orca-5-bear", "tokens orca+ bear-", "draw fox-5-moose", "river walrus-3-bear"]
    begun = after(start(), *first, *second)
    laid, comes = ROW.likely(begun)
    assert comes is not None
    assert laid["orca-5-puffin"] == pytest.approx(1 / 3)
    assert sum(laid.values()) == pytest.approx(1.0)
    assert "fox-5-moose" not in laid, "Bob has it"
    assert "fox-5-moose" not in comes
    assert "walrus-3-bear" not in comes
    assert sum(comes.values()) == pytest.approx(1.0)
    assert laid["walrus-2-fox"] < comes["walrus-2-fox"] < laid["orca-5-puffin"]


@pytest.mark.no_cover
@pytest.mark.sized
def test_turns_are_told_rightly_and_nothing_that_is_secret_is_named() -> None:
    told = among = turns = 0
    for before, moves, end in whole_turns("arctic", Random(7), size(40, 300)):
        table = ARCTIC.from_position(before.view(None))
        laid = tuple(TEXT[move.a] for move in moves if move.kind == "place" and move.b == TOP)
        # Who takes the visible card back leaves nothing of it below the new ones.
        joined = all(move.kind != "take-back" for move in moves)
        found = ROW.turns(table, OpenRow(ROW.row(end), laid, joined))
        truth, pieces = open_to_all(end), ROW.pieces(end)
        seen = {*ROW.row(end), *laid}
        for turn in found.turns:
            named = {TEXT[move.a] for move in turn.moves if move.kind in {"place", "river", "swap"}}  # type: ignore[attr-defined]
            assert named <= seen
            secret = {"penalty", "discard", "give", "draw-penalty", "hand"}
            assert all("?" in str(move) for move in turn.moves if str(move).split()[0] in secret)
        fitting = [turn for turn in found.turns if ROW.pieces(turn.state) == pieces]
        turns += 1
        among += any(open_to_all(turn.state) == truth for turn in fitting)
        if len(fitting) == 1 and found.all_told:
            told += 1
            assert open_to_all(fitting[0].state) == truth, list(map(str, moves))
    assert told > 0.4 * turns
    assert among > 0.7 * turns
    assert set(ROW.pieces(start())) == set(ANIMALS)
