"""The worked examples and figures of the rulebook, and the disputes that tables bring to a referee."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from companion.cli import run
from companion.rules import game
from companion.rules.igloo_pop import CARDS, IGLOOS, card_points
from companion.rules.rulebook import rulebook

Checked = Callable[..., Any]


@pytest.mark.cites("POP-T.1", "POP-K.1", "POP-K.2")
def test_figure_1_igloo_n_holds_n_beads_ninety_in_all() -> None:
    assert IGLOOS == (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)
    assert sum(IGLOOS) == 90


@pytest.mark.cites("POP-T.2", "POP-K.3")
def test_figure_3_a_card_with_fewer_numbers_is_worth_more() -> None:
    assert [card_points(card) for card in ((7,), (4, 5), (3, 4, 5))] == [3, 2, 1]


@pytest.mark.cites("POP-K.3", "POP-K.4", "POP-K.5")
def test_the_box_has_every_run_of_up_to_three_numbers_once() -> None:
    runs = {tuple(range(low, low + n)) for n in (1, 2, 3) for low in range(2, 15 - n)}
    assert set(CARDS) == runs
    assert len(CARDS) == 33
    assert sum(card_points(card) for card in CARDS) == 68
    assert rulebook("igloo-pop").clause("POP-K.4").status == "deduced"


@pytest.mark.cites("POP-K.6", "POP-1.1")
def test_each_of_six_colours_has_ten_thalers() -> None:
    played = game("igloo-pop")
    assert len(played.colours) == 6
    assert played.start(played.seats(6)).own == dict.fromkeys(played.colours, 10)


@pytest.mark.cites("POP-T.3", "POP-2.3", "POP-2.5")
def test_figure_4_red_hears_4_or_5_and_places_on_that_card(shaking: Callable[..., Any]) -> None:
    state = shaking(cards=("4/5",))
    move = state.game.parse("place red card1")
    ruling = state.check(move)
    assert ruling.legal
    assert {"POP-2.3", "POP-2.5"} <= set(ruling.clauses)
    after = state.play(move)
    assert after.igloos["card1"] == (("red", None),)
    assert after.own["red"] == 9
    assert ruling.en.startswith("Red places an igloo on the card 4/5")


@pytest.mark.cites("POP-T.4", "POP-3.2")
def test_figure_5_green_takes_thaler_and_card(checked: Checked) -> None:
    _, ruling, after = checked("6/7", ("green", 6))
    assert "POP-3.2" in ruling.clauses
    assert ruling.status == "text"
    assert (after.own["green"], after.won["green"], after.cards["card1"]) == (10, ((6, 7),), None)
    assert "Green was right" in ruling.en
    assert "vert avait raison" in ruling.fr.casefold()


@pytest.mark.cites("POP-T.5", "POP-3.3")
def test_figure_6_reds_thaler_leaves_the_game_and_the_card_stays(checked: Checked) -> None:
    _, ruling, after = checked("6/7", ("red", 8))
    assert "POP-3.3" in ruling.clauses
    assert (after.own["red"], after.won["red"], after.cards["card1"]) == (9, (), (6, 7))
    assert after.removed["red"] == 1
    assert ruling.en.startswith("Red was wrong: the only igloo shows 8.")
    assert (ruling.facts["back"], ruling.facts["removed"]) == ([], ["red"])
    _, other, _ = checked("6/7", ("violet", 8))
    assert other.en.startswith("Violet was wrong")
    assert sum(after.captured.values()) == 0


@pytest.mark.cites("POP-T.6", "POP-3.4")
def test_figure_7_all_get_their_thalers_back_and_violet_takes_the_card(checked: Checked) -> None:
    _, ruling, after = checked("3/4/5", ("red", 3), ("violet", 5), ("green", 4))
    assert "POP-3.4" in ruling.clauses
    assert ruling.facts["winner"] == "violet"
    assert after.own == {"red": 10, "violet": 10, "green": 10}
    assert after.won == {"red": (), "violet": ((3, 4, 5),), "green": ()}


@pytest.mark.cites("POP-T.7", "POP-3.5")
def test_figure_8_black_takes_the_card_and_all_thalers(checked: Checked) -> None:
    _, ruling, after = checked("4/5", ("red", 9), ("black", 4), ("green", 2), ("red", 3))
    assert "POP-3.5" in ruling.clauses
    assert "POP-3.8" not in ruling.clauses
    assert ruling.status == "text"
    assert after.own == {"red": 8, "black": 10, "green": 9}
    assert after.captured == {"red": 0, "black": 3, "green": 0}
    assert after.won["black"] == ((4, 5),)
    assert after.removed == {"red": 0, "black": 0, "green": 0}


@pytest.mark.cites("POP-T.8", "POP-3.6")
def test_figure_9_yellow_takes_the_card_and_greens_thaler_and_loses_one(checked: Checked) -> None:
    _, ruling, after = checked("4/5", ("yellow", 5), ("yellow", 9), ("green", 7), ("red", 4))
    assert "POP-3.6" in ruling.clauses
    assert ruling.status == "text"
    assert after.won["yellow"] == ((4, 5),)
    assert after.own == {"yellow": 9, "green": 9, "red": 10}
    assert after.captured == {"yellow": 1, "green": 0, "red": 0}
    assert after.removed == {"yellow": 1, "green": 0, "red": 0}
    assert ruling.facts["igloos"] == [["yellow", 5], ["yellow", 9], ["green", 7], ["red", 4]]
    result = after.last_results[-1]
    assert (result.place, result.card, result.winner) == ("card1", (4, 5), "yellow")
    assert result.igloos == (("yellow", 5), ("yellow", 9), ("green", 7), ("red", 4))
    assert result.reason.key == "some-match-own-wrong"


def over(*players: dict[str, Any]) -> Any:
    """Make a position after the end, with the first player out of thalers unless said otherwise."""
    places = {f"card{n}": {"ground": "empty"} for n in range(1, 10)}
    return game("igloo-pop").from_position({"places": places, "phase": "over", "players": list(players)})


@pytest.mark.cites("POP-T.9", "POP-4.3", "POP-4.4")
def test_a_tie_on_11_goes_to_the_player_with_more_cards() -> None:
    a = {"colour": "red", "name": "A", "cards": ["4", "4/5"], "own": 4, "captured": 2}
    b = {"colour": "blue", "name": "B", "cards": ["5", "2/3/4", "3/4/5"], "own": 6, "captured": 0}
    state = over(a, b)
    sheet = state.score()
    assert [s.total for s in sheet.sheets] == [11, 11]
    assert sheet.ranking == ((1,), (0,))
    assert [line.points for line in sheet.sheets[0].lines] == [5, 4, 2]
    assert state.ranking_reason.key == "rank-cards"
    assert state.outcome().winners == (1,)


# --- the disputes ----------------------------------------------------------------------------------------------


@pytest.mark.cites("POP-Q.1", "POP-2.8")
def test_several_igloos_of_one_player_on_one_card_are_judged_one_by_one(
    checked: Checked, shaking: Callable[..., Any], play: Callable[..., Any]
) -> None:
    state = play(shaking(), "place red card1")
    ruling = state.check(state.game.parse("place red card1"))
    assert ruling.legal
    assert "POP-2.8" in ruling.clauses
    _, _, after = checked("4/5", ("red", 4), ("red", 5), ("green", 9))
    assert after.won["red"] == ((4, 5),)
    assert (after.own["red"], after.captured["red"]) == (10, 1)


@pytest.mark.cites("POP-Q.2", "POP-3.7")
def test_when_no_igloo_matches_all_stakes_leave_by_house_ruling(checked: Checked) -> None:
    _, ruling, after = checked("4/5", ("red", 9), ("green", 7), ("red", 2))
    assert ruling.clauses == ("POP-3.1", "POP-3.7")
    assert (ruling.status, ruling.option) == ("house ruling", "pop.none_match")
    assert "house ruling" in ruling.en
    assert "règle maison" in ruling.fr
    assert after.own == {"red": 8, "green": 9}
    assert after.removed == {"red": 2, "green": 1}
    assert (ruling.facts["removed"], ruling.facts["back"]) == (["red", "green", "red"], [])
    assert after.cards["card1"] == (4, 5)


@pytest.mark.cites("POP-3.7")
def test_the_table_may_rule_that_the_stakes_come_back(checked: Checked) -> None:
    _, ruling, after = checked("4/5", ("red", 9), ("green", 7), none_match="return")
    assert (ruling.status, ruling.option) == ("house ruling", "pop.none_match")
    assert after.own == {"red": 10, "green": 10}
    assert (ruling.facts["removed"], ruling.facts["back"]) == ([], ["red", "green"])
    assert after.cards["card1"] == (4, 5)
    _, alone, lost = checked("4/5", ("red", 9), none_match="return")
    assert (alone.status, lost.own["red"]) == ("text", 9), "a single wrong igloo is in the rulebook"
    assert (alone.facts["removed"], alone.facts["back"]) == (["red"], [])


@pytest.mark.cites("POP-Q.3", "POP-3.8")
def test_the_winners_own_wrong_thaler_leaves_the_game(checked: Checked) -> None:
    _, stated, _ = checked("4/5", ("yellow", 5), ("yellow", 9), ("green", 7), ("red", 4))
    assert stated.facts["removed"] == ["yellow"]
    assert stated.status == "text"
    _, ruling, after = checked("4/5", ("yellow", 5), ("yellow", 9), ("green", 7))
    assert "POP-3.8" in ruling.clauses
    assert ruling.status == "house ruling"
    assert (after.own["yellow"], after.captured["yellow"], after.removed["yellow"]) == (9, 1, 1)
    _, alone, after = checked("4/5", ("yellow", 5), ("yellow", 9))
    assert alone.status == "house ruling"
    assert (after.own["yellow"], after.won["yellow"]) == (9, ((4, 5),))


@pytest.mark.cites("POP-Q.4")
def test_a_losers_right_thaler_comes_back_and_the_wrong_one_goes_to_the_winner(checked: Checked) -> None:
    _, _, after = checked("3/4/5", ("red", 3), ("red", 8), ("green", 5))
    assert (after.own["red"], after.own["green"], after.captured["green"]) == (9, 10, 1)


@pytest.mark.cites("POP-Q.5")
def test_a_wrong_13_is_not_the_highest(checked: Checked) -> None:
    _, ruling, after = checked("4/5", ("black", 13), ("red", 4), ("green", 5))
    assert ruling.facts["winner"] == "green"
    assert ruling.facts["number"] == 5
    assert after.captured["green"] == 1


@pytest.mark.cites("POP-Q.6", "POP-2.9")
def test_the_round_lasts_while_an_igloo_is_in_a_hand(
    shaking: Callable[..., Any], play: Callable[..., Any], refused: Callable[..., Any]
) -> None:
    state = play(shaking("red", "green"), "place green card1", "take red", "pass green")
    assert state.phase == "shaking"
    assert "POP-2.3" in refused(state, "pass red").clauses
    assert play(state, "return red").phase == "shaking"
    assert play(state, "return red", "pass red").phase == "checking"
    assert rulebook("igloo-pop").dispute("POP-Q.6").status == "house ruling"


@pytest.mark.cites("POP-Q.7", "POP-2.5")
def test_a_thaler_won_back_can_be_staked_in_the_next_round(checked: Checked, play: Callable[..., Any]) -> None:
    _, _, after = checked("6/7", ("green", 6))
    again = play(after, "deal card1 7", "start")
    assert again.own["green"] == 10
    for _ in range(10):
        again = play(again, "place green card2")
    assert again.own["green"] == 0


@pytest.mark.cites("POP-Q.8", "POP-4.1", "POP-4.3")
def test_a_thaler_that_an_opponent_has_won_counts_for_the_opponent_only(
    shaking: Callable[..., Any], play: Callable[..., Any]
) -> None:
    state = shaking("red", "green", cards=("4/5",))
    state = play(state, *["place red card1"] * 10, "place green card1", "pass green")
    assert state.phase == "checking"
    state = play(state, *(f"reveal card1 {n}" for n in (2, 3, 6, 7, 8, 9, 10, 11, 12, 13)), "reveal card1 5")
    assert state.phase == "over"
    assert state.end_reason.key == "end-thalers"
    assert state.outcome().clauses[0] == "POP-4.1"
    assert [s.total for s in state.score().sheets] == [0, 10 + 10 + 2]


@pytest.mark.cites("POP-Q.9", "POP-Q.10", "POP-Q.1", "POP-Q.2", "POP-Q.3", "POP-Q.5", "POP-Q.8")
@pytest.mark.parametrize(
    ("words", "dispute"),
    [
        ("grab same igloo", "POP-Q.9"),
        ("rules for two players", "POP-Q.10"),
        ("several igloos on the same card", "POP-Q.1"),
        ("none matches happens", "POP-Q.2"),
        ("winner wrong igloo thaler come back", "POP-Q.3"),
        ("highest 13 wrong", "POP-Q.5"),
        ("opponent has won one of my thalers", "POP-Q.8"),
    ],
)
def test_disputes_that_are_no_matter_of_a_position_are_answered_by_rule(
    words: str, dispute: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["rule", *words.split(), "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert dispute in [item["id"] for item in found]
    assert run(["rule", dispute, "--json"]) == 0
    item = json.loads(capsys.readouterr().out)
    assert item["kind"] == "dispute"
    assert item["en"] and item["fr"] and item["clauses"]


@pytest.mark.cites("POP-Q.10")
def test_two_players_play_by_the_same_rules() -> None:
    state = game("igloo-pop").start(game("igloo-pop").seats(2))
    assert (state.village_left, state.stack_left, set(state.own.values())) == (12, 33, {10})


@pytest.mark.cites("POP-Q.4")
def test_a_dispute_is_judged_from_a_position_by_the_referee(
    checked: Checked, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, _, _ = checked("3/4/5", ("red", 3), ("red", 8), ("green", 5))
    record = tmp_path / "dispute.jsonl"
    header = {"game": "igloo-pop", "position": before.position()}
    record.write_text(json.dumps(header) + '\nreveal card1 5\nreveal card1 6\n"reveal card1 nine"\n', encoding="utf-8")
    assert run(["referee", str(record), "--json"]) == 2
    out = capsys.readouterr()
    ruled, wrong, unreadable, last = map(json.loads, out.out.splitlines())
    assert ruled["clauses"] == ["POP-3.1", "POP-3.6"]
    assert ruled["facts"]["back"] == ["red", "green"]
    assert ruled["facts"]["losers"] == ["red"]
    assert (wrong["legal"], wrong["error"]) == (False, "IllegalMoveError")
    assert unreadable["error"] == "InvalidMoveError"
    assert (last["valid_moves"], last["refused"], last["unreadable"]) == (1, 1, 1)
    assert last["error"]["line"] == 3
    assert "line 3" in out.err
