"""What surrounds the beads: ranges, hands, the sensor, the stored shakes."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from companion.igloo import simulated
from companion.lab.physics import bank, draws, hand, handling, people, sensor, world
from companion.lab.physics.ranges import LOGARITHMIC, PLACES, STYLES, Ranges
from companion.ports import COUNTS, MotionState

STORED = simulated.BANK


def test_devices_and_people_stay_within_their_ranges() -> None:
    ranges = Ranges()
    places, styles = set(), set()
    for seed in range(60):
        device, person = draws.pair(seed, 0)
        assert ranges.bead_mm[0] <= device.bead_m * 1e3 <= ranges.bead_mm[1]
        assert ranges.inner_mm[0] <= device.radius_m * 2e3 <= ranges.inner_mm[1]
        extra = (device.shell_kg * 1e3 - ranges.cap_g[1], device.shell_kg * 1e3 - ranges.sensor_g[0])
        assert extra[0] <= ranges.shell_g[1] and extra[1] >= ranges.shell_g[0]
        assert abs(device.rate_hz / device.nominal_hz - 1) <= ranges.rate_error[1]
        assert ranges.tempo_hz[0] <= person.tempo_hz <= ranges.tempo_hz[1]
        inside = np.pi * device.radius_m**2 * (device.wall_m + 2 / 3 * device.radius_m)
        assert 13 * np.pi / 6 * device.bead_m**3 <= ranges.fullest * inside
        places.add(device.place)
        styles.update(person.styles)
    assert places == set(PLACES)
    assert styles == set(STYLES)


def test_every_range_can_be_told_in_a_data_card() -> None:
    told = json.loads(json.dumps(Ranges().to_json()))
    assert told["bead_mm"] == [4.0, 8.0]
    assert set(told) >= LOGARITHMIC


@pytest.mark.parametrize("count", [2, 13])
def test_beads_begin_apart_from_each_other_in_every_igloo(count: int) -> None:
    path = hand.held(np.zeros((5, 3)), np.tile([1.0, 0, 0, 0], (5, 1)))
    for seed in range(80):
        device, person = draws.pair(seed, 1)
        radii = device.beads(count, np.random.default_rng(seed))
        pos = world.scene(device, person.grip, path, radii).pos
        apart = np.linalg.norm(pos[:, None] - pos[None], axis=2) + np.eye(count)
        assert (apart >= (radii[:, None] + radii[None]) * (1 - np.eye(count))).all()


def test_a_shake_has_the_tempo_and_strength_of_its_hand() -> None:
    _, person = draws.pair(3, 0)
    person = replace(person, styles=("up-down",), tempo_hz=4.0, peak_g=2.0, tempo_jitter=0.01, travel_jitter=0.03)
    person = replace(person, sharpness=0.0, lopsided=0.0, rock=0.0, twist=0.0, pauses=0.0, tremor_g=0.005, ellipse=0.0)
    position, _ = people.shaking(person, 4.0, np.random.default_rng(1))
    along = np.gradient(np.gradient(position[300:-300, 2])) * hand.CONTROL_HZ**2 / 9.81
    spectrum = np.abs(np.fft.rfft(along * np.hanning(len(along))))
    tempo = np.argmax(spectrum) * hand.CONTROL_HZ / len(along)
    assert tempo == pytest.approx(4.0, rel=0.25)
    assert along.max() == pytest.approx(2.0, rel=0.5)


def test_a_path_turns_without_jumps_and_its_spin_is_its_slope() -> None:
    t = np.arange(800) / hand.CONTROL_HZ
    turn = hand.from_vector(np.column_stack([0 * t, 3.0 * t, 0 * t]))
    turn[400:] *= -1  # the same turn, written with the other sign
    rows = hand.held(np.zeros((800, 3)), turn).rows()
    np.testing.assert_allclose(rows[5:-5, 14:17], np.tile([0.0, 3.0, 0.0], (790, 1)), atol=1e-3)


def test_the_sensor_drops_its_lowest_bit_clips_and_keeps_its_offset() -> None:
    device, _ = draws.pair(1, 0)
    device = replace(device, offset_g=(0.1, 0.0, -0.1), noise_g=0.0)
    felt = np.array([[0.0, 0.5, 40.0], [0.0, -0.5, -40.0]])
    steps = sensor.digitise(device, felt, np.random.default_rng(1))
    assert (steps & 1 == 0).all()
    assert steps[0, 0] == pytest.approx(25, abs=2)
    assert steps[:, 2].tolist() == [4094, -4096]
    slow = sensor.digitise(replace(device, nominal_hz=800.0), felt, np.random.default_rng(1))
    assert slow[0, 0] == 26 and slow[:, 2].max() == 4095


def test_the_filter_passes_the_slow_and_stops_the_fast() -> None:
    stages = sensor.lowpass(1600.0, 128000.0)

    def gain(hz: float) -> float:
        z = np.exp(2j * np.pi * hz / 128000.0)
        value = 1.0 + 0j
        for b0, b1, b2, a1, a2 in stages:
            value *= (b0 + b1 / z + b2 / z**2) / (1 + a1 / z + a2 / z**2)
        return abs(value)

    assert gain(1.0) == pytest.approx(1.0, abs=1e-6)
    assert gain(1600.0) == pytest.approx(np.sqrt(0.5), rel=1e-3)
    assert gain(3200.0) == pytest.approx(1 / np.sqrt(1 + 2.0**8), rel=0.05)


def test_more_beads_and_harder_shaking_are_louder() -> None:
    device, person = draws.pair(12, 0)

    def loud(count: int, strength: float) -> float:
        own = replace(person, peak_g=strength)
        accel = world.shake(device, own, count, 1.0, np.random.default_rng(2)).g
        return float(np.diff(accel, axis=0).std())

    assert loud(12, 2.0) > 1.3 * loud(2, 2.0)
    assert loud(6, 3.0) > 1.5 * loud(6, 0.8)


def test_a_script_ends_where_it_says_and_labels_follow_each_other() -> None:
    device, person = draws.pair(5, 0)
    script = handling.Script(device, person, np.random.default_rng(5))
    handling.play(script, peek=True)
    path = script.path()
    assert path.seconds == pytest.approx(script.now, abs=0.002)
    assert len(path.turn) == len(path.grip) == len(path.push) == len(path.position)
    states = [label.state for label in script.labels]
    assert states[0] is MotionState.REST and states[-1] is MotionState.REST
    assert MotionState.TURNED in states
    # the hand's path has no jump: no more than 4 mm in a millisecond
    assert np.abs(np.diff(path.position, axis=0)).max() < 0.004
    up = hand.rotate(path.turn, np.array([0.0, 0.0, 1.0]))[:, 2]
    peek = next(label for label in script.labels if label.state is MotionState.TURNED)
    assert np.degrees(np.arccos(up[int((peek.begin + 0.02) * 1000) : int((peek.end - 0.02) * 1000)])).min() > 70


def test_the_bank_is_what_its_seed_makes() -> None:
    with np.load(STORED, allow_pickle=False) as stored:
        arrays = {key: stored[key] for key in stored.files}
    assert STORED.stat().st_size <= 2_000_000
    assert arrays["accel"].dtype == np.int16 and arrays["accel"].ndim == 3
    assert sorted(set(arrays["count"].tolist())) == list(COUNTS)
    assert str(arrays["kind"]) == "simulated"
    assert json.loads(str(arrays["provenance"]))["seed"] == int(arrays["seed"]) == bank.SEED
    assert {f"move_{name}" for name in bank.MOVES} <= set(arrays)
    # upright in the hand and upside down: gravity has changed its side
    upright, over = arrays["move_hold"].mean(axis=0), arrays["move_turned"].mean(axis=0)
    assert upright @ over / np.linalg.norm(upright) / np.linalg.norm(over) < -0.5


def test_shakes_by_number_do_not_depend_on_each_other() -> None:
    alone = draws.shake(9, 3, 0.2)
    draws.shake(9, 2, 0.2)
    np.testing.assert_array_equal(draws.shake(9, 3, 0.2).accel, alone.accel)
    assert draws.shake(9, 3, 0.2).count == 5
