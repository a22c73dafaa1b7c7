"""Whether samples can be what they claim to be, each failing in one constant sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from companion.igloo.count.features import LOWEST_HZ

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

TOO_SLOW = "The sample rate is too low to count beads: at least 800 Hz is needed, 3200 Hz is best."
NOT_NUMBERS = "Some accelerations are not numbers."
NOT_THREE = "The accelerations do not have three axes."
DEAD_AXIS = "One axis of the sensor never changes: it is dead or not connected."
REPEATED = "The sensor repeats its values: it or its wiring is faulty."
NOISE = "This is noise: nothing moves to and fro in it."
AT_LIMIT = "The sensor was at its limit for too much of the time."
WRONG_SCALE = "The accelerations are not in g: an igloo feels about 1 g on average."
WRONG_RATE = "No hand shakes like this: the stated sample rate cannot be right."
METRES = "The values were in m/s² and were converted to g."
STUCK_BIT = "One bit of the sensor’s values never changes: it or its wiring is faulty."
LEAPS = "The values leap over a part of their range: the sensor or its wiring is faulty, or no hand moved it."
SHUFFLED = "The samples are not in the order in which they were felt."
MADE_UP = "Between the measured samples others were made up: give the samples as the sensor gave them."
NOT_ONE_G = "At rest this sensor does not feel 1 g: its scale is wrong."
NO_BEADS = "Nothing rattles here: no bead can be heard hitting the shell."
HUM = "This is the hum of a motor or of the mains, not a hand."
JERKS = "No hand moves like this: it jerks from one acceleration to another."
LOOP = "The same piece comes again and again: no shake repeats itself like that."

STANDARD_GRAVITY = 9.80665
DEAD_PART = 0.01
"""An axis that changes by less than this part of what another does is dead; in simulated shakes none is below 0.1."""
STRONG_G = 0.5
BEYOND_ANY_G = 1e6
REPEATED_PART, EMPTY_PART = 0.25, 0.1
"""Of samples in motion, so many that are just as the one before, or nothing at all; of simulated ones 0.01 and none."""
MADE_UP_PART, STUCK_PART = 0.2, 0.001
"""Of simulated shakes at most 0.004, and no bit is less often set or clear than in 0.077 of the samples."""
LEAP_PART, LONG_LEAP_PART, FEWEST_LEAPS = 0.3, 0.1, 12
"""The widest gap between the values of an axis, as a part of their range: of simulated pieces of 0.16 s at most 0.165,
of shakes of 4 s at most 0.014."""
NOISE_SAMPLES, NOISE_MEANS, NOISE_RATIO = 32, 14, 1.25
"""The spread of means over so many samples, of so many means, against that of noise: of 1619 pieces of stored shakes
the least was 1.36, of longer ones 2.4; noise has 1."""
RHYTHM_S = 1.5
SLOWEST_HZ, FASTEST_HZ = 0.7, 9.5
WIDEST_M = 0.25
"""The rhythm of 99.5 % of simulated shakes is below 8.4 Hz, and their travel below 22 cm."""
ONE_G = (0.67, 1.6)
"""A resting sensor feels 1 g, its gains up to 10 % and its offsets up to 0.15 g off; half and double lie beyond."""
AT_REST_G = 0.03
"""The spread of motion in a block, up to which it rests or is held still."""
LEAST_G, MOST_G = 0.2, 3.0
"""What a sensor in g feels on average over a shake."""
MOST_AT_FIRST_G, STEADY_S = 4.5, 2.0
"""The most while it has lasted for less than so long."""
PIECE_S = 0.16
FEWEST_SAMPLES = 320
"""Shorter pieces are too short for what is told of bits and of the order of samples."""
CLIPPED_PART = 0.12
"""More than this at the limit, on an axis, leaves too little to go by."""


def unsound(accel: FloatArray, rate_hz: float) -> str:
    """Return why samples (n, 3) in g cannot be used for counting, or an empty string."""
    if accel.ndim != 2 or accel.shape[1] != 3:
        return NOT_THREE
    if rate_hz < LOWEST_HZ:
        return TOO_SLOW
    if not np.isfinite(accel).all():
        return NOT_NUMBERS
    if np.abs(accel).max(initial=0.0) > BEYOND_ANY_G:
        return WRONG_SCALE
    if len(accel) < 2:
        return ""
    changes = np.ptp(accel, axis=0)
    if (changes == 0).any() and (changes > 0.2).any():
        return DEAD_AXIS
    spread = accel.std(axis=0)
    if float(spread.max()) > 0.2 and float(spread.min()) < DEAD_PART * float(spread.max()):
        return DEAD_AXIS
    if float(changes.max()) > STRONG_G:
        if _dies(accel, rate_hz):
            return DEAD_AXIS
        if wrong := _garbled(accel):
            return wrong
    if float(spread.max()) > 0.2 and _noise(accel, rate_hz):
        return NOISE
    if _clipped(accel):
        return AT_LIMIT
    scale = scale_of(accel)
    if scale and len(accel) >= RHYTHM_S * rate_hz and not _by_hand(accel * scale, rate_hz):
        return WRONG_RATE
    return ""


def _by_hand(accel: FloatArray, rate_hz: float) -> bool:
    """Tell whether a hand can move like this: not too fast, and no wider than an arm goes.

    A rate said wrong by half makes a motion four times as wide, one said double makes it twice as fast. Only what no
    hand does is told: of simulated free shakes with such a rate a quarter, and no true one of 970.
    """
    size = max(1, round(rate_hz * 0.01))
    whole = len(accel) // size * size
    motion = accel[:whole].reshape(-1, size, 3).mean(axis=1)
    motion = motion - motion.mean(axis=0)
    along = motion @ np.linalg.eigh(motion.T @ motion)[1][:, -1]
    swing = float(np.sqrt(2) * along.std())
    if swing < 0.3:
        return True
    power = np.abs(np.fft.rfft(along * np.hanning(len(along)), 4096)) ** 2
    step = rate_hz / size / 4096
    tempo = step * int(np.argmax(power))
    near = np.abs(step * np.arange(len(power)) - tempo) < 0.6
    if tempo < SLOWEST_HZ or float(power[near].sum()) < 0.5 * float(power.sum()):
        return True  # moving about, not to and fro
    return tempo <= FASTEST_HZ and swing * STANDARD_GRAVITY / (2 * np.pi * tempo) ** 2 <= WIDEST_M


def _dies(accel: FloatArray, rate_hz: float) -> bool:
    """Tell whether an axis stands still for a piece of 0.16 s while another moves."""
    size = max(2, round(PIECE_S * rate_hz))
    whole = len(accel) // size
    changes = np.ptp(accel[: whole * size].reshape(whole, size, 3), axis=1)
    return bool(((changes == 0).any(axis=1) & (changes.max(axis=1) > STRONG_G)).any())


def _garbled(accel: FloatArray) -> str:
    """Return how samples in motion were spoiled on their way, or an empty string."""
    if _repeated(accel):
        return REPEATED
    if len(accel) < FEWEST_SAMPLES:
        return ""
    steps = np.diff(accel, axis=0)
    made_up = (np.abs(steps[1:] - steps[:-1]) < 1e-9).all(axis=1) & (steps[1:] != 0).any(axis=1)
    if float(made_up.mean()) > MADE_UP_PART:
        return MADE_UP
    if any(_stuck_bit(accel[:, axis]) for axis in range(3)):
        return STUCK_BIT
    return LEAPS if any(_leaps(accel[:, axis]) for axis in range(3)) else ""


def _stuck_bit(values: FloatArray) -> bool:
    """Tell whether a bit of whole numbers in even steps stands still, though the values span twice what it is worth.

    Where the values are on no grid there are no bits to tell.
    """
    steps = np.diff(np.unique(values))
    if len(steps) < 16:
        return False
    step = float(steps.min())
    for reach in (100.0, np.inf):  # the smallest difference is rounded; many together say the step
        near = values[np.abs(values) < reach * step]
        whole = np.rint(near / step)
        if (whole != 0).any():
            step = float(near @ whole) / float(whole @ whole)
    whole = np.rint(values / step)
    if float(np.abs(values / step - whole).max()) > 0.1 or float(np.abs(whole).max()) > 2**31:
        return False
    number = whole.astype(np.int64)
    low, high = np.quantile(number, [0.02, 0.98])
    for bit in range(1, 16):
        if high - low < 2.2 * (1 << bit):
            return False
        part = float(((number >> bit) & 1).mean())
        if min(part, 1 - part) < STUCK_PART:
            return True
    return False


def _leaps(values: FloatArray) -> bool:
    """Tell whether values leap again and again over a part of their range in which none lies."""
    least = LEAP_PART if len(values) < 4000 else LONG_LEAP_PART
    rising = np.sort(values)
    few = max(2, len(values) // 100)
    gaps = np.diff(rising[few:-few])
    widest = int(gaps.argmax())
    if float(gaps[widest]) < max(least * float(rising[-1] - rising[0]), STRONG_G):
        return False
    above = values > rising[few + widest]
    return int((above[1:] != above[:-1]).sum()) >= FEWEST_LEAPS


def _repeated(accel: FloatArray) -> bool:
    """Tell whether samples in motion stand still, are empty, or two axes say the same: no hand and no noise does that.

    A value at the sensor's limit stands still too, so it is no sign of this.
    """
    limit = np.abs(accel).max()
    still = (accel[1:] == accel[:-1]).all(axis=1) & (np.abs(accel[1:]).max(axis=1) < limit)
    if float(still.mean()) > REPEATED_PART or float((accel == 0).all(axis=1).mean()) > EMPTY_PART:
        return True
    others = np.roll(accel, 1, axis=1)
    return bool((np.ptp(accel - others, axis=0) == 0).any() or (np.ptp(accel + others, axis=0) == 0).any())


def _noise(accel: FloatArray, rate_hz: float) -> bool:
    """Tell whether the means of the samples spread no more than those of independent ones: no hand moved here."""
    size = max(NOISE_SAMPLES, round(0.01 * rate_hz))
    whole = len(accel) // size
    if whole < NOISE_MEANS:
        return False
    means = accel[: whole * size].reshape(whole, size, 3).mean(axis=1)
    return float(means.var(axis=0).sum()) * size < NOISE_RATIO**2 * float(accel.var(axis=0).sum())


def _clipped(accel: FloatArray) -> bool:
    """Tell whether an axis stood at its highest or lowest value for more than a part of the time.

    Moderate clipping costs the count little. A resting axis with coarse steps stands at an extreme too, so the range
    must be that of strong motion.
    """
    for axis in range(3):
        values = accel[:, axis]
        high, low = float(values.max()), float(values.min())
        if high - low < 2.0:
            continue
        if float((values == high).mean() + (values == low).mean()) > CLIPPED_PART:
            return True
    return False


def rests_wrong(cells: FloatArray, *, before: bool = False) -> bool:
    """Tell whether what rests in blocks' cells (m, k, 3) in g feels another pull than 1 g; ``before`` where none does.

    The last block that rests decides. What is held still in the hand feels 1 g too.
    """
    for block in cells[::-1]:
        if float(np.sqrt(block.var(axis=0).sum())) < AT_REST_G:
            return not ONE_G[0] <= float(np.linalg.norm(block.mean(axis=0))) <= ONE_G[1]
    return before


def in_g(accel: FloatArray, seconds: float) -> bool:
    """Tell whether samples (n, 3) of so many seconds of a shake can be in g.

    Over a few swings turning about a wrist averages out worse: of the bank one shake feels 3.9 g for a second.
    """
    most = MOST_G if seconds >= STEADY_S else MOST_AT_FIRST_G
    return LEAST_G <= float(np.linalg.norm(accel.mean(axis=0))) <= most


def scale_of(accel: FloatArray) -> float | None:
    """Return by what to multiply samples (n, 3) to have g: 1, or 1/9.80665 for m/s²; None where neither fits.

    Over a shake the hand's motion averages out and gravity stays. Turning about a wrist takes from it or adds to it:
    of 3700 simulated shakes of 4 s all but one in 500 felt 0.24 to 2.1 g on average, one of the bank 2.8 g.
    """
    pull = float(np.linalg.norm(accel.mean(axis=0)))
    if LEAST_G <= pull <= MOST_G:
        return 1.0
    if 3.5 <= pull <= 27.0:
        return 1.0 / STANDARD_GRAVITY
    return None
