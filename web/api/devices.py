"""The API of the devices: pictures in and out, the source of the camera, the simulated igloo.

Pictures of the table are for those who take part: they show the room. No path comes from a request: a kept picture
is named by its hash, a live one by one of two words.
"""

from __future__ import annotations

import re

from flask import Blueprint, Response

from companion.ports import BadDataError, DeviceError, SimulatedAction
from web.http.json_forms import camera_form, table_form
from web.http.openapi import OBJECT, TEXT, choice, documented, fields, listed, maybe, text, whole
from web.http.responses import RefusedError, bad_field, json_body, json_response, photo_body, text_field
from web.http.sessions import companion, host, member, sees_pictures

views = Blueprint("api_devices", __name__, url_prefix="/api")

SHA256 = re.compile(r"[0-9a-f]{64}")
PICTURE_TYPES = {"image/jpeg", "image/png"}


def _picture(data: bytes, mimetype: str, keep: bool) -> Response:
    response = Response(data, mimetype=mimetype)
    response.headers["Cache-Control"] = "private, max-age=31536000, immutable" if keep else "no-store"
    return response


def said_by_device(error: Exception) -> RefusedError:
    """Return the refusal that says what a device says."""
    # A camera's error has its constant sentence in `note`; what varies stands beside it.
    return RefusedError(422, "device", str(getattr(error, "note", error)))


@views.get("/camera/<which>.jpg")
@documented("player", answer=("image/jpeg",))
def picture(which: str) -> Response:
    """Answer with the newest ``frame``, or the newest straightened ``table``; who may see it is set by the host."""
    sees_pictures()
    if which not in {"frame", "table"}:
        raise RefusedError(404, "not-found", "There is nothing here.")
    data = companion().camera_jpeg(which)
    if data is None:
        raise RefusedError(404, "no-picture", "There is no picture yet.")
    return _picture(data, "image/jpeg", keep=False)


@views.get("/evidence/<sha256>")
@documented("player", answer=("image/jpeg", "image/png"))
def evidence(sha256: str) -> Response:
    """Answer with a picture that was kept as evidence; who may see it is set by the host."""
    sees_pictures()
    found = companion().evidence(sha256) if SHA256.fullmatch(sha256) else None
    if found is None or found[1] not in PICTURE_TYPES:
        raise RefusedError(404, "no-picture", "This picture is not kept here.")
    return _picture(*found, keep=True)


@views.post("/evidence")
@documented("player", answer=fields(ok=choice(True), sha256=TEXT))
def keep_evidence() -> Response:
    """Keep the newest picture beside the journal, with the round that is being played."""
    member()
    kept = companion().keep_evidence()
    if kept is None:
        raise RefusedError(409, "no-picture", "There is no picture yet.")
    return json_response({"ok": True, "sha256": kept.sha256})


@views.post("/photo")
@documented("player", media="image/*", answer=fields(ok=choice(True), table=maybe(OBJECT)))
def photo() -> Response:
    """Take in a photo (the body is the picture: JPEG, PNG …) and answer what it shows of the markers."""
    member()
    try:
        table = companion().upload_photo(photo_body())
    except BadDataError as error:
        raise said_by_device(error) from None
    return json_response({"ok": True, "table": table_form(table)})


@views.post("/camera")
@documented(
    "host",
    body=fields(source=text(500)),
    answer=fields(ok=choice(True), camera=maybe(OBJECT), table=maybe(OBJECT)),
)
def use_camera() -> Response:
    """Change the source of pictures: ``{"source": "usb:0"}``; only the host may."""
    host()
    source = text_field(json_body(), "source", 500).strip()
    try:
        companion().use_camera(source)
    except (BadDataError, DeviceError) as error:
        raise said_by_device(error) from None
    return json_response(
        {"ok": True, **camera_form(companion().camera(), companion().table(), companion().follow_service.status())}
    )


@views.get("/devices")
@documented("player", answer=fields(panel=maybe(OBJECT), mqtt=maybe(OBJECT)))
def others() -> Response:
    """Answer how buttons and lights (``panel``), and the line to a home's automation (``mqtt``), are doing."""
    member()
    return json_response(companion().other_devices())


@views.post("/doctor")
@documented("host", answer=fields(findings=listed(OBJECT)))
def doctor() -> Response:
    """Look at everything, as ``companion doctor`` does, and answer what was found; the host only."""
    host()
    return json_response({"findings": [{**one, "facts": {}} for one in companion().check_up()]})


@views.post("/simulate")
@documented("player", body=fields(("count",), action=choice(*SimulatedAction), count=maybe(whole(2, 13))))
def simulate() -> Response:
    """Play with the simulated igloo: ``{"action", "count"?}``; 409 where there is none."""
    member()
    if not companion().simulated():
        raise RefusedError(409, "not-simulated", "There is no simulated igloo here.")
    body = json_body()
    action, count = text_field(body, "action", 20), body.get("count")
    if action not in set(SimulatedAction):
        raise bad_field("action")
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or not 2 <= count <= 13):
        raise bad_field("count")
    try:
        companion().simulate(SimulatedAction(action), count)
    except (BadDataError, DeviceError) as error:
        raise said_by_device(error) from None
    return json_response({"ok": True})
