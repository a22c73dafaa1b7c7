"""A drawn game of Arctic, followed: its first turns with the cards that lie there taught, and with the whole deck."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.follow.cards import CardTable
from companion.lab.bench.vision.rivers import RiverTally, follow_game, taught
from companion.lab.worlds.cards.photos import sheet, sheet_extent, shoot, view
from companion.lab.worlds.cards.river import SHEET, DrawnTable, PlayedTurn, drawn_table, played
from companion.lab.worlds.cards.taught import picture
from companion.rules.arctic.components import TEXT, UNKNOWN
from vision.cards.deck import save_deck, teach

pytestmark = pytest.mark.learning


def few_taught(folder: Path, table: DrawnTable, turns: list[PlayedTurn]) -> CardTable:
    """Return a deck of the cards that lie in the open in these turns, and some others: one sheet."""
    lying = {TEXT[card] for turn in turns for state in (turn.before, turn.after) for card in state.river}
    lying |= {card for turn in turns for card in turn.laid}
    names = [*sorted(lying), *(card for card in TEXT[:UNKNOWN] if card not in lying)][:SHEET]
    assert lying <= set(names)
    camera, light = view(3, *sheet_extent(table.art, SHEET, 6), width=2000, tilt=(3, 8))
    photo = picture(shoot(sheet(table.art, names, 6, 3), camera, light, 3).jpeg)
    folder.mkdir()
    save_deck(folder, teach("arctic", [photo], names))
    return CardTable(folder)


def test_the_river_is_entered_and_turns_are_asked_about_until_the_tokens_are_known(tmp_path: Path) -> None:
    table, turns = drawn_table(1, 1), played(1, 2)[:3]
    tally = RiverTally()
    follow_game(tmp_path, table, turns, tally, few_taught(tmp_path / "tables", table, turns))
    assert (tally.wrong, tally.early, tally.rivers) == (0, 0, 1)
    # Nobody knows yet which token is whose; in the third turn one moves whose way was answered.
    assert (tally.asked, tally.among, tally.entered, tally.left) == (2, 2, 1, 0)


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_with_the_whole_deck_taught_no_turn_is_entered_wrongly(tmp_path: Path) -> None:
    table, tally = drawn_table(4, 1), RiverTally()
    follow_game(tmp_path, table, played(4, 2)[:3], tally, taught(tmp_path / "tables", table))
    assert (tally.wrong, tally.early, tally.rivers) == (0, 0, 1)
    assert tally.entered + tally.asked + tally.left == tally.turns == 3
    assert tally.among == tally.asked
