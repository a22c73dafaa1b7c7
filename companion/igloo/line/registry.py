"""Which kinds of serial device there are, by name: the two of ours, what packages offer, what was registered.

A package offers a driver as an entry point of the group ``companion.drivers``; what cannot be used is left out, and
said in the log in one sentence. Nothing else in the companion knows one kind from another.
"""

from __future__ import annotations

import fnmatch
import inspect
import logging
import threading
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points

from companion.igloo.line.driver import Driver
from companion.igloo.line.frame_driver import FrameDriver
from companion.igloo.line.text_driver import TextDriver
from companion.ports import BadDataError

GROUP = "companion.drivers"
"""The group of entry points under which packages offer drivers."""

_log = logging.getLogger(__name__)


class DriverRegistry:
    """Drivers by name, in the order in which they are asked; what packages offer is looked for once, when needed.

    ``offered`` returns the entry points to look at.
    """

    def __init__(
        self,
        *ours: type[Driver],
        offered: Callable[[], tuple[EntryPoint, ...]] = lambda: tuple(entry_points(group=GROUP)),
    ) -> None:
        self._lock = threading.RLock()
        self._drivers: dict[str, type[Driver]] = {}
        self._offered: Callable[[], tuple[EntryPoint, ...]] | None = offered
        for driver in ours:
            self.register(driver)

    def register(self, driver: type[Driver]) -> Callable[[], None]:
        """Have a kind of device found from now on; return what ends that.

        :raises BadDataError: when it is no driver, or another one has its name.
        """
        if not (isinstance(driver, type) and Driver in driver.__mro__) or inspect.isabstract(driver):
            raise BadDataError("it is no class that inherits from Driver and has all that a driver needs")
        name, bauds = getattr(driver, "name", ""), getattr(driver, "bauds", ())
        if not name or not isinstance(name, str) or not bauds or not all(isinstance(baud, int) for baud in bauds):
            raise BadDataError("it says no name, or no bit rates")
        with self._lock:
            if name in self._drivers:
                raise BadDataError(f"another driver is named {name}")
            self._drivers[name] = driver

        def end() -> None:
            with self._lock:
                self._drivers.pop(name, None)

        return end

    def drivers(self) -> Mapping[str, type[Driver]]:
        """Return every driver by its name."""
        with self._lock:
            offered, self._offered = self._offered, None
            for one in sorted(offered() if offered else (), key=lambda entry: entry.name):
                try:
                    self.register(one.load())
                except Exception as error:
                    package = one.dist.name if one.dist is not None else "?"
                    why = f"{error}" if isinstance(error, BadDataError) else f"{type(error).__name__}: {error}"
                    _log.warning("The driver %s of the package %s is left out: %s.", one.name, package, why)
            return dict(self._drivers)

    def at(self, usb: str) -> tuple[type[Driver], ...]:
        """Return the drivers that listen at a port whose USB number is ``usb`` (``vid:pid``, or nothing).

        Where the number is that of devices of one kind, its driver listens alone.
        """
        every = tuple(self.drivers().values())
        return tuple(driver for driver in every if usb and claims(driver, usb)) or every


def claims(driver: type[Driver], usb: str) -> bool:
    """Return whether only devices of this kind have the USB number ``vid:pid``."""
    return any(fnmatch.fnmatchcase(usb.lower(), number.lower()) for number in driver.usb)


DRIVERS = DriverRegistry(FrameDriver, TextDriver)
"""The kinds of device that are found and listened to in this process."""
