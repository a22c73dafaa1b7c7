"""The API of the drawn boards: the picture and the moves as this phone may see them, disputes, and whose seat it is."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from flask import Blueprint, Response
from msgspec import Meta, field

from companion.night.views.position_editor import beginning
from companion.night.views.position_sheet import sheet
from companion.ports import BadDataError
from companion.rules.core import JSON, RulesError, SetupError
from web.http.openapi import documented
from web.http.requests import Body, GameId, Query
from web.http.responses import RefusedError, Sentence, bad_field, json_response, refusal
from web.http.sessions import companion, who
from web.i18n.language import InLanguage

views = Blueprint("api_board", __name__, url_prefix="/api")

LONGEST_MOVE = 80
LONGEST_PLACE = 20
LONGEST_LAYOUT = 40
MoveText = Annotated[str, Meta(max_length=LONGEST_MOVE)]
PlaceName = Annotated[str, Meta(max_length=LONGEST_PLACE)]


class BoardForm(TypedDict):
    """The board as :meth:`companion.night.commands.night.Night.board` has it; null where none is open."""

    board: dict[str, JSON] | None


class RulingsForm(TypedDict):
    """The referee's rulings, each with its sentences and clauses."""

    rulings: list[dict[str, JSON]]


class BoardQuery(InLanguage, frozen=True):
    """``open``: as everybody may see it, whatever seat this phone has."""

    open: Annotated[int, Meta(ge=0, le=1)] = 0


class DisputeQuery(InLanguage, frozen=True):
    """A move, or the places that were tapped, with commas between them."""

    move: MoveText = ""
    path: str = ""


class LayoutQuery(Query, frozen=True):
    """One of the ways in which the boards of a box may lie."""

    layout: Annotated[str, Meta(extra_json_schema={"maxLength": LONGEST_LAYOUT})] = ""


class LayingForm(TypedDict):
    """A position to begin with, the open match of this game or null, and what may be laid."""

    position: dict[str, JSON]
    table: dict[str, JSON] | None
    things: list[dict[str, JSON]]


class PositionRequest(Body, frozen=True):
    """A position in the one form of a board, and a move in it or places that were tapped."""

    position: dict[str, JSON]
    move: MoveText = ""
    path: list[PlaceName] = field(default_factory=list)


class SheetLine(TypedDict):
    """A line of a score sheet."""

    en: str
    fr: str
    points: int
    clauses: list[str]


class SheetPlayer(TypedDict):
    """A player's score sheet."""

    name: str
    colour: str
    total: int
    place: int
    lines: list[SheetLine]


class ClausedSentence(TypedDict):
    """A sentence with the clauses that it rests on."""

    en: str
    fr: str
    clauses: list[str]


class GestureForm(TypedDict):
    """A move that has no place."""

    text: str
    en: str
    fr: str


class PositionSheet(TypedDict):
    """What a position is worth, what is wrong with it, and what the referee says of a move in it."""

    ok: Literal[True]
    game: str
    svg: str
    players: list[SheetPlayer]
    ranking: list[list[int]]
    decided: ClausedSentence | None
    problems: list[ClausedSentence]
    ruling: dict[str, JSON] | None
    rulings: list[dict[str, JSON]]
    gestures: list[GestureForm]
    prompt: Sentence | None


def _colour() -> str | None:
    session = who()
    return None if session is None else session.colour


@views.get("/board")
@documented(packed=True)
def board(query: BoardQuery) -> BoardForm:
    """Answer with the board of the open match and its legal moves, as the seat of this phone may see them."""
    return {"board": companion().night.board(None if query.open else _colour(), query.language)}


@views.get("/board/dispute")
@documented(answer=RulingsForm, packed=True)
def dispute(query: DisputeQuery) -> Response:
    """Answer with the rulings on ``?move=TEXT``, or on what tapping ``?path=PLACE,PLACE`` may mean."""
    path = [place for place in query.path.split(",") if place]
    if any(len(place) > LONGEST_PLACE for place in path) or not (query.move or path):
        raise bad_field("move")
    try:
        rulings = companion().night.dispute(_colour(), query.language, path, query.move)
    except RulesError as error:
        return refusal(400, "no-move", error.words.to_json())
    except BadDataError as error:
        raise RefusedError(
            400, "no-move", "No ruling is given on this: no game is open, or a hand is hidden."
        ) from error
    return json_response({"rulings": rulings})


@views.get("/position/<game_id>")
@documented(answer=LayingForm, packed=True)
def laying(game_id: GameId, query: LayoutQuery) -> Response:
    """Answer with a position from which to lay one by hand, and with what may be laid in it.

    It has the options as this house voted and the box as its owner entered it; things have the ``id`` that a position
    says and their words. ``?layout=`` is one of the ways in which the boards of a box may lie. ``table`` is the open
    match of this game as this phone may see it, or null. What is laid goes to ``POST /api/position``.
    """
    if game_id not in companion().night.offered:
        raise RefusedError(404, "no-game", "This game is not known here.")
    setup = companion().boxes.setup(game_id) | ({"layout": query.layout} if query.layout else {})
    try:
        begun = beginning(game_id, companion().votes.of(game_id), setup)
    except SetupError as error:
        return refusal(400, "no-layout", error.words.to_json())
    table = companion().night.position(_colour())
    return json_response({**begun, "table": table if table is not None and table["game"] == game_id else None})


@views.post("/position")
@documented(answer=PositionSheet, packed=True)
def position(body: PositionRequest, query: InLanguage) -> Response:
    """Score a position that somebody set up: ``{"position", "move"?, "path"?}``; with a move also the ruling on it.

    The position is in the one form of a board (``companion/rules/README.md``); nothing is kept. ``path`` are places
    that were tapped instead of a move: then ``rulings`` are those on all that it may mean, as ``/api/board/dispute``
    gives them. A legal one has the position ``after`` it. ``gestures`` are moves that have no place.
    """
    try:
        return json_response({"ok": True, **sheet(body.position, query.language, body.move, body.path)})
    except RulesError as error:
        return refusal(400, "no-position", error.words.to_json())
