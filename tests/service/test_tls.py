"""`companion serve --tls`: what it prints, what it tells systemd and the doctor, and its certificate over time."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from companion.access.authority import FOLDER
from companion.night.log.data_folder import read_address
from companion.service import Service, addresses, secured
from companion.service.options import ServeOptions
from companion.service.secured import Secured
from tests.worlds.wait import PATIENCE_S, wait

pytestmark = pytest.mark.process


class Started:
    """The service as a process."""

    def __init__(self, data: Path, *arguments: str, **environ: str) -> None:
        command = [sys.executable, "-m", "companion", "serve", "--host", "127.0.0.1", "--data", str(data), *arguments]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **environ},
        )
        self.lines: list[str] = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as printed:
            for line in printed:
                self.lines.append(line.rstrip("\n"))

    def said(self, pattern: str) -> re.Match[str]:
        return wait(
            lambda: next((m for line in list(self.lines) if (m := re.search(pattern, line))), None),
            seen=lambda: self.lines,
        )  # type: ignore[return-value]

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=PATIENCE_S) == 0, self.lines
        self.reader.join(timeout=PATIENCE_S)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Started]]:
    running: list[Started] = []

    def begin(*arguments: str, **environ: str) -> Started:
        running.append(Started(tmp_path / "data", *arguments, **environ))
        return running[-1]

    yield begin
    for one in running:
        one.close()


def test_it_says_where_to_trust_it_and_is_watched_over_tls(start: Callable[..., Started], tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(PATIENCE_S)
        told = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "600000"}
        service = start("--tls", "--port", "0", "--tls-port", "0", **told)
        plain = int(service.said(r"http://127\.0\.0\.1:(\d+)/trust")[1])
        link = service.said(r"https://127\.0\.0\.1:(\d+)(/host/\S+)")
        fingerprint = service.said(r"SHA-256: ((?:[0-9A-F]{2}:){31}[0-9A-F]{2})$")[1]
        heard = b""
        while b"WATCHDOG=1" not in heard:
            heard += systemd.recv(4096)
        assert b"READY=1" in heard
    line = http.client.HTTPConnection("127.0.0.1", plain, timeout=PATIENCE_S)
    line.request("GET", "/trust/root.crt")
    root = line.getresponse().read()
    line.close()
    client = ssl.create_default_context(cadata=root)
    https = http.client.HTTPSConnection("127.0.0.1", int(link[1]), timeout=PATIENCE_S, context=client)
    https.request("POST", link[2], headers={"Origin": f"https://127.0.0.1:{link[1]}", "Content-Length": "0"})
    answer = https.getresponse()
    assert answer.status == 303 and "Secure" in (answer.getheader("Set-Cookie") or "")
    answer.read()
    https.close()
    assert read_address(tmp_path / "data") == (f"https://127.0.0.1:{link[1]}",)
    data = str(tmp_path / "data")
    doctor = subprocess.run(
        [sys.executable, "-m", "companion", "doctor", "--data", data, "--json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    (found,) = [one for one in map(json.loads, doctor.stdout.splitlines()) if one["check"] == "service"]
    assert found["state"] == "good", found
    assert fingerprint.count(":") == 31
    # Another start is trusted as this one was.
    service.close()
    assert start("--tls", "--port", "0", "--tls-port", "0").said(r"SHA-256: (\S+)")[1] == fingerprint


def test_plain_http_is_the_default_and_makes_no_certificate(start: Callable[..., Started], tmp_path: Path) -> None:
    service = start("--port", "0")
    service.said(r"http://127\.0\.0\.1:\d+/host/\S+")
    assert not (tmp_path / "data" / FOLDER).exists()


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        service = Started(tmp_path / "data", "--tls", "--port", "0", "--tls-port", str(port))
        assert service.process.wait(timeout=PATIENCE_S) == 2
        service.reader.join(timeout=PATIENCE_S)
    assert any(f"cannot listen on 127.0.0.1:{port}" in line for line in service.lines)


def test_another_network_gets_another_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = ["192.168.1.9"]
    monkeypatch.setattr(addresses, "lan_addresses", lambda: list(found))
    service, ended = Service(ServeOptions(tmp_path / "data")), threading.Event()
    try:
        box = Secured(service, every_s=0.01)
        box.told.port = 8443
        box.start(ended)
        assert "192.168.1.9" in box._authority.names
        found[:] = ["10.0.0.7"]
        wait(lambda: "10.0.0.7" in box._authority.names)
        wait(lambda: service.addresses() and service.addresses()[0] == "https://10.0.0.7:8443")
    finally:
        ended.set()
        service.close()


def test_a_certificate_that_cannot_be_written_is_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    service, ended = Service(ServeOptions(tmp_path / "data")), threading.Event()
    try:
        box = Secured(service, every_s=0.01)

        def full(*_: object) -> bool:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(box._authority, "renew", full)
        box.start(ended)
        wait(lambda: "The certificate could not be renewed" in caplog.text)
    finally:
        ended.set()
        service.close()
    assert secured.LOOK_EVERY_S <= 60
