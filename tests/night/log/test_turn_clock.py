"""The turn clock as the night keeps it: since when somebody is to move, pauses left out."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from companion.night.log.journal import Entry
from companion.night.log.projection import NightProjection
from companion.night.views.page import page
from companion.rules import game
from companion.rules.playouts import playout

# `table` is the Table of conftest.py; test folders are no packages, so its type cannot be named here.
Table = Any
RULES = game("iglu-iglu")


class Evening:
    """A game of Iglu Iglu as a journal tells it, each entry at the second that a test says."""

    def __init__(self) -> None:
        self.projection = NightProjection({})
        played, _ = playout(RULES, 2, Random(5))
        self.left = list(played.moves)
        seats = [{"person": None, "colour": one["colour"]} for one in played.header.players]
        self.seq = 0
        options = RULES.settled_options({})
        self.tell(
            "open-match",
            0,
            {"match": "m", "game": RULES.id, "draw": False, "options": options, "setup": {}, "players": seats},
        )

    def tell(self, kind: str, second: int, body: dict[str, Any] | None = None) -> None:
        self.seq += 1
        self.projection.apply(Entry(self.seq, 1000 * second, kind, body or {}, "table", "host"))

    def to_move(self) -> int:
        match = self.projection.match
        assert match is not None
        return match.view.turn(match.state)

    def moves_on(self, second: int) -> None:
        """Enter moves until somebody else is to move."""
        before = self.to_move()
        while self.to_move() in (before, -1):
            self.tell("moves", second, {"moves": [self.left.pop(0)]})

    def since(self) -> int | None:
        """The second since which somebody is to move, as the page is told."""
        clock = page(self.projection)["match"]["clock"]
        return None if clock is None else clock["since"] // 1000


def test_a_turn_begins_when_somebody_else_is_to_move() -> None:
    evening = Evening()
    evening.tell("moves", 1, {"moves": evening.left[:20]})
    evening.left = evening.left[20:]
    assert evening.since() is None
    evening.tell("clock", 10, {"minutes": 2})
    assert evening.since() == 10
    evening.moves_on(40)
    assert evening.since() == 40
    # A pause in it is no part of it; one before it is none at all.
    evening.tell("pause", 50)
    evening.tell("resume", 80)
    assert evening.since() == 70
    evening.moves_on(90)
    assert evening.since() == 90
    evening.tell("clock", 100, {"minutes": 0})
    assert evening.since() is None


def test_the_host_alone_sets_it_and_the_next_game_has_it(table: Table) -> None:
    assert table.ask("clock", {"minutes": 3}).problem == "refused"
    table.open_match()
    assert table.ask("clock", {"minutes": 3}, by=table.ann).problem == "forbidden"
    assert table.ask("clock", {"minutes": 61}).problem == "bad-input"
    table.do("clock", {"minutes": 3}, state=0)
    assert "3 minutes" in table.night.view()["log"][-1]["en"]
    table.restart()
    table.do("end-early")
    table.do("next-game")
    assert table.match["clock"] is None  # in Igloo Pop all play at once: nobody has a turn
    assert table.night._projection.match.minutes == 3


@pytest.mark.parametrize("second", [5, 30])
def test_what_is_taken_back_begins_a_turn_anew_only_for_somebody_else(second: int) -> None:
    evening = Evening()
    evening.tell("moves", 1, {"moves": evening.left[:20]})
    evening.left = evening.left[20:]
    evening.tell("clock", 2, {"minutes": 1})
    match = evening.projection.match
    assert match is not None
    kept = len(match.steps)
    evening.moves_on(second)
    evening.tell("undo", second + 10, {"to": kept, "agreed": True})
    assert evening.since() == second + 10
