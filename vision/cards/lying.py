"""A table that was looked at before: what lies as it lay keeps its reading, and only what changed is looked at anew.

The camera stays where it was. A card of which it is agreed what it is stays that card while it looks as it did, block
by block, where it lay or nudged a little. Where anything else has changed since the last picture, but for how light it
is, cards are looked for; where none is found, again with the next change, until people and camera agree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.cards.around import moved_by, size_of, working
from vision.cards.blocks import COVERED, energies_of, halved, in_blocks, normalised
from vision.cards.deck import straighten
from vision.cards.detect import LEAST_BLOCKS
from vision.cards.joint import BLOCK_PIXELS, View, layers
from vision.cards.shape import WIDTH
from vision.cards.tokens import CHANGED, gain_of, light_at, under

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from companion.ports import ByteArray
    from vision.cards.blocks import Singles
    from vision.cards.deck import Deck
    from vision.cards.detect import CardFinder, DetectedCard
    from vision.cards.pile import Read
    from vision.cards.plane import CardPlane

    Flags = NDArray[np.bool_]

_SIDE: Final = 480
"""The longest side of the picture in which it is looked where anything has changed."""


@dataclass(frozen=True, eq=False)
class LyingCard:
    """A card as it was found in the picture that was worked at; ``known``: it is agreed that it is this one.

    ``seen``: which of its blocks no other card lay over, when it was first found so.
    """

    view: View
    card: DetectedCard
    seen: Flags
    known: bool = False

    @cached_property
    def telling(self) -> Flags:
        """Return the blocks by which it is known again: the rim of what lies over it comes and goes with a nudge."""
        covered = (~self.seen.reshape(self.view.rows, -1)).astype(np.uint8)
        result: Flags = cv2.dilate(covered, np.ones((3, 3), np.uint8)).ravel() == 0
        return result


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

    def agreed(self, read: Sequence[Read]) -> Lying:
        """Return this when it is agreed that the cards are what they were read as, and nothing else came.

        Of what is not among ``read`` it is not agreed that it is a card at all.
        """
        name_of = {tuple(one.corners.ravel().round(1)): one.name for one in read}
        cards = []
        for one, found in zip(self.cards, self.found, strict=True):
            name = name_of.get(tuple(found.corners.ravel().round(1)))
            p = one.card.p if name is None else np.eye(len(self.deck.names))[self.deck.index(name)]
            cards.append(replace(one, card=replace(one.card, p=p), known=name is not None))
        return replace(self, cards=tuple(cards), left=np.zeros_like(self.left))


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
    lying = layers(chosen)
    found = finder.told(work, lying, [one.card for one in known])
    of = {id(view.to): LyingCard(view, found[0], seen) for view, seen in lying}
    of |= {id(one.view.to): one for one in known}
    cards = tuple(replace(of[id(one.to)], card=one) for one in found)
    left = left & ~under([one.corners for one in found], left.shape, scale)
    large = tuple(replace(one, to=enlarge @ one.to) for one in found)
    return Lying(finder.deck, cards, large, plane, light, _of_cards(left, cards, scale))


def _as_before(work: ByteArray, one: LyingCard) -> LyingCard | None:
    """Return a card that looks as it did, where it lies now; None where it does not."""
    view, to = one.view, one.view.to
    if one.telling.sum() < LEAST_BLOCKS:
        return None
    straight = straighten(work, to, view.height)
    if not _alike(one, straight):
        moved = moved_by(straight, view.straight, view.fits.reshape(view.rows, -1))
        if moved is None:
            return None
        to = to @ moved
        if not _alike(one, straighten(work, to, view.height)):
            return None
    # It goes on being compared with what it looked like when it was found: so nothing creeps.
    return replace(one, view=replace(view, to=to), card=replace(one.card, to=to))


def _alike(one: LyingCard, straight: ByteArray) -> bool:
    """Tell whether no block of a card looks otherwise than it did, of those that were seen."""
    before, now = (in_blocks(normalised(halved(picture)))[one.telling] for picture in (one.view.straight, straight))
    return bool((energies_of(now, before[:, None])[:, 0] < COVERED).all())


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
