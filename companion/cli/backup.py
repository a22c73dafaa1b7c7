"""`companion backup`: the nights as one file, also while the service runs."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from companion.cli.printing import as_json, language

if TYPE_CHECKING:
    from companion.night.backup.archive import Manifest


def ask_passphrase(*, twice: bool = False) -> str:
    """Ask for a passphrase, unseen; where nobody sits at a terminal, take a line of the standard input."""
    if sys.stdin.isatty():
        return str(click.prompt("Passphrase", hide_input=True, err=True, confirmation_prompt=twice))
    return sys.stdin.readline().rstrip("\n")


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
@click.option("--encrypt", is_flag=True, help="Ask for a passphrase, and encrypt this backup with it.")
@click.option("--keep-passphrase", is_flag=True, help="Ask for one, and encrypt every backup with it from now on.")
@click.option("--forget-passphrase", is_flag=True, help="From now on backups are not encrypted.")
@language
@as_json
def command(
    target: Path | None,
    data: Path | None,
    stick: bool,
    pictures: bool,
    encrypt: bool,
    keep_passphrase: bool,
    forget_passphrase: bool,
    lang: str,
    json_: bool,
) -> None:
    """Copy the nights, with pictures, profiles and settings, into one ZIP file, and check it.

    TARGET is a file or a folder; without it the copy lies in the folder ``backups`` of the data folder. Host links
    and the PIN are never in it; the settings are, with the password of an MQTT broker where one is set. The service
    may run meanwhile. An encrypted one has the form of age, which opens it, too. A lost passphrase is a lost backup.
    """
    from companion.cli.owner import belongs_to_owner, from_owner, give_up_root
    from companion.night.backup import encryption
    from companion.night.backup.archive import BACKUPS, back_up
    from companion.night.backup.messages import BackupError, message
    from companion.night.backup.scheduler import ON_STICK, STICK_FOLDER, back_up_into, made_words, sticks
    from companion.night.log.data_folder import default_folder

    folder = data or default_folder()
    if stick and target is not None:
        raise click.UsageError("Either a target or --stick.")
    if forget_passphrase and (encrypt or keep_passphrase):
        raise click.UsageError("Either encrypted or not.")
    try:
        if not folder.is_dir():
            raise BackupError("no-folder", folder=folder)
        passphrase: str | None = None
        if encrypt or keep_passphrase:
            passphrase = encryption.checked(ask_passphrase(twice=True))
        if keep_passphrase or forget_passphrase:
            told = passphrase or ""
            from_owner(folder, lambda answer: encryption.keep_passphrase(folder.resolve(), told))
        place, keep = folder / BACKUPS, ON_STICK if stick else None
        if stick:
            found = sticks()
            if not found:
                raise BackupError("no-stick")
            place = found[0] / STICK_FOLDER
        elif target is not None:
            place = target if target.is_dir() else target.parent
        fill = None if belongs_to_owner(place, folder) else _filled_by_owner(folder, pictures, passphrase)
        if fill is None:
            folder = give_up_root(folder)
            place = place if stick or target is not None else folder / BACKUPS
        secret = encryption.kept_passphrase(folder) if passphrase is None else passphrase
        if target is None or target.is_dir():
            path, manifest = back_up_into(folder, place, keep=keep, pictures=pictures, passphrase=secret, fill=fill)
        else:
            path, manifest = target, back_up(folder, target, pictures=pictures, passphrase=secret, fill=fill)
    except BackupError as error:
        raise click.ClickException(error.words.of(lang)) from error
    if json_:
        size = path.stat().st_size
        report = {"file": str(path), "size": size, "files": len(manifest.parts), "seq": manifest.seq}
        report |= {"pictures": manifest.picture_count, "made": manifest.made, "encrypted": bool(secret)}
        click.echo(json.dumps(report, ensure_ascii=False))
    else:
        if encrypt or keep_passphrase:
            click.echo(message("passphrase-lost").of(lang))
        click.echo(getattr(made_words(path, manifest), lang))


def _filled_by_owner(folder: Path, pictures: bool, passphrase: str | None) -> Callable[[BinaryIO], Manifest]:
    """Return what fills a file of root's with a backup that the data folder's owner reads."""
    from companion.cli.owner import from_owner
    from companion.night.backup.archive import BackupFile, Manifest, write_backup
    from companion.night.backup.encryption import kept_passphrase, sealed

    def fill(file: BinaryIO) -> Manifest:
        def work(answer: BinaryIO) -> None:
            secret = kept_passphrase(folder) if passphrase is None else passphrase
            with tempfile.TemporaryDirectory(prefix="companion-copy-") as place, sealed(file, secret) as plain:
                manifest = write_backup(plain, folder.resolve(), Path(place) / "copy.db.part", pictures)
            file.flush()
            answer.write(json.dumps(manifest.to_json()).encode())

        said = json.loads(from_owner(folder, work))
        parts = tuple(BackupFile(one["name"], one["size"], one["sha256"], one["changed"]) for one in said["files"])
        return Manifest(said["made"], said["seq"], said["companion"], said["pictures"], parts)

    return fill
