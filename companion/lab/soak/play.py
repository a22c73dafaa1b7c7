"""A service as a process that is played on through its API, killed, copied, and compared with what it acknowledged."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import re
import shutil
import signal
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from companion.lab.phone import Phone, serve_command
from companion.night.log.journal import Journal
from companion.ports import DeviceError
from companion.rules import game, games
from companion.rules.playouts import playout

PLAYERS = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]
GAMES_A_NIGHT = 5


class ServedCompanion:
    """`companion serve` on a data folder; started again after it was killed, on another port.

    ``python`` is the interpreter of another version's environment, where that one is to be served.
    """

    def __init__(self, data: Path, *arguments: str, python: Path | None = None) -> None:
        self.data, self._arguments, self._command = data, arguments, serve_command(python)
        self.host = Phone(0)
        self.start()

    def start(self) -> None:
        """Start the service; the first time, become its host."""
        self.process = subprocess.Popen(
            [*self._command, "--data", str(self.data), *self._arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        said, link = "", None
        for line in self.process.stdout or ():
            said += line
            if (link := re.search(r"http://127\.0\.0\.1:(\d+)(/host/\S+)", line)) is not None:
                break
        if link is None:
            raise DeviceError(f"The service did not start: {' '.join(said.split())[-300:]}")
        self._reader = threading.Thread(target=_drain, args=(self.process,), daemon=True)
        self._reader.start()
        self.host.port = int(link[1])
        if not self.host.cookie:
            self.host.ask("POST", link[2])

    def do(self, command: str, body: dict[str, Any], action_id: str) -> dict[str, Any]:
        """Send a command as the host and return the answer; raises where no answer comes."""
        state = json.loads(self.host.ask("GET", "/api/health")[1])["journal"]["state"]
        request = {"command": command, "body": body, "action_id": action_id, "state": state}
        answer: dict[str, Any] = json.loads(self.host.ask("POST", "/api/do", request)[1])
        return answer

    def view(self) -> dict[str, Any]:
        """Return the view of the night."""
        view: dict[str, Any] = json.loads(self.host.ask("GET", "/api/state")[1])["view"]
        return view

    def memory_mb(self) -> float:
        """Return the resident memory of the service."""
        text = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024  # type: ignore[index]

    def handles(self) -> int:
        """Return how many files, sockets and pipes the service has open."""
        return sum(1 for _ in Path(f"/proc/{self.process.pid}/fd").iterdir())

    def close(self) -> None:
        """End it."""
        if self.process.poll() is None:
            self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=30)
        self._reader.join(timeout=10)


def _drain(process: subprocess.Popen[str]) -> None:
    """Read what a process still prints, and close the pipe when it has ended."""
    with process.stdout or contextlib.nullcontext(()) as printed:
        for _ in printed:
            pass


class Player:
    """Plays random games of Igloo Pop through the API, one move a request, and knows what was acknowledged."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._seed = seed
        self._games = 0
        self._moves: tuple[str, ...] = ()
        self._number = 0
        self.acknowledged: dict[str, int] = {}
        self.unanswered: tuple[str, dict[str, Any], str] | None = None

    def step(self, house: ServedCompanion) -> None:
        """Send one command, the one that got no answer first; raises where no answer comes."""
        if self.unanswered is None:
            self._number += 1
            command, body = self._next(house)
            self.unanswered = (command, body, f"soak-{self._seed}-{self._number}")
        answer = house.do(*self.unanswered)
        if not answer["ok"]:
            raise DeviceError(f"{self.unanswered[:2]} was refused: {answer['message']['en']}")
        self.acknowledged[self.unanswered[2]] = answer["seq"]
        self.unanswered = None

    def _next(self, house: ServedCompanion) -> tuple[str, dict[str, Any]]:
        view = house.view()
        match = view["match"]
        if match is not None and match["moves"] < len(self._moves):
            return "moves", {"moves": [self._moves[match["moves"]]]}
        if match is not None:
            return "close-match", {}
        if self._games % GAMES_A_NIGHT == GAMES_A_NIGHT - 1:
            self._games += 1
            return "open-night", {}
        self._games += 1
        record, _ = playout(game(games()[0]), 2, self._rng)
        self._moves = record.moves
        header = record.header
        return "open-match", {
            "game": header.game,
            "players": [dict(player) for player in header.players],
            "options": dict(header.options),
        }


@dataclass(slots=True)
class Toll:
    """What killing cost. ``lost`` and ``doubled`` are acknowledged entries; ``copies`` were looked at while it ran."""

    kills: int = 0
    acknowledged: int = 0
    lost: int = 0
    doubled: int = 0
    resent: int = 0
    copies: int = 0
    copies_lost: int = 0
    problems: list[str] = field(default_factory=list)


def killing(folder: Path, kills: int, *, seed: int = 1, longest_s: float = 0.4, copy_every: int = 3) -> Toll:
    """Play, kill at a random moment, start again, go on, so many times; compare journal and acknowledgements.

    Each ``copy_every``-th time the process is stopped at a random instruction first and its files are copied as a
    power cut would leave them, with torn bytes at the end of the log.
    """
    rng = random.Random(seed)
    toll, player = Toll(), Player(seed)
    house = ServedCompanion(folder / "data")
    try:
        for number in range(kills):
            copied = number % copy_every == 0
            _play_until_killed(house, player, rng.uniform(0.0, longest_s), folder / "copy" if copied else None)
            if copied:
                toll.copies += 1
                toll.copies_lost += _lost_in_copy(folder / "copy", player, rng)
            toll.kills += 1
            toll.resent += player.unanswered is not None
            house.start()
        while player.unanswered is not None:
            player.step(house)
    finally:
        house.close()
    _compare(house.data, player, toll)
    return toll


def _play_until_killed(house: ServedCompanion, player: Player, seconds: float, copy: Path | None) -> None:
    """Play on; after so long the process is stopped at whatever instruction it is, copied if wanted, and killed."""
    player.step(house)

    def end() -> None:
        os.kill(house.process.pid, signal.SIGSTOP)
        if copy is not None:
            shutil.rmtree(copy, ignore_errors=True)
            copy.mkdir(parents=True)
            for part in ("", "-wal"):
                source = house.data / f"journal.sqlite{part}"
                if source.exists():
                    shutil.copyfile(source, copy / source.name)
        os.kill(house.process.pid, signal.SIGKILL)

    killer = threading.Timer(seconds, end)
    killer.start()
    try:
        while True:
            player.step(house)
    except (OSError, http.client.HTTPException, ValueError) as error:
        # No answer came: the command is sent again. A refusal is another matter.
        if isinstance(error, DeviceError):
            raise
    killer.join()
    house.process.wait(timeout=30)


def _lost_in_copy(copy: Path, player: Player, rng: random.Random) -> int:
    log = copy / "journal.sqlite-wal"
    if log.exists():
        with log.open("ab") as torn:
            torn.write(rng.randbytes(rng.randrange(1, 5000)))
    with contextlib.closing(Journal(copy / "journal.sqlite")) as journal:
        there = {entry.action_id for entry in journal.since(0)}
        return sum(action not in there for action in player.acknowledged) + len(journal.check())


def _compare(data: Path, player: Player, toll: Toll) -> None:
    with contextlib.closing(Journal(data / "journal.sqlite")) as journal:
        entries = journal.since(0)
        toll.problems += journal.check()
    seqs: dict[str, list[int]] = {}
    for entry in entries:
        if entry.action_id is not None:
            seqs.setdefault(entry.action_id, []).append(entry.seq)
    toll.acknowledged = len(player.acknowledged)
    toll.lost = sum(seq not in seqs.get(action, []) for action, seq in player.acknowledged.items())
    toll.doubled = sum(len(found) > 1 for found in seqs.values())
    if [entry.seq for entry in entries] != list(range(1, len(entries) + 1)):
        toll.problems.append("The numbers of the journal have a gap.")
