"""The real firmware and the companion's own reader, which were written apart from the same page of protocol."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from companion.igloo.line.link import SerialLink
from companion.ports import DeviceKind, DeviceState, LinkCounts, Samples
from tests.worlds.clock import Clock
from tests.worlds.wait import wait

pytestmark = pytest.mark.process

Maker = Callable[..., Any]


class Ear:
    """Collects what a link hears."""

    def __init__(self, link: SerialLink) -> None:
        self.runs: list[Samples] = []
        self._lock = threading.Lock()
        link.subscribe(self._hear)

    def _hear(self, run: Samples) -> None:
        with self._lock:
            self.runs.append(run)

    def accel(self) -> np.ndarray:
        with self._lock:
            return np.concatenate([run.accel for run in self.runs]) if self.runs else np.zeros((0, 3))


@pytest.mark.parametrize("mhz", [16, 8])
def test_a_shake_arrives_whole(simavr: Maker, mhz: int) -> None:
    rng = np.random.default_rng(3)
    shake = rng.integers(-1024, 1024, (3200, 3)) * 2 / 256
    igloo = simavr(mhz=mhz, rate_error=-0.03).start()
    with SerialLink(igloo.port, clock=Clock()) as link:
        ear = Ear(link)
        wait(lambda: link.status().state is DeviceState.CONNECTED)
        igloo.play(shake)
        wait(lambda: igloo.stats()["samples_played"] == len(shake))
        # What the sensor has taken by now has at most this number on the line.
        taken = igloo.stats()["samples_taken"]
        wait(lambda: ear.runs and ear.runs[-1].index >= taken)
        status, accel = link.status(), ear.accel()
    assert status.kind is DeviceKind.SIMULATED and status.protocol == "igloo-1"
    assert status.nominal_hz == 3200 and status.rate_hz == pytest.approx(3200 * 0.97, rel=0.003)
    assert status.sensor_state == 0
    counts = status.counts
    assert counts == LinkCounts(samples=counts.samples)  # everything else is zero
    wanted = np.rint(shake * 256) * 3906e-6
    begin = next(i for i in range(len(accel)) if np.allclose(accel[i : i + 3], wanted[:3]))
    assert np.allclose(accel[begin : begin + len(wanted)], wanted)


def test_a_sensor_that_falls_off_and_a_name(simavr: Maker) -> None:
    igloo = simavr().start()
    with SerialLink(igloo.port, clock=Clock()) as link:
        wait(lambda: link.status().state is DeviceState.CONNECTED)
        igloo.sensor(False)
        wait(lambda: link.status().sensor_state == 3)
        assert link.status().state is DeviceState.FAULTY
        igloo.sensor(True)
        wait(lambda: link.status().state is DeviceState.CONNECTED)
        link.name_unit(7)
        wait(lambda: link.superseded)
    with SerialLink(igloo.port, clock=Clock()) as link:
        wait(lambda: link.status().unit == 7)
