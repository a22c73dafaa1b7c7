"""A position of Igloo Pop: immutable, and quick to move on from."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from random import Random

from companion.rules.core import ANYBODY, CHANCE, JSON, NOBODY, Outcome, Problem, Reason, ScoreSheet, evenly
from companion.rules.igloo_pop import moves as m
from companion.rules.igloo_pop.components import CARD_BITS
from companion.rules.igloo_pop.explain import what_it_does, why_not
from companion.rules.igloo_pop.json_form import to_line, to_position
from companion.rules.igloo_pop.moves import IglooPopMove
from companion.rules.igloo_pop.parts import (
    ALL,
    BITS,
    BROKE,
    CARDS_OUT,
    CHECKING,
    CIRCLE,
    DEAL,
    EMPTY,
    NO_CARDS,
    OVER,
    READY,
    SHAKING,
    SHORT_ROUND,
    UNKNOWN,
    Ledger,
    PopSetup,
)
from companion.rules.igloo_pop.position import PopPosition
from companion.rules.igloo_pop.problems import problems
from companion.rules.igloo_pop.score import decision, score_sheet
from companion.rules.igloo_pop.settling import highest_match
from companion.rules.rulebook import rulebook

# How one player stands in a running round; who has no thaler, or has passed before an empty village, has no move.
_FREE, _PASSED, _HOLDING, _NO_IGLOO = range(4)


def _announcements(who: int, status: int, shown: int) -> tuple[IglooPopMove, ...]:
    places = tuple(move for move in m.PLACINGS[who] if shown >> move.where & 1)
    if status == _HOLDING:
        return (m.RETURNS[who], *places)
    if status == _NO_IGLOO:
        return (m.PASSES[who],)
    taking = (m.TAKES[who], *places)
    return taking if status == _PASSED else (*taking, m.PASSES[who])


_ANNOUNCEMENTS: dict[int, tuple[IglooPopMove, ...]] = {}


class IglooPopState(PopPosition):
    """A position of Igloo Pop. The public properties speak of colours, places and cards as they are written."""

    __slots__ = ()

    @property
    def to_move(self) -> int:
        """Return CHANCE while cards are laid or igloos turned over, ANYBODY in a round, NOBODY after the end."""
        return (CHANCE, ANYBODY, ANYBODY, CHANCE, NOBODY)[self._phase]

    def moves(self) -> Iterator[IglooPopMove]:
        """Yield every legal move once."""
        phase = self._phase
        if phase == SHAKING:
            found: Iterator[IglooPopMove] = self._shaking_moves()
        elif phase == CHECKING:
            found = self._reveals()
        elif phase == OVER:
            return iter(())
        elif phase == READY and self._may_start():
            found = iter((m.START_MOVE,))
        else:
            found = iter(())
        if phase == DEAL or UNKNOWN in self._ledger.cards:
            return chain(found, self._deals())
        return found

    def _shaking_moves(self) -> Iterator[IglooPopMove]:
        hands, idle, shown = self._hands, self._broke, self._ledger.shown
        village = ALL - self._placed - hands.bit_count()
        groups = []
        for who in self._table.seats:
            bit = BITS[who]
            if hands & bit:
                status = _HOLDING
            elif idle & bit:
                continue
            elif self._passed & bit:
                if not village:
                    continue
                status = _PASSED
            else:
                status = _FREE if village else _NO_IGLOO
            key = (who << 2 | status) << CIRCLE | shown
            group = _ANNOUNCEMENTS.get(key)
            if group is None:
                group = _ANNOUNCEMENTS[key] = _announcements(who, status, shown)
            groups.append(group)
        return chain.from_iterable(groups)

    def _reveals(self) -> Iterator[IglooPopMove]:
        used, begun, cards = self._used, self._begun, self._ledger.cards
        for where, igloos in enumerate(self._igloos):
            if igloos and begun in (-1, where) and cards[where] != UNKNOWN:
                for move in m.REVEALS[where]:
                    if not used >> move.number & 1:
                        yield move

    def _deals(self) -> Iterator[IglooPopMove]:
        ledger = self._ledger
        seen, laying = ledger.seen, self._phase == DEAL and ledger.stack > 0
        for where, card in enumerate(ledger.cards):
            if card == UNKNOWN or (laying and card == EMPTY):
                for move in m.DEALS[where]:
                    if not seen >> move.card & 1:
                        yield move

    def _may_start(self) -> bool:
        ledger = self._ledger
        return EMPTY not in ledger.cards or (not self._table.immediate and not ledger.stack and ledger.shown != 0)

    def refusal(self, move: IglooPopMove) -> Reason | None:
        """Return why ``move`` is refused here, or None when it is legal."""
        if self._is_legal(move):
            return None
        return why_not(self, move)

    def _is_legal(self, move: IglooPopMove) -> bool:
        code, phase = move.code, self._phase
        if code == m.PLACE:
            who = move.who
            return (
                phase == SHAKING
                and self._own[who] > 0
                and self._ledger.shown >> move.where & 1 == 1
                and (self._hands >> who & 1 == 1 or self._placed + self._hands.bit_count() < ALL)
            )
        if code == m.REVEAL:
            where = move.where
            return (
                phase == CHECKING
                and self._used >> move.number & 1 == 0
                and bool(self._igloos[where])
                and self._begun in (-1, where)
                and self._ledger.cards[where] != UNKNOWN
            )
        if code == m.DEAL:
            ledger = self._ledger
            lying = ledger.cards[move.where]
            return not ledger.seen >> move.card & 1 and (
                (lying == EMPTY and phase == DEAL and ledger.stack > 0) or (lying == UNKNOWN and phase != OVER)
            )
        if code == m.START:
            return phase == READY and self._may_start()
        who = move.who
        if phase != SHAKING or not self._table.mask >> who & 1:
            return False
        holds = self._hands >> who & 1
        if code == m.RETURN:
            return holds == 1
        if holds or self._broke >> who & 1:
            return False
        if code == m.TAKE:
            return self._placed + self._hands.bit_count() < ALL
        return not self._passed >> who & 1

    def explain_effect(self, move: IglooPopMove) -> Reason:
        """Return what a legal ``move`` does here and by which clauses."""
        return what_it_does(self, move)

    def after(self, move: IglooPopMove) -> IglooPopState:
        """Return the state after ``move``, which must be legal: nothing is checked."""
        code = move.code
        new = self._copy()
        if code == m.PLACE:
            who, where = move.who, move.where
            igloos, own = self._igloos, self._own
            left = own[who] - 1
            new._igloos = (*igloos[:where], (*igloos[where], who << 4), *igloos[where + 1 :])
            new._own = (*own[:who], left, *own[who + 1 :])
            if not left:
                new._broke |= BITS[who]
            new._placed += 1
            new._hands &= ~BITS[who]
            new._passed &= ~BITS[who]
            new._end_shaking_if_done()
        elif code == m.REVEAL:
            new._turn_over(move.where, move.number)
        elif code == m.TAKE:
            new._hands |= BITS[move.who]
            new._passed &= ~BITS[move.who]
        elif code == m.PASS:
            new._passed |= BITS[move.who]
            new._end_shaking_if_done()
        elif code == m.RETURN:
            new._hands &= ~BITS[move.who]
            new._end_shaking_if_done()
        elif code == m.DEAL:
            new._lay(move.where, move.card)
        else:
            new._ledger = self._ledger._replace(results=(), short=EMPTY in self._ledger.cards)
            new._phase = SHAKING
            new._end_shaking_if_done()
        return new

    def _copy(self) -> IglooPopState:
        new = _new(IglooPopState)
        new._table = self._table
        new._ledger = self._ledger
        new._phase = self._phase
        new._igloos = self._igloos
        new._placed = self._placed
        new._hands = self._hands
        new._passed = self._passed
        new._own = self._own
        new._broke = self._broke
        new._begun = self._begun
        new._used = self._used
        return new

    # The four methods below finish a state that nobody has seen yet; after that it never changes.

    def _end_shaking_if_done(self) -> None:
        if self.shaking_is_done:
            self._passed = 0
            if self._placed:
                self._phase = CHECKING
            else:
                self._end_round()

    def _turn_over(self, where: int, number: int) -> None:
        here = self._igloos[where]
        turned = 0
        while here[turned] & 15:
            turned += 1
        here = (*here[:turned], here[turned] | number, *here[turned + 1 :])
        self._used |= 1 << number
        if turned + 1 == len(here):
            self._settle(where, here)
            here = ()
        else:
            self._begun = where
        self._igloos = (*self._igloos[:where], here, *self._igloos[where + 1 :])
        if not self._placed:
            self._end_round()

    def _settle(self, where: int, igloos: tuple[int, ...]) -> None:
        ledger, table = self._ledger, self._table
        card = ledger.cards[where]
        bits = CARD_BITS[card]
        winner, _ = highest_match(bits, igloos)
        own, captured = list(self._own), list(ledger.captured)
        removed = None if ledger.removed is None else list(ledger.removed)
        spare = winner < 0 and len(igloos) > 1 and not table.remove
        for igloo in igloos:
            who = igloo >> 4
            if spare or bits >> (igloo & 15) & 1:
                own[who] += 1
            elif winner not in (-1, who):
                captured[winner] += 1
            elif removed is not None:
                removed[who] += 1
        cards, shown, won = ledger.cards, ledger.shown, ledger.won
        if winner >= 0:
            cards = (*cards[:where], EMPTY, *cards[where + 1 :])
            shown &= ~(1 << where)
            won = (*won[:winner], (*won[winner], card), *won[winner + 1 :])
        self._own = tuple(own)
        self._broke = sum(BITS[who] for who in table.seats if not own[who])
        self._placed -= len(igloos)
        self._begun = -1
        self._ledger = ledger._replace(
            cards=cards,
            shown=shown,
            won=won,
            captured=tuple(captured),
            removed=None if removed is None else tuple(removed),
            results=(*ledger.results, (where, card, igloos)),
        )

    def _lay(self, where: int, card: int) -> None:
        ledger = self._ledger
        known = ledger.cards[where] == EMPTY
        cards = (*ledger.cards[:where], card, *ledger.cards[where + 1 :])
        stack = ledger.stack - known
        self._ledger = ledger._replace(
            cards=cards, shown=ledger.shown | 1 << where, stack=stack, seen=ledger.seen | 1 << card
        )
        if self._phase == DEAL and (EMPTY not in cards or not stack):
            self._phase = READY

    def _end_round(self) -> None:
        ledger, table = self._ledger, self._table
        missing = ledger.cards.count(EMPTY)
        ended = BROKE if self._broke else 0
        if ledger.short:
            ended |= SHORT_ROUND
        elif ledger.stack < missing:
            if table.immediate:
                ended |= CARDS_OUT
            elif not ledger.stack and not ledger.shown:
                ended |= NO_CARDS
        self._used = 0
        self._begun = -1
        if ended:
            self._phase = OVER
            self._ledger = ledger._replace(ended=ended)
        else:
            self._phase = DEAL if missing and ledger.stack else READY
            self._ledger = ledger._replace(round=ledger.round + 1)

    def _from_box(self) -> list[IglooPopMove]:
        """Return what may come next, all alike, where the table takes cards and places in their order."""
        if self._phase == CHECKING and UNKNOWN not in self._ledger.cards:
            begun = self._begun
            if begun < 0:
                begun = next(where for where, igloos in enumerate(self._igloos) if igloos)
            used = self._used
            return [move for move in m.REVEALS[begun] if not used >> move.number & 1]
        if self._phase == DEAL and UNKNOWN not in self._ledger.cards:
            seen = self._ledger.seen
            return [move for move in m.DEALS[self._ledger.cards.index(EMPTY)] if not seen >> move.card & 1]
        return list(self.moves())

    def chances(self) -> list[tuple[IglooPopMove, float]]:
        """Return the cards not yet laid, or the numbers not yet shown, on the place whose turn it is."""
        return evenly(self._from_box())

    def chance(self, rng: Random) -> IglooPopMove:
        """Return a move as the box would draw it: a card of those not yet laid, or a number not yet shown."""
        return rng.choice(self._from_box())

    # --- judging the whole -------------------------------------------------------------------------------------

    def problems(self) -> tuple[Problem, ...]:
        """Return everything that is wrong with this position, not only the first."""
        return problems(self)

    def score(self) -> ScoreSheet:
        """Return the score sheet as it stands now (stakes on cards are nobody's points yet)."""
        return score_sheet(self)

    def outcome(self) -> Outcome | None:
        """Return who won, or None while the game goes on."""
        reason = self.end_reason
        if reason is None:
            return None
        book = rulebook("igloo-pop")
        sheet = self.score()
        why = decision(self, sheet)
        clauses = dict.fromkeys((*book.sentences[reason.key].clauses, *book.sentences[why.key].clauses))
        return Outcome(sheet.ranking[0], tuple(clauses))

    def position(self) -> dict[str, JSON]:
        """Return the position in the one form of a board."""
        return to_position(self)

    @property
    def ranking_reason(self) -> Reason:
        """Return what decides between the first and the others as it stands now."""
        return decision(self, self.score())

    def __str__(self) -> str:
        """Return the position in one line, for error messages."""
        return to_line(self)

    def __repr__(self) -> str:
        """Return the line of the position."""
        return f"<IglooPopState {self}>"


_new = object.__new__


def make_state(
    table: PopSetup,
    ledger: Ledger,
    phase: int,
    own: tuple[int, ...],
    *,
    igloos: tuple[tuple[int, ...], ...] = ((),) * CIRCLE,
    hands: int = 0,
    passed: int = 0,
) -> IglooPopState:
    """Build a state from its parts; what follows from them is worked out here."""
    state = _new(IglooPopState)
    state._table, state._ledger, state._phase, state._own = table, ledger, phase, own
    state._igloos, state._hands, state._passed = igloos, hands, passed
    state._placed = sum(map(len, igloos))
    state._broke = sum(BITS[who] for who in table.seats if own[who] <= 0)
    state._begun = next((w for w, here in enumerate(igloos) if any(i & 15 for i in here)), -1)
    results = ledger.results if phase == CHECKING else ()
    turned = chain((i for here in igloos for i in here), (i for *_, here in results for i in here))
    state._used = 0
    for igloo in turned:
        if igloo & 15:
            state._used |= 1 << (igloo & 15)
    return state
