"""A recording behind the same Protocol as an igloo: what it felt is felt again, at the pace it was felt."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from companion.igloo import messages
from companion.igloo.recordings import Recording, read_recording
from companion.ports import DeviceKind, DeviceState, IglooStatus, LinkCounts, Samples

BATCH_S = 0.02
"""How much is handed on at once."""

_log = logging.getLogger(__name__)


class RecordedLink:
    """An :class:`~companion.ports.IglooLink` that plays a recording; its kind is *recorded*, always.

    Shakes are played one after the other, with ``pause`` seconds between (marked as an unknown gap). With ``loop``
    it begins again at the end. It waits for its first listener.

    :raises BadDataError: when the file is no recording.
    """

    def __init__(self, path: Path, *, loop: bool = False, pause: float = 1.0) -> None:
        self._path = path
        self._recording: Recording = read_recording(path)
        self._loop, self._pause = loop, pause
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._wanted = threading.Event()
        self._listeners: tuple[Callable[[Samples], None], ...] = ()
        self._counts = LinkCounts()
        self._ended = False
        self._index = 0
        self._thread = threading.Thread(target=self._run, name=f"igloo {path.name}", daemon=True)
        self._thread.start()

    def status(self) -> IglooStatus:
        """Return how far it is: connected while it plays, silent when it has ended."""
        with self._lock:
            return IglooStatus(
                key=self._path.name,
                kind=DeviceKind.RECORDED,
                state=DeviceState.SILENT if self._ended else DeviceState.CONNECTED,
                port=str(self._path),
                rate_hz=self._recording.rate_hz,
                protocol="recording",
                counts=self._counts,
                note=messages.ENDED if self._ended else "",
            )

    def subscribe(self, listener: Callable[[Samples], None]) -> Callable[[], None]:
        """Call ``listener`` with every run of samples, from the link's thread; return what ends that."""
        with self._lock:
            self._listeners = (*self._listeners, listener)
        self._wanted.set()

        def end() -> None:
            with self._lock:
                self._listeners = tuple(kept for kept in self._listeners if kept is not listener)

        return end

    def close(self, timeout: float = 5.0) -> None:
        """Stop playing; wait for that, at most so many seconds."""
        self._closing.set()
        self._wanted.set()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def _run(self) -> None:
        self._wanted.wait()
        first = True
        while not self._closing.is_set():
            for shake in range(len(self._recording.shakes)):
                if not first and self._closing.wait(self._pause):
                    return
                self._play(shake, first=first)
                first = False
            if not self._loop:
                break
        with self._lock:
            self._ended = True

    def _play(self, shake: int, *, first: bool) -> None:
        start = time.monotonic()
        base = self._index
        rate = self._recording.rate_hz
        step = max(1, round(BATCH_S * rate))
        cut = not first
        for run in self._recording.runs(shake):
            for at in range(0, len(run.accel), step):
                accel = run.accel[at : at + step]
                # Sample i was felt at t0 + i / rate; it can be handed on only when the last one was felt.
                t0 = start + (run.index + at) / rate
                if self._closing.wait(max(0.0, t0 + len(accel) / rate - time.monotonic())):
                    return
                gap = run.gap_before if at == 0 else 0
                self._hand_on(Samples(accel, t0, self._recording.rate_hz, base + run.index + at, gap, cut))
                cut = False
                self._index = base + run.index + at + len(accel)

    def _hand_on(self, run: Samples) -> None:
        with self._lock:
            counts = self._counts
            self._counts = replace(counts, samples=counts.samples + len(run.accel), lost=counts.lost + run.gap_before)
            listeners = self._listeners
        for listener in listeners:
            try:
                listener(run)
            except Exception:
                _log.exception("A listener of %s failed.", self._path.name)
