"""Thalers that lie loose are told by their colours, also one that mirrors a lamp."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np

from vision.cards.loose import loose_thalers
from vision.cards.placed import Change, NewIgloo

BLACK, VIOLET, WOOD = (-3.4, -3.3, -3.3), (-0.62, -1.31, -0.86), (-3.2, -3.0, -2.8)
MIRRORED = (-1.95, -1.84, -1.88)
"""The light of a black thaler that lay below a lamp on a traced table (seed 401): as grey as a pale violet one is."""
CARD = 56.0


def standing(colour: str, tone: Any) -> list[NewIgloo]:
    look = np.full((17, 17, 3), tone, np.float32)
    return [NewIgloo((-200.0, -200.0), "card1", {colour: 1.0}, True, look=look)]


def shown(*discs: tuple[tuple[int, int], Any], sliver: Any = None) -> Change:
    """Return a change of discs as large as thalers, and of a sliver of shadow."""
    light = np.full((120, 200, 3), WOOD, np.float32)
    mask = np.zeros(light.shape[:2], np.uint8)
    for at, tone in discs:
        for picture, ink in ((light, tone), (mask, (1,))):
            cv2.circle(picture, at, 8, [float(value) for value in ink], -1)
    if sliver is not None:
        for picture, ink in ((light, sliver), (mask, (1,))):
            cv2.ellipse(picture, (150, 90), (22, 22), 20.0, 0.0, 100.0, [float(value) for value in ink], 3)
    return Change(mask, 1.0, light)


KNOWN = {"black": standing("black", BLACK), "violet": standing("violet", VIOLET)}


def test_a_black_thaler_that_mirrors_a_lamp_is_no_pale_violet_one() -> None:
    found = loose_thalers(shown(((40, 40), MIRRORED), ((90, 40), VIOLET)), KNOWN, [], CARD)
    assert sorted((colour, round(x), round(y)) for colour, (x, y) in found) == [("black", 40, 40), ("violet", 90, 40)]


def test_a_sliver_of_shadow_is_no_thaler() -> None:
    assert loose_thalers(shown(sliver=MIRRORED), KNOWN, [], CARD) == []
    assert loose_thalers(shown(sliver=BLACK), KNOWN, [], CARD) == []
