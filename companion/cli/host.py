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
    from companion.access.store import Access
    from companion.night.log.data_folder import ACCESS, default_folder, read_address

    folder = data or default_folder()
    if not folder.is_dir():
        raise click.UsageError(
            f"There is no data folder {folder}; start `companion serve` once, or name it with --data."
        )
    access = Access(folder / ACCESS)
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
