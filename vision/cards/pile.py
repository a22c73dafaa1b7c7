"""A fanned-out pile: which cards lie in it, in their order from the bottom to the top.

Cards that overlap are one row of a fan. Where two overlap, the one whose print is seen there lies on top; the sum of
these says from which end a row begins. Rows follow each other down the picture, or from its left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

from vision.cards.blocks import BLOCK
from vision.cards.shape import WIDTH

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray
    from vision.cards.deck import Deck
    from vision.cards.detect import DetectedCard

SURE: Final = 0.9
"""A reading below is asked about."""
_A_CARD: Final = 0.5
"""What is less likely any one card than this is hardly a card."""
_LEAST: Final = 0.005
"""What is less likely is not named."""
_OFF: Final = 0.01
"""What cannot lie there, as far as is known, is so much less likely than any card: what is known may be wrong."""
_GAP: Final = 1.6
"""So many usual steps between two cards may hide one."""
_ODD: Final = 0.4
_ODD_BLOCKS: Final = 6
"""So large a part, and so many blocks, of what is seen of a card are not another's by chance."""
_PEEKS: Final = 0.5
"""So much of what lies beside the lowest card is not table where one more peeks out."""


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """A card of a photo: its likeliest name, the probabilities of the likeliest names, and of its kinds (what stands
    before the first hyphen: Arctic's main animals); ``corners`` (4, 2) in the photo, clockwise from its upper left.
    """

    name: str
    p: float
    names: Mapping[str, float]
    kinds: Mapping[str, float]
    corners: FloatArray
    gap_before: bool = False
    """Whether a card may be hidden between this and the one below."""
    covered: bool = False
    """Whether something unknown lies on it."""

    @property
    def kind(self) -> str:
        """Return the likeliest kind."""
        return max(self.kinds, key=self.kinds.__getitem__)

    @property
    def kind_sure(self) -> bool:
        """Tell whether the kind need not be asked about."""
        return self.kinds[self.kind] >= SURE

    @property
    def sure(self) -> bool:
        """Tell whether the card need not be asked about."""
        return self.p >= SURE and not self.covered

    def to_json(self) -> dict[str, object]:
        """Return the documented form of a read card."""
        return {
            "card": self.name,
            "p": round(self.p, 4),
            "cards": {name: round(p, 4) for name, p in self.names.items()},
            "kind": self.kind,
            "kind_p": round(self.kinds[self.kind], 4),
            "kinds": {name: round(p, 4) for name, p in self.kinds.items()},
            "unsure": not self.sure,
            "gap_before": self.gap_before,
            "corners": np.round(self.corners, 1).tolist(),
        }


def read_cards(found: Sequence[DetectedCard], deck: Deck, only: Sequence[str] = (), *, once: bool = True) -> list[Read]:
    """Return what the found cards are, in their order; each card is there ``once``, unless that is not yet weighed.

    ``only``: no others can lie there.
    """
    if not found:
        return []
    p = np.stack([one.p for one in found])
    if only:
        allowed = np.array([name in only for name in deck.names])
        if allowed.any():
            p = p * np.where(allowed, 1.0, 1e-9)
    p = p / p.sum(axis=1, keepdims=True)
    p = _each_once(p) if once else p
    return [_reading(row, one, deck) for row, one in zip(p, found, strict=True)]


def _reading(p: FloatArray, one: DetectedCard, deck: Deck) -> Read:
    # What is left of the probabilities is that no card lies there.
    p = p * one.sure
    best = [int(card) for card in np.argsort(-p) if p[card] > _LEAST] or [int(np.argmax(p))]
    kinds: dict[str, float] = {}
    for card, name in enumerate(deck.names):
        kind = name.split("-")[0]
        kinds[kind] = kinds.get(kind, 0.0) + float(p[card])
    likely = sorted(kinds.items(), key=lambda item: -item[1])[:6]
    few = {kind: value for kind, value in likely if value > _LEAST} or dict(likely[:1])
    names = {deck.names[card]: float(p[card]) for card in best}
    return Read(deck.names[best[0]], float(p[best[0]]), names, few, one.corners)


def _each_once(p: FloatArray) -> FloatArray:
    """Return probabilities in which no card is expected in two places (Sinkhorn's scaling, columns at most 1)."""
    for _ in range(40):
        p = p / np.maximum(p.sum(axis=0, keepdims=True), 1.0)
        p = p / p.sum(axis=1, keepdims=True)
    return p


def read_open(found: Sequence[DetectedCard], deck: Deck, only: Sequence[str] = ()) -> list[tuple[Read, ...]]:
    """Return what lies in the open: single cards and fans, each from the bottom up. ``only``: no others can lie there.

    Of a fan it is told where a card may be hidden; what lies beside a single card is not looked at. That each card is
    there once is left to :func:`each_once`, when it is known what is likely to lie where.
    """
    rows = [_row(row) for row in _rows(found)]
    read = iter(read_cards([one for row, _ in rows for one, _ in row], deck, only, once=False))
    whole = []
    for row, doubt in rows:
        cards = [replace(next(read), gap_before=gap and number > 0) for number, (_, gap) in enumerate(row)]
        cards[-1] = replace(cards[-1], covered=doubt)
        whole.append(tuple(cards))
    return whole


def as_likely(one: Read, likely: Mapping[str, float], many: int) -> Read:
    """Return a card by how likely each is to lie there; it was read as if each of so ``many`` could as well."""
    names = {name: p * max(_OFF, many * likely.get(name, 0.0)) for name, p in one.names.items()}
    whole = sum(names.values()) + max(0.0, 1.0 - sum(one.names.values()))
    best = max(names, key=names.__getitem__)
    return replace(one, name=best, p=names[best] / whole, names={name: p / whole for name, p in names.items()})


def clear(groups: Sequence[tuple[Read, ...]], sure: float) -> list[tuple[Read, ...]]:
    """Return what lies in the open without what is hardly a card at all: a back, a print, a tablecloth.

    Where that lies in a fan, a card may be hidden; where it lies on top, the one below is covered.
    """
    kept = []
    for group in groups:
        cards: list[Read] = []
        doubt = False
        for one in group:
            if one.p >= sure or (one.p >= _A_CARD and not one.covered):
                cards.append(replace(one, gap_before=one.gap_before or doubt, covered=False))
                doubt = False
            else:
                doubt = True
        if cards:
            kept.append((*cards[:-1], replace(cards[-1], covered=doubt)))
    return kept


def each_once(groups: Sequence[tuple[Read, ...]]) -> list[tuple[Read, ...]]:
    """Return what was read in groups with no card expected in two places."""
    reads = [one for group in groups for one in group]
    names = sorted({name for one in reads for name in one.names})
    p = np.array([[one.names.get(name, 0.0) for name in names] for one in reads]).reshape(len(reads), len(names))
    # What is left of the probabilities is that no card lies there, or one that is hardly likely.
    cards = p.sum(axis=1, keepdims=True)
    told = iter(_each_once(p / np.maximum(cards, 1e-9) + 1e-12) * cards)
    return [tuple(_named(one, dict(zip(names, next(told).tolist(), strict=True))) for one in group) for group in groups]


def _named(one: Read, names: Mapping[str, float]) -> Read:
    best = max(names, key=names.__getitem__)
    return replace(one, name=best, p=names[best], names={name: p for name, p in names.items() if p > _LEAST})


def side_by_side(group: tuple[Read, ...], far: float) -> list[tuple[Read, ...]]:
    """Return the cards of a group as single ones, where each middle is at least so ``far`` (pixels) from the next."""
    middles = [one.corners.mean(axis=0) for one in group]
    apart = all(float(np.linalg.norm(b - a)) >= far for a, b in pairwise(middles))
    return [(one,) for one in group] if apart else [group]


def in_order(found: Sequence[DetectedCard]) -> list[tuple[DetectedCard, bool]]:
    """Return the cards of a fanned-out pile from the bottom up, each with whether one may be hidden before it.

    A card that may lie hidden on the top of a row is doubted with that row's top card.
    """
    rows = [_row(row) for row in _rows(found)]
    rows.sort(key=lambda row: _reading_place([one for one, _ in row[0]], found))
    result: list[tuple[DetectedCard, bool]] = []
    for row, doubt in rows:
        result += row[:-1]
        result.append((row[-1][0], row[-1][1] or doubt))
    return result


def read_pile(found: Sequence[DetectedCard], deck: Deck) -> list[Read]:
    """Return a fanned-out pile from the bottom up."""
    ordered = in_order(found)
    read = read_cards([one for one, _ in ordered], deck)
    return [
        Read(card.name, card.p, card.names, card.kinds, card.corners, gap)
        for card, (_, gap) in zip(read, ordered, strict=True)
    ]


def _size(one: DetectedCard) -> float:
    corners = one.corners
    return float(np.linalg.norm(corners[1] - corners[0]))


def _rows(found: Sequence[DetectedCard]) -> list[list[DetectedCard]]:
    """Return groups of cards that overlap, or lie so near that they would if one step were a little smaller."""
    group = list(range(len(found)))

    def root(i: int) -> int:
        while group[i] != i:
            i = group[i]
        return i

    outlines = []
    for one in found:
        middle = one.corners.mean(axis=0)
        outlines.append((middle + 0.98 * (one.corners - middle)).astype(np.float32))
    for i, a in enumerate(outlines):
        for j in range(i):
            shared = cv2.intersectConvexConvex(a, outlines[j])[0]
            if shared > 0.05 * cv2.contourArea(a):
                group[root(i)] = root(j)
    rows: dict[int, list[DetectedCard]] = {}
    for i, one in enumerate(found):
        rows.setdefault(root(i), []).append(one)
    return list(rows.values())


def _row(row: list[DetectedCard]) -> tuple[list[tuple[DetectedCard, bool]], bool]:
    """Return one row from its bottom card to its top card, and whether one more may lie on top."""
    if len(row) == 1:
        return [(row[0], max(row[0].beside) > _PEEKS)], _odd(row[0])
    middles = np.array([one.middle for one in row])
    centred = middles - middles.mean(axis=0)
    axis = np.linalg.svd(centred, full_matrices=False)[2][0]
    # Read from the left, or from above, where nothing says which lies on top.
    if axis[int(np.argmax(np.abs(axis)))] < 0:
        axis = -axis
    order = np.argsort(centred @ axis)
    ordered = [row[int(i)] for i in order]
    if sum(_on_top(a, b) for a, b in pairwise(ordered)) > 0:
        ordered.reverse()
    steps = [float(np.linalg.norm(b.middle - a.middle)) for a, b in pairwise(ordered)]
    usual = float(np.median(steps))
    gaps = [_peeks_out(ordered[0], ordered[1])]
    for step, below in zip(steps, ordered[:-1], strict=True):
        gaps.append((step > _GAP * usual and len(row) > 3) or _odd(below))
    return list(zip(ordered, gaps, strict=True)), _odd(ordered[-1])


def _odd(one: DetectedCard) -> bool:
    """Tell whether much of what should be seen of a card looks like another."""
    alike, unlike = int(one.fits.sum()), int(one.hidden.sum())
    return unlike >= _ODD_BLOCKS and unlike > _ODD * (alike + unlike)


def _peeks_out(lowest: DetectedCard, above: DetectedCard) -> bool:
    """Tell whether something lies beside the lowest card, on the side that no other card covers."""
    corners = lowest.corners
    away = lowest.middle - above.middle
    sides = (corners + np.roll(corners, -1, axis=0)) / 2 - lowest.middle
    side = int(np.argmax(sides @ away / np.linalg.norm(sides, axis=1)))
    return lowest.beside[side] > _PEEKS


def _on_top(a: DetectedCard, b: DetectedCard) -> float:
    """Return how much more of ``a`` than of ``b`` is seen where they overlap."""
    return _seen_inside(a, b) - _seen_inside(b, a)


def _seen_inside(one: DetectedCard, other: DetectedCard) -> float:
    rows, columns = one.fits.shape
    grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2)
    middles = one.at((grid.astype(float) + 0.5) * (2.0 * BLOCK)).astype(np.float32)
    outline = other.corners.astype(np.float32)
    inside = [cv2.pointPolygonTest(outline, (float(x), float(y)), False) > 0 for x, y in middles]
    return float(one.fits.ravel()[inside].mean()) if any(inside) else 0.0


def _reading_place(row: Sequence[DetectedCard], found: Sequence[DetectedCard]) -> tuple[float, float]:
    """Return by what rows follow each other: how far down the photo in steps of half a card, then how far right."""
    usual = float(np.median([_size(one) for one in found]))
    x, y = np.mean([one.middle for one in row], axis=0)
    return float(round(y / (0.6 * usual))), float(x)


def drawn(photo: ByteArray, cards: Sequence[Read]) -> ByteArray:
    """Return the photo with the read cards' outlines, numbers and names drawn over it; doubtful ones have a ?."""
    image = photo.copy()
    thick = max(1, round(max(photo.shape[:2]) / 800))
    for number, card in enumerate(cards, 1):
        colour = (60, 180, 60) if card.kind_sure else (40, 40, 230)
        cv2.polylines(image, [np.round(card.corners).astype(np.int32)], True, colour, thick, cv2.LINE_AA)
        text = f"{number} {card.name}{'' if card.kind_sure else ' ?'}"
        at = card.corners[:2].mean(axis=0) - [WIDTH * 0.25, (12 + 14 * (number % 3)) * thick]
        for ink, width in (((255, 255, 255), 3 * thick), ((20, 20, 20), thick)):
            cv2.putText(image, text, (round(at[0]), round(at[1])), cv2.FONT_HERSHEY_SIMPLEX, 0.45 * thick, ink, width)
    return image
