"""Looking up a clause as people ask: the questions of `questions.toml`, of which half was kept while this was tuned."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

import pytest

from companion.rules import games
from companion.rules.clause_search import ClauseIndex, Passage, Thesaurus, stem, thesaurus, words_of
from companion.rules.i18n import CLAUSES
from companion.rules.rulebook import look_up, rulebook

QUESTIONS = tomllib.loads((Path(__file__).parent / "questions.toml").read_text(encoding="utf-8"))
NONE = Thesaurus({}, frozenset(), {})


def asked(*, kept: bool) -> list[tuple[str, str, str, set[str]]]:
    """Return the questions in the languages that have clause files: the second, fourth … of each list were kept."""
    return [
        (game_id, lang, question, set(answers.split()))
        for game_id, languages in QUESTIONS.items()
        for lang, questions in languages.items()
        if (CLAUSES / f"{game_id}.{lang}.toml").exists()
        for number, (question, answers) in enumerate(questions)
        if number % 2 == kept
    ]


def first_two(game_id: str, lang: str, question: str) -> set[str]:
    return {item.id for item in rulebook(game_id).search(question, lang)[:2]}


def answered_first(file: str) -> list[list[bool]]:
    """Return of each list of questions, by game and language, which are answered by the first two that are found."""
    lists = tomllib.loads((Path(__file__).parent / file).read_text(encoding="utf-8"))
    return [
        [bool(first_two(game_id, lang, text) & set(answers.split())) for text, answers in told]
        for game_id, languages in lists.items()
        for lang, told in languages.items()
    ]


def test_there_are_thirty_questions_a_game_and_forty_a_language() -> None:
    assert set(QUESTIONS) == set(games())
    for game_id, languages in QUESTIONS.items():
        assert {lang: len(questions) for lang, questions in languages.items()} == {"en": 10, "fr": 10, "de": 10}
        known = {*rulebook(game_id).clauses, *rulebook(game_id).disputes}
        assert {answer for questions in languages.values() for _, told in questions for answer in told.split()} <= known


@pytest.mark.parametrize(("kept", "least"), [(False, 0.9), (True, 0.95)])
def test_the_right_clause_is_among_the_first_two(kept: bool, least: float) -> None:
    questions = asked(kept=kept)
    missed = [
        (lang, text) for game_id, lang, text, answers in questions if not first_two(game_id, lang, text) & answers
    ]
    assert len(questions) - len(missed) >= least * len(questions), missed


def test_questions_that_the_ranking_was_not_made_for_are_answered_as_often_as_when_they_were_new() -> None:
    """46 of 60 at the first look, 55 since each clause has phrases; nothing was tuned on them, nor may it be."""
    found = [one for answered in answered_first("fresh_questions.toml") for one in answered]
    assert len(found) == 60
    assert sum(found) >= 55


def test_a_third_set_is_answered_as_often_as_when_its_kept_half_was_asked() -> None:
    """Half was looked at: 50 of 60, then 59, 57 with others' phrases beside it. The other was kept: 53, then 56, 55."""
    drawn = random.Random(21)
    halves: dict[bool, list[bool]] = {True: [], False: []}
    for answered in answered_first("third_questions.toml"):
        looked_at = set(drawn.sample(range(10), 5))
        for number, found in enumerate(answered):
            halves[number in looked_at].append(found)
    assert len(halves[True]) == len(halves[False]) == 60
    assert sum(halves[True]) >= 57 and sum(halves[False]) >= 55, halves


@pytest.mark.parametrize(("file", "looked_at", "kept"), [("fourth", 52, 51), ("fifth", 54, 53)])
def test_sets_of_others_are_answered_as_often_as_when_their_kept_halves_were_asked(
    file: str, looked_at: int, kept: int
) -> None:
    """Without the phrases of the fourth round, of which nobody saw a question: 52 and 49, 47 and 49 of 60."""
    places = set(random.Random(21).sample(range(10), 5))
    halves: dict[bool, list[bool]] = {True: [], False: []}
    for answered in answered_first(f"{file}_questions.toml"):
        for number, found in enumerate(answered):
            halves[number in places].append(found)
    assert len(halves[True]) == len(halves[False]) == 60
    assert sum(halves[False]) >= looked_at and sum(halves[True]) >= kept, halves


@pytest.mark.parametrize(
    ("lang", "question"),
    [("fr", "sauter par dessu un ourss"), ("de", "über einen bären sprimgen"), ("en", "jumpp over a baer")],
)
def test_what_is_mistyped_is_understood(lang: str, question: str) -> None:
    assert "ICE-1.2" in first_two("ice-team", lang, question)


def test_the_question_of_the_report_are_answered_first() -> None:
    for game_id, lang, question, answer in (
        ("iglu-iglu", "en", "two bears same floe", "IGLU-G.7"),
        ("iglu-iglu", "fr", "ours sur une case de coin", "IGLU-1.E.11d"),
        ("iglu-iglu", "en", "how do I win", "IGLU-V.1"),
        ("igloo-pop", "en", "what if nobody is right", "POP-3.7"),
    ):
        assert rulebook(game_id).search(question, lang)[0].id == answer


USUAL = {
    "igloo-pop": {"POP-4.4", "POP-2.8", "POP-3.7"},
    "iglu-iglu": {"IGLU-V.1", "IGLU-E.1", "IGLU-2.1", "IGLU-1.E.11c"},
    "arctic": {"ARC-V.4", "ARC-C.2", "ARC-E.1"},
    "ice-team": {"ICE-E.2", "ICE-0.1", "ICE-2.2", "ICE-E.1"},
}
"""What answers the questions that the page offers; a language has three of them."""


@pytest.mark.parametrize("lang", ["en", "fr", "de"])
def test_what_the_page_offers_to_be_asked_is_answered_first(lang: str) -> None:
    for game_id, answers in USUAL.items():
        book = rulebook(game_id)
        best = [book.search(question, lang)[0].id for question in thesaurus(game_id, lang).usual]
        assert len(set(best)) == 3, (game_id, best)
        assert set(best) <= answers, (game_id, best)


@pytest.mark.parametrize(
    ("game_id", "lang", "question", "answer"),
    [
        ("iglu-iglu", "en", "what is a harpoon for", "IGLU-1.E.10"),
        ("ice-team", "fr", "je ne peux pas bouger", "ICE-E.3"),
        ("igloo-pop", "fr", "je n’ai plus de thalers", "POP-2.7"),
    ],
)
def test_a_language_is_told_by_its_small_words_too(game_id: str, lang: str, question: str, answer: str) -> None:
    for page in ("en", "fr", "de"):
        assert look_up(question, [rulebook(game_id)], page)[0][1].id == answer, (lang, page)


def test_the_game_that_is_named_is_looked_in_alone() -> None:
    books = [rulebook(one) for one in games()]
    assert {book.game_id for book, _ in look_up("how do I win", books)} == set(games())
    assert {book.game_id for book, _ in look_up("how do I win arctic", books)} == {"arctic"}
    assert {book.game_id for book, _ in look_up("arctic", books)} <= set(games())
    assert look_up("xyzzy", books) == []
    assert look_up("anything", []) == []


def test_every_synonym_file_is_of_a_game_and_names_clauses_that_there_are() -> None:
    for game_id in games():
        known = {*rulebook(game_id).clauses, *rulebook(game_id).disputes}
        for lang in ("en", "fr", "de"):
            words = thesaurus(game_id, lang)
            assert words.same and words.idle and set(words.asked) == known, "each is asked for in some way"
            assert all(phrases and all(map(words_of, phrases)) for phrases in words.asked.values())
    assert thesaurus("iglu-iglu", "eo") == NONE


def test_words_are_known_by_stem_beginning_part_and_synonym() -> None:
    words = Thesaurus({"bear": frozenset({"polar"})}, frozenset({"the"}), {"B": ["white animal"]})
    passages = [Passage("A", [(1.0, "The polar foxes")]), Passage("B", [(1.0, "walking inuit")]), Passage("C", [])]
    index = ClauseIndex(passages, "en", words)
    assert [one for _, one in index.ask("the bears")] == ["A"]
    assert [one for _, one in index.ask("walked")] == ["B"]
    assert [one for _, one in index.ask("inu")] == ["B"]
    assert [one for _, one in index.ask("white")] == ["B"], "as the table asks"
    assert [one for _, one in index.ask("arcticfoxes")] == []
    assert [one for _, one in ClauseIndex([Passage("A", [(1.0, "Polarfuchs")])], "de", NONE).ask("Fuchs")] == ["A"]
    assert index.ask("the") == [] and index.ask("") == []
    assert index.knows("bears inuit") == 2.0 and 0 < index.knows("inu") < 1


def test_what_is_asked_as_a_table_asks_goes_first() -> None:
    """Three clauses of the same words: what tells them apart are the words that say nothing by themselves."""
    passages = [Passage(one, [(1.0, "A thaw removes a floe.")]) for one in "ABC"]
    asked = {"A": ["which floe may I thaw"], "B": ["when may I thaw a floe"], "C": ["thaw", "who thaws a floe"]}
    index = ClauseIndex(passages, "en", Thesaurus({}, frozenset({"which", "when", "who", "may", "i", "a"}), asked))
    for question, first in (("when may a floe be thawed", "B"), ("which floe do I thaw", "A"), ("who thaws", "C")):
        assert index.ask(question)[0][1] == first
    assert index.ask("harpoon") == []


def test_stems() -> None:
    assert stem("berries", "en") == stem("berry", "en")
    assert stem("hopping", "en") == stem("hop", "en")
    assert stem("tuiles", "fr") == stem("tuile", "fr")
    assert stem("karten", "de") == stem("karte", "de")
    assert stem("kartoj", "eo") == "kartoj"
