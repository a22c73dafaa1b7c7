"""How one position came from another, in words: the legal turn step by step, or what forbids it and the nearest one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from companion.rules.core import JSON, Move, Reason, Ruling, State
from companion.rules.i18n import Words, each, joined
from companion.rules.inference.turns import Content, Turn
from companion.rules.rulebook import STATUSES, Rulebook, rulebook

Told = tuple[tuple[Move | str, Ruling], ...]
"""Moves, each with the ruling on it; a text stands for what no move says, and is empty where the ruling says it all."""

DIFFERENCES: Final = 4
"""Places that a sentence tells at most, where the nearest turn does not end as was seen."""


class Missed(Protocol):
    """What the nearest legal turn does not make as it was seen: a place, or a field of the position."""

    @property
    def place(self) -> str:
        """Return the name of the place or field."""
        ...

    def to_json(self) -> dict[str, JSON]:
        """Return the documented form."""
        ...

    def words(self, book: Rulebook) -> Words | None:
        """Return the difference in words; None where a game has none for it."""
        ...


@dataclass(frozen=True, slots=True)
class Difference:
    """A place where the nearest legal turn does not end as was seen: what was seen, and what the turn leaves there."""

    place: str
    seen: tuple[Content, ...]
    turn: Content

    def to_json(self) -> dict[str, JSON]:
        """Return the documented form (``explain --json``)."""
        return {"place": self.place, "seen": [content_json(c) for c in self.seen], "turn": content_json(self.turn)}

    def words(self, book: Rulebook) -> Words | None:
        """Return what lies there after the turn, and what was seen."""
        turn, seen = content_words(book, self.turn), [content_words(book, c) for c in self.seen[:1]]
        return _LEAVES.filled({"place": book.words(self.place), "turn": turn, "seen": seen[0]}) if seen else None


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """A field in which the nearest legal turn does not end as was told: what was told, and what the turn makes it."""

    place: str
    seen: JSON
    turn: JSON

    def to_json(self) -> dict[str, JSON]:
        """Return the documented form (``explain --json``)."""
        return {"field": self.place, "seen": self.seen, "turn": self.turn}

    def words(self, book: Rulebook) -> Words | None:
        """Return nothing: fields have names for programs only."""
        del book
        return None


def content_json(found: Content) -> dict[str, JSON]:
    """Return the documented form of a content."""
    ground, things = found
    return {"ground": ground, "things": [{"kind": kind, **_named(what), "count": n} for kind, what, n in things]}


def _named(what: Any) -> dict[str, JSON]:
    """Return a thing's colour or value, and the companion of a card."""
    if isinstance(what, tuple):
        return {"value": what[0], "companion": what[1]}
    return {"colour" if isinstance(what, str) else "value": what}


def content_words(book: Rulebook, found: Content) -> Words:
    """Return what lies on a place: its ground and its things."""
    ground, things = found

    def said(lang: str) -> str:
        parts = [_named_as(book, lang, f"ground {ground}") or book.word(ground, lang)]
        for kind, what, count in things:
            if isinstance(what, tuple):
                text = book.word(f"{kind}-{what[0]}-{what[1]}", lang)
            else:
                value = "" if what is None else str(what)
                apart = f"{book.word(kind, lang)} {book.word(value, lang)}".strip()
                text = _named_as(book, lang, f"{kind} {value}") or apart
            parts.append(text if count == 1 else f"{count} × {text}")
        return ", ".join(parts)

    return each(said)


def _named_as(book: Rulebook, lang: str, key: str) -> str | None:
    """Return the words of a game for a ground, or for a thing of a colour; None where it has none of their own."""
    found = book.word(key, lang)
    return None if found == key else found


@dataclass(frozen=True, slots=True)
class Explanation:
    """How one position came from another.

    ``legal``: there is a legal turn; ``turns`` are the shortest ones. Else ``nearest`` is the legal turn that misses
    the fewest places, ``differences`` are what it misses, and ``rulings`` say why no legal turn does it: what is
    wrong with what was seen, or the refusals of moves that would have made it good. ``complete`` is False where a
    search gave up after ``looked`` lines, before all was looked at. ``steps`` are the moves of the first legal turn, or
    of the nearest one, with what each does; ``because`` those of them that had to make what differs. ``two`` are two
    legal turns, one after the other, that lead there.
    """

    game: str
    legal: bool
    turns: tuple[Turn, ...]
    nearest: Turn | None
    differences: tuple[Missed, ...]
    rulings: Told
    complete: bool
    because: Told = ()
    steps: Told = ()
    looked: int = 0
    two: tuple[Told, Told] | None = None

    def to_json(self) -> dict[str, JSON]:
        """Return the documented form (``explain --json``)."""
        rulings = [ruling for _, ruling in (*self.rulings, *self.because)]
        return {
            "legal": self.legal,
            "turns": [[str(move) for move in turn.moves] for turn in self.turns],
            "nearest": [str(move) for move in self.nearest.moves] if self.nearest else None,
            "two_turns": None if self.two is None else [[str(move) for move, _ in half] for half in self.two],
            "differences": [difference.to_json() for difference in self.differences],
            "clauses": list(dict.fromkeys(clause for ruling in rulings for clause in ruling.clauses)),
            "facts": {
                "complete": self.complete,
                "looked": self.looked,
                "refused": [str(move) for move, _ in self.rulings if str(move)],
                "because": [{"move": str(move), **ruling.to_json()} for move, ruling in self.because],
            },
            "steps": [{"move": str(move), **ruling.to_json()} for move, ruling in self.steps],
            "status": max((ruling.status for ruling in rulings), key=STATUSES.index, default="text"),
            **self.sentences().to_json(),
        }

    @property
    def headline(self) -> Words:
        """Return in one sentence whether a legal turn leads there."""
        if self.legal:
            return _LEADS if self.turns[0].moves else _NOTHING_HAPPENED
        return _NONE_LEADS if self.complete else _NONE_FOUND.filled({"looked": self.looked})

    def sentences(self) -> Words:
        """Return what was found, in sentences: no move is written in notation."""
        return joined([self.headline, *self._reasons()])

    def _reasons(self) -> Iterator[Words]:
        if self.legal:
            yield from (ruling.words for _, ruling in self.steps)
            return
        yield from dict.fromkeys(ruling.words for _, ruling in self.rulings)
        if self.decisive:
            yield from (DECIDES, *(ruling.words for _, ruling in self.decisive))
        for opening, half in self.halves():
            yield from (opening, *(ruling.words for _, ruling in half))
        told_nearest = self.nearest_words()
        if told_nearest:
            yield from (told_nearest[0], *(ruling.words for _, ruling in self.steps), *told_nearest[1:])

    @property
    def decisive(self) -> Told:
        """Return the steps of the nearest turn that had to make it otherwise, where nothing else is refused."""
        return () if self.legal or self.rulings else self.because

    def halves(self) -> list[tuple[Words, Told]]:
        """Return the two turns that explain it, each with the words before it; nothing where they do not."""
        return [] if self.two is None else list(zip((_FIRST, _SECOND), self.two, strict=True))

    def nearest_words(self) -> list[Words]:
        """Return the words before the nearest legal turn, and what it leaves otherwise, a sentence a place.

        Nothing where none is told.
        """
        if self.nearest is None or self.two is not None:
            return []
        book = rulebook(self.game)
        said = [difference.words(book) for difference in self.differences]
        return [_NEAREST if self.steps else _NEAREST_NOTHING, *[words for words in said if words][:DIFFERENCES]]


DECIDES: Final = Words("What decides:")
_NOTHING_HAPPENED = Words("Nothing had to happen: it may be as it was.")
_LEADS = Words("A legal turn leads there.")
_NONE_LEADS = Words("No legal turn leads there.")
_NONE_FOUND = Words(
    "No legal turn that leads there was found: {looked:plural|one line was|# lines were} looked at, then the search"
    " stopped. This is the best answer so far."
)
_NEAREST = Words("The nearest legal turn:")
_NEAREST_NOTHING = Words("In the nearest legal turn nothing happens.")
_LEAVES = Words("It leaves {turn} on {place}; seen there: {seen}.")
_FIRST = Words("The first turn:")
_SECOND = Words("The second turn:")


def steps_of(before: State[Any], moves: Sequence[Any]) -> Iterator[tuple[State[Any], Any]]:
    """Yield the steps of a turn, each with the state in which it is taken."""
    state = before
    for move in moves:
        yield state, move
        state = state.after(move)


def told(before: State[Any], moves: Sequence[Any]) -> Told:
    """Return the steps of a turn, each with what it does and by which clauses."""
    return tuple((move, state.check(move)) for state, move in steps_of(before, moves))


def spoken(before: State[Any], key: str, facts: Mapping[str, JSON]) -> Ruling | None:
    """Return a ruling by a sentence of the game's clause files; None where the game has no such sentence."""
    book = rulebook(before.game.id)
    return book.ruling(False, Reason(key, facts), before) if key in book.sentences else None
