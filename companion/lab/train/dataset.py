"""From a labelled recording to what the counter learns from: features of pieces of a shake, for each tier of rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from companion.igloo.count.convnet import CELL, NetInput, prepare
from companion.igloo.count.counter import active_blocks
from companion.igloo.count.features import TIERS, FeatureStream, summarise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

PIECES = (24, 12, 6, 3)
"""Blocks of the pieces of a shake: 3.84, 1.92, 0.96 and 0.48 s, and one of a random length."""
STEP_G = 2 / 256
"""An ADXL345 at 1600 Hz drops its lowest bit too."""


def slower(accel: FloatArray, factor: int) -> FloatArray:
    """Return what a sensor at a rate lower by a whole factor would have said of samples (n, 3) in g."""
    if factor == 1:
        return accel
    n = np.arange(-8 * factor, 8 * factor + 1)
    taps = np.sinc(0.9 * n / factor) * np.hamming(len(n))
    taps /= taps.sum()
    smooth = np.stack([np.convolve(accel[:, axis], taps, mode="same") for axis in range(3)], axis=1)[::factor]
    step = STEP_G if factor == 2 else STEP_G / 2
    return np.asarray(np.rint(smooth / step) * step)


@dataclass(frozen=True, slots=True)
class ShakeBlocks:
    """The active blocks of one shake: ``rows`` (m, ROW), ``cells`` (m, CELLS, 5), ``sounds`` by blocks.

    ``cell`` is how many samples are 10 ms, nominally.
    """

    rows: FloatArray
    cells: FloatArray
    sounds: list[NDArray[np.float32]]
    cell: int

    @property
    def heard(self) -> NetInput | None:
        """What the bead networks hear; None where there is too little."""
        return prepare(self.sounds, self.cell) if len(self.sounds) >= 3 else None


def listen(accel: FloatArray, rate_hz: float, tier: float) -> ShakeBlocks:
    """Return the active blocks of one shake in g, slowed down to a tier."""
    factor = round(TIERS[0] / tier)
    stream = FeatureStream(rate_hz / factor, tier)
    stream.feed(slower(accel, factor))
    active = active_blocks(stream.cells)
    sounds = [sound for sound, there in zip(stream.sounds, active, strict=True) if there]
    return ShakeBlocks(stream.rows[active], stream.cells[active], sounds, CELL // factor)


def pieces(one: ShakeBlocks, rng: np.random.Generator | None) -> list[tuple[int, FloatArray]]:
    """Return (blocks, features) of pieces of one shake.

    With ``rng`` pieces of several lengths at random places; without it the whole shake, as it would be counted.
    """
    rows, cells = one.rows, one.cells
    if rng is None:
        return [(len(rows), summarise(rows, cells))] if len(rows) >= 2 else []
    found = []
    for wanted in (*PIECES, int(rng.integers(3, 24))):
        size = min(wanted, len(rows))
        if size < 3:
            continue
        start = int(rng.integers(0, len(rows) - size + 1))
        found.append((size, summarise(rows[start : start + size], cells[start : start + size])))
    return found
