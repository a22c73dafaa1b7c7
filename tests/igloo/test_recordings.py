"""Recordings: written, read back, and refused in one sentence; and played as an igloo."""

from __future__ import annotations

import io
import threading
import tracemalloc
import zipfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.igloo import messages, recordings
from companion.igloo.line.replayed import RecordedLink
from companion.igloo.recordings import Recording, read_recording, write_recording
from companion.ports import BadDataError, DeviceKind, DeviceState, IglooLink, Samples
from tests.worlds.wait import PATIENCE_S

RATE = 3139.5


def felt(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.0, 2.0, (n, 3)).round(5)


def sentence(caught: pytest.ExceptionInfo[BadDataError], name: str) -> str:
    text = str(caught.value)
    assert text.startswith(name)
    assert text.endswith(".")
    assert "\n" not in text
    return text


# --- csv -----------------------------------------------------------------------------------------------------------


def test_csv_round_trip(tmp_path: Path) -> None:
    accel = felt(5000)
    write_recording(tmp_path / "a.csv", Recording((accel,), RATE))
    assert (tmp_path / "a.csv").read_text().splitlines()[:2] == [
        "t,ax,ay,az",
        f"0.000000,{accel[0, 0]:.5f},{accel[0, 1]:.5f},{accel[0, 2]:.5f}",
    ]
    back = read_recording(tmp_path / "a.csv")
    assert np.abs(back.shakes[0] - accel).max() < 1e-5
    assert back.rate_hz == pytest.approx(RATE, rel=1e-5)
    assert back.missing == ((),)
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]


def test_csv_keeps_where_samples_are_missing(tmp_path: Path) -> None:
    recording = Recording((felt(3000),), RATE, (((1000, 48), (2000, 3)),))
    write_recording(tmp_path / "a.csv", recording)
    back = read_recording(tmp_path / "a.csv")
    assert back.missing == recording.missing
    assert back.rate_hz == pytest.approx(RATE, rel=1e-5)
    runs = back.runs(0, t0=5.0)
    assert [(run.index, len(run.accel), run.gap_before) for run in runs] == [
        (0, 1000, 0),
        (1048, 1000, 48),
        (2051, 1000, 3),
    ]
    assert runs[1].t0 == pytest.approx(5.0 + 1048 / RATE)


@given(st.integers(2, 400), st.floats(10.0, 4000.0), st.integers(3, 6), st.data())
def test_gaps_are_found_through_rounded_times(n: int, rate: float, digits: int, data: st.DataObject) -> None:
    t = np.arange(n) / rate
    if n > 200 and 10.0**-digits * rate < 0.5:
        at = data.draw(st.integers(70, n - 70))
        lost = data.draw(st.integers(3, 50))
        t[at:] += lost / rate
        expected: tuple[tuple[int, int], ...] = ((at, lost),)
    else:
        expected = ()
    rounded = t.round(digits)
    if rounded[-1] - rounded[0] < 20.0 / rate:
        return
    found, missing = recordings._rate_and_gaps(rounded, "x")
    assert missing == expected
    assert found == pytest.approx(rate, rel=0.05)


def test_columns_may_stand_in_any_order(tmp_path: Path) -> None:
    rows = "\n".join(f"{i},9,{i / 100},1,2,3" for i in range(50))
    (tmp_path / "a.csv").write_text(f"n,label, T ,az,ay,ax\r\n{rows}\r\n\r\n")
    back = read_recording(tmp_path / "a.csv")
    assert back.rate_hz == pytest.approx(100.0)
    assert back.shakes[0][0].tolist() == [3.0, 2.0, 1.0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no column t or ax or ay or az"),
        ("t,ax,ay\n0,1,2\n", "no column az"),
        ("0.0,1,2,3\n0.1,1,2,3\n", "no column"),
        ("t,ax,ay,az\n", "no samples"),
        ("t,ax,ay,az\n\n\n", "no samples"),
        ("t,ax,ay,az\n0,1,2,3\n", "fewer than two samples"),
        ("t,ax,ay,az\n0,1,2,3\n0.1,1,2,\n", "not numbers"),
        ("t,ax,ay,az\n0,1,2,3\n0.1,1\n", "not numbers"),
        ("t,ax,ay,az\n0,1,2,3\n0.1,x,2,3\n", "not numbers"),
        ("t,ax,ay,az\n0,1,2,3\n0.1,1,nan,3\n0.2,1,2,3\n", "row 3"),
        ("t,ax,ay,az\n0,1,2,3\n0.1,1,inf,3\n0.2,1,2,3\n", "row 3"),
        ("t,ax,ay,az\n0,1,2,3\nnan,1,2,3\n0.2,1,2,3\n", "time that is not a number in row 3"),
        ("t,ax,ay,az\n0,1,2,3\n0.2,1,2,3\n0.1,1,2,3\n", "goes back in row 4"),
        ("t,ax,ay,az\n0,1,2,3\n0,1,2,3\n0,1,2,3\n", "no sample rate"),
        ("t,ax,ay,az\n0,1,2,3\n9,1,2,3\n18,1,2,3\n", "no sample rate"),
    ],
)
def test_bad_text_is_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(BadDataError) as caught:
        read_recording(tmp_path / "bad.csv")
    assert says in sentence(caught, "bad.csv")


def test_times_without_a_steady_rate(tmp_path: Path) -> None:
    t = np.cumsum(np.where(np.arange(300) % 3 == 0, 0.05, 0.01))
    (tmp_path / "bad.csv").write_text("t,ax,ay,az\n" + "\n".join(f"{x:.4f},0,0,1" for x in t))
    with pytest.raises(BadDataError, match="steady"):
        read_recording(tmp_path / "bad.csv")


@given(st.binary(max_size=400))
def test_any_bytes_are_a_recording_or_refused(tmp_path_factory: pytest.TempPathFactory, junk: bytes) -> None:
    folder = tmp_path_factory.getbasetemp()
    for name, head in (
        ("junk.csv", b""),
        ("junk2.csv", b"t,ax,ay,az\n"),
        ("junk.npz", b""),
        ("junk2.npz", b"PK\x03\x04"),
    ):
        (folder / name).write_bytes(head + junk)
        with pytest.raises(BadDataError) as caught:
            read_recording(folder / name)
        sentence(caught, name)


def test_other_names_and_sizes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.wav").write_bytes(b"RIFF")
    with pytest.raises(BadDataError, match="neither"):
        read_recording(tmp_path / "a.wav")
    write_recording(tmp_path / "a.csv", Recording((felt(500),), RATE))
    monkeypatch.setattr(recordings, "MAX_FILE_BYTES", 1000)
    with pytest.raises(BadDataError, match="larger"):
        read_recording(tmp_path / "a.csv")
    with pytest.raises(FileNotFoundError):
        read_recording(tmp_path / "nothing.csv")


# --- npz -----------------------------------------------------------------------------------------------------------


def test_npz_round_trip(tmp_path: Path) -> None:
    recording = Recording(
        (felt(100), felt(100, 1)), RATE, count=(2, 13), device=("a", "b"), person=("Ö", ""), guided=(True, False)
    )
    write_recording(tmp_path / "a.npz", recording)
    back = read_recording(tmp_path / "a.npz")
    assert len(back.shakes) == 2
    assert np.abs(back.shakes[1] - recording.shakes[1]).max() < 1e-6
    assert (back.rate_hz, back.count, back.device, back.person, back.guided) == (
        RATE,
        (2, 13),
        ("a", "b"),
        ("Ö", ""),
        (True, False),
    )
    assert type(back.count[0]) is int


def save(path: Path, **arrays: object) -> Path:
    np.savez(path, **arrays)  # type: ignore[arg-type]
    return path


def test_one_shake_and_whole_numbers(tmp_path: Path) -> None:
    one = save(tmp_path / "one.npz", accel=felt(10), rate_hz=3200)
    assert [shake.shape for shake in read_recording(one).shakes] == [(10, 3)]
    lsb = save(tmp_path / "lsb.npz", accel=np.full((1, 4, 3), 256, dtype=np.int16), rate_hz=3200.0, ug_per_lsb=3906.25)
    assert read_recording(lsb).shakes[0][0, 0] == 1.0


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({}, "no accel or rate_hz"),
        ({"accel": felt(10)}, "no rate_hz"),
        ({"accel": felt(10)[:, :2], "rate_hz": 3200.0}, "shape (10, 2)"),
        ({"accel": felt(1), "rate_hz": 3200.0}, "shape (1, 3)"),
        ({"accel": np.zeros((0, 5, 3)), "rate_hz": 3200.0}, "shape (0, 5, 3)"),
        ({"accel": np.array([["x"] * 3] * 4), "rate_hz": 3200.0}, "not numbers"),
        ({"accel": np.full((4, 3), 256), "rate_hz": 3200.0}, "no ug_per_lsb"),
        ({"accel": np.full((4, 3), 256), "rate_hz": 3200.0, "ug_per_lsb": 0}, "no scale"),
        ({"accel": felt(10), "rate_hz": 0.0}, "rate_hz"),
        ({"accel": felt(10), "rate_hz": np.nan}, "rate_hz"),
        ({"accel": felt(10), "rate_hz": "3200"}, "rate_hz"),
        ({"accel": felt(10), "rate_hz": [3200.0, 1.0]}, "rate_hz"),
        ({"accel": np.where(np.arange(10)[:, None] == 7, np.nan, felt(10)), "rate_hz": 3200.0}, "sample 7"),
        ({"accel": felt(10), "rate_hz": 3200.0, "count": [1, 2]}, "count of shape (2,)"),
        ({"accel": felt(10), "rate_hz": 3200.0, "count": ["x"]}, "count that cannot be one"),
        ({"accel": np.array([None] * 9).reshape(3, 3), "rate_hz": 3200.0}, "plain arrays"),
    ],
)
def test_bad_arrays_are_one_sentence(tmp_path: Path, arrays: dict[str, object], says: str) -> None:
    path = save(tmp_path / "bad.npz", **arrays)
    with pytest.raises(BadDataError) as caught:
        read_recording(path)
    assert says in sentence(caught, "bad.npz")


def test_half_a_file_and_a_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = save(tmp_path / "whole.npz", accel=np.zeros((100_000, 3)), rate_hz=3200.0).read_bytes()
    (tmp_path / "half.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadDataError, match="whole"):
        read_recording(tmp_path / "half.npz")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("accel.npy", bytes(3_000_000))
    (tmp_path / "bomb.npz").write_bytes(packed.getvalue())
    assert len(packed.getvalue()) < 10_000
    monkeypatch.setattr(recordings, "MAX_ARRAY_BYTES", 1_000_000)
    with pytest.raises(BadDataError, match="unpacks"):
        read_recording(tmp_path / "bomb.npz")


def test_what_is_no_array_in_an_archive_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bytes.npz", "w") as packed:
        packed.writestr("accel", b"0 0 1")
        packed.writestr("rate_hz", b"3200")
    with pytest.raises(BadDataError, match="no array"):
        read_recording(tmp_path / "bytes.npz")


def test_a_bomb_is_refused_by_how_far_it_unpacks_before_memory_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, accel=np.zeros((2_000_000, 3)), rate_hz=3200.0)
    assert path.stat().st_size < 100_000
    tracemalloc.start()
    try:
        with pytest.raises(BadDataError, match="times its size"):
            read_recording(path)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", ["i1", "u1", "f2"])
def test_small_numbers_are_weighed_as_what_they_become(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "bomb.npz"
    many = np.zeros((4_000_000, 3), dtype=kind)
    many[::97] = 1  # packs well, and yet to less than a hundredth
    np.savez_compressed(path, accel=many, rate_hz=3200.0, ug_per_lsb=3900)
    tracemalloc.start()
    try:
        with pytest.raises(BadDataError, match="times its size"):
            read_recording(path)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


def test_a_shape_that_only_the_head_claims_takes_no_memory(tmp_path: Path) -> None:
    head = io.BytesIO()
    np.lib.format.write_array_header_2_0(head, {"descr": "<f8", "fortran_order": False, "shape": (2**33, 3)})
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w") as packed:
        packed.writestr("accel.npy", head.getvalue())
        packed.writestr("notes.npy", bytes(3_000_000))
    with pytest.raises(BadDataError, match="unpacks"):
        read_recording(tmp_path / "bomb.npz")


def test_arrays_that_nobody_asked_for_are_left_packed(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    path = save(tmp_path / "more.npz", accel=felt(200), rate_hz=3200.0, notes=rng.normal(size=1_000_000))
    tracemalloc.start()
    try:
        read_recording(path)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


@given(st.integers(0, 5000), st.integers(0, 7))
def test_a_flipped_bit_in_a_packed_file_is_noticed_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, at: int, bit: int
) -> None:
    packed = io.BytesIO()
    np.savez_compressed(packed, accel=felt(200), rate_hz=3200.0, count=[5])
    data = bytearray(packed.getvalue())
    data[at % len(data)] ^= 1 << bit
    path = tmp_path_factory.getbasetemp() / "flipped.npz"
    path.write_bytes(data)
    try:
        back = read_recording(path)
    except BadDataError as error:
        assert str(error).startswith("flipped.npz")
    else:
        # the flip hit something that does not matter, such as a date
        assert (back.shakes[0] == felt(200)).all()


@pytest.mark.parametrize(
    ("name", "recording"),
    [
        ("a.csv", Recording((felt(5), felt(5)), RATE)),
        ("a.npz", Recording((felt(5), felt(6)), RATE)),
        ("a.npz", Recording((felt(5),), RATE, (((2, 1),),))),
        ("a.txt", Recording((felt(5),), RATE)),
    ],
)
def test_what_a_file_cannot_hold_is_not_written(tmp_path: Path, name: str, recording: Recording) -> None:
    with pytest.raises(BadDataError):
        write_recording(tmp_path / name, recording)
    assert list(tmp_path.iterdir()) == []


# --- played --------------------------------------------------------------------------------------------------------


def play(link: RecordedLink, samples: int) -> list[Samples]:
    runs: list[Samples] = []
    enough = threading.Event()

    def hear(run: Samples) -> None:
        runs.append(run)
        if sum(len(r.accel) for r in runs) >= samples:
            enough.set()

    link.subscribe(hear)
    assert enough.wait(PATIENCE_S)
    return runs


def test_a_recording_is_played_once(tmp_path: Path) -> None:
    accel = felt(1000)
    write_recording(tmp_path / "a.csv", Recording((accel,), RATE, (((500, 20),),)))
    link = RecordedLink(tmp_path / "a.csv")
    assert isinstance(link, IglooLink)
    assert link.status().state is DeviceState.CONNECTED
    runs = play(link, 1000)
    link._thread.join(PATIENCE_S)
    status = link.status()
    assert (status.kind, status.state, status.note) == (DeviceKind.RECORDED, DeviceState.SILENT, messages.ENDED)
    assert (status.counts.samples, status.counts.lost) == (1000, 20)
    assert np.abs(np.concatenate([run.accel for run in runs]) - accel).max() < 1e-5
    assert sum(run.gap_before for run in runs) == 20
    for one, two in pairwise(runs):
        assert two.t0 - one.t0 == pytest.approx((two.index - one.index) / one.rate_hz, abs=1e-6)
    link.close()


def test_shakes_follow_each_other_for_ever_if_wanted(tmp_path: Path) -> None:
    write_recording(tmp_path / "a.npz", Recording((felt(100), felt(100, 1)), RATE))
    link = RecordedLink(tmp_path / "a.npz", loop=True, pause=0.01)
    runs = play(link, 500)
    link.close()
    assert not link._thread.is_alive()
    assert [run.index for run in runs if run.overflow_before][:4] == [100, 200, 300, 400]
    for one, two in pairwise(runs):
        assert two.t0 > one.t0
