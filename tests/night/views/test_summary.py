"""The story of a game: told at its end only, from the first state to the last score."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from companion.lab.worlds.boards import BOARDS, players, record, view_of
from companion.night.views.summary import MOST_POINTS
from tests.night.conftest import NINE, Table


@pytest.fixture
def night(tmp_path: Path) -> Iterator[Table]:
    table = Table(tmp_path / "journal.sqlite")
    yield table
    table.close()


def told(table: Table) -> Any:
    return table.night.view()["match"]["story"]


@pytest.mark.parametrize("game_id", BOARDS)
def test_the_chart_ends_with_the_score(night: Table, game_id: str) -> None:
    night.do("open-match", {"game": game_id, "players": players(game_id)})
    texts = record(game_id, 11)
    for text in texts[:100]:
        night.moves(text)
        assert told(night) is None
    for n in range(100, len(texts), 5):
        night.moves(*texts[n : n + 5])
    story = told(night)
    assert 20 < len(story["chart"]) <= MOST_POINTS
    assert story["chart"][-1] == [player["score"] for player in night.night.view()["match"]["players"]]
    # Neither a set-up nor what is shown at the end counts as a move.
    assert max(max(scores) for scores in story["chart"]) < 200
    assert story["best"] == best_turn(night, game_id)


def best_turn(table: Table, game_id: str) -> dict[str, Any]:
    """Return the turn that gained most, from totals at the first and the last state of each turn."""
    match = table.night._projection.match
    assert match is not None
    view, gains = view_of(game_id), []
    totals = [[sheet.total for sheet in match.view.seen(state).score().sheets] for state in match.states]
    turns = [view.turn(state) for state in match.states]
    played = len(match.steps)
    while played and view.revealing(match.steps[played - 1].move):
        played -= 1
    begun = next(n for n, state in enumerate(match.states) if view.comparable(state))
    for n in range(begun + 1, played + 1):
        if n == played or turns[n] != turns[n - 1]:
            seat = turns[n - 1]
            gains.append((totals[n][seat] - totals[begun][seat], match.colours[seat]))
            begun = n
    gain, colour = max(gains, key=lambda one: one[0])
    return {"colour": colour, "gain": gain}


def test_the_most_disputed_move_is_told(night: Table) -> None:
    night.open_match(setup={"cards": list(NINE.values())})
    night.moves("start")
    for _ in range(2):
        night.moves("place red card1")
        night.do("undo", {"to": night.match["moves"] - 1, "agreed": True})
    night.moves("place blue card3")
    night.do("undo", {"to": night.match["moves"] - 1, "agreed": True})
    night.do("fault", {"clause": "POP-2.4", "colour": "red"})
    # One's own last entry taken back at once is nobody's dispute.
    night.moves("take blue")
    night.do("undo", {"to": night.match["moves"] - 1})
    night.moves(*["place red card2"] * 10)
    night.do("check")
    night.moves(*[f"reveal card2 {n}" for n in range(4, 14)])
    disputed = told(night)["disputed"]
    assert (disputed["times"], disputed["all"]) == (2, 4)
    assert "card" in disputed["en"]
    assert disputed["en"] != disputed["fr"]
    night.restart()
    assert told(night)["disputed"] == disputed


def test_a_game_without_a_dispute_has_none(night: Table) -> None:
    night.open_match(setup={"cards": list(NINE.values())})
    night.moves("start", *["place red card2"] * 10)
    night.do("check")
    night.moves(*[f"reveal card2 {n}" for n in range(4, 14)])
    assert told(night)["disputed"] is None


def test_the_best_round_of_igloo_pop(night: Table) -> None:
    night.open_match(setup={"cards": list(NINE.values())})
    # Red wins card1 (a two: three points), and then loses all thalers on card2.
    night.moves("start", "place red card1")
    night.do("check")
    night.moves("reveal card1 2")
    while night.night.view()["match"]["phase"] != "over":
        night.do("deal", {"cards": {"card1": "7/8"}}) if night.night.view()["match"]["phase"] == "deal" else None
        own = night.night.view()["match"]["players"][0]["own"]
        night.moves("start", *["place red card2"] * min(own, 10))
        night.do("check")
        night.moves(*[f"reveal card2 {n}" for n in range(4, 4 + min(own, 10))])
    story = told(night)
    assert story["best"]["colour"] == "red"
    assert story["best"]["gain"] == 3
    assert story["chart"][0] == [10, 10]
    assert story["chart"][-1] == [3, 10]
