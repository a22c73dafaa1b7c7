"""`companion restore`: nights from a backup, checked first; what was there before is kept."""

from __future__ import annotations

import json
from pathlib import Path

import click

from companion.cli.backup import ask_passphrase, data_option
from companion.cli.printing import as_json, language


@click.command("restore")
@click.argument("backup", required=False, type=click.Path(dir_okay=False, path_type=Path))
@data_option
@click.option("--check", "only_check", is_flag=True, help="Only read the backup and say whether it is sound.")
@language
@as_json
def command(backup: Path | None, data: Path | None, only_check: bool, lang: str, json_: bool) -> None:
    """Put the nights of BACKUP in the place of the present ones, which are kept beside them.

    Without BACKUP the newest one of the data folder's own is taken. The service must have ended; host links and the
    PIN stay as they are. The passphrase of an encrypted one is the data folder's, or it is asked for.
    """
    from companion.night.backup.archive import BACKUPS, examine
    from companion.night.backup.encryption import kept_passphrase, locked
    from companion.night.backup.messages import BackupError, message
    from companion.night.backup.restore import restore
    from companion.night.backup.scheduler import backups
    from companion.night.log.data_folder import default_folder

    folder = data or default_folder()
    try:
        if backup is None:
            made = backups(folder / BACKUPS)
            if not made:
                raise BackupError("nothing-to-keep", folder=folder / BACKUPS)
            backup = made[-1]
        passphrase = kept_passphrase(folder)
        if locked(backup, passphrase):
            passphrase = ask_passphrase()
        if only_check:
            manifest, former = examine(backup, passphrase=passphrase), None
            words = message("sound", file=backup, seq=manifest.seq, pictures=manifest.picture_count)
        else:
            manifest, former = restore(backup, folder, passphrase)
            words = message("restored", seq=manifest.seq, pictures=manifest.picture_count, former=former)
    except BackupError as error:
        raise click.ClickException(error.words.of(lang)) from error
    if json_:
        form = {"file": str(backup), "seq": manifest.seq, "pictures": manifest.picture_count, "made": manifest.made}
        click.echo(json.dumps({**form, "former": str(former) if former else None}, ensure_ascii=False))
    else:
        click.echo(getattr(words, lang))
