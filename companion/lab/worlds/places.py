"""Places of boards that nobody made: what a reader learns from before it sees any table.

A :class:`World` is a game drawn from a seed: its grounds, its sorts of things (pieces of any form and height, tokens
with digits, pips or icons, printed marks), its light and its camera. A :class:`Scene` is one place of it with what is
around it. Nothing is taken from a table, a photo or a shipped layout. The same seeds draw the same pictures bit for bit
with the same OpenCV and numpy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from companion.lab.worlds.board_art import bgr
from companion.lab.worlds.digits import draw_digit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray

    Floats = NDArray[np.float32]
    Point = tuple[float, float]
    Colour = tuple[float, float, float]

SCENE: Final = 96
"""Pixels of a scene, across; its middle :data:`PLACE` are the place itself."""
PLACE: Final = 60
_FINE: Final = 2
"""A scene is drawn so much larger and averaged."""
_BIG: Final = _FINE * SCENE
_UNIT: Final = _FINE * PLACE
_SEEN: Final = 0.3
"""A thing of which less is seen is not to be found, nor to be missed."""
_FORMS: Final = ("pawn", "dome", "block", "disc", "cone", "figure", "ring")
_OUTLINES: Final = ("circle", "square", "hexagon", "shield")


@dataclass(frozen=True)
class DrawnSort:
    """A sort of thing: ``family`` are those that differ by colour or by print alone."""

    family: int
    form: str
    radius: float
    height: float
    colour: Colour
    ink: Colour
    print_: ByteArray | None = field(default=None, repr=False)
    outline: str = "circle"


@dataclass(frozen=True)
class Foot:
    """Where a thing stands in a scene: its ``sort``, and its foot in places from the middle of the place."""

    sort: int
    x: float
    y: float


@dataclass(frozen=True)
class Scene:
    """A place: ``picture`` (:data:`SCENE`, :data:`SCENE`, 3) BGR, its ``ground`` and all things seen in the picture.

    ``hidden`` are feet of things of which little is seen; ``covered`` tells whether a stranger (a hand, a cup) lies
    over it.
    """

    picture: ByteArray
    ground: int
    things: tuple[Foot, ...]
    hidden: tuple[Foot, ...]
    covered: bool


class World:
    """A game that was drawn from ``seed``: :meth:`scene` draws one of its places."""

    def __init__(self, seed: int) -> None:
        """Draw its grounds, its sorts and its light."""
        rng = np.random.default_rng([seed, 40])
        self.seed = seed
        self._tiles = [_ground(rng) for _ in range(int(rng.integers(3, 7)))]
        self._askew = float(rng.uniform(0, 0.06)) * (rng.random() < 0.7)
        self._gap = float(rng.uniform(0, 0.05)) * (rng.random() < 0.6)
        self._turned = bool(rng.random() < 0.6)
        self._rim = tuple(float(v) for v in rng.uniform(0, 255, 3))
        self.sorts: tuple[DrawnSort, ...] = tuple(_sorts(rng))
        self._families = sorted({sort.family for sort in self.sorts})
        self._crowd = float(rng.choice([0.6, 1.2, 2.2]))
        self._tilt = float(rng.uniform(0, 0.9))
        self._sun: Any = rng.normal(0, 1, 2)
        self._blur = float(rng.uniform(0.0, 1.3))
        self._noise = float(rng.uniform(0, 7))
        self._jpeg = int(rng.integers(45, 98))
        self._balance: Any = np.exp(rng.normal(0, 0.12, 3)) * np.exp(rng.normal(0, 0.2))

    @property
    def grounds(self) -> int:
        """Return how many grounds there are."""
        return len(self._tiles)

    def scene(self, number: int) -> Scene:
        """Draw one of the world's places."""
        rng = np.random.default_rng([self.seed, number, 41])
        canvas = np.empty((_BIG, _BIG, 3), np.uint8)
        canvas[:] = np.array(self._rim, np.uint8)
        ground = int(rng.integers(len(self._tiles)))
        for row in (-1, 0, 1):
            for column in (-1, 0, 1):
                here = ground if not row and not column else int(rng.integers(len(self._tiles)))
                self._lay(canvas, here, column, row, rng)
        owner = np.full((_BIG, _BIG), -1, np.int16)
        lean = rng.normal(0, 1, 2)
        lean *= self._tilt * rng.random() / (np.linalg.norm(lean) + 1e-6)
        feet = self._feet(rng)
        self._shadows(canvas, feet, rng)
        for index, thing in enumerate(feet):
            _stand(canvas, owner, index, self.sorts[thing.sort], (thing.x, thing.y), lean, rng)
        covered = bool(rng.random() < 0.06)
        if covered:
            _cover(canvas, owner, rng)
        things: list[Foot] = []
        hidden: list[Foot] = []
        visible = np.bincount(owner[owner >= 0], minlength=len(feet)) if feet else np.zeros(0)
        for index, thing in enumerate(feet):
            if max(abs(thing.x), abs(thing.y)) > 0.78:
                continue
            sort = self.sorts[thing.sort]
            whole = np.pi * (sort.radius * _UNIT) ** 2
            (things if visible[index] > _SEEN * whole else hidden).append(thing)
        return Scene(self._photographed(canvas, rng), ground, tuple(things), tuple(hidden), covered)

    def _lay(self, canvas: ByteArray, ground: int, column: int, row: int, rng: np.random.Generator) -> None:
        variants = self._tiles[ground]
        tile = variants[int(rng.integers(len(variants)))]
        quarter = int(rng.integers(4)) if self._turned else 0
        turn = quarter * np.pi / 2 + rng.normal(0, self._askew)
        scale = 1 - self._gap
        cos, sin = scale * np.cos(turn), scale * np.sin(turn)
        half = (_UNIT - 1) / 2
        off = rng.normal(0, self._askew / 3, 2)
        cx, cy = (_BIG / 2 + (at + o) * _UNIT for at, o in ((column, off[0]), (row, off[1])))
        matrix = np.array([[cos, -sin, cx - cos * half + sin * half], [sin, cos, cy - sin * half - cos * half]])
        cv2.warpAffine(
            tile, matrix, (_BIG, _BIG), dst=canvas, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_TRANSPARENT
        )

    def _feet(self, rng: np.random.Generator) -> list[Foot]:
        """Return where things stand, from the far side to the near one; heaps are of one family."""
        feet: list[Foot] = []
        for _ in range(int(rng.poisson(self._crowd))):
            heaped = feet and rng.random() < 0.5
            family = self.sorts[feet[-1].sort].family if heaped else int(rng.choice(self._families))
            same = [k for k, sort in enumerate(self.sorts) if sort.family == family]
            sort = feet[-1].sort if heaped and rng.random() < 0.4 else int(rng.choice(same))
            reach = max(0.52 - 0.8 * self.sorts[sort].radius, 0.06)
            for _ in range(8):
                x, y = rng.uniform(-reach, reach, 2)
                if self.sorts[sort].form == "mark" and rng.random() < 0.8:
                    x, y = np.sign([x, y]) * 0.5 - np.sign([x, y]) * (self.sorts[sort].radius + 0.04)
                near = [np.hypot(x - o.x, y - o.y) for o in feet]
                apart = rng.uniform(0.5, 1.0) * 2 * self.sorts[sort].radius
                if not near or min(near) > apart:
                    feet.append(Foot(sort, float(x), float(y)))
                    break
        for side in range(4):
            if rng.random() < 0.3:
                sort = int(rng.integers(len(self.sorts)))
                along, away = rng.uniform(-0.5, 0.5), rng.uniform(0.6, 1.0)
                x, y = ((along, -away), (away, along), (along, away), (-away, along))[side]
                feet.append(Foot(sort, float(x), float(y)))
        return sorted(feet, key=lambda thing: (self.sorts[thing.sort].height > 0.1, thing.y))

    def _shadows(self, canvas: ByteArray, feet: list[Foot], rng: np.random.Generator) -> None:
        if not feet or rng.random() < 0.25:
            return
        shade = np.zeros((SCENE, SCENE), np.uint8)
        for thing in feet:
            sort = self.sorts[thing.sort]
            if sort.form == "mark":
                continue
            for step in (0.0, 0.5, 1.0):
                x, y = (np.array([thing.x, thing.y]) + self._sun * (0.02 + 0.35 * sort.height * step)).tolist()
                at = (round(SCENE / 2 + x * PLACE), round(SCENE / 2 + y * PLACE))
                cv2.circle(shade, at, max(round(sort.radius * PLACE * (1 - 0.3 * step)), 1), 255, -1)
        soft = cv2.GaussianBlur(shade, (0, 0), float(rng.uniform(1, 4))).astype(np.float32) / 255
        gain = 1 - rng.uniform(0.1, 0.5) * cv2.resize(soft, (_BIG, _BIG))
        np.multiply(canvas, gain[..., None], out=canvas, casting="unsafe")

    def _photographed(self, canvas: ByteArray, rng: np.random.Generator) -> ByteArray:
        """Return the scene as a camera gives it: light, glare, shade, blur, noise, JPEG."""
        picture: Any = cv2.resize(canvas, (SCENE, SCENE), interpolation=cv2.INTER_AREA).astype(np.float32)
        picture *= self._balance * np.exp(rng.normal(0, 0.05, 3)) * np.exp(rng.normal(0, 0.08))
        ramp = np.linspace(-0.5, 0.5, SCENE, dtype=np.float32)
        tilt = rng.normal(0, 0.1, 2)
        picture *= (1 + tilt[0] * ramp[None] + tilt[1] * ramp[:, None])[..., None]
        if rng.random() < 0.15:
            spot: Any = np.zeros((SCENE, SCENE), np.float32)
            at = rng.integers(0, SCENE, 2).tolist()
            cv2.ellipse(spot, (at, rng.uniform(8, 70, 2).tolist(), float(rng.uniform(0, 180))), 1.0, -1)
            spot = cv2.GaussianBlur(spot, (0, 0), float(rng.uniform(2, 12)))
            picture += (rng.uniform(-50, 90) * spot)[..., None]
        blur = self._blur * rng.uniform(0.6, 1.4)
        if blur > 0.25:
            picture = cv2.GaussianBlur(picture, (0, 0), float(blur))
        if rng.random() < 0.2:
            picture += 0.7 * (picture - cv2.GaussianBlur(picture, (0, 0), 1.2))
        picture += rng.normal(0, self._noise + 0.3, picture.shape).astype(np.float32)
        drawn = np.clip(picture, 0, 255).astype(np.uint8)
        _, data = cv2.imencode(".jpg", drawn, [cv2.IMWRITE_JPEG_QUALITY, self._jpeg])
        seen: Any = cv2.imdecode(data, cv2.IMREAD_COLOR)
        return np.asarray(seen, np.uint8)


def _paint(rng: np.random.Generator) -> Colour:
    hue = float(rng.uniform(0, 180))
    return bgr(hue, float(rng.beta(1.3, 1.3)), float(rng.uniform(0.12, 0.98)))


def _other(colour: Colour, rng: np.random.Generator) -> Colour:
    """Return an ink that is seen on a colour."""
    light = sum(colour) / 3
    way = float(rng.uniform(0.4, 1.0))
    plain = 0.0 if light > rng.uniform(70, 190) else 255.0
    mixed = _paint(rng) if rng.random() < 0.5 else (plain, plain, plain)
    if abs(sum(mixed) / 3 - light) < 60:
        mixed = (plain, plain, plain)
    b, g, r = (float((1 - way) * c + way * m) for c, m in zip(colour, mixed, strict=True))
    return b, g, r


def _ground(rng: np.random.Generator) -> list[ByteArray]:
    """Return the variants of a ground, each (_UNIT, _UNIT, 3)."""
    base, ink, light = _paint(rng), _paint(rng), _paint(rng)
    ink = _other(base, rng) if rng.random() < 0.5 else ink
    seed = int(rng.integers(1 << 30))
    same = bool(rng.random() < 0.5)
    strength, way, rough = float(rng.uniform(0.1, 1)), int(rng.integers(6)), float(rng.uniform(0, 22))
    variants = []
    for variant in range(int(rng.integers(1, 5))):
        own = np.random.default_rng([seed, 0 if same else variant])
        tile: Any = np.empty((_UNIT, _UNIT, 3), np.float32)
        tile[:] = base
        over = tile.copy()
        _pattern(over, way, ink, light, own)
        tile += strength * (over - tile)
        coarse: Any = own.normal(0, rough, (int(own.integers(3, 30)),) * 2).astype(np.float32)
        tile += cv2.resize(coarse, (_UNIT, _UNIT), interpolation=cv2.INTER_CUBIC)[..., None]
        if own.random() < 0.25:
            cv2.rectangle(tile, (0, 0), (_UNIT - 1, _UNIT - 1), ink, int(own.integers(1, 8)))
        variants.append(np.clip(tile, 0, 255).astype(np.uint8))
    return variants


def _pattern(tile: Floats, way: int, ink: Colour, light: Colour, rng: np.random.Generator) -> None:
    """Draw one of six patterns over a tile."""
    if way == 1:
        for _ in range(int(rng.integers(5, 40))):
            at = rng.integers(0, _UNIT, 2).tolist()
            cv2.circle(tile, at, int(rng.integers(1, 14)), ink if rng.random() < 0.6 else light, -1, cv2.LINE_AA)
    elif way == 2:
        for _ in range(int(rng.integers(3, 16))):
            stroke = rng.integers(-10, _UNIT + 10, 2) + np.cumsum(rng.normal(0, 16, (6, 2)), axis=0)
            cv2.polylines(tile, [stroke.astype(np.int32)], False, ink, int(rng.integers(1, 6)), cv2.LINE_AA)
    elif way == 3:
        for _ in range(int(rng.integers(2, 10))):
            spread = rng.integers(0, _UNIT, 2) + rng.normal(0, 22, (4, 2))
            hull: Any = cv2.convexHull(spread.astype(np.int32))
            cv2.fillPoly(tile, [hull], ink if rng.random() < 0.5 else light, cv2.LINE_AA)
    elif way == 4:
        arms, reach = int(rng.integers(3, 9)), float(rng.uniform(0.15, 0.45)) * _UNIT
        middle = np.full(2, _UNIT / 2) + rng.normal(0, 6, 2)
        for arm in range(arms):
            turn = 2 * np.pi * arm / arms
            end = middle + reach * np.array([np.cos(turn), np.sin(turn)])
            cv2.line(
                tile, middle.astype(int).tolist(), end.astype(int).tolist(), ink, int(rng.integers(1, 5)), cv2.LINE_AA
            )
    elif way == 5:
        for _ in range(int(rng.integers(1, 4))):
            art = _icon(rng)
            size = float(rng.uniform(0.25, 0.8))
            at = rng.uniform(0.3, 0.7, 2)
            _stamp(tile, art, (float(at[0] - 0.5), float(at[1] - 0.5)), size, float(rng.uniform(0, 6.3)), ink, _UNIT)


def _icon(rng: np.random.Generator) -> ByteArray:
    """Return (96, 96): an animal, a crown, a star, or what looks like one: some shapes laid together."""
    canvas = np.zeros((96, 96), np.uint8)
    way = rng.random()
    if way < 0.3:
        arms, inner = int(rng.integers(3, 8)), float(rng.uniform(0.25, 0.7))
        angles = np.arange(2 * arms) * np.pi / arms
        radii = np.where(np.arange(2 * arms) % 2, 40 * inner, 40)
        points = 48 + np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)
        cv2.fillPoly(canvas, [points.astype(np.int32)], 255, cv2.LINE_AA)
    elif way < 0.5:
        peaks = int(rng.integers(2, 5))
        xs = np.linspace(12, 84, 2 * peaks + 1)
        ys = np.where(np.arange(2 * peaks + 1) % 2, 45, 20) + rng.normal(0, 3, 2 * peaks + 1)
        points = np.concatenate([np.stack([xs, ys], axis=1), [[80, 76], [16, 76]]])
        cv2.fillPoly(canvas, [points.astype(np.int32)], 255, cv2.LINE_AA)
    for _ in range(int(rng.integers(2, 6)) if way >= 0.5 else int(rng.integers(0, 2))):
        at, axes = rng.integers(24, 72, 2).tolist(), rng.uniform(8, 60, 2).tolist()
        cv2.ellipse(canvas, (at, axes, float(rng.uniform(0, 180))), 255 if rng.random() < 0.75 else 0, -1, cv2.LINE_AA)
    if rng.random() < 0.4:
        eye = rng.integers(30, 66, 2).tolist()
        cv2.circle(canvas, eye, int(rng.integers(3, 7)), 0, -1, cv2.LINE_AA)
    return canvas


def _print(value: int, how: str, icon: ByteArray, rng: np.random.Generator) -> ByteArray:
    """Return (96, 96): what is printed on a token of a value: a digit or pips, with an icon or without."""
    canvas = np.zeros((96, 96), np.uint8)
    if how == "pips":
        for pip in range(value):
            turn = 2 * np.pi * pip / max(value, 1)
            away = 0 if value == 1 else 22
            at = (round(48 + away * np.cos(turn)), round(48 + away * np.sin(turn)))
            cv2.circle(canvas, at, 9, 255, -1, cv2.LINE_AA)
        return canvas
    digit = draw_digit(value, rng)
    if how == "digit":
        return digit
    scale = 0.7
    for art, x in ((digit, -0.26), (icon, 0.26)):
        matrix = np.array([[scale, 0, 48 + x * 96 - scale * 48], [0, scale, 48 - scale * 48]])
        canvas |= cv2.warpAffine(art, matrix, (96, 96)).astype(np.uint8, copy=False)
    return canvas


def _sorts(rng: np.random.Generator) -> list[DrawnSort]:
    """Return two to four families of things, each in several colours or with several prints."""
    sorts: list[DrawnSort] = []
    for family in range(int(rng.integers(2, 5))):
        way = rng.random()
        colour = _paint(rng)
        if way < 0.5:
            form = str(rng.choice(_FORMS))
            radius, tall = float(rng.uniform(0.08, 0.3)), float(rng.uniform(0.4, 5))
            hues = rng.permutation(8)[: int(rng.integers(1, 6))] * 22.5 + rng.uniform(0, 22)
            for hue in hues:
                own = bgr(float(hue), float(rng.uniform(0.5, 1)), float(rng.uniform(0.3, 0.95)))
                if rng.random() < 0.15:
                    own = _paint(rng)
                sorts.append(DrawnSort(family, form, radius, min(tall * radius, 1.1), own, _other(own, rng)))
        elif way < 0.88:
            how = str(rng.choice(["digit", "both", "pips", "icon"], p=[0.35, 0.35, 0.1, 0.2]))
            radius, outline = float(rng.uniform(0.16, 0.42)), str(rng.choice(_OUTLINES, p=[0.6, 0.2, 0.1, 0.1]))
            ink, icon = _other(colour, rng), _icon(rng)
            height = float(rng.uniform(0, 0.06))
            first = int(rng.integers(0, 3))
            for value in range(first, first + int(rng.integers(2, 6))):
                art = _icon(rng) if how == "icon" else _print(value, how, icon, rng)
                sorts.append(DrawnSort(family, "token", radius, height, colour, ink, art, outline))
        else:
            radius = float(rng.uniform(0.07, 0.16))
            sorts.append(DrawnSort(family, "mark", radius, 0.0, colour, _other(colour, rng), _icon(rng)))
    return sorts


def _at(foot: Point, lean: Any, height: float) -> tuple[float, float]:
    return _BIG / 2 + (foot[0] + lean[0] * height) * _UNIT, _BIG / 2 + (foot[1] + lean[1] * height) * _UNIT


def _fixed(point: Any) -> tuple[int, int]:
    return round(float(point[0]) * 16), round(float(point[1]) * 16)


def _shaded(colour: Colour, gain: float) -> Colour:
    b, g, r = (min(255.0, c * gain) for c in colour)
    return b, g, r


def _stand(
    canvas: ByteArray, owner: Any, index: int, sort: DrawnSort, foot: Point, lean: Any, rng: np.random.Generator
) -> None:
    """Draw a thing that stands on its foot and leans as the camera sees it, and note which pixels are its own."""
    size = sort.radius * float(rng.uniform(0.93, 1.07)) * _UNIT
    turn = float(rng.uniform(0, 2 * np.pi))
    if sort.form in ("token", "mark"):
        middle = _at(foot, lean, sort.height)
        if sort.form == "token":
            shape = _outline(sort.outline, size, turn)
            for level in (0.0, 0.5, 1.0):
                _fill(canvas, owner, index, shape + _at(foot, lean, sort.height * level), _shaded(sort.colour, 0.75))
            _fill(canvas, owner, index, shape + middle, sort.colour)
            if rng.random() < 0.3:
                cv2.polylines(canvas, [_fixed_all(0.85 * shape + middle)], True, sort.ink, 2, cv2.LINE_AA, 4)
        reach = 1.5 if sort.form == "token" else 2.2
        if sort.print_ is not None:
            at = ((middle[0] - _BIG / 2) / _UNIT, (middle[1] - _BIG / 2) / _UNIT)
            if sort.form == "mark":
                turn = float(rng.integers(4)) * np.pi / 2
                _disc(owner, index, middle, 0.9 * size)
                dark = _shaded(sort.ink, 0.15)
                _stamp(canvas, sort.print_, at, 2.6 * size / _UNIT, turn, dark, _BIG)
            _stamp(canvas, sort.print_, at, reach * size / _UNIT, turn, sort.ink, _BIG)
        return
    for low, radius, gain in _profile(sort.form):
        shape = _outline("square" if sort.form == "block" else "circle", size * radius, turn)
        at_height = np.array(_at(foot, lean, sort.height * low))
        _fill(canvas, owner, index, shape + at_height, _shaded(sort.colour, gain * float(rng.uniform(0.94, 1.06))))
    top = np.array(_at(foot, lean, sort.height))
    if sort.form == "ring":
        cv2.circle(canvas, _fixed(top), round(size * 8), _shaded(sort.colour, 0.35), -1, cv2.LINE_AA, 4)
    if rng.random() < 0.6:
        shine = top + rng.normal(0, 0.2, 2) * size
        cv2.circle(canvas, _fixed(shine), round(size * 16 * 0.18), _shaded(sort.colour, 1.7), -1, cv2.LINE_AA, 4)


def _profile(form: str) -> list[tuple[float, float, float]]:
    """Return a form's cross-sections from its foot up: height in parts of its own, radius likewise, how light."""
    steps = np.linspace(0, 1, 10)
    if form == "dome":
        return [(float(h), float(np.sqrt(max(1 - h * h, 0.02))), 0.6 + 0.45 * float(h)) for h in steps]
    if form == "cone":
        return [(float(h), float(1 - 0.9 * h), 0.6 + 0.4 * float(h)) for h in steps]
    if form == "pawn":
        neck = [(float(h), float(1 - 0.75 * h), 0.65 + 0.3 * float(h)) for h in np.linspace(0, 0.65, 7)]
        head = [(float(0.6 + 0.4 * h), float(0.55 * np.sin(np.pi * (0.25 + 0.6 * h))), 1.0) for h in steps]
        return neck + head
    if form == "figure":
        body = [(float(h), 0.9 - 0.2 * float(np.sin(9 * h)), 0.7 + 0.2 * float(h)) for h in np.linspace(0, 0.7, 8)]
        return [*body, (0.8, 0.5, 0.95), (0.9, 0.55, 1.0), (1.0, 0.45, 1.1)]
    return [(float(h), 1.0, 0.7) for h in steps[:-1]] + [(1.0, 1.0, 1.0)]


def _outline(name: str, size: float, turn: float) -> Any:
    many = {"circle": 24, "square": 4, "hexagon": 6, "shield": 5}[name]
    angles = turn + np.arange(many) * 2 * np.pi / many
    grown = 1.15 if many < 20 else 1.0
    return size * grown * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _fixed_all(points: Any) -> Any:
    return np.round(np.asarray(points) * 16).astype(np.int32)


def _fill(canvas: ByteArray, owner: Any, index: int, points: Any, colour: Colour) -> None:
    cv2.fillConvexPoly(canvas, _fixed_all(points), colour, cv2.LINE_AA, 4)
    cv2.fillConvexPoly(owner, _fixed_all(points), index, cv2.LINE_8, 4)


def _disc(owner: Any, index: int, middle: Point, size: float) -> None:
    cv2.circle(owner, _fixed(middle), round(16 * size), index, -1, cv2.LINE_8, 4)


def _stamp(canvas: Any, art: ByteArray, at: Point, size: float, turn: float, ink: Colour, across: int) -> None:
    """Print ``art`` (96, 96) about ``at`` (places from the middle), ``size`` places large."""
    scale = size * _UNIT / 96
    cos, sin = scale * np.cos(turn), scale * np.sin(turn)
    x, y = across / 2 + at[0] * _UNIT, across / 2 + at[1] * _UNIT
    matrix = np.array([[cos, -sin, x - (cos - sin) * 48], [sin, cos, y - (sin + cos) * 48]])
    reach = int(0.75 * size * _UNIT) + 2
    left, far = max(int(x) - reach, 0), max(int(y) - reach, 0)
    right, near = min(int(x) + reach, across), min(int(y) + reach, across)
    if right <= left or near <= far:
        return
    matrix[:, 2] -= (left, far)
    mask = cv2.warpAffine(art, matrix, (right - left, near - far)).astype(np.float32)[..., None] / 255
    part = canvas[far:near, left:right]
    part[:] = (part * (1 - mask) + np.array(ink, np.float32) * mask).astype(part.dtype)


def _cover(canvas: ByteArray, owner: Any, rng: np.random.Generator) -> None:
    """Lay a stranger over a scene: a hand, a sleeve, a cup."""
    colour = bgr(float(rng.uniform(0, 20)), float(rng.uniform(0.2, 0.6)), float(rng.uniform(0.3, 0.95)))
    if rng.random() < 0.5:
        colour = _paint(rng)
    if rng.random() < 0.6:
        points = _BIG / 2 + rng.normal(0, 0.5 * _UNIT, (5, 2))
        hull: Any = cv2.convexHull(points.astype(np.float32))
        _fill(canvas, owner, -1, hull[:, 0], colour)
    else:
        middle = (_BIG / 2 + rng.normal(0, 0.3 * _UNIT, 2)).tolist()
        for size, gain in ((0.5, 0.8), (0.44, 1.0), (0.3, 0.5)):
            cv2.circle(canvas, _fixed(middle), round(16 * size * _UNIT), _shaded(colour, gain), -1, cv2.LINE_AA, 4)
            _disc(owner, -1, middle, size * _UNIT)
