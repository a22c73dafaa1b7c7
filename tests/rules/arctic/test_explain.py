"""The disputes of Arctic that are a matter of two positions, answered by `explain`."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from companion.rules.inference.explain import explain
from companion.rules.inference.explanation import Explanation
from companion.rules.inference.turns import Evidence

Make = Callable[..., Any]


def lands(state: Any, **tokens: int) -> dict[str, Any]:
    """Return the landscape of a position with tokens elsewhere."""
    places = {name: place for name, place in state.position()["places"].items() if name.startswith("land")}
    for animal, value in tokens.items():
        for place in places.values():
            place["things"] = [thing for thing in place["things"] if thing["kind"] != animal]
        places[f"land{value}"]["things"].append({"kind": animal, "count": 1})
    return places


def ask(before: Any, places: dict[str, Any] | None = None, **ann: Any) -> Explanation:
    """Explain a position of which the places, and what Ann has, are told; her pile as text."""
    if isinstance(ann.get("pile"), str):
        ann["pile"] = ann["pile"].split()
    bob = {"penalty": ann.pop("theirs")} if "theirs" in ann else {}
    position = {"places": places or {}, "players": [ann, bob]}
    return explain(before, Evidence.of_position(position, "arctic"))


def turn_of(found: Explanation) -> list[str]:
    assert found.legal and found.complete and not found.differences
    return [str(move) for move in found.turns[0].moves]


def clauses_of(found: Explanation) -> dict[str, tuple[str, ...]]:
    """Return the refused moves and what refuses them."""
    assert not found.legal and found.complete and found.nearest is not None and found.differences
    return {str(move): ruling.clauses for move, ruling in found.rulings}


def cited(found: Explanation) -> Sequence[str]:
    clauses: list[str] = found.to_json()["clauses"]
    return clauses


@pytest.mark.cites("ARC-Q.1", "ARC-A.5")
def test_q1_a_power_taken_this_turn_does_not_work_in_its_phase_a(table: Make) -> None:
    before = table(pile="moose-2-bear", hand="fox-5-moose orca-5-puffin orca-4-bear", sides=(12,))
    found = ask(before, pile="moose-2-bear down:orca-5-puffin fox-5-moose")
    assert clauses_of(found) == {"place orca-5-puffin under": ("ARC-A.5", "ARC-P.12")}
    assert found.to_json()["status"] == "text"
    held = table(pile="moose-2-bear", hand="fox-5-moose orca-5-puffin orca-4-bear", sides=(12,), own="fox")
    told = turn_of(ask(held, pile="moose-2-bear down:orca-5-puffin fox-5-moose"))
    assert told[:2] == ["place fox-5-moose", "place orca-5-puffin under"]


@pytest.mark.cites("ARC-Q.2")
def test_q2_a_power_taken_again_stays(table: Make) -> None:
    before = table(pile="orca-2-moose", hand="moose-5-walrus fox-5-moose moose-4-orca", own="moose", sides=(10,))
    found = ask(before, pile="orca-2-moose moose-5-walrus", powers=["moose"])
    assert turn_of(found)[:2] == ["value -1", "place moose-5-walrus"]
    assert {"ARC-P.10", "ARC-A.4"} <= set(cited(found))


@pytest.mark.cites("ARC-Q.3")
def test_q3_the_only_card_is_the_last_one_too(table: Make) -> None:
    for side, pile in ((11, "orca-5-puffin moose-1-fox"), (12, "down:orca-5-puffin moose-1-fox")):
        before = table(pile="moose-1-fox", hand="orca-5-puffin fox-5-moose", own="fox", sides=(side,))
        found = ask(before, lands(before, moose=6, fox=1), pile=pile, powers=["fox", "moose"])
        assert turn_of(found)[1] == "tokens moose+ fox-", "the animals of the visible card, again"
        assert {f"ARC-P.{side}", "ARC-A.4"} <= set(cited(found)) and found.to_json()["status"] == "house ruling"


@pytest.mark.cites("ARC-Q.4")
def test_q4_no_card_is_hidden_under_nothing(table: Make) -> None:
    before = table(hand="orca-5-puffin", own="fox", sides=(12,))
    found = ask(before, pile="down:orca-5-puffin")
    assert clauses_of(found)["place orca-5-puffin under"] == ("ARC-P.12", "ARC-0.1")


@pytest.mark.cites("ARC-Q.5")
def test_q5_below_a_card_taken_back_a_face_down_one_is_none(table: Make) -> None:
    pile = "orca-3-fox down:bear-5-fox fox-5-moose"
    before = table(pile=pile, hand="orca-5-puffin", own="puffin", sides=(4, 12))
    found = ask(before, pile="orca-3-fox down:bear-5-fox orca-5-puffin")
    assert turn_of(found)[:2] == ["take-back", "place orca-5-puffin"]
    assert {"ARC-P.4", "ARC-0.1", "ARC-A.2"} <= set(cited(found)) and found.to_json()["status"] == "deduced"
    two = ask(before, pile="orca-3-fox down:bear-5-fox orca-5-puffin fox-5-moose", penalty=0)
    assert not two.legal and "ARC-A.1" in cited(two), "the value is 1"


@pytest.mark.cites("ARC-Q.6", "ARC-T.4", "ARC-A.3")
def test_q6_missing_cards_cost_and_the_moose_saves_one(table: Make) -> None:
    pile = "bear-3-walrus orca-5-puffin"
    before = table(pile="bear-3-walrus", hand="orca-5-puffin")
    none = ask(before, pile=pile, penalty=0)
    assert not none.legal and "ARC-A.3" in cited(none)
    assert [difference.to_json() for difference in none.differences] == [
        {"field": "p1.penalty", "seen": 0, "turn": ["?", "?"]}
    ]
    assert turn_of(ask(before, pile=pile, penalty=2))[1:3] == ["penalty ?", "penalty ?"]
    moose = table(pile="bear-3-walrus", hand="orca-5-puffin", own="moose", sides=(10,))
    found = ask(moose, pile=pile, penalty=1)
    assert "value -1" in turn_of(found) and {"ARC-P.10", "ARC-A.3"} <= set(cited(found))
    assert found.to_json()["status"] == "house ruling"


@pytest.mark.cites("ARC-Q.7")
def test_q7_the_last_card_of_a_short_hand_may_go_under(table: Make) -> None:
    before = table(pile="moose-5-walrus", hand="orca-5-puffin orca-4-bear", own="fox", sides=(11,))
    found = ask(before, pile="orca-5-puffin moose-5-walrus orca-4-bear", penalty=3)
    assert turn_of(found)[:2] == ["place orca-4-bear", "place orca-5-puffin bottom"]
    assert {"ARC-P.11", "ARC-A.3"} <= set(cited(found))


@pytest.mark.cites("ARC-Q.10")
def test_q10_only_the_last_card_goes_under(table: Make) -> None:
    hand = "orca-5-puffin orca-4-bear orca-3-fox orca-2-moose"
    before = table(pile="moose-3-puffin", hand=hand, own="fox", sides=(11,))
    found = ask(before, pile="orca-4-bear orca-5-puffin moose-3-puffin orca-3-fox")
    assert clauses_of(found) == {"place orca-4-bear bottom": ("ARC-A.3", "ARC-P.11")}
    assert found.to_json()["status"] == "deduced"
    one = ask(before, pile="orca-4-bear moose-3-puffin orca-5-puffin orca-3-fox")
    assert turn_of(one)[:3] == ["place orca-5-puffin", "place orca-3-fox", "place orca-4-bear bottom"]


@pytest.mark.cites("ARC-Q.11", "ARC-A.1")
def test_q11_as_many_cards_as_the_value_says(table: Make) -> None:
    before = table(pile="moose-3-puffin", hand="orca-5-puffin orca-4-bear orca-3-fox orca-2-moose")
    fewer = ask(before, pile="moose-3-puffin orca-5-puffin orca-4-bear")
    assert clauses_of(fewer) == {"end": ("ARC-A.1",)} and fewer.to_json()["status"] == "text"
    more = ask(before, pile="moose-3-puffin orca-5-puffin orca-4-bear orca-3-fox orca-2-moose")
    assert clauses_of(more) == {"place orca-2-moose": ("ARC-A.1",)}
    other = ask(before, pile="moose-3-puffin orca-5-puffin orca-4-bear fox-4-walrus")
    assert clauses_of(other) == {"place fox-4-walrus": ("ARC-A.1",)}


@pytest.mark.cites("ARC-Q.12")
def test_q12_the_bear_takes_back_the_penalty_of_this_turn(table: Make) -> None:
    before = table(pile="moose-2-bear", hand="fox-5-moose", own="bear", sides=(6,))
    found = ask(before, pile="moose-2-bear fox-5-moose", hand=["walrus-5-orca"], penalty=0)
    told = turn_of(found)
    assert told[1] == "penalty walrus-5-orca" and "draw-penalty walrus-5-orca" in told
    assert {"ARC-A.3", "ARC-P.6"} <= set(cited(found))


@pytest.mark.cites("ARC-Q.13")
def test_q13_the_extra_step_from_an_end_goes_inward(table: Make) -> None:
    before = table(hand="fox-5-moose", own="walrus", sides=(1,), tokens={"fox": 10})
    found = ask(before, lands(before, fox=10, moose=1), pile="fox-5-moose")
    assert turn_of(found)[1:3] == ["tokens fox+ moose-", "extra fox-"]
    assert "ARC-P.1" in cited(found) and found.to_json()["status"] == "house ruling"
    assert "extra fox+" not in turn_of(ask(before, lands(before, fox=15, moose=1), pile="fox-5-moose"))


@pytest.mark.cites("ARC-Q.14")
def test_q14_the_last_round_begins_at_once(table: Make) -> None:
    before = table(hand="fox-5-moose", pile_left=0, reserve=5, first=2)
    found = ask(before, lands(before, fox=6, moose=1), pile="fox-5-moose")
    assert "ARC-E.1" in cited(found)
    assert "phases A and B" in found.to_json()["facts"]["because"][-1]["en"]


@pytest.mark.cites("ARC-T.5", "ARC-T.6", "ARC-B.1", "ARC-B.2")
def test_tokens_go_opposite_ways(table: Make) -> None:
    before = table(pile="moose-1-fox", hand="fox-5-moose")
    pile = "moose-1-fox fox-5-moose"
    assert turn_of(ask(before, lands(before, fox=6, moose=1), pile=pile))[1] == "tokens fox+ moose-"
    assert clauses_of(ask(before, lands(before), pile=pile)) == {"end": ("ARC-B.1",)}
    assert clauses_of(ask(before, lands(before, fox=6, moose=6), pile=pile))["tokens fox+ moose+"] == ("ARC-B.1",)
    assert clauses_of(ask(before, lands(before, fox=6, orca=1), pile=pile)) == {"tokens fox+ orca-": ("ARC-B.1",)}
    far = clauses_of(ask(before, lands(before, fox=10, moose=1), pile=pile))
    assert far == {"extra fox+": ("ARC-A.4", "ARC-A.6", "ARC-P.1")}, "two steps need the walrus"
    end = table(pile="moose-1-fox", hand="fox-5-moose", tokens={"fox": 15, "moose": 6})
    assert turn_of(ask(end, lands(end, fox=10, moose=10), pile=pile))[1] == "tokens fox- moose+"
    assert clauses_of(ask(end, lands(end, fox=10, moose=3), pile=pile))["tokens fox- moose-"] == ("ARC-B.2",)


@pytest.mark.cites("ARC-C.1", "ARC-C.2", "ARC-T.8")
def test_as_many_cards_are_drawn_as_the_value_says(table: Make) -> None:
    before = table(pile="moose-1-fox", hand="fox-5-moose orca-5-puffin")
    pile = "moose-1-fox fox-5-moose"
    assert set(clauses_of(ask(before, pile=pile, hand=3)).values()) == {("ARC-C.1",)}
    assert clauses_of(ask(before, pile=pile, hand=1)) == {"end": ("ARC-C.1",)}
    river = {name: place for name, place in before.position()["places"].items() if name.startswith("river")}
    assert clauses_of(ask(before, river, pile=pile)) == {"end": ("ARC-C.1",)}
    seven = "moose-5-walrus moose-4-orca moose-3-puffin moose-2-bear walrus-5-orca walrus-4-puffin walrus-3-bear"
    full = table(pile="bear-1-puffin", hand=f"fox-5-moose {seven}")
    assert clauses_of(ask(full, hand=8)) == {"end": ("ARC-C.2",)}
    assert clauses_of(ask(before, penalty=1)) == {"discard ?": ("ARC-C.2",)}


@pytest.mark.cites("ARC-A.4", "ARC-P.5")
def test_power_cards_and_gifts(table: Make) -> None:
    before = table(pile="moose-1-fox", hand="fox-5-moose orca-5-puffin", penalty="orca-4-bear", sides=(5,))
    wrong = ask(before, pile="moose-1-fox fox-5-moose", powers=["bear"])
    assert not wrong.legal and "ARC-A.4" in cited(wrong)
    gift = ask(before, penalty=0, theirs=1)
    assert clauses_of(gift) == {"give ? p2": ("ARC-A.4", "ARC-A.6", "ARC-P.5")}
    bear = table(pile="moose-1-fox", hand="fox-5-moose", penalty="orca-4-bear", sides=(5,), own="bear")
    assert "give orca-4-bear p2" in turn_of(ask(bear, penalty=0, theirs=1))
    assert not ask(before, theirs=["moose-5-walrus"]).legal


def test_the_command(explained: Make, table: Make, play: Make, capsys: pytest.CaptureFixture[str]) -> None:
    before = table(pile="moose-1-fox", hand="fox-5-moose orca-5-puffin")
    steps = ["place fox-5-moose", "tokens fox+ moose-", "draw bear-5-fox", "river fox-4-walrus"]
    after = play(before, *steps).position()
    assert explained("arctic", before.position(), after) == 0
    out = capsys.readouterr().out
    assert [line.rpartition(" · ")[2] for line in out.splitlines()[1:]] == steps and "ARC-B.1" in out
    bare = before.position()
    del bare["to_move"], bare["players"][0]["hand"]
    partial = {"places": {**after["places"], "river1": None}, "players": [{"pile": after["players"][0]["pile"]}]}
    assert explained("arctic", bare, partial) == 0, "any hand, anybody's turn"
    capsys.readouterr()
    wrong = copy.deepcopy(after)
    wrong["players"][0]["pile"].append("orca-5-puffin")
    assert explained("arctic", before.position(), wrong, "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert told["facts"]["refused"] == ["place orca-5-puffin"] and "ARC-A.1" in told["clauses"]
    assert told["problems"], "the card lies in two places"
    assert told["nearest"] == steps


@pytest.mark.cites("ARC-P.5")
def test_nobody_asks_who_gave_a_penalty_card_that_was_rightly_given(table: Make) -> None:
    """Only a token stands wrong; the other's zone is as a legal turn leaves it."""
    before = table(pile="moose-2-bear", hand="fox-5-moose", own="bear", sides=(5,), penalty="orca-1-fox")
    seen = lands(before, fox=6, moose=1, puffin=15)
    found = ask(before, seen, pile="moose-2-bear fox-5-moose", theirs=["?"])
    assert not found.legal and [one.place for one in found.differences] == ["land3", "land15"]
    assert not any(str(move).startswith("give") for move, _ in found.rulings)
    assert not any("the card an unseen card" in ruling.en for _, ruling in found.rulings)
