"""Settling a card, the score sheet, and who has won (POP-3.2 … POP-3.10, POP-4.3 … POP-4.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from companion.rules.core import JSON, PlayerScore, Reason, ScoreLine, ScoreSheet
from companion.rules.igloo_pop.box import CARD_TEXT, CARDS, COLOURS, PLACES, POINTS

if TYPE_CHECKING:
    from companion.rules.igloo_pop.readings import Readings

GOAL: Final = 100
"""Points that end a series of games (POP-4.5)."""

CARD_BITS: Final = tuple(sum(1 << number for number in card) for card in CARDS)
"""The numbers of each card as bits: bit n stands for the number n."""


class CardResult(NamedTuple):
    """The check of one card: ``igloos`` in the order of placement, ``reason`` the result as figures 5 to 9 tell it."""

    place: str
    card: tuple[int, ...]
    igloos: tuple[tuple[str, int], ...]
    winner: str | None
    reason: Reason


def highest_match(bits: int, igloos: Iterable[int]) -> tuple[int, int]:
    """Return who has the highest igloo that matches, and its number; (-1, 0) where none matches (POP-3.6, POP-3.10).

    ``bits`` are the card's; an igloo is ``who * 16 + number``.
    """
    best = who = 0
    for igloo in igloos:
        number = igloo & 15
        if number > best and bits >> number & 1:
            best = number
            who = igloo >> 4
    return (who, best) if best else (-1, 0)


def explain_card(where: int, card: int, igloos: Sequence[int], remove: bool) -> Reason:
    """Return the result of a card whose igloos are all known: which case it is, and what happens to each thaler.

    ``remove`` is the house ruling for the case that none of several matches (POP-3.7).
    """
    bits = CARD_BITS[card]
    winner, number = highest_match(bits, igloos)
    right = [igloo >> 4 for igloo in igloos if bits >> (igloo & 15) & 1]
    wrong = [igloo >> 4 for igloo in igloos if not bits >> (igloo & 15) & 1]
    won = [who for who in wrong if who != winner] if right else []
    lost = len(wrong) - len(won)
    removed = [winner] * lost if right else wrong if remove or len(igloos) == 1 else []
    back = right if right or removed else wrong
    facts: dict[str, JSON] = {
        "place": PLACES[where],
        "card": CARD_TEXT[card],
        "igloos": [[COLOURS[igloo >> 4], igloo & 15] for igloo in igloos],
        "winner": COLOURS[winner] if right else None,
        "number": number if right else igloos[0] & 15 if len(igloos) == 1 else None,
        "back": [COLOURS[who] for who in back],
        "won": len(won),
        "losers": [COLOURS[who] for who in dict.fromkeys(won)],
        "removed": [COLOURS[who] for who in removed],
        "lost": len(removed),
        "igloo_count": len(igloos),
    }
    if len(igloos) == 1:
        if not right:
            facts["who"] = COLOURS[igloos[0] >> 4]
        return Reason("one-match" if right else "one-miss", facts)
    if not right:
        return Reason("none-match" if remove else "none-match-return", facts)
    if not wrong:
        return Reason("all-match", facts)
    if len(right) == 1:
        return Reason("exactly-one-alone" if not won else "exactly-one-own-wrong" if lost else "exactly-one", facts)
    return Reason("some-match-no-prey" if not won else "some-match-own-wrong" if lost else "some-match", facts)


def card_result(where: int, card: int, igloos: Sequence[int], remove: bool) -> CardResult:
    """Return the result of a card for the page."""
    reason = explain_card(where, card, igloos, remove)
    shown = tuple((COLOURS[igloo >> 4], igloo & 15) for igloo in igloos)
    return CardResult(PLACES[where], CARDS[card], shown, reason.facts["winner"], reason)


def score_sheet(state: Readings) -> ScoreSheet:
    """Return the sheets in seat order (POP-4.3); ties go by cards, then by thalers won from others (POP-4.4)."""
    sheets = []
    for seat, colour in enumerate(state.colours):
        who = COLOURS.index(colour)
        cards = state.won_cards(who)
        own, captured = state.own[colour], state.captured[colour]
        lines = (
            ScoreLine(
                "eskimos",
                sum(POINTS[card] for card in cards),
                ("POP-4.3", "POP-K.3"),
                {"count": len(cards), "cards": [CARD_TEXT[card] for card in cards]},
            ),
            ScoreLine("own-thalers", own, ("POP-4.3",), {"count": own}),
            ScoreLine("captured-thalers", captured, ("POP-4.3",), {"count": captured}),
        )
        sheets.append(PlayerScore(seat, lines, (len(cards), captured)))
    return ScoreSheet(tuple(sheets))


def decision(state: Readings, sheet: ScoreSheet) -> Reason:
    """Return what decided between the first and the others: points, cards, thalers won, or nothing (shared)."""
    best = max(s.total for s in sheet.sheets)
    level = [s for s in sheet.sheets if s.total == best]
    winners = [state.colours[seat] for seat in sheet.ranking[0]]
    cards, thalers = max(s.tie_break for s in level)
    facts: dict[str, JSON] = {"winners": winners, "points": best, "cards": cards, "thalers": thalers}
    if len(level) == 1:
        return Reason("rank-points", facts)
    if len(winners) > 1:
        return Reason("rank-shared", facts)
    most = [s for s in level if s.tie_break[0] == cards]
    facts["tied"] = [state.colours[s.player] for s in (level if len(most) == 1 else most)]
    return Reason("rank-cards" if len(most) == 1 else "rank-thalers", facts)


def decisions(state: Readings, sheet: ScoreSheet) -> tuple[Reason, ...]:
    """Return :func:`decision`, and what broke each tie on points further down, or left a place shared (POP-4.4)."""
    ranking = sheet.ranking
    by_seat = {s.player: s for s in sheet.sheets}
    reasons = [decision(state, sheet)]
    for n, place in enumerate(ranking):
        here = by_seat[place[0]]
        cards, thalers = here.tie_break
        facts: dict[str, JSON] = {
            "rank": 1 + sum(map(len, ranking[:n])),
            "winners": [state.colours[seat] for seat in place],
            "points": here.total,
            "cards": cards,
            "thalers": thalers,
        }
        shared = len(place) > 1
        if n and shared:
            reasons.append(Reason("rank-next-shared", facts))
        below = ranking[n + 1] if n + 1 < len(ranking) else ()
        # The sentence on the first place alone has said already what put it before the others.
        if below and by_seat[below[0]].total == here.total and (n or shared):
            key = "rank-next-thalers" if by_seat[below[0]].tie_break[0] == cards else "rank-next-cards"
            reasons.append(Reason(key, facts | {"others": [state.colours[seat] for seat in below]}))
    return tuple(reasons)


def series_winners(totals: Mapping[str, int], goal: int = GOAL) -> tuple[str, ...]:
    """Return who has won a series, or nobody yet: the highest total of at least ``goal`` (POP-4.5).

    Several are returned only when they have the same highest total.
    """
    best = max(totals.values(), default=0)
    return tuple(colour for colour, total in totals.items() if total == best) if best >= goal else ()
