"""The likeliest turn of Iglu Iglu for the shared search, when what was seen is a matter of more or less.

A turn costs what its steps cost before anything was seen (:func:`.priors.price`: the chance of a tile, a few choices to
an action) and what the board it leads to loses (:mod:`.likelihood`). States are looked at in the order of the least
that a turn through them can cost, up to what may compete with the best turn found, and no further than is of use to who
asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from heapq import heappop, heappush
from math import inf

from companion.rules.core import NOBODY
from companion.rules.iglu_iglu import actions, components, drifting, melting, red_tiles
from companion.rules.iglu_iglu import moves as m
from companion.rules.iglu_iglu.board import DIRECTIONS
from companion.rules.iglu_iglu.inference.bounds import fields_agree, tells
from companion.rules.iglu_iglu.inference.gains import HUNTED, KAYAKED, NEVER, POINT, WALKED, Losses
from companion.rules.iglu_iglu.inference.likelihood import IgluLikelihood
from companion.rules.iglu_iglu.inference.priors import PLAYED, Scale, TurnCost, every, price, together
from companion.rules.iglu_iglu.moves import IgluMove
from companion.rules.iglu_iglu.position import (
    ACT,
    DRAWING,
    DRIFTING,
    MOVING,
    OVER,
    REVEALING,
    START,
    THAW_PLAYED,
)
from companion.rules.iglu_iglu.state import IgluState
from companion.rules.inference.belief import Belief, Content
from companion.rules.inference.turns import Evidence, SearchResult, Turn

WIDER = 10.0
"""A state is looked at first for what costs up to so much more than its least (natural logarithm), later for more."""
MARGIN = 5.0
"""Turns that are less likely than the best by up to this are told too."""
LOST = 0.7
"""What each of three points costs that is not used: players seldom leave one."""
MISSED = 10.0
"""What a thing that is not as it was seen costs when the nearest legal turn is looked for."""
WIDTH, NARROW, WIDE = 12, 6, 30
"""States of each level that are followed when a search has given up without any turn.

For the nearest turn fewer; more where nothing else has found or excluded a turn.
"""
MOST_NEAREST = 300
"""States that are weighed for the nearest turn before the search gives up: it says so, and tells the best found."""
DOUBTFUL = 12.0
"""Tiles before melting are thought of where the best other turn leaves more than this unexplained."""
_FREE = {m.MELT, m.ACCEPT, m.PUT_BACK, m.STOP, m.END, m.PLACE}
_CLOSE = 1e-6


# --- the steps worth trying -------------------------------------------------------------------------------------------


def candidates(s: IgluState, scale: Scale, budget: float) -> Iterable[IgluMove]:
    """Yield the legal steps that may lead to a turn within the budget."""
    if s.phase == REVEALING:
        return (x for x in melting.moves_reveal(s) if isinstance(x, m.Reveal) and tells(x.face))
    if s.phase == DRAWING:
        return _draws(s, scale)
    if s.phase == START:
        return _start(s, scale)
    if s.phase == ACT:
        return _act(s, scale, budget)
    if s.phase == DRIFTING:
        return _drifts(s, scale, budget)
    if s.phase == MOVING and s.melted:
        return _steps(s, scale, budget)
    return s.moves()


def _may_thaw(s: IgluState) -> int:
    return int(not s.played & THAW_PLAYED and s.can_play(s.turn, 1))


def _draws(s: IgluState, scale: Scale) -> Iterable[IgluMove]:
    """Return the tokens that may come next: those of one tile in the order of their values."""
    if scale.likelihood.stocked >> s.square & 1:
        return s.moves()
    drawn = [code for code in (*s.fish, *s.fox) if code >> 2 == s.square]
    least = max((code & 3 for code in drawn), default=0)
    return (x for x in s.moves() if isinstance(x, m.Draw) and x.token % 3 + 1 >= least)


def _start(s: IgluState, scale: Scale) -> Iterator[IgluMove]:
    melts = melting.moves_melt(s)
    yield from melts
    if scale.early or not melts:
        yield from red_tiles.moves_thaw(s)
        if red_tiles.can_move_animals(s):
            yield m.THE_ANIMALS


def _drifts(s: IgluState, scale: Scale, budget: float) -> Iterator[IgluMove]:
    """Yield the drifts after which the floes may still be what was seen."""
    removals = _may_thaw(s)
    likelihood = scale.likelihood
    for move in drifting.moves_drift(s):
        if isinstance(move, m.Drift) and move.square >= 0:
            row, end = drifting.line(s, move.square, move.direction)
            floes = s.floes & ~(1 << move.square) | 1 << end
            if s.packs & row:
                step = DIRECTIONS[move.direction]
                packs = s.packs & row
                packs = s.packs & ~row | (packs << step if step > 0 else packs >> -step)
            else:
                packs = s.packs
            if likelihood.always + likelihood.grounds_bound(floes, packs, removals, 0) > budget:
                continue
        yield move


def _open_ways(s: IgluState, scale: Scale, budget: float) -> list[tuple[TurnCost, float, Losses, Losses]]:
    """Return the ways still open in phase 2: with what grounds and rivals cost, and the bounds of tribe and animals."""
    likelihood = scale.likelihood
    seat = s.turn
    found = []
    for way in scale.ways(s):
        if way.price > budget:
            break
        rest = way.price + POINT * min(3, way.sure) + likelihood.always
        rest += likelihood.grounds_bound(s.floes, s.packs, way.removals, 0)
        for other, inuit in enumerate(s.inuit):
            if other != seat:
                rest += likelihood.other_bound(other, inuit, s.igloos[other], way.flight)
        own = likelihood.own_bound(seat, s.inuit[seat], s.igloos[seat], way.flight)
        animals = likelihood.animals_bound(s.fish, s.fox, s.bears, way.steps, way.free)
        if rest + together(own, animals, way.points) <= budget:
            found.append((way, rest, own, animals))
    return found


def _loosest(
    s: IgluState, scale: Scale, ways: list[tuple[TurnCost, float, Losses, Losses]]
) -> tuple[TurnCost, float, Losses]:
    """Return all means of several ways together, the least that the rest costs, and the bound of the tribe."""
    way = every(tuple([way for way, *_ in ways]))
    seat = s.turn
    own = scale.likelihood.own_bound(seat, s.inuit[seat], s.igloos[seat], way.flight)
    return way, min(rest for _, rest, *_ in ways), own


def _steps(s: IgluState, scale: Scale, budget: float) -> Iterator[IgluMove]:
    """Yield the animal steps in phase 2 after which the animals may still be what was seen."""
    likelihood = scale.likelihood
    open_ways = _open_ways(s, scale, budget)
    if not open_ways:
        return
    whole, least, loosest = _loosest(s, scale, open_ways)
    for move in red_tiles.moves_moving(s):
        if not isinstance(move, m.Step):
            yield move
            continue
        fish, foxes, bears = s.fish, s.fox, s.bears
        if move.token == components.BEAR_TOKEN:
            bears = bears & ~(1 << move.origin) | 1 << move.target
            fish, foxes = (tuple([code for code in codes if code >> 2 != move.target]) for codes in (fish, foxes))
        elif move.token >= components.FOX:
            foxes = _moved(foxes, move.token - components.FOX + 1, move.origin, move.target)
        else:
            fish = _moved(fish, move.token + 1, move.origin, move.target)
        animals = likelihood.animals_bound(fish, foxes, bears, whole.steps - 1, whole.free)
        if least + together(loosest, animals, whole.points) > budget:
            continue
        if len(open_ways) == 1 or any(
            rest + together(own, likelihood.animals_bound(fish, foxes, bears, way.steps - 1, way.free), way.points)
            <= budget
            for way, rest, own, _ in open_ways
        ):
            yield move


def _moved(codes: tuple[int, ...], value: int, origin: int, target: int = -1) -> tuple[int, ...]:
    """Return tokens after one has moved, or gone."""
    there = list(codes)
    there.remove(4 * origin + value)
    if target >= 0:
        there.append(4 * target + value)
        there.sort()
    return tuple(there)


def _act(s: IgluState, scale: Scale, budget: float) -> Iterator[IgluMove]:
    likelihood = scale.likelihood
    seat = s.turn
    open_ways = _open_ways(s, scale, budget)
    if not open_ways:
        return
    whole, least, own = _loosest(s, scale, open_ways)
    loosest = likelihood.animals_bound(s.fish, s.fox, s.bears, whole.steps, whole.free)
    inuit, igloos = s.inuit[seat], s.igloos[seat]
    spare = POINT * min(3, s.points)
    for move in actions.moves_act(s):
        kind = move.kind
        if kind in (m.WALK, m.KAYAK) and isinstance(move, m.Walk | m.Kayak):
            there = list(inuit)
            there.remove(move.origin)
            there.append(move.target)
            there.sort()
            moved, cost = tuple(there), 1 if kind == m.WALK else 3
            paid = (WALKED if kind == m.WALK else KAYAKED) - POINT * (min(3, s.points) - min(3, s.points - cost))
            there_own = likelihood.own_bound(seat, moved, igloos, whole.flight)
            if least + paid + together(there_own, loosest, whole.points - cost) > budget:
                continue
            # What the tribe may come to hangs of all that a way has on whether somebody may flee.
            plain = there_own if not whole.flight else likelihood.own_bound(seat, moved, igloos, False)
            if len(open_ways) == 1 or any(
                rest + paid + together(there_own if way.flight else plain, animals, way.points - cost) <= budget
                for way, rest, _, animals in open_ways
                if way.points >= cost
            ):
                yield move
        elif kind == m.BUILD and isinstance(move, m.Build):
            losses = likelihood.igloo[seat][move.square]
            if losses[1] - losses[0] <= budget:
                yield move
        elif kind == m.ENDURANCE and isinstance(move, m.Endurance):
            points = s.points + move.value
            if s.points < 3 and any(
                rest + together(own, animals, min(way.points, points)) <= budget
                for way, rest, own, animals in open_ways
                if way.points > s.points
            ):
                yield move
        elif kind == m.ANIMALS:
            if whole.steps:
                yield move
        elif kind == m.THAW and isinstance(move, m.Thaw):
            floes = s.floes & ~(1 << move.square)
            rest = PLAYED + likelihood.always + likelihood.grounds_bound(floes, s.packs, 0, 0) + spare
            rest += sum(
                likelihood.other_bound(n, s.inuit[n], s.igloos[n], True) for n in range(len(s.inuit)) if n != seat
            )
            if rest + together(likelihood.own_bound(seat, inuit, igloos, True), loosest, whole.points) <= budget:
                yield move
        elif kind == m.HUNT and isinstance(move, m.Hunt) and move.token != components.BEAR_TOKEN:
            fish, foxes = s.fish, s.fox
            if move.token >= components.FOX:
                foxes = _moved(foxes, move.token - components.FOX + 1, move.square)
            else:
                fish = _moved(fish, move.token + 1, move.square)
            cost = 0 if move.harpoon else components.TOKENS[move.token][1]
            # A harpoon is paid for by the ways that use one.
            paid = HUNTED + POINT * (min(3, s.points - cost) - min(3, s.points))
            after = likelihood.animals_bound(fish, foxes, s.bears, whole.steps, whole.free)
            if least + paid + together(own, after, whole.points - cost) <= budget:
                yield move
        elif kind != m.END:
            yield move


# --- the walk ---------------------------------------------------------------------------------------------------------

Parents = dict[IgluState, tuple[float, list[tuple[IgluState, IgluMove]]]]


class BestFirstSearch:
    """One search: the states looked at so far, and the ends that were found."""

    def __init__(
        self,
        before: IgluState,
        likelihood: IgluLikelihood,
        margin: float,
        ceiling: float = inf,
        *,
        early: bool = False,
    ) -> None:
        """Begin before the turn; what is less likely than the best by more than ``margin`` is not looked for.

        Nor is what costs more than ``ceiling``. ``early``: tiles before melting are thought of from the beginning.
        """
        self.before = before
        self.likelihood = likelihood
        self.scale = Scale(likelihood)
        self.scale.early = early
        self.margin = margin
        self.ceiling = ceiling
        self.looked = 0
        self.parents: Parents = {before: (0.0, [])}
        # What an end costs, what part of it the board loses, the last state before it, and how it was come by.
        self.ends: dict[IgluState, tuple[float, float, IgluState, Parents]] = {}
        self.cheapest = NEVER
        # States still to be looked at: the least that a turn through them costs, and up to what that has been done.
        self.heap: list[tuple[float, int, float, IgluState]] = []
        # What states cost at least that were given up, and those of beams: they are come by in many ways.
        self.beyond: dict[IgluState, float] = {}
        self.rests: dict[tuple[IgluState, bool], float] = {}
        self.number = 0
        self.push(self.scale.least(before, 0.0), before)

    def push(self, least: float, s: IgluState) -> None:
        """Look at a state when everything that may cost less has been looked at."""
        self.number += 1
        heappush(self.heap, (least, self.number, self.parents[s][0], s))

    def bar(self) -> float:
        """Return what a turn may cost that is looked for."""
        return min(self.cheapest + self.margin, self.ceiling)

    def ahead(self, most: int) -> bool:
        """Look at states, ``most`` in all, the most promising first; return whether none is left within the bar."""
        heap, parents = self.heap, self.parents
        while heap and heap[0][0] <= self.bar() + _CLOSE:
            if self.looked > most:
                return False
            least, _, spent, s = heappop(heap)
            if parents[s][0] < spent - _CLOSE:
                continue
            if s.phase in (ACT, OVER):
                self._end(s, spent)
                if s.phase == OVER:
                    continue
            reach = least + WIDER
            self._step(s, spent, min(reach, self.bar()))
            if reach < self.bar():
                self.push(reach, s)
        return True

    def done(self) -> float:
        """Return up to what all turns have been looked at, but for those beyond the ceiling."""
        if self.heap and self.heap[0][0] < self.bar():
            return self.heap[0][0]
        return self.cheapest + self.margin

    def _step(self, s: IgluState, spent: float, budget: float) -> None:
        """Note what may come next within the budget."""
        parents, scale = self.parents, self.scale
        bar = self.bar()
        for move in candidates(s, scale, budget - spent + _CLOSE):
            if (cost := spent + price(s, move)) > bar + _CLOSE:
                continue
            self.looked += 1
            new = s.after(move)
            if (known := parents.get(new)) is not None:
                if abs(known[0] - cost) < _CLOSE:
                    if (s, move) not in known[1]:
                        known[1].append((s, move))
                    continue
                if known[0] <= cost:
                    continue
            elif new.turn != s.turn and new.to_move != NOBODY:
                continue
            if cost + self.beyond.get(new, 0.0) > bar + _CLOSE:
                continue
            rest = self.likelihood.loss(new) if new.phase == OVER else scale.least(new, -1.0, bar - cost + 2 * _CLOSE)
            least = cost + rest
            if least > bar + _CLOSE:
                self.beyond[new] = rest
                continue
            parents[new] = (cost, [(s, move)])
            self.push(least, new)

    def aside(self) -> BestFirstSearch:
        """Return a walk that has found the same and may go another way; this one does not hear of it."""
        other = copy(self)
        other.ends = dict(self.ends)
        return other

    def beam(self, width: int) -> None:
        """Follow a few of the best states of each level to some turn."""
        scale, bar = self.scale, self.bar()
        parents: Parents = {self.before: (0.0, [])}
        self.parents = parents
        level = [self.before]
        while level:
            following: dict[IgluState, float] = {}
            for s in level:
                spent = parents[s][0]
                if s.phase in (ACT, OVER):
                    self._end(s, spent)
                    bar = self.bar()
                for move in candidates(s, scale, bar - spent) if s.phase != OVER else ():
                    cost = spent + price(s, move)
                    self.looked += 1
                    new = s.after(move)
                    if (new.turn != s.turn and new.to_move != NOBODY) or (new in parents and parents[new][0] <= cost):
                        continue
                    if (key := (new, scale.early)) not in self.rests:
                        self.rests[key] = scale.least(new, -1.0)
                    if (least := cost + self.rests[key]) <= bar + _CLOSE:
                        parents[new] = (cost, [(s, move)])
                        following[new] = least
            level = sorted(following, key=following.__getitem__)[:width]

    def _end(self, s: IgluState, spent: float) -> None:
        """Note a state in which the turn may end."""
        loss = self.likelihood.end(s)
        if loss >= NEVER or not fields_agree(s, self.likelihood.evidence):
            return
        if s.phase == ACT:
            spent += LOST * min(s.points, 3)
        after = s if s.phase == OVER else s.after(m.THE_END)
        known = self.ends.get(after)
        if known is None or spent + loss <= known[0] + _CLOSE:
            self.ends[after] = (spent + loss, loss, s, self.parents)
            self.cheapest = min(self.cheapest, spent + loss)

    def best(self) -> tuple[float, float]:
        """Return what the best turn found costs, and what part of it its board loses."""
        return min(((total, loss) for total, loss, _, _ in self.ends.values()), default=(NEVER, NEVER))

    def turns(self, limit: int, margin: float) -> tuple[Turn, ...]:
        """Return the turns found, the likeliest first: one for each end, then other ways to the same ends."""
        if not self.ends:
            return ()
        ends = sorted(self.ends.items(), key=lambda end: end[1][0])
        bar = min(ends[0][1][0] + margin, self.ceiling + _CLOSE)
        firsts: list[Turn] = []
        others: list[Turn] = []
        for after, (total, loss, last, parents) in ends:
            if total > bar or len(firsts) >= limit:
                break
            likely, spent = self.likelihood.most - loss, total - loss
            for number, steps in enumerate(self._ways(last, parents, limit)):
                closing: tuple[IgluMove, ...] = () if last.phase == OVER else (m.THE_END,)
                turn = Turn((*steps, *closing), after, likely, -spent)
                (others if number else firsts).append(turn)
        found = firsts + others[: max(0, limit - len(firsts))]
        return tuple(sorted(found, key=lambda turn: -turn.total))

    def _ways(self, last: IgluState, parents: Parents, limit: int) -> Iterator[tuple[IgluMove, ...]]:
        """Yield the cheapest ways to an end, each set of steps once."""
        known: set[tuple[str, ...]] = set()
        tries = 20 * limit
        todo: list[tuple[IgluState, tuple[IgluMove, ...]]] = [(last, ())]
        while todo and len(known) < limit and tries:
            s, tail = todo.pop()
            if s == self.before:
                tries -= 1
                key = tuple(sorted(map(str, tail)))
                if key not in known:
                    known.add(key)
                    yield tail
                continue
            todo += [(parent, (move, *tail)) for parent, move in parents[s][1]]


# --- the search -------------------------------------------------------------------------------------------------------


def find(
    before: IgluState, likelihood: IgluLikelihood, limit: int, most: int, above: float = -inf, margin: float = MARGIN
) -> SearchResult:
    """Return the likeliest turns of the player to move: of a total over ``above``, within ``margin`` of the best."""
    return _longer(BestFirstSearch(before, likelihood, margin, likelihood.most - above), limit, most)


def _longer(walk: BestFirstSearch, limit: int, most: int) -> SearchResult:
    """Go on up to ``most`` states of a search by lists of contents: one that is weighed takes longer."""
    found = _found(walk, limit, most * 3 // 4)
    return found if found.complete else replace(found, longer=partial(_longer, walk, limit))


def _found(walk: BestFirstSearch, limit: int, most: int, width: int = WIDTH) -> SearchResult:
    """Go on with a search up to ``most`` states in all, and return what was found."""
    before, scale = walk.before, walk.scale
    complete = walk.ahead(most)
    if complete and not scale.early and walk.best()[1] > scale.unexplained(before) + DOUBTFUL:
        scale.early = True
        walk.push(scale.least(before, 0.0), before)
        complete = walk.ahead(most)
    done = walk.done()
    chosen = walk
    if done < walk.best()[0]:
        # Not all was looked at: a few of the best states of each level lead to some turn, perhaps to a better one.
        chosen = walk.aside()
        chosen.beam(width)
    reached = done - chosen.best()[0]
    return SearchResult(chosen.turns(limit, walk.margin), complete and bool(walk.ends), chosen.looked, reached)


def nearest(before: IgluState, evidence: Evidence, most: int) -> SearchResult:
    """Return the legal turn that misses the fewest things of what was seen; ``complete``: none misses fewer."""
    places = {name: _missing(seen) for name, seen in evidence.places.items() if not isinstance(seen, Belief)}
    likelihood = IgluLikelihood(Evidence({**evidence.places, **places}), before)
    return _found(BestFirstSearch(before, likelihood, 0.0), 1, most, NARROW)


def _missing(seen: Mapping[Content, float]) -> Belief:
    """Return what each thing costs that is not as it was seen on a place."""
    counts = [{(kind, what): count for kind, what, count in things} for _, things in seen]
    things = {thing for found in counts for thing in found}
    return Belief(
        {ground: 0.0 for ground, _ in seen},
        {thing: {found.get(thing, 0): 0.0 for found in counts} for thing in things},
        -MISSED,
    )
