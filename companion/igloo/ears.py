"""What listens to one igloo: a thread that turns samples into motion and, where allowed, into a count.

The link's thread only reads the line; analysis has its own, with a bounded queue between, so that a slow count
never makes the line lose bytes. If the queue overflows, what was left out is counted and treated as a gap.

In a live round the gate is closed: the counter is not even fed, so nothing that reveals a count exists to leak.
"""

from __future__ import annotations

import dataclasses
import queue
import threading
from collections.abc import Callable

from companion.igloo.count import Counter
from companion.igloo.motion import MotionDetector
from companion.ports import CountPosterior, IglooLink, Motion, Samples

QUEUE_RUNS = 2000
"""Runs of at most 16 samples: ten seconds at 3200 Hz."""


class Ears:
    """Motion and count of one link. Callbacks come from the thread of the ears.

    ``gate()`` is asked before every run of samples: while it answers False, nothing is counted.
    """

    def __init__(
        self,
        link: IglooLink,
        *,
        on_motion: Callable[[Motion], None],
        on_count: Callable[[CountPosterior], None],
        gate: Callable[[], bool],
    ) -> None:
        status = link.status()
        self._on_motion, self._on_count, self._gate = on_motion, on_count, gate
        self._motion = MotionDetector(status.key, status.kind)
        self._make_counter = lambda: Counter(status.key, status.kind)
        self._counter: Counter | None = None
        self._queue: queue.Queue[Samples | None] = queue.Queue(QUEUE_RUNS)
        self._skipped = 0
        self.left_out = 0
        self._thread = threading.Thread(target=self._run, name=f"ears {status.key}", daemon=True)
        self._thread.start()
        self._unsubscribe = link.subscribe(self._hear)

    def _hear(self, samples: Samples) -> None:
        if self._skipped:
            samples = dataclasses.replace(samples, gap_before=samples.gap_before + self._skipped)
        try:
            self._queue.put_nowait(samples)
            self._skipped = 0
        except queue.Full:
            self._skipped += len(samples.accel)
            self.left_out += len(samples.accel)

    def _run(self) -> None:
        while (samples := self._queue.get()) is not None:
            for motion in self._motion.feed(samples):
                self._on_motion(motion)
            if not self._gate():
                self._counter = None
                continue
            if self._counter is None:
                self._counter = self._make_counter()
            posterior = self._counter.feed(samples)
            # The gate may have closed while we counted: ask again before anything is said.
            if posterior is not None and self._gate():
                self._on_count(posterior)

    def close(self) -> None:
        """Stop listening and end the thread."""
        self._unsubscribe()
        self._queue.put(None)
        self._thread.join(timeout=5)
