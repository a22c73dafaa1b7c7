"""Igloo Pop in OpenSpiel: its moves, and how long a game can last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

from companion.lab.openspiel.part import Options, Texts, colours_of
from companion.rules.core import State
from companion.rules.igloo_pop import CARDS, IGLOOS, PLACES, IglooPopState

HIDDEN: Final = False
BROKEN_OFF: Final = 2000
"""Decisions after which a game without an end of its own is broken off; random games end long before."""


def broken_off(options: Options) -> int | None:
    """Return after how many decisions a game is broken off; where thalers do not come back it always ends by itself."""
    return None if options["pop.none_match"] == "remove" else BROKEN_OFF


def longest(players: int, options: Options) -> tuple[int, int]:
    """Return the most decisions, and the most steps of chance, that a game can have.

    A round has up to twelve placements and a pass a player. In each but the last, a card is won (24 in the stack
    replace those that are) or an own thaler is lost (nine a player before somebody has none).
    """
    rounds = 24 + 9 * players + 1 + (options["pop.cards_end"] == "last_round")
    decisions = rounds * (12 + players)
    limit = broken_off(options)
    if limit is not None:
        # A round without a result has a placement at least.
        rounds = decisions = limit
    return decisions, 33 + 12 * rounds


def unasked(state: State[Any]) -> str | None:
    """Return the start of a round: it is nobody's decision."""
    return "start" if _pop(state).phase == "ready" else None


def next_seat(state: State[Any], last: int | None) -> int:
    """Return the next seat that may still place, clockwise, beginning one seat further in each round."""
    pop = _pop(state)
    players = len(pop.colours)
    seat = last + 1 if last is not None else (pop.round - 1) % players
    while pop.colours[seat % players] in pop.passed or not pop.own[pop.colours[seat % players]]:
        seat += 1
    return seat % players


def choices(state: State[Any], seat: int) -> list[Any]:
    """Return the placements of a seat, and passing unless nobody else can place and nobody has."""
    pop = _pop(state)
    colour = pop.colours[seat]
    alone = len(pop.passed) == len(pop.colours) - 1 and not any(pop.igloos.values())
    kinds = {"place"} if alone else {"place", "pass"}
    return [move for move in pop.moves() if move.colour == colour and move.kind in kinds]


def _pop(state: State[Any]) -> IglooPopState:
    return cast("IglooPopState", state)


def texts(state: State[Any]) -> Texts:
    """Return ``place``, ``pass``; and ``deal``, ``reveal``: announcing and the start of a round are nobody's choice."""
    colours = colours_of(state)

    def decisions() -> Iterator[str]:
        yield from (f"place {colour} {place}" for colour in colours for place in PLACES)
        yield from (f"pass {colour}" for colour in colours)

    def outcomes() -> Iterator[str]:
        yield from (f"deal {place} {'/'.join(map(str, card))}" for place in PLACES for card in CARDS)
        yield from (f"reveal {place} {number}" for place in PLACES for number in IGLOOS)

    return decisions(), outcomes()
