"""What a game of Iglu Iglu neither loses nor makes: figures, tokens and tiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from companion.lab.conserved import Count, things


def conserved(position: Mapping[str, Any]) -> Iterator[Count]:
    """Yield figures, and tokens that are more than the box has; the floes and tiles of the box."""
    colours = [player["colour"] for player in position["players"]]
    tribe = 5 if len(colours) == 2 else 3
    if position["phase"] not in ("setting", "placing"):
        for colour in colours:
            there = sum(thing["count"] for thing in things(position, "inuit") if thing["colour"] == colour)
            yield f"{colour} inuit", there, tribe
    gone = [*position["trophies"].values(), position["piles"]["removed"]]
    for kind, value, most in (
        *(("fish", value, count) for value, count in ((1, 8), (2, 12), (3, 8))),
        *(("fox", value, count) for value, count in ((1, 3), (2, 4), (3, 3))),
        ("bear", 4, 4),
    ):
        here = sum(thing["count"] for thing in things(position, kind) if thing["value"] == value)
        out = sum(t["count"] for pile in gone for t in pile if (t["kind"], t["value"]) == (kind, value))
        yield f"{kind} {value} tokens", max(here + out, most), most
    face_down = sum(place["ground"] == "floe" for place in position["places"].values())
    turned = 1 if position["phase"] in ("peeking", "revealing") else 0
    unseen = position["piles"]["tiles"]
    hands = [hand["tiles"].get("thaw", 0) for hand in position["hands"].values()]
    # A thaw that was played took a floe whose tile nobody has seen.
    thawed = position["box"]["tiles"]["thaw"] - unseen.get("thaw", 0) - sum(hands)
    yield "unseen tiles", sum(unseen.values()), face_down + turned + thawed
