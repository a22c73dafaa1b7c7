"""What becomes of what the camera follower knows, each change by itself."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from companion.follow.following import MEASURED, Following, FollowState, MatchMemory, SceneLooks, Standing
from companion.follow.pace import AGAIN_S, COVERED_AGAIN_S, QUIET_S
from companion.follow.questions import DISAGREEMENT, NEW, TURN
from companion.rules.inference.turns import Evidence
from vision.track.candidate import Candidate
from vision.track.tracker import Stood

HERE, LATER = Standing("match-1", 7), Standing("match-1", 8)
LOOKED = Following(record=HERE, looked=HERE, looked_t=100.0, record_t=0.0)
OBSERVATION: Any = SimpleNamespace(snapshot=SimpleNamespace(match="match-1"))


def asked(kind: str = TURN, *moves: str, name: str = "one", of: Following = LOOKED) -> Following:
    shown: Any = tuple(Candidate("turn", 0.5, (move,)) for move in moves)
    return of.ask(name, kind, shown, (), OBSERVATION)


@pytest.mark.parametrize(
    ("now", "record", "at", "new", "due"),
    [
        (LOOKED, HERE, 101.0, False, False),
        (LOOKED, HERE, 101.0, True, True),
        (LOOKED, HERE, 100.0 + AGAIN_S, False, True),
        (LOOKED, LATER, 101.0, False, True),
        (replace(LOOKED, record_t=100.0), LATER, 100.0 + QUIET_S / 2, True, False),
        (replace(LOOKED, record_t=100.0), LATER, 100.0 + QUIET_S, False, True),
        (replace(LOOKED, looks=SceneLooks((Evidence({}),))), HERE, 100.2, False, True),
        (replace(LOOKED, covered_t=100.0), HERE, 100.0 + COVERED_AGAIN_S, False, True),
        (replace(LOOKED, covered_t=100.0), HERE, 101.0, False, False),
    ],
)
def test_it_looks_at_what_is_new_and_now_and_then_again(
    now: Following, record: Standing, at: float, new: bool, due: bool
) -> None:
    assert now.due(record, at, new=new) is due


def test_the_same_question_keeps_its_name_and_another_gets_one() -> None:
    one = asked(TURN, "a1 b1")
    for other, name in (
        (asked(TURN, "a1 b1", name="two", of=one), "one"),
        (asked(TURN, "a1 c1", name="two", of=one), "two"),
        (asked(NEW, "a1 b1", name="two", of=one), "two"),
        (asked(DISAGREEMENT, "a1 b1", name="two", of=one), "two"),
    ):
        assert other.question is not None and other.question.id == name
    assert (one.state, asked(DISAGREEMENT).state) == (FollowState.QUESTION, FollowState.DISAGREEMENT)


def test_a_question_outlasts_movement_but_not_another_record() -> None:
    one = asked()
    assert one.moving().report == one.report
    waits = one.wait_for_board().moving()
    assert (waits.state, waits.question) == (FollowState.MOVING, one.question)
    assert one.recorded(HERE, 101.0, own=False) is one
    after = one.recorded(LATER, 101.0, own=False)
    assert (after.question, after.record, after.record_t) == (None, LATER, 101.0)
    assert one.recorded(LATER, 101.0, own=True).record_t == 0.0, "nobody is interrupted by the camera's own entry"


def test_what_comes_late_of_another_match_is_left_out() -> None:
    other = replace(LOOKED, memory=MatchMemory("match-2"))
    agreed: Any = SimpleNamespace(match="match-1")
    assert other.agree(agreed).memory == other.memory
    assert other.correct("match-1", {"d4": agreed}).memory == other.memory
    assert other.entered(OBSERVATION, None).memory == other.memory


def test_only_the_last_times_are_kept() -> None:
    now = LOOKED
    for n in range(MEASURED + 20):
        now = now.took(SceneLooks(begun=0.0, worked=1.0), float(n), 3.0)
    assert len(now.taken) == MEASURED
    assert now.taken[-1] == (MEASURED + 19.0, 2.0)


def test_what_was_nudged_is_counted_in_its_match_alone() -> None:
    now = replace(LOOKED, memory=MatchMemory("match-1"))
    counted = now.stood("match-1", Stood(38.0, 1.0)).stood("match-1", Stood(37.0)).stood("match-2", Stood(5.0, 5.0))
    assert counted.memory.stood == Stood(75.0, 1.0)
    assert counted.recorded(Standing("match-2", 0), 200.0, own=False).memory.stood == Stood()
