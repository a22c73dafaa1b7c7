"""A shake as sound: the recorded acceleration, made audible, at full, half and quarter speed.

What an accelerometer feels of a shake is the hand below some 30 Hz, a hundred times as strong as the beads, whose
knocks fill the band up to half the sample rate. The hand is taken away, the rest is differentiated (a knock becomes
a click), and the band is moved up as a whole to where a phone's small loudspeaker and the ear are good. A slowed
shake is moved further, so that it sounds as high as before: slow is only the rhythm of the knocks.

Every shake is brought to about the same loudness: how hard a hand shakes says more of it than the beads do.
"""

from __future__ import annotations

import io
import wave
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from companion.ports import FloatArray
    from companion.training.shakes import Shake

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


def sound(shake: Shake, speed: float = 1.0, seed: int = 0) -> FloatArray:
    """Return the sound of a shake, (m,) between -1 and 1 at :data:`WAV_HZ`, ``speed`` times as fast as it was.

    ``seed`` draws from which side it is heard, and a shell that sounds a little higher or lower.
    """
    rng = np.random.default_rng(seed)
    side = rng.normal(size=3)
    pitch = float(np.exp(rng.uniform(-0.1, 0.1)))
    felt = (shake.accel - shake.accel.mean(axis=0)) @ (side / np.linalg.norm(side)) * np.sqrt(3.0)
    ramp = np.clip(np.arange(len(felt)) / (FADE_S * shake.rate_hz), 0.0, 1.0)
    spectrum = np.fft.rfft(felt * ramp * ramp[::-1])
    hz = np.fft.rfftfreq(len(felt), 1.0 / shake.rate_hz)
    spectrum *= np.clip((hz - LOW_HZ) / EDGE_HZ, 0.0, 1.0) * np.clip((HIGH_HZ - hz) / EDGE_HZ, 0.0, 1.0) * hz / 1000.0
    # Slowing keeps each bin's number, for the bins lie closer by as much; moving up adds to the number.
    seconds = len(felt) / shake.rate_hz / speed
    length = int(seconds * WAV_HZ)
    moved = np.zeros(length // 2 + 1, dtype=np.complex128)
    up = round((pitch * HEARD_HZ - speed * (LOW_HZ + HIGH_HZ) / 2.0) * seconds)
    kept = np.flatnonzero(hz <= HIGH_HZ)
    kept = kept[kept + up < len(moved)]
    moved[kept + up] = spectrum[kept]
    made = np.fft.irfft(moved, length) * (length / len(felt))
    return np.asarray(np.tanh(made * (LOUDNESS / max(float(made.std()), QUIETEST))), dtype=np.float64)


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
