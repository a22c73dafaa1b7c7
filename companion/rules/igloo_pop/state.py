"""A position of Igloo Pop: immutable, and quick to move on from.

Inside, players are indices in COLOURS, places indices in PLACES, cards indices in CARDS, and an igloo on a card is
``who * 16 + number`` (number 0: not turned over). What changes with every announcement stands in the state itself;
what changes only when cards are laid or settled stands in its :class:`Ledger`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from random import Random
from typing import Final, NamedTuple

from companion.rules.core import (
    ANYBODY,
    CHANCE,
    JSON,
    NOBODY,
    Game,
    Outcome,
    Problem,
    Reason,
    ScoreSheet,
    State,
)
from companion.rules.igloo_pop import moves as m
from companion.rules.igloo_pop.box import CARDS, COLOURS, IGLOOS, PLACES
from companion.rules.igloo_pop.moves import IglooPopMove
from companion.rules.igloo_pop.scoring import CARD_BITS, CardResult, card_result, decision, highest_match, score_sheet
from companion.rules.rulebook import rulebook

DEAL: Final = 0
READY: Final = 1
SHAKING: Final = 2
CHECKING: Final = 3
OVER: Final = 4
PHASES: Final = ("deal", "ready", "shaking", "checking", "over")

EMPTY: Final = -1
UNKNOWN: Final = -2
"""A card lies there, but nobody told which."""

ALL: Final = len(IGLOOS)
CIRCLE: Final = len(PLACES)
_BITS: Final = tuple(1 << who for who in range(len(COLOURS)))

BROKE: Final = 1
CARDS_OUT: Final = 2
SHORT_ROUND: Final = 4
NO_CARDS: Final = 8
"""How the game ended, as bits: POP-4.1; POP-4.2 in the French reading, in the English one, and with no card at all."""


class Table(NamedTuple):
    """What never changes in a game. ``mask`` has a bit for each colour that is played."""

    names: tuple[str, ...]
    colours: tuple[str, ...]
    seats: tuple[int, ...]
    mask: int
    options: tuple[tuple[str, JSON], ...]
    immediate: bool
    remove: bool


class Ledger(NamedTuple):
    """What changes only when cards are laid or settled, and at the ends of rounds.

    ``shown`` has a bit for each place with a card, ``seen`` one for each card that has been laid; ``removed`` is None
    where a position did not say which thalers left the game; ``flaws`` is what a position said and no state can hold.
    """

    round: int
    cards: tuple[int, ...]
    shown: int
    stack: int
    seen: int
    captured: tuple[int, ...]
    won: tuple[tuple[int, ...], ...]
    removed: tuple[int, ...] | None
    results: tuple[tuple[int, int, tuple[int, ...]], ...]
    short: bool
    ended: int
    flaws: tuple[Problem, ...]


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


class IglooPopState(State[IglooPopMove]):
    """A position of Igloo Pop. The public properties speak of colours, places and cards as they are written."""

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
    _table: Table
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

    # --- what the page reads -----------------------------------------------------------------------------------

    @property
    def game(self) -> Game[IglooPopMove]:
        """Return the game."""
        from companion.rules.igloo_pop.game import GAME  # noqa: PLC0415 - game and state know each other

        return GAME

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
    def ranking_reason(self) -> Reason:
        """Return what decides between the first and the others as it stands now."""
        return decision(self, self.score())

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

    # --- moves -------------------------------------------------------------------------------------------------

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
            bit = _BITS[who]
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
        from companion.rules.igloo_pop.reasons import why_not  # noqa: PLC0415 - read only when somebody is refused

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

    def grounds(self, move: IglooPopMove) -> Reason:
        """Return what a legal ``move`` does here and by which clauses."""
        from companion.rules.igloo_pop.reasons import what_it_does  # noqa: PLC0415 - read only for a ruling

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
                new._broke |= _BITS[who]
            new._placed += 1
            new._hands &= ~_BITS[who]
            new._passed &= ~_BITS[who]
            new._end_shaking_if_done()
        elif code == m.REVEAL:
            new._turn_over(move.where, move.number)
        elif code == m.TAKE:
            new._hands |= _BITS[move.who]
            new._passed &= ~_BITS[move.who]
        elif code == m.PASS:
            new._passed |= _BITS[move.who]
            new._end_shaking_if_done()
        elif code == m.RETURN:
            new._hands &= ~_BITS[move.who]
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
        self._broke = sum(_BITS[who] for who in table.seats if not own[who])
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

    def chance(self, rng: Random) -> IglooPopMove:
        """Return a move as the box would draw it: a card of those not yet laid, or a number not yet shown."""
        if self._phase == CHECKING and UNKNOWN not in self._ledger.cards:
            begun = self._begun
            if begun < 0:
                begun = next(where for where, igloos in enumerate(self._igloos) if igloos)
            used = self._used
            return rng.choice([move for move in m.REVEALS[begun] if not used >> move.number & 1])
        if self._phase == DEAL and UNKNOWN not in self._ledger.cards:
            seen = self._ledger.seen
            return rng.choice([move for move in m.DEALS[self._ledger.cards.index(EMPTY)] if not seen >> move.card & 1])
        return rng.choice(list(self.moves()))

    # --- judging the whole -------------------------------------------------------------------------------------

    def problems(self) -> tuple[Problem, ...]:
        """Return everything that is wrong with this position, not only the first."""
        from companion.rules.igloo_pop.problems import problems  # noqa: PLC0415 - read only when asked

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
        from companion.rules.igloo_pop.position import to_position  # noqa: PLC0415 - read only when asked

        return to_position(self)

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
        return isinstance(other, IglooPopState) and self._key() == other._key()

    def __hash__(self) -> int:
        """Return a hash that fits equality."""
        return hash((self._phase, self._igloos, self._own, self._ledger.cards))

    def __str__(self) -> str:
        """Return the position in one line, for error messages."""
        from companion.rules.igloo_pop.position import to_line  # noqa: PLC0415 - read only when asked

        return to_line(self)

    def __repr__(self) -> str:
        """Return the line of the position."""
        return f"<IglooPopState {self}>"


_new = object.__new__


def make_state(
    table: Table,
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
    state._broke = sum(_BITS[who] for who in table.seats if own[who] <= 0)
    state._begun = next((w for w, here in enumerate(igloos) if any(i & 15 for i in here)), -1)
    results = ledger.results if phase == CHECKING else ()
    turned = chain((i for here in igloos for i in here), (i for *_, here in results for i in here))
    state._used = 0
    for igloo in turned:
        if igloo & 15:
            state._used |= 1 << (igloo & 15)
    return state


def make_table(players: tuple[tuple[str, str], ...], options: Mapping[str, JSON]) -> Table:
    """Return the table of a game: ``players`` are (name, colour) in seat order, options are settled."""
    seats = tuple(COLOURS.index(colour) for _, colour in players)
    return Table(
        names=tuple(name for name, _ in players),
        colours=tuple(colour for _, colour in players),
        seats=seats,
        mask=sum(_BITS[who] for who in seats),
        options=tuple(sorted(options.items())),
        immediate=options["pop.cards_end"] == "immediate",
        remove=options["pop.none_match"] == "remove",
    )
