"""The registry: games by their names, imported when asked for; and measuring them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import companion.rules
from companion.lab.bench.rules_speed import moves_per_second
from companion.night.games import game_view, shown_games
from companion.rules import find_part, game, games
from companion.rules.core import NOBODY, Game, SetupError
from companion.rules.inference.turns import search_of
from companion.rules.playouts import playout

FOUR = ("igloo-pop", "iglu-iglu", "arctic", "ice-team")
"""The games that are shipped; a fifth one, or another example, breaks no test here."""
MORE = games()[len(FOUR) :]
EXAMPLES = frozenset(games(examples=True)) - frozenset(games())


def test_the_games_that_are_here_are_listed_and_loaded() -> None:
    assert "igloo-pop" in games()
    for name in games():
        found = game(name)
        assert isinstance(found, Game)
        assert found.id == name
        assert game(name) is found


def test_a_game_that_is_not_here_is_refused_in_one_sentence() -> None:
    with pytest.raises(SetupError, match="'chess'; there is igloo-pop") as wrong:
        game("chess")
    assert "jeu" in wrong.value.fr


def test_the_page_has_the_games_in_its_order() -> None:
    assert games()[: len(FOUR)] == FOUR


@pytest.fixture
def house_with_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A second folder of games: a fifth one, an example, and a folder that is no game."""
    made = {"fifth_game": "PLACE = 2\n", "toy_b": "PLACE = None\n", "toy_a": "PLACE = None\n", "workshop": "GAME = 1\n"}
    for name, place in made.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"from companion.rules.igloo_pop import GAME\n\n{place}")
    monkeypatch.setattr(companion.rules, "__path__", [*companion.rules.__path__, str(tmp_path)])
    yield tmp_path
    for name in made:
        sys.modules.pop(f"companion.rules.{name}", None)


def test_a_folder_is_a_game_and_its_place_is_where_it_says(house_with_more: Path) -> None:
    assert games() == ("igloo-pop", "fifth-game", *FOUR[1:], *MORE)
    assert not [name for name in sys.modules if name.startswith("companion.rules.fifth_game")]
    assert game("fifth-game") is game("igloo-pop")
    with pytest.raises(SetupError, match="'workshop'; there is igloo-pop, fifth-game, iglu-iglu"):
        game("workshop")


def test_an_example_is_found_but_offered_to_developers_only(house_with_more: Path) -> None:
    assert "toy-a" not in games()
    assert "thin-ice" in EXAMPLES
    assert games(examples=True) == (
        *("igloo-pop", "fifth-game", *FOUR[1:], *MORE),
        *sorted(EXAMPLES | {"toy-a", "toy-b"}),
    )
    assert game("toy-a") is game("igloo-pop")
    with pytest.raises(SetupError, match=rf"{games()[-1]}\.$"):
        game("toy-c")


def test_a_part_of_a_game_is_found_by_the_games_name(house_with_more: Path) -> None:
    assert find_part("companion.rules", "ice-team", "inference.search") is search_of("ice-team")
    assert find_part("companion.rules", "fifth-game", "inference.search") is None
    assert find_part("companion.rules", "workshop", "inference.search") is None
    with pytest.raises(
        SetupError, match="Turns of fifth-game cannot be searched; those of igloo-pop, iglu-iglu, arctic"
    ):
        search_of("fifth-game")
    assert shown_games(examples=True) == (*FOUR, *MORE, *sorted(EXAMPLES))
    with pytest.raises(KeyError):
        game_view("fifth-game")


def test_a_part_that_misses_something_else_says_so(house_with_more: Path) -> None:
    (house_with_more / "toy_a" / "svg.py").write_text("import no_such_module\n")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        find_part("companion.rules", "toy-a", "svg")


@pytest.mark.process
def test_importing_the_rules_imports_no_game() -> None:
    code = (
        "import sys, companion.rules as r; r.games();"
        "print([m for m in sys.modules if m.startswith('companion.rules.') or m in ('tomllib', 'json', 'flask')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", games(examples=True))
def test_a_game_has_seats_for_its_numbers_of_players_only(name: str) -> None:
    played = game(name)
    for count in played.players:
        assert len(played.seats(count)) == count
    with pytest.raises(SetupError, match="players"):
        played.seats(played.players[-1] + 1)
    with pytest.raises(SetupError, match="no option"):
        played.settled_options({"no.such": True})


@pytest.mark.parametrize("name", games(examples=True))
def test_the_same_seed_gives_the_same_game(name: str) -> None:
    from random import Random

    played = game(name)
    one, state = playout(played, played.players[0], Random(7))
    other, _ = playout(played, played.players[0], Random(7))
    assert one == other
    assert one != playout(played, played.players[0], Random(8))[0]
    assert state.to_move == NOBODY
    assert one.replay().state == state


def test_measuring_plays_games() -> None:
    assert moves_per_second("igloo-pop", 0.01) > 0
    assert moves_per_second("igloo-pop", 0, players=2) > 0
