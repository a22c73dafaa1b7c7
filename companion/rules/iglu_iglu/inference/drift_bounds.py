"""What a drift of Iglu Iglu can win, line by line of the board, for the bounds of :mod:`.likelihood`.

A drift shifts floes on one row or column, with what lies on them, and what swims at the end of them goes to a square
beside it. What is elsewhere stays as it is. On the line the grounds are shifted in every way there is; of everything
else it is taken that the drift may make good what is wrong there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from companion.rules.iglu_iglu import components
from companion.rules.iglu_iglu.board import CORNERS, SEA, near, numbers
from companion.rules.iglu_iglu.inference.gains import HELD, NEVER, Losses, Tables, standing
from companion.rules.iglu_iglu.position import DISPLACING, DRIFTING, PEEKING, REVEALING, IgluPosition

LINES: tuple[tuple[int, ...], ...] = tuple(
    [tuple(range(8 * row, 8 * row + 8)) for row in range(8)] + [tuple(range(column, 64, 8)) for column in range(8)]
)
"""The squares of each row and column."""
_MASKS: tuple[int, ...] = tuple(sum(1 << q for q in line) for line in LINES)
_LAND = 3
_STIRRED = 15
"""So many floes at open water leave one to push, whatever two tiles and three animal steps do before the drift."""


def sure(s: IgluPosition, *, early: bool) -> bool:
    """Return whether a drift that comes must shift something: a floe at water where nothing swims can be pushed.

    ``early``: tiles may be played before melting.
    """
    if s.phase == DISPLACING:
        return True
    pushed = (s.floes & near(SEA & ~s.floes & ~s.shoals & ~s.bears)).bit_count()
    if s.phase in (PEEKING, REVEALING, DRIFTING):
        return pushed > 0
    return pushed >= (_STIRRED if early else 2)


class Lines:
    """The least loss of the grounds, and the most that other things gain, by the line on which the drift is.

    Each answer has one number for every line and a last one for no drift at all.
    """

    def __init__(
        self,
        ground: Sequence[tuple[float, float, float]],
        inuit: Sequence[Sequence[Losses]],
        igloo: Sequence[Sequence[Losses]],
        token: Tables,
    ) -> None:
        """Begin with what everything loses on each square: water, a floe and a pack, tribes by seat, and tokens."""
        self.ground, self.inuit, self.igloo, self.token = ground, inuit, igloo, token
        lacking = [[losses[0] - min(losses) for losses in table] for table in token]
        self._spots = [sum(gains) for gains in zip(*lacking, strict=True)]
        swimming = [gains for kind, gains in enumerate(lacking) if _swims(kind)]
        self._swimming = [sum(gains) for gains in zip(*swimming, strict=True)]
        self._shifted: dict[tuple[int, int, int], tuple[float, float]] = {}
        self._grounds: dict[tuple[int, int, int], tuple[float, ...]] = {}
        self._tribes: dict[tuple[int, tuple[int, ...], int], tuple[float, ...]] = {}
        self._animals: dict[tuple[tuple[int, ...], tuple[int, ...], int], tuple[float, ...]] = {}

    def grounds(self, floes: int, packs: int, removals: int) -> tuple[float, ...]:
        """Return the least loss of the grounds when so many floes may go."""
        key = (floes, packs, removals)
        found = self._grounds.get(key)
        if found is None:
            found = self._grounds[key] = tuple(self._drifted(floes, packs, removals))
        return found

    def tribe(self, seat: int, inuit: tuple[int, ...], igloos: int) -> tuple[float, ...]:
        """Return the most that a tribe may gain."""
        key = (seat, inuit, igloos)
        found = self._tribes.get(key)
        if found is None:
            inuit_losses, igloo_losses = self.inuit[seat], self.igloo[seat]
            spots = [a[0] - min(a) + b[0] - min(b) for a, b in zip(inuit_losses, igloo_losses, strict=True)]
            for q in set(inuit):
                spots[q] += inuit_losses[q][inuit.count(q)] - inuit_losses[q][0]
            for q in numbers(igloos):
                spots[q] += igloo_losses[q][1] - igloo_losses[q][0]
            found = self._tribes[key] = _summed(spots, 0.0)
        return found

    def animals(self, fish: tuple[int, ...], fox: tuple[int, ...], bears: int) -> tuple[float, ...]:
        """Return the most that animals may gain, with what swims to a square beside the line."""
        key = (fish, fox, bears)
        found = self._animals.get(key)
        if found is None:
            spots, swimming = list(self._spots), list(self._swimming)
            for kind, squares in enumerate(standing(fish, fox, bears)):
                for q in set(squares):
                    losses = self.token[kind][q]
                    more = losses[min(squares.count(q), HELD - 1)] - losses[0]
                    spots[q] += more
                    if _swims(kind):
                        swimming[q] += more
            found = self._animals[key] = _summed(spots, max(swimming))
        return found

    def _drifted(self, floes: int, packs: int, removals: int) -> Iterator[float]:
        ground = self.ground
        there = [ground[q][2 if packs >> q & 1 else 1 if floes >> q & 1 else 0] for q in range(64)]
        whole = sum(there)
        wins = [(ground[q][1] - ground[q][0], q) for q in numbers(floes & ~packs) if ground[q][1] > ground[q][0]]
        wins.sort(reverse=True)
        for number, line in enumerate(LINES):
            mask = _MASKS[number]
            rest = whole - sum([there[q] for q in line])
            besides = [win for win, q in wins if not mask >> q & 1][:removals]
            # Of what two removals and a drift make of one line nothing is taken to be wrong.
            here = (*self._shifts(number, floes & mask, packs & mask), 0.0)
            yield min(here[k] + rest - sum(besides[: removals - k]) for k in range(removals + 1))
        yield whole - sum(win for win, _ in wins[:removals])

    def _shifts(self, number: int, floes: int, packs: int) -> tuple[float, float]:
        """Return the least loss on a line after a drift on it, and when one floe of it goes before or after."""
        key = (number, floes, packs)
        known = self._shifted.get(key)
        if known is not None:
            return known
        cells = [
            _LAND if CORNERS >> q & 1 else 2 if packs >> q & 1 else 1 if floes >> q & 1 else 0 for q in LINES[number]
        ]
        tables = [(*self.ground[q], 0.0) for q in LINES[number]]
        wins = [max(0.0, table[1] - table[0]) for table in tables]
        plain = less = NEVER
        for after in _pushes(cells):
            loss = sum([table[cell] for table, cell in zip(tables, after, strict=True)])
            plain = min(plain, loss)
            less = min(less, loss - max([win for win, cell in zip(wins, after, strict=True) if cell == 1], default=0.0))
        for place, cell in enumerate(cells):
            if cell != 1:
                continue
            for after in _pushes([*cells[:place], 0, *cells[place + 1 :]]):
                less = min(less, sum([table[cell] for table, cell in zip(tables, after, strict=True)]))
        self._shifted[key] = (plain, less)
        return plain, less


def _pushes(cells: list[int]) -> Iterator[list[int]]:
    """Yield a line after each push: the floes from one square to the next water shift by one."""
    for row in (cells, cells[::-1]):
        end = -1
        # Going back from each water: every floe of the unbroken row before it may be the one that is pushed.
        for place in range(len(row) - 1, -1, -1):
            cell = row[place]
            if cell == 0:
                end = place
            elif cell == _LAND:
                end = -1
            elif end >= 0:
                after = [*row[:place], 0, *row[place:end], *row[end + 1 :]]
                yield after if row is cells else after[::-1]


def _swims(token: int) -> bool:
    return token < components.FOX or token == components.BEAR_TOKEN


def _summed(spots: Sequence[float], more: float) -> tuple[float, ...]:
    return (*[sum([spots[q] for q in line]) + more for line in LINES], 0.0)
