"""The igloo as a witness: what is a breach, what is none, and that one handling is one fault."""

from __future__ import annotations

from typing import Any

import pytest

from companion.night.commands.igloo_watch import RoundWatch
from companion.ports import DeviceKind, Motion, MotionState

# `table` is the Table of conftest.py; test folders are no packages, so its type cannot be named here.
Table = Any

LIFTED, CARRIED, SHAKEN = MotionState.LIFTED, MotionState.CARRIED, MotionState.SHAKEN
TURNED, DOWN, REST = MotionState.TURNED, MotionState.SET_DOWN, MotionState.REST
KNOCKED = MotionState.KNOCKED


class Igloo:
    """An igloo in somebody's hand, watched."""

    def __init__(self, table: Table, key: str = "unit-7", kind: DeviceKind = DeviceKind.REAL) -> None:
        self.table = table
        self.key = key
        self.kind = kind
        self.watch = RoundWatch(table.night)
        self.t = 0.0

    def feels(self, *states: MotionState) -> list[str]:
        """Feel motions one after the other; return the clauses of the faults noted meanwhile."""
        before = {f["seq"] for f in self.faults()}
        for state in states:
            self.t += 1.0
            self.watch.on_motion(Motion(self.key, state, self.t, self.kind))
        return [f["clause"] for f in self.faults() if f["seq"] not in before]

    def faults(self) -> list[dict[str, Any]]:
        match = self.table.view["match"]
        return match["faults"] if match is not None else []

    def place(self, place: str = "card3", sensor: str | bool = True) -> None:
        self.table.do("moves", {"moves": [f"place red {place}"], "sensor": sensor})


@pytest.fixture
def igloo(table: Table) -> Igloo:
    table.shaking()
    return Igloo(table)


def test_shaking_and_setting_down_is_the_game(igloo: Igloo) -> None:
    assert igloo.feels(LIFTED, SHAKEN, CARRIED, DOWN, REST, KNOCKED, LIFTED, SHAKEN, DOWN) == []


def test_turning_it_over_in_a_live_round_is_a_breach(igloo: Igloo) -> None:
    assert igloo.feels(LIFTED, SHAKEN, TURNED, CARRIED, TURNED) == ["POP-2.4"]
    assert igloo.feels(DOWN, LIFTED, TURNED) == ["POP-2.4"]
    fault = igloo.faults()[0]
    assert (fault["kind"], fault["motion"], fault["colour"], fault["place"]) == ("real", "turned", None, None)
    assert fault["en"] != fault["fr"]


@pytest.mark.parametrize("state", [LIFTED, CARRIED, SHAKEN, TURNED])
def test_touching_it_after_it_was_placed_is_a_breach(igloo: Igloo, state: MotionState) -> None:
    assert igloo.feels(LIFTED, SHAKEN, DOWN) == []
    igloo.place()
    looked = ["POP-2.4"] if state is TURNED else []
    assert igloo.feels(state) == ["POP-2.6", *looked]
    assert igloo.feels(SHAKEN, LIFTED, CARRIED) == []
    fault = igloo.faults()[0]
    assert (fault["motion"], fault["place"], fault["round"]) == (str(state), "card3", 1)
    assert igloo.feels(DOWN, state) == ["POP-2.6", *looked]


def test_looking_under_it_after_it_was_placed_is_two_breaches(igloo: Igloo) -> None:
    igloo.feels(LIFTED, SHAKEN, DOWN)
    igloo.place()
    assert igloo.feels(LIFTED) == ["POP-2.6"]
    assert igloo.feels(TURNED) == ["POP-2.4"]
    assert igloo.feels(TURNED, CARRIED, TURNED) == []
    moved, looked = igloo.faults()
    assert (moved["motion"], looked["motion"]) == ("lifted", "turned")
    assert moved["place"] == looked["place"] == "card3"
    assert (moved["en"], moved["fr"]) != (looked["en"], looked["fr"])
    assert igloo.feels(DOWN, LIFTED, TURNED) == ["POP-2.6", "POP-2.4"]


def test_a_knock_of_the_table_is_no_breach(igloo: Igloo) -> None:
    igloo.feels(LIFTED, DOWN)
    igloo.place()
    assert igloo.feels(KNOCKED, REST, KNOCKED, MotionState.UNKNOWN, MotionState.DROPPED) == []


def test_the_hand_that_places_it_may_still_hold_it(igloo: Igloo) -> None:
    igloo.feels(LIFTED, SHAKEN)
    igloo.place()
    assert igloo.feels(CARRIED, LIFTED) == []
    assert igloo.feels(TURNED) == ["POP-2.4"]
    assert igloo.feels(DOWN, LIFTED) == ["POP-2.6"]


def test_another_igloo_may_be_shaken(igloo: Igloo) -> None:
    igloo.place(sensor="unit-8")
    assert igloo.feels(LIFTED, SHAKEN, DOWN) == []
    igloo.place("card4", sensor="unit-7")
    assert igloo.feels(LIFTED) == ["POP-2.6"]
    assert igloo.faults()[0]["place"] == "card4"


def test_outside_a_live_round_everything_goes(igloo: Igloo, table: Table) -> None:
    igloo.place()
    table.do("pause")
    assert igloo.feels(LIFTED, SHAKEN, TURNED) == []
    table.do("resume")
    assert igloo.feels(CARRIED, DOWN) == []
    table.do("check")
    assert table.night.live_round()
    assert igloo.feels(LIFTED, TURNED, DOWN) == [], "in the check it is there to be turned over"
    table.moves("reveal card3 9")
    assert igloo.feels(LIFTED, TURNED, DOWN) == []
    table.do("close-match")
    assert igloo.feels(LIFTED, TURNED, DOWN) == []


def test_a_new_round_forgets_the_placement(igloo: Igloo, table: Table) -> None:
    igloo.place()
    table.do("check")
    table.moves("reveal card3 9")
    table.moves("start")
    assert igloo.feels(LIFTED, SHAKEN, DOWN) == []
    igloo.place("card2")
    assert igloo.feels(SHAKEN) == ["POP-2.6"]


def test_a_placement_that_is_taken_back_does_not_bind(igloo: Igloo, table: Table) -> None:
    igloo.place()
    table.do("undo", {"to": table.match["moves"] - 1})
    assert igloo.feels(LIFTED, SHAKEN, DOWN) == []
    igloo.place()
    assert igloo.feels(LIFTED) == ["POP-2.6"]


def test_turned_over_before_the_round_and_still_in_the_hand(table: Table) -> None:
    table.open_match(setup={"cards": ["2", "3", "4", "5", "4/5", "6/7", "8/9", "3/4/5", "11/12/13"]})
    igloo = Igloo(table)
    assert igloo.feels(LIFTED, TURNED) == []
    table.moves("start")
    assert igloo.feels(SHAKEN) == []
    assert igloo.feels(TURNED) == ["POP-2.4"]


def test_what_a_simulated_igloo_felt_is_marked_for_ever(table: Table) -> None:
    table.shaking()
    igloo = Igloo(table, key="sim", kind=DeviceKind.SIMULATED)
    assert igloo.feels(TURNED) == ["POP-2.4"]
    table.restart()
    assert table.match["faults"][0]["kind"] == "simulated"
    (entry,) = (e for e in table.journal.since(0) if e.kind == "fault")
    assert (entry.device_kind, entry.by, entry.by_role) == ("simulated", "sim", "igloo")
