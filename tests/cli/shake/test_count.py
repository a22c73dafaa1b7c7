"""`companion shake`: counting files, making shakes, rebuilding the model."""

from __future__ import annotations

import builtins
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from companion.cli import run
from companion.cli.lab import NO_NUMBA
from companion.igloo.simulated import BANK
from companion.ports import COUNTS

with np.load(BANK, allow_pickle=False) as _bank:
    SHAKES = _bank["accel"] * (float(_bank["ug_per_lsb"]) * 1e-6)
    RATE = float(_bank["rate_hz"])
    TRUTH = _bank["count"]


@pytest.fixture
def two(tmp_path: Path) -> Path:
    file = tmp_path / "two.npz"
    np.savez(file, accel=SHAKES[[0, 1]].astype(np.float32), rate_hz=RATE, count=TRUTH[[0, 1]])
    return file


def test_files_are_counted_a_line_a_shake(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["shake", "count", str(two), "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["shake"] for line in lines] == [1, 2]
    for line in lines:
        assert list(line) == ["file", "shake", "state", "count", "posterior", "seconds", "why"]
        assert line["file"] == str(two)
        assert line["state"] == "counted"
        assert list(line["posterior"]) == [str(n) for n in COUNTS]
        assert sum(line["posterior"].values()) == pytest.approx(1.0, abs=1e-4)
        assert line["count"] == int(max(line["posterior"], key=line["posterior"].__getitem__))


def test_people_get_a_line_too(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["shake", "count", str(two)]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("two.npz 1: ") and "beads" in first and "%" in first
    assert second.startswith("two.npz 2: ")


def test_shakes_of_one_igloo_are_answered_together(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["shake", "count", str(two), "--together", "--json"]) == 0
    (line,) = (json.loads(text) for text in capsys.readouterr().out.splitlines())
    assert line["shake"] is None
    assert line["seconds"] > 6.0


def test_text_recordings_are_counted_with_their_gaps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    t = np.arange(len(SHAKES[5])) / RATE
    keep = (t < 1.5) | (t > 1.6)
    table = np.column_stack([t, SHAKES[5]])[keep]
    file = tmp_path / "shake.csv"
    np.savetxt(file, table, delimiter=",", header="t,ax,ay,az", comments="", fmt="%.6f")
    assert run(["shake", "count", str(file), "--json"]) == 0
    line = json.loads(capsys.readouterr().out)
    assert line["state"] == "counted"
    assert "lost" in line["why"]


def test_bad_shakes_are_answered_and_bad_files_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slow = tmp_path / "slow.npz"
    np.savez(slow, accel=SHAKES[0][::32], rate_hz=RATE / 32)
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"PK no")
    nan = tmp_path / "nan.npz"
    bad = SHAKES[0].copy()
    bad[7] = np.nan
    np.savez(nan, accel=bad, rate_hz=RATE)
    assert run(["shake", "count", str(slow), "--json"]) == 0
    line = json.loads(capsys.readouterr().out)
    assert (line["state"], line["count"], line["posterior"]) == ("bad-data", None, None)
    assert "800 Hz" in line["why"]
    assert run(["shake", "count", str(broken), str(nan), str(tmp_path / "none.npz"), str(slow), "--json"]) == 2
    out, err = capsys.readouterr()
    lines = [json.loads(text) for text in out.splitlines()]
    assert [line["state"] for line in lines] == ["bad-data"] * 4
    assert all(line["why"] for line in lines)
    assert len(err.splitlines()) == 3
    assert "Traceback" not in err


def test_simulated_shakes_can_be_counted_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "made.npz"
    arguments = ["shake", "simulate", str(out), "--devices", "2", "--seconds", "0.8", "--seed", "3"]
    assert run(arguments) == 0
    with np.load(out, allow_pickle=False) as made:
        first = {key: made[key] for key in made.files}
    assert first["accel"].shape[0] == 24 and first["accel"].shape[2] == 3
    assert first["count"].tolist() == [*COUNTS] * 2
    assert first["device"].tolist() == [0] * 12 + [1] * 12
    assert run(arguments) == 0
    with np.load(out, allow_pickle=False) as made:
        np.testing.assert_array_equal(made["accel"], first["accel"])
    capsys.readouterr()
    assert run(["shake", "count", str(out), "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 24


TRAINING = ["shake", "train", "--shakes", "60", "--seconds", "1", "--devices", "1", "--cores", "1"]


@pytest.mark.learning
@pytest.mark.long
def test_training_writes_a_model_that_counts(two: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "model.npz"
    assert run([*TRAINING, "--out", str(out), "--from", str(two), "--test", str(two), "--json"]) == 0
    card = json.loads(capsys.readouterr().out)
    assert card["trained_on"]["recorded_shakes"] == 2
    assert set(card["figures"]) == {"fresh igloos of the same simulator", "two.npz"}
    assert out.stat().st_size < 2_000_000


def test_training_on_shakes_whose_beads_nobody_counted_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, unlabelled = tmp_path / "model.npz", tmp_path / "x.npz"
    np.savez(unlabelled, accel=SHAKES[0], rate_hz=RATE)
    assert run([*TRAINING, "--out", str(out), "--from", str(unlabelled)]) == 2
    assert "how many beads" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("arguments", [["simulate", "x.npz"], ["simulate", "--bank"], ["train"]])
def test_without_numba_one_sentence_says_what_to_install(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = builtins.__import__

    def without(name: str, *rest: object, **more: object) -> object:
        if name == "numba" or name.startswith("numba."):
            raise ModuleNotFoundError("No module named 'numba'", name="numba")
        return whole(name, *rest, **more)  # type: ignore[arg-type]

    for name in [
        name for name in sys.modules if name.startswith("companion.lab.physics") or name.split(".")[0] == "numba"
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)
    assert run(["shake", *arguments]) == 2
    assert NO_NUMBA in capsys.readouterr().err


def test_a_name_that_is_no_npz_and_a_missing_name_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["shake", "simulate", str(tmp_path / "x.txt"), "--devices", "1", "--seconds", "0.2"]) == 2
    assert ".npz" in capsys.readouterr().err
    assert run(["shake", "simulate"]) == 2
    assert "Where" in capsys.readouterr().err


@pytest.mark.process
@pytest.mark.parametrize(("wish", "threads"), [({}, 1), ({"OPENBLAS_NUM_THREADS": "2"}, 2)])
def test_training_adds_in_one_thread_unless_told_otherwise(wish: dict[str, str], threads: int) -> None:
    """One order of adding gives the shipped model again, to the last bit."""
    code = """
import os
from companion.cli import run

assert run(["shake", "train", "--test", "absent.npz"]) == 2
import numpy

numpy.ones((500, 500)) @ numpy.ones((500, 500))
print(len(os.listdir("/proc/self/task")))
"""
    env = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"} | wish
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.stdout == f"{min(threads, os.cpu_count() or 1)}\n", done.stderr
