"""How fast a tapped balance swings: one frequency fitted to all ring-downs of a recording.

A Fourier transform of four seconds tells a frequency to a quarter of a hertz; one bead is a third of a percent. So the
swing is turned back by a first idea of its frequency, and a straight line is fitted to the phase that is left, one line
for all taps, each ring-down with its own beginning. What a stiffening blade adds grows with the square of the swing and
is fitted beside it, so the frequency is that of a swing that has nearly died.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from companion.igloo.balance.messages import CLIPPED, NO_TAP, SHORT, TOO_SLOW

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    ComplexArray = NDArray[np.complex128]

SWING_HZ: Final = (6.0, 45.0)
"""Where a balance can swing: below it hands move, above it tables and plates ring."""
LEAST_RATE_HZ: Final = 150.0
WORKING_HZ: Final = 400.0
TURNS: Final = 0.8
"""The width of the filter around the swing, as the standard deviation of its window in turns."""
CLEAR: Final = 8.0
"""A ring-down is fitted as long as it stands so far above the noise."""
BESIDE: Final = (0.55, 1.7)
"""Where, as parts of the frequency, the noise beside the swing is measured."""
STIFFER: Final = 4e-4
"""How much a blade changes the frequency at the swing of a tap, as a part of it: what is believed beforehand."""
PHASE_RAD: Final = 0.02
"""How far the phase of a good swing strays from its line, a sample, as neighbours stray together."""
LEAST_CHANGE: Final = 0.08
"""A change of the swing by less than this part is no tap."""
LEAST_TURNS: Final = 4.0
"""A ring-down of fewer turns tells nothing."""


@dataclass(frozen=True, slots=True)
class Ringdown:
    """One frequency, its standard error (Hz), and how the swing was.

    ``error_hz``: as if whatever makes the phase stray did so anew each turn; ``strays``: how much further apart the
    taps are than that, as a factor (0: there was one tap); ``apart_hz``: the standard error by the taps alone.
    ``damping``: of the critical one. ``taps``: ring-downs that were fitted, ``seconds`` of them together. ``rest``:
    how far the phase strays from its line, rad. ``across``: what swings across with it, along the sensor's three axes,
    as parts of it; ``across_error``: its standard error in each of two directions. ``swing_g``: how far it swung, g.
    ``why``: one sentence where there is no frequency.
    """

    frequency_hz: float = 0.0
    error_hz: float = 0.0
    damping: float = 0.0
    taps: int = 0
    seconds: float = 0.0
    rest: float = 0.0
    across: tuple[float, ...] = (0.0, 0.0, 0.0)
    across_error: float = 0.0
    swing_g: float = 0.0
    strays: float = 0.0
    apart_hz: float = 0.0
    why: str = ""


def ringdown(accel: FloatArray, rate_hz: float, near_hz: float | None = None) -> Ringdown:
    """Fit the swing of a tapped balance; ``accel`` (n, 3) in g at ``rate_hz``; ``near_hz``: where it is looked for."""
    if rate_hz < LEAST_RATE_HZ:
        return Ringdown(why=TOO_SLOW)
    if len(accel) < 1.5 * rate_hz:
        return Ringdown(why=SHORT)
    # Not the median: it jumps by a whole step of the sensor, which turns what is up by half a degree.
    rest = accel.mean(axis=0)
    pull = float(np.linalg.norm(rest))
    up = rest / pull if pull > 0 else np.array([0.0, 0.0, 1.0])
    vertical = (accel - rest) @ up
    if np.abs(vertical).max() > 15.0:
        return Ringdown(why=CLIPPED)
    across = (accel - rest) - np.outer(vertical, up)
    signal, rate = _slower(np.column_stack([vertical, across]), rate_hz)
    first = _peak(signal[:, 0], rate, near_hz)
    if first is None:
        return Ringdown(why=NO_TAP)
    found = Ringdown(why=NO_TAP)
    for _ in range(3):
        found = _fitted(signal, rate, first)
        if found.why:
            return found
        if abs(found.frequency_hz - first) < 1e-4 * first:
            break
        first = found.frequency_hz
    return found


def swings_at(accel: FloatArray, rate_hz: float) -> float | None:
    """Return about how fast the platform swings in a second or less, Hz, None where nothing swings; ``accel`` in g."""
    rest = accel.mean(axis=0)
    signal, rate = _slower(((accel - rest) @ (rest / max(1e-6, float(np.linalg.norm(rest)))))[:, None], rate_hz)
    return _peak(signal[:, 0], rate, None)


def _slower(signal: FloatArray, rate_hz: float) -> tuple[FloatArray, float]:
    """Return the means of as many samples as leave some 400 a second."""
    each = max(1, int(rate_hz / WORKING_HZ))
    n = len(signal) // each
    return signal[: n * each].reshape(n, each, -1).mean(axis=1), rate_hz / each


def _peak(swing: FloatArray, rate: float, near_hz: float | None) -> float | None:
    """Return the frequency at which most swings, or None where nothing stands above the rest."""
    size = 1 << int(np.ceil(np.log2(8 * len(swing))))
    power = np.abs(np.fft.rfft((swing - swing.mean()) * np.hanning(len(swing)), size)) ** 2
    hz = np.fft.rfftfreq(size, 1 / rate)
    low, high = SWING_HZ if near_hz is None else (0.7 * near_hz, 1.3 * near_hz)
    inside = (hz > low) & (hz < min(high, 0.45 * rate))
    if not inside.any():
        return None
    at = int(np.flatnonzero(inside)[np.argmax(power[inside])])
    return float(hz[at]) if power[at] > 30 * float(np.median(power[inside])) else None


def _turned_back(swing: FloatArray, rate: float, hz: float) -> ComplexArray:
    """Return amplitude and phase of a swing against one of ``hz``, through a bell-shaped window of some turns."""
    t = np.arange(len(swing)) / rate
    width = TURNS * rate / hz
    half = int(3 * width) + 1
    window = np.exp(-0.5 * (np.arange(-half, half + 1) / width) ** 2)
    window /= window.sum()
    turned: ComplexArray = np.convolve(2 * swing * np.exp(-2j * np.pi * hz * t), window, mode="same")
    return turned


def _parts(turned: ComplexArray, rate: float, hz: float, quiet: float) -> list[slice]:
    """Return the ring-downs: from where a tap's own push is forgotten to where the next begins or noise takes over.

    A tap is where the swing, amplitude and phase together, is suddenly another: a light balance still swings when it
    is tapped again, and a tap may as well stop it.
    """
    turn = rate / hz
    reach = int(2.5 * TURNS * turn) + 1
    envelope = np.abs(turned)
    before, after = turned[: -2 * reach], turned[2 * reach :]
    clear = np.abs(before) > CLEAR * quiet
    if clear.sum() < LEAST_TURNS * turn:
        return []
    ratio = after / before
    calm = clear
    for _ in range(3):
        usual = np.exp(np.median(np.log(np.abs(ratio[calm]))) + 1j * np.median(np.angle(ratio[calm])))
        jump = np.abs(after - before * usual) / np.maximum(np.abs(before), np.abs(after))
        calm = clear & (jump <= np.median(jump[calm]))
    floor = max(LEAST_CHANGE, 4 * float(np.median(jump[calm])))
    sudden = np.flatnonzero((jump > floor) & (np.maximum(np.abs(before), np.abs(after)) > CLEAR * quiet))
    found = []
    edges = [0, *(sudden + reach), len(envelope)]
    for last, first in pairwise(edges):
        # Centres of a comparison across a tap lie up to `reach` beside it, so what is between two taps is free of both.
        begin, stop = int(last), int(first) if first < len(envelope) else len(envelope) - reach
        live = np.flatnonzero(envelope[begin:stop] < CLEAR * quiet)
        if len(live):
            stop = begin + int(live[0])
        if stop - begin > LEAST_TURNS * turn:
            found.append(slice(begin, stop))
    return found


def _fitted(signal: FloatArray, rate: float, hz: float) -> Ringdown:
    """Fit one frequency to all ring-downs that a first idea of it shows."""
    turned = _turned_back(signal[:, 0], rate, hz)
    envelope = np.abs(turned)
    beside = (np.abs(_turned_back(signal[:, 0], rate, hz * other)) for other in BESIDE)
    parts = _parts(turned, rate, hz, float(min(np.quantile(one, 0.3) for one in beside)))
    if not parts:
        return Ringdown(why=NO_TAP)
    rows, phases, weights, owner = [], [], [], []
    mean_square = float(np.mean(np.concatenate([envelope[part] for part in parts]) ** 2))
    for number, part in enumerate(parts):
        a = envelope[part]
        t = np.arange(len(a)) / rate
        stiff = np.cumsum(a**2 / mean_square) / rate
        rows.append(np.column_stack([t, stiff]))
        phases.append(np.unwrap(np.angle(turned[part])))
        weights.append(a)
        owner.append(np.full(len(a), number))
    x, y, w, who = np.vstack(rows), np.concatenate(phases), np.concatenate(weights), np.concatenate(owner)
    slope, widened, left = _common_line(x, y, w, who, len(parts), hz)
    own = [who == number for number in range(len(parts))]
    times = [x[one, 0] for one in own]
    each = np.array([_slope(t, y[one] - slope[1] * x[one, 1], w[one]) for t, one in zip(times, own, strict=True)])
    decay = np.array([_slope(t, np.log(w[one]), w[one]) for t, one in zip(times, own, strict=True)])
    share = np.array([float(w[one] ** 2 @ (t - t.mean()) ** 2) for t, one in zip(times, own, strict=True)])
    share /= share.sum()
    scatter = float(np.sqrt(share @ (each - share @ each) ** 2 / max(1, len(parts) - 1)))
    seconds = sum(part.stop - part.start for part in parts) / rate
    # Neighbours stray together, as far as the filter reaches: so many of them are worth one.
    independent = max(1.0, seconds * hz / TURNS)
    line = left / (np.sqrt(independent) * float(np.concatenate([t - t.mean() for t in times]).std()))
    frequency = hz + float(slope[0]) / (2 * np.pi)
    across, across_error = _across(signal, rate, hz, parts, independent)
    return Ringdown(
        frequency_hz=frequency,
        error_hz=widened * line / (2 * np.pi),
        strays=scatter / max(line, 1e-12),
        apart_hz=scatter / (2 * np.pi),
        damping=-float(share @ np.array(decay)) / (2 * np.pi * frequency),
        taps=len(parts),
        seconds=float(seconds),
        rest=left,
        across=across,
        across_error=across_error,
        swing_g=float(max(envelope[part].max() for part in parts)),
    )


def _across(
    signal: FloatArray, rate: float, hz: float, parts: list[slice], independent: float
) -> tuple[tuple[float, ...], float]:
    """Return what swings across with the swing, along three axes, as parts of it; and the standard error."""
    inside = np.concatenate([np.arange(part.start, part.stop) for part in parts])
    up, *axes = (_turned_back(one, rate, hz)[inside] for one in signal.T)
    size = float(np.mean(np.abs(up) ** 2))
    with_it = tuple(float(np.mean((np.conj(up) * one).real)) / size for one in axes)
    beside = (
        sum(np.mean(np.abs(_turned_back(one, rate, hz * other)[inside]) ** 2) for one in signal.T[1:])
        for other in BESIDE
    )
    # Two directions, each with a part that swings along and one that does so a quarter of a turn later.
    return with_it, float(np.sqrt(min(beside) / 4 / size / independent))


def _common_line(
    x: FloatArray, y: FloatArray, w: FloatArray, who: NDArray[np.int64], parts: int, hz: float
) -> tuple[FloatArray, float, float]:
    """Return slopes common to all parts and what is left (rad), by weighted least squares.

    Between them: how much less is known of the first slope because the second is fitted beside it, as a factor.
    """
    begin = (who[:, None] == np.arange(parts)[None]).astype(float)
    design = np.column_stack([x, begin])
    w = w / np.sqrt(np.mean(w**2))
    known = np.zeros((1, design.shape[1]))
    known[0, 1] = PHASE_RAD / (STIFFER * 2 * np.pi * hz)
    rows, values = np.vstack([design * w[:, None], known]), np.append(y * w, 0.0)
    solved = np.linalg.lstsq(rows, values, rcond=None)[0]
    left = float(np.sqrt(np.average((y - design @ solved) ** 2, weights=w**2)))
    normal = rows.T @ rows
    others = [0, *range(2, len(normal))]
    both, alone = (float(np.linalg.inv(one)[0, 0]) for one in (normal, normal[np.ix_(others, others)]))
    return solved[:2], float(np.sqrt(both / alone)), left


def _slope(t: FloatArray, y: FloatArray, w: FloatArray) -> float:
    """Return the slope of a weighted straight line."""
    total = (w**2).sum()
    mt, my = float((w**2 @ t) / total), float((w**2 @ y) / total)
    return float(w**2 @ ((t - mt) * (y - my)) / max(1e-12, float(w**2 @ (t - mt) ** 2)))
