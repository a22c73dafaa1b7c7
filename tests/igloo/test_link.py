"""The link on real pseudo-terminals: how it listens, what it never does, and how it comes back."""

from __future__ import annotations

import os
import threading
import time
import tty
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import serial

from companion.igloo import notes
from companion.igloo.link import SerialLink, Timing
from companion.igloo.port import Port, PortError, PortMissingError, kind_of
from companion.igloo.simulated import Bank, SimulatedDevice, SimulatedIgloo
from companion.igloo.wire import Data, FrameReader, Hello, SensorState, Status, encode
from companion.ports import DeviceError, DeviceKind, DeviceState, IglooLink, Samples

pytestmark = pytest.mark.process

QUICK = Timing(
    first_listen=0.3, listen=0.2, garbage=0.1, stale=0.5, resync=0.8, reopen=0.05, retry=0.1, hello=0.2, batch=0.01
)
HELLO = Hello(0, 1, 0xE5, 0x0F, 0x0B, 3200, 3900, 16_000_000, 500_000)


def until(true: Callable[[], object], seconds: float = 8.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


class Terminal:
    """A pseudo-terminal whose other end the test speaks at, by a name that stays."""

    def __init__(self, name: Path) -> None:
        self.name = name
        self.ours, self.theirs = os.openpty()
        tty.setraw(self.theirs)
        os.set_blocking(self.ours, False)
        name.unlink(missing_ok=True)
        name.symlink_to(os.ttyname(self.theirs))

    def say(self, data: bytes) -> None:
        end = time.monotonic() + 5.0
        while data:
            try:
                data = data[os.write(self.ours, data) :]
            except BlockingIOError:
                assert time.monotonic() < end, "nobody reads"
                time.sleep(0.005)

    def asked(self) -> bytes:
        try:
            return os.read(self.ours, 1000)
        except BlockingIOError:
            return b""

    def unplug(self) -> None:
        self.name.unlink(missing_ok=True)
        os.close(self.ours)
        os.close(self.theirs)
        self.ours = -1

    def close(self) -> None:
        if self.ours >= 0:
            self.unplug()


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    end = Terminal(tmp_path / "ttyUSB0")
    yield end
    end.close()


@pytest.fixture
def link(terminal: Terminal) -> Iterator[SerialLink]:
    with SerialLink(str(terminal.name), timing=QUICK) as line:
        until(lambda: line._open)
        yield line


class Heard:
    def __init__(self, link: IglooLink) -> None:
        self.runs: list[Samples] = []
        self.end = link.subscribe(self.runs.append)

    @property
    def samples(self) -> int:
        return sum(len(run.accel) for run in self.runs)


def still_bank(rate: float = 3104.0) -> Bank:
    shakes = np.zeros((12, 400, 3), dtype=np.int16)
    shakes[:, :, 2] = 256
    return Bank(shakes, np.arange(2, 14), rate, 3900.0, np.array([0.0, 0.0, 1.0]))


# --- the port ------------------------------------------------------------------------------------------------------


def test_a_port_is_opened_for_us_alone(terminal: Terminal) -> None:
    port = Port(str(terminal.name), 500_000)
    assert port.kind is DeviceKind.SIMULATED
    with pytest.raises(PortError) as caught:
        Port(str(terminal.name), 500_000)
    assert caught.value.note == notes.BUSY
    with pytest.raises(serial.SerialException):
        serial.Serial(str(terminal.name), exclusive=True)
    port.close()
    Port(str(terminal.name), 250_000).close()


def test_a_port_that_another_program_holds_is_left_alone(terminal: Terminal, tmp_path: Path) -> None:
    with serial.Serial(str(terminal.name), 9600, exclusive=True), pytest.raises(PortError) as caught:
        Port(str(terminal.name), 500_000)
    assert caught.value.note == notes.BUSY
    assert isinstance(caught.value, OSError)


@pytest.mark.parametrize(
    ("text", "busy"),
    [("{living}\n", True), ("   {living} minicom root", True), ("{own}", False), ("?", False), ("", False)],
)
def test_lock_files_of_other_programs_are_honoured(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, busy: bool
) -> None:
    monkeypatch.setattr("companion.igloo.port._LOCKS", (tmp_path / "none", tmp_path))
    lock = tmp_path / f"LCK..{terminal.name.resolve().name}"
    lock.write_text(text.format(living=os.getppid(), own=os.getpid()))
    if busy:
        with pytest.raises(PortError, match="Another program"):
            Port(str(terminal.name), 500_000)
    else:
        Port(str(terminal.name), 500_000).close()


@pytest.mark.parametrize("baud", [500_000, 1_000_000, 250_000, 115_200])
def test_every_bit_rate_can_be_set(terminal: Terminal, baud: int) -> None:
    port = Port(str(terminal.name), 9600)
    port.set_baud(baud)
    terminal.say(b"\0\xff\r\n\x03\x11\x13")
    assert port.wait(1.0)
    # raw: no byte is taken for a line end, an interrupt or flow control
    assert port.read() == b"\0\xff\r\n\x03\x11\x13"
    assert port.read() == b""
    port.close()


@pytest.mark.parametrize(
    ("path", "error", "note"),
    [
        ("nothing", PortMissingError, notes.MISSING),
        ("folder", PortError, notes.NOT_A_PORT),
        ("file", PortError, notes.NOT_A_PORT),
        ("/dev/null", PortError, notes.CANNOT_OPEN),
    ],
)
def test_what_is_no_port(tmp_path: Path, path: str, error: type[PortError], note: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    with pytest.raises(error) as caught:
        Port(str(tmp_path / path), 500_000)
    assert caught.value.note == note


def test_a_pseudo_terminal_is_simulated_by_any_name(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "real-igloo").symlink_to(terminal.name)
    assert kind_of(tmp_path / "real-igloo") is DeviceKind.SIMULATED
    assert kind_of("/dev/null") is DeviceKind.REAL


# --- listening -----------------------------------------------------------------------------------------------------


def test_an_igloo_is_heard(tmp_path: Path) -> None:
    with SimulatedIgloo(still_bank(), at=tmp_path / "ttyACM0", unit=3, seed=1) as igloo:
        with SerialLink(igloo.port, timing=QUICK) as link:
            heard = Heard(link)
            until(lambda: heard.samples > 6000 and link.status().rate_hz)
            status = link.status()
        assert isinstance(link, IglooLink)
    assert (status.key, status.unit, status.kind, status.state) == (
        "unit-3",
        3,
        DeviceKind.SIMULATED,
        DeviceState.CONNECTED,
    )
    assert status.port == igloo.port
    assert (status.nominal_hz, status.protocol, status.sensor_state, status.note) == (3200.0, "igloo-1", 0, "")
    assert status.rate_hz == pytest.approx(3104.0, rel=5e-3)
    counts = status.counts
    assert counts.samples > 6000
    assert (counts.lost, counts.corrupt, counts.overflows, counts.missing_frames, counts.rejected) == (0, 0, 0, 0, 0)
    assert heard.runs[50].accel.mean(axis=0) == pytest.approx([0.0, 0.0, 1.0], abs=0.03)
    assert {run.gap_before for run in heard.runs} == {0}


def test_it_is_in_step_in_the_middle_of_a_stream_and_asks_who_is_there(terminal: Terminal, link: SerialLink) -> None:
    device = SimulatedDevice(still_bank(), seed=1)
    wire = device.advance(1600)
    assert link.status().state is DeviceState.SEARCHING
    heard = Heard(link)
    terminal.say(wire[70:])  # from the middle of a frame: HELLO and STATUS are past
    until(lambda: b"h" in terminal.asked())
    assert link.status().note == notes.NO_HELLO
    assert heard.samples == 0
    terminal.say(device.receive(b"h") + device.advance(64))
    until(lambda: heard.samples)
    assert link.status().counts.corrupt == 0
    assert link.status().counts.lost == 0


def test_what_was_said_before_we_listened_is_heard(terminal: Terminal) -> None:
    device = SimulatedDevice(still_bank(), seed=1)
    terminal.say(device.advance(480))  # waiting in the terminal
    with SerialLink(str(terminal.name), timing=QUICK) as link:
        heard = Heard(link)
        until(lambda: link.status().counts.samples == 480)
        assert link.status().counts.lost == 0
        opened = heard.runs[0].t0 if heard.runs else time.monotonic()
        for _ in range(20):
            time.sleep(16 * 16 / 3104.0)
            terminal.say(device.advance(256))
        until(lambda: link.status().counts.samples == 480 + 20 * 256)
    now = time.monotonic()
    last = heard.runs[-1]
    assert opened < last.t0 + len(last.accel) / last.rate_hz < now + 2.5
    assert link.status().counts.corrupt == 0


def test_nothing_is_written_before_a_valid_frame(terminal: Terminal, link: SerialLink) -> None:
    terminal.say(b"\0noise\0" + bytes(range(256)) * 3 + encode(HELLO)[:-4] + b"\x07\0")
    time.sleep(0.6)
    terminal.say(b"ok T:21.0 /0.0 B:20.9\n" * 20)
    time.sleep(0.6)
    assert terminal.asked() == b""
    assert not link.heard
    # frames of an unknown type are not yet an igloo either
    terminal.say(b"".join(encode(Data.of(i, i * 5000, i, 0, [(0, 0, 256)])) for i in range(3)))
    until(lambda: terminal.asked() == b"h")


def test_to_a_board_that_prints_nothing_is_ever_written(terminal: Terminal, link: SerialLink) -> None:
    heard = Heard(link)
    began, sent = time.monotonic(), 0
    while not heard.samples:
        due = int((time.monotonic() - began) * 100.0) - sent
        terminal.say(b"0.01,-0.02,9.81\r\n" * due)
        sent += due
        time.sleep(0.02)
        assert terminal.asked() == b""
        assert sent < 1000
    status = link.status()
    assert heard.runs[0].accel[0] == pytest.approx([0.001, -0.002, 1.0003], abs=1e-3)
    assert (status.protocol, status.state, status.note) == ("text", DeviceState.CONNECTED, notes.TOO_SLOW)
    assert status.rate_hz == pytest.approx(100.0, rel=0.15)
    assert (status.unit, status.nominal_hz) == (None, None)
    with pytest.raises(DeviceError):
        link.set_up_again()


def test_a_device_that_says_nothing_is_fruitless(terminal: Terminal, link: SerialLink) -> None:
    until(lambda: link.fruitless)
    assert (link.status().state, link.status().note) == (DeviceState.SILENT, notes.NOTHING_ARRIVES)
    assert link.status().counts.corrupt == 0


def test_a_device_that_speaks_otherwise_is_fruitless(terminal: Terminal, link: SerialLink) -> None:
    stop = threading.Event()

    def talk() -> None:
        while not stop.wait(0.01):
            terminal.say(b"$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n")

    talker = threading.Thread(target=talk)
    talker.start()
    until(lambda: link.fruitless and link.status().note == notes.NOT_AN_IGLOO)
    stop.set()
    talker.join()
    assert link.status().state is DeviceState.FAULTY
    assert terminal.asked() == b""


def test_all_bit_rates_are_listened_at(terminal: Terminal, link: SerialLink) -> None:
    seen = set()
    until(lambda: seen.add(link.baud) or len(seen) == 4)
    assert seen == {500_000, 1_000_000, 250_000, 115_200}


def test_three_numbers_that_are_no_acceleration_are_no_igloo(terminal: Terminal, link: SerialLink) -> None:
    end = time.monotonic() + 5.0
    while not link.fruitless and time.monotonic() < end:
        terminal.say(b"21.5,1013.2,45\n")
        time.sleep(0.02)
    assert link.fruitless
    assert not link.heard
    assert link.status().note == notes.NOT_ACCELERATION


# --- what is wrong with the igloo ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "note"),
    [
        (SensorState.NO_SENSOR, notes.NO_SENSOR),
        (SensorState.NOT_SET_UP, notes.NOT_SET_UP),
        (SensorState.LOST, notes.SENSOR_LOST),
        (99, notes.NO_SENSOR),
    ],
)
def test_a_sick_sensor_is_said(terminal: Terminal, link: SerialLink, state: int, note: str) -> None:
    terminal.say(encode(HELLO) + encode(Status(1, state, 0, 1, 0, 0, 0, 0)))
    until(lambda: link.status().note == note)
    assert link.status().state is DeviceState.FAULTY
    assert link.status().sensor_state == state


def test_an_igloo_without_samples_is_silent(terminal: Terminal, link: SerialLink) -> None:
    terminal.say(encode(HELLO) + encode(Status(1, 0, 0xE5, 1, 0, 0, 0, 0)))
    until(lambda: link.status().note == notes.NO_SAMPLES)
    assert link.status().state is DeviceState.SILENT
    until(lambda: link.status().note == notes.NOTHING_ARRIVES)


@pytest.mark.parametrize(
    ("hello", "step_us", "note"),
    [(replace(HELLO, ug_per_lsb=60_000), 5000, notes.BAD_SCALE), (HELLO, 0, notes.NO_CLOCK)],
)
def test_what_cannot_be_true_gives_no_samples(
    terminal: Terminal, link: SerialLink, hello: Hello, step_us: int, note: str
) -> None:
    heard = Heard(link)
    terminal.say(encode(hello))
    for i in range(1000):
        terminal.say(encode(Data.of(i + 1, i * step_us, i * 16, 0, [(0, 0, 256)] * 16)))
    until(lambda: link.status().counts.samples == 16_000)
    assert (link.status().state, link.status().note) == (DeviceState.FAULTY, note)
    assert heard.samples + link.status().counts.rejected == 16_000
    assert link.status().counts.rejected > 8000


def test_losses_on_the_line_are_counted(tmp_path: Path) -> None:
    with SimulatedIgloo(still_bank(), at=tmp_path / "x", seed=2) as igloo, SerialLink(igloo.port, timing=QUICK) as link:
        heard = Heard(link)
        until(lambda: heard.samples > 1000)
        igloo.corrupt_frame(3)
        until(lambda: link.status().counts.corrupt >= 3)
        igloo.drop_samples(160)
        until(lambda: link.status().counts.dropped_frames == 10)
        igloo.overflow(50)
        until(lambda: link.status().counts.overflows == 1)
        time.sleep(0.1)
        counts = link.status().counts
    assert counts.lost == 160 + 3 * 16
    assert counts.missing_frames == 0
    assert sum(run.gap_before for run in heard.runs) == counts.lost
    assert [run.overflow_before for run in heard.runs].count(True) == 1


def test_babble_is_survived_and_its_loss_is_exact(tmp_path: Path) -> None:
    with SimulatedIgloo(still_bank(), at=tmp_path / "x", seed=3) as igloo, SerialLink(igloo.port, timing=QUICK) as link:
        heard = Heard(link)
        until(lambda: heard.samples > 1000)
        igloo.babble(0.3)
        until(lambda: link.status().counts.lost > 800)
        counts = link.status().counts
        assert counts.corrupt > 10
        # long enough that it listens anew, at other rates, and finds the old one again
        igloo.babble(1.5)
        until(lambda: link.status().note == notes.NOT_AN_IGLOO)
        until(lambda: link.status().counts.reconnects == 1 and link.status().state is DeviceState.CONNECTED)
        time.sleep(0.3)
        counts = link.status().counts
        assert counts.resets == 0
    numbers = [(run.index, len(run.accel), run.gap_before) for run in heard.runs]
    assert numbers[0][0] + sum(n + gap for _, n, gap in numbers[1:]) + numbers[0][1] == numbers[-1][0] + numbers[-1][1]
    assert counts.lost == sum(gap for *_, gap in numbers)


# --- coming and going ----------------------------------------------------------------------------------------------


def test_unplugged_and_plugged_in_again(tmp_path: Path) -> None:
    with SimulatedIgloo(still_bank(), at=tmp_path / "x", unit=5) as igloo, SerialLink(igloo.port, timing=QUICK) as link:
        heard = Heard(link)
        for times in range(1, 6):
            before = heard.samples
            until(lambda before=before: heard.samples > before + 500)
            igloo.unplug()
            until(lambda: link.status().state is DeviceState.MISSING)
            assert link.status().note == notes.MISSING
            assert (link.status().key, link.status().kind) == ("unit-5", DeviceKind.SIMULATED)
            igloo.replug()
            until(lambda times=times: link.status().counts.reconnects == times)
        until(lambda: link.status().state is DeviceState.CONNECTED and not heard.runs[-1].overflow_before)
    assert [run.overflow_before for run in heard.runs].count(True) == 5
    assert link.status().counts.lost == 0
    assert link.status().counts.corrupt <= 5


def test_a_port_that_comes_later(tmp_path: Path) -> None:
    with SerialLink(str(tmp_path / "later"), timing=QUICK) as link:
        until(lambda: link.status().state is DeviceState.MISSING)
        with SimulatedIgloo(still_bank(), at=tmp_path / "later"):
            until(lambda: link.status().state is DeviceState.CONNECTED)
            assert (link.status().kind, link.status().key) == (DeviceKind.SIMULATED, "later")


def test_a_real_igloo_is_never_replaced_by_a_simulated_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing here is real, so for once pseudo-terminals are taken for it.
    monkeypatch.setattr("companion.igloo.port._PTY_MAJORS", ())
    with SimulatedIgloo(still_bank(), at=tmp_path / "x") as igloo, SerialLink(igloo.port, timing=QUICK) as link:
        heard = Heard(link)
        until(lambda: heard.samples > 500)
        assert link.status().kind is DeviceKind.REAL
        igloo.unplug()
        until(lambda: link.status().state is DeviceState.MISSING)
        monkeypatch.undo()
        before = heard.samples
        igloo.replug()
        until(lambda: link.status().note == notes.OTHER_KIND)
        assert (link.status().state, link.status().kind) == (DeviceState.MISSING, DeviceKind.REAL)
        assert heard.samples == before


def test_another_unit_at_the_same_port_is_not_taken_for_the_first(tmp_path: Path) -> None:
    igloo = SimulatedIgloo(still_bank(), at=tmp_path / "x", unit=1)
    with SerialLink(igloo.port, timing=QUICK) as link:
        heard = Heard(link)
        until(lambda: heard.samples > 500)
        igloo.unplug()
        until(lambda: link.status().state is DeviceState.MISSING)
        before = heard.samples
        with SimulatedIgloo(still_bank(), at=tmp_path / "x", unit=2):
            until(lambda: link.superseded)
            status = link.status()
            assert (status.key, status.state, status.note) == ("unit-1", DeviceState.MISSING, notes.OTHER_UNIT)
            assert not link.renamed
            assert heard.samples == before
    igloo.close()


def test_an_igloo_is_named(tmp_path: Path) -> None:
    with SimulatedIgloo(still_bank(), at=tmp_path / "x") as igloo, SerialLink(igloo.port, timing=QUICK) as link:
        until(lambda: link.status().state is DeviceState.CONNECTED)
        assert (link.status().key, link.status().unit) == ("x", 0)
        link.name_unit(258)
        until(lambda: link.superseded)
        assert link.renamed
        assert igloo.device.unit == 258


def test_an_igloo_is_set_up_again(tmp_path: Path) -> None:
    with SimulatedIgloo(still_bank(), at=tmp_path / "x") as igloo, SerialLink(igloo.port, timing=QUICK) as link:
        until(lambda: link.status().state is DeviceState.CONNECTED)
        link.set_up_again()
        until(lambda: link.status().counts.resets == 1)


def test_two_igloos_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    one = SimulatedIgloo(still_bank(3050.0), at=tmp_path / "a", unit=1, seed=1)
    two = SimulatedIgloo(still_bank(3300.0), at=tmp_path / "b", unit=2, seed=2)
    with one, two, SerialLink(one.port, timing=QUICK) as a, SerialLink(two.port, timing=QUICK) as b:
        until(lambda: a.status().counts.samples > 4000 and b.status().counts.samples > 4000)
        assert (a.status().key, b.status().key) == ("unit-1", "unit-2")
        assert a.status().rate_hz == pytest.approx(3050.0, rel=5e-3)
        assert b.status().rate_hz == pytest.approx(3300.0, rel=5e-3)
        assert a.status().counts.lost == b.status().counts.lost == 0


def test_a_listener_that_fails_ends_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with SimulatedIgloo(still_bank(), at=tmp_path / "x") as igloo, SerialLink(igloo.port, timing=QUICK) as link:

        def fail(run: Samples) -> None:
            raise ZeroDivisionError(len(run.accel))

        link.subscribe(fail)
        heard = Heard(link)
        until(lambda: heard.samples > 500)
        heard.end()
        until(lambda: link.status().counts.samples > heard.samples + 300)
    assert "ZeroDivisionError" in caplog.text


def test_closing_frees_the_port_and_ends_the_thread(tmp_path: Path) -> None:
    with SimulatedIgloo(still_bank(), at=tmp_path / "x") as igloo:
        link = SerialLink(igloo.port, timing=QUICK)
        until(lambda: link.status().state is DeviceState.CONNECTED)
        link.close()
        assert not link.thread.is_alive()
        Port(igloo.port, 500_000).close()


def test_what_the_igloo_answers_is_what_it_was_asked(tmp_path: Path) -> None:
    device = SimulatedDevice(still_bank(), unit=9)
    reader = FrameReader()
    kinds = [type(frame) for frame in reader.feed(device.receive(b"xh?h"))]
    assert kinds == [Hello, Status, Hello, Status]
    assert device.receive(b"u\x01") == b""
    assert device.receive(b"\x02") == b""
    assert device.unit == 0x0201
