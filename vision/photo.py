"""A photo from a phone: bounded, upright, eight bits, three colours; or one clear sentence.

Nothing of the file's own metadata (place, time, owner) is kept: :func:`to_jpeg` writes the pixels anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from companion.ports import BadDataError

from . import notes
from .heads import PictureHead, read_head

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray

MAX_BYTES: Final = 32 * 1024 * 1024
MAX_SIDE: Final = 16_384
MIN_SIDE: Final = 8
MAX_PIXELS_BASELINE: Final = 51_000_000
"""A 50-megapixel phone; a baseline JPEG is decoded in strips and may be shrunk on the way."""
MAX_PIXELS: Final = 26_000_000
"""Everything that a decoder holds in memory as a whole: PNG, WebP, progressive JPEG."""
KEEP_PIXELS: Final = 13_000_000
"""Larger pictures are shrunk while they are decoded; 4080×3072, a common phone's photo, stays as it is."""


def read_photo(data: bytes) -> ByteArray:
    """Return the picture in ``data`` as (height, width, 3) BGR, uint8, turned upright by its EXIF orientation.

    16-bit pictures are scaled to 8 bits, grey ones get three equal colours, transparency is laid over white, of an
    animation the first picture is taken, and pictures above :data:`KEEP_PIXELS` are halved until they fit.

    :raises BadDataError: anything that is not a whole JPEG, PNG or WebP picture of bounded size; one sentence.
    """
    if len(data) > MAX_BYTES:
        raise BadDataError(notes.PHOTO_TOO_LARGE)
    head = read_head(data)
    if not head.whole:
        raise BadDataError(notes.PHOTO_CUT_OFF)
    _check_size(head)
    image = _decode(data, head)
    if image is None or image.size == 0:
        raise BadDataError(notes.PHOTO_DAMAGED)
    return image


def read_photo_file(path: Path) -> ByteArray:
    """Return the picture in a file; see :func:`read_photo`.

    :raises BadDataError: the file cannot be read, or is no picture.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise BadDataError(notes.FILE_UNREADABLE) from error
    return read_photo(data)


def to_jpeg(image: ByteArray, quality: int = 88) -> bytes:
    """Return ``image`` (BGR or grey, uint8) as JPEG bytes without any metadata."""
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not done:
        raise BadDataError(notes.PHOTO_DAMAGED)
    return data.tobytes()


def _check_size(head: PictureHead) -> None:
    pixels = head.width * head.height
    held = head.format != "jpeg" or head.progressive
    if max(head.width, head.height) > MAX_SIDE or pixels > (MAX_PIXELS if held else MAX_PIXELS_BASELINE):
        raise BadDataError(notes.PHOTO_TOO_MANY_PIXELS)
    if min(head.width, head.height) < MIN_SIDE:
        raise BadDataError(notes.PHOTO_TOO_SMALL)


def _decode(data: bytes, head: PictureHead) -> ByteArray | None:
    buffer = np.frombuffer(data, np.uint8)
    pixels = head.width * head.height
    flag = cv2.IMREAD_COLOR
    if pixels > 4 * KEEP_PIXELS:
        flag = cv2.IMREAD_REDUCED_COLOR_4
    elif pixels > KEEP_PIXELS:
        flag = cv2.IMREAD_REDUCED_COLOR_2
    try:
        if head.alpha:
            layered = cv2.imdecode(buffer, cv2.IMREAD_UNCHANGED)
            if layered is not None and layered.ndim == 3 and layered.shape[2] == 4:
                return _over_white(layered)
        image: ByteArray | None = cv2.imdecode(buffer, flag)  # type: ignore[assignment]
    except (cv2.error, MemoryError):
        return None
    return image


def _over_white(layered: NDArray[Any]) -> ByteArray:
    if layered.dtype == np.uint16:
        layered = (layered >> 8).astype(np.uint8)
    alpha = layered[:, :, 3:].astype(np.uint16)
    colour = layered[:, :, :3].astype(np.uint16) * alpha + 255 * (255 - alpha)
    return ((colour + 127) // 255).astype(np.uint8)
