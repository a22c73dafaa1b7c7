"""Arctic in OpenSpiel: its moves, and how long a game can last."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any, Final

from companion.lab.openspiel.part import Options, Texts
from companion.rules.arctic.components import ANIMALS, SIDES, TEXT
from companion.rules.core import State

HIDDEN: Final = True
BROKEN_OFF: Final = 2000
"""Decisions after which a game is broken off, for it has no end of its own; random games end long before."""


def broken_off(options: Options) -> int:
    """Return after how many decisions a game is broken off."""
    del options
    return BROKEN_OFF


def longest(players: int, options: Options) -> tuple[int, int]:
    """Return the most decisions, and the most steps of chance, that a game can have.

    Chance: packs, power sides, totems, the first player, all cards.
    """
    return broken_off(options), players + 6 + players + 1 + 30 * players


def texts(state: State[Any]) -> Texts:
    """Return all kinds of moves with all cards and animals; nothing is hidden from the box."""
    cards = TEXT[:120]
    seats = [f"p{seat + 1}" for seat in range(len(state.position()["players"]))]
    arrows = [f"{animal}{way}" for animal in ANIMALS for way in "+-"]

    def decisions() -> Iterator[str]:
        yield from (f"place {card}{where}" for where in ("", " bottom", " under") for card in cards)
        yield from (f"swap {mine} {card}" for mine, card in permutations(cards, 2))
        yield from ("take-back", "value +1", "value -1")
        yield from (f"tokens {one} {other}" for one, other in permutations(arrows, 2) if one[:-1] != other[:-1])
        yield from (f"extra {way}" for way in arrows)
        yield from (f"{verb} {card}" for verb in ("draw", "draw-penalty", "discard") for card in cards)
        yield from ("draw-pile", "refill")
        yield from (f"give {card} {seat}" for card in cards for seat in seats)
        yield "end"

    def outcomes() -> Iterator[str]:
        yield from (f"pack {pack}" for pack in (1, 2, 3, 4))
        yield from (f"side {animal} {power}" for number, animal in enumerate(ANIMALS) for power in SIDES[number])
        yield from (f"totem {seat} {animal}" for seat in seats for animal in ANIMALS)
        yield from (f"first {seat}" for seat in seats)
        yield from (f"hand {seat} {card}" for seat in seats for card in cards)
        yield from (f"{verb} {card}" for verb in ("river", "penalty") for card in cards)

    return decisions(), outcomes()
