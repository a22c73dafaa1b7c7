"""What a game says of itself for OpenSpiel, in a module of its name beside this one: its moves, and its length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, cast

from companion.rules import find_part, games
from companion.rules.core import JSON, State

Options = Mapping[str, JSON]

Texts = tuple[Iterator[str], Iterator[str]]
"""Decisions and chance, as text."""


class OpenSpielPart(Protocol):
    """The functions of a game's module."""

    @property
    def HIDDEN(self) -> bool:  # noqa: N802 - a constant of the module
        """Return whether players know what others do not."""
        ...

    def texts(self, state: State[Any]) -> Texts:
        """Return every move that there can be in a game that begins so, in the order of its numbers."""
        ...

    def broken_off(self, options: Options) -> int | None:
        """Return after how many decisions a game is broken off, or None where it always ends by itself."""
        ...

    def longest(self, players: int, options: Options) -> tuple[int, int]:
        """Return the most decisions, and the most steps of chance, that a game can have, by all its options."""
        ...


class InTurns(OpenSpielPart, Protocol):
    """The functions of a game in which at times all act at once: here they act one after the other."""

    def unasked(self, state: State[Any]) -> str | None:
        """Return the move that nobody decides and that happens at once, where anybody may move; else None."""
        ...

    def next_seat(self, state: State[Any], last: int | None) -> int:
        """Return who acts next; ``last``: who did before in the same round, None at its beginning."""
        ...

    def choices(self, state: State[Any], seat: int) -> list[Any]:
        """Return the moves of a seat."""
        ...


def in_turns(game_id: str) -> InTurns:
    """Return what a game says of itself in which anybody may move."""
    return cast("InTurns", part_of(game_id))


def part_of(game_id: str) -> OpenSpielPart:
    """Return what a game says of itself.

    :raises KeyError: when it is not played here.
    """
    found = find_part(__package__, game_id)
    if found is None:
        raise KeyError(game_id)
    return cast("OpenSpielPart", found)


def played_games() -> tuple[str, ...]:
    """Return the ids of the games that say so, in their order, examples last."""
    return tuple(game_id for game_id in games(examples=True) if find_part(__package__, game_id) is not None)


def colours_of(state: State[Any]) -> list[str]:
    """Return the colours of the seats in their order."""
    return [player["colour"] for player in state.position()["players"]]
