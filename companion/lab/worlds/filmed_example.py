"""A game of Thin Ice, the example, as a camera sees it: a random game in moves, and rendered pictures of its board."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any

from companion.lab.worlds.board import BoardShot, RenderedBoard, random_view, shoot
from companion.lab.worlds.board_art import Art
from companion.lab.worlds.boards import offered, players, settled
from companion.lab.worlds.filmed import noisy
from companion.lab.worlds.table import Light, PinholeCamera
from companion.rules import game
from companion.rules.core import State

GAME = "thin-ice"
SIDE = 3


@dataclass(frozen=True)
class FilmedExample:
    """A game of at most ``turns`` turns for two: ``played`` are the moves of each turn."""

    seed: int
    turns: int
    family: int = 0
    """The family of the art; see :class:`companion.lab.worlds.board_art.Art`."""
    game: str = GAME
    setup: dict[str, Any] = field(default_factory=dict)
    set_up: list[str] = field(default_factory=list)
    played: list[list[str]] = field(default_factory=list)
    states: list[State[Any]] = field(default_factory=list)
    """The position at the beginning and after each turn."""

    def __post_init__(self) -> None:
        rng = Random(self.seed)
        state: Any = game(GAME).start(players(GAME))
        self.states.append(state)
        while len(self.played) < self.turns and state.outcome() is None:
            whose, moves = state.seat, list[str]()
            while state.outcome() is None and state.seat == whose:
                text = rng.choice(offered(GAME, state))["text"]
                moves.append(text)
                state = settled(GAME, state.play(game(GAME).parse(text)))
            self.played.append(moves)
            self.states.append(state)

    @property
    def lessons(self) -> tuple[tuple[bytes, State[Any]], ...]:
        """None: the empty board is enough to begin with."""
        return ()

    @property
    def corners(self) -> list[list[float]]:
        """The board's corners in the pictures, as people tap them: clockwise from the far left."""
        return [[float(x), float(y)] for x, y in self.photo(0).grid]

    @cached_property
    def _view(self) -> tuple[PinholeCamera, Light]:
        return random_view(self.seed, self._board(0))

    def _board(self, number: int) -> RenderedBoard:
        places = self.states[number].position()["places"]
        art = Art(self.seed, self.family)
        return RenderedBoard(places, columns=SIDE, rows=SIDE, art=art, seed=1000 * self.seed, square=90.0)

    def photo(self, number: int) -> BoardShot:
        """Return the rendered board after so many turns, with where it truly lies."""
        return shoot(self._board(number), *self._view, 100 + number)

    def picture(self, number: int) -> bytes:
        """Return the rendered board after so many turns, as JPEG."""
        return self.photo(number).jpeg

    def frames(self, number: int, count: int = 3) -> list[bytes]:
        """Return some pictures of the same board: each has a noise of its own, as a camera's have."""
        return noisy(self.picture(number), count, self.seed + number)
