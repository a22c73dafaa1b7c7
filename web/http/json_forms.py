"""The JSON forms of device values, on the live stream and in the API: one form, made in one place.

The service publishes ``hub.publish("igloo", igloos_form(...))`` and so on, and the API answers with the same.
Sentences in ``note`` and ``why`` are English message ids; the page translates them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, NotRequired, TypedDict

from companion.night.commands.ballot import OpenBallot
from companion.rules import game, games
from companion.rules.core import JSON
from companion.rules.rulebook import rulebook
from web.http.responses import Sentence
from web.protocols.companion import CompanionApi

if TYPE_CHECKING:
    from companion.ports import CameraStatus, CountGate, CountPosterior, IglooStatus, Motion, TableStatus


class IglooForm(TypedDict):
    """An igloo's link: what, where, how fast (Hz), and everything that went wrong on the line."""

    key: str
    kind: str
    state: str
    port: str
    unit: int | None
    rate_hz: float | None
    nominal_hz: float | None
    protocol: str
    counts: dict[str, int]
    sensor_state: int | None
    note: str


class IgloosForm(TypedDict):
    """The igloos, and whether one is simulated and may be played with."""

    igloos: list[IglooForm]
    simulated: bool


class MotionForm(TypedDict):
    """The newest change of motion; ``state`` is null when nothing was felt yet."""

    state: str | None
    key: NotRequired[str]
    kind: NotRequired[str]
    tilt_deg: NotRequired[float | None]


class CountForm(TypedDict):
    """The newest count, of which igloo; while it is ``hidden`` nothing that it could be told from."""

    hidden: bool
    state: str | None
    count: NotRequired[int | None]
    posterior: NotRequired[dict[str, float] | None]
    seconds: NotRequired[float]
    why: NotRequired[str]
    key: NotRequired[str]
    kind: NotRequired[str]


class MarkersForm(TypedDict):
    """What the newest picture shows of the markers."""

    markers: list[int]
    missing: list[int]
    straight: bool
    number: int
    note: str


class CameraSourceForm(TypedDict):
    """How the camera is doing."""

    source: str
    kind: str
    state: str
    width: int
    height: int
    fps: float
    note: str


class CameraForm(TypedDict):
    """The camera (null: no source was chosen), the markers, and how the following of the game stands."""

    camera: CameraSourceForm | None
    table: MarkersForm | None
    follow: Mapping[str, JSON]


class OptionWords(TypedDict):
    """An option's game, question and values (each with ``value`` beside its words) in every language."""

    game: str
    question: Sentence
    values: list[dict[str, JSON]]


class BallotForm(OpenBallot):
    """The open vote with its words."""

    game: NotRequired[str]
    question: NotRequired[Sentence]
    values: NotRequired[list[dict[str, JSON]]]


def igloo_form(status: IglooStatus) -> IglooForm:
    """Return one igloo link: what, where, how fast (Hz), and everything that went wrong on the line."""
    return {
        "key": status.key,
        "kind": str(status.kind),
        "state": str(status.state),
        "port": status.port,
        "unit": status.unit,
        "rate_hz": None if status.rate_hz is None else round(status.rate_hz, 2),
        "nominal_hz": status.nominal_hz,
        "protocol": status.protocol,
        "counts": asdict(status.counts),
        "sensor_state": status.sensor_state,
        "note": status.note,
    }


def igloos_form(statuses: Iterable[IglooStatus], *, simulated: bool) -> IgloosForm:
    """Return the data of topic ``igloo``; ``simulated`` says whether the page may offer to play with one."""
    return {"igloos": [igloo_form(status) for status in statuses], "simulated": simulated}


def motion_form(motion: Motion | None) -> MotionForm:
    """Return the data of topic ``motion``; ``state`` is null when nothing was felt yet."""
    if motion is None:
        return {"state": None}
    tilt = None if motion.tilt_deg is None else round(motion.tilt_deg, 1)
    return {"key": motion.key, "state": str(motion.state), "kind": str(motion.kind), "tilt_deg": tilt}


def count_form(count: CountPosterior | None, gate: CountGate) -> CountForm:
    """Return the data of topic ``count``; while the gate is shut it holds nothing that a count could be told from."""
    told: CountForm = {"hidden": False, "state": None}
    if count is not None:
        told = {"hidden": False, "key": count.key, "kind": str(count.kind), **count.to_json()}
    hidden: CountForm = {"hidden": True, "state": None}
    return gate.through(told, hidden)


def table_form(table: TableStatus | None) -> MarkersForm | None:
    """Return what the newest picture shows of the markers."""
    if table is None:
        return None
    return {
        "markers": list(table.markers),
        "missing": list(table.missing),
        "straight": table.straight,
        "number": table.number,
        "note": table.note,
    }


def camera_form(status: CameraStatus | None, table: TableStatus | None, follow: Mapping[str, JSON]) -> CameraForm:
    """Return the data of topic ``camera``; ``camera`` is null when no source was chosen.

    ``follow`` is how the following of the game stands (:meth:`web.protocols.camera.CameraApi.status`).
    """
    camera: CameraSourceForm | None = None
    if status is not None:
        camera = {
            "source": status.source,
            "kind": str(status.kind),
            "state": str(status.state),
            "width": status.width,
            "height": status.height,
            "fps": round(status.fps, 1),
            "note": status.note,
        }
    return {"camera": camera, "table": table_form(table), "follow": follow}


def ballot_form(companion: CompanionApi) -> BallotForm:
    """Return the open vote as everybody may know it, with its question and values in every language."""
    form = companion.ballots.form()
    if form["option"] is None:
        return {"option": None, "last": form["last"]}
    return {**form, **option_words(form["option"])}


def option_words(option: str) -> OptionWords:
    """Return an option's game, question and values with their words in every language."""
    found = next(one for one in games(examples=True) if any(known.name == option for known in game(one).options))
    values = next(known.values for known in game(found).options if known.name == option)
    text = rulebook(found).option(option)
    return {
        "game": found,
        "question": text.question.to_json(),
        "values": [{"value": value, **text.value(value).to_json()} for value in values],
    }
