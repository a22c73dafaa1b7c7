"""When a picture is kept by itself, and how long: as the host sets, then the file goes; the journal keeps its hash."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DAY_S = 24 * 3600
PORTRAIT = 256
"""The side of a portrait, in pixels."""
Moment = tuple[str | None, str | None, int | None]
"""A match, its phase, and the round whose results are shown."""


def moment(view: Mapping[str, Any]) -> Moment:
    """Return where a view of the night (:meth:`companion.night.commands.night.Night.view`) stands."""
    match = view["match"]
    if match is None:
        return None, None, None
    return match["id"], match["phase"], match.get("results_round")


def worth_a_picture(before: Moment, now: Moment) -> bool:
    """Return whether the igloos were just left on the cards, or a round's result has just come to stand."""
    same = before[0] == now[0] and now[0] is not None
    return same and before[1] != now[1] and (now[1] == "checking" or before[1] == "checking")


def portrait(data: bytes) -> bytes:
    """Return the middle of a photo as a small square JPEG, without anything that the file said beside its pixels.

    :raises companion.ports.BadDataError: when it is no picture, in one sentence.
    """
    import cv2

    from vision.decode.photo import read_photo, to_jpeg

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
