"""How many small marks are printed in a place, learnt from places of which only the number is known.

A crown in a tile's corner is a twentieth of the tile, and what is around it differs from tile to tile. So it is looked
for by itself, close up: every small window of a place is described by its edges' directions and its colours, freed of
what windows on this board have in common (the whitening of linear discriminants, as in Hariharan, Malik and Ramanan,
"Discriminative decorrelation for clustering and classification", ECCV 2012). The window of a marked place that is found
again in the most other marked places, in any of four directions, and in the fewest unmarked ones, is what a mark looks
like; it is averaged over all of them. How sure its count is comes from places that were left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.board.features import colours
from vision.board.patches import CLOSE_PX

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray
    from vision.board.labels import Content
    from vision.board.layout import Layout
    from vision.learn.count_shapes import Sort

    Floats = NDArray[np.float32]

CELL: Final = 4
"""Pixels of a close-up across a cell."""
WINDOWS: Final = (5, 8)
"""Cells across a window: a fifth and a third of a place."""
_DIRECTIONS: Final = 8
_CHANNELS: Final = _DIRECTIONS + 3
_LONGEST: Final = max(WINDOWS) ** 2 * _CHANNELS
_MOST_PLACES: Final = 36
"""Close-ups of every place are taken on boards of so many places at most."""
_MOST_BAGS: Final = 150
_COMPONENTS: Final = 48
_FEWEST: Final = 4
_CANDIDATES: Final = 500
_SEEDS: Final = 10
_TOGETHER: Final = 3
_WORTH: Final = 0.8
_PEAKS: Final = 5
_APART: Final = 0.55
_FOLDS: Final = 4
_ROUNDS: Final = 4
_DOUBT: Final = 0.004
_SAVES: Final = 0.3
"""Of what is not known of the numbers beforehand: what marks must tell to be believed."""

ARRAYS: Final = ("mark_window", "mark_sums", "mark_mean", "mark_axes", "mark_template", "mark_curve")


def may_be_marked(layout: Layout) -> bool:
    """Return whether close-ups of all places are worth taking: few places, and things that may be printed on them."""
    return len(layout.places) <= _MOST_PLACES and any(thing.colour is None for thing in layout.things)


def no_marks(sorts: Sequence[Sort]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a table without marks."""
    return {
        "mark_window": np.zeros(len(sorts), np.int64),
        "mark_sums": np.zeros(len(sorts), np.bool_),
        "mark_mean": np.zeros((0, _LONGEST), np.float32),
        "mark_axes": np.zeros((0, _LONGEST, _COMPONENTS), np.float32),
        "mark_template": np.zeros((0, _TOGETHER, 4, _COMPONENTS), np.float32),
        "mark_curve": np.zeros((0, _TOGETHER, 2), np.float32),
    }


@dataclass(frozen=True)
class _Bag:
    """A place with so many marks: ``windows`` (n, numbers), on a grid ``side`` wide."""

    many: int
    windows: Floats
    side: int


@dataclass(frozen=True)
class _Space:
    """Where windows are compared: ``mean`` (numbers,), ``axes`` (numbers, components) that free them of the usual, and
    ``turns`` (4, components, components): what a turn of the picture by a quarter does there.
    """

    mean: Floats
    axes: Floats
    turns: Floats


def _project(windows: Floats, mean: Floats, axes: Floats) -> Floats:
    """Return (n, components) of windows, each of length 1."""
    seen = (windows - mean) @ axes
    even: Floats = seen / (np.linalg.norm(seen, axis=1, keepdims=True) + 1e-6)
    return even


def describe_cells(close: ByteArray) -> Floats:
    """Return (cells, cells, channels) of a close-up: directions of edges, and colours."""
    seen = colours(close)
    root = np.sqrt(np.maximum(seen[..., 0], 0) + 0.02)
    gx, gy = cv2.Scharr(root, cv2.CV_32F, 1, 0) / 16, cv2.Scharr(root, cv2.CV_32F, 0, 1) / 16
    size: Any
    turn: Any
    size, turn = cv2.cartToPolar(gx, gy)
    turn *= np.float32(_DIRECTIONS / (2 * np.pi))
    cells = close.shape[0] // CELL
    out = np.empty((cells, cells, _CHANNELS), np.float32)
    for k in range(_DIRECTIONS):
        # Around the circle a direction is at most half of it away from another.
        off = np.abs(np.abs(turn - np.float32(k)) - np.float32(_DIRECTIONS / 2))
        share = size * np.maximum(off - np.float32(_DIRECTIONS / 2 - 1), 0)
        out[..., k] = cv2.resize(share, (cells, cells), interpolation=cv2.INTER_AREA)
    strength = out[..., :_DIRECTIONS].sum(axis=2)
    around: Any = cv2.blur(strength, (5, 5), borderType=cv2.BORDER_REFLECT)
    out[..., :_DIRECTIONS] = np.sqrt(out[..., :_DIRECTIONS] / (around + 0.01)[..., None])
    out[..., _DIRECTIONS:] = cv2.resize(seen, (cells, cells), interpolation=cv2.INTER_AREA)
    return out


def cut_windows(cells: Floats, wide: int) -> tuple[Floats, int]:
    """Return (n, numbers): all windows whose middle is in the place, row by row; and how many there are in a row."""
    whole = cells.shape[0]
    place = CLOSE_PX / CELL
    first = int(np.ceil((whole - place) / 2 + 1 - wide / 2))
    last = int(np.floor((whole + place) / 2 - 1 - wide / 2))
    view = np.lib.stride_tricks.sliding_window_view(
        cells[first : last + wide, first : last + wide], (wide, wide), (0, 1)
    )
    side = view.shape[0]
    windows = np.ascontiguousarray(view.transpose(0, 1, 3, 4, 2)).reshape(side * side, wide, wide, _CHANNELS)
    # How bright a window is on the whole says little.
    luma = windows[..., _DIRECTIONS]
    luma -= luma.mean(axis=(1, 2), keepdims=True)
    return windows.reshape(side * side, -1), side


def turned(windows: Floats, wide: int, quarter: int) -> Floats:
    """Return windows (n, numbers) as they look when the picture is turned by so many quarters, against the clock."""
    shaped = np.rot90(windows.reshape(-1, wide, wide, _CHANNELS), quarter, axes=(1, 2))
    directions = np.roll(shaped[..., :_DIRECTIONS], -quarter * _DIRECTIONS // 4, axis=3)
    again: Floats = np.concatenate([directions, shaped[..., _DIRECTIONS:]], axis=3).reshape(len(windows), -1)
    return again


def train_marks(
    layout: Layout,
    sorts: Sequence[Sort],
    taught: Sequence[tuple[Mapping[int, ByteArray], Mapping[int, Content]]],
    wanted: Sequence[bool],
    read: Sequence[bool] = (),
) -> dict[str, NDArray[Any]]:
    """Learn the marks of each wanted sort from close-ups and contents by place, a pair for each photo.

    Of sorts whose values are ``read`` in another way marks are learnt only where their number tells the values.
    """
    arrays = no_marks(sorts)
    closes = [(close[n], contents[n]) for close, contents in taught for n in sorted(close) if n in contents]
    if not closes or not any(wanted):
        return arrays
    rng = np.random.default_rng(0)
    described = [describe_cells(close) for close, _ in closes]
    for index, sort in enumerate(sorts):
        if not wanted[index] or (sums := _sums(layout, sort)) is None:
            continue
        many = [_marks(layout, sort, content, sums) for _, content in closes]
        chosen = _chosen(many, rng)
        most = max(many) if sums else sort.most
        found = [
            learnt
            for wide in WINDOWS
            if (learnt := _learn([_Bag(many[i], *cut_windows(described[i], wide)) for i in chosen], wide, most))
            and (learnt.apart > _SAVES or not (read and read[index]))
        ]
        if found:
            # Most places have no mark: how well the others are told apart counts as much as which these are.
            best = max(found, key=lambda learnt: learnt.saved + learnt.apart)
            arrays["mark_window"][index], arrays["mark_sums"][index] = best.wide, sums
            numbers = best.space.mean.size
            mean, axes = np.zeros((1, _LONGEST), np.float32), np.zeros((1, _LONGEST, _COMPONENTS), np.float32)
            mean[0, :numbers], axes[0, :numbers, : best.space.axes.shape[1]] = best.space.mean, best.space.axes
            for name, new in (
                ("mark_mean", mean), ("mark_axes", axes),
                ("mark_template", best.templates[None]), ("mark_curve", best.curves[None]),
            ):  # fmt: skip
                arrays[name] = np.concatenate([arrays[name], new])
    return arrays


def read_marks(closes: Sequence[ByteArray], arrays: Mapping[str, NDArray[Any]], sort: int, most: int) -> Floats | None:
    """Return (n, most + 1): how likely how many marks of a sort are in close-ups; None where they were never learnt."""
    wide = int(arrays["mark_window"][sort])
    if not wide or not closes:
        return None
    at = int(np.count_nonzero(arrays["mark_window"][:sort]))
    numbers = wide * wide * _CHANNELS
    mean, axes = arrays["mark_mean"][at, :numbers], arrays["mark_axes"][at, :numbers]
    seen, side = [], 1
    for close in closes:
        windows, side = cut_windows(describe_cells(close), wide)
        seen.append(_project(windows, mean, axes))
    every = np.stack(seen)
    likelihoods = np.zeros((len(closes), most + 1), np.float32)
    for template, curve in zip(arrays["mark_template"][at], arrays["mark_curve"][at], strict=True):
        likelihoods += np.log(_numbers(_peaks(every @ template.T, _Grid(side, wide))[0], curve, most) + 1e-6)
    likelihoods = np.exp(likelihoods / _TOGETHER)
    numbers_of: Floats = likelihoods / likelihoods.sum(axis=1, keepdims=True)
    return numbers_of


def _sums(layout: Layout, sort: Sort) -> bool | None:
    """Return whether there are as many marks as the value says (or as things); None where values are something else."""
    values = [layout.things[t].value for t in sort.things]
    if values[0] is None:
        return False
    whole = all(isinstance(v, int) and 0 < v <= _PEAKS for v in values)
    return True if whole and sort.most == 1 else None


def _marks(layout: Layout, sort: Sort, content: Content, sums: bool) -> int:
    total = 0
    for thing in sort.things:
        value = layout.things[thing].value
        total += content.count(thing) * (value if sums and isinstance(value, int) else 1)
    return total


def _chosen(many: list[int], rng: np.random.Generator) -> list[int]:
    """Return the places to learn from: marked ones first, and as many others as there is room for."""
    order = rng.permutation(len(many)).tolist()
    marked = [i for i in order if many[i]][: _MOST_BAGS // 2]
    return marked + [i for i in order if not many[i]][: _MOST_BAGS - len(marked)]


@dataclass(frozen=True)
class _Learnt:
    """A mark's ``templates`` (together, 4, components) in all directions, with a curve (2,) for each.

    ``saved`` is how much the best tells of the numbers, 0…1; ``apart`` the same of places that have any.
    """

    wide: int
    space: _Space
    templates: Floats
    curves: Floats
    saved: float
    apart: float


def _learn(bags: list[_Bag], wide: int, most: int) -> _Learnt | None:
    """Return what marks look like in windows of one size; None where that does not tell how many there are."""
    marked = [i for i, bag in enumerate(bags) if bag.many]
    if len(marked) < _FEWEST or len(bags) - len(marked) < _FEWEST:
        return None
    space = _space(bags, wide)
    seen = np.stack([_project(bag.windows, space.mean, space.axes) for bag in bags])
    many = np.array([bag.many for bag in bags])
    grid = _Grid(bags[0].side, wide)
    fold = np.empty(len(bags), np.int64)
    fold[np.argsort(many, kind="stable")] = np.arange(len(bags)) % _FOLDS
    tried: list[tuple[float, Floats, Floats, Floats]] = []
    for seed in _seeds(bags, seen, space, marked):
        peaks = np.empty((len(bags), _PEAKS), np.float32)
        for left in range(_FOLDS):
            out = fold == left
            template = _refined(seen[~out], many[~out], space, grid, seed)
            peaks[out] = _peaks(seen[out] @ template.T, grid)[0]
        curve, saved = _curve(peaks, np.minimum(many, most), most)
        tried.append((saved, curve, seed, peaks))
    tried.sort(key=lambda entry: -entry[0])
    if not tried or tried[0][0] < _SAVES:
        return None
    # Several are asked: each was averaged from another seed. One that tells much less is not.
    kept = [entry for entry in tried[:_TOGETHER] if entry[0] > _WORTH * tried[0][0]]
    kept = [kept[k % len(kept)] for k in range(_TOGETHER)]
    templates = np.stack([_refined(seen, many, space, grid, seed) for _, _, seed, _ in kept])
    saved, curve, _, peaks = tried[0]
    apart = _told_apart(peaks[marked], curve, np.minimum(many[marked], most), most)
    return _Learnt(wide, space, templates, np.stack([curve for _, curve, _, _ in kept]), saved, apart)


def _told_apart(peaks: Floats, curve: Floats, many: NDArray[np.int64], most: int) -> float:
    """Return how much peaks (n, peaks) of marked places tell of their numbers; 0 where all are the same."""
    share = np.bincount(many, minlength=most + 1) / len(many)
    before = -float(np.log(share[many]).mean())
    p = _numbers(peaks, curve, most)[:, 1:]
    left = -float(np.log((p / p.sum(axis=1, keepdims=True))[np.arange(len(many)), many - 1] + 1e-4).mean())
    return 1 - left / before if before > 1e-6 else 0.0


@dataclass(frozen=True)
class _Grid:
    """Where windows lie: so many in a row, and so many cells across each."""

    side: int
    wide: int


def _space(bags: list[_Bag], wide: int) -> _Space:
    sample = np.concatenate([bag.windows[k % 11 :: 11] for k, bag in enumerate(bags)])
    # Any direction is as usual as another.
    sample = np.concatenate([turned(sample, wide, k) for k in range(4)])
    mean = sample.mean(axis=0)
    sample -= mean
    values, vectors = np.linalg.eigh(sample.T @ sample / len(sample))
    keep = np.argsort(values)[::-1][:_COMPONENTS]
    soft = np.sqrt(values[keep] + 0.03 * values[keep[0]])
    axes = (vectors[:, keep] / soft).astype(np.float32)
    back = (vectors[:, keep] * soft).astype(np.float32).T
    turns = np.stack([turned(back, wide, k) @ axes for k in range(4)])
    return _Space(mean.astype(np.float32), axes, turns)


def _seeds(bags: list[_Bag], seen: Floats, space: _Space, marked: list[int]) -> list[Floats]:
    """Return windows (components,) of marked places that other marked places have, too, and unmarked ones have not."""
    share = max(_CANDIDATES // len(marked), 6)
    chosen, source = [], []
    for i in marked:
        # What is unlike the usual is likelier a mark than what is like it, but no two of one spot.
        odd = np.linalg.norm((bags[i].windows - space.mean) @ space.axes, axis=1)
        grid = odd.reshape(bags[i].side, -1)
        local: Any = cv2.dilate(grid, np.ones((3, 3), np.uint8))
        spots = np.nonzero((grid >= local).ravel())[0]
        spots = spots[np.argsort(-odd[spots])[:share]]
        chosen.append(seen[i][spots])
        source += [i] * len(spots)
    candidates = np.concatenate(chosen)
    every = np.concatenate([candidates @ space.turns[k].T for k in range(4)])
    found = np.empty((len(candidates), len(bags)), np.float32)
    for i, windows in enumerate(seen):
        found[:, i] = (windows @ every.T).max(axis=0).reshape(4, -1).max(axis=0)
    without = [i for i, bag in enumerate(bags) if not bag.many]
    usual = np.quantile(found[:, without], 0.9, axis=1)
    spread = found[:, without].std(axis=1) + 0.02
    # A seed finds itself: what it finds in the better part of the other places counts.
    others = np.sort(found[:, marked], axis=1)[:, len(marked) // 4 : -1]
    clear = np.tanh((others - usual[:, None]) / (2 * spread[:, None])).mean(axis=1)
    seeds: list[Floats] = []
    used: set[int] = set()
    for index in np.argsort(-clear):
        if source[index] not in used:
            used.add(source[index])
            seeds.append(candidates[index])
        if len(seeds) == _SEEDS:
            break
    return seeds


def _refined(seen: Floats, many: NDArray[np.int64], space: _Space, grid: _Grid, seed: Floats) -> Floats:
    """Return the template (4, components) that comes of a seed: averaged with what it finds, round by round."""
    template = seed
    plain = seen[:, :: max(1, seen.shape[1] // 60)].reshape(-1, seen.shape[2])
    scatter = plain.T @ plain / len(plain)
    scatter += 0.3 * np.trace(scatter) / len(scatter) * np.eye(len(scatter), dtype=np.float32)
    ranks = np.arange(_PEAKS)
    for _ in range(_ROUNDS):
        turns = np.stack([space.turns[k] @ template for k in range(4)])
        _, spots, ways = _peaks(seen @ turns.T, grid)
        windows = seen[np.arange(len(seen))[:, None], spots]
        aligned = np.einsum("bpc,bpcd->bpd", windows, space.turns[ways])
        wanted = aligned[ranks < many[:, None]]
        unwanted = aligned[(ranks >= many[:, None]) & (ranks < many[:, None] + 3)]
        scores = wanted @ template
        weight = np.where(scores >= np.quantile(scores, 0.2), 1.0, 0.2).astype(np.float32)
        mean = (wanted * weight[:, None]).sum(axis=0) / weight.sum()
        near = unwanted - unwanted.mean(axis=0)
        within = (wanted - mean).T @ (wanted - mean) / len(wanted) + near.T @ near / len(near) + 0.3 * scatter
        within += 0.1 * np.trace(within) / len(within) * np.eye(len(within), dtype=np.float32)
        template = np.linalg.solve(within, mean - unwanted.mean(axis=0)).astype(np.float32)
        template /= np.linalg.norm(template) + 1e-9
    whole: Floats = np.stack([space.turns[k] @ template for k in range(4)])
    return whole


def _peaks(scores: Floats, grid: _Grid) -> tuple[Floats, NDArray[np.intp], NDArray[np.intp]]:
    """Return (places, peaks) the best scores of windows (places, n, 4) apart from each other, which, and turned how."""
    best, way = scores.max(axis=2), scores.argmax(axis=2)
    places = np.arange(len(best))
    values = np.empty((len(best), _PEAKS), np.float32)
    spots = np.empty((len(best), _PEAKS), np.intp)
    ys, xs = np.divmod(np.arange(best.shape[1]), grid.side)
    apart = max(2.0, _APART * grid.wide)
    for k in range(_PEAKS):
        spots[:, k] = best.argmax(axis=1)
        values[:, k] = best[places, spots[:, k]]
        y, x = np.divmod(spots[:, k], grid.side)
        best[np.maximum(np.abs(ys - y[:, None]), np.abs(xs - x[:, None])) < apart] = -1
    return values, spots, way[places[:, None], spots]


def _numbers(peaks: Floats, curve: Floats, most: int) -> Floats:
    """Return (n, most + 1): how likely how many of the peaks (n, peaks) are marks, each by itself."""
    p = (1 - 2 * _DOUBT) / (1 + np.exp(-curve[0] * (peaks - curve[1]))) + _DOUBT
    ways = np.zeros((len(peaks), most + 1), np.float32)
    ways[:, 0] = 1
    for k in range(peaks.shape[1]):
        grown = ways * (1 - p[:, k : k + 1])
        grown[:, 1:] += ways[:, :-1] * p[:, k : k + 1]
        grown[:, -1] += ways[:, -1] * p[:, k]
        ways = grown
    numbers: Floats = ways / ways.sum(axis=1, keepdims=True)
    return numbers


def _curve(peaks: Floats, many: NDArray[np.int64], most: int) -> tuple[Floats, float]:
    """Return the curve (steepness, middle) under which the truth is likeliest, and how much it tells of the truth."""
    rows = np.arange(len(many))
    share = np.bincount(many, minlength=most + 1) / len(many)
    before = -float(np.log(share[many]).mean())
    best, curve = np.inf, np.zeros(2, np.float32)
    for middle in np.quantile(peaks[:, :3], np.linspace(0.3, 0.995, 40)):
        for steep in (4, 7, 11, 16, 24, 36, 55):
            tried = np.array([steep, middle], np.float32)
            left = -float(np.log(_numbers(peaks, tried, most)[rows, many] + 1e-4).mean())
            if left < best:
                best, curve = left, tried
    return curve, 1 - best / max(before, 1e-6)
