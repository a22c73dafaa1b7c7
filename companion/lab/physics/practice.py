"""More stored shakes: igloos of their own for the training room, and one whose hand follows the beat.

In the training room each igloo is shaken with every count, each in a hand of its own; the simulated igloo follows the
beat of the guided count in one hand.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_LZMA, ZipFile, ZipInfo

import numpy as np

from companion import __version__
from companion.lab.physics import people, sensor, world
from companion.lab.physics.bank import calm
from companion.lab.physics.guided import guided
from companion.lab.physics.hand import held
from companion.lab.physics.ranges import Device, Ranges
from companion.ports import COUNTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

SEED = 7411
IGLOOS = 11
SECONDS = 2.9
GUIDED_S = 4.5
COARSE = 4
"""Stored in steps of so many LSB: 16 mg, of the size of the sensor's noise, and a third smaller."""


def guided_igloo(seed: int = SEED, progress: Callable[[], None] | None = None) -> dict[str, NDArray[Any]]:
    """Return the arrays of shakes with the beat (:data:`companion.lab.physics.guided.BOUNCE`), one of every count."""
    ranges = Ranges()
    rng = np.random.default_rng([seed, 0])
    device = replace(ranges.device(rng, place="cap-below"), noise_g=0.010)
    person = calm(ranges.person(rng))
    samples = int(GUIDED_S * device.rate_hz)
    shakes = []
    for count in COUNTS:
        own = np.random.default_rng([seed, 0, count])
        path = guided(person, GUIDED_S + 0.5, np.random.default_rng([seed, 0]), own)
        recording = world.record(device, person.grip, path, count, own)
        # neither the hand's beginning nor its end
        middle = (len(recording.accel) - samples) // 2
        shakes.append(np.rint(recording.accel[middle : middle + samples] / COARSE).astype(np.int16))
        if progress:
            progress()
    return _arrays(shakes, device, [seed, 0], ranges)


def igloo(number: int, seed: int = SEED, progress: Callable[[], None] | None = None) -> dict[str, NDArray[Any]]:
    """Return the arrays of one igloo's file, as a bank's without movements.

    ``progress()`` is called after each shake. The same seed gives the same arrays.
    """
    ranges = Ranges()
    rng = np.random.default_rng([seed, number])
    device = replace(ranges.device(rng), noise_g=0.012)
    samples = int(SECONDS * device.rate_hz)
    shakes = []
    for count in COUNTS:
        own = np.random.default_rng([seed, number, count])
        person = calm(ranges.person(own))
        position, turn = people.shaking(person, SECONDS + 0.32, own, facing=0.0)
        recording = world.record(device, person.grip, held(position, turn), count, own)
        # the first 0.3 s are the hand's beginning
        shakes.append(np.rint(recording.accel[-samples:] / COARSE).astype(np.int16))
        if progress:
            progress()
    return _arrays(shakes, device, [seed, number], ranges)


def _arrays(
    shakes: list[NDArray[np.int16]], device: Device, seed: list[int], ranges: Ranges
) -> dict[str, NDArray[Any]]:
    made_with = {
        "made_by": f"companion shake simulate --practice, version {__version__}",
        "simulator": "companion.lab.physics (soft spheres); every sample here is simulated",
        "seed": seed,
        "ranges": ranges.to_json(),
    }
    return {
        "accel": np.stack(shakes),
        "count": np.asarray(COUNTS, dtype=np.int64),
        "ug_per_lsb": np.asarray(sensor.UG_PER_LSB * COARSE),
        "rate_hz": np.asarray(device.rate_hz),
        "nominal_hz": np.asarray(device.nominal_hz),
        "kind": np.asarray("simulated"),
        "provenance": np.asarray(json.dumps(made_with)),
    }


def write(arrays: dict[str, NDArray[Any]], path: Path) -> None:
    """Write arrays as a .npz whose parts are packed with LZMA, a quarter smaller than numpy's own packing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with ZipFile(path, "w", ZIP_LZMA) as packed:
        for name, array in arrays.items():
            # a fixed date: the same seed gives the same file
            about = ZipInfo(f"{name}.npy")
            about.compress_type = ZIP_LZMA
            with packed.open(about, "w") as part:
                np.lib.format.write_array(part, np.asarray(array), allow_pickle=False)
