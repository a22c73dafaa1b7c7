"""How a database of ours is opened: whole or not at all, private, durable, and never written over when damaged.

A file is checked through a read-only connection before anything could write to it, so that a damaged one stays
as it is for whoever wants to save what is left. SQLite's error codes become one sentence each.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from companion.night.log.data_folder import is_read_only, refusal, sync_folder, unlinked
from companion.night.messages import SENTENCES
from companion.ports import CompanionError

BUSY_TIMEOUT_S = 5.0
"""How long a writer waits for another process (`companion host` beside the service)."""


class StorageError(CompanionError, OSError):
    """The disk refused; nothing was written. ``key`` names the sentence."""

    def __init__(self, key: str, **facts: object) -> None:
        super().__init__(SENTENCES[key].en.format(**facts))
        self.key = key
        self.facts = facts


class DamagedError(StorageError):
    """A database is damaged or is none of ours; it was left as it is."""


@dataclass(frozen=True, slots=True)
class Schema:
    """A kind of database: ``application_id`` marks its files; ``migrations[n]`` are the steps to version n+1.

    A step is a statement, or a function that changes the database in the transaction it is called in.

    ``sound`` is a query that gives 1 for a file, of any version, that is whole in our own sense too. From the version
    ``linked`` on (0: never) rows are in a hash chain, which tells which of them changed: a row whose text became unfit
    damages no other, and the file is opened.
    """

    application_id: int
    migrations: tuple[tuple[str | Callable[[sqlite3.Connection], None], ...], ...]
    sound: str = "SELECT 1"
    linked: int = 0

    @property
    def version(self) -> int:
        """Return the version that this program writes."""
        return len(self.migrations)


def explained(error: sqlite3.Error, path: Path) -> StorageError:
    """Return the sentence for an error of SQLite."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    match code:
        case sqlite3.SQLITE_FULL:
            return StorageError("disk-full")
        case sqlite3.SQLITE_READONLY:
            return StorageError("disk-read-only")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StorageError("disk-busy")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return DamagedError("disk-damaged", file=path.name)
        case sqlite3.SQLITE_CANTOPEN:
            return StorageError("disk-cannot-open", file=str(path))
    refused = refusal(path.parent) if code == sqlite3.SQLITE_IOERR else None
    return StorageError("disk-failed", why=str(error)) if refused is None else unwritten(refused)


def unwritten(error: OSError) -> StorageError:
    """Return the sentence for a file that could not be written."""
    if error.errno == errno.EROFS:
        return StorageError("disk-read-only")
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return StorageError("disk-full")
    return StorageError("disk-failed", why=error.strerror or str(error))


def open_database(path: Path, schema: Schema, *, read_only: bool = False) -> sqlite3.Connection:
    """Open (and, unless ``read_only``, create or migrate) a database; the connection may be used from any thread.

    Transactions are explicit; WAL, synchronous=FULL: a commit that returned survives a power cut.

    :raises DamagedError: when the file is damaged, torn or foreign; it is left untouched.
    :raises StorageError: when it cannot be opened, was made by a newer program, or is missing and ``read_only``.
    """
    try:
        for part in ("", "-wal", "-shm", "-journal"):
            unlinked(path.with_name(path.name + part))
        if not path.exists():
            log = path.with_name(path.name + "-wal")
            if log.exists() and log.stat().st_size > 0:
                raise DamagedError("disk-half-missing", file=path.name)
            if read_only:
                raise StorageError("disk-cannot-open", file=str(path))
            _create(path, schema)
        if not read_only:
            _roll_back(path)
        _examine(path, schema)
        db = _connect(path, read_only=read_only)
        try:
            if not read_only:
                db.execute("PRAGMA journal_mode = WAL")
                migrate(db, schema)
            return db
        except BaseException:
            db.close()
            raise
    except sqlite3.Error as error:
        raise explained(error, path) from error
    except UnicodeDecodeError as error:
        # SQLite's message names what it read in the schema, which is no text any more.
        raise DamagedError("disk-damaged", file=path.name) from error
    except StorageError:
        raise
    except OSError as error:
        raise StorageError("disk-failed", why=error.strerror or str(error)) from error


def _connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rw'}"
    if read_only and _rests(path):
        uri += "&immutable=1"
    db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=BUSY_TIMEOUT_S)
    db.text_factory = lenient
    # An evening grows the file at its end: a quarter of a megabyte of it in memory is enough, 2 MB would fill up.
    for pragma in ("synchronous = FULL", "secure_delete = ON", "foreign_keys = ON", "cache_size = -256"):
        db.execute(f"PRAGMA {pragma}")
    return db


def lenient(text: bytes) -> str:
    """Return a text as it is kept; a bit that flipped at rest may have made it none."""
    return text.decode("utf-8", "replace")


def plain(statement: str) -> str:
    """Return a statement of a schema without spaces that do not count."""
    return " ".join(statement.split())


def _rests(path: Path) -> bool:
    """Return whether a database was closed and its card can no longer be written: then it is read without its log."""
    if any(path.with_name(path.name + part).exists() for part in ("-wal", "-shm")):
        return False
    refused = refusal(path.parent)
    return refused is not None and refused.errno == errno.EROFS


def _create(path: Path, schema: Schema) -> None:
    """Make the file under another name and link it into place, so that an empty file of that name is always damage."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}-{secrets.token_hex(4)}.new")
    os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        db = _connect(new, read_only=False)
        try:
            db.execute(f"PRAGMA application_id = {schema.application_id}")
            migrate(db, schema)
        finally:
            db.close()
        try:
            os.link(new, path)
        except FileExistsError:
            return  # another process was quicker; its file is as good
        except OSError:
            new.replace(path)  # a card formatted as FAT knows no links
        sync_folder(path.parent)
    finally:
        new.unlink(missing_ok=True)
        new.with_name(new.name + "-journal").unlink(missing_ok=True)


def _roll_back(path: Path) -> None:
    """Let SQLite undo what a power cut left half done before the file had its log (WAL): a reader alone cannot."""
    if path.stat().st_size == 0 or not path.with_name(path.name + "-journal").exists():
        return
    db = _connect(path, read_only=False)
    try:
        db.execute("PRAGMA user_version").fetchone()
    finally:
        db.close()


def _examine(path: Path, schema: Schema) -> None:
    if path.stat().st_size == 0:
        raise DamagedError("disk-damaged", file=path.name)
    db = _connect(path, read_only=True)
    try:
        db.execute("PRAGMA trusted_schema = OFF")
        (application_id,) = db.execute("PRAGMA application_id").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if application_id != schema.application_id:
            raise DamagedError("disk-foreign", file=path.name)
        if version > schema.version:
            raise StorageError("disk-newer", file=path.name, version=version, known=schema.version)
        # Before anything in it could act: a trigger or a view that we did not make, or one of ours that is gone.
        if version < 1 or statements(db) != _made(schema, version):
            raise DamagedError("disk-damaged", file=path.name)
        # It is ours, word for word: its checks may call SQLite's functions for JSON.
        db.execute("PRAGMA trusted_schema = ON")
        linked = 0 < schema.linked <= version
        if integrity(db, linked=linked) or db.execute(schema.sound).fetchone() != (1,):
            raise DamagedError("disk-damaged", file=path.name)
    finally:
        db.close()


def statements(db: sqlite3.Connection) -> dict[str, str]:
    """Return what a database consists of: the statement that made each object, by the object's name."""
    rows = db.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    return {str(name): plain(str(sql)) for name, sql in rows if not str(name).startswith("sqlite_")}


@functools.cache
def _made(schema: Schema, version: int) -> Mapping[str, str]:
    """Return what a database of this version consists of."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        migrate(db, schema, to=version)
        return statements(db)


def integrity(db: sqlite3.Connection, *, linked: bool = False) -> list[str]:
    """Return what SQLite's own check finds wrong, nothing when the file is sound.

    ``linked``: rows are in a hash chain, which tells better which of them have an unfit text.
    """
    found = [str(row[0]) for row in db.execute("PRAGMA integrity_check(20)")]
    return [one for one in found if one != "ok" and not (linked and one.startswith("CHECK constraint failed"))]


def migrate(db: sqlite3.Connection, schema: Schema, *, to: int | None = None) -> None:
    """Bring a database to the version of this program (or ``to``), each version in a transaction of its own.

    Where a statement fails, closing the connection undoes its transaction; the caller does that.
    """
    (version,) = db.execute("PRAGMA user_version").fetchone()
    for number, steps in enumerate(schema.migrations[version:to], start=version + 1):
        db.execute("BEGIN IMMEDIATE")
        for step in steps:
            if callable(step):
                step(db)
            else:
                db.execute(step)
        db.execute(f"PRAGMA user_version = {number}")
        db.execute("COMMIT")


@contextlib.contextmanager
def transaction(db: sqlite3.Connection, path: Path) -> Iterator[sqlite3.Connection]:
    """Write all or nothing: durable when the block has ended, undone when it fails.

    :raises StorageError: for what SQLite refuses, and where the card is read-only.
    """
    # A kernel that makes a card read-only goes on to take what is written to open files, says that it is durable
    # (ext4's fsync is none there), and forgets it with the power.
    if is_read_only(path.parent):
        raise StorageError("disk-read-only")
    try:
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            db.execute("COMMIT")
        except BaseException:
            # On a full disk SQLite has already undone it by itself.
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
    except sqlite3.Error as error:
        raise explained(error, path) from error


def move_aside(path: Path, *, keep_mark: bool = False) -> Sequence[Path]:
    """Move a damaged database and its companions aside (but for its mark, with ``keep_mark``); return the new paths."""
    mark = time.strftime("damaged-%Y%m%d-%H%M%S", time.gmtime())
    moved = []
    for suffix in ("", "-wal", "-shm", "-journal", *(() if keep_mark else (".mark",))):
        part = path.with_name(path.name + suffix)
        if part.exists():
            target = path.with_name(f"{path.name}.{mark}{suffix}")
            if target.exists():
                target = path.with_name(f"{path.name}.{mark}-{secrets.token_hex(2)}{suffix}")
            part.replace(target)
            moved.append(target)
    return moved
