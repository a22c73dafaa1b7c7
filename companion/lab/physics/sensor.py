"""From what a shell does to the numbers of an accelerometer like the ADXL345.

The filter's order and shape are not in the data sheet (it says the bandwidth is half the rate), so a Butterworth of
fourth order with a wide range of cut-offs stands for it. Noise is white and independent for each axis. At 3200 and
1600 Hz the least significant bit is always 0: steps of 2 LSB, 7.8 mg (data sheet, *Data formatting at output data rates
of 3200 Hz and 1600 Hz*).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from companion.lab.physics.hand import matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.lab.physics.ranges import Device

    FloatArray = NDArray[np.float64]

UG_PER_LSB = 3906.25
"""1/256 g, as the firmware says in its HELLO frame (rounded there to 3906)."""
LIMIT = 4095
"""Full scale at ±16 g in full resolution: 13 bits."""


def axes(device: Device) -> FloatArray:
    """Return the matrix (3, 3) from the shell's frame to the sensor's crooked, unequal axes."""
    to_sensor = matrix(np.asarray(device.sensor_pose)).T
    skew = np.eye(3)
    skew[0, 1], skew[1, 2], skew[2, 0] = np.sin(device.skew)
    scaled: FloatArray = np.asarray(device.gain)[:, None] * (skew @ to_sensor)
    return scaled


def lowpass(cutoff_hz: float, rate_hz: float) -> FloatArray:
    """Return a Butterworth low-pass of fourth order as two stages of (b0, b1, b2, a1, a2), shape (2, 5)."""
    warped = np.tan(np.pi * cutoff_hz / rate_hz)
    stages = []
    for quality in (0.54119610, 1.30656296):
        norm = 1 / (1 + warped / quality + warped * warped)
        b0 = warped * warped * norm
        stages.append([b0, 2 * b0, b0, 2 * (warped * warped - 1) * norm, (1 - warped / quality + warped**2) * norm])
    return np.asarray(stages)


def digitise(device: Device, felt: FloatArray, rng: np.random.Generator) -> NDArray[np.int16]:
    """Return what the sensor answers, (n, 3) in LSB, for what it feels (n, 3) in g: offset, noise, clipping, steps."""
    volts = felt + np.asarray(device.offset_g) + rng.normal(size=felt.shape) * device.noise_g
    steps: NDArray[np.int16] = np.clip(np.rint(volts * (1e6 / UG_PER_LSB)), -LIMIT - 1, LIMIT).astype(np.int16)
    if device.nominal_hz >= 1600:
        steps &= ~1
    return steps
