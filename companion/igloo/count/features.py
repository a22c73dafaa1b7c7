"""From acceleration to what tells the number of beads: numbers that add up block by block, and a summary of them.

A block is 0.16 s. What a block gives is a row of sums (energies in bands, histograms of power over several times of
smoothing, of whitened power, of onsets and of the pauses between them) and sixteen *cells* of 10 ms with the hand's
motion and the beads' power. Rows may be added in any choice, so a shake is summarised at any moment from the blocks
that were shaking, and a stream gives exactly what a file gives.

Most features are ratios. How strong a bead sounds depends on the bead, the shell and the sensor; how *dense* its
sounds are, and how their density follows the hand, does so less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

BLOCK_S = 0.16
CELLS = 16
CELL_S = BLOCK_S / CELLS
TIERS = (3200.0, 1600.0, 800.0)
"""The rates with a model of their own; a rate in between uses the next lower one."""
LOWEST_HZ = 760.0
"""Below this the beads cannot be counted (measured: chance at 100 Hz)."""
WITHIN = 0.06
"""How far a sensor's true rate may be from its nominal one."""

BANDS = (40.0, 80.0, 140.0, 210.0, 290.0, 370.0, 480.0, 600.0, 740.0, 880.0, 1020.0, 1160.0, 1300.0, 1440.0)
SMOOTH_S = (1 / 3200, 4 / 3200, 16 / 3200, 64 / 3200)
LOW_BIN, BINS, PER_OCTAVE = -17, 56, 2
"""Histograms of power: half an octave a bin, from 2^-17 g²."""
GAP_EDGES_S = (0.0, 0.0012, 0.002, 0.0032, 0.005, 0.008, 0.0125, 0.02, 0.032, 0.05, 0.08, 9.0)
LAGS = 16
ORDER = 10
QUANTILES = (0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99, 0.998)
LEVELS = (-2.0, 0.0, 2.0, 4.0, 6.0)
"""Onsets are counted above these levels over the mean power, in octaves."""
_N_BANDS = len(BANDS) - 1
_N_HISTS = len(SMOOTH_S) + 3  # power by smoothing, whitened power twice, onsets


def _layout() -> dict[str, slice]:
    """Return where each kind of sum stands in a row."""
    sizes = {
        "samples": 1,
        "bands": _N_BANDS,
        "log_bands": _N_BANDS,
        "hists": _N_HISTS * BINS,
        "moments": 3 * (len(SMOOTH_S) + 2),
        "gaps": len(GAP_EDGES_S) - 1,
        "lags": LAGS + 1,
        "white": 1,
        "sound": 6,
        "mean": 3,
    }
    layout, at = {}, 0
    for name, size in sizes.items():
        layout[name] = slice(at, at + size)
        at += size
    return layout


LAYOUT = _layout()
ROW = LAYOUT["mean"].stop


def tier_of(rate_hz: float) -> float | None:
    """Return the rate whose model serves a true rate, or None where beads cannot be counted.

    >>> tier_of(3110.0), tier_of(2000.0), tier_of(100.0)
    (3200.0, 1600.0, None)
    """
    for tier in TIERS:
        if rate_hz >= tier * (1 - WITHIN):
            return tier
    return None


class FeatureStream:
    """Turns samples of one unbroken run, in any portions, into blocks of sums.

    ``rate_hz`` is the true rate; its ``tier`` follows from it where none is given. ``rows`` has shape (blocks, ROW),
    ``cells`` (blocks, CELLS, 5): acceleration in g and the mean power in g² of the beads' sounds, plain and whitened.
    ``sounds`` are the sounds and the acceleration themselves. A break in the samples needs
    :meth:`restart`.
    """

    def __init__(self, rate_hz: float, tier: float | None = None) -> None:
        tier = tier or tier_of(rate_hz)
        if tier is None:
            raise ValueError(f"A rate of {rate_hz:.0f} Hz is too low to count beads.")
        self.rate_hz = rate_hz
        self.tier = tier
        self.block = round(BLOCK_S * rate_hz)
        self._edges = np.linspace(0, self.block, CELLS + 1).astype(np.int64)[:-1]
        self._cell_sizes = np.diff(np.append(self._edges, self.block))[:, None]
        self._smooth = [max(1, round(s * rate_hz)) for s in SMOOTH_S]
        self._slow = max(2, round(0.004 * rate_hz))
        self._fast = max(1, round(0.0009 * rate_hz))
        self._high = _high_pass(rate_hz, tier)
        self._window = np.hanning(self.block // 2 + 2)[1:-1]
        frequencies = np.fft.rfftfreq(len(self._window), 1 / rate_hz)
        self._bands = np.zeros((_N_BANDS, len(frequencies)))
        for i in range(_N_BANDS):
            if BANDS[i + 1] <= tier * 0.46:
                inside = (frequencies >= BANDS[i]) & (frequencies < BANDS[i + 1])
                self._bands[i, inside] = 1.0
        self._rows: list[FloatArray] = []
        self._cells: list[FloatArray] = []
        self._sounds: list[NDArray[np.float32]] = []
        self._pending: list[FloatArray] = []
        self._waiting = 0
        self._history: FloatArray | None = None

    @property
    def blocks(self) -> int:
        """How many blocks are complete."""
        return len(self._rows)

    @property
    def rows(self) -> FloatArray:
        """The sums so far."""
        return np.asarray(self._rows).reshape(-1, ROW)

    @property
    def cells(self) -> FloatArray:
        """The motion and the power so far."""
        return np.asarray(self._cells).reshape(-1, CELLS, 5)

    @property
    def sounds(self) -> list[NDArray[np.float32]]:
        """Sound and acceleration in g of each block, (samples, 6)."""
        return self._sounds[:]

    @property
    def waiting(self) -> int:
        """How many samples wait for their block to be complete."""
        return self._waiting

    def restart(self) -> None:
        """Drop the unfinished block and the filters' memory: the next samples do not follow the last."""
        self._pending, self._waiting, self._history = [], 0, None

    def forget(self, keep: int) -> None:
        """Drop all blocks but the last ``keep``."""
        cut = max(len(self._rows) - keep, 0)
        del self._rows[:cut], self._cells[:cut], self._sounds[:cut]

    def feed(self, accel: FloatArray) -> int:
        """Take samples (n, 3) in g; return how many blocks they completed."""
        self._pending.append(accel)
        self._waiting += len(accel)
        done = 0
        if self._waiting >= self.block:
            data = np.concatenate(self._pending)
            while len(data) >= self.block:
                self._one(data[: self.block])
                data = data[self.block :]
                done += 1
            self._pending, self._waiting = [data], len(data)
        return done

    def _one(self, accel: FloatArray) -> None:
        """Make a row and its cells of one block."""
        taps = len(self._high)
        before = self._history if self._history is not None else np.repeat(accel[:1], taps - 1, axis=0)
        joined = np.concatenate([before, accel])
        self._history = joined[len(joined) - (taps - 1) :]
        sound = np.stack([np.convolve(joined[:, axis], self._high, mode="valid") for axis in range(3)], axis=1)
        power = np.einsum("ij,ij->i", sound, sound)
        row = np.zeros(ROW)
        row[LAYOUT["samples"]] = len(accel)
        self._spectrum(accel, row)
        lags = _correlate(sound, LAGS)
        row[LAYOUT["lags"]] = lags
        white = _whiten(sound, lags)
        row[LAYOUT["white"]] = white.sum()
        self._histograms(power, white, row)
        row[LAYOUT["sound"]] = (sound.T @ sound)[np.triu_indices(3)]
        row[LAYOUT["mean"]] = accel.sum(axis=0)
        cells = np.empty((CELLS, 5))
        cells[:, :3] = np.add.reduceat(accel, self._edges, axis=0) / self._cell_sizes
        cells[:, 3:4] = np.add.reduceat(power[:, None], self._edges, axis=0) / self._cell_sizes
        longer = np.concatenate([np.repeat(white[:1], len(accel) - len(white)), white])
        cells[:, 4:] = np.add.reduceat(longer[:, None], self._edges, axis=0) / self._cell_sizes
        self._rows.append(row)
        self._cells.append(cells)
        self._sounds.append(np.concatenate([sound, accel], axis=1, dtype=np.float32))

    def _spectrum(self, accel: FloatArray, row: FloatArray) -> None:
        """Add the energy in bands, and its logarithm, of three windows that overlap by half."""
        width = len(self._window)
        for start in (0, width // 2, len(accel) - width):
            part = accel[start : start + width]
            spectrum = np.fft.rfft((part - part.mean(axis=0)) * self._window[:, None], axis=0)
            energy = self._bands @ (spectrum.real**2 + spectrum.imag**2).sum(axis=1) / (width * width)
            row[LAYOUT["bands"]] += energy / 3
            row[LAYOUT["log_bands"]] += np.log2(energy + 1e-12) / 3

    def _histograms(self, power: FloatArray, white: FloatArray, row: FloatArray) -> None:
        """Add histograms and moments of power at several smoothings, and the onsets."""
        hists = row[LAYOUT["hists"]].reshape(_N_HISTS, BINS)
        moments = row[LAYOUT["moments"]].reshape(-1, 3)
        series = [_boxcar(power, size) for size in self._smooth] + [white, _boxcar(white, self._smooth[1])]
        for i, values in enumerate(series):
            hists[i] = _histogram(values)
            moments[i] = values.mean(), (values**2).mean(), np.sqrt(values).mean()
        fast, slow = _boxcar(white, self._fast), _boxcar(white, self._slow)
        lead = self._slow
        now, past = fast[lead:], slow[: len(slow) - lead]
        n = min(len(now), len(past))
        now, past = now[:n], past[:n]
        middle = now[2:-2]
        top = (middle >= now[1:-3]) & (middle > now[3:-1]) & (middle >= now[:-4]) & (middle > now[4:])
        onset = np.flatnonzero(top & (middle > 3.0 * past[2:-2] + 1e-5))
        hists[-1] = _histogram(middle[onset])
        gaps = np.diff(onset) / self.rate_hz
        row[LAYOUT["gaps"]] = np.histogram(gaps, GAP_EDGES_S)[0]


def summarise(rows: FloatArray, cells: FloatArray) -> FloatArray:
    """Return the features (FEATURES,) of blocks: ``rows`` (m, ROW) and ``cells`` (m, CELLS, 5), m ≥ 1."""
    total = rows.sum(axis=0)
    blocks = len(rows)
    seconds = blocks * BLOCK_S
    parts: list[FloatArray] = [np.array([np.log2(seconds)])]

    bands = total[LAYOUT["bands"]] / blocks
    log_bands = total[LAYOUT["log_bands"]] / blocks
    log_of_mean = np.log2(bands + 1e-12)
    parts += [log_of_mean, log_of_mean - log_bands]

    moments = total[LAYOUT["moments"]].reshape(-1, 3) / blocks + 1e-12
    parts += [np.log2(moments[:, 1] / moments[:, 0] ** 2), np.log2(moments[:, 0] / moments[:, 2] ** 2)]
    level = np.log2(moments[:, 0])
    parts += [level[[0, 4]]]

    hists = total[LAYOUT["hists"]].reshape(_N_HISTS, BINS)
    reference = np.append(level, level[5])
    onsets = hists[-1].sum()
    for i in range(_N_HISTS):
        parts.append(_quantiles(hists[i], reference[i]))
    # the bins at and above a level over the mean, partly where the level cuts a bin
    centres = LOW_BIN + (np.arange(BINS) + 0.5) / PER_OCTAVE
    over = [float(hists[-1] @ np.clip((centres - level[5] - at) * PER_OCTAVE + 0.5, 0, 1)) for at in LEVELS]
    parts += [np.log2(np.array([onsets, *over]) / seconds + 0.5)]
    gaps = total[LAYOUT["gaps"]]
    parts += [(gaps + 0.2) / (gaps.sum() + 0.2 * len(gaps))]

    lags = total[LAYOUT["lags"]]
    parts += [lags[1:] / (lags[0] + 1e-9)]
    parts += [np.array([np.log2((total[LAYOUT["white"]][0] + 1e-9) / (lags[0] + 1e-9))])]
    parts.append(_directions(total, cells))
    parts.append(_motion(cells))
    return np.nan_to_num(np.concatenate(parts), nan=0.0, posinf=0.0, neginf=0.0)


def rhythm(cells: FloatArray) -> tuple[float, float, float]:
    """Return tempo (Hz), strength (g, root mean square) and turns a second of the hand in cells (m, CELLS, 5).

    The turns are swings through the mean of the strongest direction, with hysteresis; a shake has two a cycle.
    """
    motion = cells.reshape(-1, 5)[:, :3]
    motion = motion - _trend(motion)
    strength = float(np.sqrt((motion**2).sum(axis=1).mean()))
    main = _principal(motion)[0]
    signal = motion @ main
    limit = max(0.4 * float(signal.std()), 0.15)
    side = np.where(signal > limit, 1, np.where(signal < -limit, -1, 0))
    side = side[side != 0]
    turns = int((np.diff(side) != 0).sum())
    return _tempo(signal)[0], strength, turns / (len(motion) * CELL_S)


def _directions(total: FloatArray, cells: FloatArray) -> FloatArray:
    """Return how the sounds and the motion lie to each other and to gravity."""
    sound = np.zeros((3, 3))
    sound[np.triu_indices(3)] = total[LAYOUT["sound"]]
    sound = sound + np.triu(sound, 1).T
    sound /= np.trace(sound) + 1e-12
    up = total[LAYOUT["mean"]] / total[LAYOUT["samples"]]
    pull = float(np.linalg.norm(up))
    up = up / (pull + 1e-9)
    motion = cells.reshape(-1, 5)[:, :3]
    motion = motion - motion.mean(axis=0)
    moved = motion.T @ motion
    moved /= np.trace(moved) + 1e-12
    spread_sound = np.linalg.eigvalsh(sound)
    spread_motion = np.linalg.eigvalsh(moved)
    return np.array(
        [
            pull,
            up @ sound @ up,
            up @ moved @ up,
            np.sum(sound * moved),
            *spread_sound[1:],
            *spread_motion[1:],
        ]
    )


def _motion(cells: FloatArray) -> FloatArray:
    """Return the hand's rhythm and strength, and how the beads' power follows it."""
    flat = cells.reshape(-1, 5)
    motion = flat[:, :3] - _trend(flat[:, :3])
    axes = _principal(motion)
    main, second = motion @ axes[0], motion @ axes[1]
    # a direction has two ends: up where it leans to gravity, else where the swings are sharper
    pull = flat[:, :3].mean(axis=0)
    lean = float(axes[0] @ pull) / (float(np.linalg.norm(pull)) + 1e-9)
    if (lean if abs(lean) > 0.15 else float((main**3).mean())) < 0:
        main = -main
    scale = float(main.std()) + 1e-3
    tempo, sharp = _tempo(main)
    power = flat[:, 3]
    mean = float(power.mean()) + 1e-9
    relative = power / mean
    t = np.arange(len(main)) * CELL_S
    shape = [np.exp(-2j * np.pi * k * tempo * t) for k in (1, 2, 3, 4)]
    swing = [complex((wave * main).mean()) for wave in shape]
    beat = [complex((wave * relative).mean()) for wave in shape]
    # phases relative to the first swing, so that they do not depend on where the shake begins
    phase = np.angle(swing[0])
    turn = [np.exp(-1j * phase * k) for k in (1, 2, 3, 4)]
    wide = _boxcar(relative, 4)
    lagged = [float(np.mean((relative[k:] - 1) * (relative[:-k] - 1))) for k in (1, 2, 3, 5, 8)]
    variance = float(relative.var()) + 1e-6
    jerk = np.diff(motion, axis=0) / CELL_S
    speed = scale / (2 * np.pi * max(tempo, 0.8))
    return np.array(
        [
            np.log2(scale),
            np.log2(max(tempo, 0.5)),
            sharp,
            np.log2(float(second.std()) / scale + 1e-3),
            np.log2(speed),
            np.log2(speed / max(tempo, 0.8)),
            np.log2(float(np.sqrt((jerk**2).sum(axis=1).mean())) + 1e-3),
            float(np.mean((main / scale) ** 3)),
            float(np.mean((main / scale) ** 4)),
            *(np.log2(abs(s) / (abs(swing[0]) + 1e-4) + 1e-2) for s in swing[1:]),
            *(abs(b) for b in beat),
            *((b * c).real for b, c in zip(beat, turn, strict=True)),
            *((b * c).imag for b, c in zip(beat, turn, strict=True)),
            np.log2(mean) - 2 * np.log2(scale),
            np.log2(mean) - 2 * np.log2(speed),
            np.log2(variance),
            np.log2(float(wide.var()) / variance + 1e-3),
            *(value / variance for value in lagged),
            float(np.mean(np.abs(main) / scale * relative)),
            *_course(relative, tempo),
            *_course(flat[:, 4] / (float(flat[:, 4].mean()) + 1e-9), tempo),
        ]
    )


def _course(relative: FloatArray, tempo: float) -> list[float]:
    """Return how evenly power comes: quantiles over cells, and how much whole swings of the hand differ.

    Few beads hit now more, now less; of many the sum is steadier, and this hardly depends on the device.
    """
    low = np.sort(relative)
    log_low = np.log2(low + 1e-4)
    pick = [float(log_low[min(int(q * len(low)), len(low) - 1)]) for q in (0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99)]
    unevenness = []
    for per_cycle in (2, 1):
        swing = (np.arange(len(relative)) * (CELL_S * tempo * per_cycle)).astype(np.int64)
        whole = np.bincount(swing, weights=relative)[:-1]
        peaks = np.zeros(len(whole) + 1)
        np.maximum.at(peaks, swing, relative)
        if len(whole) < 2:
            unevenness += [0.0, 0.0, 0.0]
            continue
        mean = float(whole.mean()) + 1e-9
        next_to = float(np.mean((whole[1:] / mean - 1) * (whole[:-1] / mean - 1)))
        unevenness += [
            float(np.log2(whole.var() / mean**2 + 0.005)),
            next_to / (float(whole.var()) / mean**2 + 0.01),
            float(np.log2(float((peaks[:-1] / (whole / np.bincount(swing)[:-1] + 1e-9)).mean()) + 1e-3)),
        ]
    return [*pick, *unevenness]


def _high_pass(rate_hz: float, tier: float) -> FloatArray:
    """Return the taps that take the hand away (below some 100 Hz) and, over a tier's rate, what it never saw."""
    length = 2 * round(0.009 * rate_hz) + 1
    low = np.hanning(length + 2)[1:-1]
    taps = -low / low.sum()
    taps[length // 2] += 1.0
    if rate_hz > tier * (1 + WITHIN):
        cut = 0.45 * tier / rate_hz
        n = np.arange(length) - length // 2
        stop = 2 * cut * np.sinc(2 * cut * n) * np.hamming(length)
        taps = np.convolve(taps, stop / stop.sum(), mode="same")
    return np.asarray(taps)


def _boxcar(values: FloatArray, size: int) -> FloatArray:
    """Return means over ``size`` neighbours, shape (n - size + 1,)."""
    if size <= 1:
        return values
    sums = np.cumsum(np.concatenate([[0.0], values]))
    return np.asarray(np.maximum(sums[size:] - sums[:-size], 0.0) / size)


def _histogram(power: FloatArray) -> FloatArray:
    """Return how often each half octave of power occurs."""
    bins = ((np.log2(power + 1e-9) - LOW_BIN) * PER_OCTAVE).astype(np.int64)
    counted: FloatArray = np.bincount(np.clip(bins, 0, BINS - 1), minlength=BINS).astype(np.float64)
    return counted


def _quantiles(histogram: FloatArray, reference: float) -> FloatArray:
    """Return quantiles of a histogram in octaves over a reference."""
    total = histogram.sum()
    if total <= 0:
        return np.zeros(len(QUANTILES))
    rising = np.concatenate([[0.0], np.cumsum(histogram)]) / total
    edges = LOW_BIN + np.arange(BINS + 1) / PER_OCTAVE
    # a strictly rising curve has an inverse
    rising += np.arange(BINS + 1) * 1e-9
    return np.interp(QUANTILES, rising, edges) - reference


def _correlate(sound: FloatArray, lags: int) -> FloatArray:
    """Return the autocorrelation of the sounds at 0 … lags, summed over the axes."""
    return np.array([float(np.einsum("ij,ij->", sound[k:], sound[: len(sound) - k])) for k in range(lags + 1)])


def _whiten(sound: FloatArray, lags: FloatArray) -> FloatArray:
    """Return the power left after linear prediction of the ringing (Levinson and Durbin), shape (n - ORDER,)."""
    error = lags[0] * 1.001 + 1e-6
    weights = np.zeros(ORDER)
    for i in range(ORDER):
        reflect = (lags[i + 1] - weights[:i] @ lags[i:0:-1]) / error
        weights[:i] -= reflect * weights[:i][::-1]
        weights[i] = reflect
        error *= 1 - reflect * reflect
    taps = np.concatenate([[1.0], -weights])
    rest = np.stack([np.convolve(sound[:, axis], taps, mode="valid") for axis in range(3)], axis=1)
    return np.asarray(np.einsum("ij,ij->i", rest, rest))


def _trend(motion: FloatArray) -> FloatArray:
    """Return the slow part of motion (n, 3): the mean, or where there is a second or more, a moving mean over 1 s."""
    n = len(motion)
    width = round(1.0 / CELL_S)
    if n < 2 * width:
        return np.broadcast_to(motion.mean(axis=0), motion.shape)
    padded = np.concatenate([np.repeat(motion[:1], width // 2, 0), motion, np.repeat(motion[-1:], width // 2, 0)])
    sums = np.cumsum(np.concatenate([np.zeros((1, 3)), padded]), axis=0)
    return np.asarray((sums[width:] - sums[:-width])[:n] / width)


def _principal(motion: FloatArray) -> FloatArray:
    """Return the directions of motion (3, 3), strongest first, one a row."""
    _, vectors = np.linalg.eigh(motion.T @ motion)
    return np.asarray(vectors.T[::-1])


def _tempo(signal: FloatArray) -> tuple[float, float]:
    """Return the strongest rhythm between 1.2 and 10 Hz, and what part of the motion it makes."""
    spectrum = np.abs(np.fft.rfft(signal * np.hanning(len(signal)), 2048)) ** 2
    step = 1 / (2048 * CELL_S)
    first, last = int(1.2 / step), int(10.0 / step)
    peak = first + int(np.argmax(spectrum[first:last]))
    width = max(int(1.0 / (len(signal) * CELL_S) / step), 1)
    near = spectrum[max(peak - width, 0) : peak + width + 1].sum()
    return peak * step, float(near / (spectrum.sum() + 1e-12))


FEATURES = len(summarise(np.ones((3, ROW)), np.random.default_rng(0).normal(size=(3, CELLS, 5)) ** 2))
"""How many numbers :func:`summarise` gives."""
