"""The API of what is left when a game is over: a link for BG Stats with its QR code, files of the scores, the album."""

from __future__ import annotations

import io
import re
from functools import cache
from typing import Annotated, Any, Literal, TypedDict

import segno
from flask import Blueprint, Response, current_app
from msgspec import Meta

from companion.night.album import AlbumNight
from companion.night.export.bgstats import bgg_ids
from companion.ports import BadDataError
from companion.rules.core import JSON
from web.http.assets import Assets, packed
from web.http.openapi import documented
from web.http.requests import Query
from web.http.responses import RefusedError
from web.http.sessions import companion, may_see_pictures
from web.i18n.language import InLanguage, choose

views = Blueprint("api_share", __name__, url_prefix="/share")


LAST = 2**53
NIGHT = re.compile(r"@media screen and \(prefers-color-scheme: dark\) \{\s*:root \{(.*?)\}", re.DOTALL)
"""The page's colours at night, in its first style sheet."""
NIGHT_DIGITS = 16


class AlbumQuery(Query, frozen=True):
    """The evening, as the answer before named it; without one, tonight."""

    night: Annotated[int, Meta(ge=1, le=LAST)] | None = None


class SharedLink(TypedDict):
    """The link that opens BG Stats."""

    ok: Literal[True]
    url: str


class AllNights(TypedDict):
    """Everything of all nights."""

    format: int
    companion: str
    nights: list[dict[str, JSON]]


def _link() -> str:
    """Return the link of the game that is over.

    :raises RefusedError: when there is none.
    """
    try:
        known = bgg_ids(companion().settings.lines("bgg_ids"))
    except BadDataError:
        known = {}  # the workshop says what is wrong with the setting; the link goes without
    play = companion().night.play(known, choose())
    if play is None:
        raise RefusedError(404, "not-over", "Only a game that is over can be shared.")
    url: str = play["url"]
    return url


@views.get("/bgstats")
@documented("player")
def bgstats() -> SharedLink:
    """Answer with the link that opens BG Stats with the game that has just ended: ``{"url"}``."""
    return {"ok": True, "url": _link()}


@views.get("/bgstats.svg")
@documented("player", answer=("image/svg+xml",))
def bgstats_code() -> Response:
    """Answer with that link as a QR code."""
    picture = io.BytesIO()
    code = segno.make(_link(), error="l", micro=False)
    code.save(picture, kind="svg", border=2, scale=4, dark="#0f2233", light="#ffffff", omitsize=True)
    response = Response(picture.getvalue(), mimetype="image/svg+xml")
    response.headers["Cache-Control"] = "no-store"
    return response


@views.get("/scores.csv")
@documented("player", answer=("text/csv",))
def scores() -> Response:
    """Answer with the scores of all nights as a table."""
    return _file(companion().night.exported("csv"), "text/csv; charset=utf-8", "scores.csv")


@views.get("/nights.json")
@documented("host", answer=AllNights)
def nights() -> Response:
    """Answer the host with everything of all nights."""
    return _file(companion().night.exported("json"), "application/json", "nights.json")


@views.get("/album")
@documented("player", packed=True)
def album(query: AlbumQuery) -> AlbumNight:
    """Answer with the games of an evening that have come to an end, in their order; photos for those who may see them.

    ``?night=`` is an evening that ``earlier`` or ``later`` named. The picture of a game that is ``drawn`` is at
    ``/api/share/album/<night>/<match>.svg``, its photos are at ``/api/evidence/<sha256>``.
    """
    found = companion().album.night(query.night)
    if found is None:
        raise RefusedError(404, "no-night", "No such evening is known here.")
    if may_see_pictures():
        return found
    return {**found, "games": [{**game, "photos": []} for game in found["games"]]}


@views.get("/album/<night>/<match>.svg")
@documented("player", answer=("image/svg+xml",))
def album_picture(night: str, match: str, query: InLanguage) -> Response:
    """Answer with the last picture of a game that has come to an end, as everybody may see it."""
    number = int(night) if night.isascii() and night.isdigit() and len(night) <= NIGHT_DIGITS else 0
    drawn = companion().album.picture(number, match, query.language)
    if drawn is None:
        raise RefusedError(404, "no-picture", "This picture is not kept here.")
    files: Assets = current_app.extensions["companion-assets"]
    response = Response(drawn.replace("<title>", f"{_by_night(files)}<title>", 1), mimetype="image/svg+xml")
    # Names change, and a game may be taken back: it is drawn again when the album is opened again.
    response.headers["Cache-Control"] = "no-store"
    return packed(response)


@cache
def _by_night(files: Assets) -> str:
    """Return a style with the page's colours at night: a picture that is an image knows none of the page's."""
    found = NIGHT.search(files.text("css/ice.css"))
    colours = re.sub(r"\s+", " ", found[1]) if found else ""
    return f"<style>@media (prefers-color-scheme: dark){{:root{{fill:var(--ink);{colours}}}}}</style>"


def _file(text: str, mimetype: str, name: str) -> Response:
    headers: dict[str, Any] = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(text, content_type=mimetype, headers=headers)
