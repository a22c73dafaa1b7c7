"""A whole box on the referee's balance, without a pause: tared, each igloo put on, tapped and taken off, tared again.

An igloo that is put down lets the platform go from where it hung empty, while the hand still damps it for a moment; one
that is lifted lets the empty platform go from where it hung loaded. How fast hands are is drawn: HANDS_S from one
igloo to the next. SETTLES_S later it is tapped, and again every 1.16 s until the page has asked for the next one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from companion.igloo.balance.messages import BOX_TWICE
from companion.lab.physics.balance import GRAVITY, RATE_HZ, Balance, BalanceSitting, Weighing, weigh_all
from companion.ports import Samples

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from companion.igloo.balance.box import BoxCheck

    FloatArray = NDArray[np.float64]

HANDS_S: Final = (1.8, 3.2)
"""From lifting one igloo to letting go of the next: the empty platform swings and hangs meanwhile."""
SETTLES_S: Final = 0.9
HELD_S: Final = (0.2, 0.5)
"""How long the hand still touches an igloo that it put down."""
REACTS_S: Final = 0.6
"""From what the page asks to the hand that does it."""
WEIGHED_S: Final = 6.4
"""From letting go of an igloo to lifting it, at most."""
MOST_TAPS: Final = 5
EACH: Final = 320
"""Samples that come together: a tenth of a second."""
LETS_GO: Final = (0.05, 0.5)
"""The part of its sag from which a platform is let go; a hand goes along with the rest."""


class BoxPart(NamedTuple):
    """A part of it: ``what`` is ``tare``, ``hands`` or ``on``; ``on_it``: which of the things lies there, -1 none."""

    what: str
    on_it: int
    accel: FloatArray


class BoxSitting(NamedTuple):
    """One balance, and what is put on it one after another."""

    balance: Balance
    things: Sequence[Weighing]
    rng: np.random.Generator


def box_sessions(sittings: Iterable[BoxSitting]) -> list[list[BoxPart]]:
    """Return the parts of each session in their order; ``accel`` (n, 3) in g at 3200 Hz (nominal)."""
    sittings = list(sittings)
    plans = [_plan(*one) for one in sittings]
    felt = weigh_all(
        [
            BalanceSitting(one.balance, [on_it for _, _, on_it, _ in plan], one.rng, apart_min=4.0 / 60)
            for one, plan in zip(sittings, plans, strict=True)
        ],
        seconds=WEIGHED_S,
        taps=MOST_TAPS,
        first_s=SETTLES_S,
    )
    return [
        [BoxPart(what, at, accel[: int(s * RATE_HZ)]) for (what, at, _, s), accel in zip(plan, one, strict=True)]
        for plan, one in zip(plans, felt, strict=True)
    ]


def through(check: BoxCheck, parts: Iterable[BoxPart], *, taps_on: bool = False) -> Iterator[tuple[BoxPart, float]]:
    """Let a check hear a session as it would go: each thing is tapped until the check asks for the next one.

    ``taps_on``: where it asks whether this is really another igloo, somebody taps on. Yields each part and how many
    seconds of it there were.
    """
    for part in parts:
        accel, before = part.accel, (check.stage, check.igloo)
        more = accel[int(SETTLES_S * RATE_HZ) :] if taps_on else accel[:0]
        at, last, whole = 0, len(accel), True
        while at < last:
            check.feed(Samples(accel[at : at + EACH], 0.0, RATE_HZ, 0))
            at += EACH
            if part.what != "hands" and whole and before != (check.stage, check.igloo):
                last, whole = min(last, at + int(REACTS_S * RATE_HZ)), False
            elif at >= last and len(more) and check.note and check.note.text == BOX_TWICE:
                accel, last, more = np.concatenate([accel, more]), last + len(more), more[:0]
        yield part, min(at, last) / RATE_HZ


def _plan(
    balance: Balance, things: Sequence[Weighing], rng: np.random.Generator
) -> list[tuple[str, int, Weighing, float]]:
    stiff = balance.platform_g * 1e-3 * (2 * np.pi * balance.empty_hz) ** 2
    rows: list[tuple[str, int, Weighing, float]] = [("tare", -1, Weighing(0.0), WEIGHED_S)]
    sag = 0.0
    for at, thing in enumerate(things):
        hands = float(rng.uniform(*HANDS_S))
        rows.append(("hands", -1, Weighing(0.0, released_m=-sag * float(rng.uniform(*LETS_GO)), taps=0), hands))
        sag = thing.grams * 1e-3 * GRAVITY / stiff
        let_go, held = sag * float(rng.uniform(*LETS_GO)), float(rng.uniform(*HELD_S))
        rows.append(("on", at, thing._replace(released_m=let_go, held_s=held), WEIGHED_S))
    rows.append(("hands", -1, Weighing(0.0, released_m=-sag * float(rng.uniform(*LETS_GO)), taps=0), HANDS_S[0]))
    rows.append(("tare", -1, Weighing(0.0), WEIGHED_S))
    return rows
