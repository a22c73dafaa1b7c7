"""A reader of the line for the firmware's tests: slow, strict, and from the protocol's text alone."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Data:
    seq: int
    t_us: int
    index: int
    flags: int
    samples: np.ndarray


@dataclass
class Hello:
    seq: int
    fw: int
    devid: int
    bw_rate: int
    data_format: int
    rate_hz: int
    ug_per_lsb: int
    f_cpu: int
    baud: int
    unit: int


@dataclass
class Status:
    seq: int
    state: int
    devid: int
    t_us: int
    samples: int
    overruns: int
    tx_dropped: int
    fifo_max: int


def crc(data: bytes) -> int:
    value = 0xFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x8408 if value & 1 else 0)
    return value


def uncobs(frame: bytes) -> bytes:
    out, at = bytearray(), 0
    while at < len(frame):
        code = frame[at]
        assert 0 < code < 0xFF and at + code <= len(frame), "a COBS code leads astray"
        out += frame[at + 1 : at + code]
        at += code
        if at < len(frame):
            out.append(0)
    return bytes(out)


def decode(frame: bytes) -> Data | Hello | Status:
    body = uncobs(frame)
    assert 5 <= len(body) <= 111, "a frame is too short or too long"
    assert crc(body[:-2]) == int.from_bytes(body[-2:], "little"), "a CRC is wrong"
    kind, seq = struct.unpack_from("<BH", body)
    payload = body[3:-2]
    if kind == 1:
        return Hello(seq, *struct.unpack("<BBBBHHIIH", payload))
    if kind == 3:
        return Status(seq, *struct.unpack("<BBIIHHB", payload))
    assert kind == 2, f"type {kind}"
    t_us, index, flags, n = struct.unpack_from("<IIBB", payload)
    assert 1 <= n <= 16 and len(payload) == 10 + 6 * n
    return Data(seq, t_us, index, flags, np.frombuffer(payload[10:], "<i2").reshape(n, 3))


@dataclass
class Reading:
    """All that a stretch of the line says. ``seq_gaps``: numbers skipped; ``index_gaps``: samples skipped."""

    hellos: list[Hello] = field(default_factory=list)
    statuses: list[Status] = field(default_factory=list)
    datas: list[Data] = field(default_factory=list)
    seq_gaps: int = 0
    index_gaps: int = 0

    @property
    def flags(self) -> int:
        out = 0
        for data in self.datas:
            out |= data.flags
        return out

    @property
    def samples(self) -> np.ndarray:
        return np.concatenate([data.samples for data in self.datas]) if self.datas else np.zeros((0, 3), np.int16)


def frames(wire: bytes, *, from_the_middle: bool = False) -> Iterator[Data | Hello | Status]:
    parts = wire.split(b"\0")[:-1]  # what comes after the last delimiter is not whole
    for frame in parts[1 if from_the_middle else 0 :]:
        yield decode(frame)


def read(wire: bytes, *, from_the_middle: bool = False) -> Reading:
    out = Reading()
    seq = index = None
    for frame in frames(wire, from_the_middle=from_the_middle):
        if seq is not None:
            out.seq_gaps += (frame.seq - seq - 1) % 65536
        seq = frame.seq
        if isinstance(frame, Hello):
            out.hellos.append(frame)
        elif isinstance(frame, Status):
            out.statuses.append(frame)
        else:
            if index is not None:
                out.index_gaps += (frame.index - index) % 2**32
            index = frame.index + len(frame.samples)
            out.datas.append(frame)
    return out
