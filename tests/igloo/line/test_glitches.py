"""Wild samples are told apart from impacts: no true sample goes, every flipped one of those that can be told does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from companion.igloo.count.counter import Counter
from companion.igloo.line.frame_driver import FrameDriver
from companion.igloo.line.glitches import ALONE_G, BESIDE, GlitchFilter, standing_out
from companion.igloo.line.protocol import Hello, encode
from companion.igloo.simulated import BANK, GUIDED
from companion.igloo.simulated.device import SimulatedDevice
from companion.lab.bench.glitches import shakes, wildest
from companion.ports import CountPosterior, DeviceKind, Samples

FloatArray = NDArray[np.float64]
RATE = 3200.0
FRAME = 16
HELLO = Hello(0, 1, 0xE5, 0x0F, 0x0B, 3200, 3906, 16_000_000, 500_000)
PRACTICE = Path(BANK).parents[3] / "practice" / "bank"


def felt(path: Path) -> Iterator[FloatArray]:
    with np.load(path) as bank:
        for name in bank.files:
            if bank[name].ndim > 1 and bank[name].shape[-1] == 3:
                for part in bank[name].reshape(-1, *bank[name].shape[-2:]):
                    yield part * (float(bank["ug_per_lsb"]) * 1e-6)


def as_runs(accel: FloatArray, size: int = FRAME) -> list[Samples]:
    return [Samples(accel[at : at + size], 100.0 + at / RATE, RATE, at) for at in range(0, len(accel), size)]


def at_rest(n: int, seed: int = 1) -> FloatArray:
    return np.random.default_rng(seed).normal([0.0, 0.0, 1.0], 0.012, (n, 3))


def whole(runs: list[Samples], n: int) -> None:
    """Hold that runs are in order, and say of every sample that is not there that it is missing."""
    assert runs[0].index == runs[0].gap_before
    for one, two in pairwise(runs):
        assert two.index == one.index + len(one.accel) + two.gap_before
        assert two.t0 == pytest.approx(100.0 + two.index / RATE)
    assert runs[-1].index + len(runs[-1].accel) == n


# --- what beads and hands do -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [BANK, GUIDED, *sorted(PRACTICE.glob("*.npz"))], ids=lambda path: path.stem)
def test_no_sample_of_the_stored_shakes_is_left_out(path: Path) -> None:
    """Shakes, handling, knocks and a fall, of thirteen igloos that physics made: there is room to spare for others."""
    assert wildest(felt(path)).beyond < ALONE_G / 2
    for accel in felt(path):
        sieve = GlitchFilter()
        runs = sieve.feed(as_runs(accel))
        assert sieve.count == 0
        assert np.array_equal(np.concatenate([run.accel for run in runs]), accel[: sum(len(r.accel) for r in runs)])
        assert len(accel) - sum(len(run.accel) for run in runs) <= BESIDE


@pytest.mark.parametrize("devices", [4, pytest.param(400, marks=pytest.mark.long)])
def test_no_sample_of_fresh_shakes_is_left_out_by_either_law_of_contact(devices: int) -> None:
    found = wildest(shakes(71, devices))
    assert found.samples > 4000 * devices
    assert found.beyond < ALONE_G / 2


def counted(runs: list[Samples]) -> list[CountPosterior]:
    counter = Counter("igloo", DeviceKind.SIMULATED)
    return [answer for run in runs if (answer := counter.feed(run)) is not None]


def test_counts_are_what_they_were() -> None:
    with np.load(BANK) as bank:
        accel = bank["accel"][7] * (float(bank["ug_per_lsb"]) * 1e-6)
    plain = as_runs(accel)
    assert counted(GlitchFilter().feed(plain)) == counted(plain) != []


# --- what a flipped bit does -------------------------------------------------------------------------------------


@given(st.integers(BESIDE, 200), st.integers(0, 2), st.sampled_from([-1, 1]), st.integers(1, 64))
def test_a_wild_sample_at_rest_is_left_out_and_said(at: int, axis: int, sign: int, size: int) -> None:
    accel = at_rest(260)
    accel[at, axis] += sign * 8.0  # bit 11 of 13
    sieve = GlitchFilter()
    runs = sieve.feed(as_runs(accel, size))
    assert sieve.count == 1
    whole(runs, 260)
    assert [run.index for run in runs if run.gap_before] == [at + 1]
    assert np.abs(np.concatenate([run.accel for run in runs])).max() < 1.2


def test_what_may_be_wild_waits_for_its_neighbours_and_nothing_else_does() -> None:
    accel, sieve = at_rest(64), GlitchFilter()
    assert [len(run.accel) for run in sieve.feed(as_runs(accel)[:1])] == [16]
    accel[31] = 9.0
    (run,) = sieve.feed(as_runs(accel)[1:2])
    assert len(run.accel) == 15
    runs = sieve.feed(as_runs(accel)[2:3])
    assert [(run.index, len(run.accel), run.gap_before) for run in runs] == [(32, 16, 1)]


def test_a_blow_that_lasts_is_none() -> None:
    accel = at_rest(64)
    accel[30:32, 2] += 9.0
    sieve = GlitchFilter()
    assert sum(len(run.accel) for run in sieve.feed(as_runs(accel))) == 64
    assert sieve.count == 0


def test_beside_a_gap_nothing_is_told() -> None:
    """Who has no neighbours may be the top of a blow, of which the rest is missing."""
    accel, sieve = at_rest(64), GlitchFilter()
    accel[16, 0], accel[31, 1] = 9.0, -9.0
    parts = as_runs(accel)
    late = [
        parts[0],
        Samples(parts[1].accel, parts[1].t0 + 1.0, RATE, 116, 100),
        Samples(parts[2].accel, parts[2].t0 + 2.0, RATE, 132, 0, overflow_before=True),
        Samples(parts[3].accel, parts[3].t0 + 2.0, RATE, 148),
    ]
    runs = sieve.feed(late)
    assert sieve.count == 0
    assert sum(len(run.accel) for run in runs) == 64
    assert [
        (run.index, run.gap_before, run.overflow_before) for run in runs if run.gap_before or run.overflow_before
    ] == [
        (116, 100, False),
        (132, 0, True),
    ]


def test_a_gap_behind_a_wild_sample_says_both() -> None:
    accel, sieve = at_rest(64), GlitchFilter()
    accel[14, 0] = accel[31, 0] = 9.0
    parts = as_runs(accel)
    runs = sieve.feed([*parts[:2], Samples(parts[2].accel, 105.0, RATE, 40, 8, overflow_before=True), parts[3]])
    # The first is told, the second lost its neighbours.
    assert sieve.count == 1
    assert [(run.index, len(run.accel), run.gap_before, run.overflow_before) for run in runs] == [
        (0, 14, 0, False),
        (15, 16, 1, False),
        (31, 1, 0, False),
        (40, 16, 8, True),
        (48, 16, 0, False),
    ]


def test_whoever_stands_alone_on_no_axis_is_not_looked_at() -> None:
    alone, beyond = standing_out(np.zeros((1, 3)))
    assert not alone.any() and np.isneginf(beyond).all()


# --- the whole way -----------------------------------------------------------------------------------------------


def through(device: SimulatedDevice, driver: FrameDriver, seconds: float, glitches: int = 0) -> list[Samples]:
    runs: list[Samples] = []
    for step in range(round(seconds * 50)):
        if glitches and step % 5 == 2:
            device.glitch_sample()
            glitches -= 1
        runs += driver.feed(device.advance(64), 100.0 + step / 50)
    return runs


def test_glitches_of_the_simulated_igloo_are_counted_and_left_out() -> None:
    device, driver = SimulatedDevice(seed=4), FrameDriver()
    runs = through(device, driver, 8.0, glitches=60)
    counts = driver.counts()
    assert counts.glitches == 60
    assert (counts.rejected, counts.lost, counts.corrupt) == (0, 0, 0)
    assert sum(run.gap_before for run in runs) == 60
    assert sum(len(run.accel) for run in runs) == counts.samples - 60
    assert np.abs(np.concatenate([run.accel for run in runs])).max() < 2.0


def test_in_a_shake_most_of_them_are_told_and_no_true_sample_goes() -> None:
    plain, flawed = SimulatedDevice(seed=5), SimulatedDevice(seed=5)
    for device in (plain, flawed):
        device.shake(9, 6.0)
    said = through(plain, FrameDriver(), 8.0)
    driver = FrameDriver()
    runs = through(flawed, driver, 8.0, glitches=40)
    counts = driver.counts()
    assert 24 <= counts.glitches <= 40
    truth = np.concatenate([run.accel for run in said])
    kept = np.concatenate([run.accel for run in runs])
    at = np.concatenate([np.arange(run.index, run.index + len(run.accel)) for run in runs])
    assert (kept != truth[at]).any(axis=1).sum() == 40 - counts.glitches


def test_a_sensor_that_is_not_known_is_believed() -> None:
    for hello in (Hello(0, 1, 0x33, 0, 0, 3200, 3906, 16_000_000, 500_000), Hello(0, 1, 0xE5, 0, 0, 100, 3906, 1, 1)):
        device, driver = SimulatedDevice(seed=6), FrameDriver()
        sent = device.advance(16 * 40)
        driver.feed(encode(hello), 100.0)
        assert not driver._tells_glitches
        driver.feed(sent, 100.1)
