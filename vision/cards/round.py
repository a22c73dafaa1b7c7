"""A round of Igloo Pop in two photos: which cards lie where, which igloos stand on them, and what is under them.

Before the check: an igloo is found by the thaler in its notch, a compact patch of one colour with the even, colourless
ring of the igloo around it. After it: upturned igloos by the numbered stickers of ``companion kit``. Both are brought
together by where they stand on their cards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.cards.blocks import BLOCK
from vision.cards.igloos import APART, find_stickers, find_thalers
from vision.cards.pile import SURE, Read, read_cards

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray
    from vision.cards.deck import Deck
    from vision.cards.detect import DetectedCard

COLOURS: Final = ("red", "yellow", "green", "blue", "violet", "black")
_PLACES: Final = 9
_ASTRAY: Final = -0.2
"""An igloo whose middle lies so far (card widths) outside a card hardly stands on it."""
_IN_ORDER: Final = 4
_ELSEWHERE: Final = 0.01
"""So many sure cards in the record's order make it likely to be kept, and how likely a card breaks it then."""
_SAME_CARD: Final = 0.5
_UNDER: Final = 0.22
_AS_PRINTED: Final = 0.5
"""So near (card widths) around its top an igloo hides the card; where so much of that looks like the card, is none."""
_IGLOO: Final = 0.6
_HOLE: Final = 14
"""So far (card widths) around igloos a card is hidden; so many hidden blocks elsewhere are hidden by something else."""


@dataclass(frozen=True, slots=True)
class IglooRead:
    """An igloo of a photo: the card it stands on (its number among the read cards), ``at`` its middle in the photo,
    ``on`` the same in widths of the card from the card's middle, the thaler's colour or the number under it.
    """

    card: int
    at: tuple[float, float]
    on: tuple[float, float]
    colours: dict[str, float]
    number: int | None = None
    between: bool = False
    """Whether it may as well stand on another card."""

    @property
    def colour(self) -> str | None:
        """Return the thaler's likeliest colour, or None for an upturned igloo."""
        return max(self.colours, key=self.colours.__getitem__) if self.colours else None

    @property
    def unsure(self) -> bool:
        """Tell whether it is to be asked about."""
        return self.between or (bool(self.colours) and max(self.colours.values()) < SURE)

    def to_json(self) -> dict[str, object]:
        """Return the documented form of a read igloo."""
        return {
            "on_card": self.card,
            "at": [round(v, 1) for v in self.at],
            "on": [round(v, 3) for v in self.on],
            "colour": self.colour,
            "colours": {name: round(p, 4) for name, p in self.colours.items()},
            "number": self.number,
            "unsure": self.unsure,
        }


@dataclass(frozen=True, slots=True)
class RoundRead:
    """What a photo of the nine places shows: cards clockwise from the top, and igloos."""

    cards: tuple[Read, ...]
    igloos: tuple[IglooRead, ...]

    def to_json(self) -> dict[str, object]:
        """Return the documented form."""
        return {"cards": [card.to_json() for card in self.cards], "igloos": [one.to_json() for one in self.igloos]}


def read_round(
    photo: ByteArray,
    found: Sequence[DetectedCard],
    deck: Deck,
    only: Sequence[str] = (),
    colours: Sequence[str] = COLOURS,
    *,
    order: bool = True,
) -> RoundRead:
    """Return what a photo of the nine places shows.

    ``only`` are the cards that can lie there (those of the open match), ``colours`` the thalers in play; with ``order``
    cards are put clockwise, else they stay as they were found.
    """
    lying = as_recorded(clockwise(_apart(found)) if order else list(found), deck, only)
    cards = tuple(read_cards(lying, deck, only))
    if not cards:
        return RoundRead((), ())
    igloos = [_standing(at, cards, {}, number) for at, number in find_stickers(photo)]
    if not igloos:
        thalers = find_thalers(photo, [card.corners for card in cards], colours)
        igloos = [_standing(one.at, cards, one.colours, None) for one in thalers]
        igloos = [one for one in igloos if not printed(one, lying[one.card])]
    cards = tuple(
        replace(card, covered=_holes(one, [i.at for i in igloos if i.card == n]) >= _HOLE)
        for n, (card, one) in enumerate(zip(cards, lying, strict=True))
    )
    hidden = _by_elimination(igloos, cards, only)
    if hidden is not None:
        cards = (*cards, hidden)
        igloos = [_standing(np.array(one.at), cards, one.colours, one.number) for one in igloos]
    return RoundRead(cards, tuple(sorted(igloos, key=lambda one: (one.card, one.on))))


def read_circle(found: Sequence[DetectedCard], deck: Deck) -> tuple[Read, ...]:
    """Return the cards of the nine places clockwise from the top, nothing standing on them.

    Nothing is thought of that may lie there or not: a card of which somebody knows that it cannot is a doubt.
    """
    lying = clockwise(_apart(found))
    return tuple(
        replace(card, covered=_holes(one, []) >= _HOLE)
        for card, one in zip(read_cards(lying, deck), lying, strict=True)
    )


def _by_elimination(igloos: Sequence[IglooRead], cards: Sequence[Read], only: Sequence[str]) -> Read | None:
    """Return the one card of the open match that was not found, where igloos stand far from all others.

    Two igloos hide a card's numbers; where it lies is then told by them.
    """
    missing = [name for name in only if all(card.name != name for card in cards)]
    astray = np.array([one.at for one in igloos if _inside(np.array(one.at), cards).max() < _ASTRAY])
    if len(missing) != 1 or not len(astray):
        return None
    width = float(np.median([np.linalg.norm(card.corners[1] - card.corners[0]) for card in cards]))
    height = float(np.median([np.linalg.norm(card.corners[2] - card.corners[1]) for card in cards]))
    half = np.array([[-width, -height], [width, -height], [width, height], [-width, height]]) / 2
    kind = missing[0].split("-")[0]
    # As sure as all the others are who they are.
    p = min(SURE, *(card.p for card in cards))
    return Read(missing[0], p, {missing[0]: p}, {kind: p}, astray.mean(axis=0) + half)


def _holes(card: DetectedCard, igloos: Sequence[tuple[float, float]]) -> int:
    """Return how many blocks of a card look like nothing that is known, away from its igloos."""
    rows, columns = card.hidden.shape
    grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2)
    middles = card.at((grid.astype(float) + 0.5) * (2.0 * BLOCK))
    width = float(np.linalg.norm(card.corners[1] - card.corners[0]))
    away = np.ones(len(middles), bool)
    for at in igloos:
        away &= np.linalg.norm(middles - at, axis=1) > _IGLOO * width
    return int((card.hidden.ravel() & away).sum())


def printed(igloo: IglooRead, card: DetectedCard) -> bool:
    """Tell whether what looks like an igloo is a part of the card's print: there the card is seen as it was taught."""
    rows, columns = card.fits.shape
    grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2)
    middles = card.at((grid.astype(float) + 0.5) * (2.0 * BLOCK))
    width = float(np.linalg.norm(card.corners[1] - card.corners[0]))
    near = np.linalg.norm(middles - igloo.at, axis=1) < _UNDER * width
    return bool(near.any()) and float(card.fits.ravel()[near].mean()) > _AS_PRINTED


def read_both(
    photos: tuple[ByteArray, ByteArray],
    found: tuple[Sequence[DetectedCard], Sequence[DetectedCard]],
    deck: Deck,
    only: Sequence[str] = (),
    colours: Sequence[str] = COLOURS,
) -> tuple[RoundRead, RoundRead]:
    """Return what two photos of one round show, igloos as they were placed and upturned; see :func:`join`."""
    placed, turned = aligned(*found)
    if len(placed) == len(turned):
        around = clockwise(placed)
        turned = [turned[placed.index(one)] for one in around]
        placed = around
    first = read_round(photos[0], placed, deck, only, colours, order=False)
    second = read_round(photos[1], turned, deck, only, colours, order=False)
    return replace(first, igloos=(*first.igloos, *overlooked(first, second, colours))), second


def as_recorded(lying: Sequence[DetectedCard], deck: Deck, only: Sequence[str]) -> list[DetectedCard]:
    """Return the cards of the open match, those that igloos hide told by the order around the ring, if that is kept.

    ``only`` names them as the record has them, place by place. Nobody must lay them out so: it counts only where all
    that are sure by themselves, at least four, lie in that order, either way round.
    """
    many = len(lying)
    if many != len(only) or any(name not in deck.names for name in only):
        return list(lying)
    cards = [deck.index(name) for name in only]
    p = np.stack([one.p[cards] for one in lying])
    p /= np.maximum(p.sum(axis=1, keepdims=True), 1e-300)
    sure = np.flatnonzero(p.max(axis=1) >= SURE)
    ways = [(start + way * np.arange(many)) % many for way in (1, -1) for start in range(many)]
    kept = [order for order in ways if (p[sure, order[sure]] >= SURE).all()]
    if len(sure) < _IN_ORDER or len(kept) != 1:
        return list(lying)
    corrected = []
    for i, one in enumerate(lying):
        elsewhere = np.arange(len(one.p)) != cards[kept[0][i]]
        weighed = np.where(elsewhere, _ELSEWHERE, 1.0) * np.maximum(one.p, 1e-6)
        corrected.append(one if i in sure else replace(one, p=weighed / weighed.sum()))
    return corrected


def overlooked(first: RoundRead, second: RoundRead, colours: Sequence[str]) -> list[IglooRead]:
    """Return the igloos that only the second photo shows, as they would stand in the first; whose they are is asked."""
    if len(first.cards) != len(second.cards):
        return []
    matched = {number for _, number in join(first, second)}
    anyone = {colour: 1 / len(colours) for colour in colours}
    found = []
    for one in second.igloos:
        if one.number is None or one.number in matched:
            continue
        corners = first.cards[one.card].corners
        x_axis, y_axis = _axes(corners)
        tall = float(np.linalg.norm(y_axis) / np.linalg.norm(x_axis))
        at = corners.mean(axis=0) + x_axis * one.on[0] + y_axis * one.on[1] / tall
        found.append(IglooRead(one.card, (float(at[0]), float(at[1])), one.on, anyone, one.number, True))
    return found


def _axes(corners: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a card's own ways to the right and down, as long as its sides."""
    return (corners[1] + corners[2] - corners[0] - corners[3]) / 2, (
        corners[2] + corners[3] - corners[0] - corners[1]
    ) / 2


def _apart(found: Sequence[DetectedCard]) -> list[DetectedCard]:
    """Return the nine that show most, without those that would lie on another: these cards lie side by side."""
    kept: list[DetectedCard] = []
    for one in sorted(found, key=lambda one: -one.blocks):
        outline = one.corners.astype(np.float32)
        over = max(
            (cv2.intersectConvexConvex(outline, other.corners.astype(np.float32))[0] for other in kept), default=0
        )
        if over < 0.2 * cv2.contourArea(outline) and len(kept) < _PLACES:
            kept.append(one)
    return kept


def clockwise(found: Sequence[DetectedCard]) -> list[DetectedCard]:
    """Return cards clockwise around their middle, from the one nearest to straight up."""
    if not found:
        return []
    middles = np.array([one.middle for one in found])
    centre = (middles.min(axis=0) + middles.max(axis=0)) / 2
    off = middles - centre
    angle = np.arctan2(off[:, 0], -off[:, 1])
    first = angle[int(np.argmin(np.abs(angle)))]
    order = np.argsort((angle - first + 1e-6) % (2 * np.pi))
    return [found[int(i)] for i in order]


def aligned(
    placed: Sequence[DetectedCard], turned: Sequence[DetectedCard]
) -> tuple[list[DetectedCard], list[DetectedCard]]:
    """Return the cards of two photos of one round, the same in both and in the same order.

    The cards lie still between the photos: those that are seen in both say where the others lie, and each is what
    both photos together make likeliest.
    """
    placed, turned = _apart(placed), _apart(turned)
    pairs = [(a, b) for a in placed for b in turned if a.card == b.card and min(a.p.max(), b.p.max()) > _SAME_CARD]
    if not pairs:
        return placed, turned
    start = np.concatenate([a.corners for a, _ in pairs])
    end = np.concatenate([b.corners for _, b in pairs])
    width = float(np.linalg.norm(pairs[0][1].corners[1] - pairs[0][1].corners[0]))
    whole: Any = cv2.findHomography(start, end, cv2.RANSAC, 0.1 * width)[0]
    if whole is None:
        return placed, turned
    over = np.asarray(whole, float)
    both = []
    left = list(turned)
    for one in placed:
        moved = replace(one, to=over @ one.to)
        near = min(left, key=lambda other: float(np.linalg.norm(other.middle - moved.middle)), default=None)
        if near is None or np.linalg.norm(near.middle - moved.middle) > 0.4 * width:
            both.append((one, moved))
            continue
        left.remove(near)
        p = one.p * near.p + 1e-12
        p /= p.sum()
        both.append((replace(one, p=p), replace(near, p=p)))
    both += [(replace(one, to=np.linalg.inv(over) @ one.to), one) for one in left]
    kept = _apart([a for a, _ in both])
    both = [(a, b) for a, b in both if a in kept]
    return [a for a, _ in both], [b for _, b in both]


def join(before: RoundRead, after: RoundRead) -> list[tuple[IglooRead, int | None]]:
    """Return the igloos of the first photo with the numbers that the second shows under them, None where it does not.

    They are told by where they stand on cards of the same name; nearest pairs first, each once.
    """
    pairs = []
    for i, one in enumerate(before.igloos):
        for j, other in enumerate(after.igloos):
            if before.cards[one.card].name == after.cards[other.card].name and other.number is not None:
                pairs.append((float(np.hypot(one.on[0] - other.on[0], one.on[1] - other.on[1])), i, j))
    numbers: dict[int, int | None] = {i: one.number for i, one in enumerate(before.igloos) if one.number is not None}
    taken = {j for j, other in enumerate(after.igloos) if other.number in numbers.values()}
    for off, i, j in sorted(pairs):
        if i not in numbers and j not in taken and off < APART:
            numbers[i] = after.igloos[j].number
            taken.add(j)
    return [(one, numbers.get(i)) for i, one in enumerate(before.igloos)]


def _inside(at: FloatArray, cards: Sequence[Read]) -> FloatArray:
    """Return how far a point lies inside each card, in card widths; less than nothing outside."""
    point = (float(at[0]), float(at[1]))
    return np.array(
        [
            cv2.pointPolygonTest(card.corners.astype(np.float32), point, True)
            / float(np.linalg.norm(card.corners[1] - card.corners[0]))
            for card in cards
        ]
    )


def _standing(at: FloatArray, cards: Sequence[Read], colours: dict[str, float], number: int | None) -> IglooRead:
    """Return the igloo at a point, on the card that it is on, or nearest to."""
    inside = _inside(at, cards)
    order = np.argsort(inside)[::-1]
    card = int(order[0])
    second = float(inside[order[1]]) if len(order) > 1 else -9.0
    between = bool(inside[card] < _ASTRAY or (inside[card] < 0.02 and inside[card] - second < 0.12))
    corners = cards[card].corners
    width = float(np.linalg.norm(corners[1] - corners[0]))
    x_axis, y_axis = _axes(corners)
    tall = float(np.linalg.norm(y_axis)) / width
    on = np.linalg.solve(np.column_stack([x_axis, y_axis]), at - corners.mean(axis=0)) * [1.0, tall]
    return IglooRead(card, (float(at[0]), float(at[1])), (float(on[0]), float(on[1])), colours, number, between)
