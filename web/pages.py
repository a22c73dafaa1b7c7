"""The pages: one shell, filled by the page's own modules; a plain score table where scripts do not run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, current_app, make_response, render_template
from flask_babel import gettext

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
    return _live("table.html", match=match, modules=files.modules(*first), languages=names())


@views.get("/tv")
def television() -> Response:
    """Show the table for a screen that a whole room looks at and nobody taps."""
    return _live("tv.html", first="tv")


@views.get("/training")
def training() -> Response:
    """Show the training room."""
    language = choose()
    words = {**catalogue_urls(language, "rest"), "main": catalogue_urls(language, "training")["training"]}
    return _page("training.html", {"words": words}, languages=names())


@views.get("/manifest.webmanifest")
def manifest() -> Response:
    """Answer with what a browser needs to know to put the page on a home screen, over TLS or not."""
    files: Assets = current_app.extensions["companion-assets"]
    name = companion().settings.text("house_name") or gettext("Tabletop Companion")
    form = {
        "name": name,
        "short_name": name[:20],
        "start_url": "/",
        "display": "standalone",
        "background_color": "#e6f0f5",
        "theme_color": "#e6f0f5",
        "icons": [
            {"src": files.url("icon.svg"), "sizes": "any", "type": "image/svg+xml"},
            {"src": files.url("icon-180.png"), "sizes": "180x180", "type": "image/png"},
        ],
    }
    response = Response(json.dumps(form), mimetype="application/manifest+json")
    response.headers["Cache-Control"] = "no-store"
    return response


def _live(template: str, first: str = "main", **more: Any) -> Response:
    """Return a page whose modules listen to the table: what they begin with, and the file's own ``more``.

    ``first`` is the bundle of the words that are needed before anything is drawn.
    """
    files: Assets = current_app.extensions["companion-assets"]
    language = choose()
    page = {
        "words": {**catalogue_urls(language, *bundles()), "main": catalogue_urls(language, first)[first]},
        "version": companion().version,
        "panel": companion().other_devices()["panel"] is not None,
        "stamp": files.stamp,
        "poll_ms": POLL_MS,
        "silence_ms": round(HEARTBEAT_S * 3000),
    }
    return packed(keep_signed_in(_page(template, page, **more)))


def _page(template: str, page: Mapping[str, object], **more: Any) -> Response:
    """Return a page in the reader's language, for this session alone: ``page`` is what its modules begin with."""
    language = choose()
    begin = {"language": language, "me": me(), **page}
    house_name = companion().settings.text("house_name")
    response = make_response(render_template(template, page=begin, house_name=house_name, language=language, **more))
    response.headers["Cache-Control"] = "no-store"
    response.headers["Vary"] = "Accept-Language, Cookie"
    return response
