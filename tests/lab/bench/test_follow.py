"""What people enter beside the camera's entries: what no board shows, as it was played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from companion.lab.bench.follow import unseen_step
from companion.lab.bench.vision.sighted import followed_as_drawn
from companion.lab.worlds.traced.ice_team import traced_ice
from companion.rules import game


def position(fresh: int) -> Any:
    """Return a position with a green bear among penguins; the other floes are plain."""
    start: Any = game("ice-team").start([{"name": "Ann"}, {"name": "Bob"}]).position()
    grounds = {"b1": "penguin1", "a6": "penguin2", "a3": "penguin1"}
    for name, place in start["places"].items():
        place["ground"] = grounds.get(name, "plain") if place["ground"] == "floe" else place["ground"]
    bears = [("start", "green", 3), ("start", "red", 4), ("b4", "green", 1)]
    for name in ("start", "b4"):
        here = [{"kind": "bear", "colour": colour, "count": n} for where, colour, n in bears if where == name]
        start["places"][name]["things"] = here
    players = [{"name": "Ann", "colour": "green", "fresh": fresh}, {"name": "Bob", "colour": "red"}]
    data = {"game": "ice-team", "places": start["places"], "players": players, "turn": "green", "actions": 2}
    return game("ice-team").from_position(data)


def test_fish_freeze_where_they_froze_and_nowhere_else() -> None:
    played = ["walk b4 b1", "freeze 1", "walk b1 a3", "freeze 0"]
    state = position(2)
    assert unseen_step(state, played) is None
    state = state.play(state.game.parse("walk b4 b1"))
    assert unseen_step(state, played) == "freeze 1"
    state = state.play(state.game.parse("freeze 1")).play(state.game.parse("walk b1 a3"))
    assert unseen_step(state, played) == "freeze 0"
    # The record went past other penguins: as many freeze there.
    other = position(2).play(state.game.parse("walk b4 a6"))
    assert unseen_step(other, ["walk b4 b1", "freeze 1", "walk b1 a3"]) == "freeze 1"
    assert unseen_step(other, ["walk b4 b2", "walk b2 a9"]) == "freeze 0"


@pytest.mark.long
@pytest.mark.learning
@pytest.mark.timeout(1800)
def test_a_game_that_another_program_drew_is_followed(tmp_path: Path) -> None:
    film = traced_ice(305, 3)
    found = followed_as_drawn(tmp_path, film, film.corners)
    assert (found.turns, found.wrong) == (3, 0), found.told
    assert found.among == found.questions, found.told
