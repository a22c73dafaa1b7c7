"""More stored shakes for the training room: igloos of their own, each of every count in a hand of its own."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_LZMA, ZipFile, ZipInfo

import numpy as np

from companion import __version__
from companion.physics import people, sensor, world
from companion.physics.bank import calm
from companion.physics.hand import held
from companion.physics.ranges import Ranges
from companion.ports import COUNTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

SEED = 7411
IGLOOS = 5
SECONDS = 2.9
COARSE = 4
"""Stored in steps of so many LSB: 16 mg, of the size of the sensor's noise, and a third smaller."""


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
    made_with = {
        "made_by": f"companion shake simulate --practice, version {__version__}",
        "simulator": "companion.physics (soft spheres); every sample here is simulated",
        "seed": [seed, number],
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
