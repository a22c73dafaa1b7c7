"""The search by graded evidence: it finds the best of all turns and never gives up the one that was played."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import log
from random import Random
from typing import Any

import pytest

from companion.lab.bench.vision.tracker_trials import look, played_games
from companion.rules import game
from companion.rules.iglu_iglu import moves as m
from companion.rules.iglu_iglu.inference import best_first, priors, search
from companion.rules.iglu_iglu.inference.likelihood import IgluLikelihood
from companion.rules.iglu_iglu.json_form import hidden_from
from companion.rules.iglu_iglu.position import ACT, OVER, START
from companion.rules.inference.belief import Belief
from companion.rules.inference.turns import Evidence, content, turns
from tests.worlds.sizes import size

# Not measured for coverage: that takes three times as long, and the other tests reach nearly every branch.
pytestmark = pytest.mark.no_cover

Make = Callable[..., Any]
IGLU = game("iglu-iglu")
SMALL = """
+......+
........
..###...
..#.....
..##....
........
........
+......+
"""
TINY = """
+......+
........
..##....
..##....
........
........
........
+......+
"""


def played(seed: int, count: int) -> list[tuple[Any, list[Any], Any]]:
    """Return turns of random games: before (hands hidden), the moves as others see them, after."""
    rng = Random(seed)
    found: list[tuple[Any, list[Any], Any]] = []
    for course in played_games(rng):
        for (before, _), (after, moves) in pairwise(course):
            if rng.random() < 0.2:
                found.append((hidden_from(before, None), [m.public(move) for move in moves], after))
        if len(found) >= count:
            return found[:count]
    raise AssertionError


def cost(before: Any, moves: list[Any], likelihood: IgluLikelihood) -> float:
    """Return what a turn costs: its steps, the points it leaves, what its board loses."""
    state, total = before, 0.0
    for move in moves:
        if move == m.THE_END:
            total += best_first.LOST * min(state.points, 3)
        total += priors.price(state, move)
        state = state.after(move)
    return total + likelihood.end(state)


@pytest.mark.parametrize("kind", ["clear", "calibrated", "confused", "covered"])
def test_bounds_never_give_up_a_turn_that_was_played(kind: str) -> None:
    rng = Random(kind)
    for before, moves, after in played(21, 40):
        evidence = look(after.position(), kind, rng)
        likelihood = IgluLikelihood(evidence, before)
        scale = priors.Scale(likelihood)
        scale.early = True
        whole = cost(before, moves, likelihood)
        state, spent = before, 0.0
        for move in moves:
            assert spent + scale.least(state, -1.0) <= whole + 1e-6, (str(move), list(map(str, moves)))
            spent += priors.price(state, move)
            state = state.after(move)


def test_losses_are_what_the_evidence_says() -> None:
    rng = Random(3)
    for before, _, after in played(22, 15):
        evidence = look(after.position(), "calibrated", rng)
        likelihood = IgluLikelihood(evidence, before)
        for state in (before, after):
            assert likelihood.most - likelihood.end(state) == pytest.approx(evidence.log_likelihood(state.position()))


def all_ends(before: Any, likelihood: IgluLikelihood) -> dict[Any, float]:
    """Return what each end of a turn costs at least, by trying everything but tiles before melting."""
    level = {before: 0.0}
    ends: dict[Any, float] = {}
    while level:
        following: dict[Any, float] = {}
        for state, spent in level.items():
            if state.phase in (ACT, OVER):
                lost = best_first.LOST * min(state.points, 3) if state.phase == ACT else 0.0
                after = state.after(m.THE_END) if state.phase == ACT else state
                ends[after] = min(spent + lost + likelihood.end(state), ends.get(after, float("inf")))
            for move in state.legal_moves:
                if state.phase == START and not isinstance(move, m.Melt):
                    continue
                # A red tile cannot be told on the board: it is kept unseen.
                if isinstance(move, m.Reveal) and m.public(move) != move:
                    continue
                new = state.after(move)
                if new.turn == before.turn:
                    paid = spent + priors.price(state, move)
                    following[new] = min(paid, following.get(new, paid))
        level = following
    return ends


def board_of(s: Any) -> tuple[Any, ...]:
    """Return what can be seen of a state: the board, and what was won."""
    return s.floes, s.packs, s.bears, s.inuit, s.igloos, s.fish, s.fox, s.trophies


def random_turn(before: Any, rng: Random) -> Any:
    """Return the state after a random turn."""
    state = before
    while state.turn == before.turn and state.phase != OVER:
        legal = list(state.legal_moves)
        state = state.after(rng.choice([x for x in legal if str(x) != "end" or rng.random() < 0.3] or legal))
    return state


def vague(position: Any, rng: Random) -> Evidence:
    """Return a random belief for each place: what lies there is likely, but so is much else, in any number."""
    kinds = [("fish", n) for n in (1, 2, 3)] + [("fox", n) for n in (1, 2, 3)] + [("bear", 4), ("inuit", "red")]
    places = {}
    for name, place in position["places"].items():
        ground, things = content(place)
        counts = {(kind, what): n for kind, what, n in things}
        thing: Any
        found: dict[Any, dict[int, float]] = {}
        for thing in (*counts, *rng.sample(kinds, 2)):
            found[thing] = {n: -rng.random() * rng.choice((1, 3, 8)) for n in range(3)}
            if rng.random() < 0.7:
                found[thing][counts.get(thing, 0)] = 0.0
        grounds = {g: 0.0 if g == ground else -rng.random() * 6 for g in ("water", "floe", "pack")}
        places[name] = Belief(grounds if ground in grounds else {ground: 0.0}, found, -8.0)
    return Evidence(places)


@pytest.mark.sized
@pytest.mark.parametrize(
    ("things", "hands"),
    [
        ({"c6": "r", "d6": "b", "c4": "f1"}, {"red": "?"}),
        ({"c6": "r", "d6": "b R", "d5": "1", "e5": "2"}, {"red": "endurance 1"}),
        ({"c6": "r", "d5": "X", "e6": "b"}, {"red": "harpoon"}),
    ],
)
def test_the_best_is_the_best_of_all(board: Make, things: dict[str, str], hands: dict[str, str]) -> None:
    tiles = {"pack": 2, "fish 2": 1, "bear": 1, "drift": 1, "endurance 1": 2, "thaw": 1, "animals": 0}
    before = board(SMALL, things, hands=hands, to_move="red", piles={"tiles": tiles})
    rng = Random(5)
    for number in range(size(3, 8)):
        position = random_turn(before, rng).position()
        evidence = look(position, ("calibrated", "confused", "covered")[number % 3], rng)
        likelihood = IgluLikelihood(evidence, before)
        found = turns(before, evidence, most=200_000)
        assert found.complete
        best = min(all_ends(before, likelihood).values())
        assert likelihood.most - found.turns[0].total <= best + 1e-6
        assert found.turns[0].log_likelihood == pytest.approx(evidence.log_likelihood(found.turns[0].state.position()))


@pytest.mark.sized
@pytest.mark.parametrize(
    ("things", "hands", "count"),
    [
        ({"c5": "r b", "d5": "f1", "b6": "2"}, {"red": "?"}, 6),
        pytest.param({"c5": "r", "d6": "X"}, {"red": "animals"}, 1, marks=pytest.mark.long),
        ({"c5": "r b", "b6": "3 1", "d5": "f2"}, {"red": "harpoon, thaw"}, 2),
    ],
)
def test_no_turn_that_is_nearly_as_good_is_left_out(
    board: Make, things: dict[str, str], hands: dict[str, str], count: int
) -> None:
    tiles = {"pack": 1, "fish 2": 1, "fish 3": 1, "bear": 1, "drift": 1, "endurance 1": 1, "thaw": 1}
    before = board(TINY, things, hands=hands, to_move="red", piles={"tiles": tiles})
    rng = Random(6)
    for number in range(size(count // 2, 6 * count)):
        position = random_turn(before, rng).position()
        evidence = look(position, "confused", rng) if number % 2 else vague(position, rng)
        likelihood = IgluLikelihood(evidence, before)
        found = turns(before, evidence, limit=1000, most=200_000)
        told = {board_of(turn.state): likelihood.most - turn.total for turn in reversed(found.turns)}
        ends = all_ends(before, likelihood)
        best = min(ends.values())
        assert found.complete and found.reached == pytest.approx(best_first.MARGIN)
        assert min(told.values()) <= best + 1e-6
        for end, paid in ends.items():
            if paid < best + best_first.MARGIN - 1e-6:
                assert told[board_of(end)] <= paid + 1e-6


@pytest.mark.sized
def test_the_turn_that_was_played_comes_first_under_clear_sight() -> None:
    rng = Random(9)
    right = among = 0
    taken = [turn for turn in played(23, 40) if len(turn[1]) <= 7][: size(12, 25)]
    for before, moves, after in taken:
        evidence = look(after.position(), "clear", rng)
        found = turns(before, evidence)
        for turn in found.turns:
            state = before
            for move in turn.moves:
                state = state.play(move)
            assert state == turn.state
        totals = [turn.total for turn in found.turns]
        assert totals == sorted(totals, reverse=True)
        boards = [turn.state.position()["places"] for turn in found.turns]
        right += boards[0] == after.position()["places"]
        among += after.position()["places"] in boards
        assert boards[0] == after.position()["places"] or found.turns[0].total >= -cost_of(before, moves, evidence)
    assert among >= len(taken) - 1 and right >= len(taken) - 2


def cost_of(before: Any, moves: list[Any], evidence: Evidence) -> float:
    likelihood = IgluLikelihood(evidence, before)
    return cost(before, moves, likelihood) - likelihood.most


@pytest.mark.sized
def test_the_nearest_turn_misses_no_more_than_the_one_that_was_played_and_spoilt() -> None:
    rng = Random(31)
    near = 0
    for before, _, after in played(24, size(2, 8)):
        places = after.position()["places"]
        name = rng.choice([name for name, place in places.items() if place["things"]])
        places[name]["things"].pop()
        evidence = Evidence.of_position({"places": places})
        nearest = search.nearest(before, evidence)
        assert nearest is not None
        near += len(evidence.misses(nearest.state.position())) <= 1
    assert near >= size(1, 7)


def test_a_search_that_gives_up_tells_a_turn_and_that_there_may_be_better_ones(board: Make) -> None:
    before = board(
        "+######+\n########\n########\n###..###\n###..###\n########\n########\n+######+", {"b1": "r"}, to_move="red"
    )
    evidence = look(before.position(), "clear", Random(1))
    found = turns(before, evidence, most=8)
    assert found.turns and not found.complete and found.reached < 0
    assert str(found.turns[0].moves[-1]) == "end"


def test_a_belief_leaves_nothing_out() -> None:
    belief = Belief({"floe": log(0.9), "water": log(0.1)}, {("inuit", "red"): {0: log(0.2), 1: log(0.8)}}, log(1e-4))
    there: Any = ("floe", (("inuit", "red", 1),))
    assert belief.best() == there and belief.get(there) == pytest.approx(log(0.9) + log(0.8)) == belief.most()
    assert there in belief and ("pack", (("inuit", "red", 1),)) not in belief and "floe" not in belief
    assert ("floe", ()) in belief and ("floe", (("bear", 4, 1), ("inuit", "red", 1))) not in belief
    assert belief.get(("pack", (("bear", 4, 1),))) == pytest.approx(2 * log(1e-4) + log(0.2))
    assert next(found for found, _ in belief.likely(10)) == there
    assert list(belief) == [there, ("floe", ()), ("water", (("inuit", "red", 1),)), ("water", ())]
    assert content({"ground": "floe", "things": [{"kind": "inuit", "colour": "red"}]}) == there


@pytest.mark.sized
def test_a_search_that_goes_on_finds_what_a_longer_one_finds() -> None:
    rng = Random(12)
    gone_on = 0
    for before, _, after in played(25, size(2, 20)):
        evidence = look(after.position(), "confused", rng)
        short = turns(before, evidence, most=100)
        if short.longer is None:
            continue
        gone_on += 1
        whole = turns(before, evidence, most=2_000)
        longer = short.longer(2_000)
        assert (longer.turns, longer.looked, longer.complete) == (whole.turns, whole.looked, whole.complete)
        assert longer.reached == whole.reached
    assert gone_on


@pytest.mark.sized
def test_what_comes_to_less_than_is_of_use_is_not_looked_for() -> None:
    rng = Random(13)
    for before, _, after in played(26, size(2, 20)):
        evidence = look(after.position(), "calibrated", rng)
        found = turns(before, evidence, limit=1000)
        if not found.complete:
            continue
        best = found.turns[0].total
        within = turns(before, evidence, limit=1000, above=best - 2)
        assert [turn.total for turn in within.turns] == [turn.total for turn in found.turns if turn.total > best - 2]
        assert within.looked <= found.looked
        assert not turns(before, evidence, above=best + 0.1).turns
