"""The same text in every language: facts, plural forms, decimal signs, and what is missing."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog

from companion.night.backup.messages import message
from companion.rules import i18n
from companion.rules.core import ScoreLine, SetupError
from companion.rules.i18n import CLAUSES, OR, Words, joined, languages, noted, same
from companion.rules.rulebook import rulebook
from web.i18n.catalogue import compiled

CARDS = Words("{count:plural|# card|# cards} of {animal}")
BEAR = Words("Bear")
MISSING = Words("{who} has {count:plural|one card|# cards}")


@pytest.fixture
def polish(tmp_path: Path) -> Iterator[Path]:
    """A catalogue of a language with three plural forms, and one text of its clause files."""
    before = i18n.catalogue_folder(), i18n.clause_folder()
    french = Catalog(locale="fr")
    french.add(BEAR.en, "Ours", context=i18n.CONTEXT)
    french.add(MISSING.en, "{who} a {count:plural|une carte|# cartes}", context=i18n.CONTEXT)
    catalog = Catalog(locale="pl")
    catalog.add(CARDS.en, "{count:plural|# karta|# karty|# kart}: {animal}", context=i18n.CONTEXT)
    catalog.add("Bear", "Niedźwiedź", context=i18n.CONTEXT)
    catalog.add("Bear", "not this one")
    catalog.add("The port is shut.", "Port jest zamknięty.")
    for code, words in (("fr", french), ("pl", catalog)):
        place = tmp_path / "translations" / code / "LC_MESSAGES"
        place.mkdir(parents=True)
        (place / "messages.mo").write_bytes(compiled(words))
    clauses = tmp_path / "clauses"
    clauses.mkdir()
    for path in (*CLAUSES.glob("*.en.toml"), *CLAUSES.glob("*.fr.toml")):
        (clauses / path.name).symlink_to(path)
    line = 'lines.own-thalers.text = "{count:plural|# talar|# talary|# talarów}"'
    (clauses / "igloo-pop.pl.toml").write_text(line, encoding="utf-8")
    i18n.look_in(tmp_path / "translations", clauses)
    yield tmp_path
    i18n.look_in(*before)


@pytest.mark.parametrize(("count", "card"), [(1, "1 karta"), (2, "2 karty"), (5, "5 kart"), (22, "22 karty")])
def test_a_language_has_as_many_plural_forms_as_it_has(polish: Path, count: int, card: str) -> None:
    filled = CARDS.filled({"count": count, "animal": BEAR})
    assert filled.of("pl") == f"{card}: Niedźwiedź"
    assert filled.to_json().keys() == {"en", "fr", "pl"}
    line = ScoreLine("own-thalers", count, (), {"count": count})
    form = {1: "1 talar", 2: "2 talary", 5: "5 talarów", 22: "22 talary"}[count]
    assert rulebook("igloo-pop").line(line, "pl") == form


def test_what_is_missing_is_english_with_its_facts(polish: Path) -> None:
    assert languages() == ("en", "fr", "pl")
    filled = MISSING.filled({"who": BEAR, "count": 1})
    assert filled.to_json() == {"en": "Bear has one card", "fr": "Ours a une carte", "pl": "Bear has one card"}
    # Facts and signs alone stand in every language.
    assert Words("{a}, {b}").filled({"a": BEAR, "b": 1}).of("pl") == "Niedźwiedź, 1"
    assert joined((BEAR, same("×2"))).of("pl") == "Niedźwiedź ×2"
    assert rulebook("arctic").clauses["ARC-S.1"].text.of("pl") == rulebook("arctic").clauses["ARC-S.1"].text.en


def test_what_a_device_says_is_among_the_words_of_the_page(polish: Path) -> None:
    assert noted("The port is shut.").of("pl") == "Port jest zamknięty."
    assert noted("Nobody translated this.").of("pl") == "Nobody translated this."
    assert noted("").to_json() == {"en": "", "fr": "", "pl": ""}


def test_a_file_that_is_no_catalogue_is_english(polish: Path) -> None:
    (polish / "translations" / "pl" / "LC_MESSAGES" / "messages.mo").write_bytes(b"\xde\x12\x04\x95 no catalogue")
    i18n.catalogue.cache_clear()
    assert CARDS.filled({"count": 2, "animal": "x"}).of("pl") == "2 cards of x"
    assert languages() == ("en", "fr", "pl")
    assert i18n.catalogue("pl") is None


@pytest.mark.parametrize(
    ("seq", "size", "en", "fr"),
    [
        (1, 0.0, "1 entry of the journal, 0 pictures, 0.0 MB", "1 entrée du journal, 0 image, 0,0 Mo"),
        (7, 1.5, "7 entries of the journal, 0 pictures, 1.5 MB", "7 entrées du journal, 0 image, 1,5 Mo"),
    ],
)
def test_one_is_told_in_the_singular_and_french_has_a_comma(seq: int, size: float, en: str, fr: str) -> None:
    said = message("made", file="b.zip", seq=seq, pictures=0, size=size)
    assert en in said.en and fr in said.fr


def test_one_inuit_is_no_inuits() -> None:
    facts = {"who": "red", "count": 1, "wanted": 5}
    said = rulebook("iglu-iglu").sentence("inuit-few", facts, "fr", colours=("red",))
    assert said.startswith("Rouge a 1 inuit sur 5 sur le plateau")


FRENCH = """
import sys
from companion import cli
from companion.rules import i18n
from companion.rules.core import SetupError

for read, asked in ((0, ["--help"]), (0, ["rule", "POP-2.2"]), (1, ["rule", "melting", "--lang", "fr"])):
    assert cli.run(asked) == 0
    assert i18n.catalogue.cache_info().currsize <= read, asked
facts = {"what": i18n.Words("A position of Arctic"), "wish": i18n.Words("a number"), "shown": "x", "where": ""}
error = SetupError("{what} is {wish}, not {shown}{where}.", **facts)
assert error.words.fr == "Une position d’Arctic est un numéro, pas x.", error.words
assert i18n.catalogue.cache_info().currsize == 1
assert not {"web", "flask", "babel", "vision"} & {name.split(".")[0] for name in sys.modules}
"""


@pytest.mark.process
def test_french_is_read_from_its_catalogue_when_it_is_wanted_and_without_the_page() -> None:
    done = subprocess.run([sys.executable, "-c", FRENCH], check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_a_text_is_made_in_a_language_when_it_is_asked_for() -> None:
    asked = []

    def said(lang: str) -> str:
        asked.append(lang)
        return f"said in {lang}"

    words = i18n.each(said)
    assert asked == ["en"] and words == Words("said in en")
    assert words.of("fr") == words.fr == "said in fr"
    assert words.to_json() == {"en": "said in en", "fr": "said in fr", "de": "said in de"}
    assert asked == ["en", "fr", "de"]


def test_facts_are_those_of_the_moment() -> None:
    facts = {"count": 2}
    words = Words("{count} of {size:decimal}", {"fr": "{count} sur {size:decimal}"}).filled({**facts, "size": 1.5})
    given: dict[str, object] = {"a": 1}
    noted_once = Words("{a}", {"fr": "n° {a}"}).filled(given)
    given["a"] = 2
    assert noted_once.to_json() == {"en": "1", "fr": "n° 1", "de": "1"}
    assert words.to_json() == {"en": "2 of 1.5", "fr": "2 sur 1,5", "de": "2 of 1.5"}


def test_texts_can_be_pickled_and_compared() -> None:
    error = SetupError(
        "{what} is {wish}, not {shown}{where}.",
        what=Words("A position of Arctic"),
        wish=Words("a number"),
        shown="x",
        where="",
    )
    for words in (Words("and"), same("×2"), noted("The igloo is not plugged in."), error.words, joined([OR, OR])):
        again = pickle.loads(pickle.dumps(words))  # noqa: S301 - made here
        assert again == words and hash(again) == hash(words)
        assert again.to_json() == words.to_json()
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - made here
    assert again.words.fr == error.words.fr != error.words.en
    assert Words("and") != Words("or")
