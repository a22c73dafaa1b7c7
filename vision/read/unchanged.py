"""Which pictures of places show what they showed, noise aside: such a place need not be read again.

Both pictures are averaged over small cells, and the cell that differs most decides, so that a thin stroke counts as
much as a whole piece. What is noise, the pictures tell themselves: by how much cells differ from the cells beside them
in the quietest quarter of the places, which neither a lamp nor a slow drift changes. Where more than three quarters
changed, that is too much; so it is never more than a few grey levels, by the noise in which places are learnt
(:mod:`vision.learn.augment`).
"""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.learn.augment import MOST_NOISE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray

    Floats = NDArray[np.float32]
    Flags = NDArray[np.bool_]

CELL: Final = 4
"""Pixels of a cell's side: about as wide as a stroke of a digit, close up."""
_MOST: Final = 2 * sqrt(2) * MOST_NOISE / CELL
"""Grey levels: the deviation of the difference of two cells in twice the noise that is learnt. Twice was chosen, since
taught photos have a noise of their own.
"""


def unchanged(before: ByteArray, now: ByteArray) -> tuple[Flags, Flags]:
    """Return for each of n places whether it shows what it showed, and whether it does so to the last bit.

    Both are (n, side, side, 3), BGR, of places of one board in one light.
    """
    n = len(now)
    equal: Flags = ~(before != now).reshape(n, -1).any(axis=1)
    if equal.all():
        return equal.copy(), equal
    cells = _differences(before, now)
    most = np.abs(cells).reshape(n, -1).max(axis=1)
    # What is the same to the last bit is the same picture, and tells nothing of how much noise another has.
    same: Flags = equal | (most <= _limit(cells[~equal]))
    return same, equal


def _limit(cells: Floats) -> float:
    """Return the most that noise alone does to any of the cells (n, high, wide, 3)."""
    n, each = len(cells), cells[0].size
    beside = [np.abs(np.diff(cells, axis=axis)).reshape(n, -1).max(axis=1) for axis in (1, 2)]
    quiet = float(np.partition(np.maximum(*beside), (n - 1) // 4)[(n - 1) // 4])
    # A quarter of the places keep below this in all of their cells. Tails are taken for exponential (a JPEG's are
    # heavier than the normal distribution's): so all keep below that.
    seen = quiet * log(n * each) / log(each / log(4))
    # The universal threshold (Donoho and Johnstone 1994): what normal noise comes to at the most in so many cells.
    return min(seen, _MOST * sqrt(2 * log(n * each)))


def _differences(before: ByteArray, now: ByteArray) -> Floats:
    """Return (n, cells, cells, 3): by how much the mean of each cell differs."""
    n, side = now.shape[:2]
    many = side // CELL
    tall = (n * side, side, 3)
    off: Any = cv2.subtract(now.reshape(tall), before.reshape(tall), dtype=cv2.CV_32F)
    cells: Floats = cv2.resize(off, (many, n * many), interpolation=cv2.INTER_AREA).reshape(n, many, many, 3)
    return cells
