"""Which digit is printed on a token, whichever way it lies: a small convolutional network, learnt from drawn digits.

It knows no table: ``digits_train`` draws digits of many fonts and strokes, in any direction, dark on light and light
on dark, blurred, covered and beside other marks. How far it is to be believed on a table is told by the tokens that
were taught there (:mod:`vision.read.tokens`).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

SIGN: Final = 20
"""Pixels across the part of a token that is compared, with taught tokens and with digits."""
DIGITS: Final = 10
FIRST: Final = 24
SECOND: Final = 40
WIDE: Final = 96
"""How many features the three layers have."""
KERNEL: Final = 5
STRIDE: Final = 2
"""How wide the first layer's kernels are, and how far apart."""
_OFFSETS: Final = np.arange(SIGN) - (SIGN - 1) / 2
DISC: Final = np.hypot(_OFFSETS[:, None], _OFFSETS[None]) < SIGN / 2
WEIGHTS: Final = Path(__file__).with_name("digits.npz")
"""The shipped network, made by ``python -m companion.lab.train.digits``."""
NAMES: Final = ("k1", "b1", "k2", "b2", "w3", "b3", "w4", "b4")


def normal(pictures: Floats, free: NDArray[np.bool_] | None = None) -> Floats:
    """Return pictures (n, SIGN, SIGN) with mean 0 and spread 1 where they are ``free`` within the disc, and 0 else."""
    seen = np.broadcast_to(DISC, pictures.shape) if free is None else DISC & free
    weight = seen.astype(np.float32)
    many = np.maximum(weight.sum(axis=(1, 2), keepdims=True), 1)
    mean = (pictures * weight).sum(axis=(1, 2), keepdims=True) / many
    off = (pictures - mean) * weight
    spread = np.sqrt((off * off).sum(axis=(1, 2), keepdims=True) / many)
    normal_: Floats = (off / (spread + 2.0)).astype(np.float32)
    return normal_


def columns(maps: Floats, kernel: int, stride: int) -> Floats:
    """Return (n, high, wide, kernel · kernel · features) of maps (n, high, wide, features): what each kernel sees."""
    seen = sliding_window_view(maps, (kernel, kernel), axis=(1, 2))[:, ::stride, ::stride]
    n, high, wide = seen.shape[:3]
    flat: Floats = np.ascontiguousarray(seen.transpose(0, 1, 2, 4, 5, 3)).reshape(n, high, wide, -1)
    return flat


def forward(pictures: Floats, net: dict[str, Floats]) -> Floats:
    """Return (n, DIGITS): the logits of normal pictures (n, SIGN, SIGN)."""
    first = _layer(columns(pictures[..., None], KERNEL, STRIDE), net["k1"], net["b1"])
    second = _layer(columns(first, 3, 1), net["k2"], net["b2"])
    wide = np.maximum(second.reshape(len(pictures), -1) @ net["w3"] + net["b3"], 0)
    logits: Floats = wide @ net["w4"] + net["b4"]
    return logits


def _layer(seen: Floats, kernels: Floats, bias: Floats) -> Floats:
    """Return maps (…, features) of what kernels see, (…, numbers): in one product, not in one for each row."""
    flat = seen.reshape(-1, seen.shape[-1]) @ kernels
    flat += bias
    np.maximum(flat, 0, out=flat)
    maps: Floats = flat.reshape(*seen.shape[:-1], -1)
    return maps


@lru_cache(maxsize=1)
def shipped() -> dict[str, Floats]:
    """Return the network that is shipped."""
    with np.load(WEIGHTS) as arrays:
        return {name: arrays[name].astype(np.float32) for name in NAMES}


def read_digits(pictures: Floats, free: NDArray[np.bool_] | None = None) -> Floats:
    """Return (n, DIGITS): how likely each digit is in grey pictures (n, SIGN, SIGN), 0 to 255, of tokens' insides.

    ``free`` (n, SIGN, SIGN): where no other token may cover it. Each is looked at in two directions.
    """
    if not len(pictures):
        return np.zeros((0, DIGITS), np.float32)
    ready = normal(pictures, free)
    net = shipped()
    ways = [ready, np.rot90(ready, axes=(1, 2))]
    logits = forward(np.concatenate(ways), net).reshape(len(ways), len(pictures), DIGITS).mean(axis=0)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances: Floats = odds / odds.sum(axis=1, keepdims=True)
    return chances
