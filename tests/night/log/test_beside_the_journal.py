"""What lies beside the journal and what is taken home: pictures, exports, addresses, the host link of the shell."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import stat
import threading
import unicodedata
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from click.testing import CliRunner

from companion.access.store import Access
from companion.cli import run
from companion.cli.host import command as host_command
from companion.night.export.files import COLUMNS, _plain, to_csv, to_json
from companion.night.log.data_folder import ACCESS, default_folder, read_address, remove_address, write_address
from companion.night.log.journal import Journal
from companion.night.log.pictures import EvidenceError, EvidenceStore
from companion.night.messages import SENTENCES, say
from companion.ports import BadDataError, DeviceKind, EvidencePicture

# `table` is the Table of conftest.py; test folders are no packages, so its type cannot be named here.
Table = Any

# --- pictures ----------------------------------------------------------------------------------------------------


def test_a_picture_is_kept_by_its_hash(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path / "evidence")
    sha256 = store.keep(b"a picture", ".jpg")
    assert sha256 == hashlib.sha256(b"a picture").hexdigest()
    assert store.keep(b"a picture", ".jpg") == sha256
    other = store.keep(b"another", ".png")
    assert store.open(sha256) == (b"a picture", "image/jpeg")
    assert store.open(other) == (b"another", "image/png")
    files = list((tmp_path / "evidence").iterdir())
    assert sorted(f.name for f in files) == sorted([f"{sha256}.jpg", f"{other}.png"])
    assert {stat.S_IMODE(f.stat().st_mode) for f in files} == {0o600}


@pytest.mark.parametrize(
    "name", ["", "x", "../journal.sqlite", "A" * 64, "a" * 63, "a" * 64 + "\n", "a" * 64, "/" * 64]
)
def test_no_other_file_is_given_out(tmp_path: Path, name: str) -> None:
    (tmp_path / "journal.sqlite.jpg").write_bytes(b"secret")
    store = EvidenceStore(tmp_path / "evidence")
    store.keep(b"a picture", ".jpg")
    assert store.open(name) is None


def test_a_picture_that_changed_is_no_evidence(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path)
    sha256 = store.keep(b"a picture", ".jpg")
    (tmp_path / f"{sha256}.jpg").write_bytes(b"b picture")
    assert store.open(sha256) is None


def test_a_half_picture_is_written_again(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path)
    sha256 = store.keep(b"a picture", ".jpg")
    os.truncate(tmp_path / f"{sha256}.jpg", 3)
    assert store.keep(b"a picture", ".jpg") == sha256
    assert store.open(sha256) is not None


def test_what_cannot_be_kept_is_said(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path / "file")
    with pytest.raises(BadDataError, match="jpg"):
        store.keep(b"x", ".svg")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(EvidenceError, match="could not be kept"):
        store.keep(b"x", ".jpg")


def test_threads_keep_the_same_picture_once(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path)
    threads = [threading.Thread(target=store.keep, args=(b"x" * 100_000, ".png")) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(tmp_path.iterdir())) == 1
    assert store.open(hashlib.sha256(b"x" * 100_000).hexdigest()) is not None


# --- export ------------------------------------------------------------------------------------------------------


def test_nights_are_exported_while_they_are_written(table: Table) -> None:
    table.open_match([{"name": "=Ann", "colour": "red"}, {"name": 'Bob, "Bo"', "colour": "blue"}])
    table.do("deal", {"cards": {"card1": "4/5"}})
    table.do("correct", {"colour": "blue", "points": 2, "reason": "found", "agreed": True})
    table.do("fault", {"clause": "POP-2.3", "colour": "red"})
    table.night.add_evidence(EvidencePicture("ab" * 32, ".jpg", 4, 3, "usb:0", DeviceKind.RECORDED))
    table.do("close-match")
    table.do("open-night")
    table.shaking()
    reader = Journal(table.path, read_only=True)
    try:
        data = json.loads(json.dumps(to_json(reader), allow_nan=False))
        text = to_csv(reader)
    finally:
        reader.close()
    first, second = data["nights"]
    (match,) = first["matches"]
    assert match["moves"] == ["deal card1 4/5"]
    assert [p["name"] for p in match["players"]] == ["=Ann", 'Bob, "Bo"']
    assert (match["finished"], match["scores"], match["ranking"]) == (
        False,
        {"red": 10, "blue": 12},
        [["blue"], ["red"]],
    )
    assert match["corrections"][0]["reason"] == "found"
    assert match["faults"][0]["clause"] == "POP-2.3"
    assert (match["evidence"][0]["kind"], match["evidence"][0]["round"]) == ("recorded", 1)
    assert [len(n["matches"]) for n in (first, second)] == [1, 1]
    rows = list(csv.reader(io.StringIO(text)))
    assert tuple(rows[0]) == COLUMNS
    assert [(row[6], row[7], row[5], row[8], row[9]) for row in rows[1:]] == [
        ("'=Ann", "red", "2", "10", "0"),
        ('Bob, "Bo"', "blue", "1", "12", "2"),
        ("Ann", "red", "1", "10", "0"),
        ("Bob", "blue", "1", "10", "0"),
    ]


@pytest.mark.parametrize(
    "sign", ["=", "+", "-", "@", "|", "%", "＝", "＋", "－", "＠", " =", "　=", '"=', "\N{NO-BREAK SPACE}="]
)
@pytest.mark.parametrize("before", ["", "Ann;", "Ann,", "Ann\t", "Ann\r", ";", "\t", "\r"])
def test_no_name_is_a_formula_whatever_parts_the_cells(before: str, sign: str) -> None:
    plain = _plain(f"{before}{sign}1+1")
    assert plain.replace("'", "") == f"{before}{sign}1+1"
    for between in ";,\t\r":
        for cell in plain.split(between):
            shown = unicodedata.normalize("NFKC", cell).strip().strip('"').strip()
            assert not shown or shown[0] not in "=+-@|%", (between, cell)


@pytest.mark.parametrize("begin", ["\t", "\r"])
def test_no_name_begins_with_the_end_of_a_cell(begin: str) -> None:
    assert _plain(f"{begin}Ann") == f"'{begin}Ann"


@pytest.mark.parametrize("name", ["Ann", "Zoé", "O’Neil", "五郎", "1+1", "Ann; Bob", "Jean-Luc, l’aîné", ""])
def test_a_name_stays_a_name(name: str) -> None:
    assert _plain(name) == name


# --- the address and the host link -------------------------------------------------------------------------------


def test_the_address_of_the_service(tmp_path: Path) -> None:
    assert read_address(tmp_path) == ()
    write_address(tmp_path, ["http://pi.local:8080", "http://10.0.0.5:8080"])
    assert read_address(tmp_path) == ("http://pi.local:8080", "http://10.0.0.5:8080")
    assert stat.S_IMODE((tmp_path / "address.json").stat().st_mode) == 0o600
    for rubbish in (b"", b"[]", b'{"urls": 5}', b"\xff\xfe", b'{"urls": ["javascript:x", 7]}', b"[" * 100_000):
        (tmp_path / "address.json").write_bytes(rubbish)
        assert read_address(tmp_path) == ()
    remove_address(tmp_path)
    remove_address(tmp_path)
    assert not (tmp_path / "address.json").exists()


def test_where_the_data_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COMPANION_DATA", str(tmp_path / "here"))
    assert default_folder() == tmp_path / "here"
    monkeypatch.delenv("COMPANION_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "companion"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".local" / "share" / "companion"


def test_a_host_link_from_the_shell_while_the_service_runs(tmp_path: Path) -> None:
    service = Access(tmp_path / ACCESS)
    try:
        write_address(tmp_path, ["http://pi.local:8080", "http://10.0.0.5:8080/"])
        shown = CliRunner().invoke(host_command, ["--data", str(tmp_path), "--json"])
        assert shown.exit_code == 0
        said = json.loads(shown.stdout)
        assert said["links"] == [
            f"http://pi.local:8080/host/{said['token']}",
            f"http://10.0.0.5:8080/host/{said['token']}",
        ]
        assert service.redeem(said["token"], "a") is not None
        words = CliRunner().invoke(host_command, ["--data", str(tmp_path)])
        link = words.stdout.splitlines()[1]
        assert service.redeem(link.removeprefix("http://pi.local:8080/host/"), "a") is not None
        remove_address(tmp_path)
        words = CliRunner().invoke(host_command, ["--data", str(tmp_path)])
        assert "No service" in words.stdout
        assert service.redeem(words.stdout.splitlines()[1].removeprefix("/host/"), "a") is not None
    finally:
        service.close()


def test_a_host_link_without_a_data_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["host", "--data", str(tmp_path / "nowhere")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    (tmp_path / ACCESS).write_bytes(b"rubbish" * 1000)
    assert run(["host", "--data", str(tmp_path)]) == 2
    assert "damaged" in capsys.readouterr().err


# --- sentences ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", sorted(SENTENCES))
def test_sentences_have_the_same_facts_in_both_languages(key: str) -> None:
    words = SENTENCES[key]
    fields = [{f for _, f, _, _ in Formatter().parse(text) if f} for text in (words.en, words.fr)]
    assert fields[0] == fields[1]
    assert SENTENCES[key].en != SENTENCES[key].fr


def test_every_motion_has_its_sentence() -> None:
    for motion in ("turned", "lifted", "carried", "shaken", "turned-placed"):
        assert say(f"fault-{motion}").en
