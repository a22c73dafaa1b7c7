"""Settling a card: who has the highest igloo that matches, and what becomes of each thaler (POP-3.2 … POP-3.10)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from companion.rules.core import JSON, Reason
from companion.rules.igloo_pop.components import CARD_BITS, CARD_TEXT, CARDS, COLOURS, PLACES


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


class Thalers(NamedTuple):
    """What becomes of the thalers of a card: whose come back, whose the winner takes, whose leave the game.

    ``right`` and ``wrong`` are whose igloos match and do not, in their order; ``number`` is the winner's, 0 for none.
    """

    winner: int
    number: int
    right: list[int]
    wrong: list[int]
    back: list[int]
    losers: list[int]
    removed: list[int]


def thalers(card: int, igloos: Sequence[int], remove: bool) -> Thalers:
    """Return what becomes of the thalers of a card whose igloos are all known (POP-3.9); ``winner`` is -1 for nobody.

    ``remove`` is the house ruling for the case that none of several matches (POP-3.7).
    """
    bits = CARD_BITS[card]
    winner, number = highest_match(bits, igloos)
    right = [igloo >> 4 for igloo in igloos if bits >> (igloo & 15) & 1]
    wrong = [igloo >> 4 for igloo in igloos if not bits >> (igloo & 15) & 1]
    losers = [who for who in wrong if who != winner] if right else []
    removed = [winner] * (len(wrong) - len(losers)) if right else wrong if remove or len(igloos) == 1 else []
    return Thalers(winner, number, right, wrong, right if right or removed else wrong, losers, removed)


def explain_card(where: int, card: int, igloos: Sequence[int], remove: bool) -> Reason:
    """Return the result of a card whose igloos are all known: which case it is, and what happens to each thaler.

    ``remove`` is the house ruling for the case that none of several matches (POP-3.7).
    """
    winner, number, right, wrong, back, won, removed = thalers(card, igloos, remove)
    lost = len(wrong) - len(won)
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
