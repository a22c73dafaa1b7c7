"""A journal that cannot be opened as it is: what can be read of it plays on, what cannot is told, nothing is lost."""

from __future__ import annotations

import contextlib
import random
import shutil
import sqlite3
from pathlib import Path

import pytest

from companion.events.hub import Hub
from companion.lab.soak.journal_at_rest import AtRest, acknowledged, at_rest, played
from companion.night.answers import TABLE
from companion.night.commands.night import Night
from companion.night.log.chain import MARK, Damage
from companion.night.log.data_folder import JOURNAL
from companion.night.log.database import DamagedError
from companion.night.log.journal import SPOILT, Entry, Journal
from companion.night.log.salvage import open_or_salvage
from companion.night.views.damage import damage_report


@pytest.fixture
def entries(tmp_path: Path) -> list[Entry]:
    return played(tmp_path, closed=True, moves=400)


def test_whatever_a_card_does_is_told_and_the_table_plays_on() -> None:
    found = at_rest(3, seed=random.randrange(1000))
    wrong = {name: one for name, one in found.items() if one.silent or one.stumbled or one.refused}
    assert wrong == {}
    assert isinstance(found["a flipped bit in the log, killed"], AtRest)
    assert found["a flipped bit in the log, killed"].told + found["a flipped bit in the log, killed"].whole == 3


def test_a_hole_in_the_middle_costs_what_lay_in_it(tmp_path: Path, entries: list[Entry]) -> None:
    path = tmp_path / JOURNAL
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        (guard,) = db.execute("SELECT sql FROM sqlite_schema WHERE name = 'entry_remains'").fetchone()
        db.execute("DROP TRIGGER entry_remains")
        db.execute("DELETE FROM entry WHERE seq BETWEEN 77 AND 79")
        db.execute(guard)
    damaged = path.read_bytes()
    with pytest.raises(DamagedError):
        Journal(path)
    with contextlib.closing(open_or_salvage(path)) as journal:
        assert journal.damage == (Damage(77, 79, missing=False),)
        now = journal.since(0)
        assert [one.kind for one in now[76:79]] == [SPOILT] * 3
        assert [acknowledged(one) for one in (*now[:76], *now[79:])] == [
            acknowledged(one) for one in (*entries[:76], *entries[79:])
        ]
        assert set(journal.people().values()) == {"Ann", "Bob"}
        (one,) = damage_report(journal, tmp_path)
        assert one["game"] == "igloo-pop" and one["first"] == 77
        night = Night(journal, Hub(), damage=[one])
        assert night.do("pause", {}, by=TABLE, state=night.state, action_id="after").ok
    (aside,) = (one for one in tmp_path.glob("journal.sqlite.damaged-*") if not one.name.endswith(("-wal", "-shm")))
    assert aside.read_bytes() == damaged
    with contextlib.closing(open_or_salvage(path)) as journal:
        assert journal.damage == (Damage(77, 79, missing=False),)


def test_a_page_that_is_gone_costs_the_entries_on_it(tmp_path: Path, entries: list[Entry]) -> None:
    path = tmp_path / JOURNAL
    data = bytearray(path.read_bytes())
    at = data.index(b'"n"') if b'"n"' in data else data.index(b"pause", len(data) // 2)
    page = at // 4096 * 4096
    data[page : page + 4096] = bytes(4096)
    path.write_bytes(data)
    with contextlib.closing(open_or_salvage(path)) as journal:
        now = journal.since(0)
        lost = [one.seq for one in now if one.kind == SPOILT]
        assert 0 < len(lost) < 100 and journal.last_seq == len(entries)
        assert [acknowledged(one) for one in now if one.seq not in lost] == [
            acknowledged(one) for one in entries if one.seq not in lost
        ]
        assert {seq for one in journal.damage for seq in range(one.first, one.last + 1)} == set(lost)


def test_of_a_file_without_a_head_the_mark_tells_what_was_there(tmp_path: Path, entries: list[Entry]) -> None:
    path = tmp_path / JOURNAL
    with path.open("r+b") as file:
        file.write(bytes(4096))
    with contextlib.closing(open_or_salvage(path)) as journal:
        assert journal.last_seq == 0
        assert journal.damage == (Damage(1, len(entries), missing=True),)


def test_a_log_without_its_journal_is_told_by_the_mark(tmp_path: Path) -> None:
    entries = played(tmp_path, closed=False)
    (tmp_path / JOURNAL).unlink()
    with contextlib.closing(open_or_salvage(tmp_path / JOURNAL)) as journal:
        assert journal.damage == (Damage(1, len(entries), missing=True),)
    assert list(tmp_path.glob("journal.sqlite.damaged-*-wal"))


def test_what_never_was_a_journal_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / JOURNAL
    path.write_bytes(b"recipes" * 1000)
    with pytest.raises(DamagedError):
        open_or_salvage(path)
    assert path.read_bytes() == b"recipes" * 1000 and not path.with_name(path.name + MARK).exists()


def test_a_trigger_that_was_planted_does_not_act(tmp_path: Path, entries: list[Entry]) -> None:
    path = tmp_path / JOURNAL
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(
            "CREATE TRIGGER planted AFTER INSERT ON entry BEGIN INSERT INTO person VALUES "
            "('evil', 'Eve', 1, NULL, NULL, NULL, NULL); END"
        )
    with pytest.raises(DamagedError):
        Journal(path)
    with contextlib.closing(open_or_salvage(path)) as journal:
        assert journal.damage == ()
        journal.append("pause", {})
        assert "Eve" not in journal.people().values()
        assert [acknowledged(one) for one in journal.since(0)[:-1]] == [acknowledged(one) for one in entries]


def test_a_number_that_was_hit_makes_no_endless_hole(tmp_path: Path, entries: list[Entry]) -> None:
    path = tmp_path / JOURNAL
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        guards = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            db.execute(f"DROP TRIGGER {name}")
        db.execute("UPDATE entry SET seq = 1 << 60 WHERE seq = 50")
        for _, guard in guards:
            db.execute(guard)
    with contextlib.closing(open_or_salvage(path)) as journal:
        assert journal.last_seq == len(entries)
        assert journal.damage == (Damage(50, 50, missing=False),)


def test_a_copy_of_a_killed_journal_is_whole(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    entries = played(tmp_path / "one", closed=False)
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    with contextlib.closing(open_or_salvage(tmp_path / "two" / JOURNAL)) as journal:
        assert journal.damage == ()
        assert [acknowledged(one) for one in journal.since(0)] == [acknowledged(one) for one in entries]
