"""Every move there is has a number, which is the same everywhere."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from random import Random

import pytest

from companion.lab.openspiel.vocabulary import vocabulary
from companion.rules import game, games
from companion.rules.core import ANYBODY, CHANCE, NOBODY, SetupError

EVERY = [(name, players) for name in games(examples=True) for players in game(name).players]
# What the adapter leaves out of Igloo Pop: announcements, and the start of a round.
LEFT_OUT = {"take", "return", "start"}


@pytest.mark.parametrize(("name", "players"), EVERY)
def test_every_move_of_random_games_has_a_number(name: str, players: int) -> None:
    words = vocabulary(name, players)
    played = game(name)
    for seed in range(3):
        rng = Random(seed)
        state = played.start(played.seats(players))
        while state.to_move != NOBODY:
            if state.to_move == CHANCE:
                for move, _ in state.chances():
                    assert words.outcomes[words.outcome_numbers[move]] == move
                state = state.after(state.chance(rng))
            else:
                listed = list(state.moves())
                for move in listed:
                    if state.to_move != ANYBODY or str(move).split()[0] not in LEFT_OUT:
                        assert words.decisions[words.decision_numbers[move]] == move
                state = state.after(rng.choice(listed))


@pytest.mark.parametrize(("name", "players"), EVERY)
def test_numbers_count_from_nought_without_gaps(name: str, players: int) -> None:
    words = vocabulary(name, players)
    for row, numbers in ((words.decisions, words.decision_numbers), (words.outcomes, words.outcome_numbers)):
        assert list(numbers.values()) == list(range(len(row)))
        assert [numbers[move] for move in row] == list(range(len(row)))


def digest(name: str, players: int) -> str:
    words = vocabulary(name, players)
    return hashlib.sha256("\n".join(map(str, (*words.decisions, *words.outcomes))).encode()).hexdigest()


@pytest.mark.process
def test_numbers_are_the_same_in_another_process() -> None:
    code = (
        "import hashlib; from companion.lab.openspiel.vocabulary import vocabulary as v\n"
        f"for name, players in {[(n, game(n).players[-1]) for n in games()]!r}:\n"
        "    w = v(name, players)\n"
        "    print(hashlib.sha256('\\n'.join(map(str, (*w.decisions, *w.outcomes))).encode()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == [digest(name, game(name).players[-1]) for name in games()]


def test_some_numbers_are_written_down() -> None:
    words = vocabulary("igloo-pop", 2)
    assert [str(words.decisions[number]) for number in (0, 8, 9, 18, 19)] == [
        "place red card1",
        "place red card9",
        "place yellow card1",
        "pass red",
        "pass yellow",
    ]
    assert str(words.outcomes[0]) == "deal card1 2"
    assert str(words.outcomes[-1]) == "reveal card9 13"


def test_a_game_that_is_not_for_so_many_has_no_numbers() -> None:
    with pytest.raises(SetupError, match="players"):
        vocabulary("ice-team", 3)
