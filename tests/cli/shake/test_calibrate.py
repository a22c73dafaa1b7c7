"""`companion shake calibrate`, `shake count --calibration` and `shake record`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from companion.cli import run
from companion.igloo.recordings import read_recording
from companion.igloo.simulated import BANK
from companion.igloo.simulated.device import RATE_ERROR

pytestmark = pytest.mark.learning

with np.load(BANK, allow_pickle=False) as _bank:
    SHAKES = _bank["accel"] * (float(_bank["ug_per_lsb"]) * 1e-6)
    RATE = float(_bank["rate_hz"])
    TRUTH = _bank["count"]


def write(path: Path, picks: list[int], **labels: object) -> Path:
    arrays: dict[str, Any] = {"count": TRUTH[picks], **labels}
    np.savez(path, accel=SHAKES[picks].astype(np.float32), rate_hz=RATE, **arrays)
    return path


@pytest.fixture
def twelve(tmp_path: Path) -> Path:
    return write(tmp_path / "twelve.npz", list(range(0, 36, 3)), device=np.zeros(12, int), person=np.zeros(12, int))


def test_calibrating_says_how_good_it_is_and_counting_uses_it(
    twelve: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mine"
    assert run(["shake", "calibrate", "--from", str(twelve), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "12 shakes by 1 hand" in said
    assert "These are few shakes" in said
    test = write(tmp_path / "test.npz", [1, 16, 31], device=np.zeros(3, int))
    plain: list[dict[str, Any]] = []
    known: list[dict[str, Any]] = []
    for extra, into in (([], plain), (["--calibration", str(out)], known)):
        assert run(["shake", "count", str(test), "--json", *extra]) == 0
        into += [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["shake"] for line in known] == [1, 2, 3]
    for line in known:
        assert list(line) == ["file", "shake", "state", "count", "posterior", "seconds", "why"]
        assert line["state"] == "counted"
        assert sum(line["posterior"].values()) == pytest.approx(1.0, abs=1e-4)
    assert [line["posterior"] for line in known] != [line["posterior"] for line in plain]
    args = ["shake", "count", str(test), "--calibration", str(out), "--guided", "--together", "--json"]
    assert run(args) == 0
    (joined,) = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert joined["shake"] is None
    assert joined["seconds"] > 9


def test_an_igloo_that_is_not_among_the_calibrated_is_counted_as_unknown(
    twelve: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mine"
    assert run(["shake", "calibrate", "--from", str(twelve), "--out", str(out), "--json"]) == 0
    card = json.loads(capsys.readouterr().out)
    assert card["device"] == "0"
    assert Path(card["file"]).parent == out
    other = write(tmp_path / "other.npz", [4], device=np.array([9]))
    assert run(["shake", "count", str(other), "--calibration", str(out), "--json"]) == 0
    line = json.loads(capsys.readouterr().out)
    assert line["state"] == "counted"
    assert "not been calibrated" in line["why"]


def test_one_more_person_is_added_and_undone(twelve: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "mine")
    second = write(tmp_path / "second.npz", list(range(1, 36, 3)), device=np.zeros(12, int))
    assert run(["shake", "calibrate", "--from", str(twelve), "--out", out]) == 0
    capsys.readouterr()
    args = ["shake", "calibrate", "--from", str(second), "--person", "Ben", "--add", "--out", out, "--json"]
    assert run(args) == 0
    card = json.loads(capsys.readouterr().out)
    assert (card["shakes"], card["hands"]) == (24, ["0", "Ben"])
    assert run(["shake", "calibrate", "--undo", "--device", "0", "--out", out]) == 0
    assert "is back" in capsys.readouterr().out
    assert run(["shake", "calibrate", "--undo", "--device", "0", "--out", out, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["calibrated"] is False
    assert run(["shake", "calibrate", "--undo", "--device", "0", "--out", out]) == 2


def test_bad_shakes_leave_what_is_there_alone(twelve: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "mine"
    assert run(["shake", "calibrate", "--from", str(twelve), "--out", str(out)]) == 0
    (path,) = out.glob("*.npz")
    before = path.read_bytes()
    same = write(tmp_path / "same.npz", list(range(12)), count=np.full(12, 5), device=np.zeros(12, int))
    unlabelled = tmp_path / "none.npz"
    np.savez(unlabelled, accel=SHAKES[:3], rate_hz=RATE)
    for bad in (same, unlabelled, tmp_path / "missing.npz"):
        capsys.readouterr()
        assert run(["shake", "calibrate", "--from", str(bad), "--out", str(out)]) == 2
        told = capsys.readouterr().err.strip().splitlines()
        assert len(told) == 1
        assert told[0].startswith("companion: ")
    assert path.read_bytes() == before
    assert list(out.iterdir()) == [path]
    assert run(["shake", "calibrate", "--out", str(out)]) == 2
    assert run(["shake", "count", str(twelve), "--calibration", str(tmp_path / "no")]) == 2
    assert run(["shake", "count", str(twelve), "--calibration", str(tmp_path)]) == 2


# --- recording -----------------------------------------------------------------------------------------------------


def test_the_simulated_igloo_is_recorded_with_its_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "shakes.npz"
    args = ["shake", "record", str(out), "--simulate", "--seconds", "1", "--device", "cap", "--person", "Ann"]
    assert run([*args, "--count", "4", "--guided"]) == 0
    assert run([*args, "--count", "9", "--json"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (told["recorded"], told["shakes"]) == (1, 2)
    found = read_recording(out)
    assert found.count == (4, 9)
    assert found.device == ("cap", "cap")
    assert found.person == ("Ann", "Ann")
    assert found.guided == (True, False)
    assert found.rate_hz == pytest.approx(3200.0, rel=RATE_ERROR + 0.001)
    assert all(shake.std(axis=0).max() > 0.2 for shake in found.shakes)


def test_shakes_of_a_file_are_labelled(twelve: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "labelled.npz"
    metres = tmp_path / "metres.npz"
    np.savez(metres, accel=(SHAKES[:2] * 9.80665).astype(np.float32), rate_hz=RATE)
    assert run(["shake", "record", str(out), "--count", "2", "--from", str(metres)]) == 0
    assert np.allclose(read_recording(out).shakes[0], SHAKES[0], atol=1e-4)
    short = tmp_path / "short.npz"
    np.savez(short, accel=SHAKES[:1, :4000].astype(np.float32), rate_hz=RATE)
    slow = tmp_path / "slow.npz"
    np.savez(slow, accel=SHAKES[:1].astype(np.float32), rate_hz=RATE * 1.1)
    dead = tmp_path / "dead.npz"
    gone = SHAKES[:1].copy()
    gone[:, :, 1] = 0.5
    np.savez(dead, accel=gone.astype(np.float32), rate_hz=RATE)
    before = out.read_bytes()
    for bad, words in ((short, "samples"), (slow, "Hz"), (dead, "dead")):
        capsys.readouterr()
        assert run(["shake", "record", str(out), "--count", "3", "--from", str(bad)]) == 2
        assert words in capsys.readouterr().err
    assert out.read_bytes() == before
    for args in (["x.csv", "--count", "3", "--simulate"], [str(out), "--count", "14", "--simulate"], [str(out)]):
        assert run(["shake", "record", *args]) == 2
    assert run(["shake", "record", str(out), "--count", "3", "--simulate", "--igloo", "x"]) == 2


def test_the_figures_of_the_card_stand_in_the_bench() -> None:
    from companion.lab.bench.shake import calibrated

    lines = list(calibrated())
    assert len(lines) > 8
    for line in lines:
        assert "simulated shakes" in line["note"]
        assert "exact" in line["value"]
    assert sum("plain ridge" in line["note"] for line in lines) > 5
    assert any("sure" in line["note"] for line in lines)
    assert any(line["aim"] for line in lines)


def test_free_rows_say_how_far_below_the_ceiling_they_are() -> None:
    from companion.lab.bench.calibration import rows
    from companion.lab.bench.calibration_measure import CEILING

    one = {"within_one": 0.9, "mae": 0.5, "nll": 1.0, "ece": 0.02, "shakes": 12, "igloos": 1}
    every = {CEILING: one | {"exact": 0.6}, "12 shakes": one | {"exact": 0.45}, "guided": one | {"exact": 0.7}}
    notes = {line["what"]: line["note"] for line in rows(every, "B")}
    assert "75 % of the ceiling" in notes["12 shakes, B"]
    assert not any("ceiling" in notes[f"{name}, B"] for name in (CEILING, "guided"))
    assert not any("ceiling" in line["note"] for line in rows({"12 shakes": every["12 shakes"]}, "B"))


@pytest.mark.parametrize(
    ("box", "why"),
    [
        (("lid_g", "1", "2"), "lid_g is not measured of a box: choose of bead_mm"),
        (("bead_mm", "9", "8"), "bead_mm: the first value must be above 0 and no more than the second."),
        (("bead_mm", "14", "15"), "Thirteen such beads do not rattle in such an igloo"),
    ],
)
def test_a_box_that_cannot_be_is_told_before_anything_is_learnt(
    box: tuple[str, ...], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "priors.npz"
    assert run(["shake", "train-calibration", "--box", *box, "--out", str(out)]) == 2
    assert why in capsys.readouterr().err
    assert not out.exists()


def test_a_recording_without_counts_teaches_no_priors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain, out = tmp_path / "plain.npz", tmp_path / "priors.npz"
    np.savez(plain, accel=SHAKES[:2].astype(np.float32), rate_hz=RATE)
    assert run(["shake", "train-calibration", "--from", str(plain), "--out", str(out)]) != 0
    assert "does not say how many beads" in capsys.readouterr().err
    assert not out.exists()
