"""A camera at an address: MJPEG over HTTP, as phones, ESP32-CAM boards and mjpg-streamer serve it."""

from __future__ import annotations

import base64
import contextlib
import http.client
import socket
import threading
import time
from collections.abc import Iterator
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from companion.ports import BadDataError, DeviceKind
from vision import messages
from vision.camera.frame import Camera, CapturedFrame
from vision.camera.jpeg_stream import JpegCutter
from vision.messages import CameraError

PATIENCE_S: Final = 5.0
"""How long a connection may say nothing."""
PICTURE_S: Final = 10.0
"""How long a whole picture may take, however slowly its bytes drip in."""
_CHUNK: Final = 64 * 1024
_MAX_BETWEEN: Final = 1024 * 1024
_KIND_HEADER: Final = "X-Companion-Kind"


class HttpCamera(Camera):
    """An MJPEG stream at ``http://…`` or ``https://…``; a name and a password may stand in the address.

    A stream that calls itself simulated or recorded (header ``X-Companion-Kind``, as the rendered tables of the
    tests do) is believed; nothing can call itself real.
    """

    def __init__(self, address: str, fps: float) -> None:
        """Read the address; connect to nothing yet.

        :raises BadDataError: it is no http address.
        """
        self._address = _split(address)
        host = self._address.hostname or ""
        port = f":{self._address.port}" if self._address.port else ""
        shown = f"[{host}]" if ":" in host else host
        # Name, password and query (where many cameras take a token) stay out of pages and logs.
        super().__init__(f"{self._address.scheme}://{shown}{port}{self._address.path}", DeviceKind.REAL, fps)
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None

    def capture(self) -> Iterator[CapturedFrame]:
        """Connect and yield pictures as they come; broken ones are skipped and counted.

        :raises CameraError: no answer, no stream, or no whole picture for :data:`PICTURE_S`.
        """
        with contextlib.closing(self._connection()) as connection:
            try:
                # The answer is closed too: it, not the connection, owns the socket of a stream without an end.
                with contextlib.closing(self._ask(connection)) as answer:
                    yield from self._read(answer)
            finally:
                with self._lock:
                    self._socket = None

    def close(self) -> None:
        """End a running :meth:`capture`, also one that waits for bytes."""
        super().close()
        with self._lock:
            if self._socket is not None:
                with contextlib.suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)

    def _connection(self) -> http.client.HTTPConnection:
        secure = self._address.scheme == "https"
        make = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        return make(self._address.hostname or "", self._address.port, timeout=PATIENCE_S)

    def _ask(self, connection: http.client.HTTPConnection) -> http.client.HTTPResponse:
        path = self._address.path or "/"
        headers = {"Accept": "multipart/x-mixed-replace, image/jpeg", "Connection": "close"}
        if self._address.username is not None:
            who = f"{unquote(self._address.username)}:{unquote(self._address.password or '')}"
            headers["Authorization"] = "Basic " + base64.b64encode(who.encode()).decode("ascii")
        try:
            connection.connect()
            with self._lock:
                self._socket = connection.sock
            connection.request("GET", f"{path}?{self._address.query}" if self._address.query else path, headers=headers)
            answer = connection.getresponse()
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            raise CameraError(messages.HTTP_NO_ANSWER, str(error)) from error
        kind = answer.getheader("Content-Type", "")
        if answer.status != http.client.OK or not kind.lower().startswith("multipart/"):
            answer.close()
            if answer.status == http.client.UNAUTHORIZED:
                raise CameraError(messages.HTTP_PASSWORD)
            raise CameraError(messages.HTTP_NO_STREAM, f"HTTP {answer.status}, {kind or 'no type'}")
        if (said := answer.getheader(_KIND_HEADER, "")) in {DeviceKind.SIMULATED, DeviceKind.RECORDED}:
            self._kind = DeviceKind(said)
        return answer

    def _read(self, answer: http.client.HTTPResponse) -> Iterator[CapturedFrame]:
        cutter = JpegCutter()
        deadline = time.monotonic() + PICTURE_S
        skipped = 0
        while not self._closed.is_set():
            try:
                data = answer.read1(_CHUNK)
            except TimeoutError as error:
                raise CameraError(messages.CAMERA_SILENT) from error
            except (OSError, ValueError, http.client.HTTPException) as error:
                if self._closed.is_set():
                    return
                raise CameraError(messages.CAMERA_LOST, str(error)) from error
            if not data:
                if self._closed.is_set():
                    return
                raise CameraError(messages.CAMERA_LOST)
            pictures = cutter.feed(data)
            self.skipped += cutter.skipped - skipped
            skipped = cutter.skipped
            now = time.monotonic()
            if pictures:
                deadline = now + PICTURE_S
                if self._is_due():
                    yield self._captured(jpeg=pictures[-1])
            elif now > deadline or cutter.between > _MAX_BETWEEN:
                raise CameraError(messages.HTTP_NO_STREAM)

    @property
    def live(self) -> bool:
        """Return True: pictures come by themselves, whatever the stream calls itself."""
        return True


def _split(address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise BadDataError(messages.SOURCE_UNKNOWN) from error
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0:
        raise BadDataError(messages.SOURCE_UNKNOWN)
    if any(ord(sign) <= 32 or ord(sign) == 127 for sign in address):
        raise BadDataError(messages.SOURCE_UNKNOWN)
    return parts
