"""Thalers that lie loose beside upturned igloos: which lie where, and which igloo each lies beside.

A loose thaler has no ring around it that tells it from the cards' print; but it is new, and of this evening's colours,
as they are seen in the notches of the igloos that stand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from math import dist
from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

from vision.cards.igloos import THALER
from vision.cards.placed import STICKER, Change, NewIgloo, differs

if TYPE_CHECKING:
    from companion.ports import FloatArray

_REACH: Final = 0.85
"""So far (card widths) from the middle of an igloo lies at most what lies beside it: the igloo, its side, a thaler."""
_CLEARLY: Final = 1.5
"""Thalers lie by their igloos where any other way to share them out is so much farther in all."""
_MOST: Final = 5
"""More igloos than this do not lie on a card."""
_ELSEWHERE: Final = 2.0
"""So many times as much as at one place, one colour may be off at two: each lies in a light of its own."""
_FULL: Final = 0.5
"""A thaler covers at least so much of the box around it; a whole disc π/4. Slivers of shadow cover less."""
_NEARER: Final = 2.0
"""What may be of two colours is of that which it is so many times nearer to."""
_MIRRORED: Final = (0.06, 0.12)
"""So much light of a lamp, in parts of white, a thaler may mirror (chosen on one traced table, seed 401).
"""
_MIDDLE: Final = 0.06
"""So far around its middle (card widths) a thaler shows nothing but its colour, also when it stands upright."""

Point = tuple[float, float]


def loose_thalers(
    change: Change | None, known: Mapping[str, Sequence[NewIgloo]], others: Iterable[Point], width: float
) -> list[tuple[str, Point]]:
    """Return the thalers that lie loose, as (colour, where in the picture), on cards so many pixels wide.

    ``change``: where the picture shows anything new; None: not told.
    ``known``: igloos with thalers of these colours, of other looks; ``others``: where igloos stand or lie now.
    """
    if change is None:
        return []
    tones = {colour: [_tone(one, width, change.scale) for one in ones] for colour, ones in known.items()}
    shown = {colour: [tone for tone in every if tone is not None] for colour, every in tones.items()}
    colours = [colour for colour, every in shown.items() if every]
    if not colours:
        return []
    off = np.stack([_off(change.light, shown[colour]) for colour in colours])
    # What may be of two colours is of none, unless it is clearly nearer to the one.
    nearest = off.argmin(axis=0)
    second = np.sort(off, axis=0)[1] if len(colours) > 1 else np.inf
    clear = np.isfinite(off.min(axis=0)) & (second >= _NEARER * off.min(axis=0))
    card = width * change.scale
    taken = [change.small(at) for at in others]
    found = []
    for number, colour in enumerate(colours):
        spots = ((nearest == number) & clear & (change.mask > 0)).astype(np.uint8)
        _, _, stats, middles = cv2.connectedComponentsWithStats(spots)
        for (x, y), (_, _, wide, high, area) in zip(middles[1:], stats[1:], strict=True):
            apart = all(np.hypot(x - a, y - b) > STICKER * card for a, b in taken)
            round_ = area >= _FULL * wide * high
            if apart and round_ and THALER[0] * card**2 <= area <= THALER[1] * card**2:
                at = (float(x) + 0.5) / change.scale - 0.5, (float(y) + 0.5) / change.scale - 0.5
                found.append((colour, at))
    return found


def _off(light: FloatArray, tones: Sequence[FloatArray]) -> FloatArray:
    """Return (h, w): how far light is from the nearest of a colour's tones beside its brightness; inf: another's.

    A glossy thaler that lies flat may mirror a lamp, so a black one looks grey.
    """
    least: FloatArray = np.full(light.shape[:2], np.inf, light.dtype)
    for tone in tones:
        # What is lighter than what it mirrors keeps its colour.
        for veil in (0.0, *(veil for veil in _MIRRORED if np.exp(tone).max() < veil)):
            veiled = np.log(np.exp(tone) + veil).astype(light.dtype)
            far = light - veiled
            shade = np.abs(far - far.mean(axis=2, keepdims=True)).max(axis=2)
            np.minimum(least, np.where(differs(light, veiled, _ELSEWHERE), np.inf, shade), out=least)
    return least


def _tone(one: NewIgloo, width: float, scale: float) -> FloatArray | None:
    """Return the light (3,) of an igloo's thaler."""
    if one.look is None or not one.look.size:
        return None
    high, wide = one.look.shape[:2]
    reach = max(1, round(_MIDDLE * width * scale))
    y, x = max(0, high // 2 - reach), max(0, wide // 2 - reach)
    middle = one.look[y : y + 2 * reach + 1, x : x + 2 * reach + 1]
    tone: FloatArray = np.median(middle.reshape(-1, 3), axis=0)
    return tone


def thalers_beside(
    igloos: Mapping[int, Point], thalers: Sequence[tuple[str, Point]], colours: Counter[str], width: float
) -> dict[int, str] | None:
    """Return the colour of the thaler beside each of the igloos of a card, by their numbers; None: not clearly told.

    ``colours`` are those of the card's thalers that may lie there. Each igloo must have one; where they lie is told
    by all together, since igloos are seen from their tops and thalers lie on the table.
    """
    near = [
        one for one in thalers
        if colours[one[0]] and any(dist(one[1], at) <= _REACH * width for at in igloos.values())
    ]  # fmt: skip
    if len(near) != len(igloos) or not igloos or len(igloos) > _MOST or Counter(colour for colour, _ in near) - colours:
        return None
    ways: dict[tuple[str, ...], float] = {}
    for way in permutations(near):
        far = [dist(at, igloo) for (_, at), igloo in zip(way, igloos.values(), strict=True)]
        key = tuple(colour for colour, _ in way)
        ways[key] = min(ways.get(key, np.inf), sum(far) if max(far) <= _REACH * width else np.inf)
    best, *rest = sorted(ways, key=ways.__getitem__)
    if not np.isfinite(ways[best]) or (rest and ways[rest[0]] < _CLEARLY * ways[best]):
        return None
    return dict(zip(igloos, best, strict=True))
