"""A reader of places with the learnt networks of :mod:`companion.lab.train.place_net`, taught by prototypes.

Spots where a foot may stand are looked for low; each is named by the taught crops that are like it, and "nothing" is a
name like the others, taught by the spots where nothing stood. What lies in a place is one choice over whole contents:
the ground, and what each spot is, as far as the layout allows it. How far likeness is believed is told by taught places
that are kept out, one at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import cv2
import jax
import numpy as np

from companion.lab.train.place_net import CELLS, LENGTH, PATCH, cut, embeddings, heat_logits, normal, whole
from companion.lab.worlds.places import PLACE, SCENE
from vision.board.labels import Content

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.lab.train.place_net import Weights
    from companion.ports import ByteArray, FloatArray
    from vision.board.layout import Layout
    from vision.board.patches import Sampler
    from vision.board.pose import Pose

_LOW: Final = 0.03
"""A spot of less heat is not looked at."""
_MOST: Final = 8
_BEYOND: Final = 0.58
"""So far from the middle of a place, in places, feet are its own."""
_APART: Final = 3
_WAYS: Final = 60
_FAR: Final = 0.4
_SHARP: Final = (8.0, 16.0, 32.0, 64.0, 128.0)
_HEAT: Final = (0.0, 0.5, 1.0)
_NEAR: Final = (0.0, 3.0, 6.0, 10.0)
_TEMPERATURES: Final = (0.5, 0.7, 1.0, 1.4, 2.0, 3.0)
_ROUNDS: Final = 3
_AT_ONCE: Final = 64

_heat = jax.jit(heat_logits)
_thing = jax.jit(partial(embeddings, head="thing"))
_ground = jax.jit(partial(embeddings, head="ground"))

Things = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class _Spots:
    """What is seen in one place: the log-odds of a foot at each spot, the spots' embeddings, and the ground's.

    ``near`` is how close a spot is to one that is likelier: 1 on it, 0 from :data:`_FAR` on.
    """

    odds: FloatArray
    near: FloatArray
    found: FloatArray
    ground: FloatArray


@dataclass(frozen=True)
class _Examples:
    """Taught embeddings (n, numbers), the class of each, and the place that each was seen in."""

    found: FloatArray
    classes: NDArray[np.intp]
    places: NDArray[np.intp]
    many: int

    def scores(self, seen: FloatArray, sharp: float, without: int = -1) -> FloatArray:
        """Return (n, classes): the logarithm of how like each class a spot is; ``without`` is a place left out."""
        if not len(self.found):
            return np.full((len(seen), self.many), -np.inf)
        like = np.exp(sharp * (seen @ self.found.T - 1))
        like[:, self.places == without] = 0
        member = np.zeros((len(self.found), self.many))
        member[np.arange(len(self.found)), self.classes] = self.places != without
        with np.errstate(divide="ignore"):
            scores: FloatArray = np.log(like @ member / np.maximum(member.sum(axis=0), 1))
        return scores


class PlaceReader:
    """Reads places of one layout; taught on site."""

    def __init__(self, weights: Weights, layout: Layout) -> None:
        """Take learnt weights."""
        self._weights = {name: np.asarray(value) for name, value in weights.items()}
        self._layout = layout
        self._nothing = len(layout.things)
        self.sharp, self.ground_sharp, self.heat, self.near, self.temperature = 16.0, 16.0, 0.5, 3.0, 1.0

    def teach(self, taught: Sequence[tuple[ByteArray, Content]]) -> None:
        """Learn from scenes (:data:`SCENE`, :data:`SCENE`, 3) of places, and what lies in them."""
        seen = self._seen(np.stack([scene for scene, _ in taught]))
        contents = [content for _, content in taught]
        every = np.arange(len(taught))
        self._grounds = _Examples(
            np.stack([spots.ground for spots in seen]),
            np.array([content.ground for content in contents], np.intp),
            every,
            len(self._layout.grounds),
        )
        self._sorts = self._assigned(seen, contents)
        self._calibrate(seen, contents)

    def read(self, scenes: ByteArray) -> list[tuple[Content, float]]:
        """Return for each of the scenes the likeliest content and its probability."""
        return [self._choice(spots) for spots in self._seen(scenes)]

    def _seen(self, scenes: ByteArray) -> list[_Spots]:
        patches = np.stack([cv2.resize(scene, (PATCH, PATCH), interpolation=cv2.INTER_AREA) for scene in scenes])
        heat = _batched(partial(_heat, self._weights), normal(np.asarray(patches, np.uint8)))
        grounds = _batched(partial(_ground, self._weights), normal(np.stack([whole(scene) for scene in scenes])))
        spots = [_peaks(logits) for logits in heat]
        crops = [cut(scene, x, y) for scene, found in zip(scenes, spots, strict=True) for x, y in found[:, :2].tolist()]
        named: Any = (
            _batched(partial(_thing, self._weights), normal(np.stack(crops))) if crops else np.zeros((0, LENGTH))
        )
        parts = np.split(named, np.cumsum([len(found) for found in spots])[:-1])
        return [
            _Spots(found[:, 2], _near(found), part, ground)
            for found, part, ground in zip(spots, parts, grounds, strict=True)
        ]

    def _assigned(self, seen: Sequence[_Spots], contents: Sequence[Content]) -> _Examples:
        """Return what stands at each spot of the taught places: told by heat first, then by likeness as well."""
        examples: _Examples | None = None
        for turn in range(_ROUNDS):
            rows, classes, places = [], [], []
            for place, (spots, content) in enumerate(zip(seen, contents, strict=True)):
                truth = [thing for thing, count in content.things for _ in range(count)]
                if turn == 0 and len(set(truth)) > 1:
                    continue
                worth = np.repeat(spots.odds[:, None], len(truth), axis=1)
                if examples is not None:
                    scores = np.maximum(examples.scores(spots.found, self.sharp, place), -20)
                    worth = (
                        worth * self.heat
                        - self.near * spots.near[:, None]
                        + scores[:, truth]
                        - scores[:, [self._nothing]]
                    )
                names = _named(worth, truth, self._nothing)
                rows.append(spots.found.reshape(-1, LENGTH))
                classes.append(names)
                places.append(np.full(len(names), place))
            examples = _Examples(
                np.concatenate(rows), np.concatenate(classes), np.concatenate(places), self._nothing + 1
            )
        assert examples is not None
        return examples

    def _calibrate(self, seen: Sequence[_Spots], contents: Sequence[Content]) -> None:
        """Choose how sharply likeness tells, by how likely taught places are that are left out."""
        # One after the other, each with the best of those before it: all together would take a minute.
        for name, tried in (("near", _NEAR), ("sharp", _SHARP), ("heat", _HEAT)):
            told = []
            for value in tried:
                setattr(self, name, value)
                told.append(
                    np.mean([self._told(s, content, place) for place, (s, content) in _numbered(seen, contents)])
                )
            setattr(self, name, tried[int(np.argmax(told))])
        self.ground_sharp = max(_SHARP, key=lambda sharp: self._ground_told(seen, contents, sharp))
        self.temperature = max(_TEMPERATURES, key=lambda t: self._whole_told(seen, contents, t))

    def _told(self, spots: _Spots, content: Content, place: int) -> float:
        ways = self._ways(spots, place)
        return float(np.log(ways.get(content.things, 0.0) + 1e-3))

    def _ground_told(self, seen: Sequence[_Spots], contents: Sequence[Content], sharp: float) -> float:
        self.ground_sharp = sharp
        return float(
            np.mean([np.log(self._ground_p(s, place)[c.ground] + 1e-3) for place, (s, c) in _numbered(seen, contents)])
        )

    def _whole_told(self, seen: Sequence[_Spots], contents: Sequence[Content], temperature: float) -> float:
        self.temperature = temperature
        told = []
        for place, (spots, content) in _numbered(seen, contents):
            told.append(np.log(self._joint(spots, place).get(content, 0.0) + 1e-3))
        return float(np.mean(told))

    def _ground_p(self, spots: _Spots, without: int = -1) -> FloatArray:
        p: FloatArray = _softmax(self._grounds.scores(spots.ground[None], self.ground_sharp, without))[0]
        return p

    def _ways(self, spots: _Spots, without: int = -1) -> dict[Things, float]:
        """Return how likely which things stand in a place."""
        ways: dict[tuple[int, ...], float] = {(): 1.0}
        if len(spots.odds):
            scores = self._sorts.scores(spots.found, self.sharp, without)
            scores[:, : self._nothing] += (self.heat * spots.odds - self.near * spots.near)[:, None]
            scores[np.isneginf(scores).all(axis=1)] = 0
            for p in _softmax(scores):
                grown: dict[tuple[int, ...], float] = {}
                likely = np.nonzero(p > 1e-4)[0].tolist()
                for so_far, chance in ways.items():
                    for thing in likely:
                        now = so_far if thing == self._nothing else tuple(sorted((*so_far, thing)))
                        grown[now] = grown.get(now, 0.0) + chance * float(p[thing])
                ways = dict(sorted(grown.items(), key=lambda entry: -entry[1])[:_WAYS])
        most = self._layout.most
        counted = {tuple((t, way.count(t)) for t in sorted(set(way))): chance for way, chance in ways.items()}
        return {things: p for things, p in counted.items() if all(n <= most[t] for t, n in things)}

    def _joint(self, spots: _Spots, without: int = -1) -> dict[Content, float]:
        """Return the probability of whole contents."""
        grounds = self._ground_p(spots, without)
        joint: dict[Content, float] = {}
        for things, chance in self._ways(spots, without).items():
            for ground, p in enumerate(grounds.tolist()):
                name = self._layout.grounds[ground]
                if p > 1e-6 and all(not self._layout.on[t] or name in self._layout.on[t] for t, _ in things):
                    joint[Content(ground, things)] = (p * chance) ** (1 / self.temperature)
        total = sum(joint.values())
        return {content: p / total for content, p in joint.items()} if total > 0 else {}

    def _choice(self, spots: _Spots) -> tuple[Content, float]:
        joint = self._joint(spots)
        if not joint:
            return Content(int(self._ground_p(spots).argmax())), 0.0
        return max(joint.items(), key=lambda entry: entry[1])


def _named(worth: FloatArray, truth: Sequence[int], nothing: int) -> NDArray[np.intp]:
    """Return (spots,) which of the true things stands at each spot, by how much each pair (spots, things) is worth.

    The best pair first, and so on; what is left over is ``nothing``.
    """
    names = np.full(len(worth), nothing, np.intp)
    left = worth.copy()
    for _ in range(min(worth.shape)):
        spot, thing = np.unravel_index(int(left.argmax()), left.shape)
        names[spot] = truth[int(thing)]
        left[spot], left[:, thing] = -np.inf, -np.inf
    return names


def _numbered(seen: Sequence[_Spots], contents: Sequence[Content]) -> list[tuple[int, tuple[_Spots, Content]]]:
    return list(enumerate(zip(seen, contents, strict=True)))


def _softmax(scores: FloatArray) -> FloatArray:
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    normed: FloatArray = p / p.sum(axis=1, keepdims=True)
    return normed


def _batched(run: Any, pictures: Any) -> FloatArray:
    """Return what a network says of pictures, so many at once that it is compiled once."""
    parts = []
    for at in range(0, len(pictures), _AT_ONCE):
        some = pictures[at : at + _AT_ONCE]
        filled = np.zeros((_AT_ONCE, *some.shape[1:]), np.float32)
        filled[: len(some)] = some
        parts.append(np.asarray(run(filled), np.float64)[: len(some)])
    return np.concatenate(parts)


def _peaks(logits: FloatArray) -> FloatArray:
    """Return (n, 3): x and y of likely feet in places from the middle, and their log-odds; the likeliest first."""
    least = float(np.log(_LOW / (1 - _LOW)))
    highest = cv2.dilate(logits, np.ones((_APART, _APART), np.uint8))
    found = []
    for row, column in np.argwhere((logits >= highest) & (logits > least)).tolist():
        x, y = ((at + 0.5 - CELLS / 2) * SCENE / CELLS / PLACE for at in (column, row))
        if max(abs(x), abs(y)) <= _BEYOND:
            found.append((x, y, float(logits[row, column])))
    return np.array(sorted(found, key=lambda spot: -spot[2])[:_MOST]).reshape(-1, 3)


def _near(found: FloatArray) -> FloatArray:
    """Return (n,) for spots, the likeliest first, how close each is to one before it."""
    near = np.zeros(len(found))
    for index in range(1, len(found)):
        apart = np.hypot(*(found[:index, :2] - found[index, :2]).T).min()
        near[index] = max(0.0, 1 - apart / _FAR)
    return near


def scenes_of(sampler: Sampler, image: ByteArray, pose: Pose) -> ByteArray:
    """Return (places, :data:`SCENE`, :data:`SCENE`, 3): the places of a board in a photo, with what is around them."""
    image, pose = sampler.eased(image, pose, PLACE / sampler.unit)
    cuts = []
    for place in sampler.layout.places:
        size = max(place.width, place.height)
        reach = SCENE / PLACE / 2 * size
        box = (place.x - reach, place.y - reach, place.x + reach, place.y + reach)
        cuts.append(pose.straighten(image, PLACE / size, box))
    return np.stack(cuts)
