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


@pytest.fixture
def allowed() -> Callable[..., Any]:
    """Return the ruling on a move that must be legal."""

    def run(state: Any, text: str) -> Any:
        move = state.game.parse(text)
        assert move in state.legal_moves, state.check(move).en
        assert move in set(state.legal_moves)
        ruling = state.check(move)
        assert ruling.legal
        assert ruling.en and ruling.fr and ruling.en != ruling.fr
        return ruling

    return run


@pytest.fixture
def texts() -> Callable[..., set[str]]:
    """Return the legal moves of a state as text, those that begin with a verb."""

    def run(state: Any, verb: str = "") -> set[str]:
        return {str(move) for move in state.legal_moves if str(move).split()[0] == verb or not verb}

    return run
