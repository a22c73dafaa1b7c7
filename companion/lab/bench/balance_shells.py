"""How well light beads are told where shells were weighed once each, beside the twelve together: a part of
`companion bench balance`.

Each balance is calibrated with three coins and two known igloos, and the twelve shells are weighed once each. Then each
count is put into some shell and weighed once, tared each time.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from companion.igloo.balance.calibration import LabelledLoad, answers, faults, labelled, made_of
from companion.igloo.balance.loads import loads
from companion.lab.bench.balance import SURE, TOGETHER
from companion.lab.physics.balance import (
    COINS_G,
    RATE_HZ,
    BalanceSitting,
    IglooBox,
    Weighing,
    WeighingPlan,
    box,
    built,
    filled,
    tared,
    weigh_all,
)
from companion.lab.rows import Row, row
from companion.ports import COUNTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

KNOWN = (4, 11)
KINDS = ("each by itself", "the twelve together", "each by itself, shells weighed", "together, shells weighed")


def shell_trials(seeds: Sequence[int], bead_g: float) -> Iterator[dict[str, Counter[str]]]:
    """Yield for each balance what became of its twelve counts, in each of :data:`KINDS`."""
    for begin in range(0, len(seeds), TOGETHER):
        some = seeds[begin : begin + TOGETHER]
        chances = [np.random.default_rng([seed, int(1000 * bead_g), 1]) for seed in some]
        balances = [built(rng, "AB"[seed % 2]) for seed, rng in zip(some, chances, strict=True)]
        plans = [_plans(box(rng, bead_g), rng) for rng in chances]
        felt = [
            weigh_all(
                [
                    BalanceSitting(one, plan[part].on_it, rng)
                    for one, plan, rng in zip(balances, plans, chances, strict=True)
                ]
            )
            for part in range(3)
        ]
        for number, plan in enumerate(plans):
            calibration, shells, played = (
                [
                    labelled(*one)
                    for one in zip(what.what, what.value, loads(list(accel[number]), RATE_HZ, what.what), strict=True)
                ]
                for what, accel in zip(plan, felt, strict=True)
            )
            yield _told(calibration, shells, played, plan[2].truth)


def _plans(of: IglooBox, rng: np.random.Generator) -> tuple[WeighingPlan, WeighingPlan, WeighingPlan]:
    """Return the calibration, the shells, and the evening; what is unknown has the number of its shell as its value."""

    def off() -> float:
        return float(rng.normal(0, 0.006))

    coins = [
        ("grams", coin, Weighing(coin, float(rng.normal(0, 0.004)), 0.002))
        for coin in (COINS_G[0], COINS_G[3], COINS_G[4])
        for _ in range(2)
    ]
    known = [("beads", float(n), filled(rng, of, n - COUNTS[0], n)) for n in KNOWN]
    twice = [(what, n, igloo._replace(off_m=off())) for what, n, igloo in known for _ in range(2)]
    shells = [("shell", float(n), Weighing(of.shells_g[n - COUNTS[0]], off(), 0.025)) for n in COUNTS]
    counts, stickers = rng.permutation(np.array(COUNTS)), rng.permutation(np.array(COUNTS))
    igloos = [
        ("unknown", float(shell), filled(rng, of, int(shell) - COUNTS[0], int(n), off()))
        for shell, n in zip(stickers, counts, strict=True)
    ]
    evening = tared(igloos)
    truth = iter(int(n) for n in counts)
    told = tuple(next(truth) if what == "unknown" else None for what in evening.what)
    return tared([*coins, *twice]), tared(shells), evening._replace(truth=told)


def _told(
    calibration: list[LabelledLoad],
    shells: list[LabelledLoad],
    played: list[LabelledLoad],
    truth: Sequence[int | None],
) -> dict[str, Counter[str]]:
    unnamed = [one._replace(load=replace(one.load, igloo=0)) for one in played]
    found = {}
    for kind in KINDS:
        weighed = kind.endswith("shells weighed")
        scale = made_of([*calibration, *shells] if weighed else calibration)
        told = Counter[str]()
        for at, answer in answers(scale, played if weighed else unnamed, together="together" in kind):
            posterior = answer.posterior
            right, sure = posterior.count == truth[at], max(posterior.p, default=0.0) >= SURE
            counted = posterior.state == "counted"
            told.update({"weighed": 1, "right": right, "counted": counted, "counted and wrong": counted and not right})
            told.update({"sure": sure, "sure and wrong": sure and not right})
        told["passed"] = not faults(calibration, made_of(calibration))
        found[kind] = told
    return found


def rows(balances: int, seed: int) -> Iterator[Row]:
    """Yield the table for so many well-built balances and beads of 5 mm."""
    total = {kind: Counter[str]() for kind in KINDS}
    for told in shell_trials(range(seed, seed + balances), 0.164):
        for kind, one in told.items():
            total[kind].update(one)
    for kind, one in total.items():
        share = f"{100 * one['right'] / max(1, one['weighed']):.1f}"
        counted = f"{one['counted']} counted, {one['counted and wrong']} of them wrong"
        sure = f"{one['sure']} sure, {one['sure and wrong']} of them wrong"
        note = f"{one['right']} of {one['weighed']}; {counted}; {sure}; {one['passed']} balances pass their check"
        yield row(f"beads of 5 mm, {kind}: right", share, "%", "≥ 97" if kind != KINDS[0] else "", note)
