"""Bringing nights back: checked first, swapped in one go, and what was there before is kept.

A restore may be cut off by the power as anything may. So it is staged: the backup is unpacked and checked in a
folder inside the data folder; a marker, written durably, then says that the swap has begun, and whoever opens the
data folder next finishes it (:func:`settle`). Until the marker is there, nothing has happened.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

from companion.night.backup.archive import FORMER, STAGE, Manifest, examine, give_to_owner, held, kept
from companion.night.backup.messages import BackupError
from companion.night.log.data_folder import EVIDENCE, sync_folder, write_small

MARK = "swap.json"
NEW = "new"
SPARE_BYTES = 16 << 20


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
        shutil.rmtree(stage, ignore_errors=True)
        try:
            (stage / NEW).mkdir(mode=0o700, parents=True)
            examine(source, unpack=stage / NEW, passphrase=passphrase)
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


def settle(folder: Path) -> bool:
    """Finish a restore that was cut off, or clear away one that had not begun; return whether there was one.

    Call it before anything in the data folder is opened, while no service runs on it.
    """
    stage = folder / STAGE
    if not stage.is_dir():
        return False
    try:
        mark = json.loads((stage / MARK).read_text(encoding="utf-8"))
        former, pictures, step = folder / mark["former"], bool(mark["pictures"]), mark["step"]
    except (OSError, ValueError, KeyError, TypeError):
        shutil.rmtree(stage)
        return True
    if step == "out":
        former.mkdir(mode=0o700, exist_ok=True)
        give_to_owner(former, folder)
        for entry in sorted(folder.iterdir()):
            log = entry.name.endswith(("-wal", "-shm", ".mark")) and not entry.name.startswith("access.")
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
