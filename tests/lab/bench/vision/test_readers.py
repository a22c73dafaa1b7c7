"""Readers side by side, on a small painted board."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from companion.lab.bench.command import command
from companion.lab.bench.vision.readers import rendered_sets

pytestmark = pytest.mark.learning

LAYOUT = """
[board]
kind = "grid"
columns = 3
rows = 3
[ground]
classes = ["wheat", "lake"]
"""
SIDE = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of six photos of tiles in two colours, with what lies on each, and the grid's corners."""
    place = tmp_path_factory.mktemp("boards")
    (place / "layout.toml").write_text(LAYOUT)
    (place / "corners.txt").write_text("0,0\n179,0\n179,179\n0,179\n")
    for number in range(6):
        rng = np.random.default_rng(number)
        image, lie = np.zeros((3 * SIDE, 3 * SIDE, 3)), {}
        for index, lake in enumerate(rng.random(9) < 0.5):
            row, column = divmod(index, 3)
            tile = np.array((170, 90, 30) if lake else (60, 190, 210)) * rng.uniform(0.8, 1.1)
            image[row * SIDE : (row + 1) * SIDE, column * SIDE : (column + 1) * SIDE] = tile
            lie["abc"[column] + str(3 - row)] = {"ground": "lake" if lake else "wheat"}
        image += rng.normal(0, 3, image.shape)
        image[::SIDE] = image[:, ::SIDE] = 20
        cv2.imwrite(str(place / f"{number}.png"), np.clip(image, 0, 255).astype(np.uint8))
        (place / f"{number}.json").write_text(json.dumps({"places": lie}))
    return place


def test_every_reader_is_taught_and_asked_the_same(folder: Path) -> None:
    asked = ["readers", "--boards", str(folder), "--json"]
    answer = CliRunner().invoke(command, asked)
    assert answer.exit_code == 0, answer.output
    rows = [json.loads(line) for line in answer.output.splitlines()]
    peers = ["nearest place, colour and HOG", "ridge, colour and HOG"]
    readers = ["the product's", *peers, "whole contents"]
    assert [entry["what"].partition(": ")[2] for entry in rows] == readers
    assert all(0 <= entry["value"] <= 100 and "of 18;" in entry["note"] for entry in rows)
    assert [entry["value"] for entry in rows] == [0, 0, 0, 0]


def test_rendered_games_have_ten_boards_each() -> None:
    (boards,) = rendered_sets(1)
    assert len(boards.photos) == 10
    assert all(len(contents) == 64 for _, contents in boards.photos)


def test_options_of_the_table_go_with_it(folder: Path) -> None:
    answer = CliRunner().invoke(command, ["rules", "--boards", str(folder)])
    assert answer.exit_code == 2
    assert "goes with the table readers" in answer.output
