"""Single shakes cut out of a stream."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from companion.igloo.enrol import LOST, SHORT, ShakeCatcher
from companion.igloo.soundness import DEAD_AXIS
from companion.ports import Samples

RATE = 800.0


def stream(seconds: float, shaken: bool, seed: int = 1) -> NDArray[np.float64]:
    t = np.arange(round(seconds * RATE)) / RATE
    rng = np.random.default_rng(seed)
    felt: NDArray[np.float64] = 0.03 * rng.normal(size=(len(t), 3)) + np.array([0.0, 0.0, 1.0])
    if shaken:
        felt[:, 2] += 1.5 * np.sin(2 * np.pi * 4 * t)
    return felt


def feed(catcher: ShakeCatcher, felt: np.ndarray, gap_at: int = -1) -> list[np.ndarray]:
    found = []
    for at in range(0, len(felt), 50):
        gap = 40 if at == gap_at else 0
        shake = catcher.feed(Samples(felt[at : at + 50], at / RATE, RATE, at, gap))
        if shake is not None:
            found.append(shake)
    return found


def test_each_shake_is_caught_once_and_a_pause_parts_them() -> None:
    catcher = ShakeCatcher(2.0)
    felt = np.concatenate([stream(1, False), stream(4, True), stream(1, False), stream(3, True), stream(1, False)])
    found = feed(catcher, felt)
    assert [len(shake) for shake in found] == [1600, 1600]
    assert all(shake.std(axis=0).max() > 0.8 for shake in found)
    assert catcher.note == ""


def test_a_short_shake_and_a_broken_one_are_not_kept_and_it_says_why() -> None:
    catcher = ShakeCatcher(2.0)
    assert feed(catcher, np.concatenate([stream(1, False), stream(0.8, True), stream(1.5, False)])) == []
    assert catcher.note == SHORT
    assert feed(catcher, stream(1.5, True), gap_at=800) == []
    assert catcher.note == LOST


def test_a_dead_axis_is_told() -> None:
    catcher = ShakeCatcher(1.0)
    felt = np.concatenate([stream(1, False), stream(2, True)])
    felt[:, 0] = 0.0
    assert feed(catcher, felt) == []
    assert catcher.note == DEAD_AXIS
