"""A board of places: a grid or a list of places, what the ground may be, and what may lie there.

A layout is a TOML file (the shipped ones stand in ``layouts/``; ``README.md`` says how to write one). Board units:
x to the right and y towards the near side, from the far left corner; a place of a grid is one unit wide and high.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import ascii_lowercase
from typing import Any, Final

from companion.ports import BadDataError

SHIPPED: Final = Path(__file__).parent / "layouts"
MOST_PLACES: Final = 1024
MOST_CLASSES: Final = 64
MOST_THINGS: Final = 128
MOST_OF_A_KIND: Final = 20
MOST_ON_A_BOARD: Final = 200
_LONGEST = 60
_LARGEST_FILE = 256 * 1024


class LayoutError(BadDataError):
    """A layout cannot be read; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Thing:
    """A kind of thing with its colour or its value, or neither; ``of`` keeps whether values were numbers."""

    kind: str
    colour: str | None = None
    value: int | str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return ``{"kind", "colour" or "value"}`` as in the one form of a board."""
        said: dict[str, Any] = {"kind": self.kind}
        if self.colour is not None:
            said["colour"] = self.colour
        if self.value is not None:
            said["value"] = self.value
        return said

    def __str__(self) -> str:
        """Return ``red inuit`` or ``fish 3``."""
        if self.colour is not None:
            return f"{self.colour} {self.kind}"
        return self.kind if self.value is None else f"{self.kind} {self.value}"


@dataclass(frozen=True, slots=True)
class Place:
    """A place: its name, centre and size in board units."""

    name: str
    x: float
    y: float
    width: float = 1.0
    height: float = 1.0


@dataclass(frozen=True)
class Layout:
    """A board of places; ``columns`` and ``rows`` are 0 where it is no grid.

    ``most[i]`` is how many of ``things[i]`` may lie on one place, ``on[i]`` on which grounds (empty: any), ``sums[i]``
    how many there are on the whole board, always (0: that varies). ``heaps[i]``: the grounds on which there may be more
    than one of its kind, whatever their colours (empty: any).
    """

    game: str
    columns: int
    rows: int
    width: float
    height: float
    places: tuple[Place, ...]
    grounds: tuple[str, ...]
    things: tuple[Thing, ...]
    most: tuple[int, ...]
    on: tuple[frozenset[str], ...]
    sums: tuple[int, ...]
    heaps: tuple[frozenset[str], ...]

    @property
    def is_grid(self) -> bool:
        """Return whether the places are the squares of a grid."""
        return self.columns > 0

    @cached_property
    def index(self) -> dict[str, int]:
        """Return the number of each place by its name."""
        return {place.name: number for number, place in enumerate(self.places)}

    @cached_property
    def thing_index(self) -> dict[Thing, int]:
        """Return the number of each thing."""
        return {thing: number for number, thing in enumerate(self.things)}

    @cached_property
    def valued(self) -> tuple[tuple[int, ...], ...]:
        """Return for each kind with several values the numbers of its things: how many lie there is told from afar,
        which values they have only from near by.
        """
        kinds: dict[str, list[int]] = {}
        for number, thing in enumerate(self.things):
            if thing.value is not None:
                kinds.setdefault(thing.kind, []).append(number)
        return tuple(tuple(numbers) for numbers in kinds.values() if len(numbers) > 1)

    def find_thing(self, kind: str, what: object) -> int:
        """Return the number of a thing by its kind and its colour or value, in any case and as text or number.

        :raises LayoutError: there is no such thing.
        """
        wanted = "" if what is None else str(what).strip().casefold()
        for number, thing in enumerate(self.things):
            own = thing.colour if thing.colour is not None else thing.value
            if (
                thing.kind.casefold() == kind.strip().casefold()
                and ("" if own is None else str(own).casefold()) == wanted
            ):
                return number
        shown = f"{kind} {wanted}".strip()[:_LONGEST]
        raise LayoutError(f"The layout knows no {shown!r}.")


def square_name(column: int, row_from_far: int, rows: int) -> str:
    """Return ``a1`` … : columns from the left, rows from the near edge up."""
    return f"{ascii_lowercase[column]}{rows - row_from_far}"


def open_layout(text: str) -> Layout:
    """Return the shipped layout of that name, or the one in the TOML file at that path.

    :raises LayoutError: there is none, or it cannot be read; one sentence.
    """
    shipped = {path.stem: path for path in SHIPPED.glob("*.toml")}
    path = shipped.get(text) or Path(text)
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise LayoutError(f"{text}: the layout is larger than {_LARGEST_FILE // 1024} kB.")
        data = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        known = ", ".join(sorted(shipped))
        raise LayoutError(f"{text} is neither a layout file nor one of {known}.") from None
    except OSError as error:
        raise LayoutError(f"{text} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError:
        raise LayoutError(f"{text} is no TOML file.") from None
    try:
        return read_layout(data, path.stem)
    except LayoutError as error:
        raise LayoutError(f"{text}: {error}") from error


def read_layout(text: str, game: str = "") -> Layout:
    """Read a layout from TOML text; ``game`` is its name where the text gives none.

    :raises LayoutError: one sentence that says what is wrong.
    """
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise LayoutError(f"This is no TOML: {' '.join(str(error).split())[:120]}.") from None
    board = _table(data, "board")
    kind = board.get("kind", "grid" if "columns" in board else "places")
    if kind == "grid":
        columns, rows = _whole(board, "columns", 26), _whole(board, "rows", 64)
        places = tuple(
            Place(square_name(column, row, rows), column + 0.5, row + 0.5)
            for row in range(rows)
            for column in range(columns)
        )
        width, height = float(columns), float(rows)
    elif kind == "places":
        columns = rows = 0
        places = _places(board.get("places", data.get("places")))
        right, near = max(p.x + p.width / 2 for p in places), max(p.y + p.height / 2 for p in places)
        width, height = _number(board.get("width", right), "width"), _number(board.get("height", near), "height")
        if not (0.1 <= width <= 1000 and 0.1 <= height <= 1000):
            raise LayoutError("The board's width and height are between 0.1 and 1000 units.")
        if any(not (0 <= p.x <= width and 0 <= p.y <= height) for p in places):
            raise LayoutError("A place lies outside the board.")
    else:
        raise LayoutError('The kind of [board] is "grid" or "places".')
    if len(places) > MOST_PLACES or len({p.name for p in places}) < len(places):
        raise LayoutError(f"A board has at most {MOST_PLACES} places, each with a name of its own.")
    grounds = _names(_table(data, "ground").get("classes"), "[ground] classes")
    if len(grounds) > MOST_CLASSES:
        raise LayoutError(f"A board has at most {MOST_CLASSES} kinds of ground.")
    things, most, on, sums, heaps = _things(data.get("things", []), grounds)
    name = str(data.get("game", game))
    return Layout(name, columns, rows, width, height, places, grounds, things, most, on, sums, heaps)


def _table(data: dict[str, Any], name: str) -> dict[str, Any]:
    table = data.get(name)
    if not isinstance(table, dict):
        raise LayoutError(f"The table [{name}] is missing.")
    return table


def _whole(table: dict[str, Any], name: str, most: int, default: int | None = None) -> int:
    value = table.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise LayoutError(f"{name} is a whole number from 1 to {most}.")
    return value


def _number(value: Any, name: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < 1e6:
        raise LayoutError(f"{name} is a number.")
    return float(value)


def _name(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST:
        raise LayoutError(f"{what} is a name of 1 to {_LONGEST} characters.")
    return value


def _names(value: Any, what: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise LayoutError(f"{what} is a list of names.")
    names = tuple(_name(entry, f"Each of {what}") for entry in value)
    if len(set(names)) < len(names):
        raise LayoutError(f"{what} names something twice.")
    return names


def _pair(value: Any, what: str) -> tuple[float, float]:
    if isinstance(value, list) and len(value) == 2:
        return _number(value[0], what), _number(value[1], what)
    one = _number(value, what)
    return one, one


def _places(value: Any) -> tuple[Place, ...]:
    if not isinstance(value, list) or not value:
        raise LayoutError('A board of kind "places" lists its places.')
    places = []
    for entry in value:
        if not isinstance(entry, dict):
            raise LayoutError("Each place is a table with name, at and size.")
        name = _name(entry.get("name"), "The name of a place")
        at = entry.get("at", entry.get("centre", entry.get("center", [entry.get("x"), entry.get("y")])))
        if not isinstance(at, list):
            raise LayoutError(f"{name}: at is a pair of numbers.")
        x, y = _pair(at, f"{name}: at")
        width, height = _pair(entry.get("size", 1), f"{name}: size")
        if not (0.01 <= width <= 1000 and 0.01 <= height <= 1000):
            raise LayoutError(f"{name}: the size is between 0.01 and 1000 units.")
        places.append(Place(name, x, y, width, height))
    return tuple(places)


def _grounds(entry: dict[str, Any], name: str, kind: str, known: tuple[str, ...]) -> frozenset[str]:
    """Return the grounds that an entry of a thing names; empty where it names none."""
    found = frozenset(_names(entry[name], f"{kind}: {name}") if name in entry else ())
    if not found <= set(known):
        raise LayoutError(f"{kind}: {name} names a ground that the layout does not have.")
    return found


Grounds = tuple[frozenset[str], ...]


def _things(
    entries: Any, grounds: tuple[str, ...]
) -> tuple[tuple[Thing, ...], tuple[int, ...], Grounds, tuple[int, ...], Grounds]:
    if not isinstance(entries, list):
        raise LayoutError("Things are written as [[things]].")
    things: list[Thing] = []
    most: list[int] = []
    on: list[frozenset[str]] = []
    sums: list[int] = []
    heaps: list[frozenset[str]] = []
    for entry in entries:
        if not isinstance(entry, dict):
            raise LayoutError("Things are written as [[things]].")
        kind = _name(entry.get("kind"), "The kind of a thing")
        if "colours" in entry and "values" in entry:
            raise LayoutError(f"{kind} has colours or values, not both.")
        if "colours" in entry:
            new = [Thing(kind, colour=colour) for colour in _names(entry["colours"], f"{kind}: colours")]
        elif "values" in entry:
            values = entry["values"]
            if not isinstance(values, list) or not values or not all(isinstance(v, int | str) for v in values):
                raise LayoutError(f"{kind}: values is a list of numbers or names.")
            new = [Thing(kind, value=v) for v in values]
        else:
            new = [Thing(kind)]
        limit = _whole(entry, "max", MOST_OF_A_KIND, 1)
        things += new
        most += [limit] * len(new)
        on += [_grounds(entry, "on", kind, grounds)] * len(new)
        heaps += [_grounds(entry, "heaps", kind, grounds)] * len(new)
        sums += [_whole(entry, "sum", MOST_ON_A_BOARD) if "sum" in entry else 0] * len(new)
    if len(set(things)) < len(things):
        raise LayoutError("The same thing is there twice.")
    if len(things) > MOST_THINGS:
        raise LayoutError(f"A board has at most {MOST_THINGS} things.")
    return tuple(things), tuple(most), tuple(on), tuple(sums), tuple(heaps)
