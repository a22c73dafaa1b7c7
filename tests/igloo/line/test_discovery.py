"""The search: a device folder of our own, real pseudo-terminals in it, and everything that comes and goes."""

from __future__ import annotations

import os
import tty
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.igloo import messages
from companion.igloo.line.candidate_ports import DEFAULT_DENY, CandidatePort, denied, scan
from companion.igloo.line.discovery import IglooDiscovery
from companion.igloo.line.link import Timing
from companion.igloo.recordings import Recording, write_recording
from companion.igloo.simulated.device import Bank
from companion.igloo.simulated.igloo import SimulatedIgloo
from companion.ports import DeviceKind, DeviceState, IglooLink, IglooStatus, Samples
from tests.worlds.clock import Clock, Unhurried
from tests.worlds.wait import wait

pytestmark = pytest.mark.process

QUICK = Timing(
    first_listen=0.3, listen=0.2, garbage=0.1, stale=0.5, resync=0.8, reopen=0.05, retry=0.1, hello=0.2, batch=0.01
)


def still_bank() -> Bank:
    shakes = np.zeros((12, 400, 3), dtype=np.int16)
    shakes[:, :, 2] = 256
    return Bank(shakes, np.arange(2, 14), 3104.0, 3900.0, np.array([0.0, 0.0, 1.0]))


class Machine:
    """A /dev and a /sys with what the test plugs in."""

    def __init__(self, folder: Path) -> None:
        self.dev, self.sys = folder / "dev", folder / "sys"
        for path in ("serial/by-id", "serial/by-path"):
            (self.dev / path).mkdir(parents=True)
        (self.sys / "class" / "tty").mkdir(parents=True)
        self.igloos: list[SimulatedIgloo] = []
        self.ends: list[int] = []
        self.clock = Clock()

    def igloo(
        self, tty_name: str, unit: int = 0, by_id: str = "", by_path: str = "", clock: Callable[[], float] | None = None
    ) -> SimulatedIgloo:
        igloo = SimulatedIgloo(still_bank(), at=self.dev / tty_name, unit=unit, seed=unit, clock=clock or Unhurried())
        self.igloos.append(igloo)
        self.name(tty_name, by_id, by_path)
        return igloo

    def name(self, tty_name: str, by_id: str = "", by_path: str = "") -> None:
        for folder, name in (("by-id", by_id), ("by-path", by_path)):
            if name:
                link = self.dev / "serial" / folder / name
                link.unlink(missing_ok=True)
                link.symlink_to(f"../../{tty_name}")

    def usb(self, tty_name: str, number: str, product: str = "", serial: str = "") -> None:
        device = self.sys / "devices" / f"usb-{tty_name}"
        (device / "1-1:1.0" / tty_name).mkdir(parents=True)
        vid, pid = number.split(":")
        for name, text in (("idVendor", vid), ("idProduct", pid), ("product", product), ("serial", serial)):
            if text:
                (device / name).write_text(text + "\n")
        (self.sys / "class" / "tty" / tty_name).mkdir()
        (self.sys / "class" / "tty" / tty_name / "device").symlink_to(device / "1-1:1.0" / tty_name)

    def mute(self, tty_name: str) -> int:
        """A device that says nothing; returns the test's end of its line."""
        ours, theirs = os.openpty()
        tty.setraw(theirs)
        os.set_blocking(ours, False)
        self.ends += [ours, theirs]
        (self.dev / tty_name).symlink_to(os.ttyname(theirs))
        return ours

    def finder(self, **options: object) -> IglooDiscovery:
        """A finder whose time passes only when the test says so."""
        return IglooDiscovery(  # type: ignore[arg-type]
            root=self.dev, sys_root=self.sys, timing=QUICK, scan_s=0.0, clock=self.clock, **options
        )

    def looked_around(self, finder: IglooDiscovery) -> None:
        """Wait until a finder has looked once more at everything that is here, and has told of it."""
        self.clock.looked(finder._thread)

    def until(self, finder: IglooDiscovery, true: Callable[[], object]) -> None:
        """Let time pass until it is true."""
        self.clock.until(true, finder._thread)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    here = Machine(tmp_path)
    yield here
    for igloo in here.igloos:
        igloo.close()
    for end in here.ends:
        os.close(end)


def states(finder: IglooDiscovery) -> dict[str, DeviceState]:
    return {status.key: status.state for status in finder.statuses()}


# --- which ports there are -----------------------------------------------------------------------------------------


def test_every_port_once_and_by_the_name_that_stays(machine: Machine) -> None:
    machine.mute("ttyUSB0")
    machine.mute("ttyUSB1")
    machine.mute("ttyACM0")
    machine.mute("ttyS0")
    machine.name("ttyUSB0", by_id="usb-FTDI_FT232R_A9-if00", by_path="socket-1")
    machine.name("ttyUSB1", by_path="socket-2")
    machine.usb("ttyUSB0", "0403:6001", "FT232R USB UART", "A9")
    found = {candidate.name: candidate for candidate in scan(machine.dev, machine.sys)}
    assert set(found) == {"usb-FTDI_FT232R_A9-if00", "socket-2", "ttyACM0"}
    ftdi = found["usb-FTDI_FT232R_A9-if00"]
    assert ftdi.usb == "0403:6001"
    assert set(ftdi.aliases) == {"usb-FTDI_FT232R_A9-if00", "socket-1", "ttyUSB0", "_FT232R_USB_UART"}


def test_converters_without_a_serial_number_are_known_by_their_socket(machine: Machine) -> None:
    # udev gives both the same name, which leads to the one that came last
    machine.mute("ttyUSB0")
    machine.mute("ttyUSB1")
    for i in range(2):
        machine.usb(f"ttyUSB{i}", "1a86:7523", "USB Serial")
        machine.name(f"ttyUSB{i}", by_id="usb-1a86_USB_Serial-if00-port0", by_path=f"socket-{i}")
    assert [candidate.name for candidate in scan(machine.dev, machine.sys)] == ["socket-0", "socket-1"]


def test_a_port_is_left_alone_until_udev_has_given_it_its_name(machine: Machine, tmp_path: Path) -> None:
    # Seen in an emulated machine: the kernel's node came first, and the igloo was "ttyUSB0" until it was pulled out.
    udev = tmp_path / "udev"
    (udev / "data").mkdir(parents=True)
    machine.mute("ttyUSB0")
    machine.usb("ttyUSB0", "0403:6001", "FT232R USB UART", "A9")
    (machine.sys / "class" / "tty" / "ttyUSB0" / "dev").write_text("188:0\n")
    assert [one.name for one in scan(machine.dev, machine.sys, udev)] == ["ttyUSB0"], "where no udev runs, nobody comes"
    (udev / "control").touch()
    assert scan(machine.dev, machine.sys, udev) == []
    machine.name("ttyUSB0", by_id="usb-FTDI_FT232R_A9-if00", by_path="socket-1")
    assert scan(machine.dev, machine.sys, udev) == [], "its links are there, and udev is not done"
    (udev / "data" / "c188:0").touch()
    assert [one.name for one in scan(machine.dev, machine.sys, udev)] == ["usb-FTDI_FT232R_A9-if00"]


def test_a_port_known_by_id_alone_is_found(machine: Machine, tmp_path: Path) -> None:
    machine.igloo("../elsewhere")
    (machine.dev / "serial" / "by-id" / "usb-Some_Board").symlink_to(tmp_path / "elsewhere")
    assert [candidate.name for candidate in scan(machine.dev, machine.sys)] == ["usb-Some_Board"]


def test_a_folder_that_is_not_there_has_no_ports(tmp_path: Path) -> None:
    assert scan(tmp_path / "no", tmp_path / "no") == []


def test_links_that_lead_nowhere_are_no_ports(machine: Machine) -> None:
    (machine.dev / "ttyUSB0").symlink_to("gone")
    (machine.dev / "serial" / "by-id" / "x").symlink_to("x")
    assert scan(machine.dev, machine.sys) == []


# --- which must not be opened --------------------------------------------------------------------------------------


def candidate(*aliases: str, usb: str = "") -> CandidatePort:
    return CandidatePort("/dev/x", aliases[0], aliases, usb, ())


@pytest.mark.parametrize(
    ("port", "rule"),
    [
        (candidate("usb-Prusa_Research__prusa3d.com__Original_Prusa_i3_MK3-if00"), "prusa"),
        (candidate("ttyACM0", usb="2c99:0002"), "2c99:*"),
        (candidate("ttyACM0", usb="2C99:0002"), "2c99:*"),
        (candidate("usb-Klipper_stm32f446xx_1-if00"), "klipper"),
        (candidate("usb-HUAWEI_Mobile-if00-port0"), "huawei"),
        (candidate("ttyUSB2", "Quectel_EG25-G"), "quectel"),
        (candidate("ttyACM1", usb="1546:01a8"), "1546:*"),
        (candidate("ttyUSB0", "EPSON_Receipt_Printer"), "printer"),
        (candidate("usb-1a86_USB_Serial-if00-port0", usb="1a86:7523"), None),
        (candidate("usb-Arduino__www.arduino.cc__0043_75439-if00", usb="2341:0043"), None),
        (candidate("usb-FTDI_FT232R_USB_UART_A50285BI-if00-port0", usb="0403:6001"), None),
        (candidate("usb-Raspberry_Pi_Pico_E660-if00", usb="2e8a:000a"), None),
    ],
)
def test_what_is_known_to_be_something_else_is_denied(port: CandidatePort, rule: str | None) -> None:
    assert denied(port, DEFAULT_DENY) == rule


@pytest.mark.parametrize("rule", ["ttyusb0", "TTYUSB*", "*by?id*", "1A86:*", "*:7523", " 1a86:7523 "])
def test_rules_of_ones_own(rule: str) -> None:
    assert denied(candidate("ttyUSB0", "some-by-id-name", usb="1a86:7523"), ("", "nothing", rule)) == rule


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=9))
def test_any_rule_is_a_rule(rule: str, name: str, usb: str) -> None:
    assert denied(candidate(name, usb=usb), (rule,)) in (None, rule)


def test_a_denied_port_is_never_opened(machine: Machine) -> None:
    printer = machine.mute("ttyUSB0")
    machine.usb("ttyUSB0", "2c99:000c", "Prusa MINI", "1")
    os.write(printer, b"start\n")
    with machine.finder() as finder:
        wait(finder.ports)
        machine.looked_around(finder)
        (report,) = finder.ports()
        assert (report.verdict, report.note, report.usb) == ("denied", "prusa", "2c99:000c")
        assert finder.statuses() == []
    # nobody has read what it said, or thrown it away by opening
    end = machine.ends[1]
    os.set_blocking(end, False)
    assert os.read(end, 100) == b"start\n"


def test_a_denied_port_that_is_named_is_used(machine: Machine) -> None:
    igloo = machine.igloo("ttyUSB0")
    with machine.finder(named=(igloo.port,), deny=("ttyUSB*",)) as finder:
        wait(lambda: states(finder) == {"ttyUSB0": DeviceState.CONNECTED})


# --- searching -----------------------------------------------------------------------------------------------------


def test_nothing_there_is_nothing_found(machine: Machine) -> None:
    with machine.finder() as finder:
        machine.looked_around(finder)
        assert (finder.links(), finder.statuses(), finder.ports()) == ([], [], [])


def test_two_igloos_are_found_and_heard(machine: Machine) -> None:
    machine.igloo("ttyUSB0", unit=1, by_id="usb-one")
    machine.igloo("ttyACM3")
    heard: dict[str, int] = {}
    later: dict[str, int] = {}

    def hear(link: IglooLink, run: Samples, heard: dict[str, int] = heard) -> None:
        key = link.status().key
        heard[key] = heard.get(key, 0) + len(run.accel)

    with machine.finder() as finder:
        end = finder.subscribe(hear)
        wait(lambda: states(finder) == {"unit-1": DeviceState.CONNECTED, "ttyACM3": DeviceState.CONNECTED})
        wait(lambda: min(heard.get("unit-1", 0), heard.get("ttyACM3", 0)) > 500)
        assert {status.kind for status in finder.statuses()} == {DeviceKind.SIMULATED}
        assert sorted(link.status().key for link in finder.links()) == ["ttyACM3", "unit-1"]
        assert {report.verdict for report in finder.ports()} == {"igloo"}
        end()
        # What another listener has heard of since then has not gone to the first one.
        finder.subscribe(lambda link, run: hear(link, run, later))
        wait(lambda: len(later) == 2)
        before = dict(heard)
        wait(lambda: min(later.values()) > 500)
        assert heard == before


def test_plugged_in_later_and_changes_are_told(machine: Machine) -> None:
    told: list[list[IglooStatus]] = []
    with machine.finder() as finder:
        finder.on_change(told.append)
        wait(lambda: told == [[]])
        machine.igloo("ttyUSB0", unit=4)
        wait(lambda: states(finder) == {"unit-4": DeviceState.CONNECTED})
        wait(lambda: told and [(s.key, s.state) for s in told[-1]] == [("unit-4", DeviceState.CONNECTED)])
        wait(lambda: told[-1][0].note == "")
        machine.looked_around(finder)
        settled, samples = len(told), finder.statuses()[0].counts.samples
        wait(lambda: finder.statuses()[0].counts.samples > samples + 1000)
        machine.looked_around(finder)
        assert len(told) == settled  # samples alone are no change


def test_lost_is_missing_and_comes_back(machine: Machine) -> None:
    igloo = machine.igloo("ttyUSB0", by_id="usb-one")
    with machine.finder() as finder:
        wait(lambda: states(finder) == {"usb-one": DeviceState.CONNECTED})
        (link,) = finder.links()
        assert link.status().port == os.path.realpath(igloo.port)
        igloo.unplug()
        wait(lambda: states(finder) == {"usb-one": DeviceState.MISSING})
        machine.looked_around(finder)
        assert finder.links() == [link]
        igloo.replug()
        wait(lambda: states(finder) == {"usb-one": DeviceState.CONNECTED})
        assert finder.links() == [link]
        assert link.status().counts.reconnects == 1


def test_a_unit_that_comes_back_at_another_port_is_the_same_one(machine: Machine) -> None:
    igloo = machine.igloo("ttyUSB0", unit=7)
    with machine.finder() as finder:
        wait(lambda: states(finder) == {"unit-7": DeviceState.CONNECTED})
        wait(lambda: finder.statuses()[0].counts.samples > 500)
        igloo.unplug()
        wait(lambda: states(finder) == {"unit-7": DeviceState.MISSING})
        before = finder.statuses()[0].counts
        machine.igloo("ttyUSB1", unit=7)
        wait(lambda: states(finder) == {"unit-7": DeviceState.CONNECTED} and len(finder.ports()) == 1)
        counts = finder.statuses()[0].counts
        assert counts.samples > before.samples
        assert counts.reconnects == before.reconnects + 1


def test_two_igloos_that_swap_their_ports_keep_who_they_are(machine: Machine) -> None:
    one, two = machine.igloo("ttyUSB0", unit=1), machine.igloo("ttyUSB1", unit=2)
    with machine.finder() as finder:
        wait(lambda: list(states(finder).values()) == [DeviceState.CONNECTED] * 2)
        one.unplug()
        two.unplug()
        wait(lambda: list(states(finder).values()) == [DeviceState.MISSING] * 2)
        one.port, two.port = two.port, one.port
        one.replug()
        two.replug()
        wait(lambda: states(finder) == {"unit-1": DeviceState.CONNECTED, "unit-2": DeviceState.CONNECTED})
        ports = {status.key: status.port for status in finder.statuses()}
        assert ports == {"unit-1": one.port, "unit-2": two.port}


def test_another_unit_in_the_same_socket_leaves_the_first_missing(machine: Machine) -> None:
    one = machine.igloo("ttyUSB0", unit=1, by_path="socket")
    with machine.finder() as finder:
        wait(lambda: states(finder) == {"unit-1": DeviceState.CONNECTED})
        one.unplug()
        wait(lambda: states(finder) == {"unit-1": DeviceState.MISSING})
        machine.igloo("ttyUSB0", unit=2, by_path="socket")
        wait(lambda: states(finder) == {"unit-2": DeviceState.CONNECTED, "unit-1": DeviceState.MISSING})
        assert [link.status().key for link in finder.links()] == ["unit-2"]


def test_two_igloos_of_the_same_number_are_said_and_not_mixed(machine: Machine) -> None:
    machine.igloo("ttyUSB0", unit=3)
    heard: set[int] = set()
    with machine.finder() as finder:
        wait(lambda: states(finder) == {"unit-3": DeviceState.CONNECTED})
        machine.igloo("ttyUSB1", unit=3)
        wait(lambda: states(finder).get("unit-3@ttyUSB1") is DeviceState.FAULTY)
        assert finder.statuses()[1].note == messages.SAME_UNIT
        assert len(finder.links()) == 1
        machine.looked_around(finder)
        finder.subscribe(lambda link, run: heard.add(id(link)))
        # Whoever listens at the second link itself hears a run after the finder has.
        (double,) = (entry.link for entry in finder._entries if entry.link not in finder.links())
        passed: list[Samples] = []
        double.subscribe(passed.append)
        wait(lambda: passed and heard)
        assert heard == {id(finder.links()[0])}


def test_an_igloo_that_gets_a_number_is_known_by_it(machine: Machine) -> None:
    machine.igloo("ttyUSB0")
    with machine.finder() as finder:
        wait(lambda: states(finder) == {"ttyUSB0": DeviceState.CONNECTED})
        finder.links()[0].name_unit(12)  # type: ignore[attr-defined]
        wait(lambda: states(finder) == {"unit-12": DeviceState.CONNECTED})


# --- leaving alone -------------------------------------------------------------------------------------------------


def test_a_port_without_an_igloo_is_given_up_and_tried_seldom(machine: Machine) -> None:
    end = machine.mute("ttyUSB0")
    with machine.finder(retry_s=(60.0, 600.0)) as finder:
        wait(lambda: states(finder) == {"ttyUSB0": DeviceState.SEARCHING})
        machine.until(finder, lambda: [report.verdict for report in finder.ports()] == ["given-up"])
        assert finder.statuses() == []
        machine.clock.go(60.0)
        wait(lambda: [report.verdict for report in finder.ports()] == ["listening"])
        machine.until(finder, lambda: [report.verdict for report in finder.ports()] == ["given-up"])
        machine.clock.go(590.0)
        machine.looked_around(finder)
        assert [report.verdict for report in finder.ports()] == ["given-up"]
        assert finder.ports()[0].note == messages.NOTHING_ARRIVES
        with pytest.raises(BlockingIOError):
            os.read(end, 1)  # nothing was ever written to it


def test_what_is_plugged_in_anew_gets_another_chance(machine: Machine) -> None:
    machine.mute("ttyUSB0")
    with machine.finder() as finder:
        machine.until(finder, lambda: [report.verdict for report in finder.ports()] == ["given-up"])
        (machine.dev / "ttyUSB0").unlink()
        machine.igloo("ttyUSB0")
        wait(lambda: states(finder) == {"ttyUSB0": DeviceState.CONNECTED})


def test_a_printer_at_the_port_that_was_an_igloos_is_not_opened(machine: Machine) -> None:
    igloo = machine.igloo("ttyUSB0")
    with machine.finder() as finder:
        wait(lambda: states(finder) == {"ttyUSB0": DeviceState.CONNECTED})
        igloo.unplug()
        machine.usb("ttyUSB0", "2c99:000c", "Prusa MINI", "1")
        os.write(machine.mute("ttyUSB0"), b"start\n")
        wait(lambda: [report.verdict for report in finder.ports()] == ["denied"])
        machine.looked_around(finder)
        assert states(finder) == {"ttyUSB0": DeviceState.MISSING}
    os.set_blocking(machine.ends[1], False)
    assert os.read(machine.ends[1], 100) == b"start\n"


def test_a_stranger_at_the_port_that_was_an_igloos_is_given_up(machine: Machine) -> None:
    igloo = machine.igloo("ttyUSB0")
    with machine.finder() as finder:
        wait(lambda: states(finder) == {"ttyUSB0": DeviceState.CONNECTED})
        counts = finder.statuses()[0].counts
        igloo.unplug()
        machine.mute("ttyUSB0")
        machine.until(finder, lambda: [report.verdict for report in finder.ports()] == ["given-up"])
        assert states(finder) == {"ttyUSB0": DeviceState.MISSING}
        igloo.replug()
        wait(lambda: states(finder) == {"ttyUSB0": DeviceState.CONNECTED})
        assert finder.statuses()[0].counts.samples > counts.samples


def test_an_igloo_that_falls_silent_is_listened_to_on(machine: Machine) -> None:
    igloo = machine.igloo("ttyUSB0")
    with machine.finder() as finder:
        wait(lambda: states(finder) == {"ttyUSB0": DeviceState.CONNECTED})
        (link,) = finder.links()
        igloo.babble(1e6)
        machine.until(finder, lambda: states(finder) == {"ttyUSB0": DeviceState.FAULTY})
        with igloo._lock:
            igloo.device._babble = 0
        wait(lambda: states(finder) == {"ttyUSB0": DeviceState.CONNECTED})
        assert finder.links() == [link]


def test_a_port_that_goes_while_it_is_listened_to_is_forgotten(machine: Machine) -> None:
    clock = Clock()
    igloo = machine.igloo("ttyUSB0", clock=clock)
    igloo.babble(30.0)  # before it has said a word
    clock.go(0.5)
    with machine.finder() as finder:
        wait(lambda: states(finder))
        igloo.unplug()
        wait(lambda: not finder.statuses())


# --- named by a person ---------------------------------------------------------------------------------------------


def test_a_named_port_is_used_and_waited_for(machine: Machine, tmp_path: Path) -> None:
    name = str(tmp_path / "my-igloo")
    with machine.finder(named=(name,), search=False) as finder:
        wait(lambda: states(finder) == {"my-igloo": DeviceState.MISSING})
        machine.igloo("ttyUSB0")
        igloo = SimulatedIgloo(still_bank(), at=tmp_path / "my-igloo", clock=Unhurried())
        wait(lambda: states(finder) == {"my-igloo": DeviceState.CONNECTED})
        igloo.close()
        wait(lambda: states(finder) == {"my-igloo": DeviceState.MISSING})
        finder.remove(name)
        assert finder.statuses() == []


def test_a_named_port_is_never_given_up(machine: Machine) -> None:
    machine.mute("ttyUSB0")
    with machine.finder(named=(str(machine.dev / "ttyUSB0"),)) as finder:
        machine.until(finder, lambda: states(finder) == {"ttyUSB0": DeviceState.SILENT})
        sweeps = finder._entries[0].link.sweeps
        machine.until(finder, lambda: finder._entries[0].link.sweeps > sweeps)
        machine.looked_around(finder)
        assert states(finder) == {"ttyUSB0": DeviceState.SILENT}


def test_a_port_found_before_it_was_named_is_not_opened_twice(machine: Machine) -> None:
    igloo = machine.igloo("ttyUSB0", by_id="usb-one")
    with machine.finder() as finder:
        wait(lambda: states(finder) == {"usb-one": DeviceState.CONNECTED})
        finder.add(igloo.port)
        finder.add(igloo.port)
        wait(lambda: states(finder) == {"ttyUSB0": DeviceState.CONNECTED})
        machine.looked_around(finder)
        assert len(finder.statuses()) == 1


def test_what_is_named_and_is_no_port_is_said(machine: Machine, tmp_path: Path) -> None:
    with machine.finder(named=("/dev/null", str(tmp_path))) as finder:
        wait(lambda: list(states(finder).values()) == [DeviceState.FAULTY] * 2)
        assert {status.note for status in finder.statuses()} == {messages.CANNOT_OPEN, messages.NOT_A_PORT}


def test_a_named_recording_is_played(machine: Machine, tmp_path: Path) -> None:
    write_recording(tmp_path / "shake.npz", Recording((np.tile([0.0, 0.0, 1.0], (500, 1)),), 3200.0))
    heard: list[Samples] = []
    with machine.finder(named=(str(tmp_path / "shake.npz"),)) as finder:
        finder.subscribe(lambda link, run: heard.append(run))
        wait(lambda: len(heard) > 3)
        (status,) = finder.statuses()
        assert (status.kind, status.state) == (DeviceKind.RECORDED, DeviceState.CONNECTED)
        assert len(finder.links()) == 1


def test_closing_ends_all_threads(machine: Machine) -> None:
    machine.igloo("ttyUSB0")
    finder = machine.finder().start()
    wait(finder.links)
    (link,) = finder.links()
    finder.close()
    assert not finder._thread.is_alive()
    assert not link.thread.is_alive()  # type: ignore[attr-defined]
