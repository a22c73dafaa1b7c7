"""Measure the real firmware in simavr, in real time, read by the companion's own reader; a JSON line for each clock.

    python firmware/bench/measure.py [--seconds 60] [--mhz 16] [--mhz 8]

``samples`` came through, ``lost`` did not (by any count: the reader's, the sensor's FIFO, the line). ``busy_percent``
is the share of the AVR's cycles that it is awake, ``late_ms`` how far simavr fell behind the wall at worst,
``reader_cpu_percent`` and ``bench_cpu_percent`` are shares of one core: of the thread that reads the port, and of
simavr. The sensor's clock is 1.7 % fast, so that the fitted rate has something to find.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import numpy as np

from companion.flasher.images import build
from companion.igloo.line.link import SerialLink
from companion.lab.worlds.simavr import Simavr
from companion.ports import DeviceState

RATE_ERROR = 0.017


def shake(seconds: float = 4.0) -> np.ndarray:
    """Return a hard shake with beads in it, (n, 3) in g: what costs the encoder as much as it ever will."""
    rng = np.random.default_rng(1)
    t = np.arange(int(seconds * 3200)) / 3200
    hand = 6 * np.sin(2 * np.pi * 4.5 * t)[:, None] * np.array([1.0, 0.3, 0.5])
    knocks = rng.normal(0, 4, (len(t), 3)) * (rng.random((len(t), 1)) < 0.05)
    return hand + knocks + np.array([0, 0, 1.0]) + rng.normal(0, 0.015, (len(t), 3))


def measure(mhz: int, seconds: float) -> dict[str, Any]:
    """Run one image for so many seconds and return the figures."""
    sizes = {image.clock_hz: image for image in build()}[mhz * 1_000_000]
    igloo = Simavr(mhz=mhz, rate_error=RATE_ERROR).start()
    try:
        igloo.play(shake(), loop=True)
        with SerialLink(igloo.port) as link:
            end = time.monotonic() + 10
            while link.status().state is not DeviceState.CONNECTED and time.monotonic() < end:
                time.sleep(0.02)
            clock = time.pthread_getcpuclockid(link.thread.ident or 0)
            before, cpu, began = link.status().counts, time.clock_gettime(clock), time.monotonic()
            time.sleep(seconds)
            status, cpu, took = link.status(), time.clock_gettime(clock) - cpu, time.monotonic() - began
    finally:
        figures = igloo.stop()
    counts = status.counts
    return {
        "mhz": mhz,
        "baud": sizes.baud,
        "flash": sizes.flash,
        "ram": sizes.ram,
        "ram_free": figures["ram_free"],
        "seconds": round(took, 3),
        "samples": counts.samples - before.samples,
        "lost": counts.lost + figures["samples_overwritten"],
        "corrupt": counts.corrupt,
        "overflows": counts.overflows,
        "dropped_frames": counts.dropped_frames,
        "busy_percent": figures["busy_percent"],
        "wall_s": figures["wall_s"],
        "simulated_s": figures["simulated_s"],
        "late_ms": figures["late_ms"],
        "pty_stalls": figures["pty_stalls"],
        "true_rate_hz": round(3200 * (1 + RATE_ERROR), 3),
        "fitted_rate_hz": round(status.rate_hz or 0.0, 3),
        "reader_cpu_percent": round(100 * cpu / took, 2),
        "bench_cpu_percent": round(100 * figures["cpu_s"] / figures["wall_s"], 2),
    }


def main() -> None:
    """Run as a script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--mhz", type=int, choices=(16, 8), action="append")
    options = parser.parse_args()
    for mhz in options.mhz or (16, 8):
        sys.stdout.write(json.dumps(measure(mhz, options.seconds)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
