"""Who may do what: one-time host links, the table's PIN, sessions with roles.

It lies in a database of its own beside the journal, so that a copy of the nights carries no secret. Of tokens and
sessions only hashes are kept; the PIN is kept as it is, for the host's page shows it. Guessing is slowed down for
each address and for all together. `companion host` opens the same file while the service runs.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import logging
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from companion.night.answers import Actor, Role
from companion.night.log.database import (
    DamagedError,
    Schema,
    StorageError,
    explained,
    move_aside,
    open_database,
    transaction,
)
from companion.night.log.journal import wall_clock
from companion.ports import CompanionError
from companion.settings import Settings


def _used_now(db: sqlite3.Connection) -> None:
    """Begin to reckon from today: of the sessions that are there nobody knows when they were used."""
    db.execute("UPDATE session SET seen = ?", (wall_clock(),))


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
        (
            "ALTER TABLE session ADD COLUMN seen INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE session ADD COLUMN browser TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE session ADD COLUMN system TEXT NOT NULL DEFAULT ''",
            _used_now,
        ),
    ),
    # SQLite looks at its CHECKs only where it may write; a damaged file is looked at without that.
    sound="""SELECT NOT EXISTS (SELECT 1 FROM session WHERE role NOT IN ('host', 'player'))
        AND NOT EXISTS (SELECT 1 FROM pin WHERE pin NOT GLOB '[0-9][0-9][0-9][0-9][0-9][0-9]')""",
)

OPEN_TOKENS = 4
"""Unspent host links at a time; a fresh one beyond them ends the eldest, so that old terminals open nothing."""

MOST_SESSIONS = 200
"""Sessions at a time; a player beyond them ends that of the player who was away longest."""

LABEL_LENGTH = 640
"""Code points of a label: those that a name may have; what is one, the page asks."""

DAY_MS = 24 * 3600 * 1000

SEEN_MS = 3600 * 1000
"""How often it is written that a session is in use."""

CLOCK_SET_MS = 600 * 1000
"""What our clock and the time since the machine started may differ by before somebody has set the clock."""

_SESSIONS = "SELECT id, role, label, colour, made, seen, browser, system FROM session"
_SESSION = f"{_SESSIONS} WHERE hash = ?"

log = logging.getLogger(__name__)


class TooManyTriesError(CompanionError, PermissionError):
    """Somebody guesses; ``wait_s`` is how long to wait."""

    def __init__(self, wait_s: float) -> None:
        super().__init__("Too many wrong tries; wait a little.")
        self.wait_s = wait_s


@dataclass(frozen=True, slots=True)
class Session:
    """A phone that joined: a public ``id``, its role, the name it gave, the colour it plays (None: any).

    ``made`` and ``seen`` are when it joined and was last in use (to an hour), in UTC milliseconds. ``device`` is the
    family of its browser and its system, each empty where they are not known.
    """

    id: str
    role: Role
    label: str
    colour: str | None
    made: int
    seen: int
    device: tuple[str, str]

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


def since_start() -> float:
    """Return the seconds since the machine started, sleep included; nobody sets this clock."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Access:
    """Host tokens (one-time), the PIN (six digits), sessions. Thread-safe; several processes may open the file.

    ``client`` is the address that a try comes from. Links and sessions end as ``settings`` say: a link some days after
    it was made, a session when it was not used for so many days. ``clock`` gives the wall time in milliseconds; a
    Raspberry Pi learns it late, so what was written since we opened moves along when it is set, which ``steady``
    shows. What the disk refuses raises :class:`companion.night.log.database.StorageError`.
    """

    def __init__(
        self,
        path: Path,
        *,
        limit: TryLimit | None = None,
        settings: Settings | None = None,
        clock: Callable[[], int] = wall_clock,
        steady: Callable[[], float] = since_start,
    ) -> None:
        """Open the file, and make it (0600) if there is none."""
        self._path = path
        self._settings = settings or Settings(None)
        self._clock, self._steady = clock, steady
        self._began, self._ahead = clock(), clock() - round(steady() * 1000)
        self._lock = threading.Lock()
        self._limit = limit or TryLimit()
        # A link cannot be guessed, and who guesses PINs must not lock it: its tries are counted apart.
        self._link_limit = limit.twin() if limit is not None else TryLimit()
        self._db = open_database(path, SCHEMA)
        try:
            self._write("INSERT OR IGNORE INTO pin (one, pin) VALUES (1, ?)", _six_digits())
            # What was written under a clock that ran ahead would otherwise not end before that time.
            self._write("UPDATE token SET made = ? WHERE made > ?", self._began, self._began)
            self._write("UPDATE session SET seen = ? WHERE seen > ?", self._began, self._began)
        except BaseException:
            self._db.close()
            raise

    def host_token(self) -> str:
        """Return a fresh one-time host token (43 characters) for a link; only its hash is kept."""
        token = secrets.token_urlsafe(32)
        with self._lock, self._dated() as db:
            db.execute("INSERT INTO token (hash, made) VALUES (?, ?)", (_hash(token), self._clock()))
            db.execute(
                "DELETE FROM token WHERE rowid NOT IN (SELECT rowid FROM token ORDER BY rowid DESC LIMIT ?)",
                (OPEN_TOKENS,),
            )
        return token

    def redeem(
        self, token: str, client: str, label: str = "", device: tuple[str, str] = ("", "")
    ) -> tuple[str, Session] | None:
        """Return (secret for the cookie, host session) for a valid token, which is then spent; None for others.

        A valid one is taken however many wrong ones came from the same address: of 256 bits nobody guesses one, and
        nobody may keep the host out.

        :raises TooManyTriesError: for a wrong one, after many wrong tries.
        """
        with self._lock:
            with self._dated() as db:
                # Found by the hash of what was sent: how long the search takes tells nothing of a valid token.
                if db.execute("DELETE FROM token WHERE hash = ?", (_hash(token),)).rowcount == 1:
                    return self._open(db, Role.HOST, label, device)
            self._link_limit.ask(client)
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

    def join(
        self, pin: str, client: str, label: str = "", device: tuple[str, str] = ("", "")
    ) -> tuple[str, Session] | None:
        """Return (secret for the cookie, player session) for the right PIN, None for a wrong one.

        :raises TooManyTriesError: after many wrong tries.
        """
        right = self.pin
        with self._lock:
            self._limit.ask(client)
            if hmac.compare_digest(pin.encode("utf-8", "replace"), right.encode()):
                with self._dated() as db:
                    return self._open(db, Role.PLAYER, label, device)
            self._limit.wrong(client)
        return None

    def session(self, secret: str) -> Session | None:
        """Return the session of a cookie's secret; None when it is unknown, revoked or old (then one may only watch).

        That somebody asks for it is its use.
        """
        rows = self._read(_SESSION, _hash(secret))
        if not rows:
            return None
        session = _session(rows[0])
        if session.seen >= self._began and self._clock() - session.seen < SEEN_MS:
            return session
        with self._lock, contextlib.suppress(StorageError), self._dated() as db:  # on a full card one plays on
            db.execute("UPDATE session SET seen = ? WHERE hash = ?", (self._clock(), _hash(secret)))
        rows = self._read(_SESSION, _hash(secret))
        return _session(rows[0]) if rows else None

    def sessions(self) -> list[Session]:
        """Return who may change things, the eldest first."""
        with self._lock, contextlib.suppress(StorageError), self._dated():
            pass  # only what is old ends
        return [_session(row) for row in self._read(f"{_SESSIONS} ORDER BY rowid")]

    def revoke(self, session_id: str) -> bool:
        """End a session; return whether there was one."""
        with self._lock:
            return self._write("DELETE FROM session WHERE id = ?", session_id) == 1

    def revoke_others(self, session_id: str) -> int:
        """End every session but this one; return how many there were."""
        with self._lock:
            return self._write("DELETE FROM session WHERE id <> ?", session_id)

    def bind(self, session_id: str, colour: str | None) -> bool:
        """Say which colour a phone plays (None: any); return whether there is such a session."""
        with self._lock:
            return self._write("UPDATE session SET colour = ? WHERE id = ?", colour, session_id) == 1

    def call(self, session_id: str, label: str) -> bool:
        """Say what a phone is called (an empty label: nothing); return whether there is such a session."""
        with self._lock:
            return self._write("UPDATE session SET label = ? WHERE id = ?", label[:LABEL_LENGTH], session_id) == 1

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

    @contextlib.contextmanager
    def _dated(self) -> Iterator[sqlite3.Connection]:
        """Write all or nothing, after links and sessions whose days are over have ended; our lock is held."""
        now = self._clock()
        ahead = now - round(self._steady() * 1000)
        set_by = ahead - self._ahead if abs(ahead - self._ahead) > CLOCK_SET_MS else 0
        link, session = (now - self._settings.number(name) * DAY_MS for name in ("host_link_days", "session_days"))
        with transaction(self._db, self._path) as db:
            if set_by:
                # The clock was set: what happened since we opened is no older, or younger, for that.
                db.execute("UPDATE token SET made = made + ? WHERE made >= ?", (set_by, self._began))
                db.execute("UPDATE session SET seen = seen + ? WHERE seen >= ?", (set_by, self._began))
            db.execute("DELETE FROM token WHERE made <= ?", (link,))
            db.execute("DELETE FROM session WHERE seen <= ?", (session,))
            yield db
        self._began += set_by
        self._ahead = ahead

    def _open(self, db: sqlite3.Connection, role: Role, label: str, device: tuple[str, str]) -> tuple[str, Session]:
        secret = secrets.token_urlsafe(32)
        kept = label.strip()[:LABEL_LENGTH]
        now = self._clock()
        session = Session(f"{role}-{secrets.token_hex(4)}", role, kept, None, now, now, device)
        db.execute(
            """INSERT INTO session (hash, id, role, label, colour, made, seen, browser, system)
               VALUES (?, ?, ?, ?, NULL, ?, ?, ?, ?)""",
            (_hash(secret), session.id, str(role), kept, now, now, *device),
        )
        db.execute(
            """DELETE FROM session WHERE role = 'player' AND rowid NOT IN
               (SELECT rowid FROM session ORDER BY role = 'host' DESC, seen DESC, rowid DESC LIMIT ?)""",
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


def open_or_begin_anew(path: Path, settings: Settings) -> tuple[Access, str]:
    """Open the sessions; damaged ones are put aside, because phones can join anew. Return also what is to be said."""
    try:
        return Access(path, settings=settings), ""
    except DamagedError as error:
        aside = move_aside(path)
        note = f"{error} It was put aside as {aside[0].name}: every phone joins anew, and there is another PIN."
        log.error("%s", note)
        return Access(path, settings=settings), note


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def _six_digits() -> str:
    return f"{secrets.randbelow(1_000_000):06d}"


def _session(row: tuple[object, ...]) -> Session:
    session_id, role, label, colour, made, seen, browser, system = row
    return Session(
        str(session_id),
        Role(str(role)),
        str(label),
        str(colour) if colour is not None else None,
        int(str(made)),
        int(str(seen)),
        (str(browser), str(system)),
    )
