"""`companion shake calibrate`: an igloo's own labelled shakes, kept as a small file that makes its count better."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from companion.igloo.calibration.store import Calibration

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("calibrate")
@click.option("--from", "files", multiple=True, type=FILE, help="A labelled recording (.npz with count).")
@click.option(
    "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The folder of calibrations."
)
@click.option("--device", default="", help="The igloo's name, where the recording has none.")
@click.option("--person", default="", help="The name of who shook, where the recording has none.")
@click.option("--add", is_flag=True, help="Keep the shakes of the calibration that is there: enrol one more person.")
@click.option("--undo", "back", is_flag=True, help="Bring back the calibration that was there before.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object an igloo.")
def command(
    *, files: tuple[Path, ...], out: Path, device: str, person: str, add: bool, back: bool, as_json: bool
) -> None:
    """Calibrate igloos from their labelled shakes and say at once how good their count is now.

    Twelve shakes help, one of each igloo of the box or a few at each of three fillings; 36 help more, and those of
    several people most. What OUT held before is kept beside it for --undo.
    """
    from companion.igloo.calibration.store import calibrate, file_of, load, save, undo
    from companion.igloo.recordings import read_recording

    if back:
        if files or add:
            raise click.UsageError("--undo goes alone.")
        left = undo(out, device)
        _tell({"device": device, "undone": True, "calibrated": left}, as_json, _UNDONE[left])
        return
    if not files:
        raise click.UsageError("Which shakes? Name a recording with --from.")
    recordings = [(file.name, read_recording(file)) for file in files]
    former = None
    if add:
        names = {name for _, recording in recordings for name in recording.device or ("",)}
        name = next(iter(names)) or device if len(names) == 1 else ""
        if len(names) > 1:
            raise click.UsageError("--add is for one igloo; these shakes are of several.")
        former = load(file_of(out, name)) if file_of(out, name).exists() else None
    for made in calibrate(recordings, device=device, person=person, before=former):
        path = save(made, out)
        _tell({"file": str(path), **made.card}, as_json, in_words(made, path))


_UNDONE = {True: "The calibration that was there before is back.", False: "The calibration is removed."}


def in_words(made: Calibration, path: Path) -> str:
    """Return what a calibration is worth, as lines for people."""
    from companion.igloo.calibration.store import FEW

    card = made.card
    statistics = card["figures"]
    name = f"{made.device}: " if made.device else ""
    hands = len(card["hands"])
    lines = [f"{name}{card['shakes']} shakes by {hands} {'hand' if hands == 1 else 'hands'}, kept in {path}."]
    for key, what in (("before", "Before"), ("left out", "Now"), ("new hand", "In hands it has not met")):
        if key in statistics:
            one = statistics[key]
            low, high = one["exact_interval"]
            lines.append(
                f"{what}: {100 * one['exact']:.0f} % exact ({100 * low:.0f}-{100 * high:.0f}), "
                f"{100 * one['within_one']:.0f} % within one, mean error {one['mae']:.2f}."
            )
    if card["shakes"] < FEW:
        lines.append("These are few shakes: the figures are rough, and more of them make the count better.")
    aside = sum(card["left_aside"].values())
    if aside:
        lines.append(f"{aside} shakes were left aside: {next(iter(card['left_aside']))}")
    return "\n".join(lines)


def _tell(facts: dict[str, Any], as_json: bool, words: str) -> None:
    """Print an answer in the form that was asked for."""
    click.echo(json.dumps(facts, ensure_ascii=False) if as_json else words)
