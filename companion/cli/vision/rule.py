"""`companion vision rule`: the referee by photo, from before and after, or from a record and a photo."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from companion.cli.printing import language
from companion.cli.vision.board import JSON, OUT, PHOTO, PROFILE, check_out, read_photo, write_picture
from companion.rules.i18n import Words, noted

if TYPE_CHECKING:
    from companion.follow.disputes import Photo
    from vision.read.reader import TaughtBoard


UNSURE = Words("Not read for sure: {places}")


@click.command()
@click.argument("layout_name", metavar="LAYOUT")
@click.argument("before", metavar="BEFORE", type=PHOTO)
@click.argument("after", metavar="AFTER", type=PHOTO)
@PROFILE
@OUT
@language
@JSON
def rule(layout_name: str, before: Path, after: Path, folder: Path, out: Path | None, lang: str, as_json: bool) -> int:
    """Rule on what lies between two photos of a game, or between a record (BEFORE ends in .jsonl) and a photo.

    What is not read surely in AFTER is left open. With --out AFTER is written with the ruling drawn over it: crossed is
    what no legal turn leaves so, ticked what the turn changed.

    Exit status 1: no legal turn leads there.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from companion.cli.explain import show
    from companion.cli.vision.follow import states_of
    from companion.follow.disputes import judged, position_of
    from companion.rules.inference.turns import cases
    from vision.board.layout import open_layout
    from vision.read.reader import TaughtBoard

    check_out(out, (before, after))
    layout = open_layout(layout_name)
    recorded = before.suffix.lower() == ".jsonl"
    states = [states_of(str(before), lang)[-1]] if recorded else []
    table = TaughtBoard.open(layout, folder)
    if not recorded:
        states = cases(layout.game, position_of(_photo(table, before, lang).seen, layout.game, None))
    ruled = judged(states, _photo(table, after, lang), layout.game, lang)
    if out is not None:
        write_picture(out, ruled.image)
    if as_json:
        click.echo(
            json.dumps({"photo": str(after), **ruled.ruling, "out": str(out) if out else None}, ensure_ascii=False)
        )
    else:
        show(ruled.found, ruled.start, (), lang)
        for clause in ruled.ruling["cited"]:
            click.echo(f"  {clause['id']}: {clause[lang]}")
        if ruled.ruling["unsure"]:
            places = ", ".join(ruled.ruling["unsure"])
            click.echo(UNSURE.filled({"places": places}).of(lang))
    return 0 if ruled.ruling["legal"] else 1


def _photo(table: TaughtBoard, path: Path, lang: str) -> Photo:
    """Return what is read in a photo; an error names the file."""
    from companion.follow.disputes import Photo
    from companion.ports import BadDataError

    image = read_photo(path)
    seen = table.look(image)
    if not seen.found:
        raise BadDataError(f"{path}: {noted(seen.note).of(lang)}")
    return Photo(image, seen)
