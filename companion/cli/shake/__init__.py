"""`companion shake`: count the beads of recorded shakes, simulate shakes, rebuild the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from companion.cli.shake import calibrate, record, simulate, train
from companion.cli.shake.shared import FILE
from companion.ports import COUNTS

if TYPE_CHECKING:
    from companion.ports import CountPosterior


@click.group()
def command() -> None:
    """Count beads in recorded shakes; simulate shakes; rebuild the model."""


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
    from companion.cli.shake.count import answers
    from companion.igloo.calibration.store import CalibrationStore
    from companion.igloo.recordings import read_recording
    from companion.ports import CountPosterior

    store = CalibrationStore(calibration) if calibration else None
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
        for number, answer in enumerate(answers(recording, file.name, store, guided=guided, together=as_one)):
            shake = None if as_one else number + 1
            if as_json:
                _tell_json(file, shake, answer)
            else:
                click.echo(f"{file.name}{'' if shake is None else f' {shake}'}: {_in_words(answer)}")
    if unread:
        ctx.exit(2)


for one in (simulate.command, train.command, calibrate.command, train.calibration_command, record.command):
    command.add_command(one)
