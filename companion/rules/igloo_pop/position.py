"""What lies where in Igloo Pop, and what can be read of it; the steps that change it are elsewhere.

Inside, players are indices in COLOURS, places indices in PLACES, cards indices in CARDS, and an igloo on a card is
``who * 16 + number`` (number 0: not turned over). What changes with every announcement stands in the state itself;
what changes only when cards are laid or settled stands in its :class:`Ledger`.
"""

from __future__ import annotations

from abc import abstractmethod

from companion.rules.core import JSON, Game, Problem, Reason, State
from companion.rules.igloo_pop.components import CARDS, COLOURS, PLACES
from companion.rules.igloo_pop.moves import IglooPopMove
from companion.rules.igloo_pop.parts import ALL, BROKE, CARDS_OUT, EMPTY, OVER, PHASES, SHORT_ROUND, Ledger, PopSetup
from companion.rules.igloo_pop.settling import CardResult, card_result


class PopPosition(State[IglooPopMove]):
    """The fields of a position and what the page, the referee and the score sheet read of them."""

    __slots__ = (
        "_begun",
        "_broke",
        "_hands",
        "_igloos",
        "_ledger",
        "_own",
        "_passed",
        "_phase",
        "_placed",
        "_table",
        "_used",
    )
    _table: PopSetup
    _ledger: Ledger
    _phase: int
    _igloos: tuple[tuple[int, ...], ...]
    _placed: int
    _hands: int
    _passed: int
    _own: tuple[int, ...]
    _broke: int
    _begun: int
    _used: int

    @abstractmethod
    def after(self, move: IglooPopMove) -> PopPosition:
        """Return the position after ``move``, which must be legal: nothing is checked."""

    @property
    def game(self) -> Game[IglooPopMove]:
        """Return the game."""
        return self._table.game

    @property
    def phase(self) -> str:
        """Return ``deal``, ``ready``, ``shaking``, ``checking`` or ``over``."""
        return PHASES[self._phase]

    @property
    def round(self) -> int:
        """Return the number of the round that runs or comes next, from 1."""
        return self._ledger.round

    @property
    def names(self) -> tuple[str, ...]:
        """Return the players' names in seat order."""
        return self._table.names

    @property
    def colours(self) -> tuple[str, ...]:
        """Return the players' colours in seat order."""
        return self._table.colours

    @property
    def options(self) -> dict[str, JSON]:
        """Return the options of this game."""
        return dict(self._table.options)

    @property
    def cards(self) -> dict[str, tuple[int, ...] | None]:
        """Return what lies at each place: the card's numbers; None where no card lies or none is known."""
        return {p: CARDS[c] if c >= 0 else None for p, c in zip(PLACES, self._ledger.cards, strict=True)}

    @property
    def igloos(self) -> dict[str, tuple[tuple[str, int | None], ...]]:
        """Return the igloos on each place in the order of placement: colour of the thaler, number where shown."""
        return {
            place: tuple((COLOURS[igloo >> 4], igloo & 15 or None) for igloo in igloos)
            for place, igloos in zip(PLACES, self._igloos, strict=True)
        }

    @property
    def hands(self) -> frozenset[str]:
        """Return the colours of players with an announced igloo in hand."""
        return self._set(self._hands)

    @property
    def passed(self) -> frozenset[str]:
        """Return the colours of players who have passed in this round."""
        return self._set(self._passed)

    @property
    def own(self) -> dict[str, int]:
        """Return how many own thalers lie before each player (stakes on cards are not among them)."""
        return {COLOURS[who]: self._own[who] for who in self._table.seats}

    @property
    def captured(self) -> dict[str, int]:
        """Return how many thalers each player has won from others."""
        return {COLOURS[who]: self._ledger.captured[who] for who in self._table.seats}

    @property
    def won(self) -> dict[str, tuple[tuple[int, ...], ...]]:
        """Return the cards each player has won, in the order they were won."""
        return {COLOURS[who]: tuple(CARDS[c] for c in self._ledger.won[who]) for who in self._table.seats}

    @property
    def removed(self) -> dict[str, int] | None:
        """Return how many thalers of each colour have left the game, or None where a position did not say."""
        removed = self._ledger.removed
        return None if removed is None else {COLOURS[who]: removed[who] for who in self._table.seats}

    @property
    def stack_left(self) -> int:
        """Return how many cards the stack has."""
        return self._ledger.stack

    @property
    def village_left(self) -> int:
        """Return how many igloos stand in the village."""
        return ALL - self._placed - self._hands.bit_count()

    @property
    def last_results(self) -> tuple[CardResult, ...]:
        """Return the cards checked so far in the round that was or is being checked, until the next one begins."""
        return tuple(card_result(*result, self._table.remove) for result in self._ledger.results)

    @property
    def end_reason(self) -> Reason | None:
        """Return how the game ended, or None while it goes on."""
        ended, stack = self._ledger.ended, self._ledger.stack
        if self._phase != OVER:
            return None
        broke = [COLOURS[who] for who in self._table.seats if self._broke >> who & 1]
        if ended & BROKE:
            if ended & CARDS_OUT:
                return Reason("end-both", {"broke": broke, "stack": stack})
            return Reason("end-thalers-several" if len(broke) > 1 else "end-thalers", {"broke": broke})
        if ended & CARDS_OUT:
            return Reason("end-cards", {"stack": stack})
        return Reason("end-short-round" if ended & SHORT_ROUND else "end-no-cards", {})

    @property
    def missing_cards(self) -> int:
        """Return how many places of the circle have no card."""
        return self._ledger.cards.count(EMPTY)

    @property
    def begun(self) -> str | None:
        """Return the place whose igloos are half checked, or None."""
        return PLACES[self._begun] if self._begun >= 0 else None

    @property
    def short_round(self) -> bool:
        """Return whether the round that runs began without nine cards (the English end of POP-4.2)."""
        return self._ledger.short

    @property
    def ended(self) -> int:
        """Return how the game ended, as the bits BROKE, CARDS_OUT, SHORT_ROUND and NO_CARDS; 0 while it goes on."""
        return self._ledger.ended

    @property
    def flaws(self) -> tuple[Problem, ...]:
        """Return what a given position said and a state cannot hold."""
        return self._ledger.flaws

    @property
    def shaking_is_done(self) -> bool:
        """Return whether nobody can or wants to go on, or all igloos stand on cards (POP-2.9)."""
        mask = self._table.mask
        return self._placed >= ALL or (not self._hands and (self._passed | self._broke) & mask == mask)

    def card_at(self, where: int) -> int:
        """Return the index of the card at a place's index, or EMPTY, or UNKNOWN."""
        return self._ledger.cards[where]

    def has_card(self, where: int) -> bool:
        """Return whether a card, known or not, lies at a place's index."""
        return self._ledger.cards[where] != EMPTY

    def card_seen(self, card: int) -> bool:
        """Return whether a card has been laid in this game."""
        return self._ledger.seen >> card & 1 == 1

    def igloos_at(self, where: int) -> tuple[int, ...]:
        """Return the igloos at a place's index, each ``who * 16 + number``."""
        return self._igloos[where]

    def won_cards(self, who: int) -> tuple[int, ...]:
        """Return the indices of the cards won by a colour's index."""
        return self._ledger.won[who]

    def _set(self, mask: int) -> frozenset[str]:
        return frozenset(COLOURS[who] for who in self._table.seats if mask >> who & 1)

    def _key(self) -> tuple[object, ...]:
        return (
            self._table,
            self._ledger,
            self._phase,
            self._igloos,
            self._hands,
            self._passed,
            self._own,
            self._used,
        )

    def __eq__(self, other: object) -> bool:
        """Tell whether two states are the same position of the same game."""
        return isinstance(other, PopPosition) and self._key() == other._key()

    def __hash__(self) -> int:
        """Return a hash that fits equality."""
        return hash((self._phase, self._igloos, self._own, self._ledger.cards))
