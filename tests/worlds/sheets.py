"""Score sheets of games that were played without the companion, as the page sends them: positions without names."""

from __future__ import annotations

from typing import Any

SQUARES = [column + row for column in "abcdefgh" for row in "12345678"]
CORNERS = ("a1", "h1", "a8", "h8")
ANIMALS = ("fox", "moose", "walrus", "orca", "puffin", "bear")


def _inuit(colour: str, count: int) -> dict[str, Any]:
    return {"kind": "inuit", "colour": colour, "count": count}


def _bears(place: str, **counts: int) -> dict[str, Any]:
    return {"ground": place, "things": [{"kind": "bear", "colour": c, "count": n} for c, n in counts.items() if n]}


def igloo_pop() -> dict[str, Any]:
    """Red: 3 + 3 + 1 for cards, 4 own, 3 won: 14. Yellow: 2 + 2 for cards, 7 own: 11."""
    return {
        "game": "igloo-pop",
        "places": {},
        "phase": "over",
        "players": [
            {"colour": "red", "own": 4, "captured": 3, "cards": ["2", "3", "2/3/4"]},
            {"colour": "yellow", "own": 7, "captured": 0, "cards": ["2/3", "3/4"]},
        ],
    }


def iglu_iglu() -> dict[str, Any]:
    """An island of three floes, red strongest there: 3 + 6 of trophies; blue second: 1."""
    things = {"c3": [_inuit("red", 5)], "c4": [_inuit("blue", 4)], "a1": [_inuit("blue", 1)]}
    places = {
        name: {
            "ground": "land" if name in CORNERS else "floe" if name in ("c3", "c4", "d4") else "water",
            "things": things.get(name, []),
        }
        for name in SQUARES
    }
    return {
        "game": "iglu-iglu",
        "places": places,
        "phase": "over",
        "players": [{"colour": "red"}, {"colour": "blue"}],
        "trophies": {"red": [{"kind": "fish", "value": 3, "count": 2}]},
    }


def arctic() -> dict[str, Any]:
    """A run of two foxes and one of two moose, two animals, the bear at 15, less two cards: 16; an orca, the fox: 3."""
    where = {name: 15 if name == "bear" else 3 for name in ANIMALS}
    places = {
        f"land{n}": {"ground": "landscape", "things": [{"kind": a, "count": 1} for a in ANIMALS if where[a] == n]}
        for n in (0, 1, 3, 6, 10, 15)
    }
    return {
        "game": "arctic",
        "places": places,
        "phase": "over",
        "stage": "last",
        "players": [
            {"pile": ["fox", "fox", "moose", "moose"], "hand": 0, "penalty": 2, "totem": "bear"},
            {"pile": ["orca"], "hand": 0, "penalty": 0, "totem": "fox"},
        ],
    }


def ice_team() -> dict[str, Any]:
    """Eight fish each; green has all bears home."""
    return {
        "game": "ice-team",
        "places": {"start": _bears("start", red=2), "village": _bears("village", green=4, red=2)},
        "phase": "over",
        "players": [{"colour": "green", "fresh": 3, "frozen": 5}, {"colour": "red", "fresh": 7, "frozen": 1}],
    }


SHEETS = {"igloo-pop": igloo_pop, "iglu-iglu": iglu_iglu, "arctic": arctic, "ice-team": ice_team}
TOTALS = {"igloo-pop": [14, 11], "iglu-iglu": [9, 1], "arctic": [16, 3], "ice-team": [8, 8]}
COLOURS = {
    "igloo-pop": ("red", "yellow"),
    "iglu-iglu": ("red", "blue"),
    "arctic": ("p1", "p2"),
    "ice-team": ("green", "red"),
}


def kept(game_id: str, *names: str, **changes: Any) -> dict[str, Any]:
    """Return the body that keeps a game's sheet, with these players' names."""
    named = [*names, *("",) * 2][:2]
    players = [{"name": name, "colour": colour} for name, colour in zip(named, COLOURS[game_id], strict=True)]
    return {"position": {**SHEETS[game_id](), **changes}, "players": players}
