"""An immutable position of Arctic: what lies where, whose phase it is, and what a step changes.

Legality lives in :mod:`companion.rules.arctic.legality`, the flow from phase to phase here. A turn runs A (place,
then the power card moves by itself), B (two tokens, then an extra step), C (draw, refill, discard); whatever
leaves no choice happens by itself, so a step is always somebody's decision, or a card that is turned up.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING

from companion.rules.arctic import legality, position, score
from companion.rules.arctic.cards import (
    DRAW,
    FACE_DOWN,
    HAND_LIMIT,
    KIND,
    MAIN,
    PACK_MASK,
    PLACEMENT,
    RESERVE,
    UNKNOWN,
)
from companion.rules.arctic.moves import BOTTOM, UNDER, ArcticMove, arrow_step
from companion.rules.core import CHANCE, JSON, NOBODY, Outcome, Problem, Reason, ScoreSheet, State

if TYPE_CHECKING:
    from companion.rules.arctic.game import Arctic

USED_SWAP, USED_TAKE_BACK, USED_PLACE_VALUE, USED_EXTRA, USED_DRAW_VALUE, USED_GIVE = 1, 2, 4, 8, 16, 32
NOT_DEALT = -2

CHANCE_PHASES = frozenset({"setup", "penalty", "drawn", "refill", "totems"})


class ArcticState(State[ArcticMove]):
    """A position. Cards are numbers (see :mod:`~companion.rules.arctic.cards`); seats count from 0.

    ``phase``: ``setup``, ``A``, ``penalty`` (cards missing in A are turned up), ``B``, ``B2`` (an extra step may
    follow), ``C``, ``drawn`` (an unseen card comes to hand), ``refill``, ``D`` (discard, end), ``totems``, ``over``.
    ``stage``: ``normal``, ``final`` (the Reserve is in play), ``last`` (the round of phases A and B).
    ``value`` is the placement or draw value of this phase, ``count`` what was placed or drawn. ``held`` is the
    mask of the animals whose power the player to move held when the turn began.
    """

    __slots__ = (
        "count",
        "first",
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
    )

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
    value: int
    count: int
    used: int

    def __init__(self, game: Arctic, names: tuple[str, ...], options: dict[str, JSON]) -> None:
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

    def copy(self) -> ArcticState:
        """Return a copy that may still be changed by whoever made it."""
        new: ArcticState = object.__new__(ArcticState)
        new.game_, new.names, new.options = self.game_, self.names, self.options
        new.packs, new.powers, new.first, new.totems = self.packs, self.powers, self.first, self.totems
        new.phase, new.stage, new.seat = self.phase, self.stage, self.seat
        new.tokens, new.owners, new.held = self.tokens, self.owners, self.held
        new.hands, new.piles, new.penalties = self.hands, self.piles, self.penalties
        new.river, new.pile_left, new.reserve = self.river, self.pile_left, self.reserve
        new.located, new.value, new.count, new.used = self.located, self.value, self.count, self.used
        return new

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArcticState) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        who = self.names[self.seat] if self.seat >= 0 else "nobody"
        return f"Arctic, phase {self.phase} ({self.stage}), {who}"

    def _key(self) -> tuple[object, ...]:
        skip = {"game_", "options"}
        values = tuple(getattr(self, name) for name in self.__slots__ if name not in skip)
        return (*values, tuple(sorted(self.options.items())))

    # --- what every game offers ------------------------------------------------------------------------------

    @property
    def game(self) -> Arctic:
        """Return the game."""
        return self.game_

    @property
    def to_move(self) -> int:
        """Return the seat to move, CHANCE or NOBODY."""
        if self.phase == "over":
            return NOBODY
        return CHANCE if self.phase in CHANCE_PHASES else self.seat

    def moves(self) -> Iterator[ArcticMove]:
        """Yield the legal steps."""
        return legality.moves(self)

    def refusal(self, move: ArcticMove) -> Reason | None:
        """Return why a step is refused, or None."""
        return legality.refusal(self, move)

    def grounds(self, move: ArcticMove) -> Reason:
        """Return what a legal step does."""
        return legality.grounds(self, move)

    def problems(self) -> tuple[Problem, ...]:
        """Return everything that is wrong with this position."""
        return position.problems(self)

    def score(self) -> ScoreSheet:
        """Return the sheets; a totem that is still secret counts nothing yet."""
        return score.sheet(self)

    def position(self) -> dict[str, JSON]:
        """Return the position in the one form of a board."""
        return position.to_json(self)

    def view(self, player: int | None) -> dict[str, JSON]:
        """Return the position as ``player`` may see it: others' hands, penalties and totems hidden."""
        return position.to_json(self, viewer=player, hide=True)

    def outcome(self) -> Outcome | None:
        """Return the winner once all totems are known; a tie goes to the first in turn order (ARC-V.4)."""
        if self.phase != "over":
            return None
        place = self.score().ranking[0]
        return Outcome(place, ("ARC-E.1", "ARC-V.4"))

    def chance(self, rng: Random) -> ArcticMove:
        """Return a random card, pack, side or totem, as the box would give it; never ``?``."""
        return rng.choice([move for move in self.moves() if "?" not in str(move)])

    # --- reading the position --------------------------------------------------------------------------------

    @property
    def players(self) -> int:
        """Return how many play."""
        return len(self.names)

    def pool(self) -> int:
        """Return the mask of the cards in play that have not been located."""
        mask = 0
        for pack in self.packs:
            mask |= PACK_MASK[pack]
        return mask & ~self.located

    def visible(self, seat: int) -> int:
        """Return the visible card of a seat, or -1: no pile, or a card face down on top (ARC-0.1, ARC-Q.5)."""
        pile = self.piles[seat]
        return pile[-1] if pile and pile[-1] < FACE_DOWN else -1

    def may_use(self, power: int, animal: int, used: int) -> bool:
        """Return whether the player to move may use a power now; powers of phase A need ``held`` (ARC-A.5)."""
        if self.powers[animal] != power or self.used & used:
            return False
        if power in {3, 4, 10, 11, 12}:
            return bool(self.held >> animal & 1)
        return self.owners[animal] == self.seat

    # --- what a step changes ---------------------------------------------------------------------------------

    def after(self, move: ArcticMove) -> ArcticState:
        """Return the position after a legal step."""
        new = self.copy()
        _STEPS[move.kind](new, move)
        return new

    def _swap_cards(self, zone: str, seat: int, gone: int, come: int) -> None:
        """Take one card out of a seat's zone and put another in (-1: none); unseen cards fit any name."""
        zones: tuple[tuple[int, ...], ...] = getattr(self, zone)
        cards = list(zones[seat])
        if gone >= 0:
            cards.remove(gone if gone in cards else UNKNOWN)
        if come >= 0:
            cards.append(come)
            cards.sort()
        setattr(self, zone, (*zones[:seat], tuple(cards), *zones[seat + 1 :]))

    def _set_pile(self, pile: tuple[int, ...]) -> None:
        self.piles = (*self.piles[: self.seat], pile, *self.piles[self.seat + 1 :])

    def _locate(self, card: int) -> None:
        if card < UNKNOWN:
            self.located |= 1 << card

    def _pack(self, move: ArcticMove) -> None:
        self.packs = tuple(sorted((*self.packs, move.a)))

    def _side(self, move: ArcticMove) -> None:
        self.powers = (*self.powers[: move.a], move.b, *self.powers[move.a + 1 :])

    def _first(self, move: ArcticMove) -> None:
        self.first = move.a

    def _totem(self, move: ArcticMove) -> None:
        self.totems = (*self.totems[: move.a], move.b, *self.totems[move.a + 1 :])
        if self.phase == "totems" and -1 not in self.totems:
            self.phase = "over"

    def _hand(self, move: ArcticMove) -> None:
        self._swap_cards("hands", move.a, -1, move.b)
        self._locate(move.b)
        self.pile_left -= 1
        if self.phase == "drawn":
            self._settle_draws()

    def _river(self, move: ArcticMove) -> None:
        self.river = tuple(sorted((*self.river, move.a)))
        self._locate(move.a)
        self.pile_left -= 1
        if self.phase == "setup":
            if len(self.river) == 6:
                self.seat = self.first
                self._begin_turn()
            return
        if self.options["arc.end_trigger"] == "bga" and self.pile_left == 0:
            self._open_reserve()
        self._refill()

    def _begin_turn(self) -> None:
        self.phase, self.count, self.used = "A", 0, 0
        self.held = sum(1 << animal for animal in range(6) if self.owners[animal] == self.seat)
        visible = self.visible(self.seat)
        self.value = PLACEMENT[visible] if visible >= 0 else 1
        self._settle_placing()

    def _swap(self, move: ArcticMove) -> None:
        self.used |= USED_SWAP
        self._swap_cards("hands", self.seat, move.a, move.b)
        self._locate(move.a)
        river = [card for card in self.river if card != move.b]
        self.river = tuple(sorted((*river, move.a)))

    def _take_back(self, move: ArcticMove) -> None:
        del move
        self.used |= USED_TAKE_BACK
        pile = self.piles[self.seat]
        self._swap_cards("hands", self.seat, -1, pile[-1])
        self._set_pile(pile[:-1])
        visible = self.visible(self.seat)
        # A change of the value by ARC-P.10 that was made before stays: it is of this turn's value.
        change = self.value - PLACEMENT[pile[-1]]
        self.value = max(0, (PLACEMENT[visible] if visible >= 0 else 1) + change)
        self._settle_placing()

    def _value(self, move: ArcticMove) -> None:
        self.value += move.a
        if self.phase == "A":
            self.used |= USED_PLACE_VALUE
            self._settle_placing()
        else:
            self.used |= USED_DRAW_VALUE
            self._settle_draws()

    def _place(self, move: ArcticMove) -> None:
        self._swap_cards("hands", self.seat, move.a, -1)
        self._locate(move.a)
        pile = self.piles[self.seat]
        if move.b == BOTTOM:
            self._set_pile((move.a, *pile))
        elif move.b == UNDER:
            self._set_pile((*pile[:-1], FACE_DOWN + move.a, pile[-1]))
        else:
            self._set_pile((*pile, move.a))
        self.count += 1
        self._settle_placing()

    def _settle_placing(self) -> None:
        """Go on to the power card when the value is reached or the hand is empty and no power can help."""
        if self.count >= self.value:
            self._take_power()
        elif not self.hands[self.seat]:
            take_back = self.count == 0 and self.visible(self.seat) >= 0 and self.may_use(4, 4, USED_TAKE_BACK)
            if not (take_back or self.may_use(10, 1, USED_PLACE_VALUE)):
                self._pay_missing()

    def _pay_missing(self) -> None:
        """Turn to the penalties for the cards that are missing (ARC-A.3); the pile may end (ARC-E.4)."""
        self.value = min(self.value - self.count, self.pile_left + self.reserve)
        self.count = 0
        self._settle_penalty()

    def _settle_penalty(self) -> None:
        if self.count >= self.value:
            self._take_power()
            return
        if self.pile_left == 0:
            self._open_reserve()
        self.phase = "penalty"

    def _penalty(self, move: ArcticMove) -> None:
        self._swap_cards("penalties", self.seat, -1, move.a)
        self._locate(move.a)
        self.pile_left -= 1
        self.count += 1
        self._settle_penalty()

    def _open_reserve(self) -> None:
        if self.stage == "normal" and self.reserve:
            self.stage = "final"
            self.pile_left, self.reserve = self.pile_left + self.reserve, 0

    def _take_power(self) -> None:
        visible = self.visible(self.seat)
        if visible < 0 or visible >= KIND:
            self._begin_draws()
            return
        main = MAIN[visible]
        self.owners = (*self.owners[:main], self.seat, *self.owners[main + 1 :])
        self.phase = "B"

    def _tokens(self, move: ArcticMove) -> None:
        self._step(move.a)
        self._step(move.b)
        if legality.extra_animal(self) >= 0:
            self.phase = "B2"
        else:
            self._begin_draws()

    def _step(self, code: int) -> None:
        animal, step = arrow_step(code)
        self.tokens = (*self.tokens[:animal], self.tokens[animal] + step, *self.tokens[animal + 1 :])

    def _extra(self, move: ArcticMove) -> None:
        self.used |= USED_EXTRA
        self._step(move.a)
        self._begin_draws()

    def _begin_draws(self) -> None:
        if self.stage == "last":
            self._end_turn()
            return
        visible = self.visible(self.seat)
        self.phase, self.count = "C", 0
        self.value = DRAW[visible] if visible >= 0 else 0
        if self.value > 0 or not self.may_use(9, 1, USED_DRAW_VALUE):
            self._settle_draws()

    def can_draw(self) -> bool:
        """Return whether any source still has a card for the player who draws (ARC-C.3)."""
        return bool(
            self.river
            or (self.may_use(6, 5, 0) and self.penalties[self.seat])
            or (self.may_use(8, 3, 0) and self.pile_left + self.reserve)
        )

    def _settle_draws(self) -> None:
        """Refill when all is drawn, or at once with ARC-P.7; else the player goes on drawing."""
        if self.count >= self.value or self.may_use(7, 3, 0) or not self.can_draw():
            self._refill()
        else:
            self.phase = "C"

    def _draw(self, move: ArcticMove) -> None:
        self.river = tuple(card for card in self.river if card != move.a)
        self._swap_cards("hands", self.seat, -1, move.a)
        self.count += 1
        self._settle_draws()

    def _draw_penalty(self, move: ArcticMove) -> None:
        self._swap_cards("penalties", self.seat, move.a, -1)
        self._swap_cards("hands", self.seat, -1, move.a)
        self._locate(move.a)
        self.count += 1
        self._settle_draws()

    def _draw_pile(self, move: ArcticMove) -> None:
        del move
        if self.pile_left == 0:
            self._open_reserve()
        self.count += 1
        self.phase = "drawn"

    def _refill(self) -> None:
        """Turn up a card for the River while it has room and there are cards (ARC-C.1, ARC-E.1, ARC-E.5)."""
        if len(self.river) < 6:
            if self.pile_left == 0:
                self._open_reserve()
            if self.pile_left:
                self.phase = "refill"
                return
        if self.count < self.value and self.can_draw():
            self.phase = "C"
            return
        self.phase = "D"
        self._settle_end()

    def _settle_end(self) -> None:
        can_give = self.may_use(5, 5, USED_GIVE) and self.penalties[self.seat]
        if len(self.hands[self.seat]) <= HAND_LIMIT and not can_give:
            self._end_turn()

    def _give(self, move: ArcticMove) -> None:
        self.used |= USED_GIVE
        self._swap_cards("penalties", self.seat, move.a, -1)
        self._swap_cards("penalties", move.b, -1, move.a)
        self._locate(move.a)
        if self.phase == "D":
            self._settle_end()

    def _discard(self, move: ArcticMove) -> None:
        self._swap_cards("hands", self.seat, move.a, -1)
        self._swap_cards("penalties", self.seat, -1, move.a)
        self._locate(move.a)
        self._settle_end()

    def _end(self, move: ArcticMove) -> None:
        del move
        if self.phase == "A":
            self._pay_missing()
        elif self.phase == "B2":
            self._begin_draws()
        elif self.phase == "C":
            self._refill()
        else:
            self._end_turn()

    def _end_turn(self) -> None:
        self.seat = (self.seat + 1) % self.players
        if self.seat == self.first:
            if self.stage == "last":
                self.phase = "totems" if -1 in self.totems else "over"
                self.seat, self.held, self.used, self.value, self.count = -1, 0, 0, 0, 0
                return
            if self.stage == "final":
                self.stage = "last"
        self._begin_turn()


_STEPS = {
    "pack": ArcticState._pack,
    "side": ArcticState._side,
    "first": ArcticState._first,
    "totem": ArcticState._totem,
    "hand": ArcticState._hand,
    "river": ArcticState._river,
    "penalty": ArcticState._penalty,
    "swap": ArcticState._swap,
    "take-back": ArcticState._take_back,
    "value": ArcticState._value,
    "place": ArcticState._place,
    "tokens": ArcticState._tokens,
    "extra": ArcticState._extra,
    "draw": ArcticState._draw,
    "draw-penalty": ArcticState._draw_penalty,
    "draw-pile": ArcticState._draw_pile,
    "give": ArcticState._give,
    "discard": ArcticState._discard,
    "end": ArcticState._end,
}
