"""`companion shake simulate`: physics-made shakes, and the stored ones that are shipped; from a checkout."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from companion.cli.lab import lab
from companion.cli.shake.shared import FILE, progress
from companion.igloo.simulated import BANK, GUIDED
from companion.ports import COUNTS
from companion.practice import BANK as PRACTICE

if TYPE_CHECKING:
    import numpy as np


@click.command("simulate")
@click.argument("out", type=FILE, required=False)
@click.option("--devices", default=3, show_default=True, type=click.IntRange(1), help="How many igloos to draw.")
@click.option("--people", "per_device", default=1, show_default=True, type=click.IntRange(1), help="Hands per igloo.")
@click.option("--shakes", default=1, show_default=True, type=click.IntRange(1), help="Shakes per count and hand.")
@click.option("--seconds", default=4.0, show_default=True, type=click.FloatRange(0.2, 60.0))
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0))
@click.option("--bank", is_flag=True, help="Make the stored waveforms of the simulated igloo instead.")
@click.option(
    "--practice", is_flag=True, help="Make the training room's stored shakes, and those with the beat, instead."
)
def command(
    *,
    out: Path | None,
    devices: int,
    per_device: int,
    shakes: int,
    seconds: float,
    seed: int,
    bank: bool,
    practice: bool,
) -> None:
    """Write simulated, labelled shakes to OUT (.npz): every count 2 … 13, by each hand, in each igloo."""
    import numpy as np

    if practice:
        _practice()
        return
    if bank:
        out = out or BANK
        physics = lab("physics.bank")
        with progress() as bar:
            task = bar.add_task("Shaking")
            arrays = physics.make(progress=lambda done, of: bar.update(task, completed=done, total=of))
    elif out is None:
        raise click.UsageError("Where shall the shakes be written? Name a file ending in .npz.")
    else:
        arrays = simulated(devices, per_device, shakes, seconds, seed)
    if out.suffix != ".npz":
        raise click.UsageError(f"{out.name} must end in .npz.")
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("wb") as file:
        np.savez_compressed(file, **arrays)
    click.echo(f"{out}: {len(arrays['count'])} simulated shakes.")


def _practice() -> None:
    """Write the stored shakes of the training room, a file for each igloo, and those that follow the beat."""
    room = lab("physics.practice")
    with progress() as bar:
        task = bar.add_task("Shaking", total=(room.IGLOOS + 1) * len(COUNTS))
        room.write(room.guided_igloo(progress=lambda: bar.advance(task)), GUIDED)
        for number in range(1, room.IGLOOS + 1):
            room.write(room.igloo(number, progress=lambda: bar.advance(task)), PRACTICE / f"igloo-{number}.npz")
    click.echo(f"{PRACTICE}: {room.IGLOOS * len(COUNTS)} simulated shakes; {GUIDED}: {len(COUNTS)} with the beat.")


def simulated(devices: int, per_device: int, shakes: int, seconds: float, seed: int) -> dict[str, Any]:
    """Return the arrays of a recording with simulated shakes, as the README describes the file."""
    import numpy as np

    world, draws = lab("physics.world"), lab("physics.draws")
    runs: list[np.ndarray] = []
    counts, device_of, person_of = [], [], []
    # a file has one rate, so one clock ticks in all its igloos
    rate = draws.pair(seed, 0)[0].rate_hz
    with progress() as bar:
        task = bar.add_task("Shaking", total=devices * per_device * shakes * len(COUNTS))
        for d in range(devices):
            for p in range(per_device):
                device, person = draws.pair(seed, d, p)
                device = replace(device, rate_hz=rate)
                for s in range(shakes * len(COUNTS)):
                    rng = draws.generator(seed, d, p, s)
                    recording = world.shake(device, person, COUNTS[s % len(COUNTS)], seconds, rng)
                    runs.append(recording.g.astype(np.float32))
                    counts.append(recording.count)
                    device_of.append(d)
                    person_of.append(d * per_device + p)
                    bar.advance(task)
    shortest = min(len(run) for run in runs)
    return {
        "accel": np.stack([run[:shortest] for run in runs]),
        "rate_hz": np.asarray(rate),
        "count": np.asarray(counts),
        "device": np.asarray(device_of),
        "person": np.asarray(person_of),
        "kind": np.asarray("simulated"),
        "seed": np.asarray(seed),
    }
