"""The drawn board of a match for one phone: the picture, the legal moves as taps, and disputes about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from companion.night.games import GameView
from companion.night.games.board import BoardView
from companion.night.log.match import Match
from companion.ports import BadDataError
from companion.rules.core import JSON, Ruling, State
from companion.rules.i18n import same
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
        "gestures": []
        if match.broken is not None
        else _gestures(view, state, blind=match.draw and seat != state.to_move),
        "about": view.about(state),
        "names": {place: words.of(lang) for place, words in view.places(state, seat).items()},
        "private": [words.to_json() for words in view.private(state, seat)] if seat is not None else [],
    }


def _gestures(view: BoardView, state: State[Any], *, blind: bool) -> list[dict[str, JSON]]:
    moves = [view.rules.parse(text) for text in view.gestures(state)]
    return [
        {"text": str(move), **view.name(state, move).to_json()}
        for move in moves
        if not (blind and view.secret(state, move))
    ]


def dispute(match: Match, colour: str | None, lang: str, path: Sequence[str], text: str) -> list[dict[str, JSON]]:
    """Return the rulings on a move by its text, or on what tapping these places may mean; the legal ones first.

    Each is ``{"move", "name": {"en", "fr"}, "legal", "clauses", "status", "option", "facts", "en", "fr", "svg",
    "cited"}``; ``cited`` are the clauses with rulebook and heading. A move that would tell a hidden hand is not
    looked at.

    :raises companion.rules.core.RulesError: for a text that is no move, in one sentence.
    :raises companion.ports.BadDataError: for a move of a hand that this phone may not see.
    """
    view, state = match.view, match.state
    seat = seat_of(match, colour)
    blind = match.draw and seat != state.to_move
    found: list[tuple[Any, Ruling]] = []
    if text:
        move = match.game.parse(text)
        if blind and view.secret(state, move):
            raise BadDataError("Only the phone that has taken this seat plays from its hand.")
        found = [(move, state.check(move))]
    elif isinstance(view, BoardView):
        found = view.dispute(state, path[:MOST_PLACES], blind=blind)
    return judged(view, state, found, lang, seat)


def judged(
    view: GameView, state: State[Any], found: Sequence[tuple[Any, Ruling]], lang: str, seat: int | None
) -> list[dict[str, JSON]]:
    """Return rulings as the page takes them: the move in words, the clauses, and the picture with its marks."""
    book = rulebook(state.game.id)
    return [
        {
            "move": str(move),
            "name": (view.name(state, move) if isinstance(view, BoardView) else same(str(move))).to_json(),
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
        found.append({**clause.to_json(), "book": book.rulebooks[clause.rulebook].to_json()})
    return found
