"""The journal: an append-only list of what happened, in SQLite.

An entry that :meth:`Journal.append` returned is on the card: WAL and synchronous=FULL make the commit survive a
power cut, and triggers refuse to change or remove what is written; only a forgotten name is taken out of notes that
people wrote by hand (:func:`blot`). What a card loses or changes all the same is noticed when the journal is opened
(:mod:`companion.night.log.chain`). Entries are numbered 1, 2, 3 …; the number is
the order, the clock is only told (a Raspberry Pi has no battery: its clock may jump). Names of people stand in a
table of their own and bodies hold their ids, so that somebody can be forgotten while the scores stay.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import re
import sqlite3
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from companion.night.log.chain import COLUMNS, NOTES, Damage, Mark, MarkFile, damage, forge, last_link, link
from companion.night.log.data_folder import own_file
from companion.night.log.database import Schema, StorageError, explained, integrity, open_database, transaction

SCHEMA = Schema(
    application_id=0x49674C75,  # "IgLu"
    migrations=(
        (
            """CREATE TABLE entry (
                 seq INTEGER PRIMARY KEY CHECK (seq > 0),
                 at INTEGER NOT NULL,
                 kind TEXT NOT NULL CHECK (kind <> ''),
                 body TEXT NOT NULL CHECK (json_valid(body)),
                 by TEXT NOT NULL,
                 by_role TEXT NOT NULL,
                 action_id TEXT,
                 asked TEXT,
                 device_kind TEXT
               ) STRICT""",
            "CREATE UNIQUE INDEX entry_action ON entry (action_id) WHERE action_id IS NOT NULL",
            "CREATE INDEX entry_kind ON entry (kind, seq)",
            """CREATE TRIGGER entry_follows BEFORE INSERT ON entry
               WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM entry)
                 OR EXISTS (SELECT 1 FROM entry WHERE action_id = NEW.action_id)
               BEGIN SELECT RAISE(ABORT, 'the journal only grows at its end'); END""",
            """CREATE TRIGGER entry_stays BEFORE UPDATE ON entry
               BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END""",
            """CREATE TRIGGER entry_remains BEFORE DELETE ON entry
               BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END""",
            """CREATE TABLE person (
                 id TEXT PRIMARY KEY,
                 name TEXT,
                 since INTEGER NOT NULL
               ) STRICT""",
        ),
        (
            "ALTER TABLE person ADD COLUMN colour TEXT",
            "ALTER TABLE person ADD COLUMN token TEXT",
            "ALTER TABLE person ADD COLUMN picture TEXT",
            "ALTER TABLE person ADD COLUMN same_as TEXT REFERENCES person (id)",
            # What a night that is over came to, by its first entry: a reading of the journal, kept to save time.
            """CREATE TABLE summary (
                 first INTEGER PRIMARY KEY,
                 last INTEGER NOT NULL,
                 told TEXT NOT NULL CHECK (json_valid(told))
               ) STRICT""",
        ),
        (
            # Apart from the entries, so that those of older programs are linked without being touched.
            "CREATE TABLE link (seq INTEGER PRIMARY KEY, hash BLOB NOT NULL) STRICT",
            forge,
            """CREATE TRIGGER link_stays BEFORE UPDATE ON link
               BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END""",
            """CREATE TRIGGER link_remains BEFORE DELETE ON link
               BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END""",
        ),
    ),
    sound="SELECT count(*) = 0 OR (min(seq) = 1 AND max(seq) = count(*)) FROM entry",
    linked=3,
)

PROFILE = ("name", "colour", "token", "picture")
"""What may be kept of a person, each None where nothing is."""

BLOT = "…"

SPOILT = "spoilt"
"""The kind of an entry that cannot be read any more."""
LOST = "entries-lost"
"""The kind of the entry that says which entries before it are missing: ``{"first", "last"}``, as they were numbered."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened.

    ``at`` is UTC milliseconds as the clock said; ``seq`` counts 1, 2, 3 … without a gap and is the order. ``by``
    and ``by_role`` tell who; ``action_id`` is the sender's mark of the action and ``request_digest`` a digest of what
    was asked under it; ``device_kind`` is ``real``, ``recorded`` or ``simulated`` where a device spoke.
    """

    seq: int
    at: int
    kind: str
    body: Mapping[str, Any]
    by: str
    by_role: str
    action_id: str | None = None
    request_digest: str | None = None
    device_kind: str | None = None


def wall_clock() -> int:
    """Return the wall time in UTC milliseconds."""
    return time.time_ns() // 1_000_000


class Journal:
    """The journal of a data folder: one writer, any number of read-only readers. Thread-safe.

    Opening checks the whole file first. A damaged one is reported and left as it is;
    :func:`companion.night.log.database.move_aside` puts it away where somebody asks for that.
    """

    def __init__(self, path: Path, *, read_only: bool = False, clock: Callable[[], int] = wall_clock) -> None:
        """Open a journal, and make it if there is none.

        :raises companion.night.log.database.DamagedError: when it is damaged, in one sentence.
        :raises companion.night.log.database.StorageError: when it cannot be opened, or another process writes it.
        """
        self.path = path
        self.damage: tuple[Damage, ...] = ()
        """What was not as it was acknowledged when it was opened."""
        self._clock = clock
        self._saved = True
        self._lock = threading.RLock()
        self._writer: int | None = None if read_only else _claim(path)
        try:
            self._db = open_database(path, SCHEMA, read_only=read_only)
        except BaseException:
            self._release()
            raise
        self._mark = MarkFile(path)
        try:
            with self._reading():
                self._last_seq = self._newest()
                self.damage = self._damage()
                self._last_link = last_link(self._db, self._last_seq) if self._linked() else b""
            if self._writer is not None and not any(one.missing for one in self.damage):
                # Of a folder of an older program, and where the mark lagged behind.
                self._remember()
        except BaseException:
            self.close()
            raise

    def append(
        self,
        kind: str,
        body: Mapping[str, Any],
        *,
        by: str = "",
        by_role: str = "",
        action_id: str | None = None,
        request_digest: str | None = None,
        device_kind: str | None = None,
        people: Mapping[str, str] | None = None,
    ) -> Entry:
        """Write an entry and return it; it is durable when this returns.

        ``people`` (id to name) are made known in the same transaction.

        :raises companion.night.log.database.StorageError: when it could not be written; then nothing was.
        """
        text = _text(body)
        with self._lock:
            entry = Entry(
                self._last_seq + 1,
                self._clock(),
                kind,
                json.loads(text),
                by,
                by_role,
                action_id,
                request_digest,
                device_kind,
            )
            row = (entry.seq, entry.at, kind, text, by, by_role, action_id, request_digest, device_kind)
            with transaction(self._db, self.path) as db:
                for person, name in (people or {}).items():
                    db.execute("INSERT INTO person (id, name, since) VALUES (?, ?, ?)", (person, name, entry.at))
                db.execute(f"INSERT INTO entry ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)  # noqa: S608
                following = link(self._last_link, row)
                db.execute("INSERT INTO link (seq, hash) VALUES (?, ?)", (entry.seq, following))
            # Only now: what a full card refused is no link of the chain.
            self._last_seq, self._last_link, self._saved = entry.seq, following, False
            self._remember()
            return entry

    def _remember(self) -> None:
        """Note outside the journal that the last entry is acknowledged."""
        try:
            self._mark.write(Mark(self._last_seq, self._last_link))
        except OSError as error:
            # The entry is on the card; a mark that lags behind is no fault.
            log.warning("The journal's mark could not be written: %s", error.strerror or error)

    def own_up(self) -> Entry | None:
        """Write down which acknowledged entries are missing, so that it stays said; return that entry, if any are."""
        lost = [one for one in self.damage if one.missing]
        if not lost:
            return None
        return self.append(LOST, {"first": lost[0].first, "last": lost[-1].last, "link": lost[-1].link.hex()})

    def owned_up(self) -> list[Damage]:
        """Return what was found missing at former starts in the night that goes on."""
        found = []
        # Where all was lost, it stands before the night that then began.
        for entry in self.since(self.last_of("open-night") - 2):
            if entry.kind == LOST:
                with contextlib.suppress(KeyError, TypeError, ValueError):
                    known = bytes.fromhex(str(entry.body.get("link", "")))
                    found.append(Damage(int(entry.body["first"]), int(entry.body["last"]), missing=True, link=known))
        return found

    def link_of(self, seq: int) -> bytes:
        """Return the link of an entry; that before the first where there is none."""
        with self._lock, self._reading():
            return last_link(self._db, seq)

    def checkpoint(self) -> None:
        """Bring what lies in the write-ahead log only into the file itself, where it is not read meanwhile.

        :raises companion.night.log.database.StorageError: when the card refuses.
        """
        with self._lock, self._reading():
            if not self._saved:
                busy, logged, moved = self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                self._saved = not busy and logged == moved

    @property
    def last_seq(self) -> int:
        """Return the number of the last entry, 0 when there is none."""
        with self._lock, self._reading():
            if self._writer is None:
                self._last_seq = self._newest()
            return self._last_seq

    def rested_ms(self) -> int:
        """Return how long ago the last entry was written, as the clock says: after a jump of it, anything."""
        with self._lock, self._reading():
            (at,) = self._db.execute("SELECT coalesce(max(seq), 0), at FROM entry").fetchone()[1:]
        return 0 if at is None else self._clock() - int(at)

    def since(self, seq: int = 0, *, before: int | None = None) -> list[Entry]:
        """Return the entries after ``seq`` (and up to, not including, ``before``), in order."""
        end = before if before is not None else 2**62
        with self._lock, self._reading():
            rows = self._db.execute(
                f"SELECT {COLUMNS} FROM entry WHERE seq > ? AND seq < ? ORDER BY seq",  # noqa: S608
                (seq, end),
            ).fetchall()
        return [_entry(row) for row in rows]

    def of_action(self, action_id: str) -> Entry | None:
        """Return the entry that an action made, if it made one."""
        with self._lock, self._reading():
            row = self._db.execute(
                f"SELECT {COLUMNS} FROM entry WHERE action_id = ?",  # noqa: S608
                (action_id,),
            ).fetchone()
        return _entry(row) if row is not None else None

    def last_of(self, kind: str, *, before: int | None = None) -> int:
        """Return the number of the last entry of a kind (before the entry ``before``), 0 when there is none."""
        end = before if before is not None else 2**62
        with self._lock, self._reading():
            (seq,) = self._db.execute(
                "SELECT coalesce(max(seq), 0) FROM entry WHERE kind = ? AND seq < ?", (kind, end)
            ).fetchone()
        return int(seq)

    def people(self) -> dict[str, str | None]:
        """Return everybody by id with their name; None for somebody who was forgotten.

        Ids that are the same person have the same name.
        """
        with self._lock, self._reading():
            return dict(
                self._db.execute(
                    """SELECT one.id, coalesce(other.name, one.name) FROM person AS one
                       LEFT JOIN person AS other ON other.id = one.same_as ORDER BY one.since, one.id"""
                ).fetchall()
            )

    def same(self) -> dict[str, str]:
        """Return the ids that turned out to be somebody else's, with the one that stands for both."""
        with self._lock, self._reading():
            return dict(self._db.execute("SELECT id, same_as FROM person WHERE same_as IS NOT NULL").fetchall())

    def profiles(self) -> list[dict[str, Any]]:
        """Return everybody once, those who came first first: ``{"id", "since", …}`` and what :data:`PROFILE` names."""
        with self._lock, self._reading():
            rows = self._db.execute(
                f"SELECT id, since, {', '.join(PROFILE)} FROM person WHERE same_as IS NULL ORDER BY since, id"  # noqa: S608
            ).fetchall()
        return [dict(zip(("id", "since", *PROFILE), row, strict=True)) for row in rows]

    def add_person(self, person: str, name: str) -> None:
        """Make somebody known who has not played yet."""
        with self._lock, transaction(self._db, self.path) as db:
            db.execute("INSERT INTO person (id, name, since) VALUES (?, ?, ?)", (person, name, self._clock()))

    def name_person(self, person: str, name: str | None) -> bool:
        """Give somebody another name, or with None forget it; return whether there is such a person."""
        return self.draw_person(person, {"name": name})

    def draw_person(self, person: str, what: Mapping[str, str | None]) -> bool:
        """Change what is kept of a person (:data:`PROFILE`; None: forget it); return whether there is such a person."""
        with self._lock:
            found = False
            with transaction(self._db, self.path) as db:
                for field in PROFILE:
                    if field in what:
                        change = f"UPDATE person SET {field} = ? WHERE id = ?"  # noqa: S608 - a name of ours
                        found = db.execute(change, (what[field], person)).rowcount > 0
            if None in what.values():
                self._wipe()
        return found

    def merge_people(self, person: str, into: str) -> None:
        """Say that ``person`` was ``into`` all along; what was kept of the former goes."""
        with self._lock:
            with transaction(self._db, self.path) as db:
                db.execute("UPDATE person SET same_as = ? WHERE id = ? OR same_as = ?", (into, person, person))
                nothing = ", ".join(f"{field} = NULL" for field in PROFILE)
                db.execute(f"UPDATE person SET {nothing} WHERE id = ?", (person,))  # noqa: S608 - names of ours
            self._wipe()

    def blot(self, name: str) -> int:
        """Take a forgotten name out of the notes, as :func:`blot` does; return in how many of them it stood."""
        with self._lock:
            with transaction(self._db, self.path) as db:
                found = blot(db, name)
            self._wipe()
        return found

    def _wipe(self) -> None:
        # The old name must leave the write-ahead log too, not only the table.
        with self._reading():
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def nights(self) -> list[tuple[int, int]]:
        """Return the first and the last number of every night, oldest first."""
        with self._lock, self._reading():
            begun = [
                int(row[0]) for row in self._db.execute("SELECT seq FROM entry WHERE kind = 'open-night' ORDER BY seq")
            ]
        ends = [first - 1 for first in begun[1:]] + [self.last_seq] * bool(begun)
        return list(zip(begun, ends, strict=True))

    def summary(self, first: int, last: int) -> Any | None:
        """Return what :meth:`keep_summary` kept of a night; None when nothing was, or it went on since."""
        with self._lock, self._reading():
            row = self._db.execute("SELECT told FROM summary WHERE first = ? AND last = ?", (first, last)).fetchone()
        return json.loads(row[0]) if row is not None else None

    def keep_summary(self, first: int, last: int, summary: object) -> None:
        """Keep what a night came to, so that it need not be read again."""
        with self._lock, transaction(self._db, self.path) as db:
            db.execute(
                "INSERT OR REPLACE INTO summary (first, last, told) VALUES (?, ?, ?)",
                (first, last, json.dumps(summary)),
            )

    def check(self) -> list[str]:
        """Return everything that is wrong with the file, one English sentence each; nothing when it is sound."""
        with self._lock:
            try:
                found = integrity(self._db, linked=self._linked())
                if self._db.execute(SCHEMA.sound).fetchone() != (1,):
                    found.append("Entries are missing between the first and the last.")
                for one in self._damage():
                    what = "missing" if one.missing else "changed"
                    found.append(
                        f"Entries {one.first} to {one.last} are {what}: they are not as they were acknowledged."
                    )
            except sqlite3.Error as error:
                found = [str(explained(error, self.path))]
        return found

    def close(self) -> None:
        """Close the file; closing twice does no harm."""
        with self._lock:
            self._db.close()
            self._mark.close()
            self._release()

    def _linked(self) -> bool:
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        return int(version) >= SCHEMA.linked

    def _damage(self) -> tuple[Damage, ...]:
        """Return what is not as it was acknowledged; a journal of an older program tells nothing of that."""
        if not self._linked():
            return ()
        try:
            mark = self._mark.read()
        except OSError as error:
            log.warning("The journal's mark cannot be read: %s", error.strerror or error)
            mark = None
        return tuple(damage(self._db, mark))

    def _newest(self) -> int:
        (last,) = self._db.execute("SELECT coalesce(max(seq), 0) FROM entry").fetchone()
        return int(last)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise explained(error, self.path) from error

    def _release(self) -> None:
        if self._writer is not None:
            os.close(self._writer)
            self._writer = None


def blot(db: sqlite3.Connection, name: str) -> int:
    """Put :data:`BLOT` for a name, as a word of its own, in the notes of a journal; return in how many it stood.

    It is the one change that entries ever see: a note is no move, and no state is read from it. Call it in a
    transaction, for the trigger that guards the entries is away until it ends.
    """
    word = re.compile(rf"(?<!\w){re.escape(unicodedata.normalize('NFC', name))}(?!\w)", re.IGNORECASE)
    kinds = ", ".join("?" * len(NOTES))
    changed = []
    for seq, kind, text in db.execute(f"SELECT seq, kind, body FROM entry WHERE kind IN ({kinds})", tuple(NOTES)):  # noqa: S608
        body = json.loads(text)
        note = body.get(NOTES[kind])
        if isinstance(note, str) and word.search(unicodedata.normalize("NFC", note)):
            body[NOTES[kind]] = word.sub(BLOT, unicodedata.normalize("NFC", note))
            changed.append((_text(body), seq))
    if changed:
        (guard,) = db.execute(
            "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = 'entry_stays'"
        ).fetchone()
        db.execute("DROP TRIGGER entry_stays")
        db.executemany("UPDATE entry SET body = ? WHERE seq = ?", changed)
        db.execute(guard)
    return len(changed)


def _text(body: Mapping[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _entry(row: Sequence[Any]) -> Entry:
    seq, at, kind, body, *rest = row
    try:
        read = json.loads(body)
    except ValueError:
        read = None
    if not isinstance(read, dict):
        # A bit flipped at rest; the chain tells which entry it was.
        return Entry(seq, at, SPOILT, {}, *rest)
    return Entry(seq, at, kind, read, *rest)


def _claim(path: Path) -> int:
    """Take the writer's lock, which the kernel frees when the process dies, however it dies."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = own_file(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise StorageError("disk-failed", why=error.strerror or str(error)) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise StorageError("disk-in-use", file=path.name) from error
    return handle
