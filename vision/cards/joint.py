"""Which of the cards that may lie in a photo do, decided together.

A place where one card is seen shows no other; where a card is not seen, another that is seen must lie over it, or an
igloo or a hand. So a supposed card gains by blocks that look like it and that no other claims, and loses by blocks that
look like nothing, unless a card that is seen there explains them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

from vision.cards.shape import corners_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray

    Flags = NDArray[np.bool_]

BLOCK_PIXELS: Final = 16
"""Side of a block in pixels of a taught card."""
_WELL: Final = 2.0
_FIT: Final = 1.0
_BARE: Final = 0.7
_OTHER: Final = 0.4
"""What a block gains that looks just like the card, or somewhat; what one loses that looks like the table, or like
something else: igloos cover half a card, so that says less (chosen on rendered photos)."""
_LEAST: Final = 12.0
_SPREAD: Final = 3.0
"""From this gain on a card is as likely there as not, and how soon that changes."""
SAME: Final = 0.14
"""Cards that lie so near (card widths) are one."""
_RIM: Final = 3.0
"""How far (taught pixels) beyond its sides a card still covers."""


@dataclass(frozen=True, eq=False)
class View:
    """What is seen where a card may lie: ``to`` (3, 3) takes its pixels to the photo's, ``card`` is the likeliest.

    Of its blocks (rows × columns, row by row) ``well`` and ``fits`` look like the card's; ``unlike`` do not, and
    ``bare`` of these may be table.
    """

    to: FloatArray
    height: int
    rows: int
    card: int
    straight: ByteArray
    well: Flags
    fits: Flags
    unlike: Flags
    bare: Flags
    sure: float = 1.0

    @cached_property
    def corners(self) -> FloatArray:
        """Return (4, 2): the corners in the photo, clockwise from the card's own upper left."""
        return np.asarray(cv2.perspectiveTransform(corners_of(self.height)[None], self.to)[0], float)

    @cached_property
    def own(self) -> FloatArray:
        """Return (blocks, 2): the blocks' middles in the card's own pixels."""
        rows, columns = np.divmod(np.arange(len(self.fits)), len(self.fits) // self.rows)
        at: FloatArray = (np.stack([columns, rows], axis=1) * BLOCK_PIXELS + (BLOCK_PIXELS - 1) / 2).astype(float)
        return at

    @cached_property
    def middles(self) -> FloatArray:
        """Return (blocks, 2): the blocks' middles in the photo."""
        return np.asarray(cv2.perspectiveTransform(self.own[None], self.to)[0], float)

    def matching(self) -> tuple[FloatArray, FloatArray]:
        """Return the middles of the blocks that look like the card: its own, and in the photo."""
        some = self.well if self.well.sum() >= 4 else self.fits
        return self.own[some], self.middles[some]

    @cached_property
    def _back(self) -> FloatArray:
        return np.asarray(np.linalg.inv(self.to), float)

    @cached_property
    def _shown(self) -> Flags:
        grid = self.fits.reshape(self.rows, -1).astype(np.uint8)
        # A block that is seen among others is seen though it looks like nothing.
        return (cv2.blur(grid.astype(np.float32), (3, 3), borderType=cv2.BORDER_REPLICATE) > 0.34) | (grid > 0)

    def over(self, points: FloatArray) -> tuple[Flags, Flags, Flags]:
        """Return which points (n, 2) of the photo lie on the card, on which it looks like itself, or is seen around."""
        flat = cv2.perspectiveTransform(points[None], self._back)[0]
        wide = self.own[-1, 0] + BLOCK_PIXELS / 2
        inside = (flat > -_RIM).all(axis=1) & (flat[:, 0] < wide + _RIM) & (flat[:, 1] < self.height + _RIM)
        cells = np.floor(flat / BLOCK_PIXELS).astype(int)
        shown = self._shown
        at = np.clip(cells[:, 1], 0, self.rows - 1), np.clip(cells[:, 0], 0, shown.shape[1] - 1)
        return inside, inside & self.fits.reshape(self.rows, -1)[at], inside & shown[at]


def settle(views: Sequence[View], least: float = 0.12) -> list[View]:
    """Return those that lie there with a probability of ``least``, the clearest first, each with how likely it does.

    All are supposed at first; then the one that least can be there goes, until all that are left can.
    """
    left: list[View] = []
    for view in sorted(views, key=lambda view: -float(view.well.sum() + 0.5 * view.fits.sum())):
        # Where a card lies, no other is seen, as little as the same one upside down.
        if not any(_same_place(view.corners, other.corners) for other in left):
            left.append(view)
    many = len(left)
    blocks = len(left[0].fits) if left else 0
    claims, explains = np.zeros((many, many, blocks), bool), np.zeros((many, many, blocks), bool)
    for k, view in enumerate(left):
        reach = float(np.linalg.norm(view.corners[2] - view.corners[0]))
        for j, other in enumerate(left):
            if k != j and np.linalg.norm(view.corners.mean(axis=0) - other.corners.mean(axis=0)) < 1.1 * reach:
                _, claims[k, j], explains[k, j] = other.over(view.middles)
    there = np.ones(many, bool)
    gains = np.zeros(many)
    enough = _LEAST + _SPREAD * float(np.log(least / (1 - least)))
    while there.any():
        for i in np.flatnonzero(there).tolist():
            gains[i] = _gain(left[i], claims[i, there].any(axis=0), explains[i, there].any(axis=0))
        worst = int(np.flatnonzero(there)[np.argmin(gains[there])])
        if gains[worst] >= enough:
            break
        there[worst] = False
    return [
        replace(left[i], sure=float(1 / (1 + np.exp((_LEAST - gains[i]) / _SPREAD)))) for i in np.flatnonzero(there)
    ]


def _same_place(one: FloatArray, other: FloatArray) -> bool:
    size = float(np.linalg.norm(one[1] - one[0]))
    turned = (np.roll(one, turn, axis=0) for turn in range(len(one)))
    return min(float(np.linalg.norm(corners - other, axis=1).mean()) for corners in turned) < SAME * size


def _gain(view: View, claimed: Flags, explained: Flags) -> float:
    well, fits = int((view.well & ~claimed).sum()), int((view.fits & ~claimed).sum())
    return _WELL * well + _FIT * (fits - well) - _loss(view, ~explained)


def _loss(view: View, some: Flags) -> float:
    unlike, bare = int((view.unlike & some).sum()), int((view.bare & some).sum())
    return _BARE * bare + _OTHER * (unlike - bare)


def layers(chosen: Sequence[View]) -> list[tuple[View, Flags]]:
    """Return the cards, each with which of its blocks no other card lies over."""
    result = []
    for view in chosen:
        free = np.ones(len(view.fits), bool)
        for other in chosen:
            if other is view:
                continue
            under, _, hidden = other.over(view.middles)
            over, _, _ = view.over(other.middles)
            if not under.any() or not over.any():
                continue
            # Whose print is seen where both lie, lies on top.
            if other.fits[over].mean() > view.fits[under].mean():
                free &= ~(under | hidden)
        result.append((view, free if free.any() else np.ones(len(free), bool)))
    return result
