"""A language that nobody speaks, made of the English one: ⟦Ît lôôks lîkê thîs⟧.

It stands for any further language: a Babel catalogue and a clause file a game in a folder, and nothing else. Every
vowel has an accent, so what was never translated shows by its bare vowels, wherever it stands; facts in braces, forms
of facts, and names of HTML are kept.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo

from companion.rules.i18n import CATALOGUES
from companion.rules.rulebook import FOLDER
from web.i18n import catalogue

CODE = "eo"
"""A language that Babel and browsers know, and that nobody has translated here."""

ACCENTS = str.maketrans("aeiouAEIOU", "äëïöüÄËÏÖÜ")
KEPT = re.compile(r"\{\w*(?:![rs])?(?::[^{}]*)?\}|%\(\w+\)[sd]|%%|</?\w+[^>]*>|&\w+;")


def pseudo(text: str) -> str:
    """Return an English text in the language; what a program fills in or reads stays as it is."""
    kept = KEPT.findall(text)
    parts = [part.translate(ACCENTS) for part in KEPT.split(text)]
    return "⟦" + "".join(part + fact for part, fact in zip(parts, [*map(_forms, kept), ""], strict=True)) + "⟧"


def _forms(fact: str) -> str:
    """Return a fact; the words of its plural forms are words, too."""
    name, plural, forms = fact.partition(":plural|")
    return name + plural + forms.translate(ACCENTS)


LEFT = re.compile(r"\w*[aeiouAEIOU]\w*")


def untranslated(text: str, known: frozenset[str] = frozenset()) -> list[str]:
    """Return the words of a text that are in no pseudo-language, without those that are known names or notation."""
    return [word for word in LEFT.findall(text) if word.casefold() not in known]


def write_clauses(folder: Path, code: str = CODE) -> None:
    """Write the clause files: those that come with the package, and one a game in the language."""
    shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
    for path in FOLDER.glob("*.fr.toml"):
        game = path.name.removesuffix(".fr.toml")
        english = tomllib.loads((FOLDER / f"{game}.en.toml").read_text(encoding="utf-8"))
        french = tomllib.loads(path.read_text(encoding="utf-8"))
        lines = [f"{name} = {json.dumps(pseudo(text), ensure_ascii=False)}" for name, text in _words(french, english)]
        (folder / f"{game}.{code}.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _words(french: Mapping[str, Any], english: Mapping[str, Any], *path: str) -> Iterator[tuple[str, str]]:
    """Yield the dotted keys of all texts that the French file has, with the English texts."""
    for key, value in french.items():
        if isinstance(value, dict):
            yield from _words(value, english.get(key, {}), *path, key)
        elif isinstance(value, str):
            yield ".".join(json.dumps(one) for one in (*path, key)), english[key]


def write_catalogue(folder: Path, code: str = CODE, *, empty: bool = False) -> None:
    """Write the catalogues: those that come with the package, and that of the language."""
    shutil.copytree(CATALOGUES, folder, dirs_exist_ok=True)
    catalog = catalogue.read(code)
    catalog.update(catalogue.collect(), no_fuzzy_matching=True)
    for message in catalog:
        if message.id and not empty:
            several = isinstance(message.id, tuple)
            message.string = tuple(map(pseudo, message.id)) if several else pseudo(message.id)
    place = folder / code / "LC_MESSAGES"
    place.mkdir(parents=True)
    out = io.BytesIO()
    write_mo(out, catalog)
    (place / "messages.mo").write_bytes(out.getvalue())
