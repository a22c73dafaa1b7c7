"""What the rules commands share: printing for people, JSON lines, and the words around rulings."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from rich.console import Console
from rich.text import Text

from companion.rules.core import JSON, Move, Reason, Ruling, State
from companion.rules.i18n import ENGLISH, Words, languages
from companion.rules.record import MAX_BYTES, MAX_LINE_BYTES, RecordError, RecordFault, open_lines
from companion.rules.rulebook import seats

F = TypeVar("F", bound=Callable[..., Any])

STATUS: Final[Mapping[str, Words]] = {
    "text": Words("stated in the rulebook"),
    "deduced": Words("deduced from the rulebook"),
    "outside source": Words("from an outside source"),
    "house ruling": Words("house ruling"),
    "unknown": Words("unknown"),
}
"""What a ruling stands on, in words."""

NOT_OVER: Final = Words("The game is not over.")
_FAULT: Final = Words("line {line}, {kind}: {why}")

MARKS: Final = {True: ("✓", "green"), False: ("✗", "red")}


class Language(click.ParamType[str]):
    """A language that is known here: English, French, or one whose files are there."""

    name = "language"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return the languages to choose from."""
        del param, ctx
        return f"[{'|'.join(languages())}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the code of a language."""
        if value not in languages():
            self.fail(f"{value!r} is not one of {', '.join(map(repr, languages()))}.", param, ctx)
        return str(value)


def language(function: F) -> F:
    """Add the option ``--lang``."""
    return click.option(
        "--lang", type=Language(), default=ENGLISH, show_default=True, help="Language of the sentences."
    )(function)


def as_json(function: F) -> F:
    """Add the option ``--json``."""
    return click.option("--json", "json_", is_flag=True, help="One JSON object a line.")(function)


def console() -> Console:
    """Return where people read: coloured and wrapped on a terminal, plain whole lines in a pipe."""
    found = Console(highlight=False, emoji=False, markup=False)
    found.soft_wrap = not found.is_terminal
    return found


def emit(value: object) -> None:
    """Print one JSON object on one line; what UTF-8 cannot hold is escaped."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value)
    click.echo(text)


def printable(text: str) -> str:
    """Return text without what would steer a terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def status_words(ruling: Ruling, lang: str) -> str:
    """Return what a ruling stands on, and the option that changes it; nothing where the rulebook says it."""
    if ruling.status == "text":
        return ""
    words = STATUS[ruling.status].of(lang)
    return f"{words}; option {ruling.option}" if ruling.option else words


def cited(clauses: tuple[str, ...]) -> str:
    """Return clauses as they are cited."""
    return f"[{' '.join(clauses)}]" if clauses else ""


def ruling_text(ruling: Ruling, lang: str) -> Text:
    """Return a ruling as a line: the sentence, its clauses, and what it stands on."""
    text = Text(ruling.words.of(lang))
    text.append(f"  {cited(ruling.clauses)}", style="cyan")
    status = status_words(ruling, lang)
    if status:
        text.append(f"  ({status})", style="yellow")
    return text


def spoken(state: State[Any], reason: Reason | None) -> Ruling | None:
    """Return the sentence of the end or of the ranking, where the game has one."""
    return None if reason is None else state.game.rulebook.ruling(True, reason, state)


def spoken_json(ruling: Ruling | None) -> dict[str, JSON] | None:
    """Return such a sentence as JSON: clauses, status, option, facts and every language."""
    if ruling is None:
        return None
    return {key: value for key, value in ruling.to_json().items() if key != "legal"}


def seat_names(state: State[Any], count: int) -> list[str]:
    """Return a name for each seat, told apart where names are alike; seats without one are numbered."""
    names, _ = seats(state)
    return [names[seat] if seat < len(names) else str(seat + 1) for seat in range(count)]


def seated_players(state: State[Any], count: int) -> list[dict[str, JSON]]:
    """Return who sits where, in seat order: ``{"seat" (from 0), "name", "colour" (where the game has colours)}``."""
    _, colours = seats(state)
    people: list[dict[str, JSON]] = [{"seat": seat, "name": name} for seat, name in enumerate(seat_names(state, count))]
    for one, colour in zip(people, colours, strict=False):
        one["colour"] = colour
    return people


def lines_of(path: str) -> Iterator[bytes]:
    """Yield the lines of a record file, or of the standard input for ``-``."""
    if path != "-":
        return open_lines(path)
    stream = sys.stdin.buffer
    return iter(lambda: stream.readline(MAX_LINE_BYTES + 1), b"")


def read_json(path: str) -> Any:
    """Return the JSON in a file of at most the size of a record.

    :raises RecordError: when it is none.
    """
    if path == "-":
        data = sys.stdin.buffer.read(MAX_BYTES + 1)
    else:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise RecordError("{path} is larger than {most} bytes.", path=path, most=MAX_BYTES)
    if b"\0" in data:
        raise RecordError("{path} is not text in UTF-8.", path=path)
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise RecordError("{path} is not text in UTF-8.", path=path) from None
    except RecursionError:
        raise RecordError("{path} is nested too deeply.", path=path) from None
    except ValueError:
        raise RecordError("{path} is not valid JSON.", path=path) from None


def write_picture(path: Path, state: State[Any], move: Move | None, ruling: Ruling | None = None, *, lang: str) -> None:
    """Write a position as an SVG file, with the marks of a move and the words of its ruling here or elsewhere.

    :raises OSError: when the file cannot be written.
    """
    from companion.rules.drawing import picture

    path.write_text(picture(state, move, lang, ruling=ruling), encoding="utf-8")


def fault_words(fault: RecordFault, lang: str) -> str:
    """Return what is wrong with a record: the line, the error class and the sentence."""
    return _FAULT.filled({"line": fault.line, "kind": fault.kind, "why": fault.words}).of(lang)
