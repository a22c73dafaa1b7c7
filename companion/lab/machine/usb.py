"""The igloo at a USB socket of the machine: its real firmware in simavr on this host, plugged in and pulled out.

The board's sensor has no supply while it is plugged in, so that the reader is in step before the first sample; and it
loses its supply before the samples are counted: then what the board sent is what must have arrived, to the sample. It
is pulled out in the middle of a stream of samples.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from companion.igloo.line.protocol import Data, FrameReader, SensorState
from companion.igloo.simulated.device import load_bank
from companion.lab.machine.channel import CommandChannel
from companion.lab.machine.evening import do, health
from companion.lab.machine.qmp import QmpClient, UsbSocket
from companion.lab.phone import Phone
from companion.lab.worlds.evening import evening
from companion.lab.worlds.simavr import Simavr, SimavrError
from companion.ports import DeviceState

FloatArray = NDArray[np.float64]

PLUGS = 30
BEADS = (3, 6, 9, 12)
"""How many beads are shaken, in turn."""
SEEN_S = 600.0
"""How long something may take to be seen inside; an emulator on a busy PC is slow."""
LOOK_S = 1.0
WRONG = ("lost", "corrupt", "overflows", "dropped_frames", "unknown", "missing_frames", "repeated", "rejected")
"""Of a line's counts: what must stay where it is. A frame that the pulled plug cut is nobody's loss."""
UDEV = """
udevadm settle --timeout=600
node=$(readlink -e "$1") || exit 1
udevadm info --query=property --name="$node"
echo "MODE=$(stat -c '%a %G' "$node")"
echo "IGLOO=$(readlink -e /dev/igloo-*)"
"""
"""Asked inside with a name in by-id: what udev says of the port."""


class Socket(Protocol):
    """Where the igloo is plugged in: the machine's, or a test's."""

    def plug(self, port: str) -> None:
        """Lead to a terminal of this host."""
        ...

    def opened(self) -> bool:
        """Tell whether somebody has opened the port and set it up."""
        ...

    def pull(self) -> None:
        """Lead there no longer."""
        ...


class PortIsWrongError(OSError):
    """The port, or what came through it, is not as it must be."""


def handling(beads: int) -> tuple[FloatArray, FloatArray]:
    """Return a stored shake of so many beads, shape (n, 3) in g, and the pose (3,) in which that igloo rests."""
    bank = load_bank()
    scale = bank.ug_per_lsb / 1e6
    return bank.accel[int(np.flatnonzero(bank.count == beads)[0])] * scale, bank.up * scale


def igloos(phone: Phone) -> list[dict[str, Any]]:
    """Return what the service says of the igloos of this table."""
    return [one for one in health(phone)["devices"] if one["device"] == "igloo"]


def samples_sent(wire: bytes) -> int:
    """Return how many samples the bytes of a line carry."""
    return sum(one.n for one in FrameReader().feed(wire) if isinstance(one, Data))


def as_meant(told: str, name: str) -> dict[str, str]:
    """Return what udev did to a port, from what :data:`UDEV` printed.

    :raises PortIsWrongError: when a rule of ours did not take.
    """
    found = dict(re.findall(r"^([A-Z_]+)=(.*)$", told, re.MULTILINE))
    wanted = {"ID_MM_DEVICE_IGNORE": "1", "MODE": "660 dialout", "IGLOO": found.get("DEVNAME", "nothing")}
    wrong = [f"{key}={found.get(key)!r}" for key, value in wanted.items() if found.get(key) != value]
    if wrong or name not in found.get("DEVLINKS", ""):
        raise PortIsWrongError(f"{name}: {', '.join(wrong) or found.get('DEVLINKS')}")
    link = next(one for one in found["DEVLINKS"].split() if "/igloo-" in one)
    return {"name": name, "beside it": link, "usb": f"{found['ID_VENDOR_ID']}:{found['ID_MODEL_ID']}"}


@dataclass
class Plugs:
    """What came of all the times that the igloo was plugged in."""

    port: dict[str, str] = field(default_factory=dict)
    arrived: list[int] = field(default_factory=list)
    found_s: list[float] = field(default_factory=list)
    lost_s: list[float] = field(default_factory=list)
    counted: list[tuple[int, int | None]] = field(default_factory=list)
    hidden: int = 0
    commands: int = 0
    cut: int = 0
    """Frames that a pulled plug cut."""

    def figures(self) -> dict[str, Any]:
        """Return what is kept of it."""
        right = sum(was == told for was, told in self.counted)
        return {
            **self.port,
            "plugged in": len(self.arrived),
            "samples": sum(self.arrived),
            "lost or wrong": 0,
            "frames cut by the plug": self.cut,
            "found, slowest, s": round(max(self.found_s), 1),
            "missed, slowest, s": round(max(self.lost_s), 1),
            "commands acknowledged": self.commands,
            "shakes hidden by a round": self.hidden,
            "shakes counted right": f"{right} of {len(self.counted)}",
        }


class IglooAtSocket:
    """Plugs the igloo in and pulls it out, and looks through the page at what the service makes of it."""

    def __init__(self, udev: Callable[[str], str], phone: Phone, socket: Socket, igloo: Simavr) -> None:
        """Prepare; ``udev`` tells of a name in by-id what :data:`UDEV` prints."""
        self._udev, self._phone, self._socket, self._igloo = udev, phone, socket, igloo
        self._game = _commands()
        self.plugs = Plugs()
        self._spans: list[tuple[int, int]] = []

    def round(self, beads: int) -> None:
        """Plug it in, shake it, and pull it out, while the game goes on.

        :raises PortIsWrongError: when something was lost, or a rule did not take.
        """
        shake, pose = handling(beads)
        self._igloo.rest(tuple(pose))
        self._igloo.sensor(False)
        was = igloos(self._phone)
        before = was[0]["counts"] if was else {}
        began = time.monotonic()
        # As an Arduino: whoever opens its port starts it anew, and it says nothing before. Until a port is set up the
        # kernel echoes what it sends, and in an emulator that takes long. Nothing of before is left in it.
        self._igloo.reset()
        self._igloo.power(False)
        try:
            self._socket.plug(self._igloo.port)
            self._wait(self._socket.opened, "Nobody opens the port.")
        finally:
            self._igloo.power(True)
        self._igloo.reset()
        told = self._until(lambda one: one["sensor_state"] == SensorState.NO_SENSOR, "is not heard")
        self.plugs.found_s.append(time.monotonic() - began)
        port = as_meant(self._udev(told["key"]), told["key"])
        if self.plugs.port not in ({}, port):
            raise PortIsWrongError(f"Another name: {port} after {self.plugs.port}")
        self.plugs.port = port
        begun, counts = self._sent(), told["counts"]
        self._igloo.sensor(True)
        self._until(lambda one: one["state"] == DeviceState.CONNECTED, "is not connected")
        self._move()
        self._shake(shake)
        self._igloo.sensor(False)
        quiet = self._until(lambda one: one["sensor_state"] == SensorState.LOST, "does not miss its sensor")
        self._spans.append((begun, self._sent()))
        self._count(beads)
        self.plugs.arrived.append(quiet["counts"]["samples"] - counts["samples"])
        wrong = {key: quiet["counts"][key] - before.get(key, 0) for key in WRONG}
        self.plugs.cut += (cut := counts["corrupt"] - before.get("corrupt", 0))
        wrong["corrupt"] -= min(cut, 1)
        if any(wrong.values()):
            raise PortIsWrongError(f"Plug {len(self.plugs.arrived)}: {wrong}")
        self._igloo.sensor(True)
        self._until(lambda one: one["state"] == DeviceState.CONNECTED, "is not connected again")
        began = time.monotonic()
        self._socket.pull()
        self._until(lambda one: one["state"] == DeviceState.MISSING, "is not missed")
        self.plugs.lost_s.append(time.monotonic() - began)
        self._move()

    def settle(self, wire: bytes) -> None:
        """Hold what arrived against all that the board sent.

        :raises PortIsWrongError: when it is not the same, to the sample, for each plug.
        """
        sent = [samples_sent(wire[begin:end]) for begin, end in self._spans]
        if sent != self.plugs.arrived or not all(sent):
            raise PortIsWrongError(f"Samples sent {sent}, arrived {self.plugs.arrived}")

    def _count(self, beads: int) -> None:
        told = json.loads(self._phone.ask("GET", "/api/state")[1])["count"]
        if told["hidden"]:
            self.plugs.hidden += 1
        else:
            self.plugs.counted.append((beads, told.get("count")))

    def _shake(self, shake: FloatArray) -> None:
        played = self._igloo.stats()["samples_played"]
        self._igloo.play(shake)
        self._wait(
            lambda: self._igloo.stats()["samples_played"] >= played + len(shake),
            "The shake does not come to its end: nobody reads the line.",
        )

    @staticmethod
    def _wait(holds: Callable[[], bool], words: str) -> None:
        end = time.monotonic() + SEEN_S
        while not holds():
            if time.monotonic() > end:
                raise PortIsWrongError(words)
            time.sleep(LOOK_S / 4)

    def _move(self) -> None:
        command, body = next(self._game)
        do(self._phone, command, body)
        self.plugs.commands += 1

    def _sent(self) -> int:
        return int(self._igloo.stats()["uart_bytes"])

    def _until(self, holds: Callable[[dict[str, Any]], bool], what: str) -> dict[str, Any]:
        end = time.monotonic() + SEEN_S
        told: list[dict[str, Any]] = []
        while time.monotonic() < end:
            told = igloos(self._phone)
            if len(told) == 1 and holds(told[0]):
                return told[0]
            time.sleep(LOOK_S)
        raise PortIsWrongError(f"The igloo {what}: {json.dumps(told)[:400]}")


def _commands() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield commands of evenings without end."""
    while True:
        for _, told in evening():
            yield from told
        yield "close-match", {}


def plugged(channel: CommandChannel, phone: Phone, control: Path, times: int = PLUGS) -> dict[str, Any]:
    """Plug an igloo in and pull it out so often while a game goes on; return the figures.

    ``control`` is QEMU's control socket. No match may be open.

    :raises PortIsWrongError: when anything was lost.
    """

    def udev(name: str) -> str:
        return channel.check(f"set -- /dev/serial/by-id/{name}\n{UDEV}")

    try:
        return _plugged(udev, phone, control, times)
    except SimavrError as error:
        raise PortIsWrongError(f"The igloo in simavr: {error}") from error


def _plugged(udev: Callable[[str], str], phone: Phone, control: Path, times: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, QmpClient(control) as qmp:
        tee, socket = Path(folder) / "wire", UsbSocket(qmp, "igloo")
        igloo = Simavr(tee=tee).start()
        try:
            table = IglooAtSocket(udev, phone, socket, igloo)
            for number in range(times):
                table.round(BEADS[number % len(BEADS)])
        finally:
            if socket.plugged:
                socket.pull()
            stopped = igloo.stop()
        table.settle(tee.read_bytes())
    stalled = {"line waited for the emulator, s": round(stopped["stalled_s"])}
    return table.plugs.figures() | stalled
