"""The API of the people of the house: profiles with statistics; renaming, merging and forgetting for the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from flask import Blueprint, Response

from companion.night.log.pictures import EvidenceError
from companion.night.people import COLOURS, TOKENS, PeopleError
from companion.ports import BadDataError
from web.api.devices import SHA256, said_by_device
from web.http.openapi import OBJECT, TEXT, WHOLE, choice, documented, fields, listed, maybe, text
from web.http.responses import RefusedError, bad_field, json_body, json_response, photo_body, refused_as, text_field
from web.http.sessions import companion, host, member

views = Blueprint("api_people", __name__, url_prefix="/api")

NAME = text(200)
LONGEST_ID = 40
T = TypeVar("T")
SOMEBODY = fields(id=TEXT, name=TEXT, colour=maybe(TEXT), token=maybe(TEXT), picture=maybe(TEXT), figures=maybe(OBJECT))
EVERYBODY = fields(ok=choice(True), people=listed(SOMEBODY), colours=listed(TEXT), tokens=listed(TEXT))

REFUSALS: tuple[Callable[[], RefusedError], ...] = (
    lambda: RefusedError(404, "no-person", "Nobody of that name is remembered here."),
    lambda: RefusedError(409, "name-taken", "Somebody else here has that name."),
    lambda: RefusedError(409, "too-many", "Too many people are remembered already; forget some first."),
    lambda: RefusedError(400, "name", "A name has 1 to 40 characters."),
    lambda: RefusedError(400, "colour", "There is no such colour."),
    lambda: RefusedError(400, "token", "There is no such picture."),
    lambda: RefusedError(409, "itself", "Choose two different people."),
    lambda: RefusedError(409, "played-together", "These two played in the same game: they are two people."),
)
"""What the book of people says no to."""


def _done(work: Callable[[], T]) -> T:
    try:
        return work()
    except PeopleError as error:
        raise refused_as(REFUSALS, error.code) from None
    except EvidenceError as error:
        raise RefusedError(503, "storage", "This could not be kept on the disk.") from error


def _form(**more: Any) -> Response:
    people = _done(companion().people.all)
    return json_response({"ok": True, "people": people, "colours": COLOURS, "tokens": TOKENS, **more})


@views.get("/people")
@documented("player", answer=EVERYBODY)
def people() -> Response:
    """Answer who is remembered, with what they played and won; who played last comes first."""
    member()
    return _form()


@views.post("/people")
@documented("player", body=fields(name=NAME), answer=EVERYBODY)
def add_person() -> Response:
    """Enter somebody: ``{"name"}``."""
    member()
    name = text_field(json_body(), "name", 200)
    _done(lambda: companion().people.add(name))
    return _form()


@views.post("/people/<person>")
@documented(
    "player",
    body=fields(("name", "colour", "token"), name=NAME, colour=maybe(TEXT), token=maybe(TEXT)),
    answer=EVERYBODY,
)
def change_person(person: str) -> Response:
    """Change colour or drawn picture of a person; the name (``{"name"}``) is changed by the host only."""
    member()
    body = json_body()
    what: dict[str, str | None] = {}
    if "name" in body:
        host()
        what["name"] = text_field(body, "name", 200)
    if "colour" in body:
        what["colour"] = None if body["colour"] is None else text_field(body, "colour", 20)
    if "token" in body:
        what["token"] = None if body["token"] is None else text_field(body, "token", 20)
    if not what:
        raise bad_field("name")
    _done(lambda: companion().people.change(person[:LONGEST_ID], what))
    return _form()


@views.post("/people/<person>/picture")
@documented("player", media="image/*", answer=EVERYBODY)
def person_picture(person: str) -> Response:
    """Take in a photo of a person (the body is the picture); an empty body takes the photo away."""
    member()
    data = photo_body(needed=False)
    try:
        small = companion().portrait(data) if data else None
    except BadDataError as error:
        raise said_by_device(error) from None
    _done(lambda: companion().people.picture(person[:LONGEST_ID], small))
    return _form()


@views.get("/portraits/<sha256>")
@documented("player", answer=("image/jpeg",))
def portrait(sha256: str) -> Response:
    """Answer with the photo of somebody who is remembered."""
    member()
    found = companion().people.photo(sha256) if SHA256.fullmatch(sha256) else None
    if found is None:
        raise RefusedError(404, "no-picture", "This picture is not kept here.")
    response = Response(found[0], mimetype="image/jpeg")
    response.headers["Cache-Control"] = "private, max-age=86400"
    return response


@views.post("/people/<person>/merge")
@documented("host", body=fields(into=TEXT), answer=EVERYBODY)
def merge(person: str) -> Response:
    """Make two entries one person, ``{"into"}``: the scores of both count for the other, whose name stays."""
    host()
    into = text_field(json_body(), "into", LONGEST_ID)
    _done(lambda: companion().people.merge(person[:LONGEST_ID], into))
    return _form()


@views.post("/people/<person>/forget")
@documented("host", answer={**EVERYBODY, "properties": {**EVERYBODY["properties"], "mentions": WHOLE}})
def forget(person: str) -> Response:
    """Forget name, colour and picture, in notes too; scores stay. ``mentions``: notes with it in a longer word."""
    host()
    return _form(mentions=_done(lambda: companion().people.forget(person[:LONGEST_ID])))
