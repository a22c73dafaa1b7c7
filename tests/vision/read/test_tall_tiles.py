"""A wide game of tall printed blocks, drawn: how high they are is found out, and they are read wherever they stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from vision.board.labels import from_json
from vision.board.layout import Layout, read_layout
from vision.board.patches import Sampler
from vision.board.pose import Pose
from vision.read.lesson import learn
from vision.read.profile import Profile, load_profile, printed_places, save_profile
from vision.read.reader import TaughtBoard

pytestmark = pytest.mark.learning

COLUMNS, ROWS, SIDE, RIM = 10, 6, 64, 96
INKS = {"red": (50, 40, 200), "blue": (190, 90, 40), "green": (60, 150, 60), "yellow": (40, 190, 230)}
CORNERS = {"bar": 2, "triangle": 3, "square": 4, "disc": 40}
SORTS = [f"{ink} {form}" for ink in INKS for form in CORNERS]
LAYOUT = """
[board]
kind = "grid"
columns = 10
rows = 6
[ground]
classes = ["field", "block"]
[[things]]
kind = "print"
{} = {}
max = 1
on = ["block"]
"""


@pytest.fixture(params=["colours", "values"])
def layout(request: pytest.FixtureRequest) -> Layout:
    return read_layout(LAYOUT.format(request.param, str(SORTS).replace("'", '"')))


def photo(seed: int, layout: Layout) -> tuple[Any, dict[int, Any]]:
    """Return a board from above its middle, and what lies where: blocks lean away from the middle, the farther more."""
    rng = np.random.default_rng(seed)
    size = (COLUMNS * SIDE + 2 * RIM, ROWS * SIDE + 2 * RIM)
    middle = np.array(size) / 2
    image = np.full((size[1], size[0], 3), 90, np.uint8)
    feet = {p.name: RIM + SIDE * np.array([p.x, p.y]) for p in layout.places}
    for x, y in feet.values():
        half = SIDE // 2 - 2
        cv2.rectangle(
            image, (round(x) - half, round(y) - half), (round(x) + half, round(y) + half), (170, 190, 210), -1
        )
    places: dict[str, Any] = {name: {"ground": "field", "things": []} for name in feet}
    word = "colour" if layout.things[0].colour else "value"
    chosen = [list(feet)[n] for n in rng.permutation(len(feet))[:28]]
    for name in sorted(chosen, key=lambda one: -float(np.linalg.norm(feet[one] - middle))):
        sort = SORTS[int(rng.integers(len(SORTS)))]
        places[name] = {"ground": "block", "things": [{"kind": "print", word: sort, "count": 1}]}
        foot, turn = feet[name] + rng.normal(0, 1.5, 2), float(rng.normal(0, 3))
        base = cv2.boxPoints(((float(foot[0]), float(foot[1])), (54, 54), turn))
        top = (base - middle) * 1.09 + middle
        for part, colour in ((cv2.convexHull(np.concatenate([base, top]).astype(np.float32)), 22), (top, 45)):
            cv2.fillPoly(image, [np.round(part).astype(np.int32)], (colour, colour, colour), cv2.LINE_AA)
        ink, form = sort.split()
        angles = np.radians(turn) + 2 * np.pi * np.arange(CORNERS[form]) / CORNERS[form]
        outline = top.mean(axis=0) + 17 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        points = [np.round(outline).astype(np.int32)]
        cv2.polylines(image, points, True, INKS[ink], 9, cv2.LINE_AA)
        cv2.fillPoly(image, points, INKS[ink], cv2.LINE_AA)
    image = np.clip(cv2.GaussianBlur(image, (0, 0), 1.1) + rng.normal(0, 3, image.shape), 0, 255).astype(np.uint8)
    return image, {layout.index[n]: c for n, c in from_json({"places": places}, layout).items()}


def test_tall_blocks_are_read_in_whatever_form_their_layout_is_written(layout: Layout, tmp_path: Path) -> None:
    sampler = Sampler(layout)
    low, wide, high = RIM - 0.5, RIM + COLUMNS * SIDE - 0.5, RIM + ROWS * SIDE - 0.5
    size = (COLUMNS * SIDE + 2 * RIM, ROWS * SIDE + 2 * RIM)
    pose = Pose.from_corners(np.array([[low, low], [wide, low], [wide, high], [low, high]]), COLUMNS, ROWS, size)
    profile = Profile(layout, size)
    for seed in (1, 2, 3):
        image, contents = photo(seed, layout)
        close = sampler.close(image, pose, printed_places(layout, contents))
        profile = profile.taught(sampler.straighten(image, pose), contents, close, pose.camera)
    learnt = learn(profile, size=0.3)
    assert learnt.network is not None
    # The blocks' tops look 9 % larger than their feet: they are 8 % nearer to the camera.
    assert learnt.network.height == pytest.approx(0.09 / 1.09 * pose.camera[2], rel=0.1)
    save_profile(tmp_path, learnt)
    table, bare, wrong, blocks = TaughtBoard(load_profile(tmp_path, layout)), 0, 0, 0
    for seed in (4, 5):
        image, contents = photo(seed, layout)
        seen = table.look(image, pose)
        for number, content in contents.items():
            if content.things:
                read = seen.places[layout.places[number].name].content
                blocks += 1
                bare += not read.things
                wrong += read != content
    assert bare == 0
    assert wrong <= 0.05 * blocks
