"""The training room: its page, and the API of drills, duels, progress and ladder.

The truth of a shake stays here until it was answered. Sound is sent as a whole or in ranges, as browsers want it.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from flask import Blueprint, Response, make_response, render_template, request, send_file

from companion.ports import COUNTS, DeviceError
from companion.practice.database import PracticeDatabaseError, Trainee
from companion.practice.shakes import TrainingError
from web.http.openapi import OBJECT, TEXT, WHOLE, choice, documented, fields, listed, maybe, text, whole
from web.http.responses import RefusedError, bad_field, json_body, json_response, refused_as, text_field
from web.http.sessions import companion, host, me, member
from web.i18n.language import catalogue_urls, choose, names

views = Blueprint("api_training", __name__)
log = logging.getLogger(__name__)

MOST_NUMBER = 2**53
NAME_LENGTH = 40
LONGEST_ID = 40
T = TypeVar("T")

NAME = text(200)
SOMEBODY = whole(1, MOST_NUMBER)
BEADS = whole(COUNTS.start, COUNTS.stop - 1)
ROOM = fields(people=listed(OBJECT), igloo=maybe(TEXT), duels=listed(OBJECT), ladder=listed(OBJECT))

REFUSALS: tuple[Callable[[], RefusedError], ...] = (
    lambda: RefusedError(404, "no-person", "Nobody of that name trains here."),
    lambda: RefusedError(409, "name-taken", "Somebody else here has that name."),
    lambda: RefusedError(409, "too-many", "Too many people train here already; forget some first."),
    lambda: RefusedError(404, "no-round", "This shake is not here any more. Take another."),
    lambda: RefusedError(404, "no-sound", "This shake cannot be heard, or was not heard yet."),
    lambda: RefusedError(404, "given-away", "This shake of the igloo gave way to newer ones and cannot be heard."),
    lambda: RefusedError(404, "no-duel", "There is no such duel."),
    lambda: RefusedError(409, "no-igloo", "There is no sensor igloo to train with."),
    lambda: RefusedError(409, "no-answer", "Not everybody has answered yet."),
    lambda: RefusedError(403, "not-yours", "This shake is for somebody else."),
    lambda: RefusedError(409, "over", "The number is known already."),
    lambda: RefusedError(409, "known", "The number of a stored shake is known."),
    lambda: RefusedError(400, "duellists", "A duel is for two to eight different people."),
    lambda: RefusedError(409, "not-ready", "The shakes to be taken along are still being made."),
    lambda: RefusedError(400, "bad-results", "These are no results of the training on the way."),
    lambda: RefusedError(
        404, "no-file", "These results are of a file that is not known here: of another house, or taken too long ago."
    ),
    lambda: RefusedError(
        409, "live-round", "A round is live: until it is over, nothing is said of the igloo on the table."
    ),
)
"""What the training room says no to."""


def done(work: Callable[[], T]) -> T:
    """Return what the training room answers; its refusals become ours."""
    try:
        return work()
    except TrainingError as error:
        _refuse(error.code)
    except (PracticeDatabaseError, DeviceError) as error:
        log.error("The training room failed: %s", error)
        raise RefusedError(
            503, "storage", "The training book cannot be used; the log of the companion says why."
        ) from error


def _refuse(code: str) -> NoReturn:
    raise refused_as(REFUSALS, code)


def whole_field(body: dict[str, Any], name: str, low: int, high: int) -> int:
    """Return a whole number of a JSON body."""
    value = body.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise bad_field(name)
    return value


def _count(body: dict[str, Any], name: str) -> int:
    return whole_field(body, name, COUNTS.start, COUNTS.stop - 1)


def _person(body: dict[str, Any]) -> int:
    return whole_field(body, "person", 1, MOST_NUMBER)


def _name(body: dict[str, Any]) -> str:
    name = " ".join(text_field(body, "name", 200).split())
    if not name or len(name) > NAME_LENGTH or not name.isprintable():
        raise bad_field("name")
    return name


def _known(text: str, code: str) -> str:
    if len(text) > LONGEST_ID:
        _refuse(code)
    return text


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        _refuse("no-person")
    return int(text)


def _form(person: Trainee) -> dict[str, Any]:
    return {"person": person.id, "name": person.name}


@views.get("/training")
def page() -> Response:
    """Show the training room."""
    language = choose()
    response = make_response(
        render_template(
            "training.html",
            page={
                "language": language,
                "words": {**catalogue_urls(language, "rest"), "main": catalogue_urls(language, "training")["training"]},
                "me": me(),
            },
            house_name=companion().settings.text("house_name"),
            languages=names(),
            language=language,
        )
    )
    response.headers["Cache-Control"] = "no-store"
    response.headers["Vary"] = "Accept-Language, Cookie"
    return response


@views.get("/api/training")
@documented("player", answer=ROOM)
def room() -> Response:
    """Answer who trains here, which igloo one can train with, the open duels, and the ladder."""
    member()
    training = companion().training
    return json_response(
        {
            "people": [_form(person) for person in done(training.people)],
            "igloo": training.igloo_kind(),
            "duels": done(training.duels),
            "ladder": done(training.ladder),
        }
    )


@views.post("/api/training/people")
@documented("player", body=fields(name=NAME), answer=fields(ok=choice(True), person=WHOLE, name=TEXT))
def add_person() -> Response:
    """Enter a person, ``{"name"}``; who is here under that name is that person."""
    member()
    name = _name(json_body())
    return json_response({"ok": True, **_form(done(lambda: companion().training.add_person(name)))})


@views.post("/api/training/people/<person>")
@documented("host", body=fields(name=maybe(NAME)), answer=fields(ok=choice(True), person=WHOLE, name=maybe(TEXT)))
def rename(person: str) -> Response:
    """Rename a person, ``{"name"}``, or forget the name, ``{"name": null}``: the figures stay. The host only."""
    host()
    body = json_body()
    name = None if "name" in body and body["name"] is None else _name(body)
    number = _number(person)
    done(lambda: companion().training.rename(number, name))
    return json_response({"ok": True, "person": number, "name": name})


@views.get("/api/training/people/<person>/figures")
@documented("player", answer=OBJECT)
def figures(person: str) -> Response:
    """Answer a person's progress: by count, over all, by week, and the confusion matrix; beside the machine's."""
    member()
    number = _number(person)
    return json_response(done(lambda: companion().training.figures(number)))


@views.get("/api/training/people/<person>/shakes")
@documented(
    "player",
    query={"before": whole(1, MOST_NUMBER)},
    answer=fields(shakes=listed(OBJECT), kept=WHOLE, more=maybe(WHOLE)),
)
def past(person: str) -> Response:
    """Answer the shakes that a person has answered, newest first; ``?before=MORE`` goes on from there.

    ``sound``: whether one can be heard again; of the igloo's own so many are kept as ``kept`` says.
    """
    member()
    number, before = _number(person), request.args.get("before", str(MOST_NUMBER))
    if not (before.isascii() and before.isdigit() and 0 < int(before[:17]) <= MOST_NUMBER):
        raise bad_field("before")
    return json_response(done(lambda: companion().training.past(number, int(before))))


@views.post("/api/training/rounds")
@documented("player", body=fields(("source",), person=SOMEBODY, source=choice("stored", "igloo")), answer=OBJECT)
def deal() -> Response:
    """Deal a person a shake: ``{"person", "source"?}``, where the source is ``stored`` or ``igloo``."""
    member()
    body = json_body()
    person, source = _person(body), text_field(body, "source", 10, "stored")
    if source not in {"stored", "igloo"}:
        raise bad_field("source")
    training = companion().training
    return json_response(done(lambda: (training.deal if source == "stored" else training.listen)(person)))


@views.get("/api/training/rounds/<round_id>")
@documented("player", answer=OBJECT)
def one_round(round_id: str) -> Response:
    """Answer what may be known of a shake; its truth, and the machine's idea, only when it was answered."""
    member()
    name = _known(round_id, "no-round")
    return json_response(done(lambda: companion().training.round(name)))


@views.get("/api/training/rounds/<round_id>/<speed>.wav")
@documented("player", answer=("audio/wav",))
def sound(round_id: str, speed: str) -> Response:
    """Answer with a shake as sound: ``full``, ``half`` or ``quarter`` speed."""
    member()
    name = _known(round_id, "no-sound")
    return _wav(done(lambda: companion().training.sound(name, speed)))


@views.get("/api/training/examples/<count>/<speed>.wav")
@documented("player", answer=("audio/wav",))
def example(count: str, speed: str) -> Response:
    """Answer with some stored shake of so many beads as sound, to compare with."""
    member()
    number = int(count) if count.isascii() and count.isdigit() and len(count) <= 2 else 0
    return _wav(done(lambda: companion().training.example(number, speed)))


def _wav(data: bytes) -> Response:
    response = send_file(io.BytesIO(data), mimetype="audio/wav", conditional=True, etag=False)
    response.headers["Cache-Control"] = "no-store"
    return response


@views.post("/api/training/rounds/<round_id>/guess")
@documented("player", body=fields(person=SOMEBODY, guess=BEADS), answer=OBJECT)
def guess(round_id: str) -> Response:
    """Take an answer, ``{"person", "guess"}``; the first one counts, the same request again gets the same."""
    member()
    body = json_body()
    name, person, count = _known(round_id, "no-round"), _person(body), _count(body, "guess")
    return json_response(done(lambda: companion().training.guess(name, person, count)))


@views.post("/api/training/rounds/<round_id>/truth")
@documented("player", body=fields(truth=BEADS), answer=OBJECT)
def truth(round_id: str) -> Response:
    """Take what stands under the igloo, ``{"truth"}``, after the answer."""
    member()
    name, count = _known(round_id, "no-round"), _count(json_body(), "truth")
    return json_response(done(lambda: companion().training.tell(name, count)))


@views.post("/api/training/rounds/<round_id>/drop")
@documented("player")
def drop(round_id: str) -> Response:
    """Stop listening to the igloo for a shake that nobody answered."""
    member()
    name = _known(round_id, "no-round")
    done(lambda: companion().training.drop(name))
    return json_response({"ok": True})


@views.post("/api/training/duels")
@documented("player", body=fields(people=listed(SOMEBODY), rounds=whole(1, 20)), answer=OBJECT)
def open_duel() -> Response:
    """Open a duel: ``{"people": [numbers], "rounds": 1 … 20}``."""
    member()
    body = json_body()
    people = body.get("people")
    if not isinstance(people, list) or len(people) > NAME_LENGTH:
        raise bad_field("people")
    numbers = [whole_field({"people": one}, "people", 1, MOST_NUMBER) for one in people]
    rounds = whole_field(body, "rounds", 1, 20)
    return json_response(done(lambda: companion().training.open_duel(numbers, rounds)))


@views.get("/api/training/duels/<duel_id>")
@documented("player", answer=OBJECT)
def duel(duel_id: str) -> Response:
    """Answer a duel: points, the present shake, who has answered it; numbers only when all have."""
    member()
    name = _known(duel_id, "no-duel")
    return json_response(done(lambda: companion().training.duel(name)))


@views.post("/api/training/duels/<duel_id>/next")
@documented("player", body=fields(after=whole(1, 20)), answer=OBJECT)
def next_in_duel(duel_id: str) -> Response:
    """Deal the shake after number ``{"after"}`` of a duel; again, or from another phone, it is dealt once."""
    member()
    name, after = _known(duel_id, "no-duel"), whole_field(json_body(), "after", 1, 20)
    return json_response(done(lambda: companion().training.next_in_duel(name, after)))


@views.post("/api/training/duels/<duel_id>/close")
@documented("player", answer=OBJECT)
def close_duel(duel_id: str) -> Response:
    """End a duel as it stands."""
    member()
    name = _known(duel_id, "no-duel")
    return json_response(done(lambda: companion().training.close_duel(name)))
