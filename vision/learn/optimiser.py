"""How the small networks are learnt: two layers by gradient descent (Adam), and the projection in front of some.

numpy alone, so that a Raspberry Pi learns a table by itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vision.board.features import groups
from vision.learn.adam import Adam, half_cosine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

BATCH: Final = 128
LEAST_RATE: Final = 1e-5
_POOL: Final = 1 << 20
_NOTHING: Final = np.float32(0)
_MOST: Final = np.float32(60)
"""Logits beyond these say no more."""
_ENOUGH: Final = 2500
"""So many examples at the most tell along which axes they vary."""
_NEVER: Final = -12.0
"""What stands against an answer that was never taught, in logits."""


@dataclass(frozen=True)
class TrainingConfig:
    """How a network of two layers is learnt: how large, how long, how fast, and with how much left out.

    ``rate``: of the first step. ``spread``: of the first layer's weights at the start. ``noise``: how far off its
    inputs may be.
    """

    hidden: int
    epochs: int
    rate: float
    decay: float
    drop: float
    spread: float
    noise: float = 0.0


def softmaxes(outputs: Floats, heads: Sequence[int]) -> list[Floats]:
    """Return for each head (of so many answers) the probabilities (n, answers) that outputs (n, all answers) say."""
    parts, at = [], 0
    for size in heads:
        part = outputs[:, at : at + size]
        part = np.exp(part - part.max(axis=1, keepdims=True))
        parts.append(part / part.sum(axis=1, keepdims=True))
        at += size
    return parts


def fit(
    inputs: Floats,
    targets: Floats,
    heads: Sequence[int],
    course: TrainingConfig,
    rng: np.random.Generator,
    *,
    nets: int = 1,
    ways: NDArray[np.intp] | None = None,
) -> dict[str, Floats]:
    """Return ``w1``, ``b1``, ``w2`` and ``b2`` that bring inputs (n, inputs) to targets (n, all answers of the heads).

    Of each there are so many ``nets``, learnt side by side from other starts and in another order. ``ways`` (m, inputs)
    are orders in which the inputs might as well have come: each step takes one. Answers that no target names stay
    unlikely.
    """
    n, width = inputs.shape
    known = targets.any(axis=0).astype(np.float32)
    w1 = (rng.standard_normal((nets, width, course.hidden)) * course.spread).astype(np.float32)
    w2 = (rng.standard_normal((nets, course.hidden, sum(heads))) * np.sqrt(1 / course.hidden)).astype(np.float32)
    b1, b2 = np.zeros((nets, 1, course.hidden), np.float32), np.zeros((nets, 1, sum(heads)), np.float32)
    b2[..., known == 0] = _NEVER
    # Answers are added up head by head with one product of matrices.
    together = np.repeat(np.arange(len(heads)), heads)
    same = (together[:, None] == together).astype(np.float32)
    steps, step = course.epochs * max(1, n // BATCH), 0
    adam = Adam([w1, b1.ravel(), w2, b2.ravel()], decay=course.decay)
    noise = rng.standard_normal(_POOL, dtype=np.float32) * np.float32(course.noise) if course.noise else None
    drops = np.where(rng.random(_POOL, dtype=np.float32) > course.drop, np.float32(1 / (1 - course.drop)), _NOTHING)
    batch = min(BATCH, n)
    x, h = np.empty((nets, batch, width), np.float32), np.empty((nets, batch, course.hidden), np.float32)
    drop, back, seen = np.empty_like(h), np.empty_like(h), np.empty_like(w1)
    slope = np.empty_like(w1)
    while step < steps:
        order = np.stack([rng.permutation(n) for _ in range(nets)])
        for at in range(0, n - batch + 1, batch):
            rows = order[:, at : at + batch]
            np.take(inputs, rows, axis=0, out=x, mode="clip")
            if noise is not None:
                x += _some_of(noise, x.shape, rng)
            # Turned weights see what weights see of turned inputs, and there are fewer of them.
            way = None if ways is None else ways[rng.integers(len(ways))]
            if way is not None:
                seen[:, way] = w1
            np.matmul(x, w1 if way is None else seen, out=h)
            h += b1
            # What is dropped and what is negative are alike: neither counts, nor is it corrected.
            np.multiply(_some_of(drops, h.shape, rng), h > 0, out=drop)
            h *= drop
            error: Floats = h @ w2
            error += b2
            np.exp(np.clip(error, -_MOST, _MOST, out=error), out=error)
            error /= error @ same
            error -= targets[rows]
            error *= known / np.float32(batch)
            np.matmul(error, w2.transpose(0, 2, 1), out=back)
            back *= drop
            np.matmul(x.transpose(0, 2, 1), back, out=slope)
            if way is not None:
                np.take(slope, way, axis=1, out=seen, mode="clip")
            step += 1
            rate = course.rate * half_cosine(step, steps) + LEAST_RATE
            steep = [back.sum(axis=1).ravel(), h.transpose(0, 2, 1) @ error, error.sum(axis=1).ravel()]
            adam.step([slope if way is None else seen, *steep], rate)
    b2[..., known == 0] = _NEVER
    return {"w1": w1, "b1": b1[:, 0], "w2": w2, "b2": b2[:, 0]}


def _some_of(pool: Floats, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Return numbers of a pool, from anywhere in it: to draw them anew each time takes longer than to learn."""
    many = math.prod(shape)
    start = int(rng.integers(0, len(pool) - many + 1))
    return pool[start : start + many].reshape(shape)


def scale_of(features: Floats) -> Floats:
    """Return (features,): by how much each counts. Within a group it is common to all, and groups count alike.

    So strong features stay strong.
    """
    scale = np.zeros(features.shape[1], np.float32)
    for group in groups():
        spread = features[:, group].std(axis=0)
        scale[group] = 1 / (np.sqrt(np.mean(spread**2)) + 1e-6) / np.sqrt(group.stop - group.start)
    return scale


def projection(features: Floats, components: int) -> dict[str, NDArray[Any]]:
    """Return ``mean``, ``scale`` and ``axes`` that bring features (n, features) to (n, components), nearly white."""
    mean, scale = features.mean(axis=0), scale_of(features)
    some = features[:: -(-len(features) // _ENOUGH)]
    scaled = (some - mean) * scale
    covariance = scaled.T @ scaled / len(scaled)
    values, vectors = np.linalg.eigh(covariance)
    keep = np.argsort(values)[::-1][: min(components, len(scaled) - 1)]
    # Not fully whitened: what varies little is noise more often than news.
    axes = (vectors[:, keep] / (np.sqrt(values[keep]) + 0.1 * np.sqrt(values[keep[0]])) ** 0.8).astype(np.float32)
    axes *= 1 / float((scaled[:1000] @ axes).std())
    return {"mean": mean.astype(np.float32), "scale": scale, "axes": axes}


def projected(features: Floats, by: dict[str, NDArray[Any]]) -> Floats:
    """Return (n, components): features (n, features) as a :func:`projection` has them."""
    seen: Floats = (((features - by["mean"]) * by["scale"]) @ by["axes"]).astype(np.float32, copy=False)
    return seen
