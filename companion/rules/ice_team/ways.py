"""Where a bear may go: walking, leaping, swimming (ICE-1.1, ICE-1.2a, ICE-1.3a).

Every movement that the boards allow is laid down once, with what must lie on its way; whether it can be made is then
a matter of masks: spaces without a tile (``sea``) and spaces with a bear (``taken``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from companion.rules.ice_team.moves import IceMove

if TYPE_CHECKING:
    from companion.rules.ice_team.board import Layout


class Way(NamedTuple):
    """One way of making a movement: ``over`` is the mask of the spaces that it passes, ``end`` that of its target.

    A leap passes one space with a bear, a swim one or more of open sea; ``arrival`` is the mask of its direction.
    """

    over: int
    end: int
    move: IceMove
    arrival: int


class Ways:
    """All movements on a layout; ``drifts[i]`` and ``pushes[i]`` are the drifts that end on space i.

    Start and Village have bits of their own beyond those of the spaces: they are never sea and never taken, so that a
    bear may always end there (ICE-0.3).
    """

    def __init__(self, layout: Layout) -> None:
        spaces = range(layout.start + 2)
        self.drifts = [IceMove("drift", name) for name in layout.names]
        self.pushes = [IceMove("push", name) for name in layout.names]
        self._beside = [0 for _ in spaces]
        self._walks: list[dict[int, list[IceMove]]] = [{} for _ in spaces]
        self._leaps: list[list[Way]] = [[] for _ in spaces]
        self._swims: list[list[tuple[int, list[Way]]]] = [[] for _ in spaces]
        self._ways: dict[IceMove, list[Way]] = {}
        self._names = layout.names
        for origin in spaces:
            for (direction, first), line in zip(layout.lines[origin], layout.rays(origin), strict=True):
                self._beside[origin] |= 1 << first
                self._way("walk", origin, line[:1], direction)
                if len(line) > 1 and line[1] != origin:
                    self._leaps[origin].append(self._way("leap", origin, line[:2], direction))
                ends = [end for end in range(2, len(line) + 1) if line[end - 1] != origin]
                swims = [self._way("swim", origin, line[:end], direction) for end in ends]
                self._swims[origin].append((1 << first, swims))

    def _way(self, kind: str, origin: int, line: list[int], direction: int) -> Way:
        move = IceMove(kind, self._names[origin], self._names[line[-1]])
        way = Way(sum(1 << space for space in line[:-1]), 1 << line[-1], move, 1 << direction)
        self._ways.setdefault(move, []).append(way)
        return way

    def moves(self, origins: Iterable[int], sea: int, taken: int) -> list[IceMove]:
        """Return the movements of the bears on some spaces, each once."""
        closed = sea | taken
        found: list[IceMove] = []
        for origin in origins:
            beside = self._beside[origin]
            tiles = beside & ~closed
            walks = self._walks[origin].get(tiles)
            found += self._walks_to(origin, tiles) if walks is None else walks
            far: list[IceMove] = []
            if beside & taken:
                far += [move for over, end, move, _ in self._leaps[origin] if over & taken and not end & closed]
            if beside & sea:
                for first, line in self._swims[origin]:
                    if first & sea:
                        for over, end, move, _ in line:
                            if over & ~sea:
                                break
                            if not end & closed:
                                far.append(move)
            # Several lines may lead between a space and the edge of Start or Village.
            found += dict.fromkeys(far) if len(far) > 1 else far
        return found

    def _walks_to(self, origin: int, targets: int) -> list[IceMove]:
        """Return, and keep, the walks from a space to those of a mask."""
        names = self._names
        found = [IceMove("walk", names[origin], name) for space, name in enumerate(names) if targets >> space & 1]
        self._walks[origin][targets] = found
        return found

    def some(self, origins: Iterable[int], sea: int, taken: int) -> bool:
        """Return whether a bear can go anywhere from some spaces."""
        closed = sea | taken
        for origin in origins:
            if self._beside[origin] & ~closed:
                return True  # it can walk: nearly always, and quickly seen
        return bool(self.moves(origins, sea, taken))

    def arrival(self, move: IceMove, sea: int, taken: int) -> int:
        """Return the mask of the directions in which a movement may arrive, 0 where it cannot be made.

        There are several only from or to Start and Village, whose edges meet several lines.
        """
        found = 0
        for over, end, _, arrival in self._ways.get(move, ()):
            if not end & (sea | taken) and not over & ~(taken if move.kind == "leap" else sea):
                found |= arrival
        return found


def between(layout: Layout, origin: int, target: int) -> list[list[int]]:
    """Return, for every line that leads from one space to another, the spaces that lie between them."""
    return [line[: line.index(target)] for line in layout.rays(origin) if target in line]
