"""The backups beside the journal as the host sees them: made, listed, taken away, and brought back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from companion.night.backup import BACKUPS, Manifest, examine, read_manifest
from companion.night.keeping import KeepingError
from companion.night.nightly import back_up_into, backups
from companion.night.restore import prepare

KEPT = 7
"""Backups made by hand make room for each other, and for those of the nights, only beyond so many."""


class Shelf:
    """The backups of one data folder; ``keep()`` is how many the host keeps, ``again()`` starts the service anew."""

    def __init__(self, folder: Path, *, keep: Callable[[], int], again: Callable[[], None]) -> None:
        self._folder, self._keep, self._again = folder, keep, again

    def all(self) -> list[dict[str, Any]]:
        """Return every backup, the newest first, as JSON.

        ``{"name", "bytes", "sound": bool, "made" | null: UTC milliseconds, "seq" | null, "pictures" | null: how many,
        "companion" | null}``; what cannot be read is not sound.
        """
        found = []
        for path in reversed(backups(self._folder / BACKUPS)):
            try:
                found.append(_form(path, read_manifest(path)))
            except (KeepingError, OSError):
                found.append(_form(path, None))
        return found

    def make(self) -> dict[str, Any]:
        """Make a backup with everything, pictures too, and return it as :meth:`all` does.

        :raises companion.night.keeping.KeepingError: when it could not be made.
        :raises companion.night.store.StorageError: when the journal is damaged or cannot be read.
        """
        place = self._folder / BACKUPS
        path, manifest = back_up_into(self._folder, place, keep=max(KEPT, self._keep()), pictures=True)
        return _form(path, manifest)

    def path(self, name: str) -> Path | None:
        """Return where the backup of that name lies; None when there is none."""
        return next((path for path in backups(self._folder / BACKUPS) if path.name == name), None)

    def bring_back(self, name: str) -> None:
        """Have the service start anew with what a backup holds; what is there now is put aside, not lost.

        :raises KeyError: when there is none of that name.
        :raises companion.night.keeping.KeepingError: when it is not sound, or there is no room; then all stays.
        """
        path = self.path(name)
        if path is None:
            raise KeyError(name)
        prepare(path, self._folder, examine(path))
        self._again()


def _form(path: Path, manifest: Manifest | None) -> dict[str, Any]:
    return {
        "name": path.name,
        "bytes": path.stat().st_size,
        "sound": manifest is not None,
        "made": manifest.made if manifest is not None else None,
        "seq": manifest.seq if manifest is not None else None,
        "pictures": manifest.picture_count if manifest is not None else None,
        "companion": manifest.companion if manifest is not None else None,
    }
