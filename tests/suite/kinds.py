"""The four kinds of tests, of which every test has one: what may go wrong in it, and what a machine needs for it."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any

KINDS = {
    "pure": "computes in this process alone; the kind of every test that names none",
    "process": "services, kills, pseudo-terminals, emulators, compilers, child processes",
    "browser": "looks at the page in Chromium: everything in tests/browser, and nothing else",
    "learning": "trains or teaches",
}
BROWSER = Path(__file__).resolve().parents[1] / "browser"
CHILDREN = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "pty.spawn"}
"""What the interpreter says aloud (sys.audit) when a child process begins."""


class KindError(Exception):
    """A test that is of no kind, of two, or of the wrong one."""


def kind_of(marks: Collection[str], path: Path) -> str:
    """Return the kind of a test by its marks and the file in which it stands."""
    found = sorted(set(marks) & KINDS.keys())
    if len(found) > 1:
        raise KindError(f"has {len(found)} kinds: {', '.join(found)}")
    kind = found[0] if found else "pure"
    if (BROWSER in path.parents) != (kind == "browser"):
        raise KindError(f"is {kind}; tests in tests/browser are browser, and no others are")
    return kind


class Watch:
    """Sees to it that what is called pure begins no child process."""

    def __init__(self) -> None:
        self.kind = ""
        sys.addaudithook(self.hear)

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Refuse a child process that a pure test begins; threads of others may still be at their end meanwhile."""
        if event in CHILDREN and self.kind == "pure" and current_thread() is main_thread():
            raise KindError(f"a test that is called pure began a child process: {event} {arguments[:2]}")
