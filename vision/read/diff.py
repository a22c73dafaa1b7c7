"""Which places look just as they did: two straight pictures of one board, compared place by place.

What is read in a place may be wrong, and wrong alike in every picture of it. That a place looks as it did when people
agreed on what lies there needs no reading, and says that nothing changed there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray
    from vision.board.patches import Sampler

SLACK: Final = 1
"""Pixels of the straight picture (some 56 a place) by which a board may be found elsewhere from look to look."""
SHARE: Final = 0.96
"""Of a place's pixels, in order, the one that is told: a piece's edge covers more, a speck of noise less."""
USUAL: Final = 2.5
"""So many times what places usually differ by is no change."""
LEAST: Final = 4.0
"""Grey levels that are none either."""
MOST: Final = 24.0
"""Grey levels that are always one: with so much noise nothing is told to be as it was."""
PLAIN: Final = 10.0
"""So many times what is no change is plainly one; a long shadow that moved comes to nine. Between counts in part."""
_LEVELS: Final = 255
INNER: Final = 0.6
"""Of a place's width: what changed did so about its middle; nearer to its edge fall its neighbours' shadows."""


def differences(sampler: Sampler, before: ByteArray, after: ByteArray) -> FloatArray:
    """Return (places, 2): by how many grey levels each place differs where it differs much, as a whole and inside.

    A change of light that is the same all over the board, and a shift of a pixel, count for nothing.
    """
    one, two = (cv2.GaussianBlur(picture, (3, 3), 0.8) for picture in (before, after))
    around = np.ones((2 * SLACK + 1, 2 * SLACK + 1), np.uint8)
    most = np.zeros(one.shape[:2], np.float32)
    split = [cv2.split(picture) for picture in (cv2.erode(one, around), cv2.dilate(one, around), one, two)]
    for low, high, was, now in zip(*split, strict=True):
        lit = now - np.float32(_middle(was, now))
        np.maximum(most, np.maximum(lit - high, low - lit), out=most)
    off: Any = cv2.blur(most, (3, 3))
    found = np.empty((len(sampler.layout.places), 2))
    for number in range(len(found)):
        x, y, size = sampler.middle(number)
        if number not in sampler.strips:
            found[number] = [_most(off, x, y, 0.5 * size), _most(off, x, y, 0.5 * INNER * size)]
            continue
        # A piece that came to a strip is a small part of it: it is looked at a usual place at a time.
        half = 0.5 * sampler.unit * sampler.side
        parts = [_most(off, *at, half) for at in _along(sampler, number, half)]
        inner = [_most(off, *at, INNER * half) for at in _along(sampler, number, INNER * half)]
        found[number] = [max(parts), max(inner)]
    return found


def _middle(was: ByteArray, now: ByteArray) -> float:
    """Return the median of how much brighter pixels are now; counted, since to sort them takes longer than all else."""
    often = np.bincount((now.astype(np.int16) - was).ravel() + _LEVELS, minlength=2 * _LEVELS + 1)
    middle = np.searchsorted(np.cumsum(often), [(was.size - 1) // 2, was.size // 2], side="right") - _LEVELS
    return float(middle.mean())


def _most(off: FloatArray, x: float, y: float, half: float) -> float:
    """Return by how much a square of a picture of differences differs where it differs much."""
    left, top = max(0, round(x - half)), max(0, round(y - half))
    part = off[top : round(y + half) + 1, left : round(x + half) + 1].ravel()
    rank = round(SHARE * (len(part) - 1))
    return float(np.partition(part, rank)[rank])


def _along(sampler: Sampler, number: int, half: float) -> list[tuple[float, float]]:
    """Return the middles of squares, each so many pixels to either side, that lie along a strip and cover its middle.

    Each lies over half of the one before, so that a piece is whole in one of them.
    """
    x, y, length = sampler.middle(number)
    place = sampler.layout.places[number]
    far = max(0.0, length / 2 - half)
    steps = np.linspace(-far, far, max(1, int(np.ceil(2 * far / half))) + 1).tolist()
    return [(x, y + step) if place.height > place.width else (x + step, y) for step in steps]


@dataclass(frozen=True, slots=True)
class Compared:
    """The names of places: ``quiet`` ones look as they did; ``unlike`` ones otherwise about their middle, and how much.

    1 where something plainly came, went, or was nudged; less where it may be a shadow.
    """

    quiet: frozenset[str] = frozenset()
    unlike: Mapping[str, float] = field(default_factory=dict)


def compare(sampler: Sampler, before: ByteArray, after: ByteArray) -> Compared:
    """Return which places of two straight pictures look alike and which do not; none of unlike pictures."""
    if before.shape != after.shape:
        return Compared()
    found = differences(sampler, before, after)
    usual = LEAST + USUAL * float(np.median(found[:, 0]))
    by_place = [(place.name, off) for place, off in zip(sampler.layout.places, found.tolist(), strict=True)]
    return Compared(
        frozenset(name for name, (whole, _) in by_place if whole <= min(MOST, usual)),
        {name: min(1.0, log(inside / usual) / log(PLAIN)) for name, (_, inside) in by_place if inside > usual},
    )
