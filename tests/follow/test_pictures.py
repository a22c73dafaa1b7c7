"""Pictures go when they are older than the host wants, and never by a clock that is wrong."""

from __future__ import annotations

import os
import time
from pathlib import Path

from companion.follow.pictures import DAY_S, forget_old


def test_old_pictures_go_and_others_stay(tmp_path: Path) -> None:
    now = time.time()
    for name, age in (("old.jpg", 31), ("new.jpg", 29), ("old.png", 40), ("old.txt", 99)):
        (tmp_path / name).write_bytes(b"x")
        os.utime(tmp_path / name, (now - age * DAY_S,) * 2)
    assert forget_old(tmp_path, 0, now=now) == 0
    # A Pi that booted in 1970 sees only pictures of the future.
    assert forget_old(tmp_path, 30, now=0) == 0
    assert forget_old(tmp_path, 30, now=now) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.jpg", "old.txt"]
    assert forget_old(tmp_path / "nowhere", 30) == 0
