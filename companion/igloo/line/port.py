"""A serial port, opened so that nobody else is disturbed and nobody else disturbs: the only I/O of the line."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import stat
import termios
from contextlib import suppress
from pathlib import Path
from typing import cast

import serial

from companion.igloo import messages
from companion.ports import DeviceError, DeviceKind

_PTY_MAJORS = (*range(136, 144), 3)
"""Device numbers of pseudo-terminals (Linux, admin-guide/devices.txt): Unix98 slaves, and the old kind."""

_LOCKS = (Path("/run/lock"), Path("/var/lock"))


class PortError(DeviceError):
    """A port that cannot be used; ``note`` says why, ``lasting`` that waiting does not help."""

    def __init__(self, note: str, *, lasting: bool = False) -> None:
        super().__init__(note)
        self.note = note
        self.lasting = lasting


class PortMissingError(PortError):
    """There is no such port (now)."""


def kind_of(path: str | os.PathLike[str]) -> DeviceKind:
    """Return simulated for a pseudo-terminal, whatever speaks through it, else real.

    :raises OSError: when there is nothing at ``path``.
    """
    mode = Path(path).stat()
    if stat.S_ISCHR(mode.st_mode) and os.major(mode.st_rdev) in _PTY_MAJORS:
        return DeviceKind.SIMULATED
    return DeviceKind.REAL


def _locked_by_another(device: Path) -> bool:
    """Return whether a living process has left a lock file for the port, as modem and terminal programs do."""
    for folder in _LOCKS:
        try:
            pid = int((folder / f"LCK..{device.name}").read_text(encoding="ascii").split()[0])
            os.kill(pid, 0)
        except (OSError, ValueError, IndexError, OverflowError) as error:
            if isinstance(error, PermissionError):
                return True
            continue
        return pid != os.getpid()
    return False


class _Unflushed(serial.Serial):
    """A serial port that throws nothing away when it is opened: what has arrived is the igloo's word too.

    Nor does it answer: a port that nobody had open echoes, and what an igloo sends would come back to it as commands
    (an echoed ``u`` gives it another number, for ever). That ends before anything else is asked of the port.
    """

    def _reconfigure_port(self, force_update: bool = False) -> None:
        fd = cast("int", self.fd)  # it has just been opened
        modes = termios.tcgetattr(fd)
        if modes[3] & termios.ECHO:
            # Nobody listens to a port that echoes, so nobody is disturbed.
            modes[3] &= ~(termios.ECHO | termios.ECHONL)
            termios.tcsetattr(fd, termios.TCSANOW, modes)
        super()._reconfigure_port(force_update)  # type: ignore[misc]  # pyserial's types leave it out

    def _reset_input_buffer(self) -> None:
        """Keep what has arrived (pyserial calls this as it opens a port)."""


class Port:
    """An open serial port, 8N1, held exclusively (a lock on the file and on the terminal).

    Opening raises DTR, as the kernel always does, so most Arduinos start again; it is left raised at closing, so
    that looking twice does not start them twice.

    :raises PortMissingError: when there is nothing at ``path``.
    :raises PortError: when it may not or cannot be opened.
    """

    def __init__(self, path: str, baud: int) -> None:
        device = Path(path).resolve()
        try:
            self.kind = kind_of(device)
            if not stat.S_ISCHR(device.stat().st_mode):
                raise PortError(messages.NOT_A_PORT, lasting=True)
            if _locked_by_another(device):
                raise PortError(messages.BUSY)
            self._serial = _Unflushed(str(device), baud, timeout=0, write_timeout=0, exclusive=True)
        except (OSError, ValueError, termios.error) as error:
            raise self._explained(error) from None
        self.path = str(device)
        self._fd = self._serial.fileno()
        try:
            fcntl.ioctl(self._fd, termios.TIOCEXCL)
            modes = termios.tcgetattr(self._fd)
            modes[2] &= ~termios.HUPCL
            termios.tcsetattr(self._fd, termios.TCSANOW, modes)
        except (OSError, termios.error) as error:
            self._serial.close()
            raise self._explained(error) from None

    @staticmethod
    def _explained(error: Exception) -> PortError:
        if isinstance(error, PortError):
            return error
        code = getattr(error, "errno", None)
        if code in {errno.ENOENT, errno.ENODEV, errno.ENXIO, errno.EIO}:
            return PortMissingError(messages.MISSING)
        if code in {errno.EACCES, errno.EPERM}:
            return PortError(messages.NO_PERMISSION)
        if code in {errno.EBUSY, errno.EAGAIN}:
            return PortError(messages.BUSY)
        return PortError(messages.CANNOT_OPEN, lasting=True)

    def set_baud(self, baud: int) -> None:
        """Listen at another rate from now on; what had arrived at the old one is thrown away.

        :raises OSError: when the port was lost.
        """
        try:
            self._serial.baudrate = baud
            termios.tcflush(self._fd, termios.TCIFLUSH)
        except (ValueError, termios.error) as error:
            raise OSError(errno.EIO, str(error)) from error

    def wait(self, seconds: float) -> bool:
        """Wait until something arrived, at most so long; return whether it did."""
        return bool(select.select([self._fd], [], [], seconds)[0])

    def read(self) -> bytes:
        """Return what has arrived, perhaps nothing.

        :raises OSError: when the port was lost.
        """
        try:
            data = os.read(self._fd, 65536)
        except BlockingIOError:
            return b""
        if not data and self.wait(0.0):
            # Readable, and nothing to read: that is how a terminal that is gone looks.
            raise OSError(errno.EIO, "the port was lost")
        return data

    def write(self, data: bytes) -> None:
        """Send a few bytes, or none if the port does not take them now.

        :raises OSError: when the port was lost.
        """
        with suppress(BlockingIOError):
            os.write(self._fd, data)

    def close(self) -> None:
        """Free the port; closing a lost one is no error."""
        with suppress(OSError, termios.error):
            fcntl.ioctl(self._fd, termios.TIOCNXCL)
        with suppress(OSError, termios.error):
            self._serial.close()
