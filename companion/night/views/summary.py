"""The story of a game that has ended: how the scores went, the move that gained most, and the most disputed one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from companion.night.log.match import Match
from companion.rules.core import JSON, State

MOST_POINTS = 80
"""Points of the chart; a longer game is thinned out evenly, its end always kept."""


def story(match: Match) -> dict[str, JSON] | None:
    """Return the story of a game that has ended, by the rules or by the table.

    ``{"chart": [[score, … by seat] …], "best": null | {"colour", "gain", "en", "fr"}, "disputed": null | {"times",
    "all", "en", "fr"}}``.

    The chart begins with the first state; it has a point for each entry of the journal after which scores may be
    compared. ``best`` is the gain by which somebody rose most from one such state to the next, the first of several.
    Corrections that the table agreed on are no part of it. A game that was ended early is told as a bystander knows it.
    The totals of a score sheet are the last point; of a game that was only counted they are the only one.
    ``disputed`` is what the table took back together, corrected or reported most often, the last of several; ``all``
    counts all of these. None while the game goes on: scores on the way may tell what is hidden.
    """
    ending = match.ending
    if ending is None or not (match.steps or ending == "sheet"):
        return None
    if not match.steps:
        return {"chart": [_totals(match.state)], "best": None, "disputed": _disputed(match)}
    # Of a game that did not come to its end, hands and totems are still nobody else's.
    seen = (lambda state: state) if ending == "rules" else match.view.seen
    ends = {n for n, (step, after) in enumerate(pairwise(match.steps), 1) if step.seq != after.seq}
    even = [n for n, state in enumerate(match.states) if match.view.comparable(state)]
    marks = [n for n in even if n in ends or n == 0]
    if len(match.steps) not in marks:
        marks.append(len(match.steps))
    if len(marks) > MOST_POINTS:
        marks = [marks[round(i * (len(marks) - 1) / (MOST_POINTS - 1))] for i in range(MOST_POINTS)]
    chart = [_totals(seen(match.states[mark])) for mark in marks]
    if ending == "sheet":
        chart.append(_totals(match.state))
    return {
        "chart": chart,
        "best": _best(match, even, seen),
        "disputed": _disputed(match),
    }


def _disputed(match: Match) -> dict[str, JSON] | None:
    if not match.disputes:
        return None
    often = Counter(about for about, _ in match.disputes)
    most = max(often.values())
    words = next(words for about, words in reversed(match.disputes) if often[about] == most)
    return {"times": most, "all": len(match.disputes), **words.to_json()}


def _totals(state: State[Any]) -> list[int]:
    return [sheet.total for sheet in state.score().sheets]


def _best(match: Match, even: list[int], seen: Callable[[State[Any]], State[Any]]) -> dict[str, JSON] | None:
    found: tuple[int, int, int] | None = None
    before = _totals(seen(match.states[even[0]])) if even else []
    for n in even[1:]:
        after = _totals(seen(match.states[n]))
        if match.view.follows and match.view.revealing(match.steps[n - 1].move):
            before = after  # what is shown at the end, a totem, is nobody's move
            continue
        gain, seat = max((new - old, -seat) for seat, (old, new) in enumerate(zip(before, after, strict=True)))
        if gain > 0 and (found is None or gain > found[0]):
            found = gain, -seat, n
        before = after
    if found is None:
        return None
    gain, seat, n = found
    ruling = match.view.public_ruling(match.states[n - 1], match.steps[n - 1].move)
    return {"colour": match.colours[seat], "gain": gain, **ruling.to_json()}
