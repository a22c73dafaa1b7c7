"""Things plugged into a real QEMU and pulled out again, without a machine inside: it is held before its first step."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.lab.machine.qmp import QmpClient, QmpError, UsbSocket

QEMU = "qemu-system-aarch64"
pytestmark = pytest.mark.process


@pytest.fixture
def qmp(tmp_path: Path) -> Iterator[QmpClient]:
    place = tmp_path / "qmp"
    command = [QEMU, "-M", "virt", "-cpu", "cortex-a72", "-S", "-nodefaults", "-display", "none"]
    command += ["-device", "qemu-xhci,id=usb", "-qmp", f"unix:{place},server=on,wait=off"]
    # As a daemon it returns when its sockets are there.
    subprocess.run([*command, "-daemonize", "-pidfile", str(tmp_path / "pid")], check=True, timeout=60)
    try:
        with QmpClient(place) as client:
            yield client
    finally:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


@pytest.fixture
def port() -> Iterator[tuple[int, str]]:
    master, slave = pty.openpty()
    name = os.ttyname(slave)
    os.close(slave)
    os.set_blocking(master, False)
    yield master, name
    os.close(master)


def opened(master: int) -> bool:
    """Tell whether somebody has the terminal open: else reading from its master ends."""
    try:
        os.read(master, 1)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return True


def test_a_converter_is_plugged_in_and_pulled_out_again_and_again(qmp: QmpClient, port: tuple[int, str]) -> None:
    master, name = port
    socket = UsbSocket(qmp, "igloo")
    there = [one["name"] for one in qmp.do("qom-list", path="/machine/peripheral")]
    for _ in range(3):
        socket.plug(name)
        assert opened(master) and socket.plugged
        now = [one["name"] for one in qmp.do("qom-list", path="/machine/peripheral")]
        assert sorted(now) == sorted([*there, "igloo"])
        socket.pull()
        assert not opened(master) and not socket.plugged
    assert [one["name"] for one in qmp.do("qom-list", path="/machine/peripheral")] == there


def test_what_qemu_refuses_is_said_in_its_words(qmp: QmpClient, tmp_path: Path) -> None:
    with pytest.raises(QmpError, match="nothing such"):
        qmp.do("chardev-remove", id="nothing such")
    with pytest.raises(QmpError, match="Could not open"):
        UsbSocket(qmp, "igloo").plug(str(tmp_path / "no port"))
    with pytest.raises(QmpError, match="does not say DEVICE_DELETED"):
        qmp.wait("DEVICE_DELETED", 0.1)
    assert qmp.do("query-status")["running"] is False


def test_without_a_qemu_there_is_no_conversation(tmp_path: Path) -> None:
    with pytest.raises(QmpError, match="control socket"):
        QmpClient(tmp_path / "qmp")
