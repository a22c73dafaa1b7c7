"""Phase 2, the end and the score: clause by clause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from companion.rules.core import NOBODY

Make = Callable[..., Any]
OPENING = "+######+\n########\n########\n###..###\n###..###\n########\n########\n+######+"


def place(state: Any, square: str) -> dict[str, Any]:
    return state.position()["places"][square]


def kinds(state: Any, square: str) -> list[str]:
    return [thing["kind"] for thing in place(state, square)["things"]]


@pytest.mark.cites("IGLU-2.1")
def test_three_points_shared_freely_and_what_is_left_is_lost(
    board: Make, play: Make, refused: Make, allowed: Make
) -> None:
    state = board(things={"b1": "r", "g8": "r", "c1": "b"}, to_move="red", points=3)
    state = play(state, "walk b1 b2", "walk g8 g7")
    assert state.points == 1
    assert "IGLU-2.1" in refused(state, "walk c1 c2").clauses, "not the own tribe"
    assert "IGLU-2.1" in refused(state, "walk b1 c1").clauses, "nobody is there any more"
    assert allowed(state, "end").facts["lost"] == 1
    spent = play(state, "walk b2 b1")
    assert refused(spent, "walk b1 c1").clauses == ("IGLU-2.1", "IGLU-2.A.1")
    assert [str(move) for move in spent.legal_moves] == ["end"]
    following = play(state, "end")
    assert (following.to_move, following.points, following.phase) == (1, 0, 2)


@pytest.mark.cites("IGLU-2.A.1", "IGLU-2.A.2", "IGLU-M.12")
def test_walking(board: Make, play: Make, refused: Make, allowed: Make, texts: Make) -> None:
    things = {"c4": "r", "c5": "b B", "b4": "f1", "c3": "R r"}
    state = board(things=things, to_move="red", points=3)
    assert "IGLU-2.A.1" in refused(state, "walk c4 d4").clauses, "water"
    for far in ("walk c4 b5", "walk c4 a4", "walk c4 c4"):
        assert "IGLU-G.1" in refused(state, far).clauses
    for way in ("walk c4 c5", "walk c4 b4", "walk c4 c3"):
        assert allowed(state, way).clauses == ("IGLU-2.A.1", "IGLU-2.A.2")
    assert texts(state, "walk") == {f"walk c4 {s}" for s in ("c5", "b4", "c3")} | {
        f"walk c3 {s}" for s in ("c4", "b3", "c2", "d3")
    }
    moved = play(state, "walk c4 c5")
    assert place(moved, "c5")["things"][0] == {"kind": "inuit", "colour": "red", "count": 1}
    assert moved.points == 2
    twice = play(moved, "walk c3 c4", "walk c4 c3")
    assert twice.points == 0


@pytest.mark.cites("IGLU-2.A.3", "IGLU-M.16")
def test_a_bear_lets_nobody_in_without_a_harpoon(
    board: Make, play: Make, refused: Make, allowed: Make, texts: Make
) -> None:
    picture = OPENING
    things = {"c4": "r", "c5": "X", "e6": "X r"}
    bare = board(picture, things, to_move="red", points=3)
    for text in ("walk c4 c5", "walk c4 c5 harpoon", "kayak c4 e6", "kayak e6 c5 harpoon"):
        assert "IGLU-2.A.3" in refused(bare, text).clauses
    armed = board(picture, things, hands={"red": "harpoon"}, to_move="red", points=3)
    assert "harpoon" in refused(armed, "walk c4 c5").en
    assert "IGLU-2.A.3" in refused(armed, "walk c4 c3 harpoon").clauses, "no bear, no harpoon"
    assert "IGLU-2.A.3" in refused(armed, "kayak c4 f4 harpoon").clauses
    for text, left in (("walk c4 c5 harpoon", 2), ("kayak c4 e6 harpoon", 0)):
        assert "IGLU-2.A.3" in allowed(armed, text).clauses
        after = play(armed, text)
        assert (after.points, after.bears.bit_count()) == (left, 1)
        assert after.position()["trophies"]["red"] == [{"kind": "bear", "value": 4, "count": 1}]
        assert after.position()["hands"]["red"] == {"tiles": {}, "unknown": 0}
        assert after.position()["played"] == ["harpoon"]
    assert {"walk c4 c5 harpoon", "kayak c4 e6 harpoon", "kayak c4 c5 harpoon"} <= texts(armed)


@pytest.mark.cites("IGLU-2.A.4", "IGLU-M.13")
def test_the_kayak(board: Make, play: Make, refused: Make, allowed: Make, texts: Make) -> None:
    things = {"c4": "r", "b2": "r", "d4": "2", "h8": "r"}
    state = board(things=things, to_move="red", points=3)
    assert texts(state, "kayak") == {f"kayak c4 {s}" for s in ("c5", "d3", "d6", "e3", "e6", "f4", "f5")}
    assert "IGLU-2.A.4" in allowed(state, "kayak c4 f5").clauses
    assert play(state, "kayak c4 f5").points == 0
    assert kinds(play(state, "kayak c4 f5"), "d4") == ["fish"], "no fishing on the way"
    for nowhere in ("kayak c4 c4", "kayak c4 d5", "kayak c4 b4", "kayak b2 c4", "kayak c4 a1"):
        assert "IGLU-2.A.4" in refused(state, nowhere).clauses
    assert "IGLU-2.1" in refused(state, "kayak f4 c4").clauses
    tired = board(things=things, to_move="red", points=2)
    assert refused(tired, "kayak c4 f5").clauses == ("IGLU-2.1", "IGLU-2.A.4")
    assert not texts(tired, "kayak")


def test_no_kayak_passes_a_bear(board: Make, refused: Make, allowed: Make) -> None:
    picture = "+######+\n########\n########\n##...###\n########\n########\n########\n+######+"
    state = board(picture, {"b5": "r", "d5": "X"}, to_move="red", points=3)
    ruling = refused(state, "kayak b5 f5")
    assert ruling.clauses == ("IGLU-2.A.4",) and "bear" in ruling.en
    assert allowed(state, "kayak b5 c6").legal
    beside = board(picture, {"b5": "r", "c5": "X"}, to_move="red", points=3)
    assert "bear" in refused(beside, "kayak b5 c6").en
    lakes = "+######+\n########\n##..####\n########\n########\n####..##\n########\n+######+"
    apart = board(lakes, {"b6": "r", "e3": "X", "d6": "2"}, to_move="red", points=3)
    assert "same stretch" in refused(apart, "kayak b6 g3").en
    assert "touches no water" in refused(apart, "kayak b6 b1").en
    assert "touches no water" in refused(board(lakes, {"b1": "r"}, to_move="red", points=3), "kayak b1 b6").en


@pytest.mark.cites("IGLU-2.B.1", "IGLU-2.B.2", "IGLU-2.B.4", "IGLU-M.14")
def test_hunting(board: Make, play: Make, refused: Make, allowed: Make, texts: Make) -> None:
    things = {"c4": "r f2", "d4": "1 1 3", "e5": "1", "b4": "f1", "c6": "r"}
    state = board(things=things, to_move="red", points=3)
    assert texts(state, "hunt") == {"hunt c4 fox 2", "hunt d4 fish 1", "hunt d4 fish 3"}
    assert allowed(state, "hunt d4 fish 3").clauses == ("IGLU-2.B.1", "IGLU-2.B.2")
    for far in ("hunt e5 fish 1", "hunt b4 fox 1"):
        assert refused(state, far).clauses == ("IGLU-2.B.2",)
    for absent in ("hunt d4 fish 2", "hunt c4 fox 1", "hunt c4 bear"):
        assert "IGLU-2.B.2" in refused(state, absent).clauses
    two = play(state, "hunt c4 fox 2")
    assert (two.points, kinds(two, "c4")) == (1, ["inuit"])
    assert refused(two, "hunt d4 fish 3").clauses == ("IGLU-2.B.1", "IGLU-2.1")
    one = play(two, "hunt d4 fish 1")
    assert place(one, "d4")["things"] == [
        {"kind": "fish", "value": 1, "count": 1},
        {"kind": "fish", "value": 3, "count": 1},
    ]
    assert one.position()["trophies"]["red"] == [
        {"kind": "fish", "value": 1, "count": 1},
        {"kind": "fox", "value": 2, "count": 1},
    ]


@pytest.mark.cites("IGLU-1.E.10", "IGLU-2.B.3", "IGLU-M.15")
def test_a_harpoon_pays_for_any_animal_in_reach(
    board: Make, play: Make, refused: Make, allowed: Make, texts: Make
) -> None:
    things = {"c4": "r f2 X", "d4": "3", "e5": "1"}
    state = board(things=things, hands={"red": "harpoon"}, to_move="red", points=0)
    shots = {"harpoon c4 fox 2", "harpoon c4 bear", "harpoon d4 fish 3"}
    assert texts(state, "harpoon") == shots
    for text in shots:
        assert "IGLU-1.E.10" in allowed(state, text).clauses
        after = play(state, text)
        assert after.points == 0
        assert sum(t["count"] for t in after.position()["trophies"]["red"]) == 1
        assert not texts(after, "harpoon")
    assert refused(state, "hunt c4 bear").clauses == ("IGLU-2.B.3",)
    bare = board(things=things, to_move="red", points=3)
    for text in shots:
        assert refused(bare, text).clauses == ("IGLU-1.E.5",)


@pytest.mark.cites("IGLU-2.C.1", "IGLU-2.C.2", "IGLU-M.17", "IGLU-G.7")
def test_building(board: Make, play: Make, refused: Make, allowed: Make, texts: Make) -> None:
    picture = OPENING.replace("###..###", "##P..###", 1)
    things = {"c5": "r f1", "b1": "r", "c1": "r b", "d1": "r R", "e1": "b"}
    state = board(picture, things, to_move="red", points=3)
    assert texts(state, "build") == {"build c5", "build b1"}
    assert allowed(state, "build b1").clauses == ("IGLU-2.C.1",)
    odd = allowed(state, "build c5")
    assert odd.clauses == ("IGLU-2.C.1", "IGLU-2.C.2") and odd.status == "deduced"
    rival = refused(state, "build c1")
    assert "IGLU-2.C.1" in rival.clauses and rival.facts["owners"] == ["blue"]
    assert "IGLU-G.7" in refused(state, "build d1").clauses
    assert "IGLU-2.C.2" in refused(state, "build a1").clauses
    for nobody in ("build e1", "build h4"):
        assert refused(state, nobody).clauses == ("IGLU-2.C.1",)
    built = play(state, "build b1")
    assert (built.points, kinds(built, "b1")) == (0, ["inuit", "igloo"])
    tired = board(picture, things, to_move="red", points=2)
    assert refused(tired, "build b1").clauses == ("IGLU-2.C.1", "IGLU-2.1")
    both = board(picture, {**things, "h4": "R"}, to_move="red", points=3)
    assert refused(both, "build b1").clauses == ("IGLU-2.C.1", "IGLU-K.7")
    assert not texts(both, "build")


@pytest.mark.cites("IGLU-X.1")
def test_rival_igloos_close_their_floes_in_the_advanced_game(
    board: Make, refused: Make, allowed: Make, play: Make
) -> None:
    things = {"c4": "r", "c5": "B", "b4": "R", "f4": "B"}
    simple = board(things=things, to_move="red", points=3)
    assert allowed(simple, "walk c4 c5").legal
    blocked = {"variant.igloo_block": True}
    state = board(things=things, to_move="red", points=3, options=blocked)
    for text in ("walk c4 c5", "kayak c4 f4", "kayak c4 c5"):
        ruling = refused(state, text)
        assert (ruling.clauses, ruling.status, ruling.option) == (("IGLU-X.1",), "text", "variant.igloo_block")
        assert ruling.facts["owners"] == ["blue"]
    assert allowed(state, "walk c4 b4").legal, "the own igloo is open"
    inside = board(things={"c5": "r B"}, to_move="red", points=3, options=blocked)
    assert allowed(inside, "walk c5 c4").legal, "one may leave"
    packed = board(OPENING, {"c4": "B", "b4": "r"}, phase="drifting", to_move="red", options=blocked)
    assert allowed(packed, "drift b4 e").legal


# --- the end and the score ------------------------------------------------------------------------------------------

LAST = "+......+\n........\n........\n..##....\n" + "........\n" * 3 + "+......+"


@pytest.mark.cites("IGLU-E.1", "IGLU-E.2", "IGLU-E.3")
def test_the_game_ends_at_the_start_of_a_turn(board: Make, play: Make, allowed: Make, refused: Make) -> None:
    state = board(LAST, {"c5": "b", "d5": "f1"}, hands={"blue": "thaw"}, to_move="red", points=1)
    ruling = allowed(state, "end")
    assert {"IGLU-E.1", "IGLU-E.2", "IGLU-E.3"} <= set(ruling.clauses)
    over = play(state, "end")
    assert (over.to_move, over.phase) == (NOBODY, 12)
    assert over.outcome().winners == (1,)
    assert "IGLU-E.3" in refused(over, "thaw c5").clauses
    assert state.outcome() is None and state.end_reason is None
    assert over.game.rulebook.sentence("ended", over.end_reason.facts, "fr", names=over.names, colours=over.colours)
    alive = board(LAST, {"c5": "b"}, to_move="red", points=1)
    assert "IGLU-2.1" in allowed(alive, "end").clauses
    assert play(alive, "end").to_move == 1


@pytest.mark.cites("IGLU-V.A.1", "IGLU-V.1")
def test_the_sheet_line_by_line(board: Make) -> None:
    tokens = [{"kind": "fish", "value": 3, "count": 2}, {"kind": "bear", "count": 1}, {"kind": "fox", "value": 2}]
    state = board(LAST, {"c5": "r", "d5": "b", "a1": "b"}, trophies={"red": tokens}, to_move="red", points=0)
    red, blue = state.score().sheets
    assert [(line.what, line.points, line.clauses[0]) for line in red.lines] == [
        ("trophies", 12, "IGLU-V.A.1"),
        ("island-first", 2, "IGLU-V.B.1"),
    ]
    assert [(line.what, line.points) for line in blue.lines] == [("trophies", 0), ("island-first", 2), ("corner", 0)]
    assert (red.total, blue.total, state.score().ranking) == (14, 2, ((0,), (1,)))
    assert red.lines[0].facts == {"fish": 2, "foxes": 1, "bears": 1}
    assert red.lines[1].facts["squares"] == ["c5", "d5"]
    assert red.lines[1].facts["strengths"] == {"red": 1, "blue": 1}
    book = state.game.rulebook
    assert book.line(red.lines[0], "en") == "Trophies: 2 fish, one fox, one bear"
    assert book.line(red.lines[1], "fr").startswith("Première place sur l’île c5, d5")
    assert state.ranking_reason.key == "rank-points"


@pytest.mark.cites("IGLU-V.1")
def test_equal_totals_are_parted_by_trophies_or_shared(board: Make) -> None:
    fish = [{"kind": "fish", "value": 1, "count": 1}]
    state = board(LAST.replace("..##", "#.##"), {"a5": "r", "c5": "R", "d5": "b"}, trophies={"blue": fish}, points=0)
    assert [sheet.total for sheet in state.score().sheets] == [3, 2]
    parted = board(LAST.replace("..##", "#.##"), {"a5": "r", "c5": "y", "d5": "b b"}, trophies={"red": fish}, points=0)
    assert [sheet.total for sheet in parted.score().sheets] == [2, 2, 1]
    assert parted.score().ranking == ((0,), (1,), (2,))
    assert parted.ranking_reason.key == "rank-trophies"
    shared = board(LAST, {"c5": "r", "d5": "b"}, points=0)
    assert shared.score().ranking == ((0, 1),)
    reason = shared.ranking_reason
    assert reason.key == "rank-shared"
    ruling = shared.game.rulebook.ruling(True, reason, shared)
    assert ruling.status == "house ruling" and "IGLU-V.1" in ruling.clauses


@pytest.mark.cites("IGLU-V.B.1", "IGLU-V.B.4", "IGLU-V.B.5", "IGLU-X.3")
def test_ranks_on_an_island(board: Make) -> None:
    picture = "+......+\n........\n..###...\n..#P....\n" + "........\n" * 3 + "+......+"
    things = {"c6": "r r r", "d6": "b b", "e6": "y y", "c5": "g"}
    state = board(picture, things, points=0)
    assert [sheet.total for sheet in state.score().sheets] == [5, 2, 2, 0]
    tie = board(picture, {"c6": "r r", "d6": "b b", "e6": "y", "c5": "g"}, points=0)
    assert [sheet.total for sheet in tie.score().sheets] == [5, 5, 2, 2]
    alone = board(picture, {"c6": "r"}, points=0)
    assert alone.score().sheets[0].total == 25
    table = board(picture, {"c6": "r"}, points=0, options={"variant.island_table": True})
    assert table.score().sheets[0].total == 15
    (_, island) = table.score().sheets[0].lines
    assert island.clauses == ("IGLU-V.B.1", "IGLU-X.2", "IGLU-X.3")
    assert (island.facts["size"], island.facts["value"]) == (5, 15), "what the line tells the table"
    assert alone.score().sheets[0].lines[1].facts["value"] == 5
    ranks = board(picture, things, points=0, options={"variant.island_table": True})
    assert [sheet.total for sheet in ranks.score().sheets] == [15, 7, 7, 0]
    assert [s.lines[1].what for s in ranks.score().sheets] == [
        "table-first",
        "table-second",
        "table-second",
        "table-third",
    ]
    assert [s.lines[1].what for s in state.score().sheets][3] == "island-third"


def test_an_empty_island_brings_nobody_anything(board: Make) -> None:
    assert [len(sheet.lines) for sheet in board(LAST, {}, points=0).score().sheets] == [1, 1]


@pytest.mark.cites("IGLU-2.C.1")
def test_an_igloo_needs_an_inuit_of_the_tribe(board: Make, refused: Make) -> None:
    ruling = refused(board(things={"c6": "r"}, to_move="red", points=3), "build d6")
    assert ruling.clauses == ("IGLU-2.C.1",) and "has no inuit on d6" in ruling.en
