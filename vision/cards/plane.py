"""The table under a photo's cards: cards of one deck are equally large, so together they tell how the camera sees it.

A photo's point is brought onto the table by a lens (one radial term), a perspective and a scale; the unit there is a
taught card's pixel. On the table a card can only be turned and moved, which is three numbers instead of the eight of a
homography: so a narrow strip of a card still says where the rest of it lies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

from vision.cards.shape import WIDTH, corners_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from companion.ports import FloatArray

_LEAST_CARDS: Final = 3
_MOST_POINTS: Final = 16
_STEPS: Final = 25
_STIFF: Final = np.array([0.0, 0.35, 0.35, 0.30, 0.30, 0.04, 0.02])
"""How far beforehand each number of the table is from nought (0: unknown): see :func:`_onto`."""
_OFF: Final = 1.5
"""How far (taught pixels) points of a well placed card are off."""
_TRUE: Final = 4.0
"""From here on (taught pixels, median) cards are not on one table."""


@dataclass(frozen=True, slots=True)
class CardPlane:
    """How a camera sees the table. ``numbers`` (7,): see :func:`_onto`; ``middle`` and ``reach`` of the photo."""

    numbers: FloatArray
    middle: tuple[float, float]
    reach: float
    height: int
    """A taught card's height in its own pixels."""

    def onto(self, points: FloatArray) -> FloatArray:
        """Return where points (n, 2) of the photo lie on the table."""
        return _onto(self.numbers, (np.asarray(points, float) - self.middle) / self.reach)

    def photo(self, points: FloatArray) -> FloatArray:
        """Return where points (n, 2) of the table are seen in the photo."""
        flat = (
            np.column_stack([np.asarray(points, float), np.ones(len(points))]) @ np.linalg.inv(_matrix(self.numbers)).T
        )
        seen = flat[:, :2] / flat[:, 2:]
        bent = seen
        for _ in range(6):
            bent = seen / (1 + self.numbers[5] * (bent**2).sum(axis=1, keepdims=True))
        result: FloatArray = bent * self.reach + self.middle
        return result

    def card(self, points: FloatArray) -> FloatArray:
        """Return a card's own points (n, 2) as they are on the table, the card's middle in its origin."""
        return _true_shape(points, self.height, float(self.numbers[6]))

    def pose(self, own: FloatArray, seen: FloatArray) -> FloatArray:
        """Return (3,): x, y and angle of the card whose own points (n, 2) are seen (n, 2) in the photo."""
        return _turned(self.card(own), self.onto(seen))

    def to(self, pose: FloatArray) -> FloatArray:
        """Return (3, 3): from the card's own pixels to the photo's."""
        own = corners_of(self.height)
        cos, sin = np.cos(pose[2]), np.sin(pose[2])
        there = self.card(own) @ np.array([[cos, sin], [-sin, cos]]) + pose[:2]
        seen = self.photo(there)
        matrix: FloatArray = cv2.getPerspectiveTransform(own.astype(np.float32), seen.astype(np.float32)).astype(float)
        return matrix


def _matrix(numbers: FloatArray) -> FloatArray:
    s, a, b, p, q = numbers[:5]
    shape = np.exp(s) * np.array([[np.exp(a), b, 0], [b, np.exp(-a), 0], [0, 0, np.exp(-s)]])
    matrix: FloatArray = shape @ np.array([[1, 0, 0], [0, 1, 0], [p, q, 1.0]])
    return matrix


def _onto(numbers: FloatArray, points: FloatArray) -> FloatArray:
    """Return the table's points: logarithm of the scale, two of the shape, two of the perspective, the lens's bend.

    The seventh number is by how much the taught cards' height is off, as a logarithm: sheets are seen at a slant too.
    """
    even = points * (1 + numbers[5] * (points**2).sum(axis=1, keepdims=True))
    flat = np.column_stack([even, np.ones(len(even))]) @ _matrix(numbers).T
    result: FloatArray = flat[:, :2] / flat[:, 2:]
    return result


def _true_shape(points: FloatArray, height: int, taller: float) -> FloatArray:
    middle = np.array([(WIDTH - 1) / 2, (height - 1) / 2])
    shape: FloatArray = (np.asarray(points, float) - middle) * [1.0, np.exp(taller)]
    return shape


def _turned(own: FloatArray, there: FloatArray) -> FloatArray:
    """Return x, y and angle of the rigid motion that brings points onto others."""
    a, b = own.mean(axis=0), there.mean(axis=0)
    x, y = own - a, there - b
    angle = float(np.arctan2((x[:, 0] * y[:, 1] - x[:, 1] * y[:, 0]).sum(), (x * y).sum()))
    cos, sin = np.cos(angle), np.sin(angle)
    at = b - a @ np.array([[cos, sin], [-sin, cos]])
    return np.array([at[0], at[1], angle])


def fit_plane(pairs: Sequence[tuple[FloatArray, FloatArray]], height: int, size: tuple[int, int]) -> CardPlane | None:
    """Return the table under cards, each given by points of its own (n, 2) and where the photo shows them (n, 2).

    ``size`` is the photo's width and height. None where there are too few cards, or they do not lie on one table.
    """
    if len(pairs) < _LEAST_CARDS:
        return None
    middle, reach = ((size[0] - 1) / 2, (size[1] - 1) / 2), max(size) / 2
    cards = []
    for own, seen in pairs:
        few = np.linspace(0, len(own) - 1, min(_MOST_POINTS, len(own))).astype(int)
        cards.append((own[few], (seen[few] - middle) / reach))
    grown = [np.sqrt(abs(np.linalg.det(np.cov(own.T) + 1e-9) / np.linalg.det(np.cov(seen.T) + 1e-12)))
             for own, seen in cards]  # fmt: skip
    numbers = np.zeros(7)
    numbers[0] = 0.5 * np.log(np.median(grown))
    damp, best = 1e-3, _misfit(numbers, cards, height)
    for _ in range(_STEPS):
        slope = np.stack([(_misfit(numbers + step, cards, height) - best) / 1e-5 for step in 1e-5 * np.eye(7)], axis=1)
        normal = slope.T @ slope
        step = np.linalg.solve(normal + damp * np.diag(np.diag(normal) + 1e-9), -slope.T @ best)
        tried = _misfit(numbers + step, cards, height)
        if (tried**2).sum() < (best**2).sum():
            numbers, best, damp = numbers + step, tried, damp * 0.2
            if np.abs(step).max() < 1e-6:
                break
        else:
            damp *= 8
    plane = CardPlane(numbers, middle, reach, height)
    off = [np.median(np.linalg.norm(_left(numbers, own, seen, height), axis=1)) for own, seen in cards]
    return plane if np.median(off) < _TRUE and np.abs(numbers[1:5]).max() < 0.8 else None


def _left(numbers: FloatArray, own: FloatArray, seen: FloatArray, height: int) -> FloatArray:
    """Return (n, 2): what a card's points are off on the table where it lies best."""
    shape, there = _true_shape(own, height, float(numbers[6])), _onto(numbers, seen)
    x, y, angle = _turned(shape, there)
    cos, sin = np.cos(angle), np.sin(angle)
    result: FloatArray = shape @ np.array([[cos, sin], [-sin, cos]]) + [x, y] - there
    return result


def _misfit(numbers: FloatArray, cards: Sequence[tuple[FloatArray, FloatArray]], height: int) -> FloatArray:
    """Return what is to be small: each card's points, those far off counting for less, and the numbers themselves."""
    parts = []
    for own, seen in cards:
        off = _left(numbers, own, seen, height) / _OFF
        far = np.linalg.norm(off, axis=1, keepdims=True)
        gently = np.sqrt(2 * (np.sqrt(1 + far**2) - 1) / np.maximum(far**2, 1e-12))
        parts.append((off * gently / np.sqrt(len(own) / 4)).ravel())
    stiff = _STIFF > 0
    parts.append(numbers[stiff] / _STIFF[stiff])
    return np.concatenate(parts)
