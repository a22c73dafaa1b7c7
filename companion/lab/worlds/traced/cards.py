"""Traced photos of cards: sheets, a circle with igloos on it, fanned-out piles; the truth is known.

Cards are thin sheets with round corners, bent a little, that lie askew; igloos are solids with a notch for a thaler, or
upturned with a sticker of the kit below. Millimetres on the table, x to the right, y away from who looks, z up; degrees
anticlockwise from above. What comes later lies on what came before.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pictures

from companion.lab.worlds.cards.photos import CardShot
from companion.lab.worlds.traced import povray
from companion.lab.worlds.traced.cards_art import Faces, ink_of
from companion.lab.worlds.traced.povray import Lamps, TracedView, paint, vector
from vision.board.markers import MODULES
from vision.board.print_kit import STICKER_MODULE_MM, marker_boxes

Floats = NDArray[np.float64]
Place = tuple[float, float]

DOME_MM = 23.0
"""An igloo's radius and height."""
STICKER_MM = 30.0
THICK = 0.35
"""A card's thickness."""
_DENSER = 1.25
"""Faces have so many times the photo's pixels: with more, some rays would miss a thin line that others hit."""
_ROWS, _COLUMNS = 12, 8
COINS = {
    "red": (0.78, 0.13, 0.12), "blue": (0.12, 0.27, 0.72), "green": (0.12, 0.52, 0.2),
    "yellow": (0.95, 0.78, 0.1), "violet": (0.46, 0.2, 0.6), "black": (0.07, 0.07, 0.08),
}  # fmt: skip


@dataclass(frozen=True)
class TracedCard:
    """A card: its name, its middle, its turn, on how many others it lies, and how it is bent (mm, along and across)."""

    name: str
    at: Place
    turn: float = 0.0
    level: float = 0.0
    bend: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Dome:
    """An igloo: upright, with a thaler of ``colour`` or without, or upturned with the sticker of ``number``."""

    at: Place
    colour: str = ""
    number: int | None = None
    turn: float = 0.0


@dataclass(frozen=True)
class Arm:
    """An arm that reaches to a point from a side of the table: degrees anticlockwise from the picture's near edge."""

    at: Place
    side: float = 0.0

    def back(self, far: float) -> Arm:
        """Return the arm when it has been drawn back so many millimetres towards its side."""
        return Arm(towards(self.at, self.side, far), self.side)


@dataclass(frozen=True)
class Flat:
    """A print beside the cards: its picture, middle, width and height, turn, and how high it lies."""

    picture: Pictures.Image = field(repr=False, compare=False)
    at: Place
    size: tuple[float, float]
    turn: float = 0.0
    z: float = 0.3


@dataclass(frozen=True)
class TracedScene:
    """What lies on the table; ``arms`` reach over it, and ``thalers`` lie loose, each with its colour."""

    faces: Faces
    cards: tuple[TracedCard, ...]
    domes: tuple[Dome, ...] = ()
    flats: tuple[Flat, ...] = ()
    arms: tuple[Arm, ...] = ()
    thalers: tuple[tuple[str, Place], ...] = ()


def trace(scene: TracedScene, view: TracedView, lamps: Lamps, seed: int, *, light: int | None = None) -> CardShot:
    """Return a photo of a scene; ``seed`` is the noise's, ``light`` the sensor's (the camera's, where it is None)."""
    files: dict[str, bytes] = {}
    # So many pixels a millimetre has the photo in its middle.
    dense = view.focal * view.width / float(np.linalg.norm(view.place)) * _DENSER
    rng = scene.faces.rng("gloss")
    gloss = f"specular {rng.uniform(0.05, 0.45):.3f} roughness {rng.uniform(0.01, 0.06):.4f}"
    parts = [view.sdl(), lamps.sdl(), table(scene.faces.seed)]
    corners = []
    for flat in scene.flats:
        picture = _file(files, flat.picture, flat.size, dense)
        parts.append(_sheet(flat.size, picture, flat.at, flat.turn, flat.z, (0, 0), gloss))
    for card in scene.cards:
        picture = _file(files, scene.faces.face(card.name), scene.faces.size, dense, card.name)
        z = 0.4 + THICK * card.level
        parts.append(_sheet(scene.faces.size, picture, card.at, card.turn, z, card.bend, gloss))
        own = _corners(scene.faces.size)
        high = z + _heights(own, scene.faces.size, card.bend)
        corners.append(view.project(np.column_stack([_turned(own, card.turn) + card.at, high])))
    for dome in scene.domes:
        parts.append(_dome(scene.faces, dome, files))
    for colour, at in scene.thalers:
        parts.append(_thaler(scene.faces, colour, at))
    for arm in scene.arms:
        parts.append(_arm(arm))
    image = povray.render("".join(parts), view.width, view.height, seed=seed, files=files)
    jpeg = povray.develop(image, seed, light=view.seed if light is None else light)
    shown = np.asarray(cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR), np.uint8)
    tops = [tuple(map(float, view.project([[*dome.at, DOME_MM]])[0])) for dome in scene.domes]
    return CardShot(shown, tuple(corners), tuple((x, y) for x, y in tops), jpeg)


def table(seed: int) -> str:
    """Return the table: felt, wood or a plain desk of one colour."""
    rng = np.random.default_rng([62, seed])
    colour = np.array(ink_of(float(rng.uniform()), float(rng.uniform(0.1, 0.5)), float(rng.uniform(0.25, 0.6)))) / 255
    low, high = (vector(*(colour * k)) for k in (0.93, 1.05))
    kinds = ("bozo scale 1.2", "wood turbulence 0.08 scale <9, 9, 60> rotate x * 88", "bozo scale 300")
    ink = f"pigment {{ {kinds[int(rng.integers(3))]} color_map {{ [0 srgb {low}] [1 srgb {high}] }} }}"
    return f"plane {{ z, 0 {ink} finish {{ diffuse 0.8 }} }}\n"


def _corners(size: tuple[float, float]) -> Floats:
    """Return a card's corners, clockwise from its own upper left."""
    wide, high = size
    return np.array([[-wide, high], [wide, high], [wide, -high], [-wide, -high]]) / 2


def _turned(points: Floats, turn: float) -> Floats:
    c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    return np.asarray(points @ np.array([[c, s], [-s, c]]), float)


def _heights(points: Floats, size: tuple[float, float], bend: tuple[float, float]) -> Floats:
    """Return how much higher a bent card is at its own points (n, 2); nowhere below the table."""
    along, across = (2 * points[:, 1] / size[1]) ** 2, (2 * points[:, 0] / size[0]) ** 2
    lowest = min(0.0, bend[0]) + min(0.0, bend[1])
    return np.asarray(bend[0] * along + bend[1] * across - lowest, float)


def _file(
    files: dict[str, bytes], picture: Pictures.Image, size: tuple[float, float], dense: float, name: str = ""
) -> str:
    """Keep a picture as a file of the scene, as dense as the photo shows it, and return its name."""
    called = (name or f"print{len(files)}").replace("/", "_") + ".png"
    if called not in files:
        wide, high = (max(8, round(side * dense)) for side in size)
        if wide < picture.width:
            picture = picture.resize((wide, high), Pictures.Resampling.LANCZOS)
        buffer = io.BytesIO()
        picture.save(buffer, "PNG")
        files[called] = buffer.getvalue()
    return called


def _sheet(
    size: tuple[float, float], picture: str, at: Place, turn: float, z: float, bend: tuple[float, float], gloss: str
) -> str:
    """Return a bent sheet with a picture on it."""
    u, v = np.meshgrid(np.linspace(0, 1, _COLUMNS + 1), np.linspace(0, 1, _ROWS + 1))
    flat = np.column_stack([(u.ravel() - 0.5) * size[0], (v.ravel() - 0.5) * size[1]])
    high = _heights(flat, size, bend)
    slopes = np.column_stack([-8 * bend[1] * flat[:, 0] / size[0] ** 2, -8 * bend[0] * flat[:, 1] / size[1] ** 2])
    number = np.arange((_ROWS + 1) * (_COLUMNS + 1)).reshape(_ROWS + 1, -1)
    a, b, c, d = (n.ravel() for n in (number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]))
    faces = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])

    def listed(rows: Sequence[str]) -> str:
        return f"{len(rows)}, " + ", ".join(rows)

    points = listed([vector(x, y, h) for (x, y), h in zip(flat, high, strict=True)])
    normals = listed([vector(x, y, 1) for x, y in slopes])
    where = listed([vector(x, y) for x, y in zip(u.ravel(), v.ravel(), strict=True)])
    three = listed([f"<{i}, {j}, {k}>" for i, j, k in faces])
    return (
        f"mesh2 {{ vertex_vectors {{ {points} }} normal_vectors {{ {normals} }} uv_vectors {{ {where} }}"
        f' face_indices {{ {three} }} uv_mapping pigment {{ image_map {{ png "{picture}" interpolate 2 }} }}'
        f" finish {{ diffuse 0.8 {gloss} }} rotate z * {turn:.3f} translate {vector(*at, z)} }}\n"
    )


def sticker(number: int) -> Pictures.Image:
    """Return the kit's print for an igloo."""
    dots, rim = 8, 4.5
    size = round((MODULES * STICKER_MODULE_MM + 2 * rim) * dots)
    image = np.full((size, size), 255, np.uint8)
    for box in marker_boxes(10 + number, rim, rim, STICKER_MODULE_MM):
        left, right = round(box.x * dots), round((box.x + box.width) * dots)
        image[round(box.y * dots) : round((box.y + box.height) * dots), left:right] = round(255 * box.grey)
    return Pictures.fromarray(image).convert("RGBA")


def _dome(faces: Faces, dome: Dome, files: dict[str, bytes]) -> str:
    """Return an igloo of snow with courses of blocks, its thaler stuck in the notch on top."""
    shade, blue, lean, wide = _igloos_of(faces)
    snow = paint((shade - 0.02, shade, min(1.0, shade + blue)), "specular 0.1 roughness 0.05")
    r = DOME_MM
    ball = f"intersection {{ sphere {{ 0, {r} }} plane {{ -z, 0 }} }}"
    grooves = "".join(
        f"torus {{ {np.sqrt(r * r - z * z):.3f}, 0.5 rotate x * 90 translate z * {z:.3f} }} " for z in (5.0, 10.5, 15.5)
    )
    turn = dome.turn
    if dome.number is not None:
        name = _file(files, sticker(dome.number), (STICKER_MM, STICKER_MM), 6.0, f"sticker{dome.number}")
        body = f"difference {{ sphere {{ z * {r}, {r} }} plane {{ -z, {-r} }} texture {{ {snow} }} }}"
        label = _sheet((STICKER_MM, STICKER_MM), name, (0, 0), 0, r + 0.2, (0, 0), "")
        return povray.placed(body + label, *dome.at, 0.8, turn)
    coin = ""
    if dome.colour:
        lacquer = _lacquer(dome.colour)
        up = r + 0.8 * wide * float(np.sin(np.radians(lean)))
        lies = f"rotate x * {lean:.2f} translate z * {up:.2f}"
        coin = f"cylinder {{ -z, z * 1.2, {wide:.2f} {lies} texture {{ {lacquer} }} }}"
    notch = f"box {{ <-9, -1.5, {r - 4}>, <9, 1.5, {r + 2}> }}"
    door = f"intersection {{ cylinder {{ <0, -{r + 4}, 0>, <0, -8, 0>, 8 }} plane {{ -z, 0 }} texture {{ {snow} }} }}"
    body = f"difference {{ {ball} {grooves} {notch} texture {{ {snow} }} }}"
    return povray.placed(body + door + coin, *dome.at, 0.8, turn)


def _igloos_of(faces: Faces) -> tuple[float, float, float, float]:
    """Return a box's igloos: how light and how blue, how a thaler leans (degrees), and its radius (mm)."""
    rng = faces.rng("dome")
    low, high = (0.85, 0.0, 0.0, 7.5), (0.97, 0.05, 35.0, 10.0)
    shade, blue, lean, wide = (float(rng.uniform(*ends)) for ends in zip(low, high, strict=True))
    return shade, blue, lean, wide


def _lacquer(colour: str) -> str:
    return paint(COINS[colour], "specular 0.3 roughness 0.03")


def _thaler(faces: Faces, colour: str, at: Place) -> str:
    """Return a thaler that lies on the table or on a card."""
    *_, wide = _igloos_of(faces)
    ends = f"{vector(*at, 1.2)}, {vector(*at, 3.4)}"
    return f"cylinder {{ {ends}, {wide:.2f} texture {{ {_lacquer(colour)} }} }}\n"


def _arm(arm: Arm) -> str:
    """Return a hand over a point, its arm coming from the side where its player sits."""
    skin = paint((0.82, 0.6, 0.48), "specular 0.05")
    fingers = "".join(
        f"sphere_sweep {{ linear_spline 2, <{11 * k}, 0, 18>, 8, <{8 * k}, -70, 34>, 9 }} " for k in (-2, -1, 0, 1)
    )
    palm = "sphere { 0, 1 scale <36, 48, 16> translate <-4, -95, 36> }"
    cloth = paint((0.2, 0.22, 0.3))
    sleeve = f"cone {{ <0, -120, 40>, 30, <60, -700, 90>, 50 texture {{ {cloth} }} }}"
    whole = f"union {{ {fingers} {palm} {sleeve} texture {{ {skin} }} }}"
    return povray.placed(whole, *arm.at, turn=arm.side)


def towards(at: Place, side: float, far: float) -> Place:
    """Return the point so many millimetres from another towards a side of the table (see :class:`Arm`)."""
    way = np.radians(side)
    return at[0] + far * float(np.sin(way)), at[1] - far * float(np.cos(way))


# --- scenes ----------------------------------------------------------------------------------------------------------


def sheet(faces: Faces, names: Sequence[str], columns: int, seed: int) -> TracedScene:
    """Return cards laid out row by row, a little askew and bent."""
    rng = np.random.default_rng([63, seed])
    wide, high = faces.size
    rows = -(-len(names) // columns)
    cards = []
    for index, name in enumerate(names):
        row, column = divmod(index, columns)
        x = (column - (columns - 1) / 2) * (wide + 9) + float(rng.normal(0, 1.2))
        y = ((rows - 1) / 2 - row) * (high + 9) + float(rng.normal(0, 1.2))
        cards.append(TracedCard(name, (x, y), float(rng.normal(0, 1.2)), bend=bent(rng)))
    return TracedScene(faces, tuple(cards))


def bent(rng: np.random.Generator) -> tuple[float, float]:
    """Return how a card lies bent."""
    return float(rng.normal(0, 0.6)), float(rng.normal(0, 0.3))


def sheet_shot(faces: Faces, names: Sequence[str], first: int, attempt: int = 0, width: int = 2000) -> CardShot:
    """Return a photo of a sheet in rows of six; each ``attempt`` from another side."""
    wide, high = faces.size
    across, deep = 6 * (wide + 9) + 24, -(-len(names) // 6) * (high + 9) + 24
    seed = faces.seed * 1000 + first * 7 + attempt
    view = TracedView(seed, across, deep, width, width * 3 // 4, tilt=(0, 12))
    return trace(sheet(faces, names, 6, first), view, Lamps(seed), seed)


def circle(faces: Faces, names: Sequence[str], seed: int) -> TracedScene:
    """Return cards in a circle, clockwise from the far side, each turned as it comes."""
    rng = np.random.default_rng([64, seed])
    cards = []
    for index, name in enumerate(names):
        angle = 2 * np.pi * index / len(names)
        far = 152 + float(rng.normal(0, 4))
        at = (float(np.sin(angle)) * far * 1.15, float(np.cos(angle)) * far)
        cards.append(TracedCard(name, at, float(rng.normal(0, 25)) + 180.0 * (rng.random() < 0.3), bend=bent(rng)))
    return TracedScene(faces, tuple(cards))


def on_card(card: TracedCard, along: float, across: float) -> Place:
    """Return a point of a card, so many millimetres up and to the right of its middle as it lies."""
    x, y = _turned(np.array([[across, along]]), card.turn)[0] + card.at
    return float(x), float(y)


def fan(
    faces: Faces, names: Sequence[str], seed: int, *, shown: float = 0.3, at: Place = (0.0, 0.0), curve: float = 1.5
) -> TracedScene:
    """Return a pile, bottom card first, fanned out from left to right, ``shown`` of each card's width."""
    rng = np.random.default_rng([65, seed])
    step = shown * faces.size[0]
    along = float(rng.normal(0, 0.5))
    cards = []
    for index, name in enumerate(names):
        off = index - (len(names) - 1) / 2
        x = at[0] + off * step + float(rng.normal(0, step * 0.05))
        y = at[1] - 0.5 * np.radians(curve) / step * (x - at[0]) ** 2 + float(rng.normal(0, 1.0))
        turn = -curve * off + float(rng.normal(0, 1.0))
        cards.append(TracedCard(name, (x, float(y)), turn, 1.3 * index, (along, 0.0)))
    return TracedScene(faces, tuple(cards))
