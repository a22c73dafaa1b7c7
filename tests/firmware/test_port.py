"""The bench's pseudo-terminal, opened by pyserial as the companion opens a real board."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import serial

from tests.worlds.wait import PATIENCE_S, wait

pytestmark = pytest.mark.process


Maker = Callable[..., Any]


def take(port: serial.Serial, enough: Callable[[bytes], bool], seconds: float = PATIENCE_S) -> bytes:
    """Read until it is enough; a test that waits in vain fails by its assertion."""
    got = bytearray()
    end = time.monotonic() + seconds
    while not enough(bytes(got)) and time.monotonic() < end:
        got += port.read(max(1, port.in_waiting))
    return bytes(got)


def last(wire: ModuleType, got: bytes) -> Any:
    """Return the last whole frame of what was read from the middle, None before the first."""
    whole = got.split(b"\0")[1:-1]
    return wire.decode(whole[-1]) if whole else None


def take_to(port: serial.Serial, wire: ModuleType, index: int) -> bytes:
    """Read until the sample of this number has come, however much was on the way before it."""

    def has_come(got: bytes) -> bool:
        frame = last(wire, got)
        return isinstance(frame, wire.Data) and bool(frame.index >= index)

    return take(port, has_come)


def run(igloo: Any, seconds: float) -> None:
    """Wait until so much time was simulated."""
    wait(lambda: igloo.stats()["simulated_s"] >= seconds)


def test_a_reader_that_comes_in_the_middle(simavr: Maker, wire: ModuleType) -> None:
    igloo = simavr().start()
    run(igloo, 0.3)
    with serial.Serial(igloo.port, 500_000, timeout=0.2) as port:
        port.write(b"h")

        def answered(got: bytes) -> bool:
            if got.count(b"\0") <= 150:
                return False
            so_far = wire.read(got, from_the_middle=True)
            return bool(so_far.hellos and so_far.statuses)

        got = take(port, answered)
    reading = wire.read(got, from_the_middle=True)
    assert reading.hellos and reading.statuses
    assert reading.datas[0].index > 0
    assert reading.seq_gaps == reading.index_gaps == reading.flags == 0
    figures = igloo.stop()
    assert figures["uart_unread"] > 0
    assert figures["uart_received"] == 1


def test_what_is_played_arrives(simavr: Maker, wire: ModuleType) -> None:
    igloo = simavr(mhz=8, noise_mg=0.0).start()
    shake = np.zeros((320, 3))
    shake[:, 0] = 8 * np.sin(np.arange(320) / 10)
    with serial.Serial(igloo.port, 500_000, timeout=0.2) as port:
        igloo.play(shake)
        wait(lambda: igloo.stats()["samples_played"] == len(shake))
        # What the sensor has taken by now has at most this number on the line.
        got = take_to(port, wire, igloo.stats()["samples_taken"])
        igloo.rest((1, 0, 0))
        later = take_to(port, wire, igloo.stats()["samples_taken"])
    played = wire.read(got, from_the_middle=True).samples
    assert np.abs(played[:, 0]).max() == pytest.approx(8 * 256, abs=2)
    assert list(wire.read(later, from_the_middle=True).samples[-1]) == [256, 0, 0]


def test_a_slow_reader_holds_time_and_loses_nothing(simavr: Maker, wire: ModuleType) -> None:
    igloo = simavr(fast=True, held=True).start()
    with serial.Serial(igloo.port, 500_000, timeout=0.2) as port:
        igloo.go()
        wait(lambda: igloo.stats()["pty_stalls"])
        got = take(port, lambda wire: wire.count(b"\0") >= 2000)
        figures = igloo.stats()
    reading = wire.read(got)
    assert reading.seq_gaps == reading.index_gaps == reading.flags == 0
    assert reading.hellos[0].seq == 0  # from the first byte on
    assert figures["pty_stalls"] > 0 and figures["uart_unread"] == 0
    assert figures["simulated_s"] < 60


def test_a_link_to_the_port(simavr: Maker, wire: ModuleType, tmp_path: Path) -> None:
    link = tmp_path / "ttyIGLOO"
    igloo = simavr(link=link).start()
    assert igloo.port == str(link) and link.is_symlink()
    with serial.Serial(str(link), 500_000, timeout=0.2, exclusive=True) as port:
        got = take(port, lambda wire: wire.count(b"\0") > 3)
    assert wire.read(got, from_the_middle=True).datas
    igloo.stop()
    assert not link.is_symlink()


def test_the_sensor_through_the_driver(simavr: Maker, wire: ModuleType) -> None:
    igloo = simavr().start()

    def numbers(got: bytes) -> tuple[int, list[int]]:
        torn, indices = 0, []
        for part in got.split(b"\0")[1:-1]:
            try:
                frame = wire.decode(part)
            except AssertionError:  # the frame that the reset tore, and with it the HELLO behind it
                torn += 1
                continue
            if isinstance(frame, wire.Data):
                indices.append(frame.index)
        return torn, indices

    def begun(got: bytes) -> bool:
        return got.count(b"\0") > 230 and 0 in numbers(got)[1]

    with serial.Serial(igloo.port, 500_000, timeout=0.2) as port:
        run(igloo, 0.1)
        igloo.sensor(False)

        def is_lost(got: bytes) -> bool:
            frame = last(wire, got)
            return isinstance(frame, wire.Status) and bool(frame.state == 3)

        port.write(b"h")
        lost = wire.read(take(port, is_lost), from_the_middle=True)
        igloo.sensor(True)
        back = wire.read(take(port, lambda wire: wire.count(b"\0") > 30), from_the_middle=True)
        igloo.reset()
        again = take(port, begun)
    assert lost.statuses[-1].state == 3
    assert back.datas
    torn, indices = numbers(again)
    assert 0 in indices and torn <= 1


def test_commands_that_are_none(simavr: Maker, bench: ModuleType) -> None:
    igloo = simavr().start()
    for bad in (
        "dance",
        "play /nowhere",
        "devid",
        "devid 999",
        "stuck 0x99 1",
        "rest 1",
        "send 6",
        "at x go",
        "sensor maybe",
        "rate 7",
        "jump -1",
    ):
        with pytest.raises(bench.SimavrError, match="error"):
            igloo.command(bad)
    assert igloo.stop()["simulated_s"] > 0


def test_a_bench_whose_starter_is_gone_ends(simavr: Maker) -> None:
    igloo = simavr().start()
    process = igloo._process
    process.stdin.close()
    assert process.wait(timeout=PATIENCE_S) == 0
    igloo._process = None
    process.stdout.close()
