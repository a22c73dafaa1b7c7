"""The counter on simulator B, which no training saw, and through the firmware: what `companion bench shake` prints.

    python -m companion.lab.bench.fresh_igloos --igloos 2 --seed 20000

A line of JSON for each row; how far it is goes to the standard error. With --motions, what each motion that could be
guided tells, on both simulators, instead.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from companion.igloo.count.counter import embed
from companion.lab.bench import calibration
from companion.lab.physics import draws, people, world
from companion.lab.worlds import shake_impulse, shake_others
from companion.lab.worlds.shake_wire import through_the_line
from companion.lab.worlds.simavr import SimavrError
from companion.ports import COUNTS

WHERE = "fresh igloos of B"
OTHERS = 8
"""So many of each thing that is no igloo, for four igloos or more."""


def through_firmware(igloos: int, seed: int) -> dict[str, Any]:
    """Return how many shakes are counted right from files and through the real firmware's line, and how they differ."""
    right: list[tuple[bool, bool]] = []
    apart: list[float] = []
    lost = 0
    for device in range(igloos):
        igloo, hand = draws.pair(seed, device)
        shakes = []
        for i, count in enumerate(COUNTS):
            rng = draws.generator(seed, device, 0, i)
            shakes.append(shake_impulse.record(igloo, hand.grip, people.shake(hand, 4.0, rng), count, rng))
        arrived = through_the_line([one.g for one in shakes], igloo.rate_hz / igloo.nominal_hz - 1)
        for one, accel in zip(shakes, arrived.shakes, strict=True):
            by_file, by_line = embed(one.g, one.rate_hz), embed(accel, arrived.rate_hz)
            if by_file is None or by_line is None:
                continue
            lost += len(one.g) - len(accel)
            apart.append(0.5 * float(np.abs(by_file.p - by_line.p).sum()))
            right.append(tuple(int(np.argmax(p)) + COUNTS.start == one.count for p in (by_file.p, by_line.p)))  # type: ignore[arg-type]
    both = np.array(right)
    return {
        "what": f"through the real firmware in simavr, {WHERE}",
        "value": f"{100 * both[:, 1].mean():.1f} % exact; from files {100 * both[:, 0].mean():.1f} %",
        "unit": "",
        "aim": "the same",
        "note": f"{len(both)} shakes of {igloos} igloos; answers differ by {np.mean(apart):.3f} in the mean, "
        f"at most by {max(apart):.3f}; {lost} samples lost",
    }


def lines(igloos: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield every row."""
    done, of = 0, calibration.total(igloos)

    def tick() -> None:
        nonlocal done
        done += 1
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{done} of {of} shakes" + ("\n" if done == of else ""))

    yield from calibration.rows(calibration.figures(shake_impulse.record, igloos, seed, tick), WHERE)
    yield {
        "what": f"telling what is no igloo of the box, after 12 shakes, {WHERE}",
        "value": f"{unlike(igloos, seed):.3f}",
        "unit": "AUROC",
        "aim": "≥ 0.95",
        "note": f"{OTHERS} of each: {', '.join(shake_others.KINDS)}",
    }
    try:
        yield through_firmware(min(igloos, 20), seed + 1)
    except (OSError, SimavrError) as error:  # no compiler for the AVR, no simavr
        yield {"what": "through the real firmware", "value": "not run", "unit": "", "aim": "", "note": str(error)[:200]}


def motions(igloos: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield what each motion tells."""
    for name, record in (("A", world.record), ("B", shake_impulse.record)):
        for line in calibration.motions(record, igloos, seed):
            yield line | {"what": f"{line['what']}, simulator {name}"}


def unlike(igloos: int, seed: int) -> float:
    """Return how well other things are told."""
    others = (
        shake_others.other(kind, seed + 2, number, shake_impulse.record)
        for kind in shake_others.KINDS
        for number in range(OTHERS)
    )
    return calibration.unlike(shake_impulse.record, others, max(min(igloos, 16), 4), seed + 3)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--igloos", type=int, default=2)
    parser.add_argument("--seed", type=int, default=20_000)
    parser.add_argument("--motions", action="store_true")
    arguments = parser.parse_args()
    benchmark = motions if arguments.motions else lines
    for line in benchmark(arguments.igloos, arguments.seed):
        sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
        sys.stdout.flush()
