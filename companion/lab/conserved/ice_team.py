"""What a game of Ice Team neither loses nor makes: bears, igloos and floes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from companion.lab.conserved import Count, things


def conserved(position: Mapping[str, Any]) -> Iterator[Count]:
    """Yield the bears of each team, the igloos, and the floes on the boards and out of the game."""
    for player in position["players"]:
        there = sum(thing["count"] for thing in things(position, "bear") if thing["colour"] == player["colour"])
        yield f"{player['colour']} bears", there, 4
    grounds = [place["ground"] for place in position["places"].values()]
    igloos = grounds.count("igloo") + grounds.count("searched")
    yield "igloos", igloos, 8
    others = igloos + sum(grounds.count(ground) for ground in ("sea", "start", "village"))
    yield "floes", len(grounds) - others + len(position["removed"]), 24
