"""A camera on the network for tests: a real HTTP server on loopback that plays JPEG pictures as an MJPEG stream.

Its vocabulary: ``send`` the next picture of one that is ``stepped``, ``show`` other pictures, ``freeze`` (the same
picture again and again), ``hush`` (connected, but silent), ``drop`` (cut the connections), ``unplug`` (stop answering)
and ``replug`` (on the same port). ``style`` picks one of the ways real cameras write multipart; see :data:`STYLES`. It
says of itself that it is simulated.
"""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

STYLES = (
    "plain",  # boundary=frame, --frame, Content-Length, CRLF
    "quoted",  # boundary="frame"
    "dashes",  # boundary=--frame, and --frame between
    "wrong-boundary",  # announces another boundary than it writes
    "no-length",
    "short-length",  # Content-Length too small
    "long-length",  # Content-Length too large
    "bare-lf",  # lines end in LF alone
    "no-gap",  # no line end between a picture and the next boundary
    "chunked",  # HTTP/1.1 chunks that cut pictures anywhere
    "truncated",  # every other picture ends half-way
    "drip",  # a few hundred bytes at a time
)


class MjpegServer:
    """Plays ``pictures`` (JPEG bytes) in a circle, ``fps`` a second, to everybody who asks; a context manager.

    One that is ``stepped`` goes by no clock: to its one client it sends each picture when the test says so.
    """

    def __init__(
        self,
        pictures: Sequence[bytes],
        *,
        fps: float = 10,
        style: str = "plain",
        kind: str = "simulated",
        stepped: bool = False,
    ):
        assert style in STYLES
        self._steps = threading.Semaphore(0) if stepped else None
        self._pictures = list(pictures)
        self.fps, self.style, self.kind = fps, style, kind
        self.answer = (200, "")
        self.requests: list[tuple[str, str]] = []
        self._frozen = self._hushed = False
        self._stop = threading.Event()
        self._connections: set[socket.socket] = set()
        self._server: ThreadingHTTPServer | None = None
        # Bound for all its life, so that nobody else gets the port while it is unplugged.
        self._kept = socket.socket()
        self._kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._kept.bind(("127.0.0.1", 0))
        self._port = self._kept.getsockname()[1]
        self.replug()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/stream.mjpg"

    def show(self, pictures: Sequence[bytes]) -> None:
        """Play other pictures from now on."""
        self._pictures = list(pictures)

    def send(self, count: int = 1) -> None:
        """Send so many pictures, if it is stepped."""
        assert self._steps is not None
        self._steps.release(count)

    def freeze(self, frozen: bool = True) -> None:
        """Send the first picture for ever, byte for byte."""
        self._frozen = frozen

    def hush(self, hushed: bool = True) -> None:
        """Keep the connections, send nothing."""
        self._hushed = hushed

    def drop(self) -> None:
        """Cut every connection; the next one is answered again."""
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def unplug(self) -> None:
        """Stop answering."""
        self._stop.set()
        if self._steps is not None:
            self._steps.release()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
        self.drop()

    def replug(self) -> None:
        """Answer (again), on the same port as before."""
        camera = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                camera._play(self)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True

            def handle_error(self, *_: object) -> None:
                pass

        self._stop = threading.Event()
        self._server = Server(("127.0.0.1", self._port), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self.unplug()
        self._kept.close()

    def __enter__(self) -> MjpegServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _play(self, handler: BaseHTTPRequestHandler) -> None:
        self.requests.append((handler.path, handler.headers.get("Authorization", "")))
        status, kind = self.answer
        if status != 200:
            handler.send_response(status)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        announced = {"quoted": '"frame"', "dashes": "--frame", "wrong-boundary": "another"}.get(self.style, "frame")
        handler.send_response(200)
        handler.send_header("Content-Type", kind or f"multipart/x-mixed-replace; boundary={announced}")
        handler.send_header("Cache-Control", "no-store")
        if self.kind:
            handler.send_header("X-Companion-Kind", self.kind)
        if self.style == "chunked":
            handler.send_header("Transfer-Encoding", "chunked")
        else:
            handler.send_header("Connection", "close")
        handler.end_headers()
        handler.close_connection = True
        self._connections.add(handler.connection)
        try:
            self._send_all(handler)
        except OSError:
            pass
        finally:
            self._connections.discard(handler.connection)

    def _send_all(self, handler: BaseHTTPRequestHandler) -> None:
        stop = self._stop
        for number in itertools.count():
            if self._steps is not None:
                self._steps.acquire()
            elif stop.wait(1 / self.fps):
                return
            if stop.is_set():
                return
            if self._hushed or not self._pictures:
                continue
            picture = self._pictures[0 if self._frozen else number % len(self._pictures)]
            if self.style == "truncated" and number % 2:
                picture = picture[: len(picture) // 2]
            self._send(handler, self._part(picture, number))

    def _part(self, picture: bytes, number: int) -> bytes:
        end = b"\n" if self.style == "bare-lf" else b"\r\n"
        length = len(picture) + {"short-length": -500, "long-length": 300}.get(self.style, 0)
        head = b"--frame" + end + b"Content-Type: image/jpeg" + end
        if self.style not in {"no-length", "truncated"}:
            head += b"Content-Length: %d" % length + end
        if number == 0:
            head = end + head
        return head + end + picture + (b"" if self.style == "no-gap" else end)

    def _send(self, handler: BaseHTTPRequestHandler, data: bytes) -> None:
        if self.style == "chunked":
            for at in range(0, len(data), 7001):
                piece = data[at : at + 7001]
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        elif self.style == "drip":
            for at in range(0, len(data), 700):
                handler.wfile.write(data[at : at + 700])
        else:
            handler.wfile.write(data)
