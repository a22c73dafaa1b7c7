"""A video file, read picture by picture in a child process with bounded memory and time (:mod:`vision.decode.sandbox`).

The child is handed the open file and nothing else, and gives up its rights before the first byte of it is read: what
a damaged or malicious video does to FFmpeg ends there.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

import numpy as np

from companion.ports import DeviceKind
from vision import messages
from vision.camera.frame import Camera, CapturedFrame
from vision.decode import sandbox_child as child
from vision.decode.image_header import is_heic
from vision.decode.photo import MAX_PIXELS
from vision.decode.sandbox import (
    SECONDS,
    TOO_MUCH,
    DamagedPictureError,
    TooMuchError,
    allowed_mb,
    ended_by,
    receive_into,
    received,
    start_child,
    wait_for,
)
from vision.messages import CameraError

if TYPE_CHECKING:
    from companion.ports import ByteArray

MEMORY_MB: Final = 512
"""What a video's decoder may take in all: it keeps up to sixteen pictures of the film besides the one it gives."""


class Film:
    """An open video and the child that reads it. One thread at a time; a context manager ends the child."""

    def __init__(self, file: BinaryIO, *, memory_mb: int = MEMORY_MB, seconds: int = SECONDS) -> None:
        """Start the child and have it open the video.

        :raises DamagedPictureError: it is no video that can be read.
        :raises TooMuchError: it takes more memory or time than it may.
        """
        self._memory_mb, self._seconds = memory_mb, seconds
        self._process, self._line = start_child("film", str(file.fileno()), files=(file.fileno(),))
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        try:
            wait_for(self._line)
            self._ask(wanted=False)
            became, rate, *size = child.FILM_OPENED.unpack(received(self._line, child.FILM_OPENED.size))
        except (OSError, EOFError) as error:
            raise self._died(error) from None
        if became != child.DONE:
            raise DamagedPictureError
        if not size[0] * size[1] <= MAX_PIXELS:
            raise TooMuchError
        self.rate = float(rate)
        """Pictures a second; 0 where the video does not say."""

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """Return the child."""
        return self._process

    def next(self, *, wanted: bool = True) -> ByteArray | None:
        """Go on by one picture and return it, (height, width, 3) BGR, uint8; None where it is not ``wanted``.

        :raises EOFError: there is no further picture.
        :raises DamagedPictureError: this one cannot be read; the next may be.
        :raises TooMuchError: it takes more memory or time than it may.
        """
        try:
            self._ask(wanted=wanted)
            became, height, width = child.ANSWER.unpack(received(self._line, child.ANSWER.size))
            image = None
            if became == child.DONE and wanted:
                if not 0 < height * width <= MAX_PIXELS:
                    raise TooMuchError
                image = np.empty((height, width, 3), np.uint8)
                receive_into(self._line, image.data.cast("B"))
        except (OSError, EOFError) as error:
            raise self._died(error) from None
        if became == child.ENDED:
            raise EOFError
        if became != child.DONE:
            raise TooMuchError if became == child.TOO_MUCH else DamagedPictureError
        return image

    def close(self) -> None:
        """End the child."""
        self._line.close()
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> Film:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the child."""
        self.close()

    def _ask(self, *, wanted: bool) -> None:
        self._line.settimeout(2.0 * self._seconds + 1)
        self._line.sendall(child.FILM_REQUEST.pack(allowed_mb(self._memory_mb), self._seconds, wanted))

    def _died(self, error: Exception) -> Exception:
        too_much = isinstance(error, TimeoutError) or ended_by(self._process) in TOO_MUCH
        return TooMuchError() if too_much else DamagedPictureError()


class VideoFile(Camera):
    """A video, read as fast as it is asked for; of its pictures about ``fps`` a second of film are given."""

    def __init__(self, path: Path, fps: float) -> None:
        """Name the file; open nothing yet."""
        super().__init__(str(path), DeviceKind.RECORDED, fps)
        self._path = path

    def capture(self) -> Iterator[CapturedFrame]:
        """Yield the film's pictures from its beginning to its end.

        :raises CameraError: it cannot be read, or takes too much.
        """
        try:
            with self._path.open("rb") as file, Film(file) as film:
                yield from self._grabs(film)
        except TooMuchError:
            raise CameraError(messages.VIDEO_TOO_MUCH, self._path.name) from None
        except (OSError, DamagedPictureError):
            raise CameraError(messages.VIDEO_UNREADABLE, self._path.name) from None

    def _grabs(self, film: Film) -> Iterator[CapturedFrame]:
        every = max(1, round(film.rate / self.fps)) if 0 < film.rate < 1000 else 1
        number = given = 0
        with suppress(EOFError):
            while not self._closed.is_set():
                try:
                    image = film.next(wanted=number % every == 0)
                except DamagedPictureError:
                    if film.process.poll() is not None:
                        raise
                    self.skipped += 1
                    image = None
                number += 1
                if image is not None:
                    given += 1
                    yield self._captured(image=image)
        if given == 0 and not self._closed.is_set():
            raise DamagedPictureError


def is_video(start: bytes) -> bool:
    """Return whether a file's first bytes are those of MP4, QuickTime, Matroska, WebM or AVI.

    FFmpeg alone would also follow playlists, which name other files and addresses.
    """
    return (
        (start[4:8] in {b"ftyp", b"moov", b"mdat", b"wide", b"free"} and not is_heic(start))
        or start[:4] == b"\x1a\x45\xdf\xa3"
        or (start[:4] == b"RIFF" and start[8:12] == b"AVI ")
    )
