"""What a position is made of: the phases, the table of the game, and its ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from companion.rules.core import JSON, Game, Problem
from companion.rules.igloo_pop.components import COLOURS, IGLOOS, PLACES
from companion.rules.igloo_pop.moves import IglooPopMove

DEAL: Final = 0
READY: Final = 1
SHAKING: Final = 2
CHECKING: Final = 3
OVER: Final = 4
PHASES: Final = ("deal", "ready", "shaking", "checking", "over")

EMPTY: Final = -1
UNKNOWN: Final = -2
"""A card lies there, but nobody told which."""

ALL: Final = len(IGLOOS)
CIRCLE: Final = len(PLACES)
BITS: Final = tuple(1 << who for who in range(len(COLOURS)))

BROKE: Final = 1
CARDS_OUT: Final = 2
SHORT_ROUND: Final = 4
NO_CARDS: Final = 8
"""How the game ended, as bits: POP-4.1; POP-4.2 in the French reading, in the English one, and with no card at all."""
ENDS: Final = {"thalers": BROKE, "cards": CARDS_OUT, "short-round": SHORT_ROUND, "no-cards": NO_CARDS}
"""The bits by their names in the one form of a board."""


class PopSetup(NamedTuple):
    """What never changes in a game. ``mask`` has a bit for each colour that is played."""

    game: Game[IglooPopMove]
    names: tuple[str, ...]
    colours: tuple[str, ...]
    seats: tuple[int, ...]
    mask: int
    options: tuple[tuple[str, JSON], ...]
    immediate: bool
    remove: bool


class Ledger(NamedTuple):
    """What changes only when cards are laid or settled, and at the ends of rounds.

    ``shown`` has a bit for each place with a card, ``seen`` one for each card that has been laid; ``removed`` is None
    where a position did not say which thalers left the game; ``flaws`` is what a position said and no state can hold.
    """

    round: int
    cards: tuple[int, ...]
    shown: int
    stack: int
    seen: int
    captured: tuple[int, ...]
    won: tuple[tuple[int, ...], ...]
    removed: tuple[int, ...] | None
    results: tuple[tuple[int, int, tuple[int, ...]], ...]
    short: bool
    ended: int
    flaws: tuple[Problem, ...]


def make_table(game: Game[IglooPopMove], players: tuple[tuple[str, str], ...], options: Mapping[str, JSON]) -> PopSetup:
    """Return the table of a game: ``players`` are (name, colour) in seat order, options are settled."""
    seats = tuple(COLOURS.index(colour) for _, colour in players)
    return PopSetup(
        game=game,
        names=tuple(name for name, _ in players),
        colours=tuple(colour for _, colour in players),
        seats=seats,
        mask=sum(BITS[who] for who in seats),
        options=tuple(sorted(options.items())),
        immediate=options["pop.cards_end"] == "immediate",
        remove=options["pop.none_match"] == "remove",
    )
