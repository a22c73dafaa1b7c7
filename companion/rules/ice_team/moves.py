"""Ice Team's atomic steps and their text form (the table is in this folder's README)."""

from __future__ import annotations

from typing import NamedTuple

from companion.rules.core import InvalidMoveError

COLOURS = ("green", "red")

_FORMS = {
    "floe": 2,
    "first": 1,
    "walk": 2,
    "leap": 2,
    "swim": 2,
    "stop": 0,
    "pick": 1,
    "roll": 2,
    "freeze": 1,
    "drift": 1,
    "push": 1,
    "choose": 1,
}
_WORD = 20


class IceMove(NamedTuple):
    """One step: what it is, and up to two words (spaces, a face, a number).

    Spaces are named, so a move means the same on every layout; a bear is named by where it stands.
    """

    kind: str
    a: str = ""
    b: str = ""

    def __str__(self) -> str:
        """Return the text form; ``parse(str(move)) == move``."""
        return " ".join(word for word in self if word)


def parse_move(text: str) -> IceMove:
    """Return the step that ``text`` says.

    :raises InvalidMoveError: when it says none.
    """
    words = text.split()
    known = _FORMS.get(words[0]) if words and len(text) <= 80 else None
    if known is None or len(words) != known + 1 or any(len(word) > _WORD or not word.isascii() for word in words):
        raise InvalidMoveError(f"{text[:40]!r} is no move of Ice Team.", f"{text[:40]!r} n'est pas un coup d'Ice Team.")
    move = IceMove(*words)
    if move.kind == "first" and move.a not in COLOURS:
        raise InvalidMoveError("The teams are green and red.", "Les équipes sont green (vert) et red (rouge).")
    if move.kind in {"pick", "choose", "roll"} and move.a not in {"1", "2"}:
        raise InvalidMoveError("The dice are 1 and 2.", "Les dés sont 1 et 2.")
    if move.kind == "freeze" and move.a not in {"0", "1", "2", "3"}:
        raise InvalidMoveError("A tile has at most three penguins.", "Une tuile a au plus trois pingouins.")
    return move
