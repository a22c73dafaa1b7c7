"""The API of the camera at the table: calibrate, teach, follow the game, answer what it asks, rule by photo.

What the camera sees is for those who take part. Calibrating and following are the host's; what the camera asks may be
answered by every player, or by the host alone where the setting ``camera_everyone`` is off.
"""

from __future__ import annotations

import math
from typing import Any

from flask import Blueprint, Response, request

from companion.access.store import Session
from companion.ports import BadDataError
from companion.rules.core import RulesError
from web.api.devices import said_by_device
from web.api.night import STATUS, answer_form
from web.http.assets import packed
from web.http.openapi import (
    GAME,
    LANGUAGE,
    NUMBER,
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
from web.http.responses import (
    RefusedError,
    bad_field,
    json_body,
    json_response,
    languages,
    photo_body,
    refusal,
    text_field,
)
from web.http.sessions import companion, host, member
from web.i18n.language import choose

views = Blueprint("api_camera", __name__, url_prefix="/api/camera")

POINT = listed(NUMBER)
FURTHEST = 100_000.0
"""A corner in pixels beyond which nothing is meant."""
MOST_PLACES = 1024


def _language() -> str:
    language = request.args.get("lang", "")
    return language if language in languages() else choose()


def _game(name: str) -> str:
    if name not in companion().night.offered:
        raise RefusedError(404, "not-found", "There is nothing here.")
    return name


def _answering() -> Session:
    """Return the session of somebody who may tell the camera what is so.

    :raises RefusedError: for everybody else (403).
    """
    return member() if companion().settings["camera_everyone"] is True else host()


def _corners(body: dict[str, Any]) -> list[list[float]] | None:
    given = body.get("corners")
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != 4:
        raise bad_field("corners")
    corners = []
    for point in given:
        if not isinstance(point, list) or len(point) != 2:
            raise bad_field("corners")
        if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in point):
            raise bad_field("corners")
        if not all(math.isfinite(v) and abs(v) < FURTHEST for v in point):
            raise bad_field("corners")
        corners.append([float(v) for v in point])
    return corners


@views.get("/table/<game_id>")
@documented("player", answer=OBJECT)
def table(game_id: str) -> Response:
    """Answer with where the board of a game lies in the frame, what was taught, and what is read there now."""
    member()
    return packed(json_response(companion().follow_service.board(_game(game_id))))


@views.get("/table/<game_id>/look")
@documented("player", answer=fields(places=OBJECT))
def look(game_id: str) -> Response:
    """Read the newest picture now, and answer what lies in each place, with its probability."""
    member()
    try:
        return packed(json_response({"places": companion().follow_service.look(_game(game_id))}))
    except BadDataError as error:
        raise said_by_device(error) from None


@views.post("/table/<game_id>/sheet")
@documented(
    "player",
    media="image/*",
    answer=fields(
        ok=choice(True),
        width=WHOLE,
        height=WHOLE,
        places=OBJECT,
        cells=OBJECT,
        grounds=listed(TEXT),
        things=listed(OBJECT),
        untaught=fields(grounds=listed(TEXT), things=listed(OBJECT)),
        note=TEXT,
    ),
)
def sheet(game_id: str) -> Response:
    """Read a photo of the table (the body; empty: the camera's newest picture) for the score sheet of a game.

    Each place has what lies there, how likely that is, and whether a person had better check it (``unsure``). What was
    never taught (``untaught``) is read as something else where it lies.
    """
    member()
    try:
        read = companion().follow_service.sheet(_game(game_id), photo_body(needed=False) or None)
    except BadDataError as error:
        raise said_by_device(error) from None
    if read is None:
        raise RefusedError(
            409,
            "not-taught",
            "The companion has not learnt yet what this board and its pieces look like: lay the game out and teach it.",
        )
    return packed(json_response({"ok": True, **read}))


@views.post("/table/<game_id>/calibrate")
@documented("host", body=fields(("corners",), corners=maybe(listed(POINT))), answer=OBJECT)
def calibrate(game_id: str) -> Response:
    """Find the board in the newest picture, by its four corners where they are given; answers as the table does.

    ``corners`` are in pixels of the frame, clockwise from the far left; they are refined where lines are seen.
    """
    host()
    corners = _corners(json_body())
    try:
        companion().follow_service.calibrate(_game(game_id), corners)
    except BadDataError as error:
        raise said_by_device(error) from None
    return packed(json_response(companion().follow_service.board(game_id)))


@views.post("/table/<game_id>/teach")
@documented("player", body=fields(("places",), places=maybe(OBJECT)), answer=OBJECT)
def teach(game_id: str) -> Response:
    """Teach the newest picture: what ``places`` say lies there, or without them all that the record says.

    ``places`` are in the one form of a board. It is learnt beside the service, in some seconds.
    """
    _answering()
    places = json_body().get("places")
    if places is not None and (not isinstance(places, dict) or not 0 < len(places) <= MOST_PLACES):
        raise bad_field("places")
    try:
        companion().follow_service.teach(_game(game_id), places)
    except BadDataError as error:
        raise said_by_device(error) from None
    return packed(json_response(companion().follow_service.board(game_id)))


@views.post("/follow")
@documented("host", body=fields(on={"type": "boolean"}))
def follow() -> Response:
    """Follow the open game with the camera, or stop; the setting is kept."""
    host()
    on = json_body().get("on")
    if not isinstance(on, bool):
        raise bad_field("on")
    companion().follow_service.follow(on)
    return json_response({"ok": True})


@views.get("/question")
@documented("player", query={"lang": LANGUAGE}, answer=fields(question=maybe(OBJECT)))
def question() -> Response:
    """Answer with what the camera asks, its candidates drawn; null where it asks nothing."""
    member()
    return packed(json_response({"question": companion().follow_service.question(_language())}))


@views.post("/question")
@documented("player", body=fields(("choice",), id=text(40), choice=maybe(WHOLE)), answer=OBJECT)
def answer() -> Response:
    """Answer the camera: ``choice`` is a candidate's number, null is none of these; answers as ``/api/do`` does."""
    session = _answering()
    body = json_body()
    name, chosen = text_field(body, "id", 40), body.get("choice")
    if chosen is not None and (isinstance(chosen, bool) or not isinstance(chosen, int)):
        raise bad_field("choice")
    try:
        found = companion().follow_service.answer(name, chosen, session.actor)
    except BadDataError as error:
        raise RefusedError(409, "not-asked", str(error)) from None
    return json_response(answer_form(found), 200 if found.ok else STATUS.get(found.problem or "", 400))


@views.post("/question/way")
@documented("player", body=fields(id=text(40), way=choice("board", "record")))
def way() -> Response:
    """Leave a disagreement: the ``board`` is put right by hand, or the ``record`` is right and the camera learns."""
    _answering()
    body = json_body()
    name, chosen = text_field(body, "id", 40), text_field(body, "way", 10)
    if chosen not in ("board", "record"):
        raise bad_field("way")
    try:
        companion().follow_service.resolve(name, chosen)
    except BadDataError as error:
        raise RefusedError(409, "not-asked", str(getattr(error, "note", error))) from None
    return json_response({"ok": True})


@views.post("/photos/<which>")
@documented(
    "player", query={"game": GAME}, media="image/*", answer=fields(ok=choice(True), places=WHOLE, unsure=listed(TEXT))
)
def photo(which: str) -> Response:
    """Take in a photo for a dispute, ``before`` or ``after``; an empty body stands for the camera's newest picture."""
    session = member()
    if which not in ("before", "after"):
        raise RefusedError(404, "not-found", "There is nothing here.")
    game_id = _game(request.args.get("game", ""))
    data = photo_body(needed=False) or None
    try:
        return json_response({"ok": True, **companion().follow_service.take_photo(session.id, which, data, game_id)})
    except BadDataError as error:
        raise said_by_device(error) from None


@views.post("/photos/rule")
@documented("player", query={"lang": LANGUAGE}, body=fields(game=GAME, record={"type": "boolean"}), answer=OBJECT)
def rule() -> Response:
    """Rule on what lies between the two photos, or between the record and the second: as ``companion explain`` does."""
    session = member()
    body = json_body()
    record = body.get("record")
    if not isinstance(record, bool):
        raise bad_field("record")
    game_id = _game(text_field(body, "game", 40))
    try:
        ruling = companion().follow_service.rule(session.id, game_id, record=record, lang=_language())
    except RulesError as error:
        return refusal(400, "no-position", error.words.to_json())
    except BadDataError as error:
        raise said_by_device(error) from None
    return packed(json_response({"ok": True, "ruling": dict(ruling)}))


@views.get("/photos/ruled.jpg")
@documented("player", answer=("image/jpeg",))
def ruled() -> Response:
    """Answer with the photo that this phone's last ruling is drawn over."""
    session = member()
    data = companion().follow_service.ruled_photo(session.id)
    if data is None:
        raise RefusedError(404, "no-picture", "There is no picture yet.")
    response = Response(data, mimetype="image/jpeg")
    response.headers["Cache-Control"] = "no-store"
    return response
