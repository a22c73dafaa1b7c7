"""A rendered round of Igloo Pop as a camera sees it: players put igloos on the circle's cards, all at once.

Twelve stand in the village. Every igloo comes in a hand, hovers, is set down, and the hand goes; some rest a hand over
the table; a lamp may be switched on in the middle. Seconds from the round's start; everything is drawn from a seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from companion.lab.worlds.cards.art import CardArt
from companion.lab.worlds.cards.photos import CardScene, CardShot, Igloo, Laid, ring, shoot, view
from companion.lab.worlds.table import Light, PinholeCamera
from companion.rules.igloo_pop.components import CARD_TEXT, PLACES

COMES_S = 1.0
"""So long before it stands, an igloo is in a hand in the picture; so long after, the hand is gone."""
GOES_S = 0.6
_WIDE = 42.0
"""Half of an arm's width, in pixels."""
Arm = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Put:
    """An igloo that is set down at ``t`` on the card at ``place``: its thaler's colour, and where (millimetres)."""

    t: float
    place: str
    colour: str
    at: tuple[float, float]


@dataclass(frozen=True)
class Rest:
    """A hand that lies over a point (millimetres) from one second to another."""

    begin: float
    end: float
    at: tuple[float, float]


@dataclass(frozen=True)
class DrawnRound:
    """A round: its cards clockwise from the first place, what is put down in order, hands that rest, and a lamp."""

    art: CardArt
    cards: tuple[Laid, ...]
    camera: PinholeCamera
    light: Light
    puts: tuple[Put, ...]
    rests: tuple[Rest, ...] = ()
    lamp_t: float | None = None
    lamp: Light | None = None

    @property
    def names(self) -> list[str]:
        """Return the cards, place by place."""
        return [card.name for card in self.cards]

    @cached_property
    def bare(self) -> CardShot:
        """Return the circle before anything stands on it, all igloos in the village."""
        return shoot(CardScene(self.art, self.cards, _standing(0)), self.camera, self.light, 1)

    def frame(self, t: float, number: int = 0) -> CardShot:
        """Return what the camera sees at a time; ``number`` is the noise's seed."""
        return self.take(self.scene(t), number)

    @staticmethod
    def take(scene: tuple[CardScene, PinholeCamera, Light], number: int) -> CardShot:
        """Return a photo of a scene; ``number`` is the noise's seed."""
        return shoot(*scene, number)

    def scene(self, t: float) -> tuple[CardScene, PinholeCamera, Light]:
        """Return what lies and moves on the table at a time, and who sees it in which light."""
        igloos = [Igloo(put.at, put.colour, turn=37.0 * index) for index, put in enumerate(self.puts) if put.t <= t]
        igloos += _standing(sum(put.t - COMES_S <= t for put in self.puts))
        arms: list[Arm] = []
        for index, put in enumerate(self.puts):
            if put.t - COMES_S <= t < put.t:
                # It comes from outside and hovers: the hand holds it by its side.
                left = (put.t - t) / COMES_S
                at = (put.at[0] * (1 + 0.5 * left), put.at[1] * (1 + 0.5 * left))
                igloos.append(Igloo(at, put.colour, turn=37.0 * index))
                arms.append(arm(self.camera, at, 0.35))
            elif put.t <= t < put.t + GOES_S:
                arms.append(arm(self.camera, put.at, 0.35 + (t - put.t)))
        arms += [arm(self.camera, rest.at, 0.0) for rest in self.rests if rest.begin <= t < rest.end]
        lit = self.lamp if self.lamp is not None and self.lamp_t is not None and t >= self.lamp_t else self.light
        return CardScene(self.art, self.cards, tuple(igloos), tuple(arms)), self.camera, lit


def village(taken: int) -> tuple[tuple[float, float], ...]:
    """Return where in the middle those igloos stand of which so many were taken (millimetres)."""
    spots = [(48.0 * column, 46.0 * row) for row in (-1, 0, 1) for column in (-1.5, -0.5, 0.5, 1.5)]
    return tuple(spots[taken:])


def _standing(taken: int) -> tuple[Igloo, ...]:
    return tuple(Igloo(at) for at in village(taken))


def arm(camera: PinholeCamera, at: tuple[float, float], off: float) -> Arm:
    """Return an arm from the picture's rim to near a point; ``off`` is how far it ends outside of it."""
    middle = np.array(at)
    out = middle / max(1.0, float(np.linalg.norm(middle)))
    ends = np.column_stack([np.stack([middle + out * 75 * off, middle + out * 400]), [20.0, 20.0]])
    tip, end = camera.project(ends)
    side = np.array([-(end - tip)[1], (end - tip)[0]]) / np.linalg.norm(end - tip) * _WIDE
    four = (tip + side, tip - side, end - 1.5 * side, end + 1.5 * side)
    return tuple((float(x), float(y)) for x, y in four)


def put_on(card: Laid, along: float, across: float = 0.0) -> tuple[float, float]:
    """Return a point of a card, so many millimetres down and right of its middle as it lies."""
    angle = np.radians(card.turn)
    down, right = np.array([-np.sin(angle), np.cos(angle)]), np.array([np.cos(angle), np.sin(angle)])
    at = np.array(card.at) + down * along + right * across
    return float(at[0]), float(at[1])


def drawn_round(
    seed: int, family: int, colours: Sequence[str], *, count: int = 11, pause: float = 1.6, lamp: bool = False
) -> DrawnRound:
    """Return a round in which ``count`` igloos are put down, ``pause`` seconds apart as a rule, often two at once."""
    art = CardArt("igloo-pop", 900 + seed, family)
    rng = np.random.default_rng([26, seed])
    names = [str(name) for name in rng.permutation(CARD_TEXT)[: len(PLACES)]]
    cards = tuple(ring(art, names, seed))
    camera, light = view(300 + seed, 470, 400, width=1280, tilt=(3, 20))
    room = {index: [-23.0, 23.0] for index in range(len(cards))}
    t, puts = 2.0, []
    for _ in range(count):
        index = int(rng.choice([index for index, left in room.items() if left]))
        along = room[index].pop(int(rng.integers(len(room[index])))) + float(rng.normal(0, 1.5))
        at = put_on(cards[index], along, float(rng.uniform(-9, 9)))
        puts.append(Put(t, PLACES[index], str(rng.choice(colours)), at))
        t += 0.0 if rng.random() < 0.3 else float(rng.exponential(pause))
    rests = []
    for begin in (0.25 * t, 0.6 * t):
        x, y = cards[int(rng.integers(len(cards)))].at
        rests.append(Rest(begin, begin + float(rng.uniform(2, 5)), (x * 1.15, y * 1.15)))
    on = replace(
        light,
        exposure=light.exposure * float(rng.uniform(1.15, 1.35)),
        slope=float(rng.uniform(-0.5, 0.5)),
        warmth=light.warmth + float(rng.uniform(0.05, 0.2)),
    )
    return DrawnRound(art, cards, camera, light, tuple(puts), tuple(rests), 0.5 * t if lamp else None, on)
