"""The boards of Ice Team as data: spaces, straight lines, joins, and the checks of ICE-S.1 and ICE-S.2.

A space has a coordinate; a straight line follows one direction. Start and Village each cover several coordinates
and are one large floe (ICE-0.4), so a line may begin or end at any coordinate they cover (ICE-Q.3, ICE-Q.4).
Hexagonal boards use axial coordinates (q, r) with six directions, square ones (x, y) with four.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from companion.rules.core import SetupError

Cell = tuple[int, int]
HEX: tuple[Cell, ...] = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))
SQUARE: tuple[Cell, ...] = ((1, 0), (0, 1), (-1, 0), (0, -1))
DIRECTIONS = {"hex": HEX, "square": SQUARE}
NO_SPACE = -1
SYMBOLS = {"I": "igloo", "f": "floe", ".": "sea"}


@dataclass(frozen=True)
class Layout:
    """Four track boards between Start and Village.

    ``names[i]`` is space i's name, ``kinds[i]`` what is printed there (igloo, floe, sea), ``cells[i]`` its
    coordinate, ``boards[i]`` the track board it is on. Two more indices, ``start`` and ``village``, stand for those.
    ``step[i][d]`` is the space one step in direction d from space i, or NO_SPACE. ``lines[i]`` are the (direction,
    first space) pairs of all lines that leave space i; those that leave Start are ``entries``. ``numbers`` maps names
    to indices.
    """

    grid: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    cells: tuple[Cell, ...]
    boards: tuple[int, ...]
    step: tuple[tuple[int, ...], ...]
    entries: tuple[tuple[int, int], ...]
    start_cells: tuple[Cell, ...]
    village_cells: tuple[Cell, ...]
    start: int = field(init=False)
    village: int = field(init=False)
    lines: tuple[tuple[tuple[int, int], ...], ...] = field(init=False)
    numbers: dict[str, int] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Work out what the search asks for all the time."""
        ways = [tuple((d, space) for d, space in enumerate(steps) if space != NO_SPACE) for steps in self.step]
        object.__setattr__(self, "start", len(self.kinds))
        object.__setattr__(self, "village", len(self.kinds) + 1)
        object.__setattr__(self, "numbers", {name: number for number, name in enumerate(self.names)})
        object.__setattr__(self, "lines", (*ways, self.entries, ()))

    def index(self, name: str) -> int:
        """Return the index of a space, ``start`` or ``village``, or NO_SPACE."""
        return self.numbers.get(name, NO_SPACE)

    def opposite(self, direction: int) -> int:
        """Return the direction that points back."""
        n = len(DIRECTIONS[self.grid])
        return (direction + n // 2) % n


def _turned(cell: Cell, turns: int, grid: str) -> Cell:
    a, b = cell
    for _ in range(turns):
        a, b = (-b, a + b) if grid == "hex" else (-b, a)
    return a, b


def _cell(value: Any, what: str) -> Cell:
    if (
        isinstance(value, Sequence)
        and len(value) == 2
        and all(isinstance(v, int) and not isinstance(v, bool) and abs(v) < 100 for v in value)
    ):
        return value[0], value[1]
    raise SetupError(f"{what} is a pair of whole numbers, not {value!r}.")


def _board_cells(board: Mapping[str, Any], name: str) -> tuple[str, list[tuple[Cell, str]]]:
    grid, rows = board.get("grid"), board.get("rows")
    if grid not in DIRECTIONS or not isinstance(rows, list) or not all(isinstance(row, str) for row in rows):
        raise SetupError(f"Board {name} has a grid (hex or square) and rows of text.")
    cells = []
    for r, row in enumerate(rows):
        for q, symbol in enumerate(row):
            if symbol not in SYMBOLS:
                raise SetupError(f"Board {name} has {symbol!r} in a row; a space is I, f or a dot.")
            cells.append(((q, r), SYMBOLS[symbol]))
    kinds = [kind for _, kind in cells]
    if (kinds.count("igloo"), kinds.count("floe"), kinds.count("sea")) != (2, 6, 1):
        raise SetupError(f"Board {name} needs 2 igloo spaces, 6 floe spaces and 1 of open sea (ICE-K.2).")
    return str(grid), cells


def make_layout(boards: Mapping[str, Any], layout: Mapping[str, Any]) -> Layout:
    """Return the layout that the data describes.

    :raises SetupError: when the data are broken, boards overlap, a board can be bypassed (ICE-S.1) or Start
        touches an igloo (ICE-S.2); in one sentence.
    """
    placed = layout.get("boards")
    if not isinstance(placed, list) or len(placed) != 4 or not all(isinstance(item, Mapping) for item in placed):
        raise SetupError("A layout of Ice Team places four track boards.")
    names: list[str] = []
    kinds: list[str] = []
    cells: list[Cell] = []
    owners: list[int] = []
    grids = set()
    for number, item in enumerate(placed):
        name = str(item.get("board"))
        if name not in boards or not name.isalpha() or not name.islower():
            raise SetupError(f"There is no board {name!r} in the data.")
        grid, own = _board_cells(boards[name], name)
        grids.add(grid)
        at, turn = _cell(item.get("at"), "A board's place"), item.get("turn", 0)
        if not isinstance(turn, int) or not 0 <= turn < len(DIRECTIONS[grid]):
            raise SetupError(f"Board {name} is turned by 0 to {len(DIRECTIONS[grid]) - 1} steps.")
        for index, (cell, kind) in enumerate(own):
            q, r = _turned(cell, turn, grid)
            names.append(f"{name}{index + 1}")
            kinds.append(kind)
            cells.append((at[0] + q, at[1] + r))
            owners.append(number)
    start = tuple(_cell(cell, "A coordinate of Start") for cell in layout.get("start", ()))
    village = tuple(_cell(cell, "A coordinate of the Village") for cell in layout.get("village", ()))
    every = [*cells, *start, *village]
    if len(grids) != 1:
        raise SetupError("All four boards have the same kind of grid.")
    if len(set(names)) != len(names) or len(set(every)) != len(every):
        raise SetupError("Two boards of the layout lie on the same place, or one board is used twice.")
    found = _joined(grids.pop(), names, kinds, cells, owners, start, village)
    _check(found)
    return found


def _joined(
    grid: str,
    names: list[str],
    kinds: list[str],
    cells: list[Cell],
    owners: list[int],
    start: tuple[Cell, ...],
    village: tuple[Cell, ...],
) -> Layout:
    where = {cell: index for index, cell in enumerate(cells)}
    where.update(dict.fromkeys(start, len(cells)))
    where.update(dict.fromkeys(village, len(cells) + 1))
    directions = DIRECTIONS[grid]
    step = tuple(tuple(where.get((q + dq, r + dr), NO_SPACE) for dq, dr in directions) for q, r in cells)
    entries = [
        (d, where[q + dq, r + dr])
        for q, r in start
        for d, (dq, dr) in enumerate(directions)
        if where.get((q + dq, r + dr), len(cells)) < len(cells)
    ]
    return Layout(
        grid,
        (*names, "start", "village"),
        tuple(kinds),
        tuple(cells),
        tuple(owners),
        step,
        tuple(entries),
        start,
        village,
    )


def _check(layout: Layout) -> None:
    if any(layout.kinds[space] == "igloo" for _, space in layout.entries):
        raise SetupError("Start touches an igloo space, which is forbidden (ICE-S.2).")
    if not _reachable(layout, None):
        raise SetupError("The Village cannot be reached from Start with this layout (ICE-S.1).")
    for number in range(4):
        if _reachable(layout, number):
            raise SetupError(f"A bear could pass by board {number + 1} without using a space of it (ICE-S.1).")


def _reachable(layout: Layout, without: int | None) -> bool:
    """Return whether a route leads from Start to the Village without using a board's spaces."""
    seen = set()
    todo = [space for _, space in layout.entries if layout.boards[space] != without]
    while todo:
        space = todo.pop()
        if space in seen:
            continue
        seen.add(space)
        for following in layout.step[space]:
            if following == layout.village:
                return True
            if 0 <= following < layout.start and layout.boards[following] != without:
                todo.append(following)
    return False
