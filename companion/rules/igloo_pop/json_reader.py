"""Makes a position of Igloo Pop of the one form of a board (documented in ``companion/rules/README.md``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from companion.rules.core import JSON, Game, Problem
from companion.rules.i18n import Words
from companion.rules.igloo_pop.components import CARDS, COLOURS, IGLOOS, PLACES, THALERS
from companion.rules.igloo_pop.json_form import FORM
from companion.rules.igloo_pop.moves import IglooPopMove
from companion.rules.igloo_pop.parts import BROKE, CARDS_OUT, EMPTY, ENDS, PHASES, UNKNOWN, Ledger, PopSetup
from companion.rules.igloo_pop.problems import problem
from companion.rules.igloo_pop.state import IglooPopState, make_state
from companion.rules.position_form import Reading

Seat = tuple[str | None, str]
"""The name and the colour of a player."""


def read_position(
    game: Game[IglooPopMove],
    data: Mapping[str, JSON],
    make_table: Callable[[Sequence[Seat], Mapping[str, JSON]], PopSetup],
) -> IglooPopState:
    """Return the state that a position describes; ``make_table`` is how its game takes players and settled options.

    :raises SetupError: when the form is broken, with all that is wrong with it.
    """
    reading = Reading()
    told = FORM.read(data, None, reading)
    options = reading.options(game, told["options"])
    table = None
    if reading.sound("players"):
        seats = [(name, colour) for name, colour, *_ in told["players"]]
        table = reading.keep((None, "players"), lambda: make_table(seats, options))
    for number, (_, card, igloos, _) in enumerate(told["results"] if reading.sound("results") else (), 1):
        if isinstance(card, str) or igloos == ():
            words = Words("A result names a place, a card of the box and the igloos on it.")
            reading.say(((None, "results"), number), words)
    if reading.faults or table is None:
        raise reading.error()
    return _Told(told, table).state()


class _Told:
    """What a position tells; what is wrong but cannot be held by a state is kept in ``flaws``."""

    def __init__(self, told: Mapping[str, Any], table: PopSetup) -> None:
        self.table = table
        self.told = told
        self.flaws: list[Problem] = []
        self.cards, self.igloos = self._places(told["places"])
        self.own = [0] * len(COLOURS)
        self.captured = [0] * len(COLOURS)
        self.removed: list[int] | None = [0] * len(COLOURS)
        self.won: list[tuple[int, ...]] = [()] * len(COLOURS)
        self.hands = self.passed = 0
        self._players(told["players"])

    def state(self) -> IglooPopState:
        """Return the state that the position describes."""
        seen = 0
        for card in (*self.cards, *(card for won in self.won for card in won)):
            if card >= 0:
                seen |= 1 << card
        gone = len(self.cards) - self.cards.count(EMPTY) + sum(map(len, self.won))
        stack = self._count("stack", self.told["piles"]["stack"], max(0, len(CARDS) - gone))
        phase = self._phase(self.told["phase"])
        ended = sum(ENDS[name] for name in set(self.told["ended_by"]))
        if phase == PHASES.index("over") and not ended:
            ended = BROKE if any(not self.own[who] for who in self.table.seats) else CARDS_OUT
        ledger = Ledger(
            round=max(1, self._count("round", self.told["round"], 1)),
            cards=tuple(self.cards),
            shown=sum(1 << where for where, card in enumerate(self.cards) if card != EMPTY),
            stack=stack,
            seen=seen,
            captured=tuple(self.captured),
            won=tuple(self.won),
            removed=None if self.removed is None else tuple(self.removed),
            results=tuple(
                (where, card, tuple(COLOURS.index(colour) << 4 | number for colour, number in igloos))
                for where, card, igloos, _ in self.told["results"]
            ),
            short=self.told["short_round"],
            ended=ended,
            flaws=tuple(self.flaws),
        )
        return make_state(
            self.table,
            ledger,
            phase,
            tuple(self.own),
            igloos=tuple(self.igloos),
            hands=self.hands,
            passed=self.passed,
        )

    def _places(self, places: Mapping[str, Any]) -> tuple[list[int], list[tuple[int, ...]]]:
        cards: list[int] = []
        igloos: list[tuple[int, ...]] = []
        for name in PLACES:
            ground, things = places.get(name, (UNKNOWN, ()))
            cards.append(self._known(ground, UNKNOWN))
            igloos.append(self._things(things))
        return cards, igloos

    def _known(self, card: int | str, otherwise: int) -> int:
        """Return a card of the box; of one that it does not have is told, and it is read as ``otherwise``."""
        if isinstance(card, str):
            self.flaws.append(problem("card-not-in-box", card=card))
            return otherwise
        return card

    def _things(self, things: Sequence[tuple[str, str, int, int | None]]) -> tuple[int, ...]:
        found: list[int] = []
        for _, colour, counted, number in things:
            if number is not None and number not in IGLOOS:
                self.flaws.append(problem("number-not-in-box", number=number))
                number = None  # noqa: PLW2901 - the igloo stands there, with a number that nobody knows
            count = self._count("count", counted, 1)
            if count > 1 and number:
                self.flaws.append(problem("number-twice", number=number, count=count))
            found += [COLOURS.index(colour) << 4 | (number or 0)] * count
        return tuple(found)

    def _players(self, players: Sequence[tuple[Any, ...]]) -> None:
        staked = [0] * len(COLOURS)
        for here in self.igloos:
            for igloo in here:
                staked[igloo >> 4] += 1
        for (_, _, own, captured, cards, in_hand, passed, gone), who in zip(players, self.table.seats, strict=True):
            removed = self._count("removed", gone, -1)
            if removed < 0:
                self.removed = None
            elif self.removed is not None:
                self.removed[who] = removed
            left = max(0, THALERS - staked[who] - max(0, removed))
            self.own[who] = self._count("own", own, left)
            self.captured[who] = self._count("captured", captured, 0)
            self.won[who] = tuple(card for card in (self._known(card, UNKNOWN) for card in cards) if card >= 0)
            self.hands |= in_hand << who
            self.passed |= passed << who

    def _count(self, key: str, value: int | None, default: int) -> int:
        if value is None:
            return default
        if value < 0:
            self.flaws.append(problem("negative-count", what=key, count=value))
            return 0
        return value

    def _phase(self, phase: str | None) -> int:
        if phase is None:
            if any(igloo & 15 for here in self.igloos for igloo in here):
                phase = "checking"
            elif any(self.igloos) or self.hands:
                phase = "shaking"
            else:
                phase = "deal" if EMPTY in self.cards else "ready"
        return PHASES.index(phase)
