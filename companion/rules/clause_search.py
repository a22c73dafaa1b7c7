"""Looking up a clause as people ask: the words of a question against clauses, reasons and listed disputes.

The ranking is BM25 with fields (S. Robertson and H. Zaragoza 2009, "The Probabilistic Relevance Framework"), with the
parameters that they name as usual. A word of the question finds the words that share its stem, those that it begins,
those it is a part of (German compounds), and its synonyms, which are data: ``synonyms/<language>.toml`` for all games,
``synonyms/<game-id>.<language>.toml`` for one, written by people who know what a table says for what the rulebook says.

There stands also how a table asks for each clause. A question that is like one of these says so by all its words, those
among them that say nothing of their own ("when", "where"): what both have in common, against all that either has
(P. Jaccard 1901), each word weighed by how rare it is. And it is like one by its spelling, whatever the language and
whoever mistypes: by the pieces of three to five letters that its words are made of (P. McNamee and J. Mayfield 2004,
"Character N-Gram Tokenization for European Language Text Retrieval"), as the cosine of their weights.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from itertools import accumulate
from math import log, sqrt
from pathlib import Path
from typing import Final, NamedTuple

K1: Final = 1.2
B: Final = 0.75
"""BM25: how soon more of the same word adds nothing, and how much a long text counts for less."""
SAME: Final = 1.0
SYNONYM: Final = 0.8
BEGINS: Final = 0.6
PART: Final = 0.4
"""What a word of a text is worth that is the one asked for; means the same; begins with it; has it inside."""
SHORTEST_BEGINNING: Final = 3
SHORTEST_PART: Final = 4
LIKE: Final = 1.0
"""What a question counts that is asked as a table asks for a clause, against the best answer by its words."""
SPELT_ALIKE: Final = 2.0
"""What a question counts that is spelt as a table asks for a clause, beside ``LIKE``: chosen with questions that were
looked at."""
PIECES: Final = range(3, 6)
"""How many letters the pieces of a word have, the spaces about it among them: the usual ones."""
NEAR: Final = 0.5
"""What answers half as well as the best is still told."""

SYNONYMS: Final = Path(__file__).parent / "synonyms"


def fold(text: str) -> str:
    """Return ``text`` without accents and in lower case, œ and æ spelled out, for searching."""
    text = text.casefold().replace("œ", "oe").replace("æ", "ae").replace("’", "'")
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


_WORD: Final = re.compile(r"[^\W_]+")
_ENDINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "en": ("ings", "ing", "ied", "ies", "edly", "ed", "es", "ly", "s", "e", "y"),
    "fr": (
        *("issent", "eraient", "assent", "erons", "erait", "aient", "ement", "ions", "erez", "eront", "era"),
        *("ees", "ant", "ent", "ait", "ees", "ee", "er", "ez", "es", "it", "is", "e", "s", "x"),
    ),
    "de": ("erinnen", "innen", "ern", "em", "en", "er", "es", "et", "st", "e", "n", "s", "t"),
}
_SHORTEST_STEM: Final = 3


@cache
def stem(word: str, lang: str) -> str:
    """Return a word without the ending that it takes in a sentence; a language that is not known has none.

    >>> stem("walking", "en") == stem("walked", "en") == stem("walks", "en") == "walk"
    True
    """
    for ending in _ENDINGS.get(lang, ()):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > _SHORTEST_STEM and word[-1] == word[-2] else word


def words_of(text: str) -> list[str]:
    """Return the words of a text, folded; what stands before an apostrophe is a word of its own."""
    return _WORD.findall(fold(text))


class Passage(NamedTuple):
    """Something that may answer: its id, and its texts with what each counts for."""

    id: str
    fields: Sequence[tuple[float, str]]


class Thesaurus(NamedTuple):
    """What a language says in other words: ``same`` has each stem's synonyms, ``idle`` words say nothing.

    ``asked`` says, by the id of a clause or dispute, how a table asks for it. ``usual`` are questions in full that most
    tables have: they are offered to whoever does not know what may be asked.
    """

    same: Mapping[str, frozenset[str]]
    idle: frozenset[str]
    asked: Mapping[str, Sequence[str]]
    usual: tuple[str, ...] = ()


@cache
def thesaurus(game_id: str, lang: str, folder: Path = SYNONYMS) -> Thesaurus:
    """Return the synonyms of a language, with those of a game; a file that is missing has none."""
    import tomllib  # noqa: PLC0415 - read when somebody asks: starting stays quick

    same: dict[str, set[str]] = {}
    idle: set[str] = set()
    asked: dict[str, Sequence[str]] = {}
    usual: tuple[str, ...] = ()
    for name in (f"{lang}.toml", f"{game_id}.{lang}.toml"):
        path = folder / name
        if path.exists():
            data = tomllib.loads(path.read_text(encoding="utf-8"))
            idle.update(word for line in data.get("idle", ()) for word in words_of(line))
            for line in data.get("same", ()):
                _add(same, [stem(word, lang) for word in words_of(line)])
            for said, meant in data.get("means", {}).items():
                stems = [stem(word, lang) for word in words_of(meant)]
                for word in words_of(said):
                    same.setdefault(stem(word, lang), set()).update(stems)
            asked.update(data.get("asked", {}))
            usual += tuple(data.get("usual", ()))
    alike = {word: frozenset(others - {word}) for word, others in same.items()}
    return Thesaurus(alike, frozenset(idle), asked, usual)


def _add(same: dict[str, set[str]], stems: Iterable[str]) -> None:
    every = set(stems)
    for word in every:
        same.setdefault(word, set()).update(every)


class ClauseIndex:
    """The passages of one rulebook in one language, ready to be asked."""

    def __init__(self, passages: Iterable[Passage], lang: str, words: Thesaurus) -> None:
        self.lang, self._words = lang, words
        self.ids: list[str] = []
        self._weights: list[dict[str, float]] = []
        self._phrases = PhraseIndex(lang, words)
        for number, passage in enumerate(passages):
            found: Counter[str] = Counter()
            asked = words.asked.get(passage.id, ())
            for weight, text in (*passage.fields, (1.0, " ".join(asked))):
                for word in words_of(text):
                    if word not in words.idle:
                        found[stem(word, lang)] += weight  # type: ignore[assignment]
            self.ids.append(passage.id)
            self._weights.append(dict(found))
            for phrase in asked:
                self._phrases.add(number, phrase)
        lengths = [sum(one.values()) for one in self._weights]
        usual = sum(lengths) / max(len(lengths), 1) or 1.0
        self._norms = [K1 * (1 - B + B * length / usual) for length in lengths]
        self._in: dict[str, list[int]] = {}
        for number, one in enumerate(self._weights):
            for word in one:
                self._in.setdefault(word, []).append(number)

    def _telling(self, question: str) -> list[str]:
        asked = dict.fromkeys(words_of(question))
        return [word for word in asked if word not in self._words.idle] or list(asked)

    def knows(self, question: str) -> float:
        """Return how many words of a question are known here; one that is only the beginning of another counts less.

        A word that says nothing of its own is known too, though less: by "what is" and "je n’ai" a language is told.
        """
        every = dict.fromkeys(words_of(question))
        idle = [word for word in every if word in self._words.idle]
        found = (variants(word, self.lang, self._words, self._in) for word in every if word not in self._words.idle)
        best = (max(one.values(), default=0.0) for one in found)
        return len(idle) * BEGINS + sum(SAME if worth >= SYNONYM else worth for worth in best)

    def ask(self, question: str) -> list[tuple[float, str]]:
        """Return what answers a question, best first, with its score; what shares no word with it is left out."""
        telling = self._telling(question)
        scores: dict[int, float] = {}
        met: dict[int, float] = {}
        for word in telling:
            found = variants(word, self.lang, self._words, self._in)
            # A word and what means the same are one word, as rare as they are together; what merely begins so or has
            # it inside is a word of its own.
            alike = {number for one, worth in found.items() if worth >= SYNONYM for number in self._in[one]}
            together = rarity(len(alike), len(self.ids))
            best: dict[int, tuple[float, float]] = {}
            for one, worth in found.items():
                numbers = self._in[one]
                rare = together if worth >= SYNONYM else min(together, rarity(len(numbers), len(self.ids)))
                for number in numbers:
                    weight = self._weights[number][one]
                    value = worth * rare * weight * (K1 + 1) / (weight + self._norms[number])
                    best[number] = max(best.get(number, (0.0, 0.0)), (value, worth))
            for number, (value, worth) in best.items():
                scores[number] = scores.get(number, 0.0) + value
                met[number] = met.get(number, 0.0) + worth
        # What answers all of a question goes before what says one word of it often.
        for number, count in met.items():
            scores[number] *= count / len(telling)
        top = max(scores.values(), default=0.0)
        for counts, likest in ((LIKE, self._phrases.ask(question)), (SPELT_ALIKE, self._phrases.spelt_like(question))):
            for number, alike_by in likest.items():
                if number in scores:
                    scores[number] += counts * alike_by * top
        ranked = sorted(scores.items(), key=lambda one: (-one[1], one[0]))
        return [(score, self.ids[number]) for number, score in ranked]


class _Pieces(NamedTuple):
    """Of each piece, one after the other, the phrases that have it and its share of each: from its end to the next's.

    Packed: as objects of their own they would take 27 MB more for all games and languages.
    """

    at: Mapping[str, int]
    ends: array[int]
    phrases: array[int]
    shares: array[float]


class PhraseIndex:
    """How a table asks for each passage, phrase by phrase."""

    def __init__(self, lang: str, words: Thesaurus) -> None:
        self.lang, self._words = lang, words
        self._of: list[tuple[int, frozenset[str]]] = []
        self._in: dict[str, list[int]] = {}
        self._told: list[str] = []

    def add(self, number: int, phrase: str) -> None:
        """Note that a passage is asked for so."""
        found = frozenset(stem(word, self.lang) for word in words_of(phrase))
        for word in found:
            self._in.setdefault(word, []).append(len(self._of))
        self._of.append((number, found))
        self._told.append(phrase)

    def ask(self, question: str) -> dict[int, float]:
        """Return by passage how like the question its likest phrase is: 0 to 1."""
        common: dict[int, float] = {}
        all_asked = 0.0
        for word in dict.fromkeys(words_of(question)):
            found = variants(word, self.lang, self._words, self._in)
            rare = self._rarity(stem(word, self.lang))
            all_asked += rare
            best: dict[int, float] = {}
            for one, worth in found.items():
                value = worth * min(rare, self._rarity(one))
                for phrase in self._in[one]:
                    best[phrase] = max(best.get(phrase, 0.0), value)
            for phrase, value in best.items():
                common[phrase] = common.get(phrase, 0.0) + value
        likest: dict[int, float] = {}
        for phrase, shared in common.items():
            number, words = self._of[phrase]
            either = all_asked + sum(map(self._rarity, words)) - shared
            likest[number] = max(likest.get(number, 0.0), shared / either if either > 0 else 0.0)
        return likest

    def spelt_like(self, question: str) -> dict[int, float]:
        """Return by passage how like the question its likest phrase is spelt: 0 to 1."""
        told = self._pieces
        common = [0.0] * len(self._of)
        weights: list[float] = []
        for piece, n in pieces(question).items():
            at = told.at.get(piece)
            first, last = (0, 0) if at is None else (told.ends[at], told.ends[at + 1])
            weights.append((1 + log(n)) * rarity(last - first, len(self._of)))
            for one in range(first, last):
                common[told.phrases[one]] += weights[-1] * told.shares[one]
        length = _length(weights)
        likest: dict[int, float] = {}
        for (number, _), shared in zip(self._of, common, strict=True):
            if shared:
                likest[number] = max(likest.get(number, 0.0), shared / length)
        return likest

    @cached_property
    def _pieces(self) -> _Pieces:
        spelt = Counter(piece for phrase in self._told for piece in pieces(phrase))
        at = {piece: number for number, piece in enumerate(spelt)}
        ends = array("L", (0, *accumulate(spelt.values())))
        filled = array("L", ends)
        found = _Pieces(at, ends, array("H", bytes(2 * ends[-1])), array("f", bytes(4 * ends[-1])))
        for phrase, text in enumerate(self._told):
            of_it = {
                at[piece]: (1 + log(n)) * rarity(spelt[piece], len(self._told)) for piece, n in pieces(text).items()
            }
            length = _length(of_it.values())
            for number, weight in of_it.items():
                found.phrases[filled[number]] = phrase
                found.shares[filled[number]] = weight / length
                filled[number] += 1
        return found

    def _rarity(self, word: str) -> float:
        return rarity(len(self._in.get(word, ())), len(self._of))


def pieces(text: str) -> Counter[str]:
    """Return the pieces that the words of a text are made of, and how often each is there.

    >>> sorted(pieces("ours"))
    [' ou', ' our', ' ours', 'our', 'ours', 'ours ', 'rs ', 'urs', 'urs ']
    """
    words = [f" {word} " for word in words_of(text)]
    return Counter(word[at : at + n] for word in words for n in PIECES for at in range(len(word) - n + 1))


def _length(weights: Iterable[float]) -> float:
    return sqrt(sum(weight * weight for weight in weights)) or 1.0


def rarity(count: int, every: int) -> float:
    """Return what a word tells that stands in so many of all texts (BM25's)."""
    return log(1 + (every - count + 0.5) / (count + 0.5))


def variants(word: str, lang: str, words: Thesaurus, known: Mapping[str, object]) -> dict[str, float]:
    """Return the known words that a word of a question may mean, with what each is worth."""
    base = stem(word, lang)
    found = {one: SYNONYM for one in words.same.get(base, ()) if one in known}
    if base in known:
        found[base] = SAME
    for one in known:
        if one in found:
            continue
        if len(word) >= SHORTEST_BEGINNING and one.startswith(base):
            found[one] = BEGINS
        elif min(len(one), len(base)) >= SHORTEST_PART and (base in one or one in base):
            found[one] = PART
    return found
