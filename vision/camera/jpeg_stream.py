"""Cut a stream of bytes into JPEG pictures; no I/O here, so that every odd stream can be a test.

One cutter serves both multipart/x-mixed-replace over HTTP and the bare row of pictures that rpicam-vid writes. A
picture says itself where it ends, so nothing is asked of what stands between: cameras announce boundaries with or
without dashes, quoted, or wrong altogether, end lines in LF alone, and leave out or misstate Content-Length.
"""

from __future__ import annotations

from typing import Final

from companion.ports import BadDataError
from vision.decode.image_header import jpeg_head

MAX_PICTURE: Final = 8 * 1024 * 1024
MAX_PIXELS: Final = 13_000_000
_START: Final = b"\xff\xd8\xff"
_END: Final = b"\xff\xd9"


class JpegCutter:
    """Cuts pictures out of a stream, from anywhere inside it.

    ``skipped`` counts pictures that were cut short, too large or no JPEG inside; ``between`` the bytes that belonged
    to no picture since the last whole one. At most :data:`MAX_PICTURE` bytes and what one ``feed`` brings are held.
    """

    def __init__(self) -> None:
        """Start with nothing held."""
        self.skipped = 0
        self.between = 0
        self._held = bytearray()
        self._looked = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes, return the pictures that became whole."""
        self._held += data
        pictures: list[bytes] = []
        while self._find_start():
            if self._held.find(_END, max(0, self._looked - 1)) >= 0:
                # Some end mark arrived that was not looked at yet; whether it is the picture's own, the walk tells.
                self._looked = len(self._held)
                if self._cut(pictures):
                    continue
            self._looked = len(self._held)
            if len(self._held) <= MAX_PICTURE:
                break
            self._skip()
        return pictures

    def _find_start(self) -> bool:
        start = self._held.find(_START)
        drop = start if start >= 0 else max(0, len(self._held) - 2)
        if drop:
            self.between += drop
            del self._held[:drop]
            self._looked = 0
        return start >= 0

    def _cut(self, pictures: list[bytes]) -> bool:
        """Take the picture at the front, or skip it; return False where more of it must come first."""
        try:
            head = jpeg_head(bytes(self._held))
        except BadDataError:  # cut short: the walk ran into the next picture's start
            self._skip()
            return True
        if not head.whole:
            return False
        if head.width * head.height <= MAX_PIXELS:
            pictures.append(bytes(self._held[: head.end]))
            self.between = 0
        else:
            self.skipped += 1
        del self._held[: head.end]
        self._looked = 0
        return True

    def _skip(self) -> None:
        self.skipped += 1
        self.between += len(_START)
        del self._held[: len(_START)]
        self._looked = 0
