"""`companion export`: the nights for other programs: JSON, CSV, or links for BG Stats."""

from __future__ import annotations

import json
import os
from pathlib import Path

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
    from companion.night.backup.messages import BackupError
    from companion.night.export.bgstats import bgg_ids, plays
    from companion.night.export.files import to_csv, to_json
    from companion.night.log.data_folder import JOURNAL, default_folder
    from companion.night.log.journal import Journal
    from companion.settings import Settings

    folder = data or default_folder()
    if not (folder / JOURNAL).exists():
        raise click.ClickException(BackupError("no-folder", folder=folder).words.en)
    journal = Journal(folder / JOURNAL, read_only=True)
    try:
        if form == "csv":
            text = to_csv(journal)
        elif form == "json":
            text = json.dumps(to_json(journal), ensure_ascii=False, indent=1) + "\n"
        else:
            settings = folder / "settings.json"
            known = Settings(settings if settings.exists() else None).lines("bgg_ids")
            games = plays(journal, bgg_ids(known))
            text = "".join(f"{json.dumps(game, ensure_ascii=False) if json_ else game['url']}\n" for game in games)
    finally:
        journal.close()
    if out is None:
        click.echo(text, nl=False)
        return
    draft = out.with_name(out.name + ".new")
    with os.fdopen(
        os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8", newline=""
    ) as file:
        file.write(text)
    draft.replace(out)
    click.echo(f"{out}: {len(text.encode())} bytes")
