"""The counter's model: small networks that say a distribution over log count, and honest scores.

Counts are ordered, and an error of one matters more at 3 than at 12: so a network says where on the axis of log count
a shake lies (μ) and how sure that is (s), and the probability of n beads is the logistic distribution's share between
log(n - ½) and log(n + ½). Trained by the likelihood of the true count (proper, so the spread is learnt too), several
networks are averaged. Needs numpy alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from companion.igloo.count.convnet import BeadNet, NetInput
from companion.ports import COUNTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

CUTS = np.log(np.arange(COUNTS.start, COUNTS.stop - 1) + 0.5)
"""The eleven borders between neighbouring counts on the axis of log count."""
LIMIT = 4.0
"""Standardised features are cut here: what lies farther out is not extrapolated."""
FLOOR = 1e-3
"""No count is ever impossible."""


@dataclass(frozen=True, slots=True)
class Net:
    """One network for standardised features: two layers of rectified sums, then μ and log s.

    ``layers`` are (weights, biases) with shapes (in, out) and (out,).
    """

    layers: tuple[tuple[FloatArray, FloatArray], ...]

    def hidden(self, x: FloatArray) -> FloatArray:
        """Return the last layer but one, shape (n, width), of standardised features (n, f)."""
        for weights, biases in self.layers[:-1]:
            x = np.maximum(x @ weights + biases, 0.0)
        return x

    def __call__(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return μ and s, shapes (n,), of standardised features (n, f)."""
        return self.says(self.hidden(x))

    def says(self, hidden: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return μ and s, shapes (n,), of last hidden layers (n, width)."""
        weights, biases = self.layers[-1]
        out = hidden @ weights + biases
        return out[:, 0], np.exp(np.clip(out[:, 1], -5.0, 1.5))


@dataclass(frozen=True, slots=True)
class Ensemble:
    """Networks and the scaling of their features; ``stretch`` widens or narrows their spread after training.

    ``bead_nets`` hear the shake itself; their answers have together the weight ``trust``.

    ``gram`` (f, f) whitens standardised features, and ``strange`` is what the squared length of whitened features of
    known shakes hardly ever exceeds.
    """

    middle: FloatArray
    scale: FloatArray
    nets: tuple[Net, ...]
    stretch: float
    gram: FloatArray
    strange: float
    bead_nets: tuple[BeadNet, ...] = ()
    trust: float = 0.0

    def standard(self, features: FloatArray) -> FloatArray:
        """Return features (n, f) in units of their spread in training, cut at :data:`LIMIT`."""
        cut: FloatArray = np.clip((features - self.middle) / self.scale, -LIMIT, LIMIT)
        return cut

    def posterior(self, features: FloatArray, heard: Sequence[NetInput] = ()) -> FloatArray:
        """Return the probabilities of 2 … 13 beads, shape (n, 12), of features (n, f) and what was heard (n)."""
        return self.answer(*self.says(self.last_layers(features, heard)))

    def last_layers(self, features: FloatArray, heard: Sequence[NetInput] = ()) -> list[FloatArray]:
        """Return the last hidden layer of every network, then of every bead network, shapes (n, width).

        :raises ValueError: when there are bead networks but not as many shakes heard as features.
        """
        x = self.standard(features)
        layers = [net.hidden(x) for net in self.nets]
        if self.bead_nets and len(heard) != len(x):
            raise ValueError("The bead networks need to hear each shake.")
        for bead_net in self.bead_nets:
            layers.append(np.array([bead_net.hidden(one) for one in heard]).reshape(len(x), bead_net.width))
        return layers

    def says(self, layers: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Return μ and s of every network and bead network, shapes (members, n), from their last hidden layers."""
        members: tuple[Net | BeadNet, ...] = (*self.nets, *self.bead_nets)
        both = [member.says(layer) for member, layer in zip(members, layers, strict=True)]
        return np.array([mu for mu, _ in both]), np.array([s for _, s in both])

    def answer(self, mu: FloatArray, s: FloatArray) -> FloatArray:
        """Return the probabilities of 2 … 13 beads, shape (n, 12), from what the members say, shapes (members, n)."""
        total = np.zeros((mu.shape[1], len(COUNTS)))
        trust = self.trust if self.bead_nets else 0.0
        for k in range(len(mu)):
            listens = k >= len(self.nets)
            weight = trust / len(self.bead_nets) if listens else (1 - trust) / len(self.nets)
            total += weight * shares(mu[k], s[k] * self.stretch)
        return (total + FLOOR / len(COUNTS)) / (1 + FLOOR)

    def strangeness(self, features: FloatArray) -> FloatArray:
        """Return how unlike all known shakes features (n, f) are: 1 is the border."""
        x = np.clip((features - self.middle) / self.scale, -3 * LIMIT, 3 * LIMIT)
        return np.asarray(np.einsum("ij,jk,ik->i", x, self.gram, x) / self.strange)


@dataclass(frozen=True, slots=True)
class Embedding:
    """What the counter makes of one shake: its answer, and what lies behind it, for learning an igloo's habits.

    ``features`` (f,) are the standardised features that the networks were given, ``hidden`` (h,) the last hidden layers
    of the bead networks, side by side. ``mu`` is the mean of the answer on the axis of log count, and ``p`` (12,) is
    the answer itself, of an igloo of which nothing is known. Features and hidden layers of one model and one ``tier``
    may be compared, of different ones not.
    """

    features: FloatArray
    hidden: FloatArray
    mu: float
    p: FloatArray
    seconds: float
    tier: float


def as_vector(found: Embedding, ensemble: Ensemble) -> FloatArray:
    """Return the vector (f + h + 1,) of what a counter made of a piece."""
    return np.concatenate([found.features * ensemble.scale + ensemble.middle, found.hidden, [found.mu]])


def shares(mu: FloatArray, s: FloatArray) -> FloatArray:
    """Return the logistic distribution's share of each count, shape (n, 12)."""
    below = sigmoid((CUTS[None] - mu[:, None]) / s[:, None])
    edges = np.concatenate([np.zeros((len(mu), 1)), below, np.ones((len(mu), 1))], axis=1)
    return np.diff(edges, axis=1)


def sigmoid(x: FloatArray) -> FloatArray:
    """Return the logistic function without overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def nll(p: FloatArray, counts: IntArray) -> float:
    """Return the mean negative log likelihood (nats) of the true counts."""
    return float(-np.log(p[np.arange(len(p)), counts - COUNTS.start] + 1e-12).mean())


def reliability(p: FloatArray, counts: IntArray, bins: int = 10) -> list[tuple[float, float, int]]:
    """Return for each even bin of the most likely count's probability: mean said, part right, how many."""
    said = p.max(axis=1)
    right = p.argmax(axis=1) + COUNTS.start == counts
    place = np.minimum((said * bins).astype(np.int64), bins - 1)
    found = []
    for b in range(bins):
        inside = place == b
        if inside.any():
            found.append((float(said[inside].mean()), float(right[inside].mean()), int(inside.sum())))
    return found


def calibration_error(p: FloatArray, counts: IntArray, bins: int = 10) -> float:
    """Return the expected calibration error of the most likely count: |right - said|, weighted, in even bins."""
    return sum(many / len(p) * abs(right - said) for said, right, many in reliability(p, counts, bins))


def scores(p: FloatArray, counts: IntArray) -> dict[str, float]:
    """Return exact, within one, mean absolute error (of the most likely count), likelihood and calibration error."""
    guess = p.argmax(axis=1) + COUNTS.start
    return plain_scores(guess, counts) | {"nll": nll(p, counts), "ece": calibration_error(p, counts)}


def plain_scores(guess: FloatArray | IntArray, counts: IntArray) -> dict[str, float]:
    """Return exact, within one and mean absolute error of guessed counts."""
    apart = np.abs(guess - counts)
    return {
        "exact": float((apart == 0).mean()),
        "within_one": float((apart <= 1).mean()),
        "mae": float(apart.mean()),
    }


def bootstrap(p: FloatArray, counts: IntArray, devices: IntArray, draws: int = 500) -> dict[str, list[float]]:
    """Return 95 % intervals of exact, within one and mean absolute error, drawing whole devices."""
    apart = np.abs(p.argmax(axis=1) + COUNTS.start - counts)
    rng = np.random.default_rng(0)
    names = np.unique(devices)
    rows = [np.flatnonzero(devices == name) for name in names]
    seen = []
    for _ in range(draws):
        pick = apart[np.concatenate([rows[i] for i in rng.integers(0, len(names), len(names))])]
        seen.append([(pick == 0).mean(), (pick <= 1).mean(), pick.mean()])
    low, high = np.percentile(np.asarray(seen), [2.5, 97.5], axis=0)
    return {
        name: [round(float(a), 3), round(float(b), 3)]
        for name, a, b in zip(("exact", "within_one", "mae"), low, high, strict=True)
    }
