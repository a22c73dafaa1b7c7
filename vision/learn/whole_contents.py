"""What lies in a place as one answer over whole contents that were taught: kernel ridge regression.

It learns from the shipped embedding (:mod:`vision.board.embedding`), with the table's own features or without, in
seconds (Saunders, Gammerman and Vovk 1998). How near the embedding looks, also from two distances at once, and whether
the features help, is found on taught places that were left out, for which nothing has to be solved anew; so is how
sharply its answers tell. What was never taught together it cannot name; but it tells how likely such a thing lies
there, since what is new is as unlike everything taught as taught places are to those that show something else.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.board.embedding import LENGTH, embed
from vision.board.labels import Content
from vision.board.patches import PATCH
from vision.learn.optimiser import scale_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray
    from vision.learn.augment import Examples

    Floats = NDArray[np.float32]
    Arrays = Mapping[str, NDArray[Any]]

ARRAYS: Final = (
    "whole_zoom",
    "whole_mean",
    "whole_scale",
    "whole_seen",
    "whole_rows",
    "whole_answers",
    "whole_usual",
    "whole_sharp",
    "whole_ground",
    "whole_counts",
    "whole_unlike",
)
"""What it is stored as; profiles of before there was one are without."""
_HELD: Final = 0.03
"""How much the regression is held back, of what a view is like itself."""
_WIDTH: Final = 0.5
"""How fast likeness falls with the squared distance, which between views is 2 in the mean."""
_ZOOMS: Final = (1.0, 1.5, 2.2)
"""How much nearer than a place with its surroundings the embedding may look: small prints fill little of that."""
_LOOKS: Final = (*((zoom,) for zoom in _ZOOMS), *pairwise(_ZOOMS))
"""It looks from one of these distances, or from two that follow each other, at once."""
VIEWS: Final = 16
_MOST: Final = 1024
"""At the most so many views of a taught place are learnt from, and about so many of all places."""
_TRIED: Final = 2
"""So many views of each place there are at the least; how near to look is found by these."""
_SHARP: Final = np.geomspace(1, 64, 13)
_ENOUGH: Final = 20
"""Fewer rows teach nothing about what is new."""


def views_of(contents: Iterable[Content], size: float = 1.0) -> dict[Content, int]:
    """Return in how many views a place of each content is learnt from, where these were taught; ``size`` scales it.

    A content comes by the root of how often it was taught, as the first reader's do: what is seen everywhere, as the
    bare board, needs no further views; what was taught once does.
    """
    shown = Counter(contents)
    places, share = np.array(list(shown.values())), np.array([1 / np.sqrt(many) for many in shown.values()])
    for each in range(ceil(VIEWS * size * np.sqrt(places.max(initial=1))), 0, -1):
        views = np.clip(np.floor(each * share), _TRIED, max(round(VIEWS * size), _TRIED)).astype(int)
        if places @ views <= _MOST * size:
            break
    return dict(zip(shown, views.tolist(), strict=True))


def train_whole(features: Floats, views: Examples, *, single: bool = False) -> dict[str, NDArray[Any]]:
    """Return the :data:`ARRAYS` of views of taught places, whose features (n, features) are given.

    The places come once each, then all again, then some for every further view. ``single``: there is never more than
    one of a thing in a place.
    """
    _, first, rows = np.unique(views.state, return_index=True, return_inverse=True)
    source = views.source
    _, places = np.unique(source, return_index=True)
    shown = np.bincount(rows[places], minlength=len(first))
    weight = 1 / np.bincount(source)[source]
    zooms, own, begun = _sight(features, views, rows, shown, single=single)
    embedded = np.concatenate([begun, _embedded(views.patches[len(begun) :], zooms)])
    sight = _Sight.of(features if own else None, embedded)
    fitted = _Regression(sight.seen(features, embedded), rows)
    out = fitted.without(source)
    return {
        "whole_zoom": np.array(zooms, np.float32),
        "whole_mean": sight.mean,
        "whole_scale": sight.scale,
        "whole_seen": fitted.seen.astype(np.float16),
        "whole_rows": rows.astype(np.int32),
        "whole_answers": fitted.answers,
        "whole_usual": fitted.usual,
        "whole_sharp": np.array(_sharpness(out, rows, shown, weight)[0], np.float32),
        "whole_ground": views.ground[first],
        "whole_counts": views.counts[first],
        "whole_unlike": _novelty(fitted, out, source, shown, weight),
    }


def may_be_added(arrays: Arrays, many: int) -> bool:
    """Return whether so many views can be added to what was learnt in about a second."""
    return "whole_rows" in arrays and len(arrays["whole_rows"]) + many <= 2 * _MOST


def with_views(arrays: Arrays, features: Floats, views: Examples) -> dict[str, NDArray[Any]]:
    """Return the arrays with further views learnt, whose features (n, features) are given.

    How near to look, how sharply answers tell and what looks new stay as they were found: nothing is tried anew. There
    must be something to add to (:func:`may_be_added`).
    """
    states = {
        (ground, *counts): number
        for number, (ground, counts) in enumerate(
            zip(arrays["whole_ground"].tolist(), arrays["whole_counts"].tolist(), strict=True)
        )
    }
    shown = [(ground, *counts) for ground, counts in zip(views.ground.tolist(), views.counts.tolist(), strict=True)]
    rows = np.array([states.setdefault(state, len(states)) for state in shown], np.int32)
    known = np.array(list(states))
    seen = _seen(arrays, features, views.patches)
    fitted = _Regression(
        np.concatenate([arrays["whole_seen"].astype(np.float32), seen]),
        np.concatenate([arrays["whole_rows"], rows]),
        len(states),
    )
    return {
        **arrays,
        "whole_seen": fitted.seen.astype(np.float16),
        "whole_rows": np.asarray(fitted.rows, np.int32),
        "whole_answers": fitted.answers,
        "whole_usual": fitted.usual,
        "whole_ground": known[:, 0],
        "whole_counts": known[:, 1:],
    }


def _seen(arrays: Arrays, features: Floats, patches: ByteArray) -> Floats:
    """Return (n, inputs): what is seen of places by their patches and features."""
    embedded = _embedded(patches, np.atleast_1d(arrays["whole_zoom"]).tolist())
    return _Sight(arrays["whole_mean"], arrays["whole_scale"]).seen(features, embedded)


def _embedded(patches: ByteArray, zooms: Sequence[float]) -> Floats:
    """Return (n, numbers): the embeddings of patches, looked at from so near, beside each other."""
    return np.concatenate([embed(closer(patches, zoom)) for zoom in zooms], axis=1)


def closer(patches: ByteArray, zoom: float) -> ByteArray:
    """Return the middle of patches (n, PATCH, PATCH, 3), so many times as large."""
    if zoom == 1 or not len(patches):
        return patches
    off = (PATCH - 1) / 2 * (1 - 1 / zoom)
    matrix = np.array([[1 / zoom, 0, off], [0, 1 / zoom, off]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    near: Any = np.stack([cv2.warpAffine(patch, matrix, (PATCH, PATCH), flags=flags) for patch in patches])
    return np.asarray(near, np.uint8)


def _sight(
    features: Floats, views: Examples, rows: NDArray[np.intp], shown: NDArray[np.intp], *, single: bool
) -> tuple[tuple[float, ...], bool, Floats]:
    """Return how near the embedding looks, whether the table's features are looked at, too, and the first embeddings.

    As far away as the place with its surroundings, and with the features, unless another way tells places that were
    left out better by more than a standard error (Breiman and others 1984), of few views each. Where several things
    may lie in one place, one of them may lie at its edge: all of it is looked at.
    """
    some = slice(0, min(_TRIED * int(shown.sum()), len(rows)))
    if not (shown[rows[some]] > 1).any():
        return _LOOKS[0], True, np.zeros((0, LENGTH), np.float32)
    near = single and views.counts.sum(axis=1).max(initial=0) <= 1
    begun = {zoom: _embedded(views.patches[some], (zoom,)) for zoom in (_ZOOMS if near else _ZOOMS[:1])}
    ways: list[tuple[tuple[float, ...], bool, Floats]] = []
    losses = []
    for zooms in _LOOKS:
        if begun.keys() >= set(zooms):
            embedded = np.concatenate([begun[zoom] for zoom in zooms], axis=1)
            for own in (True, False):
                seen = _Sight.of(features[some] if own else None, embedded).seen(features[some], embedded)
                left = _Regression(seen, rows[some], len(shown)).without(views.source[some])
                ways.append((zooms, own, embedded))
                losses.append(_sharpness(left, rows[some], shown, np.ones(len(seen)))[1])
    best = int(np.argmin([loss.mean() for loss in losses]))
    # The views of a place are no more than one witness.
    error = losses[best].std() / np.sqrt(len(losses[best]) / _TRIED)
    return ways[0] if losses[0].mean() <= losses[best].mean() + error else ways[best]


@dataclass(frozen=True)
class _Sight:
    """What the regression sees of a place: (features and) embeddings, which count alike; see :meth:`seen`."""

    mean: Floats
    scale: Floats

    @classmethod
    def of(cls, features: Floats | None, embedded: Floats) -> _Sight:
        """Return what is to be seen of views; the ``features`` are no part of it where there are none."""
        parts = np.split(embedded, embedded.shape[1] // LENGTH, axis=1)
        scales = [np.ones(LENGTH, np.float32)] * len(parts)
        if features is not None:
            parts, scales = [features, *parts], [scale_of(features), *scales]
        even = [
            scale / np.sqrt(len(parts) * ((part.std(axis=0) * scale) ** 2).sum() + 1e-9)
            for part, scale in zip(parts, scales, strict=True)
        ]
        mean = np.concatenate([part.mean(axis=0) for part in parts])
        return cls(mean.astype(np.float32), np.concatenate(even).astype(np.float32))

    def seen(self, features: Floats, embedded: Floats) -> Floats:
        """Return (n, inputs), whose mean square length is 1 over the views that this was made of."""
        alone = len(self.mean) == embedded.shape[1]
        seen: Floats = ((embedded if alone else np.concatenate([features, embedded], axis=1)) - self.mean) * self.scale
        return seen


def _likeness(seen: Floats, others: Floats) -> Floats:
    """Return (n, others): how alike what is seen is, 1 where it is the same (a Gaussian kernel)."""
    far = (seen**2).sum(axis=1)[:, None] + (others**2).sum(axis=1)[None] - 2 * seen @ others.T
    alike: Floats = np.exp(-np.float32(_WIDTH) * np.maximum(far, 0))
    return alike


@dataclass(frozen=True)
class _Regression:
    """A kernel ridge regression of ``seen`` (n, inputs) on the states ``rows`` (n,) of so many ``states``."""

    seen: Floats
    rows: NDArray[np.intp]
    states: int = 0
    held: float = _HELD

    @cached_property
    def usual(self) -> Floats:
        """Return (states,): how often each is there."""
        often: Floats = (np.bincount(self.rows, minlength=self.states) / len(self.rows)).astype(np.float32)
        return often

    @cached_property
    def alike(self) -> Floats:
        """Return (n, n): how alike the views are to each other."""
        return _likeness(self.seen, self.seen)

    @cached_property
    def answers(self) -> Floats:
        """Return (n, states)."""
        answers: Floats = self._solved @ self._targets
        return answers

    def without(self, group: NDArray[Any]) -> FloatArray:
        """Return (n, states): what each row would be answered if nothing of its ``group`` (n,) had been learnt from.

        By blocks of the inverse (as for Gaussian processes, Sundararajan and Keerthi 2001): nothing is solved anew.
        """
        out = self._targets + self.usual
        order = np.argsort(group, kind="stable")
        for own in np.split(order, np.nonzero(np.diff(group[order]))[0] + 1):
            out[own] -= np.linalg.solve(self._solved[np.ix_(own, own)], self.answers[own])
        return out.astype(np.float64)

    @cached_property
    def _targets(self) -> Floats:
        """Return (n, states)."""
        targets: Floats = np.eye(len(self.usual), dtype=np.float32)[self.rows] - self.usual
        return targets

    @cached_property
    def _solved(self) -> Floats:
        """Return (n, n): what targets are multiplied with for the answers; a rare state is held back less."""
        weight = 1 / np.sqrt(np.bincount(self.rows))[self.rows]
        inner = self.alike.copy()
        inner[np.diag_indices(len(inner))] += (self.held * weight.mean() / weight).astype(np.float32)
        solved: Floats = np.linalg.inv(inner)
        return solved


def _signs(scores: FloatArray, alike: Floats) -> FloatArray:
    """Return (n, 3): what tells whether places are of a state at all.

    The best of the scores (n, states), how much better it is than the next, and how far, in logarithm, the nearest of
    what was learnt from looks, to which they are ``alike`` (n, learnt).
    """
    two = -np.partition(-scores, 1, axis=1)[:, :2] if scores.shape[1] > 1 else np.pad(scores, ((0, 0), (0, 1)))
    far = -np.log(np.maximum(alike.max(axis=1), 1e-30)) / _WIDTH
    return np.column_stack([two[:, 0], two[:, 0] - two[:, 1], np.log(np.maximum(far, 1e-6)) / 2])


def _sharpness(
    out: FloatArray, rows: NDArray[np.intp], shown: NDArray[np.intp], weight: FloatArray
) -> tuple[float, FloatArray]:
    """Return how sharply answers tell, and how badly then: those left out, of contents that lay elsewhere too.

    How badly each is told is minus the logarithm of what the truth is told with; each has its ``weight`` (n,).
    """
    some = shown[rows] > 1
    if not some.any():
        return float(_SHARP[len(_SHARP) // 2]), np.zeros(0)
    losses = []
    for sharp in _SHARP:
        p = _softmax(sharp * out[some])
        # An answer is never surer than so many taught places can make it.
        losses.append(-np.log(p[np.arange(len(p)), rows[some]] + 1 / (len(p) + 2)))
    best = int(np.argmin([loss @ weight[some] for loss in losses]))
    return float(_SHARP[best]), losses[best]


def _softmax(logits: FloatArray) -> FloatArray:
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    p: FloatArray = odds / odds.sum(axis=1, keepdims=True)
    return p


def _novelty(
    fitted: _Regression, out: FloatArray, source: NDArray[np.int64], shown: NDArray[np.intp], weight: FloatArray
) -> NDArray[np.float32]:
    """Return (3, 4): mean and spread of :func:`_signs`, and the logit that they make of something new.

    Learnt from taught places as they would be seen if they, or if their content, had not been taught. Each state is
    ``shown`` (states,) by so many places, each row has its ``weight`` (n,).
    """
    rows, places = fitted.rows, int(shown.sum())
    known = _signs(out, np.where(source[:, None] == source, 0, fitted.alike))
    without = fitted.without(rows)
    without[np.arange(len(rows)), rows] = -np.inf
    fresh = _signs(without, np.where(rows[:, None] == rows, 0, fitted.alike))
    signs = np.concatenate([known, fresh])
    new = np.repeat([0.0, 1.0], len(rows))
    # What is new is more like what was seldom seen than like what was seen often.
    weight = np.concatenate([(shown[rows] > 1) * weight, 1 / np.bincount(rows)[rows] / shown[rows]])
    some = np.isfinite(signs).all(axis=1) & (weight > 0)
    # At the most as often as may be: of contents that were seen once, the upper limit of how many are to be expected.
    share = min((np.sqrt(float((shown == 1).sum()) + 1) + 1) ** 2 / places, 0.5)
    told = np.zeros((3, 4), np.float32)
    told[1] = 1
    told[2, 3] = np.log(share / (1 - share))
    for side in (0.0, 1.0):
        own = some & (new == side)
        if own.sum() < _ENOUGH:
            return told
        weight[own] *= 1 / weight[own].sum()
    told[0, :3], told[1, :3] = signs[some].mean(axis=0), signs[some].std(axis=0) + 1e-3
    seen = np.column_stack([(signs[some] - told[0, :3]) / told[1, :3], np.ones(some.sum())])
    told[2] += _logistic(seen, new[some], weight[some])
    return told


def _logistic(seen: FloatArray, truth: FloatArray, weight: FloatArray) -> FloatArray:
    """Return (signs,): the logistic regression of a truth (n,) on ``seen`` (n, signs), by the weight of each row."""
    found = np.zeros(seen.shape[1])
    held = 0.01 * np.eye(len(found))
    for _ in range(25):
        p = 1 / (1 + np.exp(-seen @ found))
        slope = seen.T @ (weight * (p - truth)) + held @ found
        found -= np.linalg.solve((seen * (weight * p * (1 - p))[:, None]).T @ seen + held, slope)
    return found


def read_whole(features: Floats, patches: ByteArray, arrays: Arrays) -> list[dict[Content, float]]:
    """Return how likely each whole content that was taught lies in each place; what is left is of something new.

    ``features`` (n, features) are those of ``patches``; nothing is said where nothing was learnt.
    """
    if "whole_unlike" not in arrays or not len(patches):
        return [{} for _ in range(len(patches))]
    alike = _likeness(_seen(arrays, features, patches), arrays["whole_seen"].astype(np.float32))
    scores = (alike @ arrays["whole_answers"] + arrays["whole_usual"]).astype(np.float64)
    mean, spread, told = arrays["whole_unlike"].astype(np.float64)
    new = 1 / (1 + np.exp(-((_signs(scores, alike) - mean[:3]) / spread[:3] @ told[:3] + told[3])))
    p = _softmax(float(arrays["whole_sharp"]) * scores) * (1 - new)[:, None]
    contents = [
        Content(int(ground), tuple((thing, n) for thing, n in enumerate(counts) if n))
        for ground, counts in zip(arrays["whole_ground"].tolist(), arrays["whole_counts"].tolist(), strict=True)
    ]
    return [dict(zip(contents, row, strict=True)) for row in p.tolist()]
