"""What can still be read of a damaged journal, written into a new one, so that the table plays on.

The damaged file is put aside as it is. An entry that cannot be read any more has its number kept by one that says
nothing (:data:`companion.night.log.journal.SPOILT`): what came after it keeps its number and its link, so the chain
tells which entries they were, and the mark, which stays, how many are missing at the end.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from companion.night.log.chain import COLUMNS, FIRST, MarkFile, link
from companion.night.log.data_folder import sync_folder
from companion.night.log.database import DamagedError, StorageError, explained, move_aside, open_database
from companion.night.log.journal import SCHEMA, SPOILT, Journal
from companion.night.log.rows import distrusted

MOST_LOST = 10_000
"""So many entries in a row are looked for one by one; a number that is further from the one before it was hit."""
PERSON = "id, name, since, colour, token, picture, same_as"
_TABLES = (("entry", (COLUMNS,)), ("link", ("seq, hash",)), ("person", (PERSON, "id, name, since")))
_UNREADABLE = (sqlite3.Error, UnicodeDecodeError)

log = logging.getLogger(__name__)


def open_or_salvage(path: Path) -> Journal:
    """Open a journal for writing; of a damaged one what can still be read, the rest put aside.

    :raises companion.night.log.database.StorageError: as :class:`companion.night.log.journal.Journal` does; of the
        damaged ones only that of which nothing tells that it was a journal of ours: it is left as it is.
    """
    try:
        return Journal(path)
    except DamagedError as error:
        salvage(path, error)
        return Journal(path)


def salvage(path: Path, error: DamagedError) -> None:
    """Put a damaged journal aside, and what is left of it in its place. Nobody else may have it open.

    :raises companion.night.log.database.DamagedError: ``error``, where there is nothing left of it, and no mark.
    """
    mark = MarkFile(path).read()
    with contextlib.ExitStack() as stack:
        tables: list[dict[int, Sequence[Any]]] = [{}, {}, {}]
        with contextlib.suppress(StorageError, OSError):
            tables = _readable(stack.enter_context(distrusted(path, rests=False)))
    entries, links, people = tables
    entries = _numbered(entries, 0 if mark is None else mark.seq)
    if not entries and mark is None:
        raise error
    new = path.with_name(f".{path.name}-{secrets.token_hex(4)}.new")
    try:
        with contextlib.closing(open_database(new, SCHEMA)) as db:
            _write(db, entries, links, people)
            db.execute("PRAGMA journal_mode = DELETE")
        # The mark stays where it is: it tells what is missing, also where the power goes now.
        aside = move_aside(path, keep_mark=True)
        new.replace(path)
        sync_folder(path.parent)
    except sqlite3.Error as failure:
        raise explained(failure, path) from failure
    finally:
        new.unlink(missing_ok=True)
    log.error("%s Now %s; %d entries of it could be read.", error, aside[0].name, len(entries))


def _readable(db: sqlite3.Connection) -> list[dict[int, Sequence[Any]]]:
    """Return what can be read of entries, links and people, by their rows' numbers."""
    with contextlib.suppress(*_UNREADABLE):
        # What of the schema is no statement any more is passed over.
        db.execute("PRAGMA writable_schema = ON")
    found = []
    for table, choices in _TABLES:
        rows: dict[int, Sequence[Any]] = {}
        for columns in choices:
            rows = rows or {row[0]: row[1:] for row in _rows(db, table, columns)}
        found.append(rows)
    return found


def _rows(db: sqlite3.Connection, table: str, columns: str) -> Iterator[Sequence[Any]]:
    """Yield the rows of a table that can be read: from its beginning, from its end, and one by one in between."""
    select = f"SELECT rowid, {columns} FROM {table} NOT INDEXED"  # noqa: S608 - names of ours
    first, last = 0, 0
    with contextlib.suppress(*_UNREADABLE):
        for row in db.execute(f"{select} ORDER BY rowid"):
            first = row[0]
            yield row
        return
    with contextlib.suppress(*_UNREADABLE):
        for row in db.execute(f"{select} ORDER BY rowid DESC"):
            if row[0] <= first:
                return
            last = row[0]
            yield row
    for number in range(first + 1, min(last, first + MOST_LOST)):
        with contextlib.suppress(*_UNREADABLE):
            yield from db.execute(f"{select} WHERE rowid = ?", (number,))


def _numbered(entries: dict[int, Sequence[Any]], acknowledged: int) -> dict[int, Sequence[Any]]:
    """Return the entries up to a hole that no damage makes: beyond it a number is one that was hit itself."""
    found: dict[int, Sequence[Any]] = {}
    newest = 0
    for seq in sorted(entries):
        if 0 < seq <= max(acknowledged, newest + MOST_LOST):
            found[seq] = entries[seq]
            newest = seq
    return found


def _write(
    db: sqlite3.Connection,
    entries: dict[int, Sequence[Any]],
    links: dict[int, Sequence[Any]],
    people: dict[int, Sequence[Any]],
) -> None:
    for pragma in ("ignore_check_constraints = ON", "foreign_keys = OFF"):
        db.execute(f"PRAGMA {pragma}")
    db.execute("BEGIN IMMEDIATE")
    for person in people.values():
        names = ", ".join(PERSON.split(", ")[: len(person)])
        with contextlib.suppress(sqlite3.IntegrityError):
            marks = ", ".join("?" * len(person))
            db.execute(f"INSERT INTO person ({names}) VALUES ({marks})", tuple(person))  # noqa: S608 - names of ours
    before, at = FIRST, 0
    into = f"INSERT INTO entry ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - names of ours
    for seq in range(1, max(entries, default=0) + 1):
        row = entries.get(seq)
        try:
            if row is not None:
                db.execute(into, (seq, *row[1:]))
                at = int(row[1])
        except sqlite3.IntegrityError:
            row = None
        if row is None:
            db.execute(into, (seq, at, SPOILT, "{}", "", "", None, None, None))
        stored = links.get(seq, (seq, None))[1]
        if not isinstance(stored, bytes):
            # Of an older program, which knew no links; what is not there fits no link.
            stored = FIRST if row is None else link(before, (seq, *row[1:]))
        db.execute("INSERT INTO link (seq, hash) VALUES (?, ?)", (seq, stored))
        before = stored
    db.execute("COMMIT")
