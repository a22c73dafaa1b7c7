"""The camera follower without its thread and with a clock of the test's: pictures, turns, answers in any order.

Night, record, positions and evidence are the real ones, of a game that was played before. What lies on the board is
said by the test, and with it what the tracker, who has tests of his own, makes of it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from companion.events.hub import Hub
from companion.follow import follower as camera_follower
from companion.follow.cards import CardTable
from companion.follow.evidence import TrackedMatch, contents_of, tracked_match
from companion.follow.follower import CameraFollower
from companion.follow.following import FollowState, MatchMemory
from companion.follow.pace import AGAIN_S, EVERY_S, HAND_S, QUIET_S
from companion.lab.worlds.boards import players
from companion.lab.worlds.filmed import FISH, GAME, Filmed
from companion.night.answers import CAMERA, TABLE, Actor, Role
from companion.night.commands.night import MatchSnapshot, Night
from companion.night.log.journal import Journal
from companion.ports import BadDataError, DeviceKind
from companion.rules import game
from companion.rules.inference.turns import Evidence
from companion.settings import Settings
from tests.worlds.sizes import size
from vision.board.layout import open_layout
from vision.read.place_posterior import PlaceLook, members_of
from vision.read.reader import BoardLook
from vision.track.candidate import (
    DISAGREEMENT,
    ENTERED,
    NONE,
    QUESTION,
    TAKEBACK,
    TURN,
    UNCHANGED,
    Candidate,
    TrackingResult,
)
from vision.track.tracker import Stood

LAYOUT = open_layout(GAME)
FILM = Filmed(5, 5, kept=1.0)
TURNS = [tuple(game(GAME).parse(text) for text in moves) for moves in FILM.played]
STEPS = [len(FILM.set_up) + n for n in accumulate((len(moves) for moves in FILM.played), initial=0)]
"""How many moves there are after the set-up and after each turn."""
ELSE, ARM = -9, ("e1", "e2", "e3", "d3")
HOST = Actor(Role.HOST, "host")
ANN = Actor(Role.PLAYER, "ann")
MAY_ASK = {
    FollowState.QUESTION,
    FollowState.DISAGREEMENT,
    FollowState.WAITING,
    FollowState.MOVING,
    FollowState.LOST,
    FollowState.THINKING,
}
"""States in which a question may stand; in all others there is none."""


@cache
def look_at(turn: int, covered: tuple[str, ...]) -> BoardLook:
    """Return a sure look at the board after a turn of the film (ELSE: at bare water), with a hand over some places."""
    members, pose = members_of(LAYOUT), SimpleNamespace(corners=None)
    contents = {} if turn == ELSE else contents_of(FILM.states[turn], LAYOUT)
    places = {}
    for place in LAYOUT.places:
        content = contents.get(place.name)
        things = () if content is None else content.things
        ground = np.eye(len(LAYOUT.grounds))[0 if content is None else content.ground]
        factors = tuple({tuple(pair for pair in things if pair[0] in some): 1.0} for some in members)
        places[place.name] = PlaceLook(ground, factors, members, 0.9 if place.name in covered else 0.0)
    found: Any = pose
    return BoardLook(LAYOUT, found, places)


class Table:
    """A taught table; its picture is what lies on the board."""

    layout, calibrated, taught, learning = LAYOUT, True, True, False

    def __init__(self) -> None:
        self.lessons: list[tuple[Any, dict[str, Any]]] = []

    def look(self, image: Any) -> BoardLook:
        turn, covered = image
        return look_at(turn, ARM if covered else ())

    def learnt(self) -> dict[int, int]:
        return dict.fromkeys(range(len(LAYOUT.things)), 9)

    def worth_teaching(self, seen: BoardLook, contents: dict[str, Any]) -> bool:
        return True

    def teach(self, image: Any, contents: dict[str, Any]) -> None:
        self.lessons.append((image, contents))

    def confirm(self, seen: BoardLook, contents: dict[str, Any]) -> None:
        assert seen.contents() == contents, "what is confirmed is what was seen"


class Frames:
    """The camera: another picture at every moment, unrest where something moves."""

    def __init__(self) -> None:
        self.board, self.covered, self.moves, self.dark, self.number = 0, False, False, False, 0

    def newest(self, now: float) -> Any:
        if self.dark:
            return None
        self.number += 1
        small = np.zeros((48, 64), np.uint8)
        small[: 4 * (self.board + 10), :4] = 200
        small[20:40, 20:24] = 150 if self.covered else 0
        if self.moves:
            small[:, 40:44] = 100 + 50 * (self.number % 2)
        board, covered = self.board, self.covered
        return SimpleNamespace(
            t=now, number=self.number, kind=DeviceKind.REAL, small=lambda: small, image=lambda: (board, covered)
        )


class Camera:
    """A follower at a table with a night of its own; time passes only where a test lets it."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.journal = Journal(folder / "journal.sqlite")
        self.night = Night(self.journal, Hub())
        self.settings, self.table, self.frames = Settings(None), Table(), Frames()
        self.settings.set({"camera_settle_tenths": 3, "camera_follow": True})
        self.clear, self.time, self.sent = True, 1000.0, 0
        self.told: list[dict[str, Any]] = []
        patch.setattr(camera_follower, "tracked_match", self._tracked)
        table: Any = self.table
        self.follower = CameraFollower(
            self.night,
            self.settings,
            newest=lambda: self.frames.newest(self.time),
            table_of=lambda _: table,
            on_change=lambda: self.told.append(self.follower.status()),
            cards=CardTable(folder / "tables"),
            clock=lambda: self.time,
        )
        self.told.append(self.follower.status())
        self.begin()

    # --- the tracker

    def _tracked(self, snapshot: MatchSnapshot, stood: Stood) -> TrackedMatch:
        tracker: Any = SimpleNamespace(
            candidates=lambda evidence, strange, unlike: self._candidates(snapshot),
            again=lambda former, evidence: former,
            judge=self._judged,
        )
        return replace(tracked_match(snapshot, stood), tracker=tracker)

    def _candidates(self, snapshot: MatchSnapshot) -> tuple[Candidate, ...]:
        record, board = STEPS.index(len(snapshot.moves)), self.frames.board
        none = Candidate(NONE, 0.01)
        if board == record:
            return Candidate(UNCHANGED, 0.99, state=FILM.states[record]), none
        if board == record + 1:
            return Candidate(TURN, 0.99, TURNS[record], FILM.states[board]), none
        if board == record - 1:
            return Candidate(TAKEBACK, 0.99, state=FILM.states[board], back=1), none
        return (none,)

    def _judged(self, candidates: Sequence[Candidate], evidence: Evidence) -> TrackingResult:
        best = candidates[0]
        states = {UNCHANGED: UNCHANGED, TURN: ENTERED if self.clear else QUESTION, TAKEBACK: TAKEBACK}
        state = states.get(best.kind, DISAGREEMENT)
        return TrackingResult(state, best.moves, tuple(candidates), ("d4",) if state == DISAGREEMENT else ())

    # --- what a test does

    def do(self, command: str, body: dict[str, Any], by: Actor = TABLE) -> Any:
        self.sent += 1
        return self.night.do(command, body, by=by, action_id=f"people-{self.sent}")

    def begin(self) -> None:
        assert self.do("open-match", {"game": GAME, "players": players(GAME), "setup": {"fish": FISH}}).ok
        assert self.do("moves", {"moves": FILM.set_up}).ok

    @property
    def snapshot(self) -> MatchSnapshot:
        snapshot = self.night.snapshot()
        assert snapshot is not None
        return snapshot

    @property
    def record(self) -> int:
        """After which turn of the film the record stands; it must be after one."""
        moves = list(map(str, self.snapshot.moves))
        film = [str(move) for move in (*map(game(GAME).parse, FILM.set_up), *(move for turn in TURNS for move in turn))]
        assert moves == film[: len(moves)], "something was entered twice, or wrongly"
        return STEPS.index(len(moves))

    def play(self, by: Actor = ANN) -> None:
        assert self.do("moves", {"moves": FILM.played[self.record]}, by).ok

    def wait(self, seconds: float) -> None:
        for _ in range(round(seconds / EVERY_S)):
            self.time += EVERY_S
            self.follower.tick()

    def show(self, board: int) -> None:
        """Lay the board so, by hand, and wait until it has been looked at as often as is wanted."""
        self.frames.board, self.frames.moves = board, True
        self.wait(2 * EVERY_S)
        self.frames.moves = False
        self.wait(2.0)

    @property
    def state(self) -> FollowState:
        return self.follower.now.state

    @property
    def asked(self) -> str:
        question = self.follower.now.question
        assert question is not None
        return question.id


@pytest.fixture
def camera(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Camera:
    camera = Camera(tmp_path, monkeypatch)
    camera.wait(3.0)
    assert camera.state is FollowState.WATCHING
    return camera


# --- one thing after the other


def test_a_turn_that_is_seen_twice_is_entered_once(camera: Camera) -> None:
    camera.show(1)
    assert [one["state"] for one in camera.told[-4:]] == ["moving", "thinking", "entered", "watching"]
    assert camera.record == 1
    assert camera.snapshot.by[-1] == CAMERA
    camera.wait(2 * AGAIN_S)
    assert (camera.state, camera.record) == (FollowState.WATCHING, 1)
    seconds, _ = camera.follower.now.taken[-1]
    assert 0 < seconds < 2.0
    assert camera.table.lessons == [], "what one turn shows is taught when another has followed it"
    camera.show(2)
    assert camera.record == 2
    assert camera.table.lessons == [((1, False), contents_of(FILM.states[1], LAYOUT))]


@pytest.mark.parametrize(("takes", "rest"), [(0.05, EVERY_S - 0.05), (0.7, 0.0)])
def test_what_a_look_takes_is_counted_in_the_pace(
    camera: Camera, monkeypatch: pytest.MonkeyPatch, takes: float, rest: float
) -> None:
    look, waits = camera.table.look, []

    def slow(image: Any) -> BoardLook:
        camera.time += takes
        return look(image)

    monkeypatch.setattr(camera.table, "look", slow)
    camera.frames.board = 1
    for _ in range(10):
        camera.time += EVERY_S
        before = camera.time
        waits.append((round(camera.follower.tick(), 6), camera.time > before))
    assert {wait for wait, looked in waits if looked} == {round(rest, 6)}
    assert {wait for wait, looked in waits if not looked} == {EVERY_S}


def test_a_turn_that_was_taken_back_is_asked_about_while_the_board_still_shows_it(camera: Camera) -> None:
    camera.show(1)
    camera.show(2)
    assert camera.record == 2
    # The turn before was the camera's, too; who takes back is entering by hand all the same.
    assert camera.do("undo", {"to": STEPS[1], "agreed": True}, HOST).ok
    camera.wait(QUIET_S - 2 * EVERY_S)
    assert (camera.record, camera.follower.now.question) == (1, None)
    camera.wait(2 * AGAIN_S)
    assert (camera.state, camera.record) == (FollowState.QUESTION, 1)
    # Two at once: the one before the other was taken back with it.
    assert camera.do("undo", {"to": STEPS[0], "agreed": True}, HOST).ok
    camera.show(1)
    assert (camera.state, camera.record) == (FollowState.QUESTION, 0)
    assert camera.follower.answer(camera.asked, 0, ANN).ok
    assert camera.record == 1
    # The board is put back, and the same is played again: that is another turn.
    assert camera.do("undo", {"to": STEPS[0], "agreed": True}, HOST).ok
    camera.show(0)
    assert camera.state is FollowState.WATCHING
    camera.show(1)
    assert (camera.record, camera.snapshot.by[-1]) == (1, CAMERA)


def test_a_turn_taken_back_step_by_step_is_not_entered_again(camera: Camera) -> None:
    camera.show(1)
    for kept in range(STEPS[1] - 1, STEPS[0] - 1, -1):
        assert camera.do("undo", {"to": kept, "agreed": True}, HOST).ok
    camera.wait(2 * AGAIN_S)
    assert (camera.state, camera.record) == (FollowState.QUESTION, 0)


def test_what_is_not_sure_is_asked_once_and_answered_once(camera: Camera) -> None:
    camera.clear = False
    camera.show(1)
    assert (camera.state, camera.record) == (FollowState.QUESTION, 0)
    asked = camera.asked
    camera.wait(2 * AGAIN_S)
    assert camera.asked == asked, "the same question in another picture is not asked anew"
    with pytest.raises(BadDataError):
        camera.follower.answer(asked, 1, ANN)
    assert camera.follower.answer(asked, 0, ANN).ok
    assert (camera.record, camera.snapshot.by[-1]) == (1, "ann")
    for old in (
        lambda: camera.follower.answer(asked, 0, ANN),
        lambda: camera.follower.answer(asked, None, ANN),
        lambda: camera.follower.wait_for_board(asked),
        lambda: camera.follower.record_is_right(asked),
    ):
        with pytest.raises(BadDataError):
            old()
    camera.wait(3.0)
    assert (camera.state, camera.record) == (FollowState.WATCHING, 1)


def test_none_of_these_is_a_disagreement_that_waits_for_the_board(camera: Camera) -> None:
    camera.clear = False
    camera.show(1)
    assert camera.follower.answer(camera.asked, None, ANN).ok
    assert camera.state is FollowState.DISAGREEMENT
    assert camera.follower.status()["places"]
    camera.follower.wait_for_board(camera.asked)
    assert camera.state is FollowState.WAITING
    camera.wait(5.0)
    assert camera.state is FollowState.WAITING, "nothing more is said until the scene has changed"
    camera.show(0)
    assert (camera.state, camera.follower.now.question) == (FollowState.WATCHING, None)


def test_who_enters_by_hand_is_not_interrupted(camera: Camera) -> None:
    camera.play()
    camera.wait(QUIET_S - 2 * EVERY_S)
    assert camera.state is FollowState.WATCHING
    camera.wait(1.0)
    assert camera.state is FollowState.BEHIND
    camera.show(1)
    assert (camera.state, camera.record) == (FollowState.WATCHING, 1)


def test_a_question_about_what_was_before_is_not_open_any_more(camera: Camera) -> None:
    camera.clear = False
    camera.show(1)
    asked = camera.asked
    camera.play()
    camera.wait(EVERY_S)
    assert camera.follower.now.question is None
    with pytest.raises(BadDataError):
        camera.follower.answer(asked, 0, ANN)
    assert camera.record == 1


def test_an_answer_that_comes_with_another_entry_enters_nothing(camera: Camera) -> None:
    camera.clear = False
    camera.show(1)
    camera.play()
    assert not camera.follower.answer(camera.asked, 0, ANN).ok
    assert camera.record == 1


def test_a_hand_goes_and_what_stays_is_asked_about(camera: Camera) -> None:
    camera.frames.covered = True
    camera.wait(3.0)
    assert camera.state is FollowState.MOVING
    camera.wait(HAND_S + 3.0)
    assert camera.state is FollowState.DISAGREEMENT
    assert set(camera.follower.status()["places"]) == set(ARM)
    camera.frames.covered = False
    camera.show(0)
    assert camera.state is FollowState.WATCHING


def test_another_match_forgets_everything_of_the_one_before(camera: Camera) -> None:
    camera.show(1)
    camera.show(ELSE)
    assert camera.state is FollowState.DISAGREEMENT
    camera.follower.record_is_right(camera.asked)
    old = camera.follower.now.memory
    assert old.misread and old.agreed and old.lesson and old.matched is not None
    assert camera.do("end-early", {}, HOST).ok
    camera.begin()
    camera.wait(EVERY_S)
    now = camera.follower.now
    assert now.memory == MatchMemory(camera.snapshot.match)
    assert now.memory.match != old.match
    assert (now.question, now.seen, now.looked, now.looks.evidence) == (None, None, None, ())
    taught = len(camera.table.lessons)
    camera.show(0)
    camera.show(1)
    assert (camera.record, len(camera.table.lessons)) == (1, taught)


def test_where_there_is_nothing_to_follow_it_says_so(camera: Camera) -> None:
    camera.frames.dark = True
    camera.wait(EVERY_S)
    assert camera.state is FollowState.NO_PICTURE
    camera.frames.dark = False
    camera.table.taught = False
    camera.wait(EVERY_S)
    assert camera.state is FollowState.TEACH
    camera.table.calibrated = False
    camera.wait(EVERY_S)
    assert camera.state is FollowState.CALIBRATE
    assert camera.do("pause", {}, HOST).ok
    camera.wait(EVERY_S)
    assert camera.state is FollowState.NO_GAME
    camera.settings.set({"camera_follow": False})
    camera.wait(EVERY_S)
    assert camera.follower.status() == {
        "following": False,
        "state": "off",
        "note": "The camera does not follow the game.",
        "asking": None,
        "places": [],
    }
    assert camera.told[-1] == camera.follower.status()


# --- anything after anything


class Evening(RuleBasedStateMachine):
    """Pictures, turns, answers and takings back in any order; what is entered is always the game that was played."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.patch = pytest.MonkeyPatch()
        self.camera = Camera(Path(self.folder.name), self.patch)
        self.old: set[str] = set()
        self.corrected: set[str] = set()
        self.checked = 0

    def teardown(self) -> None:
        self.patch.undo()
        self.camera.journal.close()
        self.folder.cleanup()

    @property
    def asks(self) -> bool:
        return self.camera.follower.now.question is not None

    @initialize()
    def begin(self) -> None:
        self.camera.wait(2.0)

    @rule(seconds=st.sampled_from([0.2, 1.0, 3.0]))
    def time_passes(self, seconds: float) -> None:
        self.camera.wait(seconds)

    @rule(by=st.sampled_from([0, 1, 1, 1, -1]), clear=st.booleans())
    def the_board_is_another(self, by: int, clear: bool) -> None:
        self.camera.clear = clear
        self.camera.show(min(max(self.camera.record + by, 0), len(TURNS)))

    @rule()
    def the_board_is_wrong(self) -> None:
        self.camera.show(ELSE)

    @rule(seconds=st.sampled_from([1.0, HAND_S + 3.0]))
    def a_hand_comes_and_goes(self, seconds: float) -> None:
        self.camera.frames.covered = True
        self.camera.wait(seconds)
        self.camera.frames.covered = False

    @rule()
    def it_is_dark_for_a_while(self) -> None:
        self.camera.frames.dark = True
        self.camera.wait(EVERY_S)
        self.camera.frames.dark = False

    @rule()
    def it_is_switched_off_and_on(self) -> None:
        self.camera.settings.set({"camera_follow": False})
        before = self.camera.night.seq
        self.camera.wait(1.0)
        assert (self.camera.state, self.camera.night.seq) == (FollowState.OFF, before)
        self.camera.settings.set({"camera_follow": True})
        self.camera.follower.wake()

    @precondition(lambda self: self.camera.record < len(TURNS))
    @rule()
    def people_enter_a_turn(self) -> None:
        self.camera.play()

    @precondition(lambda self: self.camera.record > 0)
    @rule()
    def people_take_a_turn_back(self) -> None:
        assert self.camera.do("undo", {"to": STEPS[self.camera.record - 1], "agreed": True}, HOST).ok

    @precondition(lambda self: self.asks)
    @rule(choice=st.sampled_from([0, 0, 0, None]))
    def it_is_answered(self, choice: int | None) -> None:
        question, camera = self.camera.follower.now.question, self.camera
        assert question is not None
        if choice is not None and not question.candidates:
            with pytest.raises(BadDataError):
                camera.follower.answer(question.id, choice, HOST)
            return
        stale = camera.snapshot.state != question.observation.snapshot.state
        record = camera.record
        answer = camera.follower.answer(question.id, choice, HOST)
        if choice is None:
            assert (camera.state, camera.record) == (FollowState.DISAGREEMENT, record)
        elif stale:
            assert (answer.ok, camera.record) == (False, record)
        else:
            self.corrected.add(camera.snapshot.match)
            step = {TURN: 1, TAKEBACK: -1}[question.candidates[choice].kind]
            assert (answer.ok, self.asks, camera.record) == (True, False, record + step)

    @precondition(lambda self: self.asks)
    @rule(way=st.sampled_from(["board", "record"]))
    def it_is_resolved(self, way: str) -> None:
        if way == "board":
            self.camera.follower.wait_for_board(self.camera.asked)
            assert self.camera.state is FollowState.WAITING
            return
        self.checked = len(self.camera.table.lessons) + 1
        self.corrected.add(self.camera.snapshot.match)
        self.camera.follower.record_is_right(self.camera.asked)
        assert not self.asks

    @rule()
    def another_match_begins(self) -> None:
        assert self.camera.do("end-early", {}, HOST).ok
        self.camera.begin()
        self.camera.wait(EVERY_S)
        assert not self.asks
        assert not self.camera.follower.now.memory.misread
        assert self.camera.follower.now.memory.lesson is None

    # --- always

    @invariant()
    def the_record_is_the_game_that_was_played(self) -> None:
        assert 0 <= self.camera.record <= len(TURNS)

    @invariant()
    def a_question_stands_only_where_one_may(self) -> None:
        now = self.camera.follower.now
        if now.question is not None:
            assert now.state in MAY_ASK
        assert now.waiting is False or now.question is not None

    @invariant()
    def an_old_question_is_refused(self) -> None:
        follower, before = self.camera.follower, self.camera.night.seq
        now = {follower.now.question.id} if follower.now.question is not None else set()
        for old in self.old - now:
            with pytest.raises(BadDataError):
                follower.answer(old, 0, HOST)
        assert self.camera.night.seq == before
        self.old |= now

    @invariant()
    def nothing_of_another_match_is_known(self) -> None:
        now = self.camera.follower.now
        if now.record is None:
            return
        assert now.memory.match == now.record.match
        if now.question is not None:
            assert now.question.observation.snapshot.match == now.record.match
        if now.memory.agreed is not None:
            assert now.memory.agreed.match == now.record.match
        if now.memory.lesson is not None:
            assert now.memory.lesson[0].snapshot.match == now.record.match
        assert not now.memory.misread or now.record.match in self.corrected

    @invariant()
    def everybody_knows_how_it_stands(self) -> None:
        told, now = self.camera.told[-1], self.camera.follower.status()
        assert (told["state"], told["note"], told["asking"]) == (now["state"], now["note"], now["asking"])

    @invariant()
    def only_what_was_there_is_taught(self) -> None:
        """But where people say that the camera misread: then the record is taught, whatever it saw."""
        for (board, _), contents in self.camera.table.lessons[self.checked :]:
            assert contents == contents_of(FILM.states[board], LAYOUT)
        self.checked = max(self.checked, len(self.camera.table.lessons))


TestEvening = pytest.mark.sized(Evening.TestCase)
TestEvening.settings = settings(max_examples=size(25, 60), stateful_step_count=30)
