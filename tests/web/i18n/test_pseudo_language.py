"""Another language is one catalogue and one set of clause files: everything that is said is said in it."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from companion.cli import run
from companion.night.games import game_view
from companion.night.games.board import BoardView
from companion.rules import games
from companion.rules import i18n as words
from companion.rules.core import RulesError, State
from companion.rules.drawing import picture
from companion.rules.i18n import CATALOGUES, Words, languages
from companion.rules.record import read_file
from companion.rules.rulebook import rulebook, seats
from tests.rules.test_rulings import RECORDS, golden
from tests.web.assembly import SmallCompanion
from tests.worlds.pseudo import CODE, pseudo, untranslated
from web.i18n import catalogue

ROOT = Path(__file__).resolve().parents[3]
RULES = ROOT / "tests" / "rules"

Speak = Callable[[str], None]


def notation(state: State[Any]) -> frozenset[str]:
    """Return what is no word of a language: names of people and places, and moves as they are written."""
    return frozenset(name.casefold() for name in (*getattr(state, "names", ()), *state.position().get("places", {})))


def played(game_id: str) -> Iterator[tuple[State[Any], Any]]:
    """Yield the states of the golden games with the next move."""
    for name in RECORDS[game_id]:
        replay = read_file(RULES / name)
        assert replay.record is not None and replay.state is not None
        for number, text in enumerate(replay.record.moves):
            yield replay.at(number), replay.state.game.parse(text)
        yield replay.state, None


def test_the_language_is_there_because_its_files_are(speak: Speak) -> None:
    assert languages() == ("en", "fr", "de")
    speak("whole")
    assert languages() == ("en", "fr", "de", CODE)


@pytest.mark.parametrize("game_id", games(examples=True))
def test_every_ruling_of_the_golden_games_is_in_the_language(game_id: str, speak: Speak) -> None:
    speak("whole")
    book = rulebook(game_id)
    replays = [read_file(RULES / name) for name in RECORDS[game_id]]
    state = replays[0].state
    assert state is not None
    count = 0
    lines = golden(game_id).read_text(encoding="utf-8").splitlines()
    for line in lines:
        kept = json.loads(line)
        for replay in replays:
            assert replay.record is not None
            if kept["after"] > len(replay.record.moves):
                continue
            before = replay.at(kept["after"])
            ruling = before.check(before.game.parse(kept["move"]))
            if ruling.legal == kept["legal"] and dict(ruling.facts) == kept["facts"]:
                said = ruling.words.of(CODE)
                assert said.startswith("⟦") and said.endswith("⟧"), said
                assert untranslated(said, notation(before)) == [], said
                assert ruling.to_json()[CODE] == said
                count += 1
    assert count >= len(lines)
    for seat in state.score().sheets:
        for line in seat.lines:
            names, colours = seats(state)
            said = book.line(line, CODE, names=names, colours=colours)
            assert untranslated(said, notation(state)) == [], said
    for reason in (state.end_reason, state.ranking_reason):
        if reason is not None:
            said = book.ruling(True, reason, state).words.of(CODE)
            assert untranslated(said, notation(state)) == [], said


@pytest.mark.parametrize("game_id", games(examples=True))
def test_all_that_a_table_is_told_is_in_the_language(game_id: str, speak: Speak) -> None:
    """Prompts, moves as they are tapped, what lies in hands, and the captions of pictures."""
    speak("whole")
    view = game_view(game_id)
    rng = Random(6)
    count = 0
    for state, move in played(game_id):
        if rng.random() < 0.7 and move is not None:
            continue
        known = notation(state)
        drawn = picture(state, move, CODE)
        assert drawn.count("⟦") >= 1
        if not isinstance(view, BoardView):
            continue
        said: list[Words] = [view.prompt(state)]
        for seat in range(len(state.score().sheets)):
            said += [*view.notes(state, seat), *view.private(state, seat)]
        for one in list(state.moves())[:20]:
            tap = view.tap(state, one)
            said += [tap.words, tap.group, tap.short, *(words for _, words in tap.keys)]
        for one in said:
            told = one.of(CODE)
            assert untranslated(told, known) == [], told
            count += bool(told)
    assert count > 30 or not isinstance(view, BoardView)


@pytest.mark.parametrize("game_id", games(examples=True))
def test_clauses_disputes_and_options_are_in_the_language(game_id: str, speak: Speak) -> None:
    speak("whole")
    book = rulebook(game_id)
    english = rulebook(game_id)
    for clause in book.clauses.values():
        assert clause.text.of(CODE) == pseudo(english.clauses[clause.id].text.en)
        assert clause.to_json()[CODE] == clause.text.of(CODE)
        assert clause.note.of(CODE).startswith("⟦") == bool(clause.note.en)
    for dispute in book.disputes.values():
        assert dispute.question.of(CODE).startswith("⟦") and dispute.ruling.of(CODE).startswith("⟦")
    for option in book.options.values():
        assert option.question.of(CODE).startswith("⟦")
        assert all(words.of(CODE).startswith("⟦") for words in option.values.values())
    # It is searched in its own words, too.
    some = next(iter(book.clauses.values()))
    word = max(some.text.of(CODE).strip("⟦⟧.").split(), key=len)
    assert book.search(word, CODE)


def test_what_a_record_does_wrong_is_told_in_the_language(speak: Speak) -> None:
    speak("whole")
    wrong: list[RulesError] = []
    for game_id in games():
        state = read_file(RULES / RECORDS[game_id][0]).state
        assert state is not None
        for text in ("", "xyzzy", "p", "place", "walk b2", "deal card1 99", "x" * 300):
            try:
                state.game.parse(text)
            except RulesError as error:
                wrong.append(error)
        for key, value in (("phase", "xyzzy"), ("nothing", 1), ("places", {"xyzzy": None}), ("players", 4)):
            try:
                state.game.from_position({**state.position(), key: value})
            except RulesError as error:
                wrong.append(error)
        for players in ([], [{"name": "A", "colour": "red"}] * 9):
            try:
                state.game.start(players)
            except RulesError as error:
                wrong.append(error)
    assert len(wrong) > 30
    for error in wrong:
        said = error.words.of(CODE)
        assert said.startswith("⟦") and said.endswith("⟧"), (error.en, said)


def test_no_sentence_is_put_together_where_no_catalogue_knows_it() -> None:
    """A text in the sources is one constant, whose facts stand in braces; others bring their languages with them."""
    loose, count = [], 0
    for path in sorted((ROOT / "companion").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name not in catalogue.SENTENCES:
                continue
            made = isinstance(node.args[0], ast.JoinedStr | ast.IfExp | ast.BinOp)
            if made and not (name == "Words" and len(node.args) > 1):
                loose.append(f"{path.relative_to(ROOT)}:{node.lineno}")
            count += isinstance(node.args[0], ast.Constant)
    assert loose == []
    assert count > 500


@pytest.mark.parametrize("language", ["de", "fr"])
def test_no_sentence_has_two_meanings_in_a_language(language: str) -> None:
    """A catalogue finds a sentence by the English one: its file has it once, after two hands wrote in it as well."""
    said: dict[str, list[str]] = {}
    text, _ = catalogue.files(language)
    entry = re.compile(r'^msgctxt "companion"\nmsgid ((?:".*"\n)+)msgstr ((?:".*"\n)+)', re.MULTILINE)
    for english, other in entry.findall(text.read_text(encoding="utf-8")):
        said.setdefault(english, []).append(other)
    assert len(said) > 500
    assert {english: others for english, others in said.items() if len(others) > 1} == {}


def test_every_error_of_the_rules_is_read_for_the_catalogue() -> None:
    def under(kind: type[RulesError]) -> Iterator[type[RulesError]]:
        yield kind
        for one in kind.__subclasses__():
            yield from under(one)

    said = {kind.__name__ for kind in under(RulesError) if "__init__" not in vars(kind) or kind is RulesError}
    assert {"SetupError", "RecordError"} <= said
    assert {*said, "Words"} == set(catalogue.SENTENCES)


# --- a language that lacks words ---------------------------------------------------------------------------------


@pytest.mark.parametrize("game_id", games(examples=True))
def test_a_language_with_an_empty_catalogue_speaks_english(game_id: str, speak: Speak) -> None:
    speak("empty")
    assert languages() == ("en", "fr", "de", CODE)
    view = game_view(game_id)
    for number, (state, move) in enumerate(played(game_id)):
        if number % 12 or move is None:
            continue
        ruling = state.check(move)
        assert ruling.words.of(CODE) == ruling.en
        assert picture(state, move, CODE) == picture(state, move, "en")
        if isinstance(view, BoardView):
            assert view.prompt(state).of(CODE) == view.prompt(state).en
            assert view.name(state, move).of(CODE) == view.name(state, move).en


def test_a_missing_clause_file_is_english_there_and_nowhere_else(
    speak: Speak, written: Callable[[str], Path], tmp_path: Path
) -> None:
    speak("whole")
    folder = tmp_path / "clauses"
    shutil.copytree(written("whole") / "clauses", folder)
    (folder / f"arctic.{CODE}.toml").unlink()
    words.look_in(words.catalogue_folder(), folder)
    arctic, pop = rulebook("arctic"), rulebook("igloo-pop")
    assert all(clause.text.of(CODE) == clause.text.en for clause in arctic.clauses.values())
    assert all(clause.text.of(CODE).startswith("⟦") for clause in pop.clauses.values())
    assert arctic.word("moose", CODE) == "moose"
    state, move = next((state, move) for state, move in played("arctic") if move is not None)
    assert state.check(move).words.of(CODE) == state.check(move).en
    # One text is missing: that one is English, with all its facts.
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    path = other / f"igloo-pop.{CODE}.toml"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(line for line in lines if '"hands-full"' not in line), encoding="utf-8")
    words.look_in(words.catalogue_folder(), other)
    pop = rulebook("igloo-pop")
    said = {lang: pop.sentence("hands-full", {"who": "red"}, lang, colours=("red",)) for lang in ("en", CODE)}
    assert said["en"].startswith("Red already has an igloo") and said[CODE] == said["en"]
    assert catalogue.unwritten(CODE, "igloo-pop") == ["sentences.hands-full.text"]


def test_a_translation_that_asks_for_another_fact_is_english(speak: Speak) -> None:
    speak("whole")
    wrong = Words("{count} cards", {CODE: "{number} cards"})
    assert wrong.filled({"count": 3}).of(CODE) == "3 cards"


def test_what_is_missing_is_printed(
    speak: Speak, written: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    speak("whole")
    assert catalogue.main(["--check"]) == 0
    told = capsys.readouterr().out
    assert "fr: 0 of " in told and "de: 0 of " in told and f"{CODE}: " in told
    assert not (written("whole") / "translations" / CODE / "LC_MESSAGES" / "messages.po").exists()
    with pytest.raises(SystemExit):
        catalogue.main(["xx"])


def test_a_language_is_begun_by_one_command(tmp_path: Path, speak: Speak) -> None:
    speak("empty")
    shutil.copytree(CATALOGUES / "fr", tmp_path / "fr")
    words.look_in(tmp_path)
    assert catalogue.main(["pl", "--check"]) == 0
    assert not (tmp_path / "pl").exists()
    assert catalogue.main(["pl"]) == 0
    begun = catalogue.read("pl")
    assert len(catalogue.untranslated(begun)) == len([message for message in begun if message.id]) > 1500
    assert "n==1" in str(begun.plural_expr).replace(" ", "")
    languages.cache_clear()
    assert languages() == ("en", "fr", "de", "pl")


# --- the programs ------------------------------------------------------------------------------------------------


@pytest.mark.process
def test_the_command_line_speaks_it(speak: Speak, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    speak("whole")
    assert run(["referee", str(RULES / "igloo_pop" / "playthrough.jsonl"), "--lang", CODE]) == 0
    assert capsys.readouterr().out.count("⟦") > 50
    assert run(["rule", "POP-2.2", "--lang", CODE]) == 0
    assert "⟦Ä pläyër höld" in capsys.readouterr().out
    assert run(["doctor", "--data", str(tmp_path), "--lang", CODE]) in (0, 1)
    assert capsys.readouterr().out.count("⟦") > 5
    assert run(["rule", "POP-2.2", "--lang", "xx"]) == 2


@pytest.mark.process
def test_files_are_all_that_it_takes(tmp_path: Path, written: Callable[[str], Path]) -> None:
    """A copy of the program with the files in their places speaks the language: no line of it was altered."""
    for package in ("companion", "web"):
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__", "bank", "model", "static")
        )
    rule = [sys.executable, "-m", "companion", "rule", "POP-2.2", "--lang", CODE]
    how: dict[str, Any] = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": str(tmp_path)}, "capture_output": True}
    before = subprocess.run(rule, check=False, text=True, **how)
    assert (before.returncode, CODE in before.stderr) == (2, True)
    shutil.copytree(written("whole") / "translations" / CODE, tmp_path / "companion" / "translations" / CODE)
    for path in (written("whole") / "clauses").glob(f"*.{CODE}.toml"):
        shutil.copy(path, tmp_path / "companion" / "rules" / "clauses")
    after = subprocess.run(rule, check=True, text=True, **how)
    assert "⟦Ä pläyër höld" in after.stdout


# --- the journal -------------------------------------------------------------------------------------------------


def test_the_journal_does_not_grow_with_languages(speak: Speak, tmp_path: Path) -> None:
    kept = []
    for kind in (None, "whole"):
        if kind is not None:
            speak(kind)
        companion = SmallCompanion(tmp_path / str(kind))
        companion.open_match()
        companion.moves("start", "place red card4")
        answer = companion.do("undo", {"to": 1, "agreed": True})
        told = [answer.to_json()["message"], *companion.night.view()["log"], companion.night.view()["match"]["title"]]
        assert all((CODE in one) == (kind is not None) for one in told)
        kept.append([(entry.kind, sorted(entry.body)) for entry in companion.journal.since()])
        companion.close()
    assert kept[0] == kept[1]
