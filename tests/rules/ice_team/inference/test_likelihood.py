"""What a camera tells of a turn of Ice Team: all turns there are, each only as far as the board tells it."""

from __future__ import annotations

from math import inf, log
from random import Random
from typing import Any

import pytest

from companion.lab.bench.turn_times import whole_turns
from companion.rules import game
from companion.rules.ice_team.inference.likelihood import UNSEEN
from companion.rules.inference.belief import Belief
from companion.rules.inference.turns import Evidence, SearchResult, content, turns
from vision.track.evidence import logs


def seen(state: Any) -> Evidence:
    """Return what good eyes believe of a board."""
    places = {}
    for name, place in state.position()["places"].items():
        ground, things = content(place)
        there = {colour: count for _, colour, count in things}
        counts = {("bear", c): logs({n: 0.99 if n == there.get(c, 0) else 0.01 for n in range(5)}) for c in there}
        places[name] = Belief({ground: log(0.99)}, counts, log(1e-5))
    return Evidence(places)


def position(things: dict[str, str], grounds: dict[str, str], fresh: int = 0, **more: Any) -> Any:
    """Return a position whose floes are plain where ``grounds`` do not say otherwise; green is to move."""
    start: Any = game("ice-team").start([{"name": "Ann"}, {"name": "Bob"}]).position()
    places = {}
    for name, place in start["places"].items():
        ground = place["ground"]
        if ground == "floe":
            ground = grounds.get(name, "plain")
        here = [{"kind": "bear", "colour": colour, "count": 1} for colour in things.get(name, "").split()]
        places[name] = {"ground": ground, "things": here}
    left = {colour: 4 - sum(t.split().count(colour) for t in things.values()) for colour in ("green", "red")}
    places["start"]["things"] = [{"kind": "bear", "colour": c, "count": n} for c, n in left.items() if n]
    players = [{"name": "Ann", "colour": "green", "fresh": fresh}, {"name": "Bob", "colour": "red"}]
    data = {"game": "ice-team", "places": places, "players": players, "turn": "green", "actions": 2, **more}
    return game("ice-team").from_position(data)


def after(state: Any, *texts: str) -> Any:
    """Return a state after some moves."""
    for text in texts:
        state = state.play(state.game.parse(text))
    return state


def told(found: SearchResult) -> list[list[str]]:
    """Return what the board tells of the turns that fit best."""
    best = found.turns[0].log_likelihood
    return [[str(m) for m in turn.moves[: turn.told]] for turn in found.turns if turn.log_likelihood > best - 1e-9]


def test_a_turn_is_told_up_to_what_no_board_shows() -> None:
    state = position({"d3": "green", "b4": "green"}, {})
    whole = after(state, "walk d3 village", "roll 1 fish2", "roll 2 fish1", "choose 1", "walk b4 b2")
    found = turns(state, seen(whole), limit=200)
    # Which came first makes no difference: the one is entered of which the board tells more.
    assert told(found) == [["walk b4 b2", "walk d3 village"]]
    assert found.complete and found.reached == inf, "it looked at all there is"


@pytest.mark.parametrize("fresh", [0, 1, 5])
def test_where_the_order_decides_how_many_fish_may_freeze_the_one_is_told_that_leaves_both_open(fresh: int) -> None:
    """One penguin: without a fish nothing freezes before the Village gives some; with one it makes no difference."""
    state = position({"d3": "green", "b4": "green"}, {"b2": "penguin1"}, fresh)
    first = after(state, "walk d3 village", "roll 1 fish2", "roll 2 fish1", "choose 1", "walk b4 b2", "freeze 1")
    best = told(turns(state, seen(first)))
    assert len(best) == 1
    assert fresh or best == [["walk d3 village"]], "what the die brings is entered before it can freeze"


def test_past_more_penguins_all_may_freeze_that_may_past_fewer() -> None:
    """Two ways leave the same board: the one is told by which whatever was played can be entered."""
    state = position({"b4": "green"}, {"b1": "penguin1", "a6": "penguin2"}, fresh=2)
    few, many = (after(state, f"walk b4 {by}", "freeze 1", f"walk {by} a3") for by in ("b1", "a6"))
    assert few == many, "the same position"
    assert told(turns(state, seen(few), limit=200)) == [["walk b4 a6"]]
    # One fish only: the ways are the same in all that may come of them, and one is told.
    poor = position({"b4": "green"}, {"b1": "penguin1", "a6": "penguin2"}, fresh=1)
    assert len(told(turns(poor, seen(few), limit=200))) == 1


def test_two_actions_that_end_where_one_would_have_are_told_beside_the_one() -> None:
    state = position({"b4": "green"}, {})
    found = turns(state, seen(after(state, "walk b4 b2")))
    best = told(found)
    assert best[0] == ["walk b4 b2"] and len(best) > 1
    assert all(len(way) == 2 for way in best[1:])


def test_a_turn_that_leaves_the_board_as_it_was_is_none() -> None:
    state = position({"b4": "green"}, {})
    gone = after(state, "walk b4 b2", "walk b2 b4")
    assert gone.position()["places"] == state.position()["places"]
    assert ["walk b4 b2", "walk b2 b4"] not in told(turns(state, seen(gone)))


def test_every_board_that_a_turn_may_leave_is_found() -> None:
    rng, looked = Random(11), 0
    for before, _, end in whole_turns("ice-team", rng, 25):
        boards = {str(s.position()["places"]) for s in every_end(before)}
        here = str(before.position()["places"])
        found = turns(before, seen(end), limit=10**6, above=-(10**6))
        best = found.turns[0].state.position()["places"]
        if str(end.position()["places"]) != here:
            assert best == end.position()["places"]
            assert str(best) in boards
            looked += 1
    assert looked > 15


def every_end(before: Any) -> list[Any]:
    """Return every end of a turn, whatever dice show and fish do; a plain walk of its own."""
    waiting, met, ends = [before], {before}, []
    while waiting:
        state = waiting.pop()
        if state.phase == "over" or state.seat != before.seat:
            ends.append(state)
            continue
        for move in state.moves():
            new = state.after(move)
            if new not in met:
                met.add(new)
                waiting.append(new)
            if state.phase in UNSEEN:
                break
    return ends
