"""What chance may bring, with its probabilities, is what chance draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import sqrt
from random import Random
from typing import Any

import pytest

from companion.rules import game, games
from companion.rules.core import CHANCE, NOBODY, State

DRAWS = 600


def chance_states(name: str) -> Iterator[State[Any]]:
    """Yield states of a random game in which chance is to move: some of each phase."""
    rng = Random(5)
    played = game(name)
    seen: Counter[str] = Counter()
    state = played.start(played.seats(played.players[0]))
    while state.to_move != NOBODY:
        if state.to_move == CHANCE:
            phase = state.position()["phase"]
            seen[phase] += 1
            if seen[phase] in (1, 2, 4, 9, 16):
                yield state
            state = state.play(state.chance(rng))
        else:
            state = state.play(rng.choice(list(state.moves())))


@pytest.mark.parametrize("name", games(examples=True))
def test_chance_draws_by_its_probabilities(name: str) -> None:
    tried = 0
    for state in chance_states(name):
        chances = dict(state.chances())
        assert sum(chances.values()) == pytest.approx(1)
        assert all(probability > 0 for probability in chances.values())
        assert all(move in state.legal_moves for move in chances)
        assert len(chances) == len(state.chances())
        rng = Random(11)
        drawn = Counter(state.chance(rng) for _ in range(DRAWS))
        assert set(drawn) <= set(chances)
        # Pearson's chi-square, held to five standard deviations above its mean; the seeds are fixed.
        off = sum((drawn[move] - DRAWS * p) ** 2 / (DRAWS * p) for move, p in chances.items())
        freedom = len(chances) - 1
        assert off <= freedom + 5 * sqrt(2 * freedom) + 1e-9, (str(state), off, freedom)
        tried += 1
    assert tried >= 4


@pytest.mark.parametrize("name", games(examples=True))
def test_what_is_hidden_is_no_outcome_of_chance(name: str) -> None:
    for state in chance_states(name):
        words = {word for move, _ in state.chances() for word in str(move).split()}
        assert not words & {"?", "kept"}


@pytest.mark.parametrize("name", ["iglu-iglu", "ice-team"])
def test_tokens_tiles_and_dice_are_not_all_alike(name: str) -> None:
    weights = [{round(p, 6) for _, p in state.chances()} for state in chance_states(name)]
    assert any(len(found) > 1 for found in weights)


def test_the_four_fish_of_the_centre_are_drawn_as_the_box_has_them(play: Any) -> None:
    iglu = game("iglu-iglu")
    state = iglu.start(iglu.seats(2))
    assert {str(m): p for m, p in state.chances()} == pytest.approx(
        {"draw d4 fish 1": 8 / 28, "draw d4 fish 2": 12 / 28, "draw d4 fish 3": 8 / 28}
    )
    state = play(state, "draw d4 fish 2")
    assert {str(m): p for m, p in state.chances()}["draw e4 fish 2"] == pytest.approx(11 / 27)


def test_a_red_tile_is_less_likely_where_hands_hold_unknown_ones() -> None:
    iglu = game("iglu-iglu")
    position = iglu.start(iglu.seats(2), setup={"fish": {"d4": 1, "e4": 1, "d5": 2, "e5": 2}}).position()
    places = ["a2", "a3", "a4", "a5", "a6"]
    for colour, column in (("red", "a"), ("blue", "h")):
        for place in places:
            thing = {"kind": "inuit", "colour": colour, "count": 1}
            position["places"][column + place[1]]["things"].append(thing)
    position["places"]["c4"]["ground"] = "water"
    position |= {"phase": "revealing", "turn": "red", "to_move": None, "pending": {"square": "c4"}}
    position["hands"]["blue"] = {"tiles": {}, "unknown": 6}
    state = iglu.from_position(position)
    chances = {str(move).removeprefix("reveal c4 "): p for move, p in state.chances()}
    # 56 tiles, 24 of them red, six of those in blue's hand: fifty may be it, eighteen of them red.
    assert chances["pack"] == pytest.approx(10 / 50)
    assert chances["thaw"] == pytest.approx(5 / 24 * 18 / 50)
    assert sum(p for face, p in chances.items() if face.startswith(("thaw", "harpoon", "animals", "end"))) == (
        pytest.approx(18 / 50)
    )
