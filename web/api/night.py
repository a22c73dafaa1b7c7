"""The API of the night: health, the state, and the one door for changes."""

from __future__ import annotations

import re
from typing import Any

from flask import Blueprint, Response, current_app, request

from companion.access.store import Session
from companion.night.answers import CommandResult, Role
from companion.night.commands.handlers import COMMANDS
from web.api import share
from web.http.openapi import ANYTHING, BOTH, OBJECT, TEXT, WHOLE, choice, documented, fields, listed, maybe, text, whole
from web.http.responses import RefusedError, bad_field, json_body, json_response, text_field
from web.http.sessions import companion, me, member, role
from web.http.sse_state import StateTexts, devices

views = Blueprint("api", __name__, url_prefix="/api")
views.register_blueprint(share.views)

ACTION_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
MAX_STATE = 2**53
STATUS = {
    "stale": 409,
    "paused": 409,
    "no-match": 409,
    "refused": 422,
    "forbidden": 403,
    "agreement": 403,
    "bad-input": 400,
    "storage": 503,
}
"""The HTTP status of what the night says no to."""


@views.get("/health")
@documented(answer=fields(version=TEXT, devices=listed(OBJECT), match=ANYTHING, journal=ANYTHING))
def health() -> Response:
    """Answer how the service is: version, devices with their kind, the open match, the journal's position."""
    return json_response(companion().health())


@views.get("/state")
@documented(
    query={"after": TEXT, "reading": TEXT},
    answer=fields(
        seq=WHOLE,
        reading=WHOLE,
        me=OBJECT,
        version=TEXT,
        stamp=TEXT,
        igloo=OBJECT,
        motion=OBJECT,
        count=OBJECT,
        camera=OBJECT,
        view=maybe(OBJECT),
    ),
)
def state() -> Response:
    """Answer with all that the page shows; with ``?after=SEQ`` the night is left out while it is still at SEQ.

    This is what a page asks again and again while it has no live stream. With ``&reading=READING`` of the answer before
    it hears of another name, too, where nothing was played.
    """
    after = request.args.get("after", "")
    reading = companion().night.reading
    texts: StateTexts = current_app.extensions["companion-texts"]
    seq, text = texts.text(role(), None)
    same = after == str(seq) and request.args.get("reading", str(reading)) == str(reading)
    view = "null" if same else text
    head = json_response(
        {
            "seq": seq,
            "reading": reading,
            "me": me(),
            "version": companion().version,
            "stamp": current_app.extensions["companion-assets"].stamp,
            **devices(companion()),
        }
    )
    head.set_data(head.get_data(as_text=True)[:-1] + f',"view":{view}}}')
    return head


@views.post("/do")
@documented(
    "player",
    body=fields(
        ("body", "state"),
        command=choice(*COMMANDS),
        body=OBJECT,
        state=maybe(whole(-MAX_STATE, MAX_STATE)),
        action_id=text(64, pattern=r"^[A-Za-z0-9_-]{8,64}$"),
    ),
    answer=fields(ok=choice(True), seq=WHOLE, state=WHOLE, problem=maybe(TEXT), message=BOTH, ruling=maybe(OBJECT)),
)
def do() -> Response:
    """Do a command: ``{"command", "body", "state", "action_id"}``.

    ``state`` is the state number that the sender saw: when the match is elsewhere by now the command is stale and
    nothing is done. Only reporting a fault, and letting one pass, fit any state and may leave it out. The same
    ``action_id`` again gets the same answer and does nothing twice.
    """
    session = member()
    body = json_body()
    command = text_field(body, "command", 40)
    _may_move(session)
    action_id = text_field(body, "action_id", 64)
    if not ACTION_ID.fullmatch(action_id):
        raise bad_field("action_id")
    given = body.get("body", {})
    if not isinstance(given, dict):
        raise bad_field("body")
    number = body.get("state")
    if number is not None and (isinstance(number, bool) or not isinstance(number, int) or abs(number) > MAX_STATE):
        raise bad_field("state")
    known = COMMANDS.get(command)
    if number is None and known is not None and known.stale:
        raise RefusedError(400, "no-state", "This action must name the state that it was made on (state).")
    answer = companion().night.do(command, given, by=session.actor, state=number, action_id=action_id)
    if answer.ok and command == "open-match":
        _free_seats()
    return json_response(answer_form(answer), 200 if answer.ok else STATUS.get(answer.problem or "", 400))


@views.post("/button")
@documented("player", body=fields(button=choice("next", "shake", "dispute")), answer=fields(ok=choice(True)))
def button() -> Response:
    """Press a button of the table: ``next`` and ``shake`` take the step that is due, ``dispute`` calls everybody."""
    session = member()
    name = text_field(json_body(), "button", 20)
    if name not in {"next", "shake", "dispute"}:
        raise bad_field("button")
    if name != "dispute":
        _may_move(session)
    answer = companion().press(name, session.actor)
    if answer is None:
        return json_response({"ok": True})
    return json_response(answer_form(answer), 200 if answer.ok else STATUS.get(answer.problem or "", 400))


def _may_move(session: Session) -> None:
    """Return quietly when this phone may enter moves.

    :raises RefusedError: for a player where the host enters them alone (403).
    """
    if session.role is Role.PLAYER and not companion().settings["players_move"]:
        raise RefusedError(403, "host-moves", "At this table the host enters the moves.")


def _free_seats() -> None:
    """Give all seats back: in a new game nobody sees the hand of somebody else who took the colour over."""
    access = companion().access
    for session in access.sessions():
        if session.colour is not None:
            access.bind(session.id, None)


def answer_form(answer: CommandResult) -> dict[str, Any]:
    """Return an answer as JSON; a refusal carries the same ``error`` as every other of this API."""
    form = answer.to_json()
    if not answer.ok:
        clauses = list(answer.ruling.clauses) if answer.ruling is not None else []
        said = answer.message.to_json()
        form["error"] = {"code": answer.problem, **said, "clauses": clauses}
    return form
