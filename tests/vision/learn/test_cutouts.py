"""Things that were never taught alone, or never in a colour: what is cut out of pictures for them."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from vision.board.labels import Content
from vision.board.layout import Layout, read_layout
from vision.board.patches import Sampler
from vision.learn.cutouts import Cutout, LabelledBoard, find_cutouts, inner

LAYOUT = """
[board]
kind = "grid"
columns = 4
rows = 4
[ground]
classes = ["sand"]
[[things]]
kind = "peg"
colours = ["red", "blue"]
max = 3
[[things]]
kind = "hut"
colours = ["red", "blue"]
max = 1
"""
PEG = {"red": (40, 40, 170), "blue": (170, 70, 30)}
PALE = {"red": (110, 110, 220), "blue": (220, 140, 110)}
"""A hut of the same colour may be paler than the pegs."""


@pytest.fixture
def layout() -> Layout:
    return read_layout(LAYOUT)


def number(layout: Layout, kind: str, colour: str) -> int:
    return next(n for n, thing in enumerate(layout.things) if (thing.kind, thing.colour) == (kind, colour))


def board(layout: Layout, laid: dict[int, list[tuple[str, str]]], hut: dict[str, Any], seed: int = 0) -> LabelledBoard:
    """Return a straight board with things in some places: a peg is small, a hut is wide, and pegs stand beside huts."""
    sampler = Sampler(layout)
    left, far, right, near = sampler.box
    size = (round((near - far) * sampler.side), round((right - left) * sampler.side))
    rng = np.random.default_rng(seed)
    straight = np.full((*size, 3), (180, 200, 205), np.uint8)
    contents = {}
    for place in range(16):
        x, y, wide = sampler.middle(place)
        things = laid.get(place, [])
        for kind, colour in sorted(things):
            if kind == "hut":
                cv2.circle(straight, (round(x - 0.05 * wide), round(y)), round(0.25 * wide), hut[colour], -1)
        pegs = [colour for kind, colour in things if kind == "peg"]
        for index, colour in enumerate(pegs):
            beside = 0.24 if len(things) > 1 else 0.0
            at = (round(x + beside * wide), round(y + (index - (len(pegs) - 1) / 2) * 0.26 * wide))
            cv2.circle(straight, at, round(0.1 * wide), PEG[colour], -1)
        counts: dict[int, int] = {}
        for kind, colour in things:
            counts[number(layout, kind, colour)] = counts.get(number(layout, kind, colour), 0) + 1
        contents[place] = Content(0, tuple(sorted(counts.items())))
    straight = np.clip(cv2.GaussianBlur(straight, (0, 0), 1.0) + rng.normal(0, 3, straight.shape), 0, 255)
    return LabelledBoard(straight.astype(np.uint8), contents)


def cutouts_of(layout: Layout, taught: LabelledBoard) -> dict[int, Any]:
    return find_cutouts(Sampler(layout), [taught], [(0, place, c) for place, c in sorted(taught.contents.items())])


@pytest.mark.parametrize("pale", [True, False], ids=["of a paler colour", "of the very same colour"])
def test_a_hut_that_never_stood_alone_is_parted_from_the_pegs_beside_it(layout: Layout, pale: bool) -> None:
    pegs_there = [("peg", "red")] * (2 if pale else 1)
    laid = {1: [("peg", "red")], 6: [("peg", "red")], 9: [("hut", "red"), *pegs_there]}
    taught = board(layout, laid, PALE if pale else PEG)
    (cutout,) = cutouts_of(layout, taught)[number(layout, "hut", "red")]
    middle = (cutout.cover.shape[0] - 1) / 2
    place = cutout.cover.shape[0] / 1.6
    ys, xs = np.indices(cutout.cover.shape)
    hut = np.hypot(xs - middle + 0.05 * place, ys - middle) < 0.22 * place
    across = (-0.13, 0.13) if pale else (0.0,)
    pegs = np.min([np.hypot(xs - middle - 0.24 * place, ys - middle - y * place) for y in across], axis=0)
    beyond = (pegs < 0.1 * place) & (np.hypot(xs - middle + 0.05 * place, ys - middle) > 0.28 * place)
    assert (cutout.cover > 127)[hut].mean() > 0.85
    assert (cutout.cover > 127)[beyond].mean() < 0.35


def test_nothing_is_parted_where_two_kinds_were_never_alone(layout: Layout) -> None:
    taught = board(layout, {5: [("hut", "red"), ("peg", "blue")]}, PALE)
    assert cutouts_of(layout, taught) == {}


def test_a_hut_is_painted_in_the_colour_that_only_pegs_were_seen_in(layout: Layout) -> None:
    laid = {1: [("peg", "red")], 4: [("peg", "blue")], 9: [("hut", "red")]}
    (painted,) = cutouts_of(layout, board(layout, laid, PALE))[number(layout, "hut", "blue")]
    seen = painted.picture[inner(painted)].astype(float).mean(axis=0)
    assert seen == pytest.approx(np.array(PALE["blue"], float), abs=30)


def test_no_hut_is_painted_in_a_colour_that_nobody_plays(layout: Layout) -> None:
    found = cutouts_of(layout, board(layout, {1: [("peg", "red")], 9: [("hut", "red")]}, PALE))
    assert number(layout, "hut", "blue") not in found
    assert number(layout, "peg", "blue") not in found


def test_a_thing_as_thin_as_a_hair_is_all_edge(layout: Layout) -> None:
    cover = np.zeros((64, 64), np.uint8)
    cover[30] = 255
    thin = Cutout(
        np.full((64, 64, 3), 9, np.uint8), cv2.GaussianBlur(cover, (0, 0), 0.9), np.ones((64, 64)), np.zeros(2)
    )
    assert inner(thin)[30].all() and not inner(thin)[:28].any()
