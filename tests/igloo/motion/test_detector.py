"""Motion from constructed accelerations: what each state is, from any mounting and at any rate."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from companion.igloo.motion.detector import MotionDetector
from companion.ports import DeviceKind, Motion, MotionState, Samples

FloatArray = NDArray[np.float64]
S = MotionState
NOISE_G = 0.02


class Bench:
    """Writes what a sensor feels, piece by piece, and hears it through a detector."""

    def __init__(self, rate: float = 3200.0, seed: int = 1, noise: float = NOISE_G) -> None:
        self.rate = rate
        self.rng = np.random.default_rng(seed)
        self.noise = noise * np.sqrt(rate / 3200.0)
        q, _ = np.linalg.qr(self.rng.normal(size=(3, 3)))
        self.mounting = q
        self.pieces: list[FloatArray] = []

    def times(self, seconds: float) -> FloatArray:
        return np.arange(int(seconds * self.rate)) / self.rate

    def add(self, felt: FloatArray) -> Bench:
        noisy = felt + self.rng.normal(size=felt.shape) * self.noise
        self.pieces.append(noisy @ self.mounting.T)
        return self

    def rest(self, seconds: float) -> Bench:
        return self.add(np.tile([0.0, 0.0, 1.0], (len(self.times(seconds)), 1)))

    def hold(self, seconds: float, tilt: float = 10.0) -> Bench:
        t = self.times(seconds)
        a = np.radians(tilt)
        felt = np.tile([np.sin(a), 0.0, np.cos(a)], (len(t), 1))
        shiver = 0.03 * np.sin(2 * np.pi * (9.0 * t[:, None] + np.array([0.0, 0.3, 0.6])))
        return self.add(felt + shiver)

    def lift(self, seconds: float = 0.6, height: float = 0.12) -> Bench:
        s = np.linspace(0, 1, len(self.times(seconds)))
        push = height / seconds**2 / 9.81 * (60 * s - 180 * s**2 + 120 * s**3)
        return self.add(np.column_stack([0 * s, 0 * s, 1 + push]))

    def shake(self, seconds: float, hz: float = 4.0, peak: float = 1.5, axis: int = 2) -> Bench:
        t = self.times(seconds)
        felt = np.tile([0.0, 0.0, 1.0], (len(t), 1))
        felt[:, axis] += peak * np.sin(2 * np.pi * hz * t)
        return self.add(felt)

    def turn(self, begin: float, end: float, seconds: float) -> Bench:
        a = np.radians(np.linspace(begin, end, len(self.times(seconds))))
        return self.add(np.column_stack([np.sin(a), 0 * a, np.cos(a)]))

    def fall(self, seconds: float) -> Bench:
        t = self.times(seconds)
        self.add(np.zeros((len(t), 3)))
        blow = self.times(0.03)
        hit = np.column_stack([0 * blow, 0 * blow, 14.0 * np.exp(-blow / 0.005) * np.cos(900 * blow)])
        return self.add(hit + np.array([0.0, 0.0, 1.0]))

    def knock(self) -> Bench:
        t = self.times(0.12)
        ring = 1.2 * np.exp(-t / 0.02) * np.sin(2 * np.pi * 60 * t)
        return self.add(np.column_stack([0.3 * ring, 0 * t, 1 + ring]))

    @property
    def accel(self) -> FloatArray:
        return np.concatenate(self.pieces)

    def hear(self, portion: int = 16) -> list[Motion]:
        detector = MotionDetector("igloo", DeviceKind.SIMULATED)
        found: list[Motion] = []
        accel = self.accel
        for start in range(0, len(accel), portion):
            found += detector.feed(Samples(accel[start : start + portion], start / self.rate, self.rate, start))
        return found


def states(found: list[Motion]) -> list[MotionState]:
    return [motion.state for motion in found]


def one_night(rate: float = 3200.0, seed: int = 1) -> Bench:
    bench = Bench(rate, seed).rest(1.0).knock().rest(0.8).lift().hold(0.7).shake(1.6).hold(0.8)
    return bench.turn(10, 160, 0.5).hold(0.8, 160).turn(160, 10, 0.5).hold(0.6).rest(1.0)


WHOLE = [S.REST, S.KNOCKED, S.REST, S.LIFTED, S.CARRIED, S.SHAKEN, S.CARRIED, S.TURNED, S.CARRIED, S.SET_DOWN, S.REST]


@pytest.mark.parametrize("seed", range(6))
def test_every_mounting_tells_the_same_story(seed: int) -> None:
    assert states(one_night(seed=seed).hear()) == WHOLE


@pytest.mark.parametrize("rate", [100.0, 200.0, 800.0, 1600.0, 6400.0])
def test_other_rates_tell_the_same_story(rate: float) -> None:
    assert states(one_night(rate).hear()) == WHOLE


def test_fifty_samples_a_second_are_enough_for_the_large_motions() -> None:
    found = states(one_night(50.0).hear())
    for state in (S.REST, S.LIFTED, S.SHAKEN, S.TURNED, S.SET_DOWN):
        assert state in found


@pytest.mark.parametrize("portion", [1, 7, 500, 5000])
def test_the_portions_in_which_samples_come_do_not_matter(portion: int) -> None:
    bench = one_night()
    found, other = bench.hear(portion), bench.hear(16)
    assert states(found) == states(other)
    np.testing.assert_allclose([m.t for m in found], [m.t for m in other], atol=0.011)  # a cell


def test_times_are_when_the_motion_began() -> None:
    found = {motion.state: motion.t for motion in Bench().rest(1.0).lift().hold(0.5).shake(1.5).hear()}
    assert found[S.LIFTED] == pytest.approx(1.0, abs=0.12)
    assert 2.1 < found[S.SHAKEN] < 2.65


def test_turning_over_is_told_within_150_ms_and_with_its_angle() -> None:
    bench = Bench().rest(1.0).lift().hold(0.5).turn(10, 150, 0.3).hold(1.0, 150)
    turned = next(motion for motion in bench.hear() if motion.state is S.TURNED)
    passed = 1.0 + 0.6 + 0.5 + 0.3 * (72 - 10) / 140
    assert turned.t - passed < 0.15
    assert turned.tilt_deg is not None and 72 < turned.tilt_deg < 160


def test_a_tilt_below_the_border_is_no_turning_over() -> None:
    bench = Bench().rest(1.0).lift().hold(0.5).turn(10, 50, 0.4).hold(1.5, 50).turn(50, 10, 0.4).hold(0.5)
    assert S.TURNED not in states(bench.hear())


def test_shaking_hard_is_no_turning_over() -> None:
    for axis in range(3):
        for hz in (1.8, 3.0, 6.0):
            bench = Bench().rest(1.0).lift().hold(0.5).shake(4.0, hz, 2.5, axis).hold(0.5)
            assert S.TURNED not in states(bench.hear())


def test_a_fall_is_told() -> None:
    bench = Bench().rest(1.0).lift().hold(0.6).fall(0.18).rest(1.0)
    found = bench.hear()
    assert S.DROPPED in states(found)
    dropped = next(motion for motion in found if motion.state is S.DROPPED)
    assert dropped.t == pytest.approx(2.2, abs=0.03)
    assert states(found)[-1] is S.REST


def test_a_table_that_is_knocked_at_is_no_lifting() -> None:
    bench = Bench().rest(1.0)
    for _ in range(5):
        bench.knock().rest(0.7)
    found = states(bench.hear())
    assert S.LIFTED not in found
    assert found.count(S.KNOCKED) == 5


def test_nothing_is_known_before_a_rest_or_a_shake() -> None:
    assert states(Bench().hold(1.5).hear()) == []
    assert states(Bench().shake(1.5).hear())[:1] == [S.SHAKEN]


def test_without_a_rest_nothing_is_called_turned_over() -> None:
    bench = Bench().shake(1.5).hold(0.5, 150).rest(0.2)
    found = bench.hear()
    assert S.TURNED not in states(found)
    assert found[0].tilt_deg is None


def test_another_lasting_pose_becomes_the_upright() -> None:
    bench = Bench().rest(1.0).lift().turn(0, 170, 0.6)
    bench.add(np.tile([0.0, 0.0, -1.0], (len(bench.times(10.0)), 1)))
    found = bench.hear()
    assert states(found)[-2:] == [S.TURNED, S.REST]
    assert found[-1].tilt_deg == 0.0


def test_noise_alone_is_rest() -> None:
    for noise in (0.005, 0.035):
        assert states(Bench(noise=noise).rest(20.0).hear()) == [S.REST]


def test_a_short_gap_keeps_the_state_and_a_long_one_does_not() -> None:
    bench = Bench().rest(2.0)
    detector = MotionDetector("igloo", DeviceKind.REAL)
    half = bench.accel[:3200]
    assert [m.state for m in detector.feed(Samples(half, 0.0, 3200.0, 0))] == [S.REST]
    assert detector.feed(Samples(half, 1.2, 3200.0, 3840, gap_before=640)) == []
    assert detector.state is S.REST
    found = detector.feed(Samples(half, 9.2, 3200.0, 29440, gap_before=22400))
    assert [m.state for m in found] == [S.UNKNOWN, S.REST]
    assert found[1].tilt_deg is not None and found[1].tilt_deg < 2.0


def test_an_overflow_in_the_middle_of_a_lift_loses_no_state() -> None:
    accel = Bench().rest(1.0).lift().hold(1.0).accel
    detector = MotionDetector("igloo", DeviceKind.REAL)
    cut = int(1.3 * 3200)
    found = detector.feed(Samples(accel[:cut], 0.0, 3200.0, 0))
    found += detector.feed(Samples(accel[cut:], 1.31, 3200.0, cut, overflow_before=True))
    assert S.CARRIED in states(found)


def test_what_is_not_a_number_is_left_out() -> None:
    bench = Bench().rest(1.0)
    accel = bench.accel
    accel[500:520] = np.nan
    detector = MotionDetector("igloo", DeviceKind.REAL)
    assert states(detector.feed(Samples(accel, 0.0, 3200.0, 0))) == [S.REST]
