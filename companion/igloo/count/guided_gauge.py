"""The gauge of the guided count: tempo, travel and direction of the hand, read from the samples themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from companion.igloo.count.features import CELL_S, CELLS
from companion.igloo.count.signal_validity import STANDARD_GRAVITY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import Samples

    FloatArray = NDArray[np.float64]

TEMPO_HZ = 5.0
TRAVEL_CM = 2.0
TEMPO_BOUNDS = (4.5, 5.5)
TRAVEL_BOUNDS = (1.2, 3.0)
LEAST_UPRIGHT = 0.85
"""The cosine of the angle between the motion and gravity."""
GAUGE_BLOCKS = 7
"""The gauge looks back over so many blocks: 1.1 s."""

HOLD_STILL = "Hold it upright and begin with the beat."
FASTER = "Faster: keep to the beat."
SLOWER = "Slower: keep to the beat."
WIDER = "Wider."
SMALLER = "Not so wide."
UPRIGHT = "Straight up and down."
GOOD = "Good, go on."


@dataclass(frozen=True, slots=True)
class Gauge:
    """What the hand does now: tempo, ``travel_cm`` (half of the whole way), ``upright`` 0…1, and what to change."""

    tempo_hz: float
    travel_cm: float
    upright: float
    hint: str

    @property
    def in_bounds(self) -> bool:
        """Tell whether this moment may be counted."""
        return self.hint == GOOD


RESTING = Gauge(0.0, 0.0, 0.0, HOLD_STILL)


def gauge(cells: FloatArray) -> Gauge:
    """Return what the hand does in cells (m, CELLS, 5), about a second of them.

    The shell's own travel follows from its acceleration and tempo: a / (2πf)².
    """
    motion = cells.reshape(-1, 5)[:, :3]
    pull = motion.mean(axis=0)
    motion = motion - pull
    n = len(motion)
    _, vectors = np.linalg.eigh(motion.T @ motion)
    axis = vectors[:, -1]
    signal = motion @ axis
    tempo = _tempo(signal)
    t = np.arange(n) * CELL_S
    wave = np.column_stack([np.sin(2 * np.pi * tempo * t), np.cos(2 * np.pi * tempo * t), np.ones(n)])
    part = np.linalg.lstsq(wave, signal, rcond=None)[0]
    # a mean over 10 ms swings a little less than what it is the mean of
    swing = float(np.hypot(part[0], part[1])) / float(np.sinc(tempo * CELL_S))
    travel = 100 * swing * STANDARD_GRAVITY / (2 * np.pi * tempo) ** 2
    upright = abs(float(axis @ pull)) / (float(np.linalg.norm(pull)) + 1e-9)
    return Gauge(tempo, travel, upright, _hint(tempo, travel, upright, swing))


def kept(cells: FloatArray) -> bool:
    """Tell whether most of a shake kept to the beat, given its blocks' cells (m, CELLS, 5)."""
    return len(cells) >= GAUGE_BLOCKS and float(in_bounds(cells).mean()) >= 0.5


class GaugeStream:
    """The gauge of a stream of samples; ``now`` is what the hand does, a tenth of a second ago at most."""

    def __init__(self) -> None:
        self.now = RESTING
        self._cells: FloatArray = np.zeros((0, 3))
        self._held: FloatArray = np.zeros((0, 3))

    def feed(self, samples: Samples) -> Gauge:
        """Take a run of samples in g; return the gauge."""
        if samples.gap_before or samples.overflow_before or not np.isfinite(samples.accel).all():
            self._cells, self._held, self.now = np.zeros((0, 3)), np.zeros((0, 3)), RESTING
            return self.now
        self._held = np.concatenate([self._held, samples.accel])
        whole = int(len(self._held) / (samples.rate_hz * CELL_S))
        if whole < 10:
            return self.now
        edges = np.round(np.arange(whole + 1) * samples.rate_hz * CELL_S).astype(np.int64)
        fresh = np.add.reduceat(self._held[: edges[-1]], edges[:-1], axis=0) / np.diff(edges)[:, None]
        self._held = self._held[edges[-1] :]
        self._cells = np.concatenate([self._cells, fresh])[-GAUGE_BLOCKS * CELLS :]
        if len(self._cells) == GAUGE_BLOCKS * CELLS:
            self.now = gauge(np.concatenate([self._cells, np.zeros((len(self._cells), 2))], axis=1))
        return self.now


def _hint(tempo: float, travel: float, upright: float, swing: float) -> str:
    """Return what to change first."""
    if swing < 0.15:
        return HOLD_STILL
    if tempo < TEMPO_BOUNDS[0]:
        return FASTER
    if tempo > TEMPO_BOUNDS[1]:
        return SLOWER
    if upright < LEAST_UPRIGHT:
        return UPRIGHT
    if travel < TRAVEL_BOUNDS[0]:
        return WIDER
    return SMALLER if travel > TRAVEL_BOUNDS[1] else GOOD


def _tempo(signal: FloatArray) -> float:
    """Return the strongest rhythm between 1 and 12 Hz, its peak found between the steps of the spectrum."""
    size = 1024
    power = np.abs(np.fft.rfft(signal * np.hanning(len(signal)), size)) ** 2
    step = 1 / (size * CELL_S)
    first, last = int(1.0 / step), int(12.0 / step)
    peak = first + int(np.argmax(power[first:last]))
    left, middle, right = power[peak - 1], power[peak], power[peak + 1]
    bend = left - 2 * middle + right
    return float((peak + (0.5 * (left - right) / bend if bend < 0 else 0.0)) * step)


def in_bounds(cells: FloatArray) -> NDArray[np.bool_]:
    """Tell of each block, given the cells (m, CELLS, 5) of blocks in a row, whether the motion was in bounds."""
    good = np.zeros(len(cells), dtype=np.bool_)
    for i in range(len(cells)):
        first = max(0, min(i - GAUGE_BLOCKS // 2, len(cells) - GAUGE_BLOCKS))
        good[i] = gauge(cells[first : first + GAUGE_BLOCKS]).in_bounds
    return good
