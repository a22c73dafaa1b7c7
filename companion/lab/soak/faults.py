"""Faults that a service must bear, of its disk and of an igloo's line; and its memory over a long play."""

from __future__ import annotations

import contextlib
import os
import pty
import random
import select
import subprocess
import sys
import tempfile
import time
import tty
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from companion.igloo.line.discovery import IglooDiscovery
from companion.igloo.line.link import SerialLink
from companion.igloo.line.protocol import Data, Hello, Status, encode
from companion.igloo.simulated.igloo import SimulatedIgloo
from companion.lab.soak.play import Player, ServedCompanion
from companion.ports import DeviceState, IglooLink, Samples

# --- the disk ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Disk:
    """A disk that fills up, then is read-only at a start: what was said, and whether play went on afterwards."""

    refused_full: int = 0
    other: int = 0
    read_only: str = ""
    went_on: bool = False
    lost: int = 0


def disk(folder: Path) -> Disk | None:
    """Play on a small file system of its own, fill it, make it read-only, make it good again; None without root."""
    place = folder / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        return None
    result, player = Disk(), Player(5)
    try:
        house = ServedCompanion(place / "data")
        try:
            for _ in range(20):
                player.step(house)
            with contextlib.suppress(OSError), (place / "filler").open("wb", buffering=0) as filler:
                while filler.write(b"x" * 4096):
                    pass
            result.refused_full = _refusals(house, "full", result)
            (place / "filler").unlink()
            player.step(house)
            house.close()
            subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True, capture_output=True)
            result.read_only = _refused_start(house.data)
            subprocess.run(["mount", "-o", "remount,rw", str(place)], check=True, capture_output=True)
            house.start()
            before = len(player.acknowledged)
            for _ in range(20):
                player.step(house)
            result.went_on = len(player.acknowledged) == before + 20
            seen = house.view()["seq"]
            result.lost = sum(seq > seen for seq in player.acknowledged.values())
        finally:
            house.close()
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=False, capture_output=True)
    return result


def _refused_start(data: Path) -> str:
    """Return the one line with which the service refuses to start; several, or a success, count as none."""
    command = [sys.executable, "-m", "companion", "serve", "--host", "127.0.0.1", "--port", "0", "--data", str(data)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.stderr.strip() if done.returncode == 2 and done.stderr.count("\n") == 1 else ""


def _refusals(house: ServedCompanion, word: str, result: Disk) -> int:
    """Ask for changes that need the disk; count those that are refused with the sentence, and all others."""
    said = 0
    for n in range(40):
        answer = house.do("fault", {"clause": "POP-2.3", "colour": "red", "note": "x" * 200}, f"soak-{word}-{n:04d}")
        if not answer["ok"]:
            if answer["problem"] == "storage" and word in answer["message"]["en"]:
                said += 1
            else:
                result.other += 1
    return said


# --- the igloo's line --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class FaultyLine:
    """A bad line: how often it was broken, and whether the link came back each time and counted its losses."""

    unplugs: int = 0
    came_back: int = 0
    corrupt_sent: int = 0
    corrupt_counted: int = 0
    dropped_sent: int = 0
    lost_counted: int = 0
    absurd_frames: int = 0
    alive: bool = False


def line(unplugs: int, absurd: int, seed: int = 3) -> FaultyLine:
    """Break the line of a simulated igloo in every way that it knows; then send valid frames that make no sense."""
    rng, result = random.Random(seed), FaultyLine()
    with SimulatedIgloo(unit=4, seed=seed) as igloo:
        link = SerialLink(igloo.port)
        try:
            _connected(link)
            for _ in range(unplugs):
                for _ in range(2):
                    igloo.corrupt_frame()
                    result.corrupt_sent += 1
                    time.sleep(0.03)
                lost = rng.randrange(16, 200)
                before = link.status().counts.lost
                igloo.drop_samples(lost)
                result.dropped_sent += lost
                result.lost_counted += _counted(link, before, lost)
                if rng.random() < 0.2:
                    igloo.babble(0.1)
                    time.sleep(0.1)
                igloo.unplug()
                result.unplugs += 1
                time.sleep(rng.uniform(0.0, 0.3))
                igloo.replug()
                result.came_back += _connected(link)
            result.corrupt_counted = link.status().counts.corrupt
        finally:
            link.close()
    result.absurd_frames, result.alive = _absurd(absurd, rng)
    return result


def _counted(link: SerialLink, before: int, lost: int) -> int:
    """Return how many of the lost samples were counted as such, once they must have been noticed."""
    end = time.monotonic() + 5
    while time.monotonic() < end and link.status().counts.lost < before + lost:
        time.sleep(0.02)
    return min(lost, link.status().counts.lost - before)


def _connected(link: SerialLink, seconds: float = 20.0) -> bool:
    end, began = time.monotonic() + seconds, link.status().counts.samples
    while time.monotonic() < end:
        status = link.status()
        if status.state is DeviceState.CONNECTED and status.counts.samples > began:
            return True
        time.sleep(0.02)
    return False


def _absurd(frames: int, rng: random.Random) -> tuple[int, bool]:
    """Send frames whose CRC is right and whose values are anything; return how many, and whether the link lives."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    link = SerialLink(os.ttyname(slave))
    sent = 0

    def u(bits: int) -> int:
        return rng.choice((0, 1, (1 << bits) - 1, rng.getrandbits(bits)))

    try:
        # A link that hears nonsense listens at other rates between; so it takes its time.
        deadline = time.monotonic() + 3 + frames / 50
        while sent < frames and time.monotonic() < deadline:
            kind = rng.random()
            frame: Hello | Data | Status
            if kind < 0.1:
                # Every now and then a right word, or the link would not go on listening.
                frame = Hello(sent & 0xFFFF, 1, 0xE5, 0x0F, 0x0B, 3200, 3906, 16_000_000, 500_000, 9)
            elif kind < 0.12:
                frame = Hello(u(16), u(8), 0xE5, u(8), u(8), u(16), u(16), u(32), u(32), 9)
            elif kind < 0.2:
                frame = Status(u(16), u(8), u(8), u(32), u(32), u(16), u(16), u(8))
            else:
                raw = [tuple(rng.randrange(-32768, 32768) for _ in range(3)) for _ in range(16)]
                frame = Data.of(u(16), u(32), u(32), u(8), raw)  # type: ignore[arg-type]
            if select.select([], [master], [], 0.2)[1]:
                with contextlib.suppress(BlockingIOError):
                    os.write(master, encode(frame))
                    sent += 1
        status = link.status()
        # Whatever it says, it still answers, and calls nothing a good unit of a real sensor.
        return sent, status.state in set(DeviceState)
    finally:
        link.close()
        os.close(master)
        os.close(slave)


@dataclass(slots=True)
class Swaps:
    """Two igloos that swapped their ports: how often, and how often a shake was heard under its own igloo's name."""

    swaps: int = 0
    right: int = 0


def swaps(times: int, seed: int = 4) -> Swaps:
    """Pull both igloos out and plug each in where the other was; then shake one and see under which name it is felt."""
    rng, result = random.Random(seed), Swaps()
    felt: dict[str, float] = {}

    def feel(link: IglooLink, samples: Samples) -> None:
        key = link.status().key
        felt[key] = max(felt.get(key, 0.0), float(samples.accel.std(axis=0).max()))

    with (
        tempfile.TemporaryDirectory(prefix="companion-swap-") as name,
        SimulatedIgloo(unit=1, seed=seed, at=Path(name) / "one") as one,
        SimulatedIgloo(unit=2, seed=seed + 1, at=Path(name) / "two") as two,
        IglooDiscovery(named=[one.port, two.port], search=False) as finder,
    ):
        finder.subscribe(feel)
        keys = {"unit-1": one, "unit-2": two}
        for _ in range(times):
            _both(finder, keys, DeviceState.CONNECTED)
            one.unplug()
            two.unplug()
            _both(finder, keys, DeviceState.MISSING)
            one.port, two.port = two.port, one.port
            one.replug()
            two.replug()
            result.swaps += 1
            if not _both(finder, keys, DeviceState.CONNECTED):
                continue
            shaken = rng.choice(sorted(keys))
            felt.clear()
            keys[shaken].shake(rng.randrange(3, 12), 1.5)
            time.sleep(1.2)
            result.right += max(felt, key=lambda key: felt[key], default="") == shaken
            while keys[shaken].seconds_left > 0:
                time.sleep(0.05)
    return result


def _both(finder: IglooDiscovery, keys: Iterable[str], state: DeviceState, seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if {status.key: status.state for status in finder.statuses()} == dict.fromkeys(keys, state):
            return True
        time.sleep(0.05)
    return False


# --- memory ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Memory:
    """Memory over a long play: where it began and ended (MB), and the slope of a straight line through it.

    ``span_mb`` and ``span_handles`` are the most less the least of memory and of open handles, after the first third.
    """

    moves: int = 0
    seconds: float = 0.0
    begin_mb: float = 0.0
    end_mb: float = 0.0
    slope_mb_per_hour: float = 0.0
    slope_kb_per_1000_moves: float = 0.0
    span_mb: float = 0.0
    handles: int = 0
    span_handles: int = 0


def memory(house: ServedCompanion, seconds: float, moves_per_s: float = 30.0) -> Memory:
    """Play at most so fast for so long (30 moves a second are some hundred tables' pace) and watch the memory.

    Where the machine is slow it takes longer: a slope needs two points, each after 50 moves.
    """
    player, moves = Player(13), 0
    points: list[tuple[float, int, float, int]] = []
    began = time.monotonic()
    while (passed := time.monotonic() - began) < seconds or len(points) < 2:
        player.step(house)
        moves += 1
        if moves % 50 == 0:
            points.append((passed, moves, house.memory_mb(), house.handles()))
        time.sleep(max(0.0, moves / moves_per_s - (time.monotonic() - began)))
    # What is loaded at first use belongs to no slope: the first third is left out.
    late = points[len(points) // 3 :] or points
    by_time = _slope([(t, mb) for t, _, mb, _ in late])
    by_moves = _slope([(float(n), mb) for _, n, mb, _ in late])
    sizes, handles = ([point[at] for point in late] for at in (2, 3))
    return Memory(
        moves,
        seconds,
        points[0][2],
        points[-1][2],
        3600 * by_time,
        1000 * 1024 * by_moves,
        max(sizes) - min(sizes),
        points[-1][3],
        int(max(handles) - min(handles)),
    )


def _slope(points: list[tuple[float, float]]) -> float:
    x0 = sum(x for x, _ in points) / len(points)
    y0 = sum(y for _, y in points) / len(points)
    below = sum((x - x0) ** 2 for x, _ in points)
    return sum((x - x0) * (y - y0) for x, y in points) / below if below else 0.0
