"""A machine for the installer: what the script may change are folders of the test, in a mount namespace of its own.

Where a test wants it, a stand-in answers for systemd: it starts and ends the real service, as its unit says.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from contextlib import suppress
from functools import cache
from pathlib import Path

from tests.worlds.wait import wait

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "install.sh"
STAND_IN = Path(__file__).with_name("systemctl_stand_in.py")
PLACES = ("etc", "opt", "usr/local/bin", "var/lib", "run")
SOURCES = ("companion", "vision", "web", "pyproject.toml", "requirements.txt", "README.md", "LICENSE", "install.sh")

NO_PYTHON = "python3() { return 1; }; export -f python3;"
"""With it the script ends where it would ask for packages of Python: after what it does to the machine itself."""

PYTHON_OF_THE_TESTS = f"""
python3() {{
  if [ "$1 $2" = "-m venv" ]; then
    {sys.executable} -m venv --without-pip "${{@: -1}}" &&
      echo '{sysconfig.get_path("purelib")}' > "$(echo "${{@: -1}}"/lib/python3*/site-packages)/of-the-tests.pth"
  else {sys.executable} "$@"; fi
}}
export -f python3;
"""
"""With it a new environment finds what is installed here: what the lock names is there, and nothing is fetched."""


def run_shut_in(
    root: Path, *options: str, first: str = "", script: Path = SCRIPT, seconds: float = 60
) -> subprocess.CompletedProcess[str]:
    """Run the script, or another program, as root on the machine that lies in ``root``."""
    for place in PLACES:
        (root / place).mkdir(parents=True, exist_ok=True)
    binds = "; ".join(f"mount --bind {root / place} /{place}" for place in PLACES)
    mine = [] if os.geteuid() == 0 else ["--map-root-user"]
    command = ["unshare", "--mount", *mine, "bash", "-ec", f'{binds}; {first} exec "$0" "$@"', str(script), *options]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=seconds, env={**os.environ, "LC_ALL": "C.UTF-8"}
    )


def sources(folder: Path, version: str, *, changed: dict[str, tuple[str, str]] | None = None) -> Path:
    """Make a checkout of a version of the companion, with a text changed in some files; return its script."""
    for part in SOURCES:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "lab"))
        else:
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / part, folder / part)
    changes = {"companion/__init__.py": ('__version__ = "0.1.0"', f'__version__ = "{version}"')}
    project = {"pyproject.toml": ('\nversion = "0.1.0"', f'\nversion = "{version}"')}
    for name, (old, new) in (changes | project | (changed or {})).items():
        text = (folder / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, name
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")
    return folder / "install.sh"


@cache
def service_user() -> int:
    """Return the number of the machine's user ``companion``: another one than ours, or 0.

    With an unprivileged user's root there is one user only; and another one may not reach a checkout, or a Python, that
    lies in root's home.
    """
    other = ["setpriv", "--reuid=4711", "--regid=4711", "--clear-groups", sys.executable, "-c", "import companion"]
    return 4711 if os.geteuid() == 0 and subprocess.run(other, cwd="/", check=False).returncode == 0 else 0


class Machine:
    """A machine with a user ``companion`` and a systemd of sorts; ``root`` is where its folders lie."""

    def __init__(self, root: Path, *, like: Path | None = None) -> None:
        self.root = root
        if like is not None:
            shutil.copytree(like, root, symlinks=True)
            for path in like.rglob("*"):
                facts = path.lstat()
                os.chown(root / path.relative_to(like), facts.st_uid, facts.st_gid, follow_symlinks=False)
            return
        (root / "etc" / "default").mkdir(parents=True)
        uid = service_user()
        (root / "etc" / "passwd").write_text(f"root:x:0:0::/:/bin/sh\ncompanion:x:{uid}:{uid}::/:/usr/sbin/nologin\n")
        (root / "etc" / "group").write_text(f"root:x:0:\ncompanion:x:{uid}:\n")
        (root / "etc" / "default" / "companion").write_text('COMPANION_ARGS="--host 127.0.0.1 --port 0"\n')
        (root / "run" / "systemd" / "system").mkdir(parents=True)
        tools = root / "usr" / "local" / "bin"
        tools.mkdir(parents=True)
        self.tool("systemctl", f'exec {sys.executable} {STAND_IN} "$@"')
        self.tool("udevadm", "exit 0")
        self.tool("journalctl", "exec cat /run/companion.log")

    def tool(self, name: str, does: str) -> None:
        """Put a program before the system's own of that name."""
        path = self.root / "usr" / "local" / "bin" / name
        path.write_text(f"#!/bin/bash\n{does}\n")
        path.chmod(0o755)

    def run(self, script: Path, *options: str) -> subprocess.CompletedProcess[str]:
        """Run a version's script."""
        first = PYTHON_OF_THE_TESTS
        return run_shut_in(self.root, *options, first=first, script=script, seconds=240)

    def tool_run(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Call a program of the machine."""
        return run_shut_in(self.root, *arguments, script=Path("/usr/local/bin") / name)

    def companion(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Call the installed command, as root."""
        return self.tool_run("companion", *arguments)

    @property
    def data(self) -> Path:
        return self.root / "var" / "lib" / "companion"

    @property
    def current(self) -> str:
        """The name of the version that is in use."""
        return (self.root / "opt" / "companion" / "current").readlink().name

    def versions(self) -> set[str]:
        return {path.name for path in (self.root / "opt" / "companion").glob("2*")}

    def calls(self) -> list[str]:
        """What systemd was asked for, a line a call."""
        path = self.root / "run" / "systemctl.log"
        return path.read_text().splitlines() if path.exists() else []

    def end(self) -> None:
        """End the service, where one runs."""
        pid = self.root / "run" / "companion.pid"
        if pid.exists():
            number = int(pid.read_text())
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
            wait(lambda: not running(number))


def running(pid: int) -> bool:
    """Return whether a process runs; one that ended and is not asked for by its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
