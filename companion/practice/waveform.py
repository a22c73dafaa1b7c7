"""A shake as a drawing: along the way the hand goes, the lowest and the highest of each 12.5 ms, two letters a column.

What a letter stands for: its place in :data:`LEVELS`, from -16 g to 16 g, finer near 0 (the square root of the force),
for the knocks of the beads are small beside the hand. A second of shaking is 160 letters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from companion.ports import FloatArray

COLUMN_S = 0.0125
LEVELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
MIDDLE = 32
REACH_G = 16.0


def way(accel: FloatArray) -> FloatArray:
    """Return the direction (3,) in which samples (n, 3) swing most, on the side of their mean."""
    apart = accel - accel.mean(axis=0)
    axis: FloatArray = np.linalg.eigh(apart.T @ apart)[1][:, -1]
    return -axis if float(axis @ accel.mean(axis=0)) < 0 else axis


def drawn(along: FloatArray, rate_hz: float) -> str:
    """Return samples (n,) in g, their mean taken away, as letters: two for each whole column."""
    columns = int(len(along) / (rate_hz * COLUMN_S))
    if not columns:
        return ""
    edges = np.round(np.arange(columns) * rate_hz * COLUMN_S).astype(np.int64)
    whole = along[: round(columns * rate_hz * COLUMN_S)]
    both = np.column_stack([np.minimum.reduceat(whole, edges), np.maximum.reduceat(whole, edges)])
    level = np.rint(MIDDLE + (MIDDLE - 1) * np.sign(both) * np.sqrt(np.minimum(np.abs(both) / REACH_G, 1.0)))
    return "".join(LEVELS[int(one)] for one in level.ravel())


def picture(accel: FloatArray, rate_hz: float) -> str:
    """Return a whole shake (n, 3) in g as letters."""
    return drawn((accel - accel.mean(axis=0)) @ way(accel), rate_hz)
