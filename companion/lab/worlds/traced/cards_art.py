"""Faces of cards for traced tables: Igloo Pop's 33 and Arctic's 120, drawn with Pillow in DejaVu's letters.

It shares neither art nor code with :mod:`companion.lab.worlds.cards`. What a card shows is what the rulebooks say: its
numbers and Eskimos (POP-K.3); or main animal, companion, placement and draw value (ARC-K.4, ARC-K.5). How it shows it
is drawn from a seed in six manners. Lengths are millimetres; faces are RGBA pictures, ``PX`` pixels a millimetre.
"""

from __future__ import annotations

import colorsys
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

PX: Final = 6
_FINER: Final = 2
"""Everything is drawn so many times as large and then made smaller."""
_FONTS: Final = "/usr/share/fonts/truetype/dejavu/DejaVu{}.ttf"
ANIMALS: Final = ("fox", "moose", "walrus", "orca", "puffin", "bear")
Point = tuple[float, float]
Ink = tuple[int, int, int]


@dataclass(frozen=True)
class Manner:
    """How a publisher draws, letters and lays out cards.

    ``picture``: what has a picture of its own: a ``main`` animal, a ``pair`` of animals (twins differ in their digits
    alone), or every ``card``. ``coded``: every animal has a ground of its own colour. ``place``: where the companion
    is: in the left ``column``, in the ``corner`` below on the right, or in the ``scene``, small beside the main animal.
    """

    ground: str
    picture: str
    coded: bool
    border: str
    font: str
    badge: str
    place: str
    line: float


MANNERS: Final = (
    Manner("sky", "pair", False, "white", "Sans-Bold", "disc", "column", 0.35),
    Manner("night", "main", False, "black", "SerifCondensed-Bold", "plain", "corner", 0.0),
    Manner("painted", "card", True, "white", "Sans-BoldOblique", "ribbon", "column", 0.0),
    Manner("paper", "main", True, "black", "Serif-Bold", "square", "column", 0.5),
    Manner("floes", "pair", False, "white", "SansCondensed-Bold", "plain", "scene", 0.25),
    Manner("stripes", "card", False, "none", "SansMono-Bold", "disc", "column", 0.4),
)


class Canvas:
    """Paper of a card's size to draw on in millimetres."""

    def __init__(self, wide: float, high: float) -> None:
        """Begin with a white one."""
        self.scale = PX * _FINER
        self.wide, self.high = wide, high
        self.image = Image.new("RGB", (round(wide * self.scale), round(high * self.scale)), "white")
        self.draw = ImageDraw.Draw(self.image)

    def polygon(self, points: list[Point], ink: Ink, line: float = 0.0) -> None:
        """Fill an outline; ``line`` is the width of a dark line around it."""
        seen = [(x * self.scale, y * self.scale) for x, y in points]
        self.draw.polygon(seen, fill=ink)
        if line > 0:
            self.draw.line([*seen, seen[0]], fill=(28, 26, 34), width=max(1, round(line * self.scale)), joint="curve")

    def disc(self, at: Point, radius: float, ink: Ink, line: float = 0.0) -> None:
        """Fill a circle."""
        turns = np.linspace(0, 2 * np.pi, 48, endpoint=False)
        self.polygon([(at[0] + radius * float(np.cos(a)), at[1] + radius * float(np.sin(a))) for a in turns], ink, line)

    def box(self, x: float, y: float, wide: float, high: float, ink: Ink, rounded: float = 0.0) -> None:
        """Fill a rectangle."""
        corners = [round(v * self.scale) for v in (x, y, x + wide, y + high)]
        self.draw.rounded_rectangle(corners, rounded * self.scale, fill=ink)

    def text(self, words: str, at: Point, high: float, ink: Ink, font: str, rim: Ink | None = None) -> None:
        """Write around a point, figures ``high`` tall; ``rim``: with an edge of that colour."""
        face = ImageFont.truetype(_FONTS.format(font), round(high * 1.37 * self.scale))
        where = (at[0] * self.scale, at[1] * self.scale)
        box = face.getbbox(words, anchor="mm")
        where = (where[0] - (box[0] + box[2]) / 2, where[1] - (box[1] + box[3]) / 2)
        width = round(0.08 * high * self.scale) if rim is not None else 0
        self.draw.text(where, words, ink, face, anchor="mm", stroke_width=width, stroke_fill=rim)

    def paint(self, picture: NDArray[np.float64]) -> None:
        """Lay a picture (h, w, 3) of 0 to 1 over all of it, made as large as it."""
        small = Image.fromarray(np.clip(np.round(picture * 255), 0, 255).astype(np.uint8))
        self.image.paste(small.resize(self.image.size, Image.Resampling.BICUBIC))

    def finished(self, round_mm: float) -> Image.Image:
        """Return the face, its corners cut round."""
        size = (round(self.wide * PX), round(self.high * PX))
        face = self.image.resize(size, Image.Resampling.LANCZOS).convert("RGBA")
        cover = Image.new("L", (size[0] * 4, size[1] * 4), 0)
        edge = (0, 0, size[0] * 4 - 1, size[1] * 4 - 1)
        ImageDraw.Draw(cover).rounded_rectangle(edge, round_mm * PX * 4, fill=255)
        face.putalpha(cover.resize(size, Image.Resampling.BOX))
        return face


def ink_of(hue: float, strength: float, light: float) -> Ink:
    """Return a colour by hue (turns), saturation and value."""
    red, green, blue = colorsys.hsv_to_rgb(hue % 1.0, min(1.0, max(0.0, strength)), min(1.0, max(0.0, light)))
    return round(red * 255), round(green * 255), round(blue * 255)


@dataclass(frozen=True)
class Faces:
    """The faces of one box; ``manner`` is one of :data:`MANNERS`."""

    game: str
    seed: int
    manner: int

    def rng(self, *what: object) -> np.random.Generator:
        """Return a generator for one part of the art."""
        return np.random.default_rng([61, self.seed, self.manner, crc32(repr(what).encode())])

    @cached_property
    def size(self) -> tuple[float, float]:
        """Return a card's width and height in millimetres."""
        rng = self.rng("size")
        return round(float(rng.uniform(56, 65)), 1), round(float(rng.uniform(85, 92)), 1)

    @property
    def how(self) -> Manner:
        """Return the manner."""
        return MANNERS[self.manner]

    def face(self, name: str) -> Image.Image:
        """Return a card's face by its name in the rules: ``4/5`` or ``fox-5-moose``."""
        return _pop(self, name) if self.game == "igloo-pop" else _arctic(self, name)

    def back(self) -> Image.Image:
        """Return the back of all cards."""
        canvas = Canvas(*self.size)
        rng = self.rng("back")
        hue = float(rng.uniform())
        canvas.box(0, 0, *self.size, ink_of(hue, 0.6, 0.4))
        for x, y in rng.uniform([0, 0], self.size, (40, 2)):
            ink = ink_of(hue + 0.1, 0.4, float(rng.uniform(0.5, 1)))
            canvas.disc((float(x), float(y)), float(rng.uniform(1, 3)), ink)
        return canvas.finished(3.0)

    def land(self, index: int) -> Image.Image:
        """Return the landscape card of a number: its value on a strip of country."""
        canvas = Canvas(62, 62)
        rng = self.rng("land", index)
        _ground(self, canvas, rng, float(self.rng("landscape").uniform(0.45, 0.65)) + 0.02 * index)
        canvas.text(str((0, 1, 3, 6, 10, 15)[index]), (9, 9), 8, (30, 40, 70), self.how.font, (250, 250, 250))
        return canvas.finished(2.0)

    def token(self, animal: int) -> Image.Image:
        """Return the round print of a token, 20 mm across."""
        canvas = Canvas(20, 20)
        hue = float(self.rng("token").uniform()) + animal / 6
        canvas.box(0, 0, 20, 20, ink_of(hue, 0.7, 0.85 - 0.3 * (animal % 2)))
        draw_animal(canvas, ANIMALS[animal], (10, 10.5), 6.0, self.rng("token", animal), 0.3)
        return canvas.finished(10.0)


# --- what is drawn ---------------------------------------------------------------------------------------------------


def _noise(rng: np.random.Generator, grain: int) -> NDArray[np.float64]:
    """Return smooth noise (132, 88) from -1 to 1."""
    small = Image.fromarray(rng.uniform(-1, 1, (grain * 3 // 2, grain)).astype(np.float32))
    return np.asarray(small.resize((88, 132), Image.Resampling.BICUBIC), float)


def _ground(faces: Faces, canvas: Canvas, rng: np.random.Generator, hue: float) -> None:
    """Cover a face with country in the manner of the box."""
    wide, high = canvas.wide, canvas.high
    kind = faces.how.ground
    down = np.linspace(0, 1, 132)[:, None, None] * np.ones((1, 88, 1))
    if kind == "sky":
        top, low = np.array(ink_of(hue, 0.45, 0.8)) / 255, np.array(ink_of(hue + 0.06, 0.12, 0.98)) / 255
        canvas.paint(top * (1 - down) + low * down)
        for level in (0.55, 0.68):
            line = [(0.0, high), (0.0, high * level)]
            line += [(wide * k / 6, high * (level + float(rng.uniform(-0.07, 0.05)))) for k in range(1, 6)]
            ink = ink_of(hue, 0.18 - 0.1 * level, 0.9 + 0.1 * level)
            canvas.polygon([*line, (wide, high * level), (wide, high)], ink)
    elif kind == "night":
        low = np.array(ink_of(hue, 0.7, 0.22)) / 255
        glow = np.exp(-(((down[..., 0] - 0.25 + 0.12 * _noise(rng, 4)) / 0.12) ** 2))[..., None]
        canvas.paint(low + glow * np.array(ink_of(hue - 0.2, 0.6, 0.5)) / 255)
        for x, y in rng.uniform([0, 0], [wide, 0.6 * high], (40, 2)):
            canvas.disc((float(x), float(y)), float(rng.uniform(0.15, 0.4)), (235, 238, 250))
        canvas.polygon([(0, high), (0, 0.72 * high), (wide, 0.66 * high), (wide, high)], ink_of(hue, 0.35, 0.55))
    elif kind == "painted":
        base = np.array(ink_of(hue, 0.45, 0.75)) / 255
        picture = base + sum(_noise(rng, g)[..., None] * 0.22 / g**0.4 * rng.uniform(0.3, 1, 3) for g in (4, 9, 22))
        canvas.paint(picture)
    elif kind == "paper":
        canvas.box(0, 0, wide, high, ink_of(hue, 0.16, 0.95))
        for k in range(9):
            y = high * (0.1 + 0.1 * k)
            canvas.polygon(
                [(x, y + 1.3 * float(np.sin(x * 0.5 + k))) for x in np.linspace(0, wide, 30).tolist()]
                + [(x, y + 0.5 + 1.3 * float(np.sin(x * 0.5 + k))) for x in np.linspace(wide, 0, 30).tolist()],
                ink_of(hue, 0.3, 0.8),
            )
    elif kind == "floes":
        canvas.box(0, 0, wide, high, ink_of(hue, 0.55, 0.6))
        for _ in range(16):
            at, far = rng.uniform([0, 0], [wide, high]), float(rng.uniform(5, 11))
            turns = np.sort(rng.uniform(0, 2 * np.pi, 7))
            out = [(float(at[0] + far * np.cos(a)), float(at[1] + 0.6 * far * np.sin(a))) for a in turns]
            canvas.polygon(out, ink_of(hue, 0.06, float(rng.uniform(0.88, 1))), 0.15)
    else:
        for k in range(14):
            ink = ink_of(hue + 0.03 * float(rng.normal()), 0.2 + 0.25 * (k % 2), 0.92 - 0.14 * (k % 2))
            canvas.polygon([(k * 9 - 40, 0), (k * 9 - 31, 0), (k * 9 + 9, high), (k * 9, high)], ink)
        canvas.disc((wide * 0.55, high * 0.52), wide * 0.4, ink_of(hue + 0.5, 0.12, 0.97))


def _round(x: float, y: float, across: float, tall: float, turn: float = 0.0) -> list[Point]:
    angles = np.linspace(0, 2 * np.pi, 30, endpoint=False)
    c, s = float(np.cos(turn)), float(np.sin(turn))
    flat = [(across * float(np.cos(a)), tall * float(np.sin(a))) for a in angles]
    return [(x + c * u - s * v, y + s * u + c * v) for u, v in flat]


def _shapes(animal: str) -> list[tuple[str, list[Point]]]:
    """Return an animal that looks to the right: parts by the name of their colour, from -1 to 1, y downward."""
    legs: list[tuple[str, list[Point]]]
    if animal == "fox":
        return [
            ("body", [(-0.5, 0.3), (-0.95, 0.1), (-1.0, -0.35), (-0.8, -0.6), (-0.7, -0.15), (-0.35, 0.1)]),
            ("pale", [(-1.0, -0.35), (-0.8, -0.6), (-0.76, -0.32)]),
            ("body", _round(-0.1, 0.25, 0.5, 0.3, -0.1)),
            ("dark", [(0.2, 0.35), (0.32, 0.35), (0.34, 0.85), (0.2, 0.85)]),
            ("dark", [(-0.45, 0.35), (-0.3, 0.35), (-0.34, 0.85), (-0.48, 0.85)]),
            ("body", [(0.15, 0.2), (0.25, -0.55), (0.42, -0.2), (0.55, -0.5), (0.62, -0.1), (1.0, 0.12), (0.5, 0.35)]),
            ("pale", [(0.5, 0.12), (1.0, 0.12), (0.5, 0.35), (0.3, 0.3)]),
            ("dark", _round(0.97, 0.11, 0.06, 0.05)),
            ("dark", _round(0.58, -0.02, 0.045, 0.05)),
        ]
    if animal == "moose":
        legs = [("dark", [(x, 0.1), (x + 0.13, 0.1), (x + 0.1, 0.95), (x, 0.95)]) for x in (-0.7, -0.5, 0.1, 0.28)]
        return [
            *legs,
            ("body", _round(-0.2, 0.0, 0.6, 0.34)),
            ("body", [(0.1, -0.25), (0.4, -0.7), (0.65, -0.62), (0.5, 0.1), (0.2, 0.25)]),
            ("body", [(0.4, -0.72), (0.62, -0.66), (1.0, -0.2), (0.95, 0.0), (0.78, -0.02), (0.45, -0.4)]),
            ("pale", [(0.5, -0.7), (0.75, -0.85), (1.0, -0.8), (0.92, -1.0), (0.5, -0.98), (0.4, -0.78)]),
            ("pale", [(0.4, -0.72), (0.1, -0.8), (-0.2, -0.72), (-0.15, -1.0), (0.25, -1.0), (0.42, -0.85)]),
            ("dark", _round(0.66, -0.45, 0.04, 0.05)),
            ("dark", [(0.52, 0.0), (0.62, 0.05), (0.56, 0.35)]),
        ]
    if animal == "walrus":
        return [
            ("body", [(-1.0, 0.75), (-0.9, 0.45), (-0.3, -0.05), (0.05, -0.6), (0.6, -0.6), (0.8, 0.1), (0.6, 0.8)]),
            ("dark", [(-1.0, 0.75), (-1.0, 0.95), (-0.55, 0.85), (-0.6, 0.7)]),
            ("dark", [(0.1, 0.55), (0.4, 0.55), (0.5, 0.95), (0.0, 0.95)]),
            ("body", _round(0.45, -0.45, 0.4, 0.36)),
            ("pale", _round(0.66, -0.3, 0.26, 0.18)),
            ("white", [(0.55, -0.2), (0.65, -0.2), (0.6, 0.42)]),
            ("white", [(0.74, -0.2), (0.84, -0.2), (0.8, 0.42)]),
            ("dark", _round(0.5, -0.55, 0.045, 0.05)),
            ("dark", _round(0.82, -0.38, 0.06, 0.04)),
        ]
    if animal == "orca":
        return [
            ("black", [(-1.0, -0.35), (-0.75, -0.1), (-0.3, -0.3), (0.3, -0.42), (0.8, -0.2), (1.0, 0.1), (0.6, 0.35),
                       (-0.2, 0.3), (-0.75, 0.08), (-1.0, 0.3), (-0.86, 0.0)]),
            ("black", [(-0.15, -0.3), (0.05, -0.95), (0.25, -0.38)]),
            ("white", [(0.97, 0.15), (0.6, 0.35), (-0.1, 0.31), (0.2, 0.18), (0.6, 0.16)]),
            ("white", _round(0.58, -0.12, 0.14, 0.07, 0.2)),
            ("black", [(0.15, 0.2), (0.4, 0.22), (0.1, 0.75)]),
            ("pale", _round(-0.1, -0.16, 0.14, 0.05, -0.2)),
        ]  # fmt: skip
    if animal == "puffin":
        return [
            ("accent", [(-0.2, 0.8), (0.0, 0.8), (0.1, 0.98), (-0.3, 0.98)]),
            ("accent", [(0.1, 0.8), (0.3, 0.8), (0.42, 0.98), (0.05, 0.98)]),
            ("black", _round(0.0, 0.2, 0.5, 0.68, 0.12)),
            ("white", _round(0.16, 0.3, 0.34, 0.56, 0.1)),
            ("black", _round(0.1, -0.55, 0.4, 0.36)),
            ("white", _round(0.24, -0.52, 0.24, 0.24)),
            ("accent", [(0.42, -0.72), (0.92, -0.5), (0.88, -0.38), (0.42, -0.32)]),
            ("dark", [(0.42, -0.72), (0.54, -0.67), (0.54, -0.34), (0.42, -0.32)]),
            ("black", _round(0.26, -0.58, 0.05, 0.06)),
            ("dark", [(-0.35, -0.1), (-0.15, 0.0), (-0.35, 0.7), (-0.55, 0.4)]),
        ]
    legs = [("white", [(x, 0.1), (x + 0.25, 0.1), (x + 0.27, 0.8), (x - 0.02, 0.8)]) for x in (-0.8, -0.45, 0.15, 0.4)]
    return [
        *legs,
        ("white", _round(-0.15, 0.05, 0.72, 0.42)),
        ("white", _round(0.62, -0.2, 0.34, 0.26, 0.2)),
        ("white", _round(0.5, -0.44, 0.1, 0.1)),
        ("white", _round(0.72, -0.44, 0.09, 0.09)),
        ("pale", [(-0.7, 0.3), (0.4, 0.3), (0.2, 0.46), (-0.5, 0.46)]),
        ("black", _round(0.94, -0.14, 0.07, 0.06)),
        ("black", _round(0.68, -0.26, 0.04, 0.045)),
    ]


_HUES: Final = {"fox": 0.06, "moose": 0.08, "walrus": 0.03, "orca": 0.6, "puffin": 0.62, "bear": 0.13}


def draw_animal(
    canvas: Canvas, animal: str, at: Point, radius: float, rng: np.random.Generator, line: float, mirrored: bool = False
) -> None:
    """Draw an animal around a point; the generator bends it a little and mixes its colours."""
    hue = _HUES[animal] + float(rng.normal(0, 0.015))
    light = {"fox": 0.85, "moose": 0.42, "walrus": 0.6}.get(animal, 0.7)
    inks = {
        "body": ink_of(hue, 0.6 + float(rng.uniform(-0.1, 0.15)), light),
        "pale": ink_of(hue, 0.22, 0.88),
        "dark": ink_of(hue, 0.5, 0.25),
        "white": ink_of(0.14, 0.03 + float(rng.uniform(0, 0.04)), 0.98),
        "black": ink_of(0.62, 0.3, 0.13 + float(rng.uniform(0, 0.05))),
        "accent": ink_of(0.06, 0.85, 0.95),
    }  # fmt: skip
    lean = float(rng.normal(0, 0.08))
    c, s = float(np.cos(lean)), float(np.sin(lean))
    for part, points in _shapes(animal):
        bent = []
        for u, v in points:
            x = u * c - v * s + 0.05 * float(np.sin(2.1 * v + 5 * lean))
            y = u * s + v * c
            bent.append((at[0] + radius * (-x if mirrored else x), at[1] + radius * y))
        canvas.polygon(bent, inks[part], line)


def _badge(faces: Faces, canvas: Canvas, digit: str, at: Point, high: float, number: int) -> None:
    """Write a digit as the box does; every second one, by ``number``, pale on dark."""
    hue = float(faces.rng("ink").uniform())
    dark, pale = ink_of(hue, 0.75, 0.3), ink_of(hue + 0.1, 0.08, 0.98)
    ground, ink = ((pale, dark), (dark, pale))[number % 2]
    kind = faces.how.badge
    if kind == "disc" or (kind == "ribbon" and number):
        canvas.disc(at, 0.85 * high, ground, 0.3)
    elif kind == "square":
        canvas.box(at[0] - 0.75 * high, at[1] - 0.75 * high, 1.5 * high, 1.5 * high, ground, 0.2 * high)
    elif kind == "ribbon":
        x, y, h = at[0], at[1], high
        left, right, low = x - h, x + 0.7 * h, y + h
        canvas.polygon([(left, 0), (right, 0), (right, low), (x - 0.15 * h, y + 0.7 * h), (left, low)], ground)
    else:
        canvas.text(digit, at, high * 1.15, (250, 250, 248), faces.how.font, (22, 24, 40))
        return
    canvas.text(digit, at, high * (0.72 if len(digit) > 1 else 1.0), ink, faces.how.font)


def _border(faces: Faces, canvas: Canvas) -> float:
    """Draw the border; return how wide it is."""
    if faces.how.border == "none":
        return 0.0
    edge = float(faces.rng("border").uniform(2.0, 3.6))
    ink = (250, 250, 247) if faces.how.border == "white" else (20, 20, 24)
    wide, high = canvas.wide, canvas.high
    for at in (0.0, high - edge):
        canvas.box(0, at, wide, edge, ink)
    for at in (0.0, wide - edge):
        canvas.box(at, 0, edge, high, ink)
    return edge


def _arctic(faces: Faces, name: str) -> Image.Image:
    main, placement, companion = name.split("-")
    canvas = Canvas(*faces.size)
    wide, high = faces.size
    how = faces.how
    own = {"main": main, "pair": (main, companion), "card": name}[how.picture]
    rng = faces.rng("picture", own)
    hue = float(faces.rng("hue").uniform(0.5, 0.68))
    hue += ANIMALS.index(main) / 6 if how.coded else float(rng.normal(0, 0.02))
    _ground(faces, canvas, rng, hue)
    at = (wide * float(rng.uniform(0.52, 0.6)), high * float(rng.uniform(0.5, 0.58)))
    draw_animal(canvas, main, at, wide * float(rng.uniform(0.33, 0.39)), rng, how.line, bool(rng.random() < 0.4))
    if how.place == "scene":
        draw_animal(canvas, companion, (wide * 0.3, high * 0.82), wide * 0.17, faces.rng("small", companion), how.line)
    edge = _border(faces, canvas)
    digit = wide * 0.13
    first = (edge + 1.1 * digit, edge + 1.1 * digit)
    _badge(faces, canvas, placement, first, digit, 0)
    second = (first[0], first[1] + 2.1 * digit) if how.place == "column" else (wide - first[0], first[1])
    _badge(faces, canvas, str(6 - int(placement)), second, digit * 0.8, 1)
    if how.place != "scene":
        spot = (first[0], high - edge - 9.0) if how.place == "column" else (wide - edge - 10.0, high - edge - 10.0)
        canvas.disc(spot, 7.6, (246, 246, 240) if how.line else ink_of(hue + 0.5, 0.2, 0.9), 0.3)
        draw_animal(canvas, companion, spot, 6.0, faces.rng("small", companion), how.line / 2)
    return canvas.finished(3.2)


def _eskimo(canvas: Canvas, at: Point, radius: float, rng: np.random.Generator, line: float) -> None:
    hue = float(rng.uniform())
    x, y, r = at[0], at[1], radius
    coat = ink_of(hue, 0.65, 0.7)
    low = y + 1.2 * r
    canvas.polygon([(x - 0.75 * r, low), (x - 0.5 * r, y), (x + 0.5 * r, y), (x + 0.75 * r, low)], coat, line)
    canvas.disc((x, y - 0.3 * r), 0.62 * r, ink_of(hue + 0.05, 0.2, 0.92), line)
    canvas.disc((x, y - 0.3 * r), 0.44 * r, (224, 172, 132), line)
    for side in (-1, 1):
        canvas.disc((x + 0.16 * side * r, y - 0.36 * r), 0.06 * r, (20, 18, 20))
        canvas.disc((x + 0.8 * side * r, y + 0.45 * r), 0.2 * r, ink_of(hue + 0.4, 0.5, 0.5), line)
    canvas.polygon([(x - 0.15 * r, y - 0.12 * r), (x + 0.15 * r, y - 0.12 * r), (x, y - 0.04 * r)], (150, 50, 50))


def _pop(faces: Faces, name: str) -> Image.Image:
    numbers = name.split("/")
    canvas = Canvas(*faces.size)
    wide, high = faces.size
    how = faces.how
    own = {"main": len(numbers), "pair": len(numbers), "card": name}[how.picture]
    rng = faces.rng("picture", own)
    hue = float(faces.rng("hue").uniform()) + (len(numbers) / 4 if how.coded else 0.0)
    _ground(faces, canvas, rng, hue)
    people = 4 - len(numbers)
    for index in range(people):
        x = wide * (index + 1) / (people + 1)
        _eskimo(canvas, (x, high * float(rng.uniform(0.6, 0.68))), wide * 0.14, rng, how.line)
    edge = _border(faces, canvas)
    figure = wide * (0.16 if how.place != "column" else 0.13)
    for index, number in enumerate(numbers):
        x = wide * (index + 1) / (len(numbers) + 1)
        if how.place == "column":
            at = (edge + 1.25 * figure, edge + figure * (1.2 + 2.1 * index))
        elif how.place == "corner":
            at = (x, edge + 1.2 * figure)
        else:
            at = (x, high - edge - 1.2 * figure)
        _badge(faces, canvas, number, at, figure, index)
    return canvas.finished(3.2)
