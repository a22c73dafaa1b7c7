"""The link on real pseudo-terminals: how it listens, what it never does, and how it comes back."""

from __future__ import annotations

import os
import select
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import serial

from companion.igloo import messages
from companion.igloo.line.link import SerialLink, Timing
from companion.igloo.line.port import Port, PortError, PortMissingError, kind_of
from companion.igloo.line.protocol import Data, FrameReader, Hello, SensorState, Status, encode
from companion.igloo.simulated.device import Bank, SimulatedDevice
from companion.igloo.simulated.igloo import SimulatedIgloo
from companion.ports import DeviceError, DeviceKind, DeviceState, IglooLink, Samples
from tests.worlds.clock import Clock, Unhurried
from tests.worlds.wait import PATIENCE_S, wait

pytestmark = pytest.mark.process

QUICK = Timing(
    first_listen=0.3, listen=0.2, garbage=0.1, stale=0.5, resync=0.8, reopen=0.05, retry=0.1, hello=0.2, batch=0.01
)
HELLO = Hello(0, 1, 0xE5, 0x0F, 0x0B, 3200, 3900, 16_000_000, 500_000)


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
        while data:
            assert select.select([], [self.ours], [], PATIENCE_S)[1], "nobody reads"
            with suppress(BlockingIOError):
                data = data[os.write(self.ours, data) :]

    def asks(self) -> bytes:
        """Wait until something is asked; return its first byte."""
        assert select.select([self.ours], [], [], PATIENCE_S)[0], "nothing is asked"
        return os.read(self.ours, 1)

    def asked(self) -> bytes:
        """Return what has been asked, perhaps nothing."""
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
def clock() -> Clock:
    return Clock()


@pytest.fixture
def link(terminal: Terminal, clock: Clock) -> Iterator[SerialLink]:
    """A link whose time passes only when the test says so."""
    with SerialLink(str(terminal.name), timing=QUICK, clock=clock) as line:
        wait(lambda: line._open)
        yield line


LOOKS = 4
"""A link looks at the clock once a round, and once more when it begins to listen anew: two whole rounds at most."""


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


def plugged(at: Path, rate: float = 3104.0, **options: int) -> SimulatedIgloo:
    """An igloo that says all that it has to, however busy the machine is."""
    return SimulatedIgloo(still_bank(rate), at=at, clock=Unhurried(), **options)


def listening(port: str) -> SerialLink:
    """A link for which no time passes, so that nothing it hears is late."""
    return SerialLink(port, timing=QUICK, clock=Clock())


# --- the port ------------------------------------------------------------------------------------------------------


def test_a_port_is_opened_for_us_alone(terminal: Terminal) -> None:
    port = Port(str(terminal.name), 500_000)
    assert port.kind is DeviceKind.SIMULATED
    with pytest.raises(PortError) as caught:
        Port(str(terminal.name), 500_000)
    assert caught.value.note == messages.BUSY
    with pytest.raises(serial.SerialException):
        serial.Serial(str(terminal.name), exclusive=True)
    port.close()
    Port(str(terminal.name), 250_000).close()


def test_what_an_igloo_sends_does_not_come_back_to_it(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ``u`` that is echoed would give it another number: from the first thing that is asked of a port it is quiet."""
    echoes = []
    usual = serial.Serial._reconfigure_port  # type: ignore[attr-defined]

    def told(self: serial.Serial, force_update: bool = False) -> None:
        echoes.append(bool(termios.tcgetattr(self.fd or -1)[3] & termios.ECHO))
        usual(self, force_update)

    monkeypatch.setattr(serial.Serial, "_reconfigure_port", told)
    modes = termios.tcgetattr(terminal.theirs)
    modes[3] |= termios.ECHO | termios.ECHONL | termios.ICANON
    termios.tcsetattr(terminal.theirs, termios.TCSANOW, modes)
    Port(str(terminal.name), 500_000).close()
    assert echoes and not any(echoes)


def test_a_port_that_another_program_holds_is_left_alone(terminal: Terminal, tmp_path: Path) -> None:
    with serial.Serial(str(terminal.name), 9600, exclusive=True), pytest.raises(PortError) as caught:
        Port(str(terminal.name), 500_000)
    assert caught.value.note == messages.BUSY
    assert isinstance(caught.value, OSError)


@pytest.mark.parametrize(
    ("text", "busy"),
    [("{living}\n", True), ("   {living} minicom root", True), ("{own}", False), ("?", False), ("", False)],
)
def test_lock_files_of_other_programs_are_honoured(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, busy: bool
) -> None:
    monkeypatch.setattr("companion.igloo.line.port._LOCKS", (tmp_path / "none", tmp_path))
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
    assert port.wait(PATIENCE_S)
    # raw: no byte is taken for a line end, an interrupt or flow control
    assert port.read() == b"\0\xff\r\n\x03\x11\x13"
    assert port.read() == b""
    port.close()


@pytest.mark.parametrize(
    ("path", "error", "note"),
    [
        ("nothing", PortMissingError, messages.MISSING),
        ("folder", PortError, messages.NOT_A_PORT),
        ("file", PortError, messages.NOT_A_PORT),
        ("/dev/null", PortError, messages.CANNOT_OPEN),
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
    with plugged(tmp_path / "ttyACM0", unit=3, seed=1) as igloo:
        with listening(igloo.port) as link:
            heard = Heard(link)
            wait(lambda: heard.samples > 6000 and link.status().rate_hz)
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
    assert heard.runs[len(heard.runs) // 2].accel.mean(axis=0) == pytest.approx([0.0, 0.0, 1.0], abs=0.03)
    assert {run.gap_before for run in heard.runs} == {0}


def test_it_is_in_step_in_the_middle_of_a_stream_and_asks_who_is_there(terminal: Terminal, link: SerialLink) -> None:
    device = SimulatedDevice(still_bank(), seed=1)
    wire = device.advance(1600)
    assert link.status().state is DeviceState.SEARCHING
    heard = Heard(link)
    terminal.say(wire[70:])  # from the middle of a frame: HELLO and STATUS are past
    assert terminal.asks() == b"h"
    assert link.status().note == messages.NO_HELLO
    assert heard.samples == 0
    terminal.say(device.receive(b"h") + device.advance(64))
    wait(lambda: heard.samples)
    assert link.status().counts.corrupt == 0
    assert link.status().counts.lost == 0


def test_what_was_said_before_we_listened_is_heard(terminal: Terminal, clock: Clock) -> None:
    device = SimulatedDevice(still_bank(), seed=1)
    terminal.say(device.advance(480))  # waiting in the terminal
    with SerialLink(str(terminal.name), timing=QUICK, clock=clock) as link:
        heard = Heard(link)
        wait(lambda: link.status().counts.samples == 480)
        assert link.status().counts.lost == 0
        opened = heard.runs[0].t0 if heard.runs else clock()
        for said in range(1, 21):
            clock.go(16 * 16 / 3104.0)
            terminal.say(device.advance(256))
            wait(lambda said=said: link.status().counts.samples == 480 + said * 256)
    now = clock()
    last = heard.runs[-1]
    assert opened < last.t0 + len(last.accel) / last.rate_hz < now + 2.5
    assert link.status().counts.corrupt == 0


def test_nothing_is_written_before_a_valid_frame(terminal: Terminal, link: SerialLink, clock: Clock) -> None:
    terminal.say(b"\0noise\0" + bytes(range(256)) * 3 + encode(HELLO)[:-4] + b"\x07\0")
    clock.looked(link.thread, LOOKS)
    clock.until(lambda: link.sweeps == 1, link.thread, times=LOOKS)
    terminal.say(b"ok T:21.0 /0.0 B:20.9\n" * 20)
    clock.looked(link.thread, LOOKS)
    clock.until(lambda: link.sweeps == 2, link.thread, times=LOOKS)
    assert terminal.asked() == b""
    assert not link.heard
    # frames of an unknown type are not yet an igloo either
    terminal.say(b"".join(encode(Data.of(i, i * 5000, i, 0, [(0, 0, 256)])) for i in range(3)))
    assert terminal.asks() == b"h"


def test_to_a_board_that_prints_nothing_is_ever_written(terminal: Terminal, link: SerialLink, clock: Clock) -> None:
    heard = Heard(link)
    sent = 0
    while not heard.samples:
        clock.go(0.1)
        terminal.say(b"0.01,-0.02,9.81\r\n" * 10)
        sent += 10
        clock.looked(link.thread, LOOKS)
        assert terminal.asked() == b""
        assert sent < 1000
    status = link.status()
    assert heard.runs[0].accel[0] == pytest.approx([0.001, -0.002, 1.0003], abs=1e-3)
    assert (status.protocol, status.state, status.note) == ("text", DeviceState.CONNECTED, messages.TOO_SLOW)
    assert status.rate_hz == pytest.approx(100.0, rel=0.15)
    assert (status.unit, status.nominal_hz) == (None, None)
    with pytest.raises(DeviceError):
        link.set_up_again()


def test_a_device_that_says_nothing_is_fruitless(terminal: Terminal, link: SerialLink, clock: Clock) -> None:
    clock.until(lambda: link.fruitless, link.thread, times=LOOKS)
    assert (link.status().state, link.status().note) == (DeviceState.SILENT, messages.NOTHING_ARRIVES)
    assert link.status().counts.corrupt == 0


def test_a_device_that_speaks_otherwise_is_fruitless(terminal: Terminal, link: SerialLink, clock: Clock) -> None:
    def talked() -> bool:
        terminal.say(b"$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n" * 10)
        clock.looked(link.thread, LOOKS)
        return link.fruitless and link.status().note == messages.NOT_AN_IGLOO

    clock.until(talked, link.thread, times=LOOKS)
    assert link.status().state is DeviceState.FAULTY
    assert terminal.asked() == b""


def test_noise_is_never_called_nothing(terminal: Terminal, link: SerialLink, clock: Clock) -> None:
    noise = np.random.default_rng(1)
    notes = set()
    clock.until(lambda: link.fruitless, link.thread, times=LOOKS)
    for step in range(40):
        # Now and then, less than a frame at a time; most bit rates hear none of it.
        if step % 3 == 0:
            terminal.say(noise.bytes(19))
        clock.go(0.2)
        clock.looked(link.thread, LOOKS)
        if step > 3:
            notes.add(link.status().note)
    assert notes == {messages.NOT_AN_IGLOO}
    # … and when it has ended, nothing arrives.
    clock.until(lambda: link.status().note == messages.NOTHING_ARRIVES, link.thread, times=LOOKS)


def test_a_glitch_as_it_is_plugged_in_is_no_device(terminal: Terminal, link: SerialLink, clock: Clock) -> None:
    terminal.say(b"\0\xff\xf0")
    clock.until(lambda: link.fruitless, link.thread, times=LOOKS)
    assert link.status().note == messages.NOTHING_ARRIVES


def test_all_bit_rates_are_listened_at(terminal: Terminal, link: SerialLink, clock: Clock) -> None:
    seen = set()
    clock.until(lambda: seen.add(link.baud) or len(seen) == 4, link.thread, times=LOOKS)
    assert seen == {500_000, 1_000_000, 250_000, 115_200}


def test_three_numbers_that_are_no_acceleration_are_no_igloo(
    terminal: Terminal, link: SerialLink, clock: Clock
) -> None:
    for _ in range(50):
        clock.go(0.1)
        terminal.say(b"21.5,1013.2,45\n" * 5)
        clock.looked(link.thread, LOOKS)
        if link.fruitless:
            break
    assert link.fruitless
    assert not link.heard
    assert link.status().note == messages.NOT_ACCELERATION


# --- what is wrong with the igloo ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "note"),
    [
        (SensorState.NO_SENSOR, messages.NO_SENSOR),
        (SensorState.NOT_SET_UP, messages.NOT_SET_UP),
        (SensorState.LOST, messages.SENSOR_LOST),
        (99, messages.NO_SENSOR),
    ],
)
def test_a_sick_sensor_is_said(terminal: Terminal, link: SerialLink, state: int, note: str) -> None:
    terminal.say(encode(HELLO) + encode(Status(1, state, 0, 1, 0, 0, 0, 0)))
    wait(lambda: link.status().note == note)
    assert link.status().state is DeviceState.FAULTY
    assert link.status().sensor_state == state


def test_an_igloo_without_samples_is_silent(terminal: Terminal, link: SerialLink, clock: Clock) -> None:
    terminal.say(encode(HELLO) + encode(Status(1, 0, 0xE5, 1, 0, 0, 0, 0)))
    wait(lambda: link.status().note == messages.NO_SAMPLES)
    assert link.status().state is DeviceState.SILENT
    clock.go(QUICK.stale + 0.1)
    wait(lambda: link.status().note == messages.NOTHING_ARRIVES)


def test_an_igloo_of_which_only_noise_arrives_is_not_called_silent(
    terminal: Terminal, link: SerialLink, clock: Clock
) -> None:
    terminal.say(encode(HELLO) + encode(Status(1, 0, 0xE5, 1, 0, 0, 0, 0)))
    wait(lambda: link.status().note == messages.NO_SAMPLES)
    noise, notes = np.random.default_rng(2), set()
    for _ in range(20):
        terminal.say(noise.bytes(50))
        clock.go(0.2)
        clock.looked(link.thread, LOOKS)
        notes.add((link.status().state, link.status().note))
    # In step at first, then listened for at other bit rates: it says the same.
    assert notes - {(DeviceState.SILENT, messages.NO_SAMPLES)} == {(DeviceState.FAULTY, messages.NOISE)}


@pytest.mark.parametrize(
    ("hello", "step_us", "note"),
    [(replace(HELLO, ug_per_lsb=60_000), 5000, messages.BAD_SCALE), (HELLO, 0, messages.NO_CLOCK)],
)
def test_what_cannot_be_true_gives_no_samples(
    terminal: Terminal, link: SerialLink, hello: Hello, step_us: int, note: str
) -> None:
    heard = Heard(link)
    terminal.say(encode(hello))
    for i in range(1000):
        terminal.say(encode(Data.of(i + 1, i * step_us, i * 16, 0, [(0, 0, 256)] * 16)))
    wait(lambda: link.status().counts.samples == 16_000)
    assert (link.status().state, link.status().note) == (DeviceState.FAULTY, note)
    wait(lambda: heard.samples + link.status().counts.rejected == 16_000)
    assert link.status().counts.rejected > 8000


def test_losses_on_the_line_are_counted(tmp_path: Path) -> None:
    with plugged(tmp_path / "x", seed=2) as igloo, listening(igloo.port) as link:
        heard = Heard(link)
        wait(lambda: heard.samples > 1000)
        igloo.corrupt_frame(3)
        wait(lambda: link.status().counts.corrupt >= 3)
        igloo.drop_samples(160)
        wait(lambda: link.status().counts.dropped_frames == 10)
        igloo.overflow(50)
        wait(lambda: link.status().counts.overflows == 1)
        wait(lambda: any(run.overflow_before for run in heard.runs))
        counts = link.status().counts
    assert counts.lost == 160 + 3 * 16
    assert counts.missing_frames == 0
    assert sum(run.gap_before for run in heard.runs) == counts.lost
    assert [run.overflow_before for run in heard.runs].count(True) == 1


def test_babble_is_survived_and_its_loss_is_exact(tmp_path: Path, clock: Clock) -> None:
    with (
        SimulatedIgloo(still_bank(), at=tmp_path / "x", seed=3, clock=clock) as igloo,
        SerialLink(igloo.port, timing=QUICK, clock=clock) as link,
    ):
        # One time for both, which goes on when they have said and heard what there was.
        def in_step(true: Callable[[], object]) -> None:
            clock.until(true, igloo.thread, link.thread, times=3, step_s=0.2)

        heard = Heard(link)
        in_step(lambda: heard.samples > 1000)
        igloo.babble(0.3)
        in_step(lambda: link.status().counts.lost > 800)
        counts = link.status().counts
        assert counts.corrupt > 10
        # long enough that it listens anew, at other rates, and finds the old one again
        igloo.babble(1.5)
        in_step(lambda: link.status().note == messages.NOISE)
        in_step(lambda: link.status().counts.reconnects == 1 and link.status().state is DeviceState.CONNECTED)
        before = heard.samples
        in_step(lambda: heard.samples > before + 500)
        counts = link.status().counts
        assert counts.resets == 0
    numbers = [(run.index, len(run.accel), run.gap_before) for run in heard.runs]
    assert numbers[0][0] + sum(n + gap for _, n, gap in numbers[1:]) + numbers[0][1] == numbers[-1][0] + numbers[-1][1]
    assert counts.lost == sum(gap for *_, gap in numbers)


# --- coming and going ----------------------------------------------------------------------------------------------


def test_unplugged_and_plugged_in_again(tmp_path: Path) -> None:
    with plugged(tmp_path / "x", unit=5) as igloo, listening(igloo.port) as link:
        heard = Heard(link)
        for times in range(1, 6):
            before = heard.samples
            wait(lambda before=before: heard.samples > before + 500)
            igloo.unplug()
            wait(lambda: link.status().state is DeviceState.MISSING)
            assert link.status().note == messages.MISSING
            assert (link.status().key, link.status().kind) == ("unit-5", DeviceKind.SIMULATED)
            igloo.replug()
            wait(lambda times=times: link.status().counts.reconnects == times)
        wait(lambda: link.status().state is DeviceState.CONNECTED and not heard.runs[-1].overflow_before)
    assert [run.overflow_before for run in heard.runs].count(True) == 5
    assert link.status().counts.lost == 0
    assert link.status().counts.corrupt <= 5


def test_a_port_that_comes_later(tmp_path: Path) -> None:
    with listening(str(tmp_path / "later")) as link:
        wait(lambda: link.status().state is DeviceState.MISSING)
        with plugged(tmp_path / "later"):
            wait(lambda: link.status().state is DeviceState.CONNECTED)
            assert (link.status().kind, link.status().key) == (DeviceKind.SIMULATED, "later")


def test_a_real_igloo_is_never_replaced_by_a_simulated_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing here is real, so for once pseudo-terminals are taken for it.
    monkeypatch.setattr("companion.igloo.line.port._PTY_MAJORS", ())
    with plugged(tmp_path / "x") as igloo, listening(igloo.port) as link:
        heard = Heard(link)
        wait(lambda: heard.samples > 500)
        assert link.status().kind is DeviceKind.REAL
        igloo.unplug()
        wait(lambda: link.status().state is DeviceState.MISSING)
        monkeypatch.undo()
        before = heard.samples
        igloo.replug()
        wait(lambda: link.status().note == messages.OTHER_KIND)
        assert (link.status().state, link.status().kind) == (DeviceState.MISSING, DeviceKind.REAL)
        assert heard.samples == before


def test_another_unit_at_the_same_port_is_not_taken_for_the_first(tmp_path: Path) -> None:
    igloo = plugged(tmp_path / "x", unit=1)
    with listening(igloo.port) as link:
        heard = Heard(link)
        wait(lambda: heard.samples > 500)
        igloo.unplug()
        wait(lambda: link.status().state is DeviceState.MISSING)
        before = heard.samples
        with plugged(tmp_path / "x", unit=2):
            wait(lambda: link.superseded)
            status = link.status()
            assert (status.key, status.state, status.note) == ("unit-1", DeviceState.MISSING, messages.OTHER_UNIT)
            assert not link.renamed
            assert heard.samples == before
    igloo.close()


def test_an_igloo_is_named(tmp_path: Path) -> None:
    with plugged(tmp_path / "x") as igloo, listening(igloo.port) as link:
        wait(lambda: link.status().state is DeviceState.CONNECTED)
        assert (link.status().key, link.status().unit) == ("x", 0)
        link.name_unit(258)
        wait(lambda: link.superseded)
        assert link.renamed
        assert igloo.device.unit == 258


def test_an_igloo_is_set_up_again(tmp_path: Path) -> None:
    with plugged(tmp_path / "x") as igloo, listening(igloo.port) as link:
        wait(lambda: link.status().state is DeviceState.CONNECTED)
        link.set_up_again()
        wait(lambda: link.status().counts.resets == 1)


def test_two_igloos_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    one = plugged(tmp_path / "a", rate=3050.0, unit=1, seed=1)
    two = plugged(tmp_path / "b", rate=3300.0, unit=2, seed=2)
    with one, two, listening(one.port) as a, listening(two.port) as b:
        wait(lambda: a.status().counts.samples > 4000 and b.status().counts.samples > 4000)
        assert (a.status().key, b.status().key) == ("unit-1", "unit-2")
        assert a.status().rate_hz == pytest.approx(3050.0, rel=5e-3)
        assert b.status().rate_hz == pytest.approx(3300.0, rel=5e-3)
        assert a.status().counts.lost == b.status().counts.lost == 0


def test_a_listener_that_fails_ends_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with plugged(tmp_path / "x") as igloo, listening(igloo.port) as link:

        def fail(run: Samples) -> None:
            raise ZeroDivisionError(len(run.accel))

        link.subscribe(fail)
        heard = Heard(link)
        wait(lambda: heard.samples > 500)
        heard.end()
        wait(lambda: link.status().counts.samples > heard.samples + 300)
    assert "ZeroDivisionError" in caplog.text


def test_closing_frees_the_port_and_ends_the_thread(tmp_path: Path) -> None:
    with plugged(tmp_path / "x") as igloo:
        link = listening(igloo.port)
        wait(lambda: link.status().state is DeviceState.CONNECTED)
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
