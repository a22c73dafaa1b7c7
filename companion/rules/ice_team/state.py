"""An immutable position of Ice Team and what each step changes.

A turn is two actions (one for the first turn of the game); an action is a move of one bear and then the effect of
the tile where it ends. What leaves no choice happens by itself: a step is a decision, a die, or a tile turned up.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING

from companion.rules.core import (
    CHANCE,
    JSON,
    NOBODY,
    Outcome,
    PlayerScore,
    Problem,
    Reason,
    ScoreLine,
    ScoreSheet,
    State,
)
from companion.rules.ice_team import legality, position
from companion.rules.ice_team.board import Layout
from companion.rules.ice_team.box import (
    DIE_FACES,
    DRIFTS,
    FRAGILE,
    IGLOO,
    PAW,
    PENGUINS,
    SEA,
    SEARCHED,
    TILE_TEXT,
    UNKNOWN,
    Box,
)
from companion.rules.ice_team.moves import IceMove

if TYPE_CHECKING:
    from companion.rules.ice_team.game import IceTeam

CHANCE_PHASES = frozenset({"setup", "turn-up", "roll", "roll-both"})
STEAL = DIE_FACES.index("steal")
HOME = 4


class IceTeamState(State[IceMove]):
    """A position. Spaces are indices of the layout; seats 0 and 1.

    ``tiles[i]`` is the code of what lies on space i; ``bears`` are eight spaces, four for each seat.
    ``phase``: ``setup``, ``act`` (move a bear), ``hop`` (leap on or stop), ``turn-up`` (an unknown tile is
    reached), ``pick`` (which die), ``roll``, ``freeze``, ``drift``, ``roll-both``, ``choose``, ``over``.
    ``bear`` is the bear whose action runs (or that must act again, after a paw: ``again``), ``origin`` where the
    action began, ``arrival`` the mask of directions of its last movement, ``been`` the mask of landings.
    ``seen`` are the faces turned up so far, ``left`` the tiles of the box that are thought not to be on the board;
    ``ways`` keeps what was worked out of movements here.
    """

    __slots__ = (
        "actions",
        "again",
        "arrival",
        "bear",
        "bears",
        "been",
        "box",
        "colours",
        "dice",
        "fresh",
        "frozen",
        "game_",
        "layout",
        "left",
        "loser",
        "names",
        "options",
        "origin",
        "phase",
        "seat",
        "seen",
        "tiles",
        "ways",
    )

    colours: tuple[str, ...]
    names: tuple[str, ...]
    options: dict[str, JSON]
    tiles: tuple[int, ...]
    bears: tuple[int, ...]
    fresh: tuple[int, int]
    frozen: tuple[int, int]
    dice: tuple[int, ...]
    left: tuple[int, ...]
    seen: tuple[int, ...]

    def __init__(
        self, game: IceTeam, layout: Layout, box: Box, players: tuple[tuple[str, str], ...], options: dict[str, JSON]
    ) -> None:
        self.game_, self.layout, self.box, self.options = game, layout, box, options
        self.names = tuple(name for name, _ in players)
        self.colours = tuple(colour for _, colour in players)
        floe = {"igloo": IGLOO, "floe": UNKNOWN, "sea": SEA}
        self.tiles = tuple(floe[kind] for kind in layout.kinds)
        self.bears = (layout.start,) * 8
        self.fresh = self.frozen = (0, 0)
        self.dice: tuple[int, ...] = ()
        self.left = tuple(range(len(box.tiles)))
        self.seen = ()
        self.ways: dict[int, legality.Ways] = {}
        self.phase, self.seat, self.actions = "setup", -1, 0
        self.bear, self.origin, self.arrival, self.been, self.again, self.loser = -1, -1, 0, 0, False, -1

    def copy(self) -> IceTeamState:
        """Return a copy that may still be changed by whoever made it."""
        new: IceTeamState = object.__new__(IceTeamState)
        new.game_, new.layout, new.box, new.options = self.game_, self.layout, self.box, self.options
        new.names, new.colours, new.tiles, new.bears = self.names, self.colours, self.tiles, self.bears
        new.fresh, new.frozen, new.dice = self.fresh, self.frozen, self.dice
        new.left, new.seen = self.left, self.seen
        new.phase, new.seat, new.actions, new.loser = self.phase, self.seat, self.actions, self.loser
        new.bear, new.origin, new.arrival, new.been = self.bear, self.origin, self.arrival, self.been
        new.again = self.again
        new.ways = {}
        return new

    def _key(self) -> tuple[object, ...]:
        skip = {"game_", "options", "box", "layout", "left", "seen", "ways"}
        values = tuple(getattr(self, name) for name in self.__slots__ if name not in skip)
        return (*values, self.layout.names, tuple(sorted(self.options.items())))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IceTeamState) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        who = self.names[self.seat] if self.seat >= 0 else "nobody"
        return f"Ice Team, phase {self.phase}, {who}, actions left {self.actions}"

    # --- what every game offers ------------------------------------------------------------------------------

    @property
    def game(self) -> IceTeam:
        """Return the game."""
        return self.game_

    @property
    def to_move(self) -> int:
        """Return the seat to move, CHANCE or NOBODY."""
        if self.phase == "over":
            return NOBODY
        return CHANCE if self.phase in CHANCE_PHASES else self.seat

    def moves(self) -> Iterator[IceMove]:
        """Yield the legal steps."""
        return legality.moves(self)

    def refusal(self, move: IceMove) -> Reason | None:
        """Return why a step is refused, or None."""
        return legality.refusal(self, move)

    def grounds(self, move: IceMove) -> Reason:
        """Return what a legal step does."""
        return legality.grounds(self, move)

    def chance(self, rng: Random) -> IceMove:
        """Return a random tile side or die face, as the box would give it."""
        if self.phase == "setup" and UNKNOWN not in self.tiles:
            return IceMove("first", rng.choice(self.colours))
        if self.phase in {"setup", "turn-up"}:
            space = self.bears[self.bear] if self.phase == "turn-up" else self.tiles.index(UNKNOWN)
            face = rng.choice(self.box.tiles[rng.choice(self.left)])
            return IceMove("floe", self.layout.names[space], TILE_TEXT[face])
        die = self.die_to_roll()
        return IceMove("roll", str(die + 1), DIE_FACES[rng.choice(self.box.dice[die])])

    def problems(self) -> tuple[Problem, ...]:
        """Return everything that is wrong with this position."""
        return position.problems(self)

    def position(self) -> dict[str, JSON]:
        """Return the position in the one form of a board."""
        return position.to_json(self)

    def score(self) -> ScoreSheet:
        """Return fresh and frozen fish; a tie goes to whoever has all bears home (ICE-E.2)."""
        sheets = tuple(
            PlayerScore(
                seat,
                (
                    ScoreLine("fresh-fish", self.fresh[seat], ("ICE-E.2",), {"count": self.fresh[seat]}),
                    ScoreLine("frozen-fish", self.frozen[seat], ("ICE-E.2", "ICE-2.4"), {"count": self.frozen[seat]}),
                ),
                (int(self.home(seat) == HOME),),
            )
            for seat in (0, 1)
        )
        # Whoever is blocked has lost, whatever the fish say (ICE-E.3).
        return ScoreSheet(sheets, ((1 - self.loser,), (self.loser,)) if self.loser >= 0 else ())

    def outcome(self) -> Outcome | None:
        """Return who won and by which clause, once the game is over."""
        if self.phase != "over":
            return None
        clauses = ("ICE-E.3",) if self.loser >= 0 else ("ICE-E.1", "ICE-E.2")
        return Outcome(self.score().ranking[0], clauses)

    # --- reading the position --------------------------------------------------------------------------------

    def home(self, seat: int) -> int:
        """Return how many bears of a seat are in the Village."""
        return self.bears[4 * seat : 4 * seat + 4].count(self.layout.village)

    def occupied(self) -> int:
        """Return the mask of the spaces with a bear, Start and Village left out."""
        mask, start = 0, self.layout.start
        for space in self.bears:
            if space < start:
                mask |= 1 << space
        return mask

    def die_to_roll(self) -> int:
        """Return the die that is rolled next: the picked one, or in the Village both in turn."""
        return len(self.dice) if self.phase == "roll-both" else self.dice[0]

    # --- what a step changes ---------------------------------------------------------------------------------

    def after(self, move: IceMove) -> IceTeamState:
        """Return the position after a legal step."""
        new = self.copy()
        _STEPS[move.kind](new, move)
        return new

    def _set_tile(self, space: int, tile: int) -> None:
        self.tiles = (*self.tiles[:space], tile, *self.tiles[space + 1 :])
        self.ways = {}

    def _set_bear(self, bear: int, space: int) -> None:
        self.bears = (*self.bears[:bear], space, *self.bears[bear + 1 :])
        self.ways = {}

    def _floe(self, move: IceMove) -> None:
        face = TILE_TEXT.index(move.b)
        self._set_tile(self.layout.index(move.a), face)
        used = legality.tile_with(self, face)
        self.seen = (*self.seen, face)
        if used >= 0:
            self.left = tuple(tile for tile in self.left if tile != used)
        else:
            # The tiles taken for the faces before were the wrong guess; another choice fits them all.
            fitting = self.box.matched(self.seen) or frozenset()
            self.left = tuple(tile for tile in range(len(self.box.tiles)) if tile not in fitting)
        if self.phase == "turn-up":
            self._effect()

    def _first(self, move: IceMove) -> None:
        self.seat = self.colours.index(move.a)
        self.phase, self.actions = "act", 1

    def _move(self, move: IceMove) -> None:
        origin, target = self.layout.index(move.a), self.layout.index(move.b)
        self.arrival = legality.arrival(self, move.kind, origin, target)
        if self.phase != "hop":
            self.bear = legality.bear_at(self, origin)
            self.origin, self.been = origin, 0
        self._set_bear(self.bear, target)
        if move.kind == "leap" and target < self.layout.start:
            self.been |= 1 << target
            self.phase = "hop"
            if legality.can_hop(self):
                return
        self._arrive()

    def _stop(self, move: IceMove) -> None:
        del move
        self._arrive()

    def _arrive(self) -> None:
        """Remove the fragile tile that was left (ICE-1.4), then let the tile of arrival act."""
        self.again, self.been = False, 0
        if self.origin < self.layout.start and FRAGILE[self.tiles[self.origin]]:
            self._set_tile(self.origin, SEA)
        self.origin = -1
        space = self.bears[self.bear]
        if space == self.layout.village:
            self.phase, self.dice = "roll-both", ()
        elif space == self.layout.start:
            self._finish()
        elif self.tiles[space] == UNKNOWN:
            self.phase = "turn-up"
        else:
            self._effect()

    def _effect(self) -> None:
        tile = self.tiles[self.bears[self.bear]]
        if tile == IGLOO:
            self._set_tile(self.bears[self.bear], SEARCHED)
            self._gain(1)
            if self.box.dice[0] == self.box.dice[1]:
                self.phase, self.dice = "roll", (0,)
            else:
                self.phase, self.dice = "pick", ()
        elif PENGUINS[tile] and self.fresh[self.seat]:
            self.phase = "freeze"
        elif DRIFTS[tile] and legality.can_drift(self):
            self.phase = "drift"
        elif tile == PAW:
            self.again, self.phase = True, "act"
            if not legality.can_move(self):
                self.again = False
                self._finish()
        else:
            self._finish()

    def _gain(self, fish: int) -> None:
        mine = self.fresh[self.seat] + fish
        self.fresh = (mine, self.fresh[1]) if self.seat == 0 else (self.fresh[0], mine)

    def _die(self, face: int) -> None:
        if face != STEAL:
            self._gain(face + 1)
            return
        taken = min(2, self.fresh[1 - self.seat])
        mine, theirs = self.fresh[self.seat] + taken, self.fresh[1 - self.seat] - taken
        self.fresh = (mine, theirs) if self.seat == 0 else (theirs, mine)

    def _pick(self, move: IceMove) -> None:
        self.phase, self.dice = "roll", (int(move.a) - 1,)

    def _roll(self, move: IceMove) -> None:
        face = DIE_FACES.index(move.b)
        if self.phase == "roll":
            self.dice = ()
            self._die(face)
            self._finish()
        else:
            self.dice = (*self.dice, face)
            if len(self.dice) == 2:
                self.phase = "choose"

    def _choose(self, move: IceMove) -> None:
        face, self.dice = self.dice[int(move.a) - 1], ()
        self._die(face)
        self._finish()

    def _freeze(self, move: IceMove) -> None:
        fish = int(move.a)
        fresh, frozen = list(self.fresh), list(self.frozen)
        fresh[self.seat] -= fish
        frozen[self.seat] += fish
        self.fresh, self.frozen = (fresh[0], fresh[1]), (frozen[0], frozen[1])
        self._finish()

    def _drift(self, move: IceMove) -> None:
        here, there = self.bears[self.bear], self.layout.index(move.a)
        tile = self.tiles[here]
        self._set_tile(here, SEA)
        self._set_tile(there, tile)
        self._set_bear(self.bear, there)
        self._finish()

    def _push(self, move: IceMove) -> None:
        shifts = legality.pushes(self)[self.layout.index(move.a)]
        tiles, bears = list(self.tiles), list(self.bears)
        for origin, _ in shifts:
            tiles[origin] = SEA
        for origin, target in shifts:
            tiles[target] = self.tiles[origin]
        targets = dict(shifts)
        self.tiles = tuple(tiles)
        self.bears = tuple(targets.get(space, space) for space in bears)
        self.ways = {}
        self._finish()

    def _finish(self) -> None:
        """End an action: the game, the turn, or on to the second action (ICE-0.1, ICE-E.1, ICE-E.3, ICE-Q.16)."""
        self.arrival, self.bear, self.again = 0, -1, False
        if self.home(self.seat) == HOME:
            self.phase = "over"
            return
        self.phase = "act"
        self.actions -= 1
        if self.actions and not legality.can_move(self):
            if self.options["ice.blocked_second_action"] == "lose":
                self.phase, self.loser = "over", self.seat
                return
            self.actions = 0
        if self.actions == 0:
            self.seat, self.actions = 1 - self.seat, 2
            if not legality.can_move(self):
                self.phase, self.loser = "over", self.seat


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
