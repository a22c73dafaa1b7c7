"""The web server: waitress, made fit for live streams on a home network.

Each live stream holds a thread (:mod:`web.http.workers`), so there may be more threads than streams, and a stream that
nobody reads any more must end soon. Three things see to that: the server goes on reading from a connection whose
answer is still under way (so it notices that the phone closed it), the kernel gives up on a connection whose data
nobody acknowledges (a phone that left the WLAN, or one that never reads), and a request that trickles in is cut off.
Nobody can take all connections: of those that wait for a request, an address keeps the newest only. A body that is
too large is read and dropped, so that its sender hears why.

Waitress offers no way to any of this from outside: its version is pinned (the README says more).
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from typing import TYPE_CHECKING

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.buffers import OverflowableBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.receiver import FixedStreamReceiver
from waitress.server import TcpWSGIServer
from waitress.utilities import RequestEntityTooLarge

from web.http.workers import Workers

if TYPE_CHECKING:
    from flask import Flask

    from web.http.sse import Streams

RESERVE_THREADS = 8
"""Threads beyond those that streams may hold: a plain GET always finds one."""

UNREAD_MS = 6_000
"""After so long without an acknowledgement the kernel drops the connection (TCP_USER_TIMEOUT, RFC 5482)."""

REQUEST_S = 15.0
"""A request's head must be complete after so long …"""

UPLOAD_S = 120.0
"""… and its body, a photo over a slow WLAN, after so long."""

MAX_BODY_BYTES = 16 * 1024 * 1024
"""A body up to here is kept for the view …"""

MAX_DROPPED_BYTES = 128 * 1024 * 1024
"""… and one up to here is at least read to its end; beyond, the connection is cut."""

MOST_CONNECTIONS = 600
SPARE_CONNECTIONS = 60
MOST_WAITING = 128
"""Connections of one address that wait for a request. A phone keeps up to six, and sixty phones may share an
address (a router, a proxy); one that is closed while nothing is asked costs its phone one more connection."""


class _Dropped(FixedStreamReceiver):  # type: ignore[misc]
    """A body that is read to its end and not kept; the view sees its length in the head, and refuses it."""

    def received(self, data: bytes) -> int:
        taken: int = min(self.remain, len(data))
        self.remain -= taken
        self.completed = self.remain == 0
        return taken


class RequestParser(HTTPRequestParser):  # type: ignore[misc]
    """Takes in a request, but of a body that is too large only the length."""

    def parse_header(self, header_plus: bytes) -> None:
        """Read the head, and decide whether the body is worth keeping."""
        super().parse_header(header_plus)
        if self.content_length > MAX_BODY_BYTES:
            self.body_rcv = _Dropped(self.content_length, OverflowableBuffer(0))

    def received(self, data: bytes) -> int:
        """Take in bytes; a body in chunks, whose length nobody knows before, ends where it becomes too large."""
        taken: int = super().received(data)
        if self.chunked and self.body_bytes_received > MAX_BODY_BYTES:
            self.error = RequestEntityTooLarge(f"exceeds {MAX_BODY_BYTES} bytes")
            self.completed = True
        return taken


class Channel(HTTPChannel):  # type: ignore[misc]
    """A connection that knows since when its unfinished request has been coming in."""

    parser_class = RequestParser
    begun_at: float | None = None

    @property
    def waits(self) -> bool:
        """Tell whether there is no whole request to answer."""
        return not self.requests and not self.total_outbufs_len and not self.will_close

    @property
    def worth(self) -> tuple[bool, float]:
        """Return what is closed last: first whether a body is coming in, then since when nothing else did."""
        body = self.request is not None and self.request.headers_finished
        return body, self.begun_at or self.last_activity

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

    def __init__(self, app: Flask, adjusted: Adjustments) -> None:
        self._stopping = threading.Event()
        self._trigger_lock = threading.RLock()
        self._ended = False
        self._streams: Streams = app.extensions["companion-streams"]
        self._sockets: dict[int, object] = {}
        super().__init__(app, self._sockets, dispatcher=Workers(adjusted.threads), adj=adjusted)

    @property
    def port(self) -> int:
        """Return the port that is listened on."""
        return int(self.effective_port)

    def handle_accept(self) -> None:
        """Take a connection in; where too many wait, the one that waited longest makes room."""
        before = set(self.active_channels.values())
        super().handle_accept()
        for new in set(self.active_channels.values()) - before:
            waiting = [one for one in before if one.waits]
            crowd = [one for one in waiting if one.addr[0] == new.addr[0]]
            if len(crowd) < MOST_WAITING:
                crowd = waiting if len(before) >= MOST_CONNECTIONS - SPARE_CONNECTIONS else []
            if crowd:
                min(crowd, key=lambda one: one.worth).will_close = True

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
    return WebServer(app, adjustments(app, host, port))


def adjustments(app: Flask, host: str, port: int, scheme: str = "http") -> Adjustments:
    """Return how waitress is to serve an application; ``scheme`` is what its addresses begin with."""
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    streams: Streams = app.extensions["companion-streams"]
    adjusted = Adjustments(
        host=host,
        port=port,
        threads=streams.limit + RESERVE_THREADS,
        ident=None,
        connection_limit=MOST_CONNECTIONS,
        channel_timeout=30,
        cleanup_interval=3,
        channel_request_lookahead=1,
        outbuf_high_watermark=256 * 1024,
        max_request_header_size=16 * 1024,
        max_request_body_size=MAX_DROPPED_BYTES,
        log_socket_errors=False,
        server_name="companion.invalid",
        url_scheme=scheme,
    )
    adjusted.socket_options = [
        (socket.SOL_TCP, socket.TCP_NODELAY, 1),
        (socket.SOL_TCP, socket.TCP_USER_TIMEOUT, UNREAD_MS),
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    ]
    return adjusted
