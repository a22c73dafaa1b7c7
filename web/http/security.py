"""The guards at the door: who is addressed, where a change comes from, what the browser may load.

A page on a LAN is reached by names that anybody may own: a name that an attacker controls can be pointed at a
private address (DNS rebinding), and any site can make a browser send a form to us. So every request must name us
(the Host header), and every change must come from our own page (Origin, Sec-Fetch-Site) or from a program that
says so with a header that no foreign page can set.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from flask import Flask, Response, request

from web.http.responses import RefusedError

HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,251}))(?::(\d{1,5}))?")
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
PROGRAM_HEADER = "X-Companion"
"""A change without an Origin must carry this header: programs can, a foreign page cannot without our consent."""

POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "font-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=()",
}


PARTS = frozenset({"text/css", "text/javascript", "application/json"})
PART_HEADERS = {name: HEADERS[name] for name in ("X-Content-Type-Options", "Cross-Origin-Resource-Policy")}

PRIVATE = tuple(
    ipaddress.ip_network(text)
    for text in (
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "fc00::/7",
        "169.254.0.0/16",
        "fe80::/10",
        "127.0.0.0/8",
        "::1/128",
    )
)
"""Networks that nobody reaches from outside (RFC 1918, 4193, 3927, 4291): an address in them needs no DNS."""


def host_is_ours(header: str, names: Iterable[str]) -> bool:
    """Tell whether a Host header names this machine: localhost, a private address, or one of ``names``.

    ``names`` are names and addresses.
    """
    match = HOST.fullmatch(header)
    if match is None or (match[2] and int(match[2]) > 65535):
        return False
    host = match[1].strip("[]").lower().rstrip(".")
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host in {name.lower() for name in names}
    return any(address in network for network in PRIVATE) or str(address) in set(names)


def own_names(machine: str) -> tuple[str, ...]:
    """Return the names that a machine has on its network: its own, short and whole, and the one of mDNS."""
    whole = machine.lower().rstrip(".")
    short = whole.split(".")[0]
    return tuple(
        name for name in dict.fromkeys((whole, short, f"{short}.local")) if name.strip(".") not in {"", "local"}
    )


def change_is_ours(origin: str | None, site: str | None, program: str | None, own: str) -> bool:
    """Tell whether a change comes from our own page (``own`` is our origin as addressed) or from a program."""
    if site is not None and site not in {"same-origin", "none"}:
        return False
    if origin is not None:
        return origin == own
    return site == "same-origin" or bool(program)


def _names(machine: Iterable[str], names: Iterable[str], urls: Iterable[str]) -> tuple[str, ...]:
    return (*machine, *names, *(urlsplit(url).hostname or "" for url in urls))


def guard(app: Flask, names: Callable[[], Iterable[str]], urls: Callable[[], Iterable[str]]) -> None:
    """Put the guards before every view of ``app``, and the headers on every answer.

    ``names`` are the house's own names beside its addresses, ``urls`` those addresses (``http://host:port``); they
    are asked anew for each request, because the host may change names on the page.
    """
    machine = own_names(socket.gethostname())

    @app.before_request
    def check_door() -> None:
        if not host_is_ours(request.headers.get("Host", ""), _names(machine, names(), urls())):
            raise RefusedError(
                421, "wrong-host", "This page does not answer to that name; add it to the names in the settings."
            )
        if request.method not in SAFE_METHODS and not change_is_ours(
            request.headers.get("Origin"),
            request.headers.get("Sec-Fetch-Site"),
            request.headers.get(PROGRAM_HEADER),
            f"{request.scheme}://{request.headers['Host']}",
        ):
            raise RefusedError(403, "wrong-origin", "Changes are accepted from this page only, not from another site.")

    @app.after_request
    def lock_down(response: Response) -> Response:
        # Modules, styles and words are no pages that anybody could frame; there are many, and phones are slow.
        part = response.mimetype in PARTS and request.path.startswith(("/static/", "/words/"))
        for name, value in (PART_HEADERS if part else HEADERS).items():
            response.headers.setdefault(name, value)
        return response
