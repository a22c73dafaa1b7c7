"""Whether a board still lies where it was found: then it need not be found again.

Corners of its picture are followed from the photo in which it was found (Lucas and Kanade 1981). Pieces move and hands
come, so half of them decide; those around its edge by themselves, since a grid looks the same a whole place aside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.board.detect import AROUND, shrunk

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray
    from vision.board.layout import Layout
    from vision.board.pose import Pose

_SIDE: Final = 640
"""Pixels of the longer side at which corners are followed."""
_MOST: Final = 60
_FEWEST: Final = 8
"""Corners inside the board, and around its edge; with fewer nothing is told."""
_STILL: Final = 0.01
"""Of a place: how far corners may have moved; a grid is found less exactly than that."""
_HALF: Final = 0.5


class Keyframe:
    """A photo in which the board was found at a pose, of which it is asked whether a later one shows it there."""

    def __init__(self, image: ByteArray, pose: Pose, layout: Layout) -> None:
        """Look for corners in a photo (BGR) of the pose's size."""
        self._shape = image.shape
        self._grey = _grey(image)
        small = pose.resized((self._grey.shape[1], self._grey.shape[0]))
        self._place = small.unit_px(layout.width, layout.height) * min(p.width for p in layout.places)
        inner = _mask(self._grey.shape, small, (0.0, 0.0, layout.width, layout.height))
        outer = _mask(self._grey.shape, small, (-AROUND, -AROUND, layout.width + AROUND, layout.height + AROUND))
        beside = _mask(self._grey.shape, small, (AROUND, AROUND, layout.width - AROUND, layout.height - AROUND))
        self._groups = [self._corners(inner), self._corners(outer & ~beside)]

    def shows(self, image: ByteArray) -> bool:
        """Return whether a photo shows the board where it lay; False, too, where that cannot be told."""
        if image.shape != self._shape or any(len(points) < _FEWEST for points in self._groups):
            return False
        every: Any = np.concatenate(self._groups)
        start: Any = None
        there, seen, _ = cv2.calcOpticalFlowPyrLK(self._grey, _grey(image), every, start, winSize=(15, 15), maxLevel=1)
        off = np.linalg.norm(there - every, axis=1) / self._place
        still = (seen.ravel() > 0) & (off < _STILL)
        at = len(self._groups[0])
        return bool(still[:at].mean() > _HALF and still[at:].mean() > _HALF)

    def _corners(self, mask: ByteArray) -> FloatArray:
        found: Any = cv2.goodFeaturesToTrack(self._grey, _MOST, 0.02, max(0.3 * self._place, 3.0), mask=mask)
        return np.zeros((0, 2), np.float32) if found is None else found.reshape(-1, 2)


def _grey(image: ByteArray) -> ByteArray:
    grey: ByteArray = cv2.cvtColor(shrunk(image, _SIDE), cv2.COLOR_BGR2GRAY).astype(np.uint8, copy=False)
    return grey


def _mask(shape: tuple[int, ...], pose: Pose, box: tuple[float, float, float, float]) -> ByteArray:
    """Return 255 where a picture shows a box (left, far, right, near) in board units, 0 elsewhere."""
    left, far, right, near = box
    outline = pose.project(np.array([[left, far], [right, far], [right, near], [left, near]]))
    mask = np.zeros(shape, np.uint8)
    cv2.fillPoly(mask, [np.round(outline).astype(np.int32)], 255)
    return mask
