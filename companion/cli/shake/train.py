"""`companion shake train` and `train-calibration`: the shipped models made anew; from a checkout."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from companion.cli.lab import lab
from companion.cli.shake.shared import FILE, progress
from companion.igloo.count import MODEL

if TYPE_CHECKING:
    import numpy as np


@click.command("train")
@click.option(
    "--shakes", default=54000, show_default=True, type=click.IntRange(50), help="How many shakes to simulate."
)
@click.option("--seconds", default=4.0, show_default=True, type=click.FloatRange(1.0, 20.0))
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0))
@click.option("--from", "recorded", multiple=True, type=FILE, help="A labelled recording to learn from too.")
@click.option("--test", "tests", multiple=True, type=FILE, help="A labelled recording to be scored on.")
@click.option("--devices", default=50, show_default=True, type=click.IntRange(1), help="Fresh igloos to be scored on.")
@click.option("--cores", default=2, show_default=True, type=click.IntRange(1, 64), help="Processes; same model.")
@click.option("--out", default=MODEL, type=FILE, help="The model file.")
@click.option("--json", "as_json", is_flag=True, help="Print the data card.")
def command(
    *,
    shakes: int,
    seconds: float,
    seed: int,
    recorded: tuple[Path, ...],
    tests: tuple[Path, ...],
    devices: int,
    cores: int,
    out: Path,
    as_json: bool,
) -> None:
    """Rebuild the counter's model from simulated and recorded shakes. The same options give the same model."""
    # Several threads would add in another order each time; numpy reads this when it is imported, below.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    counter, gather = lab("train.counter"), lab("train.gather")
    own = [(accel, rate, number) for file in recorded for accel, rate, number, _ in _labelled(file)]
    examined = {file.name: _labelled(file) for file in tests}
    draws = lab("physics.draws")
    with progress() as bar:
        tasks: dict[str, Any] = {}

        def tell(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what)
            bar.update(tasks[what], completed=done, total=of)

        plan = gather.DatasetPlan(shakes, seconds, seed, devices)
        model = counter.build(plan, draws, workers=cores, recorded=own, tests=examined, progress=tell)
    model.save(out)
    if as_json:
        click.echo(json.dumps(model.card, ensure_ascii=False))
        return
    click.echo(f"{out}: learnt from {shakes} simulated and {len(own)} recorded shakes.")
    for name, scores in model.card["figures"].items():
        whole = scores["whole"]
        click.echo(
            f"{name}: {100 * whole['exact']:.0f} % exact, {100 * whole['within_one']:.0f} % within one, "
            f"mean error {whole['mae']:.2f} over {scores['shakes']} shakes of {scores['devices']} igloos."
        )


def _labelled(file: Path) -> list[tuple[np.ndarray, float, int, int]]:
    """Return the shakes of a labelled recording: accel in g, rate, count, and a number for its igloo."""
    from companion.igloo.recordings import read_recording

    recording = read_recording(file)
    if not recording.count:
        raise click.UsageError(f"{file.name} does not say how many beads there were (an array called count).")
    names = recording.device or ("",) * len(recording.shakes)
    numbers = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return [
        (accel, recording.rate_hz, count, numbers[name])
        for accel, count, name in zip(recording.shakes, recording.count, names, strict=True)
    ]


@click.command("train-calibration")
@click.option("--devices", default=130, show_default=True, type=click.IntRange(6), help="Igloos shaken freely.")
@click.option("--guided", default=160, show_default=True, type=click.IntRange(6), help="Igloos shaken with the beat.")
@click.option("--seed", default=41, show_default=True, type=click.IntRange(0))
@click.option("--from", "recorded", multiple=True, type=FILE, help="A labelled recording to learn from too.")
@click.option(
    "--box",
    "measured",
    multiple=True,
    type=(str, float, float),
    metavar="NAME LOW HIGH",
    help="What was measured of the box, as --box bead_mm 7.9 8.1; may be repeated.",
)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="The file, else the one that is used.")
def calibration_command(
    *,
    devices: int,
    guided: int,
    seed: int,
    recorded: tuple[Path, ...],
    measured: tuple[tuple[str, float, float], ...],
    out: Path | None,
) -> None:
    """Rebuild what is known before any calibration; do so when the counter's model was rebuilt.

    With labelled recordings of real igloos, also of several owners, these are taken in beside the simulated ones. What
    ruler and scale tell of a box makes the simulated igloos such as that box has.
    """
    # Several threads would add in another order each time; numpy reads this when it is imported, below.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from companion.igloo.calibration.store import PRIORS
    from companion.igloo.recordings import read_recording

    box = {name: (low, high) for name, low, high in measured}
    try:
        lab("physics.ranges").Ranges().of_box(box)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    training = lab("train.calibration")
    real = training.recorded((file.name, read_recording(file)) for file in recorded)
    with progress() as bar:
        tasks: dict[str, Any] = {}

        def tell(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what)
            bar.update(tasks[what], completed=done, total=of)

        found, usual, card = training.build(
            training.SimulationPlan(devices, guided, seed=seed, measured=box), tell, real
        )
    training.write(out or PRIORS, found, usual, card)
    click.echo(f"{out or PRIORS}: learnt from {devices} simulated igloos, and {guided} shaken with the beat.")
    if recorded:
        left = f"; {real.refused} shakes could not be used" if real.refused else ""
        click.echo(f"Beside these of {real.igloos} recorded igloos, from {len(recorded)} files{left}.")
