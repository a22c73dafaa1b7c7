"""The journal: what was written stays, in order, once, or is refused in one sentence."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import sqlite3
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.night.log.database import (
    DamagedError,
    Schema,
    StorageError,
    explained,
    move_aside,
    open_database,
)
from companion.night.log.journal import SCHEMA, Journal
from tests.worlds.read_only import read_only_card


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


@contextlib.contextmanager
def journal_at(path: Path, **more: bool) -> Iterator[Journal]:
    journal = Journal(path, **more)
    try:
        yield journal
    finally:
        journal.close()


def raw(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def test_what_is_appended_is_read_back_after_a_restart(path: Path) -> None:
    with journal_at(path) as journal:
        first = journal.append("pause", {"why": "thé, naïve ☃"}, by="host-1", by_role="host", action_id="a")
        second = journal.append("evidence", {"n": [1, None, 2.5]}, device_kind="simulated")
        assert (first.seq, second.seq, journal.last_seq) == (1, 2, 2)
        assert second.at >= first.at > 1_600_000_000_000
    with journal_at(path) as journal:
        assert journal.since(0) == [first, second]
        assert journal.since(1) == [second]
        assert journal.since(0, before=2) == [first]
        assert journal.of_action("a") == first
        assert journal.of_action("b") is None
        assert (journal.last_of("pause"), journal.last_of("pause", before=1), journal.last_of("x")) == (1, 0, 0)
        assert journal.check() == []


def test_it_is_private_durable_and_strict(path: Path) -> None:
    with journal_at(path) as journal:
        journal.append("pause", {})
        for part in ("", "-wal", "-shm", ".lock"):
            mode = path.with_name(path.name + part).stat().st_mode
            assert stat.S_IMODE(mode) == 0o600, part
        assert journal._db.execute("PRAGMA synchronous").fetchone() == (2,)
        assert journal._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        with contextlib.closing(raw(path)) as db, pytest.raises(sqlite3.IntegrityError, match="INTEGER"):
            db.execute("INSERT INTO entry (seq, at, kind, body, by, by_role) VALUES (2, 'noon', 'x', '{}', '', '')")


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE entry SET kind = 'other'",
        "UPDATE entry SET seq = 9 WHERE seq = 2",
        "DELETE FROM entry WHERE seq = 2",
        "DELETE FROM entry",
        "INSERT OR REPLACE INTO entry (seq, at, kind, body, by, by_role) VALUES (1, 0, 'x', '{}', '', '')",
        "REPLACE INTO entry (seq, at, kind, body, by, by_role, action_id) VALUES (3, 0, 'x', '{}', '', '', 'a')",
        "INSERT INTO entry (seq, at, kind, body, by, by_role) VALUES (7, 0, 'x', '{}', '', '')",
        "INSERT INTO entry (seq, at, kind, body, by, by_role) VALUES (3, 0, 'x', 'no json', '', '')",
    ],
)
def test_nobody_changes_what_is_written(path: Path, sql: str) -> None:
    with journal_at(path) as journal:
        entries = [journal.append("one", {}, action_id="a"), journal.append("two", {})]
        with contextlib.closing(raw(path)) as db, pytest.raises(sqlite3.IntegrityError):
            db.execute(sql)
        assert journal.since(0) == entries


def test_an_action_is_entered_once(path: Path) -> None:
    with journal_at(path) as journal:
        entry = journal.append("one", {}, action_id="a")
        with pytest.raises(StorageError):
            journal.append("one", {}, action_id="a")
        assert journal.since(0) == [entry]
        assert journal.append("two", {}, action_id="b").seq == 2


def test_a_clock_that_jumps_back_does_not_change_the_order(path: Path) -> None:
    times = iter([5_000, 1_000, 9_000])
    journal = Journal(path, clock=lambda: next(times))
    try:
        for kind in ("one", "two", "three"):
            journal.append(kind, {})
        assert [(e.seq, e.at, e.kind) for e in journal.since(0)] == [
            (1, 5_000, "one"),
            (2, 1_000, "two"),
            (3, 9_000, "three"),
        ]
    finally:
        journal.close()


def test_one_writes_and_others_read(path: Path) -> None:
    with journal_at(path) as journal:
        journal.append("one", {})
        with pytest.raises(StorageError, match="already writing"):
            Journal(path)
        with journal_at(path, read_only=True) as reader:
            assert reader.last_seq == 1
            journal.append("two", {})
            assert reader.last_seq == 2
            assert [e.kind for e in reader.since(0)] == ["one", "two"]
            with pytest.raises(StorageError, match="read-only"):
                reader.append("three", {})
        assert journal.last_seq == 2
    with journal_at(path) as journal:
        assert journal.append("three", {}).seq == 3


def test_a_reader_makes_no_journal(path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be opened"):
        Journal(path, read_only=True)
    assert not path.exists()


def test_threads_append_without_losing_or_doubling(path: Path) -> None:
    with journal_at(path) as journal:
        seqs: list[int] = []

        def work(name: str) -> None:
            seqs.extend(journal.append("n", {"who": name, "n": n}).seq for n in range(25))

        threads = [threading.Thread(target=work, args=(f"t{i}",)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(seqs) == list(range(1, 101))
        for name in ("t0", "t1", "t2", "t3"):
            assert [e.body["n"] for e in journal.since(0) if e.body["who"] == name] == list(range(25))


def test_a_full_card_refuses_and_nothing_is_half_done(path: Path) -> None:
    with journal_at(path) as journal:
        journal.append("one", {})
        (pages,) = journal._db.execute("PRAGMA page_count").fetchone()
        journal._db.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StorageError, match="full") as refusal:
            for n in range(1000):
                journal.append("big", {"n": n, "text": "x" * 2000}, people={f"p{n}": "Somebody"})
        assert refusal.value.key == "disk-full"
        kept = journal.last_seq
        assert [e.seq for e in journal.since(0)] == list(range(1, kept + 1))
        assert len(journal.people()) == kept - 1
        journal._db.execute("PRAGMA max_page_count = 100000")
        assert journal.append("after", {}).seq == kept + 1
        assert journal.check() == []


def test_what_a_full_card_refused_last_of_all_is_no_link_of_the_chain(path: Path) -> None:
    """The card is found to be full as a change is to be made durable, when all of it was computed."""
    with journal_at(path) as journal:
        journal.append("one", {})
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.with_name(f"{path.name}-wal").stat().st_size, hard))
        try:
            with pytest.raises(StorageError):
                journal.append("two", {"text": "x" * 2000})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert journal.append("three", {}).seq == 2
    with journal_at(path) as journal:
        assert journal.damage == ()
        assert [one.kind for one in journal.since(0)] == ["one", "three"]


def test_a_card_that_the_kernel_made_read_only_acknowledges_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes all that is written, and forgets it with the power; seen in an emulated machine (the step `trouble`)."""
    with journal_at(path) as journal:
        journal.append("one", {})
        with read_only_card(monkeypatch), pytest.raises(StorageError) as refused:
            journal.append("two", {})
        assert refused.value.key == "disk-read-only"
        assert [one.kind for one in journal.since(0)] == ["one"]
        assert journal.append("three", {}).seq == 2


# --- damage ------------------------------------------------------------------------------------------------------


def filled(path: Path, entries: int = 200) -> None:
    with journal_at(path) as journal:
        for n in range(entries):
            journal.append("fault", {"n": n, "text": "x" * 100}, action_id=f"a{n}")


def files(path: Path) -> dict[str, bytes]:
    """Return what holds data; an empty log or an index beside it is made by merely looking."""
    kept = {p.name: p.read_bytes() for p in path.parent.iterdir() if not p.name.endswith((".lock", "-shm"))}
    return {name: data for name, data in kept.items() if data or name == path.name}


def damage_middle(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(8192))


def damage_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"not a database at all")


def damage_length(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 // 4096 * 4096)


def damage_empty(path: Path) -> None:
    os.truncate(path, 0)


def damage_gap(path: Path) -> None:
    with contextlib.closing(raw(path)) as db:
        db.execute("DROP TRIGGER entry_remains")
        db.execute("DELETE FROM entry WHERE seq = 77")


def foreign(path: Path) -> None:
    path.unlink()
    with contextlib.closing(raw(path)) as db:
        db.execute("CREATE TABLE recipes (name TEXT)")


DAMAGES = [damage_middle, damage_header, damage_length, damage_empty, damage_gap, foreign]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda d: d.__name__)
@pytest.mark.parametrize("read_only", [False, True], ids=["writer", "reader"])
def test_a_damaged_journal_is_said_and_left_as_it_is(path: Path, damage: object, read_only: bool) -> None:
    filled(path)
    damage(path)  # type: ignore[operator]
    before = files(path)
    with pytest.raises(DamagedError) as refusal:
        Journal(path, read_only=read_only)
    assert files(path) == before
    said = str(refusal.value)
    assert "journal.sqlite" in said
    assert "\n" not in said
    assert said.endswith(".")
    assert ("another program" in said) == (damage is foreign)


def test_damage_under_an_open_journal_is_found_by_a_check(path: Path) -> None:
    filled(path)
    with journal_at(path) as journal:
        assert journal.check() == []
        damage_middle(path)
        journal._db.execute("PRAGMA cache_size = 0")
        journal._db.execute("PRAGMA shrink_memory")
        found = journal.check()
        assert found
        assert all(found)


def test_a_torn_write_ahead_log_loses_only_its_torn_end(path: Path) -> None:
    copy = path.with_name("copy.sqlite")
    with journal_at(path) as journal:
        journal.append("first", {})
        journal._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        journal._db.execute("PRAGMA wal_autocheckpoint = 0")
        sizes = []
        for n in range(20):
            journal.append("n", {"n": n, "text": "x" * 500})
            sizes.append(path.with_name(path.name + "-wal").stat().st_size)
        wal = path.with_name(path.name + "-wal").read_bytes()
        for cut in (0, 17, sizes[3], sizes[3] + 1, sizes[9] - 5, sizes[15] + 2000, len(wal)):
            shutil.copyfile(path, copy)
            copy.with_name(copy.name + "-wal").write_bytes(wal[:cut])
            whole = sum(size <= cut for size in sizes)
            with journal_at(copy) as torn:
                assert [e.body["n"] for e in torn.since(1)] == list(range(whole)), cut
                assert torn.append("after", {}).seq == whole + 2
            for part in copy.parent.glob("copy.sqlite*"):
                part.unlink()


def test_a_log_without_its_journal_is_not_begun_anew(path: Path) -> None:
    path.with_name(path.name + "-wal").write_bytes(b"x" * 100)
    with pytest.raises(DamagedError, match="missing"):
        Journal(path)
    assert not path.exists()


def test_a_damaged_journal_is_moved_aside_on_request_only(path: Path) -> None:
    filled(path, 20)
    damage_header(path)
    damaged = path.read_bytes()
    moved = move_aside(path)
    assert [p.read_bytes() for p in moved if not p.name.endswith(("lock", "mark"))] == [damaged]
    with journal_at(path) as journal:
        assert journal.append("anew", {}).seq == 1
    damage_header(path)
    assert len({*move_aside(path), *moved}) == 4  # each with its mark


def test_a_newer_journal_is_left_alone(path: Path) -> None:
    filled(path, 3)
    with contextlib.closing(raw(path)) as db:
        db.execute(f"PRAGMA user_version = {SCHEMA.version + 1}")
    with pytest.raises(StorageError, match="newer companion"):
        Journal(path)


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StorageError) as refusal:
        Journal(tmp_path / "file" / "journal.sqlite")
    assert str(refusal.value).count(".") == 1


# --- migrations --------------------------------------------------------------------------------------------------

ONE = Schema(0x1234, (("CREATE TABLE note (text TEXT NOT NULL) STRICT",),))
TWO = Schema(
    0x1234,
    (
        *ONE.migrations,
        ("ALTER TABLE note ADD COLUMN mark INTEGER", "UPDATE note SET mark = length(text)"),
    ),
)
BROKEN = Schema(0x1234, (*ONE.migrations, ("ALTER TABLE note ADD COLUMN mark INTEGER", "UPDATE nothing SET mark = 1")))


def test_an_old_database_is_brought_up_to_date(path: Path) -> None:
    with contextlib.closing(open_database(path, ONE)) as db:
        db.execute("INSERT INTO note VALUES ('hello')")
    with contextlib.closing(open_database(path, TWO)) as db:
        assert db.execute("SELECT text, mark FROM note").fetchall() == [("hello", 5)]
        assert db.execute("PRAGMA user_version").fetchone() == (2,)
    with pytest.raises(StorageError, match="newer"):
        open_database(path, ONE)


def test_a_migration_that_fails_changes_nothing(path: Path) -> None:
    with contextlib.closing(open_database(path, ONE)) as db:
        db.execute("INSERT INTO note VALUES ('hello')")
    with pytest.raises(StorageError):
        open_database(path, BROKEN)
    with contextlib.closing(open_database(path, TWO)) as db:
        assert db.execute("SELECT text, mark FROM note").fetchall() == [("hello", 5)]


def test_sentences_for_what_sqlite_says(path: Path) -> None:
    for code, key in (
        (sqlite3.SQLITE_FULL, "disk-full"),
        (sqlite3.SQLITE_READONLY, "disk-read-only"),
        (sqlite3.SQLITE_IOERR, "disk-failed"),
        (sqlite3.SQLITE_CORRUPT, "disk-damaged"),
        (sqlite3.SQLITE_BUSY, "disk-busy"),
    ):
        error = sqlite3.OperationalError("as sqlite says")
        error.sqlite_errorcode = code
        assert explained(error, path).key == key


# --- people ------------------------------------------------------------------------------------------------------


def test_a_forgotten_name_leaves_the_files(path: Path) -> None:
    with journal_at(path) as journal:
        journal.append("open-match", {"person": "p1"}, people={"p1": "Wilhelmina", "p2": "Bob"})
        assert journal.people() == {"p1": "Wilhelmina", "p2": "Bob"}
        assert journal.name_person("p2", "Robert")
        assert not journal.name_person("p3", "Nobody")
        assert journal.name_person("p1", None)
        assert journal.people() == {"p1": None, "p2": "Robert"}
        for part in path.parent.iterdir():
            assert b"Wilhelmina" not in part.read_bytes(), part
        assert b"Robert" in path.read_bytes()


# --- a power cut before a file had its log ----------------------------------------------------------------------


def half_done(path: Path) -> None:
    """Leave a database as a power cut does in a change that is noted in a rollback journal, as before WAL is on."""
    other = path.with_name("other.sqlite")
    with journal_at(other) as journal:
        journal.append("pause", {}, action_id="kept")
    with contextlib.closing(sqlite3.connect(other, isolation_level=None)) as db:
        assert db.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
        db.execute("PRAGMA cache_size = 1")
        db.execute("BEGIN")
        db.execute("CREATE TABLE half (x)")
        db.executemany("INSERT INTO half VALUES (?)", [(bytes(3000),)] * 50)
        for part in ("", "-journal"):
            shutil.copy(other.with_name(other.name + part), path.with_name(path.name + part))


def test_what_a_power_cut_left_half_done_is_undone(path: Path) -> None:
    half_done(path)
    with journal_at(path) as journal:
        assert [entry.action_id for entry in journal.since(0)] == ["kept"]
    assert not path.with_name("journal.sqlite-journal").exists()


def test_what_was_half_done_goes_aside_with_its_file(path: Path) -> None:
    half_done(path)
    move_aside(path)
    assert not path.with_name("journal.sqlite-journal").exists(), "it would be applied to the next file of that name"
