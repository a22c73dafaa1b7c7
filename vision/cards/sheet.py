"""Cards laid out singly on a table: their outlines in a photo, row by row.

What the table's own surface reaches from the picture's edge without crossing a line is table; every other region with
four straight sides, of the size that most of them have, is a card. Several thresholds of what a line is are tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.cards.plane import fit_plane
from vision.cards.shape import WIDTH, corners_of, tall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray

WORK_SIDE: Final = 1200
"""The longest side of the picture in which outlines are looked for, to a fraction of a pixel."""
_THRESHOLDS: Final = (40, 80, 140, 240, 400)
_WIDTHS: Final = (3, 5)
"""How wide a line is drawn, so that small gaps in it close."""
_GOES_ON: Final = 4
"""How many cards in a row may be looked for beside those that were found."""
_CLEAR: Final = 16.0
"""How steep the sides of a card are at least that is looked for where the rows go on."""
_OFF: Final = 3.0
"""An outline that is so many times as far off as most are does not follow the card."""
_SMALLEST: Final = 0.0012
_LARGEST: Final = 0.5
"""A card's share of the picture."""


def find_cards(image: ByteArray) -> list[FloatArray]:
    """Return the outlines (4, 2) of cards that lie singly, in pixels, clockwise from each one's upper left corner.

    They come row by row from the top, each row from the left, as the cards themselves lie.
    """
    scale = min(1.0, WORK_SIDE / max(image.shape[:2]))
    small: Any = image
    if scale < 1:
        small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    across, down = _slopes(small)
    tried = [_regions(across, down, threshold, width) for threshold in _THRESHOLDS for width in _WIDTHS]
    best = [_upright(quad) for quad in _best(tried)]
    strength = np.abs(across.astype(np.float32)) + np.abs(down.astype(np.float32))
    for _ in range(_GOES_ON):
        more = [quad for quad in _alike([*best, *_missed(best, strength)]) if not _among(quad, best)]
        if not more:
            break
        best += more
    best = _equally_large(best, strength)
    return [(quad + 0.5) / scale - 0.5 for quad in in_rows(best)]


def _best(tried: Sequence[Sequence[FloatArray]]) -> list[FloatArray]:
    """Return the cards that any threshold found, of each the largest outline that is of the usual size."""
    quads = _alike([quad for found in tried for quad in found])
    quads.sort(key=lambda quad: -cv2.contourArea(quad.astype(np.float32)))
    kept: list[FloatArray] = []
    for quad in quads:
        middle = tuple(float(v) for v in quad.mean(axis=0))
        if all(cv2.pointPolygonTest(other.astype(np.float32), middle, False) < 0 for other in kept):
            kept.append(quad)
    return kept


def _equally_large(quads: list[FloatArray], strength: NDArray[np.float32]) -> list[FloatArray]:
    """Return outlines of which those that are not as large as cards are on this table were laid anew.

    Where a lamp gleams, an outline follows a card's printed frame, all around or on some sides; most do not.
    """
    if not quads:
        return quads
    height = round(WIDTH * float(np.median([tall(quad) for quad in quads])))
    own = corners_of(height)
    plane = fit_plane([(own, quad) for quad in quads], height, (strength.shape[1], strength.shape[0]))
    if plane is None:
        return quads

    def laid(quad: FloatArray, some: Sequence[int]) -> FloatArray:
        pose = plane.pose(own[list(some)], quad[list(some)])
        return np.asarray(cv2.perspectiveTransform(own[None], plane.to(pose))[0], float)

    def clear(quad: FloatArray) -> float:
        return sum(min(_steep(a, b, strength), _CLEAR) for a, b in zip(quad, np.roll(quad, -1, axis=0), strict=True))

    every = range(4)
    off = np.array([np.linalg.norm(laid(quad, every) - quad, axis=1).max() for quad in quads])
    kept = []
    for quad, far in zip(quads, off, strict=True):
        if far <= _OFF * np.median(off):
            kept.append(quad)
            continue
        # By all of its corners, or by the two of a side, whichever lies on lines.
        tried = [laid(quad, every), *(laid(quad, (k, (k + 1) % 4)) for k in every)]
        kept.append(max(tried, key=clear))
    return kept


def _steep(a: FloatArray, b: FloatArray, strength: NDArray[np.float32]) -> float:
    """Return how steep a picture is along a line, as a median."""
    across = np.array([a[1] - b[1], b[0] - a[0]]) / max(float(np.linalg.norm(b - a)), 1e-9)
    points = (a + np.linspace(0.12, 0.88, 24)[:, None] * (b - a))[:, None] + np.arange(-1.5, 2)[:, None] * across
    at = points.astype(np.float32)
    seen = cv2.remap(strength, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
    return float(np.median(seen.max(axis=1)))


def _missed(quads: Sequence[FloatArray], strength: NDArray[np.float32]) -> list[FloatArray]:
    """Return cards where the rows go on, of which at least three sides are seen when they are looked for there."""
    found: list[FloatArray] = []
    middles = np.array([quad.mean(axis=0) for quad in quads])
    for axis in (0, 1):
        steps = _steps(quads, middles, axis)
        if steps is None:
            continue
        for quad in quads:
            sides = _sides(quad)
            for sign in (1, -1):
                guess = quad + sign * (sides @ steps)
                if _among(guess, [*quads, *found]):
                    continue
                seen = _looked_for(guess, strength)
                if seen is not None and not _among(seen, [*quads, *found]):
                    found.append(seen)
    return found


def _among(quad: FloatArray, others: Sequence[FloatArray]) -> bool:
    """Tell whether an outline lies on one of the others, with its middle or a corner."""
    middle = quad.mean(axis=0)
    points = [middle, *(middle + 0.85 * (quad - middle))]
    return any(
        cv2.pointPolygonTest(other.astype(np.float32), (float(x), float(y)), False) >= 0
        for other in others
        for x, y in points
    )


def _sides(quad: FloatArray) -> FloatArray:
    """Return (2, 2): columns are a card's own way to the right and down, in pixels."""
    return np.column_stack([quad[1] + quad[2] - quad[0] - quad[3], quad[2] + quad[3] - quad[0] - quad[1]]) / 2


def _steps(quads: Sequence[FloatArray], middles: FloatArray, axis: int) -> FloatArray | None:
    """Return how far the next card lies along one axis, in cards; None where none lies beside another."""
    found = []
    for quad, middle in zip(quads, middles, strict=True):
        beside = (middles - middle) @ np.linalg.inv(_sides(quad)).T
        near = (beside[:, axis] > 0.8) & (beside[:, axis] < 1.6) & (np.abs(beside[:, 1 - axis]) < 0.3)
        found += list(beside[near])
    return np.median(found, axis=0) if found else None


def _looked_for(guess: FloatArray, strength: NDArray[np.float32]) -> FloatArray | None:
    """Return the outline near a guess, or None where fewer than three of its sides are lines."""
    high, wide = strength.shape
    if guess.min() < 0 or (guess.max(axis=0) >= [wide, high]).any():
        return None
    reach = 0.07 * float(np.linalg.norm(guess[1] - guess[0]))
    offsets = np.arange(-reach, reach + 0.5, 0.5)
    t = np.linspace(0.12, 0.88, 24)[:, None]
    lines, clear = [], 0
    for a, b in zip(guess, np.roll(guess, -1, axis=0), strict=True):
        along = (b - a) / max(float(np.linalg.norm(b - a)), 1e-9)
        across = np.array([-along[1], along[0]])
        points = (a + t * (b - a))[:, None] + offsets[:, None] * across
        seen = cv2.remap(
            strength, points[..., 0].astype(np.float32), points[..., 1].astype(np.float32), cv2.INTER_LINEAR
        )
        best = seen.argmax(axis=1)
        rows = np.arange(len(best))
        vx, vy, x, y = cv2.fitLine(points[rows, best].astype(np.float32), cv2.DIST_HUBER, 0, 0.01, 0.01).ravel()
        off = np.abs((points[rows, best] - [x, y]) @ np.array([-vy, vx]))
        near = off < 2.0
        if near.mean() > 0.6 and np.median(seen[rows, best][near]) > _CLEAR:
            clear += 1
            lines.append(np.cross([x, y, 1.0], [x + vx, y + vy, 1.0]))
        else:
            lines.append(np.cross([*a, 1.0], [*b, 1.0]))
    return _meeting(lines) if clear >= 3 else None


def _slopes(image: ByteArray) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Return how steep the steepest of the three colours is, across and down."""
    smooth = cv2.GaussianBlur(image, (0, 0), 1.0)
    lab = cv2.cvtColor(smooth, cv2.COLOR_BGR2Lab)
    across, down = cv2.Sobel(lab, cv2.CV_16S, 1, 0), cv2.Sobel(lab, cv2.CV_16S, 0, 1)
    steepest = (np.abs(across) + np.abs(down)).argmax(axis=2)[..., None]
    return tuple(np.take_along_axis(part, steepest, axis=2)[..., 0] for part in (across, down))  # type: ignore[return-value]


def _regions(across: NDArray[np.int16], down: NDArray[np.int16], threshold: int, width: int) -> list[FloatArray]:
    """Return the four-sided regions that the table does not reach."""
    line = cv2.Canny(across, down, threshold / 2, threshold)
    kernel = cv2.getStructuringElement(cv2.MORPH_RECT, (width, width))
    wall = cv2.dilate(line, kernel)
    # A rim of table all around joins what lines that run out of the picture cut apart.
    wall = cv2.copyMakeBorder(wall, 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=0)
    cv2.floodFill(wall, None, (0, 0), (2.0,))
    solid = cv2.erode((wall[1:-1, 1:-1] != 2).astype(np.uint8), kernel)
    solid = cv2.morphologyEx(solid, cv2.MORPH_OPEN, np.ones((7, 7), np.uint8))
    outlines, _ = cv2.findContours(solid, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    found = []
    for outline in outlines:
        quad = _four_sides(outline[:, 0].astype(float), solid.size)
        if quad is not None:
            found.append(quad)
    return found


def _four_sides(outline: FloatArray, picture: int) -> FloatArray | None:
    """Return the corners of an outline that has four straight sides, or None."""
    points = outline.astype(np.float32)
    hull = cv2.convexHull(points)
    area = cv2.contourArea(hull)
    if not _SMALLEST * picture < area < _LARGEST * picture or cv2.contourArea(points) < 0.8 * area:
        return None
    around = cv2.arcLength(hull, True)
    for part in (0.02, 0.03, 0.045, 0.06, 0.08):
        corners = cv2.approxPolyDP(hull, part * around, True)
        if len(corners) <= 4:
            break
    if len(corners) != 4:
        return None
    quad = _refined(outline, corners[:, 0].astype(float))
    if quad is None or not 0.93 < cv2.contourArea(quad.astype(np.float32)) / area < 1.08:
        return None
    sides = np.linalg.norm(np.roll(quad, -1, axis=0) - quad, axis=1)
    if max(sides[0] / sides[2], sides[2] / sides[0], sides[1] / sides[3], sides[3] / sides[1]) > 1.4:
        return None
    return quad


def _refined(outline: FloatArray, quad: FloatArray) -> FloatArray | None:
    """Return the corners where straight lines through the outline's sides meet."""
    lines = []
    for a, b in zip(quad, np.roll(quad, -1, axis=0), strict=True):
        along = (b - a) / max(np.linalg.norm(b - a), 1e-9)
        t = (outline - a) @ along / max(np.linalg.norm(b - a), 1e-9)
        off = np.abs((outline - a) @ np.array([-along[1], along[0]]))
        near = outline[(t > 0.12) & (t < 0.88) & (off < 6)]
        if len(near) < 8:
            return None
        vx, vy, x, y = cv2.fitLine(near.astype(np.float32), cv2.DIST_HUBER, 0, 0.01, 0.01).ravel()
        lines.append(np.cross([x, y, 1.0], [x + vx, y + vy, 1.0]))
    return _meeting(lines)


def _meeting(lines: Sequence[FloatArray]) -> FloatArray | None:
    """Return where each line meets the one before it."""
    corners = []
    for before, after in zip(np.roll(lines, 1, axis=0), lines, strict=True):
        meet = np.cross(before, after)
        if abs(meet[2]) < 1e-9:
            return None
        corners.append(meet[:2] / meet[2])
    return np.array(corners)


def _alike(quads: Sequence[FloatArray]) -> list[FloatArray]:
    """Return those of the size and shape that most of them have; perspective makes near ones larger."""
    if len(quads) < 3:
        return list(quads)
    areas = np.array([cv2.contourArea(quad.astype(np.float32)) for quad in quads])
    # Parts of cards are alike too: of two sizes with as many, the larger is that of the cards.
    support = [(np.abs(np.log(areas / area)) < 0.4).sum() * area for area in areas]
    usual = areas[int(np.argmax(support))]
    like = [int(i) for i in np.flatnonzero(np.abs(np.log(areas / usual)) < 0.5)]
    if len(like) < 5:
        return [quads[i] for i in like]
    # How large a card looks where it lies, and how slender, from those that agree about it.
    shapes = np.array([_log_shape(quads[i]) for i in like])
    at = np.array([[*quads[i].mean(axis=0), 1.0] for i in like])
    good = np.ones(len(like), bool)
    for _ in range(4):
        fit = np.linalg.lstsq(at[good], shapes[good], rcond=None)[0]
        fit[2, 1] += np.median(shapes[good, 1] - at[good] @ fit[:, 1])
        off = np.abs(shapes - at @ fit)
        limits = np.maximum(3.0 * np.median(off[good], axis=0), (0.12, 0.08))
        good = (off < limits).all(axis=1)
        if good.sum() < 4:
            return [quads[i] for i in like]
    return [quads[i] for i, fits in zip(like, good, strict=True) if fits]


def _log_shape(quad: FloatArray) -> tuple[float, float]:
    """Return the logarithms of an outline's area and of its width by its height."""
    sides = np.linalg.norm(np.roll(_upright(quad), -1, axis=0) - _upright(quad), axis=1)
    area = float(cv2.contourArea(quad.astype(np.float32)))
    return float(np.log(area)), float(np.log((sides[0] + sides[2]) / (sides[1] + sides[3])))


def _upright(quad: FloatArray) -> FloatArray:
    """Return the corners clockwise as seen, the upper left one first."""
    if cv2.contourArea(quad.astype(np.float32), True) < 0:
        quad = quad[::-1]
    middle = quad.mean(axis=0)
    tops = [float((np.roll(quad, -k, axis=0)[:2].mean(axis=0) - middle)[1]) for k in range(4)]
    return np.roll(quad, -int(np.argmin(tops)), axis=0)


def in_rows(quads: Sequence[FloatArray]) -> list[FloatArray]:
    """Return upright outlines row by row: who lies beside whom is told by each card's own sides, so rows may lean."""
    if not quads:
        return []
    middles = np.array([quad.mean(axis=0) for quad in quads])
    right = np.array([(quad[1] + quad[2] - quad[0] - quad[3]) / 2 for quad in quads])
    down = np.array([(quad[2] + quad[3] - quad[0] - quad[1]) / 2 for quad in quads])
    group = list(range(len(quads)))

    def root(i: int) -> int:
        while group[i] != i:
            i = group[i]
        return i

    for i in range(len(quads)):
        own = np.linalg.inv(np.column_stack([right[i], down[i]]))
        beside = (middles - middles[i]) @ own.T
        for j in np.flatnonzero((np.abs(beside[:, 1]) < 0.5) & (np.abs(beside[:, 0]) < 2.7)):
            group[root(int(j))] = root(i)
    across, along = right.mean(axis=0), down.mean(axis=0)
    rows: dict[int, list[int]] = {}
    for i in range(len(quads)):
        rows.setdefault(root(i), []).append(i)
    order = sorted(rows.values(), key=lambda row: float(np.mean(middles[row] @ along)))
    return [quads[i] for row in order for i in sorted(row, key=lambda i: float(middles[i] @ across))]
