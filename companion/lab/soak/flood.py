"""What one phone, or a stranger without a PIN, may try at once: photos that are bombs, half-sent bodies, streams.

Each flood runs in a process of its own, so that what it takes is not measured with the service. Meanwhile the host
taps, and a phone without rights listens.
"""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import multiprocessing
import os
import socket
import struct
import tempfile
import threading
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from companion.lab.phone import Phone
from companion.lab.rows import Row, percentile, row
from companion.lab.soak.play import ServedCompanion
from companion.rules import games

OTHER = "the other version: "
PHOTOS = 200
ROUNDS = 10
UNPACKED_MB = 900
SMALL_UNPACKED_MB = 72
BEAT_S = 2.0
"""How often the service tells systemd that it lives: a third of the watchdog's time."""
TAP_S = 0.05
QUIET_TAPS = 40
PATIENCE_S = 300.0
ATTACKER = ("127.0.0.66", 0)
"""A phone has an address of its own, as the host's has."""
HALF_SENT = 24
HALF_BYTES = 16 * 1024 * 1024 - 2
STREAMS = 60


def stuffed_png(megabytes: int) -> bytes:
    """Return a PNG of 8×8 pixels whose data unpacks to so many megabytes."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    packer, zeros = zlib.compressobj(9), bytes(1 << 20)
    data = b"".join(packer.compress(zeros) for _ in range(megabytes)) + packer.flush()
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", data) + chunk(b"IEND", b"")


class Systemd:
    """The socket that a service tells of its life, and when it did."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "notify"
        self._line = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._line.bind(str(self.path))
        self.beats: list[float] = []
        threading.Thread(target=self._hear, daemon=True).start()

    def _hear(self) -> None:
        with contextlib.suppress(OSError):
            while message := self._line.recv(4096):
                if b"WATCHDOG=1" in message:
                    self.beats.append(time.monotonic())

    def longest_silence(self, since: float) -> float:
        """Return the longest time without a beat until now, in seconds."""
        times = [since, *(beat for beat in self.beats if beat > since), time.monotonic()]
        return max(after - before for before, after in itertools.pairwise(times))

    def close(self) -> None:
        """Hear no more."""
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)
        self._line.close()


@contextlib.contextmanager
def watched(folder: Path, python: Path | None = None) -> Iterator[tuple[ServedCompanion, Systemd]]:
    """Serve as systemd does, with a game open, and hear the watchdog's beats; ``python``: another version's."""
    systemd = Systemd(folder)
    told = {"NOTIFY_SOCKET": str(systemd.path), "WATCHDOG_USEC": str(int(3e6 * BEAT_S))}
    before = {name: os.environ.get(name) for name in told}
    os.environ.update(told)
    try:
        house = ServedCompanion(folder / "data", python=python)
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    try:
        players = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]
        cards = ["4", "4/5", "5/6", "6/7", "7/8", "8/9", "9/10", "2", "3"]
        body = {"game": games()[0], "players": players, "setup": {"cards": cards}}
        house.do("open-match", body, "flood-open-match")
        house.do("moves", {"moves": ["start"]}, "flood-start-it")
        yield house, systemd
    finally:
        house.close()
        systemd.close()


def _send(port: int, cookie: str, photo: bytes) -> str:
    """Send a photo; return the status, and the code of a refusal."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S, source_address=ATTACKER)
    headers = {"Origin": f"http://127.0.0.1:{port}", "Cookie": cookie, "Content-Type": "image/png"}
    try:
        connection.request("POST", "/api/photo", photo, headers)
        answer = connection.getresponse()
        told = json.loads(answer.read())
        return f"{answer.status} {told.get('error', {}).get('code', '')}".strip()
    except (OSError, http.client.HTTPException, ValueError) as error:
        return type(error).__name__
    finally:
        connection.close()


def _flood(
    port: int, cookie: str, photo: bytes, rounds: int, told: multiprocessing.SimpleQueue[dict[str, int]]
) -> None:
    os.nice(19)  # it stands for another machine
    told.put({})
    with ThreadPoolExecutor(PHOTOS) as pool:
        answers = (pool.map(lambda _: _send(port, cookie, photo), range(PHOTOS)) for _ in range(rounds))
        told.put(dict(Counter(itertools.chain.from_iterable(answers))))


def _player(house: ServedCompanion) -> Phone:
    phone = Phone(house.host.port)
    pin = json.loads(house.host.ask("GET", "/api/table")[1])["pin"]
    phone.ask("POST", "/api/join", {"pin": pin, "label": "Flo"})
    return phone


@dataclass(slots=True)
class Flood:
    """What a flood did: the time of each tap (ms), what its requests were answered, and the watchdog's silence.

    ``quiet_ms`` are taps before it: how slow the machine is by itself.
    """

    quiet_ms: list[float] = field(default_factory=list)
    taps_ms: list[float] = field(default_factory=list)
    answers: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    silence_s: float = 0.0
    before_mb: float = 0.0
    peak_mb: float = 0.0

    def tap_ms(self, share: float) -> float:
        """Return how long a tap waits at most in this share of all cases.

        Somebody who waits does not tap meanwhile. So that a long wait counts as what it is, the taps that would have
        come every :data:`TAP_S` are put in, each with the rest of the wait.
        """
        step = 1000 * TAP_S
        times = [tap - late * step for tap in self.taps_ms for late in range(1 + int(tap / step))]
        return percentile(times, share)


def photos(house: ServedCompanion, systemd: Systemd, photo: bytes, rounds: int = 1) -> Flood:
    """Send 200 photos at once from one phone, so many times, and tap meanwhile."""
    attacker, result = _player(house), Flood(before_mb=house.memory_mb())
    context = multiprocessing.get_context("spawn")
    told: multiprocessing.SimpleQueue[dict[str, int]] = context.SimpleQueue()
    flood = context.Process(target=_flood, args=(house.host.port, attacker.cookie, photo, rounds, told), daemon=True)
    while len(result.quiet_ms) < QUIET_TAPS:
        _tap(house, result.quiet_ms)
    flood.start()
    told.get()  # it has begun
    began = time.monotonic()
    while told.empty():
        _tap(house, result.taps_ms)
        result.peak_mb = max(result.peak_mb, house.memory_mb())
    result.seconds = time.monotonic() - began
    result.silence_s = systemd.longest_silence(began)
    result.answers = told.get()
    flood.join()
    return result


def _tap(house: ServedCompanion, times: list[float]) -> None:
    """Make a move, and note how long it took (ms)."""
    at = time.monotonic()
    with contextlib.suppress(OSError, http.client.HTTPException):
        house.do("moves", {"moves": [("take red", "return red")[len(times) % 2]]}, os.urandom(8).hex())
    times.append(1000 * (time.monotonic() - at))
    time.sleep(max(0.0, at + TAP_S - time.monotonic()))


def _photo_rows(what: str, found: Flood) -> Iterable[Row]:
    answers = ", ".join(f"{number} × {status}" for status, number in sorted(found.answers.items()))
    note = f"{len(found.taps_ms)} taps (health and move) in {found.seconds:.0f} s; answers: {answers}"
    yield row(f"{what}: a tap before, 95 %", f"{percentile(found.quiet_ms, 0.95):.0f}", "ms")
    yield row(f"{what}: a tap, 95 %", f"{found.tap_ms(0.95):.0f}", "ms", "≤ 300 ms", note)
    yield row(f"{what}: a tap, worst", f"{max(found.taps_ms):.0f}", "ms")
    note, aim = f"a beat each {BEAT_S:.0f} s", f"≤ {3 * BEAT_S:.0f} s"
    yield row(f"{what}: the watchdog's longest silence", f"{found.silence_s:.1f}", "s", aim, note)
    yield row(f"{what}: memory, most", f"{found.peak_mb:.0f}", "MB", "", f"{found.before_mb:.0f} MB before")


def half_sent(house: ServedCompanion, count: int = HALF_SENT) -> int:
    """Let a stranger send bodies of 16 MB but for their last byte; return how many bytes the service keeps of them."""
    head = (
        f"POST /api/photo HTTP/1.1\r\nHost: 127.0.0.1:{house.host.port}\r\nX-Companion: 1\r\n"
        f"Content-Length: {HALF_BYTES + 1}\r\n\r\n"
    ).encode()
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", house.host.port), timeout=30))
            line.sendall(head)
            line.sendall(bytes(HALF_BYTES))
        # What was sent last is read before this is answered.
        house.host.ask("GET", "/api/health")
        return _nameless_bytes(house.process.pid)


def _nameless_bytes(pid: int) -> int:
    """Return the bytes of nameless files that a process holds."""
    total = 0
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            if link.readlink().name.endswith("(deleted)"):
                total += link.stat().st_size
    return total


def streams(house: ServedCompanion, count: int = STREAMS) -> tuple[int, bool]:
    """Let a guest open many streams; return how many there are, and whether the host has one, too."""
    guests = [Phone(house.host.port) for _ in range(count)]  # of one address
    for guest in guests:
        guest.listen()
    time.sleep(2.0)
    host = Phone(house.host.port)
    host.cookie = house.host.cookie
    host.listen()
    time.sleep(1.0)
    live = sum(bool(guest.heard) for guest in guests), bool(host.heard)
    for phone in (host, *guests):
        phone.hang_up()
    return live


def rows(seconds: float, beside: Path | None = None) -> Iterable[Row]:
    """Yield the table; the floods are as long as they are, whatever ``seconds``.

    ``beside`` is the interpreter of another version's environment, which is flooded in turn with this one.
    """
    del seconds
    others = () if beside is None else ((OTHER, beside),)
    large, small = stuffed_png(UNPACKED_MB), stuffed_png(SMALL_UNPACKED_MB)
    for what, photo in ((f"{len(large) // 1000} kB", large), (f"{len(small) // 1000} kB", small)):
        for name, python in (*others, ("", None)):
            # A version that looks at each photo takes minutes for one round.
            rounds = 1 if python else ROUNDS
            with _flooded(python) as (house, systemd):
                found = photos(house, systemd, photo, rounds)
            yield from _photo_rows(f"{name}{rounds} × {PHOTOS} photos of {what}", found)
    for name, python in (*others, ("", None)):
        with _flooded(python) as (house, _):
            before, kept = house.memory_mb(), half_sent(house)
            note = f"{HALF_SENT} bodies of 16 MB; memory {before:.0f} → {house.memory_mb():.0f} MB"
            yield row(f"{name}half-sent bodies without a PIN: kept on the disk", f"{kept / 1e6:.0f}", "MB", "0", note)
            live, has_one = streams(house)
            what = f"{name}{STREAMS} streams of one guest: the host has one"
            yield row(what, has_one, "", "True", f"{live} were given")


@contextlib.contextmanager
def _flooded(python: Path | None) -> Iterator[tuple[ServedCompanion, Systemd]]:
    with (
        tempfile.TemporaryDirectory(prefix="companion-flood-") as name,
        watched(Path(name), python) as served,
    ):
        yield served
