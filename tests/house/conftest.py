"""What the tests of the house share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.worlds.served import Served


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Start real services on one folder; all of them end with the test."""
    running: list[Served] = []

    def start(*arguments: str) -> Served:
        served = Served(tmp_path / "data", *arguments)
        running.append(served)
        return served

    yield start
    for served in running:
        served.close()
