"""Arctic's atomic steps and their text form (the table is in this folder's README)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from companion.rules.arctic.components import ANIMALS, SIDES, TEXT, UNKNOWN, parse_animal, parse_card
from companion.rules.core import AmbiguousMoveError, InvalidMoveError
from companion.rules.i18n import OR, listed

TOP, BOTTOM, UNDER = 0, 1, 2
"""Where a card is placed: on the pile, under the whole pile (ARC-P.11), face down under the visible card (ARC-P.12)."""

LONGEST = 80
"""A longer text is no move."""

_WHERE = ("", " bottom", " under")
_BARE = frozenset({"take-back", "draw-pile", "refill", "end"})
_CARD = frozenset({"river", "penalty", "draw", "draw-penalty", "discard"})


class ArcticMove(NamedTuple):
    """One step: what it is, and up to two numbers whose meaning depends on it (card, animal, seat, direction)."""

    kind: str
    a: int = -1
    b: int = -1

    def __str__(self) -> str:
        """Return the text form; ``parse(str(move)) == move``."""
        kind, a, b = self
        if kind in _BARE:
            return kind
        if kind in _CARD:
            return f"{kind} {TEXT[a]}"
        if kind == "place":
            return f"place {TEXT[a]}{_WHERE[b]}"
        if kind == "tokens":
            return f"tokens {_arrow(a)} {_arrow(b)}"
        if kind == "extra":
            return f"extra {_arrow(a)}"
        if kind == "value":
            return f"value {a:+d}"
        if kind == "swap":
            return f"swap {TEXT[a]} {TEXT[b]}"
        if kind == "give":
            return f"give {TEXT[a]} p{b + 1}"
        if kind == "hand":
            return f"hand p{a + 1} {TEXT[b]}"
        if kind == "totem":
            return f"totem p{a + 1} {ANIMALS[b] if b >= 0 else '?'}"
        if kind == "side":
            return f"side {ANIMALS[a]} {b}"
        if kind == "first":
            return f"first p{a + 1}"
        return f"{kind} {a}"


def _arrow(code: int) -> str:
    return ANIMALS[code >> 1] + ("+" if code & 1 else "-")


_WAY = {1: 1, -1: 0}


def arrow(animal: int, step: int) -> int:
    """Return the code of a token's step: ``animal`` one card up (``step`` 1) or down (-1), and no further."""
    return animal * 2 + _WAY[step]


def arrow_step(code: int) -> tuple[int, int]:
    """Return (animal, +1 or -1) of a code made by :func:`arrow`."""
    return code >> 1, 1 if code & 1 else -1


def parse_move(text: str) -> ArcticMove:
    """Return the step that ``text`` says; case and spaces do not count, words may be shortened.

    :raises InvalidMoveError: when it says none.
    :raises AmbiguousMoveError: when a shortened word has more than one reading.
    """
    words = text.casefold().split() if len(text) <= LONGEST else []
    if not words:
        raise _no_move(text)
    kind, rest = _kind(words[0], text), words[1:]
    forms, reader = _FORMS[kind]
    if len(rest) not in [len(form.split()) for form in forms]:
        shown = " / ".join(f"{kind} {form}".strip() for form in forms)
        raise InvalidMoveError("{text!r} is not a move: the form is {shown}.", text=text, shown=shown)
    return reader(kind, rest)


def _no_move(text: str) -> InvalidMoveError:
    kinds = ", ".join(_FORMS)
    return InvalidMoveError(
        "{text!r} is not a move of Arctic; a move begins with {kinds}.", text=text[:40], kinds=kinds
    )


def _kind(word: str, text: str) -> str:
    if word in _FORMS:
        return word
    readings = [kind for kind in _FORMS if kind.startswith(word)]
    if len(readings) > 1:
        raise AmbiguousMoveError(
            "{text!r} has more than one reading: {word!r} may be {readings}.",
            text=text,
            word=word,
            readings=listed(readings, OR),
        )
    if not readings:
        raise _no_move(text)
    return readings[0]


def _parse_arrow(text: str) -> int:
    if text[-1:] not in {"+", "-"}:
        raise InvalidMoveError(
            "{text!r} does not say which way: write fox+ (towards 15) or fox- (towards 0).", text=text
        )
    return arrow(parse_animal(text[:-1]), 1 if text[-1] == "+" else -1)


def _parse_seat(text: str) -> int:
    if len(text) == 2 and text[0] == "p" and text[1] in "1234":
        return int(text[1]) - 1
    raise InvalidMoveError("{text!r} is not a seat; seats are p1, p2, p3, p4.", text=text)


def _known_card(text: str) -> int:
    card = parse_card(text)
    if card == UNKNOWN:
        raise InvalidMoveError("This card lies face up for all: name it instead of '?'.")
    return card


def _bare(kind: str, rest: list[str]) -> ArcticMove:
    del rest
    return ArcticMove(kind)


def _one_card(kind: str, rest: list[str]) -> ArcticMove:
    return ArcticMove(kind, parse_card(rest[0]))


def _face_up(kind: str, rest: list[str]) -> ArcticMove:
    return ArcticMove(kind, _known_card(rest[0]))


def _place(kind: str, rest: list[str]) -> ArcticMove:
    word = rest[1] if len(rest) == 2 else ""
    places = [where for where, name in enumerate(("top", "bottom", "under")) if word and name.startswith(word)]
    if word and not places:
        raise InvalidMoveError(
            "{word!r} is not a way to place a card: say nothing (on top), bottom or under.", word=word
        )
    where = places[0] if places else TOP
    return ArcticMove(kind, parse_card(rest[0]) if where == UNDER else _known_card(rest[0]), where)


def _tokens(kind: str, rest: list[str]) -> ArcticMove:
    return ArcticMove(kind, *map(_parse_arrow, rest))


def _value(kind: str, rest: list[str]) -> ArcticMove:
    if rest[0] not in {"+1", "-1"}:
        raise InvalidMoveError("A value changes by +1 or -1.")
    return ArcticMove(kind, int(rest[0]))


def _swap(kind: str, rest: list[str]) -> ArcticMove:
    return ArcticMove(kind, _known_card(rest[0]), _known_card(rest[1]))


def _give(kind: str, rest: list[str]) -> ArcticMove:
    return ArcticMove(kind, parse_card(rest[0]), _parse_seat(rest[1]))


def _hand(kind: str, rest: list[str]) -> ArcticMove:
    return ArcticMove(kind, _parse_seat(rest[0]), parse_card(rest[1]))


def _totem(kind: str, rest: list[str]) -> ArcticMove:
    return ArcticMove(kind, _parse_seat(rest[0]), -1 if rest[1] == "?" else parse_animal(rest[1]))


def _side(kind: str, rest: list[str]) -> ArcticMove:
    animal = parse_animal(rest[0])
    one, two = SIDES[animal]
    if rest[1] not in {str(one), str(two)}:
        raise InvalidMoveError(
            "The {animal} card has the powers {one} and {two}, not {rest!r}.",
            animal=ANIMALS[animal],
            one=one,
            two=two,
            rest=rest[1],
        )
    return ArcticMove(kind, animal, int(rest[1]))


def _first(kind: str, rest: list[str]) -> ArcticMove:
    return ArcticMove(kind, _parse_seat(rest[0]))


def _pack(kind: str, rest: list[str]) -> ArcticMove:
    if rest[0] not in {"1", "2", "3", "4"}:
        raise InvalidMoveError("The packs are 1, 2, 3 and 4.")
    return ArcticMove(kind, int(rest[0]))


_FORMS: dict[str, tuple[tuple[str, ...], Callable[[str, list[str]], ArcticMove]]] = {
    "pack": (("<1-4>",), _pack),
    "side": (("<animal> <power>",), _side),
    "totem": (("<seat> <animal>",), _totem),
    "first": (("<seat>",), _first),
    "hand": (("<seat> <card>",), _hand),
    "river": (("<card>",), _face_up),
    "penalty": (("<card>",), _one_card),
    "swap": (("<card> <card>",), _swap),
    "take-back": (("",), _bare),
    "value": (("<+1|-1>",), _value),
    "place": (("<card>", "<card> <bottom|under>"), _place),
    "tokens": (("<animal+|animal-> <animal+|animal->",), _tokens),
    "extra": (("<animal+|animal->",), _tokens),
    "draw": (("<card>",), _face_up),
    "draw-penalty": (("<card>",), _one_card),
    "draw-pile": (("",), _bare),
    "refill": (("",), _bare),
    "give": (("<card> <seat>",), _give),
    "discard": (("<card>",), _one_card),
    "end": (("",), _bare),
}

KINDS = tuple(_FORMS)
"""The first words of all steps."""
