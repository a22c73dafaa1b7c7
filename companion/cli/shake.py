"""`companion shake`: count the beads of recorded shakes, simulate shakes, rebuild the model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from types import ModuleType

BANK = Path(__file__).resolve().parents[1] / "igloo" / "bank" / "bank.npz"
NO_NUMBA = "Simulating shakes needs numba: install the dependency group, `pip install --group train`."


@click.group()
def command() -> None:
    """Count beads in recorded shakes; simulate shakes; rebuild the model."""


def physics(name: str) -> ModuleType:
    """Import a module of the simulator, which needs the dependency group `train`."""
    import importlib

    try:
        return importlib.import_module(f"companion.physics.{name}")
    except ModuleNotFoundError as error:
        if error.name == "numba":
            raise click.ClickException(NO_NUMBA) from error
        raise


def progress() -> Progress:
    """Return a progress bar on stderr, so that stdout stays the answer."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )


@command.command()
@click.argument("out", type=click.Path(dir_okay=False, path_type=Path), required=False)
@click.option("--devices", default=3, show_default=True, type=click.IntRange(1), help="How many igloos to draw.")
@click.option("--people", "per_device", default=1, show_default=True, type=click.IntRange(1), help="Hands per igloo.")
@click.option("--shakes", default=1, show_default=True, type=click.IntRange(1), help="Shakes per count and hand.")
@click.option("--seconds", default=4.0, show_default=True, type=click.FloatRange(0.2, 60.0))
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0))
@click.option("--bank", is_flag=True, help="Make the stored waveforms of the simulated igloo instead.")
def simulate(
    out: Path | None, devices: int, per_device: int, shakes: int, seconds: float, seed: int, bank: bool
) -> None:
    """Write simulated, labelled shakes to OUT (.npz): every count 2 … 13, by each hand, in each igloo."""
    if bank:
        out = out or BANK
        with progress() as bar:
            task = bar.add_task("Shaking")
            arrays = physics("bank").make(progress=lambda done, of: bar.update(task, completed=done, total=of))
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


def simulated(devices: int, per_device: int, shakes: int, seconds: float, seed: int) -> dict[str, Any]:
    """Return the arrays of a recording with simulated shakes, as the README describes the file."""
    world, ranges = physics("world"), physics("ranges").Ranges()
    runs: list[np.ndarray] = []
    rates, counts, device_of, person_of = [], [], [], []
    with progress() as bar:
        task = bar.add_task("Shaking", total=devices * per_device * shakes * 12)
        for d in range(devices):
            device = ranges.device(np.random.default_rng([seed, d]))
            for p in range(per_device):
                person = ranges.person(np.random.default_rng([seed, d, p]))
                for s in range(shakes * 12):
                    rng = np.random.default_rng([seed, d, p, s])
                    recording = world.shake(device, person, 2 + s % 12, seconds, rng)
                    runs.append(recording.g.astype(np.float32))
                    rates.append(recording.rate_hz)
                    counts.append(recording.count)
                    device_of.append(d)
                    person_of.append(d * per_device + p)
                    bar.advance(task)
    shortest = min(len(run) for run in runs)
    return {
        "accel": np.stack([run[:shortest] for run in runs]),
        "rate_hz": np.asarray(rates),
        "count": np.asarray(counts),
        "device": np.asarray(device_of),
        "person": np.asarray(person_of),
        "kind": np.asarray("simulated"),
        "seed": np.asarray(seed),
    }
