"""Turns found by what a camera believes, where a game's own walk knows lists only: against every turn there is."""

from __future__ import annotations

from itertools import product
from math import log
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.lab.bench.turn_times import whole_turns
from companion.rules import game
from companion.rules.inference.belief import Belief
from companion.rules.inference.turns import SURELY, Evidence, content, turns
from companion.rules.thin_ice.json_form import COLOURS, SQUARES
from tests.worlds.sizes import size
from vision.board.labels import from_json
from vision.board.layout import Layout, open_layout
from vision.track.candidate import ENTERED, HALF, QUESTION, UNCHANGED
from vision.track.evidence import logs
from vision.track.tracker import Tracker, misfits

MANY = 40_000


def doubt(rng: Random, place: dict[str, Any]) -> Belief:
    """Return what somebody may believe of a floe of Thin Ice who sees it more or less well."""
    sure = rng.choice((0.999, 0.9, 0.6, 0.4))
    ground, things = content(place)
    there = {what: count for _, what, count in things}
    grounds = {one: sure if one == ground else 1 - sure for one in ("floe", "water")}
    counts = {
        ("penguin", colour): logs({n: sure if n == there.get(colour, 0) else 1 - sure for n in (0, 1)})
        for colour in COLOURS
    }
    return Belief(logs(grounds), counts, log(1e-5))


@pytest.mark.sized
@settings(max_examples=size(25, 100))
@given(seed=st.integers(0, 10**6))
def test_every_turn_that_is_nearly_as_likely_is_found(seed: int) -> None:
    rng = Random(seed)
    state: Any = game("thin-ice").start([{"name": "Ann"}, {"name": "Bob"}])
    for _ in range(2 * rng.randint(0, 3)):
        if state.outcome() is None:
            state = state.after(state.chance(rng) if state.last else rng.choice(list(state.moves())))
    if state.last or state.outcome() is not None:
        return
    puts = [move for move in state.moves() if move.kind == "put"]
    ends = [
        state.after(put).after(roll)
        for put, roll in product(puts, [move for move, _ in state.after(puts[0]).chances()])
    ]
    truth = rng.choice(ends).position()
    evidence = Evidence({name: doubt(rng, truth["places"][name]) for name in SQUARES})
    found = turns(state, evidence)
    while found.longer is not None:
        found = found.longer(MANY)
    assert found.turns and found.complete
    all_there_are = sorted((evidence.log_likelihood(end.position()) for end in ends), reverse=True)
    assert found.turns[0].total == pytest.approx(all_there_are[0])
    near = [total for total in all_there_are if total > all_there_are[0] - SURELY + 1e-9]
    assert [turn.total for turn in found.turns[: len(near)]] == pytest.approx(near)
    assert found.reached > SURELY - 1e-9


def seen(position: dict[str, Any], layout: Layout) -> Evidence:
    """Return what a camera with good eyes believes of a board: each part is as it is with 99.9 %."""
    places = {}
    for name, there in contents_of_position(position, layout).items():
        grounds = {one: 0.999 if n == there.ground else 0.001 for n, one in enumerate(layout.grounds)}
        things = {
            (thing.kind, thing.colour): logs({n: 0.999 if n == there.count(number) else 0.001 for n in range(most + 1)})
            for number, (thing, most) in enumerate(zip(layout.things, layout.most, strict=True))
        }
        places[name] = Belief(logs(grounds), things, log(1e-5))
    return Evidence(places)


def contents_of_position(position: dict[str, Any], layout: Layout) -> dict[str, Any]:
    return from_json({name: place for name, place in position["places"].items() if name in layout.index}, layout)


def test_a_search_that_is_given_up_says_how_far_it_came() -> None:
    before: Any = game("thin-ice").start([{"name": "Ann"}, {"name": "Bob"}])
    after = before.after(next(iter(before.moves())))
    after = after.after(after.chances()[0][0])
    found = turns(before, seen(after.position(), open_layout("thin-ice")))
    assert found.longer is not None and found.turns
    less, whole = found.longer(1), found.longer(MANY)
    assert not less.complete and less.reached < SURELY <= whole.reached + 1e-9


@pytest.mark.sized
def test_turns_of_ice_team_are_entered_by_good_eyes() -> None:
    layout = open_layout("ice-team")
    told = set()
    for before, _, after in whole_turns("ice-team", Random(7), size(12, 60)):
        evidence = seen(after.position(), layout)
        answer = Tracker([before]).observe(evidence)
        told.add(answer.state)
        if answer.state == ENTERED:
            best = answer.candidates[0].state
            assert best is not None and not misfits(evidence, best)
    # Two actions may end where one would have; what comes of fish may hang on the order of two.
    assert told <= {ENTERED, UNCHANGED, HALF, QUESTION} and ENTERED in told
