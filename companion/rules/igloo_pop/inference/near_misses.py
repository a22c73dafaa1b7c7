"""What may have been meant by a table of Igloo Pop that no round leads to: the moves and faults to be asked about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from companion.rules.core import JSON, Reason, Ruling
from companion.rules.igloo_pop import moves as m
from companion.rules.igloo_pop.components import CARD_TEXT, COLOURS, IGLOOS, PLACES
from companion.rules.igloo_pop.faults import fault_ruling
from companion.rules.igloo_pop.inference.likelihood import AFTER, PopLikelihood
from companion.rules.igloo_pop.moves import IglooPopMove
from companion.rules.igloo_pop.position import PopPosition
from companion.rules.inference.explain import Objection
from companion.rules.inference.turns import Turn
from companion.rules.rulebook import rulebook


def _seen_phase(goal: PopLikelihood) -> Any:
    """Return the phase that was told, or None."""
    return goal.evidence.fields.get("phase")


def near_misses(goal: PopLikelihood, s: PopPosition, missed: Sequence[str]) -> Iterator[IglooPopMove]:
    """Yield the moves that would have made what was seen, were they legal."""
    phase = s.phase
    if phase in {"deal", "ready"} and s.round == goal.before.round and (_seen_phase(goal) or "shaking") not in AFTER:
        yield m.START_MOVE
    for where, place in enumerate(PLACES):
        if place in missed:
            yield from _at(goal, s, where)
        if f"{place}.numbers" in missed and phase in {"shaking", "checking"}:
            shown = [number for _, number in goal.numbers[where] if number in IGLOOS]
            yield from (m.REVEALS[where][number - IGLOOS[0]] for number in shown)
    if "results" in missed and phase == "checking" and goal.results is not None:
        for where, pairs in goal.results.items():
            yield from (m.REVEALS[where][number - IGLOOS[0]] for _, number in pairs if number in IGLOOS)
    if phase == "shaking":
        if "phase" in missed:
            # An igloo that is still in a hand keeps the round going.
            yield from (m.PASSES[COLOURS.index(colour)] for colour in sorted(s.hands))
        for who in goal.seats:
            in_hand = goal.tallies["in_hand"][who]
            if f"{COLOURS[who]}.in_hand" in missed:
                yield (m.PASSES if in_hand and _seen_phase(goal) != "shaking" else m.TAKES if in_hand else m.RETURNS)[
                    who
                ]
            if f"{COLOURS[who]}.passed" in missed:
                yield m.PASSES[who]


def _at(goal: PopLikelihood, s: PopPosition, where: int) -> Iterator[IglooPopMove]:
    seen, card = goal.stand[where], goal.cards[where]
    if seen and s.phase in {"shaking", "checking"}:
        now = Counter(igloo >> 4 for igloo in s.igloos_at(where))
        yield from (m.PLACINGS[who][where] for who in seen - now)
    if card is not None and card >= 0 and s.card_at(where) != card and s.phase != "checking":
        yield m.DEALS[where][card]


def verdicts(goal: PopLikelihood, nearest: Turn, missed: Sequence[str]) -> Iterator[tuple[IglooPopMove | str, Ruling]]:
    """Yield the rulings on what no move says: an igloo that was moved, a thaler not one's own, a game that is over."""
    before, end = goal.before, _end(nearest)
    for where, place in enumerate(PLACES):
        seen = goal.stand[where]
        if place in missed and seen is not None and _seen_phase(goal) not in AFTER:
            gone = Counter(igloo >> 4 for igloo in before.igloos_at(where)) - seen
            # On a card that was settled they are gone for good reason.
            if gone and where not in (goal.results or {}):
                colour = COLOURS[next(iter(gone))]
                yield f"{colour} {place}", fault_ruling("POP-2.6", colour, before)
    for who in goal.seats:
        colour, captured = COLOURS[who], goal.tallies["captured"][who]
        if f"{colour}.captured" in missed and captured is not None and captured < before.captured[colour]:
            yield f"{colour}.captured", fault_ruling("POP-2.5", colour, before)
    for place, number in twice(goal):
        reason = Reason("number-used", {"place": place, "number": number, "phase": "checking"})
        yield m.REVEALS[PLACES.index(place)][number - IGLOOS[0]], rulebook("igloo-pop").ruling(False, reason, before)
    if "phase" in missed and end.phase == "over":
        yield m.START_MOVE, end.check(m.START_MOVE)


def plain_objections(goal: PopLikelihood) -> Iterator[Objection]:
    """Yield what is plainly wrong with a table: too many igloos, a card that lies twice, a number that came to nothing.

    When the last igloo of a card is read the card is settled at once (POP-M.5): no number stays there.
    """
    standing = sum(sum(seen.values()) for seen in goal.stand if seen is not None)
    if standing > len(IGLOOS):
        yield _plain(goal, "too-many-igloos", {"count": standing}, [])
    cards = Counter(card for card in goal.cards if card is not None and card >= 0)
    for card, count in sorted(cards.items()):
        if count > 1:
            places = [place for where, place in enumerate(PLACES) if goal.cards[where] == card]
            yield _plain(goal, "card-twice", {"card": CARD_TEXT[card], "count": count}, places)
    for where, place in enumerate(PLACES):
        seen, shown = goal.stand[where], goal.numbers[where]
        for colour in {COLOURS[who] for who in seen or ()} - set(goal.before.colours):
            yield _plain(goal, "igloo-of-nobody", {"place": place, "colour": colour}, [place])
        if seen is not None and shown and len(shown) >= sum(seen.values()):
            yield _plain(goal, "number-untold", {"place": place, "number": shown[-1][1]}, [place])


def _plain(goal: PopLikelihood, key: str, facts: dict[str, JSON], places: Sequence[str]) -> Objection:
    ruling = rulebook("igloo-pop").ruling(False, Reason(key, facts), goal.before)
    return Objection("", ruling, frozenset(name for place in places for name in (place, f"{place}.numbers")))


def twice(goal: PopLikelihood) -> list[tuple[str, int]]:
    """Return the numbers that were told of more than one igloo, each with the last place."""
    shown = [(PLACES[where], number) for where, pairs in (goal.results or {}).items() for _, number in pairs]
    shown += [(PLACES[where], number) for where, pairs in goal.numbers.items() for _, number in pairs]
    count = Counter(number for _, number in shown)
    last = {number: place for place, number in shown if count[number] > 1 and number in IGLOOS}
    return [(place, number) for number, place in last.items()]


def _end(nearest: Turn) -> Any:
    return nearest.state
