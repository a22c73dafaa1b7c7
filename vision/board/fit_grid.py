"""Find the lines of a grid in a picture, to a few hundredths of a place.

Two steps. :func:`combs` takes a picture in which the lines are about upright and level, and looks for the offset and
pitch at which the edges in the picture stand like the teeth of a comb. :func:`refine` takes a pose that is right to a
third of a place: the board is straightened, each side of each square is looked for across its own direction, and the
small homography (and bend of the lens) that brings all of them into place is fitted. What is seen there is a line of
the board, off by how its tiles lie; or the top of what stands on it, which is seen farther from the camera's foot; or
something else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.board.pose import Pose

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray
    from vision.board.layout import Layout

LAST: Final = 0.12
"""Of a place: how far a line is looked for in the end. A window narrower than tiles lie loosely would keep the lines
that lie as they were guessed, and so the guess."""
_WINDOWS = 3
"""Steps in which a line is looked for from wide to narrow."""
_SIDE = 36
_BLUR = 0.05
PRINTED: Final = 0.006
"""Of a place: how far a side is seen from where it is where nothing is loose: a fifth of a pixel there."""
_TALL: Final = 0.5
"""Places high: what stands on the board usually."""
_STEPS = 12
_MOVES = 8
"""How many numbers move a board."""
INSET: Final = 0.03
"""Of a place: how far inside the outer lines their edges may be seen."""
TOGETHER: Final = 1.6
"""How much farther off corners are than if each side were off by itself, as measured (1.3 to 1.7 times, rms): a loose
tile moves four sides, and a lens bends in more ways than one."""
_TAPPED: Final = 0.05
_GUESSED: Final = 0.25
"""Of a place: how far corners that somebody gave are off, and other first guesses (standard deviations, chosen)."""
_HELD: Final = 1e-6
"""Of a place: so tightly corners are held where it is asked how well sides agree with them."""
BEND: Final = (0.0, 0.02)
"""How much lenses bend, and the standard deviation: loose tiles at the rim look like a bent lens."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Strength of edges in a straight picture: ``across`` of upright ones, ``down`` of level ones, float32."""

    across: FloatArray
    down: FloatArray


def edges_of(image: ByteArray) -> Edges:
    """Return the strength of upright and level edges, the strongest of the colours, in square-rooted light."""
    small = cv2.GaussianBlur(image, (0, 0), 0.8)
    across, down = _strongest(cv2.Scharr(small, cv2.CV_32F, 1, 0)), _strongest(cv2.Scharr(small, cv2.CV_32F, 0, 1))
    # An edge counts by how upright it is, and a very strong one little more than a strong one.
    total = across + down + 1e-3
    strength = np.sqrt(np.minimum(total, 6 * float(np.mean(total)) + 1e-3))
    return Edges(across * strength / total, down * strength / total)


def _strongest(slopes: Any) -> FloatArray:
    """Return the steepest of the colours' slopes, unsigned."""
    steep: Any = None
    for channel in cv2.split(slopes):
        size = cv2.absdiff(channel, 0.0)  # type: ignore[call-overload]
        steep = size if steep is None else cv2.max(steep, size)
    strongest: FloatArray = steep
    return strongest


def refine(
    image: ByteArray,
    pose: Pose,
    columns: int,
    rows: int,
    *,
    reach: float = 0.3,
    bend: tuple[float, float] | None = None,
) -> Pose:
    """Return the pose with the grid's lines found in ``image`` (whose size is the pose's); its score is 0 without them.

    Lines are looked for within ``reach``, in places. ``bend`` says that the lens is to be fitted, too: what is thought
    of it beforehand, and the standard deviation of that.
    """
    seen = _Seen(image, pose, columns, rows, bend)
    return _again(image, seen, _likeliest(seen, reach, _GUESSED), _GUESSED)


def beside_corners(image: ByteArray, start: Pose, layout: Layout) -> Pose:
    """Return the pose refined near corners that somebody gave, or these, whichever is the likelier."""
    seen = _Seen(image, start, layout.columns, layout.rows, None)
    there = seen.fit(seen.printed(np.zeros(seen.design.shape[1])), LAST, _HELD)
    found = _likeliest(seen, 0.2, _TAPPED)
    refined = _again(image, seen, found, _TAPPED) if found.evidence > there.evidence else None
    if refined is not None and refined.score > 0:
        return refined
    unit = start.unit_px(layout.width, layout.height)
    return replace(start, score=_score(seen.edges, seen.columns, seen.rows), error_px=0.03 * unit, agreed=there.agreed)


def _likeliest(seen: _Seen, reach: float, hold: float) -> _Fit:
    """Return the likeliest of what is found from wide to narrow, and of printed lines about that or the first guess."""
    nothing = np.zeros(seen.design.shape[1])
    wide = seen.begun(nothing, reach / 2)
    for window in np.geomspace(reach, LAST, _WINDOWS):
        wide = seen.fit(seen.begun(wide.numbers, window / 2), window, hold)
    printed = (seen.fit(seen.printed(numbers), LAST, hold) for numbers in (nothing, wide.numbers))
    return max((wide, *printed), key=lambda fit: fit.evidence)


def _again(image: ByteArray, seen: _Seen, fit: _Fit, hold: float) -> Pose:
    """Return the pose after another look at the board, as straight as it was found; its score is 0 where it is none."""
    pose = seen.moved(fit)
    if _sane(pose, seen.columns, seen.rows):
        again = _Seen(image, pose, seen.columns, seen.rows, seen.bend)
        # The first guess is now as far away as the lines were found.
        numbers = np.append(np.zeros(len(fit.numbers) - 1), fit.numbers[-1])
        last = again.fit(replace(fit, numbers=numbers), LAST, hold, -fit.numbers[:_MOVES])
        pose = again.moved(last)
        if _sane(pose, seen.columns, seen.rows):
            error = TOGETHER * again.error(last) * pose.unit_px(seen.columns, seen.rows)
            score = _score(again.edges, seen.columns, seen.rows)
            return replace(pose, error_px=error, agreed=last.agreed, score=score)
    return replace(seen.pose, score=0.0, agreed=0.0)


@dataclass(frozen=True, slots=True)
class _Fit:
    """``numbers`` of the change (see :func:`_design`), the last how high things stand, in places.

    ``scatters`` (2,), in places, are how far lines and tops are off; ``shares`` (3,) how many sides show a line, a top
    and anything else; ``spread`` is the numbers' covariance, None before anything was fitted; ``evidence`` is in nats.
    How well sides ``agreed``: see :class:`~vision.board.pose.Pose`.
    """

    numbers: FloatArray
    scatters: FloatArray
    shares: FloatArray
    spread: FloatArray | None = None
    evidence: float = 0.0
    agreed: float = 0.0


class _Seen:
    """A board as straight as a ``pose`` makes it, the ``edges`` in it, and how its sides move (``design``)."""

    def __init__(self, image: ByteArray, pose: Pose, columns: int, rows: int, bend: tuple[float, float] | None) -> None:
        self.pose, self.columns, self.rows, self.bend = pose, columns, rows, bend
        self.edges = _edges(image, pose, columns, rows)
        self._profiles = _profiles(self.edges.across, columns, rows), _profiles(self.edges.down.T, rows, columns)
        camera = pose.camera
        lines, tops = [], []
        for way, points in enumerate((_middles(columns, rows), _middles(rows, columns)[:, ::-1])):
            lines.append(_design(points, way, pose, columns, rows, bend is not None))
            tops.append((points[:, way] - camera[way]) / camera[2])
        self.design = np.column_stack([np.concatenate(lines), np.concatenate(tops)])

    def begun(self, numbers: FloatArray, scatter: float) -> _Fit:
        """Return where to begin where lines and tops are off alike."""
        return _Fit(numbers, np.full(2, scatter), np.full(3, 1 / 3))

    def printed(self, numbers: FloatArray) -> _Fit:
        """Return where to begin where lines are printed, and things stand on them."""
        return _Fit(np.append(numbers[:-1], _TALL), np.array([PRINTED, LAST / 2]), np.full(3, 1 / 3))

    def fit(self, start: _Fit, window: float, hold: float, guess: FloatArray | None = None) -> _Fit:
        """Return what brings the sides into place that are seen within a window about a start; ``guess`` is held."""
        design, half = self.design, (self.columns + 1) * self.rows
        precision = np.append(np.full(design.shape[1] - 1, 1 / hold**2), 1 / _TALL**2)
        precision[_MOVES] = 1 / INSET**2
        expected = np.zeros(len(precision))
        if guess is not None:
            expected[:_MOVES] = guess
        if self.bend is not None:
            precision[_MOVES + 1], expected[_MOVES + 1] = 1 / self.bend[1] ** 2, self.bend[0] - self.pose.bend
        ahead = design[:, :-1] @ start.numbers[:-1]
        upright = _one_way(self._profiles[0], ahead[:half].reshape(self.rows, -1), window)
        level = _one_way(self._profiles[1], ahead[half:].reshape(self.columns, -1), window)
        off, strength = np.concatenate([upright, level], axis=1)
        votes = np.sqrt(strength) + 1e-6
        return _mixture(design, off, votes / votes.mean(), start, precision, expected, window)

    def error(self, fit: _Fit) -> float:
        """Return the corners' standard error, in places, by what was fitted here."""
        corner = np.array([[0, 0], [self.columns, 0], [self.columns, self.rows], [0, self.rows]], float)
        variance = 0.0
        for way in (0, 1):
            parts = _design(corner, way, self.pose, self.columns, self.rows, self.bend is not None)
            parts[:, _MOVES] = 0
            if fit.spread is not None:
                variance += float(np.einsum("ij,jk,ik->i", parts, fit.spread[:-1, :-1], parts).mean())
        return float(np.sqrt(variance))

    def moved(self, fit: _Fit) -> Pose:
        """Return the pose after what was found."""
        half, p = np.array([self.columns / 2, self.rows / 2]), fit.numbers
        to_local = np.array([[1 / half[0], 0, -1], [0, 1 / half[1], -1], [0, 0, 1]])
        out = np.array([[1, 0, half[0]], [0, 1, half[1]], [0, 0, 1]])
        # From squares centred and scaled to ±1, to places from the middle.
        shaped = np.array([[half[0] + p[1], p[2], p[0]], [p[4], half[1] + p[5], p[3]], [-p[6], -p[7], 1]])
        change = out @ shaped @ to_local
        pose = self.pose.moved(change / change[2, 2])
        bend = 0.0 if self.bend is None else p[_MOVES + 1]
        return replace(pose, bend=float(np.clip(pose.bend + bend, -0.4, 0.4)))


def _edges(image: ByteArray, pose: Pose, columns: int, rows: int) -> Edges:
    return edges_of(pose.straighten(image, _SIDE, (-0.7, -0.7, columns + 0.7, rows + 0.7)))


def many_sides(columns: int, rows: int) -> int:
    """Return how many sides the squares of a grid have; two squares share one."""
    return (columns + 1) * rows + columns * (rows + 1)


def grid_score(image: ByteArray, pose: Pose, columns: int, rows: int) -> float:
    """Return how much stronger edges are on the grid's lines than elsewhere on it, across or down, where that is less.

    About 1 for a grid that is not there.
    """
    return _score(_edges(image, pose, columns, rows), columns, rows)


def _score(edges: Edges, columns: int, rows: int) -> float:
    scores = []
    for profile, many in (
        (_profiles(edges.across, columns, rows), columns),
        (_profiles(edges.down.T, rows, columns), rows),
    ):
        at = round(0.7 * _SIDE) + _SIDE * np.arange(many + 1)
        lines = np.stack([profile[:, at + k] + profile[:, at - 1 - k] for k in range(3)]).mean(axis=1).max(axis=0) / 2
        inner = max(float(profile[:, at[0] : at[-1]].mean()), 1e-6)
        # All lines should be there: a grid of which every other line is seen is of another pitch.
        scores.append((float(lines.mean()) + float(np.quantile(lines, 0.25))) / inner / 2)
    return min(scores)


def _profiles(edges: FloatArray, columns: int, rows: int) -> FloatArray:
    """Return (rows, width): the mean of edges along the middle of each row of squares."""
    first, side = round(0.7 * _SIDE), _SIDE
    band = edges[first : first + rows * side].reshape(rows, side, -1)
    cut = round(0.12 * side)
    profile: FloatArray = band[:, cut : side - cut].mean(axis=1)
    return profile


def _middles(columns: int, rows: int) -> FloatArray:
    """Return (sides, 2): the middles of the upright sides, row by row, in board units."""
    x, y = np.meshgrid(np.arange(columns + 1.0), np.arange(rows) + 0.5)
    return np.column_stack([x.ravel(), y.ravel()])


def _one_way(profile: Any, ahead: FloatArray, window: float) -> FloatArray:
    """Return (2, sides): how far sides are off, in places, looked for about ``ahead`` of it, and how strong."""
    reach = max(2, round(window * _SIDE))
    blur = max(_BLUR * _SIDE, 0.25 * window * _SIDE)
    # Sums over neighbouring squares make weak sides of a line lean on strong ones while the search is wide.
    if window > LAST:
        profile = cv2.GaussianBlur(profile, (1, 0), sigmaX=0.1, sigmaY=1.0 if len(profile) > 2 else 0.1)
    profile = cv2.GaussianBlur(profile, (0, 0), sigmaX=blur, sigmaY=0.01).astype(np.float64)
    offsets = np.arange(-reach, reach + 1)
    middle = 0.7 * _SIDE - 0.5 + _SIDE * (np.arange(ahead.shape[1]) + ahead)
    at = np.clip(middle[:, :, None] + offsets, 0, profile.shape[1] - 1.001)  # (rows, lines, offsets)
    low = np.floor(at).astype(int)
    part, row = at - low, np.arange(len(profile))[:, None, None]
    values = profile[row, low] * (1 - part) + profile[row, low + 1] * part
    values = values - np.median(values, axis=2, keepdims=True)
    tapered = values * (1 - 0.5 * (offsets / (reach + 1)) ** 2)
    best = tapered[:, :, 1:-1].argmax(axis=2) + 1
    r, c = np.indices(best.shape)
    left, mid, right = tapered[r, c, best - 1], tapered[r, c, best], tapered[r, c, best + 1]
    curve = left - 2 * mid + right
    sub = np.where(curve < -1e-9, 0.5 * (left - right) / np.minimum(curve, -1e-9), 0.0)
    off = ahead + (best - reach + np.clip(sub, -0.6, 0.6)) / _SIDE
    # A peak at the window's end is no peak.
    strength = np.maximum(values[r, c, best], 0.0) * np.where((best <= 1) | (best >= 2 * reach - 1), 0.1, 1.0)
    return np.stack([off.ravel(), strength.ravel()])


def _mixture(
    design: FloatArray,
    sides: FloatArray,
    votes: FloatArray,
    start: _Fit,
    precision: FloatArray,
    expected: FloatArray,
    window: float,
) -> _Fit:
    """Return what brings the ``sides`` (n,) into place, from a start on.

    ``votes`` (n,) are how much each side counts, 1 on average.

    A side is a line's or a top's, off by a normal deviate, or another's, and then anywhere in the window. How far
    lines and tops scatter, how high tops are (never below the lines), and how many of each there are is found from the
    sides (expectation maximisation); the numbers of the ``design`` are held where they are ``expected`` by so much
    ``precision``. The evidence is the sides' likelihood, against all of them anywhere, integrated over the numbers
    (Laplace); sides agree by the mean of its logarithm.
    """
    both = np.concatenate([design, design])
    both[: len(sides), -1] = 0.0
    twice, anywhere = np.concatenate([sides, sides]), 1 / (2 * window)
    numbers: Any = start.numbers
    scatters, shares = start.scatters, start.shares
    square: Any = (twice - both @ numbers).reshape(2, -1) ** 2
    for _ in range(_STEPS):
        member = _densities(square, scatters, shares, anywhere)
        member *= votes / member.sum(axis=0)
        count = member.sum(axis=1)
        shares = count / len(sides)
        weights = (member[:2] / scatters[:, None] ** 2).ravel()
        normal = both.T @ (both * weights[:, None]) + np.diag(precision)
        spread: Any = np.linalg.inv(normal)
        numbers = spread @ (both.T @ (twice * weights) + precision * expected)
        if numbers[-1] < 0:
            # As low as can be: what the other numbers are then.
            numbers -= spread[:, -1] * numbers[-1] / spread[-1, -1]
        # Numbers that are fitted come nearer to sides than they are: by so much they are unsure.
        square = (twice - both @ numbers).reshape(2, -1) ** 2
        unsure = (both @ spread * both).sum(axis=1).reshape(2, -1)
        scatter = np.sqrt((member[:2] * (square + unsure)).sum(axis=1) / np.maximum(count[:2], 1e-9))
        scatters = np.clip(scatter, PRINTED, window / 2)
    agreed = float(votes @ np.log(_densities(square, scatters, shares, anywhere).sum(axis=0) / anywhere))
    doubt = precision @ (numbers - expected) ** 2 + np.linalg.slogdet(normal)[1] - np.log(precision).sum()
    return _Fit(numbers, scatters, shares, spread, agreed - 0.5 * float(doubt), agreed / len(sides))


def _densities(square: FloatArray, scatters: FloatArray, shares: FloatArray, anywhere: float) -> FloatArray:
    """Return (3, n): how likely sides that are so far off (``square`` (2, n)) are a line's, a top's and another's."""
    by = scatters[:, None]
    near = shares[:2, None] * np.exp(-0.5 * square / by**2) / (np.sqrt(2 * np.pi) * by)
    return np.concatenate([near, np.full((1, square.shape[1]), shares[2] * anywhere)])


def _design(points: FloatArray, way: int, pose: Pose, columns: int, rows: int, bend: bool) -> FloatArray:
    """Return (n, 9 or 10): how far a point moves across (``way`` 0) or down, in places, by each number of the change.

    The ninth is no part of it: how far inside the outer lines their edges are seen, since tiles end before them.
    """
    half = np.array([columns / 2, rows / 2])
    u, v = (points[:, 0] - half[0]) / half[0], (points[:, 1] - half[1]) / half[1]
    one, none = np.ones_like(u), np.zeros_like(u)
    if way == 0:
        parts = [one, u, v, none, none, none, u * u * half[0], u * v * half[0]]
    else:
        parts = [none, none, none, one, u, v, u * v * half[1], v * v * half[1]]
    outer = (u, v)[way]
    parts.append(np.where(np.abs(outer) > 1 - 1e-6, -np.sign(outer), 0.0))
    if bend:
        # A little more bend moves the picture under the grid: by how much, in places, across or down.
        step = 1e-3
        at = pose.project(points)
        more = replace(pose, bend=pose.bend + step).project(points)
        near = points + np.eye(2)[way] * 1e-3
        other = points + np.eye(2)[1 - way] * 1e-3
        ahead, aside = (pose.project(near) - at) / 1e-3, (pose.project(other) - at) / 1e-3
        moved = (more - at) / step
        det = ahead[:, 0] * aside[:, 1] - ahead[:, 1] * aside[:, 0]
        parts.append((moved[:, 0] * aside[:, 1] - moved[:, 1] * aside[:, 0]) / det)
    return np.column_stack(parts)


def _sane(pose: Pose, columns: int, rows: int) -> bool:
    """Return whether the board is a convex quadrilateral of some size, right way round."""
    corners = pose.corners(columns, rows)
    if not np.isfinite(corners).all():
        return False
    ahead = np.roll(corners, -1, axis=0) - corners
    turn = ahead[:, 0] * np.roll(ahead, -1, axis=0)[:, 1] - ahead[:, 1] * np.roll(ahead, -1, axis=0)[:, 0]
    lengths = np.linalg.norm(ahead, axis=1)
    return bool(
        (turn > 0).all()
        and lengths.min() > 16
        and lengths.max() < 6 * lengths.min() * max(columns / rows, rows / columns)
    )


@dataclass(frozen=True, slots=True)
class Comb:
    """Where lines stand like the teeth of a comb: the first at ``start``, then every ``pitch``; ``score`` above 0."""

    start: float
    pitch: float
    score: float


def combs(profile: FloatArray, teeth: int, pitches: tuple[float, float], *, best: int = 3) -> list[Comb]:
    """Return the likeliest combs of ``teeth`` + 1 lines in a profile of edge strength, best first.

    ``pitches`` are the least and the greatest pitch in pixels. All lines should be there (a missing one costs more than
    a strong one gains), and little between them.
    """
    length = len(profile)
    found: list[Comb] = []
    level = profile / max(float(np.mean(profile)), 1e-9)
    for pitch in np.geomspace(*pitches, num=max(2, int(np.log(pitches[1] / pitches[0]) * max(30, 5 * teeth)) + 1)):
        span = pitch * teeth
        if span >= length:
            break
        blurred = cv2.GaussianBlur(level[None], (0, 0), sigmaX=max(0.05 * pitch, 0.7), sigmaY=0.01)[0].astype(
            np.float64
        )
        starts = np.arange(0, length - span - 1, max(0.04 * pitch, 1.0))
        on = _sampled(blurred, starts[:, None] + pitch * np.arange(teeth + 1))
        between = _sampled(
            blurred, starts[:, None] + pitch * (np.arange(teeth)[:, None] + np.array([0.3, 0.5, 0.7])).ravel()
        )
        score = np.sqrt(on).mean(axis=1) + 0.5 * np.sqrt(on.min(axis=1)) - 1.2 * np.sqrt(between.mean(axis=1))
        # Of a comb inside a longer one the whole is meant: what goes on beyond speaks against it.
        beyond = np.stack([starts - pitch, starts + span + pitch])
        there = (beyond >= 0) & (beyond <= length - 2)
        score -= 0.12 * (np.sqrt(_sampled(blurred, np.clip(beyond, 0, length - 2))) * there).sum(axis=0)
        for index in np.argsort(score)[-2:]:
            found.append(Comb(float(starts[index]), float(pitch), float(score[index])))
    found.sort(key=lambda comb: -comb.score)
    kept: list[Comb] = []
    for comb in found:
        if all(
            abs(comb.start - k.start) > 0.3 * k.pitch or abs(comb.pitch - k.pitch) > 0.3 * k.pitch / teeth for k in kept
        ):
            kept.append(comb)
        if len(kept) == best:
            break
    return kept


def _sampled(values: FloatArray, at: FloatArray) -> FloatArray:
    low = np.clip(np.floor(at).astype(int), 0, len(values) - 2)
    part = at - low
    sampled: FloatArray = values[low] * (1 - part) + values[low + 1] * part
    return sampled
