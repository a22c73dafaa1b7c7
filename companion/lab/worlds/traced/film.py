"""What traced games share: the course of a game that another module tells, and its pictures, each traced once.

Of the other renderer's games only the course is used: moves and positions, no picture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from companion.lab.worlds.traced.povray import Floats, Image, Lamps, TracedView, develop, render


class Course(Protocol):
    """A game without pictures: its first moves, those of each turn, and the positions between them."""

    @property
    def game(self) -> str: ...
    @property
    def setup(self) -> Mapping[str, Any]: ...
    @property
    def set_up(self) -> list[str]: ...
    @property
    def played(self) -> list[list[str]]: ...
    @property
    def states(self) -> list[Any]: ...


@dataclass(frozen=True)
class TracedGame:
    """A game as a camera sees it (:class:`companion.lab.bench.follow.FilmedGame`), traced picture by picture."""

    seed: int
    course: Course
    view: TracedView
    scene: Callable[[Mapping[str, Any]], str]
    """Draws a position."""
    outline: Floats | None = None
    """(4, 3): the board's corners, clockwise from the far left, where people tap them; None: it is found."""
    reach: float = 900.0
    """How far away the lamps are, in mm."""
    tap: float = 1.5
    """Pixels: how far beside a corner people tap."""
    _traced: dict[int, Image] = field(default_factory=dict, compare=False, repr=False)

    @property
    def game(self) -> str:
        return self.course.game

    @property
    def setup(self) -> Mapping[str, Any]:
        return self.course.setup

    @property
    def set_up(self) -> list[str]:
        return self.course.set_up

    @property
    def played(self) -> list[list[str]]:
        return self.course.played

    @property
    def states(self) -> list[Any]:
        return self.course.states

    @property
    def lessons(self) -> tuple[tuple[bytes, Any], ...]:
        """None: the set-up is all that is taught."""
        return ()

    @property
    def corners(self) -> list[list[float]] | None:
        """The board's corners in the pictures as people tap them; None where the board is found by itself."""
        if self.outline is None:
            return None
        from companion.lab.worlds.traced.solids import chance

        beside = chance("taps", self.seed).normal(0, self.tap, (4, 2))
        return [[float(x), float(y)] for x, y in self.view.project(self.outline) + beside]

    def picture(self, number: int) -> Image:
        """Return the board after so many turns as it was traced, (height, width, 3) uint8, BGR."""
        if number not in self._traced:
            drawn = self.view.sdl() + Lamps(self.seed, self.reach).sdl() + self.scene(self.states[number].position())
            self._traced[number] = render(drawn, self.view.width, self.view.height, seed=self.seed)
        return self._traced[number]

    def frames(self, number: int, count: int = 3) -> list[bytes]:
        """Return some pictures of the same board, as JPEG: each has a noise of its own, as a camera's have."""
        return [develop(self.picture(number), 10 * number + n, light=self.seed) for n in range(count)]
