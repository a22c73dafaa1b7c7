"""Shakes drawn from the ranges, each by its number: what the training counts on, in any order and on any machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from companion.lab.physics import guided, people, world
from companion.lab.physics.ranges import Ranges
from companion.ports import COUNTS

__all__ = ["Ranges", "again", "generator", "pair", "shake"]

if TYPE_CHECKING:
    from collections.abc import Callable

    from companion.lab.physics.hand import HandPath
    from companion.lab.physics.ranges import Device, Grip, ShakerHabits

    Record = Callable[[Device, Grip, HandPath, int, np.random.Generator], world.SensorRecording]


def generator(seed: int, *numbers: int) -> np.random.Generator:
    """Return the generator of what has these numbers, whatever their zeros: numpy takes (7, 0) for (7,).

    An igloo's own generator is that of (seed, igloo). Did hand 0 or a first shake draw from the same one, a strong hand
    would go with large beads in every set of shakes, and a counter would learn it.
    """
    return np.random.default_rng([seed, *numbers, len(numbers)])


def pair(seed: int, device: int, person: int = 0, ranges: Ranges | None = None) -> tuple[Device, ShakerHabits]:
    """Return the igloo and the hand of these numbers."""
    ranges = ranges or Ranges()
    return ranges.device(np.random.default_rng([seed, device])), ranges.person(generator(seed, device, person))


def shake(
    seed: int,
    number: int,
    seconds: float,
    ranges: Ranges | None = None,
    *,
    beat: bool = False,
    record: Record = world.record,
) -> world.SensorRecording:
    """Return shake ``number``: by a hand of its own, in an igloo of its own, every count as often as the others.

    With the ``beat`` the hand follows the motion that the page guides; ``record`` is the simulator.
    """
    device, person = pair(seed, number, 0, ranges)
    rng = generator(seed, number, 0, 0)
    if beat:
        path = guided.guided(person, seconds, generator(seed, number, 0, 0, 0), rng)
    else:
        path = people.shake(person, seconds, rng)
    return record(device, person.grip, path, COUNTS[number % len(COUNTS)], rng)


def again(
    seed: int, device: int, count: int, number: int, seconds: float, *, record: Record = world.record
) -> world.SensorRecording:
    """Return shake ``number`` of so many beads in igloo ``device`` by one hand: several shakes of the same."""
    igloo, hand = pair(seed, device)
    rng = generator(seed, device, count, number)
    return record(igloo, hand.grip, people.shake(hand, seconds, rng), count, rng)
