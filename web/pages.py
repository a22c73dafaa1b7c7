"""The pages: one shell, filled by the page's own modules; a plain score table where scripts do not run."""

from __future__ import annotations

from flask import Blueprint, Response, current_app, make_response, render_template

from web.http.assets import packed
from web.http.sessions import companion, me, role
from web.http.sse import HEARTBEAT_S, POLL_MS
from web.i18n.language import ROOMS, catalogue_urls, choose, names

views = Blueprint("pages", __name__)


@views.get("/")
def table() -> Response:
    """Show the table: the set-up, the round, the ranking; whatever the night is at."""
    language = choose()
    page = {
        "language": language,
        "words": catalogue_urls(language, "main", *ROOMS, "rest"),
        "me": me(),
        "version": companion().version,
        "stamp": current_app.extensions["companion-assets"].stamp,
        "poll_ms": POLL_MS,
        "silence_ms": round(HEARTBEAT_S * 3000),
    }
    view = companion().night.view(role())
    response = make_response(
        render_template(
            "table.html",
            page=page,
            match=view["match"],
            house_name=companion().settings.text("house_name"),
            languages=names(),
            language=language,
        )
    )
    response.headers["Cache-Control"] = "no-store"
    response.headers["Vary"] = "Accept-Language, Cookie"
    return packed(response)
