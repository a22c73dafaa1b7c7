"""What the tests of the rules share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from companion.cli.explain import command


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


@pytest.fixture
def explained(tmp_path: Path) -> Callable[..., int]:
    """Let the command explain two positions of a game; return its exit status."""

    def run(game_id: str, before: Any, after: Any, *options: str) -> int:
        paths = []
        for name, position in (("before", before), ("after", after)):
            path = tmp_path / f"{name}.json"
            path.write_text(json.dumps(position), encoding="utf-8")
            paths.append(str(path))
        result = command.main(args=[game_id, *paths, *options], standalone_mode=False)
        assert isinstance(result, int)
        return result

    return run
