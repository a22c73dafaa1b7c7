"""Cards that were cut out with their printed border and without it, brought to one frame."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from vision.cards.deck import features, straighten
from vision.cards.frames import to_one_frame
from vision.cards.shape import WIDTH, corners_of

HEIGHT = 176
BORDER = 6.0
"""So many taught pixels of a card are its border."""
ALIKE, NO_RIGHT, BARE = np.zeros((4, 2)), np.array([[0, 0], [-1, 0], [-1, 0], [0, 0]]), np.array(
    [[1, 1], [-1, 1], [-1, -1], [1, -1]]
)  # fmt: skip


def face(number: int) -> Any:
    """Return a card (BGR) that prints what all do, and its number, four times as large as it is kept."""
    rng = np.random.default_rng(5)
    picture = np.full((4 * HEIGHT, 4 * WIDTH, 3), 20, np.uint8)
    rim = round(4 * BORDER)
    art = rng.integers(90, 250, (HEIGHT // 8, WIDTH // 8, 3)).astype(np.uint8)
    inner = picture[rim:-rim, rim:-rim]
    inner[:] = cv2.resize(art, (inner.shape[1], inner.shape[0]), interpolation=cv2.INTER_CUBIC)
    for _ in range(60):
        x, y = rng.integers(60, 4 * WIDTH - 60), rng.integers(60, 4 * HEIGHT - 60)
        cv2.circle(picture, (int(x), int(y)), int(rng.integers(8, 30)), rng.integers(0, 255, 3).tolist(), -1)
    cv2.putText(picture, str(number), (60, 140), cv2.FONT_HERSHEY_DUPLEX, 4, (30, 40, 20), 12)
    return picture


def cut(number: int, inset: Any) -> Any:
    """Return a card as it is kept where the outline's corners lie ``inset`` (4, 2) borders within the card."""
    corners = corners_of(HEIGHT)
    outline = 4 * (corners + BORDER * np.asarray(inset, float)) + 1.5
    return straighten(face(number), cv2.getPerspectiveTransform(*map(np.float32, (corners, outline))), HEIGHT)


def off(to: Any, inset: Any) -> float:
    """Return how far from the whole card's corners, in the pixels of one cut so, a frame's corners are."""
    corners = corners_of(HEIGHT)
    own = cv2.getPerspectiveTransform(*map(np.float32, (corners, corners + BORDER * np.asarray(inset, float))))
    truth = cv2.perspectiveTransform(corners[None], np.linalg.inv(own))[0]
    return float(np.linalg.norm(cv2.perspectiveTransform(corners[None], to)[0] - truth, axis=1).max())


def looks(pictures: Any) -> Any:
    return [features(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), 220) for picture in pictures]


@pytest.mark.parametrize("known", [0, 4], ids=["together", "after others"])
@pytest.mark.parametrize("inset", [BARE, NO_RIGHT], ids=["without its border", "without it on one side"])
def test_a_card_cut_otherwise_is_brought_to_the_frame_that_most_have(inset: Any, known: int) -> None:
    insets = [ALIKE, ALIKE, ALIKE, ALIKE, ALIKE, inset]
    found = to_one_frame(looks([cut(number, one) for number, one in enumerate(insets)]), HEIGHT, known)
    assert found[:5] == [None] * 5, "what was cut alike stays as it is"
    assert found[5] is not None and off(found[5], inset) < 2.0


def test_cards_that_print_nothing_alike_stay_as_they_were_cut() -> None:
    rng = np.random.default_rng(3)
    pictures = [cv2.GaussianBlur(rng.integers(0, 255, (HEIGHT, WIDTH, 3), np.uint8), (0, 0), 2.0) for _ in range(4)]
    assert to_one_frame(looks(pictures), HEIGHT) == [None] * 4
    assert to_one_frame(looks([np.full((HEIGHT, WIDTH, 3), 90, np.uint8)] * 2), HEIGHT) == [None] * 2
