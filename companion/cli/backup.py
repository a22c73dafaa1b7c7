"""`companion backup`: the nights as one file, also while the service runs."""

from __future__ import annotations

import json
from pathlib import Path

import click

from companion.cli.printing import as_json, language


def data_option(function: click.decorators.FC) -> click.decorators.FC:
    """Add the option ``--data``."""
    return click.option(
        "--data",
        type=click.Path(file_okay=False, path_type=Path),
        help="The data folder of the service (else $COMPANION_DATA, else the user's own data folder).",
    )(function)


@click.command("backup")
@click.argument("target", required=False, type=click.Path(path_type=Path))
@data_option
@click.option("--stick", is_flag=True, help="Onto the USB stick that is plugged in; from now on it is kept up to date.")
@click.option("--pictures/--no-pictures", default=True, show_default=True, help="With the pictures of the table.")
@language
@as_json
def command(target: Path | None, data: Path | None, stick: bool, pictures: bool, lang: str, json_: bool) -> None:
    """Copy the nights, with pictures, profiles and settings, into one ZIP file, and check it.

    TARGET is a file or a folder; without it the copy lies in the folder ``backups`` of the data folder. Host links
    and the PIN are never in it; the settings are, with the password of an MQTT broker where one is set. The service
    may run meanwhile.
    """
    from companion.night.backup.archive import BACKUPS, back_up, give_to_owner
    from companion.night.backup.messages import BackupError
    from companion.night.backup.scheduler import ON_STICK, STICK_FOLDER, back_up_into, made_words, next_name, sticks
    from companion.night.log.data_folder import default_folder

    folder = data or default_folder()
    if stick and target is not None:
        raise click.UsageError("Either a target or --stick.")
    try:
        if stick:
            found = sticks()
            if not found:
                raise BackupError("no-stick")
            path, manifest = back_up_into(folder, found[0] / STICK_FOLDER, keep=ON_STICK, pictures=pictures)
        elif target is not None:
            path = target / next_name(target) if target.is_dir() else target
            manifest = back_up(folder, path, pictures=pictures)
        else:
            if not folder.is_dir():
                raise BackupError("no-folder", folder=folder)
            place = folder / BACKUPS
            place.mkdir(mode=0o700, exist_ok=True)
            path = place / next_name(place)
            manifest = back_up(folder, path, pictures=pictures)
            give_to_owner(place, folder)
    except BackupError as error:
        raise click.ClickException(error.words.of(lang)) from error
    if json_:
        size = path.stat().st_size
        report = {"file": str(path), "size": size, "files": len(manifest.parts), "seq": manifest.seq}
        click.echo(
            json.dumps({**report, "pictures": manifest.picture_count, "made": manifest.made}, ensure_ascii=False)
        )
    else:
        click.echo(getattr(made_words(path, manifest), lang))
