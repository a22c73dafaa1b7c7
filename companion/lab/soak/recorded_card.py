"""A card that remembers every write, and what is on it after its power was cut at any of them.

All that came before the last flush is there. Of what came since, any part may be: a card writes its buffer in whatever
order it likes, by sectors. So a cut leaves all of the first and a random choice of the second; then the kernel's own
ext4 mends it at the next mount, as it does in a Pi.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from companion.lab.soak import sd_card
from companion.lab.soak.sd_card import run
from companion.lab.soak.write_log import Noted, noted
from companion.ports import DeviceError

SECTOR = 512
MIB = 1024 * 1024


def impossible() -> str:
    """Return why no card can be recorded here, empty where one can."""
    if why := sd_card.impossible():
        return why
    return "" if Path("/dev/fuse").exists() else "needs a kernel with FUSE"


def made(image: Path, *, mib: int) -> Path:
    """Make an empty card of so many MiB."""
    image.touch()
    os.truncate(image, mib * MIB)
    # What lies on it at first is no part of the test: all of it is written now.
    run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", str(image))
    return image


class RecordedCard:
    """A card in use: its file system is at ``place``, and whatever is written to it stands in ``log``."""

    def __init__(self, folder: Path, image: Path) -> None:
        """Mount a copy of ``image``, which stays as it is.

        :raises DeviceError: that is not possible here; see :func:`impossible` too.
        """
        self.base, self.log, self.place = image, folder / "writes.log", folder / "card"
        self._file, used = folder / "recorded.img", folder / "used.img"
        copied(image, used)
        self._file.touch()
        self.place.mkdir(exist_ok=True)
        self._recorder = subprocess.Popen(
            [sys.executable, "-m", "companion.lab.soak.write_log", str(used), str(self.log), str(self._file)],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            if self._recorder.stdout is None or self._recorder.stdout.readline() != "ready\n":
                raise DeviceError("The kernel lets no file system of ours be mounted.")
            run("mount", "-o", "loop", str(self._file), str(self.place))
        except BaseException:
            self.close()
            raise

    def position(self) -> int:
        """Return how far the log has come: what was acknowledged before must be there after any later cut."""
        return self.log.stat().st_size

    def counted(self) -> tuple[int, int]:
        """Return how many writes and flushes the log has."""
        kinds = [one.data is None for one in noted(self.log)]
        return kinds.count(False), kinds.count(True)

    def close(self) -> None:
        """Take it out; what was still to be written is written, and stands in the log.

        A mount namespace that somebody made meanwhile may keep it: so nothing is waited for.
        """
        subprocess.run(["sync", "--file-system", str(self.place)], check=False, capture_output=True)
        for place in (self.place, self._file):
            subprocess.run(["umount", "--lazy", str(place)], check=False, capture_output=True)
        self._recorder.kill()
        self._recorder.wait()
        if self._recorder.stdout is not None:
            self._recorder.stdout.close()


@dataclass(frozen=True, slots=True)
class Cut:
    """A place in the log at which the power goes; ``chance`` is the share of unflushed sectors that arrived."""

    at: int
    chance: float


def cuts(log: Path, count: int, must: Sequence[int], rng: random.Random, *, since: int = 0) -> list[Cut]:
    """Return about ``count`` places in a log at which to cut, in their order, each of another kind of loss.

    Up to half of them are at ``must``, the very moments at which something was acknowledged, with nothing there that
    was not flushed: no moment is harder. The others are anywhere from ``since`` on, a place in the log.
    """
    ends = [one.end for one in noted(log) if one.end >= since]
    hard = sorted({at for at in must if at >= since})
    if len(hard) > count // 2:
        hard = sorted(rng.sample(hard, count // 2))
    anywhere = [Cut(rng.choice(ends), rng.choice((0.0, 0.1, 0.5, 0.9, 1.0))) for _ in range(count - len(hard))]
    return sorted([*(Cut(at, 0.0) for at in hard), *anywhere], key=lambda cut: (cut.at, cut.chance))


def after(card: RecordedCard, where: Sequence[Cut], folder: Path, rng: random.Random) -> Iterator[tuple[Cut, Path]]:
    """Yield each cut, in the order of the log, with the folder at which the card is mounted after it.

    It is taken out again when the next one is asked for.
    """
    durable, place = folder / "durable.img", folder / "after"
    copied(card.base, durable)
    place.mkdir(exist_ok=True)
    records, waiting, held = noted(card.log), list[Noted](), None
    with durable.open("r+b") as safe:
        for number, cut in enumerate(where):
            while (one := held if held is not None else next(records, None)) is not None:
                held = None
                if one.end > cut.at:
                    held = one
                    break
                if one.data is not None:
                    waiting.append(one)
                    continue
                for write in waiting:
                    _put(safe, write.offset, write.data or b"")
                waiting.clear()
            safe.flush()
            # Of its own each time: a mount namespace that somebody made meanwhile may keep the one before.
            image = folder / f"cut-{number}.img"
            copied(durable, image)
            _arrive(image, waiting, cut.chance, rng)
            _mount(image, place)
            try:
                yield cut, place
            finally:
                run("umount", "--lazy", str(place))
                image.unlink()


def _mount(image: Path, place: Path) -> None:
    """Mount what a cut left. A superblock of which half arrived is mended first, as at the start of a Pi."""
    try:
        run("mount", "-o", "loop", str(image), str(place))
    except DeviceError:
        # As with fsck.repair=yes. Its exit status is not asked: what it could not mend cannot be mounted either.
        subprocess.run(["e2fsck", "-y", str(image)], check=False, capture_output=True)
        run("mount", "-o", "loop", str(image), str(place))


def _arrive(image: Path, waiting: Sequence[Noted], chance: float, rng: random.Random) -> None:
    """Write a part of what was never flushed. A sector that was written twice has one of its contents."""
    with image.open("r+b") as file:
        for write in waiting:
            data = write.data or b""
            for at in range(0, len(data), SECTOR):
                if rng.random() < chance:
                    _put(file, write.offset + at, data[at : at + SECTOR])


def _put(file: BinaryIO, offset: int, data: bytes) -> None:
    file.seek(offset)
    file.write(data)


def copied(source: Path, target: Path) -> None:
    """Copy an image with its holes."""
    run("cp", "--sparse=always", "--reflink=auto", str(source), str(target))
