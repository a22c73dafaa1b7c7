"""Time: the true rate of a sensor, and the host's clock for what a device stamped with its own.

Both are a line under a cloud of points. A device stamps sample i with ``t = a + i / rate + delay``, and a stamp
reaches us at ``h = b + s * t + delay``; both delays are never negative (a FIFO fills, a frame waits in a driver)
and now and then are small. So :class:`LowerEdge` keeps the least delayed point of each short block and fits
these: jitter hardly moves it, and a stall of the device or of the host not at all.
"""

from __future__ import annotations

from collections import deque

import numpy as np

WRAP = 1 << 32
"""Where the device's u32 counters wrap."""

HOST_BLOCK_S = 0.5
"""Seconds of device time in a block of the line that maps it to host time."""

SLEW = 0.05
"""How much a run of samples may be shorter or longer than its rate says, while its time is drawn into line."""

CAUGHT_UP_S = 0.05
"""How much earlier than expected something must arrive to show that all before it had been late."""

STEP_S = 0.5
"""A difference of time that is not drawn into line any more, but jumped (forwards only)."""

_RECENT = 8
_ENOUGH = 3


class LowerEdge:
    """A line ``y = a + slope * x`` under points that lie on it or above, fitted to the least delayed of them.

    ``block`` is the length of a block in x; ``keep`` blocks are remembered. ``guess`` is the slope to use before
    there is a fitted one. :meth:`break_here` says that x and y moved against each other by an unknown amount:
    the slope is fitted over all stretches together, each with its own ``a``.
    """

    def __init__(self, block: float, *, keep: int = 120, guess: float | None = None) -> None:
        self.block = block
        self.guess = guess
        self.fitted: float | None = None
        self.spread = 0.0
        self.stretch = 0
        self._points: deque[tuple[int, float, float]] = deque(maxlen=keep)
        self._best: tuple[float, float] | None = None
        self._block_start = 0.0

    def __len__(self) -> int:
        """Return how many blocks are remembered."""
        return len(self._points)

    @property
    def slope(self) -> float | None:
        """Return the fitted slope, else the guess."""
        return self.fitted if self.fitted is not None else self.guess

    def add(self, x: float, y: float) -> None:
        """Add a point; x never decreases within a stretch."""
        best = self._best
        if best is None:
            self._best, self._block_start = (x, y), x
        elif x - self._block_start >= self.block:
            self._points.append((self.stretch, *best))
            self._best, self._block_start = (x, y), x
            self._fit()
        else:
            slope = self.slope
            if slope is not None and y - best[1] < (x - best[0]) * slope:
                self._best = (x, y)

    @property
    def span(self) -> float:
        """Return how far the remembered points reach in y."""
        return self._points[-1][2] - self._points[0][2] if self._points else 0.0

    def break_here(self) -> None:
        """Begin a new stretch."""
        self.stretch += 1
        self._best = None

    def clear(self) -> None:
        """Forget all points and the fitted slope."""
        self._points.clear()
        self.fitted, self.spread = None, 0.0
        self.break_here()

    def at(self, x: float) -> float | None:
        """Return y on the line at x, by the latest points of this stretch; None without any or without a slope."""
        slope = self.slope
        if slope is None:
            return None
        near = [p[1:] for p in list(self._points)[-_RECENT:] if p[0] == self.stretch]
        if self._best is not None:
            near.append(self._best)
        return min((py + (x - px) * slope for px, py in near), default=None)

    def _fit(self) -> None:
        points = np.array(self._points)
        kept = np.ones(len(points), dtype=bool)
        for _ in range(2):
            _, group = np.unique(points[kept, 0], return_inverse=True)
            if kept.sum() - (group.max() + 1) < _ENOUGH:
                return
            size = np.bincount(group)
            x = points[kept, 1] - (np.bincount(group, points[kept, 1]) / size)[group]
            y = points[kept, 2] - (np.bincount(group, points[kept, 2]) / size)[group]
            across = float(x @ x)
            if across <= 0.0:
                return
            slope = float(x @ y) / across
            off = np.abs(y - slope * x)
            spread = 1.4826 * float(np.median(off))
            if kept.all():
                self.spread = spread
                # Blocks in which nothing came in time: left out once, then fitted again.
                kept = off <= max(4.0 * spread, 1e-9)
        self.fitted = slope


class Steady:
    """The beginnings of runs of samples, so that what listens sees an even flow and no time that goes back."""

    def __init__(self) -> None:
        self._end: float | None = None
        self._duration = 0.0

    def begin(self, wanted: float, duration: float, *, joined: bool) -> float:
        """Return when a run of samples begins that should begin at ``wanted``.

        A run ``joined`` to the last one begins where that ended, drawn towards ``wanted`` by at most ``SLEW`` of
        the shorter of the two; one that is not, or that is far too early, begins where it should, but never before.
        """
        t0 = wanted
        if self._end is not None:
            wrong = wanted - self._end
            if joined and wrong <= STEP_S:
                room = SLEW * min(duration, self._duration)
                t0 = self._end + min(max(wrong, -room), room)
            else:
                t0 = max(wanted, self._end)
        self._end, self._duration = t0 + duration, duration
        return t0


class HostClock:
    """The host's time for a device's time, in seconds; both as they run, with whatever skew they have."""

    def __init__(self) -> None:
        self._line = LowerEdge(HOST_BLOCK_S, keep=60, guess=1.0)
        self._latest = (0.0, 0.0)

    def add(self, device: float, arrived: float) -> None:
        """Say that what the device stamped ``device`` was here at ``arrived``."""
        expected = self._line.at(device)
        if expected is not None and arrived < expected - CAUGHT_UP_S:
            # All before had waited somewhere, and now it catches up: those points tell of the waiting alone.
            self._line.clear()
        self._line.add(device, arrived)
        self._latest = (device, arrived)
        fitted = self._line.fitted
        if fitted is not None and not 0.2 <= fitted <= 5.0:
            # A burst that was kept somewhere, or a clock that stands: no line tells anything then.
            self._line.clear()

    def clear(self) -> None:
        """Forget how the clocks lay: the device began anew."""
        self._line.clear()

    def at(self, device: float) -> float:
        """Return the host time of a device time."""
        on_line = self._line.at(device)
        return on_line if on_line is not None else self._latest[1] + device - self._latest[0]
