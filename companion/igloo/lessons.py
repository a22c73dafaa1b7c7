"""From a labelled recording to what the counter learns from: features of pieces of a shake, for each tier of rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from companion.igloo.count import active_blocks
from companion.igloo.features import TIERS, FeatureStream, summarise

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


def varied(accel: FloatArray, rate_hz: float, rng: np.random.Generator) -> tuple[FloatArray, float]:
    """Return a shake (n, 3) at 3200 Hz or so as another igloo might have felt it, and its rate.

    The sounds go through an equaliser, as of another shell. Rolling and rubbing add a hiss that swells with the sounds.
    The rate is told otherwise by up to a tenth: with gravity kept, times that are longer by a factor belong to lengths
    that are longer by its square (Froude's similarity).
    """
    knots = np.array([0.0, 100.0, 200.0, 300.0, 450.0, 600.0, 800.0, 1000.0, 1200.0, 1400.0, 1600.0])
    decibel = rng.normal(size=len(knots)) * 4.0
    decibel[:2] = 0.0
    gain = 10 ** (np.interp(np.linspace(0, 1600, 65), knots, decibel) / 20)
    taps = np.roll(np.fft.irfft(gain), 64) * np.hanning(129)[:128]
    filtered = np.stack([np.convolve(accel[:, axis], taps, mode="same") for axis in range(3)], axis=1)
    jumps = np.abs(np.diff(filtered, axis=0, prepend=filtered[:1])).mean(axis=1)
    swell = max(int(rng.uniform(0.004, 0.04) * rate_hz), 3)
    envelope = np.convolve(jumps, np.hanning(swell) / np.hanning(swell).sum(), mode="same")
    strength = np.exp(rng.uniform(np.log(0.01), np.log(0.4)))
    filtered += strength * envelope[:, None] * rng.normal(size=filtered.shape)
    return filtered, rate_hz * float(np.exp(rng.uniform(-0.1, 0.1)))


def pieces(
    accel: FloatArray, rate_hz: float, tier: float, rng: np.random.Generator | None
) -> list[tuple[int, FloatArray]]:
    """Return (blocks, features) of pieces of one shake in g, slowed down to a tier.

    With ``rng`` pieces of several lengths at random places; without it the whole shake, as it would be counted.
    """
    factor = round(TIERS[0] / tier)
    stream = FeatureStream(rate_hz / factor, tier)
    stream.feed(slower(accel, factor))
    active = active_blocks(stream.cells)
    rows, cells = stream.rows[active], stream.cells[active]
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
