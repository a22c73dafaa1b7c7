"""`companion kit`: the printable sheets as a PDF."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("companion-kit.pdf"),
    show_default=True,
    help="Where to write the PDF.",
)
@click.option(
    "--paper", type=click.Choice(["a4", "letter"]), default="a4", show_default=True, help="Size of the paper."
)
def command(out: Path, paper: str) -> None:
    """Write the printable sheets (PDF): four board markers and a check ruler, in English and French."""
    from vision.board.print_kit import pages, to_pdf
    from vision.whole_file import write_whole

    write_whole(out, to_pdf(pages(paper)))
    click.echo(f"{out}: print it at 100 % and check that the ruler measures 150 mm.")
