"""An immutable position of Ice Team and what each step changes.

A turn is two actions (one for the first turn of the game); an action is a move of one bear and then the effect of
the tile where it ends. What leaves no choice happens by itself: a step is a decision, a die, or a tile turned up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Final, Self

from companion.rules.core import (
    CHANCE,
    JSON,
    NOBODY,
    Outcome,
    Problem,
    Reason,
    ScoreSheet,
    evenly,
)
from companion.rules.ice_team import drifting, explain_effect, json_form, legality, score
from companion.rules.ice_team.components import (
    DIE_FACES,
    DRIFTS,
    FRAGILE,
    IGLOO,
    PAW,
    PENGUINS,
    SEA,
    SEARCHED,
    STEAL,
    TILE_TEXT,
    UNKNOWN,
)
from companion.rules.ice_team.moves import IceMove
from companion.rules.ice_team.position import TEAM, IcePosition
from companion.rules.ice_team.problems import problems

CHANCE_PHASES: Final = frozenset({"setup", "turn-up", "roll", "roll-both"})
ASKS_WAY: Final = tuple(drifts or code == UNKNOWN for code, drifts in enumerate(DRIFTS))
"""The tiles for which it matters where the bear came from: those that drift, or may do so."""


class IceTeamState(IcePosition):
    """A position with its legal steps, rulings, sheets, and what comes after a step."""

    __slots__ = ()

    def __str__(self) -> str:
        return json_form.describe(self)

    # --- what every game offers ---------------------------------------------------------------------------------------

    @property
    def to_move(self) -> int:
        """Return the seat to move, CHANCE or NOBODY."""
        if self.phase == "act":
            return self.seat
        if self.phase == "over":
            return NOBODY
        return CHANCE if self.phase in CHANCE_PHASES else self.seat

    def moves(self) -> Iterator[IceMove]:
        """Yield the legal steps."""
        return legality.moves(self)

    def refusal(self, move: IceMove) -> Reason | None:
        """Return why a step is refused, or None."""
        return legality.refusal(self, move)

    def explain_effect(self, move: IceMove) -> Reason:
        """Return what a legal step does."""
        return explain_effect.what_it_does(self, move)

    def chances(self) -> list[tuple[IceMove, float]]:
        """Return the tile sides or die faces that may come, with their probabilities."""
        if self.phase == "setup" and UNKNOWN not in self.tiles:
            return evenly([IceMove("first", colour) for colour in self.colours])
        if self.phase in {"setup", "turn-up"}:
            space = self.to_turn_up() if self.phase == "turn-up" else self.tiles.index(UNKNOWN)
            sides = Counter(TILE_TEXT[face] for tile in self.left for face in self.table.box.tiles[tile])
            name = self.table.layout.names[space]
            return [(IceMove("floe", name, face), count / sides.total()) for face, count in sides.items()]
        die = self.die_to_roll()
        faces = Counter(DIE_FACES[face] for face in self.table.box.dice[die])
        return [(IceMove("roll", str(die + 1), face), count / faces.total()) for face, count in faces.items()]

    def chance(self, rng: Random) -> IceMove:
        """Return a random tile side or die face, as the box would give it."""
        if self.phase in {"setup", "turn-up"}:
            if self.phase == "setup" and UNKNOWN not in self.tiles:
                return IceMove("first", rng.choice(self.colours))
            space = self.to_turn_up() if self.phase == "turn-up" else self.tiles.index(UNKNOWN)
            face = rng.choice(self.table.box.tiles[rng.choice(self.left)])
            return IceMove("floe", self.table.layout.names[space], TILE_TEXT[face])
        die = self.die_to_roll()
        return IceMove("roll", str(die + 1), DIE_FACES[rng.choice(self.table.box.dice[die])])

    def problems(self) -> tuple[Problem, ...]:
        """Return everything that is wrong with this position."""
        return problems(self)

    def position(self) -> dict[str, JSON]:
        """Return the position in the one form of a board."""
        return json_form.to_json(self)

    def score(self) -> ScoreSheet:
        """Return fresh and frozen fish; a tie goes to whoever has all bears home (ICE-E.2)."""
        return score.sheet(self)

    def outcome(self) -> Outcome | None:
        """Return who won and by which clause, once the game is over."""
        if self.phase != "over":
            return None
        clauses = ("ICE-E.3",) if self.loser >= 0 else ("ICE-E.1", "ICE-E.2")
        return Outcome(self.score().ranking[0], clauses)

    @property
    def end_reason(self) -> Reason | None:
        """Return how the game ended."""
        return score.end(self) if self.phase == "over" else None

    @property
    def ranking_reason(self) -> Reason:
        """Return what decides between the two as it stands (ICE-E.2, ICE-E.3)."""
        return score.ranking(self)

    # --- what a step changes ------------------------------------------------------------------------------------------

    def after(self, move: IceMove) -> Self:
        """Return the position after a legal step."""
        new = self.copy()
        _STEPS[move.kind](new, move)
        return new

    def _set_tile(self, space: int, tile: int) -> None:
        self.tiles = (*self.tiles[:space], tile, *self.tiles[space + 1 :])
        self.sea = self.sea & ~(1 << space) | (tile == SEA) << space

    def _set_bear(self, bear: int, space: int) -> None:
        bit, bears = self.table.layout.bit, list(self.bears)
        left, bears[bear] = bears[bear], space
        self.bears = tuple(bears)
        self.taken = self.taken & ~bit[left] | bit[space]
        if left in bears:  # Start, or a position that problems() speaks of
            self.taken |= bit[left]

    def _floe(self, move: IceMove) -> None:
        space, face = self.table.layout.numbers[move.a], TILE_TEXT.index(move.b)
        showing = [tile for tile in self.left if face in self.table.box.tiles[tile]]
        self._set_tile(space, face)
        if showing:
            # Which of them it is nobody sees; a choice that goes round keeps the rest of the box fair.
            used = showing[len(self.left) % len(showing)]
            self.left = tuple(tile for tile in self.left if tile != used)
        else:
            # The tiles taken for the faces before were the wrong guess; another choice fits them all.
            fitting = self.table.box.matched(self.seen()) or frozenset()
            self.left = tuple(tile for tile in range(len(self.table.box.tiles)) if tile not in fitting)
        if self.phase == "turn-up":
            if space == self.origin:
                self._arrive()
            else:
                self._effect()

    def _first(self, move: IceMove) -> None:
        self.seat = self.colours.index(move.a)
        self.phase, self.actions = "act", 1
        if not legality.can_move(self):
            self._lose()

    def _move(self, move: IceMove) -> None:
        layout = self.table.layout
        origin, target = layout.numbers[move.a], layout.numbers[move.b]
        if move.kind == "leap" or (target < layout.start and ASKS_WAY[self.tiles[target]]):
            self.arrival = layout.ways.arrival(move, self.sea, self.taken)
            self.came = move.kind if origin != layout.start else "start"
        if self.phase != "hop":
            self.bear = self.bears.index(origin, TEAM * self.seat)
            self.origin = origin
        self._set_bear(self.bear, target)
        if move.kind == "leap":
            self.phase = "hop"
            self.landed |= legality.landing(target, self.arrival)
            if legality.hops(self):
                return
            self.landed = 0
        self._arrive()

    def _stop(self, move: IceMove) -> None:
        del move
        self.landed = 0
        self._arrive()

    def _arrive(self) -> None:
        """Remove the fragile tile that was left (ICE-1.4), then let the tile of arrival act."""
        layout, origin = self.table.layout, self.origin
        self.again = False
        if origin < layout.start:
            tile = self.tiles[origin]
            if tile == UNKNOWN:
                self.phase = "turn-up"
                return
            if FRAGILE[tile]:
                self._set_tile(origin, SEA)
                self.gone = (*self.gone, tile)
        self.origin = -1
        space = self.bears[self.bear]
        if space == layout.village:
            self.phase = "roll-both"
        elif space == layout.start:
            self._finish()
        else:
            self._effect()

    def _effect(self) -> None:
        tile = self.tiles[self.bears[self.bear]]
        if tile == UNKNOWN:
            self.phase = "turn-up"
        elif tile == IGLOO:
            self._set_tile(self.bears[self.bear], SEARCHED)
            self._gain(1)
            dice = self.table.box.dice
            self.phase, self.die = ("roll", 0) if dice[0] == dice[1] else ("pick", -1)
        elif PENGUINS[tile] and self.fresh[self.seat]:
            self.phase = "freeze"
        elif DRIFTS[tile] and drifting.can_drift(self):
            self.phase = "drift"
        elif tile == PAW:
            self.phase, self.again = "act", True
            if legality.can_move(self):
                self.arrival, self.came = 0, ""
            else:
                self._finish()
        else:
            self._finish()

    def _gain(self, fish: int) -> None:
        mine = self.fresh[self.seat] + fish
        self.fresh = (mine, self.fresh[1]) if self.seat == 0 else (self.fresh[0], mine)

    def _apply(self, face: int) -> None:
        """Give fish of the bank, or steal two fresh ones, as far as there are any (ICE-2.2)."""
        if face != STEAL:
            self._gain(face + 1)
        else:
            taken = min(2, self.fresh[1 - self.seat])
            mine, theirs = self.fresh[self.seat] + taken, self.fresh[1 - self.seat] - taken
            self.fresh = (mine, theirs) if self.seat == 0 else (theirs, mine)
        self._finish()

    def _pick(self, move: IceMove) -> None:
        self.phase, self.die = "roll", int(move.a) - 1

    def _roll(self, move: IceMove) -> None:
        face = DIE_FACES.index(move.b)
        if self.phase == "roll":
            self.die = -1
            self._apply(face)
        else:
            self.dice = (*self.dice, face)
            if len(self.dice) == 2:
                self.phase = "choose"

    def _choose(self, move: IceMove) -> None:
        face, self.dice = self.dice[int(move.a) - 1], ()
        self._apply(face)

    def _freeze(self, move: IceMove) -> None:
        fish = int(move.a)
        fresh, frozen = list(self.fresh), list(self.frozen)
        fresh[self.seat] -= fish
        frozen[self.seat] += fish
        self.fresh, self.frozen = (fresh[0], fresh[1]), (frozen[0], frozen[1])
        self._finish()

    def _drift(self, move: IceMove) -> None:
        here, there = self.bears[self.bear], self.table.layout.numbers[move.a]
        self._shift([(here, there)])

    def _push(self, move: IceMove) -> None:
        self._shift(drifting.pushes(self)[self.table.layout.numbers[move.a]])

    def _shift(self, shifts: list[tuple[int, int]]) -> None:
        """Move tiles from one space to another, all together, with the bears on them (ICE-Q.10)."""
        tiles, targets = list(self.tiles), dict(shifts)
        for origin in targets:
            tiles[origin] = SEA
            self.sea |= 1 << origin
        for origin, target in shifts:
            tiles[target] = self.tiles[origin]
            self.sea &= ~(1 << target)
        self.tiles = tuple(tiles)
        self.bears = tuple([targets.get(space, space) for space in self.bears])
        self.taken = self.standing()
        self._finish()

    def _finish(self) -> None:
        """End an action: the game, the turn, or on to the second action (ICE-0.1, ICE-E.1, ICE-E.3, ICE-Q.16)."""
        self.arrival, self.came, self.bear, self.again = 0, "", -1, False
        if self.bears.count(self.table.layout.village) >= TEAM and self.home(self.seat) == TEAM:
            self.phase = "over"
            return
        self.phase = "act"
        self.actions -= 1
        if not self.actions:
            self._pass_turn()
        elif not legality.can_move(self):
            self._forfeit()

    def _pass_turn(self) -> None:
        self.seat, self.actions = 1 - self.seat, 2
        if not legality.can_move(self):
            self._lose()

    def _forfeit(self) -> None:
        """Give up a second action that is not possible (ICE-Q.16)."""
        if self.table.options["ice.blocked_second_action"] == "lose":
            self._lose()
        else:
            self._pass_turn()

    def _lose(self) -> None:
        self.phase, self.loser = "over", self.seat

    def settle(self) -> None:
        """Go on to what follows where a position leaves its player no move; for whoever reads one."""
        if self.phase != "act" or legality.can_move(self):
            return
        if self.again:
            self._finish()
        elif self.actions == 1:
            self._forfeit()
        else:
            self._lose()


_STEPS = {
    "floe": IceTeamState._floe,
    "first": IceTeamState._first,
    "walk": IceTeamState._move,
    "leap": IceTeamState._move,
    "swim": IceTeamState._move,
    "stop": IceTeamState._stop,
    "pick": IceTeamState._pick,
    "roll": IceTeamState._roll,
    "choose": IceTeamState._choose,
    "freeze": IceTeamState._freeze,
    "drift": IceTeamState._drift,
    "push": IceTeamState._push,
}
