"""Ice Team in OpenSpiel: its moves, and how long a game can last."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any, Final

from companion.lab.openspiel.part import Options, Texts, colours_of
from companion.rules.core import State
from companion.rules.ice_team.components import DIE_FACES, FACES

HIDDEN: Final = False
BROKEN_OFF: Final = 5000
"""Decisions after which a game is broken off, for it has no end of its own; random games end long before."""


def broken_off(options: Options) -> int:
    """Return after how many decisions a game is broken off."""
    del options
    return BROKEN_OFF


def longest(players: int, options: Options) -> tuple[int, int]:
    """Return the most decisions, and the most steps of chance, that a game can have.

    Chance: 24 floes, who begins, a die for each of the eight igloos, two for each of the eight bears that come home.
    """
    del players
    return broken_off(options), 24 + 1 + 8 + 2 * 8


def texts(state: State[Any]) -> Texts:
    """Return all kinds of moves on the spaces of the layout that is played."""
    places = state.position()["places"]
    spaces = [name for name in places if name not in ("start", "village")]

    def decisions() -> Iterator[str]:
        for verb in ("walk", "leap", "swim"):
            yield from (f"{verb} {here} {there}" for here, there in permutations(places, 2))
        yield "stop"
        yield from (f"{verb} {die}" for verb in ("pick", "choose") for die in (1, 2))
        yield from (f"freeze {fish}" for fish in range(4))
        yield from (f"{verb} {space}" for verb in ("drift", "push") for space in spaces)

    def outcomes() -> Iterator[str]:
        yield from (f"floe {space} {face}" for space in spaces for face in FACES)
        yield from (f"first {colour}" for colour in colours_of(state))
        yield from (f"roll {die} {face}" for die in (1, 2) for face in DIE_FACES)

    return decisions(), outcomes()
