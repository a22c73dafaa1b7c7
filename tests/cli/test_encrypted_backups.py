"""`companion backup`, `restore` and `doctor` with a passphrase."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from companion.night.backup.encryption import KEPT, is_encrypted
from companion.night.log.data_folder import JOURNAL
from companion.night.log.journal import Journal

pytestmark = pytest.mark.process

WORDS = "quatre pingouins à l’heure"
OTHER = "quatre pingouins à l’aube"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir(mode=0o700)
    Journal(tmp_path / "data" / JOURNAL).close()
    return tmp_path / "data"


@pytest.fixture
def companion(data: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    def call(*arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "companion", *arguments, "--data", str(data)],
            input=typed,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    return call


Call = Callable[..., subprocess.CompletedProcess[str]]


def test_one_backup_under_a_passphrase(data: Path, tmp_path: Path, companion: Call) -> None:
    file = tmp_path / "nights.zip.age"
    made = companion("backup", str(file), "--encrypt", typed=f"{WORDS}\n")
    assert (made.returncode, made.stderr) == (0, "")
    assert "a lost passphrase is a lost backup" in made.stdout
    assert is_encrypted(file) and not (data / KEPT).exists()
    for typed, says in (("", "is encrypted; it opens with its passphrase only."), (f"{OTHER}\n", "not the passphrase")):
        for more in ((), ("--check",)):
            refused = companion("restore", str(file), *more, typed=typed)
            assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
            assert says in refused.stderr
    assert companion("restore", str(file), "--check", typed=f"{WORDS}\n").returncode == 0
    restored = companion("restore", str(file), typed=f"{WORDS}\n")
    assert (restored.returncode, restored.stderr) == (0, "")
    unfit = companion("backup", str(tmp_path / "x.zip"), "--encrypt", typed="short\n")
    assert (unfit.returncode, unfit.stderr.count("\n")) == (2, 1) and "at least 10 characters" in unfit.stderr


def test_every_backup_from_now_on_and_what_the_doctor_says(data: Path, tmp_path: Path, companion: Call) -> None:
    assert companion("backup", "--keep-passphrase", typed=f"{WORDS}\n").returncode == 0
    assert (data / KEPT).read_text() == WORDS
    told = json.loads(companion("backup", "--json").stdout)
    assert told["encrypted"] is True and told["file"].endswith(".zip.age")
    (tmp_path / "elsewhere").mkdir()
    assert companion("backup", str(tmp_path / "elsewhere")).returncode == 0
    assert [path.suffix for path in (tmp_path / "elsewhere").iterdir()] == [".age"]
    # Its own ones open by themselves.
    assert companion("restore").returncode == 0
    said = companion("doctor").stdout
    assert "A lost passphrase is a lost backup: nobody can open it without it." in said
    assert f"The newest backup {Path(told['file']).name} has" in said
    (data / KEPT).write_text(OTHER)
    assert "needs a passphrase that this box does not have" in companion("doctor").stdout
    assert companion("backup", "--forget-passphrase", "--json").stdout.count('"encrypted": false') == 1
    assert "this box does not keep their passphrase" in companion("doctor").stdout


def test_encrypted_and_not_is_no_wish(companion: Call) -> None:
    done = companion("backup", "--encrypt", "--forget-passphrase")
    assert (done.returncode, done.stderr) == (2, "companion: Either encrypted or not.\n")


def test_at_a_terminal_it_is_asked_for_twice_and_not_shown(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "nights.zip.age"
    program = [sys.executable, "-m", "companion", "backup", str(file), "--encrypt", "--data", str(data)]
    pid, line = pty.fork()
    if pid == 0:  # pragma: no cover - the child
        os.execvp(program[0], program)  # noqa: S606
    heard, asked = b"", 0
    with os.fdopen(line, "rb+", buffering=0) as terminal:
        while True:
            try:
                heard += terminal.read(1000)
            except OSError:  # the program has ended
                break
            if heard.count(b": ") > asked and heard.endswith(b": "):
                asked += 1
                terminal.write(WORDS.encode() + b"\n")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, heard
    assert asked == 2 and b"pingouins" not in heard
    assert is_encrypted(file)
