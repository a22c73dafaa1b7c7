"""What the card lost or changed, in words: which game, which moves, and which backup still has them."""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from companion.night.backup.archive import BACKUPS, examine
from companion.night.backup.encryption import kept_passphrase
from companion.night.backup.messages import BackupError
from companion.night.backup.scheduler import backups
from companion.night.log.chain import Damage
from companion.night.log.data_folder import JOURNAL
from companion.night.log.database import StorageError
from companion.night.log.journal import LOST, SPOILT, Journal
from companion.night.log.match import Match
from companion.night.log.projection import NightProjection
from companion.night.messages import Words, say
from companion.rules.i18n import joined
from companion.rules.rulebook import rulebook


def damage_report(journal: Journal, folder: Path) -> list[dict[str, Any]]:
    """Return each run of entries that is not as it was acknowledged, with the game and moves it concerns.

    Each is ``{"first", "last", "missing", "match", "game", "moves", "backup", "en", "fr", …}``: entries by number,
    ``moves`` by number from 1 (the last one before a gap), ``backup`` the newest one that has them, or None.
    ``folder`` is the data folder, in which the backups lie. Nothing is looked for where nothing is damaged. What was
    found missing at a former start stays told for the rest of the night.
    """
    found = []
    for one in (*journal.owned_up(), *journal.damage):
        match, moves, at = _concerned(journal, one)
        backup = newest_with(folder, [one])
        words = [_sentence(one, match, moves, at)]
        words += [say("backup-has-them", {"file": backup.name})] if backup is not None else []
        found.append(
            {
                "first": one.first,
                "last": one.last,
                "missing": one.missing,
                "match": None if match is None else match.id,
                "game": None if match is None else match.game.id,
                "moves": moves,
                "backup": None if backup is None else backup.name,
                **joined(words).to_json(),
            }
        )
    return found


def _concerned(journal: Journal, one: Damage) -> tuple[Match | None, list[int], int]:
    """Return the match that was open, the numbers of its moves, and when it was (UTC milliseconds)."""
    nights = [night for night in journal.nights() if night[0] <= one.last]
    projection = NightProjection(journal.people(), journal.same())
    match, at = None, 0
    for entry in journal.since(nights[-1][0] - 1 if nights else 0):
        if entry.seq > one.last or (one.missing and entry.seq >= one.first):
            break
        projection.apply(entry)
        if projection.match is not None or entry.seq < one.first:
            match = projection.match
        at = entry.at
    if match is None:
        return None, [], at
    numbers = range(1, len(match.steps) + 1)
    if one.missing:
        return match, list(numbers[-1:]), at
    return match, [n for n in numbers if one.first <= match.steps[n - 1].seq <= one.last], at


def _sentence(one: Damage, match: Match | None, moves: Sequence[int], at: int) -> Words:
    count = one.last - one.first + 1
    facts: dict[str, object] = {"first": one.first, "last": one.last, "count": count}
    facts["when"] = time.strftime("%Y-%m-%d", time.gmtime(at / 1000))
    if match is None:
        return say("entries-missing" if one.missing else "entries-changed", facts)
    facts["game"] = rulebook(match.game.id).name
    if one.missing:
        return say("moves-missing", {**facts, "move": moves[-1] if moves else 0})
    if not moves:
        return say("game-changed", facts)
    return say("moves-changed", {**facts, "moves": ", ".join(map(str, moves)), "count": len(moves)})


def newest_with(folder: Path, wanted: Sequence[Damage]) -> Path | None:
    """Return the newest backup on the card that has these entries as they were written; None where none has.

    Where none are wanted, it is one of whose entries none is damaged.
    """
    for path in reversed(backups(folder / BACKUPS)):
        with contextlib.suppress(BackupError, StorageError, OSError, sqlite3.Error, zipfile.BadZipFile):
            if _has(path, wanted, kept_passphrase(folder)):
                return path
    return None


def _has(path: Path, wanted: Sequence[Damage], passphrase: str) -> bool:
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".look-") as place:
        manifest = examine(path, unpack=Path(place), pictures=False, passphrase=passphrase)
        if manifest.seq < max((one.last for one in wanted), default=0):
            return False
        with contextlib.closing(Journal(Path(place) / JOURNAL, read_only=True)) as journal:
            if not wanted:
                return not journal.damage
            return all(_holds(journal, one) for one in wanted)


def _holds(journal: Journal, one: Damage) -> bool:
    if one.link and journal.link_of(one.last) != one.link:
        return False
    spoilt = any(bad.first <= one.last and bad.last >= one.first for bad in journal.damage)
    return not spoilt and not any(entry.kind in {LOST, SPOILT} for entry in _entries(journal, one))


def _entries(journal: Journal, one: Damage) -> Iterator[Any]:
    yield from journal.since(one.first - 1, before=one.last + 1)
