"""The notation: every move is said in one way and read back; what is no move is refused in one sentence."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.rules import game
from companion.rules.core import AmbiguousMoveError, IllegalMoveError, InvalidMoveError
from companion.rules.iglu_iglu import moves as m
from companion.rules.iglu_iglu import public
from companion.rules.playouts import playout

IGLU = game("iglu-iglu")
SQUARES = st.integers(0, 63)
COLOURS = st.sampled_from(["red", "blue", "yellow", "green"])
TOKENS = st.integers(0, 6)
FACES = st.sampled_from(
    ["fish 2", "fish 3", "bear", "pack", "drift", "thaw", "harpoon", "animals", "endurance 4", "kept"]
)
MOVES = st.one_of(
    st.builds(m.PlaceInuit, COLOURS, SQUARES),
    st.builds(m.Draw, SQUARES, TOKENS),
    st.builds(m.Melt, SQUARES),
    st.builds(m.Accept, SQUARES),
    st.builds(m.PutBack, SQUARES),
    st.builds(m.Reveal, SQUARES, FACES),
    st.builds(m.Drift, SQUARES, st.sampled_from("nesw")),
    st.just(m.DRIFT_NONE),
    st.builds(m.Displace, SQUARES, SQUARES, st.none() | TOKENS),
    st.builds(m.Thaw, SQUARES),
    st.builds(m.Endurance, st.integers(1, 9)),
    st.just(m.THE_ANIMALS),
    st.builds(m.Step, TOKENS, SQUARES, SQUARES),
    st.just(m.THE_STOP),
    st.builds(m.Defend, COLOURS, st.booleans()),
    st.builds(m.Flee, COLOURS, SQUARES, SQUARES),
    st.builds(m.Walk, SQUARES, SQUARES, st.booleans()),
    st.builds(m.Kayak, SQUARES, SQUARES, st.booleans()),
    st.builds(m.Hunt, SQUARES, TOKENS, st.booleans()),
    st.builds(m.Build, SQUARES),
    st.just(m.THE_END),
)


@given(MOVES)
def test_every_move_is_read_back(move: m.IgluMove) -> None:
    text = str(move)
    assert IGLU.parse(text) == move
    assert hash(IGLU.parse(text)) == hash(move)
    assert IGLU.parse(f"  {text.upper()} ") == move
    assert type(IGLU.parse(text)) in IGLU.move_types


def test_moves_of_different_kinds_are_different() -> None:
    assert m.Melt(3) != m.Thaw(3) != m.Build(3)
    assert m.Walk(1, 2) != m.Kayak(1, 2)
    assert m.Walk(1, 2) != m.Walk(1, 2, True)


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("w b2 b3", "walk b2 b3"),
        ("k b2 f5 harpoon", "kayak b2 f5 harpoon"),
        ("hu d4 bear", "hunt d4 bear"),
        ("e", "end"),
    ],
)
def test_a_verb_may_be_shortened(short: str, full: str) -> None:
    if short == "e":
        with pytest.raises(AmbiguousMoveError):
            IGLU.parse(short)
        assert str(IGLU.parse("en" + "d")) == full
    else:
        assert str(IGLU.parse(short)) == full


@pytest.mark.parametrize(
    ("text", "readings"),
    [("h d4 bear", "hunt or harpoon"), ("dr d3 n", "draw or drift"), ("p red a4", "place or putback")],
)
def test_a_verb_with_two_readings_is_ambiguous(text: str, readings: str) -> None:
    with pytest.raises(AmbiguousMoveError) as error:
        IGLU.parse(text)
    assert readings in error.value.en and error.value.fr != error.value.en


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "jump b2", "walk", "walk b2", "walk b2 i9", "walk b2 b3 gun", "walk b2 b3 harpoon now"),
        *("kayak a1 a9", "place red", "place pink a4", "place a4 red", "melt", "melt c4 c5", "melt C9", "end now"),
        *("animals 3", "stop it", "reveal c4", "reveal c4 fish", "reveal c4 fish 4", "reveal c4 endurance 0"),
        *("reveal c4 endurance 10", "reveal kept", "reveal c4 endurance ²", "draw c4", "draw c4 fish 4"),
        *("draw c4 bear 4", "drift d3", "drift d3 x", "drift", "drift d3 n n", "displace d6", "displace d6 c6 inuit"),
        *("endurance", "endurance two", "endurance 0", "endurance 10", "endurance 1 2", "move c4 c5", "move fish 2 c4"),
        *("move seal c4 c5", "move", "defend", "defend pink", "decline red now", "thaw", "flee red d3"),
        *("flee red d3 a1 a8", "hunt d4", "hunt d4 fish", "harpoon bear", "build", "build d4 d5", "x" * 201),
        *("walk b2 b3" + " " * 200, "\x00", "walk b² b3", "🐟"),
    ],
)
def test_what_is_no_move_is_said_in_one_sentence(text: str) -> None:
    with pytest.raises(InvalidMoveError) as error:
        IGLU.parse(text)
    assert len(error.value.en) < 450 and "\n" not in error.value.en
    assert error.value.fr != error.value.en


@given(st.text(max_size=40))
def test_rubbish_never_ends_in_another_error(text: str) -> None:
    try:
        move = IGLU.parse(text)
    except (InvalidMoveError, AmbiguousMoveError):
        return
    assert IGLU.parse(str(move)) == move


def test_others_do_not_see_which_red_tile_was_drawn() -> None:
    for face in ("thaw", "harpoon", "animals", "endurance 3", "kept"):
        assert str(public(IGLU.parse(f"reveal c4 {face}"))) == "reveal c4 kept"
    for text in ("reveal c4 fish 3", "reveal c4 bear", "reveal c4 pack", "reveal c4 drift", "walk b2 b3"):
        assert str(public(IGLU.parse(text))) == text


def test_a_refused_move_raises_with_its_ruling() -> None:
    state = IGLU.start(IGLU.seats(2))
    with pytest.raises(IllegalMoveError) as error:
        state.play(IGLU.parse("walk b2 b3"))
    assert error.value.ruling.clauses == ("IGLU-S.2",)
    assert str(state) in str(error.value)
    assert "melt" not in state.legal_moves


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_record_is_read_back_and_cut_anywhere(seats: int) -> None:
    record, last = playout(IGLU, seats, Random(100 + seats))
    replay = record.replay()
    assert replay.error is None and replay.state == last
    for cut in range(0, len(record.moves), 37):
        assert record.prefix(cut).replay().state == replay.at(cut)
