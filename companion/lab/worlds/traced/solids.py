"""Shapes and colours for traced scenes, as text: balls, rods, cones, slabs, prisms; paints and patterns by hue.

A shape is untextured until :func:`coloured` gathers some of them. Millimetres, z up; angles in degrees.
"""

from __future__ import annotations

import colorsys
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from companion.lab.worlds.traced.povray import Colour, vector

Point = Sequence[float]


def chance(*what: object) -> np.random.Generator:
    """Return a generator that is the same for the same words and numbers, in every process."""
    return np.random.default_rng([37, zlib.crc32(repr(what).encode())])


def hsv(hue: float, saturation: float, value: float) -> Colour:
    """Return red, green, blue of a hue (degrees), a saturation and a value (0…1, cut to that)."""
    red, green, blue = colorsys.hsv_to_rgb((hue / 360) % 1, *(min(max(v, 0.0), 1.0) for v in (saturation, value)))
    return red, green, blue


def times(colour: Colour, factor: float) -> Colour:
    """Return a colour made darker or lighter."""
    red, green, blue = (min(max(part * factor, 0.0), 1.0) for part in colour)
    return red, green, blue


def ball(at: Point, radius: float, stretch: Point = (1, 1, 1)) -> str:
    """Return a ball, or an ellipsoid ``stretch`` times as long in x, y, z."""
    return f"sphere {{ 0, {radius:.4f} scale {vector(*stretch)} translate {vector(*at)} }}\n"


def rod(start: Point, end: Point, radius: float) -> str:
    """Return a cylinder between two points."""
    return f"cylinder {{ {vector(*start)}, {vector(*end)}, {radius:.4f} }}\n"


def cone(start: Point, wide: float, end: Point, narrow: float) -> str:
    """Return a cone between two points, cut off where ``narrow`` is not 0."""
    return f"cone {{ {vector(*start)}, {wide:.4f}, {vector(*end)}, {narrow:.4f} }}\n"


def slab(low: Point, high: Point) -> str:
    """Return a box between two opposite corners."""
    return f"box {{ {vector(*low)}, {vector(*high)} }}\n"


def ring(at: Point, radius: float, thick: float) -> str:
    """Return a ring that lies flat."""
    return f"torus {{ {radius:.4f}, {thick:.4f} rotate x * 90 translate {vector(*at)} }}\n"


def prism(outline: Any, low: float, high: float) -> str:
    """Return an outline (n, 2) as high as from ``low`` to ``high``."""
    points = np.asarray(outline, float)
    closed = ", ".join(vector(*point) for point in [*points, points[0]])
    # POV-Ray sweeps along y: y and z change places.
    swap = "matrix <1,0,0, 0,0,1, 0,1,0, 0,0,0>"
    return f"prism {{ linear_sweep linear_spline {low:.4f}, {high:.4f}, {len(points) + 1}, {closed} {swap} }}\n"


def polygon(corners: int, radius: float, start: float = 0.0) -> Any:
    """Return (corners, 2): a regular polygon about the origin, its first corner at ``start`` degrees."""
    angle = np.linspace(0, 2 * np.pi, corners, endpoint=False) + np.radians(start)
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def coloured(shapes: str, texture: str) -> str:
    """Return shapes as one object with a texture (the inside of POV-Ray's ``texture``)."""
    return f"union {{ {shapes} texture {{ {texture} }} }}\n"


def pattern(kind: str, shades: Sequence[Colour], size: float, finish: str = "", warp: float = 0.4) -> str:
    """Return a texture of one of POV-Ray's patterns through shades, its features about ``size`` mm large."""
    last = max(1, len(shades) - 1)
    steps = " ".join(f"[{n / last:.3f} srgb {vector(*shade)}]" for n, shade in enumerate(shades))
    return (
        f"pigment {{ {kind} turbulence {warp:.3f} color_map {{ {steps} }} scale {size:.3f} }}"
        f" finish {{ diffuse 0.8 {finish} }}"
    )
