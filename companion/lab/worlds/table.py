"""A rendered table: printed markers beside a board, seen by a camera whose every number is known.

The marker cards are ray-traced (36 rays a pixel) against their exact geometry, so the corners that a test compares
with are true to a hundredth of a pixel; table and board art are only background. Light is computed linearly and
coded with the sRGB curve at the end, as cameras do. Lengths are millimetres, x to the right, y towards the near
side, z up from the table; pixels have their centres at whole numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Image = NDArray[np.uint8]

RAYS = 6
BLACK, WHITE = 0.035, 0.82


@dataclass(frozen=True)
class TableCard:
    """A printed marker: ``at`` is its centre, ``turn`` its angle on the table, ``slope`` how far it stands up."""

    id: int
    at: tuple[float, float]
    side: float = 48.0
    turn: float = 0.0
    slope: float = 0.0
    lift: float = 0.3
    mirrored: bool = False
    dictionary: int = cv2.aruco.DICT_4X4_50
    modules: int = 6

    @property
    def frame(self) -> Floats:
        """Return (3, 3): columns are the card's x and y axes (of one millimetre) and its centre, in the world."""
        turn, slope = math.radians(self.turn), math.radians(self.slope)
        x = np.array([math.cos(turn), math.sin(turn), 0.0])
        y = np.array([-math.sin(turn) * math.cos(slope), math.cos(turn) * math.cos(slope), math.sin(slope)])
        centre = np.array([*self.at, self.lift + abs(y[2]) * self.side / 2])
        return np.column_stack([-x if self.mirrored else x, y, centre])

    def corners(self) -> Floats:
        """Return (4, 2): the black square's corners on the card, clockwise from its own top left."""
        h = self.side / 2
        return np.array([[-h, -h], [h, -h], [h, h], [-h, h]])


def cards(
    width: float = 520, height: float = 380, *, loose: float = 0.0, seed: int = 0, **more: object
) -> list[TableCard]:
    """Return the four cards clockwise from the far left; ``loose`` moves (mm) and turns (a third as many °) them."""
    rng = np.random.default_rng(seed)
    places = [(-width / 2, -height / 2), (width / 2, -height / 2), (width / 2, height / 2), (-width / 2, height / 2)]
    laid = []
    for number, (x, y) in enumerate(places):
        dx, dy, turn = rng.uniform(-1, 1, 3)
        at = (x + loose * dx, y + loose * dy)
        laid.append(TableCard(number, at, turn=turn * loose / 3, **more))  # type: ignore[arg-type]
    return laid


@dataclass(frozen=True)
class PinholeCamera:
    """A camera that looks at ``target`` from ``distance``, leaning ``tilt`` degrees from straight down."""

    width: int = 1280
    height: int = 960
    distance: float = 900.0
    tilt: float = 12.0
    azimuth: float = 0.0
    roll: float = 0.0
    target: tuple[float, float] = (0.0, 0.0)
    focal: float = 1250.0
    k1: float = 0.0
    k2: float = 0.0

    @cached_property
    def pose(self) -> tuple[Floats, Floats]:
        """Return rotation (3, 3) and centre (3,): the camera stands on the near side, turned by ``azimuth``."""
        tilt, around, roll = (math.radians(v) for v in (self.tilt, self.azimuth, self.roll))
        away = np.array([math.sin(tilt) * math.sin(around), math.sin(tilt) * math.cos(around), math.cos(tilt)])
        centre = np.array([*self.target, 0.0]) + self.distance * away
        forward = -away
        # "up" in the picture is the far side of the table
        far = np.array([-math.sin(around), -math.cos(around), 0.0])
        down = -(far - forward * (far @ forward))
        down /= np.linalg.norm(down)
        right = np.cross(forward, down)  # x right, y near, z up is a left-handed world
        turn = np.array([[math.cos(roll), math.sin(roll)], [-math.sin(roll), math.cos(roll)]])
        right, down = turn @ np.vstack([right, down])
        return np.vstack([right, down, forward]), centre

    def project(self, points: Floats) -> Floats:
        """Return (n, 2) pixels of (n, 3) points in the world."""
        rotation, centre = self.pose
        seen = (points - centre) @ rotation.T
        flat = seen[:, :2] / seen[:, 2:]
        r2 = (flat**2).sum(axis=1, keepdims=True)
        flat = flat * (1 + self.k1 * r2 + self.k2 * r2**2)
        return np.asarray(flat * self.focal + [(self.width - 1) / 2, (self.height - 1) / 2])

    def rays(self, pixels: Floats) -> Floats:
        """Return (n, 2) undistorted rays of (n, 2) pixels (fixed-point iteration)."""
        bent = (pixels - [(self.width - 1) / 2, (self.height - 1) / 2]) / self.focal
        if not (self.k1 or self.k2):
            return bent
        flat = bent.copy()
        for _ in range(12):
            r2 = flat[:, :1] ** 2 + flat[:, 1:] ** 2
            flat = bent / (1 + self.k1 * r2 + self.k2 * r2**2)
        return flat

    def on_plane(self, rays: Floats, frame: Floats) -> Floats:
        """Return (n, 2): where rays meet the plane spanned by ``frame``, in its own coordinates."""
        rotation, centre = self.pose
        flat = np.column_stack([frame[:, 0], frame[:, 1], frame[:, 2] - centre])
        inverse = np.linalg.inv(rotation @ flat)
        # Written out: a matrix product of a million rows by three wakes every thread of the linear algebra.
        x, y = rays[:, 0], rays[:, 1]
        across, down, depth = (row[0] * x + row[1] * y + row[2] for row in inverse)
        return np.column_stack([across / depth, down / depth])


@dataclass(frozen=True)
class Light:
    """Lamp and sensor: everything that stands between the table and the file."""

    exposure: float = 0.9
    slope: float = 0.25
    warmth: float = 0.0
    blur: float = 0.8
    motion: float = 0.0
    noise: float = 0.006
    quality: int | None = 90
    glare: tuple[tuple[float, float, float, float], ...] = ()
    """Bright spots: x, y, radius in pixels, strength."""


@dataclass(frozen=True)
class TableScene:
    """What lies on the table."""

    cards: tuple[TableCard, ...]
    board: tuple[float, float] = (400.0, 340.0)
    thickness: float = 4.0
    art: int = 1
    hands: tuple[tuple[tuple[float, float], ...], ...] = ()
    """Skin-coloured polygons in pixels, in front of everything."""


@dataclass(frozen=True)
class Picture:
    """A rendered picture with its truth: ``corners`` of each card (4, 2) and of the ``board`` (4, 2), in pixels."""

    image: Image
    corners: dict[int, Floats]
    board: Floats
    jpeg: bytes = field(repr=False, default=b"")


def render(
    scene: TableScene, camera: PinholeCamera = PinholeCamera(), light: Light = Light(), seed: int = 0
) -> Picture:
    """Render a scene; the seed changes nothing but the sensor's noise."""
    linear = _background(scene, camera)
    truth: dict[int, Floats] = {}
    for card in scene.cards:
        _draw_card(linear, card, camera)
        world = np.column_stack([card.corners(), np.ones(4)]) @ card.frame.T
        truth[card.id] = camera.project(world)
    for hand in scene.hands:
        _draw_hand(linear, hand)
    image = _expose(linear, light, seed)
    jpeg = b""
    if light.quality is not None:
        image, jpeg = through_jpeg(image, light.quality)
    return Picture(image, truth, camera.project(_board_corners(scene)), jpeg)


def through_jpeg(image: Image, quality: int) -> tuple[Image, bytes]:
    """Return a picture as its file shows it, and the file."""
    jpeg = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()
    return of_jpeg(jpeg), jpeg


def of_jpeg(jpeg: bytes) -> Image:
    """Return the picture of a file."""
    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    return np.asarray(image, np.uint8)


def random_scene(seed: int, *, tilt: tuple[float, float] = (0, 25)) -> tuple[TableScene, PinholeCamera, Light]:
    """Return a scene, a camera and a light drawn from a seed: markers laid loosely, lens and lamp as they come."""
    rng = np.random.default_rng(seed)
    scene = TableScene(tuple(cards(loose=30, seed=seed)), art=seed)
    camera = PinholeCamera(
        distance=rng.uniform(850, 1050),
        tilt=rng.uniform(*tilt),
        azimuth=rng.uniform(-20, 20),
        roll=rng.uniform(-6, 6),
        target=(rng.uniform(-20, 20), rng.uniform(-20, 20)),
        k1=rng.uniform(-0.12, 0.04),
        k2=rng.uniform(-0.02, 0.02),
    )
    light = Light(
        exposure=rng.uniform(0.45, 1.0),
        slope=rng.uniform(-0.5, 0.5),
        warmth=rng.uniform(-0.2, 0.3),
        blur=rng.uniform(0.5, 1.4),
        noise=rng.uniform(0.002, 0.012),
        quality=int(rng.integers(70, 95)),
    )
    return scene, camera, light


def standard(seed: int = 0, *, hidden: bool = False, art: int = 1) -> Picture:
    """Return the table that other tests show: 1280×960, four markers; with ``hidden`` a hand covers marker 2."""
    scene = TableScene(tuple(cards(loose=20, seed=3)), art=art)
    if hidden:
        scene = replace(scene, hands=(((1279, 500), (1000, 640), (960, 900), (1279, 959)),))
    return render(scene, seed=seed)


def _board_corners(scene: TableScene) -> Floats:
    w, h = scene.board[0] / 2, scene.board[1] / 2
    z = scene.thickness
    return np.array([[-w, -h, z], [w, -h, z], [w, h, z], [-w, h, z]])


def _background(scene: TableScene, camera: PinholeCamera) -> NDArray[np.float32]:
    # Smooth maps: computed on every eighth pixel and interpolated.
    step = 8
    xs = np.arange(0, camera.width + step, step, dtype=float)
    ys = np.arange(0, camera.height + step, step, dtype=float)
    grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    rays = camera.rays(grid)
    fine_y, fine_x = np.mgrid[0 : camera.height, 0 : camera.width].astype(np.float32) / step

    def seen(texture: Image, centre: tuple[float, float, float], size: tuple[float, float], border: int) -> Image:
        frame = np.column_stack([[1.0, 0, 0], [0, 1.0, 0], centre])
        at = camera.on_plane(rays, frame)
        scale = np.array([texture.shape[1] / size[0], texture.shape[0] / size[1]])
        coarse = ((at + np.array(size) / 2) * scale - 0.5).reshape(len(ys), len(xs), 2).astype(np.float32)
        fine = cv2.remap(coarse, fine_x, fine_y, cv2.INTER_LINEAR)
        seen = cv2.remap(texture, fine[..., 0], fine[..., 1], cv2.INTER_LINEAR, borderMode=border)
        return np.asarray(seen, np.uint8)

    table = seen(_table_art(scene.art), (0, 0, 0), (1600, 1600), cv2.BORDER_REFLECT)
    board = _board_art(scene.art, scene.board)
    mask = np.full(board.shape[:2], 255, np.uint8)
    where = (0.0, 0.0, scene.thickness)
    cover = seen(mask, where, scene.board, cv2.BORDER_CONSTANT)[..., None] / np.float32(255)
    both = seen(board, where, scene.board, cv2.BORDER_REPLICATE) * cover + table * (1 - cover)
    light = (np.arange(256, dtype=np.float32) / 255) ** np.float32(2.2)
    return np.take(light, both.astype(np.uint8))


def _table_art(art: int) -> Image:
    rng = np.random.default_rng(1000 + art)
    base = rng.uniform(40, 190, 3)
    grain = cv2.resize(rng.normal(0, 1, (100, 12)).astype(np.float32), (400, 400), interpolation=cv2.INTER_CUBIC)
    return np.clip(base + grain[..., None] * rng.uniform(3, 14), 0, 255).astype(np.uint8)


def _board_art(art: int, size: tuple[float, float]) -> Image:
    rng = np.random.default_rng(2000 + art)
    width, height = int(size[0] * 2), int(size[1] * 2)
    image = np.empty((height, width, 3), np.uint8)
    image[:] = rng.integers(60, 230, 3)
    columns, rows = int(rng.integers(3, 11)), int(rng.integers(3, 11))
    for row in range(rows):
        for column in range(columns):
            box = (width * column // columns, height * row // rows, width // columns, height // rows)
            colour = tuple(int(v) for v in rng.integers(0, 256, 3))
            cv2.rectangle(image, box, colour, -1)
            cv2.rectangle(image, box, (20, 20, 20), 2)
            middle = (box[0] + box[2] // 2, box[1] + box[3] // 2)
            radius = int(min(box[2], box[3]) * rng.uniform(0.15, 0.45))
            cv2.circle(image, middle, radius, tuple(int(v) for v in rng.integers(0, 256, 3)), -1, cv2.LINE_AA)
    return np.asarray(cv2.GaussianBlur(image, (0, 0), 1.0), np.uint8)


def _draw_card(linear: NDArray[np.float32], card: TableCard, camera: PinholeCamera) -> None:
    module = card.side / card.modules
    reach = card.side / 2 + module * 1.4
    outline = np.array([[-reach, -reach, 1], [reach, -reach, 1], [reach, reach, 1], [-reach, reach, 1]])
    seen = camera.project(outline @ card.frame.T)
    x0, y0 = np.maximum(np.floor(seen.min(axis=0)).astype(int) - 2, 0)
    x1 = min(int(seen[:, 0].max()) + 3, camera.width)
    y1 = min(int(seen[:, 1].max()) + 3, camera.height)
    if x1 <= x0 or y1 <= y0:
        return
    offsets = (np.arange(RAYS) + 0.5) / RAYS - 0.5
    xs = (np.arange(x0, x1)[:, None] + offsets).ravel()
    ys = (np.arange(y0, y1)[:, None] + offsets).ravel()
    pixels = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    local = camera.on_plane(camera.rays(pixels), card.frame)
    bits = _bits(card)
    cell = np.floor(local / module + card.modules / 2).astype(int)
    inside = ((cell >= 0) & (cell < card.modules)).all(axis=1)
    cell = np.clip(cell, 0, card.modules - 1)
    value = np.where(inside & ~bits[cell[:, 1], cell[:, 0]], BLACK, WHITE)
    on_card = (np.abs(local) <= reach).all(axis=1)
    size = (x1 - x0, y1 - y0)
    light, cover = (
        cv2.resize(part.astype(np.float32).reshape(size[1] * RAYS, size[0] * RAYS), size, interpolation=cv2.INTER_AREA)
        for part in (value * on_card, on_card)
    )
    light, cover = light[..., None], cover[..., None]
    part = linear[y0:y1, x0:x1]
    part[:] = part * (1 - cover) + light


def _bits(card: TableCard) -> NDArray[np.bool_]:
    dictionary = cv2.aruco.getPredefinedDictionary(card.dictionary)
    return cv2.aruco.generateImageMarker(dictionary, card.id, card.modules) > 127


def _draw_hand(linear: NDArray[np.float32], polygon: tuple[tuple[float, float], ...]) -> None:
    mask = np.zeros(linear.shape[:2], np.uint8)
    cv2.fillPoly(mask, [np.round(np.array(polygon)).astype(np.int32)], 255, cv2.LINE_AA)
    cover = cv2.GaussianBlur(mask, (0, 0), 1.5)[..., None] / np.float32(255)
    linear *= 1 - cover
    linear += cover * np.array([0.16, 0.25, 0.45], np.float32)


def _expose(linear: NDArray[np.float32], light: Light, seed: int) -> Image:
    height, width = linear.shape[:2]
    across = np.linspace(-0.5, 0.5, width, dtype=np.float32)
    linear = linear * (light.exposure * (1 + light.slope * across))[None, :, None]
    linear *= np.array([1 - light.warmth, 1, 1 + light.warmth], np.float32)
    for x, y, radius, strength in light.glare:
        gy, gx = np.mgrid[0:height, 0:width].astype(np.float32)
        linear += (strength * np.exp(-((gx - x) ** 2 + (gy - y) ** 2) / (2 * radius**2)))[..., None]
    if light.motion:
        reach = max(3, int(light.motion * 2) | 1)
        kernel = np.zeros((1, reach), np.float32)
        kernel[0, :] = 1 / reach
        linear = np.asarray(cv2.filter2D(linear, -1, kernel), np.float32)
    if light.blur:
        linear = np.asarray(cv2.GaussianBlur(linear, (0, 0), light.blur), np.float32)
    # One generator of 8-bit noise, tiled, is quick and as good as a new number for every pixel.
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((height // 4, width), dtype=np.float32)
    noise = np.concatenate([np.roll(noise, int(shift), axis=1) for shift in rng.integers(0, width, 5)])[:height]
    linear += (noise * light.noise)[..., None] * np.sqrt(np.maximum(linear, 0.01))
    # The curve through a table of 4096 steps, finer than the noise.
    steps = np.arange(4097) / 4096
    curve = np.where(steps <= 0.0031308, steps * 12.92, 1.055 * steps ** (1 / 2.4) - 0.055)
    return np.take(np.round(curve * 255).astype(np.uint8), (np.clip(linear, 0, 1) * 4096 + 0.5).astype(np.uint16))
