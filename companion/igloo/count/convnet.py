"""The learnt bead network: a small convolution network over the sounds of the beads and the motion of the hand.

Layer by layer, at 3200 Hz (at lower rates filters and cells have fewer samples): filters over each axis of the sound,
whose energies are summed over the axes (so the mounting does not matter) and taken as logarithms, less their mean over
the shake (so what varies is seen apart from the gain and the resonances of a sensor); three layers of convolution down
to cells of 10 ms; beside them the hand's motion; two layers over neighbouring cells of 20 ms, and two more that are
added to what they are given; mean and spread over the whole shake, plain and weighted by what each of four heads
attends to; beside these the mean of each filter, the loudness and how strongly the hand moves; a dense layer; μ and log
s of log count, as :class:`~companion.igloo.count.ensemble.Net` says them. It is trained by
:mod:`companion.lab.train.train_convnet` and runs on numpy alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    SmallArray = NDArray[np.float32]

CELL = 32
"""Samples to a cell of motion at the highest tier: 10 ms."""
TAPS = 16
"""Length of the first layer's filters in samples there: half a cell; their step is a quarter of it."""
QUIET = 1e-3
"""What is added to an energy before its logarithm is taken, where a shake has a mean power of 1."""
FEWEST = 1400
"""Samples from which on there is something to say: three blocks of the slowest sensor (of the highest tier)."""
MOTIONS = 5
"""Numbers of a cell: the motion along its three main directions, its strength and the sound's in octaves over 1 g."""
LAYERS = (("2", 2, 1), ("3", 2, 1), ("4", 2, 1))
"""The convolutions of the sound: name, step, spread of the taps."""
CELL_LAYERS = (("5", 2, 1), ("6", 1, 2))
"""The convolutions over cells."""
ADDED_LAYERS = (("7", 1), ("8", 2))
"""The layers that are added to what they are given: name, spread of their three taps."""


@dataclass(frozen=True, slots=True)
class NetInput:
    """What the network hears of one shake: ``sound`` (n, 3) of unit power, ``motion`` (n // cell, 5)."""

    sound: SmallArray
    motion: SmallArray


def prepare(parts: Sequence[SmallArray], cell: int = CELL) -> NetInput:
    """Return what the network hears of blocks of a shake in a row, each (n, 6): sound and acceleration in g.

    Sound and acceleration are as :class:`~companion.igloo.count.features.FeatureStream` keeps them; ``cell`` is how
    many samples are 10 ms, nominally.
    """
    both = np.concatenate(parts)
    cells = len(both) // cell
    both = both[: cells * cell]
    sound = both[:, :3]
    power = float(np.mean(np.einsum("ij,ij->i", sound, sound)))
    felt = both[:, 3:].reshape(cells, cell, 3).mean(axis=1, dtype=np.float64)
    pull = felt.mean(axis=0)
    motion = felt - pull
    _, vectors = np.linalg.eigh(motion.T @ motion)
    axes = vectors.T[::-1].copy()
    for k in range(2):
        # a direction has two ends: up where it leans to gravity, else where the swings are sharper
        lean = float(axes[k] @ pull) / (float(np.linalg.norm(pull)) + 1e-9)
        if (lean if abs(lean) > 0.15 else float(((motion @ axes[k]) ** 3).mean())) < 0:
            axes[k] = -axes[k]
    axes[2] = np.cross(axes[0], axes[1])
    strength = float(np.sqrt((motion**2).sum(axis=1).mean())) + 1e-3
    levels = np.log2([strength, np.sqrt(power) + 1e-6])
    motion_input = np.concatenate([motion @ axes.T / strength, np.broadcast_to(levels, (cells, 2))], axis=1)
    return NetInput((sound / np.float32(np.sqrt(power) + 1e-6)).astype(np.float32), motion_input.astype(np.float32))


@dataclass(frozen=True, slots=True)
class BeadNet:
    """One network. ``weights`` by name: ``f`` (taps, F), ``a`` (cells, heads), ``w2`` … ``w10`` and ``b2`` … ``b10``.

    All of 32 bits. Convolutions have shapes (taps, in, out), dense layers (in, out).
    """

    weights: Mapping[str, SmallArray]

    @property
    def cell(self) -> int:
        """How many samples are a cell at this network's rate."""
        return 2 * len(self.weights["f"])

    @property
    def width(self) -> int:
        """How many numbers the last hidden layer has."""
        return int(self.weights["b9"].shape[0])

    def hidden(self, heard: NetInput) -> FloatArray:
        """Return the last hidden layer (width,) for one shake of :data:`FEWEST` samples or more."""
        w = self.weights
        taps = len(w["f"])
        windows = sliding_window_view(heard.sound, taps, axis=0)[:: taps // 4]
        energy = np.zeros((len(windows), w["f"].shape[1]), dtype=np.float32)
        for axis in range(3):
            found = np.ascontiguousarray(windows[:, axis]) @ w["f"]
            energy += found * found
        level = np.log(energy + np.float32(QUIET))
        mean = level.mean(axis=0)
        level -= mean
        x = level
        for name, step, spread in LAYERS:
            x = np.maximum(_convolve(x, w[f"w{name}"], step, spread) + w[f"b{name}"], 0.0)
        cells = min(len(x), len(heard.motion) - 1)
        x = np.concatenate([x[:cells], heard.motion[1 : cells + 1]], axis=1)
        for name, step, spread in CELL_LAYERS:
            x = np.maximum(_convolve(x, w[f"w{name}"], step, spread) + w[f"b{name}"], 0.0)
        for name, spread in ADDED_LAYERS:
            x = x[spread:-spread] + np.maximum(_convolve(x, w[f"w{name}"], 1, spread) + w[f"b{name}"], 0.0)
        middle = x.mean(axis=0)
        attention = x @ w["a"]
        attention = np.exp(attention - attention.max(axis=0))
        attention = np.repeat(attention / attention.sum(axis=0), x.shape[1] // attention.shape[1], axis=1)
        heeded = (attention * x).sum(axis=0)
        pooled = np.concatenate(
            [
                middle,
                np.sqrt(((x - middle) ** 2).mean(axis=0) + np.float32(1e-4)),
                heeded,
                np.sqrt((attention * (x - heeded) ** 2).sum(axis=0) + np.float32(1e-4)),
                np.sqrt((level**2).mean(axis=0) + np.float32(1e-6)),
                (mean + np.float32(3)) * np.float32(0.5),
                np.array([np.log2(len(heard.sound) / (256 * taps))], dtype=np.float32),
                heard.motion[0, 3:],
            ]
        )
        dense: FloatArray = np.maximum(pooled @ w["w9"] + w["b9"], 0.0).astype(np.float64)
        return dense

    def says(self, hidden: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return μ and s, shapes (n,), of last hidden layers (n, width)."""
        out = hidden @ self.weights["w10"].astype(np.float64) + self.weights["b10"]
        return out[:, 0], np.exp(np.clip(out[:, 1], -4.0, 1.5))


def pack(weights: Mapping[str, SmallArray]) -> dict[str, NDArray[np.float16] | NDArray[np.int8]]:
    """Return weights as a file keeps them: matrices in 8 bits, in steps (``NAME/step``) of their own for each output.

    What :func:`unpack` made of a file is packed to the same bits again.
    """
    packed: dict[str, NDArray[np.float16] | NDArray[np.int8]] = {}
    for name, value in weights.items():
        if value.ndim == 1:
            packed[name] = value.astype(np.float16)
            continue
        most = np.abs(value).max(axis=tuple(range(value.ndim - 1)))
        step = np.maximum(most / 127, 1e-6).astype(np.float16)
        packed[name] = np.clip(np.rint(value / step.astype(np.float32)), -127, 127).astype(np.int8)
        packed[f"{name}/step"] = step
    return packed


def unpack(packed: Mapping[str, NDArray[np.float16] | NDArray[np.int8]]) -> dict[str, SmallArray]:
    """Return the weights of 32 bits of what :func:`pack` made."""
    weights = {}
    for name, value in packed.items():
        if not name.endswith("/step"):
            weights[name] = value.astype(np.float32)
            if value.dtype == np.int8:
                weights[name] *= packed[f"{name}/step"].astype(np.float32)
    return weights


def _convolve(x: SmallArray, weights: SmallArray, step: int, spread: int) -> SmallArray:
    """Return a convolution of x (n, in) with weights (taps, in, out), only where all taps lie inside."""
    taps, size, out = weights.shape
    last = len(x) - (taps - 1) * spread
    if last <= 0:
        return np.zeros((1, out), dtype=np.float32)
    rows = (last - 1) // step + 1
    total = np.zeros((rows, out), dtype=np.float32)
    if spread == 1:
        windows = sliding_window_view(x, taps, axis=0)[::step]
        flat = np.ascontiguousarray(windows.transpose(0, 2, 1)).reshape(rows, taps * size)
        return np.asarray(flat @ weights.reshape(taps * size, out))
    for k in range(taps):
        total += x[k * spread : k * spread + last : step] @ weights[k]
    return total
