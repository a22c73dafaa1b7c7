"""The igloo's bench: what is measured of an igloo on the page, one sitting at a time, and never in a live round.

*Calibrating* and *recording* gather labelled shakes; the *referee's count* follows a motion that the page times, or
joins free shakes. The links' threads only queue samples; a thread of this run hears them. What a sitting is at goes out
as topic ``bench``.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from companion.calibrating.messages import (
    BUSY,
    NO_IGLOO,
    NO_MORE_TO_TAKE_BACK,
    NO_SIMULATED_IGLOO,
    NOT_THIS_RATE,
    NOTHING_MEASURED,
)
from companion.calibrating.plan import CalibrationMethod
from companion.calibrating.recordings import Recordings
from companion.calibrating.store import Calibrations, device_name
from companion.events.hub import Hub
from companion.ports import BadDataError, CountGate, DeviceError, DeviceState, IglooLink, IglooStatus, Samples

if TYPE_CHECKING:
    from companion.calibrating.gathering import FreeReferee, Gathering, Referee

QUEUE_RUNS = 3000
PUBLISH_S = 0.18
"""Progress is told about five times a second at most."""
FORGOTTEN_S = 600.0
"""A sitting that nobody goes on with ends after so long."""

log = logging.getLogger(__name__)


class CalibrationRun:
    """The one sitting of this house. Every method may be called from any thread.

    While ``gate`` is shut a sitting ends, and none begins. ``shake(count, seconds, guided)``
    shakes the simulated igloo, if there is one.
    """

    def __init__(
        self,
        folder: Path,
        hub: Hub,
        *,
        statuses: Callable[[], Iterable[IglooStatus]],
        gate: CountGate,
        shake: Callable[[int, float, bool], None],
    ) -> None:
        """Prepare over a data folder; :meth:`start` begins to hear."""
        self.calibrations = Calibrations(folder / "calibrations")
        self.recordings = Recordings(folder / "shakes")
        self._hub, self._statuses, self._gate, self._shake = hub, statuses, gate, shake
        self._sitting: Gathering | Referee | FreeReferee | None = None
        self._touched = 0.0
        self._lock = threading.RLock()
        self._queue: queue.Queue[Samples | Callable[[], None] | None] = queue.Queue(QUEUE_RUNS)
        self._published: dict[str, Any] = {}
        self._published_at = 0.0
        self._revision = 0
        self._thread = threading.Thread(target=self._run, name="bench", daemon=True)

    def start(self) -> None:
        """Begin to hear."""
        self._thread.start()

    def close(self) -> None:
        """End the sitting; its shakes are kept."""
        from companion.igloo.sample_pipeline import finish

        with self._lock:
            self._sitting = None
        if not self._thread.is_alive():
            return
        finish(self._queue, self._thread)

    def hear(self, link: IglooLink, samples: Samples) -> None:
        """Take a run of samples, from the link's thread; never waits."""
        sitting = self._sitting
        if sitting is None or sitting.paused or link.status().key != sitting.key:
            return
        try:
            self._queue.put_nowait(samples)
        except queue.Full:
            log.warning("The bench hears too slowly; samples of a sitting were left out.")

    # --- what the page asks -------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return what the sitting is at (data of topic ``bench``); nothing in a live round."""
        sitting = self._sitting
        there = sitting is not None and self._connected(sitting.key) is not None
        form = None if sitting is None else {**sitting.form(), "there": there}
        hidden, shown = self._gate.through((False, form), (True, None))
        return {"hidden": hidden, "revision": self._revision, "sitting": shown}

    def overview(self) -> dict[str, Any]:
        """Return the igloos that can be measured, the calibrations, the recorded sittings, and the present one."""
        igloos = [
            {"key": status.key, "kind": str(status.kind), "device": device_name(status.key, status.kind)}
            for status in self._statuses()
            if status.state is DeviceState.CONNECTED
        ]
        return {
            "igloos": igloos,
            "calibrations": self.calibrations.listed(),
            "recordings": self.recordings.listed(),
            **self.state(),
        }

    def calibrate(
        self, key: str, *, person: str, guided: bool, way: str, anew: bool = False, resume: str | None = None
    ) -> None:
        """Begin to calibrate an igloo (or to enrol a person), or go on with a recorded sitting.

        :raises DeviceError: when it is not there, or another sitting goes on.
        :raises BadDataError: when its sensor is too slow, or there are too many recordings.
        :raises KeyError: when there is no such recorded sitting.
        """
        from companion.calibrating.gathering import Gathering

        status = self._free(key)
        device = device_name(status.key, status.kind)
        if resume and not self.recordings.has(resume):
            raise KeyError(resume)
        name = resume or self.recordings.begin(device, "calibrate")
        sitting = Gathering(
            status,
            self.recordings,
            name,
            person=person,
            guided=guided,
            way=CalibrationMethod(way),
            folder=self.calibrations.folder,
            anew=anew,
        )
        before = sitting.resume() if resume else []
        self._sit(sitting)
        for one in before:
            self._queue.put(one)

    def record(self, key: str, *, person: str, guided: bool, count: int) -> None:
        """Begin to record shakes of ``count`` beads.

        :raises DeviceError: when it is not there, or another sitting goes on.
        :raises BadDataError: when its sensor is too slow, or there are too many recordings.
        """
        from companion.calibrating.gathering import Gathering

        status = self._free(key)
        name = self.recordings.begin(device_name(status.key, status.kind), "record")
        self._sit(Gathering(status, self.recordings, name, person=person, guided=guided, count=count))

    def referee(self, key: str, *, person: str, free: bool = False) -> None:
        """Begin the referee's count of an igloo, by the hand of ``person`` ("": nobody who is known).

        With the beat, or ``free``: by shakes as anybody shakes, joined until it is sure.

        :raises DeviceError: when it is not there, or another sitting goes on.
        :raises BadDataError: when its sensor is too slow.
        """
        from companion.calibrating.gathering import FreeReferee, Referee

        status = self._free(key)
        device = device_name(status.key, status.kind)
        choice = self.calibrations.choice(device)
        kind = FreeReferee if free else Referee
        self._sit(kind(status, self.calibrations.of(device) if choice.use else None, person))

    def alter(self, *, count: int | None = None, paused: bool | None = None, person: str | None = None) -> None:
        """Say that another number is shaken next, by whom, or that listening rests.

        :raises DeviceError: when nothing is measured.
        """
        with self._lock:
            sitting = self._present()
            if paused is not None:
                sitting.pause(paused)
            if count is not None:
                sitting.requested_count = count
            if person is not None:
                sitting.name(person)
        self._publish()

    def other_hand(self) -> None:
        """Say that somebody else shakes from now on, in the referee's count.

        :raises DeviceError: when no referee's count goes on.
        """
        from companion.calibrating.gathering import Gathering

        with self._lock:
            sitting = self._present()
            if isinstance(sitting, Gathering):
                raise DeviceError(NOTHING_MEASURED)
            sitting.other_hand()
        self._publish()

    def take_back(self) -> None:
        """Forget the last shake of the sitting.

        :raises DeviceError: when nothing is measured, or nothing was shaken yet.
        """
        with self._lock:
            if not self._present().take_back():
                raise DeviceError(NO_MORE_TO_TAKE_BACK)
        self._publish(lists=True)

    def keep(self) -> None:
        """Have the igloo counted by what was gathered, from now on.

        :raises DeviceError: when nothing is measured.
        :raises BadDataError: when there is too little of it.
        """
        with self._lock:
            sitting = self._present()
            sitting.keep()
            self.calibrations.changed(sitting.device)
            self.calibrations.choose(sitting.device, use=True, person=sitting.person)
        self._publish(lists=True)

    def stop(self) -> None:
        """End the sitting; what was recorded stays."""
        with self._lock:
            self._sitting = None
        self._publish(lists=True)

    def shake_simulated(self) -> None:
        """Have the simulated igloo shaken with the number that is asked for.

        :raises DeviceError: when nothing is measured, or there is no simulated igloo.
        """
        with self._lock:
            sitting = self._present()
            if sitting.kind != "simulated":
                raise DeviceError(NO_SIMULATED_IGLOO)
            count, seconds, guided = sitting.count, sitting.simulated_s, sitting.guided
        self._shake(count, seconds, guided)

    def choose(self, device: str, *, use: bool | None, person: str | None) -> None:
        """Choose whether a calibration counts, and whose hand shakes."""
        self.calibrations.choose(device, use=use, person=person)
        self._publish(lists=True)

    def undo(self, device: str) -> None:
        """Bring back the calibration before the last.

        :raises BadDataError: when there is nothing to undo.
        """
        self.calibrations.undo(device)
        self._publish(lists=True)

    def forget(self, device: str) -> None:
        """Remove a calibration.

        :raises BadDataError: when there is none.
        """
        self.calibrations.forget(device)
        self._publish(lists=True)

    def rename(self, old: str, new: str | None) -> None:
        """Give a person another name in all that was measured, or forget it (None): what was measured stays.

        :raises BadDataError: when a recording is broken.
        """
        with self._lock:
            if self._sitting is not None and self._sitting.person == old:
                self._sitting.name(new or "")
            self.recordings.rename(old, new or "")
            self.calibrations.rename(old, new or "")
        self._publish(lists=True)

    def recording(self, name: str) -> bytes:
        """Return a recorded sitting as a labelled recording (.npz) for `companion shake train --from`.

        :raises KeyError: when there is none of that name.
        :raises BadDataError: when one of its files is broken.
        """
        return self.recordings.packed(name)

    def forget_recording(self, name: str) -> None:
        """Remove a recorded sitting.

        :raises KeyError: when there is none of that name.
        """
        with self._lock:
            if self._sitting is not None and self._sitting.recording == name:
                raise DeviceError(BUSY)
            self.recordings.forget(name)
        self._publish(lists=True)

    # --- within --------------------------------------------------------------------------------------------------

    def _connected(self, key: str) -> IglooStatus | None:
        """Return the igloo of that key, or any one for "", if it is there."""
        there = [status for status in self._statuses() if status.state is DeviceState.CONNECTED]
        return next((status for status in there if key in {"", status.key}), None)

    def _free(self, key: str) -> IglooStatus:
        """Return the igloo to be measured, when nothing else is."""
        from companion.igloo.count.features import tier_of

        if self._sitting is not None:
            raise DeviceError(BUSY)
        status = self._connected(key)
        if status is None:
            raise DeviceError(NO_IGLOO)
        if tier_of(status.rate_hz or status.nominal_hz or 0.0) is None:
            raise BadDataError(NOT_THIS_RATE)
        return status

    def _present(self) -> Gathering | Referee | FreeReferee:
        if self._sitting is None:
            raise DeviceError(NOTHING_MEASURED)
        self._touched = time.monotonic()
        return self._sitting

    def _sit(self, sitting: Gathering | Referee | FreeReferee) -> None:
        with self._lock:
            if self._sitting is not None:
                raise DeviceError(BUSY)
            while not self._queue.empty():
                self._queue.get_nowait()
            self._sitting, self._touched = sitting, time.monotonic()
        self._publish(lists=True)

    def _run(self) -> None:
        while True:
            try:
                samples = self._queue.get(timeout=1.0)
            except queue.Empty:
                self._look()
                continue
            if samples is None:
                return
            try:
                if callable(samples):
                    with self._lock:
                        samples()
                    self._publish()
                else:
                    self._attend(samples)
            except Exception:
                # One bad run must not end the evening's measuring.
                log.exception("The bench stumbled.")

    def _look(self) -> None:
        """End a sitting that may not go on, or with which nobody goes on."""
        if self._sitting is None:
            return
        if not self._gate.is_open() or time.monotonic() - self._touched > FORGOTTEN_S:
            self.stop()
        else:
            self._publish()

    def _attend(self, samples: Samples) -> None:
        if not self._gate.is_open():
            self._look()
            return
        with self._lock:
            sitting = self._sitting
            happened = sitting is not None and sitting.feed(samples)
        if happened:
            self._touched = time.monotonic()
        if happened or time.monotonic() - self._published_at > PUBLISH_S:
            self._publish(lists=happened)

    def _publish(self, *, lists: bool = False) -> None:
        """Tell what the sitting is at, if it changed; ``lists`` says that calibrations or recordings may have."""
        if lists:
            self._revision += 1
        state = self.state()
        self._published_at = time.monotonic()
        if state != self._published:
            self._published = state
            self._hub.publish("bench", state)
