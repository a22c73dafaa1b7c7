"""Find the four printed markers, to a fraction of a pixel, and straighten the table between them.

The markers are ArUco's DICT_4X4_50, ids 0, 1, 2, 3 clockwise from the far left as the camera sees the table. They are
searched in a small copy of the picture and, where some are missing, in larger ones. Corners are then refined in
the full picture: along each edge of the black square, profiles across the edge are read *in linear light*, the
half-way crossing of each is taken, and a line is fitted to the crossings; a corner is where two lines meet. On
gamma-coded values the half-way crossing lies too far inside the black, which costs 0.5 to 1 pixel on a blurred
picture; in linear light a symmetric blur does not move it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

from companion.ports import TableView
from vision import messages
from vision.board.marker_plane import MarkerPlane, PlaneError, fit_plane

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray

IDS: Final = (0, 1, 2, 3)
MODULES: Final = 6
"""A 4×4 marker is six modules wide with its black border."""

_FIRST_LOOK = 640
_LONGEST_LOOK = 2600
_SMALLEST_SIDE = 14.0
_PROFILES = 24
_STEPS = 33

# sRGB's curve (IEC 61966-2-1), which cameras follow closely enough for a half-way crossing.
_CODED = np.arange(256) / 255.0
_LINEAR: Final = np.where(_CODED <= 0.04045, _CODED / 12.92, ((_CODED + 0.055) / 1.055) ** 2.4).astype(np.float32)


@dataclass(frozen=True, slots=True)
class MarkersFound:
    """The markers in one picture: ``corners`` maps an id to (4, 2) pixels, clockwise from the print's own top left.

    ``doubled`` are ids seen more than once (not in ``corners``), ``mirrored`` says that only the mirrored picture
    shows markers.
    """

    corners: Mapping[int, FloatArray]
    doubled: tuple[int, ...] = ()
    mirrored: bool = False

    @property
    def missing(self) -> tuple[int, ...]:
        """Return the ids not found, or found twice."""
        return tuple(number for number in IDS if number not in self.corners)


def find_markers(image: ByteArray) -> MarkersFound:
    """Find markers 0…3 in a BGR or grey uint8 picture; pixel centres lie at whole numbers."""
    grey: ByteArray = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY).astype(np.uint8, copy=False) if image.ndim == 3 else image
    best = MarkersFound({})
    longest = max(grey.shape)
    length = min(_FIRST_LOOK, longest)
    while True:
        small, scale = _shrunk(grey, length)
        found = _detect(small, scale)
        if len(found.corners) + len(found.doubled) > len(best.corners) + len(best.doubled):
            best = found
        if len(best.corners) == len(IDS) or length >= min(longest, _LONGEST_LOOK):
            break
        length = min(2 * length, longest, _LONGEST_LOOK)
    if not best.corners and not best.doubled:
        small, scale = _shrunk(np.ascontiguousarray(grey[:, ::-1]), min(_LONGEST_LOOK // 2, longest))
        seen = _detect(small, scale)
        return MarkersFound({}, mirrored=len(seen.corners) >= 2)
    return MarkersFound({n: refine(grey, corners) for n, corners in best.corners.items()}, best.doubled)


def find_table(image: ByteArray) -> TableView:
    """Find the markers and straighten the table; the view's ``note`` says in one sentence how it went."""
    found = find_markers(image)
    return view_of(image, found, plane_of(found, image))


def plane_of(found: MarkersFound, image: ByteArray) -> MarkerPlane | str:
    """Return the table's plane as the markers lie, or the sentence that says why there is none."""
    if found.mirrored:
        return messages.MIRRORED
    if found.doubled:
        return messages.DOUBLED
    if not found.corners:
        return messages.NO_MARKERS
    if found.missing:
        return messages.SOME_MISSING
    try:
        return fit_plane([found.corners[n] for n in IDS], (image.shape[1], image.shape[0]))
    except PlaneError as error:
        return str(error)


def view_of(image: ByteArray, found: MarkersFound, plane: MarkerPlane | str) -> TableView:
    """Return the straightened table, or a view that says in its ``note`` why there is none."""
    markers = {n: tuple((float(x), float(y)) for x, y in corners) for n, corners in sorted(found.corners.items())}
    if isinstance(plane, str):
        return TableView(markers, found.missing, note=plane)
    corners = tuple((float(x), float(y)) for x, y in plane.corners)
    return TableView(markers, found.missing, corners, plane.straighten(image), messages.TABLE_FOUND)


def refine(grey: ByteArray, corners: FloatArray) -> FloatArray:
    """Return the corners (4, 2) of one marker to a fraction of a pixel, or as they were where its edges are unclear.

    ``grey`` is gamma-coded uint8; ``corners`` may be off by up to half a module.
    """
    refined = corners
    for reach in (0.62, 0.45):
        better = _refine_once(grey, refined, reach)
        if better is None:
            return corners if refined is corners else refined
        refined = better
    return refined


def _shrunk(grey: ByteArray, length: int) -> tuple[ByteArray, float]:
    longest = max(grey.shape)
    if length >= longest:
        return grey, 1.0
    scale = longest / length
    size = (max(1, round(grey.shape[1] / scale)), max(1, round(grey.shape[0] / scale)))
    small: ByteArray = cv2.resize(grey, size, interpolation=cv2.INTER_AREA).astype(np.uint8, copy=False)
    return small, scale


def _detect(grey: ByteArray, scale: float) -> MarkersFound:
    if min(grey.shape) < 2 * _SMALLEST_SIDE:
        return MarkersFound({})
    quads, found, _ = _detector().detectMarkers(grey)
    ids: list[int] = [] if found is None else [int(number) for number in found.ravel()]
    seen: dict[int, list[FloatArray]] = {}
    for quad, number in zip(quads, ids, strict=True):
        if number not in IDS:
            continue
        # ArUco's corners are pixels of the small picture, whose centres lie at whole numbers.
        corners = (quad.reshape(4, 2).astype(np.float64) + 0.5) * scale - 0.5
        size = np.sqrt(abs(_area(corners)))
        same = seen.setdefault(number, [])
        if not any(np.linalg.norm(other.mean(axis=0) - corners.mean(axis=0)) < size / 2 for other in same):
            same.append(corners)
    doubled = tuple(sorted(n for n, quads_of in seen.items() if len(quads_of) > 1))
    return MarkersFound({n: quads_of[0] for n, quads_of in seen.items() if len(quads_of) == 1}, doubled)


def _detector() -> cv2.aruco.ArucoDetector:
    # Made anew each time: a detector holds no state worth keeping, and one shared between threads would need a lock.
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_NONE
    parameters.minMarkerPerimeterRate = 0.04
    # The edge of a cut-out card, a module or two around the print, must not be taken for the same square as the print.
    parameters.minMarkerDistanceRate = 0.03
    # Eight pixels a module and its outer quarter ignored: at four, a lone module of a slightly misplaced quad misreads.
    parameters.perspectiveRemovePixelPerCell = 8
    parameters.perspectiveRemoveIgnoredMarginPerCell = 0.25
    # A marker laid over printed squares is still a marker, but a border a third of which is wrong is none.
    parameters.maxErroneousBitsInBorderRate = 0.2
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    return cv2.aruco.ArucoDetector(dictionary, parameters)


def _area(corners: FloatArray) -> float:
    x, y = corners[:, 0], corners[:, 1]
    return float(0.5 * np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def _refine_once(grey: ByteArray, corners: FloatArray, reach_modules: float) -> FloatArray | None:
    """Fit one line to each edge and intersect them; ``reach_modules`` is how far the profiles go to each side."""
    module = float(np.sqrt(abs(_area(corners)))) / MODULES
    reach = max(reach_modules * module, 1.6)
    pad = int(reach) + 3
    low = np.maximum(np.floor(corners.min(axis=0)).astype(int) - pad, 0)
    high = np.minimum(np.ceil(corners.max(axis=0)).astype(int) + pad + 1, [grey.shape[1], grey.shape[0]])
    if (high - low < 4).any():
        return None
    patch = cv2.LUT(grey[low[1] : high[1], low[0] : high[0]], _LINEAR)
    start = corners - low
    along = np.roll(start, -1, axis=0) - start
    unit = along / np.linalg.norm(along, axis=1, keepdims=True)
    # Corners run clockwise in the picture, so the outside lies to the left of the way along an edge.
    outward = np.column_stack([unit[:, 1], -unit[:, 0]])
    # The ends of an edge are left out: there the blur of the corner bends the line.
    part = np.linspace(0.09, 0.91, _PROFILES)
    offset = np.linspace(-reach, reach, _STEPS)
    feet = start[:, None] + part[None, :, None] * along[:, None]  # (4, profiles, 2)
    points = (feet[:, :, None] + offset[None, None, :, None] * outward[:, None, None]).astype(np.float32)
    flat = points.reshape(4 * _PROFILES, _STEPS, 2)
    profiles = cv2.remap(patch, flat[..., 0], flat[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    profiles = profiles.reshape(4, _PROFILES, _STEPS)
    crossing = np.stack([_crossings(profiles[edge], offset) for edge in range(4)])
    lines = _lines(part, crossing)
    if lines is None:
        return None
    # Points of an edge: foot(s) + (a + b s) · outward, for s along it.
    base = start + lines[:, :1] * outward
    ahead = along + lines[:, 1:] * outward
    refined = np.empty((4, 2))
    for corner in range(4):
        across = np.column_stack([ahead[corner - 1], -ahead[corner]])
        if abs(np.linalg.det(across)) < 0.2 * module**2:
            return None
        step = np.linalg.solve(across, base[corner] - base[corner - 1])[0]
        refined[corner] = base[corner - 1] + step * ahead[corner - 1]
    refined += low
    if np.linalg.norm(refined - corners, axis=1).max() > 1.5 * reach:
        return None
    return refined


def _crossings(profiles: FloatArray, offset: FloatArray) -> FloatArray:
    """Return (profiles,): where each runs half-way from the edge's black to its white; NaN where it does not."""
    ends = max(2, len(offset) // 6)
    black = float(np.median(profiles[:, :ends].min(axis=1)))
    white = float(np.median(profiles[:, -ends:].max(axis=1)))
    if white - black < 0.02:
        return np.full(len(profiles), np.nan)
    # Light falls off along an edge: each profile is judged by its own white, within bounds of the edge's.
    own = np.clip(profiles[:, -ends:].max(axis=1), 0.6 * white, 1.6 * white)
    half = (black + own)[:, None] / 2
    over = profiles >= half
    rises = ~over[:, :-1] & over[:, 1:]
    middle = (offset[:-1] + offset[1:]) / 2
    # Of several crossings, the one nearest to where the edge is thought to be.
    distance = np.where(rises, np.abs(middle)[None, :], np.inf)
    at = distance.argmin(axis=1)
    rows = np.arange(len(profiles))
    before, after = profiles[rows, at], profiles[rows, at + 1]
    step = offset[1] - offset[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        crossing = offset[at] + step * (half[:, 0] - before) / (after - before)
    return np.where(np.isfinite(distance[rows, at]), crossing, np.nan)


def _lines(part: FloatArray, crossing: FloatArray) -> FloatArray | None:
    """Fit ``crossing = a + b · part`` to four edges: (4, 2) of a, b; outliers (a finger, a glint) count little."""
    good = np.isfinite(crossing)
    if (good.sum(axis=1) < _PROFILES // 2).any():
        return None
    there = np.where(good, crossing, 0.0)
    weight = good.astype(np.float64)
    lines = np.zeros((4, 2))
    for _ in range(4):
        total = weight.sum(axis=1)
        mean_part = (weight * part).sum(axis=1) / total
        mean_there = (weight * there).sum(axis=1) / total
        aside = part - mean_part[:, None]
        slope = (weight * aside * there).sum(axis=1) / (weight * aside**2).sum(axis=1)
        lines = np.column_stack([mean_there - slope * mean_part, slope])
        off = np.abs(there - lines[:, :1] - lines[:, 1:] * part)
        scale = np.maximum(1.5 * np.nanmedian(np.where(good, off, np.nan), axis=1), 0.05)[:, None]
        weight = good / (1 + (off / scale) ** 2)
    return lines
