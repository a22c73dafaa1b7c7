"""What reading an igloo costs: measured on threads of their own, against a simulated igloo in real time."""

from __future__ import annotations

import threading
import time

from companion.igloo.line.link import SerialLink
from companion.igloo.simulated.igloo import SimulatedIgloo
from companion.ports import DeviceError, DeviceState, Samples


def _cpu(thread: threading.Thread) -> float:
    """Return the CPU seconds that a thread has used."""
    if thread.ident is None:
        return 0.0
    return time.clock_gettime(time.pthread_getcpuclockid(thread.ident))


def reader_cpu(seconds: float = 10.0) -> dict[str, float]:
    """Read a simulated igloo for a while and return what it cost and what was lost.

    ``reader_share`` and ``igloo_share`` are shares of one core: of the reading thread (port, frames, time), and
    of the thread that is the simulated igloo. ``latency_ms`` is the mean time from the last sample of a run to
    the listener, by the clock that was reconstructed from the stream.

    :raises DeviceError: when the simulated igloo was not heard within ten seconds.
    """
    delays: list[float] = []

    def hear(run: Samples) -> None:
        delays.append(time.monotonic() - (run.t0 + len(run.accel) / run.rate_hz))

    with SimulatedIgloo(seed=1) as igloo, SerialLink(igloo.port) as link:
        link.subscribe(hear)
        deadline = time.monotonic() + 10.0
        while link.status().rate_hz is None or link.status().state is not DeviceState.CONNECTED:
            if time.monotonic() > deadline:
                raise DeviceError("The simulated igloo was not heard.")
            time.sleep(0.05)
        igloo.shake(7, min(seconds, 20.0))
        delays.clear()
        before = link.status()
        cpu = (_cpu(link.thread), _cpu(igloo.thread))
        began = time.monotonic()
        time.sleep(seconds)
        took = time.monotonic() - began
        used = (_cpu(link.thread) - cpu[0], _cpu(igloo.thread) - cpu[1])
        after = link.status()
        return {
            "seconds": took,
            "samples_per_s": (after.counts.samples - before.counts.samples) / took,
            "reader_share": used[0] / took,
            "igloo_share": used[1] / took,
            "lost": float(after.counts.lost),
            "corrupt": float(after.counts.corrupt),
            "rate_hz": after.rate_hz or 0.0,
            "true_rate_hz": igloo.device.rate_hz,
            "latency_ms": 1e3 * sum(delays) / max(1, len(delays)),
        }
