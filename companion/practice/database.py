"""The training book: people, shakes and answers in one SQLite file; nothing that was answered is lost or altered.

WAL and synchronous=FULL: what was acknowledged survives a power cut. Triggers keep answers as they were given; of a
person only the name may change, or go, or turn out to be another's. A shake lies here from the moment it is dealt, its
truth with it, so that a restart of the service loses no round that is being played.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from companion.ports import CompanionError
from companion.practice.book import APPLICATION_ID, SAME_AS, SCHEMA, TAKEN
from companion.practice.shakes import TrainingError
from companion.practice.statistics import AnsweredShake

TAKEN_KEPT = 100
"""The shakes of so many files that were taken along are known; whose file is older cannot bring it home."""
FORGOTTEN_AFTER_MS = 30 * 24 * 3600 * 1000
"""Shakes that nobody answered are swept out after so long."""

_ENTRIES = "SELECT id FROM people WHERE id = ? OR same_as = ?"
"""The entries that are one person: its own, and those that were made one with it."""


class PracticeDatabaseError(CompanionError, OSError):
    """The training book cannot be read or written; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Trainee:
    """Somebody who trains."""

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class PracticeRound:
    """One shake that was dealt. ``person`` is None in a duel; ``shake`` is None where the igloo itself is shaken.

    ``seed`` varies how a stored shake is cut and heard. ``truth`` is None until somebody looked under the igloo.
    ``shown`` says whether the truth may be seen.
    """

    id: str
    at: int
    person: int | None
    duel: str | None
    number: int
    kind: str
    shake: int | None
    seed: int
    truth: int | None
    machine: tuple[float, ...]
    shown: bool


@dataclass(frozen=True, slots=True)
class Duel:
    """A game in which all hear the same shakes."""

    id: str
    people: tuple[int, ...]
    rounds: int
    closed: bool


@dataclass(frozen=True, slots=True)
class Taken:
    """A stored shake in a file that was taken along; ``machine`` holds chances for 2 … 13 beads."""

    shake: int
    seed: int
    truth: int
    machine: tuple[float, ...]


def now_ms() -> int:
    """Return the moment as UTC milliseconds."""
    return time.time_ns() // 1_000_000


class PracticeDatabase:
    """The book of one data folder. It is opened when it is first needed; every method may be called from any thread.

    :raises PracticeDatabaseError: from every method, when the disk refuses or the file is none of ours; it is left as
    it is.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._db: sqlite3.Connection | None = None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Hold the book for one transaction: all of it, or none."""
        with self._lock:
            try:
                db = self._opened()
                # A card that the kernel made read-only takes what is written to open files, and forgets it.
                if os.statvfs(self._path.parent).f_flag & os.ST_RDONLY:
                    raise PracticeDatabaseError("The training book could not be written: the card is read-only.")
                db.execute("BEGIN IMMEDIATE")
                try:
                    yield db
                except BaseException:
                    db.execute("ROLLBACK")
                    raise
                db.execute("COMMIT")
            except sqlite3.Error as error:
                raise PracticeDatabaseError(f"The training book could not be written: {error}") from error

    def _rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        with self._lock:
            try:
                return self._opened().execute(query, values).fetchall()
            except sqlite3.Error as error:
                raise PracticeDatabaseError(f"The training book could not be read: {error}") from error

    def _opened(self) -> sqlite3.Connection:
        if self._db is None:
            try:
                if self._path.is_symlink():
                    raise PracticeDatabaseError("The training book is a symbolic link, which is not followed.")
                if not self._path.exists():
                    self._make()
                self._db = self._open()
            except OSError as error:
                raise PracticeDatabaseError(f"The training book could not be opened: {error}") from error
        return self._db

    def _make(self) -> None:
        """Make the file under another name and move it into place: one of the right name is whole."""
        new = self._path.with_name(f".{self._path.name}.new")
        new.unlink(missing_ok=True)
        os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as db:
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute("PRAGMA synchronous = FULL")
            db.executescript(f"BEGIN; {SCHEMA} COMMIT;")
        new.replace(self._path)

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=5.0)
        try:
            if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                raise PracticeDatabaseError("This file is not a training book: it was left as it is.")
            if (found := db.execute("PRAGMA quick_check").fetchone()[0]) != "ok":
                raise PracticeDatabaseError(f"The training book is damaged: {found}")
            db.row_factory = sqlite3.Row
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "secure_delete = ON"):
                db.execute(f"PRAGMA {pragma}")
            if "same_as" not in {row["name"] for row in db.execute("PRAGMA table_info(people)")}:
                db.execute(SAME_AS)
            db.execute(TAKEN)
            old = now_ms() - FORGOTTEN_AFTER_MS
            db.execute(
                "DELETE FROM rounds WHERE at < ? AND NOT EXISTS (SELECT 1 FROM answers WHERE round = rounds.id)", (old,)
            )
        except BaseException:
            db.close()
            raise
        return db

    # --- people --------------------------------------------------------------------------------------------------

    def people(self) -> list[Trainee]:
        """Return everybody who has a name, in the order in which they came."""
        return [Trainee(*row) for row in self._rows("SELECT id, name FROM people WHERE name IS NOT NULL ORDER BY id")]

    def names(self) -> dict[int, str]:
        """Return the name under each number; who was made one with somebody else has that one's."""
        rows = self._rows(
            "SELECT one.id, stands.name FROM people one JOIN people stands ON stands.id = coalesce(one.same_as, one.id)"
            " WHERE stands.name IS NOT NULL"
        )
        return {int(row["id"]): str(row["name"]) for row in rows}

    def person(self, number: int) -> Trainee:
        """Return a person, also under the number of an entry that was made one with it.

        :raises TrainingError: ``no-person`` when there is none, or the name was forgotten.
        """
        query = "SELECT id, name FROM people WHERE id = (SELECT coalesce(same_as, id) FROM people WHERE id = ?)"
        for row in self._rows(f"{query} AND name IS NOT NULL", number):
            return Trainee(*row)
        raise TrainingError("no-person")

    def add_person(self, name: str) -> Trainee:
        """Enter a person; who is here already under that name is that person."""
        with self._writing() as db:
            for row in db.execute("SELECT id, name FROM people WHERE name = ?", (name,)):
                return Trainee(*row)
            made = db.execute("INSERT INTO people (at, name) VALUES (?, ?)", (now_ms(), name))
            return Trainee(int(made.lastrowid or 0), name)

    def rename(self, number: int, name: str | None) -> None:
        """Give a person another name, or forget it (None): the answers stay, nobody's any more."""
        with self._writing() as db:
            db.execute("UPDATE people SET name = ? WHERE id = ?", (name, number))
        if name is None:
            self._wipe()

    def merge(self, number: int, into: int) -> None:
        """Say that two entries are one person: the answers of both count for ``into``, whose name stays."""
        with self._writing() as db:
            db.execute("UPDATE people SET name = NULL, same_as = ? WHERE id = ?", (into, number))
            db.execute("UPDATE people SET same_as = ? WHERE same_as = ?", (into, number))
        self._wipe()

    def _wipe(self) -> None:
        # A name that went must not live on in the log of the database either.
        self._rows("PRAGMA wal_checkpoint(TRUNCATE)")

    # --- rounds --------------------------------------------------------------------------------------------------

    def deal(self, made: PracticeRound) -> PracticeRound:
        """Enter a dealt shake.

        Where a person has an open one that is as stored, or the duel has that round, that one is returned: none is
        skipped because it is hard, and a request that came twice deals once.
        """
        with self._writing() as db:
            if made.duel is None:
                open_one = (
                    "SELECT * FROM rounds WHERE person = ? AND shown = 0 AND (shake IS NULL) = ? ORDER BY at DESC"
                )
                found = db.execute(open_one, (made.person, made.shake is None)).fetchone()
            else:
                found = db.execute(
                    "SELECT * FROM rounds WHERE duel = ? AND number = ?", (made.duel, made.number)
                ).fetchone()
            if found is not None:
                return _round(found)
            db.execute(
                "INSERT INTO rounds (id, at, person, duel, number, kind, shake, seed, truth, machine)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(made.id, made.at, made.person, made.duel, made.number, made.kind, made.shake, made.seed),
                    *(made.truth, json.dumps(made.machine)),
                ),
            )
        return made

    def drop(self, round_id: str) -> None:
        """Forget a round that nobody answered."""
        with self._writing() as db:
            db.execute(
                "DELETE FROM rounds WHERE id = ? AND NOT EXISTS (SELECT 1 FROM answers WHERE round = rounds.id)",
                (round_id,),
            )

    def round(self, round_id: str) -> PracticeRound:
        """Return a dealt shake.

        :raises TrainingError: ``no-round`` when there is none.
        """
        for row in self._rows("SELECT * FROM rounds WHERE id = ?", round_id):
            return _round(row)
        raise TrainingError("no-round")

    def guesses(self, round_id: str) -> dict[int, int]:
        """Return who guessed what in a round."""
        rows = self._rows("SELECT person, guess FROM answers WHERE round = ? ORDER BY seq", round_id)
        return {int(row["person"]): int(row["guess"]) for row in rows}

    def answer(self, round_id: str, person: int, guess: int, machine: Sequence[float]) -> None:
        """Keep an answer, and what the machine says; a second one of the same person changes nothing."""
        with self._writing() as db:
            db.execute(
                "INSERT INTO answers (at, round, person, guess) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (now_ms(), round_id, person, guess),
            )
            db.execute(
                "UPDATE rounds SET machine = ? WHERE id = ? AND machine = '[]'",
                (json.dumps([round(p, 6) for p in machine]), round_id),
            )

    def show(self, round_id: str, truth: int | None = None) -> None:
        """Let the truth of a round be seen; ``truth`` is told where it was not known before."""
        with self._writing() as db:
            if truth is not None:
                db.execute("UPDATE rounds SET truth = ? WHERE id = ? AND truth IS NULL", (truth, round_id))
            db.execute("UPDATE rounds SET shown = 1 WHERE id = ?", (round_id,))

    # --- what is taken along -------------------------------------------------------------------------------------

    def take_along(self, file: str, shakes: Sequence[Taken]) -> None:
        """Enter a file that is taken along; of very old ones nothing is known any more."""
        shakes_json = json.dumps([[one.shake, one.seed, one.truth, one.machine] for one in shakes])
        with self._writing() as db:
            db.execute("INSERT INTO taken (file, at, shakes) VALUES (?, ?, ?)", (file, now_ms(), shakes_json))
            db.execute(
                "DELETE FROM taken WHERE file NOT IN (SELECT file FROM taken ORDER BY rowid DESC LIMIT ?)",
                (TAKEN_KEPT,),
            )

    def taken(self, file: str) -> tuple[int, list[Taken]]:
        """Return when a file was taken along (UTC milliseconds), and the shakes in it.

        :raises TrainingError: ``no-file`` when nothing is known of it.
        """
        for row in self._rows("SELECT at, shakes FROM taken WHERE file = ?", file):
            stored = json.loads(row["shakes"])
            return int(row["at"]), [Taken(shake, seed, truth, tuple(machine)) for shake, seed, truth, machine in stored]
        raise TrainingError("no-file")

    def bring(self, person: int, rounds: Sequence[tuple[PracticeRound, int]]) -> int:
        """Enter answered shakes, each with its guess, all or none; return how many of them were not here before.

        One that is here under its id stays as it is, whoever answered it.
        """
        new = 0
        with self._writing() as db:
            for one, guess in rounds:
                made = db.execute(
                    "INSERT INTO rounds (id, at, person, number, kind, shake, seed, truth, machine, shown)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT (id) DO NOTHING",
                    (
                        *(one.id, one.at, person, one.number, one.kind, one.shake, one.seed, one.truth),
                        json.dumps(one.machine),
                    ),
                )
                if made.rowcount:
                    new += 1
                    db.execute(
                        "INSERT INTO answers (at, round, person, guess) VALUES (?, ?, ?, ?)",
                        (one.at, one.id, person, guess),
                    )
        return new

    # --- duels ---------------------------------------------------------------------------------------------------

    def open_duel(self, duel: Duel) -> None:
        """Enter a duel."""
        with self._writing() as db:
            db.execute(
                "INSERT INTO duels (id, at, people, rounds) VALUES (?, ?, ?, ?)",
                (duel.id, now_ms(), json.dumps(duel.people), duel.rounds),
            )

    def duel(self, duel_id: str) -> Duel:
        """Return a duel.

        :raises TrainingError: ``no-duel`` when there is none.
        """
        for row in self._rows("SELECT * FROM duels WHERE id = ?", duel_id):
            return _duel(row)
        raise TrainingError("no-duel")

    def open_duels(self) -> list[Duel]:
        """Return the duels that are not closed, newest first."""
        return [_duel(row) for row in self._rows("SELECT * FROM duels WHERE closed = 0 ORDER BY at DESC LIMIT 5")]

    def close_duel(self, duel_id: str) -> None:
        """End a duel; a round that not all answered is shown to those who did."""
        with self._writing() as db:
            db.execute("UPDATE duels SET closed = 1 WHERE id = ?", (duel_id,))
            db.execute(
                "UPDATE rounds SET shown = 1 WHERE duel = ? AND EXISTS (SELECT 1 FROM answers WHERE round = rounds.id)",
                (duel_id,),
            )

    def rounds_of(self, duel_id: str) -> list[PracticeRound]:
        """Return the rounds of a duel, in order."""
        return [_round(row) for row in self._rows("SELECT * FROM rounds WHERE duel = ? ORDER BY number", duel_id)]

    def heard(self, people: Sequence[int]) -> dict[int, int]:
        """Return how often these people together were dealt each stored shake, in drills and in duels."""
        found: dict[int, int] = {}
        for person in people:
            query = (
                f"SELECT shake, COUNT(*) AS often FROM rounds WHERE shake IS NOT NULL AND (person IN ({_ENTRIES})"  # noqa: S608
                f" OR id IN (SELECT round FROM answers WHERE person IN ({_ENTRIES}))) GROUP BY shake"
            )
            rows = self._rows(query, *(person, person) * 2)
            for row in rows:
                found[row["shake"]] = found.get(row["shake"], 0) + row["often"]
        return found

    def answered(self, person: int) -> int:
        """Return how many shakes a person has answered."""
        query = f"SELECT COUNT(*) FROM answers WHERE person IN ({_ENTRIES})"  # noqa: S608 - words of ours
        return int(self._rows(query, person, person)[0][0])

    def past(self, person: int, *, igloo: bool, before: int, most: int) -> list[tuple[int, PracticeRound, int]]:
        """Return up to ``most`` answered shakes of a person, newest first: the answer's number, the round, the guess.

        ``before`` is the number of an answer that is later than all of them; ``igloo`` False leaves out what was shaken
        in the igloo of this table.
        """
        query = (
            "SELECT r.*, a.seq, a.guess FROM answers a JOIN rounds r ON r.id = a.round WHERE a.seq < ? AND r.shown = 1"  # noqa: S608
            f" AND r.truth IS NOT NULL AND a.person IN ({_ENTRIES}) AND (? OR r.shake IS NOT NULL)"
            " ORDER BY a.seq DESC LIMIT ?"
        )
        found = []
        for row in self._rows(query, before, person, person, igloo, most):
            facts = dict(row)
            seq, guess = int(facts.pop("seq")), int(facts.pop("guess"))
            found.append((seq, _round(facts), guess))
        return found

    # --- what was answered ---------------------------------------------------------------------------------------

    def answers(self, person: int | None = None, *, igloo: bool = True, last: int = 20_000) -> list[AnsweredShake]:
        """Return answers whose truth was shown, oldest first: of one person or of all.

        ``igloo`` False leaves out what was shaken in the igloo of this table.
        """
        rows = self._rows(
            "SELECT a.at, coalesce(p.same_as, p.id) AS person, r.truth, a.guess, r.machine, r.kind FROM answers a"
            " JOIN rounds r ON r.id = a.round JOIN people p ON p.id = a.person WHERE r.shown = 1"
            " AND r.truth IS NOT NULL AND (? IS NULL OR coalesce(p.same_as, p.id) = ?) AND (? OR r.shake IS NOT NULL)"
            " ORDER BY a.seq DESC LIMIT ?",
            *(person, person, igloo, last),
        )
        return [
            AnsweredShake(
                row["at"], row["person"], row["truth"], row["guess"], tuple(json.loads(row["machine"])), row["kind"]
            )
            for row in reversed(rows)
        ]


def _round(row: sqlite3.Row | dict[str, Any]) -> PracticeRound:
    facts = dict(row)
    return PracticeRound(**{**facts, "machine": tuple(json.loads(facts["machine"])), "shown": bool(facts["shown"])})


def _duel(row: sqlite3.Row) -> Duel:
    return Duel(row["id"], tuple(json.loads(row["people"])), row["rounds"], bool(row["closed"]))
