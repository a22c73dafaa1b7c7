"""`companion firmware`: the igloo's program, built and listed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict

import click

from companion.flasher.images import BAUDS, Image, build, known


@click.group(name="firmware")
def command() -> None:
    """The igloo's program: build it, list the images."""


def _show(images: Iterable[Image], as_json: bool) -> None:
    for image in images:
        if as_json:
            click.echo(json.dumps(asdict(image)))
        else:
            click.echo(
                f"{image.name}: {image.clock_hz // 1_000_000} MHz, {image.baud} baud, {image.flash} bytes of flash, "
                f"{image.ram} of memory, sha256 {image.sha256}"
            )


@command.command(name="build")
@click.option(
    "--baud",
    type=click.Choice([str(baud) for baud in BAUDS]),
    default="500000",
    show_default=True,
    help="The rate of the serial line, compiled in.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object an image.")
def build_command(baud: str, as_json: bool) -> None:
    """Build the images for 16 and 8 MHz, twice, and compare: the same source gives the same bytes."""
    _show(build(int(baud)), as_json)


@command.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object an image.")
@click.pass_context
def list_command(context: click.Context, as_json: bool) -> None:
    """List the images built so far with clock, rate, size and digest; exit status 1 where there are none."""
    images = known()
    _show(images, as_json)
    if not images:
        click.echo("No image was built yet: companion firmware build", err=True)
        context.exit(1)
