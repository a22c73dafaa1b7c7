"""Mirrored light over a part of the board: found by places that are brighter than the light explains, and lifted."""

from __future__ import annotations

import numpy as np
import pytest

from vision.board.illumination import Palette, Veil, tone
from vision.board.labels import Content

SIDE, CELL = 8, 40
UNIT = 2 / (SIDE + 1.6)
SPOTS = np.array([[x, y] for y in range(SIDE) for x in range(SIDE)], float)
SPOTS = (SPOTS - (SIDE - 1) / 2) * UNIT
GROUNDS = np.array([[0.05, 0.03, 0.02], [0.45, 0.42, 0.4]])
"""Two grounds in linear light: dark water, pale ice."""


def board(grounds: np.ndarray, glare: float, seed: int) -> np.ndarray:
    """Return a straight board, with so much mirrored light about its third row and column."""
    rng = np.random.default_rng(seed)
    side = round((SIDE + 1.6) * CELL)
    light = np.full((side, side, 3), 0.2)
    for (x, y), ground in zip(SPOTS, grounds, strict=True):
        left, far = round(((x + 1) / 2) * side - CELL / 2), round(((y + 1) / 2) * side - CELL / 2)
        light[far : far + CELL, left : left + CELL] = GROUNDS[ground] * np.exp(rng.normal(0, 0.02))
    ys, xs = np.indices((side, side)) / side * 2 - 1
    light += glare * np.exp(-((xs - SPOTS[18, 0]) ** 2 + (ys - SPOTS[18, 1]) ** 2) / (2 * UNIT**2))[..., None]
    return np.clip(255 * light ** (1 / 2.2) + rng.normal(0, 1, light.shape), 0, 255).astype(np.uint8)


def tones(straight: np.ndarray) -> np.ndarray:
    side = straight.shape[0]
    at = np.round((SPOTS + 1) / 2 * side - CELL / 2).astype(int)
    return tone(np.stack([straight[y : y + CELL, x : x + CELL] for x, y in at]))


@pytest.fixture
def grounds() -> np.ndarray:
    return np.random.default_rng(1).integers(0, 2, SIDE * SIDE)


def veil_over(grounds: np.ndarray, glare: float) -> tuple[np.ndarray, Veil | None]:
    contents = {n: Content(int(g)) for n, g in enumerate(grounds)}
    palette = Palette()
    palette.add(tones(board(grounds, 0.0, 2)), contents)
    straight = board(grounds, glare, 3)
    return straight, palette.veil(SPOTS, tones(straight), contents, UNIT)


def test_a_veil_is_lifted_from_dark_and_pale_places_alike(grounds: np.ndarray) -> None:
    straight, veil = veil_over(grounds, 0.08)
    assert veil is not None
    clean, there, lifted = (
        np.exp(tones(picture)) for picture in (board(grounds, 0.0, 3), straight, veil.lifted(straight))
    )
    near = np.hypot(*(SPOTS - SPOTS[18]).T) < 1.5 * UNIT
    assert np.abs(there - clean)[near].mean() > 0.03
    assert np.abs(lifted - clean)[near].mean() < 0.35 * np.abs(there - clean)[near].mean()
    assert np.abs(lifted - clean)[~near].mean() < 0.012


def test_where_nothing_is_mirrored_there_is_no_veil(grounds: np.ndarray) -> None:
    assert veil_over(grounds, 0.0)[1] is None


def test_a_shadow_is_no_veil(grounds: np.ndarray) -> None:
    contents = {n: Content(int(g)) for n, g in enumerate(grounds)}
    palette = Palette()
    usual = tones(board(grounds, 0.0, 2))
    palette.add(usual, contents)
    dark = usual - 0.4 * (np.hypot(*(SPOTS - SPOTS[18]).T) < 1.5 * UNIT)[:, None]
    assert palette.veil(SPOTS, dark, contents, UNIT) is None
