"""What was seen of a table of Igloo Pop after a part of a round: cards and igloos by place, thalers by player."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from companion.rules.core import JSON
from companion.rules.igloo_pop.components import CARD_INDEX, CARD_TEXT, COLOURS, PLACES
from companion.rules.igloo_pop.parts import EMPTY, UNKNOWN
from companion.rules.igloo_pop.position import PopPosition
from companion.rules.inference import depth_first
from companion.rules.inference.turns import Content, Evidence, content

TALLIES: Final = ("own", "captured", "cards", "removed", "in_hand", "passed")
AFTER: Final = frozenset({"deal", "ready", "over"})
"""The phases after a check."""


class PopLikelihood(depth_first.Goal):
    """What was seen after a part of a round, compiled; the way there is found in :mod:`.search`."""

    def __init__(self, before: PopPosition, evidence: Evidence) -> None:
        """Compile what was seen."""
        super().__init__(before, evidence)
        fields = evidence.fields
        self.seats = [COLOURS.index(colour) for colour in before.colours]
        self.cards: list[int | None] = [None] * len(PLACES)
        self.stand: list[Counter[int] | None] = [None] * len(PLACES)
        for name, contents in evidence.places.items():
            self._see(PLACES.index(name), list(contents))
        self.numbers = {where: fields.get(f"{name}.numbers") or [] for where, name in enumerate(PLACES)}
        self.results = None if fields.get("results") is None else _by_place(fields["results"])
        if self.results and before.phase == "checking":
            for result in before.last_results:
                self.results.pop(PLACES.index(result.place), None)
        self.tallies = {key: {who: fields.get(f"{COLOURS[who]}.{key}") for who in self.seats} for key in TALLIES}
        self.won = {who: _cards(cards) for who, cards in self.tallies["cards"].items()}
        laid = [card for card in self.cards if card is not None and card >= 0]
        self.spoken = {*laid, *(card for cards in self.won.values() for card in cards or ())}

    def _see(self, where: int, contents: Sequence[Content]) -> None:
        grounds = {ground for ground, _ in contents}
        if len(grounds) == 1:
            self.cards[where] = _card(next(iter(grounds)))
        if len(contents) == 1:
            things = contents[0][1]
            self.stand[where] = Counter({COLOURS.index(c): n for _, c, n in things if c in COLOURS})

    @staticmethod
    def fields(position: Mapping[str, JSON]) -> dict[str, JSON]:
        """Return what a position tells beyond its places: ``red.own`` …, ``card4.numbers``, ``phase``, ``results`` …"""
        return fields(position)

    def fits_field(self, name: str, seen: JSON, here: JSON) -> bool:
        """Return whether a value may have been told; what the state does not know may be anything."""
        return bool(seen == here) or (here is None and name.endswith(".removed"))


def fields(position: Mapping[str, Any]) -> dict[str, JSON]:
    """Return what a position tells beyond its places, by name."""
    found: dict[str, JSON] = {}
    for player in position.get("players") or ():
        colour = player.get("colour")
        for key in TALLIES:
            if player.get(key) is not None:
                found[f"{colour}.{key}"] = sorted(player[key]) if key == "cards" else player[key]
    for name, place in (position.get("places") or {}).items():
        things = (place or {}).get("things", ())
        shown = sorted((thing["colour"], thing["value"]) for thing in things if thing.get("value") is not None)
        if place is not None and name in PLACES:
            found[f"{name}.numbers"] = [list(pair) for pair in shown]
    for key in ("phase", "round"):
        if position.get(key) is not None:
            found[key] = position[key]
    stack = (position.get("piles") or {}).get("stack")
    if stack is not None:
        found["stack"] = stack
    if position.get("results") is not None:
        found["results"] = sorted([r["place"], sorted(map(list, r["igloos"]))] for r in position["results"])
    return found


def evidence_of(position: Mapping[str, Any]) -> tuple[dict[str, dict[Content, float]], dict[str, JSON]]:
    """Return what a position is evidence of: its places and its fields."""
    places = {name: {content(place): 0.0} for name, place in position["places"].items() if place is not None}
    return places, fields(position)


def _card(ground: str) -> int:
    return EMPTY if ground == "empty" else CARD_TEXT.index(ground) if ground in CARD_TEXT else UNKNOWN


def _cards(texts: JSON) -> Counter[int] | None:
    """Return cards that were told as a multiset."""
    if texts is None:
        return None
    return Counter(CARD_INDEX[tuple(map(int, text.split("/")))] for text in texts if text in CARD_TEXT)


def _by_place(results: JSON) -> dict[int, list[tuple[str, int]]]:
    return {
        PLACES.index(place): [(colour, number) for colour, number in igloos]
        for place, igloos in results
        if place in PLACES
    }
