"""A traced round of Igloo Pop as a camera sees it: igloos come in hands and are put on the circle's cards.

Seconds from the round's start; everything is drawn from a seed. Twelve igloos stand in the middle at first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from companion.lab.worlds.cards.photos import CardShot
from companion.lab.worlds.cards.placings import COMES_S, GOES_S, Put
from companion.lab.worlds.traced.cards import (
    Arm,
    Dome,
    Place,
    TracedScene,
    circle,
    on_card,
    sheet_shot,
    trace,
)
from companion.lab.worlds.traced.cards_art import Faces
from companion.lab.worlds.traced.povray import Lamps, TracedView
from companion.rules.igloo_pop.components import CARD_TEXT, PLACES

SHEET = 18
HELD_MM = 18.0
"""A hand holds an igloo so far from its middle, on the side of its player."""


@dataclass(frozen=True)
class TracedRound:
    """A round: its bare circle, what is put down in order, and who sees it in which light.

    ``seats``: from which side of the table the player of each colour reaches (see
    :class:`companion.lab.worlds.traced.cards.Arm`).
    """

    laid: TracedScene
    view: TracedView
    lamps: Lamps
    puts: tuple[Put, ...]
    seats: Mapping[str, float]

    @property
    def names(self) -> list[str]:
        """Return the cards, place by place."""
        return [card.name for card in self.laid.cards]

    @cached_property
    def bare(self) -> CardShot:
        """Return the circle before anything stands on it, all igloos in the village."""
        return self.take(replace(self.laid, domes=_standing(0)), 1)

    def scene(self, t: float) -> TracedScene:
        """Return what lies and moves on the table at a time."""
        turned = [Dome(put.at, put.colour, turn=37.0 * index) for index, put in enumerate(self.puts) if put.t <= t]
        arms: list[Arm] = []
        for index, put in enumerate(self.puts):
            held = Arm(put.at, self.seats[put.colour])
            if put.t - COMES_S <= t < put.t:
                # It comes from where its player sits, held by its side.
                held = held.back(60 * (put.t - t) / COMES_S)
                turned.append(Dome(held.at, put.colour, turn=37.0 * index))
                arms.append(held.back(HELD_MM))
            elif put.t <= t < put.t + GOES_S:
                arms.append(held.back(40 + 60 * (t - put.t)))
        taken = sum(put.t - COMES_S <= t for put in self.puts)
        return replace(self.laid, domes=(*turned, *_standing(taken)), arms=tuple(arms))

    def sheet(self, first: int, attempt: int = 0) -> bytes:
        """Return a photo of ``SHEET`` cards from number ``first`` on; each ``attempt`` from another side."""
        return sheet_shot(self.laid.faces, CARD_TEXT[first : first + SHEET], first, attempt).jpeg

    def take(self, scene: TracedScene, number: int) -> CardShot:
        """Return a photo of what lies there; ``number`` is the noise's seed."""
        return trace(scene, self.view, self.lamps, number)


def village(taken: int) -> tuple[Place, ...]:
    """Return where in the middle those igloos stand of which so many were taken (millimetres)."""
    spots = [(48.0 * column, -46.0 * row) for row in (-1, 0, 1) for column in (-1.5, -0.5, 0.5, 1.5)]
    return tuple(spots[taken:])


def seats_of(seed: int, colours: Sequence[str]) -> dict[str, float]:
    """Return from which side of the table each colour's player reaches: they sit around it, in no order."""
    rng = np.random.default_rng([67, seed])
    sides = (float(rng.uniform(0, 360)) + np.arange(len(colours)) * 360 / len(colours)) % 360
    return {colours[index]: float(side) for index, side in zip(rng.permutation(len(colours)), sides, strict=True)}


def _standing(taken: int) -> tuple[Dome, ...]:
    return tuple(Dome(at, turn=20.0 * index) for index, at in enumerate(village(taken)))


def traced_round(seed: int, manner: int, colours: Sequence[str], *, count: int = 11, pause: float = 1.6) -> TracedRound:
    """Return a round in which ``count`` igloos are put down, ``pause`` seconds apart as a rule, some two at once."""
    faces = Faces("igloo-pop", 1600 + seed, manner)
    rng = np.random.default_rng([66, seed])
    names = [str(name) for name in rng.permutation(CARD_TEXT)[: len(PLACES)]]
    laid = circle(faces, names, seed)
    room = {index: [-22.0, 22.0] for index in range(len(names))}
    t, puts = 2.0, []
    for _ in range(count):
        index = int(rng.choice([index for index, left in room.items() if left]))
        along = room[index].pop(int(rng.integers(len(room[index])))) + float(rng.normal(0, 1.5))
        at = on_card(laid.cards[index], along, float(rng.uniform(-8, 8)))
        puts.append(Put(t, PLACES[index], str(rng.choice(colours)), at))
        t += 0.0 if rng.random() < 0.25 else float(rng.exponential(pause))
    view = TracedView(600 + seed, 480, 430, 1280, 960, tilt=(3, 18))
    return TracedRound(laid, view, Lamps(600 + seed), tuple(puts), seats_of(seed, colours))
