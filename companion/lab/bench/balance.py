"""How good the referee's balance is: `companion bench balance`, in the two worlds of the lab's physics.

All figures are simulated. Each balance is calibrated with three coins and two known igloos (or six); then the twelve
counts are weighed, tared each time.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from companion.igloo.balance.calibration import LabelledLoad, answers, faults, made_of
from companion.igloo.balance.loads import loads
from companion.lab.physics.balance import RATE_HZ, LabelledWeighings, box, built, calibration_of, evening
from companion.lab.rows import Row, row
from companion.ports import COUNTS, BadDataError

if TYPE_CHECKING:
    from collections.abc import Iterator

SURE = 0.99


def weighed(labelled: LabelledWeighings) -> list[LabelledLoad]:
    """Return labelled weighings as they are read from a recording."""
    found = loads(list(labelled.accel), RATE_HZ, labelled.what)
    return [LabelledLoad(*one) for one in zip(labelled.what, labelled.value, found, strict=True)]


def trial(
    seed: int, bead_g: float, *, well: bool = True, known: tuple[int, ...] = (4, 11)
) -> tuple[Counter[str], list[str]]:
    """Return what became of the twelve counts on one balance, and what its own check finds wrong with it."""
    rng = np.random.default_rng([seed, int(1000 * bead_g)])
    balance, igloos, told = built(rng, "AB"[seed % 2], well=well), box(rng, bead_g), Counter[str]()
    labelled = weighed(calibration_of(balance, igloos, rng, known))
    counts = [int(n) for n in rng.permutation(np.array(COUNTS))]
    played = evening(balance, igloos, rng, counts)
    try:
        scale = made_of(labelled)
    except BadDataError as error:
        return told, [str(error)]
    begun = time.process_time()
    found = answers(scale, weighed(played))
    told["microseconds"] = int(1e6 * (time.process_time() - begun))
    for at, answer in found:
        posterior = answer.posterior
        told["weighed"] += 1
        told[posterior.state] += 1
        right = posterior.count == played.truth[at]
        told["right"] += right
        told["wrong and counted"] += posterior.state == "counted" and not right
        told["sure"] += max(posterior.p, default=0.0) >= SURE
        told["sure and wrong"] += max(posterior.p, default=0.0) >= SURE and not right
    return told, faults(labelled, scale)


def rows(balances: int, seed: int) -> Iterator[Row]:
    """Yield the table for so many balances of each kind."""
    for bead_mm, bead_g in ((8, 0.67), (5, 0.164)):
        for known in ((4, 11), (2, 5, 8, 10, 12, 13)):
            total, passed = Counter[str](), 0
            for one in range(balances):
                told, wrong = trial(seed + one, bead_g, known=known)
                passed += not wrong
                total += told if not wrong else Counter()
            what = f"beads of {bead_mm} mm, {len(known)} known igloos"
            yield _share(f"{what}: right", total, "right", f"{passed} of {balances} well-built ones pass their check")
            yield _share(f"{what}: counted", total, "counted", f"{total['wrong and counted']} of them wrong")
            yield _share(f"{what}: sure (p ≥ {SURE})", total, "sure", f"{total['sure and wrong']} of them wrong")
    bad = [trial(seed + one, 0.67, well=False) for one in range(balances)]
    passing = [told for told, wrong in bad if not wrong]
    misled = sum(told["sure and wrong"] for told in passing)
    share = f"{100 * len(passing) / balances:.0f}"
    yield row("badly built balances that pass", share, "%", "≤ 5", f"{misled} sure and wrong")
    each = total["microseconds"] / max(1, total["weighed"]) / 1000
    yield row("reckoning a count", f"{each:.0f}", "ms", "", "one core; its share of the fit not counted")


def _share(what: str, total: Counter[str], key: str, note: str) -> Row:
    return row(what, f"{100 * total[key] / max(1, total['weighed']):.1f}", "%", "", f"{note}; of {total['weighed']}")
