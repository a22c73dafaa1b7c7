"""`companion vision train`: the network that says what a place shows, from drawn games; from a checkout."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click

from companion.cli.lab import lab


@click.command("train")
@click.option(
    "--minutes",
    default=50.0,
    show_default=True,
    type=click.FloatRange(0, min_open=True),
    help="How long to learn; the figures at the end take some minutes more.",
)
@click.option("--steps", type=click.IntRange(1), help="Learn so many steps instead, however long they take.")
@click.option("--games", default=2, show_default=True, type=click.IntRange(1), help="Drawn games a step.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Which games are drawn.")
@click.option(
    "--from", "former", type=click.Path(path_type=Path, dir_okay=False, exists=True), help="Go on from this file."
)
@click.option(
    "--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The file of the network (.npz)."
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object every 25 steps.")
def train(
    *, minutes: float, steps: int | None, games: int, seed: int, former: Path | None, out: Path, as_json: bool
) -> None:
    """Learn what places look like from games that nobody made; with JAX_PLATFORMS=cuda on a GPU."""
    net = lab("train.embedding")
    begun = time.monotonic()

    def tell(done: Any) -> None:
        net.save(out, done.mean)
        so_far = {"step": done.step, "seconds": round(time.monotonic() - begun)}
        told, kinds = net.told_of(done.told), net.wrong_by_kind(done.told, done.kinds)
        if as_json:
            click.echo(json.dumps({**so_far, **told, "by kind": kinds}))
        else:
            click.echo(f"{done.step} ({so_far['seconds']} s): {_words(told)}; contents wrong by kind: {_words(kinds)}")

    first = net.load(former) if former else None
    mean = net.train(games=games, seed=seed, minutes=minutes, steps=steps or 0, first=first, progress=tell)
    told, kinds = net.figures(mean, net.HELD_OUT, games)
    if as_json:
        click.echo(json.dumps({"held-out games": net.HELD_OUT, **told, "by kind": kinds}))
    else:
        click.echo(f"of {net.HELD_OUT} held-out games: {_words(told)}; contents wrong by kind: {_words(kinds)}")


def _words(figures: dict[str, float]) -> str:
    return ", ".join(f"{name} {value}" for name, value in figures.items())
