"""Clocks that tests bring: one that goes when a test says so, and one that a busy machine does not hurry."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable

from tests.worlds.wait import PATIENCE_S

STEP_S = 0.5
"""How far :meth:`Clock.until` goes at once: longer than any bit rate is listened at in tests."""


class Clock:
    """It stands still until it is told to go, and tells of every thread that it was looked at.

    A thread that looks at it once a round has gone through a whole round, with the time as it is now, when it has
    looked twice; that is the proof that nothing more comes of what was there before.
    """

    def __init__(self, now: float = 1000.0) -> None:
        self._now = now
        self._looks: Counter[threading.Thread] = Counter()
        self._told = threading.Condition()

    def __call__(self) -> float:
        with self._told:
            self._looks[threading.current_thread()] += 1
            self._told.notify_all()
            return self._now

    def go(self, seconds: float) -> None:
        with self._told:
            self._now += seconds

    def looked(self, thread: threading.Thread, times: int = 2) -> None:
        """Wait until a thread has looked so many times from now on."""
        with self._told:
            enough = self._looks[thread] + times
            assert self._told.wait_for(lambda: self._looks[thread] >= enough, PATIENCE_S), f"{thread} has stopped"

    def until(
        self, true: Callable[[], object], *threads: threading.Thread, times: int = 2, step_s: float = STEP_S
    ) -> None:
        """Let time pass, a step whenever every thread has looked so many times, until it is true."""
        end = time.monotonic() + PATIENCE_S
        while not true():
            assert time.monotonic() < end, "it did not happen, however much time passed"
            self.go(step_s)
            for thread in threads:
                self.looked(thread, times)


class Unhurried:
    """It goes as the wall's does, but no further than a stride from one look to the next.

    What happens in this clock's time falls never far behind it, however long the machine was busy elsewhere.
    """

    def __init__(self, stride_s: float = 0.2) -> None:
        self._stride_s = stride_s
        self._now = self._wall = time.monotonic()
        self._lock = threading.Lock()

    def __call__(self) -> float:
        with self._lock:
            wall = time.monotonic()
            self._now += min(wall - self._wall, self._stride_s)
            self._wall = wall
            return self._now

    def go(self, seconds: float) -> None:
        with self._lock:
            self._now += seconds
