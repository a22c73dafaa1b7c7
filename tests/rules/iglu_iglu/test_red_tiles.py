"""Tiles with the red frame: thaw, animals, bears that attack: clause by clause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from companion.rules.core import NOBODY

Make = Callable[..., Any]


def place(state: Any, square: str) -> dict[str, Any]:
    return state.position()["places"][square]


def kinds(state: Any, square: str) -> list[str]:
    return [thing["kind"] for thing in place(state, square)["things"]]


def inuit(state: Any, square: str) -> dict[str, int]:
    return {t["colour"]: t["count"] for t in place(state, square)["things"] if t["kind"] == "inuit"}


# --- one of each type -----------------------------------------------------------------------------------------------


@pytest.mark.cites("IGLU-1.E.5")
def test_a_tile_must_be_held(board: Make, refused: Make, play: Make) -> None:
    state = board(things={"b1": "r"}, hands={"red": "thaw, thaw", "blue": "animals, harpoon"}, to_move="red", points=3)
    for text in ("animals", "endurance 1", "endurance 2"):
        assert refused(state, text).clauses == ("IGLU-1.E.5",)
    once = play(state, "thaw c4")
    assert once.position()["hands"]["red"] == {"tiles": {"thaw": 1}, "unknown": 0}
    assert refused(once, "thaw c5").clauses == ("IGLU-1.E.5",)
    assert refused(once, "thaw a1").clauses == ("IGLU-1.E.5",)


def test_next_turn_another_may_be_played(board: Make, play: Make, allowed: Make) -> None:
    hands = {"red": "thaw, thaw, animals, animals, endurance 1, endurance 1"}
    state = board(things={"b1": "r"}, hands=hands, to_move="red", points=3)
    state = play(state, "thaw c4", "endurance 1", "animals", "end", "melt d3", "reveal d3 kept", "end")
    assert allowed(state, "thaw d6").legal
    assert allowed(state, "animals").legal
    assert not state.played


# --- thaw -----------------------------------------------------------------------------------------------------------


@pytest.mark.cites("IGLU-1.E.6")
def test_a_thaw_before_melting_and_in_phase_two(board: Make, play: Make, allowed: Make, refused: Make) -> None:
    state = board(things={"b1": "r"}, hands={"red": "thaw", "blue": "thaw"}, to_move="red")
    assert "IGLU-1.E.6" in allowed(state, "thaw c4").clauses
    assert play(state, "thaw c4").phase == state.phase, "melting is still to come"
    late = play(state, "melt c4", "reveal c4 kept", "walk b1 b2")
    assert allowed(late, "thaw c5").legal
    assert place(play(late, "thaw c5"), "c5")["ground"] == "water"
    assert play(late, "thaw c5").points == 2
    between = play(state, "melt c4")
    assert refused(between, "thaw c5").clauses == ("IGLU-1.5",)


@pytest.mark.cites("IGLU-1.E.7", "IGLU-2.C.3")
def test_a_thaw_takes_a_face_down_floe_at_the_water_without_an_igloo(board: Make, refused: Make, allowed: Make) -> None:
    picture = "+######+\n########\n########\n##P..###\n###..###\n########\n########\n+######+"
    things = {"c4": "R", "d3": "r b", "f4": "f2 X", "e3": "B b"}
    state = board(picture, things, hands={"red": "thaw"}, to_move="red", points=3)
    assert refused(state, "thaw c5").clauses == ("IGLU-1.E.7", "IGLU-G.5")
    for own_or_rival in ("c4", "e3"):
        assert refused(state, f"thaw {own_or_rival}").clauses == ("IGLU-1.E.7", "IGLU-2.C.3")
    assert "IGLU-G.1" in refused(state, "thaw c3").clauses
    for none in ("d4", "a1"):
        assert "IGLU-1.E.7" in refused(state, f"thaw {none}").clauses
    for free in ("d3", "f4", "f5", "d6", "e6"):
        assert "IGLU-1.E.7" in allowed(state, f"thaw {free}").clauses
    assert {str(m) for m in state.legal_moves if str(m).startswith("thaw")} == {
        f"thaw {s}" for s in ("d3", "f4", "f5", "d6", "e6")
    }


@pytest.mark.cites("IGLU-1.E.8", "IGLU-M.7")
def test_what_was_on_a_thawed_floe(board: Make, play: Make, refused: Make, allowed: Make) -> None:
    things = {"d3": "r r b f1 f3 X", "e4": "2"}
    state = board(things=things, hands={"red": "thaw"}, to_move="red", points=2)
    assert "IGLU-1.E.8" in allowed(state, "thaw d3").clauses
    before = state.tiles
    state = play(state, "thaw d3")
    assert state.tiles == before, "its event stays unknown"
    assert kinds(state, "d3") == ["inuit", "inuit"]
    assert "inuit-water" not in {problem.key for problem in state.problems()}, "they are on their way"
    removed = {(t["kind"], t["value"]): t["count"] for t in state.position()["piles"]["removed"]}
    assert removed == {("fox", 1): 1, ("fox", 3): 1, ("bear", 4): 1}
    assert (state.to_move, state.points) == (0, 2), "the player who thaws chooses the corners"
    assert refused(state, "walk b1 b2").clauses == ("IGLU-1.F.4", "IGLU-1.E.8")
    assert "IGLU-1.E.8" in refused(state, "flee red d3 b1").clauses
    assert "IGLU-1.E.8" in refused(state, "flee red e4 a1").clauses
    assert "IGLU-1.E.8" in refused(state, "flee yellow d3 a1").clauses
    assert len(state.legal_moves) == 8
    assert allowed(state, "flee blue d3 h8").clauses == ("IGLU-1.E.8",)
    state = play(state, "flee blue d3 h8", "flee red d3 a1", "flee red d3 h1")
    assert (inuit(state, "h8"), inuit(state, "a1"), inuit(state, "h1")) == ({"blue": 1}, {"red": 1}, {"red": 1})
    assert (state.phase, state.points) == (8, 2)
    assert refused(state, "flee red d3 a1").clauses == ("IGLU-1.F.4", "IGLU-1.E.8")


def test_a_thawed_floe_that_only_carries_animals(board: Make, play: Make, allowed: Make) -> None:
    state = board(things={"d3": "f2"}, hands={"red": "thaw"}, to_move="red", points=3)
    assert allowed(state, "thaw d3").facts["things"] == ["fox"]
    assert "IGLU-1.E.8" in allowed(state, "thaw d3").clauses
    assert "IGLU-1.E.8" not in allowed(state, "thaw c4").clauses
    assert not play(state, "thaw d3").fox


# --- endurance ------------------------------------------------------------------------------------------------------


@pytest.mark.cites("IGLU-1.E.9", "IGLU-M.8")
def test_endurance_adds_points_in_phase_two(board: Make, play: Make, refused: Make, allowed: Make) -> None:
    state = board(things={"b1": "r"}, hands={"red": "endurance 2"}, to_move="red")
    assert refused(state, "endurance 2").clauses == ("IGLU-1.E.9",)
    state = play(state, "melt c4", "reveal c4 kept")
    assert "IGLU-1.E.9" in allowed(state, "endurance 2").clauses
    assert refused(state, "endurance 5").clauses == ("IGLU-K.13",)
    assert play(state, "endurance 2").points == 5
    tired = play(state, "walk b1 b2", "walk b2 b3", "walk b3 b4")
    assert play(tired, "endurance 2").points == 2


# --- animal movement ------------------------------------------------------------------------------------------------

WATER = "+######+\n########\n########\n##...###\n##...###\n########\n########\n+######+"


@pytest.mark.cites("IGLU-1.E.11", "IGLU-1.E.11a", "IGLU-1.E.11b", "IGLU-1.E.11c", "IGLU-1.E.11d")
def test_animals_go_where_they_can_live(board: Make, play: Make, refused: Make, allowed: Make) -> None:
    things = {"c4": "2 2", "c5": "1", "b1": "f3", "b2": "r", "e4": "X", "f4": "X", "h7": "X"}
    state = play(board(WATER, things, hands={"red": "animals"}, to_move="red", points=3), "animals")
    assert (state.remaining, state.to_move) == (3, 0)
    assert refused(state, "move fish 2 c4 c3").clauses == ("IGLU-1.E.11a",)
    assert refused(state, "move fox 3 b1 a1").clauses == ("IGLU-1.E.11d",)
    assert refused(state, "move bear h7 h8").clauses == ("IGLU-1.E.11d",)
    assert "IGLU-1.E.11c" in refused(state, "move bear e4 f4").clauses
    assert "IGLU-G.1" in refused(state, "move fish 2 c4 d5").clauses
    assert "IGLU-G.1" in refused(state, "move fish 2 c4 e4").clauses
    for absent in ("move fish 3 c4 d4", "move fox 1 b1 c1", "move bear d4 d5"):
        assert "IGLU-1.E.11" in refused(state, absent).clauses
    assert "IGLU-1.E.11a" in allowed(state, "move fish 2 c4 c5").clauses
    assert "IGLU-1.E.11b" in allowed(state, "move fox 3 b1 b2").clauses, "inuit do not stop a fox"
    assert "IGLU-1.E.11c" in allowed(state, "move bear h7 h6").clauses
    assert "IGLU-1.E.11c" in allowed(state, "move bear e4 d4").clauses
    moved = play(state, "move fish 2 c4 c5", "move fox 3 b1 b2", "move bear h7 h6")
    assert kinds(moved, "c5") == ["fish", "fish"] and kinds(moved, "c4") == ["fish"]
    assert (kinds(moved, "b2"), kinds(moved, "h6")) == (["inuit", "fox"], ["bear"])
    assert (moved.phase, moved.remaining, moved.points) == (8, 0, 3)
    assert refused(moved, "move fish 2 c4 d4").clauses == ("IGLU-1.E.11",)
    assert refused(moved, "stop").clauses == ("IGLU-1.E.11",)


def test_a_fox_keeps_off_the_water(board: Make, play: Make, refused: Make) -> None:
    state = play(board(WATER, {"b4": "f3"}, hands={"red": "animals"}, to_move="red", points=3), "animals")
    assert refused(state, "move fox 3 b4 c4").clauses == ("IGLU-1.E.11b",)


def test_one_animal_may_take_all_three_steps(board: Make, play: Make) -> None:
    state = board(WATER, {"c4": "1"}, hands={"red": "animals"}, to_move="red", points=1)
    state = play(state, "animals", "move fish 1 c4 d4", "move fish 1 d4 d5", "move fish 1 d5 c5")
    assert (kinds(state, "c5"), state.points, state.phase) == (["fish"], 1, 8)


@pytest.mark.cites("IGLU-1.E.12", "IGLU-M.9")
def test_when_animals_are_moved(board: Make, play: Make, refused: Make, allowed: Make) -> None:
    things = {"d4": "1"}
    state = board(WATER, things, hands={"red": "animals"}, to_move="red")
    early = allowed(state, "animals")
    assert "IGLU-1.E.12" in early.clauses
    assert (early.status, early.option) == ("house ruling", "iglu.animal_move_timing")
    after = play(state, "animals", "move fish 1 d4 c4", "move fish 1 c4 c5", "move fish 1 c5 d5")
    assert (after.phase, after.points) == (2, 0), "melting is still to come"
    later = {"iglu.animal_move_timing": "phase_2_only"}
    strict = board(WATER, things, hands={"red": "animals"}, to_move="red", options=later)
    assert refused(strict, "animals").option == "iglu.animal_move_timing"
    assert "animals" not in {str(move) for move in strict.legal_moves}
    acting = play(strict, "melt b4", "reveal b4 kept")
    ruling = allowed(acting, "animals")
    assert "IGLU-1.E.11" in ruling.clauses and ruling.status == "text"


# --- bears ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def attack(board: Make, play: Make) -> Callable[..., Any]:
    """A bear on d4 in the water; red plays animals and moves it to d3 and on to c3, where ``things`` wait."""

    def make(things: str, hands: dict[str, str] | None = None, **fields: Any) -> Any:
        fields.setdefault("tribes", "red blue green")
        state = board(
            things={"d4": "X", "c3": things},
            hands={"red": "animals", **(hands or {})},
            to_move="red",
            points=3,
            **fields,
        )
        return play(state, "animals", "move bear d4 d3")

    return make


@pytest.mark.cites("IGLU-1.F.1", "IGLU-1.F.2")
def test_a_moved_bear_eats_what_it_meets(attack: Callable[..., Any], play: Make, allowed: Make, board: Make) -> None:
    state = attack("f1 f2")
    ruling = allowed(state, "move bear d3 c3")
    assert {"IGLU-1.F.1", "IGLU-1.F.2"} <= set(ruling.clauses)
    state = play(state, "move bear d3 c3")
    assert kinds(state, "c3") == ["bear"]
    assert {(t["kind"], t["value"]) for t in state.position()["piles"]["removed"]} == {("fox", 1), ("fox", 2)}
    water = board(things={"d4": "X", "e4": "1 1 3"}, hands={"red": "animals"}, to_move="red", points=3)
    eaten = play(water, "animals", "move bear d4 e4")
    assert kinds(eaten, "e4") == ["bear"]
    assert sum(t["count"] for t in eaten.position()["piles"]["removed"]) == 3


@pytest.mark.cites("IGLU-1.F.3", "IGLU-1.E.10", "IGLU-M.10")
def test_owners_are_asked_clockwise_and_a_harpoon_saves_all(
    attack: Callable[..., Any], play: Make, refused: Make, allowed: Make
) -> None:
    hands = {"red": "animals, harpoon", "blue": "harpoon", "green": "harpoon"}
    state = attack("r b g f1", hands)
    ruling = allowed(state, "move bear d3 c3")
    assert "IGLU-1.F.3" in ruling.clauses and ruling.facts["owners"] == ["red", "blue", "green"]
    state = play(state, "move bear d3 c3")
    assert kinds(state, "c3") == ["inuit", "inuit", "inuit", "bear"], "the fox has gone first"
    assert state.to_move == 1, "the left neighbour is asked first"
    assert refused(state, "defend green").clauses == ("IGLU-1.F.3",)
    assert "IGLU-1.F.3" in refused(state, "flee blue c3 a1").clauses
    state = play(state, "decline blue")
    assert state.to_move == 2
    assert {"IGLU-1.F.3", "IGLU-1.E.10"} <= set(allowed(state, "defend green").clauses)
    saved = play(state, "defend green")
    assert saved.position()["trophies"]["green"] == [{"kind": "bear", "value": 4, "count": 1}]
    assert saved.position()["hands"]["green"] == {"tiles": {}, "unknown": 0}
    assert inuit(saved, "c3") == {"red": 1, "blue": 1, "green": 1}
    assert not saved.bears
    last = play(state, "decline green")
    assert last.to_move == 0, "the mover is asked last"
    assert "IGLU-1.F.6" in allowed(last, "defend red").clauses
    assert allowed(last, "defend red").status == "house ruling"
    assert play(last, "defend red").played & 2, "in the own turn it is the harpoon of the turn"


@pytest.mark.cites("IGLU-1.F.4", "IGLU-M.11")
def test_the_mover_puts_them_on_corners(attack: Callable[..., Any], play: Make, refused: Make, allowed: Make) -> None:
    state = play(attack("b b g"), "move bear d3 c3", "decline blue")
    assert "IGLU-1.F.4" in allowed(state, "decline green").clauses
    state = play(state, "decline green")
    assert state.to_move == 0
    assert "IGLU-1.F.4" in refused(state, "move bear c3 c4").clauses
    assert "IGLU-1.F.4" in refused(state, "flee blue c3 c4").clauses
    assert "IGLU-1.F.4" in refused(state, "flee red c3 a1").clauses
    assert allowed(state, "flee blue c3 a1").clauses == ("IGLU-1.F.4",)
    state = play(state, "flee blue c3 a1", "flee green c3 a1", "flee blue c3 h8")
    assert (inuit(state, "a1"), inuit(state, "h8")) == ({"blue": 1, "green": 1}, {"blue": 1})
    assert kinds(state, "c3") == ["bear"]


@pytest.mark.cites("IGLU-1.F.5")
def test_an_igloo_of_the_own_colour_hides(attack: Callable[..., Any], play: Make, refused: Make, allowed: Make) -> None:
    state = play(attack("b b B g"), "move bear d3 c3")
    state = play(state, "decline blue", "decline green")
    assert refused(state, "flee blue c3 a1").clauses == ("IGLU-1.F.5",)
    assert len(state.legal_moves) == 4
    state = play(state, "flee green c3 a8")
    assert inuit(state, "c3") == {"blue": 2}
    alone = play(attack("b B"), "move bear d3 c3")
    assert "IGLU-1.F.5" in allowed(alone, "decline blue").clauses
    assert play(alone, "decline blue").phase == 9, "the mover goes on"
    armed = play(attack("b B", {"blue": "harpoon"}), "move bear d3 c3")
    ruling = allowed(armed, "defend blue")
    assert "IGLU-1.F.6" in ruling.clauses and ruling.status == "house ruling"


@pytest.mark.cites("IGLU-1.F.7", "IGLU-1.F.8")
def test_each_step_is_an_arrival_and_points_left_go_on(board: Make, play: Make, allowed: Make) -> None:
    things = {"d4": "X", "d3": "b", "c3": "b", "e4": "2"}
    state = board(things=things, hands={"red": "animals", "blue": "harpoon, harpoon"}, to_move="red", points=3)
    state = play(state, "animals", "move bear d4 d3", "decline blue", "flee blue d3 a1", "move bear d3 c3")
    assert state.to_move == 1
    killed = play(state, "defend blue")
    assert (killed.phase, killed.remaining) == (9, 1)
    assert allowed(killed, "move fish 2 e4 e5").legal
    assert play(killed, "move fish 2 e4 e5").phase == 8


@pytest.mark.cites("IGLU-1.F.8")
def test_a_bear_that_appears_or_drifts_does_not_attack(board: Make, play: Make) -> None:
    picture = "+######+\n########\n########\n########\n##..####\n########\n########\n+######+"
    drifting = board(picture, {"b4": "X", "a4": "r"}, phase="drifting", to_move="red")
    state = play(drifting, "drift a4 e")
    assert (kinds(state, "b4"), kinds(state, "c4"), state.phase) == (["inuit"], ["bear"], 8)


@pytest.mark.cites("IGLU-1.F.9")
def test_owners_without_a_harpoon_are_asked_too(attack: Callable[..., Any], play: Make, refused: Make) -> None:
    state = play(attack("b g", {"green": "?"}), "move bear d3 c3")
    assert [str(move) for move in state.legal_moves] == ["decline blue"]
    assert "IGLU-1.E.5" in refused(state, "defend blue").clauses
    assert "IGLU-1.F.9" in refused(state, "move bear c3 c2").clauses
    state = play(state, "decline blue")
    assert {str(move) for move in state.legal_moves} == {"decline green", "defend green"}, "it may be a harpoon"


def test_an_attack_before_melting_goes_back_to_melting(board: Make, play: Make) -> None:
    state = board(things={"d4": "X", "d3": "b"}, hands={"red": "animals"}, to_move="red")
    state = play(
        state, "animals", "move bear d4 d3", "decline blue", "flee blue d3 h1", "move bear d3 d2", "move bear d2 d1"
    )
    assert (state.phase, state.to_move, state.melted) == (2, 0, False)


@pytest.mark.cites("IGLU-E.5")
def test_tiles_played_before_melting_may_end_the_game(board: Make, play: Make) -> None:
    picture = "+......+\n........\n........\n..#.....\n" + "........\n" * 3 + "+......+"
    thawed = play(board(picture, {}, hands={"red": "thaw"}, to_move="red"), "thaw c5")
    assert (thawed.to_move, thawed.phase) == (NOBODY, 12)
    held = board(picture, {"c5": "b"}, hands={"red": "thaw"}, to_move="red")
    assert held.to_move == NOBODY, "nothing can be melted: the thaw comes too late"


@pytest.mark.cites("IGLU-E.4", "IGLU-E.3")
def test_an_option_lets_a_thaw_keep_the_game_alive(board: Make, play: Make, refused: Make, allowed: Make) -> None:
    picture = "+......+\n........\n........\n..##....\n" + "........\n" * 3 + "+......+"
    later = {"iglu.end_check_before_thaw": False}
    things = {"c5": "b", "d5": "f1"}
    strict = board(picture, things, hands={"red": "animals"}, to_move="red")
    assert strict.to_move == NOBODY
    assert "IGLU-E.3" in refused(strict, "animals").clauses
    state = board(picture, things, hands={"red": "animals"}, to_move="red", options=later)
    assert {str(move) for move in state.legal_moves} == {"animals", "end"}
    ruling = allowed(state, "end")
    assert "IGLU-E.4" in ruling.clauses and ruling.option == "iglu.end_check_before_thaw"
    assert play(state, "end").to_move == NOBODY
    freed = play(state, "animals", "move fox 1 d5 c5", "move fox 1 c5 d5", "move fox 1 d5 c5")
    assert {str(move) for move in freed.legal_moves} == {"melt d5"}
    spent = play(state, "animals", "move fox 1 d5 c5", "move fox 1 c5 d5", "move fox 1 d5 c5", "melt d5")
    assert spent.phase == 4
    idle = board(picture, things, hands={"red": "harpoon"}, to_move="red", options=later)
    assert idle.to_move == NOBODY, "nothing to play"
    thaw = board(picture, {"c5": "b", "d5": "R"}, hands={"red": "thaw"}, to_move="red", options=later)
    assert {str(move) for move in thaw.legal_moves} == {"thaw c5", "end"}
    ended = play(thaw, "thaw c5", "flee blue c5 a1")
    assert ended.to_move == NOBODY
    phase_2 = {**later, "iglu.animal_move_timing": "phase_2_only"}
    assert board(picture, things, hands={"red": "animals"}, to_move="red", options=phase_2).to_move == NOBODY
