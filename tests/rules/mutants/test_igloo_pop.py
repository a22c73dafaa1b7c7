"""What mutants of Igloo Pop left open: the facts of a settled card, and the whole of a score sheet."""

from __future__ import annotations

from typing import Any

import pytest

from companion.rules import game
from companion.rules.core import PlayerScore, ScoreLine
from companion.rules.igloo_pop.components import CARD_INDEX, COLOURS
from companion.rules.igloo_pop.settling import explain_card
from companion.rules.igloo_pop.state import _ANNOUNCEMENTS, _FREE, _HOLDING, _NO_IGLOO, _PASSED, _announcements

POP = game("igloo-pop")
RED, YELLOW, GREEN = 0, 1, 2


@pytest.mark.parametrize(
    ("stakes", "remove", "key", "facts"),
    [
        ([(RED, 4)], True, "one-match", {"winner": "red", "number": 4, "back": ["red"]}),
        ([(RED, 7)], False, "one-miss", {"number": 7, "removed": ["red"], "lost": 1, "who": "red"}),
        ([(RED, 7), (GREEN, 8)], True, "none-match", {"removed": ["red", "green"], "lost": 2}),
        ([(RED, 7), (GREEN, 8)], False, "none-match-return", {"back": ["red", "green"]}),
        ([(RED, 4), (GREEN, 5)], True, "all-match", {"winner": "green", "number": 5, "back": ["red", "green"]}),
        (
            [(RED, 4), (GREEN, 8), (YELLOW, 9), (GREEN, 10)],
            True,
            "exactly-one",
            {"winner": "red", "number": 4, "back": ["red"], "won": 3, "losers": ["green", "yellow"]},
        ),
        (
            [(RED, 4), (RED, 8)],
            True,
            "exactly-one-alone",
            {"winner": "red", "number": 4, "back": ["red"], "removed": ["red"], "lost": 1},
        ),
        (
            [(RED, 4), (RED, 8), (GREEN, 9)],
            False,
            "exactly-one-own-wrong",
            {
                "winner": "red",
                "number": 4,
                "back": ["red"],
                "won": 1,
                "losers": ["green"],
                "removed": ["red"],
                "lost": 1,
            },
        ),
        (
            [(RED, 4), (YELLOW, 5), (GREEN, 9)],
            True,
            "some-match",
            {"winner": "yellow", "number": 5, "back": ["red", "yellow"], "won": 1, "losers": ["green"]},
        ),
        (
            [(RED, 4), (YELLOW, 5), (YELLOW, 9)],
            True,
            "some-match-no-prey",
            {"winner": "yellow", "number": 5, "back": ["red", "yellow"], "removed": ["yellow"], "lost": 1},
        ),
        (
            [(RED, 4), (YELLOW, 5), (YELLOW, 9), (GREEN, 10)],
            True,
            "some-match-own-wrong",
            {
                "winner": "yellow",
                "number": 5,
                "back": ["red", "yellow"],
                "won": 1,
                "losers": ["green"],
                "removed": ["yellow"],
                "lost": 1,
            },
        ),
    ],
)
def test_a_settled_card_tells_everything(
    stakes: list[tuple[int, int]], remove: bool, key: str, facts: dict[str, Any]
) -> None:
    reason = explain_card(2, CARD_INDEX[4, 5], [who << 4 | number for who, number in stakes], remove)
    assert reason.key == key
    assert reason.facts == {
        "place": "card3",
        "card": "4/5",
        "igloos": [[COLOURS[who], number] for who, number in stakes],
        "winner": None,
        "number": None,
        "back": [],
        "won": 0,
        "losers": [],
        "removed": [],
        "lost": 0,
        "igloo_count": len(stakes),
        **facts,
    }


def test_a_score_sheet_says_what_it_counts_and_by_which_clauses() -> None:
    state = POP.from_position(
        {
            "players": [
                {"name": "Ann", "colour": "green", "own": 4, "captured": 2, "cards": ["7", "4/5"]},
                {"name": "Bob", "colour": "red", "own": 8, "captured": 0, "cards": []},
            ],
            "places": {},
        }
    )
    sheet = state.score()
    assert sheet.sheets == (
        PlayerScore(
            0,
            (
                ScoreLine("eskimos", 5, ("POP-4.3", "POP-K.3"), {"count": 2, "cards": ["7", "4/5"]}),
                ScoreLine("own-thalers", 4, ("POP-4.3",), {"count": 4}),
                ScoreLine("captured-thalers", 2, ("POP-4.3",), {"count": 2}),
            ),
            (2, 2),
        ),
        PlayerScore(
            1,
            (
                ScoreLine("eskimos", 0, ("POP-4.3", "POP-K.3"), {"count": 0, "cards": []}),
                ScoreLine("own-thalers", 8, ("POP-4.3",), {"count": 8}),
                ScoreLine("captured-thalers", 0, ("POP-4.3",), {"count": 0}),
            ),
            (0, 0),
        ),
    )
    assert sheet.ranking == ((0,), (1,))


@pytest.mark.parametrize(
    ("status", "moves"),
    [
        (_FREE, ["take yellow", "place yellow card1", "place yellow card9", "pass yellow"]),
        (_PASSED, ["take yellow", "place yellow card1", "place yellow card9"]),
        (_HOLDING, ["return yellow", "place yellow card1", "place yellow card9"]),
        (_NO_IGLOO, ["pass yellow"]),
    ],
)
def test_what_a_player_may_announce_is_worked_out_afresh(status: int, moves: list[str]) -> None:
    """The engine keeps these lists; a mutant in a process that has them already would not be seen."""
    assert [str(move) for move in _announcements(YELLOW, status, 0b100000001)] == moves


def test_what_a_player_may_announce_is_kept() -> None:
    cards = ["4", "5", "6", "7", "8", "9", "10", "11", "12"]
    state = POP.start([{"name": c, "colour": c} for c in ("violet", "black")], setup={"cards": cards})
    state = state.play(POP.parse("start"))
    kept = dict(_ANNOUNCEMENTS)
    _ANNOUNCEMENTS.clear()
    try:
        first = list(state.moves())
        assert len(_ANNOUNCEMENTS) == 2
        assert [str(move) for move in first[:2]] == ["take violet", "place violet card1"]
        assert len(first) == len(set(first)) == 22
        assert list(state.moves()) == first
        # A passed player, and one with an igloo in hand, have lists of their own.
        for text in ("pass violet", "take black"):
            state = state.play(POP.parse(text))
        now = {str(move).split()[0] + str(move).split()[1] for move in state.moves()}
        assert now == {"takeviolet", "placeviolet", "returnblack", "placeblack"}
    finally:
        _ANNOUNCEMENTS.update(kept)


def test_the_last_own_thaler_may_be_placed() -> None:
    """POP-2.7: only who has none left is out; with one left, everybody is still in the round."""
    players = [{"name": "Ann", "colour": "red", "own": 1}, {"name": "Bob", "colour": "blue", "own": 1}]
    places = {f"card{n}": {"ground": str(n + 1), "things": []} for n in range(1, 10)}
    state = POP.from_position({"players": players, "places": places, "phase": "shaking"})
    assert POP.parse("place red card1") in state.legal_moves
    state = state.play(POP.parse("pass blue"))
    assert (state.phase, state.passed) == ("shaking", {"blue"})
    state = state.play(POP.parse("place red card1"))
    assert state.phase == "checking", "who has no own thaler left counts as having passed"
