"""Invented art for rendered cards: Igloo Pop's 33 and Arctic's 120, drawn anew from a seed in eight families.

Families 0 to 4 are those to look at while working; 5 to 7 draw, letter and lay out cards in other ways and are for
measuring only. Even families print one picture for each animal (or number of numbers), odd ones one for each card.
Pictures are BGR, uint8, sRGB, ``PX`` pixels a millimetre.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.lab.worlds.board_art import bgr, number_of

Image = NDArray[np.uint8]
Colour = tuple[float, float, float]
Points = NDArray[np.float64]

PX = 5
SIZES = {"igloo-pop": (62, 88), "arctic": (57, 88)}
"""Width and height of a card in millimetres."""
ANIMALS = ("fox", "moose", "walrus", "orca", "puffin", "bear")


@dataclass(frozen=True)
class CardArt:
    """The art of one box: ``card(name)`` draws a card as the rules name it (``4/5``, ``fox-5-moose``)."""

    game: str
    seed: int
    family: int = 0

    def rng(self, *what: object) -> np.random.Generator:
        """Return a generator for one part of the art."""
        return np.random.default_rng([self.seed, self.family, number_of(repr(what))])

    @property
    def size(self) -> tuple[int, int]:
        """Return width and height in millimetres, a little different from box to box."""
        wide, high = SIZES[self.game]
        rng = self.rng("size")
        return wide + int(rng.integers(-4, 5)), high + int(rng.integers(-5, 6))

    def card(self, name: str) -> Image:
        """Return the picture of a card."""
        draw = _pop if self.game == "igloo-pop" else _arctic
        return draw(self, name)

    def number(self, value: int, diameter: int) -> tuple[Image, NDArray[np.float32]]:
        """Return the game's own print under an igloo: picture (d, d, 3) and its cover (d, d)."""
        rng = self.rng("under")
        paper, ink = _pair(rng)
        image = np.empty((diameter, diameter, 3), np.uint8)
        image[:] = paper
        cover = np.zeros((diameter, diameter), np.float32)
        cv2.circle(cover, (diameter // 2, diameter // 2), diameter // 2 - 1, 1.0, -1, cv2.LINE_AA)
        _words(self, image, str(value), (diameter / 2, diameter / 2), diameter * 0.5, ink, int(rng.integers(1000)))
        if value in {6, 9}:
            low = round(diameter * 0.82)
            cv2.line(image, (diameter * 2 // 5, low), (diameter * 3 // 5, low), ink, max(2, diameter // 28))
        return image, cover


def _pair(rng: np.random.Generator) -> tuple[Colour, Colour]:
    """Return a light paper and a dark ink."""
    hue = rng.uniform(0, 180)
    paper = bgr(hue, rng.uniform(0.02, 0.3), rng.uniform(0.82, 1))
    return paper, bgr(hue + rng.uniform(40, 140), rng.uniform(0.4, 0.95), rng.uniform(0.1, 0.5))


def _words(art: CardArt, image: Image, text: str, at: Sequence[float], high: float, ink: Colour, letters: int) -> None:
    """Write ``text`` around ``at``, its figures ``high`` pixels high; ``letters`` chooses among the family's fonts."""
    face = (("sans",), ("italic", "serif"), ("serif",), ("sans", "uni"))[art.family % 4]
    weight = (500, 700, 900)[letters % 3]
    font, size = cv2.FontFace(face[letters // 3 % len(face)]), max(6, round(high * 1.36))
    box = cv2.getTextSize((4000, 4000), text, (0, 0), font, size, weight)
    x = round(at[0] - box[2] / 2 - box[0])
    cv2.putText(image, text, (x, round(at[1] + high / 2)), ink, font, size, weight)


def _field(rng: np.random.Generator, size: tuple[int, int], grain: int) -> NDArray[np.float32]:
    """Return smooth noise (h, w) of about unit spread, ``grain`` bumps across."""
    high = max(2, round(grain * size[1] / size[0]))
    small = rng.normal(0, 1, (high, grain)).astype(np.float32)
    return np.asarray(cv2.resize(small, size, interpolation=cv2.INTER_CUBIC), np.float32)


def ground(art: CardArt, key: object, size: tuple[int, int], hue: float) -> Image:
    """Return the background of a card in the family's manner; ``hue`` is the card's own."""
    rng = art.rng("ground", key)
    wide, high = size
    image = np.empty((high, wide, 3), np.float32)
    if art.family == 0:
        top, low = bgr(hue, 0.35, 0.85), bgr(hue + 12, 0.55, 0.5)
        along = np.linspace(0, 1, high, dtype=np.float32)[:, None, None]
        image[:] = np.array(top, np.float32) * (1 - along) + np.array(low, np.float32) * along
        for _ in range(7):
            x, y, r = rng.uniform(0, wide), rng.uniform(high * 0.3, high), rng.uniform(0.1, 0.35) * wide
            corners = np.array([[x - r, y], [x + rng.uniform(-r, r) / 2, y - r * 1.5], [x + r, y]])
            _fill(image, corners, bgr(hue + rng.normal(0, 10), rng.uniform(0.05, 0.4), rng.uniform(0.6, 1)))
    elif art.family == 1:
        image[:] = bgr(hue, 0.5, 0.6)
        for grain in (3, 7, 18):
            for channel in range(3):
                image[..., channel] += _field(rng, size, grain) * 70 / grain**0.5
    elif art.family == 2:
        image[:] = bgr(hue, 0.08, 0.93)
        for _ in range(26):
            points = rng.uniform([0, 0], [wide, high]) + np.cumsum(rng.normal(0, wide / 14, (9, 2)), axis=0)
            cv2.polylines(image, [np.round(points * 16).astype(np.int32)], False, (30, 30, 40), 2, cv2.LINE_AA, 4)
    elif art.family == 3:
        seeds = rng.uniform([0, 0], [wide, high], (45, 2))
        ys, xs = np.mgrid[0:high, 0:wide].astype(np.float32)
        nearest = np.argmin([(xs - x) ** 2 + (ys - y) ** 2 for x, y in seeds], axis=0)
        inks = np.array([bgr(hue + rng.normal(0, 14), rng.uniform(0.15, 0.8), rng.uniform(0.35, 1)) for _ in seeds])
        image = inks[nearest].astype(np.float32)
        image[cv2.morphologyEx(nearest.astype(np.uint8), cv2.MORPH_GRADIENT, np.ones((3, 3))) > 0] = 40
    elif art.family == 4:
        image[:] = bgr(hue, 0.25, 0.9)
        for _ in range(60):
            wash = _blob(rng, rng.uniform([0, 0], [wide, high]), rng.uniform(0.06, 0.3) * wide, 9, 0.4)
            cover = np.zeros((high, wide), np.float32)
            _fill(cover, wash, (1.0, 0.0, 0.0))
            cover = cv2.GaussianBlur(cover, (0, 0), rng.uniform(1.5, 6)) * rng.uniform(0.1, 0.4)
            colour = bgr(hue + rng.normal(0, 18), rng.uniform(0.2, 0.7), rng.uniform(0.4, 1))
            image += cover[..., None] * (np.array(colour, np.float32) - image)
    elif art.family == 5:
        image[:] = bgr(hue, 0.45, 0.75)
        for _ in range(5):
            middle, turn = rng.uniform([0, 0], [wide, high]), rng.uniform(0, np.pi)
            ray = np.array([np.cos(turn), np.sin(turn)]) * 2 * high
            side = np.array([-ray[1], ray[0]]) * rng.uniform(0.01, 0.06)
            ink = bgr(hue + rng.normal(0, 20), rng.uniform(0.2, 0.8), rng.uniform(0.4, 1))
            _fill(image, np.array([middle - ray, middle + ray + side, middle + ray - side]), ink)
        for _ in range(30):
            x, y = rng.uniform([0, 0], [wide, high])
            cv2.circle(image, (round(x), round(y)), round(rng.uniform(4, 14)), bgr(hue + 90, 0.5, 0.9), 3, cv2.LINE_AA)
    elif art.family == 6:
        image[:] = bgr(hue, 0.7, 0.22)
        for x, y in rng.uniform([0, 0], [wide, high], (140, 2)):
            cv2.circle(image, (round(x), round(y)), int(rng.integers(1, 4)), (235, 235, 225), -1, cv2.LINE_AA)
        for k in range(4):
            ridge = np.cumsum(rng.normal(0, high / 22, 12)) + high * (0.35 + 0.17 * k)
            line = np.column_stack([np.linspace(0, wide, 12), ridge])
            ink = bgr(hue + rng.normal(0, 10), rng.uniform(0.3, 0.6), 0.3 + 0.1 * k)
            _fill(image, np.concatenate([line, [[wide, high], [0, high]]]), ink)
    else:
        image[:] = bgr(hue, 0.3, 0.85)
        for _ in range(6):
            at, far = rng.uniform([0, 0], [wide, high]), rng.uniform(0.12, 0.4) * wide
            ink = bgr(hue + rng.normal(0, 25), rng.uniform(0.15, 0.7), rng.uniform(0.5, 1))
            _fill(image, _blob(rng, at, far, int(rng.integers(3, 8)), 0.2), ink)
    return np.clip(image, 0, 255).astype(np.uint8)


def _fill(image: NDArray[Any], points: Points, ink: Colour) -> None:
    cv2.fillPoly(image, [np.round(points * 16).astype(np.int32)], ink, cv2.LINE_AA, 4)


def _blob(rng: np.random.Generator, at: Sequence[float] | Points, radius: float, corners: int, rough: float) -> Points:
    """Return a closed outline, the same for the same generator."""
    angles = np.linspace(0, 2 * np.pi, corners, endpoint=False)
    far = radius * (1 + rough * rng.uniform(-1, 1, corners))
    return np.array(at) + np.column_stack([np.cos(angles), np.sin(angles)]) * far[:, None]


def creature(art: CardArt, image: Image, name: str, at: Sequence[float], radius: float, lean: float) -> None:
    """Draw an animal: a body, a head, marks and an eye, of outlines and colours that are its own."""
    rng = art.rng("creature", name)
    hue = rng.uniform(0, 180)
    body = bgr(hue, rng.uniform(0.1, 0.8), rng.uniform(0.2, 0.95))
    turn = np.array([[np.cos(lean), -np.sin(lean)], [np.sin(lean), np.cos(lean)]])

    def shape(points: Points, ink: Colour) -> None:
        laid = np.array(at) + (points @ turn.T) * radius
        _fill(image, laid, ink)
        cv2.polylines(
            image, [np.round(laid * 16).astype(np.int32)], True, (25, 25, 30), max(1, round(radius / 22)), 16, 4
        )

    shape(_blob(rng, (0, 0.2), 0.72, int(rng.integers(5, 12)), 0.3), body)
    head = rng.uniform(-0.4, 0.4), -0.62
    shape(_blob(rng, head, 0.36, int(rng.integers(4, 10)), 0.25), bgr(hue + rng.uniform(-50, 50), 0.6, 0.8))
    for _ in range(int(rng.integers(3, 7))):
        spot = rng.uniform(-0.4, 0.4, 2) + np.array([0, 0.2])
        mark = _blob(rng, spot, rng.uniform(0.06, 0.18), 6, 0.3)
        shape(mark, bgr(rng.uniform(0, 180), rng.uniform(0, 0.9), rng.uniform(0.1, 1)))
    shape(_blob(rng, (head[0] + 0.08, -0.68), 0.07, 7, 0.1), (15, 15, 15))


def _frame(art: CardArt, image: Image) -> None:
    rng = art.rng("frame")
    high, wide = image.shape[:2]
    if art.family in {0, 2, 5}:
        edge = int(rng.uniform(2, 4.5) * PX)
        ink = (250, 250, 248) if rng.random() < 0.7 else bgr(rng.uniform(0, 180), 0.7, 0.35)
        for box in ((0, 0, wide, edge), (0, high - edge, wide, edge), (0, 0, edge, high), (wide - edge, 0, edge, high)):
            cv2.rectangle(image, box, ink, -1)
        cv2.rectangle(image, (edge, edge), (wide - edge, high - edge), (60, 60, 60), 1)


def _pop(art: CardArt, name: str) -> Image:
    numbers = name.split("/")
    wide, high = art.size[0] * PX, art.size[1] * PX
    common = art.rng("layout")
    hue = common.uniform(0, 180) + (0 if common.random() < 0.5 else 50 * len(numbers))
    image = ground(art, name if art.family % 2 else len(numbers), (wide, high), hue)
    people = 4 - len(numbers)
    for index in range(people):
        x = wide * (index + 1) / (people + 1)
        kind = f"eskimo{index if art.family % 2 else 0}"
        creature(art, image, kind, (x, high * (0.66 if art.family not in {3, 6} else 0.3)), wide * 0.17, 0.0)
    _frame(art, image)
    paper, ink = _pair(art.rng("paper"))
    font = int(art.rng("font").integers(1000))
    high_of_figures = wide * (0.15 if len(numbers) < 3 else 0.11)
    if art.family in {0, 3, 4, 6}:
        y = high * (0.24 if art.family in {0, 4} else 0.76)
        for index, number in enumerate(numbers):
            at = (wide * (index + 1) / (len(numbers) + 1), y)
            if art.family in {0, 4}:
                cv2.circle(image, (round(at[0]), round(at[1])), round(wide * 0.14), paper, -1, cv2.LINE_AA)
            else:
                half = round(wide * 0.13)
                cv2.rectangle(image, (round(at[0]) - half, round(at[1]) - half, 2 * half, 2 * half), paper, -1)
            _words(art, image, number, at, high_of_figures, ink, font)
    else:
        text = " ".join(numbers) if art.family == 1 else "-".join(numbers)
        for _ in range(2):
            cv2.rectangle(image, (0, round(high * 0.03)), (wide, round(high * 0.21)), paper, -1)
            _words(art, image, text, (wide / 2, high * 0.12), high_of_figures, ink, font)
            image = np.ascontiguousarray(image[::-1, ::-1])
    return image


def _arctic(art: CardArt, name: str) -> Image:
    main, placement, companion = name.split("-")
    wide, high = art.size[0] * PX, art.size[1] * PX
    # Every animal has a colour of its own: what a fanned-out strip shows of a card must tell its animal somehow.
    hue = art.rng("hue").uniform(0, 180) + 30 * ANIMALS.index(main) + art.rng("hue", main).uniform(-6, 6)
    # The first of each two families prints one picture an animal; the other draws every card anew.
    own = name if art.family % 2 else main
    rng = art.rng("pose", own)
    image = ground(art, own, (wide, high), hue)
    at = (wide * rng.uniform(0.5, 0.62), high * rng.uniform(0.5, 0.62))
    creature(art, image, main, at, wide * rng.uniform(0.3, 0.38), rng.uniform(-0.5, 0.5))
    _frame(art, image)
    paper, ink = _pair(art.rng("paper"))
    font = int(art.rng("font").integers(1000))
    side = wide * 0.12
    marks = [(side * 1.2, side * 1.3), (side * 1.2, side * 3.9), (side * 1.2, side * 6.4)]
    if art.family >= 2:
        marks = [(side * 1.2, side * 1.3), (wide - side * 1.3, side * 1.3), (side * 1.2, side * 3.6)]
    if art.family >= 5:
        marks = [(side * 1.2, high - side * 1.3), (side * 1.2, side * 1.3), (wide - side * 1.3, high - side * 1.3)]
    for text, spot in zip((placement, str(6 - int(placement))), marks, strict=False):
        cv2.circle(image, (round(spot[0]), round(spot[1])), round(side), paper, -1, cv2.LINE_AA)
        cv2.circle(image, (round(spot[0]), round(spot[1])), round(side), ink, 2, cv2.LINE_AA)
        _words(art, image, text, spot, side * 1.15, ink, font)
        paper, ink = ink, paper
    spot = marks[2]
    cv2.circle(image, (round(spot[0]), round(spot[1])), round(side * 1.05), (245, 245, 245), -1, cv2.LINE_AA)
    creature(art, image, companion, spot, side * 0.9, 0.0)
    return image
