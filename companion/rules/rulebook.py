"""The rulebook as data: clauses, disputes, sentences, options, in every language that has clause files.

The clause files (``clauses/<game-id>.<lang>.toml``) are read when first asked for; their format is in
``companion/rules/README.md``. Nothing here knows a game.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter
from types import MappingProxyType
from typing import Any

from companion.rules.clause_search import NEAR, ClauseIndex, Passage, fold, thesaurus, words_of
from companion.rules.core import JSON, Problem, Reason, Ruling, ScoreLine
from companion.rules.i18n import (
    AND,
    CLAUSES,
    ENGLISH,
    FRENCH,
    NOTHING,
    OR,
    Words,
    clause_folder,
    each,
    languages,
    plural,
)
from companion.rules.names import told_apart

FOLDER = CLAUSES
"""The clause files that come with this package."""
STATUSES = ("text", "deduced", "outside source", "house ruling", "unknown")
"""What a ruling stands on, strongest first."""

_JOIN = {"and": AND, "or": OR}
_BOOL = (Words("no"), Words("yes"))


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause, in our own words; ``note`` holds the argument of a deduction or the part that is ours."""

    id: str
    rulebook: str
    heading: Words
    text: Words
    status: str
    option: str | None = None
    note: Words = NOTHING

    def to_json(self) -> dict[str, JSON]:
        """Return the documented form (``rule --json``)."""
        return {
            "id": self.id,
            "kind": "clause",
            "rulebook": self.rulebook,
            "heading": self.heading.to_json(),
            "status": self.status,
            "option": self.option,
            **self.text.to_json(),
            "note": self.note.to_json() if self.note.en else None,
        }


@dataclass(frozen=True, slots=True)
class Dispute:
    """A question that comes up at tables, and the ruling on it."""

    id: str
    question: Words
    ruling: Words
    clauses: tuple[str, ...]
    status: str
    option: str | None = None

    def to_json(self) -> dict[str, JSON]:
        """Return the documented form (``rule --json``)."""
        return {
            "id": self.id,
            "kind": "dispute",
            "clauses": list(self.clauses),
            "status": self.status,
            "option": self.option,
            "question": self.question.to_json(),
            **self.ruling.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Sentence:
    """A template in every language and what a ruling with it cites."""

    key: str
    text: Words
    clauses: tuple[str, ...] = ()
    status: str = "text"
    option: str | None = None


@dataclass(frozen=True, slots=True)
class OptionText:
    """An option as a plain question; ``values`` maps each value as text (``true``/``false`` for a switch)."""

    name: str
    question: Words
    values: Mapping[str, Words]

    def value(self, value: JSON) -> Words:
        """Return the words of an option's value."""
        return self.values[str(value).lower() if isinstance(value, bool) else str(value)]


COMPOUND = "word-1-word"
"""The word of a language that says how a name of two words with a number between them is read."""

_ID = re.compile(r"[a-z]+-[a-z\d.]*")
_FACT = re.compile(r"\{[^{}]*\}")
_CLAUSE_WEIGHTS = (1.0, 2.0, 0.5, 0.2)
"""What counts in a clause: its heading, its text, its note, and the words of the reasons that cite it."""
_DISPUTE_WEIGHTS = (1.5, 1.0)
"""What counts in a dispute: its question and its ruling."""

_ONE = re.compile(r"^[Uu]ne?\b")
_COMPOUND = re.compile(r"([a-z]+)-(\d)-([a-z]+)")


class _Printer(Formatter):
    """Prints facts in a language; the forms are those of the README."""

    def __init__(self, lang: str, words: Mapping[str, str], names: Sequence[str], colours: Sequence[str]) -> None:
        self.lang = lang
        self.words = words
        self.names = names
        self.colours = colours

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return kwargs[str(key)]

    def format_field(self, value: Any, format_spec: str) -> str:
        form, *rest = format_spec.split("|")
        if form == "player":
            return self.player(value)
        if form in ("and", "or"):
            return self.join([self.plain(v) for v in value], form)
        if form == "plural":
            if value == 0 and self.lang == FRENCH:  # in the singular, but none is not one
                one = _ONE.sub("#", rest[0])
                rest = [one if "#" in one else rest[1]]
            return plural(value, rest, self.lang)
        if form == "bare":
            return str(value)
        if form:
            raise ValueError(f"The form {form!r} of a fact is not known.")
        return self.plain(value)

    def plain(self, value: Any) -> str:
        if isinstance(value, bool):
            return _BOOL[value].of(self.lang)
        if isinstance(value, list | tuple | set | frozenset):
            return ", ".join(self.plain(v) for v in value)
        text = str(value)
        return self.words.get(text) or self.compound(text) if isinstance(value, str) else text

    def compound(self, text: str) -> str:
        """Return a name that is made of words, such as a card's ``fox-2-bear``, in the language's own order."""
        form, found = self.words.get(COMPOUND), _COMPOUND.fullmatch(text)
        if form is None or found is None or not {found[1], found[3]} <= self.words.keys():
            return text
        return form.format(self.words[found[1]], found[2], self.words[found[3]])

    def player(self, value: Any) -> str:
        if isinstance(value, list | tuple):
            return self.join([self.player(v) for v in value], "and")
        if isinstance(value, int):
            seat: int | None = value if 0 <= value < max(len(self.names), len(self.colours)) else None
        else:
            seat = self.colours.index(value) if value in self.colours else None
        if seat is None:
            return self.plain(value)
        colour = self.words.get(self.colours[seat], self.colours[seat]) if seat < len(self.colours) else ""
        name = self.names[seat] if seat < len(self.names) else ""
        if not name or not colour:
            return name or colour
        plain_names = {fold(colour), fold(self.colours[seat])}
        return colour if fold(name) in plain_names else f"{name} ({colour})"

    def join(self, parts: Sequence[str], word: str) -> str:
        if len(parts) < 2:
            return "".join(parts)
        return f"{', '.join(parts[:-1])} {_JOIN[word].of(self.lang)} {parts[-1]}"


class Rulebook:
    """The clauses, disputes, sentences, score lines and options of one game."""

    def __init__(self, game_id: str, files: Mapping[str, Mapping[str, Any]]) -> None:
        """Take the parsed clause files by language; :func:`rulebook` reads them from the folder."""
        en = files[ENGLISH]
        self.game_id = game_id
        self.name = _words(files, "game", "name")
        self.rulebooks: Mapping[str, Words] = {key: _words(files, "rulebooks", key) for key in en["rulebooks"]}
        self._words = {lang: file.get("words", {}) for lang, file in files.items()}
        self.clauses: Mapping[str, Clause] = MappingProxyType(
            {
                key: Clause(
                    key,
                    it["rulebook"],
                    _words(files, "clauses", key, "heading"),
                    _words(files, "clauses", key, "text"),
                    _status(it["status"]),
                    it.get("option"),
                    _words(files, "clauses", key, "note") if "note" in it else NOTHING,
                )
                for key, it in en["clauses"].items()
            }
        )
        self.disputes: Mapping[str, Dispute] = MappingProxyType(
            {
                key: Dispute(
                    key,
                    _words(files, "disputes", key, "question"),
                    _words(files, "disputes", key, "ruling"),
                    tuple(it["clauses"]),
                    _status(it["status"]),
                    it.get("option"),
                )
                for key, it in en.get("disputes", {}).items()
            }
        )
        self.sentences: Mapping[str, Sentence] = MappingProxyType(
            {
                key: Sentence(
                    key,
                    _words(files, "sentences", key, "text"),
                    tuple(it.get("clauses", ())),
                    _status(it.get("status", "text")),
                    it.get("option"),
                )
                for key, it in en.get("sentences", {}).items()
            }
        )
        self.lines: Mapping[str, Words] = MappingProxyType(
            {key: _words(files, "lines", key, "text") for key in en.get("lines", {})}
        )
        self.options: Mapping[str, OptionText] = MappingProxyType(
            {
                key: OptionText(
                    key,
                    _words(files, "options", key, "question"),
                    {value: _words(files, "options", key, "values", value) for value in it["values"]},
                )
                for key, it in en.get("options", {}).items()
            }
        )
        self._every: dict[str, Mapping[str, str]] = {}
        self._index: dict[str, ClauseIndex] = {}

    def clause(self, clause_id: str) -> Clause:
        """Return a clause by its id, in any case.

        :raises KeyError: when the game has no such clause.
        """
        return self.clauses[self._key(clause_id, self.clauses)]

    def dispute(self, dispute_id: str) -> Dispute:
        """Return a dispute by its id, in any case.

        :raises KeyError: when the game has no such dispute.
        """
        return self.disputes[self._key(dispute_id, self.disputes)]

    def option(self, name: str) -> OptionText:
        """Return an option as a plain question with its values in every language.

        :raises KeyError: when the game has no such option.
        """
        return self.options[name]

    def word(self, value: str, lang: str) -> str:
        """Return a word of the game (a colour, a kind, the name of a card) as it is printed in a language."""
        return _Printer(lang, self._said(lang), (), ()).plain(value)

    def words(self, value: str) -> Words:
        """Return a word of the game in every language."""
        return each(lambda lang: self.word(value, lang))

    def _said(self, lang: str) -> Mapping[str, str]:
        """Return the words of the game in a language, English where it has none."""
        if lang not in self._every:
            self._every[lang] = {**self._words[ENGLISH], **self._words.get(lang, {})}
        return self._every[lang]

    def search(self, words: str, lang: str = ENGLISH) -> list[Clause | Dispute]:
        """Return what speaks of ``words``, best first, as somebody asks; accents and case do not count.

        An id, or the beginning of one, is found by itself. A question in another language is understood where that
        one has more of its words.
        """
        return [item for _, item in look_up(words, [self], lang)]

    def knows(self, words: str, lang: str) -> float:
        """Return how many of some words this rulebook has in a language."""
        return self._index_of(lang).knows(words) if lang in self._words else 0.0

    def ranked(self, words: str, lang: str) -> list[tuple[float, Clause | Dispute]]:
        """Return what answers a question in a language, best first, with scores to compare with other rulebooks."""
        ranked = self._index_of(lang).ask(words)
        return [(score, self._item(item_id)) for score, item_id in ranked]

    def by_id(self, words: str, *, exact: bool = False) -> list[Clause | Dispute]:
        """Return what has an id, and then what has one that begins so unless it is to be ``exact``.

        The id may be written as somebody says it: "pop 3.4", or at the end of a sentence.
        """
        wanted = fold("-".join(words.split())).strip(".,;:!?()[]\"'")
        if not _ID.fullmatch(wanted):
            return []
        every: list[Clause | Dispute] = [*self.clauses.values(), *self.disputes.values()]
        same = [item for item in every if fold(item.id) == wanted]
        return same if exact else same + [i for i in every if fold(i.id).startswith(wanted) and i not in same]

    def _item(self, item_id: str) -> Clause | Dispute:
        return self.clauses[item_id] if item_id in self.clauses else self.disputes[item_id]

    def sentence(
        self,
        key: str,
        facts: Mapping[str, JSON],
        lang: str = "en",
        *,
        names: Sequence[str] = (),
        colours: Sequence[str] = (),
    ) -> str:
        """Return a sentence with its facts filled in.

        :raises KeyError: for an unknown key or a missing fact.
        """
        return self._fill(self.sentences[key].text, facts, lang, names, colours)

    def line(self, line: ScoreLine, lang: str = "en", *, names: Sequence[str] = (), colours: Sequence[str] = ()) -> str:
        """Return the words of a line of a score sheet."""
        return self._fill(self.lines[line.what], line.facts, lang, names, colours)

    def line_words(self, line: ScoreLine, *, names: Sequence[str] = (), colours: Sequence[str] = ()) -> Words:
        """Return a line of a score sheet in every language."""
        return each(lambda lang: self.line(line, lang, names=names, colours=colours))

    def problem_words(self, problem: Problem, state: object) -> Words:
        """Return the sentence of something wrong with a position in every language."""
        return each(lambda lang: self.problem(problem, state, lang))

    def problem(self, problem: Problem, state: object, lang: str = "en") -> str:
        """Return the sentence of something wrong with a position."""
        names, colours = seats(state)
        return self.sentence(problem.key, problem.facts, lang, names=names, colours=colours)

    def ruling(self, legal: bool, reason: Reason, state: object) -> Ruling:
        """Return the full ruling for a reason in a state: clauses, sentences, the weakest ground and its option.

        A fact ``also`` lists the keys of further sentences that follow the first, with the same facts; their clauses,
        grounds and options count as its own do.
        """
        spoken = [self.sentences[key] for key in (reason.key, *reason.facts.get("also", ()))]
        clauses = reason.clauses or tuple(dict.fromkeys(clause for part in spoken for clause in part.clauses))
        names, colours = seats(state)
        said = each(lambda lang: " ".join(self._fill(part.text, reason.facts, lang, names, colours) for part in spoken))
        option = next((part.option for part in spoken if part.option), None)
        if option is None:
            option = next((self.clauses[c].option for c in clauses if self.clauses[c].status == "house ruling"), None)
        status = self.weakest_status(clauses, max((part.status for part in spoken), key=STATUSES.index))
        return Ruling(legal, clauses, dict(reason.facts), said, status, option)

    def weakest_status(self, clauses: Iterable[str], status: str = "text") -> str:
        """Return the weakest ground among ``status`` and that of the clauses."""
        return max([status, *(self.clauses[c].status for c in clauses)], key=STATUSES.index)

    def _fill(
        self, words: Words, facts: Mapping[str, JSON], lang: str, names: Sequence[str], colours: Sequence[str]
    ) -> str:
        template, spoken = words.found(lang)  # a sentence that is missing is English with all its facts
        try:
            text = _Printer(spoken, self._said(spoken), names, colours).vformat(template, (), facts)
        except (KeyError, IndexError, ValueError, AttributeError):
            if spoken in (ENGLISH, FRENCH):
                raise
            return self._fill(words, facts, ENGLISH, names, colours)  # it asks for a fact that there is not
        if any(name and text.startswith(name) for name in names):
            return text  # a player's name stays as the player writes it
        return text[:1].upper() + text[1:]

    def _index_of(self, lang: str) -> ClauseIndex:
        if lang not in self._index:
            self._index[lang] = ClauseIndex(self._passages(lang), lang, thesaurus(self.game_id, lang))
        return self._index[lang]

    def _passages(self, lang: str) -> Iterator[Passage]:
        """Yield what can answer a question: clauses with the reasons that cite them, and disputes."""
        reasons: dict[str, dict[str, None]] = {}
        for sentence in self.sentences.values():
            words = dict.fromkeys(words_of(_FACT.sub(" ", sentence.text.of(lang))))
            for clause_id in sentence.clauses:
                reasons.setdefault(clause_id, {}).update(words)
        for clause in self.clauses.values():
            said = " ".join(reasons.get(clause.id, ()))
            fields = (clause.heading.of(lang), clause.text.of(lang), clause.note.of(lang), said)
            yield Passage(clause.id, tuple(zip(_CLAUSE_WEIGHTS, fields, strict=True)))
        for dispute in self.disputes.values():
            fields_ = (dispute.question.of(lang), dispute.ruling.of(lang))
            yield Passage(dispute.id, tuple(zip(_DISPUTE_WEIGHTS, fields_, strict=True)))

    @staticmethod
    def _key(wanted: str, known: Iterable[str]) -> str:
        return next((key for key in known if fold(key) == fold(wanted.strip())), wanted)


def look_up(words: str, books: Sequence[Rulebook], lang: str = ENGLISH) -> list[tuple[Rulebook, Clause | Dispute]]:
    """Return what answers a question in some rulebooks, best first: the one ranking of the page and the command line.

    A game that is named in the question is the only one that is looked in; its name is no word of the question.
    """
    found = [(book, item) for book in books for item in book.by_id(words)]
    if found:
        return found
    folded = f" {' '.join(words_of(words))} "
    for book in books:
        names = {" ".join(words_of(name)) for name in (book.name.of(lang), book.name.en, book.game_id)}
        named = next((name for name in names if f" {name} " in folded), None)
        if named is not None and folded.replace(f" {named} ", " ", 1).strip():
            words, books = folded.replace(f" {named} ", " ", 1), [book]
            break
    every = (lang, *(other for other in languages() if other != lang))
    known = {one: [book.knows(words, one) for book in books] for one in every}
    spoken = max(every, key=lambda one: max(known[one], default=0.0))
    most = max(known[spoken], default=0.0)
    scored: list[tuple[float, Rulebook, Clause | Dispute]] = []
    for book, knows in zip(books, known[spoken], strict=True):
        ranked = book.ranked(words, spoken) if knows == most else []  # one that knows fewer of the words is left out
        scored += [(score, book, item) for score, item in ranked if score >= NEAR * ranked[0][0]]
    scored.sort(key=lambda one: -one[0])
    return [(book, item) for _, book, item in scored]


def seats(state: object) -> tuple[Sequence[str], Sequence[str]]:
    """Return the names, told apart where they are alike, and colours of a state in seat order; empty where none."""
    return told_apart(getattr(state, "names", ())), getattr(state, "colours", ())


def rulebook(game_id: str) -> Rulebook:
    """Return the rulebook of a game; its files are read once.

    :raises KeyError: when there are no clause files for it.
    """
    return _read(game_id, clause_folder(), languages())


@cache
def _read(game_id: str, folder: Path, known: tuple[str, ...]) -> Rulebook:
    import tomllib  # noqa: PLC0415 - read only when a sentence is wanted: starting stays quick

    if game_id not in rulebooks():
        raise KeyError(game_id)
    files = {}
    for lang in known:
        path = folder / f"{game_id}.{lang}.toml"
        if path.exists():
            files[lang] = tomllib.loads(path.read_text(encoding="utf-8"))
    return Rulebook(game_id, files)


def rulebooks() -> tuple[str, ...]:
    """Return the ids of the games that have clause files in English and French."""
    found = {
        lang: {path.name.removesuffix(f".{lang}.toml") for path in clause_folder().glob(f"*.{lang}.toml")}
        for lang in (ENGLISH, FRENCH)
    }
    return tuple(sorted(found[ENGLISH] & found[FRENCH]))


def _words(files: Mapping[str, Mapping[str, Any]], *path: str) -> Words:
    """Return a text of the clause files; a further language may lack it, English and French may not."""
    said: dict[str, str] = {}
    for lang, file in files.items():
        found: Any = file
        for key in path:
            found = found[key] if lang in (ENGLISH, FRENCH) else found.get(key, {})
        if isinstance(found, str) and found:
            said[lang] = found
    return Words.from_json(said)


def _status(status: str) -> str:
    if status not in STATUSES:
        raise ValueError(f"{status!r} is no status of a clause.")
    return status
