"""What a turn of Iglu Iglu costs for :mod:`.weighing`: each step before anything was seen, each state at least.

A step costs what makes it rare (:func:`price`: the chance of a tile, a few choices to an action). The least that a
state can still cost (:class:`Scale`) is that of the cheapest means its turn has left, and of the losses of the board
that these means cannot mend. Costs are natural logarithms, 0 or more.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, NamedTuple

from companion.rules.iglu_iglu import box, melting
from companion.rules.iglu_iglu import moves as m
from companion.rules.iglu_iglu.board import ALL
from companion.rules.iglu_iglu.bounds import Means, undecided
from companion.rules.iglu_iglu.gains import BUILT, FLED, HUNTED, KAYAKED, NEVER, WALKED, Losses
from companion.rules.iglu_iglu.sight import Sight
from companion.rules.iglu_iglu.situation import DISPLACING, DRAWING, DRIFTING, MOVING

if TYPE_CHECKING:
    from companion.rules.iglu_iglu.moves import IgluMove
    from companion.rules.iglu_iglu.state import IgluState

PLAYED, HARPOONED, PUSHED, EARLIER, ANSWERED = 2.5, 1.5, 3.0, 1.5, 0.5
"""What it costs to play a tile, to use a harpoon, to push a floe, to do it before melting, to answer a bear."""
STEPPED = 1.5


# --- what a step costs ------------------------------------------------------------------------------------------------


def price(s: IgluState, move: IgluMove) -> float:
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


def _tile_price(s: IgluState, move: IgluMove) -> float:
    if not isinstance(move, m.Reveal):
        return 0.0
    red = melting.hidden_red(s)
    others = sum(s.tiles[: box.RED])
    count = red if move.face == box.KEPT else s.tiles[s.table.mix.faces.index(move.face)]
    return log((red + others) / count) if count > 0 else NEVER


def _token_price(s: IgluState, move: IgluMove) -> float:
    if not isinstance(move, m.Draw):
        return 0.0
    left = sum(s.reserve(token) for token in melting.drawn_tokens(s))
    return log(left / s.reserve(move.token))


# --- what a state costs at least --------------------------------------------------------------------------------------


class Way(NamedTuple):
    """Which of its means a turn still uses, and what they cost."""

    price: float
    removals: int
    points: int
    steps: int
    free: int
    flight: bool
    fresh: int


class Scale:
    """The least that a state can still cost, by what was seen."""

    def __init__(self, sight: Sight) -> None:
        """Weigh with this sight."""
        self.sight = sight
        self.early = False
        self.ways_of: dict[object, list[Way]] = {}

    def ways(self, s: IgluState) -> list[Way]:
        """Return the ways of using tiles that are left to a state, the cheapest first; the tile is no drift."""
        seat = s.turn
        key = (s.phase, s.played, s.left, s.points, s.melted, s.square, s.hands[seat], s.tiles, bool(s.bears))
        known = self.ways_of.get(key)
        if known is not None:
            return known
        means = Means(s, drift=False)
        fresh = 0
        if means.face:
            fresh = ALL if means.melt else 1 << s.square
        elif s.phase == DRAWING:
            fresh = 1 << s.square
        points = s.points if s.melted else 3
        steps = s.left if s.phase not in (DRAWING,) and s.phase >= MOVING else 0
        moved = means.steps > steps
        flight = means.flight and not means.thaw and not moved
        found = []
        for thaw in (0, 1) if means.thaw else (0,):
            for animals in (0, 1) if moved else (0,):
                for harpoon in (0, 1) if means.harpoon else (0,):
                    for more in (0, means.points - points) if means.points > points else (0,):
                        paid = PLAYED * (thaw + animals + bool(more)) + HARPOONED * harpoon
                        all_steps = steps + 3 * animals
                        flees = flight or bool(thaw) or (all_steps > 0 and bool(s.bears or means.face))
                        defended = all_steps > 0 and bool(s.bears or means.face)
                        free = harpoon + thaw + defended
                        if s.table.all_three:
                            paid += STEPPED * all_steps
                        found.append(Way(paid, means.melt + thaw, points + more, all_steps, free, flees, fresh))
        found.sort()
        self.ways_of[key] = found
        return found

    def least(self, s: IgluState, budget: float) -> float:
        """Return the least that a state can still cost; anything within the budget is as good as another."""
        sight = self.sight
        best = NEVER
        drifting_now = s.phase in (DRIFTING, DISPLACING)
        if not drifting_now:
            best = self._least(s, budget, 0.0, False)
        if best > budget and (drifting_now or undecided(s)):
            best = min(best, self._least(s, budget, sight.drift_gain(s), True))
        return best

    def _least(self, s: IgluState, budget: float, gain: float, drift: bool) -> float:
        best = NEVER
        ways = self.ways(s)
        if len(ways) > 1:
            # With all means together, free of charge: what is too much even so is given up at once.
            free = max(way.free for way in ways)
            every = Way(
                0.0,
                max(way.removals for way in ways),
                max(way.points for way in ways),
                max(way.steps for way in ways),
                free,
                ways[-1].flight,
                ways[0].fresh,
            )
            lowest = self._of(s, every, gain, drift)
            if lowest > budget:
                return lowest
        for way in ways:
            if way.price >= best or way.price > budget:
                best = min(best, way.price)
                break
            best = min(best, self._of(s, way, gain, drift))
            if best <= budget:
                break
        return best

    def _of(self, s: IgluState, way: Way, gain: float, drift: bool) -> float:
        sight = self.sight
        # A tile that is a drift brings nothing else to its square.
        fresh = 0 if drift else way.fresh
        total = way.price + sight.always - gain
        total += sight.grounds_bound(s.floes, s.packs, way.removals, fresh)
        for seat, men in enumerate(s.men):
            if seat != s.turn:
                total += sight.other_bound(seat, men, s.igloos[seat], way.flight)
        own = sight.own_bound(s.turn, s.men[s.turn], s.igloos[s.turn], way.flight, drift)
        animals = sight.animals_bound(s.fish, s.fox, s.bears, way.steps, way.free, fresh, drift)
        return max(way.price, total + together(own, animals, way.points))


def together(own: Losses, animals: Losses, points: int) -> float:
    """Return the least of two losses that share points."""
    points = min(points, len(own) - 1)
    if animals[0] == animals[points]:
        return own[points] + animals[0]
    return min(own[points - p] + animals[p] for p in range(points + 1))
