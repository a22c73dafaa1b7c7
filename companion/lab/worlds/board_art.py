"""Art for rendered boards: grounds, tokens and pieces, drawn anew from a seed in two families.

Families 0 and 1 are the ones to look at while working: other textures, other piece shapes, other tokens. Family 2, with
digits of its own that no font has, is for measuring only. Colours are sRGB, BGR order, 0…255, as drawn; sizes are in
pixels of the board's texture, ``cell`` of them a place, heights in parts of a place.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.float32]
Colour = tuple[float, float, float]

TEAMS: dict[str, tuple[float, float, float]] = {
    "red": (2, 0.85, 0.75), "blue": (112, 0.8, 0.7), "yellow": (26, 0.85, 0.9), "green": (65, 0.75, 0.55),
    "violet": (145, 0.6, 0.6), "black": (0, 0.05, 0.12),
}  # fmt: skip
ICY: dict[str, tuple[float, float, float]] = {
    "water": (104, 0.65, 0.5), "floe": (98, 0.12, 0.92), "pack": (100, 0.28, 0.78), "land": (24, 0.35, 0.62),
}  # fmt: skip
STROKES: dict[str, list[list[tuple[float, float]]]] = {
    "1": [[(-0.3, -0.7), (0.1, -1.0), (0.1, 1.0)]],
    "2": [[(-0.6, -0.6), (-0.2, -1.0), (0.4, -0.9), (0.5, -0.3), (-0.6, 1.0), (0.65, 1.0)]],
    "3": [[(-0.6, -1.0), (0.6, -1.0), (-0.1, -0.2), (0.55, 0.3), (0.4, 0.9), (-0.6, 1.0)]],
    "4": [[(0.3, 1.0), (0.3, -1.0), (-0.6, 0.4), (0.7, 0.4)]],
}
"""Digits as somebody cuts them into a stamp: strokes, one unit high above and below their middle."""
TALL = {"inuit": 0.55, "igloo": 0.38, "bear": 0.3}


def bgr(hue: float, saturation: float, value: float) -> Colour:
    """Return a colour of OpenCV's hue (0…180) and saturation and value (0…1)."""
    pixel = np.array([[[hue % 180, np.clip(saturation, 0, 1) * 255, np.clip(value, 0, 1) * 255]]], np.uint8)
    blue, green, red = cv2.cvtColor(pixel, cv2.COLOR_HSV2BGR)[0, 0].tolist()
    return float(blue), float(green), float(red)


def number_of(text: str) -> int:
    """Return a number that is the same for a word in every process."""
    return zlib.crc32(text.encode())


@dataclass(frozen=True)
class Slice:
    """A piece's cross-section: a polygon (n, 2) around its middle, in places, from ``low`` to ``high``."""

    low: float
    high: float
    outline: NDArray[np.float64]
    colour: Colour
    top: tuple[tuple[NDArray[np.float64], Colour], ...] = ()
    """What is printed on its top."""


@dataclass(frozen=True)
class Art:
    """Everything drawn on one table; ``cell`` is pixels of texture a place."""

    seed: int
    family: int = 0
    cell: int = 96
    gap: float = 0.03
    _cache: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    def rng(self, *what: object) -> np.random.Generator:
        """Return a generator for one part of the art."""
        return np.random.default_rng([self.seed, self.family, number_of(repr(what))])

    @cached_property
    def sheen(self) -> float:
        """How strongly tiles of a class differ from each other."""
        return float(self.rng("sheen").uniform(0.01, 0.05))

    def base(self, name: str) -> Colour:
        """Return the ground colour of a class."""
        rng = self.rng("base", name)
        if name in ICY:
            hue, saturation, value = ICY[name]
            shift = rng.normal(0, [5, 0.06, 0.04])
        else:
            hue, saturation, value = rng.uniform(0, 180), rng.uniform(0.1, 0.8), rng.uniform(0.3, 0.9)
            shift = np.zeros(3)
        return bgr(hue + shift[0], saturation + shift[1], value + shift[2])

    def ground(self, name: str, variant: int) -> Image:
        """Return (cell, cell, 3): one tile of a class; its variants differ a little."""
        key = ("ground", name, variant)
        if key not in self._cache:
            self._cache[key] = self._ground(name, variant)
        drawn: Image = self._cache[key]
        return drawn

    def _ground(self, name: str, variant: int) -> Image:
        own, tile = self.rng("ground", name), self.rng("tile", name, variant)
        size = self.cell
        base = np.array(self.base(name))
        image = np.empty((size, size, 3), np.float32)
        image[:] = base
        ink = np.clip(base * own.uniform(0.55, 0.9) + own.normal(0, 12, 3), 0, 255)
        light = np.clip(base * own.uniform(1.05, 1.3) + own.normal(0, 10, 3), 0, 255)
        if self.family == 0:
            self._blotches(image, own, tile, ink)
            self._strokes(image, own, tile, light)
        elif self.family == 1:
            self._facets(image, own, tile, ink, light)
            self._waves(image, own, ink)
        else:
            self._dots(image, own, tile, ink, light)
        grain = tile.normal(0, 1, (size // 4, size // 4)).astype(np.float32)
        image += cv2.resize(grain, (size, size), interpolation=cv2.INTER_CUBIC)[..., None] * own.uniform(2, 7)
        image *= 1 + tile.normal(0, self.sheen)
        if own.random() < 0.5:
            inset = int(size * own.uniform(0.05, 0.12))
            colour = tuple(float(v) for v in ink)
            cv2.rectangle(image, (inset, inset), (size - 1 - inset, size - 1 - inset), colour, max(1, size // 60))
        return np.clip(image, 0, 255)

    def _blotches(self, image: Image, own: np.random.Generator, tile: np.random.Generator, ink: Any) -> None:
        size = self.cell
        for source, many in ((own, 5), (tile, 3)):
            for _ in range(many):
                centre = tuple(int(v) for v in source.uniform(0, size, 2))
                axes = tuple(int(v) for v in source.uniform(0.05, 0.22, 2) * size)
                mask = np.zeros((size, size), np.float32)
                cv2.ellipse(mask, centre, axes, float(source.uniform(0, 180)), 0, 360, 1.0, -1, cv2.LINE_AA)
                image += (cv2.GaussianBlur(mask, (0, 0), size / 60)[..., None] * 0.35) * (ink - image)

    def _strokes(self, image: Image, own: np.random.Generator, tile: np.random.Generator, light: Any) -> None:
        size = self.cell
        colour = tuple(float(v) for v in light)
        for source, many in ((own, 6), (tile, 2)):
            for _ in range(many):
                points = np.cumsum(source.normal(0, 0.12, (5, 2)), axis=0) + source.uniform(0.1, 0.9, 2)
                cv2.polylines(image, [np.round(points * size).astype(np.int32)], False, colour, max(1, size // 50))

    def _facets(self, image: Image, own: np.random.Generator, tile: np.random.Generator, ink: Any, light: Any) -> None:
        size = self.cell
        for source, many in ((own, 7), (tile, 2)):
            for number in range(many):
                corners = source.uniform(0, size, 2) + source.normal(0, 0.16 * size, (int(source.integers(3, 6)), 2))
                hull = cv2.convexHull(np.round(corners).astype(np.int32))
                colour = ink if number % 2 else light
                mask = np.zeros((size, size), np.float32)
                cv2.fillConvexPoly(mask, hull, 1.0, cv2.LINE_AA)
                image += mask[..., None] * 0.45 * (colour - image)

    def _dots(self, image: Image, own: np.random.Generator, tile: np.random.Generator, ink: Any, light: Any) -> None:
        size = self.cell
        across = np.linspace(-0.5, 0.5, size, dtype=np.float32)
        angle = float(own.uniform(0, 2 * np.pi))
        slope = across[None, :] * np.float32(np.cos(angle)) + across[:, None] * np.float32(np.sin(angle))
        image += slope[..., None] * np.float32(own.uniform(0.1, 0.4)) * (ink - image)
        for source, many in ((own, 16), (tile, 6)):
            for number in range(many):
                at = tuple(int(v) for v in source.uniform(0.06, 0.94, 2) * size)
                colour = tuple(float(v) for v in (light if number % 3 else ink))
                cv2.circle(image, at, max(1, int(size * source.uniform(0.01, 0.035))), colour, -1, cv2.LINE_AA)

    def _waves(self, image: Image, own: np.random.Generator, ink: Any) -> None:
        size = self.cell
        y, x = np.mgrid[0:size, 0:size] / size
        angle, many, bend = own.uniform(0, np.pi), own.uniform(2, 6), own.uniform(0, 2)
        along = x * np.cos(angle) + y * np.sin(angle)
        across = y * np.cos(angle) - x * np.sin(angle)
        wave = np.sin(2 * np.pi * (many * along + 0.2 * bend * np.sin(2 * np.pi * across)))
        image += (np.maximum(wave - 0.5, 0)[..., None] * 0.5).astype(np.float32) * (ink - image)

    # --- things ---

    def team(self, name: str, kind: str) -> Colour:
        """Return the colour of a team's pieces."""
        hue, saturation, value = TEAMS.get(name, (number_of(name) % 180, 0.7, 0.7))
        shift = self.rng("team", name).normal(0, [3, 0.05, 0.05])
        if kind == "igloo":
            saturation, value = saturation * 0.75, min(1.0, value * 1.15 + 0.1)
        return bgr(hue + shift[0], saturation + shift[1], value + shift[2])

    def slices(self, kind: str, what: str, turn: float) -> list[Slice]:
        """Return a piece as slices from the bottom up; ``turn`` is its angle in radians."""
        rng = self.rng("piece", kind)
        tall = TALL.get(kind, 0.0)
        if not tall:
            return self._token(kind, what, turn, rng)
        size = float(rng.uniform(0.15, 0.18) if kind == "inuit" else rng.uniform(0.27, 0.32))
        tall *= float(rng.uniform(0.8, 1.15))
        colour = self.team(what, kind) if what in TEAMS else bgr(20, 0.1, 0.97)
        shade = rng.uniform(0.6, 0.85)
        slices = []
        steps = 7
        for step in range(steps):
            low, high = step / steps, (step + 1) / steps
            middle = (low + high) / 2
            outline, tint = self._section(kind, middle, size, turn, rng)
            light = shade + (1 - shade) * middle
            drawn = tuple(float(min(v * light * tint, 255)) for v in colour)
            slices.append(Slice(low * tall, high * tall, outline, drawn))  # type: ignore[arg-type]
        return slices

    def _section(
        self, kind: str, height: float, size: float, turn: float, rng: np.random.Generator
    ) -> tuple[NDArray[np.float64], float]:
        round_ = circle(1.0)
        if self.family == 2:
            return self._turned_wood(kind, height, size, turn)
        if kind == "igloo":
            grow = np.sqrt(max(1 - height**2, 0.05))
            if self.family:
                door = np.array([[-0.35, 0.0], [0.35, 0.0], [0.35, 1.35], [-0.35, 1.35]]) * (
                    1.0 if height < 0.45 else 0
                )
                body = circle(1.0, 8) * grow
                joined = (
                    cv2.convexHull(np.concatenate([body, door]).astype(np.float32))[:, 0] if height < 0.45 else body
                )
                return rotated(joined * size, turn), 1.0 if int(height * 8) % 2 else 0.88
            return round_ * (size * grow), 1.0
        if kind == "inuit":
            if self.family:
                wide = 1.25 if 0.3 < height < 0.6 else (0.85 if height < 0.75 else 0.55)
                flat = np.array([[-1, -0.5], [1, -0.5], [1, 0.5], [-1, 0.5]]) * [wide, 1.0]
                return rotated(flat * size, turn), 1.0
            grow = 1.0 - 0.45 * height if height < 0.65 else 0.62
            return round_ * (size * grow), 1.0 if height < 0.65 else 1.15
        grow = 1.0 - 0.35 * height
        return rotated(round_ * [size * 1.15 * grow, size * 0.8 * grow], turn), 1.0

    def _turned_wood(self, kind: str, height: float, size: float, turn: float) -> tuple[NDArray[np.float64], float]:
        """Return a section of a piece of family 2: a cone with a head, a stepped dome with a porch, a loaf."""
        if kind == "igloo":
            body = circle(1.05 - 0.3 * int(height * 3), 12)
            porch = np.array([[0.0, -0.3], [1.4, -0.3], [1.4, 0.3], [0.0, 0.3]])
            hull = cv2.convexHull(np.concatenate([body, porch]).astype(np.float32))[:, 0] if height < 0.3 else body
            return rotated(hull * size, turn), 1.0 - 0.08 * (int(height * 6) % 2)
        if kind == "inuit":
            wide = 1.2 - 1.1 * height if height < 0.6 else 0.75 * np.sqrt(max(1 - ((height - 0.8) / 0.25) ** 2, 0.1))
            return circle(1.0, 16) * size * wide, 0.9 if height < 0.6 else 1.12
        loaf = circle(1.0) * [1.3, 0.75]
        return rotated(np.sign(loaf) * np.abs(loaf) ** 0.7 * size * (1 - 0.2 * height), turn), 1.0

    def _token(self, kind: str, what: str, turn: float, rng: np.random.Generator) -> list[Slice]:
        size = float(rng.uniform(0.2, 0.25))
        shape = circle(1.0) if (self.family + rng.integers(0, 2)) % 2 else circle(1.15, 4, np.pi / 4)
        if self.family == 2:
            shape = circle(1.08, int(rng.integers(5, 9)))
        base = bgr(float(rng.uniform(0, 180)), float(rng.uniform(0.15, 0.6)), float(rng.uniform(0.55, 0.95)))
        ink = tuple(v * 0.3 for v in base)
        sign = rotated(np.abs(rng.normal(0, 0.35, 9))[:, None] * circle(0.7, 9) + circle(0.25, 9), turn)
        picture = tuple(min(v * 0.75 + 20, 255) for v in base)
        top = [(sign * size * 0.8, picture)]
        top += [(rotated(stroke, turn) * size * 0.75, ink) for stroke in digit(what, self.family)]
        return [Slice(0.0, 0.05, rotated(shape * size, turn), base, tuple(top))]  # type: ignore[arg-type]


def circle(radius: float, many: int = 28, start: float = 0.0) -> NDArray[np.float64]:
    """Return (many, 2): a regular polygon."""
    angle = np.linspace(0, 2 * np.pi, many, endpoint=False) + start
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def rotated(points: Any, turn: float) -> NDArray[np.float64]:
    """Return points (n, 2) turned by an angle in radians."""
    cos, sin = np.cos(turn), np.sin(turn)
    return np.asarray(np.asarray(points, float) @ np.array([[cos, sin], [-sin, cos]]))


def digit(text: str, family: int) -> list[NDArray[np.float64]]:
    """Return the polygons of a sign's outlines, about one unit high; open strokes are drawn as thin polygons."""
    font = (cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_COMPLEX)[family % 2]
    canvas = np.zeros((120, 120), np.uint8)
    short = text[:2]
    if family == 2 and short in STROKES:
        strokes = [np.array(stroke) * 36 + 60 for stroke in STROKES[short]]
        for stroke in strokes:
            cv2.polylines(canvas, [np.round(stroke).astype(np.int32)], False, 255, 13, cv2.LINE_AA)
        drawn, _ = cv2.findContours(canvas, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        return [(contour[:, 0].astype(float) - 60) / 40 for contour in drawn]
    (wide, high), _ = cv2.getTextSize(short, font, 2.4, 7)
    cv2.putText(canvas, short, (60 - wide // 2, 60 + high // 2), font, 2.4, 255, 7, cv2.LINE_AA)
    outlines, _ = cv2.findContours(canvas, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    return [(contour[:, 0].astype(float) - 60) / 40 for contour in outlines if len(contour) > 5]
