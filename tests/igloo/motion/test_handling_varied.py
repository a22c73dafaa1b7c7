"""Motion on handling by other laws, with other sensors and tables, while a part of the line is lost."""

from __future__ import annotations

import numpy as np
import pytest

from companion.igloo.motion.detector import BRIDGED_S, MotionDetector
from companion.igloo.simulated import BANK
from companion.lab.bench import motion as bench_motion
from companion.lab.worlds import handling_varied
from companion.ports import DeviceKind, MotionState, Samples

with np.load(BANK, allow_pickle=False) as _bank:
    SCALE = float(_bank["ug_per_lsb"]) * 1e-6
    RATE = float(_bank["rate_hz"])
    REST, KNOCK = (_bank[f"move_{name}"] * SCALE for name in ("rest", "knock"))


def test_handling_by_other_laws_is_recognised() -> None:
    tally = bench_motion.MotionScore()
    for number, episode in enumerate(handling_varied.episodes(52, 4)):
        bench_motion.add(tally, episode, handling_varied.detections(episode, np.random.default_rng(number)))
    assert sum(tally.shown.values()) > 25
    assert sum(tally.found.values()) >= 0.95 * sum(tally.shown.values())
    assert tally.recall(MotionState.TURNED) == 1
    assert tally.wrong.get(MotionState.TURNED, 0) == 0
    assert tally.wrong.get(MotionState.DROPPED, 0) == 0


def knocked(gap: int, *, marked: bool) -> list[MotionState]:
    """Return what is told of rest and a knock, in whose middle so many samples are lost."""
    whole = np.concatenate([REST, KNOCK])
    # where it is loudest, so that the quiet before and after is whole
    middle = len(REST) + int(np.abs(KNOCK - KNOCK.mean(axis=0)).sum(axis=1).argmax()) + 24
    detector = MotionDetector("knock", DeviceKind.SIMULATED)
    told = []
    start = 0
    while start < len(whole):
        lost = gap if start <= middle < start + 16 else 0
        start += lost
        run = Samples(whole[start : start + 16], start / RATE, RATE, start, lost if marked else 0, bool(lost))
        told += [motion.state for motion in detector.feed(run)]
        start += 16
    return told


@pytest.mark.parametrize("marked", [True, False], ids=["known", "overflow"])
def test_a_lost_frame_in_a_knock_is_bridged(marked: bool) -> None:
    assert MotionState.KNOCKED in knocked(0, marked=True)
    assert MotionState.KNOCKED in knocked(16, marked=marked)
    assert MotionState.KNOCKED not in knocked(round(2 * BRIDGED_S * RATE) + 400, marked=marked)


@pytest.mark.parametrize(("tremble_g", "rests"), [(0.004, True), (0.008, True), (0.03, False)])
def test_rest_is_known_on_a_table_that_trembles_and_not_in_a_hand(tremble_g: float, rests: bool) -> None:
    rate = 1600.0
    t = np.arange(round(1.6 * rate)) / rate
    rng = np.random.default_rng(8)
    tremble = tremble_g * np.sqrt(2) * np.sin(2 * np.pi * 11.0 * t + np.sin(2 * np.pi * 0.9 * t))
    felt = np.array([0.6, 0.0, 0.8]) + tremble[:, None] * [0.48, 0.6, 0.64] + rng.normal(0, 0.01, (len(t), 3))
    detector = MotionDetector("table", DeviceKind.SIMULATED)
    told = []
    for start in range(0, len(felt), 16):
        run = Samples(felt[start : start + 16], start / rate, rate, start)
        told += [motion.state for motion in detector.feed(run)]
    assert (told == [MotionState.REST]) == rests
