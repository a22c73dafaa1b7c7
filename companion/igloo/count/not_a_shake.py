"""What moves like a shaken igloo and is none: a swing without beads, a hum, a loop, jerks that no hand makes.

Beads that hit a shell are heard as blows: the sound is far from Gaussian (its kurtosis is high, its loudest moments are
many times as loud as its usual ones), no two cycles sound alike sample by sample, and under the blows lies the slow
motion of a hand. Where one of these fails, nothing is counted, whatever a network would make of it. The borders stand
with the most extreme of 300 shakes of simulator A beside them, a third of these of two beads shaken gently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from companion.igloo.count.features import BLOCK_S, CELLS
from companion.igloo.count.signal_validity import HUM, JERKS, LOOP, NO_BEADS, SHUFFLED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    SmallArray = NDArray[np.float32]

FEWEST_BLOCKS = 3
"""Of less than half a second nothing is said."""
LEAST_KURTOSIS = 3.4
"""Of the sounds without the loudest blocks, for one bump is no bead; noise has 3, a hum less."""
MOST_ALIKE = 0.65
"""How alike two stretches of the sounds may be, sample by sample, 0.09 to 2 s apart; of the shakes at most 0.52."""
APART_S = (0.09, 2.0)
MOST_FAST, FAST_HZ = 0.6, 20.0
"""The part of the motion that is faster than this; of the shakes at most 0.22."""
MOST_EVEN = 1.25
"""The kurtosis of the motion: 1 where it knows two values only, 1.5 for a sine; of the shakes the least was 1.54."""
FRAMES = (8, 16, 32)
"""So many samples are sent, or read from the sensor, together."""
MOST_SAWN, SURELY = 0.15, 8.0
"""How much of the sawtooth that samples in reverse would make is found, and by how many deviations it must be sure: of
the shakes at most 5.4, of the bank's in reverse 9 to 52."""


def why_not_a_shake(blocks: Sequence[SmallArray]) -> str:
    """Return why the active blocks of one shake are of no shaken beads, in a sentence, or an empty string.

    Each block (n, 6) is 0.16 s of sound and acceleration in g, as
    :class:`~companion.igloo.count.features.FeatureStream` gives them.
    """
    if len(blocks) < FEWEST_BLOCKS:
        return ""
    both = np.concatenate(blocks).astype(np.float64)
    rate = len(both) / (len(blocks) * BLOCK_S)
    sound = both[:, :3]
    motion = _motion(blocks)
    if _fast_part(motion) > MOST_FAST:
        return HUM
    usual = np.concatenate(_less_the_loudest([block[:, :3] for block in blocks])).astype(np.float64)
    kurtosis = _kurtosis(usual)
    if _alike(sound, rate) > MOST_ALIKE:
        if kurtosis > LEAST_KURTOSIS:
            return LOOP
        return HUM if _pitch(sound, rate) > FAST_HZ else NO_BEADS
    if kurtosis < LEAST_KURTOSIS:
        return NO_BEADS
    if _sawn(both[:, 3:], rate):
        return SHUFFLED
    main = motion @ np.linalg.eigh(motion.T @ motion)[1][:, -1]
    return JERKS if float((main**4).mean()) < MOST_EVEN * float((main**2).mean()) ** 2 else ""


def _motion(blocks: Sequence[SmallArray]) -> FloatArray:
    """Return the motion (m, 3) in g, in cells of 10 ms, less its mean."""
    cells = []
    for block in blocks:
        edges = np.linspace(0, len(block), CELLS + 1).astype(np.int64)
        sums = np.add.reduceat(block[:, 3:].astype(np.float64), edges[:-1], axis=0)
        cells.append(sums / np.diff(edges)[:, None])
    motion = np.concatenate(cells)
    return np.asarray(motion - motion.mean(axis=0))


def _fast_part(motion: FloatArray) -> float:
    """Return what part of the motion is faster than a hand."""
    spectrum = np.abs(np.fft.rfft(motion * np.hanning(len(motion))[:, None], axis=0)) ** 2
    power = spectrum.sum(axis=1)
    fast = np.fft.rfftfreq(len(motion), BLOCK_S / CELLS) > FAST_HZ
    return float(power[fast].sum() / (power[1:].sum() + 1e-12))


def _less_the_loudest(sounds: list[SmallArray]) -> list[SmallArray]:
    """Return blocks of sounds without the one that has the loudest moment, of six or more without the two loudest."""
    loud = [float(np.abs(sound).max()) for sound in sounds]
    few = 2 if len(sounds) >= 6 else 1
    return [sounds[k] for k in np.argsort(loud, kind="stable")[: len(sounds) - few]]


def _pitch(sound: FloatArray, rate: float) -> float:
    """Return the strongest frequency in sounds (n, 3), in Hz."""
    spectrum = np.abs(np.fft.rfft(sound * np.hanning(len(sound))[:, None], axis=0)) ** 2
    return float(np.argmax(spectrum.sum(axis=1)) * rate / len(sound))


def _kurtosis(sound: FloatArray) -> float:
    """Return the kurtosis of sounds (n, 3), whose mean is nothing, of all axes together."""
    return float(np.einsum("ij,ij->", sound**2, sound**2) / sound.size / (np.mean(sound**2) ** 2 + 1e-18))


def _alike(sound: FloatArray, rate: float) -> float:
    """Return the highest correlation of sounds (n, 3) with themselves some time later.

    The loudest samples, one in two hundred, are cut: two blows that drown all else are alike by chance.
    """
    n = len(sound)
    size = np.abs(sound).ravel()
    loud = float(np.partition(size, -(len(size) // 200) - 1)[-(len(size) // 200) - 1])
    sound = np.clip(sound, -loud, loud)
    power = np.einsum("ij,ij->i", sound, sound)
    first, last = int(APART_S[0] * rate), min(int(APART_S[1] * rate), int(0.6 * n))
    longer = 1 << (n + last).bit_length()
    spectrum = np.abs(np.fft.rfft(sound, longer, axis=0)) ** 2
    together = np.fft.irfft(spectrum.sum(axis=1))[first:last]
    sums = np.concatenate([[0.0], np.cumsum(power)])
    later = np.arange(first, last)
    most = np.sqrt(np.maximum(sums[n - later], 1e-12) * np.maximum(sums[n] - sums[later], 1e-12))
    return float((together / most).max())


def _sawn(accel: FloatArray, rate: float) -> bool:
    """Tell whether the samples within frames came in reverse.

    Then the slow motion of the hand has a sawtooth upon it, as high as its slope says, which is looked for.
    """
    width = max(3, round(0.01 * rate) * 2 + 1)  # odd, so that the means lie on samples
    smooth = _means(_means(accel, width), width)
    slope = 0.5 * (smooth[2:] - smooth[:-2])
    rest = accel[width : width + len(slope)] - smooth[1:-1]
    size = float(np.einsum("ij,ij->", slope, slope))
    for frame in FRAMES:
        whole = len(rest) // frame * frame
        if not whole:
            continue
        most = frame * np.abs(slope[:whole])  # a blow counts no more than what is looked for
        along = np.einsum("ij,ij->i", np.clip(rest[:whole], -most, most), slope[:whole]).reshape(-1, frame)
        sums, squares = along.sum(axis=0), (along**2).sum(axis=0)
        tooth = (frame - 1) - 2.0 * np.arange(frame)
        # each row begins the sawtooth at another sample
        teeth = tooth[(np.arange(frame)[None] - np.arange(frame)[:, None]) % frame]
        found = teeth @ sums
        enough = MOST_SAWN * size * float(tooth @ tooth) / frame
        if bool(((found > enough) & (found > SURELY * np.sqrt(teeth**2 @ squares))).any()):
            return True
    return False


def _means(values: FloatArray, width: int) -> FloatArray:
    """Return the means over ``width`` neighbours, shape (n - width + 1, 3)."""
    sums = np.cumsum(np.concatenate([np.zeros((1, 3)), values]), axis=0)
    return np.asarray((sums[width:] - sums[:-width]) / width)
