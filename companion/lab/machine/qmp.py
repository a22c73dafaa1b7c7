"""Speaks with a running QEMU about its hardware: things plugged in and pulled out, while the machine inside runs."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import termios
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ANSWER_S = 60.0
"""How long QEMU itself may take for an answer; what the machine inside takes is another thing."""

PORT = "2"
"""Always the same socket: QEMU makes the converter's serial number of it."""


class QmpError(OSError):
    """QEMU refused a command, or does not answer."""


class QmpClient:
    """One conversation over QEMU's control socket; QEMU holds one at a time."""

    def __init__(self, place: Path) -> None:
        self._line = socket.socket(socket.AF_UNIX)
        self._line.settimeout(ANSWER_S)
        self._rest = b""
        self._events: list[dict[str, Any]] = []
        try:
            self._line.connect(str(place))
            self._next(time.monotonic() + ANSWER_S)
            self.do("qmp_capabilities")
        except OSError as error:
            self.close()
            raise QmpError(f"QEMU's control socket: {error}") from error

    def __enter__(self) -> Self:
        """Return the client, to be closed at the end of a block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Hang up."""
        self.close()

    def close(self) -> None:
        """Hang up."""
        self._line.close()

    def do(self, command: str, **arguments: Any) -> Any:
        """Give a command and return its answer; ``_`` in names of arguments is QMP's ``-``.

        :raises QmpError: with QEMU's own words, when it refuses.
        """
        told: dict[str, Any] = {"execute": command}
        if arguments:
            told["arguments"] = {name.replace("_", "-"): value for name, value in arguments.items()}
        self._line.sendall(json.dumps(told).encode() + b"\n")
        end = time.monotonic() + ANSWER_S
        while True:
            message = self._next(end)
            if "event" in message:
                self._events.append(message)
            elif "error" in message:
                raise QmpError(f"{command}: {message['error']['desc']}")
            elif "return" in message:
                return message["return"]

    def wait(self, event: str, seconds: float, **data: Any) -> None:
        """Wait for an event that has these data; those before it are forgotten.

        :raises QmpError: when it does not come in time.
        """
        end = time.monotonic() + seconds
        while True:
            message = self._events.pop(0) if self._events else self._next(end, event)
            told = message.get("data", {})
            if message.get("event") == event and all(told.get(name) == value for name, value in data.items()):
                return

    def _next(self, end: float, awaited: str = "") -> dict[str, Any]:
        while b"\n" not in self._rest:
            left = end - time.monotonic()
            if left <= 0:
                raise QmpError(f"QEMU does not say {awaited}." if awaited else "QEMU does not answer.")
            self._line.settimeout(left)
            with contextlib.suppress(TimeoutError):
                data = self._line.recv(1 << 16)
                if not data:
                    raise QmpError("QEMU has ended.")
                self._rest += data
        line, self._rest = self._rest.split(b"\n", 1)
        message: dict[str, Any] = json.loads(line)
        return message


class UsbSocket:
    """A USB socket of the machine, into which a serial converter (FTDI FT232, 0403:6001) can be plugged.

    ``port`` is the terminal of this host that speaks through it. Nobody has that open while nothing is plugged in, so
    what is said meanwhile goes nowhere, as on a real line.
    """

    def __init__(self, qmp: QmpClient, name: str) -> None:
        self._qmp, self.name = qmp, name
        self.plugged, self._port = False, ""

    def plug(self, port: str) -> None:
        """Plug the converter in.

        :raises QmpError: when QEMU refuses, such as a port that cannot be opened.
        """
        line = f"{self.name}-line"
        self._port = port
        with contextlib.suppress(OSError, termios.error):  # QEMU says what is wrong with a port
            self._fresh()
        self._qmp.do("chardev-add", id=line, backend={"type": "serial", "data": {"device": port}})
        self._qmp.do("device_add", driver="usb-serial", id=self.name, chardev=line, port=PORT)
        self.plugged = True

    def opened(self) -> bool:
        """Tell whether the machine inside has opened the converter and set a rate of its own."""
        return self._rate() not in {termios.B9600, termios.B115200}

    def _rate(self) -> int:
        """Return the rate of the port's terminal."""
        line = os.open(self._port, os.O_RDWR | os.O_NOCTTY)
        try:
            return int(termios.tcgetattr(line)[4])
        finally:
            os.close(line)

    def _fresh(self) -> None:
        """Have the port's terminal forget what a former converter was told: its rate, and bytes that nobody read."""
        line = os.open(self._port, os.O_RDWR | os.O_NOCTTY)
        try:
            modes = termios.tcgetattr(line)
            modes[4] = modes[5] = termios.B9600
            termios.tcsetattr(line, termios.TCSANOW, modes)
            termios.tcflush(line, termios.TCIOFLUSH)
        finally:
            os.close(line)

    def pull(self) -> None:
        """Pull it out, whatever the machine inside is doing with it."""
        self._qmp.do("device_del", id=self.name)
        self._qmp.wait("DEVICE_DELETED", ANSWER_S, device=self.name)
        self._qmp.do("chardev-remove", id=f"{self.name}-line")
        self.plugged = False
