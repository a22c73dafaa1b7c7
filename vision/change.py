"""Which places look just as they did: two straight pictures of one board, compared place by place.

What is read in a place may be wrong, and wrong alike in every picture of it. That a place looks as it did when people
agreed on what lies there needs no reading, and says that nothing changed there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray

    from .patches import Sampler

SLACK: Final = 1
"""Pixels of the straight picture (some 56 a place) by which a board may be found elsewhere from look to look."""
SHARE: Final = 96.0
"""The percentile of a place's pixels that is told: a piece's edge covers more, a speck of noise less."""
USUAL: Final = 2.5
"""So many times what places usually differ by is no change."""
LEAST: Final = 4.0
"""Grey levels that are none either."""
MOST: Final = 24.0
"""Grey levels that are always one: with so much noise nothing is told to be as it was."""
PLAIN: Final = 6.0
"""So many times what is no change is plainly one: a piece's shadow on a neighbour's place is mostly less."""


def differences(sampler: Sampler, before: ByteArray, after: ByteArray) -> FloatArray:
    """Return (places,): by how many grey levels each place differs where it differs much.

    A change of light that is the same all over the board, and a shift of a pixel, count for nothing.
    """
    one, two = (cv2.GaussianBlur(picture, (3, 3), 0.8).astype(np.float32) for picture in (before, after))
    lit = two - np.median((two - one).reshape(-1, one.shape[2]), axis=0).astype(np.float32)
    around = np.ones((2 * SLACK + 1, 2 * SLACK + 1), np.uint8)
    over = np.maximum(lit - cv2.dilate(one, around), cv2.erode(one, around) - lit)
    off = cv2.blur(np.maximum(over, 0).max(axis=2), (3, 3))
    found = np.empty(len(sampler.layout.places))
    for number in range(len(found)):
        x, y, size = sampler.middle(number)
        half = 0.5 * size
        left, top = max(0, round(x - half)), max(0, round(y - half))
        found[number] = np.percentile(off[top : round(y + half) + 1, left : round(x + half) + 1], SHARE)
    return found


def quiet(sampler: Sampler, before: ByteArray, after: ByteArray) -> frozenset[str]:
    """Return the names of the places that look as they did."""
    return frozenset(name for name, off in _measured(sampler, before, after) if off <= 1)


def plain(sampler: Sampler, before: ByteArray, after: ByteArray) -> frozenset[str]:
    """Return the names of the places that look plainly otherwise: something came, went, or was nudged."""
    return frozenset(name for name, off in _measured(sampler, before, after) if off >= PLAIN)


def _measured(sampler: Sampler, before: ByteArray, after: ByteArray) -> list[tuple[str, float]]:
    """Return each place's name with its difference, as a multiple of what is no change; nothing of unlike pictures."""
    if before.shape != after.shape:
        return []
    found = differences(sampler, before, after)
    bar = min(MOST, LEAST + USUAL * float(np.median(found)))
    return [(place.name, off / bar) for place, off in zip(sampler.layout.places, found.tolist(), strict=True)]
