"""How the game ends: ARC-E.1 to E.6, with both readings of the trigger."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from companion.rules import game
from companion.rules.core import CHANCE, NOBODY

Make = Callable[..., Any]
ARCTIC = game("arctic")
BGA = {"arc.end_trigger": "bga"}


def one_draw_left(table: Make, play: Make, left: int, reserve: int = 5, **fields: Any) -> Any:
    """Return Ann's phase C with one card to draw, and so many cards in the pile before the Reserve."""
    state = table(hand="fox-5-moose", pile_left=left, reserve=reserve, **fields)
    return play(state, "place fox-5-moose", "tokens fox+ moose-")


@pytest.mark.cites("ARC-E.1", "ARC-E.5")
def test_a_refill_that_finds_no_card_makes_the_reserve_the_pile(table: Make, play: Make) -> None:
    state = one_draw_left(table, play, left=0)
    ruling = state.check(state.game.parse("draw bear-5-fox"))
    assert "ARC-E.1" in ruling.clauses and "Reserve" in ruling.en and "Réserve" in ruling.fr
    assert ruling.status == "text"
    state = play(state, "draw bear-5-fox")
    assert (state.stage, state.pile_left, state.reserve) == ("final", 5, 0)
    assert state.phase == "refill", "the River is completed from the final pile"
    state = play(state, "river fox-4-walrus")
    assert len(state.river) == 6 and state.to_move == 1


@pytest.mark.cites("ARC-E.1", "ARC-E.2", "ARC-Q.14")
@pytest.mark.parametrize("trigger", [0, 1, 2])
def test_play_goes_on_to_the_footprint_holder_then_a_and_b_for_everybody(table: Make, play: Make, trigger: int) -> None:
    others = tuple({"hand": ["?"] * 6} for _ in range(2))
    first = (0 - trigger) % 3
    state = one_draw_left(table, play, left=0, reserve=10, others=others, first=first + 1)
    state = play(state, "draw bear-5-fox", "river fox-4-walrus")
    turns = []
    rng = Random(2)
    while state.to_move != NOBODY and state.phase != "totems":
        if state.phase == "A" and not (state.count or state.used):
            turns.append((state.to_move, state.stage))
        moves = [m for m in state.legal_moves if "?" not in str(m)]
        after = state.play(state.chance(rng) if state.to_move == CHANCE else rng.choice(moves))
        assert not (after.stage == "last" and after.phase in {"C", "refill", "drawn", "D"})
        state = after
    begun = list(dict.fromkeys(turns))
    last = [(seat % 3, "last") for seat in range(first, first + 3)]
    assert begun == [(seat, "final") for seat in range(1, 3) if (seat - first) % 3 > trigger] + last
    assert state.outcome() is not None


@pytest.mark.cites("ARC-E.2")
def test_everybody_has_the_same_number_of_turns() -> None:
    for players in (2, 3, 4):
        for seed in range(6):
            state, rng, turns = ARCTIC.start(ARCTIC.seats(players)), Random(seed), [0] * players
            seat = -1
            while state.to_move != NOBODY:
                if state.seat != seat and state.seat >= 0:
                    seat = state.seat
                    turns[seat] += 1
                if state.to_move == CHANCE:
                    state = state.after(state.chance(rng))
                else:
                    state = state.after(rng.choice(list(state.moves())))
            assert len(set(turns)) == 1, turns


@pytest.mark.cites("ARC-E.1")
def test_the_last_card_for_the_river_is_no_trigger_by_the_strict_reading(table: Make, play: Make) -> None:
    state = play(one_draw_left(table, play, left=1), "draw bear-5-fox")
    ruling = state.check(state.game.parse("river fox-4-walrus"))
    assert "ARC-E.1" not in ruling.clauses
    state = play(state, "river fox-4-walrus")
    assert (state.stage, state.pile_left, state.reserve) == ("normal", 0, 5)


def test_e3_the_option_makes_the_last_card_the_trigger(table: Make, play: Make) -> None:
    state = play(one_draw_left(table, play, left=1, options=BGA), "draw bear-5-fox")
    ruling = state.check(state.game.parse("river fox-4-walrus"))
    assert "ARC-E.3" in ruling.clauses
    assert (ruling.status, ruling.option) == ("house ruling", "arc.end_trigger")
    state = play(state, "river fox-4-walrus")
    assert (state.stage, state.pile_left, state.reserve) == ("final", 5, 0)
    two = play(one_draw_left(table, play, left=2, options=BGA), "draw bear-5-fox", "river fox-4-walrus")
    assert two.stage == "normal"


def test_e4_a_penalty_that_finds_no_card_opens_the_reserve_too(table: Make, play: Make) -> None:
    state = table(pile="fox-3-orca", hand="fox-5-moose", pile_left=1, reserve=5)
    state = play(state, "place fox-5-moose", "penalty fox-4-walrus")
    assert (state.stage, state.pile_left, state.phase) == ("final", 5, "penalty")
    ruling = play(table(pile="fox-3-orca", hand="fox-5-moose", pile_left=1, reserve=5), "place fox-5-moose").check(
        state.game.parse("penalty fox-4-walrus")
    )
    assert "ARC-E.4" in ruling.clauses and ruling.status == "house ruling"


def test_e6_a_penalty_that_takes_the_last_card_is_no_trigger(table: Make, play: Make) -> None:
    state = table(pile="fox-2-puffin", hand="fox-5-moose", pile_left=1, reserve=5)
    after = play(state, "place fox-5-moose", "penalty fox-4-walrus")
    assert (after.stage, after.pile_left, after.reserve) == ("normal", 0, 5)
    early = table(pile="fox-2-puffin", hand="fox-5-moose", pile_left=1, reserve=5, options=BGA)
    early = play(early, "place fox-5-moose", "penalty fox-4-walrus")
    assert (early.stage, early.pile_left) == ("final", 5)


def test_e6_a_draw_that_finds_no_card_is_the_trigger(table: Make, play: Make) -> None:
    state = one_draw_left(table, play, left=0, own="orca", sides=(8,))
    ruling = state.check(state.game.parse("draw-pile"))
    assert "ARC-E.6" in ruling.clauses and ruling.status == "house ruling"
    state = play(state, "draw-pile")
    assert (state.stage, state.pile_left) == ("final", 5)
    last = play(one_draw_left(table, play, left=1, own="orca", sides=(8,)), "draw-pile", "hand p1 ?")
    assert (last.stage, last.pile_left) == ("normal", 0)


def test_e4_where_even_the_reserve_is_empty_missing_cards_cost_nothing(table: Make, play: Make, ann: Make) -> None:
    state = table(pile="fox-3-orca", hand="fox-5-moose", pile_left=1, reserve=0, stage="final")
    state = play(state, "place fox-5-moose", "penalty fox-4-walrus")
    assert state.phase == "B" and len(ann(state)["penalty"]) == 1, "one of two"
    none = table(pile="fox-3-orca", hand="fox-5-moose", pile_left=0, reserve=0, stage="last")
    assert play(none, "place fox-5-moose").phase == "B"


@pytest.mark.cites("ARC-E.1")
def test_in_the_last_round_nobody_draws_and_no_hand_is_too_long(table: Make, play: Make) -> None:
    hand = "fox-4-walrus fox-3-orca fox-2-puffin moose-5-walrus moose-4-orca moose-3-puffin moose-2-bear"
    state = table(pile="fox-1-bear", hand=hand, own="puffin moose", sides=(4, 10), stage="last", reserve=0)
    state = play(state, "take-back", "value -1")
    assert state.to_move == 1 and len(state.hands[0]) == 8
    assert state.problems() == ()


@pytest.mark.cites("ARC-E.1", "ARC-V.3")
def test_the_totems_are_shown_at_the_end(table: Make, play: Make, refused: Make, texts: Make) -> None:
    state = table(
        hand="fox-5-moose",
        stage="last",
        reserve=0,
        first=2,
        totem="?",
        others=({"totem": "fox"},),
        tokens={"moose": 10},
    )
    state = play(state, "place fox-5-moose")
    ruling = state.check(state.game.parse("tokens fox+ moose-"))
    assert "ARC-E.1" in ruling.clauses and "last turn" in ruling.en
    state = play(state, "tokens fox+ moose-")
    assert state.phase == "totems" and state.to_move == CHANCE and state.outcome() is None
    assert texts(state) == {f"totem p1 {a}" for a in ("moose", "walrus", "orca", "puffin", "bear")}
    assert refused(state, "totem p1 fox").clauses == ("ARC-S.4", "ARC-K.7")
    assert refused(state, "totem p2 bear").clauses == ("ARC-S.4",)
    assert refused(state, "totem p1 ?").clauses == ("ARC-V.3",)
    assert refused(state, "river fox-3-orca").clauses == ("ARC-0.1",)
    state = play(state, "totem p1 moose")
    assert state.to_move == NOBODY
    outcome = state.outcome()
    assert outcome is not None and "ARC-E.1" in outcome.clauses
    assert state.end_reason.key == "ended" and state.ranking_reason is not None


def test_a_game_without_a_reserve_ends_all_the_same(table: Make, play: Make) -> None:
    state = one_draw_left(table, play, left=0, reserve=0)
    assert [p.key for p in state.problems() if p.key == "reserve-wrong"]
    assert play(state, "draw bear-5-fox").stage == "final"
