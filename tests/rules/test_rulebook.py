"""The clause files: two languages held together, sentences, statuses, search."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from string import Formatter
from types import SimpleNamespace

import pytest

from companion.rules import game, games
from companion.rules.core import Problem, Reason, ScoreLine
from companion.rules.i18n import languages
from companion.rules.rulebook import FOLDER, STATUSES, Clause, Dispute, Rulebook, fold, rulebook, rulebooks

FORMS = {"", "player", "and", "or", "plural", "bare"}
WORDS_ONLY = {
    "clauses": {"heading", "text", "note"},
    "disputes": {"question", "ruling"},
    "sentences": {"text"},
    "lines": {"text"},
    "options": {"question", "values"},
}


def raw(game_id: str, lang: str) -> dict:
    return tomllib.loads((FOLDER / f"{game_id}.{lang}.toml").read_text(encoding="utf-8"))


def fields(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


def forms(template: str) -> set[str]:
    return {spec.split("|")[0] for _, name, spec, _ in Formatter().parse(template) if name is not None and spec}


@pytest.mark.parametrize("lang", languages()[1:])
@pytest.mark.parametrize("game_id", rulebooks())
def test_all_languages_have_the_same_tables(game_id: str, lang: str) -> None:
    en, translated = raw(game_id, "en"), raw(game_id, lang)
    assert set(en) == set(translated)
    for table in en:
        assert set(en[table]) == set(translated[table]), table
    for table, words in WORDS_ONLY.items():
        for key, entry in en.get(table, {}).items():
            other = translated[table][key]
            assert set(entry) & words == set(other), f"{table}.{key}: {lang} has the words and nothing else"
            if table == "options":
                assert set(entry["values"]) == set(other["values"])


@pytest.mark.parametrize("lang", languages()[1:])
@pytest.mark.parametrize("game_id", rulebooks())
def test_all_languages_fill_the_same_fields(game_id: str, lang: str) -> None:
    book = rulebook(game_id)
    for key, words in [*((k, s.text) for k, s in book.sentences.items()), *book.lines.items()]:
        assert fields(words.en) == fields(words.of(lang)), key
        assert forms(words.en) | forms(words.of(lang)) <= FORMS, key


@pytest.mark.parametrize("game_id", rulebooks())
def test_the_words_are_words(game_id: str) -> None:
    for lang in languages():
        data = raw(game_id, lang)
        for table in WORDS_ONLY:
            for key, entry in data.get(table, {}).items():
                texts = [v for v in entry.values() if isinstance(v, str)]
                assert texts and all(text.strip() == text and text for text in texts), (lang, table, key)


@pytest.mark.parametrize("game_id", rulebooks())
def test_every_reference_leads_somewhere(game_id: str) -> None:
    book = rulebook(game_id)
    for clause in book.clauses.values():
        assert clause.rulebook in book.rulebooks, clause.id
    cited = [(d.id, d.clauses) for d in book.disputes.values()] + [(s.key, s.clauses) for s in book.sentences.values()]
    for key, clauses in cited:
        assert all(clause in book.clauses for clause in clauses), key
    named = {i.option for t in (book.clauses, book.disputes, book.sentences) for i in t.values()}
    assert named - {None} <= set(book.options)


@pytest.mark.parametrize("game_id", rulebooks())
def test_no_dispute_claims_more_than_its_clauses_carry(game_id: str) -> None:
    book = rulebook(game_id)
    for dispute in book.disputes.values():
        weakest = STATUSES.index(book.weakest_status(dispute.clauses))
        # What is unknown may be bridged by a house ruling, and by nothing stronger.
        assert STATUSES.index(dispute.status) >= min(weakest, STATUSES.index("house ruling")), dispute.id


@pytest.mark.parametrize("game_id", games(examples=True))
def test_the_options_of_a_game_are_asked_in_its_rulebook(game_id: str) -> None:
    book, played = rulebook(game_id), game(game_id)
    assert {option.name for option in played.options} == set(book.options)
    for option in played.options:
        assert option.clause in book.clauses
        for value in option.values:
            assert all(book.option(option.name).value(value).to_json().values())


@pytest.mark.parametrize("game_id", games(examples=True))
def test_every_option_is_named_by_a_clause(game_id: str) -> None:
    tables = {"options": {}, "disputes": {}, **raw(game_id, "en")}
    assert {clause.get("option") for clause in tables["clauses"].values()} - {None} <= set(tables["options"])
    named = {entry.get("option") for kind in ("clauses", "disputes") for entry in tables[kind].values()}
    assert set(tables["options"]) <= named


def choices(node: ast.expr) -> set[str]:
    """Return the texts that an expression may be, as far as they stand there."""
    if isinstance(node, ast.IfExp):
        return choices(node.body) | choices(node.orelse)
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


@pytest.mark.parametrize("game_id", games(examples=True))
def test_every_sentence_that_the_code_names_is_there(game_id: str) -> None:
    folder = Path(game.__code__.co_filename).parent / game_id.replace("-", "_")
    named: set[str] = set()
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            if called in ("Reason", "Problem", "problem") and node.args:
                named |= choices(node.args[0])
    assert named
    assert not named - set(rulebook(game_id).sentences)


def made(sentences: dict[str, tuple[str, str]], words: tuple[dict, dict] = ({}, {})) -> Rulebook:
    files = {}
    for n, lang in enumerate(("en", "fr")):
        files[lang] = {
            "game": {"name": "X"},
            "rulebooks": {"D": "the rules"},
            "clauses": {
                "X-1": {"heading": "h", "text": "un œuf élevé"},
                "X-2": {"heading": "h", "text": "t", "note": "n"},
                "X-3": {"heading": "h", "text": "t"},
            },
            "sentences": {key: {"text": text[n]} for key, text in sentences.items()},
            "lines": {key: {"text": text[n]} for key, text in sentences.items()},
            "options": {"x.o": {"question": "?", "values": {"true": "yes", "false": "no"}}},
            "words": words[n],
        }
    facts = {"X-1": ("text", None), "X-2": ("house ruling", "x.o"), "X-3": ("deduced", None)}
    for key, (status, option) in facts.items():
        files["en"]["clauses"][key] |= {"rulebook": "D", "status": status} | ({"option": option} if option else {})
    return Rulebook("x", files)


TABLE = SimpleNamespace(names=("Ann", "Bob", "Rot"), colours=("red", "blue", "green"))
COLOURS = ({"red": "red", "card1": "place 1"}, {"red": "rouge", "blue": "bleu", "green": "vert", "card1": "la place 1"})


@pytest.mark.parametrize(
    ("template", "value", "en", "fr"),
    [
        ("{x:player}", "red", "Ann (red)", "Ann (rouge)"),
        ("{x:player}", 1, "Bob (blue)", "Bob (bleu)"),
        ("{x:player}", ["red", "blue"], "Ann (red) and Bob (blue)", "Ann (rouge) et Bob (bleu)"),
        ("{x:player}", ["red", 1, 2], "Ann (red), Bob (blue) and Rot (green)", "Ann (rouge), Bob (bleu) et Rot (vert)"),
        ("{x:player}", "violet", "Violet", "Violet"),
        ("{x:player}", 7, "7", "7"),
        ("{x}", "card1", "Place 1", "La place 1"),
        ("{x:bare}", "card1", "Card1", "Card1"),
        ("{x}", True, "Yes", "Oui"),
        ("{x}", False, "No", "Non"),
        ("{x}", ["card1", 2], "Place 1, 2", "La place 1, 2"),
        ("{x:and}", ["a", "b", "c"], "A, b and c", "A, b et c"),
        ("{x:or}", ["a", "b"], "A or b", "A ou b"),
        ("{x:or}", ["a"], "A", "A"),
        ("{x:and}", [], "", ""),
        ("{x:plural|one|# of}", 0, "0 of", "0 of"),
        ("{x:plural|une carte|# cartes}", 0, "0 cartes", "0 carte"),
        ("{x:plural|# unité|# unités}", 0, "0 unités", "0 unité"),
        ("{x:plural|one|# of}", 1, "One", "One"),
        ("{x:plural|one|# of}", 2, "2 of", "2 of"),
        ("{x:plural|#|#}", -1, "-1", "-1"),
        ("é{x}", 1, "É1", "É1"),
    ],
)
def test_facts_are_printed_in_their_form(template: str, value: object, en: str, fr: str) -> None:
    book = made({"s": (template, template)}, COLOURS)
    named = {"names": TABLE.names, "colours": TABLE.colours}
    assert book.sentence("s", {"x": value}, "en", **named) == en
    assert book.sentence("s", {"x": value}, "fr", **named) == fr
    assert book.line(ScoreLine("s", 1, (), {"x": value}), "fr", **named) == fr
    assert book.problem(Problem("s", {"x": value}, ()), TABLE, "fr") == fr


def test_a_player_without_a_name_or_named_like_the_colour_is_the_colour() -> None:
    book = made({"s": ("{x:player}!", "{x:player} !")}, COLOURS)
    named = {"names": ("", "Rouge", "GREEN"), "colours": ("blue", "red", "green")}
    assert book.sentence("s", {"x": 0}, "en", **named) == "Blue!"
    assert book.sentence("s", {"x": 1}, "fr", **named) == "Rouge !"
    assert book.sentence("s", {"x": 2}, "en", **named) == "Green!"
    assert book.sentence("s", {"x": 0}, "en", names=("Zoé",)) == "Zoé!"
    assert book.sentence("s", {"x": 0}, "en", names=("zoé",), colours=("blue",)) == "zoé (blue)!"


def test_an_unknown_form_and_a_missing_fact_are_errors() -> None:
    book = made({"s": ("{x:loud}", "{x:loud}"), "t": ("{y}", "{y}")})
    with pytest.raises(ValueError, match="loud"):
        book.sentence("s", {"x": 1})
    with pytest.raises(KeyError):
        book.sentence("t", {"x": 1})


def test_a_ruling_stands_on_its_weakest_ground_and_names_the_option() -> None:
    book = made({"s": ("s {x}", "f {x}")})
    ruling = book.ruling(False, Reason("s", {"x": 1}, ("X-1", "X-3")), TABLE)
    assert (ruling.legal, ruling.status, ruling.option, ruling.clauses) == (False, "deduced", None, ("X-1", "X-3"))
    assert (ruling.en, ruling.fr, ruling.facts) == ("S 1", "F 1", {"x": 1})
    both = made({"s": ("s {x}.", "f {x}."), "t": ("t {x}.", "g {x}.")}).ruling(
        False, Reason("s", {"x": 1, "also": ["t"]}, ("X-1",)), TABLE
    )
    assert (both.en, both.fr) == ("S 1. T 1.", "F 1. G 1.")
    companion = book.ruling(True, Reason("s", {"x": 1}, ("X-1", "X-2", "X-3")), TABLE)
    assert (companion.status, companion.option) == ("house ruling", "x.o")
    assert companion.to_json()["option"] == "x.o"


def test_a_wrong_status_in_a_file_is_an_error() -> None:
    files = {lang: raw("igloo-pop", lang) for lang in ("en", "fr")}
    files["en"]["clauses"]["POP-1.1"]["status"] = "probably"
    with pytest.raises(ValueError, match="probably"):
        Rulebook("igloo-pop", files)


def test_search_knows_no_accents_and_no_case() -> None:
    book = made({})
    assert [item.id for item in book.search("OEUF Eleve", "fr")] == ["X-1"]
    assert book.search("  ", "fr") == []
    assert book.search("nowhere", "fr") == []
    assert fold("Été ŒUVRE") == "ete oeuvre"


def test_search_finds_clauses_and_disputes_by_words_and_by_the_beginning_of_an_id() -> None:
    book = rulebook("igloo-pop")
    found = book.search("highest number")
    assert {"POP-3.4", "POP-Q.5"} <= {item.id for item in found}
    assert {type(item) for item in found} == {Clause, Dispute}
    assert book.search("pop-3.1")[0].id == "POP-3.1"
    assert {"POP-3.10", "POP-3.11"} <= {item.id for item in book.search("POP-3.1")}
    assert book.search("youngest beer")[0].id == "POP-1.2", "where nothing has all words, the most of them"


def test_search_tries_the_other_language() -> None:
    assert rulebook("igloo-pop").search("youngest", "fr")[0].id == "POP-1.2"


def test_ids_are_found_in_any_case() -> None:
    book = rulebook("igloo-pop")
    assert book.clause(" pop-m.3").id == "POP-M.3"
    assert book.dispute("pop-q.10").id == "POP-Q.10"
    with pytest.raises(KeyError):
        book.clause("POP-9.9")
    with pytest.raises(KeyError):
        rulebook("chess")
