"""The disputes of Igloo Pop that are a matter of two positions, answered by `explain`."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from companion.rules.inference.explain import explain
from companion.rules.inference.explanation import Explanation
from companion.rules.inference.turns import Evidence

Make = Callable[..., Any]


def told(state: Any, *keys: str, **players: dict[str, Any]) -> dict[str, Any]:
    """Return places and players of a position, what else is named, and players who have something else."""
    position = copy.deepcopy(state.position())
    found = {key: position[key] for key in ("places", "players", *keys)}
    for player in found["players"]:
        player.update(players.get(player["colour"], {}))
        if player["colour"] in players:
            del player["removed"]
    return found


def ask(before: Any, position: dict[str, Any]) -> Explanation:
    return explain(before, Evidence.of_position(position, "igloo-pop"))


def steps_of(found: Explanation) -> list[str]:
    assert found.legal and found.complete and not found.differences
    return [str(move) for move in found.turns[0].moves]


def refused_by(found: Explanation) -> dict[str, tuple[str, ...]]:
    """Return the refused moves and what refuses them."""
    assert not found.legal and found.nearest is not None and found.differences
    return {str(move): ruling.clauses for move, ruling in found.rulings}


def because_of(found: Explanation) -> dict[str, tuple[str, ...]]:
    """Return the steps that had to make it otherwise, and by what."""
    assert not found.legal and found.nearest is not None and found.differences
    return {str(move): ruling.clauses for move, ruling in found.because}


@pytest.fixture
def mixed(shaking: Make, play: Make) -> tuple[Any, Any]:
    """Return the table of figure 9 before and after its check: yellow 5 and 9, green 7 and red 4 on the card 4/5."""
    before = shaking("red", "yellow", "green", cards=("4/5",))
    placed = ("place yellow card1", "place yellow card1", "place green card1", "place red card1")
    before = play(before, *placed)
    passes = ("pass red", "pass yellow", "pass green")
    return before, play(before, *passes, *(f"reveal card1 {number}" for number in (5, 9, 7, 4)))


@pytest.mark.cites("POP-Q.1", "POP-2.8")
def test_q1_several_igloos_of_one_player_on_one_card(shaking: Make) -> None:
    before = shaking("red", "green")
    position = told(before, "phase", red={"own": 8})
    position["places"]["card1"]["things"] = [{"kind": "igloo", "colour": "red", "count": 2}]
    found = ask(before, position)
    assert steps_of(found) == ["place red card1", "place red card1"] and "POP-2.8" in found.to_json()["clauses"]


@pytest.mark.cites("POP-Q.2", "POP-3.7")
def test_q2_where_none_matches_the_thalers_are_lost_by_house_ruling(shaking: Make, play: Make) -> None:
    moves = ("place red card1", "place green card1", "pass red", "pass green", "reveal card1 8", "reveal card1 13")
    before = shaking("red", "green", cards=("4/5",))
    after = play(before, *moves)
    found = ask(before, told(after, "results"))
    assert "POP-3.7" in found.to_json()["clauses"] and found.to_json()["status"] == "house ruling"
    back = told(after, "results", red={"own": 10}, green={"own": 10})
    assert because_of(ask(before, back)) == {"reveal card1 13": ("POP-3.1", "POP-3.7")}
    assert {d.place for d in ask(before, back).differences} == {"red.own", "green.own"}
    returning = shaking("red", "green", cards=("4/5",), none_match="return")
    assert ask(returning, back).legal, "a matter of the table"


@pytest.mark.cites("POP-Q.3", "POP-3.6", "POP-3.8")
def test_q3_the_winners_own_wrong_thaler_does_not_come_back(mixed: tuple[Any, Any]) -> None:
    before, after = mixed
    assert steps_of(ask(before, told(after, "results")))[-1] == "reveal card1 4"
    kept = ask(before, told(after, "results", yellow={"own": 10}))
    assert because_of(kept) == {"reveal card1 4": ("POP-3.1", "POP-3.6")}
    assert [d.to_json() for d in kept.differences] == [{"field": "yellow.own", "seen": 10, "turn": 9}]


@pytest.mark.cites("POP-Q.4", "POP-3.6")
def test_q4_a_losers_wrong_thaler_goes_to_the_winner(mixed: tuple[Any, Any]) -> None:
    before, after = mixed
    kept = ask(before, told(after, "results", yellow={"captured": 0}, green={"own": 10}))
    assert because_of(kept) == {"reveal card1 4": ("POP-3.1", "POP-3.6")}
    gone = ask(before, told(after, "results", red={"own": 9}, yellow={"captured": 2}))
    assert {d.place for d in gone.differences} == {"red.own", "yellow.captured"}, "the right one comes back"


@pytest.mark.cites("POP-Q.5", "POP-3.6")
def test_q5_a_wrong_13_wins_nothing(shaking: Make, play: Make) -> None:
    before = play(shaking("red", "green", cards=("4/5",)), "place red card1", "place green card1")
    after = play(before, "pass red", "pass green", "reveal card1 4", "reveal card1 13")
    claim = told(after, "results", red={"cards": [], "captured": 0}, green={"cards": ["4/5"], "own": 10})
    assert because_of(ask(before, claim)) == {"reveal card1 13": ("POP-3.1", "POP-3.5")}


@pytest.mark.cites("POP-Q.6", "POP-2.9")
def test_q6_the_round_lasts_while_an_igloo_is_in_a_hand(shaking: Make, play: Make) -> None:
    before = play(shaking("red", "green", cards=("4/5",)), "place green card1", "take red")
    held = told(before)
    held["phase"] = "checking"
    assert refused_by(ask(before, held)) == {"pass red": ("POP-2.3", "POP-M.4")}
    returned = told(before, red={"in_hand": False})
    returned["phase"] = "checking"
    found = ask(before, returned)
    assert steps_of(found) == ["return red", "pass red", "pass green"] and "POP-2.9" in found.to_json()["clauses"]


@pytest.mark.cites("POP-Q.7", "POP-2.5", "POP-2.7")
def test_q7_only_thalers_of_ones_own_colour_are_placed(shaking: Make) -> None:
    position = shaking("red", "green").position()
    position["players"][0].update(own=0, captured=2, removed=10)
    position["players"][1].update(own=8, removed=0)
    before = shaking("red", "green").game.from_position(position)
    claim = told(before, "phase")
    claim["places"]["card2"]["things"] = [{"kind": "igloo", "colour": "red"}]
    assert refused_by(ask(before, claim)) == {"place red card2": ("POP-2.5", "POP-2.7")}
    claim["players"][0]["captured"] = 1
    refused = refused_by(ask(before, claim))
    assert refused["red.captured"] == ("POP-2.5", "POP-2.10") and "place red card2" in refused
    won_back = shaking("red", "green").game.from_position(
        {**position, "players": [{**position["players"][0], "own": 1, "removed": 9}, position["players"][1]]}
    )
    claim["players"][0].update(own=0, captured=2)
    claim["players"][0].pop("removed")
    found = ask(won_back, claim)
    assert steps_of(found) == ["place red card2"] and "POP-2.5" in found.to_json()["clauses"]


@pytest.mark.cites("POP-Q.8", "POP-4.1")
def test_q8_a_thaler_that_somebody_won_is_nobodys_own(shaking: Make, play: Make) -> None:
    table = play(shaking("red", "green", cards=("4/5",)), "place red card1", "place green card1")
    position = table.position()
    position["players"][0].update(own=0, removed=9)
    before = table.game.from_position(position)
    over = play(before, "pass green", "reveal card1 8", "reveal card1 4")
    assert over.phase == "over" and over.captured["green"] == 1
    claim = told(over, "results")
    claim["phase"] = "deal"
    found = ask(before, claim)
    assert refused_by(found) == {"start": ("POP-4.1",)}
    assert [d.to_json() for d in found.differences] == [{"field": "phase", "seen": "deal", "turn": "over"}]


@pytest.mark.cites("POP-2.6", "POP-2.10")
def test_an_igloo_on_a_card_stays_there(shaking: Make, play: Make) -> None:
    before = play(shaking("red", "green"), "place red card1")
    moved = told(before, "phase")
    moved["places"]["card2"]["things"] = moved["places"]["card1"]["things"]
    moved["places"]["card1"]["things"] = []
    assert refused_by(ask(before, moved))["red card1"] == ("POP-2.6", "POP-2.10")


@pytest.mark.cites("POP-2.4", "POP-3.1", "POP-3.10")
def test_numbers_are_seen_in_the_check_and_each_once(mixed: tuple[Any, Any]) -> None:
    before, after = mixed
    early = told(before, "phase")
    early["places"]["card1"]["things"][0]["value"] = 5
    assert refused_by(ask(before, early)) == {"reveal card1 5": ("POP-3.1", "POP-2.4")}
    twice = told(after, "results")
    twice["results"][0]["igloos"] = [["yellow", 5], ["yellow", 5], ["green", 7], ["red", 4]]
    assert refused_by(ask(before, twice))["reveal card1 5"] == ("POP-3.10", "POP-M.5")


@pytest.mark.cites("POP-3.11", "POP-1.1", "POP-M.7")
def test_cards_are_laid_where_none_lies_and_rounds_begin_with_nine(mixed: tuple[Any, Any], ready: Make) -> None:
    before, after = mixed
    laid = told(after, "phase", "results")
    laid["places"]["card2"]["ground"] = "9"
    assert refused_by(ask(before, laid)) == {"deal card2 9": ("POP-1.1", "POP-3.11")}
    filled = told(after, "results")
    filled["places"]["card1"] = {"ground": "9", "things": []}
    assert steps_of(ask(before, filled))[-1] == "deal card1 9"
    few = ready("red", "green").position()
    few["places"]["card9"] = {"ground": "empty", "things": []}
    few.update(phase="ready", piles={"stack": 0})
    start = ready("red", "green").game.from_position(few)
    found = ask(start, {"places": {}, "phase": "shaking"})
    assert "POP-M.7" in refused_by(found)["start"]


def test_the_command(explained: Make, mixed: tuple[Any, Any], capsys: pytest.CaptureFixture[str]) -> None:
    before, after = mixed
    assert explained("igloo-pop", before.position(), after.position()) == 0
    out = capsys.readouterr().out
    written = [line.rpartition(" · ")[2] for line in out.splitlines()]
    assert written[-4:] == ["reveal card1 5", "reveal card1 9", "reveal card1 7", "reveal card1 4"]
    assert explained("igloo-pop", before.position(), before.position(), "--lang", "fr") == 0
    assert "Il ne s’est peut-être rien passé" in capsys.readouterr().out
    wrong = after.position()
    wrong["players"][1]["own"] = 10
    assert explained("igloo-pop", before.position(), wrong, "--json") == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["clauses"] == ["POP-3.1", "POP-3.6"] and answer["differences"][0]["field"] == "yellow.own"
    assert answer["facts"]["because"][0]["move"] == "reveal card1 4" and answer["problems"]
    assert explained("igloo-pop", before.position(), wrong) == 1
    assert "It also leaves things other than the places different.  · yellow.own" in capsys.readouterr().out


def test_what_decides_is_told_where_no_step_is_refused(mixed: tuple[Any, Any]) -> None:
    before, after = mixed
    told_so = ask(before, told(after, "results", yellow={"own": 10})).to_json()
    assert told_so["en"].startswith("No legal turn leads there. What decides: ")
    assert "Ce qui décide\u00a0:" in told_so["fr"] and told_so["clauses"] == ["POP-3.1", "POP-3.6"]
