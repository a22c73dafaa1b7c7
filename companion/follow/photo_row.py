"""A row of photos that nobody answers, followed as the camera at the table follows: by the same evidence and tracker.

What the camera would ask stays open, and is followed in every way that it may have been until a later photo settles it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from companion.follow.evidence import Agreed, contents_of, look_at_match, never_taught, tracked_match
from companion.follow.table_model import confirm, learnt
from companion.night.commands.night import MatchSnapshot
from vision.track.candidate import ENTERED, MOVING, QUESTION, TAKEBACK, UNCHANGED, TrackingResult
from vision.track.tracker import Follower

if TYPE_CHECKING:
    from companion.ports import ByteArray
    from companion.rules.core import Move, State
    from vision.read.reader import BoardLook, TaughtBoard


class PhotoRow:
    """Photos of one table, one after the other, and the record that they go on from. For one thread alone."""

    def __init__(self, table: TaughtBoard, states: Sequence[State[Any]], moves: Sequence[Move]) -> None:
        """Go on from the last of ``states``, between which lie the ``moves``."""
        self._table, self._taught = table, learnt(table.profile)
        self._agreed: Agreed | None = None
        self._go_on(states, moves)

    @property
    def state(self) -> State[Any]:
        """Return the position that holds now; while a question is open, the likeliest."""
        return self._follower.branches[0][1].state

    @property
    def open(self) -> bool:
        """Return whether a question is still to be answered."""
        return self._follower.open

    def look(self, image: ByteArray) -> tuple[BoardLook, TrackingResult]:
        """Read the next photo (BGR); return what is seen, and what follows: without a board that one must wait."""
        seen = self._table.look(image)
        told = look_at_match(seen, self._snapshot, self._taught, self._agreed, {}) if seen.found else None
        if told is None:
            return seen, TrackingResult(MOVING)
        was_open, before = self.open, self.state
        answer = self._follower.observe(told.evidence, told.strange, told.unlike)
        if answer.state == ENTERED and not was_open:
            new = never_taught(before, self.state, self._taught, seen.layout)
            if new:
                answer = replace(answer, state=QUESTION, places=new)
        if answer.state in (UNCHANGED, ENTERED, TAKEBACK) and not self.open:
            self._agree(seen)
        return seen, answer

    def _go_on(self, states: Sequence[State[Any]], moves: Sequence[Move]) -> MatchSnapshot:
        """Take a record for what was played."""
        self._snapshot = _snapshot(states, moves)
        tracked = tracked_match(self._snapshot)
        self._begun, self._follower = tracked.marks[0], Follower(tracked.tracker)
        return self._snapshot

    def _agree(self, seen: BoardLook) -> None:
        """Take it that a look shows what the record says by now."""
        snapshot = self._snapshot
        if self.state is not snapshot.states[-1]:
            tracker = self._follower.branches[0][1]
            states, moves = list(snapshot.states[: self._begun + 1]), list(snapshot.moves[: self._begun])
            for move in chain.from_iterable(tracker.turns_entered):
                moves.append(move)
                states.append(states[-1].after(move))
            snapshot = self._go_on(states, moves)
        self._agreed = Agreed(snapshot.match, snapshot.moves, seen)
        confirm(self._table, seen, contents_of(snapshot.states[-1], seen.layout))


def _snapshot(states: Sequence[State[Any]], moves: Sequence[Move]) -> MatchSnapshot:
    """Return a record as an open match that people entered."""
    return MatchSnapshot(
        match="",
        game=states[-1].game.id,
        state=len(moves),
        draw=False,
        goes_on=True,
        colours=(),
        states=tuple(states),
        moves=tuple(moves),
        by=("",) * len(moves),
        taken_back=(),
    )
