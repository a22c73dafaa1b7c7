"""Thin Ice holds each of its clauses: set-up, turn, ice, end, score, and what a position may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from companion.rules import game
from companion.rules.core import CHANCE, NOBODY, InvalidMoveError, SetupError, State
from companion.rules.inference.turns import Evidence, explain, turns

THIN = game("thin-ice")


@pytest.fixture
def start() -> State[Any]:
    return THIN.start([{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}])


def held(*squares: str) -> list[str]:
    """Return the moves of a game in which the ice always holds."""
    return [text for square in squares for text in (f"put {square}", "roll hold")]


@pytest.mark.cites("THIN-K.1", "THIN-K.2", "THIN-1.1")
def test_red_begins_on_nine_free_floes(start: State[Any], allowed: Callable[..., Any]) -> None:
    assert {place["ground"] for place in start.position()["places"].values()} == {"floe"}
    assert (start.to_move, start.phase) == (0, "put")
    assert [str(move) for move in start.legal_moves] == [f"put {column}{row}" for row in "123" for column in "abc"]
    assert "THIN-1.1" in allowed(start, "put b2").clauses


@pytest.mark.cites("THIN-K.3", "THIN-2.1")
def test_two_faces_of_six_crack_the_ice(
    start: State[Any], play: Callable[..., Any], refused: Callable[..., Any]
) -> None:
    put = play(start, "put b2")
    assert put.to_move == CHANCE
    assert {str(move): odds for move, odds in put.chances()} == {"roll hold": 4 / 6, "roll crack": 2 / 6}
    assert "must roll the die for b2 first" in refused(put, "put a1").en
    cracked = play(put, "roll crack")
    assert cracked.position()["places"]["b2"] == {"ground": "water", "things": []}
    assert (cracked.to_move, cracked.position()["turn"]) == (1, "blue")
    assert {"THIN-1.1", "THIN-2.1"} <= set(refused(cracked, "put b2").clauses)
    assert "must put down a penguin" in refused(cracked, "roll hold").en
    assert "A red penguin stands on b2 already" in refused(play(put, "roll hold"), "put b2").en


@pytest.mark.cites("THIN-3.1", "THIN-3.2")
def test_three_in_a_row_end_the_game_and_are_worth_three(
    start: State[Any], play: Callable[..., Any], refused: Callable[..., Any]
) -> None:
    won = play(start, *held("a1", "b1", "a2", "b2", "a3"))
    assert (won.to_move, won.outcome().winners) == (NOBODY, (0,))
    assert [one.total for one in won.score().sheets] == [6, 2]
    assert won.end_reason.key == "ended-row"
    assert won.ranking_reason.facts["total"] == 6
    assert "THIN-3.1" in refused(won, "put c3").clauses


@pytest.mark.cites("THIN-3.1", "THIN-3.2")
def test_without_a_free_floe_the_most_penguins_win_and_a_tie_is_shared(
    start: State[Any], play: Callable[..., Any]
) -> None:
    full = play(start, *held("a1", "b1", "c1", "a2", "b2", "c2", "b3", "a3", "c3")[:-1], "roll crack")
    assert full.end_reason.key == "ended-full"
    assert full.outcome().winners == (0, 1)
    assert full.ranking_reason.key == "rank-level"


@pytest.mark.parametrize("text", ["", "put", "put d4", "roll", "roll 3", "walk a1 a2"])
def test_what_is_no_move_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(InvalidMoveError, match=r"put a1 … put c3, roll hold or roll crack\.$"):
        THIN.parse(text)


def test_there_is_nothing_to_set_up() -> None:
    with pytest.raises(SetupError, match="no set-up"):
        THIN.start(THIN.seats(2), None, {"floes": 8})


RED = {"ground": "floe", "things": [{"kind": "penguin", "colour": "red"}]}
BLUE = {"ground": "floe", "things": [{"kind": "penguin", "colour": "blue"}]}


@pytest.mark.cites("THIN-K.2", "THIN-2.1", "THIN-3.1")
@pytest.mark.parametrize(
    ("told", "clause"),
    [
        ({"places": dict.fromkeys(("a1", "b1", "a2", "b3", "c3", "c2"), RED)}, "THIN-K.2"),
        ({"places": {**dict.fromkeys(("a1", "a2", "a3"), RED), **dict.fromkeys(("b1", "b2", "b3"), BLUE)}}, "THIN-3.1"),
        ({"last": "a1", "places": {"a1": BLUE}}, "THIN-2.1"),
    ],
)
def test_what_cannot_be_is_told_of_a_position(told: dict[str, Any], clause: str) -> None:
    assert [clause in problem.clauses for problem in THIN.from_position(told).problems()] == [True]


def test_a_roll_needs_its_square() -> None:
    with pytest.raises(SetupError, match="for which square"):
        THIN.from_position({"phase": "roll"})
    assert THIN.from_position({"phase": "roll", "last": "a1", "places": {"a1": RED}}).to_move == CHANCE


@pytest.mark.parametrize("face", ["hold", "crack"])
def test_a_turn_is_told_by_the_boards_before_and_after_it(
    start: State[Any], play: Callable[..., Any], face: str
) -> None:
    before = play(start, *held("a1", "b1"))
    after = play(before, "put c3", f"roll {face}")
    found = turns(before, Evidence.of_position(after.position(), "thin-ice"))
    assert [[str(move) for move in turn.moves] for turn in found.turns] == [["put c3", f"roll {face}"]]
    assert found.complete


def test_a_turn_that_is_none_is_refused_with_its_clause(start: State[Any], play: Callable[..., Any]) -> None:
    before = play(start, "put a1", "roll crack")
    found = explain(before, Evidence.of_position({"places": {**before.position()["places"], "a1": BLUE}}, "thin-ice"))
    told = found.to_json()
    assert (told["legal"], told["clauses"]) == (False, ["THIN-1.1", "THIN-2.1"])
    assert "There is only water at a1" in told["en"]
