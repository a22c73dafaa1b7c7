"""A database out of a backup that anybody may have made: its rows, in a fresh file of our own schema.

Whatever else such a file holds (triggers, views, indices, tables of other names) is left behind, and none of it acts:
see :mod:`companion.night.log.rows`. Summaries are left behind too, because they are read anew from the entries.
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import sqlite3
from collections.abc import Callable
from pathlib import Path

from companion.night.backup.messages import BackupError
from companion.night.log.chain import forge
from companion.night.log.data_folder import JOURNAL
from companion.night.log.database import StorageError, migrate
from companion.night.log.journal import SCHEMA
from companion.night.log.rows import Form, copy_table, distrusted, form, version_of
from companion.practice import book

TRAINING = "training.sqlite"
_CAUSES = {"disk-newer": "newer", "disk-foreign": "not-ours"}


@functools.cache
def _forms() -> dict[str, Form]:
    """Return what is known, by the file's name in the data folder; of all else nothing is ever opened."""

    def journal(version: int) -> Callable[[sqlite3.Connection], None]:
        return lambda db: migrate(db, SCHEMA, to=version)

    def training(statements: tuple[str, ...]) -> Callable[[sqlite3.Connection], None]:
        return lambda db: [db.executescript(one) for one in statements] and None

    versions = range(1, SCHEMA.version + 1)
    return {
        JOURNAL: form(SCHEMA.application_id, versions, map(journal, versions), ("person", "entry", "link")),
        TRAINING: form(book.APPLICATION_ID, range(1), map(training, book.forms()), book.TABLES),
    }


def adopt(path: Path, name: str, *, shown: str) -> None:
    """Put a fresh database with its rows in the place of one that came out of the backup ``shown`` as ``name``.

    A database of a name that the companion does not use stays a file like any other, which nobody opens.

    :raises BackupError: when it is none of ours, of a newer companion, or its rows do not fit.
    """
    known = _forms().get(name)
    if known is None:
        return
    fresh = path.with_name(f".{path.name}-{secrets.token_hex(4)}.part")
    os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with (
            distrusted(path) as source,
            contextlib.closing(sqlite3.connect(fresh, isolation_level=None)) as target,
        ):
            version = version_of(source, known, path.name)
            _make(target, name)
            # In the chain an entry whose text a card spoilt is told, and keeps its place.
            target.execute(f"PRAGMA ignore_check_constraints = {int(name == JOURNAL and version >= SCHEMA.linked)}")
            target.execute("BEGIN")
            for table in known.tables:
                copy_table(source, target, table)
            if name == JOURNAL and version < SCHEMA.linked:
                forge(target)
            if target.execute("PRAGMA foreign_key_check").fetchone() is not None:
                raise BackupError("broken", file=shown, part=name)
            target.execute("COMMIT")
            if name == JOURNAL and target.execute(SCHEMA.sound).fetchone() != (1,):
                raise BackupError("broken", file=shown, part=name)
        fresh.replace(path)
    except (sqlite3.Error, OverflowError) as error:
        raise BackupError("broken", file=shown, part=name) from error
    except StorageError as error:
        cause = _CAUSES.get(error.key, "broken")
        raise BackupError(cause, file=shown, part=name) from error
    finally:
        for part in (fresh, fresh.with_name(fresh.name + "-journal")):
            part.unlink(missing_ok=True)


def _make(target: sqlite3.Connection, name: str) -> None:
    target.execute("PRAGMA synchronous = FULL")
    target.execute(f"PRAGMA application_id = {_forms()[name].application_id}")
    if name == JOURNAL:
        migrate(target, SCHEMA)
        return
    for statement in book.forms()[0]:
        target.executescript(statement)
