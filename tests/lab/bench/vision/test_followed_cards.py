"""Games of cards in the rows of `companion bench follow`."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from companion.lab.bench import command as bench
from companion.lab.bench.vision import followed_cards


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_first_turns_of_arctic_stand_in_the_rows() -> None:
    rows: dict[str, Any] = {one["what"]: one for one in followed_cards.rows(2, 72, followed_cards.ARCTIC, "drawn")}
    assert rows["turns followed"]["value"] == 2
    assert rows["wrong entries"]["value"] == 0
    asked = rows["questions that a picture can answer"]["value"] + rows["questions: no picture shows it"]["value"]
    entered = int(rows["wrong entries"]["note"].split()[0])
    assert entered + asked + rows["turns left to people"]["value"] == 2
    told = [one for what, one in rows.items() if what.startswith("looked at")]
    assert len(told) == 2 - entered
    assert all("Played: place" in one["note"] for one in told)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_round_of_igloo_pop_stands_in_the_rows_for_twenty_turns() -> None:
    found = [
        (one["what"], one["value"], one["note"]) for one in followed_cards.rows(20, 171, followed_cards.POP, "drawn")
    ]
    rows = {what: value for what, value, _ in found}
    assert rows["igloos put on cards"] == rows["igloos turned over in the check"] == 11
    assert rows["wrong entries, placing"] == rows["wrong entries, check"] == 0
    for part in ("placing", "check"):
        entered = next(int(note.split()[0]) for what, _, note in found if what == f"wrong entries, {part}")
        assert entered + rows[f"left to people in a round, {part}"] == 11


def test_what_is_not_traced_is_said() -> None:
    answer = CliRunner().invoke(bench.command, ["follow", "--game", "igloo-pop", "--world", "traced"])
    assert answer.exit_code == 2
    assert "Only iglu-iglu, ice-team and arctic are traced." in answer.output
