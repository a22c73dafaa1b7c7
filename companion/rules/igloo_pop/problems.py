"""Everything that can be wrong with a position of Igloo Pop, as a camera or a person may report it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from companion.rules.core import Problem
from companion.rules.igloo_pop.components import CARD_TEXT, CARDS, COLOURS, IGLOOS, PLACES, THALERS
from companion.rules.igloo_pop.position import PopPosition
from companion.rules.rulebook import rulebook


def problem(key: str, **facts: object) -> Problem:
    """Return a problem with the clauses of its sentence."""
    return Problem(key, facts, rulebook("igloo-pop").sentences[key].clauses)


def problems(state: PopPosition) -> tuple[Problem, ...]:
    """Return everything that is wrong, not only the first."""
    return (*state.flaws, *_thalers(state), *_cards(state), *_igloos(state), *_numbers(state), *_phase(state))


def _staked(state: PopPosition) -> Counter[str]:
    return Counter(colour for here in state.igloos.values() for colour, _ in here)


def _thalers(state: PopPosition) -> Iterator[Problem]:
    staked, removed = _staked(state), state.removed
    lost = {}
    for colour in state.colours:
        count = state.own[colour] + staked[colour] + (removed[colour] if removed else 0)
        if count > THALERS:
            yield problem("too-many-thalers", colour=colour, count=count)
        lost[colour] = max(0, THALERS - count)
    balanced = True
    for colour in state.colours:
        others = sum(n for other, n in lost.items() if other != colour)
        if state.captured[colour] > others:
            balanced = False
            yield problem("too-many-captured", who=colour, captured=state.captured[colour], lost=others)
    total, held = sum(lost.values()), sum(state.captured.values())
    if balanced and (held > total or (removed is not None and held < total)):
        yield problem("thalers-astray", lost=total, captured=held, away=abs(total - held))


def _cards(state: PopPosition) -> Iterator[Problem]:
    laid = [card for card in (state.card_at(where) for where in range(len(PLACES))) if card >= 0]
    won = [card for colour in state.colours for card in state.won_cards(COLOURS.index(colour))]
    for card, count in sorted(Counter([*laid, *won]).items()):
        if count > 1:
            yield problem("card-twice", card=CARD_TEXT[card], count=count)
    count = len(PLACES) - state.missing_cards + len(won) + state.stack_left
    if count != len(CARDS):
        yield problem("too-many-cards" if count > len(CARDS) else "cards-missing", count=count)


def _igloos(state: PopPosition) -> Iterator[Problem]:
    count = sum(_staked(state).values()) + len(state.hands)
    if count > len(IGLOOS):
        yield problem("too-many-igloos", count=count)
    for where, (place, here) in enumerate(state.igloos.items()):
        if here and not state.has_card(where):
            yield problem("igloo-without-card", place=place)
        for colour in dict.fromkeys(colour for colour, _ in here):
            if colour not in state.colours:
                yield problem("igloo-of-nobody", place=place, colour=colour)
    for colour in state.colours:
        if colour in state.hands:
            if not state.own[colour]:
                yield problem("hand-without-thaler", who=colour)
            if colour in state.passed:
                yield problem("passed-with-igloo", who=colour)


def _numbers(state: PopPosition) -> Iterator[Problem]:
    shown = [number for here in state.igloos.values() for _, number in here if number]
    if state.phase == "checking":
        shown += [number for result in state.last_results for _, number in result.igloos]
    for number, count in sorted(Counter(shown).items()):
        if count > 1:
            yield problem("number-twice", number=number, count=count)
    begun = []
    for place, here in state.igloos.items():
        turned = [number is not None for _, number in here]
        if not any(turned):
            continue
        if state.phase != "checking":
            yield problem("number-seen-early", place=place)
        elif all(turned):
            yield problem("card-not-settled", place=place)
        else:
            begun.append(place)
            if sorted(turned, reverse=True) != turned:
                yield problem("reveal-order", place=place)
    if len(begun) > 1:
        yield problem("two-cards-begun", places=begun)


def _phase(state: PopPosition) -> Iterator[Problem]:
    standing = [place for place, here in state.igloos.items() if here]
    if state.phase in ("deal", "ready", "over") and (standing or state.hands):
        yield problem("igloo-outside-round", place=standing[0] if standing else "hand")
    if state.phase == "checking" and not standing:
        yield problem("nothing-to-check")
    if state.phase == "shaking" and state.shaking_is_done:
        yield problem("round-should-be-over")
    if state.phase == "shaking" and state.missing_cards and not state.short_round:
        yield problem("circle-not-laid", missing=state.missing_cards)
    if state.phase in ("deal", "ready"):
        if any(not state.own[colour] for colour in state.colours):
            yield problem("broke-before-round", broke=[c for c in state.colours if not state.own[c]])
        if state.missing_cards > state.stack_left and (state.options["pop.cards_end"] == "immediate"):
            yield problem("cards-out-before-round", missing=state.missing_cards, stack=state.stack_left)
