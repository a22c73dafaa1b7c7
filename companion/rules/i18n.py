"""The same text in every language that is known here: English in the sources, the others in files.

A language is known when there is a file of it: a gettext catalogue (``xx/LC_MESSAGES/messages.mo`` in
:data:`CATALOGUES`, or where :func:`look_in` says) or a clause file (``clauses/GAME.xx.toml``). English comes first,
then French, then the others by their code. What a language does not have is said in English, text by text.

The sentences of the sources are English, ``Words("…")``; a catalogue holds the others under the English one, in the
context :data:`CONTEXT`, apart from the words of the page. A catalogue is read when the first text of its language is
wanted, and a text is made in a language when it is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from gettext import GNUTranslations

ENGLISH: Final = "en"
FRENCH: Final = "fr"
CONTEXT: Final = "companion"
"""The ``msgctxt`` of these sentences in a catalogue."""

CODE: Final = re.compile(r"[a-z]{2,3}(_[A-Z][a-z]{3})?(_[A-Z]{2})?")
"""The code of a language as Babel's folders have it: ``eo``, ``pt_BR``, ``zh_Hant``."""

CATALOGUES: Final = Path(__file__).parents[1] / "translations"
"""The catalogues that come with the program: the rules read them, the page does, and all that lies between."""

CLAUSES: Final = Path(__file__).parent / "clauses"

_WORDLESS: Final = re.compile(r"(\{[^{}]*\}|[^\w{}])*")
"""A template that is facts and signs only stands in every language."""


@dataclass(slots=True)
class _Folders:
    catalogues: Path = CATALOGUES
    clauses: Path = CLAUSES


_folders = _Folders()


def look_in(catalogues: Path = CATALOGUES, clauses: Path = CLAUSES) -> None:
    """Name the folder of the catalogues and that of the clause files."""
    if (_folders.catalogues, _folders.clauses) != (catalogues, clauses):
        _folders.catalogues, _folders.clauses = catalogues, clauses
        languages.cache_clear()
        catalogue.cache_clear()


def catalogue_folder() -> Path:
    """Return the folder of the catalogues."""
    return _folders.catalogues


def clause_folder() -> Path:
    """Return the folder of the clause files."""
    return _folders.clauses


@cache
def languages() -> tuple[str, ...]:
    """Return the codes of the languages that are known: ``en``, ``fr``, and those for which there are files."""
    found = {path.suffixes[-2][1:] for path in _folders.clauses.glob("*.*.toml")}
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
    import struct  # noqa: PLC0415 - English needs neither: starting stays quick
    from gettext import GNUTranslations  # noqa: PLC0415

    try:
        with (_folders.catalogues / lang / "LC_MESSAGES" / "messages.mo").open("rb") as file:
            found = GNUTranslations(file)
    except (OSError, ValueError, struct.error):
        return None
    found.add_fallback(_Untold())  # type: ignore[arg-type]
    return found


def plural_form(lang: str, number: int) -> int:
    """Return which of a language's plural forms a number takes (its catalogue says; else 0 for one)."""
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


class _Made(Mapping[str, str]):
    """A text in the languages beside English, each made when it is asked for; all are, to be pickled."""

    __slots__ = ("_make", "_said")

    def __init__(self, make: Callable[[str], str]) -> None:
        self._make = make
        self._said: dict[str, str] = {}

    def __getitem__(self, lang: str) -> str:
        if lang not in self._said:
            self._said[lang] = self._make(lang)
        return self._said[lang]

    def __contains__(self, lang: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(languages()[1:])

    def __len__(self) -> int:
        return len(languages()) - 1

    def __reduce__(self) -> tuple[type[dict[str, str]], tuple[dict[str, str]]]:
        return dict, (dict(self),)


@dataclass(frozen=True, slots=True)
class Words:
    """The same text in every language, by the English one; facts may stand in braces.

    ``{count:plural|# card|# cards}`` has the form of a number (its language may have more than two), ``#`` is the
    number itself; ``{size:decimal}`` has the language's own decimal sign.

    ``more`` holds the other languages of a text that does not stand in the sources as it is; without it the catalogues
    have them. Two texts are equal when they are in English.
    """

    en: str
    more: Mapping[str, str] | None = field(default=None, compare=False, repr=False)

    @property
    def fr(self) -> str:
        """Return the text in French."""
        return self.of(FRENCH)

    def found(self, lang: str) -> tuple[str, str]:
        """Return the text in a language, and the language that it is in: English where it is missing."""
        if lang == ENGLISH:
            return self.en, ENGLISH
        if self.more is not None:
            return (self.more[lang], lang) if lang in self.more else (self.en, ENGLISH)
        text = _translated(lang, self.en)
        return (self.en, ENGLISH) if text is None else (text, lang)

    def of(self, lang: str) -> str:
        """Return the text in a language."""
        return self.found(lang)[0]

    @classmethod
    def from_json(cls, said: Mapping[str, str]) -> Words:
        """Return the words of a text by language, such as :meth:`to_json` gives; English it must have."""
        return cls(said[ENGLISH], said)

    def to_json(self) -> dict[str, str]:
        """Return the text by language: ``{"en", "fr", …}``, every language that is known."""
        return {lang: self.of(lang) for lang in languages()}

    def filled(self, facts: Mapping[str, object]) -> Words:
        """Return the sentence with its facts; a fact that is :class:`Words` itself takes the language."""
        given = dict(facts)

        def said(lang: str) -> str:
            text, spoken = self.found(lang)
            values = {key: one.of(spoken) if isinstance(one, Words) else one for key, one in given.items()}
            try:
                return _Forms(spoken).vformat(text, (), values) if _FORMED.search(text) else text.format(**values)
            except (KeyError, IndexError, ValueError, AttributeError):
                if spoken == ENGLISH:
                    raise
                return said(ENGLISH)  # a translation that asks for a fact that there is not

        return each(said)


DECIMAL: Final = Words(".")


def each(make: Callable[[str], str]) -> Words:
    """Return the words that ``make`` says in each language: in English now, in another when it is asked for."""
    return Words(make(ENGLISH), _Made(make))


def noted(english: str) -> Words:
    """Return a sentence that a device says, by its words among those of the page."""

    def said(lang: str) -> str:
        found = None if lang == ENGLISH or not english else catalogue(lang)
        return (found.gettext(english) if found is not None else "") or english

    return each(said)


def same(text: str) -> Words:
    """Return a text that is the same in every language: a name, a move as it is written."""
    return Words(text, {})


NOTHING: Final = same("")

AND: Final = Words("and")
OR: Final = Words("or")


def listed(parts: Sequence[str], word: Words) -> Words:
    """Return a list with ``word`` between all its parts: :data:`AND`, :data:`OR`."""
    every = tuple(parts)
    return each(lambda lang: f" {word.of(lang)} ".join(every))


def joined(parts: Iterable[Words], between: str = " ") -> Words:
    """Return several texts as one."""
    every = tuple(parts)
    return each(lambda lang: between.join(part.of(lang) for part in every))
