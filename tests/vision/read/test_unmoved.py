"""A board that does not move keeps its pose; one that moves a little is found anew."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from companion.lab.bench.vision.boards import positions
from companion.lab.worlds import board, board_art
from vision.board.layout import open_layout
from vision.board.patches import Sampler
from vision.read import relocate
from vision.read.calibrate import calibrate, to_profile
from vision.read.relocate import BoardRelocator

pytestmark = pytest.mark.learning

SEED = 62004


@pytest.fixture(scope="module")
def shots() -> list[board.BoardShot]:
    """Return a board at three positions of a game, the camera unmoved."""
    places = positions(SEED, 3)
    art = board_art.Art(SEED, 1)
    camera, light = board.random_view(SEED, board.RenderedBoard({}, art=art))
    turns = (len(places) // 2, len(places) // 2 + 1, len(places) // 2 + 2)
    return [board.shoot(board.RenderedBoard(places[t], art=art, seed=SEED), camera, light, t) for t in turns]


@pytest.fixture
def finder(shots: list[board.BoardShot]) -> BoardRelocator:
    layout, image = open_layout("iglu-iglu"), shots[0].image
    profile = to_profile([image], layout, calibrate([image], layout))
    found = BoardRelocator(profile, Sampler(layout))
    assert found.find(image) is not None
    return found


def off(finder: BoardRelocator, image: Any, truth: Any) -> float:
    """Return how far the corners are off at most, in places."""
    pose = finder.find(image)
    assert pose is not None
    return float(np.linalg.norm(pose.corners(8, 8) - truth, axis=1).max() / pose.unit_px(8, 8))


def test_a_board_that_lies_still_is_not_looked_for_again(
    shots: list[board.BoardShot], finder: BoardRelocator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relocate, "refine", lambda *_, **__: pytest.fail("the grid was fitted anew"))
    for shot in shots[1:]:
        assert off(finder, shot.image, shot.grid) < 0.05


@pytest.mark.parametrize("pixels", [2, 6, 40])
def test_a_board_that_was_nudged_is_found_where_it_lies_now(
    shots: list[board.BoardShot], finder: BoardRelocator, pixels: int
) -> None:
    shot = shots[1]
    size = (shot.image.shape[1], shot.image.shape[0])
    to = np.array([[1, 0, pixels], [0, 1, 0]], float)
    nudged = cv2.warpAffine(shot.image, to, size, borderMode=cv2.BORDER_REPLICATE)
    assert off(finder, nudged, shot.grid + np.array([pixels, 0])) < 0.05


def test_a_picture_of_nothing_shows_no_board_that_lies_still(
    shots: list[board.BoardShot], finder: BoardRelocator
) -> None:
    keyframe = finder._key
    assert keyframe is not None
    assert keyframe.shows(shots[0].image)
    assert not keyframe.shows(np.full_like(shots[0].image, 90))
    assert not keyframe.shows(cv2.resize(shots[0].image, (640, 480)))
    empty = relocate.Keyframe(np.full_like(shots[0].image, 90), finder._last, open_layout("iglu-iglu"))
    assert not empty.shows(shots[0].image)
