"""The doctor beside the running service: it asks the service what its devices say, and opens no port itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from companion.cli import run
from tests.worlds.served import Served
from tests.worlds.wait import wait

pytestmark = pytest.mark.process


def test_a_service_with_a_simulated_igloo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    served = Served(tmp_path / "data", "--simulate")
    try:
        wait(served.igloo)
        before = served.get("/api/health")["journal"]
        run(["doctor", "--data", str(tmp_path / "data"), "--json"])
        findings = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        by_check = {finding["check"]: finding for finding in findings}
        assert by_check["service"]["state"] == "good"
        assert by_check["journal"]["facts"]["entries"] >= 1
        igloo = by_check["igloo"]
        assert (igloo["state"], igloo["facts"]["kind"], igloo["facts"]["lost"]) == ("good", "simulated", 0)
        # No serial port is not "no igloo" beside an igloo that is heard.
        assert "no igloo" not in " ".join(finding["en"] for finding in findings)
        assert 3000 < igloo["facts"]["rate_hz"] < 3400
        assert served.get("/api/health")["journal"] == before
    finally:
        served.close()
    run(["doctor", "--data", str(tmp_path / "data")])
    assert "No service runs" in capsys.readouterr().out
