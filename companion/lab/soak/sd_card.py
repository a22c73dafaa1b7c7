"""A card that stops taking writes while the service runs: the kernel ends all writing, or a limit does for a while."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from companion.lab.soak.play import Player, ServedCompanion
from companion.ports import DeviceError

MOVES = 8


@dataclass(slots=True)
class Dying:
    """A card whose file system finds an error in the middle of an evening; what was said, and what was there later."""

    refused: int = 0
    """Changes refused with the sentence, …"""
    other: int = 0
    """… and with another answer."""
    readable: bool = False
    """Whether page and game were answered meanwhile."""
    saved: bool = False
    """Whether a backup to another place could be made: by the running service's card, and once it was stopped."""
    doctor: str = ""
    lost: int = 0
    went_on: bool = False


def impossible() -> str:
    """Return why no card can die here, empty where one can: root is needed, and a kernel that lets one be mounted."""
    if os.geteuid() != 0:
        return "needs root, to mount a small file system"
    if not Path("/dev/loop-control").exists():
        return "needs a kernel with loop devices"
    return ""


class SdCard:
    """A small ext4 file system in a file, mounted as Raspberry Pi OS mounts a card: an error ends all writing."""

    def __init__(self, folder: Path) -> None:
        """Make and mount it."""
        self.image, self.place = folder / "card.img", folder / "card"
        self.image.touch()
        os.truncate(self.image, 24 * 1024 * 1024)
        self.place.mkdir()
        run("mkfs.ext4", "-q", "-F", str(self.image))
        self.insert()

    def insert(self) -> None:
        """Mount it."""
        run("mount", "-o", "loop,errors=remount-ro", str(self.image), str(self.place))

    def fail(self) -> None:
        """Let the file system find an error, as it does when a card gives back what was never written."""
        source = run("findmnt", "-n", "-o", "SOURCE", str(self.place)).strip()
        (Path("/sys/fs/ext4") / Path(source).name / "trigger_fs_error").write_text("1", encoding="ascii")

    def mend(self) -> None:
        """Take it out, check it as the next start would, put it in again.

        A mount namespace that somebody made meanwhile keeps the old file system alive, with its error: so what lies on
        the card is put in as another one.
        """
        run("umount", str(self.place))
        self.image = Path(shutil.copyfile(self.image, self.image.with_name(f"{self.image.name}.mended")))
        # 1: errors were found and corrected.
        subprocess.run(["e2fsck", "-p", str(self.image)], check=False, capture_output=True)
        self.insert()

    def close(self) -> None:
        """Take it out for good."""
        subprocess.run(["umount", "--lazy", str(self.place)], check=False, capture_output=True)


def dying(folder: Path) -> Dying:
    """Play on a card that dies in mid-run, look at what is said, save the nights, mend it, play on.

    :raises DeviceError: it cannot be mounted here; see :func:`impossible` too.
    """
    result, player, card = Dying(), Player(6), SdCard(folder)
    try:
        data = card.place / "data"
        house = ServedCompanion(data)
        try:
            for _ in range(MOVES):
                player.step(house)
            card.fail()
            _changes(house, result)
            result.readable = house.view()["seq"] > 0 and house.host.ask("GET", "/")[0] == 200
            result.doctor = _doctor(data)
            result.saved = _saved(data, folder / "running.zip")
        finally:
            house.close()
        result.saved &= _saved(data, folder / "stopped.zip")
        card.mend()
        house.start()
        try:
            seen = house.view()["seq"]
            result.lost = sum(seq > seen for seq in player.acknowledged.values())
            for _ in range(MOVES):
                player.step(house)
            result.went_on = True
        finally:
            house.close()
    finally:
        card.close()
    return result


def _changes(house: ServedCompanion, result: Dying) -> None:
    """Ask for changes of every kind; count those that are refused with the sentence, and all others."""
    answers = [house.do("pause", {}, f"dying-card-{n:04d}") for n in range(10)]
    said = [(answer.get("problem"), answer.get("message", {}).get("en", "")) for answer in answers]
    for path, body in (("/api/people", {"name": "Zoe"}), ("/api/settings", {"nightly_backups": 3}), ("/api/pin", {})):
        error = json.loads(house.host.ask("POST", path, body)[1])["error"]
        said.append((error["code"], error["en"]))
    result.refused = sum(problem == "storage" and "read-only" in words for problem, words in said)
    result.other = len(said) - result.refused


def _saved(data: Path, target: Path) -> bool:
    done = _companion("backup", str(target), "--data", str(data))
    return done.returncode == 0 and target.exists()


def _doctor(data: Path) -> str:
    """Return what the doctor says of the disk."""
    findings = map(json.loads, _companion("doctor", "--data", str(data), "--json").stdout.splitlines())
    return next((f"{one['state']}: {one['en']}" for one in findings if one["check"] == "disk"), "")


@dataclass(slots=True)
class Held:
    """Writing that was stopped and let go again while the service ran: what was said, and whether play went on."""

    refused: int = 0
    other: list[str] = field(default_factory=list)
    lost: int = 0
    went_on: bool = False


def held(house: ServedCompanion) -> Held:
    """Play, let the kernel refuse the running service every write (RLIMIT_FSIZE), let go, play on. Needs no root."""
    result, player = Held(), Player(8)
    for _ in range(MOVES):
        player.step(house)
    with _no_writing(house.process.pid):
        for n in range(10):
            answer = house.do("pause", {}, f"held-card-{n:04d}")
            if answer["ok"] or answer["problem"] != "storage":
                result.other.append(json.dumps(answer))
            else:
                result.refused += 1
    for _ in range(MOVES):
        player.step(house)
    seen = house.view()["seq"]
    result.lost = sum(seq > seen for seq in player.acknowledged.values())
    result.went_on = True
    return result


@contextlib.contextmanager
def _no_writing(pid: int) -> Iterator[None]:
    soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))


def _companion(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "companion", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def run(*command: str) -> str:
    """Run a program of the system and return what it says.

    :raises DeviceError: it is not there, or fails.
    """
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        why = getattr(error, "stderr", "") or str(error)
        raise DeviceError(f"{command[0]}: {' '.join(why.split())[:200]}") from error
