"""What a game of Arctic neither loses nor makes: cards and the tokens of the landscape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from companion.lab.conserved import Count


def conserved(position: Mapping[str, Any]) -> Iterator[Count]:
    """Yield the cards of the packs in play, and the six tokens of the landscape."""
    players = position["players"]
    held = sum(len(player[zone]) for player in players for zone in ("hand", "pile", "penalty"))
    river = sum(1 for name, place in position["places"].items() if name.startswith("river") and place["things"])
    yield "cards", held + river + position["pile_left"] + position["reserve"], 30 * len(players)
    yield "tokens", sum(len(position["places"][name]["things"]) for name in position["places"] if "land" in name), 6
