"""A kind of serial device is a driver: one that is not ours is found, shown and counted, and nothing else knows it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
import tty
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

from companion.igloo import messages
from companion.igloo.line.driver import Driver
from companion.igloo.line.frame_driver import FrameDriver
from companion.igloo.line.link import SerialLink
from companion.igloo.line.protocol import Data, FrameReader, encode
from companion.igloo.line.registry import DRIVERS, GROUP, DriverRegistry
from companion.igloo.line.text_driver import TextDriver
from companion.igloo.simulated.device import SimulatedDevice
from companion.ports import BadDataError, DeviceError, DeviceState, LinkCounts, Samples
from tests.igloo.line.test_discovery import Machine
from tests.igloo.line.test_link import HELLO, LOOKS, QUICK, Heard, Terminal, listening, still_bank
from tests.worlds import numbered_lines
from tests.worlds.clock import STEP_S, Clock, Unhurried
from tests.worlds.numbered_lines import NumberedDriver
from tests.worlds.served import Served
from tests.worlds.wait import EVERY_S, PATIENCE_S, wait

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[3]
TICK_S = 0.02


class NumberedIgloo:
    """The simulated hand and board, whose samples are printed as numbered lines, in real time."""

    def __init__(self, at: Path, *, clock: Callable[[], float] | None = None, still: bool = True) -> None:
        self.device = SimulatedDevice(still_bank() if still else None, seed=4)
        self.asked, self.skipped, self.torn = b"", 0, 0
        self._reader = FrameReader()
        self._clock = clock or Unhurried()
        self._ours, self._theirs = os.openpty()
        tty.setraw(self._theirs)
        os.set_blocking(self._ours, False)
        at.symlink_to(os.ttyname(self._theirs))
        self._lock, self._closing = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def shake(self, count: int, seconds: float) -> None:
        with self._lock:
            self.device.shake(count, seconds)

    def skip(self, samples: int) -> None:
        """Lose so many samples, a multiple of 16."""
        with self._lock:
            self.skipped += samples // 16

    def close(self) -> None:
        self._closing.set()
        self._thread.join(PATIENCE_S)
        for end in (self._ours, self._theirs):
            os.close(end)

    def _run(self) -> None:
        began, made, unsent = self._clock(), 0, b""
        rate, scale = self.device.bank.rate_hz, self.device.bank.ug_per_lsb * 1e-6
        while not self._closing.wait(TICK_S):
            due = (int((self._clock() - began) * rate) - made) // 16 * 16
            made += due
            try:
                asked = os.read(self._ours, 100)
            except BlockingIOError:
                asked = b""
            self.asked += asked
            with self._lock:
                frames = self._reader.feed(self.device.advance(due))
            said = f"rate {rate:.3f} unit 7\n".encode() if b"?" in asked else b""
            for frame in frames:
                if isinstance(frame, Data) and self.skipped:
                    self.skipped -= 1
                elif isinstance(frame, Data):
                    if self.torn:
                        said, self.torn = said + b"torn\n", self.torn - 1
                    g = np.array(frame.samples) * scale
                    said += b"".join(b"%d %.4f %.4f %.4f\n" % (frame.index + i, *xyz) for i, xyz in enumerate(g))
            unsent += said
            try:
                unsent = unsent[os.write(self._ours, unsent) :] if unsent else b""
            except BlockingIOError:
                unsent = unsent[-200_000:]


@pytest.fixture
def numbered() -> Iterator[type[Driver]]:
    """Our kind of device is known as long as the test lasts."""
    end = DRIVERS.register(NumberedDriver)
    yield NumberedDriver
    end()


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    here = Machine(tmp_path)
    yield here
    for end in here.ends:
        os.close(end)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    end = Terminal(tmp_path / "ttyUSB0")
    yield end
    end.close()


# --- a third kind ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("numbered")
def test_a_device_of_a_new_kind_is_found_by_its_first_bytes_and_its_losses_are_counted(machine: Machine) -> None:
    igloo = NumberedIgloo(machine.dev / "ttyACM0")
    runs: list[Samples] = []
    with machine.finder() as finder:
        finder.subscribe(lambda link, run: runs.append(run))
        wait(lambda: finder.links() and sum(len(run.accel) for run in runs) > 1000)
        igloo.skip(160)
        igloo.torn = 3
        counted = wait(lambda: (told := finder.links()[0].status().counts).lost == 160 and told.corrupt == 3 and told)
        status = finder.links()[0].status()
        report = finder.ports()[0]
    igloo.close()
    assert (status.key, status.unit, status.protocol, status.state) == ("unit-7", 7, "numbered", DeviceState.CONNECTED)
    assert status.rate_hz == pytest.approx(3104.0)
    assert (counted.rejected, counted.reconnects) == (status.counts.rejected, 0)
    assert report.verdict == "igloo"
    assert sum(run.gap_before for run in runs) == 160
    assert runs[-1].accel.mean(axis=0) == pytest.approx([0.0, 0.0, 1.0], abs=0.03)
    assert set(igloo.asked) == set(b"?")


def test_without_its_driver_the_device_is_none_that_is_known(machine: Machine) -> None:
    igloo = NumberedIgloo(machine.dev / "ttyACM0", clock=machine.clock)
    with machine.finder() as finder:
        machine.until(finder, lambda: [port for port in finder.ports() if port.verdict == "given-up"])
        assert finder.links() == []
    igloo.close()
    assert igloo.asked == b""


@pytest.mark.usefixtures("numbered")
def test_a_device_is_known_by_its_usb_number_and_asked_before_it_speaks(machine: Machine) -> None:
    known, other = machine.mute("ttyACM0"), machine.mute("ttyACM1")
    machine.usb("ttyACM0", "1209:0001")
    machine.usb("ttyACM1", "2341:0043")

    def asked(end: int) -> bytes:
        try:
            return os.read(end, 100)
        except BlockingIOError:
            return b""

    with machine.finder() as finder:
        machine.until(finder, lambda: asked(known) == b"?")
        bauds = {entry.link.port[-7:]: entry.link._bauds for entry in finder._entries}
        assert bauds == {"ttyACM0": (230_400,), "ttyACM1": (500_000, 1_000_000, 250_000, 115_200, 230_400)}

        text, left = b"\0" + encode(HELLO) * 3 + b"\nrate 100.0 unit 3\n1 0.0 0.0 1.0\n", [b""]

        def spoken() -> bool:
            """It speaks again and again, as a device does, and whole sentences: what a full line did not take is left.

            Time goes on: where a port is listened to no faster than the wall's, so that it is heard out; where both
            were given up, to when they are tried again.
            """
            machine.clock.go(EVERY_S if finder._entries else STEP_S)
            with suppress(BlockingIOError):
                left[0] = (left[0] or text)[os.write(known, left[0] or text) :]
            return [link.status().protocol for link in finder.links()] == ["numbered"]

        # There no other kind listens: frames are nothing to it.
        wait(spoken)
        assert asked(other) == b""


def test_a_driver_of_a_package_is_shown_and_its_beads_are_counted(
    serve: Callable[..., Served], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole service, in a process that knows the driver by an installed package's entry point alone."""
    package = tmp_path / "packages"
    offer(package, "numbered", "their_igloo:NumberedDriver", "broken", "their_igloo:Nothing")
    shutil.copy(numbered_lines.__file__, package / "their_igloo.py")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")]))
    igloo = NumberedIgloo(tmp_path / "ttyACM0", still=False)
    served = serve("--igloo", str(tmp_path / "ttyACM0"))
    found = wait(served.igloo)
    assert (found["protocol"], found["unit"], found["state"]) == ("numbered", 7, "connected")
    left_out = [line for line in served.lines if "driver" in line and "broken" in line]
    assert len(left_out) == 1
    assert "of the package their-igloo is left out: AttributeError:" in left_out[0]
    igloo.shake(4, 4.0)
    counted = wait(lambda: (told := served.get("/api/state")["count"]).get("state") == "counted" and told)
    assert set(counted["posterior"]) == {str(n) for n in range(2, 14)}
    assert counted["key"] == "unit-7"
    assert any("numbered" in line and "unit 7" in line for line in served.lines)
    command = [*served.program, "doctor", "--data", str(served.data)]
    doctor = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout
    assert "Igloo unit-7: connected (simulated, numbered), 31" in doctor
    igloo.close()


def offer(folder: Path, *pairs: str) -> None:
    """Install a package that offers drivers: names and what they lead to, in turn."""
    about = folder / "their_igloo-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: their-igloo\nVersion: 1.0\n")
    lines = [f"{name} = {leads_to}" for name, leads_to in zip(pairs[::2], pairs[1::2], strict=True)]
    (about / "entry_points.txt").write_text(f"[{GROUP}]\n" + "\n".join(lines) + "\n")


# --- the registry ----------------------------------------------------------------------------------------------------


class Half(NumberedDriver):
    name = "half"
    bauds = ()


class Nameless(NumberedDriver):
    name = ""


class Unfinished(Driver):
    name = "unfinished"
    bauds = (9600,)


class Twin(NumberedDriver):
    name = "text"


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (Half, "bit rates"),
        (Nameless, "no name"),
        (Unfinished, "all that a driver needs"),
        (int, "inherits from Driver"),
        (NumberedDriver(), "inherits from Driver"),
        (Twin, "another driver is named text"),
    ],
)
def test_what_is_no_driver_is_refused(kind: type[Driver], why: str) -> None:
    registry = DriverRegistry(FrameDriver, TextDriver, offered=lambda: ())
    with pytest.raises(BadDataError, match=why):
        registry.register(kind)
    assert list(registry.drivers()) == ["igloo-1", "text"]


def test_what_a_package_offers_is_asked_for_once_and_one_that_fails_costs_a_sentence(
    caplog: pytest.LogCaptureFixture,
) -> None:
    here = "tests.igloo.line.test_driver"
    offered = {
        "a": f"{here}:Half",
        "b": "no.such.module:Driver",
        "c": f"{here}:Twin",
        "d": "tests.worlds.numbered_lines:NumberedDriver",
    }
    asked = []

    def entries() -> tuple[EntryPoint, ...]:
        asked.append(1)
        return tuple(EntryPoint(name, value, GROUP) for name, value in reversed(offered.items()))

    registry = DriverRegistry(FrameDriver, TextDriver, offered=entries)
    assert not asked
    for _ in range(2):
        assert list(registry.drivers()) == ["igloo-1", "text", "numbered"]
    assert asked == [1]
    said = [record.getMessage() for record in caplog.records]
    assert [re.sub(" of the package .* left out", "", line) for line in said] == [
        "The driver a: it says no name, or no bit rates.",
        "The driver b: ModuleNotFoundError: No module named 'no'.",
        "The driver c: another driver is named text.",
    ]
    assert not any(record.exc_info for record in caplog.records)


def test_who_listens_where() -> None:
    registry = DriverRegistry(FrameDriver, TextDriver, NumberedDriver, offered=lambda: ())
    every = (FrameDriver, TextDriver, NumberedDriver)
    assert registry.at("") == registry.at("1209:0002") == every
    assert registry.at("1209:0001") == (NumberedDriver,)


# --- drivers at a link -----------------------------------------------------------------------------------------------


class Clumsy(NumberedDriver):
    name = "clumsy"
    bauds = (9600,)

    def feed(self, data: bytes, now: float) -> list[Samples]:
        raise ZeroDivisionError

    def counts(self) -> LinkCounts:
        return LinkCounts(corrupt=2)


class Mistaken(Clumsy):
    def feed(self, data: bytes, now: float) -> list[Samples]:
        self.in_step = True
        return [Samples(np.full((1, 3), np.nan), now, 100.0, 0)]


@pytest.mark.parametrize("kind", [Clumsy, Mistaken])
def test_a_driver_that_fails_is_left_out_and_the_others_listen_on(
    terminal: Terminal, caplog: pytest.LogCaptureFixture, kind: type[Driver]
) -> None:
    with SerialLink(str(terminal.name), timing=QUICK, clock=Clock(), drivers=[kind, FrameDriver]) as link:
        heard = Heard(link)
        terminal.say(SimulatedDevice(still_bank(), seed=1).advance(480))
        wait(lambda: heard.samples == 480)
        assert (link.status().protocol, link.status().counts.corrupt) == ("igloo-1", 2)
    assert [record.getMessage() for record in caplog.records] == [
        "The driver clumsy failed at ttyUSB0; it is left out there."
    ]


def test_a_board_that_prints_is_not_taken_for_the_igloo_that_was_there(terminal: Terminal) -> None:
    device, clock = SimulatedDevice(still_bank(), seed=1, unit=5), Clock()
    with SerialLink(str(terminal.name), timing=QUICK, clock=clock) as link:
        heard = Heard(link)
        terminal.say(device.advance(480))
        wait(lambda: heard.samples == 480)
        clock.go(QUICK.resync + 0.1)
        clock.looked(link.thread, LOOKS)
        for sent in range(480, 980, 10):
            clock.go(0.1)
            terminal.say(b"0.01,-0.02,9.81\r\n" * 10)
            wait(lambda sent=sent: link.superseded or link.status().counts.samples > sent)
            if link.superseded:
                break
        status = link.status()
        assert (status.key, status.state, status.note) == ("unit-5", DeviceState.MISSING, messages.OTHER_UNIT)
        assert (link.renamed, heard.samples) == (False, 480)


def test_only_what_a_kind_can_do_is_told_it(terminal: Terminal) -> None:
    with listening(str(terminal.name)) as link:
        terminal.say(b"0.01,-0.02,9.81\r\n" * 10)
        wait(lambda: link.status().protocol == "text")
        for told in (link.set_up_again, lambda: link.name_unit(3)):
            with pytest.raises(DeviceError):
                told()
    assert terminal.asked() == b""


def test_nothing_else_knows_one_kind_from_another() -> None:
    """Our kinds' classes are named by their modules, the registry, and what writes our own program onto a board."""
    named = re.compile(r"\b(?:FrameDriver|TextDriver|igloo-1)\b")
    knows = {
        str(path.relative_to(ROOT))
        for top in ("companion", "vision", "web")
        for path in (ROOT / top).rglob("*")
        if path.suffix in {".py", ".js", ".html"} and named.search(path.read_text(encoding="utf-8"))
    }
    line = "companion/igloo/line"
    assert knows == {
        f"{line}/frame_driver.py",
        f"{line}/text_driver.py",
        f"{line}/registry.py",
        "companion/cli/firmware.py",
    }
