"""`companion vision train`: the networks of the learnt reader, from drawn places; from a checkout."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from companion.cli.lab import lab

if TYPE_CHECKING:
    import numpy as np


@click.command("train")
@click.option(
    "--steps", default=3000, show_default=True, type=click.IntRange(1), help="Worlds to learn from, one a step."
)
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Which worlds are drawn.")
@click.option(
    "--from", "former", type=click.Path(path_type=Path, dir_okay=False, exists=True), help="Go on from this file."
)
@click.option(
    "--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The file of the networks (.npz)."
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object every hundred steps.")
def train(*, steps: int, seed: int, former: Path | None, out: Path, as_json: bool) -> None:
    """Learn to find and to name things in places of boards that nobody made; `bench readers` says how well."""
    net = lab("train.place_net")
    begun, lost = time.monotonic(), []

    def tell(step: int, told: np.ndarray[Any, Any], mean: dict[str, Any]) -> None:
        lost.append(told.tolist())
        if step % 100 and step != steps:
            return
        net.save(out, mean)
        parts = [sum(column) / len(lost) for column in zip(*lost, strict=True)]
        lost.clear()
        said = dict(zip(net.TOLD, (round(part, 3) for part in parts), strict=True))
        if as_json:
            click.echo(json.dumps({"step": step, "seconds": round(time.monotonic() - begun), **said}))
        else:
            click.echo(f"{step}/{steps}: " + ", ".join(f"{name} {value}" for name, value in said.items()))

    net.train(steps, seed, progress=tell, first=net.load(former) if former else None)
