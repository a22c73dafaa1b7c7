"""Find taught cards in a photo: in any rotation, partly covered, or fanned out.

Where cards may lie is told by features (:mod:`vision.cards_seeds`) and outlines. Each supposed card is straightened,
moved until it fits (Lucas and Kanade), and compared with every taught card block by block in locally normalised
colours. Which of them there are is decided together (:mod:`vision.cards_joint`): what one shows is no other's, and what
one does not show must be covered. Last, each card is told by what is seen of it, as a probability.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from .cards_deck import WIDTH, Deck, corners_of, features, straighten
from .cards_joint import View, layers, settle
from .cards_plane import Plane, fit_plane
from .cards_seeds import find_seeds, votes_of
from .cards_sheet import find_cards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray

    Singles = NDArray[np.float32]

WORK_SIDE: Final = 1600
BLOCK: Final = 8
"""Side of a block, in pixels of the card at half size."""
_MOST_FEATURES: Final = 4000
_MOST_SEEDS: Final = 120
_FINE: Final = 24
"""How many cards are compared at full size."""
_COVERED: Final = 0.45
"""From this energy on a block counts as covered."""
_SHARP: Final = 40.0
"""How much a unit of energy weighs in a probability; rendered photos would allow twice as much."""
_SAME_PRINT: Final = 0.08
_SAME_FLAT: Final = 0.04
"""Blocks of two cards that differ by less (a share of what both have, and of what is noise) print the same."""
_NO_MATTER: Final = 0.02
_AT_MOST: Final = 0.2
"""From which difference in energy on a block tells cards apart, and from where on it tells no more."""
_AT_ONCE: Final = 64
_SHADE: Final = 0.35
_SHADES_WEIGH: Final = 0.4
"""How far shades (logarithms of blue or red by green) are off by chance; how much a block's weigh at most."""
_FITS: Final = 0.6
"""From this correlation on a block looks like the card's."""
_FITS_WELL: Final = 0.8
_TEXTURE: Final = 0.08
"""What a block must have of it, so that something can look like it."""
_LEAST_BLOCKS: Final = 7
"""How many blocks must fit well, so that a card may lie there."""
_CLEAR_BLOCKS: Final = 14
"""With so many a card says how the camera sees the table, and what light there is."""
_SAME: Final = 0.14
"""Cards that lie so near (card widths, all corners) are one."""
_AS_WELL: Final = 0.85
"""A card laid on the table shows so much of what it showed before, or stays where it was."""
_LIKELY: Final = 0.25
"""How likely a card must be there at least, once it is known how the camera sees the table."""
_TABLE: Final = 0.2
_ONE_TABLE: Final = 0.7
"""How far the table's shades are off where it is seen, and how much of a photo's rim shows it."""
_OFF_PLANE: Final = 5.0
"""A card's points are not so far (taught pixels, median) off where it would lie on the table."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
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
    _fine: dict[int, NDArray[np.float16]] = field(default_factory=dict, repr=False)
    _table: FloatArray | None = field(default=None, repr=False)

    @cached_property
    def half(self) -> Singles:
        """Return every card's normalised picture at half size in blocks: (rows × columns, n, values)."""
        return np.stack([in_blocks(normalised(_halved(picture))) for picture in self.deck.pictures], axis=1)

    @cached_property
    def shades(self) -> Singles:
        """Return every card's shades: (rows × columns, n, 2), see :func:`shades_of`."""
        return np.stack([shades_of(_halved(picture)) for picture in self.deck.pictures], axis=1)

    @cached_property
    def rows(self) -> int:
        """Return how many rows of blocks a card has at half size."""
        return self.deck.height // (2 * BLOCK)

    def find(self, image: ByteArray) -> list[Found]:
        """Return the taught cards in a photo, those first that show most."""
        scale = min(1.0, WORK_SIDE / max(image.shape[:2]))
        work: Any = image
        if scale < 1:
            work = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        enlarge = np.array([[1 / scale, 0, 0.5 / scale - 0.5], [0, 1 / scale, 0.5 / scale - 0.5], [0, 0, 1.0]])
        self._table = _table_shades(work)
        views = self._views(work)
        chosen = settle(views)
        plane = self._plane(chosen, work)
        if plane is not None:
            views = self._on_plane(work, plane, views, chosen)
            chosen = settle(views, _LIKELY)
        found = self._by_shades(work, [self._told(work, view, seen) for view, seen in layers(chosen)])
        found.sort(key=lambda one: -one.blocks)
        if self._table is not None:
            found = [replace(one, beside=beside(work, one, found, self._table)) for one in found]
        return [replace(one, to=enlarge @ one.to) for one in found]

    # --- where a card may lie ----------------------------------------------------------------------------------------

    def _views(self, work: ByteArray) -> list[View]:
        """Return what is seen where a card may lie, each place once."""
        grey: Any = cv2.cvtColor(work, cv2.COLOR_BGR2GRAY)
        votes = votes_of(features(grey, _MOST_FEATURES), self.deck.features, self.deck.height)
        seeds = find_seeds(votes, _MOST_SEEDS) + self._outlined(work)
        views: list[View] = []
        tried: list[FloatArray] = []
        for seed in seeds:
            corners = cv2.perspectiveTransform(corners_of(self.deck.height)[None], seed)[0]
            size = _size(corners)
            if any(np.abs(corners - other).max() < 0.07 * size for other in tried):
                continue
            view = self._look(work, seed)
            tried.append(corners)
            if view is None:
                continue
            tried.append(view.corners)
            near = [i for i, one in enumerate(views) if np.abs(one.corners - view.corners).max() < _SAME * size]
            if not near:
                views.append(view)
            elif view.well.sum() > views[near[0]].well.sum():
                views[near[0]] = view
        return views

    def _plane(self, chosen: Sequence[View], work: ByteArray) -> Plane | None:
        """Return the table under the cards that are clear."""
        pairs = [view.matching() for view in chosen if view.well.sum() >= _CLEAR_BLOCKS]
        return fit_plane(pairs, self.deck.height, (work.shape[1], work.shape[0]))

    def _on_plane(self, work: ByteArray, plane: Plane, views: list[View], chosen: list[View]) -> list[View]:
        """Return the views that may be cards on the table, those that were chosen as they lie on it."""
        kept = []
        seen_of = {id(view.to): seen for view, seen in layers(chosen)}
        for view in views:
            own, seen = view.matching()
            to = plane.to(plane.pose(own, seen))
            off = np.linalg.norm(plane.onto(cv2.perspectiveTransform(own[None], to)[0]) - plane.onto(seen), axis=1)
            if id(view.to) in seen_of:
                if np.median(off) > _OFF_PLANE:
                    continue
                there = self._seen_at(work, to, seen_of[id(view.to)])
                kept.append(there if there.well.sum() >= _AS_WELL * view.well.sum() else view)
            elif all(np.linalg.norm(view.corners - one.corners, axis=1).mean() > _SAME * _size(view.corners)
                     for one in chosen):  # fmt: skip
                kept += self._again(work, plane, self._seen_at(work, to))
        return kept

    def _again(self, work: ByteArray, plane: Plane, view: View) -> list[View]:
        """Return a view that was not clear enough, better laid on the table, or none."""
        for _ in range(2):
            moved = _moved(view.straight, self.deck.pictures[view.card], view.fits.reshape(self.rows, -1))
            if moved is None:
                break
            own, _ = view.matching()
            seen = cv2.perspectiveTransform(cv2.perspectiveTransform(own[None], moved), view.to)[0]
            there = self._seen_at(work, plane.to(plane.pose(own, seen)))
            if there.well.sum() <= view.well.sum():
                break
            view = there
        return [view] if view.well.sum() >= _LEAST_BLOCKS else []

    def _outlined(self, work: ByteArray) -> list[FloatArray]:
        """Return where whole cards lie by their outlines, each both ways up."""
        seeds = []
        corners = corners_of(self.deck.height).astype(np.float32)
        tall = self.deck.height >= WIDTH
        for quad in find_cards(work):
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
            if view.well.sum() < _LEAST_BLOCKS // 2:
                return None
            moved = _moved(view.straight, self.deck.pictures[view.card], view.fits.reshape(self.rows, -1))
            if moved is None:
                break
            to = to @ moved
            again = self._seen_at(work, to)
            if again.well.sum() < view.well.sum():
                break
            view = again
        return view if view.well.sum() >= _LEAST_BLOCKS else None

    def _seen_at(self, work: ByteArray, to: FloatArray, free: NDArray[np.bool_] | None = None) -> View:
        """Return what is seen at a place, and which card it is like, in the blocks that are ``free``."""
        straight = straighten(work, to, self.deck.height)
        half = _halved(straight)
        blocks = in_blocks(normalised(half))
        energies = _energies(blocks, self.half)
        sums = (energies if free is None else energies[free]).sum(axis=0)
        card = int(np.argmin(sums))
        other = self.half[:, card]
        own, known = (blocks**2).mean(axis=1), (other**2).mean(axis=1)
        alike = (blocks * other).mean(axis=1) / np.sqrt(own * known + 1e-9)
        textured = known > _TEXTURE
        unlike = (textured | (own > 4 * _TEXTURE)) & (alike < _FITS)
        bare = unlike
        if self._table is not None:
            bare = unlike & (np.abs(shades_of(half) - self._table).max(axis=1) < _TABLE)
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

    def _told(self, work: ByteArray, view: View, seen: NDArray[np.bool_]) -> Found:
        """Return a card with its probabilities, told by the blocks (rows × columns) that nothing lies over."""
        blocks = in_blocks(normalised(_halved(view.straight)))
        coarse = _energies(blocks, self.half)[seen].sum(axis=0)
        p = self._which(view.straight, coarse, seen)
        fits = (view.fits & seen).reshape(self.rows, -1)
        hidden = (view.unlike & seen).reshape(self.rows, -1)
        return Found(view.to, p, fits, int((view.well & seen).sum()), self.deck.height, view.sure, hidden)

    def _which(self, straight: ByteArray, coarse: Singles, visible: NDArray[np.bool_]) -> FloatArray:
        """Return the probability of each card: the nearest ones are compared at full size, a pixel to and fro."""
        best = np.argsort(coarse)[:_FINE]
        seen = normalised(straight)
        # A block at half size is two by two at full size, where a last row may be left over.
        grid = np.zeros((self.deck.height // BLOCK, WIDTH // BLOCK), bool)
        grid[: 2 * self.rows] = np.kron(visible.reshape(self.rows, -1), np.ones((2, 2), bool))
        fine_of = grid.ravel()
        cards = np.stack([self._finely(int(card))[fine_of] for card in best], axis=1)
        least = np.full((cards.shape[0], len(best)), np.float32(_COVERED))
        for shift in np.ndindex(3, 3):
            moved = in_blocks(np.roll(seen, np.array(shift) - 1, axis=(0, 1)))[fine_of]
            least = np.minimum(least, _energies(moved, cards))
        fine = _pooled(least, cards)
        # What differs little differs by how cards were taught; and one block alone, half covered, tells nothing.
        fine = np.clip(fine - fine.min(axis=1, keepdims=True) - np.float32(_NO_MATTER), 0, _AT_MOST).sum(axis=0) / 4
        # Those that were not looked at finely are at least as far away as the last that was.
        scores = -_SHARP * (coarse - coarse[best[-1]] + fine.max()).astype(float)
        scores[best] = -_SHARP * fine
        p: FloatArray = np.exp(scores - scores.max())
        p /= p.sum()
        return p

    def _by_shades(self, work: ByteArray, found: list[Found]) -> list[Found]:
        """Weigh the cards by their shades too, as tonight's lamp shows those that are clear.

        Normalised pictures know nothing of the ground's own colour, which may be all that a strip of a card shows.
        """
        seen = [shades_of(_halved(straighten(work, one.to, one.height))) for one in found]
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
            # Near what fits: what lies over the rest of the card has shades of other cards.
            near = cv2.dilate(one.fits.astype(np.uint8), np.ones((3, 3), np.uint8)).ravel() > 0
            off = ((shades[:, None] - lamp - self.shades) ** 2).sum(axis=2)[near] / _SHADE**2
            scores = np.log(np.maximum(one.p, 1e-300)) - _SHADES_WEIGH * np.minimum(off, 1).sum(axis=0)
            p = np.exp(scores - scores.max())
            weighed.append(replace(one, p=p / p.sum()))
        return weighed

    def _finely(self, card: int) -> Singles:
        if card not in self._fine:
            self._fine[card] = in_blocks(normalised(self.deck.pictures[card])).astype(np.float16)
        return self._fine[card].astype(np.float32)


def _size(corners: FloatArray) -> float:
    """Return how wide a card appears."""
    return float(np.linalg.norm(corners[1] - corners[0]) + np.linalg.norm(corners[2] - corners[3])) / 2


def beside(work: ByteArray, card: Found, others: Sequence[Found], table: FloatArray) -> tuple[float, ...]:
    """Return how much of what lies beside each side of a card is neither of the table's shades nor another card."""
    corners = card.corners
    outlines = [one.corners.astype(np.float32) for one in others if one is not card]
    shares = []
    for side in range(4):
        a, b = corners[side], corners[(side + 1) % 4]
        inward = corners[(side + 2) % 4] - b
        inward /= np.linalg.norm(inward)
        width = float(np.linalg.norm(corners[1] - corners[0]))
        points = [
            a + t * (b - a) - inward * far * width
            for t in np.linspace(0.1, 0.9, 12)
            for far in (0.08, 0.13, 0.18)
        ]  # fmt: skip
        free = [
            point for point in points
            if (point > 4).all() and point[0] < work.shape[1] - 5 and point[1] < work.shape[0] - 5
            and all(cv2.pointPolygonTest(one, (float(point[0]), float(point[1])), True) < -4 for one in outlines)
        ]  # fmt: skip
        if len(free) < 9:
            shares.append(0.0)
            continue
        spots = [work[round(y) - 3 : round(y) + 4, round(x) - 3 : round(x) + 4] for x, y in free]
        linear = (np.stack(spots).reshape(len(free), -1, 3) / 255.0) ** 2.2
        tones = np.log(linear.mean(axis=1) + 0.01)
        off = np.abs(tones[:, [0, 2]] - tones[:, 1:2] - table).max(axis=1)
        shares.append(float((off > _TABLE).mean()))
    return tuple(shares)


def _table_shades(work: ByteArray) -> FloatArray | None:
    """Return (2,): the shades of the table by the photo's rim, or None where that is not of one colour."""
    small = cv2.resize(work, (160, 120), interpolation=cv2.INTER_AREA).astype(np.uint8, copy=False)
    shades = shades_of(small).reshape(120 // BLOCK, 160 // BLOCK, 2)
    rim = np.concatenate([shades[0], shades[-1], shades[1:-1, 0], shades[1:-1, -1]])
    table = np.median(rim, axis=0)
    agree = (np.abs(rim - table).max(axis=1) < _TABLE).mean()
    return np.asarray(table, float) if agree > _ONE_TABLE else None


def _halved(picture: ByteArray) -> ByteArray:
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


def _energies(seen: Singles, cards: Singles) -> Singles:
    """Return (blocks, n): how unlike each block is to each card's, and no more than covered."""
    both = np.matmul(cards, seen[:, :, None])[:, :, 0]
    own = (seen**2).sum(axis=1)[:, None] + np.einsum("bnv,bnv->bn", cards, cards)
    off: Singles = np.minimum((own - 2 * both) / np.float32(seen.shape[1]), np.float32(_COVERED))
    return off


def _pooled(energies: Singles, cards: Singles) -> Singles:
    """Return energies (blocks, n) in which cards that print the same in a block are as likely by it.

    Cards of one deck were taught by several photos: by how soft or bright those are, a card must not be told. ``cards``
    (blocks, n, values) are what they print.
    """
    some = np.flatnonzero(energies.min(axis=1) < _COVERED)
    pooled = np.full_like(energies, _COVERED)
    own = np.einsum("bnv,bnv->bn", cards, cards) / np.float32(cards.shape[2])
    for begin in range(0, len(some), _AT_ONCE):
        here = some[begin : begin + _AT_ONCE]
        size = own[here][:, :, None] + own[here][:, None, :]
        off = np.full_like(size, np.inf)
        picture = cards[here].reshape(len(here), cards.shape[1], BLOCK, BLOCK, -1)
        for across, down in ((0, 0), (0, 1), (0, -1), (1, 0), (-1, 0)):
            a, b = _overlap(picture, across, down), _overlap(picture, -across, -down)
            both = np.matmul(a, b.transpose(0, 2, 1)) / np.float32(a.shape[2])
            norm = (a**2).mean(axis=2)[:, :, None] + (b**2).mean(axis=2)[:, None, :]
            off = np.minimum(off, norm - 2 * both)
        off = np.minimum(off, off.transpose(0, 2, 1))
        same = (off < _SAME_PRINT * size + _SAME_FLAT).astype(np.float32)
        pooled[here] = np.matmul(same, energies[here][:, :, None])[:, :, 0] / same.sum(axis=2)
    return pooled


def _overlap(picture: Singles, across: int, down: int) -> Singles:
    """Return the part of blocks (b, n, rows, columns, channels) that a shift by a pixel leaves, flat."""
    rows = slice(max(0, down), BLOCK + min(0, down))
    columns = slice(max(0, across), BLOCK + min(0, across))
    return np.ascontiguousarray(picture[:, :, rows, columns]).reshape(*picture.shape[:2], -1)


def _moved(straight: ByteArray, card: ByteArray, fits: NDArray[np.bool_]) -> FloatArray | None:
    """Return (3, 3): from the card's pixels to the straightened picture's, by what moved in the blocks that fit."""
    old: Any
    new: Any
    none: Any = None
    old, new = (cv2.createCLAHE(3.0, (4, 4)).apply(cv2.cvtColor(one, cv2.COLOR_BGR2GRAY)) for one in (card, straight))
    rows, columns = np.nonzero(cv2.dilate(fits.astype(np.uint8), np.ones((3, 3), np.uint8)))
    step = 2 * BLOCK
    points = np.column_stack([columns, rows]).astype(np.float32) * step
    points = np.concatenate([points + np.array([x, y]) for x in (4, 12) for y in (4, 12)]).astype(np.float32)
    there, seen, _ = cv2.calcOpticalFlowPyrLK(old, new, points[:, None], none, winSize=(17, 17), maxLevel=1)
    back, again, _ = cv2.calcOpticalFlowPyrLK(new, old, there, none, winSize=(17, 17), maxLevel=1)
    good = (seen.ravel() > 0) & (again.ravel() > 0) & (np.abs(back[:, 0] - points).max(axis=1) < 0.7)
    good &= np.abs(there[:, 0] - points).max(axis=1) < 9
    if good.sum() < 10:
        return None
    start, end = points[good], there[good, 0]
    # A narrow strip tells no perspective; blocks that look alike by chance lie anywhere.
    if np.ptp(start, axis=0).min() < 0.5 * WIDTH or fits.mean() < 0.5:
        fit, inside = cv2.estimateAffinePartial2D(start, end, method=cv2.RANSAC, ransacReprojThreshold=1.2)
        if fit is None or inside.sum() < 8:
            return None
        return np.vstack([fit, [0, 0, 1]]).astype(float)
    whole, inside = cv2.findHomography(start, end, cv2.RANSAC, 1.2)
    if whole is None or inside.sum() < 10:
        return None
    moved: FloatArray = whole.astype(float)
    return moved
