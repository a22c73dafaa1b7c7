"""The API of the drawn boards: the picture and the moves as this phone may see them, disputes, and whose seat it is."""

from __future__ import annotations

from flask import Blueprint, Response, request

from companion.night.answers import Role
from companion.night.views.position_editor import beginning
from companion.night.views.position_sheet import sheet
from companion.ports import BadDataError
from companion.rules.core import RulesError, SetupError
from web.http.assets import packed
from web.http.openapi import (
    COLOUR,
    GAME,
    LANGUAGE,
    OBJECT,
    TEXT,
    WHOLE,
    choice,
    documented,
    fields,
    listed,
    maybe,
    text,
)
from web.http.responses import RefusedError, bad_field, json_body, json_response, languages, refusal, text_field
from web.http.sessions import companion, me, member, who
from web.i18n.language import choose

views = Blueprint("api_board", __name__, url_prefix="/api")

LONGEST_MOVE = 80
LONGEST_PLACE = 20
LONGEST_LAYOUT = 40


def _language() -> str:
    language = request.args.get("lang", "")
    return language if language in languages() else choose()


def _colour() -> str | None:
    session = who()
    return None if session is None else session.colour


@views.get("/board")
@documented(query={"lang": LANGUAGE}, answer=fields(board=maybe(OBJECT)))
def board() -> Response:
    """Answer with the board of the open match and its legal moves, as the seat of this phone may see them."""
    found = companion().night.board(_colour(), _language())
    return packed(json_response({"board": found}))


@views.get("/board/dispute")
@documented(query={"move": text(LONGEST_MOVE), "path": TEXT, "lang": LANGUAGE}, answer=fields(rulings=listed(OBJECT)))
def dispute() -> Response:
    """Answer with the rulings on ``?move=TEXT``, or on what tapping ``?path=PLACE,PLACE`` may mean."""
    text = request.args.get("move", "")
    path = [place for place in request.args.get("path", "").split(",") if place]
    if len(text) > LONGEST_MOVE or any(len(place) > LONGEST_PLACE for place in path) or not (text or path):
        raise bad_field("move")
    try:
        rulings = companion().night.dispute(_colour(), _language(), path, text)
    except RulesError as error:
        return refusal(400, "no-move", error.words.to_json())
    except BadDataError as error:
        raise RefusedError(
            400, "no-move", "No ruling is given on this: no game is open, or a hand is hidden."
        ) from error
    return packed(json_response({"rulings": rulings}))


@views.get("/position/<game_id>")
@documented(
    query={"layout": text(LONGEST_LAYOUT)}, answer=fields(position=OBJECT, table=maybe(OBJECT), things=listed(OBJECT))
)
def laying(game_id: str) -> Response:
    """Answer with a position from which to lay one by hand, and with what may be laid in it.

    It has the options as this house voted and the box as its owner entered it; things have the ``id`` that a position
    says and their words. ``?layout=`` is one of the ways in which the boards of a box may lie. ``table`` is the open
    match of this game as this phone may see it, or null. What is laid goes to ``POST /api/position``.
    """
    if game_id not in companion().night.offered:
        raise RefusedError(404, "no-game", "This game is not known here.")
    layout = request.args.get("layout", "")
    setup = companion().boxes.setup(game_id) | ({"layout": layout} if layout else {})
    try:
        begun = beginning(game_id, companion().votes.of(game_id), setup)
    except SetupError as error:
        return refusal(400, "no-layout", error.words.to_json())
    table = companion().night.position(_colour())
    return packed(json_response({**begun, "table": table if table is not None and table["game"] == game_id else None}))


@views.post("/position")
@documented(
    query={"lang": LANGUAGE},
    body=fields(("move", "path"), position=OBJECT, move=text(LONGEST_MOVE), path=listed(text(LONGEST_PLACE))),
    answer=fields(
        ok=choice(True),
        game=GAME,
        svg=TEXT,
        players=listed(OBJECT),
        ranking=listed(listed(WHOLE)),
        decided=maybe(OBJECT),
        problems=listed(OBJECT),
        ruling=maybe(OBJECT),
        rulings=listed(OBJECT),
        gestures=listed(OBJECT),
        prompt=maybe(OBJECT),
    ),
)
def position() -> Response:
    """Score a position that somebody set up: ``{"position", "move"?, "path"?}``; with a move also the ruling on it.

    The position is in the one form of a board (``companion/rules/README.md``); nothing is kept. ``path`` are places
    that were tapped instead of a move: then ``rulings`` are those on all that it may mean, as ``/api/board/dispute``
    gives them. A legal one has the position ``after`` it. ``gestures`` are moves that have no place.
    """
    body = json_body()
    position, text = body.get("position"), text_field(body, "move", LONGEST_MOVE, "")
    path = body.get("path", [])
    if not isinstance(position, dict):
        raise bad_field("position")
    if not isinstance(path, list) or not all(isinstance(one, str) and len(one) <= LONGEST_PLACE for one in path):
        raise bad_field("path")
    try:
        return packed(json_response({"ok": True, **sheet(position, _language(), text, path)}))
    except RulesError as error:
        return refusal(400, "no-position", error.words.to_json())


@views.post("/seat")
@documented("player", body=fields(colour=maybe(COLOUR)), answer=fields(ok=choice(True), me=OBJECT))
def seat() -> Response:
    """Take a player's seat on this phone: ``{"colour"}``, or give it back with null; its hand is shown here only.

    A seat that another phone has is given over by the host only.
    """
    session = member()
    colour = json_body().get("colour")
    match = companion().night.view()["match"]
    seats = [player["colour"] for player in match["players"]] if match is not None else []
    if colour is not None and colour not in seats:
        raise bad_field("colour")
    access = companion().access
    others = [one for one in access.sessions() if one.colour == colour and one.id != session.id]
    if colour is not None and others:
        if session.role is not Role.HOST:
            raise RefusedError(409, "seat-taken", "Another phone has taken this seat; the host can give it over.")
        for other in others:
            access.bind(other.id, None)
    access.bind(session.id, colour)
    return json_response({"ok": True, "me": {**me(), "colour": colour}})
