"""The bad input that the issue lists, through files and streams: recognised, corrected where safe, else refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from companion.igloo.calibration.features import hear
from companion.igloo.calibration.store import ASTRAY, Calibration
from companion.igloo.count import signal_validity
from companion.igloo.count.counter import count_recording
from companion.igloo.count.signal_validity import in_g, scale_of, unsound
from companion.igloo.recordings import read_recording
from companion.igloo.simulated import BANK
from companion.ports import BadDataError, Samples

FloatArray = NDArray[np.float64]

with np.load(BANK, allow_pickle=False) as _bank:
    SHAKES = _bank["accel"] * (float(_bank["ug_per_lsb"]) * 1e-6)
    RATE = float(_bank["rate_hz"])


def test_every_stored_shake_is_sound_and_in_g() -> None:
    for shake in SHAKES:
        assert unsound(shake, RATE) == ""
        assert scale_of(shake) == 1.0
        # a calibration begins with any swing: no piece of it may be refused as not in g
        for start in range(0, len(shake), 1000):
            for seconds in (2.0, 3.0):
                piece = np.roll(shake, -start, axis=0)[: round(seconds * RATE)]
                assert scale_of(piece) == 1.0
                assert in_g(piece, seconds)


@pytest.mark.parametrize("order", [(1, 0, 2), (2, 0, 1), (0, 2, 1)])
def test_swapped_and_turned_axes_do_not_matter(order: tuple[int, int, int]) -> None:
    for i in (0, 17, 35):
        plain = count_recording(SHAKES[i], RATE)
        swapped = count_recording(SHAKES[i][:, list(order)], RATE)
        turned = count_recording(-SHAKES[i], RATE)
        assert swapped.p == pytest.approx(plain.p, abs=0.08)
        assert turned.p == pytest.approx(plain.p, abs=0.08)


def test_a_dead_axis_is_told_even_when_it_hums() -> None:
    bad = SHAKES[5].copy()
    rng = np.random.default_rng(1)
    bad[:, 2] = 0.5 + 0.004 * rng.integers(0, 2, size=len(bad))
    assert unsound(bad, RATE) == signal_validity.DEAD_AXIS


@pytest.mark.parametrize(
    "fault",
    [
        lambda shake: shake[np.arange(len(shake)) // 3],
        lambda shake: shake * (np.arange(len(shake)) % 2)[:, None],
        lambda shake: shake[:, [0, 0, 2]],
        lambda shake: shake[:, [0, 1, 1]] * [1, 1, -1],
    ],
    ids=["thrice", "empty", "twins", "opposites"],
)
def test_values_that_repeat_are_refused_also_in_a_short_piece(fault) -> None:
    assert unsound(fault(SHAKES[11]), RATE) == signal_validity.REPEATED
    assert unsound(fault(SHAKES[11][4000:4600]), RATE) == signal_validity.REPEATED
    resting = np.tile([0.0, 0.0, 1.0], (600, 1))
    assert unsound(resting, RATE) == ""


def test_noise_is_no_shake_however_strong() -> None:
    rng = np.random.default_rng(3)
    shuffled = rng.permutation(SHAKES[20])
    for noise in (rng.normal((0, 0, 1), 4, (3200, 3)), shuffled):
        assert unsound(noise, RATE) == signal_validity.NOISE
        assert unsound(noise[:480], RATE) == signal_validity.NOISE
    for shake in SHAKES:
        pieces = [shake[at : at + 480] for at in range(0, len(shake) - 480, 480)]
        assert sum(unsound(piece, RATE) == signal_validity.NOISE for piece in pieces) <= len(pieces) // 10


def test_moderate_clipping_is_counted_and_much_is_refused() -> None:
    shake = SHAKES[20]
    top = float(np.percentile(np.abs(shake), 99.5))
    assert count_recording(np.clip(shake, -top, top), RATE).p
    low = float(np.percentile(np.abs(shake), 80))
    assert count_recording(np.clip(shake, -low, low), RATE).why == signal_validity.AT_LIMIT


def test_a_rate_that_no_hand_could_have_is_refused() -> None:
    t = np.arange(round(4 * RATE)) / RATE
    rng = np.random.default_rng(2)
    beat = np.zeros((len(t), 3))
    beat[:, 2] = 1 + 2.0 * np.sin(2 * np.pi * 5 * t)
    beat += 0.1 * rng.normal(size=beat.shape)
    assert unsound(beat, RATE) == ""
    assert unsound(beat, 2 * RATE) == signal_validity.WRONG_RATE
    wide = beat.copy()
    wide[:, 2] = 1 + 1.5 * np.sin(2 * np.pi * 2 * t)
    assert unsound(wide, RATE) == ""
    assert unsound(wide, RATE / 2) == signal_validity.WRONG_RATE
    slow = hear([Samples(beat, 0.0, RATE / 2, 0)])
    assert not slow.kept
    if len(slow.vectors):
        nothing = Calibration.of_nothing(slow.tier)
        assert nothing.tier == 1600.0


def test_what_did_not_keep_to_the_beat_is_counted_as_free_and_said() -> None:
    heard = hear([Samples(SHAKES[4], 0.0, RATE, 0)])
    assert not heard.kept
    answer = Calibration.of_nothing(3200.0).count([heard], guided=True)
    assert answer.why == ASTRAY
    assert answer.p == Calibration.of_nothing(3200.0).count([heard]).p


def test_gaps_in_text_are_left_out_and_said(tmp_path: Path) -> None:
    t = np.arange(len(SHAKES[7])) / RATE
    keep = (t < 1.0) | (t > 1.2)
    file = tmp_path / "gap.csv"
    np.savetxt(file, np.column_stack([t, SHAKES[7]])[keep], delimiter=",", header="t,ax,ay,az", comments="", fmt="%.6f")
    recording = read_recording(file)
    assert recording.missing[0][0][1] == pytest.approx(0.2 * RATE, abs=2)
    heard = hear(recording.runs(0))
    assert heard.answer.p
    assert "lost" in heard.answer.why
    assert len(heard.vectors) == 2


def test_overflow_marks_part_a_shake() -> None:
    half = len(SHAKES[7]) // 2
    runs = [
        Samples(SHAKES[7][:half], 0.0, RATE, 0),
        Samples(SHAKES[7][half:], half / RATE, RATE, half, overflow_before=True),
    ]
    heard = hear(runs)
    assert heard.answer.p
    assert "lost" in heard.answer.why


@pytest.mark.parametrize(
    ("head", "row", "words"),
    [
        ("t,ax,ay", "0.1,0,1", "has no column az"),
        ("t,ax,ay,az", "0.1,0,nan,1", "not a number in row"),
        ("t,ax,ay,az", "0.1,0,x,1", "not numbers"),
    ],
)
def test_text_with_a_missing_column_or_no_number_is_refused(tmp_path: Path, head: str, row: str, words: str) -> None:
    file = tmp_path / "bad.csv"
    file.write_text(f"{head}\n" + "".join(f"{i / 3200},0,1,0\n" for i in range(20)) + f"{row}\n")
    with pytest.raises(BadDataError, match=words):
        read_recording(file)
