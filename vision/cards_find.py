"""Find taught cards in a photo: in any rotation, partly covered, or fanned out.

Each feature of the photo that looks like one of the deck's says where a card would lie, how large and how turned
(Lowe 2004, section 7); where many agree, one is supposed. Each supposed card is straightened, moved until it fits
(Lucas and Kanade), and compared with every taught card block by block in locally normalised colours. A block that
fits no card is covered; what is left tells which card it is, as a probability.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from .cards_deck import WIDTH, Deck, Features, corners_of, features, straighten
from .cards_sheet import find_cards

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray

    Singles = NDArray[np.float32]

WORK_SIDE: Final = 1600
BLOCK: Final = 8
"""Side of a block, in pixels of the card at half size."""
_MOST_FEATURES: Final = 4000
_ALIKE: Final = 0.82
_NEARLY: Final = 0.05
_MOST_MATCHES: Final = 8
_LEAST_VOTES: Final = 4
_MOST_SEEDS: Final = 160
_FINE: Final = 12
"""How many cards are compared at full size."""
_COVERED: Final = 0.45
"""From this energy on a block counts as covered."""
_SHARP: Final = 4.0
"""How much a unit of energy weighs in a probability (chosen on rendered photos)."""
_SHADE: Final = 0.35
_SHADES_WEIGH: Final = 0.1
"""How far shades (logarithms of blue or red by green) are off by chance; how much a block's weigh at most."""
_FITS: Final = 0.6
"""From this correlation on a block looks like the card's."""
_FITS_WELL: Final = 0.8
_TEXTURE: Final = 0.08
"""What a block must have of it, so that something can look like it."""
_LEAST_BLOCKS: Final = 10
"""How many blocks must fit well, so that a card is believed to lie there."""
_CLEAR_BLOCKS: Final = 20
"""With so many a card says how large the others are."""


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
        grey: Any = cv2.cvtColor(work, cv2.COLOR_BGR2GRAY)
        seeds = self._seeds(features(grey, _MOST_FEATURES))
        seeds += self._outlined(work)
        found: list[Found] = []
        claimed = np.zeros((work.shape[0] // 4 + 1, work.shape[1] // 4 + 1), bool)
        tried: list[FloatArray] = []
        for seed in seeds:
            corners = cv2.perspectiveTransform(corners_of(self.deck.height)[None], seed)[0]
            size = _size(corners)
            if any(np.abs(corners - other).max() < 0.07 * size for other in tried):
                continue
            clear = [one for one in found if one.blocks >= _CLEAR_BLOCKS]
            if len(clear) >= 3 and abs(np.log(size / np.median([_size(one.corners) for one in clear]))) > 0.35:
                continue
            one = self._look(work, seed)
            tried.append(corners)
            if one is None:
                continue
            tried.append(one.corners)
            own = _claims(one, claimed.shape)
            if claimed[own[:, 1], own[:, 0]].mean() > 0.4:
                continue
            claimed[own[:, 1], own[:, 0]] = True
            found.append(one)
        found = self._by_shades(work, _of_one_size(found))
        found.sort(key=lambda one: -one.blocks)
        return [replace(one, to=enlarge @ one.to) for one in found]

    # --- where a card may lie ----------------------------------------------------------------------------------------

    def _seeds(self, scene: Features) -> list[FloatArray]:
        """Return where cards may lie, the best supported first, as matrices from card to photo."""
        who, what = _matches(scene, self.deck.features)
        if len(who) < _LEAST_VOTES:
            return []
        seen, known = scene.frames[who], self.deck.features.frames[what]
        size = seen[:, 2] / known[:, 2]
        turn = np.radians(seen[:, 3] - known[:, 3])
        cos, sin = np.cos(turn) * size, np.sin(turn) * size
        off = np.array([(WIDTH - 1) / 2, (self.deck.height - 1) / 2]) - known[:, :2]
        x = seen[:, 0] + cos * off[:, 0] - sin * off[:, 1]
        y = seen[:, 1] + sin * off[:, 0] + cos * off[:, 1]
        usual = _usual_size(size, who)
        near = np.abs(np.log(size / usual)) < 0.45
        who, x, y, size, turn, seen, known = (part[near] for part in (who, x, y, size, turn, seen, known))
        if len(who) < _LEAST_VOTES:
            return []
        reach = usual * WIDTH
        votes = np.column_stack([x / (0.2 * reach), y / (0.2 * reach), np.cos(turn) / 0.4, np.sin(turn) / 0.4])
        seeds = []
        for seed in _peaks(votes, who):
            close = np.flatnonzero((np.abs(votes - seed) < (0.75, 0.75, 0.8, 0.8)).all(axis=1))
            if len(np.unique(who[close])) < _LEAST_VOTES:
                continue
            fit, inliers = cv2.estimateAffinePartial2D(
                known[close, :2], seen[close, :2], method=cv2.RANSAC, ransacReprojThreshold=0.04 * reach
            )
            if fit is None:
                continue
            support = len(np.unique(who[close][inliers.ravel() > 0]))
            grown = float(np.hypot(fit[0, 0], fit[1, 0])) / usual
            if support >= _LEAST_VOTES and 0.6 < grown < 1.6:
                seeds.append((support, np.vstack([fit, [0, 0, 1]]).astype(float)))
        seeds.sort(key=lambda one: -one[0])
        return [seed for _, seed in seeds[:_MOST_SEEDS]]

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

    def _look(self, work: ByteArray, seed: FloatArray) -> Found | None:
        """Return what lies where a card is supposed, or None where no taught card fits."""
        to = seed
        for turn in range(3):
            straight = straighten(work, to, self.deck.height)
            blocks = in_blocks(normalised(_halved(straight)))
            if turn != 1:
                sums = _energies(blocks, self.half).sum(axis=0)
            card = int(np.argmin(sums))
            fits, well = self._fitting(blocks, card)
            if turn == 2:
                break
            if well < _LEAST_BLOCKS // 3:
                return None
            moved = _moved(straight, self.deck.pictures[card], fits)
            if moved is None:
                break
            to = to @ moved
        if well < _LEAST_BLOCKS:
            return None
        return Found(to, self._which(straight, sums), fits, well, self.deck.height)

    def _which(self, straight: ByteArray, coarse: Singles) -> FloatArray:
        """Return the probability of each card: the nearest ones are compared at full size, a pixel to and fro."""
        best = np.argsort(coarse)[:_FINE]
        seen = normalised(straight)
        cards = np.stack([self._finely(int(card)) for card in best], axis=1)
        least = np.full((cards.shape[0], len(best)), np.float32(_COVERED))
        for shift in np.ndindex(3, 3):
            moved = in_blocks(np.roll(seen, np.array(shift) - 1, axis=(0, 1)))
            least = np.minimum(least, _energies(moved, cards))
        fine = least.sum(axis=0) / 4
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
            scores = np.log(np.maximum(one.p, 1e-300)) - _SHARP * _SHADES_WEIGH * np.minimum(off, 1).sum(axis=0)
            p = np.exp(scores - scores.max())
            weighed.append(replace(one, p=p / p.sum()))
        return weighed

    def _finely(self, card: int) -> Singles:
        if card not in self._fine:
            self._fine[card] = in_blocks(normalised(self.deck.pictures[card])).astype(np.float16)
        return self._fine[card].astype(np.float32)

    def _fitting(self, blocks: Singles, card: int) -> tuple[NDArray[np.bool_], int]:
        """Return (rows, columns): the blocks with some texture that look like a card's; and how many look so well."""
        other = self.half[:, card]
        both = (blocks * other).mean(axis=1)
        own, known = (blocks**2).mean(axis=1), (other**2).mean(axis=1)
        alike = both / np.sqrt(own * known + 1e-9)
        textured = known > _TEXTURE
        fits = (textured & (alike > _FITS)).reshape(self.rows, -1)
        return fits, int((textured & (alike > _FITS_WELL)).sum())


def _size(corners: FloatArray) -> float:
    """Return how wide a card appears."""
    return float(np.linalg.norm(corners[1] - corners[0]) + np.linalg.norm(corners[2] - corners[3])) / 2


def _of_one_size(found: list[Found]) -> list[Found]:
    """Return those that appear about as large as the clear ones around them."""
    clear = [one for one in found if one.blocks >= _CLEAR_BLOCKS]
    if len(clear) < 3:
        return found
    sizes = np.log([_size(one.corners) for one in clear])
    at = np.array([[*one.middle, 1.0] for one in clear])
    usual = np.median(sizes)
    near = np.abs(sizes - usual) < 0.25
    fit = np.array([0.0, 0.0, usual])
    if near.sum() >= 5:
        fit = np.linalg.lstsq(at[near], sizes[near], rcond=None)[0]
    return [one for one in found if abs(np.log(_size(one.corners)) - fit @ [*one.middle, 1.0]) < 0.17]


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


def _claims(one: Found, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return (n, 2) cells of the claim map under the blocks that fit."""
    rows, columns = np.nonzero(one.fits)
    step = 2 * BLOCK
    inner = np.array([[x, y] for x in (2, 6, 10, 14) for y in (2, 6, 10, 14)], float)
    points = (np.column_stack([columns, rows])[:, None] * step + inner).reshape(-1, 2)
    cells = np.floor(one.at(points) / 4).astype(np.int64)
    return np.clip(cells, 0, [shape[1] - 1, shape[0] - 1])


def _matches(scene: Features, known: Features) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return pairs of a scene's feature and a known one that it looks like; one feature may look like several."""
    who, what = [], []
    for begin in range(0, len(scene.looks), 512):
        alike = scene.looks[begin : begin + 512] @ known.looks.T
        few = min(_MOST_MATCHES, alike.shape[1])
        best = np.argpartition(-alike, few - 1, axis=1)[:, :few]
        value = np.take_along_axis(alike, best, axis=1)
        row, column = np.nonzero((value > _ALIKE) & (value > value.max(axis=1, keepdims=True) - _NEARLY))
        who.append(row + begin)
        what.append(best[row, column])
    if not who:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return np.concatenate(who).astype(np.int64), np.concatenate(what).astype(np.int64)


def _usual_size(size: Singles, who: NDArray[np.int64]) -> float:
    """Return how large most matches say that cards are; all cards of a photo are about as large."""
    weight = 1.0 / np.bincount(who)[who]
    place = np.log2(size) * 4
    bins = np.floor(place).astype(int)
    low = bins.min()
    counts = np.bincount(bins - low, weight)
    smooth = np.convolve(counts, [0.5, 1, 0.5], "same")
    return float(2 ** ((int(np.argmax(smooth)) + low + 0.5) / 4))


def _peaks(votes: FloatArray, who: NDArray[np.int64]) -> list[FloatArray]:
    """Return the middles of the cells in which most votes fall; cells overlap by half."""
    weight = 1.0 / np.sqrt(np.bincount(who)[who])
    found: list[tuple[float, FloatArray]] = []
    for shift in np.ndindex(2, 2, 2):
        cells = np.floor(votes + 0.5 * np.array([*shift, shift[2]])).astype(np.int64)
        _, where, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
        where = where.ravel()
        total = np.bincount(where, weight)
        sums = np.stack([np.bincount(where, weight * part) for part in votes.T], axis=1)
        for cell in np.flatnonzero(counts >= _LEAST_VOTES):
            found.append((float(total[cell]), sums[cell] / total[cell]))
    found.sort(key=lambda one: -one[0])
    kept: list[FloatArray] = []
    for _, middle in found:
        if len(kept) >= _MOST_SEEDS:
            break
        if all(np.abs(middle - other).max() > 0.45 for other in kept):
            kept.append(middle)
    return kept
