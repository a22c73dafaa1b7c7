"""An immutable position of Arctic: what every game offers, and what a step changes.

Legality lives in :mod:`companion.rules.arctic.legality`, the flow from phase to phase here. A turn runs A (place,
then the power card moves by itself), B (two tokens, then an extra step), C (draw, refill, discard); whatever
leaves no choice happens by itself, so a step is always somebody's decision, or a card that is turned up.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Self

from companion.rules.arctic import explain_effect, explain_refusal, json_form, legality, problems, score
from companion.rules.arctic.components import (
    DRAW,
    FACE_DOWN,
    HAND_LIMIT,
    MAIN,
    PLACEMENT,
    RIVER,
    UNKNOWN,
    USED_DISCARD,
    USED_DRAW_VALUE,
    USED_EXTRA,
    USED_GIVE,
    USED_PLACE_VALUE,
    USED_SWAP,
    USED_TAKE_BACK,
    cards_of,
)
from companion.rules.arctic.moves import BOTTOM, UNDER, ArcticMove, arrow_step
from companion.rules.arctic.position import ArcticPosition
from companion.rules.core import CHANCE, JSON, NOBODY, Game, Outcome, Problem, Reason, ScoreSheet, evenly

CHANCE_PHASES = frozenset({"setup", "penalty", "drawn", "refill", "totems"})


class ArcticState(ArcticPosition):
    """A position with its legal steps, rulings, sheets, and what comes after a step."""

    __slots__ = ()

    # --- what every game offers ------------------------------------------------------------------------------

    @property
    def game(self) -> Game[ArcticMove]:
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
        return None if legality.allowed(self, move) else explain_refusal.why_not(self, move)

    def explain_effect(self, move: ArcticMove) -> Reason:
        """Return what a legal step does."""
        return explain_effect.what_it_does(self, move)

    def problems(self) -> tuple[Problem, ...]:
        """Return everything that is wrong with this position."""
        return problems.problems(self)

    def score(self) -> ScoreSheet:
        """Return the sheets; a totem that is still secret counts nothing yet."""
        return score.sheet(self)

    def position(self) -> dict[str, JSON]:
        """Return the position in the one form of a board."""
        return json_form.to_json(self)

    def view(self, player: int | None) -> dict[str, JSON]:
        """Return the position as ``player`` may see it: others' hands, penalties and totems hidden."""
        return json_form.to_json(json_form.hidden_from(self, player))

    def outcome(self) -> Outcome | None:
        """Return the winner once all totems are known; a tie goes to the first in turn order (ARC-V.4)."""
        if self.phase != "over":
            return None
        place = self.score().ranking[0]
        return Outcome(place, ("ARC-E.1", "ARC-V.4"))

    @property
    def end_reason(self) -> Reason | None:
        """Return how the game ended, or None while it goes on."""
        return Reason("ended", {}) if self.phase == "over" else None

    @property
    def ranking_reason(self) -> Reason | None:
        """Return what decides between the first and the others as it stands; None for a pile alone."""
        return score.decision(self)

    def chances(self) -> list[tuple[ArcticMove, float]]:
        """Return the cards, packs, sides, totems that may come, all alike; never what is not seen (``?``)."""
        return evenly(self._comes())

    def chance(self, rng: Random) -> ArcticMove:
        """Return a random card, pack, side or totem, as the box would give it; never ``?``."""
        return rng.choice(self._comes())

    def _comes(self) -> list[ArcticMove]:
        cards = cards_of(self.pool()) if self.phase in {"refill", "penalty", "drawn"} else []
        if self.phase == "drawn":
            return [ArcticMove("hand", self.seat, card) for card in cards]
        if cards:
            kind = "river" if self.phase == "refill" else "penalty"
            return [ArcticMove(kind, card) for card in cards]
        return [move for move in self.moves() if UNKNOWN not in move and (move.kind, move.b) != ("totem", -1)]

    # --- what a step changes ---------------------------------------------------------------------------------

    def after(self, move: ArcticMove) -> Self:
        """Return the position after a legal step."""
        new = self.copy()
        _STEPS[move.kind](new, move)
        return new

    def _leave(self, zone: str, seat: int, card: int) -> None:
        """Take a card out of a seat's hand or Penalty zone; ``?`` is one that nobody has shown us."""
        zones: tuple[tuple[int, ...], ...] = getattr(self, zone)
        cards = list(zones[seat])
        if card == UNKNOWN:
            # What was seen to go there may be what leaves now: none of it has a known place any more.
            known = sum(1 << one for one in cards if one < UNKNOWN)
            cards = [UNKNOWN] * (len(cards) - 1)
            self.veiled = (*self.veiled[:seat], self.veiled[seat] | known, *self.veiled[seat + 1 :])
        elif card in cards:
            cards.remove(card)
        else:
            cards.remove(UNKNOWN)
            self.located |= 1 << card
            self.veiled = (*self.veiled[:seat], self.veiled[seat] & ~(1 << card), *self.veiled[seat + 1 :])
        setattr(self, zone, (*zones[:seat], tuple(cards), *zones[seat + 1 :]))

    def _enter(self, zone: str, seat: int, card: int) -> None:
        zones: tuple[tuple[int, ...], ...] = getattr(self, zone)
        setattr(self, zone, (*zones[:seat], tuple(sorted((*zones[seat], card))), *zones[seat + 1 :]))

    def _turned_up(self, card: int) -> None:
        """Count a card of the pile that is turned up, or drawn unseen; the option asks when it was the last one."""
        if card < UNKNOWN:
            self.located |= 1 << card
        self.pile_left -= 1
        if self.pile_left == 0 and self.options["arc.end_trigger"] == "bga":
            self._open_reserve()

    def _set_pile(self, pile: tuple[int, ...]) -> None:
        self.piles = (*self.piles[: self.seat], pile, *self.piles[self.seat + 1 :])

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
        self._enter("hands", move.a, move.b)
        self._turned_up(move.b)
        if self.phase == "drawn":
            self._settle_draws()

    def _river(self, move: ArcticMove) -> None:
        self.river = tuple(sorted((*self.river, move.a)))
        self._turned_up(move.a)
        if self.phase == "refill":
            self._refill()
        elif len(self.river) == RIVER:
            self.seat = self.first
            self._begin_turn()

    def _begin_turn(self) -> None:
        self.phase, self.count, self.used = "A", 0, 0
        self.held = sum(1 << animal for animal in range(6) if self.owners[animal] == self.seat)
        visible = self.visible(self.seat)
        self.value = PLACEMENT[visible] if visible >= 0 else 1
        self._settle_placing()

    def _swap(self, move: ArcticMove) -> None:
        self.used |= USED_SWAP
        self._leave("hands", self.seat, move.a)
        self._enter("hands", self.seat, move.b)
        river = [card for card in self.river if card != move.b]
        self.river = tuple(sorted((*river, move.a)))

    def _take_back(self, move: ArcticMove) -> None:
        del move
        self.used |= USED_TAKE_BACK
        pile = self.piles[self.seat]
        self._enter("hands", self.seat, pile[-1])
        self._set_pile(pile[:-1])
        visible = self.visible(self.seat)
        # A change of the value by ARC-P.10 that was made before stays: it is of this turn's value.
        change = self.value - PLACEMENT[pile[-1]]
        self.value = (PLACEMENT[visible] if visible >= 0 else 1) + change
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
        self._leave("hands", self.seat, move.a)
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
        """Turn to the penalties for the cards that are missing (ARC-A.3); even the Reserve may not do (ARC-E.4)."""
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
        self._enter("penalties", self.seat, move.a)
        self._turned_up(move.a)
        self.count += 1
        self._settle_penalty()

    def _open_reserve(self) -> None:
        """Make the Reserve the final pile, once (ARC-E.1)."""
        if self.stage == "normal":
            self.stage = "final"
            self.pile_left, self.reserve = self.pile_left + self.reserve, 0

    def _take_power(self) -> None:
        visible = self.visible(self.seat)
        if visible < 0:
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
        if self.value or not self.may_use(9, 1, USED_DRAW_VALUE):
            self._settle_draws()

    def _settle_draws(self) -> None:
        """Refill when all is drawn, or there is nothing more to draw; else the player goes on drawing."""
        if self.count >= self.value or not self.can_draw():
            self._refill()
        else:
            self.phase = "C"

    def _draw(self, move: ArcticMove) -> None:
        self.river = tuple(card for card in self.river if card != move.a)
        self._enter("hands", self.seat, move.a)
        self.count += 1
        self._settle_draws()

    def _draw_penalty(self, move: ArcticMove) -> None:
        self._leave("penalties", self.seat, move.a)
        self._enter("hands", self.seat, move.a)
        self.count += 1
        self._settle_draws()

    def _draw_pile(self, move: ArcticMove) -> None:
        del move
        if self.pile_left == 0:
            self._open_reserve()
        self.count += 1
        self.phase = "drawn"

    def _refill_step(self, move: ArcticMove) -> None:
        del move
        self._refill()

    def _refill(self) -> None:
        """Turn up a card for the River while it has room and there are cards (ARC-C.1, ARC-E.1, ARC-E.5)."""
        if len(self.river) < RIVER:
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
        if len(self.hands[self.seat]) <= HAND_LIMIT and not legality.can_give(self):
            self._end_turn()

    def _give(self, move: ArcticMove) -> None:
        self.used |= USED_GIVE
        self._leave("penalties", self.seat, move.a)
        if move.a == UNKNOWN:
            # Any of the seat's unseen cards may have gone to the other player.
            self.located &= ~self.veiled[self.seat]
            self.veiled = (*self.veiled[: self.seat], 0, *self.veiled[self.seat + 1 :])
        self._enter("penalties", move.b, move.a)
        if self.phase == "D":
            self._settle_end()

    def _discard(self, move: ArcticMove) -> None:
        self.used |= USED_DISCARD
        self._leave("hands", self.seat, move.a)
        self._enter("penalties", self.seat, move.a)
        self._settle_end()

    def _end(self, move: ArcticMove) -> None:
        del move
        if self.phase == "A":
            self._pay_missing()
        elif self.phase == "B2":
            self._begin_draws()
        elif self.phase == "C":
            self.value = self.count
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
    "refill": ArcticState._refill_step,
    "give": ArcticState._give,
    "discard": ArcticState._discard,
    "end": ArcticState._end,
}
