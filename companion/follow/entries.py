"""What the camera enters through the night, like anybody else, and what is agreed by that."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from companion.follow.evidence import Agreed, contents_of
from companion.follow.questions import BoardObservation, RowObservation
from companion.night.answers import CAMERA, Actor, CommandResult, Role
from companion.rules.i18n import NOTHING

if TYPE_CHECKING:
    from companion.night.commands.night import MatchSnapshot, Night
    from vision.camera.frame import CapturedFrame
    from vision.track.candidate import Candidate


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
