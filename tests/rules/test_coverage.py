"""Every clause that the rulebook states, or that follows from it, is held by a test that cites it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from companion.rules import games
from companion.rules.rulebook import rulebook

HERE = Path(__file__).parent


def cited_in(folder: Path) -> set[str]:
    """Return every string of the test files that may be an id; comments and docstrings do not count."""
    found: set[str] = set()
    for path in folder.rglob("test_*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
                found.add(node.value)
    return found


@pytest.mark.parametrize("game_id", games(examples=True))
def test_every_stated_or_deduced_clause_is_cited_by_a_test(game_id: str) -> None:
    cited = cited_in(HERE / game_id.replace("-", "_"))
    book = rulebook(game_id)
    missing = [c.id for c in book.clauses.values() if c.status in ("text", "deduced") and c.id not in cited]
    assert not missing


@pytest.mark.parametrize("game_id", games(examples=True))
def test_every_listed_dispute_is_cited_by_a_test(game_id: str) -> None:
    cited = cited_in(HERE / game_id.replace("-", "_"))
    assert not [dispute for dispute in rulebook(game_id).disputes if dispute not in cited]
