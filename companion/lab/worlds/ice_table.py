"""A table of Ice Team as a phone sees it: a random game, and rendered photos of its boards, Start and Village."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any

from companion.lab.worlds.board import BoardShot, RenderedBoard, nearby, random_view, shoot
from companion.lab.worlds.board_art import Art
from companion.lab.worlds.boards import players
from companion.lab.worlds.table import Light, PinholeCamera
from companion.rules import game
from companion.rules.core import CHANCE, State
from vision.board.layout import Layout, open_layout

GAME = "ice-team"
Hand = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class IceTable:
    """One table: its art, camera and lamp; ``states`` are the positions of a random game, the set-up first."""

    seed: int
    family: int = 0
    """The family of the art; see :class:`companion.lab.worlds.board_art.Art`."""
    states: list[State[Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.states.extend(played(self.seed))

    @cached_property
    def layout(self) -> Layout:
        """The places, as the camera knows them."""
        return open_layout(GAME)

    @cached_property
    def _art(self) -> Art:
        return Art(self.seed, self.family)

    @cached_property
    def _view(self) -> tuple[PinholeCamera, Light]:
        return random_view(self.seed, self._board({}))

    def _board(self, places: Mapping[str, Any], hands: tuple[Hand, ...] = ()) -> RenderedBoard:
        layout = self.layout
        spots = {p.name: (p.x, p.y, p.width, p.height) for p in layout.places}
        return RenderedBoard(
            places, layout.width, layout.height, self._art, 1000 * self.seed, hands=hands, markers=0.8, spots=spots
        )

    def photo(
        self, places: Mapping[str, Any], noise: int, *, hands: tuple[Hand, ...] = (), moved: float = 1.0
    ) -> BoardShot:
        """Return a photo of a board, from ``moved`` times about where the camera was; ``hands`` cover parts of it."""
        camera, light = nearby(*self._view, noise, moved)
        return shoot(self._board(places, hands), camera, light, noise)


def played(seed: int) -> list[State[Any]]:
    """Return the positions of a random game between actions: the set-up with all floes known, and on to its end."""
    rng = Random(seed)
    state: Any = game(GAME).start(players(GAME))
    found = []
    while state.outcome() is None:
        state = state.after(state.chance(rng) if state.to_move == CHANCE else rng.choice(list(state.moves())))
        if state.position()["phase"] in ("act", "over"):
            found.append(state)
    return found
