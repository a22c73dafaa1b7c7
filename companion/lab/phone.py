"""A client of the running service, as a phone is one: for benches and soaks."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import sys
import threading
import time
import zlib
from pathlib import Path
from typing import Any


def serve_command(python: Path | None = None) -> list[str]:
    """Return how a service of this version is started; or of another one, by its environment's interpreter."""
    # Without -P it would take what lies in the present folder, which is this version.
    begin = [sys.executable] if python is None else [str(python.absolute()), "-P"]
    return [*begin, "-m", "companion", "serve", "--host", "127.0.0.1", "--port", "0"]


def free_port() -> int:
    """Return a port of this host that nobody listens at."""
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        port: int = line.getsockname()[1]
        return port


class Phone:
    """One client: plain requests with a cookie, or one live stream whose events are kept with their times.

    ``number`` tells phones apart that have addresses of their own, as in a house; an answer may take ``patience_s``.
    """

    def __init__(self, port: int, number: int = 0, patience_s: float = 60.0) -> None:
        self.port, self._patience_s = port, patience_s
        self._from = (f"127.0.0.{1 + number % 250}", 0)
        self.cookie = ""
        self.heard: list[tuple[float, str, int | None, dict[str, Any]]] = []
        self._line: socket.socket | None = None

    def ask(self, method: str, path: str, body: object | None = None, **headers: str) -> tuple[int, bytes]:
        """Send a request, ``body`` as JSON, and return status and body."""
        data = None if body is None else json.dumps(body).encode()
        return self.send(path, data, "application/json", method=method, **headers)

    def send(
        self, path: str, data: bytes | None, media_type: str, *, method: str = "POST", **more: str
    ) -> tuple[int, bytes]:
        """Send bytes and return status and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, self._patience_s, source_address=self._from)
        headers = {"Origin": f"http://127.0.0.1:{self.port}", "Cookie": self.cookie, "Accept-Language": "en", **more}
        if data is not None:
            headers["Content-Type"] = media_type
        try:
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            if (given := answer.getheader("Set-Cookie")) is not None:
                self.cookie = given.split(";")[0]
            return answer.status, answer.read()
        finally:
            connection.close()

    def listen(self, board: str = "") -> None:
        """Read the live stream in a thread until it ends; with ``board``, a language, packed and with boards."""
        threading.Thread(target=self._read, args=(board,), daemon=True).start()

    def hang_up(self) -> None:
        """End the live stream."""
        if self._line is not None:
            with contextlib.suppress(OSError):
                self._line.shutdown(socket.SHUT_RDWR)

    def _read(self, board: str) -> None:
        headers = {"Cookie": self.cookie, **({"Accept-Encoding": "gzip"} if board else {})}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, source_address=self._from)
        connection.request("GET", f"/api/events?board={board}" if board else "/api/events", None, headers)
        self._line = connection.sock
        with contextlib.closing(connection), contextlib.closing(connection.getresponse()) as answer:
            self._take(answer)

    def _take(self, answer: http.client.HTTPResponse) -> None:
        packed = answer.getheader("Content-Encoding") == "gzip"
        unpack = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress if packed else bytes
        rest, name, number = b"", "", None
        while chunk := _chunk(answer):
            *lines, rest = (rest + unpack(chunk)).split(b"\n")
            for line in lines:
                if line.startswith(b"event: "):
                    name = line[7:].decode()
                elif line.startswith(b"id: "):
                    number = int(line[4:])
                elif line.startswith(b"data: ") and name == "board":
                    # Thirty pictures a change are not parsed here: the phones' work would be measured with the house's.
                    state = re.match(rb'data: \{"state":(\d+)', line)
                    self.heard.append((time.monotonic(), name, int(state[1]) if state else None, {}))
                elif line.startswith(b"data: ") and name != "beat":
                    payload = json.loads(line[6:])
                    self.heard.append((time.monotonic(), name, number, payload if isinstance(payload, dict) else {}))
                elif not line:
                    name, number = "", None


def _chunk(answer: http.client.HTTPResponse) -> bytes:
    """Return what has come of a stream; nothing when it has ended, however it did."""
    try:
        return answer.read1(1 << 16)
    except (OSError, http.client.HTTPException, ValueError):
        return b""
