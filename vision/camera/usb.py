"""USB cameras (V4L2), through OpenCV.

A camera that sends JPEG gives its bytes as they are: they are decoded, when somebody looks, in the bounded child
process (:mod:`vision.decode.sandbox`). Only pictures without compression, whose size the kernel fixed, are converted
here.
"""

from __future__ import annotations

import fcntl
import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from companion.ports import DeviceKind
from vision import messages
from vision.camera.frame import Camera, CapturedFrame
from vision.messages import CameraError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray

# Set before the first use: what FFmpeg and V4L2 mutter goes nowhere near a person; our own sentence does.
os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")
os.environ.setdefault("OPENCV_VIDEOIO_V4L_SELECT_TIMEOUT", "5")

# linux/videodev2.h
_QUERYCAP: Final = 0x80685600
_CAPABILITY: Final = struct.Struct("16s32s32sIII12x")
_VIDEO_CAPTURE: Final = 0x00000001
_VIDEO_CAPTURE_MPLANE: Final = 0x00001000
_MEMORY_TO_MEMORY: Final = 0x00008000 | 0x00004000
_DEVICE_CAPS: Final = 0x80000000
# A Raspberry Pi lists its codecs, its image processor and the raw halves of the CSI camera as capture devices too.
_NO_CAMERAS: Final = ("bcm2835-", "unicam", "rp1-cfe", "pispbe", "rpi-", "rpivid")

_JPEG_FORMATS: Final = frozenset({cv2.VideoWriter.fourcc(*"MJPG"), cv2.VideoWriter.fourcc(*"JPEG")})
_END_OF_JPEG: Final = b"\xff\xd9"


@dataclass(frozen=True, slots=True)
class FoundCamera:
    """A camera that can be opened: ``source`` is what :func:`vision.camera.sources.open_source` takes."""

    source: str
    path: str
    name: str


def find_cameras(devices: Path = Path("/dev")) -> tuple[FoundCamera, ...]:
    """List the USB cameras, in the order of their devices, without starting or disturbing any.

    Each ``video*`` node is opened and asked for its capabilities (VIDIOC_QUERYCAP), which streams nothing and is
    allowed while another program streams.
    """
    found: list[FoundCamera] = []
    for path in sorted(devices.glob("video*"), key=lambda p: (len(p.name), p.name)):
        if re.fullmatch(r"video\d+", path.name) and (name := _camera_name(path)):
            found.append(FoundCamera(f"usb:{len(found)}", str(path), name))
    return tuple(found)


def _camera_name(path: Path) -> str:
    """Return the card's name, or nothing where the node is no camera or does not answer."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        answer = fcntl.ioctl(handle, _QUERYCAP, bytes(_CAPABILITY.size))
    except OSError:
        return ""
    finally:
        os.close(handle)
    return camera_name(answer)


def camera_name(answer: bytes) -> str:
    """Return the card's name out of a ``struct v4l2_capability`` (104 bytes), or nothing where it is no camera."""
    driver, card, _bus, _version, all_caps, device_caps = _CAPABILITY.unpack(answer)
    caps = device_caps if all_caps & _DEVICE_CAPS else all_caps
    words = _text(driver)
    if not caps & (_VIDEO_CAPTURE | _VIDEO_CAPTURE_MPLANE) or caps & _MEMORY_TO_MEMORY or words.startswith(_NO_CAMERAS):
        return ""
    return _text(card) or words


def _text(field: bytes) -> str:
    return field.split(b"\0")[0].decode("utf-8", "replace")


class UsbCamera(Camera):
    """A V4L2 camera, by its device or as the n-th that is found: then it may come back under another name."""

    def __init__(self, text: str, fps: float, *, device: str = "", index: int = 0) -> None:
        """Choose the camera; open nothing yet."""
        super().__init__(text, DeviceKind.REAL, fps)
        self._device, self._index = device, index

    def capture(self) -> Iterator[CapturedFrame]:
        """Open the camera at 1280×960 and yield pictures as they come.

        :raises CameraError: it is not there, is in use, or was unplugged.
        """
        capture = self._open()
        try:
            while not self._closed.is_set():
                # Every picture is taken off the queue, so that the next one is new; few are decoded.
                if not capture.grab():
                    raise CameraError(messages.CAMERA_LOST)
                if not self._is_due():
                    continue
                done, image = capture.retrieve()
                if not done or image is None or image.size == 0:
                    self.skipped += 1
                    continue
                if min(image.shape[:2]) == 1:
                    # Some cameras leave the end mark away; behind a picture's own end nobody reads a second one.
                    yield self._captured(jpeg=image.tobytes() + _END_OF_JPEG)
                else:
                    yield self._captured(image=_three_colours(image))
        finally:
            capture.release()

    def _open(self) -> cv2.VideoCapture:
        path = self._device
        if not path:
            found = find_cameras()
            if self._index >= len(found):
                raise CameraError(messages.CAMERA_NOT_FOUND)
            path = found[self._index].path
        if not Path(path).exists():
            raise CameraError(messages.CAMERA_NOT_FOUND, path)
        capture = cv2.VideoCapture(path, cv2.CAP_V4L2)
        if not capture.isOpened():
            capture.release()
            raise CameraError(messages.CAMERA_BUSY, path)
        # MJPEG first: raw pictures of this size do not fit through USB 2 at a useful rate.
        capture.set(cv2.CAP_PROP_FOURCC, float(cv2.VideoWriter.fourcc(*"MJPG")))
        capture.set(cv2.CAP_PROP_FRAME_WIDTH, 1280)
        capture.set(cv2.CAP_PROP_FRAME_HEIGHT, 960)
        capture.set(cv2.CAP_PROP_BUFFERSIZE, 2)
        if int(capture.get(cv2.CAP_PROP_FOURCC)) in _JPEG_FORMATS:
            capture.set(cv2.CAP_PROP_CONVERT_RGB, 0)
        return capture


def _three_colours(image: NDArray[Any]) -> ByteArray:
    if image.ndim == 2:
        image = cv2.cvtColor(image, cv2.COLOR_GRAY2BGR)
    return image.astype(np.uint8, copy=False)
