"""The moves of Iglu Iglu: small values whose text form round-trips, and how to read them.

Each is an atomic step. Squares are numbers here (a1 = 0 … h8 = 63) and names in the text; the notation is
described in this folder's README.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from companion.rules.core import AmbiguousMoveError, InvalidMoveError
from companion.rules.iglu_iglu.board import DIRECTIONS, NEAR, NUMBER, SQUARES, numbers
from companion.rules.iglu_iglu.box import COLOURS, FACES, KEPT, MOST_ENDURANCE, RED, TOKENS, is_face

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
class Place:
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
    Place
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
PLACES: dict[str, tuple[Place, ...]] = {
    colour: tuple(Place(colour, square) for square in range(64)) for colour in COLOURS
}
DRIFTS: dict[str, tuple[Drift, ...]] = {
    direction: tuple(Drift(square, direction) for square in range(64)) for direction in DIRECTIONS
}
DRIFT_NONE = Drift(-1, "none")
ENDURANCES: tuple[Endurance, ...] = tuple(Endurance(value) for value in range(MOST_ENDURANCE + 1))
THE_ANIMALS = Animals()
THE_STOP = Stop()
THE_END = End()


# --- reading --------------------------------------------------------------------------------------------------------

TOKEN_TEXTS: dict[str, int] = {token_text(token): token for token in range(len(TOKENS))}
USAGE: dict[str, str] = {
    "place": "place COLOUR SQUARE",
    "draw": "draw SQUARE TOKEN",
    "melt": "melt SQUARE",
    "accept": "accept SQUARE",
    "putback": "putback SQUARE",
    "reveal": "reveal SQUARE FACE",
    "drift": "drift SQUARE n|e|s|w, or drift none",
    "displace": "displace SQUARE SQUARE [TOKEN]",
    "thaw": "thaw SQUARE",
    "endurance": "endurance NUMBER",
    "animals": "animals",
    "move": "move TOKEN SQUARE SQUARE",
    "stop": "stop",
    "defend": "defend COLOUR",
    "decline": "decline COLOUR",
    "flee": "flee COLOUR SQUARE CORNER",
    "walk": "walk SQUARE SQUARE [harpoon]",
    "kayak": "kayak SQUARE SQUARE [harpoon]",
    "hunt": "hunt SQUARE TOKEN",
    "harpoon": "harpoon SQUARE TOKEN",
    "build": "build SQUARE",
    "end": "end",
}
"""The verbs and what follows them."""


class _WrongWordError(Exception):
    """A word is not what should stand there."""

    def __init__(self, word: str, en: str, fr: str) -> None:
        super().__init__(word)
        self.en = f"{word!r} is no {en}"
        self.fr = f"{word!r} n'est pas {fr}"


def _square(word: str) -> int:
    if word not in NUMBER:
        raise _WrongWordError(word, "square (a1 to h8)", "une case (a1 à h8)")
    return NUMBER[word]


def _colour(word: str) -> str:
    if word not in COLOURS:
        there = ", ".join(COLOURS)
        raise _WrongWordError(word, f"colour of this game ({there})", f"une couleur de ce jeu ({there})")
    return word


def _token(words: Iterable[str]) -> int:
    text = " ".join(words)
    if text not in TOKEN_TEXTS:
        raise _WrongWordError(
            text, "animal token (fish 1 to 3, fox 1 to 3, bear)", "un pion animal (fish 1 à 3, fox 1 à 3, bear)"
        )
    return TOKEN_TEXTS[text]


def _face(words: Iterable[str]) -> str:
    text = " ".join(words)
    if text != KEPT and not is_face(text):
        there = ", ".join((*FACES, "endurance 1", KEPT))
        raise _WrongWordError(text, f"face of a floe tile ({there})", f"une face de tuile ({there})")
    return text


def _with_harpoon(words: list[str]) -> bool:
    if words not in ([], ["harpoon"]):
        raise _WrongWordError(
            " ".join(words), "'harpoon', all that may stand here", "« harpoon », seul mot possible ici"
        )
    return bool(words)


def _drift(words: list[str]) -> Drift:
    if words == ["none"]:
        return DRIFT_NONE
    square, direction = words
    if direction not in DIRECTIONS:
        raise _WrongWordError(direction, "direction (n, e, s, w)", "une direction (n, e, s, w)")
    return DRIFTS[direction][_square(square)]


def _endurance(words: list[str]) -> Endurance:
    (value,) = words
    if value not in {str(number) for number in range(1, MOST_ENDURANCE + 1)}:
        raise _WrongWordError(value, "number of an endurance tile", "le chiffre d'une tuile endurance")
    return ENDURANCES[int(value)]


_READ: dict[str, Callable[[list[str]], IgluMove]] = {
    "place": lambda w: Place(_colour(w[0]), _square(_only(w, 2)[1])),
    "draw": lambda w: Draw(_square(w[0]), _token(w[1:])),
    "melt": lambda w: MELTS[_square(_only(w, 1)[0])],
    "accept": lambda w: Accept(_square(_only(w, 1)[0])),
    "putback": lambda w: PutBack(_square(_only(w, 1)[0])),
    "reveal": lambda w: Reveal(_square(w[0]), _face(w[1:])),
    "drift": _drift,
    "displace": lambda w: Displace(_square(w[0]), _square(w[1]), _token(w[2:]) if w[2:] else None),
    "thaw": lambda w: THAWS[_square(_only(w, 1)[0])],
    "endurance": _endurance,
    "animals": lambda w: _nothing(w, THE_ANIMALS),
    "move": lambda w: Step(_token(w[:-2]), _square(w[-2]), _square(w[-1])),
    "stop": lambda w: _nothing(w, THE_STOP),
    "defend": lambda w: Defend(_colour(_only(w, 1)[0]), True),
    "decline": lambda w: Defend(_colour(_only(w, 1)[0]), False),
    "flee": lambda w: Flee(_colour(w[0]), _square(w[1]), _square(_only(w, 3)[2])),
    "walk": lambda w: Walk(_square(w[0]), _square(w[1]), _with_harpoon(w[2:])),
    "kayak": lambda w: Kayak(_square(w[0]), _square(w[1]), _with_harpoon(w[2:])),
    "hunt": lambda w: Hunt(_square(w[0]), _token(w[1:])),
    "harpoon": lambda w: Hunt(_square(w[0]), _token(w[1:]), True),
    "build": lambda w: BUILDS[_square(_only(w, 1)[0])],
    "end": lambda w: _nothing(w, THE_END),
}


def _only(words: list[str], count: int) -> list[str]:
    if len(words) != count:
        raise ValueError(count)
    return words


def _nothing(words: list[str], move: IgluMove) -> IgluMove:
    _only(words, 0)
    return move


def parse(text: str) -> IgluMove:
    """Return the move that ``text`` says; case and spaces do not count, the verb may be shortened.

    :raises InvalidMoveError: when it says none.
    :raises AmbiguousMoveError: when a shortened verb has more than one reading.
    """
    shown = repr(text if len(text) <= 60 else text[:60] + "…")
    first, *words = text[:200].lower().split() or [""]
    if len(text) > 200:
        first = ""
    readings = [first] if first in USAGE else [verb for verb in USAGE if first and verb.startswith(first)]
    if not readings:
        there = ", ".join(USAGE)
        raise InvalidMoveError(
            f"{shown} is no move of Iglu Iglu; moves begin with {there}.",
            f"{shown} n'est pas un coup d'Iglu Iglu ; les coups commencent par {there}.",
        )
    if len(readings) > 1:
        raise AmbiguousMoveError(
            f"{shown} has more than one reading: {first!r} may be {' or '.join(readings)}.",
            f"{shown} peut se lire de plusieurs façons : {first!r} peut être {' ou '.join(readings)}.",
        )
    usage = USAGE[readings[0]]
    try:
        return _READ[readings[0]](words)
    except _WrongWordError as wrong:
        raise InvalidMoveError(
            f"{shown} is no move: {wrong.en}; write {usage}.",
            f"{shown} n'est pas un coup : {wrong.fr} ; écrire {usage}.",
        ) from None
    except (IndexError, ValueError):
        raise InvalidMoveError(
            f"{shown} is no move: write {usage}.", f"{shown} n'est pas un coup : écrire {usage}."
        ) from None


def public(move: IgluMove) -> IgluMove:
    """Return a move as others may see it: a red tile that is drawn goes to the hand unseen (IGLU-1.5)."""
    if isinstance(move, Reveal) and move.face not in FACES[:RED]:
        return Reveal(move.square, KEPT)
    return move
