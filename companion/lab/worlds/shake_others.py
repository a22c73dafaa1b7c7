"""What is no igloo of the box: an empty one, one with twenty beads, other containers, a phone in a bag.

Drawn for either simulator, to ask whether the counter says that it is unlike anything known. Hands shake these as they
shake igloos.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from companion.lab.physics import draws, people
from companion.lab.physics.hand import HandPath
from companion.lab.physics.ranges import Device, Grip
from companion.lab.physics.world import SensorRecording

Record = Callable[[Device, Grip, HandPath, int, np.random.Generator], SensorRecording]

KINDS = ("empty", "twenty", "rice", "marbles", "phone")


def other(kind: str, seed: int, number: int, record: Record, seconds: float = 4.0) -> SensorRecording:
    """Return one shake of something else, by its numbers."""
    igloo, hand = draws.pair(seed, number)
    rng = draws.generator(seed, number, 0, KINDS.index(kind))
    grip, count = hand.grip, 1
    if kind == "empty":
        igloo, count = _empty(igloo), 1
    elif kind == "twenty":
        igloo = replace(igloo, bead_m=min(igloo.bead_m, 0.9 * (0.2 * igloo.radius_m**3 / 20 * 8) ** (1 / 3)))
        count = 20
    elif kind == "rice":
        igloo = replace(igloo, bead_m=0.0025, bead_density=1300.0, restitution=(0.4, 0.4, 0.4), rolling=0.02)
        count = int(rng.integers(30, 45))
    elif kind == "marbles":
        # a smooth box: an igloo's relief, laid for a smaller radius, would leave them no room
        box = replace(igloo, radius_m=0.04, wall_m=0.05, door_m=0.0, shell_kg=0.12, bricks=(), bumps=())
        igloo = replace(box, bead_m=0.016)
        count = int(rng.integers(2, 5))
    else:
        # a phone, heavy and without anything that rattles but the bag's own soft knocks
        igloo = replace(
            _empty(igloo),
            shell_kg=0.19,
            bead_m=0.012,
            bead_density=900.0,
            restitution=(0.1, 0.1, 0.1),
            contact_s=(0.002, 0.002, 0.002),
            radius_m=0.03,
        )
    return record(igloo, grip, people.shake(hand, seconds, rng), count, rng)


def _empty(igloo: Device) -> Device:
    """Return an igloo whose one bead weighs as good as nothing."""
    return replace(igloo, bead_density=1e-3)
