"""The web server: waitress, made fit for live streams on a home network.

Each live stream holds a thread, so there are more threads than streams, and a stream that nobody reads any more
must end soon. Three things see to that: the server goes on reading from a connection whose answer is still under
way (so it notices that the phone closed it), the kernel gives up on a connection whose data nobody acknowledges
(a phone that left the WLAN, or one that never reads), and a request that trickles in is cut off.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from typing import TYPE_CHECKING

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

if TYPE_CHECKING:
    from flask import Flask

    from web.streams import Streams

RESERVE_THREADS = 8
"""Threads beyond those that streams may hold: a plain GET always finds one."""

UNREAD_MS = 6_000
"""After so long without an acknowledgement the kernel drops the connection (TCP_USER_TIMEOUT, RFC 5482)."""

REQUEST_S = 15.0
"""A request's head must be complete after so long …"""

UPLOAD_S = 120.0
"""… and its body, a photo over a slow WLAN, after so long."""

MAX_BODY_BYTES = 16 * 1024 * 1024


class Channel(HTTPChannel):  # type: ignore[misc]
    """A connection that knows since when its unfinished request has been coming in."""

    begun_at: float | None = None

    def received(self, data: bytes) -> bool:
        """Take in bytes, and note when a request began."""
        result: bool = super().received(data)
        if self.request is None:
            self.begun_at = None
        elif self.begun_at is None:
            self.begun_at = time.time()
        return result

    def dawdles(self, now: float) -> bool:
        """Tell whether a request has been coming in for too long."""
        coming = self.request
        if self.begun_at is None or coming is None:
            return False
        allowed = UPLOAD_S if coming.headers_finished else REQUEST_S
        return now - self.begun_at > allowed


class WebServer(TcpWSGIServer):  # type: ignore[misc]
    """The listening socket, its threads and its loop; :meth:`run` serves until :meth:`stop` is called."""

    channel_class = Channel

    def __init__(self, app: Flask, adjustments: Adjustments) -> None:
        self._stopping = threading.Event()
        self._trigger_lock = threading.RLock()
        self._ended = False
        self._streams: Streams = app.extensions["companion-streams"]
        self._sockets: dict[int, object] = {}
        threads = ThreadedTaskDispatcher()
        super().__init__(app, self._sockets, dispatcher=threads, adj=adjustments)
        threads.set_thread_count(adjustments.threads)

    @property
    def port(self) -> int:
        """Return the port that is listened on."""
        return int(self.effective_port)

    def maintenance(self, now: float) -> None:
        """Close idle connections, and those that send a request drop by drop."""
        super().maintenance(now)
        for channel in self.active_channels.values():
            if channel.dawdles(now):
                channel.will_close = True

    def run(self) -> None:
        """Serve in this thread until :meth:`stop` is called, then let go of every thread and socket."""
        try:
            while not self._stopping.is_set():
                wasyncore.loop(timeout=1.0, use_poll=True, map=self._sockets, count=1)
        finally:
            with self._trigger_lock:
                self._ended = True
            self.accepting = False
            self._streams.close()
            self.task_dispatcher.shutdown(timeout=3)
            wasyncore.close_all(self._sockets)

    def stop(self) -> None:
        """End :meth:`run`, from any thread or signal handler."""
        with self._trigger_lock:
            # Once the loop has ended its pipe is closed, and the number of the pipe may be somebody else's.
            if not self._ended:
                self._stopping.set()
                self.pull_trigger()


def make_server(app: Flask, host: str = "127.0.0.1", port: int = 0) -> WebServer:
    """Return a server that listens on ``host`` and ``port`` (0: a free one).

    :raises OSError: when the port is taken or the address is not ours.
    """
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    streams: Streams = app.extensions["companion-streams"]
    adjustments = Adjustments(
        host=host,
        port=port,
        threads=streams.limit + RESERVE_THREADS,
        ident=None,
        connection_limit=600,
        channel_timeout=30,
        cleanup_interval=3,
        channel_request_lookahead=1,
        outbuf_high_watermark=256 * 1024,
        max_request_header_size=16 * 1024,
        max_request_body_size=MAX_BODY_BYTES,
        log_socket_errors=False,
        server_name="companion.invalid",
    )
    adjustments.socket_options = [
        (socket.SOL_TCP, socket.TCP_NODELAY, 1),
        (socket.SOL_TCP, socket.TCP_USER_TIMEOUT, UNREAD_MS),
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    ]
    return WebServer(app, adjustments)
