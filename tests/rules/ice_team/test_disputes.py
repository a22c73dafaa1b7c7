"""The twenty-two disputes, ICE-Q.1 to ICE-Q.22: each answered from a position, or by `companion rule`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from companion.cli import run
from companion.rules import game
from companion.rules.rulebook import rulebook

Make = Callable[..., Any]
ICE = game("ice-team")
BOOK = rulebook("ice-team")

FULL = """
oIo ooI ooo oIo
ooo ooo IoI ooo
oIo Ioo ooo oIo
"""
"""The line of boards without any sea."""


def ground(state: Any, space: str) -> str:
    return state.position()["places"][space]["ground"]


def who(state: Any, space: str) -> list[str]:
    return [thing["colour"] for thing in state.position()["places"][space]["things"]]


@pytest.mark.cites("ICE-Q.1")
def test_q1_a_bear_in_the_village_stays_there(ice: Make, refused: Make) -> None:
    state = ice(green="village d3")
    ruling = refused(state, "walk village d3")
    assert ruling.clauses == ("ICE-E.3",) and ruling.status == "house ruling"
    assert refused(state, "swim village d2").status == "house ruling"


@pytest.mark.cites("ICE-Q.2", "ICE-0.4")
def test_q2_a_bear_may_go_backwards_and_to_start(ice: Make, allowed: Make, play: Make, texts: Make) -> None:
    state = ice(green="a1 b1")
    ruling = allowed(state, "walk a1 start")
    assert ruling.clauses == ("ICE-1.1", "ICE-0.4") and ruling.status == "house ruling"
    assert who(play(state, "walk a1 start"), "start") == ["green", "red"]
    assert allowed(state, "walk b1 a3").status == "text"
    leaping = ice(FULL, green="a5", red="a4")
    assert "ICE-0.4" in allowed(leaping, "leap a5 start").clauses
    assert texts(play(leaping, "leap a5 start")) == {"leap start a2", "stop"}
    assert play(leaping, "leap a5 start", "stop").actions == 1


@pytest.mark.cites("ICE-Q.3", "ICE-0.4", "ICE-1.2", "ICE-1.3")
def test_q3_one_leaps_and_swims_into_the_village(ice: Make, allowed: Make, play: Make) -> None:
    leap = ice(FULL, green="d5", red="d6")
    ruling = allowed(leap, "leap d5 village")
    assert set(ruling.clauses) == {"ICE-1.2", "ICE-0.4", "ICE-2.7"} and ruling.status == "deduced"
    assert play(leap, "leap d5 village").phase == "roll-both", "the movement ends there"
    swim = ice(FULL.replace("ooo\noIo", "o..\noIo"), green="d4")
    ruling = allowed(swim, "swim d4 village")
    assert set(ruling.clauses) == {"ICE-1.3", "ICE-0.4", "ICE-2.7"} and ruling.status == "deduced"
    assert allowed(ice(green="d3"), "walk d3 village").status == "text"


@pytest.mark.cites("ICE-Q.4")
def test_q4_lines_out_of_start_begin_at_a_space_that_touches_it(ice: Make, allowed: Make, refused: Make) -> None:
    state = ice(FULL, red="a1 a4")
    ruling = allowed(state, "leap start a5")
    assert set(ruling.clauses) >= {"ICE-1.2", "ICE-0.4"} and ruling.status == "house ruling"
    assert allowed(state, "leap start a2").status == "house ruling", "a line goes up from the edge, over a4"
    assert "ICE-1.2" in refused(ice(FULL, red="a5"), "leap start a6").clauses, "a5 does not touch Start"
    wet = ice("oIo ooI ooo oIo\nooo ooo IoI ooo\n..o Ioo ooo oIo", red="a1")
    ruling = allowed(wet, "swim start a9")
    assert set(ruling.clauses) >= {"ICE-1.3", "ICE-0.4"} and ruling.status == "house ruling"
    assert "ICE-1.3" in refused(wet, "swim start a3").clauses


@pytest.mark.cites("ICE-Q.5")
def test_q5_nobody_leaps_over_bears_on_start_or_in_the_village(ice: Make, refused: Make) -> None:
    ruling = refused(ice(green="a1"), "leap a1 a7")
    assert ruling.clauses == ("ICE-1.2", "ICE-1.2a") and ruling.status == "house ruling" and "Start" in ruling.en
    village = ice(green="d3 village")
    assert refused(village, "leap d3 d9").en == ruling.en
    assert refused(ice(green="d3"), "leap d3 d9").status == "text", "the Village is empty: there is nobody to leap over"


@pytest.mark.cites("ICE-Q.6")
def test_q6_a_round_trip_is_no_displacement(ice: Make, play: Make, refused: Make, allowed: Make) -> None:
    state = ice(FULL, green="a5", red="a6 b5 c4")
    chain = play(state, "leap a5 b4")
    ruling = refused(chain, "leap b4 a5")
    assert ruling.clauses == ("ICE-1.2",) and ruling.status == "house ruling"
    assert refused(state, "walk a5 a5").status == "house ruling"
    back = play(chain, "leap b4 b6", "leap b6 c5")
    assert allowed(back, "leap c5 b6").legal, "on another tile it may land again, from another side"
    ruling = refused(play(back, "leap c5 b6"), "leap b6 c5")
    assert ruling.status == "house ruling" and "changes nothing" in ruling.en


@pytest.mark.cites("ICE-Q.7", "ICE-1.4", "ICE-2.6")
def test_q7_a_cracked_drifting_tile_goes_when_the_bear_leaves_it_at_its_new_place(ice: Make, play: Make) -> None:
    state = play(ice("%Io ooI ooo oIo\n..o o.o I.I oo.\noIo Ioo ooo oIo", green="start"), "walk start a1", "drift a5")
    assert (ground(state, "a1"), ground(state, "a5")) == ("sea", "drift-fragile")
    assert who(state, "a5") == ["green"]
    left = play(state, "walk a5 a6")
    assert ground(left, "a5") == "sea" and left.position()["removed"] == ["drift-fragile"]


@pytest.mark.cites("ICE-Q.8", "ICE-1.4")
def test_q8_the_space_of_the_tile_that_just_broke_is_sea_for_the_drift(ice: Make, play: Make, texts: Make) -> None:
    state = play(ice("~Io ooI ooo oIo\nOoo ooo IoI ooo\noIo Ioo ooo oIo", green="a4"), "walk a4 a1")
    assert ground(state, "a4") == "sea"
    assert texts(state) == {"drift a4"}


SEAS = "~Io ooI ooo oIo\n..o o.o I.I oo.\n.Io Ioo ooo oIo"


@pytest.mark.cites("ICE-Q.9", "ICE-2.6a")
def test_q9_a_simple_drift_may_turn_corners_unless_the_table_says_otherwise(
    ice: Make, play: Make, allowed: Make, refused: Make, texts: Make
) -> None:
    state = play(ice(SEAS), "walk start a1")
    assert texts(state, "drift") == {"drift a4", "drift a5", "drift a7"}
    straight, turned = allowed(state, "drift a7"), allowed(state, "drift a5")
    assert (straight.status, straight.option) == ("text", None)
    assert (turned.status, turned.option) == ("house ruling", "ice.simple_drift_straight")
    strict = play(ice(SEAS, options={"simple_drift_straight": True}), "walk start a1")
    assert texts(strict, "drift") == {"drift a4", "drift a7"}
    ruling = refused(strict, "drift a5")
    assert (ruling.clauses, ruling.option) == (("ICE-2.6a",), "ice.simple_drift_straight")
    assert ruling.status == "house ruling"


ROW = "ooo ooI ooo oIo\n~oo ..o I.I oo.\noIo Ioo ooo oIo"
"""A drifting tile on a4, floes on a5 and a6 in front of it, and two spaces of sea behind them before b6."""


@pytest.mark.cites("ICE-Q.10", "ICE-2.6b")
def test_q10_bears_on_pushed_floes_travel_and_nothing_takes_effect_for_them(
    ice: Make, play: Make, allowed: Make
) -> None:
    picture = ROW.replace("~oo ", "~1~ ").replace("ooo ooI", "oIo ooI", 1)
    state = play(ice(picture, red="a5 a6", green="start", fresh=(2, 2)), "walk start a4")
    ruling = allowed(state, "push a5")
    assert ruling.status == "house ruling" and "ICE-2.6b" in ruling.clauses and "travel" in ruling.en
    after = play(state, "push a5")
    assert [who(after, space) for space in ("a4", "a5", "a6", "b4")] == [[], ["green"], ["red"], ["red"]]
    assert [ground(after, space) for space in ("a4", "a5", "a6", "b4")] == ["sea", "drift", "penguin1", "drift"]
    assert (after.phase, after.fresh, after.frozen) == ("act", (2, 2), (0, 0))


@pytest.mark.cites("ICE-Q.11", "ICE-K.7", "ICE-2.6b")
def test_q11_an_igloo_is_not_pushed(ice: Make, play: Make, refused: Make, texts: Make) -> None:
    state = play(ice("oIo ooI ooo oIo\noo~ oo. IoI ooo\noIo Ioo ooo oIo", green="a5"), "walk a5 a6")
    assert "push b4" in texts(state), "two floes, and the sea before the igloo c4"
    ruling = refused(state, "push b5")
    assert ruling.clauses == ("ICE-2.6b", "ICE-K.7") and ruling.status == "deduced"
    assert state.check(ICE.parse("push c4")).clauses == ("ICE-2.6b", "ICE-K.7")


@pytest.mark.cites("ICE-Q.12")
def test_q12_a_floe_met_on_the_way_joins_the_line_or_stops_it(
    ice: Make, play: Make, allowed: Make, refused: Make, texts: Make
) -> None:
    picture = "oIo ooI ooo oIo\n~o. o.. IoI ooo\noIo Ioo ooo oIo"
    state = play(ice(picture, green="start"), "walk start a4")
    assert texts(state, "push") == {"push a5", "push a6", "push b4"}
    assert allowed(state, "push a5").option is None
    ruling = allowed(state, "push a6")
    assert (ruling.status, ruling.option) == ("house ruling", "ice.block_picks_up")
    after = play(state, "push b4")
    assert [ground(after, space) for space in ("a4", "a5", "a6", "b4", "b5", "b6")] == [
        *("sea", "sea", "sea"),
        *("drift", "plain", "plain"),
    ]
    strict = play(ice(picture, green="start", options={"block_picks_up": False}), "walk start a4")
    assert texts(strict, "push") == {"push a5"}
    ruling = refused(strict, "push a6")
    assert (ruling.clauses, ruling.option) == (("ICE-2.6b",), "ice.block_picks_up")


@pytest.mark.cites("ICE-Q.13", "ICE-2.6b")
def test_q13_the_block_goes_on_as_the_last_movement_went(
    ice: Make, play: Make, allowed: Make, refused: Make, texts: Make
) -> None:
    picture = "ooo ooI ooo oIo\noo~ o.o IoI ooo\no.o Ioo ooo oIo"
    walked = play(ice(picture, green="a5"), "walk a5 a6")
    assert texts(walked, "push") == {"push b4"}
    assert allowed(walked, "push b4").status == "text"
    other = refused(walked, "push a9")
    assert other.clauses == ("ICE-2.6b",) and other.status == "text" and other.facts["directions"] == ["e"]
    leapt = play(ice(picture, green="a4", red="a5"), "leap a4 a6")
    assert allowed(leapt, "push b4").status == "house ruling"
    assert refused(leapt, "push a9").status == "house ruling"
    swum = play(ice(picture.replace("oo~ ", "o.~ "), green="a4"), "swim a4 a6")
    assert allowed(swum, "push b4").status == "house ruling"
    # Out of Start onto a4: along the row, or down the edge over a1: two lines, and the player has the choice.
    start = play(ice("oIo ooI ooo oIo\n~o. o.o IoI ooo\noIo Ioo ooo oIo", green="start"), "walk start a4")
    assert start.position()["pending"]["arrival"] == ["e", "ne"]
    assert allowed(start, "push a5").status == "house ruling"
    # Nothing said: only the simple drift.
    silent = ice(picture, green="a6", phase="drift", pending={"bear": "a6"})
    assert texts(silent) == {"drift a8"}
    assert refused(silent, "push b4").clauses == ("ICE-2.6b",)


@pytest.mark.cites("ICE-Q.14", "ICE-2.5", "ICE-2.8")
def test_q14_paws_without_a_way_on_are_lost(islands: Make, play: Make, allowed: Make) -> None:
    state = islands({"p6": "plain-fragile", "p9": "paw", "q2": "plain"}, green="p6")
    ruling = allowed(state, "walk p6 p9")
    assert {"ICE-2.5", "ICE-2.8", "ICE-1.4"} <= set(ruling.clauses) and ruling.status == "house ruling"
    after = play(state, "walk p6 p9")
    assert ground(after, "p9") == "paw" and who(after, "p9") == ["green"]
    assert (after.phase, after.actions, after.colours[after.seat]) == ("act", 1, "green")
    onward = islands({"p6": "plain-fragile", "p9": "paw", "p7": "plain", "q2": "plain"}, green="p6")
    assert play(onward, "walk p6 p9").position()["pending"] == {"bear": "p9", "again": True}


@pytest.mark.cites("ICE-Q.15", "ICE-2.5", "ICE-M.6", "ICE-0.1")
def test_q15_the_action_of_the_paws_is_an_extra_one(ice: Make, play: Make, allowed: Make, refused: Make) -> None:
    state = play(ice("*Io ooI ooo oIo\no*o o.o I.I oo.\noIo Ioo ooo oIo", green="a4 b1"), "walk a4 a1")
    assert state.actions == 2
    assert refused(state, "walk b1 b2").clauses == ("ICE-2.5",)
    ruling = allowed(state, "walk a1 a4")
    assert "ICE-2.5" in ruling.clauses and ruling.status == "text"
    once = play(state, "walk a1 a4")
    assert once.actions == 1 and ground(once, "a1") == "sea"
    chain = play(once, "walk a4 a5")
    assert chain.actions == 1 and chain.position()["pending"] == {"bear": "a5", "again": True}
    assert play(chain, "walk a5 a6").colours[play(chain, "walk a5 a6").seat] == "red"


@pytest.mark.cites("ICE-Q.16", "ICE-E.3")
def test_q16_an_impossible_second_action_is_forfeited_unless_the_table_says_otherwise(
    islands: Make, play: Make, allowed: Make, refused: Make
) -> None:
    grounds, bears = {"p6": "plain-fragile", "p9": "plain", "q2": "plain"}, "village village village p6"
    state = islands(grounds, green=bears)
    ruling = allowed(state, "walk p6 p9")
    assert (ruling.status, ruling.option) == ("house ruling", "ice.blocked_second_action")
    assert {"ICE-0.1", "ICE-E.3"} <= set(ruling.clauses)
    after = play(state, "walk p6 p9")
    assert (after.phase, after.colours[after.to_move], after.actions) == ("act", "red", 2)
    strict = islands(grounds, green=bears, options={"ice.blocked_second_action": "lose"})
    assert allowed(strict, "walk p6 p9").option == "ice.blocked_second_action"
    lost = play(strict, "walk p6 p9")
    assert lost.outcome().winners == (1,) and lost.outcome().clauses == ("ICE-E.3",)
    assert refused(lost, "walk p9 p6").clauses == ("ICE-E.3",)


@pytest.mark.cites("ICE-Q.17", "ICE-2.4")
def test_q17_nobody_has_to_freeze(ice: Make, play: Make, allowed: Make) -> None:
    state = play(ice("1Io ooI ooo oIo\no.o o.o I.I oo.\noIo Ioo ooo oIo", fresh=(2, 0)), "walk start a1")
    ruling = allowed(state, "freeze 0")
    assert ruling.clauses == ("ICE-2.4",) and ruling.status == "text"
    assert play(state, "freeze 0").fresh == (2, 0)


@pytest.mark.cites("ICE-Q.18", "ICE-S.6")
def test_q18_fish_are_counted_and_the_bank_makes_change(ice: Make, play: Make) -> None:
    assert BOOK.dispute("ICE-Q.18").clauses == ("ICE-S.6",)
    assert BOOK.dispute("ICE-Q.18").status == "text"
    state = play(ice(green="a1", fresh=(0, 3)), "walk a1 a2", "roll 1 steal")
    assert state.fresh == (3, 1), "two of the three fish of one token"


@pytest.mark.cites("ICE-Q.19", "ICE-2.7")
def test_q19_with_frozen_fish_only_a_theft_takes_nothing_and_may_be_chosen(
    ice: Make, play: Make, allowed: Make, texts: Make
) -> None:
    state = play(ice(green="d3", frozen=(0, 6)), "walk d3 village", "roll 1 steal", "roll 2 fish3")
    assert texts(state) == {"choose 1", "choose 2"}
    ruling = allowed(state, "choose 1")
    assert {"ICE-2.7", "ICE-2.2", "ICE-2.4"} <= set(ruling.clauses) and ruling.status == "text"
    after = play(state, "choose 1")
    assert (after.fresh, after.frozen) == ((0, 0), (0, 6))
    assert play(state, "choose 2").fresh == (3, 0)


@pytest.mark.cites("ICE-Q.20", "ICE-2.2", "ICE-K.10")
def test_q20_if_the_dice_differ_one_is_picked_before_rolling(
    play: Make, allowed: Make, refused: Make, texts: Make
) -> None:
    box = ICE.start(ICE.seats(2)).table.box.to_json()
    box["dice"] = [["fish1"] * 6, ["steal"] * 6]
    places = {"a1": {"ground": "plain", "things": [{"kind": "bear", "colour": "green"}]}}
    state = ICE.from_position({"box": {"data": box}, "places": places})
    ruling = allowed(state, "walk a1 a2")
    assert ruling.status == "house ruling" and "picks one before rolling" in ruling.en
    state = play(state, "walk a1 a2")
    assert texts(state) == {"pick 1", "pick 2"}
    assert refused(state, "roll 1 fish1").status == "house ruling"
    assert allowed(state, "pick 2").status == "house ruling"
    state = play(state, "pick 2")
    assert texts(state) == {"roll 2 steal"}
    assert refused(state, "roll 1 fish1").clauses == ("ICE-2.2",)


@pytest.mark.cites("ICE-Q.21", "ICE-S.6")
def test_q21_an_empty_bank_limits_nothing(ice: Make, play: Make) -> None:
    assert BOOK.dispute("ICE-Q.21").status == "house ruling"
    state = play(ice(green="a1", fresh=(300, 300)), "walk a1 a2", "roll 1 fish3")
    assert state.fresh == (304, 300)
    assert not any(problem.key.startswith("fish") for problem in state.problems())


@pytest.mark.cites("ICE-Q.22", "ICE-1.2")
def test_q22_both_names_of_the_leap_are_one_move(capsys: pytest.CaptureFixture[str]) -> None:
    dispute = BOOK.dispute("ICE-Q.22")
    assert dispute.clauses == ("ICE-1.2",) and dispute.status == "deduced"
    assert run(["rule", "ICE-Q.22", "--lang", "fr"]) == 0
    assert "le même coup" in capsys.readouterr().out
