"""The kinds of sittings at the igloo's bench: gathering labelled shakes, and the referee's count, guided or free."""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from companion.calibrating.messages import NEVER_IN_BOUNDS, TOO_FEW
from companion.calibrating.plan import STAGES, CalibrationMethod, goal, next_count
from companion.calibrating.recordings import Recordings, ShakeLabel
from companion.calibrating.store import device_name, figures_form
from companion.igloo.calibration.features import hear
from companion.igloo.calibration.joined import JoinedCount
from companion.igloo.calibration.shake_segmenter import KEPT, OFF_BEAT, ShakeSegmenter, Sitting
from companion.igloo.calibration.store import FEWEST_COUNTS, FEWEST_SHAKES, Calibration, known
from companion.igloo.count.features import tier_of
from companion.igloo.count.guided import SURE_P, GuidedCount, GuidedState
from companion.igloo.count.guided_gauge import TEMPO_BOUNDS, TEMPO_HZ, TRAVEL_BOUNDS, TRAVEL_CM, Gauge, GaugeStream
from companion.ports import COUNTS, BadDataError, IglooStatus, Samples

if TYPE_CHECKING:
    from companion.ports import FloatArray

SHAKE_S = 4.0
PATIENCE_S = 90.0
"""The referee gives up when the motion was not in bounds for long enough by then."""


class _Seated:
    """What all kinds know: the igloo, whose hand, and whether listening rests."""

    task = ""
    recording = ""
    guided = False
    simulated_s = 5.5
    """How long the simulated igloo is shaken: the hand takes it up first, and the catcher needs four whole seconds."""

    def __init__(self, status: IglooStatus, person: str) -> None:
        self.key, self.kind, self.person = status.key, str(status.kind), person
        self.device = device_name(status.key, status.kind)
        self.paused = False
        self.requested_count: int | None = None

    @property
    def count(self) -> int:
        """The number that is shaken now, as far as one is asked for."""
        return self.requested_count or 6

    def pause(self, paused: bool) -> None:
        """Rest, or go on."""
        self.paused = paused

    def name(self, person: str) -> None:
        """Say whose hand it is from now on."""
        self.person = person

    def take_back(self) -> bool:
        """Forget the last shake; tell whether there was one."""
        return False

    def keep(self) -> None:
        """Calibrate with what was gathered.

        :raises BadDataError: always, where nothing is gathered for that.
        """
        raise BadDataError(TOO_FEW)

    def form(self) -> dict[str, Any]:
        """Return the form for the page, without the parts that only one kind has."""
        return {
            "task": self.task,
            "igloo": self.key,
            "kind": self.kind,
            "device": self.device,
            "person": self.person,
            "paused": self.paused,
        }


class Gathering(_Seated):
    """Labelled shakes of one igloo: for its calibration where a ``way`` is given, else only to be kept.

    Each accepted shake is on the disk before it is told.
    """

    def __init__(
        self,
        status: IglooStatus,
        recordings: Recordings,
        recording: str,
        *,
        person: str,
        guided: bool,
        way: CalibrationMethod | None = None,
        count: int | None = None,
        folder: Path | None = None,
        anew: bool = False,
    ) -> None:
        super().__init__(status, person)
        self.task = "record" if way is None else "calibrate"
        self.recording = recording
        self.requested_count = count
        self.guided = guided
        self._recordings, self._way = recordings, way
        self._sitting = None
        if way is not None and folder is not None:
            self._sitting = Sitting(folder, self.device, person=person, guided=guided, anew=anew)
        self._before = {} if self._sitting is None else dict(self._sitting.state().by_count)
        self._by_person = Counter[str]() if folder is None or anew else _by_person(known(folder, self.device))
        self._mine: list[int] = []
        self._catcher = ShakeSegmenter(SHAKE_S)
        self._gauges = GaugeStream()
        self._note = ""
        self._used = False

    @property
    def count(self) -> int:
        """How many beads the next shake shall be of: the number a person said, else what the plan asks for."""
        if self.requested_count is not None:
            return self.requested_count
        return next_count(self._way or CalibrationMethod.CAP, self._all(), self._mine[-1] if self._mine else None)

    def resume(self) -> list[Callable[[], None]]:
        """Return what takes up, shake by shake, what was recorded in this sitting before.

        Who shook last shakes on, unless somebody else is named.

        :raises KeyError: when nothing was recorded.
        :raises BadDataError: when one of its files is broken.
        """
        found = self._recordings.shakes(self.recording)
        self.name(self.person or found[-1][2].person)
        return [partial(self._take_up, *one) for one in found]

    def _take_up(self, accel: FloatArray, rate_hz: float, label: ShakeLabel) -> None:
        """Take a shake that lies on the disk already."""
        if self._sitting is None:
            return
        self._sitting.person, self._sitting.guided, self._sitting.count = label.person, label.guided, label.count
        if self._sitting.add(accel, rate_hz) == KEPT:
            self._mine.append(label.count)
        self._sitting.person, self._sitting.guided = self.person, self.guided

    def name(self, person: str) -> None:
        """Say whose hand it is from now on."""
        super().name(person)
        if self._sitting is not None:
            self._sitting.person = person

    def pause(self, paused: bool) -> None:
        """Rest, or go on; half a shake is forgotten."""
        super().pause(paused)
        self._catcher = ShakeSegmenter(SHAKE_S)

    def feed(self, samples: Samples) -> bool:
        """Take a run of samples; tell whether a shake ended."""
        if self.paused:
            return False
        if self.guided:
            self._gauges.feed(samples)
        former_note, rested = self._catcher.note, not self._catcher.shaken_s
        accel = self._catcher.feed(samples)
        if accel is not None:
            self._note = self._take(accel, samples.rate_hz)
            return True
        if self._catcher.note and self._catcher.note != former_note:
            self._note = self._catcher.note
            return True
        if rested and self._catcher.shaken_s and not self._catcher.note and self._note not in ("", KEPT):
            self._note = ""  # what was wrong with the last shake is told no longer once the next begins
            return True
        return False

    def _take(self, accel: FloatArray, rate_hz: float) -> str:
        """Keep one shake of the number that was asked for; return what became of it."""
        count = self.count
        if self._sitting is not None:
            self._sitting.count = count
            note = self._sitting.add(accel, rate_hz)
        else:
            heard = hear([Samples(np.asarray(accel), 0.0, rate_hz, 0)], key=self.device)
            note = KEPT if len(heard.vectors) else heard.answer.why
            if note == KEPT and self.guided and not heard.kept:
                note = OFF_BEAT
        if note != KEPT:
            return note
        try:
            self.recording = self._recordings.add(
                self.recording, accel, rate_hz, ShakeLabel(count, self.person, self.guided)
            )
        except BadDataError as error:
            if self._sitting is not None:
                self._sitting.take_back()
            return str(error)
        self._mine.append(count)
        self._used = False
        if self._way is not None:
            self.requested_count = None
        return note

    def take_back(self) -> bool:
        """Forget the last shake; tell whether there was one. The number that it was of is asked for again."""
        if not self._mine or (self._sitting is not None and not self._sitting.take_back()):
            return False
        self._recordings.take_back(self.recording)
        last = self._mine.pop()
        if self._way is not None:
            self.requested_count = last
        self._note = ""
        return True

    def keep(self) -> None:
        """Write the calibration.

        :raises BadDataError: when there is too little of it.
        """
        if self._sitting is None:
            raise BadDataError(TOO_FEW)
        try:
            kept = self._sitting.keep()
        except BadDataError as error:
            raise BadDataError(TOO_FEW) from error
        self._before, self._mine = self._all(), []
        self._by_person = _by_person(kept)
        self._recordings.used(self.recording)
        self.recording = self._recordings.begin(self.device, self.task)
        self._used, self._note = True, ""

    def _all(self) -> dict[int, int]:
        """Return how many shakes there are of each number, with those of the calibration before."""
        return dict(Counter(self._before) + Counter(self._mine))

    def form(self) -> dict[str, Any]:
        """Return the form for the page."""
        every = self._all()
        total = sum(every.values())
        state = None if self._sitting is None else self._sitting.state()
        own = self._by_person[self.person] + len(self._mine)
        lacks = None
        if state is not None and state.why:
            few = total < FEWEST_SHAKES
            lacks = "shakes" if few else "numbers" if len(every) < FEWEST_COUNTS else "sense"
        return {
            **super().form(),
            "way": None if self._way is None else str(self._way),
            "guided": self.guided,
            "count": self.count,
            "kept": len(self._mine),
            "before": sum(self._before.values()),
            "total": total,
            "own": own,
            "goal": goal(own),
            "stages": list(STAGES),
            "by_count": {str(n): every[n] for n in sorted(every)},
            "last": self._mine[-1] if self._mine else None,
            "shaken_s": round(min(self._catcher.shaken_s, SHAKE_S), 1),
            "seconds": SHAKE_S,
            "note": self._note,
            "good": self._note == KEPT,
            "gauge": gauge_form(self._gauges.now) if self.guided else None,
            "figures": None if state is None else figures_form(state.card),
            "lacks": lacks,
            "used": self._used,
        }


class Referee(_Seated):
    """The referee's count: a guided motion, heard until the answer is sure or it is plain why it cannot be."""

    task = "referee"
    guided = True
    simulated_s = 30.0

    def __init__(self, status: IglooStatus, calibration: Calibration | None, person: str) -> None:
        super().__init__(status, person)
        self._calibration = calibration
        self.requested_count = random.choice(COUNTS)  # noqa: S311 - what the simulated igloo holds, a toy's secret
        self._began = time.monotonic()
        self._state: GuidedState | None = None
        self._count = self._anew(status)
        self._hands = 1
        self._late = False

    def _anew(self, status: IglooStatus) -> GuidedCount:
        own = self._calibration

        def calibrated(vectors: FloatArray, tier: float, hands: Sequence[int] = ()) -> tuple[float, ...]:
            made = own if own is not None and own.tier == tier else Calibration.of_nothing(tier)
            return tuple(float(p) for p in made.probabilities(vectors, self.person, hands, guided=True))

        return GuidedCount(calibrated, status.key, status.kind)

    def other_hand(self) -> None:
        """Say that from now on somebody else shakes: what two hands agree on is surer than twice as much of one."""
        self._count.other_hand()
        self._hands += 1

    def feed(self, samples: Samples) -> bool:
        """Take a run of samples; tell whether the count has just ended."""
        if self.paused or self._late or (self._state is not None and self._state.done):
            return False
        if tier_of(samples.rate_hz) is None:
            return False
        state = self._count.feed(samples)
        if state is not None:
            self._state = state
            if state.done:
                return True
        if time.monotonic() - self._began > PATIENCE_S:
            self._late = True
            return True
        return False

    def form(self) -> dict[str, Any]:
        """Return the form for the page."""
        state = self._state
        posterior = None if state is None or state.posterior is None else state.posterior.to_json()
        return {
            **super().form(),
            "calibrated": self._calibration is not None,
            "hands": self._hands,
            "gauge": gauge_form(GaugeStream().now if state is None else state.gauge),
            "seconds": 0.0 if state is None else round(state.seconds, 1),
            "answer": posterior,
            "done": self._late or (state is not None and state.done),
            "note": NEVER_IN_BOUNDS if self._late else "" if state is None else state.why,
        }


class FreeReferee(_Seated):
    """The referee's count by free shakes: joined until the answer is sure, with how much longer that would take."""

    task = "shake-on"

    def __init__(self, status: IglooStatus, calibration: Calibration | None, person: str) -> None:
        super().__init__(status, person)
        self.requested_count = random.choice(COUNTS)  # noqa: S311 - what the simulated igloo holds, a toy's secret
        self._calibrated = calibration is not None
        self._catcher = ShakeSegmenter(SHAKE_S)
        self._count = JoinedCount(calibration, status.key, status.kind)
        self._hands = 1
        self._note = ""

    def other_hand(self) -> None:
        """Say that from now on somebody else shakes: what two hands agree on is surer than twice as much of one."""
        self._hands += 1

    def pause(self, paused: bool) -> None:
        """Rest, or go on; half a shake is forgotten."""
        super().pause(paused)
        self._catcher = ShakeSegmenter(SHAKE_S)

    def feed(self, samples: Samples) -> bool:
        """Take a run of samples; tell whether a shake ended."""
        if self.paused or self._count.sure:
            return False
        former_note = self._catcher.note
        accel = self._catcher.feed(samples)
        if accel is not None:
            who = self.person if self._hands == 1 else f"?{self._hands}"
            self._note = self._count.add(accel, samples.rate_hz, who)
            return True
        if self._catcher.note and self._catcher.note != former_note:
            self._note = self._catcher.note
            return True
        return False

    def take_back(self) -> bool:
        """Forget the last shake; tell whether there was one."""
        self._note = ""
        return self._count.take_back()

    def form(self) -> dict[str, Any]:
        """Return the form for the page.

        ``more_s`` of shaking like that so far would make it sure (null: never), ``most`` is how sure it comes to be.
        """
        answer, ahead = self._count.answer, self._count.outlook
        return {
            **super().form(),
            "calibrated": self._calibrated,
            "hands": self._hands,
            "shakes": self._count.shakes,
            "shaken_s": round(min(self._catcher.shaken_s, SHAKE_S), 1),
            "each_s": SHAKE_S,
            "answer": None if answer is None else answer.to_json(),
            "sure": None if answer is None else round(max(answer.p), 3),
            "enough": SURE_P,
            "done": self._count.sure,
            "outlook": None
            if ahead is None
            else {
                "more_s": math.ceil(ahead.shakes) * SHAKE_S if math.isfinite(ahead.shakes) else None,
                "most": round(ahead.most, 3),
            },
            "note": self._note,
        }


def _by_person(made: Calibration | None) -> Counter[str]:
    """Return how many shakes of a calibration are of whose hand."""
    if made is None:
        return Counter()
    return Counter(made.who[i] for i in np.unique(made.shake, return_index=True)[1])


def gauge_form(now: Gauge) -> dict[str, Any]:
    """Return what the hand does, and the bounds, for the page: tempo in Hz, travel in cm, upright 0 … 1."""
    return {
        "tempo_hz": round(now.tempo_hz, 2),
        "travel_cm": round(now.travel_cm, 2),
        "upright": round(now.upright, 2),
        "hint": now.hint,
        "good": now.in_bounds,
        "beat_hz": TEMPO_HZ,
        "wide_cm": TRAVEL_CM,
        "tempo_bounds": list(TEMPO_BOUNDS),
        "travel_bounds": list(TRAVEL_BOUNDS),
    }
