"""Cut the places out of a straightened board: each with what is around it, at one scale, upright or turned.

A patch shows :data:`CONTEXT` times the place, :data:`PATCH` pixels wide: pieces stand over the edge, and what lies
next door tells what leans in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray
    from vision.board.layout import Layout
    from vision.board.pose import Pose

PATCH: Final = 64
CONTEXT: Final = 1.6
_MARGIN: Final = 0.8
_PLACE_PX: Final = 56
_LARGEST: Final = 1000
CLOSE_PX: Final = 90
"""Pixels of a close-up across a place: small print is read there."""
_CLOSE_REACH: Final = 0.8
_FEWEST: Final = 4
_FILLED: Final = 1.5
"""Places of a board that is mostly not places, or that has few, are cut one by one."""
_LONG: Final = 1.6
"""A place so many times as long as the usual one is a strip."""


@dataclass(frozen=True)
class Sampler:
    """How the board of a layout is straightened, and patches are cut from it."""

    layout: Layout

    @cached_property
    def unit(self) -> float:
        """Return the usual size of a place, in board units."""
        return float(np.median([min(p.width, p.height) for p in self.layout.places]))

    @cached_property
    def strips(self) -> tuple[int, ...]:
        """Return the places that are much longer than others, as a start or a home is, where many pieces stand."""
        places = enumerate(self.layout.places)
        return tuple(n for n, p in places if max(p.width, p.height) > _LONG * self.unit)

    def shrunk(self, number: int) -> float:
        """Return how large a thing is in the patch of a place, against how large it is in that of a usual place."""
        place = self.layout.places[number]
        return self.unit / max(place.width, place.height) if number in self.strips else 1.0

    @cached_property
    def side(self) -> float:
        """Return pixels of the straight picture a board unit."""
        longest = max(self.layout.width, self.layout.height) + 2 * _MARGIN * self.unit
        return min(_PLACE_PX / self.unit, _LARGEST / longest)

    @cached_property
    def box(self) -> tuple[float, float, float, float]:
        """Return left, far, right and near of the straight picture, in board units."""
        margin = _MARGIN * self.unit
        return -margin, -margin, self.layout.width + margin, self.layout.height + margin

    def straighten(self, image: ByteArray, pose: Pose) -> ByteArray:
        """Return the straight picture of the board in a photo."""
        image, pose = self.eased(image, pose, self.side)
        return pose.straighten(image, self.side, self.box)

    def eased(self, image: ByteArray, pose: Pose, side: float) -> tuple[ByteArray, Pose]:
        """Return the photo shrunk where it is much finer than ``side`` pixels a unit; pixels are averaged."""
        apparent = pose.unit_px(self.layout.width, self.layout.height)
        if apparent <= 1.8 * side:
            return image, pose
        small = max(side * 1.2 / apparent, 1e-3)
        size = (max(1, round(image.shape[1] * small)), max(1, round(image.shape[0] * small)))
        shrunk: ByteArray = cv2.resize(image, size, interpolation=cv2.INTER_AREA).astype(np.uint8, copy=False)
        return shrunk, pose.resized(size)

    def close(self, image: ByteArray, pose: Pose, places: Iterable[int]) -> dict[int, ByteArray]:
        """Return close-ups of some places in a photo, by place: square, :data:`CLOSE_PX` pixels a place."""
        numbers = list(places)
        if not numbers:
            return {}
        image, pose = self.eased(image, pose, CLOSE_PX / self.unit)
        found = {}
        for number in numbers:
            p = self.layout.places[number]
            size = max(p.width, p.height)
            reach = _CLOSE_REACH * size
            box = (p.x - reach, p.y - reach, p.x + reach, p.y + reach)
            found[number] = pose.straighten(image, CLOSE_PX / size, box)
        return found

    def close_up(self, straight: ByteArray, number: int) -> ByteArray:
        """Return a close-up of a place in the straight picture, no finer than that is."""
        x, y, size = self._middles[number]
        side = round(2 * _CLOSE_REACH * CLOSE_PX)
        scale = size / CLOSE_PX
        matrix = np.array([[scale, 0, x - scale * (side - 1) / 2], [0, scale, y - scale * (side - 1) / 2]])
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        cut = cv2.warpAffine(straight, matrix, (side, side), flags=flags, borderMode=cv2.BORDER_REPLICATE)
        return cut.astype(np.uint8, copy=False)

    @cached_property
    def _middles(self) -> FloatArray:
        """Return (places, 3): each place's centre in the straight picture and its larger side, in pixels."""
        left, far = self.box[:2]
        return np.array(
            [
                [(p.x - left) * self.side - 0.5, (p.y - far) * self.side - 0.5, max(p.width, p.height) * self.side]
                for p in self.layout.places
            ]
        )

    def middle(self, number: int) -> tuple[float, float, float]:
        """Return a place's centre in the straight picture and its larger side, in pixels."""
        x, y, size = self._middles[number].tolist()
        return x, y, size

    def within(self, number: int, shape: tuple[int, int]) -> NDArray[np.bool_]:
        """Return which pixels of a straight picture of a shape (height, width) are a place's."""
        x, y, _ = self.middle(number)
        place = self.layout.places[number]
        far, left = np.abs(np.arange(shape[0]) - y), np.abs(np.arange(shape[1]) - x)
        inside: NDArray[np.bool_] = np.outer(far < place.height / 2 * self.side, left < place.width / 2 * self.side)
        return inside

    def cut(self, straight: ByteArray, places: list[int] | None = None) -> ByteArray:
        """Return (n, PATCH, PATCH, 3) patches of the places (all, where none are given), upright."""
        numbers = list(range(len(self.layout.places))) if places is None else places
        if self._raster is None or 2 * len(numbers) < len(self.layout.places):
            return self.cut_moved(straight, numbers, np.tile([0.0, 0.0, 0.0, 1.0], (len(numbers), 1)))
        matrix, size, corners = self._raster
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        scaled: Any = cv2.warpAffine(straight, matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
        patches = np.empty((len(numbers), PATCH, PATCH, 3), np.uint8)
        for row, number in enumerate(numbers):
            x, y = corners[number]
            patches[row] = scaled[y : y + PATCH, x : x + PATCH]
        return patches

    @cached_property
    def _raster(self) -> tuple[FloatArray, tuple[int, int], list[tuple[int, int]]] | None:
        """Return how the straight picture is scaled so that the patches of a grid are parts of it, and their corners.

        None where places do not lie so: they are cut one by one.
        """
        x, y, size = self._middles.T
        if len(x) < _FEWEST or np.ptp(size) > 1e-6:
            return None
        scale = CONTEXT * size[0] / PATCH
        steps = np.stack([x - x.min(), y - y.min()], axis=1) / scale
        corners = np.round(steps).astype(int)
        across, down = (corners.max(axis=0) + PATCH).tolist()
        if np.abs(steps - corners).max() > 1e-3 or across * down > _FILLED * len(x) * PATCH**2:
            return None
        half = scale * (PATCH - 1) / 2
        matrix = np.array([[scale, 0, x.min() - half], [0, scale, y.min() - half]])
        return matrix, (across, down), [(int(left), int(top)) for left, top in corners]

    def cut_moved(self, straight: ByteArray, places: list[int], moves: FloatArray) -> ByteArray:
        """Return patches (n, …) moved by (n, 4): right and down in places, turned in radians, grown."""
        patches = np.empty((len(places), PATCH, PATCH, 3), np.uint8)
        x, y, size = self._middles[places].T
        right, down, turn, grown = moves.T
        scale = CONTEXT * size / PATCH / grown
        cos, sin = scale * np.cos(turn), scale * np.sin(turn)
        half = (PATCH - 1) / 2
        cx, cy = x + right * size - (cos - sin) * half, y + down * size - (sin + cos) * half
        matrices = np.stack([cos, -sin, cx, sin, cos, cy], axis=1).reshape(-1, 2, 3)
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        for patch, matrix in zip(patches, matrices, strict=True):
            cv2.warpAffine(straight, matrix, (PATCH, PATCH), dst=patch, flags=flags, borderMode=cv2.BORDER_REPLICATE)
        return patches

    def inside(self, pose: Pose) -> list[bool]:
        """Return for each place whether the photo shows it whole."""
        points = []
        for p in self.layout.places:
            w, h = p.width / 2 * 0.9, p.height / 2 * 0.9
            points += [(p.x - w, p.y - h), (p.x + w, p.y - h), (p.x + w, p.y + h), (p.x - w, p.y + h)]
        seen = pose.project(np.array(points)).reshape(-1, 4, 2)
        low, high = seen.min(axis=1).min(axis=1), (seen - np.array(pose.size)).max(axis=1).max(axis=1)
        return [bool(v) for v in (low >= -0.5) & (high <= -0.5)]
