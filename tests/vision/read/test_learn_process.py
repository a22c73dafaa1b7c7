"""Learning in a process of its own: what comes of it, and when it is given up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from companion.ports import BadDataError
from vision import messages
from vision.board.labels import Content
from vision.board.layout import open_layout
from vision.board.patches import Sampler
from vision.read import learn_process
from vision.read.profile import Profile, save_profile

pytestmark = pytest.mark.learning


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    """A board that lies in ``tmp_path``, every place of it bare, of two grounds."""
    layout = open_layout("iglu-iglu")
    side = round(Sampler(layout).side * (layout.width + 1.6 * Sampler(layout).unit))
    straight = np.random.default_rng(0).integers(0, 256, (side, side, 3)).astype(np.uint8)
    known = Profile(layout).taught(straight, {number: Content(number % 2) for number in range(len(layout.places))})
    save_profile(tmp_path, known)
    return known


def test_a_lesson_is_learnt_by_a_process_that_stands_back(profile: Profile, tmp_path: Path) -> None:
    learnt = learn_process.learn_beside("iglu-iglu", profile, tmp_path, size=0.02)
    assert learnt.network is not None
    assert not learnt.unlearnt


def test_what_two_cores_learn_is_what_one_learns(profile: Profile, tmp_path: Path) -> None:
    """But for last bits: how numbers are added up depends on where they lie in memory."""
    everywhere = os.sched_getaffinity(0)
    both = learn_process.learn_beside("iglu-iglu", profile, tmp_path, size=0.05)
    os.sched_setaffinity(0, {min(everywhere)})
    try:
        alone = learn_process.learn_beside("iglu-iglu", profile, tmp_path, size=0.05)
    finally:
        os.sched_setaffinity(0, everywhere)
    assert both.network is not None and alone.network is not None
    one, other = both.network.arrays, alone.network.arrays
    assert {name: array.shape for name, array in one.items()} == {name: array.shape for name, array in other.items()}
    for name in ("shape_table", "whole_ground", "whole_counts", "mean", "whole_mean", "strange_mean"):
        assert np.allclose(one[name], other[name], rtol=1e-4, atol=1e-5), name


@pytest.mark.parametrize(("ends", "size"), [(signal.SIGTERM, 10.0), (signal.SIGKILL, 0.05)])
def test_nobody_learns_on_for_a_lesson_that_was_given_up(
    profile: Profile, tmp_path: Path, ends: signal.Signals, size: float
) -> None:
    """Whoever learns holds the end of a pipe; the other end is read to its end when the last of them is gone."""
    reads, writes = os.pipe()
    os.set_inheritable(writes, True)
    code = f"""
import sys
from vision.read import lesson, learn_process
first = lesson.make_views
def begun(*given):
    print("begun", flush=True)
    return first(*given)
lesson.make_views = begun
learn_process.main(["iglu-iglu", {str(tmp_path)!r}, {str(tmp_path / "out.npz")!r}, "{size}", "0", "300"])
"""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, pass_fds=[writes])
    os.close(writes)
    assert child.stdout is not None
    with child, os.fdopen(reads) as held:
        assert child.stdout.readline() == b"begun\n"
        child.send_signal(ends)
        assert child.wait() == (1 if ends is signal.SIGTERM else -ends)
        assert held.read() == ""


def test_a_lesson_that_has_had_a_core_for_too_long_is_given_up(
    profile: Profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What counts is the core's time: on a busy machine a lesson takes as long as it takes."""
    monkeypatch.setattr(learn_process, "LEARN_S", 1)
    with pytest.raises(BadDataError, match=messages.NOT_LEARNT):
        learn_process.learn_beside("iglu-iglu", profile, tmp_path, size=10.0)
