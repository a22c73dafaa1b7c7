"""Rows of a file that is not trusted, copied into a fresh database of our own schema.

A database that somebody brings, or that a card damaged, is data and program in one: its triggers, views, generated
columns and indices act when it is used. So it is never used. It is opened for reading alone, its tables must have been
made by the very statements that ours are made by, their rows are read one after the other past every index, for at
most as many steps as its size allows, and written into a new file. Of its schema nothing comes along.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from companion.night.log.database import BUSY_TIMEOUT_S, DamagedError, explained, lenient, statements

LONGEST: Final = 16 << 20
"""No value in a database of ours has more bytes."""
STEPS_EVERY: Final = 10_000
"""So often, in steps of SQLite's machine, is looked whether it goes on for too long."""
STEPS: Final = 10_000_000
STEPS_A_BYTE: Final = 20
"""To read a row takes some thirty steps, and it has some dozen bytes; these are what no honest file comes near."""
_BATCH: Final = 1000


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of database: how each of its tables may have been made (statements without spaces that do not count).

    ``versions`` are those that can be read; ``needed`` the tables that are there in every version.
    """

    application_id: int
    versions: range
    tables: Mapping[str, frozenset[str]]
    needed: frozenset[str]


def form(
    application_id: int, versions: range, made: Iterable[Callable[[sqlite3.Connection], None]], copied: Sequence[str]
) -> Form:
    """Return the form of the databases that each of ``made`` makes in an empty one; the tables ``copied`` count."""
    found: dict[str, set[str]] = {}
    needed = set(copied)
    for make in made:
        with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
            make(db)
            here = statements(db)
        needed &= here.keys()
        for table in set(copied) & here.keys():
            found.setdefault(table, set()).add(here[table])
    tables = {table: frozenset(found[table]) for table in copied}
    return Form(application_id, versions, tables, frozenset(needed))


@contextlib.contextmanager
def distrusted(path: Path, *, rests: bool = True) -> Iterator[sqlite3.Connection]:
    """Open a file that nobody knows for reading; ``rests``: nobody writes it, and it has no write-ahead log.

    :raises companion.night.log.database.StorageError: for what SQLite refuses; also where it would never end.
    """
    steps = STEPS + STEPS_A_BYTE * path.stat().st_size
    done = 0

    def too_long() -> bool:
        nonlocal done
        done += STEPS_EVERY
        return done > steps

    uri = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if rests else ''}"
    try:
        with contextlib.closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_TIMEOUT_S)) as db:
            db.text_factory = lenient
            db.set_progress_handler(too_long, STEPS_EVERY)
            db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
            db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON", "mmap_size = 0"):
                db.execute(f"PRAGMA {pragma}")
            yield db
    except sqlite3.Error as error:
        raise explained(error, path) from error
    except UnicodeDecodeError as error:
        # A message of SQLite that names what it read in the schema, which is no text.
        raise DamagedError("disk-damaged", file=path.name) from error


def version_of(db: sqlite3.Connection, known: Form, name: str) -> int:
    """Return the version of a file that is of a kind that is known, in a form that is known.

    :raises companion.night.log.database.DamagedError: ``disk-foreign`` when it is not; ``disk-newer``.
    """
    (application_id,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if application_id != known.application_id or version < known.versions.start:
        raise DamagedError("disk-foreign", file=name)
    if version not in known.versions:
        raise DamagedError("disk-newer", file=name, version=version, known=known.versions.stop - 1)
    here = statements(db)
    if any(table in here and here[table] not in made for table, made in known.tables.items()):
        raise DamagedError("disk-foreign", file=name)
    if not known.needed <= here.keys():
        raise DamagedError("disk-foreign", file=name)
    return int(version)


def copy_table(source: sqlite3.Connection, target: sqlite3.Connection, table: str) -> None:
    """Copy the rows of a table whose statement is one of ours, in their order; nothing where there is no such table.

    :raises sqlite3.Error: for a row that does not fit our table.
    """
    columns = [str(row[1]) for row in source.execute(f"PRAGMA table_info({table})")]
    if not columns:
        return
    names = ", ".join(columns)
    rows = source.execute(f"SELECT {names} FROM {table} NOT INDEXED ORDER BY rowid")  # noqa: S608 - names of ours
    into = f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608
    while some := rows.fetchmany(_BATCH):
        target.executemany(into, some)
