"""How high things stand: found where they lean, none where they lie flat, and where the camera is."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from vision.board.labels import Content
from vision.board.layout import read_layout
from vision.board.patches import Sampler
from vision.board.pose import Pose
from vision.read.height import find_height, raised
from vision.read.profile import TaughtPhoto

SIZE = (1280, 960)
LAYOUT = read_layout(
    """
    [board]
    kind = "grid"
    columns = 8
    rows = 8
    [ground]
    classes = ["field"]
    [[things]]
    kind = "post"
    colours = ["red", "blue", "green", "white", "black"]
    """
)
INKS = [(40, 40, 200), (190, 80, 30), (60, 150, 60), (235, 235, 235), (20, 20, 20)]


def camera(tilt: float, lens: float = 1.8) -> Any:
    """Return (3, 4): a camera above the board's middle that leans by degrees; x, y, −z are board units."""
    half, turn = max(SIZE) / 2, np.radians(tilt)
    inner = np.array([[lens * half, 0, (SIZE[0] - 1) / 2], [0, lens * half, (SIZE[1] - 1) / 2], [0, 0, 1]])
    place = np.array([4.0, 4 + 7 * lens * np.sin(turn), -7 * lens * np.cos(turn)])
    forward = (np.array([4.0, 4.0, 0.0]) - place) / np.linalg.norm(np.array([4.0, 4.0, 0.0]) - place)
    axes = np.stack([[1.0, 0, 0], np.cross(forward, [1.0, 0, 0]), forward])
    return inner @ np.column_stack([axes, -axes @ place])


def seen(by: Any, points: Any) -> Any:
    at = np.column_stack([points, np.ones(len(points))]) @ by.T
    return at[:, :2] / at[:, 2:]


def pose_of(by: Any) -> Pose:
    corners = seen(by, np.array([[0, 0, 0], [8, 0, 0], [8, 8, 0], [0, 8, 0.0]]))
    return Pose.from_corners(corners, 8, 8, SIZE)


@pytest.mark.parametrize("tilt", [0, 8, 20, 40])
def test_where_the_camera_is_and_where_what_is_high_is_seen(tilt: float) -> None:
    by, turn = camera(tilt), np.radians(tilt)
    pose = pose_of(by)
    assert pose.camera == pytest.approx((4, 4 + 12.6 * np.sin(turn), 12.6 * np.cos(turn)), abs=0.01)
    spots = np.array([[0.5, 0.5], [7.5, 2.5], [3.5, 6.5]])
    there = seen(by, np.column_stack([spots, [-0.7] * 3]))
    assert pose.lifted(0.7).project(spots) == pytest.approx(there, abs=0.01)
    assert np.abs(pose.project(spots) - there).max() > 8
    assert pose.lifted(0) is pose


@pytest.mark.parametrize("lens", [1.3, 2.4])
def test_the_lens_is_told_by_what_the_camera_sees_aslant(lens: float) -> None:
    assert pose_of(camera(30, lens)).camera[2] == pytest.approx(7 * lens * np.cos(np.radians(30)), rel=0.03)


def shot(number: int, high: float) -> TaughtPhoto:
    """Return a board with posts so high, a disc of their colour on top of each."""
    by, rng = camera(12), np.random.default_rng(number)
    pose, sampler = pose_of(by), Sampler(LAYOUT)
    image = np.full((SIZE[1], SIZE[0], 3), 120, np.uint8)
    contents = {}
    for place in rng.permutation(64)[:26].tolist():
        kind, spot = int(rng.integers(5)), np.array([LAYOUT.places[place].x, LAYOUT.places[place].y])
        ring = 0.3 * np.stack([np.cos(np.linspace(0, 6.2, 20)), np.sin(np.linspace(0, 6.2, 20))], axis=1)
        foot = np.column_stack([spot + ring, np.zeros(20)])
        top = foot - [0, 0, high]
        outline = np.concatenate([seen(by, foot), seen(by, top)]).astype(np.float32)
        cv2.fillPoly(image, [np.round(cv2.convexHull(outline)).astype(np.int32)], (70, 70, 75), cv2.LINE_AA)
        mark = seen(by, np.column_stack([spot + 0.55 * ring, [-high] * 20]))
        cv2.fillPoly(image, [np.round(mark).astype(np.int32)], INKS[kind], cv2.LINE_AA)
        contents[place] = Content(0, ((kind, 1),))
    image = np.clip(image + rng.normal(0, 3, image.shape), 0, 255).astype(np.uint8)
    close = sampler.close(image, pose, list(contents)[:2])
    return TaughtPhoto(str(number), sampler.straighten(image, pose), contents, close, pose.camera)


@pytest.mark.parametrize("high", [0.0, 0.6, 1.2])
def test_the_height_is_found_by_what_looks_alike_there(high: float) -> None:
    sampler, shots = Sampler(LAYOUT), [shot(number, high) for number in (1, 2)]
    found = find_height(sampler, shots)
    assert found == pytest.approx(high, abs=0.15)
    lifted = raised(sampler, shots, found)
    if not high:
        assert found == 0
        assert all(one is other for one, other in zip(lifted, shots, strict=True))
        return
    # Seen at their height, the middle of each place is the mark's.
    middles = [sampler.cut(one.straight, [n])[0, 31, 31] for one in lifted for n in one.contents]
    inks = [INKS[content.things[0][0]] for one in lifted for content in one.contents.values()]
    assert np.abs(np.array(middles, float) - np.array(inks)).max(axis=1).max() < 40
    assert set(lifted[0].close) == set(shots[0].close)


def test_without_a_camera_or_with_little_taught_nothing_is_high() -> None:
    sampler, one = Sampler(LAYOUT), shot(3, 1.2)
    nowhere = TaughtPhoto("", one.straight, one.contents)
    assert find_height(sampler, [nowhere]) == 0
    assert raised(sampler, [nowhere], 1.0) == [nowhere]
    few = TaughtPhoto("", one.straight, dict(list(one.contents.items())[:3]), {}, one.camera)
    assert find_height(sampler, [few]) == 0
