"""The panel as a device: presses out, lights and sounds in. One thread, no other, touches the pins after the start."""

from __future__ import annotations

import errno
import importlib
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from gpiozero import DigitalInputDevice, DigitalOutputDevice, Factory

from companion.panel import messages
from companion.panel.debounce import Debounce
from companion.panel.pins import BUTTONS, BUZZER, Pins
from companion.panel.status import PanelError, PanelStatus
from companion.ports import DeviceKind, DeviceState

_log = logging.getLogger(__name__)

COLOURS: Final[Mapping[str, tuple[bool, bool, bool]]] = {
    "red": (True, False, False),
    "green": (False, True, False),
    "blue": (False, False, True),
    "yellow": (True, True, False),
    "violet": (True, False, True),
    "purple": (True, False, True),
    "black": (True, True, True),
    "white": (True, True, True),
}
"""How a player's colour is shown: red, green, blue lit or not. Black is shown white: a lamp cannot be black."""

LEGAL_S = 1.5
BEEP_S = 0.08
PAUSE_S = 0.12


def open_factory() -> Factory:
    """Return gpiozero's way to the pins of this machine; ``GPIOZERO_PIN_FACTORY=mock`` gives simulated ones.

    gpiozero would try library after library and end with one that misses edges; only lgpio will do.

    :raises PanelError: when there is none.
    """
    simulated = os.environ.get("GPIOZERO_PIN_FACTORY") == "mock"
    try:
        # Each is loaded only where it is used: lgpio is apt's, and not everywhere.
        found = importlib.import_module(f"gpiozero.pins.{'mock' if simulated else 'lgpio'}")
    except ImportError as error:
        raise PanelError(messages.NO_LIBRARY, str(error)) from error
    try:
        factory: Factory = found.MockFactory() if simulated else found.LGPIOFactory()
        return factory
    except Exception as error:
        raise _explained(error) from error


def _explained(error: Exception) -> PanelError:
    if isinstance(error, PanelError):
        return error
    words = str(error).lower()
    code = getattr(error, "errno", None)
    if code in {errno.EACCES, errno.EPERM} or "permission" in words:
        note = messages.NO_PERMISSION
    elif code == errno.EBUSY or "busy" in words or "in use" in words:
        note = messages.BUSY
    elif code in {errno.ENOENT, errno.ENODEV} or "can not open gpiochip" in words or "unable to determine" in words:
        note = messages.NO_HEADER
    else:
        note = messages.CANNOT_OPEN
    return PanelError(note, " ".join(str(error).split()))


class Panel:
    """Buttons, lights and buzzer. ``on_press`` is called with a button's name, from the panel's thread.

    :raises PanelError: when the pins cannot be used.
    """

    def __init__(
        self,
        pins: Pins,
        on_press: Callable[[str], None],
        *,
        factory: Factory | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.pins = pins
        self.factory = factory or open_factory()
        self.kind = DeviceKind.SIMULATED if type(self.factory).__name__ == "MockFactory" else DeviceKind.REAL
        self._on_press, self._clock = on_press, clock
        self._wake = threading.Condition()
        self._closing = False
        self._edges: list[tuple[float, str, bool]] = []
        self._timed: list[tuple[float, str, bool]] = []
        self._inputs: dict[str, Any] = {}
        self._outputs: dict[str, Any] = {}
        try:
            for name, pin in pins.at.items():
                if name in BUTTONS:
                    device = DigitalInputDevice(pin, pull_up=True, bounce_time=None, pin_factory=self.factory)
                    self._inputs[name] = device
                else:
                    self._outputs[name] = DigitalOutputDevice(pin, pin_factory=self.factory)
        except Exception as error:
            self._release()
            raise _explained(error) from error
        self._contacts = {name: Debounce(pressed=bool(device.value)) for name, device in self._inputs.items()}
        for name, device in self._inputs.items():
            device.when_activated = self._edge(name, True)
            device.when_deactivated = self._edge(name, False)
        self._thread = threading.Thread(target=self._run, name="panel", daemon=True)
        self._thread.start()

    # --- lights and sounds -------------------------------------------------------------------------------------------

    def legal(self) -> None:
        """Light the green lamp for a moment."""
        self._plan([("legal", True, 0.0), ("legal", False, LEGAL_S)], replace={"legal"})

    def doubt(self, on: bool) -> None:
        """Light the amber lamp, or put it out."""
        self._plan([("doubt", on, 0.0)], replace={"doubt"})

    def turn(self, colour: str | None) -> None:
        """Show whose turn it is; None: nobody's."""
        lit = COLOURS.get(colour or "", (False,) * 3 if colour is None else (True,) * 3)
        lamps = ("turn-red", "turn-green", "turn-blue")
        self._plan([(lamp, on, 0.0) for lamp, on in zip(lamps, lit, strict=True)], replace=set(lamps))

    def beep(self, times: int = 1) -> None:
        """Sound the buzzer so many times."""
        steps = []
        for n in range(times):
            begin = n * (BEEP_S + PAUSE_S)
            steps += [(BUZZER, True, begin), (BUZZER, False, begin + BEEP_S)]
        self._plan(steps, replace={BUZZER})

    def lit(self) -> dict[str, bool]:
        """Return what is lit (and sounds) now."""
        return {name: bool(device.value) for name, device in self._outputs.items()}

    def status(self) -> PanelStatus:
        """Return how the panel is doing."""
        return PanelStatus(self.kind, DeviceState.CONNECTED, self.pins.at)

    def close(self) -> None:
        """Put the lights out and free the pins."""
        with self._wake:
            self._closing = True
            self._wake.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=5)
        self._release()

    def _release(self) -> None:
        for device in (*self._inputs.values(), *self._outputs.values()):
            device.close()

    def _plan(self, steps: list[tuple[str, bool, float]], *, replace: set[str]) -> None:
        now = self._clock()
        with self._wake:
            self._timed = [step for step in self._timed if step[1] not in replace]
            self._timed += [(now + after, name, on) for name, on, after in steps if name in self._outputs]
            self._timed.sort(key=lambda step: step[0])
            self._wake.notify_all()

    # --- the thread --------------------------------------------------------------------------------------------------

    def _edge(self, name: str, pressed: bool) -> Callable[[], None]:
        def heard() -> None:
            with self._wake:
                self._edges.append((self._clock(), name, pressed))
                self._wake.notify_all()

        return heard

    def _run(self) -> None:
        while True:
            with self._wake:
                now = self._clock()
                due = [c.due for c in self._contacts.values() if c.due is not None]
                due += [step[0] for step in self._timed[:1]]
                if not self._closing and not self._edges and (not due or min(due) > now):
                    self._wake.wait(min(due) - now if due else None)
                if self._closing:
                    return
                edges, self._edges = self._edges, []
                now = self._clock()
                lights = [step for step in self._timed if step[0] <= now]
                self._timed = self._timed[len(lights) :]
            for _, name, on in lights:
                self._outputs[name].value = on
            for t, name, pressed in edges:
                self._contacts[name].edge(t, pressed)
            for name, contact in self._contacts.items():
                if contact.due is not None and contact.settle(now, bool(self._inputs[name].value)):
                    self._press(name)

    def _press(self, name: str) -> None:
        try:
            self._on_press(name)
        except Exception:
            _log.exception("The button %s stumbled.", name)
