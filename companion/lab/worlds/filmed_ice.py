"""A game of Ice Team as a camera sees it: a random game in moves, and rendered pictures of its boards.

Players here do what can be told from the board at the end of a turn: no two actions end where one would have ended, or
where the turn began.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any

from companion.lab.worlds.board import BoardShot
from companion.lab.worlds.boards import players
from companion.lab.worlds.filmed import noisy
from companion.lab.worlds.ice_table import GAME, IceTable
from companion.rules import game
from companion.rules.core import CHANCE, State
from companion.rules.ice_team.inference.likelihood import is_unseen
from companion.rules.inference.turns import content

LESSONS, ANOTHER = (8, 22, 40), 1000
"""After so many turns the positions that are taught beside the set-up lie; of the game with a seed so much larger."""
TRIES = 60
"""Turns that are tried for one that the board tells; a position may have none."""


@dataclass(frozen=True)
class FilmedIce:
    """A game of at most ``turns`` turns for two: ``set_up`` are its first moves, ``played`` those of each turn."""

    seed: int
    turns: int
    family: int = 0
    """The family of the art; see :class:`companion.lab.worlds.board_art.Art`."""
    roundabout: bool = False
    """Whether players may also do what the board does not tell."""
    evening: bool = True
    """Whether positions of another evening are taught beside the set-up."""
    game: str = GAME
    setup: dict[str, Any] = field(default_factory=dict)
    set_up: list[str] = field(default_factory=list)
    played: list[list[str]] = field(default_factory=list)
    states: list[State[Any]] = field(default_factory=list)
    """The position after the set-up and after each turn."""

    def __post_init__(self) -> None:
        rng = Random(self.seed)
        state: Any = game(GAME).start(players(GAME), None, self.setup)
        while state.phase == "setup":
            move = state.chance(rng)
            self.set_up.append(str(move))
            state = state.after(move)
        self.states.append(state)
        while len(self.played) < self.turns and state.outcome() is None:
            moves, state = self._turn(state, rng)
            self.played.append(moves)
            self.states.append(state)

    def _turn(self, before: Any, rng: Random) -> tuple[list[str], Any]:
        moves: list[str] = []
        state = before
        for _ in range(TRIES):
            moves, state = [], before
            while state.outcome() is None and state.seat == before.seat:
                move = state.chance(rng) if state.to_move == CHANCE else _chosen(state, rng)
                moves.append(str(move))
                state = state.after(move)
            if self.roundabout or board(state) not in shorter(before):
                break
        return moves, state

    @cached_property
    def _table(self) -> IceTable:
        return IceTable(self.seed, self.family)

    def photo(self, number: int) -> BoardShot:
        """Return the rendered board after so many turns, with where it truly lies."""
        return self.shot(self.states[number], 100 + number)

    def shot(self, state: Any, noise: int) -> BoardShot:
        """Return any position on this table."""
        return self._table.photo(state.position()["places"], noise, moved=0.0)

    @cached_property
    def lessons(self) -> tuple[tuple[bytes, State[Any]], ...]:
        """Three positions of another evening on this table, as JPEG, with bears on floes and in the Village."""
        if not self.evening:
            return ()
        states = FilmedIce(self.seed + ANOTHER, LESSONS[-1]).states
        chosen = [states[min(number, len(states) - 1)] for number in LESSONS]
        return tuple((self.shot(state, 500 + number).jpeg, state) for number, state in enumerate(chosen))

    def picture(self, number: int) -> bytes:
        """Return the rendered board after so many turns, as JPEG."""
        return self.photo(number).jpeg

    @property
    def corners(self) -> list[list[float]]:
        """The board's corners in the pictures, as people tap them: clockwise from the far left."""
        return [[float(x), float(y)] for x, y in self.photo(0).grid]

    def frames(self, number: int, count: int = 3) -> list[bytes]:
        """Return some pictures of the same board: each has a noise of its own, as a camera's have."""
        return noisy(self.picture(number), count, self.seed + number)


def board(state: Any) -> tuple[Any, ...]:
    """Return what a picture shows of a position."""
    return tuple(sorted((name, content(place)) for name, place in state.position()["places"].items()))


def shorter(before: Any) -> set[tuple[Any, ...]]:
    """Return the boards that no action, or one, of the turn leads to; nothing on a board depends on fish."""
    found, waiting = {board(before)}, [before]
    while waiting:
        state = waiting.pop()
        for move in state.moves():
            new = state.after(move)
            if new.outcome() is None and new.seat == before.seat:
                if new.phase == "act" and new.actions < before.actions:
                    found.add(board(new))
                else:
                    waiting.append(new)
            if is_unseen(state):
                break
    return found


def _chosen(state: Any, rng: Random) -> Any:
    """Return a step, rather one that leads on: towards the Village, as players do."""
    moves = list(state.moves())
    if state.phase != "act":
        return rng.choice(moves)
    onward = [move for move in moves if _column(state, move.b) > _column(state, move.a)]
    return rng.choice(onward or moves) if rng.random() < 0.75 else rng.choice(moves)


def _column(state: Any, name: str) -> int:
    layout = state.table.layout
    return -1 if name == "start" else 99 if name == "village" else int(layout.names.index(name) // 9)
