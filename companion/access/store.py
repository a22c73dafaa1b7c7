"""Who may do what: one-time host links, the table's PIN, sessions with roles.

It lies in a database of its own beside the journal, so that a copy of the nights carries no secret. Of tokens and
sessions only hashes are kept; the PIN is kept as it is, for the host's page shows it. Guessing is slowed down for
each address and for all together. `companion host` opens the same file while the service runs.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from companion.night.answers import Actor, Role
from companion.night.log.database import DamagedError, Schema, explained, move_aside, open_database, transaction
from companion.night.log.journal import wall_clock
from companion.ports import CompanionError

SCHEMA = Schema(
    application_id=0x49674B65,  # "IgKe"
    migrations=(
        (
            "CREATE TABLE token (hash BLOB PRIMARY KEY, made INTEGER NOT NULL) STRICT",
            "CREATE TABLE pin (one INTEGER PRIMARY KEY CHECK (one = 1), pin TEXT NOT NULL) STRICT",
            """CREATE TABLE session (
                 hash BLOB PRIMARY KEY,
                 id TEXT NOT NULL UNIQUE,
                 role TEXT NOT NULL CHECK (role IN ('host', 'player')),
                 label TEXT NOT NULL,
                 colour TEXT,
                 made INTEGER NOT NULL
               ) STRICT""",
        ),
    ),
)

OPEN_TOKENS = 4
"""Unspent host links at a time; a fresh one beyond them ends the eldest, so that old terminals open nothing."""

MOST_SESSIONS = 200
"""Sessions at a time; a player beyond them ends the eldest player's."""

LABEL_LENGTH = 640
"""Code points of a label: those that a name may have; what is one, the page asks."""

log = logging.getLogger(__name__)


class TooManyTriesError(CompanionError, PermissionError):
    """Somebody guesses; ``wait_s`` is how long to wait."""

    def __init__(self, wait_s: float) -> None:
        super().__init__("Too many wrong tries; wait a little.")
        self.wait_s = wait_s


@dataclass(frozen=True, slots=True)
class Session:
    """A phone that joined: a public ``id``, its role, the name it gave, the colour it plays (None: any)."""

    id: str
    role: Role
    label: str
    colour: str | None
    made: int

    @property
    def actor(self) -> Actor:
        """Return who acts when this phone does."""
        return Actor(self.role, self.id, self.colour)


class _Bucket:
    """Wrong tries left: ``room`` at first, one more every ``refill_s``."""

    __slots__ = ("left", "t")

    def __init__(self, room: int, t: float) -> None:
        self.left = float(room)
        self.t = t

    def at(self, room: int, refill_s: float, t: float) -> float:
        self.left = min(float(room), self.left + max(0.0, t - self.t) / refill_s)
        self.t = t
        return self.left


class TryLimit:
    """Counts wrong tries, by address and altogether; right ones cost nothing.

    An address has ``room`` tries and gets one back every ``refill_s`` seconds; all together have ``room_all`` and
    ``refill_all_s``. Who has never failed may try although others have used up what all have together, so that nobody
    can shut out a table by guessing: of such addresses there are ``most``. With the defaults a PIN of six digits is
    guessed within a day with a chance below 1 %.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        *,
        room: int = 5,
        refill_s: float = 20.0,
        room_all: int = 30,
        refill_all_s: float = 20.0,
        most: int = 4096,
    ) -> None:
        self._clock = clock
        self._one = (room, refill_s)
        self._all = (room_all, refill_all_s)
        self._most = most
        self._total = _Bucket(room_all, clock())
        self._clients: dict[str, _Bucket] = {}

    def twin(self) -> TryLimit:
        """Return a limit of the same kind that has counted nothing yet."""
        (room, refill_s), (room_all, refill_all_s) = self._one, self._all
        return TryLimit(
            self._clock,
            room=room,
            refill_s=refill_s,
            room_all=room_all,
            refill_all_s=refill_all_s,
            most=self._most,
        )

    def ask(self, client: str) -> None:
        """Return quietly when ``client`` may try.

        :raises TooManyTriesError: when it may not yet.
        """
        now = self._clock()
        bucket = self._clients.get(client)
        if bucket is None and len(self._clients) < self._most:
            return
        short = 1.0 - (bucket.at(*self._one, now) if bucket is not None else 1.0)
        short_all = 1.0 - self._total.at(*self._all, now)
        wait = max(short * self._one[1], short_all * self._all[1])
        if wait > 1e-9:
            raise TooManyTriesError(wait)

    def wrong(self, client: str) -> None:
        """Count a wrong try of ``client``."""
        now = self._clock()
        if self._total.at(*self._all, now) >= self._all[0]:
            # A quiet time: who has all tries back has never failed.
            self._clients = {name: one for name, one in self._clients.items() if one.at(*self._one, now) < self._one[0]}
        bucket = self._clients.get(client) or _Bucket(self._one[0], now)
        if len(self._clients) < self._most:
            self._clients[client] = bucket
        for each, limits in ((bucket, self._one), (self._total, self._all)):
            each.at(*limits, now)
            # Tries of new addresses may come when none is left; they are not owed.
            each.left = max(0.0, each.left - 1.0)


class Access:
    """Host tokens (one-time), the PIN (six digits), sessions. Thread-safe; several processes may open the file.

    ``client`` is the address that a try comes from. What the disk refuses raises
    :class:`companion.night.log.database.StorageError`.
    """

    def __init__(self, path: Path, *, limit: TryLimit | None = None) -> None:
        """Open the file, and make it (0600) if there is none."""
        self._path = path
        self._lock = threading.Lock()
        self._limit = limit or TryLimit()
        # A link cannot be guessed, and who guesses PINs must not lock it: its tries are counted apart.
        self._link_limit = limit.twin() if limit is not None else TryLimit()
        self._db = open_database(path, SCHEMA)
        try:
            self._write("INSERT OR IGNORE INTO pin (one, pin) VALUES (1, ?)", _six_digits())
        except BaseException:
            self._db.close()
            raise

    def host_token(self) -> str:
        """Return a fresh one-time host token (43 characters) for a link; only its hash is kept."""
        token = secrets.token_urlsafe(32)
        with self._lock, transaction(self._db, self._path) as db:
            db.execute("INSERT INTO token (hash, made) VALUES (?, ?)", (_hash(token), wall_clock()))
            db.execute(
                "DELETE FROM token WHERE rowid NOT IN (SELECT rowid FROM token ORDER BY rowid DESC LIMIT ?)",
                (OPEN_TOKENS,),
            )
        return token

    def redeem(self, token: str, client: str, label: str = "") -> tuple[str, Session] | None:
        """Return (secret for the cookie, host session) for a valid token, which is then spent; None for a wrong one.

        :raises TooManyTriesError: after many wrong tries.
        """
        with self._lock:
            self._link_limit.ask(client)
            with transaction(self._db, self._path) as db:
                # Found by the hash of what was sent: how long the search takes tells nothing of a valid token.
                if db.execute("DELETE FROM token WHERE hash = ?", (_hash(token),)).rowcount == 1:
                    return self._open(db, Role.HOST, label)
            self._link_limit.wrong(client)
        return None

    @property
    def pin(self) -> str:
        """Return the table's PIN, for the host to show."""
        rows = self._read("SELECT pin FROM pin")
        return str(rows[0][0])

    def new_pin(self) -> str:
        """Make and return another PIN; who has joined stays."""
        pin = _six_digits()
        with self._lock:
            self._write("UPDATE pin SET pin = ?", pin)
        return pin

    def join(self, pin: str, client: str, label: str = "") -> tuple[str, Session] | None:
        """Return (secret for the cookie, player session) for the right PIN, None for a wrong one.

        :raises TooManyTriesError: after many wrong tries.
        """
        right = self.pin
        with self._lock:
            self._limit.ask(client)
            if hmac.compare_digest(pin.encode("utf-8", "replace"), right.encode()):
                with transaction(self._db, self._path) as db:
                    return self._open(db, Role.PLAYER, label)
            self._limit.wrong(client)
        return None

    def session(self, secret: str) -> Session | None:
        """Return the session of a cookie's secret; None when it is unknown or revoked (then one may only watch)."""
        rows = self._read("SELECT id, role, label, colour, made FROM session WHERE hash = ?", _hash(secret))
        return _session(rows[0]) if rows else None

    def sessions(self) -> list[Session]:
        """Return who may change things, the eldest first."""
        return [_session(row) for row in self._read("SELECT id, role, label, colour, made FROM session ORDER BY rowid")]

    def revoke(self, session_id: str) -> bool:
        """End a session; return whether there was one."""
        with self._lock:
            return self._write("DELETE FROM session WHERE id = ?", session_id) == 1

    def bind(self, session_id: str, colour: str | None) -> bool:
        """Say which colour a phone plays (None: any); return whether there is such a session."""
        with self._lock:
            return self._write("UPDATE session SET colour = ? WHERE id = ?", colour, session_id) == 1

    def relabel(self, old: str, new: str) -> None:
        """Change the name of the phones that are called ``old``, in whatever case; an empty one forgets it."""
        for session in self.sessions():
            if session.label.casefold() == old.casefold():
                with self._lock:
                    self._write("UPDATE session SET label = ? WHERE id = ?", new[:LABEL_LENGTH], session.id)
                    self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def _open(self, db: sqlite3.Connection, role: Role, label: str) -> tuple[str, Session]:
        secret = secrets.token_urlsafe(32)
        kept = label.strip()[:LABEL_LENGTH]
        session = Session(f"{role}-{secrets.token_hex(4)}", role, kept, None, wall_clock())
        db.execute(
            "INSERT INTO session (hash, id, role, label, colour, made) VALUES (?, ?, ?, ?, NULL, ?)",
            (_hash(secret), session.id, str(role), kept, session.made),
        )
        db.execute(
            """DELETE FROM session WHERE role = 'player' AND rowid NOT IN
               (SELECT rowid FROM session ORDER BY role = 'host' DESC, rowid DESC LIMIT ?)""",
            (MOST_SESSIONS,),
        )
        return secret, session

    def _read(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        with self._lock:
            try:
                return self._db.execute(sql, values).fetchall()
            except sqlite3.Error as error:
                raise explained(error, self._path) from error

    def _write(self, sql: str, *values: object) -> int:
        with transaction(self._db, self._path) as db:
            return db.execute(sql, values).rowcount


def open_or_begin_anew(path: Path) -> tuple[Access, str]:
    """Open the sessions; damaged ones are put aside, because phones can join anew. Return also what is to be said."""
    try:
        return Access(path), ""
    except DamagedError as error:
        aside = move_aside(path)
        note = f"{error} It was put aside as {aside[0].name}: every phone joins anew, and there is another PIN."
        log.error("%s", note)
        return Access(path), note


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def _six_digits() -> str:
    return f"{secrets.randbelow(1_000_000):06d}"


def _session(row: tuple[object, ...]) -> Session:
    session_id, role, label, colour, made = row
    return Session(
        str(session_id), Role(str(role)), str(label), str(colour) if colour is not None else None, int(str(made))
    )
