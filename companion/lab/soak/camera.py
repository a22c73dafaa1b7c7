"""A camera at an address that fails in every way it can, while the service watches it: gone, silent, black, frozen.

Pictures of strangers come here too: what is no picture, and what is too much of one, must harm nobody.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import struct
import threading
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from companion.lab.soak.play import ServedCompanion

FPS = 5.0
PATIENCE_S = 30.0
"""How long a fault, or the end of it, may go unnoticed; a busy machine is slow."""


class FaultyCamera:
    """An MJPEG stream; ``mode`` is what it sends: pictures, the same one, black ones, nothing, junk, or a bomb."""

    def __init__(self) -> None:
        import cv2
        import numpy as np

        rng = np.random.default_rng(5)

        def jpeg(image: Any, *options: int) -> bytes:
            return cv2.imencode(".jpg", image, list(options))[1].tobytes()

        table = cv2.resize(rng.integers(60, 200, (15, 20, 3), np.uint8), (640, 480), interpolation=cv2.INTER_CUBIC)
        self._pictures = [jpeg(np.roll(table, 5 * n, axis=1)) for n in range(8)]
        self._black = [jpeg(np.full((480, 640, 3), n % 2, np.uint8)) for n in range(8)]
        flat = jpeg(np.full((2400, 2400, 3), 90, np.uint8), cv2.IMWRITE_JPEG_PROGRESSIVE, 1)
        scan = flat.rindex(b"\xff\xda")
        # As many walks over the whole picture as a head may ask for.
        self._bomb = flat[:scan] + flat[scan:-2] * 80 + flat[-2:]
        self.mode = "pictures"
        self._closing = threading.Event()
        self._lines: set[socket.socket] = set()
        self._door: socket.socket | None = None
        self.port = 0
        self.plug_in()

    def plug_in(self) -> None:
        """Answer, always at the same address."""
        self._door = socket.create_server(("127.0.0.1", self.port))
        self.port = self._door.getsockname()[1]
        threading.Thread(target=self._greet, args=(self._door,), daemon=True).start()

    def unplug(self) -> None:
        """Be gone: no answer, and no more of what was under way."""
        if self._door is not None:
            with contextlib.suppress(OSError):
                self._door.shutdown(socket.SHUT_RDWR)
            self._door.close()
            self._door = None
        for line in list(self._lines):
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End."""
        self._closing.set()
        self.unplug()

    def _greet(self, door: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                line, _ = door.accept()
                threading.Thread(target=self._play, args=(line,), daemon=True).start()

    def _play(self, line: socket.socket) -> None:
        self._lines.add(line)
        head = "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=f\r\n"
        try:
            with line:
                line.recv(4096)
                line.sendall(f"{head}X-Companion-Kind: simulated\r\nConnection: close\r\n\r\n".encode())
                number = 0
                while not self._closing.wait(1 / FPS):
                    number += 1
                    data = self._next(number)
                    if data:
                        part = f"--f\r\nContent-Type: image/jpeg\r\nContent-Length: {len(data)}\r\n\r\n".encode()
                        line.sendall(part + data + b"\r\n")
        except OSError:
            pass
        finally:
            self._lines.discard(line)

    def _next(self, number: int) -> bytes:
        match self.mode:
            case "frozen":
                return self._pictures[0]
            case "black":
                return self._black[number % len(self._black)]
            case "silent":
                return b""
            case "junk":
                return b"\xff\xd8\xff\xe0\x00\x10" + bytes(number % 251 for _ in range(3000)) + b"\xff\xd9"
            case "bomb":
                return self._bomb if number % 25 == 0 else self._pictures[number % len(self._pictures)]
        return self._pictures[number % len(self._pictures)]


@dataclass(slots=True)
class Seen:
    """A fault of the camera: whether it was said (and how late), whether pictures came back, whether the page lived."""

    fault: str
    said: str = ""
    said_s: float = 0.0
    back: bool = False
    requests: int = 0
    answered: int = 0


FAULTS = {
    "gone": {"missing"},
    "silent": {"silent", "missing"},
    "frozen": {"faulty"},
    "black": {"faulty"},
    "junk": {"silent", "missing", "faulty"},
}
"""What each fault is to be called."""


def camera_faults(house: ServedCompanion, camera: FaultyCamera, faults: Iterable[str] = FAULTS) -> Iterator[Seen]:
    """Let the camera fail in every way, one after the other; between them it sends pictures."""
    _until(house, {"connected"}, Seen(""))
    for fault in faults:
        names, result = FAULTS[fault], Seen(fault)
        camera.mode = fault
        if fault == "gone":
            camera.unplug()
        began = time.monotonic()
        result.said = _until(house, names, result)
        result.said_s = time.monotonic() - began
        camera.mode = "pictures"
        if fault == "gone":
            camera.plug_in()
        result.back = bool(_until(house, {"connected"}, result))
        yield result


def bombs(house: ServedCompanion, camera: FaultyCamera, seconds: float) -> tuple[Seen, float]:
    """Let the camera send pictures that take too much, and phones too; return what happened, and the memory's peak."""
    result, peak, end = Seen("bomb"), 0.0, time.monotonic() + seconds
    camera.mode = "bomb"
    while time.monotonic() < end:
        _state(house, result)
        for upload in (png_bomb(5000), camera._bomb):
            result.requests += 1
            with contextlib.suppress(OSError, http.client.HTTPException):
                # Too large, or one sentence that there is too much just now: both are answers.
                result.answered += house.host.send("/api/photo", upload, "image/jpeg")[0] in {200, 422, 429, 503}
        peak = max(peak, house.memory_mb())
        time.sleep(0.2)
    camera.mode = "pictures"
    result.back = bool(_until(house, {"connected"}, result))
    return result, peak


def png_bomb(side: int) -> bytes:
    """Return a PNG of some kilobytes that claims so many pixels a side, and holds fewer."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", side, side, 16, 6, 0, 0, 0)
    rows = zlib.compress(bytes(8 * side + 1) * 40, 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def _state(house: ServedCompanion, result: Seen) -> str:
    """Return the camera's state as the page has it, and count whether the page answered."""
    result.requests += 1
    with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
        devices = json.loads(house.host.ask("GET", "/api/health")[1])["devices"]
        result.answered += 1
        return str(next((one["state"] for one in devices if one["device"] == "camera"), ""))
    return ""


def _until(house: ServedCompanion, names: set[str], result: Seen) -> str:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if (state := _state(house, result)) in names:
            return state
        time.sleep(0.2)
    return ""
