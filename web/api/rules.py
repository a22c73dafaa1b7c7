"""The API of the rulebooks: clauses, disputes, options, in every language."""

from __future__ import annotations

from functools import lru_cache
from typing import TypedDict

from flask import Blueprint

from companion.night.games import game_view
from companion.rules import game
from companion.rules.clause_search import thesaurus
from companion.rules.core import JSON
from companion.rules.learn import has_lesson, lesson
from companion.rules.rulebook import Clause, Dispute, Rulebook, rulebook
from web.http.openapi import documented
from web.http.requests import Body, GameId
from web.http.responses import RefusedError, Sentence, bad_field
from web.http.sessions import companion
from web.i18n.language import InLanguage

views = Blueprint("api_rules", __name__, url_prefix="/api/rules/<game_id>")

MAX_FOUND = 40


class ClauseForm(TypedDict):
    """A clause of a rulebook in one language; ``option`` is what the table decides in it, or null."""

    id: str
    book: str
    heading: str
    text: str
    note: str
    status: str
    option: str | None


class DisputeForm(TypedDict):
    """A listed dispute in one language."""

    id: str
    question: str
    text: str
    clauses: list[str]
    status: str
    option: str | None


class BookForm(TypedDict):
    """A whole rulebook in one language; ``usual`` are questions that most tables have."""

    game: str
    name: str
    usual: list[str]
    clauses: list[ClauseForm]
    disputes: list[DisputeForm]


class FoundWords(TypedDict):
    """Clauses and disputes with their words in every language."""

    found: list[dict[str, JSON]]


class ClauseWords(TypedDict):
    """A clause, or a listed dispute, with its words in every language."""

    id: str
    kind: str
    en: str
    fr: str
    status: str


class OptionForm(TypedDict):
    """A question that the table settles before a game; each of ``values`` has its ``value`` beside its words."""

    name: str
    clause: str
    question: Sentence
    house: JSON
    values: list[dict[str, JSON]]


class OptionsForm(TypedDict):
    """The questions before a game, and the names of the ways in which the boards may lie."""

    options: list[OptionForm]
    layouts: list[str]


class TriedForm(TypedDict):
    """What the referee says to a move that a guided first game tries."""

    words: Sentence
    clauses: list[str]


class LessonForm(TypedDict):
    """A step of a guided first game; ``steps``: how many there are.

    ``svg`` is the table after it. Where the reader taps ``tap`` first, ``before`` is how it looked till then.
    """

    steps: int
    title: dict[str, str]
    text: dict[str, str]
    ask: dict[str, str] | None
    tap: str | None
    clauses: list[str]
    tried: TriedForm | None
    before: str | None
    svg: str


class WordsQuery(InLanguage, frozen=True):
    """What is looked for, and in which language."""

    q: str = ""


class HouseVote(Body, frozen=True):
    """How the house voted on an option."""

    option: str
    value: JSON = None


def _book(game_id: str) -> Rulebook:
    try:
        return rulebook(game_id)
    except KeyError:
        raise RefusedError(404, "no-game", "This game is not known here.") from None


def _form(item: Clause | Dispute, book: Rulebook) -> dict[str, JSON]:
    form = item.to_json()
    if isinstance(item, Clause):
        form["book"] = book.rulebooks[item.rulebook].to_json()
    return form


@views.get("")
@documented(packed=True)
def whole(game_id: GameId, query: InLanguage) -> BookForm:
    """Answer with the whole rulebook in one language (``?lang=``, else the page's): clauses in order, and disputes."""
    book = _book(game_id)
    lang = query.language
    clauses: list[ClauseForm] = [
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
    disputes: list[DisputeForm] = [
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
    usual = list(thesaurus(game_id, lang).usual)
    return {"game": game_id, "name": book.name.of(lang), "usual": usual, "clauses": clauses, "disputes": disputes}


@views.get("/clauses/<clause_id>")
@documented(answer=ClauseWords)
def clause(game_id: GameId, clause_id: str) -> dict[str, JSON]:
    """Answer with a clause, or a listed dispute, by its id."""
    book = _book(game_id)
    item = book.clauses.get(clause_id.upper()) or book.disputes.get(clause_id.upper())
    if item is None:
        raise RefusedError(404, "no-clause", "The rulebook has no such clause.")
    return _form(item, book)


@views.get("/search")
@documented()
def search(game_id: GameId, query: WordsQuery) -> FoundWords:
    """Answer with the clauses and disputes that speak of ``?q=WORDS`` (``&lang=``, else the page's language)."""
    book = _book(game_id)
    found = book.search(query.q[:200], query.language)
    return {"found": [_form(item, book) for item in found[:MAX_FOUND]]}


@views.get("/learn/<step>")
@documented(packed=True)
def learn(game_id: GameId, step: str, query: InLanguage) -> LessonForm:
    """Answer with a step (0, 1 …) of a game's guided first game, its pictures in the reader's language."""
    _book(game_id)
    steps = lesson(game_id) if has_lesson(game_id) else ()
    if not step.isascii() or not step.isdigit() or len(step) > 3 or int(step) >= len(steps):
        raise RefusedError(404, "no-lesson", "The guided first game has no such step.")
    return _lesson(game_id, int(step), query.language)


@lru_cache(maxsize=256)
def _lesson(game_id: str, step: int, lang: str) -> LessonForm:
    steps = lesson(game_id)
    told, draw = steps[step], game_view(game_id).draw
    ruling = told.ruling
    return {
        "steps": len(steps),
        "title": dict(told.title),
        "text": dict(told.text),
        "ask": None if told.ask is None else dict(told.ask),
        "tap": told.tap,
        "clauses": list(told.clauses),
        "tried": None if ruling is None else {"words": ruling.words.to_json(), "clauses": list(ruling.clauses)},
        "before": draw(told.before, lang, 0) if told.tap else None,
        "svg": draw(told.after, lang, 0),
    }


@views.get("/options")
@documented(packed=True)
def options(game_id: GameId) -> OptionsForm:
    """Answer with the questions that the table settles before a game, the default first; ``house``: how it voted.

    ``layouts`` are the names of the ways in which the boards may lie, where there are several.
    """
    return _options(game_id)


def _options(game_id: str) -> OptionsForm:
    book = _book(game_id)
    votes = companion().votes.of(game_id)
    options: list[OptionForm] = []
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
    return {"options": options, "layouts": _layouts(game_id)}


def _layouts(game_id: str) -> list[str]:
    """Return the names of the ways in which the boards of a box may lie; none where a game has one board."""
    try:
        data = companion().boxes.form(game_id)["data"]
    except KeyError:
        return []
    return list(data.get("layouts", {})) if isinstance(data, dict) else []


@views.post("/votes")
@documented("host")
def vote(game_id: GameId, body: HouseVote) -> OptionsForm:
    """Keep how the house voted where the rulebook is silent: ``{"option", "value"}``; the host only."""
    _book(game_id)
    if body.option not in {option.name for option in game(game_id).options}:
        raise bad_field("option")
    try:
        companion().votes.vote(body.option, body.value)
    except KeyError:
        raise bad_field("value") from None
    except OSError as error:
        raise RefusedError(503, "storage", "This could not be saved to the disk.") from error
    return _options(game_id)
