"""What installs the companion for good: the script, the unit, the rules, and what systemd hears of the service."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.service.watchdog import Watchdog, notify
from companion.settings import SETTINGS
from tests.install.machine import NO_PYTHON, ROOT, SCRIPT, run_shut_in
from tests.worlds.served import Served
from web.http.server import RESERVE_THREADS

pytestmark = pytest.mark.process

FILES = ROOT / "companion" / "install"


# --- the unit ----------------------------------------------------------------------------------------------------


def verify(unit: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False, timeout=60
    )


def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    text = (FILES / "companion.service").read_text(encoding="utf-8")
    unit = tmp_path / "companion.service"
    unit.write_text(text.replace("/opt/companion/current/bin/companion", "/bin/true"))
    done = verify(unit)
    assert (done.returncode, done.stderr) == (0, "")
    # And it would say so: a word that systemd does not know is found.
    unit.write_text(text.replace("ProtectHome=yes", "ProtectHome=perhaps"))
    assert "protect home" in verify(unit).stderr


def test_the_service_is_shut_in(tmp_path: Path) -> None:
    unit = tmp_path / "companion.service"
    shutil.copy(FILES / "companion.service", unit)
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=25", "--no-pager", str(unit)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    # systemd's own measure: 0 is shut in wholly, 10 not at all; the threshold is ten times that.
    assert done.returncode == 0, done.stdout[-300:]


def test_the_bounds_of_the_unit_hold_what_the_settings_allow() -> None:
    unit = dict(line.split("=", 1) for line in (FILES / "companion.service").read_text().splitlines() if "=" in line)
    most = next(setting.high for setting in SETTINGS if setting.name == "max_streams")
    # A thread a stream, those that the server holds back for the others, and those of devices and housekeeping.
    assert int(unit["TasksMax"]) >= 2 * (most + RESERVE_THREADS + 20)
    # Of any Raspberry Pi's memory some is left for the system that could save it.
    assert 50 <= int(unit["MemoryMax"].removesuffix("%")) <= 80
    assert unit["OOMPolicy"] == "continue"


def test_names_and_paths_are_the_same_everywhere() -> None:
    script = SCRIPT.read_text(encoding="utf-8")
    unit = (FILES / "companion.service").read_text(encoding="utf-8")
    assert "COMPANION_DATA=/var/lib/companion" in unit and "DATA=/var/lib/companion" in script
    assert "ExecStart=/opt/companion/current/bin/companion serve" in unit and "PREFIX=/opt/companion" in script
    assert "User=companion" in unit and "useradd --system" in script
    for file in FILES.iterdir():
        if file.suffix in {".service", ".rules"}:
            assert file.name in script, file.name
    assert "<port>8080</port>" in (FILES / "avahi-companion.service").read_text(encoding="utf-8")


def test_the_nights_are_not_taken_away() -> None:
    script = SCRIPT.read_text(encoding="utf-8")
    removed = [line for line in script.splitlines() if re.search(r"\brm\b|userdel", line)]
    assert removed
    assert not any("$DATA" in line or "/var/lib" in line or "userdel" in line for line in removed)


# --- the rules ---------------------------------------------------------------------------------------------------

PART = re.compile(r'[A-Z_]+(\{[\w/]+\})?(==|!=|=|\+=)"[^"]*"')


@pytest.mark.parametrize("name", ["70-companion.rules", "71-companion-stick.rules", "99-companion-braille.rules"])
def test_rules_are_well_formed(name: str) -> None:
    lines = [line for line in (FILES / name).read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    for line in lines:
        rest = re.sub(r", ", ",", line)
        while rest:
            found = PART.match(rest)
            assert found is not None, rest
            rest = rest[found.end() :].removeprefix(",")
    labels = set(re.findall(r'LABEL="(\w+)"', "\n".join(lines)))
    assert set(re.findall(r'GOTO="(\w+)"', "\n".join(lines))) <= labels


def test_modemmanager_is_told_before_it_looks() -> None:
    # Its own rules are 77-mm-*.rules and 80-mm-candidate.rules: ours must be read before them.
    assert "ID_MM_DEVICE_IGNORE" in (FILES / "70-companion.rules").read_text(encoding="utf-8")


# --- the script --------------------------------------------------------------------------------------------------


def test_the_script_is_sound() -> None:
    assert subprocess.run(["bash", "-n", str(SCRIPT)], check=False).returncode == 0
    done = subprocess.run(["shellcheck", str(SCRIPT)], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")
    assert SCRIPT.stat().st_mode & 0o111


def test_help_and_bad_options() -> None:
    told = subprocess.run([str(SCRIPT), "--help"], capture_output=True, text=True, check=False, timeout=30)
    assert told.returncode == 0 and "--uninstall" in told.stdout and "#" not in told.stdout
    bad = subprocess.run([str(SCRIPT), "--nonsense"], capture_output=True, text=True, check=False, timeout=30)
    assert (bad.returncode, bad.stderr) == (1, "install.sh: There is no option --nonsense.\n")


@pytest.mark.parametrize(
    ("hosts", "then"),
    [
        (None, "127.0.1.1\tigloo\n"),
        ("127.0.0.1\tlocalhost\n", "127.0.0.1\tlocalhost\n127.0.1.1\tigloo\n"),
        (
            "127.0.0.1 localhost\n127.0.1.1   raspberrypi\n::1 ip6-loopback\n",
            "127.0.0.1 localhost\n127.0.1.1\tigloo\n::1 ip6-loopback\n",
        ),
    ],
)
def test_a_name_is_given_to_the_machine(tmp_path: Path, hosts: str | None, then: str) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "hostname").write_text("raspberrypi\n")
    if hosts is not None:
        (tmp_path / "etc" / "hosts").write_text(hosts)
    for _ in range(2):
        done = run_shut_in(tmp_path, "--no-apt", "--name", "igloo", first=NO_PYTHON)
        assert (done.returncode, done.stderr) == (1, "install.sh: Python 3.11 or later is needed.\n")
        assert done.stdout == f"The machine's name is igloo now (it was {socket.gethostname()}).\n"
        assert (tmp_path / "etc" / "hostname").read_text() == "igloo\n"
        assert (tmp_path / "etc" / "hosts").read_text() == then


@pytest.mark.parametrize("name", ["Igloo", "-igloo", "igloo-", "ig loo", "igloo.local", "x" * 33, "a;reboot", "é"])
def test_a_name_that_is_none_changes_nothing(tmp_path: Path, name: str) -> None:
    done = run_shut_in(tmp_path, "--no-apt", "--name", name, first=NO_PYTHON)
    assert done.returncode == 1
    assert done.stderr.startswith("install.sh: A name has letters")
    assert not list((tmp_path / "etc").iterdir())


def test_taking_it_away_leaves_the_nights_and_the_owners_options(tmp_path: Path) -> None:
    ours = [
        "etc/systemd/system/companion.service",
        *(f"etc/udev/rules.d/{path.name}" for path in FILES.glob("*.rules")),
        "etc/avahi/services/companion.service",
        "etc/systemd/system/companion.service.new",  # as a power cut leaves it
        "usr/local/bin/companion",
        "opt/companion/20260101-000000-1/bin/companion",
    ]
    kept = ["var/lib/companion/journal.sqlite", "etc/default/companion", "etc/hostname", "opt/other/thing"]
    for name in (*ours, *kept):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    done = run_shut_in(tmp_path, "--uninstall")
    assert (done.returncode, done.stderr) == (0, "")
    assert "The nights are kept in /var/lib/companion" in done.stdout
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == set(kept)
    assert run_shut_in(tmp_path, "--uninstall").returncode == 0, "and again, where nothing is"


# --- what systemd hears ------------------------------------------------------------------------------------------


class Systemd:
    """The socket that systemd listens on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.line = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.line.bind(str(path))
        self.heard: list[str] = []

    def wait(self, message: str, seconds: float = 20.0) -> None:
        end = time.monotonic() + seconds
        while message not in self.heard:
            self.line.settimeout(max(0.01, end - time.monotonic()))
            self.heard += self.line.recv(4096).decode().splitlines()

    def quiet(self, seconds: float) -> bool:
        self.line.settimeout(seconds)
        try:
            self.heard += self.line.recv(4096).decode().splitlines()
        except TimeoutError:
            return True
        return False


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[Systemd]:
    listens = Systemd(tmp_path / "notify")
    yield listens
    listens.line.close()


def test_the_service_tells_systemd_that_it_is_ready_lives_and_ends(
    tmp_path: Path, systemd: Systemd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", str(systemd.path))
    monkeypatch.setenv("WATCHDOG_USEC", "600000")
    served = Served(tmp_path / "data")
    try:
        systemd.wait("READY=1")
        systemd.wait("WATCHDOG=1")
        systemd.heard.clear()
        systemd.wait("WATCHDOG=1")
    finally:
        served.close()
    systemd.wait("STOPPING=1")


def test_a_page_that_hangs_is_not_said_to_live(systemd: Systemd) -> None:
    asked, answer = threading.Event(), threading.Event()

    def lives(timeout_s: float) -> bool:
        asked.set()
        answer.wait(timeout_s)
        return False

    watchdog = Watchdog(lives, {"NOTIFY_SOCKET": str(systemd.path), "WATCHDOG_USEC": "300000"})
    watchdog.start()
    assert asked.wait(20)
    assert systemd.quiet(1.5)
    watchdog.close()
    answer.set()
    systemd.wait("STOPPING=1")
    watchdog._thread.join(timeout=10)
    assert not {"READY=1", "WATCHDOG=1"} & set(systemd.heard)


def test_without_systemd_it_is_silent() -> None:
    assert not notify("READY=1", {})
    assert not notify("READY=1", {"NOTIFY_SOCKET": "/nowhere/at/all"})
    watchdog = Watchdog(lambda _: True, {})
    watchdog.start()
    watchdog.close()
    assert not watchdog._thread.is_alive()


def test_an_abstract_socket() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
        line.bind("\0companion-test-notify")
        assert notify("READY=1", {"NOTIFY_SOCKET": "@companion-test-notify"})
        assert line.recv(100) == b"READY=1"
