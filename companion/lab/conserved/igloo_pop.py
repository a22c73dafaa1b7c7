"""What a game of Igloo Pop neither loses nor makes: thalers, igloos and cards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from companion.lab.conserved import Count, things


def conserved(position: Mapping[str, Any]) -> Iterator[Count]:
    """Yield thalers, igloos and cards."""
    players, piles = position["players"], position["piles"]
    staked = list(things(position, "igloo"))
    thalers = sum(player["own"] + player["captured"] + player["removed"] for player in players) + len(staked)
    yield "thalers", thalers, 10 * len(players)
    in_hand = sum(player["in_hand"] for player in players)
    yield "igloos", len(staked) + in_hand + piles["village"], 12
    laid = sum(place["ground"] != "empty" for place in position["places"].values())
    yield "cards", laid + sum(len(player["cards"]) for player in players) + piles["stack"], 33
