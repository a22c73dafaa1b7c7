"""Where the board lies in a picture: a homography from board units, and what the lens bends.

Board units run from the grid's far left corner: x to the right, y to the near side, a place of a grid is one unit. The
lens is one of Brown's radial terms about the picture's middle; lengths in it are halves of the picture's longer side,
so it stays the same when the picture is shrunk.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray

_STEP = 16
_USUAL_LENS = 1.8
"""How far the picture's plane is, in halves of its longer side: a webcam's that sees 58° across."""
_LEAST_OFF = 0.5
"""A board's corners are hardly known better than this, in pixels."""


@dataclass(frozen=True)
class Pose:
    """``matrix`` (3, 3) takes board units to pixels of a picture of ``size`` (width, height), which ``bend`` bends.

    ``error_px`` is how far the board's corners may be off (one standard error), ``score`` how clearly the grid was seen
    (1: as anywhere in the picture), ``agreed`` how well its sides fit one board (nats a side, 0: as if they were
    anywhere); all 0 where nothing was measured.
    """

    matrix: FloatArray
    size: tuple[int, int]
    bend: float = 0.0
    error_px: float = 0.0
    score: float = 0.0
    agreed: float = 0.0

    @classmethod
    def from_corners(
        cls, corners: FloatArray, width: float, height: float, size: tuple[int, int], bend: float = 0.0
    ) -> Pose:
        """Return the pose of a board of so many units with these corners (4, 2), clockwise from the far left."""
        flat = unbend(np.asarray(corners, np.float64), size, bend)
        board = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
        matrix = cv2.getPerspectiveTransform(board, flat.astype(np.float32)).astype(np.float64)
        return cls(matrix, size, bend)

    def project(self, points: FloatArray) -> FloatArray:
        """Return (n, 2) pixels of (n, 2) points in board units."""
        flat = points @ self.matrix[:, :2].T + self.matrix[:, 2]
        return bent(flat[:, :2] / flat[:, 2:], self.size, self.bend)

    def locate(self, pixels: FloatArray) -> FloatArray:
        """Return (n, 2) board units of (n, 2) pixels."""
        flat = unbend(np.asarray(pixels, np.float64), self.size, self.bend)
        back = flat @ self._inverse[:, :2].T + self._inverse[:, 2]
        located: FloatArray = back[:, :2] / back[:, 2:]
        return located

    @cached_property
    def _inverse(self) -> FloatArray:
        inverse: FloatArray = np.linalg.inv(self.matrix).astype(np.float64)
        return inverse

    def corners(self, width: float, height: float) -> FloatArray:
        """Return (4, 2): the board's corners in pixels, clockwise from the far left."""
        return self.project(np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float64))

    def resized(self, size: tuple[int, int]) -> Pose:
        """Return the same pose in the same picture at another size."""
        x, y = size[0] / self.size[0], size[1] / self.size[1]
        zoom = np.array([[x, 0, 0.5 * x - 0.5], [0, y, 0.5 * y - 0.5], [0, 0, 1]])
        return replace(self, matrix=zoom @ self.matrix, size=size, error_px=self.error_px * (x + y) / 2)

    def moved(self, change: FloatArray) -> Pose:
        """Return the pose after ``change`` (3, 3), which takes board units to board units."""
        matrix = self.matrix @ change
        return replace(self, matrix=matrix / matrix[2, 2])

    @cached_property
    def camera(self) -> tuple[float, float, float]:
        """Return where the camera is, in board units: x, y, and how high above the board.

        Of square pixels whose middle is the picture's (Hartley and Zisserman 2004, 8.8). How far the lens reaches is
        told by the board's perspective, the better the more aslant the camera looks; where it looks straight down, it
        is taken for a usual one, and height is told in the same unknown measure as whatever rises to it.
        """
        middle, half = _frame(self.size)
        flat: FloatArray = (
            np.diag([1 / half, 1 / half, 1.0])
            @ np.array([[1, 0, -middle[0]], [0, 1, -middle[1]], [0, 0, 1]])
            @ self.matrix
        )
        flat /= np.sqrt(np.linalg.norm(flat[:2, 0]) * np.linalg.norm(flat[:2, 1]))
        (ax, ay, az), (bx, by, bz) = flat[:, 0], flat[:, 1]
        # Both axes of the board are square to each other, and of one length: twice wide · (1/focal)² + deep = 0.
        wide = np.array([ax * bx + ay * by, (ax**2 + ay**2 - bx**2 - by**2) / 2])
        deep = np.array([az * bz, (az**2 - bz**2) / 2])
        unit = max(np.linalg.norm(self.matrix[:2, :2]) / np.sqrt(2), 1e-9) / half
        doubt = (max(self.error_px, _LEAST_OFF) / half / unit) ** 2 * _USUAL_LENS**4
        inverse = (doubt / _USUAL_LENS**2 - float(wide @ deep)) / (doubt + float(wide @ wide))
        focal = 1 / np.sqrt(np.clip(inverse, _USUAL_LENS**-2 / 4, _USUAL_LENS**-2 * 4))
        axes = np.diag([1 / focal, 1 / focal, 1.0]) @ flat
        axes /= (np.linalg.norm(axes[:, 0]) + np.linalg.norm(axes[:, 1])) / 2 * np.sign(axes[2, 2])
        turn = np.column_stack([axes[:, 0], axes[:, 1], np.cross(axes[:, 0], axes[:, 1])])
        x, y, z = -np.linalg.solve(turn, axes[:, 2])
        return float(x), float(y), abs(float(z))

    def lifted(self, height: float) -> Pose:
        """Return the pose of what is so many board units above the board: seen from above, it lies on its place."""
        if not height:
            return self
        return self.moved(lifting(self.camera, height))

    def straighten(self, image: ByteArray, side: float, box: tuple[float, float, float, float]) -> ByteArray:
        """Return the board from above, ``side`` pixels a unit, of ``box`` (left, far, right, near) in board units.

        What lies outside the picture repeats the picture's edge.
        """
        left, far, right, near = box
        width, height = max(round((right - left) * side), 1), max(round((near - far) * side), 1)
        # The maps are smooth: computed on every 16th pixel and interpolated, from a step before the first.
        nx, ny = width // _STEP + 3, height // _STEP + 3
        x = left + (np.arange(nx) - 0.5) * (_STEP / side)
        y = far + (np.arange(ny) - 0.5) * (_STEP / side)
        grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        coarse = self.project(grid).reshape(ny, nx, 2).astype(np.float32)
        every: Any = cv2.resize(coarse, (nx * _STEP, ny * _STEP), interpolation=cv2.INTER_LINEAR)
        fine = every[_STEP : _STEP + height, _STEP : _STEP + width]
        second: Any = None
        straight: Any = cv2.remap(image, fine, second, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        seen: ByteArray = straight.astype(np.uint8, copy=False)
        return seen

    def unit_px(self, width: float, height: float) -> float:
        """Return about how many pixels of the picture a board unit is long."""
        corners = self.corners(width, height)
        area = abs(float(cv2.contourArea(corners.astype(np.float32))))
        return float(np.sqrt(area / (width * height)))


def lifting(camera: tuple[float, float, float], height: float) -> FloatArray:
    """Return (3, 3): from what is at a height to where a camera (x, y, height) sees it on the board, in board units."""
    x, y, z = camera
    grown = 1 / (1 - height / z)
    return np.array([[grown, 0, (1 - grown) * x], [0, grown, (1 - grown) * y], [0, 0, 1]])


def bent(points: FloatArray, size: tuple[int, int], bend: float) -> FloatArray:
    """Return pixels as the lens shows them, of unbent pixels (n, 2)."""
    if not bend:
        return points
    middle, half = _frame(size)
    off = (points - middle) / half
    r2 = np.minimum((off**2).sum(axis=1, keepdims=True), 6.0)
    shown: FloatArray = middle + half * off * (1 + bend * r2)
    return shown


def unbend(points: FloatArray, size: tuple[int, int], bend: float) -> FloatArray:
    """Return unbent pixels, of pixels (n, 2) as the lens shows them (fixed-point iteration)."""
    if not bend:
        return points
    middle, half = _frame(size)
    seen = (points - middle) / half
    off = seen.copy()
    for _ in range(15):
        off = seen / (1 + bend * np.minimum((off**2).sum(axis=1, keepdims=True), 6.0))
    unbent: FloatArray = middle + half * off
    return unbent


def _frame(size: tuple[int, int]) -> tuple[FloatArray, float]:
    return np.array([(size[0] - 1) / 2, (size[1] - 1) / 2]), max(size) / 2
