"""Every "no" of Igloo Pop has a reason that a table would accept."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from companion.rules.inference.explain import explain
from companion.rules.inference.turns import Evidence

Make = Callable[..., Any]


def ask(before: Any, position: dict[str, Any]) -> Any:
    found = explain(before, Evidence.of_position(position, "igloo-pop"))
    assert not found.legal
    return found


@pytest.mark.cites("POP-K.1")
def test_thirteen_igloos(shaking: Make) -> None:
    before = shaking("red", "green")
    places = copy.deepcopy(before.position()["places"])
    places["card1"]["things"] = [{"kind": "igloo", "colour": "red", "count": 9}]
    places["card2"]["things"] = [{"kind": "igloo", "colour": "green", "count": 4}]
    ruling = ask(before, {"places": places}).rulings[0][1]
    assert ruling.clauses == ("POP-K.1",) and ruling.en.startswith("There are 13 igloos")


@pytest.mark.cites("POP-3.1")
def test_a_number_that_was_read_and_came_to_nothing(shaking: Make, play: Make) -> None:
    before = play(shaking("red", "green", cards=("4/5",)), "place red card1", "pass red", "pass green")
    places = copy.deepcopy(before.position()["places"])
    places["card1"]["things"] = [{"kind": "igloo", "colour": "red", "count": 1, "value": 9}]
    found = ask(before, {"places": places})
    assert {"POP-3.1"} <= set(found.rulings[0][1].clauses)
    assert "9 was read on" in found.rulings[0][1].en


def test_every_no_names_a_clause(shaking: Make) -> None:
    before = shaking("red", "green")
    found = ask(before, {"places": before.position()["places"], "round": 9})
    assert found.to_json()["clauses"]
