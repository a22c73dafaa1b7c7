"""What a game neither loses nor makes, counted in the one form of a board: a module for each game that has such things.

It shares nothing with the rules that it watches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from companion.rules import find_part

Count = tuple[str, int, int]
"""What is counted, how much there is, and how much there must be."""


def conserved(game_id: str, position: Mapping[str, Any]) -> Iterator[Count]:
    """Yield what is counted in a position; nothing where a game has no such things."""
    part = find_part(__package__, game_id)
    if part is not None:
        yield from part.conserved(position)


def things(position: Mapping[str, Any], kind: str, *places: str) -> Iterator[Mapping[str, Any]]:
    """Yield the things of a kind that lie in some places, by default in all."""
    for name in places or position["places"]:
        yield from (thing for thing in position["places"][name]["things"] if thing["kind"] == kind)
