"""What the commands of `companion shake` share."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

FILE = click.Path(dir_okay=False, path_type=Path)


def progress() -> Progress:
    """Return a progress bar on stderr, so that stdout stays the answer."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
