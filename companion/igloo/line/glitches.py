"""Single wild samples: with a right CRC, and yet no impact gives such a value beside such neighbours.

A bit that flips between sensor and board is in the sample before its frame gets a CRC. An impact is felt, too, as a
sample that stands out; but the sensor's low-pass spreads it, the shell rings, and other axes feel it. So a sample is
wild when it stands out of the range of its neighbours, on any axis, by more than ``ALONE_G`` and ``TIMES`` that range.

Of 12.9 million samples of shakes in 2696 physics-made igloos, by both laws of contact, the wildest stood 0.85 g beyond
``TIMES`` its range (``companion.lab.bench.glitches`` measures it). In return, a flipped bit that changes a sample by
less, or one in the middle of a blow, is left as it is, unless the value is beyond all that the sensor can measure.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from companion.ports import Samples

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

BESIDE = 4
"""Samples before and after one that are its neighbours: so long the sensor's low-pass lets a blow be felt."""

ALONE_G, TIMES = 4.0, 12.0

LEAST_HZ = 3200
"""The nominal rate of what was measured; at a lower one a blow may be a single sample."""


def without(run: Samples, bad: BoolArray) -> tuple[list[Samples], int, bool]:
    """Return a run without its bad samples, as runs that say what is missing before each.

    Behind them comes what the next run has to say: how many are missing at the end, and whether an unknown number was
    missing before all of it.
    """
    edges = [0, *(np.flatnonzero(np.diff(bad)) + 1).tolist(), len(bad)]
    stretches: list[Samples] = []
    gap, overflow = run.gap_before, run.overflow_before
    for start, end in pairwise(edges):
        if bad[start]:
            gap += end - start
        else:
            t0 = run.t0 + start / run.rate_hz
            stretches.append(Samples(run.accel[start:end], t0, run.rate_hz, run.index + start, gap, overflow))
            gap, overflow = 0, False
    return stretches, gap, overflow


def standing_out(accel: FloatArray) -> tuple[BoolArray, FloatArray]:
    """Return which samples (n, 3) in g may be wild, and how far each stands out beyond ``TIMES`` its range, in g.

    May be wild is who differs from both next samples by more than ``ALONE_G`` on an axis, to the same side; who stands
    at the end has one. Of the others, and where ``BESIDE`` neighbours are missing at a side, nothing is said (-inf).
    """
    step = np.diff(accel, axis=0)
    up, down = step > ALONE_G, step < -ALONE_G
    alone = np.zeros(len(accel), dtype=np.bool_)
    alone[1:-1] = ((up[:-1] & down[1:]) | (down[:-1] & up[1:])).any(axis=1)
    if len(step):
        alone[-1] = (up[-1] | down[-1]).any()
    beyond = np.full(len(accel), -np.inf)
    for at in np.flatnonzero(alone):
        if BESIDE <= at < len(accel) - BESIDE:
            beside = np.concatenate([accel[at - BESIDE : at], accel[at + 1 : at + 1 + BESIDE]])
            high, low = beside.max(axis=0), beside.min(axis=0)
            out = np.maximum(accel[at] - high, low - accel[at]).max()
            beyond[at] = out - TIMES * (high - low).max()
    return alone, beyond


class GlitchFilter:
    """Leaves wild samples out of the runs of one igloo; each is a known gap, and ``count`` says how many there were.

    A sample that may be wild waits, with those after it, until its neighbours have come.
    """

    def __init__(self) -> None:
        self.count = 0
        self._before: FloatArray = np.zeros((0, 3))
        self._held: Samples | None = None
        self._next = 0
        self._gap, self._cut = 0, False

    def feed(self, runs: list[Samples], *, told: bool = True) -> list[Samples]:
        """Take runs in their order; return what of them, and of those before, is settled.

        Where a blow may look wild, nothing is ``told`` and nothing left out.
        """
        return [settled for run in runs for settled in self._one(run, told)]

    def _one(self, run: Samples, told: bool) -> list[Samples]:
        settled: list[Samples] = []
        held, self._held = self._held, None
        joined = run.index == self._next and not run.gap_before and not run.overflow_before
        self._next = run.index + len(run.accel)
        if not joined:
            self._before = self._before[:0]
            if held is not None:
                settled.append(self._after_gap(held))  # its neighbours will never come
        elif held is not None:
            t0 = run.t0 - len(held.accel) / run.rate_hz
            run = replace(held, accel=np.concatenate([held.accel, run.accel]), t0=t0, rate_hz=run.rate_hz)
        run = self._after_gap(run)
        known = len(self._before)
        felt = np.concatenate([self._before, run.accel])
        alone, beyond = standing_out(felt) if told else (np.zeros(len(felt), dtype=np.bool_), np.zeros(len(felt)))
        # Whose neighbours have not all come waits.
        last = max(known, len(felt) - BESIDE)
        settles = next((last + int(at) for at in np.flatnonzero(alone[last:])), len(felt))
        bad = beyond[known:settles] > ALONE_G
        self._before = felt[max(0, settles - BESIDE) : settles]
        n = settles - known
        if n == 0:
            self._held = run
            return settled
        if n < len(run.accel):
            self._held = Samples(run.accel[n:], run.t0 + n / run.rate_hz, run.rate_hz, run.index + n)
            run = replace(run, accel=run.accel[:n])
        if not bad.any():
            return [*settled, run]
        self.count += int(bad.sum())
        stretches, self._gap, self._cut = without(run, bad)
        return [*settled, *stretches]

    def _after_gap(self, run: Samples) -> Samples:
        """Let a run say what was left out at the end of the one before."""
        gap, self._gap = self._gap, 0
        cut, self._cut = self._cut, False
        return (
            replace(run, gap_before=run.gap_before + gap, overflow_before=True)
            if cut
            else (replace(run, gap_before=run.gap_before + gap) if gap else run)
        )
