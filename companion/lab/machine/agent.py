"""Runs inside the emulated machine: what the host asks for over a virtio-serial port, one shell script at a time.

Standard library only, and nothing of ours: the machine's own Python runs this file as it is. Both ways a message is one
line of JSON; bytes in it are base64. ``{"id", "run", "limit_s"}`` is answered by any number of ``{"id", "out"}`` and
one ``{"id", "exit"}``; ``{"id", "ping"}`` by ``{"id", "hello"}``, which is also sent once at the start.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PORT = "/dev/virtio-ports/companion.machine"
CHUNK = 1 << 16
PAUSE_S = 0.2
TIMED_OUT = 124


def packed(message: dict[str, Any]) -> bytes:
    """Return a message as the line that it is on the wire; bytes in it are base64."""
    plain = {
        name: base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else value
        for name, value in message.items()
    }
    return json.dumps(plain).encode("ascii") + b"\n"


class MessageReader:
    """Makes messages of bytes as they come; a line that is no message is passed over."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Take bytes and return the messages that are complete with them."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        found = []
        for line in lines:
            with contextlib.suppress(ValueError):
                message = json.loads(line)
                if isinstance(message, dict):
                    found.append(message)
        return found


def up_s() -> float:
    """Return the seconds since the kernel began."""
    return float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])


def answers(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what a message is answered with, as it comes about."""
    number = message.get("id")
    if "run" in message:
        yield from _run(number, str(message["run"]), float(message.get("limit_s", 600)))
    else:
        yield {"id": number, "hello": up_s()}


def _run(number: object, script: str, limit_s: float) -> Iterator[dict[str, Any]]:
    child = subprocess.Popen(
        ["/bin/bash", "-c", script],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    late = threading.Event()

    def end() -> None:
        late.set()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)

    timer = threading.Timer(limit_s, end)
    timer.start()
    assert child.stdout is not None
    with child.stdout as said:
        while data := os.read(said.fileno(), CHUNK):
            yield {"id": number, "out": data}
    code = child.wait()
    timer.cancel()
    yield {"id": number, "exit": TIMED_OUT if late.is_set() else code}


def main() -> None:
    """Answer for ever."""
    port = os.open(PORT, os.O_RDWR)

    def send(message: dict[str, Any]) -> None:
        data = packed(message)
        while data:
            data = data[os.write(port, data) :]

    send({"hello": up_s()})
    lines = MessageReader()
    while True:
        data = os.read(port, CHUNK)
        if not data:
            # Nobody holds the other end: this port has no event for that.
            time.sleep(PAUSE_S)
        for message in lines.feed(data):
            for answer in answers(message):
                send(answer)


if __name__ == "__main__":
    main()
