"""The igloo's serial stream, version 1, without any I/O: COBS, CRC and frames, both ways.

A frame on the wire is its body (type u8, seq u16, payload), a CRC-16/MCRF4XX, both COBS-encoded, and a 0x00.
Integers are little-endian. :class:`FrameReader` takes bytes as they come, in pieces of any size, and is in step
after one delimiter; what fails its CRC or its shape is counted in ``corrupt`` and never handed on.
"""

from __future__ import annotations

import struct
from binascii import crc_hqx
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import IntEnum, IntFlag

from companion.ports import BadDataError

MAX_SAMPLES = 16
"""Samples that one DATA frame may carry."""

MAX_CHECKED = 111
"""Bytes of body and CRC that version 1 sends at most, so that no COBS code 0xFF occurs."""

MAX_ENCODED = 256
"""Bytes between two delimiters that a reader bears with; longer is babble. (Version 1 sends at most 112.)"""

BAUDS = (500_000, 1_000_000, 250_000)
"""The bit rates an igloo may speak at, the usual one first."""

SENSOR_DEVID = 0xE5
"""What an ADXL345 answers when asked who it is (data sheet, register 0x00)."""


class BadFrameError(BadDataError):
    """Bytes that are no frame."""


class FrameType(IntEnum):
    """The types of frame that version 1 knows."""

    HELLO = 1
    DATA = 2
    STATUS = 3


class Flag(IntFlag):
    """What a DATA frame says of what went before its samples."""

    OVERFLOW = 1
    DROPPED = 2
    SET_UP_AGAIN = 4


class SensorState(IntEnum):
    """The state byte of a STATUS frame."""

    OK = 0
    NO_SENSOR = 1
    NOT_SET_UP = 2
    LOST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Framed:
    """What every frame has: on the wire ``seq``, its number (u16, wraps); from the reader ``corrupt_before``.

    That is how many pieces of the line between this frame and the one before were no frames.
    """

    seq: int = field(kw_only=False)
    corrupt_before: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Hello(Framed):
    """What the igloo says of itself. ``unit`` is None when the firmware does not know units, 0 when unnamed."""

    fw: int
    devid: int
    bw_rate: int
    data_format: int
    rate_hz: int
    ug_per_lsb: int
    f_cpu: int
    baud: int
    unit: int | None = None


@dataclass(frozen=True, slots=True)
class Data(Framed):
    """One to sixteen samples: ``raw`` is n × (x, y, z) as little-endian int16; ``index`` numbers sample 0.

    ``t_us`` is the device's clock when sample 0 was read from the FIFO; it wraps, as ``index`` does, at 2**32.
    """

    t_us: int
    index: int
    flags: int
    raw: bytes

    @property
    def n(self) -> int:
        """Return how many samples the frame carries."""
        return len(self.raw) // 6

    @property
    def samples(self) -> tuple[tuple[int, int, int], ...]:
        """Return the samples in LSB, one (x, y, z) each."""
        return tuple(struct.iter_unpack("<hhh", self.raw))

    @classmethod
    def of(cls, seq: int, t_us: int, index: int, flags: int, samples: Iterable[tuple[int, int, int]]) -> Data:
        """Make a frame of samples in LSB."""
        return cls(seq, t_us, index, flags, b"".join(struct.pack("<hhh", *xyz) for xyz in samples))


@dataclass(frozen=True, slots=True)
class Status(Framed):
    """How the sensor and the device's own buffers are doing; the u16 counters wrap."""

    state: int
    devid: int
    t_us: int
    samples: int
    overruns: int
    tx_dropped: int
    fifo_max: int


@dataclass(frozen=True, slots=True)
class Unknown(Framed):
    """A frame of a type that version 1 does not know; its CRC was right."""

    type: int
    payload: bytes


Frame = Hello | Data | Status | Unknown

_HEAD = struct.Struct("<BH")
_HELLO = struct.Struct("<BBBBHHII")
_UNIT = struct.Struct("<H")
_DATA = struct.Struct("<IIBB")
_STATUS = struct.Struct("<BBIIHHB")
_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


def crc16(data: bytes) -> int:
    """Return the CRC-16/MCRF4XX of ``data`` (reflected 0x8408, init 0xFFFF, no final xor).

    The standard library has the same polynomial unreflected, in C; reflecting bytes and result is all it takes.

    >>> hex(crc16(b"123456789"))
    '0x6f91'
    """
    crc = crc_hqx(data.translate(_REVERSED), 0xFFFF)
    return _REVERSED[crc & 0xFF] << 8 | _REVERSED[crc >> 8]


def cobs_encode(data: bytes) -> bytes:
    r"""Return ``data`` without zeros, not delimited.

    >>> cobs_encode(b"\x11\x00\x22")
    b'\x02\x11\x02"'
    """
    out = bytearray()
    for part in data.split(b"\0"):
        rest = part
        while len(rest) >= 254:
            out.append(0xFF)
            out += rest[:254]
            rest = rest[254:]
        out.append(len(rest) + 1)
        out += rest
    return bytes(out)


def cobs_decode(data: bytes) -> bytes:
    """Return what was encoded in ``data`` (one frame, without its delimiter).

    :raises BadFrameError: when it is empty, has a zero inside or ends within a block.
    """
    size = len(data)
    out = bytearray()
    at = 0
    while at < size:
        code = data[at]
        end = at + code
        if code == 0 or end > size:
            raise BadFrameError("The bytes are not COBS.")
        out += data[at + 1 : end]
        at = end
        if code != 0xFF and at < size:
            out.append(0)
    if not size or 0 in data:
        raise BadFrameError("The bytes are not COBS.")
    return bytes(out)


def parse(body: bytes) -> Frame:
    """Return the frame of a body whose CRC was right and is already taken off.

    :raises BadFrameError: when the body does not have the shape of its type.
    """
    size = len(body)
    if size < _HEAD.size:
        raise BadFrameError("The frame is too short for any type.")
    kind, seq = _HEAD.unpack_from(body)
    start = _HEAD.size
    if kind == FrameType.DATA:
        if size >= start + _DATA.size:
            t_us, index, flags, n = _DATA.unpack_from(body, start)
            raw = body[start + _DATA.size :]
            if 1 <= n <= MAX_SAMPLES and len(raw) == 6 * n:
                return Data(seq, t_us, index, flags, raw)
        raise BadFrameError("The DATA frame does not have the length that it says.")
    if kind == FrameType.HELLO:
        if size < start + _HELLO.size:
            raise BadFrameError("The HELLO frame is too short.")
        end = start + _HELLO.size
        unit = _UNIT.unpack_from(body, end)[0] if size >= end + _UNIT.size else None
        fw, devid, bw_rate, data_format, rate_hz, ug_per_lsb, f_cpu, baud = _HELLO.unpack_from(body, start)
        return Hello(seq, fw, devid, bw_rate, data_format, rate_hz, ug_per_lsb, f_cpu, baud, unit)
    if kind == FrameType.STATUS:
        if size < start + _STATUS.size:
            raise BadFrameError("The STATUS frame is too short.")
        return Status(seq, *_STATUS.unpack_from(body, start))
    return Unknown(seq, kind, body[start:])


def body_of(frame: Frame) -> bytes:
    """Return the body of a frame, as :func:`parse` reads it.

    :raises BadFrameError: when a field does not fit into its place on the wire.
    """
    try:
        match frame:
            case Data():
                if not 1 <= frame.n <= MAX_SAMPLES or len(frame.raw) % 6:
                    raise BadFrameError(f"A DATA frame carries 1 to {MAX_SAMPLES} samples.")
                kind, payload = FrameType.DATA, _DATA.pack(frame.t_us, frame.index, frame.flags, frame.n) + frame.raw
            case Hello():
                kind = FrameType.HELLO
                payload = _HELLO.pack(
                    frame.fw,
                    frame.devid,
                    frame.bw_rate,
                    frame.data_format,
                    frame.rate_hz,
                    frame.ug_per_lsb,
                    frame.f_cpu,
                    frame.baud,
                ) + (b"" if frame.unit is None else _UNIT.pack(frame.unit))
            case Status():
                kind = FrameType.STATUS
                payload = _STATUS.pack(
                    frame.state,
                    frame.devid,
                    frame.t_us,
                    frame.samples,
                    frame.overruns,
                    frame.tx_dropped,
                    frame.fifo_max,
                )
            case Unknown():
                return _HEAD.pack(frame.type, frame.seq) + frame.payload
        return _HEAD.pack(kind, frame.seq) + payload
    except struct.error as error:
        raise BadFrameError(f"A field of the frame does not fit: {error}.") from None


def encode(frame: Frame) -> bytes:
    """Return a frame as it goes over the wire, with its delimiter.

    :raises BadFrameError: when a field does not fit, or the frame is longer than version 1 allows.
    """
    body = body_of(frame)
    if len(body) + 2 > MAX_CHECKED:
        raise BadFrameError(f"Body and CRC are {len(body) + 2} bytes; version 1 allows {MAX_CHECKED}.")
    return cobs_encode(body + crc16(body).to_bytes(2, "little")) + b"\0"


def decode(encoded: bytes) -> Frame:
    """Return the frame of the bytes between two delimiters.

    :raises BadFrameError: when COBS, CRC or shape is wrong.
    """
    checked = cobs_decode(encoded)
    body = checked[:-2]
    if len(checked) < 2 or crc16(body) != checked[-2] | checked[-1] << 8:
        raise BadFrameError("The frame's CRC is wrong.")
    return parse(body)


class FrameReader:
    """Bytes in, frames out; in step after one delimiter, at any time in bounded memory.

    ``corrupt`` counts what lay between two delimiters and was no frame. The bytes before the first delimiter may
    be the end of a frame whose beginning was never ours: if they are no frame they count in ``cut``, not as corrupt.
    """

    def __init__(self) -> None:
        self.corrupt = 0
        self._corrupt_placed = 0
        self.cut = 0
        self.frames = 0
        self._tail = b""
        self._in_step = False
        self._skipping = False

    def feed(self, data: bytes) -> list[Frame]:
        """Return the frames that ``data`` completes, in their order."""
        frames: list[Frame] = []
        parts = (self._tail + data).split(b"\0")
        self._tail = parts.pop()
        for part in parts:
            if self._skipping:
                # The end of a stretch without delimiters that was given up, and counted, when it grew too long.
                self._skipping = False
            elif len(part) > MAX_ENCODED:
                self._bad()
            elif part:  # delimiters in a row say nothing
                try:
                    frames.append(self._placed(decode(part)))
                except BadFrameError:
                    self._bad()
            self._in_step = True
        if len(self._tail) > MAX_ENCODED:
            if not self._skipping:
                self._bad()
            self._skipping = True
            self._tail = b""
        self.frames += len(frames)
        return frames

    def _placed(self, frame: Frame) -> Frame:
        corrupt, self._corrupt_placed = self.corrupt - self._corrupt_placed, self.corrupt
        return replace(frame, corrupt_before=corrupt) if corrupt else frame

    def _bad(self) -> None:
        if self._in_step:
            self.corrupt += 1
        else:
            self.cut += 1
