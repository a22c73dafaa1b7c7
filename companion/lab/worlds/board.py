"""Rendered boards of places with things on them: pieces with height, shadows, a lens, a lamp, seen at an angle.

The board is drawn once as a texture and every few millimetres of height as a layer of its own; the layers are projected
one over the other, so tall pieces lean over their neighbours as they do in a photo. Lengths are millimetres as in
``table.py``, whose camera, lamp, markers and sensor are used. The truth is where the grid's corners are, to a
hundredth of a pixel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import cv2
import numpy as np

from companion.lab.worlds import table
from companion.lab.worlds.board_art import Art, Image, number_of
from companion.lab.worlds.table import Floats, Light, PinholeCamera, TableCard

LAYERS = 7
PRINTED = {"water", "land", "sea"}
"""Grounds that are printed on the board; the others are tiles."""
Places = Mapping[str, Any]


@dataclass(frozen=True)
class RenderedBoard:
    """A table with a board: ``places`` in the one form of a board, squares named ``a1`` …"""

    places: Places
    columns: float = 8
    rows: float = 8
    art: Art = field(default_factory=lambda: Art(1))
    seed: int = 0
    """Where things lie on their places."""
    square: float = 42.0
    frame: float = 0.35
    """Of a place: the board's printed rim around the grid."""
    thickness: float = 4.0
    loose: float = 0.04
    """Of a place: how far tiles lie from their places' middles."""
    turned: float = 1.5
    """Degrees: how askew tiles lie."""
    any_way: bool = False
    """Tiles lie in any of four directions, each with one of ``arts`` pictures of its class."""
    arts: int = 1
    markers: float | None = 0.8
    """Of a place: how far beside the board the markers lie; None: there are none."""
    hands: tuple[tuple[tuple[float, float], ...], ...] = ()
    printed: tuple[str, ...] = ()
    """Kinds of things that are printed on the tile, not pieces."""
    spots: Mapping[str, tuple[float, float, float, float]] | None = None
    """The places of a board that is no grid: middle (from the far left corner) and width and height, in places."""


@dataclass(frozen=True)
class BoardShot:
    """A picture and its truth: ``grid`` (4, 2) are the grid's corners in pixels, clockwise from the far left."""

    image: table.Image
    grid: Floats
    cards: dict[int, Floats]
    camera: PinholeCamera
    board: RenderedBoard
    points: Floats = field(repr=False, default_factory=lambda: np.zeros((0, 2)))
    """All crossings of the grid, row by row from the far left."""
    jpeg: bytes = field(repr=False, default=b"")


def shoot(board: RenderedBoard, camera: PinholeCamera, light: Light, seed: int = 0) -> BoardShot:
    """Render a board."""
    cards = _cards(board)
    linear = table._background(table.TableScene((), (1.0, 1.0), 0.0, board.art.seed % 97), camera)
    margin = 1.0
    textures = _textures(board, margin)
    frames = _heights(board)
    truth: dict[int, Floats] = {}
    for card in cards:
        table._draw_card(linear, card, camera)
        truth[card.id] = camera.project(np.column_stack([card.corners(), np.ones(4)]) @ card.frame.T)
    light_table = (np.arange(256, dtype=np.float32) / 255) ** np.float32(2.2)
    for (colour, cover), z in zip(textures, frames, strict=True):
        seen = _project(np.dstack([colour, cover * 255]), board, margin, z, camera)
        alpha = seen[..., 3:] / np.float32(255)
        if alpha.max() > 0:
            drawn = np.clip(seen[..., :3] / np.maximum(alpha, 1e-3), 0, 255)
            linear *= 1 - alpha
            linear += np.take(light_table, drawn.astype(np.uint8)) * alpha
    for hand in board.hands:
        table._draw_hand(linear, hand)
    image = table._expose(linear, light, seed)
    jpeg = b""
    if light.quality is not None:
        image, jpeg = table.through_jpeg(image, light.quality)
    return BoardShot(
        image, camera.project(_corners(board)), truth, camera, board, camera.project(_crossings(board)), jpeg
    )


def random_view(
    seed: int, board: RenderedBoard, *, tilt: tuple[float, float] = (0, 25), scale: float = 1.0
) -> tuple[PinholeCamera, Light]:
    """Return a camera that sees the whole board (and its markers), and a lamp, drawn from a seed."""
    rng = np.random.default_rng([7, seed])
    wide = board.columns * board.square + 2 * board.square * (
        0.4 + (board.markers or 0) + (1.2 if board.markers else 0)
    )
    high = board.rows * board.square + 2 * board.square * board.frame + 30
    focal = rng.uniform(1000, 1500) * scale
    width, height = int(1280 * scale), int(960 * scale)
    lean = float(rng.uniform(*tilt))
    distance = max(wide * focal / width, high * focal / height) * rng.uniform(1.04, 1.2) + 0.3 * high * np.sin(
        np.radians(lean)
    )
    camera = PinholeCamera(
        width=width,
        height=height,
        distance=float(distance),
        tilt=lean,
        azimuth=float(rng.uniform(-12, 12)),
        roll=float(rng.uniform(-4, 4)),
        target=(float(rng.uniform(-6, 6)), float(rng.uniform(-6, 6))),
        focal=float(focal),
        k1=float(rng.uniform(-0.12, 0.04)),
        k2=float(rng.uniform(-0.02, 0.02)),
    )
    light = Light(
        exposure=float(rng.uniform(0.5, 0.95)),
        slope=float(rng.uniform(-0.45, 0.45)),
        warmth=float(rng.uniform(-0.2, 0.25)),
        blur=float(rng.uniform(0.5, 1.2)) * scale,
        noise=float(rng.uniform(0.002, 0.01)),
        quality=int(rng.integers(75, 95)),
        glare=(
            (
                float(rng.uniform(0, width)),
                float(rng.uniform(0, height)),
                float(rng.uniform(20, 60)),
                float(rng.uniform(0, 0.25)),
            ),
        ),
    )
    return camera, light


def other_light(seed: int, light: Light) -> Light:
    """Return a lamp and sensor of another sort: stronger slopes and tints, two reflections, shake, coarser JPEG."""
    rng = np.random.default_rng([11, seed])
    spots = tuple(
        (
            float(rng.uniform(0, 1280)),
            float(rng.uniform(0, 960)),
            float(rng.uniform(30, 110)),
            float(rng.uniform(0, 0.15)),
        )
        for _ in range(2)
    )
    return replace(
        light,
        exposure=float(rng.uniform(0.4, 1.05)),
        slope=float(rng.uniform(-0.6, 0.6)),
        warmth=float(rng.uniform(-0.3, 0.3)),
        motion=float(rng.uniform(0, 1.5)),
        noise=float(rng.uniform(0.003, 0.014)),
        quality=int(rng.integers(62, 92)),
        glare=spots,
    )


def nearby(camera: PinholeCamera, light: Light, seed: int, move: float = 1.0) -> tuple[PinholeCamera, Light]:
    """Return the same camera and lamp a while later: moved and changed by ``move`` times a little."""
    rng = np.random.default_rng([8, seed])
    camera = replace(
        camera,
        distance=camera.distance * float(1 + 0.01 * move * rng.normal()),
        tilt=max(0.0, camera.tilt + float(0.6 * move * rng.normal())),
        azimuth=camera.azimuth + float(0.8 * move * rng.normal()),
        roll=camera.roll + float(0.5 * move * rng.normal()),
        target=(camera.target[0] + float(2 * move * rng.normal()), camera.target[1] + float(2 * move * rng.normal())),
    )
    light = replace(
        light,
        exposure=light.exposure * float(np.exp(0.06 * move * rng.normal())),
        slope=light.slope + float(0.05 * move * rng.normal()),
        warmth=light.warmth + float(0.02 * move * rng.normal()),
    )
    return camera, light


def _cards(board: RenderedBoard) -> list[TableCard]:
    if board.markers is None:
        return []
    rng = np.random.default_rng([9, board.seed // 1000, board.art.seed])
    off = board.square * (board.frame + board.markers)
    wide = board.columns * board.square / 2 + off
    high = board.rows * board.square / 2 - board.square * 0.4
    cards = []
    for number, (x, y) in enumerate([(-wide, -high), (wide, -high), (wide, high), (-wide, high)]):
        dx, dy = rng.uniform(-0.15, 0.15, 2) * board.square
        cards.append(
            TableCard(number, (x + float(dx), y + float(dy)), side=0.8 * board.square, turn=float(rng.uniform(-8, 8)))
        )
    return cards


def _corners(board: RenderedBoard) -> Floats:
    w, h = board.columns * board.square / 2, board.rows * board.square / 2
    z = board.thickness
    return np.array([[-w, -h, z], [w, -h, z], [w, h, z], [-w, h, z]])


def _crossings(board: RenderedBoard) -> Floats:
    x = (np.arange(board.columns + 1) - board.columns / 2) * board.square
    y = (np.arange(board.rows + 1) - board.rows / 2) * board.square
    both = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    return np.column_stack([both, np.full(len(both), board.thickness)])


def _heights(board: RenderedBoard) -> list[float]:
    """Return the height of each layer: the board, then tokens, then the layers of pieces."""
    tops = [0.0, 0.04, *np.linspace(0.1, 0.6, LAYERS)]
    return [board.thickness + board.square * float(top) for top in tops]


def _project(texture: Image, board: RenderedBoard, margin: float, z: float, camera: PinholeCamera) -> Image:
    step = 16
    xs = np.arange(0, camera.width + step, step, dtype=float)
    ys = np.arange(0, camera.height + step, step, dtype=float)
    grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    frame = np.column_stack([[1.0, 0, 0], [0, 1.0, 0], [0, 0, z]])
    at = camera.on_plane(camera.rays(grid), frame) / board.square + [
        board.columns / 2 + margin,
        board.rows / 2 + margin,
    ]
    coarse = (at * board.art.cell - 0.5).reshape(len(ys), len(xs), 2).astype(np.float32)
    fine_y, fine_x = np.mgrid[0 : camera.height, 0 : camera.width].astype(np.float32) / step
    fine = cv2.remap(coarse, fine_x, fine_y, cv2.INTER_LINEAR)
    # A texture finer than the picture is averaged first, or small print would flicker.
    apparent = camera.focal / camera.distance * board.square / board.art.cell
    if apparent < 0.8:
        texture = np.asarray(cv2.GaussianBlur(texture, (0, 0), 0.45 / apparent), np.float32)
    seen = cv2.remap(texture, fine[..., 0], fine[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
    return np.asarray(seen, np.float32)


def _textures(board: RenderedBoard, margin: float) -> list[tuple[Image, Image]]:
    """Return (colour, cover) of each layer."""
    cell, art = board.art.cell, board.art
    height, width = round((board.rows + 2 * margin) * cell), round((board.columns + 2 * margin) * cell)
    layers = [
        (np.zeros((height, width, 3), np.float32), np.zeros((height, width), np.float32)) for _ in _heights(board)
    ]
    base, cover = layers[0]
    rim = round((margin - board.frame) * cell)
    cover[rim : height - rim, rim : width - rim] = 1
    own = art.rng("frame")
    base[:] = own.uniform(40, 215, 3)
    grain = cv2.resize(own.normal(0, 1, (40, 40)).astype(np.float32), (width, height), interpolation=cv2.INTER_CUBIC)
    base += grain[..., None] * own.uniform(3, 12)
    shadow = np.zeros((height, width), np.float32)
    lamp = art.rng("lamp", board.seed // 1000).normal(0, 0.5, 2)
    for name, (x, y, wide, high) in _spots(board).items():
        place = board.places.get(name) or {"ground": "water", "things": []}
        if (wide, high) == (1.0, 1.0):
            _lay_tile(base, board, name, place, round((x - 0.5 + margin) * cell), round((y - 0.5 + margin) * cell))
        else:
            _print_ground(base, art, place["ground"], (x + margin, y + margin), (wide, high))
        _lay_things(layers, shadow, board, name, place, (x + margin, y + margin), lamp, (wide, high))
    soft = cv2.GaussianBlur(shadow, (0, 0), cell * 0.05)
    base *= 1 - 0.45 * np.minimum(soft, 1)[..., None]
    np.clip(base, 0, 255, out=base)
    return layers


def _spots(board: RenderedBoard) -> Mapping[str, tuple[float, float, float, float]]:
    """Return each place's middle, width and height, in places; those of a grid are squares named from the near left."""
    if board.spots is not None:
        return board.spots
    columns, rows = round(board.columns), round(board.rows)
    return {
        f"{chr(97 + column)}{rows - row}": (column + 0.5, row + 0.5, 1.0, 1.0)
        for row in range(rows)
        for column in range(columns)
    }


def _print_ground(base: Image, art: Art, ground: str, middle: tuple[float, float], size: tuple[float, float]) -> None:
    """Print a ground that is no tile, as large as it is: a strip of the board."""
    (x, y), (wide, high), cell = middle, size, art.cell
    left, far = round((x - wide / 2) * cell), round((y - high / 2) * cell)
    drawn = cv2.resize(art.ground(ground, 0), (round(wide * cell), round(high * cell)))
    base[far : far + drawn.shape[0], left : left + drawn.shape[1]] = drawn


def _lay_tile(base: Image, board: RenderedBoard, name: str, place: Any, x: int, y: int) -> None:
    art, cell = board.art, board.art.cell
    ground = place["ground"]
    # What a tile looks like and how it lies stays the same as long as it is that tile.
    rng = art.rng("lies", board.seed // 1000, name, ground)
    variant = int(rng.integers(0, board.arts)) if board.any_way else int(rng.integers(0, 6))
    tile = art.ground(ground, variant).copy()
    for thing in place["things"]:
        if thing["kind"] in board.printed:
            _print_on(tile, art, thing)
    if board.any_way:
        tile = np.ascontiguousarray(np.rot90(tile, int(rng.integers(0, 4))))
    if ground in PRINTED:
        base[y : y + cell, x : x + cell] = tile
        cv2.rectangle(
            base, (x, y), (x + cell, y + cell), tuple(float(v) * 0.6 for v in art.base("water")), max(1, cell // 60)
        )
        return
    angle, (dx, dy) = float(rng.normal(0, board.turned / 2)), rng.uniform(-board.loose, board.loose, 2) * cell
    around = cv2.getRotationMatrix2D((cell / 2, cell / 2), angle, 1.0)
    around[:, 2] += (cell / 2 + dx, cell / 2 + dy)
    size = (2 * cell, 2 * cell)
    inside = np.zeros((cell, cell), np.float32)
    gap = max(1, round(board.art.gap * cell))
    inside[gap:-gap, gap:-gap] = 1
    mask = cv2.warpAffine(inside, around, size)
    drawn = cv2.warpAffine(tile, around, size, borderMode=cv2.BORDER_REPLICATE)
    half = cell // 2
    y0, x0 = y - half, x - half
    part = base[y0 : y0 + 2 * cell, x0 : x0 + 2 * cell]
    edge = cv2.GaussianBlur(cv2.dilate(mask, np.ones((3, 3))), (0, 0), cell / 40)
    part *= 1 - 0.4 * (edge * (1 - mask))[..., None]
    part += (drawn - part) * mask[..., None]


def _print_on(tile: Image, art: Art, thing: Any) -> None:
    rng = art.rng("print", thing["kind"])
    cell = art.cell
    colour = tuple(float(v) for v in rng.uniform(0, 255, 3))
    size = cell * 0.08
    many = int(thing.get("value", thing.get("count", 1)))
    for number in range(many):
        x, y = cell * (0.16 + 0.2 * number), cell * 0.16
        points = np.array([[-1, 1], [-1, -0.6], [-0.4, 0.2], [0, -1], [0.4, 0.2], [1, -0.6], [1, 1]]) * size + [x, y]
        cv2.fillPoly(tile, [np.round(points).astype(np.int32)], colour, cv2.LINE_AA)
        cv2.polylines(tile, [np.round(points).astype(np.int32)], True, (20, 20, 20), 1, cv2.LINE_AA)


def _lay_things(
    layers: list[tuple[Image, Image]],
    shadow: Image,
    board: RenderedBoard,
    name: str,
    place: Any,
    middle: tuple[float, float],
    lamp: Any,
    size: tuple[float, float] = (1.0, 1.0),
) -> None:
    art, cell = board.art, board.art.cell
    tops = [(z - board.thickness) / board.square for z in _heights(board)]
    pieces = []
    for thing in place["things"]:
        if thing["kind"] in board.printed:
            continue
        what = str(thing.get("colour", thing.get("value", "")))
        pieces += [(thing["kind"], what)] * int(thing.get("count", 1))
    pieces.sort(key=lambda piece: (piece[0] != "igloo", piece))
    rng = art.rng("things", board.seed, name, tuple(pieces))
    turn0 = rng.uniform(0, 2 * np.pi)
    for number, (kind, what) in enumerate(pieces):
        spread = 0.0 if len(pieces) == 1 else (0.2 if len(pieces) < 4 else 0.27)
        around = turn0 + 2 * np.pi * number / len(pieces)
        at = np.array(middle) + spread * np.array([np.cos(around), np.sin(around)]) + rng.normal(0, 0.04, 2)
        if max(size) > 1:
            at = np.array(middle) + _in_strip(number, len(pieces), size, name, board) + rng.normal(0, 0.04, 2)
        turn = float(rng.uniform(0, 2 * np.pi))
        cast = np.zeros_like(shadow)
        for part in art.slices(kind, what, turn):
            for index in range(1, len(tops)):
                if not (part.low <= tops[index] < part.high or (index == 1 and part.low == 0 and part.high <= 0.06)):
                    continue
                colour, cover = layers[index]
                _fill(colour, cover, (at + part.outline) * cell, part.colour)
                for outline, ink in part.top:
                    _fill(colour, cover, (at + outline) * cell, ink)
                _fill(None, cast, (at + part.outline + lamp * tops[index]) * cell, (1, 1, 1))
        np.maximum(shadow, cast, out=shadow)


def _in_strip(number: int, many: int, size: tuple[float, float], name: str, board: RenderedBoard) -> Floats:
    """Return where the n-th of so many pieces stands on a strip, from its middle: anywhere, in two files if it must."""
    order = board.art.rng("strip", board.seed, name).permutation(8)
    slot = int(order[number % 8])
    lengths = (np.arange(4) - 1.5) / 4 * (max(size) - 0.2)
    along, across = float(lengths[slot // 2]), (0.26 if slot % 2 else -0.26) * min(size)
    return np.array([across, along]) if size[1] > size[0] else np.array([along, across])


def _fill(colour: Image | None, cover: Image, points: Any, ink: Any) -> None:
    outline = [np.round(points * 16).astype(np.int32)]
    if colour is not None:
        cv2.fillPoly(colour, outline, ink, cv2.LINE_AA, 4)
    cv2.fillPoly(cover, outline, 1.0, cv2.LINE_AA, 4)


def random_places(
    seed: int, columns: int, rows: int, grounds: list[str], things: list[dict[str, Any]], full: float = 0.4
) -> dict[str, Any]:
    """Return a board of random tiles: each place a ground, and with probability ``full`` one of ``things``."""
    rng = np.random.default_rng([10, seed, number_of(",".join(grounds))])
    places = {}
    for row in range(rows):
        for column in range(columns):
            here = [dict(things[int(rng.integers(len(things)))])] if things and rng.random() < full else []
            places[f"{chr(97 + column)}{rows - row}"] = {"ground": str(rng.choice(grounds)), "things": here}
    return places
