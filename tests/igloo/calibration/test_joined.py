"""Several free shakes joined, and how much longer it would take until they are sure."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from companion.igloo.calibration.features import Labelled, hear
from companion.igloo.calibration.joined import JoinedCount, outlook
from companion.igloo.calibration.store import Calibration, of_shakes
from companion.igloo.count.counter import together
from companion.igloo.count.guided import SURE_P
from companion.igloo.simulated.device import load_bank
from companion.ports import COUNTS, Samples

pytestmark = pytest.mark.learning

FloatArray = NDArray[np.float64]
BANK = load_bank()
SHAKES = BANK.accel * (BANK.ug_per_lsb * 1e-6)


def path(own: float, common: float, shakes: int) -> FloatArray:
    """Return answers whose evidence after j shakes is j / (own + common j) of that of a clear one."""
    clear = np.log(np.where(np.arange(12) == 3, 0.9, 0.1 / 11))
    many = np.arange(1, shakes + 1)
    power = np.exp((many / (own + common * many))[:, None] * clear)
    return np.asarray(power / power.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("common", [0.0, 0.1, 0.4])
def test_it_takes_as_long_as_the_evidence_so_far_says(common: float) -> None:
    every = path(4.0, common, 60)
    sure = int(np.flatnonzero(every.max(axis=1) >= SURE_P)[0]) + 1
    for so_far in (2, 3, 5):
        said = outlook(every[:so_far])
        assert said is not None
        assert so_far + said.shakes == pytest.approx(sure, abs=1)
        assert said.most > SURE_P


def test_where_errors_are_common_to_all_shakes_it_never_becomes_sure() -> None:
    said = outlook(path(1.0, 1.0, 3))
    assert said is not None and math.isinf(said.shakes)
    assert said.most == pytest.approx(path(1.0, 1.0, 100_000)[-1].max(), abs=1e-3)
    # what does not grow at all stays as it is
    still = outlook(np.tile(path(1.0, 1.0, 1), (4, 1)))
    assert still is not None and math.isinf(still.shakes)
    assert still.most == pytest.approx(path(1.0, 1.0, 1).max())


def test_from_one_shake_or_from_nothing_heard_nothing_is_promised() -> None:
    assert outlook(path(1.0, 0.0, 1)) is None
    nothing = outlook(np.full((3, 12), 1 / 12))
    assert nothing is not None and math.isinf(nothing.shakes) and nothing.most == pytest.approx(1 / 12)
    sure = outlook(path(0.2, 0.0, 2))
    assert sure is not None and sure.shakes == 0


def calibrated() -> Calibration:
    """Return a calibration by two shakes of each count."""
    made = []
    for count in COUNTS:
        for number in np.flatnonzero(BANK.count == count)[:2]:
            heard = hear([Samples(SHAKES[number], 0.0, BANK.rate_hz, 0)])
            made.append(Labelled(heard, count, "Ann", False))
    return of_shakes("", made)


def test_shakes_are_joined_as_the_process_joins_them_and_taken_back() -> None:
    own = calibrated()
    count = JoinedCount(own)
    assert not count.take_back()
    numbers = np.flatnonzero(BANK.count == 4)
    heard = []
    for done, number in enumerate(numbers, 1):
        assert count.add(SHAKES[number], BANK.rate_hz, "Ann") == ""
        heard.append(hear([Samples(SHAKES[number], 0.0, BANK.rate_hz, 0)]))
        assert count.answer is not None
        assert (count.shakes, count.answer.p) == (done, own.count(heard, ["Ann"] * done).p)
        assert (count.outlook is None) == (done == 1)
    assert count.answer is not None and count.sure == (max(count.answer.p) >= SURE_P)
    before = own.count(heard[:-1], ["Ann"] * (len(heard) - 1)).p
    assert count.take_back() and count.answer.p == before


def test_without_a_calibration_the_counters_own_answers_are_joined() -> None:
    count = JoinedCount()
    numbers = np.flatnonzero(BANK.count == 9)[:2]
    for number in numbers:
        assert count.add(SHAKES[number], BANK.rate_hz) == ""
    plain = together([hear([Samples(SHAKES[number], 0.0, BANK.rate_hz, 0)]).answer for number in numbers])
    assert count.answer is not None and count.answer.p == plain.p


def test_what_is_no_shake_is_not_joined() -> None:
    count = JoinedCount()
    still = np.tile([0.0, 0.0, 1.0], (round(4 * BANK.rate_hz), 1))
    assert count.add(still + 1e-3 * np.random.default_rng(1).normal(size=still.shape), BANK.rate_hz) != ""
    assert (count.shakes, count.answer, count.sure) == (0, None, False)
