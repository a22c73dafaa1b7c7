"""The moves of Iglu Iglu: small values whose text form round-trips; :mod:`.notation` reads them.

Each is an atomic step. Squares are numbers here (a1 = 0 … h8 = 63) and names in the text; the notation is
described in this folder's README.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from companion.rules.iglu_iglu.board import DIRECTIONS, NEAR, SQUARES, numbers
from companion.rules.iglu_iglu.components import COLOURS, FACES, KEPT, MOST_ENDURANCE, RED, TOKENS

(
    PLACE,
    DRAW,
    MELT,
    ACCEPT,
    PUT_BACK,
    REVEAL,
    DRIFT,
    DISPLACE,
    THAW,
    ENDURANCE,
    ANIMALS,
    STEP,
    STOP,
    DEFEND,
    FLEE,
    WALK,
    KAYAK,
    HUNT,
    BUILD,
    END,
) = range(20)
"""Kinds of moves, for the tables of :mod:`~companion.rules.iglu_iglu.state`."""


def token_text(token: int) -> str:
    """Return a token as it is written: ``fish 2``, ``fox 1``, ``bear``."""
    kind, value = TOKENS[token]
    return kind if kind == "bear" else f"{kind} {value}"


@dataclass(frozen=True, slots=True)
class PlaceInuit:
    """``place red a4``: an inuit on the outer ring during set-up (IGLU-M.1)."""

    kind: ClassVar[int] = PLACE
    colour: str
    square: int

    def __str__(self) -> str:
        return f"place {self.colour} {SQUARES[self.square]}"


@dataclass(frozen=True, slots=True)
class Draw:
    """``draw c4 fish 2``: chance, a token from the reserve is put on a square (IGLU-M.4, IGLU-S.2)."""

    kind: ClassVar[int] = DRAW
    square: int
    token: int

    def __str__(self) -> str:
        return f"draw {SQUARES[self.square]} {token_text(self.token)}"


@dataclass(frozen=True, slots=True)
class Melt:
    """``melt c4``: take this floe (IGLU-M.2)."""

    kind: ClassVar[int] = MELT
    square: int

    def __str__(self) -> str:
        return f"melt {SQUARES[self.square]}"


@dataclass(frozen=True, slots=True)
class Accept:
    """``accept c4``: stay with the floe one has looked at (only where ``iglu.no_repick`` is off)."""

    kind: ClassVar[int] = ACCEPT
    square: int

    def __str__(self) -> str:
        return f"accept {SQUARES[self.square]}"


@dataclass(frozen=True, slots=True)
class PutBack:
    """``putback c4``: put the floe back and take another (only where ``iglu.no_repick`` is off)."""

    kind: ClassVar[int] = PUT_BACK
    square: int

    def __str__(self) -> str:
        return f"putback {SQUARES[self.square]}"


@dataclass(frozen=True, slots=True)
class Reveal:
    """``reveal c4 fish 3``: chance, what the tile taken from a square shows (IGLU-M.3, M.4).

    ``reveal c4 kept``: it has the red frame and went to the hand unseen; everything else about it is hidden.
    """

    kind: ClassVar[int] = REVEAL
    square: int
    face: str

    def __str__(self) -> str:
        return f"reveal {SQUARES[self.square]} {self.face}"


@dataclass(frozen=True, slots=True)
class Drift:
    """``drift d3 n``: push the floe, and the row before it, one square (IGLU-M.5); ``drift none`` (IGLU-M.6)."""

    kind: ClassVar[int] = DRIFT
    square: int
    direction: str

    def __str__(self) -> str:
        return f"drift {SQUARES[self.square]} {self.direction}" if self.square >= 0 else "drift none"


@dataclass(frozen=True, slots=True)
class Displace:
    """``displace d6 c6``: what swims where the floe will go gives way; ``displace d6 c6 fish 2`` one at a time."""

    kind: ClassVar[int] = DISPLACE
    origin: int
    target: int
    token: int | None = None

    def __str__(self) -> str:
        text = f"displace {SQUARES[self.origin]} {SQUARES[self.target]}"
        return text if self.token is None else f"{text} {token_text(self.token)}"


@dataclass(frozen=True, slots=True)
class Thaw:
    """``thaw d3``: play a thaw tile on this floe (IGLU-M.7); its inuit flee in steps of their own."""

    kind: ClassVar[int] = THAW
    square: int

    def __str__(self) -> str:
        return f"thaw {SQUARES[self.square]}"


@dataclass(frozen=True, slots=True)
class Endurance:
    """``endurance 2``: play an endurance tile with this number (IGLU-M.8)."""

    kind: ClassVar[int] = ENDURANCE
    value: int

    def __str__(self) -> str:
        return f"endurance {self.value}"


@dataclass(frozen=True, slots=True)
class Animals:
    """``animals``: play an animal movement tile (IGLU-M.9); its three steps follow."""

    kind: ClassVar[int] = ANIMALS

    def __str__(self) -> str:
        return "animals"


@dataclass(frozen=True, slots=True)
class Step:
    """``move fish 2 c4 c5``: one of the three steps of an animal movement tile."""

    kind: ClassVar[int] = STEP
    token: int
    origin: int
    target: int

    def __str__(self) -> str:
        return f"move {token_text(self.token)} {SQUARES[self.origin]} {SQUARES[self.target]}"


@dataclass(frozen=True, slots=True)
class Stop:
    """``stop``: leave the rest of the animal movement unused (see IGLU-Q.9)."""

    kind: ClassVar[int] = STOP

    def __str__(self) -> str:
        return "stop"


@dataclass(frozen=True, slots=True)
class Defend:
    """``defend blue``, ``decline blue``: the answer of a player whose inuit a bear attacks (IGLU-M.10)."""

    kind: ClassVar[int] = DEFEND
    colour: str
    harpoon: bool

    def __str__(self) -> str:
        return f"{'defend' if self.harpoon else 'decline'} {self.colour}"


@dataclass(frozen=True, slots=True)
class Flee:
    """``flee red d3 a1``: one inuit goes to a corner, chosen by the player to move (IGLU-M.11, M.7)."""

    kind: ClassVar[int] = FLEE
    colour: str
    square: int
    corner: int

    def __str__(self) -> str:
        return f"flee {self.colour} {SQUARES[self.square]} {SQUARES[self.corner]}"


@dataclass(frozen=True, slots=True)
class Walk:
    """``walk b2 b3``; with ``harpoon`` at the end onto a bear's floe (IGLU-M.12, M.16)."""

    kind: ClassVar[int] = WALK
    origin: int
    target: int
    harpoon: bool = False

    def __str__(self) -> str:
        return f"walk {SQUARES[self.origin]} {SQUARES[self.target]}{' harpoon' if self.harpoon else ''}"


@dataclass(frozen=True, slots=True)
class Kayak:
    """``kayak b2 f5``; with ``harpoon`` at the end onto a bear's floe (IGLU-M.13, M.16)."""

    kind: ClassVar[int] = KAYAK
    origin: int
    target: int
    harpoon: bool = False

    def __str__(self) -> str:
        return f"kayak {SQUARES[self.origin]} {SQUARES[self.target]}{' harpoon' if self.harpoon else ''}"


@dataclass(frozen=True, slots=True)
class Hunt:
    """``hunt c4 fish 3`` for points, ``harpoon c4 fish 3`` with a harpoon: take this token (IGLU-M.14, M.15).

    ``square`` is where the animal is. Which of one's inuit hunts makes no difference and is not said.
    """

    kind: ClassVar[int] = HUNT
    square: int
    token: int
    harpoon: bool = False

    def __str__(self) -> str:
        return f"{'harpoon' if self.harpoon else 'hunt'} {SQUARES[self.square]} {token_text(self.token)}"


@dataclass(frozen=True, slots=True)
class Build:
    """``build b2``: an igloo where one's inuit is (IGLU-M.17)."""

    kind: ClassVar[int] = BUILD
    square: int

    def __str__(self) -> str:
        return f"build {SQUARES[self.square]}"


@dataclass(frozen=True, slots=True)
class End:
    """``end``: the turn is over, points left are lost (IGLU-M.18)."""

    kind: ClassVar[int] = END

    def __str__(self) -> str:
        return "end"


IgluMove = (
    PlaceInuit
    | Draw
    | Melt
    | Accept
    | PutBack
    | Reveal
    | Drift
    | Displace
    | Thaw
    | Endurance
    | Animals
    | Step
    | Stop
    | Defend
    | Flee
    | Walk
    | Kayak
    | Hunt
    | Build
    | End
)
MOVE_TYPES: tuple[type, ...] = IgluMove.__args__


# --- ready-made moves: the inner loop picks them from tables instead of making them ---------------------------------


def _by_set(moves: Mapping[int, Walk]) -> dict[int, tuple[Walk, ...]]:
    """Return the moves to every subset of the neighbours, by bit set."""
    subsets: dict[int, tuple[Walk, ...]] = {0: ()}
    for target, move in moves.items():
        subsets.update({known | 1 << target: (*walks, move) for known, walks in list(subsets.items())})
    return subsets


WALKS: tuple[dict[int, tuple[Walk, ...]], ...] = tuple(
    _by_set({target: Walk(square, target) for target in numbers(NEAR[square])}) for square in range(64)
)
"""``WALKS[square][targets]``: the walks from a square to each of a set of neighbours."""


class _Kayaks(dict[int, tuple[Kayak, ...]]):
    """Rows of kayak moves by origin, made when first asked for: four thousand at once would slow the start."""

    def __missing__(self, origin: int) -> tuple[Kayak, ...]:
        row = self[origin] = tuple(Kayak(origin, target) for target in range(64))
        return row


KAYAKS = _Kayaks()
"""``KAYAKS[square][target]``: the kayak moves."""
HUNTS: tuple[tuple[Hunt, ...], ...] = tuple(
    tuple(Hunt(square, token) for square in range(64)) for token in range(len(TOKENS))
)
HARPOONS: tuple[tuple[Hunt, ...], ...] = tuple(
    tuple(Hunt(square, token, True) for square in range(64)) for token in range(len(TOKENS))
)
MELTS: tuple[Melt, ...] = tuple(Melt(square) for square in range(64))
THAWS: tuple[Thaw, ...] = tuple(Thaw(square) for square in range(64))
BUILDS: tuple[Build, ...] = tuple(Build(square) for square in range(64))
PLACES: dict[str, tuple[PlaceInuit, ...]] = {
    colour: tuple(PlaceInuit(colour, square) for square in range(64)) for colour in COLOURS
}
DRIFTS: dict[str, tuple[Drift, ...]] = {
    direction: tuple(Drift(square, direction) for square in range(64)) for direction in DIRECTIONS
}
DRIFT_NONE = Drift(-1, "none")
ENDURANCES: tuple[Endurance, ...] = tuple(Endurance(value) for value in range(MOST_ENDURANCE + 1))
THE_ANIMALS = Animals()
THE_STOP = Stop()
THE_END = End()


def public(move: IgluMove) -> IgluMove:
    """Return a move as others may see it: a red tile that is drawn goes to the hand unseen (IGLU-1.5)."""
    if isinstance(move, Reveal) and move.face not in FACES[:RED]:
        return Reveal(move.square, KEPT)
    return move
