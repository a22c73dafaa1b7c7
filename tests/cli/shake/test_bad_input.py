"""Every kind of bad input that the counter must know, as a file given to `companion shake count`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from companion.cli import run
from companion.igloo.count import counter, signal_validity
from companion.igloo.simulated import BANK

FloatArray = NDArray[np.float64]

with np.load(BANK, allow_pickle=False) as _bank:
    SHAKES = _bank["accel"] * (float(_bank["ug_per_lsb"]) * 1e-6)
    RATE = float(_bank["rate_hz"])
SHAKE: FloatArray = SHAKES[5]


def counted(file: Path, capsys: pytest.CaptureFixture[str], *, status: int = 0) -> tuple[dict[str, Any], str]:
    """Count one file; return its line and what was said besides."""
    capsys.readouterr()
    assert run(["shake", "count", str(file), "--json"]) == status
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    (line,) = out.splitlines()
    found: dict[str, Any] = json.loads(line)
    return found, err


def packed(folder: Path, accel: FloatArray, rate_hz: float = RATE) -> Path:
    file = folder / "shake.npz"
    np.savez(file, accel=accel, rate_hz=rate_hz)
    return file


def text(folder: Path, accel: FloatArray, t: FloatArray | None = None, header: str = "t,ax,ay,az") -> Path:
    t = np.arange(len(accel)) / RATE if t is None else t
    file = folder / "shake.csv"
    np.savetxt(file, np.column_stack([t, accel]), delimiter=",", header=header, comments="", fmt="%.6f")
    return file


@pytest.fixture
def plain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What the shake is counted as when nothing is wrong with it."""
    return counted(packed(tmp_path, SHAKE), capsys)[0]


def alike(one: dict[str, Any], other: dict[str, Any]) -> float:
    """Return how far two answers are apart: half the sum of the differences of their probabilities."""
    return float(0.5 * sum(abs(one["posterior"][n] - other["posterior"][n]) for n in one["posterior"]))


def test_gaps_are_left_out_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str], plain: dict[str, Any]) -> None:
    t = np.arange(len(SHAKE)) / RATE
    keep = ~((t > 1.0) & (t < 1.05)) & ~((t > 2.2) & (t < 2.3))
    found, _ = counted(text(tmp_path, SHAKE[keep], t[keep]), capsys)
    assert (found["state"], found["why"]) == ("counted", counter.LOST)
    assert found["seconds"] < plain["seconds"]
    assert alike(found, plain) < 0.4


def test_after_an_overflow_time_goes_on_by_an_unknown_amount(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], plain: dict[str, Any]
) -> None:
    """A board that marks an overflow writes times that jump by no whole number of samples."""
    t = np.arange(len(SHAKE)) / RATE
    t[5000:] += 33.37 / RATE
    found, _ = counted(text(tmp_path, SHAKE, t), capsys)
    assert (found["state"], found["why"]) == ("counted", counter.LOST)
    assert alike(found, plain) < 0.4


def test_a_little_clipping_costs_little_and_much_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], plain: dict[str, Any]
) -> None:
    few = np.clip(SHAKE, *np.quantile(SHAKE, [0.004, 0.996]))
    found, _ = counted(packed(tmp_path, few), capsys)
    assert found["state"] == "counted"
    assert alike(found, plain) < 0.4
    found, _ = counted(packed(tmp_path, np.clip(2 * SHAKE, -1.5, 1.5)), capsys)
    assert (found["state"], found["why"], found["count"]) == ("bad-data", signal_validity.AT_LIMIT, None)


@pytest.mark.parametrize("axis", range(3))
def test_a_dead_axis_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], axis: int) -> None:
    dead = SHAKE.copy()
    dead[:, axis] = 0.25
    found, _ = counted(packed(tmp_path, dead), capsys)
    assert (found["state"], found["why"], found["count"]) == ("bad-data", signal_validity.DEAD_AXIS, None)


@pytest.mark.parametrize("order", [(1, 0, 2), (0, 2, 1), (2, 1, 0)])
def test_swapped_axes_do_not_matter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], plain: dict[str, Any], order: tuple[int, ...]
) -> None:
    found, _ = counted(packed(tmp_path, SHAKE[:, list(order)]), capsys)
    assert found["state"] == "counted"
    assert alike(found, plain) < 0.1


def test_metres_a_second_squared_are_converted_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], plain: dict[str, Any]
) -> None:
    for file in (packed(tmp_path, SHAKE * 9.80665), text(tmp_path, SHAKE * 9.80665)):
        found, _ = counted(file, capsys)
        assert (found["state"], found["why"]) == ("counted", signal_validity.METRES)
        assert alike(found, plain) < 0.01


@pytest.mark.parametrize("factor", [1000.0, 0.01])
def test_other_units_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], factor: float) -> None:
    found, _ = counted(packed(tmp_path, SHAKE * factor), capsys)
    assert found["state"] in {"bad-data", "not-a-shake"}
    assert found["count"] is None
    assert found["why"]


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_rate_said_wrong_by_two_is_refused_where_no_hand_moves_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], factor: float
) -> None:
    """Tempo and travel tell; the others are shakes that somebody else might have made, and no figure can say."""
    t = np.arange(round(4 * RATE)) / RATE
    rng = np.random.default_rng(1)
    tempo = 5.5 if factor == 2.0 else 2.0
    along = 0.12 * (2 * np.pi * tempo) ** 2 / 9.80665 * np.sin(2 * np.pi * tempo * t)
    shake = 0.05 * rng.normal(size=(len(t), 3)) + np.outer(along, [0.2, 0.1, 0.97]) + [0.0, 0.0, 1.0]
    found, _ = counted(packed(tmp_path, shake, RATE * factor), capsys)
    assert (found["state"], found["why"], found["count"]) == ("bad-data", signal_validity.WRONG_RATE, None)


def test_of_text_the_rate_is_that_of_its_times_whatever_the_header_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], plain: dict[str, Any]
) -> None:
    found, _ = counted(text(tmp_path, SHAKE[::2], np.arange(len(SHAKE[::2])) * 2 / RATE), capsys)
    assert found["state"] == "counted"
    assert found["seconds"] == pytest.approx(plain["seconds"], abs=0.2)


def test_a_rate_too_low_for_beads_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found, _ = counted(packed(tmp_path, SHAKE[::8], RATE / 8), capsys)
    assert (found["state"], found["why"], found["count"]) == ("bad-data", signal_validity.TOO_SLOW, None)


def _nan(table: str) -> str:
    lines = table.splitlines()
    lines[900] = lines[900].split(",")[0] + ",nan,0,1"
    return "\n".join(lines)


def _short_line(table: str) -> str:
    lines = table.splitlines()
    lines[900] = ",".join(lines[900].split(",")[:3])
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (_nan, "number"),
        (_short_line, "row 900"),
        (lambda table: table.replace("t,ax,ay,az", "t,ax,ay,b", 1), "az"),
        (lambda table: table.replace("t,ax,ay,az", "x,ax,ay,az", 1), "column"),
        (lambda table: table[: len("t,ax,ay,az\n")], "shake.csv"),
    ],
    ids=["NaN", "a line without z", "no column z", "no column t", "empty"],
)
def test_text_that_lacks_something_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], spoil: Callable[[str], str], told: str
) -> None:
    file = text(tmp_path, SHAKE)
    file.write_text(spoil(file.read_text()))
    found, err = counted(file, capsys, status=2)
    assert (found["state"], found["count"], found["posterior"]) == ("bad-data", None, None)
    assert told in found["why"]
    assert len(err.splitlines()) == 1


def test_a_packed_recording_with_nan_or_without_a_rate_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = SHAKE.copy()
    bad[7, 1] = np.nan
    found, err = counted(packed(tmp_path, bad), capsys, status=2)
    assert found["state"] == "bad-data"
    assert len(err.splitlines()) == 1
    file = tmp_path / "norate.npz"
    np.savez(file, accel=SHAKE)
    found, err = counted(file, capsys, status=2)
    assert "rate_hz" in found["why"]
    assert len(err.splitlines()) == 1
