"""The people of the house: remembered, renamed, made one, forgotten; what they came to over all nights."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from companion.night.backup.archive import BACKUPS, examine, kept
from companion.night.backup.erase_name import erase_name
from companion.night.backup.restore import restore
from companion.night.backup.scheduler import back_up_into
from companion.night.export.files import to_csv, to_json
from companion.night.log.data_folder import EVIDENCE, FORGOTTEN, PEOPLE
from companion.night.log.database import migrate
from companion.night.log.journal import SCHEMA
from companion.night.log.pictures import EvidenceStore
from companion.night.people import People, PeopleError
from companion.practice.database import PracticeDatabase
from tests.night.conftest import NINE, Table

JPEG = b"\xff\xd8 a face \xff\xd9"
HOUR_MS = 3600 * 1000


class Home:
    """A data folder with a night and its people."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.table = Table(folder / "journal.sqlite")
        self.heard: list[tuple[str, str | None]] = []
        self.people = self.opened()

    def opened(self) -> People:
        return People(
            self.folder,
            self.table.journal,
            self.table.night,
            renamed=lambda old, new: self.heard.append((old, new)),
        )

    def game(self, *names: str) -> None:
        """Play a game to its end: the first of them loses all thalers."""
        colours = ("red", "blue", "green")
        players = [{"name": name, "colour": colour} for name, colour in zip(names, colours, strict=False)]
        self.table.open_match(players, setup={"cards": list(NINE.values())})
        self.table.moves("start", *["place red card2"] * 10)
        self.table.do("check")
        self.table.moves(*[f"reveal card2 {n}" for n in range(4, 14)])
        assert self.table.match["over"]
        self.table.do("close-match")

    def id(self, name: str) -> str:
        return next(one["id"] for one in self.people.all() if one["name"] == name)

    def figures(self, name: str) -> Any:
        return next(one["figures"] for one in self.people.all() if one["name"] == name)

    def holds(self, text: str) -> list[str]:
        """Return the files of the folder in which a text stands, those inside backups too."""
        found = []
        for path in self.folder.rglob("*"):
            if path.is_file() and text.encode() in path.read_bytes():
                found.append(path.name)
            if path.suffix == ".zip":
                with zipfile.ZipFile(path) as archive:
                    found += [
                        f"{path.name}:{name}" for name in archive.namelist() if text.encode() in archive.read(name)
                    ]
        return found


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path / "data")
    yield home
    home.table.close()


def test_who_played_is_remembered_with_colour_and_picture(home: Home) -> None:
    home.game("Ann", "Bob")
    ann = home.id("Ann")
    home.people.change(ann, {"colour": "violet", "token": "fox"})
    sha256 = home.people.picture(ann, JPEG)
    assert sha256 is not None
    told = next(one for one in home.people.all() if one["id"] == ann)
    assert (told["name"], told["colour"], told["token"], told["picture"]) == ("Ann", "violet", None, sha256)
    assert home.people.photo(sha256) == (JPEG, "image/jpeg")
    home.people.change(ann, {"token": "seal"})
    assert home.people.photo(sha256) is None
    home.people.add("Zoé")
    assert [one["name"] for one in home.people.all()] == ["Ann", "Bob", "Zoé"]


@pytest.mark.parametrize(
    ("work", "code"),
    [
        (lambda p, a, _: p.add(" ann "), "name-taken"),
        (lambda p, a, _: p.add("  "), "name"),
        (lambda p, a, _: p.add("x" * 41), "name"),
        (lambda p, a, _: p.change("nobody", {"colour": "red"}), "no-person"),
        (lambda p, a, _: p.change(a, {"colour": "pink"}), "colour"),
        (lambda p, a, _: p.change(a, {"token": "dragon"}), "token"),
        (lambda p, a, _: p.change(a, {"name": "BOB"}), "name-taken"),
        (lambda p, a, _: p.merge(a, a), "itself"),
        (lambda p, a, b: p.merge(a, b), "played-together"),
        (lambda p, a, _: p.forget("nobody"), "no-person"),
        (lambda p, a, _: p.picture("nobody", JPEG), "no-person"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(home: Home, work: Any, code: str) -> None:
    home.game("Ann", "Bob")
    before = home.people.all()
    with pytest.raises(PeopleError) as refused:
        work(home.people, home.id("Ann"), home.id("Bob"))
    assert refused.value.code == code
    assert home.people.all() == before


def test_a_new_name_stands_in_old_nights_too(home: Home) -> None:
    home.game("Ann", "Bob")
    home.people.change(home.id("Ann"), {"name": "Anna"})
    assert home.heard == [("Ann", "Anna")]
    assert "Anna,red" in to_csv(home.table.journal)
    assert home.table.view["log"][-1]["en"]
    assert not home.holds('"Ann"')


def test_two_entries_become_one_person_whose_scores_add_up(home: Home) -> None:
    home.game("Ann", "Bob")
    home.game("Ann", "Robert")
    home.game("Cid", "Robert")
    assert home.figures("Robert")["played"] == 2
    home.people.change(home.id("Bob"), {"colour": "green"})
    bob, robert = home.id("Bob"), home.id("Robert")
    home.people.merge(bob, robert)
    assert sorted(one["name"] for one in home.people.all()) == ["Ann", "Cid", "Robert"]
    assert home.figures("Robert") == home.figures("Robert") | {"played": 3, "won": 3, "nights": 1}
    assert next(one for one in home.people.all() if one["name"] == "Robert")["colour"] == "green"
    seats = [seat for night in to_json(home.table.journal)["nights"] for m in night["matches"] for seat in m["players"]]
    assert {seat["person"] for seat in seats if seat["name"] == "Robert"} == {robert}
    # Who is called as the one that is gone is somebody else from now on, and a chain of merges ends at its end.
    home.game("Ann", "Bob")
    home.people.merge(robert, home.id("Bob"))
    assert home.figures("Bob")["played"] == 4
    home.table.restart()
    home.people = home.opened()
    assert home.figures("Bob")["played"] == 4


def test_merging_waits_for_two_who_sit_at_the_table_together(home: Home) -> None:
    home.table.open_match([{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}])
    with pytest.raises(PeopleError, match="played-together"):
        home.people.merge(home.id("Ann"), home.id("Bob"))


def test_a_forgotten_name_is_nowhere_and_its_scores_stay(home: Home) -> None:
    home.game("Wilhelmina", "Bob")
    person = home.id("Wilhelmina")
    sha256 = home.people.picture(person, JPEG)
    book = PracticeDatabase(home.folder / "training.sqlite")
    book.add_person("Wilhelmina")
    book.close()
    back_up_into(home.folder, home.folder / BACKUPS, keep=5, pictures=True)
    home.game("Wilhelmina", "Bob")
    path, manifest = back_up_into(home.folder, home.folder / BACKUPS, keep=5, pictures=True)
    assert any("people/" in part.name for part in manifest.parts)
    assert home.holds("Wilhelmina")
    assert home.people.forget(person) == 0
    # The training room of the present is told through the house; its file here is closed.
    assert home.heard == [("Wilhelmina", None)]
    (home.folder / "training.sqlite").unlink()
    assert home.holds("Wilhelmina") == []
    assert not (home.folder / PEOPLE / f"{sha256}.jpg").exists()
    scrubbed = examine(path)
    assert (scrubbed.seq, scrubbed.made) == (manifest.seq, manifest.made)
    assert not any("people/" in part.name for part in scrubbed.parts)
    assert "red" in to_csv(home.table.journal)
    assert [one["name"] for one in home.people.all()] == ["Bob"]
    assert home.figures("Bob")["played"] == 2
    # The same name is another person from now on.
    home.game("Wilhelmina", "Bob")
    assert home.figures("Wilhelmina")["played"] == 1


def test_a_restored_backup_brings_no_name_back(home: Home, tmp_path: Path) -> None:
    home.game("Wilhelmina", "Bob")
    elsewhere, _ = back_up_into(home.folder, tmp_path / "stick", keep=5, pictures=True)
    home.people.forget(home.id("Wilhelmina"))
    home.table.close()
    restore(elsewhere, home.folder)
    assert not kept(FORGOTTEN)
    home.table.open()
    assert "Wilhelmina" in home.table.journal.people().values()
    home.people = home.opened()
    assert "Wilhelmina" not in home.table.journal.people().values()
    assert [one["name"] for one in home.people.all()] == ["Bob"]


def test_a_forgotten_name_is_taken_out_of_notes_here_and_in_backups(home: Home) -> None:
    home.table.open_match([{"name": "Zoé", "colour": "red"}, {"name": "Bob", "colour": "blue"}])
    reasons = ("zoé was right", "so said ZOE\u0301, Bob's niece", "Zoé: Zoés Karte")
    for reason in reasons:
        home.table.do("correct", {"colour": "red", "points": 1, "reason": reason, "agreed": True})
    home.table.do("fault", {"clause": "POP-2.4", "note": "asked by Zoé"})
    home.table.do("fault", {"clause": "POP-2.4", "note": "asked by Bob"})
    path, _ = back_up_into(home.folder, home.folder / BACKUPS, keep=5, pictures=True)
    before, scores = home.table.journal.since(0), to_csv(home.table.journal)
    # A name that is a part of a longer word is left there, and counted.
    assert home.people.forget(home.id("Zoé")) == 1
    assert [name for name in home.holds("Zoé") if "journal" in name] == home.holds("Zoés")
    assert not home.holds("zoé") + home.holds("ZOE")
    log = "\n".join(line["en"] for line in home.table.view["log"])
    assert "… was right" in log
    assert "so said …, Bob's niece" in log
    assert home.table.match["faults"][0]["note"] == "asked by …"
    after = home.table.journal.since(0)
    assert [entry for entry in after if entry.kind not in {"correct", "fault"}] == [
        entry for entry in before if entry.kind not in {"correct", "fault"}
    ]
    assert len(after) == len(before)
    assert to_csv(home.table.journal) == scores.replace("Zoé", "")
    assert examine(path).seq == len(before)
    # The guard of the entries stands again, and the record plays on.
    with pytest.raises(sqlite3.DatabaseError, match="append-only"):
        home.table.journal._db.execute("UPDATE entry SET body = '{}' WHERE seq = 1")
    home.table.restart()
    assert "… was right" in "\n".join(line["en"] for line in home.table.view["log"])


def test_nights_that_a_restore_put_aside_keep_no_forgotten_name(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    home.table.open_match([{"name": "Wilhelmina", "colour": "red"}, {"name": "Bob", "colour": "blue"}])
    home.table.do("fault", {"clause": "POP-2.4", "note": "asked by Wilhelmina"})
    sha256 = home.people.picture(home.id("Wilhelmina"), JPEG)
    backup, _ = back_up_into(home.folder, home.folder / BACKUPS, keep=5, pictures=True)
    home.table.close()
    _, former = restore(backup, home.folder)
    spoilt = home.folder / "before-restore-spoilt"
    spoilt.mkdir()
    (spoilt / "journal.sqlite").write_bytes(b"Wilhelmina")
    (home.folder / "journal.sqlite.damaged-20260101-000000").write_bytes(b"Wilhelmina")
    home.table.open()
    home.people = home.opened()
    home.people.forget(home.id("Wilhelmina"))
    assert not any(b"Wilhelmina" in path.read_bytes() for path in former.rglob("*") if path.is_file())
    assert not (former / PEOPLE / f"{sha256}.jpg").exists()
    # What nobody can read is left as it is, and named.
    assert (spoilt / "journal.sqlite").read_bytes() == b"Wilhelmina"
    assert "may still stand in before-restore-spoilt" in caplog.text
    assert "may still stand in journal.sqlite.damaged-20260101-000000; delete it" in caplog.text


def test_a_backup_that_cannot_be_read_does_not_stop_the_forgetting(home: Home) -> None:
    home.game("Ann", "Bob")
    path, _ = back_up_into(home.folder, home.folder / BACKUPS, keep=5, pictures=False)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    home.people.forget(home.id("Ann"))
    assert path.read_bytes() == whole[: len(whole) // 2]
    assert [one.name for one in (home.folder / BACKUPS).iterdir()] == [path.name]


def test_a_backup_of_the_first_schema_is_scrubbed_too(home: Home) -> None:
    home.game("Ann", "Bob")
    home.table.journal.close()
    (home.folder / "old").mkdir()
    with contextlib.closing(sqlite3.connect(home.folder / "old" / "journal.sqlite", isolation_level=None)) as db:
        db.execute(f"PRAGMA application_id = {SCHEMA.application_id}")
        migrate(db, SCHEMA, to=1)
        db.execute("ATTACH ? AS new", (str(home.folder / "journal.sqlite"),))
        db.execute("INSERT INTO person SELECT id, name, since FROM new.person")
        db.execute("INSERT INTO entry SELECT * FROM new.entry ORDER BY seq")
    path, _ = back_up_into(home.folder / "old", home.folder / BACKUPS, keep=5, pictures=False)
    home.table.open()
    ann = next(person for person, name in home.table.journal.people().items() if name == "Ann")
    erase_name(home.folder, {ann}, "Ann")
    with zipfile.ZipFile(path) as archive:
        assert b"Bob" in archive.read("journal.sqlite")
        assert b"Ann" not in archive.read("journal.sqlite")


def test_wins_in_a_row(home: Home) -> None:
    """The second who is named wins these games."""
    home.game("Bob", "Ann")
    for _ in range(3):
        home.game("Ann", "Bob")
    assert [(one["streak"], one["longest"]) for one in map(home.figures, ("Ann", "Bob"))] == [(0, 1), (3, 3)]
    home.game("Bob", "Ann")
    assert [(one["streak"], one["longest"]) for one in map(home.figures, ("Ann", "Bob"))] == [(1, 1), (0, 3)]
    assert [home.figures(who)["newest"] for who in ("Ann", "Bob")] == [[1, 0, 0, 0, 1], [0, 1, 1, 1, 0]]


def test_figures_over_several_nights(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_700_000_000_000]
    monkeypatch.setattr(home.table.journal, "_clock", lambda: now[0])
    home.game("Ann", "Bob")
    now[0] += 2 * HOUR_MS
    home.game("Bob", "Ann")
    now[0] += 20 * HOUR_MS
    home.game("Ann", "Bob")
    assert len(to_json(home.table.journal)["nights"]) == 2
    figures = home.figures("Ann")
    assert (figures["nights"], figures["played"], figures["won"]) == (2, 3, 1)
    assert [night["played"] for night in figures["course"]] == [2, 1]
    (game,) = figures["games"]
    assert (game["game"], game["played"], game["won"]) == ("igloo-pop", 3, 1)
    # Head to head and wins in a row, seen from both sides.
    other = home.figures("Bob")
    (met,), (back,) = figures["rivals"], other["rivals"]
    assert (
        (met["played"], met["before"], met["behind"]) == (3, 1, 2) == (back["played"], back["behind"], back["before"])
    )
    assert {met["person"], back["person"]} == {one["id"] for one in home.people.all() if one["name"] in {"Ann", "Bob"}}
    assert [(one["streak"], one["longest"]) for one in (figures, other)] == [(0, 1), (1, 1)]
    assert game["best"] >= game["mean"]
    # What a night came to is kept beside the journal, without names, and read from there the next time.
    kept_rows = sqlite3.connect(home.folder / "journal.sqlite").execute("SELECT told FROM summary").fetchall()
    assert len(kept_rows) == 1
    assert all("Ann" not in row[0] for row in kept_rows)
    monkeypatch.setattr(home.table.journal, "since", lambda *_, **__: [])
    assert home.figures("Ann") == figures
    assert json.dumps(home.people.all())


def test_pictures_of_the_table_are_no_pictures_of_people(home: Home) -> None:
    sha256 = EvidenceStore(home.folder / EVIDENCE).keep(JPEG, ".jpg")
    assert home.people.photo(sha256) is None
