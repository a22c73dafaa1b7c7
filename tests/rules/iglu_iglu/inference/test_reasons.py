"""Every "no" has a reason that a table would accept: what is wrong, by which clause, and nothing beside the point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from companion.rules.iglu_iglu.inference import best_first, search
from companion.rules.inference import explain as module
from companion.rules.inference.explain import explain
from companion.rules.inference.explanation import Explanation
from companion.rules.inference.turns import Evidence

Make = Callable[..., Any]
OPENING = "+######+\n########\n########\n###..###\n###..###\n########\n########\n+######+"
MELTED = OPENING.replace("###..###\n########\n########\n+######+", "##...###\n########\n########\n+######+")


@pytest.fixture
def ask(board: Make) -> Callable[..., Explanation]:
    """Ask how a board came from the opening, red to move with nothing in hand; c4 melted unless a picture says else."""

    def make(things: dict[str, str], then: dict[str, str], picture: str = MELTED, **fields: Any) -> Explanation:
        before = board(OPENING, things, to_move="red", **fields)
        after = board(picture, then, to_move="blue")
        return explain(before, Evidence.of_position({"places": after.position()["places"]}, "iglu-iglu"))

    return make


def only(found: Explanation) -> Any:
    """Return the one ruling that is told."""
    assert not found.legal and found.complete
    ((_, ruling),) = found.rulings
    assert ruling.fr != ruling.en
    return ruling


@pytest.mark.cites("IGLU-2.1", "IGLU-1.1")
def test_a_rivals_inuit_that_walked(ask: Make) -> None:
    found = ask({"b1": "r", "h4": "b"}, {"b1": "r", "h5": "b"})
    ruling = only(found)
    assert ruling.clauses == ("IGLU-2.1", "IGLU-1.1")
    assert ruling.en == "It is the turn of red: the inuit of blue does not go from h4 to h5 now."
    assert {difference.place for difference in found.differences} == {"h4", "h5"}


def test_a_rival_that_built_and_an_igloo_that_was_taken(ask: Make) -> None:
    built = only(ask({"b1": "r", "h4": "b"}, {"b1": "r", "h4": "b B"}))
    assert built.clauses == ("IGLU-2.1", "IGLU-2.C.1") and "blue builds no igloo on h4" in built.en
    taken = only(ask({"b1": "r", "h4": "b B"}, {"b1": "r", "h4": "b"}))
    assert taken.clauses == ("IGLU-2.C.1",) and taken.en.startswith("The igloo of blue on h4")


def test_what_a_drift_onto_the_melted_square_carried_is_legal(ask: Make) -> None:
    """A drift from c4 pushed b4 there, with a rival's inuit and igloo on it: only b4 looks melted."""
    melted = MELTED.replace("##...###", "#.#..###")
    for things in ("b", "b B", "B"):
        found = ask({"b1": "r", "b4": things}, {"b1": "r", "c4": things}, melted)
        assert found.legal and "drift b4 e" in map(str, found.turns[0].moves)
    assert not ask({"b1": "r", "h4": "b B"}, {"b1": "r", "h5": "b B"}, melted).legal


@pytest.mark.cites("IGLU-2.1", "IGLU-2.A.1")
def test_more_steps_than_points(ask: Make) -> None:
    found = ask({"b1": "r"}, {"c6": "r"}, hands={"red": "", "blue": ""}, piles={"tiles": {"drift": 20, "pack": 36}})
    told = {str(move): ruling for move, ruling in found.rulings}
    ruling = told["walk b1 c6"]
    assert ruling.clauses == ("IGLU-2.1", "IGLU-2.A.1")
    assert ruling.en == "From b1 to c6 an inuit takes 6 steps on foot, a point each, and red has 3 points at most."
    assert not any("beside b1" in ruling.en for ruling in told.values())
    unknown = ask({"b1": "r"}, {"c8": "r"})
    assert {"IGLU-1.E.9"} <= set(unknown.to_json()["clauses"]), "an endurance tile may have added some"


@pytest.mark.cites("IGLU-2.1")
def test_more_done_than_points_reach(ask: Make) -> None:
    piles = {"tiles": {"drift": 20, "pack": 36}}
    hands = {"red": "", "blue": ""}
    found = ask({"b1": "r", "g7": "r"}, {"b1": "r R", "g6": "r"}, hands=hands, piles=piles)
    ruling = only(found)
    assert ruling.clauses == ("IGLU-2.1",)
    assert ruling.en == "All this takes at least 4 action points, and red has 3 points at most."


@pytest.mark.cites("IGLU-1.E.11d")
def test_a_bear_on_a_corner(ask: Make) -> None:
    found = ask({"b1": "r", "b2": "X"}, {"b1": "r", "a1": "X"})
    assert found.rulings[0][1].clauses == ("IGLU-1.E.11d",)
    assert not any("a1" in str(move) for move, _ in found.rulings), "of what cannot lie so nobody asks who moved it"


@pytest.mark.cites("IGLU-1.1")
def test_two_turns_at_once(ask: Make) -> None:
    both = MELTED.replace("##...###", "##....##")
    found = ask({"b1": "r", "h4": "b"}, {"b2": "r", "h5": "b"}, both)
    ruling = only(found)
    assert ruling.clauses == ("IGLU-1.1",) and ruling.en == "That may be two turns: one of red, then one of blue."
    told = found.to_json()
    assert [half[-1] for half in told["two_turns"]] == ["end", "end"]
    assert "walk b1 b2" in told["two_turns"][0] and "walk h4 h5" in told["two_turns"][1]
    assert "The first turn:" in told["en"] and "The nearest legal turn" not in told["en"]
    assert "Le premier tour" in told["fr"]


def test_the_nearest_turn_is_told_in_words(ask: Make) -> None:
    found = ask({"b1": "r", "h4": "b"}, {"b1": "r", "h5": "b"})
    told = found.to_json()
    assert "The nearest legal turn: The floe on c4 is face down" in told["en"]
    assert "It leaves floe, blue inuit on h4; seen there: floe." in told["en"]
    assert "Le tour permis le plus proche\u00a0: La tuile en c4" in told["fr"]
    for notation in (*told["nearest"], *told["facts"]["refused"]):
        assert notation == "end" or notation not in told["en"]
    assert [step["move"] for step in told["steps"]] == told["nearest"]


def test_what_lies_wrong_is_missed_where_it_came_from(ask: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fish that was put ashore came from the square that lacks one: no other pair of squares is asked about."""
    monkeypatch.setattr(module, "relaxed", lambda *_: pytest.fail("other squares were asked about"))
    before = {"b1": "r", "g7": "r", "e7": "r", "d4": "1", "e5": "2"}
    found = ask(before, {"b2": "r", "g6": "r", "e6": "r", "f3": "1", "e5": "2"})
    assert found.nearest is not None and {str(move) for move in found.nearest.moves} >= {"walk b1 b2", "walk g7 g6"}
    assert {difference.place for difference in found.differences} == {"d4", "f3"}


def test_a_search_that_stops_says_so_with_the_best_so_far(ask: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    far = {"b1": "r", "d4": "1", "e5": "2"}, {"b1": "r", "e4": "2"}
    whole = ask(*far)
    monkeypatch.setattr(search, "hopeless", lambda _state, _seen: False)
    monkeypatch.setattr(search.Scale, "least", lambda *_: 0.0)
    monkeypatch.setattr(search, "QUICK", 1)
    monkeypatch.setattr(search, "PROOF", 1)
    monkeypatch.setattr(search, "HASTE", ((1, 1),))
    monkeypatch.setattr(search, "CAREFUL", (1, 1))
    monkeypatch.setattr(search, "MOST_ANY", 1)
    monkeypatch.setattr(best_first, "WIDE", 1)
    monkeypatch.setattr(module, "MOST", 10)
    found = ask(*far)
    told = found.to_json()
    assert not whole.legal and not found.legal and not found.complete
    assert f"{told['facts']['looked']} lines were looked at, then the search stopped" in told["en"]
    assert "la recherche s’est arrêtée" in told["fr"]
    assert told["clauses"] and found.nearest is not None
