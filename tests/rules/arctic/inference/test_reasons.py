"""Every "no" of Arctic has a reason that a table would accept."""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from companion.lab.bench.turn_times import spoil, whole_turns
from companion.rules.core import CHANCE
from companion.rules.inference.explain import explain
from companion.rules.inference.turns import Evidence

Make = Callable[..., Any]


def ask(before: Any, position: dict[str, Any]) -> Any:
    found = explain(before, Evidence.of_position(position, "arctic"))
    assert not found.legal
    return found


@pytest.mark.cites("ARC-A.1")
def test_somebody_elses_pile_that_changed(table: Make) -> None:
    before = table(pile="moose-1-fox", hand="fox-5-moose orca-5-puffin")
    position = copy.deepcopy(before.position())
    position["players"][1]["pile"] = [*(position["players"][1]["pile"] or []), "walrus-1-orca"]
    found = ask(before, {key: position[key] for key in ("places", "players")})
    assert any("ARC-A.1" in ruling.clauses for _, ruling in found.rulings)
    assert any("It is the turn of" in ruling.en for _, ruling in found.rulings)


def test_two_turns_at_once(table: Make) -> None:
    state = before = table(pile="moose-1-fox", hand="fox-5-moose orca-5-puffin")
    for whose in (0, 1):
        while state.to_move in (whose, CHANCE):
            state = state.after(next(iter(state.moves())))
    found = ask(before, state.position())
    assert found.to_json()["clauses"] and found.rulings[0][1].en.startswith(("That may be two turns", "It is the turn"))


def test_a_card_that_came_into_the_river_is_no_reason() -> None:
    """Any card might have come: that this one did says nothing of two places that were exchanged."""
    asked = 0
    rng = Random(5)
    for before, _, after in whole_turns("arctic", rng, 12):
        found = explain(before, spoil(Evidence.of_position(after.position(), "arctic"), rng))
        if not found.legal:
            asked += 1
            assert found.to_json()["clauses"]
            assert not any("comes into the River" in ruling.en for _, ruling in (*found.rulings, *found.because))
    assert asked
