"""Positions to begin from, drawn as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from companion.rules import game

GROUND = {
    ".": "sea",
    "I": "igloo",
    "i": "searched",
    "?": "floe",
    "o": "plain",
    "O": "plain-fragile",
    "1": "penguin1",
    "2": "penguin2",
    "3": "penguin3",
    "~": "drift",
    "%": "drift-fragile",
    "*": "paw",
}
BOARDS = {"line": "abcd", "squares": "pqrt"}
ICE = """
oIo ooI ooo oIo
o.o o.o I.I oo.
oIo Ioo ooo oIo
"""
"""The boards of the layouts `line` and `squares` next to each other, three rows of twelve spaces: nothing but plain
floes. On hexagons each row lies half a space to the right of the one above, so that a5 touches a2, a3, a6, a8, a7, a4.
"""


def places(picture: str, layout: str = "line") -> dict[str, Any]:
    """Return the places of a picture."""
    rows = ["".join(row.split()) for row in picture.strip().splitlines()]
    assert [len(row) for row in rows] == [12, 12, 12]
    found = {}
    for y, row in enumerate(rows):
        for x, sign in enumerate(row):
            found[f"{BOARDS[layout][x // 3]}{3 * y + x % 3 + 1}"] = {"ground": GROUND[sign], "things": []}
    return {**found, "start": {"things": []}, "village": {"things": []}}


@pytest.fixture
def ice() -> Callable[..., Any]:
    """Make a position: a picture, where the bears are (``green="a1 a3 village"``, the others wait on Start), fields.

    ``options`` are without their prefix ``ice.``; ``fresh`` and ``frozen`` are (green, red).
    """

    def make(
        picture: str = ICE,
        *,
        green: str = "",
        red: str = "",
        layout: str = "line",
        fresh: tuple[int, int] = (0, 0),
        frozen: tuple[int, int] = (0, 0),
        options: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> Any:
        found = places(picture, layout)
        for colour, words in (("green", green), ("red", red)):
            for name in words.split():
                found[name]["things"].append({"kind": "bear", "colour": colour})
        position = {
            "game": "ice-team",
            "layout": layout,
            "players": [
                {"name": colour.title(), "colour": colour, "fresh": fresh[seat], "frozen": frozen[seat]}
                for seat, colour in enumerate(("green", "red"))
            ],
            "options": {f"ice.{name}": value for name, value in (options or {}).items()},
            "places": found,
            **fields,
        }
        return game("ice-team").from_position(position)

    return make


@pytest.fixture
def islands() -> Callable[..., Any]:
    """Make a position on squares, all sea but for some spaces; Start and Village touch one space each, p1 and t3."""

    def make(grounds: Mapping[str, str], *, green: str, red: str = "", **fields: Any) -> Any:
        ice = game("ice-team")
        layout = ice.start(ice.seats(2)).table.box.layouts["squares"] | {"start": [[-1, 0]], "village": [[12, 0]]}
        names = [f"{board}{number}" for board in BOARDS["squares"] for number in range(1, 10)]
        found: dict[str, Any] = {name: {"ground": grounds.get(name, "sea"), "things": []} for name in names}
        found |= {"start": {"things": []}, "village": {"things": []}}
        for colour, words in (("green", green), ("red", red)):
            for name in words.split():
                found[name]["things"].append({"kind": "bear", "colour": colour})
        return ice.from_position({"layout": layout, "places": found, **fields})

    return make


@pytest.fixture
def texts() -> Callable[..., set[str]]:
    """Return the legal moves of a state as text, those that begin with some words."""

    def run(state: Any, words: str = "") -> set[str]:
        return {str(move) for move in state.legal_moves if str(move).startswith(words)}

    return run
