"""A fanned-out pile: which cards lie in it, in their order from the bottom to the top.

Cards that overlap are one row of a fan. Where two overlap, the one whose print is seen there lies on top; the sum of
these says from which end a row begins. Rows follow each other down the picture, or from its left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

from .cards_deck import WIDTH
from .cards_find import BLOCK

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray

    from .cards_deck import Deck
    from .cards_find import Found

SURE: Final = 0.9
"""A reading below is asked about."""
_FEW: Final = 11.0
_FEW_SPREAD: Final = 1.2
"""With so many blocks that fit well a card is as likely there as not, and how soon that changes (set by hand)."""
_GAP: Final = 1.8
"""So many usual steps between two cards may hide one."""


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
        return self.p >= SURE

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


def read_cards(found: Sequence[Found], deck: Deck, only: Sequence[str] = ()) -> list[Read]:
    """Return what the found cards are, in their order; each card is there once. ``only``: no others can lie there."""
    if not found:
        return []
    p = np.stack([one.p for one in found])
    if only:
        allowed = np.array([name in only for name in deck.names])
        if allowed.any():
            p = p * np.where(allowed, 1.0, 1e-9)
    p = _each_once(p / p.sum(axis=1, keepdims=True))
    return [_reading(row, one, deck) for row, one in zip(p, found, strict=True)]


def _reading(p: FloatArray, one: Found, deck: Deck) -> Read:
    # What is left of the probabilities is something else: of few blocks that fit, chance made some.
    p = p / (1 + np.exp((_FEW - one.blocks) / _FEW_SPREAD))
    best = [int(card) for card in np.argsort(-p)[:4] if p[card] > 0.005] or [int(np.argmax(p))]
    kinds: dict[str, float] = {}
    for card, name in enumerate(deck.names):
        kind = name.split("-")[0]
        kinds[kind] = kinds.get(kind, 0.0) + float(p[card])
    few = dict(sorted(((k, v) for k, v in kinds.items() if v > 0.005), key=lambda item: -item[1])[:6])
    names = {deck.names[card]: float(p[card]) for card in best}
    return Read(deck.names[best[0]], float(p[best[0]]), names, few, one.corners)


def _each_once(p: FloatArray) -> FloatArray:
    """Return probabilities in which no card is expected in two places (Sinkhorn's scaling, columns at most 1)."""
    for _ in range(40):
        p = p / np.maximum(p.sum(axis=0, keepdims=True), 1.0)
        p = p / p.sum(axis=1, keepdims=True)
    return p


def in_order(found: Sequence[Found]) -> list[tuple[Found, bool]]:
    """Return the cards of a fanned-out pile from the bottom up, each with whether one may be hidden before it."""
    rows = [_row(row) for row in _rows(found)]
    rows.sort(key=lambda row: _reading_place([one for one, _ in row], found))
    return [one for row in rows for one in row]


def read_pile(found: Sequence[Found], deck: Deck) -> list[Read]:
    """Return a fanned-out pile from the bottom up."""
    ordered = in_order(found)
    read = read_cards([one for one, _ in ordered], deck)
    return [
        Read(card.name, card.p, card.names, card.kinds, card.corners, gap)
        for card, (_, gap) in zip(read, ordered, strict=True)
    ]


def _size(one: Found) -> float:
    corners = one.corners
    return float(np.linalg.norm(corners[1] - corners[0]))


def _rows(found: Sequence[Found]) -> list[list[Found]]:
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
    rows: dict[int, list[Found]] = {}
    for i, one in enumerate(found):
        rows.setdefault(root(i), []).append(one)
    return list(rows.values())


def _row(row: list[Found]) -> list[tuple[Found, bool]]:
    """Return one row from its bottom card to its top card."""
    if len(row) == 1:
        return [(row[0], False)]
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
    gaps = [False, *(step > _GAP * usual and len(row) > 3 for step in steps)]
    return list(zip(ordered, gaps, strict=True))


def _on_top(a: Found, b: Found) -> float:
    """Return how much more of ``a`` than of ``b`` is seen where they overlap."""
    return _seen_inside(a, b) - _seen_inside(b, a)


def _seen_inside(one: Found, other: Found) -> float:
    rows, columns = one.fits.shape
    grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2)
    middles = one.at((grid.astype(float) + 0.5) * (2.0 * BLOCK)).astype(np.float32)
    outline = other.corners.astype(np.float32)
    inside = [cv2.pointPolygonTest(outline, (float(x), float(y)), False) > 0 for x, y in middles]
    return float(one.fits.ravel()[inside].mean()) if any(inside) else 0.0


def _reading_place(row: Sequence[Found], found: Sequence[Found]) -> tuple[float, float]:
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
