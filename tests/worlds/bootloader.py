"""A board on a pseudo-terminal: a boot loader that speaks STK500 version 1, then the igloo's first words.

The protocol is Atmel's application note AVR061, as far as avrdude's programmer "arduino" uses it. The memory is real
memory: what is written is what is read back, unless the test spoils it.
"""

from __future__ import annotations

import contextlib
import os
import pty
import select
import termios
import threading
import time
import tty

from companion.igloo.line.protocol import SENSOR_DEVID, Data, Hello, SensorState, Status, encode

SPEEDS = {57_600: termios.B57600, 115_200: termios.B115200, 500_000: termios.B500000}
INSYNC, OK, END = 0x14, 0x10, 0x20
PAGE = 128


class Board:
    """``image`` is what lies in the flash; ``speaks`` says whether the program that was written runs as an igloo."""

    def __init__(
        self,
        loader_baud: int,
        *,
        signature: bytes = b"\x1e\x95\x0f",
        speaks: bool = True,
        spoil: int | None = None,
        clock_hz: int = 16_000_000,
    ) -> None:
        self.loader_baud, self.signature, self.speaks, self.spoil = loader_baud, signature, speaks, spoil
        self.clock_hz = clock_hz
        self.image = bytearray(b"\xff" * 32768)
        self.sessions = 0
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.port = os.ttyname(self._slave)
        self._address = 0
        self._seq = 0
        self._flashed = False
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ending.set()
        self._thread.join()
        os.close(self._master)
        os.close(self._slave)

    def _speed(self) -> int:
        return int(termios.tcgetattr(self._slave)[5])

    def _run(self) -> None:
        waiting = b""
        while not self._ending.is_set():
            if select.select([self._master], [], [], 0.02)[0]:
                data = os.read(self._master, 4096)
                if self._speed() == SPEEDS[self.loader_baud]:
                    waiting += data
                    waiting = self._answer(waiting)
                continue
            if self._flashed and self.speaks and self._speed() == SPEEDS[500_000]:
                self._speak()

    def _speak(self) -> None:
        now = time.monotonic_ns() // 1000 & 0xFFFFFFFF
        hello = Hello(
            seq=self._seq,
            fw=1,
            devid=SENSOR_DEVID,
            bw_rate=0x0F,
            data_format=0x0B,
            rate_hz=3200,
            ug_per_lsb=3906,
            f_cpu=self.clock_hz,
            baud=500_000,
            unit=7,
        )
        frames = [hello, Status(self._seq + 1, SensorState.OK, SENSOR_DEVID, now, 0, 0, 0, 16)]
        frames += [
            Data.of(self._seq + 2 + n, now + n * 5000, self._seq * 16 + n * 16, 0, [(0, 0, 256)] * 16) for n in range(4)
        ]
        self._seq += len(frames)
        if select.select([], [self._master], [], 0)[1]:
            with contextlib.suppress(BlockingIOError):
                os.write(self._master, b"".join(encode(frame) for frame in frames))
        self._ending.wait(0.02)  # as long as four frames of samples take

    def _answer(self, data: bytes) -> bytes:
        """Answer every whole command; return what is left."""
        while data:
            length = self._length(data)
            if length is None or len(data) < length:
                return data
            command, data = data[:length], data[length:]
            if command[-1] == END:
                os.write(self._master, bytes([INSYNC, *self._do(command), OK]))
        return data

    @staticmethod
    def _length(data: bytes) -> int | None:
        fixed = {0x30: 2, 0x41: 3, 0x42: 22, 0x45: 7, 0x50: 2, 0x51: 2, 0x55: 4, 0x56: 6, 0x74: 5, 0x75: 2, 0x40: 3}
        if data[0] == 0x64:
            return None if len(data) < 3 else 5 + int.from_bytes(data[1:3], "big")
        return fixed.get(data[0], 1)

    def _do(self, command: bytes) -> bytes:
        match command[0]:
            case 0x41:
                return {0x80: b"\x02", 0x81: b"\x01", 0x82: b"\x12"}.get(command[1], b"\x03")
            case 0x50:
                self.sessions += 1
            case 0x51:
                self._flashed = self.image[0] != 0xFF
            case 0x55:
                self._address = 2 * int.from_bytes(command[1:3], "little")
            case 0x56:
                return b"\x00"
            case 0x64:
                count = int.from_bytes(command[1:3], "big")
                self.image[self._address : self._address + count] = command[4 : 4 + count]
                if self.spoil is not None:
                    self.image[self.spoil] ^= 1
            case 0x74:
                count = int.from_bytes(command[1:3], "big")
                return bytes(self.image[self._address : self._address + count])
            case 0x75:
                return self.signature
        return b""
