"""`companion bench web`: the real service in a process of its own, with a simulated igloo and many phones.

Latency is from the moment a change is sent to the moment its event is read on each stream; memory and processor
share are the service's own, from /proc.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from companion.lab.phone import Phone, serve_command
from companion.lab.rows import Row, percentile, row
from companion.lab.worlds.boards import BOARDS, players
from companion.ports import DeviceError

PHONES = 30
BOARD_CHANGES = 40
MODULES = re.compile(rb'(?:href|src)="(/[^"#]+)"')


class Running:
    """The service as a process, with a data folder of its own."""

    def __init__(self, *arguments: str, python: Path | None = None) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="companion-bench-")
        began = time.monotonic()
        self.process = subprocess.Popen(
            [*serve_command(python), "--data", self.folder.name, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        link = None
        while link is None:
            line = self.process.stdout.readline() if self.process.stdout is not None else ""
            if not line:
                raise DeviceError("The service did not start.")
            link = re.search(r"http://127\.0\.0\.1:(\d+)(/host/\S+)", line)
        self._reader = threading.Thread(target=lambda: list(self.process.stdout or ()), daemon=True)
        self._reader.start()
        self.port, self.link = int(link[1]), link[2]
        self.host = Phone(self.port)
        self.host.ask("GET", "/")
        self.first_page_s = time.monotonic() - began
        self.host.ask("POST", self.link)
        self.state: int | None = None

    def memory_mb(self) -> float:
        """Return the resident memory of the service."""
        text = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024  # type: ignore[index]

    def cpu_s(self) -> float:
        """Return the processor seconds the service has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def written_kb(self) -> float:
        """Return what the service has sent to the disk."""
        text = Path(f"/proc/{self.process.pid}/io").read_text(encoding="ascii")
        return int(re.search(r"write_bytes: (\d+)", text)[1]) / 1024  # type: ignore[index]

    def do(self, command: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send a command as the host and return the answer."""
        if self.state is None:
            self.state = json.loads(self.host.ask("GET", "/api/health")[1])["journal"]["state"]
        request = {"command": command, "body": body, "action_id": os.urandom(8).hex(), "state": self.state}
        answer: dict[str, Any] = json.loads(self.host.ask("POST", "/api/do", request)[1])
        self.state = answer["state"] if answer.get("ok") else None
        return answer

    def close(self) -> None:
        """End the service and remove its folder."""
        self.process.terminate()
        self.process.wait(timeout=15)
        self._reader.join(timeout=15)
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.folder.cleanup()


def rows(seconds: float, python: Path | None = None) -> Iterable[Row]:
    """Yield start, memory, processor share, latency and weight; ``python``: of another version's environment."""
    service = Running("--simulate", python=python)
    try:
        yield row("start to first page", f"{service.first_page_s:.2f}", "s", "≤ 2 s")
        yield from _weight(service)
        phones = [Phone(service.port, number) for number in range(PHONES)]
        for phone in phones[:4]:
            phone.listen()
        _connected(service)
        cpu, began = service.cpu_s(), time.monotonic()
        time.sleep(seconds)
        share = (service.cpu_s() - cpu) / (time.monotonic() - began)
        note = "one simulated igloo (its own cost included), four phones"
        yield row("memory", f"{service.memory_mb():.0f}", "MB", "≤ 120 MB", note)
        yield row("share of a core", f"{100 * share:.1f}", "%", "", note)
        yield from _shakes(service, phones[0])
        for phone in phones[4:]:
            phone.listen()
        yield from _latency(service, phones)
        for phone in phones:
            phone.hang_up()
        for game in BOARDS:
            yield from _boards(service, game)
        yield row("memory", f"{service.memory_mb():.0f}", "MB", "", f"after {PHONES} phones and {PHONES} with boards")
    finally:
        service.close()


def _connected(service: Running) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        devices = json.loads(service.host.ask("GET", "/api/health")[1])["devices"]
        if any(device.get("state") == "connected" and device.get("rate_hz") for device in devices):
            return
        time.sleep(0.2)
    raise DeviceError("The simulated igloo was not heard.")


def _weight(service: Running) -> Iterable[Row]:
    """Add up what the first view brings over the wire: the page and everything it names, pictures left out."""
    gzip = {"Accept-Encoding": "gzip"}
    _, page = service.host.ask("GET", "/")
    total, seen = len(page), set()
    todo = [path.decode() for path in MODULES.findall(page)]
    while todo:
        path = todo.pop()
        if path in seen or path.endswith((".png", ".jpg")) or path.startswith(("/host", "/join")):
            continue
        seen.add(path)
        status, body = service.host.ask("GET", path, **gzip)
        if status == 200:
            total += len(body)
    yield row("first view", f"{total / 1000:.0f}", "kB", "≤ 100 kB", f"{len(seen) + 1} files")


def _latency(service: Running, phones: list[Phone]) -> Iterable[Row]:
    """Play changes and see when each phone hears of each."""
    time.sleep(1.0)
    players = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]
    cards = ["4", "4/5", "5/6", "6/7", "7/8", "8/9", "9/10", "2", "3"]
    service.do("open-match", {"game": "igloo-pop", "players": players, "setup": {"cards": cards}})
    service.do("moves", {"moves": ["start"]})
    times: list[float] = []
    written, began, changes = service.written_kb(), time.monotonic(), 60
    for number in range(changes):
        move = ("take red", "return red")[number % 2]
        sent = time.monotonic()
        answer = service.do("moves", {"moves": [move]})
        if not answer["ok"]:
            raise DeviceError(f"The service refused {move}.")
        seq = answer["seq"]
        time.sleep(0.2)
        for phone in phones:
            at = next(
                (t for t, name, got, _ in phone.heard if name == "state" and got is not None and got >= seq), None
            )
            times.append(10_000.0 if at is None else 1000 * (at - sent))
    note = f"{changes} changes to {len(phones)} streams, from sending to hearing"
    yield row("latency, median", f"{percentile(times, 0.5):.0f}", "ms", "", note)
    yield row("latency, 95 %", f"{percentile(times, 0.95):.0f}", "ms", "≤ 150 ms", note)
    yield row("latency, worst", f"{max(times):.0f}", "ms", "", note)
    per_change = (service.written_kb() - written) / changes
    yield row(
        "written to the card", f"{per_change:.1f}", "kB a change", "", f"{time.monotonic() - began:.0f} s of play"
    )


def _boards(service: Running, game_id: str) -> Iterable[Row]:
    """Play a game on a board at random and see when each phone has the drawn board of each change."""
    from companion.rules import game

    service.do("close-match", {})
    service.do("open-match", {"game": game_id, "players": players(game_id)})
    service.do("deal", {})
    phones = [Phone(service.port, number) for number in range(PHONES)]
    for number, phone in enumerate(phones):
        phone.listen(("en", "fr")[number % 2])
    time.sleep(2.0)
    rng, rules = random.Random(7), game(game_id)
    times: list[float] = []
    for _ in range(BOARD_CHANGES):
        moves = json.loads(service.host.ask("GET", "/api/board?lang=en")[1])["board"]["moves"]
        if not moves:
            break
        move = str(rules.parse(rng.choice(moves)["text"]))
        sent = time.monotonic()
        answer = service.do("moves", {"moves": [move]})
        if not answer["ok"]:
            raise DeviceError(f"The service refused {move}.")
        time.sleep(0.4)
        for phone in phones:
            heard = (t for t, name, state, _ in phone.heard if name == "board" and (state or 0) >= answer["state"])
            at = next(heard, None)
            times.append(10_000.0 if at is None else 1000 * (at - sent))
    load = os.getloadavg()[0]
    note = (
        f"{len(times) // PHONES} changes, {PHONES} phones in two languages, load {load:.0f}; until the board is there"
    )
    yield row(f"{game_id}, median", f"{percentile(times, 0.5):.0f}", "ms", "", note)
    yield row(f"{game_id}, 95 %", f"{percentile(times, 0.95):.0f}", "ms", "≤ 150 ms", note)
    for phone in phones:
        phone.hang_up()


def _shakes(service: Running, phone: Phone) -> Iterable[Row]:
    """Shake the simulated igloo and see how long after its last sample of the shake the page has the count."""
    late: list[float] = []
    for count in (3, 6, 9):
        before = len(phone.heard)
        service.host.ask("POST", "/api/simulate", {"action": "shake", "count": count})
        time.sleep(9.0)
        events = phone.heard[before:]
        service.host.ask("POST", "/api/simulate", {"action": "set_down"})
        time.sleep(3.0)
        counted = [t for t, name, _, payload in events if name == "count" and payload.get("posterior")]
        felt = [(t, payload.get("state")) for t, name, _, payload in events if name == "motion"]
        shaken = [t for t, state in felt if state == "shaken"]
        ended = [t for t, state in felt if shaken and state != "shaken" and t > shaken[0]]
        if counted and ended:
            late.append(1000 * (counted[-1] - ended[0]))
    if late:
        note = "last count less first motion after shaking: below 0, the page had the count before it knew of the end"
        yield row("last count after a shake", f"{max(late):.0f}", "ms", "", note)
    else:
        yield row("last count after a shake", "no count came", note="three shakes of the simulated igloo")
