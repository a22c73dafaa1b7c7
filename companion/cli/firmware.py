"""`companion firmware`: the igloo's program, built, listed, and put onto a board."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from companion.flasher.images import BAUDS, FirmwareError, Image, build, find, keep, known, prebuilt

if TYPE_CHECKING:
    from companion.igloo.line.candidate_ports import CandidatePort
    from companion.ports import IglooStatus

PICO = "pico"
HELLO_S = 12.0
"""So long a board that was just flashed may take to say hello: its boot loader waits, and every rate is tried."""


@click.group(name="firmware")
def command() -> None:
    """The igloo's program: build it, list the images, put one onto a board."""


def _show(images: Iterable[Image], as_json: bool, where: str = "") -> None:
    for image in images:
        if as_json:
            click.echo(json.dumps(asdict(image)))
        else:
            click.echo(
                f"{image.name}: {image.clock_hz // 1_000_000} MHz, {image.baud} baud, {image.flash} bytes of flash, "
                f"{image.ram} of memory, sha256 {image.sha256}{where}"
            )


@command.command(name="build")
@click.option(
    "--baud",
    type=click.Choice([str(baud) for baud in BAUDS]),
    default="500000",
    show_default=True,
    help="The rate of the serial line, compiled in.",
)
@click.option("--for-release", is_flag=True, help="Put the images into the package too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object an image.")
def build_command(baud: str, for_release: bool, as_json: bool) -> None:
    """Build the images for 16 and 8 MHz, twice, and compare: the same source gives the same bytes."""
    images = build(int(baud))
    if for_release:
        keep(images)
    _show(images, as_json)


@command.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object an image.")
@click.pass_context
def list_command(context: click.Context, as_json: bool) -> None:
    """List the images built so far with clock, rate, size and digest; exit status 1 where there are none.

    The images of the package are always there too; without ``--json`` they are listed beneath.
    """
    images = known()
    _show(images, as_json)
    if not as_json:
        _show(prebuilt(), as_json, " (in the package)")
    if not images:
        click.echo("No image was built yet: companion firmware build", err=True)
        context.exit(1)


@command.command(name="flash")
@click.option("--port", default="", help="The board's serial port (else it is found by itself).")
@click.option("--board", default="", help="nano, nano-old, pro-mini (3.3 V), pro-mini-5v, pico; else found.")
@click.option("--baud", type=click.Choice([str(baud) for baud in BAUDS]), default="500000", show_default=True)
@click.option(
    "--image", type=click.Path(dir_okay=False, path_type=Path), help="A HEX (Pico: UF2) file instead of ours."
)
@click.option("--check/--no-check", default=True, show_default=True, help="Wait until the board says hello.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def flash_command(port: str, board: str, baud: str, image: Path | None, check: bool, as_json: bool) -> int:
    """Put the igloo's program onto a board, read it back, and wait until it speaks.

    A Pico is plugged in with its button BOOTSEL held down: then it is a drive, and the program is copied onto it.

    Exit status 1: the program is on the board, but it does not speak as an igloo.
    """
    from companion.flasher.avr import BOARDS, find_loader, flash
    from companion.flasher.images import hex_bytes
    from companion.flasher.uf2 import find_drive

    if board and board not in {*BOARDS, PICO}:
        raise click.UsageError(f"There is no board {board!r}; there are: {', '.join(BOARDS)}, {PICO}.")
    drive = find_drive() if board == PICO or not (board or port) else None
    if board == PICO or drive is not None:
        return _flash_pico(drive, int(baud), image, as_json)
    if not port:
        port = _only_port()
    if not as_json:
        click.echo(f"Asking the boot loader at {port} …")
    loader_baud, part = find_loader(port)
    fitting = [known_board for known_board in BOARDS.values() if known_board.loader_baud == loader_baud]
    if board:
        chosen = BOARDS[board]
        if chosen not in fitting:
            raise FirmwareError(
                f"The boot loader answers at {loader_baud} baud, which {chosen.words} does not do: "
                f"it is {' or '.join(b.name for b in fitting)}."
            )
    elif len(fitting) == 1:
        chosen = fitting[0]
    else:
        clocks = "; ".join(f"--board {b.name}: {b.words}, {b.clock_hz // 1_000_000} MHz" for b in fitting)
        raise FirmwareError(f"The boot loader does not tell how fast the board is clocked. Say which it is: {clocks}.")
    if image is None:
        path = find("atmega328p", chosen.clock_hz, int(baud))[1]
    else:
        path = image
        hex_bytes(path.read_text(encoding="ascii", errors="replace"))
    if not as_json:
        click.echo(f"Writing {path.name} to {chosen.words} …")
    flash(port, loader_baud, part, path)
    said = _hello(port) if check else None
    if as_json:
        facts = {"port": port, "board": chosen.name, "chip": part, "image": path.name, "checked": check}
        unit = said.unit if said is not None else None
        click.echo(json.dumps({**facts, "speaks": said is not None if check else None, "unit": unit}))
    elif not check:
        click.echo("Written and read back.")
    elif said is not None:
        click.echo(
            f"Written, read back, and it speaks: unit {said.unit}, {said.nominal_hz or 0:.0f} Hz. {said.note}".strip()
        )
    else:
        click.echo("Written and read back, but the board does not say hello; is it the image for its clock?", err=True)
    return int(check and said is None)


def _flash_pico(drive: Path | None, baud: int, image: Path | None, as_json: bool) -> int:
    """Copy the program onto a Pico's drive; it starts by itself, and its line is another one than its USB."""
    from companion.flasher.uf2 import unpack

    if drive is None:
        raise FirmwareError("No Pico in its boot mode is mounted: hold BOOTSEL down while plugging it in.")
    path = image or find("rp2040", 48_000_000, baud)[1]
    data = path.read_bytes()
    unpack(data)
    # The drive takes 512-byte blocks as they come and vanishes after the last one; closing may find it gone already.
    handle = os.open(drive / path.name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        written = 0
        while written < len(data):
            written += os.write(handle, data[written:])
        with contextlib.suppress(OSError):
            os.fsync(handle)
    finally:
        with contextlib.suppress(OSError):
            os.close(handle)
    if as_json:
        click.echo(
            json.dumps({"port": str(drive), "board": PICO, "chip": "rp2040", "image": path.name, "checked": False})
        )
    else:
        click.echo(f"{path.name} was copied to {drive}; the Pico starts by itself and speaks at its pins GP0 and GP1.")
    return 0


def _only_port() -> str:
    """Return the one port at which a board can be."""
    from companion.igloo.line.candidate_ports import DEFAULT_DENY, denied, scan

    here = [candidate for candidate in scan() if denied(candidate, DEFAULT_DENY) is None]
    if not here:
        raise FirmwareError("No board is plugged in (no serial port is there); a cable that only charges shows none.")
    if len(here) > 1:
        raise FirmwareError(f"Several boards are plugged in; choose one with --port: {', '.join(_names(here))}.")
    return here[0].path


def _names(candidates: Iterable[CandidatePort]) -> list[str]:
    return [candidate.path for candidate in candidates]


def _hello(port: str) -> IglooStatus | None:
    """Listen as the companion does until the board says what it is."""
    from companion.igloo.line.frame_driver import FrameDriver
    from companion.igloo.line.link import SerialLink
    from companion.ports import DeviceState

    link = SerialLink(port, drivers=[FrameDriver])
    try:
        end = time.monotonic() + HELLO_S
        while time.monotonic() < end:
            status = link.status()
            if link.heard and status.state is not DeviceState.SEARCHING:
                return status
            time.sleep(0.1)
        return None
    finally:
        link.close()
