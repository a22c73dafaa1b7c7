"""Arctic's atomic steps and their text form (the table is in this folder's README)."""

from __future__ import annotations

from typing import NamedTuple

from companion.rules.arctic.cards import ANIMALS, SIDES, TEXT, UNKNOWN, parse_animal, parse_card
from companion.rules.core import InvalidMoveError

TOP, BOTTOM, UNDER = 0, 1, 2
"""Where a card is placed: on the pile, under the whole pile (ARC-P.11), face down under the visible card (ARC-P.12)."""

_WHERE = {BOTTOM: " bottom", UNDER: " under"}


class ArcticMove(NamedTuple):
    """One step: what it is, and up to two numbers whose meaning depends on it (card, animal, seat, direction)."""

    kind: str
    a: int = -1
    b: int = -1

    def __str__(self) -> str:
        """Return the text form; ``parse(str(move)) == move``."""
        kind, a, b = self
        if kind in {"take-back", "draw-pile", "end"}:
            return kind
        if kind in {"river", "penalty", "draw", "draw-penalty", "discard"}:
            return f"{kind} {TEXT[a]}"
        if kind == "place":
            return f"place {TEXT[a]}{_WHERE.get(b, '')}"
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


def arrow(animal: int, step: int) -> int:
    """Return the code of a token's step: ``animal`` one card up (``step`` 1) or down (-1)."""
    return animal * 2 + (step > 0)


def arrow_step(code: int) -> tuple[int, int]:
    """Return (animal, +1 or -1) of a code made by :func:`arrow`."""
    return code >> 1, 1 if code & 1 else -1


def _parse_arrow(text: str) -> int:
    if text[-1:] not in {"+", "-"}:
        raise InvalidMoveError(f"{text!r} does not say which way: write fox+ (towards 15) or fox- (towards 0).")
    return arrow(parse_animal(text[:-1]), 1 if text[-1] == "+" else -1)


def _parse_seat(text: str) -> int:
    if len(text) == 2 and text[0] == "p" and text[1] in "1234":
        return int(text[1]) - 1
    raise InvalidMoveError(f"{text!r} is no seat; seats are p1, p2, p3, p4.")


def parse_move(text: str) -> ArcticMove:
    """Return the step that ``text`` says.

    :raises InvalidMoveError: when it says none.
    """
    words = text.split()
    if not words or len(words) > 4 or len(text) > 100:
        raise InvalidMoveError(f"{text[:40]!r} is no move of Arctic.")
    kind, rest = words[0], words[1:]
    reader = _READERS.get((kind, len(rest)))
    if reader is None:
        raise InvalidMoveError(f"{text[:40]!r} is no move of Arctic.")
    return reader(kind, rest)


def _bare(kind: str, rest: list[str]) -> ArcticMove:
    del rest
    return ArcticMove(kind)


def _one_card(kind: str, rest: list[str]) -> ArcticMove:
    return ArcticMove(kind, parse_card(rest[0]))


def _known_card(kind: str, rest: list[str]) -> ArcticMove:
    card = parse_card(rest[0])
    if card == UNKNOWN:
        raise InvalidMoveError("The River lies face up: name the card.")
    return ArcticMove(kind, card)


def _place(kind: str, rest: list[str]) -> ArcticMove:
    where = {"bottom": BOTTOM, "under": UNDER}.get(rest[1]) if len(rest) == 2 else TOP
    if where is None:
        raise InvalidMoveError(f"{rest[1]!r} is no way to place a card: say nothing, bottom or under.")
    card = parse_card(rest[0])
    if card == UNKNOWN and where != UNDER:
        raise InvalidMoveError("Only a card placed face down may be unknown.")
    return ArcticMove(kind, card, where)


def _tokens(kind: str, rest: list[str]) -> ArcticMove:
    return ArcticMove(kind, *map(_parse_arrow, rest))


def _value(kind: str, rest: list[str]) -> ArcticMove:
    if rest[0] not in {"+1", "-1"}:
        raise InvalidMoveError("A value changes by +1 or -1.")
    return ArcticMove(kind, int(rest[0]))


def _swap(kind: str, rest: list[str]) -> ArcticMove:
    return ArcticMove(kind, parse_card(rest[0]), _known_card(kind, rest[1:]).a)


def _give(kind: str, rest: list[str]) -> ArcticMove:
    return ArcticMove(kind, parse_card(rest[0]), _parse_seat(rest[1]))


def _hand(kind: str, rest: list[str]) -> ArcticMove:
    return ArcticMove(kind, _parse_seat(rest[0]), parse_card(rest[1]))


def _totem(kind: str, rest: list[str]) -> ArcticMove:
    return ArcticMove(kind, _parse_seat(rest[0]), -1 if rest[1] == "?" else parse_animal(rest[1]))


def _side(kind: str, rest: list[str]) -> ArcticMove:
    animal = parse_animal(rest[0])
    if rest[1] not in {str(power) for power in SIDES[animal]}:
        raise InvalidMoveError(f"The {rest[0]}'s powers are {SIDES[animal][0]} and {SIDES[animal][1]}.")
    return ArcticMove(kind, animal, int(rest[1]))


def _seat(kind: str, rest: list[str]) -> ArcticMove:
    return ArcticMove(kind, _parse_seat(rest[0]))


def _pack(kind: str, rest: list[str]) -> ArcticMove:
    if rest[0] not in {"1", "2", "3", "4"}:
        raise InvalidMoveError("The packs are 1, 2, 3 and 4.")
    return ArcticMove(kind, int(rest[0]))


_READERS = {
    ("take-back", 0): _bare,
    ("draw-pile", 0): _bare,
    ("end", 0): _bare,
    ("river", 1): _known_card,
    ("draw", 1): _known_card,
    ("penalty", 1): _one_card,
    ("draw-penalty", 1): _one_card,
    ("discard", 1): _one_card,
    ("place", 1): _place,
    ("place", 2): _place,
    ("tokens", 2): _tokens,
    ("extra", 1): _tokens,
    ("value", 1): _value,
    ("swap", 2): _swap,
    ("give", 2): _give,
    ("hand", 2): _hand,
    ("totem", 2): _totem,
    ("side", 2): _side,
    ("first", 1): _seat,
    ("pack", 1): _pack,
}
