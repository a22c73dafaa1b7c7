"""Clause by clause: what is allowed, what is refused and by which clause, how rounds and games end."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from companion.rules import game
from companion.rules.core import ANYBODY, CHANCE, NOBODY, IllegalMoveError, SetupError
from companion.rules.igloo_pop import FAULTS, PLACES, fault_ruling, series_winners
from companion.rules.igloo_pop.score import decisions

Make = Callable[..., Any]


def by(ruling: Any, *clauses: str) -> None:
    """Assert that a ruling cites clauses and says something in both languages."""
    assert set(clauses) <= set(ruling.clauses)
    assert ruling.en and ruling.fr and ruling.en != ruling.fr


# --- set-up ----------------------------------------------------------------------------------------------------


@pytest.mark.cites("POP-1.1")
def test_the_set_up_lays_nine_cards_and_keeps_the_rest(play: Make, refused: Make) -> None:
    played = game("igloo-pop")
    state = played.start(played.seats(3))
    assert (state.phase, state.to_move, state.stack_left, state.village_left) == ("deal", CHANCE, 33, 12)
    assert len(state.legal_moves) == 9 * 33
    state = play(state, "deal card1 4/5")
    by(refused(state, "deal card1 7"), "POP-1.1")
    by(refused(state, "deal card2 4/5"), "POP-K.4")
    by(refused(state, "start"), "POP-1.1", "POP-M.7")
    assert state.check(played.parse("deal card2 7")).clauses == ("POP-1.1",)
    rng = Random(5)
    while state.phase == "deal":
        state = state.play(state.chance(rng))
    assert (state.phase, state.to_move, state.stack_left) == ("ready", ANYBODY, 24)
    assert all(state.cards.values())
    by(refused(state, "deal card1 7"), "POP-1.1")


@pytest.mark.cites("POP-1.1")
@pytest.mark.parametrize(
    ("players", "options", "setup", "says"),
    [
        (["red"], {}, {}, "2 to 6"),
        (["red", "yellow", "green", "blue", "violet", "black", "red"], {}, {}, "2 to 6"),
        (["red", "red"], {}, {}, "both play red"),
        (["red", "white"], {}, {}, "'white'"),
        (["red", 5], {}, {}, "'5'"),
        (["red", "blue"], {"pop.speed": 1}, {}, "pop.speed"),
        (["red", "blue"], {"pop.cards_end": "never"}, {}, "'never'"),
        (["red", "blue"], {"pop.cards_end": True}, {}, "True"),
        (["red", "blue"], {}, {"beads": 90}, "'beads'"),
        (["red", "blue"], {}, {"cards": "4/5"}, "list"),
        (["red", "blue"], {}, {"cards": ["2"] * 10}, "up to 9"),
        (["red", "blue"], {}, {"cards": ["2", "2"]}, "twice"),
        (["red", "blue"], {}, {"cards": ["5/4"]}, "'5/4'"),
        (["red", "blue"], {}, {"cards": [7]}, "'7'"),
    ],
)
def test_a_set_up_that_does_not_fit_is_refused_in_one_sentence(
    players: list, options: dict, setup: dict, says: str
) -> None:
    with pytest.raises(SetupError, match=says) as wrong:
        game("igloo-pop").start([{"name": "N", "colour": c} for c in players], options, setup)
    assert wrong.value.fr != wrong.value.en


@pytest.mark.parametrize("name", ["", "x" * 61, 7, None, "a\nb", "\ud800", "\x1b[31m"])
def test_a_name_is_a_short_printable_text(name: object) -> None:
    with pytest.raises(SetupError, match="name"):
        game("igloo-pop").start([{"name": name, "colour": "red"}, {"colour": "blue"}])


def test_a_player_who_is_no_object_is_refused() -> None:
    with pytest.raises(SetupError, match="object"):
        game("igloo-pop").start(["red", "blue"])


def test_a_player_without_a_name_is_called_by_the_colour() -> None:
    state = game("igloo-pop").start([{"colour": "red"}, {"colour": "blue"}])
    assert state.names == ("red", "blue")


def test_a_set_up_may_leave_places_open() -> None:
    state = game("igloo-pop").start([{"colour": "red"}, {"colour": "blue"}], {}, {"cards": ["2", None, "4/5"]})
    assert state.phase == "deal"
    assert [place for place, card in state.cards.items() if card] == ["card1", "card3"]
    assert state.stack_left == 31


# --- shaking and placing ---------------------------------------------------------------------------------------


@pytest.mark.cites("POP-1.2", "POP-2.1", "POP-M.7")
def test_nothing_is_taken_before_the_count_to_three(ready: Make, play: Make, refused: Make) -> None:
    state = ready()
    for text in ("take red", "place red card1", "pass red", "return red"):
        by(refused(state, text), "POP-1.2", "POP-2.1")
    by(state.check(state.game.parse("start")), "POP-1.2", "POP-M.7")
    running = play(state, "start")
    assert (running.phase, running.round, running.to_move) == ("shaking", 1, ANYBODY)
    by(refused(running, "start"), "POP-1.2")


@pytest.mark.cites("POP-2.1", "POP-2.2", "POP-M.1")
def test_one_igloo_at_a_time(shaking: Make, play: Make, refused: Make) -> None:
    state = shaking()
    by(state.check(state.game.parse("take red")), "POP-2.1", "POP-2.2", "POP-M.1")
    state = play(state, "take red")
    assert state.hands == {"red"}
    assert state.village_left == 11
    by(refused(state, "take red"), "POP-2.2", "POP-M.1")
    assert play(state, "take yellow").hands == {"red", "yellow"}


@pytest.mark.cites("POP-2.3", "POP-M.2", "POP-M.3")
def test_an_igloo_is_placed_or_returned(shaking: Make, play: Make, refused: Make) -> None:
    state = shaking()
    by(refused(state, "return red"), "POP-2.3", "POP-M.2")
    held = play(state, "take red")
    by(held.check(held.game.parse("return red")), "POP-2.3", "POP-M.2")
    assert play(held, "return red") == state
    placed = play(held, "place red card4")
    by(held.check(held.game.parse("place red card4")), "POP-2.3", "POP-2.5", "POP-M.3")
    assert placed == play(state, "place red card4"), "taking need not be announced"
    assert (placed.hands, placed.village_left, placed.own["red"]) == (frozenset(), 11, 9)


@pytest.mark.cites("POP-2.3", "POP-M.3")
def test_no_igloo_on_a_place_without_a_card(refused: Make, play: Make) -> None:
    played = game("igloo-pop")
    laid = {f"card{n + 1}": {"ground": c} for n, c in enumerate(["2", "3", "4", "5", "6", "7", "8", "9"])}
    position = {
        "places": {**laid, "card9": {"ground": "empty"}},
        "phase": "shaking",
        "short_round": True,
        "players": [{"colour": "red"}, {"colour": "blue"}],
        "options": {"pop.cards_end": "last_round"},
    }
    state = played.from_position(position)
    by(refused(state, "place red card9"), "POP-2.3", "POP-M.3")
    assert play(state, "place red card8").igloos["card8"]


@pytest.mark.cites("POP-2.1", "POP-2.3", "POP-2.5", "POP-2.7")
def test_several_reasons_at_once_are_all_told(shaking: Make, play: Make, refused: Make, ready: Make) -> None:
    state = play(shaking("red", "blue"), *["place red card1"] * 10, "place blue card2", "take blue")
    ruling = refused(state, "take red")
    by(ruling, "POP-2.1", "POP-2.5", "POP-2.7")
    assert ruling.facts["also"] == ["village-empty"]
    assert "no thaler" in ruling.en and "village is empty" in ruling.en
    assert ruling.facts["placed"] == 11
    by(refused(state, "take blue"), "POP-2.2", "POP-2.1")
    dealt = refused(ready(cards=("4/5", "7")), "deal card1 7")
    by(dealt, "POP-1.1", "POP-K.4")
    assert dealt.facts["also"] == ["card-used"]
    assert "also" not in refused(ready(cards=("4/5",)), "deal card1 4/5").facts


@pytest.mark.cites("POP-2.5", "POP-2.7")
def test_without_own_thalers_nothing_is_placed_even_with_captured_ones(refused: Make) -> None:
    places = {p: {"ground": c} for p, c in zip(PLACES, ("2", "3", "4", "5", "6", "7", "8", "9", "10"), strict=True)}
    players = [{"colour": "red", "own": 0, "captured": 3}, {"colour": "blue"}, {"colour": "green"}]
    state = game("igloo-pop").from_position({"places": places, "players": players, "phase": "shaking"})
    for text in ("take red", "place red card1"):
        ruling = refused(state, text)
        by(ruling, "POP-2.5", "POP-2.7")
        assert ruling.facts == {"who": "red", "own": 0, "captured": 3}
    by(refused(state, "pass red"), "POP-2.7", "POP-M.4")


@pytest.mark.cites("POP-2.6", "POP-2.1")
def test_a_placed_igloo_is_out_of_the_village(shaking: Make, play: Make, refused: Make) -> None:
    state = play(shaking("red", "blue"), *["place red card1"] * 10, "place blue card2", "take blue")
    assert state.village_left == 0
    by(refused(state, "place red card1"), "POP-2.5", "POP-2.7")
    three = play(shaking(), *["place red card1"] * 10, "take green", "take yellow")
    by(refused(play(three, "place green card1"), "take green"), "POP-2.1", "POP-2.6")
    by(refused(play(three, "place green card1"), "place green card1"), "POP-2.1", "POP-2.6")


@pytest.mark.cites("POP-2.4", "POP-3.1")
def test_no_number_is_read_during_a_round(shaking: Make, play: Make, refused: Make) -> None:
    state = play(shaking(), "place red card1")
    by(refused(state, "reveal card1 4"), "POP-2.4", "POP-3.1")


@pytest.mark.cites("POP-2.9", "POP-M.4")
def test_the_round_ends_when_all_igloos_stand_on_cards(shaking: Make, play: Make) -> None:
    state = play(shaking("red", "blue"), *["place red card1"] * 9, *["place blue card2"] * 2)
    last = state.game.parse("place blue card3")
    by(state.check(last), "POP-2.9", "POP-M.4")
    assert state.play(last).phase == "checking"


@pytest.mark.cites("POP-2.9", "POP-M.4", "POP-2.7")
def test_the_round_ends_when_everybody_has_passed(shaking: Make, play: Make, refused: Make) -> None:
    state = play(shaking(), "place red card1", "pass red", "pass yellow")
    by(refused(state, "pass red"), "POP-2.9", "POP-M.4")
    assert state.passed == {"red", "yellow"}
    back = play(state, "take yellow")
    assert back.passed == {"red"}, "a pass is taken back by taking"
    assert play(back, "place yellow card2").passed == {"red"}
    assert play(state, "place red card3").passed == {"yellow"}, "and by placing"
    last = state.game.parse("pass green")
    by(state.check(last), "POP-2.9", "POP-M.4")
    assert state.play(last).phase == "checking"
    assert state.play(last).passed == frozenset()


@pytest.mark.cites("POP-2.7", "POP-2.9", "POP-M.4")
def test_who_has_no_thaler_left_counts_as_having_passed(shaking: Make, play: Make, refused: Make) -> None:
    state = play(shaking("red", "blue"), *["place red card1"] * 9, "pass blue")
    last = state.game.parse("place red card2")
    by(state.check(last), "POP-2.9")
    assert state.play(last).phase == "checking", "red placed the last thaler, blue has passed"
    holding = play(shaking("red", "blue"), *["place red card1"] * 10, "take blue", "return blue")
    assert holding.phase == "shaking"
    by(refused(holding, "pass red"), "POP-2.7", "POP-M.4")
    returned = play(shaking("red", "blue"), "place red card1", "take blue", "pass red")
    assert play(returned, "return blue", "pass blue").phase == "checking"


@pytest.mark.cites("POP-2.9")
def test_a_round_in_which_nothing_was_placed_goes_straight_to_the_end_test(shaking: Make, play: Make) -> None:
    state = play(shaking(), "pass red", "pass yellow", "pass green")
    assert (state.phase, state.round, state.last_results) == ("ready", 2, ())


@pytest.mark.cites("POP-1.1")
def test_a_colour_that_nobody_plays_has_no_moves(shaking: Make, refused: Make) -> None:
    state = shaking("red", "blue")
    for text in ("take black", "place black card1", "pass black", "return black"):
        by(refused(state, text), "POP-1.1")


@pytest.mark.cites("POP-2.10", "POP-2.2", "POP-2.3", "POP-2.4", "POP-2.5", "POP-2.6")
@pytest.mark.parametrize("clause", ["POP-2.2", "POP-2.3", "POP-2.4", "POP-2.5", "POP-2.6"])
def test_a_fault_is_ruled_by_its_clause_and_the_house(clause: str, shaking: Make) -> None:
    assert FAULTS[clause].remedy in ("to-village", "to-village-barred", "back-on-card")
    ruling = fault_ruling(clause, "red", shaking())
    assert ruling.clauses == (clause, "POP-2.10")
    assert (ruling.legal, ruling.status) == (False, "house ruling")
    assert ruling.en.startswith("Red ")
    nobody = fault_ruling(clause, None, shaking())
    assert nobody.fr.startswith("Quelqu’un ")
    assert (nobody.en.casefold().count("somebody"), nobody.fr.casefold().count("quelqu’un")) == (1, 1)


# --- checking --------------------------------------------------------------------------------------------------


@pytest.mark.cites("POP-3.1", "POP-3.10", "POP-M.5")
def test_cards_are_checked_one_by_one_and_no_number_twice(shaking: Make, play: Make, refused: Make) -> None:
    state = play(shaking("red", "blue"), "place red card1", "place blue card1", "place red card3", "pass red")
    state = play(state, "pass blue")
    assert (state.phase, state.to_move) == ("checking", CHANCE)
    by(refused(state, "reveal card2 5"), "POP-3.1")
    by(refused(state, "take red"), "POP-2.1")
    by(state.check(state.game.parse("reveal card1 5")), "POP-3.1")
    assert "a number of the card" in state.check(state.game.parse("reveal card1 5")).en
    assert "not on the card" in state.check(state.game.parse("reveal card1 9")).en
    state = play(state, "reveal card1 5")
    assert state.begun == "card1"
    by(refused(state, "reveal card3 4"), "POP-3.1")
    by(refused(state, "reveal card1 5"), "POP-3.10", "POP-M.5")
    state = play(state, "reveal card1 4")
    assert state.begun is None
    by(refused(state, "reveal card3 5"), "POP-3.10")
    assert {m.place for m in state.legal_moves} == {"card3"}
    assert sorted(m.number for m in state.legal_moves) == [2, 3, 6, 7, 8, 9, 10, 11, 12, 13]


@pytest.mark.cites("POP-3.1")
def test_the_order_of_the_cards_changes_nothing(shaking: Make, play: Make) -> None:
    state = play(shaking("red", "blue"), "place red card1", "place blue card3", "place red card8", "pass red")
    state = play(state, "pass blue")
    one = play(state, "reveal card1 4", "reveal card3 5", "reveal card8 2")
    other = play(state, "reveal card8 2", "reveal card3 5", "reveal card1 4")
    assert one.position() | {"results": []} == other.position() | {"results": []}
    assert [r.place for r in other.last_results] == ["card8", "card3", "card1"]


@pytest.mark.cites("POP-3.9", "POP-3.11", "POP-M.6")
def test_after_the_check_the_igloos_go_home_and_the_circle_is_filled(checked: Make, play: Make, refused: Make) -> None:
    _, _, state = checked("6/7", ("green", 6))
    assert (state.phase, state.round, state.village_left) == ("deal", 2, 12)
    assert not any(state.igloos.values())
    assert len(state.last_results) == 1
    by(refused(state, "deal card1 6/7"), "POP-K.4")
    by(refused(state, "deal card2 7"), "POP-3.11")
    by(state.check(state.game.parse("deal card1 7")), "POP-3.11", "POP-M.6")
    state = play(state, "deal card1 7")
    assert (state.phase, state.stack_left) == ("ready", 23)
    assert play(state, "start").last_results == ()


@pytest.mark.cites("POP-3.9")
def test_without_a_card_won_the_next_round_follows_at_once(checked: Make) -> None:
    _, _, state = checked("6/7", ("green", 9))
    assert (state.phase, state.round) == ("ready", 2)


# --- end and scoring -------------------------------------------------------------------------------------------


def near_the_end(stack: int, option: str, empty: int = 0, **more: Any) -> Any:
    """Make a position in the check: red's igloo on card1 (the card 2) is the last, with few cards in the stack."""
    laid = ["2", "3", "4", "5", "6", "7", "8", "9", "10"]
    places = {p: {"ground": c} for p, c in zip(PLACES, laid, strict=True)}
    for n in range(empty):
        places[PLACES[8 - n]] = {"ground": "empty"}
    places["card1"]["things"] = [{"kind": "igloo", "colour": "red", "count": 1}]
    rest = ["11", "12", "13", "2/3", "3/4", "4/5", "5/6", "6/7", "7/8", "8/9", "9/10", "10/11"]
    rest += ["11/12", "12/13", "2/3/4", "3/4/5", "4/5/6", "5/6/7", "6/7/8", "7/8/9", "8/9/10", "9/10/11"]
    rest += ["10/11/12", "11/12/13", *laid[9 - empty :]]
    red = {"colour": "red", "own": 9, "cards": rest[stack:]}
    return game("igloo-pop").from_position(
        {
            "places": places,
            "phase": "checking",
            "round": 8,
            "players": [red, {"colour": "blue", "own": 10}],
            "piles": {"stack": stack},
            "options": {"pop.cards_end": option},
            **more,
        }
    )


@pytest.mark.cites("POP-4.1")
def test_the_game_ends_when_a_player_has_no_own_thaler_left(shaking: Make, play: Make, refused: Make) -> None:
    state = play(shaking("red", "blue"), *["place red card4"] * 10, "place blue card1", "pass blue")
    state = play(state, "reveal card1 4", *(f"reveal card4 {n}" for n in (3, 5, 6, 7, 8, 9, 10, 11, 12, 13)))
    assert (state.phase, state.to_move) == ("over", NOBODY)
    assert state.own["red"] == 0
    assert state.end_reason.facts["broke"] == ["red"]
    assert not state.legal_moves
    assert list(state.moves()) == []
    for text in ("start", "take blue", "deal card1 7", "reveal card1 4"):
        by(refused(state, text), "POP-4.1")
    assert set(state.outcome().clauses) == {"POP-4.1", "POP-4.3"}


@pytest.mark.cites("POP-4.1")
def test_staking_the_last_thaler_ends_nothing_if_one_comes_back(shaking: Make, play: Make) -> None:
    state = play(shaking("red", "blue"), *["place red card4"] * 10, "pass blue")
    state = play(state, *(f"reveal card4 {n}" for n in (2, 3, 5, 6, 7, 8, 9, 10, 11, 12)))
    assert (state.phase, state.own["red"]) == ("deal", 1)


@pytest.mark.cites("POP-4.2")
def test_french_rules_end_the_game_when_nine_cannot_be_laid(play: Make) -> None:
    state = near_the_end(0, "immediate")
    assert state.problems() == ()
    won = play(state, "reveal card1 2")
    assert (won.phase, won.end_reason.key) == ("over", "end-cards")
    assert won.outcome().clauses == ("POP-4.2", "POP-4.3")
    assert play(near_the_end(1, "immediate"), "reveal card1 2").phase == "deal"
    assert play(near_the_end(0, "immediate"), "reveal card1 3").phase == "ready", "no card was won"


@pytest.mark.cites("POP-4.2")
def test_english_rules_play_one_more_round_with_fewer_cards(play: Make, refused: Make) -> None:
    state = play(near_the_end(0, "last_round"), "reveal card1 2")
    assert (state.phase, state.missing_cards) == ("ready", 1)
    assert "8 cards" in state.check(state.game.parse("start")).en
    state = play(state, "start")
    assert state.problems() == ()
    by(refused(state, "place red card1"), "POP-2.3")
    state = play(state, "place red card2", "pass red", "pass blue", "reveal card2 3")
    assert (state.phase, state.end_reason.key) == ("over", "end-short-round")
    assert state.outcome().clauses == ("POP-4.2", "POP-4.3")


@pytest.mark.cites("POP-4.2")
def test_english_rules_lay_the_cards_that_are_left_first(play: Make, refused: Make) -> None:
    state = play(near_the_end(1, "last_round", empty=1), "reveal card1 2")
    assert (state.phase, state.missing_cards, state.stack_left) == ("deal", 2, 1)
    by(refused(state, "start"), "POP-3.11")
    state = play(state, "deal card9 11")
    assert (state.phase, state.missing_cards, state.stack_left) == ("ready", 1, 0)
    state = play(state, "start", "pass red", "pass blue")
    assert state.end_reason.key == "end-short-round", "also when nobody places anything"


@pytest.mark.cites("POP-4.2")
def test_without_a_single_card_there_is_no_last_round(play: Make) -> None:
    state = play(near_the_end(0, "last_round", empty=8), "reveal card1 2")
    assert (state.phase, state.end_reason.key) == ("over", "end-no-cards")


@pytest.mark.cites("POP-4.1", "POP-4.2")
def test_both_ends_at_once_are_both_named(play: Make) -> None:
    state = near_the_end(0, "immediate")
    position = state.position()
    position["players"][1] |= {"own": 0, "removed": 10}
    position["players"][0] |= {"removed": 0}
    over = play(state.game.from_position(position), "reveal card1 2")
    assert over.end_reason.key == "end-both"
    assert over.outcome().clauses[:2] == ("POP-4.1", "POP-4.2")


def sheet(**players: tuple[list[str], int, int]) -> Any:
    """Make a finished game from cards, own and captured thalers by colour."""
    places = {place: {"ground": "empty"} for place in PLACES}
    seats = [{"colour": c, "cards": cards, "own": own, "captured": won} for c, (cards, own, won) in players.items()]
    return game("igloo-pop").from_position({"places": places, "players": seats, "phase": "over"})


@pytest.mark.cites("POP-4.3", "POP-4.4")
def test_ties_go_by_cards_then_by_thalers_won_then_are_shared() -> None:
    by_points = sheet(red=(["2"], 2, 2), blue=([], 4, 2))
    assert by_points.score().ranking == ((0,), (1,))
    assert by_points.ranking_reason.key == "rank-points"
    by_thalers = sheet(red=(["2/3"], 2, 2), blue=(["3/4"], 1, 3), green=([], 0, 7))
    assert [s.total for s in by_thalers.score().sheets] == [6, 6, 7]
    assert by_thalers.score().ranking == ((2,), (1,), (0,))
    equal = sheet(red=(["2/3"], 2, 2), blue=(["3/4"], 1, 3), green=([], 0, 5))
    assert equal.ranking_reason.key == "rank-thalers"
    assert equal.ranking_reason.facts["tied"] == ["red", "blue"]
    by_cards = sheet(red=(["2/3", "2/3/4"], 1, 2), blue=(["3/4"], 1, 3), green=(["4/5"], 4, 0))
    assert by_cards.ranking_reason.key == "rank-cards"
    assert by_cards.ranking_reason.facts["tied"] == ["red", "blue", "green"]
    two_of_three = sheet(red=(["2/3"], 2, 2), blue=(["3/4"], 1, 3), green=([], 0, 6))
    assert two_of_three.ranking_reason.facts["tied"] == ["red", "blue"], "green has points, but no card"
    shared = sheet(red=(["2/3"], 2, 2), blue=(["3/4"], 2, 2), green=([], 0, 0))
    assert shared.score().ranking == ((0, 1), (2,))
    assert shared.outcome().winners == (0, 1)
    ruling = shared.game.rulebook.ruling(True, shared.ranking_reason, shared)
    assert ruling.status == "house ruling"
    assert "POP-4.4" in ruling.clauses


def said(state: Any) -> list[tuple[str, str, str]]:
    """Return the reasons of the whole ranking: key, and the sentence in both languages."""
    reasons = decisions(state, state.score())
    rulings = [state.game.rulebook.ruling(True, reason, state) for reason in reasons]
    return [(reason.key, ruling.en, ruling.fr) for reason, ruling in zip(reasons, rulings, strict=True)]


@pytest.mark.cites("POP-4.4")
def test_each_place_that_a_tie_break_decided_has_its_reason() -> None:
    plain = sheet(red=(["2"], 2, 2), blue=([], 4, 2), green=([], 1, 1))
    assert [key for key, _, _ in said(plain)] == ["rank-points"]
    chain = sheet(red=(["2"], 6, 2), blue=(["2/3"], 2, 2), green=(["3/4"], 1, 3), black=([], 0, 6))
    assert chain.score().ranking == ((0,), (2,), (1,), (3,))
    (first, _, _), (second, en, fr), (third, _, _) = said(chain)
    assert (first, second, third) == ("rank-points", "rank-next-thalers", "rank-next-cards")
    assert en.startswith("Place 2 goes to green, with as many points (6) and cards (1) as blue")
    assert fr.startswith("La place 2 revient à vert")
    assert decisions(chain, chain.score())[2].facts["rank"] == 3
    shared = sheet(red=(["2/3"], 2, 2), blue=(["3/4"], 2, 2), green=([], 3, 3), black=([], 3, 3))
    assert [key for key, _, _ in said(shared)] == ["rank-shared", "rank-next-cards", "rank-next-shared"]
    assert decisions(shared, shared.score())[2].facts["rank"] == 3
    assert "blue" in said(shared)[1][1], "the first place too, where several share it before others with their points"
    top = sheet(red=(["2/3", "2/3/4"], 1, 2), blue=(["3/4"], 1, 3), green=(["4/5"], 2, 2))
    assert [key for key, _, _ in said(top)] == ["rank-cards", "rank-next-thalers"]


@pytest.mark.cites("POP-4.5")
def test_a_series_ends_at_100_with_the_highest_total() -> None:
    assert series_winners({"red": 99, "blue": 60}) == ()
    assert series_winners({"red": 100, "blue": 60}) == ("red",)
    assert series_winners({"red": 101, "blue": 104}) == ("blue",)
    assert series_winners({"red": 104, "blue": 104}) == ("red", "blue")
    assert series_winners({}) == ()
    assert series_winners({"red": 30}, goal=30) == ("red",)


# --- the frame -------------------------------------------------------------------------------------------------


def test_an_illegal_move_raises_with_its_ruling_and_the_position(ready: Make) -> None:
    state = ready()
    with pytest.raises(IllegalMoveError, match="No round is running") as wrong:
        state.play(state.game.parse("take red"))
    assert "igloo-pop round 1 ready: 1=4/5" in str(wrong.value)
    assert wrong.value.ruling.clauses == ("POP-1.2", "POP-2.1")
    assert "POP-2.1" in wrong.value.fr


def test_states_never_change_and_equal_ones_hash_alike(shaking: Make, play: Make) -> None:
    state = shaking()
    before = state.position()
    after = play(state, "take red", "place red card1")
    assert state.position() == before
    assert after != state
    same = play(shaking(), "place red card1")
    assert (after, hash(after)) == (same, hash(same))
    assert state != "igloo-pop"
    assert "IglooPopState" in repr(state)


def test_the_options_are_kept(ready: Make) -> None:
    assert ready(cards_end="last_round").options == {"pop.cards_end": "last_round", "pop.none_match": "remove"}


@pytest.mark.cites("POP-3.10")
def test_chance_draws_numbers_that_are_left_and_finishes_begun_cards(shaking: Make, play: Make) -> None:
    state = play(shaking("red", "blue"), *["place red card2"] * 6, *["place blue card5"] * 6)
    rng, seen = Random(1), []
    while state.phase == "checking":
        move = state.chance(rng)
        assert state.refusal(move) is None
        seen.append(move.number)
        state = state.play(move)
    assert sorted(seen) == list(range(2, 14))


@pytest.mark.cites("POP-3.1")
def test_cards_that_are_checked_out_of_order_are_settled_all_the_same(shaking: Make, play: Make) -> None:
    state = shaking("red", "green")
    state = play(state, *(f"place red card{number}" for number in (1, 2, 3)), "pass red", "pass green")
    first = state.check(state.game.parse("reveal card2 5"))
    assert "order" not in first.en, "any card may be the first"
    state = play(state, "reveal card2 5")
    assert "order" not in state.check(state.game.parse("reveal card3 6")).en
    other = state.check(state.game.parse("reveal card1 6"))
    assert other.legal and "POP-3.1" in other.clauses and other.status == "deduced"
    assert other.en.endswith("The order was different, and that changes nothing: each card is settled by itself.")
    assert "L’ordre a été un autre" in other.fr
