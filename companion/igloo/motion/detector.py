"""What the hand is doing with an igloo, from its acceleration alone and from any way the sensor is mounted.

Samples are gathered in cells of 10 ms. The igloo's upright is the gravity felt at rest. From rest it is *lifted* when
it gains speed upwards, tilts or stays stirred, and only *knocked* when it is shaken up and falls quiet again. In the
hand it is *shaken* while one direction swings to and fro, *turned* over while gravity comes from a far other side,
*dropped* when it falls freely into a blow, else *carried*. It is *set down* when it falls quiet standing upright.

An igloo that lies quietly in another pose for :data:`RELEARN_S` is taken to stand there: a sensor cap was put on
another way round.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from companion.ports import DeviceKind, Motion, MotionState, Samples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

CELL_S = 0.01
WINDOW = 120
"""Cells kept: 1.2 s."""
TURNED_DEG, BACK_DEG = 72.0, 55.0
RELEARN_S = 8.0
LONGEST_SWING_S = 0.42
"""Half a cycle of the slowest shaking, 1.2 Hz."""
BRIDGED_S = 0.03
"""A loss no longer than this (a frame at 800 Hz) is bridged by a straight line: no state begins and ends within it."""
TREMBLE_S, TREMBLE_G = 0.8, 0.012
"""A table at which people move may tremble so much; what has not been seen at rest before is then taken to rest."""
LONG_GAP_S = 1.0
"""After a longer silence nobody can say what the hand did meanwhile."""

_IN_HAND = frozenset({MotionState.LIFTED, MotionState.CARRIED, MotionState.SHAKEN, MotionState.TURNED})
_STANDING = frozenset({MotionState.REST, MotionState.SET_DOWN, MotionState.KNOCKED})


class MotionDetector:
    """Tells what happens to one igloo. Times of motions are when they began, in the samples' own time.

    Works from 50 Hz up. A short gap in the samples is bridged, another one empties its windows; after a long one the
    state is unknown, while the upright is kept.
    """

    def __init__(self, key: str, kind: DeviceKind) -> None:
        self.key = key
        self.kind = kind
        self.state = MotionState.UNKNOWN
        self.since = 0.0
        self._upright: FloatArray | None = None  # unit vector of gravity when it stands
        self._pull: FloatArray | None = None  # gravity as felt in the present rest, in g
        self._rate = 0.0
        self._size = 1
        self._pending: list[FloatArray] = []
        self._waiting = 0
        self._next_t: float | None = None
        self._last: FloatArray | None = None
        self._clear()
        self._floor = 1.0  # the least variance of cell means seen
        self._hiss = 1.0  # the least variance inside cells seen
        self._expected = 0.0
        self._found: list[Motion] = []

    def feed(self, samples: Samples) -> list[Motion]:
        """Take a run of samples; return the motions that it shows, oldest first."""
        self._found = []
        if samples.rate_hz != self._rate:
            self._rate = samples.rate_hz
            self._size = max(1, round(samples.rate_hz * CELL_S))
        accel = np.asarray(samples.accel, dtype=np.float64)
        if not np.isfinite(accel).all():
            accel = accel[np.isfinite(accel).all(axis=1)]
        if samples.gap_before or samples.overflow_before:
            accel = self._over_the_gap(samples, accel)
        if len(accel):
            self._last = accel[-1]
        self._pending.append(accel)
        self._waiting += len(accel)
        if self._waiting >= self._size:
            data = np.concatenate(self._pending)
            cells = len(data) // self._size
            end = samples.t0 + len(samples.accel) / samples.rate_hz
            first = end - len(data) / samples.rate_hz
            self._cells(data[: cells * self._size].reshape(cells, self._size, 3), first)
            rest = data[cells * self._size :]
            self._pending, self._waiting = [rest], len(rest)
        self._next_t = samples.t0 + len(samples.accel) / samples.rate_hz
        return self._found

    # --- cells and windows

    def _clear(self) -> None:
        """Empty the windows."""
        self._pending, self._waiting = [], 0
        self._mean: deque[FloatArray] = deque(maxlen=WINDOW)
        self._rough: deque[float] = deque(maxlen=WINDOW)
        self._quiet_cells = 0
        self._stir_t: float | None = None
        self._blow = False
        self._speed = np.zeros(3)
        self._way = 0.0
        self._rise: deque[float] = deque(maxlen=5)
        self._fall_t: float | None = None
        self._fall: list[FloatArray] = []
        self._after_fall = 0
        self._over_cells = 0
        self._upright_cells = 0
        self._state_cells = 0
        self._window = np.zeros((0, 3))

    def _over_the_gap(self, samples: Samples, accel: FloatArray) -> FloatArray:
        """Return the samples after a gap, led up to from the last one before; after a longer gap forget what was."""
        gap = samples.gap_before / samples.rate_hz
        if self._next_t is not None:
            gap = max(gap, samples.t0 - self._next_t)
        if self._last is not None and len(accel) and gap <= BRIDGED_S:
            missing = round(gap * samples.rate_hz)
            return np.concatenate([np.linspace(self._last, accel[0], missing + 2)[1:-1], accel])
        self._clear()
        if gap > LONG_GAP_S and self.state is not MotionState.UNKNOWN:
            self._enter(MotionState.UNKNOWN, samples.t0)
            self._pull = None
        return accel

    def _cells(self, data: FloatArray, first: float) -> None:
        """Judge cell after cell; ``data`` has shape (cells, size, 3)."""
        means = data.mean(axis=1)
        deviation = data - means[:, None]
        rough = np.einsum("ijk,ijk->i", deviation, deviation) / data.shape[1]
        peaks = np.sqrt(np.einsum("ijk,ijk->ij", data, data)).max(axis=1)
        step = self._size / self._rate
        for i in range(len(data)):
            self._mean.append(means[i])
            self._rough.append(float(rough[i]))
            self._judge(first + i * step, step, means[i], float(peaks[i]))

    def _judge(self, t: float, step: float, mean: FloatArray, peak: float) -> None:
        """Judge the newest cell, which begins at ``t``."""
        self._window = window = np.asarray(self._mean)
        self._state_cells += 1
        quiet = self._is_quiet(window, step)
        self._quiet_cells = self._quiet_cells + 1 if quiet else 0
        if self.state in _STANDING:
            self._standing(t, step, mean, peak)
        elif self.state in _IN_HAND:
            self._in_hand(t, step, mean, peak)
        elif self.state is MotionState.DROPPED:
            self._dropped(t, step)
        else:
            self._unknown(t, step)

    def _is_quiet(self, window: FloatArray, step: float) -> bool:
        """Tell whether the last 0.12 s moved no more than the sensor's own noise and a table's tremble."""
        cells = max(4, round(0.12 / step))
        if len(window) < cells:
            return False
        last = window[-cells:]
        variance = float(last.var(axis=0).sum())
        self._floor = min(self._floor, variance)
        rough = sum(self._rough[-k] for k in range(1, cells + 1)) / cells
        self._hiss = min(self._hiss, rough)
        # white noise is that much weaker in the mean of a cell; where a cell is too short to tell, the past must
        self._expected = max(1.3 * self._hiss / self._size if self._size >= 8 else 0.0, min(self._floor, 1e-4))
        return variance < 2.0 * self._expected + 0.004**2 and rough < 0.02

    def _seconds(self, cells: int, step: float) -> float:
        return cells * step

    def _gravity(self, seconds: float, step: float) -> FloatArray | None:
        """Return the mean acceleration of the last seconds, or None where they were not seen whole."""
        cells = max(2, round(seconds / step))
        if len(self._window) < cells:
            return None
        gravity: FloatArray = self._window[-cells:].mean(axis=0)
        return gravity

    def _tilt(self, gravity: FloatArray) -> float | None:
        """Return the angle in degrees from the upright."""
        if self._upright is None:
            return None
        length = float(np.linalg.norm(gravity))
        cosine = float(gravity @ self._upright) / (length + 1e-9)
        return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))

    def _enter(self, state: MotionState, t: float, tilt: float | None = None) -> None:
        """Change the state and tell it."""
        self.state, self.since = state, t
        self._over_cells = self._upright_cells = self._state_cells = 0
        self._stir_t, self._blow = None, False
        self._found.append(Motion(self.key, state, float(t), self.kind, None if tilt is None else round(tilt, 1)))

    # --- nothing known yet

    def _unknown(self, t: float, step: float) -> None:
        if self._seconds(self._quiet_cells, step) >= 0.4 or self._trembles(step):
            self._rest(t, step)
        elif self._is_shake(step):
            self._enter(MotionState.SHAKEN, t)

    def _trembles(self, step: float) -> bool:
        """Tell whether it stood for some time on a table that never is quite still: more, and it is in a hand."""
        cells = round(TREMBLE_S / step)
        if len(self._window) < cells or self._rough[-1] > 0.02:
            return False
        return float(self._window[-cells:].var(axis=0).sum()) < TREMBLE_G**2

    def _rest(self, t: float, step: float, state: MotionState = MotionState.REST) -> None:
        """Learn the pull of gravity of this rest, and the upright where it is new; tell the state."""
        pull = self._gravity(0.12, step)
        if pull is None:
            return
        tilt = self._tilt(pull)
        if tilt is None:
            self._upright, tilt = pull / np.linalg.norm(pull), 0.0
        self._pull = pull
        self._still()
        self._enter(state, t, tilt)

    def _still(self) -> None:
        """Set the reckoned speed and way to nothing."""
        self._speed = np.zeros(3)
        self._way = 0.0
        self._rise.clear()
        self._stir_t, self._blow = None, False

    # --- standing on the table

    def _standing(self, t: float, step: float, mean: FloatArray, peak: float) -> None:
        pull = self._pull
        if pull is None:
            return
        length = float(np.linalg.norm(pull))
        apart = mean - pull
        jolt = peak - length
        if self._stir_t is None:
            if self._quiet_cells or (float(apart @ apart) < 0.012**2 and jolt < 0.15):
                self._settled(t, step)
                return
            self._stir_t = t
        self._blow = self._blow or jolt > 0.2
        self._speed += apart * 9.80665 * step
        rising = float(self._speed @ pull) / length
        self._rise.append(rising)
        smooth = sum(self._rise) / len(self._rise)
        self._way += rising * step
        stirred = t + step - self._stir_t
        gravity = self._gravity(0.08, step)
        lean = 0.0
        if gravity is not None and stirred > 0.1:
            cosine = float(gravity @ pull) / (length * float(np.linalg.norm(gravity)) + 1e-9)
            lean = float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
        lifted = (stirred > 0.06 and smooth > 0.03 and self._way > 0.001) or lean > 8.0 or stirred > 0.45
        if lifted and not (self._blow and stirred < 0.13):
            self._enter(MotionState.LIFTED, self._stir_t, self._tilt(mean))
            self._way = 0.0
            return
        if self._seconds(self._short_quiet(step), step) >= 0.05:
            if self._blow:
                self._enter(MotionState.KNOCKED, self._stir_t, self._tilt(pull))
            self._still()

    def _short_quiet(self, step: float) -> int:
        """Return how many of the last cells lie close to this rest's gravity."""
        cells = max(3, round(0.06 / step))
        if self._pull is None or len(self._window) < cells:
            return 0
        apart = self._window[-cells:] - self._pull
        near = np.einsum("ij,ij->i", apart, apart) < 0.03**2
        calm = all(self._rough[-k] < 0.02 for k in range(1, cells + 1))
        return cells if calm and bool(near.all()) else 0

    def _settled(self, t: float, step: float) -> None:
        """Go over into rest from what went before, and keep the memory of gravity fresh."""
        self._still()
        lasted = t + step - self.since
        if self.state is not MotionState.REST and lasted > 0.3 and self._seconds(self._quiet_cells, step) > 0.1:
            self._rest(t, step)
        elif self.state is MotionState.REST and self._seconds(self._quiet_cells, step) > 0.3:
            pull = self._gravity(0.12, step)
            if pull is not None and self._pull is not None:
                self._pull = self._pull + 0.02 * (pull - self._pull)
                tilt = self._tilt(self._pull)
                if tilt is not None and ((tilt < 30.0 and lasted > 1.0) or lasted > RELEARN_S):
                    self._upright = self._pull / np.linalg.norm(self._pull)

    # --- in the hand

    def _in_hand(self, t: float, step: float, mean: FloatArray, peak: float) -> None:
        if self._falls(t, step, mean, peak):
            return
        shake = self._is_shake(step)
        if self._turns(t, step, shake=shake):
            return
        lasted = t + step - self.since
        if self.state is MotionState.TURNED:
            if lasted > RELEARN_S and self._seconds(self._quiet_cells, step) > RELEARN_S:
                self._upright = None
                self._rest(t, step)
            return
        if self._touches_down(t, step):
            return
        if shake and self.state is not MotionState.SHAKEN:
            self._enter(MotionState.SHAKEN, t, self._tilt(mean))
        elif self.state is MotionState.SHAKEN and not shake:
            recent = self._strength(0.22, step)
            if recent is not None and recent < 0.16:
                self._enter(MotionState.CARRIED, t, self._tilt(mean))
        elif self.state is MotionState.LIFTED and lasted > 0.55:
            self._enter(MotionState.CARRIED, t, self._tilt(mean))

    def _strength(self, seconds: float, step: float) -> float | None:
        """Return the spread of motion in g over the last seconds."""
        cells = max(3, round(seconds / step))
        if len(self._window) < cells:
            return None
        return float(np.sqrt(self._window[-cells:].var(axis=0).sum()))

    def _is_shake(self, step: float) -> bool:
        """Tell whether one direction swung to and fro at least three times of late, and still does."""
        recent = self._strength(0.3, step)
        if recent is None or recent < 0.2:
            return False
        window = self._window[-round(1.1 / step) :]
        if self.state is not MotionState.SHAKEN:
            # what was a shake before, or a lift, is not the beginning of this one
            window = window[-max(self._state_cells, 8) :]
        motion = window - window.mean(axis=0)
        moved = motion.T @ motion
        vector = moved[int(np.argmax(np.diag(moved)))]
        for _ in range(3):
            vector = moved @ vector
            vector /= float(np.linalg.norm(vector)) + 1e-12
        signal = motion @ vector
        limit = max(0.18, 0.5 * float(signal.std()))
        out = np.flatnonzero(np.abs(signal) > limit)
        side = signal[out] > 0
        swung = out[1:][side[1:] != side[:-1]] * step
        if len(swung) < 3 or len(signal) * step - swung[-1] > LONGEST_SWING_S:
            return False
        return bool((np.diff(swung[-3:]) < LONGEST_SWING_S).all())

    def _turns(self, t: float, step: float, *, shake: bool) -> bool:
        """Tell the way over and the way back."""
        if self._upright is None:
            return False
        loud = self._strength(0.12, step)
        if loud is None:
            return False
        calm = loud < 0.3 and not shake and self._pull_swings(step) < 0.3
        gravity = self._gravity(0.12 if calm else 0.7, step)
        if gravity is None:
            return False
        tilt = self._tilt(gravity)
        length = float(np.linalg.norm(gravity))
        if tilt is None:
            return False
        if self.state is MotionState.TURNED:
            self._upright_cells = self._upright_cells + 1 if tilt < BACK_DEG and (calm or length > 0.5) else 0
            if self._seconds(self._upright_cells, step) >= 0.06:
                self._enter(MotionState.SHAKEN if shake else MotionState.CARRIED, t, tilt)
                return True
            return False
        if calm:
            over = tilt > TURNED_DEG and 0.6 < length < 1.5
        else:
            # while it is swung violently, the mean of a few swings says nothing of gravity
            swung = self._strength(0.7, step)
            over = tilt > 115.0 and 0.5 < length < 1.6 and swung is not None and swung < 1.3
        self._over_cells = self._over_cells + 1 if over else 0
        if self._seconds(self._over_cells, step) >= 0.05:
            self._enter(MotionState.TURNED, t, tilt)
            return True
        return False

    def _pull_swings(self, step: float) -> float:
        """Return how the strength of what is felt (g) spread over 0.4 s: little where a hand only turns it."""
        last = self._window[-max(3, round(0.4 / step)) :]
        return float(np.sqrt(np.einsum("ij,ij->i", last, last)).std())

    def _falls(self, t: float, step: float, mean: FloatArray, peak: float) -> bool:
        """Tell a free fall that ends in a blow, or lasts."""
        if float(np.linalg.norm(mean)) < 0.4:
            if self._fall_t is None:
                self._fall_t, self._fall = t, []
            self._fall.append(mean)
            self._after_fall = 0
        elif self._fall_t is not None:
            self._after_fall += 1
            if self._seconds(self._after_fall, step) > 0.06:
                self._fall_t = None
        # a hand that shakes it is weightless for moments, but never evenly so, and no blow ends it
        flight = self._fall[1:] if len(self._fall) > 3 else self._fall
        if self._fall_t is None or len(flight) < 3:
            return False
        even = float(np.abs(np.diff(np.asarray(flight), axis=0)).max())
        fell = self._seconds(len(flight), step)
        hit = self._after_fall > 0 and (
            (fell >= 0.04 and even < 0.12 and peak > 8.0) or (fell >= 0.10 and even < 0.08 and peak > 4.0)
        )
        if hit or (fell >= 0.15 and even < 0.08):
            began, self._fall_t = self._fall_t, None
            self._pull = None
            self._enter(MotionState.DROPPED, began)
            return True
        return False

    def _touches_down(self, t: float, step: float) -> bool:
        """Tell that it stands: quiet, and upright or nearly so."""
        # the noisier the sensor, the longer the look
        enough = 0.04 if self._expected < 0.004**2 else 0.12
        if self._seconds(self._quiet_cells, step) < enough or self._upright is None:
            return False
        gravity = self._gravity(0.12, step)
        if gravity is None:
            return False
        tilt = self._tilt(gravity)
        # a table is level where it was level before; a hand that is as still as a table seldom is
        long = self._seconds(self._quiet_cells, step) > 0.5
        if tilt is not None and tilt < (8.0 if long else 2.0):
            self._rest(t - enough - 0.08, step, MotionState.SET_DOWN)
            return True
        return False

    def _dropped(self, t: float, step: float) -> None:
        """Wait until it lies still, or until somebody has it in the hand again."""
        if self._seconds(self._quiet_cells, step) >= 0.2:
            self._rest(t, step)
        elif t - self.since > 1.5:
            self._enter(MotionState.SHAKEN if self._is_shake(step) else MotionState.CARRIED, t)
