"""The journal: an append-only list of what happened, in SQLite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened; ``at`` is UTC milliseconds, ``seq`` counts 1, 2, 3 … without a gap."""

    seq: int
    at: int
    kind: str
    body: Mapping[str, Any]
    by: str
    by_role: str
    action_id: str | None = None
    device_kind: str | None = None


class Journal:
    """The journal file; see :meth:`append`."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        raise NotImplementedError

    def since(self, seq: int) -> Sequence[Entry]:
        """Return the entries after ``seq``, in order."""
        raise NotImplementedError

    @property
    def last_seq(self) -> int:
        """Return the number of the last entry, 0 when there is none."""
        raise NotImplementedError

    def check(self) -> list[str]:
        """Return everything that is wrong with the file, one sentence each; empty when it is sound."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the file."""
        raise NotImplementedError
