"""`companion bench igloo` and `companion bench shake`: the line, the firmware in simavr, the count and its cost."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from companion.cli.bench import Row, row

MEASURE = Path(__file__).resolve().parents[2] / "firmware" / "bench" / "measure.py"

_SIMAVR = "simavr, not hardware"


def rows(seconds: float) -> Iterable[Row]:
    """Yield what the reader costs, and what the real firmware does in simavr."""
    from companion.igloo.measure import reader_cpu

    figures = reader_cpu(seconds)
    note = "simulated igloo on a pseudo-terminal"
    yield row("reader, share of a core", f"{100 * figures['reader_share']:.1f}", "%", "≤ 3 %", note)
    yield row("simulated igloo, share of a core", f"{100 * figures['igloo_share']:.1f}", "%", "", note)
    yield row("samples", f"{figures['samples_per_s']:.0f}", "/s", "", note)
    yield row("lost or corrupt", f"{figures['lost'] + figures['corrupt']:.0f}", "", "0", note)
    yield row("sample to listener", f"{figures['latency_ms']:.1f}", "ms", "", note)
    if not MEASURE.exists():
        yield row("firmware in simavr", "not run", note="only in a checkout with the firmware's bench")
        return
    command = [sys.executable, str(MEASURE), "--seconds", str(max(seconds, 10.0))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        yield row("firmware in simavr", "failed", note=last)
        return
    for line in done.stdout.splitlines():
        yield from _firmware(json.loads(line))


def _firmware(figures: dict[str, Any]) -> Iterable[Row]:
    name = f"ATmega328P at {figures['mhz']} MHz"
    aims = {"lost": "0", "busy_percent": "≤ 31 %", "reader_cpu_percent": "≤ 3 %"}
    for key, value in figures.items():
        if key != "mhz":
            yield row(f"{name}: {key}", value, "", aims.get(key, ""), _SIMAVR)


def shake_rows(seconds: float) -> Iterable[Row]:
    """Yield the cost of counting and of motion here, and the accuracy that the model's data card states."""
    from companion.igloo.count import MODEL, Counter, count_recording, shipped
    from companion.igloo.motion import MotionDetector
    from companion.igloo.simulated import load_bank
    from companion.ports import DeviceKind, Samples

    bank = load_bank()
    shake = bank.accel[0] * (bank.ug_per_lsb / 1e6)
    rate = bank.rate_hz
    two_seconds = shake[: int(2 * rate)]
    model = shipped()
    count_recording(two_seconds, rate, model=model)
    began, rounds = time.process_time(), 0
    while time.process_time() - began < seconds / 3:
        count_recording(two_seconds, rate, model=model)
        rounds += 1
    yield row("a count from 2 s at 3200 Hz", f"{1000 * (time.process_time() - began) / rounds:.0f}", "ms", "≤ 60 ms")
    for what, listener in (
        ("counting a stream, share of a core", Counter("bench", DeviceKind.SIMULATED, model)),
        ("motion of a stream, share of a core", MotionDetector("bench", DeviceKind.SIMULATED)),
    ):
        began, felt = time.process_time(), 0.0
        while felt < seconds:
            for at in range(0, len(shake) - 16, 16):
                run = Samples(shake[at : at + 16], felt, rate, int(felt * rate))
                listener.feed(run)
                felt += 16 / rate
        share = (time.process_time() - began) / felt
        yield row(what, f"{100 * share:.1f}", "%", "≤ 10 %", f"{felt:.0f} s of shaking in the stream")
    yield row("model file", f"{MODEL.stat().st_size / 1e6:.2f}", "MB", "≤ 2 MB")
    for name, figures in model.card.get("figures", {}).items():
        yield row(name, json.dumps(figures, ensure_ascii=False), note="from the data card: simulated shakes")
