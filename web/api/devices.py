"""The API of the devices: pictures in and out, the source of the camera, the simulated igloo.

Pictures of the table are for those who take part: they show the room. No path comes from a request: a kept picture
is named by its hash, a live one by one of two words.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, TypedDict

from flask import Blueprint, Response
from msgspec import Meta

from companion.ports import BadDataError, DeviceError, SimulatedAction
from companion.rules.core import JSON
from web.http.json_forms import CameraForm, MarkersForm, camera_form, table_form
from web.http.openapi import DoneForm, documented
from web.http.requests import Body, Sha256, photo_body
from web.http.responses import RefusedError, Sentence, short_memory
from web.http.sessions import companion, sees_pictures

views = Blueprint("api_devices", __name__, url_prefix="/api")

SHA256 = re.compile(r"[0-9a-f]{64}")
PICTURE_TYPES = {"image/jpeg", "image/png"}


class KeptEvidence(TypedDict):
    """The name of the picture that was kept."""

    ok: Literal[True]
    sha256: str


class PhotoMarkers(TypedDict):
    """What a photo shows of the markers."""

    ok: Literal[True]
    table: MarkersForm | None


class CameraRequest(Body, frozen=True):
    """A source of pictures, as ``usb:0``."""

    source: Annotated[str, Meta(max_length=500)]


class ChosenCamera(CameraForm):
    """The camera as it is now."""

    ok: Literal[True]


class OtherDevices(TypedDict):
    """Buttons and lights, and the line to a home's automation; null for none."""

    panel: dict[str, JSON] | None
    mqtt: dict[str, str] | None


class FindingForm(TypedDict):
    """What the doctor found, and the cure or null."""

    check: str
    state: str
    en: str
    fr: str
    cure: Sentence | None
    facts: dict[str, JSON]


class Findings(TypedDict):
    """All that the doctor found."""

    findings: list[FindingForm]


class SimulatedRequest(Body, frozen=True):
    """What is done to the simulated igloo, and with how many beads."""

    action: SimulatedAction
    count: Annotated[int, Meta(ge=2, le=13)] | None = None


def _picture(data: bytes, mimetype: str, keep: bool) -> Response:
    response = Response(data, mimetype=mimetype)
    response.headers["Cache-Control"] = "private, max-age=31536000, immutable" if keep else "no-store"
    return response


def said_by_device(error: Exception) -> RefusedError:
    """Return the refusal that says what a device says."""
    if isinstance(error, MemoryError):
        return short_memory()
    # A camera's error has its constant sentence in `note`; what varies stands beside it.
    return RefusedError(422, "device", str(getattr(error, "note", error)))


@views.get("/camera/<which>.jpg")
@documented("player", guard=sees_pictures, answer=("image/jpeg",))
def picture(which: str) -> Response:
    """Answer with the newest ``frame``, or the newest straightened ``table``; who may see it is set by the host."""
    if which not in {"frame", "table"}:
        raise RefusedError(404, "not-found", "There is nothing here.")
    data = companion().camera_service.jpeg(which)
    if data is None:
        raise RefusedError(404, "no-picture", "There is no picture yet.")
    return _picture(data, "image/jpeg", keep=False)


@views.get("/evidence/<sha256>")
@documented("player", guard=sees_pictures, answer=("image/jpeg", "image/png"))
def evidence(sha256: Sha256) -> Response:
    """Answer with a picture that was kept as evidence; who may see it is set by the host."""
    found = companion().pictures.open(sha256) if SHA256.fullmatch(sha256) else None
    if found is None or found[1] not in PICTURE_TYPES:
        raise RefusedError(404, "no-picture", "This picture is not kept here.")
    return _picture(*found, keep=True)


@views.post("/evidence")
@documented("player")
def keep_evidence() -> KeptEvidence:
    """Keep the newest picture beside the journal, with the round that is being played."""
    kept = companion().camera_service.keep_evidence()
    if kept is None:
        raise RefusedError(409, "no-picture", "There is no picture yet.")
    return {"ok": True, "sha256": kept.sha256}


@views.post("/photo")
@documented("player", media="image/*")
def photo() -> PhotoMarkers:
    """Take in a photo (the body is the picture: JPEG, PNG …) and answer what it shows of the markers."""
    try:
        table = companion().camera_service.take_photo(photo_body())
    except BadDataError as error:
        raise said_by_device(error) from None
    return {"ok": True, "table": table_form(table)}


@views.post("/camera")
@documented("host")
def use_camera(body: CameraRequest) -> ChosenCamera:
    """Change the source of pictures: ``{"source": "usb:0"}``; only the host may."""
    camera = companion().camera_service
    try:
        camera.choose(body.source)
    except (BadDataError, DeviceError) as error:
        raise said_by_device(error) from None
    form = camera_form(camera.status(), camera.table(), companion().follow_service.status())
    return {"ok": True, **form}


@views.get("/devices")
@documented("player", answer=OtherDevices)
def others() -> dict[str, JSON]:
    """Answer how buttons and lights (``panel``), and the line to a home's automation (``mqtt``), are doing."""
    return companion().other_devices()


@views.post("/doctor")
@documented("host", answer=Findings)
def doctor() -> dict[str, JSON]:
    """Look at everything, as ``companion doctor`` does, and answer what was found; the host only."""
    return {"findings": [{**one, "facts": {}} for one in companion().check_up()]}


@views.post("/simulate")
@documented("player")
def simulate(body: SimulatedRequest) -> DoneForm:
    """Play with the simulated igloo: ``{"action", "count"?}``; 409 where there is none."""
    igloos = companion().igloos
    if not igloos.simulated:
        raise RefusedError(409, "not-simulated", "There is no simulated igloo here.")
    try:
        igloos.simulate(body.action, body.count)
    except (BadDataError, DeviceError) as error:
        raise said_by_device(error) from None
    return {"ok": True}
