"""The API of the camera at the table: calibrate, teach, follow the game, answer what it asks, rule by photo.

What the camera sees is for those who take part. Calibrating and following are the host's; what the camera asks may be
answered by every player, or by the host alone where the setting ``camera_everyone`` is off.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from flask import Blueprint, Response
from msgspec import Meta

from companion.access.store import Session
from companion.ports import BadDataError
from companion.rules.core import JSON, RulesError
from web.api.devices import said_by_device
from web.api.night import CommandAnswer, answered
from web.http.openapi import DoneForm, documented
from web.http.requests import Body, GameId, Query, photo_body
from web.http.responses import RefusedError, json_response, refusal
from web.http.sessions import companion, host, member
from web.i18n.language import InLanguage
from web.protocols.camera import BoardInFrame, OpenQuestionForm, PlaceRead, SheetReading

views = Blueprint("api_camera", __name__, url_prefix="/api/camera")

FURTHEST = 100_000.0
"""A corner in pixels beyond which nothing is meant."""
MOST_PLACES = 1024

Pixels = Annotated[float, Meta(gt=-FURTHEST, lt=FURTHEST)]
FrameCorner = tuple[Pixels, Pixels]
QuestionId = Annotated[str, Meta(max_length=40)]


class PlacesRead(TypedDict):
    """What lies in each place."""

    places: dict[str, PlaceRead]


class SheetRead(SheetReading):
    """The photo was read."""

    ok: Literal[True]


class CornersRequest(Body, frozen=True):
    """The corners of the board in the frame, clockwise from the far left; null to have them looked for."""

    corners: tuple[FrameCorner, FrameCorner, FrameCorner, FrameCorner] | None = None


class LessonRequest(Body, frozen=True):
    """What lies where, in the one form of a board; null for what the record says."""

    places: Annotated[dict[str, JSON], Meta(min_length=1, max_length=MOST_PLACES)] | None = None


class FollowRequest(Body, frozen=True):
    """Whether the camera follows."""

    on: bool


class QuestionForm(TypedDict):
    """What the camera asks, or null."""

    question: OpenQuestionForm | None


class QuestionAnswer(Body, frozen=True):
    """A candidate's number, or null: none of these."""

    id: QuestionId
    choice: int | None = None


class QuestionWay(Body, frozen=True):
    """Who is right: the board or the record."""

    id: QuestionId
    way: Literal["board", "record"]


class QuestionAgreed(Body, frozen=True):
    """What the table agrees to go on from: the board as it lies; whose turn it is (null: the next one's)."""

    id: QuestionId
    turn: Annotated[str, Meta(max_length=40)] | None = None


class PhotoQuery(Query, frozen=True):
    """Of which game a photo is."""

    game: GameId = ""


class DisputedPhoto(TypedDict):
    """How many places were read, and which of them are not sure."""

    ok: Literal[True]
    places: int
    unsure: list[str]


class PhotoRuleRequest(Body, frozen=True):
    """Which game, and whether the record stands for the photo before."""

    game: GameId
    record: bool


class PhotoRuling(TypedDict):
    """The referee's ruling, as ``companion explain`` gives it."""

    ok: Literal[True]
    ruling: dict[str, JSON]


def _game(name: str) -> str:
    if name not in companion().night.offered:
        raise RefusedError(404, "not-found", "There is nothing here.")
    return name


def _answering() -> Session:
    """Return the session of somebody who may tell the camera what is so.

    :raises RefusedError: for everybody else (403).
    """
    return member() if companion().settings["camera_everyone"] is True else host()


@views.get("/table/<game_id>")
@documented("player", answer=BoardInFrame, packed=True)
def table(game_id: GameId) -> Response:
    """Answer with where the board of a game lies in the frame, what was taught, and what is read there now."""
    return json_response(companion().follow_service.board(_game(game_id)))


@views.get("/table/<game_id>/look")
@documented("player", answer=PlacesRead, packed=True)
def look(game_id: GameId) -> Response:
    """Read the newest picture now, and answer what lies in each place, with its probability."""
    try:
        return json_response({"places": companion().follow_service.look(_game(game_id))})
    except BadDataError as error:
        raise said_by_device(error) from None


@views.post("/table/<game_id>/sheet")
@documented("player", media="image/*", answer=SheetRead, packed=True)
def sheet(game_id: GameId) -> Response:
    """Read a photo of the table (the body; empty: the camera's newest picture) for the score sheet of a game.

    Each place has what lies there, how likely that is, and whether a person had better check it (``unsure``). What was
    never taught (``untaught``) is read as something else where it lies.
    """
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
    return json_response({"ok": True, **read})


@views.post("/table/<game_id>/calibrate")
@documented("host", answer=BoardInFrame, packed=True)
def calibrate(game_id: GameId, body: CornersRequest) -> Response:
    """Find the board in the newest picture, by its four corners where they are given; answers as the table does.

    ``corners`` are in pixels of the frame, clockwise from the far left; they are refined where lines are seen.
    """
    try:
        companion().follow_service.calibrate(_game(game_id), body.corners)
    except BadDataError as error:
        raise said_by_device(error) from None
    return json_response(companion().follow_service.board(game_id))


@views.post("/table/<game_id>/teach")
@documented("player", guard=_answering, answer=BoardInFrame, packed=True)
def teach(game_id: GameId, body: LessonRequest) -> Response:
    """Teach the newest picture: what ``places`` say lies there, or without them all that the record says.

    ``places`` are in the one form of a board. It is learnt beside the service, in some seconds.
    """
    try:
        companion().follow_service.teach(_game(game_id), body.places)
    except BadDataError as error:
        raise said_by_device(error) from None
    return json_response(companion().follow_service.board(game_id))


@views.post("/follow")
@documented("host")
def follow(body: FollowRequest) -> DoneForm:
    """Follow the open game with the camera, or stop; the setting is kept."""
    companion().follow_service.follow(body.on)
    return {"ok": True}


@views.get("/question")
@documented("player", answer=QuestionForm, packed=True)
def question(query: InLanguage) -> Response:
    """Answer with what the camera asks, its candidates drawn; null where it asks nothing."""
    return json_response({"question": companion().follow_service.question(query.language)})


@views.post("/question")
@documented("player", guard=_answering, answer=CommandAnswer)
def answer(body: QuestionAnswer) -> Response:
    """Answer the camera: ``choice`` is a candidate's number, null is none of these; answers as ``/api/do`` does."""
    try:
        return answered(companion().follow_service.answer(body.id, body.choice, member().actor))
    except BadDataError as error:
        raise RefusedError(409, "not-asked", str(error)) from None


@views.post("/question/way")
@documented("player", guard=_answering)
def way(body: QuestionWay) -> DoneForm:
    """Leave a disagreement: the ``board`` is put right by hand, or the ``record`` is right and the camera learns."""
    try:
        companion().follow_service.resolve(body.id, body.way)
    except BadDataError as error:
        raise RefusedError(409, "not-asked", str(getattr(error, "note", error))) from None
    return {"ok": True}


@views.post("/question/agreed")
@documented("host", answer=CommandAnswer)
def agreed(body: QuestionAgreed) -> Response:
    """Go on from the board as it lies, though no legal turn leads there: the table agrees. Answers as ``/api/do``."""
    try:
        return answered(companion().follow_service.agree(body.id, body.turn, member().actor))
    except BadDataError as error:
        raise RefusedError(409, "not-asked", str(error)) from None


@views.post("/photos/<which>")
@documented("player", media="image/*", answer=DisputedPhoto)
def photo(which: str, query: PhotoQuery) -> Response:
    """Take in a photo for a dispute, ``before`` or ``after``; an empty body stands for the camera's newest picture."""
    session = member()
    if which not in ("before", "after"):
        raise RefusedError(404, "not-found", "There is nothing here.")
    game_id = _game(query.game)
    data = photo_body(needed=False) or None
    try:
        return json_response({"ok": True, **companion().follow_service.take_photo(session.id, which, data, game_id)})
    except BadDataError as error:
        raise said_by_device(error) from None


@views.post("/photos/rule")
@documented("player", answer=PhotoRuling, packed=True)
def rule(body: PhotoRuleRequest, query: InLanguage) -> Response:
    """Rule on what lies between the two photos, or between the record and the second: as ``companion explain`` does."""
    session, game_id = member(), _game(body.game)
    try:
        ruling = companion().follow_service.rule(session.id, game_id, record=body.record, lang=query.language)
    except RulesError as error:
        return refusal(400, "no-position", error.words.to_json())
    except BadDataError as error:
        raise said_by_device(error) from None
    return json_response({"ok": True, "ruling": dict(ruling)})


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
