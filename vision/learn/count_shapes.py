"""How many of a sort lie in a place, by the shape of what has their colour.

Each pixel says by its colour how likely it belongs to each sort of thing: the colours of taught things against those of
empty places. What is left is a shape that is the same for every colour of a kind, so a small network for each kind
learns from all of its colours together how large and how long one, two or three are, also beside other things.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.board.features import colours
from vision.board.patches import PATCH
from vision.learn.cutouts import inner, taught_places, veiled
from vision.learn.optimiser import TrainingConfig, fit, softmaxes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray
    from vision.board.layout import Layout
    from vision.board.patches import Sampler
    from vision.learn.augment import Examples
    from vision.learn.cutouts import Cutouts, LabelledBoard

    Floats = NDArray[np.float32]

SMALL: Final = 32
_BINS: Final = (14, 18, 18)
_LOW: Final = np.array([0.0, -0.9, -0.9], np.float32)
_STEP: Final = np.array([1 / 14, 0.1, 0.1], np.float32)
_OWN: Final = 24
_OTHER: Final = 8
_INPUTS: Final = _OWN**2 + _OTHER**2 + 1
_HIDDEN: Final = 64
_VEILS: Final = ((0.0, 1.0), (0.03, 0.3), (0.08, 0.2))
"""How thick a veil of mirrored light over a colour is, and how often that is expected."""
_COURSE: Final = TrainingConfig(_HIDDEN, 30, 4e-3, 0.02, 0.2, math.sqrt(2 / 100))
_WAYS: Final = ((0, 5), (2, 7))
"""Two networks of each kind are learnt; in which ways a shape is turned for each when it is read."""
_MOST_EXAMPLES: Final = 3000


@dataclass(frozen=True)
class Sort:
    """Things that are counted together: one thing, or all values of a kind; ``kind`` numbers what shares a shape."""

    things: tuple[int, ...]
    kind: int
    most: int


def sorts_of(layout: Layout) -> tuple[Sort, ...]:
    """Return the sorts of a layout: its single things first, then its kinds with values."""
    valued = {thing for kind in layout.valued for thing in kind}
    kinds: dict[str, int] = {}
    sorts = []
    for groups in ([(t,) for t in range(len(layout.things)) if t not in valued], layout.valued):
        for things in groups:
            kind = kinds.setdefault(layout.things[things[0]].kind, len(kinds))
            sorts.append(Sort(tuple(things), kind, max(layout.most[t] for t in things)))
    return tuple(sorts)


def find_table(sampler: Sampler, taught: Sequence[LabelledBoard], cutouts: Cutouts, sorts: Sequence[Sort]) -> Floats:
    """Return (bins, sorts): how likely a pixel of a colour belongs to each sort; 0 for sorts never seen alone.

    ``cutouts`` are those of the boards.
    """
    owned = taught_places(taught)
    counted = np.zeros((int(np.prod(_BINS)), len(sorts) + 1), np.float32)
    for index, sort in enumerate(sorts):
        for thing in sort.things:
            for cutout in cutouts.get(thing, []):
                inside, outside = inner(cutout), (cutout.cover < 5) & _PLACE
                for veil, often in _VEILS:
                    bins = _bins(veiled(cutout.picture, veil))
                    own = np.bincount(bins[inside], minlength=len(counted)) / max(inside.sum(), 1)
                    counted[:, index] += often * own
                    counted[:, -1] += often * np.bincount(bins[outside], minlength=len(counted)) / (10 * PATCH**2)
    for shot, n, content in owned:
        if not content.things:
            patch = sampler.cut(taught[shot].straight, [n])[0]
            for veil, often in _VEILS:
                bins = _bins(veiled(patch, veil))[_PLACE]
                counted[:, -1] += often * np.bincount(bins, minlength=len(counted)) / PATCH**2
    total = counted.sum(axis=0)
    even = counted / np.maximum(total, 1e-9)
    # A little light more or less moves a colour to the next bin.
    cube: Any = even.reshape(*_BINS, -1)
    for axis in range(3):
        cube = 0.5 * cube + 0.25 * np.roll(cube, 1, axis) + 0.25 * np.roll(cube, -1, axis)
    even = cube.reshape(even.shape)
    even[:, -1] *= 2
    table: Floats = (even[:, :-1] / (even.sum(axis=1, keepdims=True) + 2e-4)).astype(np.float32)
    return table


_AT = np.abs(np.arange(PATCH) - (PATCH - 1) / 2) * 1.6 / PATCH
_PLACE: Final = np.maximum(_AT[:, None], _AT[None]) < 0.6


def _bins(pictures: ByteArray) -> NDArray[np.intp]:
    """Return the number of each pixel's colour."""
    seen = colours(pictures)
    numbers = np.zeros(seen.shape[:-1], np.intp)
    for k, many in enumerate(_BINS):
        numbers *= many
        numbers += np.clip((seen[..., k] - _LOW[k]) / _STEP[k], 0, many - 1).astype(np.intp)
    return numbers


def belonging(picture: ByteArray, table: Floats) -> Floats:
    """Return (height, width, sorts): how likely each pixel of a picture belongs to each sort, by its colour."""
    found: Floats = table[_bins(picture)]
    return found


def amounts_of(patches: ByteArray, table: Floats) -> FloatArray:
    """Return (n, sorts): how much of each sort's colour is in the places of patches (n, PATCH, PATCH, 3), in pixels."""
    amounts: FloatArray = np.stack([belonging(patch, table)[_PLACE].sum(axis=0) for patch in patches]).astype(float)
    return amounts


def _middles(patches: ByteArray) -> NDArray[np.int32]:
    """Return (n, _OWN, _OWN): the numbers of the colours in the middle of patches (n, PATCH, PATCH, 3)."""
    n, rim = len(patches), (SMALL - _OWN) // 2
    tall = patches.reshape(n * PATCH, PATCH, 3)
    small = cv2.resize(tall, (SMALL, n * SMALL), interpolation=cv2.INTER_AREA).astype(np.uint8, copy=False)
    return _bins(np.ascontiguousarray(small.reshape(n, SMALL, SMALL, 3)[:, rim:-rim, rim:-rim])).astype(np.int32)


def _amount(colour: NDArray[np.int32], table: Floats, sort: int) -> Floats:
    """Return (n,): how much of a sort's colour is in the middle of places."""
    amount: Floats = table[:, sort][colour].sum(axis=(1, 2)) / 80
    return amount


def _see(colour: NDArray[np.int32], table: Floats, sort: int | NDArray[np.intp]) -> Floats:
    """Return (n, inputs): the shape of a sort (or one for each row) in the middle of places, and of all others."""
    n, ratio = len(colour), _OWN // _OTHER
    own = table[colour, sort if isinstance(sort, int) else sort[:, None, None]]
    other = table.sum(axis=1)[colour] - own
    inputs = np.empty((n, _INPUTS), np.float32)
    inputs[:, : _OWN**2] = own.reshape(n, -1)
    inputs[:, _OWN**2 : -1] = other.reshape(n, _OTHER, ratio, _OTHER, ratio).mean(axis=(2, 4)).reshape(n, -1)
    inputs[:, -1] = own.sum(axis=(1, 2)) / 80
    return inputs


def train_shapes(examples: Examples, table: Floats, layout: Layout, seed: int = 0) -> dict[str, NDArray[Any]]:
    """Learn how many there are by shape; returns arrays with a network for each kind."""
    sorts = sorts_of(layout)
    rng = np.random.default_rng(seed)
    kinds = 1 + max((sort.kind for sort in sorts), default=-1)
    answers = max((sort.most + 1 for sort in sorts), default=1)
    arrays: dict[str, NDArray[Any]] = {
        "shape_table": table,
        "shape_w1": np.zeros((len(_WAYS), kinds, _INPUTS, _HIDDEN), np.float32),
        "shape_b1": np.zeros((len(_WAYS), kinds, _HIDDEN), np.float32),
        "shape_w2": np.zeros((len(_WAYS), kinds, _HIDDEN, answers), np.float32),
        "shape_b2": np.zeros((len(_WAYS), kinds, answers), np.float32),
        "shape_known": np.zeros(len(sorts), np.bool_),
    }
    if not sorts:
        return arrays
    counts = np.stack([examples.counts[:, list(sort.things)].sum(axis=1) for sort in sorts], axis=1)
    colour = np.concatenate([_middles(examples.patches[i : i + 512]) for i in range(0, len(counts), 512)])
    for kind in range(kinds):
        own = [s for s, sort in enumerate(sorts) if sort.kind == kind and table[:, s].any()]
        if not own:
            continue
        amount = np.stack([_amount(colour, table, s) for s in own], axis=1).ravel()
        y = np.minimum(counts[:, own].reshape(-1), sorts[own[0]].most)
        some = np.nonzero(y > 0)[0]
        none = np.nonzero(y == 0)[0]
        if not len(some) or not len(none):
            continue
        # Of the places without any those count that show something of the colour.
        weight = 0.02 + amount[none]
        none = rng.choice(none, min(len(none), len(some)), replace=False, p=weight / weight.sum())
        rows = rng.permutation(np.concatenate([some, none]))[:_MOST_EXAMPLES]
        seen = _see(colour[rows // len(own)], table, np.array(own)[rows % len(own)])
        _learn(arrays, kind, seen, y[rows], answers, rng)
        arrays["shape_known"][own] = True
    return arrays


def _learn(
    arrays: dict[str, NDArray[Any]], net: int, x: Floats, y: NDArray[np.int64], answers: int, rng: np.random.Generator
) -> None:
    truth = np.eye(answers, dtype=np.float32)[y]
    every = np.stack([_turned(np.arange(_INPUTS)[None], way)[0] for way in range(8)])
    for name, array in fit(x, truth, (answers,), _COURSE, rng, nets=len(_WAYS), ways=every).items():
        arrays[f"shape_{name}"][:, net] = array


def _turned(x: NDArray[Any], way: int) -> NDArray[Any]:
    """Return inputs (n, inputs) turned by quarters, or turned over and turned."""
    parts = []
    for side, part in ((_OWN, x[:, : _OWN**2]), (_OTHER, x[:, _OWN**2 : -1])):
        square = np.rot90(part.reshape(-1, side, side), way % 4, axes=(1, 2))
        parts.append((square[:, :, ::-1] if way > 3 else square).reshape(len(x), -1))
    return np.concatenate([*parts, x[:, -1:]], axis=1)


def read_shapes(patches: ByteArray, arrays: dict[str, NDArray[Any]], sorts: Sequence[Sort]) -> list[Floats | None]:
    """Return for each sort how many the shapes in n patches say that there are (n, most + 1); None: never learnt."""
    colour, table = _middles(patches), arrays["shape_table"]
    return [
        _answer(_see(colour, table, index), arrays, sort.kind, sort.most + 1) if known else None
        for index, (sort, known) in enumerate(zip(sorts, arrays["shape_known"].tolist(), strict=True))
    ]


def _answer(inputs: Floats, arrays: dict[str, NDArray[Any]], net: int, answers: int) -> Floats:
    w1, b1, w2, b2 = (arrays[name] for name in ("shape_w1", "shape_b1", "shape_w2", "shape_b2"))
    if w1.ndim == 3:
        # A profile of before there were two networks.
        w1, b1, w2, b2 = w1[None], b1[None], w2[None], b2[None]
    ways = [(which % len(w1), way) for which, some in enumerate(_WAYS) for way in some]
    mean = np.zeros((len(inputs), answers), np.float32)
    for which, way in ways:
        hidden = np.maximum(_turned(inputs, way) @ w1[which, net] + b1[which, net], 0)
        mean += (hidden @ w2[which, net] + b2[which, net])[:, :answers] / len(ways)
    return softmaxes(mean, (answers,))[0]
