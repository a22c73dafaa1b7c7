"""A block device's bytes as a file whose every write and flush is noted, in the order in which they came.

It is a file system of a single file (FUSE, spoken here over `/dev/fuse`), on which the kernel lays a loop device: what
comes down is what a real ext4 would send to a card, and a flush is the kernel's own wish that all before it be safe.
Runs as a process of its own: `python -m companion.lab.soak.write_log IMAGE LOG PLACE`; needs root.

The log is a list of records: :data:`RECORD`, and for a write its bytes.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import stat
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

RECORD: Final = struct.Struct("<BQI")
"""Kind, offset in bytes, length in bytes; a flush has neither."""
WRITE, FLUSH = 1, 2

_IN: Final = struct.Struct("<IIQQIIII")
_OUT: Final = struct.Struct("<IiQ")
_INIT_OUT: Final = struct.Struct("<IIIIHHIIHHI28x")
_ATTR_OUT: Final = struct.Struct("<QII6Q10I")
_IO: Final = struct.Struct("<QQIIQII")
_MOST: Final = 128 * 1024
"""Bytes of one write."""
_LOOKUP, _FORGET, _GETATTR, _SETATTR, _OPEN, _READ, _WRITE = 1, 2, 3, 4, 14, 15, 16
_RELEASE, _FSYNC, _FLUSH, _INIT, _ACCESS, _INTERRUPT, _DESTROY, _BATCH_FORGET = 18, 20, 25, 26, 34, 36, 38, 42
_SILENT: Final = frozenset({_FORGET, _INTERRUPT, _BATCH_FORGET})
_BIG_WRITES, _DIRECT_IO = 1 << 5, 1


class Noted(NamedTuple):
    """One record: ``end`` is where it ends in the log; ``data`` is None for a flush."""

    end: int
    offset: int
    data: bytes | None


def noted(log: Path) -> Iterator[Noted]:
    """Yield the records of a log, as far as they are whole."""
    with log.open("rb") as file:
        end = 0
        while len(head := file.read(RECORD.size)) == RECORD.size:
            kind, offset, length = RECORD.unpack(head)
            data = file.read(length)
            if len(data) < length:
                return
            end += RECORD.size + length
            yield Noted(end, offset, data if kind == WRITE else None)


class Recorder:
    """Answers the kernel for one file, whose bytes lie in ``image``, and notes what it does to it in ``log``."""

    def __init__(self, image: BinaryIO, log: BinaryIO) -> None:
        self._image, self._log = image.fileno(), log.fileno()
        self._size = os.fstat(self._image).st_size

    def serve(self, fuse: int) -> None:
        """Answer until the file is unmounted."""
        while True:
            try:
                asked = os.read(fuse, _MOST + 4096)
            except OSError as error:
                if error.errno == errno.ENODEV:
                    return
                if error.errno in (errno.EINTR, errno.ENOENT, errno.EAGAIN):
                    continue
                raise
            _, code, unique, *_ = _IN.unpack_from(asked)
            if code in _SILENT:
                continue
            answer = self._answer(code, memoryview(asked)[_IN.size :])
            failed, body = (-answer, b"") if isinstance(answer, int) else (0, answer)
            with contextlib.suppress(FileNotFoundError):  # the request was given up meanwhile
                os.write(fuse, _OUT.pack(_OUT.size + len(body), failed, unique) + body)

    def _answer(self, code: int, rest: memoryview) -> bytes | int:
        """Return the body of an answer, or the number of an error."""
        if code == _INIT:
            return _INIT_OUT.pack(7, 31, _MOST, _BIG_WRITES, 16, 12, _MOST, 1, 0, 0, 0)
        if code in (_GETATTR, _SETATTR):
            times = (self._size // 512, 0, 0, 0)
            return _ATTR_OUT.pack(3600, 0, 0, 1, self._size, *times, 0, 0, 0, stat.S_IFREG | 0o600, 1, 0, 0, 0, 4096, 0)
        if code == _OPEN:
            return struct.pack("<QII", 1, _DIRECT_IO, 0)
        if code == _READ:
            _, offset, length, *_ = _IO.unpack_from(rest)
            return os.pread(self._image, length, offset)
        if code == _WRITE:
            _, offset, length, *_ = _IO.unpack_from(rest)
            data = bytes(rest[_IO.size : _IO.size + length])
            self._note(RECORD.pack(WRITE, offset, length) + data)
            os.pwrite(self._image, data, offset)
            return struct.pack("<II", length, 0)
        if code == _FSYNC:
            self._note(RECORD.pack(FLUSH, 0, 0))
            return b""
        return b"" if code in (_FLUSH, _RELEASE, _ACCESS, _DESTROY) else errno.ENOSYS

    def _note(self, record: bytes) -> None:
        if os.write(self._log, record) != len(record):
            raise OSError(errno.EIO, "the log could not be written")


def mount(place: Path) -> int:
    """Put a file of ours in the place of an empty one; return the line to the kernel.

    :raises OSError: the kernel lets us not.
    """
    line = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={line},rootmode={stat.S_IFREG | 0o600:o},user_id=0,group_id=0,max_read={_MOST}"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"companion-card", os.fsencode(place), b"fuse", 0, options.encode()) != 0:
        number = ctypes.get_errno()
        os.close(line)
        raise OSError(number, os.strerror(number), str(place))
    return line


def main(image: str, log: str, place: str) -> None:
    """Serve until unmounted; a line on the standard output says that it has begun."""
    with Path(image).open("r+b", buffering=0) as bytes_of, Path(log).open("ab", buffering=0) as kept:
        line = mount(Path(place))
        print("ready", flush=True)
        try:
            Recorder(bytes_of, kept).serve(line)
        finally:
            os.close(line)


if __name__ == "__main__":
    main(*sys.argv[1:])
