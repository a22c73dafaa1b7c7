"""The program of the child process that decodes: it reads requests from its standard input, and may nothing.

It is started by its path and imports nothing of ours, so that it holds little memory. Once its libraries are loaded
it gives up, for good, to open files or sockets, to write files and to start processes; what a damaged picture may do
to a decoder ends here. Memory and processor time are bounded for each picture. One request is a head of
:data:`REQUEST` and the file's bytes, one answer a head of :data:`ANSWER` and the pixels.

Started with ``film`` and the number of an open file it reads that video instead, picture by picture: requests are
:data:`FILM_REQUEST`, answers the same but for the first, which is :data:`FILM_OPENED`.
"""

from __future__ import annotations

import os
import resource
import socket
import struct
import sys
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

REQUEST = struct.Struct("<IIIBI")
"""Length of the file, memory (MB) and processor seconds that it may take, what is wanted, and for a PNG the bytes that
its data may have when it is unpacked (0: it is none)."""
ANSWER = struct.Struct("<BII")
"""What became of it, height, width; three colours follow, or one grey one where a small copy was wanted."""
DONE, DAMAGED, TOO_MUCH, ENDED = range(4)
COLOUR, HALF, QUARTER, LAYERED, SMALL = range(5)
FILM_REQUEST = struct.Struct("<IIB")
"""Memory (MB) and processor seconds that the next picture may take, and whether its pixels are wanted."""
FILM_OPENED = struct.Struct("<Bddd")
"""What became of opening it, its pictures a second (0 where it does not say), and their height and width."""
PIECE = 1 << 16
"""Bytes that are unpacked, and are taken to be unpacked, at a time."""
SMALL_SIZE = (160, 120)
"""Width and height of the small grey copy, whatever the picture's shape."""
ENVIRONMENT = {
    # One thread: the libraries would keep memory for each core, and may start none once the doors are closed.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    # What a large picture took is given back when it is done.
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "1048576",
}
"""What the program is to be started with."""
NICENESS = 10
"""How far a picture stands back where others want the processor, too: whoever taps comes first."""
IDLE_S = 600
"""A child without work ends by itself: its memory is wanted on a small machine."""


def main() -> None:
    """Answer requests until nobody asks any more."""
    if sys.argv[1:2] == ["film"]:
        film(int(sys.argv[2]))
    else:
        pictures()


def pictures() -> None:
    """Decode the pictures that are sent."""
    os.nice(NICENESS)
    with socket.socket(fileno=os.dup(0)) as line:
        # The kernel's own timeout: Python's asks poll(), which refuses a process that may open nothing.
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", IDLE_S, 0))
        memory = os.open("/proc/self/statm", os.O_RDONLY)
        # The first use of a codec loads tables and makes buffers: before the doors close, not after.
        _warm_up()
        _give_up_all()
        line.sendall(b"\1")
        try:
            while (head := _received(line, REQUEST.size)) is not None:
                length, megabytes, seconds, wanted, unpacked = REQUEST.unpack(head)
                data = _received(line, length)
                if data is None:
                    return
                _bound(memory, megabytes, seconds)
                fits = not unpacked or png_fits(data, unpacked)
                _answer(line, *(decoded(data, wanted) if fits else (DAMAGED, None)))
        except OSError:
            return  # who asked has gone, or asks nothing


def film(file: int) -> None:
    """Read a video whose file is open already, from its beginning, as it is asked for."""
    with socket.socket(fileno=os.dup(0)) as line, os.fdopen(file, "rb") as stream:
        memory = os.open("/proc/self/statm", os.O_RDONLY)
        _warm_up()
        _give_up_all()
        line.sendall(b"\1")
        reader: cv2.VideoCapture | None = None
        try:
            while (head := _received(line, FILM_REQUEST.size)) is not None:
                megabytes, seconds, wanted = FILM_REQUEST.unpack(head)
                _bound(memory, megabytes, seconds)
                if reader is None:
                    # From the open file, one thread, this format of reader only: no name is followed anywhere.
                    reader = cv2.VideoCapture(stream, cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, 1])  # type: ignore[call-overload]
                    opened = reader.isOpened()
                    properties = (cv2.CAP_PROP_FPS, cv2.CAP_PROP_FRAME_HEIGHT, cv2.CAP_PROP_FRAME_WIDTH)
                    line.sendall(FILM_OPENED.pack(DONE if opened else DAMAGED, *map(reader.get, properties)))
                else:
                    _answer(line, *_next_of(reader, wanted))
        except OSError:
            return


def _next_of(reader: cv2.VideoCapture, wanted: int) -> tuple[int, NDArray[Any] | None]:
    try:
        if not reader.grab():
            return ENDED, None
        if not wanted:
            return DONE, None
        done, image = reader.retrieve()
    except MemoryError:
        return TOO_MUCH, None
    except cv2.error as error:
        return (TOO_MUCH if error.code == cv2.Error.STS_NO_MEM else DAMAGED), None
    if not done or image is None or image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or not image.size:
        return DAMAGED, None
    return DONE, np.ascontiguousarray(image)


def decoded(data: bytes | bytearray, wanted: int) -> tuple[int, NDArray[Any] | None]:
    """Return what became of a picture, and its pixels."""
    try:
        image = _decoded(np.frombuffer(data, np.uint8), wanted)
    except MemoryError:
        return TOO_MUCH, None
    except cv2.error as error:
        return (TOO_MUCH if error.code == cv2.Error.STS_NO_MEM else DAMAGED), None
    if image is None or image.size == 0 or image.dtype != np.uint8:
        return DAMAGED, None
    return DONE, np.ascontiguousarray(image)


def png_fits(data: bytes | bytearray, most: int) -> bool:
    """Return whether a PNG's data is sound and unpacks to at most so many bytes; no more is unpacked, and none is kept.

    The decoder itself goes on to the end of the data, however much more that is than its pixels.
    """
    unpacker, view, at, got = zlib.decompressobj(), memoryview(data), 8, 0
    while at + 12 <= len(data) and not unpacker.eof:
        length, name = struct.unpack_from(">I4s", data, at)
        at, end = at + 12 + length, at + 8 + length
        for start in range(end - length, end if name == b"IDAT" else 0, PIECE):
            left: bytes | memoryview = view[start : min(start + PIECE, end)]
            while left and not unpacker.eof:
                try:
                    got += len(unpacker.decompress(left, PIECE))
                except zlib.error:
                    return False
                if got > most:
                    return False
                left = unpacker.unconsumed_tail
    return True


def _decoded(data: NDArray[np.uint8], wanted: int) -> NDArray[Any] | None:
    if wanted == SMALL:
        grey = cv2.imdecode(data, cv2.IMREAD_REDUCED_GRAYSCALE_8)
        return None if grey is None else cv2.resize(grey, SMALL_SIZE, interpolation=cv2.INTER_AREA)
    if wanted == LAYERED:
        layered = cv2.imdecode(data, cv2.IMREAD_UNCHANGED)
        if layered is not None and layered.ndim == 3 and layered.shape[2] == 4:
            return _over_white(layered)
    reduced = {HALF: cv2.IMREAD_REDUCED_COLOR_2, QUARTER: cv2.IMREAD_REDUCED_COLOR_4}
    return cv2.imdecode(data, reduced.get(wanted, cv2.IMREAD_COLOR))


def _over_white(layered: NDArray[Any]) -> NDArray[np.uint8]:
    if layered.dtype == np.uint16:
        layered = (layered >> 8).astype(np.uint8)
    alpha = layered[:, :, 3:].astype(np.uint16)
    colour = layered[:, :, :3].astype(np.uint16) * alpha + 255 * (255 - alpha)
    return ((colour + 127) // 255).astype(np.uint8)


def _warm_up() -> None:
    cv2.setNumThreads(1)
    image = np.zeros((16, 16, 3), np.uint8)
    for suffix in (".jpg", ".png", ".webp"):
        decoded(cv2.imencode(suffix, image)[1].tobytes(), COLOUR)
    # Where memory runs out this process goes, not the service; a house that forbids it decodes all the same.
    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:  # noqa: PTH123
        score.write("1000")


def _give_up_all() -> None:
    for what in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC, resource.RLIMIT_CORE):
        resource.setrlimit(what, (0, 0))


def _bound(memory: int, megabytes: int, seconds: int) -> None:
    """Bound what the next picture takes, beyond what is used already (``memory``: the file that tells)."""
    used_bytes = int(os.pread(memory, 64, 0).split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used_bytes + megabytes * 1024 * 1024, resource.RLIM_INFINITY))
    used = resource.getrusage(resource.RUSAGE_SELF)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 1 + seconds, resource.RLIM_INFINITY))


def _received(line: socket.socket, length: int) -> bytearray | None:
    data = bytearray(length)
    view, got = memoryview(data), 0
    while got < length:
        taken = line.recv_into(view[got:])
        if not taken:
            return None
        got += taken
    return data


def _answer(line: socket.socket, became: int, image: NDArray[Any] | None) -> None:
    height, width = image.shape[:2] if image is not None else (0, 0)
    line.sendall(ANSWER.pack(became, height, width))
    if image is not None:
        line.sendall(image.data.cast("B"))


if __name__ == "__main__":
    main()
