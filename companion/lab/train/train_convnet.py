"""The training of the learnt bead network, on one core, with jax: needed to rebuild the model, never at game time.

The same shakes and configuration give the same weights to the last bit on the same kind of machine; on another the sums
of the matrix products may be in another order.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

# One thread and no library that asks the machine how many it has: the order of sums must not depend on it.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
from jax import lax

from companion.igloo.count.convnet import (
    ADDED_LAYERS,
    CELL_LAYERS,
    LAYERS,
    MOTIONS,
    QUIET,
    TAPS,
    BeadNet,
    NetInput,
    pack,
    unpack,
)
from companion.igloo.count.ensemble import CUTS
from companion.ports import COUNTS
from vision.learn.adam import Adam, half_cosine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

CARD_NAMES = {"augment": "coloured", "ema_decay": "memory", "fine_tune_epochs": "again", "noise": "hiss"}
"""What fields of a training are called in the data card of a model; cards that were written keep their words."""


@dataclass(frozen=True, slots=True)
class BeadNetTrainingConfig:
    """How bead networks are trained. ``crops`` are (samples, shakes at once), taken in turn.

    Each bead network has its own way. With ``augment`` a shake sounds each time as in another sensor: through a
    random filter of three taps, whose second and third are at most ``tilt``, and with ``noise`` of at most so much of
    its own strength. Where ``ema_decay`` is above 0, the weights that stay are a running mean that keeps so much of
    itself at a step. At a lower tier the last bead network of the highest one goes on learning for ``fine_tune_epochs``
    epochs.
    """

    augment: tuple[bool, ...] = (False, True)
    ema_decay: tuple[float, ...] = (0.0, 0.998)
    filters: int = 32
    sound: tuple[int, int, int] = (48, 64, 96)
    cells: int = 128
    heads: int = 4
    dense: int = 128
    epochs: int = 18
    fine_tune_epochs: int = 4
    crops: tuple[tuple[int, int], ...] = ((4096, 32), (1536, 64), (4096, 32), (9216, 16))
    rate: float = 2e-3
    decay: float = 0.02
    drop: float = 0.25
    tilt: tuple[float, float] = (0.4, 0.25)
    noise: float = 0.1
    seed: int = 1

    @property
    def bead_nets(self) -> int:
        """How many bead networks are trained."""
        return len(self.augment)

    def to_card(self) -> dict[str, Any]:
        """Return the fields under the names that the data cards of models have for them."""
        return {CARD_NAMES.get(name, name): value for name, value in asdict(self).items()}


def train_one(
    heard: Sequence[NetInput],
    counts: IntArray,
    config: BeadNetTrainingConfig,
    number: int,
    progress: Callable[[int, int], None] | None = None,
) -> BeadNet:
    """Train bead network ``number`` of a training; it is the same whichever process trains it."""
    return _train(heard, counts - COUNTS.start, config, number, progress, epochs=config.epochs)


def slow_down(
    bead_net: BeadNet,
    heard: Sequence[NetInput],
    counts: IntArray,
    config: BeadNetTrainingConfig,
    factor: int,
) -> BeadNet:
    """Let the last bead network of the highest tier go on learning at a rate lower by ``factor``, 2 or 4."""
    labels, taps = counts - COUNTS.start, TAPS // factor
    return _train(
        heard, labels, config, config.bead_nets - 1, None, epochs=config.fine_tune_epochs, taps=taps, first=bead_net
    )


def _slowed(bead_net: BeadNet, taps: int) -> dict[str, NDArray[np.float32]]:
    """Return weights whose filters have so many taps, each the mean of neighbours before."""
    weights = {name: np.array(value, dtype=np.float32) for name, value in bead_net.weights.items()}
    filters = weights["f"]
    factor = len(filters) // taps
    weights["f"] = filters.reshape(taps, factor, -1).sum(axis=1) / np.float32(np.sqrt(factor))
    return weights


def _train(
    heard: Sequence[NetInput],
    labels: IntArray,
    config: BeadNetTrainingConfig,
    number: int,
    progress: Callable[[int, int], None] | None,
    *,
    epochs: int,
    taps: int = TAPS,
    first: BeadNet | None = None,
) -> BeadNet:
    """Train one bead network by Adam with a rate that falls as a cosine."""
    rng = np.random.default_rng([config.seed, number, 77])
    weights = _begin(config, rng) if first is None else _slowed(first, taps)
    adam = Adam(list(weights.values()), decay=config.decay)
    ema_decay = config.ema_decay[number]
    mean = weights
    lengths = np.array([len(one.sound) for one in heard])
    crops = [(samples * taps // TAPS, size) for samples, size in config.crops]
    mean_batch = float(np.mean([size for _, size in crops]))
    steps = max(int(epochs * len(heard) / mean_batch), 1)
    slopes = jax.jit(jax.grad(_loss), static_argnames=("drop",))
    key = jax.random.key(config.seed * 1000 + number)
    fitting = [np.flatnonzero(lengths >= samples) for samples, _ in crops]
    for i in range(steps):
        turn = i % len(crops)
        samples, size = crops[turn]
        pool = fitting[turn] if len(fitting[turn]) >= size else np.arange(len(heard))
        pick = np.sort(rng.choice(pool, size, replace=len(pool) < size))
        sound, motion = _batch(heard, pick, samples, 2 * taps, rng)
        if config.augment[number]:
            sound = _augmented(sound, config, rng)
        rate = config.rate * half_cosine(i, steps) * min(1.0, (i + 1) / 100)
        key, own = jax.random.split(key)
        found = slopes(weights, sound, motion, labels[pick], own, drop=config.drop)
        adam.step([np.asarray(found[name]) for name in weights], rate)
        mean = {name: ema_decay * mean[name] + (1 - ema_decay) * value for name, value in weights.items()}
        if progress and (i % 20 == 19 or i + 1 == steps):
            progress(i + 1, steps)
    # the file keeps fewer bits, so what is measured before it is written has no more
    return BeadNet(unpack(pack(mean)))


def _begin(config: BeadNetTrainingConfig, rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
    """Draw weights to begin with."""

    def draw(*shape: int) -> NDArray[np.float32]:
        return np.asarray(rng.normal(size=shape) * np.sqrt(2 / np.prod(shape[:-1])), dtype=np.float32)

    a, b, c = config.sound
    cells, dense = config.cells, config.dense
    weights = {
        "f": (rng.normal(size=(TAPS, config.filters)) * 0.25).astype(np.float32),
        "w2": draw(5, config.filters, a),
        "w3": draw(5, a, b),
        "w4": draw(4, b, c),
        "w5": draw(5, c + MOTIONS, cells),
        "w6": draw(5, cells, cells),
        "w7": draw(3, cells, cells) * np.float32(0.5),
        "w8": draw(3, cells, cells) * np.float32(0.5),
        "a": draw(cells, config.heads) * np.float32(0.1),
        "w9": draw(4 * cells + 2 * config.filters + 3, dense),
        "w10": draw(dense, 2) * np.float32(0.1),
    }
    sizes = (("2", a), ("3", b), ("4", c), ("5", cells), ("6", cells), ("7", cells), ("8", cells), ("9", dense))
    for name, size in sizes:
        weights[f"b{name}"] = np.zeros(size, np.float32)
    weights["b10"] = np.log(np.array([6.5, 0.2])).astype(np.float32)
    return weights


def _batch(
    heard: Sequence[NetInput], pick: IntArray, samples: int, cell: int, rng: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return sound (b, samples, 3) and motion (b, samples // cell, 5) of crops at random places."""
    cells = samples // cell
    sound = np.empty((len(pick), samples, 3), np.float32)
    motion = np.empty((len(pick), cells, MOTIONS), np.float32)
    for row, which in enumerate(pick):
        one = heard[which]
        spare = len(one.motion) - cells
        at = int(rng.integers(0, spare + 1)) if spare > 0 else 0
        here = one.sound[at * cell : at * cell + samples]
        moved = one.motion[at : at + cells]
        sound[row] = np.resize(here, (samples, 3)) if len(here) < samples else here
        motion[row] = np.resize(moved, (cells, MOTIONS)) if len(moved) < cells else moved
    return sound, motion


def _augmented(
    sound: NDArray[np.float32], config: BeadNetTrainingConfig, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Return sounds (b, samples, 3) as other sensors would have them."""
    size = (len(sound), 1, 1)
    one, two = (rng.uniform(-most, most, size).astype(np.float32) for most in config.tilt)
    level = (config.noise * rng.random(size) ** 2).astype(np.float32)
    found = sound + level * rng.standard_normal(sound.shape, dtype=np.float32)
    found[:, 1:] += one * sound[:, :-1]
    found[:, 2:] += two * sound[:, :-2]
    return np.asarray(found)


def _convolve(x: Any, weights: Any, step: int, spread: int) -> Any:
    """Return a convolution of x (b, n, in) with weights (taps, in, out)."""
    return lax.conv_general_dilated(
        x, weights, (step,), "VALID", rhs_dilation=(spread,), dimension_numbers=("NWC", "WIO", "NWC")
    )


def forward(weights: Any, sound: Any, motion: Any, key: Any = None, drop: float = 0.0) -> tuple[Any, Any]:
    """Return μ and log s of shakes, as :meth:`BeadNet.hidden` and :meth:`BeadNet.says` do for one."""
    count, samples, _ = sound.shape
    x = jnp.transpose(sound, (0, 2, 1)).reshape(count * 3, samples, 1)
    found = _convolve(x, weights["f"][:, None, :], len(weights["f"]) // 4, 1)
    energy = (found.reshape(count, 3, found.shape[1], -1) ** 2).sum(axis=1)
    level = jnp.log(energy + QUIET)
    mean = level.mean(axis=1)
    level = level - mean[:, None]
    x = level
    for name, step, spread in LAYERS:
        x = jax.nn.relu(_convolve(x, weights[f"w{name}"], step, spread) + weights[f"b{name}"])
    cells = min(x.shape[1], motion.shape[1] - 1)
    x = jnp.concatenate([x[:, :cells], motion[:, 1 : cells + 1]], axis=2)
    for name, step, spread in CELL_LAYERS:
        x = jax.nn.relu(_convolve(x, weights[f"w{name}"], step, spread) + weights[f"b{name}"])
    for name, spread in ADDED_LAYERS:
        added = jax.nn.relu(_convolve(x, weights[f"w{name}"], 1, spread) + weights[f"b{name}"])
        x = x[:, spread:-spread] + added
    middle = x.mean(axis=1)
    attention = jax.nn.softmax(x @ weights["a"], axis=1)
    attention = jnp.repeat(attention, x.shape[2] // attention.shape[2], axis=2)
    heeded = (attention * x).sum(axis=1)
    pooled = jnp.concatenate(
        [
            middle,
            jnp.sqrt(((x - middle[:, None]) ** 2).mean(axis=1) + 1e-4),
            heeded,
            jnp.sqrt((attention * (x - heeded[:, None]) ** 2).sum(axis=1) + 1e-4),
            jnp.sqrt((level**2).mean(axis=1) + 1e-6),
            (mean + 3) * 0.5,
            jnp.full((count, 1), np.log2(samples / (256 * len(weights["f"]))), jnp.float32),
            motion[:, 0, 3:],
        ],
        axis=1,
    )
    if key is not None and drop > 0:
        pooled = pooled * (jax.random.bernoulli(key, 1 - drop, pooled.shape) / (1 - drop))
    out = jax.nn.relu(pooled @ weights["w9"] + weights["b9"]) @ weights["w10"] + weights["b10"]
    return out[:, 0], jnp.clip(out[:, 1], -4.0, 1.5)


def _loss(weights: Any, sound: Any, motion: Any, labels: Any, key: Any, drop: float) -> Any:
    """Return the mean negative log likelihood of the true counts, humbled a little as in the other networks."""
    mu, log_s = forward(weights, sound, motion, key, drop)
    cuts = jnp.concatenate([jnp.array([-50.0]), jnp.asarray(CUTS), jnp.array([50.0])])
    s = jnp.exp(log_s)
    share = jax.nn.sigmoid((cuts[labels + 1] - mu) / s) - jax.nn.sigmoid((cuts[labels] - mu) / s)
    return -jnp.log(0.99 * share + 0.01 / len(COUNTS)).mean()
