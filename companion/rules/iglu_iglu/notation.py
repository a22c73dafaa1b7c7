"""Reading the notation of Iglu Iglu: a text is one move, or it says in one sentence why it is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from companion.rules.core import AmbiguousMoveError, InvalidMoveError
from companion.rules.i18n import OR, Words, listed
from companion.rules.iglu_iglu.board import DIRECTIONS, NUMBER
from companion.rules.iglu_iglu.components import COLOURS, FACES, KEPT, MOST_ENDURANCE, TOKENS, is_face
from companion.rules.iglu_iglu.moves import (
    BUILDS,
    DRIFT_NONE,
    DRIFTS,
    ENDURANCES,
    MELTS,
    THAWS,
    THE_ANIMALS,
    THE_END,
    THE_STOP,
    Accept,
    Defend,
    Displace,
    Draw,
    Drift,
    Endurance,
    Flee,
    Hunt,
    IgluMove,
    Kayak,
    PlaceInuit,
    PutBack,
    Reveal,
    Step,
    Walk,
    token_text,
)

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

    def __init__(self, word: str, what: Words) -> None:
        super().__init__(word)
        self.words = Words("{word!r} is no {what}").filled({"word": word, "what": what})


def _square(word: str) -> int:
    if word not in NUMBER:
        raise _WrongWordError(word, Words("square (a1 to h8)"))
    return NUMBER[word]


def _colour(word: str) -> str:
    if word not in COLOURS:
        there = ", ".join(COLOURS)
        raise _WrongWordError(word, Words("colour of this game ({there})").filled({"there": there}))
    return word


def _token(words: Iterable[str]) -> int:
    text = " ".join(words)
    if text not in TOKEN_TEXTS:
        raise _WrongWordError(text, Words("animal token (fish 1 to 3, fox 1 to 3, bear)"))
    return TOKEN_TEXTS[text]


def _face(words: Iterable[str]) -> str:
    text = " ".join(words)
    if text != KEPT and not is_face(text):
        there = ", ".join((*FACES, "endurance 1", KEPT))
        raise _WrongWordError(text, Words("face of a floe tile ({there})").filled({"there": there}))
    return text


def _with_harpoon(words: list[str]) -> bool:
    if words not in ([], ["harpoon"]):
        raise _WrongWordError(" ".join(words), Words("'harpoon', all that may stand here"))
    return bool(words)


def _drift(words: list[str]) -> Drift:
    if words == ["none"]:
        return DRIFT_NONE
    square, direction = words
    if direction not in DIRECTIONS:
        raise _WrongWordError(direction, Words("direction (n, e, s, w)"))
    return DRIFTS[direction][_square(square)]


def _endurance(words: list[str]) -> Endurance:
    (value,) = words
    if value not in {str(number) for number in range(1, MOST_ENDURANCE + 1)}:
        raise _WrongWordError(value, Words("number of an endurance tile"))
    return ENDURANCES[int(value)]


_READ: dict[str, Callable[[list[str]], IgluMove]] = {
    "place": lambda w: PlaceInuit(_colour(w[0]), _square(_only(w, 2)[1])),
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
            "{shown} is not a move of Iglu Iglu; moves begin with {there}.", shown=shown, there=there
        )
    if len(readings) > 1:
        raise AmbiguousMoveError(
            "{shown} has more than one reading: {first!r} may be {readings}.",
            shown=shown,
            first=first,
            readings=listed(readings, OR),
        )
    usage = USAGE[readings[0]]
    try:
        return _READ[readings[0]](words)
    except _WrongWordError as wrong:
        raise InvalidMoveError(
            "{shown} is not a move: {why}; write {usage}.", shown=shown, why=wrong.words, usage=usage
        ) from None
    except (IndexError, ValueError):
        raise InvalidMoveError("{shown} is not a move: write {usage}.", shown=shown, usage=usage) from None
