"""What a camera believes of one place: not a list of contents, but how likely each part of a content is.

A list of contents (``turns.Evidence``) says that anything else is impossible. A camera is never so sure: it gives a
probability to each ground and to each count of each thing, and keeps a little for everything it did not think of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import log
from typing import Any

Content = tuple[str, tuple[tuple[str, Any, int], ...]]
"""What lies on a place: its ground, and its things as (kind, colour or value, count), sorted."""

FLOOR = log(1e-4)
"""Log-likelihood of what was not thought of: a ground or a count that has no number of its own."""
SURE = log(20)
"""Parts that are less likely than the likeliest by more than this do not count as seen."""


Thing = tuple[str, Any]
Lying = tuple[tuple[str, Any, int], ...]
"""Some things of a place as (kind, colour or value, count), sorted by their text."""


@dataclass(frozen=True, slots=True)
class Together:
    """Things that are seen together, as the tokens of one kind: which one lies there is one question, not several.

    ``likely``: the log-likelihood of each way they may lie there. A way that is missing has ``floor`` for each thing
    that is not as in the likeliest way.
    """

    things: tuple[Thing, ...]
    likely: Mapping[Lying, float]

    @property
    def best(self) -> Lying:
        """Return the likeliest way."""
        return max(self.likely, key=self.likely.__getitem__)

    def get(self, counts: Mapping[Thing, int], floor: float) -> float:
        """Return the log-likelihood of counts of these things; those that are missing are none."""
        way = tuple(sorted(((*thing, counts[thing]) for thing in self.things if counts.get(thing)), key=str))
        if way in self.likely:
            return self.likely[way]
        best = self.best
        usual = {(kind, what): count for kind, what, count in best}
        differ = sum(counts.get(thing, 0) != usual.get(thing, 0) for thing in self.things)
        return self.likely[best] + differ * (floor - self.likely[best])


@dataclass(frozen=True, slots=True)
class Belief:
    """The log-likelihoods of a place, part by part: they add up.

    ``ground``: of each ground. ``things``: of each count (0 too) of a thing (kind, colour or value). A ground or a
    count that is missing has ``floor``; of a thing that is missing there is none, or else ``floor`` for any count.
    ``together``: of things that are in none of ``things``, each group a part.
    """

    ground: Mapping[str, float]
    things: Mapping[Thing, Mapping[int, float]] = field(default_factory=dict)
    floor: float = FLOOR
    together: tuple[Together, ...] = ()

    def get(self, found: Content, default: float = 0.0) -> float:
        """Return the log-likelihood of a content; ``default`` is there for the likeness to a mapping."""
        del default
        ground, things = found
        total = self.ground.get(ground, self.floor) if self.ground else 0.0
        there = {(kind, what): count for kind, what, count in things}
        for thing, counts in self.things.items():
            total += counts.get(there.pop(thing, 0), self.floor)
        for group in self.together:
            total += group.get(there, self.floor)
            for thing in group.things:
                there.pop(thing, None)
        return total + self.floor * len(there)

    def best(self) -> Content:
        """Return the likeliest content."""
        return next(self.likely())[0]

    def most(self) -> float:
        """Return the log-likelihood of the likeliest content."""
        total = max(self.ground.values(), default=0.0)
        total += sum(max(counts.values()) for counts in self.things.values())
        return total + sum(max(group.likely.values()) for group in self.together)

    def __contains__(self, found: object) -> bool:
        """Return whether a content counts as seen: none of its parts is much less likely than another."""
        if not isinstance(found, tuple):
            return False
        ground, things = found
        if self.ground and self.ground.get(ground, self.floor) < max(self.ground.values()) - SURE:
            return False
        there = {(kind, what): count for kind, what, count in things}
        for thing, counts in self.things.items():
            if counts.get(there.pop(thing, 0), self.floor) < max(counts.values()) - SURE:
                return False
        for group in self.together:
            if group.get(there, self.floor) < max(group.likely.values()) - SURE:
                return False
            for thing in group.things:
                there.pop(thing, None)
        return not there

    def __iter__(self) -> Iterator[Content]:
        """Yield the contents that count as seen, the likeliest first."""
        return (found for found, _ in self.likely())

    def likely(self, within: float = SURE) -> Iterator[tuple[Content, float]]:
        """Yield contents whose every part is at most ``within`` less likely than the likeliest, the best first."""
        grounds = _within(self.ground, within) or [("unknown", 0.0)]
        counts: list[list[tuple[Lying, float]]] = [
            [(((*thing, n),) if n else (), p) for n, p in _within(table, within)]
            for thing, table in self.things.items()
        ]
        counts += [_within(group.likely, within) for group in self.together]
        found = []
        for (ground, p), *parts in product(grounds, *counts):
            things = tuple(sorted((thing for part, _ in parts for thing in part), key=str))
            found.append(((ground, things), p + sum(q for _, q in parts)))
        return iter(sorted(found, key=lambda one: -one[1]))


def _within(table: Mapping[Any, float], within: float) -> list[tuple[Any, float]]:
    most = max(table.values(), default=0.0)
    return [(key, p) for key, p in table.items() if p >= most - within]
