"""The box, the set-up, melting and what the tiles show: clause by clause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from companion.rules import game
from companion.rules.core import CHANCE, NOBODY, SetupError
from companion.rules.iglu_iglu import components
from companion.rules.iglu_iglu.board import CENTRE, CORNERS, RING, SEA

Make = Callable[..., Any]
IGLU = game("iglu-iglu")
FISH = {"d4": 1, "e4": 2, "d5": 3, "e5": 2}
TRUE_BOX = {
    **{"fish 2": 6, "fish 3": 4, "bear": 4, "pack": 10, "drift": 12, "thaw": 6, "harpoon": 6, "animals": 4},
    **{"endurance 2": 3, "endurance 3": 1},
}


def begin(*colours: str, **setup: Any) -> Any:
    return IGLU.start([{"name": c, "colour": c} for c in colours], None, {"fish": FISH, **setup})


def place(state: Any, square: str) -> dict[str, Any]:
    return state.position()["places"][square]


@pytest.fixture
def placed(play: Make) -> Any:
    """Two players, all inuit placed: red on the near edge, blue on the far one."""
    state = begin("red", "blue")
    return play(state, *(f"place {c} {f}{r}" for f in "bcdef" for c, r in (("red", 1), ("blue", 8))))


# --- the box --------------------------------------------------------------------------------------------------------


@pytest.mark.cites("IGLU-K.1", "IGLU-K.2", "IGLU-S.1", "IGLU-S.8", "IGLU-K.8")
def test_the_board_and_its_floes() -> None:
    state = begin("red", "blue")
    assert (SEA.bit_count(), CORNERS.bit_count(), CENTRE.bit_count(), RING.bit_count()) == (60, 4, 4, 24)
    assert state.floes.bit_count() == 56 == sum(state.tiles)
    assert not state.floes & (CENTRE | CORNERS)
    assert not RING & CORNERS
    assert place(state, "a1")["ground"] == "land"


@pytest.mark.cites("IGLU-K.6", "IGLU-K.7", "IGLU-S.4", "IGLU-S.5")
def test_the_tribes() -> None:
    assert components.INUIT == {"red": 5, "blue": 5, "yellow": 3, "green": 3}
    assert sum(components.INUIT.values()) == 16
    assert components.IGLOOS * len(components.COLOURS) == 8
    assert begin("red", "blue").table.inuit_each == 5
    assert begin("green", "red", "yellow").table.inuit_each == 3
    assert begin("green", "red", "yellow", "blue").table.inuit_each == 3


@pytest.mark.cites("IGLU-K.9", "IGLU-K.10", "IGLU-K.11", "IGLU-K.12", "IGLU-K.13", "IGLU-K.14", "IGLU-K.15")
def test_the_default_tiles_are_marked_as_not_the_real_box() -> None:
    mix = components.default_mix()
    tiles = mix.to_json()
    assert not mix.real
    assert not begin("red", "blue").position()["box"]["real"]
    assert (tiles["fish 2"], tiles["fish 3"], tiles["bear"], tiles["pack"]) == (6, 4, 4, 10)
    assert 2 * tiles["fish 2"] + 3 * tiles["fish 3"] == 24
    others = {face: count for face, count in tiles.items() if face not in ("fish 2", "fish 3", "bear", "pack")}
    assert sum(others.values()) == 32
    assert len({face for face in others if face.startswith("endurance")}) >= 2
    assert {face.split()[0] for face in mix.faces[components.RED :]} == {"thaw", "harpoon", "animals", "endurance"}
    assert {face.split()[0] for face in mix.faces[: components.RED]} == {"fish", "bear", "pack", "drift"}


def test_an_owner_enters_the_real_tiles_once() -> None:
    state = begin("red", "blue", tiles=TRUE_BOX)
    assert state.position()["box"] == {"tiles": {**TRUE_BOX}, "real": True}
    assert IGLU.from_position(state.position()) == state
    assert sum(state.tiles) == 56


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"drift": 13}, "56"),
        ({"bear": 5, "drift": 11}, "4 tokens for the bear"),
        ({"pack": 11, "drift": 11}, "10 tokens for the pack"),
        ({"fish 3": 5, "drift": 11}, "27 fish"),
        ({"fish 2": 7, "drift": 11}, "26 fish"),
        ({"seal": 1, "drift": 11}, "'seal'"),
        ({"endurance 0": 1, "drift": 11}, "endurance 0"),
        ({"endurance 10": 1, "drift": 11}, "endurance 10"),
        ({"endurance 02": 1, "drift": 11}, "endurance 02"),
        ({"drift": -1}, "'-1'"),
        ({"drift": True}, "'True'"),
        ({"drift": 12.0}, "'12.0'"),
        ({"thaw": 57}, "'57'"),
    ],
)
def test_a_mix_that_cannot_be_the_box_is_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(SetupError) as error:
        begin("red", "blue", tiles=TRUE_BOX | change)
    assert says in error.value.en
    assert error.value.fr != error.value.en


def test_fewer_bears_are_a_box_too() -> None:
    assert begin("red", "blue", tiles=TRUE_BOX | {"bear": 3, "drift": 13}).table.mix.real


# --- set-up ---------------------------------------------------------------------------------------------------------


@pytest.mark.cites("IGLU-S.2", "IGLU-S.3")
def test_four_fish_are_drawn_face_up(play: Make, refused: Make, allowed: Make) -> None:
    state = IGLU.start(IGLU.seats(3))
    assert state.to_move == CHANCE
    assert "IGLU-S.2" in allowed(state, "draw d4 fish 3").clauses
    for wrong in ("draw e4 fish 1", "draw d4 fox 1", "draw d4 bear"):
        assert "IGLU-S.2" in refused(state, wrong).clauses
    assert "IGLU-S.2" in refused(state, "place red b1").clauses
    state = play(state, "draw d4 fish 3", "draw e4 fish 3", "draw d5 fish 1", "draw e5 fish 2")
    assert (state.to_move, state.reserve(2), state.reserve(1), state.reserve(0)) == (0, 6, 11, 7)
    assert [state.reserve(token) for token in range(3, 7)] == [3, 4, 3, 4]
    assert place(state, "d4")["things"] == [{"kind": "fish", "value": 3, "count": 1}]


def test_the_set_up_may_give_some_of_the_fish() -> None:
    state = IGLU.start(IGLU.seats(2), None, {"fish": {"e4": 2}})
    drawn = []
    while state.to_move == CHANCE:
        move = state.chance(Random(1))
        drawn.append(str(move).split()[1])
        state = state.play(move)
    assert drawn == ["d4", "d5", "e5"]


@pytest.mark.cites("IGLU-S.6", "IGLU-S.7", "IGLU-S.9", "IGLU-M.1")
def test_inuit_are_placed_in_turn_on_the_outer_ring(play: Make, refused: Make, allowed: Make, texts: Make) -> None:
    state = begin("red", "yellow", "green", first="yellow")
    assert state.to_move == 1
    assert len(texts(state, "place")) == 24
    assert set(allowed(state, "place yellow a4").clauses) >= {"IGLU-S.7", "IGLU-S.8"}
    for square in ("b2", "d4", "a1", "h8"):
        assert "IGLU-S.8" in refused(state, f"place yellow {square}").clauses
    assert refused(state, "place red a4").clauses == ("IGLU-S.7",)
    assert refused(state, "place blue a4").clauses == ("IGLU-S.7",)
    assert "IGLU-S.7" in refused(state, "melt c4").clauses
    state = play(state, "place yellow a4", "place green a4", "place red a4", "place yellow b1")
    assert len(place(state, "a4")["things"]) == 3
    state = play(state, "place green b1", "place red b1", "place yellow h4", "place green h4")
    assert state.to_move == 0
    state = play(state, "place red h4")
    assert (state.to_move, state.phase, state.points) == (1, 2, 0)
    assert "IGLU-S.7" in refused(state, "place yellow a4").clauses


@pytest.mark.parametrize(
    ("players", "setup", "says"),
    [
        (["red"], {}, "2 to 4"),
        (["red", "blue", "yellow", "green", "red"], {}, "2 to 4"),
        (["red", "yellow"], {}, "IGLU-S.5"),
        (["red", "red", "blue"], {}, "colour of their own"),
        (["red", "white", "blue"], {}, "'white'"),
        (["red", 5, "blue"], {}, "5"),
        (["red", "blue"], {"cards": []}, "'cards'"),
        (["red", "blue"], {"first": "green"}, "'green'"),
        (["red", "blue"], {"fish": {"a1": 1}}, "'a1'"),
        (["red", "blue"], {"fish": {"d4": 4}}, "4"),
        (["red", "blue"], {"fish": {"d4": 0}}, "0"),
        (["red", "blue"], {"fish": {"d4": True}}, "True"),
        (["red", "blue"], {"fish": [1]}, "object"),
        (["red", "blue"], {"tiles": [1]}, "object"),
    ],
)
def test_a_set_up_that_does_not_fit_is_one_sentence(players: list[Any], setup: Any, says: str) -> None:
    with pytest.raises(SetupError) as error:
        IGLU.start([{"name": "N", "colour": c} for c in players], None, setup)
    assert says in error.value.en
    assert error.value.fr != error.value.en
    assert "\n" not in error.value.en


@pytest.mark.parametrize("players", ["red blue", None, ["red", "blue"], [{"name": "", "colour": "red"}] * 2])
def test_players_that_are_none_are_refused(players: Any) -> None:
    with pytest.raises(SetupError):
        IGLU.start(players)


@pytest.mark.parametrize("name", ["", "  ", "x" * 41, 7, None])
def test_names_are_names(name: Any) -> None:
    with pytest.raises(SetupError, match=r"A player’s name is a text of 1 to 40 .*\(players\[1\]\.name\)"):
        IGLU.start([{"name": name, "colour": "red"}, {"name": "B", "colour": "blue"}])


def test_names_are_trimmed_and_used_in_sentences(play: Make) -> None:
    state = IGLU.start([{"name": " Ann ", "colour": "red"}, {"colour": "blue"}], None, {"fish": FISH})
    assert state.names == ("Ann", "blue")
    assert state.check(IGLU.parse("place blue a4")).fr.startswith("C’est à Ann (rouge) de poser, pas à bleu")


@pytest.mark.parametrize("options", [{"iglu.speed": 1}, {"iglu.no_repick": "yes"}, {"iglu.no_repick": 1}])
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(SetupError):
        IGLU.start(IGLU.seats(2), options)


# --- melting --------------------------------------------------------------------------------------------------------


@pytest.mark.cites("IGLU-1.1", "IGLU-1.2", "IGLU-G.1", "IGLU-G.2", "IGLU-M.2", "IGLU-M.18")
def test_a_turn_melts_first(placed: Any, play: Make, refused: Make, allowed: Make, texts: Make) -> None:
    assert texts(placed) == {f"melt {s}" for s in ("c4", "c5", "d3", "d6", "e3", "e6", "f4", "f5")}
    for action in ("walk b1 b2", "kayak b1 c4", "hunt d4 fish 1", "build b1", "harpoon d4 fish 1"):
        assert "IGLU-1.1" in refused(placed, action).clauses
    assert "IGLU-1.1" in refused(placed, "end").clauses
    assert "IGLU-1.2" in refused(placed, "melt d4").clauses, "water with a fish is water"
    assert "IGLU-G.3" in refused(placed, "melt a1").clauses
    assert refused(placed, "melt b1").clauses == ("IGLU-1.2", "IGLU-G.6")
    assert "IGLU-G.1" in refused(placed, "melt c3").clauses, "corner to corner is not beside"
    state = play(placed, "melt c4", "reveal c4 kept")
    assert place(state, "c4")["ground"] == "water"
    assert (state.points, state.to_move) == (3, 0)
    assert refused(state, "melt c5").clauses == ("IGLU-1.1",)
    over = allowed(state, "end")
    assert "IGLU-2.1" in over.clauses and over.facts["lost"] == 3
    assert play(state, "end").to_move == 1


@pytest.mark.cites("IGLU-G.4")
def test_land_and_edge_are_no_water(placed: Any, refused: Make) -> None:
    for square in ("b8", "g1", "a4", "h2"):
        clauses = refused(placed, f"melt {square}").clauses
        assert "IGLU-1.2" in clauses
    assert "IGLU-G.4" in refused(placed, "melt g1").clauses
    assert "IGLU-G.4" in refused(placed, "melt a4").clauses
    assert "IGLU-G.4" not in refused(placed, "melt b2").clauses, "b2 touches the corner with a corner only"


@pytest.mark.cites("IGLU-G.5", "IGLU-G.6", "IGLU-2.C.3")
def test_only_face_down_and_empty_floes_melt(board: Make, refused: Make, allowed: Make) -> None:
    picture = "+######+\n########\n########\n##P..###\n###..###\n########\n########\n+######+"
    state = board(picture, {"c4": "R", "f4": "r", "f5": "f1", "d3": "X"}, to_move="red")
    assert refused(state, "melt c5").clauses == ("IGLU-G.5", "IGLU-1.E.3")
    for square, thing in (("c4", "igloo"), ("f4", "inuit"), ("f5", "fox"), ("d3", "bear")):
        ruling = refused(state, f"melt {square}")
        assert "IGLU-G.6" in ruling.clauses and ruling.facts["things"] == [thing]
    assert allowed(state, "melt d6").legal


@pytest.mark.cites("IGLU-1.3", "IGLU-1.4", "IGLU-E.1", "IGLU-E.2")
def test_the_outer_ring_and_then_the_end(board: Make, refused: Make, allowed: Make, texts: Make) -> None:
    picture = "+######+\n########\n########\n###..###\n###..###\n########\n########\n+######+"
    shore = dict.fromkeys(("c4", "c5", "d3", "d6", "e3", "e6", "f4", "f5"), "f1")
    state = board(picture, shore, to_move="red")
    assert state.by_ring()
    assert len(texts(state, "melt")) == 24
    assert "IGLU-1.3" in allowed(state, "melt h4").clauses
    assert "IGLU-1.3" in refused(state, "melt g4").clauses
    packed = "+PPPPPP+\nP######P\nP######P\nP##..##P\nP##..##P\nP######P\nP######P\n+PPPPPP+"
    over = board(packed, shore, to_move="red")
    assert over.to_move == NOBODY
    assert over.end_reason.key == "ended"
    assert over.outcome().clauses[0] == "IGLU-E.1"
    assert not over.legal_moves
    assert "IGLU-E.1" in refused(over, "melt g4").clauses


@pytest.mark.cites("IGLU-1.5", "IGLU-M.3", "IGLU-M.4")
def test_what_a_tile_shows_is_said_before_anything_else(placed: Any, play: Make, refused: Make, allowed: Make) -> None:
    state = play(placed, "melt c4")
    assert state.to_move == CHANCE
    assert refused(state, "walk b1 b2").clauses == ("IGLU-1.5",)
    assert refused(state, "reveal c5 bear").clauses == ("IGLU-1.5",)
    assert allowed(state, "reveal c4 harpoon").clauses == ("IGLU-1.5",)
    held = play(state, "reveal c4 harpoon")
    assert held.position()["hands"]["red"] == {"tiles": {"harpoon": 1}, "unknown": 0}
    assert held.position()["hands"]["blue"] == {"tiles": {}, "unknown": 0}
    assert held.tiles[components.HARPOON] == state.tiles[components.HARPOON] - 1
    assert play(state, "reveal c4 kept").position()["hands"]["red"] == {"tiles": {}, "unknown": 1}


@pytest.mark.cites("IGLU-1.E.1")
@pytest.mark.parametrize("fish", [2, 3])
def test_fish_are_drawn_one_by_one(placed: Any, play: Make, refused: Make, allowed: Make, fish: int) -> None:
    state = play(placed, "melt c4")
    assert "IGLU-1.E.1" in allowed(state, f"reveal c4 fish {fish}").clauses
    state = play(state, f"reveal c4 fish {fish}")
    assert (state.to_move, state.remaining) == (CHANCE, fish)
    assert "IGLU-1.E.1" in refused(state, "draw c4 fox 1").clauses
    assert "IGLU-1.E.1" in refused(state, "walk b1 b2").clauses
    for value in (3, 1, 3)[:fish]:
        assert "IGLU-1.E.1" in allowed(state, f"draw c4 fish {value}").clauses
        state = play(state, f"draw c4 fish {value}")
    assert (state.to_move, state.points) == (0, 3)
    assert Counter(code & 3 for code in state.fish if code >> 2 == 26) == Counter((3, 1, 3)[:fish])
    assert place(state, "c4")["ground"] == "water"
    assert sum(state.tiles) == 55


def test_a_ninth_fish_of_value_one_is_refused(board: Make, refused: Make, play: Make) -> None:
    trophies = {"red": [{"kind": "fish", "value": 1, "count": 8}]}
    state = board(things={"d4": "2"}, to_move="red", trophies=trophies, piles={"tiles": {"fish 2": 6, "thaw": 50}})
    state = play(state, "melt c4", "reveal c4 fish 2")
    assert refused(state, "draw c4 fish 1").clauses == ("IGLU-K.3",)
    assert "draw c4 fish 1" not in {str(move) for move in state.legal_moves}


@pytest.mark.cites("IGLU-1.E.2")
def test_a_bear_appears_in_the_water(placed: Any, play: Make, allowed: Make) -> None:
    state = play(placed, "melt c4")
    assert allowed(state, "reveal c4 bear").clauses == ("IGLU-1.E.2",)
    state = play(state, "reveal c4 bear")
    assert place(state, "c4") == {"ground": "water", "things": [{"kind": "bear", "value": 4, "count": 1}]}
    assert (state.to_move, state.reserve(components.BEAR_TOKEN)) == (0, 3)


@pytest.mark.cites("IGLU-1.E.3")
def test_pack_stays_with_a_fox(placed: Any, play: Make, refused: Make, allowed: Make) -> None:
    state = play(placed, "melt c4")
    assert allowed(state, "reveal c4 pack").clauses == ("IGLU-1.E.3",)
    state = play(state, "reveal c4 pack")
    assert "IGLU-1.E.3" in refused(state, "draw c4 fish 1").clauses
    assert "IGLU-1.E.3" in allowed(state, "draw c4 fox 3").clauses
    state = play(state, "draw c4 fox 3")
    assert place(state, "c4") == {"ground": "pack", "things": [{"kind": "fox", "value": 3, "count": 1}]}
    state = play(state, "end")
    assert "IGLU-G.5" in refused(state, "melt c4").clauses


def test_a_fifth_bear_and_an_eleventh_pack_are_refused(board: Make, refused: Make, allowed: Make, play: Make) -> None:
    bears = board(things={"d4": "X", "e4": "X", "d5": "X", "e5": "X"}, to_move="red")
    state = play(bears, "melt c4")
    ruling = refused(state, "reveal c4 bear")
    assert ruling.clauses == ("IGLU-K.10",) and ruling.status == "deduced"
    assert not {"reveal c4 bear"} & {str(move) for move in state.legal_moves}
    packs = board("+PPPPPP+\nPPPP####\n########\n###..###\n###..###\n########\n########\n+######+", to_move="red")
    ruling = refused(play(packs, "melt d3"), "reveal d3 pack")
    assert ruling.clauses == ("IGLU-K.11",)
    fishless = {"red": [{"kind": "fish", "value": v, "count": n} for v, n in ((1, 8), (2, 11), (3, 8))]}
    last = board(things={"d4": "2"}, to_move="red", trophies=fishless, piles={"tiles": {"fish 2": 1, "thaw": 55}})
    assert refused(play(last, "melt c4"), "reveal c4 fish 2").clauses == ("IGLU-K.3",)
    foxless = {"red": [{"kind": "fox", "value": v, "count": n} for v, n in ((1, 3), (2, 4), (3, 3))]}
    packed = board(things={"d4": "2"}, to_move="red", trophies=foxless, piles={"tiles": {"pack": 1, "thaw": 55}})
    assert refused(play(packed, "melt c4"), "reveal c4 pack").clauses == ("IGLU-K.4",)
    taken = {"red": [{"kind": "bear", "count": 4}]}
    odd = board(things={"d4": "2"}, to_move="red", trophies=taken, piles={"tiles": {"bear": 1, "thaw": 55}})
    assert refused(play(odd, "melt c4"), "reveal c4 bear").clauses == ("IGLU-K.5",)


def test_what_the_box_is_not_known_to_hold_is_refused_as_unknown(placed: Any, play: Make, refused: Make) -> None:
    ruling = refused(play(placed, "melt c4"), "reveal c4 endurance 7")
    assert ruling.clauses == ("IGLU-K.12", "IGLU-K.13")
    assert ruling.status == "unknown"
    assert ruling.facts == {"face": "endurance 7", "box": 0, "real": False}


# --- putting a tile back --------------------------------------------------------------------------------------------


def test_the_choice_stands_unless_the_table_lets_one_put_it_back(
    board: Make, play: Make, refused: Make, allowed: Make
) -> None:
    state = play(board(things={"b1": "r"}, to_move="red"), "melt c4")
    assert refused(state, "putback c4").clauses == ("IGLU-1.5",)
    free = play(board(things={"b1": "r"}, to_move="red", options={"iglu.no_repick": False}), "melt c4")
    assert (free.to_move, {str(move) for move in free.legal_moves}) == (0, {"accept c4", "putback c4"})
    assert refused(free, "accept c5").clauses == ("IGLU-1.5",)
    assert refused(free, "putback c5").clauses == ("IGLU-1.5",)
    assert refused(free, "reveal c4 bear").option == "iglu.no_repick"
    assert allowed(free, "putback c4").option == "iglu.no_repick"
    back = play(free, "putback c4")
    assert place(back, "c4")["ground"] == "floe"
    ruling = refused(back, "melt c4")
    assert ruling.clauses == ("IGLU-1.6",) and ruling.status == "house ruling"
    assert allowed(play(back, "melt c5"), "accept c5").clauses == ("IGLU-1.5",)
    done = play(back, "melt c5", "accept c5", "reveal c5 kept", "end")
    assert "melt c4" in {str(move) for move in done.legal_moves}, "the next player may take it"


def test_the_last_floe_cannot_be_put_back(board: Make, play: Make, refused: Make) -> None:
    picture = "+......+\n........\n........\n..#.....\n" + "........\n" * 3 + "+......+"
    state = play(board(picture, {"b1": ""}, to_move="red", options={"iglu.no_repick": False}), "melt c5")
    assert refused(state, "putback c5").clauses == ("IGLU-1.6",)
    assert [str(move) for move in state.legal_moves] == ["accept c5"]
    two = board(picture.replace("..#.....", "..#.#..."), {}, to_move="red", options={"iglu.no_repick": False})
    state = play(two, "melt c5", "putback c5", "melt e5")
    assert [str(move) for move in state.legal_moves] == ["accept e5"]


def test_what_was_put_back_may_be_taken_when_nothing_else_is_left(board: Make, play: Make) -> None:
    picture = "+......+\n........\n........\n..#.#...\n" + "........\n" * 3 + "+......+"
    state = board(picture, {}, hands={"red": "thaw"}, to_move="red", options={"iglu.no_repick": False})
    state = play(state, "melt c5", "putback c5", "thaw e5")
    assert [str(move) for move in state.legal_moves] == ["melt c5"]
    assert [str(move) for move in play(state, "melt c5").legal_moves] == ["accept c5"]


# --- drift ----------------------------------------------------------------------------------------------------------

ROW = "+######+\n########\n.###.###\n########\n###..###\n########\n########\n+######+"


@pytest.mark.cites("IGLU-1.E.4", "IGLU-1.E.4a", "IGLU-1.E.4b", "IGLU-M.5")
def test_a_drift_pushes_a_row_onto_free_water(board: Make, refused: Make, allowed: Make, play: Make) -> None:
    state = board(ROW, {"c6": "r"}, phase="drifting", to_move="red")
    ruling = allowed(state, "drift b6 e")
    assert ruling.clauses == ("IGLU-1.E.4", "IGLU-1.E.4a", "IGLU-1.E.4c") and ruling.facts["count"] == 3
    pushed = play(state, "drift b6 e")
    assert [place(pushed, f"{c}6")["ground"] for c in "abcdef"] == ["water", "water", "floe", "floe", "floe", "floe"]
    assert place(pushed, "d6")["things"][0]["kind"] == "inuit"
    assert pushed.floes.bit_count() == state.floes.bit_count()
    assert pushed.points == 3
    assert allowed(state, "drift d6 w").facts["count"] == 3
    assert "IGLU-1.E.4b" in refused(state, "drift b6 n").clauses, "out of the board"
    assert "IGLU-1.E.4b" in refused(state, "drift b8 w").clauses, "onto the corner"
    assert "no floe" in refused(state, "drift a8 e").en
    for push, corner in (("b1 w", "a1"), ("g1 e", "h1"), ("a2 s", "a1"), ("h7 n", "h8")):
        ruling = refused(state, f"drift {push}")
        assert ruling.clauses == ("IGLU-1.E.4b",) and ruling.facts["end"] == corner
    assert refused(state, "drift a6 e").clauses == ("IGLU-1.E.4",)
    assert refused(state, "drift none").clauses == ("IGLU-1.E.4",)
    assert refused(state, "walk c6 c7").clauses == ("IGLU-1.E.4",)


def test_a_drift_goes_into_its_own_hole(placed: Any, play: Make, allowed: Make) -> None:
    state = play(placed, "melt c4", "reveal c4 drift")
    assert "IGLU-1.E.4" in allowed(state, "drift c3 n").clauses
    pushed = play(state, "drift c1 n")
    assert place(pushed, "c2")["things"] == [{"kind": "inuit", "colour": "red", "count": 1}]
    assert place(pushed, "c1")["ground"] == "water"


@pytest.mark.cites("IGLU-1.E.4c")
def test_everything_on_the_floes_goes_along(board: Make, play: Make, allowed: Make) -> None:
    things = {"b6": "r r b R", "c6": "f1 f3 X", "d6": ""}
    state = board(ROW.replace(".###.###", ".##P.###"), things, phase="drifting", to_move="red")
    assert allowed(state, "drift b6 e").status == "house ruling"
    after = play(state, "drift b6 e").position()["places"]
    before = state.position()["places"]
    assert (after["c6"], after["d6"], after["e6"]) == (before["b6"], before["c6"], before["d6"])
    west = play(state, "drift d6 w").position()["places"]
    assert (west["a6"], west["b6"], west["c6"]) == (before["b6"], before["c6"], before["d6"])


def test_no_possible_drift_means_nothing_happens(board: Make, refused: Make, allowed: Make, play: Make) -> None:
    lone = "+######+\n" + "########\n" * 6 + "+######+"
    state = board(lone, {"b1": "r"}, phase="drifting", to_move="red")
    ruling = allowed(state, "drift none")
    assert ruling.clauses == ("IGLU-1.E.4f",) and ruling.status == "house ruling"
    assert [str(move) for move in state.legal_moves] == ["drift none"]
    done = play(state, "drift none")
    assert (done.points, done.floes) == (3, state.floes)
    assert refused(done, "drift none").clauses == ("IGLU-1.E.4",)


@pytest.mark.cites("IGLU-1.E.4d", "IGLU-1.E.4e")
def test_a_row_waits_for_what_swims_there(board: Make, refused: Make, allowed: Make, play: Make) -> None:
    state = board(ROW, {"e6": "2", "d4": "1", "e4": ""}, phase="drifting", to_move="red")
    stuck = refused(state, "drift b6 e")
    assert stuck.clauses == ("IGLU-1.E.4d", "IGLU-1.E.4a") and stuck.facts["things"] == ["fish"]
    opened = ROW.replace("########\n###..###", "####.###\n###..###", 1)
    state = board(opened, {"e6": "2 2", "e5": "1"}, phase="drifting", to_move="red")
    assert "IGLU-1.E.4d" in allowed(state, "drift b6 e").clauses
    waiting = play(state, "drift b6 e")
    assert waiting.position()["pending"] == {"square": "e6", "drift": ["b6", "e"]}
    assert "IGLU-1.E.4d" in refused(waiting, "displace e4 e5").clauses
    assert "IGLU-G.2" in refused(waiting, "displace e6 e7").clauses
    assert "IGLU-1.E.4d" in refused(waiting, "walk b1 b2").clauses
    assert {"IGLU-1.E.4d", "IGLU-1.E.4e"} <= set(allowed(waiting, "displace e6 e5").clauses)
    done = play(waiting, "displace e6 e5")
    assert place(done, "e5")["things"] == [
        {"kind": "fish", "value": 1, "count": 1},
        {"kind": "fish", "value": 2, "count": 2},
    ]
    assert place(done, "e6")["ground"] == "floe"
    assert done.push is None


def test_one_by_one_says_what_is_not_there(board: Make, refused: Make, play: Make) -> None:
    opened = ROW.replace("########\n###..###", "####.###\n###..###", 1)
    options = {"iglu.displace_together": False}
    waiting = play(board(opened, {"e6": "2 2"}, phase="drifting", to_move="red", options=options), "drift b6 e")
    assert "no such animal: fish 3" in refused(waiting, "displace e6 e5 fish 3").en
    assert [str(move) for move in waiting.legal_moves] == ["displace e6 e5 fish 2"]
    half = play(waiting, "displace e6 e5 fish 2")
    assert half.phase == waiting.phase
    assert play(half, "displace e6 e5 fish 2").points == 3
