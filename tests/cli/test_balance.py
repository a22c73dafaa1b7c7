"""`companion balance`: from recordings to counts, as the command line promises."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from companion.cli import run
from companion.lab.physics.balance import box, built, calibration_of, evening


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A calibration and an evening of one balance, as recordings."""
    made, rng = tmp_path_factory.mktemp("balance"), np.random.default_rng(11)
    balance, igloos = built(rng, "B"), box(rng)
    calibration_of(balance, igloos, rng).save(made / "calibration.npz")
    evening(balance, igloos, rng, (7, 2, 13)).save(made / "evening.npz")
    return made


def test_a_balance_is_calibrated_and_counts(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "kept")
    assert run(["balance", "calibrate", "--from", str(folder / "calibration.npz"), "--out", out, "--json"]) == 0
    made = json.loads(capfd.readouterr().out)
    assert made["good"] and made["faults"] == [] and made["weights"] == 6 and made["igloos"] == 4
    assert run(["balance", "count", str(folder / "evening.npz"), "--calibration", out, "--json"]) == 0
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [(one["index"], one["state"], one["count"]) for one in lines] == [
        (1, "counted", 7),
        (3, "counted", 2),
        (5, "counted", 13),
    ]
    assert set(lines[0]) == {
        *("file", "index", "state", "count", "posterior", "grams", "frequency_hz", "seconds", "why"),
    }
    assert lines[0]["posterior"]["7"] > 0.9 and lines[0]["seconds"] <= 4.5
    assert run(["balance", "calibrate", "--from", str(folder / "calibration.npz"), "--out", out]) == 0
    assert "good enough to count with" in capfd.readouterr().out
    assert run(["balance", "count", str(folder / "evening.npz"), "--calibration", out]) == 0
    assert "evening.npz 1: 7 beads" in capfd.readouterr().out


def test_labelled_igloos_are_counted_too(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    calibration = str(folder / "calibration.npz")
    assert run(["balance", "calibrate", "--from", calibration, "--out", str(tmp_path)]) == 0
    capfd.readouterr()
    assert run(["balance", "count", calibration, "--calibration", str(tmp_path), "--json"]) == 0
    assert [json.loads(line)["count"] for line in capfd.readouterr().out.splitlines()] == [4, 4, 11, 11]


def test_bad_input_is_one_sentence(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    evening_file, empty = str(folder / "evening.npz"), str(tmp_path)
    (tmp_path / "shake.npz").write_bytes(b"no")
    for call, why in (
        (["balance", "count", evening_file, "--calibration", empty], "holds no calibration"),
        (["balance", "calibrate", "--from", evening_file, "--out", empty], "at least two igloos"),
        (["balance", "calibrate", "--from", str(tmp_path / "shake.npz"), "--out", empty], "not a whole .npz"),
        (["balance", "count"], "Missing argument"),
    ):
        assert run(call) == 2, call
        told = capfd.readouterr()
        assert why in told.err and told.err.count("\n") == 1 and not told.out
    calibration = str(folder / "calibration.npz")
    assert run(["balance", "calibrate", "--from", calibration, "--out", empty]) == 0
    assert run(["balance", "count", str(tmp_path / "shake.npz"), evening_file, "--calibration", empty, "--json"]) == 2
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()[-4:]]
    assert [one["state"] for one in lines] == ["bad-data", "counted", "counted", "counted"]


def test_the_igloos_of_a_box_are_told_together(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path)
    assert run(["balance", "calibrate", "--from", str(folder / "calibration.npz"), "--out", out]) == 0
    capfd.readouterr()
    evening_file = str(folder / "evening.npz")
    assert run(["balance", "count", evening_file, "--calibration", out, "--together"]) == 0
    assert capfd.readouterr().out.splitlines() == [
        f"evening.npz: igloo {number} holds {n}." for number, n in enumerate((7, 2, 13), 1)
    ]
    assert run(["balance", "count", evening_file, "--calibration", out, "--together", "--json"]) == 0
    told = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [one["count"] for one in told] == [7, 2, 13]
