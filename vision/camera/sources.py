"""Every way to get pictures, behind one Protocol: :func:`open_source` turns a text into a camera.

======================  =====================================================================================
``usb:0``, ``usb``      the first USB camera that is found (``usb:1`` the second …)
``/dev/video2``         a V4L2 device by its name (``/dev/v4l/by-id/…`` stays the same after replugging)
``pi``, ``pi:1``        the Raspberry Pi's camera, through rpicam-vid
``http://…``            an MJPEG stream; ``http://name:password@…`` where the camera asks for them
a path                  a photo, a folder of pictures in the order of their names, or a video
======================  =====================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from companion.ports import BadDataError, DeviceKind
from vision import messages
from vision.camera.frame import FPS, Camera, CapturedFrame
from vision.camera.mjpeg import HttpCamera
from vision.camera.pi import PiCamera
from vision.camera.usb import FoundCamera, UsbCamera, find_cameras
from vision.camera.video_file import VideoFile, is_video
from vision.decode.image_header import picture_type
from vision.decode.photo import MAX_BYTES, read_photo
from vision.messages import CameraError

__all__ = ["FPS", "FoundCamera", "find_cameras", "open_source"]

SUFFIXES: Final = frozenset({".jpg", ".jpeg", ".png", ".webp"})
_LONGEST: Final = 1000


def open_source(text: str, *, fps: float = FPS) -> Camera:
    """Return the camera that ``text`` names (see the table above); nothing is opened before its pictures are read.

    ``fps`` is how many pictures a second are wanted of it.

    :raises BadDataError: the text names no source, or a file that is no picture and no video.
    """
    text = text.strip()
    if not text or len(text) > _LONGEST or "\0" in text:
        raise BadDataError(messages.SOURCE_UNKNOWN)
    if match := re.fullmatch(r"usb(?::(\d{1,2}))?", text):
        return UsbCamera(text, fps, index=int(match[1] or 0))
    if match := re.fullmatch(r"pi(?::(\d))?", text):
        return PiCamera(int(match[1] or 0), fps)
    if re.match(r"https?://", text):
        return HttpCamera(text, fps)
    if text.startswith("/dev/"):
        return UsbCamera(text, fps, device=text)
    return _open_path(Path(text).expanduser(), fps)


def _open_path(path: Path, fps: float) -> Camera:
    try:
        if path.is_dir():
            return PictureFolder(path, fps)
        if not path.is_file():
            raise BadDataError(messages.SOURCE_UNKNOWN)
        with path.open("rb") as file:
            start = file.read(64)
    except OSError as error:
        raise BadDataError(messages.FILE_UNREADABLE) from error
    if is_video(start):
        return VideoFile(path, fps)
    picture_type(start)
    return PhotoFile(path, fps)


class PhotoFile(Camera):
    """One photo."""

    def __init__(self, path: Path, fps: float) -> None:
        """Name the file; read nothing yet."""
        super().__init__(str(path), DeviceKind.RECORDED, fps)
        self._path = path

    def capture(self) -> Iterator[CapturedFrame]:
        """Yield the photo, once.

        :raises CameraError: it cannot be read.
        """
        yield self._read(self._path)

    def _read(self, path: Path) -> CapturedFrame:
        try:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
            return self._captured(image=read_photo(data))
        except BadDataError as error:
            raise CameraError(str(error), path.name) from error
        except OSError as error:
            raise CameraError(messages.FILE_UNREADABLE, path.name) from error


class PictureFolder(PhotoFile):
    """A folder of pictures, in the order of their names; what is no picture is skipped and counted."""

    def capture(self) -> Iterator[CapturedFrame]:
        """Yield the pictures that lie in the folder now.

        :raises CameraError: there is none.
        """
        try:
            paths = sorted(p for p in self._path.iterdir() if p.suffix.lower() in SUFFIXES and p.is_file())
        except OSError as error:
            raise CameraError(messages.FILE_UNREADABLE, self._path.name) from error
        given = 0
        for path in paths:
            if self._closed.is_set():
                return
            try:
                captured = self._read(path)
            except CameraError:
                self.skipped += 1
                continue
            given += 1
            yield captured
        if not given:
            raise CameraError(messages.FOLDER_EMPTY, self._path.name)
