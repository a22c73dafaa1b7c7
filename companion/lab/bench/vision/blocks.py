"""Readers side by side on traced games of tall printed blocks, 36 sorts in a wide grid: three boards taught, five read.

``python -m companion.lab.bench.vision.blocks [SEED …]``. The corners are given, as people tap them; ``true`` poses
besides leave out what blocks that hide the grid's lines do to finding them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from companion.lab.bench.vision.readers import BoardSet, compare
from companion.lab.rows import Row
from companion.lab.worlds.traced.blocks import BlockTable
from vision.board.labels import from_json
from vision.board.layout import read_layout
from vision.board.pose import Pose
from vision.decode.photo import read_photo

TAUGHT: Final = 3
PHOTOS: Final = 8
HEIGHTS: Final = (0.3, 0.5, 0.7, 0.9)
"""Of a place's side: how high the blocks are, by seed."""
SEEDS: Final = (1, 2)
"""Looked at while what is high was learnt to be read."""


def rows(seed: int) -> Iterator[Row]:
    """Yield the readers' lines of one table, as it is found, and with the board's true place in the pictures."""
    table = BlockTable(seed, high=HEIGHTS[seed % len(HEIGHTS)])
    layout = read_layout(table.layout)
    photos = []
    for number in range(PHOTOS):
        contents = from_json(table.position(number), layout)
        known = {layout.index[name]: content for name, content in contents.items()}
        photos.append((read_photo(table.photo(number)), known))
    name = f"blocks {seed}, {table.high} of a place high"
    yield from compare(BoardSet(name, layout, photos, table.corners), taught=TAUGHT)
    pose = Pose.from_corners(table.corners, table.columns, table.rows, (table.view.width, table.view.height))
    yield from compare(BoardSet(f"{name}, true corners", layout, photos, table.corners), taught=TAUGHT, pose=pose)


if __name__ == "__main__":
    for chosen in map(int, sys.argv[1:] or SEEDS):
        for line in rows(chosen):
            print(line, flush=True)
