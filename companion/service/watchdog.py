"""Tells systemd that the service is ready and lives (sd_notify(3)): a few lines, no library.

It says so only after its own page has answered, so a service whose page hangs is started anew.
"""

from __future__ import annotations

import contextlib
import http.client
import logging
import os
import socket
import ssl
import threading
from collections.abc import Mapping

log = logging.getLogger(__name__)


def notify(message: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Send one message to systemd; return whether there is one that listens."""
    address = environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return False
    # A leading @ stands for the zero byte of an abstract socket.
    target = "\0" + address[1:] if address.startswith("@") else address
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as line:
        try:
            line.sendto(message.encode(), target)
        except OSError as error:
            log.warning("systemd does not listen: %s", error)
            return False
    return True


class Watchdog:
    """A thread that asks the page and, when it answers, tells systemd; does nothing where nobody listens."""

    def __init__(self, host: str, port: int, environ: Mapping[str, str] = os.environ, *, tls: bool = False) -> None:
        """Prepare for a page that listens on ``host`` and ``port``, with ``tls`` under TLS."""
        self._host = "127.0.0.1" if host in {"0.0.0.0", "", "::"} else host  # noqa: S104 - compared, not bound
        self._port, self._environ = port, environ
        # Whom it asks need not be proved: it is asked in this very process.
        self._context = ssl._create_unverified_context() if tls else None  # noqa: S323
        limit = environ.get("WATCHDOG_USEC", "")
        self.every_s = int(limit) / 3e6 if limit.isdecimal() else 0.0
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def start(self) -> None:
        """Begin; the first answer of the page is told as being ready."""
        if self._environ.get("NOTIFY_SOCKET"):
            self._thread.start()

    def close(self) -> None:
        """Say that the service ends on purpose."""
        self._closing.set()
        notify("STOPPING=1", self._environ)

    def answers(self) -> bool:
        """Return whether the page answers."""
        patience_s = max(1.0, self.every_s)
        if self._context is None:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=patience_s)
        else:
            connection = http.client.HTTPSConnection(self._host, self._port, timeout=patience_s, context=self._context)
        with contextlib.closing(connection):
            try:
                connection.request("GET", "/api/health", headers={"Host": f"localhost:{self._port}"})
                return connection.getresponse().status == 200
            except (OSError, http.client.HTTPException):
                return False

    def _run(self) -> None:
        ready = False
        while not self._closing.wait(self.every_s if ready else 0.1):
            if not self.answers():
                continue
            if not ready:
                ready = notify("READY=1\nSTATUS=The page answers.", self._environ)
                if not self.every_s:
                    return
            notify("WATCHDOG=1", self._environ)
