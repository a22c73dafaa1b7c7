"""Things that nobody has taught, made up: places with one of them show what "something new" looks like.

What is new cannot be learnt from what is known; but that something lies there that is neither the board nor any of its
pieces can. So things of many outlines, colours and sizes are painted, with shades and marks on them, and laid on taught
places: alone, under and over known pieces, or over all of a place as a hand lies. Others lie beside a place only, and
are none of its business. (Learning from made-up outliers: Hendrycks and others, Deep Anomaly Detection with Outlier
Exposure, 2019.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.board.labels import Content
from vision.board.patches import CONTEXT, PATCH, Sampler
from vision.learn.augment import draw_moves, in_other_light, lay, put
from vision.learn.cutouts import Cutout, taught_places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray
    from vision.learn.cutouts import Cutouts, LabelledBoard

    Floats = NDArray[np.float32]

ON: Final = 2400
BESIDE: Final = 1000
"""How many places have something strange on them, and beside them."""
_PLACE: Final = PATCH / CONTEXT
_MIDDLE: Final = np.full(2, (PATCH - 1) / 2)
_ALL_X: Final = np.arange(PATCH, dtype=np.float32)[None]
_ALL_Y: Final = _ALL_X.T
_AROUND: Final = np.linspace(0, 2 * np.pi, 24, endpoint=False)
_CIRCLE: Final = np.column_stack([np.cos(_AROUND), np.sin(_AROUND)])
_STEP: Final = 24
"""Grey levels by which colours are different ones."""
_SOME: Final = 1e-4
_OWN: Final = 0.3
"""How often a strange thing has nearly a piece's colour, as the first igloo of a tribe has its inuit's."""
_LARGE: Final = 0.12
_TEXTURED: Final = 0.2
_WITH_OTHERS: Final = 0.4


def make_strangers(
    sampler: Sampler, taught: Sequence[LabelledBoard], cutouts: Cutouts, seed: int = 0, size: float = 1.0
) -> tuple[ByteArray, ByteArray]:
    """Return patches (n, PATCH, PATCH, 3) of places with a strange thing, and others with one beside them only.

    ``cutouts`` are those of the boards; ``size`` scales how many patches; they are in as many lights as
    :func:`vision.learn.augment.make_examples` has them.
    """
    rng = np.random.default_rng([seed, 7])
    owned = taught_places(taught)
    known = [cutout for some in cutouts.values() for cutout in some]
    places = np.concatenate([sampler.cut(board.straight, sorted(board.contents)) for board in taught])
    painter = _Painter(rng, _colours_of(places), [colour for one in known for colour in _own_colour(one)], places)
    bases = _Bases(sampler, taught, owned, rng)
    on = np.empty((round(ON * size), PATCH, PATCH, 3), np.uint8)
    for row in range(len(on)):
        on[row], content = bases.draw()
        thing, radius = painter.draw()
        things = [thing]
        if known and not content.things and rng.random() < _WITH_OTHERS:
            things += [known[int(rng.integers(len(known)))] for _ in range(int(rng.integers(1, 3)))]
            # A small thing under others might not be seen at all.
            if radius < 0.25 or rng.random() < 0.5:
                things.reverse()
        lay(on[row], things, bool(content.things), rng)
    beside = np.empty((round(BESIDE * size), PATCH, PATCH, 3), np.uint8)
    for row in range(len(beside)):
        beside[row], _ = bases.draw()
        thing, radius = painter.draw(small=True)
        _lay_beside(beside[row], thing, radius, rng)
    return in_other_light(on, rng), in_other_light(beside, rng)


@dataclass(frozen=True)
class _Bases:
    """Taught places to lay things on: each content about as often by the root of how often it was seen."""

    sampler: Sampler
    taught: Sequence[LabelledBoard]
    owned: Sequence[tuple[int, int, Content]]
    rng: np.random.Generator

    def draw(self) -> tuple[ByteArray, Content]:
        """Return a patch, moved and turned, and what lies there."""
        by, chances = self._by_content
        some = by[int(self.rng.choice(len(by), p=chances))]
        shot, place, content = some[int(self.rng.integers(len(some)))]
        return self.sampler.cut_moved(self.taught[shot].straight, [place], draw_moves(1, self.rng))[0], content

    @cached_property
    def _by_content(self) -> tuple[list[list[tuple[int, int, Content]]], FloatArray]:
        by: dict[Content, list[tuple[int, int, Content]]] = {}
        for one in self.owned:
            by.setdefault(one[2], []).append(one)
        weight = np.sqrt([len(some) for some in by.values()])
        return list(by.values()), weight / weight.sum()


@dataclass(frozen=True)
class _Painter:
    """Paints strange things: ``colours`` (n, 3) of the table, those of its pieces, and its ``places`` as textures."""

    rng: np.random.Generator
    colours: FloatArray
    own: Sequence[FloatArray]
    places: ByteArray

    def draw(self, *, small: bool = False) -> tuple[Cutout, float]:
        """Return a thing, in the middle or over much of a place, and its radius in places."""
        rng = self.rng
        own = not small and len(self.own) > 0 and rng.random() < _OWN
        if not small and not own and rng.random() < _LARGE:
            radius = float(rng.uniform(0.6, 1.4))
            away = rng.uniform(0, 0.8) * radius * _direction(rng)
        else:
            radius = float(rng.uniform(0.25, 0.5) if own else np.exp(rng.uniform(np.log(0.14), np.log(0.5))))
            away = np.zeros(2)
        middle, reach = _MIDDLE + _PLACE * away, _PLACE * radius
        outline = _outline(rng) * reach
        cover = _filled(outline, middle)
        fill = self._lit(self._fill(own), middle, reach)
        if rng.random() < 0.4:
            rim = cover - _filled(outline * rng.uniform(0.72, 0.92), middle)
            _mix(fill, self._colour() if rng.random() < 0.4 else fill * np.float32(rng.uniform(0.4, 0.8)), rim)
        for _ in range(int(rng.integers(1, 4)) if rng.random() < 0.5 else 0):
            at = middle + rng.normal(0, 0.35 * reach, 2)
            mark = _filled(_outline(rng) * reach * rng.uniform(0.12, 0.5), at) * cover
            _mix(fill, self._colour(), mark)
        soft: Any = cv2.GaussianBlur(cover, (0, 0), float(rng.uniform(0.4, 1.0)))
        shade = np.ones_like(cover)
        if rng.random() < 0.7:
            fallen = np.roll(cover, tuple(rng.integers(-5, 6, 2).tolist()), (0, 1))
            blurred: Any = cv2.GaussianBlur(fallen, (0, 0), float(rng.uniform(1, 3)))
            shade = 1 - np.float32(rng.uniform(0.15, 0.5)) * blurred
        picture: Any = cv2.convertScaleAbs(cv2.merge([*fill]))
        return Cutout(picture, cv2.convertScaleAbs(soft, alpha=255).astype(np.uint8), shade, _MIDDLE.copy()), radius

    def _colour(self) -> Floats:
        """Return a colour (3, 1, 1) of the table, a little changed, or any."""
        if self.rng.random() < 0.4:
            return self.rng.uniform(10, 245, (3, 1, 1)).astype(np.float32)
        near = self.colours[int(self.rng.integers(len(self.colours)))] * self.rng.uniform(0.75, 1.3)
        colour: Floats = np.clip(near + self.rng.normal(0, 10, 3), 0, 255).astype(np.float32)
        return colour.reshape(3, 1, 1)

    def _fill(self, own: bool) -> Floats:
        """Return (3, PATCH, PATCH): what a thing is made of."""
        rng = self.rng
        if own:
            pale = rng.uniform(0, 0.35)
            piece = self.own[int(rng.integers(len(self.own)))] * rng.uniform(0.7, 1.3)
            colour: Any = np.clip(piece * (1 - pale) + pale * (255.0 if rng.random() < 2 / 3 else 0.0), 0, 255)
        elif rng.random() < _TEXTURED:
            place = self.places[int(rng.integers(len(self.places)))]
            grown, at = rng.uniform(0.6, 1.6), rng.uniform(0, 0.3 * PATCH, 2)
            matrix = np.array([[grown, 0, at[0]], [0, grown, at[1]]])
            flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
            cut: Any = cv2.warpAffine(place, matrix, (PATCH, PATCH), flags=flags, borderMode=cv2.BORDER_REFLECT)
            return np.stack(cv2.split(cut)).astype(np.float32)
        else:
            colour = self._colour()
        return np.full((3, PATCH, PATCH), colour.reshape(3, 1, 1), np.float32)

    def _lit(self, fill: Floats, middle: FloatArray, reach: float) -> Floats:
        """Return what a thing is made of, lit as one that is domed, or from a side, or evenly."""
        left, far, size = np.array([*middle, reach], np.float32)
        x, y = (_ALL_X - left) / size, (_ALL_Y - far) / size
        way = self.rng.random()
        if way < 0.35:
            light = np.float32(1.12) - np.float32(0.3) * (x * x + y * y)
        elif way < 0.7:
            side = (self.rng.uniform(0.05, 0.25) * _direction(self.rng)).astype(np.float32)
            light = 1 + side[0] * x + side[1] * y
        else:
            return fill
        fill *= np.clip(light, 0.4, 1.6)
        return fill


def _mix(fill: Floats, other: Floats, share: Floats) -> None:
    """Mix another filling (3, …) into one, of which there is a share (PATCH, PATCH)."""
    fill += (other - fill) * share


def _direction(rng: np.random.Generator) -> FloatArray:
    """Return a direction."""
    angle = rng.uniform(0, 2 * np.pi)
    return np.array([np.cos(angle), np.sin(angle)])


def _outline(rng: np.random.Generator) -> FloatArray:
    """Return (corners, 2): an outline around 0 of about the radius 1: oval, box, many-cornered or wobbly."""
    kind = int(rng.integers(5))
    if kind < 2:
        points = _CIRCLE * [1, rng.uniform(0.5, 1)]
    elif kind == 2:
        high = rng.uniform(0.4, 1)
        points = 0.85 * np.array([[-1, -high], [1, -high], [1, high], [-1, high]])
    elif kind == 3:
        corners = int(rng.integers(3, 9))
        around = (np.arange(corners) + rng.uniform(-0.3, 0.3, corners)) * 2 * np.pi / corners
        points = np.column_stack([np.cos(around), np.sin(around)])
    else:
        waves = [rng.uniform(-0.3, 0.3) / m * np.cos(m * _AROUND + rng.uniform(0, 2 * np.pi)) for m in (2, 3, 4)]
        points = 0.9 * (1 + np.sum(waves, axis=0))[:, None] * _CIRCLE
    cos, sin = _direction(rng)
    turned: FloatArray = points @ np.array([[cos, sin], [-sin, cos]])
    return turned


def _filled(outline: FloatArray, middle: FloatArray) -> Floats:
    """Return (PATCH, PATCH): 1 inside an outline, 0 outside, and in between where it passes."""
    mask: Any = np.zeros((PATCH, PATCH), np.uint8)
    cv2.fillPoly(mask, [np.round((outline + middle) * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
    filled: Floats = mask.astype(np.float32) / np.float32(255)
    return filled


def _lay_beside(patch: ByteArray, thing: Cutout, radius: float, rng: np.random.Generator) -> None:
    """Lay a thing beside the place of a patch, where the next places are."""
    away = _direction(rng)
    at = away / np.abs(away).max() * _PLACE * (0.5 + 0.75 * radius + rng.uniform(0, 0.2))
    matrix = np.array([[1, 0, at[0]], [0, 1, at[1]]])
    put(patch, thing, matrix)


def _own_colour(cutout: Cutout) -> list[FloatArray]:
    """Return the usual colour (3,) of a piece, if any of it is plainly it."""
    inside = cutout.cover > 200
    return [np.median(cutout.picture[inside], axis=0)] if inside.any() else []


def _colours_of(places: ByteArray) -> FloatArray:
    """Return (n, 3): the colours that are seen on the table, each once, however rare."""
    pixels = places[:, 8:-8:4, 8:-8:4].reshape(-1, 3)
    levels = 256 // _STEP + 1
    names = (pixels // _STEP).astype(np.intp) @ np.array([levels**2, levels, 1])
    _, first, many = np.unique(names, return_index=True, return_counts=True)
    return pixels[first[many >= max(1, _SOME * len(pixels))]].astype(np.float64)
