"""Frames in, samples out: what was lost is known, what cannot be true is kept back, and all of it is counted.

Three things number the stream: ``seq`` (frames, also those the device had to drop), ``index`` (samples read) and
``t_us`` (the device's clock). A frame is believed when they agree; one that disagrees waits until the next one
confirms it (then the device began anew) or not (then it is rejected, CRC or no CRC).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from companion.igloo.line.clock import WRAP, HostClock, LowerEdge, Steady
from companion.igloo.line.glitches import without
from companion.igloo.line.protocol import SENSOR_DEVID, Data, Flag, Frame, Hello, Status, Unknown
from companion.ports import LinkCounts, Samples

RATES_HZ = (5.0, 20_000.0)
"""What a sample rate can be at all."""

RATE_RATIO = (0.4, 2.5)
"""What the true rate can be of the nominal one; an ADXL345 is a few % off, a wrong setting half or double."""

BLOCK_S = 0.25
"""Seconds in a block of the rate's fit; 120 blocks are remembered."""

PENDING_S = 4.0
"""Seconds of samples that wait for a HELLO (their scale) or a rate before the oldest are rejected."""

SILENCE_S = 3600.0
"""After a longer silence ``t_us`` (which wraps every 71.6 minutes) and ``index`` cannot tell what was lost."""

RUN = 1024
"""Samples after which a run is cut although nothing is missing, so that little is left out at once."""

_LIMIT_G = 250.0
_ADXL345_LIMIT_G = 16.5
_ADXL345_UG = (3900, 7800, 15600, 31200)


class LossCounter:
    """A count that the device keeps (a u16 in STATUS) and its frames mark: neither loses what the other saw.

    A mark may be lost with its frame, or come after the STATUS that already counts it.
    """

    def __init__(self) -> None:
        self.total = 0
        self._said: int | None = None
        self._marked = 0
        self._ahead = 0

    def mark(self, n: int = 1) -> None:
        """Count what a frame marks."""
        known = min(self._ahead, n)
        self._ahead -= known
        self._marked += n - known
        self.total += n - known

    def says(self, value: int) -> None:
        """Take the device's own count, as STATUS says it."""
        if self._said is not None:
            grown = (value - self._said) & 0xFFFF
            extra = max(0, grown - self._marked) if grown < 0x8000 else 0
            self.total += extra
            self._ahead = extra
        self._said, self._marked = value, 0

    def begin_anew(self) -> None:
        """Forget what the device said: it started again."""
        self._said, self._ahead, self._marked = None, 0, 0


@dataclass(slots=True)
class _Run:
    """Samples in a row that wait for scale and time."""

    index: int
    t: float
    stretch: int
    gap: int
    overflow: bool
    n: int = 0
    parts: list[bytes] = field(default_factory=list)


class FrameStream:
    """The frames of one igloo, in order, to runs of samples.

    ``hello`` and ``status`` are the last ones of this connection. :meth:`line_was_lost` must be called when the
    port was closed and opened again; counts go on.
    """

    def __init__(self) -> None:
        self.hello: Hello | None = None
        self.status: Status | None = None
        self.data_at: float | None = None
        self._fit = LowerEdge(800.0)
        self._host = HostClock()
        self._steady = Steady()
        self._pending: list[_Run] = []
        self._waiting = 0
        self._last: Data | None = None
        self._last_at = 0.0
        self._suspect: Data | None = None
        self._was_lost = False
        self._seq: int | None = None
        self._frame: Frame | None = None
        self._unseen = 0
        self._corrupt = 0
        self._index = 0
        self._t = 0.0
        self._emitted_to: int | None = None
        self._gap = 0
        self._cut = False
        self._doubt = 0.0
        self._last_hello: Hello | None = None
        self._overflows, self._dropped = LossCounter(), LossCounter()
        self._samples = self._lost = self._unknown = 0
        self._missing = self._repeated = self._rejected = self._resets = self._glitches = 0

    @property
    def nominal_hz(self) -> float | None:
        """Return the rate that the igloo says, if it can be one."""
        known = self.hello or self._last_hello
        return float(known.rate_hz) if known and RATES_HZ[0] <= known.rate_hz <= RATES_HZ[1] else None

    @property
    def rate_hz(self) -> float | None:
        """Return the true rate, fitted from index against device time; None while it is not known."""
        period = self._fit.fitted
        if period is None or period <= 0.0:
            return None
        rate, nominal = 1.0 / period, self.nominal_hz
        low, high = RATES_HZ if nominal is None else (nominal * RATE_RATIO[0], nominal * RATE_RATIO[1])
        return rate if low <= rate <= high and self._fit.spread <= max(0.02, 40.0 * period) else None

    @property
    def clock_is_nonsense(self) -> bool:
        """Return whether the device's clock cannot be a clock, so that no sample has a time."""
        return self._doubt > 0.2 or (self._fit.fitted is not None and self.rate_hz is None)

    @property
    def scale_is_nonsense(self) -> bool:
        """Return whether the HELLO says a scale that its sensor cannot have."""
        hello = self.hello
        if hello is None:
            return False
        if hello.devid == SENSOR_DEVID:
            return not any(0.9 * ug <= hello.ug_per_lsb <= 1.1 * ug for ug in _ADXL345_UG)
        return hello.ug_per_lsb == 0

    def counts(self) -> LinkCounts:
        """Return all that was counted; ``corrupt`` and ``reconnects`` are for the link to fill in."""
        return LinkCounts(
            samples=self._samples,
            lost=self._lost,
            overflows=self._overflows.total,
            dropped_frames=self._dropped.total,
            unknown=self._unknown,
            missing_frames=self._missing,
            repeated=self._repeated,
            rejected=self._rejected,
            glitches=self._glitches,
            resets=self._resets,
        )

    def line_was_lost(self) -> None:
        """Say that the line was broken: what follows must introduce itself again."""
        self._last_hello = self.hello or self._last_hello
        self.hello = self.status = None
        self.data_at = None
        self._seq, self._frame = None, None
        self._unseen = 0
        self._was_lost = True
        if self._suspect is not None:
            self._reject(self._suspect.n)
            self._suspect = None
        self._overflows.begin_anew()
        self._dropped.begin_anew()

    def feed(self, frames: Iterable[Frame], now: float) -> list[Samples]:
        """Take frames that arrived at host time ``now``; return the runs of samples that they complete."""
        before = self._samples
        runs: list[Samples] = []
        for frame in frames:
            if self._repeats(frame):
                self._repeated += 1
                continue
            match frame:
                case Data():
                    self._data(frame, now)
                case Hello():
                    if self.hello is not None and self.hello.ug_per_lsb != frame.ug_per_lsb:
                        runs += self._emit()  # in the scale that they were measured in
                    self._greet(frame)
                case Status():
                    self.status = frame
                    self._overflows.says(frame.overruns)
                    self._dropped.says(frame.tx_dropped)
                case Unknown():
                    self._unknown += 1
        if self._samples != before:
            self.data_at = now
            self._host.add(self._t, now)
        return runs + self._emit()

    # --- who speaks, and in which order ------------------------------------------------------------------------

    def _repeats(self, frame: Frame) -> bool:
        if self._seq is None:
            self._seq, self._frame, self._corrupt = frame.seq, frame, 0
            return False
        self._corrupt += frame.corrupt_before
        ahead = (frame.seq - self._seq) & 0xFFFF
        if ahead == 0:
            return frame == self._frame
        if ahead < 0x8000:
            # What was corrupt is counted as that, not as missing too.
            self._unseen += max(0, ahead - 1 - self._corrupt)
        elif self._last is not None and isinstance(frame, Data):
            behind = (self._last.index - frame.index) & (WRAP - 1)
            if 0x10000 - ahead <= 256 and 0 < behind <= 4096:
                return True  # an old frame again
        self._seq, self._frame, self._corrupt = frame.seq, frame, 0
        return False

    def _greet(self, hello: Hello) -> None:
        before = self.hello or self._last_hello
        if before is not None and (before.rate_hz, before.unit, before.devid) != (
            hello.rate_hz,
            hello.unit,
            hello.devid,
        ):
            self._fit.clear()
        self.hello = hello
        nominal = self.nominal_hz
        if nominal is not None:
            self._fit.block, self._fit.guess = nominal * BLOCK_S, 1.0 / nominal

    # --- index and device time ---------------------------------------------------------------------------------

    def _data(self, frame: Data, now: float) -> None:
        last = self._last
        if last is not None and self._is_known(last, frame, now - self._last_at) and self._follows(last, frame):
            if self._suspect is not None:
                self._reject(self._suspect.n)
                self._suspect = None
            self._continue(last, frame)
        elif self._suspect is not None and self._follows(self._suspect, frame):
            suspect, self._suspect = self._suspect, None
            self._begin(suspect)
            self._continue(suspect, frame)
        else:
            if self._suspect is not None:
                self._reject(self._suspect.n)
            self._suspect = frame
            return
        self._last_at, self._was_lost = now, False

    def _is_known(self, last: Data, frame: Data, silence: float) -> bool:
        """Return whether the numbers of ``last`` still mean something after so many seconds.

        A device that was unplugged began anew, unless its clock shows that it ran on all the while.
        """
        if self._was_lost:
            ran = ((frame.t_us - last.t_us) & (WRAP - 1)) / 1e6
            return silence <= SILENCE_S and abs(ran - silence) <= 0.5 + 0.02 * silence
        return silence <= SILENCE_S

    def _follows(self, last: Data, frame: Data) -> bool:
        gap = ((frame.index - last.index) & (WRAP - 1)) - last.n
        if gap == 0:
            return True
        elapsed = ((frame.t_us - last.t_us) & (WRAP - 1)) / 1e6
        rate = self.rate_hz or self.nominal_hz or 8000.0
        return 0 < gap <= elapsed * rate * 1.25 + 96.0

    def _begin(self, frame: Data) -> None:
        """Take the first frame of a device that is new or began anew: what was lost before it is unknown."""
        known = self._last is not None
        if known:
            self._resets += 1
            self._overflows.begin_anew()
            self._dropped.begin_anew()
        self._unseen = 0
        self._fit.break_here()
        self._host.clear()
        self._index = frame.index
        self._append(frame, gap=0, overflow=known)

    def _continue(self, last: Data, frame: Data) -> None:
        gap = ((frame.index - last.index) & (WRAP - 1)) - last.n
        vanished, self._unseen = self._unseen, 0
        if frame.flags & Flag.DROPPED:
            self._dropped.mark(vanished)
        else:
            self._missing += vanished
        self._lost += gap
        self._index += last.n + gap
        ticks = (frame.t_us - last.t_us) & (WRAP - 1)
        rate = self.rate_hz or self.nominal_hz
        usual = (last.n + gap) / rate if rate else ticks / 1e6
        # A clock that jumps, or goes back, tells nothing of this step; an overflow lets more time pass.
        jumps = ticks >= WRAP // 2 or ticks / 1e6 < usual - 1.0
        overflow = bool(frame.flags & (Flag.OVERFLOW | Flag.SET_UP_AGAIN))
        jumps = jumps or (ticks / 1e6 > usual + 1.0 and not overflow)
        self._doubt += 0.02 * (jumps - self._doubt)
        self._t += usual if jumps else ticks / 1e6
        if frame.flags & Flag.OVERFLOW:
            self._overflows.mark()
        if frame.flags & Flag.SET_UP_AGAIN:
            self._resets += 1
        if overflow or jumps:
            self._fit.break_here()
        self._append(frame, gap=gap, overflow=overflow)

    def _append(self, frame: Data, *, gap: int, overflow: bool) -> None:
        self._last = frame
        self._samples += frame.n
        self._waiting += frame.n
        self._fit.add(self._index, self._t)
        run = self._pending[-1] if self._pending else None
        if run is None or gap or overflow or run.index + run.n != self._index or run.n >= RUN:
            run = _Run(self._index, self._t, self._fit.stretch, gap, overflow)
            self._pending.append(run)
        run.parts.append(frame.raw)
        run.n += frame.n

    def _reject(self, n: int) -> None:
        self._rejected += n

    # --- scale and host time -----------------------------------------------------------------------------------

    def _emit(self) -> list[Samples]:
        rate = self.rate_hz or self.nominal_hz
        hello = self.hello
        if not self._pending:
            return []
        if self.clock_is_nonsense or self.scale_is_nonsense:
            while self._pending:
                self._leave_out(self._pending.pop(0))
            return []
        if hello is None or rate is None:
            while self._waiting > PENDING_S * (rate or 3200.0):
                self._leave_out(self._pending.pop(0))
            return []
        runs: list[Samples] = []
        for run in self._pending:
            accel = np.frombuffer(b"".join(run.parts), "<i2").reshape(-1, 3) * (hello.ug_per_lsb * 1e-6)
            gap, self._gap = run.gap + self._gap, 0
            overflow, self._cut = run.overflow or self._cut, False
            joined = gap == 0 and not overflow and self._emitted_to == run.index
            on_line = self._fit.at(run.index) if run.stretch == self._fit.stretch else None
            wanted = self._host.at(run.t if on_line is None else on_line)
            t0 = self._steady.begin(wanted, run.n / rate, joined=joined)
            whole = Samples(accel, t0, rate, run.index, gap, overflow)
            runs += self._believable(whole, _ADXL345_LIMIT_G if hello.devid == SENSOR_DEVID else _LIMIT_G)
            self._emitted_to = run.index + run.n
        self._pending, self._waiting = [], 0
        return runs

    def _leave_out(self, run: _Run) -> None:
        """Reject samples that have no scale or no time; the next run says that they are missing."""
        self._reject(run.n)
        self._waiting -= run.n
        self._gap += run.gap + run.n
        self._cut = self._cut or run.overflow

    def _believable(self, run: Samples, limit_g: float) -> list[Samples]:
        """Return the run without the samples that its sensor cannot have measured."""
        bad = np.asarray((np.abs(run.accel) > limit_g).any(axis=1))
        if not bad.any():
            return [run]
        runs = np.flatnonzero(np.diff(bad, prepend=False, append=False)).reshape(-1, 2)
        long = np.diff(runs).ravel()
        # One alone has sign bits that disagree: they flipped on the way from the sensor.
        self._glitches += int((long == 1).sum())
        self._reject(int(long[long > 1].sum()))
        stretches, self._gap, self._cut = without(run, bad)
        return stretches
