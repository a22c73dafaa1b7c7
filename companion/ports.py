"""What travels between the rooms: frozen values, and the Protocols of devices.

This module imports nothing of ours, so that every room can know it without knowing another. Arrays are
numpy arrays, imported for type checking only: a reader of values need not pay for numpy.

Times named ``t`` are seconds on the host's monotonic clock (:func:`time.monotonic`); accelerations are in g.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypedDict, TypeVar, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    ByteArray = NDArray[np.uint8]

_T = TypeVar("_T")
_log = logging.getLogger(__name__)

COUNTS = range(2, 14)
"""The bead counts of the twelve igloos (POP-K.1)."""


class CompanionError(Exception):
    """The base of the errors this project raises; each also inherits the builtin that fits."""


class DeviceError(CompanionError, OSError):
    """A device is missing, was lost, or is not what it should be."""


class BadDataError(CompanionError, ValueError):
    """Input from outside that cannot be what it claims to be; the message is one clear sentence."""


class ShortMemoryError(BadDataError, MemoryError):
    """The machine has too little memory left for what was asked now; later it may do."""


class DeviceKind(StrEnum):
    """Where a device's words come from. What is not real is marked so for ever."""

    REAL = "real"
    RECORDED = "recorded"
    SIMULATED = "simulated"


class DeviceState(StrEnum):
    """How a device is doing."""

    MISSING = "missing"
    SEARCHING = "searching"
    CONNECTED = "connected"
    SILENT = "silent"
    FAULTY = "faulty"


# --- the igloo -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Samples:
    """A run of accelerometer samples without a gap inside.

    ``accel`` has shape (n, 3), in g. ``t0`` is the reconstructed host time of sample 0 in seconds and
    ``rate_hz`` the fitted true rate, so sample i was taken at ``t0 + i / rate_hz``. ``index`` is the device's
    number of sample 0, unwrapped. ``gap_before`` says how many samples are known to be missing before this
    run (0: none), ``overflow_before`` that an unknown number may be missing (the sensor's FIFO overflowed).
    """

    accel: FloatArray
    t0: float
    rate_hz: float
    index: int
    gap_before: int = 0
    overflow_before: bool = False


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """Everything that went wrong on the line, counted since the link was opened; nothing is hidden.

    ``samples`` arrived; ``lost`` are known to be missing by their index; ``corrupt`` frames failed their CRC or
    their shape; ``overflows`` marks where the sensor's FIFO lost an unknown number; ``dropped_frames`` the
    device dropped for a full buffer; ``unknown`` frames were of a type we do not know; ``reconnects`` how often
    the line came back. ``missing_frames`` vanished on the line without a trace but their number; ``repeated``
    frames came twice; ``rejected`` samples arrived with a right CRC but cannot be true or cannot be used (no time
    base, no scale, beyond the sensor's range); ``glitches`` are single wild samples among good ones, which a flipped
    bit makes and no impact does; ``resets`` counts how often the device or its sensor began anew.
    """

    samples: int = 0
    lost: int = 0
    corrupt: int = 0
    overflows: int = 0
    dropped_frames: int = 0
    unknown: int = 0
    reconnects: int = 0
    missing_frames: int = 0
    repeated: int = 0
    rejected: int = 0
    resets: int = 0
    glitches: int = 0


@dataclass(frozen=True, slots=True)
class IglooStatus:
    """What the page says of one igloo link. ``key`` is stable for a device; ``note`` is one sentence (English).

    ``protocol`` is the name of the driver that reads it, empty while none does.
    """

    key: str
    kind: DeviceKind
    state: DeviceState
    port: str = ""
    unit: int | None = None
    rate_hz: float | None = None
    nominal_hz: float | None = None
    protocol: str = ""
    counts: LinkCounts = field(default_factory=LinkCounts)
    sensor_state: int | None = None
    note: str = ""


class MotionState(StrEnum):
    """What the hand is doing with the igloo."""

    UNKNOWN = "unknown"
    REST = "rest"
    LIFTED = "lifted"
    CARRIED = "carried"
    SHAKEN = "shaken"
    TURNED = "turned"
    SET_DOWN = "set-down"
    KNOCKED = "knocked"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Motion:
    """A change of motion: ``state`` began at ``t`` (host seconds); ``tilt_deg`` is the angle from the rest pose."""

    key: str
    state: MotionState
    t: float
    kind: DeviceKind
    tilt_deg: float | None = None


class PosteriorForm(TypedDict):
    """What ``shake count --json`` says of a file: ``posterior`` is by count, null where nothing was counted."""

    state: str
    count: int | None
    posterior: dict[str, float] | None
    seconds: float
    why: str


@dataclass(frozen=True, slots=True)
class CountPosterior:
    """A count is a distribution: ``p`` has 12 probabilities, for 2 … 13 beads, summing to 1.

    ``state`` is ``counted``, ``more`` (a first idea, shake on), ``not-a-shake`` or ``bad-data``; ``p`` is empty
    for the last two. ``seconds`` of shaking were used. ``why`` is one sentence (English).
    """

    state: str
    p: tuple[float, ...] = ()
    seconds: float = 0.0
    why: str = ""
    key: str = ""
    kind: DeviceKind = DeviceKind.REAL
    t: float = 0.0

    @property
    def count(self) -> int | None:
        """The most likely number of beads, or None."""
        if not self.p:
            return None
        return COUNTS.start + max(range(len(self.p)), key=self.p.__getitem__)

    def to_json(self) -> PosteriorForm:
        """Return the documented form of ``shake count --json``, without the file's name."""
        posterior = {str(n): round(p, 6) for n, p in zip(COUNTS, self.p, strict=False)} or None
        return {
            "state": self.state,
            "count": self.count,
            "posterior": posterior,
            "seconds": round(self.seconds, 3),
            "why": self.why,
        }


@dataclass(frozen=True, slots=True)
class CountGate:
    """The one place where it is asked whether anything that reveals a count may pass.

    ``hides()`` tells whether a round of Igloo Pop is live: from its start to the first igloo that its check reveals. A
    count then would replace the ear that the game tests. The gate is shut too where that cannot be told.
    """

    hides: Callable[[], bool]

    def is_open(self) -> bool:
        """Return whether what reveals a count may pass now."""
        try:
            return not self.hides()
        except Exception:
            _log.exception("Whether a round is live cannot be told: nothing that reveals a count is shown.")
            return False

    def through(self, revealing: _T, shut: _T) -> _T:
        """Return what reveals a count, or where the gate is shut the other.

        Both are made before the gate is asked: a round that began while they were made hides it.
        """
        return revealing if self.is_open() else shut


@runtime_checkable
class IglooLink(Protocol):
    """One igloo's line, real, recorded or simulated. Callbacks come from the link's own thread."""

    def status(self) -> IglooStatus:
        """Return how the link is doing now."""
        ...

    def subscribe(self, listener: Callable[[Samples], None]) -> Callable[[], None]:
        """Call ``listener`` with every run of samples; return what ends the subscription."""
        ...

    def close(self) -> None:
        """Stop the thread and free the port."""
        ...


class SimulatedAction(StrEnum):
    """What a person can do with a simulated igloo on the page."""

    SHAKE = "shake"
    LIFT = "lift"
    TURN_OVER = "turn_over"
    SET_DOWN = "set_down"
    UNPLUG = "unplug"
    REPLUG = "replug"


# --- the camera ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture: ``image`` is (height, width, 3) BGR, uint8; ``t`` is host seconds; ``number`` counts up."""

    image: ByteArray
    t: float
    number: int
    source: str
    kind: DeviceKind


@dataclass(frozen=True, slots=True)
class CameraStatus:
    """What the page says of the camera. ``note`` is one sentence (English), ``detail`` the system's own words to it.

    ``skipped`` counts pictures that came broken.
    """

    source: str
    kind: DeviceKind
    state: DeviceState
    width: int = 0
    height: int = 0
    fps: float = 0.0
    note: str = ""
    detail: str = ""
    skipped: int = 0


@runtime_checkable
class CameraSource(Protocol):
    """Where frames come from: a USB camera, an HTTP stream, a photo, a folder, a rendered table."""

    @property
    def name(self) -> str:
        """Return the source as a person would name it."""
        ...

    @property
    def kind(self) -> DeviceKind:
        """Return real, recorded or simulated."""
        ...

    def frames(self) -> Iterator[Frame]:
        """Yield frames as they come; raise :class:`DeviceError` when the device is lost."""
        ...

    def close(self) -> None:
        """Free the device; a running :meth:`frames` ends."""
        ...


@dataclass(frozen=True, slots=True)
class TableView:
    """The straightened table: ``image`` is BGR; ``corners`` are the four outer corners in the frame's pixels.

    ``markers`` maps the ids found to their four corners; ``missing`` lists the ids not found. ``image`` is None
    when fewer than four markers were found. ``note`` is one sentence (English).
    """

    markers: Mapping[int, tuple[tuple[float, float], ...]]
    missing: tuple[int, ...]
    corners: tuple[tuple[float, float], ...] = ()
    image: ByteArray | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class TableStatus:
    """What the newest picture shows of the markers: ids found and missing, in order.

    ``straight`` says whether the straightened table exists; ``number`` counts pictures up, so that a page knows
    when to fetch a new one; ``note`` is one sentence (English) or empty.
    """

    markers: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    straight: bool = False
    number: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class EvidencePicture:
    """A picture kept beside the journal, named by its SHA-256; it never goes through the journal itself."""

    sha256: str
    suffix: str
    width: int
    height: int
    source: str
    kind: DeviceKind
    markers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PlaceEvidence:
    """For one place: log-likelihoods of what may lie there; a missing entry is impossible, no entry is flat."""

    place: str
    log_likelihood: Mapping[object, float]
