"""What lies where in Arctic, and what can be read off it; the steps that change it are elsewhere."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

from companion.rules.arctic.components import FACE_DOWN, NOT_DEALT, RESERVE, UNKNOWN, in_play
from companion.rules.arctic.moves import ArcticMove
from companion.rules.core import JSON, Game, Problem, State

PHASES = ("setup", "A", "penalty", "B", "B2", "C", "drawn", "refill", "D", "totems", "over")
STAGES = ("normal", "final", "last")


class ArcticPosition(State[ArcticMove]):
    """A position. Cards are numbers (see :mod:`~companion.rules.arctic.components`); seats count from 0.

    ``phase``: ``setup``, ``A``, ``penalty`` (cards missing in A are turned up), ``B``, ``B2`` (an extra step may
    follow), ``C``, ``drawn`` (an unseen card comes to hand), ``refill``, ``D`` (discard, end), ``totems``, ``over``.
    ``stage``: ``normal``, ``final`` (the Reserve is in play), ``last`` (the round of phases A and B).
    ``value`` is the placement or draw value of this phase, ``count`` what was placed or drawn. ``held`` is the
    mask of the animals whose power the player to move held when the turn began. ``located`` is the mask of the
    cards that are known to lie somewhere; ``veiled`` has for each seat those of them of which is only known that
    they are among the seat's unseen cards. ``flaws`` is what a given position told twice or not at all.
    """

    __slots__ = (
        "count",
        "first",
        "flaws",
        "game_",
        "hands",
        "held",
        "located",
        "names",
        "options",
        "owners",
        "packs",
        "penalties",
        "phase",
        "pile_left",
        "piles",
        "powers",
        "reserve",
        "river",
        "seat",
        "stage",
        "tokens",
        "totems",
        "used",
        "value",
        "veiled",
    )

    game_: Game[ArcticMove]
    names: tuple[str, ...]
    options: dict[str, JSON]
    packs: tuple[int, ...]
    powers: tuple[int, ...]
    first: int
    totems: tuple[int, ...]
    phase: str
    stage: str
    seat: int
    tokens: tuple[int, ...]
    owners: tuple[int, ...]
    held: int
    hands: tuple[tuple[int, ...], ...]
    piles: tuple[tuple[int, ...], ...]
    penalties: tuple[tuple[int, ...], ...]
    river: tuple[int, ...]
    pile_left: int
    reserve: int
    located: int
    veiled: tuple[int, ...]
    value: int
    count: int
    used: int
    flaws: tuple[Problem, ...]

    def __init__(self, game: Game[ArcticMove], names: tuple[str, ...], options: dict[str, JSON]) -> None:
        n = len(names)
        self.game_, self.names, self.options = game, names, options
        self.packs, self.powers, self.first, self.totems = (), (0,) * 6, -1, (NOT_DEALT,) * n
        self.phase, self.stage, self.seat = "setup", "normal", -1
        self.tokens, self.owners, self.held = (2,) * 6, (-1,) * 6, 0
        self.hands = self.piles = self.penalties = ((),) * n
        self.river = ()
        self.reserve = RESERVE.get(n, 0)
        self.pile_left = 30 * n - self.reserve
        self.located = self.value = self.count = self.used = 0
        self.veiled = (0,) * n
        self.flaws = ()

    def copy(self) -> Self:
        """Return a copy that may still be changed by whoever made it."""
        new = object.__new__(type(self))
        new.game_, new.names, new.options = self.game_, self.names, self.options
        new.packs, new.powers, new.first, new.totems = self.packs, self.powers, self.first, self.totems
        new.phase, new.stage, new.seat = self.phase, self.stage, self.seat
        new.tokens, new.owners, new.held = self.tokens, self.owners, self.held
        new.hands, new.piles, new.penalties = self.hands, self.piles, self.penalties
        new.river, new.pile_left, new.reserve = self.river, self.pile_left, self.reserve
        new.located, new.value, new.count, new.used = self.located, self.value, self.count, self.used
        new.veiled, new.flaws = self.veiled, self.flaws
        return new

    @abstractmethod
    def after(self, move: ArcticMove) -> Self:
        """Return the position after a legal step."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArcticPosition) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        who = self.names[self.seat] if self.seat >= 0 else "-"
        return f"Arctic, phase {self.phase} ({self.stage}), {who}"

    def _key(self) -> tuple[object, ...]:
        skip = {"game_", "options", "flaws"}
        values = tuple(getattr(self, name) for name in ArcticPosition.__slots__ if name not in skip)
        return (*values, tuple(sorted(self.options.items())))

    # --- reading the position --------------------------------------------------------------------------------

    @property
    def players(self) -> int:
        """Return how many play."""
        return len(self.names)

    def all_cards(self) -> list[int]:
        """Return every card that lies somewhere, face-down ones as the card they are."""
        zones = [*self.hands, *self.piles, *self.penalties, self.river]
        return [card - FACE_DOWN if card >= FACE_DOWN else card for zone in zones for card in zone]

    def pool(self) -> int:
        """Return the mask of the cards in play that are not known to lie anywhere."""
        return in_play(self.packs) & ~self.located

    def unseen(self, seat: int) -> int:
        """Return how many cards of a seat are unseen: in hand, in the Penalty zone, face down in the pile."""
        down = FACE_DOWN + UNKNOWN
        return self.hands[seat].count(UNKNOWN) + self.penalties[seat].count(UNKNOWN) + self.piles[seat].count(down)

    def may_be(self, seat: int) -> int:
        """Return the mask of the cards that an unseen card of a seat may be; the box is counted.

        When all the seat's unseen cards are spoken for by cards that were seen to go there, it is one of those.
        """
        veiled = self.veiled[seat]
        return veiled if veiled.bit_count() >= self.unseen(seat) else veiled | self.pool()

    def is_secret(self, seat: int) -> bool:
        """Return whether the companion does not see what a seat keeps to itself: its totem is not known."""
        return self.totems[seat] == -1

    def visible(self, seat: int) -> int:
        """Return the visible card of a seat, or -1: no pile, or a card face down on top (ARC-0.1, ARC-Q.5).

        A top card whose values nobody has read counts as none, and :meth:`problems` says so.
        """
        pile = self.piles[seat]
        return pile[-1] if pile and pile[-1] < UNKNOWN else -1

    def may_use(self, power: int, animal: int, used: int) -> bool:
        """Return whether the player to move may use a power now; powers of phase A need ``held`` (ARC-A.5)."""
        if self.powers[animal] != power or self.used & used:
            return False
        if power in {3, 4, 10, 11, 12}:
            return bool(self.held >> animal & 1)
        return self.owners[animal] == self.seat

    def can_draw(self) -> bool:
        """Return whether any source still has, or may get, a card for the player who draws (ARC-C.3)."""
        return bool(
            self.river
            or (self.may_use(6, 5, 0) and self.penalties[self.seat])
            or (self.pile_left + self.reserve and (self.may_use(8, 3, 0) or self.may_use(7, 3, 0)))
        )
