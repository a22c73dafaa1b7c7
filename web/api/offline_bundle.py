"""The training that is taken along: one file that needs no table, and its results when they come home."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Literal

from flask import Blueprint, Response, current_app, render_template, request
from markupsafe import Markup

from companion.ports import COUNTS
from companion.practice.forms import BroughtHome, BundleStatus
from companion.practice.offline_bundle import RESULTS_FORMAT, heard_as
from companion.practice.statistics import published
from companion.rules.core import JSON
from web.api.practice import PersonNumber, done
from web.http.assets import Assets
from web.http.openapi import documented
from web.http.requests import Body
from web.http.sessions import companion, member
from web.http.single_file import script, source_hash
from web.i18n.language import catalogue, choose

views = Blueprint("api_along", __name__)

STYLES = ("ice", "table", "training")


class BundleResults(Body, frozen=True):
    """Who answered on the way, and the file of results as it is."""

    person: PersonNumber
    results: dict[str, JSON]


class TakenHome(BroughtHome):
    """It was taken in."""

    ok: Literal[True]


def policy(code: str, style: str) -> str:
    """Return what the file may do: run this script, be dressed in this style, play what it made; nothing is fetched."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {source_hash(code)}",
            f"style-src {source_hash(style)}",
            "media-src blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


@cache
def _parts(files: Assets) -> tuple[str, str]:
    return script(files, "offline-bundle"), "".join(files.text(f"css/{name}.css") for name in STYLES)


@views.get("/training/along.html")
def file() -> Response:
    """Answer with the file, to be kept; with ``?here=1`` to be opened at once."""
    member()
    files: Assets = current_app.extensions["companion-assets"]
    code, style = _parts(files)
    language = choose()
    taken = done(companion().training.take_along)
    data: dict[str, Any] = {
        "language": language,
        "words": json.loads(catalogue(language, "offline-bundle")[0]),
        "format": RESULTS_FORMAT,
        "heard": heard_as(),
        "published": {str(count): published(count).to_json() for count in COUNTS},
        **taken,
    }
    allowed = policy(code, style)
    page = render_template(
        "offline_bundle.html",
        policy=allowed,
        code=Markup(code),  # noqa: S704 - our own modules
        style=Markup(style),  # noqa: S704 - our own styles
        icons=Markup(files.text("icons.svg")),  # noqa: S704 - our own drawings
        page=data,
        language=language,
        house_name=companion().settings.text("house_name"),
    )
    response = Response(page, mimetype="text/html")
    response.headers["Cache-Control"] = "no-store"
    response.headers["Vary"] = "Accept-Language, Cookie"
    response.headers["Content-Security-Policy"] = f"{allowed}; frame-ancestors 'none'"
    if request.args.get("here") != "1":
        response.headers["Content-Disposition"] = f'attachment; filename="companion-training-{taken["file"]}.html"'
    return response


@views.get("/api/training/along")
@documented("player")
def status() -> BundleStatus:
    """Answer how far the shakes to be taken along are; asking has them made."""
    return companion().training.along_status()


@views.post("/api/training/along")
@documented("player")
def bring(body: BundleResults) -> TakenHome:
    """Take in what somebody answered on the way, ``{"person", "results"}``; what came before is not counted again."""
    return {"ok": True, **done(lambda: companion().training.bring_home(body.person, body.results))}
