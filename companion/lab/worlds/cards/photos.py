"""Rendered photos of cards: sheets, a ring of nine with igloos on them, fanned-out piles; the truth is known.

Everything is laid in the order in which it is given, so what comes later covers what came before. A pinhole camera
sees flat things by their homographies and igloos as stacks of slices; lamp, blur, noise and JPEG are those of
:mod:`companion.lab.worlds.table`, the lens bends the finished picture. Millimetres, angles in degrees.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.lab.worlds import table
from companion.lab.worlds.board_art import TEAMS, Colour, bgr
from companion.lab.worlds.cards.art import PX, CardArt
from companion.lab.worlds.table import Floats, Image, Light, PinholeCamera

IGLOO_MM = 23.0
"""An igloo's radius; it is as high."""
STICKER_MM = 30.0
_SLICES = 14


@dataclass(frozen=True)
class Laid:
    """A card on the table: its middle, and the angle by which it is turned clockwise."""

    name: str
    at: tuple[float, float]
    turn: float = 0.0


@dataclass(frozen=True)
class Igloo:
    """An igloo: upright, with a thaler of ``colour`` in its notch or none, or upturned with ``number`` under it."""

    at: tuple[float, float]
    colour: str = ""
    number: int | None = None
    turn: float = 0.0
    sticker: Image | None = field(default=None, compare=False)
    """A square print on the base; None: the game's own digits."""


@dataclass(frozen=True)
class Printed:
    """Something flat beside the cards: its picture, its middle, width and height, and what of the picture it is."""

    picture: Image = field(repr=False, compare=False)
    at: tuple[float, float]
    size: tuple[float, float]
    turn: float = 0.0
    lift: float = 0.2
    cover: NDArray[np.float32] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class CardScene:
    """What lies on the table."""

    art: CardArt
    cards: tuple[Laid, ...]
    igloos: tuple[Igloo, ...] = ()
    hands: tuple[tuple[tuple[float, float], ...], ...] = ()
    """Skin-coloured polygons in pixels."""
    thalers: tuple[tuple[str, tuple[float, float]], ...] = ()
    """Thalers that lie loose, by colour and where."""
    printed: tuple[Printed, ...] = ()
    """What else lies flat, below all cards."""


@dataclass(frozen=True)
class CardShot:
    """A photo with its truth: the corners of each card, clockwise from its own top left, and each igloo's middle."""

    image: Image
    corners: tuple[Floats, ...]
    igloos: tuple[tuple[float, float], ...]
    jpeg: bytes = field(repr=False, default=b"")


def shoot(scene: CardScene, camera: PinholeCamera, light: Light, seed: int = 0) -> CardShot:
    """Render a scene."""
    flat = replace(camera, k1=0.0, k2=0.0)
    linear = table._background(table.TableScene((), (1.0, 1.0), 0.0, scene.art.seed % 97), flat)
    corners = []
    for one in scene.printed:
        wide, high = one.size
        outline = np.array([[-wide, -high], [wide, -high], [wide, high], [-wide, high]]) / 2
        _print(linear, flat, one.picture, outline, _frame(one.at, one.turn, one.lift), one.cover)
    for index, card in enumerate(scene.cards):
        frame = _frame(card.at, card.turn, 0.3 + 0.05 * index)
        wide, high = scene.art.size
        outline = np.array([[-wide, -high], [wide, -high], [wide, high], [-wide, high]]) / 2
        _shadow(linear, flat, outline * 1.01, frame, 1.0)
        _print(linear, flat, scene.art.card(card.name), outline, frame)
        corners.append(outline @ frame[:, :2].T + frame[:, 2])
    for colour, at in scene.thalers:
        hue, saturation, value = TEAMS[colour]
        _polygon(linear, flat, _circle(at, 9.0, 2.5), _linear(bgr(hue, saturation, value)))
    middles = []
    for igloo in scene.igloos:
        _igloo(linear, flat, scene.art, igloo)
        middles.append([*igloo.at, IGLOO_MM])
    for hand in scene.hands:
        table._draw_hand(linear, hand)
    linear = _bend(linear, camera)
    image = table._expose(linear, light, seed)
    image, jpeg = table.through_jpeg(image, light.quality or 95)
    seen = tuple(camera.project(four) for four in corners)
    tops = tuple((float(x), float(y)) for x, y in camera.project(np.array(middles))) if middles else ()
    return CardShot(image, seen, tops, jpeg)


def _frame(at: tuple[float, float], turn: float, z: float) -> Floats:
    angle = np.radians(turn)
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[cos, -sin, at[0]], [sin, cos, at[1]], [0.0, 0.0, z]])


def _bend(linear: NDArray[np.float32], camera: PinholeCamera) -> NDArray[np.float32]:
    if not (camera.k1 or camera.k2):
        return linear
    ys, xs = np.mgrid[0 : camera.height + 8 : 8, 0 : camera.width + 8 : 8].astype(float)
    rays = camera.rays(np.column_stack([xs.ravel(), ys.ravel()]))
    at = rays * camera.focal + [(camera.width - 1) / 2, (camera.height - 1) / 2]
    coarse = at.reshape(*xs.shape, 2).astype(np.float32)
    fy, fx = np.mgrid[0 : camera.height, 0 : camera.width].astype(np.float32) / 8
    fine = cv2.remap(coarse, fx, fy, cv2.INTER_LINEAR)
    bent = cv2.remap(linear, fine[..., 0], fine[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(bent, np.float32)


def _box(points: Floats, camera: PinholeCamera, rim: float) -> tuple[int, int, int, int]:
    x0, y0 = np.maximum(np.floor(points.min(axis=0) - rim).astype(int), 0)
    x1, y1 = np.ceil(points.max(axis=0) + rim).astype(int) + 1
    return int(x0), int(y0), min(int(x1), camera.width), min(int(y1), camera.height)


def _shadow(linear: Any, camera: PinholeCamera, outline: Floats, frame: Floats, strength: float) -> None:
    points = camera.project(outline @ frame[:, :2].T + frame[:, 2])
    reach = camera.focal / camera.distance * 1.3
    x0, y0, x1, y1 = _box(points, camera, 4 * reach)
    if x1 <= x0 or y1 <= y0:
        return
    mask = np.zeros((y1 - y0, x1 - x0), np.float32)
    cv2.fillPoly(mask, [np.round((points - [x0, y0]) * 16).astype(np.int32)], 1.0, cv2.LINE_AA, 4)
    soft = cv2.GaussianBlur(mask, (0, 0), max(0.6, reach))
    linear[y0:y1, x0:x1] *= 1 - 0.45 * strength * soft[..., None]


def _print(
    linear: Any, camera: PinholeCamera, picture: Image, outline: Floats, frame: Floats, cover: Any = None
) -> None:
    points = camera.project(outline @ frame[:, :2].T + frame[:, 2])
    x0, y0, x1, y1 = _box(points, camera, 2)
    if x1 <= x0 or y1 <= y0:
        return
    high, wide = picture.shape[:2]
    apparent = np.linalg.norm(points[1] - points[0]) / wide
    light = (np.arange(256, dtype=np.float32) / 255) ** np.float32(2.2)
    drawn = np.asarray(np.take(light, picture), np.float32)
    if apparent < 0.8:
        drawn = np.asarray(cv2.GaussianBlur(drawn, (0, 0), 0.45 / apparent), np.float32)
    mask = np.ones((high, wide), np.float32) if cover is None else cover
    four = np.array([[-0.5, -0.5], [wide - 0.5, -0.5], [wide - 0.5, high - 0.5], [-0.5, high - 0.5]], np.float32)
    to = cv2.getPerspectiveTransform(four, (points - [x0, y0]).astype(np.float32))
    size = (x1 - x0, y1 - y0)
    seen = cv2.warpPerspective(drawn, to, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    alpha = np.zeros((size[1], size[0]), np.float32)
    cv2.fillPoly(alpha, [np.round((points - [x0, y0]) * 16).astype(np.int32)], 1.0, cv2.LINE_AA, 4)
    if cover is not None:
        alpha = np.asarray(cv2.warpPerspective(mask, to, size, flags=cv2.INTER_LINEAR), np.float32)
    part = linear[y0:y1, x0:x1]
    part *= 1 - alpha[..., None]
    part += seen * alpha[..., None]


def _circle(at: tuple[float, float], radius: float, z: float, corners: int = 40) -> Floats:
    angles = np.linspace(0, 2 * np.pi, corners, endpoint=False)
    return np.column_stack([at[0] + radius * np.cos(angles), at[1] + radius * np.sin(angles), np.full(corners, z)])


def _linear(colour: Colour) -> Colour:
    blue, green, red = ((v / 255) ** 2.2 for v in colour)
    return blue, green, red


def _shaded(colour: Floats, shade: float) -> Colour:
    blue, green, red = (float(v) for v in colour * shade)
    return blue, green, red


def _polygon(linear: Any, camera: PinholeCamera, points: Floats, colour: Colour) -> None:
    cv2.fillPoly(linear, [np.round(camera.project(points) * 16).astype(np.int32)], colour, cv2.LINE_AA, 4)


def _igloo(linear: Any, camera: PinholeCamera, art: CardArt, igloo: Igloo) -> None:
    rng = art.rng("igloo")
    radius = IGLOO_MM
    snow = np.array(_linear(bgr(rng.uniform(90, 115), rng.uniform(0.02, 0.15), rng.uniform(0.85, 0.98))))
    # A soft shadow on what it stands on.
    _shadow(linear, camera, _circle((3.0, 2.0), radius * 1.05, 0.0)[:, :2], _frame(igloo.at, 0, 1.0), 0.9)
    rows = 5
    for k in range(_SLICES):
        z = radius * (k + 1) / _SLICES
        up = k / _SLICES
        r = radius * np.sqrt(max(0.0, 1 - up**2)) if igloo.number is None else radius * np.sqrt(1 - (1 - up) ** 2 * 0.6)
        shade = 0.62 + 0.38 * (up if igloo.number is None else 0.35 * up)
        if int(up * rows) != int((k + 1) / _SLICES * rows):
            shade *= 0.86
        _polygon(linear, camera, _circle(igloo.at, float(r), 1.0 + z), _shaded(snow, shade))
    top = 1.0 + radius
    frame = _frame(igloo.at, igloo.turn, top)
    if igloo.number is None and not igloo.colour:
        return
    if igloo.number is None:
        hue, saturation, value = TEAMS[igloo.colour]
        ink = bgr(hue + rng.normal(0, 2), saturation, value * rng.uniform(0.85, 1.1))
        chip = radius * rng.uniform(0.34, 0.46)
        flat = rng.choice([1.0, 0.5])
        outline = _circle((0.0, 0.0), chip, 0.0)[:, :2] * [1.0, flat]
        dark = _shaded(np.array(_linear(ink)), 0.75)
        low, high = frame.copy(), frame.copy()
        low[2, 2], high[2, 2] = top - 3, top + 1
        _polygon(linear, camera, outline @ low[:, :2].T + low[:, 2], dark)
        _polygon(linear, camera, outline @ high[:, :2].T + high[:, 2], _linear(ink))
        return
    rim = _circle((0.0, 0.0), radius * 0.97, 0.0)[:, :2]
    _polygon(linear, camera, rim @ frame[:, :2].T + frame[:, 2], _shaded(snow, 0.8))
    if igloo.sticker is not None:
        half = STICKER_MM / 2
        square = np.array([[-half, -half], [half, -half], [half, half], [-half, half]])
        _print(linear, camera, igloo.sticker, square, frame)
        return
    picture, cover = art.number(igloo.number, int(2 * radius * PX))
    half = radius * 0.94
    square = np.array([[-half, -half], [half, -half], [half, half], [-half, half]])
    _print(linear, camera, picture, square, frame, cover)


# --- scenes ---------------------------------------------------------------------------------------------------------


def view(
    seed: int, wide: float, high: float, *, width: int = 1600, tilt: tuple[float, float] = (0, 25), soft: float = 1.0
) -> tuple[PinholeCamera, Light]:
    """Return a camera that sees ``wide`` × ``high`` millimetres around the middle, and a lamp, drawn from a seed."""
    rng = np.random.default_rng([21, seed])
    height = width * 3 // 4
    focal = width * float(rng.uniform(0.8, 1.2))
    lean = float(rng.uniform(*tilt))
    distance = max(wide * focal / width, high * focal / height) * float(rng.uniform(1.05, 1.2))
    distance += 0.3 * high * float(np.sin(np.radians(lean)))
    camera = PinholeCamera(
        width, height, distance, lean, float(rng.uniform(-15, 15)), float(rng.uniform(-5, 5)),
        (float(rng.uniform(-8, 8)), float(rng.uniform(-8, 8))), focal,
        float(rng.uniform(-0.08, 0.03)), float(rng.uniform(-0.01, 0.01)),
    )  # fmt: skip
    scale = width / 1600
    light = Light(
        exposure=float(rng.uniform(0.5, 0.95)),
        slope=float(rng.uniform(-0.5, 0.5)),
        warmth=float(rng.uniform(-0.2, 0.25)),
        blur=float(rng.uniform(0.6, 1.3)) * scale * soft,
        noise=float(rng.uniform(0.002, 0.01)),
        quality=int(rng.integers(75, 95)),
        glare=((float(rng.uniform(0, width)), float(rng.uniform(0, height)), float(rng.uniform(25, 80)) * scale,
                float(rng.uniform(0, 0.35))),),
    )  # fmt: skip
    return camera, light


def sheet(art: CardArt, names: list[str], columns: int, seed: int = 0) -> CardScene:
    """Return cards laid out row by row, a little askew."""
    rng = np.random.default_rng([22, seed])
    wide, high = art.size
    rows = -(-len(names) // columns)
    cards = []
    for index, name in enumerate(names):
        row, column = divmod(index, columns)
        x = (column - (columns - 1) / 2) * (wide + 9) + float(rng.normal(0, 1.2))
        y = (row - (rows - 1) / 2) * (high + 9) + float(rng.normal(0, 1.2))
        cards.append(Laid(name, (x, y), float(rng.normal(0, 1.2))))
    return CardScene(art, tuple(cards))


def sheet_extent(art: CardArt, count: int, columns: int) -> tuple[float, float]:
    """Return width and height of a sheet in millimetres, with some table around it."""
    wide, high = art.size
    return columns * (wide + 9) + 30, -(-count // columns) * (high + 9) + 30


def ring(art: CardArt, names: list[str], seed: int = 0, radius: float = 150.0, askew: float = 25.0) -> list[Laid]:
    """Return cards in a circle, clockwise from the top, each turned as it comes."""
    rng = np.random.default_rng([23, seed])
    cards = []
    for index, name in enumerate(names):
        angle = 2 * np.pi * index / len(names)
        far = radius + float(rng.normal(0, 4))
        at = (float(np.sin(angle)) * far * 1.15, -float(np.cos(angle)) * far)
        turn = float(rng.normal(0, askew)) + (180.0 if rng.random() < 0.3 else 0.0)
        cards.append(Laid(name, at, turn))
    return cards


def stand(art: CardArt, card: Laid, count: int, seed: int = 0) -> list[tuple[float, float]]:
    """Return where ``count`` igloos stand on a card: side by side, some over its edge."""
    rng = np.random.default_rng([24, seed])
    along = np.radians(card.turn)
    down = np.array([-np.sin(along), np.cos(along)])
    across = np.array([np.cos(along), np.sin(along)])
    steps = (np.arange(count) - (count - 1) / 2) * 2.15 * IGLOO_MM
    shift = float(rng.uniform(-14, 14))
    spots = []
    for step in steps:
        at = np.array(card.at) + down * (step + shift * (count < 3)) + across * float(rng.uniform(-13, 13))
        spots.append((float(at[0]), float(at[1])))
    return spots


def fan(
    art: CardArt, names: list[str], seed: int = 0, *, shown: float = 0.27, curve: float = 2.0, rows: int = 1
) -> CardScene:
    """Return a pile, bottom card first, fanned out from left to right in ``rows``, ``shown`` of each card's width."""
    rng = np.random.default_rng([25, seed])
    wide, high = art.size
    step = shown * wide
    each = -(-len(names) // rows)
    cards = []
    for index, name in enumerate(names):
        row, column = divmod(index, each)
        x = (column - (each - 1) / 2) * step + float(rng.normal(0, step * 0.05))
        turn = curve * (column - (each - 1) / 2) + float(rng.normal(0, 1.0))
        y = (row - (rows - 1) / 2) * (high + 14) + 0.5 * np.radians(curve) / step * x**2 + float(rng.normal(0, 1.0))
        cards.append(Laid(name, (x, float(y)), turn))
    return CardScene(art, tuple(cards))
