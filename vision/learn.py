"""A small network from features to what lies in a place: one answer for the ground, one for the number of each thing.

One hidden layer on whitened features, trained with Adam on the examples of ``compose`` in a few seconds. What was never
taught has no answer of its own; that a place shows something new is told by its distance to everything that was taught.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .features import describe
from .fitting import Course, fit, noisy, projected, projection, softmaxes
from .marks import ARRAYS as MARK_ARRAYS
from .marks import read_marks
from .shapes import Sort, read_shapes, sorts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray

    from .compose import Examples
    from .layout import Layout

    Floats = NDArray[np.float32]

COMPONENTS: Final = 160
HIDDEN: Final = 128
EPOCHS: Final = 22
NOISE: Final = 0.25
DROP: Final = 0.3
_BANK: Final = 2500
_SOME: Final = 0.02
_BESIDE: Final = 0.1
_ENOUGH: Final = 100


@dataclass(frozen=True)
class Reading:
    """What the network says of n places: ``ground`` (n, grounds) and ``counts[t]`` (n, most + 1) are probabilities.

    ``totals[k]`` (n, most + 1) are those of all things together of the k-th kind with values.
    ``odd`` (n,) is how unlike everything taught a place looks: 1 is as far as taught things come, 2 twice as far.
    ``inside`` (n, components) are the whitened features.
    """

    ground: Floats
    counts: tuple[Floats, ...]
    totals: tuple[Floats, ...]
    odd: Floats
    inside: Floats


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
    "bank",
    "usual",
    "most_beside",
    "shape_table",
    "shape_w1",
    "shape_b1",
    "shape_w2",
    "shape_b2",
    "shape_known",
    "shape_values",
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

    def beside(self, features: Floats, white: Floats) -> Floats:
        """Return (n, 2): how much of a place its whitened features do not tell, and how strange its colours are."""
        a = self.arrays
        whole = (((features - a["mean"]) * a["scale"]) ** 2).sum(axis=1)
        told = (white**2 / (a["axes"] ** 2).sum(axis=0)).sum(axis=1)
        return np.column_stack([np.sqrt(np.maximum(whole - told, 0)), features[:, -1]]).astype(np.float32)

    def read(self, patches: ByteArray) -> Reading:
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
        strange = self.beside(features, white) / a["most_beside"]
        odd = np.maximum(self.oddness(white), strange.max(axis=1))
        return Reading(parts[0], counts, totals, odd, white)

    def count(self, patches: ByteArray, reading: Reading) -> None:
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
        for part, sort, shape in zip(parts, self.sorts, shapes.counts, strict=True):
            if shape is None:
                continue
            p, q = np.maximum(part[some, : sort.most + 1], 1e-6), np.maximum(shape, 1e-6)
            # Whether there is any is told by colour and texture, too; how many, by the shape above all.
            none = p[:, :1] * q[:, :1]
            any_ = (1 - p[:, :1] + 1e-6) * (1 - q[:, :1] + 1e-6)
            none = none / (none + any_)
            more = np.sqrt(p[:, 1:]) * q[:, 1:] ** 1.5
            part[some, : sort.most + 1] = np.concatenate(
                [none, (1 - none) * more / more.sum(axis=1, keepdims=True)], axis=1
            )
        for sort, value in zip(self.sorts[singles:], shapes.values, strict=True):
            if value is not None:
                self._value(reading, some, sort, value)

    @cached_property
    def marked(self) -> bool:
        """Return whether small marks are counted, for which all places are looked at close up."""
        return bool(self.arrays["mark_window"].any())

    def count_marks(self, reading: Reading, close: Mapping[int, ByteArray]) -> None:
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
            self._value(reading, rows, sort, p[:, 1:], _BESIDE)

    @staticmethod
    def _value(reading: Reading, some: NDArray[np.intp], sort: Sort, value: Floats, beside: float = 0.5) -> None:
        """Let the shape say which value a single thing has; told as odds, of which the likeliest way is made."""
        own = np.stack([reading.counts[t][some, 1] for t in sort.things], axis=1)
        odds = np.maximum(own, 1e-4) ** beside * np.maximum(value, 1e-4)
        odds /= odds.sum(axis=1, keepdims=True)
        for column, thing in enumerate(sort.things):
            part = reading.counts[thing]
            part[some, 1] = odds[:, column]
            part[some, 0] = 1
            part[some] /= part[some].sum(axis=1, keepdims=True)

    def oddness(self, white: Floats) -> Floats:
        """Return how far each place is from all examples, against how far those are from each other."""
        bank = self.arrays["bank"]
        distance = (white * white).sum(axis=1)[:, None] + (bank * bank).sum(axis=1)[None] - 2 * white @ bank.T
        nearest = np.sqrt(np.maximum(np.partition(distance, 2, axis=1)[:, :3].mean(axis=1), 0))
        odd: Floats = nearest / float(self.arrays["usual"])
        return odd


def _agreed(usual: Floats, marks: Floats) -> Floats:
    """Return what marks (n, numbers) tell, and a little what else is thought of the numbers."""
    both = np.maximum(usual, 1e-4) ** _BESIDE * np.maximum(marks, 1e-5)
    agreed: Floats = both / both.sum(axis=1, keepdims=True)
    return agreed


def heads_of(layout: Layout) -> tuple[int, ...]:
    """Return the sizes of the network's answers: grounds, the numbers of each thing, those of kinds with values."""
    totals = (max(layout.most[t] for t in kind) + 1 for kind in layout.valued)
    return (len(layout.grounds), *(most + 1 for most in layout.most), *totals)


def train(
    examples: Examples, known: dict[str, NDArray[Any]], layout: Layout, *, nets: int = 3, seed: int = 0
) -> Network:
    """Learn from examples; takes some seconds."""
    features = np.concatenate(
        [describe(examples.patches[i : i + 512], known) for i in range(0, len(examples.patches), 512)]
    )
    by = projection(features, COMPONENTS)
    white = projected(features, by)
    heads = heads_of(layout)
    targets = _targets(examples, heads, layout)
    rng = np.random.default_rng(seed)
    course = Course(HIDDEN, EPOCHS, 1.5e-3, 0.01, DROP, float(np.sqrt(2 / white.shape[1])))
    fitted = [fit(white, targets, heads, course, rng, noisy(NOISE)) for _ in range(nets)]
    arrays: dict[str, NDArray[Any]] = {
        **known,
        **by,
        "temperature": np.array(1.0, np.float32),
        **{name: np.stack([net[name] for net in fitted]) for name in ("w1", "b1", "w2", "b2")},
    }
    order = rng.permutation(len(white))
    kept = min(_BANK, len(white) - len(white) // 4)
    bank, rest = order[:kept], order[kept : 2 * kept]
    arrays["bank"] = white[bank]
    arrays["usual"] = np.array(1.0, np.float32)
    network = Network(arrays, heads, len(layout.things), sorts_of(layout))
    if len(rest) > 20:
        arrays["usual"] = np.array(np.quantile(network.oddness(white[rest]), 0.98), np.float32)
    arrays["most_beside"] = np.quantile(network.beside(features, white), 0.99, axis=0).astype(np.float32) + 1e-6
    wider = _wider(white, examples, bank, rest) / float(arrays["usual"])
    if wider > 1:
        arrays["usual"] *= np.float32(wider)
        arrays["most_beside"] *= np.float32(wider)
    return network


def _wider(white: Floats, examples: Examples, bank: NDArray[np.intp], rest: NDArray[np.intp]) -> float:
    """Return how far places come from all other places, of those whose content was taught in several; 0 where few were.

    Where each place of a class has a picture of its own, the next one will look as new as they do to each other.
    """
    sources: dict[int, set[int]] = {}
    for state, source in zip(examples.state.tolist(), examples.source.tolist(), strict=True):
        if source >= 0:
            sources.setdefault(state, set()).add(source)
    shared = np.array([len(sources.get(state, ())) > 1 for state in range(int(examples.state.max()) + 1)])
    rows = rest[(examples.source[rest] >= 0) & shared[examples.state[rest]]]
    if len(rows) < _ENOUGH:
        return 0.0
    a, b = white[rows], white[bank]
    distance = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1)[None] - 2 * a @ b.T
    distance[examples.source[rows][:, None] == examples.source[bank][None]] = np.inf
    nearest = np.sqrt(np.maximum(np.partition(distance, 2, axis=1)[:, :3].mean(axis=1), 0))
    return float(np.quantile(nearest, 0.98))


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
