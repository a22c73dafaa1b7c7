"""The worked examples of the rulebook and what follows from them, IGLU-T.1 to IGLU-T.13."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from companion.rules import game
from companion.rules.iglu_iglu import components
from companion.rules.iglu_iglu.score import islands

Make = Callable[..., Any]

# The islands of the second scoring example: six floes and one beyond the corner h8, which an inuit holds.
SIX_AND_ONE = """
+...###+
....##.#
.....#..
........
........
........
........
+......+
"""
PEOPLE = {"e8": "y Y", "f8": "b b", "e7": "b", "f7": "r", "g8": "r g", "h7": "r", "h8": "y"}
FOUR = """
+......+
........
..##....
..##....
........
........
........
+......+
"""


def points(state: Any, colour: str, what: str = "island") -> list[int]:
    seat = state.colours.index(colour)
    return [line.points for line in state.score().sheets[seat].lines if line.what.startswith(what)]


@pytest.mark.cites("IGLU-T.1", "IGLU-1.2", "IGLU-G.1", "IGLU-S.1")
def test_t1_eight_floes_may_melt_in_the_opening(board: Make, texts: Make) -> None:
    state = board(things={"b1": "r r r r r", "b8": "b b b b b", "d4": "1", "e4": "2", "d5": "3", "e5": "2"})
    assert texts(state, "melt") == {f"melt {square}" for square in ["c4", "c5", "d3", "d6", "e3", "e6", "f4", "f5"]}


@pytest.mark.cites("IGLU-T.2", "IGLU-V.B.5")
def test_t2_a_tribe_alone_on_four_floes_has_sixteen(board: Make) -> None:
    assert points(board(FOUR, {"c5": "r"}), "red") == [16]


@pytest.mark.cites("IGLU-T.3", "IGLU-V.B.3", "IGLU-V.B.4")
def test_t3_two_firsts_a_second_and_nobody(board: Make) -> None:
    state = board(SIX_AND_ONE, PEOPLE)
    island = next(island for island in islands(state) if island.size == 6)
    assert dict(zip(state.colours, island.strength, strict=True)) == {"red": 2, "blue": 3, "yellow": 3, "green": 1}
    assert {c: points(state, c)[0] for c in state.colours} == {"red": 3, "blue": 6, "yellow": 6, "green": 0}


@pytest.mark.cites("IGLU-T.4", "IGLU-V.B.1")
def test_t4_one_floe_is_an_island(board: Make) -> None:
    assert points(board(SIX_AND_ONE, PEOPLE), "red") == [3, 1]


@pytest.mark.cites("IGLU-T.5", "IGLU-V.B.2", "IGLU-G.3")
def test_t5_a_corner_joins_nothing_and_counts_nowhere(board: Make) -> None:
    state = board(SIX_AND_ONE, PEOPLE)
    assert points(state, "yellow") == [6]
    assert points(state, "yellow", "corner") == [0]
    line = state.score().sheets[state.colours.index("yellow")].lines[-1]
    assert line.clauses == ("IGLU-V.B.2",)
    assert state.game.rulebook.line(line, "fr") == "Un inuit sur un coin (h8)"


@pytest.mark.cites("IGLU-T.6", "IGLU-X.2", "IGLU-X.3")
@pytest.mark.parametrize(("size", "value"), [(1, 1), (2, 3), (3, 6), (4, 10), (5, 15), (6, 21), (7, 21)])
def test_t6_the_table_of_the_advanced_game(board: Make, size: int, value: int) -> None:
    row = "+......+\n" + "#" * size + "." * (8 - size) + "\n"
    picture = row + "........\n" * 5 + "+......+"
    state = board(picture, {"a7": "g"}, options={"variant.island_table": True})
    assert points(state, "green", "table") == [value]
    shared = board(picture, {"a7": "g b"}, options={"variant.island_table": True})
    assert points(shared, "green", "table") == points(shared, "blue", "table") == [value]


DRIFT = """
+######+
########
##...###
##.#.###
##.#.###
########
########
+######+
"""


@pytest.mark.cites("IGLU-T.7", "IGLU-1.E.4d", "IGLU-1.E.4c")
def test_t7_fish_give_way_to_a_square_beside_them(board: Make, refused: Make, allowed: Make, play: Make) -> None:
    things = {"d6": "1 3", "d5": "g", "e6": "X", "c6": "", "h4": "y"}
    state = board(DRIFT, things, phase="drifting", to_move="green", melted=False)
    assert "IGLU-1.E.4d" in allowed(state, "drift d4 n").clauses
    waiting = play(state, "drift d4 n")
    assert waiting.phase == 7
    for crossed in ("e5", "c5"):
        ruling = refused(waiting, f"displace d6 {crossed}")
        assert ruling.clauses == ("IGLU-1.E.4d", "IGLU-G.1")
    assert "IGLU-1.E.4d" in allowed(waiting, "displace d6 c6").clauses
    pushed = play(waiting, "displace d6 c6")
    there = pushed.position()["places"]
    assert {t["value"] for t in there["c6"]["things"]} == {1, 3}
    assert there["d6"] == {"ground": "floe", "things": [{"kind": "inuit", "colour": "green", "count": 1}]}
    assert there["d5"]["ground"] == "floe"
    assert there["d4"]["ground"] == "water"


@pytest.mark.cites("IGLU-T.8", "IGLU-1.E.5")
def test_t8_one_tile_of_each_type_a_turn(board: Make, refused: Make, play: Make) -> None:
    state = board(things={"b1": "r"}, hands={"red": "endurance 1, endurance 2, thaw"}, to_move="red", points=3)
    both = play(state, "endurance 1", "thaw c4")
    assert both.points == 4
    ruling = refused(both, "endurance 2")
    assert ruling.clauses == ("IGLU-1.E.5",)
    assert ruling.status == "text"


@pytest.mark.cites("IGLU-T.9", "IGLU-2.B.3")
def test_t9_no_points_buy_a_bear(board: Make, refused: Make, play: Make) -> None:
    state = board(things={"c4": "r X"}, hands={"red": "endurance 2"}, to_move="red", points=3)
    assert refused(play(state, "endurance 2"), "hunt c4 bear").clauses == ("IGLU-2.B.3",)


WATERS = """
+######+
########
##..####
##..####
####..##
####..##
########
+######+
"""


@pytest.mark.cites("IGLU-T.10", "IGLU-2.A.4", "IGLU-2.A.5")
def test_t10_a_kayak_stays_on_its_stretch_of_water(board: Make, refused: Make, allowed: Make) -> None:
    state = board(WATERS, {"b6": "b"}, to_move="blue", points=3)
    for shore in ("b5", "c7", "d7", "e6", "e5", "c4", "d4"):
        assert "IGLU-2.A.4" in allowed(state, f"kayak b6 {shore}").clauses
    across = refused(state, "kayak b6 g4")
    assert across.clauses == ("IGLU-2.A.4", "IGLU-2.A.5"), "only corner to corner: a house ruling decides"
    assert across.status == "house ruling"
    assert refused(state, "kayak b6 b3").clauses[0] == "IGLU-2.A.4"
    other = WATERS.replace("##..####\n##..####\n", "##..####\n########\n", 1)
    assert refused(board(other, {"b6": "b"}, to_move="blue", points=3), "kayak b6 g4").status == "text"


@pytest.mark.cites("IGLU-T.11", "IGLU-V.B.4")
def test_t11_half_is_rounded_down(board: Make) -> None:
    state = board(FOUR.replace("..##....", "..###...", 1), {"c6": "r R", "d6": "b"})
    assert (points(state, "red"), points(state, "blue")) == ([5], [2])


@pytest.mark.cites("IGLU-T.12", "IGLU-X.4")
def test_t12_the_second_has_half_of_the_table(board: Make) -> None:
    state = board(SIX_AND_ONE, PEOPLE, options={"variant.island_table": True})
    assert {c: points(state, c, "table")[0] for c in state.colours} == {"yellow": 21, "blue": 21, "red": 10, "green": 0}
    line = next(x for x in state.score().sheets[0].lines if x.what == "table-second")
    assert "IGLU-X.4" in line.clauses


@pytest.mark.cites("IGLU-T.13", "IGLU-K.3", "IGLU-K.4", "IGLU-K.5")
def test_t13_the_animals_of_the_box() -> None:
    found = {}
    for (kind, value), count in zip(components.TOKENS, components.IN_BOX, strict=True):
        pieces, worth = found.get(kind, (0, 0))
        found[kind] = (pieces + count, worth + count * value)
    assert found == {"fish": (28, 56), "fox": (10, 20), "bear": (4, 16)}
    start = game("iglu-iglu").start(game("iglu-iglu").seats(2))
    assert [start.reserve(token) for token in range(7)] == [8, 12, 8, 3, 4, 3, 4]
