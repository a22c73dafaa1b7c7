"""The threads that answer requests: as many as are needed, the one that was busy last asked first.

The server's own pool wakes its threads in turn. Each then keeps freed memory of its own (glibc's caches a thread), and
a service with fifty threads grows by ten megabytes in an evening although nothing is lost. Here a quiet house runs on
a few threads, and those that a crowd needed end when it has gone.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import deque
from typing import Protocol

IDLE_S = 60.0
"""A thread without work for so long ends."""
LONGEST_REST_S = 0.25
"""A thread that rests between its tasks rests no longer than this."""

log = logging.getLogger(__name__)


class Task(Protocol):
    """What a thread is given: a connection with a request to answer."""

    def service(self) -> None:
        """Answer."""

    def cancel(self) -> None:
        """Let it be: the server ends."""


class Workers:
    """At most ``most`` threads; what comes beyond waits its turn. Used by the server in its dispatcher's place.

    After a task a thread rests ``rest`` times as long as it took: then these tasks have no more than 1 / (1 + rest) of
    a core however many there are, and the busier the machine is, the fewer of them are done.
    """

    def __init__(self, most: int, *, idle_s: float = IDLE_S, name: str = "page", rest: float = 0.0) -> None:
        self._most, self._idle_s, self._name, self.rest = most, idle_s, name, rest
        self._lock = threading.Lock()
        self._waiting: deque[Task] = deque()
        self._idle: list[_Worker] = []
        self._threads: set[_Worker] = set()
        self._ending = False
        self._stalled_at = 0.0

    def __len__(self) -> int:
        """Return how many threads there are."""
        return len(self._threads)

    @property
    def idle(self) -> int:
        """Return how many of them have nothing to do."""
        return len(self._idle)

    @property
    def stalled_s(self) -> float:
        """Return for how many seconds tasks have been waiting without one of them being taken; 0 where none waits."""
        with self._lock:
            return time.monotonic() - self._stalled_at if self._waiting else 0.0

    def add_task(self, task: Task) -> None:
        """Give a task to the thread that was busy last, to a new one, or to the one that is free next."""
        with self._lock:
            if self._ending:
                task.cancel()
            elif self._idle:
                self._idle.pop().tasks.put(task)
            elif len(self._threads) >= self._most or not self._started(task):
                if not self._waiting:
                    self._stalled_at = time.monotonic()
                self._waiting.append(task)

    def _started(self, task: Task) -> bool:
        """Return whether a new thread could be started with a task; where memory is short those that are there do."""
        worker = _Worker(self, task, self._name)
        self._threads.add(worker)
        try:
            worker.start()
        except RuntimeError:
            self._threads.discard(worker)
            if self._threads:
                return False
            raise
        return True

    def shutdown(self, cancel_pending: bool = True, timeout: float = 5.0) -> bool:
        """End the threads, waiting for those that are busy; return whether tasks were cancelled."""
        with self._lock:
            self._ending = True
            for worker in self._idle:
                worker.tasks.put(None)
            self._idle.clear()
            pending = list(self._waiting)
            if cancel_pending:
                self._waiting.clear()
            busy = list(self._threads)
        end = time.monotonic() + timeout
        for worker in busy:
            worker.join(max(0.0, end - time.monotonic()))
        if cancel_pending:
            for task in pending:
                task.cancel()
        return cancel_pending and bool(pending)

    def next_task(self, worker: _Worker) -> Task | None:
        """Return what a thread does next; None: it ends."""
        with self._lock:
            if self._waiting:
                self._stalled_at = time.monotonic()
                return self._waiting.popleft()
            if self._ending:
                self._threads.discard(worker)
                return None
            self._idle.append(worker)
        try:
            task = worker.tasks.get(timeout=self._idle_s)
        except queue.Empty:
            with self._lock:
                if worker in self._idle:
                    self._idle.remove(worker)
                    self._threads.discard(worker)
                    return None
            # It was given something in the very moment it gave up.
            task = worker.tasks.get()
        if task is None:
            with self._lock:
                self._threads.discard(worker)
        return task


class _Worker(threading.Thread):
    def __init__(self, workers: Workers, first: Task, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._workers = workers
        self._task: Task | None = first

    def run(self) -> None:
        """Answer until there is nothing to do for long, or the server ends."""
        while self._task is not None:
            began = time.monotonic()
            try:
                self._task.service()
            except Exception:
                log.exception("An answer failed")
            if self._workers.rest:
                time.sleep(min(self._workers.rest * (time.monotonic() - began), LONGEST_REST_S))
            self._task = self._workers.next_task(self)
