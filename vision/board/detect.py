"""Find the board in a picture nobody has pointed at: by the markers beside it, by its lines, or by its outline.

Each way gives a picture in which the grid's lines are about upright and level; there combs of lines are looked for, and
each likely grid is refined in the photo. The one whose lines are seen most clearly is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from companion.ports import BadDataError
from vision import messages
from vision.board.features import colours
from vision.board.fit_grid import Comb, combs, edges_of, grid_score, many_sides, refine
from vision.board.marker_plane import MarkerPlane, PlaneError, fit_plane
from vision.board.markers import IDS, MarkersFound, find_markers
from vision.board.pose import Pose, unbend

if TYPE_CHECKING:
    from collections.abc import Callable

    from companion.ports import ByteArray, FloatArray
    from vision.board.layout import Layout

WORKING: Final = 1280
"""Pixels of the longer side at which boards are looked for."""
CLEAR: Final = 1.5
"""The score from which on a grid is believed; see :func:`vision.board.fit_grid.grid_score`."""


AROUND: Final = 0.75
"""Of a place: how much beside the board is looked at to tell which of its lines is the last."""
COARSE: Final = 10
_WAYS: Final = ((1, 0), (-1, 0), (0, 1), (0, -1))
_ASIDE: Final = 4
_CLOSER: Final = 0.75
_LIKE_AROUND: Final = 0.1


class BoardError(BadDataError):
    """No board, or not enough of it, is in the picture; the message is the sentence."""


@dataclass(frozen=True, slots=True)
class Straight:
    """A picture in which lines run upright and level: ``matrix`` (3, 3) takes the photo's pixels to ``size`` of it.

    ``pitches`` bound the grid's pitch in its pixels, across and down; ``square`` says that places are as wide as high.
    """

    matrix: FloatArray
    size: tuple[int, int]
    pitches: tuple[tuple[float, float], tuple[float, float]]
    square: bool


def shrunk(image: ByteArray, longest: int = WORKING) -> ByteArray:
    """Return the picture no longer than ``longest`` pixels."""
    height, width = image.shape[:2]
    scale = longest / max(height, width)
    if scale >= 1:
        return image
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small: ByteArray = cv2.resize(image, size, interpolation=cv2.INTER_AREA).astype(np.uint8, copy=False)
    return small


def find_by_markers(image: ByteArray, layout: Layout, found: MarkersFound | None = None) -> list[Pose]:
    """Return the grids between the four markers, best first; none where markers are missing.

    :raises BoardError: the markers are doubled, mirrored or not as they should be.
    """
    found = found or find_markers(image)
    if found.mirrored:
        raise BoardError(messages.MIRRORED)
    if found.doubled:
        raise BoardError(messages.DOUBLED)
    if found.missing:
        return []
    try:
        plane = fit_plane([found.corners[n] for n in IDS], (image.shape[1], image.shape[0]))
    except PlaneError as error:
        raise BoardError(str(error)) from error
    clean = _without(image, found)
    return _grids(clean, image, _turned(clean, plane, layout), layout)


def find_by_lines(image: ByteArray, layout: Layout, enough: float = np.inf) -> list[Pose]:
    """Return the grids that the picture's own lines suggest, best first, the picture's bottom being the near side.

    Nothing more is tried once a grid is as clear as ``enough``.
    """
    results: list[Pose] = []
    for straight in _rectifications(image, layout):
        results += _grids(image, image, straight, layout)
        if max((pose.score for pose in results), default=0.0) >= enough:
            break
    results.sort(key=lambda pose: -pose.score)
    return results


def sides_of(coarse: ByteArray) -> FloatArray:
    """Return (4, 3): the usual colours beside the board's four sides, against the board's own brightness.

    ``coarse`` shows :data:`AROUND` beside the board, :data:`COARSE` pixels a place.
    """
    seen = colours(coarse).astype(np.float64)
    rim, skip = round((AROUND - 0.1) * COARSE), max(1, round(0.1 * COARSE))
    inner = 2 * rim
    middle = float(np.median(seen[inner:-inner, inner:-inner, 0])) + 0.02
    sides = (seen[skip:rim, rim:-rim], seen[rim:-rim, -rim:-skip], seen[-rim:-skip, rim:-rim], seen[rim:-rim, skip:rim])
    found = np.stack([np.median(side.reshape(-1, 3), axis=0) for side in sides])
    found[:, 0] = np.log((found[:, 0] + 0.02) / middle) / 2
    return found


def unlike(sides: FloatArray) -> float:
    """Return how unlike each other a board's four sides (4, 3) look; a board lies on one table, in one frame."""
    off = np.linalg.norm(sides - np.median(sides, axis=0), axis=1)
    return float(np.minimum(off, 0.5).sum())


def aligned(image: ByteArray, pose: Pose, layout: Layout, unlikely: Callable[[FloatArray], float]) -> Pose:
    """Return the pose, or one a whole place aside where what lies around the board says so.

    A place aside all lines but one are the same, and the board's own edge may stand where the last line is missing.
    ``unlikely`` says of the four sides (see :func:`sides_of`) how little they can be these.
    """
    box = (-AROUND, -AROUND, layout.width + AROUND, layout.height + AROUND)

    def off_of(tried: Pose) -> float:
        return unlikely(sides_of(tried.straighten(image, COARSE, box)))

    if layout.columns < 4 or layout.rows < 4:
        return pose
    off = off_of(pose)
    for _ in range(_ASIDE):
        ways = [pose.moved(np.array([[1, 0, x], [0, 1, y], [0, 0, 1]], np.float64)) for x, y in _WAYS]
        size, slack = np.array(pose.size), 0.35 * pose.unit_px(layout.width, layout.height)
        inside = [
            way
            for way in ways
            if (way.corners(layout.width, layout.height) > -slack).all()
            and (way.corners(layout.width, layout.height) < size + slack).all()
        ]
        least, moved = min(((off_of(way), way) for way in inside), key=lambda entry: entry[0], default=(np.inf, pose))
        if least > _CLOSER * off or off - least < _LIKE_AROUND:
            break
        moved = refine(image, moved, layout.columns, layout.rows, reach=0.2)
        # All lines but one are the same there: where sides agree less than if two were missing, the board is not.
        line, sides = max(layout.columns, layout.rows), many_sides(layout.columns, layout.rows)
        if moved.agreed < (1 - 2 * line / sides) * pose.agreed:
            break
        pose, off = moved, least
    return pose


def marker_pose(found: MarkersFound, taught: FloatArray, size: tuple[int, int], bend: float) -> Pose | None:
    """Return the pose by markers whose corners (4, 4, 2) were taught in board units; None with fewer than three."""
    seen = [number for number in IDS if number in found.corners]
    if len(seen) < 3:
        return None
    board = np.concatenate([taught[n] for n in seen]).astype(np.float32)
    pixels = np.concatenate([found.corners[n] for n in seen])
    flat = unbend(pixels, size, bend).astype(np.float32)
    matrix, _ = cv2.findHomography(board, flat, 0)
    return None if matrix is None else Pose(np.asarray(matrix, np.float64), size, bend)


def _without(image: ByteArray, found: MarkersFound) -> ByteArray:
    """Return the picture with the markers painted over: their edges are no lines of the board."""
    clean = image.copy()
    for quad in found.corners.values():
        middle = quad.mean(axis=0)
        outline = np.round(middle + (quad - middle) * 1.5).astype(np.int32)
        around = np.round(middle + (quad - middle) * 1.75).astype(np.int32)
        x, y = np.clip(around[:, 0], 0, image.shape[1] - 1), np.clip(around[:, 1], 0, image.shape[0] - 1)
        colour = np.median(image[y, x], axis=0)
        cv2.fillConvexPoly(clean, outline, tuple(float(v) for v in colour))
    return clean


def _turned(image: ByteArray, plane: MarkerPlane, layout: Layout) -> Straight:
    """Return the markers' plane turned so that the board's lines, not the markers, are upright."""
    width, height = plane.size
    straight = plane.straighten(image)
    grey = cv2.GaussianBlur(cv2.cvtColor(straight, cv2.COLOR_BGR2GRAY), (0, 0), 1.2)
    gx, gy = cv2.Scharr(grey, cv2.CV_32F, 1, 0), cv2.Scharr(grey, cv2.CV_32F, 0, 1)
    strength = np.hypot(gx, gy)
    strong = strength > np.quantile(strength, 0.85)
    # Directions modulo a right angle, as degrees from −45 to 45.
    angle = (np.degrees(np.arctan2(gy[strong], gx[strong])) + 45) % 90 - 45
    histogram, _ = np.histogram(angle, bins=180, range=(-45, 45), weights=np.sqrt(strength[strong]))
    smooth = np.convolve(np.concatenate([histogram] * 3), np.hanning(9), "same")[180:360]
    near = np.abs(np.linspace(-44.75, 44.75, 180)) < 20
    turn = float(np.linspace(-44.75, 44.75, 180)[np.where(near, smooth, 0).argmax()])
    around = np.vstack([cv2.getRotationMatrix2D((width / 2, height / 2), turn, 1.0), [0, 0, 1]])
    greatest = min(1.05 * width / layout.columns, 1.15 * height / layout.rows)
    bounds = (0.6 * greatest, greatest)
    return Straight(around @ plane.to_picture, plane.size, (bounds, bounds), True)


def _grids(clean: ByteArray, image: ByteArray, straight: Straight, layout: Layout) -> list[Pose]:
    """Return the refined grids of a straightened picture, best first."""
    flat = cv2.warpPerspective(clean, straight.matrix, straight.size, flags=cv2.INTER_LINEAR)
    inside = cv2.warpPerspective(np.full(clean.shape[:2], 255, np.uint8), straight.matrix, straight.size)
    edges = edges_of(flat.astype(np.uint8, copy=False))
    clear = cv2.erode(inside, np.ones((5, 5), np.uint8)) > 0
    across, down = edges.across * clear, edges.down * clear
    back = np.linalg.inv(straight.matrix)
    size = (image.shape[1], image.shape[0])
    poses: list[Pose] = []
    rows: list[Comb | None] = [None]
    for _ in range(2):
        # Lines are looked for only where the board is thought to be, once its other side is known.
        options = []
        for row in rows:
            low, high = _span(row, layout.rows, down.shape[0])
            for column in combs(across[low:high].mean(axis=0), layout.columns, straight.pitches[0]):
                left, right = _span(column, layout.columns, across.shape[1])
                pitches = (0.92 * column.pitch, 1.08 * column.pitch) if straight.square else straight.pitches[1]
                for other in combs(down[:, left:right].mean(axis=1), layout.rows, pitches, best=2):
                    options.append((column.score + other.score, column, other))
        options.sort(key=lambda option: -option[0])
        rows = [option[2] for option in options[:2]]
    for _, column, row in options[:4]:
        place = np.array([[column.pitch, 0, column.start], [0, row.pitch, row.start], [0, 0, 1]])
        pose = Pose(back @ place, size)
        pose = refine(image, replace(pose, matrix=pose.matrix / pose.matrix[2, 2]), layout.columns, layout.rows)
        if pose.score > 0 and not any(_same(pose, other, layout) for other in poses):
            poses.append(pose)
    poses.sort(key=lambda pose: -pose.score)
    return poses


def _span(comb: Comb | None, teeth: int, length: int) -> tuple[int, int]:
    if comb is None:
        return length // 5, length - length // 5
    low, high = int(comb.start), int(comb.start + teeth * comb.pitch)
    return max(low, 0), min(max(high, low + 8), length)


def _same(one: Pose, other: Pose, layout: Layout) -> bool:
    off = one.corners(layout.width, layout.height) - other.corners(layout.width, layout.height)
    return bool(np.abs(off).max() < 0.2 * one.unit_px(layout.width, layout.height))


def _rectifications(image: ByteArray, layout: Layout) -> list[Straight]:
    """Return likely straightenings: by the vanishing points of the picture's lines, and by large outlines."""
    height, width = image.shape[:2]
    results = []
    for matrix in (*_by_outlines(image), _by_vanishing(image)):
        if matrix is None:
            continue
        outer = np.array([[[0, 0]], [[width, 0]], [[width, height]], [[0, height]]], np.float64)
        seen = cv2.perspectiveTransform(outer, matrix)[:, 0]
        if not np.isfinite(seen).all():
            continue
        low, high = seen.min(axis=0), seen.max(axis=0)
        extent = high - low
        if extent.min() <= 1 or extent.max() / extent.min() > 6:
            continue
        scale = 1000 / extent.max()
        fit = np.array([[scale, 0, -low[0] * scale], [0, scale, -low[1] * scale], [0, 0, 1]])
        size = (max(16, round(extent[0] * scale)), max(16, round(extent[1] * scale)))
        bounds = tuple(
            (0.3 * size[way] / many, 1.0 * size[way] / many) for way, many in enumerate((layout.columns, layout.rows))
        )
        results.append(Straight(fit @ matrix, size, (bounds[0], bounds[1]), False))
    return results


def _by_vanishing(image: ByteArray) -> FloatArray | None:
    """Return the homography (3, 3) that makes the two main bundles of lines upright and level; None without lines."""
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    segments: Any = cv2.createLineSegmentDetector(cv2.LSD_REFINE_STD).detect(cv2.GaussianBlur(grey, (0, 0), 1.0))[0]
    if segments is None:
        return None
    ends = segments.reshape(-1, 4).astype(np.float64)
    along = ends[:, 2:] - ends[:, :2]
    length = np.linalg.norm(along, axis=1)
    keep = np.argsort(-length)[:350]
    keep = keep[length[keep] > 0.02 * max(image.shape[:2])]
    if len(keep) < 8:
        return None
    middle = np.array([image.shape[1] / 2, image.shape[0] / 2])
    spread = max(image.shape[:2]) / 2
    ends, along, length = ends[keep], along[keep], length[keep]
    first = np.column_stack([(ends[:, :2] - middle) / spread, np.ones(len(ends))])
    second = np.column_stack([(ends[:, 2:] - middle) / spread, np.ones(len(ends))])
    lines = np.cross(first, second)
    lines /= np.linalg.norm(lines[:, :2], axis=1, keepdims=True)
    upright = np.abs(along[:, 1]) > np.abs(along[:, 0])
    centres = (first + second) / 2
    direction = along / length[:, None]
    rng = np.random.default_rng(0)
    points = []
    for group in (~upright, upright):
        point = _meeting(lines[group], centres[group], direction[group], length[group], rng)
        if point is None:
            return None
        points.append(point)
    horizon = np.cross(points[0], points[1])
    if abs(horizon[2]) < 1e-9:
        return None
    horizon = horizon / horizon[2]
    perspective = np.array([[1, 0, 0], [0, 1, 0], horizon])
    level, up = (perspective @ point for point in points)
    shape = np.column_stack([level[:2] * np.sign(level[0] or 1), up[:2] * np.sign(up[1] or 1)])
    shape /= np.linalg.norm(shape, axis=0)
    if abs(np.linalg.det(shape)) < 0.3:
        return None
    straight = np.eye(3)
    straight[:2, :2] = np.linalg.inv(shape)
    normal = np.array([[1 / spread, 0, -middle[0] / spread], [0, 1 / spread, -middle[1] / spread], [0, 0, 1]])
    matrix: FloatArray = straight @ perspective @ normal
    return matrix


def _meeting(
    lines: FloatArray, centres: FloatArray, direction: FloatArray, length: FloatArray, rng: np.random.Generator
) -> FloatArray | None:
    """Return where most of the lines (n, 3) meet, a homogeneous point (3,), by random pairs."""
    if len(lines) < 4:
        return None
    weight = np.sqrt(length)
    best, best_votes = None, 0.0
    pairs = rng.integers(0, len(lines), (160, 2))
    for i, j in pairs:
        point = np.cross(lines[i], lines[j])
        norm = np.linalg.norm(point)
        if norm < 1e-9:
            continue
        votes = float((weight * (_off(point / norm, centres, direction) < 0.02)).sum())
        if votes > best_votes:
            best, best_votes = point / norm, votes
    if best is None:
        return None
    for _ in range(4):
        off = _off(best, centres, direction)
        w = weight / (1 + (off / 0.012) ** 2) ** 2
        # The point nearest to all lines, each counted by its length.
        scatter = (lines * w[:, None]).T @ lines
        best = np.linalg.eigh(scatter)[1][:, 0]
    # A meeting point inside the picture is none of parallel lines.
    return best if abs(best[2]) * 1.6 < np.hypot(best[0], best[1]) else None


def _off(point: FloatArray, centres: FloatArray, direction: FloatArray) -> FloatArray:
    """Return the sine of the angle between each line and the way from its middle to the point."""
    way = point[:2] - centres[:, :2] * point[2]
    way /= np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-12)
    off: FloatArray = np.abs(way[:, 0] * direction[:, 1] - way[:, 1] * direction[:, 0])
    return off


def _by_outlines(image: ByteArray) -> list[FloatArray]:
    """Return homographies (3, 3) that straighten the largest four-sided outlines in the picture."""
    small = shrunk(image, 640)
    scale = image.shape[1] / small.shape[1]
    area = small.shape[0] * small.shape[1]
    lab = cv2.cvtColor(small, cv2.COLOR_BGR2LAB)
    rim = np.concatenate(
        [lab[:8].reshape(-1, 3), lab[-8:].reshape(-1, 3), lab[:, :8].reshape(-1, 3), lab[:, -8:].reshape(-1, 3)]
    )
    distance = np.linalg.norm(lab.astype(np.float32) - np.median(rim, axis=0).astype(np.float32), axis=2)
    level, _ = cv2.threshold(np.clip(distance, 0, 255).astype(np.uint8), 0, 255, cv2.THRESH_OTSU)
    edges = cv2.dilate(cv2.Canny(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY), 40, 120), np.ones((3, 3), np.uint8))
    results: list[tuple[float, FloatArray]] = []
    for mask in ((distance > level).astype(np.uint8) * 255, edges):
        closed = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((7, 7), np.uint8))
        outlines, _ = cv2.findContours(closed, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        for outline in sorted(outlines, key=cv2.contourArea, reverse=True)[:2]:
            hull = cv2.convexHull(outline)
            if cv2.contourArea(hull) < 0.12 * area:
                continue
            for tolerance in (0.02, 0.04, 0.07):
                quad = cv2.approxPolyDP(hull, tolerance * cv2.arcLength(hull, True), True)
                if len(quad) == 4:
                    results.append(
                        (float(cv2.contourArea(quad)), _upright_quad(quad.reshape(4, 2).astype(np.float64) * scale))
                    )
                    break
    matrices: list[FloatArray] = []
    for _, corners in sorted(results, key=lambda result: -result[0])[:2]:
        wide = np.linalg.norm(corners[1] - corners[0]) + np.linalg.norm(corners[2] - corners[3])
        high = np.linalg.norm(corners[3] - corners[0]) + np.linalg.norm(corners[2] - corners[1])
        target = np.array([[0, 0], [wide, 0], [wide, high], [0, high]], np.float32) / 2
        matrices.append(cv2.getPerspectiveTransform(corners.astype(np.float32), target).astype(np.float64))
    return matrices


def _upright_quad(corners: FloatArray) -> FloatArray:
    """Return corners (4, 2) clockwise, beginning with the far left one."""
    middle = corners.mean(axis=0)
    order = np.argsort(np.arctan2(corners[:, 1] - middle[1], corners[:, 0] - middle[0]))
    corners = corners[order]
    ahead = np.roll(corners, -1, axis=0) - corners
    first = int(np.argmax(ahead[:, 0] / np.linalg.norm(ahead, axis=1)))
    return np.roll(corners, -first, axis=0)


def best_grid(image: ByteArray, layout: Layout, poses: list[Pose]) -> Pose | None:
    """Return the pose whose grid is seen most clearly, None where none is clear."""
    scored = [replace(pose, score=pose.score or grid_score(image, pose, layout.columns, layout.rows)) for pose in poses]
    best = max(scored, key=lambda pose: pose.score, default=None)
    return best if best is not None and best.score >= CLEAR else None
