"""A game that a camera follows: the course it is told, and its entries, which anybody takes back with a tap."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.events.hub import Hub
from companion.night.answers import CAMERA, TABLE, Actor, Role
from companion.night.commands.night import Night
from companion.night.log.journal import Journal
from companion.ports import DeviceKind

PLAYERS = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]
FISH = {"d4": 1, "e4": 1, "d5": 2, "e5": 3}
EYE = Actor(Role.PLAYER, CAMERA, device=DeviceKind.SIMULATED)
TURN = ["melt c4", "reveal c4 kept", "walk b8 b7"]


@pytest.fixture
def night(tmp_path: Path) -> Night:
    night = Night(Journal(tmp_path / "journal.sqlite"), Hub())
    assert night.snapshot() is None
    opening = {"game": "iglu-iglu", "players": PLAYERS, "setup": {"fish": FISH}}
    assert night.do("open-match", opening, by=TABLE, action_id="open").ok
    placed = [f"place {colour} {'bcdef'[n]}{row}" for n in range(5) for colour, row in (("red", 8), ("blue", 1))]
    assert night.do("moves", {"moves": placed}, by=TABLE, action_id="placed").ok
    return night


def test_the_course_tells_every_state_and_who_entered_what(night: Night) -> None:
    snapshot = night.snapshot()
    assert snapshot is not None and (snapshot.game, snapshot.colours) == ("iglu-iglu", ("red", "blue"))
    assert snapshot.goes_on and not snapshot.draw and snapshot.state == night.state
    assert len(snapshot.states) == len(snapshot.by) + 1 == 11 and set(snapshot.by) == {TABLE.id}
    assert snapshot.states[-1].position()["phase"] == "start"
    assert night.do("pause", {}, by=TABLE, action_id="pause").ok
    paused = night.snapshot()
    assert paused is not None and not paused.goes_on


def test_what_the_camera_entered_is_marked_and_goes_with_a_tap(night: Night) -> None:
    player = Actor(Role.PLAYER, "phone-1")
    assert night.do("moves", {"moves": TURN}, by=EYE, state=night.state, action_id="seen").ok
    view = night.view()
    line = view["log"][-1]
    assert (line["by"], line["by_id"], line["device"]) == ("camera", CAMERA, "simulated")
    undo = view["match"]["can_undo"]
    assert undo["by"] == CAMERA and not undo["needs_agreement"] and undo["to"] == 10
    assert night.do("undo", {"to": 10}, by=player, action_id="back").ok
    snapshot = night.snapshot()
    assert snapshot is not None and len(snapshot.by) == 10


def test_what_people_entered_still_needs_the_table(night: Night) -> None:
    player = Actor(Role.PLAYER, "phone-1")
    assert night.do("moves", {"moves": TURN}, by=player, action_id="typed").ok
    assert night.do("undo", {"to": 10}, by=EYE, action_id="eye").problem == "agreement"
    assert night.do("moves", {"moves": ["walk b7 b6"]}, by=EYE, action_id="seen").ok
    # Further back than the camera's own entry is another matter.
    assert night.do("undo", {"to": 10}, by=player, action_id="both").problem == "agreement"
    assert night.do("undo", {"to": 13}, by=player, action_id="one").ok
