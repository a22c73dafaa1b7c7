"""Small printed marks counted, tiles told by sign and colour, layouts without things: boards painted from above."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from vision.board.detect import AROUND, COARSE, aligned, sides_of, unlike
from vision.board.labels import Content, from_json
from vision.board.layout import Layout, read_layout
from vision.board.patches import Sampler
from vision.board.pose import Pose
from vision.learn import count_marks
from vision.learn.count_marks import CELL, cut_windows, describe_cells, read_marks, train_marks, turned
from vision.learn.count_shapes import sorts_of
from vision.read import lesson
from vision.read.lesson import learn
from vision.read.profile import Profile, TaughtPhoto, load_profile, printed_places, save_profile
from vision.read.reader import TaughtBoard
from vision.read.relocate import BoardRelocator
from vision.read.tokens import TokenReader

pytestmark = pytest.mark.learning

SIDE = 90
CROWNS = """
[board]
kind = "grid"
columns = 5
rows = 5
[ground]
classes = ["wheat", "wood", "lake"]
[[things]]
kind = "crown"
"""
VALUES, COUNTS = CROWNS + "values = [1, 2, 3]", CROWNS + "max = 3"
COLOUR = {"wheat": (60, 190, 210), "wood": (40, 90, 30), "lake": (170, 90, 30)}


def paint(seed: int) -> tuple[Any, dict[str, tuple[str, int]]]:
    """Return a board of tiles in four directions, each with blotches of its own, a house here and there, and crowns."""
    rng = np.random.default_rng(seed)
    image = np.full((5 * SIDE, 5 * SIDE, 3), 120, np.uint8)
    lie: dict[str, tuple[str, int]] = {}
    for row in range(5):
        for column in range(5):
            ground = str(rng.choice(list(COLOUR)))
            crowns = int(rng.choice([0, 1, 2, 3], p=[0.6, 0.2, 0.1, 0.1]))
            tile = np.clip(np.array(COLOUR[ground]) * rng.uniform(0.85, 1.15), 0, 255) * np.ones((SIDE, SIDE, 3))
            for _ in range(14):
                at, wide = rng.integers(0, SIDE, 2), int(rng.integers(2, 12))
                ink = tuple(float(v) for v in np.array(COLOUR[ground]) * rng.uniform(0.6, 1.4))
                cv2.circle(tile, (int(at[0]), int(at[1])), wide, ink, -1, cv2.LINE_AA)
            if rng.random() < 0.5:
                x, y = (int(v) for v in rng.integers(35, 60, 2))
                cv2.rectangle(tile, (x, y), (x + 14, y + 12), tuple(float(v) for v in rng.uniform(60, 220, 3)), -1)
            for number in range(crowns):
                shape = np.array([[-1, 0.8], [-1, -0.8], [-0.4, 0.1], [0, -1], [0.4, 0.1], [1, -0.8], [1, 0.8]])
                spot = np.array([13 + 18 * number, 13]) + rng.normal(0, 0.7, 2)
                for size, ink in ((9.5, (10, 20, 30)), (7.0, (50, 180, 230))):
                    cv2.fillPoly(tile, [np.round((shape * size + spot) * 16).astype(np.int32)], ink, cv2.LINE_AA, 4)
            lie[f"{chr(97 + column)}{5 - row}"] = (ground, crowns)
            tile = np.rot90(tile, int(rng.integers(4)))
            image[row * SIDE : (row + 1) * SIDE, column * SIDE : (column + 1) * SIDE] = np.clip(tile, 0, 255)
    noisy = cv2.GaussianBlur(image, (0, 0), 0.8) + rng.normal(0, 2, image.shape)
    return np.clip(noisy, 0, 255).astype(np.uint8), lie


def contents_of(layout: Layout, lie: dict[str, tuple[str, int]], values: bool) -> dict[int, Any]:
    places = {}
    for name, (ground, crowns) in lie.items():
        thing = {"kind": "crown", "value": crowns, "count": 1} if values else {"kind": "crown", "count": crowns}
        places[name] = {"ground": ground, "things": [thing] if crowns else []}
    return {layout.index[name]: content for name, content in from_json(places, layout).items()}


def filling(layout: Layout, image: Any) -> Pose:
    height, width = image.shape[:2]
    corners = np.array([[-0.5, -0.5], [width - 0.5, -0.5], [width - 0.5, height - 0.5], [-0.5, height - 0.5]])
    return Pose.from_corners(corners, layout.width, layout.height, (width, height))


def shot(layout: Layout, seed: int, values: bool = True) -> TaughtPhoto:
    image, lie = paint(seed)
    sampler, contents = Sampler(layout), contents_of(layout, lie, values)
    pose = filling(layout, image)
    close = sampler.close(image, pose, printed_places(layout, contents))
    return TaughtPhoto(str(seed), sampler.straighten(image, pose), contents, close)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """One size of window and few seeds: enough for these pictures, and a third of the time."""
    monkeypatch.setattr(count_marks, "WINDOWS", (5,))
    monkeypatch.setattr(count_marks, "_SEEDS", 4)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("values", [True, False])
def test_crowns_are_counted_on_tiles_that_all_look_different(values: bool) -> None:
    layout = read_layout(VALUES if values else COUNTS)
    sorts = sorts_of(layout)
    taught = [shot(layout, seed, values) for seed in (1, 2, 3)]
    arrays = train_marks(layout, sorts, [(s.close, s.contents) for s in taught], [True])
    assert arrays["mark_window"].tolist() != [0]
    right = crowned = seen = 0
    for seed in (11, 12):
        asked = shot(layout, seed, values)
        numbers = sorted(asked.close)
        assert len(numbers) == 25
        p = read_marks([asked.close[n] for n in numbers], arrays, 0, 3)
        assert p is not None
        assert np.allclose(p.sum(axis=1), 1, atol=1e-5)
        lie = paint(seed)[1]
        truth = np.array([lie[layout.places[n].name][1] for n in numbers])
        right += int((p.argmax(axis=1) == truth).sum())
        crowned += int((truth > 0).sum())
        seen += int((p.argmax(axis=1) == truth)[truth > 0].sum())
    assert right >= 47
    assert seen >= 0.85 * crowned


@pytest.mark.usefixtures("quick")
def test_marks_that_tell_the_values_are_learnt_though_they_might_be_read_as_tokens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(TokenReader, "reads", lambda _self, _kind: True)
    layout = read_layout(VALUES)
    taught = [shot(layout, seed) for seed in (1, 2, 3)]
    assert lesson._marks(Sampler(layout), taught)["mark_sums"].tolist() == [True]


def test_how_much_marks_tell_of_the_number_where_there_are_any() -> None:
    curve, many = np.array([20.0, 0.5], np.float32), np.array([1, 2, 3, 1, 2, 3])
    clear = (np.arange(5)[None] < many[:, None]).astype(np.float32)
    assert count_marks._told_apart(clear, curve, many, 3) > 0.9
    assert count_marks._told_apart(clear[[0] * 6], curve, many, 3) < 0
    assert count_marks._told_apart(clear[[0] * 6], curve, np.ones(6, np.int64), 3) == 0


def test_marks_that_tell_nothing_are_not_learnt() -> None:
    layout = read_layout(VALUES)
    taught = [shot(layout, seed) for seed in (1, 2)]
    rng = np.random.default_rng(0)
    mixed = []
    for s in taught:
        order = rng.permutation(sorted(s.contents)).tolist()
        mixed.append((s.close, {n: s.contents[other] for n, other in zip(sorted(s.contents), order, strict=True)}))
    assert train_marks(layout, sorts_of(layout), mixed, [True])["mark_window"].tolist() == [0]


def test_a_turned_window_is_the_window_of_the_turned_picture() -> None:
    close = shot(read_layout(VALUES), 1).close[3]
    windows, side = cut_windows(describe_cells(close), 5)
    again, _ = cut_windows(describe_cells(np.ascontiguousarray(np.rot90(close))), 5)
    order = np.rot90(np.arange(side * side).reshape(side, side)).ravel()
    assert np.abs(turned(windows, 5, 1)[order] - again).mean() < 1e-4
    assert np.abs(windows[order] - again).mean() > 0.05
    assert close.shape[0] % CELL == 0


def test_a_layout_without_things_is_taught_and_kept(tmp_path: Any) -> None:
    layout = read_layout(CROWNS.partition("[[things]]")[0])
    image, lie = paint(1)
    contents = contents_of(layout, {name: (ground, 0) for name, (ground, _) in lie.items()}, False)
    pose = filling(layout, image)
    corners = pose.corners(5, 5)
    profile = Profile(layout, (450, 450), corners).taught(Sampler(layout).straighten(image, pose), contents)
    save_profile(tmp_path, learn(profile, size=0.2))
    table = TaughtBoard(load_profile(tmp_path, layout))
    other, lie = paint(2)
    seen = table.look(other)
    right = sum(layout.grounds[seen.places[name].content.ground] == lie[name][0] for name in lie)
    assert right >= 23


def test_a_board_that_fills_its_picture_is_looked_for_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = read_layout(VALUES)
    image, _ = paint(1)
    corners = filling(layout, image).corners(5, 5)
    finder = BoardRelocator(Profile(layout, (450, 450), corners), Sampler(layout))
    monkeypatch.setattr(BoardRelocator, "_candidates", lambda *_: pytest.fail("a straightened picture was searched"))
    for size in ((450, 450), (700, 700)):
        found = finder.find(cv2.resize(paint(5)[0], size))
        assert found is not None
        there = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * size
        assert np.abs(found.corners(5, 5) - there).max() < 0.04 * size[0]


def test_a_grid_a_place_aside_is_told_by_what_lies_around() -> None:
    layout = read_layout('[board]\nkind="grid"\ncolumns=8\nrows=8\n[ground]\nclasses=["a"]')
    image = np.full((700, 700, 3), (40, 60, 90), np.uint8)
    # A sheet whose own edge stands one place beside the last line.
    image[100:600, 100:600] = (150, 200, 170)
    for k in range(9):
        cv2.line(image, (150 + 50 * k, 150), (150 + 50 * k, 550), (110, 150, 130), 2)
        cv2.line(image, (150, 150 + 50 * k), (550, 150 + 50 * k), (110, 150, 130), 2)
    truth = np.array([[150, 150], [550, 150], [550, 550], [150, 550]], float)
    for aside in ((0, 0), (50, 0), (-50, 50)):
        start = Pose.from_corners(truth + aside, 8, 8, (700, 700))
        found = aligned(image, start, layout, unlike)
        assert np.abs(found.corners(8, 8) - truth).max() < 5, aside
    box = (-AROUND, -AROUND, 8 + AROUND, 8 + AROUND)
    true_sides = sides_of(Pose.from_corners(truth, 8, 8, (700, 700)).straighten(image, COARSE, box))
    assert unlike(true_sides) < 0.1


def test_what_lies_around_is_known_in_another_light_and_beside_other_tiles() -> None:
    """Most of the board has melted and a lamp was lit since it was taught; a place aside is still told."""
    layout = read_layout('[board]\nkind="grid"\ncolumns=8\nrows=8\n[ground]\nclasses=["a"]')
    picture = np.full((700, 700, 3), (40, 60, 90), np.uint8)
    picture[140:560, 140:560] = (200, 210, 215)
    truth = np.array([[150, 150], [550, 150], [550, 550], [150, 550]], float)
    pose, sampler = Pose.from_corners(truth, 8, 8, (700, 700)), Sampler(layout)
    profile = Profile(layout, (700, 700), truth).taught(sampler.straighten(picture, pose), {0: Content(0)}, {})
    finder, box = BoardRelocator(profile, sampler), (-AROUND, -AROUND, 8 + AROUND, 8 + AROUND)
    later = picture.copy()
    later[150:550, 150:500] = (90, 50, 30)
    lit = np.clip(later * np.array([0.7, 0.85, 1.0]), 0, 255).astype(np.uint8)
    aside = Pose.from_corners(truth + np.array([50, 0]), 8, 8, (700, 700))
    off, off_aside = (finder._around_off(sides_of(p.straighten(lit, COARSE, box))) for p in (pose, aside))
    assert off < 0.2
    assert off_aside > 0.4


def test_tiles_are_told_by_sign_and_colour() -> None:
    names = [f"{colour}-{sign}" for colour in ("red", "blue") for sign in ("square", "diamond")]
    layout = read_layout(
        f'[board]\nkind="grid"\ncolumns=6\nrows=6\n[ground]\nclasses=["board"]\n[[things]]\nkind="tile"\nvalues={names}'
    )
    sampler = Sampler(layout)

    def painted(seed: int) -> tuple[Any, dict[int, Any]]:
        rng = np.random.default_rng(seed)
        image = np.full((600, 600, 3), (140, 190, 160), np.uint8)
        places: dict[str, Any] = {}
        for number, place in enumerate(layout.places):
            name = names[number % 4]
            places[place.name] = {"ground": "board", "things": []}
            if number % 3:
                places[place.name]["things"] = [{"kind": "tile", "value": name, "count": 1}]
                x, y = np.array([place.x, place.y]) * 100 + rng.normal(0, 2, 2)
                turns = 45 if name.endswith("diamond") else 0
                tile = cv2.boxPoints(((x, y), (88, 88), float(rng.normal(0, 2))))
                sign = cv2.boxPoints(((x, y), (46, 46), turns + float(rng.normal(0, 2))))
                cv2.fillPoly(image, [np.round(tile).astype(np.int32)], (30, 30, 30))
                ink = (50, 40, 190) if name.startswith("red") else (170, 90, 50)
                cv2.fillPoly(image, [np.round(sign).astype(np.int32)], ink, cv2.LINE_AA)
        contents = {layout.index[name]: content for name, content in from_json(places, layout).items()}
        return cv2.GaussianBlur(image, (0, 0), 1.0), contents

    shots = []
    for seed in (1, 2):
        image, contents = painted(seed)
        pose = filling(layout, image)
        close = sampler.close(image, pose, printed_places(layout, contents))
        shots.append(TaughtPhoto(str(seed), sampler.straighten(image, pose), contents, close))
    reader = TokenReader(sampler, shots)
    assert reader.reads(0)
    image, contents = painted(3)
    straight = sampler.straighten(image, filling(layout, image))
    tiles = [n for n, content in contents.items() if content.things]
    close = sampler.close(image, filling(layout, image), tiles)
    for n in tiles:
        ways = reader.read(sampler.cut(straight, [n])[0], close[n], n, 0, [1])[0][1]
        assert max(ways, key=ways.__getitem__) == contents[n].things
        assert ways[contents[n].things] > 0.8
