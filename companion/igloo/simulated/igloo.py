"""A simulated igloo: stored shakes and made-up handling, spoken in the real protocol through a pseudo-terminal.

It goes the whole way that a real one goes (bytes, port, link), so everything works without hardware; and nobody
can take it for a real one, because what speaks through a pseudo-terminal is *simulated* for every reader.
:class:`companion.igloo.simulated.device.SimulatedDevice` is the device without time and without I/O;
:class:`SimulatedIgloo` runs it on a thread.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
import tty
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from companion.igloo.line.protocol import MAX_SAMPLES
from companion.igloo.simulated.device import Bank, SimulatedDevice

TICK_S = 0.02
"""How often the simulated igloo writes."""

BEHIND_S = 1.0
"""When the machine slept longer than this, the simulated FIFO overflowed."""


class SimulatedIgloo:
    """A :class:`SimulatedDevice` on a pseudo-terminal, in real time, with a thread of its own.

    ``port`` is a name that stays when it is unplugged and plugged in again (a symbolic link; in a folder of its
    own, or where ``at`` says). ``rate_hz`` is its true rate, else it is drawn.
    ``clock`` gives the seconds in which its samples are due. Use :meth:`close` or a
    ``with`` block.

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
