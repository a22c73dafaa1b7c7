"""The bounds are those of the rules, however they are kept: what was kept is what would be worked out anew."""

from __future__ import annotations

from random import Random
from typing import Any

from companion.lab.bench.turn_times import forget, whole_turns
from companion.rules.iglu_iglu.board import numbers
from companion.rules.iglu_iglu.inference import bounds
from companion.rules.inference.turns import Evidence


def test_the_nearest_of_a_set_is_as_far_as_the_table_says() -> None:
    rng = Random(3)
    for _ in range(200):
        come, stand = rng.getrandbits(64) & rng.getrandbits(64) & rng.getrandbits(64), rng.getrandbits(64)
        for many in (stand, stand & rng.getrandbits(64) & rng.getrandbits(64), 1 << rng.randrange(64), 0):
            far = [min((bounds.DISTANCE[q][o] for o in numbers(many)), default=bounds.MANY) for q in numbers(come)]
            assert bounds._walk(come, many) == sum(far)
            q, steps = rng.randrange(64), rng.randrange(20)
            near = any(bounds.DISTANCE[q][o] <= steps for o in numbers(many))
            assert bounds._near_bear(q, many, steps) == near


def test_what_is_kept_is_what_is_worked_out_anew() -> None:
    """Kept bounds give up a state exactly where fresh ones do, and none on the way of the turn itself."""
    rng = Random(8)
    told = set()
    for before, moves, after in whole_turns("iglu-iglu", rng, 20, 0.5):
        whole = Evidence.of_position(after.position(), "iglu-iglu")
        for evidence in (whole, forget(whole, rng)):
            kept = bounds.SeenConstraints(evidence, before.table.colours)
            state: Any = before
            for move in moves:
                assert not bounds.hopeless(state, kept), "this turn leads there"
                for other in list(state.moves())[:12]:
                    tried = state.after(other)
                    if tried.turn != before.turn:
                        continue
                    anew = bounds.SeenConstraints(evidence, before.table.colours)
                    told.add(bounds.hopeless(tried, anew))
                    assert bounds.hopeless(tried, kept) == bounds.hopeless(tried, anew)
                state = state.after(move)
    assert told == {True, False}
