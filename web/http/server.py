"""The web server: waitress, made fit for live streams on a home network.

Each live stream holds a thread (:mod:`web.http.workers`), so there may be more threads than streams, and a stream that
nobody reads any more must end soon. Three things see to that: the server goes on reading from a connection whose
answer is still under way (so it notices that the phone closed it), the kernel gives up on a connection whose data
nobody acknowledges (a phone that left the WLAN, or one that never reads), and a request that trickles in is cut off.
Nobody can take all connections: of those that wait for a request, an address keeps the newest only. What a request
may bring is decided at its head (:mod:`web.http.admission`): a body that is refused, or too large, is answered at once,
and what still comes of it is dropped, so that its sender hears why and the connection goes on.

The watchdog asks over a connection that has no address, and is answered by a thread of its own: a crowd keeps it from
nothing, and it still goes through the loop, the parser and the application.

Waitress offers no way to any of this from outside: its version is pinned (the README says more).
"""

from __future__ import annotations

import http.client
import logging
import queue
import re
import socket
import tempfile
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.buffers import FileBasedBuffer, OverflowableBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.receiver import ChunkedReceiver, FixedStreamReceiver
from waitress.server import TcpWSGIServer
from waitress.task import WSGITask
from waitress.utilities import RequestEntityTooLarge

from web.http.admission import REFUSAL, REFUSALS, Admission, RequestHead, Ticket
from web.http.responses import both, refusal, short_memory
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

MAX_DROPPED_BYTES = 128 * 1024 * 1024
"""A body that is not kept is read to its end up to here; beyond, the connection is cut."""

IN_MEMORY_BYTES = 512 * 1024
"""What is longer lies in a nameless file while it comes in."""

DROPPED_A_ROUND = 2 * 1024 * 1024
"""Of bodies that are not kept so many bytes are read in a round of the loop: whoever taps comes first."""

REFUSAL_RESTS = 3.0
"""Who answers what was refused rests so many times as long as an answer took: a flood has a quarter of a core at most,
and whoever sends again once it is refused waits."""

READS_A_ROUND = 16
"""How often the connections of one address are read in a round of the loop: its crowd waits for itself alone."""
ACCEPTED_AT_ONCE = 2 * READS_A_ROUND
"""More than are read: whoever comes behind a crowd is let in, and read, before all of it is."""
MOST_CONNECTIONS = 600
SPARE_CONNECTIONS = 60
MOST_WAITING = 128
"""Connections of one address that wait for a request. A phone keeps up to six, and sixty phones may share an
address (a router, a proxy); one that is closed while nothing is asked costs its phone one more connection."""


CHECK_ADDRESS = ("self-check", 0)
"""From where the watchdog asks."""
_CODINGS = re.compile(rb"^transfer-encoding:[ \t]*(.*?)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


class _Spool(OverflowableBuffer):  # type: ignore[misc]
    """A body as it comes in: in memory, and where it is long in a file without a name, which no kill leaves behind."""

    buf: Any

    def __init__(self, folder: Path | None) -> None:
        super().__init__(IN_MEMORY_BYTES)
        self._folder = folder

    def _set_large_buffer(self) -> None:
        small, self.overflowed = self.buf, True
        try:
            file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - closed with the buffer
        except OSError:
            return  # A card that takes no writes: what may be under way in all fits into memory, too.
        self.buf = FileBasedBuffer(file, small)
        if small is not None:
            small.close()


class RequestParser(HTTPRequestParser):  # type: ignore[misc]
    """Takes in a request; what its body may be is decided when its head is there."""

    body_rcv: Any
    chunked: bool
    expect_continue: bool

    def __init__(self, adj: Adjustments, channel: Channel) -> None:
        super().__init__(adj)
        self._channel = channel
        self.ticket: Ticket | None = None
        self.refusal: Exception | None = None
        self._dropped = 0

    def parse_header(self, header_plus: bytes) -> None:
        """Read the head, and decide what becomes of the body.

        :raises ParsingError: the head says in two ways where the body ends (RFC 9112, section 6.3), so that two
            readers might see two requests.
        """
        super().parse_header(header_plus)
        codings = [coding.lower() for coding in _CODINGS.findall(header_plus)]
        if codings and (codings != [b"chunked"] or "CONTENT_LENGTH" in self.headers or self.version != "1.1"):
            raise ParsingError("Transfer-Encoding goes with nothing else that says where a body ends")
        if (self.body_rcv is None and self.command == "GET") or self.content_length >= self.adj.max_request_body_size:
            return
        length = None if self.chunked else self.content_length
        cookies, admission = self.headers.get("COOKIE", ""), self._channel.server.admission
        try:
            self.ticket = admission.admit(RequestHead(self.command, self.path, cookies, length, self._channel.addr[0]))
        except REFUSALS as error:
            self.refusal = error
        if self.ticket is None or self.content_length > self.ticket.keep:
            self._drop_body()
        elif self.chunked:
            self.body_rcv = ChunkedReceiver(_Spool(admission.spool))
        elif self.content_length:
            self.body_rcv = FixedStreamReceiver(self.content_length, _Spool(admission.spool))

    def _drop_body(self) -> None:
        if self.chunked or self.expect_continue:
            # How much is still to come, or whether anything is, nobody knows.
            self.headers["CONNECTION"] = "close"
        else:
            self._dropped = self.content_length
        self.body_rcv, self.chunked, self.expect_continue = None, False, False

    def received(self, data: bytes) -> int:
        """Take in bytes; a body in chunks, whose length nobody knows before, ends where it becomes too large."""
        taken: int = super().received(data)
        if self._dropped:
            here = min(self._dropped, len(data) - taken)
            self._channel.owed = self._dropped - here
            taken += here
        if self.chunked and self.ticket is not None and self.body_bytes_received > self.ticket.keep:
            self.error = RequestEntityTooLarge(f"exceeds {self.ticket.keep} bytes")
            self.completed = True
        return taken

    def close(self) -> None:
        """Let go of the body, and of what it held of what all share."""
        super().close()
        if self.ticket is not None:
            self.ticket.release()


class RequestTask(WSGITask):  # type: ignore[misc]
    """Answers a request; one that was refused at its head tells the application why."""

    def get_environment(self) -> dict[str, Any]:
        """Return the environment with the refusal, where there is one."""
        environ: dict[str, Any] = super().get_environment()
        if self.request.refusal is not None:
            environ[REFUSAL] = self.request.refusal
        return environ

    def build_response_header(self) -> bytes:
        """Return the head of the answer: what the request held is free before anybody reads it."""
        if self.request.ticket is not None:
            self.request.ticket.release()
        head: bytes = super().build_response_header()
        return head

    def execute(self) -> None:
        """Answer, and where there is no memory for an answer, with one that was made before."""
        try:
            super().execute()
        except MemoryError:
            if self.wrote_header:
                raise
            body = self.channel.server.short_memory
            self.status, self.content_length, self.complete = "503 Service Unavailable", len(body), True
            self.response_headers = [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
            self.write(body)


class Channel(HTTPChannel):  # type: ignore[misc]
    """A connection that knows since when its unfinished request has been coming in."""

    task_class = RequestTask
    requests: list[RequestParser]
    begun_at: float | None = None
    owed = 0
    """Bytes of a body that was answered already and is dropped."""
    put_off = False
    """Whether something has come that is read in the next round: others of its address came first in this one."""

    def parser_class(self, adj: Adjustments) -> RequestParser:
        """Return what takes in the next request."""
        return RequestParser(adj, self)

    @property
    def waits(self) -> bool:
        """Tell whether there is no whole request to answer."""
        return not (self.requests or self.total_outbufs_len or self.will_close or self.put_off)

    @property
    def worth(self) -> tuple[bool, float]:
        """Return what is closed last: first whether a body is coming in, then since when nothing else did."""
        body = self.request is not None and self.request.headers_finished
        return body, self.begun_at or self.last_activity

    def handle_read(self) -> None:
        """Read what has come: of bodies that are not kept no more in a round than all may, of one address its share."""
        owed, reads = self.owed, self.server.reads
        if owed:
            if self.server.may_drop > 0:
                super().handle_read()
                self.server.may_drop -= max(0, owed - self.owed)
            return
        self.put_off = reads[self.addr[0]] >= READS_A_ROUND
        if not self.put_off:
            reads[self.addr[0]] += 1
            super().handle_read()

    def received(self, data: bytes) -> bool:
        """Take in bytes, and note when a request began."""
        dropped = min(self.owed, len(data))
        self.owed -= dropped
        result: bool = super().received(data[dropped:])
        if self.request is None and not self.owed:
            self.begun_at = None
        elif self.begun_at is None:
            self.begun_at = time.time()
        return result

    def service(self) -> None:
        """Answer a request; whatever happens, it holds nothing afterwards."""
        try:
            super().service()
        except BaseException:
            with self.requests_lock:
                for request in self.requests:
                    request.close()
                self.requests = []
            self.will_close = True
            self.server.pull_trigger()
            raise

    def handle_close(self) -> None:
        """Close the connection, and let go of a request that will never be whole."""
        super().handle_close()
        if self.request is not None:
            self.request.close()

    def dawdles(self, now: float) -> bool:
        """Tell whether a request has been coming in for too long."""
        if self.begun_at is None:
            return False
        body = self.owed or (self.request is not None and self.request.headers_finished)
        return now - self.begun_at > (UPLOAD_S if body else REQUEST_S)


class WebServer(TcpWSGIServer):  # type: ignore[misc]
    """The listening socket, its threads and its loop; :meth:`run` serves until :meth:`stop` is called."""

    channel_class = Channel

    def __init__(self, app: Flask, adjusted: Adjustments, spool: Path | None = None) -> None:
        self._stopping = threading.Event()
        self._trigger_lock = threading.RLock()
        self._ended = False
        self._streams: Streams = app.extensions["companion-streams"]
        self._sockets: dict[int, object] = {}
        self._checks: queue.SimpleQueue[socket.socket] = queue.SimpleQueue()
        self._checker = Workers(1, name="self-check")
        self._refuser = Workers(1, name="refusal", rest=REFUSAL_RESTS)
        self.admission = Admission(app, spool)
        self.may_drop = 0
        """Bytes of bodies that are not kept which this round of the loop may still read."""
        self.reads: Counter[str] = Counter()
        """How often connections were read in this round, by their addresses."""
        with app.test_request_context():
            short = short_memory()
            self.short_memory: bytes = refusal(short.status, short.code, both(short.message)).get_data()
        super().__init__(app, self._sockets, dispatcher=Workers(adjusted.threads), adj=adjusted)

    @property
    def port(self) -> int:
        """Return the port that is listened on."""
        return int(self.effective_port)

    def handle_accept(self) -> None:
        """Take connections in; where too many wait, the one that waited longest makes room.

        Several are taken at once: else each that comes stands behind a round of reading from all others.
        """
        for _ in range(ACCEPTED_AT_ONCE):
            before = set(self.active_channels.values())
            super().handle_accept()
            new = next(iter(set(self.active_channels.values()) - before), None)
            if new is None:
                return
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

    def add_task(self, task: Channel) -> None:
        """Have a request answered: the watchdog's by a thread that nobody else can take.

        What was refused at its head is told by one thread that rests in between, so that a flood of it stands in nobody
        else's way.
        """
        if task.addr == CHECK_ADDRESS:
            self._checker.add_task(task)
        elif task.requests[0].refusal is not None:
            self._refuser.add_task(task)
        else:
            self.task_dispatcher.add_task(task)

    def lives(self, timeout_s: float) -> bool:
        """Ask the page how it is and return whether it answers in time, and others get their turn, too.

        The question goes through the loop, the parser and the application as any other, but no crowd stands before it.
        """
        ours, theirs = socket.socketpair()
        with closing(ours):
            ours.settimeout(timeout_s)
            with self._trigger_lock:
                if self._ended:
                    theirs.close()
                    return False
                self._checks.put(theirs)
                self.pull_trigger()
            connection = http.client.HTTPConnection("localhost")
            connection.sock = ours
            try:
                connection.request("GET", "/api/health")
                answered = connection.getresponse().status == 200
            except (OSError, http.client.HTTPException):
                return False
        return answered and self.task_dispatcher.stalled_s < timeout_s

    def _take_checks(self) -> None:
        while not self._checks.empty():
            Channel(self, self._checks.get(), CHECK_ADDRESS, self.adj, map=self._sockets)

    def go_round(self) -> None:
        """Do once what has come for any connection; without anything wait a second at most."""
        self.may_drop = DROPPED_A_ROUND
        self.reads.clear()
        wasyncore.loop(timeout=1.0, use_poll=True, map=self._sockets, count=1)
        self._take_checks()

    def run(self) -> None:
        """Serve in this thread until :meth:`stop` is called, then let go of every thread and socket."""
        try:
            while not self._stopping.is_set():
                self.go_round()
        finally:
            with self._trigger_lock:
                self._ended = True
            self._take_checks()
            self.accepting = False
            self._streams.close()
            self.task_dispatcher.shutdown(timeout=3)
            for workers in (self._checker, self._refuser):
                workers.shutdown(timeout=1)
            wasyncore.close_all(self._sockets)

    def stop(self) -> None:
        """End :meth:`run`, from any thread or signal handler."""
        with self._trigger_lock:
            # Once the loop has ended its pipe is closed, and the number of the pipe may be somebody else's.
            if not self._ended:
                self._stopping.set()
                self.pull_trigger()


def make_server(app: Flask, host: str = "127.0.0.1", port: int = 0, *, spool: Path | None = None) -> WebServer:
    """Return a server that listens on ``host`` and ``port`` (0: a free one).

    Large bodies lie in the folder ``spool`` while they come in (None: where the system keeps its temporary files).

    :raises OSError: when the port is taken or the address is not ours.
    """
    return WebServer(app, adjustments(app, host, port), spool)


def adjustments(app: Flask, host: str, port: int, scheme: str = "http") -> Adjustments:
    """Return how waitress is to serve an application; ``scheme`` is what its addresses begin with."""
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    streams: Streams = app.extensions["companion-streams"]
    adjusted = Adjustments(
        host=host,
        port=port,
        threads=streams.places + RESERVE_THREADS,
        ident=None,
        connection_limit=MOST_CONNECTIONS,
        channel_timeout=30,
        recv_bytes=64 * 1024,
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
