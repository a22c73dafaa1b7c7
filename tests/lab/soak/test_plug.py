"""The plug in small: what a recorded card keeps, and what an evening on it loses; `make machine-plug` does more."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.lab.soak import plug
from companion.lab.soak.recorded_card import Cut, RecordedCard, after, cuts, impossible, made
from companion.lab.soak.write_log import FLUSH, RECORD, WRITE, noted
from companion.night.log.journal import Journal
from tests.worlds.sizes import size

pytestmark = pytest.mark.process
only_where_one_can_be_recorded = pytest.mark.skipif(bool(impossible()), reason=impossible())


@pytest.fixture
def card(tmp_path: Path) -> Iterator[RecordedCard]:
    recorded = RecordedCard(tmp_path, made(tmp_path / "new.img", mib=16))
    yield recorded
    recorded.close()


def written(path: Path, text: str, *, safe: bool) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        if safe:
            os.fsync(file.fileno())


@only_where_one_can_be_recorded
def test_a_cut_leaves_what_was_flushed_and_nothing_else_for_sure(card: RecordedCard, tmp_path: Path) -> None:
    begin = card.position()
    written(card.place / "flushed", "is there", safe=True)
    kept = card.position()
    written(card.place / "in-memory", "is gone", safe=False)
    now = card.position()
    found = {
        (cut.at, cut.chance): {path.name: path.read_text() for path in place.iterdir() if path.is_file()}
        for cut, place in after(card, [Cut(begin, 0.0), Cut(kept, 0.0), Cut(now, 1.0)], tmp_path, random.Random(1))
    }
    assert found == {(begin, 0.0): {}, (kept, 0.0): {"flushed": "is there"}, (now, 1.0): {"flushed": "is there"}}


@only_where_one_can_be_recorded
def test_what_nobody_flushed_may_arrive_in_part(card: RecordedCard, tmp_path: Path) -> None:
    """Names reach the card before what is in the files: an empty file is what a program sees that did not flush."""
    written(card.place / "journalled", "", safe=True)
    for n in range(8):
        written(card.place / f"file-{n}", "x" * 5000, safe=False)
    written(card.place / "journalled", "again", safe=True)
    (found,) = (
        [(path.name, path.stat().st_size) for path in place.glob("file-*")]
        for _, place in after(card, [Cut(card.position(), 0.0)], tmp_path, random.Random(1))
    )
    assert sorted(found) == [(f"file-{n}", 0) for n in range(8)]


@only_where_one_can_be_recorded
def test_a_superblock_of_which_half_arrived_is_mended(card: RecordedCard, tmp_path: Path) -> None:
    written(card.place / "flushed", "is there", safe=True)
    now = card.position()
    whole = made(tmp_path / "other.img", mib=16).read_bytes()[1536:2048]
    with card.log.open("ab") as log:
        log.write(RECORD.pack(WRITE, 1536, 512) + whole)
    end = card.position()
    (found,) = (
        (place / "flushed").read_text() for _, place in after(card, [Cut(end, 1.0)], tmp_path, random.Random(1))
    )
    assert end > now and found == "is there"


def test_a_log_that_was_cut_off_ends_with_its_last_whole_record(tmp_path: Path) -> None:
    log = tmp_path / "writes.log"
    log.write_bytes(RECORD.pack(WRITE, 512, 3) + b"abc" + RECORD.pack(FLUSH, 0, 0) + RECORD.pack(WRITE, 0, 9) + b"torn")
    whole = RECORD.size + 3
    assert list(noted(log)) == [(whole, 512, b"abc"), (whole + RECORD.size, 0, None)]


def test_half_of_the_cuts_are_as_an_answer_came(tmp_path: Path) -> None:
    log = tmp_path / "writes.log"
    log.write_bytes(b"".join(RECORD.pack(FLUSH, 0, 0) for _ in range(100)))
    answers = [RECORD.size * n for n in range(10, 60)]
    where = cuts(log, 40, answers, random.Random(3), since=RECORD.size * 30)
    assert len(where) == 40 and where == sorted(where, key=lambda cut: (cut.at, cut.chance))
    assert sum(cut.at in answers and cut.chance == 0.0 for cut in where) >= 20
    assert all(cut.at >= RECORD.size * 30 for cut in where)


@only_where_one_can_be_recorded
@pytest.mark.sized
def test_whenever_the_power_goes_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    found = plug.pulled(tmp_path, size(16, 300), steps=size(8, 40), seed=22)
    assert found.problems == []
    assert found.cuts == size(16, 300) and found.hard > 0 and found.served > 0
    assert found.acknowledged > 10 and found.flushes > found.acknowledged


def test_the_comparison_would_notice(tmp_path: Path) -> None:
    """An answer that the journal does not hold, a name, a setting and a backup that are not there."""
    data = tmp_path / "data"
    journal = Journal(data / "journal.sqlite")
    journal.append("pause", {}, action_id="kept")
    journal.close()
    diary = plug.Diary(
        entries={"kept": 1, "gone": 2, "later": 9},
        people={"Ann": 3},
        settings=[(3, 4)],
        values=[7],
        backups={"companion-x.zip": 5},
        secret=("unknown", 6),
    )
    assert list(plug._missing(data, diary, 1)) == []
    assert list(plug._missing(data, diary, 6)) == [
        "entry gone",
        "person Ann",
        "the host's session",
        "setting None instead of 7",
        "backup companion-x.zip",
    ]
    assert list(plug._missing(tmp_path / "none", diary, 6)) == ["the whole data folder"]


def test_nights_that_are_brought_back_are_so_whole(tmp_path: Path) -> None:
    data = tmp_path / "data"
    journal = Journal(data / "journal.sqlite")
    for action in ("of both", "since the backup"):
        journal.append("pause", {}, action_id=action)
    journal.close()
    diary = plug.Diary(entries={"of both": 1, "since the backup": 2}, secret=("", 99), restoring=(10, 20))
    diary.brought = frozenset({"of both"})
    assert list(plug._missing(data, diary, 15)) == []  # not yet begun
    assert list(plug._missing(data, diary, 25)) == ["since the backup is of the former nights"]
