"""A hand that keeps the beat of the guided count, with blows as beads give them: a swing that rattles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def beat(tempo: float, seconds: float, rate: float, up: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return samples (n, 3) in g of two centimetres up and down along ``up`` (3,), so many times a second."""
    t = np.arange(round(seconds * rate)) / rate
    size = 0.02 * (2 * np.pi * tempo) ** 2 / 9.80665
    rng = np.random.default_rng(3)
    felt: NDArray[np.float64] = np.sin(2 * np.pi * tempo * t)[:, None] * size * up + up
    noise = 0.05 * rng.normal(size=felt.shape)
    noise[rng.random(len(t)) < 0.02] *= 20
    return felt + noise
