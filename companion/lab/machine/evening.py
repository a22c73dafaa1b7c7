"""An evening at an emulated machine, played from outside through its page's port, as phones in the house play it."""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from companion.lab.phone import Phone
from companion.lab.worlds.boards import BOARDS, players, record
from companion.lab.worlds.evening import CARDS, PLACED

SEED = 5
PATIENCE_S = 600.0
"""How long an answer may take; an emulator on a busy PC is slower than any board."""
Told = tuple[str, dict[str, Any]]
"""A command of a night with its body."""


class NotTakenError(OSError):
    """The service refused what the table did."""


@dataclass
class Played:
    """What an evening was: commands acknowledged, games played, and how long each answer took, in seconds."""

    acknowledged: int = 0
    games: list[str] = field(default_factory=list)
    waits_s: list[float] = field(default_factory=list)

    def figures(self) -> dict[str, Any]:
        """Return what is kept of it."""
        figures: dict[str, Any] = {"commands acknowledged": self.acknowledged, "games": ", ".join(self.games)}
        if self.waits_s:
            figures["answer, median, s"] = round(statistics.median(self.waits_s), 2)
            figures["answer, slowest, s"] = round(max(self.waits_s), 2)
        return figures


def host_phone(port: int, token: str) -> Phone:
    """Return the phone that opened a host link of the machine whose page is at ``port`` here."""
    phone = Phone(port, patience_s=PATIENCE_S)
    status, said = phone.ask("POST", f"/host/{token}")
    if status != 303:
        raise NotTakenError(f"The host link was answered with {status}: {said[:200]!r}")
    return phone


def health(phone: Phone) -> dict[str, Any]:
    """Return what the service says of itself."""
    status, said = phone.ask("GET", "/api/health")
    if status != 200:
        raise NotTakenError(f"/api/health was answered with {status}.")
    answer: dict[str, Any] = json.loads(said)
    return answer


def do(phone: Phone, command: str, body: dict[str, Any]) -> dict[str, Any]:
    """Give a command on the state as it is.

    :raises NotTakenError: when it was not acknowledged.
    """
    state = health(phone)["journal"]["state"]
    told = {"command": command, "body": body, "action_id": os.urandom(8).hex(), "state": state}
    answer: dict[str, Any] = json.loads(phone.ask("POST", "/api/do", told)[1])
    if not answer.get("ok"):
        raise NotTakenError(f"{command} {json.dumps(body)[:120]}: {json.dumps(answer)[:300]}")
    return answer


def games(most: int) -> Iterator[tuple[str, list[Told]]]:
    """Yield a game of each of the four; a board game is a random one, its first ``most`` moves (0: to its end)."""
    seats = [{"name": name, "colour": colour} for name, colour in (("Ann", "red"), ("Ben", "green"), ("Zoé", "blue"))]
    opening = {"game": "igloo-pop", "players": seats, "setup": {"cards": CARDS}, "draw": False}
    shaken: list[Told] = [("moves", {"moves": ["start", *(f"place {one}" for one in PLACED)]}), ("check", {})]
    shaken.append(("moves", {"moves": ["reveal card1 6", "reveal card1 9"]}))
    yield "igloo-pop", [("open-match", opening), *shaken, ("end-early", {})]
    for game in BOARDS:
        moves = record(game, SEED)
        told: list[Told] = [("moves", {"moves": [text]}) for text in (moves[:most] if most else moves)]
        yield game, [("open-match", {"game": game, "players": players(game)}), *told]


def play(phone: Phone, most: int = 0) -> Played:
    """Play a game of each of the four, each command acknowledged before the next; the last one stays open."""
    played = Played()
    for number, (game, told) in enumerate(games(most)):
        if number:
            do(phone, "close-match", {})
            played.acknowledged += 1
        for command, body in told:
            began = time.monotonic()
            do(phone, command, body)
            played.waits_s.append(time.monotonic() - began)
            played.acknowledged += 1
        played.games.append(game)
    return played
