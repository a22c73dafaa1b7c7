"""A card that the kernel made read-only while files on it were open, as the system then tells of it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import pytest


@contextlib.contextmanager
def read_only_card(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have the system say of every folder that its card is read-only; what is written is taken all the same."""
    usual = os.statvfs

    def told(place: str | os.PathLike[str]) -> os.statvfs_result:
        facts = usual(place)
        return os.statvfs_result([*facts[:8], facts.f_flag | os.ST_RDONLY, *facts[9:]])

    with monkeypatch.context() as remounted:
        remounted.setattr(os, "statvfs", told)
        yield
