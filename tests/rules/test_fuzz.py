"""Positions with something broken: each is refused in one sentence, or all that can be asked of it is answered."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

import pytest

from companion.rules import game, games
from companion.rules.core import RulesError
from companion.rules.drawing import picture
from companion.rules.playouts import playout
from companion.rules.rulebook import rulebook

JUNK: list[Any] = [
    *(None, -1, 0, 1, 2, 7, 99, 10**30, 1.5, True, False, "", "x", "?", "red", "blue", "fox", "floe", "d4", "kept"),
    *([], {}, ["x"], [[]], {"a": 1}, float("inf"), [None]),
]
TRIES = 250


def broken(value: Any, rng: Random) -> Any:
    """Return a JSON value with one thing in it left out, doubled, swapped or replaced by junk."""
    chance = rng.random()
    if isinstance(value, dict) and value:
        found = dict(value)
        key, other = rng.choice(list(found)), rng.choice(list(found))
        if chance < 0.12:
            del found[key]
        elif chance < 0.3:
            found[key] = copy.deepcopy(rng.choice(JUNK))
        elif chance < 0.34:
            found[f"{key}x"] = found[key]
        elif chance < 0.4:
            found[key], found[other] = found[other], found[key]
        else:
            found[key] = broken(found[key], rng)
        return found
    if isinstance(value, list) and value:
        items = list(value)
        at = rng.randrange(len(items))
        if chance < 0.15:
            del items[at]
        elif chance < 0.3:
            items.append(copy.deepcopy(items[at]))
        else:
            items[at] = broken(items[at], rng)
        return items
    if isinstance(value, int) and chance < 0.3:
        return value + rng.choice([-1, 1, 5])
    return copy.deepcopy(rng.choice(JUNK))


@pytest.mark.parametrize("name", games(examples=True))
def test_whatever_is_wrong_with_a_position_is_told_and_nothing_breaks(name: str) -> None:
    rng, played = Random(11), game(name)
    record, _ = playout(played, played.players[-1], Random(3))
    replay = record.replay()
    forms = [json.loads(json.dumps(replay.at(rng.randrange(len(record.moves))).position())) for _ in range(8)]
    moves = [played.parse(text) for text in rng.sample(record.moves, min(30, len(record.moves)))]
    read = 0
    for _ in range(TRIES):
        form = rng.choice(forms)
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            form = broken(form, rng)
        try:
            state = played.from_position(form)
        except RulesError as error:
            assert error.en and error.fr and "\n" not in error.en and len(error.en) < 600
            continue
        read += 1
        problems = state.problems()
        for problem in problems:
            assert all(rulebook(name).problem(problem, state, lang) for lang in ("en", "fr", "de"))
        assert state.score().ranking
        state.outcome()
        assert str(state)
        again = played.from_position(json.loads(json.dumps(state.position())))
        assert problems or again == state
        for move in rng.sample(moves, 3):
            assert state.check(move).en
            assert picture(state, move, rng.choice(["en", "fr", "de"]))
        for move in list(state.moves())[:2]:
            assert state.check(move).legal
    assert 10 < read < TRIES
