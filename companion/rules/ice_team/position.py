"""What lies where in Ice Team, and what can be read off it; the steps that change it are elsewhere."""

from __future__ import annotations

from abc import abstractmethod
from typing import Final, Self

from companion.rules.core import Game, State
from companion.rules.ice_team.components import FIRST_FACE, IGLOO, SEA, UNKNOWN
from companion.rules.ice_team.moves import IceMove
from companion.rules.ice_team.table import IceSetup

TEAM: Final = 4
"""Bears of a team."""


def mask_of(tiles: tuple[int, ...]) -> int:
    """Return the mask of the spaces without a tile."""
    return sum(1 << space for space, tile in enumerate(tiles) if tile == SEA)


class IcePosition(State[IceMove]):
    """A position. Spaces are indices of the layout; seats 0 and 1.

    ``tiles[i]`` is the code of what lies on space i, ``sea`` the mask of the spaces without a tile; ``bears`` are
    eight spaces, four for each seat, ``taken`` the mask of the spaces with a bear. ``gone`` are the faces of the
    tiles that left the game.
    ``phase``: ``setup``, ``act`` (move a bear), ``hop`` (leap on or stop), ``turn-up`` (an unknown tile is reached
    or left), ``pick`` (which die), ``roll``, ``freeze``, ``drift``, ``roll-both``, ``choose``, ``over``.
    ``bear`` is the bear whose action runs (or that must act again, after a paw: ``again``), ``origin`` where the
    movement began, while it goes on, ``landed`` the mask of landings of a chain of leaps. ``arrival`` is the mask of
    directions of the last movement and ``came`` its kind (``start`` out of Start), where a drift may ask for them.
    ``die`` is the picked die, or -1, ``dice`` the faces that were rolled in the Village. ``left`` are the tiles of
    the box that are thought not to have been seen (which of them exactly nobody knows: only one side shows).
    ``extra`` are bears beyond four of a team, (seat, space), which only an impossible position has.
    """

    __slots__ = (
        "actions",
        "again",
        "arrival",
        "bear",
        "bears",
        "came",
        "dice",
        "die",
        "extra",
        "fresh",
        "frozen",
        "gone",
        "landed",
        "left",
        "loser",
        "origin",
        "phase",
        "sea",
        "seat",
        "table",
        "taken",
        "tiles",
    )

    tiles: tuple[int, ...]
    bears: tuple[int, ...]
    fresh: tuple[int, int]
    frozen: tuple[int, int]
    gone: tuple[int, ...]
    dice: tuple[int, ...]
    left: tuple[int, ...]
    extra: tuple[tuple[int, int], ...]

    def __init__(self, table: IceSetup) -> None:
        self.table = table
        layout = table.layout
        floe = {"igloo": IGLOO, "floe": UNKNOWN, "sea": SEA}
        self.tiles = tuple(floe[kind] for kind in layout.kinds)
        self.sea = mask_of(self.tiles)
        self.bears = (layout.start,) * (2 * TEAM)
        self.taken = 0
        self.fresh = self.frozen = (0, 0)
        self.gone = self.dice = ()
        self.left = tuple(range(len(table.box.tiles)))
        self.phase, self.seat, self.actions, self.loser = "setup", -1, 0, -1
        self.bear, self.origin, self.arrival, self.came = -1, -1, 0, ""
        self.landed, self.again, self.die, self.extra = 0, False, -1, ()

    def copy(self) -> Self:
        """Return a copy that may still be changed by whoever made it."""
        new = object.__new__(type(self))
        new.table, new.tiles, new.sea, new.gone = self.table, self.tiles, self.sea, self.gone
        new.bears, new.taken, new.fresh, new.frozen = self.bears, self.taken, self.fresh, self.frozen
        new.phase, new.seat, new.actions, new.loser = self.phase, self.seat, self.actions, self.loser
        new.bear, new.origin, new.arrival, new.came = self.bear, self.origin, self.arrival, self.came
        new.landed, new.again, new.die, new.dice = self.landed, self.again, self.die, self.dice
        new.left, new.extra = self.left, self.extra
        return new

    @abstractmethod
    def after(self, move: IceMove) -> Self:
        """Return the position after a legal step."""

    def _teams(self) -> tuple[int, ...]:
        """Return the bears in an order of their own: which bear of a team stands where makes no difference."""
        return (*sorted(self.bears[:TEAM]), *sorted(self.bears[TEAM:]))

    def _key(self) -> tuple[object, ...]:
        places = self.tiles, self._teams(), self.extra, sorted(self.gone), self.fresh, self.frozen
        turn = self.phase, self.seat, self.actions, self.loser, self.die, self.dice
        bear = self.bears[self.bear] if self.bear >= 0 else -1
        return *places, *turn, bear, self.origin, self.arrival, self.came, self.landed, self.again

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IcePosition) and self._key() == other._key() and self.table == other.table

    def __hash__(self) -> int:
        return hash((self.tiles, self._teams(), self.fresh, self.frozen, self.phase, self.seat, self.actions))

    # --- reading the position -----------------------------------------------------------------------------------------

    @property
    def game(self) -> Game[IceMove]:
        """Return the game."""
        return self.table.game

    @property
    def names(self) -> tuple[str, ...]:
        """Return the players' names in seat order."""
        return self.table.names

    @property
    def colours(self) -> tuple[str, ...]:
        """Return the teams in seat order."""
        return self.table.colours

    def home(self, seat: int) -> int:
        """Return how many bears of a seat are in the Village."""
        return self.bears[TEAM * seat : TEAM * seat + TEAM].count(self.table.layout.village)

    def count_on(self, space: int, seat: int) -> int:
        """Return how many bears of a seat stand on a space."""
        return self.bears[TEAM * seat : TEAM * seat + TEAM].count(space) + self.extra.count((seat, space))

    def standing(self) -> int:
        """Return the mask of the spaces with a bear, Start and Village left out."""
        bit, mask = self.table.layout.bit, 0
        for space in self.bears:
            mask |= bit[space]
        for _, space in self.extra:
            mask |= bit[space]
        return mask

    def die_to_roll(self) -> int:
        """Return the die that is rolled next: the picked one, or in the Village both in turn."""
        return len(self.dice) if self.phase == "roll-both" else self.die

    def to_turn_up(self) -> int:
        """Return the space whose tile is turned up next: the one that was left, then the one that was reached."""
        return self.origin if self.origin >= 0 else self.bears[self.bear]

    def seen(self) -> list[int]:
        """Return the faces that were turned up so far, on the board or gone."""
        return [*self.gone, *(tile for tile in self.tiles if tile >= FIRST_FACE)]
