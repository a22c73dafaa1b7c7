"""Thin Ice as the night sees it: nine squares to tap, a die to enter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from companion.night.games.board import BoardView, Tap
from companion.night.messages import Words
from companion.rules.core import JSON, State
from companion.rules.thin_ice import svg
from companion.rules.thin_ice.json_form import COLOURS

PROMPTS: dict[str, Words] = {
    "put": Words("Tap a free floe."),
    "roll": Words("What does the die show?"),
    "over": Words("The game is over."),
}
ROLLED: dict[str, Words] = {
    "hold": Words("The ice holds"),
    "crack": Words("The ice cracks"),
}
PUT = Words("Put a penguin on {square}")
STANDING = Words("penguins: {count}")


class ThinIceView(BoardView):
    """Thin Ice on the page."""

    game_id = "thin-ice"
    followed = True
    chances: ClassVar[frozenset[str]] = frozenset({"roll"})

    def phase(self, state: Any) -> str:
        """Return the phase's name."""
        return str(state.phase)

    def turn(self, state: Any) -> int:
        """Return whose turn it is."""
        return int(state.seat)

    def prompt(self, state: Any) -> Words:
        """Return what is to be done now."""
        return PROMPTS[state.phase]

    def draw(self, state: Any, lang: str, viewer: int | None, move: Any = None) -> str:
        """Return the board; nothing is hidden."""
        del viewer
        return svg.draw(state, move, lang)

    def notes(self, state: Any, seat: int) -> list[Words]:
        """Return how many penguins stand on the ice."""
        return [STANDING.filled({"count": state.cells.count(COLOURS[seat])})]

    def about(self, state: Any) -> list[str]:
        """Return the square that is rolled for."""
        return [state.last] if state.last else []

    def tap(self, state: State[Any], move: Any) -> Tap:
        """Return how a move is tapped."""
        del state
        if move.kind == "roll":
            return Tap((), ROLLED[move.what])
        return Tap((move.what,), PUT.filled({"square": move.what}))

    def lying_so(self, state: Any, places: Mapping[str, JSON], turn: str) -> dict[str, JSON]:
        """Return what changes: nothing is rolled for any more."""
        return super().lying_so(state, places, turn) | {"phase": "put", "last": None}

    def attempts(self, state: State[Any], path: Sequence[str]) -> Iterator[str]:
        """Yield what tapping a square may mean."""
        del state
        return (f"put {square}" for square in path[-1:])


VIEW = ThinIceView()
