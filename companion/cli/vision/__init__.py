"""`companion vision`: what the camera sees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from companion.cli.vision import board, cards, follow
from companion.cli.vision.rule import rule
from companion.cli.vision.train import train

if TYPE_CHECKING:
    from companion.ports import ByteArray


@click.group()
def command() -> None:
    """See the table: find the markers and the board, learn what its things look like, read what lies on it."""


for _subcommand in (board.calibrate, board.teach, board.look, follow.follow):
    command.add_command(_subcommand)
for _subcommand in (cards.teach_cards, cards.cards, cards.pile, cards.round_):
    command.add_command(_subcommand)
command.add_command(rule)
command.add_command(train)


@command.command()
@click.argument("photo", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the straightened table here (.png or .jpg).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def table(photo: Path, out: Path | None, as_json: bool) -> int:
    """Find the four markers in PHOTO and straighten the table between them.

    Exit status 1: not all of them were found.
    """
    from companion.ports import BadDataError
    from vision.board.markers import find_table
    from vision.decode.photo import read_photo_file

    if out is not None and out.suffix.lower() not in {".png", ".jpg", ".jpeg"}:
        raise click.UsageError("--out must end in .png or .jpg")
    if out is not None and out.resolve() == photo.resolve():
        raise click.UsageError("--out would write over the photo")
    try:
        image = read_photo_file(photo)
    except BadDataError as error:
        raise BadDataError(f"{photo}: {error}") from error
    view = find_table(image)
    found = view.image is not None
    if out is not None and view.image is not None:
        _write_picture(out, view.image)
    if as_json:
        size = (view.image.shape[1], view.image.shape[0]) if view.image is not None else None
        answer = {
            "photo": str(photo),
            "found": found,
            "width": image.shape[1],
            "height": image.shape[0],
            "markers": {str(n): [_rounded(corner) for corner in quad] for n, quad in view.markers.items()},
            "missing": list(view.missing),
            "corners": [_rounded(corner) for corner in view.corners],
            "table": {"width": size[0], "height": size[1]} if size else None,
            "out": str(out) if out is not None and found else None,
            "note": view.note,
        }
        click.echo(json.dumps(answer, ensure_ascii=False))
    else:
        for number, quad in view.markers.items():
            places = "  ".join(f"{x:.2f},{y:.2f}" for x, y in quad)
            click.echo(f"marker {number}: {places}")
        if view.missing:
            click.echo(f"missing: {', '.join(map(str, view.missing))}")
        click.echo(view.note)
        if out is not None and view.image is not None:
            click.echo(f"{out}: {view.image.shape[1]}×{view.image.shape[0]}")
    return 0 if found else 1


def _rounded(corner: tuple[float, float]) -> list[float]:
    return [round(corner[0], 2), round(corner[1], 2)]


def _write_picture(out: Path, image: ByteArray) -> None:
    import cv2

    from vision.whole_file import write_whole

    done, data = cv2.imencode(out.suffix.lower(), image)
    if not done:
        raise OSError(f"{out}: the picture cannot be written.")
    write_whole(out, data.tobytes())
