"""Boards, layouts and the box as data: what an owner may enter, and what is refused in one sentence."""

from __future__ import annotations

import copy
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.rules import game
from companion.rules.core import SetupError
from companion.rules.ice_team.components import DATA, FACES, default_box, read_box

ICE = game("ice-team")
RAW = tomllib.loads(DATA.read_text(encoding="utf-8"))
LINE = RAW["layouts"]["line"]


def names_beside(layout: Any, name: str) -> set[str]:
    return {layout.names[space] for _, space in layout.lines[layout.index(name)]}


def laid(layout: Any, box: Any = None) -> Any:
    return ICE.start(ICE.seats(2), None, {"layout": layout} if box is None else {"layout": layout, "box": box})


@pytest.mark.cites("ICE-K.4", "ICE-S.1")
def test_hexagons_have_six_neighbours_squares_four_and_boards_join() -> None:
    hexes = default_box().layout("line")
    assert names_beside(hexes, "a5") == {"a2", "a3", "a4", "a6", "a7", "a8"}
    assert names_beside(hexes, "a3") == {"a2", "a5", "a6", "b1"}
    assert names_beside(hexes, "a6") == {"a3", "b1", "a5", "b4", "a8", "a9"}
    assert names_beside(hexes, "start") == {"a1", "a4", "a7"}
    squares = default_box().layout("squares")
    assert names_beside(squares, "p5") == {"p2", "p4", "p6", "p8"}
    assert names_beside(squares, "p3") == {"p2", "p6", "q1"}
    bend = default_box().layout("bend")
    assert names_beside(bend, "b8") == {"b5", "b6", "b7", "b9", "c1", "c2"}
    assert [len(ray) for ray in squares.rays(squares.index("p5"))] == [11, 1, 2, 1]
    assert all(len(set(line)) == len(line) for space in range(36) for line in hexes.rays(space))


def test_a_turned_board_turns_about_its_first_space() -> None:
    layout = copy.deepcopy(LINE)
    layout["boards"][1] = {"board": "b", "at": [5, 2], "turn": 3}
    turned = default_box().layout(layout)
    where = dict(zip(turned.names, turned.cells, strict=False))
    assert [where[f"b{n}"] for n in (1, 3, 7, 9)] == [(5, 2), (3, 2), (5, 0), (3, 0)]
    assert names_beside(turned, "a3") == {"a2", "a5", "a6", "b9"}
    sixth = default_box().layout({**LINE, "boards": [*LINE["boards"][:3], {"board": "d", "at": [11, 0], "turn": 1}]})
    assert dict(zip(sixth.names, sixth.cells, strict=False))["d3"] == (11, 2)


@pytest.mark.cites("ICE-S.1", "ICE-M.10")
def test_no_board_may_be_passed_by() -> None:
    beside = copy.deepcopy(LINE)
    beside["boards"][1]["at"] = [0, 3]
    beside["boards"][2]["at"] = [3, 0]
    beside["boards"][3]["at"] = [6, 0]
    beside |= {"start": [[-1, 0]], "village": [[9, 0], [9, 1]]}
    with pytest.raises(SetupError, match=r"board 2 .*ICE-S\.1") as wrong:
        laid(beside)
    assert "plateau 2" in wrong.value.fr
    with pytest.raises(SetupError, match=r"board 1 .*ICE-S\.1"):
        laid(LINE | {"start": [[-1, 0], [4, 3]]})
    with pytest.raises(SetupError, match=r"board 4 .*ICE-S\.1"):
        laid(LINE | {"village": [[12, 0], [8, 3]]})
    with pytest.raises(SetupError, match=r"ICE-S\.1"):
        laid(LINE | {"village": [[12, 0], [-2, 0]]})  # next to Start
    with pytest.raises(SetupError, match=r"cannot be reached.*ICE-S\.1"):
        laid(LINE | {"village": [[14, 0]]})
    with pytest.raises(SetupError, match=r"cannot be reached"):
        laid(LINE | {"start": [[-5, 0]]})


@pytest.mark.cites("ICE-S.2", "ICE-M.10")
def test_start_never_touches_an_igloo() -> None:
    with pytest.raises(SetupError, match=r"Start touches an igloo.*ICE-S\.2") as wrong:
        laid(LINE | {"start": [[-1, 0], [1, -1]]})
    assert "Igloo" in wrong.value.fr
    assert laid(LINE | {"start": [[-1, 0]]}).table.layout.entries


@pytest.mark.cites("ICE-S.1")
def test_a_layout_may_be_named_or_described() -> None:
    assert laid("bend").position()["layout"] == "bend"
    state = laid(LINE)
    assert state.position()["layout"] == LINE
    assert state.table.layout == ICE.start(ICE.seats(2)).table.layout
    assert ICE.from_position(state.position()) == state
    assert laid(None).position()["layout"] == "line"


BROKEN_LAYOUTS = [
    ("nowhere", "layout of that name"),
    (7, "layout of that name"),
    ({}, "four track boards"),
    (LINE | {"boards": LINE["boards"][:3]}, "four track boards"),
    (LINE | {"boards": [1, 2, 3, 4]}, "four track boards"),
    (LINE | {"boards": [*LINE["boards"][:3], {"board": "z", "at": [9, 0]}]}, "word in small letters"),
    (LINE | {"boards": [*LINE["boards"][:3], {"board": ["d"], "at": [9, 0]}]}, "word in small letters"),
    (LINE | {"boards": [*LINE["boards"][:3], {"board": "d", "at": [9]}]}, "pair of whole numbers"),
    (LINE | {"boards": [*LINE["boards"][:3], {"board": "d", "at": [9, 1000]}]}, "pair of whole numbers"),
    (LINE | {"boards": [*LINE["boards"][:3], {"board": "d"}]}, "pair of whole numbers"),
    (LINE | {"boards": [*LINE["boards"][:3], {"board": "d", "at": [9, 0], "turn": 6}]}, "0 to 5"),
    (LINE | {"boards": [*LINE["boards"][:3], {"board": "d", "at": [9, 0], "turn": True}]}, "0 to 5"),
    (LINE | {"boards": [*LINE["boards"][:3], {"board": "t", "at": [9, 0], "turn": 3}]}, "same kind of grid"),
    (LINE | {"boards": [*LINE["boards"][:3], {"board": "a", "at": [9, 0]}]}, "used twice"),
    (LINE | {"boards": [*LINE["boards"][:3], {"board": "d", "at": [8, 0]}]}, "same place"),
    (LINE | {"start": []}, "lists of the coordinates"),
    (LINE | {"start": 3}, "lists of the coordinates"),
    (LINE | {"village": [[n, 50] for n in range(41)]}, "lists of the coordinates"),
    (LINE | {"village": [[12, "0"]]}, "pair of whole numbers"),
    (LINE | {"village": [[12, True]]}, "pair of whole numbers"),
]


@pytest.mark.parametrize(("layout", "words"), BROKEN_LAYOUTS)
def test_a_broken_layout_is_refused_in_a_sentence(layout: Any, words: str) -> None:
    with pytest.raises(SetupError, match=words) as wrong:
        laid(layout)
    assert wrong.value.fr != wrong.value.en


def changed(**fields: Any) -> dict[str, Any]:
    return {**copy.deepcopy(RAW), **fields}


BROKEN_BOXES = [
    (changed(real_box="yes"), "true or false"),
    (changed(tiles=RAW["tiles"][:23]), "24 floe tiles"),
    (changed(tiles={}), "24 floe tiles"),
    (changed(tiles=[*RAW["tiles"][:23], ["plain"]]), "two faces"),
    (changed(tiles=[*RAW["tiles"][:23], ["plain", "lava"]]), "two faces"),
    (changed(tiles=[*RAW["tiles"][:23], ["plain", ["paw"]]]), "two faces"),
    (changed(tiles=[*RAW["tiles"][:23], "ab"]), "two faces"),
    (changed(dice=[["steal"] * 6]), "two dice"),
    (changed(dice=None), "two dice"),
    (changed(dice=[["steal"] * 6, ["steal"] * 5]), "six faces"),
    (changed(dice=[["steal"] * 6, ["fish9"] * 6]), "six faces"),
    (changed(dice=[["steal"] * 6, [{}] * 6]), "six faces"),
    (changed(fish_tokens={"ones": -1}), "whole numbers"),
    (changed(fish_tokens={"ones": "20"}), "whole numbers"),
    (changed(fish_tokens={"stated": True}), "whole numbers"),
    (changed(fish_tokens=[20]), "whole numbers"),
    (changed(boards=[]), "boards and layouts"),
    (changed(layouts={}), "boards and layouts"),
    (changed(boards={"a": 3}), "word in small letters"),
    (changed(boards={**RAW["boards"], "a": {"grid": "hex"}}), "grid .* and rows"),
    (changed(boards={**RAW["boards"], "a": {"grid": ["hex"], "rows": []}}), "grid .* and rows"),
    (changed(boards={**RAW["boards"], "a": {"grid": "hex", "rows": ["fXf"]}}), "made of I"),
    (changed(boards={**RAW["boards"], "a": {"grid": "hex", "rows": [3]}}), "made of I"),
    (changed(boards={**RAW["boards"], "a": {"grid": "hex", "rows": ["fff", "fff", "fIf"]}}), r"ICE-K\.2"),
]


@pytest.mark.parametrize(("box", "words"), BROKEN_BOXES)
def test_a_broken_box_is_refused_in_a_sentence(box: Any, words: str) -> None:
    with pytest.raises(SetupError, match=words) as wrong:
        ICE.start(ICE.seats(2), None, {"box": box})
    assert wrong.value.fr != wrong.value.en
    with pytest.raises(SetupError, match="box is an object"):
        ICE.start(ICE.seats(2), None, {"box": "mine"})


def test_an_owners_box_is_played_and_told() -> None:
    mine = changed(real_box=True, tiles=[["plain", "penguin4-fragile"]] * 24, dice=[["fish6"] * 6, ["steal"] * 6])
    state = ICE.start(ICE.seats(2), None, {"box": mine})
    faces = {str(move).split()[2] for move in state.legal_moves if str(move).startswith("floe a1")}
    assert faces == {"plain", "penguin4-fragile"}
    assert ICE.from_position(state.position()) == state
    assert state.position()["box"]["data"]["tiles"] == mine["tiles"]
    assert state != ICE.start(ICE.seats(2)) and state.table.box != default_box()
    assert read_box(default_box().to_json()) == default_box()
    assert len(set(FACES)) == len(FACES) == 13


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 50) | st.sampled_from(["a", "hex", "fIf", "plain", "line", ""]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(sorted(RAW)), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150)
@given(key=st.sampled_from(sorted(RAW)), value=JUNK, part=st.sampled_from(["boards", "start", "village"]), other=JUNK)
def test_whatever_is_entered_is_played_or_refused(key: str, value: Any, part: str, other: Any) -> None:
    for setup in ({"box": {**RAW, key: value}}, {"layout": {**LINE, part: other}}, {"floes": value}, {"first": value}):
        try:
            state = ICE.start(ICE.seats(2), None, setup)
        except SetupError as wrong:
            assert wrong.en and wrong.fr
        else:
            assert state.legal_moves


def test_a_set_up_of_something_else_is_refused() -> None:
    for setup, words in (
        ({"cards": []}, "nothing else"),
        ({"floes": []}, "maps spaces"),
        ({"floes": {"a2": "plain"}}, "does not fit at 'floe a2 plain'"),
        ({"floes": {"a1": "plain plain"}}, "not a move"),
        ({"first": "blue"}, "green and red"),
    ):
        with pytest.raises(SetupError, match=words) as wrong:
            ICE.start(ICE.seats(2), None, setup)
        assert wrong.value.fr != wrong.value.en
    for players, words in (
        ([{"name": "Ann"}], "two players"),
        ([{"name": ""}, {"name": "Bob"}], "name has 1 to 40"),
        ([3, {"name": "Bob"}], "name has 1 to 40"),
        ([{"name": "Ann", "colour": ["red"]}, {"name": "Bob"}], "green and red"),
    ):
        with pytest.raises(SetupError, match=words) as wrong:
            ICE.start(players)
        assert wrong.value.fr != wrong.value.en
    state = ICE.start(ICE.seats(2), None, {"floes": {"a1": "plain"}, "first": "red"})
    assert state.colours[state.to_move] == "red", "floes that nobody named are read when they are reached"
