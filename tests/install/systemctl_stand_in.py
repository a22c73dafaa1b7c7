"""Answers for systemctl where no systemd runs: starts and ends the service as its unit says.

A start waits until the service says that it is ready. What is asked is kept in /run/systemctl.log, what the service
says in /run/companion.log, its number in /run/companion.pid. Nothing is started anew by itself.
"""

from __future__ import annotations

import configparser
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

UNIT = Path("/etc/systemd/system/companion.service")
RUN = Path("/run")
PATIENCE_S = 60.0


def stop() -> None:
    """End the service, where one runs."""
    path = RUN / "companion.pid"
    if not path.exists():
        return
    pid = int(path.read_text())
    try:
        os.kill(pid, signal.SIGTERM)
        while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
            time.sleep(0.02)
    except OSError:
        pass
    path.unlink()


def start() -> int:
    """Start the service; return 0 once it has said that it is ready, 1 where it ended before."""
    unit = configparser.ConfigParser(strict=False, interpolation=None, delimiters="=")
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(UNIT)
    service = unit["Service"]
    told = dict(part.split("=", 1) for part in service["Environment"].split())
    options = Path(service["EnvironmentFile"].removeprefix("-")).read_text().partition("=")[2]
    command = service["ExecStart"].replace("$COMPANION_ARGS", shlex.split(options)[0] if options.strip() else "")
    address = RUN / f"notify-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line, (RUN / "companion.log").open("ab") as log:
        line.bind(str(address))
        address.chmod(0o666)
        user = service["User"]
        process = subprocess.Popen(
            ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", *shlex.split(command)],
            env={**os.environ, **told, "NOTIFY_SOCKET": str(address)},
            cwd=service["WorkingDirectory"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        (RUN / "companion.pid").write_text(str(process.pid))
        line.settimeout(0.1)
        end = time.monotonic() + PATIENCE_S
        while process.poll() is None and time.monotonic() < end:
            try:
                if b"READY=1" in line.recv(4096):
                    return 0
            except TimeoutError:
                continue
    return 1


def main() -> int:
    with (RUN / "systemctl.log").open("a") as log:
        log.write(" ".join(sys.argv[1:]) + "\n")
    if sys.argv[1] in {"stop", "restart"} or "--now" in sys.argv:
        stop()
    return start() if sys.argv[1] == "restart" else 0


if __name__ == "__main__":
    sys.exit(main())
