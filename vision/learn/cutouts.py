"""Cut things out of the pictures of taught places: alone, beside others, and in the colours of others of their kind.

A thing alone on a known ground is cut out where it differs from that ground's empty places. One that never lay alone is
what is left of a place without the others, or what is too thick to be one of them. One whose colour is known from other
things only is painted in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.board.features import colours
from vision.board.illumination import CODED
from vision.board.labels import Content
from vision.board.patches import CONTEXT, PATCH, Sampler
from vision.learn.heaps import part_heap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray
    from vision.board.layout import Layout

    Floats = NDArray[np.float32]

_PLACE: Final = PATCH / CONTEXT
_MOST_EMPTY: Final = 24
_THICKER: Final = 1.2
"""What is so much thicker than a thing of the same colour is another thing."""
_LESS: Final = 0.4
_MORE: Final = 1.6
"""What has the colours of the others is they, where it is about as much as they would be."""
_OF_OTHER: Final = 0.12
"""Colours nearer than this to those of another thing are taken for its own."""
_OF_SAME: Final = 0.05
"""The same where both are said to be of one colour."""
_CORE: Final = 0.15
_LEAST_PART: Final = 0.02
_ABOUT: Final = 0.4
_HALF: Final = 0.4
_NECK: Final = 3.0
_MOST_OF: Final = 0.7
_SOME_PIXELS: Final = 60
_LEANS: Final = 0.2
"""Of a usual place: so far a piece leans over the edge of its own."""


@dataclass(frozen=True)
class LabelledBoard:
    """A straightened board in the common light, and what lies in some of its places (by number)."""

    straight: ByteArray
    contents: dict[int, Content]


def taught_places(taught: Sequence[LabelledBoard]) -> list[tuple[int, int, Content]]:
    """Return every place of some boards: which board it is on, its number, and what lies there."""
    return [(shot, n, content) for shot, board in enumerate(taught) for n, content in sorted(board.contents.items())]


@dataclass(frozen=True)
class Cutout:
    """A thing alone: its ``picture`` where it has ``cover``, its ``shade`` (0…1) where it darkens what is around it."""

    picture: ByteArray
    cover: ByteArray
    shade: NDArray[np.float32]
    middle: FloatArray

    @cached_property
    def darkens(self) -> bool:
        """Return whether it has any shade."""
        return bool(self.shade.min() < 1)


Cutouts = Mapping[int, Sequence[Cutout]]
"""Pictures of things, by thing."""


def find_cutouts(
    sampler: Sampler, taught: Sequence[LabelledBoard], owned: list[tuple[int, int, Content]]
) -> dict[int, list[Cutout]]:
    """Return for each thing its pictures, where it stands out from the empty places of its ground."""
    usual = [entry for entry in owned if entry[1] not in sampler.strips]
    grounds = _grounds_seen(sampler, taught, usual)
    found: dict[int, list[Cutout]] = {}
    for shot, place, content in usual:
        if len(content.things) == 1 and content.things[0][1] == 1 and content.ground in grounds:
            patch = sampler.cut(taught[shot].straight, [place])[0]
            stands = _standing_out(patch, grounds[content.ground])
            if stands is not None:
                cutout = _cutout(patch, _largest(stands[0] > 127, 0.0), stands[1])
                if cutout is not None:
                    found.setdefault(content.things[0][0], []).append(cutout)
    found |= _parted(sampler, taught, usual, grounds, found)
    found |= _heaped(sampler, taught, owned, found)
    return found | _painted(sampler.layout, found)


@dataclass(frozen=True)
class _Ground:
    """Empty places of a ground (n, PATCH, PATCH, 3), softened, and how far they differ from each other."""

    empty: Floats
    limit: Floats


def _grounds_seen(
    sampler: Sampler, taught: Sequence[LabelledBoard], owned: list[tuple[int, int, Content]]
) -> dict[int, _Ground]:
    empty: dict[int, list[Floats]] = {}
    for shot, place, content in owned:
        if not content.things and len(empty.setdefault(content.ground, [])) < _MOST_EMPTY:
            empty[content.ground].append(_soft(sampler.cut(taught[shot].straight, [place])[0]))
    stacked = {ground: np.stack(patches) for ground, patches in empty.items()}
    return {ground: _Ground(patches, _usual(patches)) for ground, patches in stacked.items()}


def _standing_out(patch: ByteArray, ground: _Ground) -> tuple[ByteArray, NDArray[np.float32]] | None:
    """Return the cover of all that stands on a place, and its shade; None where nothing does, or the whole place."""
    soft = _soft(patch)
    off = _off(ground.empty, soft)
    cover = _differs(off.min(axis=0) > np.square(ground.limit))
    return None if cover is None else _shaded(soft, ground.empty, off.argmin(axis=0), cover)


def _cutout(picture: ByteArray, part: NDArray[np.bool_], shade: NDArray[np.float32]) -> Cutout | None:
    ys, xs = np.nonzero(part)
    cover: ByteArray = cv2.GaussianBlur(part.astype(np.uint8) * np.uint8(255), (0, 0), 0.9).astype(np.uint8)
    if not len(xs):
        return None
    middle = np.array([xs.mean(), ys.mean()])
    # What is not about the middle is a neighbour's.
    there = np.abs(middle - (PATCH - 1) / 2).max() < _ABOUT * _PLACE
    return Cutout(picture, cover, shade, middle) if there else None


def _parted(
    sampler: Sampler,
    taught: Sequence[LabelledBoard],
    owned: list[tuple[int, int, Content]],
    grounds: dict[int, _Ground],
    alone: dict[int, list[Cutout]],
) -> dict[int, list[Cutout]]:
    """Return pictures of things that never lay alone: what is not of the others' colour and thicker than they are."""
    layout = sampler.layout
    colour = {thing: _pixels(cutouts) for thing, cutouts in alone.items()}
    reach = {thing: float(np.median([_thickness(c.cover > 127) for c in cutouts])) for thing, cutouts in alone.items()}
    area = {thing: float(np.median([(c.cover > 127).sum() for c in cutouts])) for thing, cutouts in alone.items()}
    found: dict[int, list[Cutout]] = {}
    for shot, place, content in owned:
        counts = dict(content.things)
        fresh = [thing for thing in counts if thing not in alone]
        if len(fresh) != 1 or counts[fresh[0]] != 1 or len(counts) < 2 or content.ground not in grounds:
            continue
        thing = fresh[0]
        patch = sampler.cut(taught[shot].straight, [place])[0]
        stands = _standing_out(patch, grounds[content.ground])
        if stands is None:
            continue
        cover, shade = stands
        seen, mask = _soft(patch), cover > 127
        alike = [o for o in counts if o != thing and layout.things[o].colour in (layout.things[thing].colour, None)]
        thick = max((reach[other] for other in alike), default=0.0)
        for other in set(counts) - {thing}:
            mask &= _nearest(seen, colour[other]) > (_OF_SAME if other in alike else _OF_OTHER)
        part = _largest(mask, max(1.0, 0.5 * thick))
        usual = sum(counts[other] * area[other] for other in counts if other != thing)
        if not _LESS < ((cover > 127).sum() - mask.sum()) / max(usual, 1) < _MORE and _thickness(part) < thick:
            # Of the very same colour: what is thicker than the others.
            part = _largest(cover > 127, _THICKER * thick)
        if part.sum() < _LEAST_PART * _PLACE**2:
            continue
        cutout = _cutout(patch, part, shade)
        if cutout is not None:
            found.setdefault(thing, []).append(cutout)
    return found


def find_pieces(
    sampler: Sampler, straight: ByteArray, place: int, content: Content
) -> dict[int, list[NDArray[np.bool_]]]:
    """Return for each thing of a heap the pixels of its pieces on the straight board; nothing where they are not told.

    Told are things of one kind by their colours.
    """
    colour = {thing: sampler.layout.things[thing].colour for thing, _ in content.things}
    wanted = {name: content.count(thing) for thing, name in colour.items() if name is not None}
    if len(wanted) < len(content.things) or len({sampler.layout.things[thing].kind for thing in colour}) > 1:
        return {}
    within = sampler.within(place, straight.shape[:2])
    leaning = round(_LEANS * sampler.unit * sampler.side)
    (far, left), (near, right) = np.argwhere(within).min(axis=0), np.argwhere(within).max(axis=0) + 1
    part = (slice(max(far - leaning, 0), near + leaning), slice(max(left - leaning, 0), right + leaning))
    pieces = part_heap(np.ascontiguousarray(straight[part]), within[part], wanted) or {}
    found: dict[int, list[NDArray[np.bool_]]] = {}
    for thing, name in colour.items():
        for piece in pieces.get(name or "", ()):
            whole = np.zeros(straight.shape[:2], np.bool_)
            whole[part] = piece
            found.setdefault(thing, []).append(whole)
    return found


def _heaped(
    sampler: Sampler,
    taught: Sequence[LabelledBoard],
    owned: list[tuple[int, int, Content]],
    known: Mapping[int, list[Cutout]],
) -> dict[int, list[Cutout]]:
    """Return pictures of things that were seen in heaps only, each piece as if it stood in the middle of its place."""
    found: dict[int, list[Cutout]] = {}
    for shot, place, content in owned:
        if not content.things or any(thing in known for thing, _ in content.things):
            continue
        straight = taught[shot].straight
        x, y, size = sampler.middle(place)
        for thing, pieces in find_pieces(sampler, straight, place, content).items():
            for piece in pieces:
                rows, columns = np.nonzero(piece)
                move = [(columns.mean() - x) / size, (rows.mean() - y) / size, 0, 1 / sampler.shrunk(place)]
                cover = np.repeat(piece[..., None].astype(np.uint8) * np.uint8(255), 3, axis=2)
                patch, shown = (
                    sampler.cut_moved(picture, [place], np.array([move]))[0] for picture in (straight, cover)
                )
                cutout = _cutout(patch, shown[..., 0] > 127, np.ones((PATCH, PATCH), np.float32))
                if cutout is not None:
                    found.setdefault(thing, []).append(cutout)
    return found


def _painted(layout: Layout, known: dict[int, list[Cutout]]) -> dict[int, list[Cutout]]:
    """Return pictures of things in colours that only other things were seen in: those of their kind, painted."""
    number = {(t.kind, t.colour): n for n, t in enumerate(layout.things) if t.colour is not None}
    found: dict[int, list[Cutout]] = {}
    for (kind, colour), thing in number.items():
        if thing in known:
            continue
        for (other, paint), seen in number.items():
            # The thing that has both colours tells what the one looks like in the other.
            if other == kind or paint != colour or seen not in known:
                continue
            for (k, c), model in number.items():
                if k == kind and model in known and number.get((other, c)) in known:
                    old, new = _mean_light(known[number[other, c]]), _mean_light(known[seen])
                    found.setdefault(thing, []).extend(_paint(cutout, old, new) for cutout in known[model])
    return found


def _mean_light(cutouts: Sequence[Cutout]) -> FloatArray:
    """Return (3,): the mean colour of cutouts in linear light."""
    inside = np.concatenate([c.picture[inner(c)] for c in cutouts])
    mean: FloatArray = ((inside / 255.0) ** CODED).mean(axis=0)
    return mean


def _paint(cutout: Cutout, old: FloatArray, new: FloatArray) -> Cutout:
    """Return a cutout in another colour: each pixel is so much of the old colour, and so much white."""
    light = (cutout.picture.reshape(-1, 3) / 255.0) ** CODED
    base = np.stack([old, np.ones(3)])
    amount = np.linalg.solve(base @ base.T + 1e-6 * np.eye(2), base @ light.T)
    painted = np.clip(amount[0][:, None] * new + amount[1][:, None], 0, 1) ** (1 / CODED) * 255
    picture: ByteArray = np.round(painted).astype(np.uint8).reshape(cutout.picture.shape)
    return Cutout(picture, cutout.cover, cutout.shade, cutout.middle)


def veiled(picture: ByteArray, veil: float) -> ByteArray:
    """Return a picture under a veil of mirrored light, in parts of white in linear light."""
    if not veil:
        return picture
    lifted = 255 * ((np.arange(256) / 255) ** CODED + veil) ** (1 / CODED)
    seen: ByteArray = np.minimum(np.round(lifted), 255).astype(np.uint8)[picture]
    return seen


def inner(cutout: Cutout) -> NDArray[np.bool_]:
    """Return (PATCH, PATCH): where a cutout is nothing but the thing: not near its edge, where that leaves anything."""
    whole = (cutout.cover > min(200.0, 0.7 * float(cutout.cover.max()))).astype(np.uint8)
    core: NDArray[np.bool_] = cv2.erode(whole, np.ones((5, 5), np.uint8)) > 0
    return core if core.sum() > _CORE * whole.sum() else whole > 0


def _pixels(cutouts: Sequence[Cutout]) -> Floats:
    """Return (n, 3): some of the colours of cutouts."""
    every = np.concatenate([_soft(c.picture)[inner(c)] for c in cutouts])
    return every[:: max(1, len(every) // _SOME_PIXELS)] if len(every) else np.full((1, 3), 9.0, np.float32)


def _nearest(seen: Floats, among: Floats) -> Floats:
    """Return (PATCH, PATCH): how far each pixel's colour is from the nearest of some colours."""
    nearest: Floats = np.sqrt(_off(seen[:, :, None], among[None, None]).min(axis=2))
    return nearest


def _largest(mask: NDArray[np.bool_], thick: float) -> NDArray[np.bool_]:
    """Return the largest part of a shape that discs of a radius fill."""
    kept = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, _disc(thick)).astype(np.uint8, copy=False)
    many, names, stats, _ = cv2.connectedComponentsWithStats(kept)
    if many < 2:
        return np.zeros(mask.shape, np.bool_)
    largest: NDArray[np.bool_] = names == 1 + int(stats[1:, cv2.CC_STAT_AREA].argmax())
    return largest


def _thickness(mask: NDArray[np.bool_]) -> float:
    """Return the radius of the largest disc that fits into a shape, in pixels."""
    return float(cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_L2, 5).max())


def _disc(radius: float) -> ByteArray:
    side = 2 * int(np.ceil(radius)) + 1
    offset = np.arange(side) - side // 2
    disc: ByteArray = (np.hypot(offset[:, None], offset[None]) <= radius).astype(np.uint8)
    return disc


def _shaded(
    patch: Floats, empty: Floats, nearest: NDArray[np.intp], cover: ByteArray
) -> tuple[ByteArray, NDArray[np.float32]]:
    """Return the cover without what is only shade, and the shade: the ground in its own colour, but darker.

    The ground is what the ``nearest`` of the empty places shows, at each pixel.
    """
    rows, columns = np.indices(nearest.shape)
    ground = empty[nearest, rows, columns]
    darker = (patch[..., 0] + 0.02) / (ground[..., 0] + 0.02)
    tint = np.linalg.norm((patch - ground)[..., 1:], axis=2)
    mask = cover > 127
    shady = mask & (darker < 0.95) & (darker > 0.35) & (tint < 0.07 + 0.1 * (1 - darker))
    body = cv2.morphologyEx((mask & ~shady).astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    if body.sum() < 0.2 * mask.sum():
        return cover, np.ones(mask.shape, np.float32)
    # What is blurred over the ground about it is no part of it.
    off = np.sqrt(_off(patch, ground))
    body = body * (off > _HALF * np.median(off[body > 0])).astype(np.uint8)
    body = cv2.morphologyEx(body, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    shade = np.where(mask & (body == 0), np.clip(darker, 0.35, 1), 1).astype(np.float32)
    solid: ByteArray = cv2.GaussianBlur(body * np.uint8(255), (0, 0), 0.9).astype(np.uint8)
    soft: Any = cv2.GaussianBlur(shade, (0, 0), 1.2)
    return solid, np.asarray(soft, np.float32)


def _soft(patch: ByteArray) -> Floats:
    blurred: Any = cv2.GaussianBlur(colours(patch[None])[0], (0, 0), 1.2)
    return np.asarray(blurred, np.float32)


_WEIGHT = np.array([1.0, 1.44, 1.44], np.float32)
"""Of the square of each colour's difference."""


def _off(one: Floats, other: Floats) -> Floats:
    """Return how far colours (…, 3) are from others, squared."""
    off: Floats = np.square(one - other) @ _WEIGHT
    return off


def _usual(patches: Floats) -> Floats:
    """Return (PATCH, PATCH): how far empty places differ from each other, where they differ much."""
    if len(patches) < 2:
        return np.full((PATCH, PATCH), 0.09, np.float32)
    nearest = np.full((len(patches), PATCH, PATCH), np.inf, np.float32)
    for index in range(1, len(patches)):
        off = _off(patches[:index], patches[index])
        np.minimum(nearest[:index], off, out=nearest[:index])
        nearest[index] = np.minimum(nearest[index], off.min(axis=0))
    usual: Any = np.quantile(np.sqrt(nearest), 0.9, axis=0).astype(np.float32)
    limit: Floats = np.maximum(1.6 * cv2.GaussianBlur(usual, (0, 0), 3), np.float32(0.07))
    return limit


def _differs(differing: NDArray[np.bool_]) -> ByteArray | None:
    """Return the cover of what stands in a place, by which of its pixels differ from the ground; None as above."""
    mask: Any = differing.astype(np.uint8)
    offset = np.abs((np.arange(PATCH) - (PATCH - 1) / 2) / _PLACE)
    near = np.maximum(offset[:, None], offset[None, :]) < 0.6
    mask = cv2.morphologyEx(mask * near.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    # What stands there may touch a neighbour's edge by a thin neck.
    cut = cv2.morphologyEx(mask, cv2.MORPH_OPEN, _disc(_NECK)).astype(np.uint8, copy=False)
    core = np.maximum(offset[:, None], offset[None, :]) < 0.42
    if (cut & core).sum() > _MOST_OF * (mask & core).sum():
        mask = cut
    many, names, stats, _ = cv2.connectedComponentsWithStats(mask)
    keep = np.zeros_like(mask)
    for name in range(1, many):
        blob = names == name
        if stats[name, cv2.CC_STAT_AREA] > 0.008 * _PLACE**2 and (blob & core).sum() > 0.4 * blob.sum():
            keep[blob] = 1
    area = float(keep.sum()) / _PLACE**2
    if not 0.015 < area < 0.8:
        return None
    keep = cv2.dilate(keep, np.ones((3, 3), np.uint8))
    cover: ByteArray = cv2.GaussianBlur(keep * np.uint8(255), (0, 0), 0.9).astype(np.uint8)
    return cover
