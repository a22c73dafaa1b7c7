"""A kind of serial device that the companion does not know, as somebody else would write its driver.

It prints ``number x y z`` a line, in g, and says ``rate 3104.0 unit 7`` when it is asked by ``?``, and only then.
"""

from __future__ import annotations

import re

import numpy as np

from companion.igloo import messages
from companion.igloo.line.clock import HostClock, Steady
from companion.igloo.line.driver import Driver
from companion.ports import DeviceState, LinkCounts, Samples

SAMPLE = re.compile(rb"([0-9]{1,12})" + rb" (-?[0-9]{1,3}\.[0-9]{1,6})" * 3)
INTRODUCTION = re.compile(rb"rate ([0-9]{1,5}\.[0-9]{1,6}) unit ([0-9]{1,5})")
ENOUGH = 3


class NumberedDriver(Driver):
    name = "numbered"
    bauds = (230_400,)
    usb = ("1209:0001",)
    greeting = b"?"

    def __init__(self) -> None:
        self._host, self._steady = HostClock(), Steady()
        self._rate: float | None = None
        self._unit: int | None = None
        self._next: int | None = None
        self._cut = False
        self._samples = self._lost = self._corrupt = self._rejected = 0
        self.listen()

    @property
    def introduced(self) -> bool:
        return self._rate is not None

    @property
    def unit(self) -> int | None:
        return self._unit

    @property
    def rate_hz(self) -> float | None:
        return self._rate

    def listen(self) -> None:
        self._tail, self._torn, self._good = b"", True, 0

    def feed(self, data: bytes, now: float) -> list[Samples]:
        *lines, tail = (self._tail + data).split(b"\n")
        self._tail = tail[-100:]
        if self._torn and lines:
            lines, self._torn = lines[1:], False
        rows: list[tuple[int, tuple[float, ...]]] = []
        for line in lines:
            if (said := INTRODUCTION.fullmatch(line)) is not None:
                self._rate, self._unit, self._good = float(said[1]), int(said[2]), ENOUGH
            elif (told := SAMPLE.fullmatch(line)) is not None:
                rows.append((int(told[1]), (float(told[2]), float(told[3]), float(told[4]))))
                self._good += 1
            else:
                self._good = 0
                self._corrupt += self.in_step
        self.in_step = self.in_step or self._good >= ENOUGH
        if not self.in_step or not lines:
            return []
        self.valid_at = now
        self._samples += len(rows)
        if self._rate is None:
            self._rejected += len(rows)
            return []
        return self._runs(rows, self._rate, now) if rows else []

    def _runs(self, rows: list[tuple[int, tuple[float, ...]]], rate: float, now: float) -> list[Samples]:
        self._host.add(rows[-1][0] / rate, now)
        runs = []
        while rows:
            first = rows[0][0]
            accel = [xyz for at, (number, xyz) in enumerate(rows) if number == first + at]
            rows = rows[len(accel) :]
            gap = first - self._next if self._next is not None and not self._cut else 0
            self._lost += gap
            t0 = self._steady.begin(self._host.at(first / rate), len(accel) / rate, joined=not (gap or self._cut))
            runs.append(Samples(np.array(accel), t0, rate, first, gap, self._cut))
            self._next, self._cut = first + len(accel), False
        return runs

    def line_was_lost(self) -> None:
        self.in_step = False
        self._rate, self._cut = None, True
        self._host.clear()

    def counts(self) -> LinkCounts:
        return LinkCounts(samples=self._samples, lost=self._lost, corrupt=self._corrupt, rejected=self._rejected)

    def state(self, now: float, stale_s: float) -> tuple[DeviceState, str]:
        del now, stale_s
        if self._rate is None:
            return DeviceState.SEARCHING, messages.NO_HELLO
        return DeviceState.CONNECTED, ""
