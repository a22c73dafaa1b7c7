"""How long pictures are kept: as long as the host sets, then the file goes; the journal keeps its hash."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

DAY_S = 24 * 3600
PORTRAIT = 256
"""The side of a portrait, in pixels."""


def portrait(data: bytes) -> bytes:
    """Return the middle of a photo as a small square JPEG, without anything that the file said beside its pixels.

    :raises companion.ports.BadDataError: when it is no picture, in one sentence.
    """
    import cv2

    from vision.photo import read_photo, to_jpeg

    image = read_photo(data)
    height, width = image.shape[:2]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    square = image[top : top + side, left : left + side]
    return to_jpeg(cv2.resize(square, (PORTRAIT, PORTRAIT), interpolation=cv2.INTER_AREA).astype("uint8"))


def forget_old(folder: Path, days: int, *, now: float | None = None) -> int:
    """Delete the pictures of a folder that are older than ``days`` (0: keep for ever); return how many went.

    A clock that stands before a picture's own time (a Pi without a clock, just booted) deletes nothing.
    """
    if days <= 0 or not folder.is_dir():
        return 0
    limit = (time.time() if now is None else now) - days * DAY_S
    gone = 0
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            if path.suffix in {".jpg", ".png"} and path.stat().st_mtime < limit:
                path.unlink()
                gone += 1
    return gone
