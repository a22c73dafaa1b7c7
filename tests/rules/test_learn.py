"""The guided first games: each step is played by the rules, said in three languages, and cites what exists."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from companion.night.games import game_view, shown_games
from companion.rules import games, learn
from companion.rules.core import RulesError
from companion.rules.i18n import languages
from companion.rules.learn import LessonStep, has_lesson, lesson
from companion.rules.rulebook import rulebook

TAUGHT = [game_id for game_id in games() if has_lesson(game_id)]


def test_there_are_such_games() -> None:
    assert list(shown_games()) == TAUGHT
    with pytest.raises(KeyError):
        lesson("thin-ice")


@pytest.mark.parametrize("game_id", TAUGHT)
def test_the_rules_play_every_step(game_id: str) -> None:
    steps = lesson(game_id)
    assert 8 <= len(steps) <= 20
    # There is something to play, to tap and to be refused, not only to read.
    assert sum(step.before is not step.after for step in steps) >= 5
    assert sum(step.tap is not None for step in steps) >= 3
    assert any(step.ruling is not None for step in steps)


@pytest.mark.parametrize("game_id", TAUGHT)
def test_every_text_is_there_in_every_language(game_id: str) -> None:
    for step in lesson(game_id):
        for text in (step.title, step.text, step.ask):
            if text is not None:
                assert set(text) == set(languages())
                assert len(set(text.values())) == len(text)
        assert (step.ask is None) == (step.tap is None)


@pytest.mark.parametrize("game_id", TAUGHT)
def test_the_clauses_are_those_of_the_rulebook_and_the_place_is_in_the_picture(game_id: str) -> None:
    book, draw = rulebook(game_id), game_view(game_id).draw
    for step in lesson(game_id):
        assert step.clauses and all(clause in book.clauses for clause in step.clauses)
        if step.tap:
            assert f'id="{step.tap}"' in draw(step.before, "en", 0)


def steps_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **step: object) -> tuple[LessonStep, ...]:
    """Return the steps of a lesson of Igloo Pop that has one step only."""
    text = {"en": "Text"}
    script = {
        "players": [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}],
        "steps": [{"title": text, "text": text, "clauses": [], **step}],
    }
    (tmp_path / learn.NAME).write_text(json.dumps(script), encoding="utf-8")
    monkeypatch.setattr(learn, "_file", lambda _: tmp_path / learn.NAME)
    return learn.lesson.__wrapped__("igloo-pop")  # what was read before is not asked


def test_a_script_that_the_rules_refuse_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RulesError):
        steps_of(tmp_path, monkeypatch, moves=["start"])
    with pytest.raises(ValueError, match="is to be refused"):
        steps_of(tmp_path, monkeypatch, **{"try": "deal card1 2"})
    assert len(steps_of(tmp_path, monkeypatch, moves=["deal card1 2"])) == 1
