"""The nights are safe: `companion backup`, `restore` and `export`, and what the service does by itself."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from companion.cli import run
from companion.events.hub import Hub
from companion.night.backup.archive import BACKUPS, examine
from companion.night.backup.clock_check import ClockWatch
from companion.night.backup.scheduler import STICK_FOLDER, backups
from companion.night.log.journal import Journal
from companion.service.maintenance import TEND_EVERY_S, Maintenance
from companion.settings import Settings
from tests.worlds.served import Served
from tests.worlds.wait import PATIENCE_S, wait

pytestmark = pytest.mark.process

PLAYERS = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]
CARDS = ["4", "4/5", "5/6", "6/7", "7/8", "8/9", "9/10", "2", "3"]


def test_an_evening_is_backed_up_lost_and_restored(
    serve: Callable[..., Served], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = str(tmp_path / "data")
    served = serve()
    assert served.do("open-match", {"game": "igloo-pop", "players": PLAYERS, "setup": {"cards": CARDS}})["ok"]
    assert served.do("moves", {"moves": ["start"]})["ok"]
    # While it runs: a copy by hand, the companion's own, exports; but no restoring.
    target = str(tmp_path / "mine.zip")
    assert run(["backup", target, "--data", data, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    seq = served.get("/api/state")["view"]["seq"]
    assert (said["file"], said["seq"]) == (target, seq)
    wait(lambda: served.get("/api/health")["backups"].get("card"))
    assert served.get("/api/health")["backups"]["card"]["ok"]
    assert data not in json.dumps(served.get("/api/health"))
    assert run(["export", "csv", "--data", data]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["name"] for row in rows] == ["Ann", "Bob"]
    assert run(["restore", target, "--data", data]) == 2
    assert "is running" in capsys.readouterr().err
    later = served.do("moves", {"moves": ["take red"]})
    assert later["ok"]
    served.close()

    # The card damaged the journal: said on the page, the table plays on, and the way back is one command.
    (tmp_path / "data" / "journal.sqlite").write_bytes(b"gone" * 5000)
    damaged = serve()
    (damage,) = damaged.get("/api/state")["view"]["damage"]
    assert damage["missing"] and damage["last"] == later["seq"]
    damaged.close()
    # What is no journal of ours, and of which no mark tells, is left alone: nobody's file is taken for damage.
    command = [sys.executable, "-m", "companion", "serve", "--port", "0", "--data", str(tmp_path / "other")]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "journal.sqlite").write_bytes(b"else" * 5000)
    refused = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1
    assert "damaged" in refused.stderr and "companion restore" in refused.stderr
    assert run(["restore", target, "--data", data, "--lang", "fr"]) == 0
    assert "Restauré" in capsys.readouterr().out
    again = serve()
    view = again.get("/api/state")["view"]
    assert (view["seq"], view["match"]["phase"]) == (seq, "shaking")
    # Who hosted still does: secrets are no part of a backup and stay where they are.
    assert again.do("moves", {"moves": ["take red"]})["ok"]


def test_a_restore_that_was_cut_off_is_finished_at_the_start(serve: Callable[..., Served], tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    old = Journal(data / "journal.sqlite")
    old.append("note", {})
    old.close()
    stage = data / ".restoring"
    (stage / "new").mkdir(parents=True)
    new = Journal(stage / "new" / "journal.sqlite")
    for _ in range(7):
        new.append("note", {})
    new.close()
    (stage / "new" / "journal.sqlite.lock").unlink()
    (stage / "swap.json").write_text(json.dumps({"step": "out", "former": "before-restore-x", "pictures": True}))
    served = serve()
    assert served.get("/api/state")["view"]["seq"] >= 7
    assert (data / "before-restore-x" / "journal.sqlite").exists()
    assert not stage.exists()


def test_a_night_comes_into_the_main_file_by_itself(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "data" / "journal.sqlite")
    for n in range(20):
        journal.append("note", {"n": n})
    caretaker = Maintenance(tmp_path / "data", journal, Settings(None), Hub(), every_s=0.01, find_sticks=lambda: [])
    caretaker.start()

    def alone() -> int:
        """Return how many entries there are if only the main file can be read."""
        copy = tmp_path / "alone.sqlite"
        shutil.copyfile(journal.path, copy)
        with (
            contextlib.suppress(sqlite3.DatabaseError),  # copied while it was written
            contextlib.closing(sqlite3.connect(f"file:{copy}?immutable=1", uri=True)) as db,
        ):
            return int(db.execute("SELECT count(*) FROM entry").fetchone()[0])
        return 0

    try:
        wait(lambda: alone() == 20)
    finally:
        caretaker.close()
        journal.close()
    assert TEND_EVERY_S < 60


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "data"
    nowhere = str(tmp_path / "nowhere")
    for arguments in (["backup"], ["restore"], ["export", "json"]):
        assert run([*arguments, "--data", nowhere]) == 2
        said = capsys.readouterr()
        assert said.out == "" and said.err.count("\n") == 1
    data.mkdir()
    journal = Journal(data / "journal.sqlite")
    journal.append("open-night", {"night": "n1"})
    journal.close()
    assert run(["backup", "--data", str(data)]) == 0
    assert run(["backup", "--data", str(data), "--lang", "fr"]) == 0
    assert "vérifié" in capsys.readouterr().out
    first, second = backups(data / BACKUPS)
    assert examine(first).seq == 1
    assert run(["restore", "--check", "--data", str(data), "--json"]) == 0
    said_json = json.loads(capsys.readouterr().out)
    assert (said_json["file"], said_json["former"]) == (str(second), None)
    assert run(["restore", "--data", str(data)]) == 0
    assert run(["restore", str(data / "settings.json"), "--data", str(data), "--lang", "fr"]) == 2
    assert "ne peut pas être lu" in capsys.readouterr().err
    assert run(["backup", str(first), "--data", str(data)]) == 2
    assert run(["backup", "x", "--stick", "--data", str(data)]) == 2
    (tmp_path / "place").mkdir()
    assert run(["backup", str(tmp_path / "place"), "--data", str(data)]) == 0
    assert len(backups(tmp_path / "place")) == 1
    capsys.readouterr()
    out = tmp_path / "nights.json"
    assert run(["export", "json", "--data", str(data), "--out", str(out)]) == 0
    assert [night["id"] for night in json.loads(out.read_text())["nights"]] == ["n1"]
    capsys.readouterr()
    assert run(["export", "bgstats", "--data", str(data)]) == 0
    assert capsys.readouterr().out == ""


# --- the caretaker -----------------------------------------------------------------------------------------------


def notices(caretaker: Maintenance, hub: Hub) -> list[dict[str, Any]]:
    """Let a caretaker work until it says something; return what that is."""
    with hub.subscribe(["notice"]) as heard:
        caretaker.start()
        event = heard.get(timeout=PATIENCE_S)
    caretaker.close()
    return [] if event is None else [dict(event.data)]


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    opened = Journal(tmp_path / "journal.sqlite")
    opened.append("open-night", {"night": "n1"})
    yield opened
    opened.close()


def test_a_stick_that_is_plugged_in_gets_a_copy_and_the_page_hears_of_it(tmp_path: Path, journal: Journal) -> None:
    stick = tmp_path / "stick"
    (stick / STICK_FOLDER).mkdir(parents=True)
    hub = Hub()
    caretaker = Maintenance(
        tmp_path, journal, Settings(None), hub, every_s=0.05, find_sticks=lambda: [stick] if stick.exists() else []
    )
    (notice,) = notices(caretaker, hub)
    assert (notice["backup"], notice["ok"]) == ("stick", True)
    assert "may be unplugged" in notice["en"] and "peut être retirée" in notice["fr"]
    (made,) = backups(stick / STICK_FOLDER)
    assert examine(made).seq == 1
    assert caretaker.status()["card"]["ok"] and caretaker.status()["stick"]["file"] == made.name


def test_a_failure_is_said(tmp_path: Path, journal: Journal) -> None:
    (tmp_path / BACKUPS).write_text("in the way")
    hub = Hub()
    (notice,) = notices(Maintenance(tmp_path, journal, Settings(None), hub, every_s=0.05, find_sticks=list), hub)
    assert (notice["backup"], notice["ok"]) == ("card", False)


def test_a_clock_behind_the_journal_is_said_and_deletes_nothing(tmp_path: Path, journal: Journal) -> None:
    hub = Hub()
    settings = Settings(None)
    settings.set({"nightly_backups": 0})
    watch = ClockWatch(wall=lambda: 1000.0)
    caretaker = Maintenance(tmp_path, journal, settings, hub, every_s=0.05, find_sticks=list, watch=watch)
    assert not caretaker.may_forget()
    (notice,) = notices(caretaker, hub)
    assert notice["clock"] == "behind"
    assert Maintenance(tmp_path, journal, settings, hub, find_sticks=list).may_forget()


def test_a_clock_that_jumps_is_said(tmp_path: Path, journal: Journal) -> None:
    times = iter([time.time(), time.time() + 86_400])
    last = [0.0]

    def wall() -> float:
        last[0] = next(times, last[0])
        return last[0]

    hub = Hub()
    settings = Settings(None)
    settings.set({"nightly_backups": 0})
    watch = ClockWatch(wall=wall, monotonic=lambda: 50.0)
    watch.behind = lambda at: False  # type: ignore[method-assign]
    caretaker = Maintenance(tmp_path, journal, settings, hub, every_s=0.05, find_sticks=list, watch=watch)
    (notice,) = notices(caretaker, hub)
    assert notice["clock"] == "jumped" and 86_000 < notice["seconds"] < 87_000
    shutil.rmtree(tmp_path / BACKUPS, ignore_errors=True)
