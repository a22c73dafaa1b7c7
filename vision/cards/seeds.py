"""Where taught cards may lie in a photo, by features that look like the deck's (Lowe 2004, section 7).

Each feature of the photo that looks like one of the deck's says where a card would lie, how large and how turned. Where
many agree, one is supposed. How large cards appear is found first, from those that most agree about: chance matches,
of which there are more, agree about nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.cards.shape import WIDTH

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import FloatArray
    from vision.cards.shape import Features

    Whole = NDArray[np.int64]

_ALIKE: Final = 0.82
_NEARLY: Final = 0.05
_MOST_MATCHES: Final = 8
_AT_ONCE: Final = 96
"""Features that are compared at once: what is compared takes memory."""
_LEAST_VOTES: Final = 4
_FIRST: Final = 24
"""How many places are looked at to find out how large cards are."""
_SIZES: Final = 0.45
"""How much larger or smaller (logarithm) than most a card may appear."""


@dataclass(frozen=True, slots=True)
class PoseVotes:
    """What each match says: ``who`` of the scene and ``what`` of the deck match, and the card's x, y, size, angle."""

    who: Whole
    seen: FloatArray
    known: FloatArray
    x: FloatArray
    y: FloatArray
    size: FloatArray
    turn: FloatArray

    def of(self, some: NDArray[np.bool_]) -> PoseVotes:
        """Return some of them."""
        return PoseVotes(*(getattr(self, name)[some] for name in self.__slots__))


def votes_of(scene: Features, deck: Features, height: int) -> PoseVotes:
    """Return what the features of a photo say of cards that are ``height`` pixels high as they were taught."""
    who, what = _matches(scene, deck)
    seen, known = scene.frames[who].astype(float), deck.frames[what].astype(float)
    size = seen[:, 2] / np.maximum(known[:, 2], 1e-6)
    turn = np.radians(seen[:, 3] - known[:, 3])
    cos, sin = np.cos(turn) * size, np.sin(turn) * size
    off = np.array([(WIDTH - 1) / 2, (height - 1) / 2]) - known[:, :2]
    x = seen[:, 0] + cos * off[:, 0] - sin * off[:, 1]
    y = seen[:, 1] + sin * off[:, 0] + cos * off[:, 1]
    return PoseVotes(who, seen[:, :2], known[:, :2], x, y, size, turn)


def find_seeds(votes: PoseVotes, most: int) -> list[FloatArray]:
    """Return where cards may lie, the best supported first, as matrices (3, 3) from card to photo."""
    if len(votes.who) < _LEAST_VOTES:
        return []
    first = _agreed(votes, _peaks(votes, None, _FIRST), None)
    if not first:
        return []
    # Many that agree count for far more than few: those may agree by chance.
    sizes = np.log([_grown(seed) for _, seed in first])
    weight = np.array([(support - _LEAST_VOTES + 1.0) ** 2 for support, _ in first])
    near = np.exp(-0.5 * ((sizes[:, None] - sizes[None]) / 0.15) ** 2) @ weight
    usual = float(np.exp(sizes[int(np.argmax(near))]))
    votes = votes.of(np.abs(np.log(votes.size / usual)) < _SIZES)
    if len(votes.who) < _LEAST_VOTES:
        return []
    seeds = _agreed(votes, _peaks(votes, usual, most), usual)
    seeds.sort(key=lambda one: -one[0])
    return [seed for _, seed in seeds]


def _grown(seed: FloatArray) -> float:
    return float(np.hypot(seed[0, 0], seed[1, 0]))


def _agreed(votes: PoseVotes, peaks: list[FloatArray], usual: float | None) -> list[tuple[int, FloatArray]]:
    """Return what the matches around each peak agree about, with how many features do."""
    found = []
    for x, y, turn, size in peaks:
        reach = size * WIDTH
        close = (np.abs(votes.x - x) < 0.15 * reach) & (np.abs(votes.y - y) < 0.15 * reach)
        close &= np.cos(votes.turn - turn) > 0.94
        if usual is None:
            close &= np.abs(np.log(votes.size / size)) < 0.35
        near = np.flatnonzero(close)
        if len(near) < _LEAST_VOTES:
            continue
        fit: Any
        fit, inliers = cv2.estimateAffinePartial2D(
            votes.known[near], votes.seen[near], method=cv2.RANSAC, ransacReprojThreshold=0.04 * reach, maxIters=500
        )
        if fit is None:
            continue
        seed = np.vstack([fit, [0, 0, 1]]).astype(float)
        support = len(np.unique(votes.who[near[inliers.ravel() > 0]]))
        if support >= _LEAST_VOTES and 0.6 < _grown(seed) / size < 1.6:
            found.append((support, seed))
    return found


def _peaks(votes: PoseVotes, usual: float | None, most: int) -> list[FloatArray]:
    """Return x, y, angle and size where most votes fall, in cells that overlap by half."""
    weight = 1.0 / np.sqrt(np.bincount(votes.who)[votes.who])
    found: list[tuple[float, FloatArray]] = []
    step = 2 * np.pi / 16
    for shift in np.ndindex(2, 2, 2, 1 if usual else 2):
        scale = np.zeros(len(votes.x)) if usual else np.floor(np.log2(votes.size) / 0.7 + 0.5 * shift[3])
        cell = 0.2 * WIDTH * (np.full(len(votes.x), usual) if usual else 2.0 ** (0.7 * scale))
        keys = np.stack(
            [
                np.floor(votes.x / cell + 0.5 * shift[0]) + 5000,
                np.floor(votes.y / cell + 0.5 * shift[1]) + 5000,
                np.floor(votes.turn / step + 0.5 * shift[2]) % 16,
                np.clip(scale + 20, 0, 63),
            ]
        ).astype(np.int64)
        key = ((keys[0] * 20000 + keys[1]) * 16 + keys[2]) * 64 + keys[3]
        _, where = np.unique(key, return_inverse=True)
        total = np.bincount(where, weight)
        for place in np.argsort(-total)[:most]:
            if total[place] < 2.0:
                break
            own = where == place
            w = weight[own] / weight[own].sum()
            turn = np.arctan2(w @ np.sin(votes.turn[own]), w @ np.cos(votes.turn[own]))
            size = float(np.exp(w @ np.log(votes.size[own])))
            found.append((float(total[place]), np.array([w @ votes.x[own], w @ votes.y[own], turn, size])))
    found.sort(key=lambda one: -one[0])
    kept: list[FloatArray] = []
    for _, peak in found:
        if len(kept) >= most:
            break
        if kept:
            others = np.array(kept)
            far = np.hypot(others[:, 0] - peak[0], others[:, 1] - peak[1]) > 0.09 * WIDTH * peak[3]
            if not (far | (np.cos(others[:, 2] - peak[2]) < 0.98)).all():
                continue
        kept.append(peak)
    return kept


def _matches(scene: Features, known: Features) -> tuple[Whole, Whole]:
    """Return pairs of a scene's feature and a known one that it looks like; one feature may look like several."""
    who, what = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    if len(known.looks):
        for begin in range(0, len(scene.looks), _AT_ONCE):
            alike = scene.looks[begin : begin + _AT_ONCE] @ known.looks.T
            enough = np.maximum(_ALIKE, alike.max(axis=1, keepdims=True) - _NEARLY)
            row, column = np.nonzero(alike > enough)
            # Of one feature the nearest few.
            order = np.lexsort((-alike[row, column], row))
            row, column = row[order], column[order]
            rank = np.arange(len(row)) - np.searchsorted(row, row)
            few = rank < _MOST_MATCHES
            who.append(row[few] + begin)
            what.append(column[few])
    return np.concatenate(who), np.concatenate(what)
