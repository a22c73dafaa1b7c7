"""Games of cards in the rows of `companion bench follow`."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from click.testing import CliRunner

from companion.lab.bench import command as bench
from companion.lab.bench.follow import UNSEEN_CAUSE, question_rows
from companion.lab.bench.vision import followed_cards
from companion.lab.bench.vision.checks import CheckTally
from companion.lab.bench.vision.placings import PlacedTally


@pytest.mark.long
@pytest.mark.process
@pytest.mark.timeout(600)
def test_the_first_turns_of_arctic_stand_in_the_rows() -> None:
    rows: dict[str, Any] = {one["what"]: one for one in followed_cards.rows(2, 72, followed_cards.ARCTIC, "drawn")}
    assert rows["turns followed"]["value"] == 2
    assert rows["wrong entries"]["value"] == 0
    asked = int(rows["the truth among the candidates"]["value"].split()[-1])
    assert asked == sum(int(one["value"]) for what, one in rows.items() if what.startswith("questions: "))
    entered = int(rows["wrong entries"]["note"].split()[0])
    assert entered + asked + rows["turns left to people"]["value"] == 2
    assert rows["score at the end is the truth"]["value"] is True
    assert rows["turns typed by hand"]["value"] >= rows["turns left to people"]["value"]
    told = [one for what, one in rows.items() if what.startswith("looked at")]
    assert len(told) == 2 - entered
    assert all("Played: place" in one["note"] for one in told)


def test_what_came_of_rounds_of_igloo_pop_stands_in_the_rows() -> None:
    placed = PlacedTally(put=22, right=21, left=1, rounds=2, delays=[9.0, 1.0, 2.0], notes=["left card4 green"])
    checked = CheckTally(turned=20, right=17, left=3, rounds=2, ended_right=1)
    rows = [(one["what"], one["value"]) for one in followed_cards.rows_of_rounds(placed, checked, "two rounds")]
    assert ("left to people in a round, placing", 0.5) in rows
    assert ("left to people in a round, check", 1.5) in rows
    assert rows[-1] == ("looked at, 1", "left")
    assert [value for what, value in rows if what == "to the answer"] == ["2.00", "0.00"]
    assert ("numbers at the end are the truth", "1 of 2") in rows


def test_what_was_asked_stands_in_the_rows_by_its_causes() -> None:
    causes = Counter({UNSEEN_CAUSE: 2, "read unsurely": 1})
    rows = {one["what"]: one for one in question_rows(40, 3, causes, among=3, first=2)}
    assert (rows["questions that a picture can answer"]["value"], rows[f"questions: {UNSEEN_CAUSE}"]["value"]) == (1, 2)
    assert rows["questions that a picture can answer"]["note"] == "0.5 in 20 turns"
    one = rows["the truth among the candidates"]
    assert (one["value"], one["note"]) == ("3 of 3", "the first in 2")


def test_what_is_not_traced_is_said() -> None:
    answer = CliRunner().invoke(bench.command, ["follow", "--game", "thin-ice", "--world", "traced"])
    assert answer.exit_code == 2
    assert "Only iglu-iglu, ice-team, arctic and igloo-pop are traced." in answer.output
