"""What the tests of the rules share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "cites(*ids): the clauses and disputes that a test holds the rules to")


@pytest.fixture
def play() -> Callable[..., Any]:
    """Play moves given as text, one after the other, each of them checked."""

    def run(state: Any, *texts: str) -> Any:
        for text in texts:
            state = state.play(state.game.parse(text))
        return state

    return run


@pytest.fixture
def refused() -> Callable[..., Any]:
    """Return the ruling on a move that must be refused."""

    def run(state: Any, text: str) -> Any:
        move = state.game.parse(text)
        assert move not in state.legal_moves
        ruling = state.check(move)
        assert not ruling.legal
        return ruling

    return run
