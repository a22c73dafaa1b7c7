"""The sentences: each one that is written is used, and the words of the game are there."""

from __future__ import annotations

import ast
from pathlib import Path

from companion.rules.arctic import score
from companion.rules.arctic.components import ANIMALS
from companion.rules.arctic.moves import KINDS
from companion.rules.arctic.position import PHASES
from companion.rules.rulebook import rulebook

BOOK = rulebook("arctic")


def literals() -> set[str]:
    """Return every text that stands in the code."""
    found: set[str] = set()
    for path in Path(score.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return found


def composed() -> set[str]:
    """Return the keys that the code puts together: where the last card goes, and what is turned up."""
    found = {f"placed-{where}{how}" for where in ("bottom", "under") for how in ("", "-only", "-short")}
    return found | {"river-card", "penalty-card"}


SHARED = {"two-turns", "unexplained"}
"""Sentences that the search shared by all games speaks."""


def test_every_sentence_is_used() -> None:
    assert not set(BOOK.sentences) - literals() - composed() - SHARED
    assert not composed() - set(BOOK.sentences)


def test_every_line_of_the_sheet_is_used() -> None:
    assert set(BOOK.lines) <= literals()


def test_every_word_of_the_game_is_there() -> None:
    for word in (*ANIMALS, *KINDS, *PHASES):
        assert BOOK.word(word, "fr") != word or word in {"A", "totem"}, word
    assert BOOK.word("moose", "fr") == "élan" and BOOK.word("B2", "en") == "B, the extra step"


def test_a_card_that_nobody_saw_and_a_single_one_are_told_as_people_say_it() -> None:
    unseen = {"who": 0, "card": "?"}
    assert (
        BOOK.sentence("not-in-penalty", unseen, names=["Ann"]) == "Ann cannot have an unseen card in the Penalty zone."
    )
    assert (
        BOOK.sentence("not-in-hand", unseen, "fr", names=["Ann"]) == "Ann ne peut pas avoir une carte non vue en main."
    )
    one = next(key for key, sentence in BOOK.sentences.items() if "{missing:plural|For" in sentence.text.en)
    assert "For the missing card, one card" in BOOK.sentence(one, {"missing": 1})
    assert "Pour la carte manquante, une" in BOOK.sentence(one, {"missing": 1}, "fr")
    assert "For the missing cards, 2 cards" in BOOK.sentence(one, {"missing": 2})
