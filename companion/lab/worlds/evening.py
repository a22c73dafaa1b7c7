"""An evening for pictures: a round of shaking, its check and its end, then each game on a board in its middle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from companion.lab.worlds.boards import BOARDS, players, record

Command = tuple[str, dict[str, Any]]
"""A command of a night with its body."""

SEED, MOVES = 5, 60
"""Which random game of a board is shown, and after how many moves."""
CARDS = ["5/6", "6/7", "8/9", "4/5", "10/11", "2/3", "9/10/11", "7/8", "3/4"]
PLACED = ("red card1", "blue card1", "green card4", "red card7", "blue card9")


SHAKEN = "igloo-pop"
SEATS = [{"name": name, "colour": colour} for name, colour in (("Ann", "red"), ("Ben", "green"), ("Zoé", "blue"))]


def evening(most: int = MOVES) -> Iterator[tuple[str, list[Command]]]:
    """Yield what the table is at, by a name for people, and the commands that lead there from what was before.

    ``most``: how many moves of each game on a board are played; 0: all.
    """
    opening = {"game": SHAKEN, "players": SEATS, "setup": {"cards": CARDS}, "draw": False}
    yield "round", [("open-match", opening), ("moves", {"moves": ["start", *(f"place {one}" for one in PLACED)]})]
    yield "check", [("check", {}), ("moves", {"moves": ["reveal card1 6", "reveal card1 9"]})]
    yield "end", [("end-early", {})]
    for game in BOARDS:
        moves: list[Command] = [("moves", {"moves": [text]}) for text in record(game, SEED)[: most or None]]
        yield game, [("close-match", {}), ("open-match", {"game": game, "players": players(game)}), *moves]
