"""The Raspberry Pi's own camera, through ``rpicam-vid`` in a child process.

OpenCV cannot read CSI cameras, and apt's picamera2 is built for another numpy than OpenCV 5 needs; the program
writes JPEG pictures one behind the other on its standard output.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import subprocess
import time
from collections.abc import Iterator
from typing import Final

from companion.ports import DeviceKind
from vision import messages
from vision.camera.frame import Camera, CapturedFrame
from vision.camera.jpeg_stream import JpegCutter
from vision.messages import CameraError

PROGRAM: Final = "rpicam-vid"
PATIENCE_S: Final = 8.0
"""How long the program may take to its first picture, or be silent after it; the camera itself starts in about two."""
_CHUNK: Final = 64 * 1024
_TAIL: Final = 400


class PiCamera(Camera):
    """Camera ``number`` of this Raspberry Pi at 1280×960."""

    def __init__(self, number: int, fps: float) -> None:
        """Choose a camera by the number that ``rpicam-vid --list-cameras`` gives it; start nothing yet."""
        super().__init__(f"pi:{number}", DeviceKind.REAL, fps)
        self._camera = number

    def capture(self) -> Iterator[CapturedFrame]:
        """Start the program and yield pictures as they come.

        :raises CameraError: the program is missing, stopped, or sends nothing.
        """
        program = shutil.which(PROGRAM)
        if program is None:
            raise CameraError(messages.PI_PROGRAM_MISSING)
        arguments = [program, "--codec", "mjpeg", "-n", "-t", "0", "-o", "-", "--camera", str(self._camera)]
        arguments += ["--width", "1280", "--height", "960", "--framerate", f"{self.fps:g}", "--flush", "--verbose=0"]
        environment = {**os.environ, "LIBCAMERA_LOG_LEVELS": "*:ERROR"}
        try:
            child = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                bufsize=0,
            )
        except OSError as error:
            raise CameraError(messages.PI_STOPPED, str(error)) from error
        try:
            yield from self._read(child)
        finally:
            _end(child)

    def _read(self, child: subprocess.Popen[bytes]) -> Iterator[CapturedFrame]:
        cutter = JpegCutter()
        tail = b""
        heard = time.monotonic()
        skipped = 0
        if child.stdout is None or child.stderr is None:
            raise CameraError(messages.PI_STOPPED)
        with selectors.DefaultSelector() as pipes:
            pipes.register(child.stdout, selectors.EVENT_READ)
            pipes.register(child.stderr, selectors.EVENT_READ)
            while not self._closed.is_set():
                for key, _ in pipes.select(timeout=0.5):
                    data = os.read(key.fd, _CHUNK)
                    if key.fileobj is child.stderr:
                        tail = (tail + data)[-_TAIL:]
                        if not data:
                            pipes.unregister(child.stderr)
                        continue
                    if not data:
                        child.wait(timeout=PATIENCE_S)
                        raise CameraError(messages.PI_STOPPED, _last_line(tail))
                    pictures = cutter.feed(data)
                    self.skipped += cutter.skipped - skipped
                    skipped = cutter.skipped
                    if pictures:
                        heard = time.monotonic()
                        if self._is_due():
                            yield self._captured(jpeg=pictures[-1])
                if time.monotonic() - heard > PATIENCE_S:
                    raise CameraError(messages.CAMERA_SILENT, _last_line(tail))


def _last_line(tail: bytes) -> str:
    lines = [line.strip() for line in tail.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _end(child: subprocess.Popen[bytes]) -> None:
    for pipe in (child.stdout, child.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(timeout=2)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
