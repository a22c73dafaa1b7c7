"""A shake as sound: the recorded acceleration, made audible, at full, half and quarter speed.

What an accelerometer feels of a shake is the hand below some 30 Hz, a hundred times as strong as the beads, whose
knocks fill the band up to half the sample rate. The hand is taken away, the rest is differentiated (a knock becomes
a click), and the band is moved up as a whole to where a phone's small loudspeaker and the ear are good. A slowed
shake is moved further, so that it sounds as high as before: slow is only the rhythm of the knocks.

Every shake is brought to about the same loudness: how hard a hand shakes says more of it than the beads do.

:func:`band` is the same sound before it is moved up, packed small: the page that is taken along moves it itself.
"""

from __future__ import annotations

import io
import wave
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import FloatArray
    from companion.practice.shakes import Shake

SPEEDS = {"full": 1.0, "half": 0.5, "quarter": 0.25}
WAV_HZ = 11025
LOW_HZ, HIGH_HZ = 250.0, 1500.0
"""The band of the knocks: below is the hand, above is what the sensor's own filter takes away."""
EDGE_HZ = 80.0
HEARD_HZ = 2200.0
"""Where the middle of the band is heard."""
FADE_S = 0.02
LOUDNESS = 0.16
"""Root mean square of the sound; what would be louder than the whole range is bent, not clipped."""
QUIETEST = 0.05
"""What is quieter than so much (knocks in g at 1 kHz) is the sensor's own noise and stays quiet."""
BAND_HZ = 2.0 * (HIGH_HZ - LOW_HZ)
"""So many samples a second hold the band alone."""
MU = 255.0
"""Packed samples are as fine as those of a telephone line (mu-law, ITU-T G.711, without its segments)."""


def _knocks(shake: Shake, seed: int) -> tuple[NDArray[np.complex128], FloatArray, float]:
    """Return the spectrum of the knocks with its frequencies (Hz), and how much higher this shell sounds."""
    rng = np.random.default_rng(seed)
    side = rng.normal(size=3)
    pitch = float(np.exp(rng.uniform(-0.1, 0.1)))
    felt = (shake.accel - shake.accel.mean(axis=0)) @ (side / np.linalg.norm(side)) * np.sqrt(3.0)
    ramp = np.clip(np.arange(len(felt)) / (FADE_S * shake.rate_hz), 0.0, 1.0)
    spectrum = np.fft.rfft(felt * ramp * ramp[::-1])
    hz: FloatArray = np.fft.rfftfreq(len(felt), 1.0 / shake.rate_hz).astype(np.float64)
    spectrum *= np.clip((hz - LOW_HZ) / EDGE_HZ, 0.0, 1.0) * np.clip((HIGH_HZ - hz) / EDGE_HZ, 0.0, 1.0) * hz / 1000.0
    return spectrum, hz, pitch


def _moved(spectrum: NDArray[np.complex128], bins: NDArray[np.int64], up: int, length: int, of: int) -> FloatArray:
    """Return ``length`` samples of a sound of ``of`` samples whose ``bins`` were moved ``up``."""
    moved = np.zeros(length // 2 + 1, dtype=np.complex128)
    bins = bins[(bins + up >= 0) & (bins + up < len(moved))]
    moved[bins + up] = spectrum[bins]
    return np.asarray(np.fft.irfft(moved, length) * (length / of), dtype=np.float64)


def sound(shake: Shake, speed: float = 1.0, seed: int = 0) -> FloatArray:
    """Return the sound of a shake, (m,) between -1 and 1 at :data:`WAV_HZ`, ``speed`` times as fast as it was.

    ``seed`` draws from which side it is heard, and a shell that sounds a little higher or lower.
    """
    spectrum, hz, pitch = _knocks(shake, seed)
    # Slowing keeps each bin's number, for the bins lie closer by as much; moving up adds to the number.
    seconds = len(shake.accel) / shake.rate_hz / speed
    up = round((pitch * HEARD_HZ - speed * (LOW_HZ + HIGH_HZ) / 2.0) * seconds)
    made = _moved(spectrum, np.flatnonzero(hz <= HIGH_HZ), up, int(seconds * WAV_HZ), len(shake.accel))
    return np.asarray(np.tanh(made * _gain(made)), dtype=np.float64)


def _gain(made: FloatArray) -> float:
    return LOUDNESS / max(float(made.std()), QUIETEST)


@dataclass(frozen=True, slots=True)
class Band:
    """The knocks of a shake, moved down so that they begin at 0 Hz, at :data:`BAND_HZ`, in 8 bits a sample.

    ``codes`` are mu-law around 128, full scale 1; times ``gain`` they are as :func:`sound` has them before what is
    loud is bent; ``pitch`` is how much higher than :data:`HEARD_HZ` the middle of the band is to be heard.
    """

    codes: bytes
    gain: float
    pitch: float


def band(shake: Shake, seed: int = 0) -> Band:
    """Return the band of a shake, from which its sound is made at any speed."""
    spectrum, hz, pitch = _knocks(shake, seed)
    seconds = len(shake.accel) / shake.rate_hz
    bins = np.flatnonzero((hz >= LOW_HZ) & (hz <= HIGH_HZ))
    made = _moved(spectrum, bins, -round(LOW_HZ * seconds), int(seconds * BAND_HZ), len(shake.accel))
    most = max(float(np.abs(made).max()), 1e-9)
    level = np.sign(made) * np.log1p(MU * np.abs(made) / most) / np.log1p(MU)
    return Band(np.rint(128.0 + 127.0 * level).astype(np.uint8).tobytes(), most * _gain(made), pitch)


def wav(shake: Shake, speed: float = 1.0, seed: int = 0) -> bytes:
    """Return :func:`sound` as a WAV file (16 bit, mono), with silence before it: players swallow the first moment."""
    samples = np.concatenate([np.zeros(WAV_HZ // 10), sound(shake, speed, seed)])
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(WAV_HZ)
        file.writeframes(np.rint(samples * 32767.0).astype("<i2").tobytes())
    return out.getvalue()
