"""A game is a folder: what names a game stands in that game's own folders and files, and the rest asks the registry.

Those that measure particular games, make the shipped models from them or draw them (``companion/lab/bench``, ``train``
and ``worlds``) may name them; docstrings and comments may as well.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.night.games import GameView, game_view, shown_games
from companion.rules import find_part, game, games, package_name

ROOT = Path(__file__).resolve().parents[1]
EVERY = games(examples=True)
MEASURING = ("companion/lab/bench", "companion/lab/train", "companion/lab/worlds")
FILES = sorted(
    path
    for top in ("companion", "vision", "web")
    for path in (ROOT / top).rglob("*.py")
    if not str(path.relative_to(ROOT)).startswith(MEASURING)
)
CALLED = {name: re.compile(name.replace("-", "[-_ ]?"), re.IGNORECASE) for name in EVERY}
"""A game however it is written: igloo-pop, igloo_pop, IglooPop, Igloo Pop."""


def own(path: Path) -> str:
    """Return the game of whose folder, or of whose name, a file is; empty for all others."""
    parts = (*path.relative_to(ROOT).parts[:-1], path.stem)
    return next((name for name in EVERY if package_name(name) in parts), "")


def words(source: str) -> Iterator[tuple[int, str]]:
    """Yield what code is made of, with its line: names, attributes, imports, texts; no docstrings."""
    tree = ast.parse(source)
    told = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                # A docstring, also that of a constant below it.
                told.add(node.value)
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.keyword(arg=str(name)):
                yield node.lineno, name
            case ast.Import(names=names):
                yield from ((node.lineno, f"{one.name} {one.asname or ''}") for one in names)
            case ast.ImportFrom(module=module, names=names):
                yield from ((node.lineno, f"{module} {one.name} {one.asname or ''}") for one in names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node not in told and isinstance(node.value, str | bytes):
            yield node.lineno, node.value if isinstance(node.value, str) else node.value.decode("latin-1")


def named(source: str, besides: str = "") -> list[tuple[int, str]]:
    """Return where source names a game other than ``besides``."""
    others = [pattern for name, pattern in CALLED.items() if name != besides]
    return sorted((line, word) for line, word in words(source) if any(one.search(word) for one in others))


def test_no_code_outside_a_game_names_it() -> None:
    assert len(FILES) > 300
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {word[:60]!r}"
        for path in FILES
        for line, word in named(path.read_text(encoding="utf-8"), own(path))
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "code",
    [
        'GAME = "igloo-pop"',
        "from companion.rules.arctic.components import TEXT",
        "import companion.rules.ice_team",
        "state: IglooPopState",
        "def _iglu_iglu(): ...",
        'raise ValueError(f"no Ice Team here: {1}")',
        "x = b'arctic 12'",
        "f(ice_team=1)",
        "view.arctic",
    ],
)
def test_such_code_would_be_found(code: str) -> None:
    assert named(code)


def test_words_for_people_who_read_the_code_may_name_games() -> None:
    assert not named('"""Igloo Pop."""\nLIMIT = 3\n"""As in Arctic."""\n# as in Ice Team\n')
    assert not named('IglooPopState("igloo-pop")', "igloo-pop")


@pytest.mark.parametrize("name", EVERY)
def test_a_game_is_called_in_its_folder_as_by_the_registry(name: str) -> None:
    assert game(name).id == name
    folder = ROOT / "companion" / "rules" / package_name(name)
    assert {"README.md", "svg.py", "inference"} <= {path.name for path in folder.iterdir()}
    assert find_part("companion.rules", name, "inference.search") is not None


@pytest.mark.parametrize("name", shown_games(examples=True))
def test_a_view_is_that_of_its_game_and_answers_for_it(name: str) -> None:
    view: GameView = game_view(name)
    rules = game(name)
    state = rules.start(rules.seats(rules.players[0]))
    assert view.draw(state, "en", None).startswith("<svg")
    position, things = view.beginning({})
    assert position["game"] == name
    assert rules.from_position(position).position()["game"] == name
    assert len({thing for thing, _ in things}) == len(things)
    assert view.overfull(state) is None
    if view.box is not None:
        assert view.box.checked(view.box.default()) is not None
    if view.cards is not None:
        assert view.cards.example in view.cards.names
