"""Takes a forgotten name out of what lies on this card: backups, written anew, and nights that a restore put aside.

A file that was put aside as damaged cannot be changed without harm to what it is kept for: the log names it.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Collection
from pathlib import Path

from companion.night.backup.archive import BACKUPS, FORMER, MANIFEST, add_part, examine, named_entry
from companion.night.backup.encryption import is_encrypted, kept_passphrase, sealed
from companion.night.backup.foreign import TRAINING
from companion.night.backup.messages import BackupError
from companion.night.backup.scheduler import backups
from companion.night.log.data_folder import JOURNAL, PEOPLE, own_file, real_folder, sync_folder
from companion.night.log.journal import blot

log = logging.getLogger(__name__)


def erase_name(folder: Path, people: Collection[str], name: str) -> None:
    """Forget ``people`` (ids of the journal), the trainer of that ``name``, and that name in notes, in every backup.

    In the nights that a restore put aside, too. What cannot be read is left as it is, and said in the log; a backup
    under which the disk fails stays whole.
    """
    for path in backups(folder / BACKUPS):
        try:
            _scrub(path, people, name, kept_passphrase(folder) if is_encrypted(path) else "")
        except (BackupError, OSError, sqlite3.Error) as error:
            log.warning("A forgotten name may still stand in the backup %s: %s", path.name, error)
    for former in sorted(folder.glob(f"{FORMER}*")):
        try:
            real_folder(former)
            for part in _forget(former, people, name) or ():
                (former / part).unlink(missing_ok=True)
        except (OSError, sqlite3.Error) as error:
            log.warning("A forgotten name may still stand in %s: %s", former.name, error)
    for path in sorted(folder.rglob("*.sqlite.damaged-*")):
        log.warning("A forgotten name may still stand in %s; delete it if you do not need it.", path.name)


def _scrub(path: Path, people: Collection[str], name: str, passphrase: str) -> None:
    draft = path.with_name(f".{path.name}-{os.getpid()}-{secrets.token_hex(4)}.part")
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".scrub-") as unpacked:
        inside = Path(unpacked)
        manifest = examine(path, unpack=inside, passphrase=passphrase)
        gone = _forget(inside, people, name)
        if gone is None:
            return
        try:
            with os.fdopen(own_file(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL), "w+b") as file:
                parts = []
                with (
                    sealed(file, passphrase) as plain,
                    zipfile.ZipFile(plain, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive,
                ):
                    for part in manifest.parts:
                        if part.name not in gone:
                            parts.append(add_part(archive, part.name, inside / part.name, part.changed))
                    manifest_form = {**manifest.to_json(), "files": [one.to_json() for one in parts]}
                    archive.writestr(named_entry(MANIFEST, packed=True), json.dumps(manifest_form, indent=1))
                file.flush()
                os.fsync(file.fileno())
            examine(draft, shown=path.name, passphrase=passphrase)
            shutil.copystat(path, draft)
            draft.replace(path)
            sync_folder(path.parent)
        finally:
            draft.unlink(missing_ok=True)


def _forget(inside: Path, people: Collection[str], name: str) -> set[str] | None:
    """Forget in the unpacked files; return the names of those that go; None when nothing of it was in them."""
    found = False
    gone: set[str] = set()
    with contextlib.closing(sqlite3.connect(inside / JOURNAL, isolation_level=None)) as db:
        columns = {row[1] for row in db.execute("PRAGMA table_info(person)")}
        own = [column for column in ("colour", "token", "picture") if column in columns]
        for person in people:
            if "picture" in columns:
                pictures = db.execute("SELECT picture FROM person WHERE id = ?", (person,)).fetchall()
                gone |= {f"{PEOPLE}/{sha256}.jpg" for (sha256,) in pictures if sha256 is not None}
            nothing = ", ".join(f"{column} = NULL" for column in ("name", *own))
            change = f"UPDATE person SET {nothing} WHERE id = ? AND name IS NOT NULL"  # noqa: S608 - names of ours
            found = db.execute(change, (person,)).rowcount > 0 or found
        db.execute("BEGIN")
        found = blot(db, name) > 0 or found
        db.execute("COMMIT")
        if found:
            db.execute("VACUUM")
    trainers = inside / TRAINING
    if trainers.exists():
        with contextlib.closing(sqlite3.connect(trainers, isolation_level=None)) as db:
            rows = db.execute("SELECT id, name FROM people WHERE name IS NOT NULL").fetchall()
            ids = [number for number, known in rows if str(known).casefold() == name.casefold()]
            for number in ids:
                db.execute("UPDATE people SET name = NULL WHERE id = ?", (number,))
            if ids:
                db.execute("VACUUM")
                found = True
    return gone if found else None
