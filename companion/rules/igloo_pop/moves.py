"""The moves of Igloo Pop and their notation.

Every move there can be is made once (``deal`` 9 x 33, ``place`` 6 x 9, …), so reading, comparing and yielding moves
costs next to nothing. A word of a move may be shortened as long as one reading is left: ``pl r 4``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from companion.rules.core import AmbiguousMoveError, InvalidMoveError
from companion.rules.i18n import OR, Words, listed
from companion.rules.igloo_pop.components import CARD_TEXT, CARDS, COLOURS, IGLOOS, PLACES

DEAL: Final = 0
START: Final = 1
TAKE: Final = 2
RETURN: Final = 3
PLACE: Final = 4
PASS: Final = 5
REVEAL: Final = 6
KINDS: Final = ("deal", "start", "take", "return", "place", "pass", "reveal")
LONGEST: Final = 64
"""A longer text is no move."""


@dataclass(frozen=True, slots=True)
class IglooPopMove:
    """One step: ``code`` is one of DEAL … REVEAL; ``who``, ``where`` and ``card`` are indices (-1: none).

    ``who`` counts in COLOURS, ``where`` in PLACES, ``card`` in CARDS; ``number`` is the number of a revealed igloo.
    """

    code: int
    who: int = -1
    where: int = -1
    card: int = -1
    number: int = 0

    @property
    def kind(self) -> str:
        """Return ``deal``, ``start``, ``take``, ``return``, ``place``, ``pass`` or ``reveal``."""
        return KINDS[self.code]

    @property
    def colour(self) -> str | None:
        """Return the colour of the player who acts, where one does."""
        return COLOURS[self.who] if self.who >= 0 else None

    @property
    def place(self) -> str | None:
        """Return the place in the circle, where the move has one."""
        return PLACES[self.where] if self.where >= 0 else None

    def __str__(self) -> str:
        """Return the notation."""
        return _TEXT[self]


START_MOVE: Final = IglooPopMove(START)
DEALS: Final = tuple(
    tuple(IglooPopMove(DEAL, where=where, card=card) for card in range(len(CARDS))) for where in range(len(PLACES))
)
TAKES: Final = tuple(IglooPopMove(TAKE, who) for who in range(len(COLOURS)))
RETURNS: Final = tuple(IglooPopMove(RETURN, who) for who in range(len(COLOURS)))
PASSES: Final = tuple(IglooPopMove(PASS, who) for who in range(len(COLOURS)))
PLACINGS: Final = tuple(
    tuple(IglooPopMove(PLACE, who, where) for where in range(len(PLACES))) for who in range(len(COLOURS))
)
REVEALS: Final = tuple(
    tuple(IglooPopMove(REVEAL, where=where, number=number) for number in IGLOOS) for where in range(len(PLACES))
)


def _texts() -> dict[IglooPopMove, str]:
    texts = {START_MOVE: "start"}
    for where, place in enumerate(PLACES):
        texts.update((move, f"deal {place} {CARD_TEXT[move.card]}") for move in DEALS[where])
        texts.update((move, f"reveal {place} {move.number}") for move in REVEALS[where])
        texts.update((row[where], f"place {COLOURS[row[where].who]} {place}") for row in PLACINGS)
    for moves in (TAKES, RETURNS, PASSES):
        texts.update((move, f"{move.kind} {move.colour}") for move in moves)
    return texts


_TEXT: Final = _texts()
_MOVES: Final = {text: move for move, text in _TEXT.items()}
_SHAPE: Final = {
    "deal": ("a place", "a card"),
    "start": (),
    "take": ("a colour",),
    "return": ("a colour",),
    "place": ("a colour", "a place"),
    "pass": ("a colour",),
    "reveal": ("a place", "a number"),
}
_WORDS: Final = {
    "a place": Words("a place"),
    "a card": Words("a card"),
    "a colour": Words("a colour"),
    "a number": Words("a number"),
}
_VALUES: Final = {
    "a place": PLACES,
    "a card": CARD_TEXT,
    "a colour": COLOURS,
    "a number": tuple(map(str, IGLOOS)),
}


def parse(text: str) -> IglooPopMove:
    """Return the move that ``text`` says; spaces and case do not count, words may be shortened.

    :raises InvalidMoveError: when it says none.
    :raises AmbiguousMoveError: when a shortened word has more than one reading.
    """
    move = _MOVES.get(text)
    if move is not None:
        return move
    if len(text) > LONGEST:
        raise InvalidMoveError(
            "A move of Igloo Pop has at most {most} characters, not {length}.", most=LONGEST, length=len(text)
        )
    words = text.casefold().split()
    if not words:
        raise InvalidMoveError("An empty line is not a move.")
    kind = _one_of(words[0], KINDS, "a move", text)
    shape = _SHAPE[kind]
    if len(words) != 1 + len(shape):
        form = " ".join([kind, *(f"<{what.split()[-1]}>" for what in shape)])
        raise InvalidMoveError("{text!r} is not a move: the form is {form}.", text=text, form=form)
    full = [kind]
    for word, what in zip(words[1:], shape, strict=True):
        full.append(_value(word, what, text))
    return _MOVES[" ".join(full)]


def _value(word: str, what: str, text: str) -> str:
    if what == "a place":
        digits = word.removeprefix("card")
        if f"card{digits}" in PLACES:
            return f"card{digits}"
        raise _nothing_such(text, word, "a place", ("card1", "…", PLACES[-1]))
    if what in ("a card", "a number"):
        if word in _VALUES[what]:
            return word
        examples = ("4", "4/5", "3/4/5", "…") if what == "a card" else ("2", "…", "13")
        raise _nothing_such(text, word, what, examples)
    return _one_of(word, COLOURS, what, text)


def _one_of(word: str, known: tuple[str, ...], what: str, text: str) -> str:
    if word in known:
        return word
    readings = [full for full in known if full.startswith(word)]
    if not readings:
        raise _nothing_such(text, word, what, known)
    if len(readings) > 1:
        raise AmbiguousMoveError(
            "{text!r} has more than one reading: {word!r} may be {readings}.",
            text=text,
            word=word,
            readings=listed(readings, OR),
        )
    return readings[0]


def _nothing_such(text: str, word: str, what: str, known: tuple[str, ...]) -> InvalidMoveError:
    if what == "a move":
        return InvalidMoveError(
            "{text!r} is not a move: a move begins with one of {known}.", text=text, known=", ".join(known)
        )
    return InvalidMoveError(
        "{text!r} is not a move: {word!r} is not {what} ({known}).",
        text=text,
        word=word,
        what=_WORDS[what],
        known=", ".join(known),
    )
