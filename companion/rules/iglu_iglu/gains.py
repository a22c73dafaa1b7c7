"""What can be won back on a board of Iglu Iglu with the points of a turn: sums of gains, bounded from above.

A gain is a loss (:mod:`companion.rules.iglu_iglu.sight`) that an action takes away.
"""

from __future__ import annotations

from itertools import accumulate

from companion.rules.iglu_iglu import box

NEVER = 1e6
"""The loss of what is impossible."""
WALKED, KAYAKED, BUILT, HUNTED, FLED = 1.5, 2.5, 1.5, 0.7, 1.0
"""What an action costs before anything was seen (natural logarithm): there are about so many others."""

MOST_POINTS = 3 + box.MOST_ENDURANCE
"""The most endurance points of one turn."""

Losses = tuple[float, ...]


def matched(
    loss: float, wins: list[tuple[float, int]], over: list[float], come: float, gone: float, flight: bool
) -> Losses:
    """Return for 0, 1 … points the least loss when so many inuit come where they lack as go where they are too many."""
    rows = [[0.0] * (MOST_POINTS + 1)]
    for win, cost in sorted(wins, reverse=True):
        rows.append([-NEVER] * (MOST_POINTS + 1))
        for n in range(len(rows) - 1, 0, -1):
            row, less = rows[n], rows[n - 1]
            for p in range(MOST_POINTS, cost - 1, -1):
                row[p] = max(row[p], less[p - cost] + win)
    sums = [0.0, *accumulate(over)]
    found = []
    for p in range(MOST_POINTS + 1):
        best = 0.0
        for n, row in enumerate(rows):
            if row[p] < -NEVER / 2:
                continue
            for g, total in enumerate(sums[: len(sums) if flight else p + 1]):
                # Each that is too many goes on a way of its own, whether or not somebody was wanted there.
                paid = come + (FLED if flight else WALKED) * (g - n) if g > n else gone if n > g else 0.0
                best = max(best, row[p] + total - paid)
        found.append(loss - best)
    return tuple(found)


def gained(wins: list[float], count: int) -> float:
    """Return the sum of the best so many, none of them negative."""
    if not wins or not count:
        return 0.0
    return sum(sorted((win for win in wins if win > 0), reverse=True)[:count])


def knapsack(wins: list[tuple[float, int]]) -> list[float]:
    """Return for 0, 1 … points the most that can be won; each win once, at its cost."""
    best = [0.0] * (MOST_POINTS + 1)
    for win, cost in wins:
        if win <= 0:
            continue
        if not cost:
            best = [b + win for b in best]
            continue
        for p in range(MOST_POINTS, cost - 1, -1):
            best[p] = max(best[p], best[p - cost] + win)
    return best
