"""One igloo's serial line: a thread that opens the port, finds out how to listen, reads, and never gives up.

It listens before it does anything else, and writes only to a device that has sent a valid frame. A port that is
lost is waited for; whatever went wrong is counted over all that, and the last word is :meth:`SerialLink.status`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from math import isfinite
from pathlib import Path
from types import TracebackType
from typing import Self

from companion.igloo import messages
from companion.igloo.line.driver import Driver
from companion.igloo.line.port import Port, PortError, PortMissingError, kind_of
from companion.igloo.line.registry import DRIVERS, claims
from companion.ports import DeviceError, DeviceKind, DeviceState, IglooStatus, LinkCounts, Samples

Listener = Callable[[Samples], None]

_log = logging.getLogger(__name__)

_PRINTABLE = bytes(range(32, 127)) + b"\t\r\n"


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a link waits for what, in seconds.

    ``first_listen`` is longer than ``listen`` because a board that starts again as the port is opened spends up
    to two seconds in its boot loader; a HELLO or STATUS comes each second. ``batch`` is how long bytes are left
    to gather before they are read: it costs latency and saves most of the work.
    """

    first_listen: float = 3.0
    listen: float = 1.5
    garbage: float = 0.4
    stale: float = 2.5
    resync: float = 4.0
    reopen: float = 0.25
    retry: float = 3.0
    hello: float = 1.0
    batch: float = 0.02


_GARBAGE_BYTES = 200
_GLITCH_BYTES = 20
"""Fewer bytes than the shortest frame has come from the plugging in itself."""


def added(one: LinkCounts, other: LinkCounts) -> LinkCounts:
    """Return the sum of two counts."""
    return LinkCounts(*(a + b for a, b in zip(astuple(one), astuple(other), strict=True)))


class SerialLink:
    """An :class:`~companion.ports.IglooLink` on a serial port or a pseudo-terminal, with its own thread.

    ``name`` is the link's key while no unit is known (else ``unit-3``); from the first HELLO on the key stays.
    When another unit turns up at the port, or the igloo was given another number, the link is over
    (``superseded``) and a new one is needed: what is known of one igloo never passes to another.
    ``drivers`` are the kinds of device to listen for, by default those of the registry that may be at a port with the
    number ``usb``; all their bit rates are listened at in turn, and at each one all of them listen. ``may_open`` is
    asked each time before the port is opened: something else may be there by now. ``clock`` gives the host's seconds,
    which samples are stamped with and :class:`Timing` is measured by.
    """

    def __init__(
        self,
        port: str,
        *,
        name: str = "",
        usb: str = "",
        drivers: Sequence[type[Driver]] = (),
        timing: Timing | None = None,
        may_open: Callable[[], bool] = lambda: True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.port = port
        self.name = name or Path(port).name
        self.superseded = False
        self.renamed = False
        self.heard = False
        kinds = tuple(drivers) or DRIVERS.at(usb)
        self._bauds = tuple(dict.fromkeys(baud for kind in kinds for baud in kind.bauds))
        self._drivers = tuple(kind() for kind in kinds)
        self._awaited = next((one for one in self._drivers if claims(type(one), usb)), None)
        self._timing = timing or Timing()
        self._may_open, self._clock = may_open, clock
        self._lock = threading.RLock()
        self._closing = threading.Event()
        self._listeners: tuple[Listener, ...] = ()
        self._driver: Driver | None = None
        self._spoke: Driver | None = None
        self._introduced = self._fell_silent = False
        self._open: Port | None = None
        self._device = port
        self._refused: PortError | None = None
        self._unit: int | None = None
        self._base = LinkCounts()
        self._locks = self._sweeps = self._baud_at = 0
        self._listen_from = self._listen_until = self._greeted_at = 0.0
        self._heard_bytes = self._printable = 0
        # What arrived and belongs to nothing, and when the last of it did: over all bit rates that are listened at.
        self._unread, self._unread_at = 0, self._clock()
        self._unread_for = self._timing.first_listen + self._timing.listen * len(self._bauds)
        try:
            self._kind = kind_of(port)
        except OSError:
            self._kind = DeviceKind.REAL
        self._thread = threading.Thread(target=self._run, name=f"igloo {self.name}", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        """Return the link, to be closed at the end of a block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Close the link."""
        self.close()

    # --- what others ask -----------------------------------------------------------------------------------------

    @property
    def fruitless(self) -> bool:
        """Return whether every bit rate was listened at and nothing spoke as an igloo does."""
        with self._lock:
            if self.heard:
                return False
            refused = self._refused is not None and self._refused.lasting
            return self._sweeps > 0 or refused or any(driver.foreign for driver in self._drivers)

    @property
    def sweeps(self) -> int:
        """Return how often every bit rate was listened at since something valid was heard."""
        return self._sweeps

    @property
    def baud(self) -> int:
        """Return the bit rate that is listened at."""
        return self._bauds[self._baud_at]

    @property
    def thread(self) -> threading.Thread:
        """Return the link's thread, for measuring what it costs."""
        return self._thread

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` with every run of samples, from the link's thread; return what ends that.

        A listener that raises is logged and called again with the next run: it does not end the line.
        """
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def end() -> None:
            with self._lock:
                self._listeners = tuple(kept for kept in self._listeners if kept is not listener)

        return end

    def status(self) -> IglooStatus:
        """Return how the link is doing now."""
        with self._lock:
            state, note = self._state(self._clock())
            spoke = self._spoke
            return IglooStatus(
                key=f"unit-{self._unit}" if self._unit else self.name,
                kind=self._kind,
                state=state,
                port=self._device,
                unit=self._unit,
                rate_hz=spoke.rate_hz if spoke is not None else None,
                nominal_hz=spoke.nominal_hz if spoke is not None else None,
                protocol=spoke.name if spoke is not None else "",
                counts=self._counts(),
                sensor_state=self._driver.sensor_state if self._driver is not None else None,
                note=note,
            )

    def adopt(self, counts: LinkCounts) -> None:
        """Go on with what an earlier link to the same igloo counted; it came back at another port."""
        with self._lock:
            self._base = added(self._base, replace(counts, reconnects=counts.reconnects + 1))

    def set_up_again(self) -> None:
        """Ask the igloo to set its sensor up again.

        :raises DeviceError: when no igloo is connected that can be told so.
        """
        self._send(lambda driver: driver.set_up_again())

    def name_unit(self, unit: int) -> None:
        """Store in the igloo which sensor igloo it is, 1 … 65535, or 0 for none; the link is then ``superseded``.

        :raises DeviceError: when no igloo is connected that can be told so.
        """
        self._send(lambda driver: driver.name_unit(unit))

    def close(self, timeout: float = 5.0) -> None:
        """Stop the thread and free the port; wait for that, at most so many seconds."""
        self._closing.set()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout)

    # --- the thread ----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._closing.is_set() and not self.superseded:
            try:
                if not self._may_open():
                    raise PortMissingError(messages.MISSING)
                port = Port(self.port, self.baud)
            except PortError as error:
                with self._lock:
                    self._refused = error
                missing = isinstance(error, PortMissingError)
                self._closing.wait(self._timing.reopen if missing else self._timing.retry)
                continue
            try:
                if self.heard and port.kind is not self._kind:
                    with self._lock:
                        self._refused = PortMissingError(messages.OTHER_KIND)
                    self._closing.wait(self._timing.retry)
                    continue
                self._attend(port)
            except OSError:
                with self._lock:
                    self._refused = PortMissingError(messages.MISSING)
                self._closing.wait(self._timing.reopen)
            finally:
                with self._lock:
                    self._lose_step()
                    self._open = None
                port.close()

    def _attend(self, port: Port) -> None:
        with self._lock:
            self._open, self._refused = port, None
            self._kind, self._fell_silent = port.kind, False
            # A port is shown as it was named; udev's long names say in the key who it is, here where it is.
            self._device = port.path if "/serial/by-" in self.port else self.port
            self._listen(self._timing.first_listen)
        while not self._closing.is_set() and not self.superseded:
            data = b""
            if port.wait(0.1):
                self._closing.wait(self._timing.batch)
                data = port.read()
            now = self._clock()
            with self._lock:
                runs = self._take(data, now)
                listeners = self._listeners
                self._look_after(port, now)
            for run in runs:
                for listener in listeners:
                    try:
                        listener(run)
                    except Exception:
                        _log.exception("A listener of %s failed.", self.name)

    def _take(self, data: bytes, now: float) -> list[Samples]:
        if not data:
            return []
        self._heard_bytes += len(data)
        self._unread = len(data) + (self._unread if now - self._unread_at <= self._unread_for else 0)
        self._unread_at = now
        for driver in (self._driver,) if self._driver is not None else self._drivers:
            try:
                runs = driver.feed(data, now)
                for run in runs:
                    if not isfinite(run.accel.sum()):
                        raise ValueError("samples that are no numbers")
            except Exception:
                _log.exception("The driver %s failed at %s; it is left out there.", driver.name, self.name)
                self._leave_out(driver)
                continue
            if self._driver is None and driver.in_step:
                self._lock_on(driver)
            if self._driver is not None:
                if driver.valid_at == now:
                    self._unread = 0
                self._introduce(driver)
                return [] if self.superseded else runs
        self._printable += len(data) - len(data.translate(None, _PRINTABLE))
        return []

    def _look_after(self, port: Port, now: float) -> None:
        """Greet the device, listen at the next bit rate, or begin to listen again, when it is time."""
        driver = self._driver
        if driver is not None and now - driver.valid_at > self._timing.resync:
            self._lose_step()
            self._fell_silent = True
            self._listen(self._timing.listen)
            return
        known = driver or self._awaited
        if known is not None and not known.introduced and now - self._greeted_at > self._timing.hello:
            self._greeted_at = now
            if known.greeting:
                port.write(known.greeting)
        if driver is not None:
            return
        words = self._printable > 0.8 * self._heard_bytes
        garbage = self._heard_bytes >= _GARBAGE_BYTES and not words and now - self._listen_from > self._timing.garbage
        if garbage or now > self._listen_until:
            self._sweeps += self._baud_at == len(self._bauds) - 1
            self._baud_at = (self._baud_at + 1) % len(self._bauds)
            port.set_baud(self.baud)
            self._listen(self._timing.listen)

    # --- in step and out of it -----------------------------------------------------------------------------------

    def _listen(self, seconds: float) -> None:
        for driver in self._drivers:
            driver.listen()
        self._heard_bytes = self._printable = 0
        self._listen_from = self._clock()
        self._listen_until = self._listen_from + seconds

    def _lock_on(self, driver: Driver) -> None:
        self._driver = self._spoke = driver
        self._introduced = self._fell_silent = False
        if self._locks:
            self._base = replace(self._base, reconnects=self._base.reconnects + 1)
        self._locks += 1
        self._sweeps = 0
        self._greeted_at = 0.0

    def _lose_step(self) -> None:
        if self._driver is not None:
            for driver in self._drivers:
                driver.line_was_lost()
        self._driver = None

    def _leave_out(self, driver: Driver) -> None:
        """Listen on without a driver that failed; what it counted stays."""
        with suppress(Exception):
            self._base = added(self._base, driver.counts())
        self._drivers = tuple(kept for kept in self._drivers if kept is not driver)
        if self._awaited is driver:
            self._awaited = None
        if self._driver is driver:
            self._lose_step()
            self._listen(self._timing.listen)

    def _introduce(self, driver: Driver) -> None:
        """Take the unit of a device that has introduced itself; the first one settles who this link is to."""
        if not driver.introduced:
            return
        unit = driver.unit
        if self.heard and (unit or 0) != (self._unit or 0):
            self.renamed = self._introduced
            self._refused = PortMissingError(messages.OTHER_UNIT)
            self.superseded = True  # last: who sees it looks at ``renamed``, and has no lock
            return
        self._unit = unit
        self.heard = self._introduced = True

    def _counts(self) -> LinkCounts:
        total = self._base
        for driver in self._drivers:
            total = added(total, driver.counts())
        return total

    def _send(self, command: Callable[[Driver], bytes]) -> None:
        with self._lock:
            told = command(self._driver) if self._driver is not None else b""
            if self._open is None or not told:
                raise DeviceError("No igloo that takes commands is connected at this port.")
            self._open.write(told)

    # --- in words ------------------------------------------------------------------------------------------------

    def _state(self, now: float) -> tuple[DeviceState, str]:
        if self._open is None or self.superseded:
            refused = self._refused
            if refused is None:
                return DeviceState.SEARCHING, messages.LISTENING
            missing = isinstance(refused, PortMissingError)
            return (DeviceState.MISSING if missing else DeviceState.FAULTY), refused.note
        driver = self._driver
        if driver is None:
            return (
                self._unheard(now) if self._sweeps or self._fell_silent else (DeviceState.SEARCHING, messages.LISTENING)
            )
        if now - driver.valid_at > self._timing.stale:
            return self._unheard(now)
        return driver.state(now, self._timing.stale)

    def _unheard(self, now: float) -> tuple[DeviceState, str]:
        """Return whether nothing arrives, or something that nobody understands."""
        if self._unread < _GLITCH_BYTES or now - self._unread_at > self._unread_for:
            return DeviceState.SILENT, messages.NOTHING_ARRIVES
        return DeviceState.FAULTY, messages.NOISE if self.heard else messages.NOT_AN_IGLOO
