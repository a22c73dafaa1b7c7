"""`companion export`: the nights for other programs: JSON, CSV, or links for BG Stats."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import BinaryIO

import click

from companion.cli.backup import data_option


@click.command("export")
@click.argument("form", type=click.Choice(["json", "csv", "bgstats"]))
@data_option
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="A file instead of the standard output.")
@click.option("--json", "json_", is_flag=True, help="For bgstats: one JSON object a game instead of plain links.")
def command(form: str, data: Path | None, out: Path | None, json_: bool) -> None:
    """Write all nights as FORM: ``json`` (everything), ``csv`` (the scores), ``bgstats`` (a link a finished game).

    The links open BG Stats on a phone; BoardGameGeek's numbers are in them only where the setting bgg_ids has them.
    """
    from companion.cli.owner import from_owner
    from companion.night.backup.messages import BackupError
    from companion.night.export.bgstats import bgg_ids, plays
    from companion.night.export.files import to_csv, to_json
    from companion.night.log.data_folder import JOURNAL, default_folder
    from companion.night.log.journal import Journal
    from companion.settings import Settings

    # All is imported here: where the owner writes, as who may not read our files, it is too late for it.
    def write(file: BinaryIO) -> None:
        place = folder.resolve()
        journal = Journal(place / JOURNAL, read_only=True)
        try:
            if form == "csv":
                text = to_csv(journal)
            elif form == "json":
                text = json.dumps(to_json(journal), ensure_ascii=False, indent=1) + "\n"
            else:
                settings = place / "settings.json"
                known = Settings(settings if settings.exists() else None).lines("bgg_ids")
                games = plays(journal, bgg_ids(known))
                text = "".join(f"{json.dumps(one, ensure_ascii=False) if json_ else one['url']}\n" for one in games)
        finally:
            journal.close()
        file.write(text.encode())

    folder = data or default_folder()
    if not (folder / JOURNAL).exists():
        raise click.ClickException(BackupError("no-folder", folder=folder).words.en)
    written = from_owner(folder, write)
    if out is None:
        click.echo(written, nl=False)
        return
    draft = out.with_name(out.name + ".new")
    draft.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    with os.fdopen(os.open(draft, flags, 0o600), "wb") as file:
        file.write(written)
    draft.replace(out)
    click.echo(f"{out}: {len(written)} bytes")
