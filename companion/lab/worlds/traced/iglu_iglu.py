"""A traced game of Iglu Iglu: floes of cardboard on a printed sea, people and igloos as solids, tokens with values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from companion.lab.worlds import filmed
from companion.lab.worlds.traced.film import TracedGame
from companion.lab.worlds.traced.pieces import PieceSet
from companion.lab.worlds.traced.povray import TracedView, paint, placed
from companion.lab.worlds.traced.solids import chance, coloured, hsv, pattern, rod, slab, times
from companion.lab.worlds.traced.tabletop import CARD_MM, markers, table

SQUARE_MM = 40.0
RIM_MM = 14.0
BOARD_MM = 3.0
FLOE_MM = 1.8
KEPT = 0.7
"""How many of the tiles go to a hand, so that no animals are drawn."""


def traced_iglu(seed: int, turns: int, *, width: int = 1280) -> TracedGame:
    """Return a traced game of at most ``turns`` turns for two; the picture is ``width`` by three quarters of it."""
    course = filmed.Filmed(seed, turns, kept=KEPT)
    half = 4 * SQUARE_MM + RIM_MM
    wide = half + CARD_MM + 8
    view = TracedView(seed, 2 * wide, 2 * half + 4, width, width * 3 // 4)
    return TracedGame(seed, course, view, partial(scene, seed))


def scene(seed: int, position: Mapping[str, Any]) -> str:
    """Return the table with the board, all that lies on it, and the trophies beside it."""
    half = 4 * SQUARE_MM + RIM_MM
    drawn = table(seed) + markers(seed, half + CARD_MM / 2 + 7, half - CARD_MM / 2 - 4) + _board(seed)
    pieces = PieceSet(seed)
    for name, place in position["places"].items():
        x, y = (ord(name[0]) - 97 - 3.5) * SQUARE_MM, (int(name[1]) - 4.5) * SQUARE_MM
        drawn += _place(seed, pieces, name, place, x, y)
    return drawn + _trophies(seed, pieces, position.get("trophies", {}))


def _board(seed: int) -> str:
    rng = chance("sea", seed)
    half = 4 * SQUARE_MM + RIM_MM
    hue, dark = float(rng.uniform(195, 225)), float(rng.uniform(0.35, 0.6))
    shades = [hsv(hue, 0.75, dark), hsv(hue + 6, 0.65, 1.25 * dark), hsv(hue - 5, 0.8, 0.85 * dark)]
    kind = str(rng.choice(["bozo", "agate", "wrinkles"]))
    sea = pattern(kind, shades, float(rng.uniform(10, 30)), "specular 0.08 roughness 0.05")
    rim = paint(hsv(float(rng.uniform(0, 360)), float(rng.uniform(0.1, 0.6)), float(rng.uniform(0.2, 0.9))))
    inner = 4 * SQUARE_MM
    drawn = coloured(slab((-half, -half, 0), (half, half, BOARD_MM - 0.02)), rim)
    drawn += coloured(slab((-inner, -inner, 0), (inner, inner, BOARD_MM)), sea)
    lines = ""
    for n in range(9):
        at = (n - 4) * SQUARE_MM
        lines += slab((at - 0.35, -inner, 0), (at + 0.35, inner, BOARD_MM + 0.03))
        lines += slab((-inner, at - 0.35, 0), (inner, at + 0.35, BOARD_MM + 0.03))
    drawn += coloured(lines, paint(times(shades[0], float(rng.choice([0.55, 1.6])))))
    land = chance("land", seed)
    earth = hsv(float(land.uniform(20, 110)), float(land.uniform(0.2, 0.5)), float(land.uniform(0.35, 0.65)))
    ground = pattern("granite", [earth, times(earth, 0.7), times(earth, 1.2)], 24)
    corner = "".join(
        slab((x - 19.4, y - 19.4, 0), (x + 19.4, y + 19.4, BOARD_MM + 0.05)) for x in (-140, 140) for y in (-140, 140)
    )
    return drawn + coloured(corner, ground)


def _tile(seed: int, ground: str, name: str) -> str:
    """Return a tile of cardboard about the origin, with what its class has printed on it."""
    rng, own = chance("class", seed, ground), chance("tile", seed, ground, name)
    hue = float(rng.uniform(185, 215))
    white = hsv(hue, float(rng.uniform(0.02, 0.12)), float(rng.uniform(0.88, 0.97)))
    if ground == "pack":
        blue = hsv(hue, float(rng.uniform(0.25, 0.4)), float(rng.uniform(0.65, 0.8)))
        shades = [white, blue, white, times(blue, 0.8)]
        texture = pattern("crackle", shades, float(rng.uniform(8, 13)), warp=0.2)
    else:
        shades = [white, times(white, 0.93), white, times(white, 0.97)]
        texture = pattern(str(rng.choice(["bozo", "granite", "marble"])), shades, float(rng.uniform(12, 30)))
    side = SQUARE_MM / 2 - 0.7
    card = coloured(
        slab((-side, -side, 0), (side, side, FLOE_MM)),
        f"{texture} translate {200 * float(own.uniform()):.1f}",
    )
    sign = int(rng.integers(0, 3))
    ink = paint(times(hsv(hue, 0.3, 0.75), float(rng.uniform(0.85, 1.1))))
    if ground == "pack" or sign == 1:
        return card + coloured(_rim(side, float(rng.uniform(1.0, 2.2))), ink)
    if sign == 2:
        spokes = "".join(
            rod((0, 0, FLOE_MM - 0.3), (9 * np.cos(a), 9 * np.sin(a), FLOE_MM - 0.3), 0.45)
            for a in np.arange(6) * np.pi / 3
        )
        return card + coloured(spokes, ink)
    return card


def _rim(side: float, wide: float) -> str:
    low, high, top = side - 1.4 - wide, side - 1.4, FLOE_MM + 0.03
    return "".join(
        slab((*a, 0), (*b, top))
        for a, b in (
            ((-high, low), (high, high)), ((-high, -high), (high, -low)),
            ((-high, -high), (-low, high)), ((low, -high), (high, high)),
        )
    )  # fmt: skip


def _place(seed: int, pieces: PieceSet, name: str, place: Mapping[str, Any], x: float, y: float) -> str:
    drawn, ground, z = "", place["ground"], BOARD_MM
    if ground in ("floe", "pack"):
        lies = chance("lies", seed, name, ground)
        dx, dy = (float(v) for v in np.clip(lies.normal(0, 0.5, 2), -0.9, 0.9))
        x, y, z = x + dx, y + dy, BOARD_MM + FLOE_MM
        drawn += placed(_tile(seed, ground, name), x, y, BOARD_MM, float(lies.normal(0, 0.8)))
    elif ground == "land":
        z = BOARD_MM + 0.05
    things = []
    for thing in place["things"]:
        what = thing.get("colour", thing.get("value"))
        things += [(thing["kind"], what)] * int(thing.get("count", 1))
    things.sort(key=lambda thing: (thing[0] != "igloo", str(thing)))
    for number, (at, turn) in enumerate(_stands(seed, name, tuple(things))):
        kind, what = things[number]
        if kind == "inuit":
            solid = pieces.inuit(what)
        elif kind == "igloo":
            solid = f"union {{ {pieces.igloo(what)} scale 0.86 }}"
        else:
            solid = pieces.token(kind, int(what))
        drawn += placed(solid, x + at[0], y + at[1], z, turn)
    return drawn


def _stands(seed: int, name: str, things: tuple[Any, ...]) -> list[tuple[Any, float]]:
    """Return where each thing stands on its place, from its middle, and how it is turned; hands put down anyhow."""
    rng = chance("stands", seed, name, things)
    many, start = len(things), float(rng.uniform(0, 2 * np.pi))
    housed = many > 1 and things[0][0] == "igloo"
    if not housed:
        spread = 0.0 if many == 1 else 9.5 if many == 2 else 11.0 if many == 3 else 12.5
        angles = start + 2 * np.pi * np.arange(many) / many
        ats = spread * np.column_stack([np.cos(angles), np.sin(angles)])
        turns = rng.uniform(0, 360, many)
    else:
        # The igloo keeps to one side with its door along it; the people stand around the other.
        wide = np.radians(min(95, 33 * (many - 2)))
        angles = start + np.pi + (np.linspace(-wide, wide, many - 1) if many > 2 else np.zeros(1))
        ats = np.vstack(
            [[7 * np.cos(start), 7 * np.sin(start)], 13 * np.column_stack([np.cos(angles), np.sin(angles)])]
        )
        turns = np.append(np.degrees(start) + 90 * (1 + rng.choice([-1, 1])), rng.uniform(0, 360, many - 1))
    ats = np.clip(ats + rng.normal(0, 2.2 if many == 1 else 0.6, (many, 2)), -13.5, 13.5)
    return list(zip(ats, (float(turn) for turn in turns), strict=True))


def _trophies(seed: int, pieces: PieceSet, trophies: Mapping[str, Any]) -> str:
    """Return what was hunted, in a row before each player, at the board's left and right between the markers."""
    drawn = ""
    for side, (colour, found) in zip((-1, 1), sorted(trophies.items()), strict=False):
        tokens = [(thing["kind"], int(thing["value"])) for thing in found for _ in range(int(thing.get("count", 1)))]
        rng = chance("trophies", seed, colour)
        for number, (kind, value) in enumerate(tokens[:18]):
            x = side * (4 * SQUARE_MM + RIM_MM + 18 + 21 * (number // 9))
            y = (number % 9 - 4) * 20.5 + float(rng.normal(0, 1))
            drawn += placed(pieces.token(kind, value), x, y, 0.0, float(rng.uniform(0, 360)))
    return drawn
