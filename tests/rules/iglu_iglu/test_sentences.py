"""The sentences: each one that is written is used, and each one that is used is written."""

from __future__ import annotations

import ast
from pathlib import Path

from companion.rules import game
from companion.rules.iglu_iglu import score
from companion.rules.iglu_iglu.position import ACT, PHASES, START
from companion.rules.rulebook import rulebook

BOOK = rulebook("iglu-iglu")


def literals() -> set[str]:
    """Return every text that stands in the code."""
    found: set[str] = set()
    for path in Path(score.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return found


def composed() -> set[str]:
    """Return the keys that the code puts together: a phase, an animal or a face behind a word."""
    found = {f"first-{phase}" for number, phase in enumerate(PHASES) if number not in (START, ACT)}
    found |= {f"{word}-{kind}" for word in ("step-ok", "step-to-bear", "hunt") for kind in ("fish", "fox")}
    return found | {f"reveal-{face}" for face in ("fish", "bear", "pack", "drift")}


SHARED = {"two-turns", "unexplained"}
"""Sentences that the search shared by all games speaks."""


def test_every_sentence_is_used() -> None:
    assert not set(BOOK.sentences) - literals() - composed() - SHARED
    assert not composed() - set(BOOK.sentences)


def test_every_line_of_the_sheet_is_written() -> None:
    ranks = ("alone", "first", "second", "third")
    assert set(BOOK.lines) == {"trophies", "corner", *(f"{k}-{rank}" for k in ("island", "table") for rank in ranks)}


def test_every_word_of_the_game_is_there() -> None:
    words = ["red", "blue", "yellow", "green", "inuit", "igloo", "fish", "fox", "bear", "water", "floe", "pack", "land"]
    words += ["thaw", "harpoon", "animals", "drift", "fish 3", "fox 1", "endurance 2"]
    for word in words:
        assert BOOK.word(word, "fr")
    assert BOOK.word("bear", "fr") == "ours"
    assert BOOK.word("animals", "en") == "animal movement"


def test_the_rulebook_is_that_of_the_game() -> None:
    assert game("iglu-iglu").rulebook is BOOK
    assert BOOK.name.en == "Iglu Iglu"
