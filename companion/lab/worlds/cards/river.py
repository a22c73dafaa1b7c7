"""A drawn game of Arctic as a camera sees it: the landscape with its tokens, the River, a pile before each player.

Who plays squares their pile, and lays the cards of the turn on it so that each shows; the River is filled where cards
were taken. Cards lie a little askew and are nudged from turn to turn. Everything is drawn from a seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

import cv2
import numpy as np

from companion.lab.worlds.board_art import bgr
from companion.lab.worlds.cards.art import PX, CardArt, Image, creature, ground
from companion.lab.worlds.cards.photos import CardScene, CardShot, Laid, Printed, sheet, sheet_extent, shoot, view
from companion.lab.worlds.table import Light, PinholeCamera
from companion.rules.arctic import GAME
from companion.rules.arctic.components import ANIMALS, FACE_DOWN, RIVER, TEXT
from companion.rules.arctic.moves import TOP
from companion.rules.core import CHANCE, NOBODY

SHOWN = 0.38
"""So much of a card's width shows of one that lies in a fan."""
SHEET = 24
"""So many cards lie on a sheet that is taught."""
LAND_MM = (66.0, 66.0)
TOKEN_MM = 20.0
_HOMES = ((-240.0, 118.0), (20.0, 118.0), (-240.0, -205.0), (20.0, -205.0))
_OPTIONAL = 0.15
"""How often a power is used that need not be."""


@dataclass(frozen=True)
class PlayedTurn:
    """A turn: the positions before and after it, all known, its moves, and the cards laid on top, in their order."""

    before: Any
    moves: tuple[Any, ...]
    after: Any

    @property
    def laid(self) -> tuple[str, ...]:
        """Return the cards that were placed on top of the pile."""
        return tuple(TEXT[move.a] for move in self.moves if move.kind == "place" and move.b == TOP)


def played(seed: int, players: int) -> list[PlayedTurn]:
    """Return the turns of a random game from the set-up on; powers that may be used seldom are."""
    rng = Random(f"river {seed}")
    state: Any = GAME.start(GAME.seats(players))
    while state.phase == "setup":
        state = state.after(state.chance(rng))
    turns: list[PlayedTurn] = []
    before, moves = state, []
    while state.to_move != NOBODY and state.phase not in {"totems", "over"}:
        move = state.chance(rng) if state.to_move == CHANCE else _chosen(state, rng)
        state = state.after(move)
        moves.append(move)
        if state.seat != before.seat:
            turns.append(PlayedTurn(before, tuple(moves), state))
            before, moves = state, []
    return turns


def _chosen(state: Any, rng: Random) -> Any:
    usual = {"place", "tokens", "draw", "discard", "end"}
    plain = [m for m in state.moves() if m.kind in usual and (m.kind != "place" or m.b == TOP)]
    others = [m for m in state.moves() if m not in plain]
    if others and (not plain or rng.random() < _OPTIONAL):
        kinds = sorted({m.kind for m in others})
        kind = rng.choice(kinds)
        return rng.choice([m for m in others if m.kind == kind])
    return rng.choice(plain)


@dataclass(frozen=True)
class RiverScene:
    """What lies on the table: a position, which card lies in which slot of the River, and what shows of each pile."""

    state: Any
    slots: tuple[str | None, ...]
    fans: tuple[tuple[str, ...], ...]

    def then(self, state: Any, laid: Sequence[str] = (), seat: int = 0) -> RiverScene:
        """Return what lies there in a later position: what stays in the River lies where it lay.

        ``laid``: what ``seat`` has laid by then, its pile having been squared before.
        """
        river = [TEXT[card] for card in state.river]
        kept = [card if card in river else None for card in self.slots]
        new = iter([card for card in river if card not in kept])
        slots = tuple(card if card is not None else next(new, None) for card in kept)
        if not laid:
            return RiverScene(state, slots, self.fans)
        top = [card for card in self.fans[seat][-1:] if card in [TEXT[c] for c in state.piles[seat] if c < FACE_DOWN]]
        below = top if top and top[0] not in laid else []
        fan = (*below, *laid)
        return RiverScene(state, slots, (*self.fans[:seat], fan, *self.fans[seat + 1 :]))


def begun(state: Any) -> RiverScene:
    """Return the table before the first turn."""
    return RiverScene(state, (None,) * RIVER, ((),) * state.players).then(state)


@dataclass(frozen=True)
class DrawnTable:
    """The table of a game: whose art, and who looks at it in which light."""

    seed: int
    art: CardArt
    camera: PinholeCamera
    light: Light

    def shot(self, scene: RiverScene, number: int, *, hand: bool = False, lamp: bool = False) -> CardShot:
        """Return a picture of what lies there, a hand over the River or not, another lamp lit or not."""
        drawn = self.scene(scene, number, hand=hand)
        light = self.light
        if lamp:
            light = replace(light, exposure=light.exposure * 1.2, warmth=light.warmth + 0.12, slope=-light.slope)
        return shoot(drawn, self.camera, light, number)

    def sheet(self, first: int, attempt: int = 0) -> bytes:
        """Return a photo of ``SHEET`` cards from number ``first`` on; each ``attempt`` from another side."""
        return sheet_of(self.art, first, attempt)

    def scene(self, scene: RiverScene, number: int, *, hand: bool = False) -> CardScene:
        """Return what is drawn; cards are nudged a little for each ``number``."""
        rng = np.random.default_rng([27, self.seed])
        wide, _ = self.art.size
        cards = []
        for index, card in enumerate(scene.slots):
            if card is not None:
                nudge = np.random.default_rng([28, self.seed, number, index]).normal(0, 1.2, 2)
                at = ((index - 2.5) * (wide + 10) - 20 + nudge[0], nudge[1] + 8)
                cards.append(Laid(card, at, self._turn(card) + 0.5 * nudge[0]))
        for seat, fan in enumerate(scene.fans):
            x, y = _HOMES[seat]
            for index, card in enumerate(fan):
                off = rng.normal(0, 1.0, 2)
                cards.append(Laid(card, (x + index * SHOWN * wide + off[0], y + off[1]), self._turn(card)))
        arms: tuple[tuple[tuple[float, float], ...], ...] = ()
        if hand:
            middle = self.camera.project(np.array([[60.0, 10.0, 30.0]]))[0]
            side = 45.0
            high = float(self.camera.height)
            arms = (((middle[0] - side, middle[1]), (middle[0] + side, middle[1]),
                     (middle[0] + 2 * side, high), (middle[0], high)),)  # fmt: skip
        return CardScene(self.art, tuple(cards), hands=arms, printed=self._flat(scene.state))

    def _turn(self, card: str) -> float:
        return float(np.random.default_rng([29, self.seed, TEXT.index(card)]).normal(0, 2.5))

    def _flat(self, state: Any) -> tuple[Printed, ...]:
        flat = []
        for index in range(6):
            at = self.land(index)
            flat.append(Printed(_land(self.art, index), at, LAND_MM))
        for animal, index in enumerate(state.tokens):
            x, y = self.land(index)
            nudge = np.random.default_rng([30, self.seed, animal, index]).normal(0, 1.5, 2)
            column, row = animal % 3 - 1, animal // 3 - 0.5
            picture, cover = _token(self.art, animal)
            at = (x + 21 * column + float(nudge[0]), y + 26 * row + float(nudge[1]))
            flat.append(Printed(picture, at, (TOKEN_MM, TOKEN_MM), 0.0, 2.0, cover))
        wide, high = self.art.size
        if state.pile_left:
            flat.append(Printed(_back(self.art), (250.0, 8.0), (wide, high)))
        for seat in range(state.players):
            if state.penalties[seat]:
                x, y = _HOMES[seat]
                flat.append(Printed(_back(self.art), (x + 190.0, y), (wide, high), 90.0))
        return tuple(flat)

    @staticmethod
    def land(index: int) -> tuple[float, float]:
        """Return the middle of a landscape card."""
        return (index - 2.5) * LAND_MM[0] - 20, -92.0


def drawn_table(seed: int, family: int) -> DrawnTable:
    """Return a table drawn from a seed."""
    art = CardArt("arctic", 1200 + seed, family)
    camera, light = view(500 + seed, 640, 500, width=1920, tilt=(3, 18))
    return DrawnTable(seed, art, camera, light)


def sheet_of(art: CardArt, first: int, attempt: int = 0) -> bytes:
    """Return a photo of ``SHEET`` cards from number ``first`` on; each ``attempt`` from another side."""
    names = list(TEXT[first : first + SHEET])
    camera, light = view(art.seed * 100 + first + attempt, *sheet_extent(art, SHEET, 6), width=2000, tilt=(0, 10))
    return shoot(sheet(art, names, 6, first), camera, light, attempt).jpeg


@cache
def _land(art: CardArt, index: int) -> Image:
    size = (round(LAND_MM[0] * PX), round(LAND_MM[1] * PX))
    return ground(art, ("land", index), size, art.rng("landscape").uniform(0, 180) + 7 * index)


@cache
def _back(art: CardArt) -> Image:
    wide, high = art.size
    return ground(art, "back", (wide * PX, high * PX), art.rng("back").uniform(0, 180))


@cache
def _token(art: CardArt, animal: int) -> tuple[Image, Any]:
    """Return a round token in its animal's colour."""
    size = round(TOKEN_MM * PX)
    hue = art.rng("token").uniform(0, 180) + 30 * animal
    image = np.empty((size, size, 3), np.uint8)
    image[:] = bgr(hue, 0.75, 0.85 if animal % 2 else 0.55)
    cover = np.zeros((size, size), np.float32)
    cv2.circle(cover, (size // 2, size // 2), size // 2 - 1, 1.0, -1, cv2.LINE_AA)
    creature(art, image, ANIMALS[animal], (size / 2, size / 2), size * 0.3, 0.0)
    return image, cover
