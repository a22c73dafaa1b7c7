"""Faults that a service must bear: a full disk, a bad line, crowds, clients that misbehave, junk; and its memory."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import random
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tty
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from companion.cli.bench_web import Phone
from companion.cli.soak_play import House, Player
from companion.igloo.link import SerialLink
from companion.igloo.simulated import SimulatedIgloo
from companion.igloo.wire import Data, Hello, Status, encode
from companion.ports import CompanionError, DeviceState

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
    told, player = Disk(), Player(5)
    try:
        house = House(place / "data")
        try:
            for _ in range(20):
                player.step(house)
            with contextlib.suppress(OSError), (place / "filler").open("wb", buffering=0) as filler:
                while filler.write(b"x" * 4096):
                    pass
            told.refused_full = _refusals(house, "full", told)
            (place / "filler").unlink()
            player.step(house)
            house.close()
            subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True, capture_output=True)
            told.read_only = _refused_start(house.data)
            subprocess.run(["mount", "-o", "remount,rw", str(place)], check=True, capture_output=True)
            house.start()
            before = len(player.acknowledged)
            for _ in range(20):
                player.step(house)
            told.went_on = len(player.acknowledged) == before + 20
            seen = house.view()["seq"]
            told.lost = sum(seq > seen for seq in player.acknowledged.values())
        finally:
            house.close()
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=False, capture_output=True)
    return told


def _refused_start(data: Path) -> str:
    """Return the one line with which the service refuses to start; several, or a success, count as none."""
    command = [sys.executable, "-m", "companion", "serve", "--host", "127.0.0.1", "--port", "0", "--data", str(data)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.stderr.strip() if done.returncode == 2 and done.stderr.count("\n") == 1 else ""


def _refusals(house: House, word: str, told: Disk) -> int:
    """Ask for changes that need the disk; count those that are refused with the sentence, and all others."""
    said = 0
    for n in range(40):
        answer = house.do("fault", {"clause": "POP-2.3", "colour": "red", "note": "x" * 200}, f"soak-{word}-{n:04d}")
        if not answer["ok"]:
            if answer["problem"] == "storage" and word in answer["message"]["en"]:
                said += 1
            else:
                told.other += 1
    return said


# --- the igloo's line --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Line:
    """A bad line: how often it was broken, and whether the link came back each time and counted its losses."""

    unplugs: int = 0
    came_back: int = 0
    corrupt_sent: int = 0
    corrupt_counted: int = 0
    dropped_sent: int = 0
    lost_counted: int = 0
    absurd_frames: int = 0
    alive: bool = False


def line(unplugs: int, absurd: int, seed: int = 3) -> Line:
    """Break the line of a simulated igloo in every way that it knows; then send valid frames that make no sense."""
    rng, told = random.Random(seed), Line()  # noqa: S311
    with SimulatedIgloo(unit=4, seed=seed) as igloo:
        link = SerialLink(igloo.port)
        try:
            _connected(link)
            for _ in range(unplugs):
                for _ in range(2):
                    igloo.corrupt_frame()
                    told.corrupt_sent += 1
                    time.sleep(0.03)
                lost = rng.randrange(16, 200)
                before = link.status().counts.lost
                igloo.drop_samples(lost)
                told.dropped_sent += lost
                told.lost_counted += _counted(link, before, lost)
                if rng.random() < 0.2:
                    igloo.babble(0.1)
                    time.sleep(0.1)
                igloo.unplug()
                told.unplugs += 1
                time.sleep(rng.uniform(0.0, 0.3))
                igloo.replug()
                told.came_back += _connected(link)
            told.corrupt_counted = link.status().counts.corrupt
        finally:
            link.close()
    told.absurd_frames, told.alive = _absurd(absurd, rng)
    return told


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


# --- crowds ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Crowd:
    """Many phones: how many heard of the last change, and how late the latest was."""

    phones: int = 0
    streams: int = 0
    told: int = 0
    worst_ms: float = 0.0


def crowd(house: House, phones: int, changes: int) -> Crowd:
    """Let so many phones listen, by stream or by asking again and again, while changes are made."""
    ending = threading.Event()
    seen: list[int] = [0] * phones
    times: list[float] = [0.0] * phones
    streams: list[bool] = [False] * phones

    def poll(n: int) -> None:
        phone = Phone(house.host.port)
        while not ending.wait(0.5):
            with contextlib.suppress(OSError, ValueError, KeyError):
                state = json.loads(phone.ask("GET", "/api/state")[1])
                _note(n, int(state["view"]["seq"]))

    def _note(n: int, seq: int) -> None:
        if seq > seen[n]:
            seen[n], times[n] = seq, time.monotonic()

    def live(n: int) -> None:
        head = f"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{house.host.port}\r\n\r\n"
        try:
            with socket.create_connection(("127.0.0.1", house.host.port), timeout=30) as line:
                line.sendall(head.encode())
                with line.makefile("rb") as lines:
                    if b" 200 " not in lines.readline():
                        raise OSError("no place")
                    streams[n] = True
                    for raw in lines:
                        if raw.startswith(b"id: "):
                            _note(n, int(raw[4:]))
                        if ending.is_set():
                            return
        except OSError:
            streams[n] = False
            poll(n)

    threads = [threading.Thread(target=live, args=(n,), daemon=True) for n in range(phones)]
    for thread in threads:
        thread.start()
    time.sleep(2.0)
    player, last = Player(11), 0
    for _ in range(changes):
        player.step(house)
    last = max(player.acknowledged.values())
    made = time.monotonic()
    end = made + 15
    while time.monotonic() < end and not all(seq >= last for seq in seen):
        time.sleep(0.02)
    ending.set()
    told = sum(seq >= last for seq in seen)
    worst = max((1000 * (t - made) for t, seq in zip(times, seen, strict=True) if seq >= last), default=0.0)
    return Crowd(phones, sum(streams), told, max(0.0, worst))


@dataclass(slots=True)
class Rude:
    """Clients that misbehave: how slow a well-behaved one was meanwhile, and what was still answered."""

    clients: int = 0
    asked: int = 0
    answered: int = 0
    worst_ms: float = 0.0


@contextlib.contextmanager
def _sockets(port: int, count: int) -> Iterator[list[socket.socket]]:
    made: list[socket.socket] = []
    try:
        for _ in range(count):
            with contextlib.suppress(OSError):
                made.append(socket.create_connection(("127.0.0.1", port), timeout=5))
        yield made
    finally:
        for one in made:
            one.close()


def _polite(house: House, seconds: float, told: Rude, each: Callable[[], None]) -> Rude:
    phone, end = Phone(house.host.port), time.monotonic() + seconds
    while time.monotonic() < end:
        each()
        told.asked += 1
        began = time.monotonic()
        with contextlib.suppress(OSError):
            told.answered += phone.ask("GET", "/api/health")[0] == 200
        told.worst_ms = max(told.worst_ms, 1000 * (time.monotonic() - began))
        time.sleep(0.1)
    return told


def slow_loris(house: House, clients: int, seconds: float) -> Rude:
    """Send requests a byte at a time from many connections, and ask politely meanwhile."""
    with _sockets(house.host.port, clients) as lines:

        def drip() -> None:
            for one in lines:
                with contextlib.suppress(OSError):
                    one.send(b"G" if one.fileno() % 2 else b"GET / HTTP/1.1\r\nX-Slow: a"[:1])

        return _polite(house, seconds, Rude(len(lines)), drip)


def never_reading(house: House, clients: int, seconds: float) -> Rude:
    """Open streams that nobody reads, play on so that much is sent to them, and ask politely meanwhile."""
    player = Player(12)
    with _sockets(house.host.port, clients) as lines:
        for one in lines:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            with contextlib.suppress(OSError):
                one.sendall(f"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{house.host.port}\r\n\r\n".encode())
        return _polite(house, seconds, Rude(len(lines)), lambda: player.step(house))


# --- junk --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Junk:
    """Malformed requests: how many, how many were answered with a server's error, and whether the house stands."""

    sent: int = 0
    server_errors: int = 0
    unanswered: int = 0
    alive: bool = False


PATHS = ("/api/do", "/api/settings", "/api/simulate", "/api/camera", "/api/photo", "/api/join", "/language", "/")


def junk(house: House, requests: int, seed: int = 4) -> Junk:
    """Send so many malformed requests as the host, whom most is allowed."""
    rng, told = random.Random(seed), Junk()  # noqa: S311

    def value(depth: int = 0) -> Any:
        made = (
            lambda: None,
            lambda: rng.choice((True, False)),
            lambda: rng.choice((0, -1, 2**31, 2**63, 10**40, 1e308)),
            lambda: rng.choice(("", "x" * 3000, "\x00", "☃", "../../etc/passwd", "red", "card1", "igloo-pop")),
            lambda: [value(depth + 1) for _ in range(rng.randrange(4))] if depth < 4 else [],
            lambda: {rng.choice(KEYS): value(depth + 1) for _ in range(rng.randrange(4))} if depth < 4 else {},
        )
        return rng.choice(made)()

    for _ in range(requests):
        told.sent += 1
        path = rng.choice(PATHS)
        body = rng.randbytes(rng.randrange(200))
        if rng.random() < 0.7:
            told_body = value()
            if path == "/api/do":
                told_body = {"command": rng.choice(COMMANDS), "body": value(), "action_id": value(), "state": value()}
            body = json.dumps(told_body).encode()
        try:
            media = rng.choice(("application/json", "text/plain", "image/jpeg"))
            status, _ = house.host.send(path, body, media, method=rng.choice(("POST", "PUT", "GET")))
            told.server_errors += status >= 500
        except OSError:
            told.unanswered += 1
    told.alive = house.host.ask("GET", "/api/health")[0] == 200
    return told


KEYS = (
    "game",
    "players",
    "name",
    "colour",
    "moves",
    "to",
    "agreed",
    "cards",
    "card1",
    "setup",
    "options",
    "points",
    "x",
)
COMMANDS = (
    "open-match",
    "moves",
    "deal",
    "check",
    "undo",
    "correct",
    "fault",
    "dismiss-fault",
    "pause",
    "nonsense",
    "",
)


# --- memory ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Memory:
    """Memory over a long play: where it began and ended (MB), and the slope of a straight line through it."""

    moves: int = 0
    seconds: float = 0.0
    begin_mb: float = 0.0
    end_mb: float = 0.0
    slope_mb_per_hour: float = 0.0
    slope_kb_per_1000_moves: float = 0.0


def memory(house: House, seconds: float, moves_per_s: float = 30.0) -> Memory:
    """Play at most so fast for so long (30 moves a second are some hundred tables' pace) and watch the memory."""
    player, points = Player(13), []
    began = time.monotonic()
    moves = 0
    while (passed := time.monotonic() - began) < seconds:
        player.step(house)
        moves += 1
        if moves % 50 == 0:
            points.append((passed, moves, house.memory_mb()))
        time.sleep(max(0.0, moves / moves_per_s - (time.monotonic() - began)))
    # What is loaded at first use belongs to no slope: the first third is left out.
    late = points[len(points) // 3 :] or points
    by_time = _slope([(t, mb) for t, _, mb in late])
    by_moves = _slope([(float(n), mb) for _, n, mb in late])
    return Memory(moves, seconds, points[0][2], points[-1][2], 3600 * by_time, 1000 * 1024 * by_moves)


def _slope(points: list[tuple[float, float]]) -> float:
    x0 = sum(x for x, _ in points) / len(points)
    y0 = sum(y for _, y in points) / len(points)
    below = sum((x - x0) ** 2 for x, _ in points)
    return sum((x - x0) * (y - y0) for x, y in points) / below if below else 0.0


def parsers(seconds: float, seed: int = 6) -> dict[str, tuple[int, int]]:
    """Feed junk to what reads bytes from outside; return for each how many it got and how many it stumbled over."""
    from companion.igloo.wire import FrameReader
    from companion.night.folder import read_address
    from companion.rules.record import read
    from companion.settings import Settings

    rng = random.Random(seed)  # noqa: S311
    seeds = [
        b"\x00\x01",
        b'{"game": "igloo-pop", "players": []}\n"start"\n',
        b'{"urls": ["http://x"]}',
        b"[[[[",
        b"\xff" * 9,
    ]

    def mutated() -> bytes:
        data = bytearray(rng.choice(seeds) * rng.randrange(1, 4))
        for _ in range(rng.randrange(1, 12)):
            data[rng.randrange(len(data))] = rng.getrandbits(8)
        return bytes(data[: rng.randrange(1, len(data) + 1)])

    with tempfile.TemporaryDirectory(prefix="companion-junk-") as folder:
        path = Path(folder)

        def as_settings(data: bytes) -> None:
            (path / "settings.json").write_bytes(data)
            Settings(path / "settings.json")
            for left in path.glob("settings.json*"):
                left.unlink()

        def as_address(data: bytes) -> None:
            (path / "address.json").write_bytes(data)
            read_address(path)

        reader = FrameReader()
        readers: dict[str, Callable[[bytes], object]] = {
            "frames": reader.feed,
            "records": lambda data: read(data.decode("utf-8", "replace").splitlines()),
            "settings": as_settings,
            "addresses": as_address,
        }
        told = dict.fromkeys(readers, (0, 0))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for name, parse in readers.items():
                given, stumbled = told[name]
                try:
                    parse(mutated())
                except CompanionError:
                    pass  # one clear sentence is what it should give
                except ValueError as error:
                    stumbled += type(error) in {ValueError, IndexError}
                except Exception:
                    stumbled += 1
                told[name] = (given + 1, stumbled)
    return told
