"""Bringing nights back: checked first, swapped in one go, and what was there before is kept.

A restore may be cut off by the power as anything may. So it is staged: the backup is unpacked and checked in a
folder inside the data folder; a marker, written durably, then says that the swap has begun, and whoever opens the
data folder next finishes it (:func:`settle`). Until the marker is there, nothing has happened.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from companion.night.backup.archive import FORMER, STAGE, Manifest, examine, give_to_owner, held, kept
from companion.night.backup.messages import BackupError
from companion.night.log.chain import Damage, Mark, MarkFile
from companion.night.log.data_folder import EVIDENCE, JOURNAL, read_small, real_folder, sync_folder, write_small
from companion.night.log.journal import Journal
from companion.settings import OFFERED, SETTINGS, Settings, Value, read_settings, write_settings

SETTINGS_FILE = "settings.json"
MARK = "swap.json"
NEW = "new"
SPARE_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class RestoredNights:
    """What the nights are, now that a backup was brought back.

    ``damage`` is what of it was damaged when it was made, ``later`` how many confirmed entries of the former nights
    came after its last one, ``offered`` what it says of settings that were not taken.
    """

    damage: tuple[Damage, ...]
    later: int
    offered: Mapping[str, Value]


def restore(source: Path, folder: Path, passphrase: str = "") -> tuple[Manifest, Path]:
    """Put a backup in the place of a data folder's nights; return what it says and where the former ones lie.

    Pictures stay as they are where the backup was made without them; who may host, and the PIN, always do.

    :raises BackupError: when the backup is not sound, there is no room, or a service runs on the folder.
    """
    manifest = examine(source, passphrase=passphrase)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with held(folder):
            settle(folder)
            former = prepare(source, folder, manifest, passphrase)
            settle(folder)
    except OSError as error:
        if isinstance(error, BackupError):
            raise
        raise BackupError("cannot-write", why=error.strerror or str(error)) from error
    return manifest, former


def standing(folder: Path, former: Path) -> RestoredNights:
    """Look at the nights that :func:`restore` brought back as the service will: at its journal, chain and mark.

    :raises companion.night.log.database.StorageError: when the service could not open them.
    """
    with contextlib.closing(Journal(folder / JOURNAL, read_only=True)) as journal:
        damage, newest = journal.damage, journal.last_seq
    mark = MarkFile(former / JOURNAL).read()
    offered = Settings(folder / SETTINGS_FILE).offered()
    return RestoredNights(damage, max(0, mark.seq - newest) if mark is not None else 0, offered)


def prepare(source: Path, folder: Path, manifest: Manifest, passphrase: str = "") -> Path:
    """Unpack a backup beside the nights that are there, so that whoever opens the folder next brings it back.

    Return where the present nights will lie then.

    The holder of the data folder may call it, also while the nights are open; until then nothing of them changes.

    :raises BackupError: when the backup is not sound, or there is no room; then nothing is prepared.
    """
    try:
        free = shutil.disk_usage(folder).free
        if free < manifest.size + SPARE_BYTES:
            need = (manifest.size + SPARE_BYTES) // 1_000_000 + 1
            raise BackupError("no-room", folder=folder, need=need, free=free // 1_000_000)
        stage = folder / STAGE
        real_folder(stage)
        shutil.rmtree(stage, ignore_errors=True)
        try:
            stage.mkdir(mode=0o700)
            (stage / NEW).mkdir(mode=0o700)
            examine(source, unpack=stage / NEW, passphrase=passphrase)
            _acknowledge(stage / NEW / JOURNAL)
            _offer_settings(stage / NEW, folder)
            give_to_owner(stage, folder)
            former = _former(folder)
            _sync_tree(stage / NEW)
            _mark(stage, {"step": "out", "former": former.name, "pictures": manifest.pictures})
        except BaseException:
            shutil.rmtree(stage, ignore_errors=True)
            raise
    except OSError as error:
        if isinstance(error, BackupError):
            raise
        raise BackupError("cannot-write", why=error.strerror or str(error)) from error
    return former


def look_into(source: Path, passphrase: str = "") -> tuple[Manifest, tuple[Damage, ...]]:
    """Read a backup to its end, its databases too; return what it says, and what was damaged when it was made.

    What is sound here is what :func:`restore` brings back: both take the databases out in the same way.

    :raises BackupError: when it is not sound, or made by a newer companion.
    :raises companion.night.log.database.StorageError: when the service could not open its journal.
    """
    with tempfile.TemporaryDirectory(prefix="companion-look-") as place:
        manifest = examine(source, unpack=Path(place), pictures=False, passphrase=passphrase)
        with contextlib.closing(Journal(Path(place) / JOURNAL, read_only=True)) as journal:
            return manifest, journal.damage


def _acknowledge(path: Path) -> None:
    """Set the mark of a journal that is brought back on purpose: it ends where it ends."""
    with contextlib.closing(Journal(path, read_only=True)) as journal:
        marked = MarkFile(path)
        marked.write(Mark(journal.last_seq, journal.link_of(journal.last_seq)))
        marked.close()


def _offer_settings(new: Path, folder: Path) -> None:
    """Take of a backup's settings what is of the table; those of the machine stay, and what it says is offered."""
    path = new / SETTINGS_FILE
    brought, present = (_settings(one) for one in (path, folder / SETTINGS_FILE))
    local = {setting.name for setting in SETTINGS if setting.local}
    taken = {name: value for name, value in brought.items() if name not in local}
    taken.update({name: value for name, value in present.items() if name in local})
    if taken or path.exists():
        write_settings(path, taken)
    # One of a former restore goes, too.
    write_settings(new / OFFERED, {name: value for name, value in brought.items() if name in local})


def _settings(path: Path) -> dict[str, Value]:
    try:
        return read_settings(path)[0]
    except (OSError, ValueError):
        return {}


def settle(folder: Path) -> bool:
    """Finish a restore that was cut off, or clear away one that had not begun; return whether there was one.

    Call it before anything in the data folder is opened, while no service runs on it.
    """
    stage = folder / STAGE
    if stage.is_symlink() or not stage.is_dir():
        return False
    try:
        mark = json.loads(read_small(stage / MARK))
        former, pictures, step = folder / Path(mark["former"]).name, bool(mark["pictures"]), mark["step"]
    except (OSError, ValueError, KeyError, TypeError):
        shutil.rmtree(stage)
        return True
    if step == "out":
        real_folder(former, make=True)
        give_to_owner(former, folder)
        for entry in sorted(folder.iterdir()):
            log = entry.name.endswith(("-wal", "-shm", "-journal", ".mark")) and not entry.name.startswith("access.")
            if (kept(entry.name) or log) and not (entry.name == EVIDENCE and not pictures):
                entry.replace(former / entry.name)
        sync_folder(former)
        _mark(stage, {**mark, "step": "in"})
    for entry in sorted((stage / NEW).iterdir()):
        entry.replace(folder / entry.name)
    sync_folder(folder)
    shutil.rmtree(stage)
    sync_folder(folder)
    return True


def _former(folder: Path) -> Path:
    name = FORMER + time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    number = 1
    while (folder / name).exists():
        number += 1
        name = f"{name.split('_')[0]}_{number}"
    return folder / name


def _mark(stage: Path, what: dict[str, object]) -> None:
    write_small(stage / MARK, json.dumps(what))
    sync_folder(stage.parent)


def _sync_tree(top: Path) -> None:
    for folder, _, _ in os.walk(top):
        sync_folder(Path(folder))
