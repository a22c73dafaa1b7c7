"""Boards that print: lines, their rate and unit, and what is no line."""

from __future__ import annotations

import random
from collections import deque
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.igloo.line.text_protocol import MAX_LINE, STANDARD_GRAVITY, LineReader, Row, TextStream, parse_line
from companion.ports import Samples


@pytest.mark.parametrize(
    ("line", "row"),
    [
        (b"0.01,-0.02,1.00", (0.01, -0.02, 1.0)),
        (b"0.12\t-9.81\t.5", (0.12, -9.81, 0.5)),
        (b" 1, 2 ,\t3", None),
        (b" 1, 2 , 3 ", (1.0, 2.0, 3.0)),
        (b"+1.,-2e-1,3E2", (1.0, -0.2, 300.0)),
        (b"1,2", None),
        (b"1,2,3,4", None),
        (b"1;2;3", None),
        (b"1,2,", None),
        (b"nan,1,2", None),
        (b"inf,1,2", None),
        (b"1_0,1,2", None),
        (b"0x10,1,2", None),
        (b"1e999,1,2", None),
        (b"ax,ay,az", None),
        (b"$GPGGA,1,2", None),
        ("1,2,٣".encode(), None),
        (b"1,2,3" + b" " * MAX_LINE, None),
    ],
)
def test_lines(line: bytes, row: Row | None) -> None:
    assert parse_line(line) == row


@given(st.lists(st.binary(max_size=300), max_size=30))
def test_any_bytes_are_lines_or_none(pieces: list[bytes]) -> None:
    reader = LineReader()
    for piece in pieces:
        for row in reader.feed(piece):
            assert row is None or np.isfinite(row).all()
        assert len(reader._tail) <= MAX_LINE + 2
    reader.feed(b"\n")
    assert reader.feed(b"1,2,3\n") == [(1.0, 2.0, 3.0)]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=20))
def test_pieces_of_any_size(sizes: list[int]) -> None:
    stream = b"junk that began before\r\n1,2,3\r\n\r\n4\t5\t6\nno\n7,8,9\n"
    reader, rows, at, turn = LineReader(), [], 0, 0
    while at < len(stream):
        size = sizes[turn % len(sizes)]
        rows += reader.feed(stream[at : at + size])
        at, turn = at + size, turn + 1
    assert rows == [(1, 2, 3), (4, 5, 6), None, (7, 8, 9)]


def lines(
    stream: TextStream,
    rate: float,
    seconds: float,
    *,
    unit: float = 1.0,
    start: float = 0.0,
    batch: float = 0.02,
    shake: float = 0.0,
) -> list[Samples]:
    """Feed lines of a board at rest (or shaken), as they arrive in batches with a little lateness."""
    rng, runs = random.Random(1), []
    n = round(seconds * rate)
    waiting: list[Row | None] = []
    due = start
    for i in range(n):
        t = start + (i + 1) / rate
        waiting.append(tuple((g + shake * rng.gauss(0, 1) + rng.gauss(0, 0.01)) * unit for g in (0.1, 0.0, 0.99)))
        if t >= due or i == n - 1:
            runs += stream.feed(waiting, t + rng.uniform(0.0, 0.004))
            waiting, due = [], t + batch
    return runs


@pytest.mark.parametrize("rate", [62.5, 104.0, 400.0, 990.0])
@pytest.mark.parametrize("unit", [1.0, STANDARD_GRAVITY])
def test_rate_and_unit_are_found(rate: float, unit: float) -> None:
    stream = TextStream()
    runs = lines(stream, rate, 12.0, unit=unit)
    assert stream.unit_g == pytest.approx(1.0 / unit)
    assert stream.rate_hz == pytest.approx(rate, rel=0.01)
    assert sum(len(run.accel) for run in runs) == stream.counts().samples
    assert np.concatenate([run.accel for run in runs]).mean(axis=0) == pytest.approx([0.1, 0.0, 0.99], abs=0.01)
    assert runs[0].index == 0
    for one, two in pairwise(runs):
        assert two.t0 > one.t0
        assert two.index == one.index + len(one.accel)
    last = runs[-1]
    assert last.t0 + len(last.accel) / last.rate_hz == pytest.approx(12.0, abs=0.1)


def test_a_shaken_board_waits_until_it_rests() -> None:
    stream = TextStream()
    assert lines(stream, 100.0, 5.0, unit=STANDARD_GRAVITY, shake=2.0) == []
    assert stream.unit_g is None
    assert not stream.not_acceleration
    runs = lines(stream, 100.0, 2.0, unit=STANDARD_GRAVITY, start=5.0)
    assert stream.unit_g == pytest.approx(1.0 / STANDARD_GRAVITY)
    assert sum(len(run.accel) for run in runs) == 700


@pytest.mark.parametrize("unit", [0.05, 3.0, 21.0, 256.0, 16_384.0])
def test_three_numbers_that_are_no_acceleration(unit: float) -> None:
    stream = TextStream()
    assert lines(stream, 100.0, 4.0, unit=unit) == []
    assert stream.not_acceleration


def test_a_bad_line_is_one_lost_sample() -> None:
    stream = TextStream()
    lines(stream, 100.0, 4.0)
    runs = stream.feed([(0.1, 0.0, 0.99), None, (0.1, 0.0, 0.99)], 4.04)
    assert [(len(run.accel), run.gap_before) for run in runs] == [(1, 0), (1, 1)]
    assert (stream.counts().corrupt, stream.counts().lost) == (1, 1)


def test_a_pause_of_the_board_is_an_unknown_loss() -> None:
    stream = TextStream()
    lines(stream, 100.0, 4.0)
    (run,) = stream.feed([(0.1, 0.0, 0.99)], 6.0)
    assert run.overflow_before
    assert run.t0 == pytest.approx(6.0, abs=0.05)
    assert stream.counts().overflows == 1
    assert stream.rate_hz == pytest.approx(100.0, rel=0.02)


def test_a_pause_of_ours_is_none() -> None:
    stream = TextStream()
    lines(stream, 100.0, 4.0)
    (run,) = stream.feed([(0.1, 0.0, 0.99)] * 200, 6.01)
    assert (len(run.accel), run.overflow_before, run.gap_before) == (200, False, 0)
    assert stream.counts().overflows == 0


def test_lines_at_no_steady_rate_have_no_time() -> None:
    stream, rng, t = TextStream(), random.Random(3), 0.0
    for _ in range(600):
        t += rng.choice([0.001, 0.001, 0.4])
        stream.feed([(0.1, 0.0, 0.99)], t)
    assert stream.rate_is_nonsense
    assert stream.counts().rejected > 0


def test_another_sketch_is_another_board() -> None:
    stream = TextStream()
    lines(stream, 100.0, 4.0)
    stream.line_was_lost()
    assert (stream.unit_g, stream.rate_hz) == (None, None)
    runs = lines(stream, 50.0, 6.0, unit=STANDARD_GRAVITY, start=20.0)
    assert runs[0].overflow_before
    assert runs[0].gap_before == 0
    assert stream.rate_hz == pytest.approx(50.0, rel=0.02)
    assert runs[-1].accel[0, 2] == pytest.approx(0.99, abs=0.05)


def test_lines_do_not_wait_for_ever() -> None:
    stream = TextStream()
    lines(stream, 990.0, 20.0, shake=3.0)
    counts = stream.counts()
    assert counts.samples - counts.rejected <= 8192


def in_bursts(
    stream: TextStream, rate: float, burst: int, seconds: float, *, wire_s: float = 0.0, late_s: float = 0.0
) -> list[Samples]:
    """Feed lines that a board writes so many at once, each burst up to ``late_s`` late, as the link reads them."""
    rng, arrivals, free = random.Random(2), [], 0.0
    for last in range(burst, round(seconds * rate) + 1, burst):
        free = max(free, last / rate + rng.uniform(0.0, late_s))
        for _ in range(burst):
            free += wire_s
            arrivals.append(free)
    runs, waiting = [], deque(arrivals)
    while waiting:
        read = waiting[0] + 0.02 + rng.uniform(0.0, 0.004)
        rows: list[Row | None] = []
        while waiting and waiting[0] <= read:
            waiting.popleft()
            rows.append((0.1 + rng.gauss(0, 0.01), rng.gauss(0, 0.01), 0.99))
        runs += stream.feed(rows, read)
        assert not stream.rate_is_nonsense
    return runs


@pytest.mark.parametrize("wire_s", [0.0, 0.0017], ids=["at once", "at 115 200 baud"])
@pytest.mark.parametrize(
    ("rate", "burst", "late_s"),
    [
        (10.0, 10, 0.1),
        (25.0, 10, 0.1),
        (25.0, 32, 0.1),
        (62.5, 32, 0.1),
        (100.0, 10, 0.1),
        (100.0, 32, 0.1),
        (400.0, 10, 0.05),
    ],
)
def test_the_rate_of_lines_that_come_in_bursts(rate: float, burst: int, late_s: float, wire_s: float) -> None:
    stream = TextStream()
    runs = in_bursts(stream, rate, burst, 60.0, wire_s=wire_s, late_s=late_s)
    assert stream.rate_hz == pytest.approx(rate, rel=0.01)
    assert stream.unit_g == 1.0
    # A burst at most, when nobody could know yet that it was no pause.
    assert stream.counts().rejected <= burst
    assert stream.counts().overflows <= 1
    assert sum(len(run.accel) for run in runs) == stream.counts().samples - stream.counts().rejected
    for one, two in pairwise(runs):
        assert two.t0 > one.t0
    assert runs[-1].t0 + len(runs[-1].accel) / runs[-1].rate_hz == pytest.approx(60.0, abs=late_s + burst / rate)


def test_a_pause_between_bursts_is_an_unknown_loss() -> None:
    stream = TextStream()
    in_bursts(stream, 25.0, 10, 20.0)
    runs = stream.feed([(0.1, 0.0, 0.99)] * 10, 25.0)
    assert [run.overflow_before for run in runs] == [True]
