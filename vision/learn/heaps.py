"""Part a heap of pieces that never stood alone: which of its pixels are which piece.

Of a heap it is known how many there are of each colour, and what the colours are called. Its pixels gather around a few
colours; those are taken for the pieces' that have the hues of the names and, by how many there are, pieces of one size.
What has one of these colours then falls into so many parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.board.features import colours

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray

    Mask = NDArray[np.bool_]

NAMED: Final[Mapping[str, tuple[int, int, int]]] = {
    "red": (255, 0, 0), "orange": (255, 165, 0), "yellow": (255, 255, 0), "green": (0, 128, 0),
    "turquoise": (64, 224, 208), "cyan": (0, 255, 255), "blue": (0, 0, 255), "violet": (238, 130, 238),
    "purple": (128, 0, 128), "magenta": (255, 0, 255), "pink": (255, 192, 203),
}  # fmt: skip
"""Colours by their names, as the web has them (CSS Color 4): red, green and blue, 0…255. Without grey ones: those have
no hue, and how light they are is the lamp's.
"""
_OTHERS: Final = 4
"""Colours beside the pieces': the ground's, its marks', shades."""
_ALIKE: Final = 0.7
"""Cosine of the angle between a hue and the named one, from which on it may be it: an eighth of all hues aside."""
_LIKE_SIZE: Final = 2.0
"""Pieces of one kind show at most so many times as much of themselves as others of them."""
_LUMA: Final = 0.4
"""What luma weighs against a chroma: a piece has light and dark sides."""
_TRIES: Final = 6


def part_heap(picture: ByteArray, within: Mask, wanted: Mapping[str, int]) -> dict[str, list[Mask]] | None:
    """Return for each colour the pixels (height, width) of its pieces in a picture (BGR) of a heap.

    ``within``: the place itself; beside it pieces only lean over its edge. ``wanted``: how many there are of each
    colour. None where the colours' names say nothing of hues, or where the heap does not fall into such parts.
    """
    if not wanted or not NAMED.keys() >= wanted.keys():
        return None
    soft: Any = cv2.GaussianBlur(colours(picture[None])[0], (0, 0), 0.8)
    seen = soft * np.array([_LUMA, 1, 1], np.float32)
    centres = _centres(seen[within], len(wanted) + _OTHERS)
    nearest = ((seen[:, :, None] - centres) ** 2).sum(axis=3).argmin(axis=2)
    areas = np.bincount(nearest[within], minlength=len(centres))
    chosen = _named(centres, areas, wanted)
    if chosen is None:
        return None
    # What is beside the place may have a piece's colour: then only what is within it is sure to be a piece. A piece of
    # which a thin part alone has its colour, as a scarf, falls apart where thin parts are left out.
    ways = ((np.ones_like(within), True), (within, True), (np.ones_like(within), False), (within, False))
    for where, solid in ways:
        pieces = {name: _parts((nearest == n) & where, within, wanted[name], solid) for name, n in chosen.items()}
        if all(len(some) == wanted[name] for name, some in pieces.items()) and _alike(pieces, solid):
            return pieces
    return None


def _centres(pixels: FloatArray, many: int) -> FloatArray:
    """Return (many, 3): the colours that pixels (n, 3) gather around."""
    cv2.setRNGSeed(0)
    stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 40, 1e-4)
    data = np.ascontiguousarray(pixels, np.float32)
    _, _, centres = cv2.kmeans(data, many, None, stop, _TRIES, cv2.KMEANS_PP_CENTERS)  # type: ignore[call-overload]
    return np.asarray(centres)


def _named(centres: FloatArray, areas: NDArray[np.int64], wanted: Mapping[str, int]) -> dict[str, int] | None:
    """Return which of the colours (n, 3) each name is; None where none is like it."""
    hues = centres[:, 1:] / (np.linalg.norm(centres[:, 1:], axis=1, keepdims=True) + 1e-6)
    pure = colours(np.array([[NAMED[name][::-1] for name in wanted]], np.uint8))[0, :, 1:]
    alike = (pure / np.linalg.norm(pure, axis=1, keepdims=True)) @ hues.T
    best: tuple[float, dict[str, int] | None] = (0.0, None)
    for some in permutations(range(len(centres)), len(wanted)):
        hue = alike[range(len(some)), some]
        each = areas[list(some)] / np.array(list(wanted.values()))
        if hue.min() < _ALIKE or each.max() > _LIKE_SIZE * each.min():
            continue
        # The purer of two like hues is the piece's.
        purity = float((hue * np.linalg.norm(centres[list(some), 1:], axis=1)).sum())
        if purity > best[0]:
            best = purity, dict(zip(wanted, some, strict=True))
    return best[1]


def _alike(pieces: Mapping[str, list[Mask]], solid: bool) -> bool:
    """Return whether pieces show about as much of themselves as others do; of thin parts, as those of their colour."""
    sizes = {name: np.array([piece.sum() for piece in some], float) for name, some in pieces.items()}
    if solid:
        every = np.concatenate(list(sizes.values()))
        return bool(every.max() < _LIKE_SIZE * every.min())
    return all(
        some.max() < _LIKE_SIZE * some.mean() and some.mean() < _LIKE_SIZE * some.min() for some in sizes.values()
    )


def _parts(mask: Mask, within: Mask, many: int, solid: bool) -> list[Mask]:
    """Return so many parts of what has one colour, each about a middle of its own.

    ``solid``: thin parts are left out, and so is what does not hang together with the most of its part.
    """
    clean = mask.astype(np.uint8)
    if solid:
        clean = cv2.morphologyEx(clean, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)).astype(np.uint8)
    # What does not reach into the place is beside it.
    _, names = cv2.connectedComponents(clean)
    inside = np.isin(names, np.unique(names[within & (clean > 0)])) & (clean > 0)
    at = np.argwhere(inside).astype(np.float32)
    if len(at) < many:
        return []
    cv2.setRNGSeed(0)
    stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 60, 1e-3)
    _, owner, _ = cv2.kmeans(at, many, None, stop, 4 * _TRIES, cv2.KMEANS_PP_CENTERS)  # type: ignore[call-overload]
    parts = []
    for number in range(many):
        own = np.zeros(mask.shape, np.uint8)
        rows, columns = at[owner[:, 0] == number].astype(int).T
        own[rows, columns] = 1
        pieces, names, stats, _ = cv2.connectedComponentsWithStats(own)
        if not solid:
            parts.append(own > 0)
        elif pieces > 1:
            parts.append(names == 1 + int(stats[1:, cv2.CC_STAT_AREA].argmax()))
    return parts
