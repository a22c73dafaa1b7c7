"""Shakes of the table's igloo that were answered, kept on the disk to be heard again: so many as the host sets.

A stored shake needs nothing but its number and the seed in the training book. One of the igloo is a file of its own;
when there is no room left the oldest goes, and the book's figures stay.
"""

from __future__ import annotations

import logging
import re
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from companion.ports import DeviceKind
from companion.practice.shakes import Shake

LSB_PER_G = 256.0
"""Kept in steps of the sensor's own finest: nothing that it felt is lost."""
NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
LONGEST = 64_000
"""A file with more samples than that is none of ours."""

log = logging.getLogger(__name__)


class StoredShakes:
    """The kept shakes of one folder (None: nothing is kept); ``limit()`` says how many at most."""

    def __init__(self, folder: Path | None, limit: Callable[[], int]) -> None:
        self._folder, self._limit = folder, limit
        self._lock = threading.Lock()

    @property
    def limit(self) -> int:
        """Return how many are kept."""
        return 0 if self._folder is None else self._limit()

    def keep(self, name: str, shake: Shake) -> None:
        """Keep the shake of a round; where there are too many the oldest goes. What the disk refuses is logged."""
        if self._folder is None or self._limit() <= 0 or not NAME.fullmatch(name):
            return
        accel = np.clip(np.rint(shake.accel * LSB_PER_G), -32768, 32767).astype(np.int16)
        new = self._folder / f".{name}.new"
        try:
            with self._lock:
                self._folder.mkdir(mode=0o700, exist_ok=True)
                with new.open("wb") as file:
                    np.savez_compressed(file, accel=accel, rate_hz=shake.rate_hz, kind=str(shake.kind))
                new.replace(self._folder / f"{name}.npz")
                self._make_room()
        except OSError as error:
            log.warning("A shake of the igloo is not kept: %s", error)

    def _make_room(self) -> None:
        assert self._folder is not None  # noqa: S101 - for the type checker
        files = sorted(self._folder.glob("*.npz"), key=lambda path: path.stat().st_mtime_ns)
        for path in files[: max(0, len(files) - self._limit())]:
            path.unlink(missing_ok=True)

    def has(self, name: str) -> bool:
        """Return whether the shake of a round is kept."""
        return self._folder is not None and bool(NAME.fullmatch(name)) and (self._folder / f"{name}.npz").exists()

    def shake(self, name: str) -> Shake | None:
        """Return the shake of a round, None where it is not kept or cannot be read."""
        if self._folder is None or not self.has(name):
            return None
        try:
            with (self._folder / f"{name}.npz").open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                accel, rate = arrays["accel"], float(arrays["rate_hz"])
                kind = DeviceKind(str(arrays["kind"]))
        except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile) as error:
            log.warning("A kept shake cannot be read: %s", error)
            return None
        if accel.dtype != np.int16 or accel.ndim != 2 or accel.shape[1] != 3 or not 2 <= len(accel) <= LONGEST:
            return None
        return Shake(accel / LSB_PER_G, rate, kind) if rate > 0 else None
