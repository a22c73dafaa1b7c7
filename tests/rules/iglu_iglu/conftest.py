"""Positions to begin from, drawn as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from companion.rules import game

GROUND = {"#": "floe", "P": "pack", ".": "water", "+": "land"}
COLOURS = {"r": "red", "b": "blue", "y": "yellow", "g": "green"}
OPENING = """
+######+
########
########
###..###
###..###
########
########
+######+
"""
ISLES = """
+......+
........
........
........
........
........
........
+......+
"""


def thing(word: str) -> dict[str, Any]:
    """Read one thing: ``r`` a red inuit, ``R`` a red igloo, ``2`` a fish, ``f3`` a fox, ``X`` a bear."""
    if word.lower() in COLOURS:
        return {"kind": "igloo" if word.isupper() else "inuit", "colour": COLOURS[word.lower()]}
    if word == "X":
        return {"kind": "bear"}
    return {"kind": "fox", "value": int(word[1])} if word[0] == "f" else {"kind": "fish", "value": int(word)}


def places(picture: str, things: Mapping[str, str]) -> dict[str, Any]:
    """Return the places of a picture (rows 8 down to 1) with things (``{"c4": "r r f2"}``)."""
    rows = picture.split()
    assert len(rows) == 8 and all(len(row) == 8 for row in rows)
    found = {}
    for down, row in enumerate(rows):
        for across, sign in enumerate(row):
            name = f"{'abcdefgh'[across]}{8 - down}"
            found[name] = {"ground": GROUND[sign], "things": [thing(word) for word in things.get(name, "").split()]}
    assert set(things) <= set(found)
    return found


@pytest.fixture
def board() -> Callable[..., Any]:
    """Make a position: a picture, things, and any other field of the form; ``hands`` as ``{"red": "thaw, harpoon"}``.

    ``kinds`` are the options without their prefix ``iglu.`` (``variant_…`` for those of the variant).
    """

    def make(
        picture: str = OPENING,
        things: Mapping[str, str] | None = None,
        *,
        hands: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> Any:
        held = {}
        for colour, text in (hands or {}).items():
            tiles = [tile.strip() for tile in text.split(",") if tile.strip()]
            known = {tile: tiles.count(tile) for tile in tiles if tile != "?"}
            held[colour] = {"tiles": known, "unknown": tiles.count("?")}
        if "players" not in fields and "tribes" in fields:
            fields["players"] = [{"name": c, "colour": c} for c in fields["tribes"].split()]
        fields.pop("tribes", None)
        position = {
            "game": "iglu-iglu",
            "places": places(picture, things or {}),
            "hands": held,
            "options": dict(options or {}),
            **fields,
        }
        return game("iglu-iglu").from_position(position)

    return make
