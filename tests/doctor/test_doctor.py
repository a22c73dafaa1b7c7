"""The doctor on machines made of folders: every fault is found, said in both languages, and has a cure."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from string import Formatter

import pytest

from companion.cli import run
from companion.doctor import devices, machine, nights
from companion.doctor.finding import Finding, FindingState
from companion.doctor.host import Host, User
from companion.doctor.messages import CURES, SENTENCES
from companion.igloo.messages import NO_PERMISSION
from companion.night.backup.archive import BACKUPS
from companion.night.backup.scheduler import back_up_into
from companion.night.log.journal import Journal
from companion.panel.pins import STANDARD
from companion.rules.i18n import Words, languages
from companion.service.checkup import _igloo, _name, examined

PI = User("pi", 12345, frozenset({12345, 20}))


class Machine:
    """A machine below a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "bin").mkdir()
        self.host = Host(PI, root, str(root / "bin"))

    def put(self, path: str, text: str = "", mode: int = 0o644) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(mode)
        return file

    def program(self, name: str, says: str) -> None:
        self.put(f"bin/{name}", f"#!/bin/sh\necho '{says}'\n", 0o755)

    def process(self, pid: int, name: str, holds: Path | None = None) -> None:
        self.put(f"proc/{pid}/comm", name + "\n")
        if holds is not None:
            (self.root / f"proc/{pid}/fd").mkdir()
            (self.root / f"proc/{pid}/fd/7").symlink_to(holds)


@pytest.fixture
def pi(tmp_path: Path) -> Machine:
    (tmp_path / "root").mkdir()
    return Machine(tmp_path / "root")


def one(findings: Iterator[Finding] | list[Finding], check: str | None = None) -> Finding:
    """Return the only finding (of a check); what is wrong or a warning must have a cure."""
    every = [finding for finding in findings if check in (None, finding.check)]
    assert len(every) == 1, every
    return every[0]


def by_key(findings: Iterator[Finding], pattern: str) -> Finding:
    return next(finding for finding in findings if re.search(pattern, finding.words.en))


# --- words -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", [SENTENCES, CURES], ids=["sentences", "cures"])
def test_both_languages_have_the_same_facts(table: dict[str, Words]) -> None:
    for key, words in table.items():
        both = (words.en, words.fr)
        fields = [{f for _, f, _, _ in Formatter().parse(text) if f} for text in both]
        assert fields[0] == fields[1], key
        assert "\n" not in "".join(both) and max(map(len, both)) < 160, key


def test_every_bad_finding_in_the_source_has_a_cure() -> None:
    folder = Path(machine.__file__).parent
    text = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    calls = re.findall(r"State\.(?:WRONG|WARNING),\s*\"([\w-]+)\",\s*(cure=)?", text)
    assert len(calls) > 15
    assert [key for key, cure in calls if not cure] == []
    used = set(re.findall(r'"([a-z][\w-]+)"', text + Path(run.__code__.co_filename).with_name("doctor.py").read_text()))
    assert set(SENTENCES) <= used
    assert set(CURES) <= used


# --- the machine -------------------------------------------------------------------------------------------------


def test_what_machine_it_is(pi: Machine) -> None:
    pi.put("proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.5\0")
    pi.put("etc/os-release", 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nID=debian\n')
    assert "Raspberry Pi 4 Model B Rev 1.5, Debian GNU/Linux 13 (trixie)" in one(machine.system(pi.host)).words.en


def test_groups(pi: Machine) -> None:
    pi.put("etc/group", "root:x:0:\ndialout:x:20:pi\nvideo:x:44:\nnothing:x:99:\n")
    good, bad = sorted(machine.groups(pi.host), key=lambda f: f.state)
    assert (good.state, good.facts["groups"]) == (FindingState.GOOD, "dialout")
    assert bad.state is FindingState.WARNING and bad.facts["group"] == "video"
    assert bad.cure is not None and bad.cure.en.startswith("sudo usermod -aG video pi")
    nobody = Host(User("x", 12346, frozenset()), pi.root)
    assert [f.state for f in machine.groups(nobody)] == [FindingState.WRONG, FindingState.WARNING]


def test_the_clock(pi: Machine) -> None:
    now = 1_790_000_000.0
    assert one(machine.clock(pi.host, 0, now)).state is FindingState.NOTE
    behind = one(machine.clock(pi.host, int(now + 7200) * 1000, now))
    assert (behind.state, behind.facts["hours"]) == (FindingState.WRONG, 2.0)
    wrong = one(machine.clock(pi.host, 0, 10.0))
    assert (wrong.state, wrong.facts["year"]) == (FindingState.WRONG, 1970)
    pi.put("run/systemd/timesync/synchronized")
    assert one(machine.clock(pi.host, int(now) * 1000, now)).state is FindingState.GOOD


@pytest.mark.process
def test_the_clock_by_timedatectl(pi: Machine) -> None:
    pi.program("timedatectl", "yes")
    assert one(machine.clock(pi.host, 0, 1_790_000_000.0)).state is FindingState.GOOD


def test_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert one(machine.disk(tmp_path / "not" / "yet")).check == "disk"
    for free, state in ((10, FindingState.WRONG), (500, FindingState.WARNING), (5000, FindingState.GOOD)):
        monkeypatch.setattr(
            "companion.doctor.machine.shutil.disk_usage",
            lambda path, free=free: type("Usage", (), {"free": free * 1_000_000}),
        )
        assert one(machine.disk(tmp_path)).state is state
    monkeypatch.setattr("companion.doctor.machine.os.statvfs", lambda path: type("Facts", (), {"f_flag": os.ST_RDONLY}))
    assert "read-only" in one(machine.disk(tmp_path)).words.en


def test_the_card(pi: Machine) -> None:
    assert one(machine.card(pi.host)).state is FindingState.GOOD
    pi.put("sys/block/mmcblk0/device/name", "SC32G\n")
    pi.put("sys/block/mmcblk0/device/date", "03/2023\n")
    pi.put("sys/block/mmcblk0/device/life_time", "0x01 0x02\n")
    pi.put("sys/fs/ext4/mmcblk0p2/errors_count", "0\n")
    assert [f.state for f in machine.card(pi.host)] == [FindingState.GOOD, FindingState.GOOD]
    pi.put("sys/fs/ext4/mmcblk0p2/errors_count", "3\n")
    pi.put("sys/block/mmcblk0/device/life_time", "0x01 0x0b\n")
    errors, worn, card = machine.card(pi.host)
    assert (errors.state, errors.facts) == (FindingState.WRONG, {"device": "mmcblk0p2", "errors": 3})
    assert (worn.state, worn.facts["percent"]) == (FindingState.WARNING, 100)
    assert "SC32G, made 03/2023" in card.words.en


def test_temperature(pi: Machine) -> None:
    assert one(machine.warmth(pi.host)).state is FindingState.NOTE
    pi.put("sys/class/thermal/thermal_zone0/type", "cpu-thermal\n")
    for temp, state in ((45277, FindingState.GOOD), (73100, FindingState.WARNING), (84000, FindingState.WRONG)):
        pi.put("sys/class/thermal/thermal_zone0/temp", f"{temp}\n")
        assert one(machine.warmth(pi.host)).state is state


@pytest.mark.process
@pytest.mark.parametrize(
    ("word", "states"),
    [
        ("0x0", [FindingState.GOOD]),
        ("0x50000", [FindingState.WARNING]),
        ("0x50005", [FindingState.WRONG, FindingState.WARNING]),
        ("0x4", [FindingState.GOOD, FindingState.WARNING]),
    ],
)
def test_the_supply_by_vcgencmd(pi: Machine, word: str, states: list[FindingState]) -> None:
    pi.program("vcgencmd", f"throttled={word}")
    assert [f.state for f in machine.supply(pi.host)] == states


def test_the_supply_by_the_kernel(pi: Machine) -> None:
    assert one(machine.supply(pi.host)).state is FindingState.NOTE
    pi.put("sys/class/hwmon/hwmon1/name", "rpi_volt")
    pi.put("sys/class/hwmon/hwmon1/in0_lcrit_alarm", "1")
    assert one(machine.supply(pi.host)).state is FindingState.WRONG
    pi.put("sys/devices/platform/soc/soc:firmware/get_throttled", "0\n")
    assert one(machine.supply(pi.host)).state is FindingState.GOOD


def test_memory(pi: Machine) -> None:
    pi.put("proc/meminfo", "MemTotal: 500000 kB\nMemAvailable: 60000 kB\n")
    assert one(machine.memory(pi.host)).state is FindingState.WARNING


# --- devices -----------------------------------------------------------------------------------------------------


def test_serial_ports(pi: Machine) -> None:
    assert one(devices.ports(pi.host, (), service=False)).state is FindingState.NOTE
    assert list(devices.ports(pi.host, (), service=True, heard=True)) == []
    port = pi.put("dev/ttyUSB0", mode=0o666)
    good = one(devices.ports(pi.host, (), service=False))
    assert (good.state, good.facts["port"]) == (FindingState.GOOD, "/dev/ttyUSB0")
    assert one(devices.ports(pi.host, ("ttyusb",), service=False)).state is FindingState.NOTE
    port.chmod(0o600)
    forbidden = one(devices.ports(pi.host, (), service=False))
    assert forbidden.state is FindingState.WRONG and forbidden.cure is not None and "dialout pi" in forbidden.cure.en
    port.chmod(0o666)
    pi.process(77, "minicom", port)
    held = one(devices.ports(pi.host, (), service=False))
    assert (held.state, held.facts["program"]) == (FindingState.WRONG, "minicom")


def test_our_own_service_may_hold_a_port(pi: Machine) -> None:
    pi.process(88, "companion", pi.put("dev/ttyACM0", mode=0o666))
    assert one(devices.ports(pi.host, (), service=True)).state is FindingState.GOOD
    assert one(devices.ports(pi.host, (), service=False)).state is FindingState.WRONG


def test_who_grabs_ports(pi: Machine) -> None:
    pi.put("dev/ttyUSB0", mode=0o666)
    pi.process(5, "ModemManager")
    pi.process(6, "brltty")
    bad = [f for f in devices.ports(pi.host, (), service=False) if f.state is FindingState.WRONG]
    assert [f.facts["program"] for f in bad] == ["ModemManager", "brltty"]
    assert all(f.cure is not None and "systemctl disable --now" in f.cure.en for f in bad)
    pi.put("etc/udev/rules.d/70-companion.rules")
    bad = [f for f in devices.ports(pi.host, (), service=False) if f.state is FindingState.WRONG]
    assert [f.facts["program"] for f in bad] == ["brltty"]


def test_cameras(pi: Machine) -> None:
    assert one(devices.cameras(pi.host, "")).state is FindingState.NOTE
    nodes = ["rp1-cfe-csi2_ch0", "unicam-image", "bcm2835-codec-decode", "pispbe-input", "rpi-hevc-dec"]
    for number, (name, index) in enumerate(
        [(name, 0) for name in nodes] + [("Logitech C270", n % 2) for n in range(4)]
    ):
        pi.put(f"sys/class/video4linux/video{number}/name", name)
        pi.put(f"sys/class/video4linux/video{number}/index", f"{index}\n")
        pi.put(f"dev/video{number}", mode=0o666)
    # Two cameras of one kind; each has a second device for its metadata.
    for source in ("usb", "usb:0", "usb:1", "/dev/video7"):
        told = list(devices.cameras(pi.host, source))
        assert [(f.state, f.facts["device"]) for f in told] == [
            (FindingState.GOOD, "/dev/video5"),
            (FindingState.GOOD, "/dev/video7"),
        ], source
    for source in ("usb:2", "/dev/video99", "/dev/v4l/by-id/usb-gone"):
        missing = [f for f in devices.cameras(pi.host, source) if f.state is FindingState.WRONG]
        assert [f.facts for f in missing] == [{"source": source}]
    (pi.root / "dev/video5").chmod(0o600)
    forbidden, _ = devices.cameras(pi.host, "usb:0")
    assert forbidden.cure is not None and "-aG video pi" in forbidden.cure.en
    assert [f.check for f in devices.cameras(pi.host, "pi") if "rpicam" in f.words.en] == ["camera"]
    pi.program("rpicam-vid", "")
    assert not [f for f in devices.cameras(pi.host, "pi") if "rpicam" in f.words.en]


def test_the_panel_is_drawn(pi: Machine) -> None:
    assert one(devices.panel(pi.host, ())).state is FindingState.NOTE
    bad = one(devices.panel(pi.host, ("next 5", "undo 5")))
    assert bad.state is FindingState.WRONG and "GPIO 5" in bad.words.fr
    good, chip = devices.panel(pi.host, ("standard",))
    assert good.facts["pins"] == STANDARD
    assert any("dispute = GPIO6 31 ●" in line for line in good.facts["drawing"])
    assert chip.state is FindingState.WRONG
    pi.put("dev/gpiochip0", mode=0o600)
    _, forbidden = devices.panel(pi.host, ("standard",))
    assert forbidden.cure is not None and "gpio pi" in forbidden.cure.en
    (pi.root / "dev/gpiochip0").chmod(0o666)
    assert one(devices.panel(pi.host, ("standard",))).state is FindingState.GOOD


def test_an_igloo_that_the_service_has() -> None:
    device = {"key": "unit-3", "state": "connected", "kind": "real", "rate_hz": 1601.2, "nominal_hz": 3200, "note": ""}
    device["protocol"] = "text"
    good, slow = _igloo({**device, "counts": {"lost": 4}})
    assert (good.state, good.facts["lost"], good.facts["driver"]) == (FindingState.GOOD, 4, "text")
    assert "(real, text)" in good.words.en
    assert slow.state is FindingState.WRONG and "1601 samples a second instead of 3200" in slow.words.en
    assert "wild" not in good.words.en
    _, wild, _ = _igloo({**device, "counts": {"lost": 4, "glitches": 1}})
    assert wild.state is FindingState.WARNING and wild.cure is not None
    assert "1 wild sample was left out" in wild.words.en and "1 échantillon aberrant a été écarté" in wild.words.fr
    (lost,) = _igloo({**device, "state": "missing", "note": NO_PERMISSION})
    assert lost.state is FindingState.WRONG and lost.words.fr.endswith("au groupe dialout aide.")


# --- the nights --------------------------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    journal = Journal(folder / "journal.sqlite", clock=lambda: 1234)
    journal.append("open-night", {"night": "n"})
    journal.close()
    (folder / "settings.json").write_text(json.dumps({"panel_pins": ["standard"], "igloo_deny": ["x"]}))
    return folder


@pytest.fixture
def owner(data: Path) -> Host:
    return Host(User("me", data.stat().st_uid or 1, frozenset()), data.parent)


def look(folder: Path) -> Callable[[], list[Finding]]:
    uid = folder.stat().st_uid
    return lambda: nights.nights(Host(User("me", uid, frozenset())), folder)[0]


def states(findings: list[Finding]) -> dict[str, FindingState]:
    return {finding.check: finding.state for finding in findings}


def test_a_healthy_folder(data: Path) -> None:
    findings, kept = nights.nights(Host(User.of(data.stat().st_uid)), data)
    assert states(findings) == {
        "settings": FindingState.GOOD,
        "journal": FindingState.GOOD,
        "backup": FindingState.WARNING,
    }
    assert kept.lines("panel_pins") == ("standard",) and kept.last_at_ms == 1234
    assert kept.text("camera_source") == ""
    back_up_into(data, data / BACKUPS, keep=3, pictures=False)
    assert states(look(data)())["backup"] is FindingState.GOOD
    made = next((data / BACKUPS).iterdir())
    made.write_bytes(made.read_bytes()[:500])
    assert states(look(data)())["backup"] is FindingState.WRONG


def test_what_is_damaged_is_found_and_left_as_it_is(data: Path) -> None:
    (data / "settings.json").write_text("{")
    (data / "journal.sqlite").write_bytes(b"rubbish" * 1000)
    (data / "access.sqlite").write_bytes(b"rubbish" * 1000)
    (data / "journal.sqlite.damaged-1").touch()
    (data / ".restoring").mkdir()
    (data / "before-restore-1").mkdir()
    before = sorted(p.name for p in data.iterdir())
    findings = look(data)()
    assert [f.state for f in findings if f.check in {"settings", "journal"}] == [FindingState.WRONG] * 3
    assert any(f.cure is not None and "companion restore" in f.cure.en for f in findings)
    assert any("cut off" in f.words.en for f in findings)
    assert any("put aside" in f.words.en for f in findings)
    assert any("before-restore-1" in f.words.fr for f in findings)
    assert sorted(p.name for p in data.iterdir()) == before


def test_a_setting_that_does_not_fit(data: Path) -> None:
    (data / "settings.json").write_text(json.dumps({"keep_pictures_days": -4, "unknown": 1}))
    bad = next(f for f in look(data)() if f.check == "settings")
    assert bad.state is FindingState.WRONG and "keep_pictures_days" in bad.words.fr


def test_whose_folder_it_is(data: Path) -> None:
    findings, _ = nights.nights(Host(User("other", 54321, frozenset())), data)
    assert next(f for f in findings if f.check == "data").state is FindingState.WRONG
    data.chmod(0o755)
    if data.stat().st_uid != 0:
        assert states(look(data)())["data"] is FindingState.WARNING
    missing, kept = nights.nights(Host(PI), data / "nowhere")
    assert (one(missing).state, kept.last_at_ms) == (FindingState.NOTE, 0)


# --- the command -------------------------------------------------------------------------------------------------


@pytest.mark.process
def test_the_command(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["doctor", "--data", str(data), "--json"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert all(set(line) == {"check", "state", *languages(), "cure", "facts"} for line in lines)
    assert code == int(any(line["state"] == "wrong" for line in lines))
    assert {"system", "disk", "journal", "panel", "service", "network"} <= {line["check"] for line in lines}
    assert all(line["cure"] for line in lines if line["state"] in {"warning", "wrong"})
    (data / "journal.sqlite").write_bytes(b"rubbish" * 1000)
    assert run(["doctor", "--data", str(data), "--lang", "fr"]) == 1
    said = capsys.readouterr().out
    assert "✗ journal.sqlite\u00a0: journal.sqlite est endommagé" in said
    assert "    → Arrête le service, puis\u00a0: companion restore" in said
    assert "dispute = GPIO6 31 ●" in said
    assert run(["doctor", "--data", str(data / "nowhere"), "--header"]) in {0, 1}
    assert "next = GPIO5 29 ●" in capsys.readouterr().out


@pytest.mark.process
def test_a_service_that_does_not_answer(data: Path) -> None:
    (data / "address.json").write_text('{"urls": ["http://127.0.0.1:9"]}')
    findings = list(examined(Host(User.of(data.stat().st_uid)), data))
    silent = next(f for f in findings if f.check == "service")
    assert silent.state is FindingState.WRONG


def test_the_name_in_the_network_and_whether_the_page_is_announced(pi: Machine) -> None:
    assert one(_name(pi.host, "box")).words.en.startswith("The name box.local is not announced")
    pi.process(7, "avahi-daemon")
    unannounced = one(_name(pi.host, "box"))
    assert (unannounced.state, "the page is not" in unannounced.words.en) == (FindingState.NOTE, True)
    assert unannounced.cure is not None
    pi.put("etc/avahi/services/companion.service")
    assert one(_name(pi.host, "box")).state is FindingState.GOOD
