"""Ice Team's atomic steps and their text form (the table is in this folder's README)."""

from __future__ import annotations

from typing import Final, NamedTuple

from companion.rules.core import AmbiguousMoveError, InvalidMoveError

COLOURS: Final = ("green", "red")
MOST_PENGUINS: Final = 4
"""The rulebook's tiles are in pictures; no tile that we can read shows more."""

# The verbs, and how many words follow.
_FORMS: Final = {
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
_LONGEST_WORD: Final = 20
_LONGEST: Final = 80


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
    """Return the step that ``text`` says; a verb may be shortened while it has one reading.

    :raises InvalidMoveError: when it says none.
    :raises AmbiguousMoveError: when a shortened verb has several readings.
    """
    words = text.lower().split() if len(text) <= _LONGEST else []
    fitting = _readings(words[0]) if words else []
    verbs = [verb for verb in fitting if _FORMS[verb] == len(words) - 1]
    if len(verbs) > 1:
        said = ", ".join(verbs)
        raise AmbiguousMoveError("{text!r} may mean {said}; write one letter more.", text=words[0], said=said)
    if not verbs or any(len(word) > _LONGEST_WORD or not word.isascii() for word in words):
        raise InvalidMoveError("{text!r} is not a move of Ice Team.", text=text[:40])
    move = IceMove(verbs[0], *words[1:])
    if move.kind == "first" and move.a not in COLOURS:
        raise InvalidMoveError("The teams are green and red.")
    if move.kind in {"pick", "choose", "roll"} and move.a not in {"1", "2"}:
        raise InvalidMoveError("The dice are 1 and 2.")
    if move.kind == "freeze" and move.a not in map(str, range(MOST_PENGUINS + 1)):
        raise InvalidMoveError("A tile has at most {most} penguins.", most=MOST_PENGUINS)
    return move


def _readings(word: str) -> list[str]:
    return [word] if word in _FORMS else [verb for verb in _FORMS if verb.startswith(word)]
