"""The whole service as a process: devices, rounds, what is hidden, and what survives a kill."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from companion.cli.bench_web import Phone

PLAYERS = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]
CARDS = ["4", "4/5", "5/6", "6/7", "7/8", "8/9", "9/10", "2", "3"]


class Served:
    """`companion serve` in a process; ``lines`` is what it printed."""

    def __init__(self, data: Path, *arguments: str) -> None:
        command = [
            sys.executable,
            "-m",
            "companion",
            "serve",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--data",
            str(data),
        ]
        self.process = subprocess.Popen(
            [*command, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        self.lines: list[str] = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        link = wait(lambda: next((m for line in self.lines if (m := re.search(r":(\d+)(/host/\S+)", line))), None))
        self.port = int(link[1])
        self.host = Phone(self.port)
        status, _ = self.host.ask("POST", link[2])
        assert status == 303

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as printed:
            for line in printed:
                self.lines.append(line.rstrip("\n"))

    def do(self, command: str, body: dict[str, Any], action_id: str = "") -> dict[str, Any]:
        told = {"command": command, "body": body, "action_id": action_id or os.urandom(8).hex()}
        answer: dict[str, Any] = json.loads(self.host.ask("POST", "/api/do", told)[1])
        return answer

    def get(self, path: str) -> dict[str, Any]:
        status, body = self.host.ask("GET", path)
        assert status == 200, body
        answer: dict[str, Any] = json.loads(body)
        return answer

    def igloo(self) -> dict[str, Any] | None:
        devices = self.get("/api/health")["devices"]
        return next((d for d in devices if d["device"] == "igloo" and d["state"] == "connected" and d["rate_hz"]), None)

    def simulate(self, action: str, count: int | None = None) -> None:
        status, body = self.host.ask("POST", "/api/simulate", {"action": action, "count": count})
        assert status == 200, body

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=20) in {0, -signal.SIGKILL}, self.lines
        self.reader.join(timeout=5)


def wait(found: Callable[[], Any], seconds: float = 20.0) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if (answer := found()) not in (None, False, [], ()):
            return answer
        time.sleep(0.05)
    raise AssertionError(f"nothing came within {seconds} s")


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    running: list[Served] = []

    def start(*arguments: str) -> Served:
        served = Served(tmp_path / "data", *arguments)
        running.append(served)
        return served

    yield start
    for served in running:
        served.close()


def topics(phone: Phone, name: str) -> list[dict[str, Any]]:
    return [told for _, topic, _, told in phone.heard if topic == name]


def test_without_devices_it_says_so(serve: Callable[..., Served]) -> None:
    served = serve()
    wait(lambda: any("No sensor igloo is connected" in line for line in served.lines))
    health = served.get("/api/health")
    assert health["version"] and health["match"] is None
    assert not [d for d in health["devices"] if d["state"] == "connected"]
    status, body = served.host.ask("POST", "/api/simulate", {"action": "shake", "count": 4})
    assert status in {409, 400, 404}, body


def test_a_round_with_the_simulated_igloo(serve: Callable[..., Served]) -> None:
    served = serve("--simulate")
    igloo = wait(served.igloo)
    assert igloo["kind"] == "simulated"
    assert any("simulated" in line for line in served.lines)
    phone = Phone(served.port)
    phone.listen()
    wait(lambda: topics(phone, "state"))

    # Outside a live round a shake is counted, and the page hears of it.
    served.simulate("shake", 5)
    counted = wait(lambda: [c for c in topics(phone, "count") if c.get("state") == "counted"])
    assert set(counted[-1]["posterior"]) == {str(n) for n in range(2, 14)}
    assert counted[-1]["kind"] == "simulated"
    assert {"shaken"} <= {m.get("state") for m in topics(phone, "motion")}
    wait(lambda: topics(phone, "motion")[-1].get("state") in {"rest", "set-down"})

    # In a live round nothing reveals a count, on no way out of the house.
    assert served.do("open-match", {"game": "igloo-pop", "players": PLAYERS, "setup": {"cards": CARDS}})["ok"]
    assert served.do("moves", {"moves": ["start"]})["ok"]
    wait(lambda: topics(phone, "count")[-1]["hidden"])
    mark = len(phone.heard)
    served.simulate("shake", 7)
    wait(lambda: [1 for _, topic, _, told in phone.heard[mark:] if topic == "motion" and told["state"] == "shaken"])
    wait(lambda: topics(phone, "motion")[-1].get("state") in {"rest", "set-down"})
    for _, topic, _, told in phone.heard[mark:]:
        assert "posterior" not in json.dumps(told)
        if topic == "count":
            assert told == {"hidden": True, "state": None}
    assert served.get("/api/state")["count"] == {"hidden": True, "state": None}
    assert "posterior" not in json.dumps(served.get("/api/health"))

    # Peeking is a breach, marked as what a simulated igloo said.
    served.simulate("turn_over")
    faults = wait(lambda: served.get("/api/state")["view"]["match"]["faults"])
    assert (faults[0]["clause"], faults[0]["kind"]) == ("POP-2.4", "simulated")
    served.simulate("set_down")
    wait(lambda: topics(phone, "motion")[-1].get("state") in {"rest", "set-down"})

    # Moving it after it was placed is another.
    assert served.do("moves", {"moves": ["place red card5"], "sensor": True})["ok"]
    served.simulate("lift")
    wait(lambda: [f for f in served.get("/api/state")["view"]["match"]["faults"] if f["clause"] == "POP-2.6"])

    # The check opens the gate again.
    assert served.do("check", {})["ok"]
    wait(lambda: topics(phone, "count")[-1]["hidden"] is False)


def test_a_kill_loses_nothing_and_the_night_goes_on(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve()
    assert served.do("open-match", {"game": "igloo-pop", "players": PLAYERS, "setup": {"cards": CARDS}})["ok"]
    assert served.do("moves", {"moves": ["start"]})["ok"]
    last = served.do("moves", {"moves": ["place red card1", "place blue card1"]}, action_id="the-last-one")
    served.process.kill()
    served.process.wait(timeout=10)

    again = serve()
    view = again.get("/api/state")["view"]
    assert view["seq"] == last["seq"]
    assert [i["colour"] for i in view["match"]["cards"][0]["igloos"]] == ["red", "blue"]
    # The phone did not hear the answer and asks again: the same answer, and nothing is doubled.
    repeated = again.do("moves", {"moves": ["place red card1", "place blue card1"]}, action_id="the-last-one")
    assert repeated["seq"] == last["seq"]
    assert again.get("/api/state")["view"]["seq"] == last["seq"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "companion", *arguments], capture_output=True, text=True, check=False, timeout=60
    )


def test_one_line_for_bad_input(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve()
    busy = run("serve", "--port", "0", "--data", str(tmp_path / "data"))
    assert (busy.returncode, busy.stderr.count("\n")) == (2, 1)
    assert "already uses the data folder" in busy.stderr
    taken = run("serve", "--host", "127.0.0.1", "--port", str(served.port), "--data", str(tmp_path / "other"))
    assert (taken.returncode, taken.stderr.count("\n")) == (2, 1)
    assert "cannot listen" in taken.stderr
    camera = run("serve", "--camera", "nonsense", "--port", "0", "--data", str(tmp_path / "third"))
    assert (camera.returncode, camera.stderr.count("\n")) == (2, 1)
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "journal.sqlite").write_bytes(b"no database" * 1000)
    torn = run("serve", "--port", "0", "--data", str(damaged))
    assert (torn.returncode, torn.stderr.count("\n")) == (2, 1)
    assert (damaged / "journal.sqlite").read_bytes() == b"no database" * 1000


def test_another_host_link_while_it_runs(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve()
    said = run("host", "--data", str(tmp_path / "data"), "--json")
    assert said.returncode == 0
    link = json.loads(said.stdout)["links"][0]
    phone = Phone(served.port)
    status, _ = phone.ask("POST", link.split(str(served.port), 1)[1])
    assert status == 303
    again, _ = Phone(served.port).ask("POST", link.split(str(served.port), 1)[1])
    assert again == 403
