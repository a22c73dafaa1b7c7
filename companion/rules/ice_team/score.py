"""The score sheet of Ice Team, and what decided."""

from __future__ import annotations

from companion.rules.core import JSON, PlayerScore, Reason, ScoreLine, ScoreSheet
from companion.rules.ice_team.position import TEAM, IcePosition


def sheet(s: IcePosition) -> ScoreSheet:
    """Return fresh and frozen fish; a tie goes to whoever has all bears home (ICE-E.2)."""
    sheets = tuple(
        PlayerScore(
            seat,
            (
                ScoreLine("fresh-fish", s.fresh[seat], ("ICE-E.2",), {"count": s.fresh[seat]}),
                ScoreLine("frozen-fish", s.frozen[seat], ("ICE-E.2", "ICE-2.4"), {"count": s.frozen[seat]}),
            ),
            (int(s.home(seat) == TEAM),),
        )
        for seat in (0, 1)
    )
    # Whoever is blocked has lost, whatever the fish say (ICE-E.3).
    return ScoreSheet(sheets, ((1 - s.loser,), (s.loser,)) if s.loser >= 0 else ())


def end(s: IcePosition) -> Reason:
    """Return how the game ended."""
    if s.loser >= 0:
        return Reason("ended-blocked", {"who": s.colours[s.loser]})
    return Reason("ended-home", {"who": s.colours[s.seat]})


def ranking(s: IcePosition) -> Reason:
    """Return what decides between the two as it stands."""
    found = sheet(s)
    first = found.ranking[0]
    best = found.sheets[first[0]]
    facts: dict[str, JSON] = {"who": [s.colours[seat] for seat in first], "total": best.total}
    if s.loser >= 0:
        return Reason("rank-blocked", {**facts, "loser": s.colours[s.loser]})
    if len(first) > 1:
        return Reason("rank-level", facts)
    other = found.sheets[1 - first[0]].total
    return Reason("rank-fish" if best.total > other else "rank-home", {**facts, "other": other})
