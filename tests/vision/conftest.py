"""Pictures that several tests of vision share: rendering one takes a third of a second."""

from __future__ import annotations

import pytest

from companion.lab.worlds import table


@pytest.fixture(scope="session")
def still() -> list[table.Picture]:
    """Four pictures of the same still table; only the sensor's noise differs."""
    return [table.standard(seed=seed) for seed in range(4)]


@pytest.fixture(scope="session")
def hidden() -> table.Picture:
    """The same table with a hand over marker 2."""
    return table.standard(seed=9, hidden=True)
