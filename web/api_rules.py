"""The API of the rulebooks: clauses, disputes, options, in both languages."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, request

from companion.rules import game
from companion.rules.rulebook import Clause, Dispute, Rulebook, rulebook
from web.answers import LANGUAGES, RefusedError, json_response
from web.language import choose

views = Blueprint("api_rules", __name__, url_prefix="/api/rules/<game_id>")

MAX_FOUND = 40


def _book(game_id: str) -> Rulebook:
    try:
        return rulebook(game_id)
    except KeyError:
        raise RefusedError(404, "no-game", "This game is not known here.") from None


def _form(item: Clause | Dispute, book: Rulebook) -> dict[str, Any]:
    form = item.to_json()
    if isinstance(item, Clause):
        form["book"] = book.rulebooks[item.rulebook]._asdict()
    return form


@views.get("/clauses/<clause_id>")
def clause(game_id: str, clause_id: str) -> Response:
    """Answer with a clause, or a listed dispute, by its id."""
    book = _book(game_id)
    item = book.clauses.get(clause_id.upper()) or book.disputes.get(clause_id.upper())
    if item is None:
        raise RefusedError(404, "no-clause", "The rulebook has no such clause.")
    return json_response(_form(item, book))


@views.get("/search")
def search(game_id: str) -> Response:
    """Answer with the clauses and disputes that speak of ``?q=WORDS`` (``&lang=``, else the page's language)."""
    book = _book(game_id)
    asked = request.args.get("lang", "")
    found = book.search(request.args.get("q", "")[:200], asked if asked in LANGUAGES else choose())
    return json_response({"found": [_form(item, book) for item in found[:MAX_FOUND]]})


@views.get("/options")
def options(game_id: str) -> Response:
    """Answer with the questions that the table settles before a game, the default first."""
    book = _book(game_id)
    asked = []
    for option in game(game_id).options:
        text = book.option(option.name)
        asked.append(
            {
                "name": option.name,
                "clause": option.clause,
                "question": text.question._asdict(),
                "values": [{"value": value, **text.value(value)._asdict()} for value in option.values],
            }
        )
    return json_response({"options": asked})
