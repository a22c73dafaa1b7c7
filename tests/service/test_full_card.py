"""A card that stops taking writes while the service runs: what was acknowledged is kept, and the rest is said."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.events.hub import Hub
from companion.lab.soak import faults, sd_card
from companion.lab.soak.play import ServedCompanion
from companion.night.log.data_folder import refusal, unwritable, write_small
from companion.night.log.database import StorageError
from companion.night.log.journal import Journal
from companion.service import maintenance
from companion.service.maintenance import Maintenance
from companion.settings import Settings
from tests.worlds.wait import PATIENCE_S

pytestmark = pytest.mark.process


@pytest.fixture
def card(tmp_path: Path) -> Iterator[sd_card.SdCard]:
    made = sd_card.SdCard(tmp_path)
    yield made
    made.close()


only_where_one_can_die = pytest.mark.skipif(bool(sd_card.impossible()), reason=sd_card.impossible())


@only_where_one_can_die
def test_a_card_that_dies_in_mid_run(tmp_path: Path) -> None:
    told = sd_card.dying(tmp_path)
    assert (told.refused, told.other, told.lost) == (13, 0, 0)
    assert told.doctor == "wrong: The card is read-only: nothing can be written."
    assert (told.readable, told.saved, told.went_on) == (True, True, True)


def test_a_service_whose_writes_are_refused_goes_on_when_they_are_not(tmp_path: Path) -> None:
    companion = ServedCompanion(tmp_path / "data")
    try:
        assert sd_card.held(companion) == sd_card.Held(refused=10, went_on=True)
    finally:
        companion.close()


@only_where_one_can_die
def test_the_table_hears_of_it_before_a_move_is_lost(card: sd_card.SdCard) -> None:
    journal, hub = Journal(card.place / "journal.sqlite"), Hub()
    heard = hub.subscribe(["notice"])
    watching = Maintenance(card.place, journal, Settings(None), hub, every_s=0.05)
    watching.start()
    try:
        card.fail()
        # A backup that was due in that very moment may say so first.
        said = next(event for event in iter(lambda: heard.get(timeout=PATIENCE_S), None) if "card" in event.data)
        assert (said.data["card"], "cannot be written any more" in said.data["en"]) == ("card-read-only", True)
        with pytest.raises(StorageError) as error:
            journal.append("note", {})
        assert error.value.key == "disk-read-only"
    finally:
        watching.close()
        journal.close()


def test_it_is_said_again_while_it_lasts_and_once_when_it_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([OSError(28, "No space left on device")] * 3 + [None, None])
    monkeypatch.setattr(maintenance, "refusal", lambda _: next(answers))
    monkeypatch.setattr(maintenance, "unwritable", lambda _: True)
    journal, hub = Journal(tmp_path / "journal.sqlite"), Hub()
    heard = hub.subscribe(["notice"])
    watching = Maintenance(tmp_path, journal, Settings(None), hub)
    for remind_s in (600.0, 600.0, 0.0, 600.0, 600.0):
        monkeypatch.setattr(maintenance, "REMIND_S", remind_s)
        watching._try_the_card()
    said = []
    while (event := heard.get(timeout=0)) is not None:
        said.append(event.data["card"])
    assert said == ["card-full", "card-full", "card-again"]
    journal.close()


@pytest.mark.parametrize(
    ("mount", "super_options", "ended"),
    [
        ("rw,relatime", "rw,errors=remount-ro", False),
        ("rw,relatime", "ro,errors=remount-ro", True),
        ("rw,relatime", "rw,errors=remount-ro,emergency_ro", True),
        ("ro,relatime", "rw", True),
    ],
)
def test_what_the_mount_says(tmp_path: Path, mount: str, super_options: str, ended: bool) -> None:
    told = tmp_path / "mountinfo"
    told.write_text(
        f"1 2 8:1 / / ro,relatime shared:1 - ext4 /dev/y {super_options}\n"
        f"3 2 8:1 {tmp_path} {tmp_path} {mount} shared:1 - ext4 /dev/y {super_options}\n"
        f"4 2 0:99 / {tmp_path}-other ro shared:1 - ext4 /dev/x ro\n"
    )
    assert unwritable(tmp_path, told) == ended


@only_where_one_can_die
def test_a_closed_journal_on_a_dead_card_is_read(card: sd_card.SdCard) -> None:
    path = card.place / "journal.sqlite"
    journal = Journal(path)
    journal.append("note", {"n": 1})
    journal.close()
    assert (refusal(card.place), unwritable(card.place)) == (None, False)
    card.fail()
    assert refusal(card.place) is not None
    assert unwritable(card.place)
    reader = Journal(path, read_only=True)
    assert [entry.body for entry in reader.since()] == [{"n": 1}]
    reader.close()


def test_what_refuses_is_asked_of_the_folder_itself(tmp_path: Path) -> None:
    assert refusal(tmp_path) is None
    assert list(tmp_path.iterdir()) == []
    error = refusal(tmp_path / "none")
    assert error is not None and error.errno == 2
    if os.geteuid() != 0:  # root may write everywhere
        tmp_path.chmod(0o500)
        error = refusal(tmp_path)
        assert error is not None and error.errno == 13


def test_a_small_file_is_written_whole_or_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "votes.json"
    write_small(path, "first")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("first", 0o600)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            write_small(path, "second")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_text() == "first"
    write_small(path, "third")
    assert [one.name for one in tmp_path.iterdir()] == ["votes.json"]
    assert path.read_text() == "third"


@only_where_one_can_die
def test_a_start_on_a_dead_card_says_how_the_nights_are_saved(card: sd_card.SdCard) -> None:
    data = card.place / "data"
    data.mkdir()
    card.fail()
    said = faults._refused_start(data)
    assert "cannot be written: Read-only file system" in said
    assert "companion backup --stick" in said
