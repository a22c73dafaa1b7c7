"""`companion host`: a fresh host link, also while the service runs."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("host")
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    help="The data folder of the service (else $COMPANION_DATA, else the user's own data folder).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of words.")
def command(data: Path | None, as_json: bool) -> None:
    """Issue a one-time host link: whoever opens it first hosts the table."""
    from companion.access.store import Access, open_or_begin_anew
    from companion.cli.owner import give_up_root
    from companion.night.backup.archive import held
    from companion.night.backup.messages import BackupError
    from companion.night.log.data_folder import ACCESS, default_folder, read_address
    from companion.night.log.database import DamagedError
    from companion.settings import Settings

    folder = data or default_folder()
    if not folder.is_dir():
        raise click.UsageError(
            f"There is no data folder {folder}; start `companion serve` once, or name it with --data."
        )
    folder = give_up_root(folder)
    try:
        access = Access(folder / ACCESS)
    except DamagedError as error:
        # A service that runs has the file open: put aside under it, a link made here would be in a file it never reads.
        try:
            with held(folder):
                access, note = open_or_begin_anew(folder / ACCESS, Settings(None))
        except BackupError:
            raise click.ClickException(f"{error} Start the service anew; it puts the file aside.") from error
        click.echo(note, err=True)
    try:
        token = access.host_token()
    finally:
        access.close()
    links = [f"{url.rstrip('/')}/host/{token}" for url in read_address(folder)]
    if as_json:
        click.echo(json.dumps({"token": token, "links": links}))
        return
    if not links:
        click.echo("No service runs on this data folder; once it does, open this under its address:")
        click.echo(f"/host/{token}")
        return
    click.echo("Open this once, on the host's phone:")
    for link in links:
        click.echo(link)
