"""Pictures for tests that say what is seen in them: another picture for everything else that is seen."""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np

from companion.lab.worlds.cards.photos import CardShot

SIDE = 120
"""Of the patch, in pixels."""


def told_apart(shot: CardShot, what: object) -> CardShot:
    """Return a picture with a patch in its corner that is another for anything else that is seen."""
    rng = np.random.default_rng(zlib.crc32(repr(what).encode()))
    image = shot.image.copy()
    image[:SIDE, :SIDE] = rng.integers(0, 256, (4, 4, 1), np.uint8).repeat(SIDE // 4, 0).repeat(SIDE // 4, 1)
    return replace(shot, image=image)
