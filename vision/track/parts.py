"""Games whose turns are entered in parts: as far as the board tells them, action by action."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from companion.rules.core import State
from companion.rules.inference.turns import Turn, search_of


def told_so_far(before: State[Any], turn: Turn) -> str:
    """Return the position after what the board tells of a turn; empty where it tells all of it.

    Turns that leave the same board stay apart where they lead to different positions before what it does not tell.
    """
    if turn.told is None or turn.told == len(turn.moves):
        return ""
    state = before
    for move in turn.moves[: turn.told]:
        state = state.after(move)
    return str(state.position())


def is_unseen(state: State[Any]) -> bool:
    """Return whether the next step is one that no picture of the board shows: a die, how many fish freeze."""
    test = getattr(search_of(state.game.id), "is_unseen", None)
    return test is not None and bool(test(state))


def entered_in_parts(state: State[Any]) -> bool:
    """Return whether turns of a state's game are entered in parts: what the board tells, action by action."""
    return hasattr(search_of(state.game.id), "is_unseen")


def is_half(before: State[Any], state: State[Any]) -> bool:
    """Return whether a turn still runs, in a game whose turns are entered in parts."""
    search: Any = search_of(before.game.id)
    return entered_in_parts(before) and search.turn_of(state) == search.turn_of(before)


def turn_starts(states: Sequence[State[Any]]) -> list[int]:
    """Return the numbers of those states of a record in which a turn begins, and that of the last one."""
    turn_of = getattr(search_of(states[-1].game.id), "turn_of", None)
    found: list[int] = []
    running: Any = None
    for number, state in enumerate(states):
        whose = turn_of(state) if turn_of is not None else state.view(None).get("turn")
        if whose != running or number == len(states) - 1:
            found.append(number)
        running = whose
    return found
