"""The search for a turn of Ice Team: it finds what was played, and proves that there is nothing where there is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import log
from random import Random
from typing import Any

import pytest

from companion.lab.bench.turn_times import forget, whole_turns
from companion.rules.ice_team.inference import search
from companion.rules.ice_team.moves import IceMove
from companion.rules.inference.turns import Evidence, content, turns
from tests.worlds.sizes import size

# Not measured for coverage: that takes three times as long, and the other tests reach nearly every branch.
pytestmark = pytest.mark.no_cover

Make = Callable[..., Any]
SMALL = {
    "p1": "drift",
    "p2": "igloo",
    "p4": "plain-fragile",
    "p5": "sea",
    "p6": "plain",
    "p7": "penguin1",
    "p8": "igloo",
}
SMALL |= {"p9": "paw", "q4": "plain", "q3": "igloo"}


def legal_way(before: Any, moves: Any) -> Any:
    """Play moves, each of them checked, and return the state after them."""
    state = before
    for move in moves:
        state = state.play(move)
    return state


def plain(move: Any) -> str:
    """Return a move without what nobody sees afterwards: the dice of the Village, and their numbers."""
    return "" if move.kind in {"roll", "choose"} else str(move)


@pytest.mark.sized
@pytest.mark.parametrize("seed", [1, 2])
def test_turns_that_were_played_are_found(seed: int) -> None:
    for before, moves, after in whole_turns("ice-team", Random(seed), size(12, 60)):
        evidence = Evidence.of_position(after.position())
        found = turns(before, evidence, limit=60)
        assert found.turns and found.complete, list(map(str, moves))
        assert len(found.turns[0].moves) <= len(moves)
        for turn in found.turns:
            assert legal_way(before, turn.moves) == turn.state
            end: Any = turn.state
            assert not search.IceGoal(before, evidence).misses(end)
        if len(found.turns[0].moves) == len(moves):
            told = [sorted(map(plain, turn.moves)) for turn in found.turns]
            assert sorted(map(plain, moves)) in told, list(map(str, moves))


@pytest.mark.sized
def test_turns_are_found_where_a_part_is_forgotten() -> None:
    rng = Random(3)
    for before, moves, after in whole_turns("ice-team", rng, size(20, 50)):
        evidence = forget(Evidence.of_position(after.position()), rng)
        found = turns(before, evidence, limit=3)
        assert found.turns, list(map(str, moves))
        assert len(found.turns[0].moves) <= len(moves)
        for turn in found.turns:
            assert not search.IceGoal(before, evidence).misses(legal_way(before, turn.moves))


def ends_of(before: Any) -> dict[str, int]:
    """Return every position that a turn can end with, and the fewest steps to it, by trying everything."""
    ends: dict[str, int] = {}
    level, known, steps = [before], {before}, 0
    while level:
        steps += 1
        following = []
        for state in level:
            for move in state.legal_moves:
                new = state.after(move)
                if new.phase == "over" or new.seat != before.seat:
                    ends.setdefault(json.dumps(new.position(), sort_keys=True), steps)
                elif new not in known:
                    known.add(new)
                    following.append(new)
        level = following
    return ends


@pytest.mark.parametrize(
    "bears",
    [
        *(pytest.param(bears, marks=pytest.mark.long) for bears in (("p4 p6", "p7"), ("p9", "p1 q4"))),
        ("p6 village", "p4"),
    ],
)
def test_the_search_agrees_with_trying_everything(islands: Make, bears: tuple[str, str]) -> None:
    green, red = bears
    before = islands(SMALL, green=green, red=red, players=PLAYERS)
    ends = ends_of(before)
    rng = Random(1)
    for text in rng.sample(sorted(ends), min(40, len(ends))):
        found = turns(before, Evidence.of_position(json.loads(text)))
        assert found.turns and found.complete
        assert len(found.turns[0].moves) == ends[text], "the shortest"
    impossible = 0
    for text in rng.choices(sorted(ends), k=40):
        position = json.loads(text)
        one, two = rng.sample(sorted(SMALL), 2)
        position["places"][one]["things"], position["places"][two]["things"] = (
            position["places"][two]["things"],
            position["places"][one]["things"],
        )
        found = turns(before, Evidence.of_position(position))
        assert found.complete
        assert bool(found.turns) == (json.dumps(position, sort_keys=True) in ends)
        impossible += not found.turns
    assert impossible > 10


PLAYERS = [{"name": "Ann", "colour": "green", "fresh": 1}, {"name": "Bob", "colour": "red", "fresh": 3}]


@pytest.mark.sized
def test_bounds_never_give_up_a_state_on_a_way_that_was_played() -> None:
    for before, moves, after in whole_turns("ice-team", Random(5), size(25, 60)):
        goal = search.IceGoal(before, Evidence.of_position(after.position()))
        state = before
        for move in moves[:-1]:
            state = state.after(move)
            assert goal.left(state) < 100, (list(map(str, moves)), str(move))


def test_a_floe_that_nobody_read_may_show_anything(ice: Make) -> None:
    before = ice("?Io ooI ooo oIo\nooo o.o I.I oo.\noIo Ioo ooo oIo", actions=1)
    after = json.loads(json.dumps(before.position()))
    after["places"]["a1"] = {"ground": "penguin1", "things": [{"kind": "bear", "colour": "green", "count": 1}]}
    after["places"]["start"] = None
    del after["phase"], after["removed"]
    found = turns(before, Evidence.of_position(after))
    assert [[str(m) for m in turn.moves] for turn in found.turns] == [["walk start a1", "floe a1 penguin1"]]
    after["places"]["a1"]["ground"] = "floe"
    faces = {str(turn.moves[1]) for turn in turns(before, Evidence.of_position(after)).turns}
    assert "floe a1 plain" in faces and "floe a1 paw" not in faces, "paws would have taken it on"


def test_the_likeliest_comes_first(ice: Make) -> None:
    before = ice(actions=1, green="a1")
    told = before.position()["places"]
    bear = (("bear", "green", 1),)
    here, gone = ("plain", bear), ("plain", ())
    places: dict[str, Any] = {name: {content(place): 0.0} for name, place in told.items()}
    places["a1"] = {gone: 0.0}
    places["a4"] = {here: log(0.3), gone: log(0.7)}
    places["a7"] = {here: log(0.6), gone: log(0.4)}
    del places["start"]
    found = turns(before, Evidence(places))
    assert [str(turn.moves[0]) for turn in found.turns] == ["walk a1 start", "walk a1 a4"]
    assert [turn.log_likelihood for turn in found.turns] == pytest.approx([log(0.7 * 0.4), log(0.3 * 0.4)])


def test_a_search_that_gives_up_says_so(ice: Make) -> None:
    before = ice(green="a1 b1")
    after = before.play(IceMove("walk", "a1", "a4")).play(IceMove("walk", "b1", "b4"))
    found = turns(before, Evidence.of_position(after.position()), most=1)
    assert not found.turns and not found.complete and found.looked == 2


def test_a_position_may_leave_open_whose_turn_it_is(ice: Make) -> None:
    position = ice(green="a1").position()
    assert [state.seat for state in search.cases(position)] == [0]
    bare = {"places": position["places"]}
    assert [state.seat for state in search.cases(bare)] == [0, 1]
