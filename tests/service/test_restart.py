"""A backup brought back on the page: the service starts itself anew, on the same port, with what was then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.worlds.served import Served
from tests.worlds.wait import wait

pytestmark = pytest.mark.process

PLAYERS = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]


def test_the_service_starts_anew_with_the_backup(tmp_path: Path) -> None:
    served = Served(tmp_path / "data")
    try:
        assert served.do("open-match", {"game": "igloo-pop", "players": PLAYERS})["ok"]
        status, body = served.host.ask("POST", "/api/backups", {})
        assert status == 200, body
        name = json.loads(body)["backup"]["name"]
        then = served.get("/api/health")["journal"]
        assert served.do("close-match", {})["ok"]
        people = json.loads(served.host.ask("GET", "/api/people")[1])["people"]
        ann = next(one["id"] for one in people if one["name"] == "Ann")
        assert served.host.ask("POST", f"/api/people/{ann}/forget", {})[0] == 200
        greeted = len([line for line in served.lines if "/host/" in line])
        assert served.host.ask("POST", f"/api/backups/{name}/restore", {"confirm": name})[0] == 200
        wait(lambda: len([line for line in served.lines if "/host/" in line]) > greeted)
        # The same process, the same port, the same host; whoever was forgotten since stays so.
        assert served.process.poll() is None
        health = wait(lambda: json.loads(served.host.ask("GET", "/api/health")[1]))
        assert health["journal"] == then
        assert health["match"]["game"] == "igloo-pop"
        match = json.loads(served.host.ask("GET", "/api/state")[1])["view"]["match"]
        assert [player["name"] for player in match["players"]] == ["", "Bob"]
        former = [path for path in (tmp_path / "data").iterdir() if path.name.startswith("before-restore-")]
        assert len(former) == 1
        assert served.do("close-match", {})["ok"]
    finally:
        served.close()
