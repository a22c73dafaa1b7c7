"""The guided count: the gauge, the bounds, and when it is done."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from companion.igloo.count import guided
from companion.igloo.count.features import FeatureStream
from companion.igloo.count.guided import GuidedCount
from companion.igloo.count.guided_gauge import FASTER, GOOD, HOLD_STILL, SLOWER, SMALLER, UPRIGHT, WIDER, gauge
from companion.igloo.count.signal_validity import NO_BEADS
from companion.ports import Samples

FloatArray = NDArray[np.float64]
RATE = 3200.0


def swing(
    tempo: float, travel_cm: float, seconds: float = 1.12, lean: float = 0.0, seed: int = 1, *, beads: bool = True
) -> FloatArray:
    """Return what a sensor that is turned anyhow feels of a hand: a sine, gravity, noise, and blows as beads give."""
    t = np.arange(round(seconds * RATE)) / RATE
    size = travel_cm / 100 * (2 * np.pi * tempo) ** 2 / 9.80665
    along = size * np.sin(2 * np.pi * tempo * t)
    felt = along[:, None] * np.array([np.sin(lean), 0.0, np.cos(lean)]) + np.array([0.0, 0.0, 1.0])
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    noise = 0.05 * rng.normal(size=felt.shape)
    if beads:
        noise[rng.random(len(t)) < 0.02] *= 20
    return np.asarray(felt @ turn + noise)


def cells(accel: FloatArray) -> FloatArray:
    stream = FeatureStream(RATE)
    stream.feed(accel)
    return stream.cells


@pytest.mark.parametrize(("tempo", "travel"), [(5.0, 2.0), (4.6, 2.8), (5.4, 1.4), (3.0, 4.0)])
def test_tempo_and_travel_are_read_from_the_samples(tempo: float, travel: float) -> None:
    found = gauge(cells(swing(tempo, travel)))
    assert found.tempo_hz == pytest.approx(tempo, abs=0.12)
    assert found.travel_cm == pytest.approx(travel, rel=0.08)
    assert found.upright > 0.99


@pytest.mark.parametrize(
    ("tempo", "travel", "lean", "hint"),
    [
        (5.0, 2.0, 0.0, GOOD),
        (4.0, 2.0, 0.0, FASTER),
        (6.0, 2.0, 0.0, SLOWER),
        (5.0, 0.8, 0.0, WIDER),
        (5.0, 3.6, 0.0, SMALLER),
        (5.0, 2.0, 0.9, UPRIGHT),
        (5.0, 0.05, 0.0, HOLD_STILL),
    ],
)
def test_the_gauge_says_what_to_change(tempo: float, travel: float, lean: float, hint: str) -> None:
    found = gauge(cells(swing(tempo, travel, lean=lean)))
    assert found.hint == hint
    assert found.in_bounds == (hint == GOOD)


def feed(counter: GuidedCount, accel: FloatArray, index: int = 0, gap: int = 0) -> list[guided.GuidedState]:
    states = []
    for at in range(0, len(accel), 160):
        part = accel[at : at + 160]
        run = Samples(part, (index + at) / RATE, RATE, index + at, gap if at == 0 else 0)
        state = counter.feed(run)
        if state:
            states.append(state)
    return states


def sharpening(features: FloatArray, tier: float) -> tuple[float, ...]:
    """Be the surer of 4 beads the more pieces there are."""
    assert tier == 3200.0
    sure = 1 - 0.3 ** len(features)
    p = np.full(12, (1 - sure) / 11)
    p[2] = sure
    return tuple(float(v) for v in p)


def test_it_counts_what_is_in_bounds_and_stops_when_sure() -> None:
    counter = GuidedCount(sharpening, key="unit-3")
    states = feed(counter, swing(3.0, 3.0, 3.0))
    assert states[-1].seconds == 0.0
    assert states[-1].posterior is None
    assert states[-1].gauge.hint == FASTER
    states = feed(counter, swing(5.0, 2.0, 16.0), index=9600)
    assert states[-1].done
    assert states[-1].why == guided.SURE
    posterior = states[-1].posterior
    assert posterior is not None
    assert (posterior.count, posterior.state, posterior.key) == (4, "counted", "unit-3")
    first = next(state for state in states if state.done)
    assert 5.0 < first.seconds < 13.0
    assert states[-1].seconds == first.seconds


def test_it_gives_up_after_a_quarter_of_a_minute_and_says_why() -> None:
    counter = GuidedCount(lambda features, tier: (1 / 12,) * 12)
    states = feed(counter, swing(5.0, 2.0, 18.5))
    assert states[-1].done
    assert any(state.why == guided.OTHER_HAND and not state.done for state in states)
    assert states[-1].why == guided.NOT_SURE
    posterior = states[-1].posterior
    assert posterior is not None
    assert posterior.state == "counted"
    assert guided.LONGEST_S - 0.01 <= states[-1].seconds < guided.LONGEST_S + 2


def test_another_hand_is_told_apart() -> None:
    asked: list[tuple[int, ...]] = []

    def calibrated(vectors: FloatArray, tier: float, hands: tuple[int, ...] = ()) -> tuple[float, ...]:
        assert len(hands) in {0, len(vectors)}
        asked.append(hands)
        return (1 / 12,) * 12

    counter = GuidedCount(calibrated)
    feed(counter, swing(5.0, 2.0, 7.0))
    heard = counter.seconds
    counter.other_hand()
    assert counter.seconds == pytest.approx(24 * 0.16)  # the piece that was begun is dropped
    assert heard > counter.seconds
    feed(counter, swing(5.0, 2.0, 7.0), index=22400, gap=900)
    assert asked[0] == ()
    assert asked[-1][:2] == (0, 1)


def test_a_swing_without_beads_is_not_counted() -> None:
    counter = GuidedCount(sharpening)
    states = feed(counter, swing(5.0, 2.0, 9.0, beads=False))
    assert all(state.posterior is None and not state.done for state in states)
    assert NO_BEADS in {state.why for state in states}
    assert states[-1].gauge.in_bounds


def test_gaps_are_said_and_bad_samples_not_counted() -> None:
    counter = GuidedCount(sharpening)
    feed(counter, swing(5.0, 2.0, 3.0))
    before = counter.seconds
    state = next(iter(feed(counter, swing(5.0, 2.0, 0.5), index=12000, gap=300)))
    assert state.why == guided.LOST
    bad = swing(5.0, 2.0, 0.5)
    bad[3] = np.nan
    states = feed(counter, bad)
    assert any("not numbers" in state.why for state in states)
    dead = swing(5.0, 2.0, 3.0)
    dead[:, 1] = 0.25
    states = feed(GuidedCount(sharpening), dead)
    assert states[-1].seconds == 0.0
    assert "dead" in states[-1].why
    assert before > 0
    slow = Samples(swing(5.0, 2.0)[::32], 0.0, 100.0, 0)
    told = GuidedCount(sharpening).feed(slow)
    assert told is not None
    assert "too low" in told.why
    assert replace(told, why="").posterior is None


def test_a_calibration_gives_the_opinions() -> None:
    from companion.igloo.calibration.store import Calibration

    counter = GuidedCount(Calibration.of_nothing(RATE).guided_opinion("Ann"))
    states = feed(counter, swing(5.0, 2.0, 7.0))
    posterior = states[-1].posterior
    assert posterior is not None
    assert sum(posterior.p) == pytest.approx(1.0)
    assert counter.seconds > 4.0
