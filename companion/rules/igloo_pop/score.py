"""The score sheet of Igloo Pop, and who has won (POP-4.3 … POP-4.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from companion.rules.core import JSON, PlayerScore, Reason, ScoreLine, ScoreSheet
from companion.rules.igloo_pop.components import CARD_TEXT, COLOURS, POINTS
from companion.rules.igloo_pop.position import PopPosition

GOAL: Final = 100
"""Points that end a series of games (POP-4.5)."""


def score_sheet(state: PopPosition) -> ScoreSheet:
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


def decision(state: PopPosition, sheet: ScoreSheet) -> Reason:
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


def decisions(state: PopPosition, sheet: ScoreSheet) -> tuple[Reason, ...]:
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
