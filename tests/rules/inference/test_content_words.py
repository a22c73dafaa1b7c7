"""What lies on a place, in words: of every game, in every language, nothing as programs write it."""

from __future__ import annotations

import tomllib
from random import Random

import pytest

from companion.rules import game, games
from companion.rules.core import CHANCE, NOBODY
from companion.rules.i18n import CLAUSES
from companion.rules.inference.explanation import content_words
from companion.rules.inference.turns import content
from companion.rules.rulebook import rulebook


@pytest.mark.parametrize("game_id", games())
def test_every_content_of_a_random_game_is_told_in_words(game_id: str) -> None:
    rules, rng = game(game_id), Random(21)
    contents = set()
    for players in rules.players:
        state = rules.start(rules.seats(players))
        while state.to_move != NOBODY:
            contents |= {content(place) for place in state.position()["places"].values() if place is not None}
            state = state.after(state.chance(rng) if state.to_move == CHANCE else rng.choice(list(state.moves())))
    for lang in ("en", "fr", "de"):
        words = tomllib.loads((CLAUSES / f"{game_id}.{lang}.toml").read_text(encoding="utf-8"))["words"]
        for ground, things in contents:
            assert {ground, f"ground {ground}"} & set(words) or "/" in ground or ground.isdigit(), (lang, ground)
            for kind, what, _ in things:
                assert {kind, f"{kind} {what}"} & set(words), (lang, kind)
                assert not isinstance(what, str) or {what, f"{kind} {what}"} & set(words), (lang, what)


def test_a_card_is_told_as_everywhere_else() -> None:
    said = content_words(rulebook("arctic"), ("river", (("moose", (2, "fox"), 1),)))
    assert said.en == "a River card, moose-2-fox"
    assert said.of("fr") == "une carte de la Rivière, élan 2 avec renard"
    assert said.of("de") == "eine Flusskarte, Elch-2-Fuchs"


def test_a_piece_is_told_in_the_order_of_the_language() -> None:
    said = content_words(rulebook("ice-team"), ("plain", (("bear", "green", 2),)))
    assert said.en == "a plain floe, 2 × green bear"
    assert said.of("fr") == "une banquise simple, 2 × ours vert"
    assert said.of("de") == "eine leere Eisscholle, 2 × grüner Bär"
