"""The API of the phones: who has this one, and which seat it plays."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from flask import Blueprint
from msgspec import Meta

from companion.night.answers import Role
from companion.rules.names import MOST_CODE_POINTS, proper_name
from web.http.openapi import documented
from web.http.requests import Body
from web.http.responses import RefusedError, bad_field
from web.http.seats import TOPIC, remember, seat_by_name
from web.http.sessions import PhoneForm, companion, member, phone_form

views = Blueprint("api_phones", __name__, url_prefix="/api")


class NameRequest(Body, frozen=True):
    """Who has this phone; an empty name: nobody in particular."""

    name: Annotated[str, Meta(max_length=MOST_CODE_POINTS)]


class SeatRequest(Body, frozen=True):
    """The colour of a seat; null gives it back."""

    colour: Annotated[str, Meta(max_length=20)] | None = None


class ToldPhone(TypedDict):
    """What this phone is now."""

    ok: Literal[True]
    me: PhoneForm


@views.post("/me")
@documented("player")
def call_me(body: NameRequest) -> ToldPhone:
    """Say who has this phone: ``{"name"}``; it is remembered, and has the seat of the player who is called so.

    With an empty name the phone is nobody's, and gives its seat back.
    """
    session, name = member(), proper_name(body.name) if body.name else ""
    if name is None:
        raise RefusedError(400, "name", "A player’s name has 1 to 40 characters, all of them visible.")
    if name:
        remember(companion(), name)
    access = companion().access
    access.call(session.id, name)
    access.bind(session.id, None)
    seat_by_name(companion())
    return _told()


def _told() -> ToldPhone:
    found = {one.id: one for one in companion().access.sessions()}
    session = found.get(member().id, member())
    return {"ok": True, "me": phone_form(session)}


@views.post("/seat")
@documented("player")
def seat(body: SeatRequest) -> ToldPhone:
    """Take a player's seat on this phone: ``{"colour"}``, or give it back with null; its hand is shown here only.

    A seat that another phone has is given over by the host only.
    """
    session, colour = member(), body.colour
    match = companion().night.view()["match"]
    seats = [player["colour"] for player in match["players"]] if match is not None else []
    if colour is not None and colour not in seats:
        raise bad_field("colour")
    access = companion().access
    others = [one for one in access.sessions() if one.colour == colour and one.id != session.id]
    if colour is not None and others:
        if session.role is not Role.HOST:
            raise RefusedError(409, "seat-taken", "Another phone has taken this seat; the host can hand it over.")
        for other in others:
            access.bind(other.id, None)
    access.bind(session.id, colour)
    companion().hub.publish(TOPIC, {})
    return _told()
