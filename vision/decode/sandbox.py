"""Decodes pictures of strangers in a child process with bounded memory and time, so that none harms the service.

One child is kept warm and serves all threads in turn; the first picture starts it, and one that crashes, hangs or
takes too much is replaced at the next. The parent reads heads only (:mod:`vision.decode.image_header`), and believes of
an answer no more than the head promised.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from companion.ports import ShortMemoryError
from vision import messages
from vision.decode import sandbox_child as child

if TYPE_CHECKING:
    from companion.ports import ByteArray

MEMORY_MB: Final = 320
"""What one picture may take: 26 million pixels of a progressive JPEG, or of 16 bits with transparency …"""
MEMORY_SHARE: Final = 0.6
"""… but not more than this share of what the machine has left."""
SECONDS: Final = 10
"""Processor seconds for one picture; twice as long by the clock. A Pi Zero 2 W may need half of them."""
START_S: Final = 60.0
_LEAST_MB: Final = 24
TOO_MUCH: Final = frozenset({signal.SIGXCPU, signal.SIGKILL})
"""The signals that end a child for what it took, not by what it read."""


class DecodeRequest(IntEnum):
    """What is made of a picture: all of it in colour, a half or a quarter of each side, laid over white, small grey."""

    COLOUR = child.COLOUR
    HALF = child.HALF
    QUARTER = child.QUARTER
    LAYERED = child.LAYERED
    SMALL = child.SMALL


class DamagedPictureError(Exception):
    """The decoder could not read the picture, or died of it."""


class TooMuchError(Exception):
    """The picture takes more memory or time than it may."""


class Decoder:
    """One child process that decodes, started when first needed. Thread-safe: pictures wait for one another."""

    def __init__(self, *, memory_mb: int = MEMORY_MB, seconds: int = SECONDS) -> None:
        """Bound each picture; start nothing yet."""
        self._memory_mb, self._seconds = memory_mb, seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self.started = 0
        """How many children were started: one, unless pictures or idleness ended some."""

    @property
    def pid(self) -> int | None:
        """Return the child's process id, None where none runs."""
        return self._process.pid if self._process is not None else None

    def decode(
        self,
        data: bytes,
        size: tuple[int, int],
        wanted: DecodeRequest = DecodeRequest.COLOUR,
        *,
        unpacked: int = 0,
    ) -> ByteArray:
        """Return the pixels of a picture, (height, width, 3) BGR, or (120, 160) grey for a small copy, uint8.

        ``size`` is the (width, height) that its head claims: what comes back is never larger. ``unpacked`` are the
        bytes that a PNG's data may have when it is unpacked (0: it is none).

        :raises DamagedPictureError: the decoder refuses it or crashed.
        :raises TooMuchError: it takes more memory or time than it may.
        :raises ShortMemoryError: it takes more memory than the machine has left; with more it might be read.
        """
        with self._lock:
            line = self._ready()
            allowed = allowed_mb(self._memory_mb)
            try:
                line.settimeout(2.0 * self._seconds + 1)
                line.sendall(child.REQUEST.pack(len(data), allowed, self._seconds, wanted, unpacked))
                line.sendall(data)
                became, height, width = child.ANSWER.unpack(received(line, child.ANSWER.size))
                image = _pixels(line, became, (height, width), size, wanted)
            except TimeoutError:
                self._end()
                raise TooMuchError from None
            except ValueError:
                self._end()
                raise DamagedPictureError from None
            except (OSError, EOFError):
                raise self._died(short=allowed < self._memory_mb) from None
            if image is not None:
                return image
            if became != child.TOO_MUCH:
                raise DamagedPictureError
            raise ShortMemoryError(messages.SHORT_MEMORY) if allowed < self._memory_mb else TooMuchError

    def close(self) -> None:
        """End the child; the next picture would start another."""
        with self._lock:
            self._end()

    def abandon(self) -> None:
        """Let go of the child in a process that was forked off: it is the parent's."""
        if self._line is not None:
            self._line.close()
        if self._process is not None:
            self._process.returncode = 0

    def _ready(self) -> socket.socket:
        """Return the line to a child that lives."""
        if self._line is not None and self._process is not None and self._process.poll() is None:
            return self._line
        self._end()
        try:
            self._process, self._line = start_child()
        except OSError as error:
            if error.errno in {errno.ENOMEM, errno.EAGAIN}:
                raise ShortMemoryError(messages.SHORT_MEMORY) from None
            raise
        self.started += 1
        try:
            wait_for(self._line)
        except (OSError, EOFError):
            raise self._died(short=True) from None
        return self._line

    def _died(self, *, short: bool) -> Exception:
        """Bury a child that gave no answer, and return what that says of the picture.

        ``short``: the machine has little memory left, so the kernel may have ended the child for that.
        """
        number = None if self._process is None else ended_by(self._process)
        self._end()
        if number == signal.SIGKILL and short:
            return ShortMemoryError(messages.SHORT_MEMORY)
        return TooMuchError() if number in TOO_MUCH else DamagedPictureError()

    def _end(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def start_child(*arguments: str, files: tuple[int, ...] = ()) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start the program of :mod:`vision.decode.sandbox_child` and return it with the line to it; see :func:`wait_for`.

    ``files`` are the numbers of open files that it keeps.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        # By its path, and without the folder it lies in: it imports two libraries and none of our rooms.
        process = subprocess.Popen(
            [sys.executable, "-P", child.__file__, *arguments],
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={**os.environ, **child.ENVIRONMENT},
            pass_fds=files,
        )
    return process, ours


def wait_for(line: socket.socket) -> None:
    """Wait until the child has loaded what it needs and has given up all else.

    :raises OSError: it takes too long.
    :raises EOFError: it died.
    """
    line.settimeout(START_S)
    received(line, 1)


def ended_by(process: subprocess.Popen[bytes]) -> int | None:
    """Return the number of the signal that ended a child whose line is broken; None: none did."""
    code = None
    with contextlib.suppress(subprocess.TimeoutExpired):
        code = process.wait(timeout=5)
    return -code if code is not None and code < 0 else None


def allowed_mb(most: int = MEMORY_MB) -> int:
    """Return what the next picture may take: ``most``, or less where the machine has little left."""
    # What fails on a small machine for want of memory is tried with what is left, not given up at once.
    return min(most, max(_LEAST_MB, int(MEMORY_SHARE * available_mb())))


def available_mb() -> int:
    """Return the memory that the machine has left, in MB (a large number where it does not say)."""
    with contextlib.suppress(OSError, ValueError), Path("/proc/meminfo").open(encoding="ascii") as lines:
        for text in lines:
            if text.startswith("MemAvailable:"):
                return int(text.split()[1]) // 1024
    return 1 << 20


def _pixels(
    line: socket.socket, became: int, shape: tuple[int, int], size: tuple[int, int], wanted: DecodeRequest
) -> ByteArray | None:
    if became != child.DONE:
        return None
    if wanted is DecodeRequest.SMALL:
        allowed = shape == child.SMALL_SIZE[::-1]
        whole: tuple[int, ...] = shape
    else:
        # A picture may lie on its side by its EXIF; shrunk ones are rounded up.
        allowed = 0 < min(shape) <= min(size) and max(shape) <= max(size)
        whole = (*shape, 3)
    if not allowed:
        raise ValueError(shape)
    image = np.empty(whole, np.uint8)
    receive_into(line, image.data.cast("B"))
    return image


def received(line: socket.socket, length: int) -> bytes:
    """Return so many bytes of a child's answer.

    :raises OSError: they take too long.
    :raises EOFError: the child died.
    """
    data = bytearray(length)
    receive_into(line, memoryview(data))
    return bytes(data)


def receive_into(line: socket.socket, view: memoryview) -> None:
    """Fill ``view`` with a child's answer; see :func:`received`."""
    end = time.monotonic() + (line.gettimeout() or START_S)
    got = 0
    while got < len(view):
        taken = line.recv_into(view[got:])
        if not taken:
            raise EOFError
        got += taken
        if time.monotonic() > end:
            raise TimeoutError


_shared = Decoder()


def shared() -> Decoder:
    """Return the process's one decoder."""
    return _shared


def _after_fork() -> None:
    # A forked process has no part in the line of its parent: it would read the parent's answers.
    global _shared  # noqa: PLW0603
    _shared.abandon()
    _shared = Decoder()


def _close_shared() -> None:
    _shared.close()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(_close_shared)
