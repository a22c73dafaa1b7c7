"""The sentences: each one that is written is used, and each one that is used is written."""

from __future__ import annotations

import ast
from pathlib import Path

from companion.rules import game
from companion.rules.ice_team import legality, moves
from companion.rules.ice_team.components import DIE_FACES, FACES
from companion.rules.rulebook import rulebook

BOOK = rulebook("ice-team")


def literals() -> set[str]:
    """Return every text that stands in the code."""
    found: set[str] = set()
    for path in Path(legality.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return found


def composed() -> set[str]:
    """Return the keys that the code puts together: what is due in a phase, what stops a block."""
    found = {f"due-{phase}" for phase in legality.PHASES if phase != "over"}
    return found | {f"push-{stop}" for stop in ("nothing", "igloo", "edge", "floe")}


SHARED = {"two-turns", "unexplained"}
"""Sentences that the search shared by all games speaks."""


def test_every_sentence_is_used() -> None:
    assert not set(BOOK.sentences) - literals() - composed() - SHARED
    assert not composed() - set(BOOK.sentences)


def test_every_line_of_the_sheet_is_written() -> None:
    assert set(BOOK.lines) == {"fresh-fish", "frozen-fish"}


def test_every_word_of_the_game_is_there_in_both_languages() -> None:
    verbs = {text.split()[0] for text in moves._FORMS}
    for word in (*FACES, *DIE_FACES, *verbs, *moves.COLOURS, "start", "village", "e", "se", "nw", "n"):
        assert BOOK.word(word, "en") and BOOK.word(word, "fr")
        if word not in ("plain", "green", "red"):
            assert BOOK.word(word, "en") != word or word == "start", word
    assert BOOK.word("penguin2-fragile", "fr") == "deux pingouins et des fissures"


def test_the_rulebook_is_that_of_the_game() -> None:
    assert game("ice-team").rulebook is BOOK
    assert BOOK.name.fr == "Ice Team"
