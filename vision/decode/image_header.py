"""Read the head of a picture file without decoding it: type, size, and whether it is whole.

A decoder is only let loose on a file whose claimed size is known and bounded. The formats are read as their
standards lay them out: JPEG (ITU T.81, annex B), WebP (RFC 9649), ISO base media (ISO 14496-12); PNG has a module of
its own (:mod:`vision.decode.png`).
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

from companion.ports import BadDataError
from vision import messages
from vision.decode.png import png_head

# In entropy-coded data 0xFF is followed by 0x00 (stuffing) or a restart mark; anything else is a segment.
_NEXT_MARK = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]", re.DOTALL)
_SOF_BASELINE = frozenset({0xC0, 0xC1})
_SOF_PROGRESSIVE = frozenset({0xC2})
_SOF_OTHER = frozenset({0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF})
_HEIC_BRANDS = frozenset({b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1", b"avif", b"avis"})


MOST_SCANS = 100
"""Scans of a progressive JPEG: a camera writes a dozen, and each costs the decoder a walk over the whole picture."""


@dataclass(frozen=True, slots=True)
class PictureHead:
    """What a picture file claims to be: ``format`` (``jpeg``, ``png``, ``webp``), ``width`` and ``height`` in pixels.

    ``whole`` is False where the file visibly ends before its picture does (a size of 0: even before it was said).
    ``alpha`` says that there is transparency, ``progressive`` that a JPEG needs all its coefficients in memory.
    ``end`` is the offset behind a JPEG's last byte, ``unpacked`` how many bytes a PNG's data has when it is unpacked.
    """

    format: str
    width: int
    height: int
    whole: bool = True
    alpha: bool = False
    progressive: bool = False
    end: int = 0
    unpacked: int = 0


def read_head(data: bytes) -> PictureHead:
    """Return what ``data`` claims to be.

    :raises BadDataError: it is empty, of another type, or its head makes no sense.
    """
    kind = picture_type(data)
    if kind == "jpeg":
        return jpeg_head(data)
    return _png_head(data) if kind == "png" else _webp_head(data)


def picture_type(start: bytes) -> str:
    """Return ``jpeg``, ``png`` or ``webp`` by a file's first bytes (12 are enough).

    :raises BadDataError: it is empty, or of another type.
    """
    if not start:
        raise BadDataError(messages.PHOTO_EMPTY)
    if start[:3] == b"\xff\xd8\xff":
        return "jpeg"
    if start[:8] == b"\x89PNG\r\n\x1a\n":
        return "png"
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "webp"
    raise BadDataError(messages.PHOTO_HEIC if is_heic(start) else messages.PHOTO_WRONG_TYPE)


def is_heic(start: bytes) -> bool:
    """Return whether a file's first bytes are those of HEIC or AVIF."""
    return start[4:8] == b"ftyp" and start[8:12] in _HEIC_BRANDS


def jpeg_head(data: bytes, start: int = 0) -> PictureHead:
    """Walk the segments of the JPEG at ``start`` up to its end mark.

    What follows the end mark (a phone's motion video, a maker's trailer) is left alone.

    :raises BadDataError: a segment makes no sense, or the end comes before any picture.
    """
    width = height = 0
    progressive = False
    scans = 0
    at = start + 2
    size = len(data)

    def cut() -> PictureHead:
        return PictureHead("jpeg", width, height, whole=False, progressive=progressive, end=size)

    while at + 1 < size:
        if data[at] != 0xFF:
            raise BadDataError(messages.PHOTO_DAMAGED)
        mark = data[at + 1]
        if mark == 0xFF:  # fill byte
            at += 1
            continue
        if mark == 0xD9:
            if not width:
                raise BadDataError(messages.PHOTO_DAMAGED)
            return PictureHead("jpeg", width, height, progressive=progressive, end=at + 2)
        if mark == 0x01 or 0xD0 <= mark <= 0xD7:  # marks without a length
            at += 2
            continue
        if mark in {0x00, 0xD8}:
            raise BadDataError(messages.PHOTO_DAMAGED)
        if at + 4 > size:
            return cut()
        length = int.from_bytes(data[at + 2 : at + 4], "big")
        if length < 2:
            raise BadDataError(messages.PHOTO_DAMAGED)
        if mark in _SOF_BASELINE or mark in _SOF_PROGRESSIVE:
            if width or length < 8:  # one frame a picture
                raise BadDataError(messages.PHOTO_DAMAGED)
            if at + 9 > size:
                return cut()
            height, width = struct.unpack_from(">HH", data, at + 5)
            progressive = mark in _SOF_PROGRESSIVE
            if not width or not height:
                raise BadDataError(messages.PHOTO_DAMAGED)
        elif mark in _SOF_OTHER:  # lossless, hierarchical and arithmetic JPEG: no camera writes them
            raise BadDataError(messages.PHOTO_WRONG_TYPE)
        at += 2 + length
        if mark == 0xDA:
            scans += 1
            if not width or scans > MOST_SCANS:
                raise BadDataError(messages.PHOTO_DAMAGED)
            found = _NEXT_MARK.search(data, at)
            if found is None:
                return cut()
            at = found.start()
    return cut()


def _png_head(data: bytes) -> PictureHead:
    found = png_head(data)
    return PictureHead("png", found.width, found.height, whole=found.whole, alpha=found.alpha, unpacked=found.unpacked)


def _webp_head(data: bytes) -> PictureHead:
    if len(data) < 30:
        raise BadDataError(messages.PHOTO_CUT_OFF)
    whole = len(data) >= 8 + int.from_bytes(data[4:8], "little")
    chunk = data[12:16]
    alpha = False
    if chunk == b"VP8X":
        alpha = bool(data[20] & 0x10)
        width = 1 + int.from_bytes(data[24:27], "little")
        height = 1 + int.from_bytes(data[27:30], "little")
    elif chunk == b"VP8L":
        if data[20] != 0x2F:
            raise BadDataError(messages.PHOTO_DAMAGED)
        bits = int.from_bytes(data[21:25], "little")
        width, height = 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        alpha = bool(bits >> 28 & 1)
    elif chunk == b"VP8 ":
        if data[23:26] != b"\x9d\x01\x2a":
            raise BadDataError(messages.PHOTO_DAMAGED)
        width, height = (n & 0x3FFF for n in struct.unpack_from("<HH", data, 26))
    else:
        raise BadDataError(messages.PHOTO_DAMAGED)
    if not width or not height:
        raise BadDataError(messages.PHOTO_DAMAGED)
    return PictureHead("webp", width, height, whole=whole, alpha=alpha)
