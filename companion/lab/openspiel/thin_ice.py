"""Thin Ice in OpenSpiel: its moves, and how long a game can last."""

from __future__ import annotations

from typing import Any, Final

from companion.lab.openspiel.part import Options, Texts
from companion.rules.core import State
from companion.rules.thin_ice.state import DICE, PUTS

HIDDEN: Final = False


def broken_off(options: Options) -> None:
    """Return None: on nine floes a game always ends."""
    del options


def longest(players: int, options: Options) -> tuple[int, int]:
    """Return the most decisions, and the most steps of chance: each floe takes one of both."""
    del players, options
    return len(PUTS), len(PUTS)


def texts(state: State[Any]) -> Texts:
    """Return a put for each floe, and the faces of the die."""
    del state
    return map(str, PUTS), map(str, DICE)
