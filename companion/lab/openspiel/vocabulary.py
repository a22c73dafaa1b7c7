"""Every move there can be in a game, numbered: what a bot that knows nothing of the notation chooses from.

A number is the place of a move's text in a list that follows from the game and the number of players alone, so it is
the same in every process and by all options; decisions and chance are numbered apart. The lists are made of the words
of the notation, so they hold moves that no position allows, but every move that one does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from companion.lab.openspiel.part import part_of
from companion.rules import game
from companion.rules.core import State


@dataclass(frozen=True)
class Vocabulary:
    """The decisions and the outcomes of chance of a game for so many players; a number is a place in its row."""

    decisions: tuple[Any, ...]
    outcomes: tuple[Any, ...]
    decision_numbers: Mapping[Any, int]
    outcome_numbers: Mapping[Any, int]


@cache
def vocabulary(game_id: str, players: int) -> Vocabulary:
    """Return the numbered moves of a game for so many players.

    :raises SetupError: when there is no such game, or it is not for so many.
    """
    played = game(game_id)
    state = played.start(played.seats(players))
    decisions, outcomes = (_numbered(state, texts) for texts in part_of(game_id).texts(state))
    return Vocabulary(tuple(decisions), tuple(outcomes), decisions, outcomes)


def _numbered(state: State[Any], texts: Iterable[str]) -> dict[Any, int]:
    """Return each move of some texts with its number, in their order."""
    parse = state.game.parse
    return {move: number for number, move in enumerate(dict.fromkeys(map(parse, texts)))}
