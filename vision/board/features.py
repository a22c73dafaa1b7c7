"""What a patch looks like, as numbers: colours on a coarse grid, directions of edges, and how much of which colour.

Colours are luma and two chromas that are divided by it, so that a shadow changes one number and not three. Directions
are those of edges in square-rooted luma, pooled over cells and divided by their neighbourhood's strength. The last part
counts colour words (found in the taught pictures) over the place, wherever in it they lie: it adds up when several
things lie there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.board.patches import CONTEXT, PATCH

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray

    Floats = NDArray[np.float32]
    Vocabulary = dict[str, NDArray[Any]]

WORDS: Final = 48
_DIRECTIONS: Final = 6
_COLOUR_CELL: Final = 4
_EDGE_CELL: Final = 8
_RIM: Final = 3
_AT_ONCE: Final = 32
"""Patches that are looked at together: what is made of them stays near the processor."""


def colours(patches: ByteArray) -> Floats:
    """Return (…, 3), as the pictures are: luma in 0…1, and red-green and blue-yellow divided by luma."""
    tall = patches.reshape(-1, patches.shape[-2], 3).astype(np.float32)
    mixed: Any = cv2.transform(tall, _MIX)
    shade = 1.0 / (mixed[..., 0] + 0.12)
    mixed[..., 1] *= shade
    mixed[..., 2] *= shade
    seen: Floats = mixed.reshape(patches.shape).astype(np.float32, copy=False)
    return seen


_MIX = np.array([[0.114, 0.587, 0.299], [0.0, -0.9, 0.9], [-0.9, 0.45, 0.45]], np.float32) / 255


def find_vocabulary(patches: ByteArray, seed: int = 0) -> Vocabulary:
    """Return what :func:`describe` needs to know of the taught patches: their colour words."""
    seen = colours(patches)
    return {"words": _find_words(seen[:, 8:-8:2, 8:-8:2].reshape(-1, 3), seed)}


def _find_words(seen: Floats, seed: int) -> Floats:
    """Return (WORDS, 3): the colours that the pixels (n, 3) gather around."""
    rng = np.random.default_rng(seed)
    take = rng.choice(len(seen), min(len(seen), 12_000), replace=False)
    # Every pixel counts, but a rare colour is to have a word, too: frequent colours are thinned out.
    key = np.floor(seen * [12, 10, 10]).astype(int)
    _, where, many = np.unique(key, axis=0, return_inverse=True, return_counts=True)
    chance = 1 / np.sqrt(many[where.ravel()])
    take = rng.choice(len(seen), min(len(seen), 12_000), replace=False, p=chance / chance.sum())
    data = np.ascontiguousarray(seen[take].astype(np.float32))
    cv2.setRNGSeed(seed)
    stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 20, 1e-3)
    many_words = min(WORDS, max(1, len(data) // 4))
    _, _, centres = cv2.kmeans(data, many_words, None, stop, 1, cv2.KMEANS_PP_CENTERS)  # type: ignore[call-overload]
    words: Floats = np.asarray(centres, np.float32)
    if len(words) < WORDS:
        words = np.concatenate([words, np.full((WORDS - len(words), 3), 9.0, np.float32)])
    return words


def describe(patches: ByteArray, known: Vocabulary) -> Floats:
    """Return (n, features) of patches (n, PATCH, PATCH, 3) BGR uint8; of many, some are looked at at a time."""
    n = len(patches)
    if not n:
        return np.zeros((0, length()), np.float32)
    if n > _AT_ONCE:
        return np.concatenate([describe(patches[at : at + _AT_ONCE], known) for at in range(0, n, _AT_ONCE)])
    seen = colours(patches)
    tall = seen.reshape(n * PATCH, PATCH, 3)
    cells = PATCH // _COLOUR_CELL
    coarse = cv2.resize(tall, (cells, n * cells), interpolation=cv2.INTER_AREA).reshape(n, -1)
    return np.concatenate([coarse, _directions(seen[..., 0]), _counts(seen, known["words"])], axis=1).astype(
        np.float32, copy=False
    )


def length() -> int:
    """Return how many features a patch has."""
    return int(groups()[-1].stop) + 1


def groups() -> list[slice]:
    """Return which features belong together: colours, directions, colour words. The last of all is in none."""
    first = 3 * (PATCH // _COLOUR_CELL) ** 2
    second = first + _DIRECTIONS * (PATCH // _EDGE_CELL) ** 2
    return [slice(0, first), slice(first, second), slice(second, second + 2 * WORDS)]


def _directions(luma: Floats) -> Floats:
    n = len(luma)
    root = np.sqrt(np.maximum(luma, 0) + np.float32(0.02))
    gx, gy = np.zeros_like(root), np.zeros_like(root)
    np.subtract(root[:, :, 2:], root[:, :, :-2], out=gx[:, :, 1:-1])
    np.subtract(root[:, 2:], root[:, :-2], out=gy[:, 1:-1])
    tall: Any = (n * PATCH, PATCH)
    gx, gy = gx.reshape(tall), gy.reshape(tall)
    least: Any = cv2.multiply(cv2.magnitude(gx, gy), 0.7)  # type: ignore[call-overload]
    cells = PATCH // _EDGE_CELL
    pooled = np.empty((n, cells, cells, _DIRECTIONS), np.float32)
    for k in range(_DIRECTIONS):
        angle = np.pi * k / _DIRECTIONS
        along: Any = cv2.addWeighted(gx, float(np.cos(angle)), gy, float(np.sin(angle)), 0.0)
        np.abs(along, out=along)
        cv2.subtract(along, least, dst=along)
        towards = cv2.threshold(along, 0.0, 0.0, cv2.THRESH_TOZERO)[1]
        pooled[..., k] = cv2.resize(towards, (cells, n * cells), interpolation=cv2.INTER_AREA).reshape(n, cells, cells)
    strength = pooled.sum(axis=3)
    around = np.stack([cv2.blur(s, (3, 3), borderType=cv2.BORDER_REPLICATE) for s in strength])
    pooled /= (around + 0.01)[..., None]
    return np.sqrt(pooled).reshape(n, -1)


_BINS: Final = (40, 56, 56)
_LOW: Final = np.array([0.0, -1.0, -1.0], np.float32)
_FINE: Final = np.array([40.0, 28.0, 28.0], np.float32)


@dataclass(frozen=True)
class _WordTable:
    """For each colour, finely cut: the two nearest words, the nearer one's share, and how far that is (squared)."""

    nearest: NDArray[np.int32]
    second: NDArray[np.int32]
    share: Floats
    far: Floats


@lru_cache(maxsize=4)
def _word_table(said: bytes) -> _WordTable:
    """Return the table of words (WORDS, 3), which come as bytes."""
    words = np.frombuffer(said, np.float32).reshape(-1, 3)
    scale = np.array([1.0, 1.3, 1.3], np.float32)
    axes = [np.float32(_LOW[k]) + (np.arange(_BINS[k], dtype=np.float32) + 0.5) / _FINE[k] for k in range(3)]
    b = words * scale
    parts = []
    for luma in axes[0]:
        a = np.stack(np.meshgrid(luma, axes[1], axes[2], indexing="ij"), axis=-1).reshape(-1, 3) * scale
        distance = -2 * (a @ b.T)
        distance += (b * b).sum(axis=1) + (a * a).sum(axis=1)[:, None]
        rows = np.arange(len(a))
        # Between the two nearest words a pixel is shared by their distances.
        nearest = distance.argmin(axis=1)
        first = np.maximum(distance[rows, nearest], 0)
        distance[rows, nearest] = np.inf
        second = distance.argmin(axis=1)
        own, rival = np.exp(-first / 0.006), np.exp(-np.maximum(distance[rows, second], 0) / 0.006)
        parts.append((nearest, second, (own + 1e-6) / (own + rival + 2e-6), np.minimum(first, 0.25)))
    nearest, second, share, far = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _WordTable(
        nearest.astype(np.int32), second.astype(np.int32), share.astype(np.float32), far.astype(np.float32)
    )


def _counts(seen: Floats, words: Floats) -> Floats:
    """Return (n, 2 · WORDS + 1): how much of each colour word is in the place, and near its middle; and of none."""
    n = len(seen)
    small = cv2.resize(seen.reshape(n * PATCH, PATCH, 3), (PATCH // 2, n * PATCH // 2), interpolation=cv2.INTER_AREA)
    # Beyond the place nothing is counted, so nothing is looked at there.
    side = PATCH // 2 - 2 * _RIM
    inside = small.reshape(n, PATCH // 2, PATCH // 2, 3)[:, _RIM:-_RIM, _RIM:-_RIM]
    table = _word_table(words.astype(np.float32).tobytes())
    colour = np.zeros(n * side * side, np.int32)
    for k, many in enumerate(_BINS):
        bins = (inside[..., k].ravel() - _LOW[k]) * _FINE[k]
        colour = colour * many + np.clip(bins, 0, many - 1).astype(np.int32)
    nearest, second, share = table.nearest[colour], table.second[colour], table.share[colour]
    offset = (np.arange(side) - (side - 1) / 2) / (PATCH // 2) * CONTEXT
    r = np.maximum(np.abs(offset)[:, None], np.abs(offset)[None, :])
    whole = np.clip((0.62 - r) / 0.12, 0, 1)
    inner = np.clip((0.42 - r) / 0.12, 0, 1)
    patch = np.repeat(np.arange(n), side * side)
    parts = []
    for weight in (whole, inner):
        w = np.tile((weight / weight.sum()).ravel(), n)
        counted = np.bincount(patch * len(words) + nearest, weights=w * share, minlength=n * len(words))
        counted += np.bincount(patch * len(words) + second, weights=w * (1 - share), minlength=n * len(words))
        parts.append(np.sqrt(counted.reshape(n, len(words))))
    # How far its colours are from all words.
    far = np.bincount(patch, weights=np.tile((inner / inner.sum()).ravel(), n) * table.far[colour], minlength=n)
    parts.append(np.sqrt(far)[:, None])
    return np.concatenate(parts, axis=1).astype(np.float32)
