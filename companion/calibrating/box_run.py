"""A whole box on the referee's balance while it is listened to: a thread of its own, and silence in a live round."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from companion.ports import CountGate, Samples

if TYPE_CHECKING:
    from companion.igloo.balance.box import BoxCheck
    from companion.igloo.balance.scale import KnownMass

MOST_RUNS: Final = 4000
"""Runs of at most 16 samples: twenty seconds at 3200 Hz."""

log = logging.getLogger(__name__)


class BoxRun:
    """One check of a box at the table. ``changed()`` is called, from its thread, when there is something new to tell.

    What a page is shown is in :attr:`form`; it is made anew after each look, so nobody waits for a fit to read it.
    ``shells`` is called with the empty shells that were weighed.
    """

    def __init__(
        self,
        check: BoxCheck,
        gate: CountGate,
        changed: Callable[[], None],
        shells: Callable[[tuple[KnownMass, ...]], None],
    ) -> None:
        self._check, self._gate, self._changed, self._shells = check, gate, changed, shells
        self._lock = threading.Lock()
        self._runs: queue.Queue[Samples | None] = queue.Queue(MOST_RUNS)
        self._lost = False
        self.form: dict[str, Any] = check.to_json()
        self._thread = threading.Thread(target=self._run, name="box", daemon=True)
        self._thread.start()

    def hear(self, samples: Samples) -> None:
        """Take a run of samples, from the link's thread; never waits."""
        try:
            self._runs.put_nowait(samples)
        except queue.Full:
            self._lost = True

    def say(self, what: str, igloo: int = 0) -> None:
        """Do what people say: ``choose`` or ``was`` an igloo, or ``end``: these are all."""
        with self._lock:
            match what:
                case "choose":
                    self._check.choose(igloo)
                case "was":
                    self._check.was(igloo)
                case _:
                    self._check.end()
            self.form = self._check.to_json()

    def end(self) -> None:
        """Let the thread end; what it still has to hear is forgotten."""
        while True:
            try:
                self._runs.get_nowait()
            except queue.Empty:
                break
        self._runs.put(None)

    def close(self) -> None:
        """End the thread, and wait for it."""
        self.end()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout=5)

    def _run(self) -> None:
        while (samples := self._runs.get()) is not None:
            try:
                with self._lock:
                    if self._lost:
                        # A swing with a hole in it has no phase.
                        self._lost, samples = (
                            False,
                            Samples(samples.accel, samples.t0, samples.rate_hz, samples.index, overflow_before=True),
                        )
                    news = self._check.feed(samples)
                    if news:
                        self.form = self._check.to_json()
            except Exception:
                # One bad run must not end the box.
                log.exception("The check of a box stumbled.")
                continue
            if not self._gate.is_open():
                return
            if news:
                if self._check.shells:
                    self._shells(self._check.shells)
                self._changed()
