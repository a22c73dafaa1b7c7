"""What released versions wrote is read by this one: they wrote the files in `released/`, which stay as they are.

A new schema adds a migration, never a change to these files; a new release adds a folder.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from companion.access import store
from companion.access.store import Access
from companion.events.hub import Hub
from companion.night.answers import TABLE
from companion.night.backup.archive import back_up
from companion.night.backup.restore import restore
from companion.night.commands.night import Night
from companion.night.export.files import to_json
from companion.night.log import journal
from companion.night.log.journal import Journal
from companion.settings import Settings

RELEASED = sorted(Path(__file__).with_name("released").iterdir())


@pytest.fixture(params=RELEASED, ids=lambda path: path.name)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    shutil.copytree(request.param, tmp_path / "data")
    return tmp_path / "data"


def missing(expected: Any, found: Any, where: str = "") -> list[str]:
    """Return what was there and is there no more, or is another; what came anew is welcome."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return [
            line
            for key, value in expected.items()
            for line in ([f"{where}.{key}"] if key not in found else missing(value, found[key], f"{where}.{key}"))
        ]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [line for n, value in enumerate(expected) for line in missing(value, found[n], f"{where}[{n}]")]
    return [] if expected == found else [f"{where}: {expected!r} is now {found!r}"]


def expected(folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    return told


def test_there_is_a_folder_for_each_schema() -> None:
    versions = set()
    for path in RELEASED:
        with contextlib.closing(sqlite3.connect(path / "journal.sqlite")) as db:
            versions |= set(db.execute("PRAGMA user_version").fetchone())
    assert versions <= set(range(1, journal.SCHEMA.version + 1))
    assert 1 in versions
    assert store.SCHEMA.version >= 1


def test_the_nights_are_read_and_go_on(folder: Path) -> None:
    told = expected(folder)
    with contextlib.closing(Journal(folder / "journal.sqlite")) as opened:
        assert opened.check() == []
        assert missing(told["export"], json.loads(json.dumps(to_json(opened)))) == []
        night = Night(opened, Hub())
        view = night.view("host")
        old = told["view"]["match"]
        assert (view["seq"], view["state"], view["match"]["id"]) == (
            told["view"]["seq"],
            told["view"]["state"],
            old["id"],
        )
        assert [(p["name"], p["colour"], p["score"]) for p in view["match"]["players"]] == [
            (p["name"], p["colour"], p["score"]) for p in old["players"]
        ]
        assert view["match"]["cards"] == old["cards"]
        assert night.do("moves", {"moves": ["return green"]}, by=TABLE, action_id="after").ok
    with contextlib.closing(sqlite3.connect(folder / "journal.sqlite")) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (journal.SCHEMA.version,)


def test_phones_and_settings_are_known_again(folder: Path) -> None:
    told = expected(folder)
    with contextlib.closing(Access(folder / "access.sqlite")) as opened:
        assert opened.pin == told["pin"]
        session = opened.session(told["secret"])
        assert session is not None and session.role == "host"
    settings = Settings(folder / "settings.json")
    assert settings.note == ""
    assert settings.text("house_name") == "Chez nous" and settings.number("keep_pictures_days") == 7


def test_a_backup_of_it_is_restored(folder: Path, tmp_path: Path) -> None:
    back_up(folder, tmp_path / "old.zip")
    restore(tmp_path / "old.zip", tmp_path / "fresh")
    with contextlib.closing(Journal(tmp_path / "fresh" / "journal.sqlite")) as opened:
        assert missing(expected(folder)["export"], json.loads(json.dumps(to_json(opened)))) == []
