"""A rendered check of Igloo Pop as a camera sees it: players turn over what stands on the cards, card by card.

A hand lifts each igloo and lays it down upturned where it stood, its thaler beside it, on any side where no other igloo
is. Now and then two players do so
at once and lay theirs where the other's stood, or an igloo is read in the hand and put back without being laid down.
When a card is done, its igloos go back into the village, upturned or not, and a card that is won goes away. Seconds
from the check's start; everything is drawn from a seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import dist
from typing import Generic, TypeVar

import numpy as np

from companion.lab.worlds.cards.photos import IGLOO_MM, CardScene, Igloo
from companion.lab.worlds.cards.placings import Arm, DrawnRound, Put, arm, drawn_round, village
from companion.lab.worlds.cards.taught import sticker
from companion.lab.worlds.table import Light, PinholeCamera
from companion.rules.igloo_pop.components import IGLOOS, PLACES

THALER_MM = 9.0
"""A thaler's radius; so far from its igloo it lies at most."""
LIFTED_S = 1.2
"""So long before it lies upturned, an igloo is lifted; so long after, the hand is gone."""
GOES_S = 0.6
Round = TypeVar("Round")
"""A round as one of the drawing programs has it."""


@dataclass(frozen=True)
class Turned:
    """What becomes of an igloo: it lies upturned at a point (millimetres) from ``t`` until it goes to the village.

    ``at`` None: it is read in a hand, and never lies. ``thaler``: where its thaler lies as long. ``sticker_up``: how it
    stands in the village.
    """

    put: Put
    number: int
    t: float
    until: float
    at: tuple[float, float] | None
    turn: float
    sticker_up: bool
    thaler: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class CheckCourse(Generic[Round]):
    """A round, all igloos standing, and its check: what is turned over in order, which cards are taken when."""

    film: Round
    turned: tuple[Turned, ...]
    taken: tuple[tuple[str, float], ...]

    @property
    def end_t(self) -> float:
        """Return when the last igloo goes to the village."""
        return max(one.until for one in self.turned)

    def number_of(self, put: Put) -> int:
        """Return what lies under an igloo."""
        return next(one.number for one in self.turned if one.put == put)


class DrawnCheck(CheckCourse[DrawnRound]):
    """A check that our renderer draws."""

    def scene(self, t: float) -> tuple[CardScene, PinholeCamera, Light]:
        """Return what lies and moves on the table at a time, and who sees it in which light."""
        film = self.film
        igloos, arms, thalers = list[Igloo](), list[Arm](), list[tuple[str, tuple[float, float]]]()
        spots = village(0)
        igloos += [Igloo(at) for at in spots[len(self.turned) :]]
        for index, one in enumerate(self.turned):
            print_ = sticker(one.number)
            upturned = Igloo(one.put.at, number=one.number, turn=one.turn, sticker=print_)
            if t < one.t - LIFTED_S:
                igloos.append(Igloo(one.put.at, one.put.colour, turn=37.0 * index))
            elif t < one.t:
                # It is turned over a little outside of where it stood, and looked at.
                at = (one.put.at[0] * 1.06, one.put.at[1] * 1.06)
                if t >= one.t - LIFTED_S / 2:
                    igloos.append(replace(upturned, at=at))
                arms.append(arm(film.camera, at, 0.3))
            elif one.at is not None and t < one.until:
                igloos.append(replace(upturned, at=one.at))
                thalers.append((one.put.colour, one.thaler))
                if t < one.t + GOES_S:
                    arms.append(arm(film.camera, one.at, 0.3 + (t - one.t)))
            else:
                spot = spots[index]
                igloos.append(replace(upturned, at=spot) if one.sticker_up else Igloo(spot))
                gone = one.t if one.at is None else one.until
                if t < gone + GOES_S:
                    arms.append(arm(film.camera, spot, 0.3))
        gone_cards = {place for place, since in self.taken if since <= t}
        cards = tuple(card for place, card in zip(PLACES, film.cards, strict=True) if place not in gone_cards)
        lit = film.lamp if film.lamp is not None and film.lamp_t is not None and t >= film.lamp_t else film.light
        return CardScene(film.art, cards, tuple(igloos), tuple(arms), tuple(thalers)), film.camera, lit


def drawn_check(seed: int, family: int, colours: Sequence[str], *, count: int = 11, lamp: bool = False) -> DrawnCheck:
    """Return the check of a round with ``count`` igloos; with ``lamp`` one is switched on in the middle of it."""
    film = drawn_round(seed, family, colours, count=count, lamp=lamp)
    turned, taken, t = course_of(seed, film.puts, film.names)
    return DrawnCheck(replace(film, lamp_t=0.5 * t if lamp else None), turned, taken)


def course_of(
    seed: int, puts: Sequence[Put], cards: Sequence[str]
) -> tuple[tuple[Turned, ...], tuple[tuple[str, float], ...], float]:
    """Return what becomes of igloos that stand on cards (place by place), which cards are taken when, and the end."""
    rng = np.random.default_rng([27, seed])
    numbers = [int(number) for number in rng.permutation(IGLOOS)]
    names = dict(zip(PLACES, cards, strict=True))
    under = {}
    for put in puts:
        fits = [number for number in numbers if str(number) in names[put.place].split("/")]
        number = fits[0] if fits and rng.random() < 0.6 else numbers[0]
        numbers.remove(number)
        under[put] = number
    first, t = int(rng.integers(len(PLACES))), 2.0
    turned, taken = [], []
    for place in PLACES[first:] + PLACES[:first]:
        here = [put for put in puts if put.place == place]
        if not here:
            continue
        once = rng.random() < 0.25
        times = []
        for _ in here:
            times.append(t)
            t += 0.2 if once else LIFTED_S + float(rng.exponential(1.2))
        done = max(times) + float(rng.uniform(2.0, 5.0))
        crossed = once and rng.random() < 0.3
        for index in rng.permutation(len(here)):
            put, lies = here[index], rng.random() > 0.07
            spot, off = (here[-1 - index] if crossed else put).at, rng.normal(0, 3, 2)
            at = (spot[0] + float(off[0]), spot[1] + float(off[1]))
            turn, up = float(rng.uniform(0, 360)), bool(rng.random() < 0.5)
            turned.append(Turned(put, under[put], times.pop(0), done, at if lies else None, turn, up))
        if any(str(under[put]) in names[place].split("/") for put in here):
            taken.append((place, done + 0.5))
        t = done + (float(rng.uniform(0.5, 2.0)) if rng.random() > 0.15 else -1.5) + LIFTED_S
    beside = np.random.default_rng([28, seed])
    turned = [one if one.at is None else replace(one, thaler=_beside(one, turned, beside)) for one in turned]
    return tuple(turned), tuple(taken), t


def _beside(one: Turned, turned: Sequence[Turned], rng: np.random.Generator) -> tuple[float, float]:
    """Return where the thaler of an upturned igloo lies: on some side of it, and under no other of its card."""
    lying = [other.at for other in turned if other.put.place == one.put.place and other.at not in (None, one.at)]
    far, start = IGLOO_MM + THALER_MM + float(rng.uniform(0, THALER_MM)), float(rng.uniform(0, 2 * np.pi))
    at = one.at or one.put.at
    sides = [(at[0] + far * np.cos(angle), at[1] + far * np.sin(angle)) for angle in start + np.arange(24) * np.pi / 12]
    room = [min((dist(side, other) for other in lying if other), default=np.inf) for side in sides]
    first = next((n for n, free in enumerate(room) if free >= IGLOO_MM + THALER_MM), int(np.argmax(room)))
    return float(sides[first][0]), float(sides[first][1])
