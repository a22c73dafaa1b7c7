"""Igloo Pop read from the one form of a board (documented in ``companion/rules/README.md``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from companion.rules.core import JSON, Problem, SetupError, only_fields
from companion.rules.igloo_pop.components import CARD_INDEX, CARDS, COLOURS, IGLOOS, PLACES, THALERS
from companion.rules.igloo_pop.parts import BROKE, CARDS_OUT, EMPTY, ENDS, PHASES, UNKNOWN, Ledger, PopSetup
from companion.rules.igloo_pop.problems import problem
from companion.rules.igloo_pop.state import IglooPopState, make_state

_FIELDS = (
    *("game", "phase", "round", "to_move", "places", "players", "piles", "options", "short_round", "ended_by"),
    "results",
)
_PLAYER = ("name", "colour", "own", "captured", "cards", "in_hand", "passed", "removed")
_SILLY = 1000
"""No count of anything on the table is larger; a larger number is a broken form."""


class _Reader:
    """Reads a position; what is wrong but cannot be held by a state is kept in ``flaws``."""

    def __init__(self, position: Mapping[str, JSON], table: PopSetup) -> None:
        self.table = table
        self.flaws: list[Problem] = []
        self.position = position
        only_fields(position, _FIELDS, "A position of Igloo Pop", "Une position d’Igloo Pop")
        self.cards, self.igloos = self._places()
        self.own = [0] * len(COLOURS)
        self.captured = [0] * len(COLOURS)
        self.removed: list[int] | None = [0] * len(COLOURS)
        self.won: list[tuple[int, ...]] = [()] * len(COLOURS)
        self.hands = self.passed = 0
        self._players()

    def state(self) -> IglooPopState:
        """Return the state that the position describes."""
        seen = 0
        for card in (*self.cards, *(card for won in self.won for card in won)):
            if card >= 0:
                seen |= 1 << card
        piles = _mapping(self.position.get("piles", {}), "piles")
        gone = len(self.cards) - self.cards.count(EMPTY) + sum(map(len, self.won))
        stack = self._count(piles, "stack", max(0, len(CARDS) - gone), "piles")
        phase = self._phase()
        ended = 0
        for name in _sequence(self.position.get("ended_by", ()), "ended_by"):
            if not isinstance(name, str) or name not in ENDS:
                raise SetupError(
                    "A game of Igloo Pop ends by {ends}, not {name!r}.",
                    "Une partie d’Igloo Pop finit par {ends}, pas {name!r}.",
                    ends=", ".join(ENDS),
                    name=str(name)[:40],
                )
            ended |= ENDS[name]
        if phase == PHASES.index("over") and not ended:
            ended = BROKE if any(not self.own[who] for who in self.table.seats) else CARDS_OUT
        ledger = Ledger(
            round=max(1, self._count(self.position, "round", 1, "the position")),
            cards=tuple(self.cards),
            shown=sum(1 << where for where, card in enumerate(self.cards) if card != EMPTY),
            stack=stack,
            seen=seen,
            captured=tuple(self.captured),
            won=tuple(self.won),
            removed=None if self.removed is None else tuple(self.removed),
            results=self._results(),
            short=self.position.get("short_round") is True,
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

    def _places(self) -> tuple[list[int], list[tuple[int, ...]]]:
        places = _mapping(self.position.get("places", {}), "places")
        for name in places:
            if name not in PLACES:
                raise SetupError(
                    "Igloo Pop has no place {name!r}; its places are card1 to {last}.",
                    "Igloo Pop n’a pas de place {name!r} ; ses places vont de card1 à {last}.",
                    name=str(name)[:40],
                    last=PLACES[-1],
                )
        cards: list[int] = []
        igloos: list[tuple[int, ...]] = []
        for name in PLACES:
            what = places.get(name)
            if what is None:
                cards.append(UNKNOWN)
                igloos.append(())
                continue
            what = _mapping(what, name)
            cards.append(self._card(what.get("ground"), name))
            igloos.append(self._things(_sequence(what.get("things", ()), f"the things at {name}"), name))
        return cards, igloos

    def _card(self, text: JSON, where: str) -> int:
        if text is None:
            return UNKNOWN
        if text == "empty":
            return EMPTY
        index = self._box_card(text, where)
        return UNKNOWN if index is None else index

    def _box_card(self, text: JSON, where: str) -> int | None:
        try:
            if not isinstance(text, str) or len(text) > 20:
                raise ValueError
            numbers = tuple(map(int, text.split("/")))
        except ValueError:
            raise SetupError(
                "A card is written like 4/5, not {text!r} ({where}).",
                "Une carte s’écrit comme 4/5, pas {text!r} ({where}).",
                text=str(text)[:40],
                where=where,
            ) from None
        if numbers not in CARD_INDEX:
            self.flaws.append(problem("card-not-in-box", card=text))
        return CARD_INDEX.get(numbers)

    def _things(self, things: Sequence[JSON], place: str) -> tuple[int, ...]:
        found: list[int] = []
        for thing in things:
            thing = _mapping(thing, f"a thing at {place}")  # noqa: PLW2901 - the same thing, known to be an object
            colour, number = thing.get("colour"), thing.get("value")
            if thing.get("kind") != "igloo":
                raise SetupError(
                    "On the cards of Igloo Pop stand igloos, not {kind!r}.",
                    "Sur les cartes d’Igloo Pop il y a des igloos, pas {kind!r}.",
                    kind=str(thing.get("kind"))[:40],
                )
            if colour not in COLOURS:
                raise SetupError(
                    "An igloo at {place} has a thaler of {colours}, not {colour!r}.",
                    "Un igloo à {place} porte une pièce {colours}, pas {colour!r}.",
                    place=place,
                    colours=", ".join(COLOURS),
                    colour=str(colour)[:40],
                )
            if number is not None and (not isinstance(number, int) or isinstance(number, bool)):
                raise SetupError(
                    "The number under an igloo at {place} is a whole number, not {number!r}.",
                    "Le numéro sous un igloo à {place} est un nombre entier, pas {number!r}.",
                    place=place,
                    number=str(number)[:40],
                )
            if number is not None and number not in IGLOOS:
                self.flaws.append(problem("number-not-in-box", number=number))
                number = None
            count = self._count(thing, "count", 1, f"an igloo at {place}")
            if count > 1 and number:
                self.flaws.append(problem("number-twice", number=number, count=count))
            found += [COLOURS.index(colour) << 4 | (number or 0)] * min(count, _SILLY)
        return tuple(found)

    def _players(self) -> None:
        staked = [0] * len(COLOURS)
        for here in self.igloos:
            for igloo in here:
                staked[igloo >> 4] += 1
        for player, who in zip(_sequence(self.position.get("players"), "players"), self.table.seats, strict=True):
            colour = COLOURS[who]
            only_fields(player, _PLAYER, "A player of Igloo Pop", "Un joueur d’Igloo Pop")
            removed = self._count(player, "removed", -1, colour)
            if removed < 0:
                self.removed = None
            elif self.removed is not None:
                self.removed[who] = removed
            left = max(0, THALERS - staked[who] - max(0, removed))
            self.own[who] = self._count(player, "own", left, colour)
            self.captured[who] = self._count(player, "captured", 0, colour)
            cards = [self._box_card(c, colour) for c in _sequence(player.get("cards", ()), f"the cards of {colour}")]
            self.won[who] = tuple(card for card in cards if card is not None)
            self.hands |= (player.get("in_hand") is True) << who
            self.passed |= (player.get("passed") is True) << who

    def _count(self, where: Mapping[str, JSON], key: str, default: int, what: str) -> int:
        value = where.get(key)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or abs(value) > _SILLY:
            raise SetupError(
                "{key!r} of {what} is a whole number up to {most}, not {value!r}.",
                "{key!r} ({what}) est un nombre entier jusqu’à {most}, pas {value!r}.",
                key=key,
                what=what,
                most=_SILLY,
                value=str(value)[:40],
            )
        if value < 0:
            self.flaws.append(problem("negative-count", what=key, count=value))
            return 0
        return value

    def _phase(self) -> int:
        phase = self.position.get("phase")
        if phase is None:
            if any(igloo & 15 for here in self.igloos for igloo in here):
                phase = "checking"
            elif any(self.igloos) or self.hands:
                phase = "shaking"
            else:
                phase = "deal" if EMPTY in self.cards else "ready"
        if phase not in PHASES:
            raise SetupError(
                "The phase of Igloo Pop is {phases}, not {phase!r}.",
                "La phase d’Igloo Pop est {phases}, pas {phase!r}.",
                phases=", ".join(PHASES),
                phase=str(phase)[:40],
            )
        return PHASES.index(phase)

    def _results(self) -> tuple[tuple[int, int, tuple[int, ...]], ...]:
        results = []
        for entry in _sequence(self.position.get("results", ()), "results"):
            entry = _mapping(entry, "a result")  # noqa: PLW2901 - the same entry, known to be an object
            place = entry.get("place")
            card = self._box_card(entry.get("card"), "a result")
            try:
                igloos = tuple(COLOURS.index(colour) << 4 | IGLOOS[IGLOOS.index(n)] for colour, n in entry["igloos"])
            except (KeyError, TypeError, ValueError):
                raise SetupError(
                    "The igloos of a result are pairs like ['red', 4].",
                    "Les igloos d’un résultat sont des paires comme ['red', 4].",
                ) from None
            if place not in PLACES or card is None or not igloos:
                raise SetupError(
                    "A result names a place, a card of the box and the igloos on it.",
                    "Un résultat nomme une place, une carte de la boîte et les igloos qui y sont.",
                )
            results.append((PLACES.index(place), card, igloos))
        return tuple(results)


def read_position(position: Mapping[str, JSON], table: PopSetup) -> IglooPopState:
    """Return the state that a position describes; ``table`` has its players and options.

    :raises SetupError: when the form is broken.
    """
    return _Reader(position, table).state()


def _mapping(value: JSON, what: str) -> Mapping[str, JSON]:
    if not isinstance(value, Mapping):
        raise SetupError(
            "A position has {what} as an object, not {value!r}.",
            "Dans une position, {what} est un objet, pas {value!r}.",
            what=what,
            value=str(value)[:40],
        )
    return value


def _sequence(value: JSON, what: str) -> Sequence[JSON]:
    if not isinstance(value, list | tuple):
        raise SetupError(
            "A position has {what} as a list, not {value!r}.",
            "Dans une position, {what} est une liste, pas {value!r}.",
            what=what,
            value=str(value)[:40],
        )
    return value
