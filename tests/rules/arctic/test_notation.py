"""The text form of the steps, and the three errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.rules import arctic, game
from companion.rules.arctic.moves import KINDS
from companion.rules.core import AmbiguousMoveError, IllegalMoveError, InvalidMoveError, RulesError

Make = Callable[..., Any]
ARCTIC = game("arctic")

FULL = [
    "pack 3",
    "side fox 12",
    "totem p2 fox",
    "totem p1 ?",
    "first p4",
    "hand p1 fox-5-moose",
    "hand p3 ?",
    "river fox-5-moose",
    "penalty fox-5-moose",
    "penalty ?",
    "swap fox-5-moose orca-1-walrus",
    "take-back",
    "value +1",
    "value -1",
    "place fox-5-moose",
    "place fox-5-moose bottom",
    "place fox-5-moose under",
    "place ? under",
    "tokens fox+ moose-",
    "extra bear-",
    "draw fox-5-moose",
    "draw-penalty fox-5-moose",
    "draw-penalty ?",
    "draw-pile",
    "refill",
    "give fox-5-moose p2",
    "give ? p4",
    "discard fox-5-moose",
    "discard ?",
    "end",
]


def test_the_list_has_every_kind_of_step() -> None:
    assert {text.split()[0] for text in FULL} == set(KINDS)


@pytest.mark.parametrize("text", FULL)
def test_a_step_reads_back(text: str) -> None:
    move = ARCTIC.parse(text)
    assert str(move) == text
    assert ARCTIC.parse(f"  {text.upper()} ") == move
    assert hash(ARCTIC.parse(text)) == hash(move)


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("pl fox-5-moose", "place fox-5-moose"),
        ("place f-5-m", "place fox-5-moose"),
        ("place f-5-m u", "place fox-5-moose under"),
        ("place fox-5-moose top", "place fox-5-moose"),
        ("place fox-1-b b", "place fox-1-bear bottom"),
        ("tok f+ m-", "tokens fox+ moose-"),
        ("draw-pi", "draw-pile"),
        ("di w-1-m", "discard walrus-1-moose"),
        ("sw b-5-f o-1-w", "swap bear-5-fox orca-1-walrus"),
        ("draw b-2-o", "draw bear-2-orca"),
    ],
)
def test_words_may_be_shortened_while_they_have_one_reading(short: str, full: str) -> None:
    assert str(ARCTIC.parse(short)) == full


@pytest.mark.parametrize(
    "text", ["d fox-5-moose", "p 1", "dra fox-5-moose", "place fox", "place fox-5", "place f--m", "draw fox-5-", "t"]
)
def test_more_than_one_reading_is_an_error_that_lists_them(text: str) -> None:
    with pytest.raises(AmbiguousMoveError) as caught:
        ARCTIC.parse(text)
    assert caught.value.fr != caught.value.en
    assert "," in caught.value.en or " or " in caught.value.en


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "x" * 1000,
        "jump fox-5-moose",
        "place",
        "place fox-5-moose under under",
        "place fox-5-moose sideways",
        "place ?",
        "place ? bottom",
        "place fox-4-moose",
        "place fox-6-moose",
        "place fox-5-fox",
        "place fox-5-moose-1",
        "place 7",
        "draw ?",
        "river ?",
        "swap ? fox-5-moose",
        "swap fox-5-moose ?",
        "tokens fox+",
        "tokens fox moose",
        "tokens cat+ dog-",
        "tokens + -",
        "extra fox",
        "value 1",
        "value +2",
        "give fox-5-moose p5",
        "give fox-5-moose 2",
        "hand fox-5-moose",
        "totem p1 cat",
        "side fox 1",
        "side fox x",
        "first 1",
        "pack 5",
        "end now",
        "take-back fox-5-moose",
        "place fox\x00-5-moose",
        "ｐｌａｃｅ fox-5-moose",
    ],
)
def test_what_is_no_step_is_refused_in_both_languages(text: str) -> None:
    with pytest.raises(InvalidMoveError) as caught:
        ARCTIC.parse(text)
    assert caught.value.en and caught.value.fr and caught.value.en != caught.value.fr
    assert "\n" not in caught.value.en and len(caught.value.en) < 600


def test_a_step_that_is_not_allowed_carries_its_ruling(table: Make) -> None:
    state = table(hand="fox-5-moose")
    with pytest.raises(IllegalMoveError) as caught:
        state.play(ARCTIC.parse("take-back"))
    assert caught.value.ruling.clauses == ("ARC-K.6", "ARC-P.4", "ARC-0.1")
    assert "Ann" in caught.value.position and caught.value.fr != caught.value.en


@settings(max_examples=300)
@given(
    st.text(max_size=90) | st.lists(st.sampled_from([*KINDS, *" ?+-fpmw5", "p1", "fox", "fox-5-moose"])).map(" ".join)
)
def test_any_text_is_a_step_or_an_error(text: str) -> None:
    try:
        move = ARCTIC.parse(text)
    except RulesError as error:
        assert error.en and error.fr
    else:
        assert ARCTIC.parse(str(move)) == move


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_legal_step_of_a_game_reads_back(players: int) -> None:
    rng = Random(players)
    state = ARCTIC.start(ARCTIC.seats(players))
    for _ in range(150):
        moves = list(state.moves())
        assert len(set(moves)) == len(moves)
        for move in moves:
            assert ARCTIC.parse(str(move)) == move
        state = state.play(rng.choice([m for m in moves if "?" not in str(m)]))


def test_the_notation_that_is_documented_is_read() -> None:
    table = (Path(arctic.__file__).parent / "README.md").read_text(encoding="utf-8").split("## Moves")[1].split("##")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    written = [text for row in rows for text in re.findall(r"`([^`]+)`", row)]
    assert {str(ARCTIC.parse(text)) for text in written} == set(written)
    assert {text.split()[0] for text in written} == set(KINDS)
