"""A heap on a strip whose pieces never stood alone: parted, and known in every place."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from vision.board.labels import Content
from vision.board.layout import Layout, read_layout
from vision.board.patches import CONTEXT, PATCH, Sampler
from vision.learn.augment import make_examples
from vision.learn.cutouts import LabelledBoard, find_cutouts, find_pieces, inner, taught_places
from vision.learn.heaps import part_heap

LAYOUT = """
[board]
kind = "places"
width = 4.2
height = 3.2
places = [
  { name = "home", at = [0.5, 1.6], size = [1.0, 3.2] },
  { name = "a", at = [2.0, 0.6], size = 1.0 },
  { name = "b", at = [2.0, 1.6], size = 1.0 },
  { name = "c", at = [2.0, 2.6], size = 1.0 },
  { name = "away", at = [3.7, 1.6], size = [1.0, 3.2] },
]
[ground]
classes = ["home", "away", "sand", "sea"]
[[things]]
kind = "peg"
colours = ["green", "red"]
max = 4
heaps = ["home", "away"]
"""
COLOUR = {"green": (50, 130, 40), "red": (40, 40, 170)}
GROUND = {"home": (150, 90, 110), "away": (190, 170, 60), "sand": (150, 200, 220), "sea": (150, 110, 60)}
RADIUS = 0.2
HEAP = Content(0, ((0, 4), (1, 4)))


@pytest.fixture
def layout() -> Layout:
    return read_layout(LAYOUT)


def spots(sampler: Sampler, order: str) -> list[tuple[float, float, str]]:
    """Return where the eight pegs of a heap stand, two by two, in pixels of the straight board."""
    unit, (x, y, _) = sampler.unit * sampler.side, sampler.middle(0)
    names = {"g": "green", "r": "red"}
    rows = [(x + side * 0.24 * unit, y + (row - 1.5) * 0.75 * unit) for row in range(4) for side in (-1, 1)]
    return [(*at, names[letter]) for at, letter in zip(rows, order, strict=True)]


def painted(layout: Layout, order: str = "grrggrgr", home: Any = GROUND["home"]) -> LabelledBoard:
    """Return a board whose home is full, and all of whose other places are bare."""
    sampler = Sampler(layout)
    left, far, right, near = sampler.box
    straight = np.full(
        (round((near - far) * sampler.side), round((right - left) * sampler.side), 3), (90, 95, 100), "u1"
    )
    contents = {0: HEAP, 1: Content(2), 2: Content(3), 3: Content(2), 4: Content(1)}
    for number, content in contents.items():
        colour = home if number == 0 else GROUND[layout.grounds[content.ground]]
        straight[sampler.within(number, straight.shape[:2])] = colour
    for x, y, name in spots(sampler, order):
        radius = round(RADIUS * sampler.unit * sampler.side)
        cv2.circle(straight, (round(x), round(y)), radius, COLOUR[name], -1)
        # A piece has a lit top.
        cv2.circle(straight, (round(x), round(y)), radius // 2, tuple(1.25 * c for c in COLOUR[name]), -1)
    noise = np.random.default_rng(3).normal(0, 3, straight.shape)
    return LabelledBoard(np.clip(cv2.GaussianBlur(straight, (0, 0), 1) + noise, 0, 255).astype(np.uint8), contents)


@pytest.mark.parametrize("order", ["grrggrgr", "rrrrgggg"])
def test_pale_pieces_are_told_by_their_scarves_of_which_heads_hide_a_part(layout: Layout, order: str) -> None:
    sampler, board = Sampler(layout), painted(layout, order)
    straight = board.straight.copy()
    radius = round(RADIUS * sampler.unit * sampler.side)
    turns = np.random.default_rng(5).uniform(0, 360, 8)
    for (x, y, name), turn in zip(spots(sampler, order), turns, strict=True):
        middle = round(x), round(y)
        cv2.circle(straight, middle, radius + 2, GROUND["home"], -1)
        cv2.circle(straight, middle, radius, (225, 235, 240), -1)
        for low, high in ((0, 110), (150, 220)):
            cv2.ellipse(straight, middle, (round(0.7 * radius),) * 2, turn, low, high, COLOUR[name], 2)
    straight = cv2.GaussianBlur(straight, (0, 0), 0.7).astype(np.uint8)
    found = find_pieces(sampler, straight, 0, HEAP)
    assert {thing: len(pieces) for thing, pieces in found.items()} == {0: 4, 1: 4}
    for thing, letter in enumerate("gr"):
        middles = [np.argwhere(piece).mean(axis=0)[::-1] for piece in found[thing]]
        stand = [(x, y) for (x, y, _), one in zip(spots(sampler, order), order, strict=True) if one == letter]
        assert all(min(np.hypot(*(middle - at)) for middle in middles) < radius for at in np.array(stand))


@pytest.mark.parametrize("order", ["grrggrgr", "rrrrgggg", "grgrgrgr"])
@pytest.mark.parametrize("home", [GROUND["home"], (60, 60, 60), (200, 200, 90)])
def test_a_heap_falls_into_its_pieces_by_the_names_of_their_colours(layout: Layout, order: str, home: Any) -> None:
    sampler, board = Sampler(layout), painted(layout, order, home)
    found = find_pieces(sampler, board.straight, 0, HEAP)
    assert {thing: len(pieces) for thing, pieces in found.items()} == {0: 4, 1: 4}
    unit = sampler.unit * sampler.side
    for thing, name in enumerate(("green", "red")):
        true = {(round(x), round(y)) for x, y, colour in spots(sampler, order) if colour == name}
        for piece in found[thing]:
            y, x = np.argwhere(piece).mean(axis=0)
            near = {at for at in true if np.hypot(at[0] - x, at[1] - y) < 0.08 * unit}
            assert len(near) == 1
            true -= near
            assert piece.sum() == pytest.approx(np.pi * (RADIUS * unit) ** 2, rel=0.3)
        assert not true


@pytest.mark.parametrize("wanted", [{"black": 4, "white": 4}, {"mine": 4, "yours": 4}, {"blue": 4, "yellow": 4}, {}])
def test_a_heap_is_not_parted_where_no_hue_has_the_names(layout: Layout, wanted: dict[str, int]) -> None:
    board = painted(layout)
    within = Sampler(layout).within(0, board.straight.shape[:2])
    assert part_heap(board.straight, within, wanted) is None


def test_pieces_of_a_heap_are_cut_out_as_large_as_elsewhere(layout: Layout) -> None:
    board = painted(layout)
    cutouts = find_cutouts(Sampler(layout), [board], taught_places([board]))
    assert {thing: len(some) for thing, some in cutouts.items()} == {0: 4, 1: 4}
    for thing, name in enumerate(("green", "red")):
        for cutout in cutouts[thing]:
            across = 2 * np.sqrt((cutout.cover > 127).sum() / np.pi)
            assert across == pytest.approx(2 * RADIUS * PATCH / CONTEXT, rel=0.15)
            assert np.abs(cutout.middle - (PATCH - 1) / 2).max() < 2
            blue, green, red = cutout.picture[inner(cutout)].mean(axis=0)
            assert (green > red) == (name == "green") and blue < max(green, red)


def test_what_was_taught_in_a_heap_is_learnt_on_every_ground_and_in_any_number_where_heaps_lie(layout: Layout) -> None:
    board = painted(layout)
    cutouts = find_cutouts(Sampler(layout), [board], taught_places([board]))
    examples = make_examples(Sampler(layout), [board], cutouts, size=0.3)
    shown = {(g, *counts) for g, counts in zip(examples.ground.tolist(), examples.counts.tolist(), strict=True)}
    for ground in range(4):
        assert {(ground, 0, 0), (ground, 1, 0), (ground, 0, 1)} <= shown, layout.grounds[ground]
    assert all(green + red <= 1 for ground, green, red in shown if ground > 1)
    for ground in (0, 1):
        assert len({counts for g, *rest in shown if g == ground for counts in [tuple(rest)]}) > 12
