"""The counter's model: small networks that say a distribution over log count, their training, and honest scores.

Counts are ordered, and an error of one matters more at 3 than at 12: so a network says where on the axis of log count
a shake lies (μ) and how sure that is (s), and the probability of n beads is the logistic distribution's share between
log(n - ½) and log(n + ½). Trained by the likelihood of the true count (proper, so the spread is learnt too), several
networks are averaged. Needs numpy alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from companion.igloo.count.convnet import Heard, Listener
from companion.ports import COUNTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

CUTS = np.log(np.arange(COUNTS.start, COUNTS.stop - 1) + 0.5)
"""The eleven borders between neighbouring counts on the axis of log count."""
LIMIT = 4.0
"""Standardised features are cut here: what lies farther out is not extrapolated."""
FLOOR = 1e-3
"""No count is ever impossible."""
EMBEDDING = 32
"""How many numbers an ensemble says of a shake besides its answer."""


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

    ``listeners`` hear the shake itself; their answers have together the weight ``trust``.

    ``gram`` (f, f) whitens standardised features, and ``strange`` is what the squared length of whitened features of
    known shakes hardly ever exceeds. ``inner`` are the means (w,) and axes (w, EMBEDDING) that turn the last hidden
    layers of all networks, side by side, into an embedding.
    """

    middle: FloatArray
    scale: FloatArray
    nets: tuple[Net, ...]
    stretch: float
    gram: FloatArray
    strange: float
    inner: tuple[FloatArray, FloatArray]
    listeners: tuple[Listener, ...] = ()
    trust: float = 0.0

    def standard(self, features: FloatArray) -> FloatArray:
        """Return features (n, f) in units of their spread in training, cut at :data:`LIMIT`."""
        cut: FloatArray = np.clip((features - self.middle) / self.scale, -LIMIT, LIMIT)
        return cut

    def posterior(self, features: FloatArray, heard: Sequence[Heard] = ()) -> FloatArray:
        """Return the probabilities of 2 … 13 beads, shape (n, 12), of features (n, f) and what was heard (n)."""
        return self.answer(*self.says(self.last_layers(features, heard)))

    def last_layers(self, features: FloatArray, heard: Sequence[Heard] = ()) -> list[FloatArray]:
        """Return the last hidden layer of every network, then of every listener, shapes (n, width).

        :raises ValueError: when there are listeners but not as many shakes heard as features.
        """
        x = self.standard(features)
        layers = [net.hidden(x) for net in self.nets]
        if self.listeners and len(heard) != len(x):
            raise ValueError("The listeners need to hear each shake.")
        for listener in self.listeners:
            layers.append(np.array([listener.hidden(one) for one in heard]).reshape(len(x), listener.width))
        return layers

    def says(self, layers: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Return μ and s of every network and listener, shapes (members, n), from their last hidden layers."""
        members: tuple[Net | Listener, ...] = (*self.nets, *self.listeners)
        both = [member.says(layer) for member, layer in zip(members, layers, strict=True)]
        return np.array([mu for mu, _ in both]), np.array([s for _, s in both])

    def answer(self, mu: FloatArray, s: FloatArray) -> FloatArray:
        """Return the probabilities of 2 … 13 beads, shape (n, 12), from what the members say, shapes (members, n)."""
        total = np.zeros((mu.shape[1], len(COUNTS)))
        trust = self.trust if self.listeners else 0.0
        for k in range(len(mu)):
            listens = k >= len(self.nets)
            weight = trust / len(self.listeners) if listens else (1 - trust) / len(self.nets)
            total += weight * shares(mu[k], s[k] * self.stretch)
        return (total + FLOOR / len(COUNTS)) / (1 + FLOOR)

    def embedding(self, layers: list[FloatArray]) -> FloatArray:
        """Return what the members make of shakes before they decide, shape (n, EMBEDDING), from their last layers.

        The principal components of the last hidden layers, strongest first, each of unit variance over the shakes of
        the training.
        """
        middle, axes = self.inner
        embedded: FloatArray = (np.concatenate(layers, axis=1) - middle) @ axes
        return embedded

    def strangeness(self, features: FloatArray) -> FloatArray:
        """Return how unlike all known shakes features (n, f) are: 1 is the border."""
        x = np.clip((features - self.middle) / self.scale, -3 * LIMIT, 3 * LIMIT)
        return np.asarray(np.einsum("ij,jk,ik->i", x, self.gram, x) / self.strange)


def inner_axes(layers: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Return means (w,) and axes (w, EMBEDDING) of last hidden layers side by side, of the shakes of the training."""
    hidden = np.concatenate(layers, axis=1)
    middle = hidden.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov((hidden - middle).T))
    vectors = vectors[:, ::-1][:, :EMBEDDING]
    spread = np.sqrt(np.maximum(values[::-1][:EMBEDDING], 1e-9))
    # a direction has two ends: the larger part shall be positive, on every machine
    ends = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    axes = np.zeros((hidden.shape[1], EMBEDDING))
    axes[:, : vectors.shape[1]] = vectors * (ends / spread)
    return middle, axes


def shares(mu: FloatArray, s: FloatArray) -> FloatArray:
    """Return the logistic distribution's share of each count, shape (n, 12)."""
    below = sigmoid((CUTS[None] - mu[:, None]) / s[:, None])
    edges = np.concatenate([np.zeros((len(mu), 1)), below, np.ones((len(mu), 1))], axis=1)
    return np.diff(edges, axis=1)


def sigmoid(x: FloatArray) -> FloatArray:
    """Return the logistic function without overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * x))


@dataclass(frozen=True, slots=True)
class Recipe:
    """How networks are trained."""

    nets: int = 2
    width: tuple[int, ...] = (96, 48)
    epochs: int = 8
    batch: int = 512
    rate: float = 2e-3
    decay: float = 2e-4
    noise: float = 0.3
    trust: float = 0.9
    seed: int = 1


def train(
    features: FloatArray,
    counts: IntArray,
    recipe: Recipe,
    progress: Callable[[int, int], None] | None = None,
) -> Ensemble:
    """Train networks on features (n, f) of shakes with known counts (n,).

    ``progress(done, of)`` is called after each epoch of each network. The same data and recipe give the same networks.
    """
    middle = np.median(features, axis=0)
    spread = np.percentile(features, 84, axis=0) - np.percentile(features, 16, axis=0)
    scale = np.maximum(0.5 * spread, 0.05 * features.std(axis=0) + 1e-3)
    x = np.clip((features - middle) / scale, -LIMIT, LIMIT)
    labels = counts - COUNTS.start
    nets = []
    for k in range(recipe.nets):
        nets.append(_train_net(x, labels, recipe, k, progress))
    gram, strange = _known(x)
    return Ensemble(middle, scale, tuple(nets), 1.0, gram, strange, inner_axes([net.hidden(x) for net in nets]))


def _known(x: FloatArray) -> tuple[FloatArray, float]:
    """Return what whitens known features, and the squared length that 99.8 % of them do not exceed."""
    covariance = x.T @ x / len(x)
    gram = np.asarray(np.linalg.inv(covariance + 0.05 * np.eye(x.shape[1])), dtype=np.float64)
    length = np.einsum("ij,jk,ik->i", x, gram, x)
    return gram, float(np.percentile(length, 99.8))


def _train_net(
    x: FloatArray, labels: IntArray, recipe: Recipe, number: int, progress: Callable[[int, int], None] | None
) -> Net:
    """Train one network by Adam (Kingma & Ba 2015) with a rate that falls as a cosine."""
    rng = np.random.default_rng([recipe.seed, number])
    sizes = (x.shape[1], *recipe.width, 2)
    layers = []
    for a, b in pairwise(sizes):
        layers.append([rng.normal(size=(a, b)) * np.sqrt(2.0 / a), np.zeros(b)])
    layers[-1][0] *= 0.1
    layers[-1][1][:] = np.log(6.5), np.log(0.2)
    moments = [[[np.zeros_like(p), np.zeros_like(p)] for p in layer] for layer in layers]
    steps = recipe.epochs * max(len(x) // recipe.batch, 1)
    step = 0
    for epoch in range(recipe.epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(x) - recipe.batch + 1, recipe.batch) if len(x) > recipe.batch else [0]:
            pick = order[start : start + recipe.batch]
            step += 1
            rate = recipe.rate * (0.5 + 0.5 * np.cos(np.pi * step / steps)) * min(1.0, step / 100)
            batch = x[pick] + recipe.noise * rng.normal(size=(len(pick), x.shape[1]))
            for layer, slope, moment in zip(layers, _slopes(layers, batch, labels[pick]), moments, strict=True):
                for i in range(2):
                    first, second = moment[i]
                    first += 0.1 * (slope[i] - first)
                    second += 0.001 * (slope[i] ** 2 - second)
                    shift = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
                    layer[i] -= rate * (shift + (recipe.decay / recipe.rate * layer[i] * 0.1 if i == 0 else 0.0))
        if progress:
            progress(number * recipe.epochs + epoch + 1, recipe.nets * recipe.epochs)
    return Net(tuple((weights, biases) for weights, biases in layers))


def _slopes(layers: list[list[FloatArray]], x: FloatArray, labels: IntArray) -> list[list[FloatArray]]:
    """Return the slopes of the mean negative log likelihood in all weights and biases."""
    acts = [x]
    for weights, biases in layers[:-1]:
        acts.append(np.maximum(acts[-1] @ weights + biases, 0.0))
    out = acts[-1] @ layers[-1][0] + layers[-1][1]
    mu, log_s = out[:, 0], np.clip(out[:, 1], -5.0, 1.5)
    s = np.exp(log_s)
    cuts = np.concatenate([[-50.0], CUTS, [50.0]])
    high, low = (cuts[labels + 1] - mu) / s, (cuts[labels] - mu) / s
    p_high, p_low = sigmoid(high), sigmoid(low)
    share = p_high - p_low
    share = (1 - 0.01) * share + 0.01 / len(COUNTS)  # a slip of the label now and then keeps it humble
    d_high, d_low = p_high * (1 - p_high), p_low * (1 - p_low)
    grow = -0.99 / share / s / len(x)
    d_mu = grow * -(d_high - d_low)
    d_log_s = grow * s * -(d_high * np.clip(high, -60, 60) - d_low * np.clip(low, -60, 60))
    d_log_s = np.where((out[:, 1] > -5.0) & (out[:, 1] < 1.5), d_log_s, 0.0)
    error = np.stack([d_mu, d_log_s], axis=1)
    slopes: list[list[FloatArray]] = []
    for i in range(len(layers) - 1, -1, -1):
        slopes.append([acts[i].T @ error, error.sum(axis=0)])
        if i:
            error = (error @ layers[i][0].T) * (acts[i] > 0)
    return slopes[::-1]


def stretch_for(ensemble: Ensemble, features: FloatArray, counts: IntArray, heard: Sequence[Heard] = ()) -> float:
    """Return the stretch with the best likelihood on shakes that the networks did not see."""
    mu, s = ensemble.says(ensemble.last_layers(features, heard))
    best, best_loss = 1.0, np.inf
    for stretch in np.exp(np.linspace(np.log(0.7), np.log(2.0), 27)):
        loss = nll(replace(ensemble, stretch=float(stretch)).answer(mu, s), counts)
        if loss < best_loss:
            best, best_loss = float(stretch), loss
    return best


def ridge(features: FloatArray, counts: IntArray, strength: float = 30.0) -> Callable[[FloatArray], FloatArray]:
    """Return a plain ridge regression on log count, the measure of how hard a set of shakes is; it predicts counts."""
    middle, scale = features.mean(axis=0), features.std(axis=0) + 1e-6

    def widen(f: FloatArray) -> FloatArray:
        x = np.clip((f - middle) / scale, -LIMIT, LIMIT)
        return np.concatenate([x, np.ones((len(x), 1))], axis=1)

    x = widen(features)
    weights = np.linalg.solve(x.T @ x + strength * np.eye(x.shape[1]), x.T @ np.log(counts))

    def predict(f: FloatArray) -> FloatArray:
        return np.asarray(np.clip(np.rint(np.exp(widen(f) @ weights)), COUNTS.start, COUNTS.stop - 1))

    return predict


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
