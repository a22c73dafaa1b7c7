"""The backups beside the journal as the host sees them: made, listed, taken away, and brought back."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from companion.night.backup.archive import BACKUPS, Manifest, examine, publish, read_manifest
from companion.night.backup.encryption import MAGIC, SUFFIX, is_encrypted, keep_passphrase, kept_passphrase, locked
from companion.night.backup.messages import BackupError
from companion.night.backup.restore import SPARE_BYTES, prepare
from companion.night.backup.scheduler import add_numbered, back_up_into, backups
from companion.night.log.data_folder import own_file, real_folder
from companion.night.log.database import StorageError

KEPT = 7
"""Backups made by hand make room for each other, and for those of the nights, only beyond so many."""

MOST_BROUGHT = 2 << 30
"""The largest file that is taken in as a backup, in bytes …"""
MOST_UNPACKED = 4 << 30
"""… and the most that may be in it."""
PIECE_BYTES = 4 << 20
"""It is sent in pieces of at most so many bytes."""

_DRAFT = ".brought.zip-"


class BackupForm(TypedDict):
    """A backup; ``made`` is in UTC milliseconds; of what cannot be read (not ``sound``) the rest is null.

    One that is ``locked`` is encrypted with another passphrase than the box keeps, so nobody knows how it is.
    """

    name: str
    bytes: int
    sound: bool
    encrypted: bool
    locked: bool
    made: int | None
    seq: int | None
    pictures: int | None
    companion: str | None


@dataclass(slots=True)
class _Coming:
    """A backup that is being brought: ``here`` of ``size`` bytes lie in ``draft``, ``last`` marks the last piece."""

    draft: Path
    size: int
    here: int = 0
    last: tuple[int, bytes] | None = None
    kept: BackupForm | None = None


class BackupRetention:
    """The backups of one data folder; ``keep()`` is how many the host keeps, ``again()`` starts the service anew."""

    def __init__(self, folder: Path, *, keep: Callable[[], int], again: Callable[[], None]) -> None:
        self._folder, self._keep, self._again = folder, keep, again
        self._lock = threading.Lock()
        self._coming: _Coming | None = None

    def all(self) -> list[BackupForm]:
        """Return every backup, the newest first."""
        found, passphrase = [], kept_passphrase(self._folder)
        for path in reversed(backups(self._folder / BACKUPS)):
            try:
                found.append(_form(path, read_manifest(path, passphrase=passphrase)))
            except (BackupError, OSError):
                found.append(_form(path, None, locked=locked(path, passphrase)))
        return found

    @property
    def encrypts(self) -> bool:
        """Return whether backups are encrypted from now on."""
        return bool(kept_passphrase(self._folder))

    def encrypt(self, passphrase: str) -> None:
        """Encrypt backups with a passphrase from now on; with an empty one no more. Those that are here stay.

        :raises companion.night.backup.messages.BackupError: when it is not fit.
        """
        keep_passphrase(self._folder, passphrase)

    def make(self) -> BackupForm:
        """Make a backup with everything, pictures too, and return it as :meth:`all` does.

        :raises companion.night.backup.messages.BackupError: when it could not be made.
        :raises companion.night.log.database.StorageError: when the journal is damaged or cannot be read.
        """
        place = self._folder / BACKUPS
        path, manifest = back_up_into(self._folder, place, keep=max(KEPT, self._keep()), pictures=True)
        return _form(path, manifest)

    def path(self, name: str) -> Path | None:
        """Return where the backup of that name lies; None when there is none."""
        return next((path for path in backups(self._folder / BACKUPS) if path.name == name), None)

    def bring_back(self, name: str, passphrase: str = "") -> None:
        """Have the service start anew with what a backup holds; what is there now is put aside, not lost.

        Without a ``passphrase`` an encrypted one is tried with the one that the box keeps.

        :raises KeyError: when there is none of that name.
        :raises companion.night.backup.messages.BackupError: when it is not sound, or there is no room; then all stays.
        """
        path = self.path(name)
        if path is None:
            raise KeyError(name)
        passphrase = passphrase or kept_passphrase(self._folder)
        prepare(path, self._folder, examine(path, passphrase=passphrase), passphrase)
        self._again()

    def take_in(self, piece: bytes, *, at: int, size: int, shown: str) -> tuple[int, BackupForm | None]:
        """Take in a piece of a backup that somebody brings, which begins at byte ``at`` of ``size``.

        Return how many bytes are here now and, with the last piece, the backup as :meth:`all` does: it was read to its
        end and checked, and lies beside the others. One under another passphrase than the box keeps lies there, too,
        and is checked when it is brought back. Nothing else changes. A piece that comes twice is taken once; the
        first piece of another file lets go of one that did not come to its end. ``shown`` is the file's name.

        :raises companion.night.backup.messages.BackupError: when the file is no sound backup or is too large, there is
        no
            room, or a piece is missing before this one; then it is let go of.
        """
        mark = at, hashlib.sha256(piece).digest()
        with self._lock:
            coming = self._coming
            if coming is not None and coming.size == size and coming.last == mark:
                return coming.here, coming.kept
            try:
                if at == 0:
                    coming = self._coming = self._begun(piece, size, shown)
                if coming is None or coming.size != size or coming.here != at or not 0 < len(piece) <= size - at:
                    raise BackupError("pieces-missing", file=shown)
                with os.fdopen(own_file(coming.draft, os.O_WRONLY | os.O_APPEND), "ab") as file:
                    file.write(piece)
                coming.here, coming.last = at + len(piece), mark
                if coming.here == size:
                    coming.kept = self._arrived(coming.draft, shown)
            except OSError as error:
                self._let_go()
                if isinstance(error, BackupError):
                    raise
                if isinstance(error, StorageError):  # a database in it that is none of ours
                    raise BackupError("not-ours", file=shown) from error
                raise BackupError("cannot-write", why=error.strerror or str(error)) from error
            return coming.here, coming.kept

    def _begun(self, piece: bytes, size: int, shown: str) -> _Coming:
        self._let_go()
        if not piece.startswith((b"PK", MAGIC)):
            raise BackupError("not-ours", file=shown)
        if size > MOST_BROUGHT:
            raise BackupError("too-large", file=shown, limit=MOST_BROUGHT >> 20)
        place = self._folder / BACKUPS
        real_folder(place, make=True)
        _room(place, size)
        draft = place / f"{_DRAFT}{os.getpid()}-{secrets.token_hex(4)}.part"
        os.close(own_file(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        return _Coming(draft, size)

    def _arrived(self, draft: Path, shown: str) -> BackupForm:
        """Check a file that is here as a whole, and put it beside the other backups."""
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        passphrase = kept_passphrase(self._folder)
        if locked(draft, passphrase):
            return self._laid(draft, None)
        unpacked = read_manifest(draft, shown=shown, passphrase=passphrase).size
        if unpacked > MOST_UNPACKED:
            raise BackupError("too-large", file=shown, limit=MOST_UNPACKED >> 20)
        _room(draft.parent, unpacked)
        with tempfile.TemporaryDirectory(dir=draft.parent, prefix=_DRAFT) as inside:
            manifest = examine(draft, unpack=Path(inside), shown=shown, passphrase=passphrase)
        return self._laid(draft, manifest)

    def _laid(self, draft: Path, manifest: Manifest | None) -> BackupForm:
        target, _ = add_numbered(draft.parent, is_encrypted(draft), lambda target: publish(draft, target))
        draft.unlink(missing_ok=True)
        return _form(target, manifest, locked=manifest is None)

    def _let_go(self) -> None:
        self._coming = None
        for left in (self._folder / BACKUPS).glob(f"{_DRAFT}*"):
            if left.is_dir():  # of a check that the power cut off
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)


def _room(place: Path, needed: int) -> None:
    free = shutil.disk_usage(place).free
    if free < needed + SPARE_BYTES:
        need = (needed + SPARE_BYTES) // 1_000_000 + 1
        raise BackupError("no-room", folder=place, need=need, free=free // 1_000_000)


def _form(path: Path, manifest: Manifest | None, *, locked: bool = False) -> BackupForm:
    return {
        "name": path.name,
        "bytes": path.stat().st_size,
        "sound": manifest is not None,
        "encrypted": path.name.endswith(SUFFIX),
        "locked": locked,
        "made": manifest.made if manifest is not None else None,
        "seq": manifest.seq if manifest is not None else None,
        "pictures": manifest.picture_count if manifest is not None else None,
        "companion": manifest.companion if manifest is not None else None,
    }
