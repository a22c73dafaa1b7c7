"""The API of the backups, for the host: made, listed, downloaded, and brought back with the name said again."""

from __future__ import annotations

import logging

from flask import Blueprint, Response, send_file

from companion.night.keeping import KeepingError
from web.answers import RefusedError, bad_field, json_body, json_response, refusal, text_field
from web.documented import FLAG, OBJECT, TEXT, WHOLE, choice, documented, fields, listed, maybe
from web.sessions import host, house

views = Blueprint("api_backups", __name__, url_prefix="/api/backups")
log = logging.getLogger(__name__)

BACKUP = fields(
    name=TEXT,
    bytes=WHOLE,
    sound=FLAG,
    made=maybe(WHOLE),
    seq=maybe(WHOLE),
    pictures=maybe(WHOLE),
    companion=maybe(TEXT),
)


@views.get("")
@documented("host", answer=fields(ok=choice(True), backups=listed(BACKUP), status=OBJECT))
def backups() -> Response:
    """Answer with the backups beside the journal, the newest first, and what became of those made by night."""
    host()
    return json_response({"ok": True, "backups": house().shelf.all(), "status": house().health().get("backups", {})})


@views.post("")
@documented("host", answer=fields(ok=choice(True), backup=BACKUP))
def make() -> Response:
    """Make a backup of everything now, pictures too."""
    host()
    try:
        return json_response({"ok": True, "backup": house().shelf.make()})
    except KeepingError as error:
        return _no(error)


@views.get("/<name>")
@documented("host", answer=("application/zip",))
def download(name: str) -> Response:
    """Answer with a backup as a file."""
    host()
    path = house().shelf.path(name)
    if path is None:
        raise _missing()
    response = send_file(path, mimetype="application/zip", as_attachment=True, download_name=path.name, etag=False)
    response.headers["Cache-Control"] = "no-store"
    return response


@views.post("/<name>/restore")
@documented("host", body=fields(confirm=TEXT))
def restore(name: str) -> Response:
    """Bring a backup back: ``{"confirm": its name}``. What is there now is put aside; the service starts anew."""
    host()
    if text_field(json_body(), "confirm", 100) != name:
        raise bad_field("confirm")
    try:
        house().shelf.bring_back(name)
    except KeyError:
        raise _missing() from None
    except KeepingError as error:
        return _no(error)
    return json_response({"ok": True})


def _missing() -> RefusedError:
    return RefusedError(404, "no-backup", "There is no such backup.")


def _no(error: KeepingError) -> Response:
    log.error("A backup failed: %s", error)
    return refusal(503 if error.key in {"cannot-write", "no-room"} else 409, error.key, error.words._asdict())
