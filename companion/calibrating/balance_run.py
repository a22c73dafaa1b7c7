"""The referee's balance at the table: which device it is, its calibration, and weighings, never in a live round.

One weighing at a time. A link's thread gathers its samples; a short thread of its own fits them. What happens goes out
as topic ``balance``.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from companion.calibrating.box_run import BoxRun
from companion.calibrating.messages import BALANCE_BUSY, NO_BALANCE, NO_BOX, NOT_CALIBRATED_BALANCE
from companion.calibrating.store import device_name
from companion.events.hub import Hub
from companion.igloo.balance.messages import NO_TARE, NOTHING_KNOWN, SHAKEN
from companion.night.log.data_folder import write_small
from companion.ports import (
    BadDataError,
    CountGate,
    DeviceError,
    DeviceKind,
    DeviceState,
    IglooLink,
    IglooStatus,
    Samples,
)

if TYPE_CHECKING:
    from companion.igloo.balance.calibration import LabelledLoad
    from companion.igloo.balance.ringdown import Ringdown
    from companion.igloo.balance.scale import BalanceScale, KnownMass, WeighedCount

WEIGH_S: Final = 4.5
"""One weighing: three or four taps."""
TARE_HOLDS_S: Final = 1800.0
"""A tare is too old after so long: a spring that drifts by 0.3 % in an evening has gone 0.05 %, a sixth of a bead."""
ROWS: Final = 120
"""Weighings of one sitting; the first are forgotten."""
TOLD_S: Final = 0.25
ROLE: Final = "role.json"
CARD: Final = "card.json"
MOST_BYTES: Final = 100_000

log = logging.getLogger(__name__)


class _Swing(NamedTuple):
    """One weighing of this sitting; ``t``: monotonic seconds at its end."""

    what: str
    value: float
    swing: Ringdown
    t: float


class BalanceRun:
    """The one balance of this house. Every method may be called from any thread.

    ``changed()`` is called when another device is the balance, or none.
    """

    def __init__(
        self,
        folder: Path,
        hub: Hub,
        *,
        statuses: Callable[[], Iterable[IglooStatus]],
        gate: CountGate,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        """Read what is remembered in the data folder."""
        self._folder = folder / "balance"
        self._hub, self._statuses, self._gate, self._changed = hub, statuses, gate, changed
        self._lock = threading.RLock()
        self._device = str(self._read(ROLE).get("device", ""))
        self._card = self._read(CARD) or None
        self._scale: BalanceScale | None = None
        self._rows: list[_Swing] = []
        self._answers: list[WeighedCount] = []
        self._box: BoxRun | None = None
        self._note = ""
        self._listening: tuple[str, float] | None = None
        self._parts: list[Samples] = []
        self._fitting: threading.Thread | None = None
        self._busy = False
        self._told_at = 0.0
        self._revision = 0
        self._shown: dict[str, Any] | None = None

    def close(self) -> None:
        """End what is being weighed."""
        with self._lock:
            self._listening, fitting = None, self._fitting
        self._end_box()
        if fitting is not None:
            fitting.join(timeout=5)

    # --- the role ----------------------------------------------------------------------------------------------------

    def is_balance(self, key: str, kind: DeviceKind) -> bool:
        """Tell whether a device is the balance: such a one counts no shakes and enters no round."""
        return self._device != "" and device_name(key, kind) == self._device

    def appoint(self, key: str) -> None:
        """Make a connected device the balance, remembered by its unit; "": none is.

        :raises DeviceError: when it is not there.
        :raises OSError: when it cannot be kept.
        """
        status = next((one for one in self._there() if one.key == key), None) if key else None
        if key and status is None:
            raise DeviceError(NO_BALANCE)
        with self._lock:
            device = device_name(status.key, status.kind) if status else ""
            if device != self._device:
                self._write(ROLE, {"device": device})
                # Another balance has another spring.
                (self._folder / CARD).unlink(missing_ok=True)
                self._device, self._card, self._scale = device, None, None
            self._listening = None
            self._begin_anew()
        self._end_box()
        self._changed()
        self._publish()

    # --- what the page asks ------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return what the balance is at (data of topic ``balance``); nothing of a weighing in a live round.

        Answers and events may come to a page in another order than they were made: the higher ``revision`` holds.
        """
        with self._lock:
            if not self._gate.is_open():
                # A round began: what was counted is not told after it either.
                self._rows = [one for one in self._rows if one.what != "unknown"]
                self._listening, self._answers, self._note = None, [], ""
                if self._box is not None:
                    self._box.end()
                    self._box = None
            status = self._status()
            shown = {
                "balance": {"key": status.key, "kind": str(status.kind), "there": True}
                if status
                else {"key": self._device, "kind": "", "there": False}
                if self._device
                else None,
                "candidates": [{"key": one.key, "kind": str(one.kind)} for one in self._there()],
                "calibration": self._card,
                "listening": self._listening_form(),
                "tared": self._tared(),
                "known": [
                    {"what": one.what, "value": one.value, "why": load.load.why}
                    for one, load in zip(self._rows, self._loads(), strict=True)
                    if one.what in {"grams", "beads"}
                ],
                "tares": sum(one.what == "tare" for one in self._rows),
                "weighed": len(self._answers),
                "answer": _answer_form(self._answers[-1]) if self._answers else None,
                "box": self._box.form if self._box else None,
                "note": self._note,
            }
            hidden, told = self._gate.through((False, shown), (True, None))
            return {"hidden": hidden, "revision": self._revision, "now": told}

    def look(self) -> None:
        """Tell the page if a sensor came or went, or a tare grew too old."""
        if self.state()["now"] != self._shown:
            self._publish()

    def weigh(self, what: str, value: float = 0.0) -> None:
        """Listen to the taps of one weighing: a tare, grams, an igloo of known beads, or an unknown igloo.

        ``value``: grams, beads, or the sticker of an unknown igloo whose shell was weighed; 0: nobody said.

        :raises DeviceError: when the balance is not there, is busy, or was not tared.
        """
        with self._lock:
            if self._status() is None:
                raise DeviceError(NO_BALANCE)
            if self._listening is not None or self._busy or self._box is not None:
                raise DeviceError(BALANCE_BUSY)
            if what == "unknown" and self._calibration() is None:
                raise DeviceError(NOT_CALIBRATED_BALANCE)
            if what != "tare" and not self._tared():
                raise DeviceError(NO_TARE)
            self._listening, self._parts, self._note = (what, value), [], ""
        self._publish()

    def stop(self) -> None:
        """Leave the present weighing, or the check of a box."""
        with self._lock:
            self._listening = None
        self._end_box()
        self._publish()

    def take_back(self) -> None:
        """Forget the last weighing that was no tare."""
        with self._lock:
            at = max((i for i, one in enumerate(self._rows) if one.what != "tare"), default=None)
            if at is not None:
                del self._rows[at]
            self._count()
        self._publish()

    def anew(self) -> None:
        """Forget the weighings of this sitting; the calibration stays."""
        with self._lock:
            self._listening = None
            self._begin_anew()
        self._publish()

    def keep(self) -> None:
        """Calibrate by what was weighed.

        :raises BadDataError: when it is too little, in one sentence.
        :raises OSError: when it cannot be kept.
        """
        from companion.igloo.balance.calibration import card, made_of, save

        with self._lock:
            loads = [one for one in self._loads() if one.what != "unknown"]
            if len({one.value for one in loads if one.what == "beads" and not one.load.why}) < 2:
                raise BadDataError(NOTHING_KNOWN)
            scale = made_of(loads)
            save(scale, self._folder)
            told = card(scale, loads)
            self._write(CARD, told)
            self._card, self._scale = told, scale
            self._rows = [one for one in self._rows if one.what == "tare"]
        self._publish()

    def box(self, what: str, igloo: int = 0) -> None:
        """``begin`` the check of a whole box, or of its empty ``shells``; or say what is so (:meth:`BoxRun.say`).

        :raises DeviceError: when the balance is not there, is busy, or was not calibrated; when no box is checked.
        """
        from companion.igloo.balance.box import BoxCheck

        with self._lock:
            begins = what in {"begin", "shells"}
            if begins:
                if self._status() is None:
                    raise DeviceError(NO_BALANCE)
                if self._listening is not None or self._busy or self._box is not None:
                    raise DeviceError(BALANCE_BUSY)
                scale = self._calibration()
                if scale is None:
                    raise DeviceError(NOT_CALIBRATED_BALANCE)
                self._note, self._box = (
                    "",
                    BoxRun(BoxCheck(scale, empty=what == "shells"), self._gate, self._publish, self._keep_shells),
                )
            elif self._box is None:
                raise DeviceError(NO_BOX)
            box = self._box
        if not begins:
            box.say(what, igloo)
        self._publish()

    # --- samples -----------------------------------------------------------------------------------------------------

    def hear(self, link: IglooLink, samples: Samples) -> None:
        """Take a run of samples, from the link's thread; never waits for a fit."""
        box = self._box
        if self._listening is None and box is None:
            return
        status = link.status()
        if not self.is_balance(status.key, status.kind):
            return
        if box is not None:
            if self._gate.is_open():
                box.hear(samples)
            else:
                self._end_box()
                self._publish()
            return
        with self._lock:
            # Asked again: it may have been stopped meanwhile.
            listening = self._listening
            if not self._gate.is_open():
                self._listening = None
            elif listening is not None:
                if samples.gap_before or samples.overflow_before:
                    # A swing with a hole in it has no phase: it begins anew.
                    self._parts = []
                self._parts.append(samples)
                if self._seconds() >= WEIGH_S:
                    what, value = listening
                    parts, self._parts, self._listening = self._parts, [], None
                    self._busy = True
                    self._fitting = threading.Thread(
                        target=self._fit, args=(what, value, parts), name="balance", daemon=True
                    )
                    self._fitting.start()
        if self._listening is None or time.monotonic() - self._told_at > TOLD_S:
            self._publish()

    # --- within ------------------------------------------------------------------------------------------------------

    def _fit(self, what: str, value: float, parts: list[Samples]) -> None:
        import numpy as np

        from companion.igloo.balance.loads import alone
        from companion.igloo.balance.ringdown import ringdown

        try:
            swing = ringdown(np.concatenate([one.accel for one in parts]), parts[-1].rate_hz)
            with self._lock:
                if not self._gate.is_open():
                    return
                # Who is told that it is done may weigh again at once.
                self._busy = False
                self._note = swing.why or ("" if alone(swing) else SHAKEN)
                if not self._note:
                    self._rows = [*self._rows, _Swing(what, value, swing, time.monotonic())][-ROWS:]
                    self._count()
        except Exception:
            # One bad run must not end the evening's weighing.
            log.exception("The balance stumbled.")
        finally:
            self._busy = False
        self._publish()

    def _count(self) -> None:
        """Answer what was weighed: those of one sitting help each other."""
        scale = self._calibration()
        weighed = [one.load for one in self._loads() if one.what == "unknown"]
        self._answers = scale.answers(weighed) if scale is not None and weighed else []

    def _calibration(self) -> BalanceScale | None:
        from companion.igloo.balance.calibration import load

        if self._scale is None and self._card is not None:
            try:
                self._scale = load(self._folder)
            except BadDataError as error:
                log.warning("%s", error)
                self._card = None
        return self._scale

    def _loads(self) -> list[LabelledLoad]:
        if not self._rows:  # A page asks often: without a balance nothing of it is loaded.
            return []
        from companion.igloo.balance.calibration import labelled
        from companion.igloo.balance.loads import held

        found = held([one.swing for one in self._rows], [one.what for one in self._rows])
        return [labelled(one.what, one.value, load) for one, load in zip(self._rows, found, strict=True)]

    def _tared(self) -> bool:
        return any(one.what == "tare" and time.monotonic() - one.t < TARE_HOLDS_S for one in self._rows)

    def _seconds(self) -> float:
        return sum(len(one.accel) / one.rate_hz for one in self._parts)

    def _listening_form(self) -> dict[str, Any] | None:
        if self._listening is None:
            return None
        what, value = self._listening
        return {"what": what, "value": value, "seconds": round(self._seconds(), 1), "of": WEIGH_S}

    def _there(self) -> list[IglooStatus]:
        return [one for one in self._statuses() if one.state is DeviceState.CONNECTED]

    def _status(self) -> IglooStatus | None:
        return next((one for one in self._there() if self.is_balance(one.key, one.kind)), None)

    def _begin_anew(self) -> None:
        self._rows, self._answers, self._note = [], [], ""

    def _keep_shells(self, shells: tuple[KnownMass, ...]) -> None:
        from companion.igloo.balance.calibration import save, with_shells

        with self._lock:
            if self._scale is None or self._card is None:
                return
            scale = with_shells(self._scale, shells)
            card = {**self._card, "shells": sorted(int(one.value) for one in scale.shells)}
            try:
                save(scale, self._folder)
                self._write(CARD, card)
            except OSError:
                log.exception("The shells could not be kept: they count until the companion ends.")
            self._scale, self._card = scale, card

    def _end_box(self) -> None:
        with self._lock:
            box, self._box = self._box, None
        if box is not None:
            box.close()

    def _publish(self) -> None:
        self._told_at = time.monotonic()
        with self._lock:
            self._revision += 1
            state = self.state()
            self._shown = state["now"]
        self._hub.publish("balance", state)

    def _read(self, name: str) -> dict[str, Any]:
        path = self._folder / name
        try:
            if not path.exists():
                return {}
            if path.stat().st_size > MOST_BYTES:
                raise ValueError("too large")
            return dict(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, RecursionError) as error:
            log.error("What is remembered of the balance could not be read: %s", error)
            return {}

    def _write(self, name: str, data: dict[str, Any]) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_small(self._folder / name, json.dumps(data, ensure_ascii=False))


def _answer_form(answer: WeighedCount) -> dict[str, Any]:
    posterior = answer.posterior
    sure = max(posterior.p, default=0.0) if posterior.state == "counted" else 0.0
    return {
        **posterior.to_json(),
        "p": round(sure, 4),
        "grams": None if answer.grams is None else round(answer.grams, 2),
    }
