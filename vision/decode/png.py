"""PNG, chunk by chunk (ISO 15948): its head, and a copy that holds what its pixels need and nothing else.

A few kilobytes of packed data unpack to hundreds of megabytes, and a decoder goes on unpacking when it has all pixels.
So packed data that is longer than what the head claims could ever fill is refused here, texts and profiles (packed,
too) are left out, and the process that decodes unpacks no more than the head claims
(:mod:`vision.decode.sandbox_child`).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from companion.ports import BadDataError
from vision import messages

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_NEEDED = frozenset({b"IHDR", b"PLTE", b"tRNS", b"eXIf", b"IDAT", b"IEND"})
"""What says how the pixels look, and which way is up."""
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
"""Adam7: where each pass begins, and its steps, across and down."""


@dataclass(frozen=True, slots=True)
class PngHead:
    """What a PNG claims to be; see :class:`vision.decode.image_header.PictureHead`.

    ``unpacked`` is how many bytes its data has when it is unpacked, ``packed`` how many it has in the file.
    """

    width: int
    height: int
    alpha: bool
    whole: bool
    packed: int
    unpacked: int


def png_head(data: bytes) -> PngHead:
    """Return what a PNG claims to be.

    :raises BadDataError: its head makes no sense, or it holds more packed data than its pixels can need.
    """
    if len(data) < 33:
        raise BadDataError(messages.PHOTO_CUT_OFF)
    length, name, width, height, depth, colour, _, _, interlaced = struct.unpack_from(">I4sIIBBBBB", data, 8)
    if name != b"IHDR" or length != 13 or not width or not height or colour not in _CHANNELS or depth > 16:
        raise BadDataError(messages.PHOTO_DAMAGED)
    alpha, whole, packed = colour in {4, 6}, False, 0
    for name, start, end in _chunks(data):
        alpha = alpha or name == b"tRNS"
        packed += end - start - 12 if name == b"IDAT" else 0
        whole = name == b"IEND"
    unpacked = _unpacked(width, height, depth * _CHANNELS[colour], interlaced=bool(interlaced))
    # What does not pack at all is stored, with some bytes beside each block.
    if packed > unpacked + unpacked // 8 + 4096:
        raise BadDataError(messages.PHOTO_DAMAGED)
    return PngHead(width, height, alpha, whole, packed, unpacked)


def bare_png(data: bytes) -> bytes:
    """Return a whole PNG without what its pixels do not need: texts, profiles, further pictures."""
    return SIGNATURE + b"".join(data[start:end] for name, start, end in _chunks(data) if name in _NEEDED)


def _chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield the name of each whole chunk and where it begins and ends, up to the end of the picture."""
    at = len(SIGNATURE)
    while at + 12 <= len(data):
        length, name = struct.unpack_from(">I4s", data, at)
        end = at + 12 + length
        if end > len(data):
            return
        yield name, at, end
        if name == b"IEND":
            return
        at = end


def _unpacked(width: int, height: int, bits: int, *, interlaced: bool) -> int:
    """Return the bytes of all rows, each behind the byte that names its filter."""
    passes = _PASSES if interlaced else ((0, 0, 1, 1),)
    total = 0
    for x, y, across, down in passes:
        columns, rows = (width - x + across - 1) // across, (height - y + down - 1) // down
        if columns > 0 and rows > 0:
            total += rows * (1 + (columns * bits + 7) // 8)
    return total
