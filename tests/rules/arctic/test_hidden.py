"""What the table does not know: hands, Penalty zones, totems and face-down cards that nobody has shown."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from companion.rules import game
from companion.rules.arctic.components import UNKNOWN
from companion.rules.arctic.moves import ArcticMove
from companion.rules.core import CHANCE, NOBODY, IllegalMoveError

Make = Callable[..., Any]
ARCTIC = game("arctic")


def test_a_play_from_an_unknown_hand_is_legal_if_it_can_be(table: Make, play: Make, refused: Make, ann: Make) -> None:
    state = table(pile="moose-2-bear", hand="? ?", penalty="fox-4-walrus", others=({"pile": ["fox-3-orca"]},))
    for text, lies in (
        ("place moose-2-bear", "her pile"),
        ("place fox-4-walrus", "her Penalty zone"),
        ("place fox-3-orca", "Bob's pile"),
        ("place bear-5-fox", "the River"),
        ("place fox-5-orca", "a pack that is not in the game"),
    ):
        assert refused(state, text).clauses == ("ARC-A.1",), lies
    state = play(state, "place fox-5-moose")
    assert ann(state)["hand"] == ["?"] and ann(state)["pile"][-1] == "fox-5-moose"
    assert refused(state, "place fox-5-moose").clauses == ("ARC-A.1",), "it lies on her pile now"


def test_a_card_that_a_player_took_from_the_river_is_nobody_elses(table: Make, play: Make, refused: Make) -> None:
    state = table(hand="fox-5-moose", others=({"hand": ["?", "?", "?"]},))
    state = play(state, "place fox-5-moose", "tokens fox+ moose-", "draw bear-5-fox", "river fox-4-walrus")
    assert state.to_move == 1
    assert refused(state, "place bear-5-fox").clauses == ("ARC-A.1",)
    assert "cannot have" in refused(state, "place bear-5-fox").en


@pytest.mark.parametrize("left", [0, 1])
def test_the_box_is_counted(table: Make, texts: Make, left: int) -> None:
    """All cards but those of the hand, and one more, are seen: the hand can be nothing else."""
    every = [str(m).split()[1] for m in table(hand="?", river="", pile_left=0).legal_moves]
    assert len(every) == 60
    state = table(hand="?", river="", others=({"hand": every[1 + left :]},), pile_left=left, reserve=0, stage="last")
    assert texts(state, "place") == {f"place {card}" for card in every[: 1 + left]}


# --- what moves unseen ------------------------------------------------------------------------------------------------


def over_the_limit(table: Make, play: Make) -> Any:
    """Return Ann's end of turn with eight cards, one of which was seen to come from the River."""
    state = table(hand="fox-5-moose ? ? ? ? ? ? ?", totem="?")
    return play(state, "place fox-5-moose", "tokens fox+ moose-", "draw bear-5-fox", "river fox-4-walrus")


def test_a_card_put_away_unseen_may_be_one_that_was_seen_to_be_drawn(
    table: Make, play: Make, refused: Make, texts: Make, ann: Make
) -> None:
    state = over_the_limit(table, play)
    assert "discard ?" in texts(state)
    state = play(state, "discard ?")
    assert ann(state)["hand"] == ["?"] * 7 and ann(state)["penalty"] == ["?"]
    assert ann(state)["unseen"] == ["bear-5-fox"]
    assert refused(state, "place bear-5-fox").clauses == ("ARC-A.1",), "Bob cannot have it"
    mine = ARCTIC.from_position(state.position() | {"to_move": 1})
    assert ARCTIC.parse("place bear-5-fox") in mine.legal_moves, "Ann may still have it"
    assert ARCTIC.parse("place orca-5-puffin") in mine.legal_moves, "or any other that nobody has seen"
    shown = play(mine, "place bear-5-fox")
    assert ann(shown)["unseen"] == [] and ann(shown)["hand"] == ["?"] * 6


def test_who_sees_all_knows_what_leaves_a_hand(table: Make, play: Make, refused: Make, texts: Make) -> None:
    seven = "moose-5-walrus moose-4-orca moose-3-puffin moose-2-bear walrus-5-orca walrus-4-puffin walrus-3-bear"
    state = table(hand=f"fox-5-moose {seven}", totem="bear")
    state = play(state, "place fox-5-moose", "tokens fox+ moose-", "draw bear-5-fox", "river fox-4-walrus")
    assert len(texts(state, "discard")) == 8 and "discard ?" not in texts(state)
    assert refused(state, "discard ?").clauses == ("ARC-C.2",)


def test_when_all_unseen_cards_are_spoken_for_nothing_else_can_be_there(
    table: Make, texts: Make, refused: Make
) -> None:
    players = [
        {"name": "Ann", "hand": ["?"], "penalty": ["?"], "unseen": ["fox-5-moose", "fox-4-walrus"]},
        {"name": "Bob", "hand": ["?"]},
    ]
    state = ARCTIC.from_position({"game": "arctic", "players": players, "packs": [1, 2]})
    assert texts(state, "place") == {"place fox-5-moose", "place fox-4-walrus"}
    assert refused(state, "place fox-3-orca").clauses == ("ARC-A.1",)
    assert refused(state, "place fox-3-orca").legal is False


def test_a_card_placed_face_down_is_not_seen(table: Make, play: Make, texts: Make, ann: Make) -> None:
    state = table(pile="moose-1-fox", hand="orca-5-puffin orca-4-bear", own="fox", sides=(12,), totem="?")
    assert texts(state, "place") == {
        *("place orca-5-puffin", "place orca-4-bear", "place orca-5-puffin under", "place orca-4-bear under"),
        "place ? under",
    }
    state = play(state, "place ? under")
    assert ann(state)["pile"] == ["down:?", "moose-1-fox"] and ann(state)["hand"] == ["?"]
    assert ann(state)["unseen"] == ["orca-5-puffin", "orca-4-bear"]
    assert state.problems() == ()


def test_a_card_given_unseen_may_be_any_of_the_givers(table: Make, play: Make, texts: Make, ann: Make) -> None:
    state = table(hand="fox-5-moose moose-5-walrus", penalty="orca-3-fox ?", own="bear", sides=(5,), totem="?")
    state = play(state, "place fox-5-moose", "tokens fox+ moose-")
    assert {"give orca-3-fox p2", "give ? p2"} <= texts(state, "give")
    state = play(state, "give ? p2")
    assert ann(state)["penalty"] == ["?"] and ann(state)["unseen"] == []
    assert state.position()["players"][1]["penalty"] == ["?"]
    bob = ARCTIC.from_position(state.position() | {"to_move": 2, "phase": "A", "value": 1})
    assert ARCTIC.parse("place orca-3-fox") in bob.legal_moves
    assert ARCTIC.parse("place moose-5-walrus") not in bob.legal_moves, "that is still in Ann's hand"


def test_a_card_drawn_back_unseen(table: Make, play: Make, texts: Make, ann: Make) -> None:
    state = table(hand="fox-5-moose", penalty="orca-3-fox", own="bear", sides=(6,), totem="?")
    state = play(state, "place fox-5-moose", "tokens fox+ moose-")
    assert {"draw-penalty orca-3-fox", "draw-penalty ?"} <= texts(state)
    state = play(state, "draw-penalty ?")
    assert ann(state)["hand"] == ["?"] and ann(state)["unseen"] == ["orca-3-fox"]


def test_what_comes_to_lie_face_up_is_named(table: Make, refused: Make) -> None:
    state = table(pile="moose-1-fox", hand="? ?", own="puffin fox", sides=(3, 11), totem="?")
    for move in (
        ArcticMove("place", UNKNOWN),
        ArcticMove("place", UNKNOWN, 1),
        ArcticMove("swap", UNKNOWN, state.river[0]),
        ArcticMove("swap", state.river[0], UNKNOWN),
    ):
        assert move not in state.legal_moves
        assert state.check(move).clauses
        with pytest.raises(IllegalMoveError):
            state.play(move)


# --- what players see -------------------------------------------------------------------------------------------------


def test_a_view_hides_hands_penalties_totems_and_face_down_cards(table: Make) -> None:
    state = table(
        pile="fox-5-moose down:orca-5-puffin orca-3-fox",
        hand="fox-4-walrus fox-3-orca",
        penalty="fox-2-puffin",
        sides=(12,),
        totem="moose",
        others=({"hand": ["moose-5-walrus"], "totem": "fox"},),
    )
    for viewer in (1, None):
        seen = state.view(viewer)["players"][0]
        assert seen["pile"] == ["fox-5-moose", "down:?", "orca-3-fox"]
        assert (seen["hand"], seen["penalty"], seen["totem"]) == (["?", "?"], ["?"], "?")
    assert state.view(0)["players"][0] == state.position()["players"][0]
    assert state.view(0)["players"][1]["hand"] == ["?"] and state.view(0)["players"][1]["totem"] == "?"
    secrets = ["fox-4-walrus", "fox-3-orca", "fox-2-puffin", "orca-5-puffin", "moose-5-walrus"]
    assert not any(card in str(state.view(None)) for card in secrets)
    assert state.view(None)["places"] == state.position()["places"]
    over = ARCTIC.from_position(state.position() | {"phase": "over", "stage": "last", "reserve": 0})
    assert over.view(None)["players"][0]["totem"] == "moose", "shown at the end"


@pytest.mark.parametrize("players", [2, 3, 4])
def test_what_is_legal_is_legal_for_whoever_sees_less(players: int) -> None:
    """A bystander replays a whole game from what is public, and never finds a legal step impossible."""
    for seed in range(3):
        rng = Random(seed)
        state = ARCTIC.start(ARCTIC.seats(players))
        while state.to_move != NOBODY:
            move = state.chance(rng) if state.to_move == CHANCE else rng.choice(list(state.moves()))
            if rng.random() < 0.3 and state.phase != "setup":
                less = ARCTIC.from_position(state.view(rng.choice([None, *range(players)])))
                assert less.problems() == ()
                assert move in less.legal_moves, (str(move), less.check(move).en)
            state = state.after(move)


def in_public(text: str) -> str:
    """Return a step as the table sees it: cards that nobody shows, and totems, are ``?``."""
    verb, *rest = text.split()
    if verb in {"hand", "penalty", "draw-penalty", "give", "discard"} or rest[-1:] == ["under"]:
        rest = ["?" if "-" in word else word for word in rest]
    return " ".join([verb, *(rest if verb != "totem" else [rest[0], "?"])])


@pytest.mark.parametrize("players", [2, 4])
def test_a_bystander_can_follow_a_whole_game(players: int) -> None:
    """The record as the table knows it: what is secret is ``?``; every step is legal and nothing ever gets stuck."""
    for seed in range(4):
        rng = Random(seed)
        state = known = ARCTIC.start(ARCTIC.seats(players))
        while state.to_move != NOBODY:
            move = state.chance(rng) if state.to_move == CHANCE else rng.choice(list(state.moves()))
            public = ARCTIC.parse(in_public(str(move)))
            assert public in known.legal_moves, (str(move), known.check(public).en)
            state, known = state.after(move), known.after(public)
            assert known.problems() == ()
            assert bool(known.legal_moves) == (known.to_move != NOBODY)
        assert known.phase == "totems"
        for seat in range(players):
            known = known.play(ARCTIC.parse(f"totem p{seat + 1} {state.position()['players'][seat]['totem']}"))
        assert known.score().ranking == state.score().ranking
        assert [s.total for s in known.score().sheets] == [s.total for s in state.score().sheets]
