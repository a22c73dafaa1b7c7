"""The same text in every language that is known here: English and French in the sources, others from files.

A language is known when there is a file of it: a Babel catalogue (``xx/LC_MESSAGES/messages.mo`` in the folder that
the page or the command line names with :func:`look_in`) or a clause file (``clauses/GAME.xx.toml``). English comes
first, then French, then the others by their code. What a language does not have is said in English, text by text.

The sentences of the sources are written as pairs, ``Words("english", "french")``; a catalogue holds the others under
the English one, in the context :data:`CONTEXT`, apart from the words of the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Formatter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from gettext import GNUTranslations

ENGLISH: Final = "en"
FRENCH: Final = "fr"
CONTEXT: Final = "companion"
"""The ``msgctxt`` of these sentences in a catalogue."""

CODE: Final = re.compile(r"[a-z]{2,3}(_[A-Z][a-z]{3})?(_[A-Z]{2})?")
"""The code of a language as Babel's folders have it: ``eo``, ``pt_BR``, ``zh_Hant``."""

CLAUSES: Final = Path(__file__).parent / "clauses"

_WORDLESS: Final = re.compile(r"(\{[^{}]*\}|[^\w{}])*")
"""A template that is facts and signs only stands in every language."""

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(slots=True)
class _Folders:
    catalogues: Path | None = None
    clauses: Path = CLAUSES


_folders = _Folders()


def look_in(catalogues: Path | None, clauses: Path = CLAUSES) -> None:
    """Name the folder of the catalogues (none: clause files only) and that of the clause files."""
    if (_folders.catalogues, _folders.clauses) != (catalogues, clauses):
        _folders.catalogues, _folders.clauses = catalogues, clauses
        languages.cache_clear()
        catalogue.cache_clear()


def catalogue_folder() -> Path | None:
    """Return the folder of the catalogues, if one was named."""
    return _folders.catalogues


def clause_folder() -> Path:
    """Return the folder of the clause files."""
    return _folders.clauses


@cache
def languages() -> tuple[str, ...]:
    """Return the codes of the languages that are known: ``en``, ``fr``, and those for which there are files."""
    found = {path.suffixes[-2][1:] for path in _folders.clauses.glob("*.*.toml")}
    if _folders.catalogues is not None:
        found |= {path.parts[-3] for path in _folders.catalogues.glob("*/LC_MESSAGES/messages.mo")}
    others = sorted(code for code in found - {ENGLISH, FRENCH} if CODE.fullmatch(code))
    return ENGLISH, FRENCH, *others


class _Untold:
    """What a catalogue falls back to: nothing, so that a missing text is known from one that reads like the English."""

    @staticmethod
    def pgettext(context: str, message: str) -> str:
        del context, message
        return ""

    @staticmethod
    def gettext(message: str) -> str:
        del message
        return ""


@cache
def catalogue(lang: str) -> GNUTranslations | None:
    """Return a language's catalogue, or None where there is none that can be read."""
    import struct  # noqa: PLC0415 - only a third language needs these: starting stays quick
    from gettext import GNUTranslations  # noqa: PLC0415

    if _folders.catalogues is None:
        return None
    try:
        with (_folders.catalogues / lang / "LC_MESSAGES" / "messages.mo").open("rb") as file:
            found = GNUTranslations(file)
    except (OSError, ValueError, struct.error):
        return None
    found.add_fallback(_Untold())  # type: ignore[arg-type]
    return found


def plural_form(lang: str, number: int) -> int:
    """Return which of a language's plural forms a number takes (its catalogue says; else 0 for one)."""
    if lang == FRENCH:
        return int(abs(number) > 1)
    found = None if lang == ENGLISH else catalogue(lang)
    return int(number not in (1, -1)) if found is None else int(found.plural(abs(number)))  # type: ignore[attr-defined]


def _translated(lang: str, english: str) -> str | None:
    found = catalogue(lang)
    translation = found.pgettext(CONTEXT, english) if found is not None and english else ""
    return translation or (english if _WORDLESS.fullmatch(english) else None)


def plural(number: int, forms: Sequence[str], lang: str) -> str:
    """Return the form of a number; ``#`` in it stands for the number."""
    return forms[min(plural_form(lang, number), len(forms) - 1)].replace("#", str(number))


_FORMED: Final = re.compile(r"\{\w+:(plural\||decimal\})")


class _Forms(Formatter):
    """Fills a sentence whose facts have forms."""

    def __init__(self, lang: str) -> None:
        self._lang = lang

    def format_field(self, value: Any, format_spec: str) -> str:
        form, *rest = format_spec.split("|")
        if form == "plural":
            return plural(value, rest, self._lang)
        if form == "decimal":
            return str(value).replace(".", DECIMAL.of(self._lang))
        return format(value, format_spec)


@dataclass(frozen=True, slots=True)
class Words:
    """The same text in every language; facts may stand in braces.

    ``{count:plural|# card|# cards}`` has the form of a number (its language may have more than two), ``#`` is the
    number itself; ``{size:decimal}`` has the language's own decimal sign.

    ``more`` holds the other languages of a text that does not stand in the sources as it is; without it the catalogues
    have them.
    """

    en: str
    fr: str
    more: Mapping[str, str] | None = field(default=None, compare=False, repr=False)

    def found(self, lang: str) -> tuple[str, str]:
        """Return the text in a language, and the language that it is in: English where it is missing."""
        if lang == FRENCH:
            return self.fr, FRENCH
        if lang != ENGLISH:
            text = _translated(lang, self.en) if self.more is None else self.more.get(lang)
            if text is not None:
                return text, lang
        return self.en, ENGLISH

    def of(self, lang: str) -> str:
        """Return the text in a language."""
        return self.found(lang)[0]

    def to_json(self) -> dict[str, str]:
        """Return the text by language: ``{"en", "fr", …}``, every language that is known."""
        return {lang: self.of(lang) for lang in languages()}

    def filled(self, facts: Mapping[str, object]) -> Words:
        """Return the sentence with its facts; a fact that is :class:`Words` itself takes the language."""

        def said(lang: str) -> str:
            text, spoken = self.found(lang)
            values = {key: one.of(spoken) if isinstance(one, Words) else one for key, one in facts.items()}
            try:
                return _Forms(spoken).vformat(text, (), values) if _FORMED.search(text) else text.format(**values)
            except (KeyError, IndexError, ValueError, AttributeError):
                if spoken in (ENGLISH, FRENCH):
                    raise
                return said(ENGLISH)  # a translation that asks for a fact that there is not

        return each(said)


NOTHING: Final = Words("", "")
DECIMAL: Final = Words(".", ",")


def each(make: Callable[[str], str]) -> Words:
    """Return the words that ``make`` says in each language that is known."""
    known = languages()
    return Words(make(ENGLISH), make(FRENCH), {lang: make(lang) for lang in known[2:]} if known[2:] else _NONE)


def noted(english: str) -> Words:
    """Return a sentence that a device says, by its words among those of the page."""

    def said(lang: str) -> str:
        found = None if lang == ENGLISH or not english else catalogue(lang)
        return (found.gettext(english) if found is not None else "") or english

    return each(said)


def same(text: str) -> Words:
    """Return a text that is the same in every language: a name, a move as it is written."""
    return Words(text, text, _NONE)


AND: Final = Words("and", "et")
OR: Final = Words("or", "ou")


def listed(parts: Sequence[str], word: Words) -> Words:
    """Return a list with ``word`` between all its parts: :data:`AND`, :data:`OR`."""
    return each(lambda lang: f" {word.of(lang)} ".join(parts))


def joined(parts: Iterable[Words], between: str = " ") -> Words:
    """Return several texts as one."""
    every = tuple(parts)
    return each(lambda lang: between.join(part.of(lang) for part in every))
