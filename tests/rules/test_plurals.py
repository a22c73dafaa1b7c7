"""Numbers in sentences: one bear has come, two bears have come."""

from __future__ import annotations

import re

import pytest

from companion.rules import game
from companion.rules.core import Problem
from companion.rules.i18n import languages
from companion.rules.rulebook import rulebook, rulebooks
from tests.rules.test_rulebook import raw

PLURALS = {
    "en": "actions|bears|cards|floes|foxes|igloos|packs|penguins|pieces|points|squares|steps|thalers|tiles|tokens",
    "fr": "actions|banquises|cartes|igloos|inuits|manchots|packs|pièces|pions|points|poissons|renards|tuiles",
    "de": "Bären|Eisschollen|Fischen?|Füchse|Iglus|Karten|Pinguine|Plättchen|Punkten?|Schritte|Taler",
}
MANY = {
    "arctic": {"card-twice", "excess", "hand-long", "packs-wrong", "place-crowded", "run"},
    "ice-team": {"bears-together", "too-many-bears", "too-many-floes", "too-many-of-a-face"},
    "igloo-pop": {
        "card-twice",
        "none-match",
        "none-match-return",
        "number-twice",
        "too-many-cards",
        "too-many-igloos",
        "too-many-thalers",
    },
    "iglu-iglu": {"points-many"},
    "thin-ice": {"too-many"},
}
"""Sentences of numbers that are always greater than one."""


@pytest.mark.parametrize("lang", languages())
@pytest.mark.parametrize("game_id", rulebooks())
def test_a_number_before_a_noun_has_a_plural_form(game_id: str, lang: str) -> None:
    bare = re.compile(rf"\{{\w+\}} (?:[\w-]+ |\{{\w+\}} ){{0,2}}(?:{PLURALS[lang]})\b")
    sentences = {**raw(game_id, lang)["sentences"], **raw(game_id, lang)["lines"]}
    found = {key: bare.findall(one["text"]) for key, one in sentences.items() if key not in MANY[game_id]}
    of_no_number = re.compile(
        r"\{(who|square|squares|place|card|target|space|from|to|step|face|team|token|rank|number)\}"
    )
    wrong = {key: [hit for hit in hits if not of_no_number.match(hit)] for key, hits in found.items()}
    assert not {key: hits for key, hits in wrong.items() if hits}


@pytest.mark.parametrize(
    ("key", "facts", "en", "fr", "de"),
    [
        (
            "bears-tiles",
            {"count": 1, "seen": 0},
            "One bear has come, more than bear tiles have been turned over (0).",
            "1 ours est venu, plus qu’il n’y a de tuiles ours retournées (0).",
            "Ein Bär ist gekommen, mehr als Bären-Plättchen aufgedeckt wurden (0).",
        ),
        (
            "packs-many",
            {"count": 2, "seen": 1},
            "2 pack floes are on the board, more than pack tiles have been turned over (1).",
            "2 packs sont sur le plateau, plus qu’il n’y a de tuiles pack retournées (1).",
            "Auf dem Spielplan liegen 2 Packeis, mehr als aufgedeckt wurden (1).",
        ),
        (
            "hands-unknown",
            {"count": 1, "left": 0},
            "One unknown tile is in hands, more than are left with a red frame (0).",
            "1 tuile inconnue est en main, plus qu’il n’en reste à cadre rouge (0).",
            "Ein unbekanntes Plättchen ist auf der Hand, mehr als mit rotem Rahmen noch übrig sind (0).",
        ),
    ],
)
def test_one_bear_has_come(key: str, facts: dict[str, int], en: str, fr: str, de: str) -> None:
    rules = game("iglu-iglu")
    state = rules.start(rules.seats(2))
    words = rulebook("iglu-iglu").problem_words(Problem(key, facts, ()), state)
    assert [words.of(lang) for lang in ("en", "fr", "de")] == [en, fr, de]
