"""The API of the igloo's bench: calibrate, enrol, record and label, and the referee's guided count.

One sitting goes on at a time, for everybody at the table; in a live round there is none. What it is at is in
``GET /api/igloo`` and, as it happens, in the events ``bench`` of the stream.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response

from companion.ports import COUNTS, BadDataError, DeviceError
from web.http.openapi import FLAG, OBJECT, choice, documented, fields, listed, maybe, text, whole
from web.http.responses import RefusedError, bad_field, json_body, json_response, text_field
from web.http.sessions import companion, host, member
from web.protocols.companion import CalibrationApi

views = Blueprint("api_igloo", __name__, url_prefix="/api/igloo")

KEY_LENGTH = 200
NAME_LENGTH = 40
RECORDING = re.compile(r"[0-9a-f]{12}")
TASKS = ("calibrate", "record", "referee")
WAYS = ("cap", "filled")
COUNT = whole(COUNTS.start, COUNTS.stop - 1)
STATE = {"hidden": FLAG, "sitting": maybe(OBJECT)}
ANSWER = fields(ok=choice(True), **STATE)


def _calibration_run() -> CalibrationApi:
    """Return the bench, when no round is live.

    :raises RefusedError: while a round is live.
    """
    if companion().night.live_round():
        raise RefusedError(
            409,
            "live-round",
            "A round is live: until it is over, nothing is said of the igloo on the table.",
        )
    return companion().calibration_run


def _done(work: Callable[[], None]) -> Response:
    """Do something at the bench and answer what it is at; its refusals become ours."""
    try:
        work()
    except DeviceError as error:
        raise RefusedError(409, "bench", str(error)) from None
    except BadDataError as error:
        raise RefusedError(422, "bench", str(error)) from None
    except KeyError:
        raise RefusedError(404, "no-recording", "There is no such recording.") from None
    except OSError as error:
        raise RefusedError(503, "storage", "This could not be kept: the disk refused.") from error
    return json_response({"ok": True, **companion().calibration_run.state()})


def _person(body: dict[str, Any]) -> str:
    return " ".join(text_field(body, "person", NAME_LENGTH, "").split())


def _flag(body: dict[str, Any], name: str, default: bool | None = False) -> bool | None:
    value = body.get(name, default)
    if value is not default and not isinstance(value, bool):
        raise bad_field(name)
    return value


def _count(body: dict[str, Any]) -> int:
    value = body.get("count")
    if isinstance(value, bool) or not isinstance(value, int) or value not in COUNTS:
        raise bad_field("count")
    return value


@views.get("")
@documented(
    "player", answer=fields(igloos=listed(OBJECT), calibrations=listed(OBJECT), recordings=listed(OBJECT), **STATE)
)
def overview() -> Response:
    """Answer which igloos there are, the calibrations with their figures, the recordings, and the present sitting."""
    member()
    return json_response(companion().calibration_run.overview())


@views.post("/sitting")
@documented(
    "player",
    body=fields(
        ("igloo", "person", "guided", "way", "anew", "recording", "count"),
        task=choice(*TASKS),
        igloo=text(KEY_LENGTH),
        person=text(NAME_LENGTH),
        guided=FLAG,
        way=choice(*WAYS),
        anew=FLAG,
        recording=maybe(text(12)),
        count=COUNT,
    ),
    answer=ANSWER,
)
def begin() -> Response:
    """Begin a sitting: ``calibrate`` (``way``, go on with a ``recording``), ``record`` (``count``) or ``referee``."""
    member()
    calibration_run, body = _calibration_run(), json_body()
    task, key, person = text_field(body, "task", 20), text_field(body, "igloo", KEY_LENGTH, ""), _person(body)
    guided = bool(_flag(body, "guided"))
    if task == "calibrate":
        way, resume = text_field(body, "way", 10, WAYS[0]), body.get("recording")
        if way not in WAYS:
            raise bad_field("way")
        if resume is not None and (not isinstance(resume, str) or not RECORDING.fullmatch(resume)):
            raise bad_field("recording")
        anew = bool(_flag(body, "anew"))
        return _done(
            lambda: calibration_run.calibrate(key, person=person, guided=guided, way=way, anew=anew, resume=resume)
        )
    if task == "record":
        count = _count(body)
        return _done(lambda: calibration_run.record(key, person=person, guided=guided, count=count))
    if task == "referee":
        return _done(lambda: calibration_run.referee(key, person=person))
    raise bad_field("task")


@views.post("/sitting/change")
@documented(
    "player",
    body=fields(("count", "paused", "person"), count=COUNT, paused=FLAG, person=text(NAME_LENGTH)),
    answer=ANSWER,
)
def alter() -> Response:
    """Say that another number is shaken next, by whom, or that listening rests."""
    member()
    calibration_run, body = _calibration_run(), json_body()
    count = _count(body) if "count" in body else None
    person = _person(body) if "person" in body else None
    paused = _flag(body, "paused", None)
    return _done(lambda: calibration_run.alter(count=count, paused=paused, person=person))


@views.post("/sitting/other-hand")
@documented("player", body=fields(), answer=ANSWER)
def other_hand() -> Response:
    """Say that somebody else shakes from now on, in the referee's count."""
    member()
    return _done(_calibration_run().other_hand)


@views.post("/sitting/take-back")
@documented("player", body=fields(), answer=ANSWER)
def take_back() -> Response:
    """Forget the last shake of the sitting."""
    member()
    return _done(_calibration_run().take_back)


@views.post("/sitting/keep")
@documented("player", body=fields(), answer=ANSWER)
def keep() -> Response:
    """Have the igloo counted by what was gathered, from now on."""
    member()
    return _done(_calibration_run().keep)


@views.post("/sitting/stop")
@documented("player", body=fields(), answer=ANSWER)
def stop() -> Response:
    """End the sitting; what was recorded stays."""
    member()
    return _done(companion().calibration_run.stop)


@views.post("/sitting/simulate")
@documented("player", body=fields(), answer=ANSWER)
def simulate() -> Response:
    """Have the simulated igloo shaken with the number that the sitting asks for."""
    member()
    return _done(_calibration_run().shake_simulated)


@views.post("/calibration")
@documented(
    "player",
    body=fields(("use", "person"), device=text(KEY_LENGTH), use=FLAG, person=text(NAME_LENGTH)),
    answer=ANSWER,
)
def choose() -> Response:
    """Choose whether an igloo's calibration counts, and whose hand shakes it."""
    member()
    calibration_run, body = _calibration_run(), json_body()
    device, use = _device(body), _flag(body, "use", None)
    person = _person(body) if "person" in body else None
    return _done(lambda: calibration_run.choose(device, use=use, person=person))


@views.post("/calibration/undo")
@documented("player", body=fields(device=text(KEY_LENGTH)), answer=ANSWER)
def undo() -> Response:
    """Bring back the calibration that was there before the last one; where there was none, there is none again."""
    member()
    calibration_run, device = _calibration_run(), _device(json_body())
    return _done(lambda: calibration_run.undo(device))


@views.post("/calibration/forget")
@documented("host", body=fields(device=text(KEY_LENGTH)), answer=ANSWER)
def forget() -> Response:
    """Remove an igloo's calibration, and the one before it; only the host may."""
    host()
    calibration_run, device = _calibration_run(), _device(json_body())
    return _done(lambda: calibration_run.forget(device))


def _device(body: dict[str, Any]) -> str:
    """Return the name of an igloo that has a calibration.

    :raises RefusedError: where it has none.
    """
    device = text_field(body, "device", KEY_LENGTH)
    if all(one["device"] != device for one in companion().calibration_run.overview()["calibrations"]):
        raise RefusedError(404, "not-calibrated", "This igloo has no calibration.")
    return device


@views.get("/recordings/<name>.npz")
@documented("player", answer=("application/octet-stream",))
def recording(name: str) -> Response:
    """Answer with a recording: labelled shakes, as `companion shake train --from` and `shake calibrate` take them."""
    member()
    calibration_run = _calibration_run()
    found: list[bytes] = []
    _done(lambda: found.append(calibration_run.recording(_known(name))))
    response = Response(found[0], mimetype="application/octet-stream")
    response.headers["Content-Disposition"] = f'attachment; filename="shakes-{name}.npz"'
    response.headers["Cache-Control"] = "no-store"
    return response


@views.post("/recordings/<name>/forget")
@documented("host", body=fields(), answer=ANSWER)
def forget_recording(name: str) -> Response:
    """Remove a recording; only the host may."""
    host()
    calibration_run = _calibration_run()
    return _done(lambda: calibration_run.forget_recording(_known(name)))


def _known(name: str) -> str:
    """Return the name of a recording, if it can be one: nothing else reaches the disk.

    :raises KeyError: when it cannot.
    """
    if not RECORDING.fullmatch(name):
        raise KeyError(name)
    return name
