"""How wild what beads and hands do can look: for the tests, and for whoever doubts the bounds of the glitch filter."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from companion.igloo.line.glitches import standing_out
from companion.lab.physics import world
from companion.lab.physics.ranges import Ranges
from companion.lab.worlds import shake_impulse
from companion.ports import COUNTS

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Wildest:
    """Of so many samples the one that stands out most beyond the range of its neighbours, in g (as the filter says)."""

    samples: int
    beyond: float


def wildest(shakes: Iterable[FloatArray]) -> Wildest:
    """Return how wild the wildest sample of shakes (n, 3) in g is."""
    samples, beyond = 0, -np.inf
    for felt in shakes:
        samples += len(felt)
        beyond = max(beyond, float(standing_out(felt)[1].max()))
    return Wildest(samples, beyond)


def shakes(seed: int, devices: int, seconds: float = 1.5) -> Iterator[FloatArray]:
    """Simulate a shake in each of so many igloos, each with a hand of its own, by both laws of contact in turn."""
    for number in range(devices):
        rng = np.random.default_rng([seed, number])
        count = int(rng.integers(COUNTS.start, COUNTS.stop))
        if number % 2:
            yield shake_impulse.shake(seed, number, 0, count, seconds).g
        else:
            yield world.shake(Ranges().device(rng), Ranges().person(rng), count, seconds, rng).g


if __name__ == "__main__":
    found = wildest(shakes(int(sys.argv[1]), int(sys.argv[2])))
    print(f"{found.samples} samples, the wildest {found.beyond:.2f} g beyond its neighbours")
