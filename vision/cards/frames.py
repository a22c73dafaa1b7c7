"""Taught cards brought to one frame, whether an outline that was found follows the card or what is printed on it.

A dark border on a dark table is seen in one photo and not in the next, or on one side only. Cards that were cut out so
differently do not lie on each other, and what little they differ in, as a digit, cannot be told. What several cards
print alike, as their features (SIFT, Lowe 2004) tell, says how each was cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.cards.shape import WIDTH, corners_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from companion.ports import FloatArray
    from vision.cards.shape import Features

_FARTHEST: Final = 0.12
"""Of a card's width: a border is no wider, so the same print lies no farther off."""
_LOOKS: Final = 0.85
"""How alike (cosine) features are of the same print."""
_TURNED: Final = 15.0
"""By how many degrees cards are not cut otherwise."""
_FEWEST: Final = 16
"""With so many features in common cards say how each was cut."""
_SPREAD: Final = 0.5
"""So much of the card at least lies between them."""
_NEAR, _THERE = 1.5, 1.0
"""How far off (taught pixels) a feature is at most by which it is told how a card was cut; and that lies as told."""
_OTHERS: Final = 8
"""By so many others it is told how a card was cut."""


def to_one_frame(cards: Sequence[Features], height: int, known: int = 0) -> list[FloatArray | None]:
    """Return how each card was cut: (3, 3) takes pixels of the common frame to its own; None where that is the same.

    The frame is that of the first ``known`` cards, which have one; of none, the one that most cards have. Cards that
    print nothing that others do stay as they are.
    """
    nowhere = np.zeros((0, 2))
    own = {card: _Cut(np.eye(3), nowhere, nowhere) for card in range(known)}
    shared = _shared(cards, known)
    if not own:
        own[int(shared.sum(axis=1).argmax())] = _Cut(np.eye(3), nowhere, nowhere)
    # Those first that print the most of what one does whose frame is known; then all anew, by all others.
    untried = set(range(len(cards))) - set(own)
    while untried:
        card = max(untried, key=lambda one: int(shared[one, list(own)].max()))
        untried.remove(card)
        if shared[card, list(own)].max() >= _FEWEST and (cut := _cut(card, cards, own, shared, height)) is not None:
            own[card] = cut
    for card in sorted(set(own) - set(range(known))):
        others = {other: cut for other, cut in own.items() if other != card}
        if (cut := _cut(card, cards, others, shared, height)) is not None:
            own[card] = cut
    corners = corners_of(height)
    frame = corners
    if not known:
        # As most were cut: the middle of the corners, in the pixels of the first.
        outlines = [cv2.perspectiveTransform(corners[None], np.linalg.inv(cut.to))[0] for cut in own.values()]
        frame = np.median(outlines, axis=0)
    common = cv2.getPerspectiveTransform(corners.astype(np.float32), frame.astype(np.float32)).astype(float)
    return [own[card].within(common) if card in own else None for card in range(len(cards))]


@dataclass(frozen=True, slots=True)
class _Cut:
    """How a card was cut: ``to`` (3, 3) takes the frame's pixels to its own.

    By its print: points (n, 2) lie ``here`` in its own pixels and ``there`` in the frame's, where others have them.
    """

    to: FloatArray
    here: FloatArray
    there: FloatArray

    def within(self, common: FloatArray) -> FloatArray | None:
        """Return the same of another frame, whose pixels ``common`` takes to those of this; None: as it was cut.

        An outline is believed where half as much of the print lies as it says as by any other.
        """
        to = self.to @ common
        if not len(self.here):
            return None if np.allclose(to, np.eye(3)) else to
        there = cv2.perspectiveTransform(self.there[None], np.linalg.inv(common))[0]
        as_cut = int((np.linalg.norm(there - self.here, axis=1) <= _THERE).sum())
        return to if 2 * as_cut < int(_lying(to, there, self.here).sum()) else None


def _lying(to: FloatArray, there: FloatArray, here: FloatArray) -> Any:
    """Return which points (n,) lie where a frame says."""
    return np.linalg.norm(cv2.perspectiveTransform(there[None], to)[0] - here, axis=1) <= _THERE


def _shared(cards: Sequence[Features], known: int) -> Any:
    """Return how many features every two cards have in common (n, n); of two ``known`` ones it is not asked."""
    found = np.zeros((len(cards), len(cards)), int)
    for one in range(known, len(cards)):
        for other in range(one):
            found[one, other] = found[other, one] = len(_pairs(cards[one], cards[other])[0])
    return found


def _pairs(one: Features, other: Features) -> tuple[FloatArray, FloatArray]:
    """Return where features that two cards have in common lie in each, (n, 2)."""
    if not len(one.frames) or not len(other.frames):
        return np.zeros((0, 2)), np.zeros((0, 2))
    alike = one.looks @ other.looks.T
    here, there = np.nonzero(alike > _LOOKS)
    off = np.abs(one.frames[here, :2] - other.frames[there, :2]).max(axis=1)
    turned = np.abs((one.frames[here, 3] - other.frames[there, 3] + 180) % 360 - 180)
    kept = (off < _FARTHEST * WIDTH) & (turned < _TURNED)
    here, there = here[kept], there[kept]
    # Each once: the likest of both.
    order = np.argsort(-alike[here, there], kind="stable")
    here, there = here[order], there[order]
    first = np.zeros(len(here), bool)
    first[np.intersect1d(np.unique(here, return_index=True)[1], np.unique(there, return_index=True)[1])] = True
    return one.frames[here[first], :2].astype(float), other.frames[there[first], :2].astype(float)


def _cut(card: int, cards: Sequence[Features], own: Mapping[int, _Cut], shared: Any, height: int) -> _Cut | None:
    """Return how a card was cut, by what it prints of others; None where that is little."""
    nearest = sorted(own, key=lambda other: -int(shared[card, other]))[:_OTHERS]
    points = [(_pairs(cards[card], cards[other]), own[other].to) for other in nearest if shared[card, other]]
    if sum(len(here) for (here, _), _ in points) < _FEWEST:
        return None
    here = np.concatenate([here for (here, _), _ in points])
    frame = np.concatenate(
        [cv2.perspectiveTransform(there[None], np.linalg.inv(to))[0] for (_, there), to in points if len(there)]
    )
    to, fits = cv2.findHomography(frame, here, cv2.RANSAC, _NEAR)
    if to is None or int(fits.sum()) < _FEWEST:
        return None
    # Where the corners lie is told by what lies about the whole of the card.
    about = cv2.contourArea(cv2.convexHull(here[fits[:, 0] > 0].astype(np.float32)))
    return _Cut(np.asarray(to, float), here, frame) if about >= _SPREAD * WIDTH * height else None
