"""The API of the igloo's bench: calibrate, enrol, record and label, and the referee's guided count.

One sitting goes on at a time, for everybody at the table; in a live round there is none. What it is at is in
``GET /api/igloo`` and, as it happens, in the events ``bench`` of the stream.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Literal, TypedDict

from flask import Blueprint, Response
from msgspec import UNSET, Meta, UnsetType

from companion.ports import COUNTS, BadDataError, DeviceError
from companion.rules.core import JSON
from companion.rules.names import MOST_CODE_POINTS, proper_name
from web.http.openapi import documented
from web.http.requests import Body
from web.http.responses import RefusedError, bad_field
from web.http.sessions import companion
from web.protocols.companion import CalibrationApi

views = Blueprint("api_igloo", __name__, url_prefix="/api/igloo")

KEY_LENGTH = 200
RECORDING = re.compile(r"[0-9a-f]{12}")
DeviceName = Annotated[str, Meta(max_length=KEY_LENGTH)]
HandName = Annotated[str, Meta(max_length=MOST_CODE_POINTS)]
BeadCount = Annotated[int, Meta(ge=COUNTS.start, le=COUNTS.stop - 1)]


class BenchState(TypedDict):
    """The present sitting, or null; in a live round only that it is hidden."""

    hidden: bool
    revision: int
    sitting: dict[str, JSON] | None


class SittingAnswer(BenchState):
    """What the bench is at, now that it was done."""

    ok: Literal[True]


class BenchOverview(BenchState):
    """The igloos that can be measured, the calibrations with their figures, the recordings."""

    igloos: list[dict[str, JSON]]
    calibrations: list[dict[str, JSON]]
    recordings: list[dict[str, JSON]]


class SittingRequest(Body, frozen=True):
    """What is to be done with which igloo, by whom; ``way``, ``anew``, ``recording`` calibrate, ``count`` records."""

    task: Literal["calibrate", "record", "referee", "shake-on"]
    igloo: DeviceName = ""
    person: HandName = ""
    guided: bool = False
    way: Literal["cap", "filled"] = "cap"
    anew: bool = False
    recording: Annotated[str, Meta(pattern=r"^[0-9a-f]{12}$(?!\n)")] | None = None
    count: BeadCount | UnsetType = UNSET


class SittingChange(Body, frozen=True):
    """Another number, another hand, or a rest."""

    count: BeadCount | UnsetType = UNSET
    paused: bool | None = None
    person: HandName | UnsetType = UNSET


class CalibrationChoice(Body, frozen=True):
    """Whether an igloo's calibration counts, and whose hand shakes it."""

    device: DeviceName
    use: bool | None = None
    person: HandName | UnsetType = UNSET


class CalibrationName(Body, frozen=True):
    """Which igloo's calibration."""

    device: DeviceName


def _calibration_run() -> CalibrationApi:
    """Return the bench, when no round is live.

    :raises RefusedError: while a round is live.
    """
    if not companion().night.gate.is_open():
        raise RefusedError(
            409,
            "live-round",
            "A round is live: until it is over, nothing is said about the igloo on the table.",
        )
    return companion().calibration_run


@contextmanager
def device_refusals(code: str) -> Iterator[None]:
    """Turn what a sensor, its data or the disk refuse into ours, the first two with that code."""
    try:
        yield
    except DeviceError as error:
        raise RefusedError(409, code, str(error)) from None
    except BadDataError as error:
        raise RefusedError(422, code, str(error)) from None
    except OSError as error:
        raise RefusedError(503, "storage", "This could not be kept: the disk refused.") from error


def _done(work: Callable[[], None]) -> SittingAnswer:
    """Do something at the bench and answer what it is at; its refusals become ours."""
    try:
        with device_refusals("bench"):
            work()
    except KeyError:
        raise RefusedError(404, "no-recording", "There is no such recording.") from None
    state = companion().calibration_run.state()
    return {"ok": True, "hidden": state["hidden"], "revision": state["revision"], "sitting": state["sitting"]}


def _hand(text: str) -> str:
    name = proper_name(text) if text.strip() else ""
    if name is None:
        raise bad_field("person")
    return name


@views.get("")
@documented("player", answer=BenchOverview)
def overview() -> dict[str, JSON]:
    """Answer which igloos there are, the calibrations with their figures, the recordings, and the present sitting."""
    return companion().calibration_run.overview()


@views.post("/sitting")
@documented("player")
def begin(body: SittingRequest) -> SittingAnswer:
    """Begin a sitting: ``calibrate`` (``way``, go on with a ``recording``), ``record`` (``count``), or a count.

    ``referee`` is the referee's count with the beat, ``shake-on`` the same by free shakes.
    """
    calibration_run, person = _calibration_run(), _hand(body.person)
    if body.task in ("referee", "shake-on"):
        return _done(lambda: calibration_run.referee(body.igloo, person=person, free=body.task == "shake-on"))
    if body.task == "calibrate":
        return _done(
            lambda: calibration_run.calibrate(
                body.igloo,
                person=person,
                guided=body.guided,
                way=body.way,
                anew=body.anew,
                resume=body.recording,
            )
        )
    count = body.count
    if isinstance(count, UnsetType):
        raise bad_field("count")
    return _done(lambda: calibration_run.record(body.igloo, person=person, guided=body.guided, count=count))


@views.post("/sitting/change")
@documented("player")
def alter(body: SittingChange) -> SittingAnswer:
    """Say that another number is shaken next, by whom, or that listening rests."""
    calibration_run = _calibration_run()
    count = None if isinstance(body.count, UnsetType) else body.count
    person = None if isinstance(body.person, UnsetType) else _hand(body.person)
    return _done(lambda: calibration_run.alter(count=count, paused=body.paused, person=person))


@views.post("/sitting/other-hand")
@documented("player")
def other_hand() -> SittingAnswer:
    """Say that somebody else shakes from now on, in the referee's count."""
    return _done(_calibration_run().other_hand)


@views.post("/sitting/take-back")
@documented("player")
def take_back() -> SittingAnswer:
    """Forget the last shake of the sitting."""
    return _done(_calibration_run().take_back)


@views.post("/sitting/keep")
@documented("player")
def keep() -> SittingAnswer:
    """Have the igloo counted by what was gathered, from now on."""
    return _done(_calibration_run().keep)


@views.post("/sitting/stop")
@documented("player")
def stop() -> SittingAnswer:
    """End the sitting; what was recorded stays."""
    return _done(companion().calibration_run.stop)


@views.post("/sitting/simulate")
@documented("player")
def simulate() -> SittingAnswer:
    """Have the simulated igloo shaken with the number that the sitting asks for."""
    return _done(_calibration_run().shake_simulated)


@views.post("/calibration")
@documented("player")
def choose(body: CalibrationChoice) -> SittingAnswer:
    """Choose whether an igloo's calibration counts, and whose hand shakes it."""
    calibration_run, device = _calibration_run(), _device(body.device)
    person = None if isinstance(body.person, UnsetType) else _hand(body.person)
    return _done(lambda: calibration_run.choose(device, use=body.use, person=person))


@views.post("/calibration/undo")
@documented("player")
def undo(body: CalibrationName) -> SittingAnswer:
    """Bring back the calibration that was there before the last one; where there was none, there is none again."""
    calibration_run, device = _calibration_run(), _device(body.device)
    return _done(lambda: calibration_run.undo(device))


@views.post("/calibration/forget")
@documented("host")
def forget(body: CalibrationName) -> SittingAnswer:
    """Remove an igloo's calibration, and the one before it; only the host may."""
    calibration_run, device = _calibration_run(), _device(body.device)
    return _done(lambda: calibration_run.forget(device))


def _device(device: str) -> str:
    """Return the name of an igloo that has a calibration.

    :raises RefusedError: where it has none.
    """
    if all(one["device"] != device for one in companion().calibration_run.overview()["calibrations"]):
        raise RefusedError(404, "not-calibrated", "This igloo has no calibration.")
    return device


@views.get("/recordings/<name>.npz")
@documented("player", answer=("application/octet-stream",))
def recording(name: str) -> Response:
    """Answer with a recording: labelled shakes, as `companion shake train --from` and `shake calibrate` take them."""
    calibration_run = _calibration_run()
    found: list[bytes] = []
    _done(lambda: found.append(calibration_run.recording(_known(name))))
    _calibration_run()
    response = Response(found[0], mimetype="application/octet-stream")
    response.headers["Content-Disposition"] = f'attachment; filename="shakes-{name}.npz"'
    response.headers["Cache-Control"] = "no-store"
    return response


@views.post("/recordings/<name>/forget")
@documented("host")
def forget_recording(name: str) -> SittingAnswer:
    """Remove a recording; only the host may."""
    calibration_run = _calibration_run()
    return _done(lambda: calibration_run.forget_recording(_known(name)))


def _known(name: str) -> str:
    """Return the name of a recording, if it can be one: nothing else reaches the disk.

    :raises KeyError: when it cannot.
    """
    if not RECORDING.fullmatch(name):
        raise KeyError(name)
    return name
