"""The service as a process, as an owner runs it; for tests that must see it start, die and come back."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from companion.lab.phone import Phone
from tests.worlds.wait import PATIENCE_S, wait


class Served:
    """`companion serve` in a process; ``lines`` is what it printed; ``program`` is another companion than this one."""

    def __init__(
        self,
        data: Path,
        *arguments: str,
        port: int = 0,
        names: tuple[str, ...] = (),
        program: tuple[str, ...] = (sys.executable, "-m", "companion"),
        folder: Path | None = None,
    ) -> None:
        self.data = data
        self.program = program
        if names and not (data / "settings.json").exists():
            data.mkdir(parents=True, exist_ok=True)
            (data / "settings.json").write_text(json.dumps({"host_names": list(names)}), encoding="utf-8")
        command = [*program, "serve", "--host", "127.0.0.1", "--port", str(port), "--data", str(data)]
        self.process = subprocess.Popen(
            [*command, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            cwd=folder,
        )
        self.lines: list[str] = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        link = wait(
            lambda: next((m for line in self.lines if (m := re.search(r":(\d+)(/host/\S+)", line))), None),
            seen=lambda: self.lines,
        )
        assert link is not None
        self.port = int(link[1])
        self.host = Phone(self.port)
        status, _ = self.host.ask("POST", link[2])
        assert status == 303

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as printed:
            for line in printed:
                self.lines.append(line.rstrip("\n"))

    def run(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run another subcommand on the same data folder."""
        return subprocess.run(
            [*self.program, command, "--data", str(self.data), *arguments],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )

    def do(self, command: str, body: dict[str, Any], action_id: str = "") -> dict[str, Any]:
        state = self.get("/api/health")["journal"]["state"]
        told = {"command": command, "body": body, "action_id": action_id or os.urandom(8).hex(), "state": state}
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
        assert self.process.wait(timeout=PATIENCE_S) in {0, -signal.SIGKILL}, self.lines
        self.reader.join(timeout=PATIENCE_S)
