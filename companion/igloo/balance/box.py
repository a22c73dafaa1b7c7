"""A whole box in one go: the empty platform, igloo after igloo, the empty platform again, and nobody presses a button.

The line is listened to all the time. Three taps that agree, with one swing and nothing beside it, are a weighing. What
swings now tells whether an igloo lies there or none, as an igloo makes the platform swing much slower; so it is known
when one was taken off. At the end all are told together: no two hold the same number. Empty shells are weighed in the
same way, once each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from companion.igloo.balance.loads import TARE, Load, alone, held
from companion.igloo.balance.messages import (
    BOX_FULL,
    BOX_NOTHING,
    BOX_ORDER,
    BOX_STILL,
    BOX_TAKE_OFF,
    BOX_TOO_EARLY,
    BOX_TWICE,
    CLIPPED,
    NO_TAP,
    SHAKEN,
)
from companion.igloo.balance.ringdown import Ringdown, ringdown, swings_at
from companion.igloo.balance.scale import SHELLS_APART_G, KnownMass, known_mass
from companion.ports import COUNTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.igloo.balance.scale import BalanceScale, WeighedCount
    from companion.ports import Samples

    FloatArray = NDArray[np.float64]

TRY_S: Final = 0.3
"""So often it is looked whether three taps are there."""
RECENT_S: Final = 0.8
"""What swings now is told from so much."""
WINDOWS_S: Final = (2.8, 3.6, 4.5, 5.4)
"""Three taps lie within one of these; where a longer one is sound too, it tells more."""
TAPS: Final = 3
RUNG_S: Final = 1.2
"""So long three taps ring at least before they count."""
EMPTY: Final = 0.93
"""What swings slower than this part of the tare has something on it: 25 g on 45 g make 0.80."""
STEADILY: Final = 0.05
"""What swings is believed where two looks, one after another, tell the same to this part of it."""
STILL_S: Final = 5.0
"""Who taps the same thing so long after a weighing did not see that it is done; until then hands are on their way."""
NAG_S: Final = 9.0
"""After so long without a weighing it is said why."""
TOUCHED_G: Final = 0.02
"""What moves the platform further than this was somebody."""
SURELY_NOT: Final = 0.01
"""What is less likely than this is asked about."""
ALIKE: Final = 3.0
"""Two weighings within so many standard errors may be of one igloo."""

BEFORE: Final = "before"
IGLOO: Final = "igloo"
AFTER: Final = "after"
DONE: Final = "done"


class BoxNote(NamedTuple):
    """One sentence with its facts: igloos by the numbers of their stickers."""

    text: str
    igloo: int = 0
    other: int = 0

    def __str__(self) -> str:
        """Return it in English."""
        return self.text % {"igloo": self.igloo, "other": self.other} if "%(" in self.text else self.text


class ToldIgloo(NamedTuple):
    """What an igloo with a sticker holds."""

    igloo: int
    answer: WeighedCount

    @property
    def agrees(self) -> bool:
        """Tell whether it surely holds what its sticker says."""
        return self.answer.posterior.state == "counted" and self.answer.posterior.count == self.igloo

    @property
    def disagrees(self) -> bool:
        """Tell whether it surely holds something else."""
        return self.answer.posterior.state == "counted" and self.answer.posterior.count != self.igloo


class _Row(NamedTuple):
    what: str
    igloo: int
    swing: Ringdown


class BoxCheck:
    """One check of a box: fed with samples, it says what to put on next. ``igloos``: the stickers, in their order.

    ``empty``: they are empty shells, to be weighed once each (:attr:`shells`).
    One thread may call it at a time.
    """

    def __init__(self, scale: BalanceScale, igloos: Iterable[int] = COUNTS, *, empty: bool = False) -> None:
        self.empty = empty
        self.shells: tuple[KnownMass, ...] = ()
        """What empty shells weigh, by sticker, when all is done."""
        self.stage = BEFORE
        self.note: BoxNote | None = None
        self.told: list[ToldIgloo] = []
        self.seconds = 0.0
        """How long it was listened to."""
        self.order = tuple(dict.fromkeys(igloos))
        self.igloo = self.order[0]
        """Which is to be put on next."""
        self._scale = scale
        self._rows: list[_Row] = []
        self._rate = 0.0
        self._parts: list[FloatArray] = []
        self._untried = 0
        self._quiet_s = 0.0
        self._loaded = self._lifted = False
        self._asked: Load | None = None
        self._swings: float | None = None
        self._weighed_at = self._lifted_at = 0.0

    @property
    def weighed(self) -> list[int]:
        """The stickers of the igloos that were weighed."""
        return [one.igloo for one in self._rows if one.what != TARE]

    @property
    def last(self) -> int:
        """The igloo that was weighed last, 0: none."""
        return next((one.igloo for one in reversed(self._rows) if one.what != TARE), 0)

    def feed(self, samples: Samples) -> bool:
        """Take a run of samples; return whether there is something new to tell."""
        if self.stage == DONE:
            return False
        # One rate for all: what counts is one frequency against another, and a rate that is known better and better
        # would change them.
        self._rate = self._rate or samples.rate_hz
        if samples.gap_before or samples.overflow_before:
            self._parts = []
        self._parts.append(samples.accel)
        fresh = len(samples.accel) / self._rate
        self.seconds += fresh
        self._quiet_s += fresh
        self._untried += len(samples.accel)
        if self._untried < TRY_S * self._rate:
            return False
        self._untried = 0
        heard = np.concatenate(self._parts)[-int(WINDOWS_S[-1] * self._rate) - 1 :]
        self._parts = [heard]
        before = (self.stage, self.igloo, self.note)
        self._look(heard)
        return before != (self.stage, self.igloo, self.note)

    # --- what people say -------------------------------------------------------------------------------------------

    def choose(self, igloo: int) -> None:
        """Weigh this igloo next, also once more."""
        if igloo not in self.order:
            self.order = (*self.order, igloo)
        self.igloo, self.note, self.told, self.shells = igloo, None, [], ()
        if self.stage != BEFORE:
            self._next(IGLOO)

    def was(self, igloo: int) -> None:
        """Say that what was weighed last had another sticker; the one that was asked for is asked for again."""
        last = self.last
        if last and igloo != last and igloo in COUNTS and self.stage != DONE:
            self._rows = [one for one in self._rows if one.igloo != igloo]
            self._rows = [one._replace(igloo=igloo) if one.igloo == last else one for one in self._rows]
            self.choose(last)

    def end(self) -> None:
        """Ask for the empty platform: these are all igloos that there are."""
        if self.stage == IGLOO and self.weighed:
            self.note = None
            self._next(AFTER)

    # --- within ----------------------------------------------------------------------------------------------------

    def _look(self, heard: FloatArray) -> None:
        last, now = self._swings, swings_at(heard[-int(RECENT_S * self._rate) :], self._rate)
        self._swings = now
        if now and last and abs(now - last) < STEADILY * last:
            self._watch(now)
        best = None
        for seconds in WINDOWS_S:
            if len(heard) < seconds * self._rate:
                break
            swing = ringdown(heard[-int(seconds * self._rate) :], self._rate)
            if not alone(swing):
                break
            if swing.taps >= TAPS and swing.seconds >= RUNG_S:
                best = swing
        if best is not None:
            self._take(best)
        elif self._quiet_s > NAG_S:
            self._nag(heard)

    def _watch(self, now_hz: float) -> None:
        """See whether something lies on the platform, or was taken off."""
        if self.stage != IGLOO:
            return
        if now_hz < EMPTY * self._tare.frequency_hz:
            self._loaded = True
        elif now_hz < (2 - EMPTY) * self._tare.frequency_hz:
            if self._loaded and self._lifted and self._asked is None:
                self._say(BoxNote(BOX_TOO_EARLY, self.igloo))
            if self._loaded:
                self._asked = None
            if self._loaded or not self._lifted:
                self._lifted_at = self.seconds
            self._loaded, self._lifted = False, True

    def _nag(self, heard: FloatArray) -> None:
        self._quiet_s = 0.0
        if np.abs(heard - heard.mean(axis=0)).max() < TOUCHED_G:
            return
        why = ringdown(heard, self._rate).why
        if self.stage == IGLOO and not self._loaded and why != CLIPPED:
            # Somebody is looking for the next igloo.
            return
        self._say(BoxNote(why if why in {NO_TAP, CLIPPED} else SHAKEN))

    def _take(self, swing: Ringdown) -> None:
        self._parts, self._quiet_s = [], 0.0
        if self.stage == IGLOO:
            self._take_igloo(swing)
            return
        if self.stage == AFTER:
            usual = self._tare.frequency_hz
        else:
            usual = float(np.median(self._scale.empty_hz)) if self._scale.empty_hz else swing.frequency_hz
        if swing.frequency_hz < EMPTY * usual:
            self._say(BoxNote(BOX_TAKE_OFF))
            return
        self._rows.append(_Row(TARE, 0, swing))
        self.note = None
        if self.stage == BEFORE:
            self._lifted, self._lifted_at = True, self.seconds
            self._next(IGLOO)
        elif self.empty:
            rows = zip(self._rows, self._loads(), strict=True)
            self.shells = tuple(known_mass(row.igloo, one) for row, one in rows if row.igloo)
            self._next(DONE)
        else:
            loads = [(one.igloo, load) for one, load in zip(self._rows, self._loads(), strict=True) if one.igloo]
            answers = self._scale.together([load for _, load in loads])
            told = [ToldIgloo(igloo, answer) for (igloo, _), answer in zip(loads, answers, strict=True)]
            self.told = sorted(told, key=lambda one: one.igloo)
            self._next(DONE)

    def _take_igloo(self, swing: Ringdown) -> None:
        if swing.frequency_hz > EMPTY * self._tare.frequency_hz:
            if self._lifted and self.seconds - self._lifted_at > STILL_S:
                self._say(BoxNote(BOX_NOTHING, self.igloo))
            return
        *former, load = self._loads(_Row(IGLOO, self.igloo, swing))
        self._loaded = False
        # Where a bead weighs less than shells differ by, many igloos weigh the same: only the last one is asked about.
        asked_about = self.weighed if self._scale.bead_g > SHELLS_APART_G else [self.last]
        known = [(row.igloo, one) for row, one in zip(self._rows, former, strict=True) if row.igloo in asked_about]
        same = next((igloo for igloo, one in known if igloo and _alike(one, load)), 0)
        if same == self.last and same and not self._lifted:
            if self.seconds - self._weighed_at > STILL_S:
                self._say(BoxNote(BOX_STILL, self.igloo, same))
            return
        if not self.empty and same not in {0, self.igloo} and not (self._asked and _alike(self._asked, load)):
            self._asked = load
            self._say(BoxNote(BOX_TWICE, self.igloo, same))
            return
        posterior = self._scale.answers([load])[0].posterior
        if self.empty and load.load * self._scale.platform_g > self._scale.shell_g + COUNTS[0] * self._scale.bead_g:
            self._say(BoxNote(BOX_FULL, self.igloo))
            return
        if not self.empty and not posterior.p:
            self._say(BoxNote(posterior.why))
            return
        # Weighed once more, it replaces what was.
        self._rows = [one for one in self._rows if one.igloo != self.igloo] + [_Row(IGLOO, self.igloo, swing)]
        self._asked, self._lifted, self.note = None, False, None
        self._weighed_at = self.seconds
        if not self.empty and posterior.p[self.igloo - COUNTS[0]] < SURELY_NOT:
            self.note = BoxNote(BOX_ORDER, self.igloo, posterior.count or 0)
        left = [one for one in self.order if one not in self.weighed]
        self.igloo = next((one for one in left if one > self.igloo), left[0] if left else self.igloo)
        self._next(IGLOO if left else AFTER)

    @property
    def _tare(self) -> Ringdown:
        return next(one.swing for one in reversed(self._rows) if one.what == TARE)

    def _loads(self, *more: _Row) -> list[Load]:
        rows = [*self._rows, *more]
        found = held([one.swing for one in rows], [one.what for one in rows])
        return [replace(load, igloo=row.igloo) for row, load in zip(rows, found, strict=True)]

    def _say(self, note: BoxNote) -> None:
        self.note, self._quiet_s = note, 0.0

    def _next(self, stage: str) -> None:
        self.stage, self._parts, self._untried, self._quiet_s = stage, [], 0, 0.0

    def to_json(self) -> dict[str, Any]:
        """Return what a page shows of it."""
        return {
            "stage": self.stage,
            "empty": self.empty,
            "igloo": self.igloo,
            "order": list(self.order),
            "weighed": self.weighed,
            "last": self.last,
            "seconds": round(self.seconds),
            "note": {"text": self.note.text, "igloo": self.note.igloo, "other": self.note.other} if self.note else None,
            "told": [
                {
                    "igloo": one.igloo,
                    "agrees": one.agrees,
                    "disagrees": one.disagrees,
                    **one.answer.posterior.to_json(),
                    "grams": None if one.answer.grams is None else round(one.answer.grams, 2),
                }
                for one in self.told
            ],
        }


def _alike(one: Load, other: Load) -> bool:
    return abs(one.load - other.load) < ALIKE * float(np.hypot(one.error, other.error))
