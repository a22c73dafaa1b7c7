"""What drawn games are made of: the tops of pieces and tokens, with what is printed on them, and grounds; by jax.

Everything is arrays of one shape, whatever is drawn, so that thousands of games are drawn a minute on any device that
jax knows. The same key draws the same art, to the last bit on one kind of device. The shipped embedding was learnt from
these very drawings (:mod:`companion.lab.train.embedding`): another order of keys would be other games.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

# One thread, and no accelerator that nobody asked for: the order of sums must not depend on the machine.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import cv2
import jax
import jax.numpy as jnp
from jax import random

if TYPE_CHECKING:
    from numpy.typing import NDArray

SORTS: Final = 24
"""Sorts of things that a game may have."""
DECORATIONS: Final = 8
GROUNDS: Final = 8
ART: Final = SORTS + DECORATIONS
SPRITE: Final = 48
TEXTURE: Final = 64
"""Pixels of the side of a top, and of a ground."""
_GLYPH: Final = 32
_SIGNS: Final = "0123456789ABCEFHKLMPRSTXZ&?#@"
_FONTS: Final = (
    cv2.FONT_HERSHEY_SIMPLEX,
    cv2.FONT_HERSHEY_DUPLEX,
    cv2.FONT_HERSHEY_COMPLEX,
    cv2.FONT_HERSHEY_TRIPLEX,
    cv2.FONT_HERSHEY_PLAIN,
    cv2.FONT_HERSHEY_SCRIPT_SIMPLEX,
)
_THICK: Final = (4, 6, 4, 6, 6, 4)
_PIPS: Final = 6


class Outlines(NamedTuple):
    """Outlines (m,): polygons of so many ``sides``, more or less ``round``, waved, drawn out and turned."""

    sides: Any
    round: Any
    wave: Any
    waves: Any
    aspect: Any
    turn: Any


class _Make(NamedTuple):
    """Sorts of one ``kind`` (m,) share a make; ``differs``: in what. By what number each part of a sort is drawn."""

    kind: Any
    differs: Any
    shape: Any
    colour: Any
    print: Any


@lru_cache(maxsize=1)
def glyphs() -> NDArray[np.float32]:
    """Return (n, 32, 32) digits, letters and signs in OpenCV's own fonts, 0 to 1: each sign in six fonts in turn."""
    drawn = []
    for sign in _SIGNS:
        for font, thick in zip(_FONTS, _THICK, strict=True):
            (wide, high), _ = cv2.getTextSize(sign, font, 3.0, thick)
            size = max(wide, high) + 14
            picture = np.zeros((size, size), np.uint8)
            at = ((size - wide) // 2, (size + high) // 2)
            cv2.putText(picture, sign, at, font, 3.0, 255, thick, cv2.LINE_AA)
            drawn.append(cv2.resize(picture, (_GLYPH, _GLYPH), interpolation=cv2.INTER_AREA) / 255.0)
    return np.array(drawn, np.float32)


def uniform(key: Any, shape: tuple[int, ...], low: Any, high: Any) -> Any:
    """Return numbers drawn evenly between two."""
    return random.uniform(key, shape, minval=low, maxval=high)


def some(key: Any, shape: tuple[int, ...], share: Any) -> Any:
    """Return truths, of which such a share is true."""
    return random.uniform(key, shape) < share


def colours(key: Any, shape: tuple[int, ...]) -> Any:
    """Return colours (…, 3) in 0 to 1: hue, saturation and value are drawn, a fifth of them are greys."""
    a, b, c, d = random.split(key, 4)
    hue, value = uniform(a, shape, 0, 6), uniform(c, shape, 0.08, 1.0)
    saturation = uniform(b, shape, 0, 1) ** 0.6
    saturation = jnp.where(some(d, shape, 0.2), saturation * 0.12, saturation)

    def channel(start: float) -> Any:
        off = jnp.minimum((start + hue) % 6, 4 - (start + hue) % 6)
        return value - value * saturation * jnp.clip(off, 0, 1)

    return jnp.stack([channel(5.0), channel(3.0), channel(1.0)], -1)


def _outlines(key: Any, many: int) -> Outlines:
    keys = random.split(key, 8)
    sides = random.choice(keys[0], jnp.array([3.0, 4.0, 4.0, 4.0, 5.0, 6.0, 8.0, 9.0, 9.0, 9.0]), (many,))
    return Outlines(
        sides,
        jnp.where(some(keys[1], (many,), 0.5), 0.0, uniform(keys[1], (many,), 0, 0.8)),
        jnp.where(some(keys[2], (many,), 0.65), 0.0, uniform(keys[2], (many,), -0.35, 0.35)),
        jnp.floor(uniform(keys[3], (many,), 2, 7)),
        jnp.where(some(keys[4], (many,), 0.5), 1.0, uniform(keys[5], (many,), 0.35, 1.0)),
        uniform(keys[6], (many,), 0, 2 * jnp.pi),
    )


def _drawn_by(outlines: Outlines, numbers: Any) -> Outlines:
    return Outlines(*(value[numbers] for value in outlines))


def _radius(angle: Any, o: Outlines) -> Any:
    """Return how far the edge is in a direction; nine sides are a circle."""
    step = 2 * jnp.pi / o.sides
    polygon = jnp.cos(jnp.pi / o.sides) / jnp.cos(jnp.mod(angle, step) - jnp.pi / o.sides)
    polygon = jnp.where(o.sides > 8, 1.0, polygon)
    return (polygon * (1 - o.round) + o.round) * (1 + o.wave * jnp.cos(o.waves * angle)) / (1 + jnp.abs(o.wave))


def _inside(outlines: Outlines, x: Any, y: Any, size: Any, soft: float) -> Any:
    """Return how far points (m, side, side) are inside outlines of a size (m,), 0 to 1."""
    o = Outlines(*(over(value) for value in outlines))
    px, py = turned(o.turn, x, y)
    py = py / o.aspect
    far = jnp.sqrt(px * px + py * py + 1e-9)
    edge = over(size) * _radius(jnp.arctan2(py, px), o)
    return jnp.clip((edge - far) / soft + 0.5, 0, 1)


def over(values: Any) -> Any:
    """Return numbers (n,) as (n, 1, 1), to go with pictures."""
    return values[:, None, None]


def turned(angle: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Return points seen from what is turned by an angle."""
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    return cos * x + sin * y, -sin * x + cos * y


def _makes(keys: Any) -> _Make:
    """Return how sorts go together: those of a kind differ in colour, in print, in shape, or in two of these."""
    kinds = jnp.floor(uniform(keys[0], (), 1, 9))
    own_kinds = jnp.sort(jnp.floor(uniform(keys[1], (SORTS,), 0, kinds))).astype(jnp.int32)
    kind = jnp.concatenate([own_kinds, 9 + jnp.arange(DECORATIONS)])
    # 0: colour, 1: print, 2: shape and colour, 3: colour and print, 4: all, 5: what is printed and its colour.
    differs = random.randint(keys[2], (ART,), 0, 6)[kind]
    own = jnp.arange(ART)
    shape = (differs == 2) | (differs == 4)
    colour = (differs == 0) | (differs == 2) | (differs == 3) | (differs == 4)
    printed = (differs == 1) | (differs >= 3)
    return _Make(kind, differs, *(jnp.where(whose, own, kind) for whose in (shape, colour, printed)))


def _offset(key: Any) -> Any:
    return jnp.where(some(key, (ART,), 0.6), 0.0, uniform(key, (ART,), -0.35, 0.35))


def _print(keys: Any, make: _Make, x: Any, y: Any, soft: float) -> Any:
    """Return (m, side, side) what is printed on tops, 0 to 1: a sign, one to six pips, a figure, or nothing."""
    size = uniform(keys[13], (ART,), 0.25, 0.75)[make.kind]
    gx = (x - over(_offset(keys[14])[make.kind])) / over(size)
    gy = (y - over(_offset(keys[15])[make.kind])) / over(size)
    fonts = len(_FONTS)
    which = random.randint(keys[16], (ART,), 0, len(glyphs()) // fonts)[make.print] * fonts
    which = which + random.randint(keys[17], (ART,), 0, fonts)[make.kind]
    half = _GLYPH // 2
    ix, iy = (jnp.clip((g + 1) * half, 0, _GLYPH - 1).astype(jnp.int32) for g in (gx, gy))
    sign = jnp.asarray(glyphs())[over(which), iy, ix] * (jnp.maximum(jnp.abs(gx), jnp.abs(gy)) < 1)

    many = (random.randint(keys[18], (ART,), 1, _PIPS + 1)[make.print]).astype(jnp.float32)
    angle = jnp.arange(_PIPS)[None] * 2 * jnp.pi / many[:, None]
    far = jnp.where(many > 1, 0.6, 0.0)[:, None]
    px, py = ((far * way)[..., None, None] for way in (jnp.cos(angle), jnp.sin(angle)))
    near = jnp.clip((0.26 - jnp.hypot(gx[:, None] - px, gy[:, None] - py)) / 0.08 + 0.5, 0, 1)
    pips = jnp.max(jnp.where(jnp.arange(_PIPS)[None, :, None, None] < over(many)[:, None], near, 0), axis=1)

    form = _drawn_by(_outlines(keys[19], ART), make.print)
    figure = _inside(form, gx, gy, jnp.full((ART,), 0.9), soft / 0.5)
    hollow = _inside(form, gx, gy, jnp.full((ART,), 0.55), soft / 0.5) * over(some(keys[20], (ART,), 0.4)[make.print])
    style = over(random.randint(keys[21], (ART,), 0, 5)[make.kind])
    ways = [style == 0, style == 1, style == 2, style == 3]
    return jnp.select(ways, [sign, pips, figure - hollow, figure - hollow], 0.0)


def _ink(keys: Any, make: _Make, ink: Any, fill: Any) -> Any:
    """Return (m, 3) the colour of what is printed, which can be told from its ground, mostly."""
    ink = jnp.where((make.differs == 5)[:, None], ink, ink[make.kind])
    away = jnp.where(fill.mean(-1, keepdims=True) > 0.5, ink * 0.4, 0.55 + ink * 0.45)
    return jnp.where(some(keys[22], (ART,), 0.8)[make.kind][:, None], away, ink)


def _shaded(keys: Any, make: _Make, pictures: Any, x: Any, y: Any) -> Any:
    """Return tops that are not flat: a side lies in the shade, and some have a highlight."""
    kind = make.kind
    shade = (
        1
        + over(uniform(keys[23], (ART,), -0.25, 0.25)[kind]) * x
        + over(uniform(keys[24], (ART,), -0.25, 0.25)[kind]) * y
        - over(uniform(keys[25], (ART,), 0, 0.35)[kind]) * (x * x + y * y)
    )
    strength = jnp.where(some(keys[26], (ART,), 0.7), 0, uniform(keys[26], (ART,), 0.1, 0.6))
    light = over(strength[kind]) * jnp.exp(-((x + 0.35) ** 2 + (y + 0.4) ** 2) / 0.04)
    return jnp.clip(pictures * shade[..., None] + light[..., None], 0, 1)


def sprites(key: Any) -> tuple[Any, Any, Any]:
    """Return (m, SPRITE, SPRITE, 4) tops with premultiplied colour, (m, 3) colours of their sides, (m,) their kinds.

    Of sorts there are :data:`SORTS`, then come the decorations.
    """
    keys = random.split(key, 30)
    make = _makes(keys)
    line = (jnp.arange(SPRITE) + 0.5) / SPRITE * 2 - 1
    y, x = jnp.meshgrid(line, line, indexing="ij")
    x, y = (jnp.broadcast_to(v, (ART, SPRITE, SPRITE)) for v in (x, y))
    soft = 2.5 / SPRITE
    form = _drawn_by(_outlines(keys[3], ART), make.shape)
    body = _inside(form, x, y, jnp.full((ART,), 0.93), soft)
    inner_size = uniform(keys[5], (ART,), 0.3, 0.8)[make.shape]
    inner = _inside(_drawn_by(_outlines(keys[4], ART), make.shape), x, y, inner_size, soft)
    inner = inner * over(some(keys[6], (ART,), 0.4)[make.shape])
    fill, second, rim, ink = (colours(k, (ART,)) for k in keys[7:11])
    fill = fill[make.colour]
    pictures = over(fill) * jnp.ones((ART, SPRITE, SPRITE, 1))
    pictures = pictures + (over(second[make.shape]) - pictures) * inner[..., None]
    shrunk = _inside(form, x, y, jnp.full((ART,), 0.93) - uniform(keys[11], (ART,), 0.06, 0.2), soft)
    rimmed = (body - shrunk) * over(some(keys[12], (ART,), 0.3)[make.kind])
    pictures = pictures + (over(rim[make.kind]) - pictures) * rimmed[..., None]
    printed = _print(keys, make, x, y, soft) * (body > 0.5)
    pictures = pictures + (over(_ink(keys, make, ink, fill)) - pictures) * printed[..., None]
    pictures = _shaded(keys, make, pictures, x, y)
    sides = fill * uniform(keys[27], (ART, 1), 0.35, 0.8)[make.kind]
    return jnp.concatenate([pictures * body[..., None], body[..., None]], -1), sides, make.kind


def _noise(keys: Any, many: int) -> Any:
    """Return (m, 2, TEXTURE, TEXTURE) noise of spread 1 without an edge, coarse or fine, drawn out or not."""
    one = (many, 2, 1, 1)
    f = jnp.fft.fftfreq(TEXTURE) * TEXTURE
    slope = uniform(keys[0], one, 0.5, 2.2)
    angle = uniform(keys[1], one, 0, jnp.pi)
    squeeze = jnp.exp(jnp.where(some(keys[2], one, 0.6), 0.0, uniform(keys[2], one, 0, 1.6)))
    fx, fy = f[None, None, None], f[None, None, :, None]
    fx, fy = (
        (fx * jnp.cos(angle) + fy * jnp.sin(angle)) * squeeze,
        (-fx * jnp.sin(angle) + fy * jnp.cos(angle)) / squeeze,
    )
    power = 1 / (uniform(keys[3], one, 1, 5) ** 2 + fx**2 + fy**2) ** slope
    white = random.normal(keys[4], (many, 2, TEXTURE, TEXTURE))
    noise = jnp.fft.ifft2(jnp.fft.fft2(white) * power).real
    return noise / (noise.std(axis=(2, 3), keepdims=True) + 1e-6)


def _pattern(keys: Any, many: int) -> Any:
    """Return (m, TEXTURE, TEXTURE) stripes, checks or dots, and of most grounds nothing."""
    one = (many, 1, 1)
    y, x = jnp.meshgrid(jnp.arange(TEXTURE) / TEXTURE, jnp.arange(TEXTURE) / TEXTURE, indexing="ij")
    a, b = jnp.floor(uniform(keys[5], one, 1, 7)), jnp.floor(uniform(keys[6], one, 0, 7))
    wave = jnp.sin(2 * jnp.pi * (a * x + b * y) + uniform(keys[7], one, 0, 6))
    across = jnp.sin(2 * jnp.pi * (-b * x + a * y) + uniform(keys[8], one, 0, 6))
    form = random.randint(keys[9], one, 0, 8)
    return jnp.select([form == 0, form == 1, form == 2], [wave, wave * across, jnp.minimum(wave, across)], 0.0)


def textures(key: Any) -> Any:
    """Return (GROUNDS + 1, TEXTURE, TEXTURE, 3): grounds without an edge, and last the table between them."""
    many = GROUNDS + 1
    keys = random.split(key, 16)
    noise = _noise(keys, many)
    first = noise[:, 0] + 1.2 * _pattern(keys, many)
    sharp = jnp.exp(uniform(keys[10], (many, 1, 1), -0.7, 2.5))
    mix = jax.nn.sigmoid(sharp * (first + uniform(keys[11], (many, 1, 1), -1, 1)))[..., None]
    main, other = colours(keys[12], (many, 1, 1)), colours(keys[13], (many, 1, 1))
    near = uniform(keys[14], (many, 1, 1, 1), 0.05, 0.8)
    other = main + (other - main) * near
    # Some grounds of a game are of nearly one colour.
    alike = some(random.fold_in(keys[14], 1), (many, 1, 1, 1), 0.25)
    shift = jnp.where(alike, main[:1] - main, 0.0) * 0.85
    pictures = main + (other - main) * mix + shift
    grain = uniform(keys[15], (many, 1, 1, 1), 0.02, 0.25) * 0.5 * noise[:, 1][..., None]
    return jnp.clip(pictures * (1 + grain), 0, 1)


def sampled(rows: Any, base: Any, u: Any, v: Any, size: int, *, wrap: bool) -> Any:
    """Return pictures (…, channels) at u, v (…) in 0 to 1, between pixels; ``rows`` are the pixels of all pictures.

    Each picture is of ``size``² pixels and begins at row ``base``; with ``wrap`` it goes on on its other side.
    """
    px, py = u * size - 0.5, v * size - 0.5
    x, y = jnp.floor(px), jnp.floor(py)
    fx, fy = (px - x)[..., None], (py - y)[..., None]
    column, row = x.astype(jnp.int32), y.astype(jnp.int32)

    def within(index: Any) -> Any:
        return jnp.mod(index, size) if wrap else jnp.clip(index, 0, size - 1)

    def at(row: Any, column: Any) -> Any:
        return rows[base + within(row) * size + within(column)]

    near = at(row, column) * (1 - fx) + at(row, column + 1) * fx
    far = at(row + 1, column) * (1 - fx) + at(row + 1, column + 1) * fx
    return near * (1 - fy) + far * fy
