"""`companion vision follow`: the turns that a row of photos shows."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from companion.cli.printing import language
from companion.cli.vision.board import JSON, PHOTO, PROFILE, read_photo
from companion.rules.i18n import Words, noted

if TYPE_CHECKING:
    from companion.rules.core import Move, State
    from vision.read.reader import BoardLook
    from vision.track.candidate import TrackingResult


@click.command()
@click.argument("layout_name", metavar="LAYOUT")
@click.argument("record", metavar="RECORD", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.argument("photos", metavar="PHOTO...", nargs=-1, required=True, type=PHOTO)
@PROFILE
@language
@JSON
def follow(layout_name: str, record: str, photos: tuple[Path, ...], folder: Path, lang: str, as_json: bool) -> int:
    """Say which turns the PHOTOs show, one after the other, of the game that stands where RECORD ends.

    Exit status 1: for some photo there is a question, or board and record disagree.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from companion.follow.photo_row import PhotoRow
    from vision.board.layout import open_layout
    from vision.read.reader import TaughtBoard

    states, moves = _course_of(record, lang)
    row = PhotoRow(TaughtBoard.open(open_layout(layout_name), folder), states, moves)
    sure = True
    for photo in photos:
        before = row.state
        seen, answer = row.look(read_photo(photo))
        sure = sure and answer.state not in ("question", "disagreement")
        if as_json:
            board = {"found": seen.found, "note": seen.note}
            click.echo(json.dumps({"photo": str(photo), **answer.to_json(), "open": row.open, "board": board}))
        else:
            _say(photo, answer, seen, before, lang)
    return 0 if sure else 1


BAD_LINE = Words("{record}, line {line}: {why}")
NO_RECORD = Words("{record} holds no record.")


def states_of(record: str, lang: str) -> list[State[Any]]:
    """Return the states of a record.

    :raises BadDataError: when a line of it is wrong.
    """
    return _course_of(record, lang)[0]


def _course_of(record: str, lang: str) -> tuple[list[State[Any]], list[Move]]:
    """Return the states of a record, and the moves between them.

    :raises BadDataError: when a line of it is wrong.
    """
    from companion.ports import BadDataError
    from companion.rules.record import read_file, step_of
    from companion.rules.set_position import played

    replay = read_file(record)
    if replay.error is not None or replay.record is None or replay.start is None:
        fault = replay.error
        words = NO_RECORD.filled({"record": record})
        if fault is not None:
            words = BAD_LINE.filled({"record": record, "line": fault.line, "why": fault.words})
        raise BadDataError(words.of(lang))
    states, moves = [replay.start], [step_of(replay.start.game, text) for text in replay.record.moves]
    for move in moves:
        states.append(played(states[-1], move))
    return states, moves


STATES = {
    "unchanged": Words("nothing has changed"),
    "moving": Words("somebody is at the board"),
    "entered": Words("this turn was played"),
    "question": Words("this is a question: it may be"),
    "disagreement": Words("board and record disagree"),
    "takeback": Words("a turn was taken back"),
}
"""What each answer says; the JSON has the words of the program."""
KINDS = {
    **STATES,
    "turn": Words("a turn"),
    "continued": Words("the turn that was entered, and more"),
    "two": Words("two turns"),
    "none": Words("none of these"),
}


def _say(photo: Path, answer: TrackingResult, seen: BoardLook, before: State[Any], lang: str) -> None:
    if not seen.found:
        click.echo(f"{photo}: {noted(seen.note).of(lang)}")
        return
    click.echo(f"{photo}: {_words(answer.state, lang)}")
    _tell(before, answer.moves, "  ", lang)
    if answer.state == "question":
        for candidate in answer.candidates:
            click.echo(f"  {candidate.p:.0%} {_words(candidate.kind, lang)}")
            _tell(before, candidate.told, "    ", lang)
    if answer.places:
        click.echo(f"  {', '.join(answer.places)}")


def _words(kind: str, lang: str) -> str:
    """Return a state in words; one that has none stands as it is."""
    return KINDS[kind].of(lang) if kind in KINDS else kind


def _tell(before: State[Any], moves: Sequence[Move], indent: str, lang: str) -> None:
    """Print what each move does, and beside it how it is written; of moves from elsewhere how they are written."""
    said: list[str] = []
    state = before
    for move in moves:
        if state.refusal(move) is not None:
            said = [", ".join(map(str, moves))]
            break
        said.append(f"{state.check(move).words.of(lang)}  · {move}")
        state = state.after(move)
    for line in said:
        click.echo(f"{indent}{line}")
