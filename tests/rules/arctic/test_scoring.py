"""The score: ARC-V.1 to V.5, and the examples ARC-T.1, T.2, T.3, T.10; piles as a camera reads them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from companion.cli import run
from companion.rules import game

Make = Callable[..., Any]
ARCTIC = game("arctic")

# The example of the rulebook, lengths ours where the pictures are missing: A, B, C, … from bottom to top.
EXAMPLE = "walrus fox fox fox puffin puffin moose moose moose moose moose moose bear " + (
    "puffin puffin puffin puffin puffin fox fox orca orca orca orca"
)


def fanned(pile: str, **fields: Any) -> Any:
    """Return a pile alone as a camera reads it: one card a place, from bottom to top; ``_`` is a face-down card."""
    places = {
        f"pile{n}": {"ground": "table", "things": [{"kind": "face-down" if word == "_" else word, "count": 1}]}
        for n, word in enumerate(pile.split(), 1)
    }
    return ARCTIC.from_position({"game": "arctic", "places": places, **fields})


def runs(state: Any, seat: int = 0) -> dict[str, tuple[int, int]]:
    """Return length and points of each animal's run."""
    return {
        line.facts["animal"]: (line.facts["length"], line.points)
        for line in state.score().sheets[seat].lines
        if line.what == "run"
    }


def points(state: Any, what: str, seat: int = 0) -> int:
    """Return the points of a line of the sheet."""
    return sum(line.points for line in state.score().sheets[seat].lines if line.what == what)


@pytest.mark.cites("ARC-T.10", "ARC-V.1")
def test_t10_the_pile_of_the_example() -> None:
    state = fanned(EXAMPLE)
    assert runs(state) == {"fox": (3, 3), "moose": (6, 15), "puffin": (5, 10), "orca": (4, 6)}
    found = [(line.facts["animal"], line.facts["from"], line.facts["to"]) for line in state.score().sheets[0].lines[:4]]
    assert found == [("fox", 2, 4), ("moose", 7, 12), ("puffin", 14, 18), ("orca", 21, 24)], "B, D, F, H"
    assert state.problems() == ()


@pytest.mark.cites("ARC-T.1", "ARC-V.3")
def test_t1_the_example_makes_46(table: Make) -> None:
    state = fanned(
        EXAMPLE,
        players=[{"name": "Ann", "totem": "fox", "penalty": 4}],
    )
    position = state.position()
    for value, kinds in ((10, ["fox"]), (3, ["moose", "walrus", "orca", "puffin", "bear"])):
        position["places"][f"land{value}"]["things"] = [{"kind": kind, "count": 1} for kind in kinds]
    state = ARCTIC.from_position(position)
    sheet = state.score().sheets[0]
    assert [line.points for line in sheet.lines] == [3, 15, 10, 6, 6, 10, -4]
    assert sheet.total == 3 + 15 + 10 + 6 + 6 + 10 - 4 == 46
    assert all(line.clauses for line in sheet.lines)


@pytest.mark.cites("ARC-T.2", "ARC-V.1")
def test_t2_the_table_of_runs() -> None:
    for length, made in ((1, None), (2, 1), (3, 3), (4, 6), (5, 10), (6, 15), (7, 15), (9, 15)):
        found = runs(fanned("bear " + "fox " * length + "bear"))
        assert found == ({} if made is None else {"fox": (length, made)})


@pytest.mark.cites("ARC-T.3", "ARC-V.2")
@pytest.mark.parametrize(("animals", "made"), [(0, 0), (1, 0), (2, 1), (3, 3), (4, 6), (5, 10), (6, 15)])
def test_t3_different_animals_with_a_run(animals: int, made: int) -> None:
    pile = " ".join(f"{a} {a}" for a in ("fox", "moose", "walrus", "orca", "puffin", "bear")[:animals])
    assert points(fanned(pile or "fox"), "different-runs") == made


@pytest.mark.cites("ARC-V.1")
def test_only_the_longest_run_of_an_animal_counts() -> None:
    assert runs(fanned("fox fox bear fox fox fox bear fox fox")) == {"fox": (3, 3)}
    assert runs(fanned("fox bear fox bear fox")) == {}


@pytest.mark.cites("ARC-V.3")
def test_the_totem_the_penalties_and_nothing_for_the_hand(table: Make) -> None:
    state = table(hand="fox-5-moose fox-4-walrus", penalty="orca-5-puffin ?", totem="moose", tokens={"moose": 15})
    lines = {line.what: line for line in state.score().sheets[0].lines}
    assert (lines["totem"].points, lines["penalties"].points) == (15, -2)
    assert state.score().sheets[0].total == 13
    secret = table(totem="?", tokens={"moose": 15})
    assert points(secret, "totem-secret") == 0 and points(secret, "totem") == 0


@pytest.mark.cites("ARC-V.4")
def test_the_highest_wins_and_a_tie_goes_to_the_first_in_turn_order(table: Make) -> None:
    fields: dict[str, Any] = {"phase": "over", "stage": "last", "reserve": 0}
    tokens = {"bear": 10, "fox": 10, "moose": 15, "walrus": 3}
    tied = table(totem="bear", others=({"totem": "fox"}, {"totem": "walrus"}), first=2, tokens=tokens, **fields)
    assert tied.score().ranking == ((1,), (0,), (2,)), "Bob holds the footprint"
    assert tied.outcome().winners == (1,) and "ARC-V.4" in tied.outcome().clauses
    assert tied.ranking_reason.key == "first-by-order" and tied.ranking_reason.facts["tied"] == [0]
    third = table(totem="bear", others=({"totem": "fox"}, {"totem": "walrus"}), first=3, tokens=tokens, **fields)
    assert third.outcome().winners == (0,), "from Cléo on, Ann comes before Bob"
    ahead = table(totem="moose", others=({"totem": "fox"},), first=2, tokens=tokens, **fields)
    assert ahead.outcome().winners == (0,) and ahead.ranking_reason.key == "first-by-points"


# --- face-down cards --------------------------------------------------------------------------------------------------


@pytest.mark.cites("ARC-V.5", "ARC-P.12", "ARC-M.14")
def test_a_face_down_card_counts_as_any_animal_and_may_bridge() -> None:
    state = fanned("fox fox _ fox")
    assert runs(state) == {"fox": (4, 6)}
    assert state.score().sheets[0].lines[-3].facts["animals"] == ["fox"]
    assert points(fanned("fox _ bear"), "run") == 1


@pytest.mark.cites("ARC-V.5")
def test_several_face_down_cards_may_be_different_animals() -> None:
    state = fanned("fox fox _ bear bear _ orca")
    total = points(state, "run") + points(state, "different-runs")
    assert total == 3 + 1 + 1 + 3, "a fox of three, a bear and an orca of two; or the like"
    assert len(state.score().sheets[0].lines[-3].facts["animals"]) == 2


@pytest.mark.cites("ARC-V.5")
def test_among_equal_readings_the_first_animal_of_the_box_is_shown() -> None:
    """The sheet must say one of them, and always the same."""
    assert runs(fanned("_ _")) == {"fox": (2, 1)}
    assert runs(fanned("fox fox bear _ _")) == {"fox": (2, 1), "bear": (3, 3)}
    assert runs(fanned("fox fox _ bear bear")) == {"fox": (2, 1), "bear": (3, 3)}, "it goes with the cards above it"


@pytest.mark.cites("ARC-V.5")
def test_face_down_cards_alone_are_a_run_by_the_letter_and_not_by_the_option() -> None:
    pile = "fox bear _ _ orca"
    alone = fanned(pile)
    assert points(alone, "run") + points(alone, "different-runs") == 1 + 1 + 1, "bear and orca; or three of one"
    only = fanned("_ _ _", options={"arc.facedown_alone": False})
    assert runs(only) == {}
    assert points(fanned("_ _ _"), "run") == 3
    joined = fanned("_ _ fox", options={"arc.facedown_alone": False})
    assert runs(joined) == {"fox": (3, 3)}
    apart = "fox fox fox fox fox fox _ _ fox"
    assert points(fanned(apart), "run") == 15 + 1
    assert points(fanned(apart, options={"arc.facedown_alone": False}), "run") == 15


def test_an_unknown_card_breaks_a_run() -> None:
    places = {f"pile{n}": {"ground": "table", "things": [{"kind": "fox"}]} for n in (1, 2, 4, 5)}
    state = ARCTIC.from_position({"game": "arctic", "places": places | {"pile3": None}})
    assert len(state.piles[0]) == 5 and runs(state) == {"fox": (2, 1)}


def test_an_empty_place_is_no_card() -> None:
    places = {
        f"pile{n}": {"ground": "table", "things": [{"kind": "fox"}] if n in (1, 2, 4) else []} for n in range(1, 31)
    }
    state = ARCTIC.from_position({"game": "arctic", "places": places})
    assert len(state.piles[0]) == 3 and runs(state) == {"fox": (3, 3)}


def test_a_whole_pack_face_down_is_still_scored() -> None:
    assert points(fanned("_ " * 120), "run") == 6 * 15


# --- `companion score --position` -------------------------------------------------------------------------------------


def test_score_of_a_pile_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pile.json"
    words = EXAMPLE.split()
    places = {f"pile{n}": {"ground": "table", "things": [{"kind": word}]} for n, word in enumerate(words, 1)}
    path.write_text(json.dumps({"game": "arctic", "places": places}), encoding="utf-8")
    assert run(["score", "--position", str(path), "--json"]) == 0
    (player,) = json.loads(capsys.readouterr().out)["players"]
    assert player["total"] == 3 + 15 + 10 + 6 + 6
    assert player["lines"][0]["clauses"] == ["ARC-V.1"] and player["lines"][0]["fr"] != player["lines"][0]["en"]
    assert run(["score", "--position", str(path), "--lang", "fr"]) == 0
    assert "Série de 6 cartes élan" in capsys.readouterr().out


def test_score_of_a_position_with_players(tmp_path: Path, table: Make, capsys: pytest.CaptureFixture[str]) -> None:
    state = table(
        pile="fox-5-moose fox-4-walrus down:? fox-3-orca",
        sides=(12,),
        totem="moose",
        tokens={"moose": 6},
        others=({"pile": ["moose-5-walrus"], "penalty": ["?", "?"]},),
    )
    path = tmp_path / "p.json"
    path.write_text(json.dumps(state.position()), encoding="utf-8")
    assert run(["score", "--position", str(path), "--json"]) == 0
    sheet = json.loads(capsys.readouterr().out)
    assert [player["total"] for player in sheet["players"]] == [6 + 6, 3 - 2]
    assert sheet["ranking"] == [[0], [1]] and sheet["problems"] == []
    face_down = next(line for line in sheet["players"][0]["lines"] if line["what"] == "face-down")
    assert face_down["facts"]["animals"] == ["fox"] and face_down["clauses"] == ["ARC-V.5"]
    assert sheet["decided_by"]["clauses"] == ["ARC-V.4"]
    assert run(["score", "--position", str(path)]) == 0
    assert "The game is not over." in capsys.readouterr().out


def test_score_of_an_impossible_position_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.json"
    players = [{"name": "Ann", "pile": ["fox-5-moose"]}, {"name": "Bob", "pile": ["fox-5-moose"]}]
    path.write_text(json.dumps({"game": "arctic", "players": players, "places": {}}), encoding="utf-8")
    assert run(["score", "--position", str(path), "--json"]) == 1
    assert "card-twice" in [p["key"] for p in json.loads(capsys.readouterr().out)["problems"]]
