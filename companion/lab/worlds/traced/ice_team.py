"""A traced game of Ice Team: four track boards between Start and Village, floes with their faces printed, bears.

Where places lie is the layout's, as the camera knows it; all else is drawn here. Penguins, cracks, arrows and paws are
printed on the floes, igloos are glued to the boards and have a fish on them until they are searched (ICE-S.4).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import numpy as np

from companion.lab.worlds import filmed_ice, ice_table
from companion.lab.worlds.traced.film import TracedGame
from companion.lab.worlds.traced.pieces import INK, PieceSet
from companion.lab.worlds.traced.povray import SERIF, TracedView, paint, placed, text, vector
from companion.lab.worlds.traced.solids import ball, chance, coloured, hsv, pattern, polygon, prism, rod, times
from companion.lab.worlds.traced.tabletop import CARD_MM, markers, table
from vision.board.layout import Layout, open_layout

UNIT_MM = 45.0
"""From one space to the next in a row."""
SHORE_MM, BOARD_MM, FLOE_MM = 1.6, 2.2, 2.0
"""How thick Start and Village, the track boards and the floes are."""
SEA_MM = 22.3
"""From the middle of a space to its sides."""


@cache
def _layout() -> Layout:
    return open_layout(ice_table.GAME)


def traced_ice(seed: int, turns: int, *, width: int = 1280) -> TracedGame:
    """Return a traced game of at most ``turns`` turns for two; the picture is ``width`` by three quarters of it."""
    course = filmed_ice.FilmedIce(seed, turns, evening=False)
    wide, high = _layout().width * UNIT_MM, _layout().height * UNIT_MM
    view = TracedView(seed, wide + 20, high + 2 * CARD_MM + 24, width, width * 3 // 4)
    half = np.array([wide / 2, high / 2])
    outline = np.array([[x, y, SHORE_MM] for x, y in np.array([[-1, 1], [1, 1], [1, -1], [-1, -1]]) * half])
    return TracedGame(seed, course, view, partial(scene, seed), outline, reach=1100.0)


def scene(seed: int, position: Mapping[str, Any]) -> str:
    """Return the table with the boards, all that lies on them, and each player's fish with the dice beside them."""
    layout, pieces = _layout(), PieceSet(seed)
    half = np.array([layout.width, layout.height]) * UNIT_MM / 2
    drawn = table(seed) + markers(seed, float(half[0]) - CARD_MM / 2, float(half[1]) + CARD_MM / 2 + 8)
    drawn += _boards(seed, layout)
    for spot in layout.places:
        place = position["places"][spot.name]
        x, y = (spot.x - layout.width / 2) * UNIT_MM, (layout.height / 2 - spot.y) * UNIT_MM
        if spot.name in ("start", "village"):
            drawn += _crowd(seed, pieces, spot.name, place["things"], x, y)
        else:
            drawn += _space(seed, pieces, spot.name, place, x, y)
    return drawn + _beside(seed, pieces, position, float(half[1]))


def _sea(seed: int) -> str:
    rng = chance("ice sea", seed)
    hue, dark = float(rng.uniform(190, 235)), float(rng.uniform(0.35, 0.65))
    shades = [hsv(hue, 0.7, dark), hsv(hue + 8, 0.55, 1.25 * dark), hsv(hue - 4, 0.75, 0.85 * dark)]
    kind = str(rng.choice(["bozo", "agate", "marble", "wrinkles"]))
    return pattern(kind, shades, float(rng.uniform(8, 26)), "specular 0.08 roughness 0.05")


def _boards(seed: int, layout: Layout) -> str:
    """Return Start, Village and the track boards, and what is printed on the bare sea."""
    half = np.array([layout.width, layout.height]) * UNIT_MM / 2
    rng = chance("shore", seed)
    steps = np.array([[0, 0], [1.06, 0], [1.06, 1.17], [1.56, 1.17], [1.56, 2.03], [2.06, 2.03], [2.06, 3.2], [0, 3.2]])
    outline = steps * UNIT_MM * [1, -1] + half * [-1, 1]
    snow = hsv(float(rng.uniform(180, 230)), float(rng.uniform(0.03, 0.18)), float(rng.uniform(0.8, 0.95)))
    earth = hsv(float(rng.uniform(15, 120)), float(rng.uniform(0.2, 0.5)), float(rng.uniform(0.45, 0.75)))
    size = float(rng.uniform(18, 40))
    drawn = coloured(prism(outline, 0, SHORE_MM), pattern("granite", [snow, times(snow, 0.9), snow], size))
    drawn += coloured(prism(-outline, 0, SHORE_MM), pattern("bozo", [earth, times(earth, 0.8), earth], size))
    for word, side, ink in (("START", -1, times(snow, 0.45)), ("VILLAGE", 1, times(earth, 0.4))):
        named = text(word, 7.5, paint(ink), font=SERIF)
        drawn += placed(named, side * (half[0] - 5.5), 0, SHORE_MM, 90)
    spaces = [spot for spot in layout.places if spot.name not in ("start", "village")]
    middles = [((s.x - layout.width / 2) * UNIT_MM, (layout.height / 2 - s.y) * UNIT_MM) for s in spaces]
    space = prism(polygon(6, 2 * SEA_MM / np.sqrt(3), 30), 0, BOARD_MM)
    hexes = "".join(f"object {{ {space} translate {vector(x, y, 0)} }}\n" for x, y in middles)
    return drawn + coloured(hexes, _sea(seed))


def _space(seed: int, pieces: PieceSet, name: str, place: Mapping[str, Any], x: float, y: float) -> str:
    ground, z = place["ground"], BOARD_MM
    drawn, tall = "", 0.0
    if ground in ("igloo", "searched"):
        drawn += placed(_igloo_tile(seed), x, y, z, float(chance("glued", seed, name).uniform(-3, 3)))
        tall = FLOE_MM
        if ground == "igloo":
            rng = chance("fish", seed, name)
            dx, dy = rng.normal(0, 1.2, 2)
            fish = pieces.token("fish", 1, 17.0)
            drawn += placed(fish, x + float(dx), y - 3 + float(dy), z + FLOE_MM, float(rng.uniform(0, 360)))
    elif ground != "sea":
        rng = chance("lies", seed, name, ground)
        dx, dy = np.clip(rng.normal(0, 0.5, 2), -1, 1)
        x, y, tall = x + float(dx), y + float(dy), FLOE_MM
        drawn += placed(_floe(seed, ground), x, y, z, 60 * int(rng.integers(0, 6)) + float(rng.normal(0, 1.2)))
    for thing in place["things"]:
        rng = chance("stands", seed, name, ground, thing["colour"])
        dx, dy = rng.normal(0, 1.5, 2)
        bear = pieces.bear(thing["colour"])
        drawn += placed(bear, x + float(dx), y + float(dy), z + tall, float(rng.uniform(0, 360)))
    return drawn


def _outline(seed: int) -> Any:
    """Return a floe's outline: six corners, or round."""
    if chance("floes", seed).integers(0, 2):
        return polygon(6, 2 * (SEA_MM - 1.1) / np.sqrt(3), 30)
    return polygon(48, SEA_MM - 1.0)


@cache
def _floe(seed: int, face: str) -> str:
    """Return a floe about the origin with its face printed on it."""
    rng = chance("ice", seed)
    hue = float(rng.uniform(180, 225))
    white = hsv(hue, float(rng.uniform(0.02, 0.12)), float(rng.uniform(0.88, 0.97)))
    kind = str(rng.choice(["bozo", "granite", "marble"]))
    texture = pattern(kind, [white, times(white, 0.93), white, times(white, 0.97)], float(rng.uniform(10, 25)))
    drawn = coloured(prism(_outline(seed), 0, FLOE_MM), texture)
    name, _, fragile = face.partition("-")
    if fragile or name == "paw":
        drawn += _cracks(seed, times(hsv(hue, 0.6, 0.55), 1.0))
    if name.startswith("penguin"):
        drawn += _penguins(seed, int(name.removeprefix("penguin")))
    elif name == "drift":
        drawn += _arrows(seed)
    elif name == "paw":
        drawn += _paw(seed)
    return drawn


def _flat(shapes: str, at: tuple[float, float], turn: float = 0.0, size: float = 1.0, lift: float = 0.0) -> str:
    return placed(f"union {{ {shapes} scale <{size:.3f}, {size:.3f}, 1> }}", *at, FLOE_MM + lift, turn)


def _penguins(seed: int, many: int) -> str:
    rng = chance("penguins", seed)
    back = paint(times(hsv(float(rng.uniform(200, 280)), float(rng.uniform(0.0, 0.5)), 0.2), 1.0))
    belly, beak = paint((0.96, 0.96, 0.93)), paint(hsv(float(rng.uniform(15, 45)), 0.9, 0.95))
    body = rod((0, 0, 0), (0, 0, 0.06), 1.0).replace("}", "scale <4.2, 6.6, 1> }")
    head = rod((0, 7.2, 0), (0, 7.2, 0.06), 3.4)
    front = rod((0, 0, 0), (0, 0, 0.1), 1.0).replace("}", "scale <2.7, 4.8, 1> translate <0, -0.8, 0> }")
    bird = coloured(body + head, back) + coloured(front, belly)
    bird += coloured(prism([(-1.3, 7.4), (1.3, 7.4), (0, 4.9)], 0, 0.12), beak)
    at: dict[int, list[tuple[float, float]]] = {
        1: [(0.0, -1.0)],
        2: [(-8.0, -1.0), (8.0, -1.0)],
        3: [(-9.0, -5.0), (9.0, -5.0), (0.0, 6.0)],
        4: [(-8.0, -8.5), (8.0, -8.5), (-8.0, 6.5), (8.0, 6.5)],
    }
    size = {1: 1.2, 2: 1.0, 3: 0.85, 4: 0.75}[many]
    return "".join(_flat(bird, spot, 0.0, size) for spot in at[many])


def _cracks(seed: int, ink: Any) -> str:
    """Return cracks that run inwards from the floe's rim."""
    rng = chance("cracks", seed)
    shapes = ""
    begin = float(rng.uniform(0, 1))
    for angle in (begin + 2 * np.pi * number / 5 for number in range(5)):
        at, way = 20.0 * np.array([np.cos(angle), np.sin(angle)]), angle + np.pi
        for _ in range(4):
            way = angle + np.pi + rng.uniform(-0.9, 0.9)
            new = at + rng.uniform(2.2, 4.2) * np.array([np.cos(way), np.sin(way)])
            shapes += rod((at[0], at[1], -0.35), (new[0], new[1], -0.35), 0.5) + ball((new[0], new[1], -0.35), 0.5)
            at = new
    return placed(coloured(shapes, paint(ink)), 0, 0, FLOE_MM)


def _arrows(seed: int) -> str:
    rng = chance("arrows", seed)
    colour = paint(hsv(float(rng.uniform(150, 260)), float(rng.uniform(0.5, 0.9)), float(rng.uniform(0.4, 0.75))))
    if rng.integers(0, 2):
        arrow = prism([(-1.8, -12), (1.8, -12), (1.8, 4), (5.5, 4), (0, 12.5), (-5.5, 4), (-1.8, 4)], 0, 0.08)
        return _flat(coloured(arrow, colour), (0, 0), 20.0)
    arrow = prism([(-1.6, 3), (1.6, 3), (1.6, 9), (4.5, 9), (0, 15.5), (-4.5, 9), (-1.6, 9)], 0, 0.08)
    return "".join(_flat(coloured(arrow, colour), (0, 0), turn) for turn in (0.0, 120.0, 240.0))


def _paw(seed: int) -> str:
    rng = chance("paw", seed)
    colour = paint(hsv(float(rng.uniform(0, 60)), float(rng.uniform(0.2, 0.8)), float(rng.uniform(0.2, 0.5))))
    pad = rod((0, 0, 0), (0, 0, 0.08), 1.0).replace("}", "scale <7, 5.6, 1> translate <0, -3.5, 0> }")
    toes = "".join(rod((x, y, 0), (x, y, 0.08), 2.5) for x, y in ((-8.2, 2.4), (-3, 6.6), (3, 6.6), (8.2, 2.4)))
    return _flat(coloured(pad + toes, colour), (0, 0))


@cache
def _igloo_tile(seed: int) -> str:
    """Return a tile with an igloo printed on it, as it is glued to the boards."""
    rng = chance("igloo tile", seed)
    base = hsv(float(rng.uniform(0, 360)), float(rng.uniform(0.15, 0.5)), float(rng.uniform(0.5, 0.8)))
    white = hsv(float(rng.uniform(180, 230)), 0.08, 0.95)
    drawn = coloured(prism(_outline(seed), 0, FLOE_MM), pattern("granite", [base, times(base, 0.9), base], 20))
    arc = np.radians(np.linspace(0, 180, 25))
    dome = np.column_stack([15 * np.cos(arc), 16 * np.sin(arc) - 8])
    drawn += _flat(coloured(prism(dome, 0, 0.06), paint(white)), (0, 0))
    lines = "".join(
        rod((-np.sqrt(1 - (h / 16) ** 2) * 15, h - 8, 0.05), (np.sqrt(1 - (h / 16) ** 2) * 15, h - 8, 0.05), 0.35)
        for h in (4, 8, 12)
    )
    drawn += _flat(coloured(lines, paint(times(white, 0.6))), (0, 0))
    way = np.column_stack([4.5 * np.cos(arc), 7 * np.sin(arc) - 8])
    return drawn + _flat(coloured(prism(way, 0, 0.5), paint(INK)), (0, 0))


def _crowd(seed: int, pieces: PieceSet, name: str, things: Any, x: float, y: float) -> str:
    """Return the bears on Start or Village, each where it stood before: nobody moves those that stay."""
    rng = chance("crowd", seed, name)
    order, turns = rng.permutation(8), rng.uniform(0, 360, 8)
    beside = rng.normal(0, 1.2, (8, 2))
    drawn = ""
    for thing in things:
        first = 0 if thing["colour"] == "green" else 4
        for number in range(first, first + int(thing.get("count", 1))):
            slot = int(order[number])
            dx, dy = (-9.5 if slot % 2 else 9.5), (slot // 2 - 1.5) * 33
            at = (x + dx + float(beside[number][0]), y + dy + float(beside[number][1]))
            drawn += placed(pieces.bear(thing["colour"]), *at, SHORE_MM, float(turns[number]))
    return drawn


def _beside(seed: int, pieces: PieceSet, position: Mapping[str, Any], half: float) -> str:
    """Return the dice, and each player's fish as tokens of one: fresh ones in a row, frozen ones behind it."""
    rng = chance("dice", seed)
    drawn = ""
    for number in range(2):
        x, y = -250 + 40 * number + float(rng.uniform(-8, 8)), -half - 40 + float(rng.uniform(-8, 8))
        drawn += placed(pieces.die(int(rng.integers(1, 6))), x, y, 0.0, float(rng.uniform(0, 90)))
    for side, player in zip((-1, 1), position["players"], strict=True):
        for row, key in enumerate(("fresh", "frozen")):
            for number in range(min(int(player.get(key, 0)), 14)):
                x, y = -130 + 24 * number, side * (half + 26 + 22 * row)
                turn = float(chance("heap", seed, side, row, number).uniform(0, 360))
                drawn += placed(pieces.token("fish", 1, 17.0), x, y, 0.0, turn)
    return drawn
