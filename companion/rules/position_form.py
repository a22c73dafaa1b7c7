"""The one form of a board, declared once by each game: the declaration writes it, reads it, says what is wrong.

A form is made of elements. An element reads a JSON value into what a game holds (a word's number, a card, a row) and
writes it back; a :class:`Form` is the whole position, field by field. Reading never stops at the first fault: each is
kept by the :class:`Reading`, with its place and a sentence in every language, and together they are the ``faults`` of
the error. What is a rule of one game (a phase that needs something, a card that the box has not) stays in that game.

What is left out, or null, takes its field's default; a field that nobody declared is refused: a misspelt one would
quietly be unknown.
"""

from __future__ import annotations

import reprlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from companion.rules.core import JSON, FormFault, Game, RulesError, SetupError
from companion.rules.i18n import Words, joined, same
from companion.rules.names import LONGEST_NAME, read_name

At: TypeAlias = "tuple[At, str | int] | None"
"""Where a value stands: its place in what stands around it; None is the whole position."""

Made = TypeVar("Made")

MOST_FAULTS: Final = 100
"""Faults of one form that are kept: who sent more of them sent no position."""
_TOLD: Final = 120
"""Characters of the error's own sentence after which only the number of the other faults is told."""


NEEDED: Final = object()
"""The default of a field that may not be left out."""
_ALWAYS: Final = object()
_NONE: Final = object()


class Reading:
    """A position while it is read: it keeps what is wrong."""

    __slots__ = ("faults",)

    def __init__(self) -> None:
        self.faults: list[FormFault] = []

    def say(self, at: At, words: Words) -> None:
        """Keep a fault."""
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(FormFault(path(at), words))

    def keep(self, at: At, make: Callable[[], Made]) -> Made | None:
        """Return what ``make`` makes; a :class:`SetupError` of it is a fault, and nothing comes of it."""
        try:
            return make()
        except SetupError as error:
            self.say(at, error.words)
            return None

    def sound(self, *fields: str) -> bool:
        """Return whether nothing is wrong with these fields of the position, as far as it has been read."""
        wrong = {fault.at.partition(".")[0].partition("[")[0] for fault in self.faults}
        return not wrong or (len(self.faults) < MOST_FAULTS and wrong.isdisjoint({"", *fields}))

    def options(self, game: Game[Any], given: Mapping[str, JSON] | None) -> dict[str, JSON]:
        """Return a game's options with defaults filled in; every one that is wrong is a fault."""
        try:
            return game.settled_options(given)
        except SetupError:
            for name, value in (given or {}).items():
                self.keep(((None, "options"), _key(name)), partial(game.settled_options, {name: value}))
            return game.settled_options(None)

    def finish(self) -> None:
        """End the reading.

        :raises SetupError: when anything was wrong.
        """
        if self.faults:
            raise self.error()

    def error(self) -> SetupError:
        """Return the error: its ``faults`` are everything that is wrong, its sentence begins with the first."""
        told = [self.faults[0].words]
        while len(told) < len(self.faults) and sum(len(one.en) for one in told) < _TOLD:
            told.append(self.faults[len(told)].words)
        rest = len(self.faults) - len(told)
        if rest:
            more = Words("{rest:plural|One more thing is wrong|# more things are wrong}.")
            told.append(more.filled({"rest": rest}))
        error = SetupError("{told}", told=joined(told))
        error.faults = tuple(self.faults)
        return error


def path(at: At) -> str:
    """Return a place as people read it: ``players[1].colour``, lists counted from 1."""
    parts: list[str] = []
    while at is not None:
        at, key = at
        parts.append(f"[{key}]" if isinstance(key, int) else f".{key}")
    return "".join(reversed(parts)).removeprefix(".")


_SHORT: Final = reprlib.Repr()
_SHORT.maxlevel = 2
_SHORT.maxstring = _SHORT.maxother = 40


def shown(value: JSON) -> str:
    """Return a value as a sentence shows it, in one short line."""
    try:
        text = _SHORT.repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits
        text = f"{type(value).__name__} …"
    return text if len(text) <= 44 else text[:40] + "…"


def _key(key: object) -> str:
    """Return a field that nobody knows as a place shows it."""
    return shown(key).strip("'\"")


_NO_PLACE: Final = Words("{game} has no place {shown}; it has {there}.")
_NO_FIELD: Final = Words("{what} has no field {shown}; it has {there}{where}.")


class Element(ABC):
    """How one value stands in JSON. ``says`` is what people call it; without it, it is called by its place.

    ``wish`` is what it should be (``a whole number from 0 to 7``), with the ``facts`` that stand in it.
    """

    says: Words | None = None
    wish: Words
    facts: Mapping[str, object] = MappingProxyType({})
    writer: Callable[[Any], JSON] | None = None
    """Makes JSON of what a game holds; None where a game holds it just as JSON has it."""

    @abstractmethod
    def read(self, value: JSON, at: At, reading: Reading) -> Any:
        """Return what a game holds for a JSON value; where it is wrong, that is kept, and nothing is returned."""

    def refuse(self, value: JSON, at: At, reading: Reading) -> None:
        """Keep that a value is not what it should be."""
        facts = {**self._whose(at), "wish": self.wish.filled(self.facts), "shown": shown(value)}
        words = Words("{what} is {wish}, not {shown}{where}.")
        reading.say(at, words.filled(facts))

    def unknown(self, key: object, at: At, reading: Reading, words: Words, **facts: object) -> None:
        """Keep that an object has a field that nobody reads."""
        reading.say((at, _key(key)), words.filled({**self._whose(at), "shown": shown(key), **facts}))

    def _whose(self, at: At) -> dict[str, Words]:
        where = path(at)
        if self.says is None:
            return {"what": same(where) if where else Words("The position"), "where": same("")}
        return {"what": self.says, "where": same(f" ({where})" if where else "")}


class Anything(Element):
    """Anything at all: what is told and not read, or what something else reads."""

    wish = Words("anything")

    def read(self, value: JSON, at: At, reading: Reading) -> Any:
        return value


class AnyObject(Element):
    """An object that something else reads."""

    wish = Words("an object")

    def read(self, value: JSON, at: At, reading: Reading) -> Any:
        return value if isinstance(value, Mapping) else self.refuse(value, at, reading)


class Boolean(Element):
    """True or false."""

    wish = Words("true or false")

    def read(self, value: JSON, at: At, reading: Reading) -> Any:
        return value if type(value) is bool else self.refuse(value, at, reading)


class Whole(Element):
    """A whole number within bounds."""

    wish = Words("a whole number from {least} to {most}")

    def __init__(self, least: int, most: int, says: Words | None = None) -> None:
        self.least, self.most, self.says = least, most, says
        self.facts = {"least": least, "most": most}

    def read(self, value: JSON, at: At, reading: Reading) -> Any:
        known = type(value) is int and self.least <= value <= self.most
        return value if known else self.refuse(value, at, reading)


class Name(Element):
    """A player's name; it is read as :mod:`companion.rules.names` keeps it."""

    says = Words("A player’s name")
    wish = Words("a text of 1 to {most} characters, all of them visible")
    facts: Mapping[str, object] = MappingProxyType({"most": LONGEST_NAME})

    def read(self, value: JSON, at: At, reading: Reading) -> Any:
        name = read_name(value) if isinstance(value, str) else None
        return self.refuse(value, at, reading) if name is None else name


class OneOf(Element):
    """One of some words or numbers; a mapping says what a game holds for each, and None in it is null.

    ``there`` is what to say of them where they are too many to name; it may name the ``{first}``.
    """

    wish = Words("one of {there}")

    def __init__(
        self,
        words: Iterable[str | int | None] | Mapping[Any, Any],
        says: Words | None = None,
        there: Words | None = None,
    ) -> None:
        self._held = dict(words) if isinstance(words, Mapping) else {word: word for word in words}
        self._types = frozenset(map(type, self._held))
        self.wish, self.says = there or self.wish, says
        named = [str(word) for word in self._held if word not in (None, "")]
        self.facts = {"there": ", ".join(named), "first": named[0]}
        self.words = {held: word for word, held in self._held.items()}
        if any(word is not held for word, held in self._held.items()):
            self.writer = self.words.__getitem__

    def read(self, value: JSON, at: At, reading: Reading) -> Any:
        # Types count: true is no 1. And what has no hash is none of the words.
        held = self._held.get(value, _NONE) if type(value) in self._types else _NONE
        return self.refuse(value, at, reading) if held is _NONE else held


def numbered(words: Sequence[str]) -> dict[Any, int]:
    """Return words with their numbers: a game holds the number, JSON has the word."""
    return {word: number for number, word in enumerate(words)}


class Notation(Element):
    """A text with a notation of its own, such as a card; ``parse`` raises a ValueError where it is none."""

    def __init__(self, parse: Callable[[str], Any], text: Callable[[Any], JSON], wish: Words) -> None:
        self._parse, self.writer, self.wish = parse, text, wish

    def read(self, value: JSON, at: At, reading: Reading) -> Any:
        try:
            if isinstance(value, str):
                return self._parse(value)
        except RulesError as error:
            words = Words("{why} ({where})").filled({"why": error.words, "where": path(at)})
            return reading.say(at, words)
        except ValueError:
            pass
        return self.refuse(value, at, reading)


class Items(Element):
    """A list of things of one sort; a game holds a tuple."""

    wish = Words("a list of at most {most}")

    def __init__(self, one: Element, most: int, says: Words | None = None) -> None:
        self.one, self.most, self.says, self.facts = one, most, says, {"most": most}
        write = one.writer
        self.writer = list if write is None else lambda held: list(map(write, held)) if held else []

    def read(self, value: JSON, at: At, reading: Reading) -> Any:
        if not isinstance(value, list | tuple) or len(value) > self.most:
            return self.refuse(value, at, reading)
        if not value:
            return ()
        read = self.one.read
        return tuple([read(one, (at, number), reading) for number, one in enumerate(value, 1)])


def _as_it_is(held: Any) -> JSON:
    return held


class Group(Element):
    """A list of so many values, each of its own sort: ``["red", 4]``; ``wish`` says what they are."""

    def __init__(self, *ones: Element, wish: Words) -> None:
        self.ones, self.wish = ones, wish
        writers = [one.writer or _as_it_is for one in ones]
        self.writer = lambda held: [write(one) for write, one in zip(writers, held, strict=True)]

    def read(self, value: JSON, at: At, reading: Reading) -> Any:
        if not isinstance(value, list | tuple) or len(value) != len(self.ones):
            return self.refuse(value, at, reading)
        pairs = enumerate(zip(self.ones, value, strict=True), 1)
        return tuple([one.read(each, (at, number), reading) for number, (one, each) in pairs])


class ByName(Element):
    """An object that names some of what there is; null says as much of one as leaving it out.

    ``there`` is what to say of the names where they are too many, and may name the ``{first}``; ``places_of`` is the
    game whose places they are.
    """

    wish = AnyObject.wish

    def __init__(self, ones: Mapping[str, Element], there: Words | None = None, places_of: str = "") -> None:
        self.ones, self._there = dict(ones), there or Words("{all}")
        self.facts = {"all": ", ".join(ones), "first": next(iter(ones)), "game": places_of}
        self._none = _NO_PLACE if places_of else _NO_FIELD
        writers = {name: one.writer or _as_it_is for name, one in self.ones.items()}
        self.writer = dict
        if any(one.writer for one in ones.values()):
            self.writer = lambda held: {name: one if one is None else writers[name](one) for name, one in held.items()}

    def read(self, value: JSON, at: At, reading: Reading) -> Any:
        if type(value) is not dict and not isinstance(value, Mapping):
            return self.refuse(value, at, reading)
        found, ones = {}, self.ones
        for name, content in value.items():
            one = ones.get(name)
            if one is None:
                self.unknown(name, at, reading, self._none, there=self._there.filled(self.facts), **self.facts)
            elif content is not None:
                found[name] = one.read(content, (at, name), reading)
        return found


class Field(NamedTuple):
    """A field of an object.

    ``default`` is held where it is left out or null (:data:`NEEDED`: it may not be); where ``null`` is false, null is
    a value of its own, which the element reads. ``of`` is what is written: a name of the state's, or what makes it of
    the state (else the field's own name). Where it is ``brief``, the default is not written.
    """

    name: str
    element: Element
    default: Any = None
    of: str | Callable[[Any], Any] | None = None
    null: bool = True
    brief: bool = False


class DictRecord(Element):
    """An object with these fields and no others; a game holds a dict, and what is written is taken from its state."""

    wish = AnyObject.wish

    def __init__(self, *fields: Field, says: Words | None = None, part: bool = False) -> None:
        """``part``: these are read first, there are others."""
        self.fields, self.says, self.part = fields, says, part
        self.names = tuple(field.name for field in fields)
        self._known, self._there = frozenset(self.names), ", ".join(self.names)
        self._plan = tuple((f.name, f.element.read, f.default, f.null) for f in fields)
        self._writing = tuple((f.name, _getter(f), f.element.writer, f.default if f.brief else _ALWAYS) for f in fields)
        self.writer = self.write

    def values(self, value: JSON, at: At, reading: Reading, had: Mapping[str, Any] | None = None) -> list[Any]:
        """Return what is held for each field; ``had`` are fields that have been read already."""
        if type(value) is not dict and not isinstance(value, Mapping):
            if had is None:
                self.refuse(value, at, reading)
            return [field.default for field in self.fields]
        if not self.part and not self._known.issuperset(value):
            for key in value:
                if key not in self._known:
                    self.unknown(key, at, reading, _NO_FIELD, there=self._there)
        found, get = [], value.get
        for name, read, default, null in self._plan:
            said = get(name)
            if had is not None and name in had:
                found.append(had[name])
            elif said is None and default is not NEEDED and (null or name not in value):
                found.append(default)
            else:
                found.append(read(said, (at, name), reading))
        return found

    def read(self, value: JSON, at: At, reading: Reading, had: Mapping[str, Any] | None = None) -> Any:
        return dict(zip(self.names, self.values(value, at, reading, had), strict=True))

    def write(self, held: Any) -> JSON:
        found = {}
        for name, get, write, brief in self._writing:
            one = get(held)
            if brief is _ALWAYS or one != brief:
                found[name] = one if write is None else write(one)
        return found


def _getter(field: Field) -> Callable[[Any], Any]:
    return field.of if callable(field.of) else attrgetter(field.of or field.name)


class TupleRecord(DictRecord):
    """An object with these fields and no others, of which a game holds a tuple in their order."""

    def __init__(self, *fields: Field, says: Words | None = None) -> None:
        super().__init__(*fields, says=says)
        self._columns = tuple((name, write, brief) for name, _, write, brief in self._writing)
        self.quick = not any(field.brief or field.element.writer for field in fields)

    def read(self, value: JSON, at: At, reading: Reading, had: Mapping[str, Any] | None = None) -> Any:
        return tuple(self.values(value, at, reading, had))

    def write(self, held: Any) -> JSON:
        """Return the object of a tuple."""
        if self.quick:
            return dict(zip(self.names, held, strict=False))
        found = {}
        for (name, write, brief), one in zip(self._columns, held, strict=False):
            if brief is _ALWAYS or one != brief:
                found[name] = one if write is None else write(one)
        return found


class Things(Items):
    """What lies at a place: a list of objects with a ``kind`` and the fields of that kind.

    A game holds a tuple for each: the kind, then the fields in their order.
    """

    def __init__(self, kinds: Mapping[str, Sequence[Field]], most: int, says: Words | None = None) -> None:
        thing = _Thing(kinds, says)
        super().__init__(thing, most)
        rows = thing.rows
        if all(row.quick for row in rows.values()):
            names = {kind: row.names for kind, row in rows.items()}
            self.writer = lambda held: [dict(zip(names[one[0]], one)) for one in held]  # noqa: B905 - quick
        else:
            self.writer = lambda held: [rows[one[0]].write(one) for one in held]


class _Thing(Element):
    wish = AnyObject.wish

    def __init__(self, kinds: Mapping[str, Sequence[Field]], says: Words | None) -> None:
        self.says = says
        self._kind = OneOf(tuple(kinds))
        kind = Field("kind", self._kind, NEEDED)
        self.rows = {name: TupleRecord(kind, *fields, says=says) for name, fields in kinds.items()}

    def read(self, value: JSON, at: At, reading: Reading) -> Any:
        if type(value) is not dict and not isinstance(value, Mapping):
            return self.refuse(value, at, reading)
        kind = value.get("kind")
        row = self.rows.get(kind) if isinstance(kind, str) else None
        return self._kind.read(kind, (at, "kind"), reading) if row is None else row.read(value, at, reading)


class PlaceRecord(TupleRecord):
    """A place: what it is, and what lies there; a game holds ``(ground, things)``."""

    def __init__(self, ground: Element, things: Items, default: Any = None, says: Words | None = None) -> None:
        super().__init__(Field("ground", ground, default), Field("things", things, ()), says=says)
        is_, are = ground.writer, things.writer or list
        self.writer = lambda held: {
            "ground": held[0] if is_ is None else is_(held[0]),
            "things": are(held[1]) if held[1] else [],
        }


class Form(DictRecord):
    """The whole position of a game, whose id is its first field; :meth:`write` takes the state."""

    def __init__(self, game_id: str, says: Words, *fields: Field) -> None:
        super().__init__(Field("game", OneOf((game_id,)), game_id, of=lambda _: game_id), *fields, says=says)

    def decode(self, data: JSON) -> dict[str, Any]:
        """Return what a position holds, by the names of the fields.

        :raises SetupError: with everything that is wrong.
        """
        reading = Reading()
        found: dict[str, Any] = self.read(data, None, reading)
        reading.finish()
        return found
