"""A position without a record: its picture, its score sheet, what is wrong with it, and a ruling on a move in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from companion.night.games import GameView, game_view
from companion.night.games.board import BoardView
from companion.night.views.boards import MOST_PLACES, cited, judged
from companion.rules import game
from companion.rules.core import JSON, SetupError, State
from companion.rules.rulebook import rulebook, seats


def sheet(position: Mapping[str, JSON], lang: str, text: str = "", path: Sequence[str] = ()) -> dict[str, JSON]:
    """Return what a position in the one form of a board is worth.

    ``{"game", "svg", "players": [{"name", "colour", "total", "place", "lines": [{"en", "fr", "points", "clauses"}]}],
    "ranking": [[seat …] …], "decided": null | {"en", "fr", "clauses"}, "problems": [{"en", "fr", "clauses"}],
    "ruling": null | {…, "cited"}, "rulings": [{…, "after"}], "gestures": [{"text", "en", "fr"}], "prompt"}``.

    ``text`` is a move on which a ruling is asked, and then marked in the picture; ``path`` are places that were tapped
    instead. ``rulings`` are those of :func:`companion.night.views.boards.dispute`, with the position that a legal move
    leads to; ``gestures`` are moves that have no place.

    :raises companion.rules.core.RulesError: when the form is broken or the text is no move, in one sentence.
    """
    game_id = position.get("game")
    try:
        rules = game(str(game_id))
    except KeyError:
        raise SetupError("There is no such game here.") from None
    state = rules.from_position(position)
    move = rules.parse(text) if text else None
    ruling = state.check(move) if move is not None else None
    book = rulebook(rules.id)
    view = game_view(rules.id)
    seat = view.turn(state) if isinstance(view, BoardView) and view.turn(state) >= 0 else None
    judgements = [(move, ruling)] if ruling is not None else []
    if move is None and isinstance(view, BoardView):
        judgements = view.dispute(state, path[:MOST_PLACES], blind=False)
    names, colours = seats(state)
    found = state.score()
    decided = state.ranking_reason
    why = book.ruling(True, decided, state) if decided is not None else None
    return {
        "game": rules.id,
        "svg": view.draw(state, lang, seat, move),
        "players": [
            {
                "name": names[one.player] if one.player < len(names) else "",
                "colour": colours[one.player] if one.player < len(colours) else f"p{one.player + 1}",
                "total": one.total,
                "place": found.ranks[one.player],
                "lines": [
                    {
                        **book.line_words(line, names=names, colours=colours).to_json(),
                        "points": line.points,
                        "clauses": list(line.clauses),
                    }
                    for line in one.lines
                ],
            }
            for one in found.sheets
        ],
        "ranking": [list(place) for place in found.ranking],
        "decided": None if why is None else {**why.words.to_json(), "clauses": list(why.clauses)},
        "problems": [
            {**book.problem_words(one, state).to_json(), "clauses": list(one.clauses)} for one in state.problems()
        ],
        "ruling": None if ruling is None else {"move": text, **ruling.to_json(), "cited": cited(book, ruling)},
        "rulings": [
            {**form, "after": state.play(tried).position() if one.legal else None}
            for form, (tried, one) in zip(judged(view, state, judgements, lang, seat), judgements, strict=True)
        ],
        "gestures": _gestures(view, state),
        "prompt": view.prompt(state).to_json() if isinstance(view, BoardView) else None,
    }


MOST_STEPS = 24
"""Legal steps without a place that are offered; where there are more, the cards are to be named first."""


def _gestures(view: GameView, state: State[Any]) -> list[dict[str, JSON]]:
    """Return what can be said without tapping a place, legal or not: each ``{"text", "en", "fr"}``."""
    if not isinstance(view, BoardView):
        return []
    said = {text: view.name(state, view.rules.parse(text)) for text in view.gestures(state)}
    placeless = [
        move for move in view.offered(state, list(state.moves()), drawn=False) if not view.tap(state, move).path
    ]
    if len(placeless) <= MOST_STEPS:
        said = {**{str(move): view.name(state, move) for move in placeless}, **said}
    return [{"text": text, **words.to_json()} for text, words in said.items()]
