"""The story of a game that has ended: how the scores went, the turn that gained most, and the most disputed move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise, takewhile
from operator import itemgetter
from typing import Any

from companion.night.log.match import Match
from companion.rules.core import JSON, State

MOST_POINTS = 80
"""Points of the chart; a longer game is thinned out evenly, its end always kept."""


def story(match: Match) -> dict[str, JSON] | None:
    """Return the story of a game that has ended, by the rules or by the table.

    ``{"chart": [[score, … by seat] …], "best": null | {"colour", "gain"}, "disputed": null | {"times", "all", "en",
    "fr"}}``.

    The chart begins with the first state; it has a point for each entry of the journal after which scores may be
    compared. ``best`` is the turn in which the player whose turn it was gained most, the first of several; where all
    play at once, the round in which anybody did.
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
    gains: list[tuple[int, str]] = []  # gain and colour, of turns and rounds in their order
    turn = -1
    if match.view.follows:
        # What is shown at the very end, a totem, is nobody's turn.
        shown = len(list(takewhile(lambda step: match.view.revealing(step.move), reversed(match.steps))))
        even = [n for n in even if n <= len(match.steps) - shown]
    before = _totals(seen(match.states[even[0]])) if even else []
    for last, n in pairwise(even):
        after = _totals(seen(match.states[n]))
        rise = [new - old for old, new in zip(before, after, strict=True)]
        before = after
        ended, turn = turn, match.view.turn(match.states[last])
        if turn < 0:
            gains.append(max(zip(rise, match.colours, strict=True), key=itemgetter(0)))
        elif turn == ended:
            gains[-1] = (gains[-1][0] + rise[turn], match.colours[turn])
        else:
            gains.append((rise[turn], match.colours[turn]))
    gain, colour = max(gains, key=itemgetter(0), default=(0, ""))
    return {"colour": colour, "gain": gain} if gain > 0 else None
