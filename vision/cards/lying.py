"""A table that was looked at before: what lies as it lay keeps its reading, and only what changed is looked at anew.

The camera stays where it was. A card of which it is agreed what it is stays that card while it looks as it did, block
by block, where it lay or nudged a little. Where anything else has changed since the last picture, but for how light it
is, cards are looked for; where none is found, again with the next change, until people and camera agree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.cards.around import moved_by, size_of, working
from vision.cards.blocks import COVERED, energies_of, halved, in_blocks, normalised
from vision.cards.deck import WIDTH, straighten
from vision.cards.detect import LEAST_BLOCKS
from vision.cards.joint import BLOCK_PIXELS, View, layers
from vision.cards.tokens import CHANGED, gain_of, light_at, under

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from companion.ports import ByteArray
    from vision.cards.blocks import Singles
    from vision.cards.deck import Deck
    from vision.cards.detect import CardFinder, DetectedCard
    from vision.cards.plane import CardPlane

    Flags = NDArray[np.bool_]

_SIDE: Final = 480
"""The longest side of the picture in which it is looked where anything has changed."""


@dataclass(frozen=True, eq=False)
class LyingCard:
    """A card as it was found in the picture that was worked at; ``known``: it is agreed that it is this one."""

    view: View
    card: DetectedCard
    known: bool = False


@dataclass(frozen=True, eq=False)
class Lying:
    """What lies on a table: ``found`` in the photo, those first that show most, and the same ``cards`` as worked at.

    ``light`` (rows, columns, 3) is the light of the picture; ``left`` (rows, columns): where something came that no
    card explains.
    """

    deck: Deck
    cards: tuple[LyingCard, ...]
    found: tuple[DetectedCard, ...]
    plane: CardPlane | None
    light: Singles
    left: Flags

    def agreed(self) -> Lying:
        """Return this when it is agreed that all cards are what they were read as, and nothing else came."""
        cards = tuple(replace(one, known=True) for one in self.cards)
        return replace(self, cards=cards, left=np.zeros_like(self.left))


def look_again(finder: CardFinder, image: ByteArray, former: Lying | None) -> Lying:
    """Return what lies there, by what a former picture of the same table showed; without one, all is looked at."""
    work, enlarge = working(image)
    small: Any = cv2.resize(work, None, fx=_SIDE / max(work.shape[:2]), fy=_SIDE / max(work.shape[:2]),
                            interpolation=cv2.INTER_AREA)  # fmt: skip
    light = light_at(small, 1.0)
    scale = light.shape[1] / work.shape[1]
    still: list[LyingCard] = []
    if former is not None and former.deck is finder.deck and former.light.shape == light.shape:
        still = [one for one in (_as_before(work, card) for card in former.cards) if one is not None]
    known: list[LyingCard] = []
    if former is None or former.plane is None or not still:
        left, plane, seeds = np.zeros(light.shape[:2], bool), None, finder.seeds(work)
    else:
        known = [one for one in still if one.known]
        there, lay = {id(one.view.straight) for one in still}, {id(one.view.to) for one in former.cards}
        # Where none lies just where it lay, the camera may have been pushed a little.
        plane = former.plane if any(id(one.view.to) in lay for one in still) else None
        seeds = [one.view.to for one in still if not one.known]
        seeds += [one.view.to for one in former.cards if id(one.view.straight) not in there]
        changed = _changed(former, light, still, scale)
        left = former.left | changed
        if changed.any():
            around = np.ones((2 * _block(former.cards, scale) + 1,) * 2, np.uint8)
            where: Any = cv2.resize(cv2.dilate(left.astype(np.uint8), around), work.shape[1::-1])
            seeds += finder.seeds(work, where > 0)
    kept = [one.view for one in known]
    chosen, plane = finder.settled(work, finder.views(work, seeds, kept), kept, plane)
    found = finder.told(work, layers(chosen), [one.card for one in known])
    view_of, keep = {id(view.to): view for view in chosen}, {id(view.to) for view in kept}
    cards = tuple(LyingCard(view_of[id(one.to)], one, id(one.to) in keep) for one in found)
    left = left & ~under([one.corners for one in found], left.shape, scale)
    large = tuple(replace(one, to=enlarge @ one.to) for one in found)
    return Lying(finder.deck, cards, large, plane, light, _of_cards(left, cards, scale))


def _as_before(work: ByteArray, one: LyingCard) -> LyingCard | None:
    """Return a card that looks as it did, where it lies now; None where it does not."""
    view, to = one.view, one.view.to
    before = _blocks(view.straight)
    straight = straighten(work, to, view.height)
    if not _alike(before, straight):
        moved = moved_by(straight, view.straight, view.fits.reshape(view.rows, -1))
        if moved is None:
            return None
        to = to @ moved
        if not _alike(before, straighten(work, to, view.height)):
            return None
    # It goes on being compared with what it looked like when it was found: so nothing creeps.
    return LyingCard(replace(view, to=to), replace(one.card, to=to), one.known)


def _blocks(straight: ByteArray) -> Singles:
    return in_blocks(normalised(halved(straight)))


def _alike(before: Singles, straight: ByteArray) -> bool:
    """Tell whether no block of a card looks otherwise than before."""
    return bool((energies_of(_blocks(straight), before[:, None])[:, 0] < COVERED).all())


def _changed(former: Lying, light: Singles, still: Sequence[LyingCard], scale: float) -> Flags:
    """Return where something else is seen than in the former picture, beside the cards that lie as they lay."""
    shape = light.shape[:2]
    lie = under([one.view.corners for one in still], shape, scale)
    free = ~(lie | under([one.view.corners for one in former.cards], shape, scale))
    level: Any = light - gain_of(former.light, light, free)
    differs = np.abs(cv2.GaussianBlur(level - former.light, (0, 0), 1.0)).max(axis=2) > CHANGED
    return _of_cards(differs & ~lie, former.cards, scale)


def _block(cards: Sequence[LyingCard], scale: float) -> int:
    """Return how wide a card's block is at the size at which changes are looked for, at least a pixel."""
    wide = float(np.median([size_of(one.view.corners) for one in cards]))
    return max(1, round(wide * scale * BLOCK_PIXELS / WIDTH))


def _of_cards(mask: Flags, cards: Sequence[LyingCard], scale: float) -> Flags:
    """Return the parts of a mask that may be cards: one piece that went or came is too small."""
    if not mask.any() or not cards:
        return mask
    block = _block(cards, scale)
    near = np.ones((block, block), np.uint8)
    closed: Any = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_CLOSE, near)
    closed = cv2.morphologyEx(closed, cv2.MORPH_OPEN, near)
    _, parts, numbers, _ = cv2.connectedComponentsWithStats(closed)
    large = numbers[:, cv2.CC_STAT_AREA] >= LEAST_BLOCKS * block**2
    large[0] = False
    result: Flags = large[parts]
    return result
