"""Tells systemd that the service is ready and lives (sd_notify(3)): a few lines, no library.

It says so only after its own page has answered, so a service whose page hangs is started anew.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable, Mapping

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

    def __init__(self, lives: Callable[[float], bool], environ: Mapping[str, str] = os.environ) -> None:
        """Prepare to ask ``lives``, which says whether the page answers within so many seconds."""
        self._lives, self._environ = lives, environ
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

    def _run(self) -> None:
        ready = False
        while not self._closing.wait(self.every_s if ready else 0.1):
            if not self._lives(max(1.0, self.every_s)):
                continue
            if not ready:
                ready = notify("READY=1\nSTATUS=The page answers.", self._environ)
                if not self.every_s:
                    return
            notify("WATCHDOG=1", self._environ)
