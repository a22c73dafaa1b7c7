"""A picture as a camera gave it, decoded only when somebody looks; and the base of all sources.

Most pictures of an idle table are looked at only in a small grey copy. So a source yields :class:`CapturedFrame` values
that hold the camera's own JPEG (or the decoded image, where that is all there is), and :meth:`Camera.frames` decodes.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

from companion.ports import BadDataError, CameraSource, DeviceKind, Frame
from vision.decode.image_header import jpeg_head
from vision.decode.photo import read_photo, read_small
from vision.decode.sandbox_child import SMALL_SIZE

if TYPE_CHECKING:
    from companion.ports import ByteArray

FPS: Final = 5.0
"""Pictures a second that are wanted of a camera."""


class CapturedFrame:
    """One picture: ``t`` in host seconds, ``number`` counting up; decoded when asked, and only once."""

    __slots__ = ("_image", "_small", "jpeg", "kind", "number", "source", "t")

    def __init__(
        self,
        *,
        t: float,
        number: int,
        source: str,
        kind: DeviceKind,
        jpeg: bytes = b"",
        image: ByteArray | None = None,
    ) -> None:
        """Hold either the camera's JPEG or the image (height, width, 3) in BGR."""
        self.t, self.number, self.source, self.kind = t, number, source, kind
        self.jpeg = jpeg
        self._image = image
        self._small: ByteArray | None = None

    def image(self) -> ByteArray:
        """Return the picture as (height, width, 3) BGR, uint8.

        :raises BadDataError: the JPEG cannot be decoded.
        """
        if self._image is None:
            self._image = read_photo(self.jpeg)
        return self._image

    def equals(self, other: CapturedFrame) -> bool:
        """Return whether this is the very same picture, to the byte: a real camera never takes one twice."""
        if self.jpeg or other.jpeg:
            return self.jpeg == other.jpeg
        if self._image is None or other._image is None or self._image.shape != other._image.shape:
            return False
        return bool(np.array_equal(self._image[::7, ::7], other._image[::7, ::7]))

    def size(self) -> tuple[int, int]:
        """Return (width, height) in pixels, without decoding; (0, 0) where the JPEG does not say."""
        if self._image is not None:
            return self._image.shape[1], self._image.shape[0]
        try:
            head = jpeg_head(self.jpeg)
        except BadDataError:
            return 0, 0
        return head.width, head.height

    def small(self) -> ByteArray:
        """Return a grey copy of the shape (120, 160), uint8, for little money; it is made once, and not to be changed.

        :raises BadDataError: the JPEG cannot be decoded.
        """
        if self._small is None:
            if self._image is not None:
                shrunk = cv2.resize(self._image, SMALL_SIZE, interpolation=cv2.INTER_AREA)
                grey = cv2.cvtColor(shrunk, cv2.COLOR_BGR2GRAY)
            else:
                grey = read_small(self.jpeg)
            self._small = grey.astype(np.uint8, copy=False)
        return self._small

    def frame(self) -> Frame:
        """Return the decoded picture as it travels between rooms.

        :raises BadDataError: the JPEG cannot be decoded.
        """
        return Frame(self.image(), self.t, self.number, self.source, self.kind)


class Camera(ABC):
    """The base of the sources: a name, a kind, and frames as they come.

    A source is a description until :meth:`capture` is called, which opens the device; after a
    :class:`~companion.ports.DeviceError` it may be called again to look for the device anew. ``fps`` is how many
    pictures a second are wanted of a live camera: what comes between is read and dropped undecoded.
    """

    def __init__(self, name: str, kind: DeviceKind, fps: float) -> None:
        """Name the source as a person would; open nothing."""
        self._name, self._kind = name, kind
        self.fps = fps
        self.skipped = 0
        self._closed = threading.Event()
        self._number = 0
        self._due = 0.0

    @property
    def name(self) -> str:
        """Return the source as a person would name it, without a password."""
        return self._name

    @property
    def kind(self) -> DeviceKind:
        """Return real or recorded."""
        return self._kind

    @property
    def live(self) -> bool:
        """Return whether pictures come by themselves; a recording is read at the reader's pace."""
        return self._kind is not DeviceKind.RECORDED

    @abstractmethod
    def capture(self) -> Iterator[CapturedFrame]:
        """Open the device and yield pictures as they come; end when closed or when a recording ends.

        :raises companion.ports.DeviceError: the device is missing or was lost.
        """

    def frames(self) -> Iterator[Frame]:
        """Yield decoded pictures as they come; what cannot be decoded is counted in ``skipped``."""
        for captured in self.capture():
            try:
                frame = captured.frame()
            except BadDataError:
                self.skipped += 1
                continue
            yield frame

    def close(self) -> None:
        """Free the device; a running :meth:`capture` ends."""
        self._closed.set()

    def _is_due(self) -> bool:
        """Return whether the next picture of a live camera is wanted yet."""
        now = time.monotonic()
        # A slightly early picture of a camera at just this rate must not halve the rate.
        early = 0.1 / self.fps
        if now < self._due - early:
            return False
        self._due = max(self._due, now - early) + 1 / self.fps
        return True

    def _captured(self, *, jpeg: bytes = b"", image: ByteArray | None = None) -> CapturedFrame:
        self._number += 1
        return CapturedFrame(
            t=time.monotonic(), number=self._number, source=self._name, kind=self.kind, jpeg=jpeg, image=image
        )


def captured_frames(source: CameraSource) -> Generator[CapturedFrame, None, None]:
    """Yield the captured frames of any source, of one of ours without decoding."""
    if isinstance(source, Camera):
        yield from source.capture()
        return
    for frame in source.frames():
        yield CapturedFrame(t=frame.t, number=frame.number, source=frame.source, kind=frame.kind, image=frame.image)
