"""How a phone comes to trust a box that speaks TLS: its root, a page that says what to do with it, a code to scan."""

from __future__ import annotations

import io
from dataclasses import dataclass
from urllib.parse import urlsplit

import segno
from flask import Blueprint, Flask, Response, current_app, redirect, render_template, request

from web.http.responses import RefusedError

PLAIN = frozenset({"trust.page", "trust.root", "trust.code", "assets.static_file", "language.choose_language"})
"""What is answered without TLS, beside the health of the service, which its watchdog and its doctor ask for."""

views = Blueprint("trust", __name__)


@dataclass(slots=True)
class Tls:
    """What phones are told: the root (DER) with its SHA-256, and the two ports, known once both are listened on."""

    root: bytes
    fingerprint: str
    port: int = 0
    plain_port: int = 0


def offer(app: Flask, tls: Tls) -> None:
    """Have an application tell phones of its root, and take everything else over TLS only."""
    app.extensions["companion-tls"] = tls
    app.register_blueprint(views)

    @app.before_request
    def to_tls() -> Response | None:
        if request.is_secure or request.endpoint in PLAIN or request.path == "/api/health":
            return None
        if request.method in {"GET", "HEAD"} and not request.path.startswith("/api/"):
            return current_app.make_response(redirect("/trust"))
        raise RefusedError(403, "use-tls", "This table speaks TLS; its address begins with https.")


def _address(scheme: str, port: int) -> str:
    """Return the address of this box as it was asked, for another scheme."""
    name = urlsplit(f"//{request.host}").hostname or "localhost"
    return f"{scheme}://{f'[{name}]' if ':' in name else name}:{port}/"


@views.get("/trust")
def page() -> Response:
    """Say what the root is, and how Android and iOS install it."""
    tls: Tls = current_app.extensions["companion-tls"]
    text = render_template(
        "trust.html",
        fingerprint=tls.fingerprint,
        there=_address("https", tls.port),
        here=_address("http", tls.plain_port) + "trust",
    )
    response = Response(text)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Vary"] = "Accept-Language, Cookie"
    return response


@views.get("/trust/root.crt")
def root() -> Response:
    """Answer with the root as phones install it."""
    tls: Tls = current_app.extensions["companion-tls"]
    response = Response(tls.root, mimetype="application/x-x509-ca-cert")
    response.headers["Content-Disposition"] = 'attachment; filename="tabletop-companion.crt"'
    response.headers["Cache-Control"] = "no-store"
    return response


@views.get("/trust/code.svg")
def code() -> Response:
    """Answer with a code that leads other phones to the page, without TLS, which they cannot speak with us yet."""
    tls: Tls = current_app.extensions["companion-tls"]
    drawn = io.BytesIO()
    made = segno.make(_address("http", tls.plain_port) + "trust", error="m")
    # Dark on light on a dark page, too: else no phone reads it.
    made.save(drawn, kind="svg", scale=6, border=4, light="#ffffff")
    response = Response(drawn.getvalue(), mimetype="image/svg+xml")
    response.headers["Cache-Control"] = "no-store"
    return response
