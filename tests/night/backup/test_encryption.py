"""Backups under a passphrase: what comes back, what is refused, and that nothing is left that anybody can read."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import random
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from companion.night.backup import encryption
from companion.night.backup.archive import back_up, clear_drafts, examine, kept, read_manifest
from companion.night.backup.encryption import (
    KEPT,
    MOST_LOG_N,
    PIECE,
    checked,
    is_encrypted,
    keep_passphrase,
    kept_passphrase,
    locked,
    opened,
    scratch,
    sealed,
)
from companion.night.backup.erase_name import erase_name
from companion.night.backup.messages import BackupError
from companion.night.backup.restore import restore
from companion.night.backup.scheduler import BackupScheduler, back_up_into, backups
from companion.night.log.chain import Damage
from companion.night.log.data_folder import JOURNAL
from companion.night.views.damage import newest_with

pytestmark = pytest.mark.process

WORDS = "quatre pingouins à l’heure"
OTHER = "quatre pingouins à l’aube"


@pytest.fixture
def data(new_table: Callable[..., Any], tmp_path: Path) -> Path:
    """A data folder after a short evening, whose people and pictures would be known again in plain text."""
    (tmp_path / "data").mkdir()
    table = new_table("data/journal.sqlite")
    table.shaking()
    table.close()
    folder = tmp_path / "data"
    (folder / "evidence").mkdir()
    (folder / "evidence" / "secret.jpg").write_bytes(b"a picture of the room" * 10_000)
    (folder / "settings.json").write_text('{"house_name": "Chez nous"}')
    return folder


def entries(folder: Path) -> list[tuple[Any, ...]]:
    with contextlib.closing(sqlite3.connect(folder / JOURNAL)) as db:
        return db.execute("SELECT * FROM entry ORDER BY seq").fetchall()


def test_it_comes_back_with_its_passphrase_alone(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "nights.zip.age"
    made = back_up(data, file, passphrase=WORDS)
    assert is_encrypted(file) and file.stat().st_mode & 0o777 == 0o600
    raw = file.read_bytes()
    assert b"PK\x03\x04" not in raw and b"journal" not in raw and b"picture of the room" not in raw
    assert examine(file, passphrase=WORDS) == made == read_manifest(file, passphrase=WORDS)
    for passphrase, key in (("", "needs-passphrase"), (OTHER, "wrong-passphrase")):
        assert locked(file, passphrase)
        for read in (examine, read_manifest):
            with pytest.raises(BackupError) as refused:
                read(file, passphrase=passphrase)
            assert refused.value.key == key
        with pytest.raises(BackupError):
            restore(file, tmp_path / "elsewhere", passphrase)
        assert not (tmp_path / "elsewhere").exists()
    assert not locked(file, WORDS)
    restore(file, tmp_path / "elsewhere", WORDS)
    assert entries(tmp_path / "elsewhere") == entries(data)
    assert (tmp_path / "elsewhere" / "evidence" / "secret.jpg").read_bytes() == b"a picture of the room" * 10_000


@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 3 * PIECE + 77])
def test_any_place_of_it_can_be_read(tmp_path: Path, size: int) -> None:
    data, file = random.Random(size).randbytes(size), tmp_path / "x.age"
    with file.open("wb") as raw, sealed(raw, WORDS) as plain:
        for at in range(0, size, 50_000):
            plain.write(data[at : at + 50_000])
    with opened(file, WORDS) as plain:
        assert plain.read() == data
        for at in {0, size // 2, max(0, size - 3), PIECE - 1, PIECE, size + 5}:
            assert plain.seek(at) == at == plain.tell()
            assert plain.read(PIECE) == data[at : at + PIECE]
        assert plain.seek(-min(size, 2), os.SEEK_END) == size - min(size, 2)
        assert plain.seek(0, os.SEEK_CUR) == size - min(size, 2)
        with pytest.raises(OSError, match="before the beginning"):
            plain.seek(-size - 1, os.SEEK_END)


def test_every_flipped_bit_and_every_cut_is_noticed(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "nights.zip.age"
    back_up(data, file, passphrase=WORDS)
    raw, draw = file.read_bytes(), random.Random(20)
    head = raw.index(b"\n---") + 50
    for at in [*range(0, head, 7), *(draw.randrange(head, len(raw)) for _ in range(20)), len(raw) - 1]:
        file.write_bytes(raw[:at] + bytes([raw[at] ^ 1 << draw.randrange(8)]) + raw[at + 1 :])
        with pytest.raises(BackupError) as refused:
            examine(file, passphrase=WORDS)
        assert refused.value.key in {"broken", "not-ours", "wrong-passphrase"}, at
    begin = raw.index(b"\n---") + 49 + 16
    for end in (5, head - 60, begin, begin + PIECE + 16, begin + PIECE + 40, len(raw) - 1):
        file.write_bytes(raw[:end])
        with pytest.raises(BackupError) as refused:
            examine(file, passphrase=WORDS)
        assert refused.value.key in {"broken", "not-ours"}, end


def test_a_head_that_would_cost_too_much_is_no_backup(tmp_path: Path) -> None:
    file = tmp_path / "x.age"
    with file.open("wb") as raw, sealed(raw, WORDS) as plain:
        plain.write(b"x")
    file.write_bytes(file.read_bytes().replace(b" 16\n", b" %d\n" % (MOST_LOG_N + 1), 1))
    with pytest.raises(BackupError) as refused, opened(file, WORDS):
        pass
    assert refused.value.key == "not-ours"


# --- age itself ----------------------------------------------------------------------------------------------------


def at_a_terminal(command: list[str], typed: str) -> int:
    """Run a program that asks at its terminal, type the same line as often as it asks, and return its status."""
    pid, line = pty.fork()
    if pid == 0:  # pragma: no cover - the child
        os.execvp(command[0], command)  # noqa: S606
    heard = b""
    with os.fdopen(line, "rb+", buffering=0) as terminal:
        while True:
            try:
                said = terminal.read(1000)
            except OSError:  # the program has ended
                break
            heard += said
            if heard.endswith(b": "):
                terminal.write(typed.encode() + b"\n")
                heard = b""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_age_opens_ours_and_we_open_what_age_made(data: Path, tmp_path: Path) -> None:
    ours, plain, theirs = tmp_path / "ours.zip.age", tmp_path / "plain.zip", tmp_path / "theirs.zip.age"
    back_up(data, ours, passphrase=WORDS)
    assert at_a_terminal(["age", "--decrypt", "--output", str(plain), str(ours)], WORDS) == 0
    assert zipfile.ZipFile(plain).testzip() is None
    assert examine(plain) == examine(ours, passphrase=WORDS)
    assert at_a_terminal(["age", "--passphrase", "--output", str(theirs), str(plain)], WORDS) == 0
    assert examine(theirs, passphrase=WORDS) == examine(plain)


# --- what the box keeps --------------------------------------------------------------------------------------------


def test_a_kept_passphrase_encrypts_every_backup_and_is_in_none(data: Path, tmp_path: Path) -> None:
    keep_passphrase(data, WORDS)
    assert kept_passphrase(data) == WORDS and (data / KEPT).stat().st_mode & 0o777 == 0o600
    assert not kept(KEPT)
    stick = tmp_path / "stick" / "companion-backup"
    stick.mkdir(parents=True)
    scheduler = BackupScheduler(
        data, last_seq=lambda: 1, keep=lambda: 3, use_sticks=lambda: True, find_sticks=lambda: [stick.parent]
    )
    by_night, on_stick = scheduler.tend()
    for done in (by_night, on_stick):
        assert done.manifest is not None and done.path.name.endswith(".zip.age")
        assert KEPT not in {part.name for part in examine(done.path, passphrase=WORDS).parts}
    # The newest one is known again at the next start, and makes room as any other does.
    again = BackupScheduler(data, last_seq=lambda: by_night.manifest.seq, keep=lambda: 3, use_sticks=lambda: False)
    assert again.tend() == []
    for _ in range(3):
        back_up_into(data, data / "backups", keep=2, pictures=False)
    assert len(backups(data / "backups")) == 2
    keep_passphrase(data, "")
    assert kept_passphrase(data) == "" and not (data / KEPT).exists()
    assert back_up_into(data, data / "backups", keep=2, pictures=False)[0].suffix == ".zip"
    keep_passphrase(data, "")


def test_a_planted_link_is_no_passphrase(data: Path, tmp_path: Path) -> None:
    (tmp_path / "shadow").write_text("root:secret")
    (data / KEPT).symlink_to(tmp_path / "shadow")
    assert kept_passphrase(data) == ""


@pytest.mark.parametrize("passphrase", ["short", "x" * 201, "a line\nand another", "four\0words\0are\0good"])
def test_passphrases_that_are_none(data: Path, passphrase: str) -> None:
    with pytest.raises(BackupError) as refused:
        keep_passphrase(data, passphrase)
    assert refused.value.key == "passphrase-unfit" and not (data / KEPT).exists()


def test_accents_are_the_same_however_a_keyboard_sends_them(tmp_path: Path) -> None:
    file = tmp_path / "x.age"
    with file.open("wb") as raw, sealed(raw, checked("l’e\u0301te\u0301 au chaud")) as plain:
        plain.write(b"x")
    assert not locked(file, "l’été au chaud")


def test_where_it_cannot_be_written_down_nothing_changes(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(encryption, "write_small", full)
    with pytest.raises(BackupError, match="No space left"):
        keep_passphrase(data, WORDS)


def test_a_file_that_is_not_there_is_not_locked(tmp_path: Path) -> None:
    assert not locked(tmp_path / "none", WORDS)


# --- nothing in plain text -----------------------------------------------------------------------------------------


def test_nothing_in_plain_text_touches_the_medium_of_the_backup(data: Path, tmp_path: Path) -> None:
    """A stick's sectors keep what was deleted: so nothing that can be read is ever written there."""
    stick = tmp_path / "stick"
    stick.mkdir()
    log = tmp_path / "written"
    program = (
        "import sys; from pathlib import Path; from companion.night.backup.archive import back_up;"
        f"back_up(Path({str(data)!r}), Path({str(stick)!r}, 'nights.zip.age'), passphrase={WORDS!r})"
    )
    traced = ["strace", "-f", "-qq", "-e", "trace=openat", "-o", str(log), sys.executable, "-c", program]
    subprocess.run(traced, check=True, timeout=120)
    written = {line.split('"')[1] for line in log.read_text().splitlines() if "O_CREAT" in line and str(stick) in line}
    assert len(written) == 1 and ".nights.zip.age-" in written.pop()
    assert [path.name for path in stick.iterdir()] == ["nights.zip.age"]
    assert not list(data.glob(".*.part*"))


def test_a_card_that_can_only_be_read_leaves_the_systems_temporary_folder(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert scratch(data, tmp_path / "x" / "y.zip", "") == tmp_path / "x"
    assert scratch(data, tmp_path / "x" / "y.zip", WORDS) == data
    monkeypatch.setattr(encryption, "refusal", lambda _: OSError(30, "Read-only file system"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert scratch(data, tmp_path / "x" / "y.zip", WORDS) == tmp_path


def test_what_a_kill_left_goes_with_the_next(data: Path) -> None:
    left = data / ".companion-0001-20261120.zip.age-999999999-0123abcd.part.db.part"
    left.write_bytes(b"plain")
    back_up_into(data, data / "backups", keep=2, pictures=False, passphrase=WORDS)
    assert not left.exists()
    clear_drafts(data)


# --- the others that read backups ----------------------------------------------------------------------------------


def test_a_forgotten_name_goes_out_of_encrypted_backups_too(data: Path) -> None:
    keep_passphrase(data, WORDS)
    path, _ = back_up_into(data, data / "backups", keep=2, pictures=True)
    with contextlib.closing(sqlite3.connect(data / JOURNAL)) as db:
        person, name = db.execute("SELECT id, name FROM person WHERE name IS NOT NULL").fetchone()
    erase_name(data, [person], name)
    assert is_encrypted(path)
    restore(path, data.with_name("again"), WORDS)
    with contextlib.closing(sqlite3.connect(data.with_name("again") / JOURNAL)) as db:
        assert db.execute("SELECT name FROM person WHERE id = ?", (person,)).fetchone() == (None,)


def test_the_backup_that_has_lost_entries_is_found_among_encrypted_ones(data: Path) -> None:
    keep_passphrase(data, WORDS)
    path, manifest = back_up_into(data, data / "backups", keep=2, pictures=False)
    lost = Damage(first=1, last=manifest.seq, missing=True)
    assert newest_with(data, [lost]) == path
    keep_passphrase(data, OTHER)
    assert newest_with(data, [lost]) is None


def test_sentences_say_what_a_lost_passphrase_is() -> None:
    from companion.doctor.messages import SENTENCES as FOUND
    from companion.night.backup.messages import SENTENCES

    said = [SENTENCES["passphrase-lost"].en, FOUND["backup-encrypted"].en, FOUND["backup-was-encrypted"].en]
    assert all("lost passphrase is a lost backup" in one for one in said)
    assert json.dumps(said)
