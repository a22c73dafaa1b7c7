"""The plane of the table, from four square markers of one size that lie anywhere on it.

The markers are laid loosely and not measured, so their places say little about where right angles are. But each is
a square and all are equally large: that alone fixes the plane up to shift, turn and scale (four unknowns: two of
perspective, aspect and shear; sixteen corners). The fit is a Gauss-Newton over these four on the corners' distance
from the nearest squares of one common size.

Plane coordinates are in marker sides: x to the right, y towards the near side, as the camera sees it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

from companion.ports import BadDataError
from vision import messages
from vision.board.pose import unbend

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray

MARGIN: Final = 0.5
"""Of a marker's side: what the straight picture shows around the outermost corners, the quiet zone included."""
LONGEST: Final = 1600
"""Pixels of the straight picture's longer side, at most."""
_STEP: Final = 32
_WORST: Final = 0.12
_FURTHEST: Final = 40.0
_BENDS: Final = (-0.12, -0.08, -0.04, 0.0, 0.04, 0.08)
_EXACT: Final = 0.001
"""Of a marker's side: its corners are not known more exactly, however square they seem."""


class PlaneError(BadDataError):
    """The markers do not lie as four markers on a table do; the message is the sentence."""


@dataclass(frozen=True, slots=True)
class MarkerPlane:
    """Where the table lies in a picture and how it is straightened.

    ``to_plane`` (3, 3) takes the frame's pixels to marker sides, ``to_picture`` (3, 3) to the straight picture's
    pixels, whose ``size`` is (width, height). ``corners`` (4, 2) are its outer corners in the frame, clockwise from
    the far left. ``side_px`` is a marker's side in the straight picture; ``error`` the root mean square distance of the
    corners from squares of one size, in sides.
    """

    to_plane: FloatArray
    to_picture: FloatArray
    size: tuple[int, int]
    corners: FloatArray
    side_px: float
    error: float

    def straighten(self, image: ByteArray) -> ByteArray:
        """Return the straight picture of the table in ``image``, of :attr:`size`; black where the frame ends."""
        straight = cv2.warpPerspective(image, self.to_picture, self.size, flags=cv2.INTER_LINEAR)
        return straight.astype(np.uint8, copy=False)


def fit_plane(quads: Sequence[FloatArray], frame: tuple[int, int]) -> MarkerPlane:
    """Fit the plane to the corners (4, 2) of markers 0, 1, 2, 3 in a frame of (width, height) pixels.

    :raises PlaneError: the markers lie in the wrong order, or not on one plane at one size.
    """
    corners = np.concatenate([np.asarray(quad, np.float64) for quad in quads])
    centres = corners.reshape(4, 4, 2).mean(axis=1)
    _check_order(corners.reshape(4, 4, 2), centres)
    # Pixels are scaled to about one for the numbers' sake.
    middle: FloatArray = corners.mean(axis=0)
    spread = float(np.abs(corners - middle).max())
    normal = np.array([[1 / spread, 0, -middle[0] / spread], [0, 1 / spread, -middle[1] / spread], [0, 0, 1]])
    points = _apply(normal, corners)
    shape, error = _fit_shape(points)
    flat = shape @ normal
    to_plane = _upright(flat, corners) @ flat
    if error > _WORST:
        raise PlaneError(messages.WRONG_SHAPE)
    return _picture(to_plane, corners, frame, error)


def bend_of(quads: Sequence[FloatArray], frame: tuple[int, int]) -> tuple[float, float]:
    """Return how much the lens bends a frame (see :class:`vision.board.pose.Pose`), and the standard error of that.

    It is the bend without which three or four markers, their corners (4, 2) in pixels, are most nearly squares of one
    size. The error is infinite where no bend makes them so.
    """
    corners = np.concatenate([np.asarray(quad, np.float64) for quad in quads])

    def off(bend: float) -> float:
        flat = unbend(corners, frame, bend)
        middle = flat.mean(axis=0)
        error = _fit_shape((flat - middle) / np.abs(flat - middle).max())[1]
        return error * error

    bend = min(_BENDS, key=off)
    curve = 0.0
    for step in (_BENDS[1] - _BENDS[0], 0.01):
        less, here, more = off(bend - step), off(bend), off(bend + step)
        curve = (less - 2 * here + more) / step**2
        if curve <= 0:
            return 0.0, float("inf")
        bend += float(np.clip((less - more) / (2 * step * curve), -step, step))
    error = off(bend)
    if abs(bend) > _BENDS[-1] or error > _WORST**2:
        return 0.0, float("inf")
    # Fitted are where each square is and how it is turned, their size, the plane (four) and the bend.
    many = len(corners)
    scatter = max(error * many / (2 * many - 3 * len(quads) - 6), _EXACT**2)
    return bend, float(np.sqrt(scatter / (0.5 * many * curve)))


def _apply(matrix: FloatArray, points: FloatArray) -> FloatArray:
    moved = points @ matrix[:, :2].T + matrix[:, 2]
    result: FloatArray = moved[:, :2] / moved[:, 2:]
    return result


def _check_order(quads: FloatArray, centres: FloatArray) -> None:
    ahead = np.roll(centres, -1, axis=0) - centres
    turns = ahead[:, 0] * np.roll(ahead, -1, axis=0)[:, 1] - ahead[:, 1] * np.roll(ahead, -1, axis=0)[:, 0]
    if (turns <= 0).any():
        raise PlaneError(messages.WRONG_ORDER)
    sides = np.sqrt(np.abs([cv2.contourArea(quad.astype(np.float32)) for quad in quads]))
    if sides.min() < 4 or sides.max() > 3 * sides.min():
        raise PlaneError(messages.WRONG_SHAPE)


def _shape(parameters: FloatArray) -> FloatArray:
    """Return the homography with the two of perspective first, then aspect and shear."""
    g, h, aspect, shear = parameters
    affine = np.array([[np.exp(aspect), shear, 0], [shear, np.exp(-aspect), 0], [0, 0, 1]])
    shape: FloatArray = affine @ np.array([[1, 0, 0], [0, 1, 0], [g, h, 1]])
    return shape


def _residuals(parameters: FloatArray, points: FloatArray) -> FloatArray:
    """Return (2 n,): how far the corners (n, 2) are from the best squares of one size, in their sides."""
    matrix = _shape(parameters)
    depth = points @ matrix[2, :2] + 1
    if depth.min() < 0.05:
        return np.full(points.size, 10.0)
    quads = _apply(matrix, points).reshape(-1, 4, 2)
    local = quads - quads.mean(axis=1, keepdims=True)
    # The best square of each: one complex number of its size and turn.
    square = np.array([-1 - 1j, 1 - 1j, 1 + 1j, -1 + 1j]) / 2
    drawn = local[..., 0] + 1j * local[..., 1]
    pose = drawn @ square.conj() / (square @ square.conj())
    size = np.abs(pose).mean()
    if size < 1e-9:
        return np.full(points.size, 10.0)
    fitted = size * (pose / np.maximum(np.abs(pose), 1e-12))[:, None] * square[None, :]
    off = ((drawn - fitted) / size).ravel()
    return np.concatenate([off.real, off.imag])


def _fit_shape(points: FloatArray) -> tuple[FloatArray, float]:
    parameters = np.zeros(4)
    residuals = _residuals(parameters, points)
    damping = 1e-3
    for _ in range(30):
        jacobian = np.empty((points.size, 4))
        for k in range(4):
            step = np.zeros(4)
            step[k] = 1e-7
            jacobian[:, k] = (_residuals(parameters + step, points) - residuals) / 1e-7
        normal = jacobian.T @ jacobian
        change = -np.linalg.solve(
            normal + damping * (np.diag(np.diag(normal)) + 1e-12 * np.eye(4)), jacobian.T @ residuals
        )
        tried = _residuals(parameters + change, points)
        if tried @ tried < residuals @ residuals:
            parameters, residuals, damping = parameters + change, tried, damping / 5
            if np.abs(change).max() < 1e-6:
                break
        else:
            damping *= 8
            if damping > 1e6:
                break
    return _shape(parameters), float(np.sqrt(residuals @ residuals / len(points)))


def _upright(flat: FloatArray, corners: FloatArray) -> FloatArray:
    """Return the similarity (3, 3) that turns the plane upright and scales it to marker sides."""
    quads = _apply(flat, corners).reshape(4, 4, 2)
    side = np.linalg.norm(np.roll(quads, -1, axis=1) - quads, axis=2).mean()
    centres = quads.mean(axis=1)
    right = centres[1] - centres[0] + centres[2] - centres[3]
    near = centres[3] - centres[0] + centres[2] - centres[1]
    # Between "right is right" and "near is near", which disagree by as much as the markers lie askew.
    across = right / np.linalg.norm(right) + np.array([near[1], -near[0]]) / np.linalg.norm(near)
    cos, sin = across / np.linalg.norm(across) / side
    return np.array([[cos, sin, 0], [-sin, cos, 0], [0, 0, 1]])


def _picture(to_plane: FloatArray, corners: FloatArray, frame: tuple[int, int], error: float) -> MarkerPlane:
    laid = _apply(to_plane, corners)
    low, high = laid.min(axis=0) - MARGIN, laid.max(axis=0) + MARGIN
    width, height = high - low
    if not np.isfinite(laid).all() or max(width, height) > _FURTHEST:
        raise PlaneError(messages.WRONG_SHAPE)
    back: FloatArray = np.linalg.inv(to_plane).astype(np.float64)
    outer: FloatArray = np.array([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]])
    seen = _apply(back, outer)
    depth = outer @ back[2, :2] + back[2, 2]
    centre_depth = back[2, :2] @ ((low + high) / 2) + back[2, 2]
    if (depth * centre_depth <= 0).any():
        raise PlaneError(messages.WRONG_SHAPE)
    # As large as the table appears in the frame, in steps, so that noise does not change the picture's size.
    apparent = np.linalg.norm(np.roll(seen, -1, axis=0) - seen, axis=1)
    scale = max((apparent[0] + apparent[2]) / 2 / width, (apparent[1] + apparent[3]) / 2 / height)
    longer = max(width, height)
    length = min(max(_STEP * round(float(scale * longer) / _STEP), 4 * _STEP), LONGEST, max(frame))
    side_px = length / longer
    size = (max(8, 8 * round(float(width * side_px) / 8)), max(8, 8 * round(float(height * side_px) / 8)))
    zoom = np.array([[size[0] / width, 0, 0], [0, size[1] / height, 0], [0, 0, 1]])
    shift = np.array([[1, 0, -low[0]], [0, 1, -low[1]], [0, 0, 1]])
    half = np.array([[1, 0, -0.5], [0, 1, -0.5], [0, 0, 1]])
    return MarkerPlane(to_plane, half @ zoom @ shift @ to_plane, size, seen, float(side_px), error)
