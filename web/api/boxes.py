"""The API of the boxes: what an owner enters once of the pieces that rulebooks show in pictures only."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response

from companion.rules.core import SetupError
from web.http.openapi import FLAG, OBJECT, choice, documented, fields, maybe
from web.http.responses import RefusedError, bad_field, json_body, json_response, refusal
from web.http.sessions import companion, host

views = Blueprint("api_boxes", __name__, url_prefix="/api/boxes")
log = logging.getLogger(__name__)


@views.get("/<game_id>")
@documented("host", answer=fields(ok=choice(True), data=OBJECT, own=FLAG))
def box(game_id: str) -> Response:
    """Answer the host with the box of a game: the owner's or our stand-in, and the faces there may be."""
    host()
    return _form(game_id)


@views.post("/<game_id>")
@documented("host", body=fields(data=maybe(OBJECT)), answer=fields(ok=choice(True), data=OBJECT, own=FLAG))
def keep(game_id: str) -> Response:
    """Keep what the owner entered, ``{"data": …}``, or go back to the stand-in, ``{"data": null}``; the host only."""
    host()
    data = json_body().get("data", "")
    if data is not None and not isinstance(data, dict):
        raise bad_field("data")
    boxes = companion().boxes
    try:
        _found(lambda: boxes.forget(game_id) if data is None else boxes.keep(game_id, data))
    except SetupError as error:
        return refusal(422, "no-box", error.words.to_json())
    except OSError as error:
        log.error("The box of %s could not be kept: %s", game_id, error)
        raise RefusedError(503, "storage", "This could not be kept on the disk.") from error
    return _form(game_id)


def _form(game_id: str) -> Response:
    return json_response({"ok": True, **_found(lambda: companion().boxes.form(game_id))})


def _found(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except KeyError:
        raise RefusedError(404, "no-box", "This game has no box to enter.") from None
