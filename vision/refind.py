"""Find a taught board again: where it lay last, by its markers, by its own picture, or by its lines.

Every likely pose is refined on the grid's lines; which is right is judged by how clear the lines are, and by how like
the taught pictures the board looks there. A board whose contents are all new looks like none: then lines decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from .boardfind import CLEAR, WORKING, find_by_lines, marker_pose, shrunk
from .gridfit import refine
from .markers import find_markers
from .pose import Pose, unbend

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray

    from .patches import Sampler
    from .profile import Profile

ALIKE: Final = 0.5
"""From this likeness on, nearly all places look as they did, and the board is certainly there."""
_WORTH: Final = {"last": 1.2, "calibrated": 1.25, "markers": 1.1, "features": 1.1, "lines": 1.0}
"""How much the clearness of a grid's lines counts, by what spoke for it beforehand."""
_FEATURES = 1500
_FEWEST = 14
_DOT = 10


class Finder:
    """Finds the board of a profile in one photo after another, and remembers where it was."""

    def __init__(self, profile: Profile, sampler: Sampler) -> None:
        """Take the calibration and the taught pictures of a profile."""
        self._profile = profile
        self._sampler = sampler
        self._layout = profile.layout
        self._last: Pose | None = None
        self._newest: FloatArray | None = None

    def find(self, image: ByteArray) -> Pose | None:
        """Return where the board is, in the photo's own pixels; None where it is not."""
        small = shrunk(image, WORKING)
        size = (small.shape[1], small.shape[0])
        best: tuple[float, Pose] | None = None
        for pose, way in self._candidates(small, size):
            seen, like = self._judged(small, pose)
            if seen is None:
                continue
            if like >= ALIKE or (way == "markers" and like >= 0 and seen.score >= 1.2 * CLEAR):
                return self._found(small, seen, image)
            value = _WORTH[way] * seen.score + 1.5 * max(like, 0.0)
            if best is None or value > best[0]:
                best = (value, seen)
        calibrated = self._profile.score
        if self._layout.is_grid and best is not None and best[1].score >= min(0.9 * CLEAR, 0.75 * calibrated):
            return self._found(small, best[1], image)
        there = self._calibrated(size)
        if there is not None and calibrated < CLEAR:
            # A board whose lines were never clear is believed to lie where it was shown to be.
            return self._found(small, there, image)
        return None

    def _found(self, small: ByteArray, pose: Pose, image: ByteArray) -> Pose:
        self._last = pose
        self._newest = self._dots(self._sampler.straighten(small, pose))
        return pose.resized((image.shape[1], image.shape[0]))

    def _candidates(self, small: ByteArray, size: tuple[int, int]) -> Iterator[tuple[Pose, str]]:
        """Yield likely poses, and how each was come by; cheap ones first."""
        bend = self._profile.bend
        if self._last is not None and self._last.size == size:
            yield self._last, "last"
        there = self._calibrated(size)
        if there is not None:
            yield there, "calibrated"
        if self._profile.markers is not None:
            found = find_markers(small)
            if not found.doubled and not found.mirrored:
                by_markers = marker_pose(found, self._profile.markers, size, bend)
                if by_markers is not None:
                    yield by_markers, "markers"
        yield from ((pose, "features") for pose in self._by_features(small, size))
        if self._layout.is_grid:
            yield from ((pose, "lines") for pose in find_by_lines(small, self._layout)[:2])

    def _calibrated(self, size: tuple[int, int]) -> Pose | None:
        """Return where the board was calibrated, in a picture of the same shape; None in one of another."""
        taught, corners = self._profile.size, self._profile.corners
        if corners is None or abs(taught[0] * size[1] - taught[1] * size[0]) > 0.01 * taught[0] * size[1]:
            return None
        return Pose.from_corners(corners, self._layout.width, self._layout.height, taught, self._profile.bend).resized(
            size
        )

    def _judged(self, small: ByteArray, pose: Pose) -> tuple[Pose | None, float]:
        """Return the refined pose (None where it cannot be) and how like the taught pictures the board looks there."""
        result = pose
        if self._layout.is_grid:
            result = refine(small, pose, self._layout.columns, self._layout.rows, windows=(0.25, 0.15, 0.1, 0.08))
            if result.score <= 0:
                return None, -1.0
        dots = self._dots(self._sampler.straighten(small, result))
        references = self._references if self._newest is None else [*self._references, self._newest]
        return result, max((_likeness(dots, reference) for reference in references), default=-1.0)

    def _dots(self, straight: ByteArray) -> FloatArray:
        """Return (places, numbers): each place and its rim, coarse, each of mean 0 and length 1."""
        patches = self._sampler.cut(straight)
        n = len(patches)
        tall = patches.reshape(n * patches.shape[1], patches.shape[2], 3)
        coarse = cv2.resize(tall, (_DOT, n * _DOT), interpolation=cv2.INTER_AREA).reshape(n, -1).astype(np.float64)
        coarse = np.sqrt(coarse)
        coarse -= coarse.mean(axis=1, keepdims=True)
        dots: FloatArray = coarse / (coarse.std(axis=1, keepdims=True) + 0.15)
        return dots

    @cached_property
    def _pictures(self) -> list[ByteArray]:
        pictures = [shot.straight for shot in self._profile.shots]
        if self._profile.look is not None:
            pictures = [self._profile.look, *pictures]
        return pictures[:1] + pictures[1:][-3:]

    @cached_property
    def _references(self) -> list[FloatArray]:
        return [self._dots(picture) for picture in self._pictures]

    @cached_property
    def _known(self) -> list[tuple[FloatArray, Any]]:
        """Return for each taught picture the features' places in board units, and their descriptors."""
        known = []
        for picture in self._pictures:
            points, descriptors = _features(picture)
            if descriptors is not None and len(points) >= _FEWEST:
                left, far = self._sampler.box[:2]
                known.append(((points + 0.5) / self._sampler.side + [left, far], descriptors))
        return known

    def _by_features(self, small: ByteArray, size: tuple[int, int]) -> Iterator[Pose]:
        points, descriptors = _features(small)
        if descriptors is None or len(points) < _FEWEST:
            return
        flat = unbend(points, size, self._profile.bend)
        results = []
        for board, taught in self._known:
            pairs = cv2.BFMatcher(cv2.NORM_L2).knnMatch(taught, descriptors, k=2)
            good = [pair[0] for pair in pairs if len(pair) == 2 and pair[0].distance < 0.8 * pair[1].distance]
            if len(good) < _FEWEST:
                continue
            source = np.array([board[m.queryIdx] for m in good], np.float32)
            target = np.array([flat[m.trainIdx] for m in good], np.float32)
            matrix, agree = cv2.findHomography(source, target, cv2.USAC_MAGSAC, 4.0, maxIters=2000, confidence=0.999)
            if matrix is None or agree is None or int(agree.sum()) < _FEWEST:
                continue
            results.append((int(agree.sum()), Pose(np.asarray(matrix, np.float64), size, self._profile.bend)))
        for _, pose in sorted(results, key=lambda result: -result[0])[:2]:
            corners = pose.corners(self._layout.width, self._layout.height)
            if np.isfinite(corners).all() and cv2.isContourConvex(corners.astype(np.float32)[:, None]):
                yield replace(pose, score=0.0)


def _likeness(dots: FloatArray, reference: FloatArray) -> float:
    """Return what four places in five reach at least of the correlation with a picture.

    A board that is taken for itself one place aside is like itself in most places, but not along two of its sides.
    """
    return float(np.quantile((dots * reference).mean(axis=1), 0.2))


def _features(image: ByteArray) -> tuple[FloatArray, Any]:
    grey = cv2.cvtColor(shrunk(image, 1000), cv2.COLOR_BGR2GRAY)
    scale = image.shape[1] / grey.shape[1]
    points, descriptors = cv2.SIFT.create(_FEATURES).detectAndCompute(grey, None)
    places = np.array([point.pt for point in points], np.float64).reshape(-1, 2)
    return (places + 0.5) * scale - 0.5, descriptors
