"""The web application: the guards, the languages, the views."""

from __future__ import annotations

import errno
import logging
from typing import Any

from flask import Flask, Response, render_template, request
from werkzeug.exceptions import HTTPException

from companion.night.log.database import StorageError, unwritten
from companion.night.messages import say
from web import pages
from web.api import (
    backups,
    balance,
    ballot,
    board,
    boxes,
    camera,
    cards,
    devices,
    document,
    igloo,
    night,
    offline_bundle,
    people,
    phones,
    practice,
    rules,
    settings,
)
from web.http import assets, sessions, sse
from web.http.admission import refuse_early
from web.http.gzip_blocks import Blocks
from web.http.responses import RefusedError, both, mark, refusal, short_memory
from web.http.security import guard
from web.http.sse_state import StateTexts
from web.i18n.language import choose, speak
from web.protocols.companion import CompanionApi
from web.trust import Tls, offer

MAX_FORM_BYTES = 64 * 1024
NOT_WRITTEN = frozenset({errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
log = logging.getLogger(__name__)


def create_app(companion: CompanionApi, tls: Tls | None = None) -> Flask:
    """Return the application that shows ``companion``; :func:`web.http.server.make_server` serves it.

    With ``tls`` the page is for TLS alone; what asks without it is told how to trust this box.
    """
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = MAX_FORM_BYTES
    app.config["MAX_FORM_MEMORY_SIZE"] = MAX_FORM_BYTES
    app.config["MAX_FORM_PARTS"] = 50
    files = assets.shipped(companion.night.offered)
    app.extensions["companion-api"] = companion
    app.extensions["companion-assets"] = files
    app.extensions["companion-texts"] = StateTexts(companion)
    app.extensions["companion-blocks"] = Blocks()
    app.extensions["companion-streams"] = sse.Streams(companion.settings.number("max_streams"))
    guard(app, lambda: companion.settings.lines("host_names"), companion.addresses)
    refuse_early(app)
    sessions.let_in(app)
    speak(app)
    app.register_blueprint(assets.blueprint(files))
    for module in (
        pages,
        sessions,
        sse,
        night,
        offline_bundle,
        backups,
        balance,
        ballot,
        board,
        boxes,
        camera,
        cards,
        devices,
        document,
        igloo,
        people,
        phones,
        rules,
        settings,
        practice,
    ):
        app.register_blueprint(module.views)
    app.register_blueprint(settings.rights_views)
    if tls is not None:
        offer(app, tls)

    @app.context_processor
    def in_templates() -> dict[str, Any]:
        return {"asset": files.url, "language": choose()}

    @app.errorhandler(RefusedError)
    def refused(error: RefusedError) -> Response:
        return _answer(error.status, error.code, both(error.message, **error.facts), error.facts)

    @app.errorhandler(StorageError)
    def not_stored(error: StorageError) -> Response:
        log.error("The disk refused: %s", error)
        return _answer(503, "storage", say(error.key, error.facts).to_json())

    @app.errorhandler(MemoryError)
    def too_little_memory(error: BaseException) -> Response:
        log.error("No memory for a request: %s %s (%s)", request.method, request.path, error)
        return refused(short_memory())

    @app.errorhandler(OSError)
    def not_written(error: OSError) -> Response:
        if error.errno == errno.ENOMEM:
            return too_little_memory(error)
        return not_stored(unwritten(error)) if error.errno in NOT_WRITTEN else failed(error)

    @app.errorhandler(HTTPException)
    def http_error(error: HTTPException) -> Response:
        status = error.code or 500
        message = {
            404: mark("There is nothing here."),
            405: mark("This cannot be done here."),
            413: mark("This is more than can be taken in."),
        }.get(status, mark("This request could not be understood."))
        answer = _answer(status, f"http-{status}", both(message))
        for name, value in error.get_headers():
            if name == "Allow":
                answer.headers[name] = value
        return answer

    @app.errorhandler(Exception)
    def failed(error: Exception) -> Response:
        log.error("A request failed: %s %s", request.method, request.path, exc_info=error)
        return _answer(500, "failed", both("Something went wrong here. Nothing was changed; try again."))

    return app


def _answer(status: int, code: str, said: dict[str, str], facts: dict[str, object] | None = None) -> Response:
    """Return a refusal as JSON for the API, as a page for people."""
    if request.path.startswith("/api/"):
        response = refusal(status, code, said)
    else:
        sentence = said[choose()]
        response = Response(render_template("sentence.html", sentence=sentence, status=status), status)
        response.headers["Cache-Control"] = "no-store"
    wait = (facts or {}).get("wait_s")
    if wait is not None:
        response.headers["Retry-After"] = str(wait)
    return response
