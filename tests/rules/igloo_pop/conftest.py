"""Tables to begin from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from companion.rules import game

CARDS = ["4/5", "6/7", "3/4/5", "2", "13", "8/9", "10/11/12", "12/13", "5"]


@pytest.fixture
def ready() -> Callable[..., Any]:
    """Make a table with nine cards laid; ``cards`` replaces the first of them, keywords are options."""

    def make(*colours: str, cards: tuple[str, ...] = (), **options: str) -> Any:
        players = [{"name": c.title(), "colour": c} for c in colours or ("red", "yellow", "green")]
        laid = list(cards) + [c for c in CARDS if c not in cards]
        chosen = {f"pop.{name}": value for name, value in options.items()}
        return game("igloo-pop").start(players, chosen, {"cards": laid[:9]})

    return make


@pytest.fixture
def shaking(ready: Callable[..., Any], play: Callable[..., Any]) -> Callable[..., Any]:
    """Make a table where the first round runs."""

    def make(*colours: str, cards: tuple[str, ...] = (), **options: str) -> Any:
        return play(ready(*colours, cards=cards, **options), "start")

    return make


@pytest.fixture
def checked(shaking: Callable[..., Any], play: Callable[..., Any]) -> Callable[..., Any]:
    """Play one card: stakes as (colour, number) go on card1, everybody passes, the numbers are revealed.

    Returns the state before the last reveal, the ruling on it, and the state after it.
    """

    def make(card: str, *stakes: tuple[str, int], **options: str) -> Any:
        colours = tuple(dict.fromkeys(colour for colour, _ in stakes))
        colours += tuple(c for c in ("blue", "black") if c not in colours)[: max(0, 2 - len(colours))]
        state = shaking(*colours, cards=(card,), **options)
        state = play(state, *(f"place {colour} card1" for colour, _ in stakes), *(f"pass {c}" for c in colours))
        state = play(state, *(f"reveal card1 {number}" for _, number in stakes[:-1]))
        last = state.game.parse(f"reveal card1 {stakes[-1][1]}")
        return state, state.check(last), state.play(last)

    return make
