"""What each command of the night takes, by types: they read what was sent, and the API's document is made of them.

What a body means for the match at hand, the command itself looks at; here stands what holds of every match.
"""

from __future__ import annotations

import re
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from companion.rules.core import JSON
from companion.rules.names import MOST_CODE_POINTS

SHORT_LENGTH = 40
NOTE_LENGTH = 200
MOST_MOVES = 100
"""Moves in one command."""
MOST_MINUTES = 60
"""The slowest turn clock."""
MOST_POINTS = 200
"""The largest correction at a time."""

ShortText = Annotated[str, Meta(max_length=SHORT_LENGTH)]
NameText = Annotated[str, Meta(max_length=MOST_CODE_POINTS)]
"""A name, as far as its length goes; :func:`companion.rules.names.proper_name` says what is one."""
NoteText = Annotated[str, Meta(max_length=NOTE_LENGTH)]

_FIELD = re.compile(r"\$\.([^.\[`]+)")
_MISSING = re.compile(r"Object missing required field `([^`]+)`")


def misfit(error: msgspec.ValidationError) -> str | None:
    """Return the field that something read by msgspec is wrong in; None where it is the whole of it.

    msgspec says where in its message only: a path (``… - at `$.people[0]```), or the name of a field that is missing.
    """
    said, _, where = str(error).rpartition(" - at `")
    found = _FIELD.match(where) if said else _MISSING.match(where)
    return found[1] if found is not None else None


class CommandBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a command takes; of most, nothing."""


class SeatedPlayer(CommandBody, frozen=True):
    """Who sits where, by a colour that nobody may lack; without a name somebody who is not remembered."""

    colour: str | None = None
    name: NameText = ""


class OpenMatchBody(CommandBody, frozen=True):
    """A game, who plays it, by which options, with which set-up, and whether the companion draws."""

    game: str
    players: Annotated[list[SeatedPlayer], Meta(min_length=1)]
    options: dict[str, JSON] = field(default_factory=dict)
    setup: dict[str, JSON] = field(default_factory=dict)
    draw: bool = False


class KeepSheetBody(CommandBody, frozen=True):
    """A position in the one form of a board, and who played; or into which match its totals go."""

    position: dict[str, JSON]
    players: Annotated[list[SeatedPlayer], Meta(min_length=1, max_length=8)] | UnsetType = UNSET
    into: str | UnsetType = UNSET


class MovesBody(CommandBody, frozen=True):
    """Moves as text, and which sensor the igloo wears that one of them places (true: the only one)."""

    moves: Annotated[list[str], Meta(min_length=1, max_length=MOST_MOVES)]
    sensor: bool | Annotated[str, Meta(min_length=1, max_length=NOTE_LENGTH)] = False


class DealBody(CommandBody, frozen=True):
    """Which card lies where; left out, the companion draws."""

    cards: Annotated[dict[str, str], Meta(min_length=1, max_length=MOST_MOVES)] | UnsetType = UNSET


class UndoBody(CommandBody, frozen=True):
    """To how many steps the match goes back, and whether the table agrees."""

    to: Annotated[int, Meta(ge=0)]
    agreed: bool = False


class SetPositionBody(CommandBody, frozen=True):
    """What of the position is otherwise than the record has it, and that the table agrees."""

    position: dict[str, JSON]
    agreed: bool = False


class CorrectBody(CommandBody, frozen=True):
    """Whose score is corrected, by how much, and why."""

    colour: str
    points: Annotated[int, Meta(ge=-MOST_POINTS, le=MOST_POINTS)]
    reason: NoteText
    agreed: bool = False


class ClockBody(CommandBody, frozen=True):
    """How many minutes a turn is meant to take; 0: no clock."""

    minutes: Annotated[int, Meta(ge=0, le=MOST_MINUTES)]


class FaultBody(CommandBody, frozen=True):
    """Which clause was broken, by whom, and a note."""

    clause: ShortText
    colour: str | None = None
    note: NoteText = ""


class DismissFaultBody(CommandBody, frozen=True):
    """Which fault the table lets pass, by its number in the journal."""

    fault: Annotated[int, Meta(ge=1, le=2**53)]
    agreed: bool = False
