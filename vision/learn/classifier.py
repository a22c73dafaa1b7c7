"""A small network from features to what lies in a place: one answer for the ground, one for the number of each thing.

One hidden layer on whitened features, trained with Adam on the examples of ``augment`` in a few seconds. What was never
taught has no answer of its own; that a place shows something new is told by :mod:`vision.learn.outlier_score`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vision.board.features import describe
from vision.learn.count_marks import ARRAYS as MARK_ARRAYS
from vision.learn.count_marks import read_marks
from vision.learn.count_shapes import Sort, read_shapes, sorts_of
from vision.learn.optimiser import TrainingConfig, fit, projected, projection, softmaxes
from vision.learn.outlier_score import ARRAYS as STRANGENESS
from vision.learn.outlier_score import strangeness
from vision.learn.whole_contents import ARRAYS as WHOLE
from vision.learn.whole_contents import read_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray
    from vision.board.labels import Content
    from vision.board.layout import Layout
    from vision.learn.augment import Examples

    Floats = NDArray[np.float32]

COMPONENTS: Final = 160
HIDDEN: Final = 128
EPOCHS: Final = 22
NOISE: Final = 0.25
DROP: Final = 0.3
_SOME: Final = 0.02
_BESIDE: Final = 0.1
_SHAPES: Final = 0.75
"""What the shape counts when it is asked how many, of one."""


@dataclass(frozen=True)
class PlacePrediction:
    """What the network says of n places: ``ground`` (n, grounds) and ``counts[t]`` (n, most + 1) are probabilities.

    ``totals[k]`` (n, most + 1) are those of all things together of the k-th kind with values.
    ``strange`` (n,) is how likely something is there that was never taught.
    ``inside`` (n, components) are the whitened features, ``features`` (n, features) those as they are.
    """

    ground: Floats
    counts: tuple[Floats, ...]
    totals: tuple[Floats, ...]
    strange: Floats
    inside: Floats
    features: Floats


_LATER: Final = (*STRANGENESS, *WHOLE, "height")
"""What networks that were stored before there was such a thing are without."""
ARRAYS: Final = (
    "words",
    "mean",
    "scale",
    "axes",
    "temperature",
    "w1",
    "b1",
    "w2",
    "b2",
    *_LATER,
    "shape_table",
    "shape_w1",
    "shape_b1",
    "shape_w2",
    "shape_b2",
    "shape_known",
    *MARK_ARRAYS,
)
"""What a network is stored as."""


@dataclass(frozen=True)
class Network:
    """Everything learnt, as arrays; ``arrays`` are what is stored."""

    arrays: dict[str, NDArray[Any]]
    heads: tuple[int, ...]
    things: int
    sorts: tuple[Sort, ...]

    def whiten(self, features: Floats) -> Floats:
        """Return (n, components): features scaled by group and projected."""
        return projected(features, self.arrays)

    def read(self, patches: ByteArray) -> PlacePrediction:
        """Say what lies in places by their patches, in the taught light."""
        a = self.arrays
        features = describe(patches, a)
        white = self.whiten(features)
        outputs = np.zeros((len(white), sum(self.heads)), np.float32)
        for net in range(len(a["w1"])):
            hidden = np.maximum(white @ a["w1"][net] + a["b1"][net], 0)
            outputs += hidden @ a["w2"][net] + a["b2"][net]
        outputs /= len(a["w1"]) * float(a["temperature"])
        parts = softmaxes(outputs, self.heads)
        counts, totals = tuple(parts[1 : 1 + self.things]), tuple(parts[1 + self.things :])
        return PlacePrediction(parts[0], counts, totals, strangeness(features, a), white, features)

    def whole(self, patches: ByteArray, features: Floats) -> list[dict[Content, float]]:
        """Return how likely each place shows what was taught as a whole, by :mod:`vision.learn.whole_contents`."""
        return read_whole(features, patches, self.arrays)

    def count(self, patches: ByteArray, reading: PlacePrediction) -> None:
        """Let the shapes have their say about how many there are of each sort."""
        singles = sum(len(sort.things) == 1 for sort in self.sorts)
        parts = [
            reading.counts[s.things[0]] if i < singles else reading.totals[i - singles]
            for i, s in enumerate(self.sorts)
        ]
        if not parts:
            return
        some = np.nonzero(np.max([1 - part[:, 0] for part in parts], axis=0) > _SOME)[0]
        if not len(some):
            return
        shapes = read_shapes(np.ascontiguousarray(patches[some]), self.arrays, self.sorts)
        for part, sort, shape in zip(parts, self.sorts, shapes, strict=True):
            if shape is None:
                continue
            p, q = np.maximum(part[some, : sort.most + 1], 1e-6), np.maximum(shape, 1e-6)
            # Whether there is any is told by colour and texture, too; how many, by the shape above all.
            none = p[:, :1] * q[:, :1]
            any_ = (1 - p[:, :1] + 1e-6) * (1 - q[:, :1] + 1e-6)
            none = none / (none + any_)
            # Both see the same pixels, so they are no two witnesses: their weights add up to one (a logarithmic pool).
            more = p[:, 1:] ** (1 - _SHAPES) * q[:, 1:] ** _SHAPES
            part[some, : sort.most + 1] = np.concatenate(
                [none, (1 - none) * more / more.sum(axis=1, keepdims=True)], axis=1
            )

    @property
    def height(self) -> float:
        """Return how high above the board what is read stands, in board units; 0 in profiles of before it was told."""
        return float(self.arrays.get("height", 0.0))

    @cached_property
    def marked(self) -> bool:
        """Return whether small marks are counted, for which all places are looked at close up."""
        return bool(self.arrays["mark_window"].any())

    def sums_marks(self, kind: int) -> bool:
        """Return whether the marks of a kind with values (its position in ``layout.valued``) tell its value."""
        singles = sum(len(sort.things) == 1 for sort in self.sorts)
        return bool(self.arrays["mark_sums"][singles + kind])

    def count_marks(self, reading: PlacePrediction, close: Mapping[int, ByteArray]) -> None:
        """Let the marks that are seen in close-ups, by place, have their say about how many there are."""
        rows = np.array(sorted(close), np.intp)
        singles = sum(len(sort.things) == 1 for sort in self.sorts)
        for index, sort in enumerate(self.sorts):
            sums = bool(self.arrays["mark_sums"][index])
            most = len(sort.things) if sums else sort.most
            p = read_marks([close[n] for n in rows.tolist()], self.arrays, index, most)
            if p is None:
                continue
            part = reading.counts[sort.things[0]] if index < singles else reading.totals[index - singles]
            if not sums:
                part[rows] = _agreed(part[rows], p)
                continue
            part[rows, :2] = _agreed(part[rows, :2], np.stack([p[:, 0], 1 - p[:, 0]], axis=1))
            self._value(reading, rows, sort, p[:, 1:])

    @staticmethod
    def _value(reading: PlacePrediction, some: NDArray[np.intp], sort: Sort, value: Floats) -> None:
        """Let marks say which value a single thing has; told as odds, of which the likeliest way is made."""
        own = np.stack([reading.counts[t][some, 1] for t in sort.things], axis=1)
        odds = np.maximum(own, 1e-4) ** _BESIDE * np.maximum(value, 1e-4)
        odds /= odds.sum(axis=1, keepdims=True)
        for column, thing in enumerate(sort.things):
            part = reading.counts[thing]
            part[some, 1] = odds[:, column]
            part[some, 0] = 1
            part[some] /= part[some].sum(axis=1, keepdims=True)


def _agreed(usual: Floats, marks: Floats) -> Floats:
    """Return what marks (n, numbers) tell, and a little what else is thought of the numbers."""
    both = np.maximum(usual, 1e-4) ** _BESIDE * np.maximum(marks, 1e-5)
    agreed: Floats = both / both.sum(axis=1, keepdims=True)
    return agreed


def heads_of(layout: Layout) -> tuple[int, ...]:
    """Return the sizes of the network's answers: grounds, the numbers of each thing, those of kinds with values."""
    totals = (max(layout.most[t] for t in kind) + 1 for kind in layout.valued)
    return (len(layout.grounds), *(most + 1 for most in layout.most), *totals)


def network_of(arrays: Mapping[str, NDArray[Any]], layout: Layout) -> Network:
    """Return the network that was learnt, or is stored, as arrays.

    :raises KeyError: one is missing.
    """
    kept = {name: arrays[name] for name in ARRAYS if name in arrays or name not in _LATER}
    return Network(kept, heads_of(layout), len(layout.things), sorts_of(layout))


def train(
    features: Floats, examples: Examples, layout: Layout, rng: np.random.Generator, *, nets: int = 3
) -> dict[str, NDArray[Any]]:
    """Return the arrays of the network itself, learnt from examples whose ``features`` (n, features) are given."""
    by = projection(features, COMPONENTS)
    white = projected(features, by)
    heads = heads_of(layout)
    targets = _targets(examples, heads, layout)
    course = TrainingConfig(HIDDEN, EPOCHS, 3e-3, 0.01, DROP, float(np.sqrt(2 / white.shape[1])), NOISE)
    return {**by, "temperature": np.array(1.0, np.float32), **fit(white, targets, heads, course, rng, nets=nets)}


def _targets(examples: Examples, heads: tuple[int, ...], layout: Layout) -> Floats:
    """Return (n, outputs) of ones where the truth is."""
    n = len(examples.ground)
    targets = np.zeros((n, sum(heads)), np.float32)
    targets[np.arange(n), examples.ground] = 1
    at = heads[0]
    totals = [examples.counts[:, list(kind)].sum(axis=1) for kind in layout.valued]
    for many, size in zip([*examples.counts.T, *totals], heads[1:], strict=True):
        targets[np.arange(n), at + np.minimum(many, size - 1)] = 1
        at += size
    return targets
