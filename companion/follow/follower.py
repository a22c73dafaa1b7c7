"""The camera follows a game: a thread that looks when the table lies still, enters what is sure, and asks the rest.

It holds no position of its own: before every look it reads the snapshot of the match from the night, so whatever people
enter, take back or close is what it goes on from. What it is sure of by two pictures it enters through the night like
anybody else; else it asks one question, or says where board and record disagree, and waits.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from companion.follow import messages
from companion.follow.evidence import (
    Agreed,
    Misread,
    contents_of,
    covered,
    evidence_of,
    in_the_way,
    is_hand,
    misread_in,
    since_agreed,
    tracked_match,
    unheard_of,
)
from companion.follow.pace import AGAIN_S, COVERED_AGAIN_S, EVERY_S, HAND_S, IDLE_S, LOOKS, QUIET_S
from companion.follow.questions import DISAGREEMENT, NEW, TURN, BoardObservation, OpenQuestion, offered
from companion.night.answers import CAMERA, Actor, CommandResult, Role
from companion.ports import BadDataError, DeviceKind
from vision.board.labels import LabelError
from vision.camera.stillness import StillnessDetector
from vision.track import tracker as track_tracker
from vision.track.evidence import belief_of_strange, several
from vision.track.tracker import Candidate, misfits

if TYPE_CHECKING:
    from companion.follow.table_model import SeenTable
    from companion.night.commands.night import MatchSnapshot, Night
    from companion.rules.inference.turns import Evidence
    from companion.settings import Settings
    from vision.board.labels import Content
    from vision.camera.frame import CapturedFrame
    from vision.read.reader import BoardLook

log = logging.getLogger(__name__)


class CameraFollower:
    """Follows the open match while the setting ``camera_follow`` says so. Its methods may be called from any thread."""

    def __init__(
        self,
        night: Night,
        settings: Settings,
        *,
        newest: Callable[[], CapturedFrame | None],
        table_of: Callable[[str], SeenTable],
        on_change: Callable[[], None],
    ) -> None:
        """Prepare to follow ``night`` by the pictures of ``newest``; :meth:`start` begins."""
        self._night, self._settings = night, settings
        self._newest, self._table_of, self._on_change = newest, table_of, on_change
        self._lock = threading.RLock()
        self._closing = threading.Event()
        self._woken = threading.Event()
        self._thread: threading.Thread | None = None
        self._scene = StillnessDetector(self._seconds())
        self._state, self._note = "off", messages.OFF
        self._question: OpenQuestion | None = None
        self._waiting = False
        self._number = -1
        self._looked_t = 0.0
        self._covered_t: float | None = None
        self._looked_state: tuple[str, int] | None = None
        self._matched: tuple[str, int] | None = None
        self._record: tuple[str, int] | None = None
        self._record_t = 0.0
        self._looks: list[tuple[int, Evidence]] = []
        self._former: tuple[Candidate, ...] = ()
        self._agreed: Agreed | None = None
        self._begun: tuple[float, float] = (0.0, 0.0)
        self._lesson: tuple[BoardObservation, Any] | None = None
        self._reported: tuple[str, str, str | None] | None = None
        self._misread: dict[str, Misread] = {}
        self.seen: BoardLook | None = None
        self.times: list[float] = []
        """Seconds that each settled turn took, from the first look to the entry or the question; the last hundred."""
        self.work: list[float] = []
        """Seconds of the processor that each of them cost in the same thread."""

    # --- life

    def start(self) -> None:
        """Begin."""
        self._thread = threading.Thread(target=self._run, name="camera follower", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop."""
        self._closing.set()
        self._woken.set()
        if self._thread is not None:
            self._thread.join(timeout=10)

    def wake(self) -> None:
        """Look again soon: something was taught, corrected or switched on."""
        with self._lock:
            self._scene.forget()
            self._begin_anew()
        self._woken.set()

    # --- what others ask

    @property
    def following(self) -> bool:
        """Return whether it is to follow."""
        return self._settings["camera_follow"] is True

    def status(self) -> dict[str, Any]:
        """Return how it is doing, for everybody: no picture, nothing hidden."""
        with self._lock:
            question = self._question
            return {
                "following": self.following,
                "state": self._state,
                "note": self._note,
                "asking": None if question is None else question.id,
                "places": [] if question is None else list(question.places),
            }

    def question(self) -> OpenQuestion | None:
        """Return the open question."""
        return self._question

    def answer(self, question_id: str, choice: int | None, by: Actor) -> CommandResult:
        """Answer the open question with one of its candidates, or with None: none of these.

        :raises BadDataError: the question is not open any more, or has no such candidate.
        """
        with self._lock:
            question = self._still_open(question_id)
            if choice is None:
                self._disagree(question)
                return self._done()
            if not 0 <= choice < len(question.candidates):
                raise BadDataError(messages.NOTHING_ASKED)
            chosen = question.candidates[choice]
            answer = self._enter(question.observation, chosen, by)
            if answer.ok:
                self._close_question()
                if chosen.state is not None:
                    self._agree(question.observation)
                    self._misread = misread_in(
                        question.observation.seen, contents_of(chosen.state, question.observation.table.layout)
                    )
                self._teach(question.observation, chosen.state)
        self.wake()
        return answer

    def wait_for_board(self, question_id: str) -> None:
        """Take it that people put the board right: nothing more is said until the scene has changed.

        :raises BadDataError: the question is not open any more.
        """
        with self._lock:
            self._still_open(question_id)
            self._waiting = True
            self._tell("waiting", messages.WAITING)

    def record_is_right(self, question_id: str) -> None:
        """Take it that the board is as the record says and the camera read it wrongly: teach it so.

        :raises BadDataError: the question is not open any more, or the board is not seen.
        """
        with self._lock:
            observation = self._still_open(question_id).observation
            recorded = contents_of(observation.snapshot.states[-1], observation.table.layout)
            self._misread = misread_in(observation.seen, recorded)
            self._agreed = Agreed(observation.snapshot.match, observation.snapshot.moves, observation.seen)
            observation.table.teach(observation.image, recorded)
            self._close_question()
        self.wake()

    def _still_open(self, question_id: str) -> OpenQuestion:
        """Return the open question, which must be this one.

        :raises BadDataError: it is not.
        """
        if self._question is None or self._question.id != question_id:
            raise BadDataError(messages.NOTHING_ASKED)
        return self._question

    # --- the thread

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                wait = self._tick()
            except Exception:
                log.exception("The camera could not follow.")
                wait = IDLE_S
            self._woken.wait(wait)
            self._woken.clear()

    def _seconds(self) -> float:
        return self._settings.number("camera_settle_tenths") / 10

    def _tick(self) -> float:
        """Consider the newest picture; return how long to wait for the next."""
        if not self.following:
            return self._idle("off", messages.OFF)
        captured = self._newest()
        if captured is None:
            return self._idle("no-picture", messages.NO_PICTURE)
        snapshot = self._night.snapshot()
        problem = in_the_way(snapshot)
        if snapshot is None or problem:
            return self._idle("no-game", problem or messages.NO_GAME)
        table = self._table_of(snapshot.game)
        if not table.calibrated:
            return self._idle("calibrate", messages.NOT_CALIBRATED)
        if not table.taught:
            return self._idle("teach", messages.LEARNING if table.learning else messages.NOT_TAUGHT)
        self._mind(snapshot)
        # A recorded picture lies as still as a table: no other comes to show it.
        recorded = captured.kind is DeviceKind.RECORDED
        if captured.number == self._number and not recorded:
            return EVERY_S
        self._number = captured.number
        self._scene.seconds = self._seconds()
        if not self._scene.feed(time.monotonic() if recorded else captured.t, captured.small()):
            if self._scene.new:
                self._moving()
            return EVERY_S
        standing = (snapshot.match, snapshot.state)
        fresh = self._scene.new or standing != self._looked_state or bool(self._looks)
        again = AGAIN_S if self._covered_t is None else COVERED_AGAIN_S
        if not fresh and time.monotonic() - self._looked_t < again:
            return EVERY_S
        if standing != self._looked_state and time.monotonic() - self._record_t < QUIET_S:
            return EVERY_S
        self._look(captured, snapshot, table)
        return EVERY_S

    def _idle(self, state: str, note: str) -> float:
        with self._lock:
            self._question, self._lesson, self.seen = None, None, None
            self._begin_anew()
            self._scene.forget()
            self._tell(state, note)
        return IDLE_S

    def _mind(self, snapshot: MatchSnapshot) -> None:
        """Note when people changed the record; a question about what was before is not open any more."""
        standing = (snapshot.match, snapshot.state)
        with self._lock:
            if standing == self._record:
                return
            own = bool(snapshot.by) and snapshot.by[-1] == CAMERA
            if self._record is not None and not own:
                self._record_t = time.monotonic()
            self._record = standing
            self._begin_anew()
            if self._question is not None:
                self._close_question()

    def _moving(self) -> None:
        with self._lock:
            self._begin_anew()
            if self._question is not None and not self._waiting:
                return
            self._tell("moving", messages.MOVING)

    def _begin_anew(self) -> None:
        """Forget the looks at a scene: it has changed, or it is known what it shows."""
        self._looks, self._former = [], ()

    def _look(self, captured: CapturedFrame, snapshot: MatchSnapshot, table: SeenTable) -> None:
        """Read the board and make of it what can be made."""
        begun = time.monotonic()
        if not self._looks:
            self._begun = begun, time.thread_time()
        image = captured.image()
        seen = table.look(image)
        with self._lock:
            if self._scene.new:
                self._begin_anew()
            self._scene.looked()
            self._looked_t, self._looked_state = begun, (snapshot.match, snapshot.state)
            self._waiting = False
            self.seen = seen if seen.found else None
        if not seen.found:
            self._begin_anew()
            self._tell("lost", messages.LOST)
            return
        live = captured.kind is not DeviceKind.RECORDED
        observation = BoardObservation(
            captured.number, captured.kind, live, snapshot, tracked_match(snapshot), table, image, seen
        )
        since = since_agreed(self._agreed, snapshot, seen)
        if is_hand(seen, since.known):
            self._covered(begun, observation)
            return
        self._covered_t = None
        evidence = evidence_of(seen, table.layout, table.learnt(), self._misread, since.known)
        if self._weigh(observation, evidence, since.known, since.plain):
            self.times = [*self.times[-99:], time.monotonic() - self._begun[0]]
            self.work = [*self.work[-99:], time.thread_time() - self._begun[1]]

    def _covered(self, now: float, observation: BoardObservation) -> None:
        """Wait for a hand to go; what lies still for long is no hand, and people are asked to look."""
        self._covered_t = self._covered_t or now
        self._begin_anew()
        if now - self._covered_t < HAND_S:
            self._moving()
            return
        self._ask(DISAGREEMENT, (), covered(observation.seen), observation)

    def _weigh(
        self, observation: BoardObservation, newest: Evidence, known: Mapping[str, Content], plain: Collection[str]
    ) -> bool:
        """Say, enter or ask what the looks at a scene show; return whether it was a turn, or a question about one.

        ``known``: what lies in the places that look as they did; ``plain``: those that look plainly otherwise.
        """
        snapshot = observation.snapshot
        self._looks.append((observation.number, newest))
        evidence = several([look for _, look in self._looks])
        if self._is_behind(snapshot, evidence):
            self._say("behind", messages.BEHIND)
            return False
        strange, explained = self._strange(observation, known)
        tracker = observation.tracked.tracker
        former = self._former
        candidates = tracker.again(former, evidence) if former else tracker.candidates(evidence, strange, plain)
        answer = tracker.judge(candidates, evidence)
        if answer.state == track_tracker.UNCHANGED:
            self._matched = (snapshot.match, len(snapshot.by))
            self._agreed = Agreed(snapshot.match, snapshot.moves, observation.seen)
            self._begin_anew()
            self._say("watching", messages.WATCHING)
            observation.table.confirm(observation.seen, contents_of(snapshot.states[-1], observation.table.layout))
            if explained:
                # People entered what was new to the camera: so that is what it looks like.
                self._teach(observation, snapshot.states[-1])
            return False
        seen_twice = len(self._looks) > 1
        if observation.live and not (
            seen_twice if answer.state == track_tracker.ENTERED else len(self._looks) >= LOOKS
        ):
            # Two looks must agree before a turn is entered, and another may settle what one leaves open.
            self._former = candidates
            self._tell("thinking", messages.THINKING)
            return False
        self._begin_anew()
        if answer.state == track_tracker.ENTERED:
            self._sure_of(answer.candidates, observation)
        else:
            kind = DISAGREEMENT if answer.state == track_tracker.DISAGREEMENT else TURN
            self._ask(kind, answer.candidates, answer.places, observation)
        return True

    def _strange(
        self, observation: BoardObservation, known: Mapping[str, Content]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the places that show what was never taught: those that the record leaves so, and those it explains."""
        taught = observation.table.learnt()
        if belief_of_strange(observation.table.layout, taught) is None:
            return (), ()
        recorded = contents_of(observation.snapshot.states[-1], observation.table.layout)
        places = [name for name in covered(observation.seen) if name not in self._misread and name not in known]
        explained = tuple(name for name in places if any(thing not in taught for thing, _ in recorded[name].things))
        return tuple(name for name in places if name not in explained), explained

    def _is_behind(self, snapshot: MatchSnapshot, evidence: Evidence) -> bool:
        """Return whether the board stands as it last agreed with the record, and people have entered more since."""
        if self._matched is None or self._matched[0] != snapshot.match:
            return False
        steps = self._matched[1]
        if steps >= len(snapshot.by) or CAMERA in snapshot.by[steps:]:
            return False
        return bool(misfits(evidence, snapshot.states[-1])) and not misfits(evidence, snapshot.states[steps])

    def _sure_of(self, candidates: tuple[Candidate, ...], observation: BoardObservation) -> None:
        """Enter a turn that two looks agree on; a thing that was never taught is asked about first."""
        best, table = candidates[0], observation.table
        if best.state is None:
            return
        after = contents_of(best.state, table.layout)
        before = contents_of(observation.snapshot.states[-1], table.layout)
        known = table.learnt()
        changed = [name for name, now in after.items() if now != before[name]]
        strange = [name for name in changed if unheard_of([after[name]], known, table.layout)]
        if strange:
            self._ask(NEW, candidates, tuple(strange), observation)
            return
        by = Actor(Role.PLAYER, CAMERA, device=observation.kind)
        if not self._enter(observation, best, by).ok:
            # Somebody was quicker, or what is to be taken back is not the camera's own: people decide.
            self._ask(TURN, candidates, (), observation)
            return
        self._say("entered", messages.ENTERED)
        self._agree(observation)
        table.confirm(observation.seen, after)
        lesson, self._lesson = self._lesson, (observation, best.state)
        if lesson is not None:
            # The turn before was right, or this one could not have followed: now it may be taught.
            self._teach(*lesson)

    def _teach(self, observation: BoardObservation, state: Any) -> None:
        """Teach a position that is certain by now, where it shows anything that is not known yet."""
        try:
            contents = contents_of(state, observation.table.layout)
            if observation.table.worth_teaching(observation.seen, contents):
                observation.table.teach(observation.image, contents)
        except (BadDataError, LabelError) as error:
            log.warning("A position could not be taught: %s", error)

    # --- asking and entering

    def _ask(
        self, kind: str, candidates: tuple[Candidate, ...], places: tuple[str, ...], observation: BoardObservation
    ) -> None:
        shown = offered(candidates)
        with self._lock:
            former, name = self._question, uuid.uuid4().hex[:12]
            if former is not None and (former.kind, former.places) == (kind, places):
                # The same question in another picture is not asked anew.
                name = former.id if list(map(_texts, former.candidates)) == list(map(_texts, shown)) else name
            self._question = OpenQuestion(name, kind, shown, places, observation)
            if kind == DISAGREEMENT:
                self._tell("disagreement", messages.DISAGREES)
            else:
                self._tell("question", messages.ASKING)

    def _disagree(self, question: OpenQuestion) -> None:
        """Make a disagreement of a question that none of its candidates answers."""
        seen = question.observation.seen
        recorded = contents_of(question.observation.snapshot.states[-1], seen.layout)
        places = question.places or tuple(
            name for name, place in seen.places.items() if place.content != recorded.get(name)
        )
        self._ask(DISAGREEMENT, question.candidates, places, question.observation)

    def _agree(self, observation: BoardObservation) -> None:
        """Note that what a look showed is what the record says by now."""
        snapshot = self._night.snapshot()
        if snapshot is not None and snapshot.match == observation.snapshot.match:
            self._agreed = Agreed(snapshot.match, snapshot.moves, observation.seen)

    def _close_question(self) -> None:
        self._question, self._waiting = None, False

    def _enter(self, observation: BoardObservation, chosen: Candidate, by: Actor) -> CommandResult:
        """Enter a candidate through the night, on the state it was seen on."""
        state = observation.snapshot.state
        if chosen.back:
            keep = observation.tracked.marks[-1 - chosen.back]
            body = {"to": keep, "agreed": by.role is Role.HOST and by.device is None}
            undone = self._do("undo", body, by, state)
            if not undone.ok or not chosen.moves:
                return undone
            state = undone.state
        if not chosen.moves:
            return self._done()
        return self._do("moves", {"moves": [str(move) for move in chosen.moves]}, by, state)

    def _do(self, command: str, body: dict[str, Any], by: Actor, state: int) -> CommandResult:
        return self._night.do(command, body, by=by, state=state, action_id=f"camera-{uuid.uuid4().hex}")

    def _done(self) -> CommandResult:
        return CommandResult(True, self._night.seq, self._night.state, "", "")

    def _say(self, state: str, note: str) -> None:
        """Say how it stands, with no question open."""
        with self._lock:
            self._close_question()
            self._tell(state, note)

    def _tell(self, state: str, note: str) -> None:
        report = (state, note, None if self._question is None else self._question.id)
        if report != self._reported:
            self._reported = report
            self._state, self._note = state, note
            self._on_change()


def _texts(candidate: Candidate) -> tuple[str, ...]:
    return (candidate.kind, str(candidate.back), *map(str, candidate.moves))
