"""The machine as the doctor sees it: files below a root, a user with groups, programs that may be asked.

Everything the checks read goes through here, so that a test can build a machine as a folder.
"""

from __future__ import annotations

import grp
import os
import pwd
import shutil
import stat
import subprocess
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class User:
    """Who is to run the companion: name, number, and the numbers of all groups."""

    name: str
    uid: int
    gids: frozenset[int]

    @classmethod
    def of(cls, uid: int) -> User:
        """Return a user of this machine by number."""
        try:
            entry = pwd.getpwuid(uid)
        except KeyError:
            return cls(str(uid), uid, frozenset())
        return cls(entry.pw_name, uid, frozenset(os.getgrouplist(entry.pw_name, entry.pw_gid)))

    def may(self, path: Path, wanted: int = 0o6) -> bool:
        """Return whether the user may use a file so (4: read, 2: write), by its mode."""
        facts = path.stat()
        if self.uid == 0:
            return True
        if facts.st_uid == self.uid:
            return (facts.st_mode >> 6) & wanted == wanted
        if facts.st_gid in self.gids:
            return (facts.st_mode >> 3) & wanted == wanted
        return facts.st_mode & wanted == wanted


@dataclass(frozen=True, slots=True)
class Host:
    """A machine: its files below ``root``, and the user that is to run the companion."""

    user: User
    root: Path = Path("/")
    programs: str | None = field(default=None)
    """Where programs are looked for, as in PATH; None: the PATH of this process."""

    def path(self, absolute: str) -> Path:
        """Return where a file of the machine lies."""
        return self.root / absolute.lstrip("/")

    def text(self, absolute: str | Path) -> str:
        """Return what a file says, without the ends; empty where it is not there or may not be read."""
        path = absolute if isinstance(absolute, Path) else self.path(absolute)
        try:
            return path.read_text(encoding="utf-8", errors="replace").strip("\0\n ")
        except OSError:
            return ""

    def group(self, name: str) -> int | None:
        """Return a group's number, None where the machine has none of that name."""
        if self.root != Path("/"):
            for line in self.text("/etc/group").splitlines():
                fields = line.split(":")
                if fields[0] == name:
                    return int(fields[2])
            return None
        try:
            return grp.getgrnam(name).gr_gid
        except KeyError:
            return None

    def has(self, program: str) -> bool:
        """Return whether a program is installed."""
        return shutil.which(program, path=self.programs) is not None

    def ask(self, *command: str) -> str:
        """Return what a program prints, empty where it is missing or fails; at most two seconds."""
        found = shutil.which(command[0], path=self.programs)
        if found is None:
            return ""
        try:
            done = subprocess.run([found, *command[1:]], capture_output=True, text=True, timeout=2, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return done.stdout.strip() if done.returncode == 0 else ""

    def running(self) -> dict[str, list[int]]:
        """Return the names of running programs with their process numbers."""
        found: dict[str, list[int]] = {}
        for folder in self.path("/proc").glob("[0-9]*"):
            if name := self.text(folder / "comm"):
                found.setdefault(name, []).append(int(folder.name))
        return found

    def holder(self, device: Path) -> str:
        """Return the name of the program that has a device open (as root, or one's own), else empty."""
        for link in self.path("/proc").glob("[0-9]*/fd/*"):
            try:
                if str(link.readlink()) == str(device) and int(link.parts[-3]) != os.getpid():
                    return self.text(link.parents[1] / "comm") or link.parts[-3]
            except OSError:
                continue
        return ""

    def is_device(self, path: Path) -> bool:
        """Return whether a device is there; below another root a plain file stands for one."""
        try:
            return stat.S_ISCHR(path.stat().st_mode) or self.root != Path("/")
        except OSError:
            return False
