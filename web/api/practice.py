"""The training room: the API of drills, duels, progress and ladder.

The truth of a shake stays here until it was answered. Sound is sent as a whole or in ranges, as browsers want it.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Callable
from typing import Annotated, Literal, NoReturn, TypedDict, TypeVar

from flask import Blueprint, Response, send_file
from msgspec import Meta

from companion.ports import COUNTS, DeviceError
from companion.practice.database import PracticeDatabaseError, Trainee
from companion.practice.forms import DuelForm, LadderRow, OpenDuel, PastShakes, PersonFigures, RoundForm
from companion.practice.shakes import TrainingError
from companion.rules.names import proper_name
from web.http.openapi import DoneForm, documented
from web.http.requests import Body, Query
from web.http.responses import RefusedError, bad_field, refused_as
from web.http.sessions import companion

views = Blueprint("api_training", __name__)
log = logging.getLogger(__name__)

MOST_NUMBER = 2**53
LONGEST_ID = 40
T = TypeVar("T")

NameText = Annotated[str, Meta(max_length=200)]
PersonNumber = Annotated[int, Meta(ge=1, le=MOST_NUMBER)]
Beads = Annotated[int, Meta(ge=COUNTS.start, le=COUNTS.stop - 1)]
DuelNumber = Annotated[int, Meta(ge=1, le=20)]


class TraineeForm(TypedDict):
    """Somebody who trains here."""

    person: int
    name: str | None


class EnteredTrainee(TraineeForm):
    """Somebody who was entered, or renamed."""

    ok: Literal[True]


class PracticeRoom(TypedDict):
    """Who trains here, which igloo one can train with, the open duels, the ladder."""

    people: list[TraineeForm]
    igloo: str | None
    duels: list[OpenDuel]
    ladder: list[LadderRow]


class NewTrainee(Body, frozen=True):
    """Who trains here from now on."""

    name: NameText


class TraineeName(Body, frozen=True):
    """Another name, or null to forget it."""

    name: NameText | None


class PastQuery(Query, frozen=True):
    """From before which number on."""

    before: PersonNumber = MOST_NUMBER


class DealRequest(Body, frozen=True):
    """For whom, and whether a stored shake or the igloo's."""

    person: PersonNumber
    source: Literal["stored", "igloo"] = "stored"


class GuessRequest(Body, frozen=True):
    """Who says how many."""

    person: PersonNumber
    guess: Beads


class TruthRequest(Body, frozen=True):
    """How many stand under the igloo."""

    truth: Beads


class NewDuel(Body, frozen=True):
    """Who against whom, over how many shakes."""

    people: Annotated[list[PersonNumber], Meta(max_length=LONGEST_ID)]
    rounds: DuelNumber


class NextInDuel(Body, frozen=True):
    """After which shake of a duel."""

    after: DuelNumber


REFUSALS: tuple[Callable[[], RefusedError], ...] = (
    lambda: RefusedError(404, "no-person", "Nobody of that name trains here."),
    lambda: RefusedError(409, "name-taken", "Somebody else here has that name."),
    lambda: RefusedError(409, "too-many", "Too many people train here already; forget some first."),
    lambda: RefusedError(404, "no-round", "This shake is not here any more. Take another."),
    lambda: RefusedError(404, "no-sound", "This shake cannot be heard, or has not been heard yet."),
    lambda: RefusedError(404, "given-away", "This shake of the igloo gave way to newer ones and cannot be heard."),
    lambda: RefusedError(404, "no-duel", "There is no such duel."),
    lambda: RefusedError(409, "no-igloo", "There is no sensor igloo to train with."),
    lambda: RefusedError(409, "no-answer", "Not everybody has answered yet."),
    lambda: RefusedError(403, "not-yours", "This shake is for somebody else."),
    lambda: RefusedError(409, "over", "The number is known already."),
    lambda: RefusedError(409, "known", "The number of a stored shake is known."),
    lambda: RefusedError(400, "duellists", "A duel is for two to eight different people."),
    lambda: RefusedError(409, "not-ready", "The shakes to take along are still being made."),
    lambda: RefusedError(400, "bad-results", "These are not results of training on the way."),
    lambda: RefusedError(
        404, "no-file", "These results come from a file that is not known here: from another house, or too long ago."
    ),
    lambda: RefusedError(
        409, "live-round", "A round is live: until it is over, nothing is said about the igloo on the table."
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


def _name(text: str) -> str:
    name = proper_name(text)
    if name is None:
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


def _form(person: Trainee) -> TraineeForm:
    return {"person": person.id, "name": person.name}


@views.get("/api/training")
@documented("player")
def room() -> PracticeRoom:
    """Answer who trains here, which igloo one can train with, the open duels, and the ladder."""
    training = companion().training
    return {
        "people": [_form(person) for person in done(training.people)],
        "igloo": training.igloo_kind(),
        "duels": done(training.duels),
        "ladder": done(training.ladder),
    }


@views.post("/api/training/people")
@documented("player")
def add_person(body: NewTrainee) -> EnteredTrainee:
    """Enter a person, ``{"name"}``; who is here under that name is that person."""
    name = _name(body.name)
    return {"ok": True, **_form(done(lambda: companion().training.add_person(name)))}


@views.post("/api/training/people/<person>")
@documented("host")
def rename(person: str, body: TraineeName) -> EnteredTrainee:
    """Rename a person, ``{"name"}``, or forget the name, ``{"name": null}``: the figures stay. The host only."""
    name = None if body.name is None else _name(body.name)
    number = _number(person)
    done(lambda: companion().training.rename(number, name))
    return {"ok": True, "person": number, "name": name}


@views.get("/api/training/people/<person>/figures")
@documented("player")
def figures(person: str) -> PersonFigures:
    """Answer a person's progress: by count, over all, by week, and the confusion matrix; beside the machine's."""
    number = _number(person)
    return done(lambda: companion().training.figures(number))


@views.get("/api/training/people/<person>/shakes")
@documented("player")
def past(person: str, query: PastQuery) -> PastShakes:
    """Answer the shakes that a person has answered, newest first; ``?before=MORE`` goes on from there.

    ``sound``: whether one can be heard again; of the igloo's own so many are kept as ``kept`` says.
    """
    number = _number(person)
    return done(lambda: companion().training.past(number, query.before))


@views.post("/api/training/rounds")
@documented("player")
def deal(body: DealRequest) -> RoundForm:
    """Deal a person a shake: ``{"person", "source"?}``, where the source is ``stored`` or ``igloo``."""
    training = companion().training
    return done(lambda: (training.deal if body.source == "stored" else training.listen)(body.person))


@views.get("/api/training/rounds/<round_id>")
@documented("player")
def one_round(round_id: str) -> RoundForm:
    """Answer what may be known of a shake; its truth, and the machine's idea, only when it was answered."""
    name = _known(round_id, "no-round")
    return done(lambda: companion().training.round(name))


@views.get("/api/training/rounds/<round_id>/<speed>.wav")
@documented("player", answer=("audio/wav",))
def sound(round_id: str, speed: str) -> Response:
    """Answer with a shake as sound: ``full``, ``half`` or ``quarter`` speed."""
    name = _known(round_id, "no-sound")
    return _wav(done(lambda: companion().training.sound(name, speed)))


@views.get("/api/training/examples/<count>/<speed>.wav")
@documented("player", answer=("audio/wav",))
def example(count: str, speed: str) -> Response:
    """Answer with some stored shake of so many beads as sound, to compare with."""
    number = int(count) if count.isascii() and count.isdigit() and len(count) <= 2 else 0
    return _wav(done(lambda: companion().training.example(number, speed)))


def _wav(data: bytes) -> Response:
    response = send_file(io.BytesIO(data), mimetype="audio/wav", conditional=True, etag=False)
    response.headers["Cache-Control"] = "no-store"
    return response


@views.post("/api/training/rounds/<round_id>/guess")
@documented("player")
def guess(round_id: str, body: GuessRequest) -> RoundForm:
    """Take an answer, ``{"person", "guess"}``; the first one counts, the same request again gets the same."""
    name = _known(round_id, "no-round")
    return done(lambda: companion().training.guess(name, body.person, body.guess))


@views.post("/api/training/rounds/<round_id>/truth")
@documented("player")
def truth(round_id: str, body: TruthRequest) -> RoundForm:
    """Take what stands under the igloo, ``{"truth"}``, after the answer."""
    name = _known(round_id, "no-round")
    return done(lambda: companion().training.tell(name, body.truth))


@views.post("/api/training/rounds/<round_id>/drop")
@documented("player")
def drop(round_id: str) -> DoneForm:
    """Stop listening to the igloo for a shake that nobody answered."""
    name = _known(round_id, "no-round")
    done(lambda: companion().training.drop(name))
    return {"ok": True}


@views.post("/api/training/duels")
@documented("player")
def open_duel(body: NewDuel) -> DuelForm:
    """Open a duel: ``{"people": [numbers], "rounds": 1 … 20}``."""
    return done(lambda: companion().training.open_duel(body.people, body.rounds))


@views.get("/api/training/duels/<duel_id>")
@documented("player")
def duel(duel_id: str) -> DuelForm:
    """Answer a duel: points, the present shake, who has answered it; numbers only when all have."""
    name = _known(duel_id, "no-duel")
    return done(lambda: companion().training.duel(name))


@views.post("/api/training/duels/<duel_id>/next")
@documented("player")
def next_in_duel(duel_id: str, body: NextInDuel) -> DuelForm:
    """Deal the shake after number ``{"after"}`` of a duel; again, or from another phone, it is dealt once."""
    name = _known(duel_id, "no-duel")
    return done(lambda: companion().training.next_in_duel(name, body.after))


@views.post("/api/training/duels/<duel_id>/close")
@documented("player")
def close_duel(duel_id: str) -> DuelForm:
    """End a duel as it stands."""
    name = _known(duel_id, "no-duel")
    return done(lambda: companion().training.close_duel(name))
