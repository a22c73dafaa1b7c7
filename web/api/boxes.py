"""The API of the boxes: what an owner enters once of the pieces that rulebooks show in pictures only."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Literal, TypedDict

from flask import Blueprint, Response

from companion.rules.core import JSON, SetupError
from web.http.openapi import documented
from web.http.requests import Body, GameId
from web.http.responses import RefusedError, json_response, refusal
from web.http.sessions import companion

views = Blueprint("api_boxes", __name__, url_prefix="/api/boxes")
log = logging.getLogger(__name__)


class BoxForm(TypedDict):
    """What is played with: an owner's ``own`` box or a stand-in, and the faces there may be."""

    ok: Literal[True]
    game: str
    own: bool
    real: bool
    data: dict[str, JSON]
    faces: JSON
    dice: JSON


class BoxRequest(Body, frozen=True):
    """What the owner entered; null for the stand-in."""

    data: dict[str, JSON] | None


@views.get("/<game_id>")
@documented("host", answer=BoxForm)
def box(game_id: GameId) -> Response:
    """Answer the host with the box of a game: the owner's or our stand-in, and the faces there may be."""
    return _form(game_id)


@views.post("/<game_id>")
@documented("host", answer=BoxForm)
def keep(game_id: GameId, body: BoxRequest) -> Response:
    """Keep what the owner entered, ``{"data": …}``, or go back to the stand-in, ``{"data": null}``; the host only."""
    data, boxes = body.data, companion().boxes
    try:
        _found(lambda: boxes.forget(game_id) if data is None else boxes.keep(game_id, data))
    except SetupError as error:
        return refusal(422, "no-box", error.words.to_json())
    except OSError as error:
        log.error("The box of %s could not be kept: %s", game_id, error)
        raise RefusedError(503, "storage", "This could not be saved to the disk.") from error
    return _form(game_id)


def _form(game_id: str) -> Response:
    return json_response({"ok": True, **_found(lambda: companion().boxes.form(game_id))})


def _found(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except KeyError:
        raise RefusedError(404, "no-box", "This game has no box to enter.") from None
