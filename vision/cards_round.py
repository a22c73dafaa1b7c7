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

from .cards_find import BLOCK
from .cards_pile import SURE, Read, read_cards
from .kit import STICKER_OF
from .markers import MODULES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from companion.ports import ByteArray, FloatArray

    from .cards_deck import Deck
    from .cards_find import Found

COLOURS: Final = ("red", "yellow", "green", "blue", "violet", "black")
_HUES: Final = {"red": 3.0, "yellow": 28.0, "green": 65.0, "blue": 112.0, "violet": 145.0}
"""Where the thalers' colours lie on OpenCV's circle of 180 hues, under a white lamp."""
_LOOK: Final = 110.0
"""A card's width in the picture in which igloos are looked for, in pixels."""
_RADII: Final = np.arange(0.24, 0.5, 0.02)
"""An igloo's radius may be so many card widths."""
_RING: Final = (0.72, 0.86)
_CELL: Final = 10
_CONTRAST: Final = 40.0
_BITS: Final = {
    marker: cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50), marker, MODULES)
    > 127
    for marker in STICKER_OF
}
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
_APART: Final = 0.45
"""Igloos stand at least so many card widths apart."""


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
    found: Sequence[Found],
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
    igloos = list(_numbers(photo, cards))
    if not igloos:
        igloos = [one for one in _thalers(photo, cards, colours) if not printed(one, lying[one.card])]
    cards = tuple(
        replace(card, covered=_holes(one, [i.at for i in igloos if i.card == n]) >= _HOLE)
        for n, (card, one) in enumerate(zip(cards, lying, strict=True))
    )
    hidden = _by_elimination(igloos, cards, only)
    if hidden is not None:
        cards = (*cards, hidden)
        igloos = [_standing(np.array(one.at), cards, one.colours, one.number) for one in igloos]
    return RoundRead(cards, tuple(sorted(igloos, key=lambda one: (one.card, one.on))))


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


def _holes(card: Found, igloos: Sequence[tuple[float, float]]) -> int:
    """Return how many blocks of a card look like nothing that is known, away from its igloos."""
    rows, columns = card.hidden.shape
    grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2)
    middles = card.at((grid.astype(float) + 0.5) * (2.0 * BLOCK))
    width = float(np.linalg.norm(card.corners[1] - card.corners[0]))
    away = np.ones(len(middles), bool)
    for at in igloos:
        away &= np.linalg.norm(middles - at, axis=1) > _IGLOO * width
    return int((card.hidden.ravel() & away).sum())


def printed(igloo: IglooRead, card: Found) -> bool:
    """Tell whether what looks like an igloo is a part of the card's print: there the card is seen as it was taught."""
    rows, columns = card.fits.shape
    grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2)
    middles = card.at((grid.astype(float) + 0.5) * (2.0 * BLOCK))
    width = float(np.linalg.norm(card.corners[1] - card.corners[0]))
    near = np.linalg.norm(middles - igloo.at, axis=1) < _UNDER * width
    return bool(near.any()) and float(card.fits.ravel()[near].mean()) > _AS_PRINTED


def read_both(
    photos: tuple[ByteArray, ByteArray],
    found: tuple[Sequence[Found], Sequence[Found]],
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


def as_recorded(lying: Sequence[Found], deck: Deck, only: Sequence[str]) -> list[Found]:
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
    told = []
    for i, one in enumerate(lying):
        elsewhere = np.arange(len(one.p)) != cards[kept[0][i]]
        weighed = np.where(elsewhere, _ELSEWHERE, 1.0) * np.maximum(one.p, 1e-6)
        told.append(one if i in sure else replace(one, p=weighed / weighed.sum()))
    return told


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


def _apart(found: Sequence[Found]) -> list[Found]:
    """Return the nine that show most, without those that would lie on another: these cards lie side by side."""
    kept: list[Found] = []
    for one in sorted(found, key=lambda one: -one.blocks):
        outline = one.corners.astype(np.float32)
        over = max(
            (cv2.intersectConvexConvex(outline, other.corners.astype(np.float32))[0] for other in kept), default=0
        )
        if over < 0.2 * cv2.contourArea(outline) and len(kept) < _PLACES:
            kept.append(one)
    return kept


def clockwise(found: Sequence[Found]) -> list[Found]:
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


def aligned(placed: Sequence[Found], turned: Sequence[Found]) -> tuple[list[Found], list[Found]]:
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
        if i not in numbers and j not in taken and off < _APART:
            numbers[i] = after.igloos[j].number
            taken.add(j)
    return [(one, numbers.get(i)) for i, one in enumerate(before.igloos)]


# --- upturned igloos ----------------------------------------------------------------------------------------------


def _numbers(photo: ByteArray, cards: Sequence[Read]) -> Iterable[IglooRead]:
    """Yield the upturned igloos by their stickers; one that is there twice is not believed."""
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50))
    grey: Any = cv2.cvtColor(photo, cv2.COLOR_BGR2GRAY)
    corners, _, others = detector.detectMarkers(grey)
    found: dict[int, list[FloatArray]] = {}
    for quad in (*corners, *others):
        number = _sticker(grey, quad[0])
        if number is None:
            continue
        at = quad[0].mean(axis=0).astype(float)
        here = found.setdefault(number, [])
        if all(np.linalg.norm(at - other) > 0.5 * np.linalg.norm(quad[0][1] - quad[0][0]) for other in here):
            here.append(at)
    for number, places in found.items():
        if len(places) == 1:
            yield _standing(places[0], cards, {}, number)


def _sticker(grey: ByteArray, quad: FloatArray) -> int | None:
    """Return the number of the sticker in four corners; the detector itself passes over many that are a little soft."""
    side = MODULES * _CELL - 1.0
    straight = np.array([[0, 0], [side, 0], [side, side], [0, side]], np.float32)
    to = cv2.getPerspectiveTransform(quad.astype(np.float32), straight)
    print_ = cv2.warpPerspective(grey, to, (MODULES * _CELL, MODULES * _CELL))
    limit, _ = cv2.threshold(print_, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    cells = np.asarray(print_, float).reshape(MODULES, _CELL, MODULES, _CELL)[:, 3:7, :, 3:7].mean(axis=(1, 3))
    if np.ptp(cells) < _CONTRAST:
        return None
    bits = cells > limit
    for marker, number in STICKER_OF.items():
        known = _BITS[marker]
        if any((np.rot90(bits, turn) != known).sum() <= 1 for turn in range(4)):
            return number
    return None


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


# --- igloos with thalers ------------------------------------------------------------------------------------------


def _thalers(photo: ByteArray, cards: Sequence[Read], colours: Sequence[str]) -> Iterable[IglooRead]:
    width = float(np.median([np.linalg.norm(card.corners[1] - card.corners[0]) for card in cards]))
    scale = min(1.0, _LOOK / width)
    small = cv2.resize(photo, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 1 else photo
    card = width * scale
    lab: Any = cv2.cvtColor(cv2.GaussianBlur(small, (0, 0), 1.0).astype(np.float32) / 255, cv2.COLOR_BGR2Lab)
    spots = _spots(lab, card)
    reach = [cv2.convexHull(np.concatenate([one.corners for one in cards]).astype(np.float32) * scale)]
    spots = [s for s in spots if cv2.pointPolygonTest(reach[0], (float(s[0]), float(s[1])), True) > -0.6 * card]
    rings = [(spot, *_ring(lab, spot, card)) for spot in spots]
    rings = [one for one in rings if one[1] > 0]
    if not rings:
        return
    # All igloos are of one plastic: the ring that most have is its colour under this lamp.
    tones = np.array([one[3] for one in rings])
    alike = [(np.linalg.norm(tones - tone, axis=1) < 9).sum() for tone in tones]
    plastic = np.median(tones[np.linalg.norm(tones - tones[int(np.argmax(alike))], axis=1) < 9], axis=0)
    kept: list[tuple[float, float]] = []
    for spot, _, light, tone in sorted(rings, key=lambda one: -one[1]):
        if np.linalg.norm(tone - plastic) > 12:
            continue
        if any(np.hypot(spot[0] - x, spot[1] - y) < _APART * card for x, y in kept):
            continue
        likely = _colour_of(lab, spot, plastic, light, colours)
        if likely is None:
            continue
        kept.append((spot[0], spot[1]))
        at = (np.array(spot[:2]) + 0.5) / scale - 0.5
        yield _standing(at, cards, likely, None)


def _spots(lab: FloatArray, card: float) -> list[tuple[float, float, float]]:
    """Return (x, y, radius) of compact patches about as large as a thaler."""
    vision: Any = cv2  # its stubs do not know the blob detector
    settings = vision.SimpleBlobDetector_Params()
    settings.minThreshold, settings.maxThreshold, settings.thresholdStep = 10.0, 245.0, 9.0
    settings.filterByArea = settings.filterByConvexity = settings.filterByInertia = True
    settings.filterByCircularity = False
    settings.minArea, settings.maxArea = 0.006 * card**2, 0.16 * card**2
    settings.minConvexity, settings.minInertiaRatio = 0.85, 0.18
    settings.minDistBetweenBlobs, settings.minRepeatability = 0.1 * card, 2
    settings.filterByColor = True
    found: list[tuple[float, float, float]] = []
    layers = (lab[..., 0] * 2.5, lab[..., 1] * 1.6 + 128, lab[..., 2] * 1.6 + 128)
    for layer in layers:
        grey = np.clip(layer, 0, 255).astype(np.uint8)
        for shade in (0, 255):
            settings.blobColor = shade
            for key in vision.SimpleBlobDetector_create(settings).detect(grey):
                x, y = key.pt
                if all(np.hypot(x - a, y - b) > 0.08 * card for a, b, _ in found):
                    found.append((float(x), float(y), float(key.size) / 2))
    return found


def _ring(lab: FloatArray, spot: tuple[float, float, float], card: float) -> tuple[float, float, FloatArray]:
    """Return how much a spot has the even ring of an igloo around it (0: not at all), how light the ring is, and its
    colour (2,).
    """
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    radii = np.array([_RING[0], _RING[1], 1.2])[:, None] * _RADII * card
    xs = spot[0] + radii[..., None] * np.cos(angles)
    ys = spot[1] + radii[..., None] * np.sin(angles)
    shape = (3 * len(_RADII), 24)
    seen = cv2.remap(
        lab, xs.reshape(shape).astype(np.float32), ys.reshape(shape).astype(np.float32), cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    ).reshape(3, len(_RADII), 24, 3)  # fmt: skip
    ring = np.concatenate([seen[0], seen[1]], axis=1)
    middle = np.median(ring, axis=1)
    off = np.abs(ring - middle[:, None])
    even = (off[..., 1:].max(axis=2) < 9) & (off[..., 0] < 22)
    share = even.mean(axis=1)
    share *= np.hypot(middle[:, 1], middle[:, 2]) < 26
    share *= middle[:, 0] > 28
    outside = np.abs(seen[2] - middle[:, None]).max(axis=2) > 12
    score = np.where(share > 0.78, share + 0.5 * outside.mean(axis=1), 0.0)
    best = int(np.argmax(score))
    return float(score[best]), float(middle[best, 0]), middle[best, 1:]


def _colour_of(
    lab: FloatArray, spot: tuple[float, float, float], plastic: FloatArray, light: float, colours: Sequence[str]
) -> dict[str, float] | None:
    """Return the probability of each thaler colour, or None where nothing coloured or dark lies in the notch."""
    radius = max(1.5, 0.45 * spot[2])
    x0, y0 = round(spot[0] - radius), round(spot[1] - radius)
    patch = lab[max(0, y0) : y0 + round(2 * radius) + 1, max(0, x0) : x0 + round(2 * radius) + 1].reshape(-1, 3)
    if not len(patch):
        return None
    tone = np.median(patch, axis=0)
    # As a white lamp would show it: the igloo is white, and shows what light falls on the thaler.
    there, white = _linear(tone), _linear(np.array([light, plastic[0], plastic[1]]))
    shown = np.clip(0.85 * there / np.maximum(white, 0.01), 0, 1) ** (1 / 2.2)
    pixel = shown.astype(np.float32).reshape(1, 1, 3)
    hue = float(cv2.cvtColor(pixel, cv2.COLOR_BGR2HSV)[0, 0, 0])
    lightness, green_red, blue_yellow = (float(v) for v in cv2.cvtColor(pixel, cv2.COLOR_BGR2Lab)[0, 0])
    chroma = float(np.hypot(green_red, blue_yellow))
    if chroma < 14 and lightness > 55:
        return None
    scores = {}
    for colour in colours:
        if colour == "black":
            scores[colour] = -((max(0.0, chroma - 8) / 8) ** 2) - (max(0.0, lightness - 25) / 12) ** 2
        else:
            off = abs((hue / 2 - _HUES[colour] + 90) % 180 - 90)
            scores[colour] = -((off / 9) ** 2) - (max(0.0, 26 - chroma) / 6) ** 2
    top = max(scores.values())
    weights = {colour: float(np.exp(max(-60.0, 0.5 * (score - top)))) for colour, score in scores.items()}
    total = sum(weights.values())
    return {colour: weight / total for colour, weight in weights.items() if weight / total > 0.002}


def _linear(lab: FloatArray) -> FloatArray:
    """Return linear light (blue, green, red) of a colour in Lab."""
    bgr = cv2.cvtColor(np.asarray(lab, np.float32).reshape(1, 1, 3), cv2.COLOR_Lab2BGR)[0, 0]
    light: FloatArray = np.clip(bgr, 0, 1).astype(float) ** 2.2
    return light
