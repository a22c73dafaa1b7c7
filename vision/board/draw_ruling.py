"""A ruling drawn over the photo it is of: places that cannot be so are crossed, those that can are ticked.

No word is drawn: the page and the terminal say it in the reader's language. Nothing is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

if TYPE_CHECKING:
    from companion.ports import ByteArray
    from vision.board.layout import Layout, Place
    from vision.board.pose import Pose

WRONG: Final = (30, 30, 200)
RIGHT: Final = (80, 140, 0)
RIM: Final = (255, 255, 255)


def draw_ruling(
    image: ByteArray, pose: Pose, layout: Layout, *, wrong: Iterable[str] = (), right: Iterable[str] = ()
) -> ByteArray:
    """Return the photo (BGR) with the places ``wrong`` dashed and crossed, and ``right`` framed and ticked."""
    drawn = image.copy()
    thick = max(2, round(max(image.shape[:2]) / 320))
    for names, ink, cross in ((right, RIGHT, False), (wrong, WRONG, True)):
        for name in names:
            if name in layout.index:
                _mark(drawn, pose, layout.places[layout.index[name]], ink, thick, cross=cross)
    return drawn


def _mark(drawn: ByteArray, pose: Pose, place: Place, ink: tuple[int, int, int], thick: int, *, cross: bool) -> None:
    w, h = 0.46 * place.width, 0.46 * place.height
    middle = np.array([place.x, place.y])
    corners = np.array([[-w, -h], [w, -h], [w, h], [-w, h]]) + middle
    steps = np.linspace(0, 1, 9)[:, None]
    sides = [corners[k] + steps * (corners[(k + 1) % 4] - corners[k]) for k in range(4)]
    dashes = [side[n : n + 2] for side in sides for n in range(0, 8, 2)] if cross else sides
    if cross:
        signs = [np.array([[-w, -h], [w, h]]) * 0.6, np.array([[w, -h], [-w, h]]) * 0.6]
    else:
        signs = [np.array([[-0.45 * w, 0.1 * h], [-0.1 * w, 0.5 * h], [0.55 * w, -0.45 * h]])]
    strokes = [*dashes, *(sign + middle for sign in signs)]
    points = [np.round(pose.project(stroke)).astype(np.int32) for stroke in strokes]
    for colour, width in ((RIM, 2 * thick + 1), (ink, thick)):
        cv2.polylines(drawn, points, False, colour, width, cv2.LINE_AA)
