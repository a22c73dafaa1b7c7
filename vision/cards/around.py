"""What a photo shows in a place: how large a card appears there, how it moved, what lies beside it, whole outlines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.cards.blocks import BLOCK, TABLE
from vision.cards.shape import WIDTH
from vision.cards.sheet import find_cards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray

WORK_SIDE: Final = 1600
FEWEST: Final = 3
"""With fewer blocks that fit at all nothing can be moved by them."""


def working(image: ByteArray) -> tuple[ByteArray, FloatArray]:
    """Return a photo at the size that is worked at, and (3, 3) from its pixels to the photo's."""
    scale = min(1.0, WORK_SIDE / max(image.shape[:2]))
    work: Any = image
    if scale < 1:
        work = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return work, np.array([[1 / scale, 0, 0.5 / scale - 0.5], [0, 1 / scale, 0.5 / scale - 0.5], [0, 0, 1.0]])


def outlines_in(work: ByteArray, where: NDArray[np.bool_]) -> list[FloatArray]:
    """Return the outlines of whole cards in parts of a picture, each looked at with some table around it."""
    found = []
    for x, y, wide, high, _ in cv2.connectedComponentsWithStats(where.astype(np.uint8))[2][1:]:
        left, top = max(0, x - WIDTH // 2), max(0, y - WIDTH // 2)
        part = work[top : y + high + WIDTH // 2, left : x + wide + WIDTH // 2]
        found += [quad + np.array([left, top]) for quad in find_cards(part)]
    return found


def size_of(corners: FloatArray) -> float:
    """Return how wide a card appears."""
    return float(np.linalg.norm(corners[1] - corners[0]) + np.linalg.norm(corners[2] - corners[3])) / 2


def beside(work: ByteArray, corners: FloatArray, others: Sequence[FloatArray], table: FloatArray) -> tuple[float, ...]:
    """Return how much of what lies beside each side of a card is neither of the table's shades nor another card.

    ``corners`` (4, 2) are the card's, ``others`` those of the other cards.
    """
    middle, reach = corners.mean(axis=0), 1.5 * np.ptp(corners, axis=0).max()
    outlines = [one.astype(np.float32) for one in others if np.abs(one.mean(axis=0) - middle).max() < reach]
    shares = []
    for side in range(4):
        a, b = corners[side], corners[(side + 1) % 4]
        inward = corners[(side + 2) % 4] - b
        inward /= np.linalg.norm(inward)
        width = float(np.linalg.norm(corners[1] - corners[0]))
        points = [
            a + t * (b - a) - inward * far * width
            for t in np.linspace(0.1, 0.9, 12)
            for far in (0.08, 0.13, 0.18)
        ]  # fmt: skip
        free = [
            point for point in points
            if (point > 4).all() and point[0] < work.shape[1] - 5 and point[1] < work.shape[0] - 5
            and all(cv2.pointPolygonTest(one, (float(point[0]), float(point[1])), True) < -4 for one in outlines)
        ]  # fmt: skip
        if len(free) < 9:
            shares.append(0.0)
            continue
        spots = [work[round(y) - 3 : round(y) + 4, round(x) - 3 : round(x) + 4] for x, y in free]
        linear = (np.stack(spots).reshape(len(free), -1, 3) / 255.0) ** 2.2
        tones = np.log(linear.mean(axis=1) + 0.01)
        off = np.abs(tones[:, [0, 2]] - tones[:, 1:2] - table).max(axis=1)
        shares.append(float((off > TABLE).mean()))
    return tuple(shares)


def moved_by(straight: ByteArray, card: ByteArray, fits: NDArray[np.bool_]) -> FloatArray | None:
    """Return (3, 3): from the card's pixels to the straightened picture's, by what moved in the blocks that fit."""
    if fits.sum() < FEWEST:
        return None
    old: Any
    new: Any
    none: Any = None
    old, new = (cv2.createCLAHE(3.0, (4, 4)).apply(cv2.cvtColor(one, cv2.COLOR_BGR2GRAY)) for one in (card, straight))
    rows, columns = np.nonzero(cv2.dilate(fits.astype(np.uint8), np.ones((3, 3), np.uint8)))
    step = 2 * BLOCK
    points = np.column_stack([columns, rows]).astype(np.float32) * step
    points = np.concatenate([points + np.array([x, y]) for x in (4, 12) for y in (4, 12)]).astype(np.float32)
    there, seen, _ = cv2.calcOpticalFlowPyrLK(old, new, points[:, None], none, winSize=(17, 17), maxLevel=1)
    back, again, _ = cv2.calcOpticalFlowPyrLK(new, old, there, none, winSize=(17, 17), maxLevel=1)
    good = (seen.ravel() > 0) & (again.ravel() > 0) & (np.abs(back[:, 0] - points).max(axis=1) < 0.7)
    good &= np.abs(there[:, 0] - points).max(axis=1) < 9
    if good.sum() < 10:
        return None
    start, end = points[good], there[good, 0]
    # A narrow strip tells no perspective; blocks that look alike by chance lie anywhere.
    if np.ptp(start, axis=0).min() < 0.5 * WIDTH or fits.mean() < 0.5:
        fit, inside = cv2.estimateAffinePartial2D(start, end, method=cv2.RANSAC, ransacReprojThreshold=1.2)
        if fit is None or inside.sum() < 8:
            return None
        return np.vstack([fit, [0, 0, 1]]).astype(float)
    whole, inside = cv2.findHomography(start, end, cv2.RANSAC, 1.2)
    if whole is None or inside.sum() < 10:
        return None
    moved: FloatArray = whole.astype(float)
    return moved
