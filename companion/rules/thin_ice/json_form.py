"""Thin Ice in the one form of a board: declared once, written and read by the declaration."""

from __future__ import annotations

from typing import Any, Final

from companion.rules.i18n import Words
from companion.rules.position_form import (
    NEEDED,
    AnyObject,
    ByName,
    Field,
    Form,
    Items,
    Name,
    OneOf,
    PlaceRecord,
    Things,
    TupleRecord,
    Whole,
    numbered,
)

COLOURS: Final = ("red", "blue")
SQUARES: Final = tuple(f"{column}{row}" for row in "123" for column in "abc")
FREE, WATER = "free", "water"
"""What lies on a square where no penguin stands; else it is the penguin's colour."""
PHASES: Final = ("put", "roll", "over")

_COLOUR: Final = Field("colour", OneOf(COLOURS), NEEDED)
_PENGUIN: Final = {"penguin": (_COLOUR, Field("count", Whole(0, 1), 1))}
_PLACE: Final = PlaceRecord(OneOf(("floe", WATER)), Things(_PENGUIN, 1), "floe")


def _places(state: Any) -> dict[str, Any]:
    return {square: _place(there) for square, there in zip(SQUARES, state.cells, strict=True)}


def _place(there: str) -> tuple[str, tuple[Any, ...]]:
    return (WATER if there == WATER else "floe", (("penguin", there, 1),) if there in COLOURS else ())


FORM: Final = Form(
    "thin-ice",
    Words("A position of Thin Ice"),
    Field(
        "players",
        Items(TupleRecord(Field("name", Name()), _COLOUR), 2),
        (),
        of=lambda s: tuple(zip(s.names, COLOURS, strict=True)),
    ),
    Field("options", AnyObject(), of=lambda _: {}),
    Field("places", ByName(dict.fromkeys(SQUARES, _PLACE), places_of="Thin Ice"), {}, of=_places),
    Field("phase", OneOf(PHASES)),
    Field("turn", OneOf(numbered(COLOURS)), 0, of="seat"),
    Field("last", OneOf((*SQUARES, None))),
)


def cells_of(places: dict[str, Any]) -> tuple[str, ...]:
    """Return what lies on each square; a square that is not told is a free floe."""
    found = {}
    for square, (ground, things) in places.items():
        standing = [colour for _, colour, count in things if count]
        found[square] = standing[0] if standing else WATER if ground == WATER else FREE
    return tuple(found.get(square, FREE) for square in SQUARES)
