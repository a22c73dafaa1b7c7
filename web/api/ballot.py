"""The API of the table's vote on a silent rulebook: cast on every phone, closed by the host or by the last vote."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from flask import Blueprint, Response

from companion.night.commands.ballot import BallotError
from web.http.json_forms import ballot_form, option_words
from web.http.openapi import ANYTHING, OBJECT, TEXT, documented, fields, maybe
from web.http.responses import RefusedError, both, json_body, json_response, languages, mark, refused_as, text_field
from web.http.sessions import companion, host, member, who

views = Blueprint("api_ballot", __name__, url_prefix="/api/ballot")

OPTION = 60
BALLOT = fields(("mine", "votes", "of", "tied", "question", "values", "game"), option=maybe(TEXT), last=maybe(OBJECT))
DECIDED = {
    "votes": mark("The table has voted: %(answer)s."),
    "host": mark("The vote was a tie; the host decided: %(answer)s."),
    "default": mark("The vote was a tie: what was valid stays."),
}
REFUSALS: tuple[Callable[[], RefusedError], ...] = (
    lambda: RefusedError(409, "open", "Another vote is under way; the host can close it."),
    lambda: RefusedError(409, "none", "This vote is over."),
    lambda: RefusedError(409, "tied", "The vote is a tie: the host decides."),
    lambda: RefusedError(400, "no-value", "This cannot be voted for."),
)


def _decided(note: Mapping[str, Any]) -> dict[str, str]:
    """Return what came of a vote as a sentence in every language."""
    values = option_words(note["option"])["values"]
    answer = next((one for one in values if one["value"] == note["value"]), dict.fromkeys(languages(), ""))
    sentence = DECIDED[note["how"]]
    return {language: both(sentence, answer=answer[language])[language] for language in languages()}


def _done(work: Callable[[], None]) -> Response:
    """Do something with the vote, tell every phone, and answer how it stands."""
    before = companion().ballots.form()["last"]
    try:
        work()
    except BallotError as error:
        raise refused_as(REFUSALS, error.code) from None
    except OSError as error:
        raise RefusedError(503, "storage", "This could not be kept on the disk.") from error
    form = ballot_form(companion())
    companion().hub.publish("ballot", form)
    if form["last"] is not None and form["last"] != before:
        companion().hub.publish("notice", {**_decided(form["last"]), "ballot": "decided"})
    return _answer(form)


def _answer(form: dict[str, Any]) -> Response:
    session = who()
    mine = None if session is None else companion().ballots.mine(session.id)
    return json_response({"ok": True, **form, "mine": mine})


def _now() -> int:
    return time.time_ns() // 1_000_000


@views.get("")
@documented(answer=BALLOT)
def ballot() -> Response:
    """Answer the open vote, and what this phone has voted for."""
    return _answer(ballot_form(companion()))


@views.post("")
@documented("player", body=fields(option=TEXT), answer=BALLOT)
def call() -> Response:
    """Call a vote on an option, ``{"option"}``: it closes by itself when as many have voted as play."""
    member()
    option = text_field(json_body(), "option", OPTION)
    match = companion().night.view()["match"]
    of = len(match["players"]) if match is not None and not match["over"] else None
    return _done(lambda: companion().ballots.call(option, of))


@views.post("/vote")
@documented("player", body=fields(option=TEXT, value=ANYTHING), answer=BALLOT)
def cast() -> Response:
    """Vote, ``{"option", "value"}``; another vote of the same phone, or of the same seat, takes its place."""
    session = member()
    body = json_body()
    option, value = text_field(body, "option", OPTION), body.get("value")
    if value is None or isinstance(value, (dict, list)):
        raise refused_as(REFUSALS, "no-value")
    return _done(lambda: companion().ballots.cast(option, session.id, value, seat=session.colour, at=_now()))


@views.post("/close")
@documented("host", body=fields(option=TEXT), answer=BALLOT)
def close() -> Response:
    """Count the votes now, ``{"option"}``; the host only."""
    host()
    option = text_field(json_body(), "option", OPTION)
    return _done(lambda: companion().ballots.close(option, _now()))


@views.post("/decide")
@documented("host", body=fields(option=TEXT, value=ANYTHING), answer=BALLOT)
def decide() -> Response:
    """Settle a tie, ``{"option", "value"}``, where null keeps what was valid; the host only."""
    host()
    body = json_body()
    option, value = text_field(body, "option", OPTION), body.get("value")
    if isinstance(value, (dict, list)):
        raise refused_as(REFUSALS, "no-value")
    return _done(lambda: companion().ballots.decide(option, value, _now()))
