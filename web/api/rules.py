"""The API of the rulebooks: clauses, disputes, options, in every language."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, request

from companion.rules import game
from companion.rules.rulebook import Clause, Dispute, Rulebook, rulebook
from web.http.assets import packed
from web.http.openapi import ANYTHING, GAME, LANGUAGE, OBJECT, TEXT, documented, fields, listed, text
from web.http.responses import RefusedError, bad_field, json_body, json_response, languages
from web.http.sessions import companion, host
from web.i18n.language import choose

views = Blueprint("api_rules", __name__, url_prefix="/api/rules/<game_id>")

MAX_FOUND = 40
BOOK = fields(game=GAME, name=TEXT, clauses=listed(OBJECT), disputes=listed(OBJECT))
OPTIONS = fields(options=listed(OBJECT), layouts=listed(TEXT))


def _book(game_id: str) -> Rulebook:
    try:
        return rulebook(game_id)
    except KeyError:
        raise RefusedError(404, "no-game", "This game is not known here.") from None


def _language() -> str:
    language = request.args.get("lang", "")
    return language if language in languages() else choose()


def _form(item: Clause | Dispute, book: Rulebook) -> dict[str, Any]:
    form = item.to_json()
    if isinstance(item, Clause):
        form["book"] = book.rulebooks[item.rulebook].to_json()
    return form


@views.get("")
@documented(query={"lang": LANGUAGE}, answer=BOOK)
def whole(game_id: str) -> Response:
    """Answer with the whole rulebook in one language (``?lang=``, else the page's): clauses in order, and disputes."""
    book = _book(game_id)
    lang = _language()
    clauses = [
        {
            "id": one.id,
            "book": book.rulebooks[one.rulebook].of(lang),
            "heading": one.heading.of(lang),
            "text": one.text.of(lang),
            "note": one.note.of(lang),
            "status": one.status,
            "option": one.option,
        }
        for one in book.clauses.values()
    ]
    disputes = [
        {
            "id": one.id,
            "question": one.question.of(lang),
            "text": one.ruling.of(lang),
            "clauses": list(one.clauses),
            "status": one.status,
            "option": one.option,
        }
        for one in book.disputes.values()
    ]
    answer = {"game": game_id, "name": book.name.of(lang), "clauses": clauses, "disputes": disputes}
    return packed(json_response(answer))


@views.get("/clauses/<clause_id>")
@documented(answer=fields(id=TEXT, kind=TEXT, en=TEXT, fr=TEXT, status=TEXT))
def clause(game_id: str, clause_id: str) -> Response:
    """Answer with a clause, or a listed dispute, by its id."""
    book = _book(game_id)
    item = book.clauses.get(clause_id.upper()) or book.disputes.get(clause_id.upper())
    if item is None:
        raise RefusedError(404, "no-clause", "The rulebook has no such clause.")
    return json_response(_form(item, book))


@views.get("/search")
@documented(query={"q": text(200), "lang": LANGUAGE}, answer=fields(found=listed(OBJECT)))
def search(game_id: str) -> Response:
    """Answer with the clauses and disputes that speak of ``?q=WORDS`` (``&lang=``, else the page's language)."""
    book = _book(game_id)
    found = book.search(request.args.get("q", "")[:200], _language())
    return json_response({"found": [_form(item, book) for item in found[:MAX_FOUND]]})


@views.get("/options")
@documented(answer=OPTIONS)
def options(game_id: str) -> Response:
    """Answer with the questions that the table settles before a game, the default first; ``house``: how it voted.

    ``layouts`` are the names of the ways in which the boards may lie, where there are several.
    """
    book = _book(game_id)
    votes = companion().votes.of(game_id)
    options = []
    for option in game(game_id).options:
        text = book.option(option.name)
        options.append(
            {
                "name": option.name,
                "clause": option.clause,
                "question": text.question.to_json(),
                "house": votes.get(option.name),
                "values": [{"value": value, **text.value(value).to_json()} for value in option.values],
            }
        )
    return json_response({"options": options, "layouts": _layouts(game_id)})


def _layouts(game_id: str) -> list[str]:
    """Return the names of the ways in which the boards of a box may lie; none where a game has one board."""
    try:
        data = companion().boxes.form(game_id)["data"]
    except KeyError:
        return []
    return list(data.get("layouts", {})) if isinstance(data, dict) else []


@views.post("/votes")
@documented("host", body=fields(option=TEXT, value=ANYTHING), answer=OPTIONS)
def vote(game_id: str) -> Response:
    """Keep how the house voted where the rulebook is silent: ``{"option", "value"}``; the host only."""
    host()
    body = json_body()
    name, value = body.get("option"), body.get("value")
    _book(game_id)
    if not isinstance(name, str) or name not in {option.name for option in game(game_id).options}:
        raise bad_field("option")
    try:
        companion().votes.vote(name, value)
    except KeyError:
        raise bad_field("value") from None
    except OSError as error:
        raise RefusedError(503, "storage", "This could not be kept on the disk.") from error
    return options(game_id)
