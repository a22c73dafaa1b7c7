"""What of the machine's cameras, pins and modules computes without one."""

from __future__ import annotations

import json

import cv2
import numpy as np
import pytest

from companion.lab.machine import feeder
from companion.lab.machine.camera import FEEDS, MARKERS, pictures
from companion.lab.machine.channel import CommandChannel
from companion.lab.machine.drivers import wanted
from companion.lab.machine.image import BuildError
from companion.lab.machine.network import ASKED, NetworkError, announced, order
from companion.lab.machine.pins import PRESSED
from companion.lab.machine.trouble import HOG
from vision.board.markers import find_table

SHOWN = """
Package: linux-headers-6.1.0-50-arm64
Version: 6.1.176-1
Depends: linux-headers-6.1.0-50-common (= 6.1.176-1), linux-kbuild-6.1 (>= 6.1.176-1), linux-compiler-gcc-12-arm
"""


def test_what_a_kernels_headers_need_is_read_of_the_archive() -> None:
    assert wanted(SHOWN, "amd64") == ("6.1.176-1", ["linux-headers-6.1.0-50-common", "linux-kbuild-6.1:amd64"])
    with pytest.raises(BuildError, match="no longer in the archive"):
        wanted("", "amd64")


@pytest.mark.parametrize(("kind", "width", "height"), FEEDS)
def test_a_drawn_table_is_read_from_each_feed(kind: str, width: int, height: int) -> None:
    first, second = (np.asarray(cv2.imdecode(np.frombuffer(one, np.uint8), 1)) for one in pictures(width, height))
    assert not np.array_equal(first, second), "the very same picture again and again is a camera that hangs"
    shown = first
    if kind == "YUYV":
        sent = np.frombuffer(feeder.yuyv(first), np.uint8).reshape(height, width, 2)
        shown = cv2.cvtColor(sent, cv2.COLOR_YUV2BGR_YUYV)
        assert np.abs(shown.astype(int) - first).mean() < 12
    view = find_table(np.asarray(shown, np.uint8))
    assert sorted(view.markers) == MARKERS and view.image is not None


def test_the_kernels_structure_has_its_size() -> None:
    assert feeder.FORMAT.size == (feeder.SET_FORMAT >> 16) & 0x3FFF == 208


@pytest.mark.parametrize("script", [PRESSED, ASKED, HOG])
def test_what_runs_inside_is_python(script: str) -> None:
    compile(script, "inside", "exec")


class Said(CommandChannel):
    """A machine that says what a test wants, by a word of what it is asked."""

    def __init__(self, **said: str) -> None:
        self.said = said

    def check(self, script: str, limit_s: float = 0.0, *, heard: object = None) -> str:
        del limit_s, heard
        return next(told for word, told in self.said.items() if word in script)


def test_the_machines_name_and_its_page_are_announced() -> None:
    name = ["igloo.local", "address", "10.0.2.15"]
    service = ["_http._tcp.local", "service", "Tabletop companion on igloo._http._tcp.local"]
    port = ["Tabletop companion on igloo._http._tcp.local", "port", 8080]
    told = {"name": [name], "service": [service, port]}
    found = announced(Said(eth0="10.0.2.15\n", python3=json.dumps(told)))
    assert found == {"mDNS": f"igloo.local is 10.0.2.15; {service[2]}"}
    for wrong in ({"name": [name], "service": []}, told | {"name": []}, told | {"service": [service, [*port[:2], 80]]}):
        with pytest.raises(NetworkError):
            announced(Said(eth0="10.0.2.15\n", python3=json.dumps(wrong)))
    with pytest.raises(NetworkError):
        announced(Said(eth0="10.0.2.16\n", python3=json.dumps(told)))


def test_what_the_service_starts_after_was_there_before() -> None:
    times = {"ActiveEnterTimestampMonotonic companion": "9000000", "InactiveExit": "5000000", "avahi": "3000000"}
    assert order(Said(**times, network="4500000")) == {
        "started after": "avahi-daemon.service 2.0 s before, network.target 0.5 s before",
        "from its start to its page, s": 4.0,
    }
    for never_or_later in ("0", "5000001"):
        with pytest.raises(NetworkError, match=r"network\.target"):
            order(Said(**times, network=never_or_later))
