"""What listens to one igloo: a thread that turns samples into motion and, where allowed, into a count.

The link's thread only reads the line; analysis has its own, with a bounded queue between, so that a slow count
never makes the line lose bytes. If the queue overflows, what was left out is counted and treated as a gap.

In a live round the gate is closed: the counter is not even fed, so nothing that reveals a count exists to leak.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from companion.igloo.count.counter import Counter
from companion.igloo.motion.detector import MotionDetector
from companion.ports import BadDataError, CountGate, CountPosterior, DeviceKind, Motion, Samples

if TYPE_CHECKING:
    from companion.igloo.count.counter import CalibratedModel

QUEUE_RUNS = 2000
"""Runs of at most 16 samples: ten seconds at 3200 Hz."""

_log = logging.getLogger(__name__)


def finish(runs: queue.Queue[Any], thread: threading.Thread) -> None:
    """End the thread that takes runs from a queue until it finds None; a full queue loses its oldest."""
    while True:
        try:
            runs.put_nowait(None)
            break
        except queue.Full:
            runs.get_nowait()
    thread.join(timeout=5)


class SamplePipeline:
    """Motion and count of the igloo ``key``. Callbacks come from the pipeline's thread.

    ``gate`` is asked before every run of samples, and again before a count is told: while it is shut, nothing is
    counted. ``known()`` is asked as often for what is known of this igloo by calibration
    (:meth:`companion.igloo.calibration.store.Calibration.live_model`).
    """

    def __init__(
        self,
        key: str,
        kind: DeviceKind,
        *,
        on_motion: Callable[[Motion], None],
        on_count: Callable[[CountPosterior], None],
        gate: CountGate,
        known: Callable[[], CalibratedModel | None] = lambda: None,
    ) -> None:
        self.key = key
        self.left_out = 0
        self._on_motion, self._on_count, self._gate, self._known = on_motion, on_count, gate, known
        self._motion = MotionDetector(key, kind)
        self._kind = kind
        self._counter: Counter | None = None
        self._no_counter = False
        self._queue: queue.Queue[Samples | None] = queue.Queue(QUEUE_RUNS)
        self._skipped = 0
        self._thread = threading.Thread(target=self._run, name=f"pipeline {key}", daemon=True)
        self._thread.start()

    def hear(self, samples: Samples) -> None:
        """Take a run of samples, from the link's thread; never waits."""
        if self._skipped:
            samples = replace(samples, gap_before=samples.gap_before + self._skipped)
        try:
            self._queue.put_nowait(samples)
            self._skipped = 0
        except queue.Full:
            self._skipped += len(samples.accel)
            self.left_out += len(samples.accel)

    def _run(self) -> None:
        while (samples := self._queue.get()) is not None:
            try:
                self._attend(samples)
            except Exception:
                # One bad run must not make an igloo deaf for the evening.
                _log.exception("The pipeline of %s stumbled.", self.key)
                self._counter = None

    def _attend(self, samples: Samples) -> None:
        for motion in self._motion.feed(samples):
            self._on_motion(motion)
        if not self._gate.is_open():
            self._counter = None
            return
        if self._counter is None:
            if self._no_counter:
                return
            try:
                self._counter = Counter(self.key, self._kind)
            except BadDataError as error:
                _log.error("Nothing is counted: %s", error)
                self._no_counter = True
                return
        self._counter.calibrated = self._known()
        posterior = self._counter.feed(samples)
        if posterior is not None and self._gate.is_open():
            self._on_count(posterior)

    def close(self) -> None:
        """Stop listening and end the thread."""
        finish(self._queue, self._thread)
