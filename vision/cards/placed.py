"""Igloos that were put on cards since a picture of the bare circle: what is new in a later picture from the same place.

Where each card lies is known from the bare picture. An igloo is a thaler with the ring of the igloo around it, or
turned over a sticker (:mod:`vision.cards.igloos`); what looks so and was there before is the cards' own print, and what
has something else new beside it may be in a hand. The lamp may change: a smooth field of gains is fitted between the
two pictures first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.board.illumination import CODED, apply_field, fit_field
from vision.cards.igloos import APART, THALER, find_stickers, find_thalers
from vision.cards.round import COLOURS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray

    BoolArray = NDArray[np.bool_]

_CARD: Final = 56.0
"""A card's width in the pictures that are compared, in pixels."""
_CELLS: Final = (24, 18)
"""The light is fitted to the tones of so many cells of a picture, across and down."""
_SHADE: Final = 0.22
"""By so much (natural logarithms of light) one colour changes beside the others where something new lies."""
_LIGHTER: Final = 0.35
_DARKER: Final = 1.1
"""Nothing but a new thing is lighter by so much, or darker than any shadow."""
_CORE: Final = 0.12
"""So far around its middle (card widths) a thaler hides what was there; most of that must have changed."""
_CHANGED: Final = 0.7
STICKER: Final = 0.3
_STUCK: Final = 0.4
"""So far around its middle a sticker hides what was there; so much of that must have changed: half may look alike.
"""
_OWN: Final = 0.62
"""So far around a thaler (card widths) reach its igloo, seen from its side, and the shadow it throws."""
_BESIDE: Final = 0.95
"""And so far reaches what lies against it."""
_FREE: Final = 0.06
"""More of what lies around an igloo being new is a hand that holds it, or something unknown."""
_ASTRAY: Final = -0.2
_CLEAR: Final = 0.3
"""An igloo stands on the card nearest to it, at most so far (card widths) over its edge and so much nearer than others.
"""


@dataclass(frozen=True)
class BareCircle:
    """A picture (BGR) of the circle with nothing on its cards, and the corners (4, 2) of each by its place."""

    image: ByteArray
    corners: Mapping[str, FloatArray]

    @cached_property
    def width(self) -> float:
        """Return how wide cards are in the picture, in pixels."""
        wide = [np.linalg.norm(corners[1] - corners[0]) for corners in self.corners.values()]
        return float(np.median(wide))

    @cached_property
    def shown(self) -> _Shown:
        """Return what every later picture is compared with."""
        scale = min(1.0, _CARD / self.width)
        small = _shrunk(self.image, scale)
        light = _light(small)
        inside, outside = _off_cards(self, light.shape[:2], scale)
        table = np.median(light[outside], axis=0) if outside.any() else None
        return _Shown(scale, _tones(small), light, inside, table)


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a bare circle shows at a scale of its picture: tones (cells, 3) and light (h, w, 3).

    ``inside``: what lies between its cards; ``table``: the light (3,) of what lies around them; None: nothing does.
    """

    scale: float
    tones: FloatArray
    light: FloatArray
    inside: BoolArray
    table: FloatArray | None


@dataclass(frozen=True, slots=True)
class NewIgloo:
    """Something like an igloo that was not there before.

    ``at``: its thaler in the picture. ``place``: the card on which it stands; None: on none, or not clearly on one.
    ``colours``: how likely its thaler has each of the box's colours. ``free``: whether nothing else is new around it.
    ``tone``: the thaler's colour in Lab as a white lamp would show it. ``look``: the light (n, n, 3) of what is seen
    there, its thaler in the middle, as :class:`Change` has it.
    """

    at: tuple[float, float]
    place: str | None
    colours: Mapping[str, float]
    free: bool
    tone: tuple[float, ...] = ()
    look: FloatArray | None = field(default=None, repr=False, compare=False)

    @property
    def colour(self) -> str:
        """Return the likeliest colour."""
        return max(self.colours, key=self.colours.__getitem__)


@dataclass(frozen=True, slots=True)
class TurnedIgloo:
    """An upturned igloo that was not there before: ``at``, ``place`` and ``free`` as a :class:`NewIgloo` has them.

    ``number``: what its sticker says. In the village, between the cards, it lies at no place.
    """

    at: tuple[float, float]
    place: str | None
    number: int
    free: bool


@dataclass(frozen=True, slots=True)
class Change:
    """Where a picture shows something new (mask), at a scale of the picture, and all its light (h, w, 3), logarithms
    as the lamp of the bare circle would show it.
    """

    mask: ByteArray
    scale: float
    light: FloatArray

    def small(self, at: Sequence[float] | FloatArray) -> tuple[float, float]:
        """Return where a point of the picture lies in the mask."""
        return (float(at[0]) + 0.5) * self.scale - 0.5, (float(at[1]) + 0.5) * self.scale - 0.5

    def around(self, at: Sequence[float] | FloatArray, reach: float) -> FloatArray:
        """Return the light of the square that reaches so many pixels of the picture from a point; cut at the rim."""
        (x, y), reach = self.small(at), reach * self.scale
        x0, y0 = max(0, round(x - reach)), max(0, round(y - reach))
        return self.light[y0 : round(y + reach) + 1, x0 : round(x + reach) + 1]


@dataclass(frozen=True, slots=True)
class CheckLook:
    """What a picture shows in the check: igloos that stand on or near the cards and did not before, and those that lie
    there upturned. ``stickers``: where any are seen; ``change``: where it shows anything new; None: not told.
    """

    upright: tuple[NewIgloo, ...]
    turned: tuple[TurnedIgloo, ...]
    stickers: tuple[tuple[float, float], ...] = ()
    change: Change | None = field(default=None, repr=False, compare=False)

    def is_free(self, at: Sequence[float], width: float) -> bool:
        """Tell whether nothing stands or lies at a point, nor hides it; cards are so many pixels wide."""
        return self.change is None or _share(self.change, np.array(at), 0.0, STICKER * width) < _STUCK


def new_igloos(bare: BareCircle, photo: ByteArray) -> tuple[NewIgloo, ...] | None:
    """Return what looks like an igloo on or near the cards now and did not before.

    None where the pictures cannot be compared: of other sizes, or so little is as it was that no lamp explains it.
    """
    changed = _changed(bare, photo)
    return None if changed is None else _igloos(bare, photo, changed, ()).upright


def igloos_in_check(bare: BareCircle, photo: ByteArray) -> CheckLook | None:
    """Return the igloos that stand on or near the cards and did not before, and those that lie there upturned.

    This reads numbers: not to be called before the check begins. None as :func:`new_igloos`.
    """
    changed = _changed(bare, photo, taken=True)
    return None if changed is None else _igloos(bare, photo, changed, tuple(find_stickers(photo)))


def _igloos(
    bare: BareCircle, photo: ByteArray, changed: Change, stickers: Sequence[tuple[FloatArray, int]]
) -> CheckLook:
    width = bare.width
    shares = [_share(changed, at, 0.0, STICKER * width) for at, _ in stickers]
    turned = [one for one, share in zip(stickers, shares, strict=True) if share >= _STUCK]
    others = [at for (at, _), share in zip(stickers, shares, strict=True) if share < _STUCK]
    new = list(
        find_thalers(
            photo,
            list(bare.corners.values()),
            COLOURS,
            lambda at: (
                _share(changed, at, 0.0, _CORE * width) >= _CHANGED
                and all(np.linalg.norm(at - other) > APART * width for other, _ in turned)
            ),
        )
    )
    # An upturned igloo in the village hides what lay there, and is no hand either.
    middles = [one.at for one in new] + [at for at, _ in turned] + others
    hands = _without_small(changed, middles, width) if stickers else changed
    free = []
    for number, at in enumerate(middles):
        beside = _without(hands, middles[:number] + middles[number + 1 :], width)
        free.append(_share(beside, at, _OWN * width, _BESIDE * width) <= _FREE)
    upright = []
    for one, alone in zip(new, free, strict=False):
        tone = tuple(float(value) for value in one.tone)
        look = changed.around(one.at, STICKER * width).copy()
        upright.append(NewIgloo(_point(one.at), _place(one.at, bare.corners, width), one.colours, alone, tone, look))
    upturned = [
        TurnedIgloo(_point(at), None if _in_village(bare, at) else _place(at, bare.corners, width), number, alone)
        for (at, number), alone in zip(turned, free[len(new) :], strict=False)
    ]
    return CheckLook(tuple(upright), tuple(upturned), tuple(_point(at) for at, _ in stickers), changed)


def _point(at: FloatArray) -> tuple[float, float]:
    return float(at[0]), float(at[1])


def _in_village(bare: BareCircle, at: FloatArray) -> bool:
    """Return whether a point lies between the cards, on none of them."""
    inside = bare.shown.inside
    x, y = ((float(value) + 0.5) * bare.shown.scale - 0.5 for value in at)
    row, column = (min(max(0, round(value)), size - 1) for value, size in zip((y, x), inside.shape, strict=True))
    return bool(inside[row, column])


def is_bare(bare: BareCircle, photo: ByteArray) -> bool:
    """Tell whether a picture shows the cards where they lie in another, and nothing on them."""
    changed = _changed(bare, photo)
    if changed is None:
        return False
    for corners in bare.corners.values():
        if changed.mask[_on_cards([corners], changed.mask.shape, changed.scale)].mean() > _FREE:
            return False
    return True


def _changed(bare: BareCircle, photo: ByteArray, *, taken: bool = False) -> Change | None:
    """Return where something new lies; lamps and shadows are none, nor is the table where cards may be ``taken``."""
    if photo.shape != bare.image.shape:
        return None
    was = bare.shown
    now = _shrunk(photo, was.scale)
    across, down = _CELLS
    xs, ys = np.meshgrid(np.linspace(-1, 1, across), np.linspace(-1, 1, down))
    field = fit_field(np.column_stack([xs.ravel(), ys.ravel()]), _tones(now), was.tones)
    if field is None:
        return None
    lit = _light(apply_field(now.astype(np.uint8, copy=False), field))
    new = differs(lit, was.light)
    # In the middle stood what was taken since: where the table is seen there now, nothing came.
    if was.table is not None:
        new &= differs(lit, was.table) if taken else ~was.inside | differs(lit, was.table)
    return Change(cv2.medianBlur(new.astype(np.uint8), 5).astype(np.uint8, copy=False), was.scale, lit)


def _shrunk(picture: ByteArray, scale: float) -> Any:
    return cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)


def differs(light: FloatArray, other: FloatArray, times: float = 1.0) -> BoolArray:
    """Return where light (h, w, 3) is of something else than other light; shadows are not.

    ``times``: by so much more than at one place it may be off.
    """
    off = light - other
    bright = off.mean(axis=2)
    shade = np.abs(off - bright[..., None]).max(axis=2)
    new: BoolArray = (shade > times * _SHADE) | (bright > times * _LIGHTER) | (bright < -_DARKER)
    return new


def _off_cards(bare: BareCircle, shape: tuple[int, ...], scale: float) -> tuple[BoolArray, BoolArray]:
    """Return where there are no cards: between their middles, and outside of these."""
    inside = np.zeros(shape, np.uint8)
    middles = np.array([corners.mean(axis=0) for corners in bare.corners.values()])
    hull = cv2.convexHull(np.round(middles * scale).astype(np.int32))
    cv2.fillConvexPoly(inside, hull, 1)
    off = ~_on_cards(bare.corners.values(), shape, scale)
    return (inside > 0) & off, (inside == 0) & off


def _on_cards(cards: Iterable[FloatArray], shape: tuple[int, ...], scale: float) -> BoolArray:
    """Return where there are cards with these corners in pictures, in a mask of a shape at that scale of them."""
    mask = np.zeros(shape, np.uint8)
    for corners in cards:
        cv2.fillConvexPoly(mask, np.round((corners + 0.5) * scale - 0.5).astype(np.int32), 1)
    return mask > 0


def _light(picture: Any) -> FloatArray:
    """Return the logarithm of each pixel's light, dark ones all alike."""
    soft = cv2.GaussianBlur(picture, (0, 0), 1.0).astype(np.float32) / np.float32(255)
    light: FloatArray = np.log(soft ** np.float32(CODED) + np.float32(0.02))
    return light


def _tones(picture: Any) -> FloatArray:
    """Return (cells, 3): the logarithm of the middle light of each cell, row by row."""
    across, down = _CELLS
    high, wide = picture.shape[0] // down, picture.shape[1] // across
    cells = picture[: high * down, : wide * across].reshape(down, high, across, wide, 3).transpose(0, 2, 1, 3, 4)
    middle = np.median(cells.reshape(down * across, high * wide, 3), axis=1) / 255
    tones: FloatArray = np.log(middle**CODED + 1e-3)
    return tones


def _share(changed: Change, at: FloatArray, inner: float, outer: float) -> float:
    """Return how much of what lies so far around a point (pixels of the picture) is new; nothing outside of it."""
    high, wide = changed.mask.shape
    x, y = changed.small(at)
    reach = outer * changed.scale
    x0, y0 = max(0, int(x - reach)), max(0, int(y - reach))
    x1, y1 = min(wide, int(x + reach) + 2), min(high, int(y + reach) + 2)
    if x1 <= x0 or y1 <= y0:
        return 0.0
    ys, xs = np.mgrid[y0:y1, x0:x1]
    far = np.hypot(xs - x, ys - y)
    ring = (far <= reach) & (far >= inner * changed.scale)
    return float(changed.mask[y0:y1, x0:x1][ring].mean()) if ring.any() else 0.0


def _without(changed: Change, others: Sequence[FloatArray], width: float) -> Change:
    """Return what is new but for other igloos, by their thalers, and their shadows."""
    mask = changed.mask.copy()
    for other in others:
        x, y = changed.small(other)
        cv2.circle(mask, (round(x), round(y)), round(_OWN * width * changed.scale), 0, -1)
    return Change(mask, changed.scale, changed.light)


def _without_small(changed: Change, igloos: Sequence[FloatArray], width: float) -> Change:
    """Return what is new but for what is no larger than a thaler: in the check they lie loose beside the igloos."""
    apart = _without(changed, igloos, width).mask
    _, spots, stats, _ = cv2.connectedComponentsWithStats(apart)
    small = stats[:, cv2.CC_STAT_AREA] <= THALER[1] * (width * changed.scale) ** 2
    mask = changed.mask.copy()
    mask[small[spots] & (apart > 0)] = 0
    return Change(mask, changed.scale, changed.light)


def _place(at: FloatArray, corners: Mapping[str, FloatArray], width: float) -> str | None:
    """Return the place of the card that clearly lies under a point, or clearly nearest to it."""
    point = (float(at[0]), float(at[1]))
    inside = {
        place: cv2.pointPolygonTest(four.astype(np.float32), point, True) / width for place, four in corners.items()
    }
    nearest, *others = sorted(inside, key=inside.__getitem__, reverse=True)
    if inside[nearest] < _ASTRAY or (others and inside[nearest] - inside[others[0]] < _CLEAR):
        return None
    return nearest
