"""How large a taught card is kept, where its corners are in its own pixels, and what is to be found on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import FloatArray

    Singles = NDArray[np.float32]

WIDTH: Final = 128
"""A taught card's width in pixels; its height follows from its shape."""


@dataclass(frozen=True, slots=True)
class Features:
    """Places on a card with what they look like: ``frames`` (n, 4) are x, y, size and angle (degrees); ``looks``
    (n, 128) are square-rooted SIFT descriptors of length one.
    """

    frames: Singles
    looks: Singles


def corners_of(height: int) -> FloatArray:
    """Return a taught card's corners (4, 2) in its own pixels, clockwise from the upper left."""
    return np.array([[-0.5, -0.5], [WIDTH - 0.5, -0.5], [WIDTH - 0.5, height - 0.5], [-0.5, height - 0.5]])


def tall(quad: FloatArray) -> float:
    """Return how many times as high as wide an outline (4, 2) is."""
    sides = np.linalg.norm(np.roll(quad, -1, axis=0) - quad, axis=1)
    return float((sides[1] + sides[3]) / (sides[0] + sides[2]))
