"""The frequency of a tapped balance: exact where the physics is plain, and a sentence where there is none."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from companion.igloo.balance.loads import held
from companion.igloo.balance.messages import CLIPPED, NO_TAP, SHORT, TOO_SLOW
from companion.igloo.balance.ringdown import ringdown

RATE = 3200.0
UP = np.array([0.0, 0.0, 1.0])


def tapped(
    hz: float,
    *,
    damping: float = 0.004,
    bend: float = 0.0,
    taps: int = 4,
    noise: float = 0.006,
    walk: float = 0.0,
    seed: int = 0,
) -> Any:
    """Return 4.5 s on a platform that is tapped: the swing of before goes on, with a push on top of it.

    ``walk``: how far (rad) what trembles pushes the phase on in a second; ``seed``: of another such recording.
    """
    rng = np.random.default_rng([int(1000 * hz), seed] if seed else int(1000 * hz))
    t = np.arange(int(4.5 * RATE)) / RATE
    z = np.zeros(len(t), dtype=complex)
    edges = [*(0.3 + 1.0 * np.arange(taps)), np.inf]
    state = 0j
    for begin, end in pairwise(edges):
        own = (t >= begin) & (t < end)
        state += 0.25 * np.exp(2j * np.pi * rng.random())
        since = t[own] - begin
        size = abs(state) * np.exp(-2 * np.pi * hz * damping * since)
        stiffer = np.cumsum((size / 0.25) ** 2) / RATE
        z[own] = size * np.exp(1j * (np.angle(state) + 2 * np.pi * hz * (since + bend * stiffer)))
        if own.any():
            state = z[own][-1] * np.exp(2j * np.pi * hz / RATE)
    if walk:
        z *= np.exp(1j * walk / np.sqrt(RATE) * np.cumsum(rng.normal(size=len(t))))
    accel = rng.normal(0, noise, (len(t), 3))
    accel[:, 2] += 1.0 + z.real
    return accel


@pytest.mark.parametrize("hz", [12.5, 16.0, 21.3, 27.7, 33.0])
@pytest.mark.parametrize("damping", [0.0015, 0.008])
def test_the_frequency_is_right_to_a_tenth_of_a_bead(hz: float, damping: float) -> None:
    found = ringdown(tapped(hz, damping=damping), RATE)
    assert not found.why
    assert abs(found.frequency_hz - hz) < 3e-4 * hz * 0.33
    assert found.taps >= 3
    assert found.damping == pytest.approx(damping, rel=0.2)


def test_what_trembles_makes_a_weighing_less_sure_by_as_much_as_it_does() -> None:
    """It pushes the phase on, which does not come back: each ring-down by itself looks better than it is."""
    swings = [ringdown(tapped(13.0, walk=0.02, seed=seed), RATE) for seed in range(1, 25)]
    found = [one for one in held(swings, ["tare", *["unknown"] * (len(swings) - 1)]) if one.load]
    spread = float(np.std([one.load for one in found]))
    told = float(np.median([one.error for one in found]))
    assert 0.5 * spread < told < 2 * spread


def test_what_swings_across_does_not_jump_by_a_step_of_the_sensor() -> None:
    """Where rest lies between two steps of the sensor, a hair decides which of them most samples have."""
    step, told = 0.0078, []
    for off in (0.49, 0.51):
        accel = tapped(20.0, noise=0.002)
        accel[:, 0] += off * step
        told.append(ringdown(np.rint(accel / step) * step, RATE))
    first, second = told
    assert np.abs(np.array(first.across) - second.across).max() < 1e-3
    assert 0 < first.across_error < 1e-3


def test_a_blade_that_stiffens_is_told_as_it_swings_when_it_has_nearly_died() -> None:
    plain, stiff = ringdown(tapped(20.0), RATE), ringdown(tapped(20.0, bend=4e-4), RATE)
    assert abs(stiff.frequency_hz - plain.frequency_hz) < 1.5e-4 * 20.0


@pytest.mark.parametrize("turn", [(1, 0, 0), (0.1, 0.2, 0.97), (0, -1, 0)])
def test_it_does_not_matter_how_the_sensor_lies(turn: tuple[float, float, float]) -> None:
    accel = tapped(20.0)
    up = np.array(turn) / np.linalg.norm(turn)
    side = np.cross(up, [0.3, 0.9, 0.1])
    side /= np.linalg.norm(side)
    turned = accel @ np.array([side, np.cross(up, side), up])
    assert ringdown(turned, RATE).frequency_hz == pytest.approx(ringdown(accel, RATE).frequency_hz, rel=2e-5)


@pytest.mark.parametrize("rate", [800.0, 1600.0, 3200.0, 6400.0])
def test_any_rate_that_a_sensor_has_will_do(rate: float) -> None:
    step = np.arange(0, 4.5, 1 / rate)
    accel = np.column_stack([np.interp(step, np.arange(int(4.5 * RATE)) / RATE, one) for one in tapped(18.0).T])
    assert ringdown(accel, rate).frequency_hz == pytest.approx(18.0, rel=1e-4)


def test_what_is_no_weighing_is_said() -> None:
    rng = np.random.default_rng(1)
    still = rng.normal(0, 0.006, (14_400, 3)) + UP
    assert ringdown(still, RATE).why == NO_TAP
    assert ringdown(tapped(20.0)[:3000], RATE).why == SHORT
    assert ringdown(tapped(20.0)[::32], 100.0).why == TOO_SLOW
    assert ringdown(100 * (tapped(20.0) - UP) + UP, RATE).why == CLIPPED
    assert ringdown(np.zeros((14_400, 3)), RATE).why == NO_TAP
    assert ringdown(np.ones((14_400, 3)), RATE).why == NO_TAP
