"""The camera of this table: one source at a time, changed while the service runs, and photos from phones beside it."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from companion.follow.messages import NOT_FROM_THE_PAGE
from companion.night.log.pictures import EvidenceStore
from companion.ports import BadDataError, CameraStatus, EvidencePicture, TableStatus
from companion.settings import Settings

if TYPE_CHECKING:
    from vision.camera.frame import CapturedFrame
    from vision.camera.watcher import CameraWatcher, Look

FROM_THE_PAGE = re.compile(r"usb(:\d{1,2})?|pi(:\d)?|/dev/video\d{1,3}|https?://\S{1,300}")
"""What a request may name; files and folders of this machine only its owner names, on the command line."""

NOW_S = 6.0
"""How old a picture may be to be one of now; a camera at rest is looked at every five seconds."""


class CameraService:
    """The newest picture and what its markers show. OpenCV is imported only when there is a picture to look at."""

    def __init__(
        self,
        settings: Settings,
        pictures: EvidenceStore,
        *,
        on_view: Callable[[], None],
        on_kept: Callable[[EvidencePicture], object] = lambda kept: None,
    ) -> None:
        """Watch nothing yet; ``on_kept`` enters a picture that was kept, ``on_view`` tells that there is news."""
        self._settings, self._pictures = settings, pictures
        self._on_view, self._on_kept = on_view, on_kept
        self._lock = threading.Lock()
        self._watcher: CameraWatcher | None = None
        self._source = ""
        self._given = 0

    def choose(self, text: str) -> None:
        """Watch another source that a page names, and remember it; an empty text: none.

        :raises BadDataError: for a text that names no source, or none that a page may name.
        """
        text = text.strip()
        if text and not FROM_THE_PAGE.fullmatch(text):
            raise BadDataError(NOT_FROM_THE_PAGE)
        self.use(text)
        self._settings.set({"camera_source": text})
        self._on_view()

    def use(self, text: str) -> None:
        """Watch another source; an empty text: none.

        :raises BadDataError: for a text that names no source.
        """
        text = text.strip()
        new = self._watch(text) if text else None
        with self._lock:
            old, self._watcher, self._source = self._watcher, new, text
        if old is not None:
            old.close()

    def status(self) -> CameraStatus | None:
        """Return how the camera is doing; None without a source or a photo."""
        watcher = self._watcher
        return watcher.status() if watcher is not None else None

    def table(self) -> TableStatus | None:
        """Return what the newest picture shows of the markers."""
        watcher = self._watcher
        look = watcher.look() if watcher is not None else None
        return _table(look) if look is not None else None

    def newest(self) -> CapturedFrame | None:
        """Return the newest picture as it came, not decoded yet."""
        watcher = self._watcher
        return None if watcher is None else watcher.newest()

    def jpeg(self, which: str) -> bytes | None:
        """Return the newest ``frame`` or straightened ``table`` as JPEG."""
        watcher = self._watcher
        if watcher is None:
            return None
        return watcher.table_jpeg() if which == "table" else watcher.frame_jpeg()

    def take_photo(self, data: bytes) -> TableStatus:
        """Take a photo that a phone sent as the newest picture.

        :raises BadDataError: when it is no picture, in one sentence.
        """
        with self._lock:
            watcher = self._watcher
            if watcher is None:
                watcher = self._watcher = self._watch("")
        table = _table(watcher.show_photo(data))
        self._on_view()
        return table

    def keep_evidence(self, *, fresh: bool = False) -> EvidencePicture | None:
        """Keep the newest picture beside the journal and enter it; with ``fresh`` only one that was not kept before.

        :raises companion.night.log.pictures.EvidenceError: when it cannot be written.
        """
        picture = self._evidence(fresh=fresh)
        if picture is None:
            return None
        data, found = picture
        kept = replace(found, sha256=self._pictures.keep(data, found.suffix))
        self._on_kept(kept)
        return kept

    def _evidence(self, *, fresh: bool) -> tuple[bytes, EvidencePicture] | None:
        """Return the newest straightened table, else the newest frame, as JPEG with what is to be noted of it.

        ``fresh``: only a picture of now, or one that was not returned before: an old photo is no witness of another
        round.
        """
        watcher = self._watcher
        if watcher is None:
            return None
        look = watcher.look()
        if fresh and (look is None or look.old):
            return None
        if fresh and look is not None and look.number == self._given and time.monotonic() - look.t > NOW_S:
            return None
        straight = look is not None and look.table is not None and not look.old
        data = watcher.table_jpeg(exact=True) if straight else watcher.frame_jpeg(exact=True)
        if data is None or look is None:
            return None
        self._given = look.number
        status = watcher.status()
        markers = tuple(sorted(look.now.markers))
        width, height = status.width, status.height
        if straight and look.table is not None and look.table.image is not None:
            height, width = look.table.image.shape[:2]
        return data, EvidencePicture("", ".jpg", width, height, look.source, look.kind, markers)

    def close(self) -> None:
        """Stop watching."""
        with self._lock:
            watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.close()

    def _watch(self, text: str) -> CameraWatcher:
        from vision.camera.watcher import CameraWatcher

        source = None
        if text:
            from vision.camera.sources import open_source

            source = open_source(text)
        return CameraWatcher(source, on_look=lambda _look: self._on_view()).start()


def _table(look: Look) -> TableStatus:
    return TableStatus(
        markers=tuple(sorted(look.now.markers)),
        missing=look.now.missing,
        straight=look.table is not None,
        number=look.number,
        note=look.now.note,
    )
