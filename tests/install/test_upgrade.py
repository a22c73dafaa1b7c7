"""Upgrading a box and going back: the real script, two versions, the real service, on a machine of its own."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from companion.lab.phone import Phone
from tests.install.machine import Machine, sources

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]

OPTIONS = ("--no-apt", "--watch", "1")
SILENT = {"companion/cli/serve.py": ("        server.run()\n", "        raise SystemExit(3)\n")}
"""A version that opens the nights and then ends before it has answered."""
NEW_FORM = {
    "companion/night/log/journal.py": (
        '    ),\n    sound="SELECT',
        '        ("CREATE TABLE of_tomorrow (x INTEGER) STRICT",),\n    ),\n    sound="SELECT',
    )
}
"""A version that brings the journal to a form which the one before does not know."""
NEW_SESSIONS = {
    "companion/access/store.py": (
        "            _used_now,\n        ),\n    ),\n",
        '            _used_now,\n        ),\n        ("CREATE TABLE of_tomorrow (x INTEGER) STRICT",),\n    ),\n',
    )
}
"""A version that brings the sessions to a form which the one before does not know."""
PLAYERS = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A machine on which version 0.0.1 was installed and ended; it is copied, never used."""
    folder = tmp_path_factory.mktemp("box")
    machine = Machine(folder / "root")
    try:
        done = machine.run(sources(folder / "old", "0.0.1"), *OPTIONS)
        assert done.returncode == 0, done.stderr
        assert "Installed: companion, version 0.0.1" in done.stdout
    finally:
        machine.end()
    shutil.rmtree(folder / "root" / "run")
    (folder / "root" / "run" / "systemd" / "system").mkdir(parents=True)
    yield folder / "root"


@pytest.fixture
def box(installed: Path, tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path / "root", like=installed)
    yield machine
    machine.end()


@pytest.fixture
def version(tmp_path: Path) -> Callable[..., Path]:
    return lambda name, **how: sources(tmp_path / name, name, **how)


def hosted(box: Machine) -> Phone:
    """Return the host's phone on the service that runs on a box."""
    said = json.loads(box.companion("host", "--json").stdout)
    port, path = said["links"][0].removeprefix("http://127.0.0.1:").split("/", 1)
    phone = Phone(int(port))
    assert phone.ask("POST", f"/{path}")[0] == 303
    return phone


def do(phone: Phone, command: str, **body: object) -> None:
    """Give a command that the service enters in its journal."""
    state = json.loads(phone.ask("GET", "/api/health")[1])["journal"]["state"]
    told = {"command": command, "body": body, "action_id": os.urandom(8).hex(), "state": state}
    answer = json.loads(phone.ask("POST", "/api/do", told)[1])
    assert answer["ok"], answer


def entered(box: Machine) -> list[str]:
    """Return what the journal on a box holds: the kinds of its entries."""
    with contextlib.closing(sqlite3.connect(f"file:{box.data / 'journal.sqlite'}?mode=ro", uri=True)) as db:
        return [kind for (kind,) in db.execute("SELECT kind FROM entry ORDER BY seq")]


@pytest.fixture
def before(box: Machine) -> Iterator[str]:
    """The installed version's name, with its service running and a match opened in it."""
    assert box.tool_run("systemctl", "restart").returncode == 0
    do(hosted(box), "open-match", game="igloo-pop", players=PLAYERS, draw=True)
    yield box.current


def test_an_upgrade_is_saved_synced_and_watched_and_goes_back_when_told(
    box: Machine, before: str, version: Callable[..., Path]
) -> None:
    box.tool("sync", 'readlink /opt/companion/current >> /run/sync.log; exec /usr/bin/sync "$@"')
    # As in a container, which has no udevd.
    box.tool("udevadm", "exit 1")
    script = version("0.0.2")
    done = box.run(script, *OPTIONS)
    assert done.returncode == 0, done.stderr
    assert "The service is watched for 1 seconds" in done.stdout
    assert "Installed: companion, version 0.0.2" in done.stdout
    new = box.current
    assert box.versions() == {before, new}
    # All of the new one was on the card before it got the name, and the name before the service went on with it.
    assert [Path(line).name for line in (box.root / "run" / "sync.log").read_text().splitlines()] == [before, new]
    # The service makes one a day, too, soon after its start.
    assert [path.name[:15] for path in sorted((box.data / "backups").glob("companion-*"))][:1] == ["companion-0001-"]
    do(hosted(box), "close-match")

    done = box.run(script, "--rollback", *OPTIONS)
    assert done.returncode == 0, done.stderr
    assert "Installed: companion, version 0.0.1" in done.stdout
    assert box.current == before and box.versions() == {before, new}
    # What was entered since is there.
    assert entered(box)[-1] == "close-match"
    assert json.loads(hosted(box).ask("GET", "/api/health")[1])["version"] == "0.0.1"
    # And again: forward.
    assert "version 0.0.2" in box.run(script, "--rollback", *OPTIONS).stdout
    assert box.current == new


def test_without_a_backup_nothing_is_upgraded(box: Machine, before: str, version: Callable[..., Path]) -> None:
    # No room for a backup: its folder cannot be made. The service may have made it for its first one of the day.
    place, aside = box.data / "backups", iter(range(10))
    while not place.is_file():
        with contextlib.suppress(FileNotFoundError):
            place.rename(box.root / f"aside-{next(aside)}")
        with contextlib.suppress(IsADirectoryError):
            place.write_text("in the way")
    calls = box.calls()
    done = box.run(version("0.0.2"), *OPTIONS)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("install.sh: The nights could not be backed up (see above); the old")
    assert "Traceback" not in done.stderr
    assert (box.current, box.versions(), box.calls()) == (before, {before}, calls)


def test_a_card_that_refuses_to_sync_switches_nothing(box: Machine, before: str, version: Callable[..., Path]) -> None:
    box.tool("sync", "exit 1")
    done = box.run(version("0.0.2"), *OPTIONS)
    assert (done.returncode, box.current) == (1, before)
    assert done.stderr == "install.sh: The card refuses to write; nothing was switched.\n"


@pytest.mark.parametrize("form", [{}, NEW_FORM], ids=["same form", "newer form"])
def test_a_version_that_does_not_answer_goes_by_itself(
    box: Machine, before: str, version: Callable[..., Path], form: dict[str, tuple[str, str]]
) -> None:
    done = box.run(version("0.0.2", changed=SILENT | form), *OPTIONS)
    assert done.returncode == 1
    assert "0.0.2" in done.stdout and "does not answer; going back to companion, version 0.0.1" in done.stdout
    assert "the old one is in place again and answers" in done.stderr
    assert (box.current, box.versions()) == (before, {before})
    assert entered(box)[-1] == "open-match"
    assert json.loads(hosted(box).ask("GET", "/api/health")[1])["version"] == "0.0.1"
    # What the newer one made of the nights is kept, too.
    assert len(list(box.data.glob("before-restore-*"))) == bool(form)


def test_a_first_version_that_does_not_answer_has_nothing_to_go_back_to(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "root")
    try:
        done = machine.run(sources(tmp_path / "old", "0.0.1", changed=SILENT), *OPTIONS)
    finally:
        machine.end()
    said = "install.sh: The service does not answer; sudo companion doctor says more."
    assert (done.returncode, done.stderr.splitlines()[-1], "going back" in done.stdout) == (1, said, False)
    assert machine.versions() == {machine.current}


def test_what_the_newer_one_had_to_save_is_brought_back_too(
    box: Machine, before: str, version: Callable[..., Path]
) -> None:
    backup = next((box.root / "opt" / "companion" / before).glob("lib/python3*/site-packages/companion/cli/backup.py"))
    said = 'raise click.UsageError("Either encrypted or not.")'
    text = backup.read_text()
    backup.write_text(
        text.replace(f"    if forget_passphrase and (encrypt or keep_passphrase):\n        {said}", f"    {said}")
    )
    assert backup.read_text() != text
    done = box.run(version("0.0.2", changed=SILENT | NEW_FORM), *OPTIONS)
    assert "the old one is in place again and answers" in done.stderr
    assert (done.returncode, box.current, entered(box)[-1]) == (1, before, "open-match")
    (saved,) = done.stderr.splitlines()[-1].split(" The nights from before: ")[1:]
    assert (box.root / saved.removeprefix("/")).is_file()


def test_nights_that_the_older_version_cannot_read_are_not_left_without_a_word(
    box: Machine, before: str, version: Callable[..., Path]
) -> None:
    script = version("0.0.2", changed=NEW_FORM)
    assert box.run(script, *OPTIONS).returncode == 0
    new = box.current
    host = hosted(box)
    do(host, "close-match")
    do(host, "open-match", game="igloo-pop", players=PLAYERS, draw=True)
    do(host, "close-match")
    refused = box.run(script, "--rollback", *OPTIONS)
    assert refused.returncode == 1
    assert "cannot read the nights as they are now; nothing was changed. With --rollback --old-nights" in refused.stderr
    assert (box.current, entered(box)[-1]) == (new, "close-match")
    assert json.loads(hosted(box).ask("GET", "/api/health")[1])["version"] == "0.0.2"

    done = box.run(script, "--rollback", "--old-nights", *OPTIONS)
    assert done.returncode == 0, done.stderr
    assert (box.current, entered(box)[-1]) == (before, "open-match")
    (exported,) = (box.data / "backups").glob("*.json")
    assert str(exported).removeprefix(str(box.root)) in done.stdout
    (night,) = json.loads(exported.read_text())["nights"]
    assert len(night["matches"]) == 2
    assert exported.stat().st_uid == box.data.stat().st_uid
    # Forward again: those since are brought back.
    assert box.run(script, "--rollback", *OPTIONS).returncode == 0
    box.tool_run("systemctl", "stop")
    (since,) = [one for one in (box.data / "backups").glob("*.zip") if str(one.stem) == exported.stem]
    assert box.companion("restore", f"/var/lib/companion/backups/{since.name}").returncode == 0
    assert entered(box)[-1] == "close-match"


@pytest.mark.parametrize("answers", [True, False], ids=["by command", "by itself"])
def test_sessions_that_the_older_version_cannot_read_are_put_aside(
    box: Machine, before: str, version: Callable[..., Path], answers: bool
) -> None:
    host, was = hosted(box), entered(box)
    script = version("0.0.2", changed=NEW_SESSIONS | ({} if answers else SILENT))
    done = box.run(script, *OPTIONS)
    if answers:
        assert done.returncode == 0, done.stderr
        do(hosted(box), "close-match")
        done = box.run(script, "--rollback", *OPTIONS)
        assert done.returncode == 0, done.stderr
        was = [*was, "close-match"]
    assert "The sessions of the other version cannot be read by this one: every phone joins anew." in done.stdout
    # No night is touched; who joined before only watches; and the host has a new link.
    assert (box.current, entered(box)) == (before, was)
    assert any(".unreadable-" in path.name for path in box.data.glob("access.sqlite*"))
    anew = hosted(box)
    host.port = anew.port
    assert [phone.ask("GET", "/api/table")[0] for phone in (host, anew)] == [403, 200]


@pytest.mark.long
def test_an_older_version_that_does_not_answer_is_left_again(
    box: Machine, before: str, version: Callable[..., Path]
) -> None:
    script = version("0.0.2")
    assert box.run(script, *OPTIONS).returncode == 0
    new = box.current
    serve = next((box.root / "opt" / "companion" / before).glob("lib/python3*/site-packages/companion/cli/serve.py"))
    serve.write_text(serve.read_text().replace(*SILENT["companion/cli/serve.py"]))
    done = box.run(script, "--rollback", *OPTIONS)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "install.sh: The other version does not answer; the present one is in place again."
    )
    assert box.current == new
    assert json.loads(hosted(box).ask("GET", "/api/health")[1])["version"] == "0.0.2"


def test_there_may_be_nothing_to_go_back_to(box: Machine, tmp_path: Path) -> None:
    (box.root / "opt" / "companion" / "20990101-000000-1").mkdir()
    script = sources(tmp_path / "again", "0.0.1")
    done = box.run(script, "--rollback")
    assert (done.returncode, done.stderr.startswith("install.sh: No other version lies beside companion")) == (1, True)
    done = Machine(tmp_path / "bare").run(script, "--rollback")
    assert (done.returncode, done.stderr) == (1, "install.sh: The companion is not installed here.\n")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--old-nights",), "--old-nights belongs to --rollback."),
        (("--watch", "soon"), "--watch needs seconds, not: soon"),
        (("--watch",), "--watch needs seconds."),
    ],
)
def test_options_that_make_no_sense(box: Machine, options: tuple[str, ...], says: str) -> None:
    done = box.run(sources(box.root / "again", "0.0.1"), *options)
    assert (done.returncode, done.stderr) == (1, f"install.sh: {says}\n")
