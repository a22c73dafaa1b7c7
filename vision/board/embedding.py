"""What a patch shows, as numbers in which the same things lie near each other, whatever their light and neighbours.

A small convolutional network, learnt once from drawn games that are no game of ours
(:mod:`companion.lab.train.embedding`) and shipped; no picture of any real table is in it. It names nothing: what a sort
is, the taught places say. Its blocks are those of Liu and others (2022), learnt as by Bertinetto and others (2019): so
that a regression on the places of one game, solved anew for each, reads its other places.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from vision.board.patches import PATCH

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray

    Floats = NDArray[np.float32]

LENGTH: Final = 160
"""Numbers of an embedding."""
BLOCKS: Final = (1, 2, 2)
"""How many blocks there are at each of three scales."""
WEIGHTS: Final = Path(__file__).with_name("embedding.npz")
"""The shipped network, made by ``companion vision train``."""
KERNEL: Final = 6
STRIDE: Final = 4
_AT_ONCE: Final = 32
"""Patches that are looked at together: what is made of them stays near the processor."""


def embed(patches: ByteArray) -> Floats:
    """Return (n, LENGTH): each row's mean square is 1. ``patches`` (n, PATCH, PATCH, 3) are in BGR."""
    net = shipped()
    found = np.empty((len(patches), LENGTH), np.float32)
    for at in range(0, len(patches), _AT_ONCE):
        found[at : at + _AT_ONCE] = _forward(patches[at : at + _AT_ONCE], net)
    return found


@lru_cache(maxsize=1)
def shipped() -> dict[str, Floats]:
    """Return the network that is shipped."""
    with np.load(WEIGHTS) as arrays:
        return {name: arrays[name].astype(np.float32) for name in arrays.files}


def _forward(patches: ByteArray, net: dict[str, Floats]) -> Floats:
    n = len(patches)
    seen = np.pad(patches[..., ::-1], ((0, 0), (1, 1), (1, 1), (0, 0)), constant_values=0).astype(np.float32)
    seen *= np.float32(1 / 255)
    seen[:, 1:-1, 1:-1] -= np.float32(0.5)
    side = PATCH // STRIDE
    windows = sliding_window_view(seen, (KERNEL, KERNEL), axis=(1, 2))[:, ::STRIDE, ::STRIDE]
    flat = np.ascontiguousarray(windows.transpose(0, 1, 2, 4, 5, 3)).reshape(n * side * side, -1)
    x = _even(flat @ net["stem"].reshape(-1, net["stem"].shape[-1]) + net["stem_b"]).reshape(n, side, side, -1)
    for scale, many in enumerate(BLOCKS):
        if scale:
            side //= 2
            four = x.reshape(n, side, 2, side, 2, -1).transpose(0, 1, 3, 2, 4, 5).reshape(n * side * side, -1)
            kernel = net[f"down{scale}"]
            x = _even(four @ kernel.reshape(-1, kernel.shape[-1]) + net[f"down{scale}_b"]).reshape(n, side, side, -1)
        for block in range(many):
            name = f"b{scale}{block}"
            y = _even(_spread(x, net[f"{name}_dw"])).reshape(n * side * side, -1)
            y = y @ net[f"{name}_1"]
            y += net[f"{name}_1b"]
            np.maximum(y, 0, out=y)
            y = y @ net[f"{name}_2"]
            y += net[f"{name}_2b"]
            x += y.reshape(x.shape)
    found: Floats = _even(_even(x).reshape(n, -1) @ net["out"])
    return found


def _even(x: Floats) -> Floats:
    """Return numbers (…, features) of one strength at each spot: their mean square is 1."""
    size = np.einsum("...i,...i->...", x, x) * np.float32(1 / x.shape[-1])
    even: Floats = x * (1 / np.sqrt(size + np.float32(1e-3)))[..., None]
    return even


def _spread(x: Floats, kernel: Floats) -> Floats:
    """Return maps (n, high, wide, features) in which each feature is mixed with its neighbours, by a (3, 3) kernel."""
    high, wide = x.shape[1:3]
    around = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    found: Floats = around[:, 1:-1, 1:-1] * kernel[1, 1]
    for i in range(3):
        for j in range(3):
            if (i, j) != (1, 1):
                found += around[:, i : i + high, j : j + wide] * kernel[i, j]
    return found
