"""The one search for a turn: which legal moves lead from one position to what was seen afterwards.

``turns(before, evidence)`` is what the referee's "you can't have done that" and the camera both ask. Evidence says for
each place what may lie there and how likely; a known position is the special case of one content a place, and a place
that is not mentioned is unknown. The walk through a turn is each game's own (``search.py`` in its folder), because
only a game knows what a difference between two boards costs at least.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from math import inf
from types import ModuleType
from typing import Any, Protocol, cast

from companion.rules import find_part, games
from companion.rules.core import JSON, Move, Ruling, SetupError, State
from companion.rules.i18n import Words, joined
from companion.rules.inference.belief import Belief, Content
from companion.rules.rulebook import STATUSES

__all__ = [
    "Belief",
    "Content",
    "Evidence",
    "SearchResult",
    "Turn",
    "cases",
    "content",
    "explain",
    "explain_best",
    "search_of",
    "turns",
]

LIMIT = 20
"""Turns that are told at most."""
MOST = 20_000
"""States that are looked at before the search gives up, and says so."""
RELAXED_MOST, RELAXED_EACH = 4_000, 600
"""States that the search for the nearest legal turn looks at: in all, and in each of its attempts."""
WIDER: tuple[float, ...] = (0.7, 3.0, 6.0)
"""How much less likely than the best each part of a place may be, one search after the other."""
CONTENTS = 40
"""Contents of a place that such a search looks at."""
A_MOVE = 1.0
"""What a move costs beforehand (natural logarithm), where a game has no prices of its own."""
REFUSALS = 4
"""Refused moves that an explanation tells at most."""


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
    position that must be so.
    """

    places: Mapping[str, Mapping[Content, float] | Belief]
    fields: Mapping[str, JSON] = field(default_factory=dict)

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

    ``log_prior``: how likely such a turn is before anything was seen; it falls with length.
    """

    moves: tuple[Move, ...]
    state: State[Any]
    log_likelihood: float
    log_prior: float = 0.0

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

    def find(self, before: State[Any], evidence: Evidence, limit: int, most: int, above: float = -inf) -> SearchResult:
        """Return the likeliest legal turns of the player to move."""
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
    before: State[Any], evidence: Evidence, *, limit: int = LIMIT, most: int = MOST, above: float = -inf
) -> SearchResult:
    """Return the shortest legal turns that lead from ``before`` to what was seen, the likeliest first.

    Turns that differ only in the order of independent steps count as one. With graded evidence (a :class:`Belief`, or
    contents some of which are likelier) the turns are the best by log-likelihood and prior together; those that come to
    less than ``above`` are of no use, and need not be looked for.

    :raises SetupError: when the game has no search.
    """
    search = search_of(before.game.id)
    if getattr(search, "GRADED", False):
        return cast("Graded", search).find(before, evidence, limit, most, above)
    if not any(isinstance(seen, Belief) for seen in evidence.places.values()):
        return search.find(before, evidence, limit, most)
    return _widened(search, before, evidence, limit, most)


def _widened(search: Search, before: State[Any], evidence: Evidence, limit: int, most: int) -> SearchResult:
    """Search with beliefs where a game's own walk knows lists of contents only: the likeliest first, then wider."""
    looked = 0
    found = SearchResult((), True, 0)
    for within in WIDER:
        places = {name: _listed(seen, within) for name, seen in evidence.places.items()}
        found = search.find(before, Evidence(places, evidence.fields), limit, most - looked)
        looked += found.looked
        if found.turns or not found.complete:
            break
    turned = tuple(
        Turn(turn.moves, turn.state, evidence.log_likelihood(turn.state.position()), -A_MOVE * len(turn.moves))
        for turn in found.turns
    )
    best = max((turn.total for turn in turned), default=0.0)
    reached = within - (sum(map(_top, evidence.places.values())) - best) if turned else 0.0
    return SearchResult(tuple(sorted(turned, key=lambda turn: -turn.total)), found.complete, looked, reached)


def _listed(seen: Mapping[Content, float] | Belief, within: float) -> Mapping[Content, float]:
    return dict(islice(seen.likely(within), CONTENTS)) if isinstance(seen, Belief) else seen


def _top(seen: Mapping[Content, float] | Belief) -> float:
    return seen.most() if isinstance(seen, Belief) else max(seen.values(), default=0.0)


# --- explaining -----------------------------------------------------------------------------------------------------


class Missed(Protocol):
    """What the nearest legal turn does not make as it was seen: a place, or a field of the position."""

    @property
    def place(self) -> str:
        """Return the name of the place or field."""
        ...

    def to_json(self) -> dict[str, JSON]:
        """Return the documented form."""
        ...


@dataclass(frozen=True, slots=True)
class Difference:
    """A place where the nearest legal turn does not end as was seen: what was seen, and what the turn leaves there."""

    place: str
    seen: tuple[Content, ...]
    turn: Content

    def to_json(self) -> dict[str, JSON]:
        """Return the documented form (``explain --json``)."""
        return {"place": self.place, "seen": [_shown(c) for c in self.seen], "turn": _shown(self.turn)}


def _shown(found: Content) -> dict[str, JSON]:
    ground, things = found
    return {"ground": ground, "things": [{"kind": kind, **_named(what), "count": n} for kind, what, n in things]}


def _named(what: Any) -> dict[str, JSON]:
    """Return a thing's colour or value, and the companion of a card."""
    if isinstance(what, tuple):
        return {"value": what[0], "companion": what[1]}
    return {"colour" if isinstance(what, str) else "value": what}


@dataclass(frozen=True, slots=True)
class Explanation:
    """How one position came from another.

    ``legal``: there is a legal turn; ``turns`` are the shortest ones. Else ``nearest`` is the legal turn that misses
    the fewest places, ``differences`` are what it misses, and ``rulings`` are the refusals of moves that would have
    made it good. ``complete`` is False where a search gave up before all was looked at. ``because`` are steps with
    their grounds: all of the first legal turn, or those of the nearest one that had to make what differs.
    """

    legal: bool
    turns: tuple[Turn, ...]
    nearest: Turn | None
    differences: tuple[Missed, ...]
    rulings: tuple[tuple[Move | str, Ruling], ...]
    complete: bool
    because: tuple[tuple[Move | str, Ruling], ...] = ()

    def to_json(self) -> dict[str, JSON]:
        """Return the documented form (``explain --json``)."""
        rulings = [ruling for _, ruling in (*self.rulings, *self.because)]
        return {
            "legal": self.legal,
            "turns": [[str(move) for move in turn.moves] for turn in self.turns],
            "nearest": [str(move) for move in self.nearest.moves] if self.nearest else None,
            "differences": [difference.to_json() for difference in self.differences],
            "clauses": list(dict.fromkeys(clause for ruling in rulings for clause in ruling.clauses)),
            "facts": {
                "complete": self.complete,
                "refused": [str(move) for move, _ in self.rulings],
                "because": [{"move": str(move), **ruling.to_json()} for move, ruling in self.because],
            },
            "status": max((ruling.status for ruling in rulings), key=STATUSES.index, default="text"),
            **self.sentences().to_json(),
        }

    @property
    def headline(self) -> Words:
        """Return in one sentence whether a legal turn leads there."""
        if self.legal:
            moves = ", ".join(map(str, self.turns[0].moves))
            return _LEADS.filled({"moves": moves}) if moves else _NOTHING_HAPPENED
        return _NONE_LEADS if self.complete else _NONE_FOUND

    def sentences(self) -> Words:
        """Return what was found."""
        if self.legal:
            return self.headline
        sentences = [self.headline, *(_judged(move, ruling) for move, ruling in self.rulings)]
        if self.because:
            sentences.append(_NEAREST)
        return joined([*sentences, *(_judged(move, ruling) for move, ruling in self.because)])


_NOTHING_HAPPENED = Words("Nothing had to happen: it may be as it was.")
_LEADS = Words("A legal turn leads there: {moves}.")
_NONE_LEADS = Words("No legal turn leads there.")
_NONE_FOUND = Words("No legal turn that leads there was found.")
_NEAREST = Words("In the nearest legal turn:")
_JUDGED = Words("{move}: {ruling}")


def _judged(move: Move | str, ruling: Ruling) -> Words:
    return _JUDGED.filled({"move": str(move), "ruling": ruling.words})


def explain(before: State[Any], evidence: Evidence, *, limit: int = LIMIT) -> Explanation:
    """Return the legal turns from one position to what was seen, or the nearest one and the clauses in the way.

    :raises SetupError: when the game has no search.
    """
    own = getattr(search_of(before.game.id), "explain", None)
    if own is not None:
        explained: Explanation = own(before, evidence, limit)
        return explained
    found = turns(before, evidence, limit=limit)
    if found.turns:
        return Explanation(True, found.turns, None, (), (), found.complete)
    nearest = _nearest(before, evidence)
    if nearest is None:
        return Explanation(False, (), None, (), (), found.complete)
    return _short_of(before, evidence, nearest, complete=found.complete)


def explain_best(states: Sequence[State[Any]], evidence: Evidence) -> tuple[State[Any], Explanation]:
    """Return of the states that a position may stand for the one with the shortest legal explanation, and that.

    Where none has a legal one, that which misses the least.

    :raises SetupError: when the game has no search.
    """
    legal = [state for state in states if len(states) == 1 or turns(state, evidence, limit=1).turns]
    found = [(state, explain(state, evidence)) for state in legal or states]
    return min(found, key=lambda pair: _rank(pair[1]))


def _rank(found: Explanation) -> tuple[bool, int, int]:
    return not found.legal, len(found.differences) or 99, len(found.turns[0].moves) if found.legal else 0


def _nearest(before: State[Any], evidence: Evidence) -> Turn | None:
    """Return the legal turn that misses the fewest places, as far as a bounded search finds it.

    A game's search may know better (``nearest``). Else one place after the other is taken for unknown, then pairs;
    where that finds nothing, all that differ at once.
    """
    own = getattr(search_of(before.game.id), "nearest", None)
    if own is not None:
        found: Turn | None = own(before, evidence)
        return found
    position = before.position()
    doubtful = evidence.misses(position)
    changed = {name: _changed(content(position["places"][name]), evidence.places[name]) for name in doubtful}
    left = RELAXED_MOST
    for count in (1, 2):
        best: Turn | None = None
        # Two places where the same thing changed, as one that moved does, are the likeliest to go together.
        tries = sorted(
            combinations(doubtful, count), key=lambda names: not set.intersection(*(changed[n] for n in names))
        )
        for names in tries:
            if left <= 0:
                break
            tried = turns(before, evidence.without(names), limit=1, most=min(left, RELAXED_EACH))
            left -= tried.looked
            if tried.turns and (best is None or len(tried.turns[0].moves) < len(best.moves)):
                best = tried.turns[0]
        if best is not None:
            return best
    loose = turns(before, evidence.without(doubtful), limit=LIMIT)
    return min(loose.turns, key=lambda turn: len(evidence.misses(turn.state.position())), default=None)


def _changed(before: Content, seen: Iterable[Content]) -> set[Any]:
    """Return the grounds and things of a place that are not as they were."""
    all_parts: list[set[Any]] = [{("ground", ground, 1), *things} for ground, things in (before, *seen)]
    return {part[:2] for part in set.union(*all_parts) - set.intersection(*all_parts)}


def _short_of(before: State[Any], evidence: Evidence, nearest: Turn, *, complete: bool) -> Explanation:
    """Return the explanation that a nearest turn gives: what it misses, and the refusals on its way."""
    position = nearest.state.position()
    missed = evidence.misses(position)
    differences = tuple(
        Difference(name, tuple(evidence.places[name]), content(position["places"][name])) for name in missed
    )
    in_place = getattr(search_of(before.game.id), "in_place", lambda _state, _move: True)
    search = search_of(before.game.id)
    rulings: dict[Move, Ruling] = {}
    state = before
    for move in nearest.moves:
        for suspect in search.near_misses(state, evidence):
            # Later states overrule earlier ones, as far as the move would have had its place there.
            if state.refusal(suspect) is None:
                rulings.pop(suspect, None)
            elif suspect not in rulings or in_place(state, suspect):
                rulings[suspect] = state.check(suspect)
        state = state.after(move)
    changed = set(evidence.misses(before.position()))
    relevant = _to_the_point(rulings, set(missed), changed, set(position["places"]))
    return Explanation(False, (), nearest, differences, relevant, complete)


def _to_the_point(
    rulings: Mapping[Move, Ruling], missed: set[str], changed: set[str], places: set[str]
) -> tuple[tuple[Move, Ruling], ...]:
    """Return a few refusals that speak of what is missed.

    At best of nothing else, and of places that changed; else of what changed, of what is missed, of that too. A move
    that names no place is asked about only where it is to the point.
    """
    named = {move: {word for word in str(move).split() if word in places} for move in rulings}
    chosen = (
        [move for move, names in named.items() if names <= missed & changed]
        or [move for move, names in named.items() if names <= changed]
        or [move for move, names in named.items() if names <= missed]
        or [move for move, names in named.items() if names & missed]
    )
    return tuple((move, rulings[move]) for move in chosen[:REFUSALS])


def cases(game_id: str, before: Mapping[str, JSON]) -> list[State[Any]]:
    """Return the states that a position may stand for, where it leaves open whose turn it is or what hands hold.

    :raises SetupError: when it is no position, or the game has no search.
    """
    return search_of(game_id).cases(before)
