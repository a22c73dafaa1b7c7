"""What the card loses or changes: noticed when the journal is opened, told by game and move, never blessed."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from companion.doctor import nights as doctor
from companion.events.hub import Hub
from companion.night.answers import TABLE
from companion.night.backup.archive import BACKUPS
from companion.night.backup.restore import restore
from companion.night.backup.scheduler import back_up_into
from companion.night.commands.night import Night
from companion.night.log.chain import MARK, Damage, Mark, MarkFile
from companion.night.log.database import StorageError
from companion.night.log.journal import LOST, SCHEMA, Journal
from companion.night.views.damage import damage_report

GAME = {
    "game": "igloo-pop",
    "players": [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}],
    "options": {},
    "draw": False,
}
CARDS = ("4/5", "7", "12", "2/3", "8", "9", "10", "11", "13")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


@contextlib.contextmanager
def journal_at(path: Path, *, read_only: bool = False) -> Iterator[Journal]:
    journal = Journal(path, read_only=read_only)
    try:
        yield journal
    finally:
        journal.close()


def played(path: Path, moves: int = 9) -> None:
    """Begin a game and enter cards, a move an entry."""
    with journal_at(path) as journal:
        night = Night(journal, Hub())
        assert night.do("open-match", GAME, by=TABLE, state=night.state, action_id="open").ok
        for n in range(moves):
            said = night.do(
                "moves", {"moves": [f"deal card{n + 1} {CARDS[n]}"]}, by=TABLE, state=night.state, action_id=f"move{n}"
            )
            assert said.ok, said


def alter(path: Path, sql: str, *facts: object) -> None:
    """Change the file as a flipped bit would: no trigger is asked."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        guards = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            db.execute(f"DROP TRIGGER {name}")
        db.execute("PRAGMA ignore_check_constraints = ON")
        db.execute(sql, facts)
        for _, guard in guards:
            db.execute(guard)


def test_what_was_acknowledged_and_is_gone_is_said_and_the_table_plays_on(path: Path) -> None:
    played(path)
    # As after a kill: the newest entries lay in the write-ahead log only, and its sum does not fit any more.
    alter(path, "DELETE FROM entry WHERE seq > 6")
    alter(path, "DELETE FROM link WHERE seq > 6")
    with journal_at(path) as journal:
        assert journal.damage == (Damage(7, 11, missing=True),)
        report = damage_report(journal, path.parent)
        assert [(one["first"], one["last"], one["game"], one["moves"]) for one in report] == [(7, 11, "igloo-pop", [4])]
        assert "after move 4" in report[0]["en"] and "5 entries" in report[0]["en"]
        assert "après le coup 4" in report[0]["fr"]
        said = journal.own_up()
        assert said is not None and (said.seq, said.kind, said.body["first"], said.body["last"]) == (7, LOST, 7, 11)
        night = Night(journal, Hub(), damage=report)
        assert night.view()["damage"] == report
        assert "5 confirmed entries" in night.view()["log"][-1]["en"]
        again = night.do("moves", {"moves": ["deal card5 8"]}, by=TABLE, state=night.state, action_id="again")
        assert again.ok, again
    with journal_at(path) as journal:
        assert journal.damage == () and journal.check() == [] and journal.last_of(LOST) == 7
        # Whoever was not there at the first start reads it too, until another night begins.
        assert damage_report(journal, path.parent) == report
        journal.append("open-night", {"night": "another"})
        assert damage_report(journal, path.parent) == []


def test_a_flipped_bit_in_the_log_after_a_kill_loses_nothing_in_silence(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    played(path, 2)
    journal = Journal(path)
    for n in range(40):
        journal.append("pause", {"n": n})
    copy = tmp_path / "killed"
    copy.mkdir()
    for part in ("", "-wal", MARK):
        shutil.copyfile(path.with_name(path.name + part), copy / f"{path.name}{part}")
    newest = journal.last_seq
    journal.close()
    wal = copy / f"{path.name}-wal"
    data = bytearray(wal.read_bytes())
    data[32 + 30] ^= 1  # in the first frame: all that follow are left out by SQLite
    wal.write_bytes(data)
    with journal_at(copy / path.name) as opened:
        assert opened.last_seq < newest
        assert opened.damage == (Damage(opened.last_seq + 1, newest, missing=True),)
        assert any("missing" in line for line in opened.check())


@pytest.mark.parametrize(
    ("sql", "moves"),
    [
        ("UPDATE entry SET body = replace(body, '2/3', '3/4') WHERE seq = 6", [4]),
        ("UPDATE entry SET body = replace(body, '{', '[') WHERE seq = 6", []),
        ("UPDATE entry SET kind = 'mover' WHERE seq = 6", []),
        ("UPDATE entry SET by = 'someone' WHERE seq = 6", [4]),
    ],
)
def test_a_changed_entry_is_told_by_game_and_move(path: Path, sql: str, moves: list[int]) -> None:
    played(path)
    back_up_into(path.parent, path.parent / BACKUPS, keep=3, pictures=False)
    alter(path, sql)
    with journal_at(path) as journal:
        assert journal.damage == (Damage(6, 6, missing=False),)
        (one,) = damage_report(journal, path.parent)
        assert (one["game"], one["moves"], one["backup"]) == (
            "igloo-pop",
            moves,
            "companion-0001-" + one["backup"][15:],
        )
        assert journal.own_up() is None
        assert Night(journal, Hub()).view()["match"]["id"] == one["match"]
    findings, _, _ = doctor._databases(path.parent)
    wrong = [finding for finding in findings if str(finding.state) == "wrong"]
    assert len(wrong) == 1 and one["backup"] in str(wrong[0].to_json()["cure"])
    # The backup that was offered brings it back, and a deliberate restore is no loss.
    restore(path.parent / BACKUPS / one["backup"], path.parent)
    with journal_at(path) as journal:
        assert journal.damage == () and journal.last_seq == 11


def test_the_backup_that_copied_the_damage_is_not_offered(path: Path) -> None:
    played(path)
    back_up_into(path.parent, path.parent / BACKUPS, keep=3, pictures=False)
    alter(path, "UPDATE entry SET body = replace(body, '2/3', '3/4') WHERE seq = 6")
    back_up_into(path.parent, path.parent / BACKUPS, keep=3, pictures=False)
    with journal_at(path, read_only=True) as journal:
        (one,) = damage_report(journal, path.parent)
    assert one["backup"].startswith("companion-0001")


def test_a_link_that_was_hit_itself_changes_no_entry(path: Path) -> None:
    played(path)
    alter(path, "UPDATE link SET hash = zeroblob(32) WHERE seq = 6")
    with journal_at(path) as journal:
        assert journal.damage == ()


def test_another_history_is_not_taken_for_the_acknowledged_one(path: Path, tmp_path: Path) -> None:
    played(path)
    other = tmp_path / "other"
    other.mkdir()
    played(other / "journal.sqlite", 8)
    with journal_at(other / "journal.sqlite") as journal:
        journal.append("pause", {})
        journal.append("resume", {})
    shutil.copyfile(other / "journal.sqlite", path)
    with journal_at(path) as journal:
        assert [one.missing for one in journal.damage] == [True]


def test_a_mark_that_lags_behind_or_is_gone_is_no_fault(path: Path) -> None:
    played(path)
    mark = path.with_name(path.name + MARK)
    former = mark.read_bytes()
    with journal_at(path) as journal:
        journal.append("pause", {})
    mark.write_bytes(former)
    with journal_at(path) as journal:
        assert journal.damage == ()
    mark.unlink()
    with journal_at(path) as journal:
        assert journal.damage == ()
        journal.append("resume", {})
        assert MarkFile(path).read() == Mark(13, journal._last_link)


@given(torn=st.integers(0, 59), flip=st.integers(0, 59 * 8))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_torn_or_flipped_mark_leaves_the_one_before(tmp_path: Path, torn: int, flip: int) -> None:
    path = tmp_path / f"{torn}-{flip}"
    file = MarkFile(path)
    older, newest = Mark(7, b"7" * 32), Mark(8, b"8" * 32)
    file.write(older)
    before = file.path.read_bytes()
    file.write(newest)
    file.close()
    after = file.path.read_bytes()
    assert MarkFile(path).read() == newest
    # Where the power went while the second was written, a piece of it is there.
    place = next(n for n, (old, new) in enumerate(zip(before, after, strict=True)) if old != new)
    file.path.write_bytes(before[:place] + after[place : place + torn] + before[place + torn :])
    assert MarkFile(path).read() == older
    spoilt = bytearray(after)
    spoilt[place + flip // 8] ^= 1 << flip % 8
    file.path.write_bytes(spoilt)
    assert MarkFile(path).read() == older


def test_a_name_is_forgotten_without_breaking_the_chain(path: Path) -> None:
    played(path)
    with journal_at(path) as journal:
        journal.append("correct", {"colour": "red", "points": 1, "reason": "Ann was right"})
        journal.append("pause", {})
        assert journal.blot("Ann") == 1
    with journal_at(path) as journal:
        assert journal.damage == ()
        assert "Ann" not in json.dumps([dict(entry.body) for entry in journal.since(0)])


def test_a_folder_of_an_older_program_gets_its_chain_at_the_first_start(path: Path) -> None:
    played(path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("DROP TABLE link")
        db.execute("PRAGMA user_version = 2")
    path.with_name(path.name + MARK).unlink()
    with journal_at(path, read_only=True) as journal:
        assert journal.damage == () and journal.check() == []
    with journal_at(path) as journal:
        assert journal.damage == () and journal.check() == []
        assert journal._db.execute("SELECT count(*) FROM link").fetchone() == (11,)
        assert journal._db.execute("PRAGMA user_version").fetchone() == (SCHEMA.version,)
    alter(path, "UPDATE entry SET body = replace(body, '2/3', '3/4') WHERE seq = 6")
    with journal_at(path) as journal:
        assert journal.damage == (Damage(6, 6, missing=False),)


def test_a_mark_that_cannot_be_written_loses_no_entry(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path.with_name(path.name + MARK).symlink_to(path.parent / "elsewhere")
    with journal_at(path) as journal:
        assert journal.append("pause", {}).seq == 1
    assert "mark could not be written" in caplog.text
    assert not (path.parent / "elsewhere").exists()
    with journal_at(path) as journal:
        assert journal.last_seq == 1


def test_a_checkpoint_brings_the_night_into_the_file_itself(path: Path) -> None:
    with journal_at(path) as journal:
        for n in range(20):
            journal.append("pause", {"n": n})
        journal.checkpoint()
        alone = path.with_name("alone.sqlite")
        shutil.copyfile(path, alone)
        with contextlib.closing(sqlite3.connect(alone)) as db:
            assert db.execute("SELECT count(*) FROM entry").fetchone() == (20,)


def test_a_reader_of_a_spoilt_entry_goes_on(path: Path) -> None:
    played(path)
    alter(path, "UPDATE entry SET body = 'x' WHERE seq = 3")
    with journal_at(path) as journal:
        assert journal.damage == (Damage(3, 3, missing=False),)
        assert [entry.kind for entry in journal.since(2, before=5)] == ["spoilt", "moves"]
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 2")
    with pytest.raises(StorageError):
        Journal(path)
