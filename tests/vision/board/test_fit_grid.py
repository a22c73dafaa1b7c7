"""A printed grid of which tall blocks hide a third: its lines are found, not the blocks' tops beside them."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from vision.board.fit_grid import beside_corners
from vision.board.layout import Layout, read_layout
from vision.board.pose import Pose

COLUMNS, ROWS, SIDE, RIM = 12, 8, 72, 100
SIZE = (COLUMNS * SIDE + 2 * RIM, ROWS * SIDE + 2 * RIM)
CORNERS = np.array([[0, 0], [COLUMNS, 0], [COLUMNS, ROWS], [0, ROWS]], float) * SIDE + RIM
LAYOUT = '[board]\nkind = "grid"\ncolumns = 12\nrows = 8\n[ground]\nclasses = ["field", "block"]\n'


@pytest.fixture(scope="module")
def layout() -> Layout:
    return read_layout(LAYOUT)


def photo(seed: int, *, blocks: int, lines: int = 150) -> Any:
    """Return a board from above its middle: tops of blocks are seen the farther from it the farther out they stand."""
    rng = np.random.default_rng(seed)
    image = np.full((SIZE[1], SIZE[0], 3), 205, np.uint8)
    for n in range(COLUMNS + 1):
        cv2.line(image, (RIM + n * SIDE, RIM), (RIM + n * SIDE, RIM + ROWS * SIDE), (lines,) * 3, 2)
    for n in range(ROWS + 1):
        cv2.line(image, (RIM, RIM + n * SIDE), (RIM + COLUMNS * SIDE, RIM + n * SIDE), (lines,) * 3, 2)
    middle = np.array(SIZE) / 2
    feet = [np.array([n % COLUMNS + 0.5, n // COLUMNS + 0.5]) * SIDE + RIM for n in rng.permutation(96)[:blocks]]
    for foot in sorted(feet, key=lambda at: -float(np.linalg.norm(at - middle))):
        at = foot + rng.normal(0, 1.4, 2)
        base = cv2.boxPoints(((float(at[0]), float(at[1])), (63, 63), float(rng.normal(0, 2.5))))
        top = (base - middle) * 1.08 + middle
        for part, grey in ((cv2.convexHull(np.concatenate([base, top]).astype(np.float32)), 25), (top, 60)):
            cv2.fillPoly(image, [np.round(part).astype(np.int32)], (grey, grey, grey), cv2.LINE_AA)
    noisy = cv2.GaussianBlur(image, (0, 0), 1.1) + rng.normal(0, 3, image.shape)
    return np.clip(noisy, 0, 255).astype(np.uint8)


def off(image: Any, given: Any, layout: Layout) -> float:
    """Return how far the farthest corner is found from where it is, in places."""
    found = beside_corners(image, Pose.from_corners(given, COLUMNS, ROWS, SIZE), layout)
    return float(np.linalg.norm(found.corners(COLUMNS, ROWS) - CORNERS, axis=1).max()) / SIDE


def finger(seed: int) -> Any:
    """Return the corners as a finger taps them."""
    return CORNERS + np.clip(np.random.default_rng(seed).normal(0, 4, (4, 2)), -8, 8)


@pytest.mark.parametrize("seed", range(1, 5))
def test_true_corners_are_not_pulled_towards_the_tops_of_blocks(seed: int, layout: Layout) -> None:
    assert off(photo(seed, blocks=44), CORNERS, layout) < 0.03


def test_corners_of_a_finger_are_mended_on_an_empty_board_and_mostly_between_blocks(layout: Layout) -> None:
    assert max(off(photo(seed, blocks=0), finger(seed), layout) for seed in range(1, 4)) < 0.01
    assert np.median([off(photo(seed, blocks=44), finger(seed), layout) for seed in range(1, 6)]) < 0.03


@pytest.mark.parametrize("seed", range(1, 5))
def test_corners_are_believed_where_no_line_is_to_be_seen(seed: int, layout: Layout) -> None:
    image = photo(seed, blocks=0, lines=205)
    assert off(image, CORNERS, layout) < 1e-6
