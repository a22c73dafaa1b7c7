"""A photo from a phone: bounded, upright, eight bits, three colours; or one clear sentence.

It is decoded in a process of its own (:mod:`vision.decode.sandbox`), once its head was read here and found bounded.
Nothing of the file's own metadata (place, time, owner) is kept: :func:`to_jpeg` writes the pixels anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import cv2

from companion.ports import BadDataError
from vision import messages
from vision.decode.image_header import PictureHead, jpeg_head, read_head
from vision.decode.png import bare_png
from vision.decode.sandbox import DamagedPictureError, DecodeRequest, TooMuchError, available_mb, shared

if TYPE_CHECKING:
    from companion.ports import ByteArray

MAX_BYTES: Final = 32 * 1024 * 1024
MAX_SIDE: Final = 16_384
MIN_SIDE: Final = 8
MAX_PIXELS_BASELINE: Final = 51_000_000
"""A 50-megapixel phone; a baseline JPEG is decoded in strips and may be shrunk on the way."""
MAX_PIXELS: Final = 26_000_000
"""Everything that a decoder holds in memory as a whole: PNG, WebP, progressive JPEG."""
KEEP_PIXELS: Final = 13_000_000
"""Larger pictures are shrunk while they are decoded; 4080×3072, a common phone's photo, stays as it is where the
machine has room for it."""


def read_photo(data: bytes) -> ByteArray:
    """Return the picture in ``data`` as (height, width, 3) BGR, uint8, turned upright by its EXIF orientation.

    16-bit pictures are scaled to 8 bits, grey ones get three equal colours, transparency is laid over white, of an
    animation the first picture is taken, and pictures above :data:`KEEP_PIXELS` are halved until they fit.

    :raises BadDataError: anything that is not a whole JPEG, PNG or WebP picture of bounded size; one sentence.
    """
    if len(data) > MAX_BYTES:
        raise BadDataError(messages.PHOTO_TOO_LARGE)
    head = read_head(data)
    if not head.whole:
        raise BadDataError(messages.PHOTO_CUT_OFF)
    _check_size(head)
    return _decode(data, head)


def read_small(data: bytes) -> ByteArray:
    """Return a grey copy of a camera's JPEG, (120, 160) uint8 whatever its shape, for little money.

    :raises BadDataError: it is no whole JPEG of bounded size; one sentence.
    """
    head = jpeg_head(data)
    if not head.whole:
        raise BadDataError(messages.PHOTO_CUT_OFF)
    _check_size(head)
    return decoded(data, head, DecodeRequest.SMALL)


def read_whole(data: bytes) -> ByteArray:
    """Return a picture of whatever bounded size as it is, neither shrunk nor refused for being small.

    :raises BadDataError: it is no whole JPEG, PNG or WebP picture, or too large a one; one sentence.
    """
    head = read_head(data)
    if not head.whole:
        raise BadDataError(messages.PHOTO_CUT_OFF)
    if head.width * head.height > MAX_PIXELS:
        raise BadDataError(messages.PHOTO_TOO_MANY_PIXELS)
    return decoded(data, head, DecodeRequest.COLOUR)


def read_photo_file(path: Path) -> ByteArray:
    """Return the picture in a file; see :func:`read_photo`.

    :raises BadDataError: the file cannot be read, or is no picture.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise BadDataError(messages.FILE_UNREADABLE) from error
    return read_photo(data)


def to_jpeg(image: ByteArray, quality: int = 88) -> bytes:
    """Return ``image`` (BGR or grey, uint8) as JPEG bytes without any metadata."""
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not done:
        raise BadDataError(messages.PHOTO_DAMAGED)
    return data.tobytes()


def _check_size(head: PictureHead) -> None:
    pixels = head.width * head.height
    held = head.format != "jpeg" or head.progressive
    if max(head.width, head.height) > MAX_SIDE or pixels > (MAX_PIXELS if held else MAX_PIXELS_BASELINE):
        raise BadDataError(messages.PHOTO_TOO_MANY_PIXELS)
    if min(head.width, head.height) < MIN_SIDE:
        raise BadDataError(messages.PHOTO_TOO_SMALL)


def _decode(data: bytes, head: PictureHead) -> ByteArray:
    pixels = head.width * head.height
    # The picture is held twice, by the decoder and by who asked for it, three bytes a pixel.
    keep = min(KEEP_PIXELS, available_mb() * 1024 * 1024 // 12)
    wanted = DecodeRequest.COLOUR
    if head.alpha:
        wanted = DecodeRequest.LAYERED
    elif pixels > 4 * keep:
        wanted = DecodeRequest.QUARTER
    elif pixels > keep:
        wanted = DecodeRequest.HALF
    return decoded(data, head, wanted)


def decoded(data: bytes, head: PictureHead, wanted: DecodeRequest) -> ByteArray:
    """Return the pixels of a picture whose head was read and found bounded, decoded by the process's decoder.

    :raises BadDataError: it is damaged, or takes more memory or time than it may; one sentence.
    """
    given = bare_png(data) if head.format == "png" else data
    try:
        return shared().decode(given, (head.width, head.height), wanted, unpacked=head.unpacked)
    except TooMuchError:
        raise BadDataError(messages.PHOTO_TOO_MANY_PIXELS) from None
    except DamagedPictureError:
        raise BadDataError(messages.PHOTO_DAMAGED) from None
