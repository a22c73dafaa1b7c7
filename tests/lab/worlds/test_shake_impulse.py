"""The second simulator, which only tests: it keeps to mechanics too, and agrees with the first where it should."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from companion.lab.physics import draws, people, world
from companion.lab.physics.hand import CONTROL_HZ, held
from companion.lab.worlds import shake_impulse


def test_held_still_it_feels_its_weight_and_falls_silent() -> None:
    device, person = draws.pair(2, 0)
    device = replace(device, noise_g=0.0, offset_g=(0.0, 0.0, 0.0))
    n = int(1.0 * CONTROL_HZ)
    path = held(np.zeros((n, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)))
    felt = shake_impulse.record(device, person.grip, path, 6, np.random.default_rng(1)).g
    weight = world.sensor.axes(device) @ np.array([0.0, 0.0, 1.0])
    # resting beads are part of what the hand holds, so the hand sinks by a little and no more
    np.testing.assert_allclose(felt[-800:].mean(axis=0), weight, atol=0.02)
    assert felt[-800:].std(axis=0).max() < 0.03


@pytest.mark.parametrize("number", [1, 4, 6])
def test_both_simulators_feel_the_same_hand_and_similar_beads(number: int) -> None:
    device, person = draws.pair(5, number)
    path = people.shake(person, 1.2, np.random.default_rng(number))
    soft = world.record(device, person.grip, path, 6, np.random.default_rng(3)).g
    hard = shake_impulse.record(device, person.grip, path, 6, np.random.default_rng(3)).g
    assert soft.shape == hard.shape
    slow = np.ones(64) / 64
    for axis in range(3):
        a, b = (np.convolve(x[:, axis], slow, mode="valid") for x in (soft, hard))
        # the bead's own pushes differ, the hand's motion is the same
        assert np.std(a - b) < 0.5 * max(np.std(a), 0.2)
    loud = [float(np.diff(x, axis=0).std()) for x in (soft, hard)]
    assert 0.6 < loud[0] / loud[1] < 1.7


def test_it_is_another_law_of_contact_and_repeats_itself() -> None:
    one = shake_impulse.shake(3, 0, 0, 5, 0.4)
    two = shake_impulse.shake(3, 0, 0, 5, 0.4)
    np.testing.assert_array_equal(one.accel, two.accel)
    device, person = draws.pair(3, 0)
    path = people.shake(person, 0.4, np.random.default_rng([3, 0, 0, 0]))
    soft = world.record(device, person.grip, path, 5, np.random.default_rng(0))
    assert (soft.accel != one.accel).any()


def test_the_beads_stay_inside() -> None:
    device, _ = draws.pair(8, 0)
    planes = shake_impulse.bricks(device)
    assert np.linalg.norm(planes[:, :3], axis=1) == pytest.approx(np.ones(len(planes)))
    # the middle of the igloo is inside all planes with room for a bead
    middle = np.array([0.0, 0.0, device.middle_m])
    assert (planes[:, :3] @ middle - planes[:, 3] > device.bead_m / 2).all()
    felt = shake_impulse.shake(8, 0, 0, 13, 1.0).g
    assert np.isfinite(felt).all()
    # beads that had fallen out would no longer be heard
    assert np.diff(felt[-800:], axis=0).std() > 0.5 * np.diff(felt, axis=0).std()
