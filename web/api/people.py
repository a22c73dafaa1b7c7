"""The API of the people of the house: profiles with statistics; renaming, merging and forgetting for the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal, TypedDict, TypeVar

from flask import Blueprint, Response
from msgspec import UNSET, Meta, UnsetType

from companion.night.log.pictures import EvidenceError
from companion.night.people import COLOURS, TOKENS, PeopleError, PersonForm
from companion.ports import BadDataError
from web.api.devices import SHA256, said_by_device
from web.http.openapi import documented
from web.http.requests import Body, Sha256, photo_body
from web.http.responses import RefusedError, bad_field, refused_as
from web.http.sessions import companion, host

views = Blueprint("api_people", __name__, url_prefix="/api")

LONGEST_ID = 40
T = TypeVar("T")
ProfileName = Annotated[str, Meta(max_length=200)]
Look = Annotated[str, Meta(max_length=20)]


class Everybody(TypedDict):
    """Who is remembered, and the colours and drawn pictures there are."""

    ok: Literal[True]
    people: list[PersonForm]
    colours: tuple[str, ...]
    tokens: tuple[str, ...]


class WithoutOne(Everybody):
    """The same, and in how many notes the name of who is gone stands as a part of a longer word."""

    mentions: int


class NewPerson(Body, frozen=True):
    """Who is to be remembered."""

    name: ProfileName


class PersonChange(Body, frozen=True):
    """What is another from now on; null takes a colour or a drawn picture away."""

    name: ProfileName | UnsetType = UNSET
    colour: Look | UnsetType | None = UNSET
    token: Look | UnsetType | None = UNSET


class MergeRequest(Body, frozen=True):
    """Whose the scores are from now on."""

    into: Annotated[str, Meta(max_length=LONGEST_ID)]


REFUSALS: tuple[Callable[[], RefusedError], ...] = (
    lambda: RefusedError(404, "no-person", "Nobody of that name is remembered here."),
    lambda: RefusedError(409, "name-taken", "Somebody else here has that name."),
    lambda: RefusedError(409, "too-many", "Too many people are remembered already; forget some first."),
    lambda: RefusedError(400, "name", "A player’s name has 1 to 40 characters, all of them visible."),
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
        raise RefusedError(503, "storage", "This could not be saved to the disk.") from error


def _form() -> Everybody:
    return {"ok": True, "people": _done(companion().people.all), "colours": COLOURS, "tokens": TOKENS}


@views.get("/people")
@documented("player")
def people() -> Everybody:
    """Answer who is remembered, with what they played and won; who played last comes first."""
    return _form()


@views.post("/people")
@documented("player")
def add_person(body: NewPerson) -> Everybody:
    """Enter somebody: ``{"name"}``."""
    _done(lambda: companion().people.add(body.name))
    return _form()


@views.post("/people/<person>")
@documented("player")
def change_person(person: str, body: PersonChange) -> Everybody:
    """Change colour or drawn picture of a person; the name (``{"name"}``) is changed by the host only."""
    if body.name is not UNSET:
        host()
    given = {"name": body.name, "colour": body.colour, "token": body.token}
    what = {name: value for name, value in given.items() if not isinstance(value, UnsetType)}
    if not what:
        raise bad_field("name")
    _done(lambda: companion().people.change(person[:LONGEST_ID], what))
    return _form()


@views.post("/people/<person>/picture")
@documented("player", media="image/*")
def person_picture(person: str) -> Everybody:
    """Take in a photo of a person (the body is the picture); an empty body takes the photo away."""
    data = photo_body(needed=False)
    try:
        small = companion().portrait(data) if data else None
    except BadDataError as error:
        raise said_by_device(error) from None
    _done(lambda: companion().people.picture(person[:LONGEST_ID], small))
    return _form()


@views.get("/portraits/<sha256>")
@documented("player", answer=("image/jpeg",))
def portrait(sha256: Sha256) -> Response:
    """Answer with the photo of somebody who is remembered."""
    found = companion().people.photo(sha256) if SHA256.fullmatch(sha256) else None
    if found is None:
        raise RefusedError(404, "no-picture", "This picture is not kept here.")
    response = Response(found[0], mimetype="image/jpeg")
    response.headers["Cache-Control"] = "private, max-age=86400"
    return response


@views.post("/people/<person>/merge")
@documented("host")
def merge(person: str, body: MergeRequest) -> Everybody:
    """Make two entries one person, ``{"into"}``: the scores of both count for the other, whose name stays."""
    _done(lambda: companion().people.merge(person[:LONGEST_ID], body.into))
    return _form()


@views.post("/people/<person>/forget")
@documented("host")
def forget(person: str) -> WithoutOne:
    """Forget name, colour and picture, in notes too; scores stay. ``mentions``: notes with it in a longer word."""
    mentions = _done(lambda: companion().people.forget(person[:LONGEST_ID]))
    return {**_form(), "mentions": mentions}
