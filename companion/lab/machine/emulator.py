"""Boots an image in QEMU: cortex-a72, its own kernel, disks, a network of its own, and the command channel."""

from __future__ import annotations

import contextlib
import http.client
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from companion.lab.machine.channel import ChannelError, CommandChannel
from companion.lab.phone import free_port

PAGE = 8080
"""The service's port inside."""
BOOT_S = 4 * 3600.0
"""How long a boot may take: minutes on two free cores, and hours where others have them."""
OFF_S = 1800.0
CORES = 2
PORT_NAME = "companion.machine"
USB_BUS = "usb"
"""The id of the USB controller, of which things are plugged in and pulled out while it runs."""


@dataclass(frozen=True)
class Disks:
    """What a machine boots from: kernel and initial file system, its own disk, and the one that is carried in."""

    kernel: Path
    initrd: Path
    root: Path
    carried: Path


def qemu_command(disks: Disks, folder: Path, memory_mb: int, port: int, clock: str = "") -> list[str]:
    """Return how QEMU is started; sockets and the console's text lie in ``folder``, ``port`` leads to the page.

    ``clock`` is what the machine believes the time is when it starts, as ``2026-10-01T12:00:00``; else it is right.

    ``restrict``: the machine reaches nothing outside; from outside only the page's port leads in.
    """
    command = ["qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a72", "-smp", str(CORES), "-m", str(memory_mb)]
    command += ["-accel", "tcg,thread=multi", "-nodefaults", "-display", "none"]
    command += ["-kernel", str(disks.kernel), "-initrd", str(disks.initrd)]
    command += [
        "-append",
        "root=/dev/vda rw console=ttyAMA0 net.ifnames=0 systemd.show_status=0 systemd.firstboot=0 loglevel=4",
    ]
    command += ["-chardev", f"file,id=console,path={folder / 'console.log'}", "-serial", "chardev:console"]
    command += ["-qmp", f"unix:{folder / 'qmp'},server=on,wait=off"]
    command += ["-rtc", f"base={clock}"] if clock else []
    for name, path in (("root", disks.root), ("carried", disks.carried)):
        command += ["-drive", f"file={path},format=raw,if=none,id={name}"]
        command += ["-device", f"virtio-blk-pci,drive={name},serial={name}"]
    forward = f"hostfwd=tcp:127.0.0.1:{port}-:{PAGE}"
    command += ["-netdev", f"user,id=house,restrict=on,{forward}"]
    command += ["-device", "virtio-net-pci,netdev=house,romfile=", "-device", "virtio-rng-pci"]
    command += ["-device", f"qemu-xhci,id={USB_BUS}"]
    command += ["-chardev", f"socket,id=channel,path={folder / 'channel'},server=on,wait=off"]
    command += ["-device", "virtio-serial-pci", "-device", f"virtserialport,chardev=channel,name={PORT_NAME}"]
    return command


class Machine:
    """A machine that is switched on; ``port`` is where its page is on this host, ``folder`` where its sockets lie."""

    def __init__(self, disks: Disks, folder: Path, memory_mb: int, clock: str = "") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("channel", "qmp"):
            (folder / name).unlink(missing_ok=True)
        self.port = free_port()
        self.began = time.monotonic()
        self._log = (folder / "qemu.log").open("wb")
        self._process = subprocess.Popen(
            qemu_command(disks, folder, memory_mb, self.port, clock),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        self.folder = folder
        self.channel = self._connected()

    @property
    def on(self) -> bool:
        """Tell whether it still runs."""
        return self._process.poll() is None

    def wait_ready(self) -> float:
        """Wait for the command channel; return the seconds since it was switched on."""
        self.channel.wait_ready(BOOT_S)
        return time.monotonic() - self.began

    def wait_page(self, seconds: float = BOOT_S) -> float:
        """Ask for the first page until it is answered; return the seconds since the machine was switched on.

        :raises ChannelError: when it is not answered in time, or the machine ends.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.on:
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                try:
                    connection.request("GET", "/")
                    if connection.getresponse().status == 200:
                        return time.monotonic() - self.began
                finally:
                    connection.close()
            # QEMU takes every connection and ends it where nobody listens inside: there is no event to wait for.
            time.sleep(0.5)
        raise ChannelError(f"The page did not answer within {seconds:.0f} s.")

    def off(self) -> None:
        """Shut it down in order, and wait until it is off."""
        with contextlib.suppress(OSError):
            self.channel.run("sync; systemctl poweroff --no-block", 60)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(OFF_S)
        self.cut()

    def cut(self) -> None:
        """Pull the plug. What the machine had flushed to its disk is in the file; nothing else is certain to be."""
        self.channel.close()
        if self.on:
            self._process.kill()
        self._process.wait()
        self._log.close()

    def _connected(self) -> CommandChannel:
        end = time.monotonic() + 60
        while self.on and time.monotonic() < end:
            with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                return CommandChannel(self.folder / "channel", lambda: self.on)
            time.sleep(0.05)
        words = (self.folder / "qemu.log").read_text(encoding="utf-8", errors="replace").strip()
        raise ChannelError(f"QEMU did not start: {words[-300:]}")
