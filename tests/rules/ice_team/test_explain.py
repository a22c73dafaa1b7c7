"""The disputes of Ice Team that are a matter of two positions, answered by `explain`."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from companion.rules import game
from companion.rules.core import SetupError
from companion.rules.inference.explain import explain
from companion.rules.inference.explanation import Explanation
from companion.rules.inference.turns import Evidence

Make = Callable[..., Any]
ICE: Any = game("ice-team")
FULL = "oIo ooI ooo oIo\nooo ooo IoI ooo\noIo Ioo ooo oIo"
SEAS = "~Io ooI ooo oIo\n..o o.o I.I oo.\n.Io Ioo ooo oIo"
ROW = "ooo ooI ooo oIo\n~oo ..o I.I oo.\noIo Ioo ooo oIo"


def moved(state: Any, *steps: str, **grounds: str) -> dict[str, Any]:
    """Return a position with bears elsewhere (``green a1 a4``) and other grounds, and nothing told of the turn."""
    position: dict[str, Any] = copy.deepcopy(state.position())
    for key in ("turn", "to_move", "phase", "actions", "removed"):
        del position[key]
    places = position["places"]
    for colour, origin, target in (step.split() for step in steps):
        here = [thing for thing in places[origin]["things"] if thing["colour"] == colour]
        here[0]["count"] -= 1
        places[origin]["things"] = [thing for thing in places[origin]["things"] if thing["count"]]
        there = [thing for thing in places[target]["things"] if thing["colour"] == colour]
        if there:
            there[0]["count"] += 1
        else:
            places[target]["things"].append({"kind": "bear", "colour": colour, "count": 1})
    for name, ground in grounds.items():
        places[name]["ground"] = ground
    return position


def fish(position: dict[str, Any], green: tuple[int, int], red: tuple[int, int] = (0, 0)) -> dict[str, Any]:
    for player, (fresh, frozen) in zip(position["players"], (green, red), strict=True):
        player.update(fresh=fresh, frozen=frozen)
    return position


def ask(before: Any, position: dict[str, Any]) -> Explanation:
    return explain(before, Evidence.of_position(position, "ice-team"))


def turn_of(found: Explanation) -> list[str]:
    assert found.legal and found.complete and not found.differences
    return [str(move) for move in found.turns[0].moves]


def clauses_of(found: Explanation) -> dict[str, tuple[str, ...]]:
    """Return the refused moves and what refuses them."""
    assert not found.legal and found.complete and found.nearest is not None and found.differences
    return {str(move): ruling.clauses for move, ruling in found.rulings}


@pytest.mark.cites("ICE-Q.1")
def test_q1_a_bear_does_not_come_out_of_the_village(ice: Make) -> None:
    before = ice(green="village a4", actions=1)
    found = ask(before, moved(before, "green village d3"))
    assert clauses_of(found)["walk village d3"] == ("ICE-E.3",)
    assert found.to_json()["status"] == "house ruling"


@pytest.mark.cites("ICE-Q.2")
def test_q2_a_bear_may_go_back_to_start(ice: Make) -> None:
    before = ice(green="a1 b1", actions=1)
    found = ask(before, moved(before, "green a1 start"))
    assert turn_of(found) == ["walk a1 start"]
    told = found.to_json()
    assert told["clauses"] == ["ICE-1.1", "ICE-0.4"] and told["status"] == "house ruling"
    assert told["facts"]["because"][0]["en"].startswith("Green")


@pytest.mark.cites("ICE-Q.3")
def test_q3_one_leaps_into_the_village(ice: Make) -> None:
    before = ice(FULL, green="d5", red="d6", actions=1)
    found = ask(before, fish(moved(before, "green d5 village"), (2, 0)))
    assert turn_of(found) == ["leap d5 village", "roll 1 fish2", "roll 2 fish2", "choose 1"]
    assert {"ICE-1.2", "ICE-0.4", "ICE-2.7"} <= set(found.to_json()["clauses"])


@pytest.mark.cites("ICE-Q.4")
def test_q4_one_leaps_out_of_start_over_a_bear_that_touches_it(ice: Make) -> None:
    before = ice(FULL, red="a1 a4", actions=1)
    found = ask(before, moved(before, "green start a5"))
    assert turn_of(found) == ["leap start a5"] and found.to_json()["status"] == "house ruling"
    other = ice(FULL, red="a5", actions=1)
    assert "ICE-1.2a" in clauses_of(ask(other, moved(other, "green start a6")))["leap start a6"]


@pytest.mark.cites("ICE-Q.5")
def test_q5_nobody_leaps_over_bears_on_start(ice: Make) -> None:
    before = ice(green="a1", actions=1)
    found = ask(before, moved(before, "green a1 a7"))
    assert clauses_of(found)["leap a1 a7"] == ("ICE-1.2", "ICE-1.2a")


@pytest.mark.cites("ICE-Q.6", "ICE-0.1")
def test_q6_an_action_ends_elsewhere_than_it_began(ice: Make) -> None:
    before = ice(FULL, green="a5", red="a6", actions=1)
    found = ask(before, moved(before))
    assert clauses_of(found) == {"walk a5 a5": ("ICE-1.2",)} and found.to_json()["status"] == "house ruling"


@pytest.mark.cites("ICE-Q.7", "ICE-Q.8")
def test_q7_q8_cracked_ice_drifts_and_breaks_behind_the_bear(ice: Make) -> None:
    picture = "%Io ooI ooo oIo\n..o o.o I.I oo.\noIo Ioo ooo oIo"
    before = ice(picture, actions=1)
    found = ask(before, moved(before, "green start a5", a1="sea", a5="drift-fragile"))
    assert turn_of(found) == ["walk start a1", "drift a5"], "it stays while the bear is on it"
    gone = ask(before, moved(before, "green start a1", a1="sea"))
    assert "ICE-2.6" in gone.to_json()["clauses"]
    freed = ice("~Io ooI ooo oIo\nOoo ooo IoI ooo\noIo Ioo ooo oIo", green="a4", actions=1)
    found = ask(freed, moved(freed, "green a4 a4", a1="sea", a4="drift"))
    assert turn_of(found) == ["walk a4 a1", "drift a4"] and "ICE-1.4" in found.to_json()["clauses"]


@pytest.mark.cites("ICE-Q.9", "ICE-T.8")
def test_q9_corners_of_a_simple_drift_are_a_matter_of_the_table(ice: Make) -> None:
    before = ice(SEAS, actions=1)
    position = moved(before, "green start a5", a1="sea", a5="drift")
    found = ask(before, position)
    assert turn_of(found) == ["walk start a1", "drift a5"]
    assert (found.to_json()["clauses"][-1], found.to_json()["status"]) == ("ICE-2.6a", "house ruling")
    strict = ice(SEAS, actions=1, options={"simple_drift_straight": True})
    found = ask(strict, position)
    assert clauses_of(found)["drift a5"] == ("ICE-2.6a",)
    assert {ruling.option for move, ruling in found.rulings if str(move) == "drift a5"} == {"ice.simple_drift_straight"}
    stayed = ask(before, moved(before, "green start a1"))
    assert clauses_of(stayed) == {"drift a1": ("ICE-2.6", "ICE-2.8")}, "a drift of at least one space"


@pytest.mark.cites("ICE-Q.10")
def test_q10_bears_on_pushed_floes_travel_without_effects(ice: Make) -> None:
    before = ice(ROW.replace("~oo ", "~1o "), red="a5", fresh=(2, 2), actions=1)
    pushed = {"a4": "sea", "a5": "drift", "a6": "penguin1", "b4": "plain"}
    position = moved(before, "green start a5", "red a5 a6", **pushed)
    assert turn_of(ask(before, position)) == ["walk start a4", "push a5"]
    left = ask(before, moved(before, "green start a5", **pushed))
    assert not left.legal and "ICE-2.6b" in left.to_json()["clauses"]
    frozen = ask(before, fish(copy.deepcopy(position), (2, 0), (1, 1)))
    assert not frozen.legal
    assert {difference.place for difference in frozen.differences} == {"red.fresh", "red.frozen"}


@pytest.mark.cites("ICE-Q.11")
def test_q11_an_igloo_is_not_pushed(ice: Make) -> None:
    before = ice("oIo ooI ooo oIo\noo~ oo. IoI ooo\noIo Ioo ooo oIo", green="a5", actions=1)
    pushed = {"a6": "sea", "b4": "sea", "b5": "drift", "b6": "plain", "c4": "plain", "c5": "igloo"}
    found = ask(before, moved(before, "green a5 b5", **pushed))
    assert clauses_of(found)["push b5"] == ("ICE-2.6b", "ICE-K.7")


@pytest.mark.cites("ICE-Q.12")
def test_q12_a_floe_met_on_the_way_joins_or_stops(ice: Make) -> None:
    picture = "oIo ooI ooo oIo\n~o. o.. IoI ooo\noIo Ioo ooo oIo"
    position = moved(ice(picture), "green start b4", a4="sea", a5="sea", a6="sea", b4="drift", b5="plain", b6="plain")
    found = ask(ice(picture, actions=1), position)
    assert turn_of(found) == ["walk start a4", "push b4"] and found.to_json()["status"] == "house ruling"
    strict = ask(ice(picture, actions=1, options={"block_picks_up": False}), position)
    assert clauses_of(strict)["push b4"] == ("ICE-2.6b",)


@pytest.mark.cites("ICE-Q.13")
def test_q13_the_block_goes_on_as_the_last_movement_went(ice: Make) -> None:
    picture = "ooo ooI ooo oIo\noo~ o.o IoI ooo\no.o Ioo ooo oIo"
    before = ice(picture, green="a4", red="a5", actions=1)
    on = moved(before, "green a4 b4", a6="sea", b4="drift", b5="plain")
    found = ask(before, on)
    assert turn_of(found) == ["leap a4 a6", "push b4"] and found.to_json()["status"] == "house ruling"
    walked = ice("oIo o~I ooo oIo\nooo .oo IoI ooo\noIo I.o ooo oIo", green="b1", actions=1)
    aside = ask(walked, moved(walked, "green b1 b5", b2="sea", b5="drift", b8="plain"))
    assert clauses_of(aside)["push b5"] == ("ICE-2.6b",), "it came along the row, not down to b5"


@pytest.mark.cites("ICE-Q.14")
def test_q14_paws_without_a_way_on_are_lost(islands: Make) -> None:
    before = islands({"p6": "plain-fragile", "p9": "paw", "q2": "plain"}, green="p6", actions=1)
    found = ask(before, moved(before, "green p6 p9", p6="sea"))
    assert turn_of(found) == ["walk p6 p9"] and {"ICE-2.5", "ICE-2.8"} <= set(found.to_json()["clauses"])


@pytest.mark.cites("ICE-Q.15")
def test_q15_the_action_of_the_paws_is_an_extra_one(ice: Make) -> None:
    picture = "*Io ooI ooo oIo\nooo o.o I.I oo.\noIo Ioo ooo oIo"
    before = ice(picture, green="a4 b1")
    found = ask(before, moved(before, "green a4 a7", "green b1 b2"))
    assert sorted(turn_of(found))[-1] == "walk b1 b2" and len(turn_of(found)) == 2, "shorter without the paws"
    thrice = moved(before, "green b1 b2", a1="sea")
    assert sorted(turn_of(ask(before, thrice))) == ["walk a1 a4", "walk a4 a1", "walk b1 b2"]
    assert "ICE-2.5" in ask(before, thrice).to_json()["clauses"]
    tired = ice(picture.replace("*", "o"), green="a4 b1 c1")
    assert not ask(tired, moved(tired, "green a4 a7", "green b1 b2", "green c1 c2")).legal


@pytest.mark.cites("ICE-Q.16", "ICE-E.3")
def test_q16_an_impossible_second_action_is_forfeited(islands: Make) -> None:
    grounds = {"p6": "plain-fragile", "p9": "plain", "q2": "plain"}
    before = islands(grounds, green="village village village p6")
    position = {**moved(before, "green p6 p9", p6="sea"), "turn": "red", "phase": "act"}
    found = ask(before, position)
    assert turn_of(found) == ["walk p6 p9"] and {"ICE-0.1", "ICE-E.3"} <= set(found.to_json()["clauses"])
    strict = islands(grounds, green="village village village p6", options={"ice.blocked_second_action": "lose"})
    over = ask(strict, position)
    assert not over.legal and "ICE-E.3" in over.to_json()["clauses"]
    assert {difference.place for difference in over.differences} == {"over", "turn"}


@pytest.mark.cites("ICE-Q.17", "ICE-2.4")
def test_q17_nobody_has_to_freeze_and_nobody_freezes_more(ice: Make) -> None:
    before = ice("1Io ooI ooo oIo\no.o o.o I.I oo.\noIo Ioo ooo oIo", fresh=(2, 0), actions=1)
    position = moved(before, "green start a1")
    assert turn_of(ask(before, fish(position, (2, 0)))) == ["walk start a1", "freeze 0"]
    assert turn_of(ask(before, fish(position, (1, 1)))) == ["walk start a1", "freeze 1"]
    found = ask(before, fish(position, (0, 2)))
    assert clauses_of(found) == {"freeze 2": ("ICE-2.4",)}
    assert [difference.to_json() for difference in found.differences] == [
        {"field": "green.fresh", "seen": 0, "turn": 2},
        {"field": "green.frozen", "seen": 2, "turn": 0},
    ]


@pytest.mark.cites("ICE-Q.18", "ICE-Q.21", "ICE-2.2")
def test_q18_q21_fish_are_counted_whatever_the_tokens(ice: Make) -> None:
    before = ice(green="a1", fresh=(300, 3), actions=1)
    position = moved(before, "green a1 a2", a2="searched")
    assert turn_of(ask(before, fish(position, (303, 0), (1, 0)))) == ["walk a1 a2", "roll 1 steal"]
    found = ask(before, fish(position, (304, 0), (0, 0)))
    assert not found.legal and "ICE-2.2" in found.to_json()["clauses"], "two are stolen, not three"


@pytest.mark.cites("ICE-Q.19")
def test_q19_frozen_fish_are_not_stolen(ice: Make) -> None:
    before = ice(green="a1", frozen=(0, 6), actions=1)
    position = moved(before, "green a1 a2", a2="searched")
    assert turn_of(ask(before, fish(position, (1, 0), (0, 6)))) == ["walk a1 a2", "roll 1 steal"]
    found = ask(before, fish(position, (3, 0), (0, 4)))
    assert not found.legal and {difference.place for difference in found.differences} == {"red.frozen"}
    assert "ICE-2.2" in found.to_json()["clauses"]


@pytest.mark.cites("ICE-Q.20")
def test_q20_the_die_that_was_picked_is_told() -> None:
    box = ICE.start(ICE.seats(2)).table.box.to_json()
    box["dice"] = [["fish1"] * 6, ["steal"] * 6]
    places = {"a1": {"ground": "plain", "things": [{"kind": "bear", "colour": "green"}]}}
    before = ICE.from_position({"box": {"data": box}, "places": places, "actions": 1})
    position = fish(moved(before, "green a1 a2", a2="searched"), (2, 0))
    assert turn_of(ask(before, position)) == ["walk a1 a2", "pick 1", "roll 1 fish1"]


def test_a_rival_that_moved_and_a_bear_too_far(ice: Make) -> None:
    before = ice(green="a1", red="b4", actions=1)
    assert "ICE-0.1" in clauses_of(ask(before, moved(before, "red b4 b7")))["walk b4 b7"]
    far = clauses_of(ask(before, moved(before, "green a1 c8")))
    assert far["walk a1 c8"] == ("ICE-1.1",)
    told = ask(before, moved(before, "green a1 c8")).to_json()
    assert told["nearest"] and told["en"].startswith("No legal turn leads there.")
    assert "The nearest legal turn:" in told["en"] and "Le tour permis le plus proche" in told["fr"]


def test_nobody_has_a_turn_before_the_game_and_after_it(ice: Make) -> None:
    over = ice(green="village village village village", phase="over")
    found = ask(over, moved(over, "red start a4"))
    assert not found.legal and found.complete and found.nearest is None
    assert [ruling.clauses for _, ruling in found.rulings] == [("ICE-E.1",)]
    setup = ICE.start(ICE.seats(2))
    with pytest.raises(SetupError, match="has not begun"):
        ask(setup, moved(setup, "green start a4"))


def test_the_command(explained: Make, ice: Make, capsys: pytest.CaptureFixture[str]) -> None:
    before = ice(green="a1", fresh=(0, 3))
    after = {"places": {**moved(before, "green a1 a7")["places"], "start": None}}
    assert explained("ice-team", before.position(), after) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition(" · ")[2] for line in lines[1:3]] == ["walk a1 a4", "walk a4 a7"]
    assert lines[1].strip().startswith("Green walks from a1 to a4.") and "[ICE-1.1 ICE-2.1]" in lines[1]
    partial = {**after, "players": [{"colour": "red", "fresh": 1}]}
    assert explained("ice-team", before.position(), partial, "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert told["differences"] == [{"field": "red.fresh", "seen": 1, "turn": 3}] and told["problems"] == []
    whole = moved(before, "green a1 a7", a2="plain")
    whole |= {"phase": "act", "turn": "red", "removed": []}
    assert explained("ice-team", before.position(), whole, "--lang", "fr") == 1
    out = capsys.readouterr().out
    assert "Le tour permis le plus proche" in out and "! " in out and "a2" in out
    assert explained("ice-team", {"places": before.position()["places"]}, after) == 0, "anybody's turn"


@pytest.mark.cites("ICE-1.1")
def test_a_bear_in_the_open_sea_has_one_reason(ice: Make) -> None:
    """Neither a swim nor a leap would have been another matter: the space is sea."""
    before = ice(SEAS, green="a1", actions=1)
    seas = [name for name, place in before.position()["places"].items() if place["ground"] == "sea"]
    assert seas
    for sea in seas:
        found = ask(before, moved(before, f"green a1 {sea}"))
        ((_, ruling),) = [(move, ruling) for move, ruling in found.rulings if sea in str(move)]
        assert ruling.en.startswith(f"{sea.capitalize()} is open sea; a bear ends on a floe, an igloo,")


@pytest.mark.cites("ICE-0.1")
def test_nobody_asks_about_one_s_own_bears_where_a_rival_s_was_moved(ice: Make) -> None:
    before = ice(FULL, green="a1 a4", red="b6", actions=1)
    found = ask(before, moved(before, "red b6 c9"))
    assert not found.legal and found.rulings
    assert not any(len(set(str(move).split()[1:])) == 1 for move, _ in found.rulings), found.rulings
