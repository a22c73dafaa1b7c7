"""A simulated igloo: stored shakes and made-up handling, spoken in the real protocol through a pseudo-terminal.

It goes the whole way that a real one goes (bytes, port, link), so everything works without hardware; and nobody
can take it for a real one, because what speaks through a pseudo-terminal is *simulated* for every reader.
:class:`SimulatedDevice` is the device without time and without I/O; :class:`SimulatedIgloo` runs it on a thread.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
import tty
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from math import pi
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from companion.igloo.line.protocol import MAX_SAMPLES, SENSOR_DEVID, Data, Flag, Hello, SensorState, Status, encode
from companion.igloo.simulated import BANK, GUIDED
from companion.igloo.simulated.gestures import FloatArray, Hand, resampled, rotation, up
from companion.ports import COUNTS, BadDataError, DeviceError

TICK_S = 0.02
"""How often the simulated igloo writes."""

BEHIND_S = 1.0
"""When the machine slept longer than this, the simulated FIFO overflowed."""

MAX_SHAKE_S = 30.0

NOMINAL_HZ = 3200

RATE_ERROR = 0.04
"""How far a sensor's true rate may be off its nominal one, as a part of it; real ones are a few % off."""

_BAUD = 500_000
_JITTER_S = 0.002
_LIMIT_LSB = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Bank:
    """Stored shakes of one igloo: ``accel`` (k, n, 3) in LSB at the true ``rate_hz``, ``count`` (k,) beads.

    ``up`` is where up was for its sensor, which may be mounted in any way; handling is felt in the same way.
    """

    accel: NDArray[np.int16]
    count: NDArray[np.int64]
    rate_hz: float
    ug_per_lsb: float
    up: FloatArray


def load_bank(path: Path = BANK) -> Bank:
    """Return the bank of a file, or the one that comes with the companion.

    :raises DeviceError: when it is missing or is no bank.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            accel, count = arrays["accel"].astype(np.int16), arrays["count"].astype(np.int64)
            rate, scale = float(arrays["rate_hz"]), float(arrays["ug_per_lsb"])
            resting = arrays["move_rest"] if "move_rest" in arrays else accel.reshape(-1, accel.shape[-1])
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise DeviceError(f"The bank of stored shakes cannot be read: {error}.") from None
    if accel.ndim != 3 or accel.shape[2] != 3 or count.shape != accel.shape[:1] or rate <= 0.0 or scale <= 0.0:
        raise DeviceError("The bank of stored shakes does not have the shape of one.")
    return Bank(accel, count, rate, scale, np.asarray(resting.mean(axis=0), dtype=np.float64))


@cache
def load_guided() -> Bank:
    """Return the stored shakes that follow the beat of the guided count, one of each number of beads.

    :raises DeviceError: when they are missing.
    """
    return load_bank(GUIDED)


class SimulatedDevice:
    """The igloo's board and the hand that holds it, sample by sample; nothing here waits or reads a clock.

    :meth:`advance` makes time pass and returns what the board sends meanwhile. Without a ``bank`` of its own it has the
    one that comes with the companion, and a clock of its own: its true ``rate_hz`` is drawn by ``seed``, within
    ``RATE_ERROR`` of the nominal one, unless it is given. What is stored at another rate is felt as this sensor would
    have.
    """

    def __init__(
        self,
        bank: Bank | None = None,
        *,
        unit: int = 0,
        seed: int = 0,
        nominal_hz: int = NOMINAL_HZ,
        rate_hz: float | None = None,
    ) -> None:
        drawn = nominal_hz * (1.0 + float(np.random.default_rng([seed, nominal_hz]).uniform(-RATE_ERROR, RATE_ERROR)))
        self.rate_hz = rate_hz or (drawn if bank is None else bank.rate_hz)
        self.bank = bank or load_bank()
        self.unit = unit
        self.nominal_hz = nominal_hz
        self.state = SensorState.OK
        self._rng = np.random.default_rng(seed)
        self._hand = Hand(self.rate_hz, self._rng)
        self._mounted = rotation(up(0.0), self.bank.up)
        self._tilt = 0.0
        self._held = False
        self._queue: list[NDArray[np.int16]] = []
        self._idle = self._stored(self._hand.rest(0.0))
        self._idle_at = 0
        self.boot()

    # --- the hand ------------------------------------------------------------------------------------------------

    @property
    def left(self) -> int:
        """Return how many samples the hand is still busy for."""
        return sum(len(part) for part in self._queue)

    def _stored(self, felt: FloatArray) -> NDArray[np.int16]:
        """Return accelerations as the sensor gives them: whole LSB, the lowest bit 0, within ±16 g."""
        lsb = 2.0 * np.rint(felt @ self._mounted.T / (self.bank.ug_per_lsb * 2e-6))
        return np.clip(lsb, -_LIMIT_LSB, _LIMIT_LSB - 2).astype(np.int16)

    def _do(self, felt: FloatArray) -> None:
        self._queue.append(self._stored(felt))
        self._idle = self._stored(self._hand.hold(self._tilt) if self._held else self._hand.rest(self._tilt))
        self._idle_at = 0

    def shake(self, count: int, seconds: float) -> None:
        """Shake so many beads, in the hand (it is lifted first); then it is held still.

        :raises BadDataError: when the count is not 2 … 13, the bank has none of it, or the time is absurd.
        """
        if count not in COUNTS or not (self.bank.count == count).any():
            raise BadDataError(f"{count} beads cannot be shaken; an igloo holds {COUNTS.start} to {COUNTS.stop - 1}.")
        if not 0.1 <= seconds <= MAX_SHAKE_S:
            raise BadDataError(f"A shake takes 0.1 to {MAX_SHAKE_S:g} seconds.")
        self.lift()
        self._shake(self.bank, self._mounted, count, seconds)

    def _shake(self, bank: Bank, mounted: FloatArray, count: int, seconds: float) -> None:
        which = self._rng.permutation(np.flatnonzero(bank.count == count))
        needed = int(seconds * bank.rate_hz / (0.5 * bank.accel.shape[1])) + 1
        upright = mounted * (bank.ug_per_lsb * 1e-6)
        stored = (bank.accel[which[i % len(which)]] @ upright for i in range(needed))
        waves = [resampled(wave, bank.rate_hz, self.rate_hz) for wave in stored]
        self._do(self._hand.shake(waves, self._tilt, seconds))

    def follow_beat(self, count: int, seconds: float) -> None:
        """Shake as :meth:`shake`, up and down with the beat of the guided count: another igloo, in the same place.

        :raises BadDataError: when the count is not 2 … 13, or the time is absurd.
        """
        if count not in COUNTS:
            raise BadDataError(f"{count} beads cannot be shaken; an igloo holds {COUNTS.start} to {COUNTS.stop - 1}.")
        if not 0.1 <= seconds <= MAX_SHAKE_S:
            raise BadDataError(f"A shake takes 0.1 to {MAX_SHAKE_S:g} seconds.")
        guided = load_guided()
        self.lift()
        self._shake(guided, rotation(up(0.0), guided.up), count, seconds)

    def lift(self) -> None:
        """Take it up, unless it is in the hand already."""
        if not self._held:
            self._held = True
            self._do(self._hand.lift(self._tilt))

    def carry(self, seconds: float = 1.6) -> None:
        """Carry it to and fro."""
        self.lift()
        self._do(self._hand.carry(self._tilt, seconds))

    def turn_over(self) -> None:
        """Turn it over in the hand: upside down, or upright again."""
        self.lift()
        before, self._tilt = self._tilt, 0.0 if self._tilt else pi
        self._do(self._hand.turn(before, self._tilt))

    def set_down(self) -> None:
        """Put it onto the table, as it is."""
        if self._held:
            self._held = False
            self._do(self._hand.set_down(self._tilt))

    def knock(self) -> None:
        """Knock at the table on which it stands."""
        if not self._held:
            self._do(self._hand.knock(self._tilt))

    def _pull(self, n: int) -> NDArray[np.int16]:
        parts: list[NDArray[np.int16]] = []
        while n > 0 and self._queue:
            part, rest = self._queue[0][:n], self._queue[0][n:]
            if len(rest):
                self._queue[0] = rest
            else:
                self._queue.pop(0)
            parts.append(part)
            n -= len(part)
        while n > 0:
            part = self._idle[self._idle_at : self._idle_at + n]
            self._idle_at = (self._idle_at + len(part)) % len(self._idle)
            parts.append(part)
            n -= len(part)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    # --- the board -----------------------------------------------------------------------------------------------

    def boot(self) -> None:
        """Start the board anew: all its numbers begin at zero."""
        self._seq = self._index = self._taken = self._overruns = self._dropped = 0
        self._flags = Flag(0)
        self._t_us = 0
        self._hello_at = 0
        self._corrupt = self._babble = self._wild = 0
        self._command = b""

    def advance(self, n: int) -> bytes:
        """Let n samples (a multiple of 16 for none to wait) be taken; return the frames that are sent."""
        sent = []
        for start in range(0, n, MAX_SAMPLES):
            if self._taken >= self._hello_at:
                self._hello_at += round(self.rate_hz)
                sent += [self._hello(), self._status()]
            sent.append(self._data(min(MAX_SAMPLES, n - start)))
        return b"".join(sent)

    def receive(self, data: bytes) -> bytes:
        """Take what the host sends; return the answer."""
        answer = b""
        self._command += data
        while self._command:
            head = self._command[0:1]
            if head == b"u":
                if len(self._command) < 3:
                    break
                self.unit = int.from_bytes(self._command[1:3], "little")
                self._command = self._command[2:]
            elif head == b"h":
                answer += self._hello() + self._status()
            elif head == b"r":
                self._flags |= Flag.SET_UP_AGAIN
            self._command = self._command[1:]
        return answer

    def _number(self) -> int:
        seq, self._seq = self._seq, (self._seq + 1) & 0xFFFF
        return seq

    def _hello(self) -> bytes:
        scale = round(self.bank.ug_per_lsb)
        return self._out(
            Hello(self._number(), 1, SENSOR_DEVID, 0x0F, 0x0B, self.nominal_hz, scale, 16_000_000, _BAUD, self.unit)
        )

    def _status(self) -> bytes:
        return self._out(
            Status(
                self._number(),
                self.state,
                SENSOR_DEVID,
                self._t_us & 0xFFFFFFFF,
                self._index & 0xFFFFFFFF,
                self._overruns & 0xFFFF,
                self._dropped & 0xFFFF,
                MAX_SAMPLES,
            )
        )

    def _data(self, n: int) -> bytes:
        raw = self._glitched(self._pull(n).astype("<i2")).tobytes()
        first, self._taken = self._index, self._taken + n
        self._index += n
        read_at = self._taken / self.rate_hz + self._rng.uniform(0.0, _JITTER_S)
        self._t_us = max(self._t_us + 1, int(read_at * 1e6))
        if self.state is not SensorState.OK:
            return b""
        flags, self._flags = int(self._flags), Flag(0)
        return self._out(Data(self._number(), self._t_us & 0xFFFFFFFF, first & 0xFFFFFFFF, flags, raw))

    def _glitched(self, felt: NDArray[np.int16]) -> NDArray[np.int16]:
        """Return what the board read, with a bit flipped where one is to be."""
        if not self._wild or len(felt) < MAX_SAMPLES:
            return felt
        self._wild -= 1
        read = felt.copy()
        read[self._rng.integers(len(read)), self._rng.integers(3)] ^= np.int16(-(1 << self._rng.integers(12, 16)))
        return read

    def _out(self, frame: Hello | Data | Status) -> bytes:
        wire = encode(frame)
        if self._babble > 0:
            self._babble -= 1
            return self._rng.bytes(len(wire))
        if self._corrupt and isinstance(frame, Data):
            self._corrupt -= 1
            at = int(self._rng.integers(len(wire) - 1))
            bit = 1 << int(self._rng.integers(8))
            return wire[:at] + bytes([wire[at] ^ bit or wire[at] ^ bit ^ 0xFF]) + wire[at + 1 :]
        return wire

    # --- what can go wrong ---------------------------------------------------------------------------------------

    def corrupt_frame(self, n: int = 1) -> None:
        """Let a bit of the next DATA frame (or of n) flip on the wire."""
        self._corrupt += n

    def glitch_sample(self, n: int = 1) -> None:
        """Let sign bits of a sample flip between sensor and board, in the next DATA frame (or in one of each of n)."""
        self._wild += n

    def drop_samples(self, n: int) -> None:
        """Drop frames with n samples together, as a board does whose transmit buffer is full."""
        frames = -(-n // MAX_SAMPLES)
        self._pull(n)
        self._taken += n
        self._index += n
        self._seq = (self._seq + frames) & 0xFFFF
        self._dropped += frames
        self._flags |= Flag.DROPPED

    def overflow(self, n: int = 40) -> None:
        """Let n samples be lost in the sensor's FIFO: their time passes, but nothing counts them."""
        self._pull(n)
        self._taken += n
        self._overruns += 1
        self._flags |= Flag.OVERFLOW

    def babble(self, seconds: float) -> None:
        """Send random bytes instead of frames for a while."""
        self._babble += max(1, round(seconds * self.rate_hz / MAX_SAMPLES))


class SimulatedIgloo:
    """A :class:`SimulatedDevice` on a pseudo-terminal, in real time, with a thread of its own.

    ``port`` is a name that stays when it is unplugged and plugged in again (a symbolic link; in a folder of its
    own, or where ``at`` says). ``rate_hz`` is its true rate, else it is drawn. ``clock`` gives the seconds in which
    its samples are due. Use :meth:`close` or a ``with`` block.

    :raises DeviceError: when the bank of stored shakes cannot be read.
    """

    def __init__(
        self,
        bank: Bank | None = None,
        *,
        at: Path | None = None,
        unit: int = 0,
        seed: int | None = None,
        rate_hz: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        seed = int.from_bytes(os.urandom(4)) if seed is None else seed
        self.device = SimulatedDevice(bank, unit=unit, seed=seed, rate_hz=rate_hz)
        self._folder = None if at else tempfile.TemporaryDirectory(prefix="igloo-")
        self.port = str(at or Path(self._folder.name if self._folder else "") / "igloo-simulated")
        self._lock = threading.RLock()
        self._closing = threading.Event()
        self._ends: tuple[int, int] | None = None
        self._clock = clock
        self._unsent = b""
        self._began = 0.0
        self._made = 0
        self.replug()
        self._thread = threading.Thread(target=self._run, name="simulated igloo", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        """Return the igloo, to be closed at the end of a block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Close it."""
        self.close()

    @property
    def thread(self) -> threading.Thread:
        """Return the igloo's thread, for measuring what it costs."""
        return self._thread

    @property
    def seconds_left(self) -> float:
        """Return how long the hand is still busy with what it was told."""
        with self._lock:
            return self.device.left / self.device.rate_hz

    # --- the vocabulary ------------------------------------------------------------------------------------------

    def shake(self, count: int, seconds: float = 3.0) -> None:
        """Shake so many beads; see :meth:`SimulatedDevice.shake`."""
        with self._lock:
            self.device.shake(count, seconds)

    def follow_beat(self, count: int, seconds: float = 20.0) -> None:
        """Shake with the beat; see :meth:`SimulatedDevice.follow_beat`."""
        with self._lock:
            self.device.follow_beat(count, seconds)

    def lift(self) -> None:
        """Take it up."""
        with self._lock:
            self.device.lift()

    def carry(self, seconds: float = 1.6) -> None:
        """Carry it to and fro."""
        with self._lock:
            self.device.carry(seconds)

    def turn_over(self) -> None:
        """Turn it over."""
        with self._lock:
            self.device.turn_over()

    def set_down(self) -> None:
        """Put it down."""
        with self._lock:
            self.device.set_down()

    def knock(self) -> None:
        """Knock at the table."""
        with self._lock:
            self.device.knock()

    def corrupt_frame(self, n: int = 1) -> None:
        """Let a bit flip on the wire."""
        with self._lock:
            self.device.corrupt_frame(n)

    def glitch_sample(self, n: int = 1) -> None:
        """Let sign bits of a sample flip before it gets a CRC."""
        with self._lock:
            self.device.glitch_sample(n)

    def drop_samples(self, n: int) -> None:
        """Drop frames with n samples together."""
        with self._lock:
            self.device.drop_samples(n)

    def overflow(self, n: int = 40) -> None:
        """Lose n samples in the FIFO."""
        with self._lock:
            self.device.overflow(n)

    def babble(self, seconds: float) -> None:
        """Send random bytes for a while."""
        with self._lock:
            self.device.babble(seconds)

    def unplug(self) -> None:
        """Pull the cable: the port is gone, and the board without power."""
        with self._lock:
            if self._ends is None:
                return
            Path(self.port).unlink(missing_ok=True)
            for end in self._ends:
                os.close(end)
            self._ends = None

    def replug(self) -> None:
        """Plug it in again: the board boots."""
        with self._lock:
            if self._ends is not None:
                return
            ours, theirs = os.openpty()
            tty.setraw(theirs)
            os.set_blocking(ours, False)
            # Its other end stays open here as well: it is there before and after anybody reads.
            self._ends = (ours, theirs)
            self._unsent = b""
            self.device.boot()
            self._began, self._made = self._clock(), 0
            Path(self.port).unlink(missing_ok=True)
            Path(self.port).symlink_to(os.ttyname(theirs))

    def close(self) -> None:
        """Stop the thread and take the port away."""
        self._closing.set()
        self._thread.join(timeout=5.0)
        self.unplug()
        if self._folder is not None:
            self._folder.cleanup()

    # --- the thread ----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._closing.wait(TICK_S):
            with self._lock:
                if self._ends is not None:
                    self._tick(self._ends[0])

    def _tick(self, end: int) -> None:
        rate = self.device.rate_hz
        due = int((self._clock() - self._began) * rate) - self._made
        if due > BEHIND_S * rate:
            self.device.overflow(due - MAX_SAMPLES)
            self._made += due - MAX_SAMPLES
            due = MAX_SAMPLES
        commands = b""
        with suppress(OSError):
            commands = os.read(end, 256)
        data = self.device.receive(commands) if commands else b""
        n = due // MAX_SAMPLES * MAX_SAMPLES
        self._made += n
        data += self.device.advance(n)
        self._send(end, data)

    def _send(self, end: int, data: bytes) -> None:
        """Write what the terminal takes; of what it does not take, whole frames are lost, as on a wire."""
        waiting = self._unsent + data
        try:
            sent = os.write(end, waiting) if waiting else 0
        except OSError:
            sent = 0
        rest = waiting[sent:]
        cut = rest.find(b"\0")
        begun = waiting[sent - 1] != 0 if sent else bool(self._unsent)
        self._unsent = rest[: cut + 1] if rest and begun else b""
