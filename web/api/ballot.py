"""The API of the table's vote on a silent rulebook: cast on every phone, closed by the host or by the last vote."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated

from flask import Blueprint
from msgspec import Meta

from companion.night.commands.ballot import BallotError, ClosedBallot
from companion.rules.core import JSON
from web.http.json_forms import BallotForm, ballot_form, option_words
from web.http.openapi import documented
from web.http.requests import Body
from web.http.responses import RefusedError, both, languages, mark, refused_as
from web.http.sessions import companion, member, who

views = Blueprint("api_ballot", __name__, url_prefix="/api/ballot")

OptionName = Annotated[str, Meta(max_length=60)]


class OwnBallot(BallotForm):
    """The open vote, and what this phone has voted for."""

    ok: bool
    mine: JSON


class BallotRequest(Body, frozen=True):
    """Which option is voted on."""

    option: OptionName


class BallotValue(Body, frozen=True):
    """One of the values of an option; null is none of them."""

    option: OptionName
    value: JSON = None


DECIDED = {
    "votes": mark("The table has voted: %(answer)s."),
    "host": mark("The vote was a tie; the host decided: %(answer)s."),
    "default": mark("The vote was a tie: everything stays as it was."),
}
REFUSALS: tuple[Callable[[], RefusedError], ...] = (
    lambda: RefusedError(409, "open", "Another vote is under way; the host can close it."),
    lambda: RefusedError(409, "none", "This vote is over."),
    lambda: RefusedError(409, "tied", "The vote is a tie: the host decides."),
    lambda: RefusedError(400, "no-value", "This cannot be voted on."),
)


def _decided(note: ClosedBallot) -> dict[str, str]:
    """Return what came of a vote as a sentence in every language."""
    values = option_words(note["option"])["values"]
    answer = next((one for one in values if one["value"] == note["value"]), dict.fromkeys(languages(), ""))
    sentence = DECIDED[note["how"]]
    return {language: both(sentence, answer=answer[language])[language] for language in languages()}


def _done(work: Callable[[], None]) -> OwnBallot:
    """Do something with the vote, tell every phone, and answer how it stands."""
    before = companion().ballots.form()["last"]
    try:
        work()
    except BallotError as error:
        raise refused_as(REFUSALS, error.code) from None
    except OSError as error:
        raise RefusedError(503, "storage", "This could not be saved to the disk.") from error
    form = ballot_form(companion())
    companion().hub.publish("ballot", form)
    if form["last"] is not None and form["last"] != before:
        companion().hub.publish("notice", {**_decided(form["last"]), "ballot": "decided"})
    return _answer(form)


def _answer(form: BallotForm) -> OwnBallot:
    session = who()
    mine = None if session is None else companion().ballots.mine(session.id)
    return {"ok": True, **form, "mine": mine}


def _now() -> int:
    return time.time_ns() // 1_000_000


@views.get("")
@documented()
def ballot() -> OwnBallot:
    """Answer the open vote, and what this phone has voted for."""
    return _answer(ballot_form(companion()))


@views.post("")
@documented("player")
def call(body: BallotRequest) -> OwnBallot:
    """Call a vote on an option, ``{"option"}``: it closes by itself when as many have voted as play."""
    match = companion().night.view()["match"]
    of = len(match["players"]) if match is not None and not match["over"] else None
    return _done(lambda: companion().ballots.call(body.option, of))


@views.post("/vote")
@documented("player")
def cast(body: BallotValue) -> OwnBallot:
    """Vote, ``{"option", "value"}``; another vote of the same phone, or of the same seat, takes its place."""
    session = member()
    if body.value is None or isinstance(body.value, (dict, list)):
        raise refused_as(REFUSALS, "no-value")
    return _done(lambda: companion().ballots.cast(body.option, session.id, body.value, seat=session.colour, at=_now()))


@views.post("/close")
@documented("host")
def close(body: BallotRequest) -> OwnBallot:
    """Count the votes now, ``{"option"}``; the host only."""
    return _done(lambda: companion().ballots.close(body.option, _now()))


@views.post("/decide")
@documented("host")
def decide(body: BallotValue) -> OwnBallot:
    """Settle a tie, ``{"option", "value"}``, where null keeps what was valid; the host only."""
    if isinstance(body.value, (dict, list)):
        raise refused_as(REFUSALS, "no-value")
    return _done(lambda: companion().ballots.decide(body.option, body.value, _now()))
