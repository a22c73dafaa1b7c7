"""The threads that answer: as many as are needed, and no more for long."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

import pytest

from tests.worlds.wait import PATIENCE_S, wait
from web.http.workers import Workers


class Answer:
    """A task that takes as long as the test lets it."""

    def __init__(self, work: Callable[[], object] = lambda: None) -> None:
        self._work = work
        self.thread: int | None = None
        self.done = threading.Event()
        self.cancelled = False

    def service(self) -> None:
        self.thread = threading.get_ident()
        try:
            self._work()
        finally:
            self.done.set()

    def cancel(self) -> None:
        self.cancelled = True


def test_one_after_the_other_is_the_work_of_one_thread() -> None:
    workers = Workers(8)
    seen = set()
    for _ in range(20):
        task = Answer()
        wait(lambda: len(workers) == workers.idle)
        workers.add_task(task)
        assert task.done.wait(PATIENCE_S)
        seen.add(task.thread)
    assert len(seen) == 1
    assert len(workers) == 1
    assert workers.shutdown() is False
    assert len(workers) == 0


def test_a_crowd_gets_threads_up_to_the_limit_and_the_rest_waits() -> None:
    workers, gate = Workers(3), threading.Event()
    tasks = [Answer(gate.wait) for _ in range(5)]
    for task in tasks:
        workers.add_task(task)
    wait(lambda: sum(task.thread is not None for task in tasks) == 3)
    assert len(workers) == 3
    gate.set()
    assert all(task.done.wait(PATIENCE_S) for task in tasks)
    assert [task.thread in {one.thread for one in tasks[:3]} for task in tasks[3:]] == [True, True]
    workers.shutdown()


def test_threads_without_work_end_and_come_again() -> None:
    workers, gate = Workers(5, idle_s=0.05), threading.Event()
    tasks = [Answer(gate.wait) for _ in range(5)]
    for task in tasks:
        workers.add_task(task)
    gate.set()
    wait(lambda: len(workers) == 0)
    later = Answer()
    workers.add_task(later)
    assert later.done.wait(PATIENCE_S)
    workers.shutdown()


def test_a_thread_that_rests_leaves_the_rest_of_a_core_to_others() -> None:
    workers = Workers(1, rest=3.0)

    def work() -> None:
        end = time.monotonic() + 0.01
        while time.monotonic() < end:
            pass

    tasks = [Answer(work) for _ in range(10)]
    began = time.monotonic()
    for task in tasks:
        workers.add_task(task)
    assert all(task.done.wait(PATIENCE_S) for task in tasks)
    # Ten times at work, nine times at rest: a sleep is never shorter than it is asked for.
    assert time.monotonic() - began >= 10 * 0.01 + 9 * 3.0 * 0.01
    workers.shutdown()


def test_what_took_long_is_not_followed_by_a_rest_as_long() -> None:
    workers = Workers(1, rest=1e9)
    tasks = [Answer() for _ in range(3)]
    for task in tasks:
        workers.add_task(task)
    assert all(task.done.wait(PATIENCE_S) for task in tasks)
    workers.shutdown()


def test_the_end_waits_for_who_is_busy_and_cancels_who_waits() -> None:
    workers, gate = Workers(1), threading.Event()
    busy, waits = Answer(gate.wait), Answer()
    workers.add_task(busy)
    workers.add_task(waits)
    cancelled: list[bool] = []
    end = threading.Thread(target=lambda: cancelled.append(workers.shutdown(timeout=PATIENCE_S)))
    end.start()
    wait(lambda: workers._ending)
    assert not busy.done.is_set()
    gate.set()
    end.join(PATIENCE_S)
    assert cancelled == [True]
    assert busy.done.is_set()
    assert waits.cancelled
    assert waits.thread is None
    late = Answer()
    workers.add_task(late)
    assert late.cancelled


def test_an_answer_that_fails_takes_no_thread_with_it(caplog: pytest.LogCaptureFixture) -> None:
    workers = Workers(1)

    def fail() -> None:
        raise ZeroDivisionError

    with caplog.at_level(logging.ERROR, "web.http.workers"):
        workers.add_task(Answer(fail))
        after = Answer()
        workers.add_task(after)
        assert after.done.wait(PATIENCE_S)
    assert "An answer failed" in caplog.text
    workers.shutdown()


@pytest.mark.parametrize("round_", range(3))
def test_none_is_forgotten_where_threads_give_up_as_work_comes(round_: int) -> None:
    workers = Workers(4, idle_s=0.001)
    tasks = [Answer() for _ in range(300)]
    for number, task in enumerate(tasks):
        workers.add_task(task)
        if number % 7 == round_:
            # The next one comes as one of them has just given up, and the others are about to.
            there = len(workers)
            wait(lambda there=there: len(workers) < there or not len(workers))
    assert all(task.done.wait(PATIENCE_S) for task in tasks)
    workers.shutdown()
    assert len(workers) == 0


def test_it_is_known_how_long_tasks_have_been_waiting_without_one_being_taken() -> None:
    workers, gates = Workers(1), [threading.Event() for _ in range(3)]
    tasks = [Answer(gate.wait) for gate in gates]
    workers.add_task(tasks[0])
    assert workers.stalled_s == 0.0, "none waits"
    workers.add_task(tasks[1])
    wait(lambda: workers.stalled_s > 0.05)
    workers.add_task(tasks[2])
    assert workers.stalled_s > 0.05, "another one behind it changes nothing"
    before = workers.stalled_s
    gates[0].set()
    assert tasks[0].done.wait(PATIENCE_S)
    wait(lambda: tasks[1].thread is not None)
    assert 0.0 < workers.stalled_s < before + PATIENCE_S
    for gate in gates[1:]:
        gate.set()
    assert tasks[2].done.wait(PATIENCE_S)
    assert workers.stalled_s == 0.0
    workers.shutdown()


def test_where_no_thread_can_be_started_those_that_are_there_do_it(monkeypatch: pytest.MonkeyPatch) -> None:
    workers, gate = Workers(3), threading.Event()
    first, second = Answer(gate.wait), Answer()
    workers.add_task(first)

    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    workers.add_task(second)
    assert len(workers) == 1
    gate.set()
    assert second.done.wait(PATIENCE_S)
    assert second.thread == first.thread
    monkeypatch.undo()
    workers.shutdown()


def test_where_not_even_one_thread_can_be_started_the_server_hears_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    workers = Workers(3)
    with pytest.raises(RuntimeError):
        workers.add_task(Answer())
    assert (len(workers), workers.stalled_s) == (0, 0.0)
