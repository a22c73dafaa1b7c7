"""One walk through a turn, for games whose turns are short: Arctic, Igloo Pop, Ice Team.

A game says what it wants (:class:`Goal`): which steps may lead to what was seen, how many are missing at least, where a
turn may end. The walk goes on where the fewest steps are missing and of those where most are taken, so that it is
quickly at the first shortest turn; states that cannot succeed are given up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import combinations
from typing import Any, Final

from companion.rules.core import JSON, Move, Ruling, State
from companion.rules.inference.explain import REFUSALS
from companion.rules.inference.explanation import Difference, Explanation, FieldDifference, Missed, Told, steps_of
from companion.rules.inference.turns import LIMIT, Evidence, SearchResult, Turn, content

HOPELESS: Final = 999
"""Steps that no turn has: what was seen cannot come about any more."""
ENDS: Final = 12
"""Ends among which the nearest is looked for, for each attempt."""
SMALLEST: Final = 3
"""Parts of what was seen that are taken for unknown at once, at most, before all that differ are."""


class Goal(ABC):
    """What was seen after a turn, compiled for one game and one position before it.

    What a position tells beyond its places are its *fields*, each with a name of its own (``green.fresh``); a place or
    a field that is not in the evidence is unknown.
    """

    MOST: int = 20_000
    """States that the search for a turn looks at before it gives up."""
    RELAXED: int = 3_000
    """States that the search for the nearest legal turn looks at in all."""
    EACH: int = 400
    """States that each of its attempts looks at."""
    ASKS_LAST: bool = False
    """Whether moves may be asked about at the end of the nearest turn too: it is nobody else's turn then."""
    OPEN: bool = False
    """Whether the nearest turn is looked for among all turns, the most like what was seen first."""

    def __init__(self, before: State[Any], evidence: Evidence) -> None:
        """Compile what was seen."""
        self.before: Any = before
        self.evidence = evidence

    @staticmethod
    @abstractmethod
    def fields(position: Mapping[str, JSON]) -> dict[str, JSON]:
        """Return what a position tells beyond its places, by name."""

    @abstractmethod
    def candidates(self, s: Any) -> Iterable[Any]:
        """Yield the legal steps that may lead to what was seen; of those that differ in nothing seen, one."""

    @abstractmethod
    def left(self, s: Any) -> int:
        """Return how many steps are missing at least, HOPELESS where what was seen cannot come about."""

    @abstractmethod
    def ends(self, s: Any) -> bool:
        """Return whether a turn may end here."""

    def closed(self, s: Any) -> bool:
        """Return whether the turn is over here, so that nothing may follow."""
        return self.ends(s)

    @abstractmethod
    def near_misses(self, s: Any, missed: Sequence[str]) -> Iterable[Any]:
        """Yield the moves that would make good what is missed, were they legal: the ones to be asked about."""

    def verdicts(self, nearest: Turn, missed: Sequence[str]) -> Iterable[tuple[Move | str, Ruling]]:
        """Yield what is wrong with what was seen and no single move can say: words for it, and the ruling."""
        del nearest, missed
        return ()

    def maker(self, name: str, states: Sequence[Any]) -> int | None:
        """Return the step that decided a field, counted from 0; None: the last one in which it changed."""
        del name, states
        return None

    def decides(self, s: Any) -> bool:
        """Return whether what happens in a state is a ground for how things must lie: a card that comes up is none."""
        del s
        return True

    def groups(self, missed: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the parts of what was seen that are taken for unknown together, the likeliest to be wrong first.

        ``missed`` are those that differ from the position before.
        """
        return [(name,) for name in missed]

    def near(self) -> Iterable[Turn]:
        """Yield legal turns that come near what was seen: only what misses less is looked for after them."""
        return ()

    def variants(self) -> Iterable[Evidence]:
        """Yield what may have been seen instead, nearly the same: tried before whole parts are taken for unknown."""
        return ()

    def fits_place(self, name: str, seen: Any, here: Any) -> bool:
        """Return whether a content may have been seen where another one lies."""
        del name
        return bool(seen == here)

    def fits_field(self, name: str, seen: JSON, here: JSON) -> bool:
        """Return whether a value may have been told where another one is so."""
        del name
        return bool(seen == here)

    def misses(self, s: Any) -> list[str]:
        """Return the places and fields that are not as they were seen."""
        position = s.position()
        places, fields = position["places"], self.fields(position)
        missed = [
            name
            for name, seen in self.evidence.places.items()
            if not any(self.fits_place(name, one, content(places[name] or {})) for one in seen)
        ]
        return missed + [
            name for name, seen in self.evidence.fields.items() if not self.fits_field(name, seen, fields.get(name))
        ]

    def distance(self, s: Any) -> int:
        """Return how many places and fields are not as they were seen; quicker than telling which."""
        return len(self.misses(s))

    def likely(self, s: Any) -> float:
        """Return how likely a state, which must agree, looks as was seen."""
        places = s.position()["places"]
        total = 0.0
        for name, seen in self.evidence.places.items():
            here = content(places[name] or {})
            total += max(seen.get(one, 0.0) for one in seen if self.fits_place(name, one, here))
        return total


Plan = Callable[[Any, Evidence], Goal]
"""Compiles what was seen after a state."""
Finder = Callable[[Any, Evidence, int, int], SearchResult]
"""Finds the turns from a state to what was seen: at most so many, looking at most at so many states."""

# --- the walk ---------------------------------------------------------------------------------------------------------


def find(before: State[Any], goal: Goal, limit: int, most: int) -> SearchResult:
    """Return the shortest legal turns that end as was seen, at most ``limit``; ``most`` states are looked at.

    Turns of the same steps that lead to the same state count as one. Of graded evidence turns of every length are
    returned.
    """
    if goal.ends(before) and not goal.misses(before):
        return SearchResult((Turn((), before, goal.likely(before)),), True, 0)
    least = goal.left(before)
    if least >= HOPELESS:
        return SearchResult((), True, 0)
    cost: dict[State[Any], int] = {before: 0}
    parents: dict[State[Any], list[tuple[State[Any], Any]]] = {before: []}
    waiting: dict[int, list[tuple[State[Any], int]]] = {least: [(before, 0)]}
    ends: dict[State[Any], None] = {}
    looked, length, every = 0, HOPELESS, goal.evidence.graded
    while waiting:
        total = min(waiting)
        if total > length or len(ends) >= limit:
            break
        s, taken = waiting[total].pop()
        if not waiting[total]:
            del waiting[total]
        if (s in ends and not every) or cost[s] < taken:
            continue
        looked += 1
        if looked > most:
            return SearchResult(_turns(before, list(ends), parents, goal, limit), False, looked)
        for move in goal.candidates(s):
            new = s.after(move)
            known = cost.get(new, HOPELESS)
            if taken + 1 >= known:
                if taken + 1 == known:
                    parents[new].append((s, move))
                continue
            if goal.ends(new) and not goal.distance(new) and not goal.misses(new):
                if taken + 1 < length and not every:
                    ends, length = {}, taken + 1
                if taken + 1 <= length:
                    ends[new] = None
                least = 0
            elif goal.closed(new):
                continue
            else:
                least = goal.left(new)
            if least < HOPELESS:
                cost[new] = taken + 1
                parents[new] = [(s, move)]
                if new not in ends or (every and not goal.closed(new)):
                    waiting.setdefault(max(total, taken + 1 + least), []).append((new, taken + 1))
    return SearchResult(_turns(before, list(ends), parents, goal, limit), not (every and waiting), looked)


def _turns(
    before: State[Any],
    ends: list[State[Any]],
    parents: Mapping[State[Any], list[tuple[State[Any], Any]]],
    goal: Goal,
    limit: int,
) -> tuple[Turn, ...]:
    """Return the ways to the ends, each set of steps once, the likeliest first."""
    found: dict[tuple[int, tuple[str, ...]], Turn] = {}
    tries = 50 * limit
    for number, last in enumerate(ends):
        likely = goal.likely(last)
        todo: list[tuple[State[Any], tuple[Any, ...]]] = [(last, ())]
        while todo and len(found) < limit and tries:
            s, tail = todo.pop()
            if s == before:
                tries -= 1
                found.setdefault((number, tuple(sorted(map(str, tail)))), Turn(tail, last, likely))
                continue
            todo += [(parent, (move, *tail)) for parent, move in parents[s]]
    return tuple(sorted(found.values(), key=lambda turn: -turn.log_likelihood))


# --- explaining -------------------------------------------------------------------------------------------------------


def explain(
    before: State[Any], evidence: Evidence, plan: Plan, limit: int = LIMIT, finder: Finder | None = None
) -> Explanation:
    """Return the legal turns to what was seen with the grounds of the first, or the nearest one and what is wrong.

    ``finder`` finds turns where one goal is not all that a game makes of what was seen.
    """
    goal = plan(before, evidence)
    finder = finder or (lambda state, seen, most_turns, most: find(state, plan(state, seen), most_turns, most))
    found = finder(before, evidence, limit, goal.MOST)
    game_id, looked = before.game.id, found.looked
    if found.turns:
        return Explanation(game_id, True, found.turns, None, (), (), found.complete, looked=looked)
    nearest = _nearest(before, goal, finder)
    if nearest is None:
        over = before.end_reason
        rulings = () if over is None else (("", before.game.rulebook.ruling(False, over, before)),)
        return Explanation(game_id, False, (), None, (), rulings, found.complete, looked=looked)
    missed = goal.misses(nearest.state)
    position = nearest.state.position()
    fields = goal.fields(position)
    places = tuple(
        Difference(name, tuple(evidence.places[name]), content(position["places"][name] or {}))
        for name in missed
        if name in evidence.places
    )
    others = tuple(
        FieldDifference(name, evidence.fields[name], fields.get(name)) for name in missed if name in evidence.fields
    )
    refused, possible = _near_miss_rulings(before, nearest, goal, missed)
    because = _because(before, nearest, goal, missed)
    if not refused and not because:
        because = possible
    missing: tuple[Missed, ...] = (*places, *others)
    return Explanation(game_id, False, (), nearest, missing, refused, found.complete, because, looked=looked)


def _nearest(before: State[Any], goal: Goal, finder: Finder) -> Turn | None:
    """Return the legal turn that misses the least, as far as a bounded search finds it."""
    if goal.OPEN:
        return _closest(before, goal)
    evidence = goal.evidence
    groups = goal.groups(goal.misses(before))
    left = goal.RELAXED
    near = _nearer(goal, goal.near(), None)
    best: tuple[int, int, Turn] | None = None
    for variant in goal.variants():
        tried = finder(before, variant, ENDS, min(left, goal.EACH))
        left -= tried.looked + 1
        best = _nearer(goal, tried.turns, best)
    if best is not None:
        return best[2]
    for count in range(1, SMALLEST + 1):
        if near is not None and near[0] <= count:
            return near[2]
        # The groups are in the order of doubt: first those that are all at the front.
        for chosen in sorted(combinations(range(len(groups)), count), key=sum):
            if left <= 0:
                break
            names = [name for number in chosen for name in groups[number]]
            tried = finder(before, evidence.without(names), ENDS, min(left, goal.EACH))
            left -= tried.looked + 1
            best = _nearer(goal, tried.turns, best)
            if best is not None and best[0] <= count:
                # Fewer parts were not enough: no turn misses less.
                break
        if best is not None:
            return best[2]
    everything = [*evidence.places, *evidence.fields]
    doubtful = [name for group in groups for name in group]
    for names in (doubtful, everything):
        loose = finder(before, evidence.without(names), 5 * LIMIT, goal.EACH)
        if loose.turns:
            near = _nearer(goal, loose.turns, near)
            break
    return None if near is None else near[2]


def _nearer(goal: Goal, turns: Iterable[Turn], best: tuple[int, int, Turn] | None) -> tuple[int, int, Turn] | None:
    """Return the turn that misses the least, of equal ones the shortest, with how much it misses and its length."""
    for turn in turns:
        here = (goal.distance(turn.state), len(turn.moves), turn)
        if best is None or here[:2] < best[:2]:
            best = here
    return best


def _closest(before: State[Any], goal: Goal) -> Turn | None:
    """Return the turn whose end is the most like what was seen; of equal ones that which came the nearest on its way.

    States are looked at in the order of what they miss.
    """
    missed = goal.distance(before)
    parents: dict[State[Any], tuple[State[Any], Any] | None] = {before: None}
    waiting = [(missed, 0, 0, missed, before)]
    best: tuple[int, int, int, State[Any]] | None = None
    for _ in range(goal.RELAXED):
        if not waiting:
            break
        _, steps, _, nearest, s = heappop(waiting)
        for move in s.moves():
            new = s.after(move)
            if new in parents:
                continue
            parents[new] = (s, move)
            missed = goal.distance(new)
            here = (missed, min(nearest, missed), steps + 1, new)
            if goal.ends(new) and (best is None or here[:3] < best[:3]):
                best = here
            if not goal.closed(new):
                heappush(waiting, (missed, steps + 1, len(parents), min(nearest, missed), new))
    return None if best is None else Turn(_way(best[3], parents), best[3], float("-inf"))


def _way(last: State[Any], parents: Mapping[State[Any], tuple[State[Any], Any] | None]) -> tuple[Any, ...]:
    """Return the steps that led to a state."""
    moves: list[Any] = []
    step = parents[last]
    while step is not None:
        moves.append(step[1])
        step = parents[step[0]]
    return tuple(reversed(moves))


def _near_miss_rulings(before: State[Any], nearest: Turn, goal: Goal, missed: Sequence[str]) -> tuple[Told, Told]:
    """Return the rulings on moves that would have made good what the nearest turn misses: refused, and possible ones.

    A move that was possible somewhere on the way is not refused, whatever comes later.
    """
    refused: dict[Move | str, Ruling] = {}
    possible: dict[Move | str, Ruling] = {}
    states = [state for state, _ in steps_of(before, nearest.moves)]
    for state in [*states, nearest.state] if goal.ASKS_LAST else states:
        for suspect in goal.near_misses(state, missed):
            ruling = state.check(suspect)
            (possible if ruling.legal else refused).setdefault(suspect, ruling)
    refusals = {move: ruling for move, ruling in refused.items() if move not in {*possible, *nearest.moves}}
    refusals.update(goal.verdicts(nearest, missed))
    return tuple(refusals.items())[:REFUSALS], tuple(possible.items())[:REFUSALS]


def _because(before: State[Any], nearest: Turn, goal: Goal, missed: Sequence[str]) -> Told:
    """Return the steps of the nearest turn that made what it misses, with their grounds: what had to happen."""
    made: dict[str, int] = {}
    steps = list(steps_of(before, nearest.moves))
    states = [*(state for state, _ in steps), nearest.state]
    positions = [state.position() for state in states]
    fields = [goal.fields(position) for position in positions]
    for name in missed:
        for number in range(len(steps)):
            if name in goal.evidence.fields:
                changed = fields[number].get(name) != fields[number + 1].get(name)
            else:
                changed = positions[number]["places"][name] != positions[number + 1]["places"][name]
            if changed:
                made[name] = number
        maker = goal.maker(name, states)
        if maker is not None:
            made[name] = maker
    chosen = [steps[n] for n in sorted(set(made.values())) if goal.decides(steps[n][0])]
    return tuple((move, state.check(move)) for state, move in chosen[:REFUSALS])
