"""Random complete games of every game and number of players: nothing breaks on the way (the bench plays a thousand)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from companion.cli import run
from companion.lab.bench import random_games as bench_random_games
from companion.lab.bench.random_games import random_games
from companion.lab.conserved import Count, conserved
from companion.rules import game, games
from companion.rules.core import SetupError
from tests.worlds.sizes import size

EVERY = [(name, players) for name in games() for players in game(name).players]


@pytest.mark.sized
@pytest.mark.no_cover
@pytest.mark.parametrize(("name", "players"), EVERY)
def test_random_games_break_nothing(name: str, players: int) -> None:
    many = size(2, 4)
    found = random_games(name, players, games=many, seed=7)
    assert found["violations"] == []
    assert found["broken"] == 0
    assert (found["game"], found["players"], found["games"]) == (name, players, many)
    assert found["longest"] < found["moves"] < many * found["longest"]


@pytest.mark.sized
@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("name", "option", "value"),
    [(name, option.name, value) for name in games() for option in game(name).options for value in option.values[1:]],
)
def test_random_games_break_nothing_by_any_option(name: str, option: str, value: str | bool | int) -> None:
    found = random_games(name, 2, games=size(1, 2), seed=5, options={option: value})
    assert (found["violations"], found["broken"]) == ([], 0)


def test_the_same_seed_plays_the_same_games() -> None:
    assert random_games("igloo-pop", 2, games=3, seed=1) == random_games("igloo-pop", 2, games=3, seed=1)
    assert random_games("igloo-pop", 2, games=3, seed=1) != random_games("igloo-pop", 2, games=3, seed=2)


def test_what_is_lost_is_told_with_the_seed_that_shows_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_igloo_too_many(game_id: str, position: Mapping[str, Any]) -> Iterator[Count]:
        yield "igloos", 13 if position["phase"] == "checking" else 12, 12

    monkeypatch.setattr(bench_random_games, "conserved", one_igloo_too_many)
    found = random_games("igloo-pop", 2, games=2, seed=3)
    assert found["broken"] > bench_random_games.LISTED == len(found["violations"])
    assert found["violations"][0]["what"] == "there are 13 igloos, not 12"
    assert found["violations"][0]["seed"] == "igloo-pop 2 3 0"
    assert found["violations"][0]["move"] > 10


def test_the_bench_plays_every_game_with_every_number_of_players(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "rules", "--seconds", "0.01", "--games", "1", "--json"]) == 0
    printed = capsys.readouterr()
    rows = [json.loads(line) for line in printed.out.splitlines()]
    played = [entry for entry in rows if entry["table"] == "games"]
    assert [entry["what"] for entry in played] == [f"{name}, {players} players" for name, players in EVERY]
    assert {entry["value"] for entry in played} == {0} and all("1 games, " in entry["note"] for entry in played)
    assert printed.err == "", "no bar where nobody looks"


def test_the_bench_fails_and_says_which_game_broke_a_rule(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("companion.lab.bench.command.every_table", lambda: [("ice-team", 2)])
    monkeypatch.setattr(bench_random_games, "conserved", lambda game_id, position: iter([("floes", 25, 24)]))
    assert run(["bench", "rules", "--seconds", "0.01", "--games", "2"]) == 1
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "seed 'ice-team 2 1 0', after move 0: there are 25 floes, not 24" in shown
    assert run(["bench", "vision", "--games", "2"]) == 2
    assert capsys.readouterr().err == "companion: --games goes with the table rules.\n"


@pytest.mark.parametrize(
    ("name", "changed", "what"),
    [
        ("igloo-pop", {"own": 9}, "thalers"),
        ("igloo-pop", {"in_hand": True}, "igloos"),
        ("igloo-pop", {"cards": ["7"]}, "cards"),
    ],
)
def test_each_count_sees_what_is_missing(name: str, changed: dict[str, Any], what: str) -> None:
    position = game(name).start(game(name).seats(2)).position()
    assert all(there == wanted for _, there, wanted in conserved(name, position))
    position["players"][0] |= changed
    assert [key for key, there, wanted in conserved(name, position) if there != wanted] == [what]


@pytest.mark.parametrize(
    ("square", "place", "what"),
    [
        ("a4", {"ground": "water", "things": []}, "unseen tiles"),
        ("d4", {"ground": "water", "things": [{"kind": "bear", "value": 4, "count": 5}]}, "bear 4 tokens"),
        ("d4", {"ground": "water", "things": [{"kind": "fish", "value": 1, "count": 9}]}, "fish 1 tokens"),
        ("a4", {"ground": "floe", "things": [{"kind": "fox", "value": 2, "count": 5}]}, "fox 2 tokens"),
    ],
)
def test_the_tiles_and_tokens_of_iglu_iglu_are_counted(square: str, place: dict[str, Any], what: str) -> None:
    position = game("iglu-iglu").start(game("iglu-iglu").seats(3)).position()
    position["places"][square] = place
    assert [key for key, there, wanted in conserved("iglu-iglu", position) if there != wanted] == [what]


def test_a_move_that_is_not_legal_or_reads_back_wrong_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pop = game("igloo-pop")
    state = pop.start(pop.seats(2), setup={"cards": ["4", "5", "6", "7", "8", "9", "10", "11", "12"]})
    start = pop.parse("start")
    assert list(bench_random_games.move_faults(state, start, [start])) == []
    assert list(bench_random_games.move_faults(state, start, [start, start])) == ["a move is listed twice"]
    take = pop.parse("take red")
    assert list(bench_random_games.move_faults(state, take, [start])) == ["take red is played and not legal"]
    monkeypatch.setattr(type(pop), "parse", lambda self, text: take)
    assert list(bench_random_games.move_faults(state, start, [start])) == ["start reads back as another move"]


def test_chance_that_draws_the_impossible_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pop = game("igloo-pop")
    state = pop.start(pop.seats(2))
    drawn, other = pop.parse("deal card1 4"), pop.parse("deal card1 5")
    listed = list(state.moves())
    assert list(bench_random_games.move_faults(state, drawn, listed)) == []
    monkeypatch.setattr(type(state), "chances", lambda self: [(other, 0.5)])
    assert list(bench_random_games.move_faults(state, drawn, listed)) == [
        "deal card1 4 is drawn and cannot be",
        "the probabilities of chance are none",
    ]


def test_a_game_that_is_not_for_so_many_is_refused() -> None:
    with pytest.raises(SetupError, match="players"):
        random_games("igloo-pop", 7, games=1)
