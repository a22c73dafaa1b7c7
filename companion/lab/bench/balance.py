"""How good the referee's balance is: `companion bench balance`, in the two worlds of the lab's physics.

All figures are simulated. Each balance is calibrated with three coins and two known igloos (or six); then the twelve
counts are weighed, tared each time.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from companion.igloo.balance.calibration import LabelledLoad, answers, faults, made_of
from companion.igloo.balance.loads import loads
from companion.lab.physics.balance import (
    RATE_HZ,
    BalanceSitting,
    LabelledWeighings,
    box,
    built,
    calibration_plan,
    evening_plan,
    weigh_all,
)
from companion.lab.rows import Row, row
from companion.ports import COUNTS, BadDataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SURE = 0.99
TWO, SIX = (4, 11), (2, 5, 8, 10, 12, 13)
TOGETHER = 8
"""So many balances are reckoned side by side."""


def weighed(labelled: LabelledWeighings) -> list[LabelledLoad]:
    """Return labelled weighings as they are read from a recording."""
    found = loads(list(labelled.accel), RATE_HZ, labelled.what)
    return [LabelledLoad(*one) for one in zip(labelled.what, labelled.value, found, strict=True)]


class BalanceTrial(NamedTuple):
    """One balance: the labelled weighings of its calibration and of its evening, and the beads of the latter."""

    labelled: list[LabelledLoad]
    played: list[LabelledLoad]
    truth: tuple[int | None, ...]


def trials(
    seeds: Sequence[int], bead_g: float, *, well: bool = True, known: tuple[int, ...] = (4, 11)
) -> Iterator[BalanceTrial]:
    """Yield a balance for each seed, in two worlds in turn: calibrated, and the twelve counts weighed on it."""
    for begin in range(0, len(seeds), TOGETHER):
        some = seeds[begin : begin + TOGETHER]
        chances = [np.random.default_rng([seed, int(1000 * bead_g)]) for seed in some]
        built_ones = [built(rng, "AB"[seed % 2], well=well) for seed, rng in zip(some, chances, strict=True)]
        plans = []
        for rng in chances:
            of = box(rng, bead_g)
            counts = [int(n) for n in rng.permutation(np.array(COUNTS))]
            plans.append((calibration_plan(of, rng, known), evening_plan(of, rng, counts)))
        felt = [
            weigh_all(
                [
                    BalanceSitting(one, plan[part].on_it, rng)
                    for one, plan, rng in zip(built_ones, plans, chances, strict=True)
                ]
            )
            for part in (0, 1)
        ]
        for (calibration, evening), first, second in zip(plans, *felt, strict=True):
            yield BalanceTrial(weighed(calibration.weighed(first)), weighed(evening.weighed(second)), evening.truth)


def outcome(trial: BalanceTrial, *, together: bool = False) -> tuple[Counter[str], list[str]]:
    """Return what became of the twelve counts on one balance, and what its own check finds wrong with it."""
    told = Counter[str]()
    try:
        scale = made_of(trial.labelled)
    except BadDataError as error:
        return told, [str(error)]
    begun = time.process_time()
    found = answers(scale, trial.played, together=together)
    told["microseconds"] = int(1e6 * (time.process_time() - begun))
    for at, answer in found:
        posterior = answer.posterior
        told["weighed"] += 1
        told[posterior.state] += 1
        right = posterior.count == trial.truth[at]
        told["right"] += right
        told["wrong and counted"] += posterior.state == "counted" and not right
        told["sure"] += max(posterior.p, default=0.0) >= SURE
        told["sure and wrong"] += max(posterior.p, default=0.0) >= SURE and not right
    return told, faults(trial.labelled, scale)


def rows(balances: int, seed: int) -> Iterator[Row]:
    """Yield the table for so many balances of each kind."""
    seeds = range(seed, seed + balances)
    for bead_mm, bead_g, known in ((8, 0.67, TWO), (5, 0.164, TWO), (5, 0.164, SIX)):
        made = list(trials(seeds, bead_g, known=known))
        for together in (False, True):
            told = [outcome(one, together=together) for one in made]
            total = sum((one for one, wrong in told if not wrong), Counter[str]())
            passed = f"{sum(not wrong for _, wrong in told)} of {balances} well-built ones pass their check"
            what = f"beads of {bead_mm} mm, {len(known)} known igloos{', the twelve together' if together else ''}"
            yield _share(f"{what}: right", total, "right", passed)
            yield _share(f"{what}: counted", total, "counted", f"{total['wrong and counted']} of them wrong")
            yield _share(f"{what}: sure (p ≥ {SURE})", total, "sure", f"{total['sure and wrong']} of them wrong")
    bad = [outcome(one) for one in trials(seeds, 0.67, well=False)]
    passing = [told for told, wrong in bad if not wrong]
    misled = sum(told["sure and wrong"] for told in passing)
    share = f"{100 * len(passing) / balances:.0f}"
    yield row("badly built balances that pass", share, "%", "≤ 5", f"{misled} sure and wrong")
    each = total["microseconds"] / max(1, total["weighed"]) / 1000
    yield row("reckoning a count", f"{each:.0f}", "ms", "", "one core; its share of the fit not counted")


def _share(what: str, total: Counter[str], key: str, note: str) -> Row:
    return row(what, f"{100 * total[key] / max(1, total['weighed']):.1f}", "%", "", f"{note}; of {total['weighed']}")
