"""Round pieces on a track, whatever they look like: what changed between two pictures, and which of them moved.

The camera stays where it was. A smooth field of gains is fitted between the pictures, so another lamp changes nothing;
what lies under cards in either picture is not looked at. A piece that moves leaves one spot changed and makes another.
Which piece it is is known by where it lay: from the first time on that the record said where it went.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray

WORK_SIDE: Final = 960
CHANGED: Final = 0.2
"""From which difference of light on (logarithm, any channel) a pixel has changed."""
_LEAST, _MOST = 0.09, 0.3
"""Radius of a piece's spot, in widths of a card."""
_FILLED: Final = 0.6
"""So much of the circles around spots must have changed."""
_ROUND: Final = 0.7
"""So much of a spot's radius is looked at: its rim is another's, or a shadow."""
_CELLS: Final = 12
_MUCH: Final = 0.06
"""Where more of the table has changed, it was not only pieces."""
_NEAR: Final = 0.2
"""A piece lies where it lay when it is seen so near, in widths of a card."""
_STEP: Final = 0.3
"""So much a step may be longer or shorter than usual: cards lie askew, and the camera leans."""
_REACH: Final = 2.5
"""A piece goes two places at once, at most, and lies somewhere on its place."""
_CLEARLY: Final = 0.12
"""So much better one way to explain the spots must be than any other."""


@dataclass(frozen=True, eq=False)
class OpenTable:
    """A picture (BGR) with the outlines (4, 2) of the cards in it, and how wide one is, in pixels."""

    picture: ByteArray
    cards: tuple[FloatArray, ...]
    width: float


@dataclass(frozen=True, eq=False)
class Spot:
    """A place (2,) that changed: its tones before and after, and how much it stood out of what lies around it."""

    at: FloatArray
    before: FloatArray
    after: FloatArray
    stood_out: float
    stands_out: float


def off(one: FloatArray, other: FloatArray) -> float:
    """Return how unlike tones are: 0 the same, 1 nothing in common (Bhattacharyya)."""
    return float(np.sqrt(max(0.0, 1.0 - float(np.sqrt(one * other).sum()))))


def spots(before: OpenTable, after: OpenTable) -> tuple[Spot, ...] | None:
    """Return where a piece has gone or come between two pictures; None where too much has changed to tell."""
    if before.picture.shape != after.picture.shape:
        return None
    scale = min(1.0, WORK_SIDE / max(before.picture.shape[:2]))
    old, new = light_at(before.picture, scale), light_at(after.picture, scale)
    free = ~under((*before.cards, *after.cards), old.shape, scale)
    level = (new - gain_of(old, new, free)).astype(np.float32)
    differs = (np.abs(cv2.GaussianBlur(level - old, (0, 0), 1.0)).max(axis=2) > CHANGED) & free
    if differs.mean() > _MUCH:
        return None
    found = []
    for at, radius in _round(differs, before.width * scale):
        gone, come = _tones(old, at, radius), _tones(level, at, radius)
        around = [_around(light, differs, at, radius) for light in (old, level)]
        outs = [0.0 if rim is None else off(rim, own) for rim, own in zip(around, (gone, come), strict=True)]
        found.append(Spot(np.array(at) / scale, gone, come, *outs))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class _Went:
    """Pieces that went so many places up, from their ``places``, and the spots that were seen of it."""

    seen: tuple[Spot, ...]
    moved: Mapping[str, int]
    places: Mapping[str, int]


_Fit = tuple[float, dict[str, tuple[int, int]]]
"""How badly pieces look to have gone so, and of each the spots that it left and went to."""


@dataclass
class Track:
    """Where pieces lie on their track, as far as it is known, and where its places are.

    ``where``: (2,) of a piece, in pixels. ``frame``: (2, 2), where place 0 is, and the way from each to the next. Up is
    to the right in the picture, until what people say contradicts it.
    """

    width: float
    where: dict[str, FloatArray] = field(default_factory=dict)
    frame: FloatArray | None = None
    up: float = 1.0
    _known: list[tuple[int, int, FloatArray, FloatArray]] = field(default_factory=list)
    """Of each move that is known: from which place, how many up, where the piece lay, and where it went."""
    _learnt: list[_Went] = field(default_factory=list)

    def read(
        self, seen: Sequence[Spot], ways: Sequence[Mapping[str, int]], places: Mapping[str, int]
    ) -> tuple[int, ...]:
        """Return which of some ways pieces may have gone as is seen: for each piece so many places up.

        ``places``: where each stood on the track before. One way where that is clearly the best: a piece is known by
        where it lay, or those that moved stood on places of their own. None where no way fits.
        """
        told = []
        for number, way in enumerate(ways):
            fits = self._fits(_went(seen, way, places))
            if not fits and self.frame is None:
                # Of which nothing is known, it may be the other way round, too.
                fits = self._fits(_went(seen, {name: -steps for name, steps in way.items()}, places))
            told += [(fits[0][0], number)] if fits else []
        told.sort()
        if self.frame is not None and len(told) > 1 and told[1][0] - told[0][0] >= _CLEARLY:
            return (told[0][1],)
        return tuple(sorted(number for _, number in told))

    def learn(self, seen: Sequence[Spot] | None, way: Mapping[str, int], places: Mapping[str, int]) -> None:
        """Learn where pieces lie that went so, as is known by now; None: it was not seen."""
        went = _went(seen or (), way, places)
        if not self._take(went):
            for name in went.moved:
                self.where.pop(name, None)
            self._turn_round(went)

    def _turn_round(self, went: _Went) -> None:
        """Take it that the track is seen from its other side, where that explains all that was learnt, and this."""
        other = Track(self.width, up=-self.up)
        if self._learnt and all(other._take(one) for one in (*self._learnt, went)):
            self.where, self.frame, self.up = other.where, other.frame, other.up
            self._known, self._learnt = other._known, other._learnt

    def _take(self, went: _Went) -> bool:
        """Learn from pieces that went so; return whether that explains what was seen."""
        fits = self._fits(went)
        if not fits:
            return False
        near = [chosen for cost, chosen in fits if cost - fits[0][0] < _CLEARLY]
        for name in went.moved:
            # Two that lay side by side may look alike: where each went to is known all the same.
            ends = {chosen[name][1] for chosen in near}
            self.where.pop(name, None)
            if len(ends) == 1:
                self.where[name] = went.seen[ends.pop()].at
        if len({frozenset(chosen.values()) for chosen in near}) == 1:
            self._known += [
                (went.places[name], went.moved[name], went.seen[start].at, went.seen[end].at)
                for name, (start, end) in near[0].items()
            ]
            place, up, at, after = (np.array(one, float) for one in zip(*self._known, strict=True))
            # Each piece lies somewhere on its place, and mostly as far from its middle where it goes to.
            step = (up @ (after - at)) / (up @ up)
            self.frame = np.stack([(at + after - np.outer(2 * place + up, step)).mean(axis=0) / 2, step])
        self._learnt.append(went)
        return True

    def _fits(self, went: _Went) -> list[_Fit]:
        """Return what pieces' moves may be which spots, the best first; every spot on the track must be one's."""
        on_it = {number for number, spot in enumerate(went.seen) if self._is_on(spot.at, went.places.values())}

        def rest(names: list[str], chosen: dict[str, tuple[int, int]]) -> Iterator[dict[str, tuple[int, int]]]:
            if not names:
                if {n for pair in chosen.values() for n in pair} == on_it:
                    yield chosen
                return
            for pair in self._pairs(went, names[0], on_it):
                starts, ends = zip(*chosen.values(), strict=True) if chosen else ((), ())
                if pair[0] not in starts and pair[1] not in ends:
                    yield from rest(names[1:], {**chosen, names[0]: pair})

        found = []
        for chosen in rest(list(went.moved), {}):
            ways = [(went.seen[end].at - went.seen[start].at) / went.moved[n] for n, (start, end) in chosen.items()]
            usual = np.mean(ways, axis=0)
            if all(np.linalg.norm(way - usual) <= _STEP * np.linalg.norm(usual) for way in ways):
                found.append((sum(self._cost(went, name, *pair) for name, pair in chosen.items()), chosen))
        return sorted(found, key=lambda one: one[0])

    def _pairs(self, went: _Went, name: str, on_it: set[int]) -> Iterator[tuple[int, int]]:
        """Yield the spots between which a piece may have moved."""
        known, others = self.where.get(name), [at for other, at in self.where.items() if other != name]
        for start in on_it:
            at = went.seen[start].at
            if known is None and any(np.linalg.norm(at - there) < _NEAR * self.width for there in others):
                continue
            if known is not None and np.linalg.norm(at - known) > _NEAR * self.width:
                continue
            for end in on_it - {start}:
                way = (went.seen[end].at - at) / went.moved[name]
                if self.frame is None:
                    if way[0] * self.up > abs(way[1]) and 0.5 * self.width < np.linalg.norm(way) < 3 * self.width:
                        yield start, end
                elif np.linalg.norm(way - self.frame[1]) <= _STEP * np.linalg.norm(self.frame[1]):
                    place, after = went.places[name], went.seen[end].at
                    if max(abs(self._off(at, place)), abs(self._off(after, place + went.moved[name]))) < 1:
                        yield start, end

    def _cost(self, went: _Went, name: str, start: int, end: int) -> float:
        """Return how little it looks as if a piece had gone from one spot to another."""
        one, other, place = went.seen[start], went.seen[end], went.places[name]
        away = self._off(one.at, place) ** 2 + self._off(other.at, place + went.moved[name]) ** 2
        return off(one.before, other.after) - 0.5 * (one.stood_out + other.stands_out) + away

    def _off(self, at: FloatArray, place: int) -> float:
        """Return how far along the track something lies from the middle of a place, in places."""
        if self.frame is None:
            return 0.0
        begin, step = self.frame
        return float((at - begin) @ step / (step @ step)) - place

    def _is_on(self, at: FloatArray, places: Collection[int]) -> bool:
        """Return whether something lies on the track: no farther from its middle line than a place is long.

        Of the track so much is known as pieces may reach from their ``places``: two places up or down.
        """
        if self.frame is None:
            return True
        begin, step = self.frame
        along = self._off(at, 0)
        if not min(places) - _REACH <= along <= max(places) + _REACH:
            return False
        return bool(np.linalg.norm(at - begin - along * step) <= np.linalg.norm(step))


def _went(seen: Sequence[Spot], way: Mapping[str, int], places: Mapping[str, int]) -> _Went:
    return _Went(tuple(seen), {name: steps for name, steps in way.items() if steps}, places)


def light_at(picture: ByteArray, scale: float) -> NDArray[np.float32]:
    """Return the light of a picture at the size that is worked at, as logarithms."""
    small: Any = picture
    if scale < 1:
        small = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    light = (np.asarray(small, np.float32) / 255) ** np.float32(2.2)
    return np.asarray(np.log(light + np.float32(0.02)), np.float32)


def under(cards: Sequence[FloatArray], shape: tuple[int, ...], scale: float) -> NDArray[np.bool_]:
    """Return where cards lie, with a rim for their shadows."""
    mask = np.zeros(shape[:2], np.uint8)
    for corners in cards:
        middle = corners.mean(axis=0)
        cv2.fillConvexPoly(mask, np.round((middle + 1.12 * (corners - middle)) * scale).astype(np.int32), 1)
    return mask > 0


def gain_of(old: NDArray[np.float32], new: NDArray[np.float32], free: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return by how much the light has changed: smooth, whatever pieces did."""
    high, wide = old.shape[:2]
    step = 16
    rows, columns = high // step, wide // step
    # Every fourth pixel is enough.
    each = np.s_[: rows * step : 4, : columns * step : 4]
    change = (new[each] - old[each]).reshape(rows, step // 4, columns, step // 4, 3)
    bare = free[each].reshape(rows, step // 4, columns, step // 4)
    cells = change.transpose(0, 2, 1, 3, 4).reshape(rows, columns, -1, 3).copy()
    mask = bare.transpose(0, 2, 1, 3).reshape(rows, columns, -1)
    cells[~mask] = np.nan
    enough = mask.mean(axis=2) > 0.3
    coarse = np.zeros((rows, columns, 3), np.float32)
    if enough.any():
        coarse[enough] = np.nanmedian(cells[enough], axis=1)
        coarse[~enough] = np.median(coarse[enough], axis=0)
    for _ in range(3):
        parts = [cv2.medianBlur(np.ascontiguousarray(coarse[..., c]), 5) for c in range(3)]
        coarse = np.stack(parts, axis=2).astype(np.float32)
    smooth: Any = cv2.GaussianBlur(coarse, (0, 0), 2.0)
    return np.asarray(cv2.resize(smooth, (wide, high), interpolation=cv2.INTER_CUBIC), np.float32)


def _round(differs: NDArray[np.bool_], width: float) -> list[tuple[tuple[float, float], float]]:
    """Return the changed spots that are round: middle and radius; those that touch are told apart."""
    ring: Any = cv2.getStructuringElement
    mask: Any = differs.astype(np.uint8)
    close, wide = max(3, round(0.08 * width) | 1), max(3, round(0.16 * width) | 1)
    mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, ring(cv2.MORPH_ELLIPSE, (close, close)))
    mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, ring(cv2.MORPH_ELLIPSE, (wide, wide)))
    found = []
    count, parts = cv2.connectedComponents(mask)
    depth = cv2.distanceTransform(mask, cv2.DIST_L2, 5)
    for part in range(1, count):
        inside = parts == part
        deepest = float(depth[inside].max())
        if not _LEAST * width <= deepest <= _MOST * width:
            continue
        tops, peaks = cv2.connectedComponents(((depth >= 0.75 * deepest) & inside).astype(np.uint8))
        here = []
        for top in range(1, tops):
            at = np.argwhere(peaks == top).mean(axis=0)
            here.append(((float(at[1]), float(at[0])), float(depth[peaks == top].max())))
        filled = sum(np.pi * radius**2 for _, radius in here)
        if _FILLED * inside.sum() <= filled:
            found += here
    return found


def _around(
    light: NDArray[np.float32], differs: NDArray[np.bool_], at: tuple[float, float], radius: float
) -> FloatArray | None:
    """Return the tones of what lies around a spot and has not changed."""
    far = _distances(light, at)
    around = (far >= 1.2 * radius) & (far <= 1.8 * radius) & ~differs
    return _histogram(light[around]) if around.sum() >= 20 else None


def _tones(light: NDArray[np.float32], at: tuple[float, float], radius: float) -> FloatArray:
    """Return the tones of a spot."""
    return _histogram(light[_distances(light, at) <= _ROUND * radius])


def _distances(light: NDArray[np.float32], at: tuple[float, float]) -> FloatArray:
    ys, xs = np.ogrid[0 : light.shape[0], 0 : light.shape[1]]
    far: FloatArray = np.sqrt((xs - at[0]) ** 2 + (ys - at[1]) ** 2)
    return far


def _histogram(pixels: NDArray[np.float32]) -> FloatArray:
    """Return how often each tone is seen: brightness, blue and red by green, in cells, softly."""
    parts = []
    for values, low, top in (
        (pixels[:, 1], -3.5, 0.0),
        (pixels[:, 0] - pixels[:, 1], -2.5, 2.5),
        (pixels[:, 2] - pixels[:, 1], -2.5, 2.5),
    ):
        place = np.clip((values - low) / (top - low), 0, 0.999) * _CELLS
        cells = np.bincount(place.astype(int), minlength=_CELLS).astype(float)
        cells = np.convolve(cells, [0.25, 0.5, 0.25], "same")
        parts.append(cells / max(1e-9, float(cells.sum())) / 3)
    tones: FloatArray = np.concatenate(parts)
    return tones
