"""Game records: JSON Lines, a header and then one move a line; reading stops nothing and hides nothing.

A wrong line gives the valid prefix and the error: its line, its class and a sentence. Reading streams, and every
bound below ends in such an error, so that no file can fill the memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from companion.rules import game
from companion.rules.core import (
    JSON,
    Game,
    IllegalMoveError,
    InvalidMoveError,
    Move,
    RulesError,
    Ruling,
    SetupError,
    State,
)
from companion.rules.i18n import Words
from companion.rules.set_position import SetPosition, played, ruling_of

MAX_LINES: Final = 50_000
"""More lines than any game has; a record with more is not read on."""
MAX_LINE_BYTES: Final = 65_536
"""The longest line, long enough for a header with a whole position."""
MAX_BYTES: Final = 8 * 1024 * 1024
"""The largest record."""
MAX_MOVE: Final = 200
"""The longest move text, in characters."""
NO_STEP: Final = Words("After the header every line is one move, as a text, or a position that was set.")

_PLAYER_KEYS: Final = ("name", "colour")
_HEADER_KEYS: Final = ("game", "players", "options", "setup", "position", "note")


class RecordError(RulesError, ValueError):
    """A line of a record that is no line of a record: its encoding, its form or its size."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first line: the game, and how it starts: by players, options and set-up, or from a position."""

    game: str
    players: tuple[Mapping[str, JSON], ...] = ()
    options: Mapping[str, JSON] = field(default_factory=dict)
    setup: Mapping[str, JSON] = field(default_factory=dict)
    position: Mapping[str, JSON] | None = None
    note: str = ""

    @classmethod
    def from_json(cls, data: JSON) -> Header:
        """Return the header that a parsed first line holds.

        :raises RecordError: when it is none.
        """
        if not isinstance(data, dict) or not isinstance(data.get("game"), str):
            raise RecordError('The first line of a record is an object with "game" and "players".')
        for key in data:
            if key not in _HEADER_KEYS:
                raise RecordError(
                    "The header of a record has {keys}, not {key!r}.", keys=", ".join(_HEADER_KEYS), key=key[:40]
                )
        position = data.get("position")
        players = data.get("players", [])
        if not isinstance(players, list) or not all(isinstance(p, dict) for p in players):
            raise RecordError("The players of a record are a list of objects.")
        for key in (key for player in players for key in player):
            if key not in _PLAYER_KEYS:
                raise RecordError(
                    "A player of a record has {keys}, not {key!r}.", keys=", ".join(_PLAYER_KEYS), key=str(key)[:40]
                )
        for key in ("options", "setup", "position"):
            if data.get(key) is not None and not isinstance(data[key], dict):
                raise RecordError("{key!r} of a record is an object.", key=key)
        return cls(
            data["game"],
            tuple(players),
            data.get("options") or {},
            data.get("setup") or {},
            position,
            str(data.get("note", "")),
        )

    def to_json(self) -> dict[str, JSON]:
        """Return the documented form; what is empty is left out, but for players and options."""
        found: dict[str, JSON] = {"game": self.game}
        if self.position is None:
            found |= {"players": [dict(p) for p in self.players], "options": dict(self.options)}
            if self.setup:
                found["setup"] = dict(self.setup)
        else:
            found["position"] = dict(self.position)
        if self.note:
            found["note"] = self.note
        return found

    def start(self) -> State[Any]:
        """Return the first state.

        :raises SetupError: when game, players, options, set-up or position do not fit.
        """
        played: Game[Any] = game(self.game)
        if self.position is not None:
            return played.from_position(self.position)
        return played.start(self.players, self.options, self.setup)


@dataclass(frozen=True, slots=True)
class Record:
    """A game as it was played: a header and the moves as text; a position that was set is one, as its line is."""

    header: Header
    moves: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield the lines, without line ends."""
        yield json.dumps(self.header.to_json(), ensure_ascii=False)
        for move in self.moves:
            yield move if move.startswith("{") else json.dumps(move, ensure_ascii=False)

    def prefix(self, moves: int) -> Record:
        """Return the record up to and with so many moves: what is left after an undo to that point."""
        return Record(self.header, self.moves[: max(0, moves)])

    def replay(self) -> Replay:
        """Return the replay of this record."""
        return read(self.lines())


@dataclass(frozen=True, slots=True)
class RecordFault:
    """What ended a reading: the line (from 1), the name of the error class, and the sentence."""

    line: int
    kind: str
    words: Words
    ruling: Ruling | None = None

    def to_json(self) -> dict[str, JSON]:
        """Return the documented form."""
        return {"line": self.line, "class": self.kind, **self.words.to_json()}


class HeaderError(RecordError):
    """A record whose first line starts no game; ``fault`` says why, with the line and its error class."""

    def __init__(self, fault: RecordFault) -> None:
        super().__init__(Words("Line {line}: {why}"), line=fault.line, why=fault.words)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Replay:
    """The valid prefix of a record, and what ended it, if anything did.

    ``start`` and ``state`` are the first and the last state of the prefix; they are None where the header is wrong.
    """

    record: Record | None
    start: State[Any] | None
    state: State[Any] | None
    error: RecordFault | None = None

    def at(self, moves: int) -> State[Any]:
        """Return the state after so many moves of the prefix.

        :raises IndexError: when the prefix has fewer.
        """
        if self.record is None or self.start is None or not 0 <= moves <= len(self.record.moves):
            raise IndexError(moves)
        state = self.start
        for text in self.record.moves[:moves]:
            state = played(state, step_of(state.game, text))
        return state

    def rulings(self) -> Iterator[tuple[str, Ruling]]:
        """Yield each move of the prefix with its ruling."""
        if self.record is not None and self.start is not None:
            state = self.start
            for text in self.record.moves:
                step = step_of(state.game, text)
                yield text, ruling_of(state, step)
                state = played(state, step)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One line of the referee: the ruling on a move, or the error that the line is, and the state after it.

    A move that is refused is not played: the next one is judged as if it had not been tried. ``before`` is the state
    that the line was judged in, ``move`` what it says (None where it says no move of the rules).
    """

    line: int
    text: str
    ruling: Ruling | None
    error: RecordFault | None
    state: State[Any]
    before: State[Any]
    move: Move | None = None


def read(lines: Iterable[str | bytes]) -> Replay:
    """Replay a record up to its end or its first wrong line; nothing is raised for what it holds."""
    numbered = _texts(lines)
    try:
        header, start = _read_header(numbered)
    except _Stop as stop:
        return Replay(None, None, None, stop.fault)
    moves: list[str] = []
    state = start
    error = None
    try:
        for number, text in numbered:
            try:
                step = step_of(start.game, _step_text(text))
                state = played(state, step)
            except RulesError as problem:
                error = _fault(number, problem)
                break
            moves.append(str(step))
    except _Stop as stop:
        error = stop.fault
    return Replay(Record(header, tuple(moves)), start, state, error)


def referee(lines: Iterable[str | bytes]) -> Iterator[Verdict]:
    """Yield a verdict for each line after the header; a wrong line or move is judged and left out.

    What can be read no further (an encoding, a bound) is the last verdict.

    :raises HeaderError: when there is no header that starts a game.
    """
    numbered = _texts(lines)
    try:
        _, state = _read_header(numbered)
    except _Stop as stop:
        raise HeaderError(stop.fault) from None
    number = 1
    try:
        for number, text in numbered:
            said = text
            try:
                said = _step_text(text)
                step = step_of(state.game, said)
                ruling = ruling_of(state, step)
            except RulesError as problem:
                yield Verdict(number, said, None, _fault(number, problem), state, state)
                continue
            before, move = state, None if isinstance(step, SetPosition) else step
            if ruling.legal:
                state = played(state, step)
                yield Verdict(number, str(step), ruling, None, state, before, move)
            else:
                error = RecordFault(number, IllegalMoveError.__name__, ruling.words, ruling)
                yield Verdict(number, str(move), ruling, error, state, before, move)
    except _Stop as stop:
        yield Verdict(stop.fault.line, "", None, stop.fault, state, state)


def open_lines(path: Path | str) -> Iterator[bytes]:
    """Yield the lines of a file, never more of one line than its bound and one byte.

    :raises OSError: when the file cannot be read.
    """
    with Path(path).open("rb") as file:
        while line := file.readline(MAX_LINE_BYTES + 1):
            yield line


def read_file(path: Path | str) -> Replay:
    """Replay the record in a file.

    :raises OSError: when the file cannot be read.
    """
    return read(open_lines(path))


class _Stop(Exception):  # noqa: N818 - it stops the reading; what went wrong is the fault it carries
    """Reading cannot go on."""

    def __init__(self, line: int, error: RulesError) -> None:
        super().__init__(str(error))
        self.fault = _fault(line, error)


def _fault(line: int, error: RulesError) -> RecordFault:
    ruling = error.ruling if isinstance(error, IllegalMoveError) else None
    return RecordFault(line, type(error).__name__, error.words if ruling is None else ruling.words, ruling)


def _texts(lines: Iterable[str | bytes]) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line that is not blank; a broken bound or encoding is a :class:`_Stop`."""
    size = 0
    number = 0
    for number, line in enumerate(lines, 1):
        raw = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
        size += len(raw)
        if len(raw) > MAX_LINE_BYTES:
            raise _Stop(
                number,
                RecordError(
                    "The line is longer than {most} bytes; this is not the record of a game.", most=MAX_LINE_BYTES
                ),
            )
        if number > MAX_LINES or size > MAX_BYTES:
            raise _Stop(
                number,
                RecordError(
                    "A record has at most {lines} lines and {size} bytes; it is not read on.",
                    lines=MAX_LINES,
                    size=MAX_BYTES,
                ),
            )
        try:
            text = _decoded(raw, first=number == 1)
        except UnicodeError:
            raise _Stop(
                number,
                RecordError("The line is not text in UTF-8."),
            ) from None
        if text:
            yield number, text


def _decoded(raw: bytes, *, first: bool) -> str:
    """Return the text of a line; zeros, which other encodings of Unicode are full of, are no text.

    :raises UnicodeError: when it is none.
    """
    if b"\0" in raw:
        raise UnicodeError
    return raw.decode("utf-8-sig" if first else "utf-8").strip()


def _read_header(numbered: Iterator[tuple[int, str]]) -> tuple[Header, State[Any]]:
    number, text = next(numbered, (1, ""))
    try:
        if not text:
            raise RecordError("The record is empty.")
        header = Header.from_json(_json(text))
        return header, header.start()
    except RulesError as error:
        raise _Stop(number, error) from None


def _step_text(line: str) -> str:
    """Return the step that a line holds: a move, as a JSON string or as it stands, or a position that was set."""
    if line[0] not in '"[{':
        return line
    value = _json(line)
    if isinstance(value, dict):
        return line
    if not isinstance(value, str) or value.startswith("{"):
        raise RecordError(NO_STEP)
    return value


def step_of(rules: Game[Any], text: str) -> Move | SetPosition:
    """Return the step that a text of a record says: a move, or a position that was set.

    :raises RulesError: when it says none.
    """
    if text.startswith("{"):
        value = _json(text)
        if not isinstance(value, dict) or value.keys() != {"position"} or not isinstance(value["position"], dict):
            raise RecordError(NO_STEP)
        return SetPosition.of(value["position"])
    if len(text) > MAX_MOVE:
        raise InvalidMoveError("A move has at most {most} characters, not {length}.", most=MAX_MOVE, length=len(text))
    found: Move = rules.parse(text)
    return found


def _json(text: str) -> JSON:
    try:
        return json.loads(text)
    except RecursionError:
        raise RecordError("The line is nested too deeply.") from None
    except ValueError:
        raise RecordError("The line is not valid JSON.") from None


__all__ = [
    "Header",
    "HeaderError",
    "Record",
    "RecordError",
    "RecordFault",
    "Replay",
    "SetupError",
    "Verdict",
    "open_lines",
    "read",
    "read_file",
    "referee",
    "step_of",
]
