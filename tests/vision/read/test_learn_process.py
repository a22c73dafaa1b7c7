"""Learning in a process of its own: what comes of it, and when it is given up."""

from __future__ import annotations

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


def test_a_lesson_that_has_had_a_core_for_too_long_is_given_up(
    profile: Profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What counts is the core's time: on a busy machine a lesson takes as long as it takes."""
    monkeypatch.setattr(learn_process, "LEARN_S", 1)
    with pytest.raises(BadDataError, match=messages.NOT_LEARNT):
        learn_process.learn_beside("iglu-iglu", profile, tmp_path, size=10.0)
