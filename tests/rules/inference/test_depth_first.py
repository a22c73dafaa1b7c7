"""The walk through a turn that Arctic, Igloo Pop and Ice Team share: the shortest, all of them, and honest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import log
from typing import Any

import pytest

from companion.lab.bench.turn_times import measure_turns
from companion.rules import game
from companion.rules.core import SetupError
from companion.rules.inference import depth_first
from companion.rules.inference.belief import Belief
from companion.rules.inference.turns import Evidence, content, turns


@dataclass(frozen=True)
class Stack:
    """A toy: letters are put down one after the other, ``xx`` costs two steps and ``X`` makes it in one."""

    letters: str

    def after(self, move: str) -> Stack:
        return Stack("".join(sorted(self.letters + {"X": "xx"}.get(move, move))))

    def position(self) -> dict[str, Any]:
        return {"places": {"stack": {"ground": self.letters, "things": []}}}


class Reach(depth_first.Goal):
    """Reach a stack of letters; each of them may be put down, in any order."""

    moves = "abx"

    def __init__(self, before: Any, evidence: Evidence) -> None:
        super().__init__(before, evidence)
        self.tried = 0

    @staticmethod
    def fields(position: Mapping[str, Any]) -> dict[str, Any]:
        return {"length": len(position["places"]["stack"]["ground"])}

    def candidates(self, s: Any) -> Iterator[str]:
        self.tried += 1
        return iter(self.moves)

    def left(self, s: Any) -> int:
        return depth_first.HOPELESS if len(s.letters) > 4 else 1

    def ends(self, s: Any) -> bool:
        return len(s.letters) in (0, 3, 4)

    def closed(self, s: Any) -> bool:
        return len(s.letters) >= 4

    def near_misses(self, s: Any, missed: Sequence[str]) -> Iterator[Any]:
        return iter(())


def seen(*grounds: str, **fields: Any) -> Evidence:
    return Evidence({"stack": {(ground, ()): log(1 / len(grounds)) for ground in grounds}}, fields)


def find(before: Any, goal: Any, limit: int, most: int) -> Any:
    return depth_first.find(before, goal, limit, most)


def test_steps_in_another_order_are_one_turn() -> None:
    found = find(Stack(""), Reach(Stack(""), seen("abb")), 20, 1000)
    assert len(found.turns) == 1 and sorted(found.turns[0].moves) == ["a", "b", "b"] and found.complete


def test_the_shortest_is_found_though_a_longer_way_comes_first() -> None:
    class Jump(Reach):
        moves = "xaX"

    found = find(Stack(""), Jump(Stack(""), seen("axx")), 20, 1000)
    assert [sorted(turn.moves) for turn in found.turns] == [["X", "a"]]
    assert all(len(turn.moves) == 2 for turn in found.turns)


def test_all_ends_that_may_have_been_seen_the_likeliest_first() -> None:
    evidence = Evidence({"stack": {("aab", ()): log(0.2), ("abb", ()): log(0.8)}})
    found = find(Stack(""), Reach(Stack(""), evidence), 20, 1000)
    assert [turn.log_likelihood for turn in found.turns] == pytest.approx([log(0.8), log(0.2)])
    assert len(find(Stack(""), Reach(Stack(""), evidence), 1, 1000).turns) == 1


def test_fields_must_be_as_told_and_nothing_need_happen() -> None:
    assert not find(Stack(""), Reach(Stack(""), seen("abb", length=4)), 20, 1000).turns
    assert find(Stack(""), Reach(Stack(""), seen("abb", length=3)), 20, 1000).turns
    found = find(Stack("abx"), Reach(Stack("abx"), seen("abx")), 20, 1000)
    assert [turn.moves for turn in found.turns] == [()] and found.looked == 0
    hopeless = find(Stack("aaaaa"), Reach(Stack("aaaaa"), seen("abx")), 20, 1000)
    assert hopeless.complete and not hopeless.turns and hopeless.looked == 0


def test_a_walk_that_gives_up_says_so() -> None:
    found = find(Stack(""), Reach(Stack(""), seen("bbbb")), 20, 3)
    assert not found.complete and not found.turns and found.looked == 4
    goal = Reach(Stack(""), seen("abab"))
    nothing = find(Stack(""), goal, 20, 1000)
    assert nothing.complete and not nothing.turns, "the letters are always sorted"
    assert nothing.looked == goal.tried


def test_a_difference_of_a_field_is_told() -> None:
    difference = depth_first.FieldDifference("red.own", 3, 2)
    assert difference.to_json() == {"field": "red.own", "seen": 3, "turn": 2}


START: dict[str, dict[str, Any]] = {
    "arctic": {
        "places": {"land15": {"ground": "landscape", "things": []}},
        "players": [{"name": "Ann", "hand": 3}, {"name": "Bob", "hand": 3}],
        "to_move": 1,
    },
    "ice-team": {"places": {"a4": {"ground": "plain", "things": []}}, "turn": "green"},
    "igloo-pop": {
        "places": {f"card{n}": {"ground": f"{n + 1}", "things": []} for n in range(1, 10)},
        "players": [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}],
    },
}


@pytest.mark.parametrize("name", ["arctic", "ice-team", "igloo-pop", "iglu-iglu"])
def test_times_are_measured_over_turns_that_were_played(name: str) -> None:
    rows = measure_turns(name, 4, 1)
    assert [row.asked for row in rows] == ["seen", "forgotten", "spoilt", "step"]
    assert {row.count for row in rows} == {4} and rows[0].found == 4
    assert [row.right for row in rows] == [4] * 4, "found, or refused with a clause"
    for row in rows:
        assert 0 < row.median <= row.p95 <= row.slowest
        assert set(row.to_json()) == {
            *("game", "asked", "count", "median", "p95", "slowest", "found", "right", "given_up"),
        }


@pytest.mark.parametrize("name", ["arctic", "ice-team", "igloo-pop"])
def test_a_belief_of_a_camera_is_taken_for_its_likely_contents(name: str) -> None:
    rules: Any = game(name)
    position = START[name]
    before = rules.from_position(position)
    told = Evidence.of_position(position, name)
    place = next(iter(told.places))
    ground, things = next(iter(told.places[place]))
    belief = Belief({ground: log(0.9), "lava": log(0.1)}, {(kind, what): {n: 0.0} for kind, what, n in things})
    evidence = Evidence({place: belief})
    assert turns(before, evidence, limit=1).turns
    assert content(position["places"][place]) in belief


@pytest.mark.parametrize("name", [*START])
@pytest.mark.parametrize("players", [[{}] * 40, [1], [{"cards": [[], {}], "hand": "a"}], 7])
def test_evidence_of_a_broken_form_is_refused_or_none(name: str, players: Any) -> None:
    """More players than seats, players that are none: a sentence, never another error."""
    with suppress(SetupError):
        Evidence.of_position({**START[name], "players": players}, name)
    with pytest.raises(SetupError, match="players as objects"):
        Evidence.of_position({**START[name], "players": [1]}, name)
