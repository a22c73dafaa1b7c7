"""A traced game of tall printed blocks in a wide grid: signs of some colours and forms, on blocks that lean.

No game that anybody sells: what is asked is whether a reader knows a print again wherever on the table, and however
high, it stands. Blocks are set down a little askew, and turned as hands turn them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from companion.lab.worlds.traced.povray import Lamps, TracedView, develop, paint, placed, render
from companion.lab.worlds.traced.solids import chance, coloured, hsv, polygon, prism, rod, slab, times
from companion.lab.worlds.traced.tabletop import table

SIDE_MM = 26.0
RIM_MM = 12.0
BOARD_MM = 3.0
INKS = {
    "red": (2, 0.9, 0.75),
    "orange": (26, 0.95, 0.92),
    "yellow": (54, 0.9, 0.92),
    "green": (130, 0.8, 0.5),
    "blue": (215, 0.85, 0.65),
    "violet": (285, 0.65, 0.55),
}
FORMS = ("disc", "square", "diamond", "star", "clover", "cross")


@dataclass(frozen=True)
class BlockTable:
    """A table of ``columns`` × ``rows`` places; blocks stand so many parts of a place high."""

    seed: int
    columns: int = 12
    rows: int = 8
    high: float = 0.5
    blocks: int = 44
    tilt: tuple[float, float] = (3.0, 25.0)

    @cached_property
    def sorts(self) -> list[str]:
        """The sorts of prints: each ink with each form."""
        return [f"{ink} {form}" for ink in INKS for form in FORMS]

    @property
    def layout(self) -> str:
        """Return the layout, as TOML."""
        sorts = ", ".join(f'"{sort}"' for sort in self.sorts)
        return (
            f'[board]\nkind = "grid"\ncolumns = {self.columns}\nrows = {self.rows}\n'
            '[ground]\nclasses = ["field", "block"]\n'
            f'[[things]]\nkind = "print"\ncolours = [{sorts}]\nmax = 1\non = ["block"]\n'
        )

    @cached_property
    def view(self) -> TracedView:
        """The camera."""
        wide, deep = (many * SIDE_MM + 2 * RIM_MM + 20 for many in (self.columns, self.rows))
        return TracedView(self.seed, wide, deep, 1280, 960, self.tilt)

    @cached_property
    def corners(self) -> Any:
        """(4, 2): the grid's corners in the picture, clockwise from the far left."""
        x, y = self.columns * SIDE_MM / 2, self.rows * SIDE_MM / 2
        return self.view.project([[-x, y, BOARD_MM], [x, y, BOARD_MM], [x, -y, BOARD_MM], [-x, -y, BOARD_MM]])

    def position(self, number: int) -> dict[str, Any]:
        """Return what lies in each place of the numbered position, as labels say it."""
        rng = chance("position", self.seed, number)
        names = [f"{'abcdefghijklmnop'[c]}{self.rows - r}" for r in range(self.rows) for c in range(self.columns)]
        places: dict[str, Any] = {name: {"ground": "field", "things": []} for name in names}
        for at in rng.permutation(len(names))[: self.blocks].tolist():
            sort = self.sorts[int(rng.integers(len(self.sorts)))]
            places[names[at]] = {"ground": "block", "things": [{"kind": "print", "colour": sort, "count": 1}]}
        return {"places": places}

    def photo(self, number: int) -> bytes:
        """Return a photo of the numbered position, as JPEG."""
        drawn = table(self.seed) + self._board()
        for name, place in self.position(number)["places"].items():
            if place["things"]:
                lies = chance("lies", self.seed, number, name)
                x = (ord(name[0]) - 97 - (self.columns - 1) / 2) * SIDE_MM + float(lies.normal(0, 0.5))
                y = (int(name[1:]) - (self.rows + 1) / 2) * SIDE_MM + float(lies.normal(0, 0.5))
                turn = 90 * int(lies.integers(4)) + float(lies.normal(0, 2.5))
                drawn += placed(self._block(place["things"][0]["colour"]), x, y, BOARD_MM, turn)
        scene = self.view.sdl() + Lamps(self.seed).sdl() + drawn
        return develop(render(scene, self.view.width, self.view.height, seed=self.seed), number, light=self.seed)

    def _board(self) -> str:
        rng = chance("board", self.seed)
        x, y = self.columns * SIDE_MM / 2, self.rows * SIDE_MM / 2
        paper = hsv(float(rng.uniform(20, 210)), float(rng.uniform(0.05, 0.3)), float(rng.uniform(0.6, 0.9)))
        drawn = coloured(slab((-x - RIM_MM, -y - RIM_MM, 0), (x + RIM_MM, y + RIM_MM, BOARD_MM)), paint(paper))
        top, lines = BOARD_MM + 0.04, ""
        for n in range(self.columns + 1):
            lines += slab((n * SIDE_MM - x - 0.4, -y, 0), (n * SIDE_MM - x + 0.4, y, top))
        for n in range(self.rows + 1):
            lines += slab((-x, n * SIDE_MM - y - 0.4, 0), (x, n * SIDE_MM - y + 0.4, top))
        return drawn + coloured(lines, paint(times(paper, 0.55)))

    def _block(self, sort: str) -> str:
        """Return a block about the origin, standing on z = 0, with its print on top."""
        rng = chance("box", self.seed)
        ink, form = sort.split()
        half, high = SIDE_MM / 2 - 1.6, self.high * SIDE_MM
        grey = float(rng.choice([0.07, 0.12, 0.8]))
        wood = paint((grey, grey, grey), f"specular {rng.uniform(0.05, 0.3):.3f} roughness 0.03")
        hue, saturation, value = INKS[ink]
        shift = chance("ink", self.seed, ink).normal(0, 1, 2)
        colour = hsv(hue + 4 * shift[0], saturation, value + 0.04 * shift[1])
        printed = coloured(_form(form, 0.62 * half, high - 0.2, high + 0.06), paint(colour))
        return coloured(slab((-half, -half, 0), (half, half, high)), wood) + printed


def _form(form: str, radius: float, low: float, high: float) -> str:
    """Return a flat form about the origin."""
    if form == "disc":
        return rod((0, 0, low), (0, 0, high), radius)
    if form == "square":
        return prism(polygon(4, 1.2 * radius, 45), low, high)
    if form == "diamond":
        return prism(polygon(4, 1.2 * radius), low, high)
    if form == "star":
        points = polygon(16, 1.25 * radius)
        points[1::2] *= 0.5
        return prism(points, low, high)
    around = polygon(4, 0.62 * radius)
    if form == "clover":
        return "".join(rod((x, y, low), (x, y, high), 0.5 * radius) for x, y in around.tolist())
    bar = 0.36 * radius
    return slab((-1.15 * radius, -bar, low), (1.15 * radius, bar, high)) + slab(
        (-bar, -1.15 * radius, low), (bar, 1.15 * radius, high)
    )
