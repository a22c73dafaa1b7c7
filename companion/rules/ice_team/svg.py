"""A position of Ice Team as a picture: SVG that reads in print, in grey and for colour-blind people.

Nothing is told by colour alone: each team has a shape and a letter, each ground a pattern, each tile a sign, cracks are
lines, a searched igloo is empty, and a refused move is marked with a cross and dashes, a legal one with a tick and
full lines.
"""

from __future__ import annotations

from html import escape
from math import cos, hypot, pi, sin, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from companion.rules.drawing import badge, dashes, drawn_names, named, outline, paint, reason_outline, straight_arrow
from companion.rules.drawing import caption as ruling_caption
from companion.rules.i18n import Words
from companion.rules.ice_team import drifting
from companion.rules.ice_team.board import GRIDS
from companion.rules.ice_team.components import DRIFTS, FRAGILE, IGLOO, PAW, PENGUINS, SEA, SEARCHED, TILE_TEXT, UNKNOWN
from companion.rules.ice_team.svg_signs import bear, definitions, sign
from companion.rules.names import shortened

if TYPE_CHECKING:
    from companion.rules.core import Ruling
    from companion.rules.ice_team.board import Cell, TrackLayout
    from companion.rules.ice_team.moves import IceMove
    from companion.rules.ice_team.position import IcePosition

Point = tuple[float, float]
SIDE = 66.0
"""From the middle of a space to that of the next."""
MARGIN = 20.0
LINE = 20
INSET = 5.0
"""How far the corner of a floe is from that of its space."""
GAPS = (16, 14)
"""Between an arrow and what stands at its ends."""

WORDS: Final = {
    "board": Words("Ice Team, position"),
    "start": Words("Start"),
    "village": Words("Village"),
    "fish": Words("{name}: {fresh} fresh, {frozen} frozen"),
    "turn": Words("to move"),
}


class Grid(NamedTuple):
    """Where the cells of a layout lie in the picture."""

    hexagons: bool
    left: float
    top: float

    def centre(self, cell: Cell) -> Point:
        """Return the middle of a cell; rows of hexagons are half a cell apart and lie closer."""
        across, down = cell
        if self.hexagons:
            return self.left + SIDE * (across + down / 2), self.top + SIDE * sqrt(3) / 2 * down
        return self.left + SIDE * across, self.top + SIDE * down

    def corners(self, cell: Cell, inset: float = 0) -> list[Point]:
        """Return the corners of a cell: corner d and the next one bound the edge in direction d."""
        x, y = self.centre(cell)
        count = 6 if self.hexagons else 4
        radius = SIDE / 2 / cos(pi / count) - inset
        turns = [(2 * d - 1) * pi / count for d in range(count)]
        return [(x + radius * cos(turn), y + radius * sin(turn)) for turn in turns]


def draw(state: IcePosition, move: IceMove | None = None, lang: str = "en", *, ruling: Ruling | None = None) -> str:
    """Return the boards as SVG text; with a move also its marks, and below the boards the ruling with its clauses.

    ``ruling``: that of a move that was judged elsewhere.
    """
    layout = state.table.layout
    grid, width, below = _frame(layout)
    ruling = None if move is None else ruling or state.check(move)
    caption = [] if ruling is None or move is None else ruling_caption(move, ruling, lang, int(width / 8.2))
    title = f"{WORDS['board'].of(lang)}: {state}"
    height = below + LINE * (1 + len(caption)) + (8 if caption else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        'font-family="sans-serif">',
        f"<title>{escape(title)}</title>",
        definitions(_polygon(Grid(grid.hexagons, 0, 0).corners((0, 0), INSET)), layout.grid),
        *([f"<desc>{escape(' '.join(caption))}</desc>"] if caption else []),
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="{paint("paper")}"/>',
        *(_space(state, grid, space) for space in range(layout.start)),
        *_shore(state, grid, "start", lang),
        *_shore(state, grid, "village", lang),
        *_edges(layout, grid),
        *(_bears(state, space, *grid.centre(cell), lang) for space, cell in enumerate(layout.cells)),
        _fish(state, below, width, lang),
    ]
    if move is not None and ruling is not None:
        parts += _marks(state, grid, move, ruling)
    for row, text in enumerate(caption):
        y = below + LINE * (row + 1) + 8
        weight = "bold" if row == 0 else "normal"
        parts.append(f'<text x="{MARGIN:g}" y="{y:g}" font-size="15" font-weight="{weight}">{escape(text)}</text>')
    parts.append("</svg>")
    return "\n".join(part for part in parts if part) + "\n"


def _frame(layout: TrackLayout) -> tuple[Grid, float, float]:
    """Return the grid, the width of the picture, and where the boards end below."""
    plain = Grid(layout.grid == "hex", 0, 0)
    cells = [*layout.cells, *layout.start_cells, *layout.village_cells]
    corners = [corner for cell in cells for corner in plain.corners(cell)]
    left, right = min(x for x, _ in corners), max(x for x, _ in corners)
    top, bottom = min(y for _, y in corners), max(y for _, y in corners)
    grid = plain._replace(left=MARGIN - left, top=MARGIN - top)
    return grid, right - left + 2 * MARGIN, bottom - top + 2 * MARGIN + 8


def _polygon(corners: list[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)


# --- what lies on a space ---------------------------------------------------------------------------------------------


def _space(s: IcePosition, grid: Grid, space: int) -> str:
    layout, tile = s.table.layout, s.tiles[space]
    name, cell = layout.names[space], layout.cells[space]
    x, y = grid.centre(cell)
    found = [
        f'<g id="{name}" class="{TILE_TEXT[tile]}">',
        f'<polygon points="{_polygon(grid.corners(cell))}" fill="url(#it-sea)"/>',
    ]
    if tile != SEA:
        dashes = ' stroke-dasharray="7 3"' if FRAGILE[tile] else ""
        found.append(
            f'<use href="#it-under-{layout.grid}" x="{x:.1f}" y="{y:.1f}"/>'
            f'<polygon points="{_polygon(grid.corners(cell, INSET))}" fill="url(#it-ice)" stroke="{paint("dusk")}" '
            f'stroke-linejoin="round"{dashes}/>'
        )
        # Where a bear stands, the sign gives way to be seen beside it.
        place = f"{x + 9:.1f} {y + 5:.1f}) scale(0.85" if any(_standing(s, space)) else f"{x:.1f} {y - 2:.1f}"
        found.append(f'<g transform="translate({place})">{_sign(tile)}</g>')
    found.append(
        f'<text x="{x:.1f}" y="{y + SIDE * 0.4:.1f}" font-size="11" text-anchor="middle" '
        f'stroke="{paint("snow")}" stroke-width="3" paint-order="stroke" fill="{paint("dusk")}">{name}</text></g>'
    )
    return "".join(found)


def _sign(tile: int) -> str:
    """Return what a tile shows, about its middle."""
    cracks = sign("cracks") if FRAGILE[tile] else ""
    if tile in (IGLOO, SEARCHED):
        return sign("empty", "dome empty") if tile == SEARCHED else sign("dome")
    if tile == UNKNOWN:
        return f'<text y="8" font-size="26" text-anchor="middle" fill="{paint("dusk")}">?</text>'
    if tile == PAW:
        return cracks + sign("pad")
    if DRIFTS[tile]:
        return cracks + sign("waves")
    count = PENGUINS[tile]
    places = [(13 * (n - (count - 1) / 2)) for n in range(count)]
    return cracks + "".join(f'<use class="penguin" href="#it-penguin" x="{place:g}"/>' for place in places)


def _shore(s: IcePosition, grid: Grid, which: str, lang: str) -> list[str]:
    """Return Start or Village: one large space over several cells, with its bears in the middle one."""
    layout = s.table.layout
    cells = layout.start_cells if which == "start" else layout.village_cells
    found = [f'<g id="{which}" class="{which}">']
    for cell in cells:
        points = _polygon(grid.corners(cell))
        found.append(f'<polygon points="{points}" fill="url(#it-land)"/>')
    x, y = grid.centre(cells[len(cells) // 2])
    found.append("</g>")
    found.append(
        f'<text x="{x:.1f}" y="{y + SIDE * 0.42:.1f}" font-size="13" font-weight="bold" text-anchor="middle" '
        f'stroke="{paint("snow")}" stroke-width="4" paint-order="stroke" fill="{paint("dusk")}">'
        f"{WORDS[which].of(lang)}</text>"
    )
    found.append(_bears(s, layout.index(which), x, y - 8, lang))
    return found


def _standing(s: IcePosition, space: int) -> tuple[int, int]:
    return s.count_on(space, 0), s.count_on(space, 1)


def _bears(s: IcePosition, space: int, x: float, y: float, lang: str) -> str:
    """Return the bears on a space: those of a team together, with their number."""
    teams = [(colour, count) for colour, count in zip(s.colours, _standing(s, space), strict=True) if count]
    if space < s.table.layout.start:
        x, y = x - 11, y - 11
    shift = 17 if len(teams) > 1 else 0
    return "".join(
        bear(colour, count, (x + shift * (2 * number - 1), y), lang) for number, (colour, count) in enumerate(teams)
    )


def _edges(layout: TrackLayout, grid: Grid) -> list[str]:
    """Return the outlines of the track boards, and of Start and Village."""
    where = {cell: layout.boards[space] for space, cell in enumerate(layout.cells)}
    where |= dict.fromkeys(layout.start_cells, -1) | dict.fromkeys(layout.village_cells, -2)
    found = []
    for cell, owner in where.items():
        corners = grid.corners(cell)
        for direction, (across, down) in enumerate(GRIDS[layout.grid].values()):
            if where.get((cell[0] + across, cell[1] + down)) != owner:
                (x0, y0), (x1, y1) = corners[direction], corners[(direction + 1) % len(corners)]
                found.append(f"M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}")
    return [f'<path class="edges" d="{"".join(found)}" fill="none" stroke="{paint("dusk")}" stroke-width="2.4"/>']


def _fish(s: IcePosition, below: float, width: float, lang: str) -> str:
    """Return a line with both players' fish; the one to move is told."""
    found = []
    for seat, (name, colour) in enumerate(
        zip(drawn_names("ice-team", s.names, s.colours, lang), s.colours, strict=True)
    ):
        x = MARGIN + 14 + seat * (width / 2)
        fish = WORDS["fish"].of(lang).format(name=shortened(name, 24), fresh=s.fresh[seat], frozen=s.frozen[seat])
        turn = f", {WORDS['turn'].of(lang)}" if s.to_move == seat else ""
        found.append(bear(colour, 1, (x, below - 6), lang))
        text = escape(f"{fish}{turn}")
        found.append(f'<text class="fish" x="{x + 20:.1f}" y="{below:.1f}" font-size="14">{text}</text>')
    return "".join(found)


# --- the move in question ---------------------------------------------------------------------------------------------


def marked(s: IcePosition, move: IceMove) -> tuple[list[int], tuple[int, int] | None]:
    """Return the spaces that a move is about, and where an arrow leads from and to."""
    layout = s.table.layout
    here = s.bears[s.bear] if s.bear >= 0 else -1
    first, second = layout.index(move.a), layout.index(move.b)
    if move.kind in ("walk", "leap", "swim"):
        spaces = [space for space in (first, second) if space >= 0]
        return spaces, (first, second) if len(spaces) == 2 and first != second else None
    if move.kind in ("drift", "push"):
        if here < 0 or first < 0:
            return [first] if first >= 0 else [], None
        shifts = drifting.pushes(s).get(first, []) if move.kind == "push" else []
        spaces = [*dict.fromkeys([here, *(end for _, end in shifts), first])]
        return spaces, (here, first) if here != first else None
    if move.kind == "floe":
        return [first] if first >= 0 else [], None
    return [here] if here >= 0 else [], None


def _marks(s: IcePosition, grid: Grid, move: IceMove, ruling: Ruling) -> list[str]:
    layout, legal = s.table.layout, ruling.legal
    spaces, way = marked(s, move)
    cells = {space: _cell(layout, grid, space, way) for space in spaces}
    found = []
    for name in named(ruling.facts, layout.numbers):
        space = layout.index(name)
        if space not in cells:
            found += reason_outline(_outline(grid, _cell(layout, grid, space, None)))
    for cell in cells.values():
        found += outline(_outline(grid, cell), legal=legal)
    if way is not None:
        ends = grid.centre(cells[way[0]]), grid.centre(cells[way[1]])
        found += straight_arrow(*ends, GAPS, dash=dashes(legal=legal))
    if cells:
        x, y = grid.centre(cells[way[1]] if way is not None else list(cells.values())[-1])
        found.append(badge(round(x + SIDE * 0.36, 1), round(y - SIDE * 0.36, 1), legal=legal))
    return found


def _outline(grid: Grid, cell: Cell) -> str:
    return f'polygon points="{_polygon(grid.corners(cell, 2))}"'


def _cell(layout: TrackLayout, grid: Grid, space: int, way: tuple[int, int] | None) -> Cell:
    """Return the cell of a space; of Start and Village the one nearest to the other end of the way."""
    if space < layout.start:
        return layout.cells[space]
    cells = layout.start_cells if space == layout.start else layout.village_cells
    other = None if way is None else way[way[0] == space]
    if other is None or other >= layout.start:
        return cells[len(cells) // 2]
    x, y = grid.centre(layout.cells[other])
    return min(cells, key=lambda cell: hypot(grid.centre(cell)[0] - x, grid.centre(cell)[1] - y))
