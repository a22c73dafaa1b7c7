"""The API of the backups, for the host: made, listed, downloaded, and brought back with the name said again."""

from __future__ import annotations

import logging

from flask import Blueprint, Response, request, send_file

from companion.night.backup.messages import BackupError
from companion.night.backup.retention import MOST_BROUGHT, PIECE_BYTES
from companion.night.commands.context import printable
from web.http.openapi import FLAG, OBJECT, TEXT, WHOLE, choice, documented, fields, listed, maybe, text, whole
from web.http.responses import RefusedError, bad_field, json_body, json_response, refusal, text_field
from web.http.sessions import companion, host

views = Blueprint("api_backups", __name__, url_prefix="/api/backups")
log = logging.getLogger(__name__)

STATUS = {"cannot-write": 503, "no-room": 503, "too-large": 413}

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
    return json_response(
        {"ok": True, "backups": companion().backup_retention.all(), "status": companion().health().get("backups", {})}
    )


@views.post("")
@documented("host", answer=fields(ok=choice(True), backup=BACKUP))
def make() -> Response:
    """Make a backup of everything now, pictures too."""
    host()
    try:
        return json_response({"ok": True, "backup": companion().backup_retention.make()})
    except BackupError as error:
        return _no(error)


@views.post("/brought")
@documented(
    "host",
    query={"at": whole(0, MOST_BROUGHT), "size": whole(1, MOST_BROUGHT), "name": text(200)},
    media="application/octet-stream",
    answer=fields(ok=choice(True), taken=WHOLE, backup=maybe(BACKUP)),
)
def bring() -> Response:
    """Take in a piece of a backup from this device: the bytes of the file from ``at`` on, of ``size`` in all.

    Pieces (4 MiB at most) come one after the other. ``taken`` says how much is here; with the last piece the file was
    checked and lies beside the other backups as ``backup``. Nothing is replaced: that is what restoring is for.
    """
    host()
    at, size = _bytes(request.args.get("at"), "at", 0), _bytes(request.args.get("size"), "size", 1)
    shown = printable(request.args.get("name", ""))[:200] or "backup.zip"
    if (request.content_length or 0) > PIECE_BYTES:
        raise RefusedError(413, "too-large", "This is more than can be taken in.")
    request.max_content_length = PIECE_BYTES
    try:
        taken, kept = companion().backup_retention.take_in(request.get_data(cache=False), at=at, size=size, shown=shown)
    except BackupError as error:
        return _no(error)
    return json_response({"ok": True, "taken": taken, "backup": kept})


def _bytes(given: str | None, name: str, low: int) -> int:
    if given is None or not (given.isascii() and given.isdigit() and len(given) <= 12 and int(given) >= low):
        raise bad_field(name)
    return int(given)


@views.get("/<name>")
@documented("host", answer=("application/zip",))
def download(name: str) -> Response:
    """Answer with a backup as a file."""
    host()
    path = companion().backup_retention.path(name)
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
        companion().backup_retention.bring_back(name)
    except KeyError:
        raise _missing() from None
    except BackupError as error:
        return _no(error)
    return json_response({"ok": True})


def _missing() -> RefusedError:
    return RefusedError(404, "no-backup", "There is no such backup.")


def _no(error: BackupError) -> Response:
    log.error("A backup failed: %s", error)
    return refusal(STATUS.get(error.key, 409), error.key, error.words.to_json())
