"""Putting an image onto an ATmega328P board through its boot loader, with avrdude.

The boot loader tells at which rate it listens and which chip it runs on, but not how fast the chip is clocked; where
that is left open, a person has to say which board it is.
"""

from __future__ import annotations

import contextlib
import errno
import shutil
import subprocess
import termios
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import serial

from companion.flasher.errors import FirmwareError


@dataclass(frozen=True, slots=True)
class AvrBoard:
    """A board as it is sold: its clock, and the rate at which its boot loader listens."""

    name: str
    words: str
    clock_hz: int
    loader_baud: int


BOARDS: Final[Mapping[str, AvrBoard]] = {
    board.name: board
    for board in (
        AvrBoard("nano", "Arduino Nano (new boot loader) or Uno, 5 V", 16_000_000, 115_200),
        AvrBoard("nano-old", "Arduino Nano with the old boot loader, as most clones have it, 5 V", 16_000_000, 57_600),
        AvrBoard("pro-mini", "Arduino Pro Mini 3.3 V", 8_000_000, 57_600),
        AvrBoard("pro-mini-5v", "Arduino Pro Mini 5 V", 16_000_000, 57_600),
    )
}

PARTS: Final[Mapping[str, str]] = {"1e950f": "m328p", "1e9516": "m328pb"}
"""Signatures of the chips that the image runs on, with avrdude's name (ATmega328P, ATmega328PB)."""

LOADER_BAUDS: Final = (115_200, 57_600)

FLASH_S = 180.0
RESET_S, REPLY_S, TRIES = 0.1, 0.15, 14
"""The boot loaders listen for one to two seconds after a reset; the questions go on a little longer."""


MISSING = "avrdude is missing; on Debian: sudo apt install avrdude"


class NoAnswerError(FirmwareError):
    """No boot loader answered at the port."""


def _avrdude(port: str, loader_baud: int, part: str, *more: str) -> subprocess.CompletedProcess[str]:
    if shutil.which("avrdude") is None:
        raise FirmwareError(MISSING)
    command = ["avrdude", "-p", part, "-c", "arduino", "-P", port, "-b", str(loader_baud), "-D", *more]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=FLASH_S)
    except subprocess.TimeoutExpired as error:
        raise NoAnswerError(f"Nothing answered at {port} within {FLASH_S:.0f} s.") from error


def _refused(port: str, said: str) -> FirmwareError | None:
    """Return the sentence for what keeps avrdude from the port itself."""
    words = said.lower()
    if "permission denied" in words:
        return FirmwareError(f"{port} may not be opened; join the group dialout (companion doctor says how).")
    if "resource busy" in words:
        return FirmwareError(f"{port} is in use; end the service first: sudo systemctl stop companion")
    if "no such file" in words or "no such device" in words:
        return FirmwareError(f"There is nothing at {port}.")
    return None


def probe(port: str, loader_baud: int) -> str:
    """Ask the boot loader at a port which chip it runs on; return avrdude's name of the chip. The board starts anew.

    STK500 version 1 (Atmel AVR061): "get in sync", then "read signature". avrdude would ask too, for half a minute
    where nothing answers.

    :raises NoAnswerError: when none answers at this rate.
    :raises FirmwareError: when the port cannot be opened, or the chip is another one.
    """
    try:
        with serial.Serial(port, loader_baud, timeout=REPLY_S, exclusive=True) as line:
            for level in (False, True):  # DTR starts an Arduino anew; a pseudo-terminal has none
                with contextlib.suppress(OSError):
                    line.dtr = line.rts = level
                time.sleep(RESET_S)
            for _ in range(TRIES):
                line.reset_input_buffer()
                line.write(b"\x30\x20")
                if line.read(2) == b"\x14\x10":
                    break
            else:
                raise NoAnswerError(f"No boot loader answers at {port} with {loader_baud} baud.")
            line.reset_input_buffer()
            line.write(b"\x75\x20")
            answer = line.read(5)
            line.write(b"\x51\x20")
            line.read(2)
    except NoAnswerError:
        raise
    except (OSError, ValueError, termios.error) as error:
        words = f"{error} {errno.errorcode.get(getattr(error, 'errno', 0) or 0, '')}"
        refused = _refused(port, words.replace("exclusively lock port", "resource busy"))
        raise refused or FirmwareError(f"{port} cannot be used: {' '.join(str(error).split())}.") from error
    signature = answer[1:4].hex()
    if len(answer) != 5 or answer[0] != 0x14 or answer[4] != 0x10:
        raise NoAnswerError(f"The boot loader at {port} did not say which chip it runs on.")
    part = PARTS.get(signature)
    if part is None:
        raise FirmwareError(f"The chip at {port} has the signature 0x{signature}; it is no ATmega328P.")
    return part


def find_loader(port: str) -> tuple[int, str]:
    """Return the rate at which the boot loader answers, and the chip.

    :raises NoAnswerError: when none answers at any rate.
    """
    if shutil.which("avrdude") is None:
        raise FirmwareError(MISSING)
    for loader_baud in LOADER_BAUDS:
        try:
            return loader_baud, probe(port, loader_baud)
        except NoAnswerError:
            continue
    raise NoAnswerError(
        f"No boot loader answers at {port}. Press the board's reset button as this begins, or check the cable."
    )


def flash(port: str, loader_baud: int, part: str, image: Path) -> None:
    """Write an image and read it back.

    :raises FirmwareError: when it could not be written, or reads back otherwise.
    """
    done = _avrdude(port, loader_baud, part, "-q", "-U", f"flash:w:{image}:i")
    said = done.stderr + done.stdout
    if done.returncode == 0 and "verified" in said:
        return
    refused = _refused(port, said)
    if refused is not None:
        raise refused
    lines = [line for line in said.splitlines() if "error" in line.lower() or "mismatch" in line.lower()]
    last = (lines or said.strip().splitlines() or ["avrdude said nothing"])[-1]
    raise FirmwareError(f"The image could not be written to {port}: {last.split(':', 1)[-1].strip()}")
