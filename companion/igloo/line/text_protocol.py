"""The text fallback: boards that speak no frames but print a sample a line, ``ax,ay,az`` in g or m/s².

This is the format of the Edge Impulse data forwarder, and of most first sketches. Nothing numbers these lines and
nothing says their rate or unit: the rate is measured from the times of arrival, the unit found from gravity while
the board is at rest, and until both are known no sample is handed on.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable

import numpy as np

from companion.igloo.line.clock import LowerEdge, Steady
from companion.ports import LinkCounts, Samples

MAX_LINE = 96
"""Bytes of a line; a longer one is not a sample."""

STANDARD_GRAVITY = 9.80665

HELD_LINES = 8192
"""Lines that wait for rate and unit before the oldest are rejected."""

MEASURED_S = 1.0
"""Seconds of lines before their rate is believed."""

GONE_S = 0.5
"""A pause of the lines after which an unknown number may be missing."""

WAITS = 16
"""So many times that nothing came are remembered: boards write many lines at once, and the longest wait but one or two
is that from burst to burst."""

BLOCK_S, BLOCK_WAITS = 0.25, 2.5
"""A block of the rate's fit in seconds, and at least so many bursts of lines: the last line of one is hardly late."""

_NUMBER = rb"[ ]*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?)[ ]*"
_LINE = re.compile(_NUMBER + rb"[,\t]" + _NUMBER + rb"[,\t]" + _NUMBER)

Row = tuple[float, float, float]


def parse_line(line: bytes) -> Row | None:
    r"""Return the three numbers of a line without its end, or None when it is no sample.

    >>> parse_line(b"0.01,\t-0.02,1.00") is None
    True
    >>> parse_line(b"0.01\t-0.02\t1.00")
    (0.01, -0.02, 1.0)
    """
    found = _LINE.fullmatch(line) if len(line) <= MAX_LINE else None
    if found is None:
        return None
    x, y, z = (float(number) for number in found.groups())
    return (x, y, z)


class LineReader:
    """Bytes in, lines out: a row of numbers, or None where a line was none; in bounded memory.

    The first line may have begun before we listened: it is not handed on, whatever it is. ``parse`` reads a line.
    """

    def __init__(self, parse: Callable[[bytes], Row | None] = parse_line) -> None:
        self._parse = parse
        self._tail = b""
        self._in_step = False

    def feed(self, data: bytes) -> list[Row | None]:
        """Return what each line that ``data`` completes is; empty lines are nothing."""
        lines = (self._tail + data).split(b"\n")
        self._tail = lines.pop()[-MAX_LINE - 2 :]
        rows: list[Row | None] = []
        for line in lines:
            text = line.rstrip(b"\r")
            if self._in_step and text:
                rows.append(self._parse(text))
            self._in_step = True
        return rows


class TextStream:
    """The lines of one board, in order, to runs of samples in g.

    ``unit_g`` is how many g one unit of its numbers is, None while that is not known; ``not_acceleration`` says
    that the numbers rest where no gravity does.
    """

    def __init__(self) -> None:
        self.unit_g: float | None = None
        self.not_acceleration = False
        self.data_at: float | None = None
        self._fit = LowerEdge(8.0)
        self._began: tuple[int, float] | None = None
        self._waits: deque[float] = deque(maxlen=WAITS)
        self._next = 0
        self._held: deque[tuple[int, Row]] = deque()
        self._recent: deque[tuple[float, Row]] = deque()
        self._steady = Steady()
        self._cut = False
        self._emitted_to: int | None = None
        self._samples = self._lost = self._corrupt = self._rejected = self._overflows = 0

    @property
    def rate_hz(self) -> float | None:
        """Return the rate of the lines, measured by their arrival; None while it is not known."""
        period = self._fit.fitted
        if period is None or self._fit.span < MEASURED_S or not 5.0 <= 1.0 / max(period, 1e-6) <= 20_000.0:
            return None
        return 1.0 / period if self._fit.spread <= max(0.05, period, 0.5 * self._wait) else None

    @property
    def rate_is_nonsense(self) -> bool:
        """Return whether the lines come at no steady rate, so that no sample has a time."""
        return self._fit.span >= max(2.0 * MEASURED_S, 4.0 * BLOCK_WAITS * self._wait) and self.rate_hz is None

    @property
    def _wait(self) -> float:
        """Return the seconds from burst to burst of the lines."""
        return sorted(self._waits)[int(0.9 * len(self._waits))] if self._waits else 0.0

    def counts(self) -> LinkCounts:
        """Return all that was counted; ``reconnects`` are for the link to fill in."""
        return LinkCounts(
            samples=self._samples,
            lost=self._lost,
            corrupt=self._corrupt,
            overflows=self._overflows,
            rejected=self._rejected,
        )

    def line_was_lost(self) -> None:
        """Say that the line was broken: another board, or another sketch, may follow."""
        self._rejected += len(self._held)
        self._held.clear()
        self._recent.clear()
        self.unit_g, self.not_acceleration, self.data_at = None, False, None
        self._fit.clear()
        self._waits.clear()
        self._began = None
        self._cut, self._emitted_to = True, None

    def feed(self, rows: list[Row | None], now: float) -> list[Samples]:
        """Take lines that arrived at host time ``now``; return the runs of samples that they complete.

        A line that is no sample is counted as corrupt and as one lost sample.
        """
        if rows and self.data_at is not None:
            wait = now - self.data_at
            if wait > max(GONE_S, 5.0 / (self.rate_hz or 1e3), 2.0 * self._wait):
                self._pause(len(rows), now)
            self._waits.append(wait)
        for row in rows:
            if row is None:
                self._corrupt += 1
                self._lost += 1
            else:
                self._held.append((self._next, row))
                self._recent.append((now, row))
                self._samples += 1
            self._next += 1
        if rows:
            self.data_at = now
            # Lines that came together waited for each other: the last one waited least.
            self._measure(now)
        while self._recent and now - self._recent[0][0] > max(1.0, BLOCK_WAITS * self._wait):
            self._recent.popleft()
        if self.unit_g is None and rows:
            self._find_unit()
        return self._emit()

    def _measure(self, now: float) -> None:
        """Take the arrival of the last line into the rate's fit."""
        last = self._next - 1
        if self._began is None:
            self._began = (last, now)
        elif self._fit.fitted is None and last > self._began[0] and now > self._began[1]:
            # From one end of all lines to the other, until there are blocks: who is late in a block is known by it.
            self._fit.guess = (now - self._began[1]) / (last - self._began[0])
        period = self._fit.slope
        if period is not None and period > 0.0:
            self._fit.block = max(1.0, max(BLOCK_S, BLOCK_WAITS * self._wait) / period)
        self._fit.add(last, now)

    def _pause(self, came: int, now: float) -> None:
        """Decide whether a pause was ours (then the lines waited, and come at once) or the board's."""
        due = self._fit.at(self._next + came - 1)
        if due is None or now - due > GONE_S:
            self._fit.break_here()
            self._began = None
            self._rejected += len(self._held)
            self._held.clear()
            self._recent.clear()
            self._cut, self._emitted_to = True, None
            self._overflows += 1

    def _find_unit(self) -> None:
        """Take the unit from gravity, once the numbers rest for half a second."""
        if len(self._recent) < 10 or self._recent[-1][0] - self._recent[0][0] < 0.5:
            return
        rows = np.array([row for _, row in self._recent])
        size = float(np.linalg.norm(rows.mean(axis=0)))
        if float(rows.std(axis=0).max()) > 0.06 * size:
            return
        if 0.8 <= size <= 1.25:
            self.unit_g = 1.0
        elif 8.0 <= size <= 12.0:
            self.unit_g = 1.0 / STANDARD_GRAVITY
        self.not_acceleration = self.unit_g is None

    def _emit(self) -> list[Samples]:
        rate, unit = self.rate_hz, self.unit_g
        if rate is None or unit is None:
            while len(self._held) > HELD_LINES or (self._held and self.rate_is_nonsense):
                self._held.popleft()
                self._rejected += 1
            return []
        runs: list[Samples] = []
        while self._held:
            first = self._held[0][0]
            rows: list[Row] = []
            while self._held and self._held[0][0] == first + len(rows):
                rows.append(self._held.popleft()[1])
            gap = first - self._emitted_to if self._emitted_to is not None else 0
            wanted = self._fit.at(first)
            t0 = self._steady.begin(
                self._recent[-1][0] if wanted is None else wanted, len(rows) / rate, joined=not (gap or self._cut)
            )
            runs.append(Samples(np.array(rows) * unit, t0, rate, first, gap, self._cut))
            self._cut, self._emitted_to = False, first + len(rows)
        return runs
