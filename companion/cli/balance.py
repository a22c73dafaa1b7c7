"""`companion balance`: beads counted by weighing the igloo on the referee's balance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from companion.igloo.balance.calibration import LabelledLoad
    from companion.igloo.balance.scale import WeighedCount

FILE = click.Path(dir_okay=False, path_type=Path)


@click.group()
def command() -> None:
    """Count beads by weighing them: the referee's balance."""


def _weighings(file: Path) -> list[LabelledLoad]:
    from companion.igloo.balance.calibration import weighings
    from companion.igloo.recordings import read_recording

    return weighings(read_recording(file), file.name)


@command.command()
@click.option("--from", "files", multiple=True, required=True, type=FILE, help="Labelled weighings (.npz).")
@click.option(
    "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The folder of the calibration."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def calibrate(files: tuple[Path, ...], out: Path, as_json: bool) -> None:
    """Calibrate the balance by tares, known weights and igloos whose beads were counted; say whether it is good.

    Two igloos of different numbers are needed; coins besides tell grams and the masses of shell and bead.
    """
    from companion.igloo.balance.calibration import card, made_of, save

    weighed = [one for file in files for one in _weighings(file)]
    scale = made_of(weighed)
    path = save(scale, out)
    told = card(scale, weighed)
    if as_json:
        click.echo(json.dumps({"file": str(path), **told}, ensure_ascii=False))
        return
    grams = f"The platform weighs {told['platform_g']:.2f} g and" if scale.in_grams else "The platform"
    click.echo(f"{grams} swings at {told['empty_hz']:.2f} Hz when it is empty. Kept in {path}.")
    click.echo(f"{told['igloos']} igloos and {told['weights']} known weights were used.")
    for line in told["left_aside"]:
        click.echo(f"Left aside: {line}")
    click.echo("\n".join(told["faults"]) if told["faults"] else "The balance is good enough to count with.")


@command.command()
@click.argument("files", nargs=-1, required=True, type=FILE)
@click.option(
    "--calibration",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder that `balance calibrate` made.",
)
@click.option("--together", is_flag=True, help="The igloos of a file are one box: no two hold the same number.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.pass_context
def count(ctx: click.Context, files: tuple[Path, ...], calibration: Path, together: bool, as_json: bool) -> None:
    """Count the beads of weighed igloos; each is held against the tare before it."""
    from companion.cli import sentence
    from companion.igloo.balance.calibration import answers, load
    from companion.ports import CountPosterior

    scale = load(calibration)
    unread = 0
    for file in files:
        try:
            found = answers(scale, _weighings(file), together=together)
        except (ValueError, OSError) as error:
            click.echo(f"companion: {sentence(error)}", err=True)
            unread += 1
            if as_json:
                _tell(file, None, CountPosterior("bad-data", why=sentence(error)).to_json(), None, None)
            continue
        for number, (index, answer) in enumerate(found, 1):
            if as_json:
                swing = answer.load.swing
                _tell(file, index, answer.posterior.to_json(), answer.grams, swing.frequency_hz or None)
            elif together and answer.posterior.state == "counted":
                click.echo(f"{file.name}: igloo {number} holds {answer.posterior.count}.")
            else:
                click.echo(f"{file.name} {index}: {_in_words(answer)}")
    if unread:
        ctx.exit(2)


def _tell(file: Path, index: int | None, posterior: Any, grams: float | None, hz: float | None) -> None:
    """Print one answer in the documented form."""
    told = {"file": str(file), "index": index, **posterior}
    told["grams"] = None if grams is None else round(grams, 3)
    told["frequency_hz"] = None if hz is None else round(hz, 5)
    click.echo(json.dumps(told, ensure_ascii=False))


def _in_words(answer: WeighedCount) -> str:
    """Return one answer as a line for people."""
    posterior = answer.posterior
    if not posterior.p:
        return f"{posterior.state}: {posterior.why}"
    grams = "" if answer.grams is None else f", {answer.grams:.2f} g"
    sure = f"{posterior.count} beads ({100 * max(posterior.p):.0f} %){grams}. {posterior.why}"
    return sure.rstrip()
