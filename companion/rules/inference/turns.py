"""The one search for a turn: which legal moves lead from one position to what was seen afterwards.

``turns(before, evidence)`` is what the referee (:mod:`.explain`) and the camera both ask. Evidence says for
each place what may lie there and how likely; a known position is the special case of one content a place, and a place
that is not mentioned is unknown. The walk through a turn is each game's own (``search.py`` in its folder), because
only a game knows what a difference between two boards costs at least.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from itertools import islice
from math import inf, log
from types import ModuleType
from typing import Any, Protocol, cast

from companion.rules import find_part, games
from companion.rules.core import JSON, Move, SetupError, State
from companion.rules.inference.belief import Belief, Content

__all__ = [
    "Belief",
    "Content",
    "Evidence",
    "SearchResult",
    "Turn",
    "cases",
    "content",
    "search_of",
    "turns",
]

LIMIT = 20
"""Turns that are told at most."""
MOST = 20_000
"""States that are looked at before the search gives up, and says so."""
WIDER: tuple[float, ...] = (0.7, 3.0, 6.0)
"""How much less likely than the best each part of a place may be, one search after the other."""
CONTENTS = 40
"""Contents of a place that such a search looks at."""
SURELY = log(1000)
"""Turns that are less likely than the best by no more than this are looked for before one is taken for sure."""


def content(place: Mapping[str, JSON]) -> Content:
    """Return what a place of a position holds, in a form that can be compared."""
    counts: dict[tuple[str, Any], int] = {}
    for thing in place.get("things", ()):
        what = thing.get("colour", thing.get("value"))
        if thing.get("companion") is not None:
            what = (what, thing["companion"])
        key = (thing["kind"], what)
        counts[key] = counts.get(key, 0) + thing.get("count", 1)
    things = ((kind, what, count) for (kind, what), count in counts.items() if count)
    return str(place.get("ground")), tuple(sorted(things, key=str))


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was seen: for each place the log-likelihood of every content that is possible there.

    A content that is missing at a place is impossible, unless the place has a :class:`Belief`, which leaves nothing
    out; a place that is missing is unknown. ``fields`` holds what players won, where that is known: fields of the
    position that must be so. ``graded``: some contents are likelier than others, so that a longer turn may explain
    better what was seen than the shortest.
    """

    places: Mapping[str, Mapping[Content, float] | Belief]
    fields: Mapping[str, JSON] = field(default_factory=dict)
    graded: bool = False

    @classmethod
    def of_position(cls, position: Mapping[str, JSON], game_id: str | None = None) -> Evidence:
        """Return the evidence that a position is: certain where it tells a place, nothing where it does not.

        ``game_id`` says whose position it is where it does not say so itself.

        :raises SetupError: when the form is broken.
        """
        try:
            search = _evidence_reader(game_id or position.get("game"))
            if search is not None:
                return cls(*search(position))
            places = {name: {content(place): 0.0} for name, place in position["places"].items() if place is not None}
        except (AttributeError, LookupError, TypeError, ValueError):
            raise SetupError(
                "A position has places with things, each of a kind and a count, and players as objects."
            ) from None
        known = {key: position[key] for key in ("trophies",) if position.get(key)}
        return cls(places, known)

    @property
    def certain(self) -> bool:
        """Return whether every content is either possible or not, none likelier than another."""
        return not any(isinstance(seen, Belief) or len(set(seen.values())) > 1 for seen in self.places.values())

    def most(self) -> float:
        """Return the log-likelihood of the board that fits best, legal or not."""
        return sum(map(_top, self.places.values()))

    def without(self, names: Iterable[str]) -> Evidence:
        """Return this evidence with some places, or fields, unknown."""
        hidden = set(names)
        fields = {name: value for name, value in self.fields.items() if name not in hidden}
        return Evidence({name: seen for name, seen in self.places.items() if name not in hidden}, fields)

    def log_likelihood(self, position: Mapping[str, JSON]) -> float:
        """Return how likely a position looks like this; minus infinity where it cannot."""
        total = 0.0
        for name, seen in self.places.items():
            total += seen.get(content(position["places"][name]), float("-inf"))
        return total

    def misses(self, position: Mapping[str, JSON]) -> list[str]:
        """Return the places of a position that are not what was seen."""
        return [name for name, seen in self.places.items() if content(position["places"][name]) not in seen]


@dataclass(frozen=True, slots=True)
class Turn:
    """A legal turn: its moves, the state it leads to, and how well that fits what was seen.

    ``log_prior``: how likely such a turn is before anything was seen; it falls with length. ``told``: so many of the
    moves are told by what was seen, and what follows is one of several things that look the same; None: all are.
    """

    moves: tuple[Move, ...]
    state: State[Any]
    log_likelihood: float
    log_prior: float = 0.0
    told: int | None = None

    @property
    def total(self) -> float:
        """Return what turns are ranked by."""
        return self.log_likelihood + self.log_prior


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found: the shortest turns, the likeliest first; ``looked`` states were looked at.

    ``complete`` is False where the search gave up before all was looked at. ``reached``: with graded evidence, how
    much less likely than the best a turn may be and is still surely among those looked at. ``longer``: of a search that
    gave up and can go on, what goes on up to so many states in all.
    """

    turns: tuple[Turn, ...]
    complete: bool
    looked: int
    reached: float = 0.0
    longer: Callable[[int], SearchResult] | None = field(default=None, compare=False, repr=False)


NOTHING_YET = SearchResult((), True, 0)


class Search(Protocol):
    """A game's own walk through a turn: the functions of its ``search`` module."""

    def find(self, before: State[Any], evidence: Evidence, limit: int, most: int) -> SearchResult:
        """Return the shortest legal turns of the player to move that end as the evidence says."""
        ...

    def cases(self, position: Mapping[str, JSON]) -> list[State[Any]]:
        """Return the states that a position may stand for."""
        ...

    def near_misses(self, state: State[Any], evidence: Evidence) -> Iterable[Move]:
        """Yield the moves that would make a difference good at once, were they legal."""
        ...


class Graded(Search, Protocol):
    """A walk that weighs beliefs itself (``GRADED``): it need not look for turns whose total is less than ``above``."""

    def find(
        self,
        before: State[Any],
        evidence: Evidence,
        limit: int,
        most: int,
        above: float = -inf,
        within: float | None = None,
    ) -> SearchResult:
        """Return the likeliest legal turns of the player to move, ``within`` so much of the best."""
        ...


def search_of(game_id: str) -> Search:
    """Return a game's search, the module ``inference/search.py`` of its folder.

    :raises SetupError: when it has none.
    """
    found: Any = _search(game_id)
    if found is None:
        there = ", ".join(name for name in games() if _search(name) is not None)
        raise SetupError("Turns of {game_id} cannot be searched; those of {there} can.", game_id=game_id, there=there)
    return found  # type: ignore[no-any-return]


def _search(game_id: str) -> ModuleType | None:
    return find_part("companion.rules", game_id, "inference.search")


def _evidence_reader(game_id: JSON) -> Any:
    """Return what reads the evidence of a game's positions, where more is told than the places; else None."""
    return getattr(_search(game_id), "evidence_of", None) if isinstance(game_id, str) else None


def turns(
    before: State[Any],
    evidence: Evidence,
    *,
    limit: int = LIMIT,
    most: int = MOST,
    above: float = -inf,
    within: float | None = None,
) -> SearchResult:
    """Return the shortest legal turns that lead from ``before`` to what was seen, the likeliest first.

    Turns that differ only in the order of independent steps count as one. With graded evidence (a :class:`Belief`, or
    contents some of which are likelier) the turns are the best by log-likelihood and prior together; those that come to
    less than ``above`` are of no use, and need not be looked for. ``within``: how much less likely than the best they
    may be; None: as much as is worth asking about.

    :raises SetupError: when the game has no search.
    """
    search = search_of(before.game.id)
    if getattr(search, "GRADED", False):
        return cast("Graded", search).find(before, evidence, limit, most, above, within)
    if not any(isinstance(seen, Belief) for seen in evidence.places.values()):
        return search.find(before, evidence, limit, most)
    return _widened(search, before, evidence, limit, most)


def _widened(search: Search, before: State[Any], evidence: Evidence, limit: int, most: int) -> SearchResult:
    """Search with beliefs where a game's own walk knows lists of contents only: the likeliest first, then wider."""
    looked, found, reached = 0, NOTHING_YET, 0.0
    for within in WIDER:
        places = {name: _listed(seen, within) for name, seen in evidence.places.items()}
        found = search.find(before, Evidence(places, evidence.fields, graded=True), limit, most - looked)
        looked += found.looked
        if not found.complete:
            break
        reached = within
        if found.turns:
            break
    turned = _ranked(found.turns, evidence)
    reached = max(0.0, reached - _missing(turned, evidence)) if turned else 0.0
    further = partial(_further, search, before, evidence, limit, turned)
    return SearchResult(turned, found.complete, looked, reached, further if turned else None)


def _further(
    search: Search, before: State[Any], evidence: Evidence, limit: int, known: tuple[Turn, ...], most: int
) -> SearchResult:
    """Look for every turn that is less likely than the best one known by no more than ``SURELY``.

    In some places a turn leaves what is not the likeliest there: sets of such places are gone through in the order of
    what they cost at least. Where that ends, all that was not looked for costs as much or more.
    """
    told = {turn.moves: turn for turn in known}
    missing = _missing(known, evidence)
    near, far, edge = _parted(evidence, SURELY + missing)
    costs = sorted((_cost(evidence, name, far[name]), name) for name in far)
    looked, complete = 0, True
    sets: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    while sets and sets[0][0] < edge:
        lost, chosen = sets[0]
        places = near | {costs[n][1]: far[costs[n][1]] for n in chosen}
        found = search.find(before, Evidence(places, evidence.fields, graded=True), limit, most - looked)
        looked += found.looked + 1
        told |= {turn.moves: turn for turn in found.turns}
        complete = found.complete and looked < most
        if not complete:
            break
        heappop(sets)
        # Each set once: with one more place, or with the next place instead of its last.
        following = chosen[-1] + 1 if chosen else 0
        if following < len(costs):
            heappush(sets, (lost + costs[following][0], (*chosen, following)))
            if chosen:
                heappush(sets, (lost - costs[following - 1][0] + costs[following][0], (*chosen[:-1], following)))
    turned = _ranked(told.values(), evidence)
    edge = min(edge, sets[0][0]) if sets else edge
    return SearchResult(turned, complete, looked, max(0.0, edge - _missing(turned, evidence)))


def _parted(
    evidence: Evidence, within: float
) -> tuple[dict[str, Mapping[Content, float]], dict[str, Mapping[Content, float]], float]:
    """Return for each place the contents that are as good as the likeliest, then others that are less so by ``within``.

    Last, what the first content costs that is in neither.
    """
    near: dict[str, Mapping[Content, float]] = {}
    far: dict[str, Mapping[Content, float]] = {}
    edge = within
    for name, seen in evidence.places.items():
        top = _top(seen)
        listed = seen.likely(within) if isinstance(seen, Belief) else iter(seen.items())
        there = [(one, p) for one, p in listed if p >= top - within]
        if len(there) > CONTENTS:
            there = sorted(there, key=lambda part: -part[1])
            edge = min(edge, top - there[CONTENTS][1])
            del there[CONTENTS:]
        near[name] = {one: p for one, p in there if p >= top - WIDER[0]}
        if len(near[name]) < len(there):
            far[name] = {one: p for one, p in there if p < top - WIDER[0]}
    return near, far, edge


def _cost(evidence: Evidence, name: str, contents: Mapping[Content, float]) -> float:
    """Return how much less likely than the likeliest the best of some contents of a place is."""
    return _top(evidence.places[name]) - max(contents.values())


def _ranked(found: Iterable[Turn], evidence: Evidence) -> tuple[Turn, ...]:
    """Return turns with what they come to, the likeliest first, of equal ones the shortest."""
    turned = (Turn(turn.moves, turn.state, evidence.log_likelihood(turn.state.position())) for turn in found)
    return tuple(sorted(turned, key=lambda turn: (-turn.total, len(turn.moves))))


def _missing(turned: Sequence[Turn], evidence: Evidence) -> float:
    """Return how much less likely the best turn is than the board that fits best, legal or not."""
    return evidence.most() - turned[0].total if turned else 0.0


def _listed(seen: Mapping[Content, float] | Belief, within: float) -> Mapping[Content, float]:
    return dict(islice(seen.likely(within), CONTENTS)) if isinstance(seen, Belief) else seen


def _top(seen: Mapping[Content, float] | Belief) -> float:
    return seen.most() if isinstance(seen, Belief) else max(seen.values(), default=0.0)


def cases(game_id: str, before: Mapping[str, JSON]) -> list[State[Any]]:
    """Return the states that a position may stand for, where it leaves open whose turn it is or what hands hold.

    :raises SetupError: when it is no position, or the game has no search.
    """
    return search_of(game_id).cases(before)
