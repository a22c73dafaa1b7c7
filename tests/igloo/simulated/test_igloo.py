"""The simulated igloo: what its hand does is physically sensible, and what its board sends is the protocol."""

from __future__ import annotations

import os
import select
from itertools import pairwise
from math import pi
from pathlib import Path

import numpy as np
import pytest

from companion.igloo.count.counter import Counter
from companion.igloo.line.frame_driver import FrameDriver
from companion.igloo.line.link import SerialLink, Timing
from companion.igloo.line.protocol import Data, FrameReader, Hello, SensorState, Status
from companion.igloo.line.samples import FrameStream
from companion.igloo.simulated.device import RATE_ERROR, Bank, SimulatedDevice, load_bank
from companion.igloo.simulated.gestures import LIFT_S, Hand, push, resampled, rotation, smooth, up
from companion.igloo.simulated.igloo import SimulatedIgloo
from companion.lab.bench.link_cost import reader_cpu
from companion.ports import COUNTS, BadDataError, DeviceError, DeviceKind, DeviceState, Samples
from tests.worlds.clock import Clock, Unhurried
from tests.worlds.wait import PATIENCE_S, wait

QUICK = Timing(first_listen=0.3, listen=0.2, stale=0.5, resync=0.8, reopen=0.05, retry=0.1, hello=0.2, batch=0.01)


@pytest.fixture(scope="module")
def bank() -> Bank:
    return load_bank()


class Felt:
    """A device and what a reader makes of it."""

    def __init__(self, bank: Bank, seed: int = 4) -> None:
        self.device = SimulatedDevice(bank, seed=seed)
        self.reader, self.stream = FrameReader(), FrameStream()
        self.now = 0.0
        self.frames: list[object] = []

    def go(self, seconds: float) -> list[Samples]:
        runs: list[Samples] = []
        for _ in range(round(seconds * self.device.bank.rate_hz / 64)):
            frames = self.reader.feed(self.device.advance(64))
            self.now += 64 / self.device.bank.rate_hz
            self.frames += frames
            runs += self.stream.feed(frames, self.now)
        return runs

    def rest(self) -> np.ndarray:
        return np.concatenate([run.accel for run in self.go(self.device.left / self.device.bank.rate_hz + 0.1)])


def slow(accel: np.ndarray, n: int = 160) -> np.ndarray:
    """The acceleration without what is faster than 20 Hz."""
    kernel = np.hanning(n) / np.hanning(n).sum()
    return np.stack([np.convolve(accel[:, axis], kernel, "valid") for axis in range(3)], axis=1)


# --- the hand ------------------------------------------------------------------------------------------------------


def test_moves_begin_and_end_at_rest() -> None:
    path = smooth(1000)
    assert (path[0], path[-1]) == (0.0, pytest.approx(1.0))
    speed = np.gradient(path)
    assert abs(speed[0]) < 1e-5
    assert abs(speed[-1]) < 1e-5
    # the acceleration integrates to no speed and to the way
    n, rate = 2000, 2000 / 0.7
    a = push(n, 0.22, 0.7) * 9.80665
    v = np.cumsum(a) / rate
    assert abs(v[-1]) < 1e-3
    assert np.cumsum(v)[-1] / rate == pytest.approx(0.22, rel=0.01)


def test_rotations_turn_what_they_should() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        a, b = rng.normal(size=3), rng.normal(size=3)
        r = rotation(a, b)
        assert np.allclose(r @ r.T, np.eye(3))
        assert np.linalg.det(r) == pytest.approx(1.0)
        assert np.allclose(r @ a / np.linalg.norm(a), b / np.linalg.norm(b))
    for axis in np.eye(3):
        assert np.allclose(rotation(axis, -axis) @ axis, -axis)


@pytest.mark.parametrize("tilt", [0.0, pi])
def test_handling_is_smooth_and_of_a_hands_size(tilt: float) -> None:
    hand = Hand(3200.0, np.random.default_rng(2))
    for felt in (hand.lift(tilt), hand.carry(tilt, 1.6), hand.hold(tilt), hand.turn(tilt, pi - tilt)):
        size = np.linalg.norm(slow(felt), axis=1)
        assert 0.4 < size.min() < size.max() < 1.8
        assert np.abs(np.diff(slow(felt), axis=0)).max() < 0.01
    for first, then in ((hand.rest(tilt), hand.lift(tilt)), (hand.lift(tilt), hand.hold(tilt))):
        assert np.linalg.norm(first[-50:].mean(axis=0) - then[:50].mean(axis=0)) < 0.1


def test_what_rests_feels_one_g_upwards(bank: Bank) -> None:
    felt = Felt(bank)
    accel = felt.rest()
    where_up = bank.up / np.linalg.norm(bank.up)
    assert accel.mean(axis=0) == pytest.approx(where_up, abs=0.01)
    assert accel.std(axis=0).max() < 0.03


def test_turned_over_is_upside_down_and_turned_again_upright(bank: Bank) -> None:
    felt = Felt(bank)
    where_up = bank.up / np.linalg.norm(bank.up)
    for expected in (-1.0, 1.0):
        felt.device.turn_over()
        moved = felt.rest()
        cosine = slow(moved) @ where_up / np.linalg.norm(slow(moved), axis=1)
        assert cosine[-1] == pytest.approx(expected, abs=0.02)
        if expected < 0:
            # through the horizontal, without a jump
            assert np.abs(np.diff(cosine)).max() < 0.01
            assert (np.abs(cosine) < 0.1).any()
    felt.device.set_down()
    down = felt.rest()
    assert np.abs(down - where_up).max() > 0.7
    assert down[-200:].std(axis=0).max() < 0.03
    assert felt.device.left == 0


def test_carrying_shows_in_the_horizontal_and_lifting_in_the_vertical(bank: Bank) -> None:
    felt = Felt(bank)
    where_up = bank.up / np.linalg.norm(bank.up)
    felt.device.lift()
    lifted = slow(felt.rest())
    along = lifted @ where_up
    assert along.max() > 1.2
    assert along.min() < 0.85
    felt.device.lift()
    assert felt.device.left == 0  # it is in the hand already
    felt.device.carry()
    carried = slow(felt.rest())
    across = carried - np.outer(carried @ where_up, where_up)
    assert np.linalg.norm(across, axis=1).max() > 0.15
    felt.device.knock()
    assert felt.device.left == 0  # nothing to knock at in the air
    felt.device.set_down()
    felt.rest()
    felt.device.set_down()
    assert felt.device.left == 0
    felt.device.knock()
    knocked = felt.rest()
    assert 0.15 < np.abs(np.linalg.norm(knocked, axis=1) - 1.0).max() < 1.5
    assert np.linalg.norm(slow(knocked) - where_up, axis=1).max() < 0.2


@pytest.mark.parametrize("count", [2, 7, 13])
def test_a_shake_is_a_stored_one_to_the_bit(bank: Bank, count: int) -> None:
    felt = Felt(bank)
    felt.device.shake(count, 3.0)
    raw = np.rint(felt.rest() / 3906e-6).astype(int)
    stored = bank.accel[bank.count == count].astype(int)
    middle = stored[:, 2000:5000]
    found = [
        np.abs(raw[at : at + 3000] - wave).max()
        for wave in middle
        for at in np.flatnonzero((raw[: len(raw) - 3000] == wave[0]).all(axis=1))
    ]
    assert found
    assert min(found) == 0


def test_a_long_shake_goes_on_with_others_of_the_same_count(bank: Bank) -> None:
    felt = Felt(bank)
    felt.device.shake(5, 9.0)
    accel = felt.rest()
    strong = np.abs(accel - slow(accel, 15).mean(axis=0)).max(axis=1) > 0.5
    seconds = np.array_split(strong[round(0.8 * bank.rate_hz) :], 9)
    assert all(part.mean() > 0.05 for part in seconds[:-1])


def test_all_samples_are_what_an_adxl345_gives(bank: Bank) -> None:
    device = SimulatedDevice(bank, seed=1)
    for count in COUNTS:
        device.shake(count, 1.0)
    device.turn_over()
    device.set_down()
    frames = FrameReader().feed(device.advance(device.left // 16 * 16))
    raw = np.array([xyz for frame in frames if isinstance(frame, Data) for xyz in frame.samples])
    assert (raw % 2 == 0).all()
    assert raw.min() >= -4096
    assert raw.max() <= 4095


@pytest.mark.parametrize(("count", "seconds"), [(1, 3.0), (14, 3.0), (5, 0.0), (5, 31.0)])
def test_what_cannot_be_shaken_is_refused_and_nothing_moves(bank: Bank, count: int, seconds: float) -> None:
    device = SimulatedDevice(bank)
    with pytest.raises(BadDataError):
        device.shake(count, seconds)
    assert device.left == 0


# --- the board -----------------------------------------------------------------------------------------------------


def test_the_stream_is_the_protocol(bank: Bank) -> None:
    felt = Felt(bank)
    runs = felt.go(8.0)
    assert [frame.seq for frame in felt.frames] == list(range(len(felt.frames)))  # type: ignore[attr-defined]
    assert [type(frame) for frame in felt.frames[:3]] == [Hello, Status, Data]
    assert sum(isinstance(frame, Hello) for frame in felt.frames) == 8
    assert felt.stream.rate_hz == pytest.approx(bank.rate_hz, rel=1e-3)
    assert {(run.gap_before, run.overflow_before) for run in runs} == {(0, False)}
    late = [f.t_us / 1e6 - (f.index + 16) / bank.rate_hz for f in felt.frames if isinstance(f, Data)]
    assert min(late) >= -1e-6
    assert 0.0015 < max(late) < 0.0021


def test_every_fault_is_counted_by_whoever_reads(bank: Bank) -> None:
    felt = Felt(bank)
    felt.go(2.0)
    felt.device.drop_samples(100)
    felt.go(0.2)
    felt.device.overflow(77)
    felt.go(0.2)
    felt.device.corrupt_frame(2)
    felt.go(2.0)
    counts = felt.stream.counts()
    assert (counts.lost, counts.dropped_frames, counts.overflows) == (132, 7, 1)
    assert felt.reader.corrupt == 2
    felt.device.receive(b"r")
    felt.go(0.1)
    assert felt.stream.counts().resets == 1
    felt.device.state = SensorState.LOST
    felt.go(1.2)
    assert isinstance(felt.frames[-1], Status)
    assert felt.frames[-1].state == SensorState.LOST


@pytest.mark.process
def test_an_igloo_goes_the_whole_way(bank: Bank, tmp_path: Path) -> None:
    runs: list[Samples] = []
    with (
        SimulatedIgloo(at=tmp_path / "igloo", seed=1, clock=Unhurried()) as igloo,
        SerialLink(igloo.port, timing=QUICK, clock=Clock()) as link,
    ):
        link.subscribe(runs.append)
        igloo.shake(4, 0.5)
        wait(lambda: igloo.seconds_left == 0.0)
        made = igloo._made
        wait(lambda: sum(len(run.accel) for run in runs) >= made)
        status = link.status()
    assert status.kind is DeviceKind.SIMULATED
    assert (status.counts.lost, status.counts.corrupt) == (0, 0)
    assert np.abs(np.concatenate([run.accel for run in runs])).max() > 1.5
    assert not (tmp_path / "igloo").is_symlink()


@pytest.mark.process
def test_the_hand_of_an_igloo_does_what_it_is_told(bank: Bank) -> None:
    with SimulatedIgloo(bank, seed=1) as igloo:
        left = [igloo.seconds_left]
        for act in (igloo.knock, igloo.lift, igloo.carry, igloo.turn_over, igloo.set_down):
            act()
            left.append(igloo.seconds_left)
        igloo.shake(3, 1.0)
        left.append(igloo.seconds_left)
    assert all(two > one + 0.4 for one, two in pairwise(left))


@pytest.mark.process
def test_what_nobody_reads_is_lost_in_whole_frames(bank: Bank, tmp_path: Path) -> None:
    igloo = SimulatedIgloo(bank, at=tmp_path / "igloo", seed=1, clock=Unhurried())
    end = os.open(igloo.port, os.O_RDONLY | os.O_NONBLOCK)
    reader, frames = FrameReader(), []
    for _ in range(3):
        with igloo._lock:
            assert igloo._ends is not None
            for _ in range(200):  # ten seconds at once: far more than a terminal holds
                igloo._send(igloo._ends[0], igloo.device.advance(160))
            sent = igloo.device._seq
        # It speaks on: what it says after all this is heard after all of this that was not lost.
        while not frames or frames[-1].seq < sent:
            assert select.select([end], [], [], PATIENCE_S)[0]
            frames += reader.feed(os.read(end, 65536))
    os.close(end)
    igloo.close()
    assert reader.corrupt == 0
    gaps = [(two.seq - one.seq - 1) & 0xFFFF for one, two in pairwise(frames)]
    assert max(gaps) > 100


@pytest.mark.process
def test_a_machine_that_slept_is_an_overflow_and_no_burst(bank: Bank, tmp_path: Path) -> None:
    clock = Unhurried()
    with (
        SimulatedIgloo(bank, at=tmp_path / "igloo", clock=clock) as igloo,
        SerialLink(igloo.port, timing=QUICK, clock=Clock()) as link,
    ):
        wait(lambda: link.status().state is DeviceState.CONNECTED)
        before = link.status().counts.samples
        clock.go(60.0)
        wait(lambda: link.status().counts.overflows)
        assert link.status().counts.samples < before + 30 * bank.rate_hz


@pytest.mark.process
def test_it_has_a_folder_of_its_own_and_leaves_nothing(bank: Bank) -> None:
    igloo = SimulatedIgloo(bank)
    folder = Path(igloo.port).parent
    assert Path(igloo.port).is_symlink()
    igloo.unplug()
    igloo.unplug()
    assert not Path(igloo.port).exists()
    igloo.replug()
    igloo.replug()
    assert Path(igloo.port).exists()
    igloo.close()
    assert not folder.exists()
    assert not igloo.thread.is_alive()


def test_a_bank_that_is_none_is_said(tmp_path: Path) -> None:
    for name, arrays in (
        ("none", None),
        ("keys", {"accel": np.zeros((1, 5, 3))}),
        ("shape", {"accel": np.zeros((1, 5)), "count": [2], "rate_hz": 3200.0, "ug_per_lsb": 3900.0}),
        ("rate", {"accel": np.zeros((1, 5, 3)), "count": [2], "rate_hz": 0.0, "ug_per_lsb": 3900.0}),
    ):
        path = tmp_path / f"{name}.npz"
        if arrays is not None:
            np.savez(path, **arrays)  # type: ignore[arg-type]
        with pytest.raises(DeviceError, match="bank"):
            load_bank(path)


def test_up_is_where_a_bank_without_a_rest_has_its_mean(tmp_path: Path) -> None:
    accel = np.zeros((2, 100, 3), dtype=np.int16)
    accel[:, :, 0] = -256
    np.savez(tmp_path / "b.npz", accel=accel, count=[2, 3], rate_hz=3100.0, ug_per_lsb=3906.25)
    felt = Felt(load_bank(tmp_path / "b.npz"))
    assert felt.rest().mean(axis=0) == pytest.approx([-1.0, 0.0, 0.0], abs=0.01)
    assert np.allclose(up(0.0), [0.0, 0.0, 1.0])


@pytest.mark.process
def test_what_reading_costs_can_be_measured() -> None:
    cost = reader_cpu(1.0)
    assert cost["samples_per_s"] > 1000
    assert cost["lost"] == cost["corrupt"] == 0.0
    assert 0.0 < cost["reader_share"] < 1.0
    assert cost["latency_ms"] > 0.0


def test_the_true_rate_is_drawn_within_a_few_percent_of_the_nominal_one_by_the_seed() -> None:
    off = [SimulatedDevice(seed=seed).rate_hz / 3200.0 - 1.0 for seed in range(40)]
    assert all(abs(one) <= RATE_ERROR for one in off)
    assert min(off) < -0.03 and max(off) > 0.03
    assert SimulatedDevice(seed=7).rate_hz == SimulatedDevice(seed=7).rate_hz
    for seed in (int(np.argmin(off)), int(np.argmax(off))):
        stream, reader = FrameStream(), FrameReader()
        device = SimulatedDevice(seed=seed)
        for step in range(400):
            stream.feed(reader.feed(device.advance(64)), 100.0 + 64 * step / device.rate_hz)
        assert stream.rate_hz == pytest.approx(device.rate_hz, rel=1e-3)


@pytest.mark.parametrize("seed", [2, 3, 5, 8])
def test_a_shake_is_the_same_whatever_the_rate(seed: int) -> None:
    """It takes as long, and the hand goes to and fro as fast: only the sensor's clock is another one."""
    device = SimulatedDevice(seed=seed)
    device.shake(6, 4.0)
    assert device.left / device.rate_hz == pytest.approx(4.0 + LIFT_S, abs=0.3)
    felt = np.concatenate([*device._queue])[round(LIFT_S * device.rate_hz) :].astype(float)
    power = np.abs(np.fft.rfft(felt - felt.mean(axis=0), axis=0)).sum(axis=1)
    stored = device.bank.accel[device.bank.count == 6].astype(float)
    tempos = np.abs(np.fft.rfft(stored - stored.mean(axis=1, keepdims=True), axis=1)).sum(axis=2)
    tempo = np.argmax(power) * device.rate_hz / len(felt)
    assert min(abs(np.argmax(tempos, axis=1) * device.bank.rate_hz / stored.shape[1] - tempo)) < 0.3


def test_resampling_keeps_what_a_sensor_feels() -> None:
    t = np.arange(4000) / 3139.0
    wave = np.stack([np.sin(2 * np.pi * hz * t) for hz in (5.0, 300.0, 1000.0)], axis=1)
    assert resampled(wave, 3139.0, 3139.0) is wave
    for rate in (3072.0, 3328.0):
        other = resampled(wave, 3139.0, rate)
        at = np.arange(len(other)) / rate
        assert abs(at[-1] - t[-1]) <= 1.0 / rate
        true = np.stack([np.sin(2 * np.pi * hz * at) for hz in (5.0, 300.0, 1000.0)], axis=1)
        assert np.abs(other - true)[32:-32].max() < 0.01


@pytest.mark.parametrize("bank", [None, load_bank()], ids=["its own clock", "the bank's"])
def test_what_it_shakes_is_counted(bank: Bank | None) -> None:
    """Also with the quickest and the slowest clock: nothing of it looks made up, or wild."""
    for seed in (1, 4, 14, 19):
        device, counter, driver = SimulatedDevice(bank, seed=seed), Counter("x", DeviceKind.SIMULATED), FrameDriver()
        device.shake(2 + seed % 12, 5.0)
        answers = []
        for step in range(round(6.5 * device.rate_hz / 64)):
            for run in driver.feed(device.advance(64), 100.0 + 64 * step / device.rate_hz):
                answers += [answer for answer in (counter.feed(run),) if answer is not None]
        assert answers and {answer.state for answer in answers} <= {"counted", "more"}
        assert driver.counts().glitches == 0
