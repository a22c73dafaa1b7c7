"""Every "no" of Ice Team has a reason that a table would accept."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from companion.rules.inference.explain import explain
from companion.rules.inference.turns import Evidence

Make = Callable[..., Any]


def seen(position: dict[str, Any]) -> Evidence:
    return Evidence.of_position({"places": position["places"]}, "ice-team")


@pytest.mark.cites("ICE-0.1")
def test_three_bears_leave_start(ice: Make) -> None:
    before, after = ice(), ice(green="a1 a4 a7")
    found = explain(before, seen(after.position()))
    assert not found.legal
    ((_, ruling),) = found.rulings
    assert ruling.clauses == ("ICE-0.1",)
    assert ruling.en == "3 bears of green moved, and green has 2 actions left: each moves one bear."
    assert found.to_json()["clauses"] == ["ICE-0.1"], "what the steps are made of is beside the point"
    one = explain(ice(actions=1), seen(ice(green="a1 a4").position()))
    assert "green has one action left" in one.rulings[0][1].en


@pytest.mark.cites("ICE-0.1")
def test_two_turns_at_once(ice: Make) -> None:
    before = ice(green="a1", red="b1")
    after = ice(green="a7", red="b6")
    found = explain(before, seen(after.position()))
    ((_, ruling),) = found.rulings
    assert ruling.clauses == ("ICE-0.1",) and ruling.en.startswith("That may be two turns: one of green")
    assert found.two is not None and len(found.two) == 2


@pytest.mark.cites("ICE-K.8")
def test_a_bear_too_many(ice: Make) -> None:
    before = ice(green="a1")
    position = copy.deepcopy(before.position())
    position["places"]["a4"]["things"] = [{"kind": "bear", "colour": "green", "count": 1}]
    found = explain(before, seen(position))
    assert "ICE-K.8" in found.rulings[0][1].clauses
