"""`companion shake`: count the beads of recorded shakes, simulate shakes, rebuild the model."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from companion.cli import shake_calibrate, shake_record
from companion.ports import COUNTS

if TYPE_CHECKING:
    from types import ModuleType

    import numpy as np

    from companion.ports import CountPosterior

FILE = click.Path(dir_okay=False, path_type=Path)
BANK = Path(__file__).resolve().parents[1] / "igloo" / "simulated" / "bank" / "bank.npz"
MODEL = BANK.parents[2] / "count" / "model" / "count.npz"
GUIDED = BANK.with_name("guided.npz")
PRACTICE = BANK.parents[3] / "practice" / "bank"
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
def simulate(
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


def _practice() -> None:
    """Write the stored shakes of the training room, a file for each igloo, and those that follow the beat."""
    room = physics("practice")
    with progress() as bar:
        task = bar.add_task("Shaking", total=(room.IGLOOS + 1) * len(COUNTS))
        room.write(room.guided_igloo(progress=lambda: bar.advance(task)), GUIDED)
        for number in range(1, room.IGLOOS + 1):
            room.write(room.igloo(number, progress=lambda: bar.advance(task)), PRACTICE / f"igloo-{number}.npz")
    click.echo(f"{PRACTICE}: {room.IGLOOS * len(COUNTS)} simulated shakes; {GUIDED}: {len(COUNTS)} with the beat.")


def simulated(devices: int, per_device: int, shakes: int, seconds: float, seed: int) -> dict[str, Any]:
    """Return the arrays of a recording with simulated shakes, as the README describes the file."""
    import numpy as np

    world, draws = physics("world"), physics("draws")
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


@command.command()
@click.argument("files", nargs=-1, required=True, type=FILE)
@click.option(
    "--calibration",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder that `shake calibrate` made.",
)
@click.option("--guided", is_flag=True, help="The motion was on the metronome.")
@click.option("--together", "as_one", is_flag=True, help="All shakes of a file are of one igloo.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.pass_context
def count(
    ctx: click.Context, files: tuple[Path, ...], calibration: Path | None, guided: bool, as_one: bool, as_json: bool
) -> None:
    """Count the beads in recorded shakes (.csv or .npz)."""
    from companion.cli import sentence
    from companion.cli.shake_count import answers
    from companion.igloo.calibration.store import Shelf
    from companion.igloo.recordings import read_recording
    from companion.ports import CountPosterior

    shelf = Shelf(calibration) if calibration else None
    unread = 0
    for file in files:
        try:
            recording = read_recording(file)
        except (ValueError, OSError) as error:
            why = sentence(error)
            click.echo(f"companion: {why}", err=True)
            unread += 1
            if as_json:
                _tell_json(file, None, CountPosterior("bad-data", why=why))
            continue
        for number, answer in enumerate(answers(recording, file.name, shelf, guided=guided, together=as_one)):
            shake = None if as_one else number + 1
            if as_json:
                _tell_json(file, shake, answer)
            else:
                click.echo(f"{file.name}{'' if shake is None else f' {shake}'}: {_in_words(answer)}")
    if unread:
        ctx.exit(2)


def _tell_json(file: Path, shake: int | None, answer: CountPosterior) -> None:
    """Print one answer in the documented form."""
    click.echo(json.dumps({"file": str(file), "shake": shake, **answer.to_json()}, ensure_ascii=False))


def _in_words(answer: CountPosterior) -> str:
    """Return one answer as a line for people."""
    if not answer.p:
        return f"{answer.state}: {answer.why}"
    ranked = sorted(zip(COUNTS, answer.p, strict=True), key=lambda pair: -pair[1])[:3]
    guesses = ", ".join(f"{n} ({100 * p:.0f} %)" for n, p in ranked)
    return f"{answer.count} beads; {guesses}; from {answer.seconds:.1f} s. {answer.why}".rstrip()


@command.command()
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
def train(
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
    from companion.cli import shake_lessons, shake_training

    own = [(accel, rate, number) for file in recorded for accel, rate, number, _ in _labelled(file)]
    examined = {file.name: _labelled(file) for file in tests}
    draws = physics("draws")
    with progress() as bar:
        tasks: dict[str, Any] = {}

        def tell(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what)
            bar.update(tasks[what], completed=done, total=of)

        plan = shake_lessons.Plan(shakes, seconds, seed, devices)
        model = shake_training.build(plan, draws, workers=cores, recorded=own, tests=examined, progress=tell)
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


command.add_command(shake_calibrate.command)
command.add_command(shake_calibrate.train_command)
command.add_command(shake_record.command)
