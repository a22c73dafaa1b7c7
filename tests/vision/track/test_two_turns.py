"""Two turns between two looks: they are offered, and never entered."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from companion.lab.bench.vision.tracker_trials import hidden, look
from companion.lab.worlds.filmed import Filmed
from companion.rules.inference.turns import content
from vision.track.candidate import QUESTION, TWO
from vision.track.tracker import Tracker


def laid(state: Any) -> dict[str, Any]:
    return {name: content(place) for name, place in state.position()["places"].items()}


@pytest.mark.parametrize("seed", [7, 8])
def test_two_turns_in_one_look_are_offered_and_not_entered(seed: int) -> None:
    film, rng, offered = Filmed(seed, 8, kept=0.7), Random(seed), 0
    for number in (0, 2, 4, 6):
        tracker = Tracker([hidden(film.states[number])])
        answer = tracker.observe(look(film.states[number + 2].position(), "clear", rng))
        assert len(tracker.confirmed) == 1, "nothing is entered"
        truth = laid(film.states[number + 2])
        right = [one for one in answer.candidates[:3] if one.state is not None and laid(one.state) == truth]
        if answer.state == QUESTION and right and right[0].kind == TWO:
            offered += 1
            state = film.states[number]
            for move in right[0].moves:
                assert state.refusal(move) is None
                state = state.after(move)
            assert laid(state) == truth
            assert state.turn == film.states[number + 2].turn
    assert offered == 4


def test_a_turn_in_which_somebody_took_two_pieces_too_many_is_none() -> None:
    film = Filmed(7, 2, kept=0.7)
    board = film.states[1].position()
    places = {name: dict(place) for name, place in board["places"].items()}
    full = [name for name, place in places.items() if place["things"]][:6]
    for name in full:
        places[name]["things"] = []
    tracker = Tracker([hidden(film.states[0])])
    answer = tracker.observe(look({**board, "places": places}, "clear", Random(1)))
    assert answer.state != "entered" and answer.candidates[0].kind != TWO
