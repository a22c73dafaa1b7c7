"""The real image in simavr: scripts that run as fast as they go and are the same each time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.process

Record = Callable[..., tuple[Any, dict[str, Any]]]


@pytest.fixture
def record(bench: ModuleType, wire: ModuleType) -> Record:
    """Run a script and read the line."""

    def run(seconds: float, *script: str, **options: Any) -> tuple[Any, dict[str, Any]]:
        sent, figures = bench.record(seconds, script, **options)
        assert figures["uart_bytes"] == len(sent)
        return wire.read(sent), figures

    return run


def clean(figures: dict[str, Any]) -> None:
    """The SPI was used as the sensor's data sheet wants, and the stack never came near the variables."""
    assert figures["early_reads"] == figures["spi_collisions"] == figures["spi_refused"] == 0
    assert figures["ram_free"] > 1024


LEFT = 48  # samples at most that are in the sensor's FIFO, in the ring and in a frame half sent when a run ends

CLOCKS = pytest.mark.parametrize("mhz", [16, 8])


@CLOCKS
def test_every_sample_comes_through_unchanged(record: Record, bench: ModuleType, tmp_path: Path, mhz: int) -> None:
    rng = np.random.default_rng(1)
    lsb = rng.integers(-2048, 2048, (9600, 3)) * 2
    lsb[1000:2000] += rng.integers(-6000, 6000, (1000, 3)) * 2  # beyond ±16 g
    path = tmp_path / "wave.f32"
    bench.write_waveform(path, lsb / 256)
    reading, figures = record(4, f"at 0 play {path}", mhz=mhz)
    clean(figures)
    assert figures["samples_overwritten"] == 0 and figures["samples_played"] == 9600
    assert reading.seq_gaps == reading.index_gaps == reading.flags == 0
    expected = np.clip(lsb, -4096, 4094)
    assert np.array_equal(reading.samples[:9600], expected)
    assert len(reading.samples) >= figures["samples_taken"] - LEFT


@CLOCKS
def test_hello_and_status(record: Record, mhz: int) -> None:
    reading, _ = record(3.5, mhz=mhz)
    assert reading.hellos[0].seq == 0
    assert len(reading.hellos) == len(reading.statuses) == 4
    hello = reading.hellos[-1]
    assert (hello.fw, hello.devid, hello.bw_rate, hello.data_format) == (1, 0xE5, 0x0F, 0x0B)
    assert (hello.rate_hz, hello.ug_per_lsb, hello.unit) == (3200, 3906, 0)
    assert (hello.f_cpu, hello.baud) == (mhz * 1_000_000, 500_000)
    status = reading.statuses[-1]
    assert (status.state, status.overruns, status.tx_dropped) == (0, 0, 0)
    assert 16 <= status.fifo_max <= 20
    assert abs(status.samples - 3 * 3200) < 64
    gaps = np.diff([status.t_us for status in reading.statuses])
    assert np.all(np.abs(gaps - 1_000_000) < 3_000)


@CLOCKS
@pytest.mark.parametrize("baud", [250_000, 500_000, 1_000_000])
@pytest.mark.parametrize("rate_error", [-0.05, 0.05])
def test_every_rate_keeps_up_with_every_sensor(record: Record, mhz: int, baud: int, rate_error: float) -> None:
    reading, figures = record(3, mhz=mhz, baud=baud, rate_error=rate_error)
    clean(figures)
    assert figures["samples_overwritten"] == 0
    assert reading.seq_gaps == reading.index_gaps == reading.flags == 0
    assert len(reading.samples) >= figures["samples_taken"] - LEFT
    last = reading.datas[-1]
    rate = (last.index - reading.datas[0].index) / (last.t_us - reading.datas[0].t_us) * 1e6
    assert rate == pytest.approx(3200 * (1 + rate_error), rel=0.002)


def test_the_clock_is_true_and_the_stamps_within_a_tick(record: Record) -> None:
    reading, figures = record(10, rate_error=0.021)
    index = np.array([data.index for data in reading.datas], dtype=float)
    t_us = np.array([data.t_us for data in reading.datas], dtype=float)
    slope, offset = np.polyfit(index, t_us, 1)
    assert 1e6 / slope == pytest.approx(3200 * 1.021, rel=2e-5)
    assert np.max(np.abs(t_us - slope * index - offset)) < 1100
    assert figures["simulated_s"] == pytest.approx(10, abs=0.01)


def test_two_runs_send_the_same_bytes(bench: ModuleType) -> None:
    script = ["at 300 sensor off", "at 700 sensor on", "at 900 send 680a72", "at 1000 jump 20"]
    first, figures = bench.record(2, script)
    second, _ = bench.record(2, script)
    assert first == second
    assert figures["busy_percent"] < 31


@CLOCKS
def test_the_share_of_its_cycles_that_the_chip_is_awake(record: Record, mhz: int) -> None:
    _, figures = record(5, mhz=mhz)
    assert 10 < figures["busy_percent"] < {16: 25, 8: 45}[mhz]  # cycles, not time: the same on every machine


@pytest.mark.parametrize("open_line", [0x00, 0xFF, 0x20])
def test_a_sensor_lost_and_found(record: Record, open_line: int) -> None:
    reading, _ = record(4.5, f"at 500 sensor off {open_line}", "at 2500 sensor on")
    states = [(status.state, status.devid) for status in reading.statuses]
    assert states == [(0, 0xE5), (3, open_line), (3, open_line), (0, 0xE5), (0, 0xE5)]
    again = [data for data in reading.datas if data.flags]
    assert [data.flags for data in again] == [4]
    assert 2_450_000 < again[0].t_us < 2_750_000
    assert reading.seq_gaps == reading.index_gaps == 0
    pose = reading.samples[:, 2].astype(float) / 256  # at rest: whatever was published is what the sensor felt
    assert np.all(np.abs(pose - 1) < 0.2)


def test_no_sensor_at_boot(record: Record) -> None:
    reading, _ = record(2.5, "at 0 sensor off", "at 1500 sensor on")
    assert [status.state for status in reading.statuses] == [1, 1, 0]
    assert reading.hellos[0].devid == 0xFF
    assert reading.flags == 0 and reading.datas[0].index == 0


def test_another_device_id(record: Record) -> None:
    reading, _ = record(1.5, "at 0 devid 0x33")
    assert {(status.state, status.devid) for status in reading.statuses} == {(1, 0x33)}
    assert not reading.datas


def test_a_configuration_that_does_not_stick(record: Record) -> None:
    reading, _ = record(2.5, "at 0 stuck 0x2c 0x0e", "at 1400 stuck 0x2c free")
    assert [status.state for status in reading.statuses] == [2, 2, 0]
    assert [hello.bw_rate for hello in reading.hellos] == [0x0E, 0x0E, 0x0F]


def test_half_the_rate_is_noticed(record: Record) -> None:
    reading, _ = record(2, "at 500 poke 0x2c 0x0e")
    assert [data.flags for data in reading.datas if data.flags] == [4]
    late = [data for data in reading.datas if data.t_us > 900_000]
    assert len(late) * 16 == pytest.approx(3200 * 1.1, rel=0.02)


def test_a_full_fifo_is_flagged(record: Record) -> None:
    reading, figures = record(2.5, "at 500 jump 20", "at 1200 jump 15")
    assert [data.flags for data in reading.datas if data.flags] == [1, 1]
    assert figures["samples_overwritten"] > 40
    assert reading.index_gaps == reading.seq_gaps == 0
    assert reading.statuses[-1].overruns == 2
    assert [status.fifo_max == 32 for status in reading.statuses] == [False, True, True]


@CLOCKS
def test_a_line_too_slow_drops_frames_and_says_so(record: Record, mhz: int) -> None:
    reading, figures = record(4.5, mhz=mhz, baud=125_000)
    clean(figures)
    assert figures["samples_overwritten"] == 0
    assert reading.flags == 2
    assert reading.seq_gaps > 300 and reading.index_gaps == 16 * reading.seq_gaps
    assert len(reading.hellos) == len(reading.statuses) == 5
    assert reading.statuses[-1].tx_dropped > 300


def test_commands(record: Record) -> None:
    reading, _ = record(1.9, "at 300 send 68", "at 400 send 72", "at 500 send 750701", "at 1500 send 7508")
    assert len(reading.hellos) == 3
    assert [data.flags for data in reading.datas if data.flags] == [4]
    assert [hello.unit for hello in reading.hellos] == [0, 0, 0x0107]


def test_the_unit_survives_a_reset(record: Record) -> None:
    reading, _ = record(2, "at 300 send 750d00", "at 1000 reset")
    assert [hello.unit for hello in reading.hellos][-1] == 13
    assert [hello.seq for hello in reading.hellos].count(0) == 2


def test_half_a_unit_is_none(record: Record) -> None:
    # The reset comes while the second of four bytes is being written.
    reading, _ = record(1, "at 300 send 750d00", "at 301.5 reset")
    assert [hello.unit for hello in reading.hellos] == [0, 0]


def test_random_bytes_do_no_harm(record: Record) -> None:
    rng = np.random.default_rng(7)
    noise = [rng.integers(0, 256, 25, dtype=np.uint8).tobytes().hex() for _ in range(300)]
    reading, figures = record(5, *(f"at {1000 + 10 * i} send {line}" for i, line in enumerate(noise)))
    clean(figures)
    assert figures["uart_received"] == 300 * 25
    assert reading.seq_gaps == reading.index_gaps == 0
    assert reading.statuses[-1].state == 0
    assert {hello.devid for hello in reading.hellos} == {0xE5}
