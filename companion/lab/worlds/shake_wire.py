"""Shakes through the real firmware: felt by the sensor's model in simavr, read from the serial line's bytes."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from companion.igloo.line.protocol import FrameReader
from companion.igloo.line.samples import FrameStream
from companion.lab.worlds import simavr

FloatArray = NDArray[np.float64]
BEGIN_S = 2.0
"""After so long the board is set up and the first shake begins."""
REST_S = 0.4
FIRST = 24
"""So many samples at a shake's beginning say where it is."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """Shakes as the reader got them, with the rate that it found."""

    shakes: list[FloatArray]
    rate_hz: float


def through_the_line(shakes: Sequence[FloatArray], rate_error: float, mhz: int = 16) -> Arrived:
    """Let the sensor feel shakes (n, 3) in g, one after another; return what arrived of each.

    ``rate_error`` 0.03 is a sensor 3 % fast. Every shake is found by its first samples, which arrive to the bit.

    :raises ValueError: when a shake did not arrive whole.
    """
    nominal = 3200.0 * (1 + rate_error)
    script, at = [], BEGIN_S
    with tempfile.TemporaryDirectory() as folder:
        for k, shake in enumerate(shakes):
            file = Path(folder) / f"{k}.f32"
            simavr.write_waveform(file, shake)
            script.append(f"at {1000 * at:.3f} play {file}")
            at += len(shake) / nominal + REST_S
        sent, _ = simavr.record(at, script, mhz=mhz, rate_error=rate_error)
    reader, stream = FrameReader(), FrameStream()
    runs = []
    for start in range(0, len(sent), 512):
        frames = reader.feed(sent[start : start + 512])
        runs += stream.feed(frames, at * start / len(sent))
    accel = np.concatenate([run.accel for run in runs])
    found, after = [], 0
    for shake in shakes:
        wanted = np.rint(shake * 256) * 3906e-6
        near = np.flatnonzero((np.abs(accel[after:] - wanted[0]) < 1e-4).all(axis=1)) + after
        begin = next((int(i) for i in near if np.allclose(accel[i : i + FIRST], wanted[:FIRST], atol=1e-4)), -1)
        if begin < 0 or len(accel) < begin + len(shake):
            raise ValueError("a shake did not arrive whole")
        found.append(accel[begin : begin + len(shake)])
        after = begin + len(shake)
    return Arrived(found, runs[-1].rate_hz)
