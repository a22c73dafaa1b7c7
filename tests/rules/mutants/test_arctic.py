"""What mutants of Arctic left open."""

from __future__ import annotations

from typing import Any

import pytest

from companion.rules import game

ARCTIC = game("arctic")


def fanned(pile: str, **fields: Any) -> Any:
    places = {
        f"pile{n}": {"ground": "table", "things": [{"kind": "face-down" if word == "_" else word, "count": 1}]}
        for n, word in enumerate(pile.split(), 1)
    }
    return ARCTIC.from_position({"game": "arctic", "places": places, **fields})


def down(state: Any) -> list[str]:
    """Return what the cards that lie face down count as."""
    (line,) = [line for line in state.score().sheets[0].lines if line.what == "face-down"]
    animals: list[str] = line.facts["animals"]
    return animals


@pytest.mark.cites("ARC-V.5")
def test_a_face_down_card_that_no_run_needs_goes_with_the_card_below_it_or_else_above() -> None:
    assert down(fanned("fox fox fox fox fox fox orca fox _")) == ["fox"]
    assert down(fanned("orca orca orca orca orca orca fox orca _")) == ["orca"]
    assert down(fanned("fox fox fox fox fox fox orca fox orca _ fox")) == ["orca"]
    assert down(fanned("_ fox fox fox fox fox fox")) == ["fox"], "there is none below"


@pytest.mark.cites("ARC-P.10", "ARC-M.3")
@pytest.mark.parametrize(("value", "values"), [(0, {"value +1"}), (1, {"value +1", "value -1"})])
def test_a_placement_value_of_nought_may_only_grow(value: int, values: set[str]) -> None:
    state = ARCTIC.from_position(
        {
            "players": [
                {"name": "Ann", "pile": ["moose-2-bear"], "hand": ["fox-5-moose"], "powers": ["moose"]},
                {"name": "Bob"},
            ],
            "powers": {"moose": 10},
            "to_move": 1,
            "phase": "A",
            "value": value,
        }
    )
    assert {str(move) for move in state.legal_moves if move.kind == "value"} == values
    for text in ("value +1", "value -1"):
        assert (ARCTIC.parse(text) in state.legal_moves) == (text in values)


@pytest.mark.cites("ARC-S.4")
def test_a_totem_is_given_openly_or_in_secret() -> None:
    state = ARCTIC.start(ARCTIC.seats(2))
    animals = ("fox", "moose", "walrus", "orca", "puffin", "bear", "?")
    assert {str(move) for move in state.legal_moves if move.kind == "totem"} == {f"totem p1 {a}" for a in animals}


@pytest.mark.cites("ARC-V.3")
def test_every_line_of_a_pile_without_a_known_totem_cites_the_rulebook() -> None:
    lines = fanned("fox fox _ orca").score().sheets[0].lines
    assert "totem-secret" in {line.what for line in lines}
    assert {clause for line in lines for clause in line.clauses} <= ARCTIC.rulebook.clauses.keys()
