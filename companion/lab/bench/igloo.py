"""`companion bench igloo`: the line, and the firmware in simavr."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from companion.lab.rows import Row, row

MEASURE = Path(__file__).resolve().parents[3] / "firmware" / "bench" / "measure.py"

_SIMAVR = "simavr, not hardware"


def rows(seconds: float) -> Iterable[Row]:
    """Yield what the reader costs, and what the real firmware does in simavr."""
    from companion.lab.bench.link_cost import reader_cpu

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
