"""A position of Thin Ice and its moves: what is legal and why, what follows, when it ends and who has won."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from companion.rules.core import (
    CHANCE,
    JSON,
    NOBODY,
    Game,
    Outcome,
    PlayerScore,
    Problem,
    Reason,
    ScoreLine,
    ScoreSheet,
    State,
)
from companion.rules.thin_ice.json_form import COLOURS, FORM, FREE, SQUARES, WATER

LINES: Final = ("a1 b1 c1", "a2 b2 c2", "a3 b3 c3", "a1 a2 a3", "b1 b2 b3", "c1 c2 c3", "a1 b2 c3", "c1 b2 a3")
PENGUINS: Final = 5
THREE: Final = 3
ROLLS: Final = {"hold": 4 / 6, "crack": 2 / 6}
"""What the die shows, and how often (THIN-K.3)."""


class ThinIceMove(NamedTuple):
    """``put a1``: a penguin onto a floe; ``roll hold`` or ``roll crack``: what the die showed then."""

    kind: str
    what: str

    def __str__(self) -> str:
        """Return the notation."""
        return f"{self.kind} {self.what}"


PUTS: Final = tuple(ThinIceMove("put", square) for square in SQUARES)
DICE: Final = tuple(ThinIceMove("roll", face) for face in ROLLS)


@dataclass(frozen=True, slots=True)
class ThinIceState(State[ThinIceMove]):
    """A position: ``cells`` in the order of SQUARES; ``last`` is the square that is rolled for, None before a put."""

    rules: Game[ThinIceMove]
    names: tuple[str, ...]
    cells: tuple[str, ...] = (FREE,) * len(SQUARES)
    seat: int = 0
    last: str | None = None

    @property
    def game(self) -> Game[ThinIceMove]:
        """Return Thin Ice."""
        return self.rules

    @property
    def colours(self) -> tuple[str, ...]:
        """Return the colours in seat order."""
        return COLOURS

    @property
    def over(self) -> bool:
        """Return whether the game has ended (THIN-3.1)."""
        return self.last is None and (any(map(self.three, COLOURS)) or FREE not in self.cells)

    @property
    def phase(self) -> str:
        """Return ``put``, ``roll`` or ``over``."""
        return "roll" if self.last else "over" if self.over else "put"

    @property
    def to_move(self) -> int:
        """Return the seat, CHANCE while the die rolls, NOBODY after the end."""
        return {"put": self.seat, "roll": CHANCE, "over": NOBODY}[self.phase]

    def at(self, square: str) -> str:
        """Return what lies on a square."""
        return self.cells[SQUARES.index(square)]

    def three(self, colour: str) -> bool:
        """Return whether three penguins of a colour stand in a row."""
        return any(all(self.at(square) == colour for square in line.split()) for line in LINES)

    def moves(self) -> Iterator[ThinIceMove]:
        """Yield every legal move once."""
        return (move for move in (*PUTS, *DICE) if self.refusal(move) is None)

    def chances(self) -> list[tuple[ThinIceMove, float]]:
        """Return what the die may show, with its odds."""
        return [(move, ROLLS[move.what]) for move in DICE]

    def refusal(self, move: ThinIceMove) -> Reason | None:
        """Return why ``move`` is refused here, or None when it is legal."""
        facts: dict[str, JSON] = {"who": COLOURS[self.seat], "square": self.last or move.what}
        if self.over:
            return Reason("over", facts)
        if move.kind == "roll":
            return None if self.last else Reason("put-first", facts)
        if self.last:
            return Reason("roll-first", facts)
        there = self.at(move.what)
        return None if there == FREE else Reason("melted" if there == WATER else "taken", {**facts, "there": there})

    def explain_effect(self, move: ThinIceMove) -> Reason:
        """Return what a legal ``move`` does here and by which clauses."""
        if move.kind == "put":
            return Reason("put", {"who": COLOURS[self.seat], "square": move.what})
        return Reason(move.what, {"who": COLOURS[self.seat], "square": self.last})

    def after(self, move: ThinIceMove) -> ThinIceState:
        """Return the state after ``move``, which must be legal: nothing is checked."""
        square = self.last or move.what
        there = WATER if move.what == "crack" else COLOURS[self.seat]
        cells = tuple(there if name == square else cell for name, cell in zip(SQUARES, self.cells, strict=True))
        if move.kind == "put":
            return replace(self, cells=cells, last=square)
        return replace(self, cells=cells, last=None, seat=1 - self.seat)

    def problems(self) -> tuple[Problem, ...]:
        """Return everything that is wrong with this position."""
        counts = {colour: self.cells.count(colour) for colour in COLOURS}
        found = [
            Problem("too-many", {"who": colour, "count": count}, ("THIN-K.2",))
            for colour, count in counts.items()
            if count > PENGUINS
        ]
        if all(map(self.three, COLOURS)):
            found.append(Problem("two-rows", {}, ("THIN-3.1",)))
        if self.last and self.at(self.last) != COLOURS[self.seat]:
            found.append(Problem("nobody-there", {"who": COLOURS[self.seat], "square": self.last}, ("THIN-2.1",)))
        return tuple(found)

    def score(self) -> ScoreSheet:
        """Return the score sheet: a point a penguin, three for three in a row."""
        return ScoreSheet(
            tuple(
                PlayerScore(
                    seat,
                    (
                        ScoreLine("penguins", count, ("THIN-3.2",), {"count": count}),
                        ScoreLine("row", THREE * self.three(colour), ("THIN-3.2",), {}),
                    ),
                )
                for seat, colour in enumerate(COLOURS)
                for count in (self.cells.count(colour),)
            )
        )

    @property
    def end_reason(self) -> Reason | None:
        """Return how the game ended, None while it goes on."""
        if not self.over:
            return None
        rows = [colour for colour in COLOURS if self.three(colour)]
        return Reason("ended-row", {"who": rows[0]}) if rows else Reason("ended-full")

    @property
    def ranking_reason(self) -> Reason:
        """Return what decides between the two as it stands."""
        sheet = self.score()
        best = [COLOURS[seat] for seat in sheet.ranking[0]]
        facts: dict[str, Any] = {"who": best, "total": max(one.total for one in sheet.sheets)}
        return Reason("rank-level" if len(best) > 1 else "rank", facts)

    def outcome(self) -> Outcome | None:
        """Return who won, or None while the game goes on."""
        return Outcome(self.score().ranking[0], ("THIN-3.1", "THIN-3.2")) if self.over else None

    def position(self) -> dict[str, JSON]:
        """Return the position in the one form of a board."""
        found: dict[str, JSON] = FORM.write(self)
        return found

    def __str__(self) -> str:
        """Return the position in one line, for error messages."""
        signs = {FREE: ".", WATER: "~", **{colour: colour[0] for colour in COLOURS}}
        return f"{''.join(signs[there] for there in self.cells)} {COLOURS[self.seat]} {self.phase}"
