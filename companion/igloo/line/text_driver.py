"""The driver of boards that print, ``text``: a sample a line, as :mod:`companion.igloo.line.text_protocol` reads it.

For another way to print three numbers a line, inherit from it and say another ``name`` and another ``parse``.
"""

from __future__ import annotations

from companion.igloo import messages
from companion.igloo.line.driver import COUNTABLE_HZ, Driver
from companion.igloo.line.text_protocol import LineReader, Row, TextStream, parse_line
from companion.ports import DeviceState, LinkCounts, Samples

RECOGNISED_LINES = 5
"""So many good lines in a row are no chance."""


class TextDriver(Driver):
    """In step after five good lines in a row; introduced when gravity has told the unit. Writes nothing, ever."""

    name = "text"
    bauds = (115_200,)

    def __init__(self) -> None:
        self._reader, self._stream = LineReader(self.parse), TextStream()
        self._good = 0

    @staticmethod
    def parse(line: bytes) -> Row | None:
        """Return the three numbers of a line without its end, or None when it is no sample."""
        return parse_line(line)

    @property
    def introduced(self) -> bool:
        """Whether the unit of its numbers is known."""
        return self._stream.unit_g is not None

    @property
    def foreign(self) -> bool:
        """Whether the numbers rest where no gravity does."""
        return self._stream.not_acceleration

    @property
    def rate_hz(self) -> float | None:
        """The rate at which lines arrive."""
        return self._stream.rate_hz

    def listen(self) -> None:
        """Wait for the end of a line, and good ones after it."""
        self._reader = LineReader(self.parse)
        self._good = 0

    def feed(self, data: bytes, now: float) -> list[Samples]:
        """Take lines apart, and make samples of them."""
        rows = self._reader.feed(data)
        if not self.in_step:
            for row in rows:
                self._good = self._good + 1 if row is not None else 0
            if self._good < RECOGNISED_LINES:
                return []
            self.in_step = True
        if any(row is not None for row in rows):
            self.valid_at = now
        return self._stream.feed(rows, now)

    def line_was_lost(self) -> None:
        """Forget rate and unit: another board, or another sketch, may follow."""
        self._stream.line_was_lost()
        self.in_step = False

    def counts(self) -> LinkCounts:
        """Return what the stream counted."""
        return self._stream.counts()

    def state(self, now: float, stale_s: float) -> tuple[DeviceState, str]:
        """Return what is known of the numbers; while lines come, samples do."""
        del now, stale_s
        if self._stream.not_acceleration:
            return DeviceState.FAULTY, messages.NOT_ACCELERATION
        if self._stream.rate_is_nonsense:
            return DeviceState.FAULTY, messages.NO_CLOCK
        if self._stream.unit_g is None:
            return DeviceState.SEARCHING, messages.UNIT_UNKNOWN
        rate = self._stream.rate_hz
        return DeviceState.CONNECTED, messages.TOO_SLOW if rate is not None and rate < COUNTABLE_HZ else ""
