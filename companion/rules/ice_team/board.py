"""The boards of Ice Team as data: spaces, straight lines, joins, and the checks of ICE-S.1 and ICE-S.2.

A space has a coordinate; a straight line follows one direction. Start and Village each cover several coordinates
and are one large floe (ICE-0.4), so a line may begin or end at any coordinate they cover (ICE-Q.3, ICE-Q.4).
Hexagonal boards use axial coordinates (q, r) with six directions, square ones (x, y) with four; the second
coordinate grows downwards in the picture, and directions have the names of the compass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from companion.rules.core import SetupError
from companion.rules.ice_team.ways import Ways

Cell = tuple[int, int]
HEX: Final[dict[str, Cell]] = {"e": (1, 0), "se": (0, 1), "sw": (-1, 1), "w": (-1, 0), "nw": (0, -1), "ne": (1, -1)}
SQUARE: Final[dict[str, Cell]] = {"e": (1, 0), "s": (0, 1), "w": (-1, 0), "n": (0, -1)}
GRIDS: Final[dict[str, dict[str, Cell]]] = {"hex": HEX, "square": SQUARE}
SYMBOLS: Final = {"I": "igloo", "f": "floe", ".": "sea"}
TRACKS: Final = 4
NO_SPACE: Final = -1
FARTHEST: Final = 100
"""No coordinate of a board's place is larger: a table ends somewhere, and so do broken data."""
MOST_CELLS: Final = 40
"""Start and Village cover no more coordinates than this."""
LONGEST_NAME: Final = 12


@dataclass(frozen=True)
class TrackLayout:
    """Four track boards between Start and Village.

    ``names[i]`` is space i's name, ``kinds[i]`` what is printed there (igloo, floe, sea), ``cells[i]`` its
    coordinate, ``boards[i]`` the track board it is on. Two more indices, ``start`` and ``village``, stand for those.
    ``step[i][d]`` is the space one step in direction d from space i, or NO_SPACE. ``lines[i]`` are the (direction,
    first space) pairs of all lines that leave space i; those that leave Start are ``entries``, none leave the
    Village (ICE-Q.1). ``bit[i]`` is the mask of space i (nothing for Start and Village, which hold any number of
    bears), ``numbers`` maps names to indices, ``ways`` are all movements that there can be.
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
    bit: tuple[int, ...] = field(init=False)
    directions: tuple[str, ...] = field(init=False)
    numbers: dict[str, int] = field(init=False, compare=False)
    ways: Ways = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Work out what the search asks for all the time."""
        spaces = len(self.kinds)
        ways = [tuple((d, space) for d, space in enumerate(steps) if space != NO_SPACE) for steps in self.step]
        for name, value in {
            "start": spaces,
            "village": spaces + 1,
            "lines": (*ways, self.entries, ()),
            "bit": (*(1 << space for space in range(spaces)), 0, 0),
            "directions": tuple(GRIDS[self.grid]),
            "numbers": {name: number for number, name in enumerate(self.names)},
        }.items():
            object.__setattr__(self, name, value)
        rays = [
            [(direction, line) for (direction, _), line in zip(self.lines[origin], self.rays(origin), strict=True)]
            for origin in range(len(self.names))
        ]
        object.__setattr__(self, "ways", Ways(self.names, rays))

    def index(self, name: str) -> int:
        """Return the index of a space, ``start`` or ``village``, or NO_SPACE."""
        return self.numbers.get(name, NO_SPACE)

    def rays(self, origin: int) -> list[list[int]]:
        """Return every line that leaves a space, as the spaces on it up to the edge, Start or Village."""
        found = []
        for direction, first in self.lines[origin]:
            line = [first]
            while line[-1] < self.start and (ahead := self.step[line[-1]][direction]) != NO_SPACE:
                line.append(ahead)
            found.append(line)
        return found


def between(layout: TrackLayout, origin: int, target: int) -> list[list[int]]:
    """Return, for every line that leads from one space to another, the spaces that lie between them."""
    return [line[: line.index(target)] for line in layout.rays(origin) if target in line]


def _turned(cell: Cell, turns: int, grid: str) -> Cell:
    a, b = cell
    for _ in range(turns):
        a, b = (-b, a + b) if grid == "hex" else (-b, a)
    return a, b


def _cells(value: Any) -> list[Cell]:
    if not isinstance(value, list) or not 0 < len(value) <= MOST_CELLS:
        raise SetupError("Start and Village are lists of the coordinates that they cover.")
    return [_cell(pair) for pair in value]


def _cell(value: Any) -> Cell:
    if (
        isinstance(value, list | tuple)
        and len(value) == 2
        and all(isinstance(v, int) and not isinstance(v, bool) and abs(v) < FARTHEST for v in value)
    ):
        return value[0], value[1]
    raise SetupError("A coordinate is a pair of whole numbers, each below {farthest}.", farthest=FARTHEST)


def _board(boards: Mapping[str, Any], name: Any) -> tuple[str, list[tuple[Cell, str]]]:
    """Return a board's grid and its spaces."""
    board = boards.get(name) if isinstance(name, str) else None
    named = isinstance(name, str) and name.isascii() and name.isalpha() and name.islower()
    if not named or len(name) > LONGEST_NAME or not isinstance(board, Mapping):
        raise SetupError("A layout names track boards of the data, each by a word in small letters.")
    grid, rows = board.get("grid"), board.get("rows")
    if not isinstance(grid, str) or grid not in GRIDS or not isinstance(rows, list):
        raise SetupError("Board {name} has a grid (hex or square) and rows.", name=name)
    if not all(isinstance(row, str) and set(row) <= set(SYMBOLS) for row in rows):
        raise SetupError("The rows of board {name} are made of I (igloo), f (floe) and a dot (open sea).", name=name)
    cells = [((q, r), SYMBOLS[symbol]) for r, row in enumerate(rows) for q, symbol in enumerate(row)]
    kinds = [kind for _, kind in cells]
    if (kinds.count("igloo"), kinds.count("floe"), kinds.count("sea")) != (2, 6, 1):
        raise SetupError("Board {name} needs 2 igloo spaces, 6 floe spaces and 1 of open sea (ICE-K.2).", name=name)
    return grid, cells


def make_layout(boards: Mapping[str, Any], layout: Any) -> TrackLayout:
    """Return the layout that the data describes.

    :raises SetupError: when the data are broken, boards overlap, a board can be bypassed (ICE-S.1) or Start
        touches an igloo (ICE-S.2); in one sentence.
    """
    placed = layout.get("boards") if isinstance(layout, Mapping) else None
    if not isinstance(placed, list) or len(placed) != TRACKS or not all(isinstance(item, Mapping) for item in placed):
        raise SetupError("A layout of Ice Team places four track boards.")
    names: list[str] = []
    kinds: list[str] = []
    cells: list[Cell] = []
    grids = set()
    for item in placed:
        name = item.get("board")
        grid, own = _board(boards, name)
        grids.add(grid)
        at, turn = _cell(item.get("at")), item.get("turn", 0)
        if isinstance(turn, bool) or not isinstance(turn, int) or not 0 <= turn < len(GRIDS[grid]):
            most = len(GRIDS[grid]) - 1
            raise SetupError("Board {name} is turned by 0 to {most} steps.", name=name, most=most)
        for index, (cell, kind) in enumerate(own):
            q, r = _turned(cell, turn, grid)
            names.append(f"{name}{index + 1}")
            kinds.append(kind)
            cells.append((at[0] + q, at[1] + r))
    start, village = _cells(layout.get("start")), _cells(layout.get("village"))
    every = [*cells, *start, *village]
    if len(grids) != 1:
        raise SetupError("All four boards have the same kind of grid.")
    if len(set(names)) != len(names) or len(set(every)) != len(every):
        raise SetupError("Two boards of the layout lie on the same place, or one board is used twice.")
    found = _joined(grids.pop(), names, kinds, cells, start, village)
    _check(found)
    return found


def _joined(
    grid: str, names: list[str], kinds: list[str], cells: list[Cell], start: list[Cell], village: list[Cell]
) -> TrackLayout:
    spaces = len(cells)
    where = {cell: index for index, cell in enumerate(cells)}
    where.update(dict.fromkeys(start, spaces))
    where.update(dict.fromkeys(village, spaces + 1))
    ways = GRIDS[grid].values()
    step = tuple(tuple(where.get((q + dq, r + dr), NO_SPACE) for dq, dr in ways) for q, r in cells)
    entries = [
        (d, where[q + dq, r + dr])
        for q, r in start
        for d, (dq, dr) in enumerate(ways)
        if where.get((q + dq, r + dr), spaces) != spaces
    ]
    owners = tuple(space * TRACKS // spaces for space in range(spaces))
    everything = (*names, "start", "village")
    return TrackLayout(
        grid, everything, tuple(kinds), tuple(cells), owners, step, tuple(entries), tuple(start), tuple(village)
    )


def _check(layout: TrackLayout) -> None:
    if any(space < layout.start and layout.kinds[space] == "igloo" for _, space in layout.entries):
        raise SetupError("Start touches an igloo space, which is forbidden (ICE-S.2).")
    if not _reachable(layout, None):
        raise SetupError("The Village cannot be reached from Start with this layout (ICE-S.1).")
    for number in range(TRACKS):
        if _reachable(layout, number):
            raise SetupError(
                "A bear could pass by board {number} without using any of its spaces (ICE-S.1).", number=number + 1
            )


def _reachable(layout: TrackLayout, without: int | None) -> bool:
    """Return whether a route leads from Start to the Village without using a board's spaces."""
    seen = set()
    todo = [space for _, space in layout.entries]
    while todo:
        space = todo.pop()
        if space == layout.village:
            return True
        if space < layout.start and layout.boards[space] != without and space not in seen:
            seen.add(space)
            todo += [following for _, following in layout.lines[space]]
    return False
