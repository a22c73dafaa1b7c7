"""A kind of serial device is a driver: the bytes of one line in, runs of samples and how its device does out.

A driver knows no port, no thread and no time but the host's seconds that it is given. The link
(:mod:`companion.igloo.line.link`) has one of every kind, feeds them all until one is in step, and from then on that one
alone; :mod:`companion.igloo.line.registry` knows which kinds there are.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Protocol

from companion.ports import DeviceState, LinkCounts, Samples

COUNTABLE_HZ = 800.0
"""Below this rate beads cannot be counted (measured: chance at 100 Hz)."""


class Driver(Protocol):
    """What one kind of device says, read at one line. To be inherited from: a driver is made anew for every link.

    ``name`` is the kind's own, for people and for the registry; ``bauds`` are the bit rates to listen at, the usual
    one first. ``usb`` are numbers ``vid:pid`` (with ``*``) that only devices of this kind have: at such a port no other
    driver listens. ``greeting`` asks a device that is recognised, by its bytes or its number, to say what it is, again
    and again until it has; where it is empty nothing is ever written.
    """

    name: ClassVar[str]
    bauds: ClassVar[tuple[int, ...]]
    usb: ClassVar[tuple[str, ...]] = ()
    greeting: ClassVar[bytes] = b""

    in_step: bool = False
    """Whether the bytes since :meth:`listen` are recognised as this kind's."""

    valid_at: float = 0.0
    """The host's seconds when something last came that a device of this kind says."""

    @property
    @abstractmethod
    def introduced(self) -> bool:
        """Whether the device has said all that its samples need (scale, who it is): from then on it is an igloo."""

    @property
    def foreign(self) -> bool:
        """Whether it speaks as this kind does, and yet is no igloo: what it measures is no acceleration."""
        return False

    @property
    def unit(self) -> int | None:
        """Which sensor igloo the device says it is; 0 for unnamed, None where it knows no units."""
        return None

    @property
    @abstractmethod
    def rate_hz(self) -> float | None:
        """The true sample rate, None while it is not known."""

    @property
    def nominal_hz(self) -> float | None:
        """The rate that the device says it has, where it says one."""
        return None

    @property
    def sensor_state(self) -> int | None:
        """What the device in step says of its sensor (0: all is well), where it says so."""
        return None

    @abstractmethod
    def listen(self) -> None:
        """Begin anew, perhaps at another bit rate: what came so far belongs to nothing that comes now."""

    @abstractmethod
    def feed(self, data: bytes, now: float) -> list[Samples]:
        """Take bytes as they came by host time ``now``, in pieces of any size; return the runs they complete.

        Any bytes at all may come, and only so many may be kept. While the driver is not in step nothing is counted.
        """

    def line_was_lost(self) -> None:
        """Leave step: the port was closed, or this kind is heard no more. Counts go on, and so does time.

        The next run says by ``overflow_before``, or ``gap_before``, what is missing.
        """
        self.in_step = False

    @abstractmethod
    def counts(self) -> LinkCounts:
        """Return all that was counted since the driver was made; ``reconnects`` are for the link to fill in."""

    @abstractmethod
    def state(self, now: float, stale_s: float) -> tuple[DeviceState, str]:
        """Return how the device does that is in step, with a sentence of :mod:`companion.igloo.messages` or none.

        After ``stale_s`` without samples it is silent; that nothing at all arrives is for the link to say.
        """

    def set_up_again(self) -> bytes:
        """Return what tells the device to set its sensor up again; nothing where this kind cannot."""
        return b""

    def name_unit(self, unit: int) -> bytes:
        """Return what tells the device which sensor igloo it is; nothing where this kind knows no units."""
        del unit
        return b""
