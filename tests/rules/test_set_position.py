"""Positions that a table agrees on: of every board game, wherever it stands, and never one that cannot be."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.night.games import game_view
from companion.night.games.board import BoardView
from companion.rules import game
from companion.rules.core import CHANCE, RulesError, SetupError, State
from companion.rules.playouts import playout
from companion.rules.record import Header, Record, read, referee
from companion.rules.set_position import SetPosition, played, ruling_of

GAMES = ("iglu-iglu", "ice-team", "thin-ice")


@cache
def states_of(name: str, seed: int) -> list[State[Any]]:
    """Return the states of a random game in which a turn may begin."""
    record, _ = playout(game(name), 2, Random(seed))
    states = [record.header.start()]
    for move in record.moves:
        states.append(states[-1].after(states[-1].game.parse(move)))
    begun = [s for s in states if s.outcome() is None and s.position().get("phase") in ("start", "act", "put")]
    return begun or states[:1]


def view_of(name: str) -> BoardView:
    view = game_view(name)
    assert isinstance(view, BoardView)
    return view


@given(name=st.sampled_from(GAMES), seed=st.integers(0, 40), data=st.data())
def test_a_game_goes_on_from_what_lies_there(name: str, seed: int, data: st.DataObject) -> None:
    """What another moment of the game showed is laid here: mostly no turn leads there, and the game goes on."""
    states = states_of(name, seed)
    before, other = (data.draw(st.sampled_from(states)) for _ in range(2))
    was, now = before.position()["places"], other.position()["places"]
    places = {square: place for square, place in now.items() if place != was[square]}
    turn = data.draw(st.sampled_from([player["colour"] for player in before.position()["players"]]))
    step = SetPosition.of(view_of(name).lying_so(before, places, turn))
    try:
        after = step.after(before)
    except SetupError as error:
        # Of moments far apart: what was hunted by then lies there again, and a solid floe does not sink.
        assert any(words in str(error) for words in ("fox", "tokens in the game", "not cracked")), error
        return
    assert after.position()["places"] == now and not after.problems()
    assert set(step.places(before)) == set(places) and ruling_of(before, step).legal
    assert after.outcome() is not None or after.position()["turn"] == turn
    rng = Random(seed)
    for _ in range(60):
        if after.outcome() is not None:
            break
        after = after.play(after.chance(rng) if after.to_move == CHANCE else rng.choice(list(after.moves())))


def test_what_the_next_moment_shows_is_a_position() -> None:
    found = dict.fromkeys(GAMES, 0)
    for name in GAMES:
        states = states_of(name, 4)
        for before, other in pairwise(states):
            was, now = before.position()["places"], other.position()["places"]
            places = {square: place for square, place in now.items() if place != was[square]}
            # Whose turn it is comes from the game itself, so that what left the board is where the rules put it.
            step = SetPosition.of(view_of(name).lying_so(before, places, other.position()["turn"]))
            assert step.after(before).position()["places"] == now
            found[name] += 1
    assert all(found.values()), found


@pytest.mark.parametrize("name", ["arctic", "igloo-pop"])
def test_where_hands_or_counts_are_hidden_nothing_is_set(name: str) -> None:
    """Whoever could set what others hold could ask for it, too."""
    record, _ = playout(game(name), 2, Random(1))
    state = record.prefix(12).replay().state
    assert state is not None
    for change in ({"players": state.position()["players"]}, {"places": None}, {}, {"to_move": 0}):
        with pytest.raises(SetupError, match="no position is set"):
            SetPosition.of(change).after(state)


def test_what_left_the_board_is_whose_turn_it_was() -> None:
    before = states_of("iglu-iglu", 4)[3]
    position = before.position()
    place, fish = next((n, p) for n, p in position["places"].items() if any(t["kind"] == "fish" for t in p["things"]))
    left = {**fish, "things": [thing for thing in fish["things"] if thing["kind"] != "fish"]}
    after = SetPosition.of(view_of("iglu-iglu").lying_so(before, {place: left}, "blue")).after(before)
    taken = [thing for thing in fish["things"] if thing["kind"] == "fish"]
    trophies = after.position()["trophies"]
    assert trophies[position["turn"]] == [*position["trophies"][position["turn"]], *taken]
    assert after.position()["turn"] == "blue" and after.position()["piles"] == position["piles"]


def test_a_floe_that_is_gone_is_taken_out_of_the_game() -> None:
    states = states_of("ice-team", 2)
    before, fragile = next(
        (state, name)
        for state in states
        for name, place in state.position()["places"].items()
        if (place["ground"] == "paw" or place["ground"].endswith("-fragile")) and not place["things"]
    )
    position = before.position()
    bare = {fragile: {"ground": "sea", "things": []}}
    after = SetPosition.of(view_of("ice-team").lying_so(before, bare, "red")).after(before).position()
    assert sorted(after["removed"]) == sorted([*position["removed"], position["places"][fragile]["ground"]])
    assert (after["turn"], after["actions"], after["phase"]) == ("red", 2, "act")


def test_what_cannot_be_is_refused_in_one_sentence() -> None:
    before = states_of("iglu-iglu", 4)[3]
    view = view_of("iglu-iglu")
    crowd = {"ground": "floe", "things": [{"kind": "inuit", "colour": "red", "count": 9}]}
    with pytest.raises(SetupError, match="inuit"):
        SetPosition.of(view.lying_so(before, {"c3": crowd}, "red")).after(before)
    for change in (
        {"game": "arctic"},
        {"players": 5},
        {"options": {}},
        {"hands": {"red": {}}},
        {"piles": {"removed": [], "tiles": None}},
        {"places": 3},
        {"places": None},
        {"places": {"a1": 3}},
        {"places": {"z9": {}}},
        {"turn": "purple"},
        {"turn": "\ud800"},
        {"points": float("nan")},
    ):
        with pytest.raises(RulesError):
            SetPosition.of(change).after(before)
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(SetupError, match="nested"):
        SetPosition.of({"places": deep})


def test_a_record_holds_it_as_a_line_of_its_own() -> None:
    rules = game("thin-ice")
    start = rules.start(rules.seats(2))
    first = next(iter(start.moves()))
    places = {"b2": {"ground": "water", "things": []}}
    record = Record(Header("thin-ice", tuple(rules.seats(2))), (str(first), "roll hold"))
    state = record.replay().state
    assert state is not None
    step = SetPosition.of(view_of("thin-ice").lying_so(state, places, "red"))
    after = step.after(state)
    following = next(iter(after.moves()))
    whole = Record(record.header, (*record.moves, str(step), str(following)))
    lines = list(whole.lines())
    assert json.loads(lines[3]) == {"position": step.change}
    replay = read(lines)
    assert replay.error is None and replay.record == whole
    assert replay.at(3) == after and replay.state == played(after, following)
    said = [ruling for text, ruling in replay.rulings() if text.startswith("{")]
    assert [ruling.status for ruling in said] == ["house ruling"] and "b2" in said[0].en and said[0].en != said[0].fr
    verdicts = list(referee(lines))
    assert [verdict.error for verdict in verdicts] == [None] * 4 and verdicts[-1].state == replay.state


@pytest.mark.parametrize(
    "line",
    ['{"position": 3}', '{"position": {}, "more": 1}', '{"place": {}}', "{}", '"{}"', '{"position": {"game": 1}}'],
)
def test_what_is_no_position_ends_the_reading(line: str) -> None:
    rules = game("thin-ice")
    replay = read([*Record(Header("thin-ice", tuple(rules.seats(2)))).lines(), line])
    assert replay.error is not None and replay.error.line == 2 and replay.record is not None
    assert not replay.record.moves and replay.error.words.fr
