"""Backups that nobody has to think of: one a day beside the journal, and one on a USB stick that is plugged in.

Those beside the journal help when a file is damaged; they leave the pictures out and are few. A stick gets
everything, but only one that somebody has chosen for it: it carries a folder ``companion-backup`` (made by hand, or
by `companion backup --stick`). Backups are told apart by a running number, because the clock of a Pi jumps.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

from companion.night.backup.archive import BACKUPS, Manifest, back_up, clear_drafts, read_manifest
from companion.night.backup.encryption import SUFFIX, kept_passphrase
from companion.night.backup.messages import BackupError, message
from companion.night.log.data_folder import JOURNAL, real_folder
from companion.night.log.database import StorageError
from companion.night.log.journal import Journal
from companion.night.messages import Words

STICK_FOLDER = "companion-backup"
DAY_S = 20 * 3600.0
"""After so long another backup is due: a day, less what a shifted evening makes."""

RETRY_S = 3600.0
"""After a backup failed it is tried again so much later."""

ON_STICK = 5
"""Backups kept on a stick; older ones of ours make room."""

_NAME = re.compile(r"companion-(\d{4,9})-(\d{8}|no-date)\.zip(?:\.age)?")
_log = logging.getLogger(__name__)
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a backup: ``where`` is ``card`` or ``stick``; ``manifest`` is None where it failed."""

    where: str
    path: Path
    words: Words
    manifest: Manifest | None


def backups(folder: Path) -> list[Path]:
    """Return the backups in a folder, the oldest first, by their running number."""
    try:
        real_folder(folder)
        found = [
            (int(m[1]), path)
            for path in folder.iterdir()
            if (m := _NAME.fullmatch(path.name)) is not None and not path.is_symlink()
        ]
    except OSError:
        return []
    return [path for _, path in sorted(found)]


def next_name(folder: Path, now: float | None = None, *, encrypted: bool = False) -> str:
    """Return the name of a folder's next backup, such as ``companion-0007-20261120.zip``."""
    last = backups(folder)
    number = int(_NAME.fullmatch(last[-1].name)[1]) + 1 if last else 1  # type: ignore[index]
    date = time.strftime("%Y%m%d", time.gmtime(time.time() if now is None else now))
    return f"companion-{number:04d}-{date if date >= '2024' else 'no-date'}.zip{SUFFIX if encrypted else ''}"


def add_numbered(place: Path, encrypted: bool, make: Callable[[Path], _Made]) -> tuple[Path, _Made]:
    """Have ``make`` lay a backup under the folder's next name; where another one took that name meanwhile, the next.

    :raises BackupError: what ``make`` raises; ``exists`` only where something that is no backup has the name.
    """
    target = place / next_name(place, encrypted=encrypted)
    while True:
        try:
            return target, make(target)
        except BackupError as error:
            taken, target = target, place / next_name(place, encrypted=encrypted)
            if error.key != "exists" or target == taken:
                raise


def back_up_into(
    folder: Path,
    place: Path,
    *,
    keep: int | None,
    pictures: bool,
    passphrase: str | None = None,
    fill: Callable[[BinaryIO], Manifest] | None = None,
) -> tuple[Path, Manifest]:
    """Add a backup to a folder of backups and remove the oldest beyond ``keep`` (None: none of them).

    The rest as in :func:`companion.night.backup.archive.back_up`.

    :raises BackupError: when it could not be made; then none is removed.
    :raises companion.night.log.database.StorageError: when the journal is damaged or cannot be read.
    """
    try:
        real_folder(place, make=True)
    except OSError as error:
        raise BackupError("cannot-write", why=error.strerror or str(error)) from error
    clear_drafts(place)
    clear_drafts(folder)
    passphrase = kept_passphrase(folder) if passphrase is None else passphrase
    target, manifest = add_numbered(
        place,
        bool(passphrase),
        lambda target: back_up(folder, target, pictures=pictures, passphrase=passphrase, fill=fill),
    )
    if keep is None:
        return target, manifest
    made = backups(place)
    # What was made before something was damaged has it as it was: those make no room until it is mended.
    for old in made[:-keep] if fill is not None or sound(folder / JOURNAL) else made[keep:-keep]:
        try:
            old.unlink()
        except OSError as error:
            _log.warning("An old backup could not be removed: %s", error)
    return target, manifest


def sound(path: Path) -> bool:
    """Return whether nothing of a journal is known to be damaged or missing."""
    with contextlib.closing(Journal(path, read_only=True)) as journal:
        return not journal.damage and not journal.owned_up()


def sticks(
    mounts: Path = Path("/proc/self/mounts"),
    sys_root: Path = Path("/sys"),
    writable: Callable[[Path], bool] | None = None,
) -> list[Path]:
    """Return where USB sticks are mounted: file systems on USB disks, the companion's own card left out."""
    writable = writable or (lambda path: os.access(path, os.W_OK))
    found = []
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    for line in lines:
        device, place, *_ = line.split(" ")
        if not device.startswith("/dev/"):
            continue
        path = Path(re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), place))
        block = (sys_root / "class" / "block" / Path(device).name).resolve()
        on_usb = any(part.startswith("usb") for part in block.parts)
        system = path in {Path("/"), Path("/boot"), Path("/boot/firmware"), Path("/home"), Path("/var")}
        if on_usb and not system and path not in found and writable(path):
            found.append(path)
    return found


class BackupScheduler:
    """Looks every minute what is due. One thread calls :meth:`tend`; nothing here is thread-safe."""

    def __init__(
        self,
        folder: Path,
        *,
        last_seq: Callable[[], int],
        keep: Callable[[], int],
        use_sticks: Callable[[], bool],
        find_sticks: Callable[[], Iterable[Path]] = sticks,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare for a data folder. ``keep`` backups stay beside the journal (0: none is made)."""
        self._folder, self._last_seq = folder, last_seq
        self._keep, self._use_sticks, self._find_sticks = keep, use_sticks, find_sticks
        self._clock = clock
        self._card_seq: int | None = None
        self._card_due = clock()
        self._seen: dict[Path, tuple[int, float]] = {}

    def tend(self) -> list[Done]:
        """Make what is due and say what became of it; nothing is raised."""
        return [*self._card(), *self._sticks()]

    def _card(self) -> list[Done]:
        now, seq = self._clock(), self._last_seq()
        keep = self._keep()
        # At a start a day may have passed or not: the clock cannot be trusted, so the journal decides.
        if keep <= 0 or now < self._card_due or seq == self._card_seq:
            return []
        if self._card_seq is None and self._newest_seq() == seq:
            self._card_seq, self._card_due = seq, now + DAY_S
            return []
        done = self._make("card", self._folder / BACKUPS, keep, pictures=False)
        if done.manifest is not None:
            self._card_seq = done.manifest.seq
        self._card_due = now + (DAY_S if done.manifest is not None else RETRY_S)
        return [done]

    def _newest_seq(self) -> int | None:
        made = backups(self._folder / BACKUPS)
        if not made:
            return None
        try:
            return read_manifest(made[-1], passphrase=kept_passphrase(self._folder)).seq
        except BackupError:
            return None

    def _sticks(self) -> list[Done]:
        if not self._use_sticks():
            self._seen.clear()
            return []
        here = [path / STICK_FOLDER for path in self._find_sticks() if (path / STICK_FOLDER).is_dir()]
        self._seen = {place: seen for place, seen in self._seen.items() if place in here}
        results = []
        now, seq = self._clock(), self._last_seq()
        for place in here:
            known, due = self._seen.get(place, (-1, now))
            if now < due or known == seq:
                continue
            done = self._make("stick", place, ON_STICK, pictures=True)
            made = done.manifest is not None
            self._seen[place] = (done.manifest.seq if done.manifest else -1, now + (DAY_S if made else RETRY_S))
            results.append(done)
        return results

    def _make(self, where: str, place: Path, keep: int, *, pictures: bool) -> Done:
        failed = "stick-failed" if where == "stick" else "nightly-failed"
        try:
            path, manifest = back_up_into(self._folder, place, keep=keep, pictures=pictures)
        except BackupError as error:
            return Done(where, place, message(failed, why=error.words), None)
        except (StorageError, OSError) as error:
            return Done(where, place, message(failed, why=error), None)
        return Done(
            where,
            path,
            message("stick-chosen", file=path.name) if where == "stick" else made_words(path, manifest, name_only=True),
            manifest,
        )


def made_words(path: Path, manifest: Manifest, *, name_only: bool = False) -> Words:
    """Return the sentence for a backup that was made; guests are told its name, not where it lies."""
    size = round(path.stat().st_size / 1_000_000, 1)
    return message(
        "made", file=path.name if name_only else path, seq=manifest.seq, pictures=manifest.picture_count, size=size
    )
