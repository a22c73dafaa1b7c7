"""The training of the counter's small networks, on numpy alone: a distribution over log count from features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from companion.igloo.count.convnet import NetInput
from companion.igloo.count.ensemble import CUTS, LIMIT, Ensemble, Net, nll, sigmoid
from companion.ports import COUNTS
from vision.learn.adam import Adam, half_cosine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EnsembleTrainingConfig:
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
    config: EnsembleTrainingConfig,
    progress: Callable[[int, int], None] | None = None,
) -> Ensemble:
    """Train networks on features (n, f) of shakes with known counts (n,).

    ``progress(done, of)`` is called after each epoch of each network. The same data and configuration give the same
    networks.
    """
    middle = np.median(features, axis=0)
    spread = np.percentile(features, 84, axis=0) - np.percentile(features, 16, axis=0)
    scale = np.maximum(0.5 * spread, 0.05 * features.std(axis=0) + 1e-3)
    x = np.clip((features - middle) / scale, -LIMIT, LIMIT)
    labels = counts - COUNTS.start
    nets = []
    for k in range(config.nets):
        nets.append(_train_net(x, labels, config, k, progress))
    gram, strange = _known(x)
    return Ensemble(middle, scale, tuple(nets), 1.0, gram, strange)


def _known(x: FloatArray) -> tuple[FloatArray, float]:
    """Return what whitens known features, and the squared length that 99.8 % of them do not exceed."""
    covariance = x.T @ x / len(x)
    gram = np.asarray(np.linalg.inv(covariance + 0.05 * np.eye(x.shape[1])), dtype=np.float64)
    length = np.einsum("ij,jk,ik->i", x, gram, x)
    return gram, float(np.percentile(length, 99.8))


def _train_net(
    x: FloatArray,
    labels: IntArray,
    config: EnsembleTrainingConfig,
    number: int,
    progress: Callable[[int, int], None] | None,
) -> Net:
    """Train one network by Adam with a rate that falls as a cosine."""
    rng = np.random.default_rng([config.seed, number])
    sizes = (x.shape[1], *config.width, 2)
    layers = []
    for a, b in pairwise(sizes):
        layers.append([rng.normal(size=(a, b)) * np.sqrt(2.0 / a), np.zeros(b)])
    layers[-1][0] *= 0.1
    layers[-1][1][:] = np.log(6.5), np.log(0.2)
    adam = Adam([p for layer in layers for p in layer], decay=0.1 * config.decay / config.rate)
    steps = config.epochs * max(len(x) // config.batch, 1)
    step = 0
    for epoch in range(config.epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(x) - config.batch + 1, config.batch) if len(x) > config.batch else [0]:
            pick = order[start : start + config.batch]
            step += 1
            rate = config.rate * half_cosine(step, steps) * min(1.0, step / 100)
            batch = x[pick] + config.noise * rng.normal(size=(len(pick), x.shape[1]))
            adam.step([p for layer in _slopes(layers, batch, labels[pick]) for p in layer], rate)
        if progress:
            progress(number * config.epochs + epoch + 1, config.nets * config.epochs)
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


def stretch_for(ensemble: Ensemble, features: FloatArray, counts: IntArray, heard: Sequence[NetInput] = ()) -> float:
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
