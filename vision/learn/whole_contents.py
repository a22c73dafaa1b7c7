"""What lies in a place as one answer over whole contents that were taught: ridge regression (Hoerl and Kennard 1970).

It learns from the table's own features and from the shipped embedding (:mod:`vision.board.embedding`), in a second. How
sharply its answers tell is found on taught places that were left out, for which nothing has to be solved anew. What was
never taught together it cannot name; but it tells how likely such a thing lies there, since what is new is as far from
everything taught as taught places are from those that show something else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vision.board.embedding import LENGTH, embed
from vision.board.labels import Content
from vision.learn.optimiser import scale_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray
    from vision.learn.augment import Examples

    Floats = NDArray[np.float32]
    Arrays = Mapping[str, NDArray[Any]]

ARRAYS: Final = (
    "whole_mean",
    "whole_scale",
    "whole_answers",
    "whole_usual",
    "whole_sharp",
    "whole_ground",
    "whole_counts",
    "whole_bank",
    "whole_shown",
    "whole_new",
)
"""What it is stored as; profiles of before there was one are without."""
_HELD: Final = 0.1
"""How much the regression is held back, of its inputs' mean square."""
VIEWS: Final = 16
_MOST: Final = 2048
"""So many views of a taught place are learnt from, and so many of all places."""
_SHARP: Final = np.geomspace(1, 64, 13)
_ENOUGH: Final = 20
"""Fewer rows teach nothing about what is new."""


def ridge(seen: Floats, rows: NDArray[np.intp], held: float = _HELD) -> tuple[Floats, Floats]:
    """Return (features, states) and (states,): ``seen`` (n, features) times the one plus the other answers ``rows``.

    ``rows`` (n,) numbers the state of each; ``held``: how much is held back, of the inputs' mean square.
    """
    fitted = _Regression(seen.astype(np.float32), rows, held)
    return fitted.answers, fitted.usual


def views_of(places: int, size: float = 1.0) -> int:
    """Return in how many views each of so many taught places is learnt from; ``size`` scales it."""
    return max(2, min(round(VIEWS * size), round(_MOST * size) // max(places, 1)))


def train_whole(features: Floats, views: Examples) -> dict[str, NDArray[Any]]:
    """Return the :data:`ARRAYS` of views of taught places, whose features (n, features) are given."""
    inputs = np.concatenate([features, embed(views.patches)], axis=1)
    mean, scale = inputs.mean(axis=0), np.ones(inputs.shape[1], np.float32)
    scale[:-LENGTH] = scale_of(inputs[:, :-LENGTH])
    # The embedding counts as much as all else together.
    own = (inputs[:, :-LENGTH].std(axis=0) * scale[:-LENGTH]) ** 2
    scale[-LENGTH:] = np.sqrt(own.sum() / (inputs[:, -LENGTH:].var(axis=0).sum() + 1e-9))
    white = (inputs - mean) * scale
    _, first, rows = np.unique(views.state, return_index=True, return_inverse=True)
    source = views.source
    fitted = _Regression(white, rows)
    out = fitted.without(source)
    _, places = np.unique(source, return_index=True)
    bank = _Bank(inputs[places, -LENGTH:], rows[places])
    shown = np.bincount(bank.shown, minlength=len(first))
    return {
        "whole_mean": mean.astype(np.float32),
        "whole_scale": scale,
        "whole_answers": fitted.answers,
        "whole_usual": fitted.usual,
        "whole_sharp": np.array(_sharpness(out, rows, shown), np.float32),
        "whole_ground": views.ground[first],
        "whole_counts": views.counts[first],
        "whole_bank": bank.places,
        "whole_shown": bank.shown,
        "whole_new": _novelty(fitted, out, bank, inputs[:, -LENGTH:], source),
    }


@dataclass(frozen=True)
class _Regression:
    """A ridge regression of ``white`` (n, features) on the states ``rows`` (n,), held back by so much."""

    white: Floats
    rows: NDArray[np.intp]
    held: float = _HELD

    @cached_property
    def usual(self) -> Floats:
        """Return (states,): how often each is there."""
        often: Floats = (np.bincount(self.rows) / len(self.rows)).astype(np.float32)
        return often

    @cached_property
    def answers(self) -> Floats:
        """Return (features, states)."""
        answers: Floats = self._through @ (self._targets * self._weight[:, None])
        return answers

    def without(self, group: NDArray[Any]) -> FloatArray:
        """Return (n, states): what each row would be answered if nothing of its ``group`` (n,) had been learnt from.

        By the hat matrix, of which a block is left out (Cook and Weisberg 1982): nothing is solved anew.
        """
        missed = self._targets - self.white @ self.answers
        out = self._targets + self.usual
        order = np.argsort(group, kind="stable")
        for own in np.split(order, np.nonzero(np.diff(group[order]))[0] + 1):
            hat = self.white[own] @ self._through[:, own] * self._weight[own][None]
            out[own] -= np.linalg.solve(np.eye(len(own), dtype=np.float32) - hat, missed[own])
        return out.astype(np.float64)

    @cached_property
    def _targets(self) -> Floats:
        """Return (n, states)."""
        targets: Floats = np.eye(len(self.usual), dtype=np.float32)[self.rows] - self.usual
        return targets

    @cached_property
    def _weight(self) -> Floats:
        """Return (n,): a rare state weighs more, by the root of how rare it is."""
        weight = 1 / np.sqrt(np.bincount(self.rows))[self.rows]
        even: Floats = (weight / weight.mean()).astype(np.float32)
        return even

    @cached_property
    def _through(self) -> Floats:
        """Return (features, n): what weighed targets are multiplied with for the answers."""
        inner = self.white.T @ (self.white * self._weight[:, None])
        inner[np.diag_indices(len(inner))] += self.held * np.float32((self.white**2).sum(axis=1).mean())
        through: Floats = np.linalg.solve(inner, self.white.T)
        return through


@dataclass(frozen=True)
class _Bank:
    """Embeddings of taught ``places`` (n, LENGTH), and the state that each has ``shown`` (n,)."""

    places: Floats
    shown: NDArray[np.intp]

    def signs(self, scores: FloatArray, embedded: Floats, apart: NDArray[np.bool_] | None = None) -> FloatArray:
        """Return (n, 3): what tells whether places are of a state at all.

        The best of the scores (n, states), how much better it is than the next, and how far, in logarithm, the nearest
        place of that state is; ``apart`` (n, places) are not to be looked at.
        """
        best = scores.argmax(axis=1)
        two = -np.partition(-scores, 1, axis=1)[:, :2] if scores.shape[1] > 1 else np.pad(scores, ((0, 0), (0, 1)))
        far = (embedded**2).sum(axis=1)[:, None] + (self.places**2).sum(axis=1)[None] - 2 * embedded @ self.places.T
        other = self.shown[None] != best[:, None]
        far[other if apart is None else other | apart] = np.inf
        nearest = np.sqrt(np.maximum(far.min(axis=1), 0))
        return np.column_stack([two[:, 0], two[:, 0] - two[:, 1], np.log(nearest + 1e-6)])


def _sharpness(out: FloatArray, rows: NDArray[np.intp], shown: NDArray[np.intp]) -> float:
    """Return how sharply answers tell: by which those left out, of contents that lay elsewhere too, are likeliest."""
    some = shown[rows] > 1
    if not some.any():
        return float(_SHARP[len(_SHARP) // 2])
    losses = []
    for sharp in _SHARP:
        p = _softmax(sharp * out[some])
        # An answer is never surer than so many taught places can make it.
        losses.append(-np.log(p[np.arange(len(p)), rows[some]] + 1 / (len(p) + 2)).mean())
    return float(_SHARP[int(np.argmin(losses))])


def _softmax(logits: FloatArray) -> FloatArray:
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    p: FloatArray = odds / odds.sum(axis=1, keepdims=True)
    return p


def _novelty(
    fitted: _Regression, out: FloatArray, bank: _Bank, embedded: Floats, source: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return (3, 4): mean and spread of :meth:`_Bank.signs`, and the logit that they make of something new.

    Learnt from taught places as they would be seen if they, or if their content, had not been taught.
    """
    places = np.unique(source)
    rows, shown = fitted.rows, np.bincount(bank.shown)
    known = bank.signs(out, embedded, source[:, None] == places[None])
    without = fitted.without(rows)
    without[np.arange(len(rows)), rows] = -np.inf
    fresh = bank.signs(without, embedded)
    signs = np.concatenate([known, fresh])
    new = np.repeat([0.0, 1.0], len(rows))
    # What is new is more like what was seldom seen than like what was seen often.
    weight = np.concatenate([(shown[rows] > 1).astype(float), 1 / np.bincount(rows)[rows] / shown[rows]])
    some = np.isfinite(signs).all(axis=1) & (weight > 0)
    # At the most as often as may be: of contents that were seen once, the upper limit of how many are to be expected.
    share = min((np.sqrt(float((shown == 1).sum()) + 1) + 1) ** 2 / len(places), 0.5)
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
    if "whole_bank" not in arrays or not len(patches):
        return [{} for _ in range(len(patches))]
    embedded = embed(patches)
    seen = (np.concatenate([features, embedded], axis=1) - arrays["whole_mean"]) * arrays["whole_scale"]
    scores = (seen @ arrays["whole_answers"] + arrays["whole_usual"]).astype(np.float64)
    mean, spread, told = arrays["whole_new"].astype(np.float64)
    signs = _Bank(arrays["whole_bank"], arrays["whole_shown"]).signs(scores, embedded)
    new = 1 / (1 + np.exp(-((signs - mean[:3]) / spread[:3] @ told[:3] + told[3])))
    p = _softmax(float(arrays["whole_sharp"]) * scores) * (1 - new)[:, None]
    contents = [
        Content(int(ground), tuple((thing, n) for thing, n in enumerate(counts) if n))
        for ground, counts in zip(arrays["whole_ground"].tolist(), arrays["whole_counts"].tolist(), strict=True)
    ]
    return [dict(zip(contents, row, strict=True)) for row in p.tolist()]
