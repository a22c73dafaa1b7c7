"""Who is asking: the host by a one-time link, players by the table's PIN, and everybody else, who may only watch."""

from __future__ import annotations

import io
import re
from typing import Annotated, Literal, TypedDict

import segno
from flask import Blueprint, Flask, Response, current_app, g, redirect, render_template, request
from msgspec import Meta

from companion.access.store import Session, TooManyTriesError
from companion.night.answers import Role
from companion.rules.names import LONGEST_NAME, MOST_CODE_POINTS, shortened, shown_name
from web.http.openapi import DoneForm, documented, promise_of
from web.http.requests import Body
from web.http.responses import RefusedError, json_response
from web.http.seats import remember, seat_by_name
from web.protocols.companion import CompanionApi

COOKIE = "companion"
COOKIE_DAYS = 400
"""How long a browser is asked to keep its cookie, anew each time that it opens the page: the longest that browsers do.

The session itself ends earlier, as the host sets it."""

BROWSERS = (
    ("Edge", r"Edg(?:e|A|iOS)?/"),
    ("Opera", r"OPR/|OPiOS/|OPT/"),
    ("Samsung Internet", r"SamsungBrowser/"),
    ("Firefox", r"Firefox/|FxiOS/"),
    ("Chrome", r"Chrome/|CriOS/|Chromium/"),
    ("Safari", r"Version/.*Safari/"),
)
SYSTEMS = (
    ("Android", r"Android"),
    ("iPhone", r"iPhone|iPod"),
    ("iPad", r"iPad"),
    ("Windows", r"Windows"),
    ("Mac", r"Macintosh"),
    ("ChromeOS", r"CrOS"),
    ("Linux", r"Linux|X11"),
)
"""Families of browsers and systems, each with what tells it in a User-Agent; the first that fits is meant.

Browsers name their models too, so the rarer one comes first."""

views = Blueprint("sessions", __name__)


class PhoneForm(TypedDict):
    """What a phone may know of itself."""

    role: str
    id: str | None
    label: str
    colour: str | None


class JoinedPhone(TypedDict):
    """A phone that joined: ``made`` is when, ``seen`` when it was last used (to an hour), in milliseconds.

    ``browser`` and ``system`` are the families of its browser and its system, each empty where it is not known.
    """

    id: str
    role: str
    label: str
    colour: str | None
    made: int
    seen: int
    browser: str
    system: str


class JoiningForm(TypedDict):
    """What the host shows to those who want to join, who has, and after how many days without use that ends."""

    pin: str
    address: str
    addresses: list[str]
    joined: list[JoinedPhone]
    session_days: int


class JoinRequest(Body, frozen=True):
    """The table's PIN, and how this phone is called."""

    pin: Annotated[str, Meta(max_length=20)]
    label: Annotated[str, Meta(max_length=MOST_CODE_POINTS)] = ""


class Admitted(TypedDict):
    """Who one is from now on."""

    ok: Literal[True]
    role: str
    id: str


class EndedForm(TypedDict):
    """How many phones only watch from now on."""

    ok: Literal[True]
    ended: int


class PinForm(TypedDict):
    """The new PIN."""

    ok: Literal[True]
    pin: str


def companion() -> CompanionApi:
    """Return what this application shows."""
    found: CompanionApi = current_app.extensions["companion-api"]
    return found


def who() -> Session | None:
    """Return the session of this request; None for a bystander. Asked once a request."""
    if "session" not in g:
        g.session = session_of(companion(), request.cookies.get(COOKIE, ""))
    session: Session | None = g.session
    return session


def session_of(house: CompanionApi, secret: str) -> Session | None:
    """Return the session of a cookie's secret; None for a bystander's."""
    return house.access.session(secret) if 0 < len(secret) <= 200 else None


def role() -> Role:
    """Return what this request may do."""
    session = who()
    return Role.SPECTATOR if session is None else session.role


def member() -> Session:
    """Return the session of a player or the host.

    :raises RefusedError: for everybody else (403).
    """
    session = who()
    if session is None or session.role not in {Role.HOST, Role.PLAYER}:
        raise watching()
    return session


def watching() -> RefusedError:
    """Return the refusal of what only those may do who joined."""
    return RefusedError(403, "watching", "You are only watching. Join with the table’s PIN to take part.")


def host() -> Session:
    """Return the session of the host.

    :raises RefusedError: for everybody else (403).
    """
    session = member()
    if session.role is not Role.HOST:
        raise RefusedError(403, "not-host", "Only the host of the table may do this.")
    return session


def let_in(app: Flask) -> None:
    """Ask before every view that says who may ask (:func:`web.http.openapi.documented`) whether this request may."""
    usual = {"anybody": None, "player": member, "host": host}

    @app.before_request
    def check_right() -> None:
        view = current_app.view_functions.get(request.endpoint or "")
        promise = None if view is None or request.method == "OPTIONS" else promise_of(view)
        if promise is not None and (guard := promise.guard or usual[promise.who]) is not None:
            guard()


def may_see_pictures() -> bool:
    """Tell whether this request may see pictures of the table: the host may, others as the host sets it."""
    session = who()
    if session is not None and session.role is Role.HOST:
        return True
    return bool(companion().settings["watchers_pictures" if session is None else "players_pictures"])


def sees_pictures() -> None:
    """Return quietly when this request may see pictures of the table.

    :raises RefusedError: otherwise (403).
    """
    if not may_see_pictures():
        if who() is None:
            member()
        raise RefusedError(403, "no-pictures", "The host keeps the pictures of this table private.")


def open_door() -> None:
    """Return quietly when new phones may join.

    :raises RefusedError: when the host has closed the table (403).
    """
    if not companion().settings["joining"]:
        raise RefusedError(403, "closed", "The host is not letting anybody else join now. You may watch.")


def me() -> PhoneForm:
    """Return what this phone may know of itself."""
    return phone_form(who())


def phone_form(session: Session | None) -> PhoneForm:
    """Return what a phone may know of itself."""
    if session is None:
        return {"role": str(Role.SPECTATOR), "id": None, "label": "", "colour": None}
    return {"role": str(session.role), "id": session.id, "label": session.label, "colour": session.colour}


def _client(by: str) -> str:
    """Return whose tries are counted: a member's its own, for others at its address may guess; else the address's."""
    session = who()
    return f"{by} {request.remote_addr or ''}" if session is None else f"{by} of {session.id}"


def device() -> tuple[str, str]:
    """Return the family of the browser that asks, and its system; of what it says of itself no more is kept."""
    said = request.headers.get("User-Agent", "")[:1000]

    def family(known: tuple[tuple[str, str], ...]) -> str:
        return next((name for name, mark in known if re.search(mark, said)), "")

    return family(BROWSERS), family(SYSTEMS)


def _too_many(error: TooManyTriesError) -> RefusedError:
    return RefusedError(429, "too-many-tries", "Too many wrong tries. Wait a little.", wait_s=round(error.wait_s))


def keep_signed_in(response: Response) -> Response:
    """Ask a browser that has joined to keep its cookie longer: it opened the page."""
    return response if who() is None else _admitted(response, request.cookies[COOKIE])


def _admitted(response: Response, secret: str) -> Response:
    response.set_cookie(
        COOKIE, secret, max_age=COOKIE_DAYS * 24 * 3600, httponly=True, samesite="Lax", secure=request.is_secure
    )
    response.headers["Cache-Control"] = "no-store"
    return response


def _label(text: str) -> str:
    """Return what a device called itself, as far as that is a name."""
    return shortened(shown_name(text[:MOST_CODE_POINTS]), LONGEST_NAME)


def _remember(session: Session) -> None:
    """Have who joined with a name among the people of the house, at the seat of that name."""
    if session.label:
        remember(companion(), session.label)
        seat_by_name(companion())


@views.get("/host/<token>")
def host_link(token: str) -> str:
    """Show what the host link does; the link is spent by the button only, never by a preview that fetches it."""
    return render_template("host.html", token=token)


@views.post("/host/<token>")
def open_table(token: str) -> Response:
    """Spend a host link: this browser becomes the host's."""
    try:
        admitted = companion().access.redeem(token[:200], _client("link"), device=device())
    except TooManyTriesError as error:
        raise _too_many(error) from None
    if admitted is None:
        raise RefusedError(403, "spent-link", "This host link has already been used or is too old. Ask for another.")
    return _admitted(current_app.make_response(redirect("/", 303)), admitted[0])


@views.get("/join")
def join_page() -> str:
    """Show where the PIN is entered; a QR code brings it in the fragment, which no server sees."""
    return render_template("join.html", wrong=False)


@views.post("/join")
def join() -> Response | tuple[str, int]:
    """Join the table with its PIN."""
    open_door()
    pin = "".join(request.form.get("pin", "")[:20].split())
    try:
        admitted = companion().access.join(pin, _client("pin"), _label(request.form.get("label", "")), device())
    except TooManyTriesError as error:
        raise _too_many(error) from None
    if admitted is None:
        return render_template("join.html", wrong=True), 403
    _remember(admitted[1])
    return _admitted(current_app.make_response(redirect("/", 303)), admitted[0])


@views.post("/api/join")
@documented(guard=open_door, answer=Admitted)
def api_join(body: JoinRequest) -> Response:
    """Join the table with its PIN: ``{"pin", "label"?}``; answers with the cookie."""
    try:
        admitted = companion().access.join(body.pin, _client("pin"), _label(body.label), device())
    except TooManyTriesError as error:
        raise _too_many(error) from None
    if admitted is None:
        raise RefusedError(403, "wrong-pin", "That is not the PIN of this table.")
    _remember(admitted[1])
    return _admitted(json_response({"ok": True, "role": str(admitted[1].role), "id": admitted[1].id}), admitted[0])


def _table_address() -> str:
    """Return the address for other phones: the one that the host uses, unless only this machine knows it."""
    name = (request.host.rsplit(":", 1)[0] if not request.host.endswith("]") else request.host).strip("[]")
    if name == "localhost" or name.startswith("127.") or name == "::1":
        return next(iter(companion().addresses()), request.host_url.rstrip("/"))
    return request.host_url.rstrip("/")


@views.get("/api/table")
@documented("host")
def table() -> JoiningForm:
    """Answer the host with the table's PIN and addresses, and who has joined."""
    access = companion().access
    joined: list[JoinedPhone] = [
        {
            "id": s.id,
            "role": str(s.role),
            "label": s.label,
            "colour": s.colour,
            "made": s.made,
            "seen": s.seen,
            "browser": s.device[0],
            "system": s.device[1],
        }
        for s in access.sessions()
    ]
    return {
        "pin": access.pin,
        "address": _table_address(),
        "addresses": list(companion().addresses()),
        "joined": joined,
        "session_days": companion().settings.number("session_days"),
    }


@views.post("/api/pin")
@documented("host")
def new_pin() -> PinForm:
    """Make another PIN for the table; who has joined stays."""
    return {"ok": True, "pin": companion().access.new_pin()}


@views.post("/api/sessions/<session_id>/end")
@documented("host")
def end_session(session_id: str) -> DoneForm:
    """Withdraw a phone's right to change anything: from now on it watches. One's own ends with ``/api/leave``."""
    mine = host()
    if session_id == mine.id:
        raise RefusedError(409, "own-session", "This is your own phone.")
    if not companion().access.revoke(session_id):
        raise RefusedError(404, "no-session", "This phone has left already.")
    return {"ok": True}


@views.post("/api/sessions/end-others")
@documented("host")
def end_others() -> EndedForm:
    """Withdraw the rights of every phone but the one that asks, other hosts' too; with the PIN they can join again."""
    return {"ok": True, "ended": companion().access.revoke_others(host().id)}


@views.get("/api/join.svg")
@documented("host", answer=("image/svg+xml",))
def join_code() -> Response:
    """Answer the host with the QR code that brings a phone to the table, PIN included."""
    return _code(f"{_table_address()}/join#{companion().access.pin}")


@views.get("/api/address.svg")
@documented(answer=("image/svg+xml",))
def address_code() -> Response:
    """Answer anybody with the QR code that brings a phone to the table's door, without the PIN."""
    return _code(f"{_table_address()}/join")


def _code(address: str) -> Response:
    picture = io.BytesIO()
    code = segno.make(address, error="m", micro=False)
    code.save(picture, kind="svg", border=2, scale=4, dark="#0f2233", light="#ffffff", omitsize=True)
    response = Response(picture.getvalue(), mimetype="image/svg+xml")
    response.headers["Cache-Control"] = "no-store"
    return response


@views.post("/api/leave")
@documented()
def leave() -> Response:
    """Forget this browser's session: it watches again."""
    session = who()
    if session is not None:
        companion().access.revoke(session.id)
    response = json_response({"ok": True})
    response.delete_cookie(COOKIE, httponly=True, samesite="Lax", secure=request.is_secure)
    return response
