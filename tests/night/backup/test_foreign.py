"""A backup that a stranger made: of what is in it only rows of ours come along, and it neither acts nor hangs."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from companion.cli import run
from companion.doctor import nights
from companion.doctor.finding import FindingState
from companion.doctor.host import Host, User
from companion.night.backup.archive import BACKUPS, MANIFEST, back_up, examine
from companion.night.backup.foreign import TRAINING
from companion.night.backup.messages import BackupError
from companion.night.backup.restore import look_into, restore, standing
from companion.night.backup.scheduler import back_up_into
from companion.night.log.chain import MARK, MarkFile
from companion.night.log.data_folder import EVIDENCE, JOURNAL
from companion.night.log.database import migrate, open_database, statements
from companion.night.log.journal import SCHEMA, Entry, Journal
from companion.practice import book
from companion.practice.database import PracticeDatabase
from companion.settings import OFFERED, Settings

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
DOUBLED = "CREATE VIEW v{n} AS SELECT a.x FROM v{m} AS a, v{m} AS b;"
DOUBLING = "CREATE VIEW v0 AS SELECT 1 AS x;" + "".join(DOUBLED.format(n=n, m=n - 1) for n in range(1, 40))
Change = Callable[[sqlite3.Connection], object]
Companion = Callable[..., tuple[int, str]]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    with contextlib.closing(Journal(folder / JOURNAL)) as journal:
        journal.append("open-night", {"night": "one"}, people={"p1": "Ann"})
        for n in range(20):
            journal.append("pause" if n % 2 == 0 else "resume", {}, action_id=f"a{n}")
    with contextlib.closing(PracticeDatabase(folder / TRAINING)) as training:
        training.add_person("Ann")
    (folder / "settings.json").write_text(json.dumps({"house_name": "Chez nous"}))
    return folder


@pytest.fixture
def entries(data: Path) -> list[Entry]:
    return entries_of(data)


def entries_of(folder: Path) -> list[Entry]:
    with contextlib.closing(Journal(folder / JOURNAL, read_only=True)) as journal:
        return journal.since(0)


def strange(data: Path, changes: dict[str, Change | str]) -> Path:
    """Return a backup of the folder whose databases and texts were changed by somebody, and whose sums are right."""
    place = data.parent
    back_up(data, place / "own.zip")
    found: dict[str, bytes] = {}
    with zipfile.ZipFile(place / "own.zip") as archive:
        manifest = json.loads(archive.read(MANIFEST))
        for part in manifest["files"]:
            found[part["name"]] = archive.read(part["name"])
    for name, change in changes.items():
        if isinstance(change, str):
            found[name] = change.encode()
            continue
        path = place / "changed.sqlite"
        path.write_bytes(found[name])
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
            change(db)
        found[name] = path.read_bytes()
    manifest["files"] = [
        {"name": name, "size": len(raw), "sha256": hashlib.sha256(raw).hexdigest(), "changed": 1.0}
        for name, raw in found.items()
    ]
    target = place / "strange.zip"
    with zipfile.ZipFile(target, "w") as archive:
        for name, raw in found.items():
            archive.writestr(name, raw)
        archive.writestr(MANIFEST, json.dumps(manifest))
    return target


def plants(sql: str) -> Change:
    return lambda db: db.executescript(sql)


HARMLESS = {
    "a trigger that deletes": "CREATE TRIGGER t1 AFTER INSERT ON entry BEGIN DELETE FROM link; END;",
    "a trigger that rewrites": "CREATE TRIGGER t2 BEFORE INSERT ON entry BEGIN UPDATE person SET name = 'Eve'; END;",
    "guards that are gone": "DROP TRIGGER entry_stays; DROP TRIGGER entry_remains; DROP TRIGGER link_stays;",
    "a view that never ends": f"CREATE VIEW v AS {ENDLESS};",
    "a view that never ends, named as a table is": f"DROP TABLE summary; CREATE VIEW summary AS {ENDLESS};",
    "views that double": DOUBLING,
    "a table of another name": "CREATE TABLE secrets (x); INSERT INTO secrets VALUES (randomblob(100000));",
    "an index that computes": "CREATE INDEX i ON entry (abs(at) * 2);",
    "a summary that lies": 'INSERT OR REPLACE INTO summary VALUES (1, 21, \'{"won": "Eve"}\');',
    "a file of its own settings": "PRAGMA journal_mode = WAL; PRAGMA auto_vacuum = FULL;",
}


@pytest.mark.parametrize("sql", HARMLESS.values(), ids=HARMLESS.keys())
def test_nothing_but_rows_comes_along(data: Path, entries: list[Entry], tmp_path: Path, sql: str) -> None:
    source = strange(data, {JOURNAL: plants(sql)})
    new = tmp_path / "new"
    _, former = restore(source, new)
    assert standing(new, former).damage == ()
    assert entries_of(new) == entries
    with contextlib.closing(open_database(new / JOURNAL, SCHEMA)) as db:
        assert db.execute("SELECT count(*) FROM summary").fetchone() == (0,)
        ours = statements(db)
    with contextlib.closing(Journal(new / JOURNAL)) as journal:
        journal.append("pause", {})
        assert journal.people() == {"p1": "Ann"}
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        migrate(db, SCHEMA)
        assert ours == statements(db)


REFUSED = {
    "a view in the place of the entries": f"DROP TABLE entry; CREATE VIEW entry AS {ENDLESS};",
    "columns that compute": "DROP TABLE link; "
    "CREATE TABLE link (seq INTEGER PRIMARY KEY, hash BLOB AS (zeroblob(seq * 1000000)));",
    "version 0": "PRAGMA user_version = 0;",
    "version -1": "PRAGMA user_version = -1;",
    "version 99": "PRAGMA user_version = 99;",
    "an older version than its tables": "PRAGMA user_version = 1;",
    "another program's": "PRAGMA application_id = 7;",
    "a gap": "DROP TRIGGER entry_remains; DELETE FROM entry WHERE seq = 5;",
    "a table without rows of ours": "DROP TABLE person; CREATE TABLE person (id TEXT, name TEXT, since INTEGER);",
    "a schema that is none": "PRAGMA writable_schema = ON; "
    "UPDATE sqlite_schema SET sql = 'CREATE' WHERE name = 'link';",
    "a person who is a stranger's": "INSERT INTO person (id, since, same_as) VALUES ('x', 1, 'nobody');",
}


@pytest.mark.parametrize("sql", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_in_no_form_of_ours_is_refused_and_nothing_changes(data: Path, entries: list[Entry], sql: str) -> None:
    source = strange(data, {JOURNAL: plants(sql)})
    before = sorted(path.name for path in data.iterdir())
    try:
        restore(source, data)
    except BackupError as error:
        assert error.key in {"not-ours", "broken", "newer"} and str(error).endswith(".")
        assert sorted(path.name for path in data.iterdir() if path.name != "lock") == before
    else:
        assert sql == REFUSED["an older version than its tables"]  # its links are made anew
    assert entries_of(data) == entries


def test_the_book_of_the_training_room_is_copied_too(data: Path, tmp_path: Path) -> None:
    planted = "CREATE TRIGGER t AFTER UPDATE ON people BEGIN DELETE FROM taken; END;"
    restore(strange(data, {TRAINING: plants(planted)}), tmp_path / "new")
    with contextlib.closing(sqlite3.connect(tmp_path / "new" / TRAINING)) as db:
        assert "t" not in statements(db)
    with contextlib.closing(PracticeDatabase(tmp_path / "new" / TRAINING)) as training:
        assert [one.name for one in training.people()] == ["Ann"]
    endless = f"DROP TABLE rounds; CREATE VIEW rounds AS {ENDLESS};"
    with pytest.raises(BackupError):
        restore(strange_again(data, {TRAINING: plants(endless)}), tmp_path / "newer")


def strange_again(data: Path, changes: dict[str, Change | str]) -> Path:
    (data.parent / "own.zip").unlink()
    return strange(data, changes)


@pytest.mark.parametrize("form", book.forms())
def test_books_of_every_age_are_known(data: Path, tmp_path: Path, form: tuple[str, ...]) -> None:
    (data / TRAINING).unlink()
    with contextlib.closing(sqlite3.connect(data / TRAINING, isolation_level=None)) as db:
        db.execute(f"PRAGMA application_id = {book.APPLICATION_ID}")
        for statement in form:
            db.executescript(statement)
        db.execute("INSERT INTO people (at, name) VALUES (1, 'Ann')")
    back_up(data, tmp_path / "one.zip")
    restore(tmp_path / "one.zip", tmp_path / "new")
    with contextlib.closing(PracticeDatabase(tmp_path / "new" / TRAINING)) as training:
        assert [one.name for one in training.people()] == ["Ann"]


def test_a_file_of_another_name_is_never_opened_as_a_database(data: Path, tmp_path: Path) -> None:
    (data / "recipes.sqlite").write_bytes(b"")
    source = strange(data, {"recipes.sqlite": plants(f"CREATE VIEW v AS {ENDLESS}")})
    restore(source, tmp_path / "new")
    assert (tmp_path / "new" / "recipes.sqlite").exists()


def test_settings_of_the_machine_are_shown_and_not_taken(data: Path, tmp_path: Path) -> None:
    brought = {
        "house_name": "Elsewhere",
        "host_names": ["evil.example"],
        "camera_source": "/etc",
        "mqtt_address": "mqtt://evil.example",
        "panel_pins": ["standard"],
        "watchers_pictures": True,
        "keep_shakes": "many",
        "unknown": 1,
    }
    Settings(data / "settings.json").set({"camera_source": "usb:0", "house_name": "Here"})
    source = strange(data, {"settings.json": json.dumps(brought)})
    _, former = restore(source, data)
    now = Settings(data / "settings.json")
    assert (now.text("house_name"), now.text("camera_source"), now.lines("host_names")) == ("Elsewhere", "usb:0", ())
    assert not now["watchers_pictures"] and now.text("mqtt_address") == ""
    offered = standing(data, former).offered
    assert offered == now.offered()
    assert offered == {
        "host_names": ("evil.example",),
        "camera_source": "/etc",
        "mqtt_address": "mqtt://evil.example",
        "panel_pins": ("standard",),
        "watchers_pictures": True,
    }
    now.set({"camera_source": "/etc"})
    assert "camera_source" not in now.offered()
    now.settle(["mqtt_address"])
    assert now.offered().keys() == {"host_names", "panel_pins", "watchers_pictures"}
    now.settle(offered)
    assert now.offered() == {} and json.loads((data / OFFERED).read_text()) == {}
    # Of the machine's own backup nothing is asked.
    back_up(data, tmp_path / "mine.zip")
    _, former = restore(tmp_path / "mine.zip", data)
    assert standing(data, former).offered == {}
    (data / "settings.json").unlink()
    back_up(data, tmp_path / "none.zip")
    Settings(data / "settings.json").set({"camera_source": "usb:1"})
    restore(tmp_path / "none.zip", data)
    assert Settings(data / "settings.json").text("camera_source") == "usb:1"


# --- the mark, and what helps ---------------------------------------------------------------------------------------


def test_a_restore_sets_the_mark_and_says_what_came_later(data: Path, tmp_path: Path) -> None:
    back_up(data, tmp_path / "one.zip")
    with contextlib.closing(Journal(data / JOURNAL)) as journal:
        for _ in range(3):
            journal.append("pause", {})
    _, former = restore(tmp_path / "one.zip", data)
    mark = MarkFile(data / JOURNAL).read()
    assert mark is not None and mark.seq == 21
    assert standing(data, former).later == 3
    # What is lost of the nights that were brought back is told as of any others.
    with contextlib.closing(sqlite3.connect(data / JOURNAL, isolation_level=None)) as db:
        guards = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            db.execute(f"DROP TRIGGER {name}")
        db.execute("DELETE FROM entry WHERE seq > 19")
        db.execute("DELETE FROM link WHERE seq > 19")
        for _, guard in guards:
            db.execute(guard)
    with contextlib.closing(Journal(data / JOURNAL)) as journal:
        assert [(one.first, one.last) for one in journal.damage] == [(20, 21)]


@pytest.fixture
def companion(capsys: pytest.CaptureFixture[str]) -> Companion:
    """The command line: its exit status and what it says."""

    def call(*arguments: object) -> tuple[int, str]:
        status = run([str(one) for one in arguments])
        said = capsys.readouterr()
        return status, said.out + said.err

    return call


def spoil(folder: Path) -> None:
    with contextlib.closing(sqlite3.connect(folder / JOURNAL, isolation_level=None)) as db:
        guards = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            db.execute(f"DROP TRIGGER {name}")
        db.execute("UPDATE entry SET by = 'Eve' WHERE seq = 7")
        for _, guard in guards:
            db.execute(guard)


def test_restore_takes_the_backup_that_helps(data: Path, entries: list[Entry], companion: Companion) -> None:
    back_up_into(data, data / BACKUPS, keep=5, pictures=False)
    spoil(data)
    back_up_into(data, data / BACKUPS, keep=5, pictures=False)  # which copied the damage
    status, said = companion("restore", "--data", data)
    assert status == 0, said
    assert entries_of(data) == entries
    with contextlib.closing(Journal(data / JOURNAL)) as journal:
        assert journal.damage == ()


def test_restore_that_would_not_help_says_so_and_changes_nothing(data: Path, companion: Companion) -> None:
    spoil(data)
    path, _ = back_up_into(data, data / BACKUPS, keep=5, pictures=False)
    before = entries_of(data)
    status, said = companion("restore", "--data", data)
    assert status != 0 and "nothing was changed" in said
    assert entries_of(data) == before
    assert look_into(path)[1][0].first == 7
    # Named, it is brought back, and what is damaged in it is said.
    status, said = companion("restore", path, "--data", data)
    assert status == 1 and "Entries 7 to 7 were damaged already" in said
    status, said = companion("restore", path, "--data", data, "--check", "--json")
    assert status == 1 and json.loads(said)["damage"] == [{"first": 7, "last": 7}]


@pytest.mark.parametrize("name", [JOURNAL, TRAINING])
@pytest.mark.parametrize(("version", "says"), [(99, "made by a newer companion"), (-1, "not a companion’s backup")])
def test_a_backup_of_another_version_is_refused_by_the_check_as_by_restore(
    data: Path, tmp_path: Path, companion: Companion, name: str, version: int, says: str
) -> None:
    source = strange(data, {name: plants(f"PRAGMA user_version = {version}")})
    answers = [companion("restore", source, "--data", tmp_path / "new", *more) for more in (("--check",), ())]
    assert answers[0] == answers[1]
    assert answers[0][0] != 0 and says in answers[0][1]
    assert not (tmp_path / "new" / JOURNAL).exists()


@pytest.mark.parametrize("name", [JOURNAL, TRAINING])
def test_what_restore_refuses_as_newer_is_called_sound_by_nobody(data: Path, companion: Companion, name: str) -> None:
    source = strange(data, {name: plants("PRAGMA user_version = 99;")})
    status, refused = companion("restore", source, "--data", data.parent / "new")
    assert status == 2 and "newer companion" in refused
    assert companion("restore", source, "--data", data, "--check") == (status, refused)
    (data / BACKUPS).mkdir()
    source.rename(data / BACKUPS / "companion-0001-20260101.zip")
    findings = nights.nights(Host(User("me", data.stat().st_uid or 1, frozenset()), data.parent), data)[0]
    said = {one.state for one in findings if one.check == "backup"}
    assert FindingState.WRONG in said and FindingState.GOOD not in said


def test_a_look_into_a_backup_leaves_its_pictures_packed(data: Path, tmp_path: Path) -> None:
    picture = data / EVIDENCE / "aa" / "a.jpg"
    picture.parent.mkdir(parents=True)
    picture.write_bytes(b"a picture")
    back_up(data, tmp_path / "own.zip")
    for pictures in (False, True):
        folder = tmp_path / f"unpacked-{pictures}"
        assert examine(tmp_path / "own.zip", unpack=folder, pictures=pictures).picture_count == 1
        assert (folder / EVIDENCE).exists() == pictures and (folder / JOURNAL).exists()


def test_restore_asks_for_settings_in_words(data: Path, tmp_path: Path, companion: Companion) -> None:
    source = strange(data, {"settings.json": json.dumps({"host_names": ["evil.example", "b"]})})
    status, said = companion("restore", source, "--data", tmp_path / "new")
    assert status == 0 and "host_names = evil.example, b" in said and "None of it was taken" in said


def test_no_mark_of_a_stranger_comes_along(data: Path, tmp_path: Path) -> None:
    with pytest.raises(BackupError):
        restore(strange(data, {f"{JOURNAL}{MARK}": "x"}), tmp_path / "new")
    assert examine(data.parent / "own.zip").seq == 21
