"""`companion referee`: replay a record, with a ruling for each move; nothing is stopped, nothing hidden."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.text import Text

from companion.cli.printing import (
    MARKS,
    NOT_OVER,
    as_json,
    cited,
    console,
    emit,
    fault_words,
    language,
    lines_of,
    printable,
    ruling_text,
    seat_names,
    seated_players,
    spoken,
    spoken_json,
    write_picture,
)
from companion.rules.core import JSON, State
from companion.rules.i18n import Words
from companion.rules.record import HeaderError, RecordFault, Verdict, referee

LONGEST_TEXT = 200
"""What is shown of a line that is no move."""
MOST_PICTURES = 1000
"""Pictures in a folder: those of the first so many moves."""


class _Summary:
    """What the referee remembers of the lines: the first error, how many were refused, the valid prefix."""

    def __init__(self) -> None:
        self.first: RecordFault | None = None
        self.refused = self.unreadable = self.prefix = 0
        self.state: State[Any] | None = None

    def add(self, verdict: Verdict) -> None:
        self.state = verdict.state
        if verdict.error is None:
            self.prefix += self.first is None
            return
        self.first = self.first or verdict.error
        if verdict.ruling is None:
            self.unreadable += 1
        else:
            self.refused += 1

    @property
    def status(self) -> int:
        return 2 if self.unreadable else 1 if self.refused else 0


class _Pictures:
    """What is drawn on the way: each ruling into a folder, or the one that is asked about into a file."""

    def __init__(self, path: Path | None, lang: str) -> None:
        self.path, self.lang = path, lang
        self.alone = path is not None and path.suffix.lower() == ".svg"
        self.verdict: Verdict | None = None
        self.drawn = self.left_out = 0
        if path is not None and not self.alone:
            path.mkdir(parents=True, exist_ok=True)

    def add(self, verdict: Verdict) -> None:
        if self.path is None or verdict.move is None:
            return
        if self.alone:
            if self.verdict is None or self.verdict.error is None:
                self.verdict = verdict
        elif self.drawn < MOST_PICTURES:
            self.drawn += 1
            write_picture(self.path / f"line-{verdict.line:04}.svg", verdict.before, verdict.move, lang=self.lang)
        else:
            self.left_out += 1

    def end(self) -> None:
        if self.path is not None and self.alone:
            if self.verdict is None:
                click.echo(f"companion: {NO_PICTURE.of(self.lang)}", err=True)
                return
            write_picture(self.path, self.verdict.before, self.verdict.move, lang=self.lang)
        if self.left_out:
            words = LEFT_OUT.filled({"most": MOST_PICTURES, "count": self.left_out})
            click.echo(f"companion: {words.of(self.lang)}", err=True)


NO_PICTURE = Words("There is no move to draw.")
LEFT_OUT = Words("{most} pictures at most; moves without one: {count}")
WON_BY = Words("Won by {names}")


@click.command()
@click.argument("record", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "--svg",
    type=click.Path(path_type=Path),
    help="Draw the first refused move (or else the last move) into this file, or each move into this folder.",
)
@language
@as_json
def command(record: str, svg: Path | None, lang: str, json_: bool) -> int:
    """Replay the game in RECORD (- for the standard input): a ruling for each move.

    With --svg comes the picture of the position that a move was judged in, with the move and what decided marked and
    the ruling below: one where a file NAME.svg is named, one of each move (line-0001.svg …) where a folder is.

    A refused move is not played; the next one is judged as if it had not been tried. Exit status 0: every move is
    legal; 1: a move was refused; 2: a line is no move at all.
    """
    summary = _Summary()
    pictures = _Pictures(svg, lang)
    out = console()
    try:
        for verdict in referee(lines_of(record)):
            summary.add(verdict)
            pictures.add(verdict)
            if json_:
                emit(_line(verdict))
            else:
                out.print(_text(verdict, lang), soft_wrap=out.soft_wrap)
    except HeaderError as error:
        raise click.ClickException(fault_words(error.fault, lang)) from None
    pictures.end()
    if json_:
        emit(_outcome(summary))
    else:
        _show_outcome(summary, lang)
    if summary.first is not None:
        click.echo(f"companion: {fault_words(summary.first, lang)}", err=True)
    return summary.status


def _line(verdict: Verdict) -> dict[str, JSON]:
    line: dict[str, JSON] = {"line": verdict.line, "move": verdict.text[:LONGEST_TEXT]}
    if verdict.ruling is not None:
        line |= verdict.ruling.to_json()
    elif verdict.error is not None:
        line |= {"legal": False, "clauses": [], "status": None, "facts": {}}
        line |= verdict.error.words.to_json()
    line["error"] = verdict.error.kind if verdict.error is not None else None
    return line


def _text(verdict: Verdict, lang: str) -> Text:
    mark, colour = MARKS[verdict.error is None]
    text = Text(f"{verdict.line:5} ", style="dim")
    text.append(f"{mark} ", style=f"bold {colour}")
    text.append(f"{printable(verdict.text[:LONGEST_TEXT]):22} ", style="bold")
    if verdict.ruling is not None:
        text.append_text(ruling_text(verdict.ruling, lang))
    elif verdict.error is not None:
        text.append(f"{verdict.error.kind}: {verdict.error.words.of(lang)}", style="red")
    return text


def _outcome(summary: _Summary) -> dict[str, JSON]:
    found: dict[str, JSON] = {
        "outcome": None,
        "valid_moves": summary.prefix,
        "refused": summary.refused,
        "unreadable": summary.unreadable,
        "error": summary.first.to_json() if summary.first is not None else None,
    }
    state = summary.state
    outcome = state.outcome() if state is not None else None
    if state is None or outcome is None:
        return found
    sheet = state.score()
    ended, decided = spoken(state, state.end_reason), spoken(state, state.ranking_reason)
    found["outcome"] = {
        "players": seated_players(state, len(sheet.sheets)),
        "winners": list(outcome.winners),
        "clauses": list(outcome.clauses),
        "ranking": [list(place) for place in sheet.ranking],
        "totals": [one.total for one in sheet.sheets],
        "ended_by": spoken_json(ended),
        "decided_by": spoken_json(decided),
    }
    return found


def _show_outcome(summary: _Summary, lang: str) -> None:
    out, state = console(), summary.state
    if state is None:
        return
    outcome = state.outcome()
    if outcome is None:
        out.print(Text(NOT_OVER.of(lang), style="bold"))
        return
    ended, decided = spoken(state, state.end_reason), spoken(state, state.ranking_reason)
    for ruling in (ended, decided):
        if ruling is not None:
            out.print(Text("  ").append_text(ruling_text(ruling, lang)))
    if decided is None:
        names = seat_names(state, len(state.score().sheets))
        winners = ", ".join(names[seat] for seat in outcome.winners)
        out.print(Text(f"  {WON_BY.filled({'names': winners}).of(lang)}  {cited(outcome.clauses)}"))
