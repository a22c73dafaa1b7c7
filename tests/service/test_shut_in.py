"""What an evening leaves open: one port, the printed one, and not a file for anybody else."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

from tests.worlds.served import Served
from tests.worlds.wait import wait

pytestmark = pytest.mark.process

LISTENS = "0A"
"""The state of a listening socket in /proc/net/tcp."""


@pytest.fixture
def careless() -> Iterator[None]:
    """A machine whose owner lets everybody read everything."""
    before = os.umask(0)
    yield
    os.umask(before)


def family(pid: int) -> list[int]:
    children = [
        int(child)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for child in (task / "children").read_text(encoding="ascii").split()
    ]
    return [pid, *(one for child in children for one in family(child))]


def sockets_of(pid: int) -> set[str]:
    """The inodes of the sockets that a process holds; what it closes while we look is none."""
    held = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            if (name := str(link.readlink())).startswith("socket:["):
                held.add(name[len("socket:[") : -1])
    return held


def bound(pid: int) -> dict[str, set[int]]:
    """The ports at which a process and its children hear anybody, by protocol."""
    sockets = set().union(*(sockets_of(one) for one in family(pid)))
    found: dict[str, set[int]] = {}
    for kind in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/{pid}/net/{kind}").read_text(encoding="ascii").splitlines()[1:]:
            _, here, there, state, *_rest = fields = line.split()
            heard = state == LISTENS if kind.startswith("tcp") else there.endswith(":0000")
            if heard and fields[9] in sockets:
                found.setdefault(kind[:3], set()).add(int(here.rsplit(":", 1)[1], 16))
    return found


def test_one_port_is_open_and_no_file_for_others(serve: Callable[..., Served], careless: None) -> None:
    served = serve("--simulate")
    wait(served.igloo)
    players = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]
    assert served.do("open-match", {"game": "igloo-pop", "players": players})["ok"]
    photo = cv2.imencode(".jpg", np.full((600, 800, 3), 90, np.uint8))[1].tobytes()
    assert served.host.send("/api/photo", photo, "image/jpeg")[0] == 200
    people = json.loads(served.host.ask("GET", "/api/people")[1])["people"]
    for path, body in (
        ("/api/settings", {"nightly_backups": 3}),
        ("/api/pin", {}),
        ("/api/backups", {}),
        (f"/api/people/{people[0]['id']}/forget", {}),
    ):
        status, answer = served.host.ask("POST", path, body)
        assert status == 200, (path, answer)
    assert bound(served.process.pid) == {"tcp": {served.port}}
    files = [path for path in served.data.rglob("*") if not path.is_symlink()]
    assert {"journal.sqlite", "access.sqlite", "settings.json", "address.json", "forgotten.json", "backups"} <= {
        path.name for path in files
    }
    open_to_others = {
        path.name: oct(path.stat().st_mode) for path in files if stat.S_IMODE(path.stat().st_mode) & 0o077
    }
    assert open_to_others == {}
    assert stat.S_IMODE(served.data.stat().st_mode) == 0o700
