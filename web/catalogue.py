"""The catalogue of the page's words: collected from its sources, merged into each language, compiled.

``python -m web.catalogue`` brings ``translations/<language>/LC_MESSAGES/messages.po`` and ``.mo`` up to date after
words were changed: new ones stand there empty, for a person to translate. A test holds the committed files to it.

Beside what the page itself says, the sentences of devices belong here: the constants of every ``notes.py``, and
each constant given as ``note=`` or ``why=`` anywhere; and the questions of the settings.
"""

from __future__ import annotations

import ast
import io
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from companion.settings import NOTES, SETTINGS
from web.answers import LANGUAGES
from web.language import FOLDER as TRANSLATIONS

WEB = Path(__file__).parent
ROOT = WEB.parent
Keywords = dict[str, tuple[int, ...] | None]
SOURCES: tuple[tuple[str, str, Keywords], ...] = (
    ("**.py", "python", {"both": None, "mark": None, "RefusedError": (3,)}),
    ("templates/**.html", "jinja2", {"_": None, "ngettext": (1, 2)}),
    ("static/js/**.js", "javascript", {"t": None, "tn": (1, 2)}),
)
"""Which files hold words, how they are read, and the calls whose arguments are message ids."""

DEVICES = (ROOT / "companion" / "igloo", ROOT / "companion" / "panel", ROOT / "companion" / "service", ROOT / "vision")
SAID_BY_DEVICES = {"note", "why"}
SAID_IN = {
    *("notes.py", "cards_notes.py", "count.py", "soundness.py"),
    *("calibrate.py", "enrol.py", "guided.py", "guided_gauge.py"),
}


def device_sentences(path: Path) -> Iterator[str]:
    """Yield the sentences that a module of a device says: its notes."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        said = isinstance(node, ast.keyword) and node.arg in SAID_BY_DEVICES
        named = path.name in SAID_IN and isinstance(node, ast.Assign | ast.AnnAssign)
        value = getattr(node, "value", None) if said or named else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value.endswith((".", "?")):
            yield value.value


def collect() -> Catalog:
    """Return every message of the page, without translations."""
    catalog = Catalog(project="tabletop-companion", charset="utf-8")
    for pattern, kind, keywords in SOURCES:
        options = {pattern: {"parse_template_string": "true"}}
        for name, _, message, comments, context in extract_from_dir(WEB, [(pattern, kind)], options, keywords):
            catalog.add(message, None, [(f"web/{name}", 0)], auto_comments=comments, context=context)
    for top in DEVICES:
        for path in sorted(top.rglob("*.py")):
            for sentence in device_sentences(path):
                catalog.add(sentence, None, [(path.relative_to(ROOT).as_posix(), 0)])
    for setting in SETTINGS:
        catalog.add(setting.words, None, [("companion/settings.py", 0)])
    for note in NOTES:
        catalog.add(note, None, [("companion/settings.py", 0)])
    return catalog


def files(language: str) -> tuple[Path, Path]:
    """Return the catalogue of a language, as text and compiled."""
    folder = TRANSLATIONS / language / "LC_MESSAGES"
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
    return sum(1 for message in known if message.id and not all(message.string or [""]))


def main() -> None:
    """Update every language."""
    for language in LANGUAGES[1:]:
        missing = update(language)
        print(f"{language}: {missing} to translate in {files(language)[0]}")  # noqa: T201 - a tool for developers


if __name__ == "__main__":
    main()
