"""The driver of what our own firmware speaks, ``igloo-1``: frames, as :mod:`companion.igloo.line.protocol` has them."""

from __future__ import annotations

from dataclasses import replace

from companion.igloo import messages
from companion.igloo.line.driver import COUNTABLE_HZ, Driver
from companion.igloo.line.glitches import LEAST_HZ, GlitchFilter
from companion.igloo.line.protocol import BAUDS, SENSOR_DEVID, FrameReader, SensorState, Unknown
from companion.igloo.line.samples import FrameStream
from companion.ports import DeviceState, LinkCounts, Samples

_SENSOR_NOTES: dict[int, str] = {
    SensorState.NO_SENSOR: messages.NO_SENSOR,
    SensorState.NOT_SET_UP: messages.NOT_SET_UP,
    SensorState.LOST: messages.SENSOR_LOST,
}


class FrameDriver(Driver):
    """In step at the first frame of a type that it knows; introduced by a HELLO."""

    name = "igloo-1"
    bauds = BAUDS
    greeting = b"h"

    def __init__(self) -> None:
        self._reader, self._stream, self._glitches = FrameReader(), FrameStream(), GlitchFilter()
        self._corrupt_from = self._corrupt_before = 0

    @property
    def introduced(self) -> bool:
        """Whether a HELLO came since the line was there."""
        return self._stream.hello is not None

    @property
    def unit(self) -> int | None:
        """The unit of the HELLO."""
        return self._stream.hello.unit if self._stream.hello is not None else None

    @property
    def rate_hz(self) -> float | None:
        """The rate fitted from index against device time."""
        return self._stream.rate_hz

    @property
    def nominal_hz(self) -> float | None:
        """The rate of the HELLO."""
        return self._stream.nominal_hz

    @property
    def sensor_state(self) -> int | None:
        """The state of the last STATUS."""
        return self._stream.status.state if self._stream.status is not None and self.in_step else None

    def listen(self) -> None:
        """Wait for a delimiter, and a frame after it."""
        self._reader = FrameReader()

    def feed(self, data: bytes, now: float) -> list[Samples]:
        """Take frames apart, and make samples of them."""
        frames = self._reader.feed(data)
        known = any(not isinstance(frame, Unknown) for frame in frames)
        if known and not self.in_step:
            self.in_step = True
            self._corrupt_from = self._reader.corrupt
        if not self.in_step:
            return []
        if known:
            self.valid_at = now
        return self._glitches.feed(self._stream.feed(frames, now), told=self._tells_glitches)

    def line_was_lost(self) -> None:
        """Keep what was counted; what follows must introduce itself again."""
        self._corrupt_before = self._corrupt()
        self._stream.line_was_lost()
        self.in_step = False

    def counts(self) -> LinkCounts:
        """Return what the stream counted, and what was no frame since this was in step."""
        counts = self._stream.counts()
        return replace(counts, corrupt=self._corrupt(), glitches=counts.glitches + self._glitches.count)

    def state(self, now: float, stale_s: float) -> tuple[DeviceState, str]:
        """Return what the sensor says of itself, then what its frames do."""
        stream = self._stream
        if stream.status is not None and stream.status.state != SensorState.OK:
            return DeviceState.FAULTY, _SENSOR_NOTES.get(stream.status.state, messages.NO_SENSOR)
        if stream.hello is None:
            return DeviceState.SEARCHING, messages.NO_HELLO
        if stream.scale_is_nonsense:
            return DeviceState.FAULTY, messages.BAD_SCALE
        if stream.clock_is_nonsense:
            return DeviceState.FAULTY, messages.NO_CLOCK
        if stream.data_at is None or now - stream.data_at > stale_s:
            return DeviceState.SILENT, messages.NO_SAMPLES
        slow = (stream.rate_hz or stream.nominal_hz or COUNTABLE_HZ) < COUNTABLE_HZ
        return DeviceState.CONNECTED, messages.TOO_SLOW if slow else ""

    def set_up_again(self) -> bytes:
        """Return the command for it."""
        return b"r"

    def name_unit(self, unit: int) -> bytes:
        """Return the command for it, and ask for a HELLO, which then has the unit."""
        return b"u" + unit.to_bytes(2, "little") + b"h"

    @property
    def _tells_glitches(self) -> bool:
        """Whether neighbours are as near each other, and the low-pass as is known, that a blow does not look wild."""
        hello = self._stream.hello
        return hello is not None and hello.devid == SENSOR_DEVID and hello.rate_hz >= LEAST_HZ

    def _corrupt(self) -> int:
        return self._corrupt_before + (self._reader.corrupt - self._corrupt_from if self.in_step else 0)
