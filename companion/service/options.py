"""What the service is started with, and why it may not start."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from companion.ports import CompanionError


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What `companion serve` was asked for."""

    data: Path
    host: str = "0.0.0.0"  # noqa: S104 - the page is for the phones of the house
    port: int = 8080
    simulate: bool = False
    igloo: str = ""
    camera: str = ""
    example_games: bool = False


class DataFolderBusyError(CompanionError, OSError):
    """Another service is using the data folder."""
