"""What the camera follower knows, as one value that is replaced and never changed, and all that may become of it.

No thread, no clock and no picture is in here: whoever drives it says what time it is and what was seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from companion.follow import messages
from companion.follow.pace import AGAIN_S, COVERED_AGAIN_S, HALF_S, HAND_S, QUIET_S
from companion.follow.questions import DISAGREEMENT, OpenQuestion
from vision.track.tracker import Stood

if TYPE_CHECKING:
    from companion.follow.entries import AnsweredRest
    from companion.follow.evidence import Agreed, Misread
    from companion.follow.questions import BoardObservation, RowObservation
    from companion.rules.inference.turns import Evidence
    from vision.read.reader import BoardLook
    from vision.track.candidate import Candidate

MEASURED: Final = 100
"""Of so many settled turns it is kept how long they took."""


class FollowState(StrEnum):
    """How the following stands, as the page knows it."""

    OFF = "off"
    NO_PICTURE = "no-picture"
    NO_GAME = "no-game"
    CALIBRATE = "calibrate"
    TEACH = "teach"
    WATCHING = "watching"
    MOVING = "moving"
    LOST = "lost"
    FAILED = "failed"
    THINKING = "thinking"
    BEHIND = "behind"
    ENTERED = "entered"
    QUESTION = "question"
    DISAGREEMENT = "disagreement"
    WAITING = "waiting"


class Standing(NamedTuple):
    """Where the record stands: which match, and its state number."""

    match: str
    state: int


@dataclass(frozen=True, slots=True)
class SceneLooks:
    """The looks at one scene that does not change, weighed together; ``former``: what may have happened by the last.

    ``begun`` and ``worked``: the clock's and the processor's seconds when the first began.
    """

    evidence: tuple[Evidence, ...] = ()
    former: tuple[Candidate, ...] = ()
    begun: float = 0.0
    worked: float = 0.0


@dataclass(frozen=True, slots=True)
class MatchMemory:
    """What is known of one match, and of no other.

    ``matched``: after how many steps the record was seen to be as the board, ``matched_at`` at which state number.
    ``agreed``: a look of which people and camera agree what it shows. ``lesson``: an entered turn that is taught once
    another has followed it. ``misread``: places that people said were misread. ``stood``: how often what stayed as it
    was looked otherwise. ``rest``: what people answered was played and is not entered yet.
    """

    match: str = ""
    matched: int | None = None
    matched_at: int = 0
    agreed: Agreed | None = None
    lesson: tuple[BoardObservation, Any] | None = None
    misread: Mapping[str, Misread] = field(default_factory=dict)
    stood: Stood = field(default_factory=Stood)
    rest: AnsweredRest | None = None


@dataclass(frozen=True, slots=True)
class Following:
    """The whole of it.

    ``waiting``: people put the board right, so nothing more is said until the scene changes. ``record``: where the
    record stood when last asked, changed by people at ``record_t``; ``looked``: where it stood at the last look, at
    ``looked_t``. ``anew``: the next settled scene is a new one, however alike it looks. ``covered_t``: since when
    something lies over the board, ``half_t``: since when half a turn is seen. ``taken``: seconds and the
    processor's seconds that the last settled turns took.
    """

    state: FollowState = FollowState.OFF
    note: str = messages.OFF
    question: OpenQuestion | None = None
    waiting: bool = False
    record: Standing | None = None
    record_t: float = float("-inf")
    looked: Standing | None = None
    looked_t: float = float("-inf")
    anew: bool = True
    covered_t: float | None = None
    half_t: float | None = None
    seen: BoardLook | None = None
    looks: SceneLooks = SceneLooks()
    memory: MatchMemory = MatchMemory()
    taken: tuple[tuple[float, float], ...] = ()

    @property
    def report(self) -> tuple[FollowState, str, str | None]:
        """Return what everybody is told."""
        return self.state, self.note, None if self.question is None else self.question.id

    # --- when to look

    def due(self, record: Standing, now: float, *, new: bool) -> bool:
        """Return whether a scene that lies still is to be looked at; ``new``: it is another than the one looked at."""
        fresh = new or record != self.looked or bool(self.looks.evidence)
        again = COVERED_AGAIN_S if self.covered_t is not None else AGAIN_S if self.half_t is None else HALF_S
        if not fresh and now - self.looked_t < again:
            return False
        return self._quiet(record, now)

    def is_fresh(self, record: Standing, now: float, *, new: bool) -> bool:
        """Return whether a scene that lies still is another, or the record is, than when it was last looked at."""
        return (new or record != self.looked) and self._quiet(record, now)

    def _quiet(self, record: Standing, now: float) -> bool:
        """Return whether nobody is entering anything by hand."""
        return record == self.looked or now - self.record_t >= QUIET_S

    # --- what becomes of it

    def idle(self, state: FollowState, note: str) -> Following:
        """There is nothing to follow."""
        memory = replace(self.memory, lesson=None)
        return replace(self.say(state, note).woken(), seen=None, memory=memory)

    def woken(self) -> Following:
        """Something was taught, corrected or switched on: look again soon."""
        return replace(self.scene_changed(), anew=True)

    def scene_changed(self) -> Following:
        """Forget the looks at a scene: it has changed, or it is known what it shows."""
        return replace(self, looks=SceneLooks())

    def recorded(self, record: Standing, now: float, *, own: bool) -> Following:
        """The record stands so, after an entry of the camera's ``own`` or of somebody else.

        A question about what was before is not open any more, and of another match everything is forgotten.
        """
        if record == self.record:
            return self
        by_people = self.record is not None and not own
        after = replace(self.closed().scene_changed(), record=record, record_t=now if by_people else self.record_t)
        after = replace(after, half_t=None)
        if record.match != self.memory.match:
            after = replace(after, looked=None, seen=None, memory=MatchMemory(record.match))
        return after

    def moving(self) -> Following:
        """Something moves; a question stays until it is answered, or people have begun to put the board right."""
        return self._broken_off(FollowState.MOVING, messages.MOVING)

    def failed(self) -> Following:
        """A look came to nothing, by a fault of ours; a question stays."""
        return self._broken_off(FollowState.FAILED, messages.FAILED)

    def _broken_off(self, state: FollowState, note: str) -> Following:
        """Nothing was told by the looks at a scene; where a question is open, that stays said."""
        after = replace(self.scene_changed(), half_t=None)
        if self.question is not None and not self.waiting:
            return after
        return replace(after, state=state, note=note)

    def begin_look(self, now: float, worked: float, *, new: bool) -> Following:
        """A look begins; at a ``new`` scene what was seen before counts no more."""
        if self.looks.evidence and not new:
            return self
        return replace(self, looks=SceneLooks(begun=now, worked=worked))

    def looked_at(self, record: Standing, now: float, seen: BoardLook | None) -> Following:
        """A look that began at ``now`` shows this; None: no board."""
        after = replace(self, looked=record, looked_t=now, waiting=False, seen=seen)
        if seen is not None:
            return after
        return replace(after.scene_changed(), state=FollowState.LOST, note=messages.LOST)

    def read_cards(self, record: Standing, now: float, state: FollowState, note: str) -> Following:
        """Cards that are laid were looked at from ``now`` on, and it stands so."""
        return replace(self.say(state, note), looked=record, looked_t=now)

    def under_hand(self, now: float) -> Following:
        """Something lies over the board."""
        return replace(self.scene_changed(), covered_t=now if self.covered_t is None else self.covered_t)

    def is_hand_still(self, now: float) -> bool:
        """Return whether what lies over the board may be a hand; what lies still for long is none."""
        return self.covered_t is not None and now - self.covered_t < HAND_S

    def may_go_on(self, now: float) -> bool:
        """Return whether half a turn that is seen may still go on; what lies so for long is asked about."""
        return self.half_t is None or now - self.half_t < HALF_S

    def half_seen(self, now: float) -> Following:
        """Half a turn is seen, or a whole one that looks the same: the next action tells which."""
        return replace(
            self.say(FollowState.THINKING, messages.HALF), half_t=now if self.half_t is None else self.half_t
        )

    def weighed(self, evidence: Evidence) -> Following:
        """A look with nothing over the board is one more of its scene."""
        looks = replace(self.looks, evidence=(*self.looks.evidence, evidence))
        return replace(self, looks=looks, covered_t=None)

    def thinking(self, former: tuple[Candidate, ...]) -> Following:
        """Another look at the same scene is wanted."""
        looks = replace(self.looks, former=former)
        return replace(self, looks=looks, state=FollowState.THINKING, note=messages.THINKING)

    def say(self, state: FollowState, note: str) -> Following:
        """Say how it stands, with no question open."""
        return replace(self.closed(), state=state, note=note)

    def matches(self, agreed: Agreed, steps: int) -> Following:
        """The board is as the record says after so many steps."""
        after = self.agree(agreed)
        at = self.looked.state if self.looked is not None else 0
        memory = replace(after.memory, matched=steps, matched_at=at)
        return replace(after.scene_changed(), memory=memory).say(FollowState.WATCHING, messages.WATCHING)

    def agree(self, agreed: Agreed | None) -> Following:
        """A look shows what the record says by now; what is of another match is left out."""
        if agreed is None or agreed.match != self.memory.match:
            return self
        return replace(self, memory=replace(self.memory, agreed=agreed, matched=len(agreed.moves)))

    def stood(self, match: str, stood: Stood) -> Following:
        """What stayed as it was through a turn looked so, or not."""
        if match != self.memory.match:
            return self
        return replace(self, memory=replace(self.memory, stood=self.memory.stood + stood))

    def correct(self, match: str, misread: Mapping[str, Misread]) -> Following:
        """People said what lies there: these places were misread."""
        if match != self.memory.match:
            return self
        return replace(self, memory=replace(self.memory, misread=misread))

    def answered(self, match: str, misread: Mapping[str, Misread], rest: AnsweredRest | None) -> Following:
        """People said what was played: as :meth:`correct`, and ``rest`` of it is to be entered yet."""
        after = self.closed().correct(match, misread)
        return after if match != self.memory.match else replace(after, memory=replace(after.memory, rest=rest))

    def entered(self, observation: BoardObservation, state: Any) -> Following:
        """The camera entered a turn: it is taught once another has followed."""
        after = self.say(FollowState.ENTERED, messages.ENTERED)
        if observation.snapshot.match != self.memory.match:
            return after
        return replace(after, memory=replace(self.memory, lesson=(observation, state)))

    def ask(
        self,
        name: str,
        kind: str,
        candidates: tuple[Candidate, ...],
        places: tuple[str, ...],
        observation: BoardObservation | RowObservation,
    ) -> Following:
        """Ask; the same question in another picture is not asked anew, and keeps its name."""
        former = self.question
        if former is not None and (former.kind, former.places) == (kind, places):
            name = former.id if list(map(_texts, former.candidates)) == list(map(_texts, candidates)) else name
        question = OpenQuestion(name, kind, candidates, places, observation)
        if kind == DISAGREEMENT:
            return replace(self, question=question, state=FollowState.DISAGREEMENT, note=messages.DISAGREES)
        return replace(self, question=question, state=FollowState.QUESTION, note=messages.ASKING)

    def wait_for_board(self) -> Following:
        """People put the board right."""
        return replace(self, waiting=True, state=FollowState.WAITING, note=messages.WAITING)

    def closed(self) -> Following:
        """No question is open any more."""
        return replace(self, question=None, waiting=False)

    def took(self, looks: SceneLooks, now: float, worked: float) -> Following:
        """A turn, or a question about one, has been made of these looks."""
        return replace(self, taken=(*self.taken[1 - MEASURED :], (now - looks.begun, worked - looks.worked)))


def _texts(candidate: Candidate) -> tuple[str, ...]:
    return (candidate.kind, str(candidate.back), *map(str, candidate.moves))
