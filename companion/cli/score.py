"""`companion score`: the score sheet of a record or of a position, line by line, with the clause of each line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import click
from rich.table import Table
from rich.text import Text

from companion.cli.printing import (
    NOT_OVER,
    as_json,
    cited,
    console,
    emit,
    fault_words,
    language,
    lines_of,
    read_json,
    ruling_text,
    seat_names,
    seated_players,
    spoken,
    spoken_json,
)
from companion.rules import game
from companion.rules.core import JSON, Problem, SetupError, State
from companion.rules.i18n import Words
from companion.rules.record import RecordFault, read
from companion.rules.rulebook import Rulebook, rulebook, seats

_TOTAL: Final = Words("{who}: {total}")


@click.command()
@click.argument("record", required=False, type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "--position",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="Score a position, in the one form of a board, instead of a record.",
)
@language
@as_json
def command(record: str | None, position: str | None, lang: str, json_: bool) -> int:
    """Print the score sheet of RECORD as it stands at the end of its valid prefix.

    Exit status 1: the record has a refused move, or the position is impossible; 2: a line is no move at all.
    """
    if (record is None) == (position is None):
        raise click.UsageError("Name a RECORD or a --position, one of them.")
    error: RecordFault | None = None
    if position is not None:
        state = _from_position(read_json(position))
    else:
        replay = read(lines_of(str(record)))
        error = replay.error
        if replay.state is None or replay.record is None:
            raise click.ClickException(fault_words(error, lang) if error is not None else "")
        state = replay.state
    problems = state.problems()
    book = rulebook(state.game.id)
    if json_:
        emit(sheet_json(state, book, problems, error))
    else:
        _show(state, book, problems, lang)
    if error is not None:
        click.echo(f"companion: {fault_words(error, lang)}", err=True)
        return 1 if error.ruling is not None else 2
    return 1 if problems else 0


def _from_position(data: Any) -> State[Any]:
    if not isinstance(data, dict) or not isinstance(data.get("game"), str):
        raise SetupError('A position is an object with "game" and "places".')
    return game(data["game"]).from_position(data)


def sheet_json(
    state: State[Any], book: Rulebook, problems: Sequence[Problem] = (), error: RecordFault | None = None
) -> dict[str, JSON]:
    """Return the documented form of a score sheet."""
    sheet = state.score()
    names, colours = seats(state)
    people = seated_players(state, len(sheet.sheets))
    decided = spoken(state, state.ranking_reason)
    players = []
    for player in sheet.sheets:
        lines: list[dict[str, JSON]] = []
        for line in player.lines:
            words = book.line_words(line, names=names, colours=colours).to_json()
            what = {"what": line.what, "points": line.points, "clauses": list(line.clauses)}
            lines.append({**what, "facts": dict(line.facts), **words})
        told = {"total": player.total, "tie_break": list(player.tie_break), "lines": lines}
        players.append({**people[player.player], **told})
    return {
        "game": state.game.id,
        "players": players,
        "ranking": [list(place) for place in sheet.ranking],
        "decided_by": spoken_json(decided),
        "over": state.outcome() is not None,
        "problems": [
            {"key": p.key, "clauses": list(p.clauses), **book.problem_words(p, state).to_json()} for p in problems
        ],
        "error": error.to_json() if error is not None else None,
    }


def _show(state: State[Any], book: Rulebook, problems: Sequence[Problem], lang: str) -> None:
    out = console()
    sheet = state.score()
    names, colours = seats(state)
    place_of = sheet.ranks
    for player in sorted(sheet.sheets, key=lambda s: (place_of[s.player], s.player)):
        who = seat_names(state, len(sheet.sheets))[player.player]
        colour = f" ({book.word(colours[player.player], lang)})" if colours else ""
        table = Table(box=None, show_header=False, pad_edge=False, title_justify="left")
        table.add_column(justify="right")
        table.add_column()
        table.add_column(style="cyan")
        for line in player.lines:
            table.add_row(str(line.points), book.line(line, lang, names=names, colours=colours), cited(line.clauses))
        total = _TOTAL.of(lang).format(who=f"{who}{colour}", total=player.total)
        out.print(Text(f"{place_of[player.player]}. {total}", style="bold"))
        out.print(table)
        out.print()
    decided = spoken(state, state.ranking_reason)
    if decided is not None:
        out.print(ruling_text(decided, lang))
    if state.outcome() is None:
        out.print(Text(NOT_OVER.of(lang), style="dim"))
    for problem in problems:
        text = Text("✗ ", style="bold red").append(book.problem(problem, state, lang), style="red")
        out.print(text.append(f"  {cited(problem.clauses)}", style="cyan"))
