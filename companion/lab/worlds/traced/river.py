"""A game of Arctic on a traced table: the landscape with its tokens, the River, and a pile before each player."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from companion.lab.worlds.cards.photos import CardShot
from companion.lab.worlds.cards.river import SHEET, RiverScene
from companion.lab.worlds.traced.cards import THICK, Arm, Flat, TracedCard, TracedScene, bent, sheet_shot, trace
from companion.lab.worlds.traced.cards_art import Faces
from companion.lab.worlds.traced.povray import Lamps, TracedView
from companion.rules.arctic.components import RIVER, TEXT

SHOWN = 0.38
"""So much of a card's width shows of one that lies in a fan."""
_LAND = 62.0
_TOKEN = 20.0
_HOMES = ((-250.0, -118.0), (15.0, -118.0), (-250.0, 205.0), (15.0, 205.0))
_DRAW = (265.0, -6.0)
_REACHED = (40.0, 10.0)
"""Where a hand takes a card from the River."""


@dataclass(frozen=True)
class TracedTable:
    """The table of a game: whose faces, who looks at it, and in which light."""

    seed: int
    faces: Faces
    view: TracedView
    lamps: Lamps

    def shot(self, scene: RiverScene, number: int, *, hand: bool = False, lamp: bool = False) -> CardShot:
        """Return a picture of what lies there, a hand over the River or not, other lamps lit or not."""
        lamps = replace(self.lamps, seed=self.lamps.seed + 1) if lamp else self.lamps
        laid = self.scene(scene, number)
        if hand:
            laid = replace(laid, arms=(self.arm(scene.state.seat),))
        return trace(laid, self.view, lamps, number)

    @staticmethod
    def arm(seat: int) -> Arm:
        """Return the arm of a player who takes a card from the River: it comes from over their own pile."""
        (x, y), (home_x, home_y) = _REACHED, _HOMES[seat]
        return Arm(_REACHED, float(np.degrees(np.arctan2(home_x - x, y - home_y))))

    def sheet(self, first: int, attempt: int = 0) -> bytes:
        """Return a photo of ``SHEET`` cards from number ``first`` on; each ``attempt`` from another side."""
        return sheet_shot(self.faces, TEXT[first : first + SHEET], first, attempt).jpeg

    def scene(self, scene: RiverScene, number: int) -> TracedScene:
        """Return what lies there; cards are nudged a little for each ``number``."""
        rng = np.random.default_rng([71, self.seed])
        wide, _ = self.faces.size
        cards = []
        for index, card in enumerate(scene.slots):
            if card is not None:
                nudge = np.random.default_rng([72, self.seed, number, index]).normal(0, 1.2, 2)
                at = ((index - (RIVER - 1) / 2) * (wide + 11) - 25 + float(nudge[0]), float(nudge[1]) - 6)
                cards.append(TracedCard(card, at, self._turn(card) + 0.5 * float(nudge[0]), bend=self._bend(card)))
        for seat, fan in enumerate(scene.fans):
            x, y = _HOMES[seat]
            for index, card in enumerate(fan):
                off = rng.normal(0, 1.0, 2)
                at = (x + index * SHOWN * wide + float(off[0]), y + float(off[1]))
                cards.append(TracedCard(card, at, self._turn(card), 1.5 * index))
        return TracedScene(self.faces, tuple(cards), flats=self._flats(scene.state))

    def _turn(self, card: str) -> float:
        return float(np.random.default_rng([73, self.seed, TEXT.index(card)]).normal(0, 2.5))

    def _bend(self, card: str) -> tuple[float, float]:
        return bent(np.random.default_rng([74, self.seed, TEXT.index(card)]))

    def _flats(self, state: Any) -> tuple[Flat, ...]:
        flats = []
        for index in range(RIVER):
            flats.append(Flat(self.faces.land(index), ((index - 2.5) * (_LAND + 1) - 25, 92.0), (_LAND, _LAND)))
        for animal, index in enumerate(state.tokens):
            nudge = np.random.default_rng([75, self.seed, animal, index]).normal(0, 1.5, 2)
            x = (index - 2.5) * (_LAND + 1) - 25 + 20.5 * (animal % 3 - 1) + float(nudge[0])
            y = 92.0 + 24 * (0.5 - animal // 3) + float(nudge[1])
            flats.append(Flat(self.faces.token(animal), (x, y), (_TOKEN, _TOKEN), z=2.5))
        if state.pile_left:
            flats.append(Flat(self.faces.back(), _DRAW, self.faces.size, z=THICK * state.pile_left))
        for seat in range(state.players):
            if state.penalties[seat]:
                x, y = _HOMES[seat]
                flats.append(Flat(self.faces.back(), (x + 190.0, y), self.faces.size, 90.0))
        return tuple(flats)


def traced_table(seed: int, manner: int) -> TracedTable:
    """Return a table traced from a seed."""
    view = TracedView(500 + seed, 640, 520, 1920, 1440, tilt=(3, 18))
    return TracedTable(seed, Faces("arctic", 1300 + seed, manner), view, Lamps(500 + seed))
