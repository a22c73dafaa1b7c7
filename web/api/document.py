"""What others build on: the API's own description, for programs and for people."""

from __future__ import annotations

import re

from flask import Blueprint, Response, current_app, make_response, render_template
from markupsafe import Markup, escape

from web.http.openapi import ApiDocument, document, documented, routes
from web.http.sessions import companion

views = Blueprint("api_document", __name__)


@views.get("/api/openapi.json")
@documented()
def openapi() -> ApiDocument:
    """Answer with this description, as OpenAPI 3.1."""
    return document(current_app, companion().version, companion().night.offered)


@views.get("/api")
def page() -> Response:
    """Show the same as a page."""
    chapters: dict[str, list[object]] = {}
    for route in routes(current_app):
        if route.promise is not None:
            chapters.setdefault(route.path.split("/")[2].split(".")[0], []).append(route)
    response = make_response(
        render_template(
            "api.html", chapters=chapters, marked=_marked, house_name=companion().settings.text("house_name")
        )
    )
    response.headers["Cache-Control"] = "no-store"
    response.headers["Vary"] = "Accept-Language, Cookie"
    return response


def _marked(words: str) -> Markup:
    """Return the words of a docstring with what is marked as code as code."""
    return Markup(re.sub(r"``(.+?)``", r"<code>\1</code>", str(escape(words))))  # noqa: S704 - escaped before
