"""A table for the tests: a real journal in a real file, a night over it, and short words to play with."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from companion.events.hub import Hub
from companion.night.answers import Actor, CommandResult, Role
from companion.night.commands.night import Night
from companion.night.log.journal import Journal
from companion.night.log.projection import NightProjection
from companion.night.views.page import page

ANN = {"name": "Ann", "colour": "red"}
BOB = {"name": "Bob", "colour": "blue"}
CARDS = ("2", "3", "4", "5", "4/5", "6/7", "8/9", "3/4/5", "11/12/13")
NINE = {f"card{n}": card for n, card in enumerate(CARDS, start=1)}


class Table:
    """A night in a file; ``do`` refuses to be refused unless asked, so that no test passes by doing nothing."""

    host = Actor(Role.HOST, "host-a")
    ann = Actor(Role.PLAYER, "player-a")
    bob = Actor(Role.PLAYER, "player-b")
    guest = Actor(Role.SPECTATOR, "guest")

    def __init__(self, path: Path, seed: int = 1) -> None:
        self.path = path
        self.rng = Random(seed)
        self.numbers = itertools.count(1)
        self.open()

    def open(self) -> None:
        self.hub = Hub(size=1000)
        self.journal = Journal(self.path)
        self.night = Night(self.journal, self.hub, rng=self.rng)

    def close(self) -> None:
        self.journal.close()

    def restart(self) -> None:
        self.close()
        self.open()

    def ask(self, command: str, body: dict[str, Any] | None = None, **how: Any) -> CommandResult:
        """Ask as the host, on the newest state, as a new action, unless ``how`` says otherwise."""
        how.setdefault("by", self.host)
        how.setdefault("state", self.night.state)
        how.setdefault("action_id", f"action-{next(self.numbers)}")
        return self.night.do(command, body or {}, **how)

    def do(self, command: str, body: dict[str, Any] | None = None, **how: Any) -> CommandResult:
        answer = self.ask(command, body, **how)
        assert answer.ok, (command, body, answer)
        return answer

    def no(self, problem: str, command: str, body: dict[str, Any] | None = None, **how: Any) -> CommandResult:
        """Ask for something that must be refused with ``problem``, change nothing, and be said in both languages."""
        before = self.night.view(), self.journal.last_seq
        answer = self.ask(command, body, **how)
        assert (answer.ok, answer.problem) == (False, problem), answer
        assert (self.night.view(), self.journal.last_seq) == before
        assert answer.message.en
        assert answer.message.fr
        assert answer.message.en != answer.message.fr
        return answer

    def moves(self, *texts: str, **how: Any) -> CommandResult:
        return self.do("moves", {"moves": list(texts)}, **how)

    def open_match(self, players: list[dict[str, str]] | None = None, **more: Any) -> CommandResult:
        return self.do("open-match", {"game": "igloo-pop", "players": players or [ANN, BOB], **more})

    def shaking(self, **more: Any) -> None:
        """Open a match with nine cards that are known and begin the first round."""
        self.open_match(**more)
        self.do("deal", {"cards": NINE})
        self.moves("start")

    @property
    def view(self) -> dict[str, Any]:
        return self.night.view("host")

    @property
    def match(self) -> dict[str, Any]:
        match = self.view["match"]
        assert match is not None
        return match

    def player(self, colour: str) -> dict[str, Any]:
        return next(p for p in self.match["players"] if p["colour"] == colour)

    def refolded(self) -> dict[str, Any]:
        """Return the view that a fresh reading of the whole journal gives."""
        projection = NightProjection(self.journal.people())
        for entry in self.journal.since(0):
            projection.apply(entry)
        return page(projection)


@pytest.fixture
def new_table(tmp_path: Path) -> Iterator[Callable[..., Table]]:
    made: list[Table] = []

    def make(name: str = "journal.sqlite", **more: Any) -> Table:
        made.append(Table(tmp_path / name, **more))
        return made[-1]

    yield make
    for table in made:
        table.close()


@pytest.fixture
def table(new_table: Callable[..., Table]) -> Table:
    return new_table()
