"""The registry: games by their names, imported when asked for; and measuring them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from companion.lab.bench.rules_speed import moves_per_second
from companion.rules import game, games
from companion.rules.core import NOBODY, Game, SetupError
from companion.rules.playouts import playout


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


@pytest.mark.process
def test_importing_the_rules_imports_no_game() -> None:
    code = (
        "import sys, companion.rules as r; r.games();"
        "print([m for m in sys.modules if m.startswith('companion.rules.') or m in ('tomllib', 'json', 'flask')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", games())
def test_a_game_has_seats_for_its_numbers_of_players_only(name: str) -> None:
    played = game(name)
    for count in played.players:
        assert len(played.seats(count)) == count
    with pytest.raises(SetupError, match="players"):
        played.seats(played.players[-1] + 1)
    with pytest.raises(SetupError, match="no option"):
        played.settled_options({"no.such": True})


@pytest.mark.parametrize("name", games())
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
