"""A backup that somebody brings: taken in piece by piece, checked, laid beside the others; nothing is replaced."""

from __future__ import annotations

import io
import json
import random
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from companion.night.backup import retention as module
from companion.night.backup.archive import BACKUPS, MANIFEST, STAGE, add_part, back_up
from companion.night.backup.messages import BackupError
from companion.night.backup.restore import settle
from companion.night.backup.retention import BackupRetention

Table = Any
NAME = "companion-0004-20261120.zip"


@pytest.fixture
def data(tmp_path: Path, new_table: Callable[..., Table]) -> Path:
    (tmp_path / "data").mkdir()
    new_table("data/journal.sqlite").shaking()
    return tmp_path / "data"


@pytest.fixture
def backup_retention(data: Path) -> Iterator[BackupRetention]:
    again: list[bool] = []
    yield BackupRetention(data, keep=lambda: 3, again=lambda: again.append(True))
    assert again == []


@pytest.fixture
def file(data: Path, tmp_path: Path) -> bytes:
    back_up(data, tmp_path / NAME)
    return (tmp_path / NAME).read_bytes()


def bring(backup_retention: BackupRetention, file: bytes, *, piece: int) -> Any:
    told = None
    for at in range(0, len(file), piece):
        taken, told = backup_retention.take_in(file[at : at + piece], at=at, size=len(file), shown=NAME)
        assert taken == min(at + piece, len(file))
        assert (told is not None) == (taken == len(file))
    return told


def left(data: Path) -> list[str]:
    return [path.name for path in (data / BACKUPS).glob("*")] if (data / BACKUPS).exists() else []


@pytest.mark.parametrize("piece", [1 << 22, 1000])
def test_a_backup_comes_in_pieces_and_lies_with_the_others(
    backup_retention: BackupRetention, data: Path, file: bytes, piece: int
) -> None:
    made = backup_retention.make()
    told = bring(backup_retention, file, piece=piece)
    assert backup_retention.all() == [told, made]
    assert told["name"] != made["name"]
    assert told["sound"]
    path = backup_retention.path(told["name"])
    assert path is not None
    assert path.read_bytes() == file
    assert not (data / STAGE).exists()


def test_a_piece_that_comes_twice_is_taken_once(backup_retention: BackupRetention, data: Path, file: bytes) -> None:
    half = len(file) // 2
    for at, end in ((0, half), (0, half), (half, len(file)), (half, len(file))):
        _, told = backup_retention.take_in(file[at:end], at=at, size=len(file), shown=NAME)
    assert backup_retention.all() == [told]
    assert len(left(data)) == 1


def test_another_file_takes_the_place_of_one_that_was_cut_off(
    backup_retention: BackupRetention, data: Path, file: bytes
) -> None:
    backup_retention.take_in(file[:100], at=0, size=len(file), shown=NAME)
    assert bring(BackupRetention(data, keep=lambda: 3, again=lambda: None), file, piece=5000)["sound"]
    assert len(left(data)) == 1


@pytest.mark.parametrize(
    ("at", "length", "size"), [(50, 10, None), (101, 10, None), (100, 10, 7), (100, 0, None), (100, 10, 105)]
)
def test_a_missing_piece_ends_it(
    backup_retention: BackupRetention, data: Path, file: bytes, at: int, length: int, size: int | None
) -> None:
    whole = size if size == 105 else len(file)
    backup_retention.take_in(file[:100], at=0, size=whole, shown=NAME)
    with pytest.raises(BackupError) as refused:
        backup_retention.take_in(file[at : at + length], at=at, size=size or whole, shown=NAME)
    assert refused.value.key == "pieces-missing"
    assert left(data) == []
    with pytest.raises(BackupError):
        backup_retention.take_in(file[100:110], at=100, size=len(file), shown=NAME)


def test_what_is_no_sound_backup_is_let_go_of(backup_retention: BackupRetention, data: Path, file: bytes) -> None:
    rng = random.Random(3)
    flipped = bytearray(file)
    flipped[len(file) // 2] ^= 0x55
    empty = io.BytesIO()
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr("holiday.txt", "x")
    for junk, keys in (
        (b"\xff\xd8 a photo", {"not-ours"}),
        (b"PK" + rng.randbytes(4000), {"not-ours"}),
        (bytes(flipped), {"not-ours", "broken"}),
        (file[:-200], {"not-ours", "broken"}),
        (empty.getvalue(), {"not-ours"}),
        (foreign(data.parent), {"not-ours", "broken"}),
    ):
        with pytest.raises(BackupError) as refused:
            bring(backup_retention, junk, piece=3000)
        assert refused.value.key in keys
        assert NAME in refused.value.words.fr
        assert left(data) == []


def foreign(folder: Path) -> bytes:
    """Return a backup by its form, in which the journal is another program's database."""
    with sqlite3.connect(folder / "other.sqlite") as db:
        db.execute("CREATE TABLE t (a)")
    db.close()
    (folder / "other.sqlite").rename(folder / "journal.sqlite")
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        part = journal_part(archive, folder / "journal.sqlite")
        told = {"format": 1, "companion": "1", "made": 1, "seq": 1, "pictures": False, "files": [part]}
        archive.writestr(MANIFEST, json.dumps(told))
    return whole.getvalue()


def journal_part(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    return add_part(archive, "journal.sqlite", path, 1.0).to_json()


def test_what_is_too_large_is_not_begun(
    backup_retention: BackupRetention, data: Path, file: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BackupError) as refused:
        backup_retention.take_in(file[:1000], at=0, size=module.MOST_BROUGHT + 1, shown=NAME)
    assert refused.value.key == "too-large"
    monkeypatch.setattr(module, "MOST_UNPACKED", 1000)
    with pytest.raises(BackupError) as refused:
        bring(backup_retention, file, piece=1 << 20)
    assert refused.value.key == "too-large"
    monkeypatch.setattr(module, "SPARE_BYTES", 1 << 60)
    with pytest.raises(BackupError) as refused:
        bring(backup_retention, file, piece=1 << 20)
    assert refused.value.key == "no-room"
    assert left(data) == []


def test_what_was_brought_is_brought_back_as_any_other(data: Path, file: bytes) -> None:
    again: list[bool] = []
    backup_retention = BackupRetention(data, keep=lambda: 3, again=lambda: again.append(True))
    backup_retention.bring_back(bring(backup_retention, file, piece=4000)["name"])
    assert again == [True]
    assert settle(data)
    assert any(path.name.startswith("before-restore-") for path in data.iterdir())


@pytest.mark.parametrize("at", [6, 8, 10])
@pytest.mark.parametrize("value", [0x01, 0x0C, 0x0E, 0x66, 0xFF])
def test_an_archive_of_another_kind_is_one_sentence(
    backup_retention: BackupRetention, data: Path, file: bytes, at: int, value: int
) -> None:
    """Its list says another version of ZIP, a lock, or another way of packing, of every part."""
    spoilt, entry = bytearray(file), file.index(b"PK\x01\x02")
    while entry >= 0:
        spoilt[entry + at] = value
        entry = file.find(b"PK\x01\x02", entry + 4)
    try:
        bring(backup_retention, bytes(spoilt), piece=1 << 22)
    except BackupError as error:
        assert error.key in {"not-ours", "broken"}
        assert left(data) == []


def test_an_endless_number_in_a_manifest_is_one_sentence(backup_retention: BackupRetention, data: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(
            MANIFEST, '{"format": 1e999, "made": 1, "seq": 1, "companion": "", "pictures": false, "files": []}'
        )
    with pytest.raises(BackupError, match="not a companion’s backup"):
        bring(backup_retention, packed.getvalue(), piece=1 << 22)
    assert left(data) == []
