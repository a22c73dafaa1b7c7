"""A thread that watches one camera: its health, its newest picture, and the newest straightened table.

What is costly is done seldom: pictures are compared as small grey copies, the markers are looked for when something
changed (at most twice a second) or every five seconds, and JPEG is encoded only when somebody asks. While nobody
listens and nobody has asked for ten seconds, pictures are read and dropped undecoded.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

from companion.ports import (
    BadDataError,
    CameraSource,
    CameraStatus,
    DeviceError,
    DeviceKind,
    DeviceState,
    Frame,
    TableView,
)
from vision import messages
from vision.board.marker_plane import MarkerPlane
from vision.board.markers import IDS, MarkersFound, find_markers, plane_of, view_of
from vision.camera.frame import FPS, Camera, CapturedFrame, captured_frames
from vision.camera.stillness import difference
from vision.decode.photo import read_photo, to_jpeg
from vision.messages import CameraError

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray

LOOK_EVERY_S: Final = 0.5
CALM_EVERY_S: Final = 5.0
LIT_EVERY_S: Final = 2.0
BEHIND_S: Final = 2.0
"""Whoever asks after a while gets a look that is no older."""
ENCODE_EVERY_S: Final = 0.25
REQUESTED_S: Final = 10.0
SILENT_S: Final = 3.0
FROZEN_S: Final = 6.0
RETRY_S: Final = (0.5, 5.0)
_BLACK: Final = 16
_CHANGED: Final = 12


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at the table gave.

    ``now`` is what this picture shows; ``table`` the newest view in which all four markers were found (maybe this
    one). ``old`` says that it is not this one: markers are hidden, and the table is shown as it was at
    ``table_t``. ``number`` counts looks up; ``source`` and ``kind`` say where the picture came from.
    """

    number: int
    t: float
    now: TableView
    table: TableView | None
    table_t: float
    old: bool
    source: str
    kind: DeviceKind


class CornerSmoother:
    """Averages marker corners while nothing moves, and lets go of the average at once when a marker moved.

    The table's plane is fitted anew only when the averaged corners have left where they were at the last fit, so the
    straightened picture stays still to the pixel while the table does.
    """

    def __init__(self) -> None:
        """Start with no marker seen."""
        self._means: dict[int, tuple[FloatArray, int]] = {}
        self._fitted: tuple[FloatArray, MarkerPlane] | None = None
        self._frame = (0, 0)

    def smooth(self, found: MarkersFound, frame: tuple[int, int]) -> MarkersFound:
        """Return the markers with averaged corners; ``frame`` is the picture's (width, height)."""
        if frame != self._frame:
            self._means, self._fitted, self._frame = {}, None, frame
        still = max(frame) / 1280
        corners: dict[int, FloatArray] = {}
        for number, new in found.corners.items():
            mean, count = self._means.get(number, (new, 0))
            if np.abs(new - mean).max() > still:
                mean, count = new, 0
            count = min(count + 1, 8)
            mean = mean + (new - mean) / count
            self._means[number] = (mean, count)
            corners[number] = mean
        return MarkersFound(corners, found.doubled, found.mirrored)

    def plane(self, found: MarkersFound, image: ByteArray) -> MarkerPlane | str:
        """Return the table's plane for smoothed markers, the former one where they have not moved."""
        if found.missing or found.doubled or found.mirrored:
            return plane_of(found, image)
        laid = np.concatenate([found.corners[n] for n in IDS])
        if self._fitted is not None and np.abs(laid - self._fitted[0]).max() < 0.12 * max(self._frame) / 1280:
            return self._fitted[1]
        plane = plane_of(found, image)
        self._fitted = None if isinstance(plane, str) else (laid, plane)
        return plane


class CameraWatcher:
    """Watches a camera from a thread of its own; every method may be called from any thread.

    ``on_look`` is called after every look at the table, from that thread (or from the one that asked), and must not
    raise. Without a source, only photos that are
    shown to it count. Holds one picture, one straightened table and one JPEG of each: its memory does not grow.
    """

    def __init__(self, source: CameraSource | None = None, *, on_look: Callable[[Look], None] | None = None) -> None:
        """Prepare to watch; :meth:`start` begins."""
        self._source = source
        self._on_look = on_look
        self._fps = source.fps if isinstance(source, Camera) else FPS
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._looking = threading.Lock()
        self._thread: threading.Thread | None = None
        self._state, self._note, self._detail = DeviceState.SEARCHING, messages.CAMERA_SEARCHING, ""
        if source is None:
            self._state, self._note = DeviceState.MISSING, messages.NO_CAMERA
        self._newest: CapturedFrame | None = None
        self._times: deque[float] = deque(maxlen=16)
        self._changed_t = 0.0
        self._black = False
        self._requested_t = float("-inf")
        self._lit_t = float("-inf")
        self._calm = False
        self._small: ByteArray | None = None
        self._smoother = CornerSmoother()
        self._look: Look | None = None
        self._looked: CapturedFrame | None = None
        self._encoders = {"frame": _Encoder(), "table": _Encoder()}

    def start(self) -> CameraWatcher:
        """Begin to watch; return the watcher itself."""
        if self._source is not None and self._thread is None:
            self._thread = threading.Thread(target=self._run, name=f"camera {self._source.name}", daemon=True)
            self._thread.start()
        return self

    def close(self) -> None:
        """Stop watching and free the camera."""
        self._closed.set()
        if self._source is not None:
            self._source.close()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=10)
        self._set_state(DeviceState.MISSING, messages.CAMERA_CLOSED)

    def __enter__(self) -> CameraWatcher:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- what others ask ---

    def status(self) -> CameraStatus:
        """Return how the camera is doing now; a silent, frozen or black one is said to be so."""
        with self._lock:
            captured, now = self._newest, time.monotonic()
            state, note, detail = self._health(now)
            times = list(self._times)
        live = self._is_live()
        fps = (len(times) - 1) / (times[-1] - times[0]) if live and len(times) > 2 and times[-1] > times[0] else 0.0
        if state is not DeviceState.CONNECTED and state is not DeviceState.FAULTY:
            fps = 0.0
        width, height = captured.size() if captured is not None else (0, 0)
        name = self._source.name if self._source is not None else (captured.source if captured is not None else "")
        kind = self._source.kind if self._source is not None else DeviceKind.RECORDED
        skipped = self._source.skipped if isinstance(self._source, Camera) else 0
        return CameraStatus(name, kind, state, width, height, round(fps, 1), note, detail, skipped)

    def look(self) -> Look | None:
        """Return the newest look at the table, ``old`` where the camera is silent or lost; None before the first."""
        self._ask()
        with self._lock:
            look = self._look
            gone = self._health(time.monotonic())[0] in {DeviceState.MISSING, DeviceState.SILENT}
        return replace(look, old=True) if look is not None and gone else look

    def newest(self) -> CapturedFrame | None:
        """Return the newest picture as it came, not decoded yet; None before the first."""
        with self._lock:
            return self._newest

    def frame(self) -> Frame | None:
        """Return the newest picture, decoded; None before the first, or where it cannot be decoded."""
        with self._lock:
            captured = self._newest
        if captured is None:
            return None
        try:
            return captured.frame()
        except BadDataError:
            return None

    def frame_jpeg(self, *, exact: bool = False) -> bytes | None:
        """Return the newest picture as JPEG without metadata; at most four a second are encoded anew.

        ``exact``: not one of a moment ago, however soon the newest follows it.
        """
        self._requested_t = time.monotonic()
        with self._lock:
            captured = self._newest
        if captured is None:
            return None
        try:
            return self._encoders["frame"].encode(captured.source, captured.number, captured.image, exact=exact)
        except BadDataError:
            return None

    def table_jpeg(self, *, exact: bool = False) -> bytes | None:
        """Return the newest straightened table as JPEG, which may be :attr:`Look.old`; None before the first.

        ``exact`` as in :meth:`frame_jpeg`.
        """
        look = self.look()
        if look is None or look.table is None or look.table.image is None:
            return None
        image = look.table.image
        return self._encoders["table"].encode(look.source, look.number, lambda: image, exact=exact)

    def show_photo(self, data: bytes, source: str = "photo") -> Look:
        """Take a photo that somebody sent as the newest picture, and look at it.

        :raises BadDataError: it is no picture, or too large a one; one sentence.
        """
        image = read_photo(data)
        with self._lock:
            number = self._newest.number + 1 if self._newest is not None else 1
            captured = CapturedFrame(
                t=time.monotonic(), number=number, source=source, kind=DeviceKind.RECORDED, image=image
            )
            self._newest = captured
            if self._source is None:
                self._state, self._note, self._detail = DeviceState.CONNECTED, messages.PHOTO_SHOWN, ""
        # Another picture from another place: nothing is averaged with it, and no old table stands in for it.
        return self._look_at(captured, fresh=True)

    # --- the thread ---

    def _run(self) -> None:
        source = self._source
        if source is None:
            return
        wait = RETRY_S[0]
        while not self._closed.is_set():
            try:
                with contextlib.closing(captured_frames(source)) as frames:
                    for captured in frames:
                        wait = RETRY_S[0]
                        self._take(captured)
                        if self._closed.is_set() or (not self._is_live() and self._closed.wait(1 / self._fps)):
                            return
                if not self._is_live():
                    self._set_state(DeviceState.CONNECTED, messages.CAMERA_ENDED)
                    return
                self._set_state(DeviceState.MISSING, messages.CAMERA_LOST)
            except CameraError as error:
                self._set_state(DeviceState.MISSING, error.note, error.detail)
            except DeviceError as error:
                self._set_state(DeviceState.MISSING, messages.CAMERA_LOST, str(error))
            self._closed.wait(wait)
            wait = min(2 * wait, RETRY_S[1])

    def _is_live(self) -> bool:
        if isinstance(self._source, Camera):
            return self._source.live
        return self._source is not None and self._source.kind is not DeviceKind.RECORDED

    def _set_state(self, state: DeviceState, note: str, detail: str = "") -> None:
        with self._lock:
            self._state, self._note, self._detail = state, note, " ".join(detail.split())[:200]
            if state is DeviceState.MISSING:
                self._times.clear()

    def _health(self, now: float) -> tuple[DeviceState, str, str]:
        if self._state is not DeviceState.CONNECTED or not self._is_live() or not self._times:
            return self._state, self._note, self._detail
        if now - self._times[-1] > max(SILENT_S, 3 / self._fps):
            return DeviceState.SILENT, messages.CAMERA_SILENT, ""
        if self._black:
            return DeviceState.FAULTY, messages.CAMERA_BLACK, ""
        if now - self._changed_t > FROZEN_S:
            return DeviceState.FAULTY, messages.CAMERA_FROZEN, ""
        return self._state, self._note, self._detail

    def _take(self, captured: CapturedFrame) -> None:
        former = self._newest
        same = former is not None and captured.equals(former)
        with self._lock:
            self._newest = captured
            self._times.append(captured.t)
            self._state, self._note, self._detail = DeviceState.CONNECTED, messages.CAMERA_RUNS, ""
            if not same:
                self._changed_t = captured.t
        with contextlib.suppress(BadDataError, cv2.error):
            if captured.t - self._lit_t > LIT_EVERY_S:
                self._lit_t = captured.t
                self._black = bool(np.quantile(captured.small(), 0.99) < _BLACK)
            if self._on_look is not None or captured.t - self._requested_t <= REQUESTED_S:
                self._consider(captured, same)

    def _consider(self, captured: CapturedFrame, same: bool) -> None:
        """Look at the table if the picture changed, or if the last look is a while ago."""
        since = captured.t - self._looked.t if self._looked is not None else float("inf")
        if since < LOOK_EVERY_S or (since < CALM_EVERY_S and same and self._calm):
            return
        small = captured.small()
        self._calm = not self._differs(small)
        if since >= CALM_EVERY_S or not self._calm:
            self._small = small
            self._look_at(captured)

    def _differs(self, small: ByteArray) -> bool:
        return self._small is None or difference(small, self._small) > _CHANGED

    def _look_at(self, captured: CapturedFrame, *, fresh: bool = False) -> Look:
        with self._looking:
            if self._look is not None and captured is self._looked and not fresh:
                return self._look  # another thread has looked at it meanwhile: a picture has one look
            image = captured.image()
            smoother = CornerSmoother() if fresh else self._smoother
            found = smoother.smooth(find_markers(image), (image.shape[1], image.shape[0]))
            now = view_of(image, found, smoother.plane(found, image))
            with self._lock:
                former = self._look
                number = former.number + 1 if former is not None else 1
                if now.image is not None:
                    look = Look(number, captured.t, now, now, captured.t, False, captured.source, captured.kind)
                elif former is None or former.table is None or fresh or former.source != captured.source:
                    look = Look(number, captured.t, now, None, 0.0, False, captured.source, captured.kind)
                else:
                    look = Look(
                        number, captured.t, now, former.table, former.table_t, True, captured.source, captured.kind
                    )
                self._look, self._looked = look, captured
        if self._on_look is not None:
            self._on_look(look)
        return look

    def _ask(self) -> None:
        """Note that somebody is interested, and catch up where nobody was."""
        now = time.monotonic()
        idle = self._on_look is None and now - self._requested_t > REQUESTED_S
        self._requested_t = now
        with self._lock:
            captured, looked = self._newest, self._looked
        if (
            captured is not None
            and captured is not looked
            and (looked is None or (idle and captured.t - looked.t > BEHIND_S))
        ):
            with contextlib.suppress(BadDataError, cv2.error):
                self._look_at(captured)


class _Encoder:
    """Encodes each picture once, and not too often."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of = ("", -1)
        self._t = float("-inf")
        self._jpeg = b""

    def encode(self, source: str, number: int, image: Callable[[], ByteArray], *, exact: bool = False) -> bytes:
        with self._lock:
            now = time.monotonic()
            due = exact or source != self._of[0] or now - self._t >= ENCODE_EVERY_S
            if due and (source, number) != self._of:
                self._jpeg = to_jpeg(image())
                self._of, self._t = (source, number), now
            return self._jpeg
