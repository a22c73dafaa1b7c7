"""Recordings as strangers write them: other separators, unsteady times, gaps of every kind, made-up samples."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from companion.igloo.count import counter, signal_validity
from companion.igloo.count.counter import count_recording, count_runs
from companion.igloo.recordings import read_recording
from companion.igloo.simulated import BANK
from companion.ports import BadDataError

FloatArray = NDArray[np.float64]

with np.load(BANK, allow_pickle=False) as _bank:
    SHAKE = _bank["accel"][14] * (float(_bank["ug_per_lsb"]) * 1e-6)
    RATE = float(_bank["rate_hz"])
T = np.arange(len(SHAKE)) / RATE
PLAIN = count_recording(SHAKE, RATE)


def written(folder: Path, t: FloatArray, accel: FloatArray, between: str = ",", form: str = "%.6f") -> Path:
    file = folder / "shake.csv"
    head = between.join(("t", "ax", "ay", "az"))
    np.savetxt(file, np.column_stack([t, accel]), fmt=form, delimiter=between, header=head, comments="")
    return file


@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_columns_are_parted_by_commas_semicolons_or_tabs(tmp_path: Path, between: str) -> None:
    back = read_recording(written(tmp_path, T, SHAKE, between))
    assert back.rate_hz == pytest.approx(RATE, rel=1e-4)
    assert np.abs(back.shakes[0] - SHAKE).max() < 1e-5


def test_between_semicolons_a_comma_is_a_decimal_one(tmp_path: Path) -> None:
    file = written(tmp_path, T, SHAKE, ";")
    file.write_text(file.read_text().replace(".", ","))
    assert np.abs(read_recording(file).shakes[0] - SHAKE).max() < 1e-5


def test_numbers_may_stand_in_quotes(tmp_path: Path) -> None:
    file = written(tmp_path, T, SHAKE)
    head, *rows = file.read_text().splitlines()
    file.write_text("\n".join([head, *(",".join(f'"{cell}"' for cell in row.split(",")) for row in rows)]))
    assert np.abs(read_recording(file).shakes[0] - SHAKE).max() < 1e-5


def test_unsteady_times_are_no_gaps_but_a_gap_among_them_is_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    unsteady = np.sort(T + rng.normal(0, 1 / RATE, len(T)))
    back = read_recording(written(tmp_path, unsteady, SHAKE, form="%.9f"))
    assert sum(n for _, n in back.missing[0]) <= 3
    assert back.rate_hz == pytest.approx(RATE, rel=2e-3)
    assert count_runs(back.runs(0)).count == PLAIN.count
    later = unsteady + 0.2 * (np.arange(len(T)) >= 6000)
    found = read_recording(written(tmp_path, later, SHAKE, form="%.9f")).missing[0]
    at, lost = max(found, key=lambda gap: gap[1])
    assert (at, len(found) <= 4) == (6000, True)
    assert lost == pytest.approx(0.2 * RATE, rel=0.02)


def test_single_missing_samples_are_put_in_and_said(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    keep = rng.random(len(T)) > 0.01
    keep[[0, 5000, 5001, 5002, 5003]] = True, False, False, False, False
    back = read_recording(written(tmp_path, T[keep], SHAKE[keep]))
    assert [n for _, n in back.missing[0]] == [4] and back.missing[0][0][0] == 5000
    assert back.bridged == int((~keep).sum()) - 4
    assert back.rate_hz == pytest.approx(RATE, rel=1e-4)
    answer = count_runs(back.runs(0))
    assert (answer.state, answer.why) == ("counted", counter.LOST)
    whole = read_recording(written(tmp_path, T, SHAKE))
    assert (whole.bridged, whole.missing, whole.runs(0)[0].gap_before) == (0, ((),), 0)


@pytest.mark.parametrize(
    "keep",
    [
        np.arange(len(T)) % 10 != 0,
        (np.arange(len(T)) // 160) % 2 == 0,
        np.random.default_rng(6).random(len(T)) > 0.3,
    ],
    ids=["every tenth", "half of all blocks", "three in ten"],
)
def test_where_too_much_is_missing_it_is_said(tmp_path: Path, keep: NDArray[np.bool_]) -> None:
    with pytest.raises(BadDataError, match=r"too many gaps|no steady sample rate"):
        read_recording(written(tmp_path, T[keep], SHAKE[keep]))


@pytest.mark.parametrize("factor", [1e3, 1e6, RATE])
def test_times_in_other_units_are_refused_with_the_right_one(tmp_path: Path, factor: float) -> None:
    with pytest.raises(BadDataError, match=r"t is in seconds"):
        read_recording(written(tmp_path, T * factor, SHAKE))


def _dies(shake: FloatArray) -> FloatArray:
    shake[7000:, 1] = shake[7000, 1]
    return shake


def _stuck(shake: FloatArray) -> FloatArray:
    return np.asarray((np.rint(shake / 0.00390625).astype(np.int64) | 1 << 8) * 0.00390625)


def _upsampled(shake: FloatArray) -> FloatArray:
    at = np.arange(2 * len(shake)) / 2
    return np.stack([np.interp(at, np.arange(len(shake)), shake[:, k]) for k in range(3)], axis=1)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_dies, signal_validity.DEAD_AXIS),
        (_stuck, signal_validity.STUCK_BIT),
        (_upsampled, signal_validity.MADE_UP),
        (lambda shake: np.where(shake > 0, shake + 4.0, shake), signal_validity.LEAPS),
        (lambda shake: 1e300 * shake, signal_validity.WRONG_SCALE),
    ],
    ids=["an axis that dies", "a stuck bit", "made up between", "leaps", "huge"],
)
def test_what_was_garbled_is_refused(spoil: Callable[[FloatArray], FloatArray], why: str) -> None:
    answer = count_recording(spoil(SHAKE.copy()), RATE)
    assert (answer.state, answer.why, answer.p) == ("bad-data", why, ())


@pytest.mark.parametrize("step", [1.0 / 256, 1.0 / 128, 0.01, 0.03125])
def test_coarse_steps_are_no_stuck_bit(step: float) -> None:
    assert signal_validity.unsound(np.rint(SHAKE / step) * step, RATE) == ""
