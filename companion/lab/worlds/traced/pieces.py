"""Pieces of traced tables, as solids about their own middle, standing on z = 0: inuit, igloos, bears, tokens, dice.

Each seed has a set of its own: how a kind is shaped, its colours, its gloss. Millimetres.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from companion.lab.worlds.traced.povray import BOLD, SERIF, Colour, paint, placed, text
from companion.lab.worlds.traced.solids import (
    ball,
    chance,
    coloured,
    cone,
    hsv,
    polygon,
    prism,
    ring,
    rod,
    slab,
    times,
)

HUES = {"red": (2, 0.85, 0.75), "blue": (218, 0.8, 0.65), "yellow": (50, 0.88, 0.92), "green": (135, 0.75, 0.48)}
INK = (0.08, 0.08, 0.1)
TOKEN_MM = 1.9
"""How thick a token is."""


@dataclass(frozen=True)
class PieceSet:
    """The pieces of one box, by seed."""

    seed: int

    def team(self, name: str) -> Colour:
        """Return a team's colour."""
        hue, saturation, value = HUES[name]
        shift = chance("team", self.seed, name).normal(0, 1, 3)
        return hsv(hue + 4 * shift[0], saturation + 0.05 * shift[1], value + 0.05 * shift[2])

    def _gloss(self) -> str:
        rng = chance("gloss", self.seed)
        return f"specular {rng.uniform(0.05, 0.5):.3f} roughness {rng.uniform(0.01, 0.08):.4f}"

    def inuit(self, name: str) -> str:
        """Return a person, some 22 mm high: a turned pawn, one in a hood with a face, or one cut from a board."""
        colour, style = self.team(name), int(chance("inuit", self.seed).integers(0, 3))
        body = paint(colour, self._gloss())
        if style == 0:
            shapes = rod((0, 0, 0), (0, 0, 1.6), 5.6) + cone((0, 0, 1.6), 5.2, (0, 0, 14), 2.4)
            shapes += ring((0, 0, 14), 2.2, 1.1) + ball((0, 0, 18), 4.1)
            return coloured(shapes, body)
        if style == 1:
            shapes = cone((0, 0, 0), 5.8, (0, 0, 11), 4.2) + ball((0, 0, 14.5), 5.2, (1, 1, 1.1))
            shapes += rod((-5.4, 0, 9), (-4.2, -3.6, 5), 1.9) + rod((5.4, 0, 9), (4.2, -3.6, 5), 1.9)
            face = ball((0, -2.6, 15), 3.6)
            fur = "torus { 3.6, 0.9 translate <0, -4.0, 15> }"
            return (
                coloured(shapes, body)
                + coloured(face, paint((0.83, 0.62, 0.47)))
                + coloured(fur, paint((0.93, 0.9, 0.85)))
            )
        figure = [(-6, 0), (-1.4, 0), (0, 5), (1.4, 0), (6, 0), (4.6, 9), (7.5, 12), (6.5, 14.5), (2.6, 14.2)]
        figure += [(3.4, 18), (1.8, 21), (-1.8, 21), (-3.4, 18), (-2.6, 14.2), (-6.5, 14.5), (-7.5, 12), (-4.6, 9)]
        standing = prism(figure, -4.2, 4.2)
        return coloured(f"object {{ {standing} rotate x * 90 }}", body)

    def igloo(self, name: str) -> str:
        """Return an igloo, some 24 mm wide: a smooth dome, one of rings of bricks, or one with steps."""
        colour, style = self.team(name), int(chance("igloo", self.seed).integers(0, 3))
        pale = chance("pale", self.seed).uniform(1.0, 1.35)
        body = paint(times(colour, float(pale)), self._gloss())
        dark = paint(times(colour, 0.35))
        cut = "plane { -z, 0 }"
        door = coloured(ball((0, -15.2, 0), 3.4, (0.9, 0.25, 1.1)), dark)
        tunnel = "object { " + rod((0, -15.4, 0), (0, -4, 0), 5.0) + " }"
        if style == 0:
            shapes = ball((0, 0, 0), 11.5, (1, 1, 1.05)) + tunnel
            return coloured(f"intersection {{ union {{ {shapes} }} {cut} }}", body) + door
        if style == 1:
            shapes = ball((0, 0, 0), 11.0) + tunnel
            rings = "".join(
                ring((0, 0, h), float(np.sqrt(max(11.0**2 - h**2, 1))), 0.45) for h in (0.4, 3.4, 6.2, 8.6, 10.2)
            )
            dome = coloured(f"intersection {{ union {{ {shapes} }} {cut} }}", body)
            return dome + coloured(f"intersection {{ union {{ {rings} }} {cut} }}", paint(times(colour, 0.6))) + door
        steps = "".join(rod((0, 0, 2.6 * n), (0, 0, 2.6 * n + 2.6), r) for n, r in enumerate((11.5, 10.6, 9.0, 6.2)))
        return coloured(steps + slab((-4, -15, 0), (4, -5, 6)), body) + door

    def bear(self, name: str) -> str:
        """Return a bear, some 24 mm long: all of the team's colour, or white with a scarf of it."""
        rng = chance("bear", self.seed)
        colour, scarfed = self.team(name), bool(rng.integers(0, 2))
        white = hsv(45, float(rng.uniform(0.03, 0.12)), 0.95)
        coat, cloth = paint(white if scarfed else colour, self._gloss()), paint(colour, self._gloss())
        dark = paint(INK)
        if rng.integers(0, 2):
            # It sits upright, and looks along y.
            shapes = ball((0, 0, 8), 7.5, (1, 0.9, 1.1)) + ball((0, 2.2, 19), 5.4) + ball((0, 6.6, 18), 2.7)
            shapes += "".join(
                ball((x, 0.6, 23.4), 1.9) + ball((0.95 * x, 5, 2.6), 2.9, (0.9, 1.4, 0.9)) for x in (-4.4, 4.4)
            )
            scarf = ring((0, 1.2, 14.6), 4.4, 2.3) + slab((2.0, 5.4, 8), (5.6, 8.2, 14.5))
            tip = ball((0, 9.1, 18.6), 0.9)
        else:
            # It walks along y.
            shapes = ball((0, -2, 9), 6.6, (1, 1.55, 0.85)) + ball((0, 9.5, 12), 4.9) + ball((0, 13.4, 11), 2.6)
            shapes += "".join(rod((x, y, 0), (x, y, 8), 2.5) for x in (-3.9, 3.9) for y in (-8.5, 4.5)) + "".join(
                ball((x, 8.2, 16), 1.7) for x in (-3.4, 3.4)
            )
            turned = "rotate x * 62 translate <0, 6.2, 11>"
            scarf = f"object {{ {ring((0, 0, 0), 4.3, 2.0)} {turned} }}"
            scarf += slab((3.0, -3, 8), (7.2, 7.5, 11.5))
            tip = ball((0, 15.9, 11.4), 0.9)
        clothes = coloured(scarf, cloth) if scarfed else ""
        return coloured(shapes, coat) + clothes + coloured(tip, dark)

    def token(self, kind: str, value: int, wide: float = 15.5) -> str:
        """Return a token of cardboard, ``wide`` mm, with its animal and its value on top."""
        rng = chance("token", self.seed)
        form, alike, font = int(rng.integers(0, 3)), bool(rng.integers(0, 2)), (BOLD, SERIF)[int(rng.integers(0, 2))]
        hue = float(rng.uniform(0, 360)) if alike else {"fish": 190.0, "fox": 28.0, "bear": 250.0}[kind]
        face = hsv(hue, float(rng.uniform(0.08, 0.4)), float(rng.uniform(0.8, 0.97)))
        edge = hsv(hue, 0.7, float(rng.uniform(0.3, 0.6)))
        radius = wide / 2
        outlines = (None, polygon(6, radius * 1.04, 30), polygon(4, radius * 1.2, 45))
        if outlines[form] is None:
            card, inner = (
                rod((0, 0, 0), (0, 0, TOKEN_MM), radius),
                rod((0, 0, 0), (0, 0, TOKEN_MM + 0.05), radius * 0.9),
            )
        else:
            card = prism(outlines[form], 0, TOKEN_MM)
            inner = prism(0.88 * np.asarray(outlines[form]), 0, TOKEN_MM + 0.05)
        figure = placed(f"union {{ {self._animal(kind)} scale {wide / 20:.4f} }}", -0.17 * wide, 0, TOKEN_MM + 0.05)
        digit = placed(text(str(value), 0.5 * wide, paint(INK), font=font), 0.25 * wide, 0, TOKEN_MM + 0.05)
        return coloured(card, paint(edge)) + coloured(inner, paint(face)) + figure + digit

    def _animal(self, kind: str) -> str:
        """Return an animal as it is printed, some 9 mm wide, flat."""
        rng = chance("animal", self.seed, kind)
        flat = 0.12
        if kind == "fish":
            colour = hsv(float(rng.uniform(170, 260)), 0.7, float(rng.uniform(0.35, 0.7)))
            shapes = rod((0, 0, 0), (0, 0, flat), 2.6).replace("}", "scale <1.5, 1, 1> }")
            shapes += prism([(-3.2, 0), (-6, 2.6), (-6, -2.6)], 0, flat)
            return coloured(shapes, paint(colour)) + coloured(rod((2, 0.8, 0), (2, 0.8, 0.16), 0.5), paint((1, 1, 1)))
        if kind == "fox":
            colour = hsv(float(rng.uniform(12, 35)), 0.85, float(rng.uniform(0.6, 0.9)))
            shapes = prism([(-4.5, 4.5), (-2, 2.2), (2, 2.2), (4.5, 4.5), (4, 0), (0, -5), (-4, 0)], 0, flat)
            eyes = rod((-1.6, 0.2, 0), (-1.6, 0.2, 0.16), 0.6) + rod((1.6, 0.2, 0), (1.6, 0.2, 0.16), 0.6)
            return coloured(shapes, paint(colour)) + coloured(eyes + rod((0, -4, 0), (0, -4, 0.16), 0.7), paint(INK))
        colour = hsv(float(rng.uniform(0, 360)), 0.15, float(rng.uniform(0.4, 0.65)))
        shapes = rod((0, 0, 0), (0, 0, flat), 4.2) + "".join(rod((x, 3.8, 0), (x, 3.8, flat), 1.6) for x in (-3, 3))
        eyes = "".join(rod((x, 0.9, 0), (x, 0.9, 0.16), 0.6) for x in (-1.6, 1.6))
        return coloured(shapes, paint(colour)) + coloured(eyes + rod((0, -1.4, 0), (0, -1.4, 0.16), 1.0), paint(INK))

    def die(self, pips: int) -> str:
        """Return a die of 14 mm with some pips on top."""
        rng = chance("die", self.seed)
        colour = hsv(float(rng.uniform(0, 360)), float(rng.uniform(0.0, 0.7)), float(rng.uniform(0.5, 0.95)))
        body = "intersection { " + slab((-7, -7, 0), (7, 7, 14)) + ball((0, 0, 7), 10.2) + " }"
        at = polygon(pips, 4.0)
        dots = "".join(rod((x, y, 13.5), (x, y, 14.05), 1.3) for x, y in at)
        return coloured(body, paint(colour, self._gloss())) + coloured(dots, paint(INK))
