"""From the simulated hand to the count, through the real firmware: what arrives is counted as the file is."""

from __future__ import annotations

import numpy as np
import pytest

from companion.igloo.count.counter import Counter, count_recording
from companion.lab.physics import draws, people
from companion.lab.worlds import shake_impulse
from companion.lab.worlds.shake_wire import through_the_line
from companion.ports import CountPosterior, DeviceKind, Samples

pytestmark = pytest.mark.process

COUNTED = (2, 6, 12)


def test_shakes_of_the_test_simulator_are_counted_through_the_firmware_as_from_files() -> None:
    igloo, hand = draws.pair(4100, 3)
    shakes = []
    for i, count in enumerate(COUNTED):
        rng = np.random.default_rng([4100, 3, i])
        shakes.append(shake_impulse.record(igloo, hand.grip, people.shake(hand, 2.0, rng), count, rng))
    error = igloo.rate_hz / igloo.nominal_hz - 1
    arrived = through_the_line([one.g for one in shakes], error)
    assert abs(arrived.rate_hz / igloo.rate_hz - 1) < 0.002
    for one, accel in zip(shakes, arrived.shakes, strict=True):
        assert np.abs(accel - one.g).max() < 0.003  # the sensor says it in whole steps, the board their size in µg
        by_file = count_recording(one.g, one.rate_hz)
        by_line = count_recording(accel, arrived.rate_hz)
        assert by_line.state == by_file.state == "counted"
        assert 0.5 * np.abs(np.array(by_line.p) - by_file.p).sum() < 0.05
        assert live(accel, arrived.rate_hz).count in {by_file.count - 1, by_file.count, by_file.count + 1}


def live(accel: np.ndarray, rate_hz: float) -> CountPosterior:
    """Return the last answer of a stream."""
    counter = Counter("unit-1", DeviceKind.SIMULATED)
    heard = [counter.feed(Samples(accel[at : at + 160], at / rate_hz, rate_hz, at)) for at in range(0, len(accel), 160)]
    return [one for one in heard if one is not None and one.p][-1]
