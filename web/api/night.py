"""The API of the night: health, the state, and the one door for changes."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

import msgspec
from flask import Blueprint, Response, current_app
from msgspec import Meta

from companion.access.store import Session
from companion.night.answers import CommandResult, Role
from companion.night.commands.handlers import COMMANDS
from companion.rules.core import JSON
from web.api import share
from web.http.openapi import DoneForm, documented
from web.http.requests import Body, Query
from web.http.responses import RefusedError, Sentence, json_response
from web.http.seats import seat_by_name
from web.http.sessions import PhoneForm, companion, me, member, role
from web.http.sse_state import DevicesForm, StateTexts, devices

views = Blueprint("api", __name__, url_prefix="/api")
views.register_blueprint(share.views)

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


class HealthForm(TypedDict):
    """How the service is; ``match`` is the open one, ``journal`` where it stands; ``started`` differs at each start."""

    version: str
    started: str
    devices: list[dict[str, JSON]]
    match: JSON
    journal: JSON


class StateQuery(Query, frozen=True):
    """The numbers ``seq`` and ``reading`` of the answer before, as they were."""

    after: str = ""
    reading: str | None = None


class StateForm(DevicesForm):
    """All that the page shows; ``view`` is as :meth:`companion.night.commands.night.Night.view` has it, or null."""

    seq: int
    reading: int
    me: PhoneForm
    version: str
    stamp: str
    view: dict[str, JSON] | None


def _taken(command: str) -> dict[str, JSON]:
    body = {"$ref": f"#/components/schemas/{COMMANDS[command].body.__name__}"}
    return {"properties": {"command": {"const": command}, "body": body}}


class CommandForm(Body, frozen=True):
    """A command of the night, with what it takes."""

    command: Annotated[str, Meta(max_length=40, extra_json_schema={"enum": list(COMMANDS)})]
    action_id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{8,64}$(?!\n)")]
    body: dict[str, JSON] = msgspec.field(default_factory=dict)
    state: Annotated[int, Meta(ge=-MAX_STATE, le=MAX_STATE)] | None = None


class CommandAnswer(TypedDict):
    """What became of a command: where the journal and the state are now, one sentence, and the referee's ruling."""

    ok: Literal[True]
    seq: int
    state: int
    problem: str | None
    message: Sentence
    ruling: dict[str, JSON] | None


class ButtonPress(Body, frozen=True):
    """Which button."""

    button: Literal["next", "shake", "dispute"]


def mover() -> Session:
    """Return the session of somebody who may enter moves.

    :raises RefusedError: for others, and for a player where the host enters them alone (403).
    """
    session = member()
    if session.role is Role.PLAYER and not companion().settings["players_move"]:
        raise RefusedError(403, "host-moves", "At this table the host enters the moves.")
    return session


@views.get("/health")
@documented(answer=HealthForm)
def health() -> Response:
    """Answer how the service is: version, devices with their kind, the open match, the journal's position."""
    return json_response(companion().health())


@views.get("/state")
@documented(answer=StateForm)
def state(query: StateQuery) -> Response:
    """Answer with all that the page shows; with ``?after=SEQ`` the night is left out while it is still at SEQ.

    This is what a page asks again and again while it has no live stream. With ``&reading=READING`` of the answer before
    it hears of another name, too, where nothing was played.
    """
    reading = companion().night.reading
    texts: StateTexts = current_app.extensions["companion-texts"]
    seq, text = texts.text(role(), None)
    same = query.after == str(seq) and query.reading in {None, str(reading)}
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
@documented("player", guard=mover, answer=CommandAnswer, parts=[known.body for known in COMMANDS.values()])
def do(body: Annotated[CommandForm, Meta(extra_json_schema={"anyOf": [*map(_taken, COMMANDS)]})]) -> Response:
    """Do a command: ``{"command", "body", "state", "action_id"}``.

    ``state`` is the state number that the sender saw: when the match is elsewhere by now the command is stale and
    nothing is done, unless all play at once and only others did something since. Only reporting a fault, and letting
    one pass, fit any state and may leave it out. The same ``action_id`` again gets the same answer and does nothing
    twice.
    """
    known = COMMANDS.get(body.command)
    if body.state is None and known is not None and known.stale:
        raise RefusedError(400, "no-state", "This action must name the state that it was made on (state).")
    by = member().actor
    answer = companion().night.do(body.command, body.body, by=by, state=body.state, action_id=body.action_id)
    if answer.ok and body.command == "open-match":
        seat_by_name(companion(), anew=True)
    return answered(answer)


@views.post("/button")
@documented("player", answer=DoneForm)
def button(body: ButtonPress) -> Response:
    """Press a button of the table: ``next`` and ``shake`` take the step that is due, ``dispute`` calls everybody."""
    if body.button != "dispute":
        mover()
    answer = companion().buttons.press(body.button, member().actor)
    return json_response({"ok": True}) if answer is None else answered(answer)


def answered(answer: CommandResult) -> Response:
    """Return what became of a command; a refusal carries the same ``error`` as every other of this API."""
    form = answer.to_json()
    if not answer.ok:
        clauses = list(answer.ruling.clauses) if answer.ruling is not None else []
        said = answer.message.to_json()
        form["error"] = {"code": answer.problem, **said, "clauses": clauses}
    return json_response(form, 200 if answer.ok else STATUS.get(answer.problem or "", 400))
