"""A file that nobody knows is read for so long, and never written."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from companion.night.log.database import DamagedError, StorageError
from companion.night.log.journal import SCHEMA, Journal
from companion.night.log.rows import DatabaseForm, distrusted, form, version_of

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with contextlib.closing(Journal(tmp_path / "journal.sqlite")) as journal:
        journal.append("pause", {})
    return tmp_path / "journal.sqlite"


def test_what_never_ends_is_ended(path: Path) -> None:
    with pytest.raises(StorageError, match="interrupted"), distrusted(path) as db:
        db.execute(ENDLESS)


def test_nothing_is_written_and_nothing_is_opened_beside_it(path: Path) -> None:
    before = path.read_bytes()
    for statement in ("DELETE FROM summary", f"ATTACH '{path.parent / 'other.sqlite'}' AS other"):
        with pytest.raises(StorageError), distrusted(path) as db:
            db.execute(statement)
    assert path.read_bytes() == before and not (path.parent / "other.sqlite").exists()


def test_a_schema_that_is_no_text_is_damage(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE link", b"CREATE TABL\xc5 link"))
    with pytest.raises(DamagedError), distrusted(path) as db:
        db.execute("SELECT * FROM entry")


def test_a_form_is_what_was_made(path: Path) -> None:
    def one(db: sqlite3.Connection) -> None:
        db.execute("CREATE TABLE a (x)")

    def two(db: sqlite3.Connection) -> None:
        db.execute("CREATE TABLE  a  (x, y)")
        db.execute("CREATE TABLE b (x)")

    known = form(7, range(1, 3), (one, two), ("a", "b"))
    assert known == DatabaseForm(
        7,
        range(1, 3),
        {"a": frozenset({"CREATE TABLE a (x)", "CREATE TABLE a (x, y)"}), "b": frozenset({"CREATE TABLE b (x)"})},
        frozenset({"a"}),
    )
    with distrusted(path) as db, pytest.raises(DamagedError, match="another program"):
        version_of(db, known, path.name)
    with distrusted(path) as db, pytest.raises(DamagedError, match="newer"):
        version_of(db, form(SCHEMA.application_id, range(1, 3), (), ()), path.name)
