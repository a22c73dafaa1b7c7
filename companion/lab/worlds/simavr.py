"""The real firmware in simavr, with a simulated ADXL345 and a port that pyserial opens.

In a test, through the fixture ``simavr`` (a maker of :class:`Simavr`; whatever it made is stopped at the end)::

    def test_the_count_appears(simavr):
        igloo = simavr(mhz=16).start()          # builds image and bench if they are out of date
        service = serve(igloo.port)             # a pseudo-terminal: /dev/pts/N
        igloo.play(shake)                       # (n, 3) in g, one row for each of the sensor's 3200 samples a second
        ...                                     # while it lasts, and after it: rest with the sensor's noise
        igloo.sensor(False)                     # its supply fails; sensor(True): it is back, with reset values
        figures = igloo.stop()                  # "samples_taken", "busy_percent", "uart_bytes" ...

Time passes as on the wall unless ``fast=True``. While somebody has the port open no byte is lost (simulated time
waits for a slow reader); while nobody has, bytes go nowhere, as on a real line. :meth:`Simavr.record` runs a script
without a reader, as fast as it goes, and the same bytes each time.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

FIRMWARE = Path(__file__).resolve().parents[3] / "firmware"
BENCH = FIRMWARE / "bench" / "build" / "bench"


class SimavrError(RuntimeError):
    """The bench could not be built or started, or refused a command."""


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    # Test processes run side by side; one of them builds.
    folder = FIRMWARE / "bench" / "build"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def make(*arguments: str) -> None:
    """Run ``make`` in the firmware's folder, alone among the processes of the tests."""
    with _alone():
        result = subprocess.run(["make", *arguments], cwd=FIRMWARE, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SimavrError(result.stderr)


def image(mhz: int = 16, baud: int = 500_000) -> Path:
    """Return the image for this clock and rate, built if it is missing or out of date.

    It lies beside the bench: what lies in firmware/build was built by `companion firmware build` and by nobody else.
    """
    make("images", f"BAUD={baud}", "BUILD=bench/build")
    return BENCH.parent / f"igloo-atmega328p-{mhz}mhz-{baud}.elf"


class Simavr:
    """One igloo in simavr. ``mhz`` is 16 or 8; ``rate_error`` 0.03 is a sensor 3 % fast; ``noise_mg`` is felt at rest.

    ``link`` is a path at which the port shall appear besides; ``held``: simulated time begins with :meth:`go`.
    """

    def __init__(
        self,
        mhz: int = 16,
        *,
        baud: int = 500_000,
        fast: bool = False,
        held: bool = False,
        rate_error: float = 0.0,
        noise_mg: float = 12.0,
        link: Path | None = None,
        tee: Path | None = None,
    ) -> None:
        self.port = ""
        self._process: subprocess.Popen[str] | None = None
        self._errors = Path()
        self._arguments = [
            "--mhz",
            str(mhz),
            "--rate",
            repr(rate_error),
            "--noise",
            repr(noise_mg),
            *(["--fast"] if fast else []),
            *(["--hold"] if held else []),
            *(["--link", str(link)] if link else []),
            *(["--tee", str(tee)] if tee else []),
        ]
        self._mhz = mhz
        self._baud = baud

    def start(self) -> Simavr:
        """Build what is out of date, start the bench and wait until it runs."""
        elf = image(self._mhz, self._baud)
        make("bench")
        with tempfile.NamedTemporaryFile("w", suffix=".log", delete=False) as errors:
            self._errors = Path(errors.name)
            self._process = subprocess.Popen(
                [str(BENCH), *self._arguments, str(elf)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                bufsize=1,
            )
        self.port = self._line().removeprefix("port ")
        if self._line() != "ready":
            raise SimavrError("the bench did not become ready")
        return self

    def _line(self) -> str:
        assert self._process is not None and self._process.stdout is not None, "not started"
        line = self._process.stdout.readline()
        if not line:
            raise SimavrError(f"the bench has ended: {self._errors.read_text(encoding='utf-8')}")
        return line.rstrip("\n")

    def power(self, on: bool) -> None:
        """Take its supply away, or give it back: meanwhile its time stands still, and no command is taken."""
        assert self._process is not None, "not started"
        self._process.send_signal(signal.SIGCONT if on else signal.SIGSTOP)

    def command(self, text: str) -> dict[str, Any]:
        """Give the bench a command (firmware/bench/control.c lists them); return the statistics if it printed any."""
        assert self._process is not None and self._process.stdin is not None, "not started"
        statistics: dict[str, Any] = {}
        self._process.stdin.write(text + "\n")
        self._process.stdin.flush()
        while (answer := self._line()) != "ok":
            if answer.startswith("stats "):
                statistics = json.loads(answer.removeprefix("stats "))
            else:
                raise SimavrError(f"{text}: {answer}")
        return statistics

    def go(self) -> None:
        """Let simulated time begin, where it was ``held``."""
        self.command("go")

    def play(self, accel: ArrayLike, *, loop: bool = False) -> None:
        """Let the sensor feel a waveform, (n, 3) in g, from its next sample on, once or again and again."""
        with tempfile.NamedTemporaryFile(suffix=".f32") as file:
            write_waveform(Path(file.name), accel)
            self.command(f"{'loop' if loop else 'play'} {file.name}")

    def rest(self, pose: Sequence[float] = (0.0, 0.0, 1.0)) -> None:
        """Let the sensor rest now, in this pose (g)."""
        self.command("rest " + " ".join(repr(float(value)) for value in pose))

    def sensor(self, on: bool, open_line: int = 0xFF) -> None:
        """Cut the sensor's supply (MISO then reads ``open_line``), or give it back."""
        self.command("sensor on" if on else f"sensor off {open_line}")

    def reset(self) -> None:
        """Press the board's reset button; the EEPROM keeps its content, the sensor its supply."""
        self.command("reset")

    def stats(self) -> dict[str, Any]:
        """Return the figures so far; the keys are those of firmware/README.md."""
        return self.command("stats")

    def stop(self) -> dict[str, Any]:
        """End the bench and return the final figures; an empty dict if it was not running."""
        if self._process is None:
            return {}
        process, self._process = self._process, None
        assert process.stdin is not None and process.stdout is not None
        for farewell in (lambda: process.stdin.write("quit\n"), process.stdin.close):
            with contextlib.suppress(BrokenPipeError):  # it may have ended by itself
                farewell()
        last = [line for line in process.stdout if line.startswith("stats ")]
        process.stdout.close()
        process.wait(timeout=30)
        self._errors.unlink(missing_ok=True)
        if process.returncode or not last:
            raise SimavrError(f"the bench ended with status {process.returncode}")
        return dict(json.loads(last[-1].removeprefix("stats ")))

    def __enter__(self) -> Simavr:
        return self if self._process else self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


def record(seconds: float, script: Sequence[str] = (), **options: Any) -> tuple[bytes, dict[str, Any]]:
    """Run as fast as it goes, commands ``at MS …`` given beforehand; return what the UART sent, and the figures."""
    with tempfile.NamedTemporaryFile(suffix=".wire") as tee:
        igloo = Simavr(fast=True, held=True, tee=Path(tee.name), **options).start()
        try:
            for line in [*script, f"at {seconds * 1000:.3f} quit"]:
                igloo.command(line)
            igloo.go()
            assert igloo._process is not None
            igloo._process.wait(timeout=120)
        finally:
            figures = igloo.stop()
        return Path(tee.name).read_bytes(), figures


def write_waveform(path: Path, accel: ArrayLike) -> None:
    """Write (n, 3) in g as the bench reads it: 32-bit floats."""
    rows = np.ascontiguousarray(accel, dtype="<f4")
    if rows.ndim != 2 or rows.shape[1] != 3 or not len(rows):
        raise ValueError(f"a waveform has shape (n, 3), not {rows.shape}")
    path.write_bytes(rows.tobytes())
