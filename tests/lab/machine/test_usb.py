"""The igloo at the machine's USB socket, on this host: real firmware, a real service, and a cable instead of QEMU."""

from __future__ import annotations

import os
import selectors
import termios
import threading
import tty
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from companion.igloo.line.protocol import Data, encode
from companion.lab.machine.usb import BEADS, IglooAtSocket, PortIsWrongError, as_meant, handling, samples_sent
from tests.worlds.served import Served

MORE_THAN_STATUS = 60
"""Bytes; what has more has samples."""
NAME = "usb-FTDI_FT232R-if00-port0"
SAID = f"""
DEVNAME=/dev/ttyUSB0
DEVLINKS=/dev/serial/by-path/a /dev/serial/by-id/{NAME} /dev/igloo-pci-usb-0_1
ID_MM_DEVICE_IGNORE=1
ID_VENDOR_ID=0403
ID_MODEL_ID=6001
MODE=660 dialout
IGLOO=/dev/ttyUSB0
"""


def test_what_udev_did_is_held_against_our_rules() -> None:
    told = as_meant(SAID, NAME)
    assert told == {"name": NAME, "beside it": "/dev/igloo-pci-usb-0_1", "usb": "0403:6001"}
    for right, wrong in (("IGNORE=1", "IGNORE=0"), ("660 dialout", "660 root"), ("IGLOO=/dev/ttyUSB0", "IGLOO=")):
        with pytest.raises(PortIsWrongError, match=wrong.split("=")[0].split()[-1]):
            as_meant(SAID.replace(right, wrong), NAME)
    with pytest.raises(PortIsWrongError, match="by-path"):
        as_meant(SAID, "another")


def test_samples_of_a_line_are_counted_whole() -> None:
    frames = [Data.of(k, 0, 16 * k, 0, [(1, 2, 3)] * 16) for k in range(5)]
    wire = b"".join(map(encode, frames))
    assert samples_sent(wire) == 80 and samples_sent(wire[:-1]) == 64
    for beads in BEADS:
        shake, pose = handling(beads)
        assert shake.ndim == 2 and len(shake) > 3200 and pose.shape == (3,)


class Cable:
    """A converter at ``place``: bytes go both ways while it is plugged in; ``loses`` two bytes where it is told so."""

    def __init__(self, place: Path) -> None:
        self._place, self.loses = place, False
        self._end = (-1, -1)
        self._before, self._theirs = 0, -1
        self._thread: threading.Thread | None = None

    def plug(self, port: str) -> None:
        ours, theirs = os.openpty()
        tty.setraw(theirs)
        board = os.open(port, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(board)
        self._before, self._theirs = termios.tcgetattr(theirs)[4], theirs
        self._place.symlink_to(os.ttyname(theirs))
        self._end = os.pipe()
        self._thread = threading.Thread(target=self._carry, args=(ours, theirs, board), daemon=True)
        self._thread.start()

    def opened(self) -> bool:
        return termios.tcgetattr(self._theirs)[4] != self._before

    def pull(self) -> None:
        assert self._thread is not None
        self._place.unlink()
        os.close(self._end[1])
        self._thread.join(timeout=30)
        os.close(self._end[0])

    def _carry(self, ours: int, theirs: int, board: int) -> None:
        with selectors.DefaultSelector() as ready:
            ready.register(self._end[0], selectors.EVENT_READ)
            ready.register(ours, selectors.EVENT_READ, board)
            ready.register(board, selectors.EVENT_READ, ours)
            going = True
            while going:
                for key, _ in ready.select():
                    if key.data is None:
                        going = False
                        break
                    piece = os.read(key.fd, 4096)
                    if self.loses and len(piece) > MORE_THAN_STATUS:
                        self.loses, piece = False, piece[:10] + piece[12:]
                    os.write(key.data, piece)
        for end in (ours, theirs, board):
            os.close(end)


@pytest.mark.process
def test_an_igloo_is_plugged_in_and_pulled_out_while_a_game_goes_on(simavr: Callable[..., Any], tmp_path: Path) -> None:
    tee, place = tmp_path / "wire", tmp_path / NAME
    igloo = simavr(tee=tee).start()
    served = Served(tmp_path / "data", "--igloo", str(place))
    try:
        cable = Cable(place)
        spoil: list[bool] = []

        def udev(name: str) -> str:
            cable.loses = bool(spoil)  # it is asked when the reader is in step, and before the first sample
            return SAID

        table = IglooAtSocket(udev, served.host, cable, igloo)
        for beads in BEADS[:2]:
            table.round(beads)
        igloo.stop()
        table.settle(tee.read_bytes())
        told = table.plugs.figures()
        assert (told["plugged in"], told["commands acknowledged"], told["usb"]) == (2, 4, "0403:6001")
        assert told["samples"] > 2 * 3 * 3200
        with pytest.raises(PortIsWrongError, match="Samples sent"):
            table.settle(tee.read_bytes()[:-200_000])
        igloo.start()
        spoil.append(True)
        # Samples, or what the board says each second.
        with pytest.raises(PortIsWrongError, match=r"'(lost|corrupt)': [1-9]"):
            table.round(BEADS[2])
        cable.pull()
    finally:
        served.close()
