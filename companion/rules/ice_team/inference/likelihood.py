"""Which turn of Ice Team a camera saw: every turn there is, weighed by what is believed of each place.

A board tells floes and bears. Dice, and how many fish freeze, it does not tell; and no floe or bear ever depends on
fish. So of each unseen step one outcome is followed to see where bears and floes go on, and a turn is *told* only up to
its first unseen step. Turns that leave the same board are one where all that may come of them is the same; else, as
where one freezes before it has fish and another after, they stay apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

from companion.rules.ice_team.components import TILE_TEXT
from companion.rules.ice_team.moves import IceMove
from companion.rules.ice_team.position import TEAM, IcePosition
from companion.rules.inference.turns import Content, Evidence, SearchResult, Turn

UNSEEN: Final = frozenset({"pick", "roll", "roll-both", "choose", "freeze"})
STEPS: Final = frozenset({"pick", "roll", "choose", "freeze"})
"""Phases whose next step no picture of the board shows, and those steps."""
ROUNDABOUT: Final = -2.5
"""What it costs beforehand that two actions end where one would have ended."""
MOST: Final = 6_000
"""States that are looked at before the search gives up; the most in three random games were 1100."""
MARGIN: Final = 12.0
"""Turns that are so much less likely than the best are not told."""


@dataclass(frozen=True, slots=True)
class _Way:
    """A way through a turn: its steps, where it stands, and how many of its steps the board tells, to where.

    ``turned`` is None while all steps are told.
    """

    moves: tuple[IceMove, ...]
    state: IcePosition
    told: int = 0
    turned: IcePosition | None = None


def is_unseen(s: IcePosition) -> bool:
    """Return whether the next step is one that no picture of the board shows."""
    return s.phase in UNSEEN


def find(
    before: IcePosition, evidence: Evidence, limit: int, most: int, above: float = -inf, within: float | None = None
) -> SearchResult:
    """Return the likeliest turns, and first actions alone, of the player to move; all others come to less.

    A turn that leaves the board as it was is none that can be seen. ``complete`` is False where there were more states
    than ``most``; what was not looked at may then be as likely as anything.
    """
    if before.phase == "setup":
        return SearchResult((), True, 0, inf)
    ways, complete, looked = _ways(before, min(most, MOST))
    likelihood = _Likelihood(before, evidence)
    scored = [(likelihood.of(way.state), way) for way in ways if _board(way.state) != _board(before)]
    scored.sort(key=lambda one: -one[0])
    margin = MARGIN if within is None else within
    least = max(above, scored[0][0] - margin) if scored else above
    turns: list[Turn] = []
    beyond = -inf
    for likely, group in _same_boards((likely, way) for likely, way in scored if likely >= least):
        if len(turns) > limit:
            beyond = likely
            break
        shortest = min(_actions(before, way.state) for way in group)
        turns += [
            Turn(way.moves, way.state, likely, ROUNDABOUT * (_actions(before, way.state) - shortest), way.told)
            for way in _merged(before, group)
        ]
    turns.sort(key=lambda turn: -turn.total)
    reached = inf if complete else 0.0
    if len(turns) > limit:
        reached = min(reached, turns[0].total - max(beyond, turns[limit].total))
    return SearchResult(tuple(turns[:limit]), complete, looked, reached)


def _ways(before: IcePosition, most: int) -> tuple[list[_Way], bool, int]:
    """Return the ways to the ends of the turn and of its first action, one for each position and what of it is told."""
    ends: list[_Way] = []
    waiting = [_Way((), before)]
    met: set[tuple[IcePosition, IcePosition | None]] = set()
    looked = 0
    while waiting:
        way = waiting.pop()
        looked += 1
        if looked > most:
            return ends, False, looked
        s, unseen = way.state, is_unseen(way.state)
        turned = s if unseen and way.turned is None else way.turned
        for move in s.moves():
            moves, state = (*way.moves, move), s.after(move)
            told = len(moves) if turned is None else way.told
            new = _Way(moves, state, told, turned)
            if (state, turned) not in met:
                met.add((state, turned))
                over = state.phase == "over" or state.seat != before.seat
                if over or state.phase == "act":
                    ends.append(new)
                if not over:
                    waiting.append(new)
            if unseen:
                break
    return ends, True, looked


def _same_boards(scored: Iterable[tuple[float, _Way]]) -> Iterator[tuple[float, list[_Way]]]:
    """Yield the ways to each board, with how likely it looks as was seen."""
    groups: dict[object, tuple[float, list[_Way]]] = {}
    for likely, way in scored:
        groups.setdefault(_board(way.state), (likely, []))[1].append(way)
    yield from groups.values()


def _merged(before: IcePosition, ways: Sequence[_Way]) -> Iterator[_Way]:
    """Yield ways to one board, those of which the same may come as one: the one of which the most is told.

    Of what all may come of another way, too, nothing is lost where that one is told: past three penguins as few fish
    may freeze as past one, or none.
    """
    groups: dict[frozenset[IcePosition], _Way] = {}
    for way in ways:
        key = _comes_to(before, way)
        known = groups.get(key)
        if known is None or (way.told, -len(way.moves)) > (known.told, -len(known.moves)):
            groups[key] = way
    yield from (way for key, way in groups.items() if not any(key < other for other in groups))


def _comes_to(before: IcePosition, way: _Way) -> frozenset[IcePosition]:
    """Return every position that a way may lead to, whatever its unseen steps were."""
    if way.turned is None:
        return frozenset({way.state})
    states = {before}
    for move in way.moves:
        if move.kind in STEPS:
            continue
        states = {s.after(move) for s in _settled(states)}
    return frozenset(_settled(states))


def _settled(states: Iterable[IcePosition]) -> set[IcePosition]:
    """Return the positions after all that unseen steps may bring."""
    waiting, found = list(states), set()
    met = set(waiting)
    while waiting:
        s = waiting.pop()
        if not is_unseen(s):
            found.add(s)
            continue
        new = {s.after(move) for move in s.moves()} - met
        met |= new
        waiting += new
    return found


def _board(s: IcePosition) -> tuple[object, ...]:
    """Return what a picture shows of a position."""
    return s.tiles, tuple(sorted(s.bears[:TEAM])), tuple(sorted(s.bears[TEAM:]))


def _actions(before: IcePosition, s: IcePosition) -> int:
    """Return how many actions of the turn are done."""
    return before.actions if s.phase == "over" or s.seat != before.seat else before.actions - s.actions


class _Likelihood:
    """How likely positions look as was seen; each content of a place is asked about once."""

    def __init__(self, before: IcePosition, evidence: Evidence) -> None:
        self._names = before.table.layout.names
        self._colours = before.colours
        self._places = evidence.places
        self._known: dict[tuple[int, str, int, int], float] = {}

    def of(self, s: IcePosition) -> float:
        """Return the log-likelihood of a position."""
        first, second = s.bears[:TEAM], s.bears[TEAM:]
        total = 0.0
        for space, name in enumerate(self._names):
            if name in self._places:
                ground = TILE_TEXT[s.tiles[space]] if space < len(s.tiles) else name
                total += self._at(space, ground, first.count(space), second.count(space))
        return total

    def _at(self, space: int, ground: str, mine: int, theirs: int) -> float:
        key = space, ground, mine, theirs
        if key not in self._known:
            counts = sorted(zip(self._colours, (mine, theirs), strict=True))
            content: Content = ground, tuple(("bear", colour, count) for colour, count in counts if count)
            self._known[key] = self._places[self._names[space]].get(content, -inf)
        return self._known[key]
