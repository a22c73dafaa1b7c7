"""What the camera enters through the night, like anybody else, and what is agreed by that."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from companion.follow.evidence import (
    Agreed,
    contents_of,
    looks_alike,
    never_taught,
    only_new_ground,
    was_taken_back,
)
from companion.follow.questions import BoardObservation, RowObservation
from companion.night.answers import CAMERA, Actor, CommandResult, Role
from companion.rules.i18n import NOTHING
from vision.track.candidate import TURN, Candidate
from vision.track.parts import is_unseen

if TYPE_CHECKING:
    from companion.night.commands.night import MatchSnapshot, Night
    from companion.rules.core import Move, State
    from vision.camera.frame import CapturedFrame
    from vision.read.reader import BoardLook


@dataclass(frozen=True, slots=True)
class AnsweredRest:
    """What people said was played and the record lacks, since it comes after what no board shows (a die, fish).

    ``record``: the moves of the match when they had said so; ``steps``: those that the board shows, in order; ``seen``:
    the look that they were asked about, which shows ``state``.
    """

    match: str
    record: tuple[Move, ...]
    steps: tuple[Move, ...]
    seen: BoardLook
    state: State[Any]

    def next(self, observation: BoardObservation, since: int) -> Candidate | None:
        """Return what is to be entered now, where the board looks in every place as it did when people were asked.

        None where the record went on otherwise, or people took it back; ``since`` as in
        :func:`companion.follow.evidence.was_taken_back`.
        """
        snapshot, many = observation.snapshot, len(self.record)
        if snapshot.match != self.match or snapshot.moves[:many] != self.record:
            return None
        left = list(self.steps)
        for state, move in zip(snapshot.states[many:], snapshot.moves[many:], strict=False):
            if not is_unseen(state) and (not left or left.pop(0) != move):
                return None
        moves: list[Move] = []
        state = snapshot.states[-1]
        while left and not is_unseen(state):
            if state.refusal(left[0]) is not None:
                return None
            moves.append(left.pop(0))
            state = state.after(moves[-1])
        if not moves or was_taken_back(snapshot, len(snapshot.moves), state, since):
            return None
        return Candidate(TURN, 1.0, tuple(moves), self.state) if looks_alike(self.seen, observation.seen) else None


def answered_rest(observation: BoardObservation, chosen: Candidate) -> AnsweredRest | None:
    """Return what is left to be entered of a candidate that people chose; None where it was entered to its end."""
    if chosen.state is None or chosen.ends_as_told:
        return None
    snapshot, state, steps = observation.snapshot, observation.before(chosen.back), list[Any]()
    for number, move in enumerate(chosen.moves):
        if number >= len(chosen.told) and not is_unseen(state):
            steps.append(move)
        state = state.after(move)
    record = (*snapshot.moves[: observation.tracked.marks[-1 - chosen.back]], *chosen.told)
    return AnsweredRest(snapshot.match, record, tuple(steps), observation.seen, chosen.state) if steps else None


def new_in(observation: BoardObservation, after: State[Any]) -> tuple[str, ...]:
    """Return the places in which a position has what the camera never saw: it is not entered without being asked."""
    before, table = observation.snapshot.states[-1], observation.table
    new = never_taught(before, after, table.learnt(), table.layout)
    return new or only_new_ground(before, after, observation.seen)


def entered(
    night: Night, command: str, body: Mapping[str, Any], captured: CapturedFrame, snapshot: MatchSnapshot
) -> CommandResult:
    """Enter what a picture shows beside a record, as the camera."""
    by = Actor(Role.PLAYER, CAMERA, device=captured.kind)
    return _do(night, command, body, by, snapshot.state)


def enter(night: Night, observation: BoardObservation | RowObservation, chosen: Candidate, by: Actor) -> CommandResult:
    """Enter a candidate on the state that it was seen on; what it takes back, before."""
    state = observation.snapshot.state
    if isinstance(observation, BoardObservation) and chosen.back:
        keep = observation.tracked.marks[-1 - chosen.back]
        body = {"to": keep, "agreed": by.role is Role.HOST and by.device is None}
        undone = _do(night, "undo", body, by, state)
        if not undone.ok or not chosen.told:
            return undone
        state = undone.state
    if not chosen.told:
        return nothing_entered(night)
    return _do(night, "moves", {"moves": [str(move) for move in chosen.told]}, by, state)


def nothing_entered(night: Night) -> CommandResult:
    """Return that all is done without an entry."""
    return CommandResult(True, night.seq, night.state, NOTHING)


def agreed_on(night: Night, observation: BoardObservation, state: Any) -> Agreed | None:
    """Return that a look, which showed ``state``, showed what the record says by now.

    None where another match is open, or the turn was entered in part: then what was agreed before holds on.
    """
    snapshot, layout = night.snapshot(), observation.table.layout
    if snapshot is None or snapshot.match != observation.snapshot.match:
        return None
    if contents_of(snapshot.states[-1], layout) != contents_of(state, layout):
        return None
    return Agreed(snapshot.match, snapshot.moves, observation.seen)


def _do(night: Night, command: str, body: Mapping[str, Any], by: Actor, state: int) -> CommandResult:
    return night.do(command, body, by=by, state=state, action_id=f"camera-{uuid.uuid4().hex}")
