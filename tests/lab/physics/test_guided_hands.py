"""Hands that follow the beat, and what the gauge makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from companion.igloo.count.features import FeatureStream
from companion.igloo.count.guided_gauge import in_bounds
from companion.lab.physics import draws, guided, world
from companion.lab.physics.hand import CONTROL_HZ


def path(design: guided.Design = guided.BOUNCE, number: int = 1, seconds: float = 3.0) -> np.ndarray:
    _, hand = draws.pair(5, 0)
    drawn = guided.guided(hand, seconds, np.random.default_rng(2), np.random.default_rng(number), design)
    return drawn.position


@pytest.mark.parametrize("design", [design for design in guided.DESIGNS if design.travel_m > 0.01])
def test_the_hand_keeps_time_and_travel(design: guided.Design) -> None:
    position = path(design)
    middle = position[500:-300] - position[500:-300].mean(axis=0)
    main = middle[:, int(np.argmax(middle.std(axis=0)))]
    spectrum = np.abs(np.fft.rfft(main * np.hanning(len(main)), 16384))
    tempo = np.argmax(spectrum) * CONTROL_HZ / 16384
    assert tempo == pytest.approx(design.tempo_hz, rel=0.06)
    assert np.sqrt(2) * main.std() == pytest.approx(design.travel_m, rel=0.35)
    assert (main.std() == middle[:, 2].std()) == (design.axis == "up")


def test_the_same_seed_gives_the_same_path_and_each_shake_is_another() -> None:
    assert np.array_equal(path(), path())
    assert not np.allclose(path(), path(number=2))


def test_a_guided_shake_is_in_the_gauges_bounds() -> None:
    igloo, hand = draws.pair(5, 0)
    rng = np.random.default_rng(3)
    one = world.record(igloo, hand.grip, guided.guided(hand, 2.0, np.random.default_rng(2), rng), 5, rng)
    stream = FeatureStream(one.rate_hz)
    stream.feed(one.g)
    assert in_bounds(stream.cells).mean() > 0.8
