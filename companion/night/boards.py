"""The drawn board of a match for one phone: the picture, the legal moves as taps, and disputes about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from companion.night.fold import Match
from companion.night.views.board import BoardView
from companion.ports import BadDataError
from companion.rules.core import JSON, RulesError, Ruling
from companion.rules.rulebook import Rulebook, rulebook

MOST_PLACES = 4
"""Places in one dispute."""


def seat_of(match: Match, colour: str | None) -> int | None:
    """Return the seat that a phone has taken, None for one that only looks on."""
    return match.colours.index(colour) if colour in match.colours else None


def board(match: Match, colour: str | None, lang: str) -> dict[str, JSON] | None:
    """Return the picture and the moves as a phone with this seat may see them; None where the game has no board."""
    view = match.view
    if not isinstance(view, BoardView):
        return None
    seat = seat_of(match, colour)
    state = match.state
    return {
        "match": match.id,
        "seat": colour if seat is not None else None,
        "svg": view.draw(state, lang, seat),
        "moves": view.taps(state, seat, drawn=match.draw) if match.broken is None else [],
        "about": view.about(state),
        "private": [words._asdict() for words in view.private(state, seat)] if seat is not None else [],
    }


def dispute(match: Match, colour: str | None, lang: str, path: Sequence[str], text: str) -> list[dict[str, JSON]]:
    """Return the rulings on a move by its text, or on what tapping these places may mean; the legal ones first.

    Each is ``{"move", "legal", "clauses", "status", "option", "facts", "en", "fr", "svg", "cited"}``; ``cited`` are
    the clauses with rulebook and heading. A move that would tell a hidden hand is not looked at.

    :raises companion.ports.BadDataError: for a text that is no move, in one sentence.
    """
    view = match.view
    if not isinstance(view, BoardView):
        raise BadDataError("This game has no board to tap.")
    state = match.state
    if text:
        try:
            move = match.game.parse(text)
        except RulesError as error:
            raise BadDataError(error.en) from error
        if match.draw and view.secret(state, move) and seat_of(match, colour) != state.to_move:
            raise BadDataError("Only the phone that has taken this seat plays from its hand.")
        found = [(move, state.check(move))]
    else:
        found = view.dispute(state, path[:MOST_PLACES])
    seat = seat_of(match, colour)
    book = rulebook(match.game.id)
    return [
        {
            "move": str(move),
            **ruling.to_json(),
            "svg": view.draw(state, lang, seat, move),
            "cited": cited(book, ruling),
        }
        for move, ruling in found
    ]


def cited(book: Rulebook, ruling: Ruling) -> list[Mapping[str, JSON]]:
    """Return the clauses of a ruling with rulebook, heading and words."""
    found: list[Mapping[str, Any]] = []
    for name in ruling.clauses:
        clause = book.clauses[name]
        found.append({**clause.to_json(), "book": book.rulebooks[clause.rulebook]._asdict()})
    return found
