"""Cuts single shakes out of a stream, to be labelled and kept: for calibration, a new person, or training.

:class:`Sitting` is the whole of "calibrate this igloo": the reader of the stream feeds it, the page says how many beads
there are and who shakes, and asks :meth:`Sitting.state` what to show.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from companion.igloo.calibration.features import Labelled, hear
from companion.igloo.calibration.store import Calibration, known, of_shakes, save
from companion.igloo.count.counter import SHAKING_G
from companion.igloo.count.guided_gauge import Gauge, GaugeStream
from companion.igloo.count.signal_validity import unsound
from companion.ports import COUNTS, BadDataError, Samples

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

WINDOW_S = 0.32
"""Motion is judged over so long."""
PAUSE_S = 0.6
"""A shake that rests for so long has ended, and was too short."""

LOST = "Samples were lost in this shake; shake again."
SHORT = "The shake ended too soon; shake again."
OFF_BEAT = "The motion did not keep to the beat; shake again."
NO_LABEL = "First say how many beads are inside."
KEPT = "Heard and kept."


class ShakeSegmenter:
    """Takes runs of samples and gives shakes of ``seconds``, each from a little after the motion began.

    ``shaken_s`` says how much of the present shake was heard, ``note`` why the last one was not kept, until
    the next begins after a rest.
    """

    def __init__(self, seconds: float = 4.0) -> None:
        self.seconds = seconds
        self.note = ""
        self.rate_hz = 0.0
        self._held: FloatArray = np.zeros((0, 3))
        self._shaking = False
        self._done = False
        self._rested = False

    @property
    def shaken_s(self) -> float:
        """How much of the present shake was heard."""
        return len(self._held) / self.rate_hz if self._shaking and self.rate_hz else 0.0

    def feed(self, samples: Samples) -> FloatArray | None:
        """Take a run; return a shake (n, 3) in g when one is complete. The next begins after a pause."""
        if self.rate_hz and abs(samples.rate_hz / self.rate_hz - 1) > 0.02:
            self._begin_anew("")
        self.rate_hz = samples.rate_hz
        if samples.gap_before or samples.overflow_before:
            self._begin_anew(LOST if self._shaking else "")
        self._held = np.concatenate([self._held, samples.accel])
        window = round(WINDOW_S * self.rate_hz)
        if self._done or not self._shaking:
            self._held = self._held[-2 * window :]
            moving = len(self._held) >= window and _motion(self._held[-window:], self.rate_hz) > SHAKING_G
            if not moving and len(self._held) >= window:
                self._done, self._rested = False, True
            elif moving and not self._done:
                self._shaking = True
                if self._rested:
                    self.note = ""
                self._held = self._held[-(window // 2) :]
            return None
        wanted = round(self.seconds * self.rate_hz)
        rest = round(PAUSE_S * self.rate_hz)
        if len(self._held) >= rest and _motion(self._held[-rest:], self.rate_hz) < SHAKING_G:
            self._begin_anew(SHORT)
            return None
        if len(self._held) < wanted:
            return None
        shake = self._held[:wanted]
        self._begin_anew("")
        self._done = True
        if why := unsound(shake, self.rate_hz):
            self.note = why
            return None
        return shake

    def _begin_anew(self, note: str) -> None:
        self._held = np.zeros((0, 3))
        self._shaking = self._rested = False
        self.note = note


def _motion(accel: FloatArray, rate_hz: float) -> float:
    """Return the spread (g) of samples (n, 3) after smoothing over 10 ms, which leaves the hand and takes the beads."""
    size = max(round(0.01 * rate_hz), 1)
    whole = len(accel) // size * size
    cells = accel[:whole].reshape(-1, size, 3).mean(axis=1)
    return float(np.sqrt(cells.var(axis=0).sum()))


@dataclass(frozen=True, slots=True)
class SittingState:
    """How a sitting goes, for a page to show.

    ``shakes`` were kept in this sitting, ``by_count`` says of how many beads (those of the calibration before
    included), ``next_count`` of which number one more would help most. ``shaken_s`` of ``seconds`` of the present
    shake were heard. ``note`` is what became of the last one, ``gauge`` how the beat is kept (guided only). ``card`` is
    the data card that the calibration would have now (``card["figures"]``: "before", "left out", "new hand"), None
    while there are too few shakes or they do not fit; ``why`` says so.
    """

    device: str
    person: str
    guided: bool
    count: int | None
    shakes: int
    by_count: dict[int, int]
    next_count: int
    shaken_s: float
    seconds: float
    note: str
    gauge: Gauge | None
    card: dict[str, Any] | None
    why: str


class Sitting:
    """Gathers labelled shakes of one igloo from its stream, and makes a calibration of them.

    The calibration in ``folder`` that the igloo has already is gone on with (so a person enrols by shaking under their
    name), unless the sitting begins ``anew``. ``count`` (2 … 13, or None while beads are put in), ``person`` and
    ``guided`` may be set at any time; they hold for the shake that ends next. Nothing is written before :meth:`keep`.
    Call it from one thread at a time.
    """

    def __init__(
        self,
        folder: Path,
        device: str,
        *,
        person: str = "",
        guided: bool = False,
        anew: bool = False,
        seconds: float = 4.0,
    ) -> None:
        self.folder, self.device = folder, device
        self.person, self.guided = person, guided
        self.count: int | None = None
        self.note = ""
        self._before = None if anew else known(folder, device)
        self._shakes: list[Labelled] = []
        self._catcher = ShakeSegmenter(seconds)
        self._gauges = GaugeStream()
        self._made: Calibration | None = None
        self._why = ""
        self._reckon()

    def feed(self, samples: Samples) -> bool:
        """Take a run of samples; tell whether a shake ended, which was kept or not (see ``note``)."""
        if self.guided:
            self._gauges.feed(samples)
        former_note = self._catcher.note
        accel = self._catcher.feed(samples)
        if accel is None:
            if self._catcher.note != former_note and self._catcher.note:
                self.note = self._catcher.note
                return True
            return False
        self.note = self.add(accel, samples.rate_hz)
        return True

    def add(self, accel: FloatArray, rate_hz: float) -> str:
        """Take one shake (n, 3) in g as one of ``count`` beads; return what became of it, :data:`KEPT` or why not."""
        if self.count is None:
            return NO_LABEL
        heard = hear([Samples(accel, 0.0, rate_hz, 0)], key=self.device)
        if not len(heard.vectors):
            return heard.answer.why
        if self.guided and not heard.kept:
            return OFF_BEAT
        self._shakes.append(Labelled(heard, self.count, self.person, self.guided))
        self._reckon()
        return KEPT

    def take_back(self) -> bool:
        """Forget the last shake of this sitting; tell whether there was one."""
        if not self._shakes:
            return False
        self._shakes.pop()
        self.note = ""
        self._reckon()
        return True

    def keep(self) -> Calibration:
        """Write the calibration, so that it is used, and go on from it; the one before can be brought back by ``undo``.

        :raises BadDataError: in one sentence, when there are too few shakes or they do not fit their labels.
        """
        if self._made is None or not self._shakes:
            raise BadDataError(self._why or "There is no shake to calibrate with.")
        save(self._made, self.folder)
        self._before, self._shakes = self._made, []
        return self._before

    def state(self) -> SittingState:
        """Return how it goes."""
        kept = self._by_count()
        return SittingState(
            device=self.device,
            person=self.person,
            guided=self.guided,
            count=self.count,
            shakes=len(self._shakes),
            by_count={n: k for n, k in kept.items() if k},
            next_count=min(kept, key=lambda n: (kept[n], _last_first(n))),
            shaken_s=min(self._catcher.shaken_s, self._catcher.seconds),
            seconds=self._catcher.seconds,
            note=self.note,
            gauge=self._gauges.now if self.guided else None,
            card=self._made.card if self._made else None,
            why=self._why,
        )

    def _by_count(self) -> dict[int, int]:
        """Return how many shakes there are of each count, those before included."""
        kept = dict.fromkeys(COUNTS, 0)
        if self._before:
            first = np.unique(self._before.shake, return_index=True)[1]
            for n in self._before.counts[first]:
                kept[int(n)] += 1
        for one in self._shakes:
            kept[one.count] += 1
        return kept

    def _reckon(self) -> None:
        """Make the calibration anew from all shakes."""
        self._made, self._why = None, ""
        if not self._shakes:
            self._made = self._before
            return
        try:
            self._made = of_shakes(self.device, self._shakes, self._before)
        except BadDataError as error:
            self._why = str(error)


def _last_first(count: int) -> int:
    """Return an order of counts that begins with both ends and the middle, which help most while shakes are few."""
    return (2, 13, 6, 4, 9, 3, 11, 7, 5, 8, 10, 12).index(count)
