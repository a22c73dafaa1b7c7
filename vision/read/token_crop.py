"""Tokens in a picture of a place: how those of a kind look from afar, where they lie, and the inside of one, cut out.

What is compared is the grey inside of a token's outline, :data:`SIGN` pixels across, in :data:`TURNS` directions and at
every pixel up to :data:`REACH` of them aside: where tokens overlap, what is seen of one is not seen about its middle.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from vision.board.features import colours
from vision.board.patches import CLOSE_PX, CONTEXT, PATCH
from vision.learn.digits import DISC, SIGN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray
    from vision.board.patches import Sampler
    from vision.read.profile import TaughtPhoto

    Floats = NDArray[np.float32]

Spot = tuple[float, float]
"""Where a token's middle is, in sizes of the place from its middle."""

TURNS: Final = 24
REACH: Final = 4
"""Pixels of a sign, each about a twelfth of a token's radius, that its middle may be off."""
_INNER: Final = 0.8
"""Of a token's radius: the part that is compared; a square token has corners beyond."""
_SIZE: Final = PATCH / CONTEXT
_NEAR: Final = 1.05
_FILLS: Final = 0.35
"""A radius from which on a token is a tile that fills its place: it has nowhere else to be."""
SHOWS: Final = 0.5
_COVERS: Final = 0.95
_WIDE: Final = SIGN + 2 * REACH
_GREY: Final = np.array([0.114, 0.587, 0.299], np.float32)


@dataclass(frozen=True)
class Kind:
    """How the tokens of one kind look from afar: their main colour, its spread, and their radius in places."""

    things: tuple[int, ...]
    colour: Floats
    spread: Floats
    radius: float


def likeness(patch: ByteArray, kind: Kind) -> Floats:
    """Return (PATCH, PATCH): how like a kind's colour each pixel of a patch is, up to 1."""
    off = (_soft(patch, 0.5) - kind.colour) / kind.spread
    off *= off
    like: Floats = np.exp(np.maximum(off @ np.full(3, -1 / 6, np.float32), -4))
    return like


def filled(like: Floats, kind: Kind, spot: Spot, above: Iterable[Spot]) -> float:
    """Return how like its colour a token is in the mean, where those ``above`` it leave it free; 0 where nowhere."""
    around = np.arange(PATCH) - (PATCH - 1) / 2
    x, y = (np.array(spot) * _SIZE).tolist()
    disc = np.hypot(around[None] - x, around[:, None] - y) < _INNER * kind.radius * _SIZE
    for left, far in above:
        disc &= np.hypot(around[None] - left * _SIZE, around[:, None] - far * _SIZE) > _COVERS * kind.radius * _SIZE
    return float(like[disc].mean()) if disc.any() else 0.0


def locate(like: Floats, kind: Kind, many: int) -> list[Spot]:
    """Return the likeliest middles of so many tokens of a kind by the :func:`likeness` of a patch of a place."""
    if many == 1 and kind.radius > _FILLS:
        return [(0.0, 0.0)]
    radius = kind.radius * _SIZE
    reach = int(np.ceil(1.35 * radius))
    around = np.arange(-reach, reach + 1)
    r = np.hypot(around[:, None], around[None])
    inside = np.clip(radius - r + 0.5, 0, 1)
    rim = np.clip(r - 1.08 * radius + 0.5, 0, 1) * np.clip(1.35 * radius - r + 0.5, 0, 1)
    kernel = (inside / inside.sum() - 0.35 * rim / max(rim.sum(), 1e-6)).astype(np.float32)
    score: Any = cv2.filter2D(like, -1, kernel, borderType=cv2.BORDER_CONSTANT)
    middle = (PATCH - 1) / 2
    at = np.arange(PATCH)
    outside = np.abs(at - middle) > _SIZE / 2
    score[outside] = score[:, outside] = -8
    spots: list[Spot] = []
    for _ in range(many):
        y, x = divmod(int(score.argmax()), PATCH)
        spots.append(((x - middle) / _SIZE, (y - middle) / _SIZE))
        score[(at[:, None] - y) ** 2 + (at[None] - x) ** 2 < (_NEAR * radius) ** 2] = -9
    return spots


def _soft(crop: ByteArray, sigma: float) -> Floats:
    blurred: Any = cv2.GaussianBlur(colours(crop), (0, 0), sigma)
    return np.asarray(blurred, np.float32)


def empty_places(sampler: Sampler, shots: Sequence[TaughtPhoto]) -> dict[int, list[Floats]]:
    empty: dict[int, list[Floats]] = {}
    for shot in shots:
        for place, content in sorted(shot.contents.items()):
            seen = empty.setdefault(content.ground, [])
            if not content.things and len(seen) < 8:
                seen.append(_soft(sampler.cut(shot.straight, [place])[0], 0.7))
    return {ground: seen for ground, seen in empty.items() if seen}


def kind_of(
    sampler: Sampler, shots: Sequence[TaughtPhoto], things: tuple[int, ...], empty: dict[int, list[Floats]]
) -> Kind | None:
    """Return how tokens look from afar, by those that lie alone on a place; None where there are none."""
    areas, seen = [], []
    for shot in shots:
        for place, content in sorted(shot.contents.items()):
            if len(content.things) != 1 or content.things[0][1] != 1 or content.things[0][0] not in things:
                continue
            crop = sampler.cut(shot.straight, [place])[0]
            soft = _soft(crop, 0.7)
            offset = np.abs(np.arange(PATCH) - (PATCH - 1) / 2) / _SIZE
            out = np.maximum(offset[:, None], offset[None])
            same = empty.get(content.ground, [])
            if not same:
                # Where the ground was never seen empty, the place's rim tells its colour.
                same = [np.broadcast_to(np.median(soft[(out > 0.36) & (out < 0.44)], axis=0), soft.shape)]
            differs = np.min([np.linalg.norm((e - soft) * [1, 1.2, 1.2], axis=2) for e in same], axis=0)
            near = out < 0.45
            mask = ((differs > max(0.12, 0.45 * float(np.quantile(differs[near], 0.97)))) & near).astype(np.uint8)
            mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8)).astype(np.uint8, copy=False)
            many, names, stats, _ = cv2.connectedComponentsWithStats(mask)
            if many < 2:
                continue
            largest = 1 + int(stats[1:, cv2.CC_STAT_AREA].argmax())
            areas.append(float(stats[largest, cv2.CC_STAT_AREA]) / _SIZE**2)
            seen.append(colours(crop)[names == largest])
    if not areas:
        return None
    every = np.concatenate(seen)
    middle = np.median(every, axis=0)
    spread = 1.4826 * np.median(np.abs(every - middle), axis=0)
    near_it = every[(np.abs(every - middle) / (spread + 0.02)).max(axis=1) < 3]
    wide = np.maximum(1.5 * near_it.std(axis=0), 0.05)
    return Kind(things, middle.astype(np.float32), wide.astype(np.float32), float(np.sqrt(np.median(areas) / np.pi)))


def close_of(sampler: Sampler, shot: TaughtPhoto, place: int) -> ByteArray:
    """Return a close-up of a place of a taught photo; out of the straight picture where none was kept."""
    kept = shot.close.get(place)
    return sampler.close_up(shot.straight, place) if kept is None else kept


def windows(close: ByteArray, spot: Spot, radius: float) -> Floats:
    """Return (n, pixels): the grey inside of a token, its middle moved by up to :data:`REACH` pixels each way."""
    return _every(_cut(close, spot, _pixel(radius), _WIDE))


def moved(spot: Spot, radius: float, window: int) -> Spot:
    """Return the middle of one of the :func:`windows` about a spot."""
    down, right = divmod(window, 2 * REACH + 1)
    return spot[0] + (right - REACH) * _pixel(radius), spot[1] + (down - REACH) * _pixel(radius)


def uncovered(spot: Spot, others: Iterable[Spot], radius: float) -> Floats:
    """Return (n, pixels): which pixels of each of the :func:`windows` no other token lies near to."""
    return _every(_free(spot, others, _COVERS * radius, _pixel(radius), _WIDE).astype(np.float32))


def signs_of(
    close: ByteArray, spots: FloatArray, radius: float, zooms: FloatArray, above: Sequence[Spot]
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return (n, SIGN, SIGN): the grey inside of tokens about spots (n, 2), where no token ``above`` lies near to.

    ``zooms`` (n,): how much more than the part that is compared is shown.
    """
    around = (np.arange(SIGN) - (SIGN - 1) / 2) * _pixel(radius)
    x, y = (spots[:, k, None] + zooms[:, None] * around for k in (0, 1))
    shape = (len(spots), SIGN, SIGN)
    free = np.ones(shape, np.bool_)
    for left, far in above:
        free &= np.hypot(x[:, None] - left, y[:, :, None] - far) > radius
    at = [(close.shape[0] - 1) / 2 + part.astype(np.float32) * CLOSE_PX for part in (x[:, None], y[:, :, None])]
    across, down = (np.ascontiguousarray(np.broadcast_to(part, shape)).reshape(-1, SIGN) for part in at)
    cut: Any = cv2.remap(close, across, down, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    grey: Floats = (cut.astype(np.float32) @ _GREY).reshape(shape)
    return grey, free


def _cut(close: ByteArray, spot: Spot, pixel: float, side: int, turn: float = 0.0) -> Floats:
    """Return (side, side): the grey of a close-up about a spot, turned by degrees; pixels in sizes of the place."""
    middle = (close.shape[0] - 1) / 2 + np.array(spot) * CLOSE_PX
    matrix = cv2.getRotationMatrix2D((0, 0), -turn, pixel * CLOSE_PX)
    matrix[:, 2] = middle - matrix[:, :2] @ np.full(2, (side - 1) / 2)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    cut: Any = cv2.warpAffine(close, matrix, (side, side), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    grey: Floats = cut.astype(np.float32) @ _GREY
    return grey


def _free(spot: Spot, others: Iterable[Spot], reach: float, pixel: float, side: int) -> NDArray[np.bool_]:
    """Return (side, side): which of the pixels about a spot are farther than ``reach`` from all others."""
    around = (np.arange(side) - (side - 1) / 2) * pixel
    free = np.ones((side, side), np.bool_)
    for x, y in others:
        free &= np.hypot(around[None] + spot[0] - x, around[:, None] + spot[1] - y) > reach
    return free


def _pixel(radius: float) -> float:
    """Return the size of a sign's pixel, in sizes of the place."""
    return 2 * radius * _INNER / (SIGN - 1)


def _every(wide: Floats) -> Floats:
    seen: Floats = sliding_window_view(wide, (SIGN, SIGN))[:, :, DISC]
    return seen.reshape(-1, seen.shape[-1])


def tint_of(close: ByteArray, spot: Spot, radius: float) -> Floats:
    """Return (2,): the usual chromas inside a token."""
    middle = (close.shape[0] - 1) / 2
    reach = max(2.0, radius * CLOSE_PX * _INNER)
    x, y = middle + spot[0] * CLOSE_PX, middle + spot[1] * CLOSE_PX
    left, top = max(int(x - reach), 0), max(int(y - reach), 0)
    part = np.ascontiguousarray(close[top : max(int(y + reach) + 1, top + 1), left : max(int(x + reach) + 1, left + 1)])
    seen: Floats = colours(part).reshape(-1, 3)[:, 1:].mean(axis=0)
    return seen


def turned(close: ByteArray, spot: Spot, radius: float) -> Floats:
    """Return (TURNS, pixels): a token's sign in all directions, each of mean 0 and length 1."""
    pixel = _pixel(radius)
    stack = np.stack([_cut(close, spot, pixel, SIGN, 360 * turn / TURNS)[DISC] for turn in range(TURNS)])
    stack -= stack.mean(axis=1, keepdims=True)
    lengths: Floats = stack / (np.linalg.norm(stack, axis=1, keepdims=True) + 1e-3)
    return lengths


def alike(rows: Floats, squares: Floats, signs: Floats, weights: Floats | None) -> Floats:
    """Return (rows, signs): how each turned print correlates with each sign, where the sign has weight."""
    if weights is None:
        even = signs - signs.mean(axis=1, keepdims=True)
        even /= np.sqrt(np.maximum((even**2).mean(axis=1, keepdims=True), 1e-3)) * even.shape[1] ** 0.5
        plain: Floats = rows @ even.T
        return plain
    w = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-6)
    mean, square = rows @ w.T, squares @ w.T
    own = signs * w
    own_mean = own.sum(axis=1)
    own_square = (own * signs).sum(axis=1)
    spread = np.sqrt(np.maximum(square - mean**2, 1e-9))
    own_spread = np.sqrt(np.maximum(own_square - own_mean**2, 1e-3))
    like: Floats = (rows @ own.T - mean * own_mean) / (spread * own_spread)
    like[:, weights.mean(axis=1) < SHOWS] = -1
    return like
