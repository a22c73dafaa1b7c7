"""Single shakes cut out of a stream."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from companion.igloo.calibration.shake_segmenter import KEPT, LOST, NO_LABEL, OFF_BEAT, SHORT, ShakeSegmenter, Sitting
from companion.igloo.calibration.store import listed, undo
from companion.igloo.count.counter import Counter
from companion.igloo.count.guided_gauge import GOOD, GaugeStream
from companion.igloo.count.signal_validity import DEAD_AXIS
from companion.igloo.simulated import BANK
from companion.ports import BadDataError, CountPosterior, DeviceKind, Samples

RATE = 800.0


def stream(seconds: float, shaken: bool, seed: int = 1) -> NDArray[np.float64]:
    t = np.arange(round(seconds * RATE)) / RATE
    rng = np.random.default_rng(seed)
    felt: NDArray[np.float64] = 0.03 * rng.normal(size=(len(t), 3)) + np.array([0.0, 0.0, 1.0])
    if shaken:
        felt[:, 2] += 1.5 * np.sin(2 * np.pi * 4 * t)
    return felt


def feed(catcher: ShakeSegmenter, felt: np.ndarray, gap_at: int = -1) -> list[np.ndarray]:
    found = []
    for at in range(0, len(felt), 50):
        gap = 40 if at == gap_at else 0
        shake = catcher.feed(Samples(felt[at : at + 50], at / RATE, RATE, at, gap))
        if shake is not None:
            found.append(shake)
    return found


def test_each_shake_is_caught_once_and_a_pause_parts_them() -> None:
    catcher = ShakeSegmenter(2.0)
    felt = np.concatenate([stream(1, False), stream(4, True), stream(1, False), stream(3, True), stream(1, False)])
    found = feed(catcher, felt)
    assert [len(shake) for shake in found] == [1600, 1600]
    assert all(shake.std(axis=0).max() > 0.8 for shake in found)
    assert catcher.note == ""


def test_a_short_shake_and_a_broken_one_are_not_kept_and_it_says_why() -> None:
    catcher = ShakeSegmenter(2.0)
    assert feed(catcher, np.concatenate([stream(1, False), stream(0.8, True), stream(1.5, False)])) == []
    assert catcher.note == SHORT
    assert feed(catcher, stream(1.5, True), gap_at=800) == []
    assert catcher.note == LOST


def test_a_dead_axis_is_told() -> None:
    catcher = ShakeSegmenter(1.0)
    felt = np.concatenate([stream(1, False), stream(2, True)])
    felt[:, 0] = 0.0
    assert feed(catcher, felt) == []
    assert catcher.note == DEAD_AXIS


with np.load(BANK, allow_pickle=False) as _bank:
    SHAKES = _bank["accel"] * (float(_bank["ug_per_lsb"]) * 1e-6)
    BANK_RATE = float(_bank["rate_hz"])
    TRUTH = tuple(int(n) for n in _bank["count"])


def shake_into(sitting: Sitting, accel: np.ndarray) -> None:
    """Shake and rest, in runs as a link gives them."""
    rest = np.tile([0.0, 0.0, 1.0], (round(BANK_RATE), 1))
    felt = np.concatenate([accel, rest])
    for at in range(0, len(felt), 160):
        sitting.feed(Samples(felt[at : at + 160], at / BANK_RATE, BANK_RATE, at))


def test_a_sitting_makes_a_calibration_that_the_live_counter_uses_and_that_can_be_undone(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, "unit-3", person="Ada", seconds=3.0)
    shake_into(sitting, SHAKES[0])
    assert sitting.note == NO_LABEL
    assert sitting.state().shakes == 0
    for i in range(0, 36, 4):
        sitting.count = TRUTH[i]
        shake_into(sitting, SHAKES[i])
        assert sitting.note == KEPT
    state = sitting.state()
    assert state.shakes == 9
    assert state.card is not None
    assert state.by_count == dict.fromkeys((TRUTH[i] for i in range(0, 36, 4)), 1)
    assert {"before", "left out"} <= set(state.card["figures"])
    assert listed(tmp_path) == []
    first = sitting.keep()
    assert [one.device for one in listed(tmp_path)] == ["unit-3"]

    again = Sitting(tmp_path, "unit-3", person="Bo", seconds=3.0)
    for i in (1, 19, 34, 10):
        again.count = TRUTH[i]
        shake_into(again, SHAKES[i])
    assert again.take_back()
    assert again.state().next_count not in set(state.by_count) | {TRUTH[1], TRUTH[19], TRUTH[34]}
    second = again.keep()
    assert second.card["hands"] == ["Ada", "Bo"]
    assert second.card["shakes"] == 12
    assert listed(tmp_path)[0].undoable
    assert undo(tmp_path, "unit-3")
    assert listed(tmp_path)[0].card["hands"] == ["Ada"]

    def live(counter: Counter, accel: np.ndarray, t: float) -> CountPosterior:
        heard = [
            counter.feed(Samples(accel[at : at + 500], t + at / BANK_RATE, BANK_RATE, at, 9999 if at == 0 else 0))
            for at in range(0, len(accel), 500)
        ]
        return [one for one in heard if one is not None and one.p][-1]

    plain = Counter("unit-3", DeviceKind.SIMULATED)
    known = Counter("unit-3", DeviceKind.SIMULATED, calibrated=first.live_model("Ada"))
    errors = {"plain": 0.0, "known": 0.0}
    for i in range(0, 36, 8):  # shakes that it was calibrated with: hearing them again it must know them
        for name, counter in (("plain", plain), ("known", known)):
            answer = live(counter, SHAKES[i], 10.0 * i)
            errors[name] -= float(np.log(answer.p[TRUTH[i] - 2]))
    assert errors["known"] < errors["plain"] - 1


def test_a_sitting_says_why_it_cannot_be_kept_and_refuses_a_lost_beat(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, "unit-3")
    with pytest.raises(BadDataError, match="no shake"):
        sitting.keep()
    assert not sitting.take_back()
    sitting.count = 5
    assert sitting.add(SHAKES[0], BANK_RATE) == KEPT
    assert "needs 6" in sitting.state().why
    with pytest.raises(BadDataError, match="needs 6"):
        sitting.keep()
    sitting.guided = True
    assert sitting.add(SHAKES[0], BANK_RATE) == OFF_BEAT
    assert sitting.state().shakes == 1


def test_the_gauge_of_a_stream_reads_tempo_and_travel() -> None:
    t = np.arange(round(2.5 * RATE)) / RATE
    felt = np.zeros((len(t), 3))
    felt[:, 2] = 1 + 0.02 * (2 * np.pi * 5) ** 2 / 9.80665 * np.sin(2 * np.pi * 5 * t)
    gauges = GaugeStream()
    for at in range(0, len(felt), 33):
        now = gauges.feed(Samples(felt[at : at + 33], at / RATE, RATE, at))
    assert now.hint == GOOD
    assert now.tempo_hz == pytest.approx(5.0, abs=0.1)
    assert now.travel_cm == pytest.approx(2.0, abs=0.15)
    gauges.feed(Samples(felt[:33], 3.0, RATE, 0, 500))
    assert not gauges.now.in_bounds
