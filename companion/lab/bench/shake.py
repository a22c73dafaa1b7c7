"""`companion bench shake`: how well beads are counted by the model's data card, and what counting costs here.

The figures of the card are of simulated igloos that the training did not see; each set stands by its name. With
`--pictures`, each set's confusion matrix and reliability are drawn too, as SVG. With `--igloos`, fresh igloos are
simulated and counted as well, by the simulator that no training saw where this is a checkout.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from companion.lab.bench.scores import in_words
from companion.lab.rows import Row, row
from companion.ports import COUNTS

if TYPE_CHECKING:
    from companion.igloo.count.counter import CountModel

FRESH = 20_000
"""The seed of igloos that neither training nor development looked at."""

AIMS = {"exact": 0.40, "within_one": 0.82, "mae": 0.9, "ece": 0.03}
"""What an igloo and a hand of which nothing is known shall reach, on a simulator never seen."""


def measure(seconds: float = 3.0, *, model: CountModel | None = None, igloos: int = 0) -> Iterable[Row]:
    """Yield what counting costs on this machine, then the accuracy that the data cards state, line by line.

    ``seconds`` is how long each cost is measured; processor time of one thread, not time on the clock. ``igloos`` fresh
    ones are simulated and counted at last; some forty seconds of a core for each.
    """
    yield from costs(seconds, model=model)
    yield from accuracy(model=model)
    yield from calibrated()
    if igloos:
        yield from fresh(igloos)


def calibrated() -> Iterable[Row]:
    """Yield the accuracy after a calibration, as the data card of the priors states it."""
    from companion.igloo.calibration.store import prior_card
    from companion.lab.bench.calibration import rows

    for where, found in prior_card().get("figures", {}).items():
        yield from rows(found, where)


def fresh(igloos: int, seed: int = FRESH) -> Iterable[Row]:
    """Yield what the counter reaches on fresh igloos of simulator B, in a process of its own."""
    if not importlib.util.find_spec("numba"):
        yield row("fresh igloos", "not run", note="the simulator needs the extras for training")
        return
    command = [sys.executable, "-m", "companion.lab.bench.fresh_igloos", "--igloos", str(igloos), "--seed", str(seed)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    for line in done.stdout.splitlines():
        yield json.loads(line)
    if done.returncode:
        yield row("fresh igloos", "failed", note="companion.lab.bench.fresh_igloos ended with an error")


def costs(seconds: float, *, model: CountModel | None = None) -> Iterable[Row]:
    """Yield the cost of a count from 2 s, of a stream of shaking, of motion, and the size of the file."""
    from companion.igloo.count import MODEL
    from companion.igloo.count.counter import Counter, count_recording, shipped
    from companion.igloo.motion.detector import MotionDetector
    from companion.igloo.simulated.device import load_bank
    from companion.ports import DeviceKind, Samples

    bank = load_bank()
    rate = bank.rate_hz
    shake = bank.accel[0] * (bank.ug_per_lsb / 1e6)
    model = model or shipped()
    two_seconds = shake[: int(2 * rate)]
    count_recording(two_seconds, rate, model=model)
    began, rounds = time.process_time(), 0
    while rounds == 0 or time.process_time() - began < seconds:
        count_recording(two_seconds, rate, model=model)
        rounds += 1
    taken = 1000 * (time.process_time() - began) / rounds
    yield row("a count from 2 s at 3200 Hz", f"{taken:.1f}", "ms", "≤ 60 ms")
    for what, listener in (
        ("counting a stream, share of a core", Counter("bench", DeviceKind.SIMULATED, model)),
        ("motion of a stream, share of a core", MotionDetector("bench", DeviceKind.SIMULATED)),
    ):
        began, felt = time.process_time(), 0.0
        while felt < seconds:
            for at in range(0, len(shake) - 16, 16):
                listener.feed(Samples(shake[at : at + 16], felt, rate, int(felt * rate)))
                felt += 16 / rate
        share = (time.process_time() - began) / felt
        yield row(what, f"{100 * share:.1f}", "%", "≤ 10 %", f"{felt:.0f} s of shaking in the stream")
    yield row("model file", f"{MODEL.stat().st_size / 1e6:.2f}", "MB", "≤ 2 MB")


def accuracy(*, model: CountModel | None = None) -> Iterable[Row]:
    """Yield one line for each set of shakes and length in the data card, and one for each count."""
    from companion.igloo.count.counter import shipped

    for name, statistics in (model or shipped()).card.get("figures", {}).items():
        about = f"{statistics['shakes']} simulated shakes of {statistics['devices']} igloos"
        for length, scores in statistics.items():
            if isinstance(scores, dict) and "exact" in scores:
                yield row(f"{name}: {length}", in_words(scores), note=about)
        for count, scores in statistics.get("by_count", {}).items():
            yield row(f"{name}: {count} beads", in_words(scores))


def confusion_svg(name: str, statistics: dict[str, Any]) -> str:
    """Return a picture of a set's confusion matrix (true counts down, answers across) and its reliability."""
    cell, left, top = 34, 60, 60
    size = cell * len(COUNTS)
    width, height = 2 * size + left + 150, size + top + 50
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="12"><rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{left}" y="24" font-size="16">{escape(name)}</text>',
        f'<text x="{left}" y="44">answered, of each true count in per cent</text>',
    ]
    for i, answers in enumerate(statistics["confusion"]):
        total = max(sum(answers), 1)
        y = top + i * cell
        parts.append(f'<text x="{left - 8}" y="{y + 22}" text-anchor="end">{COUNTS[i]}</text>')
        parts.append(f'<text x="{left + i * cell + 17}" y="{top + size + 18}" text-anchor="middle">{COUNTS[i]}</text>')
        for j, many in enumerate(answers):
            share = many / total
            x = left + j * cell
            ink = "#fff" if share > 0.45 else "#123"
            shade = f"rgb({round(255 - 220 * share)},{round(255 - 160 * share)},{round(255 - 90 * share)})"
            parts.append(f'<rect x="{x}" y="{y}" width="{cell}" height="{cell}" fill="{shade}" stroke="#ccd"/>')
            if share >= 0.005:
                said = f"{100 * share:.0f}"
                parts.append(f'<text x="{x + 17}" y="{y + 22}" text-anchor="middle" fill="{ink}">{said}</text>')
    at = left + size + 80
    parts.append(f'<text x="{at}" y="44">right, by the probability that was said</text>')
    parts.append(f'<rect x="{at}" y="{top}" width="{size}" height="{size}" fill="none" stroke="#889"/>')
    parts.append(f'<path d="M{at} {top + size}L{at + size} {top}" stroke="#889" stroke-dasharray="4 4"/>')
    most = max((many for _, _, many in statistics["reliability"]), default=1)
    for said, right, many in statistics["reliability"]:
        radius = 3 + 9 * (many / most) ** 0.5
        x, y = at + size * said, top + size * (1 - right)
        parts.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{radius:.1f}" fill="#2a6f97" fill-opacity="0.8"/>')
    return "\n".join([*parts, "</svg>\n"])


def draw(folder: Path) -> Iterator[tuple[Path, str]]:
    """Draw each set of the shipped model's data card into a folder that exists; yield the file and the set's name."""
    from companion.igloo.count.counter import shipped

    for number, (name, statistics) in enumerate(shipped().card["figures"].items(), 1):
        file = folder / f"counting-{number}.svg"
        file.write_text(confusion_svg(name, statistics), encoding="utf-8")
        yield file, name
