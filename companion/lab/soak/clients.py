"""Clients that a service must bear: crowds, slow ones, deaf ones, and junk in requests."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from companion.lab.phone import Phone
from companion.lab.soak.play import Player, ServedCompanion
from companion.rules import games

# --- crowds ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Crowd:
    """Many phones: how many heard of the last change, and how late the latest was."""

    phones: int = 0
    streams: int = 0
    reached: int = 0
    worst_ms: float = 0.0


def crowd(house: ServedCompanion, phones: int, changes: int) -> Crowd:
    """Let so many phones listen, by stream or by asking again and again, while changes are made."""
    ending = threading.Event()
    seen: list[int] = [0] * phones
    times: list[float] = [0.0] * phones
    streams: list[bool] = [False] * phones

    def poll(n: int) -> None:
        phone = Phone(house.host.port, n)
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
            where = ("127.0.0.1", house.host.port)
            with socket.create_connection(where, timeout=30, source_address=(f"127.0.0.{1 + n}", 0)) as line:
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
    reached = sum(seq >= last for seq in seen)
    worst = max((1000 * (t - made) for t, seq in zip(times, seen, strict=True) if seq >= last), default=0.0)
    return Crowd(phones, sum(streams), reached, max(0.0, worst))


@dataclass(slots=True)
class Rude:
    """Clients that misbehave: how slow a well-behaved one was meanwhile, and what was still answered."""

    clients: int = 0
    requests: int = 0
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


def _polite(house: ServedCompanion, seconds: float, result: Rude, each: Callable[[], None]) -> Rude:
    phone, end = Phone(house.host.port), time.monotonic() + seconds
    while time.monotonic() < end:
        each()
        result.requests += 1
        began = time.monotonic()
        with contextlib.suppress(OSError):
            result.answered += phone.ask("GET", "/api/health")[0] == 200
        result.worst_ms = max(result.worst_ms, 1000 * (time.monotonic() - began))
        time.sleep(0.1)
    return result


def slow_loris(house: ServedCompanion, clients: int, seconds: float) -> Rude:
    """Send requests a byte at a time from many connections, and ask politely meanwhile."""
    with _sockets(house.host.port, clients) as lines:

        def drip() -> None:
            for one in lines:
                with contextlib.suppress(OSError):
                    one.send(b"G" if one.fileno() % 2 else b"GET / HTTP/1.1\r\nX-Slow: a"[:1])

        return _polite(house, seconds, Rude(len(lines)), drip)


def never_reading(house: ServedCompanion, clients: int, seconds: float) -> Rude:
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


def junk(house: ServedCompanion, requests: int, seed: int = 4) -> Junk:
    """Send so many malformed requests as the host, whom most is allowed."""
    rng, result = random.Random(seed), Junk()

    def value(depth: int = 0) -> Any:
        made = (
            lambda: None,
            lambda: rng.choice((True, False)),
            lambda: rng.choice((0, -1, 2**31, 2**63, 10**40, 1e308)),
            lambda: rng.choice(("", "x" * 3000, "\x00", "☃", "../../etc/passwd", "red", "card1", games()[0])),
            lambda: [value(depth + 1) for _ in range(rng.randrange(4))] if depth < 4 else [],
            lambda: {rng.choice(KEYS): value(depth + 1) for _ in range(rng.randrange(4))} if depth < 4 else {},
        )
        return rng.choice(made)()

    for _ in range(requests):
        result.sent += 1
        path = rng.choice(PATHS)
        body = rng.randbytes(rng.randrange(200))
        if rng.random() < 0.7:
            payload = value()
            if path == "/api/do":
                payload = {"command": rng.choice(COMMANDS), "body": value(), "action_id": value(), "state": value()}
            body = json.dumps(payload).encode()
        try:
            media = rng.choice(("application/json", "text/plain", "image/jpeg"))
            status, _ = house.host.send(path, body, media, method=rng.choice(("POST", "PUT", "GET")))
            result.server_errors += status >= 500
        except OSError:
            result.unanswered += 1
    result.alive = house.host.ask("GET", "/api/health")[0] == 200
    return result


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
    "clock",
    "pause",
    "nonsense",
    "",
)
