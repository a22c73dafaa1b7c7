"""Weighings one after another, each against the empty platform: how much heavier it was, as a part of the platform.

A mass m on a platform that swings like M₀ makes m / M₀ = (f₀ / f)² − 1. A spring that softens as the room warms changes
both frequencies alike, as long as f₀ is of about the same moment. So the order is time, and f₀ is drawn on a straight
line from the tare before to the tare after; how much these differ is what f₀ may be off by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from companion.igloo.balance.messages import NO_TARE, SHAKEN
from companion.igloo.balance.ringdown import Ringdown, ringdown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

TARE: Final = "tare"
LEAST_ERROR: Final = 3e-5
"""No frequency is known better than to this part: what taps by one hand, one after another, have in common."""
WALK: Final = 4.3
"""The same of a phase that walks at random over ten turns, before any taps are known: sqrt(18 / 12 · 10 / TURNS)."""
STEADY: Final = 1.5e-3
"""Tares that differ by more than this part did not come from one spring at one temperature."""
MUCH_LEFT: Final = 0.02
"""A swing whose phase strays further from its line (rad) was not alone."""
DISAGREE: Final = 5e-4
"""Taps whose frequencies differ by more than this part were not of one swing."""


@dataclass(frozen=True, slots=True)
class Load:
    """One weighing: ``load`` is its mass as a part of the platform's, ``error`` its standard error.

    ``pitch``: how far the platform pitches as it swings, squared, against the empty one, and its standard error.
    ``igloo``: the sticker of what stands there, where its shell is to be taken into account; 0: nobody said.
    ``swing`` is what was fitted; ``empty_hz`` the tare that it was held against, 0 without one. ``why``: one sentence
    where there is no load.
    """

    swing: Ringdown
    load: float = 0.0
    error: float = 0.0
    empty_hz: float = 0.0
    why: str = ""
    pitch: float = 0.0
    pitch_error: float = 0.0
    igloo: int = 0


def alone(swing: Ringdown) -> bool:
    """Tell whether one swing was there and nothing beside it, and whether the taps agree."""
    return not swing.why and swing.rest < MUCH_LEFT and swing.apart_hz < DISAGREE * swing.frequency_hz


def loads(accel: Sequence[FloatArray], rate_hz: float, what: Sequence[str]) -> list[Load]:
    """Return every weighing (n, 3) in g, held against the tares around it; a tare's own load is 0."""
    return held([ringdown(one, rate_hz) for one in accel], what)


def held(swings: Sequence[Ringdown], what: Sequence[str]) -> list[Load]:
    """Return every swing, in the order of time, held against the tares around it; a tare's own load is 0."""
    tares = _sound([(at, one) for at, one in enumerate(swings) if what[at] == TARE and alone(one)])
    more = _more([one for one in swings if not one.why])
    return [_held(swings[at], at, what[at], tares, more) for at in range(len(swings))]


def _more(swings: Sequence[Ringdown]) -> float:
    """Return how much worse frequencies are known than each ring-down says by itself, by how all taps differ.

    What shakes the table is slow: it pushes the phase of a swing on and does not let it come back.
    """
    told = [(one.taps - 1, one.strays) for one in swings]
    return float(np.sqrt((WALK**2 + sum(n * far**2 for n, far in told)) / (1 + sum(n for n, _ in told))))


def _sound(tares: list[tuple[int, Ringdown]]) -> list[tuple[int, Ringdown]]:
    """Leave out a tare that is unlike the one before and the one after, which are alike."""
    kept = []
    for number, (at, one) in enumerate(tares):
        around = [tares[other][1].frequency_hz for other in (number - 1, number + 1) if 0 <= other < len(tares)]
        alike = len(around) == 2 and abs(around[0] - around[1]) < STEADY * around[0]
        if not alike or abs(one.frequency_hz - around[0]) < STEADY * around[0]:
            kept.append((at, one))
    return kept


def _held(swing: Ringdown, at: int, what: str, tares: list[tuple[int, Ringdown]], more: float) -> Load:
    if what == TARE:
        return Load(swing, empty_hz=swing.frequency_hz, why=swing.why or ("" if alone(swing) else SHAKEN))
    if swing.why:
        return Load(swing, why=swing.why)
    before = [one for one in tares if one[0] < at]
    if not before:
        return Load(swing, why=NO_TARE)
    empty, wander = _empty(at, before[-1], next((one for one in tares if one[0] > at), None), tares)
    ratio = (empty / swing.frequency_hz) ** 2
    parts = (
        max(LEAST_ERROR, more * swing.error_hz / swing.frequency_hz),
        max(LEAST_ERROR, more * before[-1][1].error_hz / empty),
        wander,
    )
    why = "" if alone(swing) else SHAKEN
    error = 2 * ratio * float(np.sqrt(sum(part**2 for part in parts)))
    return Load(swing, ratio - 1, error, empty, why, *_pitch(swing, before[-1][1]))


def _pitch(swing: Ringdown, empty: Ringdown) -> tuple[float, float]:
    """Return the square of how far it pitches more than the empty platform, as a part of the swing, and its error."""
    square = float(np.sum((np.array(swing.across) - empty.across) ** 2))
    noise = swing.across_error**2 + empty.across_error**2
    # Of two directions; noise makes the square larger by its variance in each.
    return square - 2 * noise, 2 * float(np.sqrt(max(square, noise) * noise + noise**2))


def _empty(
    at: int, last: tuple[int, Ringdown], following: tuple[int, Ringdown] | None, tares: list[tuple[int, Ringdown]]
) -> tuple[float, float]:
    """Return the empty platform's frequency at one moment, and how far it may be off, as a part of it."""
    steps = [
        abs(b.frequency_hz - a.frequency_hz) / a.frequency_hz / max(1, j - i) for (i, a), (j, b) in pairwise(tares)
    ]
    usual = float(np.median(steps)) if steps else LEAST_ERROR
    if following is None:
        return last[1].frequency_hz, usual * (at - last[0])
    first, second = last[1].frequency_hz, following[1].frequency_hz
    share = (at - last[0]) / (following[0] - last[0])
    apart = abs(second - first) / first
    # A slow change lies on the line; a clamp that slipped did so at some moment between the two.
    slipped = apart > STEADY
    return first + share * (second - first), apart * (0.5 if slipped else 0.2)
