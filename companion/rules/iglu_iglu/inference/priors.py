"""What a turn of Iglu Iglu costs for :mod:`.best_first`: each step before anything was seen, each state at least.

A step costs what makes it rare (:func:`price`: the chance of a tile, a few choices to an action). The least that a
state can still cost (:class:`Scale`) is that of the cheapest means its turn has left, and of the losses of the board
that these means cannot mend. Costs are natural logarithms, 0 or more.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import log
from operator import add
from typing import NamedTuple

from companion.rules.iglu_iglu import components, melting
from companion.rules.iglu_iglu import moves as m
from companion.rules.iglu_iglu.board import ALL
from companion.rules.iglu_iglu.inference.bounds import Means, undecided, unmelted
from companion.rules.iglu_iglu.inference.drift_bounds import sure
from companion.rules.iglu_iglu.inference.gains import (
    BUILT,
    FLED,
    HUNTED,
    KAYAKED,
    NEVER,
    POINT,
    WALKED,
    Drawn,
    Losses,
    hunting,
)
from companion.rules.iglu_iglu.inference.likelihood import IgluLikelihood
from companion.rules.iglu_iglu.moves import IgluMove
from companion.rules.iglu_iglu.position import (
    DEFENDING,
    DISPLACING,
    DRAWING,
    DRIFTING,
    FLEEING,
    MOVING,
    PEEKING,
    REVEALING,
    START,
    IgluPosition,
)

PLAYED, HARPOONED, PUSHED, EARLIER, ANSWERED = 2.5, 1.5, 3.0, 1.5, 0.5
"""What it costs to play a tile, to use a harpoon, to push a floe, to do it before melting, to answer a bear."""
STEPPED = 1.5
SAVED = min(hunting(value) / value for value in (1, 2, 3))
"""The least that animals which are all as they were seen have cost for each point: hunting saves those of points."""


# --- what a step costs ------------------------------------------------------------------------------------------------


def price(s: IgluPosition, move: IgluMove) -> float:
    """Return what a step costs before anything was seen: 0 or more, natural logarithm."""
    kind = move.kind
    if isinstance(move, m.Walk | m.Kayak):
        return (WALKED if kind == m.WALK else KAYAKED) + HARPOONED * move.harpoon
    if kind == m.HUNT:
        return HUNTED + HARPOONED if isinstance(move, m.Hunt) and move.harpoon else HUNTED
    if kind == m.BUILD:
        return BUILT
    if kind == m.STEP:
        return STEPPED
    if kind in (m.THAW, m.ENDURANCE, m.ANIMALS):
        return PLAYED + (EARLIER if not s.melted else 0.0)
    if kind == m.REVEAL:
        return _tile_price(s, move)
    if kind == m.DRAW:
        return _token_price(s, move)
    if kind == m.DRIFT:
        return PUSHED
    if kind in (m.FLEE, m.DISPLACE):
        return FLED
    if isinstance(move, m.Defend):
        return HARPOONED if move.harpoon else ANSWERED
    return 0.0


def _tile_price(s: IgluPosition, move: IgluMove) -> float:
    if not isinstance(move, m.Reveal):
        return 0.0
    red = melting.hidden_red(s)
    others = sum(s.tiles[: components.RED])
    count = red if move.face == components.KEPT else s.tiles[s.table.mix.faces.index(move.face)]
    return log((red + others) / count) if count > 0 else NEVER


def _token_price(s: IgluPosition, move: IgluMove) -> float:
    if not isinstance(move, m.Draw):
        return 0.0
    in_reserve = sum(s.reserve(token) for token in melting.drawn_tokens(s))
    return log(in_reserve / s.reserve(move.token))


# --- what a state costs at least --------------------------------------------------------------------------------------


class TurnCost(NamedTuple):
    """Which of its means a turn still uses, and what they cost; ``sure``: points it has anyhow."""

    price: float
    removals: int
    points: int
    steps: int
    free: int
    flight: bool
    sure: int


class Case(NamedTuple):
    """What the tile of a turn may be, and what that costs.

    ``red_tile``: it may be any that goes to the hand; ``drawn`` comes to one of the squares ``fresh``, a pack of ice
    too where ``pack``.
    """

    price: float
    red_tile: bool = False
    drift: bool = False
    pack: bool = False
    fresh: int = 0
    drawn: Drawn | None = None
    idle: bool = False


KNOWN = Case(0.0)


class Scale:
    """The least that a state can still cost, by what was seen."""

    def __init__(self, likelihood: IgluLikelihood) -> None:
        """Weigh with this likelihood."""
        self.likelihood = likelihood
        self.early = False
        # Whether the tile of this turn is taken for a drift where it is not known.
        self.drift_only = False
        self.ways_of: dict[object, tuple[TurnCost, ...]] = {}

    def ways(self, s: IgluPosition, case: Case = KNOWN) -> tuple[TurnCost, ...]:
        """Return the ways of using tiles that are left to a state, the cheapest first."""
        seat = s.turn
        bear = bool(s.bears) or (case.drawn is not None and case.drawn[0] == components.BEAR_TOKEN)
        key = (s.phase, s.played, s.remaining, s.points, s.melted, s.hands[seat], s.tiles, bear, case.red_tile)
        known = self.ways_of.get(key)
        if known is not None:
            return known
        means = Means(s, drift=not case.red_tile)
        points = s.points if s.melted else 3
        steps = s.remaining if s.phase not in (DRAWING,) and s.phase >= MOVING else 0
        moved = means.steps > steps
        flight = s.phase in (DEFENDING, FLEEING)
        found = []
        for thaw in (0, 1) if means.thaw else (0,):
            for animals in (0, 1) if moved else (0,):
                for harpoon in (0, 1) if means.harpoon else (0,):
                    for more in (0, means.points - points) if means.points > points else (0,):
                        paid = PLAYED * (thaw + animals + bool(more)) + HARPOONED * harpoon
                        all_steps = steps + 3 * animals
                        defended = bear and (all_steps > 0 or s.phase == DEFENDING)
                        free = harpoon + thaw + defended
                        if s.table.all_three:
                            paid += STEPPED * all_steps
                        flees = flight or bool(thaw) or defended
                        found.append(TurnCost(paid, means.melt + thaw, points + more, all_steps, free, flees, points))
        self.ways_of[key] = ways = tuple(sorted(found))
        return ways

    def cases(self, s: IgluPosition) -> list[Case]:
        """Return what the tile of this turn may be: one case where it is known."""
        if s.phase in (DRIFTING, DISPLACING):
            return [Case(PUSHED if s.phase == DRIFTING else FLED, drift=True)]
        if s.phase == DRAWING:
            first = components.FOX if s.packs >> s.square & 1 else components.FISH
            return [Case(0.0, fresh=1 << s.square, drawn=(first, s.remaining, _reserves(s, first)))]
        if not undecided(s):
            return [KNOWN]
        fresh = ALL & s.floes
        if s.phase in (PEEKING, REVEALING):
            fresh = 1 << s.square
        elif s.phase == START and not self.early:
            fresh = melting.takeable(s)
        # Only a drift brings a floe to where one has melted; a pack may thaw, too.
        melted = fresh & self.likelihood.may_water
        packed = melted | (fresh & self.likelihood.may_pack)
        red = melting.hidden_red(s)
        tiles = s.tiles
        whole = red + sum(tiles[: components.RED])
        found = []
        if red > 0:
            found.append(Case(log(whole / red), red_tile=True))
        for face in (
            (components.FISH_2, components.FISH_3, components.BEAR, components.PACK, components.DRIFT) if fresh else ()
        ):
            if tiles[face] <= 0:
                continue
            price = log(whole / tiles[face])
            if face == components.DRIFT:
                found.append(Case(price + PUSHED, drift=True))
            elif face == components.BEAR:
                if melted:
                    found.append(Case(price, fresh=melted, drawn=(components.BEAR_TOKEN, 1, (1,))))
            elif face == components.PACK:
                if packed:
                    drawn = (components.FOX, 1, _reserves(s, components.FOX))
                    found.append(Case(price, pack=True, fresh=packed, drawn=drawn))
            elif melted:
                drawn = (components.FISH, face + 2, _reserves(s, components.FISH))
                found.append(Case(price, fresh=melted, drawn=drawn))
        if self.drift_only:
            found = [case for case in found if case.drift]
        elif unmelted(s) and (s.phase != START or self.early or not fresh):
            # A tile that is played first may leave nothing to melt: then the game is over.
            found.append(Case(0.0, idle=True))
        found.sort(key=lambda case: case.price)
        return found

    def least(self, s: IgluPosition, budget: float, limit: float = NEVER) -> float:
        """Return the least that a state can still cost; anything within the budget is as good as another.

        What is beyond the limit is not told exactly either: the limit, or more.
        """
        best = limit
        for case in self.cases(s):
            if case.price >= best:
                break
            rest = self._least(s, case, best - case.price, budget - case.price)
            best = min(best, case.price + rest)
            if best <= budget:
                break
        return best

    def unexplained(self, s: IgluPosition) -> float:
        """Return the least that a board loses which a turn leads to, whatever the turn costs; no drift."""
        best = NEVER
        for case in self.cases(s):
            if not case.drift:
                drawn = case.drawn and (*case.drawn[:2], ())
                best = min(best, self._of(s, every(self.ways(s, case)), case._replace(drawn=drawn)))
        return best

    def _least(self, s: IgluPosition, case: Case, bar: float, budget: float) -> float:
        ways = self.ways(s, case)
        if len(ways) == 1:
            return self._of(s, ways[0], case, bar)
        # With all means together, free of charge: what is too much even so is given up at once.
        lowest = self._of(s, every(ways), case, bar)
        if lowest >= bar:
            return lowest
        if case.drift:
            best = NEVER
            for way in ways:
                if lowest + way.price >= min(best, bar):
                    return min(best, lowest + way.price)
                best = min(best, self._of(s, way, case, min(best, bar)))
                if best <= budget:
                    break
            return best
        return self._cheapest(s, ways, case, lowest, bar, budget)

    def _cheapest(
        self, s: IgluPosition, ways: tuple[TurnCost, ...], case: Case, lowest: float, bar: float, budget: float
    ) -> float:
        """Return what :meth:`_of` says of the cheapest of several ways without a drift: what they share is done once.

        ``lowest``: what all ways together cost at least, free of charge.
        """
        likelihood, seat = self.likelihood, s.turn
        always = likelihood.always
        grounds: dict[int, float] = {}
        tribes: dict[bool, tuple[float, Losses]] = {}
        herds: dict[tuple[int, int], Losses] = {}
        best = NEVER
        for way in ways:
            most = min(best, bar)
            if lowest + way.price >= most:
                return min(best, lowest + way.price)
            least = way.price + always + (0.0 if case.idle else POINT * min(3, way.sure))
            if (ground := grounds.get(way.removals)) is None:
                ground = likelihood.grounds_bound(s.floes, s.packs, way.removals, case.fresh if case.pack else 0)
                grounds[way.removals] = ground
            least += ground
            if least >= most or self._bear_stays(s, way):
                continue
            if (tribe := tribes.get(way.flight)) is None:
                others = [
                    likelihood.other_bound(other, s.inuit[other], s.igloos[other], way.flight)
                    for other in range(len(s.inuit))
                    if other != seat
                ]
                own = likelihood.own_bound(seat, s.inuit[seat], s.igloos[seat], way.flight)
                tribe = tribes[way.flight] = sum(others), own
            least += tribe[0]
            if least >= most:
                continue
            if (animals := herds.get((way.steps, way.free))) is None:
                animals = likelihood.animals_bound(s.fish, s.fox, s.bears, way.steps, way.free, case.fresh, case.drawn)
                herds[way.steps, way.free] = animals
            best = min(best, max(way.price, least + together(tribe[1], animals, way.points)))
            if best <= budget:
                break
        return best

    def _of(self, s: IgluPosition, way: TurnCost, case: Case, bar: float = NEVER) -> float:
        """Return the least that a state costs this way; what is beyond the bar is not told exactly.

        What takes least time comes first: most states are given up for it.
        """
        likelihood = self.likelihood
        always = way.price + likelihood.always + (0.0 if case.idle else POINT * min(3, way.sure))
        if case.drift:
            lines = likelihood.lines.grounds(s.floes, s.packs, way.removals)
            open_lines = lines[:-1] if sure(s, early=self.early) else lines
            grounds = min(open_lines, default=NEVER)
        else:
            grounds = likelihood.grounds_bound(s.floes, s.packs, way.removals, case.fresh if case.pack else 0)
            if self._bear_stays(s, way):
                return max(bar, NEVER)
        if always + grounds >= bar:
            return always + grounds
        rivals = [seat for seat in range(len(s.inuit)) if seat != s.turn]
        others = [likelihood.other_bound(seat, s.inuit[seat], s.igloos[seat], way.flight) for seat in rivals]
        if not case.drift and always + grounds + sum(others) >= bar:
            return always + grounds + sum(others)
        own = likelihood.own_bound(s.turn, s.inuit[s.turn], s.igloos[s.turn], way.flight, case.drift)
        animals = likelihood.animals_bound(
            s.fish, s.fox, s.bears, way.steps, way.free, case.fresh, case.drawn, drift=case.drift
        )
        if case.drift:
            theirs = list(zip(rivals, others, strict=True))
            total = self._drifted(s, way, own, animals, theirs, open_lines, bar - always)
        else:
            total = grounds + sum(others) + together(own, animals, way.points)
        return max(way.price, always + total)

    def _bear_stays(self, s: IgluPosition, way: TurnCost) -> bool:
        """Return whether a bear that cannot be where it is stays there: afloat no tile but an animal movement moves it.

        A harpoon reaches it only from its own floe, and only a floe thaws.
        """
        if way.steps or s.phase in (DEFENDING, FLEEING):
            return False
        return bool(s.bears & ~s.floes & self.likelihood.no_bear)

    def _drifted(
        self,
        s: IgluPosition,
        way: TurnCost,
        own: Losses,
        animals: Losses,
        rivals: Sequence[tuple[int, float]],
        lines: Sequence[float],
        bar: float,
    ) -> float:
        """Return the least loss of a board that drifts, on whatever line: no part of it gains what another loses.

        What is beyond the bar is not told exactly.
        """
        likelihood, points = self.likelihood, way.points
        mine = likelihood.lines.tribe(s.turn, s.inuit[s.turn], s.igloos[s.turn])
        theirs = [(loss, likelihood.lines.tribe(seat, s.inuit[seat], s.igloos[seat])) for seat, loss in rivals]
        herds = likelihood.lines.animals(s.fish, s.fox, s.bears)
        best = bar
        for line, loss in enumerate(lines):
            if loss >= best:
                continue
            rest = loss
            for lost, gains in theirs:
                rest += max(0.0, lost - gains[line])
            gain, herd = mine[line], herds[line]
            # More points never make it more.
            if rest + max(0.0, own[points] - gain) + max(SAVED * points, animals[points] - herd) < best:
                ours = tuple([max(0.0, lost - gain) for lost in own])
                herds_left = tuple([max(SAVED * p, lost - herd) for p, lost in enumerate(animals)])
                best = min(best, rest + together(ours, herds_left, points))
        return best


def _reserves(s: IgluPosition, first: int) -> tuple[int, ...]:
    return tuple(s.reserve(token) for token in range(first, first + 3))


@lru_cache(4096)
def every(ways: tuple[TurnCost, ...]) -> TurnCost:
    """Return all means together, free of charge."""
    steps = max(way.steps for way in ways)
    if any(way.steps != steps for way in ways):
        # Steps that need not be taken: an even number can always leave the animals where they are.
        steps += steps % 2
    return TurnCost(
        0.0,
        max(way.removals for way in ways),
        max(way.points for way in ways),
        steps,
        max(way.free for way in ways),
        any(way.flight for way in ways),
        ways[0].sure,
    )


def together(own: Losses, animals: Losses, points: int) -> float:
    """Return the least of two losses that share points."""
    points = min(points, len(own) - 1)
    if animals[0] == animals[points]:
        return own[points] + animals[0]
    least: float = min(map(add, own[points::-1], animals))
    return least
