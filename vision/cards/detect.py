"""Find taught cards in a photo: in any rotation, partly covered, or fanned out.

Where cards may lie is told by features (:mod:`vision.cards.seeds`) and outlines. Each supposed card is straightened,
moved until it fits (Lucas and Kanade), and compared with every taught card block by block in locally normalised
colours. Which of them there are is decided together (:mod:`vision.cards.joint`): what one shows is no other's, and what
one does not show must be covered. Last, each card is told by what is seen of it, as a probability.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.cards.around import FEWEST, beside, moved_by, outlines_in, size_of, working
from vision.cards.blocks import (
    BLOCK,
    TABLE,
    energies_of,
    halved,
    in_blocks,
    normalised,
    shades_of,
    table_shades,
)
from vision.cards.deck import Deck, features, straighten
from vision.cards.joint import SAME, View, layers, settle
from vision.cards.plane import CardPlane, fit_plane
from vision.cards.seeds import find_seeds, votes_of
from vision.cards.shape import WIDTH, corners_of
from vision.cards.sheet import find_cards
from vision.cards.twins import TwinReader, independent

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray

    Singles = NDArray[np.float32]

_MOST_FEATURES: Final = 4000
_MOST_SEEDS: Final = 120
_FINE: Final = 24
"""How many cards are compared at full size."""
_SHADE: Final = 0.35
_SHADES_WEIGH: Final = 0.4
"""How far shades (logarithms of blue or red by green) are off by chance; how much a block's weigh at most."""
_FITS: Final = 0.6
"""From this correlation on a block looks like the card's."""
_FITS_WELL: Final = 0.8
_TWINS: Final = 0.5
"""Cards that print the same on a larger share of their blocks are twins."""
_TEXTURE: Final = 0.08
"""What a block must have of it, so that something can look like it."""
LEAST_BLOCKS: Final = 7
"""How many blocks must fit well, so that a card may lie there."""
_CLEAR_BLOCKS: Final = 14
"""With so many a card says how the camera sees the table, and what light there is."""
_AS_WELL: Final = 0.85
"""A card laid on the table shows so much of what it showed before, or stays where it was."""
_LIKELY: Final = 0.25
"""How likely a card must be there at least, once it is known how the camera sees the table."""
_OFF_PLANE: Final = 5.0
"""A card's points are not so far (taught pixels, median) off where it would lie on the table."""


@dataclass(frozen=True, slots=True, eq=False)
class DetectedCard:
    """A card in a photo. ``to`` (3, 3) takes its own pixels to the photo's; ``p`` is the probability of each taught
    card, in the deck's order; ``fits`` (rows, columns) says which of its blocks look like the likeliest card.
    """

    to: FloatArray
    p: FloatArray
    fits: NDArray[np.bool_]
    blocks: int
    height: int
    sure: float = 1.0
    """How likely a card lies there at all."""
    hidden: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), bool))
    """Which blocks (rows, columns) look like nothing, though no other card lies over them."""
    beside: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    """How much of what lies beside its upper, right, lower and left side is neither the table nor another card."""

    @property
    def card(self) -> int:
        """Return the likeliest card's number in the deck."""
        return int(np.argmax(self.p))

    @property
    def corners(self) -> FloatArray:
        """Return (4, 2): the corners in the photo, clockwise from the card's own upper left."""
        return self.at(corners_of(self.height))

    def at(self, points: FloatArray) -> FloatArray:
        """Return where points (n, 2) of the card lie in the photo."""
        return np.asarray(cv2.perspectiveTransform(np.asarray(points, float)[None], self.to)[0], float)

    @property
    def middle(self) -> FloatArray:
        """Return the middle in the photo."""
        middle: FloatArray = self.at(np.array([[(WIDTH - 1) / 2, (self.height - 1) / 2]]))[0]
        return middle


@dataclass
class CardFinder:
    """Finds the cards of one deck."""

    deck: Deck
    _alike: dict[int, NDArray[np.bool_]] = field(default_factory=dict, repr=False)
    _table: FloatArray | None = field(default=None, repr=False)

    @cached_property
    def half(self) -> Singles:
        """Return every card's normalised picture at half size in blocks: (rows × columns, n, values)."""
        return np.stack([in_blocks(normalised(halved(picture))) for picture in self.deck.pictures], axis=1)

    @cached_property
    def shades(self) -> Singles:
        """Return every card's shades: (rows × columns, n, 2), see :func:`shades_of`."""
        return np.stack([shades_of(halved(picture)) for picture in self.deck.pictures], axis=1)

    @cached_property
    def _reader(self) -> TwinReader:
        return TwinReader(self.deck.pictures)

    @cached_property
    def rows(self) -> int:
        """Return how many rows of blocks a card has at half size."""
        return self.deck.height // (2 * BLOCK)

    def find(self, image: ByteArray) -> list[DetectedCard]:
        """Return the taught cards in a photo, those first that show most."""
        work, enlarge = working(image)
        chosen, _ = self.settled(work, self.views(work, self.seeds(work)))
        return [replace(one, to=enlarge @ one.to) for one in self.told(work, layers(chosen))]

    def settled(
        self, work: ByteArray, views: list[View], kept: Sequence[View] = (), plane: CardPlane | None = None
    ) -> tuple[list[View], CardPlane | None]:
        """Return the views that are cards, and the table under them.

        ``kept`` lie as they are, and ``plane`` is known, where the table was looked at before.
        """
        chosen = settle([*kept, *views])
        plane = plane or self._plane(chosen, work)
        if plane is not None:
            chosen = settle([*kept, *self._on_plane(work, plane, views, chosen)], _LIKELY)
        return chosen, plane

    def told(
        self, work: ByteArray, lying: Sequence[tuple[View, NDArray[np.bool_]]], known: Sequence[DetectedCard] = ()
    ) -> list[DetectedCard]:
        """Return which card each view is by the blocks that are seen of it, those first that show most.

        Of ``known`` ones, which have the ``to`` of their view, the probabilities stay as they are.
        """
        p_of = {id(one.to): one.p for one in known}
        read = [self._classified(view, seen, p_of.get(id(view.to))) for view, seen in lying]
        found = self._by_shades(work, read, p_of)
        found.sort(key=lambda one: -one.blocks)
        table = table_shades(work)
        if table is not None:
            lie = [one.corners for one in found]
            found = [
                replace(one, beside=beside(work, own, [*lie[:number], *lie[number + 1 :]], table))
                for number, (one, own) in enumerate(zip(found, lie, strict=True))
            ]
        return found

    # --- where a card may lie ----------------------------------------------------------------------------------------

    def seeds(self, work: ByteArray, where: NDArray[np.bool_] | None = None) -> list[FloatArray]:
        """Return where cards may lie in a picture, or in a part of it that is true in ``where``."""
        grey: Any = cv2.cvtColor(work, cv2.COLOR_BGR2GRAY)
        votes = votes_of(features(grey, _MOST_FEATURES, where), self.deck.features, self.deck.height)
        return find_seeds(votes, _MOST_SEEDS) + self._outlined(work, where)

    def views(self, work: ByteArray, seeds: Sequence[FloatArray], known: Sequence[View] = ()) -> list[View]:
        """Return what is seen where a card may lie, each place once, and none where a ``known`` one lies."""
        self._table = table_shades(work)
        views: list[View] = []
        tried: list[FloatArray] = [one.corners for one in known]
        for seed in seeds:
            corners = cv2.perspectiveTransform(corners_of(self.deck.height)[None], seed)[0]
            size = size_of(corners)
            if any(np.abs(corners - other).max() < 0.07 * size for other in tried):
                continue
            view = self._look(work, seed)
            tried.append(corners)
            if view is None:
                continue
            tried.append(view.corners)
            near = [i for i, one in enumerate(views) if np.abs(one.corners - view.corners).max() < SAME * size]
            if not near:
                views.append(view)
            elif view.well.sum() > views[near[0]].well.sum():
                views[near[0]] = view
        return views

    def _plane(self, chosen: Sequence[View], work: ByteArray) -> CardPlane | None:
        """Return the table under the cards that are clear."""
        pairs = [view.matching() for view in chosen if view.well.sum() >= _CLEAR_BLOCKS]
        return fit_plane(pairs, self.deck.height, (work.shape[1], work.shape[0]))

    def _on_plane(self, work: ByteArray, plane: CardPlane, views: list[View], chosen: list[View]) -> list[View]:
        """Return the views that may be cards on the table, those that were chosen as they lie on it."""
        kept = []
        seen_of = {id(view.to): seen for view, seen in layers(chosen)}
        for view in views:
            _, seen = view.matching()
            to = self._laid(plane, view, seen)
            if id(view.to) in seen_of:
                if to is None:
                    # What is clear is there, though it lies on something else than the table.
                    kept += [view] if view.well.sum() >= _CLEAR_BLOCKS else []
                    continue
                there = self._seen_at(work, to, seen_of[id(view.to)])
                kept.append(there if there.well.sum() >= _AS_WELL * view.well.sum() else view)
            elif to is not None and all(
                np.linalg.norm(view.corners - one.corners, axis=1).mean() > SAME * size_of(view.corners)
                for one in chosen
            ):
                kept += self._again(work, plane, self._seen_at(work, to))
        return kept

    def _laid(self, plane: CardPlane, view: View, seen: FloatArray) -> FloatArray | None:
        """Return where a card lies on the table whose matching blocks are seen there; None where it does not."""
        own, _ = view.matching()
        if len(own) < FEWEST:
            return None
        to = plane.to(plane.pose(own, seen))
        both = np.concatenate([own, corners_of(self.deck.height)])
        there = cv2.perspectiveTransform(both[None], to)[0]
        off = np.linalg.norm(plane.onto(there[: len(own)]) - plane.onto(seen), axis=1)
        grown = size_of(there[len(own) :]) / size_of(view.corners)
        return to if np.median(off) <= _OFF_PLANE and 0.6 < grown < 1.6 else None

    def _again(self, work: ByteArray, plane: CardPlane, view: View) -> list[View]:
        """Return a view that was not clear enough, better laid on the table, or none."""
        for _ in range(2):
            moved = moved_by(view.straight, self.deck.pictures[view.card], view.fits.reshape(self.rows, -1))
            if moved is None:
                break
            own, _ = view.matching()
            seen = cv2.perspectiveTransform(cv2.perspectiveTransform(own[None], moved), view.to)[0]
            to = self._laid(plane, view, seen)
            if to is None:
                break
            there = self._seen_at(work, to)
            if there.well.sum() <= view.well.sum():
                break
            view = there
        return [view] if view.well.sum() >= LEAST_BLOCKS else []

    def _outlined(self, work: ByteArray, where: NDArray[np.bool_] | None) -> list[FloatArray]:
        """Return where whole cards lie by their outlines, each both ways up."""
        quads = find_cards(work) if where is None else outlines_in(work, where)
        seeds = []
        corners = corners_of(self.deck.height).astype(np.float32)
        tall = self.deck.height >= WIDTH
        for quad in quads:
            sides = np.linalg.norm(np.roll(quad, -1, axis=0) - quad, axis=1)
            first = 0 if (sides[1] + sides[3] >= sides[0] + sides[2]) == tall else 1
            for start in (first, first + 2):
                turned = np.roll(quad, -start, axis=0).astype(np.float32)
                seeds.append(cv2.getPerspectiveTransform(corners, turned).astype(float))
        return seeds

    # --- which card it is --------------------------------------------------------------------------------------------

    def _look(self, work: ByteArray, seed: FloatArray) -> View | None:
        """Return what lies where a card is supposed, or None where no taught card fits."""
        to = seed
        view = self._seen_at(work, to)
        for _ in range(2):
            if view.well.sum() < LEAST_BLOCKS // 2:
                return None
            moved = moved_by(view.straight, self.deck.pictures[view.card], view.fits.reshape(self.rows, -1))
            if moved is None:
                break
            to = to @ moved
            again = self._seen_at(work, to)
            if again.well.sum() < view.well.sum():
                break
            view = again
        return view if view.well.sum() >= LEAST_BLOCKS else None

    def _seen_at(self, work: ByteArray, to: FloatArray, free: NDArray[np.bool_] | None = None) -> View:
        """Return what is seen at a place, and which card it is like, in the blocks that are ``free``."""
        straight = straighten(work, to, self.deck.height)
        half = halved(straight)
        blocks = in_blocks(normalised(half))
        energies = energies_of(blocks, self.half)
        sums = (energies if free is None else energies[free]).sum(axis=0)
        card = int(np.argmin(sums))
        other = self.half[:, card]
        own, known = (blocks**2).mean(axis=1), (other**2).mean(axis=1)
        alike = (blocks * other).mean(axis=1) / np.sqrt(own * known + 1e-9)
        textured = known > _TEXTURE
        # What looks like a twin's print is no cover: a digit that the likeliest of them does not have.
        twins = self.half[:, self._twins(card)]
        prints = np.einsum("bv,btv->bt", blocks, twins) / np.float32(blocks.shape[1])
        like_any = (prints / np.sqrt(own[:, None] * (twins**2).mean(axis=2) + 1e-9)).max(axis=1)
        unlike = (textured | (own > 4 * _TEXTURE)) & (like_any < _FITS)
        bare = unlike
        if self._table is not None:
            bare = unlike & (np.abs(shades_of(half) - self._table).max(axis=1) < TABLE)
        return View(
            to=to,
            height=self.deck.height,
            rows=self.rows,
            card=card,
            straight=straight,
            well=textured & (alike > _FITS_WELL),
            fits=textured & (alike > _FITS),
            unlike=unlike,
            bare=bare,
        )

    def _classified(self, view: View, seen: NDArray[np.bool_], p: FloatArray | None) -> DetectedCard:
        """Return a card with its probabilities ``p``, or told by the blocks (rows × columns) that nothing lies over."""
        fits, hidden = (part.reshape(self.rows, -1) for part in (view.fits & seen, view.unlike & seen))
        if p is None:
            coarse = energies_of(in_blocks(normalised(halved(view.straight))), self.half)
            p = self._which(view.straight, coarse[seen & ~view.unlike].sum(axis=0), seen.reshape(self.rows, -1), hidden)
        return DetectedCard(view.to, p, fits, int((view.well & seen).sum()), self.deck.height, view.sure, hidden)

    def _twins(self, card: int) -> NDArray[np.bool_]:
        """Return which cards print the same as a card on most of it, itself among them."""
        if card not in self._alike:
            known = (self.half**2).mean(axis=2)
            own = known[:, card]
            same = (self.half * self.half[:, [card]]).mean(axis=2) > _FITS * np.sqrt(known * own[:, None] + 1e-9)
            self._alike[card] = same[own > _TEXTURE].mean(axis=0) > _TWINS
            self._alike[card][card] = True
        return self._alike[card]

    def _which(
        self, straight: ByteArray, coarse: Singles, visible: NDArray[np.bool_], hidden: NDArray[np.bool_]
    ) -> FloatArray:
        """Return the probability of each card: the nearest ones are compared at full size, a pixel to and fro.

        What lies ``hidden`` (rows, columns) under something unknown, and its rim, tells nothing.
        """
        best = np.argsort(coarse)
        # The twins of the nearest are all thought of: coarsely, they look the same.
        near = self._twins(int(best[0]))[best]
        near[:_FINE] = True
        best = best[near]
        # A block at half size is two by two at full size, where a last row may be left over.
        grid = np.zeros((self.deck.height // BLOCK, WIDTH // BLOCK), bool)
        grid[: 2 * self.rows] = np.kron(visible, np.ones((2, 2), bool))
        under = np.kron(hidden, np.ones((2, 2), np.uint8)).astype(np.uint8)
        grid[: 2 * self.rows] &= cv2.dilate(under, np.ones((3, 3), np.uint8)) == 0
        best, odds = self._reader.tell(straight, best, grid, _FINE)
        # Of a card of which much is hidden, what is left may be hidden in part: it tells less.
        sharp = (1 - float(hidden.sum()) / max(1, int(visible.sum()))) ** 2
        # Those that were not looked at finely are no likelier than the last that was.
        scores = np.full(len(coarse), sharp * odds.min())
        scores[best] = sharp * odds
        p: FloatArray = np.exp(scores - scores.max())
        p /= p.sum()
        return p

    def _by_shades(self, work: ByteArray, found: list[DetectedCard], known: Container[int]) -> list[DetectedCard]:
        """Weigh the cards by their shades too, as tonight's lamp shows those that are clear.

        Normalised pictures know nothing of the ground's own colour, which may be all that a strip of a card shows.
        """
        seen = [shades_of(halved(straighten(work, one.to, one.height))) for one in found]
        lamps = [
            np.median((shades - self.shades[:, one.card])[one.fits.ravel()], axis=0)
            for one, shades in zip(found, seen, strict=True)
            if one.blocks >= _CLEAR_BLOCKS
        ]
        if not lamps:
            return found
        lamp = np.median(lamps, axis=0)
        weighed = []
        for one, shades in zip(found, seen, strict=True):
            if id(one.to) in known:
                weighed.append(one)
                continue
            # Near what fits: what lies over the rest of the card has shades of other cards.
            near = cv2.dilate(one.fits.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
            off = ((shades[:, None] - lamp - self.shades) ** 2).sum(axis=2)[near.ravel()] / _SHADE**2
            # A gleam on the lesson or on the card shifts all shades around it: these count once.
            residual = (shades - lamp - self.shades[:, one.card]).reshape(*near.shape, 2)
            weigh = _SHADES_WEIGH * independent(residual * near[..., None], near)
            scores = np.log(np.maximum(one.p, 1e-300)) - weigh * np.minimum(off, 1).sum(axis=0)
            p = np.exp(scores - scores.max())
            weighed.append(replace(one, p=p / p.sum()))
        return weighed
