"""Find the lines of a grid in a picture, to a few hundredths of a place.

Two steps. :func:`comb` takes a picture in which the lines are about upright and level, and looks for the offset and
pitch at which the edges in the picture stand like the teeth of a comb. :func:`refine` takes a pose that is right to a
third of a place: the board is straightened, each side of each square is looked for across its own direction, and the
small homography (and bend of the lens) that brings all of them into place is fitted. What is seen there is a line of
the board, off by how its tiles lie, or something else: tall things hide lines, and their tops stand beside them.
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
WINDOWS: Final = (0.3, 0.18, LAST, LAST, LAST)
"""Of a place: how far a line is looked for, step by step."""
_NARROW: Final = 0.125
"""Of a place: from here on what is found is a line of the board, off by how its tiles lie."""
_SIDE = 36
_BLUR = 0.05
PRINTED: Final = 0.006
"""Of a place: how far a side is seen from where it is where nothing is loose: a fifth of a pixel there."""
_SHARP: Final = 2
"""How often printed lines are looked for."""
_SCATTERS, _STEPS = 10, 3
"""Scatters that are tried, each so many steps long."""
SCATTER: Final = 0.025
"""Of a place: how far a side is usually seen from where it is; tiles lie loosely."""
INSET: Final = 0.03
"""Of a place: how far inside the outer lines their edges may be seen."""
TOGETHER: Final = 1.6
"""How much farther off corners are than if each side were off by itself, as measured (1.3 to 1.7 times, rms): a loose
tile moves four sides, and a lens bends in more ways than one."""
_BELIEVED: Final = 0.3
"""Of a place: how far lines may be from corners that somebody gave."""
_CHANCE: Final = 0.2
"""Nats a side: what agrees less may be noise, as the strongest edge near a side is taken (at most 0.15 in eight
pictures of noise; 0.3 and more where lines or blocks are)."""
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
    windows: tuple[float, ...] = WINDOWS,
    bend: tuple[float, float] | None = None,
    hold: float = 0.25,
) -> Pose:
    """Return the pose with the grid's lines found in ``image`` (whose size is the pose's).

    ``bend`` says that the lens is to be fitted, too: what is thought of it beforehand, and the standard deviation of
    that. ``hold`` is how much the first guess counts where nothing is seen.

    Lines are looked for twice: as tiles lie, from wide to narrow, and as print lies, narrowly about the first guess.
    Where tall things hide many lines the first goes after their tops; which is right the sides tell that agree with it.
    """
    narrow = tuple(window for window in windows if window <= _NARROW)
    edges, size, sides = _edges(image, pose, columns, rows), (columns, rows), many_sides(columns, rows)
    ways = (
        _refined(image, edges, pose, size, windows, bend, hold),
        _refined(image, edges, pose, size, narrow[:_SHARP], bend, hold, sharp=True),
    )
    # Eight numbers can bring eight sides anywhere, which counts the more, the less sides scatter (Occam's factor).
    found = [(way[0].agreed + 8 * np.log(way[1]) / sides, way[0]) for way in ways if way is not None]
    if not found:
        return replace(pose, score=0.0, agreed=0.0)
    best = max(found, key=lambda entry: entry[0])[1]
    return replace(best, score=grid_score(image, best, columns, rows))


def _edges(image: ByteArray, pose: Pose, columns: int, rows: int) -> Edges:
    return edges_of(pose.straighten(image, _SIDE, (-0.7, -0.7, columns + 0.7, rows + 0.7)))


def _refined(
    image: ByteArray,
    edges: Edges,
    pose: Pose,
    size: tuple[int, int],
    windows: tuple[float, ...],
    bend: tuple[float, float] | None,
    hold: float,
    *,
    sharp: bool = False,
) -> tuple[Pose, float] | None:
    """Return the pose with the lines found one way, from its ``edges`` on; None where it is none of a board.

    Also return how far sides scatter about their lines, in places.
    """
    columns, rows = size
    scatter = 1.0
    for number, window in enumerate(windows):
        edges = _edges(image, pose, columns, rows) if number else edges
        seen = _measure(edges, columns, rows, window)
        fit = _fit(seen, pose, columns, rows, bend, hold, window, sharp)
        pose = replace(pose.moved(fit.change), bend=float(np.clip(pose.bend + fit.bend, -0.4, 0.4)))
        if not _sane(pose, columns, rows):
            return None
        pose = replace(pose, error_px=TOGETHER * fit.error * pose.unit_px(columns, rows), agreed=fit.agreed)
        scatter = fit.scatter
    return pose, scatter


def beside_corners(image: ByteArray, start: Pose, layout: Layout) -> Pose:
    """Return the pose refined near corners that somebody gave; believed where no clearer lines are near."""
    columns, rows = layout.columns, layout.rows
    refined = refine(image, start, columns, rows, windows=(0.2, 0.15, LAST, LAST, LAST), hold=0.05)
    unit = start.unit_px(layout.width, layout.height)
    off = np.abs(refined.corners(layout.width, layout.height) - start.corners(layout.width, layout.height)).max()
    edges, size = _edges(image, start, columns, rows), (columns, rows)
    held = (_refined(image, edges, start, size, (LAST,), None, _HELD, sharp=sharp) for sharp in (False, True))
    there = max((one[0].agreed for one in held if one is not None), default=0.0)
    # Eight numbers that are fitted gain so many nats by themselves (Akaike).
    if refined.agreed > max(there + 8 / many_sides(columns, rows), _CHANCE) and off < _BELIEVED * unit:
        return refined
    return replace(start, score=grid_score(image, start, columns, rows), error_px=0.03 * unit, agreed=there)


def many_sides(columns: int, rows: int) -> int:
    """Return how many sides the squares of a grid have; two squares share one."""
    return (columns + 1) * rows + columns * (rows + 1)


def grid_score(image: ByteArray, pose: Pose, columns: int, rows: int) -> float:
    """Return how much stronger edges are on the grid's lines than elsewhere on it, across or down, where that is less.

    About 1 for a grid that is not there.
    """
    edges = _edges(image, pose, columns, rows)
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
    del columns
    return profile


def _measure(edges: Edges, columns: int, rows: int, window: float) -> tuple[FloatArray, FloatArray]:
    """Return for upright and level lines (sides, 4): a side's middle (x, y), how far it is off, and its weight."""
    return _one_way(edges.across, columns, rows, window), _one_way(edges.down.T, rows, columns, window)


def _one_way(edges: FloatArray, columns: int, rows: int, window: float) -> FloatArray:
    profile: Any = _profiles(edges, columns, rows)
    reach = max(2, round(window * _SIDE))
    blur = max(_BLUR * _SIDE, 0.25 * window * _SIDE)
    # Sums over neighbouring squares make weak sides of a line lean on strong ones while the search is wide.
    if window > 0.15:
        profile = cv2.GaussianBlur(profile, (1, 0), sigmaX=0.1, sigmaY=1.0 if rows > 2 else 0.1)
    profile = cv2.GaussianBlur(profile, (0, 0), sigmaX=blur, sigmaY=0.01).astype(np.float64)
    middle = 0.7 * _SIDE - 0.5
    offsets = np.arange(-reach, reach + 1)
    lines = np.arange(columns + 1)
    at = middle + _SIDE * lines[:, None] + offsets[None, :]
    low = np.floor(at).astype(int)
    part = at - low
    values = profile[:, low] * (1 - part) + profile[:, low + 1] * part  # (rows, lines, offsets)
    values = values - np.median(values, axis=2, keepdims=True)
    taper = 1 - 0.5 * (offsets / (reach + 1)) ** 2
    tapered = values * taper
    best = tapered[:, :, 1:-1].argmax(axis=2) + 1
    r, c = np.indices(best.shape)
    left, mid, right = tapered[r, c, best - 1], tapered[r, c, best], tapered[r, c, best + 1]
    curve = left - 2 * mid + right
    sub = np.where(curve < -1e-9, 0.5 * (left - right) / np.minimum(curve, -1e-9), 0.0)
    off = (best - reach + np.clip(sub, -0.6, 0.6)) / _SIDE
    strength = np.maximum(values[r, c, best], 0.0)
    # A peak at the window's end is no peak.
    strength[(best <= 1) | (best >= 2 * reach - 1)] *= 0.1
    y = np.broadcast_to((np.arange(rows) + 0.5)[:, None], best.shape)
    x = np.broadcast_to(lines[None, :].astype(float), best.shape)
    return np.column_stack([x.ravel(), y.ravel(), off.ravel(), strength.ravel()])


@dataclass(frozen=True, slots=True)
class _Fit:
    """``change`` (3, 3) in board units, of the ``bend``, the corners' standard ``error``, in places.

    ``scatter``, in places, is how far sides lie off, ``agreed`` how well they do: see :class:`~vision.board.pose.Pose`.
    """

    change: FloatArray
    bend: float
    error: float
    agreed: float
    scatter: float


def _fit(
    seen: tuple[FloatArray, FloatArray],
    pose: Pose,
    columns: int,
    rows: int,
    bend: tuple[float, float] | None,
    hold: float,
    window: float,
    sharp: bool,
) -> _Fit:
    """Return the change that brings the sides into place.

    In a narrow search clear sides count little more than faint ones, since each is off by how its tiles lie.
    """
    upright, level = seen
    design, target, weight = [], [], []
    for way, found in ((0, upright), (1, level)):
        x, y = (found[:, 0], found[:, 1]) if way == 0 else (found[:, 1], found[:, 0])
        design.append(_design(np.column_stack([x, y]), way, pose, columns, rows, bend is not None))
        target.append(found[:, 2])
        weight.append(found[:, 3] / max(float(found[:, 3].mean()), 1e-6))
    a, b, w0 = np.concatenate(design), np.concatenate(target), np.minimum(np.concatenate(weight), 3.0)
    if window <= _NARROW:
        w0 = np.sqrt(w0)
    # What is thought before anything is seen, as precisions against the usual scatter of a side.
    ridge = np.full(a.shape[1], (SCATTER / hold) ** 2)
    ridge[8] = (SCATTER / INSET) ** 2
    pull = np.zeros(a.shape[1])
    if bend is not None:
        ridge[9] = (SCATTER / bend[1]) ** 2
        pull[9] = ridge[9] * (bend[0] - pose.bend)
    solution, weights, scale, agreed = _agreement(a, b, w0, np.diag(ridge), pull, window, sharp)
    normal = a.T @ (a * weights[:, None]) + np.diag(ridge)
    spread = np.linalg.inv(normal) * scale**2
    corner = np.array([[0, 0], [columns, 0], [columns, rows], [0, rows]], float)
    variance = 0.0
    for way in (0, 1):
        rows_ = _design(corner, way, pose, columns, rows, bend is not None)
        rows_[:, 8] = 0
        variance += float(np.einsum("ij,jk,ik->i", rows_, spread, rows_).mean())
    half = np.array([columns / 2, rows / 2])
    p = solution
    to_local = np.array([[1 / half[0], 0, -1], [0, 1 / half[1], -1], [0, 0, 1]])
    out = np.array([[1, 0, half[0]], [0, 1, half[1]], [0, 0, 1]])
    # From squares centred and scaled to ±1, to places from the middle.
    shaped = np.array(
        [
            [half[0] + p[1], p[2], p[0]],
            [p[4], half[1] + p[5], p[3]],
            [-p[6], -p[7], 1],
        ]
    )
    change = out @ shaped @ to_local
    return _Fit(change / change[2, 2], 0.0 if bend is None else float(p[9]), float(np.sqrt(variance)), agreed, scale)


def _agreement(
    a: FloatArray, b: FloatArray, w0: FloatArray, ridge: FloatArray, pull: FloatArray, window: float, sharp: bool
) -> tuple[FloatArray, FloatArray, float, float]:
    """Return the solution of a·x = b, what each side counts, how far sides scatter, and how well they agree.

    A side is a line's, off by a normal deviate, or another's, and then anywhere in the window (expectation
    maximisation, from the widest scatter down). Of all scatters the likeliest is taken, or the least where lines are to
    be ``sharp``; then the first guess is tried as it is, too. Sides agree by so many nats, in the mean, more than if
    all of them were anywhere.
    """
    total, anywhere = max(float(w0.sum()), 1e-9), 1 / (2 * window)
    down = np.geomspace(window / 2, PRINTED, _SCATTERS).tolist()
    best: tuple[FloatArray, FloatArray, float, float] = np.zeros(a.shape[1]), w0, down[0], -np.inf
    for scatters in (down, down[-1:] * 3) if sharp else (down,):
        solution: Any = np.zeros(a.shape[1])
        lines = 0.5
        for scatter in scatters:
            for step in range(_STEPS + 1):
                off = (b - a @ solution) / scatter
                line = lines * np.exp(-0.5 * off**2) / (np.sqrt(2 * np.pi) * scatter)
                either = line + (1 - lines) * anywhere
                if step < _STEPS:
                    weights = w0 * line / either
                    lines = float(np.clip(weights.sum() / total, 0.05, 0.99))
                    solution = np.linalg.solve(a.T @ (a * weights[:, None]) + ridge, a.T @ (b * weights) + pull)
            agreed = float(w0 @ np.log(either / anywhere)) / total
            if agreed > best[3] and (not sharp or scatter == down[-1]):
                best = solution, weights, scatter, agreed
    return best


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
