"""The API of the backups, for the host: made, listed, downloaded, and brought back with the name said again."""

from __future__ import annotations

import logging
from typing import Annotated, Literal, TypedDict

from flask import Blueprint, Response, request, send_file
from msgspec import Meta

from companion.night.backup.encryption import MOST, SUFFIX
from companion.night.backup.messages import BackupError
from companion.night.backup.retention import PIECE_BYTES, BackupForm
from companion.night.commands.context import printable
from companion.rules.core import JSON
from web.http.openapi import DoneForm, documented
from web.http.requests import Body, Query
from web.http.responses import RefusedError, bad_field, json_response, refusal
from web.http.sessions import companion

views = Blueprint("api_backups", __name__, url_prefix="/api/backups")
log = logging.getLogger(__name__)

ENCRYPTED = "application/octet-stream"
STATUS = {"cannot-write": 503, "no-room": 503, "too-large": 413}


class AllBackups(TypedDict):
    """The backups, what became of those made by night, and whether those to come are encrypted."""

    ok: Literal[True]
    backups: list[BackupForm]
    encrypts: bool
    status: dict[str, JSON]


class MadeBackup(TypedDict):
    """A backup was made."""

    ok: Literal[True]
    backup: BackupForm


class BroughtPiece(TypedDict):
    """How much is here; with the last piece the backup."""

    ok: Literal[True]
    taken: int
    backup: BackupForm | None


class PieceQuery(Query, frozen=True):
    """Where a piece begins, of how much in all, and how the file is called."""

    at: Annotated[int, Meta(ge=0, lt=10**12)]
    size: Annotated[int, Meta(ge=1, lt=10**12)]
    name: str = ""


class RestoreRequest(Body, frozen=True):
    """The backup's name once more, and its passphrase where the box does not keep it."""

    confirm: Annotated[str, Meta(max_length=100)]
    passphrase: Annotated[str, Meta(max_length=MOST)] = ""


class PassphraseRequest(Body, frozen=True):
    """The passphrase of the backups to come; empty: they are not encrypted."""

    passphrase: Annotated[str, Meta(max_length=MOST)]


@views.get("")
@documented("host")
def backups() -> AllBackups:
    """Answer with the backups beside the journal, the newest first, and what became of those made by night."""
    status, kept = companion().health().get("backups", {}), companion().backup_retention
    return {"ok": True, "backups": kept.all(), "encrypts": kept.encrypts, "status": status}


@views.post("")
@documented("host", answer=MadeBackup)
def make() -> Response:
    """Make a backup of everything now, pictures too."""
    try:
        return json_response({"ok": True, "backup": companion().backup_retention.make()})
    except BackupError as error:
        return _no(error)


@views.post("/passphrase")
@documented("host", answer=DoneForm)
def encrypt(body: PassphraseRequest) -> Response:
    """Encrypt every backup from now on, or no more; those that are there stay as they are. It is never told again."""
    try:
        companion().backup_retention.encrypt(body.passphrase)
    except BackupError as error:
        return _no(error)
    return json_response({"ok": True})


@views.post("/brought")
@documented("host", media="application/octet-stream", answer=BroughtPiece)
def bring(query: PieceQuery) -> Response:
    """Take in a piece of a backup from this device: the bytes of the file from ``at`` on, of ``size`` in all.

    Pieces (4 MiB at most) come one after the other. ``taken`` says how much is here; with the last piece the file was
    checked and lies beside the other backups as ``backup``. Nothing is replaced: that is what restoring is for.
    """
    shown = printable(query.name)[:200] or "backup.zip"
    if (request.content_length or 0) > PIECE_BYTES:
        raise RefusedError(413, "too-large", "This is more than can be taken in.")
    request.max_content_length = PIECE_BYTES
    try:
        taken, kept = companion().backup_retention.take_in(
            request.get_data(cache=False), at=query.at, size=query.size, shown=shown
        )
    except BackupError as error:
        return _no(error)
    return json_response({"ok": True, "taken": taken, "backup": kept})


@views.get("/<name>")
@documented("host", answer=("application/zip", ENCRYPTED))
def download(name: str) -> Response:
    """Answer with a backup as a file."""
    path = companion().backup_retention.path(name)
    if path is None:
        raise _missing()
    kind = ENCRYPTED if path.name.endswith(SUFFIX) else "application/zip"
    response = send_file(path, mimetype=kind, as_attachment=True, download_name=path.name, etag=False)
    response.headers["Cache-Control"] = "no-store"
    return response


@views.post("/<name>/restore")
@documented("host", answer=DoneForm)
def restore(name: str, body: RestoreRequest) -> Response:
    """Bring a backup back: ``{"confirm": its name}``. What is there now is put aside; the service starts anew."""
    if body.confirm != name:
        raise bad_field("confirm")
    try:
        companion().backup_retention.bring_back(name, body.passphrase)
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
