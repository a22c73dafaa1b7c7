"""A guided first game: a script of steps that the rules play, each with what it teaches.

A game's folder may hold ``learn.json``::

    {"players": [{"name", "colour"?} …], "setup": {…}?, "steps": [
      {"title": {"en", "fr", …}, "text": {…}, "clauses": ["POP-1.1" …],
       "moves": ["deal card1 2" …]?, "ask": {…}?, "tap": "card5"?, "try": "reveal card5 5"?}
    ]}

The moves of a step are played before its text is read. With ``ask`` the reader first taps the place ``tap``; ``try``
is a move that the rules refuse, and their answer is shown. A language that a text lacks is English.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from companion.rules import game
from companion.rules.core import Ruling, State

Text = Mapping[str, str]
"""A text by language; English is always there."""
NAME = "learn.json"


@dataclass(frozen=True, slots=True)
class LessonStep:
    """A step: how the table stands ``before`` and ``after`` its moves, and what is said of them.

    ``ruling`` is the referee's answer to a move that is tried, and refused.
    """

    title: Text
    text: Text
    clauses: tuple[str, ...]
    before: State[Any]
    after: State[Any]
    ask: Text | None = None
    tap: str | None = None
    ruling: Ruling | None = None


def _file(game_id: str) -> Path:
    return Path(__file__).parent / game_id.replace("-", "_") / NAME


def has_lesson(game_id: str) -> bool:
    """Return whether a game has a guided first game."""
    return _file(game_id).is_file()


@cache
def lesson(game_id: str) -> tuple[LessonStep, ...]:
    """Return the steps of a game's guided first game, each played by the rules.

    :raises KeyError: when the game is unknown, or has none.
    :raises companion.rules.core.RulesError: when the rules refuse a move of the script.
    :raises ValueError: when they allow the one that they are to refuse.
    """
    rules = game(game_id)
    if not has_lesson(game_id):
        raise KeyError(game_id)
    script = json.loads(_file(game_id).read_text(encoding="utf-8"))
    state: State[Any] = rules.start(script["players"], rules.settled_options(None), script.get("setup"))
    steps: list[LessonStep] = []
    for told in script["steps"]:
        before = state
        for text in told.get("moves", ()):
            state = state.play(rules.parse(text))
        ruling = state.check(rules.parse(told["try"])) if "try" in told else None
        if ruling is not None and ruling.legal:
            raise ValueError(f"{game_id}: {told['try']} is to be refused, and is legal")
        clauses = tuple(told["clauses"])
        steps.append(
            LessonStep(told["title"], told["text"], clauses, before, state, told.get("ask"), told.get("tap"), ruling)
        )
    return tuple(steps)
