"""Pictures of cards cut into blocks that can be compared: colours from which the lamp was taken away.

A block's energy against a card says how unlike they are; its shades, how blue and how red it is beside its green.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray

    Singles = NDArray[np.float32]

BLOCK: Final = 8
"""Side of a block, in pixels of the card at half size."""
COVERED: Final = 0.45
"""From this energy on a block counts as covered."""
TABLE: Final = 0.2
_ONE_TABLE: Final = 0.7
"""How far the table's shades are off where it is seen, and how much of a photo's rim shows it."""


def table_shades(work: ByteArray) -> FloatArray | None:
    """Return (2,): the shades of the table by the photo's rim, or None where that is not of one colour."""
    small = cv2.resize(work, (160, 120), interpolation=cv2.INTER_AREA).astype(np.uint8, copy=False)
    shades = shades_of(small).reshape(120 // BLOCK, 160 // BLOCK, 2)
    rim = np.concatenate([shades[0], shades[-1], shades[1:-1, 0], shades[1:-1, -1]])
    table = np.median(rim, axis=0)
    agree = (np.abs(rim - table).max(axis=1) < TABLE).mean()
    return np.asarray(table, float) if agree > _ONE_TABLE else None


def halved(picture: ByteArray) -> ByteArray:
    half: Any = cv2.resize(picture, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    return half  # type: ignore[no-any-return]


def normalised(picture: ByteArray) -> Singles:
    """Return Lab with every place's surroundings taken away and their contrast evened out: lamps drop out."""
    lab: Any = cv2.cvtColor(picture.astype(np.float32) / np.float32(255), cv2.COLOR_BGR2Lab)
    size = (picture.shape[1], picture.shape[0])

    def around(values: Any) -> Any:
        # What is smooth is as well computed in a small picture.
        small = cv2.resize(values, (16, max(4, 16 * size[1] // size[0])), interpolation=cv2.INTER_AREA)
        return cv2.resize(cv2.GaussianBlur(small, (0, 0), 2.2), size, interpolation=cv2.INTER_LINEAR)

    flat = lab - around(lab)
    contrast = np.sqrt(around(flat**2) + np.array([6.0, 7.0, 7.0], np.float32) ** 2)
    even: Singles = flat / contrast
    return even


def in_blocks(values: Singles) -> Singles:
    """Return a picture (h, w, channels) cut into blocks: (rows × columns, values of a block)."""
    rows, columns = values.shape[0] // BLOCK, values.shape[1] // BLOCK
    cut = values[: rows * BLOCK, : columns * BLOCK].reshape(rows, BLOCK, columns, BLOCK, -1)
    return np.ascontiguousarray(cut.transpose(0, 2, 1, 3, 4)).reshape(rows * columns, -1)


def shades_of(picture: ByteArray) -> Singles:
    """Return (rows × columns, 2): how blue and how red each block is beside its green, as logarithms."""
    linear = (picture.astype(np.float32) / np.float32(255)) ** np.float32(2.2)
    mean = in_blocks(linear).reshape(-1, BLOCK * BLOCK, 3).mean(axis=1)
    tones = np.log(mean + 0.01)
    shades: Singles = tones[:, [0, 2]] - tones[:, 1:2]
    return shades


def energies_of(seen: Singles, cards: Singles) -> Singles:
    """Return (blocks, n): how unlike each block is to each card's, and no more than covered."""
    both = np.matmul(cards, seen[:, :, None])[:, :, 0]
    own = (seen**2).sum(axis=1)[:, None] + np.einsum("bnv,bnv->bn", cards, cards)
    off: Singles = np.minimum((own - 2 * both) / np.float32(seen.shape[1]), np.float32(COVERED))
    return off
