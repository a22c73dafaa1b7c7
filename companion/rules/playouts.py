"""Random legal games: for ``companion playout``, for tests and for measuring."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, Final

from companion.rules.core import CHANCE, JSON, NOBODY, Game, State
from companion.rules.record import Header, Record

LONGEST: Final = 20_000
"""Random games are far shorter; a longer one would go on for ever."""


def playout(
    played: Game[Any], count: int, rng: Random, options: Mapping[str, JSON] | None = None
) -> tuple[Record, State[Any]]:
    """Return a random legal game for ``count`` players as a record, and its last state.

    Chance draws as the box would; players choose evenly among their legal moves.

    :raises SetupError: when the game is not for so many, or does not know an option.
    """
    players = played.seats(count)
    settled = played.settled_options(options)
    state: State[Any] = played.start(players, settled)
    moves: list[str] = []
    while state.to_move != NOBODY and len(moves) < LONGEST:
        move = state.chance(rng) if state.to_move == CHANCE else rng.choice(list(state.moves()))
        state = state.play(move)
        moves.append(str(move))
    return Record(Header(played.id, tuple(players), settled), tuple(moves)), state
