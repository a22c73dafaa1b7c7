"""Calibrate: where the board is in the photos of a camera that stands still, and what its lens bends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision import messages
from vision.board.detect import (
    CLEAR,
    WORKING,
    BoardError,
    aligned,
    best_grid,
    find_by_lines,
    find_by_markers,
    shrunk,
    unlike,
)
from vision.board.fit_grid import BEND, LAST, beside_corners, many_sides, refine
from vision.board.marker_plane import bend_of
from vision.board.markers import IDS, MarkersFound, find_markers
from vision.board.patches import Sampler
from vision.board.pose import Pose
from vision.read.profile import Profile

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray
    from vision.board.layout import Layout

_SLACK: Final = 0.35
_SQUARES: Final = 3
_CARDS: Final = 0.002
"""How far off at least the bend may be that markers tell: cards are not quite flat, and lenses have further terms."""


@dataclass(frozen=True)
class Calibrated:
    """The board in one photo: ``pose`` in its pixels, ``how`` it was found: ``corners``, ``markers`` or ``lines``."""

    pose: Pose
    how: str

    def to_json(self, layout: Layout) -> dict[str, Any]:
        """Return what ``vision calibrate --json`` says of a photo."""
        return {
            "found": True,
            "how": self.how,
            "corners": np.round(self.pose.corners(layout.width, layout.height), 2).tolist(),
            "error_px": round(self.pose.error_px, 2),
            "score": round(self.pose.score, 2),
            "bend": round(self.pose.bend, 4),
        }


def calibrate(images: Sequence[ByteArray], layout: Layout, corners: FloatArray | None = None) -> list[Calibrated]:
    """Return where the board is in each photo (BGR) of one camera; the lens is fitted to all of them together.

    ``corners`` (4, 2), clockwise from the far left, in pixels of the first photo, are a first guess for all photos.

    :raises BoardError: there is no board in a photo, not all of it, or not as far as can be told; one sentence.
    """
    small = [shrunk(image, WORKING) for image in images]
    found = [find_markers(image) if layout.is_grid else MarkersFound({}) for image in small]
    results = [_locate(*shown, layout, corners) for shown in zip(images, small, found, strict=True)]
    if layout.is_grid:
        results = _bent(small, layout, results, _bend_by_markers(small, found))
    return results


def to_profile(images: Sequence[ByteArray], layout: Layout, results: Sequence[Calibrated]) -> Profile:
    """Return the profile of a calibration, nothing taught yet; the newest photo is the one to remember."""
    image, pose = images[-1], results[-1].pose
    sampler = Sampler(layout)
    markers = None
    found = find_markers(image)
    if not found.missing and not found.doubled and not found.mirrored:
        markers = np.stack([pose.locate(found.corners[n]) for n in IDS])
    return Profile(
        layout,
        (image.shape[1], image.shape[0]),
        pose.corners(layout.width, layout.height),
        pose.bend,
        pose.error_px,
        pose.score,
        markers,
        sampler.straighten(image, pose),
    )


def _locate(
    image: ByteArray, small: ByteArray, found: MarkersFound, layout: Layout, corners: FloatArray | None
) -> Calibrated:
    size = (image.shape[1], image.shape[0])
    if corners is not None:
        return Calibrated(_clicked(image, small, layout, corners), "corners")
    if not layout.is_grid:
        raise BoardError(messages.CORNERS_NEEDED)
    by_markers = best_grid(small, layout, find_by_markers(small, layout, found))
    if by_markers is not None:
        return Calibrated(_whole(by_markers.resized(size), layout), "markers")
    by_lines = best_grid(small, layout, find_by_lines(small, layout))
    if by_lines is None:
        raise BoardError(messages.NO_GRID)
    by_lines = aligned(small, by_lines, layout, unlike)
    return Calibrated(_whole(by_lines.resized(size), layout), "lines")


def _clicked(image: ByteArray, small: ByteArray, layout: Layout, corners: FloatArray) -> Pose:
    size = (image.shape[1], image.shape[0])
    low, high = -0.02 * max(size), np.array(size) + 0.02 * max(size)
    if (corners < low).any() or (corners > high).any():
        raise BoardError(messages.CORNERS_OUTSIDE)
    ahead = np.roll(corners, -1, axis=0) - corners
    turns = ahead[:, 0] * np.roll(ahead, -1, axis=0)[:, 1] - ahead[:, 1] * np.roll(ahead, -1, axis=0)[:, 0]
    if (turns <= 1e-6 * max(size) ** 2).any():
        raise BoardError(messages.CORNERS_ORDER)
    clicked = Pose.from_corners(corners, layout.width, layout.height, size)
    if not layout.is_grid:
        return replace(clicked, error_px=0.005 * max(size))
    start = clicked.resized((small.shape[1], small.shape[0]))
    return beside_corners(small, start, layout).resized(size)


def _whole(pose: Pose, layout: Layout) -> Pose:
    """Return the pose, if the photo shows the board whole.

    :raises BoardError: it does not.
    """
    corners = pose.corners(layout.width, layout.height)
    slack = _SLACK * pose.unit_px(layout.width, layout.height)
    if (corners < -slack).any() or (corners > np.array(pose.size) + slack).any():
        raise BoardError(messages.PARTLY)
    return pose


def _bent(
    small: Sequence[ByteArray], layout: Layout, results: list[Calibrated], expected: tuple[float, float]
) -> list[Calibrated]:
    """Return the results with a bend of the lens that all photos share, of which so much is ``expected``."""
    fitted = []
    for image, result in zip(small, results, strict=True):
        if result.pose.score < CLEAR:
            continue
        pose = result.pose.resized((image.shape[1], image.shape[0]))
        fitted.append(refine(image, pose, layout.columns, layout.rows, reach=LAST, bend=expected))
    fitted = [pose for pose in fitted if pose.score > 0]
    if not fitted:
        return results
    bend = float(np.median([pose.bend for pose in fitted]))
    if abs(bend) < 0.001:
        return results
    # Nats a side: how much more what is expected speaks for this bend than for none.
    told = 0.5 * (expected[0] ** 2 - (bend - expected[0]) ** 2) / expected[1] ** 2
    told /= many_sides(layout.columns, layout.rows)
    bent = []
    for image, result in zip(small, results, strict=True):
        size = (image.shape[1], image.shape[0])
        corners = result.pose.resized(size).corners(layout.width, layout.height)
        start = Pose.from_corners(corners, layout.width, layout.height, size, bend)
        pose = refine(image, start, layout.columns, layout.rows, reach=LAST)
        better = pose.agreed + told >= result.pose.agreed and min(pose.score, result.pose.score) >= CLEAR
        bent.append(Calibrated(pose.resized(result.pose.size), result.how) if better else result)
    return bent


def _bend_by_markers(images: Sequence[ByteArray], shown: Sequence[MarkersFound]) -> tuple[float, float]:
    """Return how the markers of all photos say that the lens bends, and the standard deviation of that.

    Loose tiles look like a bent lens at the board's rim; markers lie farther out, and each is known to be a square.
    """
    bends = []
    for image, found in zip(images, shown, strict=True):
        if len(found.corners) >= _SQUARES and not found.mirrored:
            bends.append(bend_of(list(found.corners.values()), (image.shape[1], image.shape[0])))
    bends = [(bend, off) for bend, off in bends if off < BEND[1]]
    if not bends:
        return BEND
    weights = np.array([1 / max(off, _CARDS) ** 2 for _, off in bends])
    mean = float(weights @ [bend for bend, _ in bends] / weights.sum())
    return mean, _CARDS if len(bends) > 1 else max(bends[0][1], _CARDS)


def overlay(image: ByteArray, pose: Pose, layout: Layout, words: dict[str, str] | None = None) -> ByteArray:
    """Return the photo with the places' outlines, and ``words`` (by place) beside them, drawn over it."""
    drawn = image.copy()
    thick = max(1, round(max(image.shape[:2]) / 900))
    unit = pose.unit_px(layout.width, layout.height)
    for place in layout.places:
        w, h = place.width / 2, place.height / 2
        outline = np.array(
            [
                [place.x - w, place.y - h],
                [place.x + w, place.y - h],
                [place.x + w, place.y + h],
                [place.x - w, place.y + h],
            ]
        )
        steps = np.linspace(0, 1, 5)[:-1, None]
        ring = np.concatenate([outline[k] + steps * (outline[(k + 1) % 4] - outline[k]) for k in range(4)])
        points = np.round(pose.project(ring)).astype(np.int32)
        cv2.polylines(drawn, [points], True, (40, 40, 255), thick, cv2.LINE_AA)
        text = place.name if words is None else words.get(place.name, "")
        x, y = pose.project(np.array([[place.x - 0.46 * place.width, place.y + 0.44 * place.height]]))[0]
        scale = unit * place.width / 230
        lines = [line for line in text.split("\n") if line]
        for number, line in enumerate(reversed(lines)):
            at = (round(float(x)), round(float(y) - number * 27 * scale))
            (wide, high), below = cv2.getTextSize(line, cv2.FONT_HERSHEY_SIMPLEX, scale, thick)
            left, top = max(at[0] - 2, 0), max(at[1] - high - 1, 0)
            behind = drawn[top : max(at[1] + below, 0), left : max(at[0] + wide + 2, 0)]
            behind[:] = behind // 4
            cv2.putText(drawn, line, at, cv2.FONT_HERSHEY_SIMPLEX, scale, (255, 255, 255), thick, cv2.LINE_AA)
    return drawn
