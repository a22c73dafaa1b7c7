"""Commands that root runs on somebody else's data folder: no link in it leads root anywhere. With real root."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.access.store import Access
from companion.cli.owner import owner_of
from companion.night.log.data_folder import ACCESS, JOURNAL
from companion.night.log.journal import Journal

OWNER = 54_321
SECRET = "only root may read this"

pytestmark = [pytest.mark.process, pytest.mark.skipif(os.geteuid() != 0, reason="only root can give root up")]

SHOWN = """
mount -t tmpfs tmpfs /mnt && mkdir /mnt/hold && mount --bind "$1" /mnt/hold
mount -t tmpfs -o mode=755 tmpfs "$2" && mkdir -p "$1"
mount --bind /mnt/hold "$1" && shift 2 && exec "$@"
"""
"""Where Python lies in root's own home, as pyenv has it: a view of the machine in which others reach it there."""


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that another user may enter; pytest's own are root's alone."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def secret(place: Path) -> Path:
    path = place / "secret"
    path.write_text(SECRET)
    path.chmod(0o600)
    return path


@pytest.fixture
def data(place: Path) -> Path:
    folder = place / "data"
    folder.mkdir(0o700)
    with contextlib.closing(Journal(folder / JOURNAL)) as journal:
        journal.append("open-night", {"night": "one"})
    Access(folder / ACCESS).close()
    (folder / "evidence").mkdir()
    for path in (folder, *folder.rglob("*")):
        os.chown(path, OWNER, OWNER)
    return folder


def planted(link: Path, target: Path) -> None:
    link.symlink_to(target)
    os.lchown(link, OWNER, OWNER)


def companion(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "companion", *map(str, arguments)]
    python = Path(sys.base_prefix)
    shut = [folder for folder in python.parents if not folder.stat().st_mode & 0o001]
    if shut:
        command = ["unshare", "--mount", "bash", "-ec", SHOWN, "bash", str(python), str(shut[-1]), *command]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def packed(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


def test_a_backup_belongs_to_the_owner(data: Path) -> None:
    done = companion("backup", "--data", data, "--json")
    assert done.returncode == 0, done.stderr
    made = Path(json.loads(done.stdout)["file"])
    assert made.parent == data / "backups"
    assert {path.stat().st_uid for path in (made, made.parent)} == {OWNER}


@pytest.mark.parametrize("name", ["evidence/a.jpg", "settings.json", "note.txt", "lock"])
def test_a_planted_file_is_not_packed(data: Path, secret: Path, name: str) -> None:
    planted(data / name, secret)
    companion("backup", "--data", data)
    for made in (data / "backups").glob("*.zip"):
        assert SECRET.encode() not in packed(made)
    assert secret.read_text() == SECRET and secret.stat().st_uid == 0


@pytest.mark.parametrize("name", ["lock", f"{JOURNAL}.lock", "backups"])
def test_nothing_is_made_where_a_planted_link_leads(data: Path, place: Path, name: str) -> None:
    (place / "inside").mkdir(0o700)
    (data / name).unlink(missing_ok=True)
    planted(data / name, place / "inside" / "made")
    for command in ("backup", "restore", "host", "doctor"):
        companion(command, "--data", data)
    assert list((place / "inside").iterdir()) == []


def test_a_planted_folder_is_not_entered(data: Path, place: Path, secret: Path) -> None:
    (place / "inside").mkdir(0o700)
    shutil.copy(secret, place / "inside" / "secret.jpg")
    planted(data / "people", place / "inside")
    assert companion("backup", "--data", data).returncode == 0
    (made,) = (data / "backups").glob("*.zip")
    assert SECRET.encode() not in packed(made)


def test_a_planted_folder_of_backups_is_not_written(data: Path, place: Path) -> None:
    (place / "inside").mkdir(0o755)
    planted(data / "backups", place / "inside")
    done = companion("backup", "--data", data)
    assert done.returncode == 2 and "\n" not in done.stderr.strip()
    assert list((place / "inside").iterdir()) == []


@pytest.mark.parametrize("name", [JOURNAL, f"{JOURNAL}-wal", f"{JOURNAL}.mark", f"{JOURNAL}.lock"])
def test_a_planted_part_of_the_journal_leads_nowhere(data: Path, secret: Path, name: str) -> None:
    (data / name).unlink(missing_ok=True)
    planted(data / name, secret)
    for command in ("backup", "restore", "export", "host"):
        arguments = ["json"] if command == "export" else []
        done = companion(command, *arguments, "--data", data)
        assert SECRET not in done.stdout + done.stderr
    assert secret.read_text() == SECRET and secret.stat().st_uid == 0


def test_a_file_for_root_is_written_by_root_and_read_by_the_owner(data: Path, place: Path, secret: Path) -> None:
    planted(data / "evidence" / "a.jpg", secret)
    mine = place / "mine"
    mine.mkdir(0o700)
    done = companion("backup", mine, "--data", data, "--json")
    assert done.returncode == 0, done.stderr
    made = Path(json.loads(done.stdout)["file"])
    assert made.parent == mine and made.stat().st_uid == 0
    assert SECRET.encode() not in packed(made)
    # What only root may read is brought back for the owner.
    back = companion("restore", made, "--data", data, "--json")
    assert back.returncode == 0, back.stderr
    assert {path.lstat().st_uid for path in data.rglob("*")} == {OWNER}
    assert json.loads(companion("restore", made, "--data", data, "--check", "--json").stdout)["seq"] == 1
    out = mine / "all.json"
    assert companion("export", "json", "--data", data, "--out", out).returncode == 0
    assert out.stat().st_uid == 0 and json.loads(out.read_text())["nights"]


def test_what_the_owner_cannot_do_is_said_by_root(data: Path, place: Path) -> None:
    mine = place / "mine"
    mine.mkdir(0o700)
    (data / JOURNAL).write_bytes(b"rubbish" * 1000)
    done = companion("backup", mine, "--data", data)
    assert done.returncode == 2 and JOURNAL in done.stderr and "\n" not in done.stderr.strip()
    assert list(mine.iterdir()) == []


def test_host_links_and_the_doctor_leave_nothing_of_roots(data: Path) -> None:
    assert companion("host", "--data", data).returncode == 0
    assert companion("doctor", "--data", data, "--json").stdout
    assert {path.lstat().st_uid for path in data.rglob("*")} == {OWNER}


def test_a_link_to_the_folder_is_its_makers(data: Path, place: Path) -> None:
    roots = place / "roots"
    roots.mkdir(0o700)
    planted(place / "link", roots)
    assert owner_of(place / "link") == (OWNER, OWNER)
    assert owner_of(data) == (OWNER, OWNER)
    assert owner_of(roots) is None and owner_of(place / "nowhere") is None
    own = place / "of root"
    own.symlink_to(data)
    assert owner_of(own) == (OWNER, OWNER)
