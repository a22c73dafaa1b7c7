"""The pages: one shell, filled by the page's own modules; a plain score table where scripts do not run."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, current_app, make_response, render_template

from web.http.assets import Assets, packed
from web.http.sessions import companion, keep_signed_in, me, role
from web.http.sse import HEARTBEAT_S, POLL_MS
from web.i18n.language import bundles, catalogue_urls, choose, names

views = Blueprint("pages", __name__)


@views.get("/")
def table() -> Response:
    """Show the table: the set-up, the round, the ranking; whatever the night is at."""
    files: Assets = current_app.extensions["companion-assets"]
    view = companion().night.view(role())
    match = view["match"]
    first = ["js/main.js"]
    if match and (own := files.parts(match["game"]).get("play")):
        # What the open game has of its own is fetched with the first modules, not behind them.
        first.append(own)
    return _shown("table.html", match=match, modules=files.modules(*first), languages=names())


@views.get("/tv")
def television() -> Response:
    """Show the table for a screen that a whole room looks at and nobody taps."""
    return _shown("tv.html")


def _shown(template: str, **more: Any) -> Response:
    """Return a page whose modules listen to the table: what they begin with, and the file's own ``more``."""
    language = choose()
    files: Assets = current_app.extensions["companion-assets"]
    page = {
        "language": language,
        "words": catalogue_urls(language, *bundles()),
        "me": me(),
        "version": companion().version,
        "panel": companion().other_devices()["panel"] is not None,
        "stamp": files.stamp,
        "poll_ms": POLL_MS,
        "silence_ms": round(HEARTBEAT_S * 3000),
    }
    house_name = companion().settings.text("house_name")
    response = make_response(render_template(template, page=page, house_name=house_name, language=language, **more))
    response.headers["Cache-Control"] = "no-store"
    response.headers["Vary"] = "Accept-Language, Cookie"
    return packed(keep_signed_in(response))
