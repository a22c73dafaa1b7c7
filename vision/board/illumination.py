"""Tonight's light against the light it was taught in: a smooth field of gains over the board, for each colour.

The field is fitted to the places' colours, in logarithms, against what they are thought to look like; places that
changed count for little. Where too few agree, nothing is changed. What a lamp or window that is mirrored in a part of
the board adds stays as it is: networks learn places under such a veil (:mod:`vision.learn.augment`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import cv2
import numpy as np

from vision.board.labels import Content

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray

_AGREE = 0.4
CODED = 2.2
"""The power that turns a picture's values into light."""


def tone(patches: ByteArray) -> FloatArray:
    """Return (n, 3): the logarithm of each patch's middle colour in linear light."""
    quarter = patches.shape[1] // 5
    core = np.moveaxis(patches[:, quarter:-quarter:2, quarter:-quarter:2], 3, 1).reshape(len(patches), 3, -1)
    middle = np.median(core, axis=2).astype(np.float32) / 255
    tones: FloatArray = np.log(middle**CODED + 1e-3).astype(np.float64)
    return tones


def fit_field(
    spots: FloatArray, now: FloatArray, taught: FloatArray, weight: FloatArray | None = None, agree: float = _AGREE
) -> FloatArray | None:
    """Return the field (6, 3) for spots (n, 2) in −1…1 by tones (n, 3) now and as taught; None where fewer agree."""
    if len(spots) < 4:
        return None
    off = taught - now
    design = _design(spots)
    base = np.ones(len(spots)) if weight is None else weight
    field = np.zeros((6, 3))
    # The most common change first: places that changed must not drag it.
    field[0] = _mode(off, base)
    ridge = np.diag([0.01, 0.5, 0.5, 2.0, 2.0, 2.0])
    scale = 0.25
    w = base
    for _ in range(12):
        residual = off - design @ field
        size = np.linalg.norm(residual, axis=1)
        w = base / (1 + (size / scale) ** 2) ** 2
        normal = design.T @ (design * w[:, None]) + ridge
        field = np.linalg.solve(normal, design.T @ (off * w[:, None]) + ridge[:, :1] * field[:1])
        scale = max(0.85 * scale, 0.08)
    size = np.linalg.norm(off - design @ field, axis=1)
    agreeing = float((base * (size < 0.25)).sum() / max(base.sum(), 1e-9))
    return field if agreeing >= agree else None


def _mode(off: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the most common change; a small one, and one of brightness alone, is likelier beforehand."""
    distance = np.linalg.norm(off[:, None] - off[None], axis=2)
    votes = (np.exp(-((distance / 0.2) ** 2)) * weight[None]).sum(axis=1)
    bright = off.mean(axis=1)
    tint = np.linalg.norm(off - bright[:, None], axis=1)
    votes *= np.exp(-0.5 * (bright / 0.5) ** 2 - 0.5 * (tint / 0.25) ** 2)
    result: FloatArray = off[int(votes.argmax())]
    return result


def _design(spots: FloatArray) -> FloatArray:
    x, y = spots[:, 0], spots[:, 1]
    return np.column_stack([np.ones_like(x), x, y, x * x, x * y, y * y])


class Palette:
    """The tones that contents usually have, in the light of the first board that was added."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._tones: dict[Content, list[FloatArray]] = {}
        self._usual: dict[Content, FloatArray] = {}

    def add(self, tones: FloatArray, contents: Mapping[int, Content]) -> None:
        """Learn the tones (places, 3) of a board that is in the common light."""
        for number, content in contents.items():
            self._tones.setdefault(content, []).append(tones[number])
            self._usual.pop(content, None)

    def light(
        self, spots: FloatArray, tones: FloatArray, contents: Mapping[int, Content], sure: Mapping[int, float]
    ) -> FloatArray | None:
        """Return the field that brings tones (places, 3) to those of the contents; None where too few are known."""
        known = [n for n, content in contents.items() if content in self._tones]
        if len(known) < 4:
            return None
        usual = self._usual_of([contents[n] for n in known])
        weight = np.array([sure.get(n, 1.0) for n in known])
        return fit_field(spots[known], tones[known], usual, weight)

    def _usual_of(self, contents: Sequence[Content]) -> FloatArray:
        """Return (n, 3): the usual tones of contents that were added."""
        for content in set(contents) - self._usual.keys():
            self._usual[content] = np.median(np.stack(self._tones[content]), axis=0)
        return np.stack([self._usual[content] for content in contents])

    def guess(self, tones: FloatArray) -> FloatArray:
        """Return the even field that brings the middle tone of a board to that of all boards."""
        every = np.concatenate([np.stack(tones_of) for tones_of in self._tones.values()])
        field = np.zeros((6, 3))
        field[0] = np.median(every, axis=0) - np.median(tones, axis=0)
        return field


def apply_field(straight: ByteArray, field: FloatArray, size: tuple[int, int] = (9, 9)) -> ByteArray:
    """Return the straight picture in the taught light."""
    ys, xs = np.meshgrid(np.linspace(-1, 1, size[1]), np.linspace(-1, 1, size[0]), indexing="ij")
    gain = np.exp(_design(np.column_stack([xs.ravel(), ys.ravel()])) @ field / CODED)
    gain = np.clip(gain, 0.2, 5.0).reshape(size[1], size[0], 3).astype(np.float32)
    height, width = straight.shape[:2]
    full = cv2.resize(gain, (width, height), interpolation=cv2.INTER_LINEAR)
    return cv2.multiply(straight, full, dtype=cv2.CV_8U).astype(np.uint8, copy=False)
