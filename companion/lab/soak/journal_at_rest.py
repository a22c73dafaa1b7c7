"""What a card does to a journal that rests: bits that flip, ends that are cut off, entries that go, older files.

Each attack is made on a copy of a journal after a kill (its newest entries lie in the write-ahead log only) and of one
that was closed; then it is opened as the service opens it. What differs from what was acknowledged must be told: by
the journal's damage, or because it cannot be opened as it is.
"""

from __future__ import annotations

import contextlib
import logging
import random
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from companion.events.hub import Hub
from companion.night.answers import TABLE
from companion.night.commands.night import Night
from companion.night.log.chain import MARK, NOTES
from companion.night.log.data_folder import JOURNAL
from companion.night.log.database import StorageError
from companion.night.log.journal import LOST, Entry, Journal
from companion.night.log.salvage import open_or_salvage
from companion.rules import games

PARTS = ("", "-wal", MARK)
MOVES = 24


@dataclass(slots=True)
class AtRest:
    """How often nothing was lost, loss was told and the table plays on, opening was refused, or it went wrong."""

    whole: int = 0
    told: int = 0
    refused: int = 0
    silent: int = 0
    stumbled: int = 0
    culprits: list[str] = field(default_factory=list)
    """The attacks of which nothing was said, and those that made it stumble."""
    why: Counter[str] = field(default_factory=Counter)
    """Why opening was refused."""


def acknowledged(entry: Entry) -> tuple[object, ...]:
    """Return what of an entry may not change: all but what people wrote by hand."""
    note = NOTES.get(entry.kind)
    return (entry.seq, entry.at, entry.kind, entry.by, {k: v for k, v in entry.body.items() if k != note})


def played(folder: Path, *, closed: bool, moves: int = MOVES) -> list[Entry]:
    """Play in ``folder`` and leave the files as a kill does, or ``closed``; return what was acknowledged."""
    with tempfile.TemporaryDirectory() as place:
        journal = Journal(Path(place) / JOURNAL)
        night = Night(journal, Hub())
        players = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]
        opening = {"game": games()[0], "players": players, "options": {}, "draw": True}
        night.do("open-match", opening, by=TABLE, state=night.state, action_id="open")
        night.do("deal", {}, by=TABLE, state=night.state, action_id="deal")
        for n in range(moves):
            night.do("pause" if n % 2 == 0 else "resume", {}, by=TABLE, state=night.state, action_id=f"action {n}")
        entries = journal.since(0)
        if closed:
            journal.close()
        for part in PARTS:
            path = Path(place) / f"{JOURNAL}{part}"
            if path.exists():
                shutil.copyfile(path, folder / path.name)
        journal.close()
    return entries


def flips(part: str, rng: random.Random) -> Callable[[Path], str]:
    """Return an attack that flips one bit of a file of the journal."""

    def attack(folder: Path) -> str:
        path = folder / f"{JOURNAL}{part}"
        data = bytearray(path.read_bytes())
        bit = rng.randrange(len(data) * 8)
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        return f"bit {bit % 8} of byte {bit // 8} in {path.name}"

    return attack


def cut(part: str, rng: random.Random) -> Callable[[Path], str]:
    """Return an attack that cuts off the end of a file of the journal."""

    def attack(folder: Path) -> str:
        path = folder / f"{JOURNAL}{part}"
        length = rng.randrange(path.stat().st_size)
        with path.open("r+b") as file:
            file.truncate(length)
        return f"{path.name} cut to {length} bytes"

    return attack


def gone(rng: random.Random) -> Callable[[Path], str]:
    """Return an attack that takes the newest entries away, with their links."""

    def attack(folder: Path) -> str:
        with contextlib.closing(sqlite3.connect(folder / JOURNAL, isolation_level=None)) as db:
            (newest,) = db.execute("SELECT max(seq) FROM entry").fetchone()
            first = rng.randrange(2, newest + 1)
            guards = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
            for guard, _ in guards:
                db.execute(f"DROP TRIGGER {guard}")
            for table in ("entry", "link"):
                db.execute(f"DELETE FROM {table} WHERE seq >= ?", (first,))  # noqa: S608 - names of ours
            for _, statement in guards:
                db.execute(statement)
        return f"entries from {first} on deleted"

    return attack


def older(rng: random.Random) -> Callable[[Path], str]:
    """Return an attack that puts an older file of another night in the journal's place."""

    def attack(folder: Path) -> str:
        with tempfile.TemporaryDirectory() as place:
            moves = rng.randrange(MOVES)
            played(Path(place), closed=True, moves=moves)
            shutil.copyfile(Path(place) / JOURNAL, folder / JOURNAL)
        (folder / f"{JOURNAL}-wal").unlink(missing_ok=True)
        return f"a journal of {moves} moves in its place"

    return attack


def at_rest(tries: int, seed: int = 1) -> dict[str, AtRest]:
    """Make every attack so often; return what became of it, by its name."""
    rng = random.Random(seed)
    found: dict[str, AtRest] = {}
    with tempfile.TemporaryDirectory() as place, _quiet():
        for state in ("killed", "closed"):
            kept = Path(place) / state
            kept.mkdir()
            entries = played(kept, closed=state == "closed")
            for name, attack in _attacks(rng, killed=state == "killed"):
                result = found.setdefault(f"{name}, {state}", AtRest())
                for _ in range(tries):
                    with tempfile.TemporaryDirectory() as copy:
                        target = Path(copy) / "data"
                        shutil.copytree(kept, target)
                        _judge(target, attack(target), entries, result)
    return found


def _attacks(rng: random.Random, *, killed: bool) -> Iterator[tuple[str, Callable[[Path], str]]]:
    yield "a flipped bit in the main file", flips("", rng)
    yield "a flipped bit in the mark", flips(MARK, rng)
    yield "a cut main file", cut("", rng)
    yield "deleted entries", gone(rng)
    yield "an older journal", older(rng)
    if killed:
        yield "a flipped bit in the log", flips("-wal", rng)
        yield "a cut log", cut("-wal", rng)


def _judge(folder: Path, attack: str, entries: list[Entry], result: AtRest) -> None:
    try:
        journal = open_or_salvage(folder / JOURNAL)
    except StorageError as error:
        result.refused += 1
        result.why[str(error)] += 1
        return
    except Exception as error:
        result.stumbled += 1
        result.culprits.append(f"{attack}: {error!r}")
        return
    try:
        damage = journal.damage
        journal.own_up()
        night = Night(journal, Hub())
        now = [acknowledged(one) for one in journal.since(0) if one.kind != LOST]
        playable = (
            night.do("pause", {}, by=TABLE, state=night.state, action_id="after").ok
            or night.do("resume", {}, by=TABLE, state=night.state, action_id="after it").ok
        )
    except Exception as error:
        result.stumbled += 1
        result.culprits.append(f"{attack}: {error!r}")
        return
    finally:
        journal.close()
    if damage and playable:
        result.told += 1
    elif not damage and now[: len(entries)] == [acknowledged(one) for one in entries]:
        result.whole += 1
    else:
        result.silent += 1
        result.culprits.append(attack)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    before = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        yield
    finally:
        logging.disable(before)
