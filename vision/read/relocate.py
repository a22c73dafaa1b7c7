"""Find a taught board again: where it lay last, by its markers, by its own picture, or by its lines.

A board that did not move keeps its pose (:mod:`vision.read.unmoved`).
Every likely pose is refined on the grid's lines; which is right is judged by how clear the lines are, and by how like
the taught pictures the board looks there. A board whose contents are all new looks like none: then lines decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.board.detect import AROUND, CLEAR, COARSE, WORKING, aligned, find_by_lines, marker_pose, shrunk, sides_of
from vision.board.fit_grid import beside_corners, refine
from vision.board.markers import find_markers
from vision.board.pose import Pose, unbend
from vision.read.unmoved import Keyframe

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray
    from vision.board.patches import Sampler
    from vision.read.profile import Profile

ALIKE: Final = 0.5
"""From this likeness on, nearly all places look as they did, and the board is certainly there."""
_WORTH: Final = {"last": 1.2, "calibrated": 1.25, "markers": 1.1, "features": 1.1, "lines": 1.0}
"""How much the clearness of a grid's lines counts, by what spoke for it beforehand."""
_KNOWN: Final = 0.3
_ELSEWHERE: Final = 0.32
"""From this on what lies around the board is not what lay there."""
_FEATURES = 1500
_FEWEST = 14
_DOT = 10
_SAME: Final = 0.25
"""Of a place: a pose so near to a refined one would be refined to the same."""
_FILLS: Final = 0.035
"""Of the picture: how far from its corners those of a board that fills it are at most."""


class BoardRelocator:
    """Finds the board of a profile in one photo after another, and remembers where it was."""

    def __init__(self, profile: Profile, sampler: Sampler) -> None:
        """Take the calibration and the taught pictures of a profile."""
        self._profile = profile
        self._sampler = sampler
        self._layout = profile.layout
        self._last: Pose | None = None
        self._newest: FloatArray | None = None
        self._key: Keyframe | None = None
        self._dotted: tuple[ByteArray, Pose, FloatArray] | None = None

    def find(self, image: ByteArray) -> Pose | None:
        """Return where the board is, in the photo's own pixels; None where it is not."""
        small = shrunk(image, WORKING)
        size = (small.shape[1], small.shape[0])
        straightened = self._straightened(small, size)
        if straightened is not None:
            return self._found(small, straightened, image)
        if self._last is not None and self._key is not None and self._key.shows(small):
            return self._last.resized((image.shape[1], image.shape[0]))
        best: tuple[float, Pose] | None = None
        judged: list[tuple[Pose, float, float]] = []
        for pose, way in self._candidates(small, size):
            # A pose as another was refined to would be refined to the same.
            known = next((k for k in judged if self._layout.is_grid and self._apart(pose, k[0]) < _SAME), None)
            if known is None:
                refined, like = self._judged(small, pose)
                if refined is None:
                    continue
                known = refined, like, self._beside_off(small, refined)
                judged.append(known)
            seen, like, beside = known
            if (like >= ALIKE and beside < _ELSEWHERE) or (
                way == "markers" and like >= 0 and seen.score >= 1.2 * CLEAR
            ):
                return self._found(small, seen, image)
            # Where it lay counts as far as the board there looks as it did: its lines are the same a place aside.
            trusted = min(max(like, 0.0) / _KNOWN, 1.0)
            value = (1.02 + (_WORTH[way] - 1.02) * trusted) * seen.score + 1.5 * max(like, 0.0) - beside
            if best is None or value > best[0]:
                best = (value, seen)
        calibrated = self._profile.score
        if self._layout.is_grid and best is not None and best[1].score >= min(0.9 * CLEAR, 0.75 * calibrated):
            return self._found(small, aligned(small, best[1], self._layout, self._around_off), image)
        there = self._calibrated(size)
        if there is not None and calibrated < CLEAR:
            # A board whose lines were never clear is believed to lie where it was shown to be.
            return self._found(small, there, image)
        return None

    def _straightened(self, small: ByteArray, size: tuple[int, int]) -> Pose | None:
        """Return the board that fills the picture, where it filled the calibrated one: another program straightened it.

        Nothing is looked for anywhere else, since nothing else is in such a picture.
        """
        taught, corners = self._profile.size, self._profile.corners
        if corners is None or not min(taught):
            return None
        frame = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float64)
        if np.abs((corners + 0.5) / taught - frame).max() > _FILLS or abs(
            taught[0] * size[1] - taught[1] * size[0]
        ) > 0.05 * (taught[0] * size[1]):
            return None
        filled = Pose.from_corners(frame * size - 0.5, self._layout.width, self._layout.height, size)
        return beside_corners(small, filled, self._layout) if self._layout.is_grid else filled

    def _apart(self, pose: Pose, other: Pose) -> float:
        """Return how far the corners of the board at two poses are apart at most, in places."""
        width, height = self._layout.width, self._layout.height
        off = np.hypot(*(pose.corners(width, height) - other.corners(width, height)).T).max()
        return float(off) / (other.unit_px(width, height) * self._sampler.unit)

    @cached_property
    def _beside(self) -> tuple[float, float, float, float]:
        """Return left, far, right and near of the board with what is looked at around it."""
        return -AROUND, -AROUND, self._layout.width + AROUND, self._layout.height + AROUND

    @cached_property
    def _around(self) -> list[FloatArray]:
        box = self._beside
        whole = self._sampler.box
        found = []
        for picture in self._pictures:
            side = self._sampler.side
            low = round((box[0] - whole[0]) * side), round((box[1] - whole[1]) * side)
            inner = picture[low[1] : picture.shape[0] - low[1], low[0] : picture.shape[1] - low[0]]
            size = (round((box[2] - box[0]) * COARSE), round((box[3] - box[1]) * COARSE))
            found.append(sides_of(cv2.resize(inner, size, interpolation=cv2.INTER_AREA).astype(np.uint8, copy=False)))
        return found

    def _beside_off(self, small: ByteArray, pose: Pose) -> float:
        if not self._layout.is_grid:
            return 0.0
        return self._around_off(sides_of(pose.straighten(small, COARSE, self._beside)))

    def _around_off(self, sides: FloatArray) -> float:
        """Return how unlike the taught pictures the four sides around the board look.

        How bright all of them are, and in which light, says nothing: that is told against the board's own brightness,
        and what lies on it changes.
        """
        least = inf
        for there in self._around:
            off = sides - there
            off -= np.median(off, axis=0)
            least = min(least, float(np.minimum(np.linalg.norm(off, axis=1), 0.5).sum()))
        return least if self._around else 0.0

    def _found(self, small: ByteArray, pose: Pose, image: ByteArray) -> Pose:
        self._last = pose
        self._newest = self._dots_at(small, pose)
        self._key = Keyframe(small, pose, self._layout)
        self._dotted = None
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
            for pose in find_by_lines(small, self._layout, enough=2 * CLEAR)[:2]:
                yield aligned(small, pose, self._layout, self._around_off), "lines"

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
            result = refine(small, pose, self._layout.columns, self._layout.rows, reach=0.25)
            if result.score <= 0:
                return None, -1.0
        dots = self._dots_at(small, result)
        references = self._references if self._newest is None else [*self._references, self._newest]
        return result, max((_likeness(dots, reference) for reference in references), default=-1.0)

    def _dots_at(self, small: ByteArray, pose: Pose) -> FloatArray:
        """Return the :meth:`_dots` of a photo at a pose, kept until another is asked for."""
        if self._dotted is None or self._dotted[0] is not small or self._dotted[1] is not pose:
            self._dotted = small, pose, self._dots(self._sampler.straighten(small, pose))
        return self._dotted[2]

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
