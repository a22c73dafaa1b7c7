"""The worked examples ICE-T.1 to ICE-T.10; the rulebook's pictures are missing, its captions and texts remain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from companion.rules import game
from companion.rules.core import NOBODY

Make = Callable[..., Any]
ICE = game("ice-team")


@pytest.mark.cites("ICE-T.1", "ICE-2.2", "ICE-Q.19")
@pytest.mark.parametrize(("fresh", "stolen"), [(3, 2), (2, 2), (1, 1), (0, 0)])
def test_t1_a_theft_takes_two_fresh_fish_or_what_there_is(
    ice: Make, play: Make, allowed: Make, fresh: int, stolen: int
) -> None:
    state = play(ice(green="a1", fresh=(0, fresh), frozen=(0, 4)), "walk a1 a2")
    assert state.phase == "roll" and state.fresh == (1, fresh), "the igloo's own fish comes before the die"
    ruling = allowed(state, "roll 1 steal")
    assert "ICE-2.2" in ruling.clauses
    assert ruling.facts["fish"] == stolen
    after = play(state, "roll 1 steal")
    assert after.fresh == (1 + stolen, fresh - stolen)
    assert after.frozen == (0, 4)


@pytest.mark.cites("ICE-T.2", "ICE-2.3")
def test_t2_a_searched_igloo_gives_no_fish_and_no_die(ice: Make, play: Make, allowed: Make, refused: Make) -> None:
    state = ice("oio ooI ooo oIo\no.o o.o I.I oo.\noIo Ioo ooo oIo", green="a1", fresh=(2, 2))
    ruling = allowed(state, "walk a1 a2")
    assert "ICE-2.3" in ruling.clauses and "already been searched" in ruling.en
    after = play(state, "walk a1 a2")
    assert (after.fresh, after.phase, after.actions) == ((2, 2), "act", 1)
    assert "ICE-0.1" in refused(after, "roll 1 fish1").clauses


LEAPS = """
oIo o1I ooo oIo
o.o o.o I.I oo.
oIo Ioo ooo oIo
"""


@pytest.mark.cites("ICE-T.3", "ICE-1.2")
def test_t3_a_bear_may_stop_after_the_first_leap_or_make_the_second(
    ice: Make, play: Make, allowed: Make, texts: Make
) -> None:
    state = ice(LEAPS, green="a1 a2", red="b1", fresh=(3, 0))
    ruling = allowed(state, "leap a1 a3")
    assert "ICE-1.2" in ruling.clauses and ruling.status == "text"
    once = play(state, "leap a1 a3")
    assert texts(once) == {"leap a3 b2", "stop"}
    stopped = play(once, "stop")
    assert (stopped.phase, stopped.actions) == ("act", 1)
    twice = play(once, "leap a3 b2", "stop")
    assert twice.phase == "freeze", "only the last tile takes effect: the penguin, not the plain floe"
    other = ice(LEAPS.replace("oIo o1I", "oI1 ooI"), green="a1 a2", red="b1", fresh=(3, 0))
    assert play(other, "leap a1 a3", "leap a3 b2", "stop").phase == "act"


@pytest.mark.cites("ICE-T.4", "ICE-1.4")
def test_t4_the_fragile_tile_that_was_left_goes_and_those_passed_stay(ice: Make, play: Make, allowed: Make) -> None:
    state = ice("OIO OoI ooo oIo\no.o o.o I.I oo.\noIo Ioo ooo oIo", green="a1 a2", red="b1")
    chain = play(state, "leap a1 a3", "leap a3 b2")
    assert chain.position()["places"]["a1"]["ground"] == "plain-fragile", "not before the movement is over"
    ruling = allowed(chain, "stop")
    assert "ICE-1.4" in ruling.clauses and ruling.facts["left"] == "a1"
    places = play(chain, "stop").position()["places"]
    assert places["a1"]["ground"] == "sea"
    assert places["a3"]["ground"] == places["b1"]["ground"] == "plain-fragile"


@pytest.mark.cites("ICE-T.5", "ICE-0.1", "ICE-S.5")
def test_t5_the_very_first_turn_has_one_action(play: Make, refused: Make, allowed: Make) -> None:
    layout = ICE.start(ICE.seats(2)).table.layout
    floes = {name: "plain" for name, kind in zip(layout.names, layout.kinds, strict=False) if kind == "floe"}
    box = ICE.start(ICE.seats(2)).table.box.to_json() | {"tiles": [["plain", "drift"]] * 24}
    state = ICE.start(ICE.seats(2), None, {"box": box, "floes": floes, "first": "green"})
    assert state.actions == 1
    after = play(state, "walk start a1")
    assert (after.colours[after.to_move], after.actions) == ("red", 2)
    ruling = refused(after, "walk a1 a4")
    assert ruling.clauses == ("ICE-0.1",)
    assert "Player 1 (green)" in ruling.en
    again = play(after, "walk start a4", "walk a4 a7")
    assert (again.colours[again.to_move], again.actions) == ("green", 2)


@pytest.mark.cites("ICE-T.6", "ICE-E.1", "ICE-2.7")
def test_t6_the_fourth_bear_home_ends_the_game_after_its_dice(ice: Make, play: Make, refused: Make) -> None:
    state = ice(green="village village village d3", fresh=(1, 5))
    state = play(state, "walk d3 village", "roll 1 fish2", "roll 2 steal")
    assert state.outcome() is None
    over = play(state, "choose 2")
    assert over.to_move == NOBODY
    assert over.fresh == (3, 3)
    assert over.outcome().clauses[0] == "ICE-E.1"
    assert refused(over, "walk start a1").clauses == ("ICE-E.1",)
    assert not over.legal_moves
    assert over.end_reason.key == "ended-home"


@pytest.mark.cites("ICE-T.7", "ICE-E.2")
def test_t7_a_tie_goes_to_whoever_brought_all_bears_home(ice: Make, play: Make) -> None:
    state = ice(red="village village village d3", turn="red", fresh=(7, 9), frozen=(5, 1))
    over = play(state, "walk d3 village", "roll 1 fish2", "roll 2 fish1", "choose 1")
    sheet = over.score()
    assert [player.total for player in sheet.sheets] == [12, 12]
    assert over.outcome().winners == (1,)
    assert over.ranking_reason.key == "rank-home"
    words = over.game.rulebook.ruling(True, over.ranking_reason, over)
    assert "Red (red)" not in words.en and words.en == "Both have 12 fish, and red has brought all bears home."


@pytest.mark.cites("ICE-T.8", "ICE-2.6", "ICE-2.8")
def test_t8_a_tile_that_can_drift_must_and_one_that_cannot_does_not(
    ice: Make, play: Make, allowed: Make, refused: Make, texts: Make
) -> None:
    full = "~Io ooI ooo oIo\nooo ooo IoI ooo\noIo Ioo ooo oIo"
    none = ice(full)
    ruling = allowed(none, "walk start a1")
    assert "ICE-2.6" in ruling.clauses and "ignored" in ruling.en
    assert (play(none, "walk start a1").phase, play(none, "walk start a1").actions) == ("act", 1)
    state = play(ice(full.replace("\nooo", "\n.oo")), "walk start a1")
    assert texts(state) == {"drift a4"}
    for text in ("drift a1", "push a1"):
        assert {"ICE-2.6", "ICE-2.8"} <= set(refused(state, text).clauses)
    assert refused(state, "walk a1 a2").clauses == ("ICE-2.6",)
    drifted = play(state, "drift a4").position()["places"]
    assert (drifted["a4"]["ground"], drifted["a1"]["ground"]) == ("drift", "sea")
    assert drifted["a4"]["things"] == [{"kind": "bear", "colour": "green", "count": 1}]


@pytest.mark.cites("ICE-T.9", "ICE-2.4", "ICE-M.5", "ICE-S.6", "ICE-Q.18")
def test_t9_penguins_freeze_fish_and_not_tokens(ice: Make, play: Make, refused: Make, texts: Make) -> None:
    picture = "2Io ooI ooo oIo\no.o o.o I.I oo.\noIo Ioo ooo oIo"
    one = play(ice(picture, green="a4", fresh=(1, 0)), "walk a4 a1")
    assert texts(one) == {"freeze 0", "freeze 1"}
    ruling = refused(one, "freeze 2")
    assert ruling.clauses == ("ICE-2.4",)
    assert (ruling.facts["penguins"], ruling.facts["fresh"], ruling.facts["most"]) == (2, 1, 1)
    three = play(ice(picture, green="a4", fresh=(3, 0)), "walk a4 a1")
    assert texts(three) == {"freeze 0", "freeze 1", "freeze 2"}
    after = play(three, "freeze 2")
    assert (after.fresh, after.frozen) == ((1, 0), (2, 0)), "a token of three fish is changed with the bank"
    assert play(three, "freeze 0").frozen == (0, 0)


@pytest.mark.cites("ICE-T.10", "ICE-K.9", "ICE-K.3", "ICE-K.4", "ICE-K.6", "ICE-K.10", "ICE-K.2")
def test_t10_the_rulebooks_contradiction_and_the_stand_in_box_are_announced() -> None:
    warnings = ICE.warnings()
    assert [warning.clauses for warning in warnings] == [
        ("ICE-K.3", "ICE-K.4", "ICE-K.6", "ICE-K.10"),
        ("ICE-K.9",),
    ]
    assert all(warning.status == "unknown" and warning.en != warning.fr for warning in warnings)
    state = ICE.start(ICE.seats(2))
    assert state.position()["box"] == {"real": False, "warnings": ["not-the-real-box", "fish-contradiction"]}
    ruling = state.check(ICE.parse("first red"))
    assert ruling.legal and all(warning.en in ruling.en and warning.fr in ruling.fr for warning in warnings)
    box = state.table.box.to_json() | {"real_box": True}
    assert [w.clauses for w in ICE.warnings({"box": box})] == [("ICE-K.9",)]
    repaired = box | {"fish_tokens": {"stated": 30, "ones": 10, "twos": 12, "threes": 8}}
    assert ICE.warnings({"box": repaired}) == ()
    counted = ICE.start(ICE.seats(2), None, {"box": repaired})
    assert counted.check(ICE.parse("first red")).en == "Player 2 (red) begins, with one action."
    assert counted.position()["box"] == {"real": True, "warnings": [], "data": repaired}
