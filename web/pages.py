"""The pages: one shell, filled by the page's own modules; a plain score table where scripts do not run."""

from __future__ import annotations

from flask import Blueprint, Response, current_app, make_response, render_template

from web.http.assets import Assets, packed
from web.http.sessions import companion, keep_signed_in, me, role
from web.http.sse import HEARTBEAT_S, POLL_MS
from web.i18n.language import bundles, catalogue_urls, choose, names

views = Blueprint("pages", __name__)


@views.get("/")
def table() -> Response:
    """Show the table: the set-up, the round, the ranking; whatever the night is at."""
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
    view = companion().night.view(role())
    match = view["match"]
    first = ["js/main.js"]
    if match and (own := files.parts(match["game"]).get("play")):
        # What the open game has of its own is fetched with the first modules, not behind them.
        first.append(own)
    response = make_response(
        render_template(
            "table.html",
            page=page,
            match=match,
            modules=files.modules(*first),
            house_name=companion().settings.text("house_name"),
            languages=names(),
            language=language,
        )
    )
    response.headers["Cache-Control"] = "no-store"
    response.headers["Vary"] = "Accept-Language, Cookie"
    return packed(keep_signed_in(response))
