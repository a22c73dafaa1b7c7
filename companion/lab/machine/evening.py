"""An evening at an emulated machine, played from outside through its page's port, as phones in the house play it."""

from __future__ import annotations

import json
import os
import statistics
import time
from dataclasses import dataclass, field
from typing import Any

from companion.lab.phone import Phone
from companion.lab.worlds.evening import evening

PATIENCE_S = 600.0
"""How long an answer may take; an emulator on a busy PC is slower than any board."""


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


def close_match(phone: Phone) -> None:
    """Close the match that is open, where one is."""
    if json.loads(phone.ask("GET", "/api/state")[1])["view"].get("match"):
        do(phone, "close-match", {})


def play(phone: Phone, most: int = 0) -> Played:
    """Play a game of each of the four, each command acknowledged before the next; the last one stays open.

    ``most``: how many moves of each game on a board; 0: to its end.
    """
    played = Played()
    for _, told in evening(most):
        for command, body in told:
            began = time.monotonic()
            do(phone, command, body)
            played.waits_s.append(time.monotonic() - began)
            played.acknowledged += 1
            if command == "open-match":
                played.games.append(body["game"])
    return played
