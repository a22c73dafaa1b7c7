"""The text of a step: what is one, what is none, and what has several readings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.rules import game
from companion.rules.core import AmbiguousMoveError, InvalidMoveError

ICE = game("ice-team")
EVERY = [
    *("floe a1 penguin2-fragile", "first green", "first red", "walk start a1", "leap a1 a3", "swim d8 village"),
    *("stop", "pick 1", "roll 2 steal", "roll 1 fish6", "freeze 0", "freeze 4", "drift a5", "push b4", "choose 2"),
]


@pytest.mark.parametrize("text", EVERY)
def test_a_step_says_what_it_was_read_from(text: str) -> None:
    move = ICE.parse(text)
    assert str(move) == text
    assert ICE.parse(f"  {text.upper()} ") == move
    assert hash(move) == hash(ICE.parse(text))


@pytest.mark.parametrize(
    ("text", "full"),
    [("w a1 a2", "walk a1 a2"), ("l a1 a3", "leap a1 a3"), ("sw a1 a3", "swim a1 a3"), ("fr 2", "freeze 2"),
     ("fi red", "first red"), ("fl a1 paw", "floe a1 paw"), ("pu a1", "push a1"), ("d a1", "drift a1"),
     ("r 1 steal", "roll 1 steal"), ("c 1", "choose 1"), ("s", "stop"), ("s a1 a3", "swim a1 a3"),
     ("f a1 paw", "floe a1 paw")],
)  # fmt: skip
def test_a_verb_may_be_shortened_while_it_has_one_reading(text: str, full: str) -> None:
    assert str(ICE.parse(text)) == full


@pytest.mark.parametrize("text", ["f red", "f 1", "p 1"])
def test_a_shortened_verb_with_two_readings_is_ambiguous(text: str) -> None:
    with pytest.raises(AmbiguousMoveError, match="may mean") as wrong:
        ICE.parse(text)
    assert "lettre" in wrong.value.fr


@pytest.mark.parametrize(
    "text",
    ["", " ", "jump a1 a2", "walk a1", "walk a1 a2 a3", "stop now", "first", "first blue", "pick 3", "choose 0",
     "roll 3 steal", "freeze 5", "freeze -1", "freeze x", "walk é1 a2", "walk " + "a" * 21 + " a2", "w" * 100,
     "stop\x00", "freeze ٢", "walkk a1 a2"],
)  # fmt: skip
def test_what_is_no_step_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(InvalidMoveError) as wrong:
        ICE.parse(text)
    assert wrong.value.en and wrong.value.fr != wrong.value.en


@given(st.text(max_size=90) | st.from_regex(r"(walk|leap|drift|fre|roll|p|f)( [a-d0-9]{1,2}){0,3}", fullmatch=True))
def test_any_text_is_a_step_or_none(text: str) -> None:
    try:
        move = ICE.parse(text)
    except (InvalidMoveError, AmbiguousMoveError) as wrong:
        assert wrong.en and wrong.fr
    else:
        assert ICE.parse(str(move)) == move
