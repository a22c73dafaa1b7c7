"""Shakes drawn from the ranges, each by its number: what the training counts on, in any order and on any machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from companion.physics import world
from companion.physics.ranges import Ranges
from companion.ports import COUNTS

__all__ = ["Ranges", "again", "pair", "shake"]

if TYPE_CHECKING:
    from companion.physics.ranges import Device, Person


def pair(seed: int, device: int, person: int = 0, ranges: Ranges | None = None) -> tuple[Device, Person]:
    """Return the igloo and the hand of these numbers."""
    ranges = ranges or Ranges()
    return ranges.device(np.random.default_rng([seed, device])), ranges.person(
        np.random.default_rng([seed, device, person])
    )


def shake(seed: int, number: int, seconds: float, ranges: Ranges | None = None) -> world.Recording:
    """Return shake ``number``: by a hand of its own, in an igloo of its own, every count as often as the others."""
    device, person = pair(seed, number, 0, ranges)
    rng = np.random.default_rng([seed, number, 0, 0])
    return world.shake(device, person, COUNTS[number % len(COUNTS)], seconds, rng)


def again(seed: int, device: int, count: int, number: int, seconds: float) -> world.Recording:
    """Return shake ``number`` of so many beads in igloo ``device`` by one hand: several shakes of the same."""
    igloo, hand = pair(seed, device)
    rng = np.random.default_rng([seed, device, count, number])
    return world.shake(igloo, hand, count, seconds, rng)
