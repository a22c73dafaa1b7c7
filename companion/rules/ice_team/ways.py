"""Where a bear may go: walking, leaping, swimming (ICE-1.1, ICE-1.2a, ICE-1.3a).

Every movement that the boards allow is laid down once, with what must lie on its way; whether it can be made is then
a matter of masks: spaces without a tile (``sea``) and spaces with a bear (``taken``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from companion.rules.ice_team.moves import IceMove


class Way(NamedTuple):
    """One way of making a movement: ``over`` is the mask of the spaces that it passes, ``end`` that of its target.

    A leap passes one space with a bear, a swim one or more of open sea; ``arrival`` is the mask of its direction.
    """

    over: int
    end: int
    move: IceMove
    arrival: int


T = TypeVar("T")


class Chosen(dict[int, list[T]]):
    """What a mask chooses out of things that have a bit each; worked out once for each of the few masks."""

    def __init__(self) -> None:
        super().__init__()
        self.things: list[tuple[int, T]] = []

    def __missing__(self, mask: int) -> list[T]:
        found = self[mask] = [thing for bit, thing in self.things if bit & mask]
        return found


class Ways:
    """All movements on a layout; ``drifts[i]`` and ``pushes[i]`` are the drifts that end on space i.

    Start and Village have bits of their own beyond those of the spaces: they are never sea and never taken, so that a
    bear may always end there (ICE-0.3).
    """

    def __init__(self, names: tuple[str, ...], rays: Sequence[Sequence[tuple[int, list[int]]]]) -> None:
        """Lay down all movements; ``rays`` are the lines that leave each of the named spaces, with their directions."""
        spaces = range(len(names))
        self.drifts = [IceMove("drift", name) for name in names]
        self.pushes = [IceMove("push", name) for name in names]
        self._names = names
        self._beside = [0 for _ in spaces]
        # Chosen by what lies beside a space: tiles to walk onto, bears to leap over, sea to swim into.
        self._walks: list[Chosen[IceMove]] = [Chosen() for _ in spaces]
        self._leaps: list[Chosen[Way]] = [Chosen() for _ in spaces]
        self._swims: list[Chosen[list[Way]]] = [Chosen() for _ in spaces]
        self._ways: dict[IceMove, list[Way]] = {}
        for origin in spaces:
            for direction, line in rays[origin]:
                first = line[0]
                walk = self._way("walk", origin, line[:1], direction)
                if not self._beside[origin] & 1 << first:
                    self._walks[origin].things.append((1 << first, walk.move))
                self._beside[origin] |= 1 << first
                if len(line) > 1 and line[1] != origin:
                    leap = self._way("leap", origin, line[:2], direction)
                    self._leaps[origin].things.append((1 << first, leap))
                ends = [end for end in range(2, len(line) + 1) if line[end - 1] != origin]
                swims = [self._way("swim", origin, line[:end], direction) for end in ends]
                self._swims[origin].things.append((1 << first, swims))
        # Several lines may lead between a space and the edge of Start or Village.
        doubled = {move.a for move, ways in self._ways.items() if len(ways) > 1}
        self._doubled = [name in doubled for name in self._names]

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
            found += self._walks[origin][beside & ~closed]
            if not beside & closed:
                continue
            far = [move for _, end, move, _ in self._leaps[origin][beside & taken] if not end & closed]
            for line in self._swims[origin][beside & sea]:
                for over, end, move, _ in line:
                    if over & ~sea:
                        break
                    if not end & closed:
                        far.append(move)
            found += dict.fromkeys(far) if self._doubled[origin] else far
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
