"""Patches of a grid are cut all at once, and are what each by itself is."""

from __future__ import annotations

import numpy as np
import pytest

from vision.board.layout import Layout, read_layout
from vision.board.patches import PATCH, Sampler

GRID = """
[board]
kind = "grid"
columns = {columns}
rows = {rows}
[ground]
classes = ["sea"]
"""
PLACES = """
[board]
kind = "places"
width = 6
height = 4
[[places]]
name = "a"
x = 1.0
y = 1.0
[[places]]
name = "b"
x = 2.3
y = 1.1
[[places]]
name = "c"
x = 4.0
y = 3.0
[[places]]
name = "d"
x = 1.0
y = 3.0
[ground]
classes = ["sea"]
"""


def sampled(layout: Layout) -> tuple[Sampler, np.ndarray]:
    """Return a sampler and a straight picture of smooth noise."""
    sampler = Sampler(layout)
    left, far, right, near = sampler.box
    size = (round((near - far) * sampler.side), round((right - left) * sampler.side), 3)
    return sampler, np.random.default_rng(1).integers(0, 256, size).astype(np.uint8)


@pytest.mark.parametrize(("columns", "rows"), [(8, 8), (5, 3), (16, 16), (3, 40)])
def test_a_grid_is_cut_as_each_place_is(columns: int, rows: int) -> None:
    sampler, straight = sampled(read_layout(GRID.format(columns=columns, rows=rows)))
    numbers = list(range(columns * rows))[::-1]
    still = np.tile([0.0, 0.0, 0.0, 1.0], (len(numbers), 1))
    one_by_one = sampler.cut_moved(straight, numbers, still).astype(int)
    at_once = sampler.cut(straight, numbers).astype(int)
    assert at_once.shape == (columns * rows, PATCH, PATCH, 3)
    off = np.abs(at_once - one_by_one)
    # Where a pixel is not a whole number of others from the next place, it may be a thirty-second of one off.
    assert np.quantile(off, 0.99) <= 8
    assert off.mean() < 1
    assert (sampler.cut(straight)[::-1] == sampler.cut(straight, numbers)).all()


def test_places_that_lie_anyhow_are_cut_one_by_one() -> None:
    sampler, straight = sampled(read_layout(PLACES))
    still = np.tile([0.0, 0.0, 0.0, 1.0], (4, 1))
    assert (sampler.cut(straight) == sampler.cut_moved(straight, [0, 1, 2, 3], still)).all()
