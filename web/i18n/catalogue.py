"""The catalogue of all words: collected from the sources, merged into each language, compiled.

``python -m web.i18n.catalogue`` brings ``companion/translations/<language>/LC_MESSAGES/messages.po`` and ``.mo`` up to
date after words were changed: new ones stand there empty, for a person to translate. A test holds the committed files
to it.
``python -m web.i18n.catalogue eo`` begins a language. Both end with what each language has not yet, its clause files
too; ``--check`` only says that, and writes nothing.

Beside what the page itself says, the sentences of devices belong here: the constants of every ``messages.py``, and
each constant given as ``note=`` or ``why=`` anywhere; and the questions of the settings. The sentences of
``companion``, ``Words("…")`` and the errors of the rules, have a context of their own.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from babel import Locale, UnknownLocaleError
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from companion.rules.i18n import CODE, CONTEXT, ENGLISH, FRENCH, catalogue_folder, clause_folder, languages
from companion.rules.rulebook import rulebooks
from companion.settings import NOTES, SETTINGS

WEB = Path(__file__).resolve().parents[1]
ROOT = WEB.parent
Keywords = dict[str, tuple[int, ...] | None]
SOURCES: tuple[tuple[str, str, Keywords], ...] = (
    ("**.py", "python", {"both": None, "mark": None, "RefusedError": (3,)}),
    ("templates/**.html", "jinja2", {"_": None, "ngettext": (1, 2)}),
    ("static/js/**.js", "javascript", {"t": None, "tn": (1, 2)}),
)
"""Which files hold words, how they are read, and the calls whose arguments are message ids."""
SENTENCES: Keywords = dict.fromkeys(
    ("Words", "RulesError", "InvalidMoveError", "AmbiguousMoveError", "SetupError", "RecordError")
)
"""The calls in ``companion`` whose first argument is a sentence, with facts in braces."""

DEVICES = (
    *(ROOT / "companion" / room for room in ("igloo", "panel", "calibrating", "follow", "service")),
    ROOT / "vision",
)
SAID_BY_DEVICES = {"note", "why"}
SAID_IN = (
    *("/messages.py", "/notes.py", "/cards_notes.py", "/counter.py", "/signal_validity.py"),
    *("/calibration/store.py", "/shake_segmenter.py", "/guided.py", "/guided_gauge.py"),
)


def device_sentences(path: Path) -> Iterator[str]:
    """Yield the sentences that a module of a device says: its notes."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        said = isinstance(node, ast.keyword) and node.arg in SAID_BY_DEVICES
        named = path.as_posix().endswith(SAID_IN) and isinstance(node, ast.Assign | ast.AnnAssign)
        value = getattr(node, "value", None) if said or named else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value.endswith((".", "?")):
            yield value.value


Found = tuple[str, str | tuple[str, ...], Sequence[str], str | None]
"""A message as it was found: the file, its id (or those of singular and plural), comments, context."""


@cache
def _of_the_page() -> tuple[Found, ...]:
    found: list[Found] = []
    for pattern, kind, keywords in SOURCES:
        options = {pattern: {"parse_template_string": "true"}}
        for name, _, message, comments, context in extract_from_dir(WEB, [(pattern, kind)], options, keywords):
            found.append((f"web/{name}", message, comments, context))
    for top in DEVICES:
        for path in sorted(top.rglob("*.py")):
            where = path.relative_to(ROOT).as_posix()
            found += [(where, sentence, (), None) for sentence in device_sentences(path)]
    found += [("companion/settings.py", words, (), None) for words in (*(one.words for one in SETTINGS), *NOTES)]
    return tuple(found)


_ONE_FACT = re.compile(r"\{\w+\}|")


@cache
def _of_the_tables() -> tuple[Found, ...]:
    return tuple(
        (f"companion/{name}", english, (), CONTEXT)
        for name, _, english, *_ in extract_from_dir(ROOT / "companion", [("**.py", "python")], {}, SENTENCES)
        if isinstance(english, str) and not _ONE_FACT.fullmatch(english)
    )


def collect() -> Catalog:
    """Return every message, without translations."""
    catalog = Catalog(project="tabletop-companion", charset="utf-8")
    for where, message, comments, context in (*_of_the_page(), *_of_the_tables()):
        catalog.add(message, None, [(where, 0)], auto_comments=comments, context=context)
    return catalog


def files(language: str) -> tuple[Path, Path]:
    """Return the catalogue of a language, as text and compiled."""
    folder = catalogue_folder() / language / "LC_MESSAGES"
    return folder / "messages.po", folder / "messages.mo"


def read(language: str) -> Catalog:
    """Return a language's catalogue as it is on the disk; an empty one where there is none."""
    text, _ = files(language)
    if not text.exists():
        return Catalog(locale=language, project="tabletop-companion", charset="utf-8")
    with text.open("rb") as file:
        return read_po(file, locale=language)


def compiled(catalog: Catalog) -> bytes:
    """Return a catalogue as gettext reads it."""
    out = io.BytesIO()
    write_mo(out, catalog)
    return out.getvalue()


def update(language: str) -> int:
    """Bring a language's files up to date; return how many messages have no translation yet."""
    known = read(language)
    made = known.creation_date
    known.update(collect(), no_fuzzy_matching=True)
    # The files change only when the words do.
    known.creation_date = made
    known.obsolete.clear()
    text, binary = files(language)
    text.parent.mkdir(parents=True, exist_ok=True)
    with text.open("wb") as file:
        write_po(file, known, width=110, sort_output=True, omit_header=False, include_lineno=False)
    binary.write_bytes(compiled(known))
    return len(untranslated(known))


def untranslated(catalog: Catalog) -> list[str]:
    """Return the messages of a catalogue that have no translation."""
    return [
        message.id if isinstance(message.id, str) else message.id[0]
        for message in catalog
        if message.id and not (all(message.string) if isinstance(message.string, tuple) else message.string)
    ]


def unwritten(language: str, game_id: str) -> list[str]:
    """Return the texts that a language's clause file of a game has not: ``clauses.POP-2.2.text``."""
    folder = clause_folder()
    path = folder / f"{game_id}.{language}.toml"
    there = set(_texts(tomllib.loads(path.read_text(encoding="utf-8")))) if path.exists() else set()
    # The French file holds the words only: all that there is to translate.
    wanted = tomllib.loads((folder / f"{game_id}.{FRENCH}.toml").read_text(encoding="utf-8"))
    return [name for name in _texts(wanted) if name not in there]


def _texts(table: Mapping[str, Any], *path: str) -> Iterator[str]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _texts(value, *path, key)
        elif isinstance(value, str) and value:
            yield ".".join((*path, key))


def lacks(language: str) -> Iterator[str]:
    """Yield what a language has not yet, in lines for people: what is missing is said in English."""
    text, binary = files(language)
    known = read(language)
    wanted = {(message.id, message.context) for message in collect() if message.id}
    there = {(message.id, message.context) for message in known if message.id}
    missing = len(wanted - there) + len(untranslated(known))
    yield f"{language}: {missing} of {len(wanted)} messages to translate in {text}"
    if text.exists() and (not binary.exists() or binary.read_bytes() != compiled(known)):
        yield f"{language}: {binary} is older than its text: run python -m web.i18n.catalogue"
    for game_id in rulebooks():
        gone = unwritten(language, game_id)
        if gone:
            few = ", ".join(gone[:3]) + (" …" if len(gone) > 3 else "")
            yield f"{language}: {len(gone)} texts missing in {game_id}.{language}.toml: {few}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Update every language, or begin those that are named; say what is missing."""
    parser = argparse.ArgumentParser(prog="python -m web.i18n.catalogue", description=__doc__)
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help="a language to begin, by its code: eo, pt_BR")
    parser.add_argument("--check", action="store_true", help="only say what is missing")
    parsed = parser.parse_args(arguments)
    for code in parsed.languages:
        try:
            if not CODE.fullmatch(code) or code == ENGLISH:
                raise ValueError
            Locale.parse(code)
        except (ValueError, UnknownLocaleError):
            parser.error(f"{code} is no code of a further language that Babel knows.")
    for language in sorted({*languages()[1:], *parsed.languages}):
        if not parsed.check:
            update(language)
        for line in lacks(language):
            print(line)  # noqa: T201 - a tool for developers
    return 0


if __name__ == "__main__":
    sys.exit(main())
