"""Backups by themselves: when they are made, where, how many are kept; the stick; the clock that jumps."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from companion.night.backup.archive import examine
from companion.night.backup.clock_check import TRUSTED_AFTER_S, ClockWatch
from companion.night.backup.scheduler import DAY_S, RETRY_S, STICK_FOLDER, BackupScheduler, backups, next_name, sticks
from companion.night.export.bgstats import URL, bgg_ids, plays
from companion.ports import BadDataError

Table = Any


class Time:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def table(new_table: Callable[..., Table], tmp_path: Path) -> Table:
    (tmp_path / "data").mkdir()
    made = new_table("data/journal.sqlite")
    made.shaking()
    return made


@pytest.fixture
def clock() -> Time:
    return Time()


def keeper(
    table: Table, clock: Time, *, keep: int = 3, found: list[Path] | None = None, use: bool = True
) -> BackupScheduler:
    return BackupScheduler(
        table.path.parent,
        last_seq=lambda: table.journal.last_seq,
        keep=lambda: keep,
        use_sticks=lambda: use,
        find_sticks=lambda: found or [],
        clock=clock,
    )


def test_one_a_day_where_something_happened_and_only_a_few(table: Table, clock: Time) -> None:
    at_work = keeper(table, clock)
    place = table.path.parent / "backups"
    for day in range(5):
        done = at_work.tend()
        assert [d.where for d in done] == ["card"]
        assert done[0].manifest is not None and not done[0].manifest.pictures
        assert at_work.tend() == []
        clock.now += DAY_S / 2
        table.moves("take red" if day % 2 == 0 else "return red")
        assert at_work.tend() == []
        clock.now += DAY_S / 2
    kept = backups(place)
    assert [path.name[:14] for path in kept] == ["companion-0003", "companion-0004", "companion-0005"]
    newest = examine(kept[-1]).seq
    assert newest == table.journal.last_seq - 1
    # Nothing happened since: nothing to copy.
    at_work.tend()
    count = len(list(place.iterdir()))
    clock.now += 10 * DAY_S
    assert at_work.tend() == []
    assert len(list(place.iterdir())) == count
    # A restart with nothing new copies nothing either, one with news does at once.
    clock.now = 5.0
    assert keeper(table, clock).tend() == []
    table.do("pause")
    assert len(keeper(table, clock).tend()) == 1


def test_none_where_none_is_wanted(table: Table, clock: Time) -> None:
    assert keeper(table, clock, keep=0).tend() == []


def test_what_fails_is_said_and_tried_again(table: Table, clock: Time) -> None:
    place = table.path.parent / "backups"
    place.write_text("in the way")
    at_work = keeper(table, clock)
    (failed,) = at_work.tend()
    assert failed.manifest is None
    assert "could not be made" in failed.words.en and "sauvegarde" in failed.words.fr
    assert at_work.tend() == []
    place.unlink()
    clock.now += RETRY_S
    (made,) = at_work.tend()
    assert made.manifest is not None


def test_a_stick_that_was_chosen_gets_everything(table: Table, clock: Time, tmp_path: Path) -> None:
    stick = tmp_path / "media" / "STICK"
    stick.mkdir(parents=True)
    found: list[Path] = [stick]
    at_work = keeper(table, clock, keep=0, found=found)
    assert at_work.tend() == []  # no folder of ours: somebody's own stick
    (stick / STICK_FOLDER).mkdir()
    (stick / STICK_FOLDER / "holiday.jpg").write_text("not ours")
    (done,) = at_work.tend()
    assert done.where == "stick" and done.manifest is not None and done.manifest.pictures
    assert "may be unplugged" in done.words.en
    assert at_work.tend() == []
    table.moves("take red")
    assert at_work.tend() == []
    # Plugged in again: what is new is copied at once.
    found.clear()
    at_work.tend()
    found.append(stick)
    (again,) = at_work.tend()
    assert again.manifest is not None and again.manifest.seq == table.journal.last_seq
    for n in range(9):
        table.moves("return red" if n % 2 == 0 else "take red")
        clock.now += DAY_S
        assert len(at_work.tend()) == 1
    assert len(backups(stick / STICK_FOLDER)) == 5
    assert (stick / STICK_FOLDER / "holiday.jpg").exists()
    assert keeper(table, clock, keep=0, found=found, use=False).tend() == []


def test_a_stick_that_cannot_be_written_is_said(table: Table, clock: Time, tmp_path: Path) -> None:
    (tmp_path / STICK_FOLDER).mkdir()
    table.path.write_bytes(b"rubbish" * 2000)
    (done,) = keeper(table, clock, keep=0, found=[tmp_path]).tend()
    assert done.manifest is None and "USB stick" in done.words.en and "clé USB" in done.words.fr


def test_names_go_up_whatever_the_clock_says(tmp_path: Path) -> None:
    assert next_name(tmp_path, now=0).startswith("companion-0001-no-date")
    for name in ("companion-0009-20300101.zip", "companion-0010-20240101.zip", "companion-x-20240101.zip"):
        (tmp_path / name).touch()
    assert next_name(tmp_path, now=1_790_000_000) == "companion-0011-20260921.zip"
    assert [p.name for p in backups(tmp_path)] == ["companion-0009-20300101.zip", "companion-0010-20240101.zip"]


def test_which_mounts_are_sticks(tmp_path: Path) -> None:
    sys_root = tmp_path / "sys"
    for device, way in {"sda1": "devices/usb1/1-1/block/sda/sda1", "mmcblk0p2": "devices/mmc0/mmcblk0p2"}.items():
        (sys_root / way).mkdir(parents=True)
        (sys_root / "class" / "block").mkdir(parents=True, exist_ok=True)
        (sys_root / "class" / "block" / device).symlink_to(sys_root / way)
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "proc /proc proc rw 0 0\n/dev/mmcblk0p2 / ext4 rw 0 0\n/dev/mmcblk0p2 /media/x ext4 rw 0 0\n"
        "/dev/sda1 /media/MY\\040STICK vfat rw 0 0\n/dev/sda1 / ext4 rw 0 0\n/dev/gone9 /media/y vfat rw 0 0\n"
    )
    assert sticks(mounts, sys_root, lambda path: True) == [Path("/media/MY STICK")]
    assert sticks(mounts, sys_root, lambda path: False) == []
    assert sticks(tmp_path / "nothing", sys_root) == []


# --- the clock ---------------------------------------------------------------------------------------------------


def test_a_jump_is_noticed_once_and_nothing_is_deleted_after_it() -> None:
    wall, steady = Time(), Time()
    watch = ClockWatch(wall, steady)
    for _ in range(5):
        wall.now += 60
        steady.now += 60
        assert watch.look() is None
    assert watch.trusted(last_at_ms=0)
    wall.now += 3 * 24 * 3600
    jump = watch.look()
    assert jump is not None and round(jump.seconds / 86400) == 3
    assert "forward by 4320 minutes" in jump.words.en and "avancée de 4320 minutes" in jump.words.fr
    assert watch.look() is None
    assert not watch.trusted(last_at_ms=0)
    steady.now += TRUSTED_AFTER_S
    wall.now += TRUSTED_AFTER_S
    assert watch.trusted(last_at_ms=0)
    wall.now -= 3600
    back = watch.look()
    assert back is not None and "back by 60 minutes" in back.words.en and "reculée" in back.words.fr


def test_a_clock_behind_the_journal_deletes_nothing() -> None:
    wall = Time()
    watch = ClockWatch(wall, Time())
    assert watch.behind(2_000_000) and not watch.trusted(2_000_000)
    assert not watch.behind(1_000_000) and watch.trusted(1_000_000)


# --- BG Stats ----------------------------------------------------------------------------------------------------


PLAYED = Path(__file__).parents[2] / "rules" / "igloo_pop" / "playthrough.jsonl"


def test_a_finished_game_becomes_a_link(table: Table) -> None:
    assert plays(table.journal) == []
    table.do("close-match")
    header, *moves = (json.loads(line) for line in PLAYED.read_text(encoding="utf-8").splitlines())
    table.do("open-match", {**header, "draw": False})
    for n in range(0, len(moves), 10):
        table.moves(*moves[n : n + 10])
    assert table.match["over"]
    left, game = plays(table.journal, {"igloo-pop": 4321})
    assert left["play"]["comments"] and not any(p["winner"] for p in left["play"]["players"]), "put away in a round"
    assert "comments" not in game["play"]
    _, same = plays(table.journal, {})
    play = game["play"]
    assert json.loads(unquote(game["url"].removeprefix(URL))) == play
    assert play["sourcePlayId"] == same["play"]["sourcePlayId"] == table.match["id"]
    assert play["game"] == {
        "name": "Igloo Pop",
        "sourceGameId": "igloo-pop",
        "highestWins": True,
        "noPoints": False,
        "bggId": 4321,
    }
    assert "bggId" not in same["play"]["game"]
    assert [p["name"] for p in play["players"]] == [p["name"] for p in header["players"]]
    scores = {p["colour"]: p["score"] for p in table.match["players"]}
    assert {p["role"]: p["score"] for p in play["players"]} == scores
    assert any(p["winner"] for p in play["players"])
    assert all(p["winner"] == (p["rank"] == 1) for p in play["players"])
    assert len({p["sourcePlayerId"] for p in play["players"]}) == len(header["players"])


def test_numbers_of_boardgamegeek_are_the_owners() -> None:
    assert bgg_ids(("igloo-pop 12",)) == {"igloo-pop": 12}
    for line in ("igloo-pop", "chess 5", "igloo-pop x", "igloo-pop \x1f98", f"igloo-pop {'9' * 5000}"):
        with pytest.raises(BadDataError, match="game and its number"):
            bgg_ids((line,))
