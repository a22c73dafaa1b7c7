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
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from companion.follow import messages
from companion.follow.checks import CheckWatcher, check_of
from companion.follow.deals import DealWatcher, deal_of
from companion.follow.entries import agreed_on, answered_rest, enter, new_in, nothing_entered
from companion.follow.evidence import (
    Agreed,
    KeptBeliefs,
    LookAtMatch,
    contents_of,
    covered,
    in_the_way,
    is_behind,
    look_at_match,
    misread_in,
    stood_through,
    tracked_match,
    was_taken_back,
)
from companion.follow.following import Following, FollowState, SceneLooks, Standing
from companion.follow.open_rows import RowWatcher, row_of
from companion.follow.pace import EVERY_S, IDLE_S, LOOKS
from companion.follow.placings import PlacingWatcher, placing_of
from companion.follow.questions import (
    DISAGREEMENT,
    NEW,
    TURN,
    UNSEEN,
    BoardObservation,
    OpenQuestion,
    RowObservation,
    asked_of,
    offered,
)
from companion.night.answers import CAMERA, Actor, CommandResult, Role
from companion.ports import BadDataError, DeviceKind
from vision.board.labels import LabelError
from vision.camera.stillness import StillnessDetector
from vision.track import candidate as tracking
from vision.track.evidence import several

if TYPE_CHECKING:
    from companion.follow.cards import CardTable
    from companion.follow.table_model import SeenTable
    from companion.night.commands.night import MatchSnapshot, Night
    from companion.night.games.capabilities import PhotoCheck, PhotoDeal, PhotoOpenRow, PhotoPlacing
    from companion.settings import Settings
    from vision.camera.frame import CapturedFrame
    from vision.track.candidate import Candidate

log = logging.getLogger(__name__)


class CameraFollower:
    """Follows the open match while the setting ``camera_follow`` says so. Its methods may be called from any thread.

    All that threads share is one :class:`Following`, replaced under one lock; :meth:`tick` is for one thread alone.
    """

    def __init__(
        self,
        night: Night,
        settings: Settings,
        *,
        newest: Callable[[], CapturedFrame | None],
        table_of: Callable[[str], SeenTable],
        on_change: Callable[[], None],
        cards: CardTable,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare to follow ``night`` by the pictures of ``newest``; :meth:`start` begins. ``clock`` gives seconds."""
        self._night, self._settings = night, settings
        self._newest, self._table_of, self._on_change, self._clock = newest, table_of, on_change, clock
        self._placings = PlacingWatcher(night, cards)
        self._checks = CheckWatcher(night, self._placings)
        self._deals = DealWatcher(night, cards, on_laid=self._placings.laid)
        self._rows = RowWatcher(night, cards)
        self._lock = threading.RLock()
        self._now = Following()
        self._beliefs = KeptBeliefs()
        self._closing = threading.Event()
        self._woken = threading.Event()
        self._thread: threading.Thread | None = None
        self._scene = StillnessDetector(self._seconds())
        self._number = -1

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
        self._become(Following.woken)
        self._woken.set()

    # --- what others ask

    @property
    def following(self) -> bool:
        """Return whether it is to follow."""
        return self._settings["camera_follow"] is True

    @property
    def now(self) -> Following:
        """Return how it stands."""
        return self._now

    def status(self) -> dict[str, Any]:
        """Return how it is doing, for everybody: no picture, nothing hidden."""
        now = self._now
        state, note, asking = now.report
        places = [] if now.question is None else list(now.question.places)
        return {"following": self.following, "state": state.value, "note": note, "asking": asking, "places": places}

    def answer(self, question_id: str, choice: int | None, by: Actor) -> CommandResult:
        """Answer the open question with one of its candidates, or with None: none of these.

        :raises BadDataError: the question is not open any more, or has no such candidate.
        """
        with self._lock:
            question = self.still_open(question_id)
            if choice is None:
                self._disagree(question)
                return nothing_entered(self._night)
            if not 0 <= choice < len(question.candidates):
                raise BadDataError(messages.NOTHING_ASKED)
            chosen, observation = question.candidates[choice], question.observation
            if isinstance(observation, RowObservation):
                return enter(self._night, observation, chosen, by)
            answer = enter(self._night, observation, chosen, by)
            if answer.ok and chosen.state is not None:
                self._learn_what_stood(observation, chosen)
                contents = contents_of(chosen.state, observation.table.layout)
                match, misread = observation.snapshot.match, misread_in(observation.seen, contents)
                agreed, rest = agreed_on(self._night, observation, chosen.state), answered_rest(observation, chosen)
                self._become(lambda now: now.answered(match, misread, rest).agree(agreed))
                self._teach(observation, chosen.state)
        self.wake()
        return answer

    def wait_for_board(self, question_id: str) -> None:
        """Take it that people put the board right: nothing more is said until the scene has changed.

        :raises BadDataError: the question is not open any more.
        """
        with self._lock:
            self.still_open(question_id)
            self._become(Following.wait_for_board)

    def record_is_right(self, question_id: str) -> None:
        """Take it that the board is as the record says and the camera read it wrongly: teach it so.

        :raises BadDataError: the question is not open any more, or the board is not seen.
        """
        with self._lock:
            observation = self.still_open(question_id).observation
            if isinstance(observation, RowObservation):
                raise BadDataError(messages.NOTHING_ASKED)
            snapshot, table = observation.snapshot, observation.table
            recorded = contents_of(snapshot.states[-1], table.layout)
            agreed = Agreed(snapshot.match, snapshot.moves, observation.seen)
            misread = misread_in(observation.seen, recorded)
            self._become(lambda now: now.agree(agreed).correct(snapshot.match, misread))
            table.teach(observation.image, recorded)
            self._become(Following.closed)
        self.wake()

    def still_open(self, question_id: str) -> OpenQuestion:
        """Return the open question, which must be this one.

        :raises BadDataError: it is not.
        """
        question = self._now.question
        if question is None or question.id != question_id:
            raise BadDataError(messages.NOTHING_ASKED)
        return question

    def _become(self, change: Callable[[Following], Following]) -> Following:
        """Let what is known become another, and tell everybody whom it concerns."""
        with self._lock:
            before, self._now = self._now, change(self._now)
            if self._now.report != before.report:
                self._on_change()
            return self._now

    # --- the thread

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                wait = self.tick()
            except Exception:
                log.exception("The camera could not follow.")
                self._become(Following.failed)
                wait = IDLE_S
            self._woken.wait(wait)
            self._woken.clear()

    def _seconds(self) -> float:
        return self._settings.number("camera_settle_tenths") / 10

    def tick(self) -> float:
        """Consider the newest picture; return how long to wait for the next."""
        begun = self._clock()
        if not self.following:
            return self._idle(FollowState.OFF, messages.OFF)
        captured = self._newest()
        if captured is None:
            return self._idle(FollowState.NO_PICTURE, messages.NO_PICTURE)
        snapshot = self._night.snapshot()
        placing = None if snapshot is None else placing_of(snapshot)
        check = None if snapshot is None else check_of(snapshot)
        # A check that is over, or was taken back, is forgotten whatever comes next.
        checking = self._checks.is_check(check, snapshot)
        if snapshot is not None and placing is not None and self._placings.is_round(placing, snapshot):
            return self._follow_placing(placing, captured, snapshot)
        if checking and snapshot is not None and check is not None:
            return self._follow_check(check, captured, snapshot)
        if snapshot is not None and (deal := deal_of(snapshot)) is not None:
            why_not = self._deals.in_the_way(deal, snapshot)
            if why_not is not None:
                return self._idle(*why_not)
            if self._settled(captured, snapshot, again=self._deals.wants_another):
                self._look_at_cards(deal, captured, snapshot)
            return self._rest_of_pace(begun)
        if snapshot is not None and (row := row_of(snapshot)) is not None:
            why_not = self._rows.in_the_way(row, snapshot)
            if why_not is not None:
                return self._idle(*why_not)
            if self._settled(captured, snapshot, again=self._rows.wants_another(self._clock())):
                self._look_at_row(row, captured, snapshot)
            return self._rest_of_pace(begun)
        problem = in_the_way(snapshot)
        if problem == messages.UNSEEN:
            # What was seen is entered as far as the board tells it; nothing that is known of the match is forgotten.
            self._become(lambda now: now.say(FollowState.WAITING, problem))
            return self._rest_of_pace(begun)
        if snapshot is None or problem:
            return self._idle(FollowState.NO_GAME, problem or messages.NO_GAME)
        table = self._table_of(snapshot.game)
        if not table.calibrated:
            return self._idle(FollowState.CALIBRATE, messages.NOT_CALIBRATED)
        if not table.taught:
            return self._idle(FollowState.TEACH, messages.LEARNING if table.learning else messages.NOT_TAUGHT)
        if self._settled(captured, snapshot):
            self._look(captured, snapshot, table)
        return self._rest_of_pace(begun)

    def _rest_of_pace(self, begun: float) -> float:
        """Return how long to wait for the next picture: the pace is from picture to picture, looks counted in."""
        return max(0.0, EVERY_S - (self._clock() - begun))

    def _settled(self, captured: CapturedFrame, snapshot: MatchSnapshot, *, again: bool | None = None) -> bool:
        """Take a picture in; return whether its scene lies still and is to be looked at.

        ``again``: of a scene that was looked at, whether another look is wanted; None: as the following says.
        """
        record = Standing(snapshot.match, snapshot.state)
        taken_back = bool(snapshot.taken_back) and snapshot.taken_back[-1].seq == snapshot.state
        own = bool(snapshot.by) and snapshot.by[-1] == CAMERA and not taken_back
        if self._become(lambda now: now.recorded(record, self._clock(), own=own)).anew:
            self._scene.forget()
            self._become(lambda now: replace(now, anew=False))
        # A recorded picture lies as still as a table: no other comes to show it.
        recorded = captured.kind is DeviceKind.RECORDED
        if captured.number == self._number and not recorded:
            return False
        self._number = captured.number
        self._scene.seconds = self._seconds()
        if not self._scene.feed(self._clock() if recorded else captured.t, captured.small()):
            if self._scene.new:
                self._deals.forget()
                self._rows.forget()
                self._become(Following.moving)
            return False
        if again is not None:
            return again or self._now.is_fresh(record, self._clock(), new=self._scene.new)
        return self._now.due(record, self._clock(), new=self._scene.new)

    def _look_at_cards(self, deal: PhotoDeal, captured: CapturedFrame, snapshot: MatchSnapshot) -> None:
        """Read the cards that are laid."""
        begun = self._clock()
        state, note = self._deals.look(deal, captured, snapshot)
        self._scene.looked()
        self._become(lambda now: now.read_cards(Standing(snapshot.match, snapshot.state), begun, state, note))

    def _look_at_row(self, row: PhotoOpenRow, captured: CapturedFrame, snapshot: MatchSnapshot) -> None:
        """Read a row of open cards and what was laid beside it, and make of it what can be made."""
        begun, record = self._clock(), Standing(snapshot.match, snapshot.state)
        state, note, candidates, kind = self._rows.look(row, captured, snapshot, begun)
        self._scene.looked()
        if not candidates:
            self._become(lambda now: now.read_cards(record, begun, state, note))
            return
        self._ask(kind, candidates, (), RowObservation(captured.number, captured.kind, snapshot))
        self._become(lambda now: replace(now, looked=record, looked_t=begun))

    def _follow_placing(self, placing: PhotoPlacing, captured: CapturedFrame, snapshot: MatchSnapshot) -> float:
        """See where the bare cards lie, or what is put on them; return how long to wait for the next picture."""
        why_not = self._placings.why_not(placing, snapshot)
        if why_not is not None:
            return self._idle(*why_not)
        begun = self._clock()
        if self._placings.wants_circle(placing, snapshot):
            if not self._settled(captured, snapshot, again=False):
                return EVERY_S
            state, note = self._placings.look_at_circle(placing, captured, snapshot)
            self._scene.looked()
        elif captured.number == self._number and captured.kind is not DeviceKind.RECORDED:
            return EVERY_S
        else:
            # Somebody's hand is always in the picture: that is no reason to wait.
            self._number = captured.number
            state, note = self._placings.look(placing, captured, snapshot, begun, self._seconds())
        self._become(lambda now: now.read_cards(Standing(snapshot.match, snapshot.state), begun, state, note))
        return max(EVERY_S, self._clock() - begun)

    def _follow_check(self, check: PhotoCheck, captured: CapturedFrame, snapshot: MatchSnapshot) -> float:
        """See what lies under what stood on cards; return how long to wait for the next picture."""
        why_not = self._checks.why_not(check, snapshot)
        if why_not is not None:
            return self._idle(*why_not)
        if not self._checks.may_look(captured):
            return EVERY_S
        begun = self._clock()
        state, note = self._checks.look(check, captured, snapshot, begun, self._seconds())
        self._become(lambda now: now.read_cards(Standing(snapshot.match, snapshot.state), begun, state, note))
        return max(EVERY_S, self._clock() - begun)

    def _idle(self, state: FollowState, note: str) -> float:
        self._become(lambda now: now.idle(state, note))
        return IDLE_S

    def _look(self, captured: CapturedFrame, snapshot: MatchSnapshot, table: SeenTable) -> None:
        """Read the board and make of it what can be made."""
        begun, worked, new = self._clock(), time.thread_time(), self._scene.new
        self._become(lambda now: now.begin_look(begun, worked, new=new))
        image = captured.image()
        seen = table.look(image)
        self._scene.looked()
        record = Standing(snapshot.match, snapshot.state)
        now = self._become(lambda now: now.looked_at(record, begun, seen if seen.found else None))
        if not seen.found:
            return
        live, tracked = captured.kind is not DeviceKind.RECORDED, tracked_match(snapshot, now.memory.stood)
        observation = BoardObservation(captured.number, captured.kind, live, snapshot, tracked, table, image, seen)
        memory = now.memory
        told = look_at_match(seen, snapshot, table.learnt(), memory.agreed, memory.misread, self._beliefs)
        if told is None:
            # A hand goes; what lies still for long is none, and people are asked to look.
            if self._become(lambda now: now.under_hand(begun)).is_hand_still(begun):
                self._become(Following.moving)
            else:
                self._ask(DISAGREEMENT, (), covered(seen), observation)
            return
        looks = self._become(lambda now: now.weighed(told.evidence)).looks
        if self._go_on_as_answered(observation) or self._weigh(observation, looks, told):
            self._become(lambda now: now.took(looks, self._clock(), time.thread_time()))

    def _weigh(self, observation: BoardObservation, looks: SceneLooks, told: LookAtMatch) -> bool:
        """Say, enter or ask what the looks at a scene show; return whether it was a turn, or a question about one."""
        snapshot, evidence, memory = observation.snapshot, several(looks.evidence), self._now.memory
        if is_behind(memory.matched if memory.match == snapshot.match else None, snapshot, evidence):
            self._become(lambda now: now.say(FollowState.BEHIND, messages.BEHIND))
            return False
        table, seen = observation.table, observation.seen
        tracker, former = observation.tracked.tracker, looks.former
        candidates = (
            tracker.again(former, evidence) if former else tracker.candidates(evidence, told.strange, told.unlike)
        )
        answer = tracker.judge(candidates, evidence)
        if answer.state == tracking.UNCHANGED:
            agreed = Agreed(snapshot.match, snapshot.moves, seen)
            self._become(lambda now: now.matches(agreed, len(snapshot.by)))
            table.confirm(seen, contents_of(snapshot.states[-1], table.layout))
            if told.explained:
                # People entered what was new to the camera: so that is what it looks like.
                self._teach(observation, snapshot.states[-1])
            return False
        kind, asked = asked_of(answer)
        enough = 2 if answer.state == tracking.ENTERED or kind == UNSEEN else LOOKS
        if observation.live and len(looks.evidence) < enough:
            # Two looks must agree before a turn is entered, and another may settle what one leaves open.
            self._become(lambda now: now.thinking(candidates))
            return False
        now = self._become(Following.scene_changed)
        if answer.state == tracking.HALF and observation.live and now.may_go_on(looks.begun):
            self._become(lambda now: now.half_seen(looks.begun))
            return False
        if answer.state == tracking.ENTERED:
            self._sure_of(answer.candidates, observation)
        else:
            self._ask(kind, asked, answer.places, observation)
        return True

    def _sure_of(self, candidates: tuple[Candidate, ...], observation: BoardObservation) -> None:
        """Enter a turn that two looks agree on; a thing that was never taught is asked about first."""
        best, table = candidates[0], observation.table
        if best.state is None:
            return
        kept = observation.tracked.marks[-1 - best.back]
        if was_taken_back(observation.snapshot, kept, best.state, self._now.memory.matched_at):
            self._ask(TURN, candidates, (), observation)
            return
        new = new_in(observation, best.state)
        if new:
            self._ask(NEW, candidates, new, observation)
            return
        by = Actor(Role.PLAYER, CAMERA, device=observation.kind)
        if not enter(self._night, observation, best, by).ok:
            # Somebody was quicker, or what is to be taken back is not the camera's own: people decide.
            self._ask(TURN, candidates, (), observation)
            return
        self._learn_what_stood(observation, best)
        lesson, agreed = self._now.memory.lesson, agreed_on(self._night, observation, best.state)
        self._become(lambda now: now.entered(observation, best.state).agree(agreed))
        table.confirm(observation.seen, contents_of(best.state, table.layout))
        if lesson is not None:
            # The turn before was right, or this one could not have followed: now it may be taught.
            self._teach(*lesson)

    def _go_on_as_answered(self, observation: BoardObservation) -> bool:
        """Enter what people have answered already of a turn, once what the board does not show is in the record."""
        memory, by = self._now.memory, Actor(Role.PLAYER, CAMERA, device=observation.kind)
        rest = None if memory.rest is None else memory.rest.next(observation, memory.matched_at)
        if rest is None or not enter(self._night, observation, rest, by).ok:
            return False
        agreed = agreed_on(self._night, observation, rest.state)
        self._become(lambda now: now.scene_changed().entered(observation, rest.state).agree(agreed))
        if memory.lesson is not None:
            self._teach(*memory.lesson)
        return True

    def _learn_what_stood(self, observation: BoardObservation, entered: Candidate) -> None:
        """Count what looks otherwise though a turn that was entered leaves it as it was."""
        if entered.state is not None and not entered.back:
            snapshot, seen, agreed = observation.snapshot, observation.seen, self._now.memory.agreed
            stood = stood_through(agreed, snapshot, seen, entered.state)
            self._become(lambda now: now.stood(snapshot.match, stood))

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
        self,
        kind: str,
        candidates: tuple[Candidate, ...],
        places: tuple[str, ...],
        observation: BoardObservation | RowObservation,
    ) -> None:
        name, shown = uuid.uuid4().hex[:12], offered(candidates, kind)
        self._become(lambda now: now.ask(name, kind, shown, places, observation))

    def _disagree(self, question: OpenQuestion) -> None:
        """Make a disagreement of a question that none of its candidates answers; leave a turn with cards to people."""
        observation = question.observation
        if isinstance(observation, RowObservation):
            self._rows.leave(Standing(observation.snapshot.match, observation.snapshot.state))
            self._become(lambda now: now.say(FollowState.WAITING, messages.ROW_LEFT))
            return
        seen = observation.seen
        recorded = contents_of(observation.snapshot.states[-1], seen.layout)
        places = question.places or tuple(
            name for name, place in seen.places.items() if place.content != recorded.get(name)
        )
        self._ask(DISAGREEMENT, question.candidates, places, observation)
