"""The stored waveforms of the simulated igloo: one device, shakes of every count, and the movements between them."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from companion import __version__
from companion.lab.physics import people, sensor, world
from companion.lab.physics.hand import held
from companion.lab.physics.handling import Script
from companion.lab.physics.ranges import Device, Ranges, ShakerHabits
from companion.ports import COUNTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SEED = 20031
SECONDS = 3.8
PER_COUNT = 3
MOVES = ("rest", "lift", "hold", "turn_over", "turned", "turn_back", "set_down", "knock", "drop")
"""The movements, each key ``move_…``: pieces of one recording, so that any that follow each other fit together."""


def make(seed: int = SEED, progress: Callable[[int, int], None] | None = None) -> dict[str, NDArray[Any]]:
    """Return the arrays of the bank; see the physics README for the keys.

    ``progress(done, of)`` is called after each shake. The same seed gives the same arrays.
    """
    ranges = Ranges()
    rng = np.random.default_rng(seed)
    device = replace(ranges.device(rng, place="cap-below"), noise_g=0.010, bead_m=0.0055, offset_g=(0.03, -0.02, 0.05))
    people_here = [calm(ranges.person(rng)) for _ in range(PER_COUNT)]
    shakes: list[NDArray[np.int16]] = []
    counts: list[int] = []
    samples = int(SECONDS * device.rate_hz)
    for count in COUNTS:
        for person in people_here:
            own = np.random.default_rng([seed, count, len(shakes)])
            position, turn = people.shaking(person, SECONDS + 0.02, own, facing=0.0)
            recording = world.record(device, person.grip, held(position, turn), count, own)
            shakes.append(recording.accel[:samples])
            counts.append(count)
            if progress:
                progress(len(shakes), len(COUNTS) * PER_COUNT)
    made_with = {
        "made_by": f"companion shake simulate --bank, version {__version__}",
        "simulator": "companion.lab.physics (soft spheres); every sample here is simulated",
        "seed": seed,
        "ranges": ranges.to_json(),
    }
    bank: dict[str, NDArray[Any]] = {
        "accel": np.stack(shakes),
        "count": np.asarray(counts, dtype=np.int64),
        "ug_per_lsb": np.asarray(sensor.UG_PER_LSB),
        "rate_hz": np.asarray(device.rate_hz),
        "nominal_hz": np.asarray(device.nominal_hz),
        "seed": np.asarray(seed),
        "kind": np.asarray("simulated"),
        "provenance": np.asarray(json.dumps(made_with)),
    }
    return bank | _moves(device, people_here[0], np.random.default_rng([seed, 1]))


def calm(person: ShakerHabits) -> ShakerHabits:
    """Return a person who shakes clearly: a bank of examples, not of hard cases."""
    return replace(
        person,
        tempo_hz=float(np.clip(person.tempo_hz, 3.0, 4.5)),
        peak_g=float(np.clip(person.peak_g, 1.0, 2.0)),
        rock=min(person.rock, 0.2),
        lever_m=min(person.lever_m, 0.06),
        pauses=0.0,
        pose=min(person.pose, 0.15),
    )


def _moves(device: Device, person: ShakerHabits, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Return the movements, cut from one recording in which they follow each other."""
    script = Script(device, person, rng)
    cuts: list[tuple[str, float]] = []

    def mark(name: str) -> None:
        cuts.append((name, script.now))

    mark("rest")
    script.rest(2.0)
    mark("knock")
    script.knock()
    script.rest(0.4)
    mark("lift")
    script.lift(0.15, 0.6)
    mark("hold")
    script.hold(2.0)
    mark("turn_over")
    script.turn_over(150.0, 0.5, 0.3, back=False)
    mark("turned")
    script.hold(1.0)
    mark("turn_back")
    script.turn_back(0.5)
    mark("set_down")
    script.set_down(0.6)
    script.rest(0.5)
    mark("")
    script.lift(0.12, 0.6)
    script.hold(0.3)
    mark("drop")
    script.drop(1.2)
    mark("")
    recording = world.record(device, person.grip, script.path(), 5, rng)
    pieces = {}
    for (name, begin), (_, end) in pairwise(cuts):
        if name:
            first, last = (int(t * device.rate_hz) for t in (begin, end))
            pieces[f"move_{name}"] = recording.accel[first:last]
    return pieces
