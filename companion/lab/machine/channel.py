"""The host's end of the command channel into an emulated machine; :mod:`companion.lab.machine.agent` is the other."""

from __future__ import annotations

import base64
import contextlib
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from companion.lab.machine.agent import MessageReader, packed

LIMIT_S = 3600.0
"""How long a script may take, where nothing else is said."""
GRACE_S = 120.0
"""How much later than the machine's own limit an answer may come."""
LOOK_S = 5.0
"""How often it is looked whether the machine still runs, while nothing comes from it."""


class ChannelError(OSError):
    """The machine did not answer, or a script in it failed."""


@dataclass(frozen=True)
class ScriptResult:
    """What a script printed (both streams), its exit status, and how many seconds it took."""

    said: str
    status: int
    seconds: float


class CommandChannel:
    """Runs scripts in the machine, one after the other; ``alive`` tells whether the machine still runs."""

    def __init__(self, place: Path, alive: Callable[[], bool]) -> None:
        self._alive, self._lines, self._number = alive, MessageReader(), 0
        self._line = socket.socket(socket.AF_UNIX)
        self._line.connect(str(place))
        self._line.settimeout(LOOK_S)
        self._messages: list[dict[str, object]] = []

    def close(self) -> None:
        """Hang up."""
        self._line.close()

    def wait_ready(self, seconds: float) -> float:
        """Wait until the machine has come up so far that it says so; return its own seconds since its kernel began.

        :raises ChannelError: when it ends before, or does not say so in time.
        """
        end = time.monotonic() + seconds
        while True:
            message = self._next(end)
            if (hello := message.get("hello")) is not None:
                return float(str(hello))

    def run(self, script: str, limit_s: float = LIMIT_S, heard: Callable[[str], None] | None = None) -> ScriptResult:
        """Run a shell script as root and wait for its end; ``heard`` is told what it prints meanwhile.

        :raises ChannelError: when the machine ends meanwhile, or does not answer in time.
        """
        self._number += 1
        began = time.monotonic()
        self._line.sendall(packed({"id": self._number, "run": script, "limit_s": limit_s}))
        said = b""
        while True:
            message = self._next(began + limit_s + GRACE_S)
            if message.get("id") != self._number:
                continue
            if "out" in message:
                part = base64.b64decode(str(message["out"]))
                said += part
                if heard is not None:
                    heard(part.decode("utf-8", "replace"))
            elif "exit" in message:
                text = said.decode("utf-8", "replace")
                return ScriptResult(text, int(str(message["exit"])), time.monotonic() - began)

    def check(self, script: str, limit_s: float = LIMIT_S, heard: Callable[[str], None] | None = None) -> str:
        """Run a script that must succeed and return what it printed; see :meth:`run`.

        :raises ChannelError: with the last lines that it printed, when it did not succeed.
        """
        done = self.run(script, limit_s, heard)
        if done.status:
            words = " / ".join(done.said.strip().splitlines()[-4:]) or "no word"
            raise ChannelError(f"{script.strip().splitlines()[0][:80]}: status {done.status}: {words}")
        return done.said

    def _next(self, end: float) -> dict[str, object]:
        while not self._messages:
            if time.monotonic() > end:
                raise ChannelError("The machine does not answer.")
            data = b""
            with contextlib.suppress(TimeoutError):
                data = self._line.recv(1 << 16)
                if not data:
                    raise ChannelError("The machine has ended.")
            if not data and not self._alive():
                raise ChannelError("The machine has ended.")
            self._messages += self._lines.feed(data)
        return self._messages.pop(0)
