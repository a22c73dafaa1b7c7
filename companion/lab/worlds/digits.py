"""Digits drawn in OpenCV's own fonts and in strokes that are bent anew each time, so no font file is needed."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray

MASTER: Final = 96
"""Pixels of a drawn digit's picture, across."""
_STROKES: Final[dict[int, list[list[list[tuple[float, float]]]]]] = {
    0: [[[(0, -1), (0.6, -0.6), (0.65, 0.5), (0, 1), (-0.65, 0.5), (-0.6, -0.6), (0, -1)]]],
    1: [
        [[(-0.4, -0.6), (0.1, -1), (0.1, 1)]],
        [[(0, -1), (0, 1)]],
        [[(-0.4, -0.6), (0.1, -1), (0.1, 1)], [(-0.4, 1), (0.6, 1)]],
    ],
    2: [
        [[(-0.6, -0.55), (-0.2, -1), (0.4, -0.9), (0.6, -0.45), (0.2, 0.1), (-0.6, 1), (0.65, 1)]],
        [[(-0.6, -0.9), (0.5, -0.9), (0.5, 0), (-0.5, 0), (-0.5, 1), (0.6, 1)]],
    ],
    3: [
        [[(-0.55, -0.8), (0.1, -1), (0.55, -0.6), (0, -0.05), (0.6, 0.45), (0.1, 1), (-0.6, 0.75)]],
        [[(-0.55, -1), (0.55, -1), (-0.05, -0.2), (0.55, 0.35), (0.2, 1), (-0.55, 0.85)]],
    ],
    4: [
        [[(0.3, 1), (0.3, -1), (-0.65, 0.4), (0.65, 0.4)]],
        [[(-0.5, -1), (-0.5, 0.1), (0.6, 0.1)], [(0.3, -0.5), (0.3, 1)]],
    ],
    5: [[[(0.55, -1), (-0.45, -1), (-0.5, -0.1), (0.15, -0.2), (0.6, 0.3), (0.2, 0.95), (-0.55, 0.85)]]],
    6: [[[(0.4, -1), (-0.3, -0.4), (-0.6, 0.4), (0, 1), (0.6, 0.5), (0.1, 0), (-0.5, 0.3)]]],
    7: [
        [[(-0.6, -1), (0.6, -1), (-0.1, 1)]],
        [[(-0.6, -1), (0.6, -1), (-0.1, 1)], [(-0.3, 0), (0.4, 0)]],
    ],
    8: [
        [
            [
                (0, -0.05),
                (0.5, -0.5),
                (0, -1),
                (-0.5, -0.5),
                (0, -0.05),
                (0.6, 0.5),
                (0, 1),
                (-0.6, 0.5),
                (0, -0.05),
            ]
        ]
    ],
    9: [[[(0.5, -0.3), (-0.1, 0), (-0.6, -0.5), (0, -1), (0.6, -0.4), (0.3, 0.4), (-0.4, 1)]]],
}
_HERSHEY: Final = (
    cv2.FONT_HERSHEY_SIMPLEX,
    cv2.FONT_HERSHEY_PLAIN,
    cv2.FONT_HERSHEY_DUPLEX,
    cv2.FONT_HERSHEY_COMPLEX,
    cv2.FONT_HERSHEY_TRIPLEX,
    cv2.FONT_HERSHEY_COMPLEX_SMALL,
    cv2.FONT_HERSHEY_SCRIPT_SIMPLEX,
    cv2.FONT_HERSHEY_SCRIPT_COMPLEX,
)


def draw_digit(digit: int, rng: np.random.Generator) -> ByteArray:
    """Return (96, 96): a digit about its middle, white on black, as high as half the picture."""
    way = rng.random()
    if way < 0.35:
        return _stroked(digit, rng)
    if way < 0.7:
        return _in_font(digit, int(rng.integers(len(_HERSHEY))), int(rng.integers(2, 9)), bool(rng.random() < 0.2))
    return _in_face(digit, ("sans", "italic", "uni")[int(rng.integers(3))], int(rng.integers(3, 10)) * 100)


def _stroked(digit: int, rng: np.random.Generator) -> ByteArray:
    canvas = np.zeros((MASTER, MASTER), np.uint8)
    shapes = _STROKES[digit]
    bent = rng.normal(0, 0.06, 2)
    thick = int(rng.integers(5, 14))
    for stroke in shapes[int(rng.integers(len(shapes)))]:
        points = np.array(stroke, np.float64) + rng.normal(0, 0.07, (len(stroke), 2))
        if rng.random() < 0.7 and len(points) > 3:
            points = _rounded(points)
        points[:, 0] = points[:, 0] * rng.uniform(0.75, 1.15) + bent[0] * points[:, 1]
        at = np.round(points * 24 + MASTER / 2).astype(np.int32)
        cv2.polylines(canvas, [at], False, 255, thick, cv2.LINE_AA)
    return canvas


def _rounded(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a stroke with its corners cut twice (Chaikin)."""
    for _ in range(2):
        cut = np.empty((2 * len(points) - 2, 2))
        cut[0::2] = 0.75 * points[:-1] + 0.25 * points[1:]
        cut[1::2] = 0.25 * points[:-1] + 0.75 * points[1:]
        points = np.concatenate([points[:1], cut, points[-1:]])
    return points


@lru_cache(maxsize=2000)
def _in_font(digit: int, font: int, thick: int, italic: bool) -> ByteArray:
    face = _HERSHEY[font] | (cv2.FONT_ITALIC if italic else 0)
    canvas = np.zeros((MASTER, MASTER), np.uint8)
    scale = cv2.getFontScaleFromHeight(face, 46, 1)
    (wide, high), _ = cv2.getTextSize(str(digit), face, scale, thick)
    at = ((MASTER - wide) // 2, (MASTER + high) // 2)
    cv2.putText(canvas, str(digit), at, face, scale, 255, thick, cv2.LINE_AA)
    return canvas


@lru_cache(maxsize=2000)
def _in_face(digit: int, name: str, weight: int) -> ByteArray:
    canvas = np.zeros((MASTER, MASTER, 3), np.uint8)
    face: Any = cv2.FontFace(name)
    box = cv2.getTextSize((MASTER, MASTER), str(digit), (0, 0), face, 62, weight)
    x, y, wide, high = box
    at = ((MASTER - wide) // 2 - x, (MASTER - high) // 2 - y)
    cv2.putText(canvas, str(digit), at, (255, 255, 255), face, 62, weight)
    drawn: ByteArray = np.ascontiguousarray(canvas[..., 0])
    return drawn
