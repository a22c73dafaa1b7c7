"""A position without a record: its picture, its score sheet, what is wrong with it, and a ruling on a move in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from companion.night.boards import cited
from companion.night.views import game_view
from companion.night.views.board import BoardView
from companion.rules import game
from companion.rules.core import JSON, SetupError, State
from companion.rules.rulebook import rulebook, seats


def sheet(position: Mapping[str, JSON], lang: str, text: str = "") -> dict[str, JSON]:
    """Return what a position in the one form of a board is worth.

    ``{"game", "svg", "players": [{"name", "colour", "total", "lines": [{"en", "fr", "points", "clauses"}]}],
    "ranking": [[seat …] …], "decided": null | {"en", "fr", "clauses"}, "problems": [{"en", "fr", "clauses"}],
    "ruling": null | {…, "cited"}}``; ``text`` is a move on which a ruling is asked, and then marked in the picture.

    :raises companion.rules.core.RulesError: when the form is broken or the text is no move, in one sentence.
    """
    game_id = position.get("game")
    try:
        rules = game(str(game_id))
    except KeyError:
        raise SetupError("There is no such game here.", "Ce jeu n’existe pas ici.") from None
    state = rules.from_position(position)
    move = rules.parse(text) if text else None
    ruling = state.check(move) if move is not None else None
    book = rulebook(rules.id)
    names, colours = seats(state)
    found = state.score()
    decided = state.ranking_reason
    why = book.ruling(True, decided, state) if decided is not None else None
    return {
        "game": rules.id,
        "svg": _drawn(state, lang, move),
        "players": [
            {
                "name": names[one.player] if one.player < len(names) else "",
                "colour": colours[one.player] if one.player < len(colours) else f"p{one.player + 1}",
                "total": one.total,
                "lines": [
                    {
                        **{code: book.line(line, code, names=names, colours=colours) for code in ("en", "fr")},
                        "points": line.points,
                        "clauses": list(line.clauses),
                    }
                    for line in one.lines
                ],
            }
            for one in found.sheets
        ],
        "ranking": [list(place) for place in found.ranking],
        "decided": None if why is None else {"en": why.en, "fr": why.fr, "clauses": list(why.clauses)},
        "problems": [
            {**{code: book.problem(one, state, code) for code in ("en", "fr")}, "clauses": list(one.clauses)}
            for one in state.problems()
        ],
        "ruling": None if ruling is None else {"move": text, **ruling.to_json(), "cited": cited(book, ruling)},
    }


def _drawn(state: State[Any], lang: str, move: Any) -> str:
    view = game_view(state.game.id)
    if isinstance(view, BoardView):
        return view.draw(state, lang, None, move)
    from companion.rules.igloo_pop.svg import draw  # noqa: PLC0415 - a game's picture is drawn when somebody asks

    return draw(cast("Any", state), move, lang)
