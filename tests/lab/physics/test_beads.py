"""Simulator A against what mechanics knows in closed form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from companion.lab.physics import beads, contact, world
from companion.lab.physics.hand import CONTROL_HZ, HandPath, from_vector, held, rotate
from companion.lab.physics.ranges import Device, Grip, Ranges

FloatArray = NDArray[np.float64]
G = beads.GRAVITY
VICE = Grip(kg=1e4, hz=40.0, damping=0.9, turn_hz=40.0, turn_damping=0.9)
"""A hand of ten tons: what it holds does not move."""


def plain(**changes: object) -> Device:
    """A wide, smooth igloo without friction or ringing, in a sensor of exactly 3200 Hz."""
    device = Ranges().device(np.random.default_rng(3))
    quiet = {
        "radius_m": 0.05, "wall_m": 0.02, "door_m": 0.0, "bead_m": 0.006, "bead_spread": 0.0, "modes": (),
        "friction": (0.0, 0.0, 0.0), "rolling": 0.0, "rate_hz": 3200.0, "restitution": (0.9, 0.7, 0.7),
        "contact_s": (200e-6, 200e-6, 200e-6), "hertz": 0.0, "viscous": 0.0, "bricks": (), "bumps": (),
    }  # fmt: skip
    return replace(device, **(quiet | changes))  # type: ignore[arg-type]


def still(seconds: float, turn: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> HandPath:
    n = int(seconds * CONTROL_HZ) + 2
    return held(np.zeros((n, 3)), np.broadcast_to(from_vector(np.array(turn)), (n, 4)).copy())


def free(seconds: float) -> HandPath:
    path = still(seconds)
    return replace(path, grip=np.zeros_like(path.grip))


def run(
    device: Device, path: HandPath, pos: FloatArray, vel: FloatArray, **more: float
) -> tuple[FloatArray, FloatArray]:
    """Run with beads placed over the floor's middle (igloo's frame, m)."""
    scene = world.scene(device, VICE, path, np.full(len(pos), device.bead_m / 2), **more)
    scene.pos[:] = pos - np.array([0.0, 0.0, device.middle_m])
    scene.vel[:] = vel
    return scene.run(int(path.seconds * 3200), trace=True)


@pytest.mark.parametrize("wanted", [0.45, 0.7, 0.9, 0.97])
def test_damping_gives_the_restitution_that_was_asked_for(wanted: float) -> None:
    assert contact.restitution_of(contact.damping_ratio(wanted)) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("wanted", [0.45, 0.7, 0.9])
@pytest.mark.parametrize("speed", [0.3, 1.5])
def test_a_bead_bounces_off_the_floor_with_its_restitution(wanted: float, speed: float) -> None:
    device = plain(restitution=(0.9, wanted, 0.7))
    _, trace = run(device, still(0.04), np.array([[0, 0, 0.006]]), np.array([[0, 0, -speed]]), gravity=0.0)
    after = trace[-1, 0, 5]
    # steps of a twelfth to a seventeenth of the contact cost some hundredths
    assert after / speed == pytest.approx(wanted, abs=0.03)


@pytest.mark.parametrize("wanted", [0.75, 0.95])
def test_two_beads_meet_with_their_restitution_and_keep_their_momentum(wanted: float) -> None:
    device = plain(restitution=(wanted, 0.7, 0.7))
    pos = np.array([[-0.006, 0, 0.02], [0.006, 0, 0.02]])
    _, trace = run(device, still(0.03), pos, np.array([[0.5, 0, 0], [-0.2, 0, 0]]), gravity=0.0)
    one, two = trace[-1, 0, 3], trace[-1, 1, 3]
    assert (two - one) / 0.7 == pytest.approx(wanted, abs=0.03)
    assert one + two == pytest.approx(0.3, abs=1e-9)


def test_a_bead_that_bounces_on_rises_to_the_square_of_its_restitution() -> None:
    device = plain(restitution=(0.9, 0.8, 0.7))
    drop = 0.025
    _, trace = run(device, still(0.25), np.array([[0, 0, 0.003 + drop]]), np.zeros((1, 3)))
    height = trace[:, 0, 2] + device.middle_m - 0.003
    low = int(np.argmin(height[:320]))
    assert height[low : low + 400].max() == pytest.approx(0.64 * drop, rel=0.04)


def test_a_bead_falls_freely() -> None:
    _, trace = run(plain(), still(0.05), np.array([[0, 0, 0.04]]), np.array([[0.1, 0, 0]]))
    t = np.arange(1, len(trace) + 1) / 3200
    np.testing.assert_allclose(trace[:, 0, 2] + plain().middle_m, 0.04 - G * t * t / 2, atol=5e-6)
    np.testing.assert_allclose(trace[:, 0, 0], 0.1 * t, atol=1e-9)


def test_a_falling_igloo_feels_nothing_and_a_held_one_its_weight() -> None:
    device = plain()
    matrix = world.sensor.axes(device)
    felt, _ = run(device, free(0.1), np.zeros((0, 3)), np.zeros((0, 3)))
    assert np.abs(felt[-100:]).max() < 1e-6
    felt, _ = run(device, still(0.3), np.zeros((0, 3)), np.zeros((0, 3)))
    np.testing.assert_allclose(felt[-1], matrix @ np.array([0, 0, G]), atol=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_energy_is_never_created(seed: int) -> None:
    rng = np.random.default_rng(seed)
    device = replace(Ranges().device(rng), rate_hz=3200.0)
    device = replace(device, sensor_at=(0.0, 0.0, 0.0))
    count = 13
    scene = world.scene(device, VICE, still(0.8), device.beads(count, rng))
    scene.vel[:] = rng.normal(size=(count, 3)) * 0.8
    start = scene.pos.copy()
    kinetic = 0.5 * scene.mass @ (scene.vel**2).sum(1)
    begin = kinetic + G * scene.mass @ start[:, 2]
    _, trace = scene.run(2400, trace=True)
    # without the springs' own energy and the spin, so it may dip but never rise over what was there
    energy = 0.5 * (trace[:, :count, 3:] ** 2).sum(2) @ scene.mass + G * trace[:, :count, 2] @ scene.mass
    assert energy.max() <= begin + 0.002 * kinetic
    # in the end they lie still on the floor, or nearly so
    resting = 0.5 * (trace[-1, :count, 3:] ** 2).sum(1) @ scene.mass
    assert resting < 0.05 * kinetic


def test_a_free_igloo_keeps_its_momentum_whatever_its_beads_do() -> None:
    device = plain(friction=(0.3, 0.3, 0.3))
    rng = np.random.default_rng(8)
    scene = world.scene(device, VICE, free(0.2), device.beads(7, rng), gravity=0.0)
    scene.vel[:] = rng.normal(size=(7, 3))
    before = scene.mass @ scene.vel
    _, trace = scene.run(600, trace=True)
    after = scene.mass @ trace[-1, :7, 3:] + device.shell_kg * trace[-1, 7, 3:]
    np.testing.assert_allclose(after, before, atol=1e-12)
    assert np.abs(trace[-1, 7, 3:]).max() > 1e-3


@pytest.mark.parametrize("slope", [5.0, 15.0])
def test_a_ball_rolls_down_with_five_sevenths_of_the_pull(slope: float) -> None:
    tilt = np.deg2rad(slope)
    device = plain(friction=(0.0, 0.6, 0.0), restitution=(0.9, 0.4, 0.7))
    path = still(0.14, (0.0, tilt, 0.0))
    scene = world.scene(device, VICE, path, np.array([0.003]))
    scene.pos[:] = rotate(path.turn[:1], np.array([-0.03, 0.0, 0.003 - device.middle_m]))
    _, trace = scene.run(448, trace=True)
    along = trace[:, 0, 3:] @ np.array([np.cos(tilt), 0.0, -np.sin(tilt)])
    t = np.arange(1, len(along) + 1) / 3200
    pull = np.polyfit(t[160:], along[160:], 1)[0]
    assert pull == pytest.approx(5 / 7 * G * np.sin(tilt), rel=0.02)


def test_a_ball_slides_down_a_slippery_floor() -> None:
    tilt = np.deg2rad(35.0)
    device = plain(friction=(0.0, 0.1, 0.0), restitution=(0.9, 0.4, 0.7))
    path = still(0.1, (0.0, tilt, 0.0))
    scene = world.scene(device, VICE, path, np.array([0.003]))
    scene.pos[:] = rotate(path.turn[:1], np.array([-0.035, 0.0, 0.003 - device.middle_m]))
    _, trace = scene.run(300, trace=True)
    along = trace[:, 0, 3:] @ np.array([np.cos(tilt), 0.0, -np.sin(tilt)])
    t = np.arange(1, len(along) + 1) / 3200
    pull = np.polyfit(t[120:], along[120:], 1)[0]
    assert pull == pytest.approx(G * (np.sin(tilt) - 0.1 * np.cos(tilt)), rel=0.03)


def test_a_sliding_ball_ends_rolling_with_five_sevenths_of_its_speed() -> None:
    device = plain(friction=(0.0, 0.4, 0.0), restitution=(0.9, 0.4, 0.7), radius_m=0.08)
    _, trace = run(device, still(0.2), np.array([[-0.06, 0, 0.003]]), np.array([[0.4, 0, 0]]))
    assert trace[-1, 0, 3] == pytest.approx(5 / 7 * 0.4, rel=0.01)


def test_the_hand_is_a_damped_spring() -> None:
    device = plain()
    grip = Grip(kg=0.02, hz=10.0, damping=0.1, turn_hz=20.0, turn_damping=0.5)
    path = still(0.5)
    scene = world.scene(device, grip, path, np.zeros(0))
    scene.shell[0] = 0.004
    _, trace = scene.run(1500, trace=True)
    t = np.arange(1, 1501) / 3200
    beat = 2 * np.pi * 10.0
    swing = beat * np.sqrt(1 - 0.01)
    expected = 0.004 * np.exp(-0.1 * beat * t) * (np.cos(swing * t) + 0.1 * beat / swing * np.sin(swing * t))
    np.testing.assert_allclose(trace[:, 0, 0], expected, atol=2e-5)


def test_on_a_table_it_stays_where_it_is_and_feels_one_g() -> None:
    device = plain(friction=(0.3, 0.3, 0.3))
    n = 600
    path = HandPath(
        position=np.tile([0.0, 0.0, device.middle_m + device.thickness_m], (n, 1)),
        turn=np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)),
        grip=np.zeros(n),
        table=np.zeros(n),
        push=np.zeros((n, 3)),
    )
    recording = world.record(device, VICE, path, 5, np.random.default_rng(1))
    scene = world.scene(device, VICE, path, device.beads(5, np.random.default_rng(1)))
    felt, trace = scene.run(1900, trace=True)
    assert np.abs(trace[-1, 5, :2]).max() < 1e-4
    np.testing.assert_allclose(
        felt[-200:].mean(0), world.sensor.axes(device) @ np.array([0, 0, G]), rtol=0.02, atol=0.1
    )
    assert recording.accel.dtype == np.int16


def test_beads_stay_inside_whatever_the_hand_does() -> None:
    ranges = Ranges()
    for seed in range(3):
        rng = np.random.default_rng(100 + seed)
        device, person = ranges.device(rng), ranges.person(rng)
        path = world.people.shake(person, 0.6, rng)
        scene = world.scene(device, person.grip, path, device.beads(13, rng))
        _, trace = scene.run(1800, trace=True)
        far = np.linalg.norm(trace[:, :13, :3] - trace[:, 13:, :3], axis=2).max()
        assert far < np.hypot(device.radius_m, device.height_m)


def test_the_same_seed_gives_the_same_samples_and_another_does_not() -> None:
    ranges = Ranges()

    def once(seed: int) -> FloatArray:
        rng = np.random.default_rng(seed)
        device, person = ranges.device(rng), ranges.person(rng)
        return world.shake(device, person, 6, 0.3, rng).g

    np.testing.assert_array_equal(once(4), once(4))
    assert once(4).shape[0] != once(5).shape[0] or (once(4) != once(5)).any()


def test_too_many_beads_are_refused_in_a_sentence() -> None:
    device = plain(radius_m=0.018, wall_m=0.0, bead_m=0.008)
    with pytest.raises(ValueError, match="do not fit"):
        world.scene(device, VICE, still(0.1), np.full(60, 0.004))


@pytest.mark.parametrize(("hertz", "viscous"), [(0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.4, 0.7)])
def test_every_law_has_its_restitution_at_the_speed_it_is_stated_for(hertz: float, viscous: float) -> None:
    for wanted in (0.4, 0.7, 0.95):
        k, c, deep = contact.contact_for(3e-4, wanted, 200e-6, hertz, viscous)
        assert contact.bounce(3e-4, k, c, deep, hertz, viscous, contact.MEETING) == pytest.approx(wanted, abs=0.005)


def test_the_linear_law_of_the_general_contact_is_the_closed_form() -> None:
    k, c, deep = contact.contact_for(3e-4, 0.6, 200e-6, 0.0, 0.0)
    for speed in (0.05, 1.5):
        assert contact.bounce(3e-4, k, c, deep, 0.0, 0.0, speed) == pytest.approx(0.6, abs=0.005)


def test_viscoelastic_spheres_lose_as_the_fifth_root_of_their_speed() -> None:
    # Kuwabara & Kono 1987: 1 - e grows with v^(1/5), at small losses
    k, c, deep = contact.contact_for(3e-4, 0.97, 200e-6, 1.0, 1.0)
    slow, fast = (1 - contact.bounce(3e-4, k, c, deep, 1.0, 1.0, speed) for speed in (0.1, 1.0))
    assert fast / slow == pytest.approx(10**0.2, rel=0.04)
    assert replace(plain(), hertz=1.0, viscous=1.0).fall == pytest.approx(0.2)
    assert plain().fall == 0.0


@pytest.mark.parametrize("relief", ["bump", "brick"])
def test_a_bead_bounces_off_a_bump_and_off_a_brick(relief: str) -> None:
    high = 0.002
    changes: dict[str, object] = (
        {"bumps": ((0.0, 0.0, high - 0.004, 0.004),)} if relief == "bump" else {"bricks": ((0.0, 0.0, 1.0, high),)}
    )
    device = plain(restitution=(0.9, 0.7, 0.7), **changes)
    _, trace = run(device, still(0.06), np.array([[0, 0, 0.009]]), np.array([[0, 0, -0.5]]), gravity=0.0)
    height = trace[:, 0, 2] + device.middle_m
    assert height.min() == pytest.approx(high + 0.003, abs=4e-4)
    assert trace[-1, 0, 5] / 0.5 == pytest.approx(0.7, abs=0.03)


def test_beads_are_laid_clear_of_bricks_and_bumps() -> None:
    ranges = replace(Ranges(), bricked=1.0, bumpy=1.0)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        device = ranges.device(rng)
        assert device.bricks and device.bumps
        radii = device.beads(13, rng)
        pos = world.scene(device, VICE, still(0.1), radii).pos + np.array([0.0, 0.0, device.middle_m])
        for brick in device.bricks:
            assert (pos @ np.array(brick[:3]) - brick[3] - radii).min() > -0.03 * device.bead_m
        for bump in device.bumps:
            assert (np.linalg.norm(pos - np.array(bump[:3]), axis=1) - bump[3] - radii).min() > -0.03 * device.bead_m
