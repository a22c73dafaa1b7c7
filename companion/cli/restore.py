"""`companion restore`: nights from a backup, checked first; what was there before is kept."""

from __future__ import annotations

import contextlib
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
def command(backup: Path | None, data: Path | None, only_check: bool, lang: str, json_: bool) -> int:
    """Put the nights of BACKUP in the place of the present ones, which are kept beside them.

    Without BACKUP it is the newest of the data folder's own that has what is damaged or missing now. The service must
    have ended; host links and the PIN stay as they are, and so do settings of this machine: those of the backup are
    shown, and asked for on the page. The passphrase of an encrypted one is the data folder's, or it is asked for. Exit
    status 1 where something in what was brought back is damaged.
    """
    from companion.cli.owner import brought, give_up_root
    from companion.night.backup.encryption import kept_passphrase, locked
    from companion.night.backup.messages import BackupError, message
    from companion.night.backup.restore import look_into, restore, standing
    from companion.night.log.data_folder import default_folder
    from companion.night.log.database import StorageError
    from companion.night.messages import SENTENCES

    folder = data or default_folder()
    try:
        with brought(backup, folder) as given:
            folder = give_up_root(folder)
            source = given() if backup is not None else _best(folder)
            passphrase = kept_passphrase(folder)
            if locked(source, passphrase):
                passphrase = ask_passphrase()
            if only_check:
                manifest, damage = look_into(source, passphrase)
                report: dict[str, object] = {"former": None}
                words = [message("sound", file=source, seq=manifest.seq, pictures=manifest.picture_count)]
            else:
                manifest, former = restore(source, folder, passphrase)
                now = standing(folder, former)
                damage = now.damage
                report = {"former": str(former), "later": now.later, "settings": dict(now.offered)}
                words = [message("restored", seq=manifest.seq, pictures=manifest.picture_count, former=former)]
                words += [message("later", count=now.later, former=former.name)] if now.later else []
                if now.offered:
                    said = "; ".join(f"{name} = {_shown(value)}" for name, value in now.offered.items())
                    words.append(message("settings-asked", settings=said))
    except BackupError as error:
        raise click.ClickException(error.words.of(lang)) from error
    except StorageError as error:
        raise click.ClickException(SENTENCES[error.key].filled(error.facts).of(lang)) from error
    words += [message("copied-damage", first=one.first, last=one.last) for one in damage]
    if json_:
        form = {"file": str(backup or source), "seq": manifest.seq, "pictures": manifest.picture_count}
        spoilt = [{"first": one.first, "last": one.last} for one in damage]
        click.echo(json.dumps({**form, "made": manifest.made, **report, "damage": spoilt}, ensure_ascii=False))
    else:
        for one in words:
            click.echo(one.of(lang))
    return int(bool(damage))


def _best(folder: Path) -> Path:
    """Return the newest backup that helps: with what is damaged now, or else one without damage.

    :raises companion.night.backup.messages.BackupError: when none does.
    """
    from companion.night.backup.archive import BACKUPS
    from companion.night.backup.messages import BackupError
    from companion.night.backup.scheduler import backups
    from companion.night.log.chain import Damage
    from companion.night.log.data_folder import JOURNAL
    from companion.night.log.database import StorageError
    from companion.night.log.journal import Journal
    from companion.night.views.damage import newest_with

    wanted: list[Damage] = []
    with contextlib.suppress(StorageError), contextlib.closing(Journal(folder / JOURNAL, read_only=True)) as journal:
        wanted = [*journal.owned_up(), *journal.damage]
    if not backups(folder / BACKUPS):
        raise BackupError("nothing-to-keep", folder=folder / BACKUPS)
    found = newest_with(folder, wanted)
    if found is None:
        raise BackupError("none-helps", folder=folder / BACKUPS)
    return found


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
