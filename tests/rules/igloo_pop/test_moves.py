"""The notation: it round-trips, may be shortened, and never breaks."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from companion.rules import game
from companion.rules.core import AmbiguousMoveError, InvalidMoveError
from companion.rules.igloo_pop import IglooPopMove
from companion.rules.igloo_pop import moves as m

POP = game("igloo-pop")
ALL_MOVES = [
    m.START_MOVE,
    *m.TAKES,
    *m.RETURNS,
    *m.PASSES,
    *(move for rows in (m.PLACINGS, m.REVEALS, m.DEALS) for row in rows for move in row),
]


def test_every_move_there_can_be_round_trips() -> None:
    assert len(ALL_MOVES) == len(set(ALL_MOVES)) == len({str(move) for move in ALL_MOVES}) == 478
    for move in ALL_MOVES:
        assert POP.parse(str(move)) == move
        assert hash(POP.parse(str(move))) == hash(move)


def test_a_move_says_what_it_is() -> None:
    move = POP.parse("place violet card9")
    assert (move.kind, move.colour, move.place) == ("place", "violet", "card9")
    reveal = POP.parse("reveal card2 13")
    assert (reveal.kind, reveal.colour, reveal.place, reveal.number) == ("reveal", None, "card2", 13)
    assert (POP.parse("start").kind, POP.parse("start").place) == ("start", None)
    assert POP.parse("deal card1 4/5").card == 14


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("pl r 4", "place red card4"),
        ("  TAKE   Yellow ", "take yellow"),
        ("d 3 4/5", "deal card3 4/5"),
        ("rev card1 2", "reveal card1 2"),
        ("ret v", "return violet"),
        ("s", "start"),
        ("t bla", "take black"),
    ],
)
def test_words_may_be_shortened(short: str, full: str) -> None:
    assert str(POP.parse(short)) == full


@pytest.mark.parametrize(
    ("text", "readings"),
    [("take b", "blue or black"), ("p red", "place or pass"), ("re card1 4", "return or reveal"), ("pa bl", "blue or")],
)
def test_more_than_one_reading_is_an_error_of_its_own(text: str, readings: str) -> None:
    with pytest.raises(AmbiguousMoveError, match=readings) as wrong:
        POP.parse(text)
    assert "plusieurs façons" in wrong.value.fr


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("shake red", "a move begins with one of deal, start"),
        ("frobnicate", "^'frobnicate' is not a move: a move begins with one of deal, start"),
        ("take", "take <colour>"),
        ("take red blue", "take <colour>"),
        ("start now", "the form is start"),
        ("take white", "'white' is not a colour"),
        ("place red card10", "'card10' is not a place"),
        ("place red card0", "'card0' is not a place"),
        ("place red 4/5", "'4/5' is not a place"),
        ("deal card1 5/4", "'5/4' is not a card"),
        ("deal card1 14", "'14' is not a card"),
        ("reveal card1 1", "'1' is not a number"),
        ("reveal card1 14", "'14' is not a number"),
        ("reveal card1 ٤", "is not a number"),
        ("take " + "r" * 80, "at most 64"),
    ],
)
def test_what_is_no_move_is_refused_in_one_sentence(text: str, says: str) -> None:
    with pytest.raises(InvalidMoveError, match=says) as wrong:
        POP.parse(text)
    assert wrong.value.fr != wrong.value.en
    assert "\n" not in str(wrong.value)


WORDS = st.sampled_from(
    ["deal", "start", "take", "return", "place", "pass", "reveal", "re", "red", "b", "card1", "card99", "4", "4/5", "/"]
)


@given(st.one_of(st.text(max_size=80), st.lists(WORDS, max_size=5).map(" ".join)))
@example("\x00")
@example("ﬁ card1 4")
@example("place\u00a0red\u2003card1")
def test_any_text_is_a_move_or_an_error_of_ours(text: str) -> None:
    with suppress(InvalidMoveError, AmbiguousMoveError):
        move = POP.parse(text)
        assert isinstance(move, IglooPopMove)
        assert POP.parse(str(move)) == move
