"""The one form of a board: what it may leave out, what can be wrong with it, what breaks it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.rules import game
from companion.rules.core import SetupError
from companion.rules.igloo_pop import PLACES
from companion.rules.playouts import playout
from companion.rules.record import read

POP = game("igloo-pop")
LAID = ("4/5", "6/7", "3/4/5", "2", "13", "8/9", "10/11/12", "12/13", "5")
Make = Callable[..., Any]


def board(things: dict[str, list] | None = None, players: list | None = None, **more: Any) -> dict[str, Any]:
    """Return a position with nine cards; ``things`` are igloos by place: colours, or (colour, number)."""
    places: dict[str, Any] = {place: {"ground": card, "things": []} for place, card in zip(PLACES, LAID, strict=True)}
    for place, igloos in (things or {}).items():
        for igloo in igloos:
            colour, number = igloo if isinstance(igloo, tuple) else (igloo, None)
            thing = {"kind": "igloo", "colour": colour, "count": 1} | ({"value": number} if number else {})
            places[place]["things"].append(thing)
    seats = players or [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]
    return {"game": "igloo-pop", "places": places, "players": seats, **more}


def wrong(position: dict[str, Any]) -> list[str]:
    """Return the keys of everything that is wrong; every one has clauses and a sentence in both languages."""
    state = POP.from_position(position)
    found = state.problems()
    for problem in found:
        assert problem.clauses
        en, fr = (state.game.rulebook.problem(problem, state, lang) for lang in ("en", "fr"))
        assert en and fr and en != fr
    return [problem.key for problem in found]


@pytest.mark.parametrize(
    ("position", "phase"),
    [
        (board(), "ready"),
        (board({"card1": ["red"]}), "shaking"),
        (board({"card1": [("red", 4), "blue"]}), "checking"),
        (board() | {"places": {p: {"ground": "empty"} for p in PLACES}}, "deal"),
    ],
)
def test_what_a_position_leaves_out_follows_from_the_rest(position: dict, phase: str) -> None:
    state = POP.from_position(position)
    assert state.phase == phase
    staked = sum(1 for igloos in state.igloos.values() for colour, _ in igloos if colour == "red")
    assert state.own["red"] == 10 - staked
    assert state.stack_left == (33 if phase == "deal" else 24)
    assert state.problems() == ()


def test_a_count_stands_for_several_igloos() -> None:
    position = board()
    position["places"]["card3"]["things"] = [{"kind": "igloo", "colour": "red", "count": 3}]
    state = POP.from_position(position)
    assert state.igloos["card3"] == (("red", None),) * 3
    assert state.own["red"] == 7


def test_an_unknown_card_can_be_named_at_any_time(play: Make, refused: Make) -> None:
    position = board({"card1": ["red"], "card4": ["blue"]})
    position["places"]["card9"] = None
    del position["places"]["card2"]
    position["places"]["card4"]["ground"] = None
    state = POP.from_position(position)
    assert state.problems() == ()
    assert state.cards["card9"] is None
    assert state.stack_left == 24
    assert POP.from_position(json.loads(json.dumps(state.position()))) == state
    placed = play(state, "place red card9", "pass red", "pass blue")
    assert placed.phase == "checking"
    assert "POP-3.1" in refused(placed, "reveal card9 4").clauses
    named = play(placed, "deal card9 9/10", "deal card4 11")
    assert "is 9/10" in placed.check(POP.parse("deal card9 9/10")).en
    assert named.stack_left == 24, "it was lying there already"
    assert play(named, "reveal card9 9").won["red"] == ((9, 10),)
    assert placed.chance(Random(1)) in placed.legal_moves


@pytest.mark.parametrize(
    ("position", "key"),
    [
        (board(players=[{"colour": "red", "own": 11}, {"colour": "blue"}]), "too-many-thalers"),
        (board({"card1": ["red"]}, players=[{"colour": "red", "own": 10}, {"colour": "blue"}]), "too-many-thalers"),
        (board(players=[{"colour": "red", "captured": 1}, {"colour": "blue"}]), "too-many-captured"),
        (
            board(players=[{"colour": c, "own": 9, "captured": 2, "removed": 0} for c in ("red", "blue", "green")]),
            "thalers-astray",
        ),
        (board(players=[{"colour": c, "own": 9, "removed": 0} for c in ("red", "blue")]), "thalers-astray"),
        (board(players=[{"colour": "red", "own": -1}, {"colour": "blue"}]), "negative-count"),
        (board({"card1": ["red"] * 7, "card2": ["blue"] * 6}), "too-many-igloos"),
        (board(players=[{"colour": "red", "cards": ["4/5"]}, {"colour": "blue"}]), "card-twice"),
        (board(players=[{"colour": "red", "cards": ["5/7"]}, {"colour": "blue"}]), "card-not-in-box"),
        (board(piles={"stack": 25}), "too-many-cards"),
        (board(piles={"stack": 20}), "cards-missing"),
        (board({"card1": [("red", 4), "blue"], "card2": [("red", 4), "blue"]}), "number-twice"),
        (board({"card1": [("red", 14), "blue"]}), "number-not-in-box"),
        (board({"card1": [("red", 4)]}, phase="shaking"), "number-seen-early"),
        (board({"card1": ["red"]}, phase="ready"), "igloo-outside-round"),
        (board(players=[{"colour": "red", "in_hand": True}, {"colour": "blue"}], phase="ready"), "igloo-outside-round"),
        (board({"card1": ["green"]}), "igloo-of-nobody"),
        (
            board(players=[{"colour": "red", "own": 0, "in_hand": True}, {"colour": "blue"}]),
            "hand-without-thaler",
        ),
        (
            board(players=[{"colour": "red", "in_hand": True, "passed": True}, {"colour": "blue"}]),
            "passed-with-igloo",
        ),
        (board({"card1": [("red", 4), ("blue", 5)]}), "card-not-settled"),
        (board({"card1": [("red", 4), "red"], "card2": [("red", 6), "blue"]}), "two-cards-begun"),
        (board({"card1": ["blue", ("red", 4)]}), "reveal-order"),
        (board(phase="checking"), "nothing-to-check"),
        (
            board(players=[{"colour": "red", "passed": True}, {"colour": "blue", "passed": True}], phase="shaking"),
            "round-should-be-over",
        ),
        (board(players=[{"colour": "red", "own": 0, "removed": 10}, {"colour": "blue"}]), "broke-before-round"),
        (board(piles={"stack": 0}, phase="deal"), "cards-missing"),
    ],
)
def test_what_is_wrong_with_a_position_is_said(position: dict, key: str) -> None:
    assert key in wrong(position)
    POP.from_position(position).score()


def test_an_igloo_without_a_card_and_a_short_circle_are_said() -> None:
    position = board({"card1": ["red"]})
    position["places"]["card1"]["ground"] = "empty"
    found = wrong(position)
    assert "igloo-without-card" in found
    assert "circle-not-laid" in found


def test_an_empty_stack_before_a_round_is_said(refused: Make) -> None:
    position = board(phase="deal", piles={"stack": 0})
    position["places"]["card1"] = {"ground": "empty"}
    assert "cards-out-before-round" in wrong(position)
    state = POP.from_position(position)
    assert not state.legal_moves
    assert "stack is empty" in refused(state, "deal card1 4").en


@pytest.mark.parametrize("option", ["immediate", "last_round"])
def test_a_round_does_not_begin_with_a_gap_that_the_stack_can_fill(option: str, refused: Make) -> None:
    position = board(phase="ready", options={"pop.cards_end": option})
    position["places"]["card1"] = {"ground": "empty"}
    state = POP.from_position(position)
    assert not state.legal_moves
    assert "one card is missing" in refused(state, "start").en


def test_every_problem_is_listed_and_not_only_the_first() -> None:
    position = board({"card1": [("red", 4), ("red", 4)]}, piles={"stack": 30})
    position["players"][0]["own"] = 12
    assert set(wrong(position)) >= {"too-many-thalers", "number-twice", "card-not-settled", "too-many-cards"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"game": "chess"}, "'chess'"),
        ({"players": None}, "players"),
        ({"players": [{"colour": "red"}]}, "2 to 6"),
        ({"players": ["red", "blue"]}, "object"),
        ({"options": []}, "options"),
        ({"options": {"pop.x": 1}}, "pop.x"),
        ({"places": None}, "places"),
        ({"places": {"d4": None}}, "'d4'"),
        ({"places": {"card1": "4/5"}}, "card1"),
        ({"places": {"card1": {"ground": 5}}}, "written like 4/5, not 5"),
        ({"places": {"card1": {"ground": "a/b"}}}, "'a/b'"),
        ({"places": {"card1": {"ground": "1" * 5000}}}, "written like 4/5"),
        ({"places": {"card1": {"ground": "2", "things": {}}}}, "list|object"),
        ({"places": {"card1": {"ground": "2", "things": [3]}}}, "thing"),
        ({"places": {"card1": {"ground": "2", "things": [{"kind": "bear"}]}}}, "'bear'"),
        ({"places": {"card1": {"ground": "2", "things": [{"kind": "igloo", "colour": "pink"}]}}}, "'pink'"),
        (
            {"places": {"card1": {"ground": "2", "things": [{"kind": "igloo", "colour": "red", "value": "4"}]}}},
            "whole number",
        ),
        (
            {"places": {"card1": {"ground": "2", "things": [{"kind": "igloo", "colour": "red", "count": 10**9}]}}},
            "whole number",
        ),
        ({"phase": "lunch"}, "'lunch'"),
        ({"piles": 3}, "piles"),
        ({"piles": {"stack": 1.5}}, "stack"),
        ({"round": "two"}, "round"),
        ({"ended_by": ["fire"]}, "'fire'"),
        ({"ended_by": "thalers"}, "ended_by"),
        ({"results": [3]}, "result"),
        ({"results": [{"place": "card1", "card": "4/5", "igloos": [["red"]]}]}, "a pair such as"),
        ({"results": [{"place": "card1", "card": "4/5", "igloos": [["red", 1]]}]}, "is one of 2, 3"),
        ({"results": [{"place": "card0", "card": "4/5", "igloos": [["red", 4]]}]}, "place is one of card1"),
    ],
)
def test_a_broken_form_is_refused_in_one_sentence(change: dict, says: str) -> None:
    with pytest.raises(SetupError, match=says) as broken:
        POP.from_position(board() | change)
    assert broken.value.fr != broken.value.en
    assert len(str(broken.value)) < 300


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from([*PLACES, *LAID]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = ["game", "places", "players", "phase", "round", "piles", "options", "short_round", "ended_by", "results"]


@given(st.dictionaries(st.sampled_from(KEYS), JUNK, max_size=3), st.sampled_from(PLACES), JUNK)
def test_any_form_is_a_state_with_its_problems_or_a_sentence(change: dict, place: str, junk: Any) -> None:
    for position in (board() | change, board() | {"places": {place: junk}}):
        with suppress(SetupError):
            state = POP.from_position(position)
            state.problems()
            state.score()
            assert POP.from_position(state.position()).position() == state.position()
            for move in list(state.legal_moves)[:5]:
                state.play(move)


def test_a_whole_game_round_trips_at_every_state() -> None:
    record, _ = playout(POP, 4, Random(9), {"pop.cards_end": "last_round"})
    replay = read(record.lines())
    for n in range(len(record.moves) + 1):
        state = replay.at(n)
        assert POP.from_position(json.loads(json.dumps(state.position()))) == state
        assert state.problems() == ()


@pytest.mark.parametrize("ended", [[["thalers"]], [{}], [3], ["never"], [None]])
def test_an_end_that_is_none_is_refused_in_a_sentence(ended: list[object]) -> None:
    players = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]
    with pytest.raises(
        SetupError, match="end of a game of Igloo Pop is one of thalers, cards, short-round, no-cards, not"
    ):
        POP.from_position({"players": players, "ended_by": ended})


def test_more_igloos_than_the_box_has_leave_none_in_the_village() -> None:
    """The position is impossible, and a placement in it is refused for a reason all the same (POP-K.1)."""
    things = [{"kind": "igloo", "colour": "red", "count": 7}]
    state = POP.from_position(
        {
            "players": [{"name": "Ann", "colour": "red", "own": 3}, {"name": "Bob", "colour": "blue"}],
            "places": {f"card{n}": {"ground": str(n + 1), "things": things if n < 3 else []} for n in range(1, 10)},
            "phase": "shaking",
        }
    )
    assert state.problems()
    ruling = state.check(POP.parse("place red card4"))
    assert not ruling.legal and "village" in ruling.facts
