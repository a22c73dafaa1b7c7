"""The twenty disputes, IGLU-Q.1 to IGLU-Q.20: each answered from a position, or by `companion rule`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from companion.rules import game
from companion.rules.rulebook import rulebook

Make = Callable[..., Any]

OPEN_CORNER = """
+######+
########
########
########
########
########
........
+#....#+
"""


def place(state: Any, square: str) -> dict[str, Any]:
    return state.position()["places"][square]


def kinds(state: Any, square: str) -> list[str]:
    return [thing["kind"] for thing in place(state, square)["things"]]


@pytest.mark.cites("IGLU-Q.1", "IGLU-2.A.1")
def test_q1_nobody_walks_onto_a_corner(board: Make, refused: Make) -> None:
    ruling = refused(board(things={"b1": "r"}, to_move="red", points=3), "walk b1 a1")
    assert ruling.clauses == ("IGLU-2.A.1", "IGLU-G.3")
    assert ruling.status == "deduced"


@pytest.mark.cites("IGLU-Q.2")
def test_q2_one_walks_out_of_a_corner_for_a_point(board: Make, allowed: Make, play: Make) -> None:
    state = board(things={"a1": "r"}, to_move="red", points=3)
    ruling = allowed(state, "walk a1 b1")
    assert "IGLU-2.A.1" in ruling.clauses
    assert ruling.status == "deduced"
    assert play(state, "walk a1 b1").points == 2


@pytest.mark.cites("IGLU-Q.3")
def test_q3_a_kayak_from_a_corner_is_an_option(board: Make, refused: Make, allowed: Make) -> None:
    things = {"a1": "r"}
    ruling = refused(board(OPEN_CORNER, things, to_move="red", points=3), "kayak a1 g1")
    assert "IGLU-2.A.4" in ruling.clauses
    assert (ruling.status, ruling.option) == ("house ruling", "iglu.kayak_from_corner")
    kinder = board(OPEN_CORNER, things, to_move="red", points=3, options={"iglu.kayak_from_corner": True})
    assert allowed(kinder, "kayak a1 g1").option == "iglu.kayak_from_corner"
    assert refused(kinder, "kayak a1 h1").clauses == ("IGLU-2.A.4", "IGLU-G.3")


@pytest.mark.cites("IGLU-Q.4")
def test_q4_no_kayak_to_a_corner_no_fishing_and_no_igloo_there(board: Make, refused: Make) -> None:
    state = board(OPEN_CORNER, {"a1": "r", "b1": "r", "a2": "2"}, to_move="red", points=3)
    assert "IGLU-2.A.4" in refused(state, "kayak b1 h1").clauses
    assert "IGLU-2.C.1" in refused(state, "build a1").clauses
    ruling = refused(
        board(OPEN_CORNER.replace("........", "..######", 1), {"a1": "r", "a2": "2"}, points=3), "hunt a2 fish 2"
    )
    assert ruling.clauses == ("IGLU-2.B.2", "IGLU-G.3")
    assert ruling.status == "deduced"


@pytest.mark.cites("IGLU-Q.5")
def test_q5_a_drift_must_be_done_with_any_floe_and_also_into_its_own_hole(
    board: Make, refused: Make, allowed: Make, play: Make
) -> None:
    picture = "+######+\n########\n########\n########\n########\n########\n##.P####\n+######+"
    state = board(picture, {"d2": "f1", "b2": "R r"}, phase="drifting", to_move="red")
    ruling = refused(state, "drift none")
    assert "IGLU-1.E.4" in ruling.clauses and ruling.status == "text"
    assert allowed(state, "drift d2 w").status == "text"
    assert allowed(state, "drift b2 e").status == "house ruling", "igloos travel by a ruling of ours"
    packed = play(state, "drift d2 w")
    assert place(packed, "c2")["ground"] == "pack" and kinds(packed, "c2") == ["fox"]
    assert kinds(play(state, "drift b2 e"), "c2") == ["inuit", "igloo"]


SHOAL = """
+######+
########
##.#.###
##...###
##.#.###
########
########
+######+
"""


@pytest.mark.cites("IGLU-Q.6")
def test_q6_what_is_in_the_way_goes_together_or_one_by_one(
    board: Make, refused: Make, allowed: Make, play: Make
) -> None:
    things = {"d5": "1 1 3 X"}
    together = play(board(SHOAL, things, phase="drifting", to_move="red"), "drift d4 n")
    ruling = refused(together, "displace d5 c5 fish 1")
    assert (ruling.status, ruling.option) == ("house ruling", "iglu.displace_together")
    moved = play(together, "displace d5 c5")
    assert sorted(t["kind"] for t in place(moved, "c5")["things"]) == ["bear", "fish", "fish"]
    assert place(moved, "d5")["ground"] == "floe"
    options = {"iglu.displace_together": False}
    each = play(board(SHOAL, things, phase="drifting", to_move="red", options=options), "drift d4 n")
    assert refused(each, "displace d5 c5").option == "iglu.displace_together"
    assert "IGLU-1.E.4d" in allowed(each, "displace d5 c5 fish 1").clauses
    spread = play(
        each, "displace d5 c5 fish 1", "displace d5 e5 fish 3", "displace d5 e5 fish 1", "displace d5 c5 bear"
    )
    assert kinds(spread, "c5") == ["bear"], "the bear, displaced onto a fish, eats it"
    assert len(place(spread, "e5")["things"]) == 2
    assert place(spread, "d5")["ground"] == "floe"


@pytest.mark.cites("IGLU-Q.6")
def test_q6_one_by_one_the_bear_may_not_take_the_last_square(board: Make, refused: Make, play: Make) -> None:
    narrow = SHOAL.replace("##...###", "##..####")
    options = {"iglu.displace_together": False}
    state = play(board(narrow, {"d5": "2 X"}, phase="drifting", to_move="red", options=options), "drift d4 n")
    assert "IGLU-1.E.4d" in refused(state, "displace d5 c5 bear").clauses
    done = play(state, "displace d5 c5 fish 2", "displace d5 c5 bear")
    assert kinds(done, "c5") == ["bear"]


@pytest.mark.cites("IGLU-Q.7")
def test_q7_free_means_no_floe_and_no_bear_and_a_displaced_bear_eats(
    board: Make, refused: Make, allowed: Make, play: Make
) -> None:
    fish = play(board(SHOAL, {"d5": "2", "c5": "X", "e5": "1"}, phase="drifting", to_move="red"), "drift d4 n")
    assert "IGLU-G.7" in refused(fish, "displace d5 c5").clauses
    assert "IGLU-1.E.4e" in allowed(fish, "displace d5 e5").clauses
    assert len(place(play(fish, "displace d5 e5"), "e5")["things"]) == 2
    bear = play(board(SHOAL, {"d5": "X 3", "e5": "1 2"}, phase="drifting", to_move="red"), "drift d4 n")
    ruling = allowed(bear, "displace d5 e5")
    assert "IGLU-1.F.1" in ruling.clauses and ruling.status == "house ruling"
    eaten = play(bear, "displace d5 e5")
    assert [(t["kind"], t["value"]) for t in place(eaten, "e5")["things"]] == [("fish", 3), ("bear", 4)]
    assert {(t["value"], t["count"]) for t in eaten.position()["piles"]["removed"]} == {(1, 1), (2, 1)}
    stuck = board(SHOAL, {"d5": "2", "c5": "X", "e5": "X"}, phase="drifting", to_move="red")
    assert "IGLU-1.E.4d" in refused(stuck, "drift d4 n").clauses


@pytest.mark.cites("IGLU-Q.8")
def test_q8_animals_may_be_moved_to_a_bear_and_nothing_happens(board: Make, allowed: Make, play: Make) -> None:
    state = board(
        SHOAL, {"d5": "2", "c5": "X", "b2": "f1", "b3": "X"}, hands={"red": "animals"}, to_move="red", points=3
    )
    state = play(state, "animals")
    for text, square in (("move fish 2 d5 c5", "c5"), ("move fox 1 b2 b3", "b3")):
        ruling = allowed(state, text)
        assert "IGLU-1.F.1" in ruling.clauses and ruling.status == "house ruling"
        state = play(state, text)
        assert len(kinds(state, square)) == 2


@pytest.mark.cites("IGLU-Q.9")
def test_q9_all_three_points_while_a_step_is_possible(board: Make, refused: Make, allowed: Make, play: Make) -> None:
    things = {"d5": "2"}
    fields: dict[str, Any] = {"hands": {"red": "animals"}, "to_move": "red", "points": 3}
    strict = play(board(SHOAL, things, **fields), "animals", "move fish 2 d5 c5")
    ruling = refused(strict, "stop")
    assert (ruling.status, ruling.option) == ("text", "iglu.animals_all_three")
    assert refused(strict, "walk b1 b2").clauses == ("IGLU-1.E.11",)
    lenient = board(SHOAL, things, options={"iglu.animals_all_three": "warn"}, **fields)
    warned = play(lenient, "animals", "move fish 2 d5 c5")
    assert allowed(warned, "stop").status == "house ruling"
    assert play(warned, "stop").phase == strict.phase - 1
    lone = board("+######+\n" + "########\n" * 6 + "+######+", {"b2": ""}, **fields)
    ruling = allowed(lone, "animals")
    assert ruling.status == "house ruling", "no animal can move: the points are lost"
    assert play(lone, "animals").points == 3


ATTACK = """
+######+
########
########
###..###
###..###
########
########
+######+
"""


@pytest.mark.cites("IGLU-Q.10", "IGLU-1.E.5")
def test_q10_one_harpoon_in_ones_own_turn_no_limit_in_anothers(
    board: Make, refused: Make, allowed: Make, play: Make
) -> None:
    own = board(ATTACK, {"c4": "r X", "c5": "X"}, hands={"red": "harpoon, harpoon"}, to_move="red", points=3)
    once = play(own, "harpoon c4 bear")
    ruling = refused(once, "walk c4 c5 harpoon")
    assert "IGLU-1.E.5" in ruling.clauses and ruling.status == "text"
    theirs = board(
        ATTACK,
        {"c4": "b", "c5": "b", "d4": "X", "d5": "X"},
        hands={"red": "animals", "blue": "harpoon, harpoon"},
        points=3,
    )
    assert theirs.to_move == 0
    first = play(theirs, "animals", "move bear d4 c4", "defend blue", "move bear d5 c5")
    assert allowed(first, "defend blue").legal
    assert [t["count"] for t in play(first, "defend blue").position()["trophies"]["blue"]] == [2]


@pytest.mark.cites("IGLU-Q.10")
def test_q10_a_harpoon_of_the_own_turn_does_not_defend_again(board: Make, refused: Make, play: Make) -> None:
    state = board(
        ATTACK,
        {"c4": "r", "c5": "r f2", "d4": "X"},
        hands={"red": "animals, harpoon, harpoon"},
        to_move="red",
        points=3,
    )
    state = play(state, "harpoon c5 fox 2", "animals", "move bear d4 c4")
    assert "IGLU-1.E.5" in refused(state, "defend red").clauses
    assert play(state, "decline red").phase == 11


@pytest.mark.cites("IGLU-Q.11")
def test_q11_a_harpoon_reaches_no_farther(board: Make, refused: Make, allowed: Make) -> None:
    state = board(
        ATTACK, {"c4": "r", "d5": "3", "c5": "f1", "d4": "3"}, hands={"red": "harpoon"}, to_move="red", points=0
    )
    for far in ("harpoon d5 fish 3", "harpoon c5 fox 1"):
        ruling = refused(state, far)
        assert "IGLU-2.B.2" in ruling.clauses and ruling.status == "house ruling"
    assert "IGLU-1.E.10" in allowed(state, "harpoon d4 fish 3").clauses


@pytest.mark.cites("IGLU-Q.12")
def test_q12_a_bear_in_the_water_is_not_hunted(board: Make, refused: Make) -> None:
    state = board(ATTACK, {"c4": "r", "d4": "X"}, hands={"red": "harpoon"}, to_move="red", points=3)
    ruling = refused(state, "harpoon d4 bear")
    assert ruling.clauses == ("IGLU-2.B.3",) and ruling.status == "text"


@pytest.mark.cites("IGLU-Q.13", "IGLU-1.F.5")
def test_q13_a_bear_that_stays_with_hidden_inuit(board: Make, refused: Make, allowed: Make, play: Make) -> None:
    things = {"c4": "r R", "c3": "b", "d4": "X"}
    hands = {"red": "harpoon", "blue": "animals"}
    state = board(ATTACK, things, hands=hands, turn="blue", to_move="blue", points=3)
    state = play(state, "animals", "move bear d4 c4")
    ruling = allowed(state, "decline red")
    assert "IGLU-1.F.5" in ruling.clauses
    state = play(state, "decline red", "move bear c4 b4", "move bear b4 c4", "decline red")
    assert kinds(state, "c4") == ["inuit", "igloo", "bear"]
    assert "IGLU-2.A.3" in refused(state, "walk c3 c4").clauses
    mine = board(ATTACK, {"c4": "r R X"}, hands=hands, to_move="red", points=3)
    assert allowed(mine, "walk c4 c5").legal
    assert "IGLU-2.B.3" in allowed(mine, "harpoon c4 bear").clauses


@pytest.mark.cites("IGLU-Q.14", "IGLU-1.3")
def test_q14_then_only_the_outer_ring(board: Make, refused: Make, allowed: Make, texts: Make) -> None:
    shore = dict.fromkeys(["c4", "c5", "d3", "d6", "e3", "e6", "f4", "f5"], "f1")
    state = board(ATTACK, {**shore, "b1": "r"}, to_move="red")
    ruling = refused(state, "melt c3")
    assert ruling.clauses == ("IGLU-1.3",) and ruling.status == "text"
    assert "IGLU-1.3" in allowed(state, "melt a4").clauses
    assert len(texts(state, "melt")) == 23
    assert "IGLU-G.6" in refused(state, "melt b1").clauses


@pytest.mark.cites("IGLU-Q.15", "IGLU-1.5")
def test_q15_a_red_tile_may_be_played_when_it_was_drawn(board: Make, allowed: Make, play: Make) -> None:
    for face in ("thaw", "kept"):
        state = play(board(ATTACK, {"b1": "r"}, to_move="red"), "melt c4", f"reveal c4 {face}")
        assert "IGLU-1.E.7" in allowed(state, "thaw d3").clauses


@pytest.mark.cites("IGLU-Q.16")
def test_q16_no_thaw_where_nothing_can_thaw(board: Make, refused: Make) -> None:
    picture = "+######+\n" + "########\n" * 6 + "+######+"
    ruling = refused(board(picture, {"b1": "r"}, hands={"red": "thaw"}, to_move="red"), "thaw b2")
    assert set(ruling.clauses) == {"IGLU-1.E.7", "IGLU-1.3"}
    assert ruling.status == "house ruling"


@pytest.mark.cites("IGLU-Q.17")
def test_q17_an_igloo_counts_without_inuit(board: Make) -> None:
    state = board("+......+\n........\n..##....\n" + "........\n" * 4 + "+......+", {"c6": "R", "d6": "b"})
    assert [state.score().sheets[seat].total for seat in (0, 1)] == [2, 1]
    line = state.score().sheets[0].lines[1]
    assert line.facts["strength"] == 2 and "IGLU-V.B.3" in line.clauses


@pytest.mark.cites("IGLU-Q.18")
def test_q18_two_equals_have_the_size_not_its_square(board: Make) -> None:
    state = board("+......+\n........\n..##....\n" + "........\n" * 4 + "+......+", {"c6": "r", "d6": "b"})
    assert [state.score().sheets[seat].total for seat in (0, 1)] == [2, 2]


@pytest.mark.cites("IGLU-Q.19", "IGLU-S.5")
def test_q19_the_rulebook_goes_before_a_summary() -> None:
    dispute = rulebook("iglu-iglu").dispute("IGLU-Q.19")
    assert dispute.clauses == ("IGLU-S.5",) and dispute.status == "house ruling"
    assert dispute in rulebook("iglu-iglu").search("summary")
    assert game("iglu-iglu").start(game("iglu-iglu").seats(2)).table.inuit_each == 5


@pytest.mark.cites("IGLU-Q.20")
def test_q20_melting_asks_for_no_inuit_beside(board: Make, allowed: Make) -> None:
    ruling = allowed(board(ATTACK, {"b1": "r", "g8": "b"}, to_move="red"), "melt c4")
    assert ruling.clauses == ("IGLU-1.2",) and ruling.status == "text"


def test_every_dispute_is_found_by_its_number() -> None:
    book = rulebook("iglu-iglu")
    assert list(book.disputes) == [f"IGLU-Q.{n}" for n in range(1, 21)]
    for dispute in book.disputes.values():
        assert book.search(dispute.id)[0] == dispute
