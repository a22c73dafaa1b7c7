"""The guided count: a motion that the page shows and times, a gauge that says how well it is kept, and when to stop.

Up and down, five times a second, 2 cm each way: of the motions compared in the README this one tells much and is easily
shown. Tempo and amplitude are read from the samples themselves; only moments in bounds are counted. What was heard is
cut into pieces of about 4 s, as long as the shakes of the calibration, and the pieces are joined with regard to
the errors they share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from companion.igloo.features import BLOCK_S, CELL_S, CELLS, ROW, FeatureStream, summarise, tier_of
from companion.igloo.soundness import STANDARD_GRAVITY, TOO_SLOW, unsound
from companion.ports import CountPosterior, DeviceKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from companion.ports import Samples

    FloatArray = NDArray[np.float64]
    Opinion = Callable[[FloatArray, float], tuple[float, ...]]

TEMPO_HZ = 5.0
TRAVEL_CM = 2.0
TEMPO_BOUNDS = (4.5, 5.5)
TRAVEL_BOUNDS = (1.2, 3.0)
LEAST_UPRIGHT = 0.85
"""The cosine of the angle between the motion and gravity."""
GAUGE_BLOCKS = 7
"""The gauge looks back over so many blocks: 1.1 s."""
PIECE_BLOCKS = 24
FEWEST_BLOCKS = 12
"""A last piece may be this short."""
SURE_P = 0.97
LONGEST_S = 30.0
"""So much motion in bounds is used; what is not sure by then will not be."""

HOLD_STILL = "Hold it upright and begin with the beat."
FASTER = "Faster: keep to the beat."
SLOWER = "Slower: keep to the beat."
WIDER = "Wider."
SMALLER = "Not so wide."
UPRIGHT = "Straight up and down."
GOOD = "Good, go on."
SURE = "This is sure enough."
NOT_SURE = "Half a minute did not make it sure: this igloo needs more calibration shakes with the beat."
LOST = "Samples were lost; go on."


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


@dataclass(frozen=True, slots=True)
class GuidedState:
    """How the guided count goes: the gauge, ``seconds`` in bounds, the answer so far, whether to stop and why."""

    gauge: Gauge
    seconds: float
    posterior: CountPosterior | None
    done: bool
    why: str


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


class GuidedCount:
    """Counts the beads of one igloo while a hand follows the beat, until the answer is sure or half a minute is over.

    ``opinion(features, tier)`` gives the probabilities of 2 … 13 beads for pieces (k, f) of the same igloo in the same
    hand, as :meth:`companion.igloo.calibrate.Calibration.guided_opinion` does.
    """

    def __init__(self, opinion: Opinion, key: str = "", kind: DeviceKind = DeviceKind.REAL) -> None:
        self._opinion = opinion
        self._key, self._kind = key, kind
        self._stream: FeatureStream | None = None
        self._lately: list[FloatArray] = []
        self._rows: list[FloatArray] = []
        self._cells: list[FloatArray] = []
        self._pieces: list[FloatArray] = []
        self._raw: list[FloatArray] = []
        self._posterior: CountPosterior | None = None
        self._used = 0
        self._done = ""
        self._lost = ""

    @property
    def seconds(self) -> float:
        """How much motion in bounds was heard."""
        return (len(self._pieces) * PIECE_BLOCKS + len(self._rows)) * BLOCK_S

    def feed(self, samples: Samples) -> GuidedState | None:
        """Take a run of samples; return how it goes when a block (0.16 s) is complete."""
        rate = samples.rate_hz
        accel = np.asarray(samples.accel, dtype=np.float64)
        tier = tier_of(rate)
        why = TOO_SLOW if tier is None else unsound(accel, rate) if not np.isfinite(accel).all() else ""
        if why or tier is None:
            return self._state(Gauge(0.0, 0.0, 0.0, HOLD_STILL), why)
        if self._stream is None or abs(self._stream.rate_hz / rate - 1) > 0.01 or self._stream.tier != tier:
            self._stream = FeatureStream(rate)
            self._lately = []
        if samples.gap_before or samples.overflow_before:
            self._stream.restart()
            self._lately, self._raw = [], []
            self._lost = LOST
        self._raw.append(accel)
        if not self._stream.feed(accel):
            return None
        heard, self._raw = np.concatenate(self._raw), []
        wrong = unsound(heard, rate)
        now = Gauge(0.0, 0.0, 0.0, HOLD_STILL)
        for row, cells in zip(self._stream.rows, self._stream.cells, strict=True):
            self._lately = [*self._lately[-(GAUGE_BLOCKS - 1) :], cells]
            if len(self._lately) < GAUGE_BLOCKS:
                continue
            now = gauge(np.asarray(self._lately))
            if now.in_bounds and not wrong and not self._done:
                self._take(row, cells, tier)
        self._stream.forget(0)
        lost, self._lost = self._lost, ""
        return self._state(now, wrong or lost)

    def _take(self, row: FloatArray, cells: FloatArray, tier: float) -> None:
        """Count one block; every half piece ask for an opinion."""
        self._rows.append(row)
        self._cells.append(cells)
        n = len(self._rows)
        if n % FEWEST_BLOCKS:
            return
        piece = summarise(np.asarray(self._rows).reshape(-1, ROW), np.asarray(self._cells).reshape(-1, CELLS, 5))
        pieces = [*self._pieces, piece]
        p = self._opinion(np.asarray(pieces), tier)
        if n == PIECE_BLOCKS:
            self._pieces, self._rows, self._cells = pieces, [], []
        sure = max(p) >= SURE_P and len(pieces) > 1
        self._posterior = CountPosterior("counted" if sure else "more", p, self.seconds, "", self._key, self._kind)
        if sure:
            self._done = SURE
        elif self.seconds >= LONGEST_S:
            self._posterior = replace(self._posterior, state="counted", why=NOT_SURE)
            self._done = NOT_SURE

    def _state(self, now: Gauge, why: str) -> GuidedState:
        return GuidedState(now, self.seconds, self._posterior, bool(self._done), self._done or why)
