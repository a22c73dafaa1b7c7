"""What can be won back on a board of Iglu Iglu with the points of a turn: sums of gains, bounded from above.

A gain is a loss (:mod:`companion.rules.iglu_iglu.inference.likelihood`) that an action takes away.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate, combinations_with_replacement
from math import log

from companion.rules.iglu_iglu import components
from companion.rules.iglu_iglu.board import numbers
from companion.rules.iglu_iglu.inference.bounds import DISTANCE

NEVER = 1e6
"""The loss of what is impossible."""
WALKED, KAYAKED, BUILT, HUNTED, FLED = 1.5, 2.5, 1.5, 0.7, 1.0
"""What an action costs before anything was seen (natural logarithm): there are about so many others."""

POINT = 0.5
"""What each of the three points of a turn costs at least, used or not.

The bounds count it for all of them at once. What actions cost is therefore counted less that of their points: a step,
or a kayak for three points, the same; an igloo nothing; a hunt less than nothing where it takes more than one point.
"""
TRAVELLED = min(WALKED - POINT, KAYAKED - 3 * POINT)

MOST_POINTS = 3 + components.MOST_ENDURANCE
"""The most endurance points of one turn."""

Losses = tuple[float, ...]
Tables = Sequence[Sequence[Losses]]
"""For each kind of token, for each square, what 0, 1 … of it lose there."""
HELD = 9
"""Counts of one thing on one square that are told apart."""


def matched(
    loss: float, wins: list[tuple[float, int]], over: list[float], come: float, gone: float, flight: bool
) -> Losses:
    """Return for 0, 1 … points the least loss when so many inuit come where they lack as go where they are too many."""
    rows = [[0.0] * (MOST_POINTS + 1)]
    for win, cost in sorted(wins, reverse=True):
        rows.append([-NEVER] * (MOST_POINTS + 1))
        for n in range(len(rows) - 1, 0, -1):
            row = rows[n]
            rows[n] = row[:cost] + [
                b if b > a + win else a + win for a, b in zip(rows[n - 1], row[cost:], strict=False)
            ]
    sums = [0.0, *accumulate(over)]
    best = [0.0] * (MOST_POINTS + 1)
    for n, row in enumerate(rows):
        for g, total in enumerate(sums[: MOST_POINTS + 1]):
            # Each that is too many goes on a way of its own, whether or not somebody was wanted there.
            paid = come + (FLED if flight else TRAVELLED) * (g - n) if g > n else gone if n > g else 0.0
            least, more = 0 if flight else g, total - paid
            best[least:] = [b if b > a + more else a + more for a, b in zip(row[least:], best[least:], strict=True)]
    return tuple([loss - win for win in best])


def excess(losses: Losses, n: int) -> float:
    """Return the least that more than are wanted lose, where there are ``n``."""
    n = max(n, losses.index(min(losses)))
    return min(losses[n + 1 :], default=NEVER) - losses[n] if n + 1 < HELD else 0.0


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


def hunting(value: int) -> float:
    """Return what hunting a token costs, less what its points do: below 0 where leaving them would cost more."""
    return HUNTED - POINT * value


Drawn = tuple[int, int, tuple[int, ...]]
"""Tokens that come to one square: the first of the kinds they may be of, how many, what the box has of each kind.

Without numbers in the box any may come, free of charge.
"""


@cache
def draws(count: int, reserves: tuple[int, ...]) -> tuple[tuple[tuple[int, ...], float], ...]:
    """Return what may be drawn: how many of each kind, and what that costs."""
    found = []
    for kinds in combinations_with_replacement(range(len(reserves)), count):
        in_reserve, price = list(reserves), 0.0
        for kind in kinds:
            if in_reserve[kind] <= 0:
                break
            price += log(sum(in_reserve) / in_reserve[kind])
            in_reserve[kind] -= 1
        else:
            found.append((tuple(kinds.count(kind) for kind in range(len(reserves))), price))
    return tuple(found)


def brought(groups: Sequence[Sequence[tuple[int, float]]], steps: int) -> float:
    """Return the most that so many steps can win: of each group at most one way, told by its steps and its gain."""
    best = [0.0] * (steps + 1)
    for ways in groups:
        best = [max([best[p], *(best[p - cost] + win for cost, win in ways if cost <= p)]) for p in range(steps + 1)]
    return best[steps]


def cleared(
    squares: Sequence[Sequence[tuple[float, float, int]]], clear: int, base: Sequence[float]
) -> list[list[float]]:
    """Return for 0, 1 … cleared squares, for 0, 1 … points the most that can be won where animals are too many.

    ``squares``: for each its animals: what is won when one goes, what when it is hunted, for how many points. A cleared
    square loses all that it has too many of, at no points. ``base`` is won anyhow.
    """
    rows = [list(base) for _ in range(min(clear, len(squares)) + 1)]
    for animals in squares:
        # Points, and what is won for them: by the hunt alone, and by both that and clearing the square.
        ways = [(0, 0.0, 0.0)]
        for win, hunted, value in animals:
            more = [(p + value, hunt + hunted, both + hunted) for p, hunt, both in ways] if hunted > 0 else []
            ways = [(p, hunt, both + win) for p, hunt, both in ways] + more
        for k in range(len(rows) - 1, -1, -1):
            row = new = rows[k]
            for cost, hunt, both in ways:
                if hunt > 0:
                    new = new[:cost] + [b if b > a + hunt else a + hunt for a, b in zip(row, new[cost:], strict=False)]
                if k and both > hunt:
                    less = rows[k - 1]
                    new = new[:cost] + [b if b > a + both else a + both for a, b in zip(less, new[cost:], strict=False)]
            rows[k] = new
    return rows


# --- animals ----------------------------------------------------------------------------------------------------------


def standing(fish: Sequence[int], fox: Sequence[int], bears: int) -> list[list[int]]:
    """Return the squares of each kind of token, one entry each."""
    found: list[list[int]] = [[] for _ in components.TOKENS]
    for code in fish:
        found[(code & 3) - 1].append(code >> 2)
    for code in fox:
        found[components.FOX + (code & 3) - 1].append(code >> 2)
    found[components.BEAR_TOKEN] = list(numbers(bears))
    return found


def crowded(
    tables: Tables, stands: Sequence[Sequence[int]]
) -> tuple[list[list[tuple[float, float, int]]], list[tuple[float, int]], float]:
    """Return for each square what is won when one of its animals goes, what when it is hunted, for how many points.

    And what hunting further animals of the same kind wins, where leaving their points would cost more; and the least
    that is lost when some animal goes.
    """
    least = NEVER
    spare: list[tuple[float, int]] = []
    over: dict[int, list[tuple[float, float, int]]] = {}
    for token, squares in enumerate(stands):
        table = tables[token]
        value = components.TOKENS[token][1]
        price = hunting(value) if token != components.BEAR_TOKEN else NEVER
        for q in set(squares):
            losses, n = table[q], squares.count(q)
            win = losses[min(n, HELD - 1)] - min(losses[:n])
            if win > 0 or win > price:
                over.setdefault(q, []).append((max(0.0, win), win - price, value))
                least = 0.0
            least = min(least, -win)
            if n > 1 and price < 0:
                spare += [(-price, value)] * (n - 1)
    return list(over.values()), spare, max(0.0, least) if least < NEVER else 0.0


class Crowds:
    """Where animals are, what they lose there, and what is won where there are more than were seen.

    ``stands``: the squares of each kind. ``missed``: the least that is lost when some animal goes.
    """

    def __init__(self, tables: Tables, stands: list[list[int]], loss: float) -> None:
        """Weigh what stands on the board by what each kind loses on each square."""
        self.stands, self.loss = stands, loss
        self._over, spare, self.missed = crowded(tables, stands)
        self._spare = knapsack(spare)
        self._rows: list[list[float]] = []

    def won(self, clear: int) -> list[float]:
        """Return for 0, 1 … points the most that can be won when so many squares are cleared."""
        clear = min(clear, len(self._over))
        if clear >= len(self._rows):
            self._rows = cleared(self._over, clear, self._spare)
        return self._rows[clear]


def came(tables: Tables, q: int, drawn: Drawn, stands: Sequence[Sequence[int]], steps: bool, free: bool) -> float:
    """Return the most that is won by what comes to a square: less than 0 where it must come and is not wanted."""
    first, count, reserves = drawn
    bear = first == components.BEAR_TOKEN
    kinds = 1 if bear else 3
    rows = []
    for token in range(first, first + kinds):
        losses, n = tables[token][q], stands[token].count(q)
        # What may step away or be killed costs nothing.
        gone = min(0.0, hunting(components.TOKENS[token][1])) if steps else hunting(components.TOKENS[token][1])
        if bear:
            gone = 0.0 if steps or free else NEVER
        if steps:
            row = [0.0] + [max(0.0, losses[n] - min(losses[n:])) - min(0.0, gone) * k for k in range(1, count + 1)]
        else:
            row = [
                max(losses[n] - losses[n + m] - (gone * (k - m) if k > m else 0.0) for m in range(k + 1))
                for k in range(count + 1)
            ]
        rows.append(row)
    if bear:
        return rows[0][1]
    best = -NEVER
    for counts, price in draws(count, reserves or (HELD,) * 3):
        won = sum(row[k] for row, k in zip(rows, counts, strict=True))
        best = max(best, won - (price if reserves else 0.0))
    return best


def fetched(
    tables: Tables,
    wants: Sequence[int],
    stands: Sequence[Sequence[int]],
    steps: int,
    fresh: int,
    drawn: Drawn | None,
    drift: bool,
) -> float:
    """Return the most that animals win who step to where they lack, less what they lose where they came from."""
    groups = []
    some = range(drawn[0], drawn[0] + 3) if drawn is not None else ()
    for token, squares in enumerate(stands):
        table = tables[token]
        anew = fresh if token in some else 0
        if not squares and not anew:
            continue
        for q in numbers(wants[token]):
            losses, n = table[q], squares.count(q)
            win = losses[min(n, HELD - 1)] - min(losses[n:])
            if win <= 0:
                continue
            row = DISTANCE[q]
            far = sorted(max(1, row[o] - drift) for o in squares if o != q)
            if anew:
                near = min((row[o] for o in numbers(anew & ~(1 << q))), default=steps + 1)
                far = sorted([*far, *([near] * (drawn[1] if drawn is not None else 0))])
            if not far or far[0] > steps:
                continue
            ways: list[tuple[int, float]] = []
            if anew or drift:
                # What comes otherwise too may make more of it together.
                ways.append((far[0], win))
            else:
                one = losses[n] - losses[n + 1]
                for o in set(squares):
                    if o != q and row[o] <= steps:
                        m = squares.count(o)
                        ways.append((row[o], one - max(0.0, min(table[o][:m]) - table[o][m])))
                for k, cost in enumerate(accumulate(far), 1):
                    if k > 1 and cost <= steps:
                        ways.append((cost, losses[n] - min(losses[n : n + k + 1])))
            groups.append(ways)
    return brought(groups, steps)
