"""A position that the table agreed on: only the host enters it, it stays marked, and the game goes on from there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from companion.events.hub import Hub
from companion.night.answers import TABLE, Actor, Role
from companion.night.commands.night import Night
from companion.night.games import game_view
from companion.night.games.board import BoardView
from companion.night.log.journal import Journal

PLAYERS = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]
FISH = {"d4": 1, "e4": 1, "d5": 2, "e5": 3}
PLAYER = Actor(Role.PLAYER, "phone-1")


@pytest.fixture
def night(tmp_path: Path) -> Night:
    return opened(tmp_path)


def opened(folder: Path) -> Night:
    night = Night(Journal(folder / "journal.sqlite"), Hub())
    opening = {"game": "iglu-iglu", "players": PLAYERS, "setup": {"fish": FISH}}
    assert night.do("open-match", opening, by=TABLE, action_id="open").ok
    placed = [f"place {colour} {'bcdef'[n]}{row}" for n in range(5) for colour, row in (("red", 8), ("blue", 1))]
    assert night.do("moves", {"moves": placed}, by=TABLE, action_id="placed").ok
    return night


def change(night: Night, turn: str = "blue") -> dict[str, Any]:
    """Return the position in which red walked from b8 to d3, which no turn does."""
    snapshot, view = night.snapshot(), game_view("iglu-iglu")
    assert snapshot is not None and isinstance(view, BoardView)
    state = snapshot.states[-1]
    places = state.position()["places"]
    so = {"b8": {**places["b8"], "things": []}, "d3": {**places["d3"], "things": places["b8"]["things"]}}
    return view.lying_so(state, so, turn)


def test_the_game_goes_on_from_there_and_it_stays_marked(night: Night) -> None:
    assert night.do("set-position", {"position": change(night), "agreed": True}, by=TABLE, action_id="so").ok
    snapshot = night.snapshot()
    assert snapshot is not None and len(snapshot.states) == len(snapshot.moves) + 1 == 12
    assert snapshot.states[-1].position()["turn"] == "blue"
    line = night.view()["log"][-1]
    assert line["en"].startswith("The table agreed to go on from this position") and "b8, d3" in line["en"]
    assert line["fr"] != line["en"]
    assert night.do("moves", {"moves": ["melt c4", "reveal c4 kept", "walk b1 b2"]}, by=PLAYER, action_id="on").ok


def test_only_the_host_says_that_the_table_agrees(night: Night) -> None:
    asked = {"position": change(night)}
    assert night.do("set-position", asked, by=PLAYER, action_id="1").problem == "agreement"
    assert night.do("set-position", {**asked, "agreed": True}, by=PLAYER, action_id="2").problem == "forbidden"
    assert night.do("set-position", asked, by=TABLE, action_id="3").problem == "agreement"
    assert len(night.snapshot().moves) == 10  # type: ignore[union-attr]


def test_what_cannot_be_is_refused_and_nothing_is_lost(night: Night) -> None:
    crowd = {"ground": "floe", "things": [{"kind": "inuit", "colour": "red", "count": 9}]}
    places = {**change(night)["places"], "c3": crowd}
    refused = night.do("set-position", {"position": {"places": places}, "agreed": True}, by=TABLE, action_id="1")
    assert refused.problem == "bad-input" and "inuit" in refused.message.en
    for number, position in enumerate(({"game": "arctic"}, {"players": 5}, {"hands": {}}, {"places": None}, {}), 2):
        body = {"position": position, "agreed": True}
        assert not night.do("set-position", body, by=TABLE, action_id=str(number)).ok
    assert len(night.snapshot().moves) == 10  # type: ignore[union-attr]


def test_it_is_taken_back_with_the_agreement_of_the_table_alone(night: Night) -> None:
    assert night.do("set-position", {"position": change(night), "agreed": True}, by=TABLE, action_id="so").ok
    undo = night.view()["match"]["can_undo"]
    assert undo["needs_agreement"] and undo["to"] == 10
    assert night.do("undo", {"to": 10}, by=TABLE, action_id="1").problem == "agreement"
    assert night.do("undo", {"to": 10, "agreed": True}, by=TABLE, action_id="2").ok
    assert len(night.snapshot().moves) == 10  # type: ignore[union-attr]


def test_it_is_read_again_and_goes_out_as_a_record(tmp_path: Path) -> None:
    night = opened(tmp_path)
    assert night.do("set-position", {"position": change(night), "agreed": True}, by=TABLE, action_id="so").ok
    assert night.do("moves", {"moves": ["melt c4", "reveal c4 kept"]}, by=PLAYER, action_id="on").ok
    snapshot = night.snapshot()
    again = Night(Journal(tmp_path / "journal.sqlite", read_only=True), Hub()).snapshot()
    assert snapshot is not None and again is not None and again.states == snapshot.states
    moves = json.loads(night.exported("json"))["nights"][0]["matches"][0]["moves"]
    assert list(moves[10]) == ["position"] and moves[11] == "melt c4"


@pytest.mark.parametrize("game", ["igloo-pop", "arctic"])
def test_where_something_is_hidden_no_position_is_set(tmp_path: Path, game: str) -> None:
    night = Night(Journal(tmp_path / "journal.sqlite"), Hub())
    players = PLAYERS if game == "igloo-pop" else [{"name": "Ann", "colour": "p1"}, {"name": "Bob", "colour": "p2"}]
    opened = night.do("open-match", {"game": game, "players": players, "draw": False}, by=TABLE, action_id="open")
    assert opened.ok, opened
    for number, position in enumerate(({"places": None, "reserve": 4}, {"places": {}}, {"players": []})):
        body = {"position": position, "agreed": True}
        refused = night.do("set-position", body, by=TABLE, action_id=str(number))
        assert refused.problem == "bad-input" and "take moves back" in refused.message.en
    assert Night(Journal(tmp_path / "journal.sqlite", read_only=True), Hub()).snapshot() is not None


def test_a_person_is_renamed_and_the_game_goes_on(night: Night) -> None:
    assert night.do("set-position", {"position": change(night), "agreed": True}, by=TABLE, action_id="so").ok
    person = json.loads(night.exported("json"))["nights"][0]["matches"][0]["players"][0]["person"]
    night.name_person(person, "Zoé")
    snapshot = night.snapshot()
    assert snapshot is not None and snapshot.states[-1].position()["players"][0]["name"] == "Zoé"
    assert snapshot.states[-1].position()["places"]["d3"]["things"]
